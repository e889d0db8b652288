"""MiniWoB++: 130 small pages, each with a sentence that says what to do and a script that judges it.

Begins an episode and reads the reward back, both in the page's own script and by the environment's own names. Knows
nothing of agents, marks or how a task is done. The pages are the `html` folder of the `miniwob` package; who calls says
where that is and serves it (`sites.served` does).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page

from vision_agent.errors import UsageError

_LONG_MS = 3_600_000
"""Of an episode. The environment gives ten seconds, made for a policy that looks at nothing; here nobody is hurried."""
_READY_MS = 10_000

ENDLESS = {"hover-shape": "its page never ends an episode: what would give the reward is commented out in its script"}
"""Tasks that nobody can pass, each with the reason."""
RESTLESS = {"chase-circle", "click-pie", "moving-items", "simon-says", "stock-market"}
"""Tasks in which something moves by itself from the start, and time counts: their pages are not waited for."""
GRADED = {
    "bisect-angle": 0.9,
    "chase-circle": 0.5,
    "circle-center": 0.9,
    "find-midpoint": 0.9,
    "moving-items": 0.2,
    "right-angle": 0.9,
}
"""Tasks whose reward says how well, each with the least that counts as passed; of all others the whole is asked.

Four tell how near a click came to the best place, which need not be on a whole pixel. One tells for which share of its
time the pointer was where it should be, and one how many of ten things were hit: its 0.2 are six of them.
"""


@dataclass(frozen=True)
class Reward:
    """What the environment says of an episode; `raw` is not scaled by time and means nothing before `done`."""

    done: bool
    raw: float
    reason: str = ""


def is_passed(task: str, reward: Reward) -> bool:
    """Whether the environment's own word is that the task was done."""
    return reward.done and reward.raw >= GRADED.get(task, 1.0)


def tasks(html: Path) -> tuple[str, ...]:
    """The names of all tasks in the package's `html` folder, sorted.

    Raises:
        UsageError: the folder holds none.
    """
    found = tuple(sorted(path.stem for path in (html / "miniwob").glob("*.html")))
    if not found:
        raise UsageError(f"{html} holds no MiniWoB++ tasks", "it should be the html folder of the miniwob package")
    return found


def rest_of(task: str) -> tuple[float, float]:
    """How long a page of a task must be quiet to be at rest, and until when that is waited for, both in seconds.

    Nothing comes over a network. Where something moves all the time, and time counts, there is nothing to wait for.
    """
    return (0.02, 0.03) if task in RESTLESS else (0.08, 1.0)


async def start(page: Page, site: str, task: str, seed: int | str, longest_ms: int = _LONG_MS) -> str:
    """Begins an episode on a freshly loaded page, and returns what the environment asks for.

    `site` is the address at which the `html` folder is served. No locator is used, so an overlay can still come.
    No other episode can be begun on the page once this one is over: its reward stands.
    """
    await page.goto(f"{site}/miniwob/{task}.html", wait_until="load")
    await page.wait_for_function("() => typeof core === 'object' && core.cover_div !== null", timeout=_READY_MS)
    await page.evaluate("time => core.EPISODE_MAX_TIME = time", longest_ms)
    await page.evaluate("seed => void Math.seedrandom(seed)", str(seed))
    await page.evaluate("core.setDataMode('train')")
    await page.evaluate("core.startEpisodeReal()")
    await page.evaluate("core.cover_div.onclick = null")  # what shows at the end and says START
    await page.wait_for_function("() => WOB_TASK_READY", timeout=_READY_MS)
    return await utterance(page)


async def utterance(page: Page) -> str:
    """What the environment asks for now."""
    said: str = await page.evaluate("[core.getUtterance()].map(said => said.utterance ?? said)[0]")
    return said


async def reward(page: Page) -> Reward:
    """What the environment says of the episode so far."""
    said = await page.evaluate("({ done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, reason: WOB_REWARD_REASON })")
    return Reward(done=said["done"], raw=said["raw"], reason=str(said["reason"] or ""))
