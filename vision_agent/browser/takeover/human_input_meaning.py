"""Interprets a person's input as an action on a mark or a point of an observation, or in words if no action fits.

Neither contains the value of a password: it appears by name, like a secret.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from playwright.async_api import Page
from pydantic import SecretStr

from vision_agent import totp
from vision_agent.actions import (
    LONGEST_HOLD_S,
    Action,
    Back,
    Check,
    Click,
    CloseTab,
    DoubleTap,
    Drag,
    Forward,
    Goto,
    Hold,
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
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page.frames import ScannedFrame
from vision_agent.browser.takeover.input_listener import HELD_S, HumanInput, NavigationKind, TimedInput
from vision_agent.errors import UsageError
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line
from vision_agent.text.urls import origin_of
from vision_agent.types import Secret

_OR_ITSELF = ", or the page did so by itself; the browser does not tell which"
_NOT_RECORDED = "the text is not recorded, because it may be a password"
_BY_HAND = "by-hand"
"""Name of a password that a person typed and that is not a secret of the task."""

_MIDDLE = 1 / 6
"""How far from the middle of a mark, of its size, something is dropped on it and not beside it."""

_Meaning = tuple[Action | None, str, str | None]
"""The action (None if no action can express the input), words for it, and the value it entered."""


@dataclass(frozen=True)
class HumanAct:
    """What a person did, with the observation before it."""

    seen: LiveObservation
    words: str
    action: Action | None
    began: float
    value: str | None = None
    point: Point | None = None
    is_stale: bool = False
    """Whether the person did something else between that look and this."""
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class InputInterpreter:
    """Turns a person's input into actions."""

    sender: InputSender
    learn: Callable[[Secret], None]
    _names: dict[str, str] = field(default_factory=dict)
    """Names of passwords that are not secrets of the task, by value."""

    def knows(self, timed: TimedInput, seen: LiveObservation) -> bool:
        """Whether an observation contains the target of an input."""
        event = timed.event
        if timed.page is not seen.page or event.is_new or (frame := seen.scan.frame_with_token(event.token)) is None:
            return False
        if event.does in ("pressed", "dragged"):
            return _mark(event.keys, seen) is not None or _point(event, frame, seen, event.x, event.y) is not None
        return event.does in ("keyed", "lettered", "scrolled", "shown") or _mark(event.keys, seen) is not None

    def interpret(self, timed: TimedInput, seen: LiveObservation, *, is_stale: bool) -> HumanAct:
        """An input as an action on the observation before it."""
        event, frame = timed.event, seen.scan.frame_with_token(timed.event.token)
        mark = None if event.is_new else _mark(event.keys, seen)
        made, point = None, None
        if self.knows(timed, seen) and frame is not None:
            if (made := self._pointer_action(event, frame, mark, seen)) is not None:
                point = frame.place.to_page(event.x, event.y)
            else:
                made = self._field_action(event, mark, timed) or _key_or_scroll_action(event, mark, seen)
        action, words, value = made or (None, _describe_without_action(event), None)
        return HumanAct(seen, words, action, timed.at, value, point, is_stale)

    def interpret_tab_switch(self, page: Page, seen: LiveObservation) -> HumanAct:
        """Why another tab than the observed one is active now."""
        if seen.page.is_closed():
            tab = seen.pages.index(seen.page) + 1
            return HumanAct(seen, f"closed tab {tab}{_OR_ITSELF}", CloseTab(tab=tab), time.monotonic())
        tab = self.sender.tabs.number(page)
        return HumanAct(seen, f"went to tab {tab}", SwitchTab(tab=tab), time.monotonic())

    def interpret_navigation(
        self, navigation: NavigationKind, before: LiveObservation, after: LiveObservation
    ) -> HumanAct:
        """A navigation with the browser's own controls."""
        url = after.observation.url
        shown = safe_line(url, 200)
        actions: dict[str, tuple[Action, str]] = {
            "goto": (Goto(url=url), f"opened {shown}"),
            "back": (Back(), f"went back to {shown}{_OR_ITSELF}"),
            "forward": (Forward(), f"went forward to {shown}{_OR_ITSELF}"),
            "reload": (Reload(), "loaded the page again"),
        }
        action, words = actions[navigation]
        return HumanAct(before, words, action, time.monotonic())

    def _pointer_action(
        self, event: HumanInput, frame: ScannedFrame, mark: Mark | None, seen: LiveObservation
    ) -> _Meaning | None:
        if event.does not in ("pressed", "dragged") or not event.taken:
            return None
        at = _point(event, frame, seen, event.x, event.y)
        target: Target | None = mark.number if mark is not None and mark.kind not in ("surface", "scroller") else at
        if target is None:
            return None
        where = mark_words(mark) if mark is not None and target is not at else _point_words(at, mark)
        if event.does == "pressed":
            if event.touch and event.count == 2:
                return DoubleTap(target=target), f"double-tapped {where}", None
            if event.held >= HELD_S and event.count == 1 and event.button == "left" and not event.modifiers:
                seconds = _held_seconds(event)
                by = " with a finger" if event.touch else ""
                hold = Hold(target=target, seconds=seconds, touch=event.touch)
                return hold, f"held {where}{by} for {seconds:g} s", None
            how = {1: "", 2: "double-", 3: "triple-"}.get(event.count, "")
            button = "" if event.button == "left" else f" with the {event.button} button"
            held = f" with {'+'.join(event.modifiers)} held" if event.modifiers else ""
            click = Click(target=target, button=event.button, count=event.count, modifiers=event.modifiers)
            return click, f"{how}clicked {where}{button}{held}", None
        if mark is None:
            return None  # over plain text it selects; elsewhere it has no target
        onto = _mark(event.onto, seen)
        to = _point(event, frame, seen, *event.to)
        is_mark = onto is not None and onto.kind != "surface" and onto != mark and not _is_sorted(mark, onto, to, seen)
        end: Target | None = onto.number if onto is not None and is_mark else to
        points = [_point(event, frame, seen, x, y) for x, y in event.path]
        if end is None or None in points:
            return None
        path = tuple(each for each in points if each is not None) if mark.kind == "surface" else ()
        landed = mark_words(onto) if onto is not None and end is not to else _point_words(to, None)
        held = f" with {'+'.join(event.modifiers)} held" if event.modifiers else ""
        drag = Drag(source=target, target=end, path=path, modifiers=event.modifiers)
        return drag, f"dragged from {where} to {landed}{held}", None

    def _field_action(self, event: HumanInput, mark: Mark | None, timed: TimedInput) -> _Meaning | None:
        if mark is None:
            return None
        where = mark_words(mark)
        match event.does:
            case "typed" if event.text is not None:
                text, is_secret = self._text_without_secrets(event, mark, timed)
                what = f'"{safe_line(text, 60)}"' if text.strip() else "nothing"
                if is_secret:
                    what += ", a secret that is not recorded,"
                sent = " and pressed Enter" if event.submit else ""
                action = Type(target=mark.number, text=text, submit=event.submit)
                return action, f"typed {what} into {where}{sent}", None if is_secret else text
            case "typed":
                return None, f"typed a text that is too long to record into {where}", None
            case "ticked":
                return Check(mark=mark.number, checked=event.checked), f"{_tick_verb(event)} {where}", None
            case "chose" if event.options:
                chosen = ", ".join(f'"{safe_line(each, 60)}"' for each in event.options)
                return Select(target=mark.number, options=event.options), f"chose {chosen} in {where}", None
            case "set":
                return (
                    Set(mark=mark.number, value=event.value),
                    f'set {where} to "{safe_line(event.value, 60)}"',
                    event.value,
                )
            case "gave" if event.files:
                named = ", ".join(safe_line(each, 60) for each in event.files)
                return Upload(mark=mark.number, files=event.files), f"gave {named} to {where}", None
        return None

    def _text_without_secrets(self, event: HumanInput, mark: Mark, timed: TimedInput) -> tuple[str, bool]:
        """The typed text with secrets replaced by their names, and whether it contained any."""
        text, is_secret = event.text or "", False
        for secret in self.sender.secrets:
            for value in (secret.value.get_secret_value(), *(totp.recent_codes(secret) if secret.is_code else ())):
                if value and value in text:
                    text, is_secret = text.replace(value, f"<secret:{secret.name}>"), True
        if is_secret or not text:
            if is_secret:
                self.sender.observer.masked_keys.add(mark.key)
            return text, is_secret
        if not (event.secret or mark.state.masked or mark.key in self.sender.observer.masked_keys):
            return text, False
        self.sender.observer.masked_keys.add(mark.key)
        return f"<secret:{self._password_name(text, timed)}>", True

    def _password_name(self, value: str, timed: TimedInput) -> str:
        if value not in self._names:
            taken = {secret.name for secret in self.sender.secrets} | set(self._names.values())
            free = (_BY_HAND if n == 1 else f"{_BY_HAND}-{n}" for n in range(1, len(taken) + 2))
            name = self._names[value] = next(each for each in free if each not in taken)
            origin = origin_of(timed.page.url)
            with suppress(UsageError):  # too short to be redacted
                self.learn(Secret(name=name, value=SecretStr(value), origins=(origin,) if origin else ()))
        return self._names[value]


