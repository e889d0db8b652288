"""Freezes a list of pages (`suite_file`): opens and observes each once, and finds its reference there.

A reference is a step line, and means what `--model steps` would act on, or nothing: if several marks fit, or none, the
error names the page and what is on it. The list is frozen completely or not at all, so that later comparisons use the
same pages.

Everything that depends on the moment (times, durations, keys of the live page) is left out: an unchanged page gives the
same bytes each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Action
from vision_agent.browser.launch.launch import LaunchedBrowser, fresh_context, launch_browser, with_stable_raster
from vision_agent.errors import BrowserUnavailable, UsageError, VisionAgentError
from vision_agent.evals.answer_grading import Reference, action_reference, merge_references
from vision_agent.evals.suites.frozen import FrozenFolder, FrozenTask, create_frozen
from vision_agent.evals.suites.mind2web import AT
from vision_agent.evals.suites.suite_file import FilePage, read_pages
from vision_agent.models.offline.grammar import StepLine, parse
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.observation import Observation
from vision_agent.session import attach
from vision_agent.settings import Settings
from vision_agent.types import Decision, Outcome, Step, Task

_LOOKED = Outcome(status="refused", refusal="recorded", sentence="Not done: the page was only observed.")


async def freeze_pages(
    path: Path, to: Path, settings: Settings, tell: Callable[[str], None] = lambda _: None
) -> FrozenFolder:
    """Freeze the pages that a file lists into a new folder `to`, and return the counts.

    Each page opens in its own browser context, without state from the pages before it.

    Args:
        tell: receives a progress message for each page.

    Raises:
        UsageError: the list cannot be read, `to` cannot be created, a page cannot be opened, or a reference is not
            unique on its page. The message lists all such pages, and nothing is written.
        BrowserUnavailable: there is no browser, or it was lost.
    """
    pages = read_pages(path)
    faults: dict[str, VisionAgentError] = {}
    unrest: list[str] = []
    with create_frozen(to) as folder:
        async with launch_browser(with_stable_raster(settings.browser)) as browser:
            for place, page in enumerate(pages, start=1):
                tell(f"Observing page {place} of {len(pages)}: {page.id}")
                try:
                    seen = await _look(page.start_url, browser, settings)
                    task = freeze_page(page, seen)
                except VisionAgentError as error:
                    if not browser.browser.is_connected():
                        raise
                    faults[page.id] = error
                else:
                    folder.add(task)
                    unrest += [] if seen.at_rest else [page.id]
        if faults:
            raise _freeze_error(path, pages, faults)
    return folder.counts._replace(unrest=tuple(unrest))


def freeze_page(page: FilePage, seen: Observation) -> FrozenTask:
    """A listed page as a task with one step, whose reference is resolved on the observation.

    Raises:
        UsageError: a line of the reference matches nothing or several things, or the lines cannot be combined.
    """
    lines = parse(page.reference)
    meant = [_resolve(line, seen) for line in lines]
    reference = merge_references([each for _, each in meant])
    if reference is None:
        raise UsageError(
            f"{' and '.join(repr(line.text) for line in lines)} do different things to different targets",
            "an answer could mix parts of two: make each a task of its own",
        )
    at = page.at or AT
    decision = Decision(next_goal=lines[0].text, actions=(meant[0][0],), author="steps", model="steps")
    step = Step(index=1, observation=_strip_times(seen, page), decision=decision, outcomes=(_LOOKED,), started_at=at)
    task = Task(goal=page.goal, instructions=page.instructions, start_url=page.start_url, user_data=page.user_data)
    return FrozenTask(id=page.id, task=task, steps=(step,), references={1: reference})


def _resolve(line: StepLine, seen: Observation) -> tuple[Action, Reference]:
    try:
        action = line.build(seen)
    except NotFoundError as error:
        raise UsageError(f"{line.text!r}: {str(error).rstrip('.')}") from error
    reference = action_reference(action, seen)
    if reference is None:
        raise UsageError(f"{line.text!r} does nothing on the page that could be graded")
    return action, reference


def _strip_times(seen: Observation, page: FilePage) -> Observation:
    marks = tuple(mark.model_copy(update={"key": ""}) for mark in seen.marks)
    update = {"id": seen.marked.sha256[:12], "taken_at": page.at or AT, "timings": {}, "marks": marks}
    return seen.model_copy(update=update)


async def _look(url: str, browser: LaunchedBrowser, settings: Settings) -> Observation:
    try:
        async with (
            fresh_context(browser, settings.browser) as context,
            attach(await context.new_page(), settings) as live,
        ):
            await live.open(url)
            seen = await live.observe()
            if live.is_hung:
                raise BrowserUnavailable("The page hangs, so there is nothing to freeze", "is its script endless?")
            return seen
    except PlaywrightError as error:
        raise BrowserUnavailable(f"The browser failed: {error.message.splitlines()[0]}") from error


def _freeze_error(path: Path, pages: Sequence[FilePage], faults: Mapping[str, VisionAgentError]) -> UsageError:
    fine = [page.id for page in pages if page.id not in faults]
    each = "".join(f"\n  {name}: {fault}" for name, fault in faults.items())
    return UsageError(
        f"Of {len(pages)} pages in {path}, {len(faults)} cannot be frozen, so nothing was written:{each}\n",
        f"the others are fine: {', '.join(fine)}" if fine else "no page is fine",
    )
