"""Step lines of a run: each means what was done, whatever things are called, and the run can be done again by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.seen import mark, point, seen, select, step
from tests.record.record_builder import run as run_of
from tests.test_actions import of
from vision_agent import Agent, Settings, Task
from vision_agent.actions import (
    ACTIONS,
    Action,
    Cell,
    Check,
    Click,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Goto,
    Hold,
    Hover,
    LookAt,
    Magnify,
    Offset,
    Pan,
    PictureArea,
    Press,
    Read,
    Scroll,
    Select,
    SelectText,
    Set,
    Type,
    Upload,
    Wait,
)
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import reached, served, tasks_of
from vision_agent.export.formats import export
from vision_agent.export.playwright_test import render_test
from vision_agent.export.step_lines import line_for, lines_of, render_lines
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.grammar import parse, rows_schema
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Grid
from vision_agent.types import Decision, Outcome, Provenance, Run, Step

SITES = Path(__file__).parent.parent / "fixtures" / "sites"
BOARD = Grid(
    rows=2,
    columns=2,
    cells=tuple((row, column, 40.0 * column - 30, 40.0 * row + 260, 40.0, 40.0) for row in (1, 2) for column in (1, 2)),
)
PAGE = seen(
    mark(1, "Sign in"),
    mark(2, "Delete", context="Ann Smith 12", heading="People"),
    mark(3, "Delete", context="Bob Jones 14", heading="People"),
    mark(4, "Email", "field"),
    select(5, "Size", "Large", "Small, cheap"),
    mark(6, "News", "toggle"),
    mark(7, 'Say "hi" to Ann in row 3', "link"),
    mark(8, "Map", "surface", box=Box(x=300, y=100, width=200, height=100)),
    mark(9, "", "button", surface=8, source="cv", box=Box(x=340, y=140, width=20, height=20)),
    mark(10, "Add"),
    mark(11, "Add"),
    mark(12, "Add", "link"),
    mark(13, "Board", "surface", box=Box(x=10, y=300, width=80, height=80), grid=BOARD),
    mark(14, "", "toggle", context="Cleo Brown 3"),
    mark(15, "", "toggle", context="Dora White 5"),
    mark(16, "List", "scroller"),
)


ORDERS = """{"type": "array", "items": {"type": "object", "title": "Order", "required": ["item"], "properties": {
    "item": {"type": "string", "title": "Item"}, "left": {"type": "integer"}}}}"""
NOT_EMPTY = ORDERS.replace('"title": "Item"', '"minLength": 1')

LINES: list[tuple[Action, str]] = [
    (Click(target=1), "click Sign in"),
    (Click(target=1, button="right"), "right click Sign in"),
    (Click(target=1, count=2, modifiers=("Control", "Shift")), "double click Sign in with Control+Shift held"),
    (Click(target=3), "click Delete ‹Bob Jones›"),
    (Click(target=7), r'click "Say \"hi\" to Ann in row 3"'),
    (Click(target=12), "click Add link"),
    (Click(target=11), "click Add ‹2nd of 2›"),
    (Click(target=9), "click (0.2500, 0.5000) of Map"),
    (Click(target=point(400, 125)), "click (0.5000, 0.2500) of Map"),
    (Click(target=point(250.25, 12)), "click (250.2, 12)"),
    (Click(target=Cell(mark=13, row=2, column=1)), "click row 2 column 1 of Board"),
    (DoubleTap(target=8), "double tap Map"),
    (Hold(target=1, seconds=2), "hold Sign in for 2 s"),
    (Hold(target=1, until="Charged", touch=True), 'hold Sign in with a finger until "Charged"'),
    (Type(target=4, text='a "b"\nc', submit=True), r'type "a \"b\"\nc" into Email and press Enter'),
    (Type(target=4, text="<secret:pin>"), 'type "<secret:pin>" into Email'),
    (Type(target=4, text="x", clear=False), 'append "x" to Email'),
    (Select(target=5, options=("Large",)), 'select "Large" in Size'),
    (Select(target=5, options=("Small, cheap", "Large"), change="add"), 'also select "Small, cheap", "Large" in Size'),
    (Check(mark=6, checked=False), "uncheck News"),
    (Check(mark=15, checked=True), "check checkbox ‹Dora White›"),
    (Set(mark=4, value="2026-12-01"), "set Email to 2026-12-01"),
    (Upload(mark=4, files=("cv.pdf", "b.png")), "upload cv.pdf, b.png to Email"),
    (Press(keys="Control+a"), "press Control+a"),
    (Press(keys="ArrowRight", count=5, target=4), "press ArrowRight 5 times in Email"),
    (Hover(target=1), "hover Sign in"),
    (Scroll(), "scroll down"),
    (Scroll(direction="up", px=300, target=16, modifiers=("Control",)), "scroll up 300 px with Control in List"),
    (Scroll(to="end", target=16), "scroll down to the end in List"),
    (Drag(source=1, target=4), "drag Sign in to Email"),
    (Drag(source=1, target=Offset(right=40, down=-20)), "drag Sign in by (40, -20)"),
    (Drag(source=point(90, 80), target=point(9, 8), path=(point(6, 4),)), "drag (90, 80) through (6, 4) to (9, 8)"),
    (SelectText(first="one", last="two"), 'select text "one" to "two"'),
    (Goto(url="http://shop.test/cart?a=1"), "goto http://shop.test/cart?a=1"),
    (Wait(text="Thank you", seconds=4), 'wait for "Thank you"'),
    (Read(mark=4), "read value of Email"),
    (Read(what="download"), "read download"),
    (Read(what="table", mark=8, exact=True), "read exact table at Map"),
    (
        Extract(mark="", json_schema=rows_schema({"Item": "string", "Sent from": "string", "Price": "number"})),
        'extract Item, "Sent from", Price as number',
    ),
    (
        Extract(mark="Open orders", json_schema=ORDERS),
        'extract item, left as integer from "Open orders"',
    ),
    (Extract(mark=8, json_schema=rows_schema({"Item": "string"})), "extract Item from Map"),
    (LookAt(target=8, tile=2), "look at Map only, tile 2"),
    (
        LookAt(target=PictureArea(corner=point(10, 20), opposite=point(30, 40))),
        "look at (10, 20) to (30, 40) only",
    ),
    (Pan(mark=8, by=Offset(right=-200, down=0)), "pan Map by (-200, 0)"),
    (Magnify(target=8, factor=2), "magnify Map 2 times"),
    (Magnify(target=8, factor=1, degrees=30, touch=True), "turn Map by 30 degrees"),
    (FindOn(mark=8, text="Berlin"), 'find "Berlin" on Map'),
    (Finish(answer="Two mugs."), "finish Two mugs."),
]  # fmt: skip


@pytest.mark.parametrize(("action", "line"), LINES, ids=[line for _, line in LINES])
def test_an_action_is_written_as_a_person_would_write_it(action: Action, line: str) -> None:
    assert line_for(action, PAGE) == line


def test_the_end_of_a_drag_in_a_thing_is_a_place_in_it_which_may_have_moved() -> None:
    cards = seen(mark(1, "One"), mark(2, "Two", box=Box(x=300, y=100, width=100, height=40)))
    line = line_for(Drag(source=1, target=point(350, 130)), cards)
    assert line == "drag One to (0.5000, 0.7500) of Two"
    moved = seen(mark(1, "One"), mark(2, "Two", box=Box(x=300, y=200, width=100, height=40)))
    assert parse([line])[0].build(moved) == Drag(source=1, target=point(350, 230))


def test_lines_with_places_say_for_which_view_they_are() -> None:
    run = Run(id="r", task=Task(goal="Press"), provenance=Provenance(), started_at=PAGE.taken_at)
    for action, notes in ((Click(target=point(90, 80)), 1), (Click(target=1), 0)):
        decided = Decision(author="human", actions=(action,))
        outcome = Outcome(status="done", sentence="Done.")
        step = Step(
            index=1, observation=PAGE.model_copy(update={"viewport": Size(width=800, height=600)}), decision=decided,
            outcomes=(outcome,), started_at=PAGE.taken_at,
        )  # fmt: skip
        lines = render_lines(run.model_copy(update={"steps": (step,)}))
        assert lines.count("is right in a view of the recorded size only: --viewport 800x600") == notes


def test_a_line_names_a_row_by_more_than_the_word_that_is_only_here() -> None:
    people = seen(mark(1, "Cancel", context="Ann Smith 12"), mark(2, "Cancel", context="Ann Smithers 14"))
    line = line_for(Click(target=1), people)
    assert line == "click Cancel ‹Ann Smith›"
    next_week = seen(mark(1, "Cancel", context="Ann Smithers 14"), mark(2, "Cancel", context="Bob Smith 12"))
    with pytest.raises(NotFoundError):
        parse([line])[0].build(next_week)


def test_a_title_that_may_be_a_part_of_another_is_not_all_that_names_a_card() -> None:
    cards = seen(
        mark(1, "Buy", context="Mug of clay", title="Mug"), mark(2, "Buy", context="Tray for a Mug", title="Tray")
    )
    assert line_for(Click(target=1), cards) == "click Buy ‹Mug of clay›"


@pytest.mark.parametrize(
    ("written", "exported"),
    [
        ("click Delete in row Bob Jones", "click Delete in row Bob Jones"),
        ("click the 3rd Add", "click the 3rd Add"),
        ("click [3]", "click Delete ‹Bob Jones›"),  # a number is good for one look
        ("click Delete ‹Ann›", "click Delete ‹Bob Jones›"),  # which is not what was done
    ],
)
def test_a_line_that_somebody_wrote_is_kept_as_it_is(written: str, exported: str) -> None:
    action = Click(target=12) if "Add" in written else Click(target=3)
    assert list(lines_of(step(1, action, author="steps", next_goal=written, observation=PAGE))) == [exported]


@pytest.mark.parametrize("schema", [NOT_EMPTY, "[]", "{", '{"items": {"properties": {"a": 1}}}'])
def test_a_schema_that_asks_for_more_than_columns_and_their_types_has_no_line(schema: str) -> None:
    assert line_for(Extract(mark="Open orders", json_schema=schema), PAGE) is None


@pytest.mark.parametrize(
    ("author", "goal"), [("replay", "Look again for the target of step 3 of the record: it is gone"),
                         ("steps", "look again for: click Save")]
)  # fmt: skip
def test_a_pause_before_another_look_is_left_out_but_no_other(author: Any, goal: str) -> None:
    pause = step(1, Wait(seconds=0.5), author=author, next_goal=goal)
    assert list(lines_of(pause)) == []
    assert list(lines_of(step(1, Wait(seconds=0.5), author="model", next_goal=goal))) == ["wait 0.5"]
    assert list(lines_of(step(1, Wait(seconds=0.5), author=author))) == ["wait 0.5"]
    whole = render_test(run_of(steps=(step(1, author="steps"), pause, step(2, Wait(seconds=2), author="steps"))))
    assert goal not in whole
    assert whole.count("wait_for_timeout") == 1


@pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)
def test_every_action_has_a_line_or_is_said_to_have_none(kind: Any) -> None:
    action = of(kind)
    line = line_for(action, PAGE)
    if line is None:
        [line] = lines_of(step(1, action, observation=PAGE, outcome=Outcome(status="done", sentence="Did it.")))
        assert line == "# There is no line for this: Did it."
        # By `FIELDS`, what is ticked and set is a button, a list of these options is not here, and so on.
        assert kind in (Custom, Extract, Select, Read, Scroll) or not parse([line])


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), min_size=1, max_size=5))
def test_a_line_never_means_anything_else(names: list[str]) -> None:
    page = seen(*(mark(number, name) for number, name in enumerate(names, 1)))
    for number in range(1, len(names) + 1):
        line = line_for(Click(target=number), page)
        if line is not None:
            [read] = parse([line])
            assert read.build(page) == Click(target=number)


def test_what_only_a_number_tells_apart_is_not_written() -> None:
    """A number is good for one run only."""
    twins = seen(mark(1, ""), mark(2, ""))
    line = line_for(Click(target=2), twins)
    assert line is None or "[2]" not in line


def test_a_line_for_another_page_is_not_taken() -> None:
    with pytest.raises((NotFoundError, UsageError)):
        parse([line_for(Click(target=3), PAGE) or ""])[0].build(seen())


@pytest.mark.parametrize("name", ["shop", "seats", "board"])
async def test_a_site_is_used_again_by_the_lines_of_the_run_before(name: str, tmp_path: Path) -> None:
    task = tasks_of(SITES / name)[0]
    lines = list(task.steps)
    with served(SITES / name) as site:
        for turn in ("first", "second"):
            site.reset()
            agent = Agent(
                Task(goal=task.goal, start_url=site.start(task)),
                model=StepsModel(lines),
                settings=Settings(runs=tmp_path / turn),
            )
            await agent.run()
            verdict = reached(task.expect, site.state())
            assert verdict.reached, (lines, verdict.sentence)
            assert agent.folder is not None
            export(agent.folder, "steps", tmp_path / f"{turn}.txt")
            lines = (tmp_path / f"{turn}.txt").read_text("utf-8").splitlines()
            assert not [line for line in lines if "no line for this" in line]
    assert (tmp_path / "second.txt").read_text("utf-8").splitlines()[2:] == lines[2:]
