"""Claims about a run that gets nowhere: what is one state, what brings nothing new, and what is done about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from vision_agent.actions import Action, Check, Click, Goto, Press, Read, Scroll, Type, Wait
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.events import Troubled
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Mark, MarkState, Observation, Shot
from vision_agent.policy.stall import WayBack, detect_stall, edges_of, states_of
from vision_agent.record.store import RunInMemory
from vision_agent.types import Author, Candidate, Decision, Limits, Outcome, Point, Run, Step, Task

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SHOT = Shot(media_type="image/png", size=Size(width=1, height=1), sha256="0" * 64, data=b"")
NOTHING = Outcome(status="done", effect="no_effect", sentence="Clicked mark 1. Nothing changed.")
CHANGED = Outcome(status="done", effect="changed", sentence="Clicked mark 1.")
READ = Outcome(status="done", effect="read", sentence="Read the page.")
PLAIN = "0" * 64


def page(
    url: str = "http://shop.test/", *, value: str = "", phash: str = PLAIN, listing: str = "", **more: Any
) -> Observation:
    """A page with a field and two buttons."""
    marks = [
        Mark(
            number=number, tag="input", role="textbox", kind="field", name=name, state=MarkState(value=value, **more),
            box=Box(x=0, y=20.0 * number, width=9, height=9), point=Point(x=4, y=4),
        )
        for number, name in ((1, "Name"), (2, "Go"), (3, "Stop"))
    ]  # fmt: skip
    return Observation(
        id="o", epoch=1, url=url, title="", taken_at=NOW, viewport=Size(width=9, height=9),
        marks=tuple(marks), listing=listing, clean=SHOT, marked=SHOT, phash=phash,
    )  # fmt: skip


def went(
    *turns: tuple[Observation, Action],
    author: Author = "model",
    considered: Sequence[int] = (),
    outcome: Outcome = NOTHING,
) -> list[Step]:
    candidates = tuple(Candidate(mark=mark, reason="it may help") for mark in considered)
    return [
        Step(
            index=index,
            observation=seen,
            decision=Decision(author=author, actions=(action,), candidates=candidates),
            outcomes=(READ if action.kind == "read" else outcome,),
            started_at=NOW,
        )
        for index, (seen, action) in enumerate(turns, 1)
    ]


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (page(), True),
        (page(focused=True, hovered=True), True),
        (page(phash="1" + PLAIN[1:]), True),
        (page(phash="3" + PLAIN[1:]), False),
        (page(value="a"), False),
        (page("http://shop.test/cart"), False),
        (page(listing="_[:]Guests 3"), False),
    ],
)
def test_two_looks_are_one_state_when_address_marks_and_picture_are_the_same(other: Observation, is_same: bool) -> None:
    assert states_of([page(), other]) == ([1, 1] if is_same else [1, 2])


def test_steps_are_the_ways_between_states() -> None:
    steps = went((page(), Type(target=1, text="a")), (page(value="a"), Click(target=2)), (page(), Click(target=3)))
    ways = [(edge.step, edge.before, edge.after) for edge in edges_of(steps, page("http://shop.test/end"))]
    assert ways == [(1, 1, 2), (2, 2, 1), (3, 1, 3)]


@pytest.mark.parametrize(
    ("turns", "times"),
    [
        ([(page(), Click(target=2))], 1),
        ([(page(), Click(target=2))] * 3, 3),
        ([(page(), Click(target=2)), (page(value="a"), Click(target=2))], 0),
        ([(page(), Read()), (page(), Read())], 1),
        ([(page(), Click(target=2)), (page(), Scroll())], 2),
        ([(page(value="a"), Click(target=2)), (page(), Type(target=1, text="a"))] * 3, 4),
    ],
)
def test_what_was_done_before_in_the_same_state_or_changed_nothing_brings_nothing_new(turns: Any, times: int) -> None:
    end = page(value="a") if turns[-1][1].kind == "type" else page()
    assert detect_stall(went(*turns), end).times == times


def test_a_number_or_a_star_in_the_listing_is_no_other_state() -> None:
    assert states_of([page(listing="12[:]<a *new>Next"), page(listing="40[:]<a>Next")]) == [1, 1]


def pictured(number: int) -> Observation:
    """The page with another picture, in which no mark tells the difference."""
    return page().model_copy(update={"clean": SHOT.model_copy(update={"sha256": f"{number:064x}"})})


def test_what_has_an_effect_that_no_mark_tells_is_news_as_long_as_its_picture_is_new() -> None:
    counts = went(*[(pictured(number), Click(target=2)) for number in range(7)], outcome=CHANGED)
    assert detect_stall(counts, pictured(7)).times == 0
    lights_up = went(*[(pictured(number % 2), Click(target=number % 2)) for number in range(7)], outcome=CHANGED)
    assert detect_stall(lights_up, pictured(1)).times == 6


@pytest.mark.parametrize("more", [{"effect": "download"}, {"effect": "dialog"}, {"requests": 1}])
def test_what_the_picture_does_not_tell_of_is_news_although_the_picture_was_seen(more: Any) -> None:
    steps = went(*[(page(), Click(target=2))] * 7, outcome=CHANGED.model_copy(update=more))
    assert detect_stall(steps, page()).times == 0


def test_what_changed_nothing_brings_nothing_new_although_a_large_button_lights_up() -> None:
    lit = page(phash="f" * 64)
    assert detect_stall(went((page(), Click(target=2)), (lit, Click(target=3)), outcome=NOTHING), page()).times == 2
    drawn = lit.marks[0].model_copy(update={"kind": "surface"})
    canvas = lit.model_copy(update={"marks": (drawn, *lit.marks[1:])})
    assert detect_stall(went((page(), Click(target=2)), outcome=NOTHING), canvas).times == 0


def test_a_link_that_changes_only_the_fragment_leads_to_no_other_state() -> None:
    assert states_of([page(), page("http://shop.test/#"), page("http://shop.test/#a")]) == [1, 1, 1]


def test_going_to_and_fro_brings_nothing_new_although_each_step_changes_the_page() -> None:
    there, here = page("http://shop.test/menu"), page()
    steps = went(*[(here, Click(target=2)), (there, Click(target=3))] * 3, outcome=CHANGED)
    assert detect_stall(steps, here).times == 4


def test_waiting_is_neither_news_nor_a_standstill() -> None:
    click, wait = (page(), Click(target=2)), (page(), Wait(seconds=60))
    assert detect_stall(went(wait, wait, wait, wait, wait), page()).times == 0
    assert detect_stall(went(click, wait, click, wait), page()).times == 2


@pytest.mark.parametrize(
    ("before", "now", "back"),
    [
        (page("http://shop.test/list"), page("http://shop.test/item"), "http://shop.test/list"),
        (page("http://shop.test/cart?add=5"), page("http://shop.test/item"), ""),
        (page("http://shop.test/list"), page("http://shop.test/item", value="Ada"), ""),
    ],
)
def test_the_way_back_does_nothing_and_loses_nothing(before: Any, now: Any, back: str) -> None:
    steps = went((before, Click(target=1)), *[(now, Click(target=2))] * 4)
    assert detect_stall(steps, now).back == (WayBack(back) if back else None)


def opener(listing: str = "", **more: Any) -> Observation:
    """The same page in another state; its first mark is something that opens."""
    seen = page(listing=listing)
    one = seen.marks[0].model_copy(
        update={"kind": "button", "fingerprint": "f", "state": MarkState(expanded=False), **more}
    )
    return seen.model_copy(update={"marks": (one, *seen.marks[1:])})


CLICK, DOWN = Click(target=1), Click(target=2)


@pytest.mark.parametrize(
    ("action", "outcome", "first", "may"),
    [
        (CLICK, CHANGED, opener(), True),
        (CLICK, CHANGED, opener(tag="summary", state=MarkState()), True),
        (CLICK, CHANGED, opener(role="tab", state=MarkState()), True),
        (Scroll(), CHANGED, opener(), True),
        (CLICK, CHANGED.model_copy(update={"requests": 1}), opener(), False),
        (CLICK, CHANGED.model_copy(update={"effect": "download"}), opener(), False),
        (CLICK, CHANGED, opener(state=MarkState()), False),
        (CLICK, CHANGED, opener(kind="link"), False),
        (Click(target=1, count=2), CHANGED, opener(), False),
    ],
)
def test_where_an_address_would_not_do_it_the_path_is_taken_again_only_if_all_of_it_only_shows(
    action: Action, outcome: Outcome, first: Observation, may: bool
) -> None:
    """First the page as it opens, then with something open, then a press on it that led to where it stands still."""
    [opens] = went((first, action), outcome=outcome)
    there, here = page(listing="_[:]Open"), page(listing="_[:]Lost")
    later = went((there, DOWN), outcome=CHANGED) + went(*[(here, Click(target=3))] * 4)
    steps = [opens, *later]
    back = detect_stall(steps, here).back
    # Else to the page as it opens.
    assert back == (WayBack(page().url, (opens,)) if may else WayBack(page().url))


def test_a_path_leaves_out_detours_and_never_begins_at_an_address_that_asks_for_something() -> None:
    first, there, here = opener(), page(listing="_[:]Open"), page(listing="_[:]Lost")
    opens, *detour = went((first, CLICK), (there, DOWN), (first, CLICK), (there, DOWN), outcome=CHANGED)
    steps = [opens, *detour, *went(*[(here, Click(target=3))] * 4)]
    assert detect_stall(steps, here).back == WayBack(first.url, (detour[1],))
    asks = [
        step.model_copy(update={"observation": step.observation.model_copy(update={"url": "http://s/?a"})})
        for step in steps
    ]
    assert detect_stall(asks, here.model_copy(update={"url": "http://s/?a"})).back is None


@pytest.mark.parametrize(
    "work", [Type(target=1, text="a"), Check(mark=1, checked=True), Press(keys="x"), Click(target=Point(x=1, y=1))]
)
def test_a_page_that_something_was_put_into_is_not_opened_anew(work: Action) -> None:
    here = page(listing="_[:]Lost")
    steps = went((page(), DOWN), (page(listing="_[:]Open"), work), outcome=CHANGED) + went(*[(here, CLICK)] * 4)
    assert detect_stall(steps, here).back is None


async def test_the_loop_goes_back_by_the_path_and_stops_on_it_where_a_thing_is_gone() -> None:
    first, there, here = opener(), page(listing="_[:]Open"), page(listing="_[:]Lost")
    again = opener(number=9)
    for shown, then in ((again, [Click(target=9)]), (page(), [])):
        ran = Ran([first, there, *[here] * 5, shown, there], Limits(stall=6, steps=10))
        ran.browser = FakeBrowser([first, there, *[here] * 5, shown, there], [CHANGED, CHANGED, *[NOTHING] * 50])
        script = [Decision(author="model", actions=(each,)) for each in (CLICK, *[DOWN] * 50)]
        record = RunInMemory()
        ran.loop = Loop(ran.loop.record, ran.browser, ScriptedModel(script), record)
        run = await ran.loop.run()
        ours = [action for step in run.steps if step.decision.author == "loop" for action in step.decision.actions]
        assert ours == [Goto(url=first.url), *then]
        ends = [event.sentence for event in record.events if isinstance(event, Troubled)]
        assert len(ends) == (0 if then else 1)
        assert all("The way back to an earlier state ends here: there is no" in each for each in ends)


def test_who_follows_lines_knows_why_they_do_it_again() -> None:
    for author in ("steps", "scripted", "replay", "human"):
        assert detect_stall(went(*[(page(), Click(target=2))] * 5, author=author), page()).times == 0


def test_what_was_considered_and_not_tried_is_offered_at_once_and_from_the_second_step_on_it_is_called_a_stall() -> (
    None
):
    def said(times: int, *considered: int) -> str:
        return detect_stall(went(*[(page(), Click(target=2))] * times, considered=considered), page()).sentence

    assert said(1) == said(1, 2) == ""
    assert said(1, 2, 3, 9) == "The last step brought nothing new. Considered and not yet tried: [3]."
    assert "the last 2 steps brought nothing new" in said(2)
    assert said(2, 2, 3, 9).endswith("Considered and not yet tried: [3].")
    assert "take another way" not in said(3, 3)
    assert "take another way" in said(3)


class Ran:
    """A loop that sees the same page again and again, by a model that always does the same."""

    def __init__(self, pages: Sequence[Observation], limits: Limits) -> None:
        click = Decision(author="model", actions=(Click(target=2),))
        self.browser = FakeBrowser(pages, [NOTHING] * 50)
        run = Run(id="r1", task=Task(goal="Buy it", limits=limits), started_at=NOW)
        self.loop = Loop(run, self.browser, ScriptedModel([click] * 50), RunInMemory())


async def test_a_run_that_gets_nowhere_stops_after_as_many_steps_as_its_limit_says() -> None:
    ran = Ran([page()], Limits(stall=4))
    run = await ran.loop.run()
    assert [step.decision.author for step in run.steps] == ["model"] * 4 + ["loop"]
    assert run.ending is not None
    assert run.ending.status == "limit"
    assert run.ending.sentence == (
        "A limit was reached: 4 steps in a row led nowhere: Click [2] “Go” (4 times). "
        "They repeated what was done before, or had no effect. "
        "A goal or instructions that say what to do there may help, or a higher limit (limits.stall)."
    )


async def test_before_it_stops_it_goes_back_once_to_the_page_before() -> None:
    ran = Ran([page("http://shop.test/list"), *[page("http://shop.test/item")] * 20], Limits(stall=6))
    run = await ran.loop.run()
    [back] = [step for step in run.steps if step.decision.author == "loop" and step.decision.actions]
    assert back.decision.actions == (Goto(url="http://shop.test/list"),)
    assert back.index == 6
    assert run.ending is not None
    assert "had no effect" in run.ending.sentence
