"""Claims about drawing in the page: the same pixels as ours, and nothing where nothing is to be drawn."""

from __future__ import annotations

import base64
import re

import cv2
import numpy as np
import pytest
from playwright.async_api import Page

from vision_agent.assets import overlay_sources
from vision_agent.geometry import Box
from vision_agent.observation import Kind, Mark
from vision_agent.vision.labels.annotate import Layer, draw, layer
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import Picture, Pixels, pixels_of


def marks() -> list[Mark]:
    """One of everything: each kind, touching, nested, dashed, cut off, and cells too small for their number."""
    kinds: list[Kind] = ["button", "link", "field", "toggle", "scroller", "surface", "guess"]
    boxes = [(20 + n * 60, 20, 60, 30) for n in range(7)]
    boxes += [(20, 80, 400, 200), (30, 90, 100, 40), (-20, 300, 60, 30), (600, 440, 80, 60)]
    boxes += [(480 + x * 12, 200 + y * 12, 12, 12) for x in range(6) for y in range(6)]
    return [
        Mark(
            number=number,
            tag="x",
            role="x",
            kind=kinds[number % 7],
            name="",
            box=(box := Box(x=x, y=y, width=width, height=height)),
            point=box.center,
            source="cv" if number % 5 == 0 else "dom",
            letter="" if number % 4 else "M",
        )
        for number, (x, y, width, height) in enumerate(boxes, 97)
    ]


def clean(width: int = 640, height: int = 480) -> Picture:
    pixels = np.random.default_rng(9).integers(0, 256, (height // 8, width // 8, 3)).astype(np.uint8)
    pixels = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_NEAREST)
    return Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), Box(x=0, y=0, width=width, height=height))


async def drawn_in_page(page: Page, plan: Layer) -> Pixels:
    """The layer as the page paints it, with transparency."""
    source = re.sub(r"^export ", "", overlay_sources()["draw.js"], flags=re.MULTILINE)
    url = await page.evaluate(
        f"layer => {{ {source}\n return paintLayer(document, layer).toDataURL(); }}", plan.model_dump(mode="json")
    )
    assert url.startswith("data:image/png;base64,")
    data = np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8)
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_UNCHANGED), np.uint8)


def over(picture: Picture, layer: Pixels) -> Pixels:
    """The picture with a transparent layer on top."""
    ground, share = pixels_of(picture), layer[..., 3:] / 255
    return np.rint(layer[..., :3] * share + ground * (1 - share)).astype(np.uint8)


async def test_the_page_draws_the_pixels_we_draw(page: Page) -> None:
    picture = clean()
    plan = layer(place(marks(), picture), picture)
    assert plan.leaders, "the layout is meant to need some"
    theirs = over(picture, await drawn_in_page(page, plan))
    assert np.array_equal(theirs, pixels_of(draw(picture, plan)))


async def test_the_layer_is_transparent_where_nothing_is_drawn(page: Page) -> None:
    picture = clean()
    assert not (await drawn_in_page(page, Layer(size=picture.size))).any()


@pytest.mark.parametrize("markup", ["<p>page</p>", "<svg xmlns='http://www.w3.org/2000/svg'></svg>"])
async def test_the_page_is_not_touched(page: Page, markup: str) -> None:
    await page.set_content(markup)
    before = await page.content()
    await page.evaluate(
        "() => { window.seen = []; new MutationObserver((all) => window.seen.push(...all))"
        ".observe(document, { subtree: true, childList: true, attributes: true, characterData: true }); }"
    )
    picture = clean()
    await drawn_in_page(page, layer(place(marks(), picture), picture))
    assert await page.evaluate("new Promise((done) => setTimeout(() => done(window.seen.length)))") == 0
    assert await page.content() == before


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
async def test_the_layer_has_one_pixel_for_one_whatever_the_device_ratio_and_theme(browser, colour_scheme) -> None:
    context = await browser.new_context(device_scale_factor=2, color_scheme=colour_scheme)
    picture = clean(333, 211)
    plan = layer(place(marks()[:9], picture), picture)
    painted = await drawn_in_page(await context.new_page(), plan)
    await context.close()
    assert np.array_equal(over(picture, painted), pixels_of(draw(picture, plan)))
