"""Dragging marks onto others, into boxes that are only drawn, by a distance, or into an order."""

from __future__ import annotations

import re

import cv2
import numpy as np

from second_solver import colours
from second_solver.player import GivenUp, Player
from second_solver.shapes import KINDS
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.types import Box, Mark

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
    """A cube, turned until the side with a name is the one that faces."""
    raise GivenUp("the cube has no mark, and its sides are turned text")
