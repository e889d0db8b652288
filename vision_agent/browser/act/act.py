"""Carries out one action on a live page within a deadline and returns its outcome.

It gives the action to `pointer`, `drag`, `fields`, `select`, `navigate`, `scroll_to`, `read` or `zoom`. They reach the
page through the `InputSender` and return an `Attempt`, from which `effect` infers the outcome.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import assert_never

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import actions
from vision_agent.actions import Action, targets_of
from vision_agent.browser.act import drag, fields, look_at, navigate, pan, pointer, read, select, zoom
from vision_agent.browser.act.attempt import Attempt, PageBefore
from vision_agent.browser.act.batch_guard import allowed_focus, must_still_hold
from vision_agent.browser.act.drawn_tables import LONGEST_S as LONGEST_READ_S
from vision_agent.browser.act.effect import CRASHED, determine_outcome
from vision_agent.browser.act.exact_values import LONGEST_S
from vision_agent.browser.act.extract import extract
from vision_agent.browser.act.find_on import find_on
from vision_agent.browser.act.held import tab_closed
from vision_agent.browser.act.held_values import remember_values
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.out_of_view import bring_into_view
from vision_agent.browser.act.page_after import ANSWERS_S, NO_ANSWER
from vision_agent.browser.act.scroll_to import scroll_to
from vision_agent.browser.locate.drawn_target import drawn_target
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.hanging import PageHangs, unless_hung
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line
from vision_agent.types import Outcome

_LOOKS = 4
"""How often one action may wait for the page: to find its target, to see it stop moving, to send, to read back."""
_LOOKS_FOR_OPTIONS = 12
"""The same for an action that opens a list, searches it and chooses from it."""

_POINT_S = 0.05
"""For each point of a path: its moves take a few frames."""


async def act(sender: InputSender, action: Action, seen: LiveObservation) -> Outcome:
    """The outcome of an action whose marks and points are those of `seen`.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.perf_counter()
    sender.tabs.start_action(with_input=action.traits.presses)
    is_later = sender.start_action(seen, action)
    before = PageBefore(sender.seen, seen.page, len(sender.tabs.pages), _may_change_values(sender, action))
    try:
        _must_be_in_front(sender, action)
        _must_not_be_hung(sender, action)
        if isinstance(action, actions.Zoom):
            outcome = _zoom(sender, action)
        elif isinstance(action, actions.LookAt):
            outcome = await _look_at(sender, action)
        else:
            outcome = await _outcome_in_time(sender, action, before, is_later=is_later)
    except Refused as refusal:
        outcome = await _interrupted_outcome(sender, refusal, before)
    except FrameSilent as error:
        outcome = await _interrupted_outcome(sender, Refused("timed_out", f"The page did not answer: {error}."), before)
    except PlaywrightError as error:
        outcome = await _interrupted_outcome(sender, _translate_error(error, sender, action), before)
    finally:
        await sender.drop_first_picture()
        sender.tabs.end_action()
    return outcome.model_copy(update={"seconds": round(time.perf_counter() - started, 4)})


def _must_be_in_front(sender: InputSender, action: Action) -> None:
    if sender.tabs.active is sender.page or isinstance(action, actions.SwitchTab | actions.CloseTab | actions.OpenTab):
        return
    front = safe_line(sender.tabs.active.url, 100)
    raise Refused("changed", f"{action.kind} was not done: another tab came to the front ({front}). Look again.")


def _must_not_be_hung(sender: InputSender, action: Action) -> None:
    """A page that hung at the last look can only be left or waited for: whatever it shows later was never seen."""
    if sender.seen.is_hung and action.traits.needs_page:
        raise Refused(
            "timed_out",
            f"{action.kind} was not done: the page did not answer when it was looked at. Reload it, open an address, "
            "close the tab, or wait.",
        )


async def _outcome_in_time(sender: InputSender, action: Action, before: PageBefore, *, is_later: bool) -> Outcome:
    sentence = f"The tab closed during {action.kind}"
    try:
        await sender.observer.hide(before.page)
        async with asyncio.timeout(_deadline_s(sender, action)):
            if is_later and not sender.seen.is_hung:
                await must_still_hold(sender, action)
            await bring_into_view(sender, action)
            attempt = await _carry_out_and_remember(sender, action)
            sender.focused_mark = _next_focus(action, attempt)
            if attempt.at is not None:
                sender.observer.players.pointer = (sender.page, attempt.at.point)
        if sender.brought:
            attempt = replace(attempt, sentence=f"{attempt.sentence} after scrolling to it")
        if isinstance(action, actions.Click | actions.Check):
            attempt = replace(attempt, missed=sender.missed, swallowed=sender.swallowed)
        if isinstance(action, actions.Click) and sender.is_drawing_changed:
            attempt = replace(attempt, redrawn=drawn_target(action.target, sender.seen))
        if sender.remark:
            attempt = replace(attempt, sentence=f"{attempt.sentence}; {sender.remark}")
        sentence = attempt.sentence
        if not (action.traits.only_looks or attempt.is_already_so):
            sender.carried_out = attempt.sentence
        return await _outcome_and_focus(sender, action, attempt, before)
    except (TimeoutError, PageHangs):
        raise Refused(
            "timed_out", NO_ANSWER if sender.sent_inputs else f"{action.kind} was started, but {NO_ANSWER}"
        ) from None
    except (BrowserUnavailable, PlaywrightError) as error:
        if isinstance(error, PlaywrightError) and not overlay.is_browser_gone(error):
            raise
        if not await sender.tabs.has_lost_tab():
            raise
        if action.traits.presses and not sender.sent_inputs:
            raise Refused("gone", f"The tab closed before {action.kind} started; nothing was sent.") from None
        if sender.hold is not None:
            began, seconds = sender.hold
            raise tab_closed(time.monotonic() - began, seconds) from None
    closed = Attempt(sentence, None, needs_no_effect=True)
    return await determine_outcome(closed, _before(sender, before), sender.tabs, sender.observer)


