"""Warnings of a look: the page had not settled, numbers are hard to read, or marks are outside the picture."""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.labels import legibility
from vision_agent.vision.picture import Picture

_MOST_SAID = 8


def unrest_warnings(at_rest: bool, moved: Sequence[str]) -> list[str]:
    """Warnings that the page had not settled, and that some marks moved while the picture was taken."""
    warnings = [] if at_rest else ["the page was not at rest"]
    if moved:
        which = ", ".join(moved[:_MOST_SAID])
        more = f" and {len(moved) - _MOST_SAID} more" if len(moved) > _MOST_SAID else ""
        warnings.append(f"{which}{more} moved while the picture was taken; look again before pointing at them")
    return warnings


def legibility_warnings(marks: Sequence[Mark], picture: Picture) -> list[str]:
    """Warnings about numbers that are hard to read in the picture, and regions to zoom to."""
    warnings = []
    wrong = legibility.faults(marks, picture)
    if wrong:
        which, those = ", ".join(map(str, wrong[:_MOST_SAID])), "them" if len(wrong) > 1 else "it"
        more = " and more" if len(wrong) > _MOST_SAID else ""
        warnings.append(f"the picture is too crowded at {which}{more}; zoom to {those}")
    if crowded := legibility.tiles(marks, picture, wrong):
        boxes = [picture.map.box_to_picture(box) for box in crowded[:_MOST_SAID]]
        where = ", ".join(f"({box.x:.0f}, {box.y:.0f}) to ({box.right:.0f}, {box.bottom:.0f})" for box in boxes)
        warnings.append(f"the picture is crowded; these parts read better by themselves: zoom {where}")
    return warnings


def outside_note(others: int, region: Box | None, *, is_alone: bool = False) -> list[str]:
    """A note on a look at a part: how many marks are outside it. `is_alone`: nothing else is listed."""
    if region is None:
        return []
    if is_alone:
        return [
            f"a look at one thing only; {others} other marks are not listed" if others else "a look at one thing only"
        ]
    return [f"a closer look at part of the page; {others} marks are outside of it" if others else "a closer look"]
