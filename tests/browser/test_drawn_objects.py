"""Claims about what counts as an object in a drawing, on a page that knows what it drew."""

from __future__ import annotations

from pathlib import Path

from tests.browser.hand import On
from vision_agent.geometry import Box

DRAWN = Path(__file__).parents[2] / "fixtures" / "drawn"


async def test_shapes_are_marked_whole_whether_filled_or_not_and_nothing_else_is(on: On) -> None:
    pages = {"/scene.js": (DRAWN / "scene.js").read_text("utf-8"), "/at": (DRAWN / "outlines.html").read_text("utf-8")}
    async with on("", pages, path="/at?seed=11") as hand:
        await hand.page.set_viewport_size({"width": 1280, "height": 800})
        await hand.look()
        objects = [Box.model_validate(each["box"]) for each in await hand.js("drawn.controls()")]
        marks = [mark.box for mark in hand.seen.marks if mark.source != "dom" and mark.tag != "words"]
        missed = [each for each in objects if not any(each.likeness(mark) >= 0.6 for mark in marks)]
        wrong = [mark for mark in marks if not any(each.likeness(mark) >= 0.6 for each in objects)]
        assert missed == []
        assert len(wrong) <= 1
