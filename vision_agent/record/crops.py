"""Cuts what is around the targets of a step out of the pictures before and after it.

Works in page coordinates on decoded pictures; knows nothing of the report's markup.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.vision.picture import Picture

_AROUND = 40
"""CSS pixels around a target, on each side."""
_LEAST, _MOST = (220, 120), (420, 240)
"""The smallest and largest width and height of a crop, in CSS pixels."""


@dataclass(frozen=True)
class TargetCrop:
    """A part of a picture, as an embedded picture."""

    uri: str
    width: int
    height: int
    """Its size as shown, so that no pixel is enlarged."""
    target: Box | None
    """The target, as a part of the crop: 0 to 1 on each axis."""
    point: Point | None
    """The point of the press, in the same units."""
    across: float
    down: float
    """Where the middle of the crop is in the picture: 0 to 1."""


@dataclass(frozen=True)
class CropPair:
    """What is around a target before and after its step."""

    before: TargetCrop
    after: TargetCrop | None
    """None if the next picture shows another part of the page, or there is none."""


@dataclass(frozen=True)
class DecodedLook:
    """An observation with its decoded clean picture."""

    seen: Observation
    picture: Picture


def crop_pair(
    then: DecodedLook, now: DecodedLook | None, box: Box | None, point: Point | None, number: int | None
) -> CropPair | None:
    """What is around a target, given in page coordinates; None if that would be most of the picture.

    If the target is mark `number` and has moved on the same page, the second crop shows where it is now.
    """
    area = _area(then.picture.page, box, point)
    before = _crop(then.picture, area, box, point) if area is not None else None
    if area is None or before is None:
        return None
    return CropPair(before, _after(then.seen, now, number, area) if now is not None else None)


def _after(seen: Observation, now: DecodedLook, number: int | None, area: Box) -> TargetCrop | None:
    before = seen.mark(number) if number is not None else None
    after = now.seen.mark(number) if number is not None and now.seen.epoch == seen.epoch else None
    if before is not None and after is not None:
        x, y = after.box.center.x - before.box.center.x, after.box.center.y - before.box.center.y
        moved = area.model_copy(update={"x": area.x + x, "y": area.y + y})
        return _crop(now.picture, _within(moved, now.picture.page))
    shows_same_part = (now.seen.clean.size, now.seen.clean.map) == (seen.clean.size, seen.clean.map)
    return _crop(now.picture, area) if shows_same_part else None


def _area(page: Box, box: Box | None, point: Point | None) -> Box | None:
    if box is None and point is None:
        return None
    width, height = (
        min(max(size + 2 * _AROUND, least), most)
        for size, least, most in zip((box.width, box.height) if box else (0, 0), _LEAST, _MOST, strict=True)
    )
    is_large = box is not None and (box.width > width or box.height > height)
    center = point if point is not None and (box is None or is_large) else box.center if box is not None else None
    if center is None or width * height > page.width * page.height * 0.6:
        return None
    width, height = min(width, page.width), min(height, page.height)
    return _within(Box(x=center.x - width / 2, y=center.y - height / 2, width=width, height=height), page)


def _within(area: Box, page: Box) -> Box:
    """The area moved into the page."""
    x = min(max(area.x, page.x), page.right - area.width)
    y = min(max(area.y, page.y), page.bottom - area.height)
    return Box(x=x, y=y, width=area.width, height=area.height)


def _crop(picture: Picture, area: Box, box: Box | None = None, point: Point | None = None) -> TargetCrop | None:
    try:
        part = picture.crop(area)
    except UsageError:
        return None
    shown = part.page
    whole, jpeg = part.encode("png"), part.encode("jpeg")
    best = min((whole, jpeg), key=lambda shot: len(shot.data or b""))
    inside = box and box.intersection(shown)
    return TargetCrop(
        uri=f"data:{best.media_type};base64,{base64.b64encode(best.data or b'').decode()}",
        width=min(part.size.width, round(shown.width)),
        height=min(part.size.height, round(shown.height)),
        target=inside
        and Box(
            x=(inside.x - shown.x) / shown.width,
            y=(inside.y - shown.y) / shown.height,
            width=inside.width / shown.width,
            height=inside.height / shown.height,
        ),
        point=point and Point(x=(point.x - shown.x) / shown.width, y=(point.y - shown.y) / shown.height),
        across=(shown.center.x - picture.page.x) / picture.page.width,
        down=(shown.center.y - picture.page.y) / picture.page.height,
    )
