"""A decoded picture for the lifetime of one observation, and the map from its pixels to the page.

Owns the pixels: nothing outside this room touches an array. A `Picture` never changes; each step makes a new one.
Knows no page and no model: the limits come as a `Contract`.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any, Literal, NamedTuple
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray
from zlib_ng import zlib_ng

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.types import Box, PageMap, Shot, Size
from vision_agent.vision.contract import Contract
from vision_agent.vision.rects import Ints, edges_of

Pixels = NDArray[np.uint8]
Format = Literal["png", "jpeg"]

_PNG_LEVEL = 2
"""Of zlib-ng. Rows are not filtered: on pages that is both the fastest and the smallest. Compressing 1280×800 takes
3 ms to 143 kB in the mean of our sites' shots; zlib at 1 takes 10 ms to 144 kB. Both make the same bytes of the same
pixels each time, and pictures are told apart by the hash of their bytes. ISA-L, at 1 ms, does not: one of twelve
processes wrote some of them in other bytes."""
# Without chroma subsampling, which would blur coloured digits.
_JPEG = [
    cv2.IMWRITE_JPEG_QUALITY,
    92,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
]
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_SIZE = slice(16, 24)
"""Where it says its width and height."""

_ZOOM = 4
"""Picture pixels for a CSS pixel, at most: text of a page is then as large as a headline, and larger tells no more."""

_MASK_TONES = (150, 166)
_MASK_STRIPE = 5


class Extent(NamedTuple):
    """How large a picture is, and where on the page."""

    size: Size
    map: PageMap

    @classmethod
    def of_png(cls, data: bytes, page: Box, contract: Contract) -> Extent:
        """That of the picture which `Picture.decode` makes of these bytes, known long before that.

        Raises:
            UsageError: the bytes are no PNG.
        """
        if not data.startswith(_PNG_SIGNATURE) or len(data) < _PNG_SIZE.stop:
            raise UsageError(
                f"{len(data)} bytes were to be read as a picture, and they are none", "a whole PNG file is expected"
            )
        width, height = struct.unpack(">II", data[_PNG_SIZE])
        size = contract.fit(Size(width=width, height=height))
        return cls(size, _map_of(page, size))

    def rects(self, boxes: Sequence[Box]) -> Ints:
        """Page boxes as they are drawn: whole pixels, at least one each way, inside the picture; a row for each."""
        offset = [self.map.offset_x, self.map.offset_y] * 2
        scale = [self.map.scale_x, self.map.scale_y] * 2
        whole = np.rint((edges_of(boxes) - offset) / scale)
        limits = np.array([self.size.width, self.size.height])
        start = np.clip(whole[:, :2], 0, limits - 1)
        end = np.clip(whole[:, 2:], start + 1, limits)
        return np.concatenate([start, end], axis=1).astype(np.int32)


class Picture:
    """Pixels and where on the page they are. Pass it around; what is in it stays in `vision`."""

    def __init__(self, pixels: Pixels, map: PageMap) -> None:
        pixels.setflags(write=False)
        self._pixels = pixels
        self._map = map
        self._shots: dict[Format, Shot] = {}
        self._larger: Picture | None = None
        """The same before it was shrunk, for looking closer."""

    @classmethod
    def decode(cls, data: bytes, page: Box, contract: Contract | None = None) -> Picture:
        """The picture of an encoded screenshot that shows the area `page` of the viewport.

        It is shrunk here, once, if the contract demands it.
        A screenshot that is a PNG and fits is later written with the very bytes it came with.

        Raises:
            UsageError: the bytes are no picture.
        """
        pixels = _decoded(data, cv2.IMREAD_COLOR)
        came = cls(pixels, _map_of(page, Size(width=pixels.shape[1], height=pixels.shape[0])))
        size = contract.fit(came.size) if contract else came.size
        if size != came.size:
            picture = cls(_resized(pixels, size), _map_of(page, size))
            picture._larger = came
            return picture
        if data.startswith(_PNG_SIGNATURE):
            came._shots["png"] = came._shot(data, "image/png")
        return came

    @classmethod
    def of_rgb(cls, rows: NDArray[np.uint8], page: Box, contract: Contract | None = None) -> Picture:
        """The picture that another framework holds as rows of red, green and blue, and that shows `page`.

        Raises:
            UsageError: it is no such array.
        """
        if rows.ndim != 3 or rows.shape[2] != 3 or rows.dtype != np.uint8 or not rows.size:
            raise UsageError(
                f"A picture was to be made of an array of shape {rows.shape} and type {rows.dtype}",
                "height × width × 3 of uint8 are expected: red, green, blue",
            )
        return cls.decode(cls(cv2.cvtColor(rows, cv2.COLOR_RGB2BGR), PageMap()).encode().data or b"", page, contract)

    def as_rgb(self) -> NDArray[np.uint8]:
        """Its pixels for another framework: height × width × 3, red first."""
        return np.asarray(cv2.cvtColor(self._pixels, cv2.COLOR_BGR2RGB), np.uint8)

    @classmethod
    def of(cls, shot: Shot) -> Picture:
        """The picture in a shot.

        Raises:
            UsageError: the shot was read without its bytes, or they are no picture.
        """
        if shot.data is None:
            raise UsageError(
                f"The pixels of shot {shot.sha256[:12]} were asked for, but it came without its bytes",
                "load them by their hash from the run folder's shots",
            )
        return cls(_decoded(shot.data, cv2.IMREAD_COLOR), shot.map)

    @property
    def size(self) -> Size:
        return Size(width=self._pixels.shape[1], height=self._pixels.shape[0])

    @property
    def map(self) -> PageMap:
        """From picture to page coordinates."""
        return self._map

    @property
    def extent(self) -> Extent:
        return Extent(self.size, self._map)

    @property
    def page(self) -> Box:
        """The part of the page that it shows."""
        return self._map.shown(self.size)

    def encode(self, format: Format = "png") -> Shot:
        """The picture as bytes with their hash; the second call costs nothing."""
        if format not in self._shots:
            if format == "png":
                self._shots[format] = self._shot(_as_png(self._pixels), "image/png")
            else:
                self._shots[format] = self._shot(cv2.imencode(".jpg", self._pixels, _JPEG)[1].tobytes(), "image/jpeg")
        return self._shots[format]

    def phash(self) -> str:
        """A perceptual hash: 64 hexadecimal digits that differ in few bits where two pictures look alike.

        The difference hash: whether each of 16×16 parts is darker than the one to its right.
        """
        grey = cv2.cvtColor(
            cv2.resize(self._pixels[::2, ::2], (17, 16), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY
        )
        return np.packbits(grey[:, :-1] < grey[:, 1:]).tobytes().hex()

    def masked(self, boxes: Iterable[Box]) -> Picture:
        """The picture with these page boxes painted over by grey stripes; nothing of what was there is left."""
        boxes = tuple(boxes)
        if not boxes:
            return self
        pixels = self._pixels.copy()
        for box in boxes:
            # One pixel more on each side: shrinking mixes a pixel with its neighbours.
            x, y, right, bottom = self._whole(box, grow=1)
            if right <= x or bottom <= y:
                continue
            across = np.arange(x, right)[None, :] + np.arange(y, bottom)[:, None]
            pixels[y:bottom, x:right] = np.choose(across // _MASK_STRIPE % 2, _MASK_TONES)[..., None]
        masked = Picture(pixels, self._map)
        masked._larger = self._larger and self._larger.masked(boxes)
        return masked

    def crop(self, box: Box) -> Picture:
        """The part of the picture that shows this page box, with its own map.

        Raises:
            UsageError: the box is not in the picture.
        """
        x, y, right, bottom = self._whole(box)
        if right <= x or bottom <= y:
            raise UsageError(f"A crop at {_placed(box)} was asked for, which the picture does not show")
        start = self._map.to_page(Point(x=x, y=y))
        map = self._map.model_copy(update={"offset_x": start.x, "offset_y": start.y})
        return Picture(self._pixels[y:bottom, x:right].copy(), map)

    def zoomed(self, box: Box, contract: Contract, at_least: int = 0) -> Picture:
        """The part of the picture that shows this page box, as large as the contract takes, with its own map.

        It is made of the screenshot as it came, hence sharper than this picture where that was shrunk. It is enlarged
        fourfold at most, or further until its longer edge has `at_least` so many pixels.

        Raises:
            UsageError: the box is not in the picture.
        """
        part = (self._larger or self).crop(box)
        map, came = part.map, part.size
        wide, high = came.width * map.scale_x, came.height * map.scale_y
        by = max(_ZOOM, at_least / max(wide, high))
        size = contract.fit(Size(width=max(1, round(wide * by)), height=max(1, round(high * by))))
        if size == came:
            return part
        start = Box(x=map.offset_x, y=map.offset_y, width=wide, height=high)
        return Picture(_resized(pixels_of(part), size), _map_of(start, size))

    def _whole(self, box: Box, grow: int = 0) -> tuple[int, int, int, int]:
        """Left, top, right and bottom in whole pixels that cover the page box, inside the picture."""
        inside = self._map.box_to_picture(box)
        height, width = self._pixels.shape[:2]
        # A millionth of slack, so that 12.0000001 is not a thirteenth pixel.
        return (
            max(0, floor(inside.x + 1e-6) - grow),
            max(0, floor(inside.y + 1e-6) - grow),
            min(width, ceil(inside.right - 1e-6) + grow),
            min(height, ceil(inside.bottom - 1e-6) + grow),
        )

    def _shot(self, data: bytes, media_type: Literal["image/png", "image/jpeg"]) -> Shot:
        sha256 = hashlib.sha256(data).hexdigest()
        return Shot(media_type=media_type, size=self.size, sha256=sha256, map=self._map, data=data)


def pixels_of(picture: Picture) -> Pixels:
    """The pixels, blue first, not to be written to. For this room only."""
    return picture._pixels


def pixels_in(picture: Picture, box: Box) -> Pixels:
    """Those that show a page box, without a copy of them; not to be written to. For this room only."""
    x, y, right, bottom = picture._whole(box)
    return picture._pixels[y:bottom, x:right]


def _map_of(page: Box, size: Size) -> PageMap:
    return PageMap(scale_x=page.width / size.width, scale_y=page.height / size.height, offset_x=page.x, offset_y=page.y)


def _resized(pixels: Pixels, size: Size) -> Pixels:
    is_smaller = size.width < pixels.shape[1]
    how = cv2.INTER_AREA if is_smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (size.width, size.height), interpolation=how), np.uint8)


def _decoded(data: bytes, how: int) -> Pixels:
    pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), how) if data else None
    if pixels is None:
        raise UsageError(
            f"{len(data)} bytes were to be read as a picture, and they are none",
            "a PNG, JPEG or WebP file is expected, whole and unencrypted",
        )
    return np.asarray(pixels, np.uint8)


def _as_png(pixels: Pixels) -> bytes:
    """The whole file: its head, all rows in one piece, its end."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with the number of its filter, which is none
    rows[:, 1:] = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # eight bits for each of three colours
    pieces = ((b"IHDR", head), (b"IDAT", zlib_ng.compress(rows.data, _PNG_LEVEL)), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_png_piece(*piece) for piece in pieces)


def _png_piece(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc32(name + content))


def _placed(box: Box) -> str:
    return f"{box.x:g},{box.y:g} of {box.width:g}×{box.height:g}"
