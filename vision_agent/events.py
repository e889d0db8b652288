"""What the loop says while it runs, and what a recorder writes: one class an event, joined in `Event` on `event`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from vision_agent.actions import Action
from vision_agent.types import (
    Box,
    Choice,
    Decision,
    Ending,
    Exemplar,
    Limits,
    Message,
    Observation,
    Outcome,
    Provenance,
    Risky,
    Run,
    Usage,
    Verdict,
)


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Started(_Data):
    event: Literal["started"] = "started"
    run: Run


class Resumed(_Data):
    """A run that had stopped goes on, maybe in another process. The step that was cut off is completed after it."""

    event: Literal["resumed"] = "resumed"
    provenance: Provenance
    """With what it goes on."""
    limits: Limits | None = None
    """From here on; None: those of before."""
    torn_bytes: int = 0
    """Of a last line that was never finished, and is not part of the record."""


class Observed(_Data):
    event: Literal["observed"] = "observed"
    step: int
    observation: Observation


class Proposed(_Data):
    """A decision that is asked about before it is done; written before the question."""

    event: Literal["proposed"] = "proposed"
    step: int
    decision: Decision
    risks: tuple[Risky, ...] = ()


class Chosen(_Data):
    """What was answered about it."""

    event: Literal["chosen"] = "chosen"
    step: int
    choice: Choice


class Decided(_Data):
    event: Literal["decided"] = "decided"
    step: int
    decision: Decision


class Intended(_Data):
    """Written and synced before the act, so that a crash cannot hide one."""

    event: Literal["intended"] = "intended"
    step: int
    index: int
    action: Action


class Happened(_Data):
    event: Literal["happened"] = "happened"
    step: int
    index: int
    outcome: Outcome


class Said(_Data):
    """A message from the person while the run goes on."""

    event: Literal["said"] = "said"
    message: Message


class Reminded(_Data):
    """What the memory had for this task; its pictures are kept like those of a step."""

    event: Literal["reminded"] = "reminded"
    exemplar: Exemplar
    why: str


class Troubled(_Data):
    """A fault that the loop survived, such as a reply that made no sense."""

    event: Literal["troubled"] = "troubled"
    step: int
    sentence: str
    usage: Usage | None = None
    """Of the reply that could not be used."""


class Judged(_Data):
    """A model has looked whether a task that is said to be done is done."""

    event: Literal["judged"] = "judged"
    step: int
    verdict: Verdict


class Graded(_Data):
    """A recorded page was asked about: how the answer is held against what was done there. Nothing was done now."""

    event: Literal["graded"] = "graded"
    step: int
    is_right: bool
    sentence: str
    boxes: tuple[Box, ...] = ()
    """Where the reference lies, in page coordinates; none where it is no place."""


class Stepped(_Data):
    """A step is complete: written with its times, after all of its outcomes."""

    event: Literal["stepped"] = "stepped"
    step: int
    started_at: datetime
    seconds: float


class Ended(_Data):
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
    | Said
    | Reminded
    | Troubled
    | Judged
    | Graded
    | Stepped
    | Ended,
    Field(discriminator="event"),
]
