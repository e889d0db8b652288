"""A decoded picture for the lifetime of one observation, and the map from its pixels to the page.

Only `vision` touches pixel arrays. A `Picture` is immutable; each operation returns a new one. It knows no page and no
model: limits are passed as `ImageLimits`.
"""

from __future__ import annotations

import hashlib
import io
import struct
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil, floor
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from zlib_ng import zlib_ng

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box, PageMap, Size
from vision_agent.observation import Shot
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.rects import Ints, edges_of

Pixels = NDArray[np.uint8]
Format = Literal["png", "jpeg"]

MOST_PIXELS = 64_000_000
"""The most pixels of a picture that is decoded; a page of 3840×2160 at two pixels per CSS pixel has 33 million."""
MOST_SIDE = 30_000
"""The longest side of a picture that is decoded, in pixels; Chromium draws 16,384 at most."""
_PNG_LEVEL = 2
"""The level of zlib-ng. Rows are not filtered, which is both fastest and smallest for web pages. On average over the
test sites' shots, a 1280×800 picture compresses in 3 ms to 143 kB; zlib at level 1 takes 10 ms for 144 kB. Both always
write the same bytes for the same pixels, which matters because pictures are identified by the hash of their bytes.
ISA-L, at 1 ms, does not: one of twelve processes wrote different bytes for some pictures."""
# Without chroma subsampling, which would blur coloured digits.
_JPEG = [
    cv2.IMWRITE_JPEG_QUALITY,
    92,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
]
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_SIZE = slice(16, 24)
"""The bytes of the header that hold width and height."""

_ZOOM = 4
"""The most picture pixels per CSS pixel: body text is then as large as a headline, and larger shows no more."""

_UNSEEN = 12
"""Tones of one channel, of 255: nobody reads letters that differ less from what is behind them."""
_MASK_TONES = (150, 166)
_MASK_STRIPE = 5


class Extent(NamedTuple):
    """A picture's size and its map to the page."""

    size: Size
    map: PageMap

    @classmethod
    def of_png(cls, data: bytes, page: Box, image_limits: ImageLimits) -> Extent:
        """The extent of the picture that `Picture.decode` makes from these bytes, without decoding them.

        Raises:
            UsageError: the bytes are not a PNG.
        """
        if not data.startswith(_PNG_SIGNATURE) or len(data) < _PNG_SIZE.stop:
            raise UsageError(f"{len(data)} bytes cannot be read as a picture", "a complete PNG file is expected")
        width, height = struct.unpack(">II", data[_PNG_SIZE])
        size = image_limits.fit(Size(width=width, height=height))
        return cls(size, _page_map(page, size))

    def rects(self, boxes: Sequence[Box]) -> Ints:
        """Page boxes in whole picture pixels, as they are drawn: one row each, inside the picture, never empty."""
        offset = [self.map.offset_x, self.map.offset_y] * 2
        scale = [self.map.scale_x, self.map.scale_y] * 2
        whole = np.rint((edges_of(boxes) - offset) / scale)
        limits = np.array([self.size.width, self.size.height])
        start = np.clip(whole[:, :2], 0, limits - 1)
        end = np.clip(whole[:, 2:], start + 1, limits)
        return np.concatenate([start, end], axis=1).astype(np.int32)


