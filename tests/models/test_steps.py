from __future__ import annotations

import pytest
from pydantic import SecretStr
from seen import mark, refused, seen, step

from vision_agent.actions import Click, Finish, Scroll, ScrollTo, Type, Wait
from vision_agent.errors import UsageError
from vision_agent.geometry import ScrollState
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Wording
from vision_agent.types import Outcome, Secret, Task

TASK = Task(goal="Sign in.")
DONE = Outcome(status="done", effect="changed", sentence="clicked")


async def played(model, outcomes, page=None):
    """Every decision while the outcomes last, one more, as a loop would get them."""
    steps, decisions = [], []
    for outcome in [*outcomes, None]:
        decisions.append(await model.decide(TASK, tuple(steps), page or seen()))
        if outcome is not None:
            steps.append(step(len(steps), *decisions[-1].actions, outcome=outcome))
    return decisions


RESTLESS = seen(at_rest=False)
"""A page on which something is still under way."""


def actions(decisions):
    return [each.actions[0] for each in decisions]


async def test_one_line_is_one_step():
    decisions = await played(StepsModel(["click Email", "# note", "click Sign in", "finish ok"]), [DONE, DONE])
    assert actions(decisions) == [Click(target=3), Click(target=12), Finish(answer="ok")]
    assert [each.next_goal for each in decisions] == ["click Email", "click Sign in", "finish ok"]
    assert {each.author for each in decisions} == {"steps"}


@pytest.mark.parametrize(
    ("line", "names", "target"),
    [
        ("click Play", ("Play Video", "Pause"), 1),
        ("click Dentist", ("Lunch", "10:00 - 11:00 Dentist"), 2),
        ("click Rectangle", ("Rectangle — R", "Ellipse — O"), 1),
        ("click Play", ("Play Video", "Play all"), None),
        ("click Order", ("Order now and pay", "Back"), None),
        ("click Note", ("Notebook", "Back"), None),
        ("click Ann ‹Berlin›", ("Ann Lee", "Bob"), None),
        ("click Save", ("Save & exit", "Back"), 1),
        ("click Next", ("Next →", "Back"), 1),
        ("click Email", ("* Email", "Back"), None),
        ("click Zoom", ("Zoom -", "Fit"), None),
        ("click New", ("+ New", "Fit"), 1),
        ("click Zoom", ("Zoom +", "Fit"), None),
        ("click +", ("Zoom +", "Fit"), None),
        ("click Zoom +", ("Zoom", "Fit"), None),
        ("click Sort ↑", ("Sort ↓", "Fit"), None),
        ("click Disney", ("Disney+ now", "Fit"), None),
        ("click B", ("B-", "C"), None),
        ("click C+", ("C", "D"), None),
        ("click 100", ("100%", "50%"), None),
    ],
)
async def test_the_only_longer_name_is_taken_once_looking_again_did_not_help(line, names, target):
    page = seen(*(mark(number, name) for number, name in enumerate(names, 1)))
    first, second = await played(StepsModel([line]), [DONE], page)
    assert first.actions == (Wait(seconds=0.5),)
    if target is None:
        assert not second.actions[0].success
    else:
        assert second.actions == (Click(target=target),)
        assert second.next_goal == line
        assert f"only {names[target - 1]!r} begins or ends with it" in second.summary


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("click Accept", "Do not accept"),
        ("check accept the terms", "I do not accept the terms"),
        ("click Allow", "Don’t allow"),
        ("click ask again", "Never ask again"),
        ("click Interested", "Not interested"),
        ("click insurance", "Without insurance"),
        ("click notifications", "Turn off notifications"),
        ("click tracked", "Express, not tracked"),
        ("click Sound", "Sound off"),
        ("click akzeptieren", "Nicht akzeptieren"),
        ("click Cookies", "Cookies ablehnen"),
        ("click Cookie", "Cookie を許可しない"),
        ("click принимать", "Не принимать"),
        ("click smoking", "Non-smoking"),
    ],
)
async def test_a_longer_name_that_may_mean_the_opposite_is_not_taken_and_named(line, name):
    page = seen(mark(1, name), mark(2, "Back"))
    _, second = await played(StepsModel([line]), [DONE], page)
    [end] = second.actions
    assert not end.success
    assert f"{name!r} is not taken for it: its other words may make it the opposite" in end.answer


