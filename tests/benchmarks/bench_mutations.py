"""Whether what was meant is hit on pages that change under the hand, and what an act costs: `make bench-mutations`.

The same cases are played twice: by the product, and by clicking the coordinates of the look whatever is there by then.
Those of rows whose controls are called the same are played by the product alone: what is counted is how often somebody
else's row was reached, and how often the right one was refused though only something else had changed.
What an act costs is measured on pages at rest, without waiting for rest: quiet for 0 s is at rest at the first look.
The page's part of it is what the bare input and one bare picture take on the same page, in turn with ours: whoever acts
sends the one, and waits two frames for the other to see what came of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.browser import row_mutations
from tests.browser.mutations import (
    AT,
    FOLDER,
    LEVEL,
    SETTINGS,
    TEXT,
    Case,
    Played,
    Verdict,
    action_of,
    cases,
    looked_at,
    play,
    play_stored,
)
from tests.conftest import Server
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.locate.locate import locate
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.tabs import Tabs
from vision_agent.observation import Mark
from vision_agent.settings import BrowserSettings
from vision_agent.vision.image_limits import ImageLimits

REACH_HIT, REACH_CONTROL = 0.97, 0.30
REACH_RECHECK_MS, REACH_ACT_MS = 50, 80
REACH_FALSE_REFUSALS = 0.02
PLACES = ("plain", "table", "shadow", "closed", "frame", "cross", "dialog")
TIMED = (
    ("click", "button"),
    ("double", "button"),
    ("check", "check"),
    ("type", "field"),
    ("set", "slider"),
    ("select", "select"),
    ("press", "field"),
    ("hover", "tile"),
    ("scroll", "log"),
    ("drag", "card"),
)
_WARM_UP = 2
_AT_ONCE = SETTINGS.model_copy(update={"quiet_s": 0.0})


@dataclass
class Results:
    """All that was played and measured."""

    played: list[Played] = field(default_factory=list)
    stored: list[Played] = field(default_factory=list)
    rows: list[row_mutations.Played] = field(default_factory=list)
    recheck: dict[str, list[float]] = field(default_factory=dict)
    """Seconds, by place."""
    act: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """Seconds by action, each with those of the bare input and picture in the same round."""

    def of(self, kind: str) -> list[Played]:
        return [each for each in self.played if each.case.verdict.kind == kind]

    @property
    def wrong(self) -> list[Played]:
        return [each for each in self.played if each.wrong]

    @property
    def unrelated(self) -> list[row_mutations.Played]:
        return [each for each in self.rows if each.case.is_unrelated]

    @property
    def control_failures(self) -> list[Played]:
        return [each for each in self.stored if each.trouble]


async def measure(suite: str, only: str, rounds: int, *, with_control: bool, tell: Callable[[str], None]) -> Results:
    """All of it, in one browser."""
    results = Results()
    chosen = [case for case in cases() if only in case.id and suite != "rows"]
    of_rows = [*row_mutations.cases(), *row_mutations.unrelated()] if suite != "things" else []
    rounds = 0 if suite == "rows" else rounds
    server = Server()
    try:
        address = server.folder(FOLDER)
        async with launch_browser(BrowserSettings()) as started:
            async with _on(started.context, SETTINGS) as browser:
                for number, case in enumerate(chosen, 1):
                    tell(f"{number} of {len(chosen)}: {case.id}")
                    results.played.append(await play(case, browser, address))
                    if with_control and case.verdict.kind != "either":
                        results.stored.append(await play_stored(case, browser, address))
            async with _on(started.context, SETTINGS) as browser:
                address_of_rows = server.folder(row_mutations.FOLDER)
                for number, each in enumerate(case for case in of_rows if only in case.id):
                    tell(f"rows, {number + 1}: {each.id}")
                    results.rows.append(await row_mutations.play(each, browser, address_of_rows))
            for place in PLACES if rounds else ():
                tell(f"looking again: {place}")
                results.recheck[place] = await _rechecks(started.context, address, place, rounds)
            for action, thing in TIMED if rounds else ():
                tell(f"how long it takes: {action}")
                results.act |= await _acts(started.context, address, action, thing, rounds)
    finally:
        server.close()
    return results


@asynccontextmanager
async def _on(context: BrowserContext, settings: Any) -> AsyncIterator[LiveBrowser]:
    page = await context.new_page()
    async with live.attach(page, settings, ImageLimits()) as browser:
        yield browser
    await page.close()


def _case(place: str, action: str, thing: str) -> Case:
    return Case("", place, action, thing, Verdict("hit"))


async def _rechecks(context: BrowserContext, address: str, place: str, rounds: int) -> list[float]:
    """Seconds for finding the live element of a mark again, with all that is asked of it before it is used."""
    taken = []
    async with _on(context, _AT_ONCE) as browser:
        _, mark = await looked_at(_case(place, "click", "button"), browser, address)
        tabs = Tabs(context, browser.page)
        tabs.add(browser.page)
        seen = await Observer(_AT_ONCE, ImageLimits(), lambda: datetime.now(UTC)).look(tabs)
        number = next(each.number for each in seen.observation.marks if each.key == mark.key)
        for _ in range(_WARM_UP + rounds):
            started = time.perf_counter()
            await locate(browser.page, number, seen, ImageLimits(), 5)
            taken.append(time.perf_counter() - started)
        tabs.stop_listening()
    return taken[_WARM_UP:]


async def _acts(
    context: BrowserContext, address: str, action: str, thing: str, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Seconds of one action, from the call to its outcome, and of the same input and picture without us."""
    taken = []
    case = _case("table", action, thing)
    async with _on(context, _AT_ONCE) as browser:
        for _ in range(_WARM_UP + rounds):
            seen, mark = await looked_at(case, browser, address)
            outcome = await browser.act(action_of(case, seen, mark), seen)
            assert outcome.status == "done", outcome.sentence
            seen, mark = await looked_at(case, browser, address)
            end = next((each for each in seen.marks if each.name == "Archive"), mark)
            started = time.perf_counter()
            await _input(browser.page, action, mark, end)
            await capture(browser.page, 5)
            taken.append((outcome.seconds, time.perf_counter() - started))
    return {action: taken[_WARM_UP:]}


