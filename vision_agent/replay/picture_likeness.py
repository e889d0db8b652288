"""Measures how similar the page of a replay step looks to the recorded one. It compares pictures, not their causes."""

from __future__ import annotations

from pathlib import Path

from vision_agent.base_model import FrozenModel
from vision_agent.errors import RecordError
from vision_agent.observation import Observation
from vision_agent.record.read import load_shot
from vision_agent.vision.compare import changed_share

_BITS = 256
"""Bits in a perceptual hash."""


class Likeness(FrozenModel):
    """How similar two pictures of a page are."""

    same_pixels: float | None
    """Share of identical pixels, 0 to 1; None if the pictures differ in size or one is missing."""
    look: float | None
    """Share of equal bits in the perceptual hashes: 1 looks the same, about 0.5 is unrelated; None without a hash."""

    @property
    def words(self) -> str:
        """A short description for people."""
        if self.same_pixels is not None:
            # Rounded down, so that 100% means identical to the pixel.
            return f"picture {int(self.same_pixels * 1000) / 10:g}% the same"
        return "pictures differ in size" if self.look is not None else "no picture to compare"


def likeness(folder: Path, was: Observation, now: Observation) -> Likeness:
    """The similarity of a recorded page (pictures in `folder`) and the current one, both without their marks."""
    look = 1 - (int(was.phash, 16) ^ int(now.phash, 16)).bit_count() / _BITS if was.phash and now.phash else None
    if was.clean.size != now.clean.size or now.clean.data is None:
        return Likeness(same_pixels=None, look=look)
    try:
        share = changed_share(load_shot(folder, was.clean), now.clean)
    except RecordError:
        return Likeness(same_pixels=None, look=look)
    return Likeness(same_pixels=1 - share, look=look)
