"""Plays one episode with the second solver, and reports the environment's reward and what the product refused."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from playwright.async_api import Page

from second_solver.plan import follow
from second_solver.player import GivenUp, Player, Refusal
from vision_agent.errors import VisionAgentError
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob import Reward
from vision_agent.session import attach
from vision_agent.settings import ObserveSettings, Settings

_LONGEST_S = 240.0


@dataclass(frozen=True)
class Result:
    """An episode that ended or was given up."""

    task: str
    seed: int
    goal: str
    reward: Reward
    way: str
    """`marks`, `cells` or `points`: the least exact kind of target that was used."""
    actions: int
    seconds: float
    trouble: str
    """Why the solver gave up; empty if it finished."""
    refusals: tuple[Refusal, ...]
    trace: tuple[str, ...]
    may_use_points: bool = True

    @property
    def passed(self) -> bool:
        """Whether the reward counts as passed, by the rule of the suite."""
        return miniwob.is_passed(self.task, self.reward)


async def play(page: Page, site: str, task: str, seed: int, *, may_use_points: bool = True) -> Result:
    """Play one episode; only its start and its reward are read from the page."""
    began, trouble = time.monotonic(), ""
    quiet_s, deadline_s = miniwob.settle_times(task)
    settings = Settings(observe=ObserveSettings(quiet_s=quiet_s, settle_deadline_s=deadline_s))
    async with attach(page, settings) as browser:
        await browser.observe()  # what the first look of a browser costs is no part of an episode
        goal = await miniwob.start(page, site, task, seed)
        player = Player(" ".join(goal.split()), browser, may_use_points=may_use_points)
        try:
            async with asyncio.timeout(_LONGEST_S):
                await follow(player)
        except TimeoutError:
            trouble = f"it took longer than {_LONGEST_S:g} s"
        except (GivenUp, VisionAgentError, ValueError, LookupError, AssertionError) as error:
            trouble = f"{type(error).__name__}: {error}"
    return Result(
        task=task,
        seed=seed,
        goal=goal,
        reward=await miniwob.reward(page),
        way="points" if player.used_points else "cells" if player.used_cells else "marks",
        actions=player.count,
        seconds=round(time.monotonic() - began, 1),
        trouble=trouble,
        refusals=tuple(player.refusals),
        trace=tuple(player.trace),
        may_use_points=may_use_points,
    )
