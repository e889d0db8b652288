from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from itertools import count

import pytest
from messages_server import Answer, fault, reply, saying
from seen import AT, PIXEL, decide_with_a_secret, refused, seen, shot, step

from vision_agent.actions import Click, Type
from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.types import GoalPicture, Message, Task

TASK = Task(goal="Sign in as Ada.", user_data={"name": "Ada"})


def content(request):
    return request["messages"][0]["content"]


def without_markers(blocks):
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]


# --- what a good reply becomes ---


async def test_a_reply_becomes_a_decision(api, claude):
    ticks = count(10.0, 2.5)
    decision = await claude(clock=lambda: next(ticks)).decide(TASK, (), seen())

    assert decision.actions == (Click(target=12),)
    assert decision.author == "model"
    assert (decision.judgement, decision.next_goal) == ("unknown", "Be signed in.")
    assert [each.mark for each in decision.candidates] == [12]
    assert (decision.model, decision.reply_id) == ("claude-sonnet-5-5", "msg_end_turn")
    assert decision.seconds == 2.5


async def test_usage_is_told_as_the_api_said_it(api, claude):
    usage = (await claude().decide(TASK, (), seen())).usage

    assert usage.raw == json.loads(reply("end_turn").body)["usage"]
    assert (usage.input_tokens, usage.output_tokens) == (21, 73)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (1500, 180)


# --- the request ---


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        # 3 USD for a million tokens in, 15 for those out, 0.30 for those read from the cache, 3.75 for those written.
        ("claude-sonnet-4-5", (21 * 3 + 73 * 15 + 1500 * 0.3 + 180 * 3.75) / 1e6),
        ("claude-of-tomorrow", None),
    ],
)
async def test_a_decision_costs_what_its_model_costs_and_no_price_is_guessed(api, claude, model, usd):
    body = json.loads(reply("end_turn").body)
    api.answers = [Answer(json.dumps({**body, "model": model}).encode())]
    usage = (await claude().decide(TASK, (), seen())).usage
    assert usage.cost_usd == (usd and pytest.approx(usd))


async def test_nothing_the_api_rejects_is_sent(api, claude):
    await claude().decide(TASK, (step(0),), seen())

    (request,) = api.asked
    assert request.keys() == {"model", "max_tokens", "system", "messages", "output_config"}
    assert [each["role"] for each in request["messages"]] == ["user"]


async def test_the_picture_is_the_shot_to_the_byte_and_may_not_be_shrunk(api, claude):
    picture = PIXEL + b"trailing bytes count too"
    await claude().decide(TASK, (), seen(marked=shot(picture)))

    (image,) = [block for block in content(api.asked[0]) if block["type"] == "image"]
    assert base64.b64decode(image["source"]["data"]) == picture
    assert image["source"]["media_type"] == "image/png"
    assert image["transformations"] == {"oversized_image": "error"}


async def test_only_the_present_picture_is_sent_after_several_steps(api, claude):
    earlier = seen(marked=shot(b"earlier picture"))
    await claude().decide(TASK, (step(0, observation=earlier), step(1, observation=earlier)), seen())

    images = [block for block in content(api.asked[0]) if block["type"] == "image"]
    assert [base64.b64decode(each["source"]["data"]) for each in images] == [PIXEL]


async def test_pictures_of_the_task_come_with_it_and_before_the_log(api, claude):
    task = TASK.model_copy(update={"pictures": (GoalPicture(shot=shot(b"a chair"), caption="like this"),)})
    await claude().decide(task, (step(0),), seen())

    kinds = [block["type"] for block in content(api.asked[0])]
    assert kinds == ["text", "image", "text", "image", "text", "text"]
    assert base64.b64decode(content(api.asked[0])[1]["source"]["data"]) == b"a chair"
    assert "1. like this" in content(api.asked[0])[0]["text"]


