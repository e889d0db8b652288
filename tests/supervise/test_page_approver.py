"""A person supervises a run on the page as they would: one Chromium page shows another page's run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from pydantic import SecretStr

from tests.sessions import ending_of, recorded
from tests.supervise.proposals import NOW, PAY, decided, mark, seen
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Ask, Click, Finish, Type
from vision_agent.events import Ended, Observed, Resumed, Started
from vision_agent.geometry import Box
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.record.verify import verify
from vision_agent.settings import ApprovalSettings
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import Candidate, Decision, Ending, Provenance, Run, Secret

FORM = """<title>Form</title><style>body { font: 20px sans-serif } * { margin: 8px }</style>
<label>Name <input id=name></label><button id=pay onclick="document.title = 'Paid'">Pay now</button>
<button id=look onclick="document.title = 'Looked'">Look first</button><canvas width=300 height=200></canvas>
<script>document.querySelector('canvas').onclick = (event) => {
  document.title = `Drew ${event.offsetX} ${event.offsetY}`;
}</script>"""


CARD = "4929-7780-1123"


def decision(*actions: Any, goal: str, candidates: tuple[Candidate, ...] = ()) -> Decision:
    return Decision(author="scripted", next_goal=goal, actions=actions, candidates=candidates)


@pytest.fixture
async def desk(browser: Browser) -> AsyncIterator[Page]:
    """The person's own browser page, which may load nothing that is refused and throw nothing."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    yield page
    await context.close()
    assert [each for each in faults if "422" not in each] == []


def supervised(script: list[Any], tmp_path: Path, page: Page, site: str, ask: Any = "always") -> tuple[Agent, Any]:
    settings = Settings(runs=tmp_path / "runs", approval=ApprovalSettings(ask=ask))
    desk = SupervisionPage(settings.approval)
    secret = Secret(name="card", value=SecretStr(CARD))
    task = Task(goal="Pay for the order", start_url=site, secrets=(secret,))
    model = ScriptedModel(script)
    agent = Agent(task, model=model, page=page, settings=settings, approver=desk, person=desk.ask, on_event=desk.hear)
    return agent, desk


async def number_of(desk: Page, name: str) -> int:
    """The number a person reads beside what they look for."""
    rect = desk.locator("#over rect.mark", has_text=name).first
    return int(await rect.get_attribute("data-mark") or 0)


@pytest.mark.parametrize("title", ["Shop \u202e", "https://bank.example " * 500, "a\u2028b\x9b31m" * 50])
async def test_the_address_of_the_page_shows_whole_and_in_order_whatever_its_title_is(desk: Page, title: str) -> None:
    page = SupervisionPage()
    observation = seen(mark(1, "Pay \u202eyap\x9b"), url="https://evil.example/" + "a" * 60)
    page.hear(Observed(step=1, observation=observation.model_copy(update={"title": title})))
    typing = asyncio.create_task(
        page.approve(Task(goal="Pay"), observation, decided(Type(target=1, text="x\u202ey"), goal="x\u202ey"), ())
    )
    async with page.opened() as address:
        await desk.goto(address)
        await expect(desk.locator("#url")).to_have_text(observation.url)
        cut = "each => [each.scrollWidth > each.clientWidth, each.scrollHeight > each.clientHeight]"
        assert await desk.locator("#url").evaluate(cut) == [False, False]
        url, shown = await desk.locator("#url").bounding_box(), await desk.locator("#title").bounding_box()
        assert url is not None
        assert shown is not None
        assert url["y"] + url["height"] <= shown["y"] + 1
        assert url["x"] + url["width"] <= 1280
        await expect(desk.locator("#asked-goal")).to_have_text(r"x\u202ey")
        await expect(desk.locator("#acts")).to_contain_text(r"Pay \u202eyap\u009b")
        await expect(desk.locator("#acts")).to_contain_text(r"x\u202ey")
        assert not set("\u202e\u2028\x9b") & set(await desk.locator("body").inner_text())
        assert await desk.locator("#acts input").first.input_value() == "x\u202ey"
        page.hear(Ended(ending=Ending(status="done", sentence="Done.")))
        await expect(desk.locator("#phase")).to_contain_text("Ended")
    typing.cancel()


