"""What all models that are asked over a network have in common: the prompt of a step, and the decision in the reply.

A subclass sends the request. Wording is owned by `prompt`, parsing of replies by `reply`.
"""

from __future__ import annotations

import hashlib
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from vision_agent.custom_actions import CustomAction
from vision_agent.errors import ModelUnavailable, UsageError
from vision_agent.models.prompt.prompt import Prompt, render
from vision_agent.models.reply import ModelReply, parse_decision, schema
from vision_agent.observation import Observation, Shot
from vision_agent.ports import Model, Redact
from vision_agent.settings import Coordinates, ModelSettings
from vision_agent.types import Decision, Step, Task

MOST_TOKENS = 10**9
"""The most tokens that one reply can report; a larger number is none."""


class Promptable(Model):
    """A model that answers any prompt: `anthropic.AnthropicModel`, `pydantic_ai.ProviderModel`.

    `keep_request` stores a request before it is sent, redacted and with each picture replaced by its hash, and returns
    the hash of the stored request.
    """

    def __init__(
        self,
        name: str,
        *,
        settings: ModelSettings,
        redact: Redact,
        keep_request: Callable[[bytes], str] | None = None,
        custom: Sequence[CustomAction] = (),
        coordinates: Coordinates = "pixels",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.coordinates = coordinates
        self._settings = settings
        self._redact = redact
        self._custom = custom
        self._keep_request = keep_request or (lambda request: hashlib.sha256(request).hexdigest())
        self._clock = clock
        # Once, not for each request: it takes as long as rendering the rest of a step.
        self._reply = schema(custom, coordinates, settings.actions_per_step)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The model's decision.

        Raises:
            FormatError: the reply is empty, cut off, malformed, or names a missing target.
            ModelUnavailable: there is no key, the request failed, or the model refused to answer.
        """
        prompt = render(
            task,
            steps,
            observation,
            redact=self._redact,
            complaint=complaint,
            custom=self._custom,
            coordinates=self.coordinates,
            settings=self._settings,
        )
        model_reply = await self.ask(prompt, [each.shot for each in task.pictures], self._reply)
        return parse_decision(
            model_reply,
            observation,
            custom=self._custom,
            coordinates=self.coordinates,
            per_step=self._settings.actions_per_step,
        )

    @abstractmethod
    async def ask(self, prompt: Prompt, pictures: Iterable[Shot], reply: dict[str, Any]) -> ModelReply:
        """Asks for a reply that fits the schema `reply`, and returns its text; `pictures` are those of the task.

        Raises:
            FormatError: the reply is empty or cut off.
            ModelUnavailable: there is no key, the request failed, or the model refused to answer.
        """
        ...


def missing_key(name: str, variable: str) -> ModelUnavailable:
    """The error of a model that has no key; `variable` would hold it."""
    return ModelUnavailable(f"There is no API key for {name}.", f"set {variable}")


def rejection(name: str, status: int, message: str, *, check_key: str, tried: str) -> ModelUnavailable:
    """The error of a request that was answered with `status`; providers agree on what these statuses mean.

    `check_key`: the advice about the key; `tried`: how often it was sent, such as ` in 3 tries`.
    """
    rejected = f"{name}: the request failed with {status}"
    match status:
        case 401 | 403:
            return ModelUnavailable(f"{rejected}, the key is not accepted: {message}", check_key)
        case 413:
            return ModelUnavailable(f"{rejected}, it is too large: {message}", "use a smaller picture or fewer steps")
        case 429:
            return ModelUnavailable(f"{rejected}, too many requests{tried}: {message}", "wait, or raise the limit")
        case 529:
            return ModelUnavailable(f"{rejected}, the provider is overloaded{tried}: {message}", "run again later")
    return ModelUnavailable(f"{rejected}{tried if status >= 500 else ''}: {message}", "run again later")


def picture_bytes(shot: Shot) -> bytes:
    """The bytes of a picture.

    Raises:
        UsageError: they are not loaded.
    """
    if shot.data is None:
        raise UsageError(f"The bytes of picture {shot.sha256[:12]} are not loaded", "load them by their hash first")
    return shot.data
