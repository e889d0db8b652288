"""The perception score: how right the marks on a page are, by what the page and the picture say.

A page is held either against labels beside it (`<page>.json`, which names every element that must be marked) or, where
there are none, against an independent truth (`perception_truth`). Both ways the same is measured: what was found and
what was marked wrongly, where a press at each mark's point lands, how the labels lie and read in the picture as sent,
what the page could see of being looked at, and how long the listing is. `perception_churn` adds how numbers last.

Counts are kept by page and pooled over pages: a page with many marks weighs more than one with few.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import Browser, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import live, overlay
from vision_agent.browser.launch import launched
from vision_agent.browser.live import LiveBrowser
from vision_agent.errors import UsageError
from vision_agent.evals.perception_picture import LabelFigures, Reader, label_figures
from vision_agent.evals.perception_truth import Target, Truth, truth_of
from vision_agent.evals.sites import served
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.types import Box, Mark, Observation
from vision_agent.vision.contract import contract_for

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "pages"
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""Pages see this machine and nothing else, whatever they ask for."""
_VIEW = {"width": 1280, "height": 800}
_LOADED_MS = 20_000
_PAGE_S = 240
"""For all that is asked of one page; one with a frame that hangs answers some of it never."""
_AFTER_LOADING_S = 0.4
_ANSWER_S = 5
_LOOKS = 4
"""Times a page is looked at until it is at rest."""
_BOX = "element => { const { x, y, width, height } = element.getBoundingClientRect(); return [x, y, width, height]; }"
_MOST_READ = 12
"""Labels that are read back of a page without labels beside it: hundreds of pages' worth take hours."""


