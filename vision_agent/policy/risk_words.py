"""The risks that the words of a text tell, and how it is compared with the tables of words in `risk_tables`.

Some words mean a payment only beside an amount of money: `Book` may be a noun, and `Book for €80` is none.
A text is read as a person would read it, whatever letters it is written with: see `readings`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from confusable_homoglyphs import confusables

from vision_agent.policy.risk_tables import (
    ANSWER_SIGNS,
    ANSWERS,
    BEGINNING_WITH_AMOUNT,
    BINS,
    GOING_ON,
    IRREVERSIBLE,
    LONE_SYMBOLS,
    NO_PAYMENTS,
    REFUSALS,
    SYMBOLS,
    TO_CART,
    VIEWS,
    WITH_AMOUNT,
    WORDS,
)
from vision_agent.text.money import amounts_in
from vision_agent.types import Risk

_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[\w'\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]+")
"""Thai vowels above and below a letter are no letters to Python."""
_HAS_LETTER = re.compile(r"[^\W_]")
_DIGITS = re.compile(r"\d+")
_SIGNS = re.compile(r"[^\w\s'-]+|(?<!\w)-|-(?!\w)|\n")
"""What parts a text. A hyphen within a word does not: `E-Book`."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BACKWARDS = re.compile("[\u202e\u202b\u2067]")
_STRIPPED_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
_UNDIVIDED = str.maketrans({"ł": "l", "Ł": "L", "ı": "i", "ß": "ss", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D"})
"""Letters whose stroke or dot Unicode does not take for an accent."""
_APART = re.compile(r"\b\w(?: \w\b){2,}")
_SAID_SYMBOLS = str.maketrans(SYMBOLS)
_SAID_LONE_SYMBOLS = str.maketrans(SYMBOLS | LONE_SYMBOLS)
_LIKE_LETTERS = str.maketrans("013457$@|!", "oleastsali")
_SMALL_CAPITAL = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])$")
_ARABIC_ARTICLE = re.compile(r"\bال(?=\w{2})")
_SHORTEST_APART = 3
LONGEST = 2000
"""How many letters of a text are examined."""


def risks_in(text: str) -> Iterator[Risk]:
    """The risks that a text indicates, in the order of `WORDS`; anything after its first 2,000 letters is not read."""
    said = readings(text)
    apart = "\n".join(run.replace(" ", "") for each in said for run in _APART.findall(each))
    unnumbered = {" ".join(_DIGITS.sub(" ", each).split()) for each in said if _DIGITS.search(each)}
    for risk in WORDS:
        left = [each for each in said if each not in _whole_names(NO_PAYMENTS)] if risk == "pay" else said
        is_said = any(_stands_in(word, each) for word in _entries(risk) for each in left) or _is_in_run(risk, apart)
        is_said = is_said or any(_stands_in(word, each) for word in _parted(risk) for each in unnumbered)
        if is_said or (risk == "pay" and has_amount(text) and _pays_amount(text)):
            yield risk


def says_one_of(text: str, words: Iterable[str]) -> bool:
    """Whether one of the words is in the text, with `*` and `=` as in `WORDS`."""
    said = readings(text)
    return any(_stands_in(form, each) for word in words for form in _forms(word) for each in said)


def has_amount(text: str) -> bool:
    """Whether there is an amount of money in a text."""
    return bool(amounts_in(text[:LONGEST]))


def only_shows(text: str) -> bool:
    """Whether a button of this name only shows something or puts it into the cart, whatever amount the name has."""
    views = _whole_names(VIEWS)
    words = [" ".join(_DIGITS.sub(" ", each).split()) for each in readings(text)]
    begins = any(each == view or each.startswith(f"{view} ") for each in words for view in views)
    return begins or says_one_of(text, entries_of(TO_CART))


def is_bin(text: str) -> bool:
    """Whether something of this name deletes what is dropped on it."""
    return says_one_of(text, entries_of(BINS))


def is_named_bin(text: str) -> bool:
    """Whether a button of this name moves something to a bin: it is called like one, and not like a cart."""
    return bool(_whole_names(BINS) & set(readings(text))) and not only_shows(text)


def is_answer(text: str) -> bool:
    """Whether a button of this name only agrees, and what is over or beside it tells to what: `Yes, continue`."""
    parts = [part for part in _SIGNS.split(text[:LONGEST]) if _HAS_LETTER.search(part)]
    if not parts:
        return any(each in ANSWER_SIGNS for each in text)
    names = _whole_names(ANSWERS) | _whole_names(GOING_ON)
    return bool(names & set(readings(text))) or all(names & set(readings(part)) for part in parts)


def only_continues(text: str) -> bool:
    """Whether a button of this name may only lead on to the next of several steps."""
    return bool(_whole_names(GOING_ON) & set(readings(text)))


