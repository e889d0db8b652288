"""Reads the number in a text as people write it: `1,299.00`, `−5`, `€ 12,50`, `3 million`.

A text that may mean several numbers is none: a wrong number is worse than an error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

from vision_agent.text.money import amounts_in, names_currency
from vision_agent.text.number_words import (
    CJK_DOUBTFUL,
    CJK_MONEY,
    CJK_SCALES,
    DOUBTFUL,
    DOUBTFUL_PARTS,
    ENGLISH_SCALES,
    SCALES,
)

_MINUS = "-−–﹣－‐‑‒⁻₋˗➖"
_DASHES = "—―⸺⸻﹘⁃±∓"
"""What may be a minus or not."""
_DOWN = "▼▽▾▿⏷↓↘⇓⇩⬇🔻📉"
_UP = "▲△▴▵"
"""Japanese accounts write a loss so."""
_MINUS_WORD = re.compile(
    r"\b(?:minus|moins|menos|meno|min|negative|neg|negativ|минус|мінус|miinus|mínusz|eksi|マイナス|負)\b"
    r"|[負负]|マイナス|마이너스",
    re.IGNORECASE,
)
_SPACES = "\u00a0\u2009\u202f"
"""Those that pages put between groups of three digits."""
_TOKEN = re.compile(rf"\d(?:[\d.,'’{_SPACES}]*\d)?")
_GROUPS = re.compile(r"\d{1,3}(\D\d{3})+|\d{1,2}(,\d{2})+,\d{3}")
"""A number in groups of three digits; in India all but the last have two: `1,29,900`."""
_ARABIC_SIGNS = str.maketrans("٬٫", "’.")
_WORD = re.compile(r"[^\W\d_]+")
_SCALE_OF_SIGN = re.compile(r"(?<![^\W\d_])(?:[kmtg]|mm|mn|bn)(?=\s?[$¢£¥€₩₹₺₽₴₪₫฿])", re.IGNORECASE)
"""As in `T€ 5`, and no part of the name of a currency, as in `A$ 5`."""
_AFTER = re.compile(r"(?P<gap>\s*)(?P<word>[^\W\d_]*)")
_LETTERS = {"k", "m", "b", "t"}
"""What may stand for thousands and more; apart from the number, and not beside money, it may be a unit."""
_MONEY_LETTERS = {*_LETTERS, "g", "l", "mm"}
_SCALED_CODE = re.compile(r"(?:[kmbtg]|mm|mn|bn)(?:eur|usd|gbp|chf|jpy|sek|nok|dkk|pln|czk|cny|inr|aud|cad)")
"""As in `5 TEUR`."""
_BOUNDS = {
    "more": re.compile("[>＞≥≧⩾≫≳]"),
    "less": re.compile("[<＜≤≦⩽≪≲]"),
    "more or less": re.compile("[~～〜∼≈≃≅≒≂⩰]"),
}
"""Signs before a number that make it the limit of several, by what these are."""
_MORE_AFTER = re.compile(r"[+＋]")
_PARTS_AFTER = re.compile(r"\s?[‰‱]")
_POINT_OF_WORD = re.compile(r"(?:^|[^\w])(?:rs|fr|sfr|nr|no|kr)\.$", re.IGNORECASE)


def decimal_sign(texts: Iterable[str]) -> str | None:
    """The sign before decimals in texts that are written alike, such as those of a column; None if that is unknown."""
    tokens = (each for text in texts for each in _TOKEN.findall(text.translate(_ARABIC_SIGNS)))
    shown = {sign for each in tokens if (sign := _sign_shown(each)) is not None}
    return shown.pop() if len(shown) == 1 else None


def number_in(text: str, decimal: str | None = None, *, has_decimal_commas: bool = False) -> Decimal:
    """The only number in a text. `decimal`: the sign before decimals in texts beside it, if that is known;
    `has_decimal_commas`: whether its language has a comma there, so that `1,250` may be 1.25.

    Raises:
        ValueError: there is none, there are several, or it may mean several; the message is a clause that says so.
    """
    composed = unicodedata.normalize("NFC", text).translate(_ARABIC_SIGNS)
    decimal = "." if "٫" in text else decimal
    plain = "".join(each for each in composed if unicodedata.category(each) != "Cf").strip().replace("\ufe0f", "")
    found = [*_TOKEN.finditer(plain)]
    if len(found) != 1 or any(unicodedata.category(each) == "No" for each in plain):
        raise ValueError("is not a single number")
    [token] = found
    before, after = plain[: token.start()], plain[token.end() :]
    if before.endswith((".", ",")):
        number = _fraction(before, token[0])
    else:
        number = _plain_number(token[0], decimal, has_decimal_commas=has_decimal_commas)
    _refuse_bounds(before, after)
    return _sign(before, after, token[0]) * number * _factor(before, after)


_MEASURES = {
    *("kg", "g", "mg", "µg", "t", "lb", "lbs", "oz", "st", "km", "m", "cm", "mm", "µm", "mi", "yd", "ft"),
    *("l", "ml", "cl", "dl", "h", "min", "s", "ms", "W", "kW", "MW", "GW", "Wh", "kWh", "MWh", "GWh"),
    *("V", "mV", "A", "mA", "Hz", "kHz", "MHz", "GHz", "B", "kB", "KB", "MB", "GB", "TB", "PB"),
    *("KiB", "MiB", "GiB", "TiB", "bit", "kbit", "Mbit", "Gbit", "%", "°C", "°F"),
}
_SCALES_ALONE = {"thousand", "thousands", "million", "millions", "billion", "billions", "tausend", "milliers", "miles"}
"""Words in a heading for what the numbers under it count."""
_UNIT = re.compile(r"\s?(%|°[CF]|[^\W\d_]+)(?![^\W_])")


def unit_in(text: str) -> str:
    """The currency or the measure of a number in a text, in a form to compare; empty if it names none that is known."""
    if amounts := amounts_in(text):
        return amounts[0].currency
    token = _TOKEN.search(text)
    unit = _UNIT.match(text, token.end()) if token else None
    return unit[1] if unit and unit[1] in _MEASURES else ""


def names_scale(heading: str) -> bool:
    """Whether a heading may say that the numbers under it are thousands or more: `Sales (T€)`, `in Mio. EUR`."""
    words = _WORD.findall(heading)
    is_word = any(
        each.casefold() in SCALES or each in ENGLISH_SCALES or each.casefold() in _SCALES_ALONE for each in words
    )
    is_code = any(_SCALED_CODE.fullmatch(each.casefold()) for each in words)
    return is_word or is_code or _SCALE_OF_SIGN.search(heading) is not None or "'000" in heading


def is_plain_number(text: str) -> bool:
    """Whether the text is a number and nothing else."""
    return re.fullmatch(rf"[+{_MINUS}]?{_TOKEN.pattern}", text.strip()) is not None


def _fraction(before: str, token: str) -> Decimal:
    """The number after a point: `.99`; but `Rs.500` has the point of a word."""
    if _POINT_OF_WORD.search(before):
        return _plain_number(token, None)
    lead = before[-2:-1]
    if before.endswith(",") or not token.isdecimal() or (lead and (lead.isalnum() or lead in ".,…")):
        raise ValueError("may be less than it says, because of the sign before it")
    return Decimal(f"0.{token}")


def _sign(before: str, after: str, token: str) -> int:
    if _is_in_brackets(before, after, token):
        raise ValueError("may be negative, because it is in brackets")
    if re.match(rf"\s?[{_MINUS}](?!\w)", after):
        raise ValueError("may be negative, because a minus follows it")
    word = _MINUS_WORD.search(before)
    if word is not None:
        raise ValueError(f"may be negative, because of the {word[0]!r} before it")
    if re.search(f"[{_DASHES}{_UP}]", before) or re.search(f"[{_DOWN}]", before + after):
        raise ValueError("may be negative or not")
    minus = re.search(rf"[{_MINUS}]", before)
    if minus is None:
        return 1
    lead, rest = before[: minus.start()], before[minus.end() :]
    # `−5`, `−€5`, `€ −5`, `- 5`, `Loss −5`; but not `A-5`, `Loss - 5`, `+/-5` or `--5`.
    is_first = not re.search(r"[\w/]", lead) and not re.search(rf"[^\W\d_]{{4}}|[{_MINUS}]", rest)
    if is_first or (rest in ("", ".") and lead[-1:].isspace()):
        return -1
    raise ValueError("may be negative or not")


def _refuse_bounds(before: str, after: str) -> None:
    """Raises ValueError for `>5`, `<5`, `~5`, `5+` and `5‰`, which are not 5."""
    for what, signs in _BOUNDS.items():
        if found := signs.search(before):
            raise ValueError(f"may be {what} than it says, because of the {found[0]!r} before it")
    if found := _BOUNDS["more or less"].match(after.strip()):
        raise ValueError(f"may be more or less than it says, because of the {found[0]!r} after it")
    if found := _MORE_AFTER.search(after):
        raise ValueError(f"may be more than it says, because of the {found[0]!r} after it")
    if found := _PARTS_AFTER.match(after):
        raise ValueError(f"is less than it says, because of the {found[0].strip()!r} after it")


def _is_in_brackets(before: str, after: str, token: str) -> bool:
    """Whether brackets may make it negative, as in `(5)`, `$ (5)` and `(5) USD`; in `Inbox (5)` they do not."""
    if before.startswith("(") and after.rstrip().endswith(")"):
        return True
    opening = max(
        (at for at, each in enumerate(before) if unicodedata.category(each) == "Ps" and each not in "„‚"), default=None
    )
    if opening is None or any(unicodedata.category(each) == "Pe" for each in before[opening:]):
        return re.match(r"\s*\S{0,3}[)）]", after) is not None and "(" not in after
    inside, lead = before[opening + 1 :], before[:opening]
    if not all(map(names_currency, _WORD.findall(inside))):
        return False  # `Size (EU 42)`
    is_label = any(not names_currency(each) for each in _WORD.findall(lead))
    return not is_label or not token.isdecimal() or _has_money(before + after)


def _has_money(text: str) -> bool:
    return any(unicodedata.category(each) == "Sc" for each in text) or any(map(names_currency, _WORD.findall(text)))


def _factor(before: str, after: str) -> Decimal:
    found = _AFTER.match(after)
    gap, word = (found["gap"], found["word"]) if found else ("", "")
    factor = _scale(word)
    rest = after[len(gap) + len(word) :] if factor is not None else after
    is_money = _has_money(before + after)
    small = word.casefold()
    if factor is None and small in _LETTERS and (not gap or is_money or word in "kKM"):
        raise _more(word)
    if factor is None and ((is_money and small in _MONEY_LETTERS) or word == "MM" or _SCALED_CODE.fullmatch(small)):
        raise _more(word)
    following = [each for each in _WORD.findall(rest) if not names_currency(each)][:1]
    for other in [*_WORD.findall(before), *_WORD.findall(rest)]:  # `€ million 5`, `5 thousand million`
        if other.casefold() in SCALES or other.casefold() in ENGLISH_SCALES:
            raise _more(other, "beside")
    for other in following:
        is_letter = is_money and other.casefold() in _MONEY_LETTERS
        if is_letter or other.casefold() in DOUBTFUL or other[0] in (*CJK_SCALES, *CJK_DOUBTFUL):
            raise _more(other)
    if found := _SCALE_OF_SIGN.search(before):
        raise _more(found[0], "before")
    if code := next((each for each in _WORD.findall(before) if _SCALED_CODE.fullmatch(each.casefold())), ""):
        raise _more(code, "before")
    for part in DOUBTFUL_PARTS:
        if part in before + after:
            raise _more(part, "beside")
    return factor or Decimal(1)


def _more(word: str, where: str = "after") -> ValueError:
    return ValueError(f"may be more than it says, because of the {word!r} {where} it")


def _scale(word: str) -> Decimal | None:
    """What the word after a number multiplies it by; None if it is no such word.

    Raises:
        ValueError: it may be one, or may mean several.
    """
    power = ENGLISH_SCALES.get(word, SCALES.get(word.casefold()))
    if power is not None:
        return Decimal(10) ** power
    if not word:
        return None
    if word.casefold() in DOUBTFUL or word[0] in CJK_DOUBTFUL:
        raise _more(word)
    scales = re.match(f"[{''.join(CJK_SCALES)}]*", word)
    signs, rest = (scales[0], word[scales.end() :]) if scales else ("", word)
    if not signs:
        return None
    if rest[:1] and (rest[0] in CJK_DOUBTFUL or (CJK_SCALES[signs[-1]] < 4 and rest[0] not in CJK_MONEY)):
        raise _more(word)
    return Decimal(10) ** sum(CJK_SCALES[each] for each in signs)


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


def _plain_number(token: str, decimal: str | None, *, has_decimal_commas: bool = False) -> Decimal:
    sign = _sign_shown(token)
    doubtful = ".," if has_decimal_commas else "."
    if sign is None and decimal is None and (found := re.search(f"[{doubtful}]", token)):
        whole, part = token.split(found[0])
        raise ValueError(f"may be {whole}{part} or {f'{whole}.{part}'.rstrip('0').rstrip('.')}")
    if sign is None:
        sign = decimal or "."
    whole, _, part = token.partition(sign)
    is_grouped = _GROUPS.fullmatch(whole) and len({*re.findall(r"\D", whole)}) == 1
    if not (whole.isdecimal() or is_grouped) or (part and not part.isdecimal()):
        raise ValueError("is not a single number")
    digits = re.sub(r"\D", "", whole)
    return Decimal(f"{digits}.{part}" if part else digits)
