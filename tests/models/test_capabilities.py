"""What a model can do, looked up over the real client at a Models API on loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import pytest
from messages_server import Answer, fault, reply
from seen import seen

from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.llm.capabilities import Capabilities, look_up
from vision_agent.types import Task

TASK = Task(goal="Sign in as Ada.")


def model(**fields: Any) -> Answer:
    """A description as the API words it."""
    can = {"image_input": {"supported": True}, "structured_outputs": {"supported": True}, "batch": {"supported": True}}
    body = {
        "type": "model", "id": "claude-sonnet-5-5", "display_name": "Claude", "created_at": "2026-02-19T00:00:00Z",
        "lifecycle": "active", "max_input_tokens": 1_000_000, "max_tokens": 128_000, "capabilities": can, **fields,
    }  # fmt: skip
    return Answer(json.dumps(body).encode())


async def test_what_the_api_says_is_what_is_used(api, claude):
    api.model = model(lifecycle="deprecated", retires_at="2027-01-01T00:00:00Z")
    known = Capabilities.model_validate(await claude().describe())

    assert (known.source, known.why) == ("api", "")
    assert (known.max_input_tokens, known.max_tokens) == (1_000_000, 128_000)
    assert (known.reads_pictures, known.keeps_to_schemas) == (True, True)
    assert (known.lifecycle, str(known.retires_at)) == ("deprecated", "2027-01-01 00:00:00+00:00")
    assert api.models_asked == ["/v1/models/claude-sonnet-5-5"]
    assert api.requests == []


async def test_what_is_known_is_not_asked_for_again(api, claude):
    known = Capabilities(source="api", max_tokens=9).model_dump(mode="json")
    assert await claude().describe(known) == known
    assert api.models_asked == []


async def test_no_more_tokens_are_asked_for_than_the_model_gives(api, claude):
    api.model, api.answers = model(max_tokens=4096), [reply("max_tokens")]
    asking = claude()
    await asking.describe()
    with pytest.raises(FormatError, match="cut off after 4096 tokens"):
        await asking.decide(TASK, (), seen())
    assert api.asked[0]["max_tokens"] == 4096


async def test_a_larger_answer_than_the_settings_want_is_not_asked_for(api, claude):
    api.model = model()
    asking = claude(settings={"max_tokens": 2000})
    await asking.describe()
    await asking.decide(TASK, (), seen())
    assert api.asked[0]["max_tokens"] == 2000


async def test_a_full_window_is_told_with_its_size(api, claude):
    api.model, api.answers = model(), [reply("model_context_window_exceeded")]
    asking = claude()
    await asking.describe()
    with pytest.raises(ModelUnavailable, match="fill its context window of 1000000 tokens"):
        await asking.decide(TASK, (), seen())


@pytest.mark.parametrize(
    ("cannot", "says"),
    [("image_input", "cannot read pictures"), ("structured_outputs", "does not support structured outputs")],
)
async def test_what_the_model_cannot_do_is_said_and_not_tried(api, claude, cannot, says):
    api.model = model(capabilities={cannot: {"supported": False}})
    asking = claude()
    await asking.describe()
    with pytest.raises(ModelUnavailable, match=says):
        await asking.decide(TASK, (), seen())
    assert api.requests == []


async def test_a_model_that_reads_no_pictures_decides_without_one(api, claude):
    api.model = model(capabilities={"image_input": {"supported": False}})
    asking = claude(settings={"ablate": ("picture",)})
    await asking.describe()
    assert (await asking.decide(TASK, (), seen())).actions


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fault(404, "not_found_error", "model: claude"), "answered with 404"),
        (fault(401, "authentication_error", "no"), "answered with 401"),
        (fault(529, "overloaded_error", "busy"), "answered with 529"),
        (Answer(b"<html>", content_type="text/html"), "does not describe a model"),
        (Answer(b'{"type": "model", "max_tokens": "many"}'), "does not describe a model"),
        (Answer(reply("end_turn").body), "does not describe a model"),
        (Answer(b"{}", hangs=True), "did not answer within 0.2 s"),
        (Answer(model().body, breaks=True), "could not be asked"),
    ],
)
async def test_what_cannot_be_looked_up_is_as_declared_with_the_reason(api, answer, why):
    api.model = answer
    async with anthropic.AsyncAnthropic(api_key="key-of-the-test", base_url=api.base_url) as client:
        async with asyncio.timeout(120):
            # Only a server that hangs is to be given up on quickly.
            deadline_s = 0.2 if answer.hangs else 5
            known = await look_up(client, "claude-opus-4-5-20251101", deadline_s=deadline_s)
            unknown = await look_up(client, "claude-of-tomorrow", deadline_s=deadline_s)

    assert known.source == unknown.source == "declared"
    assert why in known.why
    assert (known.max_input_tokens, known.max_tokens) == (200_000, 64_000)
    assert (unknown.max_input_tokens, unknown.max_tokens, unknown.reads_pictures) == (None, None, None)
    assert len(api.models_asked) == 2, "each is asked once"


async def test_without_a_key_nothing_is_asked(api, claude, monkeypatch):
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    known = await claude(api_key=None).describe()
    assert (known["source"], api.models_asked) == ("declared", [])
    assert known["why"] == "there is no key for the Models API"
