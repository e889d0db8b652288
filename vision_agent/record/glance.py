"""Reads a run at a glance, for the page of runs: a sentence for each step, its cost and its picture.

Marks and listings, most of a record, are skipped, so a run of forty steps takes milliseconds and not seconds.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vision_agent.actions import Ask
from vision_agent.base_model import FrozenModel
from vision_agent.errors import RecordError
from vision_agent.events import Event
from vision_agent.observation import Shot
from vision_agent.policy.budget import cost_of
from vision_agent.record.read import Turn, first_line, last_look, read_run_file, turns
from vision_agent.record.run_files import MOST_OF_LINE, parse_json, read_file, reading
from vision_agent.record.store import STEPS
from vision_agent.types import Run

MOST_OF_GLANCE = 128 << 20
"""The largest record that is glanced at, in bytes; a run of 100 steps has a few MB."""
_SKIPPED: dict[str, Any] = {"marks": [], "out_of_view": [], "listing": ""}
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class GlancedStep(FrozenModel):
    """One step, as far as it got."""

    index: int
    goal: str = ""
    sentences: tuple[str, ...] = ()
    """What came of each action."""
    is_bad: bool = False
    """Whether an action was refused, or something went wrong."""
    is_asked: bool = False
    """Whether a person has been asked something, or to approve it, and has not answered."""
    url: str = ""
    title: str = ""
    clean: Shot | None = None
    marked: Shot | None = None
    at: datetime | None = None


class Glance(FrozenModel):
    """A run as far as it got."""

    run: Run
    steps: tuple[GlancedStep, ...]
    decided: int
    """Steps with a decision."""
    tokens: int
    cost_usd: float | None
    """None if the price of any reply is unknown."""
    end: Shot | None = None
    """The page after the last act; None if a step looked at it."""

    @property
    def last_seen(self) -> GlancedStep | None:
        """The last step with a picture."""
        return next((step for step in reversed(self.steps) if step.clean is not None), None)

    @property
    def last_picture(self) -> Shot | None:
        """The page as it was last seen."""
        return self.end or (self.last_seen.clean if self.last_seen is not None else None)


def glance(folder: Path) -> Glance:
    """The run in a folder at a glance.

    Raises:
        RecordError: it cannot be read, or its record is larger than `MOST_OF_GLANCE`.
    """
    with reading(folder):
        run = read_run_file(folder)
        try:
            complete = read_file(folder, STEPS, MOST_OF_GLANCE).split(b"\n")[:-1]
        except OSError as error:
            raise RecordError(f"{folder / STEPS} cannot be read: {error.strerror}") from error
        events = [_event(raw, f"Line {number} of {folder / STEPS}", run) for number, raw in enumerate(complete, 1)]
        known, last = turns(events), last_look(events)
        tokens, cost = cost_of([usage for turn in known for usage in turn.usages])
        return Glance(
            run=run,
            steps=tuple(map(_step, known)),
            decided=sum(turn.decision is not None for turn in known),
            tokens=tokens,
            cost_usd=cost,
            end=last.observation.clean if last is not None and last.observation is not None else None,
        )


def _event(raw: bytes, which: str, run: Run) -> Event:
    try:
        if len(raw) > MOST_OF_LINE:
            raise ValueError(f"it has {len(raw)} bytes, and at most {MOST_OF_LINE} are read")
        fields = parse_json(raw)
        for name in ("n", "at", "prev"):
            del fields[name]
        if fields["event"] == "started":
            fields["run"] = run
        elif fields["event"] in ("observed", "last_look") and fields["observation"] is not None:
            fields["observation"].update(_SKIPPED)
        return _EVENT.validate_python(fields)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise RecordError(f"{which} cannot be read: {first_line(error)}") from error


def _step(turn: Turn) -> GlancedStep:
    seen = turn.observation
    outcomes = tuple(turn.outcomes.values())
    return GlancedStep(
        index=turn.index,
        goal=turn.decision.next_goal if turn.decision is not None else "",
        sentences=(*(outcome.sentence for outcome in outcomes), *turn.troubles),
        is_bad=bool(turn.troubles) or any(outcome.status != "done" for outcome in outcomes),
        is_asked=_is_asked(turn),
        url=seen.url if seen is not None else "",
        title=seen.title if seen is not None else "",
        clean=seen.clean if seen is not None else None,
        marked=seen.marked if seen is not None else None,
        at=seen.taken_at if seen is not None else None,
    )


def _is_asked(turn: Turn) -> bool:
    if turn.approval is not None and turn.approval.choice is None and turn.decision is None:
        return True
    return any(isinstance(action, Ask) for at, action in turn.intended.items() if at not in turn.outcomes)
