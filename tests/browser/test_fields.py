"""Claims about typing, keys, ticking, setting values and giving files: what was wanted is so afterwards, or why not."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route

from tests.browser.hand import SETTINGS, On
from vision_agent.actions import Check, Click, Press, Select, Set, Type, Upload

FIELDS = """<form onsubmit="document.title = 'sent'; return false"><input id=a aria-label=Name value=old><input id=n type=number aria-label=Count value=1>
<input id=d type=date aria-label=Day><input id=r type=range aria-label=Volume><input id=e type=email aria-label=Mail><button>Send</button></form><br>
<textarea id=t aria-label=Notes rows=4>one\ntwo</textarea><br><div id=h contenteditable aria-label=Body style="border:1px solid;padding:4px">old <b>text</b></div>
<x-box id=x></x-box><script>x.attachShadow({mode: 'open'}).innerHTML = '<input aria-label=Inside>';</script>"""


@pytest.mark.parametrize(
    ("name", "more", "value"),
    [
        ("Name", {"text": "Ann"}, "Ann"),
        ("Name", {"text": "er", "clear": False}, "older"),
        ("Name", {"text": ""}, ""),
        ("Name", {"text": "two\nlines"}, "two lines"),
        ("Name", {"text": "x" * 900}, "x" * 499 + "…"),
        ("Count", {"text": "42"}, "42"),
        ("Day", {"text": "2026-02-03"}, "2026-02-03"),
        ("Volume", {"text": "80"}, "80"),
        ("Mail", {"text": "é@b.c"}, "é@b.c"),
        ("Notes", {"text": "a\nb"}, "a\nb"),
        ("Notes", {"text": "!", "clear": False}, "one\ntwo!"),
        ("Body", {"text": "new"}, "new"),
        ("Inside", {"text": "deep"}, "deep"),
    ],
)
async def test_text_stands_in_the_field_afterwards_and_is_read_back(
    on: On, name: str, more: dict[str, Any], value: str
) -> None:
    async with on(FIELDS) as hand:
        outcome = await hand.act(Type(target=hand.number(name), **more))
        assert outcome.status == "done", outcome.sentence
        assert outcome.value == value
        assert outcome.effect == "changed"
        mark = (await hand.look()).mark(hand.number(name))
        assert mark is not None
        assert mark.state.value == value


async def test_submit_presses_enter_after_the_text(on: On) -> None:
    async with on(FIELDS) as hand:
        await hand.act(Type(target=hand.number("Name"), text="Ann", submit=True))
        assert await hand.page.title() == "sent"


async def test_text_goes_to_a_point_too(on: On) -> None:
    async with on(FIELDS) as hand:
        outcome = await hand.act(Type(target=hand.point("Name"), text="Ann"))
        assert await hand.js("a.value") == "Ann"
        assert outcome.rung == 4


async def test_a_field_that_changes_what_was_typed_is_told(on: On) -> None:
    async with on("<input aria-label=Code oninput='this.value = this.value.toUpperCase().slice(0, 3)'>") as hand:
        outcome = await hand.act(Type(target=hand.number("Code"), text="abcd"))
        assert (outcome.status, outcome.value) == ("partial", "ABC")
        assert 'The field now holds "ABC"' in outcome.sentence


async def test_nothing_is_typed_when_the_click_gives_the_focus_to_something_else(on: On) -> None:
    async with on("<input id=a aria-label=Find onclick='b.focus()'><input id=b aria-label=Other>") as hand:
        outcome = await hand.act(Type(target=hand.number("Find"), text="secret"))
        assert outcome.refusal == "changed"
        assert await hand.js("a.value + b.value") == ""


async def test_a_checkbox_says_how_it_stands_afterwards(on: On) -> None:
    async with on("<label><input type=checkbox>News</label>") as hand:
        outcome = await hand.act(Click(target=hand.number("News")))
        assert "It is now checked" in outcome.sentence
        assert (await hand.look()).listing == "1[:]<input type=checkbox checked focused hovered *changed>News"


async def test_keys_go_to_the_target_or_to_where_the_focus_is(on: On) -> None:
    async with on(
        "<input id=a aria-label=A value=abc><p id=log></p><script>addEventListener('keydown', (e) => { log.textContent += e.key + ' '; })</script>"
    ) as hand:
        await hand.act(Press(keys="Control+a", target=hand.number("A")))
        await hand.act(Press(keys="Backspace"))
        await hand.act(Press(keys="ArrowDown", count=3))
        assert await hand.js("a.value") == ""
        assert (await hand.js("log.textContent")).split() == ["Control", "a", "Backspace", *["ArrowDown"] * 3]


# Some pages change again after 50 ms; on a busy machine their timers are late.
_LONGER_QUIET = SETTINGS.model_copy(update={"quiet_s": 0.4})
TICKS = """<input type=checkbox id=n aria-label=News><label><input type=checkbox id=t checked>Terms</label>
<div role=switch tabindex=0 aria-checked=false aria-label=Dark onclick="this.ariaChecked = String(this.ariaChecked !== 'true')" style="width:40px;height:20px;background:#ccc"></div>
<button aria-pressed=true onclick="this.ariaPressed = 'false'">Bold</button>
<label><input type=radio name=r value=1 checked>One</label><label><input type=radio name=r value=2>Two</label>
<input type=checkbox aria-label=Stuck onclick="event.preventDefault()"><button>Plain</button>"""


@pytest.mark.parametrize(
    ("name", "checked", "read", "value"),
    [
        ("News", True, "n.checked", True),
        ("Terms", False, "t.checked", False),
        ("Dark", True, "document.querySelector('[role=switch]').ariaChecked", "true"),
        ("Bold", False, "document.querySelector('[aria-pressed]').ariaPressed", "false"),
        ("Two", True, "document.querySelector('[value=\"2\"]').checked", True),
    ],
)
async def test_what_is_to_be_ticked_or_unticked_is_so_afterwards(
    on: On, name: str, checked: bool, read: str, value: object
) -> None:
    async with on(TICKS) as hand:
        outcome = await hand.act(Check(mark=hand.number(name), checked=checked))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
        assert outcome.sentence.startswith("Ticked" if checked else "Unticked")
        assert await hand.js(read) == value


async def test_what_is_ticked_already_is_left_alone(on: On) -> None:
    async with on(TICKS + "<script>addEventListener('click', () => document.title = 'clicked')</script>") as hand:
        outcome = await hand.act(Check(mark=hand.number("Terms"), checked=True))
        assert (outcome.status, outcome.effect) == ("done", "as_wanted")
        assert outcome.sentence == 'Mark 2 (checkbox "Terms") is ticked already; nothing was sent.'
        assert await hand.page.title() == ""


async def test_a_box_that_does_not_take_the_tick_is_told(on: On) -> None:
    async with on(TICKS) as hand:
        outcome = await hand.act(Check(mark=hand.number("Stuck"), checked=True))
        assert (outcome.status, outcome.refusal) == ("partial", "taken_back")
        assert "but it is not ticked" in outcome.sentence


async def test_a_box_that_asks_first_may_take_the_tick_later(on: On) -> None:
    asks = "event.preventDefault(); document.body.insertAdjacentHTML('beforeend', '<button>Sure</button>')"
    async with on(f'<input type=checkbox aria-label=Terms onclick="{asks}">') as hand:
        outcome = await hand.act(Check(mark=1, checked=True))
        assert (outcome.status, outcome.refusal) == ("done", None)
        assert "but it is not ticked" in outcome.sentence


async def test_a_tick_that_is_taken_back_with_a_message_is_no_success(on: On) -> None:
    said = "setTimeout(() => { this.checked = false; said.textContent = 'Could not save it' }, 50)"
    async with on(
        f'<input type=checkbox aria-label=News onchange="{said}"><p id=said>', settings=_LONGER_QUIET
    ) as hand:
        outcome = await hand.act(Check(mark=1, checked=True))
        assert (outcome.status, outcome.effect, outcome.refusal) == ("partial", "changed", "taken_back")


TAKEN_BACK = '<input type=checkbox aria-label=News onchange="this.checked = false; {}"><div id=said></div>'


@pytest.mark.parametrize("says", ["Could not save it", "<p role=alert>Not saved <button>Close</button></p>"])
async def test_a_tick_that_is_taken_back_at_once_with_a_message_is_no_success(on: On, says: str) -> None:
    async with on(TAKEN_BACK.format(f"said.innerHTML = '{says}'")) as hand:
        outcome = await hand.act(Check(mark=1, checked=True))
        assert (outcome.status, outcome.effect, outcome.refusal) == ("partial", "changed", "taken_back")


@pytest.mark.parametrize("asks", ["said.innerHTML = '<button>Sure</button>'", "sure.hidden = false"])
async def test_a_tick_that_is_taken_back_to_ask_first_may_still_come(on: On, asks: str) -> None:
    async with on(TAKEN_BACK.format(asks) + "<div id=sure hidden>Sure? <button>Yes</button></div>") as hand:
        outcome = await hand.act(Check(mark=1, checked=True))
        assert (outcome.status, outcome.refusal) == ("done", None), outcome.sentence


SUGGESTS = """<div contenteditable id=e aria-label=Message style="min-height:40px"></div><ul id=u><li>Ann<li>Anna</ul>
<script>e.oninput = () => {}; e.onkeydown = (event) => { if (event.key === 'Enter') document.title = e.textContent }</script>"""


async def test_typing_goes_on_where_suggestions_beside_the_field_are_hidden(on: On) -> None:
    async with on(SUGGESTS.replace("{}", "{ u.hidden = true }")) as hand:
        outcome = await hand.act(Type(target=hand.number("Message"), text="Yo", submit=True))
        assert (outcome.status, await hand.page.title()) == ("done", "Yo"), outcome.sentence


async def test_typing_stops_where_the_words_beside_the_field_are_another_s(on: On) -> None:
    async with on(SUGGESTS.replace("{}", "{ u.textContent = 'Bob' }")) as hand:
        outcome = await hand.act(Type(target=hand.number("Message"), text="Yo", submit=True))
        assert (outcome.status, outcome.refusal, outcome.value) == ("partial", "changed", "Y"), outcome.sentence


MIXED = "<input type=checkbox id=all aria-label=All onchange='{}'><script>all.indeterminate = true</script>"


async def test_a_box_that_is_ticked_in_part_is_unticked_by_a_second_click(on: On) -> None:
    async with on(MIXED.format("document.title += this.checked")) as hand:
        outcome = await hand.act(Check(mark=1, checked=False))
        assert outcome.status == "done"
        assert outcome.sentence.startswith('Unticked mark 1 (checkbox "All"). It is no longer checked')
        assert await hand.page.title() == "truefalse"


async def test_a_box_that_can_only_be_ticked_is_not_said_to_be_ticked_again_by_the_page(on: On) -> None:
    async with on(MIXED.format("this.checked = true")) as hand:
        outcome = await hand.act(Check(mark=1, checked=False))
        assert (outcome.status, outcome.refusal) == ("partial", "taken_back")
        assert outcome.sentence.startswith('Clicked mark 1 (checkbox "All"), but it is not unticked')


@pytest.mark.parametrize(
    ("name", "checked", "words"), [("One", False, "tick another one"), ("Plain", True, "Click it")]
)
async def test_what_cannot_be_ticked_so_is_refused(on: On, name: str, checked: bool, words: str) -> None:
    async with on(TICKS) as hand:
        outcome = await hand.act(Check(mark=hand.number(name), checked=checked))
        assert outcome.refusal == "unsupported"
        assert words in outcome.sentence


VALUES = """<input type=month aria-label=Month><input type=date aria-label=Trip min=2026-02-01 max=2026-02-28><input type=range min=0 max=10 step=4 aria-label=Steps>
<input type=time aria-label=Slot step=900><input type=datetime-local aria-label=When><input type=date aria-label=Day><input type=time aria-label=Hour><input type=color aria-label=Ink>
<input type=range min=0 max=10 aria-label=Loud><input type=number aria-label=Count><input aria-label=Words onchange="document.title = this.value">
<div role=slider tabindex=0 aria-label=Bright aria-valuemin=0 aria-valuemax=20 aria-valuenow=5 style="width:90px;height:20px;background:#ddd"></div>
<div role=slider tabindex=0 aria-label=Stiff aria-valuenow=5 style="width:90px;height:20px;background:#ddd"></div><script>
const slider = document.querySelector('[role=slider]');
slider.onkeydown = (e) => { const by = {ArrowRight: 2, ArrowLeft: -2}[e.key] ?? 0; slider.ariaValueNow = String(Number(slider.ariaValueNow) + by); };
</script>"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Day", "2026-02-03"),
        ("Month", "2026-02"),
        ("Hour", "14:30"),
        ("Ink", "#ff8800"),
        ("Loud", "7"),
        ("Count", "42"),
        ("Bright", "13"),
    ],
)
async def test_a_value_is_set_and_read_back(on: On, name: str, value: str) -> None:
    async with on(VALUES) as hand:
        outcome = await hand.act(Set(mark=hand.number(name), value=value))
        assert (outcome.status, outcome.value) == ("done", value), outcome.sentence


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("Hour", "2:30 PM", "14:30"),
        ("Hour", "9:05", "09:05"),
        ("Hour", "12:00 a.m.", "00:00"),
        ("When", "2026-02-03 14:30", "2026-02-03T14:30"),
        ("Ink", "#F80", "#ff8800"),
    ],
)
@pytest.mark.parametrize("way", ["type", "set"])
async def test_a_value_that_has_one_meaning_only_is_put_into_the_form_of_the_field(
    on: On, way: str, name: str, text: str, value: str
) -> None:
    async with on(VALUES) as hand:
        number = hand.number(name)
        outcome = await hand.act(Type(target=number, text=text) if way == "type" else Set(mark=number, value=text))
        assert (outcome.status, outcome.value) == ("done", value), outcome.sentence
        assert "now holds" not in outcome.sentence


