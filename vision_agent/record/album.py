"""The pictures of a run as a page that opens from disk can show them: in the page itself, and not too large.

They are embedded byte for byte while that stays within bounds; of a long run they are embedded as JPEG, and the page
says so. The exact ones stay in the run folder. A page that is one of many about the same pictures shows those of the
run folder it lies in.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from vision_agent.errors import RecordError
from vision_agent.record.read import load_shot
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.types import Observation, Shot

_MOST_BYTES = 8_000_000
"""Of all pictures of a run; in base64 they take a third more."""
_MOST_COMPRESSED = 36_000_000
"""The same where they are compressed: a run of two hundred steps has four hundred pictures."""
_MOST_OF_ONE = 60_000
"""Of one picture then: what a page of 1280 by 800 takes as a JPEG in which small words can be read."""
_TRIED = ((72, 1.0), (50, 1.0), (40, 0.75), (30, 0.5))
"""Quality and scale, until a picture is small enough. With the first, digits of marks and small words stay as they were
to the eye, and a page of 1280 by 800 takes about 60 kB; only what is full of photographs needs the others."""


@dataclass(frozen=True)
class Picture:
    """A picture as it can be shown: embedded, or why it cannot be."""

    shot: Shot
    uri: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Album:
    """Reads the pictures of one run."""

    folder: Path
    most: int | None = None
    """Bytes of one picture; None where they are as they were recorded."""
    is_beside: bool = False
    """Whether the page lies in the run folder, and shows the pictures that are there."""

    @property
    def is_compressed(self) -> bool:
        return self.most is not None

    @classmethod
    def of(cls, folder: Path, seen: Sequence[Observation], *, is_beside: bool = False) -> Album:
        """One in which these observations' pictures, taken together, are not too large."""
        if is_beside:
            return cls(folder, is_beside=True)
        names = {shot_name(shot) for each in seen for shot in (each.clean, each.marked)}
        files = [path for name in names if (path := folder / SHOTS / name).is_file()]
        is_small = sum(path.stat().st_size for path in files) <= _MOST_BYTES
        return cls(folder, None if is_small else min(_MOST_OF_ONE, _MOST_COMPRESSED // len(files)))

    def picture(self, shot: Shot) -> Picture:
        """The picture; one that is gone or is not what was recorded is said, not hidden."""
        try:
            data, media_type = load_shot(self.folder, shot).data or b"", shot.media_type
        except RecordError as error:
            return Picture(shot, problem=error.sentence.replace(str(self.folder), "").replace(" /", " "))
        if self.is_beside:
            return Picture(shot, uri=f"{SHOTS}/{shot_name(shot)}")
        if self.most is not None and len(data) > self.most:
            data, media_type = _as_jpeg(data, self.most), "image/jpeg"
        return Picture(shot, uri=f"data:{media_type};base64,{base64.b64encode(data).decode()}")


def _as_jpeg(data: bytes, most: int) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        whole = image.convert("RGB")
    packed = io.BytesIO()
    for quality, scale in _TRIED:
        packed = io.BytesIO()
        smaller = whole if scale == 1 else whole.resize((round(whole.width * scale), round(whole.height * scale)))
        smaller.save(packed, "JPEG", quality=quality)
        if packed.tell() <= most:
            break
    return packed.getvalue()