class Picture:
    """Pixels and their map to the page. Any module may pass a picture on, but only `vision` reads its pixels."""

    def __init__(self, pixels: Pixels, map: PageMap) -> None:
        pixels.setflags(write=False)
        self._pixels = pixels
        self._map = map
        self._shots: dict[Format, Shot] = {}
        self._larger: Picture | None = None
        """The picture before it was shrunk, for zooming."""

    @classmethod
    def decode(cls, data: bytes, page: Box, image_limits: ImageLimits | None = None) -> Picture:
        """Decodes a screenshot that shows the area `page` of the viewport (CSS pixels).

        The picture is shrunk here, once, if it exceeds `image_limits`. A PNG that fits is later written with its
        original bytes.

        Raises:
            UsageError: the bytes are not a picture.
        """
        pixels = _decode_pixels(data, cv2.IMREAD_COLOR)
        came = cls(pixels, _page_map(page, Size(width=pixels.shape[1], height=pixels.shape[0])))
        size = image_limits.fit(came.size) if image_limits else came.size
        if size != came.size:
            picture = cls(_resize(pixels, size), _page_map(page, size))
            picture._larger = came
            return picture
        if data.startswith(_PNG_SIGNATURE):
            came._shots["png"] = came._shot(data, "image/png")
        return came

    @classmethod
    def of_rgb(cls, rows: NDArray[np.uint8], page: Box, image_limits: ImageLimits | None = None) -> Picture:
        """The picture in another framework's array (height × width × 3, red first) that shows `page`.

        Raises:
            UsageError: the array has another shape or type.
        """
        if rows.ndim != 3 or rows.shape[2] != 3 or rows.dtype != np.uint8 or not rows.size:
            raise UsageError(
                f"An array of shape {rows.shape} and type {rows.dtype} cannot be read as a picture",
                "expected is height × width × 3 of uint8: red, green, blue",
            )
        return cls.decode(
            cls(cv2.cvtColor(rows, cv2.COLOR_RGB2BGR), PageMap()).encode().data or b"", page, image_limits
        )

    def as_rgb(self) -> NDArray[np.uint8]:
        """The pixels for another framework: height × width × 3, red first."""
        return np.asarray(cv2.cvtColor(self._pixels, cv2.COLOR_BGR2RGB), np.uint8)

    @classmethod
    def of(cls, shot: Shot) -> Picture:
        """Decodes the picture of a shot.

        Raises:
            UsageError: the shot was loaded without its bytes, or they are not a picture.
        """
        if shot.data is None:
            raise UsageError(
                f"The picture {shot.sha256[:12]} was loaded without its bytes",
                "load them from the run folder with load_shot",
            )
        return cls(_decode_pixels(shot.data, cv2.IMREAD_COLOR), shot.map)

    @property
    def size(self) -> Size:
        """Width and height in pixels."""
        return Size(width=self._pixels.shape[1], height=self._pixels.shape[0])

    @property
    def map(self) -> PageMap:
        """The map between picture and page coordinates."""
        return self._map

    @property
    def extent(self) -> Extent:
        """The size, and the map to the page."""
        return Extent(self.size, self._map)

    @cached_property
    def page(self) -> Box:
        """The part of the page that the picture shows, in CSS pixels."""
        return self._map.shown(self.size)

    def encode(self, format: Format = "png") -> Shot:
        """The encoded picture with its hash; later calls reuse it."""
        if format not in self._shots:
            if format == "png":
                self._shots[format] = self._shot(_as_png(self._pixels), "image/png")
            else:
                self._shots[format] = self._shot(cv2.imencode(".jpg", self._pixels, _JPEG)[1].tobytes(), "image/jpeg")
        return self._shots[format]

    def phash(self) -> str:
        """A perceptual hash: 64 hexadecimal digits that differ in few bits for similar pictures.

        It is the difference hash: whether each of 16×16 parts is darker than the part to its right.
        """
        grey = cv2.cvtColor(
            cv2.resize(_every_second(self._pixels), (17, 16), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY
        )
        return np.packbits(grey[:, :-1] < grey[:, 1:]).tobytes().hex()

    def masked(self, boxes: Iterable[Box]) -> Picture:
        """The picture with these page boxes covered by grey stripes; nothing of their content remains."""
        boxes = tuple(boxes)
        if not boxes:
            return self
        pixels = self._pixels.copy()
        for box in boxes:
            # Cover one more pixel on each side, because shrinking blends a pixel with its neighbours.
            x, y, right, bottom = self._whole(box, grow=1)
            if right <= x or bottom <= y:
                continue
            across = np.arange(x, right)[None, :] + np.arange(y, bottom)[:, None]
            pixels[y:bottom, x:right] = np.choose(across // _MASK_STRIPE % 2, _MASK_TONES)[..., None]
        masked = Picture(pixels, self._map)
        masked._larger = self._larger and self._larger.masked(boxes)
        return masked

    def is_plain(self, box: Box) -> bool:
        """Whether all pixels of the picture in this page box are exactly the same; true where it shows nothing."""
        x, y, right, bottom = self._whole(box)
        part = self._pixels[y:bottom, x:right]
        return part.size == 0 or bool((part == part[0, 0]).all())

    def has_ink(self, box: Box) -> bool:
        """Whether the picture shows anything in this page box: not all of its pixels look the same."""
        x, y, right, bottom = self._whole(box)
        if right <= x or bottom <= y:
            return False
        part = self._pixels[y:bottom, x:right].reshape(-1, 3)
        return bool(np.any(np.ptp(part, axis=0) > _UNSEEN))

    def crop(self, box: Box) -> Picture:
        """The part of the picture that shows this page box, with its own map.

        Raises:
            UsageError: the box is not in the picture.
        """
        x, y, right, bottom = self._whole(box)
        if right <= x or bottom <= y:
            raise UsageError(f"The picture does not show the box {_format_box(box)}, so it cannot be cropped")
        start = self._map.to_page(Point(x=x, y=y))
        map = self._map.model_copy(update={"offset_x": start.x, "offset_y": start.y})
        return Picture(self._pixels[y:bottom, x:right].copy(), map)

    def zoomed(self, box: Box, image_limits: ImageLimits, at_least: int = 0, most: float = _ZOOM) -> Picture:
        """The part of the picture that shows this page box, as large as the limits in `image_limits` allow.

        It is cut from the original screenshot, so it is sharper than this picture if that was shrunk. It has at most
        `most` pixels per CSS pixel, or more until its longer edge has `at_least` pixels.

        Raises:
            UsageError: the box is not in the picture.
        """
        part = (self._larger or self).crop(box)
        map, came = part.map, part.size
        wide, high = came.width * map.scale_x, came.height * map.scale_y
        by = max(most, at_least / max(wide, high))
        size = image_limits.fit(Size(width=max(1, round(wide * by)), height=max(1, round(high * by))))
        if size == came:
            return part
        start = Box(x=map.offset_x, y=map.offset_y, width=wide, height=high)
        return Picture(_resize(pixels_of(part), size), _page_map(start, size))

    def _whole(self, box: Box, grow: int = 0) -> tuple[int, int, int, int]:
        """Left, top, right and bottom, in whole picture pixels, of the part that covers the page box."""
        inside = self._map.box_to_picture(box)
        height, width = self._pixels.shape[:2]
        # Allow a millionth of slack, so that 12.0000001 does not reach into a thirteenth pixel.
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
    """The read-only pixels, blue first. For use within `vision`."""
    return picture._pixels


def view_pixels(picture: Picture, box: Box) -> Pixels:
    """A read-only view of the pixels that show a page box. For use within `vision`."""
    x, y, right, bottom = picture._whole(box)
    return picture._pixels[y:bottom, x:right]


def read_picture(given: Shot | bytes | Path | str) -> Picture:
    """The picture of a shot, in page coordinates, or of the bytes or the file of a picture, in its own pixels.

    Raises:
        UsageError: it is no picture, or a shot without its bytes.
    """
    if isinstance(given, Shot):
        return Picture.of(given)
    try:
        data = given if isinstance(given, bytes) else Path(given).read_bytes()
        require_decodable(data)
    except (OSError, UsageError) as error:
        name = "The picture" if isinstance(given, bytes) else str(given)
        raise UsageError(f"{name} cannot be read: {error}", "give a PNG, JPEG or WebP picture") from error
    with Image.open(io.BytesIO(data)) as opened:
        width, height = opened.size
    return Picture.decode(data, Box(x=0, y=0, width=width, height=height))


def require_decodable(data: bytes) -> None:
    """Checks that the header of an encoded picture names a format and a size that are decoded; its pixels are not.

    Raises:
        UsageError: it is not a PNG, JPEG or WebP file, or has more than `MOST_PIXELS` pixels or `MOST_SIDE` a side.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as picture:
                width, height = picture.size
    except Image.DecompressionBombError:
        raise UsageError(f"it has more than {MOST_PIXELS} pixels") from None
    except Exception as error:
        raise UsageError(f"its {len(data)} bytes are not a PNG, JPEG or WebP file") from error
    if width * height > MOST_PIXELS:
        raise UsageError(f"it has {width}×{height} pixels, and at most {MOST_PIXELS} are decoded")
    if max(width, height) > MOST_SIDE:
        raise UsageError(f"it has {width}×{height} pixels, and at most {MOST_SIDE} a side are decoded")


def _page_map(page: Box, size: Size) -> PageMap:
    return PageMap(scale_x=page.width / size.width, scale_y=page.height / size.height, offset_x=page.x, offset_y=page.y)


def _resize(pixels: Pixels, size: Size) -> Pixels:
    is_smaller = size.width < pixels.shape[1]
    how = cv2.INTER_AREA if is_smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (size.width, size.height), interpolation=how), np.uint8)


def _every_second(pixels: Pixels) -> Pixels:
    """Every second pixel of every second row, from the first."""
    height, width = pixels.shape[:2]
    if height % 2 or width % 2:
        return pixels[::2, ::2]
    # The same, without the two milliseconds that it takes to gather them.
    return np.asarray(cv2.resize(pixels, (width // 2, height // 2), interpolation=cv2.INTER_NEAREST), np.uint8)


def _decode_pixels(data: bytes, how: int) -> Pixels:
    pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), how) if data else None
    if pixels is None:
        raise UsageError(
            f"{len(data)} bytes cannot be read as a picture",
            "a complete, unencrypted PNG, JPEG or WebP file is expected",
        )
    return np.asarray(pixels, np.uint8)


def _as_png(pixels: Pixels) -> bytes:
    """A PNG file with all rows in one chunk."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter type, 0 for none
    rows[:, 1:] = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits per channel, RGB
    pieces = ((b"IHDR", head), (b"IDAT", zlib_ng.compress(rows.data, _PNG_LEVEL)), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_png_piece(*piece) for piece in pieces)


def _png_piece(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc32(name + content))


def _format_box(box: Box) -> str:
    return f"{box.x:g},{box.y:g} of {box.width:g}×{box.height:g}"
