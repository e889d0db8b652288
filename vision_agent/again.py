"""A recorded action, meant for the page as it is now: the same thing again, or a sentence that says why there is none.

A mark is the same where its fingerprint, the words beside it and the heading over it are, and where exactly one was so
then and exactly one is now; numbers are handed out anew in every run and say nothing. A record of an earlier version
kept only a hash of such words: what stood among words then is not known again. What has no fingerprint, a point and a
thing drawn on a canvas, is the same only where the whole picture is, to the pixel. Anything else would be a guess.

Knows observations and actions; no browser, no record. What is found here is looked at again before input is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from vision_agent.actions import Action, Cell, CloseTab, Custom, Finish, Infeasible, Point, Press, SwitchTab
from vision_agent.distinguish import beside
from vision_agent.types import Mark, Observation, Step

_SECRET = re.compile(r"<secret:[\w.-]+>")
_SAID = 60
"""Characters of a name in a sentence."""
_NAMES_MARKS = ("source", "target", "mark")


class NotAsRecorded(Exception):
    """What was recorded cannot be done here without guessing."""


def actions_again(step: Step, now: Observation) -> tuple[Action, ...]:
    """Those actions of a recorded step that were carried out, with the marks that they mean now.

    Raises:
        NotAsRecorded: one of them means nothing here, or more than one thing.
    """
    was = step.observation
    done = carried_out(step)
    return tuple(_again(action, was, now, is_first=index == 0) for index, action in enumerate(done))


def carried_out(step: Step) -> tuple[Action, ...]:
    """The actions of a step that were done; what was refused did nothing."""
    return tuple(action for action, _ in step.carried_out)


def _again(action: Action, was: Observation, now: Observation, *, is_first: bool) -> Action:
    match action:
        case Custom():
            raise NotAsRecorded(f"nothing is known of what {action.name} was given, so it is not called again")
        case Press(target=None) if is_first:
            _must_have_the_focus(was, now)
        case SwitchTab() | CloseTab() if len(was.tabs) != len(now.tabs):
            raise NotAsRecorded(f"there were {len(was.tabs)} tabs, and there are {len(now.tabs)}")
        case Finish() | Infeasible():
            return action.model_copy(update={"evidence": _evidence(action.evidence, was, now)})
    changed: dict[str, Any] = {}
    for name in type(action).model_fields:
        value = getattr(action, name)
        match value:
            case Cell():
                changed[name] = value.model_copy(update={"mark": _grid(value, was, now).number})
            case Point():
                _must_look_the_same(was, now, f"the point ({value.x:g}, {value.y:g})")
            case int() if name in _NAMES_MARKS:
                changed[name] = mark_again(value, was, now).number
            case tuple() if any(isinstance(each, Point) for each in value):
                _must_look_the_same(was, now, "a path of points")
    return action.model_copy(update=changed)


def mark_again(number: int, was: Observation, now: Observation) -> Mark:
    """The mark that a recorded one means now.

    Raises:
        NotAsRecorded: there is none, or more than one might be meant.
    """
    old = was.mark(number)
    if old is None:
        raise NotAsRecorded(f"mark {number} stands in no line of the record")
    words = _words(old) + beside(old, was.marks)
    if not old.fingerprint:
        _must_look_the_same(was, now, words)
        then, here = _alike(old, was, _drawn), _alike(old, now, _drawn)
    else:
        identity = _identity_by(was, now)
        then, here = _alike(old, was, identity), _alike(old, now, identity)
    if len(then) == len(here) == 1:
        return here[0]
    if here and len(then) > 1:
        raise NotAsRecorded(f"{words} was one of {len(then)} that the record does not tell apart")
    if here:
        raise NotAsRecorded(f"{len(here)} are here like {words}, and which was meant cannot be told")
    raise NotAsRecorded(f"there is no {words} here{_nearly(old, now)}")


def _grid(cell: Cell, was: Observation, now: Observation) -> Mark:
    old, new = was.mark(cell.mark), mark_again(cell.mark, was, now)
    if old is None or old.grid is None or new.grid is None:
        raise NotAsRecorded(f"{_words(new)} has no rows and columns here")
    if (old.grid.rows, old.grid.columns) != (new.grid.rows, new.grid.columns):
        size = f"{old.grid.rows} rows and {old.grid.columns} columns, and has {new.grid.rows} and {new.grid.columns}"
        raise NotAsRecorded(f"{_words(old)} had {size}")
    return new


def _identity_by(was: Observation, now: Observation) -> Callable[[Mark], tuple[object, ...]]:
    """What a mark is known by, as far as both looks say it; what only a hash was kept of differs from all words."""
    if _is_of_earlier_version(was) and not _is_of_earlier_version(now):
        return lambda mark: (mark.frame, mark.fingerprint, mark.row, mark.around)
    return lambda mark: (mark.frame, mark.fingerprint, mark.context, mark.heading, mark.row, mark.around)


def _is_of_earlier_version(seen: Observation) -> bool:
    return any(mark.row or mark.around for mark in seen.marks)


def _drawn(mark: Mark) -> tuple[object, ...]:
    return mark.source, mark.tag, mark.name, mark.box


def _alike(old: Mark, seen: Observation, tells: Callable[[Mark], tuple[object, ...]]) -> list[Mark]:
    return [mark for mark in seen.marks if all(map(_is_said, tells(old), tells(mark)))]


def _is_said(recorded: object, now: object) -> bool:
    """Whether two facts are the same. Where the record says only the name of a secret, whatever stands there is."""
    if not (isinstance(recorded, str) and isinstance(now, str) and "<secret:" in recorded):
        return recorded == now
    return re.fullmatch(".*".join(map(re.escape, _SECRET.split(recorded))), now, re.DOTALL) is not None


def _nearly(old: Mark, now: Observation) -> str:
    """What comes near, for a person to see why it was not taken."""
    same = [mark for mark in now.marks if mark.fingerprint == old.fingerprint and mark.frame == old.frame]
    if old.fingerprint and same and (old.row or old.around) and not (same[0].row or same[0].around):
        return ": the record is of an earlier version, which did not keep the words that it stood among"
    if old.fingerprint and same:
        return f": [{same[0].label}]{beside(same[0], now.marks)} is the same by itself, but stands among other words"
    named = [mark for mark in now.marks if mark.name == old.name != "" and mark.kind == old.kind]
    return f": [{named[0].label}] is only called the same" if named else ""


def _must_look_the_same(was: Observation, now: Observation, what: str) -> None:
    # The hash is of the encoded picture, and one picture is encoded in one way.
    if (was.clean.sha256, was.clean.map, was.region) != (now.clean.sha256, now.clean.map, now.region):
        raise NotAsRecorded(f"{what} is used only where the whole picture is the same, and it is not")


def _must_have_the_focus(was: Observation, now: Observation) -> None:
    """Keys without a target go where the focus is."""
    old, new = _focused(was), _focused(now)
    if old is not None and (new is None or mark_again(old.number, was, now) != new):
        raise NotAsRecorded(f"keys went to {_words(old)}, which does not have the focus")
    if old is None and new is not None:
        raise NotAsRecorded(f"keys went to no field, and {_words(new)} has the focus")


def _focused(seen: Observation) -> Mark | None:
    return next((mark for mark in seen.marks if mark.state.focused), None)


def _evidence(numbers: Sequence[int], was: Observation, now: Observation) -> tuple[int, ...]:
    """What shows it, as far as that is here; nothing is done to it."""
    found = []
    for number in numbers:
        try:
            found.append(mark_again(number, was, now).number)
        except NotAsRecorded:
            continue
    return tuple(found)


def _words(mark: Mark) -> str:
    what = mark.role if mark.role != "generic" else mark.tag
    name = " ".join("".join(char if char.isprintable() else " " for char in mark.name).split())
    return f'{what} "{name[:_SAID]}"' if name else what
