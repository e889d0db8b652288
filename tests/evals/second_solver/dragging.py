"""Dragging marks onto others, into boxes that are only drawn, by a distance, or into an order."""

from __future__ import annotations

import re
from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from second_solver import colours
from second_solver.player import GivenUp, Player, quoted
from second_solver.shapes import KINDS
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.geometry import Box
from vision_agent.observation import Mark

_SHAPES = ("rect", "circle", "ellipse", "polygon")


async def _by(p: Player, mark: Mark, right: float, down: float) -> None:
    """Drags a mark by CSS pixels."""
    scale = (await p.view()).seen.marked.map
    await p.drag(mark, actions.Offset(right=right / scale.scale_x, down=down / scale.scale_y))


async def _into(p: Player, mark: Mark, x: float, y: float) -> None:
    now = (await p.view()).again(mark) or mark
    await _by(p, now, x - now.point.x, y - now.point.y)


async def box(p: Player, said: re.Match[str]) -> None:
    """The smaller box into the larger."""
    small, large = sorted((await p.view()).all("div")[:2], key=lambda mark: mark.box.width * mark.box.height)
    await p.drag(small, large)
    await p.submit()


async def one_way(p: Player, said: re.Match[str]) -> None:
    """The only shape, in a direction."""
    mark = (await p.view()).all(*_SHAPES)[0]
    right, down = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[said["way"]]
    await _by(p, mark, 35 * right, 35 * down)
    await p.submit()


