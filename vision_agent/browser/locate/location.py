"""Where the input of an action goes, as located right before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from playwright.async_api import Frame, Locator

from vision_agent.actions import Point
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.page.overlay_calls.surface import DrawnLook, StandingLook
from vision_agent.browser.page.overlay_calls.text import FoundText
from vision_agent.observation import Mark
from vision_agent.vision.picture import Pixels


class DrawnThing(NamedTuple):
    """A thing that moves in a canvas."""

    look: DrawnLook
    shown: Pixels
    """The same look, to be compared."""
    middle: Point
    """Where its middle is, in its frame, when input goes to the point of the location."""


@dataclass(frozen=True)
class Location:
    """Where input goes; for a mark, its live element and the point in it that a click reaches."""

    words: str
    """For sentences: `mark 7 (button "Pay")`, `the point (412, 233)`."""
    point: Point
    """Page coordinates."""
    rung: int
    """How it was found: 1 the live element, 2 or 3 relocated (see `relocate`), 4 by its pixels."""
    mark: Mark | None = None
    frame: Frame | None = None
    locator: Locator | None = None
    """For input without a pointer: focus, a value, files."""
    element: LiveElement | None = None
    """The element of the mark, or of the mark under the point."""
    under: Mark | None = None
    """For a point: the mark that it lies in, which the input must reach."""
    text: FoundText | None = None
    """For text: where it is in its frame."""
    is_moving: bool = False
    """It does not stop moving, so input goes to where it will be: see `act.moving_target`."""
    drawn: DrawnThing | None = None
    """The drawn thing that moves; its canvas is the element."""
    stands: StandingLook | None = None
    """What its canvas must still show around it as the press begins."""
