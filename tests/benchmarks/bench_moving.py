"""How often a click hits what does not stop moving, and whether it ever hits something else: `make bench-moving`.

Buttons, and discs in a canvas, move along a line, in a circle, or bounce; something else moves just beside them. Each
is looked at and clicked again and again, by the mark's number, by a point of the picture, and, for comparison, where it
was in the picture without any check. Plain Playwright's `locator.click()` waits for an element to stand still,
so it hits none of them. The page itself counts what each press reached.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.browser.movers import DRAWN_WAYS, ELEMENT_WAYS, ELEMENTS, drawn, red_disc
from vision_agent.actions import Click, Point
from vision_agent.browser import live
from vision_agent.browser.launch.launch import fresh_context, launch_browser
from vision_agent.observation import Mark, Observation
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

SPEEDS = (40, 120, 300)
CLICKS = 20
REACH = {("button", 40): 0.95, ("button", 120): 0.95, ("button", 300): 0.95, ("drawn disc", 120): 0.90}
LOOKS = 10
"""How often a picture is taken until the disc shows apart from the others."""


@dataclass
class Hits:
    """What became of clicks on one kind of moving thing."""

    thing: str
    means: str
    speed: int
    """CSS pixels per second."""
    clicks: int = 0
    hits: int = 0
    wrong: int = 0
    """Presses that reached something else."""

    @property
    def share(self) -> float:
        return self.hits / self.clicks


async def measured(page: Page, speeds: tuple[int, ...] = SPEEDS, clicks: int = CLICKS) -> list[Hits]:
    """Each kind of thing at each speed by each means, along each way; `clicks` of each."""
    found = []
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        for speed in speeds:
            buttons = {way: ELEMENTS.format(speed=speed, way=line) for way, line in ELEMENT_WAYS.items()}
            discs = {way: drawn(speed, way) for way in DRAWN_WAYS}
            for means, click in (("mark", _by_mark), ("point", _by_point), ("no check", _unchecked)):
                found.append(await _hits(browser, page, Hits("button", means, speed), buttons, clicks, click, _button))
                if means != "point":
                    each = Hits("drawn disc", means, speed)
                    found.append(await _hits(browser, page, each, discs, clicks, click, red_disc))
    return found


Clicks = Callable[[live.LiveBrowser, Page, Observation, Mark], Awaitable[None]]


async def _hits(
    browser: live.LiveBrowser,
    page: Page,
    hits: Hits,
    bodies: dict[str, str],
    clicks: int,
    click: Clicks,
    find: Callable[[Observation], Mark | None],
) -> Hits:
    for body in bodies.values():
        await page.goto("about:blank")  # A document of its own: scripts of one document share their names.
        await page.set_content(f"<!doctype html><style>body{{margin:8px}}</style>{body}")
        for _ in range(clicks):
            seen, mark = await _found(browser, find)
            await page.evaluate("said.length = 0")
            await click(browser, page, seen, mark)
            said = [each.lower() for each in await page.evaluate("said")]
            hits.clicks += 1
            hits.hits += said in (["catch"], ["red"])
            hits.wrong += any(each not in ("catch", "red", "ground") for each in said)
    return hits


async def _found(browser: live.LiveBrowser, find: Callable[[Observation], Mark | None]) -> tuple[Observation, Mark]:
    for _ in range(LOOKS):
        seen = await browser.observe()
        if (mark := find(seen)) is not None:
            return seen, mark
    raise SystemExit(f"What moves is not in the listing, at {LOOKS} looks:\n{seen.listing}")


def _button(seen: Observation) -> Mark | None:
    return next((mark for mark in seen.marks if mark.name == "Catch"), None)


async def _by_mark(browser: live.LiveBrowser, _page: Page, seen: Observation, mark: Mark) -> None:
    await browser.act(Click(target=mark.number), seen)


async def _by_point(browser: live.LiveBrowser, _page: Page, seen: Observation, mark: Mark) -> None:
    await browser.act(Click(target=seen.marked.map.to_picture(mark.point)), seen)


async def _unchecked(_browser: live.LiveBrowser, page: Page, _seen: Observation, mark: Mark) -> None:
    point: Point = mark.point
    await page.mouse.click(point.x, point.y)


async def run(speeds: tuple[int, ...], clicks: int) -> list[Hits]:
    """The hits, in a browser of their own."""
    settings = BrowserSettings()
    async with launch_browser(settings) as launched, fresh_context(launched, settings) as context:
        return await measured(await context.new_page(), speeds, clicks)


def show(found: list[Hits], console: Console) -> None:
    table = Table("thing", "by", "px/s", "clicks", "hit", "something else", "to reach", box=SIMPLE)
    for each in found:
        reach = REACH.get((each.thing, each.speed)) if each.means != "no check" else None
        cells = (each.thing, each.means, str(each.speed), str(each.clicks), f"{each.share:.0%}", str(each.wrong))
        table.add_row(*cells, f"{reach:.0%}" if reach else "")
    console.print(table, f"load {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=CLICKS, help="clicks on each thing along each way")
    parser.add_argument("--speed", type=int, action="append", help="CSS pixels per second; may be repeated")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    wants = parser.parse_args()
    found = asyncio.run(run(tuple(wants.speed or SPEEDS), wants.clicks))
    if wants.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    else:
        show(found, Console())


if __name__ == "__main__":
    main()
