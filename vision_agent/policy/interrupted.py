"""What an interrupted run may have done, worked out from its record and from the page as it is now.

An action that was begun and has no outcome on record may have happened. An action that sets a state in the page (typed
text, a choice, a tick, a value) was done if the page shows it. If not, the action was not done, provided the
document is still the same: a reopened page would not show the state either way, and a server may have received it. An
action that leaves nothing behind (a look, a wait) needs no answer and may be repeated. For any other action, such as a
click, no page can prove that it did not happen, so a person is asked. Nothing the run did is done twice on a guess.

A reopened page has lost what was entered into it. It is entered again only if everything done there since the page was
opened may be repeated and sent no request. Whether the document is the same follows from the keys of its marks, which
no two documents share; a page that was handed over may have been reloaded too.

Knows observations and actions; no browser, no record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

from vision_agent.actions import Action, Ask, Check, Goto, OpenTab, Select, Set, Type, mark_in, targets_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.events import Resumed
from vision_agent.observation import MarkKey, Observation
from vision_agent.policy.rebind import RebindError, rebind_mark
from vision_agent.policy.stall import is_repeatable, may_do_something, sets_field
from vision_agent.types import Approval, Decision, Outcome, Step, Usage, Verdict

_STOPS_BATCH = ("navigated", "same_document", "error_page", "new_tab", "dialog", "no_effect", "zoomed", "asked")
"""Effects after which the rest of a decision may be meant for a page that is no longer there."""
_FOLLOWS_BLINDLY = {"steps", "scripted", "replay"}
"""Authors that do not check whether their earlier actions are still visible on the page."""


@dataclass(frozen=True)
class InterruptedStep:
    """The step in which a run was interrupted, as far as it is on record: decided, but not complete."""

    index: int
    observation: Observation
    decision: Decision
    started_at: datetime
    begun: frozenset[int] = frozenset()
    """Indexes of the actions that were begun."""
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)
    verdict: Verdict | None = None
    unused: tuple[Usage, ...] = ()
    approval: Approval | None = None
    seconds: float = 0.0
    """Duration up to the last event on record."""

    @property
    def is_by_hand(self) -> bool:
        """Whether a person did this step during a takeover, before it was recorded."""
        return self.completed(()).is_by_hand

    def completed(self, outcomes: Sequence[Outcome]) -> Step:
        """The completed step, with an outcome for each of its actions."""
        return Step(
            index=self.index,
            observation=self.observation,
            decision=self.decision,
            outcomes=tuple(outcomes),
            verdict=self.verdict,
            unused=self.unused,
            started_at=self.started_at,
            seconds=self.seconds,
            approval=self.approval,
        )

    @property
    def has_all_outcomes(self) -> bool:
        """Whether every action has an outcome."""
        return len(self.outcomes) == len(self.decision.actions)

    def question_about(self, action: Action) -> str:
        """A yes-or-no question for a person."""
        return (
            f"Step {self.index} was: {describe_action(action, self.observation)}. The run was interrupted before the "
            "outcome was recorded. Was it done? Look at the page, or where it would show, and answer yes or no."
        )

    def unfinished(self, action: Action, *, begun: bool) -> Outcome:
        """The outcome of an action that may be decided again: never begun, not done, or harmless to repeat."""
        sentence = f"{action.kind} was not tried: the run was interrupted before it."
        if begun:
            sentence = f"The run was interrupted {_while(action)}; it was not done, or left no trace."
        return Outcome(status="refused", refusal="cut_off" if begun else "not_reached", sentence=sentence)

    def happened(self, action: Action, told_by: str) -> Outcome:
        """The outcome of an action that was done although its outcome was not recorded."""
        sentence = f"The run was interrupted {_while(action)}; it was done: {told_by}."
        return Outcome(status="done", effect="as_wanted", sentence=sentence)


def _while(action: Action) -> str:
    return "while a question was open" if isinstance(action, Ask) else f"during {action.kind}"


@dataclass(frozen=True)
class ResumePlan:
    """How a stopped run resumes."""

    event: Resumed
    step: InterruptedStep | None
    """None if the last step on record is complete."""
    opens: str | None = None
    """The address to open again, if the page that the run left is gone."""
    may_reopen: bool = False
    """Whether a person has allowed to open it again even if its query may ask the server for an action."""
    was_ended: bool = False
    """Whether its record has an ending."""
    unused: tuple[Usage, ...] = ()
    """Usage of unusable replies in a step that was not decided."""
    messages: tuple[str, ...] = ()
    """Messages from the person before it resumed."""


def infer_outcome(action: Action, cut: InterruptedStep, now: Observation, *, is_page_gone: bool) -> Outcome | None:
    """The outcome of a begun action, judged by the page as it is now; None if it cannot be determined.

    `is_page_gone`: the page is lost, with everything the action left in it and in its tab.
    """
    match action.repeat:
        case "freely":
            return cut.unfinished(action, begun=True)
        case "if_page_is_gone":
            return cut.unfinished(action, begun=True) if is_page_gone else None
        case "if_address_is_plain":
            is_plain = isinstance(action, Goto | OpenTab) and not may_do_something(action.url)
            return cut.unfinished(action, begun=True) if is_plain else None
        case "if_state_shows":
            return _told_by_state(action, cut, now)
        case "never":
            return None
        case _:
            assert_never(action.repeat)


def _told_by_state(action: Action, cut: InterruptedStep, now: Observation) -> Outcome | None:
    holds = _holds(action, cut.observation, now)
    if holds:
        return cut.happened(action, "the page shows it")
    is_known = holds is not None and not (is_another_page(cut.observation, now) or _has_secret(action))
    return cut.unfinished(action, begun=True) if is_known else None


def is_another_page(was: Observation, now: Observation) -> bool:
    """Whether the document may differ from the one seen then: the two share no mark keys."""
    return not _documents(was) & _documents(now)


def _documents(seen: Observation) -> set[str]:
    return {MarkKey(mark.key).document for mark in seen.marks if mark.key and mark.source == "dom" and not mark.frame}


def ends_batch(action: Action, outcome: Outcome) -> bool:
    """Whether the rest of a decision may be meant for a page that is no longer there."""
    return action.traits.ends_batch or outcome.effect in _STOPS_BATCH


def left_to_do(step: Step) -> tuple[Action, ...]:
    """The actions of a step that only the interruption prevented and that mean the same on any page, else none."""
    done = [outcome for outcome in step.outcomes if outcome.status == "done"]
    left = step.decision.actions[len(done) :]
    is_cut = [outcome.refusal in ("cut_off", "not_reached") for outcome in step.outcomes[len(done) :]]
    if not all(is_cut) or any(map(ends_batch, step.decision.actions, done)):
        return ()
    names_marks = any(mark_in(target) is not None for action in left for target in targets_of(action))
    return () if names_marks else left


def where_it_stood(steps: Sequence[Step], cut: InterruptedStep | None) -> str | None:
    """The page's address at the interruption, as far as it is on record; None before the first observation."""
    if cut is None and not steps:
        return None
    last = cut.completed([cut.outcomes[at] for at in sorted(cut.outcomes)]) if cut is not None else steps[-1]
    for action, outcome in reversed(last.maybe_done):
        if outcome.url:
            return outcome.url
        if isinstance(action, Goto | OpenTab):
            return action.url
    return last.observation.url


