"""CanvasBench: each task fails as its page begins, and its lines lead to the end state that is checked."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from playwright.async_api import Browser, Page
from pydantic import ValidationError

from vision_agent import Agent, assets
from vision_agent.errors import Unavailable, UsageError
from vision_agent.evals.items import ItemResult
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.canvas.build import built, source_hash
from vision_agent.evals.suites.canvas.parts import Rate, parts
from vision_agent.evals.suites.canvas.solver import SceneModel, check_lines
from vision_agent.evals.suites.canvas.suite import CanvasSuite, end_state, verdict
from vision_agent.evals.suites.canvas.tasks import CanvasTask, Level, StateCheck, fault_of
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.settings import Settings

FOLDER = assets.fixtures("canvas")
SUITE = CanvasSuite(FOLDER)
PLAYED = "konva"
"""The application that `make test-rest` builds and plays; `make test-all` plays all."""

PLAIN = """<!doctype html><html><head><title>Lamps</title></head><body>
<canvas id=c width=600 height=300 aria-label=Lamps></canvas><button id=b>Reset</button><script>
const lamps = { red: [100, 150, '#d64545'], blue: [300, 150, '#2463a8'] }, on = new Set(), pen = c.getContext('2d')
const turned = []
function draw() {
  pen.clearRect(0, 0, 600, 300)
  for (const [name, [x, y, colour]] of Object.entries(lamps)) {
    pen.fillStyle = colour; pen.beginPath(); pen.arc(x, y, 40, 0, 7); pen.fill()
    if (on.has(name)) { pen.lineWidth = 8; pen.stroke() }
  }
}
c.onclick = ({ offsetX, offsetY, shiftKey }) => {
  for (const [name, [x, y]] of Object.entries(lamps))
    if (Math.hypot(offsetX - x, offsetY - y) < 40) { shiftKey ? on.clear() : on.add(name); turned.push(name) }
  draw()
}
draw()
window.canvasBench = {
  where(name) {
    const frame = c.getBoundingClientRect()
    if (name === 'at:corner') return { x: frame.x + 580, y: frame.y + 280, width: 4, height: 4 }
    const [x, y] = lamps[name] ?? []
    return x && { x: frame.x + x - 40, y: frame.y + y - 40, width: 80, height: 80 }
  },
  state: () => ({ on: [...on].sort(), turned: turned.length }),
}
</script></body></html>"""
LAMPS = {
    "library": "none", "licence": "MIT", "about": "Two lamps", "half": "tuning",
    "tasks": [
        {"id": "both", "level": "click", "goal": "Switch both lamps on.",
         "steps": ["click {red}", "click {at:corner}", "click {blue}"],
         "checks": [{"at": "on", "is": ["blue", "red"]}, {"at": "turned", "is": 2}]},
        {"id": "missing", "level": "read", "goal": "Switch the green lamp on.", "steps": ["click {green}"],
         "checks": [{"at": "on.0", "is": "green"}]},
    ],
}  # fmt: skip


@pytest.fixture
def lamps(tmp_path: Path) -> CanvasSuite:
    """A suite of one application that needs nothing from npm: it lies in the cache as if it had been built."""
    source = tmp_path / "canvas" / "lamps"
    source.mkdir(parents=True)
    (source / "tasks.json").write_text(json.dumps(LAMPS))
    folder = tmp_path / "cache" / f"lamps-{source_hash(source)}"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(PLAIN)
    return CanvasSuite(source.parent, tmp_path / "cache")


# --- the shape --------------------------------------------------------------------------------------------------------


def test_there_are_sixty_tasks_or_more_on_a_dozen_libraries_and_each_level_on_both_halves() -> None:
    assert len(SUITE.tasks) >= 60
    assert len({library.library for library in SUITE.libraries.values()}) >= 12
    halves = Counter(library.half for library in SUITE.libraries.values())
    assert halves["tuning"] == halves["held out"]
    for half in halves:
        levels = {task.level for library in SUITE.libraries.values() if library.half == half for task in library.tasks}
        assert levels == set(get_args(Level)), half


def test_the_suite_is_known_by_its_name_and_has_two_solvers() -> None:
    suite = suite_named("canvas")
    assert isinstance(suite, CanvasSuite)
    assert {suite.models(task) for task in suite.tasks} == {("solver", "marks")}


@pytest.mark.parametrize("name", SUITE.libraries)
def test_an_application_pins_all_that_it_is_built_with(name: str) -> None:
    folder = FOLDER / name
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert SUITE.libraries[name].library in wanted
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert locked[""]["dependencies"] == wanted
    for package, version in wanted.items():
        assert locked[f"node_modules/{package}"]["version"] == version
    assert all("integrity" in each for path, each in locked.items() if path)
    assert not any("resolved" in each for each in locked.values()), "the registry is the person's own"
    assert (folder / "index.html").is_file()
    assert (folder / "app.js").is_file()


@pytest.mark.parametrize("task", SUITE.tasks)
def test_a_task_has_lines_that_can_be_followed_and_checks(task: str) -> None:
    known = SUITE.task(task)
    check_lines(known.steps)
    assert known.goal.endswith(".") or ":" in known.goal
    assert all("{" in line or line.startswith(("press", "wait", "click")) for line in known.steps)


def test_lines_that_cannot_be_followed_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot be followed"):
        check_lines(["clack {sofa}"])


# --- checks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "state", "fault"),
    [
        ({"at": "a.x", "is": 3, "within": 1}, {"a": {"x": 3.9}}, ""),
        ({"at": "a.x", "is": 3, "within": 1}, {"a": {"x": 4.1}}, "a.x is 4.1, not 3 ± 1"),
        ({"at": "a.x", "is": 3, "within": 1}, {"a": {"x": "3"}}, 'a.x is "3", not 3 ± 1'),
        ({"at": "a", "is": None}, {}, ""),
        ({"at": "a", "is": 1}, {"a": True}, "a is true, not 1"),
        ({"at": "a", "is": ["b", "c"]}, {"a": ["c", "b"]}, 'a is ["c", "b"], not ["b", "c"]'),
        ({"at": "a.1", "is": "c"}, {"a": ["b", "c"]}, ""),
        ({"at": "a.2", "is": "c"}, {"a": ["b", "c"]}, 'a.2 is null, not "c"'),
        ({"at": "a", "holds": "mill and tank"}, {"a": "mill and tank, well"}, ""),
        ({"at": "a", "holds": "farm"}, {"a": "mill"}, 'a is "mill", not a text with "farm"'),
        ({"at": "a", "least": 2, "most": 4}, {"a": 4}, ""),
        ({"at": "a", "least": 2}, {"a": 1}, "a is 1, not 2 to inf"),
        ({"at": "a", "most": 2}, {"a": True}, "a is true, not -inf to 2"),
    ],
)
def test_a_check_says_what_it_found(check: dict[str, object], state: dict[str, object], fault: str) -> None:
    assert fault_of((StateCheck.model_validate(check),), state) == fault  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "check", [{"at": "a"}, {"at": "a", "is": 1, "most": 2}, {"at": "a", "near": 2}, {"at": "a", "is": "b", "within": 2}]
)
def test_a_check_that_says_nothing_or_two_things_is_refused(check: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        StateCheck.model_validate(check)


async def test_a_page_that_offers_nothing_is_not_in_its_end_state(page: Page) -> None:
    task = CanvasTask.model_validate(LAMPS["tasks"][0])  # type: ignore[index]
    await page.set_content("<p>Something else")
    assert await end_state(page) == {}
    assert (await verdict(page, task)).sentence == 'Not reached: on is null, not ["blue", "red"]'
    await page.evaluate("window.canvasBench = { state() { throw new Error('lost') } }")
    told = await verdict(page, task)
    assert (told.passed, "lost" in told.sentence) == (False, True)


# --- fetching ---------------------------------------------------------------------------------------------------------


def test_without_npm_it_is_said_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="canvas/konva are fetched with npm, and there is no npm here") as raised:
        CanvasSuite(FOLDER, tmp_path).prepare(["konva/select-the-sofa"])
    assert "install Node.js" in str(raised.value)


def test_what_was_built_is_found_again_and_something_else_is_built_anew(lamps: CanvasSuite, tmp_path: Path) -> None:
    lamps.prepare(lamps.tasks, pytest.fail)
    source = tmp_path / "canvas" / "lamps"
    before = source_hash(source)
    (source / "tasks.json").write_text("[]")
    assert source_hash(source) == before, "tasks are no part of what is built"
    (source / "app.js").write_text("// another")
    assert source_hash(source) != before


def test_a_fetch_that_fails_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    for name in ("lamps", "common", "bundler"):
        (tmp_path / "canvas" / name).mkdir(parents=True)
    with pytest.raises(Unavailable, match="npm could not fetch the libraries of canvas/lamps: ") as raised:
        built(tmp_path / "canvas" / "lamps", tmp_path / "cache")
    assert "://" not in str(raised.value)
    assert list((tmp_path / "cache").iterdir()) == []


# --- played -----------------------------------------------------------------------------------------------------------


async def test_both_solvers_do_what_can_be_done_and_give_up_where_nothing_is(
    lamps: CanvasSuite, tmp_path: Path
) -> None:
    items = items_of(lamps, ["solver", "marks"], Settings())
    results = await run_items(items, lamps, Settings(), tmp_path / "out")
    assert [result.error for result in results] == [""] * 4
    passed = {(result.item.model, result.item.task): result.passed for result in results}
    assert passed == {
        ("solver", "lamps/both"): True,
        ("marks", "lamps/both"): True,
        ("solver", "lamps/missing"): False,
        ("marks", "lamps/missing"): False,
    }
    rows = {(row.kind, row.name): row.rates for row in parts(results, lamps.libraries)}
    assert rows["level", "click"] == {"solver": Rate(1, 1), "marks": Rate(1, 1)}
    assert rows["half", "tuning"]["marks"] == Rate(1, 2)
    assert rows["library", "lamps"]["solver"] == Rate(1, 2)
    assert ("half", "held out") not in rows


async def test_a_task_of_one_line_says_that_the_line_was_carried_out(page: Page, tmp_path: Path) -> None:
    await page.set_content("<button>Go</button>")
    agent = Agent(
        "Go on", page=page, model=SceneModel("solver", page, ["wait 0.1"]), settings=Settings(runs=tmp_path / "runs")
    )
    assert (await agent.run()).answer == "The line was carried out."


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == PLAYED else pytest.mark.thorough) for name in SUITE.libraries]
)
async def test_no_task_is_done_as_its_page_begins_and_its_lines_do_it(
    name: str, browser: Browser, tmp_path: Path
) -> None:
    try:
        folder = built(FOLDER / name)
    except Unavailable as error:
        pytest.skip(str(error))
    tasks = [task for task in SUITE.tasks if task.startswith(f"{name}/")]
    page = await browser.new_page(viewport={"width": 1280, "height": 800})
    with served(folder) as site:
        await page.goto(site.url)
        await page.wait_for_function("window.canvasBench")
        begins = await end_state(page)
    await page.close()
    assert [task for task in tasks if not fault_of(SUITE.task(task).checks, begins)] == []

    items = items_of(SUITE, ["solver"], Settings(), only=tasks)
    results: list[ItemResult] = await run_items(items, SUITE, Settings(), tmp_path)
    assert {result.item.task: result.error or result.sentence for result in results} == dict.fromkeys(
        tasks, "Every check holds"
    )
