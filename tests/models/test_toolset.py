"""Claude with its own browser toolset, asked over the real client on loopback: calls become our actions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from messages_server import Answer, reply, saying
from pydantic import SecretStr
from seen import PIXEL, mark, refused, seen, select, shot, step, unchanged

from vision_agent.actions import (
    Ask,
    Back,
    Check,
    Click,
    CloseTab,
    Custom,
    Drag,
    Finish,
    Goto,
    Hover,
    Infeasible,
    Point,
    Press,
    Read,
    Scroll,
    Select,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.custom_actions import action
from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.geometry import Box, Size
from vision_agent.models.factory import make_judge, make_model
from vision_agent.models.llm.toolset import ToolsetModel
from vision_agent.observation import MarkState
from vision_agent.record.redact import Redactor
from vision_agent.settings import ModelSettings
from vision_agent.types import Outcome, Secret, Task

TASK = Task(goal="Sign in as Ada.")
PAGE = seen(
    mark(3, "Email", "field", state=MarkState(focused=True)),
    mark(4, "Stay signed in", "toggle"),
    mark(5, "Birthday", "field", state=MarkState(input_type="date")),
    select(6, "Country", "France", "Italy"),
    mark(12, "Sign in"),
    mark(120, "Sign up", "link"),
    viewport=Size(width=640, height=400),
)


def calls(*uses: tuple[str, dict[str, Any]], said: str = "", stop: str = "tool_use") -> Answer:
    """A turn that calls these members of the toolset; a name with `our:` is one of our own tools."""
    body = json.loads(reply("end_turn").body)
    body["content"] = [{"type": "text", "text": said}] if said else []
    for index, (name, given) in enumerate(uses):
        use = {"type": "tool_use", "id": f"toolu_{index}", "name": name.removeprefix("our:"), "input": given}
        body["content"].append(use if name.startswith("our:") else {**use, "toolset_name": "browser"})
    return Answer(json.dumps({**body, "stop_reason": stop}).encode())


def ref(number: int) -> dict[str, Any]:
    return {"target": {"type": "ref", "ref": f"ref_{number}"}}


def at(x: int, y: int) -> dict[str, Any]:
    return {"type": "coordinate", "x": x, "y": y}


@pytest.fixture
async def browsing(api):
    made = []

    def make(**more: Any) -> ToolsetModel:
        settings = ModelSettings(**{"retries": 0, "timeout_s": 20, "dialect": "browser", **more.pop("settings", {})})
        given = {"base_url": api.base_url, "api_key": "key-of-the-test", "redact": unchanged, **more}
        made.append(ToolsetModel("claude-sonnet-5-5", settings=settings, **given))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in request["messages"][-1]["content"] if block["type"] == "tool_result"]


def texts(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


# --- the request ---


async def test_the_toolset_is_offered_without_what_would_run_scripts_and_with_our_own_endings(api, browsing):
    api.answers = [calls(("left_click", ref(12)))]
    await browsing().decide(TASK, (), PAGE)

    (request,) = api.asked
    *ours, toolset = request["tools"]
    assert toolset["type"] == "browser_toolset_20260801"
    off = {name for name, config in toolset["configs"].items() if not config["enabled"]}
    assert {"javascript_exec", "read_console", "read_network", "file_upload", "new_tab"} <= off
    assert [each["name"] for each in ours] == ["ask", "finish", "infeasible"]
    assert all("kind" not in each["input_schema"]["properties"] for each in ours)
    assert "output_config" not in request
    assert "Sign in as Ada." in request["messages"][0]["content"][0]["text"]
    assert "Address: http://shop.test/login" in texts(request["messages"][0]["content"])


async def test_one_action_a_step_is_asked_for_as_one_call_and_kept_to(api, browsing):
    api.answers = [calls(("left_click", ref(12)), ("left_click", ref(120)))]
    decision = await browsing(settings={"actions_per_step": "one"}).decide(TASK, (), PAGE)
    assert api.asked[0]["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert decision.actions == (Click(target=12),)


async def test_what_it_is_told_of_the_page_reads_like_this(api, browsing):
    api.answers = [calls(("left_click", ref(12)))]
    await browsing().decide(TASK, (), PAGE)
    assert (
        api.asked[0]["messages"][0]["content"][-1]["text"]
        == """\
