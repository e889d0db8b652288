"""Claims about several actions decided on one look: the later ones stop when the page is not what it was."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Action, Check, Click, Press, Set, Type
from vision_agent.settings import ObserveSettings

FORM = """<form style="display:grid;gap:20px;width:300px"><input aria-label=Name id=a><input aria-label=Mail id=b>
<label><input type=checkbox id=c>News</label><button type=button onclick="document.title += 'sent'">Send</button></form>"""


async def test_a_form_is_filled_and_sent_in_one_go(on: On) -> None:
    async with on(FORM) as hand:
        batch: list[Action] = [
            Type(target=hand.number("Name"), text="Ann"),
            Type(target=hand.number("Mail"), text="a@b.c"),
            Check(mark=hand.number("News"), checked=True),
            Click(target=hand.number("Send")),
        ]
        outcomes = [await hand.act(action) for action in batch]
        assert [outcome.status for outcome in outcomes] == ["done"] * 4, outcomes
        assert await hand.js("[a.value, b.value, c.checked]") == ["Ann", "a@b.c", True]
        assert await hand.page.title() == "sent"


@pytest.mark.thorough
async def test_a_long_form_is_filled_though_it_scrolls(on: On) -> None:
    fields = "".join(f"<p style='margin:20px 0'><input aria-label='Field {n}'></p>" for n in range(12))
    async with on(fields) as hand:
        for n in range(12):
            outcome = await hand.act(Type(target=hand.number(f"Field {n}"), text=str(n)))
            assert outcome.status == "done", outcome.sentence


SUGGESTS = """const u = document.body.appendChild(document.createElement('ul')); u.role = 'listbox'; u.style.cssText = 'position:absolute;left:600px;top:20px';
u.innerHTML = '<li role=option tabindex=0>Anna'"""
NOTICE = "b.insertAdjacentHTML('afterend', '<button type=button>Import contacts</button>')"
PUSHES = "b.parentNode.style.paddingTop = '60px'"
TAKES = "setTimeout(() => b.focus(), 10)"


async def test_an_action_that_ends_early_leaves_the_rest_of_the_quiet_to_the_next_one(on: On) -> None:
    opens = "document.body.insertAdjacentHTML('beforeend', '<dialog open aria-label=Sure>Sure? <button>Yes</button></dialog>')"
    body = f"""<button onclick="this.textContent = 'Adding'; setTimeout(() => {{ {opens.replace('"', "&quot;")} }}, 800)">Add</button>
    <button onclick="document.title += 'sent'">Send</button>"""
    async with on(body, settings=ObserveSettings(quiet_s=1.0)) as hand:
        send = Click(target=hand.number("Send"))
        assert 'now called "Adding"' in (await hand.act(Click(target=hand.number("Add")))).sentence
        outcome = await hand.act(send)
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert "dialog" in outcome.sentence
        assert await hand.page.title() == ""


@pytest.mark.parametrize(
    ("then", "refusal", "words"),
    [
        (SUGGESTS, "changed", 'Suggestions have appeared (option "Anna")'),
        (NOTICE, "changed", '"Import contacts" has appeared beside mark'),
        (PUSHES, "moved", "has moved since this was decided"),
        ("b.remove()", "gone", "no longer on the page"),
        ("b.ariaLabel = 'Password'", "changed", 'has become textbox "Password"'),
    ],
)
async def test_the_next_action_stops_when_the_page_has_changed_around_it(
    on: On, then: str, refusal: str, words: str
) -> None:
    async with on(FORM + f"<script>a.oninput = () => {{ a.oninput = null; {then}; }}</script>") as hand:
        assert (await hand.act(Type(target=hand.number("Name"), text="An"))).status == "done"
        outcome = await hand.act(Type(target=hand.number("Mail"), text="x"))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("globalThis.b?.value ?? ''") == ""
        await hand.look()  # and goes on with a new look
        assert (await hand.act(Click(target=hand.number("Send")))).status == "done"


OPENED = {
    "a dialog": "<div role=dialog aria-label='Your session' style='{far}'>Stay?</div>",
    "a dialog of the browser": "<dialog open style='{far}'><h2>Your session</h2></dialog>",
    "a modal dialog": "<dialog id=d><h2>Your session</h2></dialog><img src=x onerror='d.showModal()'>",
    "an alert": "<p role=alert style='{far}'>Your session is over</p>",
    "an alert dialog in a shadow root": '<span id=host></span><img src=x onerror=\'host.attachShadow({{mode: `open`}}).innerHTML = `<div role=alertdialog aria-label="Your session" style="{far}">x</div>`\'>',
    "a popover": "<div id=p popover=manual style='{far}'>Your session</div><img src=x onerror='p.showPopover()'>",
    "a layer over targets": "<div style='position:fixed;left:390px;top:290px;width:300px;height:100px;background:#fff'>Your session</div>",
}
BESIDE = {
    "a status": "<p role=status style='{far}'>Saved</p>",
    "a status over a far target": "<p role=status style='position:fixed;left:390px;top:290px;width:300px;height:90px;background:#fff'>Saved</p>",
    "a tooltip": "<p role=tooltip popover=manual id=t style='{far}'>Hint</p><img src=x onerror='t.showPopover()'>",
    "text": "<p style='{far}'>Saved</p>",
}
FAR = "position:fixed;left:600px;top:500px;width:150px;height:60px"
ASIDE = "<button style='position:fixed;left:400px;top:300px'>Aside</button><p role=alert id=al>Only 9 left</p><div role=dialog id=di aria-label=Chat style='position:fixed;left:700px;top:50px;width:80px;height:60px'>Hi</div>"


def _puts(markup: str) -> str:
    """A form that puts something on the page when its first field is typed into."""
    put = "document.body.insertAdjacentHTML('beforeend', document.getElementById('tpl').innerHTML); a.oninput = null"
    return f"{FORM}{ASIDE}<template id=tpl>{markup.format(far=FAR)}</template><script>a.oninput = () => {{ {put}; }}</script>"


@pytest.mark.parametrize("what", OPENED)
@pytest.mark.parametrize("by", ["mark", "key"])
async def test_the_next_action_stops_when_something_opened_anywhere(on: On, what: str, by: str) -> None:
    async with on(_puts(OPENED[what])) as hand:
        assert (await hand.act(Type(target=hand.number("Name"), text="A"))).status == "done"
        after: Action = Type(target=hand.number("Mail"), text="x") if by == "mark" else Press(keys="Enter")
        outcome = await hand.act(after)
        assert outcome.refusal in ("changed", "covered"), outcome.sentence
        assert "Your session" in outcome.sentence
        assert await hand.js("b.value") == ""


@pytest.mark.parametrize("what", BESIDE)
async def test_what_only_says_something_elsewhere_stops_nothing(on: On, what: str) -> None:
    async with on(_puts(BESIDE[what])) as hand:
        for name in ("Name", "Mail"):
            outcome = await hand.act(Type(target=hand.number(name), text="x"))
            assert outcome.status == "done", outcome.sentence


@pytest.mark.parametrize(
    "then",
    [
        "al.textContent = 'Only 8 left'",
        "al.remove()",
        "di.remove()",
        "di.replaceWith(di.cloneNode(true))",
        "di.textContent = 'Hello again'",
        "b.focus()",
        "setTimeout(() => b.focus(), 10)",
        "a.blur()",
    ],
)
async def test_what_was_there_may_count_down_close_or_be_drawn_anew(on: On, then: str) -> None:
    async with on(f"{FORM}{ASIDE}<script>a.oninput = () => {{ {then}; }}</script>") as hand:
        for name in ("Name", "Mail"):
            outcome = await hand.act(Type(target=hand.number(name), text="x"))
            assert outcome.status == "done", outcome.sentence


async def test_an_alert_that_was_empty_and_speaks_now_stops_the_next_action(on: On) -> None:
    speaks = "<p role=alert id=al></p><script>a.oninput = () => { al.textContent = 'Name is taken'; }</script>"
    async with on(FORM + speaks) as hand:
        await hand.act(Type(target=hand.number("Name"), text="x"))
        outcome = await hand.act(Click(target=hand.number("Send")))
        assert outcome.sentence == "The page alerts: Name is taken. Look before going on."


async def test_the_next_action_stops_when_the_focus_was_taken_to_something_else(on: On) -> None:
    async with on(FORM + f"<script>a.oninput = () => {{ {TAKES} }}</script>") as hand:
        await hand.act(Type(target=hand.number("Name"), text="A"))
        outcome = await hand.act(Click(target=hand.number("Send")))
        assert outcome.refusal == "changed", outcome.sentence
        assert 'The focus has moved to <input> "Mail"' in outcome.sentence


async def test_a_focus_that_the_act_itself_moves_stops_nothing(on: On) -> None:
    body = f"{FORM}<label style='position:fixed;left:400px;top:200px'>Colour <input id=k></label>"
    async with on(body) as hand:
        for action in (
            Set(mark=hand.number("Name"), value="Ann"),  # leaves the field by Tab
            Check(mark=hand.number("News"), checked=True),
            Click(target=hand.number("Colour")),
            Click(target=hand.number("Send")),
        ):
            outcome = await hand.act(action)
            assert outcome.status == "done", outcome.sentence


async def test_keys_without_a_target_stop_when_the_focus_was_taken(on: On) -> None:
    async with on(FORM + f"<script>a.onchange = a.oninput = () => {{ {TAKES} }}</script>") as hand:
        await hand.act(Type(target=hand.number("Name"), text="A"))
        outcome = await hand.act(Press(keys="Enter"))
        assert outcome.refusal == "changed", outcome.sentence
        assert "lost the focus, so no key was sent" in outcome.sentence


async def test_a_click_whose_only_trace_is_a_request_is_no_empty_one(on: On) -> None:
    async with on("<button onclick='fetch(`/save`)' style='outline:0'>Save</button>", {"/save": "ok"}) as hand:
        await hand.act(Click(target=1))
        await hand.look()
        outcome = await hand.act(Click(target=1))
        assert (outcome.effect, outcome.requests) == ("changed", 1)
        assert "Nothing visible changed, but 1 request was sent" in outcome.sentence


async def test_where_the_focus_went_is_told(on: On) -> None:
    async with on("<button onclick='setTimeout(() => f.focus())'>Search</button><input id=f aria-label=Words>") as hand:
        outcome = await hand.act(Click(target=1))
        assert 'the focus is on <input> "Words"' in outcome.sentence.replace("The", "the")
