"""Claims about what looks the same and acts on something else: labels, buttons of forms, handles, and focused fields."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import SETTINGS, On
from vision_agent.actions import Check, Click, Drag, Type

LABELS = """<style>input{position:absolute;opacity:0;width:0;height:0}</style>
<p><input type=checkbox id=a><label id=news for=a>Newsletter</label></p>
<p><input type=checkbox id=b><label id=wipe for=b>Delete my data</label></p>
<script>const swap = () => { news.htmlFor = 'b'; wipe.htmlFor = 'a'; };
const swapIds = () => { a.id = 'x'; document.getElementById('b').id = 'a'; document.getElementById('x').id = 'b'; };</script>"""


@pytest.mark.parametrize("swap", ["swap", "swapIds"])
@pytest.mark.parametrize("when", ["", "pointermove", "pointerdown", "mousedown", "pointerup", "mouseup"])
async def test_a_label_that_has_become_that_of_another_box_ticks_none(on: On, when: str, swap: str) -> None:
    heard = f"<script>news.addEventListener('{when}', {swap}, {{once: true}})</script>" if when else ""
    async with on(LABELS + heard) as hand:
        number = hand.number("Newsletter")
        if not when:
            await hand.js(f"{swap}()")
        outcome = await hand.act(Check(mark=number, checked=True))
        ticked = await hand.js("[...document.querySelectorAll(':checked')].map((each) => each.id)")
        assert ticked == [], outcome.sentence
        assert outcome.status in ("refused", "partial")
        assert outcome.refusal == "changed"


async def test_a_label_ticks_its_box_though_both_are_drawn_anew(on: On) -> None:
    body = f"""<div id=all>{LABELS}</div><script>
    const draw = () => {{ const box = document.getElementById('all'); box.replaceChildren(...[...box.children].map((each) => each.cloneNode(true))); }};</script>"""
    async with on(body) as hand:
        number = hand.number("Newsletter")
        await hand.js("draw()")
        outcome = await hand.act(Check(mark=number, checked=True))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("a.checked")


FORMS = """<form id=keep action=/kept></form><form id=drop action=/dropped></form>
<button id=go form=keep name=do value=keep>Apply</button>"""


@pytest.mark.parametrize(
    "change",
    [
        "go.setAttribute('form', 'drop')",
        "go.setAttribute('formaction', '/dropped')",
        "go.setAttribute('formmethod', 'post')",
        "keep.setAttribute('action', '/dropped')",
        "go.value = 'drop'",
    ],
)
async def test_a_button_that_submits_something_else_since_the_look_is_not_pressed(on: On, change: str) -> None:
    async with on(FORMS, pages={"/kept": "Kept", "/dropped": "Dropped"}) as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=hand.number("Apply")))
        assert outcome.refusal == "changed"
        assert 'another button "Apply": it leads elsewhere, or acts on something else' in outcome.sentence
        assert hand.page.url == f"{hand.address}/"
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Apply")))).effect == "navigated"


async def test_a_button_is_pressed_whose_form_was_drawn_anew(on: On) -> None:
    async with on(FORMS, pages={"/kept": "Kept", "/dropped": "Dropped"}) as hand:
        await hand.js("keep.replaceWith(keep.cloneNode())")
        outcome = await hand.act(Click(target=hand.number("Apply")))
        assert hand.page.url.startswith(f"{hand.address}/kept"), outcome.sentence


async def test_what_a_form_leads_to_is_pictured_without_waiting_for_the_page_that_is_gone(on: On) -> None:
    settings = SETTINGS.model_copy(update={"scan_deadline_s": 60.0})
    # A picture that was begun just before the page is gone never comes; it is a matter of a few milliseconds.
    for _ in range(3):
        async with on(
            "<form action=/b><button>Go</button></form>", pages={"/b": "<h1>There"}, settings=settings
        ) as hand:
            outcome = await hand.act(Click(target=hand.number("Go")))
            assert outcome.effect == "navigated"
            assert outcome.seconds is not None
            assert outcome.seconds < settings.scan_deadline_s


TEXT = "secret words"
THIEVES = {
    "at the input": "<textarea aria-label=Note oninput='if (this.value.length === 4) other.focus()'></textarea>",
    "at the key": "<textarea aria-label=Note onkeydown='if (event.key === `w`) other.focus()'></textarea>",
    "of a full field": "<input aria-label=Note maxlength=4 oninput='if (this.value.length === 4) other.focus()'>",
}


@pytest.mark.parametrize("thief", THIEVES)
@pytest.mark.parametrize("text", [TEXT, TEXT * 9])
async def test_the_rest_of_a_text_does_not_go_to_a_field_that_takes_the_focus(on: On, thief: str, text: str) -> None:
    async with on(f"<p>{THIEVES[thief]}</p><p><label>Other <input id=other></label></p>") as hand:
        outcome = await hand.act(Type(target=hand.number("Note"), text=text))
        assert await hand.js("other.value") == "", outcome.sentence
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        other = hand.number("Other")
        assert f"lost the focus to <input> [{other}] within the text, and the rest was stopped" in outcome.sentence


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_the_rest_of_a_text_does_not_go_to_another_field_of_a_shadow_root(on: On, mode: str) -> None:
    body = f"""<div id=host></div><script>
    const root = host.attachShadow({{ mode: '{mode}' }});
    root.innerHTML = '<p><input aria-label=Note></p><p><input aria-label=Other></p>';
    const [note, other] = root.querySelectorAll('input');
    note.oninput = () => other.focus();
    window.values = () => [note.value, other.value];</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Note"), text=TEXT))
        assert (outcome.status, outcome.refusal) == ("partial", "changed"), outcome.sentence
        assert (await hand.js("values()"))[1] == ""


