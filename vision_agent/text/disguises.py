"""Finds given values in a text however they are written there: regrouped, in another case or script, encoded, reversed.

Both the text and the values are reduced to letters and digits, so that whatever separates, accents or disguises them
counts for nothing. Knows neither secrets nor records nor pages.
"""

from __future__ import annotations

import base64
import codecs
import html
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from confusable_homoglyphs import confusables

APART = "\0"
"""No value is found across it; put it between texts that do not belong together."""

FAR = "\x1f"
"""Put it between texts that are far apart on a page: a value that ordinary text may contain by chance is not found
across it."""

_STRONG = 8
"""Letters and digits of a value that never occurs in ordinary text by chance, whatever separates them; with a digit in
it, six are enough. Measured with `tests/benchmarks/bench_disguises.py`."""
_STRONG_WITH_DIGIT = 6
_WEAKEST = 3
"""Below this many letters and digits, a value is found only as it is."""
_WIDEST_GAP = 4
"""Signs between two letters of a value; any amount of white space counts as one, and invisible characters as none."""
_SHORTEST_CODED = 8
"""Letters of an encoded value, which could otherwise be a part of any number or hash."""
_LEFT_OUT = re.compile("…|[.]{2}|[•●∙·*＊■█▪○◦⋆]{2}")
"""What stands for letters that are left out, as in `Tr0ub4••••`; one alone may begin an item of a list."""
_BESIDE = 8
"""Characters beside a value in which these are looked for."""
_MOST, _LEAST_OF_MOST = 0.6, 8
"""Share and letters of a value that identify it where nothing says that more is left out, as in a field that took only
so many. With a letter and a digit, and broken off within a word: or `example.org` would be a part of every address, and
`password` of `password12`. Half is enough beside `…` or `••`, which ordinary text does not put there."""
_MOST_LAYERS = 4
"""How often escapes are resolved: an address in an address in HTML."""