def _frames(view: View) -> list[Box]:
    """Empty rectangles with a dark outline, from left to right."""
    crop = view.crop(AREA)
    dark = np.asarray(crop.max(axis=2) < 100, np.uint8)
    outlines, _ = cv2.findContours(dark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = [cv2.boundingRect(each) for each in outlines]
    boxes = [Box(x=AREA.x + x, y=AREA.y + y, width=w, height=h) for x, y, w, h in found if w > 45 and h > 30]
    return sorted(boxes, key=lambda each: each.x)


def _fits(view: View, mark: Mark, what: str) -> bool:
    if (kind := what.removesuffix("s")) in KINDS:
        return KINDS[kind](mark)
    among = {"red", "green", "blue", "yellow", "black", "aqua", "magenta", "orange", "purple"}
    return colours.name_of(colours.ink(view.crop(mark.box)), among) == what


async def shapes(p: Player, said: re.Match[str]) -> None:
    """Shapes of a kind into a box, and the others into another if there are two."""
    view = await p.view()
    frames = _frames(view)
    if not frames:
        raise GivenUp("no box is drawn")
    what = said["what"].removesuffix(" shapes")
    for index, mark in enumerate(view.all(*_SHAPES)):
        fits = _fits(view, mark, what)
        if not fits and len(frames) == 1:
            continue
        frame = frames[0] if fits else frames[-1]
        spread = (index % 5 - 2) * min(8.0, frame.width / 10)
        await _into(p, mark, frame.center.x + spread, frame.center.y + spread / 2)
    await p.submit()


def _order(view: View) -> list[Mark]:
    return view.all("li")


async def _arrange(p: Player, wanted: list[str]) -> None:
    """Drags items until their order is as wanted.

    Raises:
        GivenUp: it does not come.
    """
    for _ in range(4 * len(wanted)):
        items = _order(await p.look())
        names = [mark.name for mark in items]
        if names == wanted:
            return
        if sorted(names) != sorted(wanted):
            raise GivenUp(f"the items are {names}")
        index = next(at for at, name in enumerate(wanted) if names[at] != name)
        await p.drag(items[names.index(wanted[index])], items[index])
    raise GivenUp(f"the order does not become {wanted}:\n{(await p.view()).seen.listing}")


async def item(p: Player, said: re.Match[str]) -> None:
    """An item to another place of a list."""
    items = _order(await p.view())
    names = [mark.name for mark in items]
    index, where = names.index(said["name"]), said["where"]
    if match := re.search(r"(\d+)\w\w position", where):
        to = int(match[1]) - 1
    elif "by one" in where:
        to = index + (-1 if "up" in where else 1)
    else:
        to = 0 if "top" in where else len(names) - 1
    await p.drag(items[index], items[to])


async def item_in_grid(p: Player, said: re.Match[str]) -> None:
    """An item to a cell of a grid of three by three, onto the item that is there."""
    items = _order(await p.view())
    index, where = [mark.name for mark in items].index(said["name"]), said["where"]
    row, column = divmod(index, 3)
    if "by one" in where:
        row += ("down" in where) - ("up" in where)
        column += ("right" in where) - ("left" in where)
    else:
        row = 0 if "top" in where else 2 if "bottom" in where else 1
        column = 0 if "left" in where else 2 if "right" in where else 1
    await p.drag(items[index], items[3 * row + column])


async def sort(p: Player, said: re.Match[str]) -> None:
    """Numbers of a list, the lowest at the top."""
    names = [mark.name for mark in _order(await p.view())]
    await _arrange(p, sorted(names, key=int))
    await p.submit()


async def resize(p: Player, said: re.Match[str]) -> None:
    """A text area, by its corner."""
    corner = (await p.view()).all("div")
    if not corner:
        raise GivenUp("the corner has no mark")
    off = 25 if said["how"] == "larger" else -25
    await _by(p, corner[-1], off if said["side"] == "width" else 0, off if said["side"] == "height" else 0)
    await p.submit()


async def cube(p: Player, said: re.Match[str]) -> None:
    """A cube, turned until the side with a number, drawn in red, is the one that faces.

    The two sides at its poles come by dragging up and down, the four others by dragging sideways when none of the two
    faces. Nothing on the cube has a mark, but it turns wherever the mouse is dragged.
    """
    wanted = quoted(p.goal)[0]
    handle = await p.find("Submit")
    for _ in range(50):
        facing = _facing(await p.look())
        if facing == wanted:
            await p.wait(0.8)  # it may still turn
            if _facing(await p.look()) == wanted:
                await p.submit()
                return
            continue
        if facing in POLES or wanted in POLES:
            await _by(p, handle, 0, -30)
        else:
            await _by(p, handle, handle.box.width / 2 + 8, 0)
    raise GivenUp(f"{wanted} never faces")


POLES = ("1", "6")


def _facing(view: View) -> str:
    """The number that is drawn in red, among those that the listing says show; empty if none does."""
    shown = [line.text for line in view.lines if re.fullmatch(r"[1-6]", line.text)]
    crop = view.crop(AREA).astype(int)
    red = np.asarray((crop[..., 0] - crop[..., 1] > 60) & (crop[..., 0] - crop[..., 2] > 60), np.uint8)
    if not shown or np.count_nonzero(red) < 30:
        return ""
    if len(shown) == 1:
        return shown[0]
    drawn = _fitted(red * 255)
    return max(shown, key=lambda digit: max(_likeness(drawn, each) for each in _turned(digit)))


def _turned(digit: str) -> Iterator[NDArray[np.uint8]]:
    """A digit as it looks when it is turned, and when its side is seen at an angle."""
    sheet = Image.new("L", (160, 160))
    ImageDraw.Draw(sheet).text((80, 80), digit, fill=255, font=ImageFont.load_default(80), anchor="mm")
    for turn in range(0, 360, 12):
        for narrow in (1.0, 0.7, 0.45):
            for lean in (0, 90):
                seen = sheet.rotate(lean).resize((round(160 * narrow), 160)).rotate(turn, expand=True)
                yield _fitted(np.asarray(seen, np.uint8))


def _fitted(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What is drawn, without its margins, with its proportions, in a square of one size."""
    ys, xs = np.nonzero(drawn > 100)
    cut = drawn[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    side = max(cut.shape)
    square = np.zeros((side, side), np.uint8)
    top, left = (side - cut.shape[0]) // 2, (side - cut.shape[1]) // 2
    square[top : top + cut.shape[0], left : left + cut.shape[1]] = cut
    return np.asarray(cv2.resize(square, (40, 40), interpolation=cv2.INTER_AREA), np.uint8)


def _likeness(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.minimum(one, other).sum() / np.maximum(one, other).sum())
