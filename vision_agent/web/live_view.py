"""What the live view of a page carries: pictures to a person who watches, and that person's input back to the page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field

from vision_agent.base_model import FrozenModel

Share = Annotated[float, Field(ge=0, le=1)]
"""A place in the picture: 0 is its left or upper edge, 1 the other one."""
Button = Literal["left", "middle", "right"]
Held = Literal["Alt", "Control", "Meta", "Shift"]

LONGEST_TEXT = 20_000
"""Characters of one text that is pasted or composed."""
_LONGEST_KEY = 32
_FARTHEST = 10_000.0


@dataclass(frozen=True)
class LivePicture:
    """One picture of the active tab; without `data`, the last one stays and `note` says why."""

    data: bytes | None
    """JPEG. Hidden values are masked as in the pictures of the record."""
    width: float
    """The width of the page's view, in CSS pixels; the picture may have another size."""
    height: float
    note: str = ""
    """Why the picture stands still, for the person who watches."""


class PointerInput(FrozenModel):
    """The pointer moves, or a button goes down or up."""

    kind: Literal["down", "up", "move"]
    x: Share
    y: Share
    button: Button = "left"
    count: int = Field(default=1, ge=1, le=3)
    """How many presses in quick succession this is: 2 for a double click."""
    modifiers: tuple[Held, ...] = ()


class WheelInput(FrozenModel):
    """The wheel turns."""

    kind: Literal["wheel"]
    x: Share
    y: Share
    dx: float = Field(default=0, ge=-_FARTHEST, le=_FARTHEST)
    """CSS pixels to the right."""
    dy: float = Field(default=0, ge=-_FARTHEST, le=_FARTHEST)
    modifiers: tuple[Held, ...] = ()


class KeyInput(FrozenModel):
    """A key goes down or up."""

    kind: Literal["key_down", "key_up"]
    key: str = Field(min_length=1, max_length=_LONGEST_KEY)
    """As browsers call it: `a`, `A`, `Enter`, `ArrowLeft`."""


class TextInput(FrozenModel):
    """A text that is pasted, or that an input method composed."""

    kind: Literal["text"]
    text: str = Field(max_length=LONGEST_TEXT)


LiveInput = Annotated[PointerInput | WheelInput | KeyInput | TextInput, Field(discriminator="kind")]


class LiveView(Protocol):
    """The live view of a browser. Real: `browser.takeover.live_stream.PageStream`."""

    def frames(self) -> AsyncGenerator[LivePicture, None]:
        """The active tab, picture by picture, as it changes, until closed. Only the newest is kept for a slow reader.

        Raises:
            BrowserUnavailable: the browser is gone, or cannot be streamed.
        """
        ...

    async def send(self, inputs: Sequence[LiveInput]) -> None:
        """Sends trusted input to the active tab, in order.

        Raises:
            UsageError: the page did not take it; the message says why.
        """
        ...

    async def release(self) -> None:
        """Releases every button and key that is down."""
        ...
