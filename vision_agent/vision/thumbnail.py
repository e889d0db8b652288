"""Makes small pictures for lists, from pictures that somebody else may have recorded."""

from __future__ import annotations

import io

from PIL import Image

from vision_agent.errors import UsageError
from vision_agent.vision.picture import require_decodable

_TALLEST = 1.25
"""Height of a small picture, as a multiple of its width; what is below is left out."""
_QUALITY = 82


def thumbnail(data: bytes, width: int) -> bytes:
    """The upper part of an encoded picture as a JPEG of at most this width.

    Raises:
        UsageError: it cannot be decoded.
    """
    require_decodable(data)
    try:
        with Image.open(io.BytesIO(data)) as opened:
            whole = opened.convert("RGB")
    except Exception as error:
        raise UsageError("The picture cannot be decoded") from error
    part = whole.crop((0, 0, whole.width, min(whole.height, max(1, round(whole.width * _TALLEST)))))
    part.thumbnail((width, round(width * _TALLEST)))
    packed = io.BytesIO()
    part.save(packed, "JPEG", quality=_QUALITY)
    return packed.getvalue()
