"""The limits on a whole task, set before a page is seen: the kinds of actions, and how many forms may be submitted.

A page cannot widen them, nor can a model. Knows no browser: submitted forms are counted from the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vision_agent.actions import ACTIONS, Action, Custom
from vision_agent.errors import UsageError
from vision_agent.policy.approval import risks_taken
from vision_agent.types import Approval, Decision, Observation, Outcome, Risky, Step, Task

_ALWAYS_ALLOWED = ("ask", "finish", "infeasible")
"""They reach no page."""


def check_allowed_actions(task: Task, custom: Iterable[str]) -> None:
    """Returns if all allowed actions of the task exist; `custom` are the names of its custom actions.

    Raises:
        UsageError: one of them does not exist.
    """
    kinds = sorted([*(str(each.model_fields["kind"].default) for each in ACTIONS), *custom])
    if unknown := [each for each in task.allowed_actions or () if each not in kinds]:
        raise UsageError(f"There is no action {unknown[0]!r} to allow", f"known actions: {', '.join(kinds)}")


def beyond(task: Task, action: Action, observation: Observation, submitted: int) -> str:
    """Why an action goes beyond the limits of the task, given how many forms were submitted; empty if it does not."""
    allowed, most = task.allowed_actions, task.limits.submits
    is_free = action.traits.only_looks or action.kind in _ALWAYS_ALLOWED
    if allowed is not None and not is_free and not {action.kind, _name(action)} & {*allowed}:
        return f"the task allows only {', '.join(allowed) or 'nothing'}, and actions that only look"
    if most is not None and submitted >= most and "submit" in risks_taken(action, observation):
        return f"it may submit a form, and the task's limit on submitted forms ({most}) is reached"
    return ""


def risks_beyond(task: Task, decision: Decision, observation: Observation, submitted: int) -> Iterator[Risky]:
    """The actions of a decision that go beyond the limits, as risks that a person can approve."""
    for place, action in enumerate(decision.actions):
        if why := beyond(task, action, observation, submitted):
            yield Risky(action=place, risk="beyond", why=why)
        submitted += "submit" in risks_taken(action, observation)


def is_approved(approval: Approval | None, place: int) -> bool:
    """Whether a person was shown that this action goes beyond the limits, and approved it."""
    if approval is None or approval.choice is None or approval.choice.kind != "approve":
        return False
    return any(each.action == place and each.risk == "beyond" for each in approval.risks)


def submitted_in(task: Task, steps: Sequence[Step]) -> int:
    """How many forms the steps of a task submitted; 0 if their number is not limited."""
    if task.limits.submits is None:
        return 0
    return sum(submitted_by(step.decision.actions, step.outcomes, step.observation) for step in steps)


def submitted_by(actions: Sequence[Action], outcomes: Sequence[Outcome], observation: Observation) -> int:
    """How many forms these actions submitted on the page of this observation.

    Counted are forms that the browser sent as documents, whether a control, Enter or a script sent them. Many pages
    send a form with a script's own request: so an action that submits a form counts too if the page then asked its
    server anything.
    """
    return sum(_submits(*each, observation) for each in zip(actions, outcomes, strict=False))


def refused(action: Action, why: str) -> Outcome:
    """The outcome of an action that goes beyond the limits."""
    sentence = f"{_name(action)} was not done: {why}. Finish with what there is, or ask the person."
    return Outcome(status="refused", refusal="blocked", sentence=sentence)


def _submits(action: Action, outcome: Outcome, observation: Observation) -> int:
    if outcome.forms or outcome.status == "refused":
        return outcome.forms
    may_have = outcome.requests > 0 or outcome.status == "partial"
    return int(may_have and "submit" in risks_taken(action, observation))


def _name(action: Action) -> str:
    return action.name if isinstance(action, Custom) else action.kind
