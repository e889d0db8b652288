"""The witness of acts in real Chromium: it tells a wrong element where there is one, and none where there is not.

What an agent does wrongly is done here with the bare mouse and keyboard, which no gate of ours knows of.
"""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from tests.overlay.traces import TRACES, WATCH
from vision_agent import Agent, Settings, Task
from vision_agent.actions import (
    Action,
    Cell,
    Check,
    Click,
    Drag,
    Finish,
    Hover,
    Point,
    Press,
    Select,
    Set,
    Type,
    Upload,
)
from vision_agent.agent import Loop
from vision_agent.browser import live
from vision_agent.browser.live import LiveBrowser
from vision_agent.evals import hit_oracle
from vision_agent.evals.hit_oracle import HitOracle
from vision_agent.evals.items import Witnessed
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.events import Happened, Intended, Observed
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Mark, Observation
from vision_agent.ports import InnerGate
from vision_agent.record import RunInMemory
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome, Run
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.08, settle_deadline_s=5, action_deadline_s=20, navigation_deadline_s=20)
DONE = Outcome(status="done", effect="changed", sentence="")
TWO = "<button id=a>Save</button> <button id=b>Delete</button>"
ROWS = """<ul id=list><li>Ada <button>Delete</button><li>Bob <button>Delete</button></ul>"""
CUT = "<div style='height:70px;width:200px;overflow:auto'>" + "".join(
    f"<div onclick=1 style='cursor:pointer;padding:2px'><p style='margin:0;height:18px'>{name}</p><p style='margin:0;height:18px'>Hello</p></div>"
    for name in ("Ada", "Bob", "Cleo")
)  # fmt: skip
"""Of the second row a part shows, with one line of it; the third is out of sight."""
AGAIN = "list.innerHTML = list.innerHTML"
"""Every element is another one afterwards, and alike."""


@dataclass
class Watched:
    """A page that was looked at, and noted."""

    browser: LiveBrowser
    witness: HitOracle
    seen: Observation

    @property
    def page(self) -> Page:
        return self.browser.page

    def mark(self, name: str, place: int = 0) -> Mark:
        found = [mark for mark in self.seen.marks if mark.name == name]
        assert len(found) > place, f"{name} in\n{self.seen.listing}"
        return found[place]

    async def look(self) -> None:
        self.seen = await self.browser.observe()
        self.witness.hear(Observed(step=1, observation=self.seen))
        await self.witness.note(self.seen)

    async def does(self, action: Action, how: Callable[[], Awaitable[object]] | None = None) -> Witnessed:
        """What is told after an act: done by the agent's own hands, or however it is said."""
        self.witness.hear(Intended(step=1, index=0, action=action))
        outcome = DONE
        if how is None:
            outcome = await self.browser.act(action, self.seen)
            assert outcome.status == "done", outcome.sentence
        else:
            await how()
            await self.page.evaluate("1")
        self.witness.hear(Happened(step=1, index=0, outcome=outcome))
        return self.witness.result

    async def press(self, mark: Mark) -> None:
        await self.page.mouse.click(mark.point.x, mark.point.y)


On = Callable[..., Any]


@pytest.fixture
def on(page: Page, serve: Server) -> On:
    @asynccontextmanager
    async def opened(body: str, pages: dict[str, str] | None = None, **options: Any) -> AsyncIterator[Watched]:
        await hit_oracle.register(page.context)
        address = serve({"/": f"<!doctype html><title>T</title>{body}", **(pages or {})})
        async with live.attach(page, SETTINGS, ImageLimits(), start_url=address, **options) as browser:
            await browser.open(address)
            await page.wait_for_load_state()
            watched = Watched(browser, HitOracle(page.context), await browser.observe())
            await watched.look()
            yield watched

    return opened


def right(told: Witnessed) -> bool:
    assert told.wrong == (), told
    return (told.witnessed, told.unwitnessed) == (1, 0)


async def test_a_press_that_lands_on_another_element_is_told_with_what_was_meant_and_what_was_reached(on: On) -> None:
    async with on(TWO) as watched:
        number = watched.mark("Save").number
        told = await watched.does(Click(target=number), lambda: watched.press(watched.mark("Delete")))
        assert (told.witnessed, told.unwitnessed) == (1, 0)
        [wrong] = told.wrong
        assert wrong.step == 1
        assert wrong.sentence == f"Click [{number}] “Save” reached <button> “Delete”"


