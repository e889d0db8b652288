"""Checks whether the next of several actions decided on one look may still be carried out.

Each action changes the page, so a later one may be wrong by now: a dialog, an alert or a list of suggestions has
appeared, something new covers targets or stands beside the next one, the target has moved, or something took the focus.
Text that only informs (a status, a tooltip) stops nothing, nor does anything that closes.
Compares what was seen with the page as it is now; `identify` checks before every action that its target is the same.
"""

from __future__ import annotations

import re

from vision_agent.actions import Action, Press, mark_in, targets_of
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.key_focus import has_focus
from vision_agent.browser.locate import relocate
from vision_agent.browser.locate.wording import element_words, mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.fields import Focus
from vision_agent.browser.page.overlay_calls.scan import FoundMark, OpenLayer
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line

_NEAR = 24.0
"""CSS pixels around a target in which nothing new may appear."""
_MOVED = 4.0
"""CSS pixels; less is rounding or a border."""
_OPENED = {"dialog": "A dialog has opened", "alert": "The page alerts", "popover": "Something has opened over the page"}
_ONLY_INFORMS = ("<status>", "<tooltip>", "<log>", "<timer>", "<output>")
"""How the overlay describes elements that only inform."""
_DIGITS = re.compile(r"\d+")
_LEAVE_S = 0.5
_SUGGESTIONS = {"option", "listbox", "menu", "menuitem", "menuitemcheckbox", "menuitemradio"}


async def must_still_hold(sender: InputSender, action: Action) -> None:
    """Checks that the page still is as the decision assumed.

    Raises:
        Refused: it is not; the sentence says what appeared, moved or lost the focus.
    """
    if not _sends_input(action):
        return
    marks = _target_marks(sender, action)
    # An action with a plain effect ends before the page is known to be quiet.
    settings = sender.observer.settings
    await settle(sender.tabs, settings.quiet_s, settings.settle_deadline_s)
    # Before the scan, which gives every element a key.
    focus = await overlay_calls.fields.focused_element(sender.page.main_frame, sender.deadline_s)
    now = await relocate.rescan(sender.seen, sender.deadline_s)
    _must_have_opened_nothing(sender.seen.scan, now)
    _must_have_covered_nothing(sender.seen.scan, now)
    if isinstance(action, Press) and action.target is None:
        await _must_have_kept_focus(sender)
    await _must_not_have_lost_focus(sender, focus, {mark.key for mark in marks})
    known = sender.seen.scan.keys() | set(sender.seen.earlier)
    new = [found for found in now.marks if found.key not in known]
    if any(found.role in _SUGGESTIONS for found in new) and not marks and targets_of(action):
        raise Refused("changed", "Suggestions have appeared. Look before going on.")
    for mark in marks:
        here = now.found(mark.key)
        _must_be_alone(mark, here, new)
        _must_have_stayed(mark, here, sender.seen.scan, now)


async def allowed_focus(sender: InputSender, action: Action) -> set[str] | None:
    """Keys (or words) of the elements that may have the focus when the next action starts.

    They are the element that has it now, and this action's targets.
    None: the page did not answer.
    """
    if not _sends_input(action):
        return sender.allowed_focus
    about = {mark.key: mark for mark in _target_marks(sender, action)}
    if any(mark.kind == "field" for mark in about.values()) and action.keeps_focus:
        return {*about}
    try:
        now = await overlay_calls.fields.focused_element(sender.page.main_frame, min(_LEAVE_S, sender.deadline_s))
    except FrameSilent:
        return None  # it navigates or hangs; `effect` reports that
    return {now.key or now.words, *about}


def _sends_input(action: Action) -> bool:
    """Whether the action sends input to the page."""
    return action.traits.presses or bool(targets_of(action))


def _target_marks(sender: InputSender, action: Action) -> list[Mark]:
    numbers = [number for each in targets_of(action) if (number := mark_in(each)) is not None]
    return [mark for number in numbers if (mark := sender.seen.observation.mark(number)) is not None]


async def _must_not_have_lost_focus(sender: InputSender, focus: Focus, targets: set[str]) -> None:
    """It is no loss of focus if nothing has it or the next target has it: many pages move it from field to field."""
    before = {mark.key for mark in sender.seen.observation.marks if mark.state.focused}
    if sender.allowed_focus is None or not focus.words:
        return
    if (focus.key or focus.words) in sender.allowed_focus | targets | before:
        return
    if sender.focused_mark is None or not await has_focus(sender, sender.focused_mark):
        what = safe_line(focus.words, 100)
        raise Refused("changed", f"The focus has moved to {what} since the last action. Look before going on.")


def _must_have_opened_nothing(then: Scan, now: Scan) -> None:
    """A dialog that was redrawn with the same words does not count as new, nor does an alert that counts down."""
    known = [each for scanned in then.frames for each in scanned.answer.layers]
    keys, words = {each.key for each in known}, {_without_digits(each) for each in known}
    for scanned in now.frames:
        for each in scanned.answer.layers:
            is_known = each.key in keys and each.kind != "alert"
            if not is_known and _without_digits(each) not in words:
                opened = f"{_OPENED[each.kind]}: {safe_line(each.words, 120)}"
                raise Refused("changed", f"{opened}. Look before going on.")


def _must_have_covered_nothing(then: Scan, now: Scan) -> None:
    """Refuses nothing after scrolling, because what was already there may now cover other targets."""
    if _scrolled(then) != _scrolled(now):
        return
    lost = then.keys() & now.living - now.keys()
    over = {obstacle.key for obstacle in then.covered}
    for obstacle in now.covered:
        if lost and obstacle.key not in over and not obstacle.words.startswith(_ONLY_INFORMS):
            raise Refused("changed", f"{safe_line(obstacle.words, 120)} now covers targets. Look before going on.")


def _without_digits(layer: OpenLayer) -> tuple[str, str]:
    return layer.kind, _DIGITS.sub("", layer.words)


async def _must_have_kept_focus(sender: InputSender) -> None:
    mark = sender.focused_mark
    if mark is not None and not await has_focus(sender, mark):
        raise Refused("changed", f"{mark_words(mark)} lost the focus, so no key was sent. Look again.")


def _must_be_alone(mark: Mark, here: FoundMark | None, new: list[FoundMark]) -> None:
    box = here.box if here else mark.box
    around = Box(x=box.x - _NEAR, y=box.y - _NEAR, width=box.width + 2 * _NEAR, height=box.height + 2 * _NEAR)
    for found in new:
        what = element_words(found.role, found.tag, found.name)
        if found.role in _SUGGESTIONS:
            raise Refused("changed", f"Suggestions have appeared ({what}). Look before going on.")
        if around.intersection(found.box):
            raise Refused("changed", f"{what} has appeared beside {mark_words(mark)}. Look before going on.")


def _must_have_stayed(mark: Mark, here: FoundMark | None, then: Scan, now: Scan) -> None:
    """Scrolling with the whole page, as when an action brings its target into view, is no move."""
    if here is None or mark.frame:
        return
    (x1, y1), (x2, y2) = _scrolled(then), _scrolled(now)
    found = then.found(mark.key)
    assert found is not None
    before = found.box
    by_x, by_y = here.box.x + x2 - before.x - x1, here.box.y + y2 - before.y - y1
    is_cut = here.box.width != before.width or here.box.height != before.height
    if not is_cut and max(abs(by_x), abs(by_y)) > _MOVED:
        raise Refused("moved", f"{mark_words(mark)} has moved since this was decided. Look before going on.")


def _scrolled(scan: Scan) -> tuple[float, float]:
    return scan.main.scroll.x, scan.main.scroll.y
