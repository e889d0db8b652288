from __future__ import annotations

import pytest

from tests.models.seen import mark, point, refused, seen, step
from vision_agent.actions import Action, Cell, Check, Click, Drag, Finish, Hover, Press, Scroll, Select, Set, Type, Wait
from vision_agent.evals.answer_grading import Grade, grade_decision, operation_text, rates, step_reference, word_f1
from vision_agent.geometry import Box
from vision_agent.observation import Grid, MarkState
from vision_agent.types import Decision

CARD = mark(1, "Mug, 9 €", "link", box=Box(x=0, y=0, width=200, height=100))
ADD = mark(2, "Add", box=Box(x=150, y=70, width=40, height=20))
NAME = mark(3, "Name", "field", box=Box(x=0, y=120, width=200, height=20))
SEATS = mark(
    4, "Seats", "surface", source="cv", box=Box(x=300, y=0, width=40, height=20),
    grid=Grid(rows=1, columns=2, cells=((1, 1, 300, 0, 20, 20), (1, 2, 320, 0, 20, 20))),
)  # fmt: skip
GIFT = mark(5, "Gift", "toggle", box=Box(x=0, y=200, width=20, height=20), state=MarkState(checked="true"))
PAGE = seen(CARD, ADD, NAME, SEATS, GIFT)


def grade(done: Action, *answer: Action) -> Grade:
    """Of the answer, where this was done."""
    reference = step_reference(step(1, done, observation=PAGE))
    assert reference is not None
    return grade_decision(Decision(author="model", actions=answer), reference, PAGE)


@pytest.mark.parametrize(
    ("done", "answer", "element", "landed"),
    [
        (Click(target=1), Click(target=1), True, True),
        (Click(target=1), Click(target=3), False, False),
        (Click(target=1), Click(target=point(20, 20)), True, True),
        (Click(target=1), Click(target=point(160, 80)), False, True),  # a press there is for the button in the card
        (Click(target=2), Click(target=point(160, 80)), True, True),
        (Click(target=2), Click(target=point(20, 20)), False, False),
        (Click(target=point(160, 80)), Click(target=2), True, True),  # the point was on the button
        (Click(target=point(600, 380)), Click(target=point(608, 372)), True, True),
        (Click(target=point(600, 380)), Click(target=point(613, 380)), False, False),
        (Click(target=Cell(mark=4, row=1, column=2)), Click(target=Cell(mark=4, row=1, column=2)), True, True),
        (Click(target=Cell(mark=4, row=1, column=2)), Click(target=Cell(mark=4, row=1, column=1)), False, False),
        (Click(target=Cell(mark=4, row=1, column=2)), Click(target=point(330, 10)), True, True),
        (Click(target=4), Click(target=Cell(mark=4, row=1, column=1)), True, True),
        (Drag(source=2, target=3), Drag(source=2, target=point(10, 130)), True, True),
        (Drag(source=2, target=3), Drag(source=2, target=1), False, True),
        (Drag(source=2, target=3), Click(target=2), False, True),
        (Click(target=1), Press(keys="Enter"), False, False),
        (Press(keys="Enter"), Press(keys="Enter"), None, None),
    ],
)
def test_an_answer_means_the_element_or_lands_on_it(
    done: Action, answer: Action, element: bool | None, landed: bool | None
) -> None:
    found = grade(done, answer)
    assert (found.element, found.landed) == (element, landed)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Click(target=1), "CLICK"),
        (Click(target=1, count=2, button="right", modifiers=("Shift",)), "CLICK DOUBLE RIGHT Shift"),
        (Check(mark=5, checked=False), "CLICK"),
        (Check(mark=5, checked=True), "NOTHING"),  # it is ticked
        (Type(target=3, text="two words", submit=True), "TYPE two words"),
        (Set(mark=3, value="2026-02-03"), "TYPE 2026-02-03"),
        (Select(target=3, options=("A", "B c")), "SELECT A B c"),
        (Press(keys="Control+a"), "PRESS Control+a"),
        (Hover(target=1), "HOVER"),
    ],
)
def test_an_operation_is_told_with_its_value(action: Action, said: str) -> None:
    assert operation_text(action, PAGE) == said


def test_f1_counts_each_word_of_operation_and_value_once() -> None:
    assert word_f1("TYPE wool jumper", "TYPE wool jumper") == 1
    assert word_f1("TYPE wool", "TYPE wool jumper") == pytest.approx(0.8)
    assert word_f1("TYPE wool wool", "TYPE wool") == 1
    assert word_f1("CLICK", "TYPE wool") == 0
    assert word_f1("", "CLICK") == 0


def test_a_step_succeeds_with_the_right_element_and_every_word() -> None:
    typed = Type(target=3, text="wool jumper")
    assert grade(typed, typed).is_right
    assert not grade(typed, Type(target=3, text="wool")).is_right
    assert not grade(typed, Type(target=1, text="wool jumper")).is_right
    assert grade(typed, Type(target=3, text="wool")).operation_f1 == pytest.approx(0.8)
    assert grade(typed, Type(target=1, text="wool jumper")).operation_f1 == 1


def test_of_several_actions_the_first_that_does_more_than_look_counts() -> None:
    assert grade(Click(target=2), Wait(), Scroll(), Click(target=2), Click(target=3)).is_right
    assert not grade(Click(target=2), Click(target=3), Click(target=2)).is_right
    assert not grade(Click(target=2), Scroll()).is_right
    assert not grade(Click(target=2), Finish()).is_right


def test_no_answer_and_no_usable_reply_are_wrong_in_every_way() -> None:
    reference = step_reference(step(1, Click(target=2), observation=PAGE))
    assert reference is not None
    for decision in (None, Decision(author="model")):
        found = grade_decision(decision, reference, PAGE)
        assert (found.is_right, found.element, found.operation_f1, found.landed) == (False, False, 0.0, False)
    assert grade_decision(None, reference, PAGE).answer == ""


def test_what_was_refused_looked_or_came_from_the_loop_is_no_reference() -> None:
    assert step_reference(step(1, Click(target=2), observation=PAGE, outcome=refused())) is None
    assert step_reference(step(1, Scroll(), observation=PAGE)) is None
    assert step_reference(step(1, Click(target=2), observation=PAGE, author="loop")) is None
    assert step_reference(step(1, Click(target=77), observation=PAGE)) is None


def test_figures_are_means_over_tasks_of_the_means_of_their_steps() -> None:
    right = grade(Click(target=2), Click(target=2))
    wrong = grade(Click(target=2), Click(target=3))
    no_element = grade(Press(keys="Enter"), Press(keys="Enter"))

    found = rates([[[right, right, right, right]], [[wrong, no_element]]])

    assert found is not None
    assert found.steps == 6
    assert found.element is not None
    assert found.element.value == 0.5  # by steps it would be 0.8
    assert found.step_success is not None
    assert found.step_success.value == 0.75
    assert rates([[[]]]) is None
