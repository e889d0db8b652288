"""Checks whether the live element of a mark is still the one that was seen.

It is the same as long as its fingerprint and the words beside it are the same; see `row_context.js`.
"""

from __future__ import annotations

import re

from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.wording import element_words, mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import FrameInParent, Scan, ScannedFrame
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.answer_parts import NOTHING_EXPECTED, Expectation
from vision_agent.browser.page.overlay_calls.element import LiveElement, Reveal
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.policy.approval import risks_in
from vision_agent.policy.risk_words import has_amount
from vision_agent.text.escape import safe_line
from vision_agent.types import Risk

_LONGEST_SAID = 80
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
NOT_SHOWN = "{} is no longer visible and could not be scrolled into view."


async def recheck(
    mark: Mark,
    scan: Scan,
    deadline_s: float,
    *,
    reveal: Reveal = False,
    expected: Expectation = NOTHING_EXPECTED,
) -> LiveElement | None:
    """A mark's element as it is now; None if it is gone."""
    owner = scan.owner(mark.key)
    if owner is None or owner.frame.is_detached():
        return None
    return await overlay_calls.element.check(
        owner.frame, deadline_s, mark.key, mark.kind, reveal=reveal, expected=expected
    )


async def identify(
    mark: Mark,
    seen: LiveObservation,
    deadline_s: float,
    *,
    reveal: Reveal = False,
    points: int = 1,
    pointed: bool = False,
) -> tuple[ScannedFrame, LiveElement]:
    """The frame of a mark's live element and the element itself, if it has not changed.

    `pointed`: the pointer is on it, which may have added words to it or beside it.

    Raises:
        Refused: it is gone, has changed, or its row has.
    """
    words = mark_words(mark)
    owner = seen.scan.owner(mark.key)
    if owner is None or owner.frame.is_detached():
        raise Refused("gone", f"{words} is gone: its frame was closed or left.")
    expected = seen.expectation(mark, pointed=pointed)
    try:
        now = await overlay_calls.element.check(
            owner.frame, deadline_s, mark.key, mark.kind, reveal=reveal, points=points, expected=expected
        )
    except FrameSilent:
        if not owner.frame.is_detached():
            raise
        raise Refused("gone", f"{words} is gone: its frame was closed or left.") from None
    if now is None:
        raise Refused("gone", f"{words} is no longer on the page. Look at the new listing.")
    if now.fingerprint != mark.fingerprint and not (pointed and is_only_renamed(mark, now, seen)):
        if not now.is_visible:
            raise Refused("covered", NOT_SHOWN.format(words))  # a hidden element has no name
        what = element_words(now.role, mark.tag, now.name, now.shows)
        if what == element_words(mark.role, mark.tag, mark.name, mark.shows):
            what = f"another {what}: it leads elsewhere, or acts on something else"
        raise Refused("changed", f"{words} has become {what}. Look at the new listing before acting on it.")
    if seen.risks and (added := risks_in(now.says) - risks_in(mark.says) - _risks_of_words(mark)):
        said = f"“{safe_line(now.says, _LONGEST_SAID)}”, which is about another risk: {', '.join(sorted(added))}"
        raise Refused("changed", f"The page now says of {words} {said}. Look at it again before acting on it.")
    if now.difference is not None:
        if not now.is_visible:
            raise Refused("covered", NOT_SHOWN.format(words))  # a hidden element has no position
        raise ContextChanged(now.difference, words)
    for inside in owner.chain():
        await _frame_must_be_same(inside, words, seen, deadline_s, pointed=pointed)
    return owner, now


def is_only_renamed(mark: Mark, now: LiveElement, seen: LiveObservation) -> bool:
    """Whether only the text of an element changed, by added words that name no new risk: `Bob` may become `Bob (open)`.

    A list that re-sorts under the pointer puts other names into the same elements. A field may get a different name on
    focus: how to fill it in, or what is wrong.
    """
    if not now.is_same_except_name or not _risks_of_words(now) <= _risks_of_words(mark):
        return False
    others = [each for each in seen.scan.marks if each.key != mark.key and each.name == now.name]
    if any(each.role == mark.role or each.kind == mark.kind for each in others):
        return False
    if mark.kind == "field":
        return True
    return _contains_in_order(now.name, mark.name) and _contains_in_order(now.shows or mark.shows, mark.shows)


def is_only_counted(mark: Mark, now: LiveElement) -> bool:
    """Whether only numbers in the text of an element changed that are no money: `Add (1)` may become `Add (2)`."""
    texts = (now.name, now.shows)
    is_alike = [*map(_without_numbers, texts)] == [*map(_without_numbers, (mark.name, mark.shows))]
    return now.is_same_except_name and is_alike and not any(map(has_amount, texts))


def _without_numbers(text: str) -> str:
    return _DIGITS.sub("", text)


def is_only_hidden(mark: Mark, now: LiveElement) -> bool:
    """Whether an element only does not show, and so has no name now, but holds the words that name its mark: many pages
    hide what is dragged and carry a copy of it.
    """
    if now.is_visible or now.name or not now.is_same_except_name or not mark.name:
        return False
    return _contains_in_order(now.held_words, mark.name.removesuffix("…"))


def _risks_of_words(element: Mark | LiveElement) -> set[Risk]:
    risks = risks_in(element.name) | risks_in(element.shows)
    if element.role != "link" and (has_amount(element.name) or has_amount(element.shows)):
        risks.add("pay")
    return risks


def _contains_in_order(longer: str, shorter: str) -> bool:
    words = iter(_words(longer))
    return all(word in words for word in _words(shorter))


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation unless it has nothing else."""
    return _WORD.findall(text.casefold()) or text.split()


async def _frame_must_be_same(
    inside: FrameInParent, words: str, seen: LiveObservation, deadline_s: float, *, pointed: bool
) -> None:
    expected = Expectation(inside.element.context, bool(seen.risks), seen.counts_amounts, pointed)
    now = await overlay_calls.element.locate_frame(inside.parent.frame, deadline_s, inside.key, expected)
    if now is not None and now.difference is not None:
        raise ContextChanged(now.difference, f"the frame of {words}")


async def reveal_frames(owner: ScannedFrame, deadline_s: float) -> None:
    """Scrolls all frames around an element into view."""
    for inside in owner.chain():
        await overlay_calls.element.check(inside.parent.frame, deadline_s, inside.key, "frame", reveal=True)