async def _outcome_and_focus(sender: InputSender, action: Action, attempt: Attempt, before: PageBefore) -> Outcome:
    """The outcome of an action. Which elements may keep the focus is noted meanwhile."""

    async def note_focus() -> None:
        try:
            sender.allowed_focus = await allowed_focus(sender, action)
        except (BrowserUnavailable, PlaywrightError):
            sender.allowed_focus = None  # the page is gone, which the outcome says

    noting = asyncio.create_task(note_focus())
    try:
        return await determine_outcome(
            attempt, _before(sender, before), sender.tabs, sender.observer, sender.first_picture
        )
    finally:
        await noting


def _before(sender: InputSender, before: PageBefore) -> PageBefore:
    """The state before the action, once its target was in view: scrolling to it does not count as an effect."""
    return replace(before, seen=sender.brought) if sender.brought else before


async def _carry_out_and_remember(sender: InputSender, action: Action) -> Attempt:
    """Carries an action out. The page remembers first what its fields hold, to be compared afterwards."""
    if not _may_change_values(sender, action):
        return await _carry_out_unless_hung(sender, action)
    remembering = asyncio.create_task(remember_values(sender.seen, sender.deadline_s))
    try:
        if not any(isinstance(each, int) for each in targets_of(action)):
            await remembering  # nothing else is asked of the page before its input is sent
        return await _carry_out_unless_hung(sender, action)
    finally:
        remembering.cancel()


def _may_change_values(sender: InputSender, action: Action) -> bool:
    return action.traits.needs_page and not (action.traits.only_looks or sender.seen.is_hung)


async def _carry_out_unless_hung(sender: InputSender, action: Action) -> Attempt:
    # A page that hangs already is left, or waited for.
    if sender.seen.is_hung:
        return await _carry_out(sender, action)
    return await unless_hung(_carry_out(sender, action), sender.tabs)


async def _carry_out(sender: InputSender, action: Action) -> Attempt:
    match action:
        case actions.Click():
            return await pointer.click(sender, action)
        case actions.DoubleTap():
            return await pointer.double_tap(sender, action)
        case actions.Hold():
            return await pointer.hold(sender, action)
        case actions.Hover():
            return await pointer.hover(sender, action)
        case actions.Drag():
            return await drag.drag(sender, action)
        case actions.SelectText():
            return await pointer.select_text(sender, action)
        case actions.Scroll():
            return await pointer.scroll(sender, action)
        case actions.ScrollTo():
            return await scroll_to(sender, action)
        case actions.Type():
            return await fields.type_text(sender, action)
        case actions.Set():
            return await fields.set_value(sender, action)
        case actions.Check():
            return await fields.check(sender, action)
        case actions.Upload():
            return await fields.upload(sender, action)
        case actions.Press():
            return await fields.press(sender, action)
        case actions.Select():
            return await select.select(sender, action)
        case actions.Pan():
            return await pan.pan(sender, action)
        case actions.Magnify():
            return await pan.magnify(sender, action)
        case actions.FindOn():
            return await find_on(sender, action)
        case actions.Goto():
            return await navigate.goto(sender, action)
        case actions.Back() | actions.Forward():
            return await navigate.go(sender, action)
        case actions.Reload():
            return await navigate.reload(sender)
        case actions.OpenTab():
            return await navigate.open_tab(sender, action)
        case actions.SwitchTab():
            return await navigate.switch_tab(sender, action)
        case actions.CloseTab():
            return await navigate.close_tab(sender, action)
        case actions.Wait():
            return await read.wait(sender, action)
        case actions.Read():
            return await read.read(sender, action)
        case actions.Extract():
            return await extract(sender, action)
        case (
            actions.Zoom()
            | actions.LookAt()
            | actions.Ask()
            | actions.Finish()
            | actions.Infeasible()
            | actions.Custom()
        ):
            raise Refused("unsupported", f"The browser does not carry out {action.kind}.")
        case _:
            assert_never(action)


