"""A session that a person supervises on a page, and the app that shows a person what the client's model sees."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp.shared.exceptions import MCPError
from mcp_driver import Driver, assert_verified, http_client, rules_for
from playwright.async_api import Page, expect

from tests.conftest import Server
from vision_agent.integrations.mcp.look_app import APP_URI
from vision_agent.integrations.mcp.serving import serve_http
from vision_agent.record import read

ORDER = """<title>Order</title><form onsubmit="document.title = 'Sent'; return false"><input aria-label=Name>
<button>Place order</button></form>"""
LINK = r"http://supervision\.localhost:\d+/\?token=[\w-]+"
HOST = """<title>Host</title><iframe sandbox="allow-scripts" style="width: 700px; height: 500px"></iframe><script>
window.heard = [];
const frame = document.querySelector("iframe");
addEventListener("message", ({ data, source }) => {
  if (source !== frame.contentWindow) return;
  heard.push(data.method);
  const send = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
  if (data.method === "ui/initialize") {
    send({ id: data.id, result: { protocolVersion: "2026-01-26", hostInfo: {}, hostCapabilities: {} } });
  }
  if (data.method === "ui/notifications/initialized") send({ method: "ui/notifications/tool-result", params: answer });
});
</script>"""


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
        await expect(page.get_by_text("The task is done").first).to_be_visible()
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


async def test_the_app_shows_an_answer_and_takes_its_text_for_text(page: Page, tmp_path: Path, serve: Server) -> None:
    async with serve_http(rules_for(tmp_path)) as (address, token), http_client(address, token) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        bound = {
            name for name, tool in tools.items() if ((tool.meta or {}).get("ui") or {}).get("resourceUri") == APP_URI
        }
        assert {"open", "look", "click", "type", "back"} <= bound
        assert not {"report", "close"} & bound
        [listed] = (await client.list_resources()).resources
        assert (listed.uri, listed.mime_type) == (APP_URI, "text/html;profile=mcp-app")
        [app] = (await client.read_resource(APP_URI)).contents
        assert app.mime_type == "text/html;profile=mcp-app"
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("ui://elsewhere/x.html")
        html = serve({"/": "<title></script><img src=x onerror=alert(1)></title><button>&lt;b>Buy"}) + "/"
        answer = (await client.call_tool("open", {"url": html})).model_dump(mode="json", by_alias=True)
    given = json.dumps(answer).replace("</", "<\\/")
    await page.goto(serve({"/": HOST.replace("<script>", f"<script>const answer = {given};", 1)}))
    await page.evaluate("html => { document.querySelector('iframe').srcdoc = html }", app.text)
    shown = page.frame_locator("iframe")
    await expect(shown.locator("#listing")).to_contain_text("<b>Buy")
    await expect(shown.locator("#listing")).to_contain_text("<img src=x onerror=alert(1)>")
    assert await shown.locator("#listing *").count() == 0
    assert (
        await shown.locator("#picture").evaluate("async (it) => { await it.decode(); return it.naturalWidth }") == 1280
    )
    assert (await page.evaluate("heard"))[:1] == ["ui/initialize"]
    assert "ui/notifications/size-changed" in await page.evaluate("heard")