def _key_or_scroll_action(event: HumanInput, mark: Mark | None, seen: LiveObservation) -> _Meaning | None:
    match event.does:
        case "keyed":
            target = None if event.on_page or mark is None else mark.number
            where = f" in {mark_words(mark)}" if target is not None and mark is not None else ""
            if event.held >= HELD_S:
                seconds = _held_seconds(event)
                held = Press(keys=event.pressed, target=target, seconds=seconds)
                return held, f"held {event.pressed} for {seconds:g} s{where}", None
            times = f" {event.count} times" if event.count > 1 else ""
            return (
                Press(keys=event.pressed, target=target, count=event.count),
                f"pressed {event.pressed}{times}{where}",
                None,
            )
        case "lettered":
            letters = "a letter" if event.count == 1 else f"{event.count} letters"
            return (
                None,
                f"typed {letters} outside any field; the text is not recorded, because it may be a password",
                None,
            )
        case "scrolled":
            return _scroll_action(event, mark, seen)
    return None


def _held_seconds(event: HumanInput) -> float:
    return round(min(event.held, LONGEST_HOLD_S), 1)


def _scroll_action(event: HumanInput, mark: Mark | None, seen: LiveObservation) -> _Meaning | None:
    if event.keys and mark is None:
        return None
    if mark is None:
        frame = seen.scan.frame_with_token(event.token)
        if frame is None or frame.parent is not None:
            return None
        was = seen.observation.scroll
        by_x, by_y = event.scroll[0] - was.x, event.scroll[1] - was.y
        wide, high = was.view_width, was.view_height
    else:
        (by_x, by_y), (wide, high) = event.moved, event.view
    by, view = (by_y, high) if abs(by_y) >= abs(by_x) else (by_x, wide)
    pages = round(abs(by) / view, 3) if view else 0
    if not 0 < pages <= 100:
        return None
    sideways = view == wide and abs(by_x) > abs(by_y)
    direction = ("right" if by > 0 else "left") if sideways else ("down" if by > 0 else "up")
    action = Scroll.model_validate(
        {"direction": direction, "pages": pages, "target": mark.number if mark is not None else None}
    )
    where = mark_words(mark) if mark is not None else "the page"
    return action, f"scrolled {where} {direction} by {pages:g} of a view", None


