"""The report for everybody: by keyboard alone, without colour, at every width, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe import violations
from playwright.async_api import Page, expect
from record_builder import limited_run, small_run, story, write_run

from vision_agent.events import Stepped
from vision_agent.record import write_report


async def opened(page: Page, runs: Path, events: list[Any]) -> None:
    await page.goto(write_report(write_run(runs, events).path).as_uri())


@pytest.mark.parametrize("width", [1280, 390, 768, 1920])
async def test_axe_finds_nothing_in_light_and_dark(page: Page, tmp_path: Path, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 900})
    await opened(page, tmp_path, story())
    for summary in await page.locator("summary").all():
        await summary.evaluate("summary => (summary.parentElement.open = true)")
    await page.locator("#step-1 .then").click()
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert await violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.locator("#step-1 .enlarge").click()
    assert await violations(page) == []


async def test_axe_finds_nothing_in_the_report_of_a_run_that_a_limit_ended(page: Page, tmp_path: Path) -> None:
    await page.set_viewport_size({"width": 390, "height": 900})
    await opened(page, tmp_path, limited_run())
    await page.locator(".states summary").click()
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_keys_and_actions_are_named_beside_the_steps(page: Page, tmp_path: Path) -> None:
    await page.set_viewport_size({"width": 1280, "height": 800})
    await opened(page, tmp_path, story())
    rail = page.locator(".rail")
    await rail.scroll_into_view_if_needed()
    await expect(rail.locator(".what").nth(2)).to_be_visible()
    await expect(rail.locator(".what").nth(2)).to_have_text("Click (400, 318)")
    await expect(rail.locator(".keys")).to_be_visible()
    await expect(rail.locator(".keys")).to_contain_text("next problem")


async def test_the_question_mark_lists_the_keys(page: Page, tmp_path: Path) -> None:
    await page.set_viewport_size({"width": 390, "height": 800})
    await opened(page, tmp_path, story())
    keys = page.get_by_role("dialog", name="Keys")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("?")
    await expect(keys).to_contain_text("next step with a problem")
    await page.keyboard.press("ArrowRight")  # moves nothing behind the list
    await page.keyboard.press("Escape")
    await expect(keys).to_be_hidden()
    await expect(page.locator("article:focus")).to_have_id("step-1")
    await page.locator(".help").click()
    await keys.get_by_role("button", name="Close").click()
    await expect(page.locator(".help")).to_be_focused()


async def test_a_picture_is_enlarged_by_keyboard_and_the_focus_returns(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    small = await page.locator("#step-2 .frame").bounding_box()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Step 2")
    await expect(dialog.locator("img.marked")).to_be_visible()
    large = await dialog.locator(".frame").bounding_box()
    assert small is not None
    assert large is not None
    assert large["width"] > 1.3 * small["width"]
    await page.keyboard.press("m")
    await expect(dialog.locator("img.clean")).to_be_visible()
    await dialog.locator("rect[data-mark='5']").hover()
    await expect(page.locator("#tip .line")).to_have_text("5[:]<button>Add to cart")
    await page.keyboard.press("z")
    await expect(dialog.get_by_role("button", name="Full size")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("z")
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("dialog", name="Step 3").locator("img.marked")).to_be_visible()
    await expect(page.locator("#step-2 img.clean")).to_be_attached()
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog[open]")).to_have_count(0)
    await expect(page.locator("article:focus")).to_have_id("step-2")
    await expect(page.locator("#step-3 img.marked")).to_be_visible()


async def test_a_click_on_a_picture_enlarges_it(page: Page, tmp_path: Path) -> None:
    await page.set_viewport_size({"width": 390, "height": 800})
    await opened(page, tmp_path, story())
    await page.locator("#step-1 .frame").click(position={"x": 5, "y": 5})
    dialog = page.get_by_role("dialog", name="Step 1")
    enlarged = await dialog.locator(".frame").bounding_box()
    assert enlarged is not None
    assert enlarged["width"] >= 640  # at its full size: fitted, it would be no larger than before
    await dialog.get_by_role("button", name="Close").click()
    await page.locator("#step-1 .enlarge").press("Enter")
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#step-1 .enlarge")).to_be_focused()


async def test_the_timeline_is_as_wide_as_the_time_and_goes_to_the_step(page: Page, tmp_path: Path) -> None:
    events = [
        each.model_copy(update={"seconds": 9.0}) if isinstance(each, Stepped) and each.step == 3 else each
        for each in story()
    ]
    await opened(page, tmp_path, events)
    bar = page.locator(".bar li")
    widths = [await each.evaluate("each => each.offsetWidth") for each in await bar.all()]
    assert widths[2] > 3 * widths[0]
    third = bar.nth(2).get_by_role("link")
    await expect(third).to_have_accessible_name("Step 3, warning: Click (400, 318); 9.0 s, $0.0131")
    readout = page.locator(".readout")
    await expect(readout).to_contain_text("Longest: step 3, 9.0 s.")
    await third.focus()
    await expect(readout).to_contain_text("Step 3, warning")
    await page.keyboard.press("Enter")
    await expect(page.locator("article:focus")).to_have_id("step-3")
    await page.locator(".timeline summary").click()
    row = page.locator(".timeline tbody tr").nth(1)
    await expect(row).to_contain_text("✕ failed")
    await expect(row).to_contain_text("2\N{NARROW NO-BREAK SPACE}")


async def test_the_longest_of_many_steps_is_widest_in_the_timeline_of_a_phone(page: Page, tmp_path: Path) -> None:
    """So many that each has hardly room for its number; the bar scrolls then."""
    events = [
        each.model_copy(update={"seconds": 9.0}) if isinstance(each, Stepped) and each.step == 3 else each
        for each in limited_run(range(1, 17))
    ]
    await page.set_viewport_size({"width": 390, "height": 900})
    await opened(page, tmp_path, events)
    widths = await page.locator(".bar li").evaluate_all("all => all.map(each => each.offsetWidth)")
    assert widths[2] > 1.5 * widths[0]
    assert min(widths) >= 30


async def test_a_run_without_a_model_has_no_cost_in_its_timeline(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, small_run())
    await expect(page.get_by_role("heading", name="Time per step")).to_be_visible()
    await expect(page.locator(".timeline .price")).to_have_count(0)


async def test_what_went_wrong_is_said_without_colour(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    await expect(page.locator("#step-2 .when")).to_contain_text("✕ Step 2 failed")
    await expect(page.locator("#step-3 .when")).to_contain_text("! Step 3 warning")
    await expect(page.locator(".rail a[href='#step-2'] .n")).to_have_text("✕2 failed")
    await expect(page.locator(".rail a[href='#step-1'] .n")).to_have_text("1 ok")
    await expect(page.locator(".problems li").first).to_contain_text("✕ Step 2 failed")
    await expect(page.locator("#step-2 g.aim.failed text")).to_have_text("✕ 2")


async def test_the_target_is_shown_before_and_after_its_act_and_opens_the_picture_there(
    page: Page, tmp_path: Path
) -> None:
    await page.set_viewport_size({"width": 1280, "height": 900})
    await opened(page, tmp_path, story())
    crops = page.locator("#step-2 .act.ok .crop")
    await expect(crops).to_have_count(2)
    sizes = "image => image.clientWidth <= image.naturalWidth"
    assert all([await each.locator("img").evaluate(sizes) for each in await crops.all()])
    await expect(page.locator("#step-2 .act.skipped .crop")).to_have_count(0)
    await page.get_by_role("button", name="The target after the step: enlarge").nth(1).press("Enter")
    dialog = page.get_by_role("dialog", name="Step 2")
    await expect(dialog.locator("img.after")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Full size")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("Escape")
    await expect(crops.nth(1)).to_be_focused()


async def test_the_page_after_the_last_act_follows_the_last_step(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, limited_run())
    end = page.locator("#step-end")
    await expect(end.get_by_role("heading", name="The page at the end of the run")).to_be_visible()
    await expect(end.locator("img.marked")).to_be_visible()
    await page.locator("#step-6 .then").click()
    await expect(page.locator("#step-6 .same")).to_contain_text("after the last step")
    await expect(page.locator("#step-6 img.after")).to_be_visible()
    await end.locator("rect[data-mark='5']").hover()
    await expect(page.locator("#tip .line")).to_have_text("5[:]<button>Add to cart")


async def test_a_last_look_that_failed_says_why(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, limited_run(end=None))
    await expect(page.locator("#step-end")).to_contain_text("No picture the browser was lost")


async def test_the_state_graph_leads_from_state_to_state_and_to_the_steps(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, limited_run())
    await page.locator(".states summary").click()
    first, last = page.locator("#state-1"), page.locator("#state-4")
    await expect(first).to_contain_text("Page 1")
    await expect(first).to_contain_text("Seen in step 1, 4, the end")
    await expect(first.locator(".edge").nth(1)).to_contain_text("→ 4 Click 5 button “Add to cart” step 4")
    await expect(last.locator(".edge").first).to_contain_text("↺")
    await last.locator(".edge").nth(1).get_by_role("link", name="1").press("Enter")
    assert page.url.endswith("#state-1")
    await last.locator(".edge").nth(1).get_by_role("link", name="6").press("Enter")
    await expect(page.locator("article:focus")).to_have_id("step-6")
