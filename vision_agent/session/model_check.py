"""Checks the configured model with one small request: whether its key, address and name are right."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.geometry import Box, Size
from vision_agent.models.factory import make_model
from vision_agent.models.providers import find_provider, provider_settings
from vision_agent.observation import Mark, Observation
from vision_agent.record.redact import Redactor
from vision_agent.session.deciders import require_models
from vision_agent.settings import Settings
from vision_agent.types import Limits, Task, Usage
from vision_agent.vision.picture import Picture

_SIZE = Size(width=320, height=200)
_DEADLINE_S = 60.0


class ModelCheck(NamedTuple):
    """Whether and how a model answered."""

    model: str
    answers: bool
    sentence: str
    seconds: float
    usage: Usage | None = None
    """None if the model reported none, or did not answer."""


async def check_model(settings: Settings) -> ModelCheck:
    """The answer of the configured model to one small picture and a listing of one line.

    The request is an ordinary one, so a good answer means that runs can begin. It costs what one step costs.

    Raises:
        UsageError: the settings name no model that is asked over a network.
    """
    name, began = settings.model.name, time.monotonic()
    if find_provider(name) is None:
        raise UsageError(
            f"{name} needs no server, so there is nothing to ask", "name a model, such as --model claude-sonnet-5-5"
        )

    def check(answers: bool, sentence: str, usage: Usage | None = None) -> ModelCheck:
        return ModelCheck(name, answers, sentence, round(time.monotonic() - began, 2), usage)

    try:
        require_models(None, settings, instead="")
        model = make_model(name, settings=provider_settings(name, settings.model), redact=Redactor(()).for_model)
        try:
            task = Task(goal="Nothing is to be done here: finish at once.", limits=Limits(steps=1))
            decision = await asyncio.wait_for(model.decide(task, (), _blank_page()), _DEADLINE_S)
        finally:
            await model.aclose()
    except ModelUnavailable as error:
        return check(False, str(error))
    except TimeoutError:
        return check(False, f"{name} gave no answer within {_DEADLINE_S:.0f} s")
    except FormatError as error:
        return check(False, f"{name} answers, but not in the form that runs need: {error}", error.usage)
    chosen = ", ".join(action.kind for action in decision.actions) or "no action"
    return check(True, f"{name} answers, and chose {chosen}", decision.usage)


def _blank_page() -> Observation:
    """A white page with one mark."""
    page = Box(x=0, y=0, width=_SIZE.width, height=_SIZE.height)
    shot = Picture.of_rgb(np.full((_SIZE.height, _SIZE.width, 3), 255, np.uint8), page).encode()
    box = Box(x=120, y=80, width=80, height=24)
    return Observation(
        id="check",
        epoch=1,
        url="about:blank",
        title="",
        taken_at=datetime.now(UTC),
        viewport=_SIZE,
        marks=(
            Mark(
                number=1,
                tag="button",
                role="button",
                kind="button",
                name="Finish",
                box=box,
                key="check",
                point=box.center,
            ),
        ),
        listing="1[:]<button>Finish",
        clean=shot,
        marked=shot,
    )
