"""Finds minus signs, points, commas and colons right beside lines of text, which are too low to be found as letters.

In a font whose letters are equally wide they stand apart from the digits, and a number without them is another one. A
sign is ink of the colour and about the weight of the letters beside it, where a sign belongs, and nothing else: what
touches a line, as the tick of an axis does, is none. This module knows only pixels, and does not read.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, connected_groups, rect_areas, rect_sums

# All in heights of the line, to which a pixel is added where soft rims may do so. What ten fonts have is in brackets.
_FREE = 0.2
"""The upper part of a line that signs leave free; what is as high as a letter is none."""
_DASH_WIDE, _DASH_HIGH, _DASH_AT = (0.25, 0.9), 0.2, (0.3, 0.62)
"""The width of a dash [0.28 to 0.84], its most height [0.18], and its middle, above the foot of the line [0.37 to
0.53]."""
_HYPHEN = 0.5
"""The width up to which a dash may be a hyphen, which has more room beside it than a minus."""
_INK = (0.065, 0.25)
"""The height of a dash if all its ink were as dark as the letters [0.07 to 0.18]; a faint tick has less."""
_LONG = 1.6
"""How many times as wide as that a dash is at least."""
_DOT, _DOT_AT = 0.25, (0.4, 0.78)
"""The most width and height of the upper dot of a colon [0.25], and its middle."""
_LOW_WIDE, _LOW_HIGH, _LOW_TOP, _LOW_BELOW, _LOW_ABOVE = 0.35, 0.47, 0.3, 0.27, 0.08
"""For a point or comma, the most width and height [0.34, 0.47], how high it begins at most [0.25], and how far below or
above the foot of the line it ends."""
_GAP_HYPHEN, _GAP_MINUS, _GAP_LOW = 0.42, 0.3, 0.5
"""The largest gaps between signs and digits [0.39, 0.3 and 0.5]."""
_GAP_BEHIND = 0.65
"""The largest gap to a line at the other side of a sign, which may begin or end with a narrow digit."""
_LETTER = 0.6
"""The part of a line, in heights, whose foot is that of the letter at its end."""
_SLACK_PX = 0.5
_ALIKE = 1.8
"""The most ratio between the heights of lines that a sign connects: a currency or bracket is higher than digits."""
_SAME_COLOUR, _LEAST_DARK, _MOST_DARK = 40, 0.3, 1.3
"""How far a colour may be from shades between letter and ground, and how dark it is, in times a letter."""
_SAMPLES = 20, 12
_RULE_PX = 1
"""How near to a higher line a dash is probably its tick."""
_FEWEST_TICKS, _EVEN_PX, _NEXT = 3, 2, 1.6
"""The fewest dashes that may be ticks, how even their distances are, and within how many distances a text of their
column that has none shows that they are not."""


class SignedLines(NamedTuple):
    """Lines of text with the signs beside them."""

    lines: Ints
    doubtful: Ints
    """Those of them that begin with a separator, or beside a dash that may be the tick of an axis and is left out."""


class _Signs(NamedTuple):
    rects: Ints
    lines: Group
    """The line that each sign was found beside."""
    is_left: Bools
    is_dash: Bools
    is_at_rule: Bools
    """Whether a sign is between its line and something higher, at which it nearly ends."""

    def take(self, which: Group) -> _Signs:
        return _Signs(
            self.rects[which], self.lines[which], self.is_left[which], self.is_dash[which], self.is_at_rule[which]
        )


def with_signs(lines: Ints, edges: Pixels, inked: Ints, pixels: Pixels) -> SignedLines:
    """The lines, with the signs beside them; those that a sign is between are one.

    `inked`: the number of edge pixels above and left of each pixel, for `rect_sums`.
    """
    signs = _signs_beside(lines, edges, inked, pixels)
    if not len(signs.rects):
        return SignedLines(lines, lines[:0])
    one, other, is_behind = _other_lines(signs, lines)
    is_between = np.bincount(one[is_behind], minlength=len(signs.rects)) > 0
    leads = signs.is_left & ~is_between
    may_be_tick = _are_in_column(signs, leads & signs.is_dash, lines) | (leads & signs.is_dash & signs.is_at_rule)
    is_sign = ~may_be_tick & (~signs.is_dash | signs.is_left | is_between)
    is_doubtful = np.zeros(len(lines), bool)
    # Before a point there is mostly a digit, which was not found then.
    is_doubtful[signs.lines[may_be_tick | (leads & ~signs.is_dash)]] = True
    whole = lines.copy()
    np.minimum.at(whole[:, :2], signs.lines[is_sign], signs.rects[is_sign, :2])
    np.maximum.at(whole[:, 2:], signs.lines[is_sign], signs.rects[is_sign, 2:])
    one, other = one[is_sign[one]], other[is_sign[one]]
    groups = connected_groups(len(lines), signs.lines[one], other)
    order, starts = np.concatenate(groups), np.cumsum([0, *map(len, groups[:-1])])
    whole = whole[order]
    firsts, lasts = np.minimum.reduceat(whole[:, :2], starts), np.maximum.reduceat(whole[:, 2:], starts)
    joined = np.concatenate([firsts, lasts], axis=1)
    return SignedLines(joined, joined[np.logical_or.reduceat(is_doubtful[order], starts)])


def _signs_beside(lines: Ints, edges: Pixels, inked: Ints, pixels: Pixels) -> _Signs:
    """The signs beside either end of each line."""
    owners, is_left = _with_low_ink(lines, inked)
    none = _Signs(np.empty((0, 4), np.int32), owners[:0], is_left[:0], is_left[:0], is_left[:0])
    if not len(owners):
        return none
    left, top, right, bottom = lines[owners].T
    high = bottom - top
    # The places beside the lines in one picture, one above the other; those at the left are mirrored.
    wide, tall = (np.ceil(share * high).astype(np.int32) + 4 for share in (_GAP_LOW + _DASH_WIDE[1], 1 + _LOW_BELOW))
    rows = int(tall.max()) + 1
    strips = np.zeros((len(owners) * rows, int(wide.max())), np.uint8)
    feet = high + 1  # row 0 is above the line
    places = np.stack([left, right, top - 1, bottom, wide, tall, is_left], axis=1).tolist()
    for at, (start, end, y, foot, across, down, is_mirrored) in enumerate(places):
        columns = slice(max(0, start - across), start) if is_mirrored else slice(end, end + across)
        part = edges[max(0, y) : y + down, columns]
        beside = ceil(_LETTER * (foot - y))
        near = slice(start, min(end, start + beside)) if is_mirrored else slice(max(start, end - beside), end)
        inked_rows = np.flatnonzero(edges[max(0, y) : foot, near].any(axis=1))
        feet[at] = inked_rows[-1] + 1 + max(0, -y) if len(inked_rows) else feet[at]
        first = at * rows + max(0, -y)
        strips[first : first + part.shape[0], : part.shape[1]] = part[:, ::-1] if is_mirrored else part
    stats = cv2.connectedComponentsWithStats(strips, connectivity=8)[2][1:]
    if not len(stats):
        return none
    near, row, across, down = stats[np.argsort(stats[:, 1] // rows, kind="stable"), :4].astype(np.int32).T
    strip = row // rows
    upper = row % rows
    lower, far = upper + down, near + across
    is_alone = (upper > 0) & (lower < tall[strip]) & (far < wide[strip])
    h = (high[strip] - 1).astype(np.float32)
    # An edge is one pixel larger than its ink, and the gap beside it one smaller.
    ink_wide, ink_high, gap = across - 1, down - 1, near + 1
    # That of the line may be the foot of a comma or bracket.
    foot, own_foot = high[strip] + 1, feet[strip]
    middle, own_middle = ((each - (upper + lower + 1) / 2) / h for each in (foot, own_foot))
    is_dash = is_alone & (ink_wide > ink_high) & (ink_high <= _DASH_HIGH * h + 1)
    is_dash &= (ink_wide >= _DASH_WIDE[0] * h) & (ink_wide <= _DASH_WIDE[1] * h + 1)
    is_dash &= _is_between(middle, _DASH_AT) | _is_between(own_middle, _DASH_AT)
    is_dash &= gap <= np.where(ink_wide <= _HYPHEN * h + 1, _GAP_HYPHEN, _GAP_MINUS) * h + _SLACK_PX
    is_low = is_alone & (gap <= _GAP_LOW * h + _SLACK_PX)
    is_dot = is_low & (np.maximum(ink_wide, ink_high) <= _DOT * h + 1)
    is_dot &= _is_between(middle, _DOT_AT) | _is_between(own_middle, _DOT_AT)
    is_low &= (ink_wide <= _LOW_WIDE * h + 1) & (ink_high <= _LOW_HIGH * h + 1)
    is_low &= _is_at_foot(upper, lower, foot, h) | _is_at_foot(upper, lower, own_foot, h)
    other = _others_in(strip)
    is_other = other >= 0
    is_under = is_other & (np.abs(near[:, None] - near[other]) <= 1 + _LOW_WIDE * h[:, None] / 2)
    is_dot &= (is_under & is_low[other]).any(axis=1)
    is_dash &= ~is_dot & ~is_low
    # What has more of its kind or anything else beside it is a pattern, such as a dotted line, or a drawing.
    is_other &= ((upper < foot) & (lower > 1))[other]
    is_row = is_other & (np.abs(upper[:, None] - upper[other]) <= 1) & (np.abs(lower[:, None] - lower[other]) <= 1)
    is_nearer = is_other & (near[other] <= far[:, None]) & ~(is_under & (is_dot | is_low)[other])
    is_at_rule = (is_other & (down[other] > h[:, None] + 2) & (near[other] - far[:, None] <= _RULE_PX)).any(axis=1)
    found = np.flatnonzero((is_dash | is_dot | is_low) & ~(is_row | is_nearer).any(axis=1))
    if not len(found):
        return none
    strip, near, far = strip[found], near[found], far[found]
    starts = np.where(is_left[strip], left[strip] - far, right[strip] + near)
    y = top[strip] - 1
    rects = np.stack([starts, y + upper[found], starts + far - near, y + lower[found]], axis=1).astype(np.int32)
    signs = _Signs(rects, owners[strip], is_left[strip], is_dash[found], is_at_rule[found])
    is_ink = _are_ink_of(signs, lines, pixels)
    return signs.take(np.flatnonzero(is_ink))


def _is_between(values: Floats, ends: tuple[float, float]) -> Bools:
    return np.asarray((values >= ends[0]) & (values <= ends[1]))


def _is_at_foot(upper: Ints, lower: Ints, foot: Ints, h: Floats) -> Bools:
    """Which ink is as low as points and commas of a line with this foot and height."""
    is_low = (foot - upper <= _LOW_TOP * h + 2) & (lower - foot <= _LOW_BELOW * h + 1)
    return np.asarray(is_low & (lower - foot >= -np.maximum(1, _LOW_ABOVE * h)))


def _with_low_ink(lines: Ints, inked: Ints) -> tuple[Group, Bools]:
    """The lines with ink right beside them, but none at the height of the upper part of letters; and at which side."""
    left, top, right, bottom = lines.T
    high = bottom - top
    near = np.ceil(_GAP_LOW * high + 1).astype(np.int32)
    upper = top + np.floor(_FREE * high).astype(np.int32)
    below = bottom + np.ceil(_LOW_BELOW * high).astype(np.int32)
    limits = np.array(inked.shape[1::-1] * 2, np.int32) - 1
    found = []
    for start, end in ((left - near, left), (right, right + near)):
        above, beside = (
            rect_sums(inked, np.stack([start, first, end, last], axis=1).clip(0, limits))
            for first, last in ((top, upper), (upper, below))
        )
        found.append((above == 0) & (beside > 0))
    at = np.concatenate([np.flatnonzero(each) for each in found])
    return at, np.arange(len(at)) < found[0].sum()


def _are_ink_of(signs: _Signs, lines: Ints, pixels: Pixels) -> Bools:
    """Which signs have the colour of the letter beside them, and dashes also about its weight."""
    left, top, right, bottom = lines[signs.lines].T
    high = bottom - top
    letter = np.minimum(right - left, high)
    starts = np.where(signs.is_left, left, right - letter)
    ends = starts + letter
    x, y = signs.rects[:, [0, 2]].sum(axis=1) // 2, signs.rects[:, 1]
    limits = np.array(pixels.shape, np.int32) - 1
    ground = pixels[y.clip(0, limits[0]), x.clip(0, limits[1])].astype(np.float32)

    def darkest(rows: Ints, columns: Ints) -> tuple[Floats, Floats]:
        """How each pixel differs from the ground, and the one that does most."""
        at = pixels[rows.clip(0, limits[0])[:, :, None], columns.clip(0, limits[1])[:, None]].astype(np.float32)
        differs = (at - ground[:, None, None]).reshape(len(at), -1, 3)
        most = np.abs(differs).max(axis=2).argmax(axis=1)
        return differs, differs[np.arange(len(differs)), most]

    ink = darkest(_between(top, bottom, _SAMPLES[0]), _between(starts, ends, _SAMPLES[1]))[1]
    deep = int((signs.rects[:, 3] - y).max(initial=1))
    rows = np.minimum(y[:, None] + np.arange(deep), signs.rects[:, 3:] - 1).astype(np.int32)
    differs, most = darkest(rows, x[:, None])
    size = np.maximum(1, (ink**2).sum(axis=1))
    dark = (most * ink).sum(axis=1) / size
    is_alike = np.abs(most - dark[:, None] * ink).max(axis=1, initial=0) <= _SAME_COLOUR
    is_alike &= (dark >= _LEAST_DARK) & (dark <= _MOST_DARK)
    is_own = np.arange(deep)[None] < (signs.rects[:, 3] - y)[:, None]
    weight = ((differs * ink[:, None]).sum(axis=2) / size[:, None] * is_own).sum(axis=1) / high
    is_thin = signs.rects[:, 2] - signs.rects[:, 0] - 2 >= _LONG * weight * high
    return np.asarray(is_alike & (~signs.is_dash | (is_thin & (weight >= _INK[0]) & (weight <= _INK[1]))))


def _between(start: Ints, end: Ints, many: int) -> Ints:
    """So many whole numbers from each start to before its end."""
    return np.asarray(start[:, None] + (end - start)[:, None] * np.arange(many) // many, np.int32)


def _others_in(strips: Group | Ints) -> Group:
    """For each item the indexes of all others in its strip, one row each, filled up with -1; strips are ascending."""
    first = np.searchsorted(strips, strips)
    rank = np.arange(len(strips)) - first
    places = first[:, None] + np.arange(rank.max() + 1)
    is_other = (places < np.searchsorted(strips, strips, side="right")[:, None]) & (
        places != np.arange(len(strips))[:, None]
    )
    return np.asarray(np.where(is_other, places, -1), np.int64)


def _other_lines(signs: _Signs, lines: Ints) -> tuple[Group, Group, Bools]:
    """Pairs of signs and of lines that lie on their line or go on behind them, and whether they go on."""
    high = lines[:, 3] - lines[:, 1]
    room = _GAP_BEHIND * high + _SLACK_PX
    below = lines[:, 3] + _LOW_BELOW * high + 2
    starts, above, ends, feet = signs.rects.T[..., None]
    is_near = (starts < lines[:, 2] + room) & (ends + 1 > lines[:, 0] - room) & (above >= lines[:, 1]) & (feet <= below)
    is_near[np.arange(len(starts)), signs.lines] = False
    sign, at = np.nonzero(is_near)
    other, own, rect = lines[at], lines[signs.lines[sign]], signs.rects[sign]
    is_in = (other[:, 0] <= rect[:, 0]) & (rect[:, 2] <= other[:, 2])
    is_behind = np.where(signs.is_left[sign], other[:, 2] <= rect[:, 0] + 1, other[:, 0] >= rect[:, 2] - 1)
    least = np.minimum(high[at], own[:, 3] - own[:, 1])
    level = np.minimum(other[:, 3], own[:, 3]) - np.maximum(other[:, 1], own[:, 1])
    is_behind &= (level >= least / 2) & (np.maximum(high[at], own[:, 3] - own[:, 1]) <= _ALIKE * least)
    is_on = 2 * common_area(other, own) >= np.minimum(rect_areas(other), rect_areas(own))
    is_behind |= is_in
    is_other = is_behind | is_on
    return sign[is_other], at[is_other], is_behind[is_other]


def _are_in_column(signs: _Signs, leads: Bools, lines: Ints) -> Bools:
    """Which dashes in front of a text are one of several at even distances, one for each text of a column."""
    found = np.zeros(len(leads), bool)
    at = np.flatnonzero(leads)
    if len(at) < _FEWEST_TICKS:
        return found
    at = at[np.lexsort((signs.rects[at, 1], signs.rects[at, 0]))]
    begins = np.flatnonzero(np.diff(signs.rects[at, 0], prepend=-9) > 1)
    for column in np.split(at, begins[1:]):
        if len(column) < _FEWEST_TICKS:
            continue
        column = column[np.argsort(signs.rects[column, 1])]
        y = signs.rects[column, 1]
        apart = np.diff(y)
        own = lines[signs.lines[column]]
        first, last = y[0] - ceil(_NEXT * apart.max()), y[-1] + ceil(_NEXT * apart.max())
        is_in = (lines[:, 0] < own[:, 2].max()) & (lines[:, 2] > signs.rects[column, 0].min())
        is_in &= (lines[:, 3] > first) & (lines[:, 1] < last)
        found[column] = (np.ptp(apart) <= _EVEN_PX) & (is_in.sum() == len(column))
    return found
