"""Whether what a field holds means what was typed: `1,234.50 €` is 1234.5, and `1250` is not 12,50.

Knows no fields, only the two texts.
"""

from __future__ import annotations

import re
from decimal import Decimal

from vision_agent.text.money import names_currency

_NOT_SAID = re.compile(r"[\W_]+")
_CURRENCY_OR_UNIT = re.compile(r"[^\d.,'’\s+−-]+")
_NUMBER = re.compile(r"([+−-]?)\s*((?:\d|(?<=\d)[\s'’](?=\d))*)((?:[.,]\d+)*)[.,]?")
_GROUP = 3
"""Digits between two thousands separators."""
_DATE = re.compile(r"\d{4}\D\d{1,2}\D\d{1,2}(?:\D.*)?|\d{1,2}\D\d{1,2}\D\d{4}(?:\D.*)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::00)?\s*([aApP]?)\.?(?:[mM]\.?)?")
_WORD = re.compile(r"[^\W\d_]+")
_CUT = "…"


def means_other(typed: str, held: str) -> bool:
    """Whether a field surely holds something else than was typed, and not only another form of it.

    An empty field, and one that holds more than was typed, as one does that completes it, says nothing for sure.
    """
    wanted, said = (_NOT_SAID.sub("", each).casefold() for each in (typed, held))
    if not wanted or not said or (held.endswith(_CUT) and wanted.startswith(said)):
        return False
    numbers, found = numbers_meant(typed), numbers_meant(held)
    if numbers and found and all(map(names_currency, _WORD.findall(typed))):
        return not numbers & found
    if wanted == said and _has_other_groups(typed, held):
        return True
    if wanted == said or _is_same_date(typed, held) or _is_same_time(typed, held):
        return False
    return bool(numbers) or wanted not in said


def numbers_meant(text: str) -> set[Decimal]:
    """The numbers that a text may mean, with its currency or unit; none if it is no number."""
    bare = _CURRENCY_OR_UNIT.sub(" ", text).strip()
    found = _NUMBER.fullmatch(bare)
    if found is None or not re.search(r"\d", bare) or len(_CURRENCY_OR_UNIT.findall(text)) > 1:
        return set()
    sign = "-" if found[1] and found[1] != "+" else ""
    whole, parts = re.sub(r"\D", "", found[2]) or "0", re.findall(r"[.,]\d+", found[3])
    meant = set()
    if all(len(part) == _GROUP + 1 for part in parts) and len({part[0] for part in parts}) < 2:
        meant.add("".join([whole, *(part[1:] for part in parts)]))
    if parts and all(len(part) == _GROUP + 1 for part in parts[:-1]) and (
        len(parts) == 1 or parts[-1][0] not in {part[0] for part in parts[:-1]}
    ):  # fmt: skip
        meant.add("".join([whole, *(part[1:] for part in parts[:-1]), ".", parts[-1][1:]]))
    return {Decimal(sign + each) for each in meant}


def _has_other_groups(typed: str, held: str) -> bool:
    """Whether a date that was typed is held in the same digits, but cut elsewhere: `20/26/1231` is not 2026-12-31.

    Other digits, as those of a telephone or a card, mean the same however they are grouped.
    """
    groups, others = (sorted(re.findall(r"\d+", text)) for text in (typed, held))
    if not _DATE.fullmatch(typed.strip()) or len(others) < 2:
        return False
    months = [1 <= int(each) <= 12 for each in groups[:3] if len(each) <= 2]
    return any(months) and all(int(each) <= 31 for each in groups[:3] if len(each) <= 2) and groups != others


def _is_same_date(typed: str, held: str) -> bool:
    """Whether both are dates of the same numbers; which of day and month comes first, nobody can tell."""
    if not _DATE.fullmatch(typed.strip()):
        return False
    one, other = ([int(each) for each in re.findall(r"\d+", text)] for text in (typed, held))
    if _DATE.fullmatch(held.strip()):
        return sorted(one[:3]) == sorted(other[:3])
    year = max(one[:3])
    return bool(_WORD.search(held)) and len(other) == 2 and year in other and set(other) <= set(one)


def _is_same_time(typed: str, held: str) -> bool:
    one, other = _CLOCK.fullmatch(typed.strip()), _CLOCK.fullmatch(held.strip())
    return one is not None and other is not None and _minutes(one) == _minutes(other)


def _minutes(clock: re.Match[str]) -> int:
    hour, half = int(clock[1]), clock[3].casefold()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return 60 * hour + int(clock[2])
