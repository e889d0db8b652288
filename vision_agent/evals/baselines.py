"""Baseline models that set a floor for scores: one acts at random, one matches words.

Neither understands the page. Both depend only on their input and a seed, and stop after a few steps. They are not
among the models of ordinary runs, because random actions belong only on pages that are being evaluated.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from vision_agent.actions import Action, Check, Click, Finish, Point, Scroll, Select, Set, Type
from vision_agent.errors import UsageError
from vision_agent.models.offline.mark_kinds import is_field
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Mark, Observation
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task

BASELINES = ("random", "match", "steps", "solver")

_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|(?<!\w)\'([^\'\n]+)\'(?!\w)')
_WORD = re.compile(r"\w+")
_SETTABLE = frozenset({"date", "time", "color", "month", "week", "datetime-local", "range"})
_CONFIRMS = frozenset({"submit", "ok", "done", "save", "send", "search", "login", "go"})
_LEAST = 2
"""Minimum letters of a name that is looked for in a goal: shorter names occur in any sentence."""


def baseline(name: str, seed: int | str, lines: Sequence[str] | None) -> Model:
    """The baseline with that name; `steps` follows `lines`, the reference lines of the task. Suites create `solver`.

    Raises:
        UsageError: there is no such baseline, or the task has no reference lines.
    """
    if name == "random":
        return RandomModel(seed)
    if name == "match":
        return MatchModel()
    if name == "steps" and lines:
        return StepsModel(lines, scrolls=True)
    if name == "solver":
        raise UsageError("There is no solver for this task", "`solver` works only on tasks of miniwob and canvas")
    if name == "steps":
        raise UsageError("The task has no reference lines for `steps` to follow", "add `steps` to it in its suite")
    raise UsageError(f"Unknown baseline {name!r}", f"known: {', '.join(BASELINES)}")


class RandomModel(Model):
    """Acts on a random mark, each equally likely; ends after `most` steps."""

    def __init__(self, seed: int | str, most: int = 10, *, anywhere: bool = False) -> None:
        self.name = "random"
        self._random = random.Random(seed)
        self._most = most
        self._anywhere = anywhere
        """Whether it clicks a random point in pictures without marks."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """One action on one mark; ends after the last step, or if there is nothing to act on."""
        del complaint
        able = [mark for mark in observation.marks if not mark.state.disabled]
        if self._anywhere and not observation.marks:
            size = observation.marked.size
            place = Point(x=self._random.randrange(size.width), y=self._random.randrange(size.height))
            return _decision(self.name, "Anywhere", Click(target=place))
        if len(steps) >= self._most or not able:
            return _decision(self.name, "End", Finish(success=False, answer=f"{len(steps)} steps were taken."))
        mark = self._random.choice(able)
        return _decision(self.name, f"Anything on {mark.name!r}", self._random_action(mark, task.goal))

    def _random_action(self, mark: Mark, goal: str) -> Action:
        state = mark.state
        if state.options:
            return Select(target=mark.number, options=(self._random.choice(state.options),))
        if mark.kind == "scroller":
            return Scroll(target=mark.number, direction=self._random.choice(("up", "down")))
        if is_field(mark) and not state.readonly and state.input_type not in {*_SETTABLE, "file", "checkbox", "radio"}:
            return Type(target=mark.number, text=self._random.choice(_texts(goal)))
        return Click(target=mark.number)


class MatchModel(Model):
    """Matches words of the goal with marks: types what the goal quotes, then clicks what it names, then confirms.

    It does each thing once, and counts what earlier steps did, whoever decided them. It ends when nothing else matches,
    or after `most` steps.
    """

    def __init__(self, most: int = 15) -> None:
        self.name = "match"
        self._most = most

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next match not done yet, or the end."""
        del complaint
        tried = [(action, step.observation) for step in steps for action in step.decision.actions]
        done = {words for action, seen in tried for words in _action_words(action, seen)}
        if len(steps) < self._most:
            for words, action in _matches(task.goal, observation, done):
                if words not in done:
                    return _decision(self.name, words, action)
        answer = "Nothing else matches the goal." if done else "Nothing matches the goal."
        return _decision(self.name, "End", Finish(success=bool(done), answer=answer))


