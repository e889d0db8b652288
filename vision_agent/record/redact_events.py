"""Redacts what leaves the run for listeners, approvers, given models and error output; keeps picture bytes.

Owns the redaction of events, approval requests, what a model given to `Agent` is asked, and errors;
`record.redact` owns the redaction of text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vision_agent.base_model import RECORDED
from vision_agent.errors import VisionAgentError
from vision_agent.events import Event, LastLook, Observed, Started
from vision_agent.observation import Observation
from vision_agent.ports import Approver, Model, Redact
from vision_agent.record.redact import Redactor, redact_model
from vision_agent.types import Choice, Decision, Risky, Run, Step, Task


def redacted_event(event: Event, redact: Redact) -> Event:
    """The event as recorded, without secrets, but with the bytes of its pictures, where secret fields are masked."""
    redacted = type(event).model_validate(redact_model(event, redact))
    match event, redacted:
        case Observed() | LastLook(), Observed() | LastLook():
            seen, shown = event.observation, redacted.observation
            if seen is not None and shown is not None:
                shown = shown.model_copy(update={"clean": seen.clean, "marked": seen.marked})
            return redacted.model_copy(update={"observation": shown})
        case Started(), Started(run=run):
            pairs = zip(run.task.pictures, event.run.task.pictures, strict=True)
            kept = tuple(each.model_copy(update={"shot": given.shot}) for each, given in pairs)
            task = run.task.model_copy(update={"pictures": kept})
            return redacted.model_copy(update={"run": run.model_copy(update={"task": task})})
    return redacted


def displayable_run(run: Run, redact: Redactor, **facts: Any) -> Run:
    """The run with facts beside its fields; what is printed of it and of its parts has no secrets.

    The values of its fields stay as they are.
    """
    if redact.is_empty:
        return run.beside(**facts)
    changed = {
        "task": run.task.beside(hide=redact),
        "steps": tuple(_displayable_step(each, redact) for each in run.steps),
    }
    if run.ending is not None:
        changed["ending"] = run.ending.beside(hide=redact)
    return run.model_copy(update=changed).beside(hide=redact, **facts)


def _displayable_step(step: Step, redact: Redactor) -> Step:
    seen = step.observation
    lists = {name: tuple(mark.beside(hide=redact) for mark in getattr(seen, name)) for name in ("marks", "out_of_view")}
    changed = {
        "observation": seen.model_copy(update=lists).beside(hide=redact),
        "decision": step.decision.beside(hide=redact),
        "outcomes": tuple(each.beside(hide=redact) for each in step.outcomes),
    }
    return step.model_copy(update=changed).beside(hide=redact)


def redact_error(error: BaseException, redact: Redactor) -> None:
    """Removes secrets from one of our errors, whose message may be printed or logged."""
    if not isinstance(error, VisionAgentError):
        return
    error.sentence, error.hint = redact(error.sentence), redact(error.hint)
    error.args = (error.sentence,)
    if not redact.is_empty:  # the original error may contain an address with a secret in it
        error.__cause__ = error.__context__ = None


class RedactedModel(Model):
    """Wraps a model that a user wrote, so that it sees secrets by name, never by value; private data it may read."""

    def __init__(self, model: Model, redact: Redactor) -> None:
        self.name = model.name
        self._model = model
        self._redact = redact
        self._steps: list[tuple[Step, Step]] = []
        """The earlier steps, as they are and redacted."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The decision of the wrapped model."""
        redact = self._redact.for_model
        if self._redact.is_empty:
            return await self._model.decide(task, steps, observation, complaint=complaint)
        known = self._steps
        while known and (len(known) > len(steps) or known[-1][0] is not steps[len(known) - 1]):
            known.pop()
        known += [(step, _redacted_step(step, redact)) for step in steps[len(known) :]]
        return await self._model.decide(
            _redacted_task(task, redact),
            tuple(redacted for _, redacted in known),
            _redacted_observation(observation, redact),
            complaint=redact(complaint),
        )

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The facts about the wrapped model."""
        return await self._model.describe(known)

    async def aclose(self) -> None:
        """Closes the wrapped model."""
        await self._model.aclose()


def _redacted_observation(seen: Observation, redact: Redact) -> Observation:
    event = redacted_event(Observed(step=0, observation=seen), redact)
    assert isinstance(event, Observed)
    return event.observation


def _redacted_step(step: Step, redact: Redact) -> Step:
    redacted = Step.model_validate(redact_model(step, redact), context=RECORDED)
    return redacted.model_copy(update={"observation": _redacted_observation(step.observation, redact)})


def _redacted_task(task: Task, redact: Redact) -> Task:
    redacted = Task.model_validate(redact_model(task, redact), context=RECORDED)
    pairs = zip(redacted.pictures, task.pictures, strict=True)
    pictures = tuple(each.model_copy(update={"shot": given.shot}) for each, given in pairs)
    # What is private may be read; the dump has its stars only.
    private = {each.name: each for each in task.secrets if each.is_private}
    secrets = tuple(private.get(each.name, each) for each in redacted.secrets)
    return redacted.model_copy(update={"pictures": pictures, "secrets": secrets})


class RedactedApprover:
    """Wraps an approver so that it sees everything as recorded: secrets by name, never by value."""

    def __init__(self, approver: Approver, redact: Redactor) -> None:
        self._approver = approver
        self._redact = redact

    @property
    def wants_to_be_asked(self) -> bool:
        """As the approver says."""
        return self._approver.wants_to_be_asked

    @property
    def is_over_when_closed(self) -> bool:
        """Whether closing the window ends a takeover, as the approver says."""
        return getattr(self._approver, "is_over_when_closed", False)

    @property
    def why_unanswered(self) -> str:
        """Why the last proposal got no answer, if the approver knows."""
        return self._redact(getattr(self._approver, "why_unanswered", ""))

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """The approver's choice."""
        if self._redact.is_empty:
            return await self._approver.approve(task, observation, decision, risks)
        seen = _redacted_observation(observation, self._redact)
        return await self._approver.approve(
            Task.model_validate(redact_model(task, self._redact)),
            seen,
            Decision.model_validate(redact_model(decision, self._redact)),
            [Risky.model_validate(redact_model(each, self._redact)) for each in risks],
        )

    async def handed_back(self) -> None:
        """Waits until the person hands the browser back."""
        await self._approver.handed_back()
