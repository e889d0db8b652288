"""Claims about rows whose words stand in other boxes on their line, as where columns are kept in place."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from vision_agent import attach
from vision_agent.actions import Click

STYLE = "<style>body > div { display: flex; gap: %s } tr, p { height: 34px; margin: 0; display: table-row }</style>"
FROZEN = f"""{STYLE % 0}<div><table id=names></table><table id=rest></table></div><script>
names.innerHTML = '<tr><td>'.repeat(3)
rest.innerHTML = '<tr><td>active<td><button>Delete</button>'.repeat(3)
const places = Array.from(names.rows, (row) => row.cells[0])</script>"""
BY_COLUMN = """<style>body > div { display: flex; gap: 20px } div div div { height: 34px }</style>
<div><div id=names></div><div id=rest></div></div><script>
names.innerHTML = '<div></div>'.repeat(3)
rest.innerHTML = '<div><button>Delete</button></div>'.repeat(3)
const places = Array.from(names.children)</script>"""
FILLED = """<script>
const people = ['Ann', 'Bob', 'Cid']
function draw() { places.forEach((place, n) => { place.textContent = people[n] }) }
document.querySelectorAll('button').forEach((each, n) => { each.onclick = () => { document.title = people[n] } })
draw()</script>"""


@pytest.mark.parametrize("made", [FROZEN, BY_COLUMN])
async def test_a_button_is_not_pressed_when_its_line_shows_another_name(page: Page, made: str) -> None:
    await page.set_content(made + FILLED)
    async with attach(page) as browser:
        seen = await browser.observe()
        assert [mark.context.split()[0] for mark in seen.marks if mark.name == "Delete"] == ["Ann", "Bob", "Cid"]
        await page.evaluate("people.reverse(); draw()")
        outcome = await browser.act(Click(target=seen.marks[0].number), seen)
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert await page.title() == ""


async def test_the_deputy_in_a_row_is_not_taken_for_its_name_in_columns_kept_in_place(page: Page) -> None:
    pairs = (("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Ann"))
    names = "".join(f"<tr><td>{name}" for name, _ in pairs)
    rest = "".join(f"<tr><td>{deputy}<td><button>Edit</button>" for _, deputy in pairs)
    await page.set_content(f"{STYLE % 0}<div><table>{names}</table><table>{rest}</table></div>")
    async with attach(page) as browser:
        assert (await browser.do("click Edit in row Ann")).refusal == "ambiguous"
        assert (await browser.do("click Edit ‹Ann Bob›")).status == "done"


async def test_a_list_beside_another_does_not_say_what_its_rows_are(page: Page) -> None:
    def column(button: str, *names: str) -> str:
        return f"<div>{''.join(f'<div>{name} <button>{button}</button></div>' for name in names)}</div>"

    style = "<style>body > div { display: flex; gap: 20px } div div div { height: 34px }</style>"
    await page.set_content(f"{style}<div>{column('Add', 'Ann', 'Bob')}{column('Remove', 'Cid', 'Dan')}</div>")
    async with attach(page) as browser:
        seen = await browser.observe()
        said = {(mark.name, mark.context) for mark in seen.marks}
        assert said == {("Add", "Ann"), ("Add", "Bob"), ("Remove", "Cid"), ("Remove", "Dan")}
