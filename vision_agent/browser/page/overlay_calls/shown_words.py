"""Every word that a frame shows, at one time and later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playwright.async_api import Frame

from vision_agent.browser.page.frame_place import FramePlace, main_frame_place
from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import Json, spot_of
from vision_agent.geometry import Box
from vision_agent.observation import MarkKey


@dataclass(frozen=True, slots=True)
class ShownWord:
    """A visible word, and the page boxes that it is drawn in, one for each line."""

    text: str
    boxes: tuple[Box, ...]
    field: MarkKey | None
    """The field whose value it is."""


@dataclass(frozen=True, slots=True)
class ShownState:
    """What a frame showed at one time after it was scanned."""

    words: tuple[ShownWord, ...]
    """All its words, or those in a part of it that changed."""
    has_only_moved: bool
    """Whether they are the words of the state before, at other places."""


@dataclass(frozen=True, slots=True)
class LiveWords:
    """Every word that a frame shows, for a picture of the live view."""

    token: str
    place: FramePlace
    words: tuple[ShownWord, ...]
    veiled: tuple[Box, ...]
    """Page boxes of fields that hide their letters at other times."""


@dataclass(frozen=True, slots=True)
class LaterWords:
    """What a frame has shown since `live_words`."""

    token: str
    states: tuple[ShownState, ...] | None
    """None if that was too much to keep, or nothing was watched."""
    unread: tuple[Box, ...]
    """See `ChangesSinceScan`."""
    veiled: tuple[Box, ...]
    """See `LiveWords`."""


async def live_words(frame: Frame, deadline_s: float, place: FramePlace | None) -> LiveWords:
    """Every word that a frame shows; what it shows later is kept until `later_words`. `place`: None for the page."""
    answer = await ask(frame, "live_words", deadline_s)
    at = place or main_frame_place(spot_of(answer["zoom"]))
    return LiveWords(answer["token"], at, shown_words(answer["words"], at), word_boxes(answer["veiled"], at))


async def later_words(frame: Frame, deadline_s: float, words: tuple[ShownWord, ...], place: FramePlace) -> LaterWords:
    """What a frame has shown since `live_words` returned these words."""
    answer = await ask(frame, "live_words_since", deadline_s)
    told = answer["words"]
    if told is None:
        return LaterWords(answer["token"], None, (), ())
    unread, veiled = word_boxes(told["unread"], place), word_boxes(answer["veiled"], place)
    return LaterWords(answer["token"], shown_states(told, words, place), unread, veiled)


def shown_words(answer: Json | None, at: FramePlace) -> tuple[ShownWord, ...]:
    """The words in an answer; none if they were not asked for."""
    if answer is None:
        return ()
    return tuple(
        ShownWord(text, word_boxes(rects, at), MarkKey(key) if key else None)
        for text, rects, key in zip(answer["texts"], answer["rects"], answer["keys"], strict=True)
    )


def word_boxes(rects: Sequence[float], at: FramePlace) -> tuple[Box, ...]:
    """The page boxes of rectangles that follow each other in one list."""
    return tuple(at.box_to_page(rects[i : i + 4]) for i in range(0, len(rects), 4))


def shown_states(answer: Json, before: Sequence[ShownWord], place: FramePlace) -> tuple[ShownState, ...] | None:
    """What was shown after these words; None if that was too much to keep."""
    if answer["missed"]:
        return None
    found, words = list[ShownState](), list(before)
    for state in answer["states"]:
        if state["words"] is not None:
            words = list(shown_words(state["words"], place))
        for at, rects in state["moved"]:
            words[at] = replace(words[at], boxes=word_boxes(rects, place))
        found.append(ShownState(tuple(words), state["words"] is None))
    return tuple(found)
