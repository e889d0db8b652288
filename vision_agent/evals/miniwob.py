"""MiniWoB++: 130 small pages, each with a sentence that says what to do and a script that judges the result.

It starts an episode and reads the reward, both through the page's own script and with the environment's own names. It
knows nothing of agents, marks or solutions. The pages are the `html` folder of the `miniwob` package; the caller
locates the folder and serves it, for example with `sites.served`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page

from vision_agent.errors import UsageError

_LONG_MS = 3_600_000
"""Length of an episode. The environment's ten seconds are meant for policies that do not look at pictures."""
_READY_MS = 30_000

ENDLESS = {"hover-shape": "its page never ends an episode: the reward is commented out in its script"}
"""Tasks that cannot be passed, each with the reason."""
RESTLESS = {"chase-circle", "click-pie", "moving-items", "simon-says", "stock-market"}
"""Tasks with moving content from the start, where time counts: their pages never settle, so nobody waits for that."""
TIMED = RESTLESS | {"button-delay"}
"""Tasks in which acting too late fails, as may happen on a busy machine."""
GRADED = {
    "bisect-angle": 0.9,
    "chase-circle": 0.5,
    "circle-center": 0.9,
    "find-midpoint": 0.9,
    "moving-items": 0.2,
    "right-angle": 0.9,
}
"""Tasks with a gradual reward, each with the minimum that passes; all other tasks need the full reward.

Four measure how near a click is to the best place, which may lie between pixels. `chase-circle` gives the share of time
that the pointer is in the right place, and `moving-items` how many of ten things are hit: 0.2 means six of them.
"""

_ROUNDED = 1e-9
"""By which a reward may fall short: pages add up shares such as 0.2, six of which are less than 1.2."""


@dataclass(frozen=True)
class Reward:
    """The environment's verdict on an episode; `raw` is not scaled by time and means nothing before `done`."""

    done: bool
    raw: float
    reason: str = ""


def is_passed(task: str, reward: Reward) -> bool:
    """Whether the environment says that the task is done."""
    return reward.done and reward.raw >= GRADED.get(task, 1.0) - _ROUNDED


def tasks(html: Path) -> tuple[str, ...]:
    """The names of all tasks in the package's `html` folder, sorted.

    Raises:
        UsageError: the folder contains no tasks.
    """
    found = tuple(sorted(path.stem for path in (html / "miniwob").glob("*.html")))
    if not found:
        raise UsageError(f"There are no MiniWoB++ tasks in {html}", "name the html folder of the miniwob package")
    return found


def settle_times(task: str) -> tuple[float, float]:
    """How long a page of the task must be quiet to count as settled, and how long to wait for that, both in seconds.

    Nothing comes over a network. Pages with moving content, where time counts, are hardly waited for.
    """
    return (0.02, 0.03) if task in RESTLESS else (0.08, 1.0)


async def start(page: Page, site: str, task: str, seed: int | str, longest_ms: int = _LONG_MS) -> str:
    """Start an episode on a freshly loaded page, and return what the environment asks for.

    `site` is the address at which the `html` folder is served. No locator is used, so an overlay can still be
    registered. After the episode ends, the page cannot start another one, and its reward remains.
    """
    await page.goto(f"{site}/miniwob/{task}.html", wait_until="load")
    await page.wait_for_function("() => typeof core === 'object' && core.cover_div !== null", timeout=_READY_MS)
    await page.evaluate("time => core.EPISODE_MAX_TIME = time", longest_ms)
    await page.evaluate("seed => void Math.seedrandom(seed)", str(seed))
    await page.evaluate("core.setDataMode('train')")
    await page.evaluate("core.startEpisodeReal()")
    await page.evaluate("core.cover_div.onclick = null")  # the START cover that appears at the end
    await page.wait_for_function("() => WOB_TASK_READY", timeout=_READY_MS)
    return await utterance(page)


async def utterance(page: Page) -> str:
    """What the environment asks for now."""
    text: str = await page.evaluate("[core.getUtterance()].map(said => said.utterance ?? said)[0]")
    return text


async def reward(page: Page) -> Reward:
    """The environment's verdict on the episode so far."""
    state = await page.evaluate("({ done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, reason: WOB_REWARD_REASON })")
    return Reward(done=state["done"], raw=state["raw"], reason=str(state["reason"] or ""))
