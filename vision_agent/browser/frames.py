"""Scans every frame of a page and brings all boxes and points into page coordinates.

A point in a frame counts only when every parent shows the frame there; what a parent's banner covers is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from vision_agent.actions import Point
from vision_agent.browser import closed, listeners, overlay
from vision_agent.browser.overlay import FrameSilent
from vision_agent.types import Box

_MOST_FRAMES = 60
_LISTEN_SHARE = 0.3
"""Of the deadline, for telling what listens."""
_MOST_NESTED = 4
"""Closed shadow roots, one in the other."""
_SPARE_POINTS = 5
"""Wanted per mark in a child frame, because a parent may cover the first."""


@dataclass(frozen=True)
class Place:
    """Where a frame's viewport lies on the page: moved, enlarged, turned, even tilted."""

    plane: tuple[float, ...] = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    """A 3×3 matrix by rows that takes a point of the frame to the page, as projections do."""

    @cached_property
    def is_only_moved(self) -> bool:
        return self.plane[:2] == (1, 0) and self.plane[3:5] == (0, 1) and self.plane[6:] == (0, 0, 1)

    def to_page(self, x: float, y: float) -> Point:
        at = _through(self.plane, x, y)
        return Point(x=at[0], y=at[1])

    def to_frame(self, point: Point) -> tuple[float, float]:
        return _through(_inverse(self.plane), point.x, point.y)

    def within(self, plane: Sequence[float]) -> Place:
        """The place of a frame that lies in this one so."""
        rows = (self.plane[0:3], self.plane[3:6], self.plane[6:9])
        return Place(
            tuple(sum(a * b for a, b in zip(row, plane[at::3], strict=True)) for row in rows for at in range(3))
        )


def place_of_page(answer: dict[str, Any]) -> Place:
    """Of the main frame: where two fingers have enlarged it, a part of it is in view, and input counts from there."""
    return Place((1, 0, -answer["zoom"]["x"], 0, 1, -answer["zoom"]["y"], 0, 0, 1))


@dataclass
class Scanned:
    """One frame, what its overlay said, and where it lies."""

    frame: Frame
    name: str
    place: Place
    token: str
    parent: Scanned | None
    key: str
    """Of the frame's own element in its parent."""
    answer: dict[str, Any]
    beside: dict[str, Any] | None = None
    """Where the frame's own element stands in its parent."""


@dataclass(frozen=True)
class Field:
    """Something that shows what was typed into it, whether it can be reached or not."""

    key: str
    value: str
    box: Box


@dataclass
class Scan:
    """All frames of a page; marks with `box` and `point` in page coordinates."""

    frames: list[Scanned] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    covered: list[dict[str, Any]] = field(default_factory=list)
    context: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    known: Sequence[str] = ()
    living: set[str] = field(default_factory=set)
    """Those of the known keys whose element is still in its document, in sight or not, and those of frames that were
    not looked into."""
    fields: list[Field] = field(default_factory=list)
    is_partial: bool = False
    """Whether there are frames that were not looked into."""

    def owner(self, key: str) -> Scanned | None:
        """The frame in whose document a key was given."""
        token = key.split(".", 1)[0]
        return next((scanned for scanned in self.frames if scanned.token == token), None)


async def scan(page: Page, deadline_s: float, known: Sequence[str] = ()) -> Scan:
    """Everything that can be acted on in all frames that show, and which of the known keys are still in their document.

    Raises:
        FrameSilent: the main frame gave no answer.
        BrowserUnavailable: the browser is gone.
    """
    result = await _scan(page, deadline_s, known)
    for _ in range(_MOST_NESTED):
        is_news = any(scanned.answer["unopened"] for scanned in result.frames)
        if not (is_news and await closed.open_roots(page, _LISTEN_SHARE * deadline_s)):
            break
        result = await _scan(page, deadline_s, known)
    return result


async def _scan(page: Page, deadline_s: float, known: Sequence[str]) -> Scan:
    is_heard = await listeners.bring(page, _LISTEN_SHARE * deadline_s)
    answer = await overlay.ask(page.main_frame, "scan", deadline_s, points=1, known=list(known))
    main = Scanned(page.main_frame, "", place_of_page(answer), answer["token"], None, "", answer)
    result = Scan(known=known)
    await _take(result, main, deadline_s)
    await _descend(result, main, deadline_s)
    if result.is_partial:
        result.living.update(key for key in known if result.owner(key) is None)
    if answer.get("crashed"):
        result.warnings.append("a frame of the page has crashed, and nothing on it can be acted on; load it again")
    elif not is_heard:
        result.warnings.append("not everything that listens for clicks could be told in time; some may not be marked")
    for scanned in result.frames:
        if scanned.answer["outOfBudget"]:
            where = f"frame {scanned.name}" if scanned.name else "the page"
            result.warnings.append(f"{where} has too much on it to test all of it; some things may not be marked")
        if scanned.answer["failed"]:
            result.warnings.append(f"{scanned.answer['failed']} elements could not be read")
    return result


async def _descend(result: Scan, parent: Scanned, deadline_s: float) -> None:
    children = parent.frame.child_frames
    names = _names_of(parent, children)
    places = {each["key"]: each for each in parent.answer["frames"]}
    found = await asyncio.gather(
        *(_scan_child(result, parent, child, names[child], places, deadline_s) for child in children[:_MOST_FRAMES])
    )
    if len(children) > _MOST_FRAMES:
        result.warnings.append(f"{len(children) - _MOST_FRAMES} of {len(children)} frames were not looked into")
    result.is_partial |= len(children) > _MOST_FRAMES or None in found
    for child in found:
        if child is not None:
            await _take(result, child, deadline_s)
            await _descend(result, child, deadline_s)


