"""Claims about what an action refuses, and what it never hits."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.browser.hand import Hand, On
from vision_agent import actions
from vision_agent.actions import Action, Check, Click, Drag, Point, Press, Type
from vision_agent.browser.network.host_policy import Gate, policy_for
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay_calls.answer_parts import NOTHING_EXPECTED

Change = Callable[[Hand], Awaitable[Any]]
SAVE = "<button id=b style='width:90px;height:40px' onclick='document.title = `hit`'>Save</button><p>.</p>"


@pytest.mark.parametrize(
    ("change", "refusal", "words"),
    [
        ("b.remove()", "gone", 'Mark 1 (button "Save") is no longer on the page'),
        ("b.textContent = 'Delete'", "changed", 'has become button "Delete"'),
        ("b.disabled = true", "disabled", "is disabled"),
        ("b.style.display = 'none'", "covered", "is no longer visible"),
        (
            "document.body.insertAdjacentHTML('beforeend', `<div role=dialog style='position:fixed;inset:0;background:#fff'><h2>Cookies</h2></div>`)",
            "covered",
            'Mark 1 (button "Save") is covered by <dialog> "Cookies". Close that first. It was still so after 2 s.',
        ),
        ("b.style.pointerEvents = 'none'", "covered", "cannot be reached by a click where it is"),
        ("document.open(), document.write('<button>Save</button>'), document.close()", "gone", "no longer on the page"),
        ("location.reload()", "gone", ""),
    ],
)
async def test_a_mark_that_is_not_what_it_was_is_refused_and_the_reason_said(
    on: On, change: str, refusal: str, words: str
) -> None:
    async with on(SAVE) as hand:
        await hand.js(f"void ({change})")
        outcome = await hand.act(Click(target=1))
        assert (outcome.status, outcome.refusal, outcome.effect) == ("refused", refusal, None), outcome.sentence
        assert words in outcome.sentence
        assert await hand.page.title() == ""


async def test_the_mark_in_the_way_is_named_by_its_number(on: On) -> None:
    async with on(SAVE + "<button id=other style='width:90px'>Other</button>") as hand:
        await hand.js("void (other.style.cssText = 'position:fixed;left:0;top:0;width:400px;height:200px')")
        outcome = await hand.act(Click(target=hand.number("Save")))
        assert (
            outcome.sentence
            == 'Mark 1 (button "Save") is covered by <button> "Other" [2]. Scroll, or deal with that first. It was still so after 2 s.'
        )


async def test_an_unknown_mark_is_refused_with_those_there_are(on: On) -> None:
    async with on(SAVE) as hand:
        outcome = await hand.act(Click(target=77))
        assert outcome.refusal == "unknown_mark"
        assert outcome.sentence == "There is no mark 77 in this observation; the listing has 1 to 1."


async def test_marks_of_an_earlier_observation_are_refused(on: On) -> None:
    async with on(SAVE) as hand:
        earlier = hand.seen
        await hand.look()
        assert (await hand.browser.act(Click(target=1), earlier)).refusal == "unknown_mark"


@pytest.mark.parametrize("point", [Point(x=-1, y=5), Point(x=5, y=800), Point(x=1280, y=5)])
async def test_a_point_outside_the_picture_is_refused_with_its_size(on: On, point: Point) -> None:
    async with on(SAVE) as hand:
        outcome = await hand.act(Click(target=point))
        assert outcome.refusal == "outside"
        assert "1280 by 800" in outcome.sentence


async def test_a_point_over_which_something_unseen_has_come_is_refused(on: On) -> None:
    async with on(SAVE) as hand:
        point = hand.point("Save")
        veil = "<div onclick='document.title = `veil`' style='position:fixed;inset:0'></div>"
        await hand.js(f"void document.body.insertAdjacentHTML('beforeend', `{veil.replace('`', chr(34))}`)")
        outcome = await hand.act(Click(target=point))
        assert (outcome.refusal, await hand.page.title()) == ("moved", ""), outcome.sentence
        assert 'mark 1 (button "Save") was there, and something else is now' in outcome.sentence


BIG = "<button id=b style='position:fixed;left:0;top:0;width:400px;height:200px' onclick='document.title=`big`'>Save</button>"
CORNER = "position:fixed;left:300px;top:150px;width:100px;height:50px;opacity:0"


@pytest.mark.parametrize(
    "over",
    [
        f"<div style='{CORNER}' onclick='document.title=`other`'></div>",
        f"<button aria-label=Delete style='{CORNER}' onclick='document.title=`other`'></button>",
    ],
)
@pytest.mark.parametrize("change", ["", "b.ariaLabel = 'Delete';", "b.outerHTML += '';"])
async def test_a_point_on_a_part_over_which_something_unseen_has_come_is_refused(
    on: On, over: str, change: str
) -> None:
    async with on(BIG) as hand:
        await hand.js(f"void (() => {{ {change} document.body.insertAdjacentHTML('beforeend', {over!r}); }})()")
        outcome = await hand.act(Click(target=Point(x=380, y=190)))
        assert (outcome.status, await hand.page.title()) == ("refused", ""), outcome.sentence


async def test_a_point_on_rows_drawn_anew_in_another_order_is_refused_though_they_look_alike(on: On) -> None:
    rows = "<ul id=u style='font:16px/24px Ahem,monospace'>{}</ul>"
    row = "<li><span hidden>{0}</span><button aria-label='Remove {0}' onclick='document.title=`{0}`'>X</button></li>"
    async with on(rows.format(row.format("Ada") + row.format("Bob"))) as hand:
        point = hand.point("Remove Ada")
        await hand.js(f"void (u.innerHTML = {row.format('Bob') + row.format('Ada')!r})")
        outcome = await hand.act(Click(target=point))
        assert (outcome.refusal, await hand.page.title()) == ("gone", ""), outcome.sentence
        await hand.js(f"void (u.innerHTML = {row.format('Ada') + row.format('Bob')!r})")


@pytest.mark.parametrize("change", ["b.style.marginLeft = '200px'", "location.reload()"])
async def test_a_point_whose_pixels_or_page_have_changed_is_refused(on: On, change: str) -> None:
    async with on(SAVE) as hand:
        point = hand.point("Save")
        if "reload" in change:
            async with hand.page.expect_event("load"):
                await hand.js(f"void ({change})")
        else:
            await hand.js(f"void ({change})")
        outcome = await hand.act(Click(target=point))
        assert outcome.refusal == "moved"
        assert await hand.page.title() == ""


@pytest.mark.parametrize(
    ("body", "action", "refusal"),
    [
        (SAVE, lambda _: Type(target=1, text="x"), "unsupported"),
        ("<input aria-label=A readonly>", lambda _: Type(target=1, text="x"), "disabled"),
        ("<input aria-label=A disabled>", lambda _: Type(target=1, text="x"), "disabled"),
        ("<div onclick='1' style='width:90px'>Plain</div>", lambda _: Press(target=1, keys="Enter"), "unsupported"),
        (SAVE, lambda _: Press(keys="NoSuchKey"), "unsupported"),
        (SAVE, lambda _: actions.Ask(question="?"), "unsupported"),
        (SAVE, lambda _: actions.Goto(url="file:///etc/passwd"), "blocked"),
        (SAVE, lambda _: actions.Goto(url="javascript:document.title='hit'"), "blocked"),
        (SAVE, lambda _: actions.OpenTab(url="chrome://version"), "blocked"),
    ],
)
async def test_what_cannot_or_must_not_be_done_is_refused(
    on: On, body: str, action: Callable[[Hand], Action], refusal: str
) -> None:
    async with on(body) as hand:
        outcome = await hand.act(action(hand))
        assert (outcome.status, outcome.refusal) == ("refused", refusal), outcome.sentence
        assert await hand.page.title() == ""
        assert len(hand.page.context.pages) == 1


async def test_only_allowed_hosts_are_opened(on: On) -> None:
    async with on(SAVE, gate=Gate(policy_for(["127.0.0.1"]))) as hand:
        port = hand.address.rpartition(":")[2]
        outcome = await hand.act(actions.Goto(url=f"http://localhost:{port}/"))
        assert outcome.refusal == "blocked"
        assert (await hand.act(actions.Goto(url="/"))).effect == "navigated"


async def test_an_address_that_nobody_answers_is_refused_and_the_page_stays(on: On, closed_port: int) -> None:
    async with on(SAVE) as hand:
        outcome = await hand.act(actions.Goto(url=f"http://127.0.0.1:{closed_port}/"))
        assert outcome.refusal == "unreachable"
        assert "ERR_CONNECTION_REFUSED" in outcome.sentence


SLIDES = """<style>@keyframes slide { to { margin-left: 200px } } button.going { animation: slide 0.6s linear forwards }</style>
<button onclick='document.title = this.textContent'>Save</button><script>
const b = document.querySelector('button');
addEventListener('go', () => { b.className = 'going'; setTimeout(() => b.textContent = 'Delete all', 300) });
</script>"""


async def test_what_becomes_something_else_while_it_slides_is_not_clicked(on: On) -> None:
    async with on(SLIDES) as hand:
        await hand.js("dispatchEvent(new Event('go'))")
        outcome = await hand.act(Click(target=hand.number("Save")))
        assert outcome.refusal == "changed"
        assert "Delete all" in outcome.sentence
        assert await hand.js("document.title") == ""


async def test_a_drag_along_points_between_things_that_cannot_be_seen_at_once_is_refused(on: On) -> None:
    body = """<div role=button draggable=true style='height:40px'>Card</div><div style='height:730px'></div>
    <div role=button style='height:60px'>Done list</div><div style='height:1500px'></div>
    <script>addEventListener('mouseup', () => document.title = 'released')</script>"""
    async with on(body) as hand:
        ends = {"source": hand.number("Card"), "target": hand.number("Done list")}
        outcome = await hand.act(Drag(**ends, path=(Point(x=300, y=300),)))
        assert outcome.refusal == "moved"
        assert "cannot be seen at once" in outcome.sentence
        assert await hand.js("document.title") == ""


COVERS_WHEN_PRESSED = """<style>#cover { position: fixed; inset: 0; background: #fffa }</style>
<div role=button draggable=true style='height:40px'>Card</div><div role=button style='height:60px'>Done list</div><script>
const heard = [];
addEventListener('pointerdown', () => {
  const cover = document.body.appendChild(Object.assign(document.createElement('div'), {id: 'cover'}));
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) cover.addEventListener(type, () => heard.push(type));
}, {capture: true, once: true});
</script>"""


@pytest.mark.parametrize("what", ["click", "type"])
async def test_what_comes_over_the_target_when_it_is_pressed_hears_neither_press_nor_release(on: On, what: str) -> None:
    async with on(COVERS_WHEN_PRESSED) as hand:
        acts: dict[str, Action] = {
            "click": Click(target=hand.number("Card")),
            "type": Type(target=hand.point("Card"), text="x"),
        }
        outcome = await hand.act(acts[what])
        assert outcome.status != "refused"
        assert "pointerdown and mousedown reached" in outcome.sentence
        assert "<div>" in outcome.sentence
        assert await hand.js("heard") == []


async def test_what_a_page_lays_over_everything_when_a_drag_begins_hears_only_that_it_ends(on: On) -> None:
    async with on(COVERS_WHEN_PRESSED) as hand:
        outcome = await hand.act(Drag(source=hand.number("Card"), target=hand.number("Done list")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("heard") == ["pointerup", "mouseup"]


TOGGLES = """<ul role=menu><li role=menuitem tabindex=-1>Archive<li role=menuitem tabindex=-1>Delete</ul><script>
const did = [];
for (const item of document.querySelectorAll('li')) {
  for (const type of ['%s']) item.addEventListener(type, () => { did.push(item.textContent); item.remove(); });
  for (const type of ['mouseup', 'click']) item.addEventListener(type, () => did.push(`${type} ${item.textContent}`));
}
</script>"""


@pytest.mark.parametrize("event", ["pointerdown", "mousedown"])
async def test_a_menu_item_that_acts_when_it_is_pressed_and_goes_is_done(on: On, event: str) -> None:
    async with on(TOGGLES % event) as hand:
        outcome = await hand.act(Click(target=hand.number("Archive")))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
        assert '"Delete"' in outcome.sentence
        assert "was in its place, and the rest was stopped" in outcome.sentence
        assert await hand.js("did") == ["Archive"]


SWAPS = """<table><tr><td>Ann<td>likes tea<td><button>Delete</button><tr><td>Bob<td>plays chess<td><button>Delete</button>
<tr><td>Cid<td>sails<td><button>Delete</button></table><script>
const did = [], rows = document.querySelectorAll('tr'), cells = (at) => [...rows[at].querySelectorAll('td')].slice(0, 2);
const swap = () => cells(0).forEach((cell, at) => {
  const other = cells(1)[at], text = cell.textContent;
  cell.textContent = other.textContent;
  other.textContent = text;
});
for (const row of rows) row.querySelector('button').addEventListener('click', () => did.push(row.cells[0].textContent));
addEventListener('%s', swap, { once: true });
</script>"""


@pytest.mark.parametrize("event", ["pointerdown", "mousedown"])
async def test_rows_that_are_swapped_under_the_press_are_not_acted_on(on: On, event: str) -> None:
    async with on(SWAPS % event) as hand:
        outcome = await hand.act(Click(target=hand.seen.marks[0].number))
        assert (outcome.status, outcome.refusal) == ("partial", "changed"), outcome.sentence
        assert outcome.sentence.startswith("pointerdown")
        assert await hand.js("did") == []


async def test_the_second_press_of_a_double_click_does_not_go_to_what_the_first_brought_there(on: On) -> None:
    async with on(TOGGLES % "click") as hand:
        outcome = await hand.act(Click(target=hand.number("Archive"), count=2))
        assert outcome.status == "partial", outcome.sentence
        began = 'pointerdown, mousedown, pointerup, mouseup and click reached mark 1 (menuitem "Archive")'
        assert outcome.sentence.startswith(began)
        assert await hand.js("did") == ["mouseup Archive", "Archive", "click Archive"]


async def test_a_button_that_the_press_itself_pushes_away_is_not_said_to_have_been_clicked(on: On) -> None:
    body = """<input aria-label=Name onblur="document.body.prepend(Object.assign(document.createElement('p'), {style: 'height:40px;margin:0'}))">
    <div style='height:40px'></div><button style='height:40px;display:block' onclick="document.title += 'kept'">Keep</button>
    <button style='height:40px;display:block' id=pay>Pay</button><script>pay.addEventListener('click', () => document.title += 'paid')</script>"""
    async with on(body) as hand:
        await hand.js("document.querySelector('input').focus()")
        await hand.look()
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert outcome.status == "partial", outcome.sentence
        assert 'pointerdown and mousedown reached mark 3 (button "Pay")' in outcome.sentence
        assert 'covered by <button> "Keep"' in outcome.sentence
        assert await hand.js("document.title") == ""


JUMPS = """<style>button{position:absolute;left:20px;top:20px;width:120px;height:40px}body{height:600px}p{position:absolute;top:300px}</style><p id=said>Nothing</p>
<button id=pay>Pay</button><script>const did = []; pay.addEventListener('click', () => { did.push('click'); said.textContent = 'Paid for all of it'; });%s</script>"""
AWAY = "pay.style.left = '600px'"
BRIEFLY_AWAY = f"document.addEventListener('mousedown', () => {{ {AWAY} }}); document.addEventListener('mouseup', () => {{ pay.style.left = '' }})"


@pytest.mark.parametrize(
    "script",
    [
        f"document.addEventListener('mousedown', () => {{ {AWAY} }})",
        BRIEFLY_AWAY,
        "document.addEventListener('mousedown', () => pay.outerHTML = pay.outerHTML)",
    ],
    ids=["moved", "moved while pressed", "redrawn"],
)
async def test_a_click_whose_target_leaves_before_the_release_is_partial(on: On, script: str) -> None:
    async with on(JUMPS % script) as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert (outcome.status, outcome.refusal, outcome.effect) == ("partial", "moved", "no_effect"), outcome.sentence
        assert outcome.sentence.startswith("pointerdown")
        assert 'reached mark 1 (button "Pay"); the rest was not done: it ' in outcome.sentence
        assert "before the button was released, so it got no click. Nothing else changed." in outcome.sentence
        assert outcome.sentence.endswith("Look again, then click it where it is or press Enter on it.")
        assert await hand.js("did") == []


async def test_a_box_that_jumps_away_when_it_is_ticked_is_partial(on: On) -> None:
    script = f"<script>{BRIEFLY_AWAY}</script>"
    async with on(f"<input style=position:relative type=checkbox aria-label=Terms id=pay>{script}") as hand:
        outcome = await hand.act(Check(mark=hand.number("Terms"), checked=True))
        assert (outcome.status, outcome.refusal) == ("partial", "moved"), outcome.sentence
        assert not await hand.js("pay.checked")


@pytest.mark.parametrize("who", ["pay", "pay.parentElement"])
@pytest.mark.parametrize("event", ["pointerdown", "mousedown"])
async def test_what_acts_on_the_press_is_done_though_it_jumps_away(on: On, who: str, event: str) -> None:
    acts = f"{who}.addEventListener('{event}', () => {{ did.push('press'); {AWAY} }})"
    async with on(JUMPS % acts) as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("did") == ["press"]


@pytest.mark.parametrize("shows", [True, False])
async def test_a_jump_at_the_press_that_the_whole_document_answers_is_done_if_that_shows(on: On, shows: bool) -> None:
    acts = f"document.addEventListener('mousedown', () => {{ {AWAY}; {'said.textContent = `Pressed`' * shows} }})"
    async with on(JUMPS % acts) as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert outcome.status == ("done" if shows else "partial"), outcome.sentence


async def test_a_release_on_another_part_of_the_same_button_is_a_click(on: On) -> None:
    parts = "pay.innerHTML = '<span id=one>Pay</span><i style=\"position:absolute;inset:0\" id=two></i>'; two.style.display = 'none'"
    swaps = "document.addEventListener('mousedown', () => { two.style.display = 'block' })"
    async with on(JUMPS % f"{parts}; {swaps}") as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
        assert await hand.js("did") == ["click"]


@pytest.mark.parametrize("shows", [True, False])
async def test_a_click_that_only_what_is_around_the_target_gets_is_done_if_it_shows(on: On, shows: bool) -> None:
    hears = f";document.body.addEventListener('click', () => {{ did.push('around'); {'said.textContent = `Paid`' * shows} }})"
    async with on(JUMPS % (BRIEFLY_AWAY + hears)) as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert outcome.status == ("done" if shows else "partial"), outcome.sentence
        assert await hand.js("did") == ["around"]


async def test_a_list_that_opens_at_the_press_and_jumps_is_done(on: On) -> None:
    jumps = "<script>document.addEventListener('mousedown', () => { document.querySelector('select').style.left = '600px' })</script>"
    body = f"<select aria-label=Size style='position:absolute' size=3><option>S<option>M</select>{jumps}"
    async with on(body) as hand:
        outcome = await hand.act(Click(target=hand.number("Size")))
        assert outcome.status == "done", outcome.sentence


async def test_a_field_that_gives_the_focus_away_when_it_is_pressed_was_pressed_and_not_typed_into(on: On) -> None:
    body = """<input aria-label=Code onmousedown="setTimeout(() => other.focus())"><input id=other aria-label=Other>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Code"), text="x"))
        assert (outcome.status, outcome.refusal) == ("partial", "changed"), outcome.sentence
        assert "click reached mark 1" in outcome.sentence
        assert await hand.js("other.value") == ""


