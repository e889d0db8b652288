"""How much of what is drawn on a surface is found from its pixels alone: `make bench-surfaces`.

The applications say where their controls and words are (`window.drawn`); what is proposed for a plain screenshot is
held against that. A control is found when the point of a proposal, or the middle of a cell, lies on it and most of the
proposal does. A proposal counts as right when its point lies on a control. Words are read at the lines that were found.

Then the product looks and clicks: how long it looks into a surface (new, with and without reading, and unchanged), how
many numbers stay while the pointer goes over what is drawn, and how far from the middle of a thing a click lands, by
its mark, by a cell, and by two looks with a grid, on screens of 1 to 3 pixels for each CSS pixel.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from math import hypot
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser.painted import BOARD, BUTTONS, drawn_at, grid_of, painted
from loopback import Folder, LoopbackServer
from pages import ROOT, MissingPages, site

from vision_agent.actions import Cell, Click, Point, Target, Zoom
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import OcrReader, can_read
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.candidates import SurfaceProposals, propose
from vision_agent.vision.surfaces.tracking import Drawing

SITES = ROOT / "fixtures" / "sites"
SURFACES = ROOT / "fixtures" / "surfaces"
OWN = ("seats", "sheet", "chart", "paint", "flow", "board")
FOREIGN = tuple(sorted(path.stem for path in SURFACES.glob("*.html")))
REACH_OWN, REACH_FOREIGN, REACH_MS, REACH_WORDS, REACH_UNCHANGED_MS = 0.95, 0.85, 25.0, 0.98, 2.0
_MOSTLY = 0.6
_ROUNDS = 15
_LOOKS = 7
_HOVERED = 4
_RATIOS = (1, 2, 3)
_SCALES = (1, 0.8, 1.25)
_VIEW = Box(x=0, y=0, width=1280, height=800)


@dataclass(frozen=True)
class Figures:
    """Of one surface."""

    name: str
    is_own: bool
    controls: int
    found: int
    proposals: int
    right: int
    cells: int
    left_out: int
    ms_per_megapixel: float
    unchanged_ms: float
    """To see that no pixel is another than last time."""
    words: int = 0
    read: int = 0
    reading_s: float = 0.0
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Looking:
    """Of one surface, looked at by the product; milliseconds, medians but for the first."""

    name: str
    first_ms: float
    """Reading included, as long as it may take."""
    unread_ms: float
    """The first time without reading."""
    unchanged_ms: float
    kept: int
    numbers: int


@dataclass(frozen=True)
class Landing:
    """How far clicks landed from where they were meant, in CSS pixels; the worst of them."""

    ratio: float
    scale: float
    by_mark: float
    by_cell: float
    by_grid: float


@contextmanager
def shown(name: str) -> Iterator[str]:
    """The address of a site of ours, or of a page that uses a package.

    Raises:
        MissingPages: the package cannot be fetched.
    """
    if name in OWN:
        with served(SITES / name) as own:
            yield own.url
        return
    with tempfile.TemporaryDirectory() as folder:
        root = site(name).root
        Path(folder, "lib").symlink_to(next(each for each in (root, *root.parents) if each.name == name))
        Path(folder, "index.html").write_text((SURFACES / f"{name}.html").read_text("utf-8"), "utf-8")
        with LoopbackServer(partial(Folder, directory=folder)) as server:
            yield f"{server.address}/"


async def measured(page: Page, name: str, reader: OcrReader | None) -> Figures:
    with shown(name) as address:
        await page.goto(address)
        await page.wait_for_function("window.drawn && (window.ready ?? true)")
        await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        picture = Picture.decode(await page.screenshot(scale="css", caret="initial"), _VIEW)
        surface = Box.model_validate(await page.locator("canvas").first.bounding_box())
        controls = await page.evaluate("window.drawn.controls()")
        texts = await page.evaluate("window.drawn.texts?.() ?? []")
        await page.goto("about:blank")  # what a page goes on doing is not what is timed
    seconds = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        proposed = propose(picture, surface)
        seconds.append(time.perf_counter() - began)
    drawing, corner, unchanged = Drawing(), Point(x=surface.x, y=surface.y), []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        drawing.look(picture, surface, corner)
        unchanged.append(time.perf_counter() - began)
    places = [(each.box, each.point) for each in proposed.proposals]
    cells = [Box(x=x, y=y, width=w, height=h) for each in proposed.lattices for _, _, x, y, w, h in each.grid.cells]
    boxes = {each["id"]: Box.model_validate(each["box"]) for each in controls}
    missed = [
        key for key, box in boxes.items() if not _is_found(box, [*places, *((cell, cell.center) for cell in cells)])
    ]
    right = sum(any(box.contains(point) for box in boxes.values()) for _, point in places)
    words, read, reading_s = _read(picture, proposed, texts, reader)
    inside = surface.intersection(_VIEW)
    assert inside is not None
    return Figures(
        name=name,
        is_own=name in OWN,
        controls=len(boxes),
        found=len(boxes) - len(missed),
        proposals=len(places),
        right=right,
        cells=len(cells),
        left_out=proposed.left_out,
        unchanged_ms=statistics.median(unchanged[1:]) * 1e3,
        ms_per_megapixel=statistics.median(seconds) * 1e9 / (inside.width * inside.height),
        words=words,
        read=read,
        reading_s=reading_s,
        missed=tuple(missed),
    )


def _is_found(control: Box, places: Sequence[tuple[Box, Point]]) -> bool:
    for box, point in places:
        common = box.intersection(control)
        if common and control.contains(point) and common.width * common.height >= _MOSTLY * box.width * box.height:
            return True
    return False


def _read(
    picture: Picture, proposed: SurfaceProposals, texts: list[Any], reader: OcrReader | None
) -> tuple[int, int, float]:
    """How many words are written, how many of them were read at their place, and the seconds it took."""
    if reader is None or not texts:
        return 0, 0, 0.0
    began = time.perf_counter()
    said = [
        (line, one.text) for line, one in zip(proposed.lines, reader.read(picture, proposed.lines), strict=True) if one
    ]
    seconds = time.perf_counter() - began
    words = [(word, Box.model_validate(text["box"])) for text in texts for word in text["text"].split()]
    read = sum(
        word in "".join(text for line, text in said if line.intersection(box)).replace(" ", "") for word, box in words
    )
    return len(words), read, seconds


async def measure(names: Sequence[str], reader: OcrReader | None, console: Console) -> list[Figures]:
    figures = []
    async with launch_browser(BrowserSettings()) as started:
        page = await started.context.new_page()
        for name in names:
            console.print(f"{name} …")
            try:
                figures.append(await measured(page, name, reader))
            except MissingPages as error:
                console.print(f"left out: {error}")
    return figures


async def looked_at(page: Page, name: str) -> Looking:
    """How long looks take, and which numbers last while things light up under the pointer."""
    with shown(name) as address:
        await page.goto(address)
        await page.wait_for_function("window.drawn && (window.ready ?? true)")
        async with live.attach(page, ObserveSettings(ocr_deadline_s=0), ImageLimits()) as browser:
            unread = (await browser.observe()).timings.get("surfaces", 0.0)
        async with live.attach(page, ObserveSettings(ocr_deadline_s=60), ImageLimits()) as browser:
            first = await browser.observe()
            again = [(await browser.observe()).timings.get("surfaces", 0.0) for _ in range(_LOOKS)]
            before = {mark.number: mark for mark in first.marks if mark.source != "dom"}
            kept = numbers = 0
            for mark in list(before.values())[:_HOVERED]:
                await page.mouse.move(mark.point.x, mark.point.y)
                now = {each.number: each for each in (await browser.observe()).marks}
                numbers += len(before)
                kept += sum(number in now and _is_alike(now[number].box, old.box) for number, old in before.items())
    return Looking(
        name, first.timings.get("surfaces", 0.0) * 1e3, unread * 1e3, statistics.median(again) * 1e3, kept, numbers
    )


def _is_alike(one: Box, other: Box) -> bool:
    common = one.intersection(other)
    return common is not None and 2 * common.width * common.height >= one.width * one.height


async def landed(page: Page, ratio: float, scale: float) -> Landing:
    """The worst of some clicks on things whose place is known."""
    body = painted(*BUTTONS, *BOARD, style=f"transform:scale({scale});transform-origin:0 0", sharp=ratio)
    await page.goto("about:blank")  # another window: the last page's names are not in the way
    await page.set_content(f"<!doctype html><style>body{{margin:8px}}</style>{body}")
    far: dict[str, list[float]] = {"mark": [], "cell": [], "grid": []}
    async with live.attach(page, ObserveSettings(ocr_deadline_s=0), ImageLimits()) as browser:

        async def click(how: str, target: Target, seen: Observation, x: float, y: float) -> None:
            outcome = await browser.act(Click(target=target), seen)
            assert outcome.status == "done", outcome.sentence
            hit = (await page.evaluate("hits.filter((hit) => hit.kind === 'pointerdown')"))[-1]
            thing = next((each for each in (*BUTTONS, *BOARD) if each["name"] == hit["name"]), {"x": 0, "y": 0})
            far[how].append(hypot(hit["x"] + thing["x"] - x, hit["y"] + thing["y"] - y) * scale)

        for each in BUTTONS:
            x, y = each["x"] + each["w"] / 2, each["y"] + each["h"] / 2
            seen = await browser.observe()
            await click("mark", drawn_at(seen, 8 + (x - 30) * scale, 8 + y * scale).number, seen, x, y)
        for row, column in ((1, 1), (4, 2), (6, 6)):
            seen = await browser.observe()
            cell = Cell(mark=grid_of(seen).number, row=row, column=column)
            await click("cell", cell, seen, 355 + 30 * column, 35 + 30 * row)
        for x, y in ((333.0, 251.0), (88.0, 205.0)):
            seen = await browser.observe()
            over: Target = next(mark.number for mark in seen.marks if mark.kind == "surface")
            for _ in range(2):
                await browser.act(Zoom(target=over, grid=True), seen)
                seen = await browser.observe()
                over = _cell_at(seen, 8 + x * scale, 8 + y * scale)
            await click("grid", over, seen, x, y)
    return Landing(ratio, scale, *(max(errors) for errors in far.values()))


def _cell_at(seen: Observation, x: float, y: float) -> Cell:
    laid = next(mark for mark in seen.marks if mark.grid is not None and mark.surface is None)
    assert laid.grid is not None
    row, column = next(
        (row, column)
        for row, column, left, top, width, height in laid.grid.cells
        if left <= x < left + width and top <= y < top + height
    )
    return Cell(mark=laid.number, row=row, column=column)


async def lived(names: Sequence[str], console: Console) -> tuple[list[Looking], list[Landing]]:
    looking = []
    async with launch_browser(BrowserSettings()) as started:
        page = await started.context.new_page()
        for name in names:
            console.print(f"looking at {name} …")
            with suppress(MissingPages):  # said before
                looking.append(await looked_at(page, name))
        landing = []
        for ratio in _RATIOS:
            context = await started.browser.new_context(
                viewport={"width": 1280, "height": 800}, device_scale_factor=ratio
            )
            page = await context.new_page()
            console.print(f"clicking at {ratio:g} pixels for each CSS pixel …")
            landing += [await landed(page, ratio, scale) for scale in _SCALES]
            await context.close()
    return looking, landing


def looks(looking: Sequence[Looking]) -> Table:
    shown = Table(title="Looking into surfaces", box=SIMPLE, title_justify="left")
    # The page is asked each time what takes a click: that is most of an unchanged look.
    for heading in ("surface", "first, read", "first, unread", "unchanged", "numbers that stay"):
        shown.add_column(heading, justify="left" if heading == "surface" else "right", no_wrap=True)
    for each in looking:
        times = (f"{each.first_ms:.0f} ms", f"{each.unread_ms:.0f} ms", f"{each.unchanged_ms:.1f} ms")
        shown.add_row(each.name, *times, f"{each.kept} of {each.numbers}")
    return shown


def landings(landing: Sequence[Landing]) -> Table:
    shown = Table(title="How far clicks land from where they are meant", box=SIMPLE, title_justify="left")
    for heading in ("ratio", "scale", "by mark", "by cell", "by grid and zoom"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for each in landing:
        far = (f"{error:.1f} px" for error in (each.by_mark, each.by_cell, each.by_grid))
        shown.add_row(f"{each.ratio:g}", f"{each.scale:g}", *far)
    return shown


def table(figures: Sequence[Figures]) -> Table:
    shown = Table(title="What is proposed, against what the applications say", box=SIMPLE, title_justify="left")
    for heading in (
        "surface",
        "controls",
        "recall",
        "reach",
        "proposals",
        "right",
        "cells",
        "cut",
        "ms / MP",
        "unchanged",
        "words read",
    ):
        shown.add_column(heading, justify="left" if heading == "surface" else "right", no_wrap=True)
    for each in figures:
        shown.add_row(
            each.name,
            str(each.controls),
            f"{each.found / max(1, each.controls):.1%}",
            f"{REACH_OWN if each.is_own else REACH_FOREIGN:.0%}",
            str(each.proposals),
            f"{each.right / max(1, each.proposals):.0%}",
            str(each.cells),
            str(each.left_out),
            f"{each.ms_per_megapixel:.0f}",
            f"{each.unchanged_ms:.1f} ms",
            f"{each.read / each.words:.1%} in {each.reading_s:.1f} s" if each.words else "",
        )
    return shown


def main() -> int:
    """0; what is not reached is told, not failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=(*OWN, *FOREIGN), help="these surfaces")
    parser.add_argument("--no-ocr", action="store_true", help="do not read words")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--proposals", action="store_true", help="proposals only: do not look and click")
    asked = parser.parse_args()
    reader = OcrReader() if can_read() and not asked.no_ocr else None
    progress = Console(stderr=True)
    names = asked.only or (*OWN, *FOREIGN)
    figures = asyncio.run(measure(names, reader, progress))
    looking, landing = ([], []) if asked.proposals else asyncio.run(lived(names, progress))
    if asked.json:
        told = {"proposals": figures, "looking": looking, "landing": landing}
        print(json.dumps({name: [asdict(each) for each in these] for name, these in told.items()}, indent=1))
    else:
        console = Console(width=124)
        console.print(table(figures))
        reach = f"{REACH_MS:.0f} ms per megapixel, unchanged {REACH_UNCHANGED_MS:g} ms, {REACH_WORDS:.0%} of words"
        console.print(f"reach: {reach}", style="dim")
        for each in figures:
            if each.missed:
                console.print(f"{each.name} misses {', '.join(each.missed[:8])}", style="dim", markup=False)
        if looking:
            console.print(looks(looking), landings(landing))
            console.print("reach: clicks 2 px, by grid and zoom 6 px", style="dim")
    return 0


if __name__ == "__main__":
    sys.exit(main())
