"""Presses at the point of every mark, and tells which element got the press first."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import ElementHandle, Page

from vision_agent.evals.perception.compare import Finding, mark_text
from vision_agent.evals.perception.look import Elements, ask_element, ask_frames
from vision_agent.observation import Mark, Observation


@dataclass(frozen=True)
class Landing:
    """How many marks were pressed, and those whose press another element got."""

    pressed: int
    findings: tuple[Finding, ...]


async def press_all(tab: Page, observation: Observation, elements: Elements) -> Landing:
    """Press at every mark's point and find which marked element got it first; the page itself hears nothing of it."""
    await ask_frames(tab, "() => __perception.begin()")
    for mark in observation.marks:
        if mark.number in elements and mark.kind not in ("scroller", "surface"):
            await ask_element(elements[mark.number], "element => __perception.mark(element)")
    pressed, findings = 0, []
    for mark in observation.marks:
        # Scrollers are not pressed: their point may well lie on something inside.
        if mark.number not in elements or mark.state.disabled or mark.kind == "scroller":
            continue
        where = await _press(tab, mark, elements[mark.number])
        if where == "untold":
            continue
        pressed += 1
        if where not in ("landed", "unheard"):
            findings.append(Finding("landing", mark_text(mark, where), mark.box))
    return Landing(pressed, tuple(findings))


async def _press(tab: Page, mark: Mark, element: ElementHandle) -> str:
    """Where the press landed; `untold` in a document without scripts."""
    await tab.mouse.move(mark.point.x, mark.point.y)
    await tab.mouse.down()
    await tab.mouse.up()
    at = {"x": mark.point.x, "y": mark.point.y}
    where: str | None = await ask_element(element, "(element, { x, y }) => __perception.landed(element, x, y)", at)
    return where or "untold"
