"""Claims about numbers: they stay with their element while it lives, and are never handed to another one."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Point
from vision_agent.browser import live
from vision_agent.browser.observe.numbers import Numbers, Sighting
from vision_agent.evals.perception.churn import CHURN, churn
from vision_agent.observation import Observation
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits


def sight(key: str, fingerprint: str = "", x: float = 0, y: float = 0, row: str = "") -> Sighting:
    return Sighting(key, fingerprint or key, Point(x=x, y=y), row)


def test_numbers_begin_at_1_in_the_order_given() -> None:
    assert Numbers().assign([sight("b"), sight("a")]) == {"b": 1, "a": 2}


def test_a_number_stays_with_its_key_whatever_comes_before_it() -> None:
    numbers = Numbers()
    numbers.assign([sight("a"), sight("b")])
    assert numbers.assign([sight("new"), sight("b"), sight("a")]) == {"new": 3, "b": 2, "a": 1}


def test_the_number_of_what_has_gone_is_not_used_again() -> None:
    numbers = Numbers()
    numbers.assign([sight("a"), sight("b")])
    numbers.assign([sight("a")])
    assert numbers.assign([sight("a"), sight("c")]) == {"a": 1, "c": 3}


def test_what_comes_back_into_sight_has_its_number_again() -> None:
    numbers = Numbers()
    numbers.assign([sight("a"), sight("b")])
    numbers.assign([sight("b")], living={"a"})
    assert numbers.assign([sight("a"), sight("b")]) == {"a": 1, "b": 2}


def test_a_rerendered_element_takes_over_the_number_when_it_can_only_be_that() -> None:
    numbers = Numbers()
    numbers.assign([sight("old", "save", 10, 10)])
    assert numbers.assign([sight("fresh", "save", 14, 60)]) == {"fresh": 1}


@pytest.mark.parametrize(
    ("now", "living", "why"),
    [
        ([sight("fresh", "save", 10, 400)], (), "it is far away"),
        ([sight("fresh", "other", 10, 10)], (), "it is something else"),
        ([sight("fresh", "save", 10, 10), sight("fresh2", "save", 10, 40)], (), "there are two"),
        ([sight("fresh", "save", 10, 10)], ("old",), "the old one is only out of sight"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_newcomer_gets_a_number_of_its_own_when(now: list[Sighting], living: tuple[str, ...], why: str) -> None:
    numbers = Numbers()
    numbers.assign([sight("old", "save", 10, 10)])
    assert 1 not in numbers.assign(now, living).values(), why


def test_rows_that_only_differ_in_a_number_get_new_numbers_when_the_list_scrolled() -> None:
    numbers = Numbers()
    numbers.assign([sight("a", "open", row="Order 17 shipped today"), sight("b", "open", row="Order 18 shipped today")])
    after = [sight("a", "open", row="Order 18 shipped today"), sight("b", "open", row="Order 19 shipped today")]
    assert numbers.assign(after) == {"a": 3, "b": 4}


def test_after_a_takeover_the_old_element_is_a_stranger() -> None:
    numbers = Numbers()
    numbers.assign([sight("old", "save")])
    numbers.assign([sight("fresh", "save")])
    assert numbers.assign([sight("fresh", "save"), sight("old", "save")]) == {"fresh": 1, "old": 2}


def test_an_element_whose_row_says_something_else_altogether_gets_a_new_number() -> None:
    numbers = Numbers()
    numbers.assign([sight("a", row="Alice"), sight("b", row="Bob")])
    assert numbers.assign([sight("a", row="Zed"), sight("b", row="Alice")]) == {"a": 3, "b": 4}


def test_an_element_that_was_recycled_out_of_sight_gets_a_new_number() -> None:
    numbers = Numbers()
    numbers.assign([sight("a", row="Alice")])
    numbers.assign([], living={"a"})
    assert numbers.assign([sight("a", row="Zed")]) == {"a": 2}


@pytest.mark.parametrize("now", ["Alice 4 minutes ago", "Alice", "", "Alice 3 minutes ago Too short"])
def test_an_element_whose_row_was_only_edited_keeps_its_number(now: str) -> None:
    numbers = Numbers()
    numbers.assign([sight("a", row="Alice 3 minutes ago")])
    assert numbers.assign([sight("a", row=now)]) == {"a": 1}


def test_one_row_that_was_taken_from_one_end_of_a_list_to_the_other_is_another_although_it_says_much_the_same() -> None:
    numbers = Numbers()
    numbers.assign(
        [sight("a", "archive", y=0, row="Message from Ada"), sight("b", "archive", y=30, row="Message from Ben")]
    )
    scrolled = [
        sight("b", "archive", y=0, row="Message from Ben"),
        sight("a", "archive", y=270, row="Message from Gus"),
    ]
    assert numbers.assign(scrolled) == {"b": 2, "a": 3}


def test_a_rerendered_row_that_says_something_else_does_not_take_over_the_number() -> None:
    numbers = Numbers()
    numbers.assign([sight("old", "delete", row="Alice")])
    assert numbers.assign([sight("fresh", "delete", row="Zed")]) == {"fresh": 2}


def test_a_rerendered_list_keeps_the_numbers_of_its_rows_wherever_they_are_now() -> None:
    numbers = Numbers()
    numbers.assign([sight(f"old{n}", "edit", 10, 40 * n, row=name) for n, name in enumerate(["Ann", "Bob", "Cid"])])
    fresh = [sight(f"new{n}", "edit", 10, 40 * n, row=name) for n, name in enumerate(["Zoe", "Cid", "Ann"])]
    assert numbers.assign(fresh) == {"new0": 4, "new1": 3, "new2": 1}


def test_another_document_begins_at_1() -> None:
    numbers = Numbers()
    numbers.assign([sight("a"), sight("b")])
    numbers.restart()
    assert numbers.assign([sight("c")]) == {"c": 1}


ROWS = """<div id="list"></div><script>
const shown = (name) => `<div style="height:40px"><span>${name}</span><button>Edit</button><button>Delete</button></div>`;
window.render = (names) => { list.innerHTML = names.map(shown).join(''); };
window.recycle = (names) => { [...list.children].forEach((row, n) => { row.firstChild.textContent = names[n]; }); };
render(['Ann Lee', 'Bob Ray', 'Cid Fox', 'Dee Kay']);
</script>"""


@pytest.mark.parametrize(
    ("how", "names", "kept"),
    [
        ("render", ["Dee Kay", "Ann Lee", "Bob Ray", "Zoe May"], {"Ann Lee", "Bob Ray", "Dee Kay"}),
        ("render", ["Ann Lee", "Bob Ray", "Cid Fox", "Dee Kay"], {"Ann Lee", "Bob Ray", "Cid Fox", "Dee Kay"}),
        ("recycle", ["Bob Ray", "Cid Fox", "Dee Kay", "Zoe May"], set()),
        ("recycle", ["Ann Lee", "Bob Ray", "Cid Fox", "Zoe May"], {"Ann Lee", "Bob Ray", "Cid Fox"}),
    ],
)
async def test_buttons_of_one_name_in_rows_of_plain_boxes_are_known_by_their_row(
    page: Page, serve: Server, how: str, names: list[str], kept: set[str]
) -> None:
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": ROWS}))
        before = await browser.observe()
        await page.evaluate(f"names => {how}(names)", names)
        after = await browser.observe()
    order = ["Ann Lee", "Bob Ray", "Cid Fox", "Dee Kay"]
    old = {name: {mark.number for mark in before.marks[2 * n : 2 * n + 2]} for n, name in enumerate(order)}
    new = {name: {mark.number for mark in after.marks[2 * n : 2 * n + 2]} for n, name in enumerate(names)}
    everyone = set().union(*old.values())
    for name in names:
        assert (new[name] == old[name]) if name in kept else new[name].isdisjoint(everyone), name


LIST = """<ul id="list"></ul><script>
window.render = (names) => { list.innerHTML = names.map((name) => `<li style="height:40px"><button>${name}</button></li>`).join(''); };
window.keyed = (names) => {
    const old = new Map([...list.children].map((item) => [item.textContent, item]));
    list.replaceChildren(...names.map((name) => old.get(name) ?? Object.assign(document.createElement('li'), {innerHTML: `<button>${name}</button>`})));
};
render(['Ann', 'Bob', 'Cid']);
</script>"""


def named(observation: Observation) -> dict[str, int]:
    return {mark.name: mark.number for mark in observation.marks}


async def test_numbers_live_through_a_keyed_reorder_and_a_whole_rerender(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(serve({"/": LIST}))
        assert named(await browser.observe()) == {"Ann": 1, "Bob": 2, "Cid": 3}
        await page.evaluate("keyed(['Cid', 'Dan', 'Ann'])")
        assert named(await browser.observe()) == {"Cid": 3, "Dan": 4, "Ann": 1}
        await page.evaluate("render(['Cid', 'Dan', 'Ann'])")
        assert named(await browser.observe()) == {"Cid": 3, "Dan": 4, "Ann": 1}
        await page.evaluate("render(['Eve', 'Ann', 'Ann'])")
        again = named(await browser.observe())
        assert again["Eve"] == 5
        assert again["Ann"] > 5, "two of the same: none can be told to be the old one"


CAROUSEL = """<style>#view{width:200px;height:60px;overflow:hidden}#view>div{height:60px}</style>
<div id="view"><div>One <button id="a">Delete</button></div><div>Two <button id="b">Delete</button></div></div>"""


async def test_a_lookalike_that_scrolls_into_the_same_place_does_not_take_the_number(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        # The same id on both would make the fingerprints equal too.
        await browser.open(serve({"/": CAROUSEL.replace(' id="a"', "").replace(' id="b"', "")}))
        first = named(await browser.observe())["Delete"]
        await page.evaluate("view.scrollTop = 60")
        second = named(await browser.observe())["Delete"]
        await page.evaluate("view.scrollTop = 0")
        assert named(await browser.observe())["Delete"] == first
        assert second != first


TWO_FRAMES = """<iframe id=one srcdoc="<button>More</button>" style="height:80px"></iframe>
<iframe id=two srcdoc="<button>More</button>" style="height:80px;display:none"></iframe>"""


async def test_a_lookalike_in_another_frame_does_not_take_the_number_of_one_in_a_hidden_frame(
    page: Page, serve: Server
) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(serve({"/": TWO_FRAMES}))
        assert named(await browser.observe()) == {"More": 1}
        await page.evaluate("one.style.display = 'none', two.style.display = ''")
        assert named(await browser.observe()) == {"More": 2}
        await page.evaluate("two.style.display = 'none', one.style.display = ''")
        assert named(await browser.observe()) == {"More": 1}


async def test_a_frame_that_was_loaded_again_keeps_its_numbers_when_all_frames_show(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(serve({"/": TWO_FRAMES.replace(";display:none", "").replace("More", "Less", 1)}))
        assert named(await browser.observe()) == {"Less": 1, "More": 2}
        await page.evaluate("one.srcdoc += ' '")
        assert named(await browser.observe()) == {"Less": 1, "More": 2}


async def test_navigation_begins_at_1_in_a_new_epoch_and_a_rerender_does_not(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        address = serve({"/": LIST, "/next": "<button>Next</button>"})
        await browser.open(address)
        first = await browser.observe()
        await page.evaluate("render(['Zoe'])")
        rendered = await browser.observe()
        await browser.open(f"{address}/next")
        second = await browser.observe()
        await page.evaluate("document.open(), document.write('<button>Written</button>'), document.close()")
        third = await browser.observe()
    assert [first.epoch, rendered.epoch, second.epoch, third.epoch] == [1, 1, 2, 3]
    assert named(rendered) == {"Zoe": 4}
    assert rendered.change.new == (4,)
    assert rendered.change.gone == (1, 2, 3)
    assert named(second) == {"Next": 1}
    assert second.change.navigated
    assert named(third) == {"Written": 1}


async def test_a_list_that_uses_its_rows_again_hands_no_number_to_another_message_and_takes_none_away(
    tmp_path: Path,
) -> None:
    shutil.copy(CHURN / "virtual_list.html", tmp_path)
    [measured] = await churn(tmp_path, settings=BrowserSettings())

    assert (measured.lived, measured.kept, measured.handed) == (18, 18, 0)
