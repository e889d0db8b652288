"""What tells a mark from its like: the words beside it and the heading over it, as `row_context.js` finds them.

Knows what the page side says of a place, and how a sentence tells that it changed; nothing of how that is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vision_agent.browser.listing import plain
from vision_agent.browser.refusal import Refused

Place = Mapping[str, Any]
"""Where a mark stands: `row_context.js` has its fields. It goes back to the page as it came, to be compared there."""

_LONGEST = 60


class Beside(NamedTuple):
    """What a person reads around a mark."""

    words: str
    heading: str

    @property
    def says(self) -> str:
        """The words, or where there are none, the heading."""
        return self.words or self.heading


def beside(raw: Mapping[str, Any]) -> Beside:
    """What stands around a mark as the overlay found it; where its own document says nothing, around its frame."""
    for place in (raw.get("place"), raw.get("outer")):
        words = place["words"] if place and place["how"] != "head" else ""
        if place and (words or place["heading"]):
            return Beside(words, place["heading"])
    return Beside("", "")


class ContextChanged(Refused):
    """The element is what it was, but what stands beside it or over it says something else: it may be another's."""

    @classmethod
    def between(cls, then: Beside, now: Beside, words: str) -> ContextChanged:
        """For what was drawn anew in the same place."""
        part = "words" if then.words != now.words else "heading"
        return cls({"part": part, "then": getattr(then, part), "now": getattr(now, part)}, words)

    def __init__(self, held: Mapping[str, Any], words: str) -> None:
        self.then, _ = _what_differs(held)
        self.where = "beside" if held["part"] == "words" else "over"
        changed = change_of(held, words)
        super().__init__("changed", f"{changed[0].upper()}{changed[1:]}. Look again before acting on it.")


def change_of(held: Mapping[str, Any], words: str) -> str:
    """What changed, as a clause: `the words beside mark 1 (button "Delete") changed from "Ann" to "Bob"`."""
    then, now = _what_differs(held)
    part = "words beside" if held["part"] == "words" else "heading over"
    return f"the {part} {words} changed from {_quoted(then)} to {_quoted(now)}"


def _quoted(text: str) -> str:
    return f'"{plain(text, _LONGEST)}"' if text else "nothing"


def _what_differs(held: Mapping[str, Any]) -> tuple[str, str]:
    """The text then and now without the words with which both begin and end; whole where that leaves nothing of one."""
    old, new = str(held["then"]).split(), str(held["now"]).split()
    at, shortest = 0, min(len(old), len(new))
    while at < shortest - 1 and old[at] == new[at]:
        at += 1
    left = shortest - at
    end = 0
    while end < left - 1 and old[-1 - end] == new[-1 - end]:
        end += 1
    if at and not (_has_letters(old[at]) and _has_letters(old[at - 1])):
        at -= 1  # `Order 1001` says more than the number
    elif end and not _has_letters(" ".join(old[at : len(old) - end])):
        end -= 1
    return " ".join(old[at : len(old) - end]), " ".join(new[at : len(new) - end])


def _has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)
