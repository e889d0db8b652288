"""Claims about custom actions."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.hand import SETTINGS, On, opener
from tests.conftest import Server
from tests.models.seen import seen
from vision_agent import Agent, Settings, action
from vision_agent.actions import Click, Custom, Finish, Press, Target, Type
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.custom_actions import ActionContext, actions_from
from vision_agent.errors import BrowserUnavailable, FormatError, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.prompt.prompt import render
from vision_agent.models.reply import ModelReply, parse_decision, schema
from vision_agent.policy.approval import risks_of
from vision_agent.record.read import read
from vision_agent.settings import ApprovalSettings, BrowserSettings
from vision_agent.types import Decision, Task


@action
async def sign(hands: ActionContext, target: Target, name: str, times: int = 1) -> str:
    """Write a name into a field
    and press Enter."""
    for _ in range(times):
        outcome = await hands.act(Type(target=target, text=name))
        if outcome.status == "refused":
            raise ValueError(outcome.sentence)
        await hands.act(Press(keys="Enter"))
    return f"Signed as {name}"


@pytest.fixture
def on(page: Page, serve: Server) -> On:
    return opener(page, serve)


async def test_one_that_fails_is_not_called_again_because_it_may_have_paid(page: Page, tmp_path: Path) -> None:
    charged = []

    @action(risks=["pay"])
    def charge(amount: float) -> None:
        """Charge the card."""
        charged.append(amount)
        raise TimeoutError("the gateway did not answer")

    lines = ["call charge with amount=9.5", "finish"]
    run = await Agent("Pay", page=page, actions=[charge], steps=lines, settings=Settings(runs=tmp_path)).run()
    assert (charged, run.steps[0].outcomes[0].status) == ([9.5], "partial")
    assert "may have been carried out, so it is not called again" in run.ending.sentence


async def test_a_step_line_calls_it_with_its_arguments(page: Page, tmp_path: Path) -> None:
    def price_of(article: str) -> float:
        """Look up what an article costs."""
        return {"mug": 12.5}[article]

    lines = ['call price_of with article="mug"', "finish 12.5"]
    run = await Agent(
        "What does it cost?", page=page, actions=[price_of], steps=lines, settings=Settings(runs=tmp_path)
    ).run()
    assert (run.ok, run.steps[0].outcomes[0].sentence) == (True, "12.5.")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("call prize_of", "there is no action prize_of; the custom actions are price_of, two"),
        ('call two with wrd="a"', r"two needs word; there is no wrd \(known: word, times\)"),
        ("call two with word=1", r"word cannot be 1: input should be a valid string \(known: word, times\)"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_before_anything_starts(line: str, words: str) -> None:
    def two(word: str, times: int = 2) -> str:
        """Say a word twice."""
        return word * times

    with pytest.raises(UsageError, match=f"Line 2, '{line}': {words}"):
        Agent("Say it", url="shop.example", actions=[price_of, two], steps=["click Order", line])
    assert Agent("Say it", url="shop.example", actions=[two], steps=['call two with word="a"']).folder is None


def test_a_model_is_offered_it_by_its_docstring_and_arguments() -> None:
    system = render(Task(goal="x"), (), seen(), redact=str, custom=[sign]).system
    assert "- `sign target name times=1`: Write a name into a field and press Enter." in system
    assert "sign" in json.dumps(schema([sign]))
    assert "sign" not in json.dumps(schema())


def _said(**arguments: object) -> str:
    return json.dumps({"judgement": "unknown", "actions": [{"kind": "sign", **arguments}]})


def test_a_reply_that_chooses_it_is_recorded_as_data() -> None:
    decision = parse_decision(ModelReply(_said(target=12, name="Ann")), seen(), custom=[sign])
    assert decision.actions == (Custom(name="sign", arguments={"target": 12, "name": "Ann", "times": 1}),)
    assert Decision.model_validate_json(decision.model_dump_json()) == decision


@pytest.mark.parametrize(
    "arguments", [{"target": 99, "name": "A"}, {"target": 12}, {"target": 12, "name": "A", "x": 1}]
)
def test_a_reply_whose_arguments_do_not_fit_is_sent_back(arguments: dict[str, object]) -> None:
    with pytest.raises(FormatError):
        parse_decision(ModelReply(_said(**arguments)), seen(), custom=[sign])


def test_a_reply_cannot_choose_what_was_not_brought_nor_the_recorded_form() -> None:
    with pytest.raises(FormatError):
        parse_decision(ModelReply(_said(target=12, name="A")), seen())
    custom = {"kind": "custom", "name": "sign", "arguments": {}}
    with pytest.raises(FormatError):
        parse_decision(ModelReply(json.dumps({"judgement": "unknown", "actions": [custom]})), seen(), custom=[sign])


FORM = '<form onsubmit="document.title += who.value; return false"><input id=who aria-label=Name></form>'
FORM += "<button>No</button>"


PRICES = {"mug": 12.5}


def price_of(article: str) -> float:
    """Look up what an article costs."""
    return PRICES[article]


async def greeted(name: str) -> None:
    """Greet somebody."""


def test_plain_functions_are_offered_by_name_docstring_and_arguments_and_declare_no_risk() -> None:
    made = actions_from([price_of, greeted, sign])
    assert [each.name for each in made] == ["price_of", "greeted", "sign"]
    system = render(Task(goal="x"), (), seen(), redact=str, custom=made).system
    assert "- `price_of article`: Look up what an article costs." in system
    said = json.dumps({"judgement": "unknown", "actions": [{"kind": "price_of", "article": "mug"}]})
    [chosen] = parse_decision(ModelReply(said), seen(), custom=made).actions
    assert [
        each.risk for each in risks_of(ApprovalSettings(), Decision(actions=(chosen,), author="model"), seen())
    ] == ["unclassified"]


async def test_what_a_plain_function_returns_is_the_outcome(on: On) -> None:
    async with on(FORM, actions=actions_from([price_of, greeted])) as hand:
        outcome = await hand.act(Custom(name="price_of", arguments={"article": "mug"}))
        assert (outcome.status, outcome.sentence) == ("done", "12.5.")
        outcome = await hand.act(Custom(name="price_of", arguments={"article": "cup"}))
        assert (outcome.status, outcome.sentence) == (
            "partial",
            "price_of failed: KeyError: 'cup'. What it had done by then is not known.",
        )
        assert (await hand.act(Custom(name="greeted", arguments={"name": "Ann"}))).sentence == "Done."


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("HI! HI! ", "HI! HI!"),
        ("Booked.", "Booked."),
        ("Booked", "Booked."),
        ("", "Done."),
        ({"w": "aa"}, '{"w":"aa"}'),
        ([1, 2], "[1,2]"),
    ],
)
async def test_a_full_stop_is_added_only_where_one_is_missing(on: On, returned: object, sentence: str) -> None:
    def told() -> Any:
        """Tell."""
        return returned

    async with on(FORM, actions=actions_from([told])) as hand:
        assert (await hand.act(Custom(name="told"))).sentence == sentence


async def test_a_function_in_a_thread_that_is_late_may_still_do_it(on: On) -> None:
    may_end = threading.Event()

    def slow() -> None:
        """Wait for the end."""
        may_end.wait(30)

    settings = SETTINGS.model_copy(update={"custom_action_deadline_s": 0.3})
    async with on(FORM, actions=actions_from([slow]), settings=settings) as hand:
        outcome = await hand.act(Custom(name="slow"))
        may_end.set()
    assert (outcome.status, outcome.refusal) == ("partial", "timed_out")
    assert "goes on in the background" in outcome.sentence


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (price_of, r"write actions=\[price_of\]"),
        ([price_of, price_of], "Two actions are called price_of"),
        (["price_of"], "cannot be an action"),
        ([lambda: None], "cannot be an action"),
    ],
)
def test_what_is_no_list_of_functions_is_refused(given: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        actions_from(given)


async def test_it_acts_through_the_same_checked_hands(on: On) -> None:
    async with on(FORM, actions=[sign]) as hand:
        outcome = await hand.act(Custom(name="sign", arguments={"target": 1, "name": "Ann"}))
        assert (outcome.status, outcome.sentence) == ("done", "Signed as Ann.")
        assert await hand.page.title() == "Ann"


@action
async def doze(hands: ActionContext) -> str:
    """Wait for nothing."""
    await asyncio.Event().wait()
    return ""


@action
async def misread(hands: ActionContext) -> str:
    """Read an answer of another program."""
    return Custom.model_validate_json("{}").name


@action
async def close(hands: ActionContext) -> str:
    """Close the browser and look for more to do."""
    await hands.page.context.browser.close()
    await hands.act(Click(target=2))
    return "Clicked"


async def test_one_that_does_not_end_is_stopped_at_its_deadline(on: On) -> None:
    async with on(FORM, actions=[doze], settings=SETTINGS.model_copy(update={"custom_action_deadline_s": 0.3})) as hand:
        outcome = await hand.act(Custom(name="doze"))
        assert (outcome.status, outcome.refusal) == ("partial", "timed_out")
        assert outcome.sentence.startswith("doze did not finish within 0.3 s and was stopped.")
        assert (await hand.act(Click(target=2))).status == "done"


async def test_what_does_not_fit_inside_it_is_not_taken_for_its_arguments(on: On) -> None:
    async with on(FORM, actions=[misread]) as hand:
        outcome = await hand.act(Custom(name="misread"))
        assert outcome.sentence.startswith("misread failed: ValidationError:")


async def test_a_browser_that_went_away_in_it_ends_the_run_as_it_would_anywhere(serve: Server) -> None:
    async with launch_browser(BrowserSettings()) as started:
        page = await started.context.new_page()
        async with opener(page, serve)(FORM, actions=[close]) as hand:
            with pytest.raises(BrowserUnavailable):
                await hand.act(Custom(name="close"))


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("sign", {"target": 2, "name": "Ann"}, "is not a field"),
        ("sign", {"target": 1}, "sign was not done: sign needs name (known: target, name, times)."),
        (
            "sign",
            {"target": 1, "nam": "Ann"},
            "sign was not done: sign needs name; there is no nam (known: target, name, times).",
        ),
        (
            "sign",
            {"target": 1, "name": 1, "times": "x"},
            "sign was not done: name cannot be 1: input should be a valid string; "
            'times cannot be "x": input should be a valid integer, unable to parse string as an integer (known: ',
        ),
        ("stamp", {}, "stamp was not done: there is no action stamp; the custom actions are sign."),
    ],
)
async def test_what_goes_wrong_in_it_is_told_and_ends_nothing(
    on: On, name: str, arguments: dict[str, int | str], words: str
) -> None:
    async with on(FORM, actions=[sign]) as hand:
        outcome = await hand.act(Custom(name=name, arguments=dict(arguments)))
        assert outcome.status == ("refused" if "was not done" in words else "partial")
        assert words in outcome.sentence
        assert (await hand.act(Click(target=2))).status == "done"


async def test_a_run_with_it_can_be_read_without_it(page: Page, serve: Server, tmp_path: Path) -> None:
    await page.goto(serve({"/": f"<!doctype html>{FORM}"}))
    done = Custom(name="sign", arguments={"target": 1, "name": "Ann"})
    decisions = [Decision(author="scripted", actions=(each,)) for each in (done, Finish())]
    agent = Agent("Sign", model=ScriptedModel(decisions), page=page, settings=Settings(runs=tmp_path), actions=[sign])
    await agent.run()
    assert agent.folder is not None
    assert read(agent.folder).steps[0].decision.actions == (done,)
    assert "sign(target=1" in (agent.folder / "report.html").read_text("utf-8")


async def _says_nothing(hands: ActionContext) -> str:
    return ""


async def _no_type(hands: ActionContext, what) -> str:  # type: ignore[no-untyped-def]
    """Does."""
    return str(what)


async def click(hands: ActionContext) -> str:
    """Does."""
    return ""


def _not_async(hands: ActionContext) -> str:
    """Does."""
    return ""


def _vague(whats: list[object]) -> str:
    """Does."""
    return ""


def _star(*names: str) -> str:
    """Does."""
    return ""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_says_nothing, "has no docstring"),
        (_no_type, "'what' has no type"),
        (click, "the name is taken"),
        (_not_async, "takes hands and is not async"),
        (_vague, "its argument 'whats' has the type object"),
        (_star, r"a model cannot give \*names"),
    ],
)
def test_a_function_that_cannot_be_an_action_is_refused_when_it_is_made(
    function: Callable[..., Awaitable[str]], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        action(function)


async def test_one_that_is_cancelled_by_itself_failed_and_the_run_goes_on(page: Page, tmp_path: Path) -> None:
    @action(risks=[])
    async def give_up() -> str:
        """Give up."""
        raise asyncio.CancelledError

    steps = ["call give_up", "finish"]
    agent = Agent("Try", page=page, actions=[give_up], steps=steps, settings=Settings(runs=tmp_path))
    run = await agent.run()
    assert "give_up failed: CancelledError" in run.steps[0].outcomes[0].sentence


async def test_half_a_character_that_one_returns_is_replaced(page: Page, tmp_path: Path) -> None:
    @action(risks=[])
    def cut() -> str:
        """Cut a text."""
        return "Cut \ud83d"

    agent = Agent("Cut", page=page, actions=[cut], steps=["call cut", "finish"], settings=Settings(runs=tmp_path))
    run = await agent.run()
    assert run.steps[0].outcomes[0].sentence == "Cut \ufffd."
