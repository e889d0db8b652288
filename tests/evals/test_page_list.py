"""Freezing a list of pages: what is right on each is found on what was seen of it, and all are stored or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.record.record_builder import observation
from vision_agent.actions import Click, Point, Press, Type
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.evals.answer_grading import Reference, grade_decision
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.frozen import SHOTS, FrozenTask, create_frozen
from vision_agent.evals.suites.page_list import freeze_page, freeze_pages
from vision_agent.evals.suites.suite_file import FilePage
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.settings import BrowserSettings, ObserveSettings, Settings
from vision_agent.types import Decision

NOTES = """<title>Notes</title><h1>Notes</h1><label>Title <input></label>
<button>Save</button> <button>Save as draft</button> <a href=/>Home</a> <a href=/help>Home</a>"""


def frozen(*lines: str, **fields: Any) -> FrozenTask:
    page = FilePage(id="shop", goal="Buy it", start_url="http://shop.test/", reference=lines, **fields)
    return freeze_page(page, observation(timings={"scan": 0.1}))


def reference(*lines: str) -> Reference:
    return frozen(*lines).references[1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- what is right on a page ------------------------------------------------------------------------------------------


def test_a_line_is_found_on_the_marks_and_is_the_reference_of_the_one_step() -> None:
    frozen_task = frozen('type "a@b.c" into Search', user_data={"name": "Ada"})
    [step], task = frozen_task.steps, frozen_task.task
    assert step.decision.actions == (Type(target=1, text="a@b.c"),)
    assert step.decision.next_goal == 'type "a@b.c" into Search'
    assert step.carried_out == ()
    assert (task.goal, task.start_url, task.user_data) == ("Buy it", "http://shop.test/", {"name": "Ada"})
    [aim] = frozen_task.references[1].aims
    assert (aim.marks, frozen_task.references[1].operations) == ((1,), ("TYPE a@b.c",))


def test_a_place_can_be_right_too() -> None:
    [aim] = reference("click (20, 390)").aims
    assert (aim.marks, aim.boxes[0].contains(Point(x=20, y=390))) == ((), True)


@pytest.mark.parametrize(
    ("lines", "answer", "is_right"),
    [
        (("click Add to cart", "click Gift wrap"), Click(target=5), True),
        (("click Add to cart", "click Gift wrap"), Click(target=4), True),
        (("click Add to cart", "click Gift wrap"), Click(target=Point(x=400, y=318)), True),
        (("click Add to cart", "click Gift wrap"), Click(target=2), False),
        (("click Add to cart", "click Gift wrap"), Click(target=5, count=2), False),
        (('type "a" into Search', 'type "b" into Search'), Type(target=1, text="b"), True),
        (('type "a" into Search', 'type "b" into Search'), Type(target=1, text="c"), False),
        (("press Enter", "press Space"), Press(keys="Space"), True),
        (("click Add to cart", "click Add to cart"), Click(target=5), True),
    ],
)
def test_where_several_lines_are_right_any_of_them_is(lines: tuple[str, ...], answer: Any, is_right: bool) -> None:
    decision = Decision(author="model", actions=(answer,))
    assert grade_decision(decision, reference(*lines), observation()).is_right is is_right


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("click Remove",), "'click Remove': Nothing here is called 'Remove'; the nearest are "),
        (("click Add to cart", 'type "a" into Search'), "do different things to different targets"),
        (("drag Cart (0) to Search", "drag Size to Search"), "do different things to different targets"),
        (("finish",), "'finish' does nothing on the page that could be graded"),
        (("scroll down",), "'scroll down' does nothing on the page"),
        (("click (2000, 5)",), "outside the picture of 640×400"),
    ],
)
def test_what_could_not_be_graded_is_no_reference(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        frozen(*lines)


def test_nothing_of_the_moment_is_stored() -> None:
    later = observation(id="o2", taken_at="2026-05-05T05:05:05Z", timings={"scan": 9.0})
    page = FilePage(id="shop", goal="Buy it", start_url="http://shop.test/", reference=("click Add to cart",))
    assert freeze_page(page, later).model_dump_json() == frozen("click Add to cart").model_dump_json()
    told = FilePage.model_validate({**page.model_dump(), "at": "2026-03-04T09:30:00Z"})
    assert freeze_page(told, later).steps[0].observation.taken_at == told.at


def test_a_folder_that_was_not_filled_to_the_end_is_not_there(tmp_path: Path) -> None:
    def begin(*, breaks: bool) -> None:
        with create_frozen(tmp_path / "pages") as folder:
            folder.add(frozen("click Add to cart"))
            if breaks:
                raise KeyError

    with pytest.raises(KeyError):
        begin(breaks=True)
    assert names(tmp_path) == []
    begin(breaks=False)
    assert names(tmp_path) == ["pages"]


# --- from pages -------------------------------------------------------------------------------------------------------


def listed(folder: Path, *tasks: tuple[str, str, str]) -> Path:
    """A list of pages: of each its id, its address and its reference."""
    path = folder / "pages.toml"
    goal = "Save the note as a draft: click Save as draft"
    lines = [
        f"[[tasks]]\nid = {name!r}\ngoal = {goal!r}\nstart_url = {url!r}\nreference = {line!r}"
        for name, url, line in tasks
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


async def test_listed_pages_become_tasks_for_every_model_and_the_same_bytes_each_time(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    site = serve({"/": NOTES})
    pages = listed(tmp_path, ("draft", site, "click Save as draft"), ("title", site, 'type "Tea" into Title'))
    told: list[str] = []

    made = await freeze_pages(pages, tmp_path / "one", Settings(), told.append)
    await freeze_pages(pages, tmp_path / "two", Settings())

    assert (made.tasks, made.references, made.steps, made.pictures) == (2, 2, 2, 2)
    assert told[-1] == "Observing page 2 of 2: title"
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len([path for path in files if path.parent.name == SHOTS]) == 2
    assert all((tmp_path / "two" / path).read_bytes() == (tmp_path / "one" / path).read_bytes() for path in files)

    suite = suite_named("frozen", folder=tmp_path / "one")
    results = await run_items(items_of(suite, ["steps", "match"], Settings()), suite, Settings(), tmp_path / "out")
    assert {(each.item.model, each.item.task): each.score for each in results} == {
        ("steps", "draft"): 1.0,
        ("steps", "title"): 1.0,
        ("match", "draft"): 1.0,
        ("match", "title"): 0.0,
    }
    assert results[0].pictures == results[1].pictures
    grounding = suite_named("grounding", folder=tmp_path / "one")
    [found, *_] = await run_items(items_of(grounding, ["steps"], Settings()), grounding, Settings(), tmp_path / "out")
    assert found.score == 1.0


@pytest.mark.thorough
async def test_all_pages_that_are_no_reference_are_told_at_once_and_nothing_is_written(
    serve: Callable[..., str], closed_port: int, tmp_path: Path
) -> None:
    site = serve({"/": NOTES})
    pages = listed(
        tmp_path,
        ("fine", site, "click Save"),
        ("twice", site, "click Home"),
        ("none", site, "click Sign out"),
        ("gone", f"http://127.0.0.1:{closed_port}/", "click Save"),
    )
    with pytest.raises(UsageError) as told:
        await freeze_pages(pages, tmp_path / "frozen", Settings())

    said = str(told.value)
    assert "Of 4 pages in" in said
    assert "3 cannot be frozen, so nothing was written" in said
    assert "  twice: 'click Home': 'Home' could be any of [" in said
    assert "  none: 'click Sign out': Nothing here is called 'Sign out'; the nearest are [" in said
    assert "  gone: " in said
    assert "(the others are fine: fine)" in said
    assert names(tmp_path) == ["pages.toml"]


@pytest.mark.thorough
async def test_a_page_that_goes_on_changing_is_stored_and_named(serve: Callable[..., str], tmp_path: Path) -> None:
    site = serve(
        {"/": NOTES, "/busy": NOTES + "<p id=p><script>setInterval(() => p.textContent = Date.now(), 20)</script>"}
    )
    pages = listed(tmp_path, ("calm", site, "click Save"), ("busy", f"{site}/busy", "click Save"))
    made = await freeze_pages(pages, tmp_path / "frozen", Settings(observe=ObserveSettings(settle_deadline_s=0.5)))
    assert (made.tasks, made.unrest) == (2, ("busy",))


async def test_without_a_browser_that_is_what_is_said(tmp_path: Path) -> None:
    pages = listed(tmp_path, ("a", "http://shop.test/", "click Save"))
    nowhere = Settings(browser=BrowserSettings(executable_path=tmp_path / "none"))
    with pytest.raises(BrowserUnavailable, match="no file"):
        await freeze_pages(pages, tmp_path / "frozen", nowhere)
    assert names(tmp_path) == ["pages.toml"]
