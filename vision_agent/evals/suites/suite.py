"""What a suite is: its tasks, how each one starts, and how its end is judged; never by the agent's own word.

An open suite is a `Stage`: it serves its pages and can play several tasks at once, each on its own page. This module
knows no suite, and nothing of folders, jobs or figures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent.evals.suites.variants import Variant
from vision_agent.settings import Settings
from vision_agent.types import Limits


@dataclass(frozen=True)
class SuiteVerdict:
    """A suite's verdict on one item."""

    score: float | None
    """From 0 to 1; None: there is nothing to judge by."""
    passed: bool | None
    sentence: str
    attacked: bool | None = None
    """Whether an attack on the agent succeeded; None: there was none."""


Run = Callable[..., Awaitable[Path | None]]
"""Runs an agent and returns its run folder: `await run(task)`, also with `wrap_model=…`, an `approver=…`, a `memory=…`,
`models=…`, the suite's own by name, and `make_agent=…`, which gets all arguments of the agent.
"""


class Stage(Protocol):
    """A suite whose pages are being served."""

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        """Start the task on the page, run it, and judge the end. `session` is unique to this item."""
        ...


class Suite(Protocol):
    """Tasks, and a stage to play them on. A subclass needs what has no default here."""

    name: str
    tasks: tuple[str, ...]
    seeds: int = 1
    variant: Variant | None = None
    """What is different from the plain suite, if anything; part of what identifies an item."""

    def content(self, task: str) -> JsonValue:
        """Everything that identifies the task."""
        ...

    def lines(self, task: str) -> tuple[str, ...]:
        """Reference step lines; empty if there are none."""
        del task
        return ()

    def models(self, task: str) -> tuple[str, ...]:
        """The names of models of its own that its stage offers for the task, such as `solver`."""
        del task
        return ()

    def task_settings(self, task: str, settings: Settings) -> Settings:
        """The settings with the changes that the task's pages need, for every model."""
        del task
        return settings

    def prepare(self, tasks: Collection[str], tell: Callable[[str], None] = lambda _: None) -> None:
        """Fetch what these tasks need and is not here yet; `tell` hears what is being fetched.

        Raises:
            Unavailable: it cannot be fetched.
        """
        del tasks, tell

    def use_local_files(self) -> Suite:
        """The same suite with the files of this machine, if it came from another one.

        Raises:
            UsageError: they are missing.
        """
        ...

    def open_stage(self, settings: Settings) -> AbstractContextManager[Stage]:
        """Serve the pages of the suite until the block ends."""
        ...
