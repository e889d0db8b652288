"""Carries out one action on a live page within a deadline and returns its outcome.

The work is in `pointer`, `drag`, `fields`, `select`, `navigate`, `scroll_to`, `read` and `zoom`; `effect` infers the
outcome.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import assert_never

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import actions
from vision_agent.actions import Action
from vision_agent.browser.act import drag, fields, navigate, pointer, read, select, zoom
from vision_agent.browser.act.batch_guard import allowed_focus, must_still_hold
from vision_agent.browser.act.effect import CRASHED, NO_ANSWER, determine_outcome
from vision_agent.browser.act.execution import Before, Execution
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.held import tab_closed
from vision_agent.browser.act.out_of_view import bring_into_view
from vision_agent.browser.act.scroll_to import scroll_to
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.hanging import PageHangs, unless_hung
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.errors import BrowserUnavailable
from vision_agent.escape import safe_line
from vision_agent.types import Mark, Outcome

_LOOKS = 4
"""How often one action may wait for the page: to find its target, to see it stop moving, to send, to read back."""
_LOOKS_FOR_OPTIONS = 12
"""The same for an action that opens a list, searches it and chooses from it."""

_ANSWERS_S = 1.0
"""How long a page may take to answer after an action that was cut off, before its effect is not looked for."""
_POINT_S = 0.05
"""For each point of a path: its moves take a few frames."""


async def act(executor: Executor, action: Action, seen: LiveObservation) -> Outcome:
    """The outcome of an action whose marks and points are those of `seen`.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.perf_counter()
    executor.tabs.start_action(with_input=action.traits.presses)
    is_later = executor.start_action(seen, action)
    before = Before(seen, seen.page, len(executor.tabs.pages))
    try:
        _must_be_in_front(executor, action)
        _must_not_be_hung(executor, action)
        if isinstance(action, actions.Zoom):
            outcome = _zoom(executor, action)
        else:
            outcome = await _attempt(executor, action, before, is_later=is_later)
    except Refused as refusal:
        outcome = await _interrupted_outcome(executor, refusal, before)
    except FrameSilent as error:
        outcome = await _interrupted_outcome(
            executor, Refused("timed_out", f"The page did not answer: {error}."), before
        )
    except PlaywrightError as error:
        outcome = await _interrupted_outcome(executor, _translate_error(error, executor, action), before)
    finally:
        executor.tabs.end_action()
    return outcome.model_copy(update={"seconds": round(time.perf_counter() - started, 4)})


def _must_be_in_front(executor: Executor, action: Action) -> None:
    if executor.tabs.active is executor.page or isinstance(
        action, actions.SwitchTab | actions.CloseTab | actions.OpenTab
    ):
        return
    front = safe_line(executor.tabs.active.url, 100)
    raise Refused("changed", f"{action.kind} was not done: another tab came to the front ({front}). Look again.")


def _must_not_be_hung(executor: Executor, action: Action) -> None:
    """A page that hung at the last look can only be left or waited for: whatever it shows later was never seen."""
    if executor.seen.is_hung and action.traits.needs_page:
        raise Refused(
            "timed_out",
            f"{action.kind} was not done: the page did not answer when it was looked at. Reload it, open an address, "
            "close the tab, or wait.",
        )


async def _attempt(executor: Executor, action: Action, before: Before, *, is_later: bool) -> Outcome:
    sentence = f"The tab closed during {action.kind}"
    try:
        await executor.observer.hide(before.page)
        async with asyncio.timeout(_deadline_s(executor, action)):
            if is_later and not executor.seen.is_hung:
                await must_still_hold(executor, action)
            await bring_into_view(executor, action)
            execution = await _carry_out_unless_hung(executor, action)
            executor.focused_mark = _next_focus(action, execution)
            if execution.at is not None:
                executor.observer.players.pointer = (executor.page, execution.at.point)
            executor.allowed_focus = await allowed_focus(executor, action)
        if executor.brought:
            execution = replace(execution, sentence=f"{execution.sentence} after scrolling to it")
        if isinstance(action, actions.Click | actions.Check):
            execution = replace(execution, missed=executor.missed)
        if executor.remark:
            execution = replace(execution, sentence=f"{execution.sentence}; {executor.remark}")
        sentence = execution.sentence
        return await determine_outcome(execution, _before(executor, before), executor.tabs, executor.observer)
    except (TimeoutError, PageHangs):
        raise Refused(
            "timed_out", NO_ANSWER if executor.sent_inputs else f"{action.kind} was started, but {NO_ANSWER}"
        ) from None
    except (BrowserUnavailable, PlaywrightError) as error:
        if isinstance(error, PlaywrightError) and not overlay.is_browser_gone(error):
            raise
        if not await executor.tabs.has_lost_tab():
            raise
        if action.traits.presses and not executor.sent_inputs:
            raise Refused("gone", f"The tab closed before {action.kind} started; nothing was sent.") from None
        if executor.hold is not None:
            began, seconds = executor.hold
            raise tab_closed(time.monotonic() - began, seconds) from None
    closed = Execution(sentence, None, needs_no_effect=True)
    return await determine_outcome(closed, _before(executor, before), executor.tabs, executor.observer)


def _before(executor: Executor, before: Before) -> Before:
    """The state before the action, once its target was in view: scrolling to it does not count as an effect."""
    return replace(before, seen=executor.brought) if executor.brought else before


