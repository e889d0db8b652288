"""The text of a page beside its marks: the context lines of the listing, and the texts that lie over drawings.

Text that the picture does not show, such as white on white, is in neither, and hidden values are in none.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.browser.observe.mark_memory import ReadScan
from vision_agent.browser.observe.shown_secrets import Find
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import Scan
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.text_layer import LaidText

_LINE_PX = 16
"""Assumed height of a line of text, in CSS pixels."""


def context_lines(
    read: ReadScan, shown: Box, clean: Picture, find: Find, denied: Sequence[LaidText]
) -> list[tuple[str, Box]]:
    """The text that is no mark's name, without what is not to be seen in the picture, such as white on white.

    `denied`: texts over drawings that show something else.
    """
    return [
        (
            read.shown_parts.without_parts(_visible_text(line, clean), line.letters, find),
            Box(x=line.at.x, y=line.at.y, width=1, height=_LINE_PX),
        )
        for line in read.scan.context
        if shown.contains(line.at)
        and any(clean.has_ink(box) for box in line.letters)
        and not any(each.is_same(other) for each in _laid_texts(line) for other in denied)
    ]


def text_layers(scan: Scan, find: Find) -> dict[str, list[LaidText]]:
    """The texts that pages lay over drawings, by the keys of these, without those with a value to hide."""
    layers: dict[str, list[LaidText]] = {}
    for line in scan.context:
        if line.over and not find(line.text):
            layers.setdefault(line.over, []).extend(_laid_texts(line))
    return layers


def _visible_text(line: overlay_calls.scan.ContextLine, clean: Picture) -> str:
    """The text of a line without parts that the picture does not show."""
    return line.text if all(clean.has_ink(box) for box in line.doubtful) else line.certain


def _laid_texts(line: overlay_calls.scan.ContextLine) -> tuple[LaidText, ...]:
    """A line over a drawing, if it is one line there."""
    return (LaidText(line.text, line.letters[0]),) if line.over and len(line.letters) == 1 else ()
