"""Claims about rows that are named by a value of a table: all of what stands there, and nothing more, is the value."""

from __future__ import annotations

import re
from html import escape

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from tests.looks import look_at
from vision_agent.actions import Click
from vision_agent.batch import Row
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import AmbiguousError, NotFoundError
from vision_agent.observation import Observation
from vision_agent.policy.rebind import RebindError, rebind_mark


def table(*rows: str, head: str = "td") -> str:
    cells = [[escape(cell) for cell in row.split(" | ")] for row in rows]
    made = (f"<{head}>{first}</{head}>{''.join(f'<td>{each}' for each in rest)}" for first, *rest in cells)
    return f"<table>{''.join(f'<tr>{row}<td><button>Pay</button>' for row in made)}</table>"


def items(*rows: str) -> str:
    return f"<ul>{''.join(f'<li>{row} <button>Pay</button>' for row in rows)}</ul>"


async def seen(page: Page, serve: Server, body: str) -> Observation:
    return await look_at(page, serve({"/": f"<meta charset=utf-8><title>Page</title>{body}"}))


@pytest.mark.parametrize(
    ("body", "value", "row"),
    [
        (table("Ann | 3", "Ann within 2 s | 4", head="th"), "Ann within 2 s", 2),
        (table("Ann | 3", "Ann within 2 s | 4"), "Ann within 2 s", 2),
        (table("Ann | 3", "Ann within 2 s | 4"), "Ann", 1),
        (table("[1] | Oslo", "[2] | Rome", head="th"), "[1]", 1),
        (table("[1] | Oslo", "2 | Rome"), "[1]", 1),
        (table("Ann | Berlin", "Ann Lee | Rome"), "Ann", 1),
        (table("Ann | 3 times for Ann Lee", "Bob | paid"), "Ann", 1),
        (table("1001 | Mug | €5.00", "1002 | Hat | €7.00"), "mug", 1),
        (table("Ann | Lee", "Ann | Miller"), "Ann Lee", 1),
        (table("Timer | €5", "Timer 5 min | €5", head="th"), "Timer", 1),
        (items("Ann Lee", "Bob"), "Ann Lee", 1),
        (items("<a href=#>Mug</a> €5", "<a href=#>Mug Blue</a> €9"), "Mug", 1),
        (items("<img alt=Photo width=9 height=9> Ann Lee, ", "Bob"), "Ann Lee", 1),
        (items("Ann Lee <span style='padding: 2px; background: #dfd'>Admin</span>", "Bob"), "Ann Lee", 1),
        (items("Ann Lee<br>Berlin", "Bob<br>Rome"), "Ann Lee", 1),
        (items("<div>Ann Lee</div><div>2 min ago</div>", "<div>Bob</div><div>5 min ago</div>"), "Ann Lee", 1),
        ("<h2>Ann Lee</h2><button>Pay</button><h2>Bob</h2><button>Pay</button>", "Ann Lee", 1),
        ("<p>Ann Lee</p><button>Pay</button><p>Bob</p><button>Pay</button>", "Ann Lee", 1),
        ("<div role=dialog aria-label=Bill><p>Ann</p><button>Pay</button></div>", "Ann", 1),
    ],
)
async def test_the_row_in_which_the_value_stands_by_itself_is_pressed(
    page: Page, serve: Server, body: str, value: str, row: int
) -> None:
    look = await seen(page, serve, body)
    pays = [mark.number for mark in look.marks if mark.name == "Pay"]
    for line in ("click Pay in row {v}", "click Pay ‹{v}›"):
        [action] = parse(Row(number=1, values={"v": value}).fill_lines([line]))
        assert action.build(look) == Click(target=pays[row - 1])


@pytest.mark.parametrize(
    ("body", "value", "instead"),
    [
        (table("Timer 5 min | €5", head="th"), "Timer", "Timer 5 min"),
        (table("Timer 5 min | €5", "Hat | €5", head="th"), "Timer", "Timer 5 min"),
        (table("Timer 5 min | Timer", "Hat | €5", head="th"), "Timer", "Timer 5 min"),
        (table("Timer 5 min | €5", "Hat | €5"), "Timer", "Timer 5 min"),
        (table("Ann Lee | Berlin", "Bob | Rome"), "Ann", "Ann Lee"),
        (table("Ann Lee | Berlin"), "Ann", "Ann Lee"),
        (items("Ann Lee", "Bob"), "Ann", "Ann Lee"),
        (items("Ann <b>Lee</b>", "Bob"), "Ann", "Ann Lee"),
        (items("<span>Ann</span> <span>Lee</span>", "Bob"), "Ann", "Ann Lee"),
        (items("Lee, Ann", "Bob"), "Ann", "Lee, Ann"),
        ("<h2>Ann Lee</h2><button>Pay</button><h2>Bob</h2><button>Pay</button>", "Ann", "Ann Lee"),
        (table("[1] | Oslo", "[2] | Rome", head="th"), "1", ""),
        (table("Anne | Oslo", "Bob | Rome"), "Ann", ""),
    ],
)
async def test_a_row_that_only_has_the_value_among_other_words_is_named_and_not_pressed(
    page: Page, serve: Server, body: str, value: str, instead: str
) -> None:
    look = await seen(page, serve, body)
    [action] = parse(Row(number=1, values={"v": value}).fill_lines(["click Pay in row {v}"]))
    says = f"{instead!r} has more words, so it may be another" if instead else f"No 'Pay' here has {value!r} in its row"
    with pytest.raises(NotFoundError, match=re.escape(says)):
        action.build(look)


