"""The suite of your own file, judged by its checks on the pages as the run left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent.actions import Wait
from vision_agent.evals.suites.suite import Run, Stage, Suite, SuiteVerdict
from vision_agent.evals.suites.suite_file import FileSuite, FileTask
from vision_agent.policy import success_checks
from vision_agent.record.run_files import names_in
from vision_agent.record.store import DOWNLOADS
from vision_agent.session import attach
from vision_agent.settings import Settings
from vision_agent.types import Limits, SuccessCheck, Task

_SHOWS_S = 1.0
"""How long to wait for a text that must appear at the end."""


class OwnSuite(Suite):
    """The tasks of a file, judged by their own checks on the pages as the run left them."""

    def __init__(self, suite: FileSuite) -> None:
        self.name = suite.name
        self.seeds = suite.seeds
        self._tasks = {task.id: task for task in suite.tasks}
        self.tasks = tuple(self._tasks)

    def content(self, task: str) -> JsonValue:
        """Everything that the file says of the task."""
        known = self._tasks[task]
        # A task without instructions stays the same task for results from before there were any.
        content: JsonValue = known.model_dump(mode="json", exclude=None if known.instructions else {"instructions"})
        return content

    def lines(self, task: str) -> tuple[str, ...]:
        """The reference lines of the task."""
        return self._tasks[task].steps

    def use_local_files(self) -> OwnSuite:
        """The suite itself, which already holds everything from the file."""
        return self

    def open_stage(self, settings: Settings) -> AbstractContextManager[Stage]:
        """Serve nothing: its pages are elsewhere."""
        return nullcontext(_OwnPages(self._tasks, settings))


class _OwnPages:
    def __init__(self, tasks: Mapping[str, FileTask], settings: Settings) -> None:
        self._tasks, self._settings = tasks, settings

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        del seed, session
        known = self._tasks[task]
        # The agent does not see the checks: they judge it and must not help it.
        folder = await run(
            Task(
                goal=known.goal,
                instructions=known.instructions,
                start_url=known.start_url,
                user_data=known.user_data,
                allowed_hosts=known.allowed_hosts,
                limits=limits.model_copy(update=known.limits.model_dump(exclude_unset=True)),
            )
        )
        if not known.checks:
            return SuiteVerdict(None, None, "The task states no checks, so its result is unknown")
        downloaded = names_in(folder, DOWNLOADS) if folder is not None else []
        if missing := success_checks.fault_of_downloads(known.checks, downloaded):
            return SuiteVerdict(0.0, False, f"Not reached: {missing}")
        faults = [await self._fault_on(each, known.checks) for each in page.context.pages]
        if "" in faults:
            return SuiteVerdict(1.0, True, "Every check holds")
        return SuiteVerdict(0.0, False, f"Not reached: {faults[-1] if faults else 'every tab was closed'}")

    async def _fault_on(self, page: Page, checks: Sequence[SuccessCheck]) -> str:
        """The check that fails on a tab; empty if all hold."""
        try:
            async with attach(page, self._settings) as browser:
                seen = await browser.observe()
                fault = success_checks.fault_of_page(checks, seen)
                for text in [check.text for check in checks if check.text is not None]:
                    if not fault:
                        shows = await browser.act(Wait(text=text, seconds=_SHOWS_S), seen)
                        fault = "" if shows.status == "done" else f"the page must show {text!r}, and does not"
        except PlaywrightError as error:
            return f"the page could not be observed: {error.message.splitlines()[0]}"
        return fault
