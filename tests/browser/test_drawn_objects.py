"""Claims about what counts as an object in a drawing, on a page that knows what it drew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.hand import SETTINGS, On
from vision_agent.actions import Click, Point
from vision_agent.geometry import Box
from vision_agent.vision.ocr import can_read

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


PILLS = """<canvas width=640 height=200 aria-label=Legend></canvas><script>
const pen = document.querySelector("canvas").getContext("2d");
pen.fillStyle = "#fff"; pen.fillRect(0, 0, 640, 200);
const pill = (x, y, width, height, radius) => { pen.beginPath(); pen.roundRect(x, y, width, height, radius); };
pen.font = "600 14px sans-serif"; pen.textBaseline = "middle";
const pills = ["Shop", "Online", "Caf\u00e9s", "Wholesale"].map((name, at) => {
  const box = { x: 20 + 140 * at, y: 40, width: 42 + Math.round(pen.measureText(name).width), height: 30 };
  pill(box.x + 0.5, box.y + 0.5, box.width - 1, 29, 14.5); pen.strokeStyle = "#e2e6ef"; pen.stroke();
  pill(box.x + 12, box.y + 9, 12, 12, 4); pen.fillStyle = ["#4457d6", "#12a594", "#f2a516", "#e5556e"][at]; pen.fill();
  pen.fillStyle = "#1c2233";
  pen.fillText(name, box.x + 31, box.y + 16);
  return { name, box };
});
window.drawn = { controls: () => pills };
</script>"""


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
async def test_letters_near_the_rim_of_a_pill_are_no_dashes_and_the_pill_has_its_name(on: On) -> None:
    async with on(
        "<style>body{margin:0}</style>" + PILLS, settings=SETTINGS.model_copy(update={"ocr_deadline_s": 60})
    ) as hand:
        for pill in await hand.js("drawn.controls()"):
            box = Box.model_validate(pill["box"])
            best = max(
                (mark for mark in hand.seen.marks if mark.source != "dom"), key=lambda mark: mark.box.likeness(box)
            )
            assert (best.name, best.box.likeness(box) >= 0.6) == (pill["name"], True), hand.seen.listing
        assert "dashed" not in hand.seen.listing


PANEL = """<canvas width=300 height=120 aria-label=Panel></canvas><script>
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d"), drawn = { lamp: false, caret: false };
const draw = () => {
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, 300, 120);
  pen.fillStyle = drawn.lamp ? "#16a34a" : "#e5e7eb"; pen.fillRect(120, 40, 9, 9);
  if (drawn.caret) { pen.fillStyle = "#111"; pen.fillRect(40, 30, 2, 18); }
};
canvas.onclick = (event) => { drawn[event.offsetX > 90 ? "lamp" : "caret"] ^= true; draw(); };
draw();
</script>"""


async def test_a_lamp_that_lights_in_a_drawing_is_a_change_and_a_caret_is_none(on: On) -> None:
    async with on("<style>body{margin:0}</style>" + PANEL) as hand:
        [surface] = [mark for mark in hand.seen.marks if mark.kind == "surface"]
        at = Point(x=surface.box.x + 200, y=surface.box.y + 80)
        outcome = await hand.act(Click(target=at))
        assert "changed, within" in outcome.sentence, outcome.sentence
        await hand.look()
        at = Point(x=surface.box.x + 60, y=surface.box.y + 80)
        outcome = await hand.act(Click(target=at))
        assert "Nothing changed" in outcome.sentence, outcome.sentence
