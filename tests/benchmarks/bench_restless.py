"""How much longer a look takes on a page that never rests: `make bench-restless`.

One page of 50 buttons and a canvas, at rest and with something that moves by itself: a drawing, a text, an element.
In one run, a look at each page in turn, so that the load of the machine meets them alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench_command import run_command
from playwright.async_api import Browser, Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

ROUNDS = 30
FIRST_LOOKS = 4
"""Looks after which it is known what on a page never rests."""
AT_REST = "at rest"
PAGE = """<!doctype html><title>Buttons</title>{around}<canvas id=board width=600 height=300></canvas>{buttons}<script>
const pen = board.getContext('2d');
function draw(turn) {{
  pen.clearRect(0, 0, 600, 300);
  pen.fillStyle = '#36c';
  pen.fillRect(40, 40, 60, 40);
  pen.fillRect(480, 200, 60, 40);
  pen.fillStyle = '#c33';
  pen.beginPath();
  pen.arc(300 + 200 * Math.cos(turn), 150 + 100 * Math.sin(turn), 24, 0, 7);
  pen.fill();
}}
draw(0);
{script}
</script>"""
BUTTONS = "".join(f"<button>Item {number}</button> " for number in range(1, 51))
SPINNER = """<style>@keyframes turn { to { transform: rotate(1turn) } }
#wheel { display: inline-block; animation: turn 1s linear infinite }</style><i id=wheel>o</i>"""
KINDS = {
    AT_REST: ("", ""),
    "a moving drawing": ("", "let turn = 0; (function go() { draw(turn += 1 / 30); requestAnimationFrame(go); })()"),
    "a changing text": ("<p id=text></p>", "setInterval(() => { text.textContent = performance.now(); }, 20)"),
    "a turning element": (SPINNER, ""),
}


@dataclass(frozen=True)
class Looked:
    """Looks at one page: seconds at the median, and how many times as long as at rest."""

    kind: str
    look: float
    ratio: float


async def measured(browser: Browser, rounds: int = ROUNDS) -> list[Looked]:
    """Each kind of page, beside the one at rest."""
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    async with AsyncExitStack() as stack:
        pages = {kind: await stack.enter_async_context(_opened(browser, kind)) for kind in KINDS}
        for _ in range(rounds):
            for kind, (page, looking) in pages.items():
                await page.bring_to_front()
                await looking.observe()
                began = time.perf_counter()
                seen = await looking.observe()
                times[kind].append(time.perf_counter() - began)
                assert len([mark for mark in seen.marks if mark.tag == "button"]) == 50, kind
    medians = {kind: statistics.median(each) for kind, each in times.items()}
    return [Looked(kind, median, median / medians[AT_REST]) for kind, median in medians.items()]


@asynccontextmanager
async def _opened(browser: Browser, kind: str) -> AsyncIterator[tuple[Page, LiveBrowser]]:
    async with await browser.new_context(viewport={"width": 1280, "height": 720}) as context:
        page = await context.new_page()
        around, script = KINDS[kind]
        await page.set_content(PAGE.format(around=around, buttons=BUTTONS, script=script))
        async with live.attach(page, ObserveSettings(), ImageLimits()) as looking:
            for _ in range(FIRST_LOOKS):
                await looking.observe()
            yield page, looking


async def run() -> list[Looked]:
    """All kinds, in a browser of their own."""
    async with launch_browser(BrowserSettings()) as launched:
        return await measured(launched.browser)


def show(kinds: list[Looked]) -> None:
    table = Table("a page with", "a look", "ratio", box=SIMPLE)
    for each in kinds:
        table.add_row(each.kind, f"{each.look * 1000:.0f} ms", f"{each.ratio:.2f}")
    Console().print(table, f"{ROUNDS} looks each, medians")


if __name__ == "__main__":
    run_command(__doc__, run, show)
