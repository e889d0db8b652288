"""What is observed of a page that does not answer, so that a model can leave it: its address, and no marks.

Such a page can be reloaded or left. It knows neither how a page is scanned nor how it is left.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from playwright.async_api import Page

from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page.frames import Scan
from vision_agent.geometry import Box, Size
from vision_agent.observation import Observation, Tab
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

_USUAL = Size(width=1280, height=800)
_GREY = 224


def hung_observation(
    page: Page, pages: Sequence[Page], scan: Scan, image_limits: ImageLimits, *, epoch: int, now: datetime, why: str
) -> LiveObservation:
    """An observation without marks, with an empty picture, and with a warning that says what can be done.

    `scan` is the last one, without any frame if there was none; its marks are not those of this observation.
    """
    view = page.viewport_size
    size = Size(width=view["width"], height=view["height"]) if view else _USUAL
    rows = np.full((size.height, size.width, 3), _GREY, dtype=np.uint8)
    picture = Picture.of_rgb(rows, Box(x=0, y=0, width=size.width, height=size.height), image_limits)
    shot = picture.encode("png")
    warning = (
        f"The page does not answer: {why}. Its script may be in an endless loop. The picture is empty, and nothing on "
        "the page can be acted on: reload it, open an address, close the tab, or wait."
    )
    tabs = [
        Tab(number=number, url=each.url, title="(no answer)" if each is page else "", active=each is page)
        for number, each in enumerate(pages, 1)
    ]
    observation = Observation(
        id=uuid.uuid4().hex[:12],
        epoch=epoch,
        url=page.url,
        title="",
        taken_at=now,
        viewport=size,
        tabs=tuple(tabs),
        marks=(),
        listing="",
        clean=shot,
        marked=shot,
        phash=picture.phash(),
        at_rest=False,
        warnings=(warning,),
    )
    return LiveObservation(observation, page, tuple(pages), scan, picture, is_hung=True)
