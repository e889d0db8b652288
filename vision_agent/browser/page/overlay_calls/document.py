"""A document as a whole: its token and title, whether it is stable, and what is shown or watched in it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import Frame

from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import Json, Stability, stability_of
from vision_agent.geometry import Box


async def token(frame: Frame, deadline_s: float) -> str:
    """The token that identifies a frame's document."""
    return str((await ask(frame, "token", deadline_s))["token"])


async def title(frame: Frame, deadline_s: float) -> str:
    """The document's title, on one line."""
    return str((await ask(frame, "title", deadline_s))["title"])


@dataclass(frozen=True, slots=True)
class PointerLock:
    """Whether a document has taken the pointer for itself."""

    is_held: bool
    was_taken_back: bool
    """Since this was asked last, because the browser cannot let it have the pointer."""


async def pointer_lock(frame: Frame, deadline_s: float) -> PointerLock:
    """Whether the frame's document has taken the pointer for itself."""
    answer = await ask(frame, "pointer", deadline_s)
    return PointerLock(answer["held"], answer["taken"] > 0)


async def stability(frame: Frame, deadline_s: float) -> Stability:
    """How long the document has not changed, and what is still going on."""
    return stability_of(await ask(frame, "quiet", deadline_s))


async def show_layer(frame: Frame, deadline_s: float, layer: Json, box: Box) -> None:
    """Shows the marks on the live page, over this part of it, to a person who watches."""
    await ask(frame, "show", deadline_s, layer=layer, box=box.model_dump())


async def hide_layer(frame: Frame, deadline_s: float) -> None:
    """Removes the marks from the live page."""
    await ask(frame, "hide", deadline_s)


async def start_input_watch(frame: Frame, deadline_s: float, binding: str) -> None:
    """Starts reporting what a person does in the document, through a binding."""
    await ask(frame, "watch", deadline_s, name=binding)


async def stop_input_watch(frame: Frame, deadline_s: float, binding: str) -> None:
    """Stops reporting."""
    await ask(frame, "leave", deadline_s, name=binding)
