"""The events that the loop emits and a recorder writes: one class per event, joined in `Event` on `event`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from vision_agent.actions import Action
from vision_agent.base_model import FrozenModel
from vision_agent.exemplars import Exemplar
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.types import (
    Choice,
    Decision,
    Ending,
    Limits,
    Message,
    Outcome,
    Provenance,
    Risky,
    Run,
    Usage,
    Verdict,
)


class Started(FrozenModel):
    """The run begins. In a run folder `run.json` holds the run, and the line holds nothing more."""

    event: Literal["started"] = "started"
    run: Run


class Resumed(FrozenModel):
    """A stopped run resumes, maybe in another process. Events that complete the interrupted step follow."""

    event: Literal["resumed"] = "resumed"
    provenance: Provenance
    """The versions, prompts and settings it resumes with."""
    limits: Limits | None = None
    """The limits from here on; None: unchanged."""
    torn_bytes: int = 0
    """Length of an unfinished last line, which is not part of the record."""


class Warned(FrozenModel):
    """Something that whoever starts the run should know, such as an expired sign-in; it belongs to no step."""

    event: Literal["warned"] = "warned"
    sentence: str


class Observed(FrozenModel):
    """A step begins with a look at the page."""

    event: Literal["observed"] = "observed"
    step: int
    observation: Observation


class Proposed(FrozenModel):
    """A decision that needs approval; written before the person is asked."""

    event: Literal["proposed"] = "proposed"
    step: int
    decision: Decision
    risks: tuple[Risky, ...] = ()


class Chosen(FrozenModel):
    """The answer to a `Proposed`."""

    event: Literal["chosen"] = "chosen"
    step: int
    choice: Choice


class Decided(FrozenModel):
    """The decision whose actions are carried out; after an approval, the approved or replaced one."""

    event: Literal["decided"] = "decided"
    step: int
    decision: Decision


class Intended(FrozenModel):
    """An action is about to be carried out; written and synced first, so that a crash cannot hide it."""

    event: Literal["intended"] = "intended"
    step: int
    index: int
    action: Action


class Happened(FrozenModel):
    """What came of an action."""

    event: Literal["happened"] = "happened"
    step: int
    index: int
    outcome: Outcome


class MessageReceived(FrozenModel):
    """A message from the person during the run."""

    event: Literal["said"] = "said"
    message: Message


class Reminded(FrozenModel):
    """The memory found an exemplar for this task; its pictures are kept like those of a step."""

    event: Literal["reminded"] = "reminded"
    exemplar: Exemplar
    why: str


class Troubled(FrozenModel):
    """An error that the loop survived, such as an unusable reply."""

    event: Literal["troubled"] = "troubled"
    step: int
    sentence: str
    usage: Usage | None = None
    """Usage of the unusable reply."""


class Judged(FrozenModel):
    """A judge checked a claimed completion."""

    event: Literal["judged"] = "judged"
    step: int
    verdict: Verdict


class Graded(FrozenModel):
    """An answer about a recorded page, graded against what was done there. Nothing was carried out now."""

    event: Literal["graded"] = "graded"
    step: int
    is_right: bool
    sentence: str
    boxes: tuple[Box, ...] = ()
    """The boxes of the reference in page coordinates; empty if it is not a place."""


class Stepped(FrozenModel):
    """A step is complete; written after all of its outcomes."""

    event: Literal["stepped"] = "stepped"
    step: int
    started_at: datetime
    seconds: float


class LastLook(FrozenModel):
    """The page after the last act, if no step looked at it any more, as when a limit ends the run."""

    event: Literal["last_look"] = "last_look"
    observation: Observation | None = None
    """None if the page could not be observed."""
    problem: str = ""
    """Why not."""


class Ended(FrozenModel):
    """The run is over, or interrupted until it is resumed."""

    event: Literal["ended"] = "ended"
    ending: Ending


Event = Annotated[
    Started
    | Resumed
    | Observed
    | Proposed
    | Chosen
    | Decided
    | Intended
    | Happened
    | MessageReceived
    | Reminded
    | Troubled
    | Warned
    | Judged
    | Graded
    | Stepped
    | LastLook
    | Ended,
    Field(discriminator="event"),
]
