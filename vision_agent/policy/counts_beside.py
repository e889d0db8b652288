"""Counts that stand beside what is pressed, such as *5 users selected* beside `Delete`: what else it would act on.

Counts of what others do, such as views and stars, and of what is in stock change by themselves and say nothing of that.
Knows texts, and neither pages nor records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from vision_agent.text.money import amounts_in

_COUNT = re.compile(
    r"(?<![\w.,:/#№+-])[(\[]?(?P<number>\d{1,3}(?:[.,'\u00a0\u202f]\d{3})+|\d{1,9})[)\]]?"
    r"\s+(?P<what>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})"
)
_BEHIND = re.compile(r"(?P<what>[^\W\d_]+)\s*[(\[](?P<number>\d{1,9})[)\]]")
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
_OF_ITSELF = frozenset(_CHANGING.split())
"""Words, without an `s` at their end, of counts that change by themselves."""


class Count(NamedTuple):
    """A number of things."""

    number: int
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
        for found in (*_COUNT.finditer(said), *_BEHIND.finditer(said)):
            words = [each.casefold().rstrip("s") for each in found["what"].split()]
            if len(words[0]) < _SHORTEST or not _OF_ITSELF.isdisjoint(words):
                continue
            count = Count(int(re.sub(r"\D", "", found["number"])), " ".join(found[0].split()))
            if (key := " ".join(words)) not in largest or count.number > largest[key].number:
                largest[key] = count
    return largest
