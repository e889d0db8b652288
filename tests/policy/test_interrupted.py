"""Claims about what a run that was cut off may have done: told from the page where it can be, and else asked about."""

from __future__ import annotations

import pytest

from tests.policy.test_rebind import DONE, NOW, page_of, thing, took
from vision_agent.actions import Action, Back, Check, Click, Goto, Press, Read, Scroll, Select, Set, Type, Upload, Wait
from vision_agent.observation import Mark, MarkState, Observation
from vision_agent.policy.interrupted import InterruptedStep, infer_outcome, left_to_do, lost, where_it_stood
from vision_agent.types import Decision, Outcome


def field(value: str | None = None, checked: str | None = None, number: int = 1) -> Mark:
    state = MarkState.model_validate({"value": value, "checked": checked})
    return thing(number, "f", kind="field", role="textbox", state=state)


def on(document: str, mark: Mark) -> Observation:
    """What is seen of a document with this mark."""
    return page_of(mark.model_copy(update={"key": f"{document}.{mark.number}"}))


def cut(was: Mark, action: Action, outcomes: dict[int, Outcome] | None = None) -> InterruptedStep:
    return InterruptedStep(
        index=3,
        observation=on("first", was),
        decision=Decision(author="model", actions=(action,)),
        started_at=NOW,
        begun=frozenset({0}),
        outcomes=outcomes or {},
    )


@pytest.mark.parametrize(
    ("action", "then", "now", "came"),
    [
        (Type(target=1, text="Bob"), field(""), field("Bob", number=7), "done"),
        (Type(target=1, text="Bob"), field(""), field("Bo"), "refused"),
        (Set(mark=1, value="42"), field("1"), field("42"), "done"),
        (Select(target=1, options=("Large",)), field("Small"), field("Large"), "done"),
        (Select(target=1, options=("Large",), change="add"), field("Small"), field("Small, Large"), "done"),
        (Select(target=1, options=("Large",), change="remove"), field("Small, Large"), field("Small"), "done"),
        (Check(mark=1, checked=True), field(checked="false"), field(checked="true"), "done"),
        (Check(mark=1, checked=True), field(checked="false"), field(checked="false"), "refused"),
        (Read(), field(""), field(""), "refused"),
        (Scroll(), field(""), field(""), "refused"),
        (Goto(url="http://shop.test/"), field(""), field(""), "refused"),
    ],
)
def test_what_the_page_shows_and_what_leaves_nothing_is_told(action: Action, then: Mark, now: Mark, came: str) -> None:
    outcome = infer_outcome(action, cut(then, action), on("first", now), is_page_gone=False)
    assert outcome is not None
    assert outcome.status == came
    assert outcome.refusal == ("cut_off" if came == "refused" else None)


@pytest.mark.parametrize(
    "action",
    [
        Click(target=1),
        Press(keys="Enter"),
        Type(target=1, text="Bob", submit=True),
        Type(target=1, text="Bob", clear=False),
        Upload(mark=1, files=("a.txt",)),
        Goto(url="http://shop.test/add?item=1"),
    ],
)
def test_of_anything_else_no_page_can_prove_that_it_did_not_happen(action: Action) -> None:
    for document in ("first", "second"):
        was, now = cut(field(""), action), on(document, field(""))
        assert infer_outcome(action, was, now, is_page_gone=document == "second") is None


@pytest.mark.parametrize(
    ("action", "then", "now"),
    [
        (Type(target=1, text="Bob"), field(""), field("")),
        (Select(target=1, options=("Large",)), field("Small"), field("Small")),
        (Check(mark=1, checked=True), field(checked="false"), field(checked="false")),
    ],
)
def test_a_page_that_was_opened_anew_does_not_prove_that_nothing_was_sent(
    action: Action, then: Mark, now: Mark
) -> None:
    assert infer_outcome(action, cut(then, action), on("second", now), is_page_gone=True) is None


def test_going_back_is_asked_about_only_where_the_page_is_still_the_one() -> None:
    back = Back()
    for document in ("first", "second"):
        assert infer_outcome(back, cut(field(""), back), on(document, field("")), is_page_gone=False) is None
    assert infer_outcome(back, cut(field(""), back), on("second", field("")), is_page_gone=True) is not None


def test_where_what_was_chosen_from_is_gone_it_cannot_be_told() -> None:
    ticked = Check(mark=1, checked=True)
    was = cut(field(checked="false"), ticked)
    assert infer_outcome(ticked, was, on("first", thing(9, "g")), is_page_gone=False) is None


def test_of_a_secret_the_page_does_not_show_whether_it_was_typed() -> None:
    typed = Type(target=1, text="<secret:code>")
    assert infer_outcome(typed, cut(field(""), typed), on("first", field()), is_page_gone=False) is None


def test_on_the_page_that_the_run_left_nothing_is_lost() -> None:
    typed = took(on("first", field("")), Type(target=1, text="Bob"))
    assert lost([typed], on("first", field(""))) is None
    assert lost([typed], on("second", field(""))) is not None