@pytest.mark.thorough
async def test_a_whole_run_of_hands_that_miss_is_told_step_by_step(page: Page, serve: Server) -> None:
    """The loop, its record and the outcomes all believe that everything went well."""
    await hit_oracle.register(page.context)
    async with live.attach(page, SETTINGS, ImageLimits()) as browser:
        await browser.open(serve({"/": f"<title>T</title>{TWO}"}))
        number = {mark.name: mark.number for mark in (await browser.observe()).marks}
        model = ScriptedModel([[Click(target=number["Save"])], [Click(target=number["Delete"])], [Finish()]])
        seeing = HitOracle(page.context)
        run = Run(id="r", task=Task(goal="Save"), started_at=datetime.now(UTC))
        hands = Clumsy(browser, "Delete")
        loop = Loop(run, hands, seeing.wrap(model), RunInMemory(), on_event=seeing.hear)
        ran = await loop.run()

    assert all(outcome.status == "done" for step in ran.steps for outcome in step.outcomes)
    assert (seeing.result.witnessed, seeing.result.unwitnessed) == (2, 0)
    assert [(wrong.step, wrong.sentence) for wrong in seeing.result.wrong] == [
        (1, f"Click [{number['Save']}] “Save” reached <button> “Delete”")
    ]


class Clumsy:
    """A browser whose hands always press the same thing, and say that all went well."""

    def __init__(self, browser: LiveBrowser, presses: str) -> None:
        self._browser, self._presses = browser, presses

    async def observe(self) -> Observation:
        return await self._browser.observe()

    async def act(self, action: Action, observation: Observation, inner: InnerGate | None = None) -> Outcome:
        del inner
        if not isinstance(action, Click):
            return await self._browser.act(action, observation)
        [mark] = [mark for mark in observation.marks if mark.name == self._presses]
        await self._browser.page.mouse.click(mark.point.x, mark.point.y)
        return DONE

    def manual_actions(self, handed_back: Any) -> Any:
        return self._browser.manual_actions(handed_back)


