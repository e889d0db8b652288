"""What results come to, as one HTML file that opens from disk; what it looks like stands in `templates`.

Runs are linked, and their pictures shown, by the way from the file to their folders. Everything in it but the style is
data, and escaped; a content security policy lets it have that style, pictures from where it lies, and no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from vision_agent.evals.by_task import Cell, TaskRow, by_task
from vision_agent.evals.causes import Cause, causes
from vision_agent.evals.items import Found, Result, WrongElement
from vision_agent.evals.parting import Parting, beside, parted
from vision_agent.evals.summary import Group, Pair, Row, Summary, grouped, summary
from vision_agent.evals.tables import (
    ANSWERS,
    CAVEAT,
    INTERVALS,
    agreement_in_words,
    bound_in_words,
    bounds_note,
    reached_in_words,
    reached_note,
)
from vision_agent.record.report import BESIDE, REPORT, environment, policy, write_named
from vision_agent.record.report import TEMPLATES as SHARED

PAGE = "results.html"
TEMPLATES = Path(__file__).parent / "templates"

_PARTED = 12
"""Of one suite: each is two pictures."""
_TASKS = 33
"""Rows of a block of the map: as many as fit a screen, with the letters above each."""


@dataclass(frozen=True)
class Setting:
    """One setting as the page shows it."""

    letter: str
    """Stands for it wherever there is no room for its name."""
    row: Row
    group: Group
    floor: str
    ceiling: str
    reached: str
    judge: str


@dataclass(frozen=True)
class Try:
    """One item as the map shows it."""

    seed: int
    sign: str
    state: str
    told: str
    href: str
    """Of the run's report; empty where there is no run."""


@dataclass(frozen=True)
class Square:
    """One setting on one task."""

    cell: Cell
    heat: int | None
    """From 0, none passed, to 4, all; None where none has a score."""
    tries: tuple[Try, ...]


@dataclass(frozen=True)
class Dot:
    """One setting in the plot, in its units."""

    letter: str
    """Beside it: of those that lie close together the last has all letters but the first's, in their order."""
    x: float
    y: float
    low: float
    high: float
    is_left: bool = False
    """Where the letter stands."""


@dataclass(frozen=True)
class Plot:
    """Success against what it took."""

    what: str
    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: tuple[str, ...]
    """Letters of those that have no place in it."""


@dataclass(frozen=True)
class Part:
    """One suite."""

    name: str
    settings: tuple[Setting, ...]
    pairs: tuple[tuple[str, str, Pair], ...]
    """With the letters of the two."""
    ablations: tuple[tuple[str, str, Pair], ...]
    """The same of what was left out."""
    wrong: tuple[tuple[str, Result, WrongElement, str], ...]
    """With the letter of the setting, and the way to the step in the run's report."""
    plot: Plot | None
    blocks: tuple[tuple[tuple[TaskRow, tuple[Square | None, ...]], ...], ...]
    causes: tuple[tuple[Cause, tuple[tuple[Setting, tuple[tuple[Result, str], ...]], ...]], ...]
    parted: tuple[Parting, ...]
    could_part: int

    @property
    def tasks(self) -> int:
        return sum(map(len, self.blocks))

    @property
    def is_answered(self) -> bool:
        """Whether recorded pages were asked about."""
        return any(setting.row.answers for setting in self.settings)

    @property
    def items(self) -> int:
        return sum(setting.row.items for setting in self.settings)

    def letter(self, group: Group) -> str:
        """Of a setting."""
        return next(setting.letter for setting in self.settings if setting.group is group)


def write_page(found: Mapping[str, Sequence[Found]], path: Path) -> Path:
    """The file just written.

    Raises:
        UsageError: the file cannot be written there.
    """
    return write_named(path, render_page(found, path.parent))


