"""Every page can be read and used at every width, light and dark, without a mouse and without seeing it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe import violations

from tests.record.record_builder import story, write_run
from tests.ui.desk import Desk, a_run

WIDTHS = (390, 768, 1280, 1920)


async def addresses(desk: Desk) -> dict[str, str]:
    """The address of each page, by its name."""
    page, base = desk.page, desk.base
    await page.reload()
    keys = [str(await box.get_attribute("value")) for box in await page.locator(".card [name=run]").all()]
    run = f"{base}runs/{keys[0]}"
    return {
        "list": base,
        "rows": f"{base}?view=list&host=shop.example",
        "nothing found": f"{base}?q=zzz",
        "run": run,
        "done": f"{base}runs/{keys[1]}",
        "start": f"{base}start",
        "resume": f"{run}/resume",
        "replay": f"{run}/replay",
        "verify": f"{run}/verify",
        "report": f"{run}/report",
        "compare": f"{base}compare?run={keys[0]}&run={keys[1]}",
        "delete": f"{base}delete?run={keys[0]}&run={keys[1]}",
        "gone": f"{base}runs/nothing",
    }


def some(runs: Path) -> None:
    a_run(runs, "Order one mug, the blue one with the two handles, and have it wrapped as a present for a friend")
    a_run(runs, "Order two mugs", status="interrupted", sentence="Interrupted by Ctrl-C", model="anthropic:some-model")
    a_run(runs, "Averylongwordwithoutanyplacetobreakit" * 8, days=1, status="needs_person", url="https://" + "a" * 200)
    a_run(runs, "Book a seat", days=400, status="not_done")
    write_run(runs, story())


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "dark"), (390, "light"), (768, "light"), (1280, "dark"), (1920, "light")]
)
async def test_axe_finds_nothing_and_no_page_is_wider_than_the_window(
    tmp_path: Path, desk: Desk, width: int, scheme: str
) -> None:
    some(tmp_path / "runs")
    page = desk.page
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = {}
    for name, address in (await addresses(desk)).items():
        await page.goto(address)
        await desk.is_ready()
        wide = await page.evaluate("document.documentElement.scrollWidth")
        found[name] = [*await violations(page), *([f"{wide} px wide"] if wide > width else [])]
    desk.forgive(404)
    assert {name: each for name, each in found.items() if each} == {}


async def test_a_form_with_faults_names_them_beside_their_fields_and_keeps_what_was_written(desk: Desk) -> None:
    page = desk.page
    await page.goto(f"{desk.base}start")
    await page.get_by_label("Goal").fill("Order one mug")
    await page.get_by_label("Model", exact=True).fill("not a model")
    await page.get_by_label("Steps", exact=True).fill("0")
    await page.get_by_role("button", name="Start").click()
    alert = page.get_by_role("alert")
    assert len(await alert.get_by_role("listitem").all()) == 3
    assert await page.get_by_label("Goal").input_value() == "Order one mug"
    described = await page.get_by_label("Address").get_attribute("aria-describedby")
    assert re.search("Give the address", await page.locator(f"#{described}").inner_text())
    assert await violations(page) == []
    desk.forgive(422)
