"""Claims about clicks on elements that do not stop moving: the right one is hit, or nothing."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click

SPEEDS = (40, 120, 300)
WAYS = {
    "line": "at = [40 + (travelled % 900), 200]",
    "circle": "at = [450 + 150 * Math.cos(travelled / 150), 300 + 150 * Math.sin(travelled / 150)]",
    "bouncing": "at = [40 + Math.abs(travelled % 1200 - 600), 60 + Math.abs(travelled * 0.7 % 800 - 400)]",
}
PAGE = """<style>button {{ position: fixed; left: 0; top: 0; width: 90px; height: 40px }}</style>
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("speed", SPEEDS)
async def test_what_moves_is_hit_and_never_what_moves_beside_it(on: On, speed: int, way: str) -> None:
    async with on(PAGE.format(speed=speed, way=WAYS[way])) as hand:
        outcomes = []
        for _ in range(3):
            outcomes.append(await hand.act(Click(target=hand.number("Catch"))))
            await hand.look()
        said = [outcome.sentence for outcome in outcomes]
        assert [outcome.status for outcome in outcomes] == ["done"] * 3, said
        assert await hand.js("said") == ["Catch"] * 3, said
