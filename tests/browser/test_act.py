"""Claims about acting: every action on a real page, what is refused and why, and what is said to have come of it."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import SecretStr

from tests.browser.hand import Hand, On
from vision_agent import actions
from vision_agent.actions import Action, Click, Drag, Hover, Point, Press, Scroll, Select, Type, Wait
from vision_agent.browser.gate import Gate, policy_for
from vision_agent.types import Secret

COUNT = """<button id=b style="width:120px;height:40px">Press</button><p id=log></p><script>
for (const kind of ['click', 'dblclick', 'contextmenu', 'auxclick']) b.addEventListener(kind, (e) => {
    e.preventDefault();
    log.textContent += ` ${kind}${e.button}${e.ctrlKey ? 'C' : ''}${e.shiftKey ? 'S' : ''}${e.isTrusted ? '' : '!'}`;
});</script>"""


# --- pointer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mark", "point"])
@pytest.mark.parametrize(
    ("more", "heard", "said"),
    [
        ({}, "click0", "Clicked"),
        ({"count": 2}, "click0 click0 dblclick0", "Double-clicked"),
        ({"button": "right"}, "contextmenu2 auxclick2", "Right-clicked"),
        ({"button": "middle"}, "auxclick1", "Middle-clicked"),
        ({"modifiers": ("Control", "Shift")}, "click0CS", "Clicked"),
    ],
)
async def test_a_click_arrives_as_it_was_meant(on: On, by: str, more: dict[str, Any], heard: str, said: str) -> None:
    async with on(COUNT) as hand:
        target = hand.number("Press") if by == "mark" else hand.point("Press")
        outcome = await hand.act(Click(target=target, **more))
        # Chromium tells of a right click when the button goes down, others when it comes up.
        assert sorted((await hand.js("log.textContent")).split()) == sorted(heard.split())
        assert (outcome.status, outcome.effect) == ("done", "changed")
        assert outcome.sentence.startswith(said)
        assert outcome.rung == (1 if by == "mark" else 4)
        assert outcome.pixels_near is not None
        assert outcome.pixels_near > 0


async def test_hover_opens_what_opens_under_the_pointer(on: On) -> None:
    async with on(
        "<style>#m{display:none}#h:hover+#m{display:block}</style><button id=h>Menu</button><button id=m>Item</button>"
    ) as hand:
        outcome = await hand.act(Hover(target=hand.number("Menu")))
        assert outcome.effect == "changed"
        opened = await hand.look()
        assert [mark.name for mark in opened.marks] == ["Menu", "Item"]
        assert [(mark.state.popup, mark.change) for mark in opened.marks] == [("hover", ""), (None, "new")]


DRAG = """<style>div{width:60px;height:60px;background:#ccf;position:absolute}</style>
<div id=a draggable=true aria-label=Source style="left:20px;top:20px"></div><div id=z tabindex=0 aria-label=Goal style="left:300px;top:200px"></div><p id=log></p>
<script>a.ondragstart = (e) => e.dataTransfer.setData('text', 'x'); z.ondragover = (e) => e.preventDefault();
z.ondrop = (e) => { e.preventDefault(); log.textContent = 'dropped ' + e.dataTransfer.getData('text'); };</script>"""

SLIDE = """<canvas id=c width=400 height=200 style="background:#eee" aria-label=Board></canvas><p id=log></p><script>
let path = []; c.onpointerdown = () => { path = [1]; }; c.onpointermove = () => path.push(1);
c.onpointerup = (e) => { log.textContent = `${path.length > 8} ${e.offsetX},${e.offsetY}`; };</script>"""


async def test_drag_takes_a_mark_to_another(on: On) -> None:
    async with on(DRAG) as hand:
        outcome = await hand.act(Drag(source=hand.number("Source"), target=hand.number("Goal")))
        assert await hand.js("log.textContent") == "dropped x"
        assert outcome.effect == "changed"


async def test_drag_goes_from_point_to_point_along_a_path(on: On) -> None:
    async with on(SLIDE) as hand:
        await hand.act(Drag(source=Point(x=50, y=50), target=Point(x=308, y=108)))
        assert await hand.js("log.textContent") == "true 300,100"


# --- fields -----------------------------------------------------------------------------------------------------------

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
        assert outcome.value == "ABC"
        assert 'The field now holds "ABC"' in outcome.sentence


async def test_nothing_is_typed_when_the_click_gives_the_focus_to_something_else(on: On) -> None:
    async with on("<input id=a aria-label=Find onclick='b.focus()'><input id=b aria-label=Other>") as hand:
        outcome = await hand.act(Type(target=hand.number("Find"), text="secret"))
        assert outcome.refusal == "changed"
        assert await hand.js("a.value + b.value") == ""


LISTS = """<select id=s aria-label=Size><option>Small<option>Large<option value=x>Extra  large</select>
<select id=m multiple aria-label=Toppings><option>Ham<option>Corn<option>Figs</select><div role=combobox tabindex=0 aria-label=Own>x</div>"""


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("Size", ("Large",), "Large"),
        ("Size", ("extra large",), "Extra large"),
        ("Toppings", ("Ham", "Figs"), "Ham, Figs"),
    ],
)
async def test_options_are_chosen_by_the_text_they_show(
    on: On, name: str, options: tuple[str, ...], value: str
) -> None:
    async with on(LISTS) as hand:
        outcome = await hand.act(Select(target=hand.number(name), options=options))
        assert (outcome.value, outcome.effect) == (value, "changed")


async def test_an_option_far_down_a_long_list_can_be_chosen(on: On) -> None:
    many = "".join(f"<option>Land {n}" for n in range(250))
    async with on(f"<select aria-label=Country>{many}</select>") as hand:
        assert (await hand.act(Select(target=hand.number("Country"), options=("Land 240",)))).value == "Land 240"


async def test_a_checkbox_says_how_it_stands_afterwards(on: On) -> None:
    async with on("<label><input type=checkbox>News</label>") as hand:
        outcome = await hand.act(Click(target=hand.number("News")))
        assert "It is now checked" in outcome.sentence
        assert (await hand.look()).listing == "1[:]<input type=checkbox checked focused hovered *changed>News"


# --- keys and scrolling -----------------------------------------------------------------------------------------------


async def test_keys_go_to_the_target_or_to_where_the_focus_is(on: On) -> None:
    async with on(
        "<input id=a aria-label=A value=abc><p id=log></p><script>addEventListener('keydown', (e) => { log.textContent += e.key + ' '; })</script>"
    ) as hand:
        await hand.act(Press(keys="Control+a", target=hand.number("A")))
        await hand.act(Press(keys="Backspace"))
        await hand.act(Press(keys="ArrowDown", count=3))
        assert await hand.js("a.value") == ""
        assert (await hand.js("log.textContent")).split() == ["Control", "a", "Backspace", *["ArrowDown"] * 3]


SCROLLS = """<style>#box{width:200px;height:100px;overflow:auto}#wide{width:200px;height:60px;overflow-x:auto}</style>
<div id=box aria-label=List tabindex=0><div style="height:1000px"><button>In list</button></div></div>
<div id=wide aria-label=Row tabindex=0><div style="width:900px;height:40px"></div></div><div style="height:3000px"></div>"""


@pytest.mark.parametrize(
    ("action", "moved", "by"),
    [
        ({}, "scrollY", 640),
        ({"pages": 0.5}, "scrollY", 400),
        ({"target": "List"}, "box.scrollTop", 80),
        ({"target": "In list", "pages": 1}, "box.scrollTop", 100),
        ({"target": "Row", "direction": "right"}, "wide.scrollLeft", 160),
    ],
)
async def test_a_page_or_a_container_scrolls_by_shares_of_its_view(
    on: On, action: dict[str, Any], moved: str, by: int
) -> None:
    async with on(SCROLLS) as hand:
        if "target" in action:
            action = {**action, "target": hand.number(action["target"])}
        outcome = await hand.act(Scroll(**action))
        assert await hand.js(moved) == by
        assert (outcome.effect, outcome.status) == ("changed", "done")
        assert f"by {by} px" in outcome.sentence


async def test_at_its_end_nothing_scrolls_and_it_is_said(on: On) -> None:
    async with on(SCROLLS) as hand:
        outcome = await hand.act(Scroll(direction="up"))
        assert outcome.effect == "no_effect"
        assert "the page did not scroll up: it is at its end" in outcome.sentence


async def test_what_holds_a_mark_in_a_frame_scrolls_in_its_frame(on: On) -> None:
    body = "<iframe src=/in width=300 height=200></iframe>"
    async with on(body, {"/in": "<button>Top</button><div style='height:2000px'></div>"}) as hand:
        outcome = await hand.act(Scroll(target=hand.number("Top"), pages=1))
        assert await hand.page.frames[1].evaluate("scrollY") == 200
        assert outcome.effect == "changed"


async def test_the_wheel_turns_over_a_surface(on: On) -> None:
    async with on(
        "<canvas id=c width=300 height=200 aria-label=Map onwheel='document.title = Math.sign(event.deltaY)'></canvas>"
    ) as hand:
        await hand.act(Scroll(target=hand.number("Map"), direction="up"))
        assert await hand.page.title() == "-1"


async def test_a_mark_out_of_view_is_brought_into_view_before_the_click(on: On) -> None:
    async with on("<button id=b onclick='document.title = 1'>Far</button><div style='height:5000px'></div>") as hand:
        await hand.js("scrollTo(0, 3000)")
        outcome = await hand.act(Click(target=hand.number("Far")))
        assert outcome.status == "done"
        assert await hand.page.title() == "1"


# --- pages and tabs ---------------------------------------------------------------------------------------------------

SITE = {"/a": "<title>A</title><a href=/b>To B</a>", "/b": "<title>B</title><p>This is B</p>"}


async def test_addresses_open_and_history_goes_both_ways(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        for action, title, effect in [
            (actions.Goto(url="/b"), "B", "navigated"),
            (actions.Back(), "A", "navigated"),
            (actions.Forward(), "B", "navigated"),
            (actions.Reload(), "B", "navigated"),
        ]:
            outcome = await hand.act(action)
            assert (outcome.effect, await hand.page.title()) == (effect, title), outcome.sentence
            await hand.look()


async def test_where_there_is_no_further_page_nothing_happens_and_it_is_said(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        outcome = await hand.act(actions.Forward())
        assert outcome.effect == "no_effect"
        assert "There is no page to go forward to" in outcome.sentence


async def test_tabs_open_switch_and_close(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        assert (await hand.act(actions.OpenTab(url="/b"))).effect == "new_tab"
        assert [(tab.number, tab.title, tab.active) for tab in (await hand.look()).tabs] == [
            (1, "A", False),
            (2, "B", True),
        ]
        assert (await hand.act(actions.SwitchTab(tab=1))).effect == "changed"
        assert (await hand.look()).title == "A"
        await hand.act(actions.CloseTab(tab=2))
        assert [tab.title for tab in (await hand.look()).tabs] == ["A"]
        assert (await hand.act(actions.CloseTab(tab=1))).refusal == "unsupported"
        assert (await hand.act(actions.SwitchTab(tab=9))).refusal == "unknown_mark"


async def test_waiting_ends_when_the_text_shows(on: On) -> None:
    async with on("<p id=p></p><script>setTimeout(() => { p.innerHTML = 'Thank <b>you</b>'; }, 400)</script>") as hand:
        outcome = await hand.act(Wait(text="thank you", seconds=20))
        assert (outcome.status, outcome.effect) == ("done", "changed")
        assert outcome.seconds < 15


async def test_waiting_for_what_does_not_come_is_refused_in_time(on: On) -> None:
    async with on("<p>Nothing</p>") as hand:
        outcome = await hand.act(Wait(text="thank you", seconds=0.2))
        assert outcome.refusal == "not_reached"
        assert outcome.sentence == '"thank you" did not show within 0.2 s.'


# --- refusals ---------------------------------------------------------------------------------------------------------

Change = Callable[[Hand], Awaitable[Any]]
SAVE = "<button id=b style='width:90px;height:40px' onclick='document.title = `hit`'>Save</button><p>.</p>"


@pytest.mark.parametrize(
    ("change", "refusal", "words"),
    [
        ("b.remove()", "gone", 'mark 1 (button "Save") is no longer on the page'),
        ("b.textContent = 'Delete'", "changed", 'has become button "Delete"'),
        ("b.disabled = true", "disabled", "is disabled"),
        ("b.style.display = 'none'", "covered", "does not show any more"),
        (
            "document.body.insertAdjacentHTML('beforeend', `<div role=dialog style='position:fixed;inset:0;background:#fff'><h2>Cookies</h2></div>`)",
            "covered",
            'mark 1 (button "Save") is covered by <dialog> "Cookies". Close or move that first.',
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
            outcome.sentence == 'mark 1 (button "Save") is covered by <button> "Other" [2]. Close or move that first.'
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


@pytest.mark.parametrize("change", ["b.style.marginLeft = '200px'", "location.reload()"])
async def test_a_point_whose_pixels_or_page_have_changed_is_refused(on: On, change: str) -> None:
    async with on(SAVE) as hand:
        point = hand.point("Save")
        await hand.js(f"void ({change})")
        await hand.page.wait_for_load_state()
        outcome = await hand.act(Click(target=point))
        assert outcome.refusal == "moved"
        assert await hand.page.title() == ""


async def test_an_option_that_is_not_there_is_refused_with_what_is(on: On) -> None:
    async with on(LISTS) as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Tiny",)))
        assert outcome.refusal == "not_an_option"
        assert outcome.sentence.endswith('has no option "Tiny"; it offers "Small", "Large", "Extra large".')


@pytest.mark.parametrize(
    ("body", "action", "refusal"),
    [
        (LISTS, lambda hand: Select(target=hand.number("Own"), options=("x",)), "unsupported"),
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


# --- what came of it --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "effect", "words"),
    [
        ("<button onclick='document.body.append(`more`)'>Go</button>", "changed", "Clicked"),
        ("<button onclick='setTimeout(() => document.body.append(`late`), 40)'>Go</button>", "changed", "Clicked"),
        ("<a href=/b>Go</a>", "navigated", "The address is now"),
        ("<form action=/><button>Go</button></form>", "navigated", "Clicked"),
        ("<button onclick='location.reload()'>Go</button>", "navigated", "Clicked"),
        ("<a href='/b' target=_blank>Go</a>", "new_tab", "A new tab opened and is shown: tab 2"),
        ("<button onclick='window.open(`/b`)'>Go</button>", "new_tab", "tab 2"),
        (
            "<button onclick='alert(`Saved`)'>Go</button>",
            "dialog",
            'A dialog of type alert said "Saved" and was dismissed',
        ),
        ("<button onclick='setTimeout(() => confirm(`Sure?`), 30)'>Go</button>", "dialog", 'confirm said "Sure?"'),
        ("<a download=x.txt href='data:text/plain,hi'>Go</a>", "download", 'A download began: "x.txt"'),
    ],
)
async def test_the_outcome_says_what_came_of_a_click(on: On, body: str, effect: str, words: str) -> None:
    async with on(body, SITE) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert (outcome.status, outcome.effect) == ("done", effect), outcome.sentence
        assert words in outcome.sentence
        assert outcome.seconds < 10
        await hand.look()


async def test_a_click_that_changed_nothing_says_so_and_names_the_nearest(on: On) -> None:
    async with on(
        "<style>button{outline:0!important}</style><div onclick='1' style='width:99px'>Dead</div><br><button>Real</button>"
    ) as hand:
        outcome = await hand.act(Click(target=hand.number("Dead")))
        assert outcome.effect == "no_effect"
        assert outcome.sentence == 'Clicked mark 1 (div "Dead"). Nothing changed; nearest are mark 2 (button "Real").'


async def test_a_page_that_hangs_after_the_click_is_told_within_the_deadlines(on: On) -> None:
    async with on("<button onclick='setTimeout(() => { while (true); })'>Go</button>") as hand:
        outcome = await hand.act(Click(target=1))
        assert outcome.refusal == "timed_out"
        assert outcome.sentence.endswith("but the page has not answered since. Look again before repeating it.")
        assert outcome.seconds < 30


# --- secrets ----------------------------------------------------------------------------------------------------------

LOGIN = "<input id=u aria-label=User><input id=p type=password aria-label=Password><button onclick='p.type = `text`'>Show</button>"
HUNTER = (Secret(name="pass", value=SecretStr("hunter2"), hosts=("127.0.0.1",)),)


@pytest.mark.parametrize("name", ["User", "Password"])
async def test_a_secret_is_typed_and_then_stands_nowhere(on: On, name: str) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        before = hand.seen
        outcome = await hand.act(Type(target=hand.number(name), text="<secret:pass>"))
        assert await hand.js("u.value + p.value") == "hunter2"
        assert (outcome.status, outcome.value) == ("done", None)
        seen = [await hand.look()]
        if name == "Password":
            await hand.act(Click(target=hand.number("Show")))
            seen.append(await hand.look())
        for observation in seen:
            mark = observation.mark(hand.number(name))
            assert mark is not None
            assert mark.state.masked
            assert "hunter2" not in observation.model_dump_json() + outcome.model_dump_json()
        assert before.clean.sha256 != seen[-1].clean.sha256


async def test_the_picture_of_a_field_with_a_secret_does_not_depend_on_the_secret(on: On) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        await hand.js("document.activeElement.blur()")
        one = await hand.look()
        await hand.js("void (u.value = 'hunter2hunter2')")
        two = await hand.look()
        assert one.clean.sha256 == two.clean.sha256


@pytest.mark.parametrize(
    ("secret", "text", "words"),
    [
        (
            Secret(name="pass", value=SecretStr("hunter2"), hosts=("bank.example",)),
            "<secret:pass>",
            "may not be typed on 127.0.0.1",
        ),
        (
            Secret(name="pass", value=SecretStr("hunter2"), fields=("password",)),
            "<secret:pass>",
            "may not be typed into",
        ),
        (
            Secret(name="pass", value=SecretStr("hunter2")),
            "<secret:other>",
            "There is no secret called other; there are pass",
        ),
    ],
)
async def test_a_secret_enters_no_other_host_and_no_other_field(on: On, secret: Secret, text: str, words: str) -> None:
    async with on(LOGIN, secrets=(secret,)) as hand:
        outcome = await hand.act(Type(target=hand.number("User"), text=text))
        assert outcome.refusal == "blocked"
        assert words in outcome.sentence
        assert await hand.js("u.value + p.value") == ""


async def test_a_secret_is_not_typed_into_a_frame_of_another_host_nor_at_a_point(on: On) -> None:
    body = "<iframe width=400 height=90></iframe><script>document.querySelector('iframe').src = `//localhost:${location.port}/in`</script>"
    async with on(body, {"/in": LOGIN}, secrets=HUNTER) as hand:
        outcome = await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        assert outcome.refusal == "blocked"
        assert "localhost" in outcome.sentence
        assert (await hand.act(Type(target=hand.point("User"), text="<secret:pass>"))).refusal == "blocked"


# --- what may never be hit --------------------------------------------------------------------------------------------

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


async def test_a_drag_between_things_that_cannot_be_seen_at_once_is_refused(on: On) -> None:
    body = """<div role=button draggable=true style='height:40px'>Card</div><div style='height:730px'></div>
    <div role=button style='height:60px'>Done list</div><div style='height:1500px'></div>
    <script>addEventListener('mouseup', () => document.title = 'released')</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Drag(source=hand.number("Card"), target=hand.number("Done list")))
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


