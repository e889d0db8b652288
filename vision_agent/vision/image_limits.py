"""The largest picture that each model reads without shrinking it. Only sizes: no pixels, no requests.

Providers shrink pictures silently, which makes every coordinate read from them wrong; so pictures are shrunk here
first, once, and before drawing.
"""

from __future__ import annotations

from math import ceil, sqrt

from pydantic import Field

from vision_agent.base_model import FrozenModel
from vision_agent.geometry import Size


class ImageLimits(FrozenModel):
    """The limits within which a model reads a picture without shrinking it."""

    longest_edge: int = Field(default=1568, gt=0)
    max_tokens: int = Field(default=1568, gt=0)
    shortest_edge: int | None = Field(default=None, gt=0)
    """The model shrinks a picture until its shorter edge has this length; None for no such limit."""
    patch: int = Field(default=28, gt=0)
    """The edge in pixels of the square that costs one token."""

    def common(self, other: ImageLimits) -> ImageLimits:
        """The limits that satisfy two models."""
        shortest = [each.shortest_edge for each in (self, other) if each.shortest_edge is not None]
        return ImageLimits(
            longest_edge=min(self.longest_edge, other.longest_edge),
            max_tokens=min(self.max_tokens, other.max_tokens),
            shortest_edge=min(shortest, default=None),
            patch=min(self.patch, other.patch),
        )

    def tokens(self, size: Size) -> int:
        """The token cost of a picture of this size: one for each patch, partial ones included."""
        return ceil(size.width / self.patch) * ceil(size.height / self.patch)

    def fits(self, size: Size) -> bool:
        """Whether a picture of this size is read without shrinking."""
        if self.shortest_edge is not None and min(size.width, size.height) > self.shortest_edge:
            return False
        return max(size.width, size.height) <= self.longest_edge and self.tokens(size) <= self.max_tokens

    def fit(self, size: Size) -> Size:
        """The largest size of the same shape that fits, never larger than `size`."""
        if self.fits(size):
            return size
        longest = max(size.width, size.height)
        # Partial patches count as whole ones, so the square root is only an upper bound; step down from there.
        bound = longest * sqrt(self.max_tokens * self.patch**2 / (size.width * size.height))
        if self.shortest_edge is not None:
            bound = min(bound, longest * (self.shortest_edge + 0.5) / min(size.width, size.height))
        edge = min(longest, self.longest_edge, ceil(bound))
        while edge > 1 and not self.fits(_scale(size, edge / longest)):
            edge -= 1
        return _scale(size, edge / longest)


# Every Claude model reads up to 1568 px and 1568 tokens; those outside `_ONLY_EVERY_TIER` read up to 2576 px and 4784
# tokens. A larger picture costs more at each step, so it is used only if the longest edge is configured.
_EVERY_TIER = ImageLimits()
_LARGE = ImageLimits(longest_edge=2576, max_tokens=4784)
_ONLY_EVERY_TIER = (
    "claude-haiku-4-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-6",
    "claude-opus-4-5",
    "claude-opus-4-6",
)
# OpenAI's models shrink a high-detail picture until its shorter edge is 768 px, according to the documentation of
# their tile rule; models that count patches take more, and lose nothing with less.
_TILED = ImageLimits(shortest_edge=768)
_READERS_OF_FULL_SIZE = ("human", "steps", "scripted", "replay")


def image_limits_for(model: str, longest_edge: int | None = None) -> ImageLimits:
    """The limits of this model; with `longest_edge`, pictures up to that edge, but within the model's known limits."""
    if longest_edge is None:
        return _TILED if model.startswith("openai:") else _EVERY_TIER
    most = _most(model)
    return most.model_copy(update={"longest_edge": min(longest_edge, most.longest_edge)})


def _most(model: str) -> ImageLimits:
    provider, _, name = model.partition(":")
    if provider in _READERS_OF_FULL_SIZE:
        return ImageLimits(longest_edge=16_384, max_tokens=10**6)
    if provider == "openai":
        return _TILED
    if provider == "anthropic" and name.startswith("claude-") and not name.startswith(_ONLY_EVERY_TIER):
        return _LARGE
    return _EVERY_TIER


def _scale(size: Size, by: float) -> Size:
    return Size(width=max(1, round(size.width * by)), height=max(1, round(size.height * by)))
