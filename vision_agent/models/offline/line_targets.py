"""What a step line may name as its target: a mark by its name or number, a point, or a cell of a grid."""

from __future__ import annotations

import re
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"<(?:secret|private):([\w.-]+)>")


def names_in_placeholders(text: str) -> frozenset[str]:
    """The names of the secrets and private data for which a text has placeholders."""
    return frozenset(PLACEHOLDER.findall(text))


@dataclass(frozen=True)
class NamedTarget:
    """A mark by its name: the original `words`, and `name`, `kind` and `nth` as one way to read them."""

    words: str
    name: str
    kind: str = ""
    """A word of `KIND_WORDS`, or empty."""
    nth: int = 0
    """Which of several marks in reading order, from 1; 0 if not given."""
    beside: str = ""
    """Words that distinguish it from others of its name, such as those of its row, card or heading."""
    is_exact: bool = False
    """Whether a longer name, or one with other punctuation, is no match: it may be another customer's."""
    is_beside_exact: bool = False
    """The same for the words beside it, and what its row or card is itself called."""
    in_row: bool = False
    """Whether the words beside it are those of its row or card, and not the heading over that."""
    whole_name: str = ""
    """The name, if what stands beside it may also be its end; else empty."""
    is_quoted: bool = False
    """Whether the name stood in quotes, so that none of its words says what kind of thing it is."""

    def __str__(self) -> str:
        return f"{self.words!r}"


@dataclass(frozen=True)
class NumberedTarget:
    """A mark by its number, and by its letter if given."""

    number: int
    letter: str = ""

    def __str__(self) -> str:
        return f"[{self.letter}{self.number}]"


@dataclass(frozen=True)
class PicturePoint:
    """A point in pixels of the picture."""

    x: float
    y: float

    def __str__(self) -> str:
        return f"({self.x:g}, {self.y:g})"


@dataclass(frozen=True)
class PointInMark:
    """A point inside a mark's box, from (0, 0) at its top left to (1, 1) at its bottom right."""

    x: float
    y: float
    mark: NamedTarget | NumberedTarget

    def __str__(self) -> str:
        return f"({self.x:g}, {self.y:g}) of {self.mark}"


@dataclass(frozen=True)
class GridCell:
    """A cell of a mark that has rows and columns, or of the only such mark in a surface or laid over it by a zoom."""

    row: int
    column: int
    mark: NamedTarget | NumberedTarget

    def __str__(self) -> str:
        return f"row {self.row} column {self.column} of {self.mark}"


LineTarget = NamedTarget | NumberedTarget | PicturePoint | PointInMark | GridCell
