"""The two fixture sites: each task can be reached, and what has not been reached is not taken for it."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, FrameLocator, Page

from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import (
    EndState,
    Expected,
    Report,
    Site,
    SiteTask,
    reached,
    served,
    tasks_of,
)

SITES = Path(__file__).parents[2] / "fixtures" / "sites"
SHOP, SEATS = SITES / "shop", SITES / "seats"


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[Path, Site]]:
    with served(SHOP) as shop, served(SEATS) as seats:
        yield {SHOP: shop, SEATS: seats}


@pytest.fixture
def shop(sites: dict[Path, Site]) -> Site:
    sites[SHOP].reset()
    return sites[SHOP]


@pytest.fixture
def seats(sites: dict[Path, Site]) -> Site:
    sites[SEATS].reset()
    return sites[SEATS]


def task(folder: Path, name: str) -> SiteTask:
    return next(task for task in tasks_of(folder) if task.id == name)


async def follow(page: Page, line: str) -> None:
    """Does one step line with plain Playwright, by exact names."""
    scope: Page | FrameLocator = page.frame_locator("iframe") if page.url.endswith("/checkout") else page
    if found := re.fullmatch(r"click \(([\d.]+), ([\d.]+)\) of (.+)", line):
        box = await page.get_by_label(found[3]).bounding_box()
        assert box
        await page.mouse.click(box["x"] + float(found[1]) * box["width"], box["y"] + float(found[2]) * box["height"])
    elif found := re.fullmatch(r"click the (.+) (link|checkbox)", line):
        await scope.get_by_role("link" if found[2] == "link" else "checkbox", name=found[1], exact=True).click()
    elif found := re.fullmatch(r"click (.+)", line):
        kinds = [scope.get_by_role(kind, name=found[1], exact=True) for kind in ("button", "link", "tab", "radio")]
        named = scope.get_by_role("checkbox", name=found[1], exact=True)
        for kind in kinds:
            named = named.or_(kind)
        await named.click()
    elif found := re.fullmatch(r'type "(.+)" into (.+)', line):
        await scope.get_by_label(found[2], exact=True).fill(found[1])
    elif found := re.fullmatch(r"select (.+) in (.+)", line):
        await scope.get_by_label(found[2], exact=True).select_option(found[1])
    elif found := re.fullmatch(r"press (\w+) in (.+)", line):
        await scope.get_by_label(found[2], exact=True).press(found[1])
    elif found := re.fullmatch(r'wait for "(.+)"', line):
        await page.get_by_text(found[1]).wait_for()
    else:
        assert line.startswith("finish"), f"the driver does not know {line!r}"


async def reported(site: Site, page: Page, event: str) -> Report:
    """The last report of this kind; asks the server, which answers in the order of arrival."""
    asks = "event => fetch('/api/log').then(answer => answer.json()).then(log => log.some(one => one.event === event))"
    async with asyncio.timeout(120):
        while not await page.evaluate(asks, event):
            pass
    return [report for report in site.state() if report.event == event][-1]


# --- tasks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        pytest.param(folder, task.id, id=task.id, marks=pytest.mark.thorough if at else ())
        for folder in (SHOP, SEATS)
        for at, task in enumerate(tasks_of(folder))
    ],
)
async def test_reference_steps_reach_the_end_state_and_nothing_less_does(
    page: Page, sites: dict[Path, Site], folder: Path, name: str
) -> None:
    wanted, site = task(folder, name), sites[folder]
    await page.goto(site.start(wanted, session=name))
    for line in wanted.steps[:-3]:
        await follow(page, line)
    assert not reached(wanted.expect, site.state(name)).reached

    for line in wanted.steps[-3:]:
        await follow(page, line)
    await page.wait_for_load_state("networkidle")
    verdict = reached(wanted.expect, site.state(name))
    assert verdict.reached, verdict.sentence


@pytest.mark.thorough
async def test_another_size_is_not_the_order_that_was_wanted(page: Page, shop: Site) -> None:
    wanted = task(SHOP, "order-hoodie")
    await page.goto(shop.start(wanted))
    for line in wanted.steps:
        await follow(page, line.replace("select Large", "select Medium"))
    verdict = reached(wanted.expect, shop.state())
    assert not verdict.reached
    assert '"size": "Large"' in verdict.sentence
    assert '"size": "Medium"' in verdict.sentence


async def test_a_neighbouring_seat_is_not_the_one_that_was_wanted(page: Page, seats: Site) -> None:
    wanted = task(SEATS, "book-two-in-the-stalls")
    await page.goto(seats.start(wanted))
    for line in wanted.steps:
        await follow(page, line.replace("(0.580, 0.444)", "(0.473, 0.446)"))
    verdict = reached(wanted.expect, seats.state())
    assert not verdict.reached
    assert '["C6", "C7"]' in verdict.sentence


# --- the shop ---------------------------------------------------------------------------------------------------------


async def in_checkout(page: Page, shop: Site) -> FrameLocator:
    await page.goto(f"{shop.url}/product?sku=enamel-mug")
    for line in ("click Only necessary", "click Add to cart", "click View cart", "click Go to checkout"):
        await follow(page, line)
    return page.frame_locator("iframe")


@pytest.mark.thorough
async def test_an_empty_checkout_names_every_field_and_orders_nothing(page: Page, shop: Site) -> None:
    form = await in_checkout(page, shop)
    await form.get_by_role("button", name="Place order").click()
    assert await form.get_by_text("8 things need your attention.").is_visible()
    found = await reported(shop, page, "invalid")
    assert found.fields["fields"] == ["name", "email", "street", "postcode", "city", "country", "payment", "terms"]
    assert not [report for report in shop.state() if report.event == "order_placed"]


@pytest.mark.parametrize(
    ("country", "postcode", "message"),
    [
        ("Germany", "1096", "In Germany, such as 10115."),
        pytest.param("Netherlands", "1015", "In Netherlands, such as 1015 CX.", marks=pytest.mark.thorough),
        pytest.param("Sweden", "1112", "In Sweden, such as 111 29.", marks=pytest.mark.thorough),
        ("Sweden", "111 29", ""),
        pytest.param("France", "75001", "", marks=pytest.mark.thorough),
    ],
)
async def test_a_postcode_is_judged_by_its_country(
    page: Page, shop: Site, country: str, postcode: str, message: str
) -> None:
    form = await in_checkout(page, shop)
    await form.get_by_label("Postcode").fill(postcode)
    await form.get_by_label("Country").select_option(country)
    await form.get_by_role("button", name="Place order").click()
    await form.get_by_text("things need your attention").wait_for()
    assert await form.locator(".field:has(#postcode) .error").text_content() == message
    assert (await form.locator("#postcode").get_attribute("aria-invalid") == "true") is bool(message)


async def test_the_checkout_frame_is_as_tall_as_its_form(page: Page, shop: Site) -> None:
    form = await in_checkout(page, shop)
    await form.get_by_role("button", name="Place order").click()
    await form.get_by_text("things need your attention").wait_for()
    await page.wait_for_function(
        """() => { const frame = document.querySelector('iframe');
                   const inner = frame.contentDocument.documentElement;
                   return inner.scrollHeight <= inner.clientHeight && inner.clientHeight > 700; }"""
    )
    assert await page.evaluate("getComputedStyle(document.querySelector('iframe')).padding") == "20px"


async def test_the_cookie_dialog_is_in_the_way_until_it_is_answered(page: Page, shop: Site) -> None:
    await page.goto(shop.url)
    await page.get_by_role("dialog", name="A few cookies?").wait_for()
    on_top = "at => document.elementFromPoint(at.x, at.y).closest('.backdrop') !== null"
    box = await page.get_by_role("link", name="Harbor Hoodie", exact=True).bounding_box()
    assert box
    at = {"x": box["x"] + 5, "y": box["y"] - 60}
    assert await page.evaluate(on_top, at)
    await page.get_by_role("button", name="Only necessary").click()
    assert not await page.evaluate(on_top, at)
    assert (await reported(shop, page, "cookies")).fields == {"choice": "necessary"}


@pytest.mark.thorough
async def test_a_card_opens_the_product_and_its_button_only_adds(page: Page, shop: Site) -> None:
    await page.goto(shop.url)
    await page.get_by_role("button", name="Accept all").click()
    await page.get_by_role("button", name="Add Harbor Hoodie to cart").click()
    await page.get_by_text("Added to your cart").wait_for()
    assert page.url == f"{shop.url}/"
    assert shop.state()[-1] == Report(event="cart_added", fields={"sku": "harbor-hoodie", "size": "Medium", "qty": 1})
    box = await page.get_by_role("article").first.bounding_box()
    assert box
    await page.mouse.click(box["x"] + 80, box["y"] + 120)
    await page.wait_for_url("**/product?sku=harbor-hoodie")


async def test_a_size_must_be_chosen_before_anything_is_added(page: Page, shop: Site) -> None:
    await page.goto(f"{shop.url}/product?sku=harbor-hoodie")
    await page.get_by_role("button", name="Accept all").click()
    await page.get_by_role("button", name="Add to cart", exact=True).click()
    assert await page.get_by_text("Please choose a size first.").is_visible()
    assert [report.event for report in shop.state()] == ["cookies"]


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("/?q=TEE", ["Fjord Tee", "Steel Bottle", "Pocket Stripe Tee"]),
        ("/?category=Bags&sort=low", ["Market Tote", "Roam Backpack"]),
        ("/?category=Outerwear&max=100&stock=1", ["Cabin Overshirt"]),
        ("/?sale=1&sort=high", ["Lambswool Blanket", "Moss Crewneck"]),
        ("/?q=tractor", []),
    ],
)
async def test_filters_search_and_sorting_show_what_they_say(
    page: Page, shop: Site, address: str, names: list[str]
) -> None:
    await page.goto(shop.url + address)
    await page.get_by_role("dialog").wait_for()
    assert await page.locator(".card h3").all_text_contents() == names


@pytest.mark.parametrize("path", ["/", "/product?sku=harbor-hoodie", "/cart", "/checkout", "/thanks?order=N-1"])
async def test_the_shop_fits_a_phone(page: Page, shop: Site, path: str) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(shop.url + path, wait_until="networkidle")
    assert await page.evaluate("document.documentElement.scrollWidth") == 360


# --- the seats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ratio", [pytest.param(1, marks=pytest.mark.thorough), pytest.param(2, marks=pytest.mark.thorough), 3]
)
async def test_every_free_seat_is_hit_at_its_centre_and_the_canvas_is_as_sharp_as_the_screen(
    browser: Browser, sites: dict[Path, Site], ratio: int
) -> None:
    session = f"ratio {ratio}"
    site = sites[SEATS]
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, device_scale_factor=ratio)
    page = await context.new_page()
    await page.goto(site.start(tasks_of(SEATS)[0], session))
    await page.wait_for_function("window.seatmap")
    width = await page.evaluate("document.querySelector('canvas').width / document.querySelector('canvas').clientWidth")
    assert width == ratio

    wanted = [("A", 1), ("A", 12), ("C", 7), ("H", 12), ("F", 3), ("E", 8)]
    for row, seat in wanted:
        at = await page.evaluate("id => window.seatmap.centerOf(id)", f"{row}{seat}")
        await page.mouse.click(at["x"], at["y"])
    await page.get_by_role("button", name="Book").click()
    await page.get_by_text("the tickets are yours").wait_for()
    await context.close()

    chosen = {(r.fields["row"], r.fields["seat"]) for r in site.state(session) if r.event == "seat_selected"}
    assert chosen == set(wanted)
    assert site.state(session)[-1].fields == {"seats": ["A1", "A12", "C7", "E8", "F3", "H12"]}


async def test_a_taken_seat_cannot_be_chosen(page: Page, seats: Site) -> None:
    await page.goto(seats.url)
    await page.wait_for_function("window.seatmap")
    at = await page.evaluate("window.seatmap.centerOf('A3')")
    await page.mouse.click(at["x"], at["y"])
    assert await page.get_by_role("button", name="Book").is_disabled()
    assert seats.state() == ()


async def test_dragging_moves_a_zoomed_map_and_chooses_nothing(page: Page, seats: Site) -> None:
    await page.goto(seats.url)
    await page.get_by_role("button", name="Zoom in").click()
    before = await page.evaluate("window.seatmap.centerOf('C7')")
    await page.mouse.move(before["x"], before["y"])
    await page.mouse.down()
    await page.mouse.move(before["x"] + 60, before["y"] + 30, steps=4)
    await page.mouse.up()
    after = await page.evaluate("window.seatmap.centerOf('C7')")
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((60, 30), abs=0.5)
    assert seats.state() == ()


async def test_hovering_a_seat_changes_the_picture(page: Page, seats: Site) -> None:
    await page.goto(seats.url)
    await page.wait_for_function("window.seatmap")
    plain = await page.locator("canvas").screenshot()
    at = await page.evaluate("window.seatmap.centerOf('D7')")
    await page.mouse.move(at["x"], at["y"])
    assert await page.locator("canvas").screenshot() != plain
    await page.mouse.move(5, 5)
    assert await page.locator("canvas").screenshot() == plain


# --- the server and the check -----------------------------------------------------------------------------------------


async def test_two_browser_contexts_keep_their_own_logs(browser: Browser, sites: dict[Path, Site]) -> None:
    site, first_task = sites[SHOP], tasks_of(SHOP)[0]
    one, other = await browser.new_context(), await browser.new_context()
    for context, session, choice in ((one, "ann", "Accept all"), (other, "bö b", "Only necessary")):
        page = await context.new_page()
        await page.goto(site.start(first_task, session))
        await page.get_by_role("button", name=choice).click()
        await page.wait_for_load_state("networkidle")
    await one.close()
    await other.close()
    assert site.state("ann") == (Report(event="cookies", fields={"choice": "all"}),)
    assert site.state("bö b") == (Report(event="cookies", fields={"choice": "necessary"}),)


def status_of(url: str, body: bytes | None = None) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body)) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_the_tasks_and_what_is_outside_the_folder_are_not_served(shop: Site) -> None:
    assert status_of(f"{shop.url}/cart") == 200
    assert status_of(f"{shop.url}/tasks.json") == 404
    assert status_of(f"{shop.url}/%2e%2e/seats/seats.js") == 404
    assert status_of(f"{shop.url}/nothing") == 404


def test_sites_have_what_is_common_to_them_and_through_it_nothing_else(shop: Site) -> None:
    assert status_of(f"{shop.url}/common/pen.js") == 200
    assert status_of(f"{shop.url}/common/%2e%2e/seats/seats.js") == 404
    assert status_of(f"{shop.url}/common/") == 404


def test_what_a_site_has_of_its_own_comes_before_what_is_common(tmp_path: Path) -> None:
    for at, words in (("common/pen.js", "shared"), ("common/ink.js", "shared"), ("site/common/pen.js", "own")):
        (tmp_path / at).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / at).write_text(words)
    with served(tmp_path / "site") as site:
        for name, words in (("pen", b"own"), ("ink", b"shared")):
            with urllib.request.urlopen(f"{site.url}/common/{name}.js") as response:
                assert response.read() == words


@pytest.mark.parametrize("body", [b"", b"[]", b'{"sku": 1}', b'{"event": 7}', b"{"])
def test_what_is_not_a_report_is_refused(shop: Site, body: bytes) -> None:
    assert status_of(f"{shop.url}/api/log", body) == 422
    assert shop.state() == ()


def test_the_log_can_be_read_over_http_and_forgotten(shop: Site) -> None:
    status_of(f"{shop.url}/api/log", b'{"event": "seen", "deep": {"a": [1, null]}}')
    with urllib.request.urlopen(f"{shop.url}/api/log") as response:
        assert json.load(response) == [{"event": "seen", "deep": {"a": [1, None]}}]
    shop.reset()
    assert shop.state() == ()


def placed(**fields: object) -> Report:
    return Report.model_validate({"event": "placed", "fields": fields})


def wanting(count: int | None = None, never: tuple[Expected, ...] = (), **fields: object) -> SiteTask:
    wanted = Expected.model_validate({"event": "placed", "fields": fields, "count": count})
    return SiteTask(id="t", goal="", steps=(), expect=EndState(events=(wanted,), never=never))


@pytest.mark.parametrize(
    ("wanted", "log", "words"),
    [
        (wanting(a=1), (), "there is no placed report"),
        (wanting(a=1), (placed(a=2),), 'wanted placed {"a": 1}, but the only such reports are placed {"a": 2}'),
        (wanting(a=1), (placed(a="1"),), "wanted"),
        (wanting(items=[{"sku": "x"}]), (placed(items=[{"sku": "x"}, {"sku": "y"}]),), "wanted"),
        (wanting(count=1, a=1), (placed(a=1), placed(a=1)), "1 times, found it 2 times"),
        (wanting(a=1, never=(Expected(event="lost"),)), (placed(a=1), Report(event="lost")), "lost should never"),
    ],
)
def test_what_is_missing_or_too_much_is_named(wanted: SiteTask, log: tuple[Report, ...], words: str) -> None:
    verdict = reached(wanted.expect, log)
    assert not verdict.reached
    assert words in verdict.sentence


def test_more_than_what_was_asked_for_in_a_report_does_no_harm() -> None:
    verdict = reached(wanting(items=[{"sku": "x"}]).expect, (placed(items=[{"sku": "x", "qty": 2}], total=4),))
    assert verdict.reached
    assert verdict.sentence == 'Reached: placed {"items": [{"sku": "x"}]}'


def test_a_folder_without_tasks_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no tasks\.json"):
        tasks_of(tmp_path)
    (tmp_path / "tasks.json").write_text('[{"id": "x"}]')
    with pytest.raises(UsageError, match="is not a list of tasks"):
        tasks_of(tmp_path)
    with pytest.raises(UsageError, match="not a folder"), served(tmp_path / "no"):
        pass
