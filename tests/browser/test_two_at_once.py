from __future__ import annotations

import asyncio
from typing import Any

from vision_agent import observe
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.settings import BrowserSettings


async def test_pages_of_one_browser_may_be_begun_at_once(serve: Any) -> None:
    """In a browser of its own: what is registered once is registered for good."""
    url = serve({"/": "<button>Save</button>"})
    async with launch_browser(BrowserSettings()) as started:
        pages = [await (await started.browser.new_context()).new_page() for _ in range(3)]
        await asyncio.gather(*(page.goto(url) for page in pages))
        seen = await asyncio.gather(*(observe(page) for page in pages))

    assert [[mark.name for mark in each.marks] for each in seen] == [["Save"]] * 3
