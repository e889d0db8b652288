"""What an action did, and the state of the page before it. From the two, `effect` infers the outcome."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from playwright.async_api import Page

from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.locate.drawn_target import DrawnTarget
from vision_agent.browser.locate.location import Location
from vision_agent.browser.observe.live_observation import LiveObservation


@dataclass(frozen=True)
class PageBefore:
    """How things stood when the action started."""

    seen: LiveObservation
    page: Page
    tabs: int
    remembers_values: bool = False
    """The documents remember what their fields held. See `held_values`."""
    url: str = field(init=False)
    focused: str | None = field(init=False)
    """The key of the mark that had the focus."""
    began: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.page.url)
        held = (mark.key for mark in self.seen.observation.marks if mark.state.focused)
        object.__setattr__(self, "focused", next(held, None))


@dataclass(frozen=True)
class Attempt:
    """What an action did, before its effect is known."""

    sentence: str
    """Says what was done, without a full stop."""
    at: Location | None
    """Where its input went; None for an action without a target."""
    expected: str | None = None
    """The value that the field should hold now."""
    replaces: bool = False
    """That value is all that it should hold, so the field must not hold another one."""
    may_go_on: bool = False
    """The page may have handed the focus on to another field, which holds the rest of the value then."""
    needs_no_effect: bool = False
    """It is done even if nothing on the page changes: a tab was chosen, text was selected or read."""
    is_already_so: bool = False
    """Nothing was sent, because the control was already in the wanted state."""
    read: str = ""
    """The page text that was asked for."""
    wants_ticked: bool | None = None
    """Whether the control should be ticked when the page has settled; None for other actions."""
    was_ticked: bool = False
    """Whether it was so right after the click."""
    missed: Gesture | None = None
    """The gesture of a click, if the target got its press but no click; it is partial if it shows no effect."""
    swallowed: Gesture | None = None
    """The gesture of a click, if something came over the target before it was clicked; it is partial unless something
    shows that the press alone was acted on."""
    redrawn: DrawnTarget | None = None
    """What was clicked, if it is drawn and its canvas showed something else there as the button was released."""
    drawn_text: str = ""
    """The text that was typed into something drawn, which is read back from the pixels."""
    moves_view: bool = False
    """It may have moved what a surface shows, so the outcome says how far that went."""
    hover_counts: bool = False
    """What appears because the pointer is there counts as an effect."""
