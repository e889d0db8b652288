"""Fills fields and controls: text, values, ticks, files and keys. Their values are read back afterwards.

The only module of this package that sees the value of a secret, on its way into a field.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import totp
from vision_agent.actions import Check, Click, Press, Set, Type, Upload, chord_keys
from vision_agent.browser.act.direct_input import perform_directly, set_directly
from vision_agent.browser.act.effect import tick_state
from vision_agent.browser.act.execution import Execution
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.held import held_keys, stay_held
from vision_agent.browser.locate.drawn_target import must_be_element, must_not_be_grid
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.naming import mark_words
from vision_agent.browser.network import host_policy
from vision_agent.browser.observe.row_context import ContextChanged
from vision_agent.browser.page import protocol
from vision_agent.browser.page.protocol import ContextDifference, LiveElement
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.escape import safe_line
from vision_agent.types import Mark, MarkState
from vision_agent.urls import host_of

_FORMS = {
    "date": "2026-02-03",
    "time": "14:30",
    "datetime-local": "2026-02-03T14:30",
    "month": "2026-02",
    "week": "2026-W06",
    "color": "#ff8800",
    "range": "42",
}
"""Input types that take a value at once, each with an example of its format."""
_TEXT_ROLES = ("textbox", "searchbox", "combobox", "generic", "spinbutton")
_TO_THE_END = "Meta+ArrowDown" if sys.platform == "darwin" else "Control+End"
_TYPED_KEYS = 300
"""Characters typed key by key; the rest of a longer text is inserted at once."""
_ARROWS = (("ArrowUp", "ArrowDown"), ("ArrowRight", "ArrowLeft"))
"""Up increases in every reading direction; some sliders know only right and left."""
_MOST_KEYS = 400
"""Arrow keys pressed on a slider to reach a value."""
_PRESSED_BY_SPACE = ("button", "toggle")
_DIGITS = re.compile(r"\d+")
_SECRET = re.compile(r"<secret:([\w.-]+)>")


async def type_text(executor: Executor, action: Type) -> Execution:
    """Types into a field, or at a point that takes the focus."""
    at = await executor.aim(action.target)
    text, is_secret = _insert_secrets(executor, action.text, at)
    if is_secret and at.mark is not None:
        executor.observer.masked_keys.add(at.mark.key)
    if at.mark is not None and at.mark.state.input_type in _FORMS:
        await _fill(at, text, executor)
        if action.submit:
            async with executor.guard_keys(at):
                await _press_at_end(executor, at, "Enter")
    else:
        at = await _type_keys(executor, action, at, text, is_secret, "Enter" if action.submit else None)
    shown = action.text if len(action.text) <= 60 else action.text[:59] + "…"
    return Execution(f'Typed "{safe_line(shown, 60)}" into {at.words}', at, expected=None if is_secret else text)


async def set_value(executor: Executor, action: Set) -> Execution:
    """Sets a control to a value: at once if the browser can, a slider with its arrow keys, a field by typing.

    Raises:
        Refused: the value does not fit the control, or its arrow keys do not reach it.
    """
    must_be_element(action.mark, executor.seen)
    at = await executor.aim(action.mark)
    assert at.mark is not None
    if at.mark.state.input_type in _FORMS:
        await _fill(at, action.value, executor)
    elif at.mark.role in ("slider", "spinbutton") and at.mark.tag != "input":
        await _press_to_value(executor, at, action.value)
    elif at.mark.kind != "field":
        words = f"{at.words} exposes no value to set. Type, drag it, or press ArrowRight on it."
        raise Refused("unsupported", words)
    else:
        typing = Type(target=action.mark, text=action.value)
        # Many fields take a value only on blur.
        at = await _type_keys(executor, typing, at, action.value, is_secret=False, last_key="Tab")
    return Execution(f'Set {at.words} to "{safe_line(action.value, 60)}"', at, expected=action.value)


async def check(executor: Executor, action: Check) -> Execution:
    """Ticks or unticks a control with a click; sends nothing if it already is as wanted.

    Raises:
        Refused: it has no ticked state, or is a radio button, which cannot be unticked.
    """
    must_be_element(action.mark, executor.seen)
    at = await executor.aim(action.mark)
    assert at.mark is not None
    now = tick_state(at.element)
    if now is None:
        raise Refused("unsupported", f"{at.words} cannot be ticked: it has no checked state. Click it.")
    wanted, word = str(action.checked).lower(), "ticked" if action.checked else "unticked"
    if now == wanted:
        return Execution(f"{at.words} is {word} already", at, is_already_so=True)
    if not action.checked and at.mark.role == "radio":
        raise Refused("unsupported", f"{at.words} is a radio button; tick another one of its group instead.")
    mark = at.mark
    at = await executor.click(at, Click(target=action.mark))
    until = time.monotonic() + executor.settings.quiet_s * 4
    while (now := tick_state(await executor.recheck(mark))) not in (wanted, None) and time.monotonic() < until:
        continue
    words = word.capitalize() if now == wanted else "Clicked"
    return Execution(f"{words} {at.words}", at, wants_ticked=action.checked)


async def upload(executor: Executor, action: Upload) -> Execution:
    """Gives files of the task to a file field, or to the file chooser that a click on the mark opens.

    Raises:
        Refused: a file is not one of the task's, or no file chooser opened.
    """
    unknown = [name for name in action.files if name not in executor.files]
    if unknown:
        offered = ", ".join(executor.files) or "none"
        raise Refused("blocked", f"{', '.join(unknown)} may not be uploaded; the task's files are {offered}.")
    paths = [executor.files[name] for name in action.files]
    if missing := [str(path) for path in paths if not path.is_file()]:
        raise Refused("unsupported", f"{', '.join(missing)} no longer exists, so nothing was uploaded.")
    must_be_element(action.mark, executor.seen)
    at = await executor.aim(action.mark)
    assert at.mark is not None
    if at.locator is not None and at.mark.state.input_type == "file":
        given = at.locator.set_input_files(paths, timeout=executor.timeout_ms)
        await perform_directly(executor, given, f"files were given to {at.words}", at)
    else:
        executor.tabs.expects_files = True
        try:
            async with executor.page.expect_file_chooser(timeout=executor.timeout_ms) as asked:
                at = await executor.click(at, Click(target=action.mark))
            chooser = await asked.value
        except PlaywrightTimeout:
            raise Refused(
                "unsupported", f"{at.words} was clicked and opened no file chooser; find the file field."
            ) from None
        finally:
            executor.tabs.expects_files = False
        if len(paths) > 1 and not chooser.is_multiple():
            raise Refused("unsupported", f"{at.words} takes one file at a time; nothing was uploaded.")
        await chooser.set_files(paths, timeout=executor.timeout_ms)
    files = ", ".join(f"{path.name} (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}…)" for path in paths)
    return Execution(f"Gave {files} to {at.words}", at, has_known_effect=True)


async def press(executor: Executor, action: Press) -> Execution:
    """Presses keys where the focus is, or on a target that is focused first."""
    at = None
    if action.target is not None:
        must_not_be_grid(action.target, executor.seen)
        at = await executor.locate(action.target)
        await executor.focus(at)
    elif executor.focused_mark is not None:
        await executor.must_take_keys(executor.focused_mark)
    _must_not_press_on_release(action, at.mark if at else executor.focused_mark)
    executor.note_input(f"{action.keys} was pressed", at)
    try:
        async with executor.guard_keys(at, action.lasts_s):
            for _ in range(action.count):
                await _press_once(executor, action)
    except PlaywrightError as error:
        if "Unknown key" not in error.message:
            raise
        executor.sent_inputs.pop()
        raise Refused(
            "unsupported", f'There is no key "{safe_line(action.keys, 40)}"; try Enter, Tab, ArrowDown, Control+a.'
        ) from error
    times = f" {action.count} times" if action.count > 1 else ""
    times += f" for {action.seconds:g} s" if action.seconds else ""
    verb = "Held" if action.seconds else "Pressed"
    return Execution(f"{verb} {action.keys}{times}" + (f" in {at.words}" if at else ""), at)


def _must_not_press_on_release(action: Press, mark: Mark | None) -> None:
    """Returns unless a held key would press a button when it comes up, which may say something else by then.

    Raises:
        Refused: it would.
    """
    is_pressed = mark is not None and mark.kind in _PRESSED_BY_SPACE
    if action.seconds is None or mark is None or not is_pressed or not {"Space", " "} & {*chord_keys(action.keys)}:
        return
    words = f"{mark_words(mark)} has the focus and would be pressed when {action.keys} comes up"
    raise Refused(
        "unsupported", f"{words}, so it was not held. Click what should get the key, or hold the mark itself."
    )


async def _press_once(executor: Executor, action: Press) -> None:
    page, deadline_s = executor.page, executor.deadline_s
    if action.seconds is None:
        await page.keyboard.press(action.keys)
        return
    async with held_keys(page, chord_keys(action.keys), deadline_s):
        await stay_held(page, action.keys, action.seconds, deadline_s)


async def _fill(at: Location, value: str, executor: Executor) -> None:
    """Fills a field at once. A value that it cannot hold would empty it, so that is checked first."""
    assert at.mark is not None
    kind, value = at.mark.state.input_type or "", value.strip()
    if value and not await protocol.can_hold_value(executor.page.main_frame, executor.deadline_s, kind, value):
        words = f'{at.words} does not take "{safe_line(value, 60)}"; it is written like {_FORMS[kind]}.'
        raise Refused("unsupported", words)
    if kind == "range" and (goes := _exceeded_range(at.mark.state, value)):
        raise Refused("not_an_option", f"{at.words} goes {goes}; {safe_line(value, 40)} is out of range.")
    if at.element and at.element.state.readonly:
        raise Refused("disabled", f"{at.words} is read-only.")
    held = value.lower() if kind == "color" else value
    await set_directly(executor, at, f"a value was put into {at.words}", {"value": held})


async def _type_keys(
    executor: Executor, action: Type, at: Location, text: str, is_secret: bool, last_key: str | None = None
) -> Location:
    """Types key by key, then presses `last_key`; returns where: a page may redraw a field when it is clicked."""
    if at.mark is not None and at.locator is not None:
        if at.mark.kind != "field" and at.mark.role not in _TEXT_ROLES:
            raise Refused("unsupported", f"{at.words} is not a field; text cannot be typed into it.")
        if at.mark.state.readonly:
            raise Refused("disabled", f"{at.words} is read-only.")
        at = await _click_into_field(executor, at, action)
    else:
        at = await executor.click(at, Click(target=action.target))
        await executor.must_not_focus_other_field(at)
    if at.mark is not None and at.mark.tag == "input":
        text = " ".join(text.splitlines())  # a line break would submit the form
    executor.note_input(f"keys were sent to {at.words}", at)
    async with executor.guard_keys(at):
        await _send_keys(executor, action, at, text, is_secret)
        if last_key:
            await _press_at_end(executor, at, last_key)
    return at


async def _press_at_end(executor: Executor, at: Location, key: str) -> None:
    await executor.must_keep_focus(at, f"the text was typed, {key} was not pressed")
    await executor.page.keyboard.press(key)


async def _send_keys(executor: Executor, action: Type, at: Location, text: str, is_secret: bool) -> None:
    keyboard = executor.page.keyboard
    if action.clear:
        await keyboard.press("ControlOrMeta+a")
        if not text:
            await keyboard.press("Delete")
    else:
        await keyboard.press(_TO_THE_END)
    if is_secret:
        # All at once, so that no script can take the focus halfway through.
        await executor.must_keep_focus(at, "nothing was typed")
        await keyboard.insert_text(text)
        return
    await keyboard.type(text[:1])
    if text[1:]:
        if at.mark is None:
            # The first key opens a field over the cell of a drawn grid; the next one must wait for it.
            quiet = executor.settings.quiet_s
            await settle(executor.tabs, quiet, executor.deadline_s, at_least_s=quiet)
        await executor.must_keep_focus(at, "only the first character was typed")
    await keyboard.type(text[1:_TYPED_KEYS])
    if text[_TYPED_KEYS:]:
        await keyboard.insert_text(text[_TYPED_KEYS:])


async def _click_into_field(executor: Executor, at: Location, action: Type) -> Location:
    """Clicks a field and returns where. A field that moves away as it takes the focus counts as focused too.

    Raises:
        Refused: the field did not take the focus.
    """
    refused: Refused | None = None
    try:
        at = await executor.click(at, Click(target=action.target))
    except Refused as refusal:
        refused = refusal
    assert at.mark is not None
    now = executor.seen.observation.mark(at.mark.number) or at.mark
    if await executor.has_focus(now):
        await executor.must_be_unchanged(now)
        return at
    raise refused or Refused("changed", f"{at.words} did not take the focus when it was clicked; nothing was typed.")


async def _press_to_value(executor: Executor, at: Location, wanted: str) -> None:
    """Brings a custom slider to a value with arrow keys, and reads it back after each."""
    assert at.mark is not None
    now = _slider_value(at.element)
    try:
        goal = float(wanted)
    except ValueError:
        goal = None
    if goal is None or now is None:
        raise Refused("unsupported", f'{at.words} exposes no number to set to "{safe_line(wanted, 40)}". Drag it.')
    await executor.focus(at)
    executor.note_input(f"arrow keys were sent to {at.words}", at)
    async with executor.guard_keys(at):
        await _press_arrows(executor, at, now, goal)


async def _press_arrows(executor: Executor, at: Location, now: float, goal: float) -> None:
    assert at.mark is not None
    keys, pressed = list(_ARROWS), 0
    while now != goal and pressed < _MOST_KEYS:
        await executor.page.keyboard.press(keys[0][goal < now])
        pressed += 1
        element = await executor.recheck(at.mark, in_place=True)
        if element and (change := element.difference) and not _differs_by_numbers(change):
            raise ContextChanged(change, at.words)
        before, reached = now, _slider_value(element)
        if reached is None or (goal - before) * (goal - reached) < 0:
            raise Refused("not_an_option", f"{at.words} goes from {before:g} to {reached}, past {goal:g}.")
        now = reached
        if now == before and pressed == 1 and len(keys) > 1:
            keys.pop(0)
            pressed = 0
        elif now == before:
            raise Refused("not_an_option", f"{at.words} stays at {now:g} when its keys are pressed. Drag it instead.")
    if now != goal:
        raise Refused("not_an_option", f"{at.words} is at {now:g} after {_MOST_KEYS} keys; {goal:g} is too far.")


def _differs_by_numbers(change: ContextDifference) -> bool:
    """Whether only numbers changed, as the number beside a slider does when its keys are pressed."""
    return _DIGITS.sub("", change.then) == _DIGITS.sub("", change.now)


def _exceeded_range(state: MarkState, value: str) -> str:
    """A slider's range, as `from 0 to 100`, if the value lies outside; empty if it does not or no range is known."""
    try:
        least, most, wanted = float(state.minimum or ""), float(state.maximum or ""), float(value)
    except ValueError:
        return ""
    return f"from {least:g} to {most:g}" if wanted < least or wanted > most else ""


def _slider_value(element: LiveElement | None) -> float | None:
    """The slider's current number; None if it exposes none."""
    try:
        return float((element and element.value_now) or "")
    except ValueError:
        return None


def _insert_secrets(executor: Executor, text: str, at: Location) -> tuple[str, bool]:
    """The text with secrets in place of their names, and whether it contains any."""
    by_name = {secret.name: secret for secret in executor.secrets}
    host = host_of(at.frame.url if at.frame else executor.page.url)
    is_secret = False
    for name in _SECRET.findall(text):
        if at.mark is None:
            raise Refused("blocked", f"The secret {name} may only be typed into a marked field, which is masked.")
        secret = by_name.get(name)
        if secret is None:
            raise Refused("blocked", f"There is no secret {name}; the secrets are: {', '.join(by_name) or 'none'}.")
        if not host_policy.host_matches(host, secret.hosts or executor.policy.start_hosts):
            raise Refused("blocked", f"The secret {name} may not be typed on {host or 'this page'}.")
        if secret.fields and at.mark.state.input_type not in secret.fields:
            raise Refused("blocked", f"The secret {name} may not be typed into {at.words}.")
        text = text.replace(f"<secret:{name}>", totp.current_text(secret))
        is_secret = True
    return text, is_secret
