"""A solver that decides, in real Chromium: the loop does and records what it wants, and tells it what came of it."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from vision_agent import Agent, Settings, Task
from vision_agent.actions import Click, Type
from vision_agent.evals.miniwob_solvers import Solver
from vision_agent.evals.miniwob_solvers.episode import Called, Episode
from vision_agent.evals.miniwob_solvers.model import start_solver
from vision_agent.memory import EmptyMemory
from vision_agent.settings import ObserveSettings
from vision_agent.types import Run

PAGE = """<label>Name <input id=name></label>
<button onclick="document.title = document.querySelector('#name').value; this.insertAdjacentHTML('afterend',
'<button onclick=\\'document.title += 1\\'>More</button><button>Other</button>')">Send</button>"""


async def solved(page: Page, solver: Solver, runs: Path) -> Run:
    await page.set_content(PAGE)
    settings = Settings(runs=runs, observe=ObserveSettings(quiet_s=0.02, settle_deadline_s=0.5))
    async with start_solver(page, solver) as model:
        model.begin("Send it")
        return await Agent(Task(goal="Send it"), model=model, page=page, settings=settings, memory=EmptyMemory()).run()


async def test_what_it_wants_is_decided_done_and_recorded(page: Page, tmp_path: Path) -> None:
    told: list[str] = []

    async def solver(episode: Episode) -> None:
        seen = await episode.look()
        name, send = seen.marks[0].number, seen.marks[1].number
        # What comes up beside the button stops the batch; what is left is done after another look.
        await episode.act(Type(target=name, text="Ada"), Click(target=send), Click(target=send))
        await episode.click(Called("More", place=0))
        await episode.look()
        told.append((await episode.look()).listing)

    run = await solved(page, solver, tmp_path)

    assert await page.title() == "Ada1"
    assert run.ending is not None
    assert (run.ending.status, run.ending.answer) == ("done", "The solver finished.")
    done = [action.kind for step in run.steps for action, _ in step.carried_out]
    assert done == ["type", "click", "click", "click", "wait", "finish"]
    assert [len(step.decision.actions) for step in run.steps] == [3, 1, 1, 1, 1]
    assert {step.decision.model for step in run.steps} == {"solver"}
    assert "Other" in told[0]


async def test_what_it_cannot_find_ends_it_in_its_own_words(page: Page, tmp_path: Path) -> None:
    async def solver(episode: Episode) -> None:
        await episode.click(Called("Receive"))

    run = await solved(page, solver, tmp_path)

    assert run.ending is not None
    assert run.ending.status == "not_done"
    assert run.ending.answer.startswith("The solver gave up: 0 marks are Called(name='Receive'")


async def test_a_refusal_comes_back_to_it(page: Page, tmp_path: Path) -> None:
    async def solver(episode: Episode) -> None:
        await episode.act(Click(target=99))

    run = await solved(page, solver, tmp_path)

    assert run.ending is not None
    assert "was refused: " in run.ending.answer
