"""Turns a line that a person typed into an action."""

from __future__ import annotations

from vision_agent.actions import Action
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import NotFoundError, bare_numbers
from vision_agent.observation import Observation


def parse_line(line: str, seen: Observation) -> Action:
    """Return the action that a step line describes on this page.

    Raises:
        UsageError: the line cannot be read, or it matches no target or more than one.
    """
    try:
        with bare_numbers():
            built = [each.build(seen) for each in parse([line])]
    except NotFoundError as error:
        raise UsageError(f"{line!r} cannot be done here: {error}") from error
    if not built:
        raise UsageError("That line is a note, not an action")
    return built[0]
