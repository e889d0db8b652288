"""How long clicks take on things spread over a list of 1,000 rows: `make bench-scrolling`.

In one run, on one page: plain Playwright's `locator.click()`, which scrolls to each; the same rows by the numbers of
marks that were seen earlier; and the same rows by step lines, of which each scrolls to its row first. What counts is
the acting: looks are told apart, because plain Playwright has none. Of the acting, the time for which the product waits
to see what came of an input is told apart too: `on screen` is a click on what is in view already, by the same means.
Each click changes its row: one that changes nothing mostly waits for the proof of that.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench_command import run_command
from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent.actions import Click, ScrollTo
from vision_agent.browser import live
from vision_agent.browser.launch.launch import fresh_context, launch_browser
from vision_agent.observation import Observation
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

ROWS = 1000
CLICKS = 20
REACH = 1.2
_SHOW = "(row) => document.querySelectorAll('button')[row - 1].scrollIntoView({ block: 'center' })"
PAGE = """<!doctype html><title>Rows</title><style>li { height: 30px }</style><h1>Rows</h1><ul id=list></ul><script>
window.said = [];
for (let i = 1; i <= %d; i++) {
  const row = document.createElement('li');
  row.innerHTML = `Row ${i} <button>Item ${i}</button>`;
  row.lastChild.onclick = () => {
    said.push(i);
    row.firstChild.data = `Chosen ${i}, ${said.length}. `;
    row.style.background = row.style.background === 'gold' ? 'khaki' : 'gold';
  };
  list.append(row);
}
</script>"""


@dataclass(frozen=True)
class Way:
    """One way to click the rows, in seconds a click at the median."""

    name: str
    acting: float
    looking: float
    ratio: float
    """Acting, by plain Playwright's."""


async def measured(page: Page, clicks: int = CLICKS) -> list[Way]:
    """Each way of clicking, on the same rows."""
    await page.set_content(PAGE % ROWS)
    rows = [1 + (at * 377) % ROWS for at in range(clicks)]
    plain = [await _timed(page.get_by_role("button", name=f"Item {row}", exact=True).click) for row in rows]
    assert await page.evaluate("said") == rows
    base = statistics.median(plain)
    ways = [Way("plain Playwright", base, 0.0, 1.0)]
    await page.reload()
    await page.set_content(PAGE % ROWS)
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        for name, click in (("on screen", _on_screen), ("by number", _by_number), ("by step lines", _by_line)):
            await page.evaluate("said.length = 0")
            times = [await click(browser, page, row) for row in rows]
            assert await page.evaluate("said") == rows, name
            acting, looking = (statistics.median(each) for each in zip(*times, strict=True))
            ways.append(Way(name, acting, looking, acting / base))
    return ways


async def _on_screen(browser: live.LiveBrowser, page: Page, row: int) -> tuple[float, float]:
    await page.evaluate(_SHOW, row)
    seen, looked = await _looked(browser)
    return await _click(browser, seen, row), looked


async def _by_number(browser: live.LiveBrowser, page: Page, row: int) -> tuple[float, float]:
    """Sees the row, goes far away, looks there, and clicks the row by its number."""
    await page.evaluate(_SHOW, row)
    await browser.observe()
    await page.evaluate(f"scrollTo(0, {0 if row > ROWS / 2 else 1e6})")
    seen, looked = await _looked(browser)
    assert not any(mark.name == f"Item {row}" for mark in seen.marks)
    return await _click(browser, seen, row), looked


async def _by_line(browser: live.LiveBrowser, _page: Page, row: int) -> tuple[float, float]:
    """What `click Item 250` does, from wherever the last one led."""
    seen, looked = await _looked(browser)
    took = 0.0
    if not any(mark.name == f"Item {row}" for mark in seen.marks):
        took = await _act(browser, seen, ScrollTo(text=f"Item {row}"))
        seen, again = await _looked(browser)
        looked += again
    return took + await _click(browser, seen, row), looked


async def _click(browser: live.LiveBrowser, seen: Observation, row: int) -> float:
    [number] = [mark.number for mark in (*seen.marks, *seen.out_of_view) if mark.name == f"Item {row}"]
    return await _act(browser, seen, Click(target=number))


async def _act(browser: live.LiveBrowser, seen: Observation, action: Click | ScrollTo) -> float:
    began = time.perf_counter()
    outcome = await browser.act(action, seen)
    took = time.perf_counter() - began
    assert outcome.status == "done", outcome.sentence
    return took


async def _looked(browser: live.LiveBrowser) -> tuple[Observation, float]:
    began = time.perf_counter()
    return await browser.observe(), time.perf_counter() - began


async def _timed(do: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await do()
    return time.perf_counter() - began


async def run() -> list[Way]:
    """The ways, in a browser of their own."""
    settings = BrowserSettings()
    async with launch_browser(settings) as launched, fresh_context(launched, settings) as context:
        return await measured(await context.new_page())


def show(ways: list[Way]) -> None:
    table = Table("way", "acting", "looking", "acting / plain", box=SIMPLE)
    for way in ways:
        table.add_row(way.name, f"{way.acting * 1000:.0f} ms", f"{way.looking * 1000:.0f} ms", f"{way.ratio:.2f}")
    Console().print(table, f"{CLICKS} clicks in a list of {ROWS} rows; to reach: {REACH} by number")


if __name__ == "__main__":
    run_command(__doc__, run, show)
