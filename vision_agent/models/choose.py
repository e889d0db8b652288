"""Turns the name of a decider into one. A provider's client is imported only when it is the one that is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from vision_agent.custom import CustomAction
from vision_agent.errors import UsageError
from vision_agent.models.human import HumanModel
from vision_agent.models.steps import StepsModel
from vision_agent.ports import Model, Redact
from vision_agent.settings import ModelSettings
from vision_agent.types import Observation

KNOWN = ("anthropic:<model>", "steps", "human")


def model_named(
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
    """The decider of that name, such as `anthropic:claude-sonnet-5-5`; `lines` are for `steps`, `picture` for `human`.

    Raises:
        UsageError: there is none of that name, it lacks what it needs, or a line cannot be read.
    """
    provider, colon, model = name.strip().partition(":")
    if provider == "anthropic" and model:
        from vision_agent.models.anthropic import AnthropicModel

        return AnthropicModel(
            model, settings=settings, redact=redact, base_url=base_url, keep_request=keep_request, custom=custom
        )
    if provider == "anthropic":
        raise UsageError(f"{name!r} does not say which model", "such as anthropic:claude-sonnet-5-5")
    if not colon and provider == "steps":
        if lines is None:
            raise UsageError("`steps` decides by lines, and there are none", "give them with --steps FILE")
        return StepsModel(lines)
    if not colon and provider == "human":
        return HumanModel(picture=picture, redact=redact)
    raise UsageError(f"Nothing that decides is called {name!r}", f"known are {', '.join(KNOWN)}")