async def test_what_is_proposed_is_no_other_candidate_and_each_mark_is_one_once() -> None:
    page = SupervisionPage(ApprovalSettings(ask="always"))
    marks = [Candidate(mark=number, reason=reason) for number, reason in ((2, "it pays"), (1, "first"), (1, "again"))]
    asking = asyncio.create_task(
        page.approve(Task(goal="Pay"), seen(), decision(Click(target=2), goal="Pay", candidates=tuple(marks)), ())
    )
    await asyncio.sleep(0)
    assert [each["reason"] for each in page.state()["asked"]["candidates"]] == ["first"]
    asking.cancel()


async def test_instructions_are_offered_from_the_beginning_only_where_who_decides_reads_them() -> None:
    for model, is_offered in {"StepsModel": False, "replay": False, "anthropic:claude": True}.items():
        page, provenance = SupervisionPage(), Provenance(versions={}, browser="", model=model)
        page.hear(Started(run=Run(id="r", task=Task(goal="Go"), started_at=NOW, provenance=provenance)))
        assert page.state()["takesInstructions"] is is_offered, model
        page = SupervisionPage()
        page.hear(Resumed(provenance=provenance))
        assert page.state()["takesInstructions"] is is_offered, model


async def test_the_page_says_how_the_person_wants_it_done(desk: Page) -> None:
    page = SupervisionPage()
    async with page.opened() as address:
        await desk.goto(address)
        await expect(desk.locator("#instructions")).to_be_hidden()
        task = Task(goal="Buy tea", instructions="Only green tea")
        page.hear(Started(run=Run(id="r", task=task, started_at=NOW, provenance=Provenance(versions={}, browser=""))))
        await expect(desk.locator("#instructions")).to_have_text("How it is to be done: Only green tea")


async def test_an_error_goes_when_something_else_is_asked_and_the_report_is_linked_at_the_end(
    desk: Page, tmp_path: Path
) -> None:
    (tmp_path / "report.html").write_text(
        "<!doctype html><title>The report</title><script>document.title += '!'</script>"
    )
    page = SupervisionPage(ApprovalSettings(ask="always"))
    goals = [asyncio.create_task(page.approve(Task(goal="Pay"), seen(), decided(PAY, goal="First"), ()))]
    async with page.opened() as address:
        await desk.goto(address)
        await desk.fill("#line", "click Nowhere")
        await desk.press("#line", "Enter")
        await expect(desk.locator("#error")).to_contain_text("Nowhere")
        await expect(desk.locator("#do")).to_be_enabled()
        await desk.click("#do")
        await goals[0]
        await expect(desk.locator("#error")).to_be_hidden()

        page.hear(Ended(ending=Ending(status="done", sentence="Done.")))
        telling = asyncio.create_task(page.show_report(tmp_path / "report.html"))
        link = desk.get_by_role("link", name="Open the report")
        await expect(link).to_be_visible()
        await expect(desk.locator("#report code")).to_have_text(str(tmp_path / "report.html"))
        async with desk.context.expect_page() as opening:
            await link.click()
        report = await opening.value
        await expect(report).to_have_title("The report!")
        assert await report.evaluate("origin") == "null"  # its scripts are nobody here
        await telling
        await expect(link).to_have_count(0)
        await expect(desk.locator("#report")).to_contain_text("The report")


AIM_IS_IN_FRAME = """() => {
  const [aim, frame] = ['#over .aim', '#frame'].map((each) => document.querySelector(each).getBoundingClientRect());
  const isWide = aim.width > 0 && aim.left >= frame.left && aim.right <= frame.right;
  return isWide && aim.top >= frame.top && aim.bottom <= frame.bottom;
}"""


