"""Claims about a run on the caller's page, which is left as it was."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Dialog, Page, async_playwright
from pydantic import SecretStr

from tests.sessions import FINISHED, agent, ending_of, recorded, refusing
from vision_agent import Agent, Settings, Task, attach, observe
from vision_agent.actions import Action, Click, Finish, Goto, Type, Upload
from vision_agent.browser.launch.launch import end_browser, start_first_browser
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.events import Event, Observed, Started
from vision_agent.geometry import Size
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Shot
from vision_agent.record.read import read_lines
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.settings import BrowserSettings
from vision_agent.types import GoalPicture, Secret


async def test_a_page_is_used_as_it_is_and_left_open(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    observation = await observe(page)
    number = {mark.name: mark.number for mark in observation.marks}
    script: list[list[Action]] = [
        [Type(target=number["Name"], text="Ada"), Click(target=number["Go"])],
        [Finish(answer="gone")],
    ]
    ran = agent("Press Go", script, tmp_path, page)
    run = await ran.run()
    assert ending_of(run).answer == "gone"
    assert recorded(ran).model_dump() == run.model_dump()
    assert not page.is_closed()
    assert page.context.pages == [page]
    assert await page.title() == "Gone"
    assert await page.locator("#name").input_value() == "Ada"
    assert page.viewport_size == {"width": 1280, "height": 800}


async def test_nothing_of_ours_stays_with_the_page(page: Page, site: str) -> None:
    await page.goto(site)
    before = attached(page)
    async with attach(page) as browser:
        await browser.observe()
        assert attached(page) != before
    assert attached(page) == before


async def test_files_can_be_uploaded_by_hand_and_no_others(page: Page, serve: Any, tmp_path: Path) -> None:
    (tmp_path / "cv.pdf").write_bytes(b"%PDF")
    await page.goto(serve({"/": "<input type=file id=cv aria-label=CV>"}))
    async with attach(page, files=[tmp_path / "cv.pdf"]) as browser:
        seen = await browser.observe()
        done = await browser.act(Upload(mark=seen.marks[0].number, files=("cv.pdf",)), seen)
        refused = await browser.act(Upload(mark=seen.marks[0].number, files=("key.pem",)), seen)
    assert (done.status, refused.status) == ("done", "refused"), (done.sentence, refused.sentence)
    assert await page.evaluate("cv.files[0].name") == "cv.pdf"


async def test_a_file_that_does_not_exist_or_has_the_name_of_another_is_refused(page: Page, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no file nothing\.pdf"):
        async with attach(page, files=["nothing.pdf"]):
            pass
    twins = [tmp_path / "a" / "cv.pdf", tmp_path / "b" / "cv.pdf"]
    for each in twins:
        each.parent.mkdir()
        each.write_bytes(b"%PDF")
    with pytest.raises(UsageError, match="same name"):
        async with attach(page, files=twins):
            pass


async def test_hosts_are_limited_on_a_page_handed_over_for_as_long_as_the_run_lasts(
    page: Page, serve: Any, tmp_path: Path
) -> None:
    home = serve({"/": "<button onclick='new Image().src = away'>Look</button>", "/favicon.ico": b""})
    await page.goto(home)
    await page.evaluate("address => { away = address }", away := home.replace("127.0.0.1", "localhost"))
    before = attached(page)
    script: list[list[Action]] = [[Click(target=1)], [Goto(url=away)], [Goto(url="file:///etc/passwd")], *FINISHED]
    ran = agent(Task(goal="Look", allowed_hosts=("127.0.0.1",)), script, tmp_path, page)
    run = await ran.run()
    clicked, gone, read_file = (step.outcomes[0] for step in run.steps[:3])
    told = f"A request to {urlsplit(away).netloc} was blocked (asked for by the page): its host is not among"
    assert f"{told} the allowed ones (127.0.0.1)" in clicked.sentence
    assert (gone.refusal, read_file.refusal) == ("blocked", "blocked")
    assert "are blocked, except: DNS lookups, and connections that are opened ahead" in recorded(ran).provenance.browser
    assert attached(page) == before
    await page.goto(away)


def attached(page: Page) -> dict[str, int]:
    """How many listeners there are to each event, and how many sessions; both are below the public API."""
    impl, context = page._impl_obj, page.context._impl_obj
    events = (
        "dialog",
        "request",
        "requestfinished",
        "requestfailed",
        "close",
        "download",
        "crash",
        "popup",
        "framenavigated",
    )
    sessions = sum(type(each).__name__ == "CDPSession" for each in impl._connection._objects.values())
    return {event: len(impl.listeners(event)) for event in events} | {
        "page": len(context.listeners("page")),
        "sessions": sessions,
    }


async def test_dialogs_are_the_owner_s_again_when_we_are_done(page: Page, site: str) -> None:
    await page.goto(site)
    async with attach(page) as browser:
        observation = await browser.observe()
        [tell] = [mark for mark in observation.marks if mark.name == "Tell"]
        outcome = await browser.act(Click(target=tell.number), observation)
    assert outcome.effect == "dialog"
    assert await page.title() == "Answer false"

    async def accept(dialog: Dialog) -> None:
        await dialog.accept()

    page.on("dialog", accept)
    await page.click("#tell")
    assert await page.title() == "Answer true"


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
async def test_an_answer_of_the_owner_is_not_told_as_ours(page: Page, serve: Any, kind: str) -> None:
    await page.goto(serve({"/": f"<button onclick='document.title = `${{{kind}(`Sure?`)}}`'>Go</button>"}))
    page.on("dialog", lambda dialog: dialog.accept())
    async with attach(page) as browser:
        outcome = await browser.do("click Go")
    assert f'A dialog of type {kind} said "Sure?" and was answered by somebody else' in outcome.sentence
    assert await page.title() == {"alert": "undefined", "confirm": "true", "prompt": ""}[kind]


async def test_a_closed_page_is_refused_with_what_its_owner_can_do(page: Page) -> None:
    await page.close()
    with pytest.raises(BrowserUnavailable, match=r"The page is closed \(hand over one that is open"):
        await observe(page)


async def test_agents_after_each_other_work_on_pages_of_one_playwright(
    page: Page, browser: Browser, site: str, tmp_path: Path
) -> None:
    other = await browser.new_page()
    for each in (page, other, page):
        await each.goto(site)
        run = await agent("Look", FINISHED, tmp_path, each).run()
        assert ending_of(run).status == "done"
        assert len(run.steps[0].observation.marks) == 3
    await other.close()


async def test_a_page_of_a_persistent_context_is_observed(site: str, tmp_path: Path) -> None:
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        await end_browser(started)
        context = await playwright.chromium.launch_persistent_context(
            tmp_path, executable_path=started.candidate.executable, chromium_sandbox=False
        )
        page = context.pages[0]
        await page.goto(site)
        assert len((await observe(page)).marks) == 3
        await context.close()


async def test_a_page_whose_locators_were_used_before_is_handed_over_without_a_reload(
    site: str, tmp_path: Path
) -> None:
    """In a Playwright that never knew the overlay: one that does has it in every document from then on."""
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        page = await started.browser.new_page()
        await page.goto(site)
        await page.locator("#name").fill("Ada")
        run = await agent("Look", FINISHED, tmp_path, page).run()
        assert ending_of(run).status == "done"
        assert len(run.steps[0].observation.marks) == 3
        assert await page.locator("#name").input_value() == "Ada"
        await end_browser(started)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"goes_on": Path("run")}, {"resume": Path("run")}),
        ({"around": lambda model: model}, {"wrap_model": lambda model: model}),
    ],
)
def test_an_agent_takes_the_old_words_with_a_warning_and_not_both(old: dict[str, Any], new: dict[str, Any]) -> None:
    with pytest.warns(DeprecationWarning, match=f"is now called {next(iter(new))}"):
        Agent("Look", **old)
    with pytest.raises(UsageError, match="give the new one only"):
        Agent("Look", **old, **new)


async def test_a_page_of_another_kind_is_refused(tmp_path: Path) -> None:
    ran = Agent("Look", model=ScriptedModel([]), page="https://example.org/", settings=Settings(runs=tmp_path))  # type: ignore[arg-type]
    assert "a page of playwright.async_api, but got a str" in await refusing(ran, UsageError)


async def test_a_page_that_was_closed_before_is_said(page: Page, tmp_path: Path) -> None:
    await page.close()
    ran = agent("Look", FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5


async def test_a_page_whose_playwright_was_stopped_is_said(tmp_path: Path) -> None:
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        page = await started.browser.new_page()
        await end_browser(started)
    ran = agent("Look", FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable, match="is gone"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5


async def test_an_agent_runs_once(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    ran = agent("Look", FINISHED, tmp_path, page)
    await ran.run()
    before = recorded(ran)
    with pytest.raises(UsageError, match="has already run"):
        await ran.run()
    assert recorded(ran) == before
    assert len(list((tmp_path / "runs").iterdir())) == 1


SECRET = "HUNTER2SECRET"
TELLTALE = f"""<title>Echo</title><label>Code <input></label>
<button onclick="document.title = 'You typed ' + '{SECRET}'">Send</button>"""


async def test_a_listener_hears_what_is_recorded_and_no_secret(serve: Any, page: Page, tmp_path: Path) -> None:
    heard: list[Event] = []
    await page.goto(str(serve({"/": TELLTALE, "/favicon.ico": b""})))
    given = Secret(name="code", value=SecretStr(SECRET))
    shot = Shot(
        media_type="image/png", size=Size(width=1, height=1), sha256=hashlib.sha256(b"x").hexdigest(), data=b"x"
    )
    task = Task(goal=f"Send {SECRET}", secrets=(given,), pictures=(GoalPicture(shot=shot, caption=SECRET),))
    ran = Agent(
        task,
        model=ScriptedModel([[Click(target=2)], [Finish(answer=f"It is {SECRET}.")]]),
        page=page,
        settings=Settings(runs=tmp_path / "runs"),
        on_event=heard.append,
    )

    run = await ran.run()

    assert SECRET in ending_of(run).sentence  # the caller's own run is as it was
    assert ran.ending is not None
    assert ran.ending.sentence == "It is <secret:code>."
    assert SECRET not in "".join(event.model_dump_json() for event in heard)
    assert "<secret:code>" in "".join(event.model_dump_json() for event in heard)
    assert ran.folder is not None
    begun, *rest = heard
    assert rest == [with_bytes(line.event, ran.folder) for line in read_lines(ran.folder)[1:]]
    assert isinstance(begun, Started)
    assert begun.run.task.pictures[0] == GoalPicture(shot=shot, caption="<secret:code>")


def with_bytes(event: Event, folder: Path) -> Event:
    """The recorded event, with the bytes of its pictures where it has some."""
    if not isinstance(event, Observed):
        return event
    seen = event.observation
    pictures = {
        name: shot.model_copy(update={"data": (folder / SHOTS / shot_name(shot)).read_bytes()})
        for name, shot in (("clean", seen.clean), ("marked", seen.marked))
    }
    return event.model_copy(update={"observation": seen.model_copy(update=pictures)})


async def test_what_is_raised_holds_no_secret(page: Page, closed_port: int, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port}/?code={SECRET}"
    given = Secret(name="code", value=SecretStr(SECRET))
    ran = agent(Task(goal="Look", start_url=url, secrets=(given,)), FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable) as caught:
        await ran.run()
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert "<secret:code>" in str(caught.value)


async def test_how_a_browser_is_reached_is_recorded_without_what_opens_it(closed_port: int, tmp_path: Path) -> None:
    address = f"ws://bob:{SECRET}@127.0.0.1:{closed_port}/?token={SECRET}"
    task = Task(goal="Look", start_url="about:blank")
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(cdp_url=address))
    with pytest.raises(BrowserUnavailable):
        await ran.run()
    assert recorded(ran).provenance.settings["browser"]["cdp_url"] == f"ws://127.0.0.1:{closed_port}"
    assert ran.folder is not None
    assert not [file for file in ran.folder.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


async def test_a_message_before_the_run_is_part_of_the_task(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    ran = agent("Look", FINISHED, tmp_path, page)
    ran.say("Be quick")
    run = await ran.run()
    assert [message.text for message in run.task.messages] == ["Be quick"]
    assert recorded(ran).model_dump() == run.model_dump()
