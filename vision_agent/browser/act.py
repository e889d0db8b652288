"""Carries out one action on a live page, within a deadline, and says what became of it.

Which room does what: `pointer`, `fields`, `options`, `pages`, `reading`, `zoom`. What came of it is `effect`'s to say.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import actions
from vision_agent.actions import Action
from vision_agent.browser import fields, options, overlay, pages, pointer, reading, zoom
from vision_agent.browser.batch import focus_left, must_still_hold
from vision_agent.browser.effect import CRASHED, NO_ANSWER, Before, Done, effect_of
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.observe import Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.errors import BrowserUnavailable
from vision_agent.types import Mark, Outcome

_LOOKS = 4
"""How often an action may wait for the page: to find its target, to see it stand still, to send, to read back."""
_LOOKS_FOR_OPTIONS = 12
"""The same where a list is opened, looked through and chosen from."""

_PRESSES = (
    actions.Click,
    actions.Type,
    actions.Press,
    actions.Drag,
    actions.SelectText,
    actions.Check,
    actions.Select,
    actions.Set,
    actions.Upload,
)
"""What sends events to the page, and notes each that it sends."""


async def act(hands: Hands, action: Action, seen: Seen) -> Outcome:
    """What became of an action that names marks and points of what was seen.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.perf_counter()
    hands.tabs.begin()
    is_later = hands.take_up(seen, action)
    before = Before(seen, seen.page, len(hands.tabs.pages))
    try:
        _must_be_in_front(hands, action)
        if isinstance(action, actions.Zoom):
            outcome = _zoom(hands, action)
        else:
            outcome = await _attempt(hands, action, before, is_later=is_later)
    except Refused as refusal:
        outcome = await _cut_short(hands, refusal, before)
    except FrameSilent as error:
        outcome = await _cut_short(hands, Refused("timed_out", f"The page did not answer: {error}."), before)
    except PlaywrightError as error:
        outcome = await _cut_short(hands, _refusal_of(error, hands, action), before)
    return outcome.model_copy(update={"seconds": round(time.perf_counter() - started, 4)})


def _must_be_in_front(hands: Hands, action: Action) -> None:
    if hands.tabs.active is hands.page or isinstance(action, actions.SwitchTab | actions.CloseTab | actions.OpenTab):
        return
    front = plain(hands.tabs.active.url, 100)
    raise Refused("changed", f"{action.kind} was not done: another tab came to the front ({front}). Look again.")


async def _attempt(hands: Hands, action: Action, before: Before, *, is_later: bool) -> Outcome:
    sentence = f"The tab closed during {action.kind}"
    try:
        await hands.eye.hide(before.page)
        async with asyncio.timeout(_deadline_s(hands, action)):
            if is_later:
                await must_still_hold(hands, action)
            done = await _carry_out(hands, action)
            hands.focused = _meant_to_have_focus(action, done)
            hands.left = await focus_left(hands, action)
        if hands.remark:
            done = replace(done, sentence=f"{done.sentence}; {hands.remark}")
        sentence = done.sentence
        return await effect_of(done, before, hands.tabs, hands.eye)
    except TimeoutError:
        raise Refused("timed_out", NO_ANSWER if hands.sent else f"{action.kind} was begun, but {NO_ANSWER}") from None
    except (BrowserUnavailable, PlaywrightError) as error:
        if isinstance(error, PlaywrightError) and not overlay.is_gone(error):
            raise
        if not await hands.tabs.lost_one():
            raise
        if isinstance(action, _PRESSES) and not hands.sent:
            raise Refused("gone", f"The tab closed before {action.kind} was begun; nothing was sent.") from None
    return await effect_of(Done(sentence, None, moved=True), before, hands.tabs, hands.eye)