async def test_a_longer_name_is_not_taken_where_another_one_may_mean_the_opposite():
    page = seen(mark(1, "Accept all"), mark(2, "Do not accept"))
    _, second = await played(StepsModel(["click Accept"]), [DONE], page)
    assert not second.actions[0].success


async def test_a_name_that_denies_is_not_said_by_the_words_that_it_denies():
    page = seen(mark(1, "Accept"), mark(2, "Back"))
    _, second = await played(StepsModel(["click Do not accept"]), [DONE], page)
    assert not second.actions[0].success


@pytest.mark.parametrize("name", ["Email *", "* Email", "Email*", "Email: *"])
async def test_the_asterisk_of_a_required_field_is_no_part_of_its_name(name):
    *_, last = await played(StepsModel(['type "a" into Email']), [DONE], seen(mark(1, name, "field"), mark(2, "Bin")))
    assert last.actions == (Type(target=1, text="a"),)


async def test_a_longer_name_that_sends_a_form_or_is_one_of_two_missing_ones_is_not_taken():
    sends = mark(1, "Search all")
    sends = sends.model_copy(update={"state": sends.state.model_copy(update={"submits": True})})
    *_, last = await played(StepsModel(["click Search"]), [DONE], seen(sends))
    assert not last.actions[0].success
    *_, last = await played(StepsModel(["drag Card to Done"]), [DONE], seen(mark(1, "Card of Ann"), mark(2, "Bin")))
    assert not last.actions[0].success


async def test_a_risky_longer_name_is_told_with_what_to_write_for_it():
    *_, last = await played(StepsModel(["click Remove"]), [DONE], seen(mark(1, "Remove Maria Steinbach")))
    said = last.actions[0].answer
    assert "'Remove Maria Steinbach' is not taken for it: what deletes, pays, sends or submits needs" in said
    assert said.endswith('write "Remove Maria Steinbach"')
    assert "within 5 s" not in said


async def test_a_longer_name_is_not_taken_while_the_page_goes_on_outside_the_view():
    page = seen(mark(1, "Play Video"), scroll=ScrollState(height=1000, view_height=400))
    *_, last = await played(StepsModel(["click Play"]), [DONE, DONE], page)
    assert not last.actions[0].success


def add(number, title):
    return mark(number, "Add", context=f"{title} €5", title=title, wording=Wording(parts=(title, "€5"), title=title))


@pytest.mark.parametrize("url", ["http://shop.test/mugs?page=2", "http://shop.test/cups"])
async def test_words_beside_a_name_are_no_part_of_others_where_they_were_all_of_it_at_an_earlier_look(url):
    model = StepsModel(["click Add ‹Mug›", "click Add ‹Mug›"])
    before = seen(add(1, "Mug"), add(2, "Mug Blue"), url="http://shop.test/mugs")
    first = await model.decide(TASK, (), before)
    assert first.actions == (Click(target=1),)
    done = step(0, *first.actions, outcome=DONE, observation=before)
    here = seen(add(2, "Mug Blue"), url=url)
    second = await model.decide(TASK, (done,), here)
    if url.endswith("cups"):
        assert second.actions == (Click(target=2),), "another page has its own rows"
        return
    assert second.actions == (Wait(seconds=0.5),)
    assert "'Add ‹Mug›' was here at an earlier look and is not now; [2] is beside 'Mug Blue'" in second.summary


async def test_words_beside_a_name_may_be_a_part_as_before():
    model = StepsModel(["click Add ‹Mug›"] * 2)
    before = seen(add(1, "Hat"), add(2, "Mug Blue"))
    first = await model.decide(TASK, (), before)
    done = step(0, *first.actions, outcome=DONE, observation=before)
    assert (await model.decide(TASK, (done,), seen(add(2, "Mug Blue")))).actions == first.actions == (Click(target=2),)


async def test_lines_that_run_out_end_the_task():
    decisions = await played(StepsModel(["click Email"]), [DONE])
    assert actions(decisions)[-1] == Finish(answer="The line was carried out.")
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [DONE, DONE])
    assert actions(decisions)[-1] == Finish(answer="All 2 lines were carried out.")