async def test_the_order_is_task_log_picture_page_question(api, claude):
    await claude().decide(TASK, (step(0), step(1)), seen())

    task, first, second, picture, now, question = content(api.asked[0])
    assert "Sign in as Ada." in task["text"]
    assert "goal 0" in first["text"]
    assert "goal 1" in second["text"]
    assert picture["type"] == "image"
    assert "12[:]<button>Sign in" in now["text"]
    assert "Step 3 of at most 40" in now["text"]
    assert question["text"].startswith("What do you do now?")


@pytest.mark.parametrize("steps", [0, 1, 5])
async def test_at_most_four_breakpoints_stand_at_the_ends_of_what_stays(api, claude, steps):
    await claude().decide(TASK, tuple(step(i) for i in range(steps)), seen())

    (request,) = api.asked
    marked = [i for i, block in enumerate(content(request)) if "cache_control" in block]
    assert marked == sorted({0, steps})
    assert "cache_control" in request["system"][-1]
    assert len(marked) + 1 <= 4


async def test_consecutive_requests_begin_with_the_same_bytes(api, claude):
    model = claude()
    steps = [step(0), step(1, outcome=refused()), step(2, Type(target=3, text="a@b.c"), memory="order 7")]
    for done in range(4):
        said = tuple(Message(text=f"hint {i}", at=AT.replace(minute=30 + i, second=30)) for i in range(done))
        await model.decide(TASK.model_copy(update={"messages": said}), tuple(steps[:done]), seen())

    for before, after in zip(api.asked, api.asked[1:], strict=False):
        last = max(i for i, block in enumerate(content(before)) if "cache_control" in block)
        prefix = without_markers(content(before)[: last + 1])
        assert json.dumps(prefix) == json.dumps(without_markers(content(after)[: last + 1]))
        assert all(json.dumps(before[part]) == json.dumps(after[part]) for part in ("model", "system", "output_config"))


async def test_no_secret_reaches_the_api_in_any_part_of_a_request(api, claude):
    value, kept = await decide_with_a_secret(claude)

    assert value not in api.requests[0]
    assert value not in kept[0]
    assert b"<secret:password>" in api.requests[0]
    assert "<secret:password> (only on shop.test)" in content(api.asked[0])[0]["text"]


async def test_the_request_is_kept_before_it_is_sent_with_each_picture_as_its_hash(api, claude):
    written = []

    def keep(request):
        written.append((request, len(api.requests)))
        return "hash-of-the-record"

    decision = await claude(keep_request=keep).decide(TASK, (), seen())

    ((request, already_sent),) = written
    sent = api.asked[0]
    for block in content(sent):
        if block["type"] == "image":
            block["source"]["data"] = f"sha256:{hashlib.sha256(PIXEL).hexdigest()}"
    assert json.loads(request) == sent
    assert already_sent == 0
    assert decision.request_sha256 == "hash-of-the-record"


async def test_a_request_that_nobody_keeps_is_known_by_its_hash(api, claude):
    decision = await claude().decide(TASK, (), seen())
    assert re.fullmatch("[0-9a-f]{64}", decision.request_sha256)


async def test_a_complaint_is_the_last_thing_the_model_reads(api, claude):
    await claude().decide(TASK, (), seen(), complaint="There is no mark 13.")

    assert "There is no mark 13." in content(api.asked[0])[-1]["text"]
    assert all("There is no mark 13." not in block.get("text", "") for block in content(api.asked[0])[:-1])


async def test_a_picture_without_its_bytes_is_refused_before_any_request(api, claude):
    bare = shot().model_copy(update={"data": None})

    with pytest.raises(UsageError, match="not loaded"):
        await claude().decide(TASK, (), seen(marked=bare))
    assert api.requests == []


async def test_a_model_that_is_to_decide_one_action_is_asked_for_one(api, claude):
    text = json.dumps({"judgement": "unknown", "action": {"kind": "click", "target": 12}})
    api.answers = [saying(text)]
    decision = await claude(settings={"actions_per_step": "one"}).decide(TASK, (), seen())

    (request,) = api.asked
    assert decision.actions == (Click(target=12),)
    assert "- `action`: the one thing to do now." in request["system"][0]["text"]
    assert "action" in request["output_config"]["format"]["schema"]["required"]