async def test_a_number_that_the_page_marks_as_invalid_is_told(on: On) -> None:
    async with on("<input type=number max=20 aria-label=Count>") as hand:
        outcome = await hand.act(Set(mark=hand.number("Count"), value="30"))
        assert "It is now invalid" in outcome.sentence


async def test_a_field_is_left_so_that_it_takes_the_value(on: On) -> None:
    async with on(VALUES) as hand:
        await hand.act(Set(mark=hand.number("Words"), value="done"))
        assert await hand.page.title() == "done"


@pytest.mark.parametrize(
    ("name", "value", "refusal", "words"),
    [
        ("Day", "3.2.2026", "unsupported", "it expects a value like 2026-02-03"),
        ("Loud", "11", "not_an_option", "goes from 0 to 10"),
        ("Bright", "8", "not_an_option", "past 8"),
        ("Bright", "21", "not_an_option", "goes from 0 to 20; 21 is out of range"),
        ("Trip", "2026-03-01", "not_an_option", "goes from 2026-02-01 to 2026-02-28"),
        ("Trip", "2026-02-30", "unsupported", "it expects a value like 2026-02-03"),
        ("Steps", "5", "not_an_option", "it would become 4"),
        ("Slot", "14:10", "not_an_option", "its step is 900"),
        ("Hour", "14:30 PM", "unsupported", "it expects a value like 14:30"),
        ("Month", "February 2026", "unsupported", "it expects a value like 2026-02"),
        ("Ink", "reddish", "unsupported", "it expects a value like #ff8800"),
        ("Stiff", "8", "not_an_option", "stays at 5"),
        ("Bright", "loud", "unsupported", "exposes no number"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_with_the_reason(
    on: On, name: str, value: str, refusal: str, words: str
) -> None:
    async with on(VALUES) as hand:
        outcome = await hand.act(Set(mark=hand.number(name), value=value))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence


FILES = """<input type=file id=f aria-label=Paper multiple><button onclick="hidden_file.click()">Attach</button>
<input type=file id=hidden_file style="display:none"><button>Nothing</button>"""


@pytest.fixture
def papers(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text(path.name)
    return paths


@pytest.mark.parametrize(("name", "field"), [("Paper", "f"), ("Attach", "hidden_file")])
async def test_a_file_of_the_task_is_given_to_a_field_or_to_what_asks_for_it(
    on: On, papers: list[Path], name: str, field: str
) -> None:
    async with on(FILES, files=papers) as hand:
        outcome = await hand.act(Upload(mark=hand.number(name), files=("a.txt",)))
        assert outcome.status == "done", outcome.sentence
        assert "a.txt (sha256 " in outcome.sentence
        assert await hand.js(f"{field}.files[0].text()") == "a.txt"


@pytest.mark.parametrize(
    ("name", "files", "refusal", "words"),
    [
        ("Paper", ("/etc/passwd",), "blocked", "the task's files are a.txt, b.txt"),
        ("Paper", ("../a.txt",), "blocked", "may not be uploaded"),
        ("Nothing", ("a.txt",), "unsupported", "opened no file chooser"),
        ("Attach", ("a.txt", "b.txt"), "unsupported", "one file at a time"),
    ],
)
async def test_nothing_but_the_task_s_files_is_uploaded_and_only_where_it_fits(
    on: On, papers: list[Path], name: str, files: tuple[str, ...], refusal: str, words: str
) -> None:
    # A click that opens no file chooser is waited for until the deadline.
    settings = SETTINGS.model_copy(update={"action_deadline_s": 3})
    async with on(FILES, files=papers, settings=settings) as hand:
        outcome = await hand.act(Upload(mark=hand.number(name), files=files))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("f.files.length + hidden_file.files.length") == 0


async def test_a_listener_on_the_window_hears_one_click(on: On) -> None:
    body = "<script>window.heard = 0; addEventListener('click', () => heard++, true)</script><input type=checkbox aria-label=A>"
    async with on(body) as hand:
        await hand.act(Check(mark=1, checked=True))
        assert await hand.js("heard") == 1
        await hand.act(Press(target=1, keys="Space"))


REVERTS = "setTimeout(() => this.checked = {}, 50)"


@pytest.mark.parametrize(
    ("body", "checked", "sentence"),
    [
        (
            f"<input type=checkbox aria-label=Terms onchange='{REVERTS.format('false')}'>",
            True,
            'Ticked mark 1 (checkbox "Terms"), and the page unticked it again. Nothing changed',
        ),
        (
            f"<input type=checkbox checked aria-label=Terms onchange='{REVERTS.format('true')}'>",
            False,
            'Unticked mark 1 (checkbox "Terms"), and the page ticked it again. Nothing changed',
        ),
        (
            "<div role=switch tabindex=0 aria-checked=false aria-label=Terms onclick='this.setAttribute(`aria-checked`, true);"
            "setTimeout(() => this.setAttribute(`aria-checked`, false), 50)'>x</div>",
            True,
            'Ticked mark 1 (switch "Terms"), and the page unticked it again. Nothing changed',
        ),
    ],
)
async def test_a_tick_that_the_page_takes_back_is_told(on: On, body: str, checked: bool, sentence: str) -> None:
    style = "<style>input{outline:0!important}div{width:99px;outline:0!important}</style>"
    async with on(style + body, settings=_LONGER_QUIET) as hand:
        outcome = await hand.act(Check(mark=1, checked=checked))
        assert (outcome.status, outcome.effect, outcome.refusal) == ("partial", "no_effect", "taken_back")
        assert outcome.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("body", "action", "words"),
    [
        (
            "<input aria-label=Name value=Ada onchange='' oninput='this.value == `Bob` && setTimeout(() => this.value = `Ada`, 50)'>",
            Type(target=1, text="Bob"),
            'Typed "Bob" into mark 1 (textbox "Name"). The field now holds "Ada".',
        ),
        (
            "<input type=range aria-label=Size value=10 oninput='setTimeout(() => this.value = 10, 50)'>",
            Set(mark=1, value="40"),
            'Set mark 1 (slider "Size") to "40". The field now holds "10".',
        ),
        (
            "<select aria-label=Size onchange='setTimeout(() => this.selectedIndex = 0, 50)'><option>Small<option>Large</select>",
            Select(target=1, options=("Large",)),
            'Selected "Large" in mark 1 (combobox "Size"). The field now holds "Small".',
        ),
    ],
)
async def test_a_value_that_the_page_takes_back_is_read_when_it_has_done_so(
    on: On, body: str, action: Any, words: str
) -> None:
    async with on(body, settings=_LONGER_QUIET) as hand:
        outcome = await hand.act(action)
        assert (outcome.status, outcome.refusal) == ("partial", "taken_back")
        assert outcome.sentence.startswith(words), outcome.sentence


LIST = (
    "<select aria-label=Size onchange='{}'><option>Small<option>Large<option>XL</select><p id=out style='height: 20px'>"
)


@pytest.mark.parametrize(
    ("body", "action", "holds", "is_kept"),
    [
        (LIST.format("this.selectedIndex = 0"), Select(target=1, options=("Large",)), "Small", False),
        (LIST.format("this.selectedIndex = 2"), Select(target=1, options=("Large",)), "XL", True),
        (LIST.format("this.selectedIndex = 0; out.append(`More`)"), Select(target=1, options=("XL",)), "Small", True),
        ("<input aria-label=Name value=Ada oninput='this.value = `Ada`'>", Type(target=1, text="Bob"), "Ada", False),
        ("<input aria-label=Name oninput='this.value = ``'>", Type(target=1, text="Bob"), "", False),
        ("<input aria-label=Day type=date onchange='this.value = ``'>", Set(mark=1, value="2026-12-01"), "", False),
        ("<input aria-label=Tel onblur='this.value = `(012) 34`'>", Set(mark=1, value="01234"), "(012) 34", True),
        (
            "<input aria-label=Tel value='(012) 34' onblur='this.value = `(012) 34`'>",
            Set(mark=1, value="01234"),
            "(012) 34",
            True,
        ),
    ],
)
async def test_what_the_page_puts_back_is_not_done_and_another_form_of_it_is(
    on: On, body: str, action: Any, holds: str, is_kept: bool
) -> None:
    async with on(body) as hand:
        outcome = await hand.act(action)
        kept = ("done", None) if is_kept else ("partial", "taken_back")
        assert (outcome.status, outcome.refusal) == kept, outcome.sentence
        assert f'The field now holds "{holds}"' in outcome.sentence


AMOUNT = "<input type=number step=any aria-label=Amount value=3><input aria-label=Free value=3 oninput='this.value = this.value.replace(`,`, ``)'>"


@pytest.mark.parametrize(
    ("text", "says"),
    [("12,50", 'Write "12.50".'), ("1,000", 'Write "1000" or "1.000".'), ("abc", 'Write it like "12.50".')],
)
@pytest.mark.parametrize("way", ["type", "set"])
async def test_a_number_field_gets_no_text_of_which_it_would_drop_signs(on: On, way: str, text: str, says: str) -> None:
    async with on(AMOUNT) as hand:
        number = hand.number("Amount")
        outcome = await hand.act(Type(target=number, text=text) if way == "type" else Set(mark=number, value=text))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert f'takes a number and may misread "{text}", so nothing was typed. {says}' in outcome.sentence
        assert await hand.js("document.querySelector('input').value") == "3"


async def test_a_number_is_typed_into_its_field_in_any_form_that_it_takes(on: On) -> None:
    async with on(AMOUNT) as hand:
        for text in ("12.50", "-4", "1 000", "1e3"):
            outcome = await hand.act(Type(target=hand.number("Amount"), text=text))
            assert outcome.status == "done", outcome.sentence


@pytest.mark.parametrize("way", ["type", "set"])
async def test_a_field_that_holds_another_number_than_was_typed_is_partial(on: On, way: str) -> None:
    async with on(AMOUNT) as hand:
        number = hand.number("Free")
        outcome = await hand.act(
            Type(target=number, text="12,50") if way == "type" else Set(mark=number, value="12,50")
        )
        assert (outcome.status, outcome.refusal) == ("partial", "taken_back")
        assert '"12,50"' in outcome.sentence
        assert 'The field now holds "1250"' in outcome.sentence


HANDLES = """<style>.h { display: block; width: 20px; height: 20px; background: #bbb }</style>""" + "".join(
    f"<span class=h tabindex=0 onfocus='this.className = `h focus`' onblur='this.className = `h`' "
    f"onkeydown='this.nextElementSibling.textContent++'></span><div>{value}</div>"
    for value in (5, 9, 18)
)


async def test_a_handle_that_the_focus_makes_look_different_is_still_one_of_its_like(on: On) -> None:
    async with on(HANDLES) as hand:
        seen = await hand.look()
        handles = sorted((mark for mark in seen.marks if mark.tag == "span"), key=lambda mark: mark.box.y)
        outcome = await hand.act(Press(keys="ArrowRight", target=handles[1].number, count=2))

        assert outcome.status == "done", outcome.sentence
        assert await hand.js("Array.from(document.querySelectorAll('div'), (each) => +each.textContent)") == [5, 11, 18]


ROWS = """<main id=m></main><p id=log></p><script>
let names = ['Ann', 'Bob'], values = [3, 5];
m.innerHTML = names.map(() => `<div><b></b> <FIELD></div>`).join('');
const rows = [...m.children], fields = rows.map((each) => each.lastElementChild);
const draw = () => rows.forEach((row, i) => { row.firstChild.textContent = names[i]; fields[i].ariaValueNow = values[i]; });
const swap = () => { names.reverse(); values.reverse(); draw(); };
draw();
const hear = (i, what) => { log.textContent += `${names[i]} ${what}, `; };
fields.forEach((field, i) => {
    field.onkeydown = (e) => hear(i, e.key);
    field.onchange = (e) => hear(i, `is ${field.value}`);
});
</script>"""
SLIDER = "span role=slider tabindex=0 aria-label=Rank style='display:inline-block;width:99px;height:20px;background:#ccc'></span"


async def test_enter_is_not_pressed_in_a_field_whose_row_is_another_s_since_the_text_was_typed(on: On) -> None:
    change = "<script>fields[0].oninput = () => { if (fields[0].value === 'hi') swap(); }</script>"
    async with on(ROWS.replace("FIELD", "input aria-label=Note") + change) as hand:
        outcome = await hand.act(Type(target=hand.seen.marks[0].number, text="hi", submit=True))
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert 'changed from "Ann" to "Bob"' in outcome.sentence
        assert outcome.sentence.endswith('its value is "hi".')
        assert "Enter" not in await hand.js("log.textContent")


async def test_a_slider_gets_no_more_keys_when_its_row_becomes_another_s(on: On) -> None:
    change = """<script>fields[0].addEventListener('keydown', (e) => {
        values[0]++; draw(); if (values[0] === 4) setTimeout(swap); })</script>"""
    async with on(ROWS.replace("FIELD", SLIDER) + change) as hand:
        outcome = await hand.act(Set(mark=hand.seen.marks[0].number, value="8"))
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert 'changed from "Ann" to "Bob"' in outcome.sentence
        # A key more may come before the page swaps the rows; none may come after.
        assert set((await hand.js("log.textContent")).removesuffix(", ").split(", ")) == {"Ann ArrowUp"}


async def test_a_slider_may_show_its_number_beside_it(on: On) -> None:
    change = """<script>
    const show = () => rows.forEach((row, i) => { row.firstChild.textContent = `${names[i]}: ${values[i]} kg`; });
    fields.forEach((field, i) => field.addEventListener('keydown', (e) => {
        values[i] += e.key === 'ArrowUp' ? 1 : -1; draw(); show(); }));
    show();</script>"""
    async with on(ROWS.replace("FIELD", SLIDER) + change) as hand:
        outcome = await hand.act(Set(mark=hand.seen.marks[0].number, value="6"))
        assert (outcome.status, outcome.value) == ("done", "6"), outcome.sentence


@pytest.mark.parametrize(
    ("kind", "value"), [("date", "2026-03-04"), ("time", "14:30"), ("color", "#ff0000"), ("range", "70")]
)
async def test_no_value_is_put_into_a_field_whose_row_becomes_another_s_as_it_takes_the_focus(
    on: On, kind: str, value: str
) -> None:
    change = "<script>fields[0].onfocus = swap</script>"
    async with on(ROWS.replace("FIELD", f"input type={kind} aria-label=When") + change) as hand:
        outcome = await hand.act(Set(mark=hand.seen.marks[0].number, value=value))
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert "got the focus; the rest was not done: The words beside" in outcome.sentence
        assert await hand.js("log.textContent") == ""


async def test_a_field_that_says_more_when_it_has_the_focus_takes_its_value(on: On) -> None:
    async with on("<input type=date aria-label=Day onfocus='this.ariaLabel = `Day, as on your card`'>") as hand:
        outcome = await hand.act(Set(mark=hand.number("Day"), value="2026-03-04"))
        assert (outcome.status, outcome.value) == ("done", "2026-03-04"), outcome.sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [("swap()", 'changed from "Ann" to "Bob"'), ("fields[1].focus()", "lost the focus, so no key was sent")],
)
async def test_keys_without_a_target_go_only_to_what_was_seen_to_have_the_focus(
    on: On, change: str, words: str
) -> None:
    async with on(ROWS.replace("FIELD", "input aria-label=Note") + "<script>fields[0].focus()</script>") as hand:
        await hand.js(change)
        outcome = await hand.act(Press(keys="Enter"))
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert words in outcome.sentence
        assert await hand.js("log.textContent") == ""


EDITOR = """<style>.box{position:relative;width:300px;height:60px;font:14px/18px monospace;white-space:pre} .box textarea{position:absolute;left:0;top:18px;width:1px;height:18px;padding:0;border:0;opacity:0}</style>
<div class=box id=box style="border:1px solid"><textarea aria-label=Shell %s></textarea><div class=lines %s><div style="height:18px">Welcome</div><div style="height:18px">$ </div></div></div><input aria-label=Other value=kept>
<script>keys = []; const field = box.querySelector('textarea'); box.onmousedown = (event) => { event.preventDefault(); field.focus() };
field.onkeydown = (event) => { event.preventDefault(); keys.push(event.key); if (event.key.length === 1) document.querySelector('.lines').lastChild.textContent += event.key }</script>"""


async def test_a_terminal_gets_the_keys_of_the_text_and_the_outcome_says_that_nothing_was_replaced(on: On) -> None:
    async with on(EDITOR % ("aria-multiline=false", "aria-hidden=true")) as hand:
        typed = await hand.act(Type(target=hand.number("Shell"), text="ls"))
        assert 'at the caret; what was there stays. Line 2 of 2, where the caret is, is "$ ls"' in typed.sentence
        await hand.act(Type(target=hand.number("Shell"), text=" -a", clear=False, submit=True))

        assert await hand.js("keys") == [*"ls -a", "Enter"]
        assert (await hand.look()).mark(hand.number("Other")).state.value == "kept"  # type: ignore[union-attr]


CARET = """<style>.off{display:none} #field{opacity:0;width:1px;height:1px}</style>
<div style="width:300px"><div id=shell style="height:60px;font:14px monospace">Welcome<br>$ <span id=line></span> <span id=caret>&block;</span></div><input id=field></div>
<script>shell.onclick = () => field.focus(); field.onkeydown = (event) => { if (event.key.length === 1) line.textContent += event.key }</script>"""


@pytest.mark.parametrize("change", ["caret.className = 'off'", "caret.textContent = '\u258f'"])
async def test_a_terminal_whose_drawn_caret_blinks_is_the_same_terminal(on: On, change: str) -> None:
    async with on(CARET) as hand:
        [number] = [mark.number for mark in (await hand.look()).marks if mark.name.startswith("Welcome")]
        await hand.js(change)
        outcome = await hand.act(Type(target=number, text="ls", clear=False))

        assert outcome.status == "done", outcome.sentence
        assert await hand.js("line.textContent") == "ls"
        assert (await hand.look()).marks[0].context == ""


@pytest.mark.parametrize("change", ["line.textContent = 'rm -r'", "caret.textContent = '\u2588 x'"])
async def test_a_terminal_whose_text_changed_is_not_typed_into(on: On, change: str) -> None:
    async with on(CARET) as hand:
        [number] = [mark.number for mark in (await hand.look()).marks if mark.name.startswith("Welcome")]
        await hand.js(change)
        outcome = await hand.act(Type(target=number, text="ls", clear=False))

        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence


async def test_an_editor_that_does_not_select_its_text_is_not_typed_into(on: On) -> None:
    async with on(EDITOR % ("aria-multiline=true", "")) as hand:
        outcome = await hand.act(Type(target=hand.number("Shell"), text="new"))

        assert (outcome.status, outcome.refusal) == ("partial", "unsupported"), outcome.sentence
        assert "did not select its text when it was told to; nothing was typed" in outcome.sentence
        assert "n" not in await hand.js("keys")


async def test_an_editor_whose_field_does_not_take_the_focus_is_not_typed_into(on: On) -> None:
    async with on(EDITOR % ("", "") + "<script>box.onmousedown = (event) => event.preventDefault()</script>") as hand:
        outcome = await hand.act(Type(target=hand.number("Shell"), text="new"))

        assert "did not take the focus when it was clicked; nothing was typed" in outcome.sentence
        assert await hand.js("keys") == []


async def test_an_editor_whose_box_has_become_anothers_is_not_typed_into(on: On) -> None:
    async with on(EDITOR % ("aria-multiline=false", "")) as hand:
        number = hand.number("Shell")
        await hand.js("field.setAttribute('aria-label', 'Delete shell')")
        outcome = await hand.act(Type(target=number, text="ls"))

        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("keys") == []


async def test_a_field_that_does_not_show_is_filled_without_a_key_that_selects(on: On) -> None:
    body = """<label style="display:block;width:200px;height:40px;border:1px solid">Code <input id=code value=999 style="position:absolute;left:-99px;width:1px;padding:0;border:0"></label>
    <script>keys = []; code.onkeydown = (event) => keys.push(event.key)</script>"""
    async with on(body) as hand:
        replaced = await hand.act(Type(target=hand.number("Code"), text="12"))
        assert replaced.value == "12", replaced.sentence
        await hand.act(Type(target=hand.number("Code"), text="3", clear=False))

        assert await hand.js("[code.value, ...keys]") == ["123", "1", "2", "3"]


async def test_where_no_text_field_has_the_focus_only_the_text_is_sent(on: On) -> None:
    body = """<canvas id=sheet tabindex=0 width=300 height=200 style="background:#eee"></canvas><script>keys = []; sheet.onkeydown = (event) => keys.push(event.key)</script>"""
    async with on(body) as hand:
        typed = await hand.act(Type(target=hand.seen.marked.map.to_picture(hand.seen.marks[0].point), text="ab"))
        assert "no text field has the focus, so nothing was selected first" in typed.sentence
        await hand.act(Type(target=hand.seen.marked.map.to_picture(hand.seen.marks[0].point), text="c", clear=False))

        assert await hand.js("keys") == ["a", "b", "c"]


async def test_the_line_of_the_caret_is_that_of_the_focused_field_only(on: On) -> None:
    async with on(FIELDS) as hand:
        notes = hand.seen.mark(hand.number("Notes"))
        assert notes is not None
        assert notes.state.caret_line is None
        await hand.act(Type(target=notes.number, text="!", clear=False))
        now = (await hand.look()).mark(hand.number("Notes"))
        assert now is not None
        assert (now.state.value, now.state.caret_line) == ("one\ntwo!", 2)


async def test_nothing_is_chosen_or_typed_in_a_terminal_that_is_taken_for_a_list(on: On) -> None:
    async with on(EDITOR % ("aria-multiline=false", "")) as hand:
        refused = await hand.act(Select(target=hand.number("Shell"), options=("Welcome",)))

        assert refused.refusal is not None, refused.sentence
        assert await hand.js("keys") == []


HANDED_OVER = """<input type=file aria-label=One onchange="sync()"><input type=file aria-label=Folder webkitdirectory>
<button onclick="many.click()">Pick folder</button><input type=file id=many webkitdirectory style="display:none">
<script>window.got = [];
const sync = () => { const request = new XMLHttpRequest(); request.open('POST', '/taken', false); request.send(''); };
for (const each of document.querySelectorAll('input')) each.addEventListener('change', () => got.push(each.files.length));
</script>"""


@pytest.mark.parametrize(
    ("then", "words"),
    [("gone", "…; the file is gone since)"), ("changed", "…; the file has changed since)"), ("kept", "…)")],
)
async def test_what_was_given_is_told_by_what_the_file_held_then(
    on: On, papers: list[Path], then: str, words: str
) -> None:
    paper = papers[0]

    async def take(route: Route) -> None:
        if then == "gone":
            paper.unlink()
        elif then == "changed":
            paper.write_text("another")
        await route.fulfill(body="")

    async with on(HANDED_OVER, files=papers) as hand:
        await hand.page.route("**/taken", take)
        outcome = await hand.act(Upload(mark=hand.number("One"), files=("a.txt",)))
        assert outcome.status == "done", outcome.sentence
        digest = hashlib.sha256(b"a.txt").hexdigest()[:12]
        assert f"a.txt (sha256 {digest}{words}" in outcome.sentence
        assert await hand.js("got") == [1]


@pytest.mark.parametrize(
    ("name", "files", "words"),
    [
        ("One", ("a.txt", "b.txt"), "takes one file at a time; nothing was uploaded"),
        ("Folder", ("a.txt",), "takes a whole folder, which cannot be uploaded; nothing was"),
        ("Pick folder", ("a.txt",), "takes a whole folder, which cannot be uploaded; nothing was"),
    ],
)
async def test_a_field_that_takes_other_files_gets_none(
    on: On, papers: list[Path], name: str, files: tuple[str, ...], words: str
) -> None:
    async with on(HANDED_OVER, files=papers) as hand:
        outcome = await hand.act(Upload(mark=hand.number(name), files=files))
        assert outcome.refusal == "unsupported", outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("got") == []


@pytest.mark.parametrize("value", ["03.5", "3.50", "3.5"])
async def test_a_number_with_zeros_that_say_nothing_is_set(on: On, value: str) -> None:
    body = "<input type=range aria-label=Volume min=0 max=10 step=0.5 id=r onchange='document.title = value'>"
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Volume"), value=value))
        assert (outcome.status, outcome.value) == ("done", "3.5"), outcome.sentence
        assert await hand.page.title() == "3.5"
