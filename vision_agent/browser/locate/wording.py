"""Names marks, elements, points and obstacles in sentences."""

from __future__ import annotations

from vision_agent.actions import Point
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page.overlay_calls.answer_parts import Obstacle
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line

_WAYS_ROUND = {
    **dict.fromkeys(("dialog", "alertdialog"), "Close that first."),
    **dict.fromkeys(("input", "textarea", "select", "textbox", "combobox"), "Fill that in first, or press Escape."),
}
"""What to do about an obstacle, by its role or tag."""


def mark_words(mark: Mark) -> str:
    """A mark in a sentence: `mark 7 (button "Pay")`, or `the button "Pay"` for one without a number."""
    what = element_words(mark.role, mark.tag, mark.name, mark.shows)
    return f"mark {mark.label_text} ({what})" if mark.number else f"the {what}"


def element_words(role: str, tag: str, name: str, shows: str = "") -> str:
    """An element in a sentence: `button "Pay"`, or `button "Close", which shows "Pay"` where the two disagree."""
    what = role if role != "generic" else tag
    named = f'{what} "{safe_line(name, 60)}"' if name else what
    return f'{named}, which shows "{safe_line(shows, 60)}"' if shows else named


def point_words(point: Point) -> str:
    """A point of the picture in a sentence: `the point (412, 233)`."""
    return f"the point ({point.x:g}, {point.y:g})"


def covered_sentence(words: str, obstacle: Obstacle | None, seen: LiveObservation) -> str:
    """A sentence that says what covers a target."""
    if obstacle is None:
        return f"{words} cannot be reached by a click where it is."
    tag = obstacle.words.removeprefix("<").partition(">")[0]
    hint = _WAYS_ROUND.get(tag, "Scroll, or deal with that first.")
    return f"{words} is covered by {obstacle_words(obstacle, seen)}. {hint}"


def obstacle_words(obstacle: Obstacle, seen: LiveObservation) -> str:
    """An obstacle in a sentence, with the label of its mark if it has one: `<dialog> "Cookies" [3]`."""
    label = next((mark.label_text for mark in seen.observation.marks if mark.key == obstacle.key), None)
    return safe_line(obstacle.words, 100) + (f" [{label}]" if label else "")
