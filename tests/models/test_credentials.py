"""Whether a run could ask who is named, told without asking and without a key in it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from vision_agent.errors import UsageError
from vision_agent.models.credentials import model_accesses
from vision_agent.models.providers import PROVIDERS, provider_settings
from vision_agent.settings import ModelSettings


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for variable in (key for provider in PROVIDERS.values() for key in provider.keys):
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


@pytest.mark.parametrize("given", [{"base_url": "http://127.0.0.1:1/v1"}, {"api_key": SecretStr("key")}])
def test_an_address_or_key_without_the_model_it_is_for_goes_to_no_other_provider(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"unclear whether model\.\w+ should be used for openai:gpt.*set model\.name"):
        provider_settings("openai:gpt", ModelSettings(**given))
    meant = ModelSettings(name="openai:other", **given)
    assert provider_settings("openai:gpt", meant) == meant
    other = provider_settings("google:gemini", meant)
    assert (other.base_url, other.api_key) == (None, None)


@pytest.mark.parametrize(
    ("settings", "is_ready", "says"),
    [
        (
            {"name": "anthropic:claude-sonnet-5-5"},
            False,
            "ANTHROPIC_API_KEY is not set; set it",
        ),
        ({"name": "openai:gpt-5.4"}, False, "OPENAI_API_KEY is not set"),
        ({"name": "google:gemini-3-pro-preview"}, False, "GOOGLE_API_KEY is not set"),
        (
            {"name": "anthropic:claude-sonet-5"},
            False,
            "did you mean anthropic:claude-sonnet-5? Also, ANTHROPIC_API_KEY",
        ),
        ({"name": "anthropic:claude-sonnet-99"}, False, "ANTHROPIC_API_KEY is not set"),
        ({"name": "openai:gpt-5.4", "api_key": "sk-1234"}, True, "model.api_key is set"),
        ({"name": "openai-compatible:qwen"}, False, "no base_url is configured: give --base-url"),
        ({"name": "openai-compatible:qwen", "base_url": "http://127.0.0.1:1/v1"}, True, "no key is sent"),
        ({"name": "human"}, True, "needs no key"),
        ({"name": "openai:"}, False, "names no model, such as openai:gpt-5.4"),
        ({"name": "gpt"}, False, "unknown; known are anthropic:<model>"),
    ],
)
def test_what_is_there_and_what_is_missing_is_said_of_the_provider_that_is_named(settings, is_ready, says):
    (access,) = model_accesses(ModelSettings(**settings))
    assert (access.name, access.is_ready) == (settings["name"], is_ready)
    assert says in access.sentence
    assert "sk-1234" not in repr(access)


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS.keys())
def test_of_each_provider_it_is_said_what_it_needs(provider):
    (access,) = model_accesses(ModelSettings(name=f"{provider.name}:{provider.example}"))
    assert access.is_known
    assert (provider.keys[0] if provider.keys else "base_url") in access.sentence


@pytest.mark.parametrize("variable", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
def test_the_variable_that_holds_a_key_is_named_and_not_the_key(no_keys, variable):
    no_keys.setenv(variable, "sk-1234")
    (access,) = model_accesses(ModelSettings(name="google:gemini-3-pro-preview"))
    assert (access.is_ready, access.sentence) == (True, f"{variable} is set")


def test_who_takes_over_and_who_judges_are_told_too_and_get_no_key_of_another_provider():
    settings = ModelSettings(
        name="openai:gpt-5.4", api_key="sk-1234", fallback="anthropic:claude-haiku-4-5", judge="same"
    )
    told = {access.name: access.is_ready for access in model_accesses(settings)}
    assert told == {"openai:gpt-5.4": True, "anthropic:claude-haiku-4-5": False}