async def test_the_step_before_is_judged_by_its_outcomes():
    nothing = Outcome(status="done", effect="no_effect", sentence="nothing happened")
    decisions = await played(StepsModel(["click Email"] * 4), [DONE, nothing, refused()])
    assert [each.judgement for each in decisions] == ["unknown", "success", "unknown", "failure"]


async def test_a_refused_line_is_tried_once_more_and_then_the_reason_is_told():
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [DONE, refused(), refused()])
    assert actions(decisions)[:3] == [Click(target=3), Click(target=12), Click(target=12)]
    end = actions(decisions)[3]
    assert not end.success
    assert end.answer == "Line 2, 'click Sign in', was refused twice: mark 12 is covered"


async def test_a_line_that_may_have_been_sent_is_not_sent_again():
    silent = refused("The click was sent, but the page has not answered", "timed_out")
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [DONE, silent])
    assert actions(decisions)[:2] == [Click(target=3), Click(target=12)]
    end = actions(decisions)[2]
    assert not end.success
    assert end.answer == (
        "Line 2, 'click Sign in', may have been carried out, so it is not sent again: "
        "The click was sent, but the page has not answered"
    )


async def test_a_wait_in_vain_ends_the_lines_with_what_did_not_come():
    late = refused('"Thank you" did not show within 10 s.', "timed_out")
    decisions = await played(StepsModel(["click Email", 'wait for "Thank you"']), [DONE, late])
    end = actions(decisions)[2]
    assert not end.success
    assert end.answer == ('Line 2, \'wait for "Thank you"\', did not come true: "Thank you" did not show within 10 s.')


async def test_a_line_that_was_cut_off_half_way_is_not_sent_again():
    half = Outcome(status="partial", refusal="covered", sentence="pointerdown reached mark 12; the rest did not.")
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [DONE, half])
    assert actions(decisions)[:2] == [Click(target=3), Click(target=12)]
    assert "may have been carried out, so it is not sent again: pointerdown reached" in actions(decisions)[2].answer


async def test_a_tick_that_the_page_takes_back_ends_the_lines():
    gone = Outcome(status="partial", refusal="taken_back", sentence="Ticked mark 12, and the page unticked it again.")
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [DONE, gone])
    end = actions(decisions)[2]
    assert not end.success
    assert end.answer == "Line 2, 'click Sign in', did not last: Ticked mark 12, and the page unticked it again."


async def test_a_second_try_that_may_have_been_sent_is_the_last():
    silent = refused("no answer", "timed_out")
    decisions = await played(StepsModel(["click Email"]), [refused(), silent])
    assert [each.kind for each in actions(decisions)] == ["click", "click", "finish"]
    assert "may have been carried out" in actions(decisions)[2].answer


async def test_lines_that_were_followed_in_one_run_are_refused_in_the_next():
    model = StepsModel(["click Email"])
    await played(model, [DONE])
    with pytest.raises(UsageError, match="already followed in another run"):
        await model.decide(TASK, (), seen())


async def test_lines_that_looked_only_once_are_refused_in_another_run_too():
    model = StepsModel(["click Email"])
    begun = (step(0, outcome=DONE, author="scripted"),)
    await model.decide(TASK, begun, seen())
    with pytest.raises(UsageError, match="make a StepsModel for each run"):
        await model.decide(TASK, begun, seen())


async def test_a_line_that_works_the_second_time_goes_on():
    decisions = await played(StepsModel(["click Email", "click Sign in"]), [refused(), DONE, DONE])
    assert actions(decisions)[:3] == [Click(target=3), Click(target=3), Click(target=12)]
    assert actions(decisions)[3].success


async def test_each_line_has_a_second_try_and_further_looks_of_its_own():
    model = StepsModel(["click Email", "click Sign in", "click Sign out"])
    decisions = await played(model, [refused(), DONE, refused(), DONE, DONE, DONE, DONE], RESTLESS)
    assert actions(decisions)[:4] == [Click(target=3), Click(target=3), Click(target=12), Click(target=12)]
    assert [each.kind for each in actions(decisions)[4:]] == ["wait", "wait", "wait", "finish"]


