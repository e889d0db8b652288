"""Splits a name into words that keep their signs: `C+`, `C-` and `C` are three names, and so are `Zoom +` and `Zoom -`.

Punctuation that a person leaves out when they say a name is no sign: quotes, commas, colons, a dash between two words.
Nor is the asterisk of a required field, which only the caller can tell. Knows text only, no mark and no line.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

DASHES = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
"""Hyphens, minus signs and the dash that stands for them; the long dash `—` only parts words."""
ASTERISKS = "*\u2217\uff0a"
_SIGNS = frozenset(f"{DASHES}{ASTERISKS}+\uff0b±#\uff03%\uff05‰&@=~°′″♯♭")
_AS_DASH = str.maketrans(dict.fromkeys(DASHES, "-") | dict.fromkeys(ASTERISKS, "*"))
_ARROW = re.compile(r"<[-=]+>?|[-=]+>")
"""`->`, `=>` and `<-`, which is no minus."""
_RULE = re.compile(rf"(?<!\S)[{DASHES}=~*]{{2,}}(?!\S)")
"""Signs that only decorate, as in `-- Choose --`."""
_ANGLES = "<>‹›«»|"
"""Symbols only where they are a word of their own: `Next »` and `Previous «`."""
_PARTING = frozenset("-&")
"""Signs that part two words and say nothing: `Rectangle - R`, `Save & exit`."""


class SignedWords(NamedTuple):
    """The words of a name with the signs at them, and its arrows and other pictures."""

    words: tuple[str, ...]
    """Each with its signs, such as `c+`; a sign alone is a word, unless it only parts two."""
    pictures: frozenset[str]
    """What decorates many names: a name may be said without it, but not with another."""


@lru_cache(maxsize=4096)
def signed_words(text: str) -> SignedWords:
    """The words of a name with the signs at them, in one case."""
    words: list[str] = []
    pictures: set[str] = set()
    for chunk in _RULE.sub(" ", _ARROW.sub(" → ", text)).casefold().split():
        pieces = _pieces_of(chunk)
        if not pieces:
            pictures.update(letter for letter in chunk if letter in _ANGLES[:-1])
        for piece in pieces:
            if _kind_of(piece[0]) == "picture":
                pictures.add(piece)
            else:
                words.append(piece.translate(_AS_DASH))
    return SignedWords(tuple(_without_parting(words)), frozenset(pictures))


def is_sign(word: str) -> bool:
    """Whether a word has signs and nothing else."""
    return word != "" and all(_kind_of(letter) == "sign" for letter in word)


def _without_parting(words: list[str]) -> list[str]:
    last = len(words) - 1
    return [
        word
        for at, word in enumerate(words)
        if not (word in _PARTING and 0 < at < last and not is_sign(words[at - 1]) and not is_sign(words[at + 1]))
    ]


def _pieces_of(chunk: str) -> list[str]:
    """The words, signs and pictures in what stands between two spaces; signs stay at the word that they are at."""
    pieces: list[str] = []
    before = ""
    for at, letter in enumerate(chunk):
        kind = _kind_of(letter)
        if kind == "sign" and letter in DASHES and before == "word":
            kind = "" if _kind_of(chunk[at + 1 : at + 2]) == "word" else kind  # `e-mail`
        if kind == "picture" or (kind and not (before and before != "picture" and _is_one(pieces[-1], letter))):
            pieces.append(letter)
        elif kind:
            pieces[-1] += letter
        before = kind
    return pieces


def _is_one(piece: str, letter: str) -> bool:
    """Whether a letter goes on with a piece: signs may stand before or after a word, and the next word begins anew."""
    return _kind_of(letter) == "sign" or is_sign(piece) or _kind_of(piece[-1]) == "word"


def _kind_of(letter: str) -> str:
    """`word`, `sign`, `picture`, or empty for punctuation."""
    if not letter:
        return ""
    if letter.isalnum() or letter == "_":
        return "word"
    category = unicodedata.category(letter)
    if letter in _SIGNS or category == "Sc":
        return "sign"
    if category[0] == "M":
        return "word" if not 0xFE00 <= ord(letter) <= 0xFE0F else ""
    return "picture" if category[0] == "S" and letter not in _ANGLES else ""
