"""The table of model providers, which the factory, credentials, clients, `doctor` and help texts read.

A provider with OpenAI's chat completions API needs only a row here, with its `base_url` and `keys`.
Imports no provider's library.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from vision_agent.settings import ModelSettings


@dataclass(frozen=True)
class Provider:
    """One provider of models."""

    name: str
    """The part before the colon in a model's name."""
    example: str
    """One of its models, for error messages."""
    api: Literal["anthropic", "responses", "chat-completions", "google"]
    """The API of its servers, which determines the client and how replies are read."""
    keys: tuple[str, ...] = ()
    """Environment variables that may hold the key, the recommended one first; empty if no key is needed."""
    base_url: str | None = None
    """The address of its server with its version, as in `https://host/v1`; None if the client knows it or the settings
    give it."""
    address_setting: str = "model.base_url"
    """The setting or variable to check when the server cannot be reached."""

    @property
    def needs_address(self) -> bool:
        """Whether only the settings can give the address of its server."""
        return self.api == "chat-completions" and self.base_url is None

    def is_configured_in(self, settings: ModelSettings) -> bool:
        """Whether the address and key in the settings are for this provider, because the settings name it.

        A provider without an address of its own always uses those of the settings.
        """
        return self.needs_address or self is find_provider(settings.name)


PROVIDERS = {
    each.name: each
    for each in (
        Provider(
            "anthropic",
            "claude-sonnet-5-5",
            "anthropic",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            address_setting="ANTHROPIC_BASE_URL",
        ),
        Provider("openai", "gpt-5.4", "responses", ("OPENAI_API_KEY",), address_setting="OPENAI_BASE_URL"),
        Provider(
            "google",
            "gemini-3-pro-preview",
            "google",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            address_setting="GOOGLE_GEMINI_BASE_URL",
        ),
        Provider("openai-compatible", "qwen3-vl-8b", "chat-completions"),
    )
}
NOT_MODELS = ("steps", "human")
"""The deciders that are not models."""
_DOTTED_CLASS = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\.([A-Z]\w*)")
"""A class with the name of its module before it; a model's name such as `gpt-5.4` is none."""
KNOWN_MODELS = tuple(f"{name}:<model>" for name in PROVIDERS)
KNOWN = (*KNOWN_MODELS, *NOT_MODELS)


def unknown_model(name: str) -> UsageError:
    """The error for a name that nothing has, with the name that is probably meant."""
    provider, _, model = name.strip().partition(":")
    near = difflib.get_close_matches(provider, [*PROVIDERS, *NOT_MODELS], n=1)
    meant = f"did you mean {near[0]}{f':{model}' if near[0] in PROVIDERS else ''}? " if near else ""
    meant = meant or _meant_family(name.strip()) or meant_class(name)
    return UsageError(f"Unknown model {name!r}", f"{meant}known are {', '.join(KNOWN)}")


def _meant_family(name: str) -> str:
    """A question whether another beginning is meant, as for `gtp-5`; empty if none is near."""
    from vision_agent.settings import MODEL_FAMILIES  # late: help texts read this module

    family, dash, rest = name.partition("-")
    near = difflib.get_close_matches(family, MODEL_FAMILIES, n=1) if dash and ":" not in name else []
    return f"did you mean {near[0]}-{rest}? " if near else ""


def meant_class(name: str) -> str:
    """The question whether a class is meant, where a name is written `module.Class`; else empty."""
    written = _DOTTED_CLASS.fullmatch(name.strip())
    return f"did you mean {written[1]}:{written[2]}? " if written else ""


def find_provider(name: str) -> Provider | None:
    """The provider of a model name such as `openai:gpt-5.4`; None if it is unknown."""
    return PROVIDERS.get(name.strip().partition(":")[0])


def provider_settings(name: str, settings: ModelSettings) -> ModelSettings:
    """The settings for this model, without an address, key and coordinates that are meant for another provider.

    Raises:
        UsageError: they have an address or a key but name no model, so nobody can tell which provider those are for.
    """
    provider = find_provider(name)
    if provider is None or provider.is_configured_in(settings):
        return settings
    given = [f"model.{each}" for each in ("base_url", "api_key") if getattr(settings, each) is not None]
    if given and "name" not in settings.model_fields_set:
        raise UsageError(
            f"It is unclear whether {' and '.join(given)} should be used for {name}",
            "an address is for openai-compatible:<model>; for another, set model.name in the settings",
        )
    return settings.model_copy(update={"base_url": None, "api_key": None, "coordinates": None})
