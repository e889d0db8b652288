"""Decides without a model: follows step lines, one per step, and finds each target by its name.

If the target of a line is not in view, it scrolls to the only thing elsewhere that has that name. If there is none, it
looks again a few times and then gives up with the reason; it never takes the next best mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import product, takewhile
from typing import Literal

from vision_agent.actions import Action, Finish, Scroll, ScrollTo, Wait
from vision_agent.custom_actions import CustomAction, unknown_action
from vision_agent.describe.action_sentences import LOOK_AGAIN
from vision_agent.describe.distinctions import safe_name
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import WITH_TARGET, StepLine, parse
from vision_agent.models.offline.line_targets import NamedTarget, names_in_placeholders
from vision_agent.models.offline.longer_names import may_mean_opposite, only_longer_name
from vision_agent.models.offline.mark_kinds import is_scroller
from vision_agent.models.offline.resolve_target import (
    AmbiguousError,
    EarlierLook,
    NotFoundError,
    earlier_looks,
    named_values,
)
from vision_agent.observation import Observation
from vision_agent.policy.approval import risks_taken
from vision_agent.policy.takeover import did_by_hand, is_taken_over, last_takeover
from vision_agent.ports import Model
from vision_agent.types import FAILED_EFFECTS, Decision, Outcome, Secret, Step, Task

LOOKS_AGAIN = (0.5, 1.0, 2.0)
"""Seconds to wait before each further look for a missing target. On a page at rest only the first counts: no request or
animation is under way that could bring it."""
_LOOK_EVERY_S = 1.0
"""The same for a line that says how long to wait."""

_NOT_ENDED = ("cut_off", "not_reached")
"""A wait that was refused so did not end: the run was interrupted."""
_MOST_SCROLLS = 20
_SECRET = re.compile(r"<secret:([\w.-]+)>")
_PRIVATE = re.compile(r"<private:([\w.-]+)>")
_TYPED = re.compile(r'(?:type|append)\s+("(?:[^"\\]|\\.)*")', re.IGNORECASE)
"""The text that a line types."""
_END, _NOT_DONE = "finish", "Not done"
_ENDS = (_END, _NOT_DONE, "give up")
"""The goals of steps that end a run; records of earlier versions have the last."""


class StepsModel(Model):
    """Follows lines such as `click Sign in`, one per step; after the last one the task is done.

    It counts its lines itself, because the steps may include those of other authors. So it works for one run only, and
    raises an error in the next.
    """

    def __init__(self, lines: Iterable[str], *, scrolls: bool = False) -> None:
        self.name = "steps"
        self._lines = parse(lines)
        self._scrolls = scrolls
        """Whether to scroll for targets that are not in view and take the first. Not for a person's lines: elsewhere on
        the page, another mark may have the same name."""
        self._scrolled = 0
        self._next = 0
        self._steps_known = -1
        self._looked_again = 0
        self._searched: list[str] = []
        """What this line has already been scrolled for."""
        self._not_found = ""
        """Why the last search for it found nothing."""
        self._has_acted = False
        """Whether the last decision was the action of a line, whose outcome is then the last outcome."""
        self._has_retried = False

    @property
    def named(self) -> frozenset[str]:
        """The names of the secrets and private data in its lines, but for those that end the run."""
        with_names = (line.text for line in self._lines if line.text.split()[0].lower() in WITH_TARGET)
        return names_in_placeholders(" ".join(with_names))

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the secrets that its lines type."""
        typing = (line.text for line in self._lines if line.text.split()[0].lower() in ("type", "append"))
        return frozenset(name for text in typing for name in _SECRET.findall(text))

    @property
    def private_typed(self) -> frozenset[str]:
        """The names of the private data that its lines type as `<private:NAME>`, which is how a page shows it."""
        texts = (match[1] for line in self._lines if (match := _TYPED.match(line.text)))
        return frozenset(name for text in texts for name in _PRIVATE.findall(text))

    def check_calls(self, custom: Sequence[CustomAction]) -> None:
        """Checks the custom actions that its lines call, and their arguments.

        Raises:
            UsageError: one does not exist, or its arguments are wrong.
        """
        for line in self._lines:
            if (call := line.call) is None:
                continue
            own = next((each for each in custom if each.name == call.name), None)
            fault = own.fault(call.arguments) if own else unknown_action(call.name, custom)
            if fault:
                hint = "" if custom else "give Agent(actions=[…]) in Python"
                raise UsageError(f"{_quote_line(line).rstrip(',')}: {fault}", hint)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The action of the next line; or of the same line once more, if it was refused before any input was sent.

        Raises:
            UsageError: it was already used in another run.
        """
        del complaint
        values = {each.name: _shown_value(each) for each in task.secrets}
        with named_values(values), earlier_looks(EarlierLook.of(each.observation) for each in steps):
            return self._decide(steps, observation)

    def _decide(self, steps: Sequence[Step], observation: Observation) -> Decision:
        is_first = self._steps_known < 0
        self._check_same_run(steps)
        # The loop's own steps, at a stall or a captcha, are not outcomes of a line.
        steps = [step for step in steps if step.decision.author != "loop"]
        refused = self._skip_done_lines(steps) if is_first else _refused(steps) if self._has_acted else None
        by_hand = None if is_first else last_takeover(steps)
        if by_hand is not None and not self._did_line(by_hand):
            self._has_acted = False  # the person did something else, so the line is still to be done
        if self._has_acted or refused:
            if refused is None:
                self._next_line()
            elif isinstance(steps[-1].decision.actions[-1], Wait) and refused.refusal not in _NOT_ENDED:
                return self._end_not_done(
                    f"{_quote_line(self._lines[self._next])} did not come true: {refused.sentence}"
                )
            elif refused.refusal == "taken_back":
                return self._end_not_done(f"{_quote_line(self._lines[self._next])} did not last: {refused.sentence}")
            elif refused.status == "partial" or refused.refusal == "timed_out":
                # Input was or may have been sent before the page stopped responding: a second try could order twice.
                line = self._lines[self._next]
                again = "sent again" if line.call is None else "called again"
                return self._end_not_done(
                    f"{_quote_line(line)} may have been carried out, so it is not {again}: {refused.sentence}"
                )
            elif self._has_retried:
                return self._end_not_done(
                    f"{_quote_line(self._lines[self._next])} was refused twice: {refused.sentence}"
                )
            else:
                self._has_retried = True
        self._has_acted = False
        judgement = _judgement(steps)
        if self._searched and steps and isinstance(steps[-1].decision.actions[-1], ScrollTo):
            missed = _refused(steps)
            self._not_found = self._not_found or (missed.sentence if missed is not None else "")
        if self._next >= len(self._lines):
            return _decision(_END, Finish(answer=all_done(len(self._lines))), judgement)
        return self._carry_out(self._lines[self._next], observation, judgement)

    def _skip_done_lines(self, steps: Sequence[Step]) -> Outcome | None:
        """Skips the lines that were followed before the run was interrupted; returns the refusal of the last one."""
        refused: Outcome | None = None
        for step in steps:
            # A person's action in place of a line counts as that line; stopping the run does not.
            if step.approval is not None and step.approval.choice is not None and step.approval.choice.kind == "stop":
                continue
            if is_taken_over(step.approval) and not self._did_line(_by_hand_after(step, steps)):
                continue
            proposed = step.approval.proposed if step.approval else step.decision
            goal = proposed.next_goal
            if proposed.author != "steps" or goal.startswith(LOOK_AGAIN) or goal in _ENDS:
                continue
            if self._next >= len(self._lines) or goal != self._lines[self._next].text:
                raise UsageError(
                    f"These are not the lines that the run followed: its step {step.index} was {goal!r}",
                    "give all step lines of the run",
                )
            refused = _refused([step])
            if refused is None:
                self._next_line()
        return refused

    def _did_line(self, by_hand: Sequence[Step]) -> bool:
        """Whether a person did by hand what the next line says."""
        lines = self._lines[self._next : self._next + 1]
        for line, (at, step) in product(lines, enumerate(by_hand)):
            # The page as it was, and as a record shows it, where private data has names.
            for values in (nullcontext(), named_values({})):
                with suppress(NotFoundError), values:
                    if did_by_hand(step, (line.build(step.observation),), by_hand[:at]):
                        return True
        return False

    def _check_same_run(self, steps: Sequence[Step]) -> None:
        if len(steps) <= self._steps_known:
            raise UsageError(
                f"These {len(self._lines)} lines were already followed in another run",
                "make a StepsModel for each run",
            )
        self._steps_known = len(steps)

    def _carry_out(self, line: StepLine, observation: Observation, judgement: _Judgement) -> Decision:
        try:
            action = line.build(observation)
        except NotFoundError as error:
            if (words := self._words_to_search(error, observation)) is not None:
                self._searched.append(words)
                return _decision(f"{LOOK_AGAIN}{line.text}", ScrollTo(text=words), judgement, summary=str(error))
            scroll = self._scroll_on(observation, error) if self._looked_again else None
            if scroll is not None:
                self._scrolled += 1
                return _decision(f"{LOOK_AGAIN}{line.text}", scroll, judgement, summary=str(error))
            pauses = _pauses(line, observation)
            if self._looked_again < len(pauses):
                pause = Wait(seconds=pauses[self._looked_again])
                self._looked_again += 1
                return _decision(f"{LOOK_AGAIN}{line.text}", pause, judgement, summary=str(error))
            longer = _with_longer_name(line, error, observation)
            if longer is not None and not longer.why_not:
                self._has_acted = True
                why = f"Nothing here is called {error.where}; only {longer.name!r} begins or ends with it."
                return _decision(line.text, longer.action, judgement, summary=why)
            if longer is not None:
                hint = (
                    f" {longer.name!r} is not taken for it: {longer.why_not}. "
                    f"If that is meant, write {_quoted(longer.name)}"
                )
            else:
                hint = _hint_for_missing(line, error, observation)
            elsewhere = f" {self._not_found}" if self._not_found else ""
            return self._end_not_done(f"{_quote_line(line)} could not be carried out: {error}{elsewhere}{hint}")
        self._has_acted = True
        return _decision(line.text, action, judgement)

    def _words_to_search(self, error: NotFoundError, observation: Observation) -> str | None:
        """The words to scroll to, as the line may mean them; None if all were tried, or nothing scrolls."""
        if self._scrolls or error.where is None or not _may_show_more(observation):
            return None
        return next((words for words in _search_words(error.where) if words not in self._searched), None)

    def _scroll_on(self, observation: Observation, error: NotFoundError) -> Scroll | None:
        """The scroll to look further, once from the top of the page to its end; None if there is nothing left."""
        if not self._scrolls or isinstance(error, AmbiguousError) or self._scrolled >= _MOST_SCROLLS:
            return None
        if self._scrolled == 0 and observation.scroll.above >= 1:
            return Scroll(direction="up", to="end")
        return Scroll(direction="down") if observation.scroll.below >= 1 else None

    def _next_line(self) -> None:
        self._next += 1
        self._looked_again = self._scrolled = 0
        self._searched, self._not_found = [], ""
        self._has_retried = False

    def _end_not_done(self, why: str) -> Decision:
        return _decision(_NOT_DONE, Finish(success=False, answer=why), "failure")


_Judgement = Literal["success", "failure", "unknown"]


def all_done(lines: int) -> str:
    """The answer after the last of so many lines."""
    return "The line was carried out." if lines == 1 else f"All {lines} lines were carried out."


@dataclass(frozen=True)
class _LongerName:
    """The only mark whose name begins or ends with the name that a line has, and what the line does on it."""

    name: str
    action: Action
    why_not: str = ""
    """Why it is not taken for the one that is meant; empty if it is."""


def _with_longer_name(line: StepLine, error: NotFoundError, observation: Observation) -> _LongerName | None:
    """What a line does on the only longer name of what it names; None if there is no such one."""
    mark = only_longer_name(error.where, observation) if error.where is not None else None
    if mark is None or error.where is None:
        return None
    called = mark.model_copy(update={"name": error.where.name})
    marks = tuple(called if each is mark else each for each in observation.marks)
    try:
        action = line.build(observation.model_copy(update={"marks": marks}))
    except NotFoundError:  # another target of the line
        return None
    why_not = ""
    if may_mean_opposite(error.where, mark):
        why_not = "its other words may make it the opposite"
    elif risks_taken(action, observation):
        why_not = "what deletes, pays, sends or submits needs its whole name"
    return _LongerName(mark.name, action, why_not)


def _may_show_more(seen: Observation) -> bool:
    """Whether there may be more than is in view. Frames do not tell whether they scroll."""
    page = seen.scroll
    is_wider = page.width > page.view_width + 1
    return page.above >= 1 or page.below >= 1 or is_wider or bool(seen.frames) or any(map(is_scroller, seen.marks))


def _search_words(where: NamedTarget) -> tuple[str, ...]:
    """The words by which a target may be found elsewhere; for the one of a row, the words of the row.

    An ordinal counts what is in view.
    """
    if where.nth:
        return ()
    words = (where.whole_name, where.beside) if where.beside else (where.name, where.words)
    return tuple(dict.fromkeys(filter(None, words)))


def _pauses(line: StepLine, observation: Observation) -> tuple[float, ...]:
    """Seconds before each further look for the target of a line."""
    if line.within_s is None:
        return LOOKS_AGAIN[:1] if observation.at_rest else LOOKS_AGAIN
    whole, rest = divmod(line.within_s, _LOOK_EVERY_S)
    return (*[_LOOK_EVERY_S] * int(whole), *([rest] if rest else []))


def _shown_value(secret: Secret) -> str:
    """What the observation shows where the page shows a secret: its name, but the value of private data."""
    return secret.value.get_secret_value() if secret.is_private else f"<secret:{secret.name}>"


def _by_hand_after(taken: Step, steps: Sequence[Step]) -> list[Step]:
    after = [step for step in steps if step.index > taken.index]
    return list(takewhile(lambda step: step.is_by_hand, after))


def _refused(steps: Sequence[Step]) -> Outcome | None:
    """The outcome in the last step that was refused or partial, if there is one."""
    last = steps[-1].outcomes if steps else ()
    return next((each for each in last if each.status != "done"), None)


def _judgement(steps: Sequence[Step]) -> _Judgement:
    if not steps or not steps[-1].outcomes:
        return "unknown"
    if _refused(steps):
        return "failure"
    return "unknown" if any(each.effect in FAILED_EFFECTS for each in steps[-1].outcomes) else "success"


def _quoted(name: str) -> str:
    """The name as a line has it."""
    return json.dumps(safe_name(name), ensure_ascii=False)


def _hint_for_missing(line: StepLine, error: NotFoundError, observation: Observation) -> str:
    """What may help where nothing has the name in a line; empty where the line is wrong in another way."""
    if error.where is None:
        return ""
    if observation.url == "about:blank" and not observation.listing:
        return " The page is blank: open an address first"
    return f" If it comes later, say how long to look: '{line.text} within 5 s'" if line.within_s is None else ""


def _quote_line(line: StepLine) -> str:
    return f"Line {line.number}, {line.text!r},"


def _decision(goal: str, action: Action, judgement: _Judgement, summary: str = "") -> Decision:
    return Decision(
        judgement=judgement, next_goal=goal, actions=(action,), summary=summary, author="steps", model="steps"
    )
