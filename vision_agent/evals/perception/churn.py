"""Measures how long numbers last while a page re-renders, on small pages that do so on request.

A churn page is an HTML file whose `step()` re-renders it once; each actionable element carries the page's own name for
it in `data-thing`. These names tell what is the same before and after; the numbering never sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent import assets
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.page import overlay
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import image_limits_for

CHURN = assets.fixtures("churn")
_STEPS = 4


@dataclass(frozen=True)
class Churn:
    """What happened to the numbers of one page over its re-renders."""

    name: str
    lived: int
    """Things seen before and after a re-render in the same element."""
    kept: int
    """How many of them kept their number."""
    came_back: int
    """Things seen before and after in a new element."""
    kept_again: int
    handed: int
    """Numbers that later refer to another thing."""


@dataclass(frozen=True)
class _NumberedElement:
    number: int
    key: str


async def churn(
    folder: Path = CHURN, *, settings: BrowserSettings, tell: Callable[[str], None] = lambda _: None
) -> list[Churn]:
    """The churn of every page in the folder.

    Raises:
        UsageError: there are none.
    """
    pages = _pages_in(folder)
    if not pages:
        raise UsageError(f"There are no pages that re-render in {folder}", "they are in fixtures/churn")
    measured = []
    async with launch_browser(settings) as started:
        with served(folder) as site:
            for path in pages:
                tell(f"numbers on {path.stem}")
                tab = await started.context.new_page()
                async with live.attach(tab, ObserveSettings(max_surface_marks=0), image_limits_for("steps")) as eyes:
                    await eyes.open(f"{site.url}/{path.name}")
                    measured.append(await _over_steps(path.stem, eyes, tab))
                await tab.close()
    return measured


def _pages_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.html"))


async def _over_steps(name: str, eyes: LiveBrowser, tab: Page) -> Churn:
    lived = kept = came_back = kept_again = handed = 0
    ever: dict[int, str] = {}
    before = await _things(eyes, tab)
    for _ in range(_STEPS):
        ever |= {each.number: thing for thing, each in before.items()}
        await tab.evaluate("step()")
        after = await _things(eyes, tab)
        handed += sum(ever.get(each.number, thing) != thing for thing, each in after.items())
        for thing in before.keys() & after.keys():
            is_same = before[thing].number == after[thing].number
            if before[thing].key == after[thing].key:
                lived, kept = lived + 1, kept + is_same
            else:
                came_back, kept_again = came_back + 1, kept_again + is_same
        before = after
    return Churn(name, lived, kept, came_back, kept_again, handed)


async def _things(eyes: LiveBrowser, tab: Page) -> dict[str, _NumberedElement]:
    """The marked elements, by the page's own names."""
    observation = await eyes.observe()
    things = {}
    for mark in observation.marks:
        with suppress(PlaywrightError):
            handle = await tab.query_selector(f"{overlay.NAME}=key:{mark.key}")
            thing = await handle.get_attribute("data-thing") if handle else None
            if thing:
                things[thing] = _NumberedElement(mark.number, mark.key)
    return things