async def _carry_out(hands: Hands, action: Action) -> Done:
    match action:
        case actions.Click():
            return await pointer.click(hands, action)
        case actions.Hover():
            return await pointer.hover(hands, action)
        case actions.Drag():
            return await pointer.drag(hands, action)
        case actions.SelectText():
            return await pointer.select_text(hands, action)
        case actions.Scroll():
            return await pointer.scroll(hands, action)
        case actions.Type():
            return await fields.type_text(hands, action)
        case actions.Set():
            return await fields.set_value(hands, action)
        case actions.Check():
            return await fields.check(hands, action)
        case actions.Upload():
            return await fields.upload(hands, action)
        case actions.Press():
            return await fields.press(hands, action)
        case actions.Select():
            return await options.select(hands, action)
        case actions.Goto():
            return await pages.goto(hands, action)
        case actions.Back() | actions.Forward():
            return await pages.go(hands, action)
        case actions.Reload():
            return await pages.reload(hands)
        case actions.OpenTab():
            return await pages.open_tab(hands, action)
        case actions.SwitchTab():
            return await pages.switch_tab(hands, action)
        case actions.CloseTab():
            return await pages.close_tab(hands, action)
        case actions.Wait():
            return await reading.wait(hands, action)
        case actions.Read():
            return await reading.read(hands, action)
        case actions.Extract():
            return await reading.extract(hands, action)
        case actions.Zoom() | actions.Ask() | actions.Finish() | actions.Infeasible() | actions.Custom():
            raise Refused("unsupported", f"{action.kind} is not something a browser does.")


def _meant_to_have_focus(action: Action, done: Done) -> Mark | None:
    """Where keys without a target are meant to go next."""
    mark = done.at.mark if done.at else None
    if isinstance(action, actions.Type | actions.Set | actions.Press):
        return mark
    return mark if isinstance(action, actions.Click) and mark is not None and mark.kind == "field" else None


def _zoom(hands: Hands, action: actions.Zoom) -> Outcome:
    hands.region, words = zoom.region_of(action, hands.seen.observation)
    hands.grid = action.grid
    told = f"The next picture shows only {words}, enlarged" + (" and with a grid over it." if action.grid else ".")
    return Outcome(status="done", effect="zoomed", sentence=told)


def _deadline_s(hands: Hands, action: Action) -> float:
    """For the whole of an action: the mouse and the keys have no deadline of their own in a page that hangs."""
    deadline = _LOOKS * hands.deadline_s
    match action:
        case actions.Wait():
            return deadline + action.seconds
        case actions.Goto() | actions.Back() | actions.Forward() | actions.Reload() | actions.OpenTab():
            return deadline + hands.settings.navigation_deadline_s
        case actions.Select():
            return _LOOKS_FOR_OPTIONS * hands.deadline_s
        case _:
            return deadline


async def _cut_short(hands: Hands, refusal: Refused, before: Before) -> Outcome:
    """Refused where nothing reached the page; else partial, with what did and what came of that."""
    if not hands.sent:
        return Outcome(status="refused", refusal=refusal.refusal, sentence=refusal.sentence)
    sentence = f"{' and '.join(hands.sent)}; what was to follow was not done: {refusal.sentence.rstrip('.')}"
    cut = Outcome(status="partial", refusal=refusal.refusal, sentence=f"{sentence}.")
    try:
        came = await effect_of(Done(sentence, hands.reached), before, hands.tabs, hands.eye)
    except (Refused, FrameSilent, PlaywrightError):
        return cut  # a page that tells nothing
    return came.model_copy(update={"status": "partial", "refusal": refusal.refusal})


def _refusal_of(error: PlaywrightError, hands: Hands, action: Action) -> Refused:
    """What Playwright's refusal means.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    if overlay.is_gone(error):
        raise BrowserUnavailable(
            f"The browser is gone: {error.message.splitlines()[0]}", "start the run again"
        ) from error
    if overlay.is_crash(error):
        return Refused("crashed", CRASHED if hands.sent else f"{action.kind} was not done. {CRASHED}")
    first = plain(error.message.splitlines()[0], 200)
    if not isinstance(error, PlaywrightTimeout):
        return Refused("unsupported", f"The browser refused to {action.kind}: {first}.")
    if hands.sent and "performing" in error.message:
        return Refused("timed_out", NO_ANSWER)
    return Refused("timed_out", f"The page did not let {action.kind} happen: {first.rstrip('.')}.")