def test_of_what_the_task_begins_with_the_rest_is_done_where_only_the_cut_was_in_its_way_and_it_names_no_mark() -> None:
    cut_short = Outcome(status="refused", refusal="cut_off", sentence="Cut off.")
    never = Outcome(status="refused", refusal="not_reached", sentence="Never tried.")
    there, wait, press = Goto(url="http://shop.test/cart"), Wait(seconds=1), Click(target=1)

    def left(actions: tuple[Action, ...], *outcomes: Outcome) -> tuple[Action, ...]:
        return left_to_do(took(page_of(thing(1)), *actions, outcomes=outcomes))

    assert left((wait, there), DONE, never) == (there,)
    assert left((there, wait), cut_short, never) == (there, wait)
    assert left((wait, press), DONE, never) == ()
    assert left((there, wait), Outcome(status="done", effect="navigated", sentence="There."), never) == ()
    assert left((press, wait), Outcome(status="refused", refusal="gone", sentence="Gone."), never) == ()
    assert left((there, wait), HALF, never) == ()


HALF = Outcome(status="partial", effect="changed", refusal="changed", sentence="Keys were sent; the rest was not.")


def test_what_was_cut_off_half_way_may_have_been_put_in_and_is_not_put_in_again() -> None:
    gone = lost([took(page_of(field("")), Type(target=1, text="Bob"), outcomes=(HALF,))], page_of(field("")))
    assert gone is not None
    assert gone.again == ()


def test_a_run_stands_where_an_act_that_was_cut_off_half_way_had_led() -> None:
    there = HALF.model_copy(update={"url": "http://shop.test/paid"})
    assert where_it_stood([took(page_of(thing(1)), Click(target=1), outcomes=(there,))], None) == there.url


@pytest.mark.parametrize("more", [{"requests": 1}, {"effect": "dialog"}, {"effect": "download"}])
def test_what_sent_something_when_it_was_put_in_is_not_put_in_again(more: dict[str, object]) -> None:
    chosen = took(page_of(field("")), Select(target=1, options=("Large",)), outcomes=(DONE.model_copy(update=more),))
    gone = lost([chosen], page_of(field("")))
    assert gone is not None
    assert gone.again == ()


def test_what_a_plain_button_had_chosen_is_missed_too() -> None:
    gone = lost([took(page_of(thing(2)), Click(target=2))], page_of(thing(2)))
    assert gone is not None
    assert gone.again == ()


def test_on_another_address_than_it_stood_on_nothing_is_put_in_again() -> None:
    typed = took(page_of(field("")), Type(target=1, text="Bob"))
    elsewhere = page_of(field("")).model_copy(update={"url": "http://shop.test/?sid=2"})
    gone = lost([typed], elsewhere)
    assert gone is not None
    assert gone.again == ()


def test_a_run_stood_where_its_last_act_had_led() -> None:
    led = Outcome(status="done", effect="navigated", sentence="Clicked.", url="http://shop.test/thanks")
    assert where_it_stood((), None) is None
    assert where_it_stood((took(page_of(thing(1)), Click(target=1)),), None) == "http://shop.test/"
    assert where_it_stood((took(page_of(thing(1)), Click(target=1), outcomes=(led,)),), None) == led.url
    there = cut(thing(1), Goto(url="http://shop.test/cart"), {0: DONE})
    assert where_it_stood((), there) == "http://shop.test/cart"
    assert where_it_stood((), cut(thing(1), Goto(url="http://shop.test/cart"))) == "http://shop.test/"


def test_what_was_typed_is_put_in_again_where_nothing_else_was_done_on_the_page() -> None:
    typed = took(page_of(field("")), Type(target=1, text="Bob"))
    gone = lost([typed], page_of(field("")))
    assert gone is not None
    assert (gone.again, gone.must_be_asked) == ((typed,), False)
    assert "in step 1 is" in gone.sentence
    assert lost([typed], page_of(field("Bob"))) is None


def test_what_was_typed_before_something_was_sent_is_not_put_in_again() -> None:
    typed, pressed = took(page_of(field("")), Type(target=1, text="Bob")), took(page_of(thing(2)), Click(target=2))
    gone = lost([typed, pressed], page_of(field("")))
    assert gone is not None
    assert gone.again == ()


def test_what_was_typed_on_an_earlier_page_is_not_missed_on_this_one() -> None:
    typed = took(page_of(field("")), Type(target=1, text="Bob"))
    led = Outcome(status="done", effect="navigated", sentence="Clicked.")
    sent = took(page_of(thing(2)), Click(target=2), outcomes=(led,))
    assert lost([typed, sent], page_of(field(""))) is None


@pytest.mark.parametrize(("author", "is_asked"), [("steps", True), ("replay", True), ("model", False)])
def test_who_follows_what_was_written_before_must_not_go_on_without_it(author: str, is_asked: bool) -> None:
    typed = took(page_of(field("")), Press(target=1, keys="b"))
    by = typed.model_copy(update={"decision": typed.decision.model_copy(update={"author": author})})
    asked = took(page_of(field("")))
    loop = asked.model_copy(update={"decision": asked.decision.model_copy(update={"author": "loop"})})
    human = asked.model_copy(update={"decision": asked.decision.model_copy(update={"author": "human"})})
    for steps in ([by], [by, loop], [by, human]):
        gone = lost(steps, page_of(field("")))
        assert gone is not None
        assert gone.must_be_asked is is_asked
