"""Opens the models of one run (decider, fallback and judge), and knows how large their pictures may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from vision_agent.custom_actions import CustomAction
from vision_agent.errors import UsageError
from vision_agent.models.credentials import HEAL_WITHOUT_A_MODEL_IN_PYTHON, WITHOUT_A_MODEL_IN_PYTHON, require_access
from vision_agent.models.offline.replayed import ReplayedModel
from vision_agent.models.providers import NOT_MODELS, find_provider, provider_settings, unknown_model
from vision_agent.observation import Observation
from vision_agent.ports import Judge, Model
from vision_agent.record.redact import Redactor
from vision_agent.record.redact_events import RedactedModel
from vision_agent.record.store import SHOTS, RunFolder, shot_name
from vision_agent.session.given_model import GivenModel, require_decider
from vision_agent.settings import Settings
from vision_agent.types import Run
from vision_agent.vision.image_limits import ImageLimits, image_limits_for


@dataclass(frozen=True)
class Deciders:
    """The models of one run."""

    model: Model
    fallback: Model | None = None
    judge: Judge | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What `describe` returned for each, by model name."""


async def open_deciders(
    named: str | Model,
    settings: Settings,
    stack: AsyncExitStack,
    *,
    folder: RunFolder,
    redact: Redactor,
    custom: Sequence[CustomAction],
    beginning: Run | None,
    wrap_model: Callable[[Model], Model] | None,
) -> Deciders:
    """The models that the settings name; the stack closes those created here.

    Raises:
        UsageError: a model is unknown, or lacks something it needs.
    """

    def picture(observation: Observation) -> str:
        return str(folder.path / SHOTS / shot_name(observation.marked))

    def open_model(named: str | Model) -> Model:
        if not isinstance(named, str):
            given = GivenModel(named)
            return given if getattr(named, "sees_secrets", False) else RedactedModel(given, redact)
        from vision_agent.models.factory import make_model

        model = make_model(
            named,
            settings=provider_settings(named, settings.model),
            redact=redact.for_model,
            keep_request=folder.keep_request,
            picture=picture,
            custom=custom,
        )
        stack.push_async_callback(model.aclose)
        return model

    model = open_model(named)
    if beginning is not None:
        model = ReplayedModel(beginning.steps, run=beginning.id, then=model)
    fallback = open_model(settings.model.fallback) if settings.model.fallback else None
    if wrap_model is not None:
        model, fallback = wrap_model(model), fallback and wrap_model(fallback)
    judge: Judge | None = None
    if (judging := _judge_name(named, settings)) is not None:
        from vision_agent.models.factory import make_judge

        judge = make_judge(
            judging,
            settings=provider_settings(judging, settings.model),
            redact=redact.for_model,
            keep_request=folder.keep_request,
        )
        stack.push_async_callback(judge.aclose)
    return Deciders(model, fallback, judge, await _facts(model, fallback, judge))


def require_known_models(model: str | Model | None, settings: Settings) -> None:
    """Raises `UsageError` if the name of a model of the run is unknown, or what was given as `model` is no decider."""
    if model is not None and not isinstance(model, str):
        require_decider(model)
    named = settings.model.name if model is None else model
    for name in (named, settings.model.fallback, settings.model.judge):
        if isinstance(name, str) and name not in (*NOT_MODELS, "same") and find_provider(name) is None:
            raise unknown_model(name)


def require_models(model: str | Model | None, settings: Settings, *, instead: str = WITHOUT_A_MODEL_IN_PYTHON) -> None:
    """Checks that the models of a run can be asked, as far as that is known without asking them; `model` decides.

    `instead`: what else to do without a key.

    Raises:
        UsageError: the name of one is unknown.
        ModelUnavailable: the key, the address or the library of one is missing.
    """
    named = settings.model.name if model is None else model
    name = named if isinstance(named, str) else "steps"
    require_access(provider_settings(name, settings.model).model_copy(update={"name": name}), instead=instead)


def require_healer(model: str | Model, settings: Settings, *, instead: str = HEAL_WITHOUT_A_MODEL_IN_PYTHON) -> None:
    """Checks that the model that is to heal a replay can be asked, as far as that is known without asking it.

    `instead`: what else to do without a key.

    Raises:
        UsageError: its name is unknown, or that of step lines.
        ModelUnavailable: its key, its address or its library is missing.
    """
    if model == "steps":
        raise UsageError("Step lines cannot heal a replay", f"name a model, or {instead}")
    name = model if isinstance(model, str) else "human"
    asked = provider_settings(name, settings.model).model_copy(update={"name": name, "fallback": None})
    require_access(asked, instead=instead)


def common_image_limits(named: str | Model, settings: Settings) -> ImageLimits:
    """The limits within which no model shrinks a picture, which would move every point."""
    edge = settings.observe.longest_edge
    limits = image_limits_for(named if isinstance(named, str) else settings.model.name, edge)
    for other in filter(None, (settings.model.fallback, _judge_name(named, settings))):
        limits = limits.common(image_limits_for(other, edge))
    return limits


def _judge_name(named: str | Model, settings: Settings) -> str | None:
    if settings.model.judge != "same":
        return settings.model.judge
    return named if isinstance(named, str) else type(named).__name__


async def _facts(*asked: Model | Judge | None) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for each in asked:
        if each is not None and (found := await each.describe(facts.get(each.name))):
            facts[each.name] = found
    return facts
