"""Claims about closed shadow roots, which only the browser itself can show."""

from __future__ import annotations

from playwright.async_api import Page

from vision_agent.browser.page import closed_shadow, overlay, overlay_calls
from vision_agent.browser.page.frames import scan

HOST = "<div id=host></div>"
ATTACH = "document.querySelector('#host').attachShadow({mode: 'closed'}).innerHTML = '<button>Pay</button>'"


async def test_a_frame_that_went_away_hides_no_closed_root_of_the_page(page: Page) -> None:
    await overlay.register(page.context)
    await page.set_content(f"{HOST}<iframe srcdoc='<button>Help</button>'></iframe>")
    await page.frame_locator("iframe").locator("button").wait_for()
    assert {mark.name for mark in (await scan(page, 20)).marks} == {"Help"}
    await page.evaluate(ATTACH)
    assert (await overlay_calls.scan.scan(page.main_frame, 20)).unopened_roots == 1
    await page.evaluate("document.querySelector('iframe').remove()")

    assert await closed_shadow.open_roots(page, 20)

    assert [mark.name for mark in (await overlay_calls.scan.scan(page.main_frame, 20)).marks] == ["Pay"]


async def test_closed_roots_are_opened_in_several_documents_at_once(page: Page) -> None:
    await overlay.register(page.context)
    inside = "<button>Help</button>"
    frames = "".join(f'<iframe srcdoc="{HOST}{inside}" height=80></iframe>' for _ in range(3))
    await page.set_content(HOST + frames)
    for frame in page.frames[1:]:
        await frame.locator("button").wait_for()
    assert len((await scan(page, 20)).marks) == 3
    for frame in [page.main_frame, page.frames[2]]:
        await frame.evaluate(ATTACH)

    assert sorted(mark.name for mark in (await scan(page, 20)).marks) == ["Help", "Help", "Help", "Pay", "Pay"]


async def test_an_element_that_has_none_is_asked_once_and_nothing_is_said_of_it(page: Page) -> None:
    await overlay.register(page.context)
    await page.set_content("<div style='height:40px'></div><button>Pay</button>")
    await scan(page, 20)
    assert (await overlay_calls.scan.scan(page.main_frame, 20)).unopened_roots == 0
    assert not await closed_shadow.open_roots(page, 20)


async def test_an_element_that_gets_one_with_another_size_after_it_was_asked_about_is_asked_again(page: Page) -> None:
    await overlay.register(page.context)
    await page.set_content("<div id=host style='height:20px'></div>")
    assert (await scan(page, 20)).marks == []
    await page.evaluate(ATTACH)
    await page.evaluate("document.querySelector('#host').style.height = '90px'")

    assert [mark.name for mark in (await scan(page, 20)).marks] == ["Pay"]


async def test_what_a_closed_root_shows_instead_of_the_children_of_its_host_is_found(page: Page) -> None:
    await overlay.register(page.context)
    await page.set_content("<section id=host><button>Nowhere</button></section>")
    await page.evaluate(ATTACH)
    assert [mark.name for mark in (await scan(page, 20)).marks] == ["Pay"]
