"""What visibly came of an action: the page before and after, compared. "No exception" is not "done".

Knows what was seen before and what there is now; not how the action was carried out.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import inf

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser import overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Located, recheck, words_for
from vision_agent.browser.navigations import is_error_page, what_came
from vision_agent.browser.observe import Eye, Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.browser.settle import settle
from vision_agent.browser.tabs import Happening, Tabs
from vision_agent.browser.within import rect_seen
from vision_agent.types import Box, Effect, Mark, Outcome
from vision_agent.vision.compare import changed_box, changed_share
from vision_agent.vision.picture import Picture

NO_ANSWER = "the page has not answered since. Look again before repeating it."
CRASHED = "The page, or a frame in it, has crashed. Load it again; if that fails, open another tab."

_NEAR = 48.0
"""CSS pixels around the point in which a change counts as near it."""
_NOISE = 100
"""Pixels; a blinking caret stays below."""
_IS_NOW = {"false": "it is no longer {}", "mixed": "it is now partly {}"}
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
        is_other, (value, changes), pixels = await asyncio.gather(
            _is_other_document(before, tabs.active, eye.settings.action_deadline_s),
            _read_back(done.at, before, eye),
            _pixels(done, before, tabs.active, eye),
        )
    except FrameSilent as error:
        raise Refused("timed_out", f"{done.sentence}, but {NO_ANSWER}") from error
    if is_other:
        value, changes = None, []  # what was asked after belongs to a page that is gone
    happened = tabs.take()
    # That a request was blocked is said, and is no change of the page.
    changes += [] if is_other else await _on_surface(done.at, pixels.after, before.seen, eye)
    is_said = any(each.kind != "blocked" for each in happened) or bool(changes) or done.moved or pixels.changed > _NOISE
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
    return Outcome(
        status="done",
        effect=effect,
        sentence=_sentence(done, effect, value, changes, before.seen),
        rung=done.at.rung if done.at else None,
        point=done.at.point if done.at else None,
        value=value,
        changes=tuple(changes),
        pixels_near=pixels.near,
        pixels_elsewhere=pixels.elsewhere,
        requests=requests,
        url=tabs.active.url if tabs.active.url != before.url else "",
    )


def _sentence(done: Done, effect: Effect, value: str | None, changes: list[str], seen: Seen) -> str:
    said = [done.sentence]
    if done.expected is not None and value is not None and value != done.expected:
        said.append(f'The field now holds "{plain(value, 80)}"')
    if changes:
        told = "; ".join(changes)
        said.append(told[0].upper() + told[1:])
    if effect == "no_effect":
        said.append("Nothing changed" + (_nearby(done.at.point, seen) if done.at else ""))
    return " ".join(f"{sentence}." for sentence in said)


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
    if tabs.active is before.page and tabs.active.url != before.url:
        return "same_document"
    return "changed" if is_said else "no_effect"


async def _is_other_document(before: Before, page: Page, deadline_s: float) -> bool:
    """Whether the tab that was acted on shows another document than the one that was seen."""
    if page is not before.page:
        return False
    now = await overlay.ask(page.main_frame, "token", deadline_s)
    return bool(now["token"] != before.seen.scan.frames[0].token)


async def _read_back(at: Located | None, before: Before, eye: Eye) -> tuple[str | None, list[str]]:
    """The value that a control holds now, and what of its state and of the focus is different."""
    if at is None or at.mark is None:
        return None, []
    try:
        now = await recheck(at.mark, before.seen.scan, eye.settings.action_deadline_s)
        moved = await _focus_moved(at.mark, before, eye)
    except FrameSilent:
        return None, []
    if not now["found"]:
        return None, [f"mark {at.mark.number} is gone or was drawn anew", *moved]
    state, old = now["state"], at.mark.state
    said = []
    if now["name"] != at.mark.name:
        said.append(f'mark {at.mark.number} is now called "{plain(now["name"], 60)}"')
    for name in ("checked", "expanded", "pressed", "selected"):
        if name in state and state[name] != getattr(old, name):
            said.append(_IS_NOW.get(str(state[name]).lower(), "it is now {}").format(name))
    if state.get("disabled", False) != old.disabled:
        said.append("it is now disabled" if state.get("disabled") else "it is no longer disabled")
    is_masked = state.get("masked", False) or at.mark.key in eye.masked_keys
    value = None if is_masked else state.get("value")
    if value is not None and value != old.value and not old.masked:
        said.append(f'its value is "{plain(value, 80)}"')
    return value, said + moved


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
