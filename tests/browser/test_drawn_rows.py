"""Claims about lists that are drawn on a canvas: the words of its row tell a button from others of its name."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from tests.browser.test_drawn_target import hits
from vision_agent.actions import Click
from vision_agent.models.offline.parse_target import parse_target
from vision_agent.models.offline.resolve_target import AmbiguousError, NotFoundError, find_target
from vision_agent.observation import Observation
from vision_agent.policy.approval import risks_taken
from vision_agent.vision.ocr import can_read

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

DRAW = """<canvas id=c aria-label=List style="display:block;width:640px;height:400px"></canvas><script>
const rows = ROWS, hits = [];
c.width = 640; c.height = 400;
const pen = c.getContext('2d');
function paint() {
  pen.fillStyle = '#fbfbf8'; pen.fillRect(0, 0, 640, 400);
  pen.textBaseline = 'middle';
  rows.forEach((name, at) => {
    const y = 30 + PITCH * at;
    pen.font = '16px sans-serif'; pen.fillStyle = '#222'; pen.textAlign = 'left';
    pen.fillText(name, 24, y);
    pen.strokeStyle = '#ddd'; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(16, y + 25.5); pen.lineTo(624, y + 25.5);
    pen.stroke();
    for (const [label, x, colour] of [['Edit', 420, '#4a5568'], ['Delete', 520, '#c53030']]) {
      pen.fillStyle = colour; pen.fillRect(x, y - 16, 88, 32);
      pen.fillStyle = '#fff'; pen.textAlign = 'center'; pen.fillText(label, x + 44, y);
    }
  });
}
c.addEventListener('pointerdown', (event) => {
  const row = rows[Math.floor((event.offsetY - 5) / PITCH)];
  const what = event.offsetX >= 520 ? 'Delete' : event.offsetX >= 420 ? 'Edit' : '';
  hits.push({ kind: 'pointerdown', name: `${what} ${row}` });
});
paint();
MORE
</script>"""


FAR = 150
"""Rows so far from each other that nothing near a button looks like it."""


def drawn_list(*names: str, pitch: int = 50, more: str = "") -> str:
    """A canvas with a list of these names, each with buttons *Edit* and *Delete*."""
    return DRAW.replace("ROWS", str([*names])).replace("PITCH", str(pitch)).replace("MORE", more)


def meant(words: str, seen: Observation) -> int:
    found = find_target(parse_target(words), seen)
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("words", ["Delete in row Bob", "Delete ‹Bob›", "Delete <Bob>"])
async def test_a_button_in_a_drawn_list_is_named_by_its_row(on: On, words: str) -> None:
    async with on(drawn_list("Ann Lee", "Bob", "Cyd Moore")) as hand:
        assert "Delete ‹Bob›" in hand.seen.listing
        outcome = await hand.act(Click(target=meant(words, hand.seen)))
        assert (outcome.status, await hits(hand)) == ("done", ["Delete Bob"]), outcome.sentence


async def test_rows_with_the_same_words_are_not_told_apart(on: On) -> None:
    async with on(drawn_list("Ann", "Bob", "Bob")) as hand:
        with pytest.raises(AmbiguousError):
            meant("Delete in row Bob", hand.seen)
        assert "Ann" in hand.seen.listing
        outcome = await hand.act(Click(target=meant("Delete ‹Ann›", hand.seen)))
        assert await hits(hand) == ["Delete Ann"], outcome.sentence


async def test_where_one_name_was_not_surely_read_no_names_tell_rows_apart(on: On) -> None:
    async with on(drawn_list("Ann", "Bob", "I1lO0 8B")) as hand:
        assert "‹unsure›" in hand.seen.listing
        with pytest.raises(NotFoundError):
            meant("Delete in row Bob", hand.seen)


@pytest.mark.parametrize("pitch", [50, FAR])
@pytest.mark.parametrize("change", ["rows.shift()", "rows[1] = 'Bab'"])
async def test_nothing_is_pressed_where_the_row_says_something_else_by_then(on: On, change: str, pitch: int) -> None:
    async with on(drawn_list("Ann", "Bob", "Dan", pitch=pitch)) as hand:
        target = meant("Delete in row Bob", hand.seen)
        await hand.js(f"{change}; paint();")
        outcome = await hand.act(Click(target=target))
        assert (outcome.status, await hits(hand)) == ("refused", []), outcome.sentence


@pytest.mark.parametrize("pitch", [50, FAR])
async def test_nothing_is_pressed_where_the_row_changes_under_the_pointer(on: On, pitch: int) -> None:
    more = "c.addEventListener('pointermove', () => { rows.reverse(); paint(); }, { once: true });"
    async with on(drawn_list("Bob", "Ann", "Dan", pitch=pitch, more=more)) as hand:
        outcome = await hand.act(Click(target=meant("Delete in row Bob", hand.seen)))
        assert (outcome.status, await hits(hand)) == ("refused", []), outcome.sentence


async def test_what_is_asked_over_a_row_is_a_risk_of_the_answers_in_it(on: On) -> None:
    asks = "for (const y of [30, 130]) for (const [label, x] of [['Yes', 24], ['No', 140]]) {"
    asks += "pen.fillStyle = '#4a5568'; pen.fillRect(x, y - 16, 88, 32);"
    asks += "pen.fillStyle = '#fff'; pen.textAlign = 'center'; pen.fillText(label, x + 44, y); }"
    async with on("<p>Delete all files?</p>" + drawn_list(more=asks)) as hand:
        yes, _ = [mark for mark in hand.seen.marks if mark.name == "Yes"]
        assert yes.context == "No"
        assert "delete" in risks_taken(Click(target=yes.number), hand.seen)


BUBBLE = """c.addEventListener('pointermove', () => {
  paint(); CHANGE
  pen.fillStyle = '#221d2b'; pen.fillRect(X, 62, 150, 40);
  pen.fillStyle = '#fff'; pen.textAlign = 'center'; pen.fillText('Removes it', X + 75, 80);
});"""


@pytest.mark.parametrize(
    ("x", "change", "done"),
    [
        (350, "", True),
        (350, "rows.reverse(); paint();", False),
        (350, "rows[1] = 'Bob Lee'; paint();", False),
        (10, "", False),
    ],
    ids=["over another button", "and another row", "and a longer name", "over the name"],
)
async def test_a_bubble_over_the_rest_of_its_row_is_paint_while_its_words_show(
    on: On, x: int, change: str, done: bool
) -> None:
    more = BUBBLE.replace("X", str(x)).replace("CHANGE", change)
    async with on(drawn_list("Ann", "Bob", "Dan", "Eve", more=more)) as hand:
        outcome = await hand.act(Click(target=meant("Delete in row Bob", hand.seen)))
        assert await hits(hand) == (["Delete Bob"] if done else []), outcome.sentence
        assert outcome.status == ("done" if done else "refused"), outcome.sentence
