from __future__ import annotations

import csv
import io
from pathlib import Path

from result_builder import result
from rich.console import Console

from vision_agent.evals.items import ItemResult, Witnessed, WrongElement
from vision_agent.evals.results.summary import BaselineScore, Reached, ResultsSummary, summary
from vision_agent.evals.results.tables import as_csv, as_json, as_markdown, show, show_ablation, verdict_in_words
from vision_agent.evals.statistics import mcnemar, wilson
from vision_agent.settings import ModelSettings, Settings


def told(*results: ItemResult) -> ResultsSummary:
    return summary({"": results})


def test_errors_and_what_nobody_could_judge_are_counted_and_in_no_rate() -> None:
    [row] = told(
        result("a", "match", True),
        result("b", "match", False),
        result("c", "match", None),
        result("d", "match", None, error="The browser failed"),
    ).rows

    assert (row.items, row.scored, row.passed, row.errors, row.unscored) == (4, 2, 1, 1, 1)
    assert row.success == wilson(1, 2)


def test_a_setting_without_any_score_has_no_rate_and_not_a_zero() -> None:
    found = told(result("d", "match", None, error="No key"))

    assert found.rows[0].success is None
    assert found.rows[0].score is None
    assert "no scores" in as_markdown(found)
    assert "1 errors" in as_markdown(found)


def test_figures_are_summed_and_averaged_over_runs() -> None:
    [row] = told(result("a", "match", True), result("b", "match", True, steps=2, good_steps=2, model_s=4.0)).rows

    assert row.steps is not None
    assert row.steps.value == 3
    assert row.step_success == 5 / 6
    assert row.refusals == {"covered": 2}
    assert (row.tokens, row.cost_usd) == (200, 0.02)
    assert (row.model_s, row.page_s, row.agent_s) == (3.0, 1.0, 0.5)


def test_a_cost_that_is_not_known_once_is_not_known() -> None:
    found = told(result("a", "match", True), result("b", "match", True, cost_usd=None))
    assert found.rows[0].cost_usd is None
    assert "unknown" in as_markdown(found)


def test_two_models_are_held_against_each_other_on_the_items_both_have_a_score_for() -> None:
    first = [result(task, "match", task != "z") for task in "abcdefz"]
    second = [result(task, "random", task == "z") for task in "abcdez"]
    [pair] = told(*first, *second, result("f", "random", None, error="lost")).pairs

    assert (pair.first, pair.second, pair.items) == ("match", "random", 6)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (0, 5, 1, 0)
    assert pair.p == mcnemar(5, 1) == 14 / 64
    assert pair.difference is not None
    assert pair.difference.value == -4 / 6


def test_a_setting_is_called_better_only_if_the_interval_leaves_out_0() -> None:
    both = [result(task, "match", True) for task in "abcdef"]
    [clear] = told(*both, *(result(task, "random", False) for task in "abcdef")).pairs
    assert verdict_in_words(clear) == "match is better than random on these tasks."
    [unclear] = told(*both, *(result(task, "random", task != "a") for task in "abcdef")).pairs
    assert verdict_in_words(unclear) == "match and random: these results cannot tell which is better."


def test_a_task_whose_goal_was_changed_is_not_held_against_what_it_was() -> None:
    pairs = told(result("a", "match", True), result("a", "random", True, goal="another")).pairs
    assert pairs[0].items == 0
    assert pairs[0].difference is None


def test_settings_that_differ_are_named_by_what_differs() -> None:
    short = Settings(model=ModelSettings(history="short"))
    rows = told(result("a", "match", True), result("a", "match", True, settings=short)).rows
    assert [row.label for row in rows] == ["match model.history=data", "match model.history=short"]


def test_folders_are_told_apart_where_there_are_several() -> None:
    found = summary({"before": [result("a", "match", False)], "after": [result("a", "match", True)]})
    assert [row.label for row in found.rows] == ["before match", "after match"]
    assert found.pairs[0].only_second == 1


