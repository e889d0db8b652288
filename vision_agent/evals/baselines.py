"""Deciders without a model, so that a score has a floor: one that acts at random, one that matches words.

Neither understands anything. Both decide by what they are given and a seed alone, and end after a few steps. They are
here and not among the models that a run can be given: what acts at random belongs on a page that is being measured.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from vision_agent.actions import Action, Check, Click, Finish, Point, Scroll, Select, Set, Type
from vision_agent.errors import UsageError
from vision_agent.models.find import is_field
from vision_agent.models.steps import StepsModel
from vision_agent.ports import Model
from vision_agent.types import Decision, Mark, Observation, Step, Task

BASELINES = ("random", "match", "steps", "solver")

_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|(?<!\w)\'([^\'\n]+)\'(?!\w)')
_WORD = re.compile(r"\w+")
_SETTABLE = frozenset({"date", "time", "color", "month", "week", "datetime-local", "range"})
_CONFIRMS = frozenset({"submit", "ok", "done", "save", "send", "search", "login", "go"})
_LEAST = 2
"""Letters of a name that counts as said in a goal: shorter ones stand in any sentence."""


def baseline(name: str, seed: int | str, lines: Sequence[str] | None) -> Model:
    """The baseline of that name; `lines` are those of the task, for `steps`. A `solver` is made by its suite.

    Raises:
        UsageError: there is none of that name, or the task has no lines.
    """
    if name == "random":
        return RandomModel(seed)
    if name == "match":
        return MatchModel()
    if name == "steps" and lines:
        return StepsModel(lines, scrolls=True)
    if name == "solver":
        raise UsageError("No way through the task is known", "`solver` is for tasks of miniwob")
    if name == "steps":
        raise UsageError("The task has no reference lines for `steps` to follow", "give it `steps` in its suite")
    raise UsageError(f"No baseline is called {name!r}", f"known are {', '.join(BASELINES)}")


class RandomModel:
    """Does something that can be done to one of the marks, all of them equally likely; ends after `most` steps."""

    def __init__(self, seed: int | str, most: int = 10, *, anywhere: bool = False) -> None:
        self.name = "random"
        self._random = random.Random(seed)
        self._most = most
        self._anywhere = anywhere
        """Whether it presses any point of a picture that has no marks."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """One action on one mark; the end after the last step, or where there is nothing to act on."""
        del complaint
        able = [mark for mark in observation.marks if not mark.state.disabled]
        if self._anywhere and not observation.marks:
            size = observation.marked.size
            place = Point(x=self._random.randrange(size.width), y=self._random.randrange(size.height))
            return _decision(self.name, "Anywhere", Click(target=place))
        if len(steps) >= self._most or not able:
            return _decision(self.name, "End", Finish(success=False, answer=f"{len(steps)} steps were taken."))
        mark = self._random.choice(able)
        return _decision(self.name, f"Anything on {mark.name!r}", self._on(mark, task.goal))

    def _on(self, mark: Mark, goal: str) -> Action:
        state = mark.state
        if state.options:
            return Select(target=mark.number, options=(self._random.choice(state.options),))
        if mark.kind == "scroller":
            return Scroll(target=mark.number, direction=self._random.choice(("up", "down")))
        if is_field(mark) and not state.readonly and state.input_type not in {*_SETTABLE, "file", "checkbox", "radio"}:
            return Type(target=mark.number, text=self._random.choice(_texts(goal)))
        return Click(target=mark.number)


class MatchModel:
    """Does what the goal's words are found in: types what it quotes, then clicks what it names, then confirms.

    Each thing is done once, and what the steps tell counts as done whoever decided it; it ends when nothing is left
    that matches, or after `most` steps.
    """

    def __init__(self, most: int = 15) -> None:
        self.name = "match"
        self._most = most

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next thing that matches and was not done yet; else the end."""
        del complaint
        tried = [(action, step.observation) for step in steps for action in step.decision.actions]
        done = {words for action, seen in tried for words in _named(action, seen)}
        if len(steps) < self._most:
            for words, action in _matches(task.goal, observation, done):
                if words not in done:
                    return _decision(self.name, words, action)
        answer = "Nothing else matches the goal." if done else "Nothing matches the goal."
        return _decision(self.name, "End", Finish(success=bool(done), answer=answer))


def _matches(goal: str, observation: Observation, done: set[str]) -> list[tuple[str, Action]]:
    """What could be done, best first, each with the words that name it again in a later step."""
    said, quoted = f" {_plain(goal)} ", _quoted(goal)
    able = [mark for mark in observation.marks if not mark.state.disabled]
    names = {_plain(mark.name) for mark in able if not is_field(mark)}
    options = {_plain(option) for mark in able for option in mark.state.options}
    found: list[Action] = []
    for mark in able:
        for option in mark.state.options:
            if _is_said(option, said) and not mark.state.readonly:
                found.append(Select(target=mark.number, options=(option,)))
    found += _typed([text for text in quoted if _plain(text) not in names | options], able, said, done)
    named = [mark for mark in able if not is_field(mark) and not mark.state.options and _is_said(mark.name, said)]
    # The longest name says most: `Save as draft` before `Save`. What confirms comes after all it could confirm.
    for mark in sorted(named, key=lambda mark: (_confirms(mark), -len(_plain(mark.name)))):
        can_be_ticked = mark.state.checked is not None
        found.append(Check(mark=mark.number, checked=True) if can_be_ticked else Click(target=mark.number))
    return [(_named(action, observation)[0], action) for action in found]


def _named(action: Action, seen: Observation) -> tuple[str, ...]:
    """The words for each thing that an action does, the same on another page with other numbers; none for a point."""
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


def _typed(texts: Sequence[str], marks: Sequence[Mark], said: str, done: set[str]) -> list[Action]:
    """Each quoted text into the field whose name stands nearest before it in the goal; else into the next empty one."""
    fields = [mark for mark in marks if is_field(mark) and not mark.state.readonly]
    fields = [mark for mark in fields if mark.state.input_type not in ("checkbox", "radio", "file")]
    found: list[Action] = []
    taken: set[int] = set()
    for text in texts:
        if _type_words(text) in done:
            continue
        before = said[: said.find(f" {_plain(text)} ") + 1]
        free = [mark for mark in fields if mark.number not in taken and mark.state.value in (None, "")]
        near = {mark.number: before.rfind(f" {_plain(mark.name)} ") for mark in free if len(_plain(mark.name)) > 1}
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
    return mark.state.submits or _plain(mark.name) in _CONFIRMS


def _is_said(name: str, said: str) -> bool:
    plain = _plain(name)
    return len(plain) >= _LEAST and f" {plain} " in said


def _plain(text: str) -> str:
    """Its words in small letters, with one space between."""
    return " ".join(_WORD.findall(text.casefold()))


def _quoted(goal: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(goal)]


def _texts(goal: str) -> list[str]:
    """What could be typed: what is quoted, else any word of the goal."""
    return _quoted(goal) or _WORD.findall(goal) or ["text"]


def _decision(name: str, goal: str, action: Action) -> Decision:
    return Decision(next_goal=goal, actions=(action,), author="scripted", model=name)