@pytest.mark.parametrize("what", ["drag", "click", "type"])
async def test_what_comes_over_the_target_in_the_last_moment_hears_neither_press_nor_release(on: On, what: str) -> None:
    async with on(COVERS_WHEN_PRESSED) as hand:
        card, done = hand.number("Card"), hand.number("Done list")
        acts: dict[str, Action] = {
            "drag": Drag(source=card, target=done),
            "click": Click(target=card),
            "type": Type(target=hand.point("Card"), text="x"),
        }
        outcome = await hand.act(acts[what])
        assert outcome.refusal == "covered", outcome.sentence
        assert "is covered by <div>" in outcome.sentence
        assert await hand.js("heard") == []


async def test_nothing_is_sent_when_another_tab_came_to_the_front(on: On) -> None:
    pop = "<input autofocus aria-label=Trap><script>focus()</script>"
    async with on("<label>Name <input></label>", pages={"/pop": pop}) as hand:
        field, page = hand.number("Name"), hand.page
        async with page.expect_popup() as popup:
            await page.evaluate("window.open('/pop')")
        trap = await popup.value
        await trap.wait_for_selector("input")
        outcome = await hand.act(Type(target=field, text="Ada"))
        assert outcome.refusal == "changed"
        assert "another tab came to the front" in outcome.sentence
        assert await trap.evaluate("document.querySelector('input').value") == ""
        assert await page.evaluate("document.querySelector('input').value") == ""


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
        assert "only the first character was typed" in outcome.sentence
        assert len(await hand.js("other.value")) <= 1


async def test_typing_at_a_point_that_takes_no_focus_leaves_the_field_before_it_alone(on: On) -> None:
    body = """<label>Email <input></label><canvas style='display:block' width=200 height=200
    onmousedown='event.preventDefault()'></canvas>"""
    async with on(body) as hand:
        await hand.act(Type(target=hand.number("Email"), text="a@b.c"))
        await hand.look()
        outcome = await hand.act(Type(target=Point(x=100, y=150), text="hello"))
        assert outcome.refusal == "changed"
        assert await hand.js("document.querySelector('input').value") == "a@b.c"


async def test_two_options_with_the_same_words_are_ambiguous(on: On) -> None:
    body = "<select aria-label=Size><option>-<option value=1>Large<option value=2>Large</select>"
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Large",)))
        assert outcome.refusal == "ambiguous"


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
