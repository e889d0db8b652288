"""A canvas in which things move, and say what a press hit."""

from __future__ import annotations

WAYS = {
    "line": "at = [60 + (far % 520), 200]",
    "circle": "at = [300 + 120 * Math.cos(far / 120), 200 + 120 * Math.sin(far / 120)]",
    "bouncing": "at = [60 + Math.abs(far % 960 - 480), 60 + Math.abs(far * 0.6 % 560 - 280)]",
}
"""Where a thing is after it has gone `far`, in CSS pixels of the canvas."""

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
