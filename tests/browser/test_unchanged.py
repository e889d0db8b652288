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
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
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

LATE = "<button id=late>Later</button>"
FIRST_RULE = "document.styleSheets[0].cssRules[0]"
HIDES, FADES = "#late { visibility: hidden }", "#late { opacity: 0 }"
STYLES = {
    "a rule that is rewritten in its place and shows something": (
        HIDES,
        LATE,
        f"{FIRST_RULE}.style.visibility = 'visible'",
    ),
    "a rule for other elements": (
        f"#other {{ visibility: visible !important }} {HIDES}",
        LATE,
        f"{FIRST_RULE}.selectorText = '#late'",
    ),
    "a new rule inside another one": (
        f"@media all {{ p {{ margin: 0 }} }} {HIDES}",
        LATE,
        f"{FIRST_RULE}.insertRule('#late {{ visibility: visible !important }}')",
    ),
    "a nested rule": (HIDES, LATE, f"{FIRST_RULE}.insertRule('& {{ visibility: visible }}')"),
    "as many rules as before": (
        HIDES,
        LATE,
        """
        const [sheet] = document.styleSheets;
        sheet.deleteRule(0);
        sheet.insertRule('#late { opacity: 1 }')""",
    ),
    "rules for other media": (
        f"@media print {{ #late {{ visibility: visible !important }} }} {HIDES}",
        LATE,
        f"{FIRST_RULE}.media.mediaText = 'all'",
    ),
    "a layer without its rules": (
        "@layer b, a; @layer a { #late { visibility: hidden } }",
        LATE,
        "document.styleSheets[0].cssRules[1].deleteRule(0)",
    ),
    "a rule that opens something without a size": (
        "#closed { display: none }",
        f"<div id=closed style='width: 0; height: 0; position: absolute; left: 90px; top: 200px'>{LATE}</div>",
        f"{FIRST_RULE}.style.display = 'block'",
    ),
    "a rule that brings something from far away": (
        "#late { position: fixed; top: 3000px; left: 300px }",
        LATE,
        f"{FIRST_RULE}.style.top = '100px'",
    ),
    "a rule that says what can be pressed": (
        "#card { cursor: default }",
        "<div id=card>Card</div>",
        f"{FIRST_RULE}.style.cursor = 'pointer'",
    ),
    "another picture of a button": (
        "#icon { width: 30px; height: 30px; background: no-repeat url(/trash.png) }",
        "<button id=icon></button>",
        f"{FIRST_RULE}.style.backgroundImage = 'url(/print.png)'",
    ),
    "a value that a property gets late": (
        "#late { --shown: hidden; visibility: var(--shown) }",
        LATE,
        "CSS.registerProperty({ name: '--shown', syntax: 'visible', inherits: false, initialValue: 'visible' })",
    ),
    "an animation that ended far away": (
        "#late { position: fixed; top: 3000px; left: 300px }",
        LATE,
        "late.animate({ top: ['3000px', '100px'] }, { duration: 1, fill: 'forwards' }).finish()",
    ),
    "an animation that ended with something shown": (
        FADES,
        LATE,
        "late.animate({ opacity: [0, 1] }, { duration: 1, fill: 'forwards' }).finish()",
    ),
    "a movement of a drawing": (
        "",
        """<svg width=200 height=50><a href=/x visibility=hidden><rect width=80 height=40 /><text y=20>Drawn</text>
            <set id=shows attributeName=visibility to=visible begin=indefinite /></a></svg>""",
        "shows.beginElement()",
    ),
    "another drawing of a button": (
        "",
        """<svg width=0 height=0><symbol id=trash><rect width=20 height=20 /></symbol>
            <symbol id=print><rect width=20 height=20 /></symbol></svg>
            <button><svg width=20 height=20><use id=drawn href='#trash' /></svg></button>""",
        "drawn.href.baseVal = '#print'",
    ),
    "another address of a drawn link": (
        "",
        "<svg width=200 height=50><a id=drawn href=/x><rect width=80 height=40 /><text y=20>Drawn</text></a></svg>",
        "drawn.href.baseVal = '/y'",
    ),
    "a state of a custom element": (
        "x-late { visibility: hidden } x-late:state(on) { visibility: visible }",
        """<x-late tabindex=0 role=button>Custom</x-late><script>customElements.define('x-late',
            class extends HTMLElement { constructor() { super(); this.inner = this.attachInternals() } })</script>""",
        "document.querySelector('x-late').inner.states.add('on')",
    ),
    "an element that gets into a slot": (
        "",
        """<div id=host><button id=one>One</button>
            <button id=two style='position: absolute; left: 300px; top: 300px'>Two</button></div>
            <script>const root = host.attachShadow({ mode: 'open', slotAssignment: 'manual' });
            root.innerHTML = '<slot>'; root.firstChild.assign(one)</script>""",
        "host.shadowRoot.firstChild.assign(one, two)",
    ),
    "a shadow root far away": (
        "",
        "<div style='height: 3000px'></div><div id=host style='height: 20px'></div>",
        """host.attachShadow({ mode: 'open' }).innerHTML =
            '<button style="position: fixed; left: 300px; top: 300px">Far</button>'""",
    ),
    "a popover without a size": (
        "#pop { width: 0; height: 0; padding: 0; border: 0 }",
        "<button popovertarget=pop>Menu</button><div id=pop popover></div>",
        "pop.showPopover()",
    ),
    "the end of a selection in a field": (
        "",
        "<textarea id=note autofocus>One\nTwo\nThree</textarea>",
        "note.focus(); note.setSelectionRange(0, 6)",
    ),
    "the second of two files": (
        "",
        """<input id=files type=file multiple aria-label=Files><script>function choose(...names) {
            const chosen = new DataTransfer();
            for (const name of names) chosen.items.add(new File(['x'], name));
            files.files = chosen.files;
        }
        choose('a.txt', 'b.txt')</script>""",
        "choose('a.txt', 'c.txt')",
    ),
    "a rule in a frame": (
        "",
        f"<iframe id=inner srcdoc='<style>{HIDES}</style><button>In</button>{LATE}'></iframe>",
        "inner.contentDocument.styleSheets[0].cssRules[0].style.visibility = 'visible'",
    ),
    "a frame that is turned": (
        "iframe { width: 200px; height: 200px; transform: none }",
        "<iframe srcdoc='<button>In</button>'></iframe>",
        f"{FIRST_RULE}.style.transform = 'rotate(180deg)'",
    ),
}
MEDIA = {
    "print": {"media": "print"},
    "(prefers-color-scheme: dark)": {"color_scheme": "dark"},
    "(prefers-reduced-motion)": {"reduced_motion": "reduce"},
    "(forced-colors: active)": {"forced_colors": "active"},
    "(prefers-contrast: more)": {"contrast": "more"},
}


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


