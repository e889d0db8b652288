"""Claims about marks that were seen earlier and have since been scrolled out of view."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Check, Click, Drag, Point, Scroll, Type, Zoom

NAMES = ("Ann", "Bob", "Cid", "Dora")
ROWS = """<body><script>
window.said = [];
function row(i) {
  const made = document.createElement('button');
  made.textContent = `Item ${i}`;
  made.onclick = () => said.push(made.textContent);
  made.style.cssText = 'display:block;height:30px;width:200px';
  return made;
}
</script>"""
PAGE_SCROLLER = ROWS + "<script>for (let i = 1; i <= 100; i++) document.body.append(row(i));</script>"
NESTED = (
    ROWS
    + """<h1>Lists</h1><div style="height:500px;overflow:auto;border:1px solid" id=outer>
<div style="height:40px">One</div><div id=inner style="height:300px;overflow:auto;border:1px solid"></div>
<div style="height:900px">More</div></div>
<script>for (let i = 1; i <= 100; i++) inner.append(row(i));</script>"""
)
SIDEWAYS = (
    ROWS
    + """<div id=list style="display:flex;width:700px;overflow-x:auto;height:80px"></div>
<script>for (let i = 1; i <= 60; i++) { const made = row(i); made.style.flex = 'none'; list.append(made); }</script>"""
)
FRAME = "<h1>Frame</h1><iframe src=/inner width=600 height=400></iframe><p>After</p>"


async def scrolled(hand: Hand, script: str) -> None:
    await hand.js(script)
    await hand.look()


@pytest.mark.parametrize(
    ("body", "script", "where"),
    [
        (PAGE_SCROLLER, "scrollTo(0, 1500)", "above"),
        (NESTED, "inner.scrollTo(0, 1500)", "above in ["),
        (NESTED, "outer.scrollTo(0, 600)", "above in ["),
        (SIDEWAYS, "list.scrollTo(4000, 0)", "left in ["),
    ],
)
async def test_a_mark_scrolled_out_of_view_is_pressed_by_its_number(on: On, body: str, script: str, where: str) -> None:
    async with on(body) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, script)
        assert hand.seen.mark(number) is None
        kept = hand.seen.known_mark(number)
        assert kept is not None
        assert kept.name == "Item 2"
        [line] = [line for line in hand.seen.listing.splitlines() if "out of view" in line]
        assert f"{where}" in line, line
        outcome = await hand.act(Click(target=number))
        assert await hand.js("said") == ["Item 2"], outcome.sentence
        assert outcome.status == "done"
        assert "Clicked mark" in outcome.sentence
        assert "after scrolling to it" in outcome.sentence


async def test_a_mark_scrolled_out_of_view_in_a_frame_is_pressed_by_its_number(on: On) -> None:
    async with on(FRAME, {"/inner": PAGE_SCROLLER}) as hand:
        number = hand.number("Item 2")
        inner = hand.page.frames[1]
        await inner.evaluate("scrollTo(0, 1500)")
        await hand.look()
        assert hand.seen.mark(number) is None
        outcome = await hand.act(Click(target=number))
        assert await inner.evaluate("said") == ["Item 2"], outcome.sentence


async def test_a_click_on_what_was_out_of_view_and_does_nothing_has_no_effect(on: On) -> None:
    dead = "<button style='height:30px'>Dead</button><div style='height:3000px'>Long</div>"
    async with on(dead) as hand:
        number = hand.number("Dead")
        await scrolled(hand, "scrollTo(0, 1500)")
        outcome = await hand.act(Click(target=number))
        assert (outcome.status, outcome.effect) == ("done", "no_effect"), outcome.sentence


LOADS = """<p id=more>Nothing more here</p>%s<script>
const show = () => { more.textContent = 'And here are twelve more of them'; };
const late = (frames) => requestAnimationFrame(() => frames ? late(frames - 1) : show());
addEventListener('scroll', () => scrollY < 500 && late(2));
</script>"""


async def test_what_a_page_draws_as_it_is_scrolled_to_the_target_is_no_effect_of_the_click(on: On) -> None:
    dead = "<button id=b style='cursor:pointer'>Far</button><div style='height:5000px'></div>"
    async with on(LOADS % dead) as hand:
        number = hand.number("Far")
        await scrolled(hand, "scrollTo(0, 3000)")
        outcome = await hand.act(Click(target=number))
        assert (outcome.status, outcome.effect) == ("done", "no_effect"), outcome.sentence
        assert await hand.js("more.textContent") == "And here are twelve more of them"


async def test_what_is_in_view_again_is_listed_with_its_old_number(on: On) -> None:
    async with on(PAGE_SCROLLER) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, "scrollTo(0, 1500)")
        assert number not in hand.seen.change.gone
        await scrolled(hand, "scrollTo(0, 0)")
        assert hand.number("Item 2") == number
        assert number not in {mark.number for mark in hand.seen.out_of_view}


@pytest.mark.parametrize(
    "hide",
    [
        "document.querySelector('button').style.display = 'none'",
        "document.querySelector('button').style.visibility = 'hidden'",
        "document.querySelector('button').inert = true",
        "document.querySelector('button').remove()",
        "document.querySelector('button').style.cssText = 'position:fixed;left:-900px'",
        "document.body.style.overflow = 'hidden'",
    ],
)
async def test_what_scrolling_would_not_show_is_not_out_of_view(on: On, hide: str) -> None:
    async with on(PAGE_SCROLLER) as hand:
        number = hand.number("Item 1")
        await scrolled(hand, f"scrollTo(0, 1500); {hide}")
        assert hand.seen.known_mark(number) is None
        outcome = await hand.act(Click(target=number))
        assert outcome.refusal == "unknown_mark", outcome.sentence
        assert await hand.js("said") == []


RECYCLED = (
    ROWS
    + """<div id=list style="height:300px;overflow:auto">
