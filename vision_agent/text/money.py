"""Reads amounts of money as pages write them, and limits as people write them.

Where a text can be read in two ways, the larger amount counts, so that a limit is never passed by a misreading. Knows
neither pages nor tasks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from vision_agent.text.number_words import CJK_SCALES, LARGEST, SCALES

CURRENCIES = ("EUR", "USD", "GBP", "CHF", "JPY")
"""Those in which a limit can be given."""

_WAYS = {
    "EUR": r"€|(?i:eur(?:os?)?)",
    "USD": r"US\s?\$|\$|(?i:usd|(?:us[ -])?dollars?)",
    "GBP": r"£|(?i:gbp|pounds? sterling)",
    "CHF": r"(?i:chf|sfr\.?|franken|francs?)",
    "JPY": r"JP¥|¥|円|(?i:jpy|yen)",
}
_OTHER_DOLLARS = r"(?:CA|AU|NZ|HK|SG|MX|NT|BR|AR|CL|CO|[ACRS])\$|CN¥"
# Without codes that are words in capital letters too: ALL, AMD, BAM, BOB, CUP, GEL, MAD, PEN, SOS, TOP.
_OTHER_CODES = (
    "AED|AFN|ARS|AUD|AZN|BDT|BGN|BHD|BRL|BTC|BYN|CAD|CLP|CNY|COP|CRC|CZK|DKK|DOP|DZD|EGP|ETB|ETH|GHS|GTQ|HKD|HNL|HUF|"
    "IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|KES|KHR|KRW|KWD|KZT|LBP|LKR|LYD|MDL|MKD|MMK|MNT|MUR|MXN|MYR|NGN|NIO|NOK|NPR|NZD|"
    "OMR|PHP|PKR|PLN|PYG|QAR|RMB|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|TRY|TTD|TWD|TZS|UAH|UGX|USDT|UYU|UZS|VND|XAF|XOF|YER|"
    "ZAR|ZMW|kr|zł|Kč|lei|лв|руб|грн|元|원"
)
_OTHER_SIGNS = "".join(
    each for each in map(chr, range(0xA0, 0x20D0)) if unicodedata.category(each) == "Sc" and each not in "€£¥"
)
_LETTER = r"[^\W\d_]"
_GAP = r"[ \t]?"
_SHORT_SCALES = {"k": 3, "tsd": 3, "m": 6, "mm": 6, "mn": 6, "mio": 6, "b": 9, "bn": 9, "mrd": 9, "mld": 9}
"""What makes an amount larger where it is joined to the currency: `5 €m`. Apart from it, a letter may be a size."""
_LATER_SCALES = {word: power for word, power in LARGEST.items() if word in SCALES or len(word) > 4}
_SHORT = rf"(?i:{'|'.join(sorted(_SHORT_SCALES, key=len, reverse=True))})(?!{_LETTER})"
_LATER = rf"(?i:{'|'.join(sorted(_LATER_SCALES, key=len, reverse=True))})"
_ENDS = rf"(?:(?!{_LETTER})|(?={_SHORT}))"
_WAY = "|".join(
    [
        rf"(?P<other>(?<!{_LETTER})(?:{_OTHER_DOLLARS}|{_OTHER_CODES}){_ENDS}|[{_OTHER_SIGNS}])",
        *(rf"(?P<{code}>(?:(?<!{_LETTER})|(?=[€$£¥円]))(?:{way}){_ENDS})" for code, way in _WAYS.items()),
    ]
)
_SCALED_WAY = rf"(?:{_WAY})(?:(?P<short>{_SHORT})|{_GAP}(?P<later>{_LATER})(?:en|s|\.)?(?!{_LETTER}))?"
"""A currency, with what makes the amount larger behind it: `5 € million`, `€m 5`."""
_BEFORE = re.compile(rf"{_SCALED_WAY}[.:]?{_GAP}[-+~≈]?{_GAP}[.,]?$")
_CJK = {**CJK_SCALES, "兆": 12, "조": 12}
_FACTOR = (
    rf"(?:(?P<times>(?i:{'|'.join(sorted(LARGEST, key=len, reverse=True))}))(?:en|s|\.)?(?!{_LETTER})"
    rf"|(?P<cjk>[{''.join(_CJK)}]+))"
)
_AFTER = re.compile(rf"{_GAP}(?:{_FACTOR})?{_GAP}(?:{_SCALED_WAY})?")
_NUMBER = re.compile(
    r"\d+(?:[.,'’‘·_]\d+|[ ]\d{3}(?!\d))*(?P<cents>[ ]\.?\d{2}(?![\d.,:/]))?(?P<none>[.,][ ]?[-–—]{1,2})?"
    r"(?:[eE]\+?(?P<power>\d{1,2})(?!\w))?"
)
_COUNT_BEFORE = re.compile(r"(\d{1,9})[ \t]?[×xX*][ \t]?$")
_COUNT_AFTER = re.compile(r"[ \t]?[×xX*][ \t]?(\d{1,9})(?![\d.,])")
_SWISS = re.compile(rf"(?<!{_LETTER})Fr\.?{_GAP}$")
_RANGE = re.compile(r"[ \t]?[-–—][ \t]?")
_POINT = re.compile(r"(?:^|[^\d\s.,])\s*[€$£¥]\.$")
"""Before cents alone: `€.50`."""
_BACKWARDS = re.compile("[\u202e\u202b\u2067]")
_NEAR = 24
"""Letters before and after a number in which its currency is looked for."""
_MOST_DIGITS = 30
_REMEMBERED = 500
"""Letters of the longest text whose amounts are remembered."""
_SPACED = str.maketrans(dict.fromkeys("˙´¨`", "'"))
"""Signs between digits, of which normalization makes a space and an accent."""
_LIMIT = re.compile(r"(?:(\d{1,15}(?:\.\d{1,2})?)\s*(\S+)|(\S+?)\s*(\d{1,15}(?:\.\d{1,2})?))")
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}


class Money(str):
    """An amount of money as a limit, such as `50 EUR`.

    Written with a point before cents and without other signs in the number. Raises `ValueError` for anything else.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Money:
        """The amount that a person wrote, such as `50 EUR`, `EUR 50`, `€50` or `49.90 CHF`."""
        found = _LIMIT.fullmatch(str(text).strip())
        number, sign = (found[1] or found[4], found[2] or found[3]) if found else ("", "")
        currency = _SIGNS.get(sign, sign.upper())
        if not number or currency not in CURRENCIES:
            raise ValueError(f"{text!r} is no amount of money: write it like 50 EUR or 49.90 CHF ({_in_words()})")
        return super().__new__(cls, f"{number} {currency}")

    @property
    def amount(self) -> Decimal:
        """How much it is, in its currency."""
        return Decimal(self.split()[0])

    @property
    def currency(self) -> str:
        """The code of its currency, such as `EUR`."""
        return self.split()[1]

    def __gt__(self, other: str) -> bool:
        """Whether this limit may allow something that the other one does not; so it is if their currencies differ."""
        limit = Money(other)
        return self.currency != limit.currency or self.amount > limit.amount

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A string that is checked and read as `Money`."""

        def read(text: str) -> Money:
            try:
                return cls(text)
            except ValueError as error:
                raise PydanticCustomError("money", "{why}", {"why": str(error)}) from error

        return core_schema.no_info_after_validator_function(read, core_schema.str_schema())


class Amount(NamedTuple):
    """An amount of money in a text."""

    value: Decimal
    currency: str
    """The code of one of `CURRENCIES`, `other` for any other currency, or nothing if the text names none."""
    words: str
    """As the text writes it, with its count, so that they can be read again: `3 × €9`."""


def amounts_in(text: str) -> list[Amount]:
    """The amounts of money in a text, from left to right; a number without a currency is none.

    A number with a currency on both sides counts in both. `12.-` counts without a currency. A count
    written with a sign, as in `3 × €9.99`, multiplies the amount; one in words does not.
    """
    return list(_amounts(text) if len(text) <= _REMEMBERED else _amounts.__wrapped__(text))


def names_currency(word: str) -> bool:
    """Whether a word or a sign names a currency: `USD`, `€`, `euros`."""
    return re.fullmatch(_WAY, word) is not None


@lru_cache(maxsize=4096)
def _amounts(text: str) -> tuple[Amount, ...]:
    """The same, remembered: the words beside hundreds of marks are read at each look, and most were there before."""
    plain = unicodedata.normalize("NFKC", text.translate(_SPACED))
    lines = ["".join(each for each in line if unicodedata.category(each) != "Cf") for line in plain.splitlines()]
    if _BACKWARDS.search(plain):
        lines += [line[::-1] for line in lines]
    return tuple(each for line in lines for each in _amounts_in(line))


def _amounts_in(line: str) -> Iterator[Amount]:
    ended, inherited = 0, list[str]()
    for number in _NUMBER.finditer(line):
        before = _BEFORE.search(line[max(0, number.start() - _NEAR) : number.start()])
        after = _AFTER.match(line[number.end() : number.end() + _NEAR])
        named = [code for code in (*_WAYS, "other") if before is not None and before[code]]
        if not named and inherited and _RANGE.fullmatch(line[ended : number.start()]):
            named = [*inherited]
        elif not named and number["none"] and _SWISS.search(line[: number.start()]):
            named = ["CHF"]
        ended, inherited = number.end(), [*named]
        codes_after = [code for code in (*_WAYS, "other") if after is not None and after[code]]
        named += codes_after
        if not named and not number["none"]:
            continue
        factor = Decimal(10) ** (_power(after) if after is not None else 0)
        factor *= Decimal(10) ** sum(_power_of_currency(each) for each in (before, after) if each is not None)
        factor *= Decimal(10) ** int(number["power"] or 0)
        begins = number.start() - (len(before[0]) if before else 0)
        ends = number.end() + (len(after[0]) if after is not None and named else 0)
        counts = (_COUNT_BEFORE.search(line[:begins]), _COUNT_AFTER.match(line[ends:]))
        for count in counts:
            factor *= max(1, int(count[1])) if count is not None else 1
        words = " ".join(line[number.start() - len(before[0]) if before else number.start() : number.end()].split())
        if after is not None and named:
            words = f"{words}{after[0]}".strip()
        words = " ".join([*(each[0] for each in counts[:1] if each), words, *(each[0] for each in counts[1:] if each)])
        words = " ".join(words.split())
        value = _value(number, is_after_currency=before is not None and not codes_after)
        for currency in named or [""] * bool(number["none"]):
            yield Amount(value * factor, currency, words)


def _power(after: re.Match[str]) -> int:
    return LARGEST[after["times"].lower()] if after["times"] else sum(_CJK[each] for each in after["cjk"] or "")


def _power_of_currency(way: re.Match[str]) -> int:
    """What is written behind the currency, on either side of the number."""
    if way["short"]:
        return _SHORT_SCALES[way["short"].lower()]
    return _LATER_SCALES[way["later"].lower()] if way["later"] else 0


def _value(number: re.Match[str], is_after_currency: bool) -> Decimal:
    """The largest of what a number may mean: `1.234` is 1234, and `120 99` is 120.99, as if the cents were raised.

    In `12 99 €` the `12` may be something else; in `€ 12 99` it is not (`is_after_currency`).
    """
    digits = re.split("[eE]", number[0])[0]
    plain = digits.removesuffix(number["none"] or "")
    written = re.sub(r"[ '’‘·_]", "", plain.removesuffix(number["cents"] or ""))
    if not number["cents"]:
        is_fraction = len(written) == 2 and _POINT.search(number.string[: number.start()])
        return _plain_value(written) / (100 if is_fraction else 1)
    cents = Decimal(number["cents"][-2:])
    whole = _plain_value(written) + cents / 100
    return whole if is_after_currency else max(whole, cents)


def _plain_value(written: str) -> Decimal:
    *groups, last = re.split(r"[.,]", written)
    has_cents = bool(groups) and len(last) <= 2
    digits = "".join(groups) if has_cents else "".join([*groups, last])
    if len(digits) > _MOST_DIGITS:
        return Decimal(10) ** _MOST_DIGITS
    return Decimal(f"{digits}.{last}" if has_cents else digits)


def _in_words() -> str:
    return f"{', '.join(CURRENCIES[:-1])} or {CURRENCIES[-1]}"
