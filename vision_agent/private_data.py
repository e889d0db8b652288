"""Finds private data by its form and its check digits: payment cards, IBANs and national identity numbers.

Does not know which of them a task wants to be hidden, nor what becomes of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from stdnum import iban, luhn

from vision_agent.disguises import Found
from vision_agent.types import PrivateKind

_LEAST_DIGITS = re.compile(r"(?:\d\D*){6}")
_NOT_INSIDE, _NOT_FOLLOWED = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_CARD = re.compile(rf"(?<![0-9A-Za-z])[2-6](?:[ .·-]?[0-9]){{12,18}}{_NOT_FOLLOWED}")
_CARD_NUMBERS = re.compile(
    # Visa, Mastercard, American Express, Diners, JCB, Discover, UnionPay and Maestro: prefixes and lengths as published
    # in ISO/IEC 7812 and by the schemes.
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
    r"|(?:50|5[6-8]|6\d)\d{14,17}"
)
_IBAN = re.compile(rf"{_NOT_INSIDE}[A-Za-z]{{2}}[0-9]{{2}}(?:[ -]?[A-Za-z0-9]){{11,30}}")
_IBAN_LENGTHS = range(34, 14, -1)
_NATIONAL = {
    "be.nn": r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}",
    "br.cpf": r"\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}",
    "ch.ssn": r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
    "cn.ric": r"\d{17}[0-9Xx]",
    "de.idnr": r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
    "es.dni": r"\d{8}[- ]?[A-Za-z]",
    "es.nie": r"[XYZxyz][- ]?\d{7}[- ]?[A-Za-z]",
    "fi.hetu": r"\d{6}[-+A-FU-Ya-fu-y]\d{3}[0-9A-Za-z]",
    "fr.nir": r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}",
    "it.codicefiscale": r"[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]",
    "no.fodselsnummer": r"\d{6} ?\d{5}",
    "pl.pesel": r"\d{11}",
    "ro.cnp": r"\d{13}",
    "se.personnummer": r"(?:\d{2})?\d{6}[-+]\d{4}",
    "tr.tckimlik": r"\d{11}",
}
"""Identity numbers whose form and check digits leave few others, by module of `stdnum`. Those with a single check digit
over nine or ten digits are left out: every tenth number of an order would pass."""
_NATIONAL_FORMS = tuple((name, re.compile(f"{_NOT_INSIDE}{form}{_NOT_FOLLOWED}")) for name, form in _NATIONAL.items())


def find_private(text: str, kinds: Sequence[PrivateKind]) -> list[Found]:
    """Where private data of these kinds stands, from left to right, without overlaps."""
    if not _LEAST_DIGITS.search(text):
        return []
    plain = text.translate(_PLAIN)
    is_same_length = len(plain) == len(text)
    places = range(len(text)) if is_same_length else [at for at, each in enumerate(text) if _plain(each)]
    found = [Found(places[start], places[end - 1] + 1, kind) for kind in kinds for start, end in _FINDERS[kind](plain)]
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


class _Plain(dict[int, str]):
    """What each character is read as, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain(chr(code))
        return plain


_PLAIN = _Plain()


def _plain(letter: str) -> str:
    """One sign for one: a digit of any script in ASCII, full-width letters narrow, white space as a space; none for
    what does not show.
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
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _CARD_NUMBERS.fullmatch(digits) and luhn.is_valid(digits):
            yield match.span()


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(text):
        ends = [at for at in range(match.start(), match.end()) if text[at].isalnum()]
        for length in _IBAN_LENGTHS:
            if length <= len(ends) and iban.is_valid(text[match.start() : ends[length - 1] + 1].replace("-", " ")):
                yield match.start(), ends[length - 1] + 1
                break


def _national_ids(text: str) -> Iterator[tuple[int, int]]:
    for name, form in _NATIONAL_FORMS:
        for match in form.finditer(text):
            if import_module(f"stdnum.{name}").is_valid(match.group()):
                yield match.span()


_FINDERS: dict[PrivateKind, Callable[[str], Iterator[tuple[int, int]]]] = {
    "card": _cards,
    "iban": _ibans,
    "national-id": _national_ids,
}
