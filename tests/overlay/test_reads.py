"""Claims about how much of a page a scan reads: a form that is twice as long takes twice as long, and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import Page

from vision_agent.browser.page.overlay import script

COLUMNS = 6
STYLE = (
    "<style>* { margin: 0; padding: 0; font: 8px/9px sans-serif } input { height: 9px; width: 60px; border: 0 }</style>"
)

COUNT = """(engine) => {
  const get = Element.prototype.getAttribute;
  let reads = 0;
  Element.prototype.getAttribute = function (name) {
    reads++;
    return get.call(this, name);
  };
  engine();
  const { marks } = globalThis[Symbol.for('marks')].ask(document, document, { ask: 'scan', points: 1 });
  return [marks.rows.map((row) => row[1]), reads];
}"""


def _table(rows: int) -> str:
    head = "".join(f"<th>Day {n}" for n in range(COLUMNS))
    body = "".join(f"<tr><td>Ann {row}" + "<td><input>" * COLUMNS for row in range(rows))
    return f"<table><tr><th>Who{head}{body}</table>"


def _grid(rows: int) -> str:
    style = "<style>[role=row] { display: flex } [role=row] > * { width: 80px; height: 10px }</style>"
    head = "".join(f"<div role=columnheader>Day {n}</div>" for n in range(COLUMNS))
    cells = "<div role=gridcell><input></div>" * COLUMNS
    body = "".join(f"<div role=row><div role=gridcell>Ann {row}</div>{cells}</div>" for row in range(rows))
    return f"{style}<div role=grid><div role=row><div role=columnheader>Who</div>{head}</div>{body}</div>"


@pytest.mark.parametrize("made", [_table, _grid])
async def test_a_field_of_a_long_table_takes_no_more_reading_than_one_of_a_short_table(
    page: Page, made: Callable[[int], str]
) -> None:
    reads = {}
    for rows in (10, 50):
        await page.goto("about:blank")
        await page.set_content(STYLE + made(rows))
        names, count = await page.evaluate(f"({COUNT})(() => {script()})")
        assert len(names) == rows * COLUMNS
        assert {"Day 0", "Day 5"} <= set(names)
        reads[rows] = count / len(names)
    assert reads[50] < 1.3 * reads[10]
