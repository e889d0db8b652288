"""Counts that stand beside what is pressed, such as *5 users selected* beside `Delete`: what else it would act on.

Counts of what others do, such as views and stars, and of what is in stock change by themselves and say nothing of that.
Knows texts, and neither pages nor records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import zip_longest
from typing import NamedTuple

from vision_agent.text.money import amounts_in
from vision_agent.text.same_value import numbers_meant

_COUNT = re.compile(
    r"(?<![\w.,:/#№+-])[(\[]?(?P<number>\d{1,3}(?:[.,'\u00a0\u202f]\d{3})+|\d{1,9})[)\]]?"
    r"\s+(?P<what>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})"
)
_BEHIND = re.compile(r"(?P<what>[^\W\d_]+)\s*[(\[](?P<number>\d{1,9})[)\]]")
_LABELLED = re.compile(
    r"(?<![\w'’-])(?P<what>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})\s*:\s*"
    r"(?P<number>\d(?:[\d.,'\u00a0\u202f]*\d)?)(?:\s*/\s*\d{1,9})?(?![\w:/–-])"
)
"""A count or an amount after its name: `Selected: 5`, `Total: 49.00`, `Selected: 5/50`."""
_OF_ALL = re.compile(
    r"(?<![\w.,:/#№+-])(?P<number>\d{1,9})\s*(?:/|\b(?:of|von|sur|de|di|van|av)\b)\s*\d{1,9}"
    r"\s+(?P<what>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})"
)
"""How many of all: `5/50 selected`, `5 of 50 rows`."""
_LONE = re.compile(r"[(\[]?\d[\d.,'\u00a0\u202f]*[)\]]?")
_SHORTEST = 3
"""A shorter word is a unit, such as `kg`."""
_CHANGING = """
active ago alert answer available bid bought click comment commit contributor day download follower following fork hit
hour left like listener min minute month new notification online person people play point rating reaction read remaining
reply replie repost result retweet review save sec second share sold star stock subscriber time unread update view
viewer visit visitor vote watcher watching week year
abonnenten aufruf aufrufe besucher bewertung bewertungen kommentar kommentare lager minuten monate neu neue stern sterne
stimmen stunden tage ungelesen ungelesene verfügbar verkauft wochen zuschauer übrig
abonné avi commentaire disponible étoile jour restant vendu vue
calificacione comentario estrella reseña seguidore vendido vista
commenti disponibili recensioni stelle venduti visualizzazioni
"""
_NAMING = """
account balance call case code credit customer date day extension gate hour id invoice level no nr number order page
phone pin po point postcode ref reference room score step tel ticket time version year zip
aufgabe auftrag bestellung datum guthaben konto kontostand kunde nr nummer plz punkte raum rechnung saldo schritt seite
stand telefon termin uhrzeit version vorgang zeit zimmer
année compte code commande date facture heure numéro page référence solde téléphone
año cuenta código fecha factura hora número pedido página referencia saldo teléfono
anno conto codice data fattura ora numero ordine pagina riferimento telefono
"""
_NUMBERED = frozenset(_NAMING.split())
"""Words before a colon and a number that name something, or tell a time or what somebody has, and count nothing."""
_OF_ITSELF = frozenset(_CHANGING.split())
"""Words, without an `s` at their end, of counts that change by themselves."""


class Count(NamedTuple):
    """A number of things."""

    number: Decimal
    words: str
    """As the text writes it."""


def counts_in(texts: Iterable[str]) -> dict[str, Count]:
    """The largest count of each kind of thing in texts that stand one after the other."""
    listed = [*texts]
    largest: dict[str, Count] = {}
    for text, following in zip_longest(listed, listed[1:], fillvalue=""):
        said = f"{text} {following}" if _LONE.fullmatch(text.strip()) else text
        for amount in amounts_in(said):
            said = said.replace(amount.words, " ")
        for key, count in _counts_of(said):
            if key not in largest or count.number > largest[key].number:
                largest[key] = count
    return largest


def _counts_of(said: str) -> Iterator[tuple[str, Count]]:
    """The counts in a text, each with what is counted."""
    parts = [*_OF_ALL.finditer(said)]
    rest = _OF_ALL.sub(" ", said)
    for found in (*parts, *_COUNT.finditer(rest), *_BEHIND.finditer(rest)):
        words = [each.casefold().rstrip("s") for each in found["what"].split()]
        if len(words[0]) >= _SHORTEST and _OF_ITSELF.isdisjoint(words):
            number = Decimal(re.sub(r"\D", "", found["number"]))
            yield " ".join(words), Count(number, " ".join(found[0].split()))
    for found in _LABELLED.finditer(rest):
        written = [each.casefold() for each in found["what"].split()]
        words = [each.rstrip("s") for each in written]
        numbers = numbers_meant(found["number"])
        if numbers and written[-1] not in _NUMBERED and _OF_ITSELF.isdisjoint(words):
            yield f"{' '.join(words)}:", Count(max(numbers), " ".join(found[0].split()))