# --- every way in which a reply can end ---


async def test_a_stop_sequence_ends_a_reply_like_any_other(api, claude):
    api.answers = [reply("stop_sequence")]
    assert (await claude().decide(TASK, (), seen())).actions == (Click(target=12),)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("max_tokens", "cut off after 8192 tokens.*shorter"),
        ("tool_use", "calls a tool"),
        ("empty", "is empty"),
        ("malformed", r"no JSON object.*I would click the button \[12\]"),
        ("unknown_mark", "no mark 13.*3, 4, 12"),
    ],
)
async def test_a_reply_that_makes_no_sense_says_what_to_do_about_it(api, claude, name, says):
    api.answers = [reply(name)]
    with pytest.raises(FormatError) as raised:
        await claude().decide(TASK, (), seen())
    assert re.search(says, raised.value.sentence)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("refusal", r"declined to answer \(general_harms: This cannot be helped with\.\)"),
        ("model_context_window_exceeded", "no room left.*larger window"),
        ("unknown_stop", "walked_away"),
        ("missing_fields", "not a message.*content: Field required"),
    ],
)
async def test_a_model_that_does_not_answer_is_unavailable(api, claude, name, says):
    api.answers = [reply(name)]
    with pytest.raises(ModelUnavailable, match=says):
        await claude().decide(TASK, (), seen())


async def test_a_paused_reply_is_continued_with_what_it_said(api, claude):
    api.answers = [reply("pause_turn"), reply("resumed")]
    decision = await claude().decide(TASK, (), seen())

    assert decision.actions == (Click(target=12),)
    assert api.asked[1]["messages"][-1] == {"role": "assistant", "content": json.loads(api.answers[0].body)["content"]}
    assert decision.usage.output_tokens == 2 * 73
    assert len(decision.usage.raw["replies"]) == 2


async def test_a_reply_that_pauses_for_ever_is_given_up(api, claude):
    api.answers = [reply("pause_turn")]
    with pytest.raises(ModelUnavailable, match="paused 5 times") as raised:
        await claude().decide(TASK, (), seen())
    assert len(api.requests) == 5
    assert len(raised.value.usage.raw["replies"]) == 5


@pytest.mark.parametrize("name", ["malformed", "max_tokens", "refusal"])
async def test_what_an_unusable_reply_cost_is_said_with_the_complaint(api, claude, name):
    api.answers = [reply(name), reply("end_turn")]
    model = claude()
    with pytest.raises((FormatError, ModelUnavailable)) as complaint:
        await model.decide(TASK, (), seen())
    decision = await model.decide(TASK, (), seen(), complaint=str(complaint.value))

    assert complaint.value.usage.raw == json.loads(reply(name).body)["usage"]
    assert complaint.value.usage.total > 0
    assert decision.usage.raw == json.loads(reply("end_turn").body)["usage"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>Please log in</html>", content_type="text/html"),
        Answer(b'"a string"'),
        Answer(b"[]"),
        Answer(b"null"),
        Answer(b""),
        Answer(b"{"),
        Answer(b'{"type": "error", "error": {"message": "odd"}}'),
        Answer(b"\xff\xfe", content_type="application/octet-stream"),
    ],
    ids=["html", "string", "list", "null", "nothing", "cut", "error", "binary"],
)
async def test_a_success_that_is_no_message_is_an_error(api, claude, answer):
    api.answers = [answer]
    with pytest.raises(ModelUnavailable, match=r"answered successfully.*is not a message"):
        await claude().decide(TASK, (), seen())


async def test_a_message_under_another_content_type_is_read_all_the_same(api, claude):
    api.answers = [Answer(reply("end_turn").body, content_type="text/plain")]
    assert (await claude().decide(TASK, (), seen())).actions == (Click(target=12),)