LISTENS_ON_ITS_WINDOW = """<button style="width:200px;height:60px">Save</button><script>
const heard = [];
for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) addEventListener(type, (event) => heard.push(type + ' ' + event.target.textContent), true);
const cover = () => document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;inset:0">Delete all</div>');
</script>"""


@pytest.mark.parametrize("is_covered", [False, True])
async def test_a_window_that_listened_before_us_hears_nothing_of_a_press_that_was_stopped(
    on: On, is_covered: bool
) -> None:
    async with on(LISTENS_ON_ITS_WINDOW) as hand:
        [mark], frame = hand.seen.marks, hand.page.main_frame
        meant = {"kind": mark.kind, "fingerprint": mark.fingerprint, "expected": NOTHING_EXPECTED}
        await overlay_calls.guards.guard_press(frame, 2, mark.key, **meant, is_drag=False, lasts_s=2)
        if is_covered:
            await hand.js("cover()")
        await hand.page.mouse.click(mark.point.x, mark.point.y)
        told = await overlay_calls.guards.read_press_guard(frame, 2, is_over=True)
        assert (told.stopped is not None) == is_covered
        kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]
        assert await hand.js("heard") == ([] if is_covered else [f"{kind} Save" for kind in kinds])


FRAMED_ROWS = """<div id=ann><iframe srcdoc="<button style='width:200px;height:60px'>Delete</button>"></iframe></div><script>
window.heard = [];
window.listen = (view) => {
  for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click']) view.addEventListener(type, () => heard.push(type));
  window.listens = true;
};
const another = {
  srcdoc: (frame) => { frame.srcdoc = '<button style="width:200px;height:60px">Delete</button><img src="" onerror="parent.listen(window)">' },
  address: (frame) => { frame.removeAttribute('srcdoc'); frame.src = '/bob' },
  empty: (frame) => { frame.contentDocument.body.innerHTML = '<button style="width:200px;height:60px">Delete</button>'; listen(frame.contentWindow) },
};
const replace = (how) => { ann.innerHTML = '<iframe></iframe>'; another[how](ann.firstChild) };
const load = (how) => another[how](ann.firstChild);
</script>"""


