"""Asks Claude: one new request per step over the Messages API, and one typed reply.

All but the end of a request is byte for byte the same as in the previous step, so the provider can serve it from its
cache: system and format, then task, then the log of earlier steps, then what is new. Old pictures are not sent again.
Sampling parameters, a forced tool and a prefilled answer are never sent: the API rejects them.

The client handles retries, back-off and timeouts. Wording is owned by `prompt`, parsing of replies by `reply`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

import anthropic
import httpx2
from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic_core import from_json

from vision_agent.base_model import words_of
from vision_agent.custom_actions import CustomAction
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.llm.capabilities import Capabilities, declared, look_up
from vision_agent.models.llm.checked_responses import (
    CheckedResponses,
    content_type,
    fault_in,
    quoted,
    recordable_usage,
    redirect_sentence,
)
from vision_agent.models.llm.promptable import MOST_TOKENS, Promptable, missing_key, picture_bytes, rejection
from vision_agent.models.price import reply_cost
from vision_agent.models.prompt.prompt import Prompt
from vision_agent.models.reply import CALLS_A_TOOL, CUT_OFF, EMPTY, ModelReply, usage_on_error
from vision_agent.observation import Shot
from vision_agent.ports import Redact
from vision_agent.settings import ModelSettings
from vision_agent.types import Usage

_MOST_PAUSES = 5
_CACHED = {"cache_control": {"type": "ephemeral"}}


class _CheckedClient(CheckedResponses, anthropic.DefaultAsyncHttpxClient):
    """The client's own HTTP client, with its proxies and connections, which checks answers."""


