"""What can be kept from a model to measure what it is worth: parts of the request, and of how marks are drawn.

Nothing is drawn less than it is said: `colours` draws every mark in one, `boxes` draws the numbers alone.
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

from pydantic import JsonValue

from vision_agent.settings import Ablated, Settings
from vision_agent.types import MarkStyle

LeftOut = Literal[Ablated, "colours", "boxes"]
LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)
_STYLES: dict[MarkStyle, LeftOut] = {"plain": "colours", "numbers": "boxes"}
OF_PICTURES: frozenset[LeftOut] = frozenset({"picture", "marks", "colours", "boxes"})
"""What changes the pictures themselves."""
TURNED = ("model.ablate", "observe.style")
"""The settings in which it stands."""


def without(settings: Settings, left_out: LeftOut) -> Settings:
    """The settings with this left out too; of `colours` and `boxes` one, the later."""
    for style, part in _STYLES.items():
        if part == left_out:
            return settings.model_copy(update={"observe": settings.observe.model_copy(update={"style": style})})
    more = (*settings.model.ablate, cast(Ablated, left_out))
    return settings.model_copy(update={"model": settings.model.model_copy(update={"ablate": more})})


def left_out_of(settings: dict[str, JsonValue]) -> tuple[LeftOut, ...]:
    """What recorded settings leave out."""
    model: Any = settings.get("model", {})
    observe: Any = settings.get("observe", {})
    drawn = _STYLES.get(observe.get("style"))
    return (*model.get("ablate", ()), *([drawn] if drawn else []))