<div id=all style="height:9000px;position:relative"></div></div>
<script>
const made = Array.from({ length: 14 }, (_, i) => row(i + 1));
made.forEach((each) => { each.style.position = 'absolute'; all.append(each); });
function draw() {
  const first = Math.min(Math.floor(list.scrollTop / 30), 300 - made.length);
  made.forEach((each, i) => {
    each.textContent = `Item ${first + i + 1}`;
    each.style.top = `${(first + i) * 30}px`;
  });
}
list.onscroll = draw;
draw();
</script>"""
)


@pytest.mark.parametrize("is_looked_at", [True, False])
async def test_a_row_that_its_list_uses_again_out_of_view_is_not_pressed_for_another_item(
    on: On, is_looked_at: bool
) -> None:
    async with on(RECYCLED + "<div style='height:3000px'>Long</div>") as hand:
        number = hand.number("Item 3")
        await scrolled(hand, "scrollTo(0, 1500)")
        await hand.js("list.scrollTo(0, 3000)")
        await hand.js("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        if is_looked_at:
            await hand.look()
        outcome = await hand.act(Click(target=number))
        assert outcome.refusal == "changed", outcome.sentence
        assert await hand.js("said") == []


async def test_a_row_that_its_list_uses_again_as_it_is_scrolled_to_is_not_pressed(on: On) -> None:
    async with on(RECYCLED) as hand:
        await scrolled(hand, "list.scrollTo(0, 3000)")
        number = hand.number("Item 104")
        await hand.js("list.onscroll = null; list.scrollTo(0, 0)")
        await hand.look()
        await hand.js("list.onscroll = () => made.forEach((each, i) => { each.textContent = `Item ${i + 500}`; })")
        outcome = await hand.act(Click(target=number))
        assert outcome.refusal == "changed", outcome.sentence
        assert await hand.js("said") == []


SWAPS = (
    ROWS
    + """<script>
