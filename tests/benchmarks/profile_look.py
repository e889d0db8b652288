"""Writes where the time of one observation and of one step goes: `make profile`.

Into `build/profile/`: call trees and flame charts of our Python (`observation.html`, `step.html`) and the
page's own CPU profiles (`observation.cpuprofile`, `step.cpuprofile`, to be loaded in the Performance panel of Chromium
or in speedscope), in which the overlay's functions have their own names. A step here is a look, one click, and the look
after it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from playwright.async_api import CDPSession

from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.settings import Settings, load
from vision_agent.vision.image_limits import image_limits_for

try:
    from pyinstrument import Profiler
except ImportError:
    sys.exit("pyinstrument is missing; set the environment up again: pip install pyinstrument")

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures" / "sites" / "shop"
OUT = ROOT / "build" / "profile"
PYTHON_S, PAGE_US = 0.0002, 100
"""How often is looked where we are: in Python in seconds, in the page in microseconds."""

Doing = Callable[[LiveBrowser], Awaitable[object]]


async def observe(browser: LiveBrowser) -> None:
    """One look at the page as it is."""
    await browser.observe()


async def step(browser: LiveBrowser, name: str) -> None:
    """One look, a click on the mark with this name, and the look after it."""
    await click(browser, name)
    await browser.observe()


async def click(browser: LiveBrowser, name: str) -> None:
    """One look, and a click on the mark with this name."""
    seen = await browser.observe()
    numbers = [mark.number for mark in seen.marks if mark.name == name]
    if not numbers:
        sys.exit(f"No mark is called {name!r}; there are {', '.join(sorted({mark.name for mark in seen.marks}))}")
    outcome = await browser.act(Click(target=numbers[0]), seen)
    if outcome.status != "done":
        sys.exit(outcome.sentence)


async def profiled(name: str, doing: Doing, browser: LiveBrowser, session: CDPSession, out: Path) -> None:
    """Does it three times: to warm up, for the flame graph, and for the page's profile; profiles slow each other."""
    await doing(browser)
    profiler = Profiler(interval=PYTHON_S, async_mode="enabled")
    started = time.perf_counter()
    with profiler:
        await doing(browser)
    seconds = time.perf_counter() - started
    (out / f"{name}.html").write_text(profiler.output_html(), "utf-8")
    await session.send("Profiler.start")
    await doing(browser)
    profile = (await session.send("Profiler.stop"))["profile"]
    (out / f"{name}.cpuprofile").write_text(json.dumps(profile), "utf-8")
    print(f"{name}: {seconds * 1000:.0f} ms while it was watched; {out / name}.html, {out / name}.cpuprofile")


async def profile(settings: Settings, url: str, target: str, out: Path, *, first: str = "") -> None:
    """Profiles a look at the page at this address, and a step that clicks `target`; `first` is clicked before."""
    async with launch_browser(settings.browser) as started:
        page = await started.context.new_page()
        async with live.attach(page, settings.observe, image_limits_for(settings.model.name, None)) as browser:
            await browser.open(url)
            if first:
                await click(browser, first)
            session = await started.context.new_cdp_session(page)
            await session.send("Profiler.enable")
            await session.send("Profiler.setSamplingInterval", {"interval": PAGE_US})
            await profiled("observation", observe, browser, session, out)
            await profiled("step", partial(step, name=target), browser, session, out)


def main() -> None:
    """Profiles the shop, or another page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", help="another page than the shop of fixtures/sites")
    parser.add_argument("--click", default="Tops", help="the name of the mark that the step clicks")
    parser.add_argument("--out", type=Path, default=OUT)
    wants = parser.parse_args()
    wants.out.mkdir(parents=True, exist_ok=True)
    if wants.url:
        asyncio.run(profile(load(), wants.url, wants.click, wants.out))
        return
    with served(SHOP) as site:
        asyncio.run(profile(load(), f"{site.url}/", wants.click, wants.out, first="Accept all"))


if __name__ == "__main__":
    main()
