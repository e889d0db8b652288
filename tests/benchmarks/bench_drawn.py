"""What is read from canvases: shapes, roles, cells and charts, against what the pages say: `make bench-drawn`.

Libraries that the detection was tuned on and libraries that it was not are reported apart. A shape is found when a
proposal covers at least 60% of what the two cover together; a proposal that covers no shape, and is no line of text,
is wrong. The value of a chart is off by its distance from the true one as a share of the axis. Last, a look is timed
with and without proposals, in turns, new and unchanged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from loopback import Folder, LoopbackServer
from pages import ROOT, MissingPages, site

from vision_agent.actions import Point
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.geometry import Box
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import OcrReader, can_read
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.candidates import propose
from vision_agent.vision.surfaces.charts import Chart
from vision_agent.vision.surfaces.tracking import Drawing

DRAWN, SURFACES = ROOT / "fixtures" / "drawn", ROOT / "fixtures" / "surfaces"
SHAPES = {
    True: (("outlines", (1, 11)), ("konva", (2, 12)), ("roughjs", (3, 13))),
    False: (("two.js", (4, 14)), ("paper", (5, 15)), ("zrender", (6, 16))),
}
"""By whether it was tuned on: pages and the seeds of their scenes."""
CHARTS = {
    True: ("chart.js", "echarts", "chart.js-doughnut", "chart.js-level", "chart.js-stacked", "echarts-pie", "flot"),
    False: ("uplot", "dygraphs", "vega", "echarts-level", "echarts-stacked"),
}
ROLES = {
    True: ("controls", "litegraph.js", "fabric", "cytoscape"),
    False: ("leafer-editor", "konva-editor", "chart.js", "echarts"),
}
_ROLE_OF = {
    "litegraph.js": {"handle": "port", "shape": "node"},
    "fabric": {"handle": "handle"},
    "chart.js": {"point": "point"},
    "echarts": {"bar": "bar"},
}
"""What a person would call the controls of a page, by the beginning of their ids or their kind."""
_LIBRARY_OF = {
    "konva-editor": "konva",
    "chart.js-doughnut": "chart.js",
    "chart.js-level": "chart.js",
    "chart.js-stacked": "chart.js",
    "echarts-pie": "echarts",
    "echarts-level": "echarts",
    "echarts-stacked": "echarts",
}
"""The library of a page that is not called like it."""
REACH = "97% found, 95% right, 90% of roles, 2% of the axis, looks 1.3 and 1.05 times as long, no word listed as empty"
_ALIKE, _SAME_ROLE = 0.6, 0.4
_WITHIN = 0.02
_VIEW = Box(x=0, y=0, width=1280, height=800)
_LOOKS = 6


@dataclass(frozen=True)
class Shapes:
    """Of the scenes of one library."""

    name: str
    is_tuned: bool
    objects: int
    found: int
    proposals: int
    wrong: int


@dataclass(frozen=True)
class Roles:
    """Of one page."""

    name: str
    is_tuned: bool
    things: int
    right: int


@dataclass(frozen=True)
class Values:
    """Of one chart."""

    name: str
    is_tuned: bool
    expected: int
    """The values that the page shows at the texts of its axis; for a chart that was not recognized, all."""
    read: int
    within: int
    worst: float


@dataclass(frozen=True)
class Cost:
    """How many times as long a look takes with proposals, new and unchanged."""

    name: str
    cold: float
    unchanged: float


@dataclass
class Figures:
    """Everything that was measured."""

    shapes: list[Shapes] = field(default_factory=list)
    roles: list[Roles] = field(default_factory=list)
    charts: list[Values] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    cells: int = 0
    empty: int = 0
    """Cells with something in them that are listed as empty."""
    misread: int = 0
    """Cells whose text is wrong and not said to be unsure."""


@contextmanager
def shown(name: str) -> Iterator[str]:
    """The address of a page, with its library if it has one.

    Raises:
        MissingPages: the library cannot be fetched.
    """
    page = next(folder / f"{name}.html" for folder in (DRAWN, SURFACES) if (folder / f"{name}.html").is_file())
    is_own = name in ("outlines", "controls", "cells", "chart")
    library = None if is_own else site(_LIBRARY_OF.get(name, name)).root

    class Pages(Folder):
        def translate_path(self, path: str) -> str:
            path = path.partition("?")[0]
            if path == "/":
                return str(page)
            if path.startswith("/lib/") and library is not None:
                return str(library / path.removeprefix("/lib/"))
            return str(DRAWN / path.removeprefix("/"))

    with LoopbackServer(Pages) as server:
        yield f"{server.address}/"


@dataclass(frozen=True)
class Drawn:
    """A page as it shows, and what it says."""

    picture: Picture
    surface: Box
    controls: list[dict[str, Any]]
    chart: dict[str, Any] | None
    cells: list[dict[str, Any]]


async def drawn(page: Page, name: str, seed: int | None = None) -> Drawn:
    with shown(name) as address:
        await page.goto(address + (f"?seed={seed}" if seed is not None else ""))
        await page.wait_for_function("window.drawn && (window.ready ?? true)")
        await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        picture = Picture.decode(await page.screenshot(scale="css", caret="initial"), _VIEW)
        surface = Box.model_validate(await page.locator("canvas").first.bounding_box()).intersection(_VIEW)
        assert surface is not None
        return Drawn(
            picture,
            surface,
            await page.evaluate("window.drawn.controls?.() ?? []"),
            await page.evaluate("window.drawn.chart?.() ?? null"),
            await page.evaluate("window.drawn.cells?.() ?? []"),
        )


def shapes_of(name: str, scenes: Sequence[Drawn], *, is_tuned: bool) -> Shapes:
    """How many objects of the scenes are found, and how many proposals are none."""
    objects = found = proposals = wrong = 0
    for scene in scenes:
        boxes = [Box.model_validate(each["box"]) for each in scene.controls]
        proposed = propose(scene.picture, scene.surface)
        places = [each.box for each in proposed.proposals if each.shape != "words"]
        places += [lattice.box for lattice in proposed.lattices]
        objects, proposals = objects + len(boxes), proposals + len(places)
        found += sum(any(box.likeness(place) >= _ALIKE for place in places) for box in boxes)
        wrong += sum(not any(box.likeness(place) >= _ALIKE for box in boxes) for place in places)
    return Shapes(name, is_tuned, objects, found, proposals, wrong)


def roles_of(name: str, page: Drawn, reader: OcrReader | None, *, is_tuned: bool) -> Roles:
    """How many things whose role the page says have it."""
    looked = Drawing().look(
        page.picture,
        page.surface,
        Point(x=page.surface.x, y=page.surface.y),
        read=reader.read if reader else None,
        most=120,
    )
    names = _ROLE_OF.get(name, {})
    things = right = 0
    for each in page.controls:
        wanted = each.get("role") or names.get(each.get("id", "").split(":")[0]) or names.get(each.get("kind", ""))
        if not wanted:
            continue
        box = Box.model_validate(each["box"])
        best = max(looked.things, key=lambda thing: thing.box.likeness(box))
        things += 1
        right += best.told.role == wanted and best.box.likeness(box) >= _SAME_ROLE
    return Roles(name, is_tuned, things, right)


def values_of(name: str, page: Drawn, reader: OcrReader, *, is_tuned: bool) -> Values:
    """How far the values of a chart are from the true ones."""
    looked = Drawing().look(page.picture, page.surface, Point(x=page.surface.x, y=page.surface.y), read=reader.read)
    truth = page.chart
    assert truth is not None
    expected = sum(len(each["values"]) for each in truth["series"])
    if looked.chart is None:
        return Values(name, is_tuned, expected, 0, 0, 1.0)
    every = [value for each in truth["series"] for value in each["values"]]
    axis = max(every) - min(0, min(every))
    off = [abs(mine - true) / axis for mine, true in _pairs(looked.chart, truth)]
    if not off:
        return Values(name, is_tuned, expected, 0, 0, 1.0)
    missing = len(truth["series"]) - sum(
        any(mine.name == each["name"] for mine in looked.chart.series) for each in truth["series"]
    )
    many = len(off) + missing * len(off) // max(1, len(truth["series"]) - missing)
    return Values(name, is_tuned, many, len(off), sum(each <= _WITHIN for each in off), max(off, default=1.0))


def _pairs(chart: Chart, truth: dict[str, Any]) -> Iterator[tuple[float, float]]:
    for series in truth["series"]:
        own = next((each for each in chart.series if each.name == series["name"]), None)
        for at, value, _ in own.values if own else ():
            if "(" in at:
                continue
            true = _true_value(at, truth["x"], series["values"])
            if true is not None:
                yield value, true


def _true_value(at: str, places: list[Any], values: list[float]) -> float | None:
    if at in places:
        return values[places.index(at)]
    try:
        place = float(at.replace(",", ""))
    except ValueError:
        return None
    for (one, mine), (other, theirs) in zip(
        zip(places, values, strict=True), list(zip(places, values, strict=True))[1:], strict=False
    ):
        if one <= place <= other:
            return float(mine + (theirs - mine) * (place - one) / (other - one))
    return None


def count_cells(page: Drawn, reader: OcrReader, figures: Figures) -> None:
    """Counts cells with something in them that are listed as empty, and those that are misread."""
    looked = Drawing().look(page.picture, page.surface, Point(x=page.surface.x, y=page.surface.y), read=reader.read)
    for cell in page.cells:
        middle = Box.model_validate(cell["box"]).center
        grid = next((each for each in looked.things if each.grid and each.box.contains(middle)), None)
        texts = {row: text.split(" | ") for row, text, _ in grid.rows}.get(cell["row"], []) if grid else []
        text = texts[cell["column"] - 1].strip() if cell["column"] <= len(texts) else ""
        figures.cells += 1
        figures.empty += bool(cell["text"]) and not text
        figures.misread += text.casefold() != cell["text"].casefold() and bool(text) and not text.endswith("›")


async def cost_of(page: Page, name: str) -> Cost:
    """How much longer looks take with proposals, without reading; in turns, as other work slows both alike."""
    cold: dict[bool, list[float]] = {True: [], False: []}
    again: dict[bool, list[float]] = {True: [], False: []}
    with shown(name) as address:
        await page.goto(address)
        await page.wait_for_function("window.drawn && (window.ready ?? true)")
        for _ in range(_LOOKS):
            for proposes in (True, False):
                most = ObserveSettings().max_surface_marks if proposes else 0
                settings = ObserveSettings(ocr_deadline_s=0, max_surface_marks=most)
                async with live.attach(page, settings, ImageLimits()) as browser:
                    for times in (cold, again, again):
                        seen = await browser.observe()
                        times[proposes].append(sum(value for key, value in seen.timings.items() if key != "settle"))
    return Cost(
        name,
        statistics.median(cold[True]) / statistics.median(cold[False]),
        statistics.median(again[True]) / statistics.median(again[False]),
    )


async def measure(reader: OcrReader | None, progress: Console, *, with_costs: bool) -> Figures:
    figures = Figures()
    async with launch_browser(BrowserSettings()) as started:
        page = await started.context.new_page()
        await page.set_viewport_size({"width": 1280, "height": 800})

        async def each(name: str, seeds: Sequence[int | None] = (None,)) -> list[Drawn]:
            progress.print(f"{name} …")
            try:
                return [await drawn(page, name, seed) for seed in seeds]
            except MissingPages as error:
                progress.print(f"left out: {error}")
                return []

        for is_tuned in (True, False):
            for name, seeds in SHAPES[is_tuned]:
                if scenes := await each(name, seeds):
                    figures.shapes.append(shapes_of(name, scenes, is_tuned=is_tuned))
            for name in ROLES[is_tuned]:
                figures.roles += [roles_of(name, one, reader, is_tuned=is_tuned) for one in await each(name)]
            for name in CHARTS[is_tuned] if reader else ():
                assert reader is not None
                figures.charts += [values_of(name, one, reader, is_tuned=is_tuned) for one in await each(name)]
        if reader:
            for one in await each("cells"):
                count_cells(one, reader, figures)
        for name in ("outlines", "controls", "chart.js") if with_costs else ():
            progress.print(f"looking at {name} …")
            try:
                figures.costs.append(await cost_of(page, name))
            except MissingPages as error:
                progress.print(f"left out: {error}")
    return figures


def tables(figures: Figures) -> list[Table]:
    """The figures, libraries that were tuned on first."""
    shapes = _table("Shapes", "library", "tuned on", "objects", "found", "proposals", "right")
    for tuned in (True, False):
        those = [each for each in figures.shapes if each.is_tuned == tuned]
        total = Shapes(
            "all",
            tuned,
            *(sum(getattr(each, name) for each in those) for name in ("objects", "found", "proposals", "wrong")),
        )
        for one in [*those, total]:
            right = one.proposals - one.wrong
            shapes.add_row(
                one.name, _yes(tuned), str(one.objects), _share(one.found, one.objects), str(one.proposals),
                _share(right, one.proposals),
            )  # fmt: skip
    roles = _table("Roles", "page", "tuned on", "things", "right")
    for role in figures.roles:
        roles.add_row(role.name, _yes(role.is_tuned), str(role.things), _share(role.right, role.things))
    charts = _table("Values of charts", "library", "tuned on", "values", "read", "within 2% of the axis", "worst")
    for chart in figures.charts:
        within = _share(chart.within, chart.expected)
        numbers = (str(chart.expected), str(chart.read), within, f"{chart.worst:.1%}")
        charts.add_row(chart.name, _yes(chart.is_tuned), *numbers)
    costs = _table("A look with proposals, in times of one without", "page", "new", "unchanged")
    for cost in figures.costs:
        costs.add_row(cost.name, f"{cost.cold:.2f}", f"{cost.unchanged:.2f}")
    return [shapes, roles, charts, costs]


def _table(title: str, *headings: str) -> Table:
    shown = Table(title=title, box=SIMPLE, title_justify="left")
    for heading in headings:
        shown.add_column(heading, justify="left" if heading in headings[:1] else "right", no_wrap=True)
    return shown


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--no-ocr", action="store_true", help="do not read words: no charts, no cells")
    parser.add_argument("--no-costs", action="store_true", help="do not time looks")
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    asked = parser.parse_args()
    reader = OcrReader() if can_read() and not asked.no_ocr else None
    figures = asyncio.run(measure(reader, Console(stderr=True), with_costs=not asked.no_costs))
    if asked.json:
        print(json.dumps(asdict(figures), indent=1))
        return 0
    console = Console(width=110)
    console.print(*tables(figures))
    if reader:
        console.print(
            f"{figures.cells} cells: {figures.empty} wrongly empty, {figures.misread} misread", highlight=False
        )
    console.print(f"reach: {REACH}", style="dim", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
