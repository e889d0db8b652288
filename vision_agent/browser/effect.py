"""What visibly came of an action: the page before and after, compared. "No exception" is not "done".

Knows what was seen before and what there is now; not how the action was carried out.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from math import inf
from urllib.parse import urldefrag

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser import overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.frames import Scanned
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Answer, Located, raw_of, recheck, words_for
from vision_agent.browser.navigations import is_error_page, what_came
from vision_agent.browser.observe import Eye, Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.browser.row_context import change_of
from vision_agent.browser.settle import settle
from vision_agent.browser.tabs import Happening, Tabs
from vision_agent.browser.within import rect_seen
from vision_agent.types import Box, Effect, Mark, Outcome
from vision_agent.vision.compare import changed_apart_from, changed_box, changed_share
from vision_agent.vision.picture import Picture

NO_ANSWER = "the page has not answered since. Look again before repeating it."
CRASHED = "The page, or a frame in it, has crashed. Load it again; if that fails, open another tab."

_NEAR = 48.0
"""CSS pixels around the point in which a change counts as near it."""
_NOISE = 100
"""Pixels; a blinking caret stays below."""
_SWITCHES = ("checked", "expanded", "pressed", "selected")
_IS_NOW = {"false": "it is no longer {}", "mixed": "it is now partly {}"}
_DIGIT = 4
"""Pixels; of a text that changed in what was acted on, a 1 that became a 7 differs by more."""
_RING = 8.0
"""CSS pixels around a control in which a focus ring is drawn."""
_MOST_SAID = 5
"""Things that happened; a page may open dialogs without end."""


@dataclass(frozen=True)
class Before:
    """How things stood when the action began."""

    seen: Seen
    page: Page
    tabs: int
    url: str = field(init=False)
    focused: str | None = field(init=False)
    """The key of what had the focus."""
    began: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.page.url)
        held = (mark.key for mark in self.seen.observation.marks if mark.state.focused)
        object.__setattr__(self, "focused", next(held, None))


@dataclass(frozen=True)
class Done:
    """An action that was carried out, before anyone knows what came of it."""

    sentence: str
    at: Located | None
    expected: str | None = None
    moved: bool = False
    """It is known by itself to have changed something."""
    is_so_already: bool = False
    """Nothing was sent, because it was as it should be."""
    read: str = ""
    """Text of the page that was asked for."""
    ticked: bool | None = None
    """It was to become so, and still be so when the page is at rest."""
    hover_counts: bool = False
    """What shows because the pointer is there is an effect of it too."""


async def effect_of(done: Done, before: Before, tabs: Tabs, eye: Eye) -> Outcome:
    """The outcome of what was done, when the page has come to rest or the deadline has passed.

    Raises:
        Refused: the page crashed, or gave no answer afterwards.
    """
    if done.read:
        return Outcome(status="done", effect="read", sentence=f"{done.sentence}.", read=done.read)
    if done.is_so_already and done.at is not None:
        sentence = f"{done.sentence[0].upper()}{done.sentence[1:]}; nothing was sent."
        return Outcome(status="done", effect="as_wanted", sentence=sentence, rung=done.at.rung, point=done.at.point)
    quiet = eye.settings.quiet_s
    await settle(tabs, quiet, eye.settings.rest_deadline_s, at_least_s=quiet)
    try:
        # At once: Chromium takes its picture two frames after it was asked.
        is_other, (now, value, changes), pixels, paint = await asyncio.gather(
            _is_other_document(before, tabs.active, eye.settings.action_deadline_s),
            _read_back(done.at, before, eye),
            _pixels(done, before, tabs.active, eye),
            _paint(done, before, eye),
        )
    except FrameSilent as error:
        raise Refused("timed_out", f"{done.sentence}, but {NO_ANSWER}") from error
    if is_other:
        now, value, changes = None, None, []  # what was asked after belongs to a page that is gone
    happened = tabs.take()
    # That a request was blocked is said, and is no change of the page.
    changes += [] if is_other else await _on_surface(done.at, pixels.after, before.seen, eye)
    is_painted, is_seen = _judged(paint, pixels, before)
    is_said = any(each.kind != "blocked" for each in happened) or bool(changes) or done.moved or is_seen
    changes = _first_few([each.sentence for each in happened]) + changes
    changes += what_came(
        tabs.active,
        tabs.navigations,
        was=before.url if tabs.active is before.page else "",
        is_other=is_other,
        is_blocked=any(each.kind == "blocked" for each in happened),
    )
    requests = tabs.begun()
    is_sent = requests > 0 and not any(each.kind == "blocked" for each in happened)
    effect = _kind(happened, before, tabs, is_other, is_said or is_sent)
    if tabs.awaited():
        changes.append("a page was asked for and has not begun to come: wait for it before repeating this")
    elif effect == "changed" and not is_said:
        changes.append(f"nothing visible changed, but {requests} request{'s were' if requests > 1 else ' was'} sent")
    if pending := tabs.network.pending(tabs.active):
        changes.append(pending)
    told = [*changes, _nothing(done, is_painted, before.seen)] if effect == "no_effect" else changes
    return Outcome(
        status="done",
        effect=effect,
        sentence=_sentence(_as_it_stands(done, now, paint), done, value, told),
        rung=done.at.rung if done.at else None,
        point=done.at.point if done.at else None,
        value=value,
        changes=tuple(changes),
        pixels_near=pixels.near,
        pixels_elsewhere=pixels.elsewhere,
        requests=requests,
        url=tabs.active.url if tabs.active.url != before.url else "",
    )


def _sentence(sentence: str, done: Done, value: str | None, changes: list[str]) -> str:
    said = [sentence]
    if done.expected is not None and value is not None and value != done.expected:
        said.append(f'The field now holds "{plain(value, 80)}"')
    if changes:
        told = "; ".join(changes)
        said.append(told[0].upper() + told[1:])
    return " ".join(f"{sentence}." for sentence in said)


def _as_it_stands(done: Done, now: Answer | None, paint: _Paint | None) -> str:
    """What was done, with what a control that was to be ticked or unticked holds when the page is at rest."""
    stands = ticked(now)
    if done.ticked is None or done.at is None or stands is None:
        return done.sentence
    word, other = ("ticked", "unticked") if done.ticked else ("unticked", "ticked")
    if stands == str(done.ticked).lower():
        return f"{word.capitalize()} {done.at.words}"
    if paint is not None and paint.was_switched:
        return f"{word.capitalize()} {done.at.words}, and the page {other} it again"
    return f"Clicked {done.at.words}, but it is not {word}"


def _nothing(done: Done, is_painted: bool, seen: Seen) -> str:
    apart = ", apart from hover and focus styles" if is_painted else ""
    is_click = done.expected is None and done.ticked is None
    return f"nothing changed{apart}" + (_nearby(done.at.point, seen) if done.at and is_click else "")


def ticked(answer: Answer | None) -> str | None:
    """How a control stands by its own word; None where it says nothing of that."""
    state = (answer or {}).get("state", {})
    for name in ("checked", "pressed", "selected"):
        if name in state:
            return str(state[name]).lower()
    return None


def _kind(happened: list[Happening], before: Before, tabs: Tabs, is_other: bool, is_said: bool) -> Effect:
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
    # A dead link may lead to a fragment that is nowhere; one that an application reads shows something else.
    if is_elsewhere and (is_said or urldefrag(tabs.active.url)[0] != urldefrag(before.url)[0]):
        return "same_document"
    return "changed" if is_said else "no_effect"


async def _is_other_document(before: Before, page: Page, deadline_s: float) -> bool:
    """Whether the tab that was acted on shows another document than the one that was seen."""
    if page is not before.page:
        return False
    now = await overlay.ask(page.main_frame, "token", deadline_s)
    return bool(now["token"] != before.seen.scan.frames[0].token)


async def _read_back(at: Located | None, before: Before, eye: Eye) -> tuple[Answer | None, str | None, list[str]]:
    """What a control says now, its value, and what of its state and of the focus is different."""
    if at is None or at.mark is None:
        return None, None, []
    try:
        place = raw_of(at.mark, before.seen).get("place")
        now = await recheck(at.mark, before.seen.scan, eye.settings.action_deadline_s, place=place, pointed=True)
        moved = await _focus_moved(at.mark, before, eye)
    except FrameSilent:
        return None, None, []
    if not now["found"]:
        return None, None, [f"mark {at.mark.number} is gone or was drawn anew", *moved]
    state, old = now["state"], at.mark.state
    said = []
    # The pointer may have renamed it, before anything was done with it.
    if now["name"] not in (at.mark.name, (at.answer or {}).get("name")):
        said.append(f'mark {at.mark.number} is now called "{plain(now["name"], 60)}"')
    if now["held"] and not now["held"]["same"]:
        said.append(change_of(now["held"], "it"))
    for name in _SWITCHES:
        if name in state and state[name] != getattr(old, name):
            said.append(_IS_NOW.get(str(state[name]).lower(), "it is now {}").format(name))
    if state.get("disabled", False) != old.disabled:
        said.append("it is now disabled" if state.get("disabled") else "it is no longer disabled")
    is_masked = state.get("masked", False) or at.mark.key in eye.masked_keys
    value = None if is_masked else state.get("value")
    if value is not None and value != old.value and not old.masked:
        said.append(f'its value is "{plain(value, 80)}"')
    if not said and at.mark.kind == "field" and state.get("focused") and not old.focused:
        said.append("it has the focus now")
    return now, value, said + moved


async def _focus_moved(mark: Mark, before: Before, eye: Eye) -> list[str]:
    """Where the focus is now, if that is neither where it was nor what was acted on."""
    now = await overlay.ask(before.page.main_frame, "focused", eye.settings.action_deadline_s)
    is_news = now["what"] and now["key"] not in (mark.key, before.focused)
    return [f"the focus is on {plain(now['what'], 100)}"] if is_news and not mark.frame else []


async def _on_surface(at: Located | None, after: Picture | None, seen: Seen, eye: Eye) -> list[str]:
    """Where a surface that was acted on looks different now, and how much of it does, if it is where it was."""
    surface = (at.under or at.mark) if at is not None else None
    if after is None or surface is None or surface.kind != "surface":
        return []
    try:
        now = await recheck(surface, seen.scan, eye.settings.action_deadline_s)
    except FrameSilent:
        return []
    where = changed_box(seen.clean, after, surface.box)
    if where is None or not now["found"] or now["rect"] != rect_seen(surface, seen):
        return []
    share = changed_share(seen.clean, after, surface.box)
    if share * surface.box.width * surface.box.height <= _NOISE:
        return []
    much = "less than 1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")
    box = seen.observation.marked.map.box_to_picture(where)
    corners = f"({box.x:.0f}, {box.y:.0f}) to ({box.right:.0f}, {box.bottom:.0f})"
    return [f"{much} of {words_for(surface)} changed, within {corners}"]


@dataclass(frozen=True)
class _Pixels:
    """What changed between two pictures."""

    changed: float
    """How many pixels did; without end where there is nothing to compare with."""
    near: float | None = None
    """Shares, near the point and elsewhere."""
    elsewhere: float | None = None
    after: Picture | None = None
    """The page now, where it is the same tab."""


async def _pixels(done: Done, before: Before, page: Page, eye: Eye) -> _Pixels:
    if page is not before.page:
        return _Pixels(inf)
    try:
        raw = await capture(page, eye.settings.scan_deadline_s)
    except FrameSilent:
        return _Pixels(0.0)  # it was done; that the page gives no picture now is for the next look to say
    after = Picture.decode(raw, before.seen.clean.page, eye.contract).masked(before.seen.masked)
    everywhere = changed_share(before.seen.clean, after)
    whole = after.size.width * after.size.height
    if done.at is None:
        return _Pixels(everywhere * whole, None, round(everywhere, 4), after)
    point, view = done.at.point, before.seen.clean.page
    around = Box(x=point.x - _NEAR, y=point.y - _NEAR, width=2 * _NEAR, height=2 * _NEAR).intersection(view)
    if around is None:
        return _Pixels(everywhere * whole, None, round(everywhere, 4), after)
    near = changed_share(before.seen.clean, after, around)
    share = around.width * around.height / (view.width * view.height)
    elsewhere = max(0.0, (everywhere - near * share) / (1 - share)) if share < 1 else 0.0
    return _Pixels(everywhere * whole, round(near, 4), round(elsewhere, 4), after)


@dataclass(frozen=True)
class _Paint:
    """Page boxes where the pointer, the focus or a press paint, and others where a difference counts all the same."""

    only: tuple[Box, ...]
    judged: tuple[Box, ...]
    own: tuple[Box, ...]
    """Where the document says that what was acted on is otherwise."""
    was_switched: bool
    """It was ticked, pressed or selected, if only for a moment."""


async def _paint(done: Done, before: Before, eye: Eye) -> _Paint | None:
    """Where what looks different is no effect of what was done with an element; None where all of it may be one."""
    mark = (done.at.mark or done.at.under) if done.at else None
    owner = before.seen.scan.owner(mark.key) if mark else None
    if mark is None or owner is None or mark.source != "dom" or mark.kind in ("surface", "scroller", "guess"):
        return None
    if mark.state.masked or mark.key in eye.masked_keys or mark.state.input_type == "password":
        return None  # of what it holds the picture alone tells
    deadline_s = eye.settings.action_deadline_s
    try:
        left = await _left_as_they_were(mark, before, deadline_s)
        since_ms = (time.monotonic() - before.began) * 1000
        keys = [each.key for each in left]
        is_press = not done.hover_counts
        answer = await overlay.ask(
            owner.frame, "paint", deadline_s, key=mark.key, sinceMs=since_ms, lost=keys, isPress=is_press
        )
    except FrameSilent:
        return None
    if not answer["found"] or done.hover_counts:
        return None

    rings = [_ringed(each.box) for each in (mark, *left)]
    paint, judged, own = (_on_page(answer[name], owner) for name in ("paint", "judged", "own"))
    return _Paint((*paint, *rings), tuple(judged), tuple(own), answer["switched"])


def _on_page(boxes: list[dict[str, float]], owner: Scanned) -> list[Box]:
    corners = [
        [
            owner.place.to_page(box["x"] + wide, box["y"] + high)
            for wide, high in ((0, 0), (box["width"], box["height"]))
        ]
        for box in boxes
    ]
    return [Box(x=start.x, y=start.y, width=end.x - start.x, height=end.y - start.y) for start, end in corners]


async def _left_as_they_were(mark: Mark, before: Before, deadline_s: float) -> list[Mark]:
    """What had the pointer or the focus before, and is otherwise what it was."""
    marks = before.seen.observation.marks
    left = [each for each in marks if each.key != mark.key and (each.state.hovered or each.state.focused)]
    left = [each for each in left if each.source == "dom" and each.kind != "surface" and not each.state.masked]
    answers = await asyncio.gather(*(recheck(each, before.seen.scan, deadline_s) for each in left))
    return [each for each, now in zip(left, answers, strict=True) if now["found"] and _holds_the_same(each, now)]


def _holds_the_same(mark: Mark, now: Answer) -> bool:
    return all(now["state"].get(name) == getattr(mark.state, name) for name in ("value", *_SWITCHES))


def _ringed(box: Box) -> Box:
    return Box(x=box.x - _RING, y=box.y - _RING, width=box.width + 2 * _RING, height=box.height + 2 * _RING)


def _judged(paint: _Paint | None, pixels: _Pixels, before: Before) -> tuple[bool, bool]:
    """Whether all that looks different is paint, and whether something that is not looks different."""
    is_otherwise = pixels.changed > _NOISE
    if paint is None or pixels.after is None:
        return False, is_otherwise
    clean = before.seen.clean
    if paint.own and changed_apart_from(clean, pixels.after, [clean.page], paint.own) > _DIGIT:
        return False, True
    is_paint = is_otherwise and changed_apart_from(clean, pixels.after, paint.only, paint.judged) <= _NOISE
    return is_paint, is_otherwise and not is_paint


def _first_few(sentences: list[str]) -> list[str]:
    more = len(sentences) - _MOST_SAID
    return sentences if more <= 0 else [*sentences[:_MOST_SAID], f"and {more} more"]


def _nearby(point: Point, seen: Seen) -> str:
    """Names the nearest marks, for a click that hit nothing."""

    def distance(box: Box) -> float:
        dx = max(box.x - point.x, 0.0, point.x - box.right)
        dy = max(box.y - point.y, 0.0, point.y - box.bottom)
        return dx * dx + dy * dy

    others = sorted(
        (mark for mark in seen.observation.marks if not mark.box.contains(point)), key=lambda mark: distance(mark.box)
    )
    if not others:
        return ""
    return "; nearest are " + ", ".join(words_for(mark) for mark in others[:3])
