"""Claims about finding and starting a browser, with the browser that is there."""

from __future__ import annotations

from playwright.async_api import Page


async def test_a_served_page_opens_on_two_sites(page: Page, serve) -> None:
    address = serve({"/": "<title>hello</title>"}, headers={"X-Said": "yes"})
    response = await page.goto(address)
    assert response is not None
    assert response.headers["x-said"] == "yes"
    await page.goto(address.replace("127.0.0.1", "localhost"))
    assert await page.title() == "hello"
