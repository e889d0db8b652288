"""Claims about a recorded run as a beginning: the same things again on the live page, or a stop that says why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page

from tests.conftest import Server
from tests.sessions import ending_of, recorded
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Action, Click, Drag, Finish, Press, Type
from vision_agent.errors import UsageError
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.replayed import ReplayedModel
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Mark, MarkState, Observation, Shot
from vision_agent.policy.rebind import RebindError, rebind_actions, rebind_mark
from vision_agent.types import Decision, Outcome, Point, Run, Step

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
DONE = Outcome(status="done", effect="changed", sentence="Clicked.")
REFUSED = Outcome(status="refused", refusal="covered", sentence="Mark 1 is covered.")


def thing(number: int, fingerprint: str = "f", row: str = "", around: str = "", **more: object) -> Mark:
    return Mark.model_validate(
        {
            "number": number, "tag": "button", "role": "button", "kind": "button", "name": f"Go {fingerprint}",
            "box": Box(x=0, y=20 * number, width=9, height=9), "point": Point(x=4, y=4),
            "fingerprint": fingerprint, "row": row, "around": around, **more,
        }
    )  # fmt: skip


def page_of(*marks: Mark, picture: str = "0") -> Observation:
    shot = Shot(media_type="image/png", size=Size(width=9, height=9), sha256=picture * 64)
    return Observation(
        id="o", epoch=1, url="http://shop.test/", title="", taken_at=NOW, viewport=Size(width=9, height=9),
        marks=marks, listing="", clean=shot, marked=shot,
    )  # fmt: skip


def took(seen: Observation, *actions: Action, outcomes: Sequence[Outcome] = (), index: int = 1) -> Step:
    decision = Decision(author="model", actions=actions, memory="the mug is blue", next_goal="go")
    return Step(
        index=index, observation=seen, decision=decision, outcomes=tuple(outcomes) or (DONE,) * len(actions),
        started_at=NOW,
    )  # fmt: skip


def test_a_mark_is_known_again_by_its_fingerprint_and_not_by_its_number() -> None:
    step = took(page_of(thing(1), thing(2, "g")), Click(target=2), Type(target=1, text="a"))
    assert rebind_actions(step, page_of(thing(2), thing(7, "g"))) == (Click(target=7), Type(target=2, text="a"))


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ([thing(1)], [thing(1, "g")], 'there is no button "Go f" here'),
        ([thing(1)], [thing(1), thing(2)], "there are 2 like"),
        ([thing(1), thing(2)], [thing(1)], "was one of 2 that the record does not tell apart"),
        (
            [thing(1, around="mug")],
            [thing(1, around="hat")],
            r"\[1\] is the same by itself, but has other words beside it",
        ),
        ([thing(1, row="a")], [thing(1, row="b")], "has other words beside it"),
        ([thing(1, context="Ann")], [thing(1, context="Bob")], r"\[1\] is the same by itself, but has other words"),
        ([thing(1, heading="Ann")], [thing(1, heading="Bob")], "has other words beside it"),
        ([thing(1, context="Ann")], [thing(1)], "has other words beside it, 'Ann' in the record and nothing here"),
        (
            [thing(1, context="Leave on 3 May")],
            [thing(1, context="Leave on 9 May")],
            "'3 May' in the record and '9 May'",
        ),
        ([thing(1)], [thing(1, context="Ann")], "has other words beside it"),
        (
            [thing(1, context="Ann"), thing(2, context="Bob")],
            [thing(1, context="Bob"), thing(2, context="Cid")],
            r'no button "Go f" ‹Ann› here: \[1\] ‹Bob› is the same by itself',
        ),
        (
            [thing(1, context="Bob open"), thing(2, context="Ann open")],
            [thing(1, context="Ann open"), thing(2, context="Bob late")],
            r"\[2\] ‹Bob› is the same by itself, but has other words beside it, 'open' in the record and 'late' here",
        ),
        (
            [thing(1, context="Ann"), thing(2, context="Bob")],
            [thing(n, context="Ann") for n in (1, 2)],
            'there are 2 like button "Go f" ‹Ann›',
        ),
        ([thing(1, row="a", around="b")], [thing(1, context="Ann")], "earlier version, which did not keep the words"),
        ([thing(1, row="a", around="b")], [thing(1)], "earlier version, which did not keep the words"),
        ([thing(1), thing(2, "g", row="a")], [thing(1), thing(2)], "there are 2 like"),
        ([thing(1, name="Pay")], [thing(1, "g", name="Pay")], r"\[1\] only has the same name"),
    ],
)
def test_what_is_not_certainly_the_same_thing_is_not_taken(was: list[Mark], now: list[Mark], why: str) -> None:
    with pytest.raises(RebindError, match=why):
        rebind_actions(took(page_of(*was), Click(target=1)), page_of(*now))


def test_accents_may_be_written_otherwise_and_none_may_be_missing() -> None:
    was = page_of(thing(1, context="Jos\u00e9"))
    assert rebind_mark(1, was, page_of(thing(4, context="Jose\u0301"))).number == 4
    with pytest.raises(RebindError):
        rebind_mark(1, was, page_of(thing(4, context="Jose")))


def test_of_several_alike_the_one_among_the_same_words_is_meant_wherever_it_stands_now() -> None:
    step = took(page_of(thing(1, context="Ann"), thing(2, context="Bob")), Click(target=1))
    now = [thing(3, context="Bob"), thing(4, context="Ann"), thing(5, context="Ann", heading="Old")]
    assert rebind_actions(step, page_of(*now)) == (Click(target=4),)


def test_a_record_of_an_earlier_version_is_compared_by_what_it_has() -> None:
    step = took(page_of(thing(1), thing(2, "g", row="a", around="b")), Click(target=1))
    assert rebind_actions(step, page_of(thing(6, context="Ann", heading="Staff"))) == (Click(target=6),)


def test_a_point_and_a_drawn_thing_count_only_while_the_whole_picture_is_the_same() -> None:
    drawn = thing(3, "", source="cv", kind="guess")
    points = took(page_of(drawn), Click(target=Point(x=4, y=4)), Drag(source=3, target=Point(x=8, y=8)))
    assert rebind_actions(points, page_of(drawn.model_copy(update={"number": 5})))[1] == Drag(
        source=5, target=Point(x=8, y=8)
    )
    for action in points.decision.actions:
        with pytest.raises(RebindError, match="only if the whole picture is the same"):
            rebind_actions(took(page_of(drawn), action), page_of(drawn, picture="1"))


def test_keys_without_a_target_go_again_only_where_the_same_thing_has_the_focus() -> None:
    field = thing(1, state=MarkState(focused=True))
    press = took(page_of(field), Press(keys="Enter"))
    assert rebind_actions(press, page_of(field.model_copy(update={"number": 4}))) == (Press(keys="Enter"),)
    with pytest.raises(RebindError, match="does not have the focus"):
        rebind_actions(press, page_of(thing(1), thing(2, "g", state=MarkState(focused=True))))


async def test_recorded_decisions_are_a_model_that_ends_without_anybody_to_go_on() -> None:
    seen = page_of(thing(1))
    steps = [took(seen, Click(target=1), outcomes=[REFUSED]), took(seen, Click(target=1), index=2)]
    model = ReplayedModel([*steps, took(seen, Finish(answer="bought", evidence=(1,)), index=3)], run="r1")
    first, last = [await model.decide(Task(goal="g"), (), page_of(thing(8))) for _ in range(2)]
    assert (first.author, first.reply_id, first.memory) == ("replay", "r1:2", "the mug is blue")
    assert (first.actions, last.actions) == ((Click(target=8),), (Finish(answer="bought", evidence=(8,)),))
    over = await model.decide(Task(goal="g"), (), page_of(thing(8)))
    assert isinstance(over.actions[0], Finish)
    assert not over.actions[0].success


# --- in a browser ---

SHOP = """<title>Shop</title><h1>Shop</h1>
<button onclick="document.querySelector('#list').hidden = false">Mugs</button>
<ul id=list hidden>%s</ul>
<form onsubmit="document.title = 'Paid by ' + this.who.value; return false">
<input name=who aria-label=Name><button>Pay</button></form>
"""
ITEM = "<li>{0} <button onclick=\"document.title = 'Added {0}'\">Add</button></li>"


class Shop:
    """A page whose list can be another one the next time, and a run on it by lines, as a folder."""

    def __init__(self, serve: Server, context: BrowserContext, tmp_path: Path) -> None:
        self._serve, self._context, self._tmp_path = serve, context, tmp_path

    async def open(self, *items: str) -> Page:
        page = await self._context.new_page()
        await page.goto(self._serve({"/": SHOP % "".join(map(ITEM.format, items))}))
        return page

    async def recorded(self) -> Path:
        lines = ["click Mugs", "click [4]", 'type "Ann" into Name', "finish"]
        ran = Agent(
            "Buy it", model=StepsModel(lines), page=await self.open("Blue mug", "Red mug"), settings=self.settings
        )
        run = await ran.run()
        assert ending_of(run).status == "done", ending_of(run).sentence
        assert ran.folder is not None
        return ran.folder

    @property
    def settings(self) -> Settings:
        return Settings(runs=self._tmp_path / "runs")

    async def again(self, begin: Path | str, page: Page, *script: list[Action]) -> Run:
        model = ScriptedModel([*script, [Finish()]])
        ran = Agent("Buy it again", model=model, page=page, begin=begin, settings=self.settings)
        await ran.run()
        return recorded(ran)


@pytest.fixture
def shop(serve: Server, context: BrowserContext, tmp_path: Path) -> Shop:
    return Shop(serve, context, tmp_path)


async def test_a_run_begins_with_the_steps_of_another_and_the_model_goes_on_from_there(shop: Shop) -> None:
    folder = await shop.recorded()
    # Another order, and one more: numbers and places differ.
    page = await shop.open("Green mug", "Red mug", "Blue mug")
    run = await shop.again(folder, page)
    assert [step.decision.author for step in run.steps] == ["replay"] * 3 + ["scripted"]
    assert await page.title() == "Added Blue mug"
    assert await page.locator("[name=who]").input_value() == "Ann"
    assert run.provenance.begun_with == f"{folder.name}:4"
    assert run.steps[0].decision.reply_id == f"{folder.name}:1"


@pytest.mark.thorough
async def test_it_stops_where_a_thing_is_gone_says_why_and_takes_nothing_instead(shop: Shop) -> None:
    folder = await shop.recorded()
    page = await shop.open("Red mug")
    run = await shop.again(f"{folder}:2", page)
    handed_over = run.steps[-2].decision
    assert (handed_over.author, handed_over.actions) == ("replay", ())
    assert 'step 2 of the record does not fit this page: there is no button "Add' in handed_over.next_goal
    assert "has other words beside it" in handed_over.next_goal
    assert run.steps[-1].decision.author == "scripted"
    assert await page.title() == "Shop"


@pytest.mark.thorough
async def test_a_record_that_was_changed_or_is_none_or_too_short_is_not_repeated(shop: Shop, tmp_path: Path) -> None:
    folder = await shop.recorded()
    page = await shop.open()
    with pytest.raises(UsageError, match="has 4 steps, but 9 were requested"):
        await shop.again(f"{folder}:9", page)
    with pytest.raises(UsageError, match="There is no run folder"):
        await shop.again(tmp_path / "nothing", page)
    lines = (folder / "steps.jsonl").read_text("utf-8")
    (folder / "steps.jsonl").write_text(lines.replace('\\"Ann\\"', '\\"Eve\\"').replace('"Ann"', '"Eve"'), "utf-8")
    with pytest.raises(UsageError, match="was changed after it was written"):
        await shop.again(folder, page)


MAZE = """<title>Maze</title><main><button id=open aria-expanded=false onclick="
this.ariaExpanded = 'true'; document.querySelector('section').hidden = false">Rooms</button>
<section hidden>Two rooms <button onclick="document.querySelector('main').innerHTML = 'A wall <button>Push</button>'">
Left</button> <button>Right</button></section></main>"""


@pytest.mark.thorough
async def test_out_of_a_dead_end_it_goes_back_to_the_state_before_though_the_address_is_the_same(
    serve: Server, page: Page, tmp_path: Path
) -> None:
    await page.goto(serve({"/": MAZE}))
    clicks = [*(Decision(author="model", actions=(Click(target=number),)) for number in (1, 2, *[4] * 5)), [Finish()]]
    ran = Agent("Get out", model=ScriptedModel(clicks), page=page, settings=Settings(runs=tmp_path))
    await ran.run()
    run = recorded(ran)
    ours = [step for step in run.steps if step.decision.author == "loop"]
    assert [action.kind for step in ours for action in step.decision.actions] == ["goto", "click"]
    last = run.steps[-1].observation
    assert [mark.name for mark in last.marks] == ["Rooms", "Left", "Right"]


def test_what_says_the_same_with_more_words_around_may_be_meant_too() -> None:
    was = page_of(thing(1, context="Rose EUR"), thing(2, context="Tulip EUR"))
    twins = page_of(thing(1, context="Product Price Rose EUR"), thing(2, context="Rose EUR"))
    with pytest.raises(RebindError, match=r"any of \[2\], \[1\] may be button"):
        rebind_mark(1, was, twins)
    longer = page_of(thing(1, context="Rose EUR"), thing(2, context="Rose Garden EUR"))
    assert rebind_mark(1, was, longer).number == 1
    titled = page_of(thing(1, context="Rose EUR", title="Rose"), thing(2, context="Rose EUR new", title="Rose EUR"))
    assert rebind_mark(1, page_of(thing(1, context="Rose EUR", title="Rose")), titled).number == 1