@pytest.mark.parametrize("what", STYLES)
async def test_a_change_that_no_document_reports_is_seen(page: Page, serve: Server, what: str) -> None:
    style, body, change = STYLES[what]
    await overlay.register(page.context)
    await page.goto(serve({"/": f"<!doctype html><style>{style}</style><p>Orders <button>Pay</button></p>{body}"}))
    if "<textarea" in body:
        await page.evaluate("() => { note.focus(); note.setSelectionRange(0, 0) }")
    known = [mark.key for mark in (await frames.scan(page, 30)).marks]
    first = await frames.scan(page, 30, known)
    assert (await frames.scan(page, 30, known, before=first)).repeats(first)
    await page.evaluate(f"() => {{ {change} }}")
    again, whole = await frames.scan(page, 30, known, before=first), await frames.scan(page, 30, known)
    assert content(again) == content(whole)
    assert content(whole)[1] != content(first)[1]


@pytest.mark.parametrize("media", MEDIA)
async def test_other_media_may_change_what_shows(page: Page, serve: Server, media: str) -> None:
    style = f"<style>{HIDES} @media {media} {{ #late {{ visibility: visible }} }}</style>"
    await overlay.register(page.context)
    await page.goto(serve({"/": f"{style}<button>Pay</button>{LATE}"}))
    first = await frames.scan(page, 30)
    await page.emulate_media(**MEDIA[media])
    assert [mark.name for mark in (await frames.scan(page, 30, before=first)).marks] == ["Pay", "Later"]


