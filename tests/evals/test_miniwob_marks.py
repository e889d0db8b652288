"""Claims about MiniWoB++: what a task needs when it begins, as `miniwob_needs.toml` lists it, is marked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import MissingPages, pages
from playwright.async_api import Page

from vision_agent.browser.page import overlay
from vision_agent.browser.page.frames import scan
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.evals import miniwob
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.geometry import Box

NEEDS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "miniwob_needs.toml").read_text("utf-8"))
# What shows of an element at its centre; what is scrolled or folded away is found when it comes into view.
SHOWN = """selector => [...document.querySelectorAll(selector)].map(element => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    const shows = element.contains(hit) || hit?.closest('#area') && hit.contains(element);
    return shows && width * height >= 9 && { x, y, width, height, html: element.cloneNode().outerHTML };
}).filter(Boolean)"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    try:
        html = pages("miniwob") / "html"
    except MissingPages as error:
        pytest.skip(str(error))
    with served(html) as site:
        yield site.url


def tasks() -> list[Any]:
    try:
        every = miniwob.tasks(pages("miniwob") / "html")
    except MissingPages:
        every = ()
    thorough = pytest.mark.thorough
    return [pytest.param(each, marks=[] if each in NEEDS["sample"] else thorough) for each in every]


@pytest.mark.parametrize("task", tasks())
async def test_what_a_task_needs_is_marked_or_lies_on_a_surface(task: str, site: str, page: Page) -> None:
    await overlay.register(page.context)
    await miniwob.start(page, site, task, 1)
    more = NEEDS["also"].get(task)
    wanted = NEEDS["instead"].get(task) or ", ".join(filter(None, (NEEDS["controls"], more)))
    await page.wait_for_function(f"wanted => ({SHOWN})(wanted).length", arg=wanted, timeout=60_000)
    needed = await page.evaluate(SHOWN, wanted)
    for _ in range(20):  # pictures may come meanwhile, and a busy machine may need more than one look
        before, found = needed, await scan(page, 20)
        needed = await page.evaluate(SHOWN, wanted)
        if not found.warnings and [each["html"] for each in before] == [each["html"] for each in needed]:
            break

    missed = [each["html"] for each in needed if not any(stands_for(mark, each) for mark in found.marks)]

    assert needed
    assert bool(missed) == (task in NEEDS["exceptions"]), missed


def stands_for(mark: FoundMark, needed: dict[str, Any]) -> bool:
    box = Box(x=needed["x"], y=needed["y"], width=needed["width"], height=needed["height"])
    if mark.kind == "surface":
        return mark.box.contains(box.center)
    shared = mark.box.intersection(box)
    own = mark.box.width * mark.box.height
    return bool(box.contains(mark.points[0]) and shared is not None and shared.width * shared.height >= 0.5 * own)


@pytest.mark.parametrize("listed", ["also", "exceptions", "instead"])
def test_only_tasks_that_exist_are_listed(listed: str, site: str) -> None:
    assert set(NEEDS[listed]) <= {each.values[0] for each in tasks()}
