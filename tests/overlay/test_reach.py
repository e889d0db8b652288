"""Claims about the time that hit tests may take."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from vision_agent import assets
from vision_agent.browser.page.overlay import join

COUNT = """([budgetOf, isOut], pauses) => {
  let now = 0, tests = 0;
  performance.now = () => now;
  const budget = budgetOf();
  while (tests < 20000) {
    now += pauses[tests % pauses.length];
    if (isOut(budget)) break;
    tests++;
  }
  return [tests, Math.round(now)];
}"""


@pytest.mark.parametrize(
    ("pauses", "tests", "milliseconds"),
    [
        pytest.param([0.01], 20_000, 200, id="a page that is quick"),
        pytest.param([0.1], 14_999, 1_500, id="a page whose tests take long"),
        pytest.param([40, *[0.01] * 9], 1_249, 5_000, id="a machine that lets it wait every few tests"),
        pytest.param([400], 12, 5_200, id="a machine that does nearly nothing"),
    ],
)
async def test_a_busy_machine_takes_no_marks_away_until_five_seconds_have_passed(
    page: Page, pauses: list[float], tests: int, milliseconds: int
) -> None:
    budget = join(assets.overlay_sources(), "reach.js", "[newBudget, isOutOfTime]")
    made, took = await page.evaluate(f"({COUNT})({budget}, {pauses})")
    assert made == pytest.approx(tests, abs=15)
    assert took == pytest.approx(milliseconds, abs=60)
