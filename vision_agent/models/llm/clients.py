"""The clients of the providers other than Anthropic: creates them, finds their keys, and keeps each raw response.

Knows no prompts and does not parse decisions. A provider's library is imported when its client is created.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, NamedTuple

import httpx2
from pydantic_ai.models import Model, get_user_agent
from pydantic_core import from_json

from vision_agent.errors import UsageError
from vision_agent.models.llm.checked_responses import CheckedResponses, fault_in, quoted
from vision_agent.models.providers import Provider


class Wire(NamedTuple):
    """How to recognize the replies of an API."""

    answers_in: tuple[str, ...]
    """Fields of which every reply has at least one."""
    usage: str
    """The field that contains the usage."""

    def is_reply(self, body: dict[str, Any]) -> bool:
        """Whether a body is a reply: one of the fields contains objects."""
        fields = [body[each] for each in self.answers_in if each in body]
        return any(all(isinstance(each, dict) for each in (it if isinstance(it, list) else [it])) for it in fields)


_WIRES = {
    "responses": Wire(("output",), "usage"),
    "google": Wire(("candidates", "promptFeedback"), "usageMetadata"),
    "chat-completions": Wire(("choices",), "usage"),
}


_TIMEOUT = httpx2.Timeout(600, connect=5)
"""For requests that set none; those of a model set `model.timeout_s`."""


class RawResponse(NamedTuple):
    """An HTTP response, unparsed."""

    status: int
    content_type: str
    text: str
    fault: str = ""
    """Why it is not a reply, although it was sent as a success."""

    @property
    def is_success(self) -> bool:
        """Whether it is a reply, as far as its main fields tell."""
        return 200 <= self.status < 300

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object in the response; empty if there is none."""
        with suppress(ValueError, RecursionError):
            value = json.loads(self.text)
            return value if isinstance(value, dict) else {}
        return {}

    @property
    def error_message(self) -> str:
        """The message of an error response."""
        with suppress(KeyError, TypeError):
            return quoted(self.body["error"]["message"])
        return quoted(self.text)


NO_RESPONSE = RawResponse(0, "", "")


class Client:
    """One provider's model and the connection to it.

    The connection is ours, so that responses can be read unparsed: exact usage data, and bodies that are not replies.
    """

    def __init__(self, provider: Provider, name: str, *, base_url: str | None, api_key: str | None) -> None:
        self.wire = _WIRES[provider.api]
        found = (os.environ.get(each) for each in provider.keys)
        key = api_key or next(filter(None, found), None)
        self.has_key = key is not None
        self.lacks_key = key is None and bool(provider.keys)
        self.last_response = NO_RESPONSE
        """The last HTTP response."""
        self.tries = 0
        """The number of HTTP requests sent; a caller sets it back."""
        self._http = _KeepingClient(self, headers={"User-Agent": get_user_agent()}, timeout=_TIMEOUT)
        # A client needs some key. Without one, it is not used, or its server needs none.
        self.model = _model(provider, name, base_url, key or "none", self._http)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def fault_of(self, content: bytes) -> str:
        """Why the body of an answer is not a reply of this API; empty if it is one."""
        try:
            # Unlike the standard library's, this parser refuses lone surrogates, which cannot be recorded.
            body = from_json(content, allow_inf_nan=False)
        except ValueError as error:
            return f"body: {error}"
        if self.wire is _WIRES["chat-completions"] and isinstance(body, dict) and body.get("choices") == []:
            return "its choices are an empty list; give one, with the message"
        is_reply = isinstance(body, dict) and self.wire.is_reply(body)
        return "" if is_reply else "it has none of the fields of one"


class _KeepingClient(CheckedResponses):
    """Checks answers, and keeps the last one with its owner."""

    def __init__(self, owner: Client, **options: Any) -> None:
        super().__init__(owner.fault_of, **options)
        self._owner = owner

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        self._owner.tries += 1
        if not self._owner.has_key:
            request.headers.pop("Authorization", None)
        response = await super().send(request, **options)
        said = response.headers.get("content-type", "")
        self._owner.last_response = RawResponse(response.status_code, said, response.text, fault_in(response))
        return response


def _model(provider: Provider, name: str, base_url: str | None, key: str, http: Any) -> Model:
    if provider.api == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(name, provider=GoogleProvider(api_key=key, base_url=base_url, http_client=http))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if provider.api == "responses":
        return OpenAIResponsesModel(
            name,
            provider=OpenAIProvider(api_key=key, base_url=base_url, http_client=http),
            # The run is recorded locally; the provider stores nothing.
            settings=OpenAIResponsesModelSettings(openai_store=False),
        )
    address = base_url or provider.base_url
    if address is None:
        raise UsageError(
            f"{provider.name}:{name} cannot be asked: no base_url is configured",
            'give --base-url, such as http://127.0.0.1:8000/v1, or in Python settings={"model": {"base_url": …}}',
        )
    compatible = OpenAICompatibleProvider(provider.name, base_url=address, api_key=key, http_client=http)
    return OpenAIChatModel(name, provider=compatible)
