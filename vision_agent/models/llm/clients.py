"""The clients of the providers other than Anthropic: creates them, finds their keys, and keeps each raw response.

Knows no prompts and does not parse decisions. A provider's library is imported when its client is created.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic_ai.models import Model, create_async_httpx2_client

from vision_agent.errors import UsageError
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


class RawResponse(NamedTuple):
    """An HTTP response, unparsed."""

    status: int
    content_type: str
    text: str

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
            return str(self.body["error"]["message"])
        return self.text[:300]


NO_RESPONSE = RawResponse(0, "", "")


class Client:
    """One provider's model and the connection to it.

    The connection is ours, so that responses can be read unparsed: exact usage data, and bodies that are not replies.
    """

    def __init__(self, provider: Provider, name: str, *, base_url: str | None, api_key: str | None) -> None:
        self.wire = _WIRES[provider.api]
        found = (os.environ.get(each) for each in provider.keys)
        key = api_key or next(filter(None, found), None)
        self.lacks_key = key is None and bool(provider.keys)
        self.last_response = NO_RESPONSE
        """The last HTTP response."""
        self._http = create_async_httpx2_client()
        self._http.event_hooks["response"].append(self._keep_response)
        # A client needs some key. Without one, it is not used, or its server needs none.
        self.model = _model(provider, name, base_url, key or "none", self._http)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _keep_response(self, response: Any) -> None:
        await response.aread()
        self.last_response = RawResponse(response.status_code, response.headers.get("content-type", ""), response.text)


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
            "set model.base_url, such as http://127.0.0.1:8000/v1",
        )
    compatible = OpenAICompatibleProvider(provider.name, base_url=address, api_key=key, http_client=http)
    return OpenAIChatModel(name, provider=compatible)
