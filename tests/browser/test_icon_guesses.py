"""Claims about icons without a name: what their pixels say is shown as a guess, and is never more than that."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from tests.browser.hand import SETTINGS, Hand, On
from tests.conftest import ROOT, Server
from vision_agent.actions import Click, Zoom
from vision_agent.browser import live
from vision_agent.observation import Mark
from vision_agent.policy.approval import risks_of
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Decision
from vision_agent.vision.image_limits import ImageLimits

SHOWN = ("trash", "search", "close", "plus", "menu", "download", "mail", "home", "play")
"""What the buttons with these ids show."""
TRASH = "<path d='M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6'/>"
PLACES = """[...document.querySelectorAll('button')].map((each) => {
    const { x, y } = each.getBoundingClientRect();
    return [each.id, x, y];
})"""
STYLE = """<style>button{width:40px;height:40px;padding:0;border:0;background:none}
svg{width:24px;height:24px;fill:none;stroke:#333;stroke-width:2}</style>"""


@pytest.fixture
async def icons(page: Page, serve: Server) -> AsyncIterator[Hand]:
    address = serve.folder(ROOT / "fixtures" / "pages")
    async with live.attach(page, SETTINGS, ImageLimits(), start_url=address) as browser:
        await browser.open(f"{address}/nameless_icons.html")
        hand = Hand(browser, address)
        await hand.look()
        yield hand


async def by_id(hand: Hand) -> dict[str, Mark]:
    at = {(round(mark.box.x), round(mark.box.y)): mark for mark in hand.seen.marks}
    return {identity: at[round(x), round(y)] for identity, x, y in await hand.js(PLACES)}


def risks_of_click(hand: Hand, mark: Mark, settings: ApprovalSettings | None = None) -> list[str]:
    decision = Decision(author="model", actions=(Click(target=mark.number),))
    return [f"{each.risk}: {each.why}" for each in risks_of(settings or ApprovalSettings(), decision, hand.seen)]


async def test_what_an_icon_without_a_name_looks_like_is_listed_as_a_guess(icons: Hand) -> None:
    marks = await by_id(icons)
    guessed = {identity: each.icon.name for identity, each in marks.items() if each.icon}
    assert guessed == {name: name for name in SHOWN}
    for name in SHOWN:
        mark = marks[name]
        assert (mark.name, mark.source) == ("", "dom"), "the name is the page's alone"
        assert mark.icon is not None
        sure = f" sure={mark.icon.confidence:.2f}" if mark.icon.confidence < 0.9 else ""
        assert f'{mark.number}[:]<button icon="{name}"{sure}>' in icons.seen.listing


async def test_a_name_from_the_page_wins_over_what_the_icon_looks_like(icons: Hand) -> None:
    said = (await by_id(icons))["said"]
    assert (said.name, said.icon) == ("Empty the basket", None)
    assert f"{said.number}[:]<button>Empty the basket" in icons.seen.listing


async def test_scribbles_boxes_and_photographs_get_no_name(icons: Hand) -> None:
    marks = await by_id(icons)
    assert [identity for identity in ("scribble", "blank", "box", "photo") if marks[identity].icon] == []


async def test_a_guess_adds_a_risk_and_takes_none_away(icons: Hand) -> None:
    marks = await by_id(icons)
    assert risks_of_click(icons, marks["trash"]) == ["delete: its icon looks like “trash”"]
    assert risks_of_click(icons, marks["search"]) == []
    # What the owner calls harmless is meant by its name, not by its looks.
    harmless = ApprovalSettings(harmless=("search",))
    assert risks_of_click(icons, marks["search"], harmless) == []


async def test_a_guess_is_no_part_of_what_a_mark_is(on: On) -> None:
    async with on(
        f"{STYLE}<button id=b onclick=\"document.title = 'pressed'\"><svg viewBox='0 0 24 24'>{TRASH}</svg></button>"
    ) as hand:
        (before,) = hand.seen.marks
        assert before.icon is not None
        await hand.js("document.querySelector('path').setAttribute('d', 'M5 5l14 14M19 5 5 19')")
        (after,) = (await hand.look()).marks
        assert after.icon is not None
        assert (before.icon.name, after.icon.name) == ("trash", "close")
        assert (before.number, before.fingerprint, before.key) == (after.number, after.fingerprint, after.key)
        assert after.change == ""
        assert hand.seen.change.changed == ()
        outcome = await hand.act(Click(target=before.number))
        assert outcome.status == "done", outcome.sentence


async def test_an_icon_that_was_scrolled_out_of_view_keeps_its_risk(on: On) -> None:
    body = f"{STYLE}<button><svg viewBox='0 0 24 24'>{TRASH}</svg></button><div style='height:3000px'></div>"
    async with on(body) as hand:
        await hand.js("scrollTo(0, 2000)")
        await hand.look()
        (away,) = hand.seen.out_of_view
        assert away.icon is not None
        assert risks_of_click(hand, away) == ["delete: its icon looks like “trash”"]


async def test_a_drawn_icon_on_a_canvas_is_named_too(on: On) -> None:
    body = """<canvas id=c width=400 height=200 style='display:block'></canvas><script>
const pen = c.getContext('2d'); pen.fillStyle = '#fff'; pen.fillRect(0, 0, 400, 200);
for (const [x, path] of [[60, 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6'], [200, 'M5 5l14 14M19 5 5 19']]) {
  pen.setTransform(1, 0, 0, 1, x, 60); pen.fillStyle = '#2b6cb0'; pen.fillRect(0, 0, 48, 48);
  pen.setTransform(1.25, 0, 0, 1.25, x + 9, 69); pen.lineWidth = 2;
  pen.strokeStyle = '#fff'; pen.stroke(new Path2D(path));
}
c.onclick = () => {};</script>"""
    async with on(body) as hand:
        guesses = {mark.icon.name for mark in hand.seen.marks if mark.kind == "guess" and mark.icon}
        assert guesses == {"trash", "close"}, hand.seen.listing


async def test_a_closer_look_names_it_the_same(icons: Hand) -> None:
    far = (await by_id(icons))["search"]
    closer = await icons.browser.act(Zoom(target=far.number), icons.seen)
    assert closer.status == "done", closer.sentence
    near = (await icons.look()).mark(far.number)
    assert near is not None
    assert (near.icon and near.icon.name) == (far.icon and far.icon.name) == "search"
