"""Claims about what a page draws anew: the same thing is found again, one that might be another is refused."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click, Scroll, Type

LIST = """<ul id=list></ul><script>
window.draw = (names) => { list.innerHTML = names.map((name, i) => `<li>${name} <button id=b${Math.random()}>Delete</button></li>`).join('');
    list.querySelectorAll('button').forEach((button, i) => button.onclick = () => document.title += names[i]); };
draw(['Ada', 'Bob', 'Cy']);</script>"""


@pytest.mark.parametrize("names", [["Ada", "Bob", "Cy"], ["Cy", "Bob", "Ada"], ["New", "Ada", "Bob", "Cy"], ["Bob"]])
async def test_the_button_of_a_row_is_found_again_wherever_the_row_is_drawn(on: On, names: list[str]) -> None:
    async with on(LIST) as hand:
        await hand.js(f"draw({names})")
        outcome = await hand.act(Click(target=2))
        assert (outcome.status, outcome.rung) == ("done", 2), outcome.sentence
        assert await hand.page.title() == "Bob"


@pytest.mark.parametrize(
    ("names", "refusal", "words"),
    [
        (["Ada", "Cy"], "gone", '2 like it are elsewhere (beside "Ada", beside "Cy")'),
        (["Ada", "Bob", "Bob"], "ambiguous", '2 like it have appeared (beside "Bob" at ('),
        (["Dan"], "gone", 'one like it is beside "Dan"'),
        ([], "gone", "no longer on the page"),
    ],
)
async def test_a_row_that_is_gone_or_there_twice_is_refused(on: On, names: list[str], refusal: str, words: str) -> None:
    async with on(LIST) as hand:
        await hand.js(f"draw({names})")
        outcome = await hand.act(Click(target=2))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert await hand.page.title() == ""


TOOLS = """<div id=bar></div><script>
window.draw = (n = 3) => { bar.innerHTML = '<button style="width:30px;height:30px"></button>'.repeat(n);
    bar.querySelectorAll('button').forEach((button, i) => button.onclick = () => document.title += i); }; draw();</script>"""


async def test_things_without_names_are_told_by_where_they_stand_when_all_were_drawn_anew(on: On) -> None:
    async with on(TOOLS) as hand:
        await hand.js("draw()")
        outcome = await hand.act(Click(target=2))
        assert (outcome.status, outcome.rung) == ("done", 3), outcome.sentence
        assert await hand.page.title() == "1"


@pytest.mark.parametrize(
    "change",
    ["draw(4)", "draw(2)", "draw(); bar.style.marginLeft = '40px'", "draw(); bar.children[1].style.background = 'red'"],
)
async def test_things_without_names_are_refused_when_anything_else_is_different(on: On, change: str) -> None:
    async with on(TOOLS) as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=2))
        assert outcome.refusal in ("ambiguous", "gone"), outcome.sentence
        assert await hand.page.title() == ""


async def test_what_was_there_before_never_stands_for_what_is_gone(on: On) -> None:
    body = "<button onclick='document.title = 1'>Save</button><p></p><button onclick='document.title = 2'>Save</button>"
    async with on(body) as hand:
        await hand.js("document.querySelector('button').remove()")
        outcome = await hand.act(Click(target=1))
        assert outcome.refusal == "gone"
        assert 'mark 2 (button "Save") has the same name, but is another element' in outcome.sentence
        assert await hand.page.title() == ""


async def test_a_link_that_is_drawn_anew_and_leads_elsewhere_is_refused(on: On) -> None:
    async with on("<p id=p><a href=#one>Edit</a></p>") as hand:
        await hand.js("void (p.innerHTML = '<a href=#two>Edit</a>')")
        assert (await hand.act(Click(target=1))).status == "refused"
        assert await hand.js("location.hash") == ""


async def test_a_field_drawn_anew_is_typed_into(on: On) -> None:
    async with on("<p id=p><input aria-label=Name id=r1></p>") as hand:
        await hand.js("void (p.innerHTML = '<input aria-label=Name id=r2>')")
        outcome = await hand.act(Type(target=1, text="Ann"))
        assert (outcome.status, outcome.rung) == ("done", 2), outcome.sentence
        assert await hand.js("document.querySelector('input').value") == "Ann"


async def test_the_confirmation_of_another_thing_is_not_given(on: On) -> None:
    body = "<div role=dialog><h2 id=h>Delete Bruno?</h2><button onclick='document.title = h.textContent'>Delete</button></div>"
    async with on(body) as hand:
        await hand.js("void (h.textContent = 'Delete Chloe?')")
        outcome = await hand.act(Click(target=1))
        assert outcome.refusal == "changed"
        assert await hand.page.title() == ""


async def test_a_list_that_shows_something_else_now_is_not_scrolled(on: On) -> None:
    body = "<div id=d tabindex=0 aria-label=Inbox style='height:90px;overflow:auto'><div style='height:900px'>Mails</div></div>"
    async with on(body) as hand:
        await hand.js("d.ariaLabel = 'Archive'")
        assert (await hand.act(Scroll(target=1))).refusal == "changed"
        assert await hand.js("d.scrollTop") == 0


async def test_what_lies_under_a_header_that_sticks_is_scrolled_out_from_under_it(on: On) -> None:
    body = """<header id=h style='position:fixed;top:0;left:0;right:0;height:0;background:#ccc'>Head</header>
    <div style='height:40px'></div><button onclick='document.title = 1'>Go</button><div style='height:3000px'></div>"""
    async with on(body) as hand:
        await hand.js("scrollTo(0, 30)")
        await hand.look()
        await hand.js("void (h.style.height = '90px')")
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert outcome.refusal == "covered"  # there is nothing above it to scroll to
        await hand.js(
            "void document.body.prepend(Object.assign(document.createElement('div'), {style: 'height:900px'}))"
        )
        await hand.js("scrollTo(0, 900)")
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.page.title() == "1"