def test_tries_of_a_task_tell_whether_one_and_whether_all_of_k_pass() -> None:
    [row] = told(*(result("a", "match", seed == 1, seed=seed) for seed in (1, 2, 3))).rows
    assert {k: round(rate, 4) for k, rate in row.pass_at.items()} == {1: 0.3333, 2: 0.6667, 3: 1.0}
    assert {k: round(rate, 4) for k, rate in row.pass_all.items()} == {1: 0.3333, 2: 0.0, 3: 0.0}


def test_the_same_is_told_as_csv_as_markdown_and_in_a_terminal() -> None:
    found = told(result("a", "match", True), result("a", "x|[y]", False))

    lines = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [line["label"] for line in lines] == ["match", "x|[y]"]
    assert float(lines[0]["success"]) == 1.0
    assert float(lines[0]["refusals_covered"]) == 1
    assert r"| x\|[y] | 0/1 = 0% [0, 79] |" in as_markdown(found)
    console = Console(file=io.StringIO(), width=200)
    show(console, found)
    assert "x|[y]" in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_json_names_each_item_with_its_run(tmp_path) -> None:
    kept = result("a", "match", True).model_copy(update={"run": "runs/one"})
    data = as_json("notes", [kept], told(kept), tmp_path)

    assert data["items"] == [
        {
            "task": "a",
            "seed": 1,
            "model": "match",
            "score": 1.0,
            "passed": True,
            "error": None,
            "run": str(tmp_path / kept.item.folder / "runs" / "one"),
        }
    ]
    assert data["summary"]["rows"][0]["passed"] == 1


def test_what_knows_the_way_and_what_knows_nothing_stand_beside_a_score_on_the_same_items() -> None:
    ours = [result(task, "match", task == "a") for task in "abcd"]
    way = [result(task, "steps", task != "b") for task in "abcx"]
    random = [result(task, "random", False) for task in "abcd"]
    found = told(*ours, *way, *random)
    rows = {row.label: row for row in found.rows}

    assert rows["match"].ceiling == BaselineScore("steps", items=3, passed=2, rate=2 / 3)
    assert rows["match"].floor == BaselineScore("random", items=4, passed=0, rate=0.0)
    assert rows["steps"].ceiling is None
    assert rows["random"].floor is None
    assert "| 0% random | 67% steps on 3 |" in as_markdown(found)
    line = next(csv.DictReader(io.StringIO(as_csv(found))))
    assert (line["ceiling_model"], line["ceiling_items"], line["floor"]) == ("steps", "3", "0.0")


def test_what_passed_less_often_than_a_setting_is_no_ceiling() -> None:
    ours = [result(task, "match", True) for task in "abc"]
    found = told(*ours, *(result(task, "steps", task == "a") for task in "abc"))
    assert {row.label: row.ceiling for row in found.rows} == {"match": None, "steps": None}


def test_without_anybody_who_knows_the_way_no_ceiling_is_told() -> None:
    found = told(result("a", "match", True))
    assert found.rows[0].ceiling is None
    assert "ceiling" not in as_markdown(found).casefold().split("brackets")[1]


