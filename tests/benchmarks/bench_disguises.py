"""What the search for disguised secrets masks in ordinary text, with typical secrets that are not in it, and its time.

`python tests/benchmarks/bench_disguises.py`. The text is that of the fixture pages, of the fixture sites and of the
documentation. Where a value stands as it is, in any case, it is masked too, but counted apart: that is no mistake.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from vision_agent.text.disguises import FAR, Disguises

ROOT = Path(__file__).parents[2]
WORDS = (
    "password",
    "letmein",
    "welcome",
    "sunset",
    "dragon",
    "monkey",
    "iloveyou",
    "princess",
    "football",
    "shadow",
    "master",
    "hunter2",
    "summer2024",
    "Passw0rd!",
    "qwerty123",
    "admin123",
    "trustno1",
    "correcthorse",
    "Tr0ub4dor&3",
    "changeme",
    "secret123",
    "winter24",
    "berlin1990",
    "rosebud",
)


@dataclass(frozen=True)
class Masked:
    """How often secrets of one kind were masked in ordinary text."""

    kind: str
    secrets: int
    as_it_is: int
    disguised: int


def ordinary_texts() -> Iterator[str]:
    """The texts of pages, one piece for each text node, and of the documentation."""
    for path in sorted((ROOT / "fixtures").rglob("*.html")):
        source = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", FAR, path.read_text("utf-8", "replace"))
        yield unescape(re.sub(r"(?s)<[^>]*>", FAR, source))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        yield path.read_text("utf-8")


def typical_secrets() -> dict[str, list[str]]:
    """Secrets as people have them, by kind; the same each time."""
    chance = random.Random(7)
    letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

    def digits(many: int, count: int) -> list[str]:
        return ["".join(chance.choices("0123456789", k=many)) for _ in range(count)]

    return {
        "PIN of 4 digits": digits(4, 300),
        "code of 6 digits": digits(6, 300),
        "card number": digits(16, 100),
        "common password": [*WORDS, *(f"{word}{chance.randrange(100)}" for word in WORDS)],
        "random password of 8": ["".join(chance.choices(letters, k=8)) for _ in range(100)],
        "random password of 16": ["".join(chance.choices(letters, k=16)) for _ in range(100)],
    }


def measure(share: int = 1) -> list[Masked]:
    """What is masked of the ordinary texts, by kind of secret; with every `share`-th secret."""
    texts = [*ordinary_texts()]
    rows = []
    for kind, values in ((kind, values[::share]) for kind, values in typical_secrets().items()):
        as_it_is = disguised = 0
        for value in values:
            search = Disguises([("secret", value)])
            for text in texts:
                for found in search.find(text):
                    is_same = value.casefold() in text[found.start : found.end].casefold()
                    as_it_is, disguised = as_it_is + is_same, disguised + (not is_same)
        rows.append(Masked(kind, len(values), as_it_is, disguised))
    return rows


def main() -> None:
    """Prints the table."""
    texts = [*ordinary_texts()]
    letters = sum(map(len, texts))
    search = Disguises([("word", "Tr0ub4dor&3"), ("card", "4929123412341234"), ("pin", "4711")])
    began = time.perf_counter()
    for text in texts:
        search.find(text)
    seconds = time.perf_counter() - began
    print(f"{letters:,} characters; {seconds / letters * 1e8:.1f} ms for 100,000 of them with three secrets")
    for row in measure():
        print(f"{row.kind}: {row.secrets} secrets, {row.as_it_is} as they are, {row.disguised} disguised")


if __name__ == "__main__":
    main()