class AnthropicModel(Promptable):
    """Decides by asking a Claude model.

    By default `base_url` and `api_key` come from the environment (`ANTHROPIC_BASE_URL`, `ANTHROPIC_API_KEY`, and others
    that the client reads).
    """

    def __init__(
        self,
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
        super().__init__(name, settings=settings, redact=redact, keep_request=keep_request, custom=custom, clock=clock)
        self.capabilities: Capabilities | None = None
        """None until they are looked up, once per run."""
        self._form = anthropic.transform_schema(self._reply)
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=settings.retries,
            timeout=settings.timeout_s,
            http_client=_CheckedClient(fault_of_body),
        )

    async def ask(self, prompt: Prompt, pictures: Iterable[Shot], reply: dict[str, Any]) -> ModelReply:
        """The text of a reply that fits the schema `reply`; see `Promptable.ask`."""
        self._require_key()
        self._require_capabilities(prompt)
        began = self._clock()
        form = self._form if reply is self._reply else anthropic.transform_schema(reply)
        request = _request(self.name, self._max_tokens, prompt, pictures, form)
        kept_as = self._keep_request(request_record(request))
        bodies = await self._bodies(request)
        body = bodies[-1]
        usage = total_usage(body.model, [each.usage for each in bodies])
        with usage_on_error(usage):
            text = reply_text(
                body, [block for each in bodies for block in each.content], self._max_tokens, self._window
            )
        return ModelReply(text, body.model, body.id, usage, kept_as, self._clock() - began)

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The capabilities of this model, from the Models API unless `known`; later requests stay within them."""
        if known is not None:
            self.capabilities = Capabilities.model_validate(known)
        elif self._has_key:
            self.capabilities = await look_up(self._client, self.name)
        else:
            self.capabilities = declared(self.name, "there is no key for the Models API")
        return self.capabilities.model_dump(mode="json")

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _bodies(self, request: dict[str, Any]) -> list[Body]:
        """The reply to the request, in parts if the model pauses."""
        bodies: list[Body] = []
        while not bodies or bodies[-1].stop_reason == "pause_turn":
            content = [block for each in bodies for block in each.content]
            paused = [{"role": "assistant", "content": content}] if content else []
            with usage_on_error(total_usage(self.name, [each.usage for each in bodies]) if bodies else None):
                if len(bodies) == _MOST_PAUSES:
                    raise ModelUnavailable(
                        f"{self.name} paused {_MOST_PAUSES} times in one reply without finishing it.",
                        "run again, or use another model",
                    )
                bodies.append(await self._send({**request, "messages": [*request["messages"], *paused]}))
        return bodies

    async def _send(self, request: dict[str, Any]) -> Body:
        try:
            response = await self._client.messages.with_raw_response.create(**request)
            return Body.model_validate(from_json(await response.text(), allow_inf_nan=False))
        except anthropic.APIStatusError as error:
            if fault := fault_in(error.response):
                raise self._not_a_message(error.response, fault) from error
            if sentence := redirect_sentence(self._client.base_url, error.status_code):
                raise ModelUnavailable(sentence, "set ANTHROPIC_BASE_URL to the address that it leads to") from error
            raise self._rejection(error) from error
        except anthropic.APITimeoutError as error:
            raise ModelUnavailable(
                f"{self.name} did not answer within {self._settings.timeout_s:g} s{self._tries()} "
                f"at {self._client.base_url}.",
                "run again, or raise model.timeout_s",
            ) from error
        except anthropic.APIConnectionError as error:
            raise ModelUnavailable(
                f"{self._client.base_url} could not be reached{self._tries()}: {quoted(error.__cause__ or error)}.",
                "check the network, a proxy, and ANTHROPIC_BASE_URL",
            ) from error
        except anthropic.AnthropicError as error:
            raise ModelUnavailable(
                f"{self.name} could not be asked: {quoted(error)}.", "check ANTHROPIC_API_KEY"
            ) from error

    @property
    def _has_key(self) -> bool:
        return bool(self._client.api_key or self._client.auth_token or self._client.credentials)

    def _require_key(self) -> None:
        if not self._has_key:
            raise missing_key(self.name, "ANTHROPIC_API_KEY")

    @property
    def _max_tokens(self) -> int:
        most = self.capabilities.max_tokens if self.capabilities else None
        return min(self._settings.max_tokens, most or self._settings.max_tokens)

    @property
    def _window(self) -> str:
        most = self.capabilities.max_input_tokens if self.capabilities else None
        return f" of {most} tokens" if most else ""

    def _require_capabilities(self, prompt: Prompt) -> None:
        """Raises if the model cannot do what the prompt needs, according to its provider."""
        can = self.capabilities
        if can is None:
            return
        if can.reads_pictures is False and prompt.pictures:
            raise ModelUnavailable(
                f"{self.name} cannot read pictures, according to its provider.",
                "use a model that can, or leave the picture out: --ablate picture",
            )
        if can.keeps_to_schemas is False:
            raise ModelUnavailable(
                f"{self.name} does not support structured outputs, according to its provider.", "use a newer model"
            )

    def _rejection(self, error: anthropic.APIStatusError) -> ModelUnavailable:
        message = _error_message(error)
        match error.status_code:
            case 404:
                return ModelUnavailable(
                    f"There is no model {self.name!r} at {self._client.base_url} (404): {message}",
                    "check the name after `anthropic:`, such as anthropic:claude-sonnet-5-5, and what the key may use",
                )
            case 400:
                return ModelUnavailable(
                    f"{self.name}: the request failed with 400, it does not fit this model: {message}",
                    "lower observe.longest_edge if the picture is the cause, or use another model",
                )
            case status:
                key = "check ANTHROPIC_API_KEY"
                return rejection(self.name, status, message, check_key=key, tried=self._tries())

    def _not_a_message(self, response: httpx2.Response, fault: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self._client.base_url} answered successfully, but the "
            f"{content_type(response.headers.get('content-type'))} body is not a message{self._tries()} "
            f"({quoted(fault)}): {response.text[:120]!r}",
            "check ANTHROPIC_BASE_URL and any proxy on the way",
        )

    def _tries(self) -> str:
        return f" in {self._settings.retries + 1} tries" if self._settings.retries else ""


# --- the request ------------------------------------------------------------------------------------------------------


def _request(
    name: str, max_tokens: int, prompt: Prompt, pictures: Iterable[Shot], form: dict[str, Any]
) -> dict[str, Any]:
    given = [_text(prompt.task), *map(image, pictures)]
    given += [_text(each) if isinstance(each, str) else image(each) for each in prompt.exemplar]
    log = [_text(entry) for entry in prompt.log]
    for end in (given, log):
        if end:
            end[-1] |= _CACHED
    new = [
        *([_text(prompt.last)] if prompt.last else []),
        *map(image, prompt.pictures),
        _text(prompt.now),
        _text(prompt.question),
    ]
    return {
        "model": name,
        "max_tokens": max_tokens,
        "system": [_text(prompt.system) | _CACHED],
        "messages": [{"role": "user", "content": [*given, *log, *new]}],
        "output_config": {"format": {"type": "json_schema", "schema": form}},
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def image(shot: Shot) -> dict[str, Any]:
    """The content block of a picture, which must not be scaled on the way.

    Raises:
        UsageError: the bytes of the picture are not loaded.
    """
    data = base64.standard_b64encode(picture_bytes(shot)).decode()
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": shot.media_type, "data": data},
        # Shrinking a picture moves every coordinate; no answer is better than a wrong place.
        "transformations": {"oversized_image": "error"},
    }


def request_record(request: dict[str, Any]) -> bytes:
    """The request as it is stored, with each picture replaced by its hash."""

    def without_picture(block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] == "tool_result":
            return {**block, "content": [without_picture(each) for each in block["content"]]}
        if block["type"] != "image":
            return block
        sha256 = hashlib.sha256(base64.standard_b64decode(block["source"]["data"])).hexdigest()
        return {**block, "source": {**block["source"], "data": f"sha256:{sha256}"}}

    messages = [
        {**each, "content": [without_picture(block) for block in each["content"]]} for each in request["messages"]
    ]
    return json.dumps({**request, "messages": messages}, ensure_ascii=False, indent=1).encode()


# --- the reply --------------------------------------------------------------------------------------------------------


_Word = Annotated[str, Field(max_length=200)]


class Body(BaseModel):
    """The required fields of a message from the API; other fields are ignored."""

    type: Literal["message"]
    id: _Word
    model: _Word
    content: list[dict[str, Any]]
    stop_reason: _Word
    stop_details: dict[str, Any] | None = None
    usage: dict[str, Any]

    @field_validator("content")
    @classmethod
    def _check_blocks(cls, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for block in blocks:
            match block:
                case {"type": "text", "text": str()} | {"type": "tool_use", "id": str(), "name": str()}:
                    pass
                case {"type": str(kind)} if kind not in ("text", "tool_use"):
                    pass
                case _:
                    raise ValueError(f"{str(block)[:60]!r} is not a block of a message")
        return blocks


def fault_of_body(content: bytes) -> str:
    """Why the body of an answer is not a message; empty if it is one."""
    try:
        # Unlike the standard library's, this parser refuses lone surrogates, which cannot be recorded.
        Body.model_validate(from_json(content, allow_inf_nan=False))
    except ValidationError as error:
        return "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {words_of(each)}" for each in error.errors()[:3]
        )
    except ValueError as error:
        return f"body: {error}"
    return ""


def reply_text(body: Body, blocks: list[dict[str, Any]], max_tokens: int, window: str) -> str:
    """The text of the content blocks of a reply whose last part is `body`.

    Raises:
        FormatError: the reply was cut off, is empty, or calls a tool.
        ModelUnavailable: the model refused to answer, or could not.
    """
    text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    match body.stop_reason:
        case "end_turn" | "stop_sequence":
            if not text.strip():
                raise FormatError(EMPTY)
            return text
        case "max_tokens":
            raise FormatError(CUT_OFF.format(max_tokens=max_tokens))
        case "tool_use":
            raise FormatError(CALLS_A_TOOL)
        case "refusal":
            raise ModelUnavailable(
                f"{body.model} declined to answer{_refusal_reason(body)}.",
                "rephrase the task, or use another model",
            )
        case "model_context_window_exceeded":
            raise ModelUnavailable(
                f"{body.model} has no room left for a reply: the task and its log fill its context window{window}.",
                "split the task, set limits.steps lower, or use a model with a larger window",
            )
    raise ModelUnavailable(
        f"{body.model} stopped for a reason unknown to this version: {body.stop_reason!r}.", "update vision-agent"
    )


def _refusal_reason(body: Body) -> str:
    details = body.stop_details or {}
    reasons = [quoted(details[each]) for each in ("category", "explanation") if details.get(each)]
    return f" ({': '.join(reasons)})" if reasons else ""


def total_usage(model: str, replies: list[dict[str, Any]]) -> Usage:
    """The total usage of replies, given the API's usage data for each."""

    def total(field: str) -> int:
        counts = [each.get(field) for each in replies]
        numbers = [each for each in counts if isinstance(each, int | float) and not isinstance(each, bool)]
        return sum(math.ceil(each) for each in numbers if 0 <= each <= MOST_TOKENS)

    return Usage(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        cache_read_tokens=total("cache_read_input_tokens"),
        cache_write_tokens=total("cache_creation_input_tokens"),
        cost_usd=reply_cost("anthropic", model, replies),
        raw=recordable_usage(replies[0] if len(replies) == 1 else {"replies": replies}),
    )


def _error_message(error: anthropic.APIStatusError) -> str:
    with suppress(KeyError, TypeError):
        return quoted(error.body["error"]["message"])  # type: ignore[index]
    return quoted(error.message)
