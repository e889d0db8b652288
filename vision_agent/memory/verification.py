"""Whether anyone or anything but the model that did a task confirms that it was done.

It reads runs, and knows no exemplars and no files.
"""

from __future__ import annotations

from vision_agent.exemplars import VerifiedBy
from vision_agent.types import Run


def verified_by(run: Run) -> VerifiedBy:
    """What verified that the run did its task; `unknown` if only the model that did it says so.

    The checks of the task count if the run ended as done, because it ends so only when they hold. The form of an
    answer verifies nothing: a wrong answer can have it.
    """
    if run.ending is None or run.ending.status != "done":
        return "unknown"
    verdict = run.steps[-1].verdict if run.steps else None
    if verdict is not None and verdict.done:
        return "judge"
    return "checks" if run.task.checks else "unknown"


def is_contradicted(run: Run) -> bool:
    """Whether the run did not do its task, or a judge found so and none took it back."""
    if run.ending is None or verified_by(run) != "unknown":
        return False
    was_refuted = any(step.verdict is not None and step.verdict.done is False for step in run.steps)
    return run.ending.status in ("not_done", "limit") or was_refuted