def test_a_table_too_wide_for_a_terminal_has_a_column_for_each_setting() -> None:
    found = told(*(result(task, model, task == "a") for task in "ab" for model in ("match", "random")))
    console = Console(file=io.StringIO(), width=80)
    show(console, found)
    lines = [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert ["match", "random"] in lines
    assert ["steps", "4.0", "[4.0,", "4.0]", "4.0", "[4.0,", "4.0]"] in lines


def test_what_lacks_something_is_held_against_the_same_with_all_in_one_table() -> None:
    def with_(*names: str, **more: object) -> Settings:
        return Settings(model=ModelSettings.model_validate({"ablate": names, **more}))

    results = [
        result(task, "a:b", task in passed, settings=settings)
        for settings, passed in (
            (with_("picture"), "a"),
            (with_(), "abcd"),
            (with_("marks"), "abc"),
            (with_("marks", history="short"), ""),
        )
        for task in "abcd"
    ]
    found = told(*results)

    assert [(pair.first, pair.second) for pair in found.ablations] == [
        ("a:b with all model.history=data", "a:b without picture model.history=data"),
        ("a:b with all model.history=data", "a:b without marks model.history=data"),
    ]
    assert [pair.only_first for pair in found.ablations] == [3, 1]
    assert len(found.pairs) == 6
    assert found.ablations[0].p_adjusted < next(
        pair.p_adjusted for pair in found.pairs if pair.second == found.ablations[0].second
    )
    console = Console(file=io.StringIO(), width=200)
    show_ablation(console, found)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "a:b without marks model.history=data     3/4 = 75% [30, 95]     -25% [-75, +0]" in said
    assert "history=short" not in said
    assert "### notes, ablations" in as_markdown(found)


def test_wrong_elements_are_told_of_what_was_witnessed_and_what_was_not_stands_beside_it() -> None:
    wrong = WrongElement(step=3, sentence="Click [4] “Save” reached <button> “Delete”")
    seen = [Witnessed(witnessed=9, unwitnessed=2, wrong=(wrong,)), Witnessed(witnessed=11, unwitnessed=1), None]
    results = [
        result(task, "x", True).model_copy(update={"witness": each}) for task, each in zip("abc", seen, strict=True)
    ]
    found = told(*results)

    assert found.rows[0].reached == Reached(witnessed=20, wrong=1, rate=wilson(1, 20), unwitnessed=3)
    assert "| 1/20 = 5% [1, 24], 3 not witnessed |" in as_markdown(found)
    assert "- x, a seed 1, step 3: Click [4] “Save” reached <button> “Delete”" in as_markdown(found)
    [line] = csv.DictReader(io.StringIO(as_csv(found)))
    assert (line["reached_witnessed"], line["reached_wrong"], line["reached_unwitnessed"]) == ("20", "1", "3")
    data = as_json("notes", results, found, Path("out"))
    assert [len(each["witness"]["wrong"]) if "witness" in each else None for each in data["items"]] == [1, 0, None]
    console = Console(file=io.StringIO(), width=200)
    show(console, found)
    assert "Wrong element: x, a seed 1, step 3: Click [4]" in console.file.getvalue()  # type: ignore[attr-defined]


def test_where_nothing_could_be_witnessed_no_rate_of_wrong_elements_is_told() -> None:
    blind = result("a", "x", True).model_copy(update={"witness": Witnessed(witnessed=0, unwitnessed=4)})
    assert "| 4 not witnessed |" in as_markdown(told(blind))
    assert told(result("a", "x", True)).rows[0].reached is None


def test_how_often_a_judge_agrees_with_the_score_is_told_with_how_it_was_wrong() -> None:
    found = told(
        result("a", "match", True, judged="done"),
        result("b", "match", False, judged="done"),
        result("c", "match", False, judged="not_done"),
        result("d", "match", True, judged="not_done"),
        result("e", "match", True, judged="cannot_tell"),
        result("f", "match", None, judged="done"),
        result("g", "match", True),
    )
    judge = found.rows[0].judge
    assert judge is not None
    assert (judge.judged, judge.agreed, judge.rate) == (4, 2, wilson(2, 4))
    assert (judge.wrongly_done, judge.wrongly_not_done, judge.could_not_tell) == (1, 1, 1)
    assert "2/4 = 50% [15, 85], 1 wrongly done, 1 wrongly not done, 1 undecided" in as_markdown(found)
    assert next(csv.DictReader(io.StringIO(as_csv(found))))["judge_wrongly_done"] == "1"
    assert told(result("a", "match", True)).rows[0].judge is None