@pytest.mark.parametrize("name", ["=1+1", "# note", "1+1", "C#", "Order 7"])
async def test_a_row_is_named_by_hand_with_the_signs_that_it_has(page: Page, serve: Server, name: str) -> None:
    rows = ("Ann", "=1+1", "# note", "1+1", "C#", "Order 7", "7")
    look = await seen(page, serve, table(*rows))
    pays = [mark.number for mark in look.marks if mark.name == "Pay"]
    [action] = parse([f'click Pay in row "{name}"'])
    assert action.build(look) == Click(target=pays[rows.index(name)])


@pytest.mark.parametrize(
    ("name", "rows", "row"),
    [
        ("A", "A A- A+", 1),
        ("A-", "A A- A+", 2),
        ("A+", "A A- A+", 3),
        ("C-", "B C D", None),
        ("C", "B C- D", None),
        ("C*", "B C D", None),
        ("x", "-x x2", None),
        ("AB-", "AB− AB+", 1),
        ("Zoom -", "Zoom_- Zoom_+ Zoom", 1),
        ("Zoom +", "Zoom_- Zoom_+ Zoom", 2),
        ("Zoom", "Zoom_- Zoom_+ Zoom", 3),
        ("Zoom", "Zoom_- Zoom_+", None),
        ("Zoom -", "Zoom_+ Zoom", None),
        ("Ann", "Ann_|_- Bob_|_+", 1),
        ("Eve - Rome", "Eve_—_Rome Bob", 1),
        ("Ann:", "Ann Bob", 1),
    ],
)
async def test_a_row_that_differs_in_a_sign_is_another_row(
    page: Page, serve: Server, name: str, rows: str, row: int | None
) -> None:
    look = await seen(page, serve, table(*(each.replace("_", " ") for each in rows.split())))
    pays = [mark.number for mark in look.marks if mark.name == "Pay"]
    [action] = parse([f'click Pay in row "{name}"'])
    if row is None:
        with pytest.raises(NotFoundError, match=f"No 'Pay' here has {re.escape(repr(name))} in its row"):
            action.build(look)
    else:
        assert action.build(look) == Click(target=pays[row - 1])


def spanned(cell: str) -> str:
    """Two names with two rows each, and a button in each row."""
    first = (f"<tr><{cell}>{name}<td>A<td><button>Pay</button>" for name in ("Ann", "Bob"))
    return f"<table>{''.join(f'{row}<tr><td>B<td><button>Pay</button>' for row in first)}</table>"


@pytest.mark.parametrize("cell", ["td rowspan=2", "th rowspan=2", "td rowspan=2 style='vertical-align: top'"])
async def test_a_cell_that_spans_rows_belongs_to_each_of_them(page: Page, serve: Server, cell: str) -> None:
    look = await seen(page, serve, spanned(cell))
    pays = [mark.number for mark in look.marks if mark.name == "Pay"]
    assert [line.split(" ‹")[1] for line in look.listing.splitlines() if "Pay" in line] == [
        "Ann A›",
        "Ann B›",
        "Bob A›",
        "Bob B›",
    ]
    for row, name in enumerate(("Ann A", "Ann B", "Bob A", "Bob B")):
        [action] = parse([f"click Pay in row {name}"])
        assert action.build(look) == Click(target=pays[row])
    for value in ("Ann", "B"):
        lines = ["click Pay in row {v}"]
        for line in (lines[0].format(v=value), *Row(number=1, values={"v": value}).fill_lines(lines)):
            [action] = parse([line])
            with pytest.raises(AmbiguousError, match=r"could be any of \[\d\] button 'Pay' ‹\w+ \w›, \[\d\] button"):
                action.build(look)


async def test_a_row_below_a_cell_that_spans_it_is_named_by_its_own_time_and_words(page: Page, serve: Server) -> None:
    look = await seen(
        page,
        serve,
        "<table><tr><td rowspan=2><h3>Fruit</h3><td>11:00<td>Apple<td><button>Pay</button>"
        "<tr><td>12:00<td>Pear<td><button>Pay</button></table>",
    )
    pays = [mark.number for mark in look.marks if mark.name == "Pay"]
    for name in ("12:00", "Pear"):
        [action] = parse([f"click Pay in row {name}"])
        assert action.build(look) == Click(target=pays[1])
    [action] = parse(["click Pay in row Fruit"])
    with pytest.raises(AmbiguousError):
        action.build(look)


@pytest.mark.parametrize("negative", ["-5", "- 5", "− 5,00 €", "<span>-</span> 5"])
async def test_a_row_of_a_negative_number_is_not_that_of_the_positive_one(
    page: Page, serve: Server, negative: str
) -> None:
    rows = "<table><tr><td>%s<td><button>Pay</button><tr><td>7<td><button>Pay</button></table>"
    was = await seen(page, serve, rows % negative)
    now = await seen(page, serve, rows % re.sub(r"<span>-</span>|^[-−]", "", negative))
    with pytest.raises(RebindError):
        rebind_mark(1, was, now)
