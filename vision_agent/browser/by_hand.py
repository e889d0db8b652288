"""Turns what a person does in the browser into actions on marks of what was seen, each with the look before it.

Whatever was heard leaves a trace: what names a mark or a point is an action, what does not is said in words. The value
of a password is never in either; it is named, as a secret is. How it is heard is `person`'s to know.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from pydantic import SecretStr

from vision_agent import codes
from vision_agent.actions import (
    Action,
    Back,
    Check,
    Click,
    CloseTab,
    Drag,
    Forward,
    Goto,
    Point,
    Press,
    Reload,
    Scroll,
    Select,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
)
from vision_agent.browser import overlay
from vision_agent.browser.frames import Scanned
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import words_for
from vision_agent.browser.navigations import is_error_page
from vision_agent.browser.observe import Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.person import Ear, Heard, Told, Way
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.types import ByHand, Effect, Mark, Outcome, Secret
from vision_agent.vision.compare import changed_share

_SETTLES_S = 0.4
"""A second press, or a text after a press, may make one of two."""
_LOOK_EVERY_S = 0.5
"""So often it is asked whether the page has changed by itself, so that what comes next has a look before it."""
_NOISE = 100
"""Pixels; a blinking caret stays below."""
_NOT_HEARD = (
    "Only in Chromium can be told what a person does; of this take-over there is only what was seen before and after"
)
_STRANGE = "opened a tab that no tab of the run led to; it is not followed, and what is done there is not recorded"
_OR_ITSELF = ", if the page did not do so by itself, which the browser does not tell"
_BY_HAND = "by-hand"
"""How a password is named that was typed by a person and is no secret of the task."""


@dataclass(frozen=True)
class _Act:
    """What a person did, on what was seen before it."""

    seen: Seen
    words: str
    action: Action | None
    began: float
    value: str | None = None
    point: Point | None = None
    is_stale: bool = False
    """Whether something else was done since that look."""
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))


async def by_hand(
    look: Callable[[], Awaitable[Seen]],
    hands: Hands,
    handed_back: Callable[[], Awaitable[None]],
    learn: Callable[[Secret], None],
) -> AsyncGenerator[ByHand, None]:
    """What a person does from now on until the browser is handed back, in order.

    `handed_back` is called when everything listens, and returns when it is over. `learn` is told of passwords that were
    typed, before anything that may hold one is told.
    """
    ear = Ear(hands.tabs, hands.deadline_s)
    over: asyncio.Future[None] | None = None
    hands.tabs.leave_choosers(to_person=True)
    try:
        await ear.open()
        watch = _Watch(look, hands, ear, _Meaning(hands, learn), await look())
        await ear.refresh()
        over = asyncio.ensure_future(handed_back())
        if not ear.is_heard:
            yield watch.said(_NOT_HEARD)
        is_over = False
        while not is_over:
            is_over = await _next(ear, over, watch.pause_s)
            if is_over:
                await ear.close()
            while ear.waiting and (is_over or time.monotonic() - ear.waiting[0].at >= _SETTLES_S):
                for done in await watch.take(ear.waiting.pop(0)):
                    yield done
            while ear.strange:
                ear.strange -= 1
                yield watch.said(_STRANGE)
            if is_over or (not ear.waiting and (watch.act is not None or await _has_changed(watch.seen, hands))):
                for done in await watch.look_again():
                    yield done
        if ear.lost:
            yield watch.said(f"did {ear.lost} more things that are not recorded: they came faster than they were kept")
    except BrowserUnavailable:
        # They may have closed it, and the next look says so; until it is handed back it is theirs.
        if over is None:
            raise
        if watch.act is not None:
            yield _told(watch.act)
        await over
    finally:
        hands.tabs.leave_choosers(to_person=False)
        if over is not None:
            over.cancel()
        await ear.close()


async def _next(ear: Ear, over: asyncio.Future[None], pause_s: float) -> bool:
    """Whether it is over; else something may be taken up, or it is time to see whether the page has changed."""
    ear.news.clear()
    if ear.waiting:
        await asyncio.wait([over], timeout=max(0.0, ear.waiting[0].at + _SETTLES_S - time.monotonic()))
    else:
        ends: list[asyncio.Future[Any]] = [over, asyncio.ensure_future(ear.news.wait())]
        await asyncio.wait(ends, timeout=pause_s, return_when=asyncio.FIRST_COMPLETED)
        ends[1].cancel()
    if over.done():
        over.result()
    return over.done()


@dataclass
class _Watch:
    """The last two looks, and what was done since and waits for the next one to show what came of it."""

    look: Callable[[], Awaitable[Seen]]
    hands: Hands
    ear: Ear
    meaning: _Meaning
    seen: Seen
    act: _Act | None = None
    pause_s: float = _LOOK_EVERY_S
    """A page that changes all the time is not looked at all the time."""
    _before: Seen | None = None
    _looked_at: float = 0.0

    def said(self, words: str) -> ByHand:
        """What no action says, on the last look."""
        return _told(_Act(self.seen, words, None, time.monotonic()))

    async def take(self, told: Told) -> list[ByHand]:
        """Takes up what was heard, and gives what is known to be over with it."""
        # What came while it was looked at was done to what was seen before that.
        is_earlier = told.at < self._looked_at and self._before is not None and self.meaning.knows(told, self._before)
        base = self._before if is_earlier and self._before is not None else self.seen
        done: list[ByHand] = []
        is_elsewhere = told.page is not base.page and told.page in self.hands.tabs.pages
        if is_elsewhere:
            done += self._over()
            self.act, self.hands.tabs.active = self.meaning.of_tab(told.page, self.seen), told.page
        if told.heard.does != "shown" and (is_elsewhere or not self.meaning.knows(told, base)):
            done += await self.look_again()
            base = self.seen
        if told.heard.does != "shown":
            is_stale = self.act is not None and self.act.seen is base
            done += self._over()
            self.act = self.meaning.of(told, base, is_stale=is_stale)
        return done

    async def look_again(self) -> list[ByHand]:
        """What one more look shows: what came of the last act, and where they went without one."""
        await self.ear.refresh()
        began, before = time.monotonic(), self.seen
        self.seen, self._before = await self.look(), before
        self._looked_at = time.monotonic()
        self.pause_s = max(_LOOK_EVERY_S, 2 * (self._looked_at - began))
        went = await self.ear.moved(self.seen.page)
        if before.page is not self.seen.page or (went == "reload" and not _is_other_document(before, self.seen)):
            went = None
        done = self._over(None if went else self.seen)
        if not done and before.page.is_closed():
            done = [_told(self.meaning.of_tab(self.seen.page, before), self.seen)]
        way = [] if went is None else [_told(self.meaning.of_way(went, before, self.seen), self.seen)]
        return done + way

    def _over(self, after: Seen | None = None) -> list[ByHand]:
        act, self.act = self.act, None
        return [] if act is None else [_told(act, after)]


async def _has_changed(seen: Seen, hands: Hands) -> bool:
    if hands.tabs.active is not seen.page:
        return True
    for scanned in seen.scan.frames:
        try:
            now = await overlay.ask(scanned.frame, "moved", hands.deadline_s)
        except (FrameSilent, PlaywrightError):
            continue
        if now["changed"] or now["moved"] or now["token"] != scanned.token:
            return True
    return False


def _told(act: _Act, after: Seen | None = None) -> ByHand:
    """`after`: the next look, where nothing else was done before it."""
    seen = act.seen.observation
    if act.is_stale:
        said = "a person did something else since this look and before what is told here"
        seen = seen.model_copy(update={"warnings": (*seen.warnings, said)})
    outcome = None
    if act.action is not None:
        effect = _effect(act.seen, after) if after is not None else None
        came = {"no_effect": " Nothing changed.", None: " What came of it was not looked at before they went on."}
        outcome = Outcome(
            status="done",
            effect=effect,
            sentence=f"A person {act.words}.{came.get(effect, '')}",
            point=act.point,
            value=act.value,
            seconds=round(time.monotonic() - act.began, 4),
        )
    return ByHand(
        observation=seen,
        words=act.words,
        action=act.action,
        outcome=outcome,
        started_at=act.started_at,
        seconds=round(time.monotonic() - act.began, 3),
    )


def _effect(seen: Seen, after: Seen) -> Effect:
    if after.page is not seen.page:
        return "changed" if after.page in seen.pages else "new_tab"
    if _is_other_document(seen, after):
        return "error_page" if is_error_page(after.page) else "navigated"
    if after.observation.url != seen.observation.url:
        return "same_document"
    pixels = changed_share(seen.clean, after.clean) * after.clean.size.width * after.clean.size.height
    change = after.observation.change
    return "changed" if pixels > _NOISE or change.new or change.gone or change.changed else "no_effect"


def _is_other_document(before: Seen, after: Seen) -> bool:
    return after.scan.frames[0].token != before.scan.frames[0].token


@dataclass
class _Meaning:
    """What was heard, as an action."""

    hands: Hands
    learn: Callable[[Secret], None]
    _names: dict[str, str] = field(default_factory=dict)
    """Of passwords that are no secrets of the task, by their values."""

    def knows(self, told: Told, seen: Seen) -> bool:
        """Whether what it was done to stands in what was seen."""
        heard = told.heard
        if told.page is not seen.page or heard.is_new or (frame := seen.scan.owner(heard.token)) is None:
            return False
        if heard.does in ("pressed", "dragged"):
            return _mark(heard.keys, seen) is not None or _point(heard, frame, seen, heard.x, heard.y) is not None
        return heard.does in ("keyed", "lettered", "scrolled", "shown") or _mark(heard.keys, seen) is not None

    def of(self, told: Told, seen: Seen, *, is_stale: bool) -> _Act:
        heard, frame = told.heard, seen.scan.owner(told.heard.token)
        mark = None if heard.is_new else _mark(heard.keys, seen)
        made: tuple[Action | None, str, str | None] | None = None
        if self.knows(told, seen) and frame is not None:
            made = self._pointed(heard, frame, mark, seen) or self._put(heard, mark, told) or _moved(heard, mark, seen)
        action, words, value = made or (None, _untold(heard), None)
        point = None
        if isinstance(action, Click | Drag) and frame is not None:
            point = frame.place.to_page(heard.x, heard.y)
        return _Act(seen, words, action, told.at, value, point, is_stale)

    def of_tab(self, page: Page, seen: Seen) -> _Act:
        """How another tab came to the front than the one that was seen."""
        if seen.page.is_closed():
            tab = seen.pages.index(seen.page) + 1
            return _Act(seen, f"closed tab {tab}{_OR_ITSELF}", CloseTab(tab=tab), time.monotonic())
        tab = self.hands.tabs.number(page)
        return _Act(seen, f"went to tab {tab}", SwitchTab(tab=tab), time.monotonic())

    def of_way(self, way: Way, before: Seen, after: Seen) -> _Act:
        """How they went to another address by the browser itself."""
        url = after.observation.url
        shown = plain(url, 200)
        actions: dict[str, tuple[Action, str]] = {
            "goto": (Goto(url=url), f"opened {shown}"),
            "back": (Back(), f"went back to {shown}{_OR_ITSELF}"),
            "forward": (Forward(), f"went forward to {shown}{_OR_ITSELF}"),
            "reload": (Reload(), "loaded the page again"),
        }
        action, words = actions[way]
        return _Act(before, words, action, time.monotonic())

    def _pointed(
        self, heard: Heard, frame: Scanned, mark: Mark | None, seen: Seen
    ) -> tuple[Action | None, str, str | None] | None:
        if heard.does not in ("pressed", "dragged"):
            return None
        at = _point(heard, frame, seen, heard.x, heard.y)
        target: Target | None = mark.number if mark is not None and mark.kind not in ("surface", "scroller") else at
        if target is None:
            return None
        where = words_for(mark) if mark is not None and target is not at else _point_words(at, mark)
        if heard.does == "pressed":
            how = {1: "", 2: "double-", 3: "triple-"}.get(heard.count, "")
            button = "" if heard.button == "left" else f" with the {heard.button} button"
            held = f" with {'+'.join(heard.modifiers)} held" if heard.modifiers else ""
            click = Click(target=target, button=heard.button, count=heard.count, modifiers=heard.modifiers)
            return click, f"{how}clicked {where}{button}{held}", None
        if mark is None:
            return None  # over plain text it selects, over nothing it does nothing that could be told
        onto = _mark(heard.onto, seen)
        to = _point(heard, frame, seen, *heard.to)
        end: Target | None = onto.number if onto is not None and onto.kind != "surface" and onto != mark else to
        points = [_point(heard, frame, seen, x, y) for x, y in heard.path]
        if end is None or None in points:
            return None
        path = tuple(each for each in points if each is not None) if mark.kind == "surface" else ()
        landed = words_for(onto) if onto is not None and end is not to else _point_words(to, None)
        return Drag(source=target, target=end, path=path), f"dragged from {where} to {landed}", None

    def _put(self, heard: Heard, mark: Mark | None, told: Told) -> tuple[Action | None, str, str | None] | None:
        if mark is None:
            return None
        where = words_for(mark)
        match heard.does:
            case "typed" if heard.text is not None:
                text, is_secret = self._text(heard, mark, told)
                what = f'"{plain(text, 60)}"' if text.strip() else "nothing"
                if is_secret:
                    what += ", a secret that is not recorded"
                sent = " and pressed Enter" if heard.submit else ""
                action = Type(target=mark.number, text=text, submit=heard.submit)
                return action, f"typed {what} into {where}{sent}", None if is_secret else text
            case "typed":
                return None, f"typed a text into {where} that is too long to be recorded", None
            case "ticked":
                return Check(mark=mark.number, checked=heard.checked), f"{_ticked(heard)} {where}", None
            case "chose" if heard.options:
                chosen = ", ".join(f'"{plain(each, 60)}"' for each in heard.options)
                return Select(target=mark.number, options=heard.options), f"chose {chosen} in {where}", None
            case "set":
                return (
                    Set(mark=mark.number, value=heard.value),
                    f'set {where} to "{plain(heard.value, 60)}"',
                    heard.value,
                )
            case "gave" if heard.files:
                named = ", ".join(plain(each, 60) for each in heard.files)
                return Upload(mark=mark.number, files=heard.files), f"gave {named} to {where}", None
        return None

    def _text(self, heard: Heard, mark: Mark, told: Told) -> tuple[str, bool]:
        """What was typed, with secrets by their names, and whether there was one."""
        text, is_secret = heard.text or "", False
        for secret in self.hands.secrets:
            for value in (secret.value.get_secret_value(), *(codes.recent(secret) if secret.is_code else ())):
                if value and value in text:
                    text, is_secret = text.replace(value, f"<secret:{secret.name}>"), True
        if is_secret or not text:
            if is_secret:
                self.hands.eye.masked_keys.add(mark.key)
            return text, is_secret
        if not (heard.secret or mark.state.masked or mark.key in self.hands.eye.masked_keys):
            return text, False
        self.hands.eye.masked_keys.add(mark.key)
        return f"<secret:{self._named(text, told)}>", True

    def _named(self, value: str, told: Told) -> str:
        if value not in self._names:
            taken = {secret.name for secret in self.hands.secrets} | set(self._names.values())
            free = (_BY_HAND if n == 1 else f"{_BY_HAND}-{n}" for n in range(1, len(taken) + 2))
            name = self._names[value] = next(each for each in free if each not in taken)
            host = urlsplit(told.page.url).hostname or ""
            with suppress(UsageError):  # too short to be taken out of every text
                self.learn(Secret(name=name, value=SecretStr(value), hosts=(host,) if host else ()))
        return self._names[value]


def _moved(heard: Heard, mark: Mark | None, seen: Seen) -> tuple[Action | None, str, str | None] | None:
    match heard.does:
        case "keyed":
            target = None if heard.on_page or mark is None else mark.number
            where = f" in {words_for(mark)}" if target is not None and mark is not None else ""
            times = f" {heard.count} times" if heard.count > 1 else ""
            return (
                Press(keys=heard.pressed, target=target, count=heard.count),
                f"pressed {heard.pressed}{times}{where}",
                None,
            )
        case "lettered":
            letters = "a letter" if heard.count == 1 else f"{heard.count} letters"
            return None, f"typed {letters} into no field; which is not recorded, for it may be a password", None
        case "scrolled":
            return _scrolled(heard, mark, seen)
    return None


def _scrolled(heard: Heard, mark: Mark | None, seen: Seen) -> tuple[Action | None, str, str | None] | None:
    if heard.keys and mark is None:
        return None
    if mark is None:
        frame = seen.scan.owner(heard.token)
        if frame is None or frame.parent is not None:
            return None
        was = seen.observation.scroll
        by_x, by_y = heard.scroll[0] - was.x, heard.scroll[1] - was.y
        wide, high = was.view_width, was.view_height
    else:
        (by_x, by_y), (wide, high) = heard.moved, heard.view
    by, view = (by_y, high) if abs(by_y) >= abs(by_x) else (by_x, wide)
    pages = round(abs(by) / view, 3) if view else 0
    if not 0 < pages <= 100:
        return None
    sideways = view == wide and abs(by_x) > abs(by_y)
    direction = ("right" if by > 0 else "left") if sideways else ("down" if by > 0 else "up")
    action = Scroll.model_validate(
        {"direction": direction, "pages": pages, "target": mark.number if mark is not None else None}
    )
    where = words_for(mark) if mark is not None else "the page"
    return action, f"scrolled {where} {direction} by {pages:g} of a view", None


def _untold(heard: Heard) -> str:
    """What was done to something that no look has shown, or that no action says."""
    what = plain(heard.what, 80)
    verbs = {
        "pressed": f"clicked {what}",
        "dragged": f"drew the pointer from {what} to somewhere else",
        "typed": f"typed into {what}; the text is not recorded",
        "ticked": f"{_ticked(heard)} {what}",
        "chose": f"chose something in {what}",
        "set": f"set {what}",
        "gave": f"gave a file to {what}",
        "keyed": f"pressed {heard.pressed} in {what}",
        "lettered": "typed letters into no field; which is not recorded, for they may be a password",
        "scrolled": f"scrolled {what}",
    }
    return f"{verbs.get(heard.does, heard.does)}; no look shows it as it was, so no action says it"


def _ticked(heard: Heard) -> str:
    return "ticked" if heard.checked else "unticked"


def _mark(keys: Sequence[str], seen: Seen) -> Mark | None:
    """The mark of the innermost element that has one."""
    by_key = {mark.key: mark for mark in seen.observation.marks if mark.key}
    return next((by_key[key] for key in keys if key in by_key), None)


def _point(heard: Heard, frame: Scanned, seen: Seen, x: float, y: float) -> Point | None:
    """The place in the picture; None where the picture shows something else there, or does not show it."""
    then = frame.answer["scroll"]
    if abs(then["x"] - heard.scroll[0]) > 1 or abs(then["y"] - heard.scroll[1]) > 1:
        return None
    shot = seen.observation.marked
    at = shot.map.to_picture(frame.place.to_page(x, y))
    if not (0 <= at.x < shot.size.width and 0 <= at.y < shot.size.height):
        return None
    return Point(x=round(at.x, 1), y=round(at.y, 1))


def _point_words(point: Point | None, around: Mark | None) -> str:
    where = f"({point.x:g}, {point.y:g})" if point is not None else "a place"
    return f"{where} in {words_for(around)}" if around is not None else where