@pytest.mark.parametrize(
    ("change", "how"),
    [("replace", "srcdoc"), ("replace", "address"), ("replace", "empty"), ("load", "srcdoc"), ("load", "address")],
)
async def test_a_frame_that_came_between_check_and_press_gets_no_event(on: On, how: str, change: str) -> None:
    bob = "<button style='width:200px;height:60px'>Delete</button><script>parent.listen(window)</script>"
    async with on(FRAMED_ROWS, pages={"/bob": bob}) as hand:
        [mark] = hand.seen.marks
        meant = {"kind": mark.kind, "fingerprint": mark.fingerprint, "expected": NOTHING_EXPECTED}
        main, inner = hand.page.frames
        await overlay_calls.guards.guard_press(main, 2, None, **meant, is_drag=False, lasts_s=2)
        await overlay_calls.guards.guard_press(inner, 2, mark.key, **meant, is_drag=False, lasts_s=2)
        await hand.js(f"{change}('{how}')")
        await hand.page.wait_for_function("window.listens")
        await hand.page.mouse.click(mark.point.x, mark.point.y)
        told = await overlay_calls.guards.read_press_guard(main, 2, is_over=True)
        assert told.stopped is not None
        assert await hand.js("heard") == []
        await hand.page.mouse.click(mark.point.x, mark.point.y)
        assert await hand.js("heard") == ["pointerdown", "mousedown", "mouseup", "click"]


