"""A Messages API on loopback that gives prepared answers and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPLIES = Path(__file__).parents[1] / "fixtures" / "replies"


@dataclass
class Answer:
    """One prepared answer.

    `hangs` never comes, `breaks` ends the connection in the middle of the body, `drips` sends it byte by byte and never
    the last one, `is_endless` sends it again and again, and `raw` is sent in place of a response.
    """

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    breaks: bool = False
    drips: bool = False
    is_endless: bool = False
    raw: bytes | None = None


def reply(name: str) -> Answer:
    """The answer kept in `fixtures/replies`."""
    return Answer((REPLIES / f"{name}.json").read_bytes())


def saying(text: str) -> Answer:
    """An ordinary answer with this text."""
    body = json.loads((REPLIES / "end_turn.json").read_text("utf-8"))
    body["content"] = [{"type": "text", "text": text}]
    return Answer(json.dumps(body).encode())


def fault(status: int, kind: str, message: str) -> Answer:
    """An error as the API words it; the client is told not to wait before it tries again."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Answer(json.dumps(body).encode(), status, headers={"retry-after-ms": "1"})


class MessagesServer:
    """Gives its answers one after the other, the last one again and again."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        """The body of each request."""
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer | Callable[[dict[str, Any]], Answer]] = [reply("end_turn")]
        """An answer, or what makes one of the request."""
        self.model = fault(404, "not_found_error", "model: unknown")
        """What the Models API answers."""
        self.models_asked: list[str] = []
        """The path of each request to the Models API."""
        self._open: set[asyncio.Task[Any]] = set()

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(each) for each in self.requests]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def close(self) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        if head[0].startswith("GET "):
            self.models_asked.append(head[0].split()[1])
            answer = self.model
        else:
            self.headers.append(headers)
            self.requests.append(await reader.readexactly(int(headers["content-length"])))
            prepared = self.answers[min(len(self.requests), len(self.answers)) - 1]
            answer = prepared if isinstance(prepared, Answer) else prepared(json.loads(self.requests[-1]))
        if answer.hangs:
            await asyncio.Event().wait()
        if answer.raw is not None:
            writer.write(answer.raw)
            await writer.drain()
            return
        length = 2**40 if answer.is_endless else len(answer.body)
        said = {"content-type": answer.content_type, "content-length": str(length), **answer.headers}
        lines = [
            f"HTTP/1.1 {answer.status} -",
            *(f"{name}: {value}" for name, value in said.items()),
            "connection: close",
        ]
        body = answer.body[: len(answer.body) // 2] if answer.breaks else b"" if answer.drips else answer.body
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        await writer.drain()
        for at in range(len(answer.body) - 1) if answer.drips else ():
            writer.write(answer.body[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0.02)  # what is slow here is what is tested
        if answer.drips:
            await asyncio.Event().wait()
        while answer.is_endless:
            writer.write(answer.body)
            await writer.drain()
