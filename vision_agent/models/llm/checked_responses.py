"""An HTTP client that treats every response without a reply in it as a failed request, so that it is tried again.

A provider's client retries a server error and returns anything with status 200, even the log-in page of a proxy. It
also waits for ever for a body that comes byte by byte. Knows no provider: what a reply looks like is passed in.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2

from vision_agent.text.escape import cut_text

LARGEST_BODY = 16 * 2**20
"""Bytes of an answer that are read; one of 128,000 tokens has less than 1 MiB."""
LONGEST_QUOTE = 300
"""Characters of a message of a server that our sentences quote."""
_LARGEST_USAGE = 10_000
_BAD_GATEWAY = 502
_FAULT = "vision_agent.fault"
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


class CheckedResponses(httpx2.AsyncClient):
    """Reads each answer whole, within the time that its request allows, and checks it if its status is a success.

    `find_fault` says why a body is not a reply; it returns an empty text for a reply. Only POST requests are checked.
    """

    def __init__(self, find_fault: Callable[[bytes], str], **options: Any) -> None:
        # A redirect would send the pages, and with some clients the key, to whomever the server names.
        super().__init__(**{**options, "follow_redirects": False})
        self._find_fault = find_fault

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The answer, read; with status 502 in place of success if it is not a reply.

        Raises:
            httpx2.HTTPError: there was none, or it did not end in time.
        """
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("read")):
                response = await super().send(request, **{**options, "stream": True})
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("The answer did not end in time.", request=request) from error
        status, extensions = response.status_code, dict(response.extensions)
        if response.is_success and (fault := self._find_fault(body)):
            status, extensions[_FAULT] = _BAD_GATEWAY, fault
        headers = [each for each in response.headers.multi_items() if each[0].lower() not in _OF_THE_BODY]
        checked = httpx2.Response(status, headers=headers, content=body, request=request, extensions=extensions)
        checked.history, checked.elapsed = response.history, response.elapsed
        return checked


def quoted(text: object) -> str:
    """A message of a server, as our sentences quote it: cut."""
    return cut_text(str(text), LONGEST_QUOTE)


def content_type(text: str | None) -> str:
    """The type of a body, for a sentence about it."""
    return cut_text(text or "untyped", 60)


def redirect_sentence(address: object, status: int) -> str:
    """Why an answer that names another address is no reply; empty if the status is no redirect."""
    is_redirect = 300 <= status < 400
    return f"{address} answered with a redirect ({status}), which is not followed." if is_redirect else ""


def recordable_usage(raw: dict[str, Any]) -> dict[str, Any]:
    """The provider's own usage data; empty if it is longer than any real one."""
    return raw if len(json.dumps(raw)) <= _LARGEST_USAGE else {}


def fault_in(response: httpx2.Response) -> str:
    """Why a successful answer was made a failed one; empty if it was not."""
    return str(response.extensions.get(_FAULT, ""))


async def _read(response: httpx2.Response) -> bytes:
    """The decoded body; cut, and so no reply, if it is larger than any reply."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LARGEST_BODY:
            break
    return bytes(body)