@dataclass(frozen=True)
class PageToScore:
    """One page: its file in a folder that is served whole."""

    name: str
    root: Path
    path: str
    labels: Path | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, said so that the element can be found."""

    kind: str
    """`missed`, `false`, `duplicate`, `landing` or, for the sample that a person checks, `agreed`."""
    text: str
    box: Box | None = None


@dataclass(frozen=True)
class PageScore:
    """What was measured on one page; counts, so that pages can be pooled."""

    name: str
    is_labelled: bool
    marks: int
    wanted: int
    """Intents that must be marked."""
    found: int
    false: int
    duplicates: int
    unsure_marks: int
    """Marks on what counts neither way."""
    unsure_share: float
    """Of all intents of the truth, how many count neither way."""
    pressed: int
    landed: int
    box_errors: tuple[float, ...]
    """For each mark whose place is known independently, the largest distance of an edge, in CSS pixels."""
    labels: LabelFigures
    traces: tuple[int, int, int] | None
    """Mutation records, and how many documents had new globals or another markup; None where it was not told."""
    tokens: tuple[float, ...]
    observe_s: tuple[float, ...] = ()
    screenshot_s: tuple[float, ...] = ()
    findings: tuple[Finding, ...] = ()
    agreed: tuple[Finding, ...] = ()
    """Targets of the independent truth that are marked."""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    picture: bytes | None = field(default=None, repr=False, compare=False)
    """The marked picture as sent."""

    @property
    def held(self) -> int:
        """Marks that counted one way or the other."""
        return self.found + self.false


def pages_in(folder: Path) -> list[PageToScore]:
    """The pages of a folder, each with the labels beside it if there are any; names that begin with `_` are parts.

    Raises:
        UsageError: there are none.
    """
    found = [path for path in sorted(folder.glob("*.html")) if not path.name.startswith("_")]
    if not found:
        raise UsageError(f"There is no page to score in {folder}", "name a folder with .html files in it")
    labelled = {path: path.with_suffix(".json") for path in found}
    return [
        PageToScore(path.stem, folder, path.name, labels if labels.is_file() else None)
        for path, labels in labelled.items()
    ]


async def score_pages(
    pages: Sequence[PageToScore],
    *,
    settings: BrowserSettings,
    reader: Reader | None = None,
    rounds: int = 0,
    tell: Callable[[str], None] = lambda _: None,
) -> list[PageScore]:
    """The score of each page, in their order; a page that cannot be looked at is left out and said.

    `reader`: reads the numbers back; None leaves legibility out. `rounds`: how often looking and a plain screenshot
    take turns for the time; 0 leaves it out.
    """
    scores = []
    async with launched(settings.model_copy(update={"args": (*settings.args, OFFLINE)})) as started:
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


async def _score(browser: Browser, page: PageToScore, url: str, reader: Reader | None, rounds: int) -> PageScore:
    began = time.monotonic()
    # Movement that a person can switch off is off: what is measured is one moment, and asking takes several.
    context = await browser.new_context(viewport=_VIEW, reduced_motion="reduce")  # type: ignore[arg-type]
    try:
        await context.add_init_script(_watcher())
        tab = await context.new_page()
        _dismiss(tab)
        async with live.on(tab, ObserveSettings(), contract_for("steps")) as eyes:
            await eyes.open(url)
            await _loaded(tab)
            observation, traces = await _look(eyes, tab)
            spent = await _times(eyes, tab, rounds)
            elements = await _elements(tab, observation)
            truth = await _truth(tab, observation)
            found = _against_labels(page.labels, observation, await _ids(elements)) if page.labels else None
            found = found or _against_truth(observation, truth)
            boxes = await _box_errors(observation, truth, elements)
            landing = await _landing(tab, observation, elements)
    finally:
        await context.close()
    return PageScore(
        name=page.name,
        is_labelled=page.labels is not None,
        marks=len(observation.marks),
        pressed=landing.pressed,
        landed=landing.pressed - len(landing.findings),
        box_errors=(*found.box_errors, *boxes),
        labels=label_figures(observation, reader, None if page.labels else _MOST_READ),
        traces=traces,
        tokens=tuple(tokens_of(observation)),
        observe_s=spent.observe,
        screenshot_s=spent.screenshot,
        findings=(*found.findings, *landing.findings),
        agreed=found.agreed,
        warnings=observation.warnings,
        seconds=time.monotonic() - began,
        picture=observation.marked.data,
        wanted=found.wanted,
        found=found.found,
        false=found.false,
        duplicates=found.duplicates,
        unsure_marks=found.unsure_marks,
        unsure_share=truth.unsure_share if truth and not page.labels else 0.0,
    )


# --- looking ----------------------------------------------------------------------------------------------------------


def _dismiss(tab: Page) -> None:
    """A dialog that a page opens by itself must not hold it up."""
    tab.on("dialog", lambda dialog: asyncio.ensure_future(dialog.dismiss()))
    tab.on("filechooser", lambda _: None)


async def _loaded(tab: Page) -> None:
    with suppress(PlaywrightError):  # a page that never stops fetching is looked at all the same
        await tab.wait_for_load_state("networkidle", timeout=_LOADED_MS)
    await asyncio.sleep(_AFTER_LOADING_S)


async def _look(eyes: LiveBrowser, tab: Page) -> tuple[Observation, tuple[int, int, int] | None]:
    """The page at rest, if it comes to rest, and what it saw of one more look at it."""
    observation = await eyes.observe()
    for _ in range(_LOOKS - 1):
        if observation.at_rest:
            break
        observation = await eyes.observe()
    if not observation.at_rest:
        return observation, None  # its own doings could not be told from ours
    await _asked(tab, "() => __perception.watch()")
    again = await eyes.observe()
    told = [each.split() for each in await _asked(tab, "() => __perception.traces()") if each]
    sums = [sum(int(each[place]) for each in told) for place in range(3)]
    return again, ((sums[0], sums[1], sums[2]) if again.at_rest else None)


async def _asked(tab: Page, expression: str) -> list[str]:
    """What each document says; one that cannot run scripts says nothing."""
    answers = []
    for frame in tab.frames:
        try:
            async with asyncio.timeout(_ANSWER_S):
                answers.append(str(await frame.evaluate(expression) or ""))
        except (PlaywrightError, TimeoutError):
            continue
    return answers


@dataclass(frozen=True)
class _Times:
    observe: tuple[float, ...]
    screenshot: tuple[float, ...]


async def _times(eyes: LiveBrowser, tab: Page, rounds: int) -> _Times:
    """Looking without waiting for rest and plain screenshots, in turns."""
    observe, screenshot = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        observation = await eyes.observe()
        observe.append(time.perf_counter() - began - observation.timings.get("settle", 0.0))
        began = time.perf_counter()
        await tab.screenshot()
        screenshot.append(time.perf_counter() - began)
    return _Times(tuple(observe), tuple(screenshot))


async def _truth(tab: Page, observation: Observation) -> Truth | None:
    try:
        return await truth_of(tab, [mark.point for mark in observation.marks])
    except (PlaywrightError, TimeoutError):
        return None  # a page that has replaced what the truth asks with; it has labels, or is said to have no truth


def tokens_of(observation: Observation) -> list[float]:
    """For each mark's line a fourth of its characters: what tokenisers make of such text, give or take a fifth."""
    numbered = [line for line in observation.listing.splitlines() if "[:]<" in line[:12]]
    return [len(line) / 4 for line in numbered]