WRONG: dict[str, tuple[str, str, int, str, str]] = {
    # page, mark, which of that name, what the page does after the look, the element that is then pressed
    "what is alike in another row": (ROWS, "Delete", 0, "", "li:nth-child(2) button"),
    "what is alike in another row and new": (ROWS, "Delete", 0, AGAIN, "li:nth-child(2) button"),
    "what rows drawn anew in another order have there": (
        ROWS, "Delete", 0, "list.innerHTML = '<li>Bob <button>Delete</button><li>Ada <button>Delete</button>'", "li:nth-child(1) button",
    ),
    "what came into it": (
        "<div id=card tabindex=0 role=button aria-label=Card style='width:200px;height:100px;border:1px solid'>A card</div>", "Card", 0,
        "card.innerHTML += '<p><button>Remove</button>'", "#card button",
    ),
    "what has a number in it": (
        "<div id=card onclick=1 style='cursor:pointer;width:200px;height:100px;border:1px solid'><p>A card</p><button>Remove</button></div>", "A card", 0, "", "#card button",
    ),
    "what lies around it": (
        "<div id=card tabindex=0 role=button aria-label=Card style='width:200px;height:100px;border:1px solid'>A card <button>Remove</button></div>", "Remove", 0, "", "#card",
    ),
    "a neighbour in a shadow tree": (
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<button>Save</button><button id=b>Delete</button>'</script>", "Save", 0, "", "#b",
    ),
    "a line of another row, where a part of the right one showed": (CUT, "Bob Hello", 0, "", "div > div:nth-child(3) p:nth-child(2)"),
    "the row before, where a part of the right one showed": (CUT, "Bob Hello", 0, "", "div > div:nth-child(1) p:nth-child(2)"),
    "what lies in a frame": (f"{TWO}<br><iframe srcdoc='<button id=c>Pay</button>'></iframe>", "Save", 0, "", "iframe >> #c"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("trait", WRONG)
async def test_what_is_reached_instead_is_wrong(on: On, trait: str) -> None:
    body, name, place, then, pressed = WRONG[trait]
    async with on(body) as watched:
        number = watched.mark(name, place).number
        await watched.page.evaluate(then or "1")
        outer, _, inner = pressed.rpartition(" >> ")
        at = watched.page.frame_locator(outer).locator(inner) if outer else watched.page.locator(inner)
        told = await watched.does(Click(target=number), lambda: at.click(position={"x": 5, "y": 5}))
        assert (told.witnessed, len(told.wrong)) == (1, 1), told


RIGHT: dict[str, tuple[str, str, str, str]] = {
    # page, mark, what the page does after the look, the element that is then pressed
    "an equal one in its place": (f"<div id=list>{TWO}</div>", "Save", AGAIN, "text=Save"),
    "an equal one in an equal row": (ROWS, "Delete", AGAIN, "li:nth-child(1) button"),
    "a button in the same wrapper, drawn anew": (
        "<div style='width:90px'><button style='width:90px'>Save</button></div>", "Save", "document.querySelector('div').innerHTML += ''", "button",
    ),
    "the link around the words": ("<a href='#x' style='display:block;width:300px;padding:20px'><b>Read</b> <i>more</i></a>", "Read more", "", "i"),
    "the label of a box": ("<label><input type=checkbox> Agree to all of it</label>", "Agree to all of it", "", "label"),
    "the label of a box that does not show": (
        "<input id=x type=checkbox style='position:absolute;opacity:0;width:0'><label for=x>Agree to all of it</label>", "Agree to all of it", "", "label",
    ),
    "what listens, and not the words in it": (
        "<div id=d style='cursor:pointer;width:200px;padding:20px'><p>One</p><p id=two>Two</p></div><script>d.onclick = () => 1</script>", "One Two", "", "#two",
    ),
    "another line of a row of which a part showed": (CUT, "Bob Hello", "", "div > div:nth-child(2) p:nth-child(2)"),
    "the same line of a row of which a part showed": (CUT, "Bob Hello", "", "div > div:nth-child(2) p:nth-child(1)"),
    "an element that moved": (TWO, "Save", "document.body.prepend(b); document.body.style.margin = '90px'", "#a"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("trait", RIGHT)
async def test_what_is_the_same_thing_is_not_wrong(on: On, trait: str) -> None:
    body, name, then, pressed = RIGHT[trait]
    async with on(body) as watched:
        number = watched.mark(name).number
        await watched.page.evaluate(then or "1")
        told = await watched.does(
            Click(target=number), lambda: watched.page.locator(pressed).click(position={"x": 9, "y": 9})
        )
        assert right(told), told


OWN: dict[str, tuple[str, str, Callable[[int], Action]]] = {
    "click": (TWO, "Save", lambda n: Click(target=n)),
    "double": (TWO, "Save", lambda n: Click(target=n, count=2)),
    "with a key held": (TWO, "Save", lambda n: Click(target=n, modifiers=("Control",))),
    "tick": ("<label><input type=checkbox>Agree</label>", "Agree", lambda n: Check(mark=n, checked=True)),
    "type": ("<input aria-label=Name value=before>", "Name", lambda n: Type(target=n, text="Ada Lovelace")),
    "type into an editor": ("<div contenteditable aria-label=Note style='height:90px;border:1px solid'><p>Some<p>words</div>", "Note", lambda n: Type(target=n, text="Ada")),
    "type a date": ("<input type=date aria-label=Day>", "Day", lambda n: Type(target=n, text="2026-02-03")),
    "select": ("<select aria-label=Size><option>S<option>M</select>", "Size", lambda n: Select(target=n, options=("M",))),
    "set": ("<input type=range aria-label=Loud>", "Loud", lambda n: Set(mark=n, value="70")),
    "upload": ("<input type=file aria-label=File>", "File", lambda n: Upload(mark=n, files=("a.txt",))),
    "key": ("<input aria-label=Name>", "Name", lambda n: Press(target=n, keys="ArrowDown")),
    "drag": (TWO, "Save", lambda n: Drag(source=n, target=Point(x=300, y=200))),
    "in a shadow tree": ("<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<button>Save</button>'</script>", "Save", lambda n: Click(target=n)),
    "in a frame": (f"<iframe style='border:7px solid;padding:9px' srcdoc=\"{TWO}\"></iframe>", "Save", lambda n: Click(target=n)),
    "after scrolling": ("<div style='height:300px;overflow:auto'><button>Save</button><p style='height:900px'></div>", "Save", lambda n: Click(target=n)),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("does", OWN)
async def test_what_the_agent_does_by_its_own_hands_is_witnessed_and_right(on: On, does: str, tmp_path: Path) -> None:
    body, name, action = OWN[does]
    file = tmp_path / "a.txt"
    file.write_text("a")
    async with on(body, files=(file,)) as watched:
        assert right(await watched.does(action(watched.mark(name).number)))


@pytest.mark.thorough
async def test_in_a_frame_of_another_site_a_press_is_witnessed_right_or_wrong(on: On, serve: Server) -> None:
    other = serve({"/": TWO}).replace("127.0.0.1", "localhost")
    async with on(f"<p style='height:50px'><iframe style='border:5px solid' src='{other}'></iframe>") as watched:
        number = watched.mark("Save").number
        assert right(await watched.does(Click(target=number)))
        await watched.look()
        told = await watched.does(Click(target=number), lambda: watched.press(watched.mark("Delete")))
        assert (told.witnessed, len(told.wrong)) == (2, 1)


async def test_a_press_that_leads_to_another_document_is_told_before_it_and_what_is_done_there_too(on: On) -> None:
    async with on("<a href='/next'>Next</a>", {"/next": TWO}) as watched:
        assert right(await watched.does(Click(target=watched.mark("Next").number)))
        assert watched.page.url.endswith("/next")
        await watched.look()
        told = await watched.does(Click(target=watched.mark("Save").number))
        assert (told.witnessed, told.unwitnessed, told.wrong) == (2, 0, ())


@pytest.mark.thorough
async def test_what_was_not_noted_is_not_witnessed_and_never_right(on: On) -> None:
    async with on("<a href='/next'>Next</a>", {"/next": TWO}) as watched:
        await watched.page.goto(watched.page.url + "next")
        told = await watched.does(Click(target=watched.mark("Next").number), lambda: watched.page.click("#a"))
        assert (told.witnessed, told.unwitnessed, told.wrong) == (0, 1, ())
        watched.seen = await watched.browser.observe()
        watched.witness.hear(Observed(step=2, observation=watched.seen))
        told = await watched.does(Click(target=watched.mark("Save").number))
        assert (told.witnessed, told.unwitnessed, told.wrong) == (0, 2, ())


@pytest.mark.thorough
async def test_text_that_goes_to_a_field_that_took_the_focus_is_wrong(on: On) -> None:
    async with on("<input aria-label=Name onclick=code.focus()> <input id=code aria-label=Code>") as watched:

        async def typed() -> None:
            await watched.press(watched.mark("Name"))
            await watched.page.keyboard.type("Ada")

        [wrong] = (await watched.does(Type(target=watched.mark("Name").number, text="Ada"), typed)).wrong
        assert wrong.sentence.endswith("reached <input> “Code”")


@pytest.mark.thorough
async def test_in_a_closed_shadow_root_nobody_can_tell(on: On) -> None:
    inside = "host.attachShadow({mode: 'closed'}).innerHTML"
    async with on(f"<div id=host></div><script>{inside} = '{TWO}'</script>") as watched:
        told = await watched.does(Click(target=watched.mark("Save").number))
        assert (told.witnessed, told.unwitnessed, told.wrong) == (0, 1, ())


@pytest.mark.thorough
async def test_of_a_row_and_its_first_line_of_which_the_same_part_shows_nobody_can_tell(on: On) -> None:
    row = "<div onclick=1 style='cursor:pointer;height:90px'><p style='margin:0;height:30px'>Save</p>all</div>"
    async with on(
        f"<div style='height:110px;width:200px;overflow:auto'><p style='margin:0;height:90px'>{row}</div>"
    ) as watched:
        told = await watched.does(Click(target=watched.mark("Save all").number))
        assert (told.witnessed, told.unwitnessed, told.wrong) == (0, 1, ())


@pytest.mark.thorough
async def test_of_what_is_drawn_on_one_element_the_place_tells_which_it_was(on: On) -> None:
    drawn = "<canvas id=c width=400 height=200 tabindex=0></canvas><script>const d = c.getContext('2d'); d.fillStyle = '#36c'; d.fillRect(20, 20, 100, 60); d.fillRect(220, 100, 100, 60)</script>"
    async with on(drawn) as watched:
        first, second = [mark for mark in watched.seen.marks if mark.surface is not None]
        assert right(await watched.does(Click(target=first.number)))
        told = await watched.does(Click(target=first.number), lambda: watched.press(second))
        assert (told.witnessed, len(told.wrong)) == (2, 1)
        whole = next(mark for mark in watched.seen.marks if mark.kind == "surface")
        told = await watched.does(Click(target=whole.number), lambda: watched.press(second))
        assert (told.witnessed, len(told.wrong)) == (3, 1)


@pytest.mark.thorough
async def test_what_names_no_mark_sends_nothing_or_is_refused_is_not_counted(on: On) -> None:
    async with on(f"{TWO}<label><input type=checkbox checked>Agree</label>") as watched:
        await watched.does(Click(target=Point(x=5, y=300)))
        await watched.look()
        await watched.does(Hover(target=watched.mark("Save").number))
        await watched.does(Press(keys="Escape"))
        await watched.look()
        await watched.does(Check(mark=watched.mark("Agree").number, checked=True))
        watched.witness.hear(Intended(step=1, index=0, action=Click(target=Cell(mark=99, row=1, column=1))))
        refused = Outcome(status="refused", refusal="unknown_mark", sentence="")
        watched.witness.hear(Happened(step=1, index=0, outcome=refused))
        assert watched.witness.result == Witnessed(witnessed=0, unwitnessed=0)


HOSTILE = """<form id=f><input name=tagName><input name=parentNode><input name=composedPath><button type=button id=a>Save</button>
<button type=button id=b>Delete</button></form><script>
Event.prototype.composedPath = () => [b]; Array.prototype.map = Array.prototype.filter = Array.prototype.find = () => [];
JSON.stringify = () => '{}'; Document.prototype.elementFromPoint = () => b; Element.prototype.getBoundingClientRect = () => 0;
</script>"""


async def test_a_hostile_page_changes_nothing_of_what_is_told(on: On) -> None:
    async with on(HOSTILE) as watched:
        number = watched.mark("Save").number
        assert right(await watched.does(Click(target=number)))
        await watched.look()
        told = await watched.does(Click(target=number), lambda: watched.press(watched.mark("Delete")))
        assert (told.witnessed, len(told.wrong)) == (2, 1)


@pytest.mark.thorough
async def test_a_page_sees_nothing_of_the_witness(on: On) -> None:
    async with on(f"{TWO}<div id=host></div>") as watched:
        await watched.page.evaluate(WATCH)
        before = await watched.page.evaluate(TRACES)
        for _ in range(2):
            await watched.look()
        assert await watched.page.evaluate(TRACES) == before


async def test_a_page_that_is_gone_breaks_nothing(page: Page, on: On) -> None:
    async with on(TWO) as watched:
        await page.close()
        await watched.witness.note(watched.seen.model_copy(update={"id": "another"}))
        assert watched.witness.result == Witnessed(witnessed=0, unwitnessed=0)


@pytest.mark.thorough
async def test_with_a_witness_an_item_has_the_same_pictures_and_steps_as_a_run_without(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    url = serve({"/": "<title>Notes</title><button onclick=\"this.outerHTML = '<p>Saved'\">Save</button>"})
    path = tmp_path / "notes.py"
    task = {"id": "save", "goal": "Save", "start_url": url, "steps": ["click Save", "finish"], "expect": ["text=Saved"]}
    path.write_text(f"suite = {[task]!r}", "utf-8")
    suite, settings = suite_named(str(path)), Settings()
    [item] = items_of(suite, ["steps"], settings)
    [result] = await run_items([item], suite, settings, tmp_path / "out")
    again = await run_items([item], suite, settings, tmp_path / "out")

    plain = ScriptedModel([[Click(target=1)], [Finish()]])
    agent = Agent(Task(goal="Save", start_url=url), model=plain, page=page, settings=Settings(runs=tmp_path / "runs"))
    run = await agent.run()
    assert result.witness == Witnessed(witnessed=1, unwitnessed=0)
    assert again == [result]
    assert [step.observation.marked.sha256 for step in run.steps] == list(result.pictures)