Step 1 of at most 40. Monday 2026-03-02 09:30 UTC.
The person said since the last step:
none
<page_text>
Address: http://shop.test/login
Title: Sign in
Out of view: 0 px above, 0 px below
Notes:
none
</page_text>
"""
    )


async def test_an_action_of_the_callers_own_is_a_tool_too(api, browsing):
    @action
    async def book_seat(hands, target: Target, name: str) -> str:
        """Book a seat for somebody."""
        return "Booked"

    api.answers = [calls(("our:book_seat", {"target": "ref_12", "name": "Ann"}))]
    decision = await browsing(custom=[book_seat]).decide(TASK, (), PAGE)
    assert decision.actions == (Custom(name="book_seat", arguments={"target": 12, "name": "Ann"}),)
    (tool,) = [each for each in api.asked[0]["tools"] if each.get("name") == "book_seat"]
    assert tool["description"] == "Book a seat for somebody."
    assert tool["input_schema"]["required"] == ["target", "name"]


# --- what a call means ---


@pytest.mark.parametrize(
    ("name", "given", "means"),
    [
        ("left_click", ref(12), [Click(target=12)]),
        ("left_click", {**ref(12), "modifiers": "ctrl+shift"}, [Click(target=12, modifiers=("Control", "Shift"))]),
        ("right_click", ref(12), [Click(target=12, button="right")]),
        ("middle_click", ref(12), [Click(target=12, button="middle")]),
        ("double_click", ref(12), [Click(target=12, count=2)]),
        ("triple_click", ref(12), [Click(target=12, count=3)]),
        ("hover", ref(12), [Hover(target=12)]),
        ("scroll_to", ref(12), [Scroll(target=12, to="middle")]),
        ("form_input", {**ref(3), "value": "a@b.c"}, [Type(target=3, text="a@b.c")]),
        ("form_input", {**ref(3), "value": 42}, [Type(target=3, text="42")]),
        ("form_input", {**ref(4), "value": True}, [Check(mark=4, checked=True)]),
        ("form_input", {**ref(5), "value": "2026-02-03"}, [Set(mark=5, value="2026-02-03")]),
        ("form_input", {**ref(6), "value": "Italy"}, [Select(target=6, options=("Italy",))]),
        ("file_upload", {**ref(3), "paths": ["/somewhere/cv.pdf"]}, [Upload(mark=3, files=("cv.pdf",))]),
        ("type", {"text": "Ada"}, [Type(target=3, text="Ada", clear=False)]),
        ("key", {"text": "Return"}, [Press(keys="Enter")]),
        ("key", {"text": "ctrl+a BackSpace"}, [Press(keys="Control+a"), Press(keys="Backspace")]),
        ("hold_key", {"text": "ctrl+up", "duration": 1.5}, [Press(keys="Control+ArrowUp", seconds=1.5)]),
        ("key", {"text": "Tab", "repeat": 2}, [Press(keys="Tab", count=2)]),
        ("navigate", {"url": "shop.test/cart"}, [Goto(url="https://shop.test/cart")]),
        ("navigate", {"url": "http://shop.test/"}, [Goto(url="http://shop.test/")]),
        ("navigate", {"url": "back"}, [Back()]),
        ("switch_tab", {"tab_id": "2"}, [SwitchTab(tab=2)]),
        ("close_tab", {"tab_id": "1"}, [CloseTab(tab=1)]),
        ("get_page_text", {}, [Read(what="page")]),
        ("wait", {"duration": 2.5}, [Wait(seconds=2.5)]),
        ("our:finish", {"answer": "42", "evidence": ["ref_12", 3]}, [Finish(answer="42", evidence=(12, 3))]),
        ("our:ask", {"question": "Which?"}, [Ask(question="Which?")]),
        ("our:infeasible", {"reason": "No such thing."}, [Infeasible(reason="No such thing.")]),
    ],
)  # fmt: skip
async def test_a_call_is_one_of_our_actions(api, browsing, name, given, means):
    api.answers = [calls((name, given), said="I go on.")]
    decision = await browsing().decide(TASK, (), PAGE)
    assert decision.actions == tuple(means)
    assert (decision.author, decision.model, decision.next_goal) == ("model", "claude-sonnet-5-5", "I go on.")
    assert decision.usage.raw == json.loads(reply("end_turn").body)["usage"]


@pytest.mark.parametrize(
    ("name", "given", "means"),
    [
        ("left_click", {"target": at(10, 20)}, Click(target=Point(x=10, y=20))),
        ("mouse_move", {"target": at(10, 20)}, Hover(target=Point(x=10, y=20))),
        (
            "left_click_drag",
            {"from": at(1, 2), "target": at(30, 40)},
            Drag(source=Point(x=1, y=2), target=Point(x=30, y=40)),
        ),
        (
            "scroll",
            {"target": at(9, 9), "scroll_direction": "down", "scroll_amount": 2},
            Scroll(target=Point(x=9, y=9), pages=0.5),
        ),
        ("zoom", {"region": [10, 20, 110, 70]}, Zoom(target=Point(x=10, y=20), to=Point(x=110, y=70))),
    ],
)  # fmt: skip
async def test_a_coordinate_counts_once_the_page_as_it_is_was_shown(api, browsing, name, given, means):
    api.answers = [calls((name, given)), calls(("screenshot", {})), calls((name, given)), calls((name, given))]
    model = browsing()
    with pytest.raises(FormatError, match="Take a screenshot first") as complaint:
        await model.decide(TASK, (), PAGE)
    decision = await model.decide(TASK, (), PAGE, complaint=complaint.value.sentence)
    assert decision.actions == (means,)
    with pytest.raises(FormatError, match="Take a screenshot first"):
        await model.decide(TASK, (step(0, means),), PAGE.model_copy(update={"id": "o2"}))


async def test_coordinates_in_a_zoomed_picture_are_those_of_the_screenshot_before(api, browsing):
    whole = seen(mark(12, "Sign in", box=Box(x=100, y=240, width=200, height=10)), marked=shot(scale=2.0))
    closer = shot().model_copy(
        update={"map": whole.marked.map.model_copy(update={"scale_x": 0.5, "scale_y": 0.5, "offset_x": 100.0})}
    )
    zoomed = whole.model_copy(update={"id": "o2", "marked": closer, "region": Box(x=100, y=0, width=320, height=200)})
    region = {"region": [50, 0, 210, 100]}
    api.answers = [calls(("screenshot", {})), calls(("zoom", region)), calls(("left_click", {"target": at(60, 10)}))]
    model = browsing()
    first = await model.decide(TASK, (), whole)
    decision = await model.decide(TASK, (step(0, *first.actions),), zoomed)
    # Pixel 60 of the screenshot is 120 of the page, which is 20 from the left of the part shown, twice enlarged.
    assert decision.actions == (Click(target=Point(x=40, y=40)),)
    assert [block["type"] for block in api.asked[-1]["messages"][-1]["content"]] == ["tool_result", "text", "image"]


async def test_what_is_typed_after_a_click_of_the_same_turn_goes_where_the_click_went(api, browsing):
    api.answers = [calls(("left_click", ref(5)), ("type", {"text": "1"}), ("key", {"text": "Tab"}))]
    decision = await browsing().decide(TASK, (), PAGE)
    assert decision.actions == (Click(target=5), Type(target=5, text="1", clear=False), Press(keys="Tab"))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (("left_click", ref(99)), "no mark 99, which `left_click` names"),
        (("left_click", {"target": {"type": "ref", "ref": "button"}}), "'button' is not a reference"),
        (("left_click", {}), "The arguments of `left_click` do not fit: target"),
        (("left_click", {**ref(12), "modifiers": "hyper"}), "'hyper' is not a modifier"),
        (("left_click", {**ref(12), "tab_id": "2"}), "tab 1 is active"),
        (("form_input", {**ref(4), "value": "on"}), "give true or false"),
        (("form_input", {**ref(3), "value": True}), "give a text or a number"),
        (("javascript_exec", {"text": "1"}), "`javascript_exec` is not offered"),
        (("wait", {"duration": 900}), "up to 30 s are"),
        (("key", {"text": "a", "repeat": 1000}), "1 to 100 are possible"),
        (("hold_key", {"text": "a", "duration": 60}), "up to 10 s are possible"),
        (("our:drop_tables", {}), "There is no tool `drop_tables`"),
        (("our:finish", {"evidence": ["ref_99"]}), "no mark 99, which `finish` names"),
        (("our:finish", {"done": True}), "The arguments of `finish` do not fit"),
    ],
)
async def test_a_call_that_cannot_be_is_refused_and_told_to_the_model_as_the_result_of_it(api, browsing, call, why):
    api.answers = [calls(("left_click", ref(3)), call), calls(("left_click", ref(12)))]
    model = browsing()
    with pytest.raises(FormatError) as raised:
        await model.decide(TASK, (), PAGE)
    assert why in raised.value.sentence
    assert raised.value.usage.total > 0
    await model.decide(TASK, (), PAGE, complaint=raised.value.sentence)
    told = results(api.asked[1])
    assert [each["is_error"] for each in told] == [True, True]
    assert all("Nothing was done" in texts(each["content"]) for each in told)


async def test_arguments_without_end_are_refused(api, browsing):
    api.answers = [calls(("type", {"text": "A" * 100_001}))]
    with pytest.raises(FormatError, match="has 100,001 characters, and at most 100,000"):
        await browsing().decide(TASK, (), PAGE)
    api.answers = [calls(*[("type", {"text": "A" * 90_000})] * 12)]
    with pytest.raises(FormatError, match=r"The arguments have 1,\d{3},\d{3} characters"):
        await browsing().decide(TASK, (), PAGE)


async def test_typing_where_nothing_has_the_focus_is_refused(api, browsing):
    api.answers = [calls(("type", {"text": "Ada"}))]
    with pytest.raises(FormatError, match="No field has the focus"):
        await browsing().decide(TASK, (), seen())


# --- what is only looked at ---


async def test_looks_are_answered_at_once_with_the_listing_and_the_marked_picture(api, browsing):
    looks = [("read_page", {}), ("find", {"query": "the sign in button"}), ("screenshot", {}), ("list_tabs", {})]
    api.answers = [calls(*looks), calls(("left_click", ref(12)))]
    decision = await browsing().decide(TASK, (), PAGE)

    page, found, picture, tabs = results(api.asked[1])
    assert "[ref_12] <button>Sign in\n[ref_120] <a>Sign up" in texts(page["content"])
    assert texts(found["content"]).splitlines()[1] == "[ref_12] <button>Sign in"
    assert base64.b64decode(picture["content"][0]["source"]["data"]) == PIXEL
    assert picture["content"][0]["transformations"] == {"oversized_image": "error"}
    assert "1: Sign in http://shop.test/login" in texts(tabs["content"])
    assert all(each["toolset_name"] == "browser" and not each["is_error"] for each in (page, found, picture, tabs))
    assert decision.actions == (Click(target=12),)
    assert len(decision.usage.raw["replies"]) == 2, "a look costs, and is counted with what came of it"


async def test_find_does_not_tell_a_word_of_a_secret(api, browsing):
    secret = Secret(name="word", value=SecretStr("Sign in"))
    looks = [("find", {"query": "sign"}), ("find", {"query": "sing"})]
    api.answers = [calls(*looks), calls(("left_click", ref(12)))]
    page = PAGE.model_copy(update={"listing": "12[:]<button>Sign in"})
    await browsing(redact=Redactor((secret,)).for_model).decide(TASK, (), page)
    right, wrong = results(api.asked[1])
    assert right["content"] == wrong["content"]


async def test_a_look_after_an_act_waits_until_it_was_done(api, browsing):
    api.answers = [calls(("read_page", {}), ("left_click", ref(12)), ("screenshot", {})), calls(("left_click", ref(3)))]
    model = browsing()
    decision = await model.decide(TASK, (), PAGE)
    assert decision.actions == (Click(target=12),)
    await model.decide(TASK, (step(0, *decision.actions),), PAGE)
    read, clicked, looked = results(api.asked[1])
    assert "[ref_12]" in texts(read["content"])
    assert "done, changed: clicked mark 12" in texts(clicked["content"])
    assert looked["is_error"]


async def test_who_only_looks_is_told_to_act(api, browsing):
    api.answers = [calls(("read_page", {}))]
    with pytest.raises(FormatError, match="You looked 8 times at the same page") as raised:
        await browsing().decide(TASK, (), PAGE)
    assert len(api.requests) == len(raised.value.usage.raw["replies"]) == 8


# --- what came of it ---


async def test_what_came_of_each_action_is_the_result_of_its_call_with_the_tabs(api, browsing):
    api.answers = [calls(("left_click", ref(12)), ("get_page_text", {})), calls(("left_click", ref(3)))]
    model = browsing()
    decision = await model.decide(TASK, (), PAGE)
    read = Outcome(status="done", effect="read", sentence="Read the page.", read="Total 42 </page_text>")
    done = step(0, *decision.actions).model_copy(update={"outcomes": (refused("mark 12 is covered"), read)})
    await model.decide(TASK, (done,), PAGE)

    clicked, told = results(api.asked[1])
    assert (clicked["is_error"], told["is_error"]) == (True, False)
    assert "refused, covered: mark 12 is covered" in texts(clicked["content"])
    assert "Total 42 ‹/page_text>" in texts(told["content"])
    (state,) = [block for block in told["content"] if block["type"] == "browser_state"]
    assert state["tabs"] == [{"tab_id": "1", "title": "Sign in", "url": "http://shop.test/login", "active": True}]
    assert [each["role"] for each in api.asked[1]["messages"]] == ["user", "assistant", "user"]
    assert "Step 2 of at most 40" in texts(api.asked[1]["messages"][-1]["content"])


async def test_what_others_did_in_between_is_told(api, browsing):
    api.answers = [calls(("left_click", ref(12))), calls(("left_click", ref(3)))]
    model = browsing()
    decision = await model.decide(TASK, (), PAGE)
    theirs = step(1, Goto(url="http://shop.test/"), author="loop", next_goal="Leave a stall")
    await model.decide(TASK, (step(0, *decision.actions), theirs), PAGE)
    told = texts(api.asked[1]["messages"][-1]["content"])
    assert "Leave a stall" in told
    assert "goal 0" not in told


async def test_a_run_that_others_began_is_told_from_its_beginning(api, browsing):
    api.answers = [calls(("left_click", ref(12)))]
    await browsing().decide(TASK, (step(0),), PAGE)
    assert "goal 0" in texts(api.asked[0]["messages"][0]["content"])


async def test_pictures_of_earlier_steps_are_not_sent_again(api, browsing):
    api.answers = [calls(("screenshot", {})), calls(("left_click", ref(12))), calls(("left_click", ref(3)))]
    model = browsing()
    decision = await model.decide(TASK, (), PAGE)
    await model.decide(TASK, (step(0, *decision.actions),), PAGE)
    sha_of_picture = base64.standard_b64encode(PIXEL)
    assert [sha_of_picture in request for request in api.requests] == [False, True, False]


async def test_what_is_kept_of_a_request_has_each_picture_as_its_hash_and_no_secret(api, browsing):
    secret = Secret(name="password", value=SecretStr("hunter2-is-secret"), origins=("shop.test",))
    page = seen(listing="3[:]<input>hunter2-is-secret", title="hunter2-is-secret")
    kept: list[bytes] = []
    api.answers = [calls(("screenshot", {}), ("read_page", {})), calls(("form_input", {**ref(3), "value": "x"}))]
    model = browsing(redact=Redactor((secret,)), keep_request=lambda request: kept.append(request) or "kept")
    decision = await model.decide(TASK.model_copy(update={"secrets": (secret,)}), (), page)
    assert not [each for each in (*kept, *api.requests) if b"hunter2-is-secret" in each]
    assert base64.standard_b64encode(PIXEL) not in kept[1]
    assert b'"data": "sha256:' in kept[1]
    assert decision.request_sha256 == "kept"


# --- how a turn can end ---


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (saying("It is done."), FormatError, "calls no tool"),
        (reply("max_tokens"), FormatError, "cut off"),
        (reply("empty"), FormatError, "empty"),
        (reply("refusal"), ModelUnavailable, "declined"),
        (reply("model_context_window_exceeded"), ModelUnavailable, "no room left"),
    ],
)
async def test_a_turn_without_a_call_says_why_it_cannot_be_used(api, browsing, answer, error, says):
    api.answers = [answer]
    with pytest.raises(error, match=says) as raised:
        await browsing().decide(TASK, (), PAGE)
    assert raised.value.usage.total > 0


async def test_after_a_turn_without_a_call_the_complaint_is_the_last_word(api, browsing):
    api.answers = [saying("It is done."), calls(("our:finish", {"answer": "done"}))]
    model = browsing()
    with pytest.raises(FormatError) as raised:
        await model.decide(TASK, (), PAGE)
    decision = await model.decide(TASK, (), PAGE, complaint=raised.value.sentence)
    assert "calls no tool" in texts(api.asked[1]["messages"][-1]["content"])
    assert decision.actions == (Finish(answer="done"),)


# --- who speaks it ---


def test_only_claude_speaks_it_and_a_judge_calls_no_tools():
    settings = ModelSettings(dialect="browser", api_key="key-of-the-test")
    assert isinstance(make_model("anthropic:claude-sonnet-5-5", settings=settings, redact=unchanged), ToolsetModel)
    with pytest.raises(UsageError, match="has no browser toolset"):
        make_model("openai:gpt-5.4", settings=settings, redact=unchanged)
    judge = make_judge("openai:gpt-5.4", settings=settings, redact=unchanged)
    assert judge.name == "gpt-5.4"
