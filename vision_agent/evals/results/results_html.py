"""Renders results as one HTML file that opens from disk; the templates are in `templates`.

It links runs and shows their pictures by relative paths. Everything in it but the style is data, and escaped; its
content security policy allows that style, pictures from its own location, and no scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from vision_agent.evals.items import FoundResult, ItemResult, WrongElement
from vision_agent.evals.results.by_task import TaskRow, TaskScore, by_task
from vision_agent.evals.results.divergence import Divergence, find_divergences, relative_path
from vision_agent.evals.results.failure_causes import Cause, causes
from vision_agent.evals.results.summary import Group, ResultsSummary, SettingPair, SuiteRow, grouped, summary
from vision_agent.evals.results.tables import (
    ANSWERS,
    CAVEAT,
    INTERVALS,
    agreement_in_words,
    bound_in_words,
    bounds_note,
    reached_in_words,
    reached_note,
)
from vision_agent.record.report import BESIDE, REPORT, environment, policy, report_style, write_named

PAGE = "results.html"
_SECONDS = "Seconds: the mean of a whole item, with the start of its browser."
TEMPLATES = Path(__file__).parent / "templates"

_PARTED = 12
"""Maximum for one suite: each takes two pictures."""
_TASKS = 33
"""Rows in one block of the map: as many as fit on a screen, below the letters."""


@dataclass(frozen=True)
class Setting:
    """One setting on the page."""

    letter: str
    """Its short name where space is limited."""
    row: SuiteRow
    group: Group
    floor: str
    ceiling: str
    reached: str
    judge: str


@dataclass(frozen=True)
class Try:
    """One item in the map."""

    seed: int
    sign: str
    state: str
    words: str
    href: str
    """Link to the run's report; empty if there is no run."""


@dataclass(frozen=True)
class Square:
    """One setting on one task."""

    cell: TaskScore
    heat: int | None
    """From 0, none passed, to 4, all passed; None without scores."""
    tries: tuple[Try, ...]


@dataclass(frozen=True)
class Dot:
    """One setting in the plot, in SVG units."""

    letter: str
    """Its label. Of dots close together, the first has its own letter; the last has those of all others, in order."""
    x: float
    y: float
    low: float
    high: float
    is_left: bool = False
    """Whether the letter is on the left."""


@dataclass(frozen=True)
class Plot:
    """A plot of success against cost or time."""

    what: str
    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: tuple[str, ...]
    """Letters of settings that cannot be placed."""


@dataclass(frozen=True)
class SuiteSection:
    """One suite on the page."""

    name: str
    settings: tuple[Setting, ...]
    pairs: tuple[tuple[str, str, SettingPair], ...]
    """Each with the letters of its two settings."""
    ablations: tuple[tuple[str, str, SettingPair], ...]
    """The same for ablations."""
    wrong: tuple[tuple[str, ItemResult, WrongElement, str], ...]
    """Each with the letter of the setting, and the link to the step in the run's report."""
    plot: Plot | None
    blocks: tuple[tuple[tuple[TaskRow, tuple[Square | None, ...]], ...], ...]
    causes: tuple[tuple[Cause, tuple[tuple[Setting, tuple[tuple[ItemResult, str], ...]], ...]], ...]
    parted: tuple[Divergence, ...]
    could_part: int

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return sum(map(len, self.blocks))

    @property
    def is_answered(self) -> bool:
        """Whether its tasks are recorded pages."""
        return any(setting.row.answers for setting in self.settings)

    @property
    def items(self) -> int:
        """Number of items, over all settings."""
        return sum(setting.row.items for setting in self.settings)

    def letter(self, group: Group) -> str:
        """The letter of a setting."""
        return next(setting.letter for setting in self.settings if setting.group is group)


def write_page(found: Mapping[str, Sequence[FoundResult]], path: Path) -> Path:
    """Write the page and return its path.

    Raises:
        UsageError: the file cannot be written there.
    """
    return write_named(path, render_page(found, path.parent))


def render_page(found: Mapping[str, Sequence[FoundResult]], at: Path) -> str:
    """The page as HTML for a file in the folder `at`; `found` maps the name of a result folder to its results."""
    results = {name: [each.result for each in those] for name, those in found.items()}
    groups, totals = grouped(results), summary(results)
    runs = {(name, each.result.item.id): each.run for name, those in found.items() for each in those if each.run}
    parts = [
        _part(suite, [group for group in groups if group.suite == suite], totals, runs, at)
        for suite in dict.fromkeys(row.suite for row in totals.rows)
    ]
    # The widest map sets the width of all blocks: the page's policy forbids style attributes.
    widest = max(len(part.settings) for part in parts)
    seeds = max(
        len(square.tries) for part in parts for block in part.blocks for _, row in block for square in row if square
    )
    style = str(report_style(TEMPLATES / "results.css"))
    style += f":root {{ --settings: {widest}; --tries: {min(seeds, 5)}; }}\n"
    style += "".join(f".of-{many} {{ --here: {many}; }}\n" for many in {len(part.settings) for part in parts})
    return (
        environment(TEMPLATES)
        .get_template("results.html.j2")
        .render(
            parts=parts,
            answered=" ".join([ANSWERS, *totals.pictures]),
            notes=" ".join([INTERVALS, _SECONDS, CAVEAT, *bounds_note(totals), *reached_note(totals)]),
            href=lambda way: _href(way, at),
            kept_by=_kept_by,
            style=Markup(style),
            policy=policy(style, "", pictures=f"data: {BESIDE}"),
        )
    )