# --- what was found ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    wanted: int
    found: int
    false: int
    duplicates: int
    unsure_marks: int
    findings: tuple[Finding, ...]
    box_errors: tuple[float, ...] = ()
    agreed: tuple[Finding, ...] = ()


def _against_labels(labels: Path, observation: Observation, ids: dict[int, str]) -> _Found:
    wanted: dict[str, dict[str, Any]] = json.loads(labels.read_text("utf-8"))["marks"]
    marked = Counter(ids.get(mark.number, "") for mark in observation.marks)
    findings = [Finding("missed", f"#{each}") for each in wanted if not marked[each]]
    errors = []
    for mark in observation.marks:
        identity = ids.get(mark.number, "")
        if identity not in wanted:
            findings.append(Finding("false", _told(mark, f"#{identity}"), mark.box))
        elif "box" in wanted[identity]:
            errors.append(_farthest(mark.box, wanted[identity]["box"]))
    twice = {each: count - 1 for each, count in marked.items() if each in wanted and count > 1}
    findings += [Finding("duplicate", f"#{each}") for each in twice]
    missed = sum(not marked[each] for each in wanted)
    false = sum(count for each, count in marked.items() if each not in wanted)
    found = len(wanted) - missed
    return _Found(len(wanted), found, false, sum(twice.values()), 0, tuple(findings), tuple(errors))


def _against_truth(observation: Observation, truth: Truth | None) -> _Found:
    if truth is None:
        return _Found(0, 0, 0, 0, 0, ())
    by_target: dict[str, list[Mark]] = {}
    intents, findings, unsure = set(), [], 0
    for mark, hit in zip(observation.marks, truth.hits, strict=True):
        if mark.kind in ("scroller", "surface"):
            continue
        if hit.target is None:
            findings.append(Finding("false", _told(mark, hit.selector), mark.box))
        elif not hit.target.is_sure:
            unsure += 1
        else:
            intents.add(hit.target.intent)
            by_target.setdefault(hit.target.id, []).append(mark)
    false = len(findings)
    for marks in by_target.values():
        findings += [Finding("duplicate", _told(mark, f"beside {marks[0].number}"), mark.box) for mark in marks[1:]]
    duplicates = len(findings) - false
    sure = truth.sure
    missed = [target for intent, target in sure.items() if intent not in intents]
    findings += [Finding("missed", _told_target(target), target.box) for target in missed]
    agreed = [
        Finding("agreed", _told_target(target), target.box) for intent, target in sure.items() if intent in intents
    ]
    return _Found(len(sure), len(agreed), false, duplicates, unsure, tuple(findings), agreed=tuple(agreed))


