"""Names what an evaluation can leave out to measure its worth: parts of the model's request, or of how marks look.

`colours` draws every mark in one colour; `boxes` draws only the numbers.
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

from pydantic import JsonValue

from vision_agent.observation import MarkStyle
from vision_agent.settings import Ablated, Settings

LeftOut = Literal[Ablated, "colours", "boxes"]
LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)
_STYLES: dict[MarkStyle, LeftOut] = {"plain": "colours", "numbers": "boxes"}
OF_PICTURES: frozenset[LeftOut] = frozenset({"picture", "marks", "colours", "boxes"})
"""Those that change the pictures themselves."""
TURNED = ("model.ablate", "observe.style")
"""The settings that hold what is left out."""


def leave_out(settings: Settings, left_out: LeftOut) -> Settings:
    """The settings with this part left out too; of `colours` and `boxes` only the last one set applies."""
    for style, part in _STYLES.items():
        if part == left_out:
            return settings.model_copy(update={"observe": settings.observe.model_copy(update={"style": style})})
    more = (*settings.model.ablate, cast(Ablated, left_out))
    return settings.model_copy(update={"model": settings.model.model_copy(update={"ablate": more})})


def left_out_parts(settings: dict[str, JsonValue]) -> tuple[LeftOut, ...]:
    """The parts that recorded settings leave out."""
    model: Any = settings.get("model", {})
    observe: Any = settings.get("observe", {})
    drawn = _STYLES.get(observe.get("style"))
    return (*model.get("ablate", ()), *([drawn] if drawn else []))