async def _input(page: Page, action: str, mark: Mark, end: Mark) -> None:
    """What Playwright sends for an action when nobody asks whether it is the right thing, or what came of it."""
    mouse, x, y = page.mouse, mark.point.x, mark.point.y
    named = page.get_by_label(mark.name, exact=True).nth(AT)
    match action:
        case "click" | "double" | "check":
            await mouse.click(x, y, click_count=2 if action == "double" else 1)
        case "type":
            await mouse.click(x, y)
            await page.keyboard.press("ControlOrMeta+A")
            await page.keyboard.type(TEXT)
        case "set":
            await named.fill(LEVEL)
        case "select":
            await named.select_option("High")
        case "press":
            await named.press("ArrowDown")
        case "hover":
            await mouse.move(x, y)
        case "scroll":
            await mouse.move(x, y)
            await mouse.wheel(0, mark.box.height)
        case "drag":
            await mouse.move(x, y)
            await mouse.down()
            await mouse.move(end.point.x, end.point.y, steps=12)
            await mouse.up()
        case _:
            raise ValueError(f"no such action: {action}")


# --- telling ----------------------------------------------------------------------------------------------------------


def summary(results: Results) -> dict[str, Any]:
    """All of it, for `--json`."""
    return {
        "machine": {"python": platform.python_version(), "cpus": os.cpu_count(), "load": os.getloadavg()},
        "cases": {kind: len(results.of(kind)) for kind in ("hit", "refuse", "either")},
        "right": {kind: _right(results.of(kind)) for kind in ("hit", "refuse", "either")},
        "wrong_element_effects": len(results.wrong),
        "control": {"cases": len(results.stored), "failed": len(results.control_failures)},
        "rows": {
            "cases": dict(Counter(each.case.kind for each in results.rows)),
            "right": _right(results.rows),
            "wrong": sum(bool(each.wrong) for each in results.rows),
            "unrelated": len(results.unrelated),
            "false_refusals": sum(each.is_false_refusal for each in results.unrelated),
        },
        "troubles": {each.case.id: each.trouble for each in (*results.played, *results.rows) if each.trouble},
        "recheck_ms": {place: _ms(taken) for place, taken in results.recheck.items()},
        "act_ms": {
            action: {
                "whole": _ms([ours for ours, _ in taken]),
                "page": _ms([theirs for _, theirs in taken]),
                "own": _ms([ours - theirs for ours, theirs in taken]),
            }
            for action, taken in results.act.items()
        },
    }


def show(console: Console, results: Results) -> None:
    """What came of the cases, which of them failed, and how long things take."""
    if results.played:
        _show_things(console, results)
    if results.rows:
        _show_rows(console, results)
    _show_times(console, "Looking again before acting", results.recheck, REACH_RECHECK_MS)
    _show_acts(console, results.act)


def _show_things(console: Console, results: Results) -> None:
    shown = _table(
        "Pages that change between the look and the act, or under the hand", "declared", "cases", "right", "reach"
    )
    for kind, reach in (("hit", f"≥ {REACH_HIT:.0%}"), ("refuse", "100%"), ("either", "100%")):
        found = results.of(kind)
        shown.add_row(kind, f"{len(found)}", _share(_right(found), len(found)), reach)
    shown.add_section()
    shown.add_row("wrong element", f"{len(results.played)}", f"{len(results.wrong)}", "0")
    if results.stored:
        failed = _share(len(results.control_failures), len(results.stored))
        shown.add_row("stored coordinates fail", f"{len(results.stored)}", failed, f"≥ {REACH_CONTROL:.0%}")
    console.print(shown)
    by_change = Counter(each.case.change for each in results.played if each.trouble)
    for each in results.played:
        if each.trouble:
            console.print(f"[red]{each.case.id}[/] {each.trouble}", highlight=False)
    if by_change:
        console.print(
            "failing by change: " + ", ".join(f"{change} {count}" for change, count in by_change.most_common())
        )


