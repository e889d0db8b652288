from __future__ import annotations

from result_builder import result

from vision_agent.evals.answer_grading import Grade
from vision_agent.evals.items import ItemResult
from vision_agent.evals.results.failure_causes import causes
from vision_agent.evals.results.summary import grouped


def told(*results: ItemResult) -> list[tuple[str, str, int]]:
    return [(cause.kind, cause.name, len(cause.items)) for cause in causes(grouped({"": results}))]


def test_what_was_not_passed_is_counted_by_its_ending_and_by_each_refusal() -> None:
    assert told(
        result("a", "match", False, ending="limit", refusals={"covered": 2, "gone": 1}),
        result("b", "match", False, ending="done", refusals={"covered": 1}),
        result("c", "match", False, ending="done", refusals={}),
        result("d", "match", True),
    ) == [
        ("ending", "done", 2),
        ("ending", "limit", 1),
        ("refusal", "covered", 2),
        ("refusal", "gone", 1),
    ]


def test_errors_that_differ_in_numbers_alone_are_one_and_its_first_sentence_is_told() -> None:
    found = causes(
        grouped({"": [result(each, "match", None, error=f"No answer on {each}") for each in ("5001", "5002")]})
    )
    assert [(cause.kind, len(cause.items), cause.sentence) for cause in found] == [("error", 2, "No answer on 5001")]


def test_answers_about_recorded_pages_are_counted_by_the_ways_in_which_they_were_wrong() -> None:
    def grade(answer: str, element: bool, f1: float) -> Grade:
        is_right = element and f1 == 1.0
        fields = {"is_right": is_right, "element": element, "operation_f1": f1, "landed": element}
        return Grade.model_validate({"answer": answer, "reference": "Click [5]", **fields})

    right, other, typed, nothing = (
        grade("Click [5]", True, 1.0),
        grade("Click [2]", False, 1.0),
        grade("Type “a” into [5]", True, 0.5),
        grade("", False, 0.0),
    )
    several = result("a", "match", False).model_copy(update={"grades": (right, other, other, typed)})
    unusable = result("b", "match", False).model_copy(update={"grades": (nothing,)})
    assert told(several, unusable) == [("answer", "element", 1), ("answer", "nothing", 1), ("answer", "operation", 1)]


def test_what_nobody_could_judge_has_no_cause() -> None:
    assert told(result("a", "match", None)) == []
