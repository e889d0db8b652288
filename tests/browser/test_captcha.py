"""Captchas that are drawn in the page and in no frame are told by what their makers document."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

from vision_agent import observe
from vision_agent.policy.blockers import blockers_in
from vision_agent.types import Task

PAGE = """<!doctype html><title>Join</title>
<form><label>Name <input id=name></label>
<altcha-widget></altcha-widget>
<div><button id=start type=button>Begin</button><input type=hidden name=frc-captcha-solution></div>
<input type=hidden name=frc-captcha-response><button id=join type=button>Join</button></form>
<div class="captcha g-recaptcha"><button>Large print</button></div>
<script>
const root = document.querySelector("altcha-widget").attachShadow({ mode: "open" });
root.innerHTML = "<label><input type=checkbox> Go on</label>";
</script>"""


async def test_only_what_is_inside_the_widgets_is_part_of_a_captcha(page: Page, serve: Any) -> None:
    await page.goto(serve({"/": PAGE, "/favicon.ico": b""}))
    seen = await observe(page)
    names = {mark.number: mark.name for mark in seen.marks}
    walls = blockers_in(Task(goal="Join"), seen)
    assert {wall.by: [names[number] for number in wall.marks] for wall in walls} == {
        "ALTCHA": ["Go on"],
        "Friendly Captcha": ["Begin"],
    }
    assert {"Name", "Join", "Large print"} <= set(names.values())
    assert not any(wall.is_whole for wall in walls)
