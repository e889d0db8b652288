"""A person watches a run live, and takes over a browser that has no window, through the supervision page."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, Route, expect
from pydantic import SecretStr

from tests.sessions import ending_of, recorded
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Ask, Click, Custom, Finish, Scroll, Type
from vision_agent.custom_actions import ActionContext
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.ports import Model
from vision_agent.settings import ApprovalSettings
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import Decision, Secret

CARD = "4929-7780-1123"
DESK = """<title>Desk</title>
<style>body { font: 20px sans-serif; margin: 0; height: 3000px } main > * { position: absolute; margin: 0 }
#drop { left: 700px; top: 60px; width: 200px; height: 100px; background: #dde }</style>
<main><label style="left: 40px; top: 40px">Name <input id=name></label>
<label style="left: 40px; top: 100px">Notes <input id=notes></label>
<button id=go style="left: 40px; top: 160px" onclick="document.title = 'Gone'">Go</button>
<button id=twice style="left: 140px; top: 160px" ondblclick="this.textContent = 'Doubled'">Twice</button>
<p id=words style="left: 40px; top: 220px">Some words to select</p>
<div id=piece draggable=true role=button tabindex=0 style="left: 500px; top: 60px; background: #fda"
 ondragstart="event.dataTransfer.setData('text/plain', 'piece')">Piece</div>
<div id=drop role=button tabindex=0 ondragover="event.preventDefault()"
 ondrop="event.preventDefault(); this.textContent = 'Got it'">Drop here</div></main>"""

SAID = "document.querySelector('#error').textContent"
NEXT_PICTURE = "fetch('/live?after=1000000&window=waiting', { headers }).then(({ status }) => status)"


@pytest.fixture
async def desk(browser: Browser) -> AsyncIterator[Page]:
    """The person's own browser page, which throws nothing."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    await context.close()
    assert faults == []


def supervised(
    model: Model, tmp_path: Path, page: Page, site: str, *, ask: Any = "always", secrets: tuple[Secret, ...] = ()
) -> tuple[Agent, SupervisionPage]:
    settings = Settings(runs=tmp_path / "runs", approval=ApprovalSettings(ask=ask))
    desk = SupervisionPage(settings.approval, has_window=False)
    task = Task(goal="Do it", start_url=site, secrets=secrets)
    agent = Agent(task, model=model, page=page, settings=settings, approver=desk, person=desk.ask, on_event=desk.hear)
    return agent, desk


async def point_on(page: Page, desk: Page, selector: str) -> tuple[float, float]:
    """Where the middle of an element of the run's page is in the live view."""
    await expect(desk.locator("#live")).to_be_visible()
    box = await page.locator(selector).bounding_box()
    shown = await desk.locator("#live").bounding_box()
    assert box is not None
    assert shown is not None
    scale = shown["width"] / 1280
    return shown["x"] + (box["x"] + box["width"] / 2) * scale, shown["y"] + (box["y"] + box["height"] / 2) * scale


async def take_over(desk: Page) -> None:
    await desk.click("#take")
    await expect(desk.locator("#phase")).to_contain_text("You have the browser")
    await expect(desk.locator("#live")).to_be_visible()


