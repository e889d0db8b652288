"""Finds private data by its form and its check digits: payment cards, IBANs and national identity numbers.

Does not know which of them a task wants to be hidden, nor what becomes of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise

from stdnum import iban, luhn, numdb

from vision_agent.text.disguises import Found
from vision_agent.types import PrivateKind

_LEAST_DIGITS = re.compile(r"(?:\d\D*){6}")
_ESCAPED_SIGN = re.compile(r"%(?:20|2[B-F]|5F|7C)", re.IGNORECASE)
_NOT_INSIDE, _NOT_FOLLOWED = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_SIGN = r"(?:[^\w\x00-\x1f]|_)"
"""What may separate the groups of a number, but not what separates texts (`disguises.APART` and `FAR`)."""

_NUMBER = re.compile(r"[0-9]+")
_NUMBERS = re.compile(rf"[0-9]+(?:{_SIGN}{{1,3}}[0-9]+)*")
_NOT_IN_WORD = re.compile(r"[^0-9A-Za-z]")
_BEFORE_DECIMALS = re.compile(r"(?<![0-9.])[0-9]+\.\Z")
_CARD_NUMBERS = re.compile(
    # Visa, Mastercard, American Express, Diners, JCB, Discover, UnionPay and Maestro: prefixes and lengths as published
    # in ISO/IEC 7812 and by the schemes.
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
    r"|(?:50|5[6-8]|6\d)\d{14,17}"
)
_MOST_CARD_DIGITS, _MOST_CARD_GROUPS = 19, 5
_IBAN = re.compile(
    # After a blank the country is in capitals, or "No 1234" would begin one of Norway.
    rf"{_NOT_INSIDE}[A-Za-z]*(?=([A-Z]{{2}}(?={_SIGN})|[A-Za-z]{{2}}(?=[0-9]))"
    rf"((?:{_SIGN}{{0,3}}[0-9]){{2}}(?:{_SIGN}{{0,3}}[A-Za-z0-9]){{11,30}}))"
)
_NATIONAL = {
    "ar.cuit": r"(?:2[0347]|3[034])-\d{8}-\d",
    "be.nn": r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}",
    "br.cpf": r"\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}",
    "ch.ssn": r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
    "cl.rut": r"\d{1,2}\.\d{3}\.\d{3}-[0-9Kk]",
    "cn.ric": r"\d{17}[0-9Xx]",
    "cz.rc": r"\d{6}/\d{4}",
    "de.idnr": r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
    "dk.cpr": r"\d{6}-\d{4}",
    "ee.ik": r"\d{11}",
    "es.dni": r"\d{8}[- ]?[A-Za-z]",
    "es.nie": r"[XYZxyz][- ]?\d{7}[- ]?[A-Za-z]",
    "fi.hetu": r"\d{6}[-+A-FU-Ya-fu-y]\d{3}[0-9A-Za-z]",
    "fr.nir": r"[12][. ]?\d{2}[. ]?\d{2}[. ]?(?:\d{2}|2[ABab])[. ]?\d{3}[. ]?\d{3}[. ]?\d{2}",
    "gr.amka": r"\d{11}",
    "ie.pps": r"\d{7}[A-Wa-w][ABHWTXabhwtx]?",
    "is_.kennitala": r"\d{6}-\d{4}",
    "it.codicefiscale": r"[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]",
    "kr.rrn": r"\d{6}-\d{7}",
    "mx.curp": r"[A-Za-z]{4}\d{6}[A-Za-z]{6}[0-9A-Za-z]\d",
    "no.fodselsnummer": r"\d{6}[- ]?\d{5}",
    "pl.pesel": r"\d{11}",
    "pt.cc": r"\d{8}[- ]?\d[- ]?[A-Z]{2}\d",
    "ro.cnp": r"\d{13}",
    "ru.inn": r"\d{12}",
    "se.personnummer": r"(?:\d{2})?\d{6}[-+]\d{4}",
    "si.emso": r"\d{4}(?:9\d\d|0[0-2]\d)\d{6}",
    "tr.tckimlik": r"\d{11}",
    "us.ssn": r"\d{3}-\d{2}-\d{4}",
    "za.idnr": r"\d{6} ?\d{4} ?\d{3}",
}
"""Identity numbers whose form and check digits leave few others, by module of `stdnum`: at most two in a hundred of the
ordinary numbers with as many digits pass, or the form is one that few other numbers have. Those with a single check
digit over nine to twelve digits are left out: every tenth number of an order would pass."""
_BRITISH = r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
"""The form of a National Insurance number, which has no check digit; in capitals, or short hashes would have it too."""
_NATIONAL_FORMS = tuple((name, re.compile(form + _NOT_FOLLOWED)) for name, form in (*_NATIONAL.items(), ("", _BRITISH)))
_ANY_NATIONAL = "|".join(form.pattern for _, form in _NATIONAL_FORMS)
_NATIONAL_PLACE = re.compile(rf"{_NOT_INSIDE}(?=[A-Za-z]{{0,6}}[- ]?(?:[0-9][^0-9]?){{6}})(?={_ANY_NATIONAL})")
"""Where any of these forms begins. Six digits, which all of them have, are looked for first, because that is fast."""


def find_private(text: str, kinds: Sequence[PrivateKind]) -> list[Found]:
    """Where private data of these kinds occurs, from left to right; overlapping places count as one."""
    if not _LEAST_DIGITS.search(text):
        return []
    plain = _ESCAPED_SIGN.sub("   ", text.translate(_PLAIN))
    is_same_length = len(plain) == len(text)
    places = range(len(text)) if is_same_length else [at for at, each in enumerate(text) if _plain(each)]
    found = [Found(places[start], places[end - 1] + 1, kind) for kind in kinds for start, end in _FINDERS[kind](plain)]
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
        elif each.end > kept[-1].end and kept[-1].name != "iban":  # which is known best, and where it ends
            kept[-1] = kept[-1]._replace(end=each.end)
    return kept


class _Plain(dict[int, str]):
    """What each character is read as, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain(chr(code))
        return plain


