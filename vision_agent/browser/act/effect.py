"""Infers the outcome of an action by comparing the page before and after: "no exception" is not "done".

Knows the observation before and the page now (`page_after`); does not know how the action was carried out.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from urllib.parse import urldefrag

from vision_agent.actions import Point
from vision_agent.browser.act.attempt import Attempt, PageBefore
from vision_agent.browser.act.changed_pixels import (
    NOISE,
    SWITCHES,
    Paint,
    with_focus_ring,
)
from vision_agent.browser.act.drawn_text import ReadBack, read_back
from vision_agent.browser.act.first_picture import FirstPicture
from vision_agent.browser.act.held_values import value_changes
from vision_agent.browser.act.page_after import PageAfter, gone_words, read_page_after
from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.locate.identify import recheck
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.network.navigations import describe_navigation, is_error_page
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.page.tabs import TabEvent, Tabs
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.describe.distinctions import distinction_suffix
from vision_agent.geometry import Box
from vision_agent.text.escape import safe_line
from vision_agent.text.same_value import means_other
from vision_agent.text.urls import bounded_address
from vision_agent.types import Effect, Outcome, Refusal
from vision_agent.vision.compare import changed_apart_from, changed_box, changed_share, found_again
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.content_motion import STILL, content_motion

CRASHED = "The page, or a frame in it, has crashed. Load it again; if that fails, open another tab."

_FOCUS = "the focus"
"""In each clause about where the focus is."""
_SIGNS = re.compile(r"\W+")
_FAR, _STANDS = 600.0, 2.0
"""CSS pixels within which a drawn thing is sought that left its place, and of movement that is none."""
_LEFT = "it moved away while it was pressed, so the release was on what came into its place: look which one was clicked"
_TAKEN_BACK = (
    "the page took the pointer for itself (pointer lock), which a browser without a window cannot give it, so the "
    "pointer was taken back"
)
_HELD = (
    "the page has the pointer for itself (pointer lock): moves count from where the pointer was, and clicks go to what "
    "has it"
)
_THICKER_THAN_CARET = 5.0
"""CSS pixels, with one on each side by which the comparison blurs; a caret of 2 pixels has 4."""
_SMALL_SIGN = 40.0
"""CSS pixels."""
_MOST_SAID = 5
"""Tab events in one outcome; a page may open dialogs endlessly."""


async def determine_outcome(
    attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer, first: FirstPicture | None = None
) -> Outcome:
    """The outcome of an action, once the page has settled or the deadline has passed.

    `first`: a picture that was begun when the last input had been sent.

    Raises:
        Refused: the page crashed, or did not answer afterwards.
    """
    at = attempt.at
    if attempt.read:
        return Outcome(status="done", effect="read", sentence=f"{attempt.sentence}.", read=attempt.read)
    if attempt.is_already_so and at is not None:
        sentence = f"{capitalised(attempt.sentence)}; nothing was sent."
        return Outcome(status="done", effect="as_wanted", sentence=sentence, rung=at.rung, point=at.point)
    read = await read_page_after(attempt, before, tabs, observer, first)
    is_other, now, value, pixels = read.is_other, read.now, read.value, read.pixels
    happened = _without_blocked_tabs(tabs.take_events(), before, tabs)
    changes = [*read.changes]
    if not is_other:
        changes += await _surface_changes(attempt, pixels.after, before.seen, observer)
        changes += await _pointer_lock(attempt, before.seen, observer)
        shown = await _drawn_text(attempt, pixels.after, before.seen, observer)
        if shown is not None:
            value = shown.value
            changes.append(shown.sentence)
    is_painted, is_seen = read.is_painted, read.is_seen
    if (attempt.missed or not (changes or is_seen)) and not is_other and tabs.active is before.page:
        changes += await value_changes(before, observer) if before.remembers_values else []
    # A blocked request is reported, but does not change the page.
    is_said = any(each.kind != "blocked" for each in happened) or bool(changes) or attempt.needs_no_effect or is_seen
    # The record is the only place with the hash of a download, so none of them is left out.
    told = _first_few([each.sentence for each in happened if each.kind != "download"])
    changes = [*(each.sentence for each in happened if each.kind == "download"), *told, *changes]
    changes += describe_navigation(
        tabs.active,
        tabs.navigations,
        was=before.url if tabs.active is before.page else "",
        is_other=is_other,
        is_blocked=any(each.kind == "blocked" for each in happened),
        told=told,
    )
    requests = tabs.request_count()
    is_answered = bool(happened or requests or is_other or tabs.awaited_pages())
    if attempt.missed and not is_answered and _is_untouched(attempt, read, before, changes):
        return _missed_click(attempt.missed, read)
    forms = tabs.take_forms()
    if forms and "submit" not in before.seen.risks:
        changes.append("a form was sent")
    is_sent = requests > 0 and not any(each.kind == "blocked" for each in happened)
    effect = _kind(happened, before, tabs, is_other, is_said or is_sent)
    if tabs.awaited_pages():
        changes.append("a page was requested and has not started to load: wait for it before repeating this")
    elif effect == "changed" and not is_said:
        sent = f"nothing visible changed, but {requests} request{'s were' if requests > 1 else ' was'} sent"
        changes.append("; ".join([sent, *_other_tabs_changed(before, tabs)]))
    if pending := tabs.network.describe_pending(tabs.active):
        changes.append(pending)
    said = changes
    if effect == "no_effect":
        # Where a request was blocked, that is why nothing changed, and another mark would not help.
        at_fault = None if any(each.kind == "blocked" for each in happened) else attempt.at
        said = [*changes, _no_change_words(attempt, at_fault, is_painted, read.paint, before.seen)]
    is_answered = is_answered or is_seen or not all(_FOCUS in each for each in changes)
    is_put_back = not is_answered and _is_put_back(attempt, read)
    is_kept = is_other or not (_is_taken_back(attempt, read, effect) or is_put_back or _holds_another(attempt, read))
    is_swallowed = not (forms or is_other) and _is_swallowed(attempt, read, effect)
    if has_left := not is_other and _has_left_the_press(attempt, before, read.pixels.after):
        said = [*said, _LEFT]
    first_words = _swallowed_words(attempt) if is_swallowed else _final_sentence(attempt, now, read.paint)
    lacking: Refusal | None = "covered" if is_swallowed else "moved" if has_left else None if is_kept else "taken_back"
    return Outcome(
        status="partial" if lacking else "done",
        effect=effect,
        refusal=lacking,
        sentence=_sentence(first_words, attempt, read, said),
        rung=at.rung if at else None,
        point=at.point if at else None,
        value=value,
        changes=tuple(changes),
        pixels_near=pixels.near,
        pixels_elsewhere=pixels.elsewhere,
        requests=requests,
        forms=forms,
        url=bounded_address(tabs.active.url) if tabs.active.url != before.url else "",
    )


def _has_left_the_press(attempt: Attempt, before: PageBefore, after: Picture | None) -> bool:
    """Whether what was clicked on a canvas is drawn elsewhere now, and was no longer in its place at the release."""
    drawn, at = attempt.redrawn, attempt.at
    if drawn is None or at is None or after is None:
        return False
    then = Point(x=at.point.x - drawn.point.x, y=at.point.y - drawn.point.y)
    now = found_again(before.seen.clean, after, drawn.box, then, then, _FAR)
    return now is not None and max(abs(now.x - then.x), abs(now.y - then.y)) > _STANDS


def _other_tabs_changed(before: PageBefore, tabs: Tabs) -> list[str]:
    """Which other tabs show another address than at the last look, as when a link opens in a named tab."""
    seen = {each.number: each.url for each in before.seen.observation.tabs}
    others = [(tabs.number(page), bounded_address(page.url)) for page in tabs.pages if page is not tabs.active]
    return [f"tab {number} now shows {url}" for number, url in others if seen.get(number, url) != url]


def _without_blocked_tabs(happened: list[TabEvent], before: PageBefore, tabs: Tabs) -> list[TabEvent]:
    """What happened, without tabs that closed again because what they should show was blocked."""
    kinds = [each.kind for each in happened]
    is_as_before = tabs.active is before.page and len(tabs.pages) <= before.tabs
    if not is_as_before or "blocked" not in kinds or kinds.count("new_tab") != kinds.count("closed"):
        return happened
    return [each for each in happened if each.kind not in ("new_tab", "closed")]


def _is_untouched(attempt: Attempt, read: PageAfter, before: PageBefore, changes: Sequence[str]) -> bool:
    """Whether nothing on the page is different, except that the target may be elsewhere or have been redrawn."""
    at, paint, missed = attempt.at, read.paint, attempt.missed
    mark = (at.mark or at.under) if at is not None else None
    if missed is None or at is None or mark is None or read.pixels.after is None or set(changes) - {gone_words(mark)}:
        return False
    if not read.is_seen:
        return True
    owner = before.seen.scan.owner(mark.key)
    if owner is None or (read.now is None and not missed.is_redrawn):
        return False
    rects = [each.rect for each in (at.element, read.now) if each is not None]
    places = [mark.box, *(owner.place.box_to_page(each) for each in rects)]
    painted = paint.only if paint is not None else ()
    differs = changed_apart_from(before.seen.clean, read.pixels.after, [*map(with_focus_ring, places), *painted])
    return differs <= NOISE


def _missed_click(missed: Gesture, read: PageAfter) -> Outcome:
    """The outcome of a click that had no effect and whose press, but not its release, reached the target."""
    at = missed.at
    is_redrawn = missed.is_redrawn or (at.mark is not None and read.now is None)
    what = "it was redrawn" if is_redrawn else "it moved away"
    keys = " or press Enter on it" if at.mark is not None and at.mark.role in ("button", "link") else ""
    return Outcome(
        status="partial",
        effect="no_effect",
        refusal="moved",
        sentence=f"{missed.words}; the rest was not done: {what} before the button was released, so it got no "
        f"click. Nothing else changed. Look again, then click it where it is{keys}.",
        rung=at.rung,
        point=at.point,
        value=read.value,
        changes=read.changes,
        pixels_near=read.pixels.near,
        pixels_elsewhere=read.pixels.elsewhere,
    )


def _is_swallowed(attempt: Attempt, read: PageAfter, effect: Effect) -> bool:
    """Whether a click went to what came over its target, and nothing shows that the press alone was acted on.

    It is shown by another page, tab or download, and by what became of the target. What came over it shows nothing: it
    may be the answer, or a mere notice.
    """
    gesture, at = attempt.swallowed, attempt.at
    if gesture is None or effect not in ("changed", "no_effect"):
        return False
    if at is None or at.mark is None:
        return True
    if read.now is None:
        return gone_words(at.mark) not in read.changes or "mouseup" in gesture.arrived
    was, state = at.mark.state, read.now.state
    if read.now.name not in (at.mark.name, at.element.name if at.element else None):
        return False
    return all(getattr(was, name) == getattr(state, name) for name in ("value", "disabled", *SWITCHES))


def _swallowed_words(attempt: Attempt) -> str:
    """That the target was pressed and not clicked."""
    gesture, at = attempt.swallowed, attempt.at
    assert gesture is not None
    assert at is not None
    pressed = f"{capitalised(at.words)} was pressed, but not clicked: {gesture.remark}"
    return f"{pressed}. Nothing shows that the press alone was acted on, so look before clicking again"


def _sentence(sentence: str, attempt: Attempt, read: PageAfter, changes: list[str]) -> str:
    said = [sentence]
    value = read.value
    # In a list that was sorted anew, the value that the field shows now is that of another row.
    is_own = read.now is None or read.now.difference is None or value == ""
    if attempt.expected is not None and value is not None and value != attempt.expected and is_own:
        said.append(f'The field now holds "{safe_line(value, 80)}"')
    if changes:
        joined = "; ".join(changes)
        said.append(capitalised(joined))
    return " ".join(f"{sentence}." for sentence in said)


def _final_sentence(attempt: Attempt, now: LiveElement | None, paint: Paint | None) -> str:
    """What was done; for a tick or untick, with the state that the control has once the page has settled."""
    if attempt.wants_ticked is None or attempt.at is None or tick_state(now) is None:
        return attempt.sentence
    word, other = ("ticked", "unticked") if attempt.wants_ticked else ("unticked", "ticked")
    if _is_ticked_as_wanted(attempt, now):
        return f"{word.capitalize()} {attempt.at.words}"
    was_mixed = attempt.at.mark is not None and str(attempt.at.mark.state.checked).lower() == "mixed"
    if paint is not None and paint.was_switched and not was_mixed:
        return f"{word.capitalize()} {attempt.at.words}, and the page {other} it again"
    return f"Clicked {attempt.at.words}, but it is not {word}"


def _is_ticked_as_wanted(attempt: Attempt, now: LiveElement | None) -> bool:
    return tick_state(now) == str(attempt.wants_ticked).lower()


def _is_taken_back(attempt: Attempt, read: PageAfter, effect: Effect) -> bool:
    """Whether a tick is certain not to be there: it was and is gone, or it never was and nothing else came of it.

    Where something else came, such as a question whether one is sure, the tick may follow; many pages take a tick back
    as they ask. In a list that was sorted anew, the control is that of another row.
    """
    now, paint = read.now, read.paint
    if attempt.wants_ticked is None or tick_state(now) is None or now is None or now.difference is not None:
        return False
    was_switched = paint is not None and paint.was_switched and not paint.asks_back
    was_there = attempt.was_ticked or was_switched
    return not _is_ticked_as_wanted(attempt, now) and (was_there or effect == "no_effect")


def _is_put_back(attempt: Attempt, read: PageAfter) -> bool:
    """Whether a field or list holds what it held before, and not what was asked for.

    A terminal takes the text out of its field as it comes.
    """
    at, value = attempt.at, read.value
    if attempt.expected in (None, value) or at is None or at.mark is None or at.mark.is_drawn_editor:
        return False
    is_own = read.now is not None and read.now.difference is None
    if not is_own or value is None or at.element is None or value != at.element.state.value:
        return False
    # The same in the form of the page is what was asked for.
    held, wanted = (_SIGNS.sub("", each).casefold() for each in (value, attempt.expected or ""))
    return held != wanted


def _holds_another(attempt: Attempt, read: PageAfter) -> bool:
    """Whether a field holds another value than was typed into it, and not only another form of it."""
    at, value = attempt.at, read.value
    if not attempt.replaces or attempt.expected is None or value is None or at is None or at.mark is None:
        return False
    if read.now is None or read.now.difference is not None or at.mark.is_drawn_editor:
        return False
    is_begun = attempt.may_go_on and value != "" and attempt.expected.startswith(value)
    if is_begun and not read.now.state.focused:
        return False
    return means_other(attempt.expected, value)


def _no_change_words(
    attempt: Attempt, at: Location | None, is_painted: bool, paint: Paint | None, seen: LiveObservation
) -> str:
    """That nothing changed, and what is near `at`, if it was clicked."""
    if paint is not None and paint.own and attempt.at is not None and not is_painted:
        return "nothing looks different, but the page changed something: it may have been switched"
    apart = ", apart from hover and focus styles" if is_painted else ""
    is_click = attempt.expected is None and attempt.wants_ticked is None
    return f"nothing changed{apart}" + (_nearest_marks(at, seen) if at and is_click else "")


def tick_state(element: LiveElement | None) -> str | None:
    """A control's own checked, pressed or selected state, as "true", "false" or "mixed"; None if it has none."""
    if element is None:
        return None
    said = (element.state.checked, element.state.pressed, element.state.selected)
    return next((str(each).lower() for each in said if each is not None), None)


