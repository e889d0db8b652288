"""The perception score: how correct the marks on a page are, judged by the page and the picture.

A page is compared with its labels (`<page>.json`, which names every element that must be marked, by id, or by selector
as `selector_labels` says) or, without labels, with an independent truth (`truth`). Each way measures the same: which
marks are found or wrong, where a press at each mark's point lands, how labels lie and read in the picture as sent,
which traces of being observed the page could see, and how long the listing is. `churn` adds how long numbers last.

Counts are kept per page and pooled over pages: a page with many marks weighs more than one with few.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent import assets
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.errors import UsageError
from vision_agent.evals.listing_tokens import tokens_per_mark
from vision_agent.evals.perception.compare import (
    Finding,
    against_labels,
    against_selectors,
    against_truth,
    box_errors,
    displaced,
)
from vision_agent.evals.perception.covered import CoveredFigures, covered_figures
from vision_agent.evals.perception.landing import press_all
from vision_agent.evals.perception.look import ids_of, live_elements, look_and_examine, time_looks
from vision_agent.evals.perception.page_facts import watch
from vision_agent.evals.perception.picture import DigitReader, LabelFigures, label_figures
from vision_agent.evals.perception.selector_labels import entries_of
from vision_agent.evals.perception.trial import dismiss, try_targets
from vision_agent.evals.perception.truth import build_truth, questions
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import image_limits_for

FIXTURES = assets.fixtures("pages")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""Pages can reach only this machine, whatever they request."""
_VIEW = {"width": 1280, "height": 800}
_LOADED_MS = 20_000
_PAGE_S = 300
"""Time limit for one page; some questions to a page with a hanging frame are never answered."""
_AFTER_LOADING_S = 0.4
_NO_TRUTH = "the independent truth failed, so no mark was checked: load the page on an idle machine"
_CHANGED = "the page changed while it was examined, so its marks may be of another moment than the truth"
_MOST_READ = 12
"""Labels to read back on a page without labels of its own: reading those of hundreds of pages takes hours."""


@dataclass(frozen=True)
class PageToScore:
    """One page: its file in a folder that is served as a whole."""

    name: str
    root: Path
    path: str
    labels: Path | None = None


@dataclass(frozen=True)
class PageScore:
    """Measurements of one page, as counts that can be pooled."""

    name: str
    is_labelled: bool
    marks: int
    wanted: int
    """Intents that must be marked."""
    found: int
    false: int
    duplicates: int
    unsure: tuple[Finding, ...]
    """Marks on unsure targets, which count neither for nor against."""
    unsure_share: float
    """Share of the truth's intents that are unsure."""
    pressed: int
    landed: int
    box_errors: tuple[float, ...]
    """For each mark with an independently known box, the largest distance of an edge, in CSS pixels."""
    labels: LabelFigures
    traces: tuple[int, int, int] | None
    """Mutation records, and documents with new globals or changed markup; None if unknown."""
    tokens: tuple[float, ...]
    observe_s: tuple[float, ...] = ()
    screenshot_s: tuple[float, ...] = ()
    covered: CoveredFigures = field(default_factory=CoveredFigures)
    findings: tuple[Finding, ...] = ()
    agreed: tuple[Finding, ...] = ()
    """Marked targets of the independent truth."""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    picture: bytes | None = field(default=None, repr=False, compare=False)
    """The marked picture as sent."""


def pages_in(folder: Path) -> list[PageToScore]:
    """The pages of a folder, each with its labels if there are any; names that begin with `_` are parts of pages.

    Raises:
        UsageError: there are none.
    """
    shown = {labels: _page_of(labels) for labels in sorted(folder.glob("*.json"))}
    labelled = [
        PageToScore(labels.stem, folder, path, labels)
        for labels, path in shown.items()
        if path and (folder / path).is_file()
    ]
    others = [
        PageToScore(path.stem, folder, path.name)
        for path in folder.glob("*.html")
        if not path.name.startswith("_") and path.name not in shown.values()
    ]
    if not labelled and not others:
        raise UsageError(f"There are no pages to score in {folder}", "name a folder with .html files")
    return sorted([*labelled, *others], key=lambda page: page.name)


def _page_of(labels: Path) -> str:
    """The page that labels belong to: the one they name, or the one of the same name; empty for other data."""
    try:
        content = json.loads(labels.read_text("utf-8"))
    except ValueError:
        return ""
    is_labels = isinstance(content, dict) and ("marks" in content or "targets" in content)
    return str(content.get("page", f"{labels.stem}.html")) if is_labels else ""


