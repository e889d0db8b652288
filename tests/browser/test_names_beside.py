"""Claims about names of step lines on pages whose words could be taken for others: in negations, headings and rows."""

from __future__ import annotations

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
