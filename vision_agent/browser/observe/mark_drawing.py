"""Draws the marks of a look on its picture; what is the same as in the last look is not made again."""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.browser.observe import look_warnings
from vision_agent.browser.observe.last_result import LastResult
from vision_agent.observation import Mark
from vision_agent.vision.labels import annotate
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import Style


class MarkDrawing:
    """The last marks that were drawn, with what was made of them."""

    def __init__(self) -> None:
        self._layer: LastResult[annotate.Layer] = LastResult()
        self._painted: LastResult[annotate.Painted] = LastResult()
        self._legibility: LastResult[list[str]] = LastResult()

    def draw(self, marks: Sequence[Mark], clean: Picture, style: Style) -> tuple[annotate.Layer, Picture]:
        """What is drawn of the marks, and the picture with it."""
        layer = self._layer_of(marks, clean, style)
        return layer, self._painted.given(layer, lambda: annotate.paint(layer)).on(clean)

    def warnings(self, marks: Sequence[Mark], clean: Picture) -> list[str]:
        """Warnings about numbers that are hard to read in the picture."""
        placed = [(mark.place, mark.label, mark.number) for mark in marks]
        return self._legibility.given((clean.extent, placed), lambda: look_warnings.legibility_warnings(marks, clean))

    def _layer_of(self, marks: Sequence[Mark], clean: Picture, style: Style) -> annotate.Layer:
        if any(mark.grid for mark in marks):  # whose numbers depend on the pixels
            return annotate.layer(marks, clean, style)
        drawn = [(mark.box, mark.body, mark.label, mark.letter, mark.number, mark.source) for mark in marks]
        return self._layer.given((clean.extent, style, drawn), lambda: annotate.layer(marks, clean, style))
