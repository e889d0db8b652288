"""What a custom action may do through `context.act`, and what that used of the task's limits.

It passes the checks of what the model chose, but nobody is asked in the middle of a custom action: what a person would
have to approve is refused, unless a person approved the custom action with that risk. An allowed custom action may use
any built-in action. Knows no browser.
"""

from __future__ import annotations

from vision_agent.actions import Action, Custom
from vision_agent.observation import Observation
from vision_agent.policy import approval, task_limits
from vision_agent.policy.task_limits import Used
from vision_agent.policy.text_origin import copy_risks
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Approval, Decision, InnerUse, Outcome, Risk, Risky, Step, Task


class InnerActs:
    """The gate of one custom action: the one at `place` in a decision, on the page of an observation."""

    def __init__(
        self,
        task: Task,
        settings: ApprovalSettings,
        steps: tuple[Step, ...],
        decision: Decision,
        place: int,
        asked: Approval | None,
        observation: Observation,
        used: Used,
    ) -> None:
        self._task = task.model_copy(update={"allowed_actions": None})
        self._settings, self._steps, self._observation = settings, steps, observation
        self._decision, self._place, self._asked = decision, place, asked
        self._before, self._used = used, Used()
        self._refusals: list[Outcome] = []

    def refusal_of(self, action: Action) -> Outcome | None:
        """Why an action is not carried out within the custom one; None if it may be."""
        used = self._before.and_also(self._used)
        why = task_limits.limit_exceeded(self._task, action, self._observation, used)
        if why and not task_limits.is_approved(self._asked, self._place):
            return self._refused(task_limits.refused(action, why))
        if risks := self._unapproved(action):
            names = ", ".join(f'"{each}"' for each in dict.fromkeys(each.risk for each in risks))
            sentence = (
                f"{action.kind} was not done: nobody approved it ({approval.words_of(risks)}). "
                f"With @action(risks=[{names}]), a person is asked before the whole action."
            )
            return self._refused(Outcome(status="refused", refusal="needs_person", sentence=sentence))
        return None

    def note(self, action: Action, outcome: Outcome) -> None:
        """Counts what an action within the custom one used of the limits."""
        self._used = self._used.and_also(
            task_limits.limits_used(self._task, [action], [outcome], self._observation),
        )

    def told_in(self, outcome: Outcome) -> Outcome:
        """The outcome of the custom action, with what was used within it, and what was refused there."""
        if self._used != Used():
            used = InnerUse(forms=self._used.forms, paid=self._used.money)
            outcome = outcome.model_copy(update={"used": used})
        if self._refusals and self._refusals[0].sentence not in outcome.sentence:
            sentence = f"{outcome.sentence} Within it, {self._refusals[0].sentence}"
            outcome = outcome.model_copy(update={"sentence": sentence})
        return outcome

    def _refused(self, outcome: Outcome) -> Outcome:
        self._refusals.append(outcome)
        return outcome

    def _unapproved(self, action: Action) -> tuple[Risky, ...]:
        """The risks for which a person would be asked if the model had chosen the action, and has not been."""
        inner = self._decision.model_copy(update={"actions": (action,)})
        risks = approval.risks_of(self._settings, inner, self._observation)
        if "copy" in self._settings.risks:
            risks += tuple(copy_risks(inner, self._task, self._steps, self._observation))
        known = self._approved
        left = tuple(each for each in risks if known is not None and each.risk not in known)
        return left if approval.must_ask(self._settings, inner, left) and left else ()

    @property
    def _approved(self) -> frozenset[Risk] | None:
        """The risks that a person knew of as they approved the custom action; None: whatever it does."""
        own = self._decision.actions[self._place]
        if isinstance(own, Custom) and own.name in self._settings.harmless:
            return None
        if self._asked is None or self._asked.choice is None or self._asked.choice.kind != "approve":
            return frozenset()
        known = frozenset(each.risk for each in self._asked.risks if each.action == self._place)
        return None if "unclassified" in known else known
