"""How many MiniWoB++ tasks are passed by marks alone, and how many with points: `make bench-miniwob`.

Every task is played with a solver that reads the page to choose and acts as an agent does. A task counts when each of
its episodes is passed by the environment's own reward.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))
from pages import MissingPages, pages

from vision_agent.browser.launch.launch import launch_browser
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob_solvers import NEEDS_POINTS, SOLVERS, SOMETIMES
from vision_agent.evals.miniwob_solvers.play import Played, play
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.settings import load

MARKS_REACH, POINTS_REACH = 120, 127


def main() -> int:
    """0 when both figures are reached, or only some tasks were asked for and all of them passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--only", nargs="*", help="names of tasks", default=None)
    parser.add_argument("--seeds", type=int, default=5, help="how many episodes of each task")
    asked = parser.parse_args()
    told = Console(stderr=True)
    try:
        html = pages("miniwob") / "html"
    except MissingPages as error:
        told.print(f"The tasks are not here: {error}", style="yellow")
        return 5
    able = [task for task in miniwob.tasks(html) if task not in miniwob.ENDLESS]
    if unknown := set(asked.only or ()) - set(able):
        parser.error(f"no such task: {', '.join(sorted(unknown))}")
    tasks = [task for task in asked.only or able if task in SOLVERS]
    result = summary(asyncio.run(_played(html, tasks, range(1, asked.seeds + 1), told)), len(able))
    if asked.json:
        print(json.dumps(result, indent=2))
    else:
        show(Console(), result)
    if asked.only:
        return 0 if result["with_points"] == len(tasks) else 1
    return 0 if result["by_marks_alone"] >= MARKS_REACH and result["with_points"] >= POINTS_REACH else 1


async def _played(html: Path, tasks: Sequence[str], seeds: Sequence[int], told: Console) -> list[Played]:
    return [each async for each in _each(html, tasks, seeds, told)]


async def _each(html: Path, tasks: Sequence[str], seeds: Sequence[int], told: Console) -> AsyncIterator[Played]:
    with served(html) as site:
        async with launch_browser(load().browser) as started:
            for task in track(tasks, "playing", console=told, disable=not told.is_terminal):
                for seed in seeds:
                    context = await started.browser.new_context(viewport={"width": 1280, "height": 800})
                    try:
                        played = await play(await context.new_page(), site.url, task, seed)
                    finally:
                        await context.close()
                    if not played.passed:
                        told.print(f"{task}, seed {seed}: {_trouble(played)}", style="yellow", soft_wrap=True)
                    yield played


def summary(played: Sequence[Played], able: int) -> dict[str, Any]:
    """The figures, and every task with what is to be said of it."""
    by_task: defaultdict[str, list[Played]] = defaultdict(list)
    for each in played:
        by_task[each.task].append(each)
    tasks = {task: _said(episodes) for task, episodes in by_task.items()}
    whole = [task for task in tasks.values() if task["passed"] == task["episodes"]]
    return {
        "tasks_that_can_end": able,
        "episodes": len(played),
        "episodes_passed": sum(each.passed for each in played),
        "with_points": len(whole),
        "by_marks_alone": sum(not task["used_points"] for task in whole),
        "tasks": tasks,
    }


def _said(episodes: Sequence[Played]) -> dict[str, Any]:
    task = episodes[0].task
    return {
        "episodes": len(episodes),
        "passed": sum(each.passed for each in episodes),
        "used_points": any(each.used_points for each in episodes),
        "seconds": round(sum(each.seconds for each in episodes) / len(episodes), 1),
        "why_points": NEEDS_POINTS.get(task, ""),
        "why_not_always": SOMETIMES.get(task, ""),
        "failed": [asdict(each) | {"trouble": _trouble(each)} for each in episodes if not each.passed],
    }


def _trouble(played: Played) -> str:
    """Why an episode was not passed, in a line."""
    if played.trouble:
        return played.trouble.splitlines()[0]
    return f"the reward is {played.reward.raw:g}" if played.reward.done else "it did not end"


def show(console: Console, result: dict[str, Any]) -> None:
    """The tasks that need a word, and the figures."""
    table = Table("task", "passed", "by", "why", box=None)
    for name, task in result["tasks"].items():
        if task["passed"] < task["episodes"]:
            why = task["why_not_always"] or task["failed"][0]["trouble"]
        else:
            why = task["why_points"]
        if why or task["used_points"]:
            by = "points" if task["used_points"] else "marks"
            table.add_row(name, f"{task['passed']}/{task['episodes']}", by, why)
    console.print(table)
    played, able = len(result["tasks"]), result["tasks_that_can_end"]
    console.print(f"{result['episodes_passed']} of {result['episodes']} episodes, {played} of {able} tasks played")
    console.print(f"passed by marks alone: {result['by_marks_alone']}, with points: {result['with_points']}")


if __name__ == "__main__":
    sys.exit(main())
