"""Tells a thing that was painted in other colours, as under the pointer, from one that became something else.

Where a thing is only painted anew, everything that had one colour has one colour again. Text that became another text
has its old ground where letters were, and letters where its ground was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, pixels_of

_LEVELS = 16
"""Per channel: colours of one level count as one."""
_UNLIKE = 28
"""The largest difference of a channel from the common new colour, for what had one colour before."""
_WAS_UNLIKE = 100
"""The same the other way round: under the pointer much may fade, but what faded has not become its ground."""
_SAME_MOST = 2
"""The most picture pixels that may differ: of paint there are none, and a full stop has four."""
_CORNER, _HAS_CORNERS = 4, 20
"""Picture pixels at each corner that a rounded frame may take, of a thing that is so wide and high."""
_RIM = 3.0
"""CSS pixels at the edge of a thing in which a frame may be drawn, over its ground and the one around it."""
_SOFT = 9
"""Picture pixels over which a shadow changes little."""
_THICK = 8
"""Picture pixels; what is thicker is no line."""
_BY = 1
"""Picture pixels beside the pointer that a cross-hair takes."""
_LINE = 24
"""Picture pixels; a straight run of changes this long is a frame or a cross-hair, and no letter."""
_LIFTS = ((0, 0), (0, -1), (0, -2), (0, -3), (0, 1), (0, 2), (0, 3), (1, 0), (-1, 0), (1, 1), (-1, -1))
"""By how many picture pixels a thing may be drawn elsewhere under the pointer."""
_BUBBLE, _FILLED = 1000, 0.6
"""Picture pixels, and the share of its box that they fill: no letter is so large, and a bubble with words is."""
_LARGEST = 40_000
"""Picture pixels; a larger thing is not looked for elsewhere."""
_INK = 40
"""The least difference of a channel from the most common colour, for what is drawn on it."""
_INK_STAYS = 0.7
_THICKER_PX = 4
"""How many picture pixels letters and the rim of a thing may be thicker or farther under the pointer."""


def is_only_repainted(
    before: Picture,
    after: Picture,
    box: Box,
    moved: Point,
    beside: Sequence[Box] = (),
    *,
    pointer: Point,
    words: Sequence[Box] = (),
) -> bool:
    """Whether a page box shows, once `moved` (CSS pixels), what it showed before, if in other colours.

    So must the boxes `beside`, but a bubble of words may lie over parts of those, and `words`, which must be in view.
    What one of the pictures does not show of the others is not compared, and neither is a cross-hair through the
    pointer (CSS pixels).
    """
    if not all(_shows(before, each) and _shows(after, _moved(each, moved)) for each in words):
        return False
    if not all(_is_alike(*each) for each in _pairs(before, after, words, moved, pointer)):
        return False
    for was, now, cross in _pairs(before, after, [_without_rim(box)], moved, pointer):
        lifts = _LIFTS if was.shape[0] * was.shape[1] <= _LARGEST else _LIFTS[:1]
        but = cross | _corners(was.shape[0], was.shape[1])
        if not any(_is_alike(*_shifted(was, now, but, *by)) for by in lifts):
            return False
    return all(_is_alike(*each, may_have_bubble=True) for each in _pairs(before, after, beside, moved, pointer))


def still_has_ink(before: Picture, after: Picture, box: Box, moved: Point) -> bool:
    """Whether most of what was drawn in a page box is still drawn there, whatever else is.

    A page may draw its own pointer over it. True if nothing was drawn there.
    """
    for was, now, _ in _pairs(before, after, [box], moved, box.center):
        ink = _ink(was)
        if ink.any() and np.count_nonzero(ink & _ink(now)) < _INK_STAYS * np.count_nonzero(ink):
            return False
    return True


def has_same_ink(before: Picture, after: Picture, box: Box) -> bool:
    """Whether what is drawn in a page box was drawn there before, and the other way round, if thicker or larger."""
    near = np.ones((2 * _THICKER_PX + 1, 2 * _THICKER_PX + 1), np.uint8)
    for was, now, _ in _pairs(before, after, [_without_rim(box)], Point(x=0, y=0), box.center):
        old, new = (_ink(each).astype(np.uint8) for each in (was, now))
        apart = [one & ~cv2.dilate(other, near) & 1 for one, other in ((old, new), (new, old))]
        if max(int(np.count_nonzero(each)) for each in apart) > _SAME_MOST:
            return False
    return True


def _without_rim(box: Box) -> Box:
    by = min(_RIM, box.width / 8), min(_RIM, box.height / 8)
    return Box(x=box.x + by[0], y=box.y + by[1], width=box.width - 2 * by[0], height=box.height - 2 * by[1])


def _shows(picture: Picture, box: Box) -> bool:
    return picture.page.intersection(box) == box


def _moved(box: Box, by: Point) -> Box:
    return Box(x=box.x + by.x, y=box.y + by.y, width=box.width, height=box.height)


def _pairs(
    before: Picture, after: Picture, boxes: Sequence[Box], moved: Point, pointer: Point
) -> Iterator[tuple[Pixels, Pixels, np.ndarray]]:
    """The pixels of each box in both pictures, as far as both show it, and which are in line with the pointer."""
    by_x, by_y = round(moved.x / before.map.scale_x), round(moved.y / before.map.scale_y)
    old, new = pixels_of(before), pixels_of(after)
    if old.shape != new.shape:
        return
    high, wide = old.shape[:2]
    hit = after.map.to_picture(pointer)
    cross = np.zeros((high, wide), bool)
    cross[max(0, round(hit.y) - _BY) : round(hit.y) + _BY + 1] = True
    cross[:, max(0, round(hit.x) - _BY) : round(hit.x) + _BY + 1] = True
    for box in boxes:
        start = before.map.to_picture(Point(x=box.x, y=box.y))
        end = before.map.to_picture(Point(x=box.right, y=box.bottom))
        left, top = max(0, -by_x, round(start.x)), max(0, -by_y, round(start.y))
        right, bottom = min(wide, wide - by_x, round(end.x)), min(high, high - by_y, round(end.y))
        if left < right and top < bottom:
            there = slice(top + by_y, bottom + by_y), slice(left + by_x, right + by_x)
            yield old[top:bottom, left:right], new[there], cross[there]


def _shifted(was: Pixels, now: Pixels, but: np.ndarray, x: int, y: int) -> tuple[Pixels, Pixels, np.ndarray]:
    """The parts that show the same if everything was drawn `x` and `y` pixels farther."""
    high, wide = was.shape[:2]
    old = was[max(0, -y) : high - max(0, y), max(0, -x) : wide - max(0, x)]
    there = slice(max(0, y), high + min(0, y)), slice(max(0, x), wide + min(0, x))
    return old, now[there], but[there]


def _is_alike(was: Pixels, now: Pixels, but: np.ndarray, *, may_have_bubble: bool = False) -> bool:
    """Whether each colour became one colour, and each of the new ones was one, wherever it is not `but`."""
    if not was.size:
        return True
    over = but | _lines(np.asarray(np.abs(was.astype(np.int16) - now).max(axis=2) > _UNLIKE, np.uint8))
    if may_have_bubble:
        over = over | _bubbles(_unlike(was, now, over, _UNLIKE, has_shades=False), but)
    unlike = cv2.bitwise_or(_unlike(was, now, over, _UNLIKE), _unlike(now, was, over, _WAS_UNLIKE))
    unlike[_lines(unlike)] = 0
    return int(np.count_nonzero(unlike)) <= _SAME_MOST


def _bubbles(unlike: np.ndarray, but: np.ndarray) -> np.ndarray:
    """Which pixels are in boxes that are filled anew; what is `but` may cut those in two."""
    across = 2 * _BY + 3
    whole = np.where(but, cv2.morphologyEx(unlike, cv2.MORPH_CLOSE, np.ones((across, across), np.uint8)), unlike)
    found = np.zeros_like(but)
    _, _, parts, _ = cv2.connectedComponentsWithStats(whole, connectivity=8)
    for left, top, wide, high, area in parts[1:]:
        if area >= _BUBBLE and area >= _FILLED * wide * high:
            found[top : top + high, left : left + wide] = True
    return found


def _corners(high: int, wide: int) -> np.ndarray:
    """Which pixels are at the corners."""
    found = np.zeros((high, wide), bool)
    if min(high, wide) >= _HAS_CORNERS:
        for rows in (slice(_CORNER), slice(high - _CORNER, high)):
            found[rows, :_CORNER] = found[rows, wide - _CORNER :] = True
    return found


def _lines(pixels: np.ndarray) -> np.ndarray:
    """Which pixels are in straight lines, and those beside these."""
    found = np.zeros_like(pixels)
    for side in ((_LINE, 1), (1, _LINE)):
        found |= cv2.morphologyEx(pixels, cv2.MORPH_OPEN, np.ones(side, np.uint8))
    thick = cv2.morphologyEx(pixels, cv2.MORPH_OPEN, np.ones((_THICK, _THICK), np.uint8))
    return np.asarray(cv2.dilate(found & ~thick, np.ones((3, 3), np.uint8)) > 0)


def _unlike(was: Pixels, now: Pixels, but: np.ndarray, most: float, *, has_shades: bool = True) -> np.ndarray:
    """1 for the pixels whose new colour is not that of most that looked like them, by `most` in a channel.

    The pixels `but` count for nothing, and if it `has_shades`, nor does what is soft.
    """
    levels = (was // (256 // _LEVELS)).astype(np.int32)[~but]
    kinds = levels @ np.array([1, _LEVELS, _LEVELS * _LEVELS], np.int32)
    order = np.argsort(kinds, kind="stable")
    starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    shown, common = now[~but].astype(np.float32), np.empty((len(kinds), 3), np.float32)
    for members in np.split(order, starts[1:]) if len(kinds) else ():
        common[members] = np.median(shown[members], axis=0)
    unlike = np.zeros(was.shape[:2], np.uint8)
    difference = shown - common
    unlike[~but] = np.abs(difference).max(axis=1, initial=0) > most
    for kind in np.unique(kinds[unlike[~but] > 0]).tolist() if has_shades else ():
        unlike &= ~_shade(was.shape[:2], ~but, kinds == kind, difference, most)
    return unlike


def _shade(
    size: tuple[int, ...], place: np.ndarray, is_kind: np.ndarray, difference: Pixels, most: float
) -> np.ndarray:
    """1 for the pixels of one colour that changed as much as those of it around them: shadows are soft, letters not."""
    mine, by = np.zeros(size, np.float32), np.zeros((*size, 3), np.float32)
    mine[place] = is_kind
    by[place] = np.where(is_kind[:, None], difference, 0)
    around = cv2.boxFilter(by, -1, (_SOFT, _SOFT), normalize=False)
    around /= np.maximum(cv2.boxFilter(mine, -1, (_SOFT, _SOFT), normalize=False), 1)[..., None]
    return np.asarray((np.abs(by - around).max(axis=2) <= most) & (mine > 0), np.uint8)


def _ink(pixels: Pixels) -> np.ndarray:
    """Where something is drawn on the most common colour."""
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    ground = colours[counts.argmax()].astype(np.int16)
    return np.asarray(np.abs(pixels.astype(np.int16) - ground).max(axis=2) > _INK)