def is_irreversible(text: str) -> bool:
    """Whether the text of a dialog says that what it asks cannot be undone."""
    return says_one_of(text, entries_of(IRREVERSIBLE))


def is_refusal(text: str) -> bool:
    """Whether a button of this name answers a question with no."""
    return bool(_whole_names(REFUSALS) & set(readings(text)))


@cache
def readings(text: str) -> tuple[str, ...]:
    """The ways in which a person may read a text, each as lower-case words with single spaces; the plain one first.

    They have no invisible characters, no accents and no differences of width. Letters of other scripts that look like
    Latin ones are read as these (Unicode's confusables, UTS 39), and so are digits and signs among letters. Text
    that is turned round is also read backwards. Names of icons are read in words: `delete_forever`, 🗑. Arabic is
    also read without its article, which is a part of its word.
    """
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).replace("’", "'")
    is_turned = bool(_BACKWARDS.search(plain))
    shown = "".join(each for each in plain if unicodedata.category(each) not in ("Cf", "Cc", "Cs") or each in "\n\t")
    shown = _without_accents(shown)
    shown = shown.translate(_SAID_SYMBOLS if _HAS_LETTER.search(shown) else _SAID_LONE_SYMBOLS)
    alike = "".join(map(_latin, shown))
    forms = [shown, alike, alike.replace("I", "l"), _CAMEL.sub(" ", alike).replace("_", " "), _letters_for_signs(alike)]
    if is_turned:
        forms += [shown[::-1], alike[::-1]]
    forms.append(_ARABIC_ARTICLE.sub("", shown))
    return tuple(dict.fromkeys(" ".join(_WORD.findall(form.casefold())) for form in forms))


def _forms(word: str) -> tuple[str, ...]:
    """A word of a list in the forms in which `readings` gives texts."""
    start, end = "=" * word.startswith("="), "*" * word.endswith("*")
    said = readings(word.strip("=*"))
    return tuple(f"{start}{each}{end}" for each in said[:2])


@cache
def _entries(risk: Risk) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for word in entries_of(WORDS[risk]) for form in _forms(word)))


@cache
def _parted(risk: Risk) -> tuple[str, ...]:
    """The entries of several words, between which a number may stand: `sell 10 shares`."""
    return tuple(word for word in _entries(risk) if " " in word and not word.startswith("="))


@cache
def _whole_names(words: str) -> frozenset[str]:
    """The entries of a table in the forms in which `readings` gives texts."""
    return frozenset(form for word in entries_of(words) for form in _forms(word))


def _pays_amount(text: str) -> bool:
    """Whether a text with an amount of money says that it is paid."""
    if says_one_of(text, entries_of(WITH_AMOUNT)):
        return True
    first = [each.split(" ")[0] for part in _SIGNS.split(text[:LONGEST]) for each in readings(part)]
    return bool(_whole_names(BEGINNING_WITH_AMOUNT) & set(first))


@cache
def entries_of(words: str) -> tuple[str, ...]:
    """The entries of a table of words, separated by bars and line breaks."""
    return tuple(word for each in words.replace("|", "\n").splitlines() if (word := each.strip()))


def _stands_in(word: str, said: str) -> bool:
    if not word.strip("=*"):
        return False
    if word.startswith("="):
        return word[1:] == said
    if _WITHOUT_SPACES.search(word):
        return word.rstrip("*") in said
    if word.endswith("*"):
        return f" {word[:-1]}" in f" {said}"
    return f" {word} " in f" {said} "


def _without_accents(text: str) -> str:
    """The text without the accents of Latin, Greek and Cyrillic letters; in other scripts they make other letters."""
    kept, base = [], ""
    for each in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(each):
            base = unicodedata.name(each, "")
        elif base.startswith(_STRIPPED_SCRIPTS):
            continue
        kept.append(each)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_UNDIVIDED)


@cache
def _latin(letter: str) -> str:
    """The Latin letter that a letter looks like; the letter itself if it is none of another script."""
    if letter.isascii():
        return letter
    if name := _SMALL_CAPITAL.match(unicodedata.name(letter, "")):
        return name[1].lower()
    alike = [each["c"] for each in confusables.confusables_data.get(letter, ())]
    return next((each for each in alike if len(each) == 1 and each.isascii() and each.isalpha()), letter)


def _letters_for_signs(text: str) -> str:
    """The text with digits and signs among letters read as the letters that they look like."""
    words = text.split(" ")
    return " ".join(each.translate(_LIKE_LETTERS) if re.search(r"[^\W\d_]", each) else each for each in words)


def _is_in_run(risk: Risk, runs: str) -> bool:
    """Whether a word of the risk is in letters that were set apart, such as `p a y  n o w`, and are joined here."""
    words = (word.strip("=*").replace(" ", "") for word in _entries(risk)) if runs else ()
    return any(len(word) >= _SHORTEST_APART and word in runs for word in words)