async def test_until_the_first_picture_is_there_it_says_that_the_page_takes_no_clicks(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site, may_come = serve({"/": DESK, "/favicon.ico": b""}), asyncio.Event()

    async def held_back(route: Route) -> None:
        await may_come.wait()
        await route.continue_()

    await desk.route(re.compile(r"/live\?"), held_back)
    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await expect(desk.locator("#asked-goal")).to_have_text("click Go")
        await desk.click("#take")
        await expect(desk.locator("#live-note")).to_have_text("Connecting to the page. It takes no clicks yet.")
        may_come.set()
        await expect(desk.locator("#live-note")).to_contain_text("Click, drag, scroll and type in it.")
        await desk.click("#take")
        for asked in ("click Go", "finish"):
            await expect(desk.locator("#asked-goal")).to_have_text(asked)
            await desk.click("#do")
        await running


async def test_a_browser_without_a_window_is_driven_through_the_page_and_every_act_is_on_record(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": DESK, "/favicon.ico": b""})
    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await expect(desk.locator("#asked-goal")).to_have_text("click Go")
        await expect(desk.locator("#tell")).to_be_hidden()  # lines read no instructions
        assert "nobody reads" in await desk.evaluate(f"order('instruct', 'Hurry').then(() => {SAID})")
        await take_over(desk)

        await desk.mouse.click(*await point_on(page, desk, "#name"))
        await expect(page.locator("#name")).to_be_focused()
        await desk.keyboard.type("Ann é")
        await expect(page.locator("#name")).to_have_value("Ann é")
        await desk.mouse.click(*await point_on(page, desk, "#notes"))
        await desk.keyboard.down("Control")  # as whoever pastes by keys holds it
        await desk.evaluate("""() => {
          const pasted = new DataTransfer();
          pasted.setData('text/plain', 'pasted text');
          const event = new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true });
          document.querySelector('#keys').dispatchEvent(event);
        }""")
        await expect(page.locator("#notes")).to_have_value("pasted text")
        await desk.keyboard.up("Control")
        await desk.mouse.dblclick(*await point_on(page, desk, "#twice"))
        await expect(page.locator("#twice")).to_have_text("Doubled")

        x, y = await point_on(page, desk, "#piece")
        to_x, to_y = await point_on(page, desk, "#drop")
        await desk.mouse.move(x, y)
        await desk.mouse.down()
        await desk.mouse.move((x + to_x) / 2, (y + to_y) / 2, steps=4)
        await desk.mouse.move(to_x, to_y, steps=4)
        await desk.mouse.up()
        await expect(page.locator("#drop")).to_have_text("Got it")

        x, y = await point_on(page, desk, "#words")
        half = await page.locator("#words").evaluate("each => each.getBoundingClientRect().width / 2")
        scale = (await desk.locator("#live").evaluate("each => each.getBoundingClientRect().width")) / 1280
        await desk.mouse.move(x - half * scale + 1, y)
        await desk.mouse.down()
        await desk.mouse.move(x, y, steps=3)
        await desk.mouse.move(x + half * scale - 1, y, steps=3)
        await desk.mouse.up()
        await page.wait_for_function("getSelection().toString().includes('words to')")

        await desk.mouse.wheel(0, 600)
        await page.wait_for_function("scrollY > 300")
        await desk.keyboard.press("F6")
        await expect(desk.locator("#take")).to_be_focused()
        await desk.keyboard.press("Enter")

        # The step that was pending is decided anew, on the page as it is now.
        await expect(desk.locator("#asked-goal")).to_have_text("look again for: click Go")
        await expect(desk.locator("#shot")).to_be_visible()
        await desk.click("#do")
        await expect(desk.locator("#asked-goal")).to_have_text("click Go")
        await desk.click("#do")
        await expect(desk.locator("#asked-goal")).to_have_text("finish")
        await desk.click("#do")
        await running

    assert await page.title() == "Gone"
    run = recorded(agent)
    assert ending_of(run).status == "done"
    taken, *rest = run.steps
    assert taken.decision.next_goal == "A person takes over the browser before this is done: click Go"
    by_hand = [step for step in rest if step.is_by_hand]
    actions = [action for step in by_hand for action in step.decision.actions]
    assert [action.text for action in actions if isinstance(action, Type)] == ["Ann é", "pasted text"]
    assert 2 in [action.count for action in actions if isinstance(action, Click)]
    assert any(isinstance(action, Scroll) for action in actions)
    # A drag right before the page scrolls is told in words, because its points are no longer where they were.
    assert any("dragged from" in step.decision.next_goal for step in rest)


async def test_who_is_asked_something_may_take_over_instead_of_answering(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": DESK, "/favicon.ico": b""})
    asks = Decision(author="scripted", next_goal="Ask", actions=(Ask(question="Which name?"),))
    ends = Decision(author="scripted", next_goal="End", actions=(Finish(success=True, answer="Done"),))
    agent, supervision = supervised(ScriptedModel([asks, ends, ends]), tmp_path, page, site, ask="never")
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await expect(desk.locator("#question-text")).to_have_text("Which name?")
        await take_over(desk)
        await desk.mouse.click(*await point_on(page, desk, "#name"))
        await expect(page.locator("#name")).to_be_focused()
        await desk.click("#take")
        await running
    assert ending_of(recorded(agent)).status == "done"
    assert any(step.is_by_hand for step in recorded(agent).steps)


COLOURS = """<title>Colours</title><style>body { font: 20px sans-serif }</style>
<label>Colour <select id=colour><option>Red<option>Blue<option>Black<option>Yellow</select></label>"""


async def test_on_a_phone_an_option_of_a_list_is_chosen_by_typing_it_and_enter(
    page: Page, browser: Browser, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": COLOURS, "/favicon.ico": b""})
    agent, supervision = supervised(StepsModel(["click Colour", "finish"]), tmp_path, page, site)
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = await context.new_page()
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await phone.goto(address)
        await phone.tap("#take")
        await expect(phone.locator("#live-note")).to_contain_text("type the option")
        await phone.touchscreen.tap(*await point_on(page, phone, "#colour"))
        await expect(page.locator("#colour")).to_be_focused()
        await phone.tap("#type")
        # The keyboard of a phone says no keys, only what was composed.
        await phone.evaluate("""() => {
          const keys = document.querySelector('#keys');
          keys.value = 'Black';
          keys.dispatchEvent(new CompositionEvent('compositionend', { data: 'Black' }));
        }""")
        await phone.keyboard.press("Enter")
        await expect(page.locator("#colour")).to_have_value("Black")
        await phone.tap("#stop")
        await phone.locator("#sure").get_by_text("Stop the run").last.tap()
        await running
    await context.close()


SHOWN = f"""<title>Shown</title><style>body {{ margin: 0; font: 40px/60px monospace }}
p {{ margin: 0 0 40px; width: max-content }}</style>
<p id=card>{CARD}</p><p id=split>49<b>29-77</b>80-11<i>23</i></p><p id=plain>Plain words</p>
<iframe id=inner style="border: 0; width: 600px; height: 80px"
 srcdoc="<body style='margin: 0; font: 40px/60px monospace'>{CARD}"></iframe>
<button id=go>Go</button>
<script>setInterval(() => {{ card.style.marginLeft = (performance.now() / 9) % 90 + 'px'; }}, 30)</script>"""


async def shades_at(page: Page, desk: Page, selector: str) -> set[int]:
    """The brightness of what the live view shows where an element of the run's page is, away from its edges."""
    data = await desk.locator("#live").evaluate("each => each.toDataURL('image/png').split(',')[1]")
    picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("L")
    box = await page.locator(selector).bounding_box()
    assert box is not None
    left, top = box["x"] + 100, box["y"] + 8  # the text moves by up to 90 px
    return set(picture.crop((int(left), int(top), int(left) + 80, int(top) + 40)).tobytes())


async def test_secrets_are_masked_in_the_live_view_wherever_they_show_and_go(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": SHOWN, "/favicon.ico": b""})
    card = Secret(name="card", value=SecretStr(CARD))
    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site, secrets=(card,))
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await expect(desk.locator("#asked-goal")).to_have_text("click Go")
        await desk.keyboard.press("v")
        await expect(desk.locator("#live")).to_be_visible()
        for _ in range(5):  # whichever picture it is
            for hidden in ("#card", "#split", "#inner"):
                shades = await shades_at(page, desk, hidden)
                assert min(shades) > 120, hidden
                assert max(shades) < 200, hidden
            shown = await shades_at(page, desk, "#plain")
            assert min(shown) < 60
            assert max(shown) > 240
        await desk.click("#stop")
        await desk.locator("#sure").get_by_text("Stop the run").last.click()
        await running


async def test_the_live_view_stands_still_while_a_secret_may_be_typed_and_says_so(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": DESK, "/favicon.ico": b""})
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def type_slowly(context: ActionContext) -> str:
        """Types half of a secret."""
        await context.page.locator("#name").press_sequentially(CARD[:9])
        begun.set()
        await may_end.wait()
        await context.page.locator("#name").fill("")
        return "typed"

    card = Secret(name="card", value=SecretStr(CARD))
    settings = Settings(runs=tmp_path / "runs", approval=ApprovalSettings(ask="never"))
    supervision = SupervisionPage(settings.approval, has_window=False)
    script: list[Any] = [[Custom(name="type_slowly", arguments={})], [Finish(answer="typed")], [Finish(answer="typed")]]
    agent = Agent(
        Task(goal="Type", start_url=site, secrets=(card,)),
        model=ScriptedModel(script),
        page=page,
        settings=settings,
        actions=[type_slowly],
        approver=supervision,
        on_event=supervision.hear,
    )
    async with supervision.opened() as address:
        await desk.goto(address)
        running = asyncio.create_task(agent.run())
        await begun.wait()
        await expect(desk.locator("#live-note")).to_contain_text("stands still while something is typed")
        # A person who wants the browser now gets it once the action is over, and nothing reaches the page before.
        await desk.click("#take")
        await expect(desk.locator("#phase")).to_contain_text("Finishing its step")
        refused = await desk.evaluate(PRESS)
        assert refused == [409, "The run is finishing its action (wait until the page says that you have the browser)"]
        may_end.set()
        await expect(desk.locator("#phase")).to_contain_text("You have the browser")
        await expect(desk.locator("#live-note")).not_to_contain_text("stands still")
        await desk.click("#take")
        await running


PRESS = """async () => {
  const inputs = [{ kind: 'down', x: 0.5, y: 0.5 }];
  const body = JSON.stringify({ window: OWN_NAME, frame: live.number, inputs });
  const answer = await fetch('/input', { method: 'POST', body, headers });
  return [answer.status, answer.ok ? '' : (await answer.json()).sentence];
}"""


async def test_what_was_typed_before_a_refused_press_arrives_and_what_is_typed_for_it_goes_nowhere(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site, may_go_on = serve({"/": DESK, "/favicon.ico": b""}), asyncio.Event()

    async def held_back(route: Route) -> None:
        await may_go_on.wait()
        await route.continue_()

    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await take_over(desk)
        await desk.mouse.click(*await point_on(page, desk, "#name"))
        await expect(page.locator("#name")).to_be_focused()
        live = supervision._live
        assert live is not None
        await desk.route(re.compile("/live\\?|/input$"), held_back)
        while live.watches(live.hands):  # noqa: ASYNC110 - until it has no picture new enough to be pressed
            await asyncio.sleep(0.05)
        await desk.keyboard.type("Ann")
        await desk.mouse.click(*await point_on(page, desk, "#notes"))
        await desk.keyboard.type("lost")
        await desk.unroute(re.compile("/live\\?"))
        may_go_on.set()
        await expect(desk.locator("#error")).to_contain_text("press again")
        await desk.keyboard.type("lost too")
        await expect(page.locator("#name")).to_have_value("Ann")
        async with desk.expect_response(re.compile("/live\\?")):
            pass
        await desk.mouse.click(*await point_on(page, desk, "#notes"))
        await expect(page.locator("#notes")).to_be_focused()
        await desk.keyboard.type("Buy milk")
        await expect(page.locator("#notes")).to_have_value("Buy milk")
        await expect(page.locator("#name")).to_have_value("Ann")
        running.cancel()
        await asyncio.wait([running])


async def test_two_windows_act_one_at_a_time_and_nothing_stays_pressed(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    listening = "<script>addEventListener('pointerup', () => { document.title += ' up'; })</script>"
    site = serve({"/": DESK + listening, "/favicon.ico": b""})
    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await take_over(desk)
        other = await desk.context.new_page()
        await other.goto(address.partition("?")[0])
        await expect(other.locator("#phase")).to_have_text("Not signed in")  # it has no key
        key = await desk.evaluate("sessionStorage.getItem('key')")
        await other.evaluate("key => sessionStorage.setItem('key', key)", key)
        await other.reload()
        await expect(other.locator("#idle-text")).to_contain_text("Another window of this page has the browser")
        await expect(other.locator("#phase")).to_contain_text("Another window has the browser")
        await expect(desk.locator("#phase")).to_contain_text("You have the browser")
        await expect(other.locator("#take")).to_contain_text("Take it here")
        assert await other.evaluate(PRESS) == [
            409, "Another window of this page has the browser (take it here to go on)",
        ]  # fmt: skip
        refused = await other.evaluate(f"order('take_over').then(() => {SAID})")
        assert refused == "Another window of this page has the browser (hand it back there, or take it here)"

        await desk.mouse.move(*await point_on(page, desk, "#words"))
        await desk.mouse.down()
        await expect(desk.locator("#live-note")).to_contain_text("F6")
        await other.click("#take")
        await expect(other.locator("#take")).to_contain_text("Hand back")
        await page.wait_for_function("document.title.endsWith(' up')")
        assert (await desk.evaluate(PRESS))[0] == 409
        await expect(desk.locator("#take")).to_contain_text("Take it here")
        await other.click("#take")
        await expect(other.locator("#asked-goal")).to_have_text("click Go")
        await other.click("#do")
        await expect(other.locator("#asked-goal")).to_have_text("finish")
        await expect(other.locator("#do")).to_be_enabled()
        await other.click("#do")
        await running


async def test_what_a_lost_window_holds_is_released_and_the_page_is_streamed_only_while_somebody_watches(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    listening = "<script>onkeyup = onpointerup = (event) => { document.title += ' ' + event.type; }</script>"
    site = serve({"/": DESK + listening, "/favicon.ico": b""})
    agent, supervision = supervised(StepsModel(["click Go", "finish"]), tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        await take_over(desk)
        live = supervision._live
        assert live is not None
        assert live.is_streaming
        await desk.mouse.move(*await point_on(page, desk, "#words"))
        await desk.mouse.down()
        await desk.keyboard.down("Shift")
        await page.wait_for_function("getSelection().anchorNode !== null")
        again = await desk.context.new_page()
        key = await desk.evaluate("sessionStorage.getItem('key')")
        await desk.close()
        await page.wait_for_function("document.title.includes('pointerup') && document.title.includes('keyup')")
        while live.is_streaming:  # noqa: ASYNC110 - time has to pass
            await asyncio.sleep(0.05)
        # The run waits, and any window goes on where that one was lost.
        assert not running.done()
        await again.goto(address.partition("?")[0])
        await again.evaluate("key => sessionStorage.setItem('key', key)", key)
        await again.reload()
        await again.click("#take")
        await expect(again.locator("#take")).to_contain_text("Hand back")
        await again.click("#take")
        await expect(again.locator("#asked-goal")).to_have_text("click Go")
        await again.click("#stop")
        # A picture that is waited for when the run ends does not come, and nothing is wrong with that.
        waiting = asyncio.create_task(again.evaluate(NEXT_PICTURE))
        while not live.watches("waiting"):  # noqa: ASYNC110 - time has to pass
            await asyncio.sleep(0.01)
        await again.locator("#sure").get_by_text("Stop the run").last.click()
        await running
        assert await waiting == 204
