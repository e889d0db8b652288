"""Fields and controls: text, values, ticks, files and keys. What they hold afterwards is read back.

The only place where the value of a secret is known to the browser room, and only on its way into a field.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import codes
from vision_agent.actions import Check, Click, Press, Set, Type, Upload
from vision_agent.browser import gate, overlay
from vision_agent.browser.effect import Done, ticked
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Answer, Located
from vision_agent.browser.refusal import Refused
from vision_agent.browser.settle import settle
from vision_agent.browser.within import must_be_one_thing
from vision_agent.types import MarkState

_FORMS = {
    "date": "2026-02-03",
    "time": "14:30",
    "datetime-local": "2026-02-03T14:30",
    "month": "2026-02",
    "week": "2026-W06",
    "color": "#ff8800",
    "range": "42",
}
"""Input types that take a value at once, each with how it is written."""
_TEXT_ROLES = ("textbox", "searchbox", "combobox", "generic", "spinbutton")
_TO_THE_END = "Meta+ArrowDown" if sys.platform == "darwin" else "Control+End"
_TYPED_KEYS = 300
"""Characters typed key by key; longer text is inserted at once after them."""
_ARROWS = (("ArrowUp", "ArrowDown"), ("ArrowRight", "ArrowLeft"))
"""Up is more wherever one reads from; some sliders know only right and left."""
_MOST_KEYS = 400
"""Pressed on a slider to bring it to a value."""
_SECRET = re.compile(r"<secret:([\w.-]+)>")


async def type_text(hands: Hands, action: Type) -> Done:
    """Types into a field or at a point, where that takes the focus."""
    at = await hands.aim(action.target)
    text, is_secret = _revealed(hands, action.text, at)
    if is_secret and at.mark is not None:
        hands.eye.masked_keys.add(at.mark.key)
    if at.mark is not None and at.mark.state.input_type in _FORMS:
        await _fill(at, text, hands)
    else:
        at = await _type_keys(hands, action, at, text, is_secret)
    if action.submit:
        await hands.must_keep_focus(at, "the text was typed, Enter was not pressed")
        await hands.page.keyboard.press("Enter")
    shown = action.text if len(action.text) <= 60 else action.text[:59] + "…"
    return Done(f'Typed "{plain(shown, 60)}" into {at.words}', at, expected=None if is_secret else text)


async def set_value(hands: Hands, action: Set) -> Done:
    """Sets what holds a value: at once where the browser can, a slider by its keys, a field by typing.

    Raises:
        Refused: the value does not fit the control, or its keys do not bring it there.
    """
    hands.must_be_element(action.mark)
    at = await hands.aim(action.mark)
    assert at.mark is not None
    if at.mark.state.input_type in _FORMS:
        await _fill(at, action.value, hands)
    elif at.mark.role in ("slider", "spinbutton") and at.mark.tag != "input":
        await _press_to(hands, at, action.value)
    elif at.mark.kind != "field":
        words = f"{at.words} says of no value that it holds one. Type, drag it, or press ArrowRight on it."
        raise Refused("unsupported", words)
    else:
        at = await _type_keys(hands, Type(target=action.mark, text=action.value), at, action.value, is_secret=False)
        await hands.must_keep_focus(at, "the value was typed, but not confirmed")
        await hands.page.keyboard.press("Tab")  # many take a value only when they are left
    return Done(f'Set {at.words} to "{plain(action.value, 60)}"', at, expected=action.value)


async def check(hands: Hands, action: Check) -> Done:
    """Ticks or unticks by a click, which is not sent where it is so already.

    Raises:
        Refused: it has no ticked state, or is a radio button that would have to be unticked.
    """
    hands.must_be_element(action.mark)
    at = await hands.aim(action.mark)
    assert at.mark is not None
    now = ticked(at.answer)
    if now is None:
        raise Refused("unsupported", f"{at.words} cannot be ticked: it says nothing of being ticked or not. Click it.")
    wanted, word = str(action.checked).lower(), "ticked" if action.checked else "unticked"
    if now == wanted:
        return Done(f"{at.words} is {word} already", at, is_so_already=True)
    if not action.checked and at.mark.role == "radio":
        raise Refused("unsupported", f"{at.words} is a radio button; tick another one of its group instead.")
    mark = at.mark
    at = await hands.click(at, Click(target=action.mark))
    until = time.monotonic() + hands.settings.quiet_s * 4
    while (now := ticked(await hands.recheck(mark))) not in (wanted, None) and time.monotonic() < until:
        continue
    words = word.capitalize() if now == wanted else "Clicked"
    return Done(f"{words} {at.words}", at, ticked=action.checked)


async def upload(hands: Hands, action: Upload) -> Done:
    """Gives files of the task to a file field, or to the chooser that a click on something else opens.

    Raises:
        Refused: a file is none of the task's, or nothing asked for files.
    """
    unknown = [name for name in action.files if name not in hands.files]
    if unknown:
        offered = ", ".join(hands.files) or "none"
        raise Refused("blocked", f"{', '.join(unknown)} may not be uploaded; the task's files are {offered}.")
    paths = [hands.files[name] for name in action.files]
    if missing := [str(path) for path in paths if not path.is_file()]:
        raise Refused("unsupported", f"{', '.join(missing)} is no file any more, so nothing was uploaded.")
    hands.must_be_element(action.mark)
    at = await hands.aim(action.mark)
    assert at.mark is not None
    if at.locator is not None and at.mark.state.input_type == "file":
        given = at.locator.set_input_files(paths, timeout=hands.timeout_ms)
        await hands.at_once(given, f"files were given to {at.words}", at)
    else:
        hands.tabs.expects_files = True
        try:
            async with hands.page.expect_file_chooser(timeout=hands.timeout_ms) as asked:
                at = await hands.click(at, Click(target=action.mark))
            chooser = await asked.value
        except PlaywrightTimeout:
            raise Refused(
                "unsupported", f"{at.words} was clicked and asked for no file; find the file field."
            ) from None
        finally:
            hands.tabs.expects_files = False
        if len(paths) > 1 and not chooser.is_multiple():
            raise Refused("unsupported", f"{at.words} takes one file at a time; nothing was uploaded.")
        await chooser.set_files(paths, timeout=hands.timeout_ms)
    told = ", ".join(f"{path.name} (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}…)" for path in paths)
    return Done(f"Gave {told} to {at.words}", at, moved=True)


async def press(hands: Hands, action: Press) -> Done:
    """Presses keys where the focus is, or in a target that gets it first."""
    at = None
    if action.target is not None:
        must_be_one_thing(action.target, hands.seen)
        at = await hands.locate(action.target)
        await hands.focus(at)
    hands.note(f"{action.keys} was pressed", at)
    try:
        async with hands.keys_guarded(at):
            for _ in range(action.count):
                await hands.page.keyboard.press(action.keys)
    except PlaywrightError as error:
        if "Unknown key" not in error.message:
            raise
        hands.sent.pop()
        raise Refused(
            "unsupported", f'There is no key "{plain(action.keys, 40)}"; try Enter, Tab, ArrowDown, Control+a.'
        ) from error
    times = f" {action.count} times" if action.count > 1 else ""
    return Done(f"Pressed {action.keys}{times}" + (f" in {at.words}" if at else ""), at)


async def _fill(at: Located, value: str, hands: Hands) -> None:
    """Puts in a value at once; one that the field cannot hold would empty it, so that is asked before."""
    assert at.locator is not None
    assert at.mark is not None
    kind, value = at.mark.state.input_type or "", value.strip()
    answer = await overlay.ask(hands.page.main_frame, "fits", hands.deadline_s, type=kind, value=value)
    if value and not answer["fits"]:
        words = f'{at.words} does not take "{plain(value, 60)}"; it is written like {_FORMS[kind]}.'
        raise Refused("unsupported", words)
    if kind == "range" and (goes := _stops_before(at.mark.state, value)):
        raise Refused("not_an_option", f"{at.words} goes {goes}; {plain(value, 40)} is beyond.")
    if at.answer and at.answer["state"].get("readonly"):
        raise Refused("disabled", f"{at.words} is read-only.")
    await hands.at_once(at.locator.fill(value, timeout=hands.timeout_ms), f"a value was put into {at.words}", at)


async def _type_keys(hands: Hands, action: Type, at: Located, text: str, is_secret: bool) -> Located:
    """Where it was typed in the end: a page may draw a field anew when it is clicked."""
    if at.mark is not None and at.locator is not None:
        if at.mark.kind != "field" and at.mark.role not in _TEXT_ROLES:
            raise Refused("unsupported", f"{at.words} is not a field; text cannot be typed into it.")
        if at.mark.state.readonly:
            raise Refused("disabled", f"{at.words} is read-only.")
        at = await _clicked_into(hands, at, action)
    else:
        at = await hands.click(at, Click(target=action.target))
        await hands.must_have_left_fields(at)
    if at.mark is not None and at.mark.tag == "input":
        text = " ".join(text.splitlines())  # a line break would submit the form
    hands.note(f"keys were sent to {at.words}", at)
    async with hands.keys_guarded(at):
        await _send_keys(hands, action, at, text, is_secret)
    return at


async def _send_keys(hands: Hands, action: Type, at: Located, text: str, is_secret: bool) -> None:
    keyboard = hands.page.keyboard
    if action.clear:
        await keyboard.press("ControlOrMeta+a")
        if not text:
            await keyboard.press("Delete")
    else:
        await keyboard.press(_TO_THE_END)
    if is_secret:
        # All at once, so that no script can take the focus in the middle of it.
        await hands.must_keep_focus(at, "nothing was typed")
        await keyboard.insert_text(text)
        return
    await keyboard.type(text[:1])
    if text[1:]:
        if at.mark is None:
            # The first key opens a field over the cell of a drawn grid, and the next must not come before it.
            quiet = hands.settings.quiet_s
            await settle(hands.tabs, quiet, hands.deadline_s, at_least_s=quiet)
        await hands.must_keep_focus(at, "only the first character was typed")
    await keyboard.type(text[1:_TYPED_KEYS])
    if text[_TYPED_KEYS:]:
        await keyboard.insert_text(text[_TYPED_KEYS:])


async def _clicked_into(hands: Hands, at: Located, action: Type) -> Located:
    """The field with the focus; one that moves away as it takes it has it, though the click ended elsewhere.

    Raises:
        Refused: it did not take the focus.
    """
    refused: Refused | None = None
    try:
        at = await hands.click(at, Click(target=action.target))
    except Refused as refusal:
        refused = refusal
    assert at.mark is not None
    now = hands.seen.observation.mark(at.mark.number) or at.mark
    if await hands.has_focus(now):
        await hands.must_still_be(now)
        return at
    raise refused or Refused("changed", f"{at.words} did not take the focus when it was clicked; nothing was typed.")


async def _press_to(hands: Hands, at: Located, wanted: str) -> None:
    """Brings a slider that is made of other elements to a value, arrow by arrow, reading back what each did."""
    assert at.mark is not None
    now = _number(at.answer)
    try:
        goal = float(wanted)
    except ValueError:
        goal = None
    if goal is None or now is None:
        raise Refused("unsupported", f'{at.words} says no number that could become "{plain(wanted, 40)}". Drag it.')
    await hands.focus(at)
    hands.note(f"arrow keys were sent to {at.words}", at)
    keys, pressed = list(_ARROWS), 0
    while now != goal and pressed < _MOST_KEYS:
        await hands.page.keyboard.press(keys[0][goal < now])
        pressed += 1
        before, now = now, _number(await hands.recheck(at.mark))
        if now is None or (goal - before) * (goal - now) < 0:
            raise Refused("not_an_option", f"{at.words} goes from {before:g} to {now}, past {goal:g}.")
        if now == before and pressed == 1 and len(keys) > 1:
            keys.pop(0)
            pressed = 0
        elif now == before:
            raise Refused("not_an_option", f"{at.words} stays at {now:g} when its keys are pressed. Drag it instead.")
    if now != goal:
        raise Refused("not_an_option", f"{at.words} is at {now:g} after {_MOST_KEYS} keys; {goal:g} is too far.")


def _stops_before(state: MarkState, value: str) -> str:
    """From where to where a slider goes, where that leaves a value out; empty where it does not, or says no numbers."""
    try:
        least, most, wanted = float(state.minimum or ""), float(state.maximum or ""), float(value)
    except ValueError:
        return ""
    return f"from {least:g} to {most:g}" if wanted < least or wanted > most else ""


def _number(answer: Answer | None) -> float | None:
    """The number that a slider says it is at."""
    try:
        return float((answer or {}).get("now") or "")
    except ValueError:
        return None


def _revealed(hands: Hands, text: str, at: Located) -> tuple[str, bool]:
    """The text with secrets in place of their names, and whether there was one."""
    by_name = {secret.name: secret for secret in hands.secrets}
    host = urlsplit(at.frame.url if at.frame else hands.page.url).hostname or ""
    is_secret = False
    for name in _SECRET.findall(text):
        if at.mark is None:
            raise Refused("blocked", f"The secret {name} is only typed into a marked field, where it can be masked.")
        secret = by_name.get(name)
        if secret is None:
            raise Refused("blocked", f"There is no secret called {name}; there are {', '.join(by_name) or 'none'}.")
        if not gate.host_matches(host, secret.hosts or hands.policy.start_hosts):
            raise Refused("blocked", f"The secret {name} may not be typed on {host or 'this page'}.")
        if secret.fields and at.mark.state.input_type not in secret.fields:
            raise Refused("blocked", f"The secret {name} may not be typed into {at.words}.")
        text = text.replace(f"<secret:{name}>", codes.typed(secret))
        is_secret = True
    return text, is_secret
