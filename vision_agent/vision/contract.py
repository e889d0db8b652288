"""How large a picture a model takes without shrinking it. Owns sizes only: no pixels, no request.

A provider that shrinks a picture does so silently, and every coordinate read from it is then off; so we shrink first,
once, and before drawing.
"""

from __future__ import annotations

from math import ceil, sqrt

from pydantic import BaseModel, ConfigDict, Field

from vision_agent.types import Size


class Contract(BaseModel):
    """The largest picture a model reads as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    longest_edge: int = Field(default=1568, gt=0)
    max_tokens: int = Field(default=1568, gt=0)
    shortest_edge: int | None = Field(default=None, gt=0)
    """Where the model shrinks what is wider than this both ways."""
    patch: int = Field(default=28, gt=0)
    """Edge of the square that costs one token."""

    def common(self, other: Contract) -> Contract:
        """What two models both read as it is."""
        shortest = [each.shortest_edge for each in (self, other) if each.shortest_edge is not None]
        return Contract(
            longest_edge=min(self.longest_edge, other.longest_edge),
            max_tokens=min(self.max_tokens, other.max_tokens),
            shortest_edge=min(shortest, default=None),
            patch=min(self.patch, other.patch),
        )

    def tokens(self, size: Size) -> int:
        """What a picture of this size costs: one token for each patch begun."""
        return ceil(size.width / self.patch) * ceil(size.height / self.patch)

    def fits(self, size: Size) -> bool:
        """Whether a picture of this size is read as it is."""
        if self.shortest_edge is not None and min(size.width, size.height) > self.shortest_edge:
            return False
        return max(size.width, size.height) <= self.longest_edge and self.tokens(size) <= self.max_tokens

    def fit(self, size: Size) -> Size:
        """The largest size of the same shape that fits; never larger than what came."""
        if self.fits(size):
            return size
        longest = max(size.width, size.height)
        # Patches are counted in whole ones, so the square root is only a bound from above; the rest is stepping down.
        bound = longest * sqrt(self.max_tokens * self.patch**2 / (size.width * size.height))
        if self.shortest_edge is not None:
            bound = min(bound, longest * (self.shortest_edge + 0.5) / min(size.width, size.height))
        edge = min(longest, self.longest_edge, ceil(bound))
        while edge > 1 and not self.fits(_scaled(size, edge / longest)):
            edge -= 1
        return _scaled(size, edge / longest)


# Claude reads up to 1568 px and 1568 tokens on every tier, and 2576 px and 4784 tokens on the models that follow.
# A larger picture costs more at each step, so it is only sent to who asks for it by its longest edge.
_EVERY_TIER = Contract()
_LARGE = Contract(longest_edge=2576, max_tokens=4784)
_ONLY_EVERY_TIER = (
    "claude-haiku-4-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-6",
    "claude-opus-4-5",
    "claude-opus-4-6",
)
# OpenAI's own models shrink a picture of high detail until its shorter edge is 768 px, so the documentation of their
# tile rule; those that count patches take more, and lose nothing by less.
_TILED = Contract(shortest_edge=768)
_READERS_OF_FULL_SIZE = ("human", "steps", "scripted", "replay")


def contract_for(model: str, longest_edge: int | None = None) -> Contract:
    """What this model takes; with `longest_edge`, up to that and never beyond what it is known to take."""
    if longest_edge is None:
        return _TILED if model.startswith("openai:") else _EVERY_TIER
    most = _most(model)
    return most.model_copy(update={"longest_edge": min(longest_edge, most.longest_edge)})


def _most(model: str) -> Contract:
    provider, _, name = model.partition(":")
    if provider in _READERS_OF_FULL_SIZE:
        return Contract(longest_edge=16_384, max_tokens=10**6)
    if provider == "openai":
        return _TILED
    if provider == "anthropic" and name.startswith("claude-") and not name.startswith(_ONLY_EVERY_TIER):
        return _LARGE
    return _EVERY_TIER


def _scaled(size: Size, by: float) -> Size:
    return Size(width=max(1, round(size.width * by)), height=max(1, round(size.height * by)))