def render_page(found: Mapping[str, Sequence[Found]], at: Path) -> str:
    """The page as HTML, for a file in the folder `at`; results are by what their folder is called."""
    results = {name: [each.result for each in those] for name, those in found.items()}
    groups, told = grouped(results), summary(results)
    runs = {(name, each.result.item.id): each.run for name, those in found.items() for each in those if each.run}
    parts = [
        _part(suite, [group for group in groups if group.suite == suite], told, runs, at)
        for suite in dict.fromkeys(row.suite for row in told.rows)
    ]
    # The widest map decides how wide a block of any is: styles in the page itself are kept out by its policy.
    widest = max(len(part.settings) for part in parts)
    seeds = max(
        len(square.tries) for part in parts for block in part.blocks for _, row in block for square in row if square
    )
    style = "".join(each.read_text("utf-8") for each in (SHARED / "report.css", TEMPLATES / "results.css"))
    style += f":root {{ --settings: {widest}; --tries: {min(seeds, 5)}; }}\n"
    style += "".join(f".of-{many} {{ --here: {many}; }}\n" for many in {len(part.settings) for part in parts})
    return (
        environment(TEMPLATES)
        .get_template("results.html.j2")
        .render(
            parts=parts,
            answered=" ".join([ANSWERS, *told.pictures]),
            notes=" ".join([INTERVALS, CAVEAT, *bounds_note(told), *reached_note(told)]),
            href=lambda way: _href(way, at),
            style=Markup(style),
            policy=policy(style, "", pictures=f"data: {BESIDE}"),
        )
    )


def _part(suite: str, groups: Sequence[Group], told: Summary, runs: Mapping[tuple[str, str], Path], at: Path) -> Part:
    rows = {row.label: row for row in told.rows if row.suite == suite}
    best = sorted(groups, key=lambda group: -_rate(rows[group.label]))
    settings = [_setting(place, rows[group.label], group) for place, group in enumerate(best)]
    letters = {setting.row.label: setting.letter for setting in settings}
    tasks = [(row, _squares(row, best, runs, at)) for row in by_task(best)]
    partings, could = parted(best, dict(runs), _PARTED)
    return Part(
        name=suite,
        settings=tuple(settings),
        pairs=_of_suite(told.pairs, suite, letters),
        ablations=_of_suite(told.ablations, suite, letters),
        wrong=_wrong(settings, runs, at),
        plot=_plot(settings),
        blocks=tuple(tuple(tasks[place : place + _TASKS]) for place in range(0, len(tasks), _TASKS)),
        causes=tuple((cause, _by_setting(cause, settings, runs, at)) for cause in causes(best)),
        parted=tuple(partings),
        could_part=could,
    )


def _of_suite(pairs: Sequence[Pair], suite: str, letters: Mapping[str, str]) -> tuple[tuple[str, str, Pair], ...]:
    named = [(letters[pair.first], letters[pair.second], pair) for pair in pairs if pair.suite == suite]
    return tuple(sorted(named, key=lambda each: each[:2]))


def _rate(row: Row) -> float:
    return row.success.value if row.success else -1.0


def _setting(place: int, row: Row, group: Group) -> Setting:
    letter = chr(ord("A") + place) if place < 26 else str(place + 1)
    return Setting(
        letter,
        row,
        group,
        bound_in_words(row, row.floor),
        bound_in_words(row, row.ceiling),
        reached_in_words(row.reached),
        agreement_in_words(row.judge),
    )


def _squares(
    row: TaskRow, groups: Sequence[Group], runs: Mapping[tuple[str, str], Path], at: Path
) -> tuple[Square | None, ...]:
    return tuple(
        Square(cell, _heat(cell), _tries(group, row.task, runs, at)) if cell else None
        for cell, group in zip(row.cells, groups, strict=True)
    )


def _heat(cell: Cell) -> int | None:
    if cell.rate is None:
        return None
    if cell.rate in (0.0, 1.0):
        return 4 if cell.rate else 0
    return 1 + min(2, int(cell.rate * 3))


_SIGNS = {True: ("✓", "ok"), False: ("✕", "failed"), None: ("?", "skipped")}


def _tries(group: Group, task: str, runs: Mapping[tuple[str, str], Path], at: Path) -> tuple[Try, ...]:
    tries = []
    for result in sorted((each for each in group.results if each.item.task == task), key=lambda each: each.item.seed):
        sign, state = ("!", "warned") if result.error else _SIGNS[result.passed]
        said = result.error or result.sentence or ("passed" if result.passed else "not passed")
        tries.append(Try(result.item.seed, sign, state, said, _report(group, result, runs, at)))
    return tuple(tries)


