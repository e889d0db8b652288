"""Claims about names of step lines on pages whose words could be taken for others: in negations, headings and rows."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent import attach

LOG = """<meta charset=utf-8><title>Page</title><output id=told></output><script>
addEventListener('click', ({target}) => { told.value += `${target.closest('[data-id]')?.dataset.id ?? ''};` })</script>
"""


async def pressed(page: Page, serve: Server, body: str, *lines: str) -> tuple[str, list[str]]:
    """What was pressed on a page, and what came of each line."""
    await page.goto(serve({"/": LOG + body}))
    async with attach(page) as browser:
        outcomes = [await browser.do(line) for line in lines]
    return await page.evaluate("told.value"), [each.sentence for each in outcomes]


async def test_a_button_and_a_box_that_deny_what_a_line_says_are_left_alone(page: Page, serve: Server) -> None:
    body = """<button data-id=no>Do not accept</button>
    <label><input type=checkbox data-id=terms> I do not agree to the terms</label>"""
    was, [accept, agree] = await pressed(page, serve, body, "click Accept", "check agree to the terms")
    assert was == ""
    assert "'Do not accept' is not taken for it: its other words may make it the opposite" in accept
    assert "'I do not agree to the terms' is not taken for it" in agree


TEAMS = """<h2>Ann</h2><ul><li data-id=Bob>Bob <button>Delete</button></ul>
<h2>Bob</h2><ul><li data-id=Cid>Cid <button>Delete</button></ul>"""


async def test_a_row_is_not_the_one_under_a_heading_of_its_name(page: Page, serve: Server) -> None:
    lines = ["click Delete ‹Bob›", "click Delete in row Bob", "click Delete ‹Bob, Ann›", "click Delete ‹Cid›"]
    was, [first, *_] = await pressed(page, serve, TEAMS, *lines)
    assert "could be any of [1] button 'Delete' ‹Bob, Ann›, [2] button 'Delete' ‹Cid›" in first
    assert was == "Bob;Bob;Cid;"


def nested(row: str, rows: str) -> str:
    """Folders `Archive` with `Reports` in it, and `Reports` with `2026` in it, each with a button."""
    made = [row.format(id=id, name=id.split("/")[-1], rows="{rows}") for id in ("A/Reports", "R/2026")]
    tops = [row.format(id=name, name=name, rows="{rows}") for name in ("Archive", "Reports")]
    both = zip(tops, made, strict=True)
    return rows.format("".join(top.format(rows=rows.format(inner.format(rows=""))) for top, inner in both))


NESTED = {
    "lists": nested("<li data-id={id}>{name} <button>Delete</button>{rows}</li>", "<ul>{}</ul>"),
    "tables": nested("<tr data-id={id}><td>{name}<td>{rows}<td><button>Delete</button></tr>", "<table>{}</table>"),
    "trees": nested(
        "<li role=treeitem data-id={id}><span>{name}</span> <button>Delete</button>{rows}</li>", "<ul role=tree>{}</ul>"
    ),
    "articles": nested("<article data-id={id}><h3>{name}</h3><button>Delete</button>{rows}</article>", "<div>{}</div>"),
}


@pytest.mark.parametrize("body", NESTED.values(), ids=NESTED.keys())
async def test_a_row_in_another_is_not_taken_for_one_with_rows_in_it(page: Page, serve: Server, body: str) -> None:
    lines = ["click Delete ‹Reports›", "click Delete in row Reports", "click Delete ‹Reports, Archive›"]
    was, [first, second, _] = await pressed(page, serve, body, *lines)
    assert "could be any of" in first
    assert "could be any of" in second
    assert was == "A/Reports;"


PANELS = """<div role=tablist><button role=tab id=t1>Billing</button><button role=tab id=t2>Shipping</button></div>
<div role=tabpanel aria-labelledby=t1 data-id=billing><button>Save</button></div>
<div role=tabpanel aria-labelledby=t2 data-id=shipping><button>Save</button></div>"""
SECTIONS = """<section aria-label=Work data-id=work><button>Save</button></section>
<section aria-label=Shipping data-id=shipping><button>Save</button></section>"""
HEADINGS = """<h1>Shop</h1><h2>Work</h2><h3>Phone</h3><button data-id=work>Save</button>
<h2>Shipping</h2><h3>Phone</h3><button data-id=shipping>Save</button>"""


LISTS = """<div role=listbox aria-label=Work data-id=work><div role=option tabindex=0>Save</div></div>
<div role=listbox aria-label=Shipping data-id=shipping><div role=option tabindex=0>Save</div></div>"""
PARTS = """<nav aria-label=Work data-id=work><a href=#a>Save</a></nav>
<nav aria-label=Shipping data-id=shipping><a href=#b>Save</a></nav>"""