def _matches(goal: str, observation: Observation, done: set[str]) -> list[tuple[str, Action]]:
    """The possible actions, best first, each with words that identify it in later steps."""
    goal_words, quoted = f" {_normalize(goal)} ", _quotes(goal)
    able = [mark for mark in observation.marks if not mark.state.disabled]
    names = {_normalize(mark.name) for mark in able if not is_field(mark)}
    options = {_normalize(option) for mark in able for option in mark.state.options}
    found: list[Action] = []
    for mark in able:
        for option in mark.state.options:
            if _is_in_goal(option, goal_words) and not mark.state.readonly:
                found.append(Select(target=mark.number, options=(option,)))
    found += _typing_actions(
        [text for text in quoted if _normalize(text) not in names | options], able, goal_words, done
    )
    named = [
        mark for mark in able if not is_field(mark) and not mark.state.options and _is_in_goal(mark.name, goal_words)
    ]
    # The longest name is the most specific: `Save as draft` before `Save`. Confirming comes after what it confirms.
    for mark in sorted(named, key=lambda mark: (_confirms(mark), -len(_normalize(mark.name)))):
        can_be_ticked = mark.state.checked is not None
        found.append(Check(mark=mark.number, checked=True) if can_be_ticked else Click(target=mark.number))
    return [(_action_words(action, observation)[0], action) for action in found]


def _action_words(action: Action, seen: Observation) -> tuple[str, ...]:
    """Words for each thing an action does, the same when marks have other numbers; none for a point."""
    match action:
        case Type(text=text) | Set(value=text):
            return (_type_words(text),)
        case Select(target=int(number), options=options) if mark := seen.mark(number):
            return tuple(f"Select {option} in {mark.name}" for option in options)
        case Click(target=int(number)) | Check(mark=number) if mark := seen.mark(number):
            verb = "Check" if mark.state.checked is not None else "Click"
            return (f"{verb} {mark.role} {mark.name}",)
    return ()


def _type_words(text: str) -> str:
    return f"Type {text}"


def _typing_actions(texts: Sequence[str], marks: Sequence[Mark], goal_words: str, done: set[str]) -> list[Action]:
    """Types each quoted text into the field whose name precedes it most closely in the goal, or the next empty one."""
    fields = [mark for mark in marks if is_field(mark) and not mark.state.readonly]
    fields = [mark for mark in fields if mark.state.input_type not in ("checkbox", "radio", "file")]
    found: list[Action] = []
    taken: set[int] = set()
    for text in texts:
        if _type_words(text) in done:
            continue
        before = goal_words[: goal_words.find(f" {_normalize(text)} ") + 1]
        free = [mark for mark in fields if mark.number not in taken and mark.state.value in (None, "")]
        near = {
            mark.number: before.rfind(f" {_normalize(mark.name)} ") for mark in free if len(_normalize(mark.name)) > 1
        }
        best = max(free, key=lambda mark: near.get(mark.number, -1), default=None)
        if best is None:
            continue
        taken.add(best.number)
        if best.state.input_type in _SETTABLE:
            found.append(Set(mark=best.number, value=text))
        else:
            found.append(Type(target=best.number, text=text))
    return found


def _confirms(mark: Mark) -> bool:
    return mark.state.submits or _normalize(mark.name) in _CONFIRMS


def _is_in_goal(name: str, goal_words: str) -> bool:
    plain = _normalize(name)
    return len(plain) >= _LEAST and f" {plain} " in goal_words


def _normalize(text: str) -> str:
    """Its words in lower case, separated by single spaces."""
    return " ".join(_WORD.findall(text.casefold()))


def _quotes(goal: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(goal)]


def _texts(goal: str) -> list[str]:
    """Texts to type: the quoted ones, or the words of the goal if there are none."""
    return _quotes(goal) or _WORD.findall(goal) or ["text"]


def _decision(name: str, goal: str, action: Action) -> Decision:
    return Decision(next_goal=goal, actions=(action,), author="scripted", model=name)