class Found(NamedTuple):
    """Where a value occurs in a text."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class _Needle:
    """One spelling of a value, in letters and digits."""

    text: str
    name: str
    is_strong: bool
    exact: str = ""
    """The value itself, which is found wherever it occurs; empty for a spelling of it."""
    signs: tuple[int, ...] = ()
    """How many signs the value itself has after each of its letters; empty if it has none."""
    can_be_cut: bool = False


class Disguises:
    """Named values, ready to be found; also those of which one end is left out, if at least half of one is left before
    or after `…` or `••`, or most of it stands by itself.
    """

    def __init__(self, values: Sequence[tuple[str, str]]) -> None:
        longest_first = sorted(dict.fromkeys(values), key=lambda each: len(each[1]), reverse=True)
        needles: dict[str, _Needle] = {}
        for name, value in longest_first:
            for needle in _needles(name, value):
                needles.setdefault(needle.text, needle)
        self._words = tuple(each for each in needles.values() if not each.text.isdecimal())
        self._numbers = tuple(each for each in needles.values() if each.text.isdecimal())
        self._plain = tuple((name, value) for name, value in longest_first if value and len(fold(value)) < _WEAKEST)
        self._cut = tuple(each for each in needles.values() if each.can_be_cut)

    def find(self, text: str) -> list[Found]:
        """Where the values occur, from left to right, without overlaps."""
        if not (self._words or self._numbers or self._plain):
            return []
        found: list[Found] = []
        for name, value in self._plain:
            found += [Found(at.start(), at.end(), name) for at in re.finditer(re.escape(value), text)]
        for view in _views(text):
            found += self._in_view(view)
        for needle in self._cut:
            found += _ends_of(needle, text)
        return _without_overlaps(found)

    def _in_view(self, view: _View) -> Iterator[Found]:
        for needles, folded in ((self._words, view.folded), (self._numbers, view.as_number if self._numbers else "")):
            for needle in needles:
                at = folded.find(needle.text)
                while at >= 0:
                    end = at + len(needle.text)
                    if _stands(view, at, end, needle):
                        yield Found(*view.span(at, end), needle.name)
                    at = folded.find(needle.text, at + 1)
        if _CUT in view.folded:
            yield from self._cut_off(view)
        if _LEFT_OUT.search(view.text):
            yield from self._left_over(view)

    def _cut_off(self, view: _View) -> Iterator[Found]:
        """Values of which at least half comes before a `…`."""
        folded, stop = view.folded, view.folded.find(_CUT)
        while stop >= 0:
            for needle in self._cut:
                least = max(_STRONG_WITH_DIGIT, len(needle.text) // 2)
                left = (
                    n for n in range(len(needle.text) - 1, least - 1, -1) if folded.endswith(needle.text[:n], 0, stop)
                )
                length = next(left, 0)
                if length and _stands(view, stop - length, stop, needle):
                    yield Found(*view.span(stop - length, stop), needle.name)
            stop = folded.find(_CUT, stop + 1)

    def _left_over(self, view: _View) -> Iterator[Found]:
        """Values of which at least half comes before signs for what is left out, or after them."""
        for needle in self._cut:
            least = max(_STRONG_WITH_DIGIT, len(needle.text) // 2)
            if least >= len(needle.text):
                continue
            for is_end in (False, True):
                for start, end in _runs(view.folded, needle.text, least, is_end=is_end):
                    first, last = view.within(start, end)
                    own = _own_signs(needle.exact, end - start, is_end=is_end)
                    beside = view.text[max(0, first - _BESIDE) : first] if is_end else view.text[last : last + _BESIDE]
                    if _is_left_out(beside, own, is_end=is_end) and _stands(view, start, end, needle, part=is_end):
                        yield Found(*view.span(start, end), needle.name)


def _own_signs(value: str, letters: int, *, is_end: bool) -> str:
    """The signs of a value after its first letters, or before its last ones."""
    seen, signs = 0, ""
    for each in reversed(value) if is_end else value:
        folded = len(fold(each))
        if seen >= letters and folded:
            break
        signs += each if seen >= letters else ""
        seen += folded
    return signs


def _is_left_out(beside: str, own: str, *, is_end: bool) -> bool:
    """Whether signs for what is left out come next, at once or after signs of the value itself."""
    near = beside[::-1] if is_end else beside
    while own and not near.startswith(own):
        own = own[:-1]
    return any(_LEFT_OUT.match(near, at) for at in range(len(own) + 1))


def _runs(text: str, value: str, least: int, *, is_end: bool) -> Iterator[tuple[int, int]]:
    """Where at least so many letters stand with which a value begins, or ends, each as long as it goes on."""
    part = value[-least:] if is_end else value[:least]
    at = text.find(part)
    while at >= 0:
        start, end = at, at + least
        if is_end:
            while start and end - start < len(value) and text[start - 1] == value[-(end - start) - 1]:
                start -= 1
        else:
            while end < len(text) and end - start < len(value) and text[end] == value[end - start]:
                end += 1
        yield start, end
        at = text.find(part, at + 1)


def _ends_of(needle: _Needle, text: str) -> Iterator[Found]:
    """Where most of a value stands just as it is, though nothing says that the rest is left out."""
    value = needle.exact
    least = max(_LEAST_OF_MOST, math.ceil(_MOST * len(value)))
    if least >= len(value):
        return
    for is_end in (False, True):
        for start, end in _runs(text, value, least, is_end=is_end):
            run, missing = text[start:end], len(value) - (end - start)
            inner = value[missing - 1 : missing + 1] if is_end else value[end - start - 1 : end - start + 1]
            is_within_word = missing > 0 and inner.isalnum()
            if is_within_word and any(map(str.isdigit, run)) and any(map(str.isalpha, run)):
                yield Found(start, end, needle.name)


def fold(text: str) -> str:
    """The letters and digits of a text, in one case and script."""
    return text.translate(_FOLDED)


def _without_overlaps(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and each.start < kept[-1].end:
            if each.end > kept[-1].end:
                kept[-1] = Found(kept[-1].start, each.end, kept[-1].name)
        else:
            kept.append(each)
    return kept


# --- views of a text --------------------------------------------------------------------------------------------------


class _View:
    """A text with some escapes resolved, and where each of its characters is in the original."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]] | None = None) -> None:
        self.text = text
        self._spans = spans
        """None: each character is its own place."""
        self.folded = fold(text)

    @cached_property
    def as_number(self) -> str:
        """The folded text with the letters that look like digits read as these."""
        return self.folded.translate(_LIKE_DIGITS)

    @cached_property
    def _owners(self) -> list[int]:
        """For each folded letter, the index of its character."""
        return [index for index, letter in enumerate(self.text) for _ in letter.translate(_FOLDED)]

    def within(self, start: int, end: int) -> tuple[int, int]:
        """The characters between two folded letters."""
        return self._owners[start], self._owners[end - 1] + 1

    def owners(self, start: int, end: int) -> Sequence[int]:
        """The indices of the characters of folded letters."""
        return self._owners[start:end]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place of folded letters in the original text."""
        first, last = self._owners[start], self._owners[end - 1]
        if self._spans is None:
            return first, last + 1
        return self._spans[first][0], self._spans[last][1]

    def resolved(self, escaped: re.Pattern[str]) -> _View | None:
        """This view with one layer of escapes resolved; None if there are none."""
        if not _MAY_ESCAPE.search(self.text):
            return None
        out: list[str] = []
        spans: list[tuple[int, int]] = []
        done, has_any = 0, False
        for match in escaped.finditer(self.text):
            letters = _resolve(match)
            if letters is None:
                continue
            has_any = True
            self._copy(out, spans, done, match.start())
            place = self._place(match.start(), match.end())
            if len(letters) > 1 and match.end() - match.start() == _URL_BYTE * sum(len(c.encode()) for c in letters):
                at = match.start()
                for letter in letters:
                    width = _URL_BYTE * len(letter.encode())
                    spans.append(self._place(at, at + width))
                    at += width
            else:
                spans += [place] * len(letters)
            out.append(letters)
            done = match.end()
        if not has_any:
            return None
        self._copy(out, spans, done, len(self.text))
        return _View("".join(out), spans)

    def _copy(self, out: list[str], spans: list[tuple[int, int]], start: int, end: int) -> None:
        out.append(self.text[start:end])
        spans += [self._place(at, at + 1) for at in range(start, end)]

    def _place(self, start: int, end: int) -> tuple[int, int]:
        if self._spans is None:
            return start, end
        return self._spans[start][0], self._spans[end - 1][1]


def _views(text: str) -> Iterator[_View]:
    yield _View(text)
    for escaped in (_OCTAL, _STYLED) if _MAY_BE_STYLED.search(text) else (_OCTAL,):
        view = _View(text).resolved(escaped)
        for _ in range(_MOST_LAYERS):
            if view is None:
                break
            yield view
            view = view.resolved(escaped)


def _stands(view: _View, start: int, end: int, needle: _Needle, *, part: bool = False) -> bool:
    """Whether folded letters can be one value: not too far apart and, for a weak one, written so that a person sees it.

    A weak value, such as a PIN of four digits or a common word, must stand alone: as it is, with invisible characters
    in it, or with the same sign between all of its letters and no further letter beyond another such sign. `part`: they
    are the last of its letters.
    """
    text, owners = view.text, view.owners(start, end)
    if needle.exact and text.startswith(needle.exact, owners[0]):
        return True
    gaps = [_gap(text[one + 1 : other]) for one, other in pairwise(owners) if one != other]
    if needle.is_strong:
        # A sign of the value may be separated like its letters, as in `a | - | b`.
        own = needle.signs[len(needle.text) - (end - start) if part else 0 :] or (0,) * len(owners)
        widest = [
            _WIDEST_GAP * (1 + signs) + signs
            for (one, other), signs in zip(pairwise(owners), own, strict=False)
            if one != other
        ]
        return all(len(gap) <= most for gap, most in zip(gaps, widest, strict=True))
    if len(set(gaps)) > 1 or FAR in text[owners[0] : owners[-1]]:
        return False
    gap = gaps[0] if gaps else ""
    before, after = _gap(text[max(0, owners[0] - 8) : owners[0]]), _gap(text[owners[-1] + 1 : owners[-1] + 9])
    if gap and (_spacing_continues(before[::-1], gap[::-1]) or _spacing_continues(after, gap)):
        return False
    return not (before[-1:].isalnum() or after[:1].isalnum())


def _gap(between: str) -> str:
    """What is visible between two letters, with white space as one space."""
    return re.sub(r"\s+", " ", "".join(each for each in between if not _is_unseen(each)))


def _spacing_continues(beside: str, gap: str) -> bool:
    """Whether the same spacing and one more letter follow, as after the 4 in `1 2 3 4 5`."""
    letter, after = beside[len(gap) : len(gap) + 1], beside[len(gap) + 1 : len(gap) + 2]
    return beside.startswith(gap) and letter.isalnum() and not after.isalnum()


def _is_unseen(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cf", "Mn", "Me", "Cc") and letter not in "\t\n\r\0\x1f"


# --- escapes ----------------------------------------------------------------------------------------------------------

_URL_BYTE = 3
_MAY_ESCAPE = re.compile(r"[%&\\=]")
_COMMON = (
    r"(?:%[0-9A-Fa-f]{2})+|(?:=[0-9A-F]{2})+|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});?"
    r"|\\{1,8}(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8}"
)
_OCTAL = re.compile(rf"{_COMMON}|[0-7]{{1,3}})")
_STYLED = re.compile(rf"{_COMMON}|[0-9A-Fa-f]{{1,6}} ?)")
"""As style sheets escape; `\\101` is another letter there than elsewhere."""
_MAY_BE_STYLED = re.compile(r"\\[0-9A-Fa-f]")


def _resolve(match: re.Match[str]) -> str | None:
    """The letters that an escape stands for; None if it stands for none."""
    text = match.group()
    if text[0] in "%=":
        found = unquote_to_bytes(text.replace("=", "%"))
        try:
            return found.decode()
        except UnicodeDecodeError:
            return found.decode("latin-1")
    if text[0] == "&":
        letters = html.unescape(text)
        return None if letters == text else letters
    body = text.lstrip("\\")
    is_octal = match.re is _OCTAL and body[0] in "01234567"
    code = int(body, 8) if is_octal else int(body.strip("uUx{} "), 16)
    return chr(code) if code <= 0x10FFFF else None


# --- spellings of a value ---------------------------------------------------------------------------------------------


def _needles(name: str, value: str) -> Iterator[_Needle]:
    plain = fold(value)
    if len(plain) < _WEAKEST:
        return
    is_strong = len(plain) >= _STRONG or (len(plain) >= _STRONG_WITH_DIGIT and any(map(str.isdigit, value)))
    signs = _signs_after(value)
    yield _Needle(plain, name, is_strong, exact=value, signs=signs, can_be_cut=is_strong)
    if is_strong:
        yield _Needle(plain[::-1], name, is_strong, signs=signs[-2::-1])
        yield _Needle(fold(codecs.encode(value, "rot13")), name, is_strong)
    spellings = dict.fromkeys((value, value.upper(), value.lower(), value[::-1], "".join(filter(str.isalnum, value))))
    written = [each.encode("utf-8", "surrogatepass") for each in spellings]
    written += [value.encode(each, "surrogatepass") for each in ("utf-16-le", "utf-16-be")]
    with suppress(UnicodeEncodeError):  # what `btoa` encodes
        written.append(value.encode("latin-1"))
    codes = [*(code for each in written for code in _codes(each)), *_numbers(value)]
    for code in dict.fromkeys(codes):
        if len(code) >= _SHORTEST_CODED:
            yield _Needle(fold(code), name, is_strong=True)


def _signs_after(value: str) -> tuple[int, ...]:
    """How many signs follow each letter of a value once it is folded."""
    found: list[int] = []
    for letter in value:
        folded = fold(letter)
        found += [0] * len(folded)
        if not folded and found:
            found[-1] += 1
    return tuple(found) if any(found) else ()


def _codes(value: bytes) -> Iterator[str]:
    """A value in hex, and in base32 and base64 wherever it begins there; without letters that hold other bits too."""
    yield value.hex()
    yield "".join(f"x{byte:02x}" for byte in value)
    yield "".join(f"0x{byte:02x}" for byte in value)
    for size, bits, encode in ((5, 5, base64.b32encode), (3, 6, base64.b64encode)):
        for before in range(size):
            whole = encode(bytes(before) + value + bytes(-(before + len(value)) % size)).decode()
            yield whole[-(-before * 8 // bits) : (before + len(value)) * 8 // bits]


def _numbers(value: str) -> Iterator[str]:
    """The numbers of a value's letters, as decimals and in bits."""
    yield "".join(str(ord(each)) for each in value)
    yield "".join(f"{ord(each):08b}" for each in value)


