"""Prepares a run's pictures for a report that opens from disk, within a size limit.

Pictures are embedded byte for byte if they fit; otherwise as lossy WebP, and the report says so. The originals stay in
the run folder. A report that stays in the run folder can link to them instead of embedding them.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from PIL import Image

from vision_agent.errors import RecordError, UsageError
from vision_agent.observation import Observation, Shot
from vision_agent.record.read import load_shot
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.vision.thumbnail import thumbnail

_MOST_BYTES = 8_000_000
"""The limit for all pictures of a run embedded unchanged; base64 adds a third."""
_MOST_COMPRESSED = 36_000_000
"""The limit for all compressed pictures: a run of 200 steps has 400 pictures."""
_MOST_OF_ONE = 60_000
"""The limit for one compressed picture: a 1280×800 page needs at most this much for small text to stay readable."""
_TRIED = ((75, 1.0), (50, 1.0), (40, 0.75), (30, 0.5))
"""WebP quality and scale, tried in order until a picture is small enough. With the first, mark digits and small text
look unchanged and a 1280×800 page takes about 30 kB, half of a JPEG; only pages full of photographs need the others."""
_EFFORT = 2
"""The effort of the encoder, from 0 to 6: about 20 ms for a picture. The 36 of a shop order take 1.05 MB; with 0,
1.37 MB; as JPEG, 2.46 MB."""


@dataclass(frozen=True)
class EmbeddedImage:
    """A picture to show in a report: its URI, or why it cannot be shown."""

    shot: Shot
    uri: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Album:
    """Loads the pictures of one run for a report."""

    folder: Path
    most: int | None = None
    """The most bytes for one picture; None to embed pictures as recorded."""
    is_beside: bool = False
    """Whether the report stays in the run folder and links to the pictures there."""
    ready: Mapping[str, EmbeddedImage] = field(default_factory=dict)
    """Compressed pictures by the names of their files: they take longest, and are made side by side."""

    @property
    def is_compressed(self) -> bool:
        """Whether pictures are compressed to keep the page below a size."""
        return self.most is not None

    @classmethod
    def of(cls, folder: Path, seen: Sequence[Observation], *, is_beside: bool = False) -> Album:
        """An album that keeps the pictures of these observations within the limits together."""
        if is_beside:
            return cls(folder, is_beside=True)
        shots = {shot_name(shot): shot for each in seen for shot in (each.clean, each.marked)}
        files = [path for name in shots if (path := folder / SHOTS / name).is_file()]
        if sum(path.stat().st_size for path in files) <= _MOST_BYTES:
            return cls(folder)
        album = cls(folder, min(_MOST_OF_ONE, _MOST_COMPRESSED // len(files)))
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow computes without the GIL
            return replace(album, ready=dict(zip(shots, pool.map(album.picture, shots.values()), strict=True)))

    def picture(self, shot: Shot) -> EmbeddedImage:
        """The picture, or the problem if its file is missing or differs from what was recorded."""
        if (ready := self.ready.get(shot_name(shot))) is not None:
            return ready
        try:
            data, media_type = load_shot(self.folder, shot).data or b"", shot.media_type
        except RecordError as error:
            return EmbeddedImage(shot, problem=error.sentence.replace(str(self.folder), "").replace(" /", " "))
        if self.is_beside:
            return EmbeddedImage(shot, uri=f"{SHOTS}/{shot_name(shot)}")
        if self.most is not None and len(data) > self.most:
            try:
                data, media_type = _as_webp(data, self.most), "image/webp"
            except RecordError as error:
                return EmbeddedImage(shot, problem=error.sentence)
        return EmbeddedImage(shot, uri=f"data:{media_type};base64,{base64.b64encode(data).decode()}")

    def small_picture(self, shot: Shot, width: int) -> str:
        """The URI of a small JPEG of the picture, or of its file if the report is beside it; empty if the file is
        missing, was changed, or is no picture.
        """
        try:
            data = thumbnail(load_shot(self.folder, shot).data or b"", width)
        except (RecordError, UsageError):
            return ""
        if self.is_beside:
            return f"{SHOTS}/{shot_name(shot)}"
        return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"


def _as_webp(data: bytes, most: int) -> bytes:
    """The picture as a WebP of at most `most` bytes; if no attempt is small enough, the last one.

    Raises:
        RecordError: it cannot be decoded.
    """
    try:
        with Image.open(io.BytesIO(data)) as image:
            whole = image.convert("RGB")
    except Exception as error:
        raise RecordError("The picture cannot be decoded") from error
    packed = io.BytesIO()
    for quality, scale in _TRIED:
        packed = io.BytesIO()
        smaller = whole if scale == 1 else whole.resize((round(whole.width * scale), round(whole.height * scale)))
        smaller.save(packed, "WEBP", quality=quality, method=_EFFORT)
        if packed.tell() <= most:
            break
    return packed.getvalue()
