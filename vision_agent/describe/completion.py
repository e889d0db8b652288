"""Says in words why a run counts as done: what was checked, and who said so."""

from __future__ import annotations

from vision_agent.actions import Finish
from vision_agent.types import RECORDING, Run, Step, Task

_WHO = {
    "steps": "The step lines",
    "human": "A person",
    "scripted": "The script",
    "replay": "The recorded decisions",
    "memory": "The memory",
    "loop": "The agent",
    "client": "The client",
}
"""By `Decision.author`; a model has a name."""


def words_of_checks(task: Task) -> tuple[str, ...]:
    """What must hold before the task counts as done: `the page shows “Thank you”`."""
    words = list[str]()
    for check in task.checks:
        words += [f"the address is {check.url}"] * (check.url is not None)
        words += [f"the page shows “{check.text}”"] * (check.text is not None)
        words += [f"a mark in view is called “{check.mark}”"] * (check.mark is not None)
        words += [f"a file named {check.download} was downloaded"] * (check.download is not None)
    return (*words, *["the answer matches its schema"] * (task.answer_schema is not None))


def why_done(run: Run) -> str:
    """Why the run counts as done: `The check held: the page shows “Thank you”. The step lines said that it is done.`

    Empty if it does not.
    """
    last = next((step for step in reversed(run.steps) if _is_finished(step)), None)
    if run.ending is None or run.ending.status != "done" or last is None:
        return ""
    said = _who_said_so(last, run)
    # Earlier versions checked the same and did not record it in the ending.
    if held := run.ending.checked or words_of_checks(run.task):
        many = {1: "The check", 2: "Both checks"}.get(len(held), f"All {len(held)} checks")
        return f"{many} held: {'; '.join(held)}. {said}."
    is_checked = last.verdict is not None or last.decision.author == "human" or run.provenance.model == RECORDING
    return f"{said}." if is_checked else f"{said}; the task has no check."


def _is_finished(step: Step) -> bool:
    return any(isinstance(action, Finish) and action.success for action, _ in step.carried_out)


def _who_said_so(last: Step, run: Run) -> str:
    decision, verdict = last.decision, last.verdict
    if run.provenance.model == RECORDING:
        return "A person ended the recording"
    who = decision.model or "A model" if decision.author == "model" else _WHO[decision.author]
    choice = last.approval.choice if last.approval is not None else None
    approved = ", a person approved it" * (choice is not None and choice.kind == "approve")
    judged = f", {verdict.model} judged so too" if verdict is not None and verdict.done else ""
    return f"{who} said that it is done{approved}{judged}"