# --- letters ----------------------------------------------------------------------------------------------------------

_CUT = "\1"
"""Stands for `…` in folded text."""
_LIKE_DIGITS = str.maketrans({"o": "0", "i": "1", "l": "1"})
"""Letters that can stand for digits in a number; not for those in a word, or `Passw0rd` would be every `password`."""
_NAMED = re.compile(r"(?:LETTER|DIGIT) ([A-Z]|ZERO|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE)$")
_DIGITS = {"ZERO": "0", "ONE": "1", "TWO": "2", "THREE": "3", "FOUR": "4"}
_DIGITS |= {"FIVE": "5", "SIX": "6", "SEVEN": "7", "EIGHT": "8", "NINE": "9"}


class _Folded(dict[int, str]):
    """What each character is folded to, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _folded(chr(code))
        return folded


def _folded(letter: str) -> str:
    if letter == APART:
        return APART
    if letter == "…":
        return _CUT
    parts = [each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each)]
    latin = "".join(map(_latin, parts)).casefold()
    return "".join(each for each in latin if each.isalnum())


def _latin(letter: str) -> str:
    """The ASCII letter or digit that a letter is, or looks like; else the letter itself."""
    if letter.isascii():
        return letter
    digit = unicodedata.digit(letter, None)
    if digit is not None:
        return str(digit)
    if named := _NAMED.search(unicodedata.name(letter, "")) if not letter.isalpha() or ord(letter) > 0xFFFF else None:
        return _DIGITS.get(named[1], named[1])
    # Unicode lists most look-alikes of capitals only.
    both = (letter, letter.upper())
    alike = [each["c"] for form in both for each in confusables.confusables_data.get(form, ())]
    return next((each for each in alike if len(each) == 1 and each.isascii() and each.isalnum()), letter)


_FOLDED = _Folded()
