"""Finds words that stand in rows and columns without lines around them, such as a price list. Knows only boxes.

Columns are texts in line with each other, at their left, their right or in the middle; rows are level. Words count as a
table only where it is plain which column each text is in; a text that may be in two makes them none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from statistics import median
from typing import NamedTuple

from vision_agent.geometry import Box

_LEVEL = 4.0
"""How far the middles of texts in one row may differ, in CSS pixels: letters reach up or down in some of them."""
_IN_LINE = 3.0
"""How far the edges of texts in one column may differ."""
_LEAST = 3
"""The fewest texts of a column and rows of a table; two rows of two are four buttons as well."""
_TOGETHER = 0.6
"""The share of a column's texts that must be level with those of another column of the table."""
_APART = 2.2
"""The gap between rows that ends a table, in times the usual one."""
_SAME_ROW = 0.62
"""How near to a row the further lines of a text in it are, in times the usual gap."""
_JOINED = 2.5
"""The largest gap between texts of one cell, in times their height."""
_REACHES = 4.0
"""How far into a column a text reaches that is in it too, in CSS pixels."""
_CLEARLY = 2.0
_MOST_HEADS = 2
"""The most rows of headings that are told from the rows below them."""
_HEAD_AT = 1.6
"""How far above the first row the headings are at most, in times the usual gap."""
_FULL = 0.55
"""The share of places that must have a text."""


@dataclass
class WordColumn:
    """A column: its texts by row, and where the texts that are in line surely are."""

    core: tuple[float, float]
    edge: str = ""
    """The edge at which its texts are in line; empty if they are not."""
    texts: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))

    @property
    def left(self) -> float:
        """The leftmost edge of its texts."""
        return min(box.x for boxes in self.texts.values() for box in boxes)

    @property
    def right(self) -> float:
        """The rightmost edge of its texts."""
        return max(box.right for boxes in self.texts.values() for box in boxes)

    def is_in_line(self, box: Box) -> bool:
        """Whether a text is in line with those of the column."""
        left, right = self.core
        apart = {"left": box.x - left, "right": box.right - right, "middle": box.center.x - (left + right) / 2}
        return self.edge in apart and abs(apart[self.edge]) <= _IN_LINE


@dataclass(frozen=True)
class WordTable:
    """Words in rows and columns: the height of each row's middle, and its columns from left to right."""

    levels: tuple[float, ...]
    columns: tuple[WordColumn, ...]
    high: float
    """The usual height of a text."""

    def crossings(self) -> list[tuple[Box, WordColumn, WordColumn]]:
        """The texts that reach into a further column, with their own and that."""
        return [
            (box, column, after)
            for at, column in enumerate(self.columns)
            for boxes in column.texts.values()
            for box in boxes
            for after in self.columns[at + 1 :]
            if box.right - after.core[0] >= min(_REACHES, after.core[1] - after.core[0])
        ]

    def row_of(self, box: Box) -> int:
        """The row that a text is in."""
        return min(range(len(self.levels)), key=lambda at: abs(self.levels[at] - box.center.y))


class WordTables(NamedTuple):
    """The tables found, and whether there are words that may be one, but not plainly."""

    tables: tuple[WordTable, ...]
    is_unclear: bool


def find_word_tables(lines: Sequence[Box]) -> WordTables:
    """The tables among lines of text."""
    clusters = _in_line(lines)
    tables: list[WordTable] = []
    is_unclear = False
    for group in _level_groups(clusters):
        own = {id(box) for cluster in group for box in cluster.boxes}
        foreign = {id(box) for each in clusters if each not in group for box in each.boxes}
        rest = [line for line in lines if id(line) not in own]
        for levels, usual in _runs(group):
            table = _table(levels, group, rest, foreign)
            is_unclear |= table is None
            tables += [_with_head(table, usual, lines)] if table else []
    return WordTables(tuple(tables), is_unclear)


