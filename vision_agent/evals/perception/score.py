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
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import Browser, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent import assets
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.page import overlay
from vision_agent.errors import UsageError
from vision_agent.evals.listing_tokens import tokens_per_mark
from vision_agent.evals.perception.covered import CoveredFigures, covered_figures
from vision_agent.evals.perception.page_facts import DocumentLook, look, watch
from vision_agent.evals.perception.picture import DigitReader, LabelFigures, label_figures
from vision_agent.evals.perception.selector_labels import Entry, ask, entries_of
from vision_agent.evals.perception.trial import dismiss, try_targets
from vision_agent.evals.perception.truth import Target, Truth, build_truth, questions
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.geometry import Box
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.types import Mark, Observation
from vision_agent.vision.image_limits import image_limits_for

FIXTURES = assets.fixtures("pages")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""Pages can reach only this machine, whatever they request."""
_VIEW = {"width": 1280, "height": 800}
_LOADED_MS = 20_000
_PAGE_S = 300
"""Time limit for one page; some questions to a page with a hanging frame are never answered."""
_AFTER_LOADING_S = 0.4
_ANSWER_S = 5
_LOOK_S = 60
_NO_TRUTH = "the independent truth failed, so no mark was checked: load the page on an idle machine"
_CHANGED = "the page changed while it was examined, so its marks may be of another moment than the truth"
_LOOKS = 4
"""Maximum observations until the page is stable."""
_EXAMINATIONS = 3
"""Maximum examinations until the page has the same marks before and after."""
_MOST_DISPLACED = 1.0
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
class Finding:
    """One fault, described so that the element can be found."""

    kind: str
    """`missed`, `false`, `duplicate`, `landing`, `box`, `unsure`, `misfit` (labels that do not fit the page) or, in the
    sample that people check, `agreed`."""
    text: str
    box: Box | None = None


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
            looked = await _look_and_examine(eyes, tab)
            observation, seen = looked.observation, looked.seen
            spent = await _times(eyes, tab, rounds)
            elements = await _elements(tab, observation)
            boxes = await _boxes(observation, build_truth(seen) if seen else None, elements)
            by_selectors = await _against_selectors(tab, observation, elements, entries) if entries else None
            landing = await _landing(tab, observation, elements)
            if by_selectors:
                truth, found = None, by_selectors
            elif page.labels:
                truth, found = None, _against_labels(page.labels, observation, await _ids(elements))
            else:
                truth = build_truth(seen, await try_targets(open_copy, questions(seen))) if seen else None
                found = _against_truth(observation, truth)
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
        findings=(*found.findings, *landing.findings, *_displaced([*found.boxes, *boxes])),
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


# --- looking ----------------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class _Looked:
    observation: Observation
    traces: tuple[int, int, int] | None
    seen: list[DocumentLook] | None
    """What the independent truth is built from."""
    is_same: bool
    """Whether the page had the same marks after it was examined."""


async def _look_and_examine(eyes: LiveBrowser, tab: Page) -> _Looked:
    """An observation and the facts of the same moment: a toolbar may hide itself between the two."""
    for _ in range(_EXAMINATIONS):
        observation, traces = await _look(eyes, tab)
        seen = await _examine(tab, observation)
        if is_same := seen is None or _keys(await eyes.observe()) == _keys(observation):
            break
    return _Looked(observation, traces, seen, is_same)


def _keys(observation: Observation) -> set[str]:
    return {mark.key for mark in observation.marks}


async def _look(eyes: LiveBrowser, tab: Page) -> tuple[Observation, tuple[int, int, int] | None]:
    """The page when it is stable, if it becomes so, and the traces that another observation leaves in it."""
    observation = await eyes.observe()
    for _ in range(_LOOKS - 1):
        if observation.at_rest:
            break
        observation = await eyes.observe()
    if eyes.is_hung:
        raise TimeoutError("the page hangs")
    if not observation.at_rest:
        return observation, None  # its own changes cannot be distinguished from ours
    await _ask_frames(tab, "() => __perception.watch()")
    again = await eyes.observe()
    answers = [each.split() for each in await _ask_frames(tab, "() => __perception.traces()") if each]
    sums = [sum(int(each[place]) for each in answers) for place in range(3)]
    return again, ((sums[0], sums[1], sums[2]) if again.at_rest else None)


async def _ask_frames(tab: Page, expression: str) -> list[str]:
    """The answer of each document that can run scripts."""
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
    """Durations of observations without settling and of plain screenshots, in turns."""
    observe, screenshot = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        observation = await eyes.observe()
        observe.append(time.perf_counter() - began - observation.timings.get("settle", 0.0))
        began = time.perf_counter()
        await tab.screenshot()
        screenshot.append(time.perf_counter() - began)
    return _Times(tuple(observe), tuple(screenshot))


async def _examine(tab: Page, observation: Observation) -> list[DocumentLook] | None:
    try:
        async with asyncio.timeout(_LOOK_S):
            return await look(tab, [(mark.point.x, mark.point.y) for mark in observation.marks])
    except (PlaywrightError, TimeoutError):
        return None  # the page replaced what the truth needs; it has labels, or its score warns of the missing truth


# --- what was found ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FoundMarks:
    wanted: int
    found: int
    false: int
    duplicates: int
    unsure: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    boxes: tuple[tuple[Mark, float], ...] = ()
    agreed: tuple[Finding, ...] = ()


def _against_labels(labels: Path, observation: Observation, ids: dict[int, str]) -> _FoundMarks:
    wanted: dict[str, dict[str, Any]] = json.loads(labels.read_text("utf-8"))["marks"]
    marked = Counter(ids.get(mark.number, "") for mark in observation.marks)
    findings = [Finding("missed", f"#{each}") for each in wanted if not marked[each]]
    errors = []
    for mark in observation.marks:
        identity = ids.get(mark.number, "")
        if identity not in wanted:
            findings.append(Finding("false", _mark_text(mark, f"#{identity}"), mark.box))
        elif "box" in wanted[identity]:
            errors.append((mark, _farthest(mark.box, wanted[identity]["box"])))
    twice = {each: count - 1 for each, count in marked.items() if each in wanted and count > 1}
    findings += [Finding("duplicate", f"#{each}") for each in twice]
    missed = sum(not marked[each] for each in wanted)
    false = sum(count for each, count in marked.items() if each not in wanted)
    found = len(wanted) - missed
    return _FoundMarks(len(wanted), found, false, sum(twice.values()), (), tuple(findings), tuple(errors))


async def _against_selectors(
    tab: Page, observation: Observation, elements: dict[int, tuple[Frame, ElementHandle]], entries: Sequence[Entry]
) -> _FoundMarks:
    labelled = await ask(tab, entries, [(mark.point.x, mark.point.y) for mark in observation.marks])
    marked: Counter[tuple[Entry, int]] = Counter()
    wrong, unsure = [], []
    for mark, place in zip(observation.marks, labelled.places, strict=True):
        entry, number = place.entry, place.number
        if mark.kind == "scroller":
            # What its point hits may well be something inside.
            entry, number = await _scroller(mark, elements, entries), 0
        if entry is None or entry.kind == "never":
            where = f"{place.hit}: {entry.what}" if entry else place.hit
            wrong.append(Finding("false", _mark_text(mark, where), mark.box))
        elif entry.kind == "either":
            unsure.append(Finding("unsure", f"{_mark_text(mark, place.hit)}: {entry.what}", mark.box))
        else:
            marked[entry, number] += 1
    wanted = [
        (entry, number) for entry in entries if entry.kind in ("targets", "scrollers") for number in range(entry.count)
    ]
    boxes = {(entry, number): box for entry, each in labelled.boxes.items() for number, box in enumerate(each)}

    def findings(kind: str, things: Sequence[tuple[Entry, int]]) -> list[Finding]:
        return [Finding(kind, f"{entry.what} {number + 1}", boxes.get((entry, number))) for entry, number in things]

    missed, twice = [each for each in wanted if not marked[each]], [each for each in wanted if marked[each] > 1]
    return _FoundMarks(
        wanted=len(wanted),
        found=len(wanted) - len(missed),
        false=len(wrong),
        duplicates=sum(marked[each] - 1 for each in twice),
        unsure=tuple(unsure),
        findings=(
            *findings("missed", missed),
            *wrong,
            *findings("duplicate", twice),
            *(Finding("misfit", text) for text in labelled.misfits),
        ),
    )


async def _scroller(
    mark: Mark, elements: dict[int, tuple[Frame, ElementHandle]], entries: Sequence[Entry]
) -> Entry | None:
    """The first entry that names the element of a mark itself."""
    if mark.number not in elements:
        return None
    for entry in entries:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                if await elements[mark.number][1].evaluate("(element, at) => element.matches(at)", entry.at):
                    return entry
    return None


def _against_truth(observation: Observation, truth: Truth | None) -> _FoundMarks:
    if truth is None:
        return _FoundMarks(0, 0, 0, 0, (), ())
    by_target: dict[str, list[Mark]] = {}
    intents, findings, unsure = set(), [], []
    for mark, hit in zip(observation.marks, truth.hits, strict=True):
        if mark.kind in ("scroller", "surface"):
            continue
        if hit.target is None:
            findings.append(Finding("false", _mark_text(mark, hit.selector), mark.box))
        elif not hit.target.is_sure:
            unsure.append(Finding("unsure", f"{_mark_text(mark, hit.selector)}: {hit.target.why}", mark.box))
        else:
            intents.add(hit.target.intent)
            by_target.setdefault(hit.target.id, []).append(mark)
    false = len(findings)
    for marks in by_target.values():
        findings += [
            Finding("duplicate", _mark_text(mark, f"beside {marks[0].number}"), mark.box) for mark in marks[1:]
        ]
    duplicates = len(findings) - false
    sure = truth.sure
    missed = [target for intent, target in sure.items() if intent not in intents]
    findings += [Finding("missed", _target_text(target), target.box) for target in missed]
    agreed = [
        Finding("agreed", _target_text(target), target.box) for intent, target in sure.items() if intent in intents
    ]
    return _FoundMarks(len(sure), len(agreed), false, duplicates, tuple(unsure), tuple(findings), agreed=tuple(agreed))


def _mark_text(mark: Mark, where: str) -> str:
    return f"{mark.number} <{mark.tag}> {mark.role} {mark.name[:40]!r} ({', '.join(mark.evidence)}) at {where}"


def _target_text(target: Target) -> str:
    return f"{target.selector} {target.text[:40]!r} ({target.why})"


async def _boxes(
    observation: Observation, truth: Truth | None, elements: dict[int, tuple[Frame, ElementHandle]]
) -> list[tuple[Mark, float]]:
    """Marks on fully visible targets, with the distance of their box from the one in the page's own world.

    Only for marks on that very element: a label that stands for its control rightly has another box.
    """
    errors = []
    for mark, hit in zip(observation.marks, truth.hits if truth else (), strict=truth is not None):
        target = hit.target
        if target is None or not (target.is_sure and target.is_whole) or mark.number not in elements:
            continue
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                place = await elements[mark.number][1].evaluate("element => __perception.placeIn(element)")
            if place == target.place:
                wanted = [target.box.x, target.box.y, target.box.width, target.box.height]
                errors.append((mark, _farthest(mark.box, wanted)))
    return errors


def _displaced(boxes: Sequence[tuple[Mark, float]]) -> list[Finding]:
    return [
        Finding("box", f"{mark.number} {mark.name[:40]!r} is {error:.1f} px off", mark.box)
        for mark, error in boxes
        if error > _MOST_DISPLACED
    ]


def _farthest(box: Box, wanted: Sequence[float]) -> float:
    """The largest distance between corresponding edges of two boxes, in CSS pixels."""
    x, y, width, height = wanted
    mine = np.array([box.x, box.y, box.right, box.bottom])
    return float(np.abs(mine - [x, y, x + width, y + height]).max())


# --- landing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Landing:
    pressed: int
    findings: tuple[Finding, ...]


async def _elements(tab: Page, observation: Observation) -> dict[int, tuple[Frame, ElementHandle]]:
    """The live elements of the marks that can still be found, with their frames, by mark number."""
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
    """Press at every mark's point and find which marked element got it first; the page itself hears nothing of it."""
    await _ask_frames(tab, "() => __perception.begin()")
    for mark in observation.marks:
        if mark.number in elements and mark.kind not in ("scroller", "surface"):
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_ANSWER_S):
                    await elements[mark.number][1].evaluate("element => __perception.mark(element)")
    pressed, findings = 0, []
    for mark in observation.marks:
        # Scrollers are not pressed: their point may well lie on something inside.
        if mark.number not in elements or mark.state.disabled or mark.kind == "scroller":
            continue
        where = await _press(tab, mark, elements[mark.number][1])
        if where == "untold":
            continue
        pressed += 1
        if where not in ("landed", "unheard"):
            findings.append(Finding("landing", _mark_text(mark, where), mark.box))
    return _Landing(pressed, tuple(findings))


async def _press(tab: Page, mark: Mark, element: ElementHandle) -> str:
    """Where the press landed; `untold` in a document without scripts."""
    await tab.mouse.move(mark.point.x, mark.point.y)
    await tab.mouse.down()
    await tab.mouse.up()
    try:
        box = {"x": mark.point.x, "y": mark.point.y}
        async with asyncio.timeout(_ANSWER_S):
            return str(await element.evaluate("(element, { x, y }) => __perception.landed(element, x, y)", box))
    except (PlaywrightError, TimeoutError):
        return "untold"
