"""Claims about how large a picture a model takes."""

from __future__ import annotations

import random

import pytest

from vision_agent.geometry import Size
from vision_agent.vision.image_limits import ImageLimits, image_limits_for


def size(width: int, height: int) -> Size:
    return Size(width=width, height=height)


def test_a_usual_viewport_costs_1334_tokens_and_is_not_shrunk() -> None:
    image_limits = image_limits_for("anthropic:claude-sonnet-5-5")
    assert image_limits.tokens(size(1280, 800)) == 1334
    assert image_limits.fit(size(1280, 800)) == size(1280, 800)


@pytest.mark.parametrize("came", [size(1, 1), size(320, 200), size(1024, 768), size(1280, 800)])
def test_what_fits_is_never_enlarged(came: Size) -> None:
    assert ImageLimits().fit(came) == came


def test_what_does_not_fit_becomes_as_large_as_the_limits_allow_in_the_same_shape() -> None:
    chance = random.Random(7)
    for image_limits in [ImageLimits(), ImageLimits(shortest_edge=768)] * 150:
        came = size(chance.randint(200, 5000), chance.randint(200, 5000))
        fitted = image_limits.fit(came)
        assert image_limits.fits(fitted)
        assert abs(fitted.width * came.height - fitted.height * came.width) <= max(came.width, came.height)
        if fitted != came:
            by = (max(fitted.width, fitted.height) + 1) / max(came.width, came.height)
            assert not image_limits.fits(size(round(came.width * by), round(came.height * by)))


def test_a_strip_is_held_by_its_longest_edge_and_still_has_a_pixel_across() -> None:
    assert ImageLimits().fit(size(100_000, 10)) == size(1568, 1)


def test_an_unknown_model_gets_what_every_model_takes() -> None:
    assert image_limits_for("someone:new-model") == ImageLimits()


def test_a_longest_edge_asked_for_is_kept_below_what_the_model_takes() -> None:
    assert image_limits_for("anthropic:claude-sonnet-5-5", 800).fit(size(1280, 800)) == size(800, 500)
    assert image_limits_for("anthropic:claude-sonnet-5-5", 2560).fit(size(2560, 1440)) == size(2560, 1440)
    assert image_limits_for("anthropic:claude-haiku-4-5", 2560).longest_edge == 1568
    assert image_limits_for("steps", 2560).fit(size(2560, 1600)) == size(2560, 1600)


def test_openai_gets_no_picture_that_it_would_shrink() -> None:
    assert image_limits_for("openai:gpt-5.4").fit(size(1280, 800)) == size(1229, 768)
    assert image_limits_for("openai:gpt-5.4", 2000).fit(size(800, 1400)) == size(768, 1344)
    assert image_limits_for("openai:gpt-5.4").fit(size(1280, 700)) == size(1280, 700)
    assert image_limits_for("openai-compatible:qwen3-vl").fit(size(1280, 800)) == size(1280, 800)


def test_a_picture_for_two_models_is_one_that_both_read_as_it_is() -> None:
    both = image_limits_for("anthropic:claude-sonnet-5-5", 2560).common(image_limits_for("openai:gpt-5.4"))
    assert both.fit(size(2560, 1600)) == image_limits_for("openai:gpt-5.4").fit(size(2560, 1600))
    assert ImageLimits().common(ImageLimits()) == ImageLimits()