@dataclass(frozen=True, eq=False)
class _Cluster:
    """Texts in line with each other."""

    edge: str
    boxes: tuple[Box, ...]

    @property
    def core(self) -> tuple[float, float]:
        narrow = min(box.width for box in self.boxes)
        if self.edge == "left":
            left = median(box.x for box in self.boxes)
            return left, left + narrow
        if self.edge == "right":
            right = median(box.right for box in self.boxes)
            return right - narrow, right
        middle = median(box.center.x for box in self.boxes)
        return middle - narrow / 2, middle + narrow / 2


def _in_line(lines: Sequence[Box]) -> list[_Cluster]:
    """The columns that there may be: each text with the most that it shares an edge or the middle with."""
    places = {"left": [box.x for box in lines], "right": [box.right for box in lines]}
    places["middle"] = [box.center.x for box in lines]
    groups: dict[tuple[str, int], list[int]] = {}
    best: dict[int, tuple[int, tuple[str, int]]] = {}
    for edge, values in places.items():
        for number, members in enumerate(_close(values)):
            groups[edge, number] = members
            for at in members:
                if at not in best or len(members) > best[at][0]:
                    best[at] = len(members), (edge, number)
    chosen: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for at, (_, key) in best.items():
        chosen[key].append(at)
    return [_Cluster(key[0], tuple(lines[at] for at in own)) for key, own in chosen.items() if len(own) >= _LEAST]