async def _scan_child(
    result: Scan, parent: Scanned, frame: Frame, name: str, places: dict[str, dict[str, Any]], deadline_s: float
) -> Scanned | None:
    try:
        async with asyncio.timeout(deadline_s):
            element = await frame.frame_element()
            where = await overlay.ask(element, "frame", deadline_s)
        known = places.get(where["key"])
        if known is None:
            return None  # in a part of the parent that does not show
        clip = known["seen"]
        if clip["right"] - clip["x"] < 2 or clip["bottom"] - clip["y"] < 2:
            return None
        answer = await overlay.ask(
            frame,
            "scan",
            deadline_s,
            clip=clip,
            points=_SPARE_POINTS,
            known=list(result.known),
            inert=known["inert"],
        )
    except (FrameSilent, PlaywrightError, TimeoutError) as error:
        if not frame.is_detached():
            said = str(error).partition("\n")[0]  # a deadline says nothing
            result.warnings.append(f"frame {name} is missing: {said or 'no answer'}")
        return None
    place = parent.place.within(known["plane"])
    return Scanned(frame, name, place, answer["token"], parent, known["key"], answer, known["place"])


async def _take(result: Scan, scanned: Scanned, deadline_s: float) -> None:
    """Adds a frame's marks in page coordinates, without those that its parents cover."""
    result.frames.append(scanned)
    result.living.update(scanned.answer["living"])
    marks = scanned.answer["marks"]
    for mark in marks:
        mark["frame"], mark["outer"] = scanned.name, scanned.beside
        mark["box"] = _box_to_page(mark["box"], scanned.place, mark.pop("corners", None))
        if "rect" in mark:
            mark["whole"] = _box_to_page(mark["rect"], scanned.place)
        mark["points"] = [scanned.place.to_page(point["x"], point["y"]) for point in mark["points"]]
    for line in scanned.answer["context"]:
        at = scanned.place.to_page(line["x"], line["y"])
        result.context.append({"text": line["text"], "x": at.x, "y": at.y})
    for shown in scanned.answer["fields"]:
        result.fields.append(Field(shown["key"], shown["value"], _box_to_page(shown["box"], scanned.place)))
    result.covered.extend(scanned.answer["covered"])
    await _drop_covered_by_parents(result, scanned, marks, deadline_s)
    result.marks.extend(mark for mark in marks if mark["points"])


async def _drop_covered_by_parents(
    result: Scan, scanned: Scanned, marks: list[dict[str, Any]], deadline_s: float
) -> None:
    child = scanned
    while child.parent is not None and marks:
        parent = child.parent
        points = [point for mark in marks for point in mark["points"]]
        local = [dict(zip("xy", parent.place.to_frame(point), strict=True)) for point in points]
        answer = await overlay.ask(parent.frame, "shows", deadline_s, key=child.key, points=local)
        shows = dict(zip(points, answer["shows"], strict=True))
        lost = 0
        for mark in marks:
            kept = [point for point in mark["points"] if shows[point]]
            lost += bool(mark["points"]) and not kept
            mark["points"] = kept
        if lost and answer["blockers"]:
            first = max(answer["blockers"], key=lambda blocker: int(blocker["count"]))
            result.covered.append({**first, "count": lost})
        child = parent


def _box_to_page(box: dict[str, float], place: Place, corners: Sequence[dict[str, float]] | None = None) -> Box:
    """The box on the page around the corners of what shows: those of a turned element, else those of its box."""
    left, top, right, bottom = box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]
    if place.is_only_moved and not corners:  # nearly all of them
        across, down = place.plane[2], place.plane[5]
        x, y = left + across, top + down
        return Box(x=x, y=y, width=right + across - x, height=bottom + down - y)
    plain = ((left, top), (right, top), (right, bottom), (left, bottom))
    ends = [(each["x"], each["y"]) for each in corners] if corners else plain
    xs, ys = zip(*(_through(place.plane, x, y) for x, y in ends), strict=True)
    return Box(x=min(xs), y=min(ys), width=max(xs) - min(xs), height=max(ys) - min(ys))


def _through(plane: Sequence[float], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f, g, h, i = plane
    depth = g * x + h * y + i
    return (a * x + b * y + c) / depth, (d * x + e * y + f) / depth


def _inverse(plane: Sequence[float]) -> tuple[float, ...]:
    a, b, c, d, e, f, g, h, i = plane
    size = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    turned = (e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f)
    return tuple(each / size for each in (*turned, d * h - e * g, b * g - a * h, a * e - b * d))


def _names_of(parent: Scanned, children: list[Frame]) -> dict[Frame, str]:
    """Words for the listing: a frame's own name if it is a plain word and the only one, else its place; `pay.2` is the
    second frame in the frame `pay`.
    """
    own = [frame.name for frame in children]
    inside = f"{parent.name}." if parent.name else ""
    return {
        frame: inside + (frame.name if _is_plain(frame.name) and own.count(frame.name) == 1 else str(place))
        for place, frame in enumerate(children, 1)
    }


def _is_plain(name: str) -> bool:
    return name.isidentifier() and name.isascii() and len(name) <= 24
