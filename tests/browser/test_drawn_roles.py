"""Claims about what drawn things are said to be, on a page that knows what it drew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.geometry import Box
from vision_agent.observation import Mark

PAGE = Path(__file__).parents[2] / "fixtures" / "drawn" / "controls.html"
VIEW = {"width": 1024, "height": 660}


def mark_on(hand: Hand, thing: dict[str, Any]) -> Mark:
    box = Box.model_validate(thing["box"])
    return max(
        (mark for mark in hand.seen.marks if mark.source != "dom"),
        key=lambda mark: mark.box.likeness(box),
        default=None,
    )  # type: ignore[return-value]


async def test_drawn_controls_say_what_they_are_and_in_which_state(on: On) -> None:
    settings = SETTINGS.model_copy(update={"max_surface_marks": 80, "max_marks": 120})
    async with on("", {"/at": PAGE.read_text("utf-8")}, path="/at", settings=settings) as hand:
        await hand.page.set_viewport_size(VIEW)  # type: ignore[arg-type]
        await hand.look()
        things: list[dict[str, Any]] = await hand.js("drawn.controls()")
        found = [(thing, mark_on(hand, thing)) for thing in things]
        assert [(thing["role"], mark.looks_like) for thing, mark in found if thing["role"] != mark.looks_like] == []
        for name in ("selected", "disabled", "checked"):
            said = [(thing[name], getattr(mark.state, name)) for thing, mark in found if name in thing]
            is_true = [(is_so, mine in (True, "true")) for is_so, mine in said]
            assert is_true == [(is_so, is_so) for is_so, _ in said], name


async def test_drawn_things_are_listed_with_colour_stroke_and_role(on: On) -> None:
    async with on("", {"/at": PAGE.read_text("utf-8")}, path="/at") as hand:
        await hand.page.set_viewport_size(VIEW)  # type: ignore[arg-type]
        await hand.look()
        things: list[dict[str, Any]] = await hand.js("drawn.controls()")
        for thing in things:
            if "colour" in thing:
                assert thing["colour"] in mark_on(hand, thing).look.split()
        dashed = mark_on(hand, next(thing for thing in things if thing.get("dashed")))
        assert f"{dashed.number}[:]<box dashed red in=" in hand.seen.listing
        blue = mark_on(hand, next(thing for thing in things if thing.get("shape") == "round"))
        assert f"{blue.number}[:]<round blue in=" in hand.seen.listing
        save = mark_on(hand, things[0])
        assert f"{save.number}[:]<box blue role=button in=" in hand.seen.listing


async def test_the_line_of_a_surface_says_what_it_listens_to(on: On) -> None:
    hears = (
        "for (const type of ['mousedown', 'mousemove', 'wheel', 'keydown', 'paste']) c.addEventListener(type, () => {})"
    )
    canvas = "<canvas id=c tabindex=0 width=300 height=200 aria-label=Map></canvas>"
    async with on(f"{canvas}<script>{hears}</script><p onwheel='0' id=p>Text</p>") as hand:
        assert "listens=click,drag,wheel,key,paste>Map" in hand.seen.listing
        assert len(hand.seen.marks) == 1  # what only turns with the wheel is no target


async def test_a_drawn_edge_is_listed_with_the_numbers_of_what_it_connects(on: On) -> None:
    drawing = (
        "const pen = c.getContext('2d'); pen.fillStyle = '#dde6f2'; pen.fillRect(0, 0, 600, 300);"
        "pen.fillStyle = '#2f6fed'; pen.fillRect(40, 60, 100, 50); pen.fillRect(420, 200, 100, 50);"
        "pen.strokeStyle = '#555'; pen.lineWidth = 2; pen.moveTo(140, 85); pen.lineTo(420, 225); pen.stroke()"
    )
    async with on(f"<canvas id=c width=600 height=300 aria-label=Flow></canvas><script>{drawing}</script>") as hand:
        [edge] = [mark for mark in hand.seen.marks if mark.looks_like == "edge"]
        nodes = [mark.number for mark in hand.seen.marks if mark.looks_like == "node"]
        assert list(edge.joins) == nodes
        assert f"role=edge joins={nodes[0]},{nodes[1]} in=" in hand.seen.listing