async def test_nothing_is_sent_when_another_tab_came_to_the_front(on: On) -> None:
    pop = "<input autofocus aria-label=Trap><script>focus()</script>"
    body = "<label>Name <input></label><button onclick='window.open(`/pop`)'>Open</button>"
    async with on(body, pages={"/pop": pop}) as hand:
        field, page = hand.number("Name"), hand.page
        await hand.act(Click(target=hand.number("Open")))
        trap = next(each for each in page.context.pages if each is not page)
        outcome = await hand.act(Type(target=field, text="Ada"))
        assert outcome.refusal == "changed"
        assert "another tab came to the front" in outcome.sentence
        assert await trap.evaluate("document.querySelector('input').value") == ""
        assert await page.evaluate("document.querySelector('input').value") == ""


async def test_a_popup_that_nobody_asked_for_does_not_stop_what_is_typed_below_it(on: On) -> None:
    pop = "<input autofocus aria-label=Trap><script>focus()</script>"
    async with on("<label>Name <input></label>", pages={"/pop": pop}) as hand:
        async with hand.page.expect_popup() as popup:
            await hand.page.evaluate("window.open('/pop')")
        trap = await popup.value
        await trap.wait_for_selector("input")
        outcome = await hand.act(Type(target=hand.number("Name"), text="Ada"))
        assert outcome.status == "done"
        assert await trap.evaluate("document.querySelector('input').value") == ""
        assert await hand.js("document.querySelector('input').value") == "Ada"


