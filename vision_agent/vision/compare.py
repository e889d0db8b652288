"""What visibly changed between two pictures, beyond what antialiasing and compression do by themselves.

Knows pixels, not causes: whether a change is what was wanted is said elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.types import Box, Shot
from vision_agent.vision.picture import Picture, Pixels, pixels_of

# JPEG at quality 92 moves a channel by up to 9 after the blur on text, antialiasing by less; a hover tint moves it by
# 15 or more.
_NOISE = 12
_SAME = 0.02
_SAME_MOST = 24
"""Pixels that may differ in what is large: one digit is more."""
_LIKE = 60.0
"""Squared difference of a channel, at the mean, up to which two pieces are the same; what is drawn half a pixel farther
has its edges mixed otherwise."""
_CLEARLY = 4.0
"""Times as unlike as the best the next best piece must be."""
_AROUND = 2
"""Pixels around a difference that mixing can reach."""


def changed_share(before: Picture | Shot, after: Picture | Shot, near: Box | None = None) -> float:
    """The share of pixels that differ, 0 to 1, within a page box or everywhere.

    Pictures of different sizes differ everywhere. A box that neither picture shows has nothing that changed.

    Raises:
        UsageError: a shot came without its bytes.
    """
    old, new = (_near(picture, near) for picture in (before, after))
    if old.shape != new.shape:
        return 1.0
    if not old.size:
        return 0.0
    return _changed(old, new) / int(old.shape[0] * old.shape[1])


def changed_apart_from(before: Picture, after: Picture, apart: Sequence[Box], but: Sequence[Box] = ()) -> float:
    """How many pixels differ outside some page boxes, or in others that count all the same; without end where the
    pictures have other sizes.
    """
    if before.extent != after.extent:
        return inf
    old, new = pixels_of(before), pixels_of(after)
    part = _around_changes(old, new)
    if not old[part].size:
        return 0
    mixed = (cv2.blur(picture[part], (3, 3)) for picture in (old, new))
    differs = _most(cv2.absdiff(*mixed)) > _NOISE
    counts = np.ones(old.shape[:2], np.bool_)
    for boxes, is_counted in ((apart, False), (but, True)):
        shown = [box for box in boxes if before.page.intersection(box)]
        for left, top, right, bottom in before.extent.rects(shown) if shown else ():
            counts[top:bottom, left:right] = is_counted
    return int(np.count_nonzero(differs & counts[part]))


def changed_box(before: Picture, after: Picture, near: Box) -> Box | None:
    """The page box around what differs within another; None where nothing does, or where one picture shows less."""
    if before.page.intersection(near) is None:
        return None
    cut = before.crop(near)
    old, new = pixels_of(cut), _near(after, near)
    if old.shape != new.shape:
        return None
    mixed = (cv2.blur(picture, (3, 3)) for picture in (old, new))
    x, y, width, height = cv2.boundingRect((_most(cv2.absdiff(*mixed)) > _NOISE).astype(np.uint8))
    start = cut.map.to_page(Point(x=x, y=y))
    if not width:
        return None
    return Box(x=start.x, y=start.y, width=width * cut.map.scale_x, height=height * cut.map.scale_y)


def changed_boxes(before: Picture | Shot, after: Picture | Shot, apart: float = 16) -> tuple[Box, ...]:
    """The page boxes around all that differs, largest first; differences nearer than `apart` share one.

    Empty where nothing differs, and where the pictures have other sizes: then there is no telling where.

    Raises:
        UsageError: a shot came without its bytes.
    """
    first, second = (each if isinstance(each, Picture) else Picture.of(each) for each in (before, after))
    old, new = pixels_of(first), pixels_of(second)
    if old.shape != new.shape:
        return ()
    mixed = (cv2.blur(picture, (3, 3)) for picture in (old, new))
    differs = (_most(cv2.absdiff(*mixed)) > _NOISE).astype(np.uint8)
    size = max(1, round(apart / first.map.scale_x))
    grown = cv2.dilate(differs, np.ones((size, size), np.uint8))
    many, labels, stats, _ = cv2.connectedComponentsWithStats(grown)
    boxes = []
    for each in range(1, many):
        left, top, wide, high = (int(value) for value in stats[each][:4])
        part = np.s_[top : top + high, left : left + wide]
        x, y, width, height = cv2.boundingRect(((labels[part] == each) & (differs[part] > 0)).astype(np.uint8))
        x, y = x + left, y + top
        start, end = (first.map.to_page(Point(x=at[0], y=at[1])) for at in ((x, y), (x + width, y + height)))
        boxes.append(Box(x=start.x, y=start.y, width=end.x - start.x, height=end.y - start.y))
    return tuple(sorted(boxes, key=lambda box: -box.width * box.height))


def _changed(old: Pixels, new: Pixels) -> int:
    """How many pixels differ."""
    part = _around_changes(old, new)
    if not old[part].size:
        return 0
    # Mixing each pixel with its neighbours first takes the edge off single pixels, which is what noise is made of.
    mixed = (cv2.blur(picture[part], (3, 3)) for picture in (old, new))
    return int(np.count_nonzero(_most(cv2.absdiff(*mixed)) > _NOISE))


def _around_changes(old: Pixels, new: Pixels) -> tuple[slice, slice]:
    """The part in which all differences lie, mostly little of a page; empty where there are none."""
    x, y, width, height = cv2.boundingRect(_most(cv2.absdiff(old, new)))
    if not width:
        return slice(0, 0), slice(0, 0)
    return slice(max(0, y - _AROUND), y + height + _AROUND), slice(max(0, x - _AROUND), x + width + _AROUND)


def _most(difference: Pixels) -> Pixels:
    """The most that any channel differs by, for each pixel; numpy takes ten times as long for it."""
    most, *others = (np.asarray(channel, np.uint8) for channel in cv2.split(difference))
    for other in others:
        most = np.asarray(cv2.max(most, other), np.uint8)
    return most


def same_at(before: Picture | Shot, after: Picture | Shot, point: Point, radius: float = 12) -> bool:
    """Whether the pixels around a page point are still those; False for a point that a picture does not show."""
    box = Box(x=point.x - radius, y=point.y - radius, width=2 * radius, height=2 * radius)
    if not (before.page.contains(point) and after.page.contains(point)):
        return False
    return changed_share(before, after, box) <= _SAME


def found_again(
    before: Picture, after: Picture, box: Box, moved: Point, ground: Point, within: float, beside: Sequence[Box] = ()
) -> Point | None:
    """How far what the first picture shows in a page box has moved in the second, in CSS pixels.

    `ground` is how far what it stands on has moved, `moved` how far itself should have. There it counts where all that
    is `beside` it has come along too, or where no other place up to `within` away looks the same; elsewhere where it is
    found once, and that place did not look the same in the first picture. None otherwise.
    """
    if before.extent != after.extent or before.page.intersection(box) is None:
        return None
    part, x, y = _cut(before, box)
    scale_x, scale_y = after.map.scale_x, after.map.scale_y
    by_x, by_y = round(moved.x / scale_x), round(moved.y / scale_y)
    whole = pixels_of(after)
    if _is_at(part, whole, x + by_x, y + by_y):
        has_come_along = all(_is_at(*_cut_to(before, each, whole, by_x, by_y)) for each in beside)
        if has_come_along or _only_place(part, whole, x + by_x, y + by_y, within / scale_x, within / scale_y):
            return moved
        return None
    found = _only_place(part, whole, x + by_x, y + by_y, within / scale_x, within / scale_y)
    on_ground = round(ground.x / scale_x), round(ground.y / scale_y)
    if found is None or _may_be_at(part, pixels_of(before), found[0] - on_ground[0], found[1] - on_ground[1]):
        return None  # one like it was there all along
    return Point(x=(found[0] - x) * scale_x, y=(found[1] - y) * scale_y)


def _cut(picture: Picture, box: Box) -> tuple[Pixels, int, int]:
    """The pixels that show a page box, and where they begin."""
    cut = picture.crop(box)
    start = picture.map.to_picture(Point(x=cut.page.x, y=cut.page.y))
    return pixels_of(cut), round(start.x), round(start.y)


def _cut_to(picture: Picture, box: Box, whole: Pixels, by_x: int, by_y: int) -> tuple[Pixels, Pixels, int, int]:
    if picture.page.intersection(box) is None:
        return np.empty((0, 0, 3), np.uint8), whole, 0, 0
    part, x, y = _cut(picture, box)
    return part, whole, x + by_x, y + by_y


def _is_at(part: Pixels, whole: Pixels, x: int, y: int) -> bool:
    """Whether the whole shows the part so."""
    high, wide = part.shape[:2]
    if x < 0 or y < 0 or x + wide > whole.shape[1] or y + high > whole.shape[0]:
        return False
    return not part.size or _changed(part, whole[y : y + high, x : x + wide]) <= min(_SAME * wide * high, _SAME_MOST)


def _may_be_at(part: Pixels, whole: Pixels, x: int, y: int) -> bool:
    """Whether it shows the part so, or does not show the place."""
    high, wide = part.shape[:2]
    is_shown = x >= 0 and y >= 0 and x + wide <= whole.shape[1] and y + high <= whole.shape[0]
    return not is_shown or _is_at(part, whole, x, y)


def _only_place(part: Pixels, whole: Pixels, x: int, y: int, far_x: float, far_y: float) -> tuple[int, int] | None:
    """Where around a place the part shows; None where it does not, or where it looks like more than one."""
    high, wide = part.shape[:2]
    left, top = max(0, x - round(far_x)), max(0, y - round(far_y))
    around = whole[top : max(top, y + high + round(far_y)), left : max(left, x + wide + round(far_x))]
    if around.shape[0] < high or around.shape[1] < wide:
        return None
    error = cv2.matchTemplate(around, part, cv2.TM_SQDIFF) / (3 * wide * high)
    best, _, (at_x, at_y), _ = cv2.minMaxLoc(error)
    if best > _LIKE:
        return None
    # One that is told from its surroundings: a piece of plain ground is everywhere.
    error[max(0, at_y - high // 2) : at_y + high // 2 + 1, max(0, at_x - wide // 2) : at_x + wide // 2 + 1] = np.inf
    if error.min() < max(_LIKE, _CLEARLY * best):
        return None
    return left + at_x, top + at_y


def _near(picture: Picture | Shot, near: Box | None) -> Pixels:
    picture = Picture.of(picture) if isinstance(picture, Shot) else picture
    if near is None:
        return pixels_of(picture)
    if picture.page.intersection(near) is None:
        return np.empty((0, 0, 3), np.uint8)
    return pixels_of(picture.crop(near))
