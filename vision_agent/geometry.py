"""Points, sizes and boxes, in the two coordinate systems of the product, which are never mixed.

*Page* coordinates are CSS pixels of the top-level viewport, with the origin at its top left. *Picture* coordinates are
pixels of a `Shot`. A `Shot` carries the map between them.
"""

from __future__ import annotations

from vision_agent.actions import Point
from vision_agent.base_model import FrozenModel


class Size(FrozenModel):
    """A width and a height."""

    width: int
    height: int

    @property
    def words(self) -> str:
        """The size in words, such as `1280 by 800`."""
        return f"{self.width} by {self.height}"

    def contains(self, point: Point) -> bool:
        """Whether the point lies on a pixel of a picture or viewport of this size; pixels run from 0 to size - 1.

        Every target that is a point is checked here. A point at `x == width` is outside: it lies on no pixel, and a
        click there would land beside the viewport.
        """
        return 0 <= point.x < self.width and 0 <= point.y < self.height

    def has_corner(self, point: Point) -> bool:
        """Whether a region of such a picture may have a corner there: the right and bottom edges are allowed too."""
        return 0 <= point.x <= self.width and 0 <= point.y <= self.height


class Box(FrozenModel):
    """An axis-aligned rectangle; its owner says whether it is in page or picture coordinates."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x coordinate of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y coordinate of the bottom edge."""
        return self.y + self.height

    @property
    def center(self) -> Point:
        """The point in the middle."""
        return Point(x=self.x + self.width / 2, y=self.y + self.height / 2)

    def contains(self, point: Point) -> bool:
        """Whether the point lies in the box; the right and bottom edges are excluded."""
        return self.x <= point.x < self.right and self.y <= point.y < self.bottom

    def intersection(self, other: Box) -> Box | None:
        """The overlap of the two boxes, or None if they do not overlap."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        if right <= x or bottom <= y:
            return None
        if (x, y, right, bottom) == (self.x, self.y, self.right, self.bottom):
            return self
        return Box(x=x, y=y, width=right - x, height=bottom - y)

    def share_in(self, other: Box) -> float:
        """The share of this box's area that lies in the other, 0 to 1."""
        both = self.intersection(other)
        return 0.0 if both is None else both.width * both.height / (self.width * self.height)

    def likeness(self, other: Box) -> float:
        """The intersection over union of the two boxes, 0 to 1."""
        both = self.intersection(other)
        if both is None:
            return 0.0
        area = both.width * both.height
        return area / (self.width * self.height + other.width * other.height - area)


class ScrollState(FrozenModel):
    """The scroll position and content size of a page or container, in CSS pixels."""

    x: float = 0
    y: float = 0
    width: float = 0
    """Width of the whole content."""
    height: float = 0
    view_width: float = 0
    view_height: float = 0

    @property
    def above(self) -> float:
        """CSS pixels of content above the view."""
        return max(0.0, self.y)

    @property
    def below(self) -> float:
        """CSS pixels of content below the view."""
        return max(0.0, self.height - self.view_height - self.y)


# --- pictures ---------------------------------------------------------------------------------------------------------


class PageMap(FrozenModel):
    """The affine map from picture to page: `page = picture * scale + offset` on each axis."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    def to_page(self, point: Point) -> Point:
        """A picture point in page coordinates."""
        return Point(x=point.x * self.scale_x + self.offset_x, y=point.y * self.scale_y + self.offset_y)

    def to_picture(self, point: Point) -> Point:
        """A page point in picture coordinates."""
        return Point(x=(point.x - self.offset_x) / self.scale_x, y=(point.y - self.offset_y) / self.scale_y)

    def box_to_picture(self, box: Box) -> Box:
        """A page box in picture coordinates."""
        corner = self.to_picture(Point(x=box.x, y=box.y))
        return Box(x=corner.x, y=corner.y, width=box.width / self.scale_x, height=box.height / self.scale_y)

    def shown(self, size: Size) -> Box:
        """The part of the page that a picture of this size shows."""
        return Box(x=self.offset_x, y=self.offset_y, width=size.width * self.scale_x, height=size.height * self.scale_y)
