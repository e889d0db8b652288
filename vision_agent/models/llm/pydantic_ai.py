"""Asks OpenAI, Google or any OpenAI-compatible server through pydantic-ai: one request and one typed reply per step.

The request has the same parts in the same order as Claude's (`anthropic`), so all but its end is the same as in the
previous step. It uses no tools and no sampling parameters. The record holds what is passed to pydantic-ai, which
translates it for each API.

The clients handle retries, back-off and timeouts. Wording is owned by `prompt`, parsing of replies by `reply`,
coordinates by `coordinates`. pydantic-ai is an optional dependency: only `factory` imports this module.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, ModelTimeoutError
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings as RequestSettings
from pydantic_ai.usage import RequestUsage

from vision_agent.custom_actions import CustomAction
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.coordinates import default_coordinates
from vision_agent.models.llm.checked_responses import content_type, quoted, recordable_usage, redirect_sentence
from vision_agent.models.llm.clients import NO_RESPONSE, Client
from vision_agent.models.llm.promptable import MOST_TOKENS, Promptable, missing_key, picture_bytes, rejection
from vision_agent.models.price import usage_price
from vision_agent.models.prompt.prompt import Prompt
from vision_agent.models.providers import Provider
from vision_agent.models.reply import CALLS_A_TOOL, CUT_OFF, EMPTY, ModelReply, usage_on_error
from vision_agent.observation import Shot
from vision_agent.ports import Redact
from vision_agent.settings import ModelSettings
from vision_agent.types import Usage

_PAUSE_S = 0.5
"""The pause before an answer that could not be read is asked for again: that of the providers' clients."""


class ProviderModel(Promptable):
    """Decides by asking a model of any known provider other than Anthropic.

    By default the address and the key come from the environment; `openai-compatible` needs an address.
    """

    def __init__(
        self,
        provider: Provider,
        name: str,
        *,
        settings: ModelSettings,
        redact: Redact,
        base_url: str | None = None,
        api_key: str | None = None,
        keep_request: Callable[[bytes], str] | None = None,
        custom: Sequence[CustomAction] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(
            name,
            settings=settings,
            redact=redact,
            keep_request=keep_request,
            custom=custom,
            coordinates=settings.coordinates or default_coordinates(name),
            clock=clock,
        )
        self._provider = provider
        self._client = Client(provider, name, base_url=base_url, api_key=api_key)
        self._model = self._client.model

    async def ask(self, prompt: Prompt, pictures: Iterable[Shot], reply: dict[str, Any]) -> ModelReply:
        """The text of a reply that fits the schema `reply`; see `Promptable.ask`."""
        self._require_key()
        began = self._clock()
        content = self._content(prompt, pictures)
        kept_as = self._keep_request(self._as_recorded(prompt, content, reply))
        response, usage_data = await self._response(prompt, content, reply)
        usage = _usage(response.usage, usage_data, self._model.system, self.name)
        with usage_on_error(usage):
            text = _text_of(response, self._settings.max_tokens)
        named, reply_id = response.model_name or self.name, response.provider_response_id
        named, reply_id = quoted(named), quoted(reply_id) if reply_id else reply_id
        return ModelReply(text, named, reply_id, usage, kept_as, self._clock() - began)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    # --- the request ---

    def _content(self, prompt: Prompt, pictures: Iterable[Shot]) -> list[UserContent]:
        given: list[UserContent] = [prompt.task, *map(self._image, pictures)]
        given += [each if isinstance(each, str) else self._image(each) for each in prompt.exemplar]
        log = [*prompt.log, *([prompt.last] if prompt.last else [])]
        return [*given, *log, *map(self._image, prompt.pictures), prompt.now, prompt.question]

    def _image(self, shot: Shot) -> BinaryContent:
        # By default OpenAI may look at a smaller copy.
        detail = {"detail": "high"} if self._provider.api == "responses" else None
        return BinaryContent(picture_bytes(shot), media_type=shot.media_type, vendor_metadata=detail)

    def _as_recorded(self, prompt: Prompt, content: Sequence[UserContent], reply: dict[str, Any]) -> bytes:
        parts = [
            {"type": "image", "media_type": each.media_type, "data": f"sha256:{hashlib.sha256(each.data).hexdigest()}"}
            if isinstance(each, BinaryContent)
            else {"type": "text", "text": each}
            for each in content
        ]
        request = {
            "model": f"{self._model.system}:{self.name}",
            "max_tokens": self._settings.max_tokens,
            "system": prompt.system,
            "content": parts,
            "reply": {"how": self._output_mode, "schema": reply},
        }
        return json.dumps(request, ensure_ascii=False, indent=1).encode()

    @property
    def _output_mode(self) -> Literal["native", "prompted"]:
        """`native` if the schema is part of the request, `prompted` if it must be in the prompt."""
        return "native" if self._model.profile.get("supports_json_schema_output", False) else "prompted"

    async def _response(
        self, prompt: Prompt, content: list[UserContent], reply: dict[str, Any]
    ) -> tuple[ModelResponse, dict[str, Any]]:
        """The response, and the provider's own usage data."""
        settings = RequestSettings(
            max_tokens=self._settings.max_tokens,
            timeout=self._settings.timeout_s,
            max_retries=self._settings.retries,
        )
        request = ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(content)])
        parameters = ModelRequestParameters(
            output_mode=self._output_mode, output_object=OutputObjectDefinition(reply, name="reply")
        )
        self._client.tries = 0
        for left in range(self._settings.retries, -1, -1):
            self._client.last_response = NO_RESPONSE
            try:
                response = await model_request(
                    self._model,
                    [request],
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                )
                break
            except Exception as error:
                # pydantic-ai does not check each field of a body before reading it, so any error may occur. The
                # provider's client tries other failures again, but knows nothing of this one.
                if self._client.last_response.is_success and left:
                    await asyncio.sleep(_PAUSE_S)
                    continue
                raise self._unavailable(error) from error
        body = self._client.last_response.body
        usage_data = body.get(self._client.wire.usage)
        return response, usage_data if isinstance(usage_data, dict) else {}

    # --- errors ---

    def _require_key(self) -> None:
        if self._client.lacks_key:
            raise missing_key(self.name, self._provider.keys[0])

    def _unavailable(self, error: Exception) -> ModelUnavailable:
        if fault := self._client.last_response.fault:
            return self._not_a_reply(fault)
        if sentence := redirect_sentence(self._address, self._client.last_response.status):
            return ModelUnavailable(sentence, f"set {self._provider.address_setting} to the address that it leads to")
        match error:
            case ModelHTTPError():
                return self._rejection(error.status_code)
            case ModelTimeoutError():
                return ModelUnavailable(
                    f"{self.name} did not answer within {self._settings.timeout_s:g} s{self._tries()} "
                    f"at {self._address}.",
                    "run again, or raise model.timeout_s",
                )
            case ModelConnectionError():
                return ModelUnavailable(
                    f"{self._address} could not be reached{self._tries()}: {_root(error)}.",
                    f"check the network, a proxy, and {self._provider.address_setting}",
                )
        if self._client.last_response != NO_RESPONSE:
            return self._not_a_reply(_root(error))
        return ModelUnavailable(
            f"{self.name} could not be asked: {quoted(error)}.", "check its name and the settings of model"
        )

    def _rejection(self, status: int) -> ModelUnavailable:
        message = self._client.last_response.error_message
        key = f"check {self._provider.keys[0]}" if self._provider.keys else "check model.api_key"
        match status:
            case 404:
                return ModelUnavailable(
                    f"There is no model {self.name!r} at {self._address} (404): {message}",
                    f"check the name, {self._provider.address_setting}, and what the key may use",
                )
            case 400 | 422:
                # Google answers 400 to an unknown key.
                hint = key if "api key" in message.lower() else "lower observe.longest_edge if the picture is the cause"
                return ModelUnavailable(
                    f"{self.name}: the request failed with {status}, it does not fit this model: {message}",
                    f"{hint}, or use another model",
                )
        return rejection(self.name, status, message, check_key=key, tried=self._tries())

    def _not_a_reply(self, why: str) -> ModelUnavailable:
        response = self._client.last_response
        return ModelUnavailable(
            f"{self._address} answered successfully, but the {content_type(response.content_type)} body is not a "
            f"reply{self._tries()} ({quoted(why)}): {response.text[:120]!r}",
            f"check {self._provider.address_setting} and any proxy on the way",
        )

    @property
    def _address(self) -> str:
        return re.sub(r"//[^/]*@", "//", str(self._model.base_url))

    def _tries(self) -> str:
        return f" in {self._client.tries} tries" if self._client.tries > 1 else ""


