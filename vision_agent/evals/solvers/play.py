"""Plays one episode with its solver, and says what the environment thought of it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from playwright.async_api import Page

from vision_agent.errors import VisionAgentError
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob import Reward
from vision_agent.evals.solvers import SOLVERS
from vision_agent.evals.solvers.episode import Unsolved, begun
from vision_agent.settings import ObserveSettings, Settings

_LONGEST_S = 90.0


@dataclass(frozen=True)
class Played:
    """An episode that is over, or was given up."""

    task: str
    seed: int
    asked: str
    reward: Reward
    used_points: bool
    """Whether anything was done by a point, and not all by marks."""
    actions: int
    seconds: float
    trouble: str = ""
    """Why the solver gave up; empty where it came to its end."""

    @property
    def passed(self) -> bool:
        return miniwob.is_passed(self.task, self.reward)


async def play(page: Page, site: str, task: str, seed: int) -> Played:
    """What became of an episode; `site` is the address at which the `html` folder of the environment is served."""
    began, trouble = time.monotonic(), ""
    asked = await miniwob.start(page, site, task, seed)
    quiet_s, deadline_s = miniwob.rest_of(task)
    settings = Settings(observe=ObserveSettings(quiet_s=quiet_s, rest_deadline_s=deadline_s))
    async with begun(page, asked, settings) as episode:
        try:
            async with asyncio.timeout(_LONGEST_S):
                await SOLVERS[task](episode)
        except TimeoutError:
            trouble = f"it took longer than {_LONGEST_S:g} s"
        except (Unsolved, VisionAgentError, ValueError, LookupError, StopIteration) as error:
            trouble = f"{type(error).__name__}: {error}"
    return Played(
        task=task,
        seed=seed,
        asked=asked,
        reward=await miniwob.reward(page),
        used_points=episode.used_points,
        actions=len(episode.actions),
        seconds=round(time.monotonic() - began, 1),
        trouble=trouble,
    )
