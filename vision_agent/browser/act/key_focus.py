"""Which element the keys go to: gives a target the focus, and checks that it has and keeps it."""

from __future__ import annotations

from playwright.async_api import Frame

from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.identify import identify, is_only_counted, recheck
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import element_words, mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay_calls.fields import Focus
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark

_SELECTED_ROLES = frozenset(("option", "row", "gridcell", "treeitem"))
"""Roles of what is selected in a list, on which keys such as Delete act."""


async def take_focus(sender: InputSender, at: Location) -> None:
    """Gives a target the focus; a point gets it by a click.

    Raises:
        Refused: the target does not take the focus.
    """
    if at.locator is None or at.mark is None:
        async with sender.guard_gesture(at):
            await sender.page.mouse.click(at.point.x, at.point.y)
        await must_not_focus_other_field(sender, at)
        return
    if await has_focus(sender, at.mark):
        return
    await at.locator.focus(timeout=sender.timeout_ms)
    if not await has_focus(sender, at.mark):
        raise Refused("unsupported", f"{at.words} cannot take the focus, so keys would not reach it. Click it instead.")
    await sender.must_be_unchanged(at.mark)


async def must_take_keys(sender: InputSender, mark: Mark) -> None:
    """Checks that keys without a target reach a mark that is still the same element in the same row.

    Raises:
        Refused: the focus is elsewhere, or the mark or the words beside it have changed.
    """
    _, now = await identify(mark, sender.seen, sender.deadline_s, pointed=True)
    if not now.state.focused and not await has_focus(sender, mark):
        raise Refused("changed", f"{mark_words(mark)} lost the focus, so no key was sent. Look again.")


async def has_focus(sender: InputSender, mark: Mark) -> bool:
    """Whether keys reach a mark: it is focused in its document, and so is each frame around it in its parent."""
    now = await sender.recheck(mark)
    scanned = sender.seen.scan.owner(mark.key)
    if now is None or scanned is None:
        return False
    if not now.state.focused and not await _receives_its_keys(sender, mark, scanned.frame):
        return False
    for inside in reversed(scanned.chain()):
        around = await overlay_calls.element.check(inside.parent.frame, sender.deadline_s, inside.key, "frame")
        if around is None or not around.state.focused:
            return False
    return True


async def _receives_its_keys(sender: InputSender, mark: Mark, frame: Frame) -> bool:
    """Whether an invisible field, such as a code editor's, receives the keys for the element drawn around it."""
    if mark.tag in ("input", "textarea", "select"):
        return False  # a native field receives its keys itself
    focus = await overlay_calls.fields.focused_element(frame, sender.deadline_s, mark.key)
    is_marked = any(each.key == focus.key for each in sender.seen.observation.marks)
    return focus.takes_text and not is_marked


async def focus_of_keys(sender: InputSender, at: Location | None) -> tuple[Frame, Focus]:
    """The element that gets the keys for a target, or for none, and its frame."""
    frame = (at and at.frame) or sender.page.main_frame
    key = at.mark.key if at and at.mark else None
    focus = await overlay_calls.fields.focused_element(frame, sender.deadline_s, key)
    frames = sender.seen.scan.frames
    while inner := next((each for each in frames if each.element and each.element.key == focus.key), None):
        frame = inner.frame
        focus = await overlay_calls.fields.focused_element(frame, sender.deadline_s)
    return frame, focus


async def must_keep_focus(sender: InputSender, at: Location, so_far: str) -> None:
    """Checks that keys still reach a target.

    Raises:
        Refused: it lost the focus; `so_far` says what was done.
    """
    if at.mark is not None and not await has_focus(sender, at.mark):
        raise Refused("changed", f"{at.words} lost the focus to something else; {so_far}.")


async def must_press_same(
    sender: InputSender, mark: Mark | None, at: Location | None, before: tuple[Frame, Focus], so_far: str
) -> None:
    """Checks that a key which presses what has the focus would press what it pressed before.

    `before` had the focus at the first press. A field may pass the focus on to the next one, as the lines of an editor
    do; the guard of its keys knows which.

    Raises:
        Refused: something else has the focus, or it has become something else; `so_far` says what was done.
    """
    frame, focus = await focus_of_keys(sender, at)
    is_kept = frame is before[0] and focus.key == before[1].key and (focus.key or focus.words == before[1].words)
    if mark is None:
        if not is_kept:
            raise Refused("changed", f"the focus is on {focus.words or 'nothing'} now; {so_far}.")
        return
    words = mark_words(mark)
    if mark.kind == "field":
        if not is_kept and focus.selects not in ("keys", "drawn") and not await has_focus(sender, mark):
            raise Refused("changed", f"{words} lost the focus to {focus.words or 'nothing'}; {so_far}.")
        return
    now = await sender.recheck(mark)
    if now is None:
        raise Refused("gone", f"{words} is gone from the page; {so_far}.")
    if now.fingerprint != mark.fingerprint and not is_only_counted(mark, now):
        became = element_words(now.role, mark.tag, now.name, now.shows)
        raise Refused("changed", f"{words} has become {became}; {so_far}.")
    if not await has_focus(sender, mark):
        raise Refused("changed", f"{words} lost the focus to {focus.words or 'nothing'}; {so_far}.")


async def must_not_focus_other_field(sender: InputSender, at: Location) -> None:
    """Checks that no field elsewhere has the focus: a click on a canvas may leave it there.

    Raises:
        Refused: keys would go to another field.
    """
    for mark in sender.seen.observation.marks:
        is_elsewhere = mark.kind == "field" and not mark.box.contains(at.point)
        if mark.state.focused and is_elsewhere and await has_focus(sender, mark):
            raise Refused(
                "changed", f"{at.words} did not take the focus because {mark_words(mark)} kept it; no key was sent."
            )


async def must_act_on_same_choice(sender: InputSender) -> None:
    """Checks that keys without a target act on what was selected at the look.

    Raises:
        Refused: something else is selected or ticked now.
    """
    seen = sender.seen
    rows = [mark for mark in seen.observation.marks if mark.role in _SELECTED_ROLES]
    chosen = [mark for mark in rows if mark.state.selected]
    for mark in (sender.focused_mark, *(chosen or rows)[:1]):
        expected = seen.expectation(mark)
        now = await recheck(mark, seen.scan, sender.deadline_s, expected=expected) if mark is not None else None
        if mark is not None and now is not None and now.difference and now.difference.part == "fields":
            raise ContextChanged(now.difference, mark_words(mark))
