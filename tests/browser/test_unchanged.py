"""Claims about a page that is looked at again: what has not changed is not scanned again, and every change is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.browser.page import frames, overlay
from vision_agent.browser.page.frames import Scan
from vision_agent.settings import ObserveSettings
from vision_agent.types import Observation
from vision_agent.vision.image_limits import ImageLimits

PLAIN = """<style>.low { position: absolute; left: 300px; top: 100px } #late { display: none }</style>
<h1 id=title>Orders</h1><button id=pay>Pay</button> <button id=late>Later</button>
<input id=name aria-label=Name value=Ann> <label><input id=gift type=checkbox>Gift</label>
<select id=size><option>Small<option>Large</select>
<textarea id=note aria-label=Note>One
Two</textarea> <div id=box style="width: 200px; height: 60px">A box</div>
<div id=pop popover>Popped <button>Sure</button></div>
<div id=edit contenteditable>First line<br>Second line</div>
<div id=list style="height: 60px; overflow: auto"><p>One<p>Two<p><button>Deep</button><p>Four<p>Five</div>"""

CHANGES = {
    "a name": "pay.textContent = 'Delete'",
    "an attribute": "pay.setAttribute('aria-label', 'Buy')",
    "a new element": "document.body.insertAdjacentHTML('beforeend', '<button>New</button>')",
    "an element that goes": "pay.remove()",
    "a value that a script sets": "document.querySelector('#name').value = 'Bob'",
    "a tick that a script sets": "gift.checked = true",
    "a tick that is neither": "gift.indeterminate = true",
    "an option that a script chooses": "size.selectedIndex = 1",
    "a field that a script calls wrong": "document.querySelector('#name').setCustomValidity('no')",
    "the focus": "pay.focus()",
    "the caret of a field": "note.focus(); note.setSelectionRange(5, 5)",
    "the caret of an editor": "edit.focus(); getSelection().collapse(edit.lastChild, 3)",
    "a list that scrolls": "list.scrollTop = 60",
    "a popover": "pop.showPopover()",
    "a new rule that shows something": "document.styleSheets[0].insertRule('#late { display: inline !important }', 2)",
    "a rule that is rewritten": "document.styleSheets[0].cssRules[1].style.display = 'inline'",
    "a rule that moves something": "document.styleSheets[0].insertRule('#pay { margin-left: 90px }', 2)",
    "a rule that is taken away": "document.styleSheets[0].deleteRule(1)",
    "a sheet that is turned off": "document.styleSheets[0].disabled = true",
    "a sheet that is adopted": """
        const sheet = new CSSStyleSheet(); sheet.replaceSync('#pay { visibility: hidden }');
        document.adoptedStyleSheets = [sheet]""",
    "a rule by which something covers": """
        document.styleSheets[0].insertRule('#box { position: fixed; inset: 0; width: auto !important; '
            + 'height: auto !important; background: white }', 2)""",
    "a shadow root": "box.attachShadow({ mode: 'open' }).innerHTML = '<button>Inside</button>'",
    "a custom element that is defined late": """
        customElements.define('x-late', class extends HTMLElement {
            connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<button>Upgraded</button>'; }
        });
        document.body.append(document.createElement('x-late'))""",
    "a listener": "box.onclick = () => {}",
    "an animation": "pay.animate({ translate: ['0 0', '80px 0'] }, { duration: 1, fill: 'forwards' }).finish()",
    "the address": "history.pushState(null, '', '?page=2')",
    "the title": "document.title = 'Other'",
    "an editable document": "document.designMode = 'on'",
}
UNSEEN = {"the address", "the title"}
"""What changes of the page, though no mark does."""


def content(scan: Scan) -> list[Any]:
    """What a scan has found, without what tells one scan from another."""
    return [
        [(each.frame, replace(each.answer, id="", unopened_roots=0)) for each in scan.frames],
        scan.marks,
        scan.covered,
        scan.context,
        scan.out_of_view,
        scan.warnings,
    ]


@pytest.mark.parametrize("what", CHANGES)
async def test_a_change_is_seen_however_it_was_made(page: Page, serve: Server, what: str) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": PLAIN}))
    known = [mark.key for mark in (await frames.scan(page, 30)).marks]
    first = await frames.scan(page, 30, known)
    assert (await frames.scan(page, 30, known, before=first)).repeats(first)
    await page.evaluate(f"() => {{ {CHANGES[what]} }}")
    again, whole = await frames.scan(page, 30, known, before=first), await frames.scan(page, 30, known)
    assert not again.repeats(first)
    assert content(again) == content(whole)
    assert (content(whole)[1] != content(first)[1]) is (what not in UNSEEN)


async def test_where_the_pointer_is_may_change_what_shows(page: Page, serve: Server) -> None:
    style = "<style>div > button { display: none } div:hover > button { display: block }</style>"
    await overlay.register(page.context)
    await page.goto(serve({"/": f"{style}<div>Menu <button>Save</button></div>"}))
    first = await frames.scan(page, 30)
    await page.mouse.move(20, 15)
    again = await frames.scan(page, 30, before=first)
    assert "Save" not in {mark.name for mark in first.marks}
    assert "Save" in {mark.name for mark in again.marks}


async def test_fields_of_another_kind_of_markup_are_passed_over(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": "<button>Pay</button>"}))
    await page.evaluate("document.body.append(document.createElementNS('http://example.org/x', 'input'))")
    first = await frames.scan(page, 30)
    assert (await frames.scan(page, 30, before=first)).repeats(first)


async def test_a_page_of_another_size_is_scanned_again(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": PLAIN}))
    first = await frames.scan(page, 30)
    await page.set_viewport_size({"width": 500, "height": 700})
    again = await frames.scan(page, 30, before=first)
    assert (again.main.scroll.view_width, again.repeats(first)) == (500, False)


async def test_a_change_in_a_frame_is_seen_while_the_page_around_it_is_not_scanned_again(
    page: Page, serve: Server
) -> None:
    await overlay.register(page.context)
    await page.goto(
        serve({"/": "<button>Outer</button><iframe src=/in></iframe>", "/in": "<button id=b>Inner</button>"})
    )
    first = await frames.scan(page, 30)
    same = await frames.scan(page, 30, before=first)
    assert same.repeats(first)
    await page.frames[1].evaluate("() => { b.textContent = 'Changed' }")
    again = await frames.scan(page, 30, before=same)
    assert [mark.name for mark in again.marks] == ["Outer", "Changed"]
    assert again.main.marks is same.main.marks


async def looked(page: Page, html: str, times: int, between: str = "") -> list[Observation]:
    await page.set_content(html)
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        seen = [await browser.observe()]
        for _ in range(times - 1):
            if between:
                await page.evaluate(between)
            seen.append(await browser.observe())
    return seen


async def test_a_look_at_a_page_that_has_not_changed_says_the_same_under_another_name(page: Page) -> None:
    first, second, third = await looked(page, PLAIN, 3)
    own = {"id", "taken_at", "timings", "change"}
    assert first.model_dump(exclude=own) == second.model_dump(exclude=own) == third.model_dump(exclude=own)
    assert "the same" in second.timings
    assert len({each.id for each in (first, second, third)}) == 3
    assert second.taken_at > first.taken_at
    assert not third.change.new


async def test_a_look_after_a_change_marks_what_is_new_and_the_one_after_that_no_longer(page: Page) -> None:
    grow = "() => { if (!document.querySelector('#new')) pay.insertAdjacentHTML('afterend', '<button id=new>New') }"
    _, second, third, fourth = await looked(page, PLAIN, 4, grow)
    assert [[mark.name for mark in each.marks if mark.change == "new"] for each in (second, third)] == [["New"], []]
    assert "*new" in second.listing
    assert "*new" not in third.listing
    assert "the same" in fourth.timings


async def test_what_only_the_picture_shows_is_in_the_next_look(page: Page) -> None:
    recolour = "() => { document.styleSheets[0].cssRules[0].style.color = 'red' }"
    first, second = await looked(page, "<style>button { color: blue }</style><button>Pay</button>", 2, recolour)
    assert first.clean.sha256 != second.clean.sha256
    assert first.marked.sha256 != second.marked.sha256


async def test_marks_of_a_look_that_was_not_made_again_can_be_clicked(page: Page) -> None:
    await page.set_content("<button onclick=\"document.title = 'Paid'\">Pay</button>")
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.observe()
        seen = await browser.observe()
        assert "the same" in seen.timings
        outcome = await browser.act(Click(target=seen.marks[0].number), seen)
    assert (outcome.status, await page.title()) == ("done", "Paid")
