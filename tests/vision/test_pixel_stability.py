"""Claims about when pixels count as still: what keeps changing in one place is learned, remembered and forgotten."""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.pixel_stability import Areas, PixelStability


def screenshot(*lit: int) -> bytes:
    """A white page with black squares in the given places of a row."""
    pixels = np.full((256, 640, 3), 255, np.uint8)
    for place in lit:
        pixels[64:128, 128 * place : 128 * place + 64] = 0
    encoded, png = cv2.imencode(".png", pixels)
    assert encoded
    return png.tobytes()


def learned() -> Areas:
    """The areas that are learned from a square that blinks in the first place."""
    pixels = PixelStability()
    for look in range(12):
        pixels.is_still(screenshot(*([0] if look % 2 else [])))
    assert pixels.restless is not None
    return pixels.restless


def test_what_keeps_changing_is_learned_and_then_counts_as_still() -> None:
    pixels = PixelStability()
    said = [pixels.is_still(screenshot(*([0] if look % 2 else []))) for look in range(12)]
    assert not any(said[:4])
    assert all(said[-4:])


def test_what_was_learned_counts_from_the_first_comparison_on() -> None:
    pixels = PixelStability()
    assert not pixels.is_still(screenshot(), learned())
    assert pixels.is_still(screenshot(0))
    assert not pixels.is_still(screenshot(0, 3))


def test_what_was_learned_is_forgotten_when_it_rests_for_some_looks() -> None:
    areas: Areas | None = learned()
    looks = 0
    while areas is not None:
        pixels = PixelStability()
        pixels.is_still(screenshot(), areas)
        assert pixels.is_still(screenshot())
        areas, looks = pixels.restless, looks + 1
    assert 1 < looks < 10


def test_what_was_learned_of_a_page_of_another_size_does_not_count() -> None:
    pixels = PixelStability()
    pixels.is_still(screenshot(), np.full((2, 2), 255, np.uint8))
    assert not pixels.is_still(screenshot(0))
