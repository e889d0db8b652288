"""Whether a text holds another one as whole words and numbers: `Subscribed` is not in *Unsubscribed*, nor 49 in *149*.

`shows_text.js` asks the same of a page, by the same rules; one table of cases tests both.
"""

from __future__ import annotations

import re
import unicodedata

_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u19e0-\u19ff"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
    "\u3005\u3007\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\uff66-\uff9d\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters at which words do not end: Thai, Lao, Tibetan, Burmese, Khmer, Korean, Japanese and Chinese."""
_CURRENCY = r"[$¢-¥֏؋߾߿৲৳৻૱௹฿៛₠-⃏꠸﷼﹩＄￠￡￥￦]"
_BEGINS_WITH_NUMBER = re.compile(rf"{_CURRENCY}?\s?\d")
_DIGIT_BEFORE = re.compile(r"\d[.,'’٫٬]?$")
"""A digit, also before what stands between the digits of a number."""
_DIGIT_AFTER = re.compile(r"[.,'’٫٬]?\d")
_SIGN_BEFORE = re.compile(rf"(?<![^\W_])(?<!\))[-−–﹣－]{_CURRENCY}?$")
"""A sign; between words or numbers it is a dash."""
_SIGN_AFTER = re.compile(r"[-−](?![^\W_])")
_GROUP_SPACES = "\u00a0\u202f\u2009"
"""Spaces that stand between the digits of one number."""
_BEGINS_WITH_GROUP = re.compile(r"\d{3}(?!\d)")


def has_whole_words(text: str, wanted: str, *, has_plain_spaces: bool = False) -> bool:
    """Whether a text holds all of the wanted words, in order, and none of them as a part of a longer word or number.

    `has_plain_spaces`: all spaces of the text were made plain ones, so that any of them may be inside a number.
    """
    kept = _with_one_space(text).casefold()
    if has_plain_spaces:
        kept = kept.replace(" ", _GROUP_SPACES[0])
    searched, sought = (re.sub(r"\s", " ", each) for each in (kept, _with_one_space(wanted).casefold()))
    places = (found.start() for found in re.finditer(f"(?={re.escape(sought)})", searched))
    return any(
        not (_goes_on_before(kept[:at], sought) or _goes_on_after(kept[at + len(sought) :], sought)) for at in places
    )


def _with_one_space(text: str) -> str:
    """The text with runs of spaces as one, which stays as it is where it is only one."""
    spaced = re.sub(r"\s+", lambda run: run[0] if run[0] in _GROUP_SPACES else " ", text.strip())
    return unicodedata.normalize("NFC", spaced)


def _goes_on_before(before: str, sought: str) -> bool:
    """Whether what stands before the sought words is the beginning of the first word or number, or its sign."""
    if _BEGINS_WITH_NUMBER.match(sought) and _SIGN_BEFORE.search(before):
        return True
    if sought[:1].isdecimal():
        return bool(_DIGIT_BEFORE.search(before)) or (
            _ends_with_digit(before[:-1]) and before[-1:] in _GROUP_SPACES and bool(_BEGINS_WITH_GROUP.match(sought))
        )
    return sought[:1].isalpha() and _joins_letters(before[-1:], sought[:1])


def _goes_on_after(after: str, sought: str) -> bool:
    """Whether what stands after the sought words is the end of the last word or number."""
    if _ends_with_digit(sought):
        is_group = after[:1] in _GROUP_SPACES and _BEGINS_WITH_GROUP.match(after[1:])
        return bool(after) and bool(_DIGIT_AFTER.match(after) or is_group or _SIGN_AFTER.match(after))
    return _joins_letters(sought[-1:], after[:1])


def _ends_with_digit(text: str) -> bool:
    return text[-1:].isdecimal()


def _joins_letters(one: str, other: str) -> bool:
    """Whether two letters that stand side by side, or a letter and its accent, are in one word."""
    return all(each != "" and _is_letter(each) and not _UNSPACED.match(each) for each in (one, other))


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LM"