async def test_looks_spent_on_one_line_are_not_missed_by_the_next():
    model = StepsModel(["click Sign out", "click Help"])
    page, later = RESTLESS, seen(mark(13, "Sign out"), at_rest=False)
    first = await model.decide(TASK, (), page)
    second = await model.decide(TASK, (step(0, *first.actions, outcome=DONE),), later)
    after = step(1, *second.actions, outcome=DONE)
    rest = [await model.decide(TASK, (after,) * count, later) for count in range(2, 6)]
    assert [each.kind for each in actions([first, second, *rest])] == [
        "wait",
        "click",
        "wait",
        "wait",
        "wait",
        "finish",
    ]


async def test_the_last_line_counts_too():
    decisions = await played(StepsModel(["click Email"]), [refused(), refused()])
    assert not actions(decisions)[-1].success


async def test_what_is_not_there_is_looked_for_again_and_then_given_up_with_the_nearest_names():
    decisions = await played(StepsModel(["click Sign out"]), [DONE, DONE, DONE], RESTLESS)
    assert actions(decisions)[:3] == [Wait(seconds=0.5), Wait(seconds=1), Wait(seconds=2)]
    end = actions(decisions)[3]
    assert not end.success
    assert end.answer.startswith(
        "Line 1, 'click Sign out', could not be carried out: Nothing here is called 'Sign out'"
    )
    assert "[12] button 'Sign in'" in end.answer


async def test_on_a_page_at_rest_a_missing_target_costs_half_a_second():
    decisions = await played(StepsModel(["click Sign out"]), [DONE])
    assert actions(decisions)[0] == Wait(seconds=0.5)
    end = actions(decisions)[1]
    assert not end.success
    assert end.answer.endswith("If it comes later, say how long to look: 'click Sign out within 5 s'")


@pytest.mark.parametrize("line", ["click (9999, 9999)", "check (5, 5)", "click [77]"])
async def test_a_line_that_is_wrong_in_another_way_is_not_told_how_long_to_look(line: str):
    end = actions(await played(StepsModel([line]), [DONE]))[-1]
    assert not end.success
    assert "how long to look" not in end.answer


async def test_on_a_blank_page_a_line_is_told_to_open_an_address():
    blank = seen().model_copy(update={"url": "about:blank", "marks": (), "listing": ""})
    end = actions(await played(StepsModel(["click Sign out"]), [DONE], blank))[-1]
    assert end.answer.endswith("The page is blank: open an address first")
    written = seen().model_copy(update={"url": "about:blank"})
    end = actions(await played(StepsModel(["click Sign out"]), [DONE], written))[-1]
    assert end.answer.endswith("If it comes later, say how long to look: 'click Sign out within 5 s'")


async def test_a_line_may_say_how_long_to_look_for_its_target():
    decisions = await played(StepsModel(["click Sign out within 2.5 s"]), [DONE] * 3)
    assert actions(decisions)[:3] == [Wait(seconds=1), Wait(seconds=1), Wait(seconds=0.5)]
    assert "Line 1, 'click Sign out within 2.5 s', could not be carried out" in actions(decisions)[3].answer


async def test_what_appears_while_it_is_looked_for_is_acted_upon():
    model = StepsModel(["click Sign out", "click Sign in"])
    first = await model.decide(TASK, (), seen())
    later = seen(mark(12, "Sign in"), mark(13, "Sign out"))
    second = await model.decide(TASK, (step(0, *first.actions, outcome=DONE),), later)
    third = await model.decide(TASK, (step(0), step(1, *second.actions, outcome=DONE)), later)
    assert actions([first, second, third]) == [Wait(seconds=0.5), Click(target=13), Click(target=12)]


async def test_two_things_of_one_name_are_never_chosen_between():
    page = seen(mark(1, "Add"), mark(2, "Add"), at_rest=False)
    decisions = await played(StepsModel(["click Add"]), [DONE] * 3, page)
    assert all(isinstance(each, Wait) for each in actions(decisions)[:3])
    assert "any of [1] button 'Add' ‹1st of 2›, [2] button 'Add' ‹2nd of 2›" in actions(decisions)[3].answer


def scrolled(y, *marks):
    return seen(*marks, at_rest=False, scroll=ScrollState(y=y, height=1000, view_height=400))


