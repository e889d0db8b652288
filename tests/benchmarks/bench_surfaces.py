"""How much of what is drawn on a surface is found from its pixels alone: `make bench-surfaces`.

The applications say where their controls and words are (`window.drawn`); what is proposed for a plain screenshot is
held against that. A control is found when the point of a proposal, or the middle of a cell, lies on it and most of the
proposal does. A proposal counts as right when its point lies on a control. Words are read at the lines that were found.
"""

from __future__ import annotations

import argparse
import asyncio
import http.server
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from pages import ROOT, MissingPages, site

from vision_agent.actions import Point
from vision_agent.browser.launch import launched
from vision_agent.evals.sites import served
from vision_agent.settings import BrowserSettings
from vision_agent.types import Box
from vision_agent.vision.ocr import Reader, can_read
from vision_agent.vision.picture import Picture
from vision_agent.vision.surface import Proposed, propose

SITES = ROOT / "fixtures" / "sites"
SURFACES = ROOT / "fixtures" / "surfaces"
OWN = ("seats", "sheet", "chart", "paint", "flow", "board")
FOREIGN = tuple(sorted(path.stem for path in SURFACES.glob("*.html")))
REACH_OWN, REACH_FOREIGN, REACH_MS, REACH_WORDS = 0.95, 0.85, 25.0, 0.98
_MOSTLY = 0.6
_ROUNDS = 15
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
    words: int = 0
    read: int = 0
    reading_s: float = 0.0
    missed: tuple[str, ...] = ()


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
        handler = partial(_Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing."""


async def measured(page: Page, name: str, reader: Reader | None) -> Figures:
    with shown(name) as address:
        await page.goto(address)
        await page.wait_for_function("window.drawn && (window.ready ?? true)")
        await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        picture = Picture.decode(await page.screenshot(scale="css", caret="initial"), _VIEW)
        surface = Box.model_validate(await page.locator("canvas").first.bounding_box())
        controls = await page.evaluate("window.drawn.controls()")
        texts = await page.evaluate("window.drawn.texts?.() ?? []")
    seconds = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        proposed = propose(picture, surface)
        seconds.append(time.perf_counter() - began)
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


def _read(picture: Picture, proposed: Proposed, texts: list[Any], reader: Reader | None) -> tuple[int, int, float]:
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


async def measure(names: Sequence[str], reader: Reader | None, console: Console) -> list[Figures]:
    figures = []
    async with launched(BrowserSettings()) as started:
        page = await started.context.new_page()
        for name in names:
            console.print(f"{name} …")
            try:
                figures.append(await measured(page, name, reader))
            except MissingPages as error:
                console.print(f"left out: {error}")
    return figures


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
            f"{each.read / each.words:.1%} in {each.reading_s:.1f} s" if each.words else "",
        )
    return shown


def main() -> int:
    """0; what is not reached is told, not failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=(*OWN, *FOREIGN), help="these surfaces")
    parser.add_argument("--no-ocr", action="store_true", help="do not read words")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    asked = parser.parse_args()
    reader = Reader() if can_read() and not asked.no_ocr else None
    progress = Console(stderr=True)
    figures = asyncio.run(measure(asked.only or (*OWN, *FOREIGN), reader, progress))
    if asked.json:
        print(json.dumps([asdict(each) for each in figures], indent=1))
    else:
        console = Console(width=112)
        console.print(table(figures))
        console.print(f"reach: {REACH_MS:.0f} ms per megapixel, {REACH_WORDS:.0%} of words", style="dim")
        for each in figures:
            if each.missed:
                console.print(f"{each.name} misses {', '.join(each.missed[:8])}", style="dim", markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
