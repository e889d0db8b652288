"""The real clients of OpenAI and Google against servers on loopback that speak their protocols."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from contextlib import AsyncExitStack
from itertools import count, pairwise

import pytest
from messages_server import Answer
from provider_wires import CLICKS, COMPATIBLE, GOOGLE, OPENAI, WIRES
from pydantic import SecretStr
from seen import AT, PIXEL, decide_with_a_secret, refused, seen, shot, step, unchanged

from vision_agent.actions import Click, Point, Type
from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.models.factory import make_model
from vision_agent.models.providers import PROVIDERS, Provider
from vision_agent.settings import ModelSettings
from vision_agent.types import GoalPicture, Message, Task

pytest.importorskip(
    "pydantic_ai", reason="the extra `providers` is not installed: pip install 'vision-agent[providers]'"
)
providers = pytest.importorskip("vision_agent.models.llm.pydantic_ai")

TASK = Task(goal="Sign in as Ada.", user_data={"name": "Ada"})
POINTS = CLICKS.replace('"target": 12', '"target": {"x": 500, "y": 250}')


@pytest.fixture(params=WIRES, ids=lambda wire: wire.provider)
def wire(request):
    return request.param


@pytest.fixture
async def asking(api, wire):
    """Makes models that ask the server on loopback, which answers as the provider does; closed at the end."""
    api.answers = [wire.saying()]
    async with AsyncExitStack() as stack:

        def make(name="the-model", **more):
            settings = ModelSettings(**{"retries": 0, "timeout_s": 20, **more.pop("settings", {})})
            given = {"base_url": api.base_url + wire.path, "api_key": "key-of-the-test", "redact": unchanged, **more}
            model = providers.ProviderModel(PROVIDERS[wire.provider], name, settings=settings, **given)
            stack.push_async_callback(model.aclose)
            return model

        yield make


# --- what a good reply becomes ---


async def test_a_reply_becomes_a_decision(asking):
    ticks = count(10.0, 2.5)
    decision = await asking(clock=lambda: next(ticks)).decide(TASK, (), seen())

    assert decision.actions == (Click(target=12),)
    assert decision.author == "model"
    assert (decision.judgement, decision.next_goal) == ("unknown", "Be signed in.")
    assert (decision.model, decision.reply_id) == ("the-model-1", "reply_1")
    assert decision.seconds == 2.5


async def test_usage_is_told_as_the_provider_said_it_and_no_price_is_guessed(wire, asking):
    usage = (await asking().decide(TASK, (), seen())).usage

    assert usage.raw == json.loads(wire.saying().body)[wire.usage]
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (200, 1500, 73)
    assert usage.total == 1773
    assert usage.cost_usd is None


async def test_what_an_unusable_reply_cost_is_said_with_the_complaint(api, wire, asking):
    api.answers = [wire.saying("no JSON"), wire.saying()]
    model = asking()
    with pytest.raises(FormatError, match="no JSON object") as complaint:
        await model.decide(TASK, (), seen())
    decision = await model.decide(TASK, (), seen())

    assert complaint.value.usage.output_tokens == 73
    assert decision.usage.output_tokens == 73


async def test_a_reply_that_does_not_say_what_it_cost_is_a_reply_all_the_same(api, asking, wire):
    body = json.loads(wire.saying().body)
    api.answers = [Answer(json.dumps({**body, wire.usage: None}).encode())]
    usage = (await asking().decide(TASK, (), seen())).usage
    assert (usage.total, usage.raw) == (0, {})


# --- the request ---


async def test_only_what_is_meant_is_sent(api, wire, asking):
    await asking().decide(TASK, (step(0),), seen())

    (request,) = api.asked
    fields = {
        "openai": {"model", "stream", "store", "input", "max_output_tokens", "text"},
        "openai-compatible": {"model", "stream", "messages", "max_completion_tokens", "response_format"},
        "google": {"contents", "systemInstruction", "generationConfig"},
    }
    assert request.keys() == fields[wire.provider]
    assert not {"tools", "temperature", "top_p", "topP"} & {*request, *request.get("generationConfig", {})}
    assert request.get("store", False) is False


async def test_the_format_of_the_reply_is_part_of_the_request(api, wire, asking):
    await asking().decide(TASK, (), seen())

    (request,) = api.asked
    format_ = {
        "openai": lambda: request["text"]["format"]["schema"],
        "openai-compatible": lambda: request["response_format"]["json_schema"]["schema"],
        "google": lambda: request["generationConfig"]["responseJsonSchema"],
    }[wire.provider]()
    assert format_["required"] == ["judgement", "summary", "wall", "memory", "next_goal", "candidates", "actions"]


@pytest.mark.parametrize("wire", [COMPATIBLE], ids=lambda wire: wire.provider, indirect=True)
async def test_where_the_format_cannot_be_part_of_the_request_it_stands_in_the_rules(api, asking):
    await asking("deepseek/deepseek-v3").decide(TASK, (), seen())

    (request,) = api.asked
    rules = "".join(each["content"] for each in request["messages"] if each["role"] == "system")
    assert "response_format" not in request
    assert '"required": ["judgement", "summary"' in rules


async def test_the_picture_is_the_shot_to_the_byte(api, wire, asking):
    picture = PIXEL + bytes(range(256))
    await asking().decide(TASK, (), seen(marked=shot(picture)))

    assert [part for part in wire.parts(api.asked[0])[1] if isinstance(part, bytes)] == [picture]


async def test_only_the_present_picture_is_sent_after_several_steps(api, wire, asking):
    earlier = seen(marked=shot(b"earlier picture"))
    await asking().decide(TASK, (step(0, observation=earlier), step(1, observation=earlier)), seen())

    assert [part for part in wire.parts(api.asked[0])[1] if isinstance(part, bytes)] == [PIXEL]


async def test_the_order_is_rules_task_pictures_log_picture_page_question(api, wire, asking):
    task = TASK.model_copy(update={"pictures": (GoalPicture(shot=shot(b"a chair"), caption="like this"),)})
    await asking().decide(task, (step(0), step(1)), seen(), complaint="There is no mark 13.")

    rules, (given, chair, first, second, picture, now, question) = wire.parts(api.asked[0])
    assert rules.startswith("You operate a web browser")
    assert "Sign in as Ada." in given
    assert chair == b"a chair"
    assert "goal 0" in first
    assert "goal 1" in second
    assert picture == PIXEL
    assert "12[:]<button>Sign in" in now
    assert question.startswith("What do you do now?")
    assert "There is no mark 13." in question


async def test_consecutive_requests_begin_with_the_same_bytes(api, wire, asking):
    model = asking()
    steps = [step(0), step(1, outcome=refused()), step(2, Type(target=3, text="a@b.c"), memory="order 7")]
    for done in range(4):
        said = tuple(Message(text=f"hint {i}", at=AT.replace(minute=30 + i, second=30)) for i in range(done))
        await model.decide(TASK.model_copy(update={"messages": said}), tuple(steps[:done]), seen())

    read = [wire.parts(each) for each in api.asked]
    for done, ((rules, before), (rules_after, after)) in enumerate(pairwise(read)):
        assert rules == rules_after
        assert before[: 1 + done] == after[: 1 + done]


async def test_no_secret_reaches_the_provider_in_any_part_of_a_request(api, asking):
    value, kept = await decide_with_a_secret(asking)

    assert value not in api.requests[0]
    assert value not in kept[0]
    assert b"<secret:password>" in api.requests[0]


async def test_the_request_is_kept_before_it_is_sent_with_each_picture_as_its_hash(api, wire, asking):
    written = []

    def keep(request):
        written.append((request, len(api.requests)))
        return "hash-of-the-record"

    decision = await asking(keep_request=keep).decide(TASK, (step(0),), seen())

    ((request, already_sent),) = written
    kept = json.loads(request)
    rules, parts = wire.parts(api.asked[0])
    assert already_sent == 0
    assert kept["system"] == rules
    assert [each["text"] for each in kept["content"] if each["type"] == "text"] == [
        each for each in parts if isinstance(each, str)
    ]
    assert [each["data"] for each in kept["content"] if each["type"] == "image"] == [
        f"sha256:{hashlib.sha256(PIXEL).hexdigest()}"
    ]
    assert b"key-of-the-test" not in request
    assert decision.request_sha256 == "hash-of-the-record"


async def test_a_request_that_nobody_keeps_is_known_by_its_hash(asking):
    assert re.fullmatch("[0-9a-f]{64}", (await asking().decide(TASK, (), seen())).request_sha256)


async def test_a_record_that_cannot_be_written_ends_it_before_any_request(api, asking):
    def full(request):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        await asking(keep_request=full).decide(TASK, (), seen())
    assert api.requests == []


async def test_a_picture_without_its_bytes_is_refused_before_any_request(api, asking):
    with pytest.raises(UsageError, match="not loaded"):
        await asking().decide(TASK, (), seen(marked=shot().model_copy(update={"data": None})))
    assert api.requests == []


# --- where a model says things are ---


@pytest.mark.parametrize(
    ("name", "settings", "told", "meant"),
    [
        ("some-model", {}, "in pixels of the picture", (500, 250)),
        ("gemini-3-pro-preview", {}, "in thousandths of the picture's width", (320, 100)),
        ("qwen3-vl-8b", {}, "in thousandths of the picture's width", (320, 100)),
        ("some-model", {"coordinates": "thousandths"}, "in thousandths of the picture's width", (320, 100)),
        ("gemini-3-pro-preview", {"coordinates": "pixels"}, "in pixels of the picture", (500, 250)),
    ],
)
async def test_points_are_asked_for_and_read_as_the_model_says_them(api, wire, asking, name, settings, told, meant):
    api.answers = [wire.saying(POINTS)]
    decision = await asking(name, settings=settings).decide(TASK, (), seen())

    assert f"a point {told}" in wire.parts(api.asked[0])[0]
    assert decision.actions == (Click(target=Point(x=meant[0], y=meant[1])),)


async def test_a_point_outside_of_the_convention_is_said_to_the_model(asking, api, wire):
    api.answers = [wire.saying(POINTS)]
    with pytest.raises(FormatError, match=r"not in fractions.*not including 1"):
        await asking(settings={"coordinates": "fractions"}).decide(TASK, (), seen())


# --- every way in which a reply can end ---


@pytest.mark.parametrize(
    ("text", "ending", "says"),
    [
        (CLICKS[:40], "cut", "cut off after 8192 tokens.*shorter"),
        ("", "tool", "calls a tool"),
        ("", "end", "is empty"),
        (" \n", "end", "is empty"),
        ("I would click [12].", "end", "no JSON object"),
        (CLICKS.replace("12", "13"), "end", "no mark 13.*3, 4, 12"),
    ],
)
async def test_a_reply_that_makes_no_sense_says_what_to_do_about_it(api, wire, asking, text, ending, says):
    api.answers = [wire.saying(text, ending)]
    with pytest.raises(FormatError) as raised:
        await asking().decide(TASK, (), seen())
    assert re.search(says, raised.value.sentence)


async def test_a_model_that_declines_is_unavailable(api, wire, asking):
    api.answers = [wire.saying(ending="refused")]
    with pytest.raises(ModelUnavailable, match=r"declined to answer \((This cannot be helped|PROHIBITED)"):
        await asking().decide(TASK, (), seen())


async def test_a_reply_that_the_client_cannot_read_says_why(api, asking, wire):
    body = json.loads(wire.saying().body)
    api.answers = [Answer(json.dumps({**body, wire.usage: "much"}).encode())]
    with pytest.raises(ModelUnavailable, match=r"body is not a reply \(.*(usage|model_dump)"):
        await asking().decide(TASK, (), seen())


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>Please log in</html>", content_type="text/html"),
        Answer(b'"a string"'),
        Answer(b"[]"),
        Answer(b"null"),
        Answer(b""),
        Answer(b"{"),
        Answer(b"{}"),
        Answer(b'{"choices": [], "output": null, "candidates": 3}'),
        Answer(b'{"choices": [null], "output": [7], "candidates": [[]]}'),
        Answer(b'{"error": {"message": "odd"}}'),
        Answer(b"\xff\xfe", content_type="application/octet-stream"),
        Answer(b"[" * 100_000),
    ],
    ids=["html", "string", "list", "null", "nothing", "cut", "empty", "hollow", "odd", "error", "binary", "deep"],
)
async def test_a_success_that_is_no_reply_is_an_error(api, asking, answer):
    api.answers = [answer]
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1.*answered successfully.*is not a reply"):
        await asking().decide(TASK, (), seen())


# --- every way in which a request can fail ---


@pytest.mark.parametrize(
    ("status", "message", "says"),
    [
        (401, "wrong key", "key is not accepted: wrong key.*check"),
        (403, "not for you", "key is not accepted: not for you.*check"),
        (404, "no such model", r"no model 'the-model' at http://127\.0\.0\.1.*no such model.*check the name"),
        (400, "image is 9000x9000", "does not fit this model: image is 9000x9000.*longest_edge"),
        (400, "API key not valid.", r"API key not valid .*check"),
        (413, "too many bytes", "too large: too many bytes"),
        (422, "no such field", "does not fit this model: no such field"),
        (429, "slow down", "too many requests: slow down"),
        (500, "oops", "failed with 500: oops"),
        (503, "busy", "failed with 503: busy"),
    ],
)
async def test_each_refusal_of_a_request_is_a_sentence_that_helps(api, wire, asking, status, message, says):
    api.answers = [wire.fault(status, message)]
    with pytest.raises(ModelUnavailable, match=says) as raised:
        await asking().decide(TASK, (), seen())
    assert raised.value.hint
    assert raised.value.exit_code == 5
    assert len(api.requests) == 1


@pytest.mark.parametrize("status", [401, 404, 429, 502])
async def test_a_refusal_in_other_words_than_the_providers_is_told_all_the_same(api, asking, status):
    api.answers = [Answer(b"<h1>Bad gateway</h1>", status, "text/html")]
    with pytest.raises(ModelUnavailable, match=f"{status}.*Bad gateway"):
        await asking().decide(TASK, (), seen())


@pytest.mark.parametrize("wire", [OPENAI, COMPATIBLE], ids=lambda wire: wire.provider, indirect=True)
@pytest.mark.parametrize("status", [429, 500])
async def test_what_may_pass_is_tried_again(api, wire, asking, status):
    api.answers = [wire.fault(status, "for now"), wire.saying()]
    decision = await asking(settings={"retries": 1}).decide(TASK, (), seen())

    assert decision.actions
    assert len(api.requests) == 2


async def test_the_number_of_tries_is_told(api, wire, asking):
    api.answers = [wire.fault(503, "busy")]
    with pytest.raises(ModelUnavailable, match="in 2 tries: busy"):
        await asking(settings={"retries": 1}).decide(TASK, (), seen())
    assert len(api.requests) == 2


async def test_an_answer_that_never_comes_ends_at_the_timeout(api, asking):
    api.answers = [Answer(b"", hangs=True)]
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s.*timeout_s"):
        await asking(settings={"timeout_s": 0.2}).decide(TASK, (), seen())


async def test_an_answer_that_breaks_off_is_a_connection_that_failed(api, wire, asking):
    api.answers = [Answer(wire.saying().body, breaks=True)]
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1.*could not be reached"):
        await asking().decide(TASK, (), seen())


async def test_an_address_where_nobody_listens_is_named_without_what_opens_it(asking, closed_port):
    address = f"http://ada:s3cret@127.0.0.1:{closed_port}"
    with pytest.raises(ModelUnavailable, match=rf"http://127\.0\.0\.1:{closed_port}.*could not be reached") as raised:
        await asking(base_url=address).decide(TASK, (), seen())
    assert "s3cret" not in str(raised.value)


# --- names, keys, and what must be installed ---


async def test_the_name_chooses_the_provider_and_the_settings_its_address_and_key(api, wire):
    api.answers = [wire.saying()]
    settings = ModelSettings(base_url=api.base_url + wire.path, api_key=SecretStr("key-1"))
    model = make_model(f"{wire.provider}:the-model", settings=settings, redact=unchanged)
    decision = await model.decide(TASK, (), seen())
    await model.aclose()

    assert decision.reply_id == "reply_1"
    assert any("key-1" in value for value in api.headers[0].values())


def test_a_compatible_server_has_no_address_of_its_own():
    with pytest.raises(UsageError, match=r"no base_url is configured.*give --base-url"):
        make_model("openai-compatible:m", settings=ModelSettings(), redact=unchanged)


async def test_a_provider_that_speaks_as_openai_does_is_a_row_of_the_table(api, monkeypatch):
    api.answers = [COMPATIBLE.saying()]
    monkeypatch.setenv("FICTIONAL_API_KEY", "key-of-fictional")
    fictional = Provider(
        "fictional", "fictional-1", "chat-completions", ("FICTIONAL_API_KEY",), base_url=api.base_url + COMPATIBLE.path
    )
    kept = []
    model = providers.ProviderModel(
        fictional,
        "fictional-1",
        settings=ModelSettings(),
        redact=unchanged,
        keep_request=lambda text: kept.append(text) or "0",
    )
    decision = await model.decide(TASK, (), seen())
    await model.aclose()

    assert decision.reply_id == "reply_1"
    assert any("key-of-fictional" in value for value in api.headers[0].values())
    assert json.loads(kept[0])["model"] == "fictional:fictional-1"


async def test_a_compatible_server_gets_no_key_that_is_for_another(api, tmp_path):
    api.answers = [COMPATIBLE.saying()]
    printed = await _asked_from_an_own_process(
        tmp_path, "openai-compatible:m", OPENAI_API_KEY="key-of-openai", VISION_AGENT_MODEL__BASE_URL=api.base_url
    )
    assert printed.strip() == "reply_1"
    assert not any("key-of-openai" in value for value in api.headers[0].values())
    assert not any(name.lower() == "authorization" for name in api.headers[0])


@pytest.mark.parametrize("wire", [OPENAI, pytest.param(GOOGLE, marks=pytest.mark.thorough)], indirect=True)
async def test_without_a_key_no_request_is_made(api, wire, tmp_path):
    printed = await _asked_from_an_own_process(
        tmp_path, f"{wire.provider}:m", VISION_AGENT_MODEL__BASE_URL=api.base_url
    )
    assert f"There is no API key for m (set {wire.key})" in printed
    assert api.requests == []


@pytest.mark.parametrize(
    ("wire", "address", "key"),
    [
        (OPENAI, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        pytest.param(GOOGLE, "GOOGLE_GEMINI_BASE_URL", "GOOGLE_API_KEY", marks=pytest.mark.thorough),
        (GOOGLE, "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
    ],
    indirect=["wire"],
)
async def test_key_and_address_come_from_the_environment(api, wire, tmp_path, address, key):
    api.answers = [wire.saying()]
    given = {address: api.base_url + wire.path, key: "key-1"}
    printed = await _asked_from_an_own_process(tmp_path, f"{wire.provider}:m", **given)

    assert printed.strip() == "reply_1"
    assert any("key-1" in value for value in api.headers[0].values())


_ASKS_ONCE = """
import asyncio, sys
from seen import seen, unchanged
from vision_agent.errors import ModelUnavailable
from vision_agent.models.factory import make_model
from vision_agent.settings import load
from vision_agent.types import Task

async def main():
    model = make_model(sys.argv[1], settings=load().model, redact=unchanged)
    try:
        print((await model.decide(Task(goal="x"), (), seen())).reply_id)
    except ModelUnavailable as error:
        print(error)
    finally:
        await model.aclose()

asyncio.run(main())
"""


async def _asked_from_an_own_process(home, name, **environment):
    """What it prints: the environment and the home folder, where keys are looked for, are those given here."""
    keys = {key.partition("_")[0] for each in PROVIDERS.values() for key in each.keys}
    theirs = tuple(f"{prefix}_" for prefix in (*keys, "VISION_AGENT"))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    paths = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ASKS_ONCE, name, env={**clean, **paths, **environment}, stdout=PIPE, stderr=STDOUT
    )
    return (await process.communicate())[0].decode()
