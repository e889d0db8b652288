"""Pages with elements that move, and canvases in which drawn things move; both say what a press hit."""

from __future__ import annotations

from vision_agent.observation import Mark, Observation
from vision_agent.vision.picture import Picture, pixels_of

RED = 60
"""How much more red than green is in a red disc, at least."""

ELEMENT_WAYS = {
    "line": "at = [40 + (travelled % 900), 200]",
    "circle": "at = [450 + 150 * Math.cos(travelled / 150), 300 + 150 * Math.sin(travelled / 150)]",
    "bouncing": "at = [40 + Math.abs(travelled % 1200 - 600), 60 + Math.abs(travelled * 0.7 % 800 - 400)]",
}
"""Where a button is after it has travelled so many CSS pixels."""

ELEMENTS = """<style>button {{ position: fixed; left: 0; top: 0; width: 90px; height: 40px }}</style>
<button id=catch onclick="said.push('Catch')">Catch</button><button id=other onclick="said.push('Other')">Other</button>
<script>
window.said = [];
const began = performance.now();
(function move() {{
  let at, travelled = (performance.now() - began) / 1000 * {speed};
  {way};
  document.getElementById('catch').style.translate = `${{at[0]}}px ${{at[1]}}px`;
  other.style.translate = `${{at[0] - 95}}px ${{at[1]}}px`;
  requestAnimationFrame(move);
}})();
</script>"""

DRAWN_WAYS = {
    "line": "at = [60 + (far % 520), 200]",
    "circle": "at = [300 + 120 * Math.cos(far / 120), 200 + 120 * Math.sin(far / 120)]",
    "bouncing": "at = [60 + Math.abs(far % 960 - 480), 60 + Math.abs(far * 0.6 % 560 - 280)]",
}
"""Where a drawn thing is after it has gone `far`, in CSS pixels of the canvas."""

DRAWN = """<canvas id=board width=640 height=400 style="border: 1px solid #999"></canvas>
<script>
window.said = [];
const pen = board.getContext('2d'), began = performance.now(), radius = SIZE / 2;
const things = [['red', '#d22', 0], ['blue', '#26c', 180], ['green', '#2a4', 350]];
const places = {};
const placeOf = (far) => {
  let at;
  WAY;
  return at;
};
(function move() {
  const far = (performance.now() - began) / 1000 * SPEED;
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, 640, 400);
  for (const [name, colour, ahead] of things) {
    places[name] = placeOf(far + ahead);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(...places[name], radius, 0, 7);
    pen.fill();
  }
  requestAnimationFrame(move);
})();
board.addEventListener('pointerdown', ({ offsetX, offsetY }) => {
  const isAt = ([x, y]) => Math.hypot(x - offsetX, y - offsetY) <= radius;
  said.push(things.map(([name]) => name).reverse().find((name) => isAt(places[name])) ?? 'ground');
});
</script>"""


def drawn(speed: int, way: str = "line", size: int = 36) -> str:
    """The canvas page: discs of `size` CSS pixels move at `speed` CSS pixels per second."""
    return DRAWN.replace("SPEED", str(speed)).replace("WAY", DRAWN_WAYS[way]).replace("SIZE", str(size))


def red_disc(seen: Observation, size: int = 36) -> Mark | None:
    """The drawn mark that is red and not joined with another one; None while things overlap."""
    picture = Picture.of(seen.clean)
    found = []
    for mark in seen.marks:
        if mark.source != "dom" and abs(mark.box.width - size) < 4 and abs(mark.box.height - size) < 4:
            pixels = pixels_of(picture.crop(mark.box))
            if pixels[..., 2].mean() - pixels[..., 1].mean() > RED:
                found.append(mark)
    return found[0] if len(found) == 1 else None
