"""How long one click takes, from the request to its outcome: `make bench-act`.

In one run, on the same page of 100 buttons: plain Playwright's `locator.click()`, which does not look at what comes of
it; then clicks by number. What is told apart is how soon an outcome can be known. A plain effect shows at once. That
nothing changed is known only after the page was quiet for a while. On a page that never rests, what moves by itself
must be told from what the click did.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

from bench_command import run_command
from playwright.async_api import Page
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.browser.launch.launch import fresh_context, launch_browser
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

CLICKS = 30
PAGE = """<!doctype html><title>Buttons</title>{around}<div id=all></div><script>
window.said = [];
for (let i = 1; i <= 100; i++) {{
  const button = document.createElement('button');
  button.textContent = `Item ${{i}}`;
  button.style.width = '90px';
  button.onclick = () => {{ said.push(i); {effect} }};
  all.append(button);
}}
</script>"""
SHOWS = "button.textContent = `Done ${i}`"
RESTLESS = """<style>@keyframes go { to { margin-left: 300px } }
#goer { width: 20px; height: 20px; background: red; animation: go 2s infinite alternate }</style>
<div id=goer></div><p id=count>0</p><script>setInterval(() => { count.textContent = Math.random() }, 30)</script>"""
KINDS = {
    "an effect": PAGE.format(around="", effect=SHOWS),
    "no effect": PAGE.format(around="", effect=""),
    "an effect, on a page that never rests": PAGE.format(around=RESTLESS, effect=SHOWS),
}


@dataclass(frozen=True)
class Acted:
    """Clicks of one kind: seconds at the median, and what plain Playwright needs for the same."""

    kind: str
    acting: float
    plain: float


async def measured(page: Page, clicks: int = CLICKS) -> list[Acted]:
    """Each kind of click, beside plain Playwright's on the same buttons."""
    return [await _measured(page, kind, html, clicks) for kind, html in KINDS.items()]


async def _measured(page: Page, kind: str, html: str, clicks: int) -> Acted:
    wanted = [*range(1, clicks + 1)]
    await page.set_content(html)
    plain = []
    for number in wanted:
        began = time.perf_counter()
        await page.get_by_role("button", name=f"Item {number}", exact=True).click()
        plain.append(time.perf_counter() - began)
    assert await page.evaluate("said") == wanted
    await page.reload()
    await page.set_content(html)
    acting = []
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        for number in wanted:
            seen = await browser.observe()
            [mark] = [each for each in seen.marks if each.name == f"Item {number}"]
            began = time.perf_counter()
            outcome = await browser.act(Click(target=mark.number), seen)
            acting.append(time.perf_counter() - began)
            assert (outcome.status, outcome.effect) == ("done", "no_effect" if kind == "no effect" else "changed")
        assert await page.evaluate("said") == wanted
    return Acted(kind, statistics.median(acting), statistics.median(plain))


async def run() -> list[Acted]:
    """All kinds, in a browser of their own."""
    settings = BrowserSettings()
    async with launch_browser(settings) as launched, fresh_context(launched, settings) as context:
        return await measured(await context.new_page())


def show(kinds: list[Acted]) -> None:
    table = Table("a click with", "acting", "plain Playwright", "ratio", box=SIMPLE)
    for each in kinds:
        times = (f"{seconds * 1000:.0f} ms" for seconds in (each.acting, each.plain))
        table.add_row(each.kind, *times, f"{each.acting / each.plain:.1f}")
    Console().print(table, f"{CLICKS} clicks each, medians")


if __name__ == "__main__":
    run_command(__doc__, run, show)
