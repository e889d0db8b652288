"""A session that a person supervises on a page."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp_driver import Driver, assert_verified, http_client, rules_for
from playwright.async_api import Page, expect

from tests.conftest import Server
from vision_agent.integrations.mcp.serving import serve_http
from vision_agent.record import read

ORDER = """<title>Order</title><form onsubmit="document.title = 'Sent'; return false"><input aria-label=Name>
<button>Place order</button></form>"""
LINK = r"http://supervision\.localhost:\d+/\?token=[\w-]+"


async def test_a_person_approves_on_the_page_that_the_first_answer_links(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    rules = rules_for(
        tmp_path, settings={"approval": {"ask": "risky", "risks": ["submit"], "wait_s": 60}}, is_supervised=True
    )
    async with serve_http(rules) as (address, token), http_client(address, token) as client:
        driver = Driver(client)
        seen = await driver.open(serve({"/": ORDER}) + "/")
        assert "supervision" not in seen.page
        [link] = re.findall(LINK, seen.text)
        stolen = await driver.act("open", url=link)
        assert stolen.is_error
        assert "its host is denied" in stolen.text
        await page.goto(link)
        placing = asyncio.create_task(driver.act("click", target=seen.mark("Place order")))
        await page.locator("#do:enabled").click()
        sent = await placing
        assert not sent.is_error, sent.text
        assert "page: Sent" in sent.page
        assert "supervision.localhost" not in sent.text
        await driver.close()
        await expect(page.get_by_text("The client closed the session as done").first).to_be_visible()
    [folder] = assert_verified(tmp_path, 1)
    choices = [step.approval.choice for step in read(folder).steps if step.approval and step.approval.choice]
    assert [(each.kind, each.through) for each in choices] == [("approve", "page")]


async def test_the_link_comes_before_the_first_act_where_every_act_is_asked_about(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    rules = rules_for(tmp_path, settings={"approval": {"ask": "always", "wait_s": 60}}, is_supervised=True)
    async with serve_http(rules) as (address, token), http_client(address, token) as client:
        driver = Driver(client)
        waiting = await driver.call("open", url=serve({"/": ORDER}) + "/")
        assert not waiting.is_error
        assert "`open` waits for a person" in waiting.text
        [link] = re.findall(LINK, waiting.text)
        [driver.session] = re.findall(r"^session (\w+):", waiting.text)
        await page.goto(link)
        await page.locator("#do:enabled").click()
        assert "page: Order" in (await driver.see()).page
        await driver.call("close", session=driver.session)
    assert_verified(tmp_path, 1)