@dataclass(frozen=True)
class Lost:
    """The entries that a reopened page lost."""

    sentence: str
    again: tuple[Step, ...] = ()
    """The steps that made the entries, if all of them may be repeated; otherwise empty."""
    must_be_asked: bool = False
    """The decisions come from a script or record, which would continue without the entries."""


def lost(steps: Sequence[Step], now: Observation) -> Lost | None:
    """The entries of these steps that the reopened page does not show, or None if nothing is lost."""
    if steps and not is_another_page(steps[-1].observation, now):
        return None
    here: list[Step] = []
    stood = steps[-1].observation.url if steps else ""
    for step in reversed(steps):
        if step.observation.url != stood or any(
            what.effect in ("navigated", "error_page", "new_tab") for what in step.outcomes
        ):
            break
        here.insert(0, step)
    gone = [step for step in here if any(not _shows(action, what, step, now) for action, what in step.maybe_done)]
    if not gone:
        return None
    numbers = ("step " if len(gone) == 1 else "steps ") + ", ".join(str(step.index) for step in gone)
    may_be = now.url == stood and all(is_repeatable(step, also=_may_be_put_in_again) for step in here)
    is_blind = any(step.decision.author in _FOLLOWS_BLINDLY for step in steps)
    sentence = f"The run was interrupted and the page was reopened: what was done on it in {numbers} is gone"
    return Lost(sentence, tuple(gone) if may_be else (), must_be_asked=is_blind)


def _shows(action: Action, outcome: Outcome, step: Step, now: Observation) -> bool:
    """Whether the page is as the action left it, or the action left nothing in it."""
    if _is_state(action):
        return bool(_holds(action, step.observation, now))
    if action.traits.only_looks:
        return True
    # A plain button may have chosen something too.
    return not sets_field(action, step) and outcome.effect != "changed"


def _may_be_put_in_again(action: Action, outcome: Outcome) -> bool:
    return _is_state(action) and outcome.requests == 0 and outcome.effect in (None, "changed", "as_wanted", "no_effect")


def _is_state(action: Action) -> bool:
    """Whether an action sets a state in the page that is the same however often it is set."""
    return action.repeat == "if_state_shows"


def _has_secret(action: Action) -> bool:
    """Whether the action types a secret, which the page does not show."""
    return isinstance(action, Type) and "<secret:" in action.text


def _holds(action: Action, was: Observation, now: Observation) -> bool | None:
    """Whether the page shows the state that an action sets; None if its target is not there."""
    number = next((mark_in(target) for target in targets_of(action)), None)
    if number is None:
        return None
    try:
        state = rebind_mark(number, was, now).state
    except RebindError:
        return None
    match action:
        case Type(text=text):
            return state.value == text
        case Set(value=value):
            return state.value == value
        case Select():
            return state.value is not None and _has_options(action, set(state.value.split(", ")))
        case Check(checked=checked):
            return state.checked == ("true" if checked else "false")
        case _:
            return False


def _has_options(action: Select, chosen: set[str]) -> bool:
    match action.change:
        case None:
            return chosen == set(action.options)
        case "add":
            return chosen >= set(action.options)
        case "remove":
            return chosen.isdisjoint(action.options)
