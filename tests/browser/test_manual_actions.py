"""What a person does in the real page, heard by the overlay and told as actions on marks of what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import CDPSession, Page

from vision_agent import attach
from vision_agent.actions import (
    Back,
    Check,
    Click,
    DoubleTap,
    Drag,
    Goto,
    Hold,
    Point,
    Press,
    Scroll,
    Set,
    Type,
    Upload,
)
from vision_agent.browser import cdp
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.page import overlay
from vision_agent.browser.page.tabs import Tabs
from vision_agent.browser.takeover.input_listener import HumanInput, InputListener, TimedInput, merge_input
from vision_agent.types import ManualAction

DRAWN = """<title>Drawn</title><style>body { margin: 0 } canvas { display: block; background: #eee }</style>
<canvas width=400 height=200></canvas><iframe src="%s/inner" width=300 height=80></iframe>
<a href="/far">Far</a><div style="height: 3000px"></div><script>document.querySelector('canvas').onclick = (event) => {
if (event.offsetX > 300) document.querySelector('a').click() }</script>"""
INNER = "<button>Inside</button>"
FAR = "<title>Far</title><h1>Far</h1>"


async def heard_in(session: CDPSession) -> tuple[list[str], list[str]]:
    """What of ours is in the isolated worlds: types that its window listens to, and names of bindings."""
    types: list[str] = []
    names: list[str] = []
    for context in [each for each in await cdp.execution_contexts(session) if overlay.is_overlay_world(each)]:
        window = await session.send("Runtime.evaluate", {"expression": "globalThis", "contextId": context["id"]})
        listened = await session.send("DOMDebugger.getEventListeners", {"objectId": window["result"]["objectId"]})
        types += [each["type"] for each in listened["listeners"]]
        told = {"expression": "Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('told')).join()"}
        named = await session.send("Runtime.evaluate", {**told, "contextId": context["id"]})
        names += [each for each in named["result"]["value"].split(",") if each]
    return sorted(types), names


class Listening:
    """What is told of a person, as it comes."""

    def __init__(self) -> None:
        self.done: list[ManualAction] = []
        self._grown = asyncio.Condition()

    async def to(self, browser: LiveBrowser, person: Callable[[], Awaitable[None]]) -> None:
        async for each in browser.manual_actions(person):
            async with self._grown:
                self.done.append(each)
                self._grown.notify_all()

    async def until(self, count: int) -> None:
        """Waits until so many things were told."""
        async with asyncio.timeout(120), self._grown:
            await self._grown.wait_for(lambda: len(self.done) >= count)


async def test_a_text_that_took_a_while_is_told_on_the_look_before_it_was_begun(page: Page) -> None:
    listening = Listening()

    async def person() -> None:
        await page.focus("#name")
        await page.keyboard.type("Ann")
        await page.mouse.wheel(0, 300)
        await listening.until(1)  # of which the effect was looked at, with the text in the field
        await page.keyboard.type(" Lee")
        await page.focus("#town")
        await listening.until(2)

    top = "style='position: fixed; top: 0'"
    fields = f"<div {top}><input id=name aria-label=Name><input id=town aria-label=Town></div>"
    await page.set_content(f"{fields}<div style='height: 3000px'></div>")
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    (typed,) = [each for each in listening.done if isinstance(each.action, Type)]
    assert isinstance(typed.action, Type)
    assert typed.action.text == "Ann Lee"
    assert [mark.state.value for mark in typed.observation.marks] == ["", ""]


async def test_a_one_time_code_that_a_person_types_is_kept_like_a_password(page: Page) -> None:
    listening = Listening()

    async def person() -> None:
        await page.focus("#code")
        await page.keyboard.type("482913")
        await page.mouse.wheel(0, 300)
        await listening.until(1)  # of which the effect was looked at, with the code in the field
        await page.focus("#name")
        await page.keyboard.type("Ann")
        await page.focus("#code")
        await listening.until(3)

    fields = "<input id=code aria-label=Code autocomplete='section-a one-time-code'><input id=name aria-label=Name>"
    await page.set_content(f"<div style='position: fixed; top: 0'>{fields}</div><div style='height: 3000px'></div>")
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
        after = await browser.observe()
    typed = [each.action for each in listening.done if isinstance(each.action, Type)]
    assert [each.text for each in typed] == ["<secret:by-hand>", "Ann"]
    told = "".join(f"{each.words} {each.observation.model_dump_json()} {each.outcome}" for each in listening.done)
    assert 'typed "<secret:by-hand>", a secret that is not recorded, into mark ' in told
    assert "482913" not in told + after.model_dump_json()
    assert [(mark.name, mark.state.masked) for mark in after.marks] == [("Code", True), ("Name", False)]


async def test_points_frames_letters_scrolling_and_ways_are_told_and_nothing_is_left_behind(
    page: Page, serve: Any
) -> None:
    inner = serve({"/inner": INNER}).replace("127.0.0.1", "localhost")
    site = serve({"/": DRAWN % inner, "/far": FAR, "/favicon.ico": b""})
    listening = Listening()
    done, until = listening.done, listening.until

    async def person() -> None:
        during.append(await heard_in(session))
        mouse = page.mouse
        await mouse.move(20, 20)
        await mouse.down()
        await mouse.move(120, 90, steps=5)
        await mouse.up()
        await until(1)
        await page.keyboard.type("pass")
        await page.keyboard.press("Escape")
        await until(3)
        await page.frame_locator("iframe").locator("button").click()
        await until(4)
        await mouse.wheel(0, 400)
        await until(5)
        await mouse.wheel(0, -400)
        await until(6)
        await mouse.click(330, 150)  # the page itself clicks its link at that, which is none of the person's
        await until(7)
        await page.go_back()
        await until(8)
        await page.goto(site + "/far")
        await until(9)

    await page.goto(site)
    during: list[tuple[list[str], list[str]]] = []
    async with attach(page) as browser:
        seen = await browser.observe()
        session = await cdp.page_session(page)
        assert session is not None
        before = await heard_in(session)
        await listening.to(browser, person)
        await browser.observe()
        after = await heard_in(session)
    assert "beforeinput" in during[0][0]
    assert len(during[0][1]) == 1
    assert (before, after[1]) == ((before[0], []), [])
    # Of keys, only what stands first in each new document and asks the guard, once each; and the guard's own event, by
    # which it knows whether it is still heard.
    added = [each for each in after[0] if each not in before[0]]
    own = [each for each in added if each.startswith("marks ")]
    assert sorted(added) == sorted([*(set(added) & {"beforeinput", "keydown"}), *own])
    assert len(own) == 1

    drag, letters, escape, inside, down, up, click, back, goto = done
    assert isinstance(drag.action, Drag)
    assert (drag.action.source, drag.action.target) == (Point(x=20, y=20), Point(x=120, y=90))
    assert len(drag.action.path) == 5
    assert (letters.action, letters.outcome) == (None, None)
    assert letters.words == "typed 4 letters outside any field; the text is not recorded, because it may be a password"
    assert escape.action == Press(keys="Escape")
    assert isinstance(inside.action, Click)
    assert isinstance(inside.action.target, int)
    pressed = inside.observation.mark(inside.action.target)
    assert pressed is not None
    assert (pressed.name, pressed.frame) == ("Inside", "1")
    assert [each.action.direction for each in (down, up) if isinstance(each.action, Scroll)] == ["down", "up"]
    assert down.observation.scroll.y == 0
    assert click.action == Click(target=Point(x=330, y=150))
    assert [each.action for each in (back, goto)] == [Back(), Goto(url=site + "/far")]
    effects = [each.outcome.effect for each in (click, back, goto) if each.outcome]
    assert effects == ["navigated", "navigated", "navigated"]
    assert seen.title == "Drawn"


async def test_a_click_in_a_new_window_is_heard_before_any_look_at_it(page: Page, serve: Any) -> None:
    site = serve({"/": "<button onclick=\"window.open('/pop')\">Open</button>", "/pop": POP, "/favicon.ico": b""})
    await page.goto(site)
    await overlay.register(page.context)
    tabs = Tabs(page.context, page)
    tabs.add(page)
    tabs.start_listening()
    listener = InputListener(tabs, 5)
    await listener.open()
    async with page.expect_popup() as opened:
        await page.click("text=Open")
    popup = await opened.value
    async with asyncio.timeout(120):
        while not any(each.page is popup for each in listener.queue):
            await popup.click("text=In pop")
    await listener.close()
    tabs.stop_listening()


MANY = """<title>Many</title><button onclick="window.open('/pop')">Open</button> <input type=file aria-label=Paper>
<div contenteditable role=textbox aria-label=Chat>x</div><button ondblclick="document.title = 'twice'">Twice</button>
<div style="width: 80px" onmouseover="items.hidden = false">Menu<div id=items hidden>
<button onclick="items.hidden = true">Item</button></div></div><script>
document.querySelector('[contenteditable]').onkeydown = (event) => {
  if (event.key === 'Enter') { event.preventDefault(); event.target.textContent = ''; }
}</script>"""
POP = "<title>Pop</title><button onclick='document.title += 1'>In pop</button>"


@pytest.mark.thorough
async def test_tabs_files_chats_and_what_was_gone_before_it_could_be_looked_at_are_told(
    page: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": MANY, "/pop": POP, "/favicon.ico": b""})
    (tmp_path / "cv.txt").write_text("x")
    listening = Listening()
    done, until = listening.done, listening.until

    async def person() -> None:
        await page.click("text=Twice", click_count=2)
        await until(1)
        await page.hover("text=Menu")
        await page.click("text=Item")
        await until(2)
        await page.click("[contenteditable]")
        await page.keyboard.type("hello")
        await page.keyboard.press("Enter")
        await until(3)
        async with page.expect_file_chooser() as asked:
            await page.click("input")
        await (await asked.value).set_files(tmp_path / "cv.txt")
        await until(4)
        async with page.expect_popup() as opened:
            await page.click("text=Open")
        popup = await opened.value
        await until(5)
        await popup.click("text=In pop")
        await until(6)
        await page.bring_to_front()
        await page.click("text=Twice")
        await until(8)
        await popup.bring_to_front()
        await popup.mouse.click(300, 300)
        await until(10)
        await popup.close()
        await until(11)
        strange = await page.context.new_page()
        await until(12)
        await strange.close()

    await page.goto(site)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    kinds = [each.action.kind if each.action else "" for each in done]
    assert kinds == [
        "click", "", "type", "upload", "click", "click", "switch_tab", "click", "switch_tab", "click", "close_tab", "",
    ]  # fmt: skip
    twice, item, chat, paper, opens, *_, strange_tab = done
    assert isinstance(twice.action, Click)
    assert twice.action.count == 2
    assert item.words == 'clicked <button> "Item"; no look shows its target, so it is not recorded as an action'
    assert isinstance(chat.action, Type)
    assert (chat.action.text, chat.action.submit) == ("xhello", True)
    assert isinstance(paper.action, Upload)
    assert paper.action.files == ("cv.txt",)
    assert opens.outcome is not None
    assert opens.outcome.effect == "new_tab"
    said = "opened a new tab or window, where nothing is recorded; go on in the one that is recorded"
    assert strange_tab.words == said


def told(does: Any, gesture: int = 0, *keys: str, **more: Any) -> TimedInput:
    heard = HumanInput(does=does, token="t", gesture=gesture, keys=keys, what="<b>", scroll=(0, 0), **more)
    return TimedInput(page=None, event=heard, at=0.0)  # type: ignore[arg-type] # nothing looks at the page


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        ([told("pressed", 1, "label"), told("ticked", 1, "box", checked=True)], [("ticked", 1)]),
        ([told("pressed", 1, "a"), told("ticked", 2, "box", checked=True)], [("pressed", 1), ("ticked", 1)]),
        ([told("pressed", 1, "field"), told("typed", 3, "field", text="Ann")], [("typed", 1)]),
        ([told("pressed", 1, "other"), told("typed", 3, "field", text="Ann")], [("pressed", 1), ("typed", 1)]),
        ([told("pressed", 1, "a", button="right"), told("typed", 3, "a", text="x")], [("pressed", 1), ("typed", 1)]),
        ([told("pressed", 1, "a"), told("pressed", 2, "a"), told("twice", 2, "a")], [("pressed", 2)]),
        ([told("pressed", 1, "a"), told("pressed", 2, "a")], [("pressed", 1), ("pressed", 1)]),
        ([told("twice", 2, "a")], []),
        ([told("keyed", 1, "a", pressed="Tab"), told("keyed", 2, "a", pressed="Tab")], [("keyed", 2)]),
        (
            [told("keyed", 1, "a", pressed="Tab", held=2, count=30), told("keyed", 2, "a", pressed="Tab")],
            [("keyed", 30), ("keyed", 1)],
        ),
        ([told("keyed", 1, "a", pressed="Tab", count=3), told("keyed", 2, "a", pressed="Tab")], [("keyed", 4)]),
        ([told("lettered", 1), told("lettered", 2), told("lettered", 3)], [("lettered", 3)]),
        ([told("dragged", 1, "range"), told("set", 1, "range", value="7")], [("set", 1)]),
    ],
)
def test_what_belongs_together_is_one_thing(heard: list[TimedInput], kept: list[tuple[str, int]]) -> None:
    waiting: list[TimedInput] = []
    for each in heard:
        waiting = merge_input(waiting, each)
    assert [(each.event.does, each.event.count) for each in waiting] == kept


async def test_two_quick_taps_of_a_person_are_a_double_tap(page: Page, serve: Any) -> None:
    site = serve(
        {"/": "<meta name=viewport content='width=device-width'><button style='width:200px;height:90px'>Map</button>"}
    )
    listening = Listening()

    async def person() -> None:
        session = await cdp.page_session(page)
        assert session is not None
        for type, points in (("touchStart", [{"x": 50, "y": 50}]), ("touchEnd", [])) * 2:
            await session.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})
        await listening.until(1)

    await page.goto(site)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    [tapped] = listening.done
    assert isinstance(tapped.action, DoubleTap)
    assert tapped.words == 'double-tapped mark 1 (button "Map")'


async def test_a_finger_that_a_person_holds_is_a_hold_with_a_finger(page: Page, serve: Any) -> None:
    site = serve({"/": "<button style='width:200px;height:90px' oncontextmenu='return false'>Map</button>"})
    listening = Listening()

    async def person() -> None:
        session = await cdp.page_session(page)
        assert session is not None
        for type, points in (("touchStart", [{"x": 50, "y": 50}]), ("touchEnd", [])):
            await session.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})
            await passing(page, 1)
        await listening.until(1)

    await page.goto(site)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    [held] = listening.done
    assert isinstance(held.action, Hold)
    assert held.action.touch
    assert held.words == f'held mark 1 (button "Map") with a finger for {held.action.seconds:g} s'


async def test_a_long_press_of_a_person_is_a_hold(page: Page, serve: Any) -> None:
    site = serve({"/": "<button style='width:200px;height:90px'>Fire</button>"})
    listening = Listening()

    async def person() -> None:
        await page.mouse.move(50, 50)
        await page.mouse.down()
        await page.wait_for_function("new Promise((done) => setTimeout(() => done(true), 1000))")
        await page.mouse.up()
        await page.mouse.click(50, 50)
        await listening.until(2)

    await page.goto(site)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    held, clicked = listening.done
    assert isinstance(held.action, Hold)
    assert 1 <= held.action.seconds < 4
    assert held.words.startswith('held mark 1 (button "Fire") for ')
    assert isinstance(clicked.action, Click)


async def passing(page: Page, seconds: float) -> None:
    """Returns once so much time has passed in the page."""
    await page.evaluate(f"new Promise((done) => setTimeout(done, {1000 * seconds}))")


GAME = """<title>Game</title><button id=fire>Fire</button><input type=radio name=size aria-label=Small checked>
<input type=radio name=size aria-label=Large><iframe src="/inner" width=200 height=60></iframe>
<script>let got = 0; addEventListener('keydown', () => got++)</script>"""


async def test_a_key_that_a_person_holds_is_one_press_with_its_time(page: Page, serve: Any) -> None:
    listening, keyboard = Listening(), page.keyboard

    async def person() -> None:
        await keyboard.down("ArrowRight")
        await passing(page, 0.5)
        for _ in range(20):
            await keyboard.down("ArrowRight")  # as the keyboard repeats it by itself
        await passing(page, 0.6)
        assert await page.evaluate("got") == 21
        await keyboard.up("ArrowRight")
        await listening.until(1)
        await keyboard.down("Shift")
        await keyboard.down("Escape")
        await keyboard.down("Escape")
        await keyboard.up("Escape")
        await keyboard.up("Shift")
        await keyboard.press("Escape")
        await listening.until(3)

    await page.goto(serve({"/": GAME, "/inner": INNER}))
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    held, together, escape = listening.done
    assert isinstance(held.action, Press)
    assert (held.action.keys, held.action.count, held.action.target) == ("ArrowRight", 1, None)
    assert held.action.seconds is not None
    assert 1.1 <= held.action.seconds < 5
    assert held.words == f"held ArrowRight for {held.action.seconds:g} s"
    assert together.action == Press(keys="Shift+Escape", count=2)
    assert escape.action == Press(keys="Escape")


async def test_a_key_that_comes_up_elsewhere_is_told_with_the_time_until_it_left(page: Page, serve: Any) -> None:
    listening = Listening()

    async def person() -> None:
        await page.focus("#fire")
        await page.keyboard.down("ArrowUp")
        await passing(page, 1)
        await page.frame_locator("iframe").locator("button").focus()
        await listening.until(1)
        await page.keyboard.up("ArrowUp")

    await page.goto(serve({"/": GAME, "/inner": INNER}))
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    [held] = listening.done
    assert isinstance(held.action, Press)
    assert held.action.seconds is not None
    assert 0.8 <= held.action.seconds < 5


CARDS = """<title>Cards</title><style>[role] { width: 120px; height: 40px; border: 1px solid }</style>
<div id=card draggable=true role=button tabindex=0 ondragstart="event.dataTransfer.setData('text', 'x')">Card</div>
<div id=done role=button tabindex=0 ondragover="event.preventDefault()" ondrop="moved.value += 'dropped '">Done</div>
<div id=wall role=button tabindex=0>Wall</div><output id=moved></output>"""
SORTED = """<style>div { width: 120px; height: 40px }</style><div id=one draggable=true>One</div>
<div id=two draggable=true ondragover="event.preventDefault()">Two</div>"""


async def carry(page: Page, what: str, to: str) -> None:
    """Drags with so many moves that the browser cancels the pointer before the drop, as it does for a person."""
    begin, end = await page.locator(what).bounding_box(), await page.locator(to).bounding_box()
    assert begin is not None
    assert end is not None
    await page.mouse.move(begin["x"] + 20, begin["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(begin["x"] + 40, begin["y"] + 30, steps=5)
    await page.mouse.move(end["x"] + 30, end["y"] + 20, steps=5)
    await page.mouse.up()


@pytest.mark.parametrize(("down", "is_place"), [(20, False), (36, True)], ids=["middle", "edge"])
async def test_a_card_that_is_dropped_near_an_edge_of_another_is_told_with_the_place(
    page: Page, down: int, is_place: bool
) -> None:
    listening = Listening()

    async def person() -> None:
        one, two = [await page.locator(each).bounding_box() for each in ("#one", "#two")]
        assert one is not None
        assert two is not None
        await page.mouse.move(one["x"] + 60, one["y"] + 20)
        await page.mouse.down()
        await page.mouse.move(two["x"] + 60, two["y"] + 10, steps=5)
        await page.mouse.move(two["x"] + 60, two["y"] + down, steps=5)
        await page.mouse.up()
        await listening.until(1)

    await page.set_content(SORTED)
    async with attach(page) as browser:
        seen = await browser.observe()
        await listening.to(browser, person)
    one, two = seen.marks
    [dragged] = listening.done
    place = Point(x=two.box.center.x, y=two.box.y + down)
    assert dragged.action == Drag(source=one.number, target=place if is_place else two.number)


async def test_what_a_person_drags_as_the_browser_itself_does_it_is_told(page: Page) -> None:
    listening = Listening()

    async def person() -> None:
        await carry(page, "#card", "#done")
        await listening.until(1)
        await page.keyboard.down("Control")
        await carry(page, "#card", "#done")
        await page.keyboard.up("Control")
        await listening.until(2)
        await carry(page, "#card", "#wall")
        await listening.until(3)
        await page.click("#wall")
        await listening.until(4)

    await page.set_content(CARDS)
    await page.evaluate("addEventListener('pointercancel', () => moved.value += 'cancelled ')")
    async with attach(page) as browser:
        seen = await browser.observe()
        await listening.to(browser, person)
    card, done, wall = (
        next(each.number for each in seen.marks if each.name == name) for name in ("Card", "Done", "Wall")
    )
    dragged, copied, gave_up, clicked = listening.done
    assert dragged.action == Drag(source=card, target=done)
    assert copied.action == Drag(source=card, target=done, modifiers=("Control",))
    assert (gave_up.action, gave_up.outcome) == (None, None)
    assert gave_up.words.endswith('"Card", which nothing in its document took; it is not recorded as an action')
    assert clicked.action == Click(target=wall)
    assert await page.inner_text("#moved") == "cancelled dropped cancelled dropped cancelled"


DATES = """<title>Dates</title><label>Day <input type=date id=day min=2026-01-01 max=2026-12-31></label>
<label>At <input type=time id=at></label><label>Level <input type=range id=level value=50></label>
<button onclick="used.value += day.value + ' '">Use</button><output id=used></output>
<script>window.seen = []; day.onchange = () => seen.push(day.value)</script>"""


async def test_a_date_that_a_person_types_is_set_once_and_what_was_used_of_it_before_is_told(page: Page) -> None:
    listening = Listening()

    async def person() -> None:
        await page.focus("#day")
        for digit in "02032026":
            await page.keyboard.type(digit)
            await passing(page, 0.15)
        await page.click("text=Use")
        await listening.until(2)
        await page.focus("#day")
        await page.keyboard.press("Tab")  # within the field, to the day
        await page.keyboard.type("05")
        await page.focus("#at")
        await page.keyboard.type("0915AM")
        await page.focus("#level")
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowRight")
        await page.click("text=Use")
        await listening.until(6)
        await page.focus("#day")
        await page.keyboard.type("0607")

    await page.set_content(DATES)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    seen = await page.evaluate("seen")
    assert {"0002-02-03", "0020-02-03", "0202-02-03", "2026-02-03"} <= set(seen), seen
    told = [each.action for each in listening.done]
    assert [each.value if isinstance(each, Set) else type(each).__name__ for each in told] == [
        *("2026-02-03", "Click"),
        *("2026-02-05", "09:15", "52", "Click"),
        "2026-06-07",
    ]
    first = listening.done[0]
    assert [mark.state.value for mark in first.observation.marks if mark.name == "Day"] == [""]
    assert await page.inner_text("#used") == "2026-02-03 2026-02-05"


async def test_a_key_that_ticks_something_is_told_as_the_tick_alone(page: Page, serve: Any) -> None:
    listening = Listening()

    async def person() -> None:
        await page.focus("[aria-label=Small]")
        await page.keyboard.down("ArrowRight")
        await passing(page, 1)
        await page.keyboard.up("ArrowRight")
        await listening.until(1)

    await page.goto(serve({"/": GAME, "/inner": INNER}))
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    [ticked] = listening.done
    assert isinstance(ticked.action, Check)
    assert ticked.words.endswith('(radio "Large")')


async def test_what_a_person_does_on_the_pages_they_come_to_is_told_too(page: Page, serve: Any) -> None:
    site = serve({f"/{at}": f"<title>{at}</title><a href=/{at + 1}>To {at + 1}</a>" for at in range(1, 5)})
    listening = Listening()

    async def person() -> None:
        for at in range(1, 4):
            await listening.until(at - 1)
            await page.get_by_text(f"To {at + 1}").click()

    await page.goto(f"{site}/1")
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)

    done = listening.done
    assert [each.words for each in done] == [f'clicked mark 1 (link "To {at}")' for at in (2, 3, 4)]
    assert [each.outcome.effect for each in done if each.outcome] == ["navigated"] * 3


PRESSED = """<title>Pressed</title><style>body { margin: 40px } button, input { font-size: 30px }
button:hover { background: #fcc } button:focus { outline: 6px solid red }</style>"""


@pytest.mark.parametrize(
    ("body", "effect"),
    [
        ("<button>Go</button>", "no_effect"),
        ("<button onclick='this.style.background = `#00f`'>Go</button>", "changed"),
        ("<button onclick='this.nextSibling.textContent = `Done: all of it`'>Go</button><p></p>", "changed"),
        ("<input aria-label=Name>", "changed"),
    ],
)
async def test_a_click_that_only_moves_the_focus_has_the_effect_that_it_has_in_a_replay(
    page: Page, body: str, effect: str
) -> None:
    listening = Listening()

    async def person() -> None:
        await page.mouse.click(60, 60)
        await listening.until(1)

    await page.set_content(PRESSED + body)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    [clicked] = listening.done
    assert isinstance(clicked.action, Click)
    assert clicked.outcome is not None
    assert clicked.outcome.effect == effect


SCROLLED_BOX = """<title>Box</title><style>body { margin: 0; height: 2400px }
#box { width: 400px; height: 200px; overflow: auto; margin-top: 500px }</style><div id=box tabindex=0 aria-label=Plan>
<div style="width: 900px; height: 900px">Top</div></div><script>box.onclick = () => { box.scrollTop = 0 }</script>"""


async def test_a_box_that_is_scrolled_on_a_scrolled_page_is_told_whole_and_not_what_the_page_scrolls_itself(
    page: Page,
) -> None:
    listening = Listening()

    async def person() -> None:
        await page.mouse.move(300, 100)
        await page.mouse.wheel(0, 400)
        await listening.until(1)
        await page.mouse.move(100, 200)
        await page.mouse.wheel(0, 300)
        await listening.until(2)
        await page.wait_for_timeout(1100)  # the wheel is at rest
        await page.mouse.click(100, 200)  # at which the page scrolls the box
        await listening.until(3)
        await page.mouse.wheel(200, 100)
        await listening.until(5)
        await page.wait_for_timeout(1100)
        await page.keyboard.press("End")  # the key is told, and what it scrolls is not told again
        await page.keyboard.press("Escape")
        await listening.until(7)

    await page.set_content(SCROLLED_BOX)
    async with attach(page) as browser:
        await browser.observe()
        await listening.to(browser, person)
    told = [each.action for each in listening.done]
    scrolls = [(each.target, each.direction, each.pages) for each in told if isinstance(each, Scroll)]
    assert scrolls == [(None, "down", 0.5), (1, "down", 1.5), (1, "right", 0.5), (1, "down", 0.5)]
    assert [each.keys for each in told if isinstance(each, Press)] == ["End", "Escape"]