def _part(
    suite: str, groups: Sequence[Group], totals: ResultsSummary, runs: Mapping[tuple[str, str], Path], at: Path
) -> SuiteSection:
    rows = {row.label: row for row in totals.rows if row.suite == suite}
    best = sorted(groups, key=lambda group: -_rate(rows[group.label]))
    settings = [_setting(place, rows[group.label], group) for place, group in enumerate(best)]
    letters = {setting.row.label: setting.letter for setting in settings}
    tasks = [(row, _squares(row, best, runs, at)) for row in by_task(best)]
    partings, could = find_divergences(best, dict(runs), _PARTED)
    return SuiteSection(
        name=suite,
        settings=tuple(settings),
        pairs=_of_suite(totals.pairs, suite, letters),
        ablations=_of_suite(totals.ablations, suite, letters),
        wrong=_wrong(settings, runs, at),
        plot=_plot(settings),
        blocks=tuple(tuple(tasks[place : place + _TASKS]) for place in range(0, len(tasks), _TASKS)),
        causes=tuple((cause, _by_setting(cause, settings, runs, at)) for cause in causes(best)),
        parted=tuple(partings),
        could_part=could,
    )


def _of_suite(
    pairs: Sequence[SettingPair], suite: str, letters: Mapping[str, str]
) -> tuple[tuple[str, str, SettingPair], ...]:
    named = [(letters[pair.first], letters[pair.second], pair) for pair in pairs if pair.suite == suite]
    return tuple(sorted(named, key=lambda each: each[:2]))


def _rate(row: SuiteRow) -> float:
    return row.success.value if row.success else -1.0


def _setting(place: int, row: SuiteRow, group: Group) -> Setting:
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


def _heat(cell: TaskScore) -> int | None:
    if cell.rate is None:
        return None
    if cell.rate in (0.0, 1.0):
        return 4 if cell.rate else 0
    return 1 + min(2, int(cell.rate * 3))


def _kept_by(squares: Sequence[Square | None]) -> str:
    """The filters that keep a task, as CSS classes."""
    known = [square for square in squares if square is not None]
    heats = [square.heat for square in known if square.heat is not None]
    words = {
        "failing": any(heat < 4 for heat in heats),
        "lost-by-all": bool(heats) and not any(heats),
        "broken": any(each.state == "warned" for square in known for each in square.tries),
    }
    return " ".join(word for word, holds in words.items() if holds)


_SIGNS = {True: ("✓", "ok"), False: ("✕", "failed"), None: ("?", "skipped")}


def _tries(group: Group, task: str, runs: Mapping[tuple[str, str], Path], at: Path) -> tuple[Try, ...]:
    tries = []
    for result in sorted((each for each in group.results if each.item.task == task), key=lambda each: each.item.seed):
        sign, state = ("!", "warned") if result.error else _SIGNS[result.passed]
        sentence = result.error or result.sentence or ("passed" if result.passed else "not passed")
        tries.append(Try(result.item.seed, sign, state, sentence, _report(group, result, runs, at)))
    return tuple(tries)


def _wrong(
    settings: Sequence[Setting], runs: Mapping[tuple[str, str], Path], at: Path
) -> tuple[tuple[str, ItemResult, WrongElement, str], ...]:
    rows = []
    for setting in settings:
        for result in setting.group.results:
            way = _report(setting.group, result, runs, at)
            for wrong in result.witness.wrong if result.witness else ():
                rows.append((setting.letter, result, wrong, f"{way}#step-{wrong.step}" if way else ""))
    return tuple(rows)


def _by_setting(
    cause: Cause, settings: Sequence[Setting], runs: Mapping[tuple[str, str], Path], at: Path
) -> tuple[tuple[Setting, tuple[tuple[ItemResult, str], ...]], ...]:
    rows = []
    for setting in settings:
        those = [each.result for each in cause.items if each.group is setting.group]
        if those:
            rows.append((setting, tuple((each, _report(setting.group, each, runs, at)) for each in those)))
    return tuple(rows)


def _report(group: Group, result: ItemResult, runs: Mapping[tuple[str, str], Path], at: Path) -> str:
    """The link to the report of a run, or to its folder; empty if there is none."""
    run = runs.get((group.name, result.item.id))
    if run is None or not run.is_dir():
        return ""
    return _href(run / REPORT if (run / REPORT).is_file() else run, at)


def _href(way: Path, at: Path) -> str:
    return quote(relative_path(way, at), safe="/")


# --- the plot ---------------------------------------------------------------------------------------------------------

_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 404.0, 14.0, 224.0
_NEAR = 16.0


def _plot(settings: Sequence[Setting]) -> Plot | None:
    """Success against cost per item, or against seconds if nothing cost anything; None for fewer than two settings."""
    costs = any(setting.row.cost_usd for setting in settings)
    placed = [
        (setting, x) for setting in settings if (x := _plot_x(setting.row, costs)) is not None and setting.row.success
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
        what="Dollars per item" if costs else "Seconds per item (no item cost anything)",
        dots=tuple(dots),
        ticks=tuple(
            (_LEFT + (_RIGHT - _LEFT) * place / 4, _tick_label(round(step * place, 6), costs)) for place in range(5)
        ),
        left_out=tuple(setting.letter for setting in settings if setting not in [each for each, _ in placed]),
    )


def _tick_label(number: float, costs: bool) -> str:
    return f"${number:g}" if costs else f"{number:g} s"


def _plot_x(row: SuiteRow, costs: bool) -> float | None:
    if costs:
        return None if row.cost_usd is None or not row.items else row.cost_usd / row.items
    return row.seconds.value if row.seconds else None


def _step(most: float) -> float:
    """A round number for a quarter of an axis that must reach `most`."""
    if most <= 0:
        return 1.0
    size = 1e-6
    while True:
        for round_one in (1, 2, 2.5, 5):
            if size * round_one * 4 >= most:
                return size * round_one
        size *= 10
