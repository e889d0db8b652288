"""How many, how much and for whom a button acts, as the fields, lists, ticks and lines beside it say.

In a replay, the same button does something else if more or somebody else is there than in the record, unless the replay
set that itself. Knows observations, and neither pages nor records.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import NamedTuple

from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.text.escape import cut_text, printable_line
from vision_agent.text.fold import folded
from vision_agent.text.same_value import numbers_meant

RECIPIENTS = """
    to | cc | bcc | recipient | recipients | payee | beneficiary | send to | pay to | ship to | deliver to | transfer to
    account holder | iban | account number | an | an wen | empfänger | empfängerin | begünstigter | kontoinhaber
    kontonummer | destinataire | destinataires | bénéficiaire | à | para | destinatario | destinatarios | beneficiario
    destinatário | beneficiário | destinatari | a | naar | aan | ontvanger | begunstigde | odbiorca | do | alıcı
    kime | mottagare | till | til | modtager | кому | получатель | 宛先 | 送金先 | 收件人 | 收款人 | 받는 사람 | إلى
"""
"""Whole names of fields, and words before a colon, that say who gets what is sent or paid."""
_NO_QUANTITY = """
    day | month | year | hour | minute | date | time | zip | zip code | postcode | postal code | phone | fax | id | no
    number | code | pin | reference | ref | year of birth | tag | monat | jahr | stunde | datum | uhrzeit | plz
    postleitzahl | telefon | nummer | nr | jour | mois | année | heure | code postal | téléphone | numéro | día | mes
    año | hora | código postal | teléfono | número | giorno | mese | anno | ora | cap | telefono | numero
"""
"""Last words of names of fields whose numbers count nothing."""
_NOT_COUNTED = frozenset(
    ("tel", "email", "url", "search", "date", "time", "month", "week", "datetime-local", "password")
)
_SELECTABLE = frozenset(("row", "option", "gridcell", "treeitem", "listitem"))
_MOST_SAID = 60


class Differs(NamedTuple):
    """What stands beside a button here, and what stood there in the record, each in words."""

    here: str
    before: str


def more_set(old: Mark, new: Mark, was: Observation, now: Observation, given: Collection[str]) -> Differs | None:
    """A larger number in a field or list, or more that is ticked, than in the record; `given`: what the replay set."""
    ticked, before = len(_ticked(new, now)), len(_ticked(old, was))
    if ticked > before:
        return Differs(f"{ticked} ticked or selected", f"{before or 'nothing'} ticked or selected")
    then = _quantities(old, was)
    for key, (mark, number) in _quantities(new, now).items():
        if key in then and number > then[key][1] and not _is_given(_value(mark), given):
            return Differs(_said(mark), _said(then[key][0]))
    return None


def other_recipient(
    old: Mark,
    new: Mark,
    was: Observation,
    now: Observation,
    given: Collection[str],
    texts: tuple[Sequence[str], Sequence[str]],
) -> Differs | None:
    """Somebody else in a field, a list or a line that says to whom; `texts`: what is beside it, then and now."""
    then = {_identity(mark): mark for mark in _fields(old, was) if _says_who(mark.name)}
    for mark in _fields(new, now):
        before = then.get(_identity(mark))
        if before is not None and _is_other(_value(before), _value(mark), given):
            return Differs(_said(mark), _said(before))
    said, says = map(_told_recipients, texts)
    for label, who in says.items():
        if label in said and _is_other(said[label], who, given):
            return Differs(_quoted(label, who), _quoted(label, said[label]))
    return None


def _fields(button: Mark, seen: Observation) -> list[Mark]:
    """The fields and lists of the button's document that show what they hold."""
    every = {mark.number: mark for mark in (*seen.out_of_view, *seen.marks)}.values()
    here = (mark for mark in every if mark.frame == button.frame)
    return [mark for mark in here if mark.kind == "field" and not mark.state.masked and mark.state.value is not None]


def _ticked(button: Mark, seen: Observation) -> list[Mark]:
    """The boxes that are ticked and the rows that are selected in the button's document."""
    every = {mark.number: mark for mark in (*seen.out_of_view, *seen.marks)}.values()
    here = [mark for mark in every if mark.frame == button.frame]
    return [mark for mark in here if _is_ticked(mark)]


def _is_ticked(mark: Mark) -> bool:
    if mark.state.checked is not None:
        return mark.state.checked == "true" and mark.role not in ("radio", "menuitemradio")
    return mark.role in _SELECTABLE and mark.state.selected is True


def _quantities(button: Mark, seen: Observation) -> dict[tuple[object, ...], tuple[Mark, Decimal]]:
    """The fields and lists that hold a number of something, the largest of those that are alike."""
    found: dict[tuple[object, ...], tuple[Mark, Decimal]] = {}
    for mark in _fields(button, seen):
        numbers = numbers_meant(_value(mark)) if _may_count(mark) else set()
        key = _identity(mark)
        if numbers and (key not in found or max(numbers) > found[key][1]):
            found[key] = mark, max(numbers)
    return found


def _may_count(mark: Mark) -> bool:
    if mark.state.input_type in _NOT_COUNTED or mark.role == "searchbox":
        return False
    last = (folded(mark.name).rstrip(" :*").split() or [""])[-1]
    return last not in _names(_NO_QUANTITY) and folded(mark.name) not in _names(_NO_QUANTITY)


def _identity(mark: Mark) -> tuple[object, ...]:
    what = mark.tag, mark.role, mark.state.input_type
    return *what, *map(folded, (mark.name, mark.context, mark.heading))


def _told_recipients(texts: Iterable[str]) -> dict[str, str]:
    """Who is named in lines such as `To: Ann Lee`, or in the text after one that is only `To`."""
    listed = [*texts]
    told: dict[str, str] = {}
    for text, following in zip_longest(listed, listed[1:], fillvalue=""):
        label, colon, who = map(str.strip, text.partition(":"))
        if _says_who(label) and (who or following):
            told.setdefault(label, who if colon and who else following.strip())
    return told


def _is_other(was: str, now: str, given: Collection[str]) -> bool:
    if "<secret:" in was or "<private:" in was:
        return False  # the record does not say who it was
    return bool(now.strip()) and folded(was) != folded(now) and not _is_given(now, given)


def _is_given(value: str, given: Collection[str]) -> bool:
    """Whether the replay set a value: it is one of those given, has one in it, or means the same number."""
    said, numbers = f" {_plain(value)} ", numbers_meant(value)
    if numbers:
        return any(numbers & numbers_meant(each) for each in given)
    return any((words := _plain(each)) and f" {words} " in said for each in given)


def _says_who(name: str) -> bool:
    return folded(name).rstrip(" :*") in _names(RECIPIENTS)


def _names(table: str) -> frozenset[str]:
    return frozenset(map(folded, risk_words.entries_of(table)))


def _value(mark: Mark) -> str:
    return mark.state.value or ""


def _said(mark: Mark) -> str:
    return _quoted(mark.name or mark.role, _value(mark))


def _quoted(name: str, value: str) -> str:
    shown = f'"{cut_text(printable_line(value), _MOST_SAID)}"' if value else "nothing"
    return f"{cut_text(printable_line(name.rstrip(' :')), _MOST_SAID)}: {shown}"


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))
