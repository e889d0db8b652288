"""Claims about what is known of an element only because it listens."""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.browser.page import listeners, overlay
from vision_agent.browser.page.frames import Scan, scan
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

TILES = "<div id=a style='width:80px;height:30px'>Send</div><div id=b style='width:80px;height:30px'>Plain</div>"
LISTEN = "<script>document.querySelector('#a').addEventListener('click', () => document.title += 'hit ')</script>"


async def scanned(page: Page, html: str) -> Scan:
    await overlay.register(page.context)
    await page.set_content(html)
    return await heard(page)


async def heard(page: Page) -> Scan:
    """A busy machine may need more than one scan to tell all; what was told stays told."""
    for _ in range(10):
        found = await scan(page, 20)
        if not found.warnings:
            break
    return found


def names(found: Scan) -> list[str]:
    return [mark.name for mark in found.marks]


async def test_what_listens_is_marked_and_says_to_what(page: Page) -> None:
    found = await scanned(page, TILES + LISTEN)
    assert names(found) == ["Send"]
    assert "listens: click" in found.marks[0].evidence


async def test_what_no_longer_listens_is_no_longer_marked(page: Page) -> None:
    await scanned(
        page, f"{TILES}<script>const no = new AbortController(); a.addEventListener('click', () => 1, no)</script>"
    )
    await page.evaluate("no.abort()")
    assert names(await heard(page)) == []
    await page.evaluate("b.addEventListener('pointerdown', () => 1)")
    assert names(await heard(page)) == ["Plain"]


async def test_what_listens_in_a_document_loaded_anew_is_marked(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": TILES + LISTEN}))
    assert names(await heard(page)) == ["Send"]
    await page.reload()
    assert names(await heard(page)) == ["Send"]


async def test_more_than_are_told_at_once_are_marked_by_and_by(page: Page) -> None:
    tiles = "".join(
        f"<span class=t style='display:inline-block;width:14px;height:14px'>{n}</span> " for n in range(450)
    )
    found = await scanned(
        page, f"{tiles}<script>for (const t of document.querySelectorAll('.t')) t.onclick = () => 1</script>"
    )
    assert (len(found.marks), found.warnings) == (450, [])


async def test_elements_with_handler_attributes_are_read_as_before(page: Page) -> None:
    found = await scanned(page, f"<body onload='void 0' onclick='void 0'>{TILES}<p onclick='void 0'>Inline</p>{LISTEN}")
    assert (names(found), found.warnings) == (["Send", "Inline"], [])


async def test_what_listens_in_frames_is_marked(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    inner = serve({"/": TILES + LISTEN})
    other_site = inner.replace("127.0.0.1", "localhost")
    middle = f"<iframe src='{inner}' height=90 scrolling=no></iframe>"
    await page.goto(
        serve(
            {
                "/": f"<iframe src=/middle scrolling=no></iframe><iframe src='{other_site}' scrolling=no></iframe>",
                "/middle": middle,
            }
        )
    )
    await asyncio.gather(*(frame.wait_for_load_state() for frame in page.frames))
    found = await heard(page)
    assert names(found) == ["Send", "Send"]
    assert found.warnings == []
    assert {mark.frame for mark in found.marks} == {"1.1", "2"}
    # Seen from the frame itself, everything is still what it was.
    assert names(await heard(page)) == ["Send", "Send"]


async def test_what_listens_in_a_closed_shadow_root_is_marked_and_clicked(page: Page) -> None:
    root = "const root = host.attachShadow({mode: 'closed'})"
    inside = f"{root}; root.innerHTML = `{TILES}<button>Native</button>`"
    listen = "root.firstChild.addEventListener('click', () => document.title = 'hit')"
    async with live.attach(page, ObserveSettings(quiet_s=0.03), ImageLimits()) as browser:
        await page.set_content(f"<div id=host></div><script>{inside}; {listen}</script>")
        observation = await browser.observe()
        assert [mark.name for mark in observation.marks] == ["Send", "Native"]
        outcome = await browser.act(Click(target=1), observation)
        assert outcome.status == "done", outcome.sentence
    assert await page.title() == "hit"


async def test_a_page_that_hangs_is_not_waited_for(page: Page) -> None:
    await scanned(page, TILES + LISTEN)
    await page.evaluate("setTimeout(() => { const until = Date.now() + 2500; while (Date.now() < until); })")
    started = time.monotonic()
    assert not await listeners.report_listeners(page, 0.3)
    assert time.monotonic() - started < 2
