"""Redacts what leaves the run for listeners, approvers and error output: removes secrets, keeps picture bytes.

Owns the redaction of events, approval requests and errors; `record.redact` owns the redaction of text.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.errors import VisionAgentError
from vision_agent.events import Event, Observed, Started
from vision_agent.ports import Approver, Redact
from vision_agent.record.redact import Redactor, redact_model
from vision_agent.types import Choice, Decision, Observation, Risky, Task


def redacted_event(event: Event, redact: Redact) -> Event:
    """The event as recorded, without secrets, but with the bytes of its pictures, where secret fields are masked."""
    redacted = type(event).model_validate(redact_model(event, redact))
    match event, redacted:
        case Observed(observation=seen), Observed():
            pictures = {"clean": seen.clean, "marked": seen.marked}
            return redacted.model_copy(update={"observation": redacted.observation.model_copy(update=pictures)})
        case Started(), Started(run=run):
            pairs = zip(run.task.pictures, event.run.task.pictures, strict=True)
            kept = tuple(each.model_copy(update={"shot": given.shot}) for each, given in pairs)
            task = run.task.model_copy(update={"pictures": kept})
            return redacted.model_copy(update={"run": run.model_copy(update={"task": task})})
    return redacted


def redact_error(error: BaseException, redact: Redactor) -> None:
    """Removes secrets from one of our errors, whose message may be printed or logged."""
    if not isinstance(error, VisionAgentError):
        return
    error.sentence, error.hint = redact(error.sentence), redact(error.hint)
    error.args = (error.sentence,)
    if not redact.is_empty:  # the original error may contain an address with a secret in it
        error.__cause__ = error.__context__ = None


class RedactedApprover:
    """Wraps an approver so that it sees everything as recorded: secrets by name, never by value."""

    def __init__(self, approver: Approver, redact: Redactor) -> None:
        self._approver = approver
        self._redact = redact

    @property
    def wants_to_be_asked(self) -> bool:
        """As the approver says."""
        return self._approver.wants_to_be_asked

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """The approver's choice."""
        if self._redact.is_empty:
            return await self._approver.approve(task, observation, decision, risks)
        seen = redacted_event(Observed(step=0, observation=observation), self._redact)
        assert isinstance(seen, Observed)
        return await self._approver.approve(
            Task.model_validate(redact_model(task, self._redact)),
            seen.observation,
            Decision.model_validate(redact_model(decision, self._redact)),
            [Risky.model_validate(redact_model(each, self._redact)) for each in risks],
        )

    async def handed_back(self) -> None:
        """Waits until the person hands the browser back."""
        await self._approver.handed_back()
