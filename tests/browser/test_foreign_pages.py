"""Claims about pages that others made, as they are: documentation, TodoMVC builds, admin dashboards.

What is about a whole page is acted here on at least three of them, and what came of it is asked of the page.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.hand import Hand
from tests.browser.libraries import Foreign, beside, done, only
from vision_agent.actions import (
    Action,
    Back,
    Check,
    Click,
    CloseTab,
    Drag,
    Extract,
    Forward,
    Goto,
    Hover,
    OpenTab,
    Read,
    Reload,
    Scroll,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Type,
    Upload,
    Wait,
    Zoom,
)

thorough = pytest.mark.thorough

STAFF = """{"type": "array", "items": {"type": "object", "properties":
    {"Name": {"type": "string"}, "Age": {"type": "integer", "minimum": 18}}}}"""
DRIVERS = """{"type": "array", "items": {"type": "object", "properties":
    {"Name": {"type": "string"}, "Company": {"type": "string"}}}}"""


async def _came_to(hand: Hand, action: Action, effect: str = "navigated") -> str:
    """The title of the page that an action brought to the front."""
    outcome = await hand.act(action)
    assert (outcome.status, outcome.effect) == ("done", effect), outcome.sentence
    return (await hand.look()).title


def _begins(hand: Hand, words: str) -> int:
    """The number of the one mark whose name begins so."""
    return only(hand, lambda mark: mark.name.startswith(words)).number


@pytest.mark.parametrize(
    ("package", "path", "other", "first", "second"),
    [
        ("layui-src", "examples/button.html", "rate.html", "按钮", "评分"),
        pytest.param("npm", "commands/npm-ci.html", "../using-npm/scope.html", "npm-ci", "Scope", marks=thorough),
        pytest.param("todomvc", "vanillajs/index.html", "../jquery/index.html", "VanillaJS", "jQuery", marks=thorough),
        pytest.param("startbootstrap-sb-admin-2", "index.html", "tables.html", "Dashboard", "Tables", marks=thorough),
    ],
)
async def test_a_site_is_walked_through_by_addresses_history_and_tabs(
    foreign: Foreign, package: str, path: str, other: str, first: str, second: str
) -> None:
    async with foreign(package, path) as hand:
        nowhere = await hand.act(Forward())
        assert (nowhere.effect, first in hand.seen.title) == ("no_effect", True), nowhere.sentence
        await hand.look()

        assert second in await _came_to(hand, Goto(url=other))
        assert first in await _came_to(hand, Back())
        assert second in await _came_to(hand, Forward())
        await hand.js("was = 1")
        assert second in await _came_to(hand, Reload())
        assert await hand.js("!window.was"), "it is another document"

        assert first in await _came_to(hand, OpenTab(url=f"{hand.address}/{path}"), "new_tab")
        assert second in await _came_to(hand, SwitchTab(tab=1), "changed")
        assert await hand.js("document.visibilityState") == "visible"
        await done(hand, CloseTab(tab=2))
        assert [tab.url for tab in hand.seen.tabs] == [hand.page.url]

        last = await hand.act(CloseTab(tab=1))
        script = await hand.act(Goto(url="javascript:was = 2"))
        assert (last.refusal, script.refusal) == ("unsupported", "blocked")
        assert await hand.js("!window.was")
        missing = await hand.act(Goto(url="nowhere.html"))
        assert (missing.effect, "nowhere.html. The page answered 404" in missing.sentence) == ("navigated", True)


@thorough
async def test_a_manual_is_scrolled_and_read(foreign: Foreign) -> None:
    async with foreign("npm", "commands/npm-ci.html") as hand:
        view, page = await hand.act(Read(what="view")), await hand.act(Read(what="page"))
        assert ["Clean install a project" in each.read for each in (view, page)] == [True, True]
        assert ["See Also" in each.read for each in (view, page)] == [False, True]

        await done(hand, Scroll(target=hand.number("include-workspace-root"), to="middle"))
        entry = await hand.js("document.querySelector('[href=\"#include-workspace-root\"]').getBoundingClientRect().y")
        assert 380 < entry < 420
        was = await hand.js("scrollY")
        await done(hand, Scroll())
        assert await hand.js("scrollY") == was + 640
        await hand.act(SelectText(first="This command is similar", last="npm install"))
        assert await hand.js("getSelection().toString()") == "This command is similar to npm install"
        await done(hand, Scroll(to="end"))
        assert await hand.js("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
        assert "See Also" in (await hand.act(Read(what="view"))).read
        end = await hand.act(Scroll())
        assert (end.effect, "it is at its end" in end.sentence) == ("no_effect", True)

        shown = await hand.act(Wait(text="See Also", seconds=0.3))
        missing = await hand.act(Wait(text="Clean uninstall", seconds=0.3))
        still = await hand.act(Wait(change=True, seconds=0.3))
        assert [each.refusal for each in (shown, missing, still)] == [None, "timed_out", "timed_out"]


@thorough
async def test_todos_are_written_ticked_filtered_and_kept(foreign: Foreign) -> None:
    todos = "JSON.parse(localStorage['todos-vanillajs']).todos.map((each) => [each.title, each.completed])"
    async with foreign("todomvc", "vanillajs/index.html") as hand:
        for todo in ("Milk", "Bread"):
            await done(hand, Type(target=hand.number("What needs to be done?"), text=todo, submit=True))
        await done(hand, Check(mark=hand.number("Milk"), checked=True))
        again = await hand.act(Check(mark=hand.number("Milk"), checked=True))
        assert (again.effect, await hand.js(todos)) == ("as_wanted", [["Milk", True], ["Bread", False]])

        await _came_to(hand, Click(target=hand.number("Active")), "same_document")
        left = await hand.act(Read(what="page"))
        assert left.read.startswith("todos\nBread\n1 item left")
        await _came_to(hand, Back(), "same_document")
        assert hand.number("Milk"), "the filter is off again, and that was no other page"

        await _came_to(hand, Reload())
        bread = only(hand, lambda mark: mark.name == "Bread")
        await done(hand, Click(target=beside(hand, bread, x=60), count=2))
        field = only(hand, lambda mark: mark.state.value == "Bread").number
        await done(hand, Type(target=field, text="Rye", submit=True))
        assert await hand.js(todos) == [["Milk", True], ["Rye", False]]

        await done(hand, Hover(target=hand.number("Milk")))
        await done(hand, Click(target=hand.number("✖")))
        assert await hand.js(todos) == [["Rye", False]]


@thorough
async def test_a_table_of_a_dashboard_is_narrowed_down_sorted_and_extracted(foreign: Foreign) -> None:
    async with foreign("startbootstrap-sb-admin-2", "tables.html") as hand:
        await done(hand, Select(target=hand.number("Show entries"), options=("25",)))
        missing = await hand.act(Select(target=hand.number("Show entries"), options=("30",)))
        assert missing.sentence.endswith('no option "30"; it offers "10", "25", "50", "100".')
        await done(hand, Type(target=hand.number("Search:"), text="London"))
        await done(hand, Click(target=only(hand, lambda mark: mark.name.startswith("Age")).number))

        age = only(hand, lambda mark: mark.name.startswith("Age")).number
        extracted = await hand.act(Extract(mark=age, json_schema=STAFF))
        assert extracted.read, extracted.sentence
        rows = json.loads(extracted.read)
        assert rows[:2] == [{"Name": "Tatyana Fitzpatrick", "Age": 19}, {"Name": "Lael Greer", "Age": 21}]
        assert len(rows) == await hand.js("$('#dataTable').DataTable().page.info().recordsDisplay")
        table, view = await hand.act(Read(what="table", mark=age)), await hand.act(Read(what="view"))
        assert table.read.startswith("Name | Position | Office | Age | Start date | Salary\nTatyana Fitzpatrick | ")
        assert ["Lael Greer" in each.read for each in (table, view)] == [True, True]

        wrong = await hand.act(Extract(mark=age, json_schema=STAFF.replace("Age", "Wage")))
        assert (wrong.refusal, 'no column "Wage"' in wrong.sentence) == ("not_an_option", True)


@thorough
async def test_a_card_of_a_board_is_looked_at_closer_and_dragged_to_another_column(foreign: Foreign) -> None:
    async with foreign("gentelella", "production/kanban.html") as hand:
        assert (await hand.act(Zoom(target=_begins(hand, "Eng Implement")))).effect == "zoomed"
        await hand.look()
        assert hand.seen.region is not None
        assert hand.seen.region.width < 640
        await done(hand, Drag(source=_begins(hand, "Design Design product"), target=_begins(hand, "Bug Eng Fix")))
        assert await hand.js(
            "[...document.querySelectorAll('[data-drop=review] .kanban-card-title')].map((each) => each.textContent)"
        ) == ["Design product detail page", "Fix DataTables sort indicators", "Notifications dropdown"]

        await done(hand, Scroll(target=hand.number("Invoice"), to="middle"))
        assert await hand.js("document.querySelector('nav').scrollTop > 100")


@thorough
async def test_every_kind_of_field_that_a_browser_brings_is_set(foreign: Foreign) -> None:
    values = {
        "Date": "2026-02-14",
        "Time": "14:30",
        "Date and time": "2026-02-14T14:30",
        "Month": "2026-05",
        "Week": "2026-W06",
        "Range slider": "70",
        "Number": "2030",
        "Color": "#ff8800",
    }
    wrong = {"Date": "14.2.2026", "Time": "25:00", "Week": "soon", "Range slider": "500", "Color": "orange"}
    async with foreign("gentelella", "production/form_advanced.html") as hand:
        for name, value in values.items():
            assert (await done(hand, Set(mark=hand.number(name), value=value))).value == value
        for name, value in wrong.items():
            refused = await hand.act(Set(mark=hand.number(name), value=value))
            assert refused.status == "refused", refused.sentence
        held = await hand.js("[...document.querySelectorAll('main input')].map((each) => each.value)")
        assert sorted(set(held) & set(values.values())) == sorted(values.values())

        palette = await hand.act(Type(target=hand.number("Open command palette"), text="Inbox"))
        assert (palette.refusal, "is read-only: it takes no text" in palette.sentence) == ("disabled", True)
        tags = await done(hand, Select(target=hand.number("Tags"), options=("engineering", "sales")))
        assert tags.value == "engineering, sales"


@thorough
async def test_a_file_is_given_to_a_place_that_files_are_dropped_on(foreign: Foreign, tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"no picture")
    async with foreign("gentelella", "production/form_upload.html", files=(photo,)) as hand:
        place = _begins(hand, "Drop files here")
        unknown = await hand.act(Upload(mark=place, files=("passwords.txt",)))
        assert (unknown.refusal, "the task's files are photo.png" in unknown.sentence) == ("blocked", True)

        await done(hand, Upload(mark=place, files=("photo.png",)))
        assert await hand.js("document.querySelector('[type=file]').files[0].name") == "photo.png"


async def test_boxes_buttons_a_slider_and_a_list_of_a_style_guide_are_set(foreign: Foreign) -> None:
    async with foreign("98.css", "index.html") as hand:
        await _came_to(hand, Click(target=hand.number("Checkbox")), "same_document")
        await done(hand, Check(mark=hand.number("This is a checkbox"), checked=True))
        await done(hand, Check(mark=hand.number("I am checked"), checked=False))
        await done(hand, Check(mark=hand.number("Yes"), checked=True))
        assert await hand.js("[example1.checked, example2.checked, radio5.checked]") == [True, False, True]
        off = await hand.act(Check(mark=hand.number("I am inactive"), checked=True))
        radio = await hand.act(Check(mark=hand.number("Yes"), checked=False))
        link = await hand.act(Check(mark=hand.number("Slider"), checked=True))
        assert [each.refusal for each in (off, radio, link)] == ["disabled", "unsupported", "unsupported"]
        assert await hand.js("[example3.checked, radio5.checked]") == [False, True]

        await _came_to(hand, Click(target=hand.number("Slider")), "same_document")
        moved = await done(hand, Set(mark=hand.number("Low"), value="9"))
        beyond = await hand.act(Set(mark=hand.number("Low"), value="12"))
        assert (moved.value, beyond.refusal) == ("9", "not_an_option")
        stars = only(hand, lambda mark: mark.tag == "select").number
        chosen = await done(hand, Select(target=stars, options=("3 - pretty good",)))
        assert chosen.value == "3 - Pretty good"
        held = await hand.js("['[type=range]', 'select'].map((each) => document.querySelector(each).value)")
        assert held == ["9", "3 - Pretty good"]


async def test_a_table_of_a_style_guide_is_scrolled_read_and_looked_at_closer(foreign: Foreign) -> None:
    async with foreign("98.css", "index.html") as hand:
        await _came_to(hand, Click(target=hand.number("TableView")), "same_document")
        rows = [mark for mark in hand.seen.marks if mark.tag == "tr"]
        extracted = await hand.act(Extract(mark=rows[0].number, json_schema=DRIVERS))
        assert extracted.read, extracted.sentence
        assert json.loads(extracted.read)[0] == {"Name": "MySQL ODBC 3.51 Driver", "Company": "MySQL AB"}
        view, table = await hand.act(Read(what="view")), await hand.act(Read(what="table", mark=rows[0].number))
        assert "To render a table view" in view.read
        page = await hand.act(Read(what="page"))
        assert ["A check box represents" in each.read for each in (view, page)] == [False, True]
        assert table.read.startswith("Name | Version | Company\nMySQL ODBC 3.51 Driver | 3.51.11.00 | MySQL AB\n")

        panel = only(hand, lambda mark: mark.kind == "scroller").number
        scrolled = await done(hand, Scroll(target=panel, to="end"))
        assert "0 px remain below" in scrolled.sentence
        await done(hand, Scroll(target=panel, direction="right", to="end"))
        far = await hand.js("((box) => [box.scrollLeft, box.scrollTop])(document.querySelector('table').parentNode)")
        assert min(far) > 20
        shown = rows[-1].number
        await done(hand, Scroll(target=shown, to="middle"))

        assert (await hand.act(Zoom(target=shown))).effect == "zoomed"
        await hand.look()
        await done(hand, Click(target=shown))
        assert await hand.js("document.querySelector('tr.highlighted').rowIndex") == len(rows)
