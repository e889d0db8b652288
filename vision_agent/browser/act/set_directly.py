"""Sets values, options and files directly, without the pointer and without keys."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.identify import identify
from vision_agent.browser.locate.location import Location
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.types import Refusal

_NOT_SET: Mapping[str, tuple[Refusal, str]] = {
    "gone": ("gone", "{} is gone from the page, so no value was set. Look again."),
    "disabled": ("disabled", "{} is disabled. Something else must be done first."),
    "malformed": ("not_an_option", "{} does not take this value; it would become another."),
    "no_option": ("not_an_option", "{} no longer offers this option. Look again."),
}


async def perform_directly(sender: InputSender, doing: Awaitable[object], words: str, at: Location) -> None:
    """Awaits input that needs no pointer and no keys, and notes that it was sent, or may have been."""
    try:
        await doing
    except PlaywrightError as error:
        if overlay.is_browser_gone(error) or "performing" in error.message:
            sender.note_input(words, at)
        raise
    sender.note_input(words, at)


async def set_directly(sender: InputSender, at: Location, words: str, what: Mapping[str, str | Sequence[str]]) -> bool:
    """Whether a `value` was set, or `options` were chosen: not if the list already was as wanted. Notes what it sent.

    The target must still be the same element in the same row. With `change`, a list keeps its other options.

    Raises:
        Refused: the target or the words beside it have changed, or it does not take such a value.
    """
    assert at.mark is not None
    assert at.frame is not None
    assert at.element is not None
    expected, fingerprint = sender.seen.expectation(at.mark), at.element.fingerprint
    for attempt in range(2):
        more = (at.mark.key, at.mark.kind, fingerprint, expected, what)
        try:
            answer = await overlay_calls.fields.set_value(at.frame, sender.deadline_s, *more)
        except FrameSilent:
            sender.note_input(words, at)
            raise
        if not answer.why_not:
            sender.note_input(words, at)
            return True
        if answer.why_not == "as_wanted":
            return False
        if answer.was_focused and not attempt:
            sender.note_input(f"{at.words} got the focus", at)
        if answer.difference is not None:
            raise ContextChanged(answer.difference, at.words)
        if answer.why_not == "changed":
            _, now = await identify(at.mark, sender.seen, sender.deadline_s, pointed=True)
            fingerprint = now.fingerprint  # some fields have a longer name while they have the focus
            continue
        refusal, sentence = _NOT_SET[answer.why_not]
        raise Refused(refusal, sentence.format(at.words))
    raise Refused("changed", f"{at.words} keeps changing, so no value was set.")