@pytest.mark.parametrize(
    "body",
    [PANELS, SECTIONS, HEADINGS, LISTS, PARTS],
    ids=["panels", "sections", "outer headings", "lists of choices", "parts of the page"],
)
async def test_what_a_button_lies_in_and_is_under_is_a_word_beside_its_name(
    page: Page, serve: Server, body: str
) -> None:
    was, _ = await pressed(page, serve, body, "click Save ‹Shipping›")
    assert was == "shipping;"


SECTION_AND_PAGE = """
<section aria-label=Profile data-id=profile><label>Nick <input></label><button>Save</button></section>
<section aria-label=Security data-id=security><label>Old <input></label><button>Save</button></section>
<button data-id=page>Save</button>"""
GROUP_AND_FOOTER = """<main><div role=group aria-label=Security data-id=security><button>Save</button></div></main>
<footer data-id=page><button>Save</button></footer>"""
DIALOG_IN_SHADOW_ROOT = """<x-d data-id=security></x-d><button data-id=page>Save</button><script>
document.querySelector('x-d').attachShadow({mode: 'open'}).innerHTML =
'<div role=dialog aria-label=Security><label>Old <input></label><button>Save</button></div>'</script>"""


@pytest.mark.parametrize("body", [SECTION_AND_PAGE, GROUP_AND_FOOTER, DIALOG_IN_SHADOW_ROOT])
async def test_the_name_of_a_section_is_no_word_of_a_button_beside_the_section(
    page: Page, serve: Server, body: str
) -> None:
    was, [_, in_row] = await pressed(page, serve, body, "click Save ‹Security›", "click Save in row Security")
    assert was in ("security;", "security;security;"), in_row


async def test_a_row_and_a_section_of_one_name_are_told_apart(page: Page, serve: Server) -> None:
    body = """<section aria-label=Profile data-id=section><label>Nick <input></label><button>Save</button></section>
    <ul><li data-id=row>Profile <button>Save</button><li data-id=other>Other <button>Save</button></ul>"""
    was, [either] = await pressed(page, serve, body, "click Save ‹Profile›")
    assert was == ""
    assert "could be any of [3] button 'Save' ‹Profile, 2nd of 2›, [2] button 'Save' ‹Nick›" in either


ENTRIES = {
    "definitions": "<dl><dt>Home<dd data-id=Home>1 Elm St {b}<dt>Work<dd data-id=Work>2 Home Rd {b}</dl>",
    "groups": "<dl><div data-id=Home><dt>Home<dd>1 Elm St<dd>{b}</div><div data-id=Work><dt>Work<dd>2 Home Rd<dd>{b}"
    "</div></dl>",
    "several definitions": "<dl><dt>Home<dd>1 Elm St<dd data-id=Home>{b}<dt>Work<dd>2 Home Rd<dd data-id=Work>{b}</dl>",
}


@pytest.mark.parametrize("body", ENTRIES.values(), ids=ENTRIES.keys())
async def test_a_row_of_definitions_is_called_by_its_term(page: Page, serve: Server, body: str) -> None:
    lines = ["click Delete in row Home", "click Delete ‹Home›", "click Delete in row Work"]
    was, _ = await pressed(page, serve, body.format(b="<button>Delete</button>"), *lines)
    assert was == "Home;Home;Work;"


async def test_a_row_that_is_scrolled_away_is_not_taken_for_those_whose_numbers_begin_so(
    page: Page, serve: Server
) -> None:
    rows = "".join(f"<div data-id={n} style='height:40px'>Row {n} <button>Edit</button></div>" for n in range(40))
    was, [_, there] = await pressed(page, serve, rows, "scroll to Row 39", "click Edit ‹Row 3›")
    assert was == "3;", there
