"""What a window of the supervision page sends: answers to proposals, orders, and input to the live view."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from vision_agent.actions import Action, Cell, Point, mark_in, targets_of
from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError
from vision_agent.observation import Observation
from vision_agent.web.live_view import LiveInput

_MOST_INPUTS = 200
_LONGEST_NAME = 64

PersonName = Annotated[str, Field(max_length=_LONGEST_NAME)]
"""Who sends it, by the name that they typed on the page; it goes into the record."""


SKIP = "Skip this."
"""What is said for a person who skips what is proposed and says nothing else."""


class StaleReply(UsageError):
    """The reply answers a proposal or question that is no longer pending."""


class SupervisorReply(FrozenModel):
    """The page's answer to a proposal."""

    proposal: int
    kind: Literal["approve", "replace", "skip"]
    """`skip`: none of it is done and the run goes on."""
    actions: tuple[Action, ...] = ()
    line: str = ""
    """A step line, instead of actions."""
    name: PersonName = ""


class SupervisorOrder(FrozenModel):
    """A command from the page, possible at any time."""

    do: Literal["pause", "resume", "stop", "instruct", "take_over", "take_here", "hand_back", "answer"]
    """`take_here`: take over from another window of the page."""
    text: str = ""
    window: str = Field(default="", max_length=_LONGEST_NAME)
    """The window of the page that sends it, by the name that it chose."""
    name: PersonName = ""


class SupervisorInput(FrozenModel):
    """What a person does in the live view."""

    window: str = Field(min_length=1, max_length=_LONGEST_NAME)
    frame: int = Field(ge=0)
    """The number of the picture that they see."""
    inputs: tuple[LiveInput, ...] = Field(max_length=_MOST_INPUTS)


def must_name_targets(actions: Iterable[Action], seen: Observation) -> None:
    """Checks that the targets of a person's actions are in what the page shows.

    Raises:
        UsageError: one is not.
    """
    for target in (each for action in actions for each in targets_of(action)):
        number = mark_in(target)
        if isinstance(target, Point) and not seen.marked.size.contains(target):
            raise UsageError(f"({target.x:g}, {target.y:g}) is outside the picture")
        if number is not None and seen.known_mark(number) is None:
            raise UsageError(f"There is no mark {number} in this picture", "choose one that shows")
        if isinstance(target, Cell) and seen.box_of(target) is None:
            raise UsageError(f"Mark {number} has no row {target.row} column {target.column}")
