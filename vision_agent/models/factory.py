"""Creates a model or a judge from its name; a provider's client library is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from vision_agent.custom_actions import CustomAction
from vision_agent.errors import UsageError
from vision_agent.models.llm.judge import ModelJudge
from vision_agent.models.llm.promptable import Promptable
from vision_agent.models.offline.human import HumanModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.models.providers import KNOWN_MODELS, Provider, find_provider, unknown_model
from vision_agent.observation import Observation
from vision_agent.ports import Judge, Model, Redact
from vision_agent.settings import ModelSettings, full_model_name


def make_model(
    name: str,
    *,
    settings: ModelSettings,
    redact: Redact,
    lines: Iterable[str] | None = None,
    picture: Callable[[Observation], str] | None = None,
    base_url: str | None = None,
    keep_request: Callable[[bytes], str] | None = None,
    custom: Sequence[CustomAction] = (),
) -> Model:
    """Creates the model of that name, such as `anthropic:claude-sonnet-5-5`.

    `lines` are the step lines of `steps`; `picture` gives `human` the path of an observation's picture.

    Raises:
        UsageError: the name is unknown, something the model needs is missing, or a line cannot be read.
    """
    name = full_model_name(name)
    provider, model = find_provider(name), name.strip().partition(":")[2]
    if provider is not None:
        return _llm(
            provider,
            model,
            settings=settings,
            redact=redact,
            base_url=base_url or settings.base_url,
            keep_request=keep_request,
            custom=custom,
        )
    if name.strip() == "steps":
        if lines is None:
            raise UsageError(
                "The model `steps` needs step lines", 'give them with --steps FILE, or in Python steps=["click Order"]'
            )
        return StepsModel(lines)
    if name.strip() == "human":
        return HumanModel(picture=picture, redact=redact)
    raise unknown_model(name)


def make_judge(
    name: str,
    *,
    settings: ModelSettings,
    redact: Redact,
    keep_request: Callable[[bytes], str] | None = None,
) -> Judge:
    """Creates the judge of that name, such as `anthropic:claude-opus-4-5`.

    Raises:
        UsageError: the name is unknown, or something the model needs is missing.
    """
    name = full_model_name(name)
    provider, model = find_provider(name), name.strip().partition(":")[2]
    if provider is None:
        known = ", ".join(KNOWN_MODELS)
        raise UsageError(f"{name!r} cannot judge whether a task is done; only a model can", f"known are {known}")
    # A judge calls no tools.
    settings = settings.model_copy(update={"dialect": "marks"})
    base_url = settings.base_url
    model_to_ask = _llm(provider, model, settings=settings, redact=redact, base_url=base_url, keep_request=keep_request)
    return ModelJudge(model_to_ask, redact=redact)


def _llm(provider: Provider, model: str, *, settings: ModelSettings, **more: Any) -> Promptable:
    if not model:
        raise UsageError(f"'{provider.name}:' names no model", f"such as {provider.name}:{provider.example}")
    more["api_key"] = settings.api_key.get_secret_value() if settings.api_key else None
    if provider.api == "anthropic":
        from vision_agent.models.llm.anthropic import AnthropicModel

        if settings.coordinates not in (None, "pixels"):
            raise UsageError(
                f"{model} gives points in pixels, not in {settings.coordinates}", "unset model.coordinates"
            )
        if settings.dialect == "browser":
            from vision_agent.models.llm.toolset import ToolsetModel

            return ToolsetModel(model, settings=settings, **more)
        return AnthropicModel(model, settings=settings, **more)
    if settings.dialect == "browser":
        raise UsageError(f"{provider.name}:{model} has no browser toolset; only Claude has", "unset model.dialect")
    try:
        from vision_agent.models.llm.pydantic_ai import ProviderModel

        return ProviderModel(provider, model, settings=settings, **more)
    except ImportError as error:
        raise UsageError(
            f"{provider.name}:{model} needs pydantic-ai, which cannot be imported: {error}",
            "run: pip install 'vision-agent[providers]'",
        ) from error