async def test_marks_can_be_read_on_a_phone_and_the_proposed_one_is_in_view(browser: Browser) -> None:
    phone = await browser.new_page(viewport={"width": 390, "height": 844})
    page = SupervisionPage(ApprovalSettings(ask="always"))
    far = mark(7, "Far away").model_copy(update={"box": Box(x=500, y=350, width=100, height=30)})
    asking = asyncio.create_task(page.approve(Task(goal="Pay"), seen(far), decided(Click(target=7)), ()))
    async with page.opened() as address:
        await phone.goto(address)
        await expect(phone.locator("#over .aim")).to_have_count(1)
        wide = await phone.locator("#over").evaluate("each => each.clientWidth")
        assert wide >= 640  # that of the picture, so its digits have the height that they were drawn with
        await phone.wait_for_function(AIM_IS_IN_FRAME)
        assert await phone.evaluate("document.documentElement.scrollWidth") == 390
        await phone.click("#zoom")
        assert await phone.locator("#over").evaluate("each => each.clientWidth") < 390
    asking.cancel()
    await phone.close()


@pytest.mark.thorough
async def test_a_person_approves_corrects_and_tells_with_the_keyboard_alone(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    agent, supervision = supervised(
        [
            decision(Click(target=3), goal="Pay", candidates=(Candidate(mark=4, reason="to be sure"),)),
            decision(Type(target=2, text="Ann"), goal="Say who"),
            decision(Click(target=3), goal="Pay"),
            decision(Finish(answer="looked"), goal="Done"),
        ],
        tmp_path,
        page,
        site,
    )
    do = desk.locator("#do")
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        assert "token" not in desk.url
        await desk.fill("#name", " Ann Lee ")
        await desk.press("#name", "Tab")
        await desk.reload()
        await expect(desk.locator("#name")).to_have_value("Ann Lee")  # it is remembered
        await desk.locator("h1").click()

        await expect(desk.locator("#asked-goal")).to_have_text("Pay")
        await expect(desk.locator("#risks")).to_contain_text("Pay now")
        await expect(desk.locator("#candidates")).to_contain_text("to be sure")
        await expect(desk.locator("#over .aim")).to_have_count(1)
        await desk.keyboard.type(str(await number_of(desk, "Look first")))
        await desk.keyboard.press("Enter")
        await expect(do).to_contain_text("Do this instead")
        await expect(do).to_be_enabled()
        await desk.keyboard.press("Enter")

        await expect(desk.locator("#asked-goal")).to_have_text("Say who")
        await desk.keyboard.press("e")
        await desk.keyboard.press("Control+a")
        await desk.keyboard.type("Berta")
        await expect(do).to_be_enabled()
        await desk.keyboard.press("Enter")

        await expect(desk.locator("#acts")).to_contain_text("Pay now")
        await expect(desk.locator("#log .by")).to_have_text(["Ann Lee", "Ann Lee"])
        await desk.keyboard.press("i")
        await desk.keyboard.type("Enough")
        await desk.keyboard.press("Enter")

        await expect(desk.locator("#asked-goal")).to_have_text("Done")
        await expect(do).to_be_enabled()
        await desk.keyboard.press("Enter")
        await expect(desk.locator("#phase")).to_contain_text("Ended: done")
        await expect(desk.locator("#log .by").first).to_have_text("approved by Ann Lee")
        ran = await running

    assert (await page.title(), await page.locator("#name").input_value()) == ("Looked", "Berta")
    run = recorded(agent)
    assert [step.decision.author for step in run.steps] == ["human", "human", "human", "scripted"]
    answers = [step.approval.choice if step.approval else None for step in run.steps]
    assert [answer and (answer.kind, answer.name) for answer in answers] == [
        ("replace", "Ann Lee"),
        ("replace", "Ann Lee"),
        ("instruct", "Ann Lee"),
        ("approve", "Ann Lee"),
    ]
    assert run.steps[1].approval is not None
    assert [action.text for action in run.steps[1].approval.proposed.actions if isinstance(action, Type)] == ["Ann"]
    assert [message.text for message in ran.task.messages] == ["Enough"]
    assert agent.folder is not None
    assert agent.report is not None
    assert "replaced by another action on the supervision page" in agent.report.read_text("utf-8")
    assert verify(agent.folder, agent.head).holds


async def test_a_person_skips_one_step_and_the_next_one_is_asked_about(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    script = [decision(Click(target=3), goal="Pay"), decision(Click(target=4), goal="Look"), Finish(success=True)]
    agent, supervision = supervised(script, tmp_path, page, site)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)
        for goal, button in (("Pay", "#skip"), ("Look", "#do")):
            await expect(desk.locator("#asked-goal")).to_have_text(goal)
            await expect(desk.locator(button)).to_be_enabled()
            await desk.locator("body").press("s" if button == "#skip" else "Enter")
        while not running.done():
            if await desk.locator("#do").is_enabled():
                await desk.locator("body").press("Enter")
            await asyncio.wait([running], timeout=0.2)
    skipped, looked, *_ = recorded(agent).steps
    assert (skipped.decision.actions, [each.kind for each in looked.decision.actions]) == ((), ["click"])
    assert await page.title() == "Looked"


async def test_a_person_takes_over_points_types_a_line_answers_pauses_and_stops(
    page: Page, desk: Page, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    agent, supervision = supervised(
        [
            decision(Click(target=3), goal=f"Pay first of all with {CARD}"),
            decision(Click(target=3), goal="Pay"),
            decision(Click(target=3), goal="Pay after all"),
            decision(Ask(question="Which card?"), goal="Ask"),
            decision(Click(target=4), goal="Look"),
            decision(Click(target=4), goal="Look again"),
        ],
        tmp_path,
        page,
        site,
        "risky",
    )
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await desk.goto(address)

        # What the page wants done first, the person does in the browser itself.
        await expect(desk.locator("#asked-goal")).to_have_text("Pay first of all with <secret:card>")
        await desk.keyboard.press("t")
        await expect(desk.locator("#phase")).to_contain_text("You have the browser")
        await expect(desk.locator("#do")).to_be_hidden()
        await page.fill("#name", "by hand")
        await desk.keyboard.press("t")

        # A place on the picture, where the page has a canvas and no mark for what is in it.
        await expect(desk.locator("#asked-goal")).to_have_text("Pay")
        canvas = await page.locator("canvas").bounding_box()
        over = await desk.locator("#over").bounding_box()
        assert canvas is not None
        assert over is not None
        scale = over["width"] / 1280
        x, y = over["x"] + (canvas["x"] + 120) * scale, over["y"] + (canvas["y"] + 90) * scale
        await desk.keyboard.down("Alt")
        await desk.mouse.click(x, y)
        await desk.keyboard.up("Alt")
        await desk.click("#do")

        await expect(desk.locator("#asked-goal")).to_have_text("Pay after all")
        await desk.fill("#line", "click Nowhere")
        await desk.press("#line", "Enter")
        await expect(desk.locator("#error")).to_contain_text("Nowhere")
        await desk.fill("#line", 'type "Cem" into Name')
        await desk.press("#line", "Enter")

        await expect(desk.locator("#question-text")).to_have_text("Which card?")
        await desk.click("#pause")  # what comes next is harmless, and would not have been asked about
        await desk.fill("#reply", "The blue one")
        await desk.press("#reply", "Enter")

        await expect(desk.locator("#phase")).to_contain_text("Paused")
        await expect(desk.locator("#asked-who")).to_contain_text("Paused before this")
        await desk.click("#stop")
        await desk.locator("#sure").get_by_text("Stop the run").last.click()
        await expect(desk.locator("#phase")).to_contain_text("Ended: interrupted")
        await running

    taken, by_hand, after, *_ = recorded(agent).steps
    assert (taken.decision.author, taken.decision.actions) == ("human", ())
    assert (by_hand.is_by_hand, by_hand.decision.next_goal) == (
        True,
        'By hand: typed "by hand" into mark 2 (textbox "Name")',
    )
    values = [mark.state.value for step in (by_hand, after) for mark in step.observation.marks if mark.name == "Name"]
    assert values == ["", "by hand"]
    drew = after.outcomes[0]
    assert drew.point is not None
    assert (round(drew.point.x - canvas["x"]), round(drew.point.y - canvas["y"])) == (
        pytest.approx(120, abs=2), pytest.approx(90, abs=2),
    )  # fmt: skip
    assert await page.title() == f"Drew {round(drew.point.x - canvas['x'])} {round(drew.point.y - canvas['y'])}"
    assert await page.locator("#name").input_value() == "Cem"
    assert ending_of(recorded(agent)).exit_code == 130