async def test_the_rest_of_a_text_does_not_go_to_a_dialog_that_opens(on: On) -> None:
    body = """<label>Note <textarea id=note oninput="if (this.value.length === 4) box.showModal()"></textarea></label>
    <dialog id=box><form method=dialog><input id=other autofocus aria-label=Password><button>OK</button></form></dialog>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Note"), text=TEXT, submit=True))
        assert await hand.js("[note.value, other.value, box.open]") == ["secr", "", True], outcome.sentence
        assert outcome.status == "partial"


@pytest.mark.parametrize(
    ("outer", "inner", "named"),
    [
        ("<input id=other aria-label=Other>", "oninput='if (this.value.length === 4) parent.other.focus()'", "Inner"),
        (
            "<input aria-label=Outer oninput='if (this.value.length === 4) f.contentWindow.field.focus()'>",
            "id=field",
            "Outer",
        ),
    ],
)
async def test_the_rest_of_a_text_does_not_go_to_a_field_in_another_document(
    on: On, outer: str, inner: str, named: str
) -> None:
    async with on(f"{outer}<iframe id=f src=/in></iframe>", pages={"/in": f"<input aria-label=Inner {inner}>"}) as hand:
        outcome = await hand.act(Type(target=hand.number(named), text=TEXT))
        values = await hand.js("[document, f.contentDocument].map((each) => each.querySelector('input').value)")
        assert sorted(values) == ["", "secr"], outcome.sentence
        assert outcome.status == "partial"


async def test_boxes_of_one_number_hand_the_text_on_when_they_are_full(on: On) -> None:
    boxes = "".join(f"<input class=box size=4 maxlength=4 aria-label='Part {n}'>" for n in range(1, 5))
    body = f"""{boxes}<script>const all = [...document.querySelectorAll('.box')];
    all.forEach((each, i) => each.oninput = () => {{ if (each.value.length === 4) all[i + 1]?.focus(); }});</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Part 1"), text="1234567890123456"))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("all.map((each) => each.value)") == ["1234", "5678", "9012", "3456"]


async def test_boxes_for_one_letter_hand_the_text_on_though_they_say_no_limit(on: On) -> None:
    boxes = "".join(f"<input class=box style='width:30px;height:36px' aria-label='Digit {n}'>" for n in range(1, 5))
    body = f"""{boxes}<script>const all = [...document.querySelectorAll('.box')];
    all.forEach((each, i) => each.oninput = () => all[i + 1]?.focus());</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Digit 1"), text="4711"))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("all.map((each) => each.value)") == ["4", "7", "1", "1"]


async def test_blocks_of_an_editor_hand_the_text_on(on: On) -> None:
    body = """<div id=page><p class=block contenteditable aria-label=Text></p></div><script>
    page.addEventListener('keydown', (e) => { if (e.key === 'Enter') { e.preventDefault();
      const next = e.target.cloneNode(); e.target.after(next); next.focus(); } });</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Type(target=hand.number("Text"), text="One\nTwo"))
        assert await hand.js("[...page.children].map((each) => each.innerText)") == ["One", "Two"], outcome.sentence
        assert outcome.status == "done", outcome.sentence


