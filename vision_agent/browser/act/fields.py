"""Fills fields and controls: text, values, ticks, files and keys. Their values are read back afterwards.

The only module of this package that sees the value of a secret, on its way into a field.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import totp
from vision_agent.actions import Check, Click, Press, Set, Type, Upload, chord_keys
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.effect import tick_state
from vision_agent.browser.act.held import held_keys, stay_held
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.key_focus import (
    focus_of_keys,
    has_focus,
    must_act_on_same_choice,
    must_keep_focus,
    must_not_focus_other_field,
    must_press_same,
    must_take_keys,
    take_focus,
)
from vision_agent.browser.act.select_field_text import select_field_text
from vision_agent.browser.act.set_directly import perform_directly, set_directly
from vision_agent.browser.act.slider import exceeded_range, move_slider
from vision_agent.browser.locate.drawn_target import must_be_element, must_not_be_grid
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.network import host_policy
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.observation import Mark
from vision_agent.policy.text_origin import copies
from vision_agent.text.escape import safe_line
from vision_agent.text.same_value import numbers_meant
from vision_agent.text.urls import origin_of
from vision_agent.types import Secret

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
_TYPED_KEYS = 300
"""Characters typed key by key; the rest of a longer text is inserted at once."""
_PASSES_ON_S, _ASK_EVERY_S = 1.0, 0.02
"""How long the box of a code may take to pass the focus on to the next one, and how often that is asked."""
_NUMERIC = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")
_TYPED_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_SHORT_COLOUR = re.compile(r"#([0-9a-fA-F]{3})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2}(?::\d{2})?)(?:\s*([aApP])\.?[mM]\.?)?")
_CHOOSE_INSTEAD = (
    ": it takes no text. If a click on it opens a calendar or a list, select the choice in it by its name."
)
_PRESSED_BY_SPACE = ("button", "toggle")
_ENTER = frozenset({"Enter", "NumpadEnter"})
_IN_FIELDS = frozenset({"Space", " ", "Delete", "Backspace"})
"""Keys that edit the text of a field, and press or delete elsewhere."""
_SECRET = re.compile(r"<secret:([\w.-]+)>")
_PRIVATE = re.compile(r"<private:[\w-]+>")


async def type_text(sender: InputSender, action: Type) -> Attempt:
    """Types into a field, or at a point that takes the focus."""
    at = await sender.aim(action.target, may_move=True)
    text, is_secret = _insert_secrets(sender, action.text, at)
    remark = ""
    if is_secret and at.mark is not None:
        sender.observer.masked_keys.add(at.mark.key)
    expected = text
    if at.mark is not None and at.mark.state.input_type in _FORMS:
        expected = await _fill(at, text, sender)
        if action.submit:
            async with sender.guard_keys(at):
                await _press_at_end(sender, at, "Enter")
    else:
        at, remark = await _type_keys(sender, action, at, text, is_secret, "Enter" if action.submit else None)
    shown = action.text if len(action.text) <= 60 else action.text[:59] + "…"
    held = None if is_secret or remark else expected
    drawn = text if at.mark is None and at.under is not None and not is_secret else ""
    return Attempt(
        f'Typed "{safe_line(shown, 60)}" into {at.words}{remark}',
        at,
        expected=held,
        replaces=action.clear and not action.submit,  # a form that was sent may empty or fill its fields
        may_go_on=True,
        drawn_text=drawn,
    )


async def set_value(sender: InputSender, action: Set) -> Attempt:
    """Sets a control to a value: at once if the browser can, a slider by keys or the pointer, a field by typing.

    Raises:
        Refused: the value does not fit the control, or the control does not reach it.
    """
    must_be_element(action.mark, sender.seen, "Click it, drag it, or type into it")
    at = await sender.aim(action.mark, may_move=True)
    assert at.mark is not None
    expected = action.value
    if at.mark.state.input_type in _FORMS:
        expected = await _fill(at, action.value, sender)
    elif at.mark.role in ("slider", "spinbutton") and at.mark.tag != "input":
        return await move_slider(sender, at, action.value)
    elif at.mark.kind != "field":
        words = f"{at.words} exposes no value to set. Type, drag it, or press ArrowRight on it."
        raise Refused("unsupported", words)
    else:
        typing = Type(target=action.mark, text=action.value)
        # Many fields take a value only on blur; an editor writes a tab.
        last_key = None if at.mark.is_drawn_editor else "Tab"
        at, _ = await _type_keys(sender, typing, at, action.value, False, last_key, must_replace=True)
    return Attempt(f'Set {at.words} to "{safe_line(action.value, 60)}"', at, expected=expected, replaces=True)


async def check(sender: InputSender, action: Check) -> Attempt:
    """Ticks or unticks a control with a click; sends nothing if it already is as wanted.

    Raises:
        Refused: it has no ticked state, or is a radio button, which cannot be unticked.
    """
    must_be_element(action.mark, sender.seen, "Click it, and see how it looks then")
    at = await sender.aim(action.mark, may_move=True)
    assert at.mark is not None
    now = tick_state(at.element)
    if now is None:
        raise Refused("unsupported", f"{at.words} cannot be ticked: it has no checked state. Click it.")
    wanted, word = str(action.checked).lower(), "ticked" if action.checked else "unticked"
    if now == wanted:
        return Attempt(f"{at.words} is {word} already", at, is_already_so=True)
    if not action.checked and at.mark.role == "radio":
        raise Refused("unsupported", f"{at.words} is a radio button; tick another one of its group instead.")
    at, became = await _click_to_tick(sender, at, action.mark, wanted)
    if now == "mixed" and became not in (wanted, now, None):
        # Most boxes that are ticked in part become ticked first, whatever was wanted.
        again = await sender.aim(action.mark, may_move=True)
        at, became = await _click_to_tick(sender, again, action.mark, wanted)
    now = became
    words = word.capitalize() if now == wanted else "Clicked"
    return Attempt(f"{words} {at.words}", at, wants_ticked=action.checked, was_ticked=now == wanted)


async def _click_to_tick(sender: InputSender, at: Location, number: int, wanted: str) -> tuple[Location, str | None]:
    """Clicks a control; returns where, and the state it has once it is as wanted or has had time to be."""
    mark = at.mark
    assert mark is not None
    at = await sender.click(at, Click(target=number))
    until = time.monotonic() + sender.settings.quiet_s * 4
    while (now := tick_state(await sender.recheck(mark))) not in (wanted, None) and time.monotonic() < until:
        continue
    return at, now


async def upload(sender: InputSender, action: Upload) -> Attempt:
    """Gives files of the task to a file field, or to the file chooser that a click on the mark opens.

    Raises:
        Refused: a file is not one of the task's, or no file chooser opened.
    """
    unknown = [name for name in action.files if name not in sender.files]
    if unknown:
        files = ", ".join(sender.files)
        offered = f"the task's files are {files}" if files else "the task has no files (--file gives it one)"
        raise Refused("blocked", f"{', '.join(unknown)} may not be uploaded; {offered}.")
    paths = [sender.files[name] for name in action.files]
    if missing := [str(path) for path in paths if not path.is_file()]:
        raise Refused("unsupported", f"{', '.join(missing)} no longer exists, so nothing was uploaded.")
    must_be_element(action.mark, sender.seen)
    at = await sender.aim(action.mark, may_move=True)
    assert at.mark is not None
    digests = await asyncio.to_thread(_digests, paths)
    if at.locator is not None and at.mark.state.input_type == "file":
        assert at.frame is not None
        takes = await overlay_calls.fields.file_field(at.frame, sender.deadline_s, at.mark.key)
        _must_take_files(at, len(paths), folder=takes.folder, multiple=takes.multiple)
        given = at.locator.set_input_files(paths, timeout=sender.timeout_ms)
        await perform_directly(sender, given, f"files were given to {at.words}", at)
    else:
        sender.tabs.expects_files = True
        try:
            async with sender.page.expect_file_chooser(timeout=sender.timeout_ms) as asked:
                at = await sender.click(at, Click(target=action.mark))
            chooser = await asked.value
        except PlaywrightTimeout:
            raise Refused(
                "unsupported", f"{at.words} was clicked and opened no file chooser; find the file field."
            ) from None
        finally:
            sender.tabs.expects_files = False
        is_folder = await chooser.element.get_attribute("webkitdirectory") is not None
        _must_take_files(at, len(paths), folder=is_folder, multiple=chooser.is_multiple())
        await chooser.set_files(paths, timeout=sender.timeout_ms)
    later = await asyncio.to_thread(lambda: [_digest(path) for path in paths])
    files = ", ".join(map(_given_words, paths, digests, later))
    return Attempt(f"Gave {files} to {at.words}", at, needs_no_effect=True)


def _must_take_files(at: Location, many: int, *, folder: bool, multiple: bool) -> None:
    """Checks that a field takes so many files.

    Raises:
        Refused: it does not.
    """
    if folder:
        words = f"{at.words} takes a whole folder, which cannot be uploaded; nothing was. Look for a field for files."
        raise Refused("unsupported", words)
    if many > 1 and not multiple:
        raise Refused("unsupported", f"{at.words} takes one file at a time; nothing was uploaded.")


def _digests(paths: Sequence[Path]) -> list[str]:
    """The SHA-256 of files that are about to be given.

    Raises:
        Refused: one cannot be read.
    """
    digests = [_digest(path) for path in paths]
    if unread := [path.name for path, digest in zip(paths, digests, strict=True) if digest is None]:
        raise Refused("unsupported", f"{', '.join(unread)} cannot be read, so nothing was uploaded.")
    return [digest for digest in digests if digest is not None]


def _digest(path: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _given_words(path: Path, digest: str, later: str | None) -> str:
    """A file that was given, with what it held before, and whether it holds that still: pages read files later."""
    since = ""
    if later != digest:
        since = "; the file is gone since" if later is None else "; the file has changed since"
    return f"{path.name} (sha256 {digest[:12]}…{since})"


async def press(sender: InputSender, action: Press) -> Attempt:
    """Presses keys where the focus is, or on a target that is focused first."""
    at = None
    if action.target is not None:
        must_not_be_grid(action.target, sender.seen)
        at = await sender.locate(action.target)
        await take_focus(sender, at)
    elif sender.focused_mark is not None:
        await must_take_keys(sender, sender.focused_mark)
    focused = at.mark if at else sender.focused_mark
    if at is None and sender.seen.risks:
        await must_act_on_same_choice(sender)
    _must_not_press_on_release(action, focused)
    if focused is not None and focused.state.masked and copies(action):
        words = f"{capitalised(mark_words(focused))} holds a hidden value, which is not copied"
        raise Refused("blocked", f"{words}. Type it by its name where it is needed.")
    sender.note_input(f"{action.keys} was pressed", at)
    is_enter = bool(_ENTER & {*chord_keys(action.keys)})
    repeats = action.count > 1 and _acts_on_focus(action, focused)
    guarded = at or (_where_focused(sender, focused, repeats=repeats) if focused and (is_enter or repeats) else None)
    before = await focus_of_keys(sender, guarded) if repeats else None
    try:
        async with sender.guard_keys(guarded, action.lasts_s, repeats=repeats):
            for done in range(action.count):
                if done and before is not None:
                    so_far = f"{action.keys} was pressed {done} of {action.count} times"
                    await must_press_same(sender, focused, guarded, before, so_far)
                await _press_once(sender, action)
    except PlaywrightError as error:
        if "Unknown key" not in error.message:
            raise
        sender.sent_inputs.pop()
        raise Refused(
            "unsupported", f'There is no key "{safe_line(action.keys, 40)}"; try Enter, Tab, ArrowDown, Control+a.'
        ) from error
    times = f" {action.count} times" if action.count > 1 else ""
    times += f" for {action.seconds:g} s" if action.seconds else ""
    verb = "Held" if action.seconds else "Pressed"
    where = f" in {at.words}" if at else ""
    if at is None and focused is not None and focused.kind != "field":
        where = f" on {mark_words(focused)}, which had the focus"
    return Attempt(f"{verb} {action.keys}{times}{where}", at)


def _acts_on_focus(action: Press, mark: Mark | None) -> bool:
    """Whether a key presses or deletes what has the focus, so that pressed again it may do that to something else."""
    keys, is_field = {*chord_keys(action.keys)}, mark is not None and mark.kind == "field"
    return bool(keys & (_ENTER if is_field else _ENTER | _IN_FIELDS))


def _where_focused(sender: InputSender, mark: Mark, *, repeats: bool) -> Location | None:
    """The location of a mark that has the focus, for keys only; None if its frame is not known."""
    owner = sender.seen.scan.owner(mark.key)
    if owner is None or not (repeats or mark.kind in ("field", "toggle")):
        return None
    return Location(words=mark_words(mark), point=mark.point, rung=1, mark=mark, frame=owner.frame)


def _must_not_press_on_release(action: Press, mark: Mark | None) -> None:
    """Checks that no held key would press a button when it is released: the button may say something else by then.

    Raises:
        Refused: it would.
    """
    is_pressed = mark is not None and mark.kind in _PRESSED_BY_SPACE
    if action.seconds is None or mark is None or not is_pressed or not {"Space", " "} & {*chord_keys(action.keys)}:
        return
    words = f"{mark_words(mark)} has the focus and would be pressed when {action.keys} is released"
    raise Refused(
        "unsupported", f"{words}, so it was not held. Click what should get the key, or hold the mark itself."
    )


async def _press_once(sender: InputSender, action: Press) -> None:
    page, deadline_s = sender.page, sender.deadline_s
    if action.seconds is None:
        await page.keyboard.press(action.keys)
        return
    async with AsyncExitStack() as down:
        with sender.noting_hold(action.seconds):
            await down.enter_async_context(held_keys(page, chord_keys(action.keys), deadline_s))
            await stay_held(page, action.keys, action.seconds, deadline_s)


async def _fill(at: Location, value: str, sender: InputSender) -> str:
    """Fills a field at once and returns the value in the field's form. A value that the field cannot
    hold would empty it, so that is checked first.
    """
    assert at.mark is not None
    assert at.frame is not None
    kind, value = at.mark.state.input_type or "", value.strip()
    held = _in_form(kind, value)
    if value:
        held = await _must_fit(at, kind, value, held, sender)
    if at.element and at.element.state.readonly:
        raise Refused("disabled", f"{at.words} is read-only.")
    await set_directly(sender, at, f"a value was put into {at.words}", {"value": held})
    return held


async def _must_fit(at: Location, kind: str, value: str, held: str, sender: InputSender) -> str:
    """The value as the field holds it.

    Raises:
        Refused: it cannot hold it.
    """
    assert at.mark is not None
    assert at.frame is not None
    said = f'"{safe_line(value, 60)}"'
    if kind == "range" and (goes := exceeded_range(at.mark.state, value)):
        raise Refused("not_an_option", f"{at.words} goes {goes}; {safe_line(value, 40)} is out of range.")
    fit = await overlay_calls.fields.fit_value(at.frame, sender.deadline_s, at.mark.key, kind, held)
    if fit is None:
        raise Refused("gone", f"{at.words} is gone from the page, so no value was set. Look again.")
    is_held = fit.becomes.lower() == held.lower() or (kind == "range" and _NUMERIC.fullmatch(value) is not None)
    if not is_held:
        raise Refused("unsupported", f"{at.words} does not accept {said}; it expects a value like {_FORMS[kind]}.")
    if kind == "range" and float(fit.becomes) != float(value):
        raise Refused("not_an_option", f"{at.words} cannot hold {said}; it would become {fit.becomes}.")
    if fit.is_out_of_range:
        ends = [f"{word} {end}" for word, end in (("from", fit.least), ("to", fit.most)) if end]
        raise Refused("not_an_option", f"{at.words} goes {' '.join(ends)}; {said} is out of range.")
    if fit.is_between_steps:
        raise Refused("not_an_option", f"{at.words} cannot hold {said}; its step is {fit.step}.")
    return fit.becomes if kind == "range" else held


def _in_form(kind: str, value: str) -> str:
    """A value as a field of this kind takes it, if the way it is written has only one meaning."""
    if kind == "color":
        short = _SHORT_COLOUR.fullmatch(value)
        return "#" + "".join(digit * 2 for digit in short[1].lower()) if short else value.lower()
    if kind == "datetime-local":
        return re.sub(r"(?<=\d) +(?=\d)", "T", value)
    if kind == "time" and (clock := _CLOCK.fullmatch(value)):
        hour, half = int(clock[1]), (clock[3] or "").lower()
        if half and not 1 <= hour <= 12:
            return value
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        return f"{hour:02}:{clock[2]}"
    return value


async def _type_keys(
    sender: InputSender,
    action: Type,
    at: Location,
    text: str,
    is_secret: bool,
    last_key: str | None,
    *,
    must_replace: bool = False,
) -> tuple[Location, str]:
    """Types key by key, then presses `last_key`; returns where, as a page may redraw a field when it is clicked, and a
    remark if the text does not replace what was there.
    """
    if at.mark is not None and at.locator is not None:
        if at.mark.kind != "field" and at.mark.role not in _TEXT_ROLES:
            hint = " Double-click it if that opens a field." if at.mark.role == "gridcell" else ""
            raise Refused("unsupported", f"{at.words} is not a field; text cannot be typed into it.{hint}")
        if at.mark.state.readonly:
            raise Refused("disabled", f"{at.words} is read-only{_CHOOSE_INSTEAD}")
        if action.clear and at.mark.tag == "input" and at.mark.state.input_type == "number":
            _must_be_plain_number(at, text, is_secret=is_secret)
        at = await _click_into_field(sender, at, action)
    else:
        at = await sender.click(at, Click(target=action.target))
        await must_not_focus_other_field(sender, at)
    if at.mark is not None and at.mark.tag == "input":
        text = " ".join(text.splitlines())  # a line break would submit the form
    async with sender.guard_keys(at):
        remark = await _prepare(sender, action, at, text, must_replace=must_replace)
        await _send_keys(sender, at, text, is_secret)
        if last_key:
            await _press_at_end(sender, at, last_key)
    return at, remark


def _must_be_plain_number(at: Location, text: str, *, is_secret: bool) -> None:
    """Checks that a field for numbers takes a text as it is: others lose their signs, as 12,50 that becomes 1250.

    Raises:
        Refused: it does not.
    """
    bare = re.sub(r"\s", "", text)
    if not bare or _TYPED_NUMBER.fullmatch(bare):
        return
    said = "what should be typed" if is_secret else f'"{safe_line(text, 40)}"'
    meant = sorted({f"{number:f}" for number in numbers_meant(text)}, key=len)
    forms = " or ".join(f'"{each}"' for each in meant) if meant and not is_secret else 'it like "12.50"'
    raise Refused(
        "unsupported", f"{at.words} takes a number and may misread {said}, so nothing was typed. Write {forms}."
    )


async def _prepare(sender: InputSender, action: Type, at: Location, text: str, *, must_replace: bool) -> str:
    """Selects the content of a field, or puts the caret at its end; returns a remark if no text field takes the keys.

    Raises:
        Refused: the text was to be removed, or must be replaced, and cannot be.
    """
    is_removal = action.clear and not text
    or_nothing = not (must_replace or is_removal)
    focus = await select_field_text(sender, at, or_nothing=or_nothing, to_end=not action.clear)
    if is_removal:
        await sender.page.keyboard.press("Delete")
    if focus.selects != "nothing":
        return ""
    if focus.words and at.mark is not None:
        return ", at the caret; what was there stays"
    return ", where no text field has the focus, so nothing was selected first" if action.clear else ""


async def _press_at_end(sender: InputSender, at: Location, key: str) -> None:
    await must_keep_focus(sender, at, f"the text was typed, {key} was not pressed")
    await sender.page.keyboard.press(key)


async def _send_keys(sender: InputSender, at: Location, text: str, is_secret: bool) -> None:
    keyboard = sender.page.keyboard
    if is_secret:
        await _insert_secret(sender, at, text)
        return
    await keyboard.type(text[:1])
    if text[1:]:
        if at.mark is None:
            # The first key opens a field over the cell of a drawn grid; the next one must wait for it.
            quiet = sender.settings.quiet_s
            await settle(sender.tabs, quiet, sender.deadline_s, input_at=time.monotonic())
        if at.mark is None or at.mark.tag != "input":  # the boxes of a code pass it on; the guard stops all else
            await must_keep_focus(sender, at, "only the first character was typed")
    await keyboard.type(text[1:_TYPED_KEYS])
    if text[_TYPED_KEYS:]:
        await keyboard.insert_text(text[_TYPED_KEYS:])


async def _insert_secret(sender: InputSender, at: Location, text: str) -> None:
    """Types a secret all at once, at the same moment as its field is checked. A key would go to whatever has the focus
    when it arrives, and that may be a frame of another site.
    """
    await must_keep_focus(sender, at, "nothing was typed")
    assert at.mark is not None
    assert at.frame is not None
    ask = partial(
        overlay_calls.guards.insert_guarded, at.frame, sender.deadline_s, at.mark.key, at.mark.state.input_type
    )
    came = await ask(text)
    if not came.boxes:
        raise Refused(
            "changed", f"{at.words} did not take the secret: it lost the focus or changed. Nothing was typed."
        )
    until = time.monotonic() + _PASSES_ON_S
    while came.left and time.monotonic() < until:
        sender.observer.masked_keys.update(came.boxes)
        await asyncio.sleep(_ASK_EVERY_S)
        more = await ask(text[-came.left :], goes_on=True)
        came = more if more.boxes else came
    sender.observer.masked_keys.update(came.boxes)
    if came.left:
        taken = len(text) - came.left
        raise Refused("changed", f"{at.words} took {taken} of {len(text)} characters, and no box beside it the rest.")


async def _click_into_field(sender: InputSender, at: Location, action: Type) -> Location:
    """Clicks a field and returns where. A field that moves away as it takes the focus counts as focused too.

    Raises:
        Refused: the field did not take the focus.
    """
    refused: Refused | None = None
    try:
        at = await sender.click(at, Click(target=action.target))
    except Refused as refusal:
        refused = refusal
    assert at.mark is not None
    now = sender.seen.observation.mark(at.mark.number) or at.mark
    if await has_focus(sender, now):
        await sender.must_be_unchanged(now)
        return at
    raise refused or Refused("changed", f"{at.words} did not take the focus when it was clicked; nothing was typed.")


def _fields_hint(secret: Secret) -> str:
    if secret.fields:
        return f" It is for fields of type {', '.join(secret.fields)}."
    option = f"--secret-field {secret.name}=text"
    return f" A password is for password fields, unless the task names other types of fields for it, as {option} does."


def _why_elsewhere(secret: Secret, origin: str, sender: InputSender) -> str:
    """The page on which a secret may not be typed, and where it may."""
    known = ", ".join(secret.origins) or sender.policy.start_origin
    if known:
        return f"{origin or 'this page'}: it is for {known}"
    return (
        f"{origin or 'this page'}: the run began at no web address, so it has no origin. Serve the page, or name the "
        "secret's origins (--secret-origin)"
    )


def _insert_secrets(sender: InputSender, text: str, at: Location) -> tuple[str, bool]:
    """The text with secrets in place of their names, and whether it contains any."""
    by_name = {secret.name: secret for secret in sender.secrets}
    origin = origin_of(at.frame.url if at.frame else sender.page.url)
    is_secret = False
    if shown := _PRIVATE.search(text):
        named = shown.group().replace("<private:", "<secret:")
        given = named.removeprefix("<secret:").removesuffix(">") in by_name
        way = f"write {named}" if given else "type the value"
        raise Refused("blocked", f"{shown.group()} stands for private data, which is not recorded: {way}.")
    for name in _SECRET.findall(text):
        if at.mark is None:
            raise Refused("blocked", f"The secret {name} may only be typed into a marked field, which is masked.")
        secret = by_name.get(name)
        if secret is None:
            raise Refused("blocked", f"There is no secret {name}; the secrets are: {', '.join(by_name) or 'none'}.")
        if not host_policy.origin_matches(origin, secret.origins, sender.policy.start_origin):
            raise Refused("blocked", f"The secret {name} may not be typed on {_why_elsewhere(secret, origin, sender)}.")
        if not secret.may_be_typed_into(at.mark.state.input_type):
            raise Refused("blocked", f"The secret {name} may not be typed into {at.words}.{_fields_hint(secret)}")
        text = text.replace(f"<secret:{name}>", totp.current_text(secret))
        is_secret = True
    return text, is_secret
