from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import certifi
import pytest
from messages_server import MessagesServer
from seen import unchanged

from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.settings import ModelSettings


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a single root certificate."""
    end = "-----END CERTIFICATE-----"
    path = tmp_path_factory.mktemp("tls") / "root.pem"
    path.write_text(certifi.contents().split(end)[0] + end, "ascii")
    return path


@pytest.fixture(autouse=True)
def _few_certificates(one_certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client of a provider reads all root certificates, in 20 ms; here it asks loopback, without TLS."""
    monkeypatch.setenv("SSL_CERT_FILE", str(one_certificate))


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
