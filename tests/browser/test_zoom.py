"""Claims about a closer look: what it shows, what its numbers mean, and what can be done from there."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click, Point, Zoom
from vision_agent.browser import live
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

QUICK = ObserveSettings(quiet_s=0.05, settle_deadline_s=20)
GRID = "".join(
    f"<button style='position:absolute;left:{40 * x}px;top:{40 * y}px;width:30px;height:30px' "
    f"onclick='document.title = this.textContent'>{x}.{y}</button>"
    for x in range(30)
    for y in range(18)
)
CORNER = f"<style>*{{margin:0;font:9px sans-serif}}</style>{GRID}"


def numbers(observation: Observation) -> dict[str, int]:
    return {mark.name: mark.number for mark in observation.marks}


async def test_a_closer_look_shows_a_part_with_the_same_numbers(page: Page, serve: Server) -> None:
    async with live.attach(page, QUICK, ImageLimits()) as browser:
        await browser.open(serve({"/": CORNER}))
        first = await browser.observe()
        outcome = await browser.act(Zoom(target=Point(x=0, y=0), to=Point(x=320, y=200)), first)
        assert outcome.effect == "zoomed", outcome.sentence
        closer = await browser.observe()
        assert closer.region is not None
        assert (closer.region.width, closer.region.height) == (320, 200)
        assert set(numbers(closer)) == {f"{x}.{y}" for x in range(8) for y in range(5)}
        shown_before = {name: number for name, number in numbers(first).items() if name in numbers(closer)}
        assert shown_before.items() <= numbers(closer).items()
        assert closer.change.gone == ()
        assert "a closer look at part of the page" in closer.listing
        # The same button is drawn larger, where the map says.
        mark = next(mark for mark in closer.marks if mark.name == "2.1")
        there = closer.marked.map.box_to_picture(mark.box)
        assert there.width > 2 * mark.box.width
        assert Image.open(io.BytesIO(closer.marked.data or b"")).size == (
            closer.marked.size.width,
            closer.marked.size.height,
        )


async def test_a_click_by_number_or_point_of_a_closer_look_lands(page: Page, serve: Server) -> None:
    async with live.attach(page, QUICK, ImageLimits()) as browser:
        await browser.open(serve({"/": CORNER}))
        first = await browser.observe()
        await browser.act(Zoom(target=first.marks[0].number), first)
        closer = await browser.observe()
        mark = next(mark for mark in closer.marks if mark.name == "2.1")
        outcome = await browser.act(Click(target=mark.number), closer)
        assert outcome.status == "done", outcome.sentence
        assert await page.title() == "2.1"
        whole = await browser.observe()
        assert whole.region is None
        await browser.act(Zoom(target=Point(x=300, y=300)), whole)
        closer = await browser.observe()
        mark = next(mark for mark in closer.marks if mark.name == "7.7")
        at = closer.marked.map.to_picture(mark.point)
        outcome = await browser.act(Click(target=at), closer)
        assert outcome.status == "done", outcome.sentence
        assert await page.title() == "7.7"


async def test_a_crowded_picture_says_what_it_leaves_out_and_a_closer_look_shows_it(page: Page, serve: Server) -> None:
    settings = QUICK.model_copy(update={"max_marks": 100})
    async with live.attach(page, settings, ImageLimits()) as browser:
        await browser.open(serve({"/": CORNER}))
        first = await browser.observe()
        assert len(first.marks) == 100
        assert "440 left out: 440 buttons" in first.listing
        wanted = Point(x=1165, y=655)
        await browser.act(Zoom(target=wanted), first)
        closer = await browser.observe()
        mark = next(mark for mark in closer.marks if mark.name == "29.16")
        assert mark.number not in numbers(first).values()
        outcome = await browser.act(Click(target=mark.number), closer)
        assert outcome.status == "done", outcome.sentence
        assert await page.title() == "29.16"


@pytest.mark.parametrize(
    ("action", "refusal"),
    [
        (Zoom(target=9999), "unknown_mark"),
        (Zoom(target=Point(x=-3, y=5)), "outside"),
        (Zoom(target=Point(x=10, y=5), to=Point(x=12, y=300)), "unsupported"),
        (Zoom(target=1, to=Point(x=12, y=300)), "unsupported"),
    ],
)
async def test_a_closer_look_at_nothing_is_refused(page: Page, serve: Server, action: Zoom, refusal: str) -> None:
    async with live.attach(page, QUICK, ImageLimits()) as browser:
        await browser.open(serve({"/": CORNER}))
        outcome = await browser.act(action, await browser.observe())
        assert outcome.refusal == refusal
        assert (await browser.observe()).region is None


async def test_letters_agree_with_kinds_and_stand_in_the_listing(page: Page, serve: Server) -> None:
    kinds = "<button>One</button><a href=/>Two</a><input aria-label=Three><input type=checkbox aria-label=Four>"
    async with live.attach(page, QUICK.model_copy(update={"ids": "letters"}), ImageLimits()) as browser:
        await browser.open(serve({"/": kinds}))
        observation = await browser.observe()
    assert [mark.label_text for mark in observation.marks] == ["B1", "L2", "I3", "O4"]
    assert [line.split("[:]")[0] for line in observation.listing.splitlines()] == ["B1", "L2", "I3", "O4"]


@pytest.mark.thorough
async def test_a_part_named_on_a_page_that_has_gone_is_shown_of_no_other_though_that_is_looked_at_twice(
    page: Page, serve: Server
) -> None:
    # It changes ten times a second, which leaves time to come to rest and none to be looked at.
    restless = f"{CORNER}<script>setInterval(() => (document.title += '.'), 100)</script>"
    async with live.attach(page, QUICK, ImageLimits()) as browser:
        await browser.open(serve({"/": CORNER, "/next": restless}))
        first = await browser.observe()
        await browser.act(Zoom(target=Point(x=0, y=0), to=Point(x=320, y=200)), first)
        await page.goto(f"{page.url}next")
        after = await browser.observe()
        assert after.region is None
        assert (after.marked.size, after.marked.map) == (first.marked.size, first.marked.map)
