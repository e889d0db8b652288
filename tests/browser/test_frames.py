"""Claims about pages in several frames: what becomes of a look when one of them hangs, and where things in them lie."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from PIL import Image
from playwright.async_api import Browser, Page

from tests.conftest import Server
from vision_agent.actions import Click, Scroll
from vision_agent.browser import live
from vision_agent.browser.page.frame_place import FramePlace
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

PATIENT = ObserveSettings(quiet_s=0.03, settle_deadline_s=2, scan_deadline_s=20)
HANGS = "<button>Pay</button><script>addEventListener('message', () => { for (;;); });</script>"
AROUND = "<button>Fine</button><iframe name=pay src='SRC'></iframe>"


async def test_a_frame_that_hangs_is_said_to_be_missing_and_does_not_cost_the_deadline_again(
    page: Page, serve: Server
) -> None:
    other = serve({"/": HANGS}).replace("127.0.0.1", "localhost")
    async with live.attach(page, PATIENT, ImageLimits()) as browser:
        await browser.open(serve({"/": AROUND.replace("SRC", other)}))
        await page.wait_for_load_state()
        assert {mark.name for mark in (await browser.observe()).marks} == {"Fine", "Pay"}
        await page.evaluate("frames[0].postMessage('hang', '*')")
        for is_known_to_hang in (False, True):
            started = time.monotonic()
            observation = await browser.observe()
            assert [mark.name for mark in observation.marks] == ["Fine"]
            assert any(warning.startswith("frame pay is missing: no answer") for warning in observation.warnings)
            assert not is_known_to_hang or time.monotonic() - started < PATIENT.scan_deadline_s
        await page.evaluate("document.querySelector('iframe').remove()")
        assert not any("missing" in warning for warning in (await browser.observe()).warnings)


async def test_an_observation_says_where_each_frame_comes_from_by_the_name_that_its_marks_have(
    page: Page, serve: Server
) -> None:
    other = serve({"/form": "<button>Pay</button>"}).replace("127.0.0.1", "localhost") + "/form"
    async with live.attach(page, PATIENT, ImageLimits()) as browser:
        await browser.open(serve({"/": AROUND.replace("SRC", other)}))
        await page.wait_for_load_state()
        observation = await browser.observe()
        assert observation.frames == {"pay": other}
        assert {mark.name: mark.frame for mark in observation.marks} == {"Fine": "", "Pay": "pay"}


async def test_a_frame_that_scrolls_is_listed_and_scrolled_as_a_container(page: Page, serve: Server) -> None:
    long = "<body style='margin:0'><div style='height:400px'>Terms</div><button style='height:21px'>Accept</button>"
    around = f'<!doctype html><iframe name=terms height=200 srcdoc="<!doctype html>{long}"></iframe>'
    async with live.attach(page, PATIENT, ImageLimits()) as browser:
        await browser.open(serve({"/": around}))
        before = await browser.observe()
        assert "1[:]<iframe scroll 221px below> @frame:terms" in before.listing.splitlines()
        assert (await browser.act(Scroll(target=1, to="end"), before)).status == "done"
        after = await browser.observe()
        assert after.listing.startswith("1[:]<iframe scroll 221px above")
        assert [mark.name for mark in after.marks if mark.kind == "button"] == ["Accept"]


LOOSE = """<style>iframe{width:200px;height:60px;border:0}</style>
<main><i>Ann</i><iframe src='/delete#ann'></iframe><i>Bob</i><iframe src='/delete#bob'></iframe></main>
<script>
names = document.querySelectorAll('i'); gone = [];
swap = () => { [names[0].textContent, names[1].textContent] = [names[1].textContent, names[0].textContent]; };
</script>"""
DELETE = """<button onclick="parent.gone.push(location.hash)">Delete</button>
<script>onpointermove = () => { if (parent.onMove) parent.onMove(); };</script>"""


async def test_one_of_two_small_frames_can_be_clicked_unless_the_names_beside_them_are_swapped(
    page: Page, serve: Server
) -> None:
    async with live.attach(page, PATIENT, ImageLimits()) as browser:
        await browser.open(serve({"/": LOOSE, "/delete": DELETE}))
        await page.wait_for_load_state()
        first, second = (await browser.observe()).marks
        assert (await browser.act(Click(target=second.number), await browser.observe())).status == "done"
        await page.evaluate("onMove = () => { swap(); onMove = null; }")
        outcome = await browser.act(Click(target=first.number), await browser.observe())
        assert outcome.status == "refused"
        assert await page.evaluate("gone") == ["#bob"]


def test_a_point_comes_back_to_where_it_was_through_a_turned_frame_in_a_tilted_one() -> None:
    tilted = FramePlace().child_place((0.8, -0.2, 120, 0.1, 0.9, 40, 0.0004, -0.0002, 1))
    place = tilted.child_place((0.7, -0.7, 30, 0.7, 0.7, 5, 0, 0, 1))
    for x, y in ((0.0, 0.0), (200.0, 10.5), (33.3, 150.0)):
        assert place.to_frame(place.to_page(x, y)) == pytest.approx((x, y), abs=1e-6)


PAINTED = "<button aria-label=Painted style='position:absolute;left:30px;top:20px;width:90px;height:40px;margin:0;border:0;background:#f0f'></button>"
PLACES = {
    "plain": "",
    "padded": "border:7px solid #000;padding:11px 5px",
    "scaled": "border:4px solid #000;padding:9px;transform:scale(1.4);transform-origin:0 0",
    "shrunk": "zoom:0.7;border:5px solid #000",
    "turned": "transform:rotate(25deg);border:6px solid #000",
    "mirrored": "transform:scaleX(-1)",
    "skewed": "transform:skew(20deg,10deg)",
    "tilted": "transform:perspective(500px) rotateY(40deg) rotateX(10deg);padding:8px",
}


@pytest.mark.parametrize(
    ("site", "ratio"),
    [
        ("127.0.0.1", 1),
        ("localhost", 2),
        pytest.param("127.0.0.1", 2, marks=pytest.mark.thorough),
        pytest.param("localhost", 1, marks=pytest.mark.thorough),
    ],
)
async def test_the_box_of_what_is_in_a_frame_is_where_its_pixels_are(
    browser: Browser, serve: Server, site: str, ratio: int
) -> None:
    context = await browser.new_context(viewport={"width": 900, "height": 700}, device_scale_factor=ratio)
    page = await context.new_page()
    inner = serve({"/": f"<body style='margin:0'>{PAINTED}"}).replace("127.0.0.1", site)
    frame = f"<iframe src='{inner}' style='position:absolute;left:180px;top:140px;width:260px;height:160px;border:0;STYLE'></iframe>"
    try:
        async with live.attach(page, PATIENT, ImageLimits()) as looking:
            for name, style in PLACES.items():
                await looking.open(
                    serve({"/": f"<!doctype html><body style='margin:0'>{frame.replace('STYLE', style)}"})
                )
                await page.wait_for_load_state()
                observation = await looking.observe()
                assert observation.device_ratio == ratio
                [mark] = observation.marks
                assert observation.clean.data is not None
                pixels = np.asarray(Image.open(io.BytesIO(observation.clean.data)).convert("RGB"))
                reds, greens, blues = pixels[..., 0], pixels[..., 1], pixels[..., 2]
                ys, xs = np.nonzero((reds > 128) & (greens < 128) & (blues > 128))
                scale = observation.clean.map.scale_x
                measured = [xs.min() * scale, ys.min() * scale, (xs.max() + 1) * scale, (ys.max() + 1) * scale]
                box = mark.box
                assert [box.x, box.y, box.right, box.bottom] == pytest.approx(measured, abs=1.01), name
    finally:
        await context.close()
