"""What looking at a page costs, against a plain screenshot of the same page in the same run: `make bench`.

Everything that is compared takes turns in a shuffled order, so that a busy machine slows all of it alike; what counts
is the ratio of medians. Waiting for rest is measured apart: it is the page's time and not ours. `again` is a look, or a
scan, at a page in which nothing has changed since the last one; every other one comes after a change.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from bench_pages import long_list, table
from playwright.async_api import BrowserContext, Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.page import frames
from vision_agent.observation import Observation
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import image_limits_for

MARKS = (50, 200, 600)
ELEMENTS = (1_000, 10_000, 50_000)
GROWTH = (100, 20_000)
REACH_RATIO, REACH_GROWTH, REACH_SCAN_MS = 1.3, 3.0, {1_000: 60, 10_000: 300, 50_000: 1_500}
STAGES = ("page", "plan", "decode", "place", "draw", "encode", "the rest")
"""Of an observation, in order: `page` is the scan and the picture; to place numbers is first to `plan`, beside the
decoding, of which `decode` is what is left then, and then to `place`; `encode` is also the listing."""
_WARM_UP = 3


_CHANGE = """() => {
    document.documentElement.toggleAttribute('data-changed');
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
"""Changes a page and waits until it has been drawn: styles that wait to be computed count as a change of their own."""


@dataclass
class Samples:
    """Seconds, one for each time it was done."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        return statistics.median(self.seconds) * 1000

    def summary(self) -> dict[str, float]:
        """The median with the tenth and ninetieth of a hundred, in milliseconds."""
        ordered = sorted(self.seconds)
        low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
        return {"median_ms": round(self.median_ms, 1), "p10_ms": round(low * 1000, 1), "p90_ms": round(high * 1000, 1)}


@dataclass
class Looked:
    """One page that was looked at again and again."""

    marks: int = 0
    elements: int = 0
    screenshot: Samples = field(default_factory=Samples)
    scan: Samples = field(default_factory=Samples)
    scan_again: Samples = field(default_factory=Samples)
    observation: Samples = field(default_factory=Samples)
    """Without waiting for rest."""
    again: Samples = field(default_factory=Samples)
    """The same, while nothing has changed."""
    rest: Samples = field(default_factory=Samples)
    """Waiting for it."""
    stages: dict[str, Samples] = field(default_factory=lambda: {stage: Samples() for stage in STAGES})
    warnings: set[str] = field(default_factory=set)

    @property
    def ratio(self) -> float:
        return self.observation.median_ms / self.screenshot.median_ms

    @property
    def again_ratio(self) -> float:
        return self.again.median_ms / self.screenshot.median_ms

    def summary(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        return {
            "marks": self.marks,
            "elements": self.elements,
            "screenshot": self.screenshot.summary(),
            "scan": self.scan.summary(),
            "scan_again": self.scan_again.summary(),
            "observation": self.observation.summary(),
            "observation_again": self.again.summary(),
            "waiting_for_rest": self.rest.summary(),
            "observation_to_screenshot": round(self.ratio, 2),
            "observation_again_to_screenshot": round(self.again_ratio, 2),
            "scan_to_screenshot": round(self.scan.median_ms / self.screenshot.median_ms, 2),
            "stages": {stage: samples.summary() for stage, samples in self.stages.items()},
            "warnings": sorted(self.warnings),
        }


@dataclass
class Results:
    """Everything that was measured, by what the page holds."""

    by_marks: dict[int, Looked] = field(default_factory=dict)
    scans: dict[int, Looked] = field(default_factory=dict)
    growth: dict[int, Looked] = field(default_factory=dict)

    @property
    def growth_ratio(self) -> float:
        small, large = (self.growth[elements].observation.median_ms for elements in GROWTH)
        return large / small

    @property
    def growth_ratio_again(self) -> float:
        small, large = (self.growth[elements].again.median_ms for elements in GROWTH)
        return large / small


async def measure(rounds: int, tell: Callable[[str], None]) -> Results:
    """All measurements, in one browser."""
    results = Results()
    async with launch_browser(BrowserSettings()) as started:
        for marks in MARKS:
            tell(f"{marks} marks")
            results.by_marks |= await _take_turns(started.context, {marks: table(marks)}, rounds)
        tell(f"scans of {', '.join(f'{each:,}' for each in ELEMENTS)} elements")
        pages = {elements: long_list(elements) for elements in ELEMENTS}
        results.scans = await _take_turns(started.context, pages, rounds, only_scan=True)
        tell(f"observations of {' and '.join(f'{each:,}' for each in GROWTH)} elements")
        results.growth = await _take_turns(
            started.context, {elements: long_list(elements) for elements in GROWTH}, rounds
        )
    return results


async def _take_turns(
    context: BrowserContext, pages: Mapping[int, str], rounds: int, *, only_scan: bool = False
) -> dict[int, Looked]:
    """Screenshot, scan and observation of each page, all in one shuffled row for each round."""
    chance = random.Random(1)
    looked = {size: Looked() for size in pages}
    async with AsyncExitStack() as stack:
        jobs: list[tuple[int, Callable[[], Awaitable[None]]]] = []
        for size, html in pages.items():
            page = await context.new_page()
            stack.push_async_callback(page.close)
            settings = ObserveSettings()
            browser = await stack.enter_async_context(live.attach(page, settings, image_limits_for("steps")))
            await page.set_content(html, wait_until="load")
            looked[size].elements = await page.evaluate("document.querySelectorAll('*').length")
            for job in (_screenshot, _scan) if only_scan else (_screenshot, _scan, _observe, _observe_again):
                jobs.append((size, _bound(job, page, browser, looked[size])))
        for round_ in range(_WARM_UP + rounds):
            if round_ == _WARM_UP:
                for each in looked.values():
                    _forget(each)
            for _, job_ in chance.sample(jobs, len(jobs)):
                await job_()
    return looked


async def _screenshot(page: Page, browser: LiveBrowser, looked: Looked) -> None:
    started = time.perf_counter()
    await page.screenshot()
    looked.screenshot.seconds.append(time.perf_counter() - started)


async def _scan(page: Page, browser: LiveBrowser, looked: Looked) -> None:
    started = time.perf_counter()
    scan = await frames.scan(page, deadline_s=30)
    looked.scan.seconds.append(time.perf_counter() - started)
    # The first scan of a page may find styles that were still to be computed.
    scan = await frames.scan(page, deadline_s=30, before=scan)
    once = time.perf_counter()
    again = await frames.scan(page, deadline_s=30, before=scan)
    looked.scan_again.seconds.append(time.perf_counter() - once)
    assert again.repeats(scan)
    looked.marks = looked.marks or len(scan.marks)
    looked.warnings |= set(scan.warnings)


async def _observe(page: Page, browser: LiveBrowser, looked: Looked) -> None:
    await page.evaluate(_CHANGE)
    started = time.perf_counter()
    observation = await browser.observe()
    whole = time.perf_counter() - started
    waited = observation.timings["settle"]
    looked.observation.seconds.append(whole - waited)
    looked.rest.seconds.append(waited)
    _count_stages(looked, observation, whole)
    looked.marks = len(observation.marks)
    looked.warnings |= set(observation.warnings)


async def _observe_again(page: Page, browser: LiveBrowser, looked: Looked) -> None:
    await browser.observe()
    started = time.perf_counter()
    observation = await browser.observe()
    looked.again.seconds.append(time.perf_counter() - started - observation.timings["settle"])
    assert "the same" in observation.timings


def _count_stages(looked: Looked, observation: Observation, whole: float) -> None:
    named = observation.timings
    for stage in STAGES[:-1]:
        looked.stages[stage].seconds.append(named[stage])
    looked.stages[STAGES[-1]].seconds.append(whole - sum(named.values()))


def _bound(
    job: Callable[[Page, LiveBrowser, Looked], Awaitable[None]], page: Page, browser: LiveBrowser, looked: Looked
) -> Callable[[], Awaitable[None]]:
    return lambda: job(page, browser, looked)


def _forget(looked: Looked) -> None:
    """What was measured while things were still cold."""
    own = (looked.screenshot, looked.scan, looked.scan_again, looked.observation, looked.again, looked.rest)
    for samples in (*own, *looked.stages.values()):
        samples.seconds.clear()


# --- telling ----------------------------------------------------------------------------------------------------------


def summary(results: Results, rounds: int) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "rounds": rounds,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": [round(each, 1) for each in os.getloadavg()],
        "marks": {str(size): looked.summary() for size, looked in results.by_marks.items()},
        "scans": {
            str(size): {"elements": looked.elements, **looked.scan.summary(), "reach_ms": REACH_SCAN_MS[size]}
            for size, looked in results.scans.items()
        },
        "growth": {
            **{str(size): looked.observation.summary() for size, looked in results.growth.items()},
            "ratio": round(results.growth_ratio, 2),
            "ratio_again": round(results.growth_ratio_again, 2),
        },
        "reach": {"observation_to_screenshot": REACH_RATIO, "growth": REACH_GROWTH},
    }


def show(console: Console, results: Results, rounds: int) -> None:
    """Three tables, in milliseconds."""
    load = os.getloadavg()[0]
    console.print(f"medians of {rounds} rounds, in ms; {os.cpu_count()} processors, load {load:.1f}\n")
    console.print(_compared(results))
    console.print(_by_stage(results))
    console.print(_by_elements(results))
    for looked in (*results.by_marks.values(), *results.growth.values(), *results.scans.values()):
        for warning in sorted(looked.warnings):
            console.print(f"[yellow]{looked.elements:,} elements: {warning}")


def _compared(results: Results) -> Table:
    shown = _table("A page of the office; ÷ is by screenshot; again: without a change", "marks")
    for title in ("screenshot", "scan", "observe", "÷", "reach", "again", "÷", "rest"):
        shown.add_column(title, justify="right", no_wrap=True)
    for looked in results.by_marks.values():
        shown.add_row(
            f"{looked.marks}",
            f"{looked.screenshot.median_ms:.0f}",
            f"{looked.scan.median_ms:.0f}",
            f"{looked.observation.median_ms:.0f}",
            _against(looked.ratio, REACH_RATIO, "×{:.2f}"),
            f"×{REACH_RATIO}" if looked is results.by_marks[200] else "",
            f"{looked.again.median_ms:.0f}",
            f"×{looked.again_ratio:.2f}",
            f"{looked.rest.median_ms:.0f}",
        )
    return shown


def _by_stage(results: Results) -> Table:
    shown = _table("Where an observation spends it", "marks")
    for stage in STAGES:
        shown.add_column(stage, justify="right", no_wrap=True)
    for looked in results.by_marks.values():
        shown.add_row(f"{looked.marks}", *(f"{looked.stages[stage].median_ms:.1f}" for stage in STAGES))
    return shown


def _by_elements(results: Results) -> Table:
    shown = _table("A long list, mostly below what shows", "elements")
    for title in ("screenshot", "scan", "reach", "scan again", "observe", "again"):
        shown.add_column(title, justify="right")
    for size, looked in results.scans.items():
        reach = REACH_SCAN_MS[size]
        scan = _against(looked.scan.median_ms, reach, "{:.0f}")
        again = f"{looked.scan_again.median_ms:.0f}"
        shown.add_row(f"{looked.elements:,}", f"{looked.screenshot.median_ms:.0f}", scan, f"{reach}", again, "", "")
    shown.add_section()
    for looked in results.growth.values():
        times = (looked.screenshot, looked.scan, looked.scan_again, looked.observation, looked.again)
        screenshot, scan, *rest = [f"{each.median_ms:.0f}" for each in times]
        shown.add_row(f"{looked.elements:,}", screenshot, scan, "", *rest)
    ratio = _against(results.growth_ratio, REACH_GROWTH, "×{:.2f}")
    shown.add_row("growth", "", "", f"×{REACH_GROWTH:.0f}", "", ratio, f"×{results.growth_ratio_again:.2f}")
    return shown


def _table(title: str, first: str) -> Table:
    shown = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, min_width=len(title) + 4)
    shown.add_column(first, justify="right", style="bold")
    return shown


def _against(value: float, reach: float, shape: str) -> str:
    return f"[{'green' if value <= reach else 'red'}]{shape.format(value)}"


def main() -> int:
    """Measures and prints; a figure that is not reached is red and no error, for machines differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=30, help="how often each thing is measured (30)")
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("--rounds must be at least 1")
    told = Console(stderr=True)
    with told.status("opening a browser") as status:
        results = asyncio.run(measure(asked.rounds, lambda text: status.update(f"measuring: {text}")))
    if asked.json:
        print(json.dumps(summary(results, asked.rounds), indent=2))
    else:
        show(Console(), results, asked.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