async def _carry_out_unless_hung(executor: Executor, action: Action) -> Execution:
    # A page that hangs already is left, or waited for.
    if executor.seen.is_hung:
        return await _carry_out(executor, action)
    return await unless_hung(_carry_out(executor, action), executor.tabs)


async def _carry_out(executor: Executor, action: Action) -> Execution:
    match action:
        case actions.Click():
            return await pointer.click(executor, action)
        case actions.DoubleTap():
            return await pointer.double_tap(executor, action)
        case actions.Hold():
            return await pointer.hold(executor, action)
        case actions.Hover():
            return await pointer.hover(executor, action)
        case actions.Drag():
            return await drag.drag(executor, action)
        case actions.SelectText():
            return await pointer.select_text(executor, action)
        case actions.Scroll():
            return await pointer.scroll(executor, action)
        case actions.ScrollTo():
            return await scroll_to(executor, action)
        case actions.Type():
            return await fields.type_text(executor, action)
        case actions.Set():
            return await fields.set_value(executor, action)
        case actions.Check():
            return await fields.check(executor, action)
        case actions.Upload():
            return await fields.upload(executor, action)
        case actions.Press():
            return await fields.press(executor, action)
        case actions.Select():
            return await select.select(executor, action)
        case actions.Goto():
            return await navigate.goto(executor, action)
        case actions.Back() | actions.Forward():
            return await navigate.go(executor, action)
        case actions.Reload():
            return await navigate.reload(executor)
        case actions.OpenTab():
            return await navigate.open_tab(executor, action)
        case actions.SwitchTab():
            return await navigate.switch_tab(executor, action)
        case actions.CloseTab():
            return await navigate.close_tab(executor, action)
        case actions.Wait():
            return await read.wait(executor, action)
        case actions.Read():
            return await read.read(executor, action)
        case actions.Extract():
            return await read.extract(executor, action)
        case actions.Zoom() | actions.Ask() | actions.Finish() | actions.Infeasible() | actions.Custom():
            raise Refused("unsupported", f"The browser does not carry out {action.kind}.")
        case _:
            assert_never(action)


def _next_focus(action: Action, execution: Execution) -> Mark | None:
    """The mark that should have the focus for the next keys without a target."""
    mark = execution.at.mark if execution.at else None
    match action.traits.focuses:
        case "target":
            return mark
        case "field":
            return mark if mark is not None and mark.kind == "field" else None
        case "nothing":
            return None


def _zoom(executor: Executor, action: actions.Zoom) -> Outcome:
    executor.region, words = zoom.zoom_region(action, executor.seen.observation)
    executor.grid = action.grid
    sentence = f"The next picture shows only {words}, enlarged" + (" and with a grid over it." if action.grid else ".")
    return Outcome(status="done", effect="zoomed", sentence=sentence)


def _deadline_s(executor: Executor, action: Action) -> float:
    """Seconds for the whole action: mouse and keyboard calls have no deadline of their own on a page that hangs."""
    deadline = _LOOKS * executor.deadline_s + action.lasts_s
    match action:
        case actions.Goto() | actions.Back() | actions.Forward() | actions.Reload() | actions.OpenTab():
            return deadline + executor.settings.navigation_deadline_s
        case actions.Select():
            return _LOOKS_FOR_OPTIONS * executor.deadline_s
        case actions.Drag():
            return deadline + _POINT_S * len(action.path)
        case _:
            return deadline


async def _interrupted_outcome(executor: Executor, refusal: Refused, before: Before) -> Outcome:
    """Refused if nothing reached the page; else partial, with what did reach it and the effect of that."""
    if not executor.sent_inputs:
        # An address or a file name keeps its first letter.
        said = capitalised(refusal.sentence) if refusal.sentence.startswith("mark ") else refusal.sentence
        said += " The page was scrolled to find it." if executor.brought else ""
        return Outcome(status="refused", refusal=refusal.refusal, sentence=said)
    sentence = f"{' and '.join(executor.sent_inputs)}; the rest was not done: {refusal.sentence.rstrip('.')}"
    cut = Outcome(status="partial", refusal=refusal.refusal, sentence=f"{sentence}.")
    at = None if before.page.is_closed() else executor.last_location
    try:
        if refusal.refusal == "timed_out" and not before.page.is_closed():
            await overlay_calls.document_token(before.page.main_frame, _ANSWERS_S)
        was = _before(executor, before)
        came = await determine_outcome(Execution(sentence, at), was, executor.tabs, executor.observer)
    except (Refused, FrameSilent, PlaywrightError):
        return cut  # the page does not answer
    except BrowserUnavailable:
        if not await executor.tabs.has_lost_tab():
            raise
        return cut
    return came.model_copy(update={"status": "partial", "refusal": refusal.refusal})


def _translate_error(error: PlaywrightError, executor: Executor, action: Action) -> Refused:
    """The refusal that a Playwright error stands for.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    if overlay.is_browser_gone(error):
        raise BrowserUnavailable(
            f"The browser is gone: {error.message.splitlines()[0]}", "start the run again"
        ) from error
    if overlay.is_crash_error(error):
        return Refused("crashed", CRASHED if executor.sent_inputs else f"{action.kind} was not done. {CRASHED}")
    first = safe_line(error.message.splitlines()[0], 200)
    if not isinstance(error, PlaywrightTimeout):
        return Refused("unsupported", f"The browser refused {action.kind}: {first}.")
    if executor.sent_inputs and "performing" in error.message:
        return Refused("timed_out", NO_ANSWER)
    return Refused("timed_out", f"The page did not allow {action.kind}: {first.rstrip('.')}.")