PEOPLE = """<section><h2>People</h2><ul id=list style="width:200px"><li draggable=DRAGGABLE>Ann</li><li draggable=DRAGGABLE>Bob</li></ul></section>
<section><h2>Bins</h2><div id=bin role=button tabindex=0 aria-label=Bin style="width:200px;height:80px"></div></section>
<script>let held = null; window.said = [];
const swap = () => { const [one, other] = list.children; [one.textContent, other.textContent] = ['Bob', 'Ann']; };
list.addEventListener('dragstart', (e) => { e.dataTransfer.setData('text', 'x'); held = e.target; });
bin.ondragover = (e) => e.preventDefault();
bin.ondrop = (e) => { e.preventDefault(); said.push('drop ' + held.textContent); };
for (const each of list.children) {
  each.style.cursor = 'grab';
  each.addEventListener('click', () => said.push('click ' + each.textContent));
  if (!each.draggable) each.addEventListener('mousedown', () => held = each);
}
bin.addEventListener('mouseup', () => { if (held && !held.draggable) said.push('drop ' + held.textContent); });</script>"""


@pytest.mark.parametrize(
    ("draggable", "when"),
    [("true", "pointerdown"), ("true", "dragstart"), ("false", "mousedown"), ("false", "mousemove")],
)
async def test_what_becomes_something_else_as_it_is_taken_is_brought_back(on: On, draggable: str, when: str) -> None:
    # A list that the pointer only passes stays as it is.
    hear = f"<script>list.addEventListener('{when}', (e) => {{ if (held || e.type !== 'mousemove') swap(); }}, true)</script>"
    async with on(PEOPLE.replace("DRAGGABLE", draggable) + hear) as hand:
        outcome = await hand.act(Drag(source=hand.number("Bob"), target=hand.number("Bin")))
        assert await hand.js("said") == [], outcome.sentence
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert 'became listitem "Ann" as it was taken hold of; it was brought back' in outcome.sentence


async def test_what_is_brought_back_is_not_clicked_by_the_release(on: On) -> None:
    turn = "<script>addEventListener('mousemove', (e) => { if (e.buttons && e.target === bin) bin.ariaLabel = 'Publish'; })</script>"
    async with on(PEOPLE.replace("DRAGGABLE", "false") + turn) as hand:
        outcome = await hand.act(Drag(source=hand.number("Bob"), target=hand.number("Bin")))
        assert outcome.status == "partial"
        assert "it was brought back" in outcome.sentence
        assert await hand.js("said") == []


HIDES = """<script>addEventListener('mousemove', () => { if (!held || window.copy) return; window.copy = held.cloneNode(true); ALSO
  copy.style.cssText = 'position:fixed;top:200px;left:20px;pointer-events:none'; document.body.append(copy); HELD.style.visibility = 'hidden'; });</script>"""


async def test_a_card_that_is_hidden_while_a_copy_of_it_is_carried_is_dropped(on: On) -> None:
    hide = HIDES.replace("ALSO", "").replace("HELD", "held")
    async with on(PEOPLE.replace("DRAGGABLE", "false") + hide) as hand:
        outcome = await hand.act(Drag(source=hand.number("Bob"), target=hand.number("Bin")))
        assert await hand.js("said") == ["drop Bob"], outcome.sentence
        assert outcome.status == "done"


async def test_a_card_that_is_hidden_and_holds_another_name_is_brought_back(on: On) -> None:
    hide = HIDES.replace("ALSO", "swap();").replace("HELD", "held")
    async with on(PEOPLE.replace("DRAGGABLE", "false") + hide) as hand:
        outcome = await hand.act(Drag(source=hand.number("Bob"), target=hand.number("Bin")))
        assert await hand.js("said") == [], outcome.sentence
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert "without a name as it was taken hold of; it was brought back" in outcome.sentence


async def test_a_card_that_only_says_that_it_is_held_is_dropped(on: On) -> None:
    hold = "<script>list.addEventListener('dragstart', (e) => { e.target.textContent += ' (held)'; })</script>"
    async with on(PEOPLE.replace("DRAGGABLE", "true") + hold) as hand:
        outcome = await hand.act(Drag(source=hand.number("Bob"), target=hand.number("Bin")))
        assert await hand.js("said") == ["drop Bob (held)"], outcome.sentence
