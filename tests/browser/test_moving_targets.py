"""Claims about input to elements that do not stop moving: the right one is hit, or nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.hand import SETTINGS, On
from tests.browser.movers import ELEMENT_WAYS, ELEMENTS
from vision_agent.actions import Action, Check, Click, DoubleTap, Drag, Hold, Point, Select, Type

Act = Callable[[int], Action]

SPEEDS = (40, 120, 300)

CROWD = """<div class=moves style="position: fixed; top: 100px; background: #eee; padding: 12px">{body}</div>
<script>
window.said = [];
const moved = document.querySelector('.moves'), began = performance.now();
(function move() {{
  moved.style.left = `${{20 + Math.abs((performance.now() - began) / 1000 * {speed} % 1400 - 700)}}px`;
  requestAnimationFrame(move);
}})();
</script>"""


@pytest.mark.parametrize("way", ELEMENT_WAYS)
@pytest.mark.parametrize("speed", SPEEDS)
async def test_what_moves_is_hit_and_never_what_moves_beside_it(on: On, speed: int, way: str) -> None:
    async with on(ELEMENTS.format(speed=speed, way=ELEMENT_WAYS[way])) as hand:
        outcomes = []
        # On a busy machine the button may have gone on before the release: pressed, but not clicked.
        for _ in range(10):
            outcomes.append(await hand.act(Click(target=hand.number("Catch"))))
            await hand.look()
            if len(await hand.js("said")) == 3:
                break
        said = [outcome.sentence for outcome in outcomes]
        assert await hand.js("said") == ["Catch"] * 3, said


@pytest.mark.parametrize("way", ELEMENT_WAYS)
@pytest.mark.parametrize("speed", SPEEDS)
async def test_a_point_goes_along_with_the_element_that_was_there(on: On, speed: int, way: str) -> None:
    async with on(ELEMENTS.format(speed=speed, way=ELEMENT_WAYS[way])) as hand:
        outcomes = []
        # On a busy machine the scan and the picture are so far apart that it is not clear what was there.
        for _ in range(8):
            outcomes.append(await hand.act(Click(target=hand.point("Catch"))))
            if outcomes[-1].status == "done":
                break
            await hand.look()
        said = [outcome.sentence for outcome in outcomes]
        assert await hand.js("said") == ["Catch"], said


async def test_a_point_at_the_edge_of_a_moving_twin_never_reaches_the_other(on: On) -> None:
    twins = ELEMENTS.replace(">Catch<", " aria-label=Catch><").replace(">Other<", " aria-label=Other><")
    async with on(twins.format(speed=300, way=ELEMENT_WAYS["line"])) as hand:
        mark = hand.seen.mark(hand.number("Other"))
        assert mark is not None
        between = hand.seen.marked.map.to_picture(Point(x=mark.box.right - 1, y=mark.box.center.y))
        outcome = await hand.act(Click(target=between))
        expected = ["Other"] if outcome.status == "done" else []
        assert await hand.js("said") == expected, outcome.sentence


async def test_a_point_beside_what_moves_is_refused(on: On) -> None:
    async with on(ELEMENTS.format(speed=120, way=ELEMENT_WAYS["line"])) as hand:
        mark = hand.seen.mark(hand.number("Catch"))
        assert mark is not None
        beside = hand.seen.marked.map.to_picture(Point(x=mark.box.center.x, y=mark.box.bottom + 20))
        await hand.act(Click(target=beside))
        assert await hand.js("said") == []


async def test_a_point_on_what_says_something_else_by_now_is_refused(on: On) -> None:
    async with on(ELEMENTS.format(speed=120, way=ELEMENT_WAYS["line"])) as hand:
        at = hand.point("Catch")
        await hand.js("document.getElementById('catch').textContent = 'Fall'")
        outcome = await hand.act(Click(target=at))
        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("said") == []


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize(
    ("control", "act", "expected"),
    [
        ("<label><input type=checkbox id=it>It</label>", lambda at: Check(mark=at, checked=True), "it.checked"),
        ("<input id=it aria-label=It>", lambda at: Type(target=at, text="moved"), "it.value === 'moved'"),
        (
            "<select id=it aria-label=It><option>One<option>Two</select>",
            lambda at: Select(target=at, options=("Two",)),
            "it.value === 'Two'",
        ),
        (
            """<button id=it style="width: 90px; height: 60px" ontouchstart="said.push('touch')">It</button>""",
            lambda at: DoubleTap(target=at),
            "said.filter(each => each === 'touch').length === 2",
        ),
        (
            """<button id=it style="width: 90px; height: 60px" onpointerdown="from = performance.now()"
            onpointerup="said.push(performance.now() - from > 450)">It</button>""",
            lambda at: Hold(target=at, seconds=0.5),
            "said.length === 1 && said[0]",
        ),
    ],
    ids=["check", "type", "select", "double tap", "hold"],
)
async def test_other_input_reaches_what_moves(on: On, speed: int, control: str, act: Act, expected: str) -> None:
    beside = "<button onpointerdown=\"said.push('Wrong')\">Wrong</button>"
    async with on(CROWD.format(speed=speed, body=f"{beside} {control} {beside}")) as hand:
        [mark] = [mark for mark in hand.seen.marks if mark.name == "It"]
        outcome = await hand.act(act(mark.number))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js(expected), (outcome.sentence, await hand.js("said"))
        assert "Wrong" not in await hand.js("said")


TAKEN = """<style>.thing {{ position: fixed; width: 80px; height: 60px; background: #9cf }}</style>
<div id=piece class=thing style="top: 100px" role=button aria-label=Piece>Piece</div>
<div id=goal class=thing style="top: 300px; width: 120px; height: 90px; background: #fc9" role=button
  aria-label=Goal>Goal</div>
<div id=pit class=thing style="top: 395px; width: 120px; background: #c99" role=button aria-label=Pit>Pit</div>
<script>
window.said = [];
let held = null;
const began = performance.now();
piece.onpointerdown = (event) => {{ held = {{ x: event.offsetX, y: event.offsetY }}; said.push('taken'); }};
onpointermove = (event) => {{
  if (!held) return;
  piece.style.left = `${{event.clientX - held.x}}px`;
  piece.style.top = `${{event.clientY - held.y}}px`;
}};
onpointerup = (event) => {{
  if (!held) return;
  held = null;
  const under = document.elementsFromPoint(event.clientX, event.clientY).map((each) => each.id);
  said.push(['goal', 'pit'].find((each) => under.includes(each)) ?? 'ground');
}};
(function move() {{
  const travelled = (performance.now() - began) / 1000;
  if (!held && !said.length) piece.style.left = `${{20 + Math.abs(travelled * {source} % 1600 - 800)}}px`;
  for (const each of [goal, pit]) each.style.left = `${{40 + Math.abs(travelled * {target} % 1600 - 800)}}px`;
  requestAnimationFrame(move);
}})();
</script>"""


@pytest.mark.parametrize(("source", "target"), [(40, 0), (120, 0), (300, 0), (0, 40), (0, 120), (0, 300), (120, 120)])
async def test_what_moves_is_dragged_and_dropped_on_what_moves(on: On, source: int, target: int) -> None:
    async with on(TAKEN.format(source=source, target=target)) as hand:
        outcome = await hand.act(Drag(source=hand.number("Piece"), target=hand.number("Goal")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("said") == ["taken", "goal"], outcome.sentence


SWAPPED = """<style>button {{ position: fixed; left: 100px; top: 100px; width: 120px; height: 50px }}</style>
<button id=meant>Archive</button><button id=twin style="left: 400px">Delete all</button>
<script>
window.said = [];
const types = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
for (const type of types) for (const each of [meant, twin]) {{
  each.addEventListener(type, () => said.push(`${{each.textContent}} ${{type}}`));
}}
const swap = () => {{ [meant.style.left, twin.style.left] = ['400px', '100px']; }};
addEventListener('{type}', swap, true);
</script>"""


@pytest.mark.parametrize("is_point", [False, True], ids=["mark", "point"])
@pytest.mark.parametrize("type_", ["pointermove", "pointerover", "mousemove"])
async def test_a_twin_that_takes_its_place_before_the_press_gets_nothing(on: On, type_: str, is_point: bool) -> None:
    async with on(SWAPPED.format(type=type_)) as hand:
        target = hand.point("Archive") if is_point else hand.number("Archive")
        outcome = await hand.act(Click(target=target))
        said = await hand.js("said")
        assert not [each for each in said if each.startswith("Delete")], outcome.sentence
        assert (outcome.status == "refused") is (not said), outcome.sentence


@pytest.mark.parametrize("is_point", [False, True], ids=["mark", "point"])
async def test_a_twin_swapped_in_by_the_press_itself_gets_nothing(on: On, is_point: bool) -> None:
    async with on(SWAPPED.format(type="pointerdown")) as hand:
        target = hand.point("Archive") if is_point else hand.number("Archive")
        outcome = await hand.act(Click(target=target))
        said = await hand.js("said")
        assert said, outcome.sentence
        assert not [each for each in said if each.startswith("Delete")], outcome.sentence
        assert "the rest was stopped" in outcome.sentence


FLEES = """<style>button {{ position: fixed; top: 100px; width: 120px; height: 50px }}</style>
<button id=meant style="left: 100px">Archive</button><button id=twin style="left: 225px">Delete all</button>
<script>
window.said = [];
let by = 0;
for (const each of [meant, twin]) each.addEventListener('pointerdown', () => said.push(each.textContent));
addEventListener('pointermove', (event) => {{
  const at = document.elementFromPoint(event.clientX, event.clientY);
  if (at !== meant) return;
  by = (by + 125) % 625;
  [meant.style.top, twin.style.top] = [`${{100 + by}}px`, `${{100 + by - 125}}px`];
  [meant.style.left, twin.style.left] = ['100px', '100px'];
}}, true);
</script>"""


async def test_what_flees_from_the_pointer_and_leaves_a_twin_there_is_refused_or_itself_pressed(on: On) -> None:
    settings = SETTINGS.model_copy(update={"action_deadline_s": 3.0})
    async with on(FLEES.format(), settings=settings) as hand:
        outcome = await hand.act(Click(target=hand.number("Archive")))
        # A page too busy to flee in time is pressed where it was checked.
        assert outcome.status in ("refused", "done"), outcome.sentence
        assert await hand.js("said") == (["Archive"] if outcome.status == "done" else []), outcome.sentence
