"""Claims about number plates that a page paints: they are noticed, and ours look different."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageStat
from playwright.async_api import Page

from tests.conftest import ROOT, Server
from vision_agent.browser import live
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels.lookalikes import distinct_style
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import PALETTE, STYLE, contrast, dark_plate_colour

LIGHT = "the page paints numbers that look like marks: only white numbers on dark plates are marks here"
BOTH = "the page paints numbers that look like marks, in both of their styles: trust the numbers of the listing only"
PAGES = sorted((ROOT / "fixtures" / "pages").glob("*.html"))


async def looked_at(page: Page, address: str) -> Observation:
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits(), start_url=address) as browser:
        await browser.open(address)
        return await browser.observe()


def painted(numbers: str, plate: str, ink: str = "#000") -> str:
    style = (
        f"display:inline-block;margin:9px;padding:2px 3px;font:bold 12px/12px sans-serif;background:{plate};color:{ink}"
    )
    return "".join(f"<span style='{style}'>{number}</span>" for number in numbers.split())


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        (painted("2 3", "#ffcfb5"), LIGHT),
        (painted("1 2 3 4", "#b5d8ff"), LIGHT),
        (painted("2 13", "#bbffd8") + painted("7 8", "#690001", "#fff"), BOTH),
        (painted("2", "#ffcfb5"), ""),
        (painted("2 3", "#eee"), ""),
        (painted("2 3", "#c00", "#fff"), ""),
        ("<span style='background:#ffcfb5'>Two lines of text on a tint</span><br><br>" * 2, ""),
        ("<div style='background:#b5d8ff;width:300px;height:200px'>Notice 2</div>" * 2, ""),
    ],
)
async def test_plates_that_a_page_paints_are_noticed(page: Page, serve: Server, body: str, warning: str) -> None:
    seen = await looked_at(page, serve({"/": f"<!doctype html><body>{body}<p><button>Save</button>"}))
    assert [each for each in seen.warnings if "look like marks" in each] == ([warning] if warning else [])


async def test_numbers_are_drawn_white_on_dark_where_the_page_paints_light_plates(page: Page, serve: Server) -> None:
    body = "<!doctype html><body style='background:#fff'><p><button>Save</button></p>"
    plain = await looked_at(page, serve({"/": body}))
    seen = await looked_at(page, serve({"/": body + painted("2 3", "#ffcfb5")}))
    label = seen.marks[0].label
    assert label is not None
    tones = [tones_of(each, label.box) for each in (plain, seen)]
    assert tones[0] > 150 > tones[1], "the plate covers more of the label than the digits do"


def tones_of(seen: Observation, box: Box) -> float:
    """The mean tone of a part of the marked picture, 0 to 255."""
    assert seen.marked.data is not None
    shown = Image.open(io.BytesIO(seen.marked.data)).convert("L")
    return ImageStat.Stat(shown.crop((int(box.x), int(box.y), int(box.right), int(box.bottom)))).mean[0]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
async def test_a_page_of_ours_has_no_plates_and_its_marks_do(page: Page, serve: Server, path: Path) -> None:
    seen = await looked_at(page, f"{serve.folder(path.parent)}/{path.name}")
    assert distinct_style(Picture.of(seen.clean), STYLE).style == STYLE
    if sum(mark.label is not None for mark in seen.marks) > 4:
        assert distinct_style(Picture.of(seen.marked), STYLE).style.has_dark_plates


def test_white_digits_are_legible_on_every_dark_plate() -> None:
    for shade in (shade for shades in PALETTE.values() for shade in shades):
        assert contrast(dark_plate_colour(shade), "#ffffff") >= 7
