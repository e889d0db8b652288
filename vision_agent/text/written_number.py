"""Reads the number in a text as people write it: `1,299.00`, `−5`, `€ 12,50`, `3 million`.

A text that may mean several numbers is none: a wrong number is worse than an error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

_MINUS = "-−–﹣－"
_SPACES = "\u00a0\u2009\u202f"
"""Those that pages put between groups of three digits."""
_TOKEN = re.compile(rf"\d(?:[\d.,'’{_SPACES}]*\d)?")
_GROUPS = re.compile(r"\d{1,3}(\D\d{3})+")
_TIMES = {"thousand": 3, "tsd": 3, "million": 6, "millions": 6, "mio": 6, "mn": 6, "billion": 9, "mrd": 9, "bn": 9}
_AFTER = re.compile(rf"(?P<gap>[ {_SPACES}]?)(?P<word>[^\W\d_]*)")
_LETTERS = {"k", "m", "b", "t"}
"""What may stand for thousands and more; apart from the number, and not beside money, it may be a unit."""


def decimal_sign(texts: Iterable[str]) -> str | None:
    """The sign before decimals in texts that are written alike, such as those of a column; None if that is unknown."""
    shown = {sign for text in texts for each in _TOKEN.findall(text) if (sign := _sign_shown(each)) is not None}
    return shown.pop() if len(shown) == 1 else None


def number_in(text: str, decimal: str | None = None) -> Decimal:
    """The only number in a text. `decimal`: the sign before decimals in texts beside it, if that is known.

    Raises:
        ValueError: there is none, there are several, or it may mean several; the message is a clause that says so.
    """
    plain = "".join(each for each in text if unicodedata.category(each) != "Cf").strip()
    found = [*_TOKEN.finditer(plain)]
    if len(found) != 1 or any(unicodedata.category(each) == "No" for each in plain):
        raise ValueError("is not a single number")
    [token] = found
    before, after = plain[: token.start()], plain[token.end() :]
    return _sign(before, after) * _plain_number(token[0], decimal) * _factor(before, after)


def is_plain_number(text: str) -> bool:
    """Whether the text is a number and nothing else."""
    return re.fullmatch(rf"[+{_MINUS}]?{_TOKEN.pattern}", text.strip()) is not None


def _sign(before: str, after: str) -> int:
    if before.startswith("(") and after.rstrip().endswith(")"):
        raise ValueError("may be negative, because it is in brackets")
    if re.match(rf"\s?[{_MINUS}](?!\w)", after):
        raise ValueError("may be negative, because a minus follows it")
    minus = re.search(rf"[{_MINUS}]", before)
    if minus is None:
        return 1
    lead, rest = before[: minus.start()], before[minus.end() :]
    # `−5`, `−€5`, `€ −5`, `- 5`, `Loss −5`; but not `A-5` or `Loss - 5`.
    is_first = not re.search(r"\w", lead) and not re.search(r"[^\W\d_]{4}", rest)
    if is_first or (not rest and lead[-1:].isspace()):
        return -1
    raise ValueError("may be negative or not")


def _factor(before: str, after: str) -> Decimal:
    found = _AFTER.match(after)
    word = found["word"] if found else ""
    if word.casefold() in _TIMES:
        return Decimal(10) ** _TIMES[word.casefold()]
    is_money = any(unicodedata.category(each) == "Sc" for each in before + after)
    if word.casefold() in _LETTERS and (found is None or not found["gap"] or is_money or word in "kK"):
        raise ValueError(f"may be more than it says, because of the {word!r} after it")
    return Decimal(1)


def _sign_shown(token: str) -> str | None:
    """The sign before decimals, as far as the number itself shows it; of `1.234.567` it is a comma."""
    signs = re.findall(r"[.,]", token)
    if not signs:
        return None
    other = "," if signs[-1] == "." else "."
    if len({*signs}) == 2:
        return str(signs[-1]) if signs.count(signs[-1]) == 1 else None
    if len(signs) > 1:
        return other
    whole, part = re.split(r"[.,]", token)
    return str(signs[0]) if len(part) != 3 or len(whole) > 3 or whole.startswith("0") else None


def _plain_number(token: str, decimal: str | None) -> Decimal:
    sign = _sign_shown(token)
    if sign is None and "." in token and decimal is None:
        raise ValueError(f"may be {token.replace('.', '')} or {token.rstrip('0').rstrip('.')}")
    if sign is None:
        sign = decimal or "."
    whole, _, part = token.partition(sign)
    is_grouped = _GROUPS.fullmatch(whole) and len({*re.findall(r"\D", whole)}) == 1
    if not (whole.isdecimal() or is_grouped) or (part and not part.isdecimal()):
        raise ValueError("is not a single number")
    digits = re.sub(r"\D", "", whole)
    return Decimal(f"{digits}.{part}" if part else digits)
