"""Claims about rows that are named by the time of day that they begin with."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from tests.looks import look_at
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import AmbiguousError, NotFoundError
from vision_agent.observation import Observation


def table(*rows: str) -> str:
    cells = ("".join(f"<td>{cell}" for cell in row.split(" | ")) for row in rows)
    return f"<h1>Slots</h1><table>{''.join(f'<tr>{row}<td><button>Book</button>' for row in cells)}</table>"


async def seen(page: Page, serve: Server, body: str) -> Observation:
    return await look_at(page, serve({"/": f"<meta charset=utf-8><title>Page</title>{body}"}))


@pytest.mark.parametrize(
    ("rows", "named", "row"),
    [
        (["10:00 | Room A", "11:00 | Room B"], "11:00", 2),
        (["10:00 | 3 seats", "11:00 | 3 seats"], "11:00", 2),
        (["10:00 am | Room A", "11:00 am | Room B"], "11:00", 2),
        (["11:00am | Room A", "11:00pm | Room B"], "11:00pm", 2),
        (["10:00–11:00 | Room A", "11:00–12:00 | Room B"], "11:00", 2),
        (["9:10 | Rome 11:00", "11:00 | Oslo 13:00"], "11:00", 2),
        (["11:00 | Room A"], "11:00", 1),
        (["11:00 | Room A", "11:00 | Room B"], "11:00", None),
        (["11:00am | Room A", "11:00pm | Room B"], "11:00", None),
        (["10:00 | Room A", "11:00 | Room B"], "1:00", 0),
        (["Rome 11:00 | Room A", "Oslo 12:00 | Room B"], "11:00", 0),
    ],
)
async def test_a_row_is_named_by_the_time_that_it_alone_begins_with(
    page: Page, serve: Server, rows: list[str], named: str, row: int | None
) -> None:
    look = await seen(page, serve, table(*rows))
    books = [mark.number for mark in look.marks if mark.name == "Book"]
    for line in (f"click Book in row {named}", f"click Book ‹{named}›"):
        [action] = parse([line])
        if row:
            assert action.build(look).target == books[row - 1]  # type: ignore[attr-defined]
            continue
        with pytest.raises(AmbiguousError if row is None else NotFoundError):
            action.build(look)
