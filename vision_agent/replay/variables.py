"""The values of a recorded run that can change in a replay: the facts it was given, and each text it typed.

A fact has the name it was given (`--data city=Rome`) and applies wherever its value was typed, chosen or waited for, as
a whole text or as whole words in one, and in the words of the marks that were used (`renamed_marks`). A text is named
by its step, `3`, or by step and action, `3.2`, if a step has several; it overrides a fact. Texts that contain a secret
are not variables: secrets are given again by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vision_agent.actions import (
    Action,
    Click,
    Finish,
    Select,
    SelectText,
    Set,
    Type,
    Wait,
    mark_in,
    targets_of,
)
from vision_agent.errors import UsageError
from vision_agent.observation import Mark
from vision_agent.replay.renamed_marks import NewValue, RenamedMarks, uses
from vision_agent.types import Step, Task

_SECRET = re.compile(r"<secret:([^<>]+)>")
_LONGEST_FACT = 1000
"""Characters of a fact that is also looked for within texts; a longer one is found only as a whole text."""
_WORD = re.compile(r"\w+")
_OF_PERSONS = ("email", "tel", "url", "password")
_QUANTITIES = ("number", "range", "date", "time", "month", "week", "datetime-local")
"""Types of fields."""
_QUANTITY = re.compile(r"(?!0\d)[^\w+]{0,2}\d+(?:[\s.,:/-]+\d+)*\s?(?:[^\W\d]{1,3}|\W)?")
"""A number, an amount or a date, perhaps with a unit, but no telephone number."""
_MOST_DIGITS = 8
_BETWEEN = "|"
"""Separates the options of one choice."""


class Variable(NamedTuple):
    """One value that can be set, and its recorded value."""

    name: str
    value: str
    what: str
    """For people: where it was used."""


class _TypedText(NamedTuple):
    """The position of a typed text: index of the step in the sequence, and of the action in the step."""

    step: int
    action: int


def variables(task: Task, steps: Sequence[Step]) -> tuple[Variable, ...]:
    """All variables of the run, facts first."""
    facts = [Variable(name, value, _uses(value, steps)) for name, value in task.user_data.items()]
    typed = [
        Variable(name, _text(_action(steps, place)) or "", _where(steps, place))
        for name, place in _places(steps).items()
    ]
    return (*facts, *typed)


def typed_secrets(steps: Sequence[Step]) -> tuple[str, ...]:
    """Names of the secrets that the steps typed."""
    texts = (_text(action) or "" for step in steps for action in step.decision.actions)
    return tuple(dict.fromkeys(name for text in texts for name in _SECRET.findall(text)))


def set_variables(
    values: Mapping[str, str], task: Task, steps: Sequence[Step], *, is_same_start: bool = False
) -> tuple[Task, tuple[Step, ...]]:
    """Return the task and the steps with the given values in place.

    The answer stays only if it says nothing but what the task says: with other values, the page would say another one.
    `is_same_start`: the start address is the recorded one, so it must not have an old value in it.

    Raises:
        UsageError: no variable has that name, or it is unclear where its value was used.
    """
    if not values:
        return task, tuple(steps)
    places = _places(steps)
    exact: dict[_TypedText, str] = {}
    facts: dict[str, str] = {}
    for name, value in values.items():
        if name in task.user_data:
            facts[name] = value
        elif name in places:
            exact[places[name]] = value
        else:
            known = f"there are: {', '.join([*task.user_data, *places]) or 'none'}"
            if clicked := _clicked(name, steps):
                raise UsageError(
                    f"There is no variable {name!r} in this run: step {name} clicks {clicked!r}, and types nothing",
                    f"{known}; to click another, record the run with --data NAME={clicked!r} and give --set NAME=…",
                )
            raise UsageError(f"There is no variable {name!r} in this run", known)
    change = _changer(facts, task, steps)
    renamed = RenamedMarks(
        new_values(values, task, steps), [(each.name, each.value) for each in variables(task, steps)], task.user_data
    )
    if is_same_start:
        renamed.require_start(task.start_url or "")
    of_task = set(_WORD.findall(" ".join((task.goal, *task.user_data.values())).casefold()))
    is_known = True

    def answered(action: Action) -> Action:
        nonlocal is_known
        if not isinstance(action, Finish) or not action.answer:
            return action
        if set(_WORD.findall(action.answer.casefold())) <= of_task:
            return action.model_copy(update={"answer": change(action.answer)})
        is_known = False
        return action.model_copy(update={"answer": ""})

    def changed(step: Step, at: int) -> Step:
        decision = step.decision
        actions = tuple(_new(action, exact.get(_TypedText(at, i)), change) for i, action in enumerate(decision.actions))
        actions = tuple(map(answered, actions))
        goal = change(decision.next_goal)
        for i, action in enumerate(decision.actions):
            if (new := exact.get(_TypedText(at, i))) is not None and (old := _text(action)):
                goal = _replaced(old, new, goal)
        update = {"actions": actions, "next_goal": goal}
        return renamed.step(step.model_copy(update={"decision": decision.model_copy(update=update)}))

    checks = tuple(
        each.model_copy(update={name: change(text) for name in ("text", "mark") if (text := getattr(each, name))})
        for each in task.checks
    )
    changed_steps = tuple(changed(step, at) for at, step in enumerate(steps))
    changes: dict[str, Any] = {
        "goal": change(task.goal), "instructions": change(task.instructions),
        "user_data": {**task.user_data, **facts}, "checks": checks,
        "answer_schema": task.answer_schema if is_known else None,
    }  # fmt: skip
    return task.model_copy(update=changes), changed_steps


def new_values(values: Mapping[str, str], task: Task, steps: Sequence[Step]) -> tuple[NewValue, ...]:
    """The given values with the recorded ones, without lists of several options."""
    known = {each.name: each.value for each in variables(task, steps)}
    return tuple(
        NewValue(name, known[name], value)
        for name, value in values.items()
        if name in task.user_data or (name in known and _BETWEEN not in known[name])
    )


def first_costing_other(was: Sequence[Step], now: Sequence[Step]) -> int | None:
    """The number of the first step whose new values may change what is paid from there on; None if none do.

    Another number or choice may, and another thing that is pressed by its name; who orders, and their address, may not.
    """
    pairs = zip(was, now, strict=True)
    return next((new.index for old, new in pairs if _may_cost_other(old, new)), None)


def _may_cost_other(was: Step, now: Step) -> bool:
    for (old, before), (new, mark) in zip(_marks_used(was), _marks_used(now), strict=True):
        if not isinstance(new, Type | Set):
            is_other = old != new if isinstance(new, Select) else mark.fingerprint != before.fingerprint
        else:
            is_other = old != new and any(_is_quantity(_text(each) or "", mark) for each in (old, new))
        if is_other:
            return True
    return False


def _marks_used(step: Step) -> Iterator[tuple[Action, Mark]]:
    """The actions of a step on marks, each with the mark."""
    for action, _ in step.carried_out:
        for target in targets_of(action):
            number = mark_in(target)
            mark = step.observation.known_mark(number) if number is not None else None
            if mark is not None:
                yield action, mark


def _is_quantity(text: str, field: Mark) -> bool:
    """Whether what is typed into a field is a number, an amount or a date."""
    if field.state.input_type in _OF_PERSONS:
        return False
    if field.role in ("spinbutton", "slider") or field.state.input_type in _QUANTITIES:
        return True
    return _QUANTITY.fullmatch(text.strip()) is not None and sum(map(str.isdigit, text)) <= _MOST_DIGITS


def _changer(facts: Mapping[str, str], task: Task, steps: Sequence[Step]) -> Callable[[str], str]:
    olds: dict[str, str] = {}
    for name, new in facts.items():
        old = task.user_data[name]
        twins = [each for each, value in task.user_data.items() if value == old and facts.get(each, value) != new]
        if twins:
            raise UsageError(
                f"{name} was {old!r}, and so was {', '.join(twins)}: it is unclear which of them was typed",
                f"set it by its step: {', '.join(_places(steps)) or 'no step typed a text'}",
            )
        if not any(_occurs(old, text) for text in _texts(steps)) and not any(uses(old, step) for step in steps):
            raise UsageError(
                f"{name} was {old!r}, but no step typed exactly that or used something whose name has it",
                f"set the typed text by its step: {', '.join(_places(steps)) or 'no step typed a text'}",
            )
        olds[old] = new
    if not olds:
        return lambda text: text
    # The name of a secret is not a typed text, so it stays.
    short = [_words(old) for old in sorted(olds, key=len, reverse=True) if len(old) <= _LONGEST_FACT]
    either = re.compile("|".join(["<secret:[^>]*>", *short]))

    def change(text: str) -> str:
        return olds[text] if text in olds else either.sub(lambda match: olds.get(match.group(), match.group()), text)

    return change


def _words(value: str) -> str:
    return rf"(?<!\w){re.escape(value)}(?!\w)"


def _occurs(value: str, text: str) -> bool:
    if not value or len(value) > _LONGEST_FACT:
        return bool(value) and value == text
    return re.search(_words(value), text) is not None


def _replaced(old: str, new: str, text: str) -> str:
    if len(old) > _LONGEST_FACT:
        return new if old == text else text
    return re.sub(_words(old), lambda _: new, text)


def _texts(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        for action in step.decision.actions:
            yield from (value for value in _values(action).values() if value)


def _values(action: Action) -> dict[str, str]:
    match action:
        case Type():
            return {"text": action.text}
        case Set():
            return {"value": action.value}
        case Select():
            return {"options": _BETWEEN.join(action.options)}
        case Wait(text=str()):
            return {"text": action.text or ""}
        case SelectText():
            return {"first": action.first, "last": action.last}
    return {}


def _text(action: Action) -> str | None:
    """What was typed or chosen; None for other actions."""
    return next(iter(_values(action).values())) if isinstance(action, Type | Set | Select) else None


def _new(action: Action, exact: str | None, change: Callable[[str], str]) -> Action:
    return _change(action, change if exact is None else lambda _: exact)


def _change(action: Action, change: Callable[[str], str]) -> Action:
    new: dict[str, Any] = {name: change(value) for name, value in _values(action).items()}
    if isinstance(action, Select):
        several = len(action.options) > 1
        new = {"options": tuple(new["options"].split(_BETWEEN)) if several else (new["options"],)}
    return action.model_copy(update=new) if new else action


def _places(steps: Sequence[Step]) -> dict[str, _TypedText]:
    """The position of each typed text by its name, `step` or `step.action`, without texts that contain a secret."""
    found: dict[int, list[tuple[int, _TypedText]]] = {}
    acts: dict[int, int] = {}
    for at, step in enumerate(steps):
        for i, action in enumerate(step.decision.actions):
            acts[step.index] = acts.get(step.index, 0) + 1
            text = _text(action)
            was_done = i < len(step.outcomes) and step.outcomes[i].status == "done"
            if text is not None and was_done and not _SECRET.search(text):
                found.setdefault(step.index, []).append((acts[step.index], _TypedText(at, i)))
    return {
        str(index) if len(places) == 1 else f"{index}.{act}": place
        for index, places in found.items()
        for act, place in places
    }


def _clicked(name: str, steps: Sequence[Step]) -> str:
    """The name of what the step of this number clicks; empty if it clicks nothing that has one."""
    clicks = (
        step.observation.mark(action.target)
        for step in steps
        for action in step.decision.actions
        if str(step.index) == name and isinstance(action, Click) and isinstance(action.target, int)
    )
    return next((mark.name for mark in clicks if mark is not None), "")


def _action(steps: Sequence[Step], place: _TypedText) -> Action:
    return steps[place.step].decision.actions[place.action]


def _where(steps: Sequence[Step], place: _TypedText) -> str:
    action = _action(steps, place)
    target = getattr(action, "target", None) or getattr(action, "mark", None)
    mark = steps[place.step].observation.mark(target) if isinstance(target, int) else None
    verb = {"type": "typed into", "set": "set in", "select": "chosen in"}[action.kind]
    return f"{verb} {mark.name!r}" if mark and mark.name else verb.split()[0]


def _uses(value: str, steps: Sequence[Step]) -> str:
    many = sum(_occurs(value, text) for text in _texts(steps)) + sum(uses(value, step) for step in steps)
    return f"a fact of the run, used {many} times" if many != 1 else "a fact of the run, used once"
