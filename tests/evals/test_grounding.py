"""Where things are on pictures: steps of frozen runs, exported pictures, and data in Mind2Web's layout."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import mind2web_sample as sample
import pytest
from PIL import Image

from tests.record.record_builder import done, repeated_story, run, step_events, write_run
from vision_agent.actions import Action, Click, Select, Type
from vision_agent.errors import UsageError
from vision_agent.evals.answer_grading import grade_decision
from vision_agent.evals.items import ItemResult
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.frozen import freeze
from vision_agent.evals.suites.mind2web import build_paper, read_mind2web
from vision_agent.evals.suites.offline import PageQuestion
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.events import Ended, Started
from vision_agent.export.formats import export
from vision_agent.settings import Settings
from vision_agent.types import Decision, Ending
from vision_agent.vision.image_limits import image_limits_for


async def asked(folder: Path, out: Path, *models: str) -> list[ItemResult]:
    suite, settings = suite_named("grounding", folder=folder), Settings()
    return await run_items(items_of(suite, models, settings), suite, settings, out)


def answered(question: PageQuestion, *actions: Action) -> Any:
    return grade_decision(Decision(author="model", actions=actions), question.reference, question.seen)


# --- our own ----------------------------------------------------------------------------------------------------------


async def test_each_step_of_a_frozen_run_is_an_instruction_on_its_picture(tmp_path: Path) -> None:
    write_run(tmp_path / "runs", repeated_story())
    freeze([tmp_path / "runs"], tmp_path / "pages")

    results = await asked(tmp_path / "pages", tmp_path / "out", "random")

    assert [result.item.task.partition("/")[2] for result in results] == ["1", "2", "3"]
    assert all(len(result.grades) == 1 for result in results)
    assert all(result.grades[0].operation_f1 is None for result in results)
    assert results[1].item.content == {
        "instruction": "Choose the size and add to the cart",
        "sha256": results[0].item.content["sha256"],  # type: ignore[index,call-overload]
    }


async def test_an_instruction_does_not_give_the_number_away(tmp_path: Path) -> None:
    events = [
        Started(run=run("a")),
        *step_events(1, (Click(target=5), done()), next_goal="Click mark 5"),
        *step_events(2, (Click(target=5), done()), next_goal="click Add to cart"),
        Ended(ending=Ending(status="done", sentence="Done.")),
    ]
    write_run(tmp_path / "runs", events)
    freeze([tmp_path / "runs"], tmp_path / "pages")

    [first, second] = await asked(tmp_path / "pages", tmp_path / "out", "steps")

    assert first.item.content["instruction"] == "click Add to cart"  # type: ignore[index,call-overload]
    assert (first.score, second.score) == (1.0, 1.0)


async def test_exported_pictures_are_asked_about_by_points(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", repeated_story()).path
    export(folder, "grounding", tmp_path / "pictures")

    suite = suite_named("grounding", folder=tmp_path / "pictures")
    [typed, _] = [suite._entries[task].load() for task in suite.tasks]  # type: ignore[union-attr]
    [question] = typed.questions
    assert typed.task.goal == "Find the wool jumper"
    assert question.seen.marks == ()
    left, top = json.loads((tmp_path / "pictures" / "metadata.jsonl").read_text().splitlines()[0])["box"][:2]
    assert answered(question, Click(target={"x": left + 2, "y": top + 2})).is_right
    assert not answered(question, Click(target={"x": left - 2, "y": top + 2})).is_right

    results = await asked(tmp_path / "pictures", tmp_path / "out", "random", "match")
    assert all(len(result.grades) == 1 and not result.error for result in results)
    assert all(result.grades[0].answer for result in results)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"file_name": "../secret.png", "instruction": "x", "box": [0, 0, 1, 1]}, "line 1: the picture"),
        ({"file_name": "gone.png", "instruction": "x", "box": [0, 0, 1, 1]}, r"gone\.png cannot be read"),
        ({"file_name": "a.png", "box": [0, 0, 1, 1]}, "line 1: instruction: Field required"),
        ({"file_name": "metadata.jsonl", "instruction": "x", "box": [0, 0, 1, 1]}, "is not a picture"),
    ],
)
def test_pictures_that_do_not_fit_are_refused_with_their_line(tmp_path: Path, line: object, said: str) -> None:
    Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "metadata.jsonl").write_text(json.dumps(line))
    with pytest.raises(UsageError, match=said):
        suite_named("grounding", folder=tmp_path / "set")


def test_a_large_picture_is_made_to_fit_and_its_box_with_it(tmp_path: Path) -> None:
    Image.new("RGB", (3000, 2000), "white").save(tmp_path / "a.png")
    line = {"file_name": "a.png", "instruction": "The middle", "box": [1400, 900, 1600, 1100]}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(line))
    suite = suite_named("grounding", folder=tmp_path, longest_edge=600)
    [question] = suite._entries["0001"].load().questions  # type: ignore[union-attr]
    assert (question.seen.marked.size.width, question.seen.marked.size.height) == (600, 400)
    assert answered(question, Click(target={"x": 300, "y": 200})).is_right
    assert not answered(question, Click(target={"x": 275, "y": 200})).is_right


# --- Mind2Web's layout ------------------------------------------------------------------------------------------------


def questions(folder: Path) -> list[PageQuestion]:
    [recorded] = read_mind2web(folder)
    return list(build_paper(recorded, image_limits_for("")).questions)


def test_candidates_are_marks_on_the_screenful_of_the_right_one(tmp_path: Path) -> None:
    typed, chosen, entered = questions(sample.write_sample(tmp_path))

    assert [(mark.number, mark.kind, mark.name) for mark in typed.seen.marks] == [
        (1, "field", "Title or author"),
        (2, "button", "Find"),
    ]
    assert {mark.name for mark in chosen.seen.marks} == {"Moss & its friends Harbour Reserve", "Branch", "Reserve"}
    assert chosen.seen.scroll.above == 800
    assert (chosen.seen.marked.size.width, chosen.seen.marked.size.height) == (1280, 800)
    branch = next(mark for mark in chosen.seen.marks if mark.tag == "select")
    assert (branch.box.x, branch.box.y) == (100, 200)
    assert all(mark.label is not None for mark in chosen.seen.marks)
    assert "1[:]<input>Title or author" in typed.seen.listing
    assert [step.decision.next_goal for step in entered.before] == [
        "TYPE moss on Title or author",
        "SELECT Harbour on Branch",
    ]


def test_answers_are_graded_by_element_and_operation_as_there(tmp_path: Path) -> None:
    typed, chosen, entered = questions(sample.write_sample(tmp_path))
    branch = next(mark.number for mark in chosen.seen.marks if mark.tag == "select")
    reserve = next(mark.number for mark in entered.seen.marks if mark.tag == "button")

    assert answered(typed, Type(target=1, text="moss")).is_right
    assert answered(typed, Type(target={"x": 110, "y": 70}, text="moss")).is_right
    assert answered(typed, Click(target=1)).element
    assert not answered(typed, Click(target=1)).is_right
    assert answered(chosen, Select(target=branch, options=("Harbour",))).is_right
    assert answered(chosen, Select(target=branch, options=("Hill",))).operation_f1 == 0.5
    assert answered(entered, Click(target=reserve)).is_right


@pytest.mark.parametrize(
    "form",
    ["lines", "bytes", *(pytest.param(form, marks=pytest.mark.thorough) for form in ("rows", "path", "packed"))],
)
def test_the_forms_in_which_the_data_is_given_say_the_same(tmp_path: Path, form: str) -> None:
    plain = questions(sample.write_sample(tmp_path / "plain"))
    folder, task = sample.write_sample(tmp_path / form), sample.task()
    about = {name: value for name, value in task.items() if name != "actions"}
    rows = [{**about, **action} for action in task["actions"]]
    match form:
        case "rows":
            (folder / "tasks.json").write_text(json.dumps(rows))
        case "lines":
            (folder / "tasks.json").rename(folder / "tasks.jsonl")
            (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
        case "bytes":
            out = io.BytesIO()
            sample.picture().save(out, "PNG")
            held = {"bytes": base64.b64encode(out.getvalue()).decode(), "path": None}
            (folder / "tasks.json").write_text(json.dumps([sample.task(held)]))
        case "path":
            (folder / "tasks.json").write_text(json.dumps([sample.task({"path": "library.png"})]))
        case "packed":
            for row in rows:
                row["operation"] = json.dumps(row["operation"])
                row["pos_candidates"] = [json.dumps(each) for each in row["pos_candidates"]]
                row["neg_candidates"] = [json.dumps(each) for each in row["neg_candidates"]]
            (folder / "tasks.json").write_text(json.dumps(rows))
    assert [(each.seen.marked.sha256, each.reference) for each in questions(folder)] == [
        (each.seen.marked.sha256, each.reference) for each in plain
    ]


async def test_the_baselines_answer_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    task = sample.task()
    task["actions"][0]["pos_candidates"] = []
    task["actions"][1]["screenshot"] = None
    folder = sample.write_sample(tmp_path / "data", task)
    suite = suite_named("grounding", folder=folder)
    assert getattr(suite, "note", "").startswith("2 of 3 actions have no screenshot")

    [match] = await asked(folder, tmp_path / "out", "match")

    assert match.item.task == "made-up-1"
    assert [each.is_right for each in match.grades] == [True]  # `Reserve` stands in the goal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[{}]", "an entry has no annotation_id"),
        ('[{"annotation_id": "a", "actions": []}]', "confirmed_task: Field required"),
        (json.dumps([sample.task("../library.png")]), "is not in the data folder"),
        (json.dumps([sample.task("gone.png")]), "cannot be read"),
        (json.dumps([sample.task("tasks.json")]), "screenshot is not a picture"),
        ("[]", "nothing to ask about"),
    ],
)
def test_data_of_another_layout_is_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    folder = sample.write_sample(tmp_path / "data")
    (folder / "tasks.json").write_text(text)
    with pytest.raises(UsageError, match=said):
        suite_named("grounding", folder=folder)


def test_an_empty_folder_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no pictures with instructions"):
        suite_named("grounding", folder=tmp_path)


def test_a_task_that_is_in_two_files_is_refused(tmp_path: Path) -> None:
    folder = sample.write_sample(tmp_path / "data")
    (folder / "more.json").write_text((folder / "tasks.json").read_text())
    with pytest.raises(UsageError, match=r"made-up-1 is in both .*more\.json and .*tasks\.json"):
        suite_named("grounding", folder=folder)


async def test_what_data_says_cannot_steer_a_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2Jgone\n"
    task = {**sample.task(), "annotation_id": evil}
    task["actions"][0]["operation"]["value"] = evil
    [result] = await asked(sample.write_sample(tmp_path / "data", task), tmp_path / "out", "match")
    told = [result.item.task, result.sentence, *(each.sentence for each in result.grades)]
    assert all(text.isprintable() for text in told)
