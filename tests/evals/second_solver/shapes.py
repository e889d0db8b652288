"""Shapes, letters and digits: found by their marks, told apart by size and colour, or measured in pixels."""

from __future__ import annotations

import re
from collections.abc import Callable

import cv2
import numpy as np

from second_solver import colours
from second_solver.player import GivenUp, Player
from second_solver.view import AREA, View
from vision_agent.geometry import Box
from vision_agent.observation import Mark

_LARGE = 15.0
"""Height in pixels from which a thing is large."""
_COLOURS = {"red", "green", "blue", "yellow", "black", "aqua", "magenta", "lime", "orange", "purple", "pink", "gray"}

KINDS: dict[str, Callable[[Mark], bool]] = {
    "rectangle": lambda mark: mark.tag == "rect",
    "circle": lambda mark: mark.tag in ("circle", "ellipse"),
    "triangle": lambda mark: mark.tag == "polygon",
    "letter": lambda mark: mark.tag == "text" and mark.name.isalpha(),
    "digit": lambda mark: mark.tag == "text" and mark.name.isdigit(),
    "number": lambda mark: mark.tag == "text" and mark.name.isdigit(),
    "shape": lambda mark: mark.tag in ("rect", "circle", "ellipse", "polygon"),
    "item": lambda mark: mark.tag != "svg",
}


def _things(view: View) -> list[Mark]:
    return view.all("rect", "circle", "ellipse", "polygon", "text", where=lambda mark: mark.box.y > 45)


def _fitting(view: View, words: str) -> list[Mark]:
    """The things that a phrase such as `large aqua item` describes; a name of one sign stands for itself."""
    found = _things(view)
    for word in words.split():
        kind = word if word in KINDS else word.removesuffix("s")
        if word in ("large", "small"):
            found = [mark for mark in found if (max(mark.box.height, mark.box.width) >= _LARGE) == (word == "large")]
        elif word in _COLOURS:
            among = _COLOURS - {"lime", "gray"}
            found = [mark for mark in found if colours.name_of(colours.ink(view.crop(mark.box)), among) == word]
        elif kind in KINDS and len(word) > 1:
            found = [mark for mark in found if KINDS[kind](mark)]
        else:
            found = [mark for mark in found if mark.name == word]
    return found


async def click(p: Player, said: re.Match[str]) -> None:
    """One thing that the words describe."""
    view = await p.view()
    found = _fitting(view, said["words"])
    if not found:
        raise GivenUp(f"nothing is {said['words']!r}:\n{view.seen.listing}")
    await p.click(found[0])


async def count(p: Player, said: re.Match[str]) -> None:
    """How many things the words describe."""
    await p.click(await p.find(str(len(_fitting(await p.view(), said["words"])))))


async def identify(p: Player, said: re.Match[str]) -> None:
    """What the only thing is."""
    things = _things(await p.view())
    names = ("rectangle", "circle", "triangle", "letter", "number")
    found = next((name for name in names if things and KINDS[name](things[0])), None)
    if found is None:
        raise GivenUp(f"no figure has a mark:\n{(await p.view()).seen.listing}")
    await p.click(await p.find(found.capitalize()))


async def sides(p: Player, said: re.Match[str]) -> None:
    """The number of sides of the only outline, measured in pixels."""
    view = await p.view()
    canvas = view.all("canvas")[0]
    dark = np.asarray(view.crop(canvas.box).max(axis=2) < 128, np.uint8)
    outlines, _ = cv2.findContours(dark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)
    hull = cv2.convexHull(outline)
    corners = cv2.approxPolyDP(hull, 0.035 * cv2.arcLength(hull, True), True)
    await p.click(await p.find(str(len(corners))))


async def copy_drawing(p: Player, said: re.Match[str]) -> None:
    """Boxes ticked as the example at the right is white."""
    ticks = (await p.view()).ticks
    right = max(mark.box.right for mark in ticks)
    view = await p.view()
    top, bottom = min(mark.box.y for mark in ticks), max(mark.box.bottom for mark in ticks)
    side = Box(x=right + 3, y=top - 8, width=AREA.right - right - 3, height=bottom - top + 16)
    crop = view.crop(side).max(axis=2)
    ys, xs = np.nonzero(crop < 128)
    left, up, width, height = xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1
    rows = len({round(mark.box.y) for mark in ticks})
    columns = len(ticks) // rows
    wanted = [
        crop[int(up + (row + 0.5) * height / rows), int(left + (column + 0.5) * width / columns)] > 160
        for row in range(rows)
        for column in range(columns)
    ]
    for mark, is_white in zip(ticks, wanted, strict=True):
        if is_white:
            await p.tick(mark)
    await p.submit()


async def coordinate(p: Player, said: re.Match[str]) -> None:
    """A dot of a grid by its coordinates; the middle one is the origin."""
    dots = (await p.view()).all("circle")
    xs = sorted({round(mark.box.center.x) for mark in dots})
    ys = sorted({round(mark.box.center.y) for mark in dots}, reverse=True)
    x, y = (int(part) for part in said["at"].split(","))
    if len(xs) != 5 or len(ys) != 5:
        raise GivenUp(f"there are {len(xs)} columns and {len(ys)} rows of dots")
    found = [mark for mark in dots if (round(mark.box.center.x), round(mark.box.center.y)) == (xs[x + 2], ys[y + 2])]
    await p.click(found[0])


async def blocks(p: Player, said: re.Match[str]) -> None:
    """How many filled blocks there are, counted in pixels."""
    view = await p.view()
    crop = view.crop(AREA)
    grey = crop.min(axis=2)
    field = view.fields[0]
    limit = round(field.box.y - AREA.y) - 2
    # Blocks are separated by dark lines: each is a blob of one colour of nearly one size.
    filled = np.asarray((np.ptp(crop, axis=2) > 25) & (grey < 235), np.uint8)[:limit]
    number, _, stats, _ = cv2.connectedComponentsWithStats(filled, connectivity=4)
    areas = [int(each[cv2.CC_STAT_AREA]) for each in stats[1:number] if each[cv2.CC_STAT_AREA] >= 20]
    await p.type(str(len(areas)), field)
    await p.submit()