def _show_rows(console: Console, results: Results) -> None:
    meant = [each for each in results.rows if not each.case.is_unrelated]
    shown = _table("Rows whose controls are called the same", "declared", "cases", "right", "reach")
    for kind in ("hit", "refuse", "either"):
        found = [each for each in meant if each.case.kind == kind]
        shown.add_row(kind, f"{len(found)}", _share(_right(found), len(found)), "100%")
    shown.add_section()
    wrong = [each for each in results.rows if each.wrong]
    shown.add_row("somebody else reached", f"{len(results.rows)}", f"{len(wrong)}", "0")
    for words, found in (("unrelated changes", results.unrelated), ("redrawn and moved", meant)):
        hits = [each for each in found if each.case.kind == "hit"]
        refused = sum(each.is_false_refusal for each in hits)
        reach = f"≤ {REACH_FALSE_REFUSALS:.0%}"
        shown.add_row(f"false refusals, {words}", f"{len(hits)}", _share(refused, len(hits)), reach)
    console.print(shown)
    _show_by(console, "change", results.rows, lambda each: f"{each.case.change} ({each.case.moment})")
    _show_by(console, "markup", results.rows, lambda each: each.case.markup)
    for each in results.rows:
        if each.trouble:
            console.print(f"[red]{each.case.id}[/] {each.trouble}", highlight=False)


def _show_by(
    console: Console,
    title: str,
    played: Sequence[row_mutations.Played],
    of: Callable[[row_mutations.Played], str],
) -> None:
    shown = _table(f"Rows that went wrong, by {title}", title, "cases", "wrong", "falsely refused", "other trouble")
    if not any(each.trouble for each in played):
        return
    for name in sorted({of(each) for each in played}):
        found = [each for each in played if of(each) == name and each.trouble]
        wrong = sum(bool(each.wrong) for each in found)
        refused = sum(each.is_false_refusal and not each.wrong for each in found)
        if found:
            count = sum(of(each) == name for each in played)
            shown.add_row(name, f"{count}", f"{wrong}", f"{refused}", f"{len(found) - wrong - refused}")
    console.print(shown)


def _show_acts(console: Console, acts: dict[str, list[tuple[float, float]]]) -> None:
    if not acts:
        return
    title = f"An act, without waiting for rest, in ms (reach: {REACH_ACT_MS} of our own)"
    shown = _table(title, "", "whole", "the page's", "our own", "10-90%")
    for action, taken in acts.items():
        own = _ms([ours - theirs for ours, theirs in taken])
        whole, page = (statistics.median(part) * 1000 for part in zip(*taken, strict=True))
        shown.add_row(
            action, f"{whole:.0f}", f"{page:.0f}", f"{own['median']:.0f}", f"{own['p10']:.0f}-{own['p90']:.0f}"
        )
    console.print(shown)


def _show_times(console: Console, title: str, taken: dict[str, list[float]], reach: int) -> None:
    if not taken:
        return
    shown = _table(f"{title}, in ms (reach: {reach})", "", "median", "10-90%")
    for what, seconds in taken.items():
        ms = _ms(seconds)
        shown.add_row(what, f"{ms['median']:.0f}", f"{ms['p10']:.0f}-{ms['p90']:.0f}")
    console.print(shown)


def _table(title: str, *columns: str) -> Table:
    shown = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, min_width=len(title) + 4)
    for number, column in enumerate(columns):
        shown.add_column(column, justify="right" if number else "left", no_wrap=True)
    return shown


def _right(played: Sequence[Played] | Sequence[row_mutations.Played]) -> int:
    return sum(not each.trouble for each in played)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})" if whole else "-"


def _ms(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    return {
        "median": round(statistics.median(ordered) * 1000, 1),
        "p10": round(low * 1000, 1),
        "p90": round(high * 1000, 1),
    }


def main() -> int:
    """Plays, measures and prints; what is not reached is said and no error, for machines differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--suite", choices=("all", "things", "rows"), default="all", help="rows: those called the same (all)"
    )
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--rounds", type=int, default=15, help="how often each act is timed; 0 leaves that out (15)")
    parser.add_argument("--no-control", action="store_true", help="leave out clicking stored coordinates")
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    asked = parser.parse_args()
    told = Console(stderr=True)
    with told.status("opening a browser") as status:
        results = asyncio.run(
            measure(
                asked.suite,
                asked.only,
                asked.rounds,
                with_control=not asked.no_control,
                tell=lambda text: status.update(text),
            )
        )
    if asked.json:
        print(json.dumps(summary(results), indent=2))
    else:
        show(Console(), results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
