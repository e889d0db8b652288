"""Claims about what a solver may do: it reads without changing anything, and acts by marks and points only."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from vision_agent.evals import miniwob_solvers
from vision_agent.evals.miniwob_solvers.episode import At, Called, Episode, On, Unsolved, begin_episode

MODULES = sorted(
    path for path in Path(miniwob_solvers.__file__).parent.glob("*.py") if path.stem not in ("episode", "model", "play")
)
PAGE = """
<label>Name <input id=name value=Ada></label> <button onclick="document.title += 'A'">Send</button>
<button onclick="document.title += 'B'">Send</button> <p id=hidden hidden>secret</p>
<div id=list style="height:80px;width:200px;overflow-y:auto">
  <p style="height:600px">long</p><button id=far onclick="document.title += 'F'">Far</button></div>
<canvas id=plane width=100 height=100 style="position:absolute;left:300px;top:200px"
  onclick="document.title += `${event.offsetX},${event.offsetY}`"></canvas>
"""


@pytest.fixture
async def episode(page: Page) -> AsyncIterator[Episode]:
    await page.set_content(PAGE)
    async with begin_episode(page, "Send it") as episode:
        yield episode


@pytest.mark.parametrize(
    "expression",
    [
        "document.querySelector('#far').click()",
        "document.querySelector('#name').value = 'Eve'",
        "document.querySelector('#name').focus()",
        "document.querySelector('#list').scrollTop = 100",
        "document.querySelector('#far').dispatchEvent(new Event('click'))",
        "document.title = 'changed'",
    ],
)
async def test_reading_changes_nothing(expression: str, episode: Episode, page: Page) -> None:
    before = await page.content()

    with pytest.raises(Unsolved, match="side-effect"):
        await episode.read(expression)

    assert await page.content() == before
    assert await page.title() == ""
    assert await page.evaluate("[document.querySelector('#name').value, document.activeElement.localName]") == [
        "Ada",
        "body",
    ]


async def test_what_a_page_says_is_read(episode: Episode) -> None:
    assert await episode.read("(one, two) => [one + two, document.querySelector('#name').value]", 1, 2) == [3, "Ada"]
    assert await episode.texts("button") == ["Send", "Send", "Far"]
    assert await episode.text("#hidden") == "secret"
    assert [(box.width, box.height) for box in await episode.boxes("canvas")] == [(100, 100)]


async def test_a_page_that_does_not_have_it_says_so(episode: Episode) -> None:
    with pytest.raises(Unsolved, match="no #missing"):
        await episode.text("#missing")


async def test_one_of_several_alike_is_meant_by_its_place(episode: Episode, page: Page) -> None:
    with pytest.raises(Unsolved, match="2 marks are"):
        await episode.click(Called("Send"))

    await episode.click(Called("Send", tag="button", place=1))
    await episode.click(On("button", "Send", place=0))

    assert await page.title() == "BA"
    assert not episode.used_points


async def test_what_is_not_there_is_told_with_what_is(episode: Episode) -> None:
    with pytest.raises(Unsolved, match=r"(?s)0 marks are .*>Send"):
        await episode.click(Called("Receive"))
    with pytest.raises(Unsolved, match="the page has 0 elements"):
        await episode.click(On("#hidden"))


async def test_what_lies_below_in_a_container_is_scrolled_to(episode: Episode, page: Page) -> None:
    await episode.click(On("#far"))

    assert await page.title() == "F"
    assert [action.kind for action in episode.actions] == ["scroll", "click"]


async def test_a_point_is_one_of_the_page_and_is_told(episode: Episode, page: Page) -> None:
    assert not episode.used_points

    await episode.click(At(320, 240))

    assert await page.title() == "20,40"
    assert episode.used_points


async def test_a_refusal_is_raised_in_its_own_words(episode: Episode) -> None:
    with pytest.raises(Unsolved, match="lies outside the picture"):
        await episode.click(At(5000, 10))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_solver_reaches_the_page_only_through_its_episode(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))

    imported = [each.module for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    reached = [each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)]

    assert not [each for each in imported if each and (each.startswith("playwright") or ".browser" in each)]
    assert not [each for each in reached if each.startswith("_")]
    assert not [each for each in ast.walk(tree) if isinstance(each, ast.Import) and "playwright" in each.names[0].name]


def test_an_episode_hands_out_no_page() -> None:
    offered = {name for name in vars(Episode) if not name.startswith("_")}

    assert offered == {
        *("used_points", "look", "seen", "read", "texts", "text", "boxes", "until", "is_over", "find", "act"),
        *("click", "submit", "type", "set", "check", "press", "select", "hover", "drag", "drag_by", "scroll_to_end"),
        "target",
    }
