"""One observation as a strategy reads it: marks, lines of the listing, and pixels. It knows no browser and no task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation

Picture = NDArray[np.uint8]
"""Rows, columns, then red, green and blue."""

AREA = Box(x=0, y=50, width=159, height=159)
"""Where the environment draws its tasks; the goal stands above, and its own counters beside."""
_COUNTERS = re.compile(r"Last reward:|Last 10 average:|Time left:|[\d.-]+ / \d+sec|Episodes done:")
_LINE = re.compile(r"^(?P<id>\w+)\[:\](?P<rest>.*)$")
_TAG = re.compile(r"^<[^>]*>")
_BETWEEN = re.compile(" [·⏎] ")
"""What stands between texts that are near each other."""


@dataclass(frozen=True)
class Line:
    """One line of the listing."""

    text: str
    """What it says, without the tag."""
    mark: Mark | None
    """None for text that no mark carries."""


class View:
    """What can be seen."""

    def __init__(self, seen: Observation) -> None:
        self.seen = seen

    @property
    def marks(self) -> tuple[Mark, ...]:
        """All marks, in the order of the listing."""
        return self.seen.marks

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The listing without the environment's counters."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[Line]:
        after = ""
        for raw in self.seen.listing.splitlines():
            match = _LINE.match(raw)
            if match is None:
                continue
            text, number = match["rest"], match["id"]
            if number == "_":
                for part in _BETWEEN.split(text):
                    is_count = _COUNTERS.match(part) or (after.startswith("Episodes") and re.fullmatch(r"\d+|-", part))
                    after = part
                    if not is_count:
                        yield Line(part, None)
            elif number.isdigit():
                yield Line(_TAG.sub("", text), self.seen.mark(int(number)))

    @property
    def texts(self) -> list[str]:
        """The text blocks that no mark carries."""
        return [line.text for line in self.lines if line.mark is None]

    def all(self, *tags: str, where: Callable[[Mark], bool] = lambda _: True) -> list[Mark]:
        """The marks with one of these tags, or any, that hold the condition; the top row first, from left to right."""
        found = [mark for mark in self.marks if (not tags or mark.tag in tags) and where(mark)]
        return sorted(found, key=lambda mark: (round(mark.box.center.y / 8), mark.box.x))

    def named(self, name: str, *tags: str) -> list[Mark]:
        """The marks with this name: exactly, or else in any case of its letters."""
        exact = self.all(*tags, where=lambda mark: mark.name.strip() == name.strip())
        return exact or self.all(*tags, where=lambda mark: mark.name.strip().lower() == name.strip().lower())

    def again(self, mark: Mark) -> Mark | None:
        """The same mark in this view: the same element, or the nearest that looks the same after a redraw."""
        if same := [each for each in self.marks if each.key == mark.key]:
            return same[0]
        alike = self.all(mark.tag, where=lambda each: each.name == mark.name and each.box.likeness(mark.box) > 0)
        return max(alike, key=lambda each: each.box.likeness(mark.box), default=None)

    @property
    def fields(self) -> list[Mark]:
        """What text can be typed into."""
        return self.all("input", "textarea", where=lambda mark: mark.kind == "field" and mark.role != "spinbutton")

    @property
    def ticks(self) -> list[Mark]:
        """Checkboxes and radio buttons."""
        return self.all("input", where=lambda mark: mark.state.checked is not None)

    @cached_property
    def picture(self) -> Picture:
        """The clean picture, one pixel for each CSS pixel of the page."""
        data = self.seen.clean.data
        assert data is not None
        decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        assert decoded is not None
        page = self.seen.clean.page
        sized = cv2.resize(decoded, (round(page.width), round(page.height)), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.cvtColor(sized, cv2.COLOR_BGR2RGB), np.uint8)

    def crop(self, box: Box) -> Picture:
        """The part of the picture in a box."""
        left, top = max(0, round(box.x)), max(0, round(box.y))
        return self.picture[top : round(box.bottom), left : round(box.right)]
