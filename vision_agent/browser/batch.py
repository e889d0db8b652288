"""Whether the next of several actions that were decided on one look may still be carried out.

Each action changes the page, and what was right to do when the page was looked at may be wrong now: a dialog or an
alert has come up anywhere, a list of suggestions has come, something lies over targets or beside the next one that was
not there, the target was moved, the focus was taken. What only says something beside the page (a status, a tooltip)
stops nothing, nor does what closes.
Knows what was seen and what there is; that a target is still what it was is looked at anyway, before every action.
"""

from __future__ import annotations

import re
from typing import Any

from vision_agent.actions import Action, Click, Press, Type, mark_in, targets_of
from vision_agent.browser import ladder, overlay
from vision_agent.browser.frames import Scan
from vision_agent.browser.hands import Hands
from vision_agent.browser.ladder import Raw
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import what_is, words_for
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.types import Box, Mark

_NEAR = 24.0
"""CSS pixels around a target in which nothing new may stand."""
_MOVED = 4.0
"""CSS pixels; less is a rounding or a border."""
_OPENED = {"dialog": "A dialog has opened", "alert": "The page alerts", "popover": "Something has opened over the page"}
_BESIDE = ("<status>", "<tooltip>", "<log>", "<timer>", "<output>")
"""How what only says something is described."""
_DIGITS = re.compile(r"\d+")
_LEAVE_S = 0.5
_SUGGESTIONS = {"option", "listbox", "menu", "menuitem", "menuitemcheckbox", "menuitemradio"}


async def must_still_hold(hands: Hands, action: Action) -> None:
    """Returns where the page is still the one that the action was meant for.

    Raises:
        Refused: it is not; the sentence says what has come, moved or gone.
    """
    if not _sends(action):
        return
    marks = _marks_of(hands, action)
    # Asked before the scan, which gives a key to what has none yet.
    focus = await overlay.ask(hands.page.main_frame, "focused", hands.deadline_s)
    now = await ladder.glance(hands.seen, hands.deadline_s)
    _must_have_opened_nothing(hands.seen.scan, now)
    if isinstance(action, Press) and action.target is None:
        await _must_have_kept_focus(hands)
    await _must_not_have_lost_focus(hands, focus, {mark.key for mark in marks})
    known = {raw["key"] for raw in hands.seen.scan.marks}
    new = [raw for raw in now.marks if raw["key"] not in known]
    by_key = {raw["key"]: raw for raw in now.marks}
    for mark in marks:
        _must_be_alone(mark, by_key.get(mark.key), new)
        _must_have_stayed(mark, by_key.get(mark.key), hands.seen.scan, now)


async def focus_left(hands: Hands, action: Action) -> set[str] | None:
    """What may have the focus when the next action begins: what this one left it on, or what it was about."""
    if not _sends(action):
        return hands.left
    about = {mark.key: mark for mark in _marks_of(hands, action)}
    if any(mark.kind == "field" for mark in about.values()) and _stays_in_field(action):
        return {*about}
    try:
        now = await overlay.ask(hands.page.main_frame, "focused", min(_LEAVE_S, hands.deadline_s))
    except FrameSilent:
        return None  # it navigates, or hangs, which `effect` will say
    return {now["key"] or now["what"], *about}


def _stays_in_field(action: Action) -> bool:
    """Whether it gives a field the focus and leaves it there: if something else has it, the page took it."""
    return isinstance(action, Click) or (isinstance(action, Type) and not action.submit)


def _sends(action: Action) -> bool:
    """Whether it sends input to the page."""
    return isinstance(action, Press) or bool(targets_of(action))


def _marks_of(hands: Hands, action: Action) -> list[Mark]:
    numbers = [number for each in targets_of(action) if (number := mark_in(each)) is not None]
    return [mark for number in numbers if (mark := hands.seen.observation.mark(number)) is not None]


async def _must_not_have_lost_focus(hands: Hands, focus: dict[str, Any], targets: set[str]) -> None:
    """Nothing that has it is no loss, nor is what is meant next: many pages lead from field to field."""
    before = {mark.key for mark in hands.seen.observation.marks if mark.state.focused}
    if hands.left is None or not focus["what"]:
        return
    if (focus["key"] or focus["what"]) in hands.left | targets | before:
        return
    if hands.focused is None or not await hands.has_focus(hands.focused):
        what = plain(focus["what"], 100)
        raise Refused("changed", f"The focus has moved to {what} since the last action. Look before going on.")


def _must_have_opened_nothing(then: Scan, now: Scan) -> None:
    """A dialog that was drawn anew with the same words is none that has come, nor is an alert that counts down."""
    known = [each for scanned in then.frames for each in scanned.answer["layers"]]
    keys, words = {each["key"] for each in known}, {_without_digits(each) for each in known}
    for scanned in now.frames:
        for each in scanned.answer["layers"]:
            is_known = each["key"] in keys and each["kind"] != "alert"
            if not is_known and _without_digits(each) not in words:
                said = f"{_OPENED[each['kind']]}: {plain(each['words'], 120)}"
                raise Refused("changed", f"{said}. Look before going on.")
    if _scrolled(then) != _scrolled(now):
        return  # what has always stood there may now lie over something else
    lost = {raw["key"] for raw in then.marks} & now.living - {raw["key"] for raw in now.marks}
    over = {each["key"] for each in then.covered}
    for each in now.covered:
        if lost and each["key"] not in over and not each["blocker"].startswith(_BESIDE):
            raise Refused("changed", f"{plain(each['blocker'], 120)} has come over targets. Look before going on.")


def _without_digits(layer: dict[str, str]) -> tuple[str, str]:
    return layer["kind"], _DIGITS.sub("", layer["words"])


async def _must_have_kept_focus(hands: Hands) -> None:
    mark = hands.focused
    if mark is not None and not await hands.has_focus(mark):
        raise Refused("changed", f"The focus went away from {words_for(mark)}, so no key was sent. Look again.")


def _must_be_alone(mark: Mark, here: Raw | None, new: list[Raw]) -> None:
    box: Box = here["box"] if here else mark.box
    around = Box(x=box.x - _NEAR, y=box.y - _NEAR, width=box.width + 2 * _NEAR, height=box.height + 2 * _NEAR)
    for raw in new:
        what = what_is(raw["role"], raw["tag"], raw["name"])
        if raw["role"] in _SUGGESTIONS:
            raise Refused("changed", f"Something to choose from has come up ({what}). Look before going on.")
        if around.intersection(raw["box"]):
            raise Refused("changed", f"{what} has come up beside {words_for(mark)}. Look before going on.")


def _must_have_stayed(mark: Mark, here: Raw | None, then: Scan, now: Scan) -> None:
    """Being scrolled with the whole page, as by an action that brings its target into view, is no move."""
    if here is None or mark.frame:
        return
    (x1, y1), (x2, y2) = _scrolled(then), _scrolled(now)
    before = next(raw["box"] for raw in then.marks if raw["key"] == mark.key)
    by_x, by_y = here["box"].x + x2 - before.x - x1, here["box"].y + y2 - before.y - y1
    is_cut = here["box"].width != before.width or here["box"].height != before.height
    if not is_cut and max(abs(by_x), abs(by_y)) > _MOVED:
        raise Refused("moved", f"{words_for(mark)} is not where it was when this was decided. Look before going on.")


def _scrolled(scan: Scan) -> tuple[float, float]:
    scroll = scan.frames[0].answer["scroll"]
    return scroll["x"], scroll["y"]