# --- every way in which a request can fail ---


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (fault(401, "authentication_error", "invalid x-api-key"), "invalid x-api-key.*ANTHROPIC_API_KEY"),
        (fault(403, "permission_error", "not for you"), "not for you.*ANTHROPIC_API_KEY"),
        (fault(404, "not_found_error", "model: claude-sonnet-5-5"), "no model 'claude-sonnet-5-5'.*check the name"),
        (fault(400, "invalid_request_error", "image is 9000x9000"), "image is 9000x9000.*longest_edge"),
        (fault(413, "request_too_large", "too many bytes"), "too large: too many bytes"),
        (fault(429, "rate_limit_error", "slow down"), "too many requests: slow down"),
        (fault(500, "api_error", "oops"), "failed with 500: oops"),
        (fault(529, "overloaded_error", "busy"), "overloaded: busy"),
        (Answer(b"<h1>Bad gateway</h1>", 502, "text/html"), "failed with 502"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else "",
)
async def test_each_refusal_of_a_request_is_a_sentence_that_helps(api, claude, answer, says):
    api.answers = [answer]
    with pytest.raises(ModelUnavailable, match=says) as raised:
        await claude().decide(TASK, (), seen())
    assert raised.value.hint
    assert raised.value.exit_code == 5


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_what_may_pass_is_tried_again(api, claude, status):
    api.answers = [fault(status, "error", "for now"), reply("end_turn")]
    decision = await claude(settings={"retries": 1}).decide(TASK, (), seen())

    assert decision.actions
    assert len(api.requests) == 2


async def test_the_number_of_tries_is_told(api, claude):
    api.answers = [fault(529, "overloaded_error", "busy")]
    with pytest.raises(ModelUnavailable, match="in 3 tries"):
        await claude(settings={"retries": 2}).decide(TASK, (), seen())
    assert len(api.requests) == 3


async def test_a_wrong_key_is_not_tried_again(api, claude):
    api.answers = [fault(401, "authentication_error", "no")]
    with pytest.raises(ModelUnavailable):
        await claude(settings={"retries": 3}).decide(TASK, (), seen())
    assert len(api.requests) == 1


async def test_an_answer_that_never_comes_ends_at_the_timeout(api, claude):
    api.answers = [Answer(b"", hangs=True)]
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s.*timeout_s"):
        await claude(settings={"timeout_s": 0.2}).decide(TASK, (), seen())


async def test_an_answer_that_breaks_off_is_a_connection_that_failed(api, claude):
    api.answers = [Answer(reply("end_turn").body, breaks=True)]
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1"):
        await claude().decide(TASK, (), seen())


async def test_an_address_where_nobody_listens_is_named(claude, closed_port):
    address = f"http://127.0.0.1:{closed_port}"
    with pytest.raises(ModelUnavailable, match=f"{address}.*could not be reached.*ANTHROPIC_BASE_URL"):
        await claude(base_url=address).decide(TASK, (), seen())


_ASKS_ONCE = """
import asyncio
from seen import seen, unchanged
from vision_agent.errors import ModelUnavailable
from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.settings import ModelSettings
from vision_agent.types import Task

async def main():
    model = AnthropicModel("m", settings=ModelSettings(), redact=unchanged)
    try:
        print((await model.decide(Task(goal="x"), (), seen())).reply_id)
    except ModelUnavailable as error:
        print(error)
    finally:
        await model.aclose()

asyncio.run(main())
"""


async def _asked_from_an_own_process(home, **environment):
    """What it prints: the environment and the home folder, where keys are looked for, are those given here."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    paths = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ASKS_ONCE, env={**clean, **paths, **environment}, stdout=PIPE, stderr=STDOUT
    )
    return (await process.communicate())[0].decode()


async def test_without_a_key_no_request_is_made(api, tmp_path):
    printed = await _asked_from_an_own_process(tmp_path, ANTHROPIC_BASE_URL=api.base_url)

    assert "There is no API key for m (set ANTHROPIC_API_KEY" in printed
    assert api.requests == []


async def test_key_and_address_come_from_the_environment(api, tmp_path):
    printed = await _asked_from_an_own_process(tmp_path, ANTHROPIC_BASE_URL=api.base_url, ANTHROPIC_API_KEY="key-1")

    assert printed.strip() == "msg_end_turn"
    assert any("key-1" in value for value in api.headers[0].values())
