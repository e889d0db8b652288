"""Finds visible changes between two pictures, ignoring the effects of antialiasing and compression.

It knows pixels, not causes; other modules judge whether a change was intended.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.observation import Shot
from vision_agent.vision.picture import Picture, Pixels, pixels_of

# On text, after the blur, JPEG at quality 92 changes a channel by up to 9, antialiasing by less; a hover tint changes
# it by 15 or more.
_NOISE = 12
_SAME = 0.02
_SAME_MOST = 24
"""The most pixels that may differ in a large area; a single digit changes more."""
_LIKE = 60.0
"""The largest mean squared difference of a channel between two equal pieces; drawn half a pixel farther, edges are
blended differently."""
_SHIFTS = (-0.33, 0.0, 0.33)
"""Parts of a pixel by which a piece may have moved."""
_CLEARLY = 4.0
"""How many times the difference of the best match the next best must have."""
_AROUND = 2
_APART_PX = 16
"""Changes closer than this, in CSS pixels, share a box."""
_RADIUS_PX = 12
"""What counts as being at a point, in CSS pixels."""
"""The pixels around a difference that the blur reaches."""


def changed_share(before: Picture | Shot, after: Picture | Shot, near: Box | None = None) -> float:
    """The share of pixels that differ, 0 to 1, within a page box or everywhere.

    Pictures of different sizes differ everywhere. For a box that neither picture shows the share is 0.

    Raises:
        UsageError: a shot was loaded without its bytes.
    """
    old, new = (_near(picture, near) for picture in (before, after))
    if old.shape != new.shape:
        return 1.0
    if not old.size:
        return 0.0
    return _count_changed(old, new) / int(old.shape[0] * old.shape[1])


def changed_apart_from(before: Picture, after: Picture, apart: Sequence[Box], but: Sequence[Box] = ()) -> float:
    """The number of pixels that differ outside the page boxes `apart`; inside the boxes `but` they always count.

    It is infinite if the pictures differ in size.
    """
    if before.extent != after.extent:
        return inf
    old, new = pixels_of(before), pixels_of(after)
    part = _around_changes(old, new)
    if not old[part].size:
        return 0
    mixed = (cv2.blur(picture[part], (3, 3)) for picture in (old, new))
    differs = _most(cv2.absdiff(*mixed)) > _NOISE
    counts = np.ones(differs.shape, np.bool_)
    first = np.array([part[1].start, part[0].start] * 2)
    for boxes, is_counted in ((apart, False), (but, True)):
        shown = [box for box in boxes if before.page.intersection(box)]
        for left, top, right, bottom in np.maximum(before.extent.rects(shown) - first, 0) if shown else ():
            counts[top:bottom, left:right] = is_counted
    return int(np.count_nonzero(differs & counts))


def changed_box(before: Picture, after: Picture, near: Box) -> Box | None:
    """The page box around all changes within `near`; None if nothing changed, or if one picture shows less of it."""
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


def changed_boxes(before: Picture | Shot, after: Picture | Shot) -> tuple[Box, ...]:
    """The page boxes around all changes, largest first; changes close to each other share one.

    Empty if nothing changed, or if the pictures differ in size, so that no place can be given.

    Raises:
        UsageError: a shot was loaded without its bytes.
    """
    first, second = (each if isinstance(each, Picture) else Picture.of(each) for each in (before, after))
    old, new = pixels_of(first), pixels_of(second)
    if old.shape != new.shape:
        return ()
    mixed = (cv2.blur(picture, (3, 3)) for picture in (old, new))
    differs = (_most(cv2.absdiff(*mixed)) > _NOISE).astype(np.uint8)
    size = max(1, round(_APART_PX / first.map.scale_x))
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


def _count_changed(old: Pixels, new: Pixels) -> int:
    """The number of pixels that differ."""
    part = _around_changes(old, new)
    if not old[part].size:
        return 0
    # Blurring first weakens single pixels, which is what noise consists of.
    mixed = (cv2.blur(picture[part], (3, 3)) for picture in (old, new))
    return int(np.count_nonzero(_most(cv2.absdiff(*mixed)) > _NOISE))


def _around_changes(old: Pixels, new: Pixels) -> tuple[slice, slice]:
    """The part that contains all differences, usually a small part of the page; empty if there are none."""
    # Finding the rows first is fast: it takes a tenth of the time of subtracting whole pictures.
    rows = np.flatnonzero((old.reshape(len(old), -1) != new.reshape(len(new), -1)).any(axis=1))
    if not rows.size:
        return slice(0, 0), slice(0, 0)
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    x, _, width, _ = cv2.boundingRect(_most(cv2.absdiff(old[top:bottom], new[top:bottom])))
    return slice(max(0, top - _AROUND), bottom + _AROUND), slice(max(0, x - _AROUND), x + width + _AROUND)


def _most(difference: Pixels) -> Pixels:
    """The largest difference of any channel, for each pixel; numpy takes ten times as long."""
    most, *others = (np.asarray(channel, np.uint8) for channel in cv2.split(difference))
    for other in others:
        most = np.asarray(cv2.max(most, other), np.uint8)
    return most


def same_at(before: Picture | Shot, after: Picture | Shot, point: Point) -> bool:
    """Whether the pixels around a page point are unchanged; False for a point that a picture does not show."""
    box = Box(x=point.x - _RADIUS_PX, y=point.y - _RADIUS_PX, width=2 * _RADIUS_PX, height=2 * _RADIUS_PX)
    if not (before.page.contains(point) and after.page.contains(point)):
        return False
    return changed_share(before, after, box) <= _SAME


def shows_within(before: Picture, after: Picture, part: Box, within: Box) -> bool:
    """Whether the second picture shows somewhere in `within` what the first one shows in `part`; both are page boxes.

    What moves by fractions of a pixel is blended differently each time, so both are blurred and small shifts are tried.
    """
    if before.extent != after.extent:
        return False
    part_shown, around = (each.page.intersection(box) for each, box in ((before, part), (after, within)))
    if part_shown != part or around is None:
        return False
    sought, where = (cv2.blur(pixels_of(each.crop(box)), (3, 3)) for each, box in ((before, part), (after, around)))
    if where.shape[0] < sought.shape[0] or where.shape[1] < sought.shape[1]:
        return False
    shifted = (_shifted(sought, x, y) for x in _SHIFTS for y in _SHIFTS)
    return any(cv2.matchTemplate(where, each, cv2.TM_SQDIFF).min() <= _LIKE * each.size for each in shifted)


def _shifted(picture: Pixels, x: float, y: float) -> Pixels:
    """A picture without its rim, moved by parts of a pixel."""
    high, wide = picture.shape[:2]
    moved = cv2.warpAffine(picture, np.array([[1, 0, x], [0, 1, y]], np.float32), (wide, high))
    return np.ascontiguousarray(moved[1:-1, 1:-1], np.uint8)


def found_again(
    before: Picture,
    after: Picture,
    box: Box,
    moved: Point,
    ground: Point,
    within: float,
    beside: Sequence[Box] = (),
    row: Box | None = None,
) -> Point | None:
    """The distance in CSS pixels that the content of a page box has moved between two pictures.

    At the expected place the content is accepted if everything `beside` it moved along, or if no other place within
    `within` looks the same. At any other place it is accepted if it is found only there and that place did not already
    look the same in the first picture. Otherwise the result is None.

    Args:
        moved: the expected movement of the content.
        ground: the movement of what the content lies on.
        within: the distance to search.
        beside: page boxes whose contents should have moved by the same distance.
        row: one whose contents must have, wherever the content is found.
    """
    if before.extent != after.extent or before.page.intersection(box) is None:
        return None
    part, x, y = _cut(before, box)
    scale_x, scale_y = after.map.scale_x, after.map.scale_y
    by_x, by_y = round(moved.x / scale_x), round(moved.y / scale_y)
    whole = pixels_of(after)

    def is_in_row(by_x: int, by_y: int) -> bool:
        return row is None or _matches(*_cut_moved(before, row, whole, by_x, by_y))

    if _matches(part, whole, x + by_x, y + by_y):
        if not is_in_row(by_x, by_y):
            return None
        has_come_along = all(_matches(*_cut_moved(before, each, whole, by_x, by_y)) for each in beside)
        if has_come_along or _only_place(part, whole, x + by_x, y + by_y, within / scale_x, within / scale_y):
            return moved
        return None
    found = _only_place(part, whole, x + by_x, y + by_y, within / scale_x, within / scale_y)
    on_ground = round(ground.x / scale_x), round(ground.y / scale_y)
    if found is None or _may_match(part, pixels_of(before), found[0] - on_ground[0], found[1] - on_ground[1]):
        return None  # the place already looked like this in the first picture
    if not is_in_row(found[0] - x, found[1] - y):
        return None
    return Point(x=(found[0] - x) * scale_x, y=(found[1] - y) * scale_y)


def is_only_one(picture: Picture, box: Box, within: float) -> bool:
    """Whether nothing else within so many CSS pixels of a page box looks like what it shows."""
    if picture.page.intersection(box) is None:
        return False
    part, x, y = _cut(picture, box)
    far_x, far_y = within / picture.map.scale_x, within / picture.map.scale_y
    return _only_place(part, pixels_of(picture), x, y, far_x, far_y) is not None


def _cut(picture: Picture, box: Box) -> tuple[Pixels, int, int]:
    """The pixels that show a page box, and their left and top in the picture."""
    cut = picture.crop(box)
    start = picture.map.to_picture(Point(x=cut.page.x, y=cut.page.y))
    return pixels_of(cut), round(start.x), round(start.y)


def _cut_moved(picture: Picture, box: Box, whole: Pixels, by_x: int, by_y: int) -> tuple[Pixels, Pixels, int, int]:
    if picture.page.intersection(box) is None:
        return np.empty((0, 0, 3), np.uint8), whole, 0, 0
    part, x, y = _cut(picture, box)
    return part, whole, x + by_x, y + by_y


def _matches(part: Pixels, whole: Pixels, x: int, y: int) -> bool:
    """Whether the whole shows the part at this position."""
    high, wide = part.shape[:2]
    if x < 0 or y < 0 or x + wide > whole.shape[1] or y + high > whole.shape[0]:
        return False
    return not part.size or _count_changed(part, whole[y : y + high, x : x + wide]) <= min(
        _SAME * wide * high, _SAME_MOST
    )


def _may_match(part: Pixels, whole: Pixels, x: int, y: int) -> bool:
    """Whether the whole shows the part at this position, or the position is outside the picture."""
    high, wide = part.shape[:2]
    is_shown = x >= 0 and y >= 0 and x + wide <= whole.shape[1] and y + high <= whole.shape[0]
    return not is_shown or _matches(part, whole, x, y)


def _only_place(part: Pixels, whole: Pixels, x: int, y: int, far_x: float, far_y: float) -> tuple[int, int] | None:
    """The one position near a place at which the part is visible; None if there is none or more than one."""
    high, wide = part.shape[:2]
    left, top = max(0, x - round(far_x)), max(0, y - round(far_y))
    around = whole[top : max(top, y + high + round(far_y)), left : max(left, x + wide + round(far_x))]
    if around.shape[0] < high or around.shape[1] < wide:
        return None
    error = cv2.matchTemplate(around, part, cv2.TM_SQDIFF) / (3 * wide * high)
    best, _, (at_x, at_y), _ = cv2.minMaxLoc(error)
    if best > _LIKE:
        return None
    # The match must stand out from its surroundings: a piece of plain background matches everywhere.
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
