"""Asks the model that Inspect runs with, so that Inspect's log, cache and limits cover every request."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.model import Model as InspectLanguageModel
from inspect_ai.util import LimitExceededError

from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.coordinates import default_coordinates
from vision_agent.models.llm.promptable import Promptable, picture_bytes
from vision_agent.models.prompt.prompt import Prompt
from vision_agent.models.prompt.templates import fill
from vision_agent.models.reply import CALLS_A_TOOL, CUT_OFF, EMPTY, ModelReply, usage_on_error
from vision_agent.observation import Shot
from vision_agent.settings import ModelSettings
from vision_agent.types import Usage

_LONGEST_REASON = 300


class InspectModel(Promptable):
    """Decides by asking one of Inspect's models."""

    def __init__(self, model: InspectLanguageModel, settings: ModelSettings) -> None:
        name = str(model)
        coordinates = settings.coordinates or default_coordinates(name)
        # It is given what is already redacted, as every model that is written in Python.
        super().__init__(name, settings=settings, redact=str, coordinates=coordinates)
        self._model = model
        self.limit: LimitExceededError | None = None
        """The limit of Inspect that ended the last request."""

    async def ask(self, prompt: Prompt, pictures: Iterable[Shot], reply: dict[str, Any]) -> ModelReply:
        """The text of a reply that fits the schema `reply`; see `Promptable.ask`."""
        began = self._clock()
        rules = f"{prompt.system}\n\n{fill('reply_schema', schema=json.dumps(reply, ensure_ascii=False))}"
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=rules),
            ChatMessageUser(content=_content(prompt, pictures)),
        ]
        try:
            output = await self._model.generate(messages, config=GenerateConfig(max_tokens=self._settings.max_tokens))
        except LimitExceededError as error:
            self.limit = error
            raise ModelUnavailable(f"A limit of the evaluation is reached: {error.message}") from error
        except Exception as error:
            # Each of Inspect's providers raises errors of its own.
            why = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
            raise ModelUnavailable(f"{self.name} could not be asked: {why}") from error
        usage = _usage(output)
        with usage_on_error(usage):
            text = _text_of(output, self.name, self._settings.max_tokens)
        return ModelReply(text, output.model or self.name, None, usage, None, self._clock() - began)


def _content(prompt: Prompt, pictures: Iterable[Shot]) -> list[Content]:
    given: list[str | Shot] = [prompt.task, *pictures, *prompt.exemplar, *prompt.log]
    given += [prompt.last] if prompt.last else []
    given += [*prompt.pictures, prompt.now, prompt.question]
    return [ContentText(text=each) if isinstance(each, str) else image_content(each) for each in given if each]


def image_content(shot: Shot) -> ContentImage:
    """The picture as Inspect carries it; its log keeps each one once, however often it is sent."""
    data = base64.b64encode(picture_bytes(shot)).decode()
    return ContentImage(image=f"data:{shot.media_type};base64,{data}", detail="high")


def _text_of(output: ModelOutput, name: str, max_tokens: int) -> str:
    if not output.choices:
        raise FormatError(EMPTY)
    match output.stop_reason:
        case "max_tokens" | "model_length":
            raise FormatError(CUT_OFF.format(max_tokens=max_tokens))
        case "content_filter":
            raise ModelUnavailable(f"{name} declined to answer.", "rephrase the task, or use another model")
    if output.message.tool_calls:
        raise FormatError(CALLS_A_TOOL)
    if not output.completion.strip():
        raise FormatError(EMPTY)
    text: str = output.completion
    return text


def _usage(output: ModelOutput) -> Usage | None:
    counted = output.usage
    if counted is None:
        return None
    return Usage(
        input_tokens=counted.input_tokens,
        output_tokens=counted.output_tokens,
        cache_read_tokens=counted.input_tokens_cache_read or 0,
        cache_write_tokens=counted.input_tokens_cache_write or 0,
        cost_usd=getattr(counted, "total_cost", None),
    )
