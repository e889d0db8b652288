"""The app that shows a person what the client's model sees, in the host that clients are built on and in a bare one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_driver import http_client, rules_for
from pages import MissingPages, site
from playwright.async_api import FrameLocator, Page, expect

from tests.axe import violations
from tests.conftest import Server
from vision_agent.integrations.mcp.look_app import APP_URI
from vision_agent.integrations.mcp.serving import serve_http

SHOP = """<title>Shop</title><style>body { font: 18px sans-serif }</style><h1>Mugs</h1>
<button>Blue mug</button> <button>Red mug</button> <a href=#cart>Cart</a>"""
BARE_HOST = """<title>Host</title><iframe sandbox="allow-scripts" style="width: 700px; height: 500px"></iframe><script>
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
VARIABLES = {"--color-background-primary": "rgb(20, 30, 40)", "--color-text-primary": "rgb(240, 240, 230)"}


@asynccontextmanager
async def app_client(runs: Path) -> AsyncIterator[tuple[Client, str]]:
    """A client of our server over HTTP, and the page of the app as it serves it."""
    async with serve_http(rules_for(runs)) as (address, token), http_client(address, token) as client:
        [app] = (await client.read_resource(APP_URI)).contents
        yield client, app.text


async def answer_to_open(client: Client, url: str) -> dict[str, Any]:
    """What a host passes on."""
    return (await client.call_tool("open", {"url": url})).model_dump(mode="json", by_alias=True, exclude_none=True)


async def open_host(page: Page, serve: Server, html: str, context: dict[str, Any]) -> FrameLocator:
    """The app in the host, before it has an answer."""
    try:
        packages = site("@modelcontextprotocol/ext-apps").root
    except MissingPages as error:
        pytest.skip(str(error))
    address = serve.folder(packages)
    host = (Path(__file__).parent / "mcp_app_host.html").read_text("utf-8")
    await page.route(f"{address}/host.html", lambda route: route.fulfill(body=host, content_type="text/html"))
    await page.goto(f"{address}/host.html")
    await page.evaluate("([html, context]) => showApp(html, context)", [html, context])
    return page.frame_locator("iframe")


async def test_the_app_is_listed_and_every_tool_that_looks_is_bound_to_it(tmp_path: Path) -> None:
    async with app_client(tmp_path) as (client, _):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        bound = {
            name for name, tool in tools.items() if ((tool.meta or {}).get("ui") or {}).get("resourceUri") == APP_URI
        }
        assert {"open", "look", "click", "type", "back"} <= bound
        assert not {"report", "close"} & bound
        [listed] = (await client.list_resources()).resources
        assert (listed.uri, listed.mime_type) == (APP_URI, "text/html;profile=mcp-app")
        assert (await client.list_resource_templates()).resource_templates == []
        [app] = (await client.read_resource(APP_URI)).contents
        assert app.mime_type == "text/html;profile=mcp-app"
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("ui://elsewhere/x.html")


async def test_the_app_shows_an_answer_and_takes_its_text_for_text(page: Page, tmp_path: Path, serve: Server) -> None:
    async with app_client(tmp_path) as (client, html):
        url = serve({"/": "<title></script><img src=x onerror=alert(1)></title><button>&lt;b>Buy"}) + "/"
        answer = await answer_to_open(client, url)
    given = json.dumps(answer).replace("</", "<\\/")
    await page.goto(serve({"/": BARE_HOST.replace("<script>", f"<script>const answer = {given};", 1)}))
    await page.evaluate("html => { document.querySelector('iframe').srcdoc = html }", html)
    shown = page.frame_locator("iframe")
    await expect(shown.locator("#listing")).to_contain_text("<b>Buy")
    await expect(shown.locator("#listing")).to_contain_text("<img src=x onerror=alert(1)>")
    assert await shown.locator("#listing *").count() == 0
    await expect(shown.locator("#view.drawn #picture")).to_be_visible()
    assert await shown.locator("#picture").evaluate("it => it.width") == 1280
    assert (await page.evaluate("heard"))[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert "ui/notifications/size-changed" in await page.evaluate("heard")


async def test_the_app_is_legible_in_the_host_of_a_client_in_any_width_and_theme(
    page: Page, tmp_path: Path, serve: Server
) -> None:
    async with app_client(tmp_path) as (client, html):
        answer = await answer_to_open(client, serve({"/": SHOP}) + "/")
    for width in (390, 1280):
        await page.set_viewport_size({"width": width, "height": 900})
        for theme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 18, 18)")):
            shown = await open_host(page, serve, html, {"theme": theme})
            await expect(shown.get_by_text("Waiting for a look.")).to_be_visible()
            await expect(shown.locator("#picture")).to_be_hidden()
            await page.evaluate("answer => bridge.sendToolResult(answer)", answer)
            await expect(shown.locator("#view.drawn #picture")).to_be_visible()
            await expect(shown.get_by_text("Waiting for a look.")).to_be_hidden()
            await expect(shown.locator("#listing")).to_contain_text("1[:]<button>Blue mug")
            await expect(shown.locator("body")).to_have_css("background-color", ground)
            # All of it shows: the frame has no scrollbar.
            fits = "it => it.scrollWidth <= innerWidth && it.scrollHeight <= innerHeight"
            await page.wait_for_function(f"heights.at(-1) > {width // 2}")
            assert await shown.locator("html").evaluate(fits), (width, theme, await page.evaluate("heights"))
            assert await violations_in_app(page) == []
            await shown.get_by_role("button", name="Full size").click()
            await expect(shown.get_by_role("button", name="Fit the width")).to_be_visible()
            assert (await shown.locator("#picture").bounding_box() or {})["width"] == 1280


async def test_the_app_follows_the_host_and_tells_of_a_cancelled_call(
    page: Page, tmp_path: Path, serve: Server
) -> None:
    async with app_client(tmp_path) as (_, html):
        shown = await open_host(page, serve, html, {"theme": "light"})
        await page.evaluate("variables => bridge.setHostContext({theme: 'dark', styles: {variables}})", VARIABLES)
        body = shown.locator("body")
        await expect(body).to_have_css("background-color", VARIABLES["--color-background-primary"])
        await expect(body).to_have_css("color", VARIABLES["--color-text-primary"])
        await page.evaluate("bridge.sendToolCancelled({reason: 'the person stopped it'})")
        await expect(shown.get_by_text("The call was cancelled: the person stopped it")).to_be_visible()
        assert await page.evaluate("bridge.teardownResource({})") == {}


async def violations_in_app(page: Page) -> list[str]:
    """What axe-core finds wrong in the frame of the app, whose heading is the host's."""
    return [each for each in await violations(page.frames[-1]) if not each.startswith("page-has-heading-one")]