_PLAIN = _Plain()


def _plain(letter: str) -> str:
    """The plain form of a character: a digit of any script in ASCII, a full-width letter narrow, white space as a
    space; empty for an invisible one.
    """
    if letter.isascii():
        return " " if letter in "\t\n\r" else letter
    category = unicodedata.category(letter)
    if category in ("Cf", "Mn", "Me"):
        return ""
    digit = unicodedata.digit(letter, None)
    if digit is not None:
        return str(digit)
    if letter.isspace():
        return " "
    if category == "Pd":
        return "-"
    narrow = unicodedata.normalize("NFKC", letter)
    return narrow if len(narrow) == 1 else letter


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for row in _NUMBERS.finditer(text):
        groups = [match.span() for match in _NUMBER.finditer(text, *row.span())]
        for card in _possible_cards(text, groups):
            if _has_card_digits(text, card) and not _is_part_of_other(text, card):
                yield card[0][0], card[-1][1]


def _possible_cards(text: str, groups: Sequence[tuple[int, int]]) -> Iterator[Sequence[tuple[int, int]]]:
    """All the groups, if they are separated plainly, and each few that have the same sign between them.

    Those few have four digits or more, except the last: other numbers beside a card are no part of it.
    """
    if len(groups) <= _MOST_CARD_DIGITS and _signs(text, groups) <= {" ", ".", "·", "-"}:
        yield groups
    for first in range(len(groups)):
        for end in range(first + 1, min(first + _MOST_CARD_GROUPS, len(groups)) + 1):
            if len(_signs(text, groups[first:end])) > 1:
                break
            yield groups[first:end]
            if groups[end - 1][1] - groups[end - 1][0] < 4:
                break


def _has_card_digits(text: str, groups: Sequence[tuple[int, int]]) -> bool:
    digits = "".join(text[start:end] for start, end in groups)
    return _CARD_NUMBERS.fullmatch(digits) is not None and luhn.is_valid(digits)


def _signs(text: str, groups: Sequence[tuple[int, int]]) -> set[str]:
    return {text[left[1] : right[0]] for left, right in pairwise(groups)}


def _is_part_of_other(text: str, groups: Sequence[tuple[int, int]]) -> bool:
    """Whether the digits are part of a word with several numbers, such as a hash, or are the decimals of a number."""
    start, end = groups[0][0], groups[-1][1]
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    in_word = f"{_NOT_IN_WORD.split(before)[-1]} {_NOT_IN_WORD.split(after)[0]}"
    if len(_NUMBER.findall(in_word)) > 1:
        return True
    return len(groups) == 1 and _BEFORE_DECIMALS.search(before) is not None


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(text):
        length = _iban_length(match[1].upper())
        ends = [at + 1 for at in range(match.start(1), match.end(2)) if text[at].isalnum()]
        if length and length <= len(ends):
            start, end = match.start(1), ends[length - 1]
            # The check digits of the country are not asked for: Belgium's module refuses banks that it does not list.
            if iban.is_valid("".join(filter(str.isalnum, text[start:end])), check_country=False):
                yield start, end


@cache
def _iban_length(country: str) -> int:
    """How long an IBAN of the country is; 0 if it has none."""
    about = numdb.get("iban").info(country)[0][1]
    return 4 + sum(map(int, _NUMBER.findall(about["bban"]))) if "bban" in about else 0


def _national_ids(text: str) -> Iterator[tuple[int, int]]:
    for place in _NATIONAL_PLACE.finditer(text):
        for name, form in _NATIONAL_FORMS:
            match = form.match(text, place.start())
            if match and (not name or _is_valid(name, match.group())):
                yield match.span()


def _is_valid(name: str, number: str) -> bool:
    try:
        return bool(import_module(f"stdnum.{name}").is_valid(number))
    except KeyError:
        return False  # cn.ric, of a place whose county it does not list


_FINDERS: dict[PrivateKind, Callable[[str], Iterator[tuple[int, int]]]] = {
    "card": _cards,
    "iban": _ibans,
    "national-id": _national_ids,
}
