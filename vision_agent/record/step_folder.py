"""Writes steps that were taken without a run as a run folder, so that whatever reads runs can read them too."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from vision_agent.events import Decided, Ended, Event, Happened, Intended, Observed, Started, Stepped
from vision_agent.observation import Observation
from vision_agent.ports import Redact
from vision_agent.record.store import RunFolder
from vision_agent.types import Decision, Ending, Provenance, Run, Step, Task


def write_steps(runs: Path, name: str, goal: str, steps: Sequence[Step], ending: Ending, redact: Redact) -> Path:
    """Writes the steps to `runs/<name>`, closes the record with the ending, and returns the folder.

    Raises:
        UsageError: the folder cannot be created, or already exists.
        RecordError: it cannot be written.
    """
    began = steps[0].started_at if steps else datetime.now(UTC)
    versions = {"vision-agent": version("vision-agent"), "python": platform.python_version()}
    provenance = Provenance(versions=versions, model="client")
    with RunFolder.create(runs, name, redact) as folder:
        folder.write(Started(run=Run(id=name, task=Task(goal=goal), started_at=began, provenance=provenance)))
        for number, step in enumerate(steps, 1):
            for event in _events(step, number):
                folder.write(event)
        folder.write(Ended(ending=ending))
    return folder.path


def look_step(seen: Observation, words: str) -> Step:
    """A step that only looks."""
    decision = Decision(author="client", next_goal=words)
    return Step(index=1, observation=seen, decision=decision, outcomes=(), started_at=seen.taken_at, seconds=0.0)


def _events(step: Step, number: int) -> list[Event]:
    events: list[Event] = [
        Observed(step=number, observation=step.observation),
        Decided(step=number, decision=step.decision),
    ]
    for at, (action, outcome) in enumerate(zip(step.decision.actions, step.outcomes, strict=True)):
        events += [
            Intended(step=number, index=at, action=action),
            Happened(step=number, index=at, outcome=outcome),
        ]
    return [*events, Stepped(step=number, started_at=step.started_at, seconds=step.seconds)]
