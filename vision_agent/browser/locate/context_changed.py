"""Says in a sentence how the context of a mark changed: the words beside it, the heading over it (`row_context.js`), or
what goes with its press (`beside_fields.js`).

Does not know how these words are found.
"""

from __future__ import annotations

from vision_agent.browser.page.overlay_calls.answer_parts import Beside, ContextDifference
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.text.escape import safe_line

_LONGEST = 60


class ContextChanged(Refused):
    """The element is unchanged, but the words beside or over it differ, so it may belong to another row."""

    @classmethod
    def between(cls, then: Beside, now: Beside, words: str) -> ContextChanged:
        """The refusal for an element that was redrawn in the same place."""
        if then.words != now.words:
            return cls(ContextDifference("words", then.words, now.words), words)
        return cls(ContextDifference("heading", then.heading, now.heading), words)

    def __init__(self, difference: ContextDifference, words: str) -> None:
        self.then, _ = _changed_part(difference)
        self.may_pass = difference.may_pass
        self.where = "over" if difference.part == "heading" else "beside"
        changed = capitalised(describe_change(difference, words))
        super().__init__("changed", f"{changed}. Look again before acting on it.")


def describe_change(difference: ContextDifference, words: str) -> str:
    """What changed, as a clause: `the words beside mark 1 (button "Delete") changed from "Ann" to "Bob"`."""
    if difference.part == "fields":
        return f"what goes with {words} changed from {_quote(difference.then)} to {_quote(difference.now)}"
    then, now = _changed_part(difference)
    part = "words beside" if difference.part == "words" else "heading over"
    return f"the {part} {words} changed from {_quote(then)} to {_quote(now)}"


def _quote(text: str) -> str:
    return f'"{safe_line(text, _LONGEST)}"' if text else "nothing"


def _changed_part(difference: ContextDifference) -> tuple[str, str]:
    """The old and new text without their common first and last words; at least one word of each is kept."""
    old, new = difference.then.split(), difference.now.split()
    at, shortest = 0, min(len(old), len(new))
    while at < shortest - 1 and old[at] == new[at]:
        at += 1
    left = shortest - at
    end = 0
    while end < left - 1 and old[-1 - end] == new[-1 - end]:
        end += 1
    if at and not (_has_letters(old[at]) and _has_letters(old[at - 1])):
        at -= 1  # `Order 1001` says more than the number alone
    elif end and not _has_letters(" ".join(old[at : len(old) - end])):
        end -= 1
    return " ".join(old[at : len(old) - end]), " ".join(new[at : len(new) - end])


def _has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)
