"""Whether a text holds another one as whole words and numbers: `Subscribed` is not in *Unsubscribed*, nor 49 in *149*.

The page is asked the same by `shows_text.js`.
"""

from __future__ import annotations

import re
import unicodedata

_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]"
)
"""Letters at which words do not end: Thai, Lao, Tibetan, Burmese, Khmer, Korean, Japanese and Chinese."""
_BEFORE_NUMBER = re.compile(r"\d[.,'’٫٬]?$|(?<![^\W_])(?<!\))[-−–]$")
_AFTER_NUMBER = re.compile(r"[.,'’٫٬]?\d|[-−](?!\w)")


def has_whole_words(text: str, wanted: str) -> bool:
    """Whether a text holds all of the wanted words, in order, and none of them as a part of a longer word or number."""
    said, sought = (" ".join(unicodedata.normalize("NFC", each).split()).casefold() for each in (text, wanted))
    places = (found.start() for found in re.finditer(f"(?={re.escape(sought)})", said))
    return any(not _goes_on(said[:at], sought, said[at + len(sought) :]) for at in places)


def _goes_on(before: str, sought: str, after: str) -> bool:
    """Whether a word or a number goes on at either end of what was sought."""
    if sought[:1].isdigit() and _BEFORE_NUMBER.search(before):
        return True
    if sought[-1:].isdigit() and _AFTER_NUMBER.match(after):
        return True
    return _is_within_word(before[-1:], sought[:1]) or _is_within_word(sought[-1:], after[:1])


def _is_within_word(one: str, other: str) -> bool:
    return one.isalpha() and other.isalpha() and not (_UNSPACED.match(one) or _UNSPACED.match(other))
