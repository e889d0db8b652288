"""Claims about what is found on a page: one trait a page, `fixtures/pages/<trait>.html` with `<trait>.json` beside it.

The expectation names every element that must be marked, by its id; a mark on anything else is an error.
`not_marked` names those that the page is about and that must not be. `context` has settings of the browser, `page` the
page where it is called otherwise.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page

from tests.conftest import ROOT, Server
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.browser.page import overlay
from vision_agent.browser.page.frames import Scan, scan
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.observation import Mark
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

PAGES = ROOT / "fixtures" / "pages"
TRAITS = sorted(path.stem for path in PAGES.glob("*.json"))
CLICKED_ON = set(TRAITS[1::4]) - {"fifty_thousand"}
"""`make test` clicks on every fourth page."""
OBSERVE = ObserveSettings(quiet_s=0.03, scan_deadline_s=60)
CLICKED = {"some": 3, "most": 16}
"""So many marks of a page are clicked, spread over all of them: a page may have hundreds."""

LISTEN = """
    window.landed = [];
    addEventListener('mousedown', (event) => { window.landed = [...window.landed, event.composedPath()]; }, true);
    addEventListener('click', (event) => event.preventDefault(), true);
    // From outside nobody sees where in a closed root it landed.
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (how) {
        const root = attach.call(this, how);
        const listen = (event) => { window.landed = [...window.landed.slice(0, -1), event.composedPath()]; };
        if (how.mode === 'closed') root.addEventListener('mousedown', listen, true);
        return root;
    };
"""
# A page that has replaced what lists do lets nothing but a plain string out.
TAKE = """() => {
    let paths = '';
    for (const path of window.landed) {
        for (const each of path) paths += `${each.id} `;
        paths += '\\n';
    }
    window.landed = [];
    // A frame that may not run scripts tells by its focus.
    return paths || (document.activeElement ? `${document.activeElement.id}\\n` : '');
}"""
UNHEARD = {"sound"}  # the browser's own media controls keep their events to themselves


@pytest.fixture(scope="session")
def pages(serve: Server) -> str:
    return serve.folder(PAGES)


@pytest.fixture
async def context(browser: Browser, trait: str) -> AsyncIterator[BrowserContext]:
    settings = {"viewport": {"width": 1280, "height": 800}, **expectation(trait).get("context", {})}
    context = await browser.new_context(**settings)
    yield context
    await context.close()


def expectation(trait: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((PAGES / f"{trait}.json").read_text("utf-8"))
    return loaded


def page_of(trait: str) -> str:
    """Some expectations differ only in the browser's settings and share one page."""
    return str(expectation(trait).get("page", f"{trait}.html"))


async def scanned(page: Page, address: str) -> Scan:
    await overlay.register(page.context)
    await page.goto(address)
    return await scan(page, 60)


async def by_id(found: Scan) -> dict[str, FoundMark]:
    marks = {}
    for mark in found.marks:
        marks[await id_of(found, mark.key)] = mark
    return marks


async def id_of(found: Scan, key: str) -> str:
    owner = found.owner(key)
    assert owner is not None
    return await overlay.element_locator(owner.frame, key).get_attribute("id") or key


async def require_the_same_again(page: Page, found: Scan) -> None:
    """A scan that may use the last one again finds what a whole one does."""
    known = [mark.key for mark in found.marks]
    before = await scan(page, 60, known)
    again, whole = await scan(page, 60, known, before=before), await scan(page, 60, known)
    assert (again.marks, again.covered, again.context) == (whole.marks, whole.covered, whole.context)
    assert again.out_of_view == whole.out_of_view
    assert [replace(each.answer, id="") for each in again.frames] == [
        replace(each.answer, id="") for each in whole.frames
    ]


