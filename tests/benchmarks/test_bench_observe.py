"""The benchmark measures what it says: its pages hold what they promise, and every figure is there."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from bench_observe import STAGES
from bench_pages import long_list, table
from playwright.async_api import Page

from vision_agent import observe


@pytest.mark.parametrize("marks", [50, 200, 600])
async def test_the_table_shows_exactly_as_many_marks_as_asked(marks: int, page: Page) -> None:
    await page.set_content(table(marks))

    assert len((await observe(page)).marks) == marks


@pytest.mark.parametrize("elements", [100, 1_000, 20_000])
async def test_the_list_has_about_as_many_elements_as_asked(elements: int, page: Page) -> None:
    await page.set_content(long_list(elements))

    found = await page.evaluate("document.querySelectorAll('*').length")

    assert abs(found - elements) <= 16


async def test_a_longer_list_shows_much_the_same(page: Page) -> None:
    shown = []
    for elements in (100, 5_000):
        await page.set_content(long_list(elements))
        shown.append(len((await observe(page)).marks))

    assert 0 <= shown[1] - shown[0] <= 5


def test_a_seed_makes_the_same_page_again() -> None:
    assert table(200, seed=3) == table(200, seed=3) != table(200, seed=4)


@pytest.mark.thorough
async def test_the_data_names_every_stage_and_every_ratio() -> None:
    command = (str(Path(__file__).with_name("bench_observe.py")), "--rounds", "1", "--json")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, trouble = await process.communicate()

    assert process.returncode == 0, trouble.decode()
    data = json.loads(said)
    assert set(data["marks"]) == {"50", "200", "600"}
    assert data["marks"]["200"]["marks"] == 200
    assert data["marks"]["200"]["observation_to_screenshot"] > 0
    assert tuple(data["marks"]["200"]["stages"]) == STAGES
    assert set(data["scans"]) == {"1000", "10000", "50000"}
    assert data["growth"]["ratio"] > 0