async def test_a_popup_that_opens_under_the_hand_gets_no_key(on: On) -> None:
    pop = "<input autofocus aria-label=Trap>"
    body = "<label>Name <input onfocus='window.open(`/pop`)'></label>"
    async with on(body, pages={"/pop": pop}) as hand:
        page = hand.page
        await hand.act(Type(target=hand.number("Name"), text="Ada"))
        trap = next(each for each in page.context.pages if each is not page)
        assert await trap.evaluate("document.querySelector('input')?.value ?? ''") == ""


async def test_keys_stop_when_a_script_takes_the_focus_away(on: On) -> None:
    body = "<label>Name <input onkeydown='other.focus()'></label><label>Other <input id=other></label>"
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Name"), text="alice"))
        assert outcome.refusal == "changed"
        assert "lost the focus to something else; no text was typed" in outcome.sentence
        assert await hand.js("other.value") == ""


async def test_typing_at_a_point_that_takes_no_focus_leaves_the_field_before_it_alone(on: On) -> None:
    body = """<label>Email <input></label><canvas style='display:block' width=200 height=200
    onmousedown='event.preventDefault()'></canvas>"""
    async with on(body) as hand:
        await hand.act(Type(target=hand.number("Email"), text="a@b.c"))
        await hand.look()
        outcome = await hand.act(Type(target=Point(x=100, y=150), text="hello"))
        assert outcome.refusal == "changed"
        assert await hand.js("document.querySelector('input').value") == "a@b.c"


