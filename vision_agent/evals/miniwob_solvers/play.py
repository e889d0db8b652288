"""Plays one episode with its solver, and reports the environment's reward."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from playwright.async_api import Page

from vision_agent.errors import VisionAgentError
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob import Reward
from vision_agent.evals.miniwob_solvers import SOLVERS
from vision_agent.evals.miniwob_solvers.episode import Unsolved, begin_episode
from vision_agent.settings import ObserveSettings, Settings

_LONGEST_S = 90.0


@dataclass(frozen=True)
class Played:
    """An episode that ended or was given up."""

    task: str
    seed: int
    asked: str
    reward: Reward
    used_points: bool
    """Whether any action used a point instead of a mark."""
    actions: int
    seconds: float
    trouble: str = ""
    """Why the solver gave up; empty if it finished."""

    @property
    def passed(self) -> bool:
        """Whether the reward counts as passed, by the rule of the suite."""
        return miniwob.is_passed(self.task, self.reward)


async def play(page: Page, site: str, task: str, seed: int) -> Played:
    """Play one episode; `site` is the address at which the environment's `html` folder is served."""
    began, trouble = time.monotonic(), ""
    asked = await miniwob.start(page, site, task, seed)
    quiet_s, deadline_s = miniwob.settle_times(task)
    settings = Settings(observe=ObserveSettings(quiet_s=quiet_s, settle_deadline_s=deadline_s))
    async with begin_episode(page, asked, settings) as episode:
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