async def test_a_key_may_change_what_shows(page: Page, serve: Server) -> None:
    style = f"<style>{HIDES} body:has(:focus-visible) #late {{ visibility: visible }}</style>"
    await overlay.register(page.context)
    await page.goto(serve({"/": f"{style}<button>Pay</button>{LATE}"}))
    await page.click("button")
    first = await frames.scan(page, 30)
    await page.keyboard.press("Shift")
    assert [mark.name for mark in (await frames.scan(page, 30, before=first)).marks] == ["Pay", "Later"]


async def test_new_styles_are_still_noticed_in_a_document_of_another_site(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    address = serve({"/": f"<style>{HIDES}</style><button>Pay</button>{LATE}"})
    await page.goto(address)
    await frames.scan(page, 30)
    await page.goto(address.replace("127.0.0.1", "localhost"))
    await frames.scan(page, 30)
    first = await frames.scan(page, 30)
    assert (await frames.scan(page, 30, before=first)).repeats(first)
    await page.evaluate(f"() => {{ {FIRST_RULE}.style.visibility = 'visible' }}")
    assert [mark.name for mark in (await frames.scan(page, 30, before=first)).marks] == ["Pay", "Later"]


async def test_what_is_known_of_restless_amounts_is_not_kept_for_longer_than_they_are_restless(
    page: Page, serve: Server
) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": "<p><span id=price>$10.00</span> <button>Buy</button></p>"}))
    await frames.scan(page, 30)
    await page.evaluate("""async () => {
        for (const change of [11, 10, 12, 11, 13]) {
            price.textContent = `$${change}.00`;
            await new Promise(requestAnimationFrame);
        }
    }""")
    first = await frames.scan(page, 30)
    again = await frames.scan(page, 30, before=first)
    assert content(again) == content(first)
    assert not again.repeats(first)


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
    await frames.scan(page, 30)  # Chromium may not have styled the new element before it
    first = await frames.scan(page, 30)
    assert (await frames.scan(page, 30, before=first)).repeats(first)


async def test_a_page_of_another_size_is_scanned_again(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": PLAIN}))
    first = await frames.scan(page, 30)
    await page.set_viewport_size({"width": 500, "height": 700})
    again = await frames.scan(page, 30, before=first)
    assert (again.main.scroll.view_width, again.repeats(first)) == (500, False)


async def test_a_change_in_a_frame_of_another_site_is_seen_while_the_page_around_it_is_not_scanned_again(
    page: Page, serve: Server
) -> None:
    await overlay.register(page.context)
    inner = serve({"/": "<button id=b>Inner</button>"}).replace("127.0.0.1", "localhost")
    await page.goto(serve({"/": f"<button>Outer</button><iframe src={inner}></iframe>"}))
    await frames.scan(page, 30)
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


async def test_a_field_that_has_become_secret_is_masked_in_the_next_look(page: Page) -> None:
    await page.set_content("<input id=code aria-label=Code value=4711>")
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.observe()
        seen = await browser.observe()
        browser.live_parts.observer.masked_keys.add(seen.marks[0].key)
        later = await browser.observe()
    assert [each.marks[0].state.value for each in (seen, later)] == ["4711", None]
    assert seen.clean.sha256 != later.clean.sha256


async def test_what_is_gone_is_told_once(page: Page) -> None:
    html = f"{PLAIN}<button id=apart style='position: absolute; left: 600px; top: 300px'>Apart</button>"
    _, second, third, fourth = await looked(page, html, 4, "() => document.querySelector('#apart')?.remove()")
    assert (len(second.change.gone), "gone" in second.listing) == (1, True)
    assert (third.change.gone, "gone" in third.listing) == ((), False)
    assert "the same" in fourth.timings


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
