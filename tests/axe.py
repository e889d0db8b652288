"""Asks axe-core what it finds wrong with a page for people who cannot see it, or use it by keyboard."""

from __future__ import annotations

import pytest
from pages import MissingPages, site
from playwright.async_api import Page

_RUN = """async () => {
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await axe.run(document, {iframes: false, runOnly: rules});
  return found.violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
}"""


async def violations(page: Page) -> list[str]:
    """What it finds, one line each; the test is skipped where it cannot be fetched."""
    try:
        source = site("axe-core").root / "axe.min.js"
    except MissingPages as error:
        pytest.skip(str(error))
    await page.evaluate(source.read_text("utf-8"))
    found: list[str] = await page.evaluate(_RUN)
    return found
