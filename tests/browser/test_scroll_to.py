"""Claims about scrolling to what has a given name, wherever it is on the page."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from tests.browser.test_out_of_view import NESTED, PAGE_SCROLLER, RECYCLED, SIDEWAYS
from vision_agent.actions import Click, ScrollTo

INSIDE_PAGE = "<h1>Before</h1><div style='height:1500px'>Long</div><iframe src=/inner width=600 height=400></iframe>"
LOADS_MORE = (
    PAGE_SCROLLER
    + """<script>
let next = 101;
addEventListener('scroll', () => {
  if (next > 300 || scrollY + innerHeight < document.documentElement.scrollHeight - 50) return;
  for (let i = 0; i < 50; i++) document.body.append(row(next++));
});
</script>"""
)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (PAGE_SCROLLER, "Item 90"),
        (NESTED, "Item 90"),
        (SIDEWAYS, "Item 50"),
        (RECYCLED, "Item 240"),
        (LOADS_MORE, "Item 260"),
    ],
)
async def test_the_only_one_of_its_name_is_scrolled_to_in_any_list(on: On, body: str, name: str) -> None:
    async with on(body) as hand:
        assert name not in hand.seen.listing
        outcome = await hand.act(ScrollTo(text=name))
        assert outcome.status == "done", outcome.sentence
        assert f'Scrolled to <button> "{name}"' in outcome.sentence
        await hand.look()
        await hand.act(Click(target=hand.number(name)))
        assert await hand.js("said") == [name]


POOL = RECYCLED.replace("length: 14", "length: 12").replace(
    "<div id=all", "<div style='position:sticky;top:0;height:30px;background:#fff;z-index:2'>Head</div><div id=all"
)
SHORT = RECYCLED.replace("300 -", "100 -").replace("9000px", "3000px")
LATE = SHORT.replace(
    "list.onscroll = draw", "let q; list.onscroll = () => { clearTimeout(q); q = setTimeout(draw, 250); }"
)
SKELETON = SHORT.replace(
    "list.onscroll = draw",
    "let q; list.onscroll = () => { for (const each of made) each.textContent = 'Loading…'; clearTimeout(q); q = setTimeout(draw, 500); }",
)
LOADS_LATE = (
    NESTED
    + """<script>
let next = 101;
inner.onscroll = () => {
  if (next < 150 && inner.scrollTop + inner.clientHeight > inner.scrollHeight - 9) setTimeout(() => {
    for (let i = 0; i < 20; i++) inner.append(row(next++));
  }, 200);
};
</script>"""
)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (POOL, ["Item 10", "Item 121", "Item 122", "Item 300"]),
        (LATE, ["Item 50", "Item 17"]),
        (SKELETON, ["Item 41"]),
        (LOADS_LATE, ["Item 139"]),
    ],
    ids=["a pool that fills the view", "drawn late", "drawn after placeholders", "loaded late"],
)
async def test_a_list_is_searched_however_late_it_draws_and_into_whatever_rows(
    on: On, body: str, names: list[str]
) -> None:
    async with on(body) as hand:
        for name in names:
            outcome = await hand.act(ScrollTo(text=name))
            assert outcome.status == "done", outcome.sentence
            await hand.look()
            await hand.act(Click(target=hand.number(name)))
            assert await hand.js("said.splice(0)") == [name]


async def test_what_is_in_a_frame_out_of_view_is_scrolled_to(on: On) -> None:
    async with on(INSIDE_PAGE, {"/inner": PAGE_SCROLLER}) as hand:
        outcome = await hand.act(ScrollTo(text="Item 90"))
        assert outcome.status == "done", outcome.sentence
        await hand.look()
        await hand.act(Click(target=hand.number("Item 90")))
        assert await hand.page.frames[1].evaluate("said") == ["Item 90"]


async def test_two_of_a_name_are_both_named_and_nothing_is_scrolled(on: On) -> None:
    rows = "".join(f"<p style='height:300px'>{name} <button>Delete</button></p>" for name in ("Ann", "Bob", "Cid"))
    async with on(f"<div style='height:2000px'>Long</div>{rows}") as hand:
        outcome = await hand.act(ScrollTo(text="Delete"))
        assert outcome.refusal == "ambiguous", outcome.sentence
        assert "3 things" in outcome.sentence
        assert all(name in outcome.sentence for name in ("Ann", "Bob", "Cid"))
        assert await hand.js("scrollY") == 0


async def test_two_rows_of_a_name_in_a_list_that_draws_them_as_it_scrolls_are_ambiguous(on: On) -> None:
    twice = RECYCLED.replace("`Item ${first + i + 1}`", "`Item ${(first + i) % 150 + 1}`")
    async with on(twice) as hand:
        outcome = await hand.act(ScrollTo(text="Item 100"))
        assert outcome.refusal == "ambiguous", outcome.sentence
        assert await hand.js("list.scrollTop") == 0


@pytest.mark.parametrize("body", [PAGE_SCROLLER, RECYCLED])
async def test_what_is_nowhere_is_said_to_be_nowhere(on: On, body: str) -> None:
    async with on(body) as hand:
        outcome = await hand.act(ScrollTo(text="Item 9999"))
        assert outcome.refusal == "unknown_mark", outcome.sentence
        assert "Nothing on the page is called" in outcome.sentence


async def test_a_list_without_an_end_is_not_searched_for_ever(on: On) -> None:
    endless = LOADS_MORE.replace("next > 300 || ", "")
    async with on(endless) as hand:
        outcome = await hand.act(ScrollTo(text="Nowhere"))
        assert outcome.status == "refused", outcome.sentence
        assert "goes on" in outcome.sentence
        assert outcome.seconds < 60


@pytest.mark.parametrize(
    "hidden",
    [
        "<div style='display:none'><button>Pay</button></div>",
        "<button style='position:absolute;left:-9999px'>Pay</button>",
        "<details><summary>More</summary><button>Pay</button></details>",
        "<div inert><button>Pay</button></div>",
    ],
)
async def test_what_scrolling_would_not_show_does_not_count(on: On, hidden: str) -> None:
    async with on(f"{hidden}<div style='height:2000px'>Long</div><button>Pay</button>") as hand:
        outcome = await hand.act(ScrollTo(text="pay"))
        assert outcome.status == "done", outcome.sentence
        await hand.look()
        assert hand.number("Pay")


async def test_text_is_scrolled_to_where_nothing_to_press_is_called_so(on: On) -> None:
    async with on("<div style='height:2000px'>Long</div><h2>Chapter <i>2</i></h2><p>See chapter 2 of it.</p>") as hand:
        outcome = await hand.act(ScrollTo(text="Chapter 2"))
        assert outcome.status == "done", outcome.sentence
        assert "<h2>" in outcome.sentence
        assert await hand.js("document.querySelector('h2').getBoundingClientRect().top < innerHeight")