# --- the reply --------------------------------------------------------------------------------------------------------


def _text_of(response: ModelResponse, max_tokens: int) -> str:
    """The text of a complete reply.

    Raises:
        FormatError: the reply was cut off, is empty, or calls a tool.
        ModelUnavailable: the model refused to answer, or could not.
    """
    details = response.provider_details or {}
    why = quoted(details.get("refusal") or details.get("block_reason") or details.get("finish_reason") or "")
    match response.finish_reason:
        case "length":
            raise FormatError(CUT_OFF.format(max_tokens=max_tokens))
        case "content_filter":
            raise ModelUnavailable(
                f"{quoted(response.model_name)} declined to answer{f' ({why})' if why else ''}.",
                "rephrase the task, or use another model",
            )
        case "error":
            raise ModelUnavailable(f"{quoted(response.model_name)} failed while replying ({why}).", "run again later")
    if any(isinstance(part, ToolCallPart) for part in response.parts):
        raise FormatError(CALLS_A_TOOL)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if not text.strip():
        raise FormatError(EMPTY)
    return text


def _usage(counted: RequestUsage, raw: dict[str, Any], provider: str, model: str) -> Usage:
    def clamped(tokens: float) -> int:
        return math.ceil(min(max(0, tokens), MOST_TOKENS))

    return Usage(
        # pydantic-ai counts cached tokens as input; our Usage counts them separately.
        input_tokens=clamped(counted.input_tokens - counted.cache_read_tokens - counted.cache_write_tokens),
        output_tokens=clamped(counted.output_tokens),
        cache_read_tokens=clamped(counted.cache_read_tokens),
        cache_write_tokens=clamped(counted.cache_write_tokens),
        cost_usd=usage_price(provider, model, [counted]),
        raw=recordable_usage(raw),
    )


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:200] or type(error).__name__
