"""Checks whether the models named in the settings can be asked, without asking them."""

from __future__ import annotations

import os
from importlib.util import find_spec

from vision_agent.base_model import FrozenModel
from vision_agent.errors import ModelUnavailable
from vision_agent.models.model_names import near_name
from vision_agent.models.providers import KNOWN, NOT_MODELS, find_provider, unknown_model
from vision_agent.settings import ModelSettings

WITHOUT_A_MODEL = "run without a model: --steps FILE or --model human"
"""What to do without a key on the command line."""
WITHOUT_A_MODEL_IN_PYTHON = 'decide without a model: steps=["click Order"] or model="human"'
HEAL_WITHOUT_A_MODEL = "heal without a key: --model human, or --model module:Class of your own"
HEAL_WITHOUT_A_MODEL_IN_PYTHON = 'heal without a key: heal="human", or a decider of your own'


class Access(FrozenModel):
    """Whether a named model can be asked, as far as that is known without asking it."""

    name: str
    is_ready: bool
    sentence: str
    """What was found or is missing; never contains a key."""
    is_known: bool = True
    """Whether the provider is known."""
    variable: str | None = None
    """The environment variable that has its key, or lacks it; None: no variable is needed."""


def model_accesses(settings: ModelSettings, *, instead: str = "") -> tuple[Access, ...]:
    """The access to each model in the settings (decider, fallback and judge), each once.

    `instead`: what else to do without a key.
    """
    named = (settings.name, settings.fallback, settings.name if settings.judge == "same" else settings.judge)
    return tuple(_access(name, settings, instead) for name in dict.fromkeys(filter(None, named)))


def require_access(settings: ModelSettings, *, lacks_keys: bool = False, instead: str = "") -> None:
    """Checks that each model in the settings can be asked, as far as that is known without asking it.

    `lacks_keys`: a key that an environment variable is to have may be missing still; `instead`: what else to do without
    one.

    Raises:
        UsageError: the name of one is unknown.
        ModelUnavailable: the key, the address or the library of one is missing.
    """
    for access in model_accesses(settings, instead=instead):
        if not access.is_known:
            raise unknown_model(access.name)
        if not access.is_ready and not (lacks_keys and access.variable):
            raise ModelUnavailable(f"{access.name} cannot be asked: {access.sentence}")


def _access(name: str, settings: ModelSettings, instead: str) -> Access:
    provider, model = find_provider(name), name.partition(":")[2]
    if name in NOT_MODELS:
        return Access(name=name, is_ready=True, sentence="needs no key")
    if provider is None:
        return Access(name=name, is_ready=False, sentence=f"unknown; known are {', '.join(KNOWN)}", is_known=False)
    if not model:
        return Access(name=name, is_ready=False, sentence=f"names no model, such as {provider.name}:{provider.example}")
    if provider.api != "anthropic" and find_spec("pydantic_ai") is None:
        return Access(name=name, is_ready=False, sentence="run: pip install 'vision-agent[providers]'")
    if provider.needs_address and settings.base_url is None:
        return Access(
            name=name,
            is_ready=False,
            sentence="no base_url is configured: give --base-url, such as http://127.0.0.1:8000/v1, or in Python "
            'settings={"model": {"base_url": …}}',
        )
    if settings.api_key is not None and provider.is_configured_in(settings):
        return Access(name=name, is_ready=True, sentence="model.api_key is set")
    if not provider.keys:
        return Access(name=name, is_ready=True, sentence="no key is sent")
    found = next((variable for variable in provider.keys if os.environ.get(variable)), None)
    if found:
        return Access(name=name, is_ready=True, sentence=f"{found} is set", variable=found)
    if provider.api == "anthropic" and _claude_has_key():
        return Access(name=name, is_ready=True, sentence="its client found a key")
    key, near = provider.keys[0], near_name(provider.name, model)
    meant = f"did you mean {provider.name}:{near}? Also, " if near else ""
    else_do = f", or {instead}" if instead else ""
    return Access(name=name, is_ready=False, sentence=f"{meant}{key} is not set; set it{else_do}", variable=key)


def _claude_has_key() -> bool:
    """Whether the client finds a key where the environment names none, as in a profile."""
    import anthropic

    with anthropic.Anthropic() as client:
        return bool(client.api_key or client.auth_token or client.credentials)
