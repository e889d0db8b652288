"""Keeps the values of a table apart from the words of the step line that they stand in.

A value may read like a part of a line: `Ann within 2 s`, `[3]`, `Bob with Shift held`. So it goes into the line between
signs that nobody sees and that no value has, and while the line is read, one letter stands for it.
"""

from __future__ import annotations

import re
from itertools import islice

# First strong isolate, which is for such texts, and a word joiner, so that no text from elsewhere has the same.
_BEGIN, _END = "\u2068\u2060", "\u2060\u2069"
_APART = re.compile(f"{_BEGIN}(.*?){_END}", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = range(0x100000, 0x10FFFE)
LETTER = f"[{chr(_LETTERS[0])}-{chr(_LETTERS[-1])}]"
"""Matches the letter that stands for a value. It is private, so it is no digit, word, space or sign of a line."""


def set_apart(value: str) -> str:
    """The value as it goes into a step line: between its signs, and escaped for a reader that does not know them."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f"{_BEGIN}{escaped}{_END}"


def without_signs(text: str) -> str:
    """The text without the signs around values, also where they are escaped as JSON does it."""
    for sign in (_BEGIN, _END):
        text = text.replace(sign, "").replace("".join(f"\\u{ord(each):04x}" for each in sign), "")
    return text


def with_letters(line: str) -> tuple[str, dict[int, str]]:
    """The line with a letter in place of each value, and the values by these letters, as `str.translate` takes them."""
    found = _APART.findall(line)
    letters = list(islice((chr(each) for each in _LETTERS if chr(each) not in line), len(found)))
    values = {ord(letter): _ESCAPED.sub(r"\1", value) for letter, value in zip(letters, found, strict=True)}
    following = iter(letters)
    return _APART.sub(lambda _: next(following), line), values
