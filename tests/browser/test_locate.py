"""Claims about finding a mark's element again: what it refuses rather than guesses, and where input goes."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click, Type
from vision_agent.browser import live
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.05, settle_deadline_s=5, action_deadline_s=20)
On = Callable[[str], AbstractAsyncContextManager[live.LiveBrowser]]


@pytest.fixture
def on(page: Page, serve: Server) -> On:
    @asynccontextmanager
    async def opened(body: str) -> AsyncIterator[live.LiveBrowser]:
        async with live.attach(page, SETTINGS, ImageLimits()) as browser:
            await browser.open(serve({"/": f"<!doctype html>{body}"}))
            yield browser

    return opened


BY_INDEX = """<BOX id=list></BOX><script>
let names = ['Alice', 'Bob'];
const draw = () => names.forEach((name, i) => {
    let row = list.children[i];
    if (!row) {
        row = list.appendChild(document.createElement('ROW'));
        if ('ROLE') row.setAttribute('role', 'ROLE');
        row.innerHTML = '<CELL><b></b> <button>Delete</button></CELL>';
        row.querySelector('button').onclick = () => { window.deleted = names[i]; };
    }
    row.querySelector('b').textContent = name;
});
draw();
window.add = (name) => { names.unshift(name); draw(); };
</script>"""


@pytest.mark.parametrize(
    ("box", "row", "role", "cell"),
    [
        ("ul", "li", "", "span"),
        ("table", "tr", "", "td"),
        ("section", "article", "", "p"),
        ("div", "div", "row", "div"),
        ("div", "div", "listitem", "div"),
    ],
)
async def test_a_button_whose_row_shows_something_else_now_is_not_clicked(
    page: Page, on: On, box: str, row: str, role: str, cell: str
) -> None:
    body = BY_INDEX.replace("BOX", box).replace("ROW", row).replace("ROLE", role).replace("CELL", cell)
    async with on(body) as browser:
        before = await browser.observe()
        await page.evaluate("add('Zed')")
        outcome = await browser.act(Click(target=1), before)
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        said = 'The words beside mark 1 (button "Delete") changed from "Alice" to "Zed".'
        assert outcome.sentence.startswith(said)
        assert '"Alice" now stands beside mark 2 (button "Delete")' in outcome.sentence
        assert await page.evaluate("window.deleted") is None
        after = await browser.observe()
        assert [mark.number for mark in after.marks] == [3, 4, 5], "recycled rows are new"
        outcome = await browser.act(Click(target=4), after)
        assert await page.evaluate("window.deleted") == "Alice", outcome.sentence


FORM = """<ul><li>Alice <input id=f aria-label=Note> <input type=checkbox aria-label=Done> <div contenteditable aria-label=Story style="display:inline-block;width:90px;height:20px"></div>
<button onclick="document.title = 'saved'">Save</button></li></ul>"""


async def test_what_is_typed_or_ticked_in_a_row_does_not_make_it_another(page: Page, on: On) -> None:
    async with on(FORM) as browser:
        before = await browser.observe()
        numbers = {mark.name: mark.number for mark in before.marks}
        for action in (
            Type(target=numbers["Note"], text="hello"),
            Click(target=numbers["Done"]),
            Type(target=numbers["Story"], text="once"),
            Click(target=numbers["Save"]),
        ):
            outcome = await browser.act(action, before)
            assert outcome.status == "done", outcome.sentence
        assert await page.title() == "saved"
        after = await browser.observe()
        rows = [seen.marks[numbers["Save"] - 1].context for seen in (before, after)]
        assert rows[0]
        assert rows[1] == rows[0]


async def test_what_is_harmless_and_in_no_row_may_have_anything_change_around_it(page: Page, on: On) -> None:
    async with on("<p id=p>0 left</p><button onclick=\"document.title = 'hit'\">Go</button>") as browser:
        before = await browser.observe()
        await page.evaluate("p.textContent = 'all gone'")
        await browser.act(Click(target=1), before)
        assert await page.title() == "hit"


STROKE = """<svg width=200 height=100><g role=button aria-label=Dot transform="translate(50 20) scale(2)"><circle r=15 stroke-width=10 stroke=red></circle></g></svg>
<script>addEventListener('click', (event) => { document.title = `${event.clientX} ${event.clientY}`; });</script>"""


async def test_a_click_on_a_shape_with_a_stroke_lands_where_it_was_aimed(page: Page, on: On) -> None:
    async with on(STROKE) as browser:
        outcome = await browser.act(Click(target=1), await browser.observe())
        assert outcome.point is not None
        landed = [float(each) for each in (await page.title()).split()]
        assert landed == pytest.approx([outcome.point.x, outcome.point.y], abs=1)


VIEWED = """<div class=row><b>Ann</b> <span id=views>%s</span> <button onclick="document.title = 'hit'">Open</button></div>
<script>const say = (text) => new Promise((done) => { views.textContent = text; requestAnimationFrame(done); });</script>"""


@pytest.mark.parametrize(
    ("texts", "is_learned"),
    [
        ([f"{number} views" for number in range(5001, 5007)], True),
        ([f"{number} left" for number in (9007, 9006, 9004, 9003, 9002, 9001)], True),
        (["Order 1001", "Order 1002", "Order 1001", "Order 1002", "Order 1001", "Order 1002"], False),
        (["Order 1001", "Order 1002"], False),
    ],
)
async def test_a_number_that_goes_on_by_itself_is_no_part_of_what_stands_beside_a_thing(
    page: Page, on: On, texts: list[str], is_learned: bool
) -> None:
    async with on(VIEWED % texts[0]) as browser:
        await browser.observe()
        for text in texts[1:-1]:
            await page.evaluate("say", text)
        before = await browser.observe()
        await page.evaluate("say", texts[-1])
        outcome = await browser.act(Click(target=1), before)
        assert (await page.title() == "hit") == is_learned, outcome.sentence


HOVER_BAR = """<style>.row{height:40px;border-bottom:1px solid #999} #bar{position:absolute;right:20px;height:30px}</style>
<div id=list style="position:relative"><div class=row><b>Ann</b></div><div class=row><b>Bob</b></div><div class=row><b>Cid</b></div>
<div id=bar><button onclick="window.deleted = true">Delete</button> <button onclick="window.marked = true">Star</button></div></div>
<script>const put = n => { bar.style.top = 41 * n + 5 + 'px' }; put(0)</script>"""


@pytest.mark.parametrize("name", ["Delete", "Star"])
async def test_a_toolbar_that_floats_over_another_row_now_is_not_pressed(page: Page, on: On, name: str) -> None:
    async with on(HOVER_BAR) as browser:
        before = await browser.observe()
        target = next(mark.number for mark in before.marks if mark.name == name)
        await page.evaluate("put(1)")
        outcome = await browser.act(Click(target=target), before)
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert f'mark {target} (button "{name}") changed from "Ann" to "Bob"' in outcome.sentence
        assert not await page.evaluate("window.deleted || window.marked")
        outcome = await browser.act(Click(target=target), await browser.observe())
        assert outcome.status == "done"


@pytest.mark.parametrize(
    "change",
    [
        "list.prepend(Object.assign(document.createElement('p'), {textContent: 'News'})); bar.style.top = list.children[1].offsetTop + 5 + 'px'",
        "document.body.style.paddingTop = '33px'",
    ],
)
async def test_a_toolbar_that_moves_with_its_row_is_pressed(page: Page, on: On, change: str) -> None:
    async with on(HOVER_BAR) as browser:
        before = await browser.observe()
        target = next(mark.number for mark in before.marks if mark.name == "Star")
        await page.evaluate(change)
        assert (await browser.act(Click(target=target), before)).status == "done"
        assert await page.evaluate("window.marked")


async def test_what_stays_where_it_is_while_rows_scroll_below_it_belongs_to_none_of_them(page: Page, on: On) -> None:
    rows = "".join(f"<div class=row>Person {n}</div>" for n in "abcdefghijklmnopqrstuvwxyz")
    body = f"""<style>.row{{height:40px}}</style><div style="position:relative;height:200px">
    <div id=scroller style="height:200px;overflow:auto">{rows}</div>
    <button onclick="window.done = true" style="position:absolute;top:90px;right:30px;height:36px">Remove all</button></div>"""
    async with on(body) as browser:
        before = await browser.observe()
        target = next(mark.number for mark in before.marks if mark.name == "Remove all")
        await page.evaluate("scroller.scrollTop = 80")
        outcome = await browser.act(Click(target=target), before)
        assert await page.evaluate("window.done"), outcome.sentence


MAIL = """<main><div role=toolbar id=bar><button onclick="window.deleted = subject.textContent">Delete</button> <button>Archive</button></div>
<h2 id=subject>Ann's invoice</h2><p>Dear all, the invoice is attached.</p><p style="height:700px">Regards</p></main>"""


@pytest.mark.parametrize(
    "redraw",
    [
        "subject.textContent = 'Wedding photos'",
        "const now = document.querySelector('main'); now.innerHTML = now.innerHTML.replace(\"Ann's invoice\", 'Wedding photos')",
    ],
)
async def test_the_toolbar_over_a_mail_is_not_pressed_when_another_mail_is_shown(
    page: Page, on: On, redraw: str
) -> None:
    async with on(MAIL) as browser:
        before = await browser.observe()
        await page.evaluate(redraw)
        outcome = await browser.act(Click(target=1), before)
        assert outcome.status == "refused", outcome.sentence
        assert await page.evaluate("window.deleted") is None
