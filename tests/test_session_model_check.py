"""Claims about asking a model once."""

from __future__ import annotations

import pytest
from messages_server import Answer, MessagesServer, fault, saying

from vision_agent.errors import UsageError
from vision_agent.session.model_check import check_model
from vision_agent.settings import Settings

FINISH = '{"judgement": "unknown", "actions": [{"kind": "finish", "answer": "ready"}]}'


@pytest.fixture(autouse=True)
def _asked_here(api: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")


async def test_a_model_that_answers_is_asked_once_and_what_it_took_is_known(api: MessagesServer) -> None:
    api.answers = [saying(FINISH)]
    asked = await check_model(Settings())
    assert asked.answers
    assert asked.sentence == "anthropic:claude-sonnet-5-5 answers, and chose finish"
    assert asked.usage is not None
    assert asked.usage.total > 0
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (fault(401, "authentication_error", "invalid x-api-key"), "ANTHROPIC_API_KEY"),
        (fault(404, "not_found_error", "model: claude-sonnet-5-5"), "claude-sonnet-5-5"),
        (saying("Good morning"), "answers, but not in the form that runs need"),
    ],
    ids=["a wrong key", "an unknown model", "small talk"],
)
async def test_what_keeps_a_model_from_answering_is_said_without_the_key(
    api: MessagesServer, answer: Answer, said: str
) -> None:
    api.answers = [answer]
    asked = await check_model(Settings())
    assert not asked.answers
    assert said in asked.sentence
    assert "key-of-the-test" not in asked.sentence


async def test_a_missing_key_is_said_before_anything_is_sent(
    api: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    asked = await check_model(Settings())
    assert not asked.answers
    assert "ANTHROPIC_API_KEY" in asked.sentence
    assert api.requests == []


async def test_a_person_is_not_asked_over_a_network() -> None:
    with pytest.raises(UsageError, match="human needs no server"):
        await check_model(Settings.model_validate({"model": {"name": "human"}}))
