"""A person finds runs in the list: by words, status, host, model and day, and by keyboard alone."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.async_api import expect

from tests.ui.desk import NOW, Desk, a_run


def some(runs: Path) -> None:
    a_run(runs, "Order one mug", model="anthropic:claude-sonnet-5-5")
    a_run(runs, "Order two mugs", days=1, status="limit", sentence="40 steps were taken")
    a_run(runs, "Book a seat", days=8, status="not_done", url="https://tickets.example/", model="openai:gpt-5.4")
    a_run(runs, "Book a hall", days=40, url="https://tickets.example/")


async def test_runs_are_found_by_words_status_host_model_and_day(tmp_path: Path, desk: Desk) -> None:
    some(tmp_path / "runs")
    page = desk.page
    await page.reload()
    await expect(desk.goals).to_have_text(["Order one mug", "Order two mugs", "Book a seat", "Book a hall"])
    await expect(page.locator(".day h2").first).to_have_text("Today")
    first = desk.cards.first
    await expect(first).to_contain_text("shop.example")
    await expect(first).to_contain_text("anthropic:claude-sonnet-5-5")
    await expect(first.locator(".figures")).to_contain_text("2 steps")
    await expect(first.locator(".figures")).to_contain_text("$0.5000")
    assert await first.locator("img").evaluate("(picture) => picture.decode().then(() => picture.naturalWidth)") > 300

    search = page.get_by_role("searchbox")
    await search.fill("mug")
    await expect(desk.goals).to_have_text(["Order one mug", "Order two mugs"])
    await expect(page.get_by_role("status")).to_have_text("2 runs of 4")
    await page.get_by_role("link", name="Limit reached 1").click()
    await expect(desk.goals).to_have_text(["Order two mugs"])
    await expect(search).to_have_value("mug")
    await search.fill("")
    await page.get_by_role("link", name="All 4").click()

    await page.get_by_text("Filters").click()
    await page.get_by_label("Host").select_option("tickets.example")
    await expect(desk.goals).to_have_text(["Book a seat", "Book a hall"])
    await page.get_by_label("Decided by").select_option("openai:gpt-5.4")
    await expect(desk.goals).to_have_text(["Book a seat"])
    await page.get_by_label("Decided by").select_option("any")
    await page.get_by_label("Host").select_option("any")
    await page.get_by_label("From").fill(f"{NOW.replace(year=NOW.year - 1):%Y-%m-%d}")
    await page.get_by_label("To", exact=True).fill("2000-01-01")
    await expect(page.get_by_text("No run matches.")).to_be_visible()


async def test_the_runs_of_the_rows_of_a_table_are_listed_found_and_shown_and_not_deleted_by_their_age(
    tmp_path: Path, desk: Desk
) -> None:
    rows = [
        a_run(tmp_path / "runs" / f"000{n}-0a1b2c3d", f"Order for {who}", days=40)
        for n, who in enumerate(("Ann", "Bo"))
    ]
    assert rows[0].name == rows[1].name
    a_run(tmp_path / "runs", "Order one mug", days=40)
    page = desk.page
    await page.reload()
    await expect(desk.cards).to_have_count(3)
    await page.get_by_role("searchbox").fill("Bo")
    await expect(desk.goals).to_have_text(["Order for Bo"])
    await desk.show("Order for Bo")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Order for Bo")

    await page.goto(desk.base)
    await page.get_by_role("button", name="Show them").click()
    await expect(page.get_by_text("Order one mug")).to_be_visible()
    await expect(page.get_by_text("Order for")).to_have_count(0)


async def test_the_list_shows_new_runs_by_itself_and_keeps_what_is_chosen_and_focused(
    tmp_path: Path, desk: Desk
) -> None:
    some(tmp_path / "runs")
    await desk.page.reload()
    await desk.cards.nth(1).get_by_role("checkbox").check()
    a_run(tmp_path / "runs", "Order a third mug")
    await expect(desk.goals).to_contain_text(["Order a third mug"], use_inner_text=True)
    await expect(desk.cards).to_have_count(5)
    await expect(desk.cards.filter(has_text="Order two mugs").get_by_role("checkbox")).to_be_checked()
    await expect(desk.cards.filter(has_text="Order two mugs").get_by_role("checkbox")).to_be_focused()


async def test_a_person_with_a_keyboard_searches_looks_through_a_run_and_compares_two(
    tmp_path: Path, desk: Desk
) -> None:
    some(tmp_path / "runs")
    page = desk.page
    await page.reload()
    await desk.is_ready()
    await page.keyboard.press("/")
    await page.keyboard.type("order")
    await expect(desk.cards).to_have_count(2)
    await page.keyboard.press("Tab")
    while await page.evaluate("document.activeElement.textContent.trim()") != "Order two mugs":
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("figcaption")).to_contain_text("Step 2")
    await desk.is_ready()
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator("figcaption")).to_contain_text("Step 1")
    await expect(page.locator(".steps [aria-current]")).to_contain_text("Go on with: Order two mugs")
    await page.keyboard.press("r")
    await expect(page.frame_locator("iframe").locator("h1")).to_have_text("Order two mugs")

    await page.goto(desk.base)
    for _ in range(2):
        while not await page.evaluate("document.activeElement.matches('[name=run]:not(:checked)')"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Space")
    await expect(page.locator(".tray")).to_contain_text("2 runs chosen")
    while await page.evaluate("document.activeElement.textContent.trim()") != "Compare":
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.frame_locator("iframe").locator("h1")).to_contain_text("All 2 steps are the same")


async def test_an_empty_folder_says_how_to_begin(desk: Desk) -> None:
    await expect(desk.page.get_by_text("No runs yet.")).to_be_visible()
    await desk.is_ready()
    await desk.page.keyboard.press("n")
    await expect(desk.page.get_by_role("heading", name="Start a run")).to_be_visible()


async def test_a_run_that_is_deleted_while_it_is_shown_is_a_sentence(tmp_path: Path, desk: Desk) -> None:
    folder = a_run(tmp_path / "runs", "Order one mug")
    await desk.show("Order one mug")
    shutil.rmtree(folder)
    await desk.page.keyboard.press("ArrowLeft")
    await expect(desk.page.get_by_role("alert")).to_have_text(
        "This run is not there any more: its folder was deleted or moved."
    )
    await desk.page.reload()
    await expect(desk.page.get_by_role("heading", name="This run is gone")).to_be_visible()
    await desk.page.get_by_role("link", name="Back to the runs").click()
    await expect(desk.page.get_by_text("No runs yet.")).to_be_visible()
    desk.forgive(404)


async def test_runs_are_deleted_singly_chosen_and_by_age_after_naming_them(tmp_path: Path, desk: Desk) -> None:
    runs, page = tmp_path / "runs", desk.page
    some(runs)
    going = [each.name for each in runs.iterdir()]

    await desk.show("Order one mug")
    await page.get_by_role("link", name="Delete…").click()
    await expect(page.locator("ul.going")).to_contain_text("Order one mug")
    await expect(page.locator("ul.going")).to_contain_text(str(runs))
    await page.get_by_role("link", name="Keep it").click()
    assert {each.name for each in runs.iterdir()} == set(going)
    await page.go_back()
    await page.get_by_role("button", name="Delete it").click()
    await expect(desk.goals).to_have_text(["Order two mugs", "Book a seat", "Book a hall"])

    await page.get_by_label("Delete runs older than").fill("30")
    await page.get_by_role("button", name="Show them…").click()
    await expect(page.locator("ul.going .goal")).to_have_text(["Book a hall"])
    await page.get_by_role("button", name="Delete it").click()
    await expect(desk.goals).to_have_text(["Order two mugs", "Book a seat"])

    for card in await desk.cards.all():
        await card.get_by_role("checkbox").check()
    await page.get_by_role("button", name="Delete…").click()
    await page.get_by_role("button", name="Delete all 2").click()
    await expect(page.get_by_text("No runs yet.")).to_be_visible()
    assert list(runs.iterdir()) == []


async def test_verifying_says_what_holds_and_what_was_changed(tmp_path: Path, desk: Desk) -> None:
    folder = a_run(tmp_path / "runs", "Order one mug")
    await desk.show("Order one mug")
    await desk.page.get_by_role("link", name="Verify").click()
    await expect(desk.page.get_by_role("heading", name="Everything holds")).to_be_visible()
    lines = folder / "steps.jsonl"
    lines.write_text(lines.read_text("utf-8").replace("Clicked 5.", "Clicked 6."), "utf-8")
    await desk.page.reload()
    await expect(desk.page.get_by_role("heading", name="fault")).to_be_visible()
    await expect(desk.page.locator("ul.faults")).to_contain_text("was changed after it was written")
    await expect(desk.page.get_by_text("it was not checked whether any event is missing")).to_be_visible()
