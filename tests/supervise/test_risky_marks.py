"""A real page says of its marks what pressing them would send, and where links lead."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

from vision_agent import observe

PAGE = """<form onsubmit="return false"><input name=type aria-label=Who><button>Book</button>
<button type=button>Preview</button><input type=submit value=Order></form>
<form method=post><input type=search aria-label=Filter><input aria-label=Name><button>Store</button></form>
<form><input type=search aria-label=Words><button>Look</button></form>
<form role=search><input aria-label=What><button>Find</button></form><button>Loose</button>
<form role=search method=post><input aria-label=Goods><button>Hand over</button></form>
<form role=search><input aria-label=Wares><button formmethod=POST>Give</button></form>
<p><a href="/terms">Terms</a></p><p><a href="https://partner.example/x">Partner</a></p>
<p><a href="mailto:a@b.example">Mail</a></p>"""


async def test_a_mark_says_whether_it_sends_a_form_and_which_other_host_it_leads_to(page: Page, serve: Any) -> None:
    await page.goto(serve({"/": PAGE, "/favicon.ico": b""}))
    states = {mark.name: mark.state for mark in (await observe(page)).marks}
    assert {name for name, state in states.items() if state.submits} == {"Book", "Order", "Store", "Hand over", "Give"}
    assert {name: state.leads_to for name, state in states.items() if state.leads_to} == {"Partner": "partner.example"}
    assert {"Preview", "Find", "Look", "Loose", "Terms", "Mail"} <= states.keys()