def _wrong(
    settings: Sequence[Setting], runs: Mapping[tuple[str, str], Path], at: Path
) -> tuple[tuple[str, Result, WrongElement, str], ...]:
    told = []
    for setting in settings:
        for result in setting.group.results:
            way = _report(setting.group, result, runs, at)
            for wrong in result.witness.wrong if result.witness else ():
                told.append((setting.letter, result, wrong, f"{way}#step-{wrong.step}" if way else ""))
    return tuple(told)


def _by_setting(
    cause: Cause, settings: Sequence[Setting], runs: Mapping[tuple[str, str], Path], at: Path
) -> tuple[tuple[Setting, tuple[tuple[Result, str], ...]], ...]:
    told = []
    for setting in settings:
        those = [each.result for each in cause.items if each.group is setting.group]
        if those:
            told.append((setting, tuple((each, _report(setting.group, each, runs, at)) for each in those)))
    return tuple(told)


def _report(group: Group, result: Result, runs: Mapping[tuple[str, str], Path], at: Path) -> str:
    """The way to the report of a run, or to its folder; empty where there is none."""
    run = runs.get((group.name, result.item.id))
    if run is None or not run.is_dir():
        return ""
    return _href(run / REPORT if (run / REPORT).is_file() else run, at)


def _href(way: Path, at: Path) -> str:
    return quote(beside(way, at), safe="/")


# --- the plot ---------------------------------------------------------------------------------------------------------

_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 404.0, 14.0, 224.0
_NEAR = 16.0


def _plot(settings: Sequence[Setting]) -> Plot | None:
    """Success against the cost of an item, or its seconds where nothing cost anything; None with fewer than two."""
    costs = any(setting.row.cost_usd for setting in settings)
    placed = [
        (setting, x) for setting in settings if (x := _x_of(setting.row, costs)) is not None and setting.row.success
    ]
    if len(placed) < 2:
        return None
    step = _step(max(x for _, x in placed))
    most = step * 4
    dots: list[Dot] = []
    for setting, value in sorted(placed, key=lambda each: each[1]):
        success = setting.row.success
        assert success is not None
        x = _LEFT + (_RIGHT - _LEFT) * value / most
        y, low, high = (_BOTTOM - (_BOTTOM - _TOP) * each for each in (success.value, success.low, success.high))
        letter, before = setting.letter, dots[-1] if dots else None
        is_close = before is not None and abs(before.x - x) < _NEAR and abs(before.y - y) < _NEAR
        if before is not None and is_close:
            is_first = len(dots) < 2 or not dots[-2].is_left or dots[-2].x < before.x - _NEAR
            letter = letter if is_first else f"{before.letter} {letter}"
            dots[-1] = replace(before, letter=before.letter if is_first else "", is_left=is_first)
        dots.append(Dot(letter, x, y, low, high, is_left=x > _RIGHT - _NEAR and not is_close))
    return Plot(
        what="Dollars an item" if costs else "Seconds an item: nothing here cost anything",
        dots=tuple(dots),
        ticks=tuple((_LEFT + (_RIGHT - _LEFT) * place / 4, _told(round(step * place, 6), costs)) for place in range(5)),
        left_out=tuple(setting.letter for setting in settings if setting not in [each for each, _ in placed]),
    )


def _told(number: float, costs: bool) -> str:
    return f"${number:g}" if costs else f"{number:g} s"


def _x_of(row: Row, costs: bool) -> float | None:
    if costs:
        return None if row.cost_usd is None or not row.items else row.cost_usd / row.items
    return row.seconds.value if row.seconds else None


def _step(most: float) -> float:
    """A round quarter of an axis that holds so much."""
    if most <= 0:
        return 1.0
    size = 1e-6
    while True:
        for round_one in (1, 2, 2.5, 5):
            if size * round_one * 4 >= most:
                return size * round_one
        size *= 10