async def test_a_tab_is_closed_by_the_number_it_was_seen_with(on: On) -> None:
    async with on("<p>one", pages={"/2": "two", "/3": "three", "/4": "four"}) as hand:
        for path in ("/2", "/3", "/4"):
            await hand.act(actions.OpenTab(url=path))
            await hand.look()
        tabs = hand.page.context.pages
        await tabs[1].close()
        await hand.act(actions.CloseTab(tab=3))
        assert tabs[2].is_closed()
        assert not tabs[3].is_closed()


async def test_a_dialog_between_two_looks_is_told_in_the_next(on: On) -> None:
    async with on("<p>hi") as hand:
        await hand.js("alert('Session over')")
        seen = await hand.look()
        assert any("Session over" in warning for warning in seen.warnings)


async def test_enter_is_not_pressed_on_what_took_the_focus_while_typing(on: On) -> None:
    body = """<label>Name <input oninput="if (this.value === 'Ada') pay.focus()"></label>
    <button id=pay onclick="document.title = 'paid'">Pay</button>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Name"), text="Ada", submit=True))
        assert outcome.refusal == "changed"
        assert "Enter was not pressed" in outcome.sentence
        assert await hand.js("document.title") == ""


async def test_keys_stop_when_the_page_around_a_frame_gives_it_to_somebody_else(on: On) -> None:
    body = """<div><h3 id=who>Ann</h3><iframe id=f srcdoc="<input aria-label=Note>"></iframe></div><script>
    window.told = []
    f.onload = () => f.contentWindow.addEventListener('input', () => {
      told.push(who.textContent); if (told.length === 2) who.textContent = 'Bob' })
    </script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Note"), text="see you"))
        assert set(await hand.js("told")) == {"Ann"}, outcome.sentence
        assert outcome.status == "partial"
        assert "Bob" in outcome.sentence


