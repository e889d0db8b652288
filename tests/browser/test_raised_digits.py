"""Claims about digits that are raised or lowered: `9⁹⁹` beside a mark is no 999, and is selected as it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import SelectText
from vision_agent.browser import live
from vision_agent.settings import ObserveSettings
from vision_agent.text.money import amounts_in
from vision_agent.vision.image_limits import ImageLimits


@pytest.mark.parametrize(
    ("price", "amount", "words"),
    [
        ("9<sup>99</sup> EUR", "99", "Mug EUR"),
        ("<b>9</b><sup>99</sup> EUR", "99", "Mug EUR"),
        ("<b>9</b><i><sup>99</sup></i> EUR", "99", "Mug EUR"),
        ("€9<span style='vertical-align:super;font-size:70%'>99</span>", "9.99", "Mug"),
        ("€12<small>99</small>", "12.99", "Mug"),
        ("€12<span style='vertical-align:top;font-size:60%'>99</span>", "12.99", "Mug"),
        ("€12<span style='position:relative;top:-5px;font-size:60%'>99</span>", "12.99", "Mug"),
        ("€12<small style='font-size:100%'>99</small>", "1299", "Mug"),
        ("12<sup>99</sup> EUR", "99", "Mug EUR"),
        ("9<b>99</b> EUR", "999", "Mug EUR"),
        ("5<sup>1</sup>2 EUR", "2", None),
        ("H<sub>2</sub>O", None, "Mug H O"),
        ("5 m<sup>2</sup>, 9 EUR", "9", "Mug EUR"),
    ],
)
async def test_raised_digits_beside_a_mark_are_kept_apart(
    page: Page, serve: Server, price: str, amount: str | None, words: str | None
) -> None:
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        body = f"<h1>Shop</h1><div><h3>Mug</h3><p>{price}</p><button>Buy</button></div>"
        await browser.open(serve({"/": f"<meta charset=utf-8><title>Page</title>{body}"}))
        [mark] = [each for each in (await browser.observe()).marks if each.name == "Buy"]
    values = [each.value for text in (mark.context, *mark.prices) for each in amounts_in(text)]
    assert values[:1] == ([Decimal(amount)] if amount else [])
    assert words is None or mark.context == words


async def test_raised_digits_are_selected_and_told_apart(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": "<title>Page</title><p>The mug is 9<sup>99</sup>2 EUR and H<sub>2</sub>O</p>"}))
        seen = await browser.observe()
        outcome = await browser.act(SelectText(first="9 99 2", last="H2O"), seen)
        assert outcome.status == "done", outcome.sentence
        assert await page.evaluate("String(getSelection())") == "9992 EUR and H2O"
        joined = await browser.act(SelectText(first="9992", last="H2O"), await browser.observe())
        assert joined.refusal == "gone"
