"""The actions of one decision, in order: what ends them early, and what would have been done in a dry run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vision_agent.actions import Action
from vision_agent.describe.action_sentences import describe_action
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy import approval
from vision_agent.policy.finishing import ActionResult
from vision_agent.policy.interrupted import ends_batch
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Approval, Decision, Ending, Outcome


@dataclass(frozen=True)
class StepUnderWay:
    """A step whose actions are being carried out."""

    observation: Observation
    decision: Decision
    approval: Approval | None


def close_cut_step(journal: Journal, step: StepUnderWay, longest_s: float) -> None:
    """Completes the record of a step that was cut off when the run had lasted `longest_s` seconds.

    The action under way may have been done, unless it only looks; those after it were not tried.
    """
    actions = step.decision.actions
    for action in actions[len(journal.outcomes) :]:
        is_first = not any(outcome.refusal == "timed_out" for outcome in journal.outcomes)
        if is_first:
            cut = f"{describe_action(action, step.observation)} was cut off: the run may last {longest_s:g} seconds."
            maybe = "" if action.traits.only_looks else " It may have been done."
            status: Literal["partial", "refused"] = "partial" if maybe else "refused"
            journal.record_outcome(Outcome(status=status, refusal="timed_out", sentence=cut + maybe))
        else:
            told = f"{action.kind} was not tried: the action before it was cut off."
            journal.record_outcome(Outcome(status="refused", refusal="not_reached", sentence=told))
    journal.end_step(step.observation, step.decision, step.approval)


def skipped_outcome(action: Action, last: Action, result: ActionResult) -> Outcome:
    """The outcome of an action after `last`, which was the last to be carried out."""
    sentence = f"{action.kind} was not tried: {_why_not_tried(last, result)}."
    return Outcome(status="refused", refusal="not_reached", sentence=sentence)


def _why_not_tried(last: Action, result: ActionResult) -> str:
    if result.ending is not None:
        return "the run ended before it"
    if result.outcome.status == "refused":
        return "the action before it was refused"
    if result.outcome.refusal == "taken_back":
        return "the page did not keep what the action before it set"
    if result.outcome.status == "partial":
        return "the action before it was cut off half-way"
    if result.outcome.effect == "asked":
        return "a person was asked first"
    if not ends_batch(last, result.outcome):
        return "a person paused the run, or a limit was reached"
    return "the action before it changed what can be relied on"


def dry_run_result(
    settings: ApprovalSettings, action: Action, decision: Decision, observation: Observation
) -> ActionResult:
    """Ends a dry run: names this action and the rest of its decision."""
    first = next(place for place, each in enumerate(decision.actions) if each is action)
    risks = approval.risks_of(settings, decision, observation)
    told = []
    for place, each in enumerate(decision.actions[first:], start=first):
        why = approval.words_of([risk for risk in risks if risk.action == place])
        told.append(describe_action(each, observation) + (f" [{why}]" if why else ""))
    sentence = f"A dry run: nothing was done to the page. Next would be: {'; then '.join(told)}"
    outcome = Outcome(status="refused", refusal="dry_run", sentence=f"Not done, in a dry run: {told[0]}")
    return ActionResult(outcome, Ending(status="dry_run", sentence=sentence))