def _close(values: Sequence[float]) -> Iterable[list[int]]:
    """The positions of values that are close to each other."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    group: list[int] = []
    for at in order:
        if group and values[at] - values[group[0]] > _IN_LINE:
            yield group
            group = []
        group.append(at)
    if group:
        yield group


def _level_groups(clusters: Sequence[_Cluster]) -> list[list[_Cluster]]:
    """The columns that belong together, because their texts are level."""
    groups: list[list[_Cluster]] = [[each] for each in clusters]
    for at, one in enumerate(clusters):
        for other in clusters[at + 1 :]:
            if not _are_level(one, other):
                continue
            mine = next(group for group in groups if one in group)
            its = next(group for group in groups if other in group)
            if mine is not its:
                mine += its
                groups.remove(its)
    return [group for group in groups if len(group) > 1]


def _are_level(one: _Cluster, other: _Cluster) -> bool:
    fewer, more = sorted((one, other), key=lambda each: len(each.boxes))
    level = sum(any(abs(box.center.y - its.center.y) <= _LEVEL for its in more.boxes) for box in fewer.boxes)
    return level >= max(_LEAST, _TOGETHER * len(fewer.boxes))


def _runs(group: Sequence[_Cluster]) -> list[tuple[list[float], float]]:
    """The heights of the rows of each table, without rows of one text before and after it, and their usual gap."""
    levels: list[list[tuple[float, int]]] = []
    for y, column in sorted((box.center.y, at) for at, each in enumerate(group) for box in each.boxes):
        if levels and y - levels[-1][0][0] <= _LEVEL:
            levels[-1].append((y, column))
        else:
            levels.append([(y, column)])
    rows = [(median(y for y, _ in level), len({column for _, column in level})) for level in levels]
    full = [y for y, many in rows if many > 1]
    if len(full) < _LEAST:
        return []
    usual = median(after - before for before, after in pairwise(full))
    runs: list[list[tuple[float, int]]] = [[]]
    for row in rows:
        if runs[-1] and row[0] - runs[-1][-1][0] > _APART * usual:
            runs.append([])
        runs[-1].append(row)
    found = []
    for run in runs:
        while run and run[0][1] < 2:
            run.pop(0)
        while run and run[-1][1] < 2:
            run.pop()
        # The further lines of a text are no rows.
        wide = [y for y, many in run if many > 1]
        kept = [y for y, many in run if many > 1 or min(abs(y - each) for each in wide) > _SAME_ROW * usual]
        if len(wide) >= _LEAST:
            found.append((kept, usual))
    return found


def _table(
    levels: Sequence[float], group: Sequence[_Cluster], rest: Sequence[Box], foreign: Set[int]
) -> WordTable | None:
    """The table with rows at these heights; None if it is not plain what is in which column.

    `foreign`: which of the other texts, by identity, are in line with others and so in no column beside the table.
    """
    usual = min(after - before for before, after in pairwise(levels))
    high = median(box.height for each in group for box in each.boxes if _row_of(box, levels, usual) is not None)
    columns = _columns(group, levels, usual)
    left, right = min(each.left for each in columns), max(each.right for each in columns)
    gap = max([0.0, *(after.left - before.right for before, after in pairwise(columns))])
    near = max(2 * gap, 4 * high)
    rows: defaultdict[int, list[Box]] = defaultdict(list)
    for box in rest:
        row = _row_of(box, levels, usual)
        by = 0.0 if id(box) in foreign else near
        if row is not None and box.right > left - by and box.x < right + by:
            rows[row].append(box)
    more: list[tuple[int, Box]] = []
    for row, boxes in rows.items():
        for box in boxes:
            at = _column_of(box, row, columns, high)
            if at == "unclear":
                return None
            if isinstance(at, int):
                columns[at].texts[row].append(box)
            else:
                more.append((row, box))
    every = _with_more(columns, more)
    every = every and _with_heads_in_order(every)
    if every is None:
        return None
    places = len(levels) * len(every)
    full = sum(len(each.texts) for each in every)
    many = Counter(row for each in every for row in each.texts)
    if full < _FULL * places or sum(count > 1 for count in many.values()) < _LEAST:
        return None
    return WordTable(tuple(levels), tuple(every), high)


def _row_of(box: Box, levels: Sequence[float], usual: float) -> int | None:
    row = min(range(len(levels)), key=lambda at: abs(levels[at] - box.center.y))
    return row if abs(levels[row] - box.center.y) <= max(_LEVEL, _SAME_ROW * usual) else None


def _columns(group: Sequence[_Cluster], levels: Sequence[float], usual: float) -> list[WordColumn]:
    """The columns from left to right; texts of two kinds of alignment, one above the other, are one."""
    columns: list[WordColumn] = []
    for cluster in sorted(group, key=lambda each: -len(each.boxes)):
        texts: defaultdict[int, list[Box]] = defaultdict(list)
        for box in cluster.boxes:
            row = _row_of(box, levels, usual)
            if row is not None:
                texts[row].append(box)
        if not texts:
            continue
        new = WordColumn(cluster.core, cluster.edge, texts)
        same = next((each for each in columns if not set(each.texts) & set(texts) and _overlap(each, new)), None)
        if same is None:
            columns.append(new)
        else:
            same.texts.update(texts)
    return sorted(columns, key=lambda each: sum(each.core))


def _overlap(one: WordColumn, other: WordColumn) -> bool:
    common = min(one.right, other.right) - max(one.left, other.left)
    return common >= 0.5 * min(one.right - one.left, other.right - other.left)


def _column_of(box: Box, row: int, columns: Sequence[WordColumn], high: float) -> int | str:
    """The column that a text is in, `new` if in none of them, `unclear` if that cannot be told."""
    reached = [at for at, each in enumerate(columns) if min(box.right, each.core[1]) - max(box.x, each.core[0]) > 0]
    if reached:
        return reached[0] if not columns[reached[0]].texts.get(row) else _beside(box, row, columns, high)
    before = [at for at, each in enumerate(columns) if each.texts.get(row) and each.texts[row][-1].x < box.x]
    after = [at for at, each in enumerate(columns) if each.texts.get(row) and each.texts[row][0].x >= box.x]
    low, most = max(before, default=-1) + 1, min(after, default=len(columns)) - 1
    free = [at for at in range(low, most + 1) if columns[at].left - _JOINED * high < box.right]
    free = [at for at in free if box.x < columns[at].right + _JOINED * high]
    far = {at: max(0.0, columns[at].left - box.right, box.x - columns[at].right) for at in free}
    if not free:
        return _beside(box, row, columns, high)
    nearest, *others = sorted(free, key=lambda at: far[at])
    if others and far[others[0]] < _CLEARLY * far[nearest] + high / 2:
        return "unclear"
    return nearest


def _beside(box: Box, row: int, columns: Sequence[WordColumn], high: float) -> int | str:
    """The column of the text right beside this one in its row; `new` if there is none."""
    for at, each in enumerate(columns):
        for other in each.texts.get(row, ()):
            apart = max(box.x - other.right, other.x - box.right)
            is_below = min(box.right, other.right) > max(box.x, other.x)
            if is_below or apart <= _JOINED * high / 2:
                return at
    return "new"


def _with_more(columns: list[WordColumn], more: Sequence[tuple[int, Box]]) -> list[WordColumn] | None:
    """The columns, with those of texts that are in none of them; None if these overlap."""
    added: list[WordColumn] = []
    for row, box in sorted(more, key=lambda each: each[1].x):
        if added and box.x < added[-1].right:
            added[-1].texts[row].append(box)
        else:
            new = WordColumn((box.x, box.right))
            new.texts[row].append(box)
            added.append(new)
    for each in added:
        if any(min(each.right, other.core[1]) - max(each.left, other.core[0]) > _REACHES for other in columns):
            return None
    return sorted([*columns, *added], key=lambda each: sum(each.core))


# --- headings that are not in line with their columns -----------------------------------------------------------------


def _with_heads_in_order(columns: list[WordColumn]) -> list[WordColumn] | None:
    """The columns, with headings at the left of numbers that are in line at the right in the columns of these.

    A heading far to the left of its numbers is nearer to those of the column before it. None if it cannot be told
    which heading is whose.
    """
    alone = [at for at, each in enumerate(columns) if max(each.texts) < _MOST_HEADS and not each.edge]
    if not alone:
        return columns
    heads = 1 + max(row for at in alone for row in columns[at].texts)
    nameless = [at for at, each in enumerate(columns) if min(each.texts) >= heads]
    if not any(_is_moved(columns[first + 1 : last + 1]) for first in alone for last in nameless if first < last):
        return columns
    bodies = [each for each in columns if max(each.texts) >= heads]
    ordered = [
        WordColumn(each.core, each.edge, defaultdict(list, {at: own for at, own in each.texts.items() if at >= heads}))
        for each in bodies
    ]
    for row in range(heads):
        texts = sorted((box for each in columns for box in each.texts.get(row, ())), key=lambda box: box.x)
        if not _are_above(texts, ordered):
            return None
        for each, box in zip(ordered, texts, strict=True):
            each.texts[row] = [box]
    return ordered


def _is_moved(between: Sequence[WordColumn]) -> bool:
    """Whether all columns are in line at the right, and one of them not at the left as well."""
    bodies = [[box for row, own in each.texts.items() if row >= _MOST_HEADS for box in own] for each in between]
    if not all(bodies) or any(_spread([box.right for box in each]) > 2 * _IN_LINE for each in bodies):
        return False
    return any(_spread([box.x for box in each]) > 2 * _IN_LINE for each in bodies)


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _are_above(texts: Sequence[Box], columns: Sequence[WordColumn]) -> bool:
    """Whether each column has one of the texts, between what is left and what is right of the column."""
    if len(texts) != len(columns):
        return False
    after = [*(each.left for each in columns[1:]), inf]
    before = [-inf, *(each.right for each in columns[:-1])]
    return all(
        low - _IN_LINE <= box.x and box.right <= high + _IN_LINE and box.x < own.right and box.right > low
        for box, own, low, high in zip(texts, columns, before, after, strict=True)
    )


def _with_head(table: WordTable, usual: float, lines: Sequence[Box]) -> WordTable:
    """The table with the row of headings above it that are at the left of numbers in line at the right, if any."""
    bodies = [each for each in table.columns if each.edge]
    if len(bodies) < len(table.columns) or not any(_is_moved([each]) for each in bodies):
        return table
    known = {id(box) for each in bodies for own in each.texts.values() for box in own}
    above = [
        line for line in lines if id(line) not in known and 0 < table.levels[0] - line.center.y <= _HEAD_AT * usual
    ]
    texts = sorted(above, key=lambda box: box.x)
    if len(texts) < 2 or _spread([box.center.y for box in texts]) > _LEVEL or not _are_above(texts, table.columns):
        return table
    columns = tuple(
        WordColumn(
            each.core, each.edge, defaultdict(list, {0: [box]} | {row + 1: own for row, own in each.texts.items()})
        )
        for each, box in zip(table.columns, texts, strict=True)
    )
    return WordTable((median(box.center.y for box in texts), *table.levels), columns, table.high)