def _told(mark: Mark, where: str) -> str:
    return f"{mark.number} <{mark.tag}> {mark.role} {mark.name[:40]!r} ({', '.join(mark.evidence)}) at {where}"


def _told_target(target: Target) -> str:
    return f"{target.selector} {target.text[:40]!r} ({target.why})"


async def _box_errors(
    observation: Observation, truth: Truth | None, elements: dict[int, tuple[Frame, ElementHandle]]
) -> list[float]:
    """Of marks whose target lies whole in sight, against the box that the page's own world gives.

    Only where the mark is on that very element: a label that stands for its control has another box, and rightly so.
    """
    errors: list[float] = []
    if truth is None:
        return errors
    for mark, hit in zip(observation.marks, truth.hits, strict=True):
        target = hit.target
        if target is None or not (target.is_sure and target.is_whole) or mark.number not in elements:
            continue
        wanted = [target.box.x, target.box.y, target.box.width, target.box.height]
        with suppress(PlaywrightError):
            own = await elements[mark.number][1].evaluate(_BOX)
            if np.allclose(own, wanted, atol=0.01):
                errors.append(_farthest(mark.box, wanted))
    return errors


def _farthest(box: Box, wanted: Sequence[float]) -> float:
    """The largest distance between the same edges of two boxes."""
    x, y, width, height = wanted
    mine = np.array([box.x, box.y, box.right, box.bottom])
    return float(np.abs(mine - [x, y, x + width, y + height]).max())


# --- landing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Landing:
    pressed: int
    findings: tuple[Finding, ...]


async def _elements(tab: Page, observation: Observation) -> dict[int, tuple[Frame, ElementHandle]]:
    """The live element of each mark that can still be found, with its frame, by the mark's number."""
    found = {}
    for mark in observation.marks:
        for frame in tab.frames:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_ANSWER_S):
                    handle = await frame.query_selector(f"{overlay.NAME}=key:{mark.key}")
                if handle is not None:
                    found[mark.number] = (frame, handle)
                    break
    return found


async def _ids(elements: dict[int, tuple[Frame, ElementHandle]]) -> dict[int, str]:
    return {number: await handle.get_attribute("id") or "" for number, (_, handle) in elements.items()}


async def _landing(tab: Page, observation: Observation, elements: dict[int, tuple[Frame, ElementHandle]]) -> _Landing:
    """A real press at every mark's point, and who heard it first in the page; the page itself hears nothing of it."""
    await _asked(tab, "() => __perception.begin()")
    for mark in observation.marks:
        if mark.number in elements and mark.kind not in ("scroller", "surface"):
            with suppress(PlaywrightError):
                await elements[mark.number][1].evaluate("element => __perception.mark(element)")
    pressed, findings = 0, []
    for mark in observation.marks:
        # A scroller is not pressed: its point may well lie on something in it.
        if mark.number not in elements or mark.state.disabled or mark.kind == "scroller":
            continue
        where = await _press(tab, mark, elements[mark.number][1])
        if where == "untold":
            continue
        pressed += 1
        if where not in ("landed", "unheard"):
            findings.append(Finding("landing", _told(mark, where), mark.box))
    return _Landing(pressed, tuple(findings))


async def _press(tab: Page, mark: Mark, element: ElementHandle) -> str:
    """Where it landed; `untold` where the document runs no scripts."""
    await tab.mouse.move(mark.point.x, mark.point.y)
    await tab.mouse.down()
    await tab.mouse.up()
    try:
        box = {"x": mark.point.x, "y": mark.point.y}
        return str(await element.evaluate("(element, { x, y }) => __perception.landed(element, x, y)", box))
    except PlaywrightError:
        return "untold"


@cache
def _watcher() -> str:
    return (Path(__file__).parent / "perception_page.js").read_text("utf-8")
