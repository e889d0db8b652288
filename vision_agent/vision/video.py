"""Writes pictures as a video that browsers play: WebM with VP8, or MP4 with VP9, which takes longer to encode."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2

from vision_agent.errors import UsageError
from vision_agent.vision.picture import Pixels

PER_SECOND = 2
"""Frames per second: each picture stands for seconds, and a frame like the one before takes almost no bytes."""
_CODECS = {".mp4": (".mp4", "vp09"), ".webm": (".mkv", "VP80")}
"""The container that OpenCV writes without complaint, and the code of the codec; WebM is Matroska with another name."""
_MATROSKA, _WEBM = b"matroska", b"webm\0\0\0\0"
"""The document type in the header of a file; zeros end a text there (RFC 8794, section 11.1)."""
_HEADER = 64
VIDEOS = tuple(_CODECS)
"""The endings of the names of videos."""


def encode_video(frames: Iterable[tuple[Pixels, float]], ending: str) -> bytes:
    """The video of pictures, each shown for so many seconds, with the ending of its file's name.

    All pictures have the size of the first, in blue, green and red; an odd last row or column is cut off.

    Raises:
        UsageError: this OpenCV cannot write it.
    """
    container, codec = _CODECS[ending]
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"video{container}"
        writer: cv2.VideoWriter | None = None
        for picture, seconds in frames:
            even = picture[: picture.shape[0] & ~1, : picture.shape[1] & ~1]
            if writer is None:
                size = even.shape[1], even.shape[0]
                writer = cv2.VideoWriter(str(file), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*codec), PER_SECOND, size)
                if not writer.isOpened():
                    raise UsageError(
                        f"The installed OpenCV cannot write {ending} videos",
                        "end the name in .webp, or install opencv-python-headless",
                    )
            for _ in range(max(1, round(seconds * PER_SECOND))):
                writer.write(even)
        if writer is None:
            return b""
        writer.release()
        made = file.read_bytes()
    if ending == ".webm":
        made = made[:_HEADER].replace(_MATROSKA, _WEBM) + made[_HEADER:]
    return made
