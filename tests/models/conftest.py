from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from messages_server import MessagesServer
from seen import unchanged

from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.settings import ModelSettings


@pytest.fixture
async def claude(api: MessagesServer) -> AsyncIterator[Callable[..., AnthropicModel]]:
    """Makes models that ask the server on loopback; closed at the end."""
    async with AsyncExitStack() as stack:

        def make(**more: Any) -> AnthropicModel:
            settings = ModelSettings(**{"retries": 0, "timeout_s": 20, **more.pop("settings", {})})
            given = {"base_url": api.base_url, "api_key": "key-of-the-test", "redact": unchanged, **more}
            model = AnthropicModel("claude-sonnet-5-5", settings=settings, **given)
            stack.push_async_callback(model.aclose)
            return model

        yield make
