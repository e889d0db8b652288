"""How many MiniWoB++ tasks the second solver passes, by marks and cells alone and with points, and what was refused.

The second solver sees what a model sees, so that what it cannot do shows where the product stands in the way.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Browser
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "evals"))
from pages import MissingPages, pages
from second_solver.play import Result, play

from vision_agent.browser.launch.launch import launch_browser
from vision_agent.evals import miniwob
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.settings import load


def main() -> int:
    """0 when all tasks that were played are passed with every seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="names of tasks", default=None)
    parser.add_argument("--seeds", nargs="*", type=int, help="which episodes of each task", default=[1, 2, 3])
    parser.add_argument("--no-points", action="store_true", help="name marks and their cells only")
    parser.add_argument(
        "--jobs", type=int, default=1, help="episodes at a time; those that count time are played alone"
    )
    parser.add_argument("--verbose", action="store_true", help="print the whole trouble, with the listing")
    asked = parser.parse_args()
    told = Console(soft_wrap=True, markup=False, highlight=False)
    try:
        html = pages("miniwob") / "html"
    except MissingPages as error:
        told.print(f"The tasks are not here: {error}")
        return 5
    tasks = asked.only or [task for task in miniwob.tasks(html) if task not in miniwob.ENDLESS]
    results = asyncio.run(_played(html, tasks, asked, told))
    show(told, results)
    return 0 if all(each.passed for each in results) else 1


async def _played(html: Path, tasks: Sequence[str], asked: argparse.Namespace, told: Console) -> list[Result]:
    free = asyncio.Semaphore(asked.jobs)

    async def played(browser: Browser, site: str, task: str, seed: int) -> Result:
        async with free:
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            try:
                result = await play(await context.new_page(), site, task, seed, may_use_points=not asked.no_points)
            finally:
                await context.close()
            _tell(told, result, asked.verbose)
            return result

    episodes = [(task, seed) for task in tasks for seed in asked.seeds]
    with served(html) as site:
        async with launch_browser(load().browser) as started:
            timed = [each for each in episodes if each[0] in miniwob.TIMED]
            results = [await played(started.browser, site.url, *each) for each in timed]
            others = [each for each in episodes if each[0] not in miniwob.TIMED]
            results += await asyncio.gather(*(played(started.browser, site.url, *each) for each in others))
    return sorted(results, key=lambda each: (each.task, each.seed))


def _tell(told: Console, result: Result, verbose: bool) -> None:
    said = "passed" if result.passed else f"FAILED ({_why(result)})"
    told.print(f"{result.task} {result.seed}: {said}, {result.way}, {result.actions} actions, {result.seconds} s")
    if verbose and not result.passed:
        told.print("\n    ".join((f"    {result.goal}", *result.trace)), f"\n{result.trouble}")
    for refusal in result.refusals:
        again = " (again)" if refusal.is_repeated else ""
        told.print(f"    {refusal.action}: {refusal.sentence}{again}")


def _why(result: Result) -> str:
    if result.trouble:
        return result.trouble.splitlines()[0]
    return f"the reward is {result.reward.raw:g}" if result.reward.done else "it did not end"


def show(told: Console, results: Sequence[Result]) -> None:
    """The tasks that are not always passed, and the figures."""
    by_task: defaultdict[str, list[Result]] = defaultdict(list)
    for each in results:
        by_task[each.task].append(each)
    table = Table("task", "passed", "by", "why not", box=None)
    for task, episodes in by_task.items():
        failed = [each for each in episodes if not each.passed]
        ways = "/".join(sorted({each.way for each in episodes}))
        if failed or ways != "marks":
            table.add_row(
                task, f"{len(episodes) - len(failed)}/{len(episodes)}", ways, _why(failed[0]) if failed else ""
            )
    told.print(table)
    whole = [episodes for episodes in by_task.values() if all(each.passed for each in episodes)]
    ways = [{each.way for each in episodes} for episodes in whole]
    told.print(
        f"passed: {len(whole)} of {len(by_task)} tasks; by marks {sum(way == {'marks'} for way in ways)}, "
        f"by marks and cells {sum('points' not in way for way in ways)}; "
        f"{sum(len(each.refusals) for each in results)} refusals"
    )


if __name__ == "__main__":
    sys.exit(main())
