"""Freezes the pages of a list (`suite_file`): each is opened, looked at once, and what is right on it is found there.

A reference is a step line, and means what `--model steps` would act on, or nothing at all: where several marks fit, or
none, the page is told with what there is. The list is frozen whole or not at all, so that what was compared on it once
is what is compared on it again.

What a look has of its moment (its time, how long it took, numbers of the live page) is left out: a page that has not
changed gives the same bytes each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Action
from vision_agent.browser.launch import Launched, drawn_whole, fresh_context, launched
from vision_agent.errors import BrowserUnavailable, UsageError, VisionAgentError
from vision_agent.evals.frozen import Frozen, FrozenTask, filled
from vision_agent.evals.grades import Reference, any_of, reference_to
from vision_agent.evals.mind2web import AT
from vision_agent.evals.suite_file import FilePage, read_pages
from vision_agent.models.find import NotFoundError
from vision_agent.models.lines import Line, parse
from vision_agent.session import watching
from vision_agent.settings import Settings
from vision_agent.types import Decision, Observation, Outcome, Step, Task

_LOOKED = Outcome(status="refused", refusal="recorded", sentence="Not done: the page was only looked at.")


async def freeze_pages(
    path: Path, to: Path, settings: Settings, tell: Callable[[str], None] = lambda _: None
) -> Frozen:
    """What was stored of the pages that a file lists, in a new folder `to`.

    Each is opened in a browser context of its own, that knows nothing of the pages before it.

    Args:
        tell: is told which page is looked at.

    Raises:
        UsageError: the list cannot be read, or `to` not be made; or a page cannot be opened, or its reference does not
            mean exactly one thing there: all such are named, and nothing is written.
        BrowserUnavailable: there is no browser, or it was lost.
    """
    pages = read_pages(path)
    faults: dict[str, VisionAgentError] = {}
    unrest: list[str] = []
    with filled(to) as folder:
        async with launched(drawn_whole(settings.browser)) as browser:
            for place, page in enumerate(pages, start=1):
                tell(f"Looking at page {place} of {len(pages)}: {page.id}")
                try:
                    seen = await _look(page.start_url, browser, settings)
                    task = frozen_page(page, seen)
                except VisionAgentError as error:
                    if not browser.browser.is_connected():
                        raise
                    faults[page.id] = error
                else:
                    folder.add(task)
                    unrest += [] if seen.at_rest else [page.id]
        if faults:
            raise _not_frozen(path, pages, faults)
    return folder.told._replace(unrest=tuple(unrest))


def frozen_page(page: FilePage, seen: Observation) -> FrozenTask:
    """A page of a list as a task with one step, whose reference was found on what was seen.

    Raises:
        UsageError: a line of the reference means nothing there, or several things; or they cannot be told apart.
    """
    lines = parse(page.reference)
    meant = [_meant(line, seen) for line in lines]
    reference = any_of([each for _, each in meant])
    if reference is None:
        raise UsageError(
            f"{' and '.join(repr(line.text) for line in lines)} do different things to different things",
            "an answer could be half of one and half of another: give each a task of its own",
        )
    at = page.at or AT
    decision = Decision(next_goal=lines[0].text, actions=(meant[0][0],), author="steps", model="steps")
    step = Step(index=1, observation=_timeless(seen, page), decision=decision, outcomes=(_LOOKED,), started_at=at)
    task = Task(goal=page.goal, start_url=page.start_url, user_data=page.user_data)
    return FrozenTask(id=page.id, task=task, steps=(step,), references={1: reference})


def _meant(line: Line, seen: Observation) -> tuple[Action, Reference]:
    try:
        action = line.build(seen)
    except NotFoundError as error:
        raise UsageError(f"{line.text!r}: {str(error).rstrip('.')}") from error
    reference = reference_to(action, seen)
    if reference is None:
        raise UsageError(f"{line.text!r} does nothing to the page that could be right or wrong")
    return action, reference


def _timeless(seen: Observation, page: FilePage) -> Observation:
    marks = tuple(mark.model_copy(update={"key": ""}) for mark in seen.marks)
    told = {"id": seen.marked.sha256[:12], "taken_at": page.at or AT, "timings": {}, "marks": marks}
    return seen.model_copy(update=told)


async def _look(url: str, browser: Launched, settings: Settings) -> Observation:
    try:
        async with (
            fresh_context(browser, settings.browser) as context,
            watching(await context.new_page(), settings) as live,
        ):
            await live.open(url)
            return await live.observe()
    except PlaywrightError as error:
        raise BrowserUnavailable(f"The browser failed: {error.message.splitlines()[0]}") from error


def _not_frozen(path: Path, pages: Sequence[FilePage], faults: Mapping[str, VisionAgentError]) -> UsageError:
    fine = [page.id for page in pages if page.id not in faults]
    each = "".join(f"\n  {name}: {fault}" for name, fault in faults.items())
    return UsageError(
        f"Of {len(pages)} pages in {path}, {len(faults)} cannot be frozen, so nothing was written:{each}\n",
        f"as they should be are {', '.join(fine)}" if fine else "none is as it should be",
    )
