"""Selects the text of what has the focus, so that what is typed replaces it, or puts the caret at its end.

Sends the keys for that only to a text field: a terminal would take them for its shell, a sheet for all of its cells.
"""

from __future__ import annotations

import sys
import time

from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.key_focus import focus_of_keys
from vision_agent.browser.locate.location import Location
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay_calls.fields import Focus
from vision_agent.browser.refusal import Refused

_ALL = "ControlOrMeta+a"
_TO_THE_END = "Meta+ArrowDown" if sys.platform == "darwin" else "Control+End"
_SELECTED_WITHIN_S = 1.0
"""How long an editor may take to select its text; most do it in the next frame."""


async def select_field_text(sender: InputSender, at: Location, *, or_nothing: bool, to_end: bool = False) -> Focus:
    """The element that gets the keys for a target, with its text selected, or with its caret at the end.

    `or_nothing`: an element that is not a text field may be left as it is.

    Raises:
        Refused: it is not a text field, or its editor did not select its text, so typed text would be added to it.
    """
    frame, focus = await focus_of_keys(sender, at)
    if focus.selects == "nothing" and not or_nothing:
        words = f"{at.words} has no text that can be selected, so what is there stays; no key was sent"
        raise Refused("unsupported", f"{words}. Type into it, or press the keys that it knows.")
    sender.note_input(f"keys were sent to {at.words}", at)
    match focus.selects:
        case "own":
            await overlay_calls.fields.select_own_text(frame, sender.deadline_s, end=to_end)
        case "keys" | "drawn":
            await sender.page.keyboard.press(_TO_THE_END if to_end else _ALL)
            if focus.selects == "drawn" and not to_end:
                await _must_be_selected(sender, at)
        case "nothing":
            pass
    return focus


async def _must_be_selected(sender: InputSender, at: Location) -> None:
    until = time.monotonic() + _SELECTED_WITHIN_S
    while not (await focus_of_keys(sender, at))[1].has_selection:
        if time.monotonic() > until:
            raise Refused("unsupported", f"{at.words} did not select its text when it was told to; nothing was typed")
