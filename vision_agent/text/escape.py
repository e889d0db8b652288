"""Makes text from pages and models safe for one line of a listing, a prompt, a table or a terminal."""

from __future__ import annotations

import json
import re
import unicodedata

_MOST_STACKED = 4
"""The most accents on one letter; Vietnamese and pointed Hebrew need three."""

# Joiners hold emoji and some letters together; next to ASCII they would only disguise `[:]` or `<`.
_STRAY_JOINER = re.compile(r"\u200d+(?=[\ufe0f\u200d]*(?:[\x00-\x7f]|$))|(?<=[\x00-\x7f])[\u200d\ufe0f]+(?!\u20e3)")
_STRAY_NON_JOINER = re.compile(r"(?<![^\W\d_a-zA-Z])\u200c+|\u200c+(?![^\W\d_a-zA-Z])")
_ACCENT = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u20e1-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"((?:{_ACCENT}){{{_MOST_STACKED}}}){_ACCENT}+")

# Invisible letters and symbols that their category does not reveal: fillers, blanks, variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\ufffc\U000e0100-\U000e01ef]"
)

_TERMINAL_OBEYS_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_HARMLESS = re.compile(r"(?:[!-?A-Z\\^-~]+(?: [!-?A-Z\\^-~]+)*)?")
"""Matches ASCII words separated by single spaces, without brackets or `@`."""

# Characters that a reader, unlike a parser, could take for `[:]` or `@frame:`.
_BETWEEN = r"[\s\u0300-\u036f\u20d0-\u20ff]*"
_COLON = "[:\u02d0\u02d1\u02d8\u02f8\u0589\u05c3\u0703\u0704\u1361\u205a\u205d\u2236\u22ee\ua789\ufe13\ufe30\ufe55]"
_OPENING = "[\\[\u2045\u27e6\u2768\u2772\u298b\u298d\u298f\u3010\u3014\u3016\u301a\ufe39\ufe47\ufe5d]"
_CLOSING = "[\\]\u2046\u27e7\u2769\u2773\u298c\u298e\u2990\u3011\u3015\u3017\u301b\ufe3a\ufe48\ufe5e]"
_LIKE_A_MARK = re.compile(f"{_OPENING}{_BETWEEN}{_COLON}{_BETWEEN}{_CLOSING}")
_LIKE_A_FRAME = re.compile(f"[@\ufe6b]{_BETWEEN}frame{_BETWEEN}{_COLON}", re.IGNORECASE)
NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
"""Maps full-width forms to ASCII one to one, so that positions stay the same."""


def safe_line(text: str, longest: int) -> str:
    """The text without anything that breaks, reorders or forges a line or is invisible; longer text is cut with `…`."""
    if len(text) <= longest and _HARMLESS.fullmatch(text):
        return text  # the usual case, in a tenth of the time
    safe = _BLANK.sub("", "".join(_safe(letter) for letter in text))
    safe = _STACKED.sub(r"\1", _STRAY_NON_JOINER.sub("", _STRAY_JOINER.sub("", safe)))
    safe = _replace_forged(_LIKE_A_MARK, "[;]", " ".join(safe.split()))
    safe = _replace_forged(_LIKE_A_FRAME, "@frame;", safe)
    return safe if len(safe) <= longest else _STRAY_JOINER.sub("", safe[: longest - 1]).rstrip() + "…"


def cut_text(text: str, longest: int) -> str:
    """The text, cut with `…` if it is longer than that."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def printable_line(text: str) -> str:
    """The text on one line, with line breaks and unprintable characters replaced by spaces."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def escaped_line(text: str) -> str:
    """The text on one line, with unprintable characters written as escapes."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text.strip())


def terminal_text(text: str) -> str:
    """The text with every character escaped that a terminal obeys or hides, as in JSON; line breaks and tabs stay.

    Escaped are control characters (also ESC and C1), marks of direction, invisible characters, line separators, and
    halves of characters. Characters that join emoji and letters stay.
    """
    if text.isascii() and _TERMINAL_OBEYS_ASCII.search(text) is None:
        return text
    return "".join(json.dumps(each)[1:-1] if _is_obeyed(each) else each for each in text)


def _is_obeyed(letter: str) -> bool:
    if letter in "\n\t\u200c\u200d":
        return False
    return unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def _replace_forged(forged: re.Pattern[str], into: str, text: str) -> str:
    """The text with every match replaced, also where it is written in full-width forms."""
    narrow = text.translate(NARROW)
    for found in reversed(list(forged.finditer(narrow))):
        text = text[: found.start()] + into + text[found.end() :]
    return text


def _safe(letter: str) -> str:
    if letter in "\u200c\u200d\ufe0f":  # they separate letters, join emoji, and select emoji colours
        return letter
    category = unicodedata.category(letter)
    if category == "Zs":
        return " "
    # Cc control, Cf bidi and zero-width, Zl and Zp line breaks, Cs lone surrogates, Co private, Cn unassigned
    return " " if category in ("Cc", "Zl", "Zp") else "" if category in ("Cf", "Cs", "Co", "Cn") else letter
