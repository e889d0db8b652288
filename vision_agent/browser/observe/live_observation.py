"""An observation with the live handles needed to act on it. Never leaves the browser package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from playwright.async_api import Page

from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls.answer_parts import Expectation
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.types import Risk
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.charts import Chart


@dataclass(frozen=True)
class LiveObservation:
    """An observation with the live page, the scan and the clean picture it was made from."""

    observation: Observation
    page: Page
    """The observed tab; no other tab gets input."""
    pages: tuple[Page, ...]
    """The tabs in the order in which the observation numbers them."""
    scan: Scan
    clean: Picture
    masked: tuple[Box, ...] = ()
    """Page boxes that are painted over in the picture."""
    risks: frozenset[Risk] = frozenset()
    """Risks of the current action: with any, the words beside its target must be unchanged."""
    earlier: Mapping[str, FoundMark] = field(default_factory=dict)
    """By key: what was found of each mark that is out of view now, when it was last seen."""
    charts: Mapping[int, Chart] = field(default_factory=dict)
    """What those surfaces say that are charts, by the numbers of their marks."""

    is_hung: bool = False
    """The page does not answer: the observation has no marks, and the page can only be left."""

    @property
    def counts_amounts(self) -> bool:
        """Whether amounts beside a target must be unchanged too."""
        return "pay" in self.risks

    def found(self, mark: Mark) -> FoundMark | None:
        """The scan's result for a mark; None for a drawn mark."""
        return self.scan.found(mark.key)

    def expectation(self, mark: Mark | None, *, pointed: bool = False, carried: str = "") -> Expectation:
        """The words that should be around a mark when it is rechecked.

        `pointed`: the pointer is on it. `carried`: the name of what the pointer drags.
        """
        found = self.found(mark) if mark is not None else None
        in_dialog = mark is not None and mark.in_dialog
        owner = self.scan.owner(mark.key) if mark is not None else None
        return Expectation(
            context=found.context if found else None,
            strict=bool(self.risks) or in_dialog,
            amounts=self.counts_amounts or in_dialog,
            pointed=pointed,
            carried=carried,
            frames=tuple(each.element.context for each in reversed(owner.chain())) if owner else (),
        )