@pytest.mark.parametrize("trait", TRAITS)
async def test_exactly_what_can_be_acted_on_is_marked_and_called_what_it_is(page: Page, pages: str, trait: str) -> None:
    expected = expectation(trait)
    found = await scanned(page, f"{pages}/{page_of(trait)}")
    marks = await by_id(found)
    assert set(marks) == set(expected["marks"])
    assert found.warnings == []
    for identity, wanted in expected["marks"].items():
        mark = marks[identity]
        assert {name: getattr(mark, name) for name in wanted if name not in ("state", "box")} == {
            name: value for name, value in wanted.items() if name not in ("state", "box")
        }
        says = mark.state.model_dump(mode="json")
        state = {name: says[name] for name in wanted.get("state", {})}
        scroll = wanted.get("state", {}).get("scroll")
        if scroll:
            state["scroll"] = {name: state["scroll"][name] for name in scroll}
        assert state == wanted.get("state", {}), identity
        if "box" in wanted:
            box = mark.box
            assert [box.x, box.y, box.width, box.height] == pytest.approx(wanted["box"], abs=1)
        assert mark.evidence, "a mark can say why it is one"
    covered = [{"count": each.count, "blocker": each.words} for each in found.covered]
    assert covered == expected.get("covered", [])
    await require_the_same_again(page, found)
    for identity in expected.get("not_marked", ()):
        assert await page.locator(f'[id="{identity}"]').count() == 1, "the page is about what is on it"


@pytest.mark.parametrize(
    "trait", [pytest.param(each, marks=() if each in CLICKED_ON else pytest.mark.thorough) for each in TRAITS]
)
@pytest.mark.parametrize("how_many", ["some", pytest.param("most", marks=pytest.mark.thorough)])
async def test_a_click_on_a_mark_reaches_its_element(
    context: BrowserContext, pages: str, trait: str, how_many: str
) -> None:
    await context.add_init_script(LISTEN)
    page = await context.new_page()
    page.on("filechooser", lambda _: None)
    async with live.attach(page, OBSERVE, ImageLimits()) as browser:
        await browser.open(f"{pages}/{page_of(trait)}")
        observation = await browser.observe()
        assert {mark.number for mark in observation.marks} == set(range(1, len(observation.marks) + 1))
        for mark in observation.marks[:: len(observation.marks) // CLICKED[how_many] + 1]:
            if mark.kind == "scroller" or mark.state.disabled or mark.source != "dom":
                continue
            identity, landed = await click_and_see(browser, mark)
            assert identity in landed[:4] or identity in UNHEARD, f"{mark.number} {mark.name}"
            observation = await browser.observe()


BOXES = """link => {
    const content = new Range();
    content.selectNodeContents(link);
    return [content.getBoundingClientRect(), ...link.getClientRects()].map((box) => box.toJSON());
}"""


@pytest.mark.parametrize("trait", ["wrapped_alone"])
async def test_the_outline_of_a_link_over_several_lines_holds_nothing_else(page: Page, pages: str, trait: str) -> None:
    for identity, mark in (await by_id(await scanned(page, f"{pages}/{page_of(trait)}"))).items():
        whole, *lines = await page.locator(f"#{identity}").evaluate(BOXES)
        is_alone = identity in ("alone", "nested", "picture")
        wanted = whole if is_alone else max(lines, key=lambda line: float(line["width"]))
        assert len(lines) > 1 or identity == "more"
        box = mark.box.model_dump()
        assert box == pytest.approx({side: wanted[side] for side in box}, abs=1), identity


async def click_and_see(browser: live.LiveBrowser, mark: Mark) -> tuple[str, list[str]]:
    seen = browser._latest
    assert seen is not None
    owner = seen.scan.owner(mark.key)
    assert owner is not None
    identity = await id_of(seen.scan, mark.key)
    outcome = await browser.act(Click(target=mark.number), seen.observation)
    assert outcome.status == "done", outcome.sentence
    landed = (await owner.frame.evaluate(TAKE)).splitlines()
    assert len(landed) == 1, f"{outcome.sentence}: {landed}"
    return identity, landed[0].split(" ")