FRAMED_FIELD = """<div id=row></div><script>
window.heard = '';
const fill = (frame) => {
  frame.contentDocument.body.innerHTML = '<input aria-label=Note>';
  return frame.contentDocument.getElementsByTagName('input')[0];
};
const replace = () => {
  row.innerHTML = '<iframe></iframe>';
  const field = fill(row.firstChild);
  field.onkeydown = (event) => { heard += event.key };
  field.focus();
};
const remove = () => { row.innerHTML = ''; document.body.onkeydown = (event) => { heard += event.key } };
row.innerHTML = '<iframe></iframe>';
const change = { replace, remove };
const field = fill(row.firstChild);
field.oninput = () => { if (field.value === 'he') change[window.how]() };
</script>"""


@pytest.mark.parametrize("how", ["replace", "remove"])
async def test_keys_stop_when_the_frame_that_they_are_typed_into_is_replaced(on: On, how: str) -> None:
    async with on(FRAMED_FIELD) as hand:
        await hand.js(f"window.how = '{how}'")
        outcome = await hand.act(Type(target=hand.number("Note"), text="hello"))
        assert await hand.js("heard") == "", outcome.sentence
        assert outcome.status == "partial", outcome.sentence


@pytest.mark.parametrize("moves", ["other.focus()", "document.activeElement.blur()"])
@pytest.mark.parametrize("at", ["onfocus", "onmousedown", "onclick", "onselect", "onkeydown"])
async def test_text_never_goes_to_a_field_that_takes_the_focus(on: On, moves: str, at: str) -> None:
    body = f"""<input aria-label=Code {at}="setTimeout(() => {moves})"><input id=other aria-label=Other>
    <script>window.stray = ''; addEventListener('keydown', e => {{ if (e.key === 'x' && e.target.ariaLabel !== 'Code') stray += e.key }})</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Code"), text="x"))
        assert await hand.js("other.value + stray") == "", outcome.sentence
        assert outcome.status == "partial" or outcome.value == "x", outcome.sentence


RING = "clip-path:polygon(0 0,100% 0,100% 100%,0 100%,0 30px,30px 30px,30px 170px,170px 170px,170px 30px,0 30px)"
SHAPES = {
    "the hollow of a block": f"<button style='width:200px;height:200px;{RING}'>Frame</button>",
    "beside a turned corner": "<button style='width:200px;height:200px;rotate:45deg;scale:.7'>Frame</button>",
    "beside a round corner": "<button style='width:200px;height:200px;border-radius:50%'>Frame</button>",
    "in a shadow tree": f"<x-b></x-b><script>document.querySelector('x-b').attachShadow({{mode:'open'}}).innerHTML = `<button style='width:200px;height:200px;{RING}'>Frame</button>`</script>",
    "a gap in a drawing": "<svg width=200 height=200><g role=button tabindex=0 aria-label=Frame><path fill=red fill-rule=evenodd d='M0 0h200v200h-200zM30 30v140h140v-140z'/></g></svg>",
}  # fmt: skip
BESIDE = """<style>body{margin:0}</style><script>const heard = [];
addEventListener('click', (e) => heard.push(e.composedPath()[0].tagName))</script>"""


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_point_in_the_box_of_a_mark_but_outside_its_shape_reaches_what_shows_there(on: On, shape: str) -> None:
    at = (
        Point(x=100, y=100)
        if shape in ("the hollow of a block", "in a shadow tree", "a gap in a drawing")
        else Point(x=6, y=6)
    )
    async with on(BESIDE + SHAPES[shape]) as hand:
        outcome = await hand.act(Click(target=hand.seen.marked.map.to_picture(at)))
        assert outcome.status == "done", outcome.sentence
        heard = await hand.js("heard")
        assert len(heard) == 1
        assert heard[0] not in ("BUTTON", "path", "G")


@pytest.mark.parametrize(
    "change",
    [
        "b.style.pointerEvents = 'none'",
        "b.inert = true",
        "b.parentElement.style.cssText = 'position:relative;z-index:0;background:buttonface'; b.style.cssText += ';position:relative;z-index:-1;opacity:0'",
    ],
)
async def test_a_point_on_a_mark_that_no_longer_takes_clicks_is_refused(on: On, change: str) -> None:
    async with on(f"{BESIDE}<p><button id=b style='width:200px;height:200px;border:0'></button></p>") as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=hand.seen.marked.map.to_picture(hand.seen.marks[0].point)))
        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("heard") == []
