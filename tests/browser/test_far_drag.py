"""Claims about drags between things that do not show together: the page is scrolled while the source is held."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Drag, Offset

HELD = """<style>.thing { position: relative; width: 200px; height: 60px; background: #9cf }</style>
<div id=card class=thing role=button draggable=DRAGGABLE>Card</div><div style="height: 900px">Between</div>
<div id=done class=thing role=button>Done</div><div id=bin class=thing role=button>Bin</div>
<div style="height: 1500px">After</div>
"""
BY_POINTER = (
    HELD.replace("DRAGGABLE", "false")
    + """<script>
window.said = [];
let from = null;
card.onpointerdown = (event) => { from = { x: event.pageX, y: event.pageY }; said.push('taken'); };
onpointermove = (event) => {
  if (from) card.style.translate = `${event.pageX - from.x}px ${event.pageY - from.y}px`;
};
onpointerup = (event) => {
  if (!from) return;
  from = null;
  card.style.translate = '';
  const under = document.elementsFromPoint(event.clientX, event.clientY).map((each) => each.id);
  said.push(['done', 'bin'].find((each) => under.includes(each)) ?? 'ground');
};
</script>"""
)
NATIVE = (
    HELD.replace("DRAGGABLE", "true")
    + """<script>
window.said = [];
card.ondragstart = () => said.push('taken');
for (const each of [done, bin]) {
  each.ondragover = (event) => event.preventDefault();
  each.ondrop = () => said.push(each.id);
}
</script>"""
)


async def seen_both(hand: Hand, scroll: str = "scrollTo(0, {})") -> tuple[int, int]:
    """The numbers of the card, which is in view again, and of the list, which no longer is."""
    await hand.js(scroll.format(700))
    await hand.look()
    done = hand.number("Done")
    await hand.js(scroll.format(0))
    await hand.look()
    assert hand.seen.mark(done) is None
    return hand.number("Card"), done


@pytest.mark.parametrize("body", [BY_POINTER, NATIVE], ids=["pointer", "native"])
async def test_something_is_dropped_on_what_is_far_out_of_view(on: On, body: str) -> None:
    async with on(body) as hand:
        card, done = await seen_both(hand)
        outcome = await hand.act(Drag(source=card, target=done))
        assert await hand.js("said") == ["taken", "done"], outcome.sentence
        assert outcome.status == "done", outcome.sentence
        assert "after scrolling to it" in outcome.sentence


async def test_what_is_out_of_view_is_dragged_to_what_shows(on: On) -> None:
    async with on(BY_POINTER) as hand:
        card = hand.number("Card")
        await hand.js("scrollTo(0, 700)")
        await hand.look()
        outcome = await hand.act(Drag(source=card, target=hand.number("Done")))
        assert await hand.js("said") == ["taken", "done"], outcome.sentence


FRAMED = """<h1>Staff</h1><iframe id=inner style="width: 700px; height: %dpx"></iframe><script>
window.said = [];
onmessage = (event) => said.push(event.data);
inner.src = location.origin.replace('127.0.0.1', '%s') + '/inner';
</script>"""
TELLS = "const said = { push: (each) => parent.postMessage(each, '*') }; onmessage = ({ data }) => scrollTo(0, data)"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["of this site", "of another"])
@pytest.mark.parametrize(
    ("body", "high", "scroll"),
    [(BY_POINTER, 400, "inner.contentWindow.postMessage({}, '*')"), (NATIVE, 2600, "scrollTo(0, {})")],
    ids=["the frame", "the page around it"],
)
async def test_what_is_held_in_a_frame_is_dropped_on_what_is_far_out_of_view_there(
    on: On, body: str, high: int, scroll: str, host: str
) -> None:
    async with on(FRAMED % (high, host), {"/inner": body.replace("window.said = []", TELLS)}) as hand:
        card, done = await seen_both(hand, scroll)
        outcome = await hand.act(Drag(source=card, target=done))
        assert await hand.js("said") == ["taken", "done"], outcome.sentence
        assert "after scrolling to it" in outcome.sentence


async def test_what_is_held_in_a_frame_is_brought_back_when_its_target_goes(on: On) -> None:
    gone = "<script>card.addEventListener('pointerdown', () => done.remove());</script>"
    body = BY_POINTER.replace("window.said = []", TELLS) + gone
    async with on(FRAMED % (2600, "localhost"), {"/inner": body}) as hand:
        card, done = await seen_both(hand)
        outcome = await hand.act(Drag(source=card, target=done))
        assert "it was brought back" in outcome.sentence
        assert await hand.js("said") == ["taken", "ground"], outcome.sentence
        assert await hand.js("scrollY") == 0


async def test_what_is_out_of_view_is_dragged_by_an_offset(on: On) -> None:
    async with on(BY_POINTER) as hand:
        card = hand.number("Card")
        await hand.js("scrollTo(0, 700)")
        await hand.look()
        outcome = await hand.act(Drag(source=card, target=Offset(right=150, down=0)))
        assert await hand.js("said") == ["taken", "ground"], outcome.sentence
        assert outcome.status == "done", outcome.sentence


ROWS = """<div id=list style="height: 300px; width: 300px; overflow: auto; position: relative"></div><script>
window.said = [];
let held = null;
for (let i = 1; i <= 100; i++) {
  const row = document.createElement('div');
  row.textContent = `Row ${i}`;
  row.style.cssText = 'height: 30px; cursor: grab; touch-action: none';
  row.onpointerdown = () => { held = row; };
  list.append(row);
}
onpointermove = (event) => {
  if (!held) return;
  const at = document.elementFromPoint(event.clientX, event.clientY)?.closest('#list > div');
  if (at && at !== held) held.compareDocumentPosition(at) & 4 ? at.after(held) : at.before(held);
};
onpointerup = () => { if (held) said.push(held.previousElementSibling?.textContent); held = null; };
</script>"""


@pytest.mark.parametrize("element", ["div", "li"])
async def test_a_row_is_moved_in_a_list_that_moves_it_along(on: On, element: str) -> None:
    async with on(ROWS.replace("div", element)) as hand:
        outcome = await hand.act(Drag(source=hand.number("Row 2"), target=hand.number("Row 5")))
        assert await hand.js("said") in (["Row 4"], ["Row 5"]), outcome.sentence
        assert outcome.status == "done", outcome.sentence


async def test_a_row_is_not_dropped_on_one_whose_neighbours_became_others(on: On) -> None:
    edited = "<script>addEventListener('pointerdown', () => { list.children[60].textContent = 'Another'; });</script>"
    async with on(ROWS + edited) as hand:
        outcome = await hand.act(Drag(source=hand.number("Row 2"), target=hand.number("Row 5")))
        assert outcome.status == "partial", outcome.sentence
        assert "it was brought back" in outcome.sentence
        assert await hand.js("said") == ["Row 1"]


async def test_a_row_is_moved_far_down_its_list(on: On) -> None:
    async with on(ROWS) as hand:
        await hand.js("list.scrollTo(0, 1500)")
        await hand.look()
        far = hand.number("Row 55")
        await hand.js("list.scrollTo(0, 0)")
        await hand.look()
        outcome = await hand.act(Drag(source=hand.number("Row 2"), target=far))
        assert await hand.js("said") in (["Row 54"], ["Row 55"]), outcome.sentence


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("done.textContent = 'Delete'", "Done"),
        ("done.remove()", "Done"),
        (
            "const cover = document.body.appendChild(document.createElement('div')); cover.style.cssText = "
            "'position: fixed; inset: 0; background: white; z-index: 9'; cover.textContent = 'Wait'",
            "covered",
        ),
    ],
)
async def test_what_is_held_is_brought_back_when_the_target_changes_as_it_is_scrolled_to(
    on: On, change: str, why: str
) -> None:
    changed = f"<script>card.addEventListener('pointerdown', () => {{ {change} }});</script>"
    async with on(BY_POINTER + changed) as hand:
        card, done = await seen_both(hand)
        outcome = await hand.act(Drag(source=card, target=done))
        assert outcome.status == "partial", outcome.sentence
        assert why in outcome.sentence
        assert "it was brought back" in outcome.sentence
        assert await hand.js("said") == ["taken", "ground"], outcome.sentence
        assert await hand.js("scrollY") == 0
