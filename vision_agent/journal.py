"""The record of a run in progress: writes each event before anything depends on it, and keeps the run they make up.

Knows events and the `Recorder` protocol; makes no decisions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from vision_agent.errors import RecordError, Unavailable, VisionAgentError, decider_traceback
from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Happened,
    Judged,
    LastLook,
    MessageReceived,
    Observed,
    Reminded,
    Stepped,
    Troubled,
    Warned,
)
from vision_agent.exemplars import Recalled
from vision_agent.observation import Observation
from vision_agent.ports import Recorder
from vision_agent.types import Approval, Decision, Ending, Message, Outcome, Run, Step, Task, Usage, Verdict


class Journal:
    """The record of one run in progress, including the step that is not yet complete."""

    def __init__(
        self,
        run: Run,
        recorder: Recorder,
        on_event: Callable[[Event], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.run = run
        self.outcomes: list[Outcome] = []
        """The outcomes of the current step."""
        self.unused: list[Usage] = []
        """The usage of this step's unusable replies."""
        self._verdict: Verdict | None = None
        self._recorder = recorder
        self._on_event = on_event
        self._clock = clock
        self._began = time.monotonic() - sum(step.seconds for step in run.steps)
        self._step_began = (clock(), self._began)

    @property
    def task(self) -> Task:
        """The task of the run."""
        return self.run.task

    @property
    def steps(self) -> tuple[Step, ...]:
        """The completed steps."""
        return self.run.steps

    @property
    def index(self) -> int:
        """The number of the current step, or of the next one between steps."""
        return len(self.steps) + 1

    @property
    def seconds(self) -> float:
        """The duration of the run so far, without the time for which it was interrupted."""
        return time.monotonic() - self._began

    @contextmanager
    def recording(self, first: Event) -> Iterator[None]:
        """Writes the first event; an error in the `with` block is recorded as the run's ending and raised again."""
        self._recorder.write(first)
        try:
            self.notify(first)
            yield
        except (Exception, asyncio.CancelledError, KeyboardInterrupt) as error:
            self.end(_ending_of_error(error))
            raise

    def write(self, event: Event) -> None:
        """Appends an event to the record, then notifies the listener."""
        self._recorder.write(event)
        self.notify(event)

    def notify(self, event: Event) -> None:
        """Notifies the listener without recording the event."""
        if self._on_event is not None:
            self._on_event(event)

    # --- a step -------------------------------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Starts the clock of the next step."""
        self._step_began = (self._clock(), time.monotonic())

    def record_observation(self, observation: Observation) -> None:
        """Records the observation of this step."""
        self.write(Observed(step=self.index, observation=observation))

    def record_decision(self, decision: Decision) -> None:
        """Records the decision that this step carries out."""
        self.write(Decided(step=self.index, decision=decision))

    def record_outcome(self, outcome: Outcome) -> None:
        """Records the outcome of the step's next action."""
        self.write(Happened(step=self.index, index=len(self.outcomes), outcome=outcome))
        self.outcomes.append(outcome)

    def record_verdict(self, verdict: Verdict) -> None:
        """Records the judge's verdict in this step."""
        self._verdict = verdict
        self.write(Judged(step=self.index, verdict=verdict))

    def end_step(self, observation: Observation, decision: Decision, approval: Approval | None) -> Step:
        """Completes and records the current step, and returns it."""
        started_at, began = self._step_began
        step = Step(
            index=self.index,
            observation=observation,
            decision=decision,
            outcomes=tuple(self.outcomes),
            verdict=self._verdict,
            unused=tuple(self.unused),
            started_at=started_at,
            seconds=round(time.monotonic() - began, 3),
            approval=approval,
        )
        self.add_step(step)
        self._verdict, self.unused = None, []
        return step

    def add_step(self, step: Step, *, is_earlier: bool = False) -> None:
        """Records a complete step; with `is_earlier` it was taken before the run was interrupted."""
        if is_earlier:
            self._began -= step.seconds
        self._update(steps=(*self.steps, step))
        self.write(Stepped(step=step.index, started_at=step.started_at, seconds=step.seconds))
        self.outcomes = []

    # --- at any time --------------------------------------------------------------------------------------------------

    def record_trouble(self, sentence: str, usage: Usage | None = None) -> None:
        """Records a fault that the run survives; its cost counts towards this step."""
        if usage is not None:
            self.unused.append(usage)
        self.write(Troubled(step=self.index, sentence=sentence, usage=usage))

    def add_message(self, text: str) -> None:
        """Records a message from the person, which becomes part of the task."""
        message = Message(text=text, at=self._clock())
        self._update(task=self.task.model_copy(update={"messages": (*self.task.messages, message)}))
        self.write(MessageReceived(message=message))

    def record_warning(self, sentence: str) -> None:
        """Records something that whoever started the run should know."""
        self.write(Warned(sentence=sentence))

    def record_recalled(self, recalled: Recalled) -> None:
        """Records what the memory recalled; an exemplar becomes part of the task."""
        for warning in recalled.warnings:
            self.record_trouble(warning)
        if recalled.exemplar is not None:
            self._update(task=self.task.model_copy(update={"exemplar": recalled.exemplar}))
            self.write(Reminded(exemplar=recalled.exemplar, why=recalled.why))

    def record_last_look(self, observation: Observation | None, problem: str = "") -> None:
        """Records the page after the last act, or why it could not be observed."""
        self.write(LastLook(observation=observation, problem=problem))

    def end(self, ending: Ending) -> None:
        """Records the ending, as the last event."""
        self._update(ending=ending)
        self.write(Ended(ending=ending))

    def _update(self, **fields: object) -> None:
        self.run = self.run.model_copy(update=fields)


def _ending_of_error(error: BaseException) -> Ending:
    """The ending of a run that fails with this error."""
    match error:
        case asyncio.CancelledError() | KeyboardInterrupt():
            return Ending(status="interrupted", sentence="The run was interrupted.")
        case Unavailable() | RecordError():
            return Ending(status="unavailable", sentence=str(error))
        case VisionAgentError():
            return Ending(status="error", sentence=str(error))
    who = "Internal error" if decider_traceback(error) is None else "The decider failed"
    return Ending(status="error", sentence=f"{who}: {type(error).__name__}: {error}")
