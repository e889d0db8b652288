"""A page whose controls are drawn on a canvas, and what it says was hit."""

from __future__ import annotations

import json
from typing import Any

from vision_agent.observation import Mark, Observation

BUTTONS = (
    {"name": "Save", "x": 40, "y": 30, "w": 120, "h": 40, "colour": "#2b6cb0"},
    {"name": "Send", "x": 200, "y": 30, "w": 120, "h": 40, "colour": "#2f855a"},
    {"name": "Stop", "x": 40, "y": 110, "w": 120, "h": 40, "colour": "#c53030"},
)
"""Three buttons, in CSS pixels of the canvas."""
BOARD = tuple(
    {
        "name": f"{row}.{column}",
        "x": 340 + 30 * column,
        "y": 20 + 30 * row,
        "w": 30,
        "h": 30,
        "colour": colour,
        "bare": True,
    }
    for row in range(1, 7)
    for column in range(1, 7)
    for colour in [("#e8d4a8", "#8a5a33")[(row + column) % 2]]
)
"""Six rows and columns of squares beside them."""


def painted(*things: dict[str, Any], style: str = "", sharp: float = 1, more: str = "") -> str:
    """A canvas of 640×300 with these things on it; what is pressed goes into `hits`, with where on the thing.

    `sharp`: pixels it has for each CSS pixel; `more`: script that runs last, with `things` and `paint` in reach.
    """
    style = f"display:block;width:640px;height:300px;{style}"
    return f"""<canvas id=c tabindex=0 aria-label=Board style="{style}"></canvas><script>
const sharp = {sharp}, things = {json.dumps(things)}, hits = [];
c.width = 640 * sharp; c.height = 300 * sharp;
const pen = c.getContext('2d');
function paint() {{
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.fillStyle = '#fbfbf8'; pen.fillRect(0, 0, 640, 300);
  for (const {{ name, x, y, w, h, colour, bare }} of things) {{
    pen.fillStyle = colour; pen.fillRect(x, y, w, h);
    if (bare) continue;
    pen.fillStyle = '#fff'; pen.font = 'bold 16px sans-serif'; pen.textAlign = 'center'; pen.textBaseline = 'middle';
    pen.fillText(name, x + w / 2, y + h / 2);
  }}
}}
function at(event) {{
  const x = event.offsetX, y = event.offsetY;
  const hit = things.findLast((each) => x >= each.x && x < each.x + each.w && y >= each.y && y < each.y + each.h);
  return {{ kind: event.type, name: hit ? hit.name : '', x: hit ? x - hit.x : x, y: hit ? y - hit.y : y }};
}}
for (const kind of ['pointerdown', 'dblclick', 'contextmenu', 'wheel', 'pointerup'])
  c.addEventListener(kind, (event) => hits.push(at(event)));
paint();
{more}
</script>"""


def drawn(observation: Observation) -> list[Mark]:
    """The marks of what has no element, grids aside."""
    return [mark for mark in observation.marks if mark.source != "dom" and mark.grid is None]


def drawn_at(observation: Observation, x: float, y: float) -> Mark:
    """The smallest of them around a point of the page."""
    around = [
        mark for mark in drawn(observation) if mark.box.x <= x < mark.box.right and mark.box.y <= y < mark.box.bottom
    ]
    assert around, f"nothing at ({x}, {y}) in\n{observation.listing}"
    return min(around, key=lambda mark: mark.box.width * mark.box.height)


def grid_of(observation: Observation) -> Mark:
    """The only grid."""
    [grid] = [mark for mark in observation.marks if mark.grid is not None]
    return grid