def _next_focus(action: Action, attempt: Attempt) -> Mark | None:
    """The mark that should have the focus for the next keys without a target."""
    mark = attempt.at.mark if attempt.at else None
    match action.traits.focuses:
        case "target":
            return mark
        case "field":
            return mark if mark is not None and mark.kind == "field" else None
        case "nothing":
            return None


def _zoom(sender: InputSender, action: actions.Zoom) -> Outcome:
    sender.region, words = zoom.zoom_region(action, sender.seen.observation)
    sender.scope = None
    sender.grid = action.grid
    sentence = f"The next picture shows only {words}, enlarged" + (" and with a grid over it." if action.grid else ".")
    return Outcome(status="done", effect="zoomed", sentence=sentence)


async def _look_at(sender: InputSender, action: actions.LookAt) -> Outcome:
    try:
        async with asyncio.timeout(_deadline_s(sender, action)):
            await sender.observer.hide(sender.page)
            await bring_into_view(sender, action)
            words = await look_at.look_at(sender, action)
    except TimeoutError:
        raise Refused("timed_out", f"look_at was started, but {NO_ANSWER}") from None
    return Outcome(status="done", effect="zoomed", sentence=f"The next picture and listing show only {words}.")


def _deadline_s(sender: InputSender, action: Action) -> float:
    """Seconds for the whole action: mouse and keyboard calls have no deadline of their own on a page that hangs."""
    deadline = _LOOKS * sender.deadline_s + action.lasts_s
    match action:
        case actions.Goto() | actions.Back() | actions.Forward() | actions.Reload() | actions.OpenTab():
            return deadline + sender.settings.navigation_deadline_s
        case actions.Select():
            return _LOOKS_FOR_OPTIONS * sender.deadline_s
        case actions.Read(what="download"):
            return deadline + sender.deadline_s
        case actions.Read(what="table"):
            return deadline + LONGEST_READ_S + (LONGEST_S if action.exact else 0)
        case actions.Extract():
            return deadline + LONGEST_READ_S
        case actions.Drag():
            return deadline + _POINT_S * len(action.path)
        case _:
            return deadline


async def _interrupted_outcome(sender: InputSender, refusal: Refused, before: PageBefore) -> Outcome:
    """Refused if nothing was done; else partial, with what was done, and the effect of input that reached the page."""
    # The page was asked what came of it, and did not answer.
    is_said = bool(sender.carried_out) and refusal.sentence.startswith(sender.carried_out)
    if is_said or (sender.carried_out and not sender.sent_inputs):
        # Without input it was done by the browser, as opening an address is.
        said = refusal.sentence if is_said else f"{sender.carried_out}. {capitalised(refusal.sentence)}"
        return Outcome(status="partial", refusal=refusal.refusal, sentence=said)
    if not sender.sent_inputs:
        # An address or a file name keeps its first letter.
        said = capitalised(refusal.sentence) if refusal.sentence.startswith("mark ") else refusal.sentence
        said += " The page was scrolled to find it." if sender.brought else ""
        return Outcome(status="refused", refusal=refusal.refusal, sentence=said)
    sentence = f"{' and '.join(sender.sent_inputs)}; the rest was not done: {refusal.sentence.rstrip('.')}"
    cut = Outcome(status="partial", refusal=refusal.refusal, sentence=f"{sentence}.")
    at = None if before.page.is_closed() else sender.last_location
    try:
        if refusal.refusal == "timed_out" and not before.page.is_closed():
            await overlay_calls.document.token(before.page.main_frame, ANSWERS_S)
        was = _before(sender, before)
        came = await determine_outcome(Attempt(sentence, at), was, sender.tabs, sender.observer)
    except (Refused, FrameSilent, PlaywrightError):
        return cut  # the page does not answer
    except BrowserUnavailable:
        if not await sender.tabs.has_lost_tab():
            raise
        return cut
    return came.model_copy(update={"status": "partial", "refusal": refusal.refusal})


def _translate_error(error: PlaywrightError, sender: InputSender, action: Action) -> Refused:
    """The refusal that a Playwright error stands for.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    if overlay.is_browser_gone(error):
        raise BrowserUnavailable(f"The browser is gone: {error.message.splitlines()[0]}", overlay.GO_ON) from error
    if overlay.is_crash_error(error):
        is_begun = sender.sent_inputs or sender.carried_out
        return Refused("crashed", CRASHED if is_begun else f"{action.kind} was not done. {CRASHED}")
    first = safe_line(error.message.splitlines()[0], 200)
    if not isinstance(error, PlaywrightTimeout):
        return Refused("unsupported", f"The browser refused {action.kind}: {first}.")
    if sender.sent_inputs and "performing" in error.message:
        return Refused("timed_out", NO_ANSWER)
    return Refused("timed_out", f"The page did not allow {action.kind}: {first.rstrip('.')}.")