def _kind(happened: list[TabEvent], before: PageBefore, tabs: Tabs, is_other: bool, is_said: bool) -> Effect:
    kinds = {each.kind for each in happened}
    if "crash" in kinds and tabs.is_crashed(tabs.active):
        raise Refused("crashed", CRASHED)
    if "dialog" in kinds:
        return "dialog"
    if "new_tab" in kinds or len(tabs.pages) > before.tabs:
        return "new_tab"
    if "download" in kinds:
        return "download"
    if is_other:
        return "error_page" if is_error_page(tabs.active) else "navigated"
    is_elsewhere = tabs.active is before.page and tabs.active.url != before.url
    # A dead link may lead to a fragment that does not exist; if an application reads the fragment, the page changes.
    if is_elsewhere and (is_said or urldefrag(tabs.active.url)[0] != urldefrag(before.url)[0]):
        return "same_document"
    return "changed" if is_said else "no_effect"


async def _pointer_lock(attempt: Attempt, seen: LiveObservation, observer: Observer) -> list[str]:
    """What came of it if the page took the pointer for itself; only pages with something drawn are asked."""
    at = attempt.at
    if at is None or not any(mark.kind == "surface" for mark in seen.observation.marks):
        return []
    frame = at.frame or seen.page.main_frame
    try:
        lock = await overlay_calls.document.pointer_lock(frame, observer.settings.action_deadline_s)
    except FrameSilent:
        return []
    if lock.was_taken_back:
        return [_TAKEN_BACK]
    return [_HELD] if lock.is_held else []


