"""Locates text to select: the points where it begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from vision_agent.browser.locate.click_point import choose_click_point
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, obstacle_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.shown_secrets import Find
from vision_agent.browser.observe.veiled_words import veiled_words
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.frames import ScannedFrame
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line

_WHICH = re.compile(r"(?P<first>[^‹›]+?)\s*‹(?P<around>[^‹›]+)›")


async def locate_text(
    first: str, last: str, seen: LiveObservation, deadline_s: float, find: Find | None
) -> tuple[Location, Location, str]:
    """Where a text begins and where it ends, and the text itself.

    A passage in ‹ › after the first words contains them and says which occurrence is meant, unless the page shows
    exactly that text. No words are found in hidden values; `find` says where those are.

    Raises:
        Refused: it does not appear, appears twice, cannot be reached, or lies in an element that reacts to a press.
    """
    words = f'the text "{safe_line(first, 60)}"' + (f' to "{safe_line(last, 60)}"' if last != first else "")
    frames = [each for each in seen.scan.frames if not (each.frame.is_detached() or overlay.is_silent(each.frame))]
    veiled = [await veiled_words(each.frame, deadline_s, find) for each in frames]

    async def answers_to(
        first: str, last: str, around: str
    ) -> list[tuple[ScannedFrame, overlay_calls.text.TextAnswer]]:
        return [
            (each, await overlay_calls.text.find_text(each.frame, deadline_s, first, last, around, hidden))
            for each, hidden in zip(frames, veiled, strict=True)
        ]

    answers = await answers_to(first, last, "")
    told = _WHICH.fullmatch(first.strip())
    if told and not any(answer.count for _, answer in answers):
        bare, around = told["first"], told["around"]
        answers = await answers_to(bare, bare if last == first else last, around)
    count = sum(answer.count for _, answer in answers)
    if count > 1:
        raise Refused("ambiguous", f"{words} appears {count} times{_places(answers)}")
    if not count:
        raise Refused("gone", f"{words} does not appear as written.")
    owner, text = next((each, answer.found) for each, answer in answers if answer.count)
    if text is None:
        raise Refused("gone", f'"{safe_line(last, 60)}" does not come after "{safe_line(first, 60)}".')
    if text.pressed:
        inside = obstacle_words(text.pressed, seen)
        raise Refused(
            "unsupported", f"{words} is in {inside}, which reacts to a press; drag from point to point there."
        )
    if text.obstacle:
        raise Refused("covered", covered_sentence(words, text.obstacle, seen))
    if not text.is_shown:
        raise Refused("moved", f"{words} does not fit in view; select less of it.")
    begin, end = [await choose_click_point(owner, text.zoom, [spot], words, seen, deadline_s) for spot in text.points]
    place = Location(words=words, point=begin, rung=1, frame=owner.frame, text=text)
    return place, replace(place, point=end), text.text


def _places(answers: Iterable[tuple[object, overlay_calls.text.TextAnswer]]) -> str:
    """The places of a text that appears several times, and how to say which one is meant."""
    places = [f'"{safe_line(place, 100)}"' for _, answer in answers for place in answer.places]
    there = f": {', '.join(places)}" if places else ""
    return f"{there}. Start with more of its words, or add a longer passage around it in ‹ ›."