async def test_reference_lines_are_followed_through_the_whole_page_once():
    model = StepsModel(["click Sign out"], scrolls=True)
    steps, decided = [], []
    for y in (300, 300, 0, 320, 600, 600):
        decided.append(await model.decide(TASK, tuple(steps), scrolled(y)))
        steps.append(step(len(steps), *decided[-1].actions, outcome=DONE))
    up, down = Scroll(direction="up", to="end"), Scroll(direction="down")
    assert actions(decided) == [Wait(seconds=0.5), up, down, down, Wait(seconds=1), Wait(seconds=2)]


async def test_reference_lines_do_not_scroll_away_from_two_things_of_one_name():
    page = scrolled(0, mark(1, "Add"), mark(2, "Add"))
    decisions = await played(StepsModel(["click Add"], scrolls=True), [DONE] * 3, page)
    assert [each.kind for each in actions(decisions)] == ["wait", "wait", "wait", "finish"]


async def test_what_is_not_in_view_is_scrolled_to_once_and_what_was_found_is_said_in_the_end():
    missed = refused().model_copy(update={"sentence": "2 things on the page are called so."})
    decisions = await played(StepsModel(["click the Sign out button"]), [missed, missed, *[DONE] * 3], scrolled(0))
    first, second, *waits, last = actions(decisions)
    assert (first, second) == (ScrollTo(text="Sign out"), ScrollTo(text="the Sign out button"))
    assert [each.kind for each in waits] == ["wait"] * 3
    assert not last.success
    assert "2 things on the page are called so." in last.answer


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("click Edit in row Ann", ["Ann"]),
        ('check "Terms"', ["Terms"]),
        ("click 2nd Add", []),
        ("click [99]", []),
        ("click (20, 20)", []),
    ],
)
async def test_a_line_is_scrolled_to_by_its_name_or_by_the_words_of_its_row(line, words):
    decisions = await played(StepsModel([line]), [DONE] * 4, scrolled(0))
    assert [each.text for each in actions(decisions) if isinstance(each, ScrollTo)] == words


async def test_nothing_is_scrolled_to_on_a_page_that_shows_all_of_itself():
    decisions = await played(StepsModel(["click Sign out"]), [DONE], seen())
    assert [each.kind for each in actions(decisions)] == ["wait", "finish"]


async def test_a_refused_step_of_someone_else_is_not_this_ones():
    """Actions to begin with are carried out before the first line."""
    model = StepsModel(["click Email"])
    decision = await model.decide(TASK, (step(0, outcome=refused(), author="scripted"),), seen())
    assert decision.actions == (Click(target=3),)


def test_a_mistake_in_the_last_line_is_known_before_the_first_is_done():
    with pytest.raises(UsageError, match="Line 2, 'clikc Sign in'"):
        StepsModel(["click Email", "clikc Sign in"])


SMITH = Secret(name="customer", value=SecretStr("Smith"), is_private=True)


@pytest.mark.parametrize(
    ("line", "names", "target"),
    [
        ("click Open <private:customer>", ("Open Jones", "Open Smith"), 2),
        ("click the Open <secret:customer> button", ("Open Jones", "Open Smith"), 2),
        ("click 2nd <secret:customer>", ("Smith", "Smith"), 2),
        ("click Open <private:customer>", ("Open Smith", "Open Smith"), None),
        ("click Open account of <private:customer>", ("Open account of Smyth", "Open account of Jones"), None),
        ("click Open <private:customer>", ("Open Smith-Jones", "Close"), None),
        ("click Open <private:customer>", ("Open <private:customer>", "Close"), None),
    ],
)
async def test_private_data_in_a_target_is_only_found_by_its_whole_value(line, names, target):
    task = TASK.model_copy(update={"secrets": (SMITH,)})
    page = seen(*(mark(number, name) for number, name in enumerate(names, 1)))
    model = StepsModel([line])
    first = await model.decide(task, (), page)
    if target is not None:
        assert first.actions == (Click(target=target),)
        return
    assert first.actions == (Wait(seconds=0.5),)
    second = await model.decide(task, (step(1, *first.actions, outcome=DONE),), page)
    assert isinstance(second.actions[0], Finish)
    assert not second.actions[0].success
    assert "<" in second.actions[0].answer