async def _surface_changes(
    attempt: Attempt, after: Picture | None, seen: LiveObservation, observer: Observer
) -> list[str]:
    """How much of the target's surface changed, within which picture pixels, and how far its contents moved, if the
    surface itself has not moved.
    """
    at = attempt.at
    surface = (at.under or at.mark) if at is not None else None
    if after is None or surface is None or surface.kind != "surface":
        return []
    try:
        now = await recheck(surface, seen.scan, observer.settings.action_deadline_s)
    except FrameSilent:
        return []
    where, found = changed_box(seen.clean, after, surface.box), seen.found(surface)
    if where is None or now is None or found is None or now.rect != found.rect:
        return []
    share = changed_share(seen.clean, after, surface.box)
    if share * surface.box.width * surface.box.height <= NOISE and not _is_small_sign(where):
        return []
    much = "less than 1%" if share < 0.01 else f"{share:.0%}"
    box = seen.observation.marked.map.box_to_picture(where)
    corners = f"({box.x:.0f}, {box.y:.0f}) to ({box.right:.0f}, {box.bottom:.0f})"
    changed = [f"{much} of {mark_words(surface)} changed, within {corners}"]
    if attempt.moves_view and at is not None:
        about = at.point if surface.box.contains(at.point) else surface.box.center
        moved = await asyncio.to_thread(content_motion, seen.clean, after, surface.box, about=about)
        if moved is not None and moved.is_whole and moved.words != STILL.words:
            changed.append(f"what it shows {moved.words}")
    return changed