async def score_pages(
    pages: Sequence[PageToScore],
    *,
    settings: BrowserSettings,
    reader: DigitReader | None = None,
    rounds: int = 0,
    tell: Callable[[str], None] = lambda _: None,
) -> list[PageScore]:
    """The scores of the pages, in order; a page that cannot be observed is reported and left out.

    `reader`: reads the numbers back; None skips legibility. `rounds`: how many observations and plain screenshots to
    time, in turns; 0 skips this.
    """
    scores = []
    async with launch_browser(settings.model_copy(update={"args": (*settings.args, OFFLINE)})) as started:
        for number, page in enumerate(pages, 1):
            tell(f"{number} of {len(pages)}: {page.name}")
            with served(page.root) as site:
                try:
                    async with asyncio.timeout(_PAGE_S):
                        score = await _score(started.browser, page, f"{site.url}/{page.path}", reader, rounds)
                    scores.append(score)
                except (PlaywrightError, TimeoutError) as error:
                    tell(f"{page.name} could not be scored: {str(error).splitlines()[0] if str(error) else 'too slow'}")
    return scores


async def _score(browser: Browser, page: PageToScore, url: str, reader: DigitReader | None, rounds: int) -> PageScore:
    began = time.monotonic()
    entries = entries_of(page.labels) if page.labels else []
    # Reduced motion, because the score is about one moment, and the questions take several.
    settings = {"viewport": _VIEW, "reduced_motion": "reduce", **_settings_of(page)}

    async def open_copy() -> Page:
        copy = await _open(browser, settings)
        await copy.goto(url)
        await _wait_loaded(copy)
        return copy

    tab = await _open(browser, settings)
    try:
        async with live.attach(tab, ObserveSettings(max_surface_marks=0), image_limits_for("steps")) as eyes:
            await eyes.open(url)
            await _wait_loaded(tab)
            looked = await look_and_examine(eyes, tab)
            observation, seen = looked.observation, looked.seen
            spent = await time_looks(eyes, tab, rounds)
            elements = await live_elements(tab, observation)
            boxes = await box_errors(observation, build_truth(seen) if seen else None, elements)
            by_selectors = await against_selectors(tab, observation, elements, entries) if entries else None
            landing = await press_all(tab, observation, elements)
            if by_selectors:
                truth, found = None, by_selectors
            elif page.labels:
                truth, found = None, against_labels(page.labels, observation, await ids_of(elements))
            else:
                truth = build_truth(seen, await try_targets(open_copy, questions(seen))) if seen else None
                found = against_truth(observation, truth)
    finally:
        await tab.context.close()
    return PageScore(
        name=page.name,
        is_labelled=page.labels is not None,
        marks=len(observation.marks),
        pressed=landing.pressed,
        landed=landing.pressed - len(landing.findings),
        box_errors=tuple(error for _, error in [*found.boxes, *boxes]),
        labels=label_figures(observation, reader, None if page.labels else _MOST_READ),
        covered=covered_figures(observation),
        traces=looked.traces,
        tokens=(tokens_per_mark(observation),) if observation.marks else (),
        observe_s=spent.observe,
        screenshot_s=spent.screenshot,
        findings=(*found.findings, *landing.findings, *displaced([*found.boxes, *boxes])),
        agreed=found.agreed,
        warnings=(
            *observation.warnings,
            *([_NO_TRUTH] if not page.labels and truth is None else []),
            *([] if looked.is_same else [_CHANGED]),
        ),
        seconds=time.monotonic() - began,
        picture=observation.marked.data,
        wanted=found.wanted,
        found=found.found,
        false=found.false,
        duplicates=found.duplicates,
        unsure=found.unsure,
        unsure_share=truth.unsure_share if truth else 0.0,
    )


async def _open(browser: Browser, settings: dict[str, Any]) -> Page:
    """An empty tab in its own context, with every document watched."""
    context = await browser.new_context(**settings)
    await watch(context)
    tab = await context.new_page()
    # A dialog that a page opens on its own must not block it.
    tab.on("dialog", lambda dialog: asyncio.ensure_future(dismiss(dialog)))
    tab.on("filechooser", lambda _: None)
    return tab


def _settings_of(page: PageToScore) -> dict[str, Any]:
    """The browser settings in the page's labels."""
    settings: dict[str, Any] = json.loads(page.labels.read_text("utf-8")).get("context", {}) if page.labels else {}
    return settings


async def _wait_loaded(tab: Page) -> None:
    with suppress(PlaywrightError):  # a page that never stops fetching is observed anyway
        await tab.wait_for_load_state("networkidle", timeout=_LOADED_MS)
    await asyncio.sleep(_AFTER_LOADING_S)
