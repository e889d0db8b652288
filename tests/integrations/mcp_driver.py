"""Drives the MCP server with the protocol's official client, in process or over a transport, and reads its answers."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from vision_agent.integrations.mcp.browser_session import SessionRules
from vision_agent.integrations.mcp.serving import serve_http
from vision_agent.record.verify import verify
from vision_agent.settings import Settings
from vision_agent.types import Task

TRANSPORTS = ("stdio", "http", "http-legacy")


@dataclass(frozen=True)
class Reply:
    """The answer to a call."""

    text: str
    picture: bytes | None
    media_type: str
    is_error: bool

    @property
    def session(self) -> str:
        return self._named("session")

    @property
    def look(self) -> str:
        return self._named("look")

    def _named(self, what: str) -> str:
        found = re.search(r"^session (?P<session>\w+) · look (?P<look>\w+)", self.text)
        assert found is not None, self.text
        return found[what]

    @property
    def page(self) -> str:
        """What the page wrote."""
        found = re.search(r"<page_text>\n(.*)\n</page_text>", self.text, re.DOTALL)
        assert found is not None, self.text
        return found[1]

    def mark(self, words: str, nth: int = 0) -> int:
        """The number of the mark whose line has these words."""
        found = [line for line in self.page.split("\n") if re.match(r"\d+\[:\]", line) and words in line]
        assert len(found) > nth, f"no mark {words!r} in:\n{self.text}"
        return int(found[nth].partition("[")[0])


class Driver:
    """A client and the session that it opened last."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.session = ""
        self.look = ""

    async def call(self, name: str, **arguments: Any) -> Reply:
        """The answer to a call with exactly these arguments."""
        result = await self.client.call_tool(name, arguments)
        assert result.structured_content is None
        texts = [each.text for each in result.content if each.type == "text"]
        pictures = [each for each in result.content if each.type == "image"]
        assert len(texts) == 1
        assert len(pictures) <= 1
        data = base64.b64decode(pictures[0].data) if pictures else None
        return Reply(texts[0], data, pictures[0].mime_type if pictures else "", result.is_error)

    async def open(self, url: str, **arguments: Any) -> Reply:
        """Opens an address in a new session, which later calls are for."""
        reply = await self.call("open", url=url, **arguments)
        assert not reply.is_error, reply.text
        self.session, self.look = reply.session, reply.look
        return reply

    async def act(self, name: str, **arguments: Any) -> Reply:
        """The answer to a call for this session and its last look."""
        reply = await self.call(name, session=self.session, look_id=self.look, **arguments)
        if reply.text.startswith("session ") and "· look" in reply.text:
            self.look = reply.look
        return reply

    async def see(self, **arguments: Any) -> Reply:
        """A new look."""
        reply = await self.call("look", session=self.session, **arguments)
        self.look = reply.look
        return reply

    async def close(self) -> Reply:
        return await self.call("close", session=self.session)


def rules_for(runs: Path, *, task: dict[str, Any] | None = None, settings: dict[str, Any] | None = None, **more: Any):
    """Rules with their own folder of runs."""
    made = Settings(**{"runs": runs, **(settings or {})})
    return SessionRules(made, Task(goal="", limits=made.limits, **(task or {})), **more)


@asynccontextmanager
async def http_client(address: str, token: str, **more: Any) -> AsyncIterator[Client]:
    """A client of a server on loopback."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(address, http_client=http), **more) as client,
    ):
        yield client


def stdio_parameters(runs: Path, *options: str) -> StdioServerParameters:
    """How a client starts the server."""
    command = ["-m", "vision_agent", "mcp", "--runs", str(runs), *options]
    return StdioServerParameters(command=sys.executable, args=command)


@asynccontextmanager
async def driven(transport: str, runs: Path, *options: str, **rules: Any) -> AsyncIterator[Driver]:
    """A driver over a transport; `options` are those of the command line, `rules` the same for HTTP."""
    if transport == "stdio":
        async with Client(stdio_parameters(runs, *options)) as client:
            yield Driver(client)
        return
    mode = "legacy" if transport == "http-legacy" else "auto"
    async with (
        serve_http(rules_for(runs, **rules)) as (address, token),
        http_client(address, token, mode=mode) as client,
    ):
        yield Driver(client)


def assert_verified(runs: Path, count: int) -> list[Path]:
    """Asserts that there are so many run folders, each intact and ended, and returns them."""
    folders = sorted(path for path in runs.iterdir() if path.is_dir())
    assert len(folders) == count
    for folder in folders:
        found = verify(folder)
        assert found.holds, (folder, found)
    return folders