def _is_small_sign(changed: Box) -> bool:
    """Whether the box around all changes of a surface is that of one sign, such as a digit, a tick or a lamp.

    A caret is thinner, and what flickers in a video is in several places.
    """
    thin, long = sorted((changed.width, changed.height))
    return thin >= _THICKER_THAN_CARET and long <= _SMALL_SIGN


async def _drawn_text(
    attempt: Attempt, after: Picture | None, seen: LiveObservation, observer: Observer
) -> ReadBack | None:
    """What a surface shows after text was typed into it; None if none was, or the surface shows nothing else."""
    surface = attempt.at.under if attempt.at is not None else None
    if not attempt.drawn_text or after is None or surface is None or surface.kind != "surface":
        return None
    if changed_share(seen.clean, after, surface.box) == 0:
        return None
    at, reader = attempt.at, await observer.reader()
    assert at is not None
    return await read_back(attempt.drawn_text, at.point, surface.box, seen.clean, after, reader)


def _first_few(sentences: list[str]) -> list[str]:
    more = len(sentences) - _MOST_SAID
    return sentences if more <= 0 else [*sentences[:_MOST_SAID], f"and {more} more"]


def _nearest_marks(at: Location, seen: LiveObservation) -> str:
    """The three nearest other marks, for a click that changed nothing; for a point, the mark it lies in comes first."""
    point = at.point

    def distance(box: Box) -> float:
        dx = max(box.x - point.x, 0.0, point.x - box.right)
        dy = max(box.y - point.y, 0.0, point.y - box.bottom)
        return dx * dx + dy * dy

    marks = seen.observation.marks
    others = sorted((mark for mark in marks if not mark.box.contains(point)), key=lambda mark: distance(mark.box))
    if at.mark is None and at.under is not None:
        others.insert(0, at.under)
    if not others:
        return ""
    listed = ", ".join(f"{mark_words(mark)}{distinction_suffix(mark, marks)}" for mark in others[:3])
    return f"; nearest {'is' if len(others) == 1 else 'are'} {listed}"