def _describe_without_action(event: HumanInput) -> str:
    """Words for input to an element that no look has shown, or that no action can express."""
    what = safe_line(event.what, 80)
    if not event.taken:
        return f"dragged {what}, which nothing in its document took; it is not recorded as an action"
    verbs = {
        "pressed": f"clicked {what}",
        "dragged": f"dragged from {what} to somewhere else",
        "typed": f"typed into {what}; the text is not recorded",
        "ticked": f"{_tick_verb(event)} {what}",
        "chose": f"chose something in {what}",
        "set": f"set {what}",
        "gave": f"gave a file to {what}",
        "keyed": f"pressed {event.pressed} in {what}",
        "lettered": f"typed letters outside any field; {_NOT_RECORDED}",
        "scrolled": f"scrolled {what}",
    }
    return f"{verbs.get(event.does, event.does)}; no look shows its target, so it is not recorded as an action"


def _tick_verb(event: HumanInput) -> str:
    return "ticked" if event.checked else "unticked"


def _mark(keys: Sequence[str], seen: LiveObservation) -> Mark | None:
    """The mark of the innermost element that has one."""
    by_key = {mark.key: mark for mark in seen.observation.marks if mark.key}
    return next((by_key[key] for key in keys if key in by_key), None)


def _point(event: HumanInput, frame: ScannedFrame, seen: LiveObservation, x: float, y: float) -> Point | None:
    """A spot of a frame in picture pixels; None if the frame has scrolled since, or the spot is outside the picture."""
    then = frame.answer.scroll
    if abs(then.x - event.scroll[0]) > 1 or abs(then.y - event.scroll[1]) > 1:
        return None
    shot = seen.observation.marked
    at = shot.map.to_picture(frame.place.to_page(x, y))
    if not shot.size.contains(at):
        return None
    return Point(x=round(at.x, 1), y=round(at.y, 1))


def _is_sorted(mark: Mark, onto: Mark, to: Point | None, seen: LiveObservation) -> bool:
    """Whether a card is dropped near an edge of another card: on which side of its middle says where it goes."""
    if to is None or not ("draggable" in mark.evidence and "draggable" in onto.evidence):
        return False
    box = seen.observation.marked.map.box_to_picture(onto.box)
    across, along = abs(to.x - box.center.x) / box.width, abs(to.y - box.center.y) / box.height
    return max(across, along) > _MIDDLE


def _point_words(point: Point | None, around: Mark | None) -> str:
    where = f"({point.x:g}, {point.y:g})" if point is not None else "a place"
    return f"{where} in {mark_words(around)}" if around is not None else where
