"""Claims about runs recorded by an earlier version: they can be read, shown, verified, replayed and resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import get_args

import pytest
from playwright.async_api import BrowserContext, Page

from tests.sessions import ending_of
from vision_agent import Settings
from vision_agent.errors import RecordError
from vision_agent.exemplars import Exemplar
from vision_agent.export.cere import read_cere, verify_cere
from vision_agent.export.formats import Form, export
from vision_agent.memory.file import parse_exemplar
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Label, Mark
from vision_agent.record import read, verify, write_report
from vision_agent.record.diff import diff
from vision_agent.record.diff_page import write_diff
from vision_agent.record.read import read_lines
from vision_agent.replay import Replay, resume
from vision_agent.types import Run

RECORDS = Path(__file__).parent.parent / "fixtures" / "records"
ENDED = ("finished", "takeover", "lines")
ALL = (*ENDED, "interrupted")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Where the records are, as copies."""
    return shutil.copytree(RECORDS, tmp_path / "old")


@pytest.fixture
async def shop(context: BrowserContext) -> Page:
    """A page on the site that the records are of."""
    body = (RECORDS / "shop.html").read_text("utf-8")
    await context.route("http://shop.test/**", lambda route: route.fulfill(body=body, content_type="text/html"))
    page = await context.new_page()
    await page.set_viewport_size({"width": 400, "height": 300})
    return page


@pytest.mark.parametrize("name", ALL)
def test_a_run_of_an_earlier_version_is_verified_and_shown(old: Path, name: str) -> None:
    faults = [fault.sentence for fault in verify(old / name).faults]
    is_cut = name == "interrupted"
    assert faults == ["Line 14: the record stops before the end of the run: it was interrupted or cut"] * is_cut
    assert write_report(old / name).stat().st_size > 10_000


def test_what_an_earlier_version_recorded_means_the_same(old: Path) -> None:
    run = read(old / "finished")
    kinds = [action.kind for step in run.steps for action, _ in step.carried_out]
    assert kinds == ["type", "type", "select", "ask", "custom", "click", "scroll", "click", "finish"]
    assert (ending_of(run).answer, run.limit) == ("Ordered for Ann", None)
    assert any(step.is_by_hand for step in read(old / "takeover").steps)


def test_a_label_of_an_earlier_version_is_read_and_written_as_one_of_today(old: Path) -> None:
    recorded = json.loads((old / "finished" / "steps.jsonl").read_text("utf-8").splitlines()[1])["observation"]["marks"]
    marks = read(old / "finished").steps[0].observation.marks
    wanted = [Label.model_validate({"box": each["label_box"], "colour": each["colour"]}) for each in recorded]

    assert [mark.label for mark in marks] == wanted
    assert [Mark.model_validate_json(mark.model_dump_json()) for mark in marks] == list(marks)
    assert not any("label_box" in mark.model_dump() for mark in marks)
    with pytest.warns(DeprecationWarning, match=r"now Mark\.label\.box"):
        assert marks[0].label_box == wanted[0].box
    with pytest.warns(DeprecationWarning, match=r"now Mark\.label\.colour"):
        assert marks[0].colour == wanted[0].colour


@pytest.mark.parametrize("form", get_args(Form))
@pytest.mark.parametrize("name", ENDED)
def test_it_is_exported_in_every_form(old: Path, name: str, form: Form, tmp_path: Path) -> None:
    assert export(old / name, form, tmp_path / f"out-{form}")
    assert list(tmp_path.glob("out-*"))


def test_two_of_them_are_compared(old: Path, tmp_path: Path) -> None:
    found = diff(old / "lines", old / "finished")
    assert found.pairs
    assert write_diff(found, tmp_path / "diff.html").stat().st_size > 1000


def test_a_golden_session_and_an_exemplar_are_read(old: Path, tmp_path: Path) -> None:
    assert verify_cere(old / "lines.cere").faults == ()
    run = read(read_cere(old / "lines.cere", tmp_path / "runs"))
    assert len(run.steps) == len(read(old / "lines").steps)
    exemplar = parse_exemplar((old / "exemplar.json").read_bytes(), old / "exemplar.json")
    assert isinstance(exemplar, Exemplar)
    assert exemplar.goal == "Order for Ann"


async def test_it_is_replayed(old: Path, shop: Page, tmp_path: Path) -> None:
    replay = Replay(old / "lines", page=shop, settings=Settings(runs=tmp_path / "runs"))
    run: Run = await replay.run()

    assert not replay.stopped
    assert await shop.text_content("output") == "Ordered for Ann"
    assert ending_of(run).status == "done"


async def test_it_is_resumed(old: Path, shop: Page, tmp_path: Path) -> None:
    await shop.goto("http://shop.test/")
    asked = []

    async def person(question: str) -> str:
        asked.append(question)
        return "no" if "Was it done?" in question else "It is put in again."

    lines = ['type "Ann" into Name', 'select "Large" in Size', "click Order", 'finish "Ordered"']
    agent = resume(old / "interrupted", model=StepsModel(lines), page=shop, person=person,
                   settings=Settings(runs=tmp_path / "runs"))  # fmt: skip
    run = await agent.run()

    assert any("click" in question.lower() for question in asked)
    assert ending_of(run).status == "done"
    assert [fault.sentence for fault in verify(old / "interrupted").faults] == []


def test_a_kind_of_action_that_nobody_knows_is_named(old: Path) -> None:
    file = old / "lines" / "steps.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"kind":"click"', b'"kind":"teleport"'))

    with pytest.raises(RecordError, match="teleport"):
        read_lines(old / "lines")
    with pytest.raises(RecordError, match="teleport"):
        read(old / "lines")
    assert json.loads((old / "lines" / "run.json").read_text("utf-8"))["task"]["goal"] == "Order for Ann"
