"""Locates text to select: the points where it begins and ends."""

from __future__ import annotations

from dataclasses import replace

from vision_agent.browser.locate.click_point import choose_click_point
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, obstacle_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay, protocol
from vision_agent.browser.refusal import Refused
from vision_agent.escape import safe_line


async def locate_text(
    first: str, last: str, seen: LiveObservation, deadline_s: float
) -> tuple[Location, Location, str]:
    """Where a text begins and where it ends, and the text itself.

    Raises:
        Refused: it does not show, shows twice, cannot be reached, or lies in an element that reacts to a press.
    """
    words = f'the text "{safe_line(first, 60)}"' + (f' to "{safe_line(last, 60)}"' if last != first else "")
    frames = [each for each in seen.scan.frames if not (each.frame.is_detached() or overlay.is_silent(each.frame))]
    answers = [(each, await protocol.find_text(each.frame, deadline_s, first, last)) for each in frames]
    count = sum(answer.count for _, answer in answers)
    if count != 1:
        why = f"shows {count} times; begin with more of its words" if count else "does not show as written"
        raise Refused("ambiguous" if count else "gone", f"{words} {why}.")
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
