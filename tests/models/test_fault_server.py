"""Runs whose model server answers wrongly, slowly or with malice, over the real clients: each ends as documented."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from messages_server import Answer, MessagesServer, fault, saying
from provider_wires import COMPATIBLE
from seen import unchanged

from tests.loop_run import NOW, observation
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.errors import ModelUnavailable
from vision_agent.models.factory import make_model
from vision_agent.ports import Model
from vision_agent.record import Redactor, RunFolder, read, verify
from vision_agent.settings import ModelSettings
from vision_agent.types import Ending, Limits, Run, Task

pytest.importorskip(
    "pydantic_ai", reason="the extra `providers` is not installed: pip install 'vision-agent[providers]'"
)

NAMES = {"anthropic": "anthropic:claude-sonnet-5-5", "compatible": "openai-compatible:the-model"}
NOW_AGAIN = {"retry-after-ms": "1"}
FINISH = {"kind": "finish", "answer": "42"}


class Case(NamedTuple):
    """An answer that is given to every request, and how the run must end."""

    answer: Answer
    ends: str
    says: str = ""
    """What the sentence of the ending contains."""
    requests: int | None = None
    seconds: float | None = None


def thought(**fields: Any) -> str:
    return json.dumps({"judgement": "unknown", "actions": [FINISH], **fields})


def acting(**fields: Any) -> str:
    return thought(actions=[fields])


WITH_MARK = acting(kind="click", target=1)

# Each is sent back once, is a failed step, and the second failed step ends the run.
UNUSABLE = {
    "nothing": "",
    "blanks": " \n\t ",
    "prose": "I would click the button [1].",
    "a brace": "{",
    "a list": "[1, 2]",
    "null in words": "null",
    "a string": '"click"',
    "no fields": "{}",
    "no actions": thought(actions=[]),
    "null actions": thought(actions=None),
    "actions in words": thought(actions="click 1"),
    "an action in words": thought(actions=["click 1"]),
    "an action without a kind": thought(actions=[{"target": 1}]),
    "an unknown kind": acting(kind="hack", target=1),
    "a missing mark": acting(kind="click", target=99),
    "a negative mark": acting(kind="click", target=-1),
    "a mark beyond all": acting(kind="click", target=10**30),
    "half a mark": acting(kind="click", target=1.5),
    "a mark that is true": acting(kind="click", target=True),
    "a point outside": acting(kind="click", target={"x": 5000, "y": 1}),
    "a point that is no number": WITH_MARK.replace(": 1}", ': {"x": NaN, "y": 0}}'),
    "a point at infinity": WITH_MARK.replace(": 1}", ': {"x": 1e999, "y": 0}}'),
    "a number of many digits": WITH_MARK.replace(": 1}", f": {'9' * 5000}}}"),
    "a field twice": WITH_MARK.replace('"judgement"', '"judgement": "success", "judgement"', 1),
    "an unknown field": acting(kind="click", target=1, force=True),
    "two objects": f"{WITH_MARK} {WITH_MARK}",
    "cut in the middle": WITH_MARK[:-6],
    "a deep list": "[" * 50_000,
    "a deep object": '{"a":' * 50_000,
    "deep actions": '{"judgement": "unknown", "actions": ' + "[" * 900 + "]" * 900 + "}",
    "half a character": thought(memory="\ud800"),
    "half a character in a key": thought(**{"\udfff": 1}),
    "half a character to type": acting(kind="type", target=1, text="a\udc00b"),
    "a page of nothing": "\x00" * 10_000,
    "a text without end": acting(kind="type", target=1, text="A" * 5_000_000),
    "a text that is too long": acting(kind="type", target=1, text="A" * 100_001),
    "a memory that is too long": thought(memory="A" * 20_001),
    "a field with a name without end": acting(kind="click", target=1, **{"A" * 50_000: 1}),
    "a kind without end": acting(kind="A" * 19_999),
    "a judgement of its own": thought(judgement="perfect"),
}
# Each is tried again as a server error is, and then reported.
NO_MESSAGES = {
    "a log-in page": Answer(b"<html>Please log in</html>", content_type="text/html", headers=NOW_AGAIN),
    "null": Answer(b"null", headers=NOW_AGAIN),
    "an array": Answer(b"[]", headers=NOW_AGAIN),
    "a text": Answer(b'"ok"', headers=NOW_AGAIN),
    "no body": Answer(b"", headers=NOW_AGAIN),
    "an empty object": Answer(b"{}", headers=NOW_AGAIN),
    "half a document": Answer(saying(WITH_MARK).body[:300], headers=NOW_AGAIN),
    "two documents": Answer(saying(WITH_MARK).body * 2, headers=NOW_AGAIN),
    "another model's error": Answer(b'{"error": {"message": "quota", "code": 9}}', headers=NOW_AGAIN),
    "its own error": Answer(b'{"type": "error", "error": {"message": "odd"}}', headers=NOW_AGAIN),
    "bytes": Answer(b"\xff\xfe\x00", content_type="application/octet-stream", headers=NOW_AGAIN),
    "a deep document": Answer(b"[" * 200_000, headers=NOW_AGAIN),
    "an event stream": Answer(b"event: ping\ndata: {}\n\n", content_type="text/event-stream", headers=NOW_AGAIN),
}


_REFUSED = ("unavailable", "answered successfully", 2)


def envelope(wire: str, text: str) -> dict[str, Any]:
    """An ordinary answer with this text."""
    body: dict[str, Any] = json.loads(saying(text).body if wire == "anthropic" else COMPATIBLE.saying(text).body)
    return body


def spoken(wire: str, text: str) -> Answer:
    return Answer(json.dumps(envelope(wire, text)).encode())


def changed(wire: str, **fields: Any) -> Answer:
    return Answer(json.dumps({**envelope(wire, thought()), **fields}).encode(), headers=NOW_AGAIN)


def cases(wire: str) -> dict[str, Case]:
    unusable = {
        name: Case(spoken(wire, text), "limit", "replies could not be used", 4) for name, text in UNUSABLE.items()
    }
    # The text itself, not an escape in it, has half a character; no such text can be sent but as an escape.
    broken = Answer(spoken(wire, "X").body.replace(b'"X"', b'"\\ud800"'), headers=NOW_AGAIN)
    infinite = Answer(changed(wire).body.replace(b"{", b'{"odd": NaN, ', 1), headers=NOW_AGAIN)
    more = {**NO_MESSAGES, "half a character": broken, "not a number": infinite}
    no_messages = {f"200, {name}": Case(each, "unavailable", "answered successfully", 2) for name, each in more.items()}
    blocks: dict[str, Any] = {"content": [{"type": "text"}]} if wire == "anthropic" else {"choices": [7]}
    hollow: dict[str, Any] = {"content": None} if wire == "anthropic" else {"choices": "none"}
    no_messages |= {
        "200, an odd part": Case(changed(wire, **blocks), "unavailable", "answered successfully", 2),
        "200, a hollow part": Case(changed(wire, **hollow), "unavailable", "answered successfully", 2),
    }
    if wire == "compatible":
        no_choice = changed(wire, choices=[])
        no_messages["200, no choice"] = Case(no_choice, "unavailable", "its choices are an empty list; give one", 2)
    refused = {f"{status}": Case(Answer(b"no", status), "unavailable", f"{status}", 1) for status in (400, 401, 404)}
    long = fault(400, "invalid_request_error", "A" * 5_000_000)
    refused["400, a message without end"] = Case(long, "unavailable", "does not fit this model: AAA", 1)
    for status in (301, 303, 307, 308):
        away = Answer(b"", status, headers={"location": "/elsewhere"})
        says = f"answered with a redirect ({status}), which is not followed"
        refused[f"{status}"] = Case(away, "unavailable", says, 1)
    odd_type = Answer(b"hi", content_type="text/" + "x" * 50_000, headers=NOW_AGAIN)
    no_messages["200, a type without end"] = Case(odd_type, "unavailable", "answered successfully", 2)
    failed = {
        f"{status}": Case(Answer(b"<h1>Bad", status, "text/html", NOW_AGAIN), "unavailable", f"{status}", 2)
        for status in (429, 500, 529)
    }
    garbled = Case(Answer(b"", raw=b"\x16\x03\x01 what is this\r\n\r\n"), "unavailable", "could not be reached", 2)
    zipped = Answer(b"not zipped", headers={"content-encoding": "gzip", **NOW_AGAIN})
    later = Answer(b"", 429, headers={"retry-after": "3600"})
    transport = {
        "cut off": Case(Answer(spoken(wire, "x").body, breaks=True), "unavailable", "could not be reached", 2),
        "no HTTP": garbled,
        "not zipped": Case(zipped, "unavailable", "could not be reached", 2),
        "endless": Case(Answer(b" " * 2**20, is_endless=True, headers=NOW_AGAIN), "unavailable", "answered", 2),
        "silent": Case(Answer(b"", hangs=True), "unavailable", "did not answer within", 2),
        "byte by byte": Case(Answer(b" " * 500, drips=True), "unavailable", "did not answer within", 2),
        # OpenAI's client waits for two minutes at most, and gives up at once where it is told to wait for longer.
        "an hour later": Case(later, "limit", "2 seconds", 1, 2)
        if wire == "anthropic"
        else Case(later, "unavailable", "too many requests: ", 1),
        "silent for longer than the run": Case(Answer(b"", hangs=True), "limit", "0.5 seconds have passed", 1, 0.5),
    }
    below, beyond, strange = (
        dict.fromkeys(("input_tokens", "prompt_tokens", "output_tokens", "completion_tokens", "total_tokens"), count)
        for count in (-9, 10**15, 7)
    )
    odd = {
        "usage below nothing": changed(wire, usage=below),
        "usage beyond all": changed(wire, usage=beyond),
        "a strange field": changed(wire, odd={"a": [None]}, usage={**strange, "of the day": "much"}),
    }
    return {
        **unusable,
        **no_messages,
        **refused,
        **failed,
        **transport,
        **{name: Case(answer, "done", "42", 1) for name, answer in odd.items()},
        # pydantic-ai refuses to read what cannot be; what we read ourselves is not counted.
        **({"usage below nothing": Case(odd["usage below nothing"], *_REFUSED)} if wire == "compatible" else {}),
    }


ALL = [(wire, name) for wire in NAMES for name in cases(wire)]


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    server = MessagesServer()
    await server.start()
    yield server
    await server.close()


async def ended(model: Model, folder: RunFolder, limits: Limits) -> Ending:
    """The ending as recorded; nothing but an unavailable model is raised."""
    task = Task(goal="Find it", limits=limits)
    run = Run(id=folder.path.name, task=task, started_at=NOW)
    loop = Loop(run, FakeBrowser([observation()], []), model, folder, repairs=1)
    with folder, suppress(ModelUnavailable):
        await loop.run()
    assert verify(folder.path).holds
    ending = read(folder.path).ending
    assert ending is not None
    return ending


def test_there_are_many_such_answers() -> None:
    assert len(ALL) >= 120


@pytest.mark.parametrize(("wire", "name"), ALL, ids=lambda value: value.replace(" ", "-"))
async def test_a_run_ends_as_documented_whatever_its_model_server_answers(
    wire: str, name: str, server: MessagesServer, tmp_path: Path
) -> None:
    case = cases(wire)[name]
    server.answers = [case.answer]
    address = server.base_url + ("" if wire == "anthropic" else COMPATIBLE.path)
    # No answer that comes at all takes so long here; two that never come take it twice.
    timeout_s = 1.5 if "did not answer" in case.says else 20
    settings = ModelSettings(
        name=NAMES[wire], base_url=address, api_key="key-of-the-test", retries=1, timeout_s=timeout_s
    )
    folder = RunFolder.create(tmp_path, "r1", Redactor(()))
    model = make_model(NAMES[wire], settings=settings, redact=unchanged, keep_request=folder.keep_request)
    limits = Limits(consecutive_failures=2, seconds=case.seconds)
    ending = await ended(model, folder, limits)
    await model.aclose()
    assert (ending.status, case.says in ending.sentence) == (case.ends, True), ending.sentence
    assert len(ending.sentence) < 3000
    assert len(server.requests) == case.requests