for (let i = 1; i <= 100; i++) document.body.append(row(i));
let armed = false;
addEventListener('scroll', () => {
  if (!armed) return;
  const [one, other] = document.querySelectorAll('button');
  %s
});
</script>"""
)


@pytest.mark.parametrize(
    "swap",
    [
        "[one.textContent, other.textContent] = ['Delete all', 'Item 1']",
        "one.onclick = null; one.before(other)",
        "one.textContent = 'Pay now'",
        "one.remove()",
    ],
)
async def test_a_page_that_swaps_the_row_as_it_scrolls_is_never_pressed_wrongly(on: On, swap: str) -> None:
    async with on(SWAPS % swap) as hand:
        number = hand.number("Item 1")
        await scrolled(hand, "scrollTo(0, 1500)")
        await hand.js("armed = true")
        outcome = await hand.act(Click(target=number))
        assert await hand.js("said") in ([], ["Item 1"]), outcome.sentence


async def test_a_button_that_sends_a_form_since_it_went_out_of_view_is_not_pressed(on: On) -> None:
    form = "<form onsubmit='sent = true; return false'><input name=a><button type=button>Next</button></form>"
    async with on(f"<script>sent = false</script>{form}<div style='height:3000px'>Long</div>") as hand:
        number = hand.number("Next")
        await scrolled(hand, "scrollTo(0, 1500)")
        await hand.js("document.querySelector('button').type = 'submit'")
        outcome = await hand.act(Click(target=number))
        assert outcome.status == "refused", outcome.sentence
        assert not await hand.js("sent")


async def test_what_needs_the_picture_is_refused_out_of_view(on: On) -> None:
    async with on(PAGE_SCROLLER) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, "scrollTo(0, 1500)")
        here = next(mark.number for mark in hand.seen.marks if mark.name.startswith("Item"))
        point = Point(x=300, y=300)
        drags = (Drag(source=number, target=point), Drag(source=here, target=number, path=(point,)))
        for action in (*drags, Zoom(target=number)):
            outcome = await hand.act(action)
            assert outcome.refusal == "outside", outcome.sentence
        assert await hand.js("said") == []


async def test_a_mark_out_of_view_can_be_brought_to_the_middle(on: On) -> None:
    async with on(PAGE_SCROLLER) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, "scrollTo(0, 1500)")
        outcome = await hand.act(Scroll(target=number, to="middle"))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("scrollY") < 100


async def test_the_second_of_two_actions_may_name_a_mark_out_of_view(on: On) -> None:
    async with on(PAGE_SCROLLER) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, "scrollTo(0, 1500)")
        here = next(mark for mark in hand.seen.marks if mark.name == "Item 60")
        outcomes = [await hand.act(Click(target=here.number)), await hand.act(Click(target=number))]
        assert [outcome.status for outcome in outcomes] == ["done", "done"], outcomes
        assert await hand.js("said") == ["Item 60", "Item 2"]


async def test_a_mark_out_of_view_is_not_pressed_after_suggestions_have_appeared(on: On) -> None:
    opens = """<script>for (let i = 1; i <= 100; i++) document.body.append(row(i));
document.querySelectorAll('button')[59].addEventListener('click', (event) => {
  event.target.insertAdjacentHTML('afterend', '<div role=listbox><div role=option tabindex=0>Berlin</div></div>');
});</script>"""
    async with on(ROWS + opens) as hand:
        number = hand.number("Item 2")
        await scrolled(hand, "scrollTo(0, 1500)")
        here = next(mark for mark in hand.seen.marks if mark.name == "Item 60")
        await hand.act(Click(target=here.number))
        outcome = await hand.act(Click(target=number))
        assert outcome.refusal == "changed", outcome.sentence
        assert await hand.js("said") == ["Item 60"]


async def test_fields_out_of_view_are_typed_into_and_ticked_by_their_numbers(on: On) -> None:
    form = "<label>Name <input id=name></label><label><input type=checkbox id=news>News</label>"
    async with on(f"{form}<div style='height:3000px'>Long</div>") as hand:
        name, news = hand.number("Name"), hand.number("News")
        await scrolled(hand, "scrollTo(0, 1500)")
        typed = await hand.act(Type(target=name, text="Ann"))
        assert typed.value == "Ann", typed.sentence
        await scrolled(hand, "scrollTo(0, 1500)")
        await hand.act(Check(mark=news, checked=True))
        assert await hand.js("[document.getElementById('name').value, news.checked]") == ["Ann", True]
        kept = hand.seen.known_mark(name)
        assert kept is not None
        assert kept.state.value is None


async def test_a_cell_of_a_row_that_moved_to_another_row_out_of_view_is_not_pressed(on: On) -> None:
    rows = "".join(f"<tr><td>{name}<td><button onclick='said.push(`{name}`)'>Delete</button>" for name in NAMES)
    table = f"<body><script>window.said = []</script><table>{rows}</table><div style='height:3000px'>Long</div>"
    async with on(table) as hand:
        number = next(mark.number for mark in hand.seen.marks if mark.context == "Ann")
        await scrolled(hand, "scrollTo(0, 1500)")
        await hand.js("document.querySelectorAll('tr').forEach((row, i) => { row.cells[0].textContent = 'Zed' + i })")
        outcome = await hand.act(Click(target=number))
        assert outcome.refusal == "changed", outcome.sentence
        assert await hand.js("said") == []


async def test_a_turned_button_out_of_view_in_its_list_is_pressed_and_its_new_name_is_said(on: On) -> None:
    turned = """<div style='height:200px;overflow:auto' id=list><p>Top</p><div style='height:900px'></div>
<button onclick="this.textContent = 'Done'" style='transform:rotate(4deg)'>Far</button>
<div style='height:900px'></div></div>"""
    async with on(turned) as hand:
        await scrolled(hand, "list.scrollTo(0, 900)")
        number = hand.number("Far")
        await scrolled(hand, "list.scrollTo(0, 0)")
        outcome = await hand.act(Click(target=number))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
        assert f'Mark {number} is now called "Done"' in outcome.sentence
