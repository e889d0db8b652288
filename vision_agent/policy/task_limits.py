"""The limits on a whole task, set before a page is seen: the kinds of actions, submitted forms, and money spent.

A page cannot widen them, nor can a model. Knows no browser: forms and money are counted from the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from vision_agent.actions import ACTIONS, Action, Custom
from vision_agent.errors import UsageError
from vision_agent.observation import Observation
from vision_agent.policy import spending
from vision_agent.policy.approval import risks_taken
from vision_agent.types import Approval, Decision, Outcome, Risky, Step, Task

_ALWAYS_ALLOWED = ("ask", "finish", "infeasible")
"""Actions that touch no page; always allowed."""


class Used(NamedTuple):
    """What a task has used of its limits."""

    forms: int = 0
    """Submitted forms."""
    money: Decimal | None = Decimal(0)
    """Paid, in the currency of the limit; None if it is not known how much."""

    def and_also(self, more: Used) -> Used:
        """Both together."""
        is_known = self.money is not None and more.money is not None
        return Used(self.forms + more.forms, (self.money or 0) + (more.money or Decimal(0)) if is_known else None)


def check_allowed_actions(task: Task, custom: Iterable[str]) -> None:
    """Checks that all allowed actions of the task exist; `custom` are the names of its custom actions.

    Raises:
        UsageError: one of them does not exist.
    """
    kinds = sorted([*(str(each.model_fields["kind"].default) for each in ACTIONS), *custom])
    if unknown := [each for each in task.allowed_actions or () if each not in kinds]:
        raise UsageError(f"There is no action {unknown[0]!r} to allow", f"known actions: {', '.join(kinds)}")


def limit_exceeded(task: Task, action: Action, observation: Observation, used: Used) -> str:
    """Why an action goes beyond the limits of the task, given what was used of them; empty if it does not."""
    allowed, most, spend = task.allowed_actions, task.limits.submits, task.limits.spend
    is_free = action.traits.only_looks or action.kind in _ALWAYS_ALLOWED
    if allowed is not None and not is_free and not {action.kind, _name(action)} & {*allowed}:
        return f"the task allows only {', '.join(allowed) or 'nothing'}, and actions that only look"
    if most is not None and used.forms + action.how_often > most and "submit" in risks_taken(action, observation):
        if used.forms >= most:
            return f"it may submit a form, and the task's limit on submitted forms ({most}) is reached"
        often = f"it may submit a form {action.how_often} times"
        return f"{often}, and the task's limit on submitted forms ({most}) leaves {most - used.forms}"
    return spending.exceeds(spend, used.money, action, observation) if spend is not None else ""


def risks_beyond(task: Task, decision: Decision, observation: Observation, used: Used) -> Iterator[Risky]:
    """The actions of a decision that go beyond the limits, as risks that a person can approve."""
    for place, action in enumerate(decision.actions):
        if why := limit_exceeded(task, action, observation, used):
            yield Risky(action=place, risk="beyond", why=why)
        used = used.and_also(_may_use(task, action, observation))


def is_approved(approval: Approval | None, place: int) -> bool:
    """Whether a person was shown that this action goes beyond the limits, and approved it."""
    if approval is None or approval.choice is None or approval.choice.kind != "approve":
        return False
    return any(each.action == place and each.risk == "beyond" for each in approval.risks)


def used_in(task: Task, steps: Sequence[Step]) -> Used:
    """What the steps of a task used of its limits; nothing is counted where there is no limit."""
    used = Used()
    for step in steps:
        used = used.and_also(limits_used(task, step.decision.actions, step.outcomes, step.observation))
    return used


def limits_used(task: Task, actions: Sequence[Action], outcomes: Sequence[Outcome], observation: Observation) -> Used:
    """What these actions used of the limits on the page of this observation.

    It counts forms that the browser sent as documents, whether a control, Enter or a script sent them. Many pages
    send a form with a script's own request, so an action that submits a form counts too if the page then asked its
    server anything. Money counts as what the page showed, see `spending`.
    """
    used, limits = Used(), task.limits
    for action, outcome in zip(actions, outcomes, strict=False):
        forms = _submits(action, outcome, observation) if limits.submits is not None else 0
        paid: Decimal | None = Decimal(0)
        if limits.spend is not None:
            paid = spending.price_paid(action, outcome, observation, limits.spend.currency).value
        if outcome.used is not None:  # a custom action that declares what it does counts once
            forms = max(forms, outcome.used.forms)
            paid = None if paid is None or outcome.used.paid is None else max(paid, outcome.used.paid)
        used = used.and_also(Used(forms, paid))
    return used


def refused(action: Action, why: str) -> Outcome:
    """The outcome of an action that goes beyond the limits."""
    sentence = f"{_name(action)} was not done: {why}. Finish with what there is, or ask the person."
    return Outcome(status="refused", refusal="blocked", sentence=sentence)


def _may_use(task: Task, action: Action, observation: Observation) -> Used:
    """What an action would use of the limits if it is carried out."""
    spend, paid = task.limits.spend, Decimal(0)
    if spend is not None and spending.pays(action, observation):
        paid = spending.price_of(action, observation, spend.currency).value or paid
    return Used(action.how_often * ("submit" in risks_taken(action, observation)), paid)


def _submits(action: Action, outcome: Outcome, observation: Observation) -> int:
    if outcome.forms or outcome.status == "refused":
        return outcome.forms
    may_have = outcome.requests > 0 or outcome.status == "partial"
    return action.how_often * (may_have and "submit" in risks_taken(action, observation))


def _name(action: Action) -> str:
    return action.name if isinstance(action, Custom) else action.kind
