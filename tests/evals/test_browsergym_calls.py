"""Claims about our actions in BrowserGym's words: each names an id or pixels, or is refused with a reason."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from typing import Any

import pytest
from browsergym_builder import Thing, button, entry, observation

from vision_agent import actions
from vision_agent.actions import (
    Action,
    Cell,
    Check,
    Click,
    CloseTab,
    Drag,
    Finish,
    Goto,
    Hold,
    Hover,
    Infeasible,
    Offset,
    OpenTab,
    Point,
    Press,
    Scroll,
    Select,
    Set,
    SwitchTab,
    Type,
    Wait,
)  # fmt: skip
from vision_agent.evals.browsergym.calls import _CALLS, _WHY_NOT, CallSet, calls_for
from vision_agent.evals.browsergym.look import Looks
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

CHECKED = {"checked": "true"}
TICK = Thing("15", "input", (10, 130, 20, 20), "checkbox", "Agree", attributes={"type": "checkbox"}, properties=CHECKED)
SIZES = Thing("16", "select", (10, 170, 80, 20), "combobox", "Size", options=("S", "M", "L"))
LIST = Thing("17", "div", (10, 210, 80, 20), "combobox", "Colour")
DATE = Thing("18", "input", (10, 250, 80, 20), "Date", "Day", attributes={"type": "date"})
TABS = [("http://a.test/", "A"), ("http://b.test/", "B")]


def seen(**image_limits: int) -> Observation:
    """Marks 1 to 6: button 12, field 13, tick 15, list 16, drawn list 17, date 18."""
    looks = Looks(ObserveSettings(), ImageLimits(**image_limits), lambda: datetime(2026, 3, 4, tzinfo=UTC))
    things = (button("12", "Send"), entry("13", "Name", top=60), TICK, SIZES, LIST, DATE)
    return looks.look(observation(*things, tabs=TABS))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Click(target=1), "click('12')"),
        (Click(target=1, button="right"), "click('12', button='right')"),
        (Click(target=1, modifiers=("Shift",)), "click('12', modifiers=['Shift'])"),
        (Click(target=1, count=2), "dblclick('12')"),
        (Click(target=Point(x=30, y=40)), "mouse_click(30, 40)"),
        (Click(target=Point(x=30, y=40), count=2), "mouse_dblclick(30, 40)"),
        (Hold(target=Point(x=30, y=40), seconds=2), "mouse_down(30, 40)\nnoop(2000)\nmouse_up(30, 40)"),
        (
            Press(keys="Shift+a", target=2, seconds=1),
            "focus('13')\nkeyboard_down('Shift')\nkeyboard_down('a')\nnoop(1000)\nkeyboard_up('a')\nkeyboard_up('Shift')",
        ),
        (
            Scroll(target=Point(x=5, y=6), direction="up", px=100, modifiers=("Control",)),
            "keyboard_down('Control')\nscroll_at(5, 6, 0, -100)\nkeyboard_up('Control')",
        ),
        (Type(target=2, text="a \"b\" 'c'\n#d"), "fill('13', 'a \"b\" \\'c\\'\\n#d')"),
        (Type(target=2, text="a", submit=True), "fill('13', 'a')\npress('13', 'Enter')"),
        (Type(target=2, text="b", clear=False), "press('13', 'ControlOrMeta+End')\nkeyboard_type('b')"),
        (
            Type(target=Point(x=5, y=6), text="b"),
            "mouse_click(5, 6)\nkeyboard_press('ControlOrMeta+a')\nkeyboard_press('Delete')\nkeyboard_type('b')",
        ),
        (Select(target=4, options=("M",)), "select_option('16', 'M')"),
        (Select(target=4, options=("M", "L")), "select_option('16', ['M', 'L'])"),
        (Check(mark=3, checked=False), "click('15')"),
        (Set(mark=6, value="2026-02-03"), "fill('18', '2026-02-03')"),
        (Press(keys="Enter"), "keyboard_press('Enter')"),
        (Press(keys="ArrowDown", target=2, count=2), "press('13', 'ArrowDown')\npress('13', 'ArrowDown')"),
        (Press(keys="a", target=Point(x=5, y=6)), "mouse_click(5, 6)\nkeyboard_press('a')"),
        (Hover(target=1), "hover('12')"),
        (Hover(target=Point(x=5, y=6)), "mouse_move(5, 6)"),
        (Scroll(pages=0.5), "scroll(0, 150)"),
        (Scroll(direction="up", to="end"), "scroll(0, -100000)"),
        (Scroll(direction="right", target=1, pages=1), "scroll_at(50.0, 22.0, 80, 0)"),
        (Drag(source=1, target=2), "drag_and_drop('12', '13')"),
        (
            Drag(source=1, target=2, modifiers=("Shift",)),
            "keyboard_down('Shift')\ndrag_and_drop('12', '13')\nkeyboard_up('Shift')",
        ),
        (Drag(source=1, target=Point(x=200, y=100)), "mouse_drag_and_drop(50.0, 22.0, 200, 100)"),
        (Drag(source=1, target=Offset(right=30, down=-5)), "mouse_drag_and_drop(50.0, 22.0, 80.0, 17.0)"),
        (
            Drag(source=Point(x=1, y=2), target=Point(x=9, y=9), path=(Point(x=5, y=5),)),
            "mouse_down(1, 2)\nmouse_move(5, 5)\nmouse_up(9, 9)",
        ),
        (
            Drag(source=Point(x=1, y=2), target=Offset(right=0, down=0), path=(Offset(right=4, down=3),)),
            "mouse_down(1, 2)\nmouse_move(5, 5)\nmouse_up(1, 2)",
        ),
        (Goto(url="http://c.test/"), "goto('http://c.test/')"),
        (actions.Back(), "go_back()"),
        (actions.Forward(), "go_forward()"),
        (OpenTab(url="http://c.test/"), "new_tab()\ngoto('http://c.test/')"),
        (SwitchTab(tab=2), "tab_focus(1)"),
        (CloseTab(tab=1), "tab_close()"),
        (CloseTab(tab=2), "tab_focus(1)\ntab_close()"),
        (Wait(seconds=1.5), "noop(1500)"),
        (Finish(answer="42"), "send_msg_to_user('42')"),
        (Finish(), "send_msg_to_user('Done.')"),
        (Infeasible(reason="no such thing"), "report_infeasible('no such thing')"),
    ],
)
def test_an_action_is_said_in_calls(action: Action, said: str) -> None:
    told = calls_for(action, seen())
    assert isinstance(told, str)
    assert _numbers_as_floats(told) == _numbers_as_floats(said)


def _numbers_as_floats(said: str) -> list[Any]:
    """Each call as its name and arguments, which must be literals."""
    calls = [line.value for line in ast.parse(said).body if isinstance(line, ast.Expr)]
    return [
        (
            call.func.id,
            [ast.literal_eval(each) for each in call.args],
            {each.arg: ast.literal_eval(each.value) for each in call.keywords},
        )
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    ]


@pytest.mark.parametrize(
    ("action", "refusal", "sentence"),
    [
        (Click(target=99), "unknown_mark", "no mark 99"),
        (Click(target=Cell(mark=1, row=1, column=1)), "unsupported", "rows and columns"),
        (Click(target=Point(x=999, y=4)), "outside", "400×300"),
        (Click(target=1, count=3), "unsupported", "triple"),
        (Click(target=Point(x=3, y=4), modifiers=("Shift",)), "unsupported", "cannot hold keys"),
        (Select(target=4, options=("XL",)), "not_an_option", "do not include XL"),
        (Select(target=5, options=("Red",)), "unsupported", "only from native lists"),
        (Select(target=4, options=("M",), change="add"), "unsupported", "all options of a list at once"),
        (Select(target=Point(x=3, y=4), options=("Red",)), "unsupported", "name a mark"),
        (Check(mark=1, checked=True), "unsupported", "click it instead"),
        (Set(mark=5, value="3"), "unsupported", "native inputs"),
        (Scroll(target=1, to="middle"), "unsupported", "by pixels"),
        (Drag(source=1, target=Offset(right=-90, down=0)), "outside", "is outside"),
        (Press(keys="Tab", count=100), "unsupported", "at most 30"),
        (SwitchTab(tab=7), "unsupported", "there are 2"),
        (actions.Reload(), "unsupported", "goto instead"),
        (actions.Upload(mark=1, files=("a.pdf",)), "unsupported", "has no files"),
        (actions.Zoom(target=1), "unsupported", "no closer"),
        (actions.Read(), "unsupported", "listing"),
        (actions.Extract(mark=1, json_schema="{}"), "unsupported", "listing"),
        (actions.SelectText(first="a", last="b"), "unsupported", "drag"),
        (actions.Ask(question="Which?"), "unsupported", "Nobody answers"),
        (actions.Custom(name="mine"), "unsupported", "own browser"),
    ],
)
def test_what_cannot_be_said_is_refused_with_a_way_out(action: Action, refusal: str, sentence: str) -> None:
    told = calls_for(action, seen())
    assert isinstance(told, Outcome)
    assert (told.status, told.refusal) == ("refused", refusal)
    assert sentence in told.sentence


def test_every_action_that_a_model_may_choose_is_said_or_refused_with_its_own_reason() -> None:
    kinds = {action.model_fields["kind"].default for action in actions.ACTIONS}
    assert kinds | {"custom"} == _CALLS.keys() | _WHY_NOT.keys()
    assert not _CALLS.keys() & _WHY_NOT.keys()


def test_what_is_ticked_already_is_left_alone() -> None:
    told = calls_for(Check(mark=3, checked=True), seen())
    assert isinstance(told, Outcome)
    assert (told.status, told.effect) == ("done", "as_wanted")


def test_points_are_mapped_to_the_screenshot_where_the_picture_was_shrunk() -> None:
    half = seen(longest_edge=200)
    assert calls_for(Click(target=Point(x=30, y=40)), half) == "mouse_click(60.0, 80.0)"
    said = calls_for(Drag(source=1, target=Offset(right=10, down=0)), half)
    assert said == "mouse_drag_and_drop(50.0, 22.0, 70.0, 22.0)"


def test_the_page_is_scrolled_beside_what_scrolls_by_itself() -> None:
    """BrowserGym turns the wheel where the pointer was left."""
    looks = Looks(ObserveSettings(), ImageLimits(), lambda: datetime(2026, 3, 4, tzinfo=UTC))
    feed = Thing("2", "div", (0, 0, 300, 300), holds=900)
    assert calls_for(Scroll(pages=0.5), looks.look(observation(feed))) == "scroll_at(333, 150, 0, 150)"
    all_of_it = Thing("2", "div", (0, 0, 400, 300), holds=900)
    assert calls_for(Scroll(pages=0.5), looks.look(observation(all_of_it))) == "scroll(0, 150)"


def test_the_code_for_a_call_is_left_to_browsergym() -> None:
    code = CallSet().to_python_code("click('12')\nnoop(0)")
    ast.parse(code)
    assert "HighLevelActionSet" in code
    assert repr("click('12')\nnoop(0)") in code


def test_the_set_describes_itself_as_browsergym_asks() -> None:
    assert "click('12')" in CallSet().describe(with_long_description=False, with_examples=True)
    assert CallSet().example_action(abstract=False) == "click('12')"
    assert hash(CallSet()) == hash(CallSet())
