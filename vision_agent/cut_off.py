"""What a run that was cut off may have done, told from its record and from the page as it is now.

An act that was begun, and of which no outcome is on record, may have happened. What puts a state into the page (a text
in place of another, a choice, a tick, a value) is told from that state where it shows, and where it does not on the
same page; one that was opened anew would not show it either way, and a server may have heard of it. What leaves nothing
behind (a look, a wait) is not told and may be done again. Of anything else, such as a click, no page can prove that it
did not happen: a person is asked. So nothing that the run did is done twice on a guess.

A page that is opened anew has lost what was put into it. That is put in again only where all that was done there since
it was opened may be done again, and sent no request when it was done. Whether it is the same page or another is told
from the keys of its marks, which no two documents share; also one that is handed over may have been loaded again.

Knows observations and actions; no browser, no record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vision_agent.actions import (
    Action,
    Check,
    Goto,
    Hover,
    OpenTab,
    Scroll,
    Select,
    Set,
    Type,
    Wait,
    mark_in,
    targets_of,
)
from vision_agent.again import NotAsRecorded, mark_again
from vision_agent.events import Resumed
from vision_agent.phrases import in_words
from vision_agent.standstill import may_be_taken_again, may_do_something, puts_in
from vision_agent.types import Approval, Decision, Observation, Outcome, Step, Usage, Verdict

STOPS_BATCH = ("navigated", "same_document", "error_page", "new_tab", "dialog", "no_effect", "zoomed", "asked")
"""Effects after which the rest of a decision may be meant for a page that is no longer there."""
_LEAVES_NOTHING = {
    "wait", "scroll", "hover", "zoom", "read", "extract", "select_text", "ask", "finish", "infeasible", "switch_tab",
}  # fmt: skip
_MAY_SEND = {"back", "forward", "reload", "close_tab"}
"""They leave nothing of themselves behind on a page that is gone; on one that is still there a form may go out again,
or another tab be closed."""
_FOLLOWS_BLINDLY = {"steps", "scripted", "replay"}
"""Authors that do not look whether what they did before still shows."""


@dataclass(frozen=True)
class CutOff:
    """The step in which a run was cut off, as far as it is on record: decided, and not complete."""

    index: int
    observation: Observation
    decision: Decision
    started_at: datetime
    begun: frozenset[int] = frozenset()
    """The indexes of the actions that were begun."""
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)
    verdict: Verdict | None = None
    unused: tuple[Usage, ...] = ()
    approval: Approval | None = None
    seconds: float = 0.0
    """Until what is on record last."""

    @property
    def is_by_hand(self) -> bool:
        """Whether a person had done it before it was recorded."""
        return self.completed(()).is_by_hand

    def completed(self, outcomes: Sequence[Outcome]) -> Step:
        """The step, with an outcome for each of its actions."""
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
    def is_told(self) -> bool:
        """Whether there is an outcome for each of its actions."""
        return len(self.outcomes) == len(self.decision.actions)

    def question_about(self, action: Action) -> str:
        """For a person, who is to answer yes or no."""
        return (
            f"Step {self.index} was: {in_words(action, self.observation)}. The run was cut off before it was on record "
            "what came of that. Was it done? Look at the page, or where it would show, and answer yes or no."
        )

    def unfinished(self, action: Action, *, begun: bool) -> Outcome:
        """Of an action that was not done: it may be decided again."""
        sentence = f"{action.kind} was not tried: the run was cut off before it."
        if begun:
            sentence = f"The run was cut off while {action.kind} was being done; it was not done, or left nothing."
        return Outcome(status="refused", refusal="cut_off" if begun else "not_reached", sentence=sentence)

    def happened(self, action: Action, told_by: str) -> Outcome:
        """Of an action that was done although nothing came on record of it."""
        sentence = f"The run was cut off while {action.kind} was being done; it was done: {told_by}."
        return Outcome(status="done", effect="as_wanted", sentence=sentence)


@dataclass(frozen=True)
class GoesOn:
    """How a run that had stopped is taken up again."""

    told: Resumed
    step: CutOff | None
    """None where the last step on record is complete."""
    opens: str | None = None
    """The address on which the run stood, where it is opened again: the page that it left is gone."""
    was_ended: bool = False
    """Whether its record had an ending."""
    unused: tuple[Usage, ...] = ()
    """Of replies that could not be used, in a step that was not decided."""
    said: tuple[str, ...] = ()
    """What a person said before it went on."""


def what_came_of(action: Action, cut: CutOff, now: Observation, *, is_page_gone: bool) -> Outcome | None:
    """The outcome of an act that was begun, as the page tells it; None where it cannot be told.

    `is_page_gone`: with all that an act had left in it, and in its tab.
    """
    if action.kind in _LEAVES_NOTHING or (action.kind in _MAY_SEND and is_page_gone):
        return cut.unfinished(action, begun=True)
    if isinstance(action, Goto | OpenTab) and not may_do_something(action.url):
        return cut.unfinished(action, begun=True)
    if not _is_state(action):
        return None
    holds = _holds(action, cut.observation, now)
    if holds:
        return cut.happened(action, "the page shows it")
    can_be_told = holds is not None and not (is_another_page(cut.observation, now) or _has_secret(action))
    return cut.unfinished(action, begun=True) if can_be_told else None


def is_another_page(was: Observation, now: Observation) -> bool:
    """Whether it is not proved that what is seen now is the very document that was seen then."""
    return not _documents(was) & _documents(now)


def _documents(seen: Observation) -> set[str]:
    keys = [mark.key for mark in seen.marks if mark.source == "dom" and not mark.frame]
    return {key.partition(".")[0] for key in keys if key}


def left_to_do(step: Step) -> tuple[Action, ...]:
    """What of a decision was not done only because the run was cut off, and means the same on any page."""
    done = [outcome for outcome in step.outcomes if outcome.status == "done"]
    left = step.decision.actions[len(done) :]
    is_cut = [outcome.refusal in ("cut_off", "not_reached") for outcome in step.outcomes[len(done) :]]
    if not all(is_cut) or any(outcome.effect in STOPS_BATCH for outcome in done):
        return ()
    names_marks = any(mark_in(target) is not None for action in left for target in targets_of(action))
    return () if names_marks else left


def where_it_stood(steps: Sequence[Step], cut: CutOff | None) -> str | None:
    """The address that the page had when the run was cut off, as far as it is on record; None before the first look."""
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
    """What a page that was opened anew does not hold any more."""

    sentence: str
    again: tuple[Step, ...] = ()
    """The steps that put it in, where all of them may be taken again; else nothing is."""
    must_be_asked: bool = False
    """Whoever decides follows what was written before, and would go on without it."""


def lost(steps: Sequence[Step], now: Observation) -> Lost | None:
    """What these steps put into the page, where another is shown now and does not show it."""
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
    may_be = now.url == stood and all(may_be_taken_again(step, also=_may_be_put_in_again) for step in here)
    is_blind = any(step.decision.author in _FOLLOWS_BLINDLY for step in steps)
    sentence = f"The run was cut off, and the page was opened anew: what was put into it in {numbers} is gone"
    return Lost(sentence, tuple(gone) if may_be else (), must_be_asked=is_blind)


def _shows(action: Action, outcome: Outcome, step: Step, now: Observation) -> bool:
    """Whether the page is as an act left it, or the act left nothing in it."""
    if _is_state(action):
        return bool(_holds(action, step.observation, now))
    if isinstance(action, Scroll | Hover | Wait):
        return True
    # A plain button may have chosen something too.
    return not puts_in(action, step) and outcome.effect != "changed"


def _may_be_put_in_again(action: Action, outcome: Outcome) -> bool:
    return _is_state(action) and outcome.requests == 0 and outcome.effect in (None, "changed", "as_wanted", "no_effect")


def _is_state(action: Action) -> bool:
    """Whether an action puts a state into the page that is the same however often it is put in."""
    match action:
        case Type(clear=True, submit=False) | Select() | Check() | Set():
            return True
        case _:
            return False


def _has_secret(action: Action) -> bool:
    """Whether a page would not show what was put in."""
    return isinstance(action, Type) and "<secret:" in action.text


def _holds(action: Action, was: Observation, now: Observation) -> bool | None:
    """Whether the page shows the state that an action puts in; None where what it was put into is not there."""
    number = next((mark_in(target) for target in targets_of(action)), None)
    if number is None:
        return None
    try:
        state = mark_again(number, was, now).state
    except NotAsRecorded:
        return None
    match action:
        case Type(text=text):
            return state.value == text
        case Set(value=value):
            return state.value == value
        case Select(options=options):
            return state.value is not None and set(options) == set(state.value.split(", "))
        case Check(checked=checked):
            return state.checked == ("true" if checked else "false")
        case _:
            return False
