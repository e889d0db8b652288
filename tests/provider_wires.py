"""How OpenAI (Responses), Google (generateContent) and compatible servers (Chat Completions) word their replies.

`MessagesServer` gives the answers; a `Wire` makes them, and reads of a request what all have in common.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from messages_server import REPLIES, Answer

_CONTENT = json.loads((REPLIES / "end_turn.json").read_text("utf-8"))["content"]
CLICKS = "".join(block["text"] for block in _CONTENT if block["type"] == "text")
"""The text of an ordinary reply: it clicks mark 12."""


@dataclass(frozen=True)
class Wire:
    """One provider's wording."""

    provider: str
    path: str
    """Of the address that its client is given."""
    body: Callable[[str, str], dict[str, Any]]
    """Of a text and an ending: `end`, `cut`, `refused`, `tool`."""
    usage: str
    key: str
    """The variable that holds it."""
    parts: Callable[[dict[str, Any]], tuple[str, list[str | bytes]]]
    """Of a request: its rules, then its texts and pictures in order."""
    error: Callable[[int, str], Any]

    def saying(self, text: str = CLICKS, ending: str = "end") -> Answer:
        return Answer(json.dumps(self.body(text, ending)).encode())

    def fault(self, status: int, message: str) -> Answer:
        """The client is told not to wait before it tries again."""
        return Answer(json.dumps(self.error(status, message)).encode(), status, headers={"retry-after-ms": "1"})


def _responses(text: str, ending: str) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    if ending == "refused":
        content = {"type": "refusal", "refusal": "This cannot be helped with."}
    output: list[dict[str, Any]] = [
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}
    ]
    if ending == "tool":
        output = [{"type": "function_call", "id": "fc_1", "call_id": "c_1", "name": "click", "arguments": "{}"}]
    return {
        "id": "reply_1",
        "object": "response",
        "created_at": 1772440200,
        "model": "the-model-1",
        "status": "incomplete" if ending == "cut" else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if ending == "cut" else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1700,
            "input_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 0},
            "output_tokens": 73,
            "output_tokens_details": {"reasoning_tokens": 13},
            "total_tokens": 1773,
        },
    }


def _chat(text: str, ending: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if ending == "refused":
        message = {"role": "assistant", "content": None, "refusal": "This cannot be helped with."}
    if ending == "tool":
        call = {"id": "c_1", "type": "function", "function": {"name": "click", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = {"end": "stop", "cut": "length", "refused": "stop", "tool": "tool_calls"}[ending]
    return {
        "id": "reply_1",
        "object": "chat.completion",
        "created": 1772440200,
        "model": "the-model-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": 1700,
            "completion_tokens": 73,
            "total_tokens": 1773,
            "prompt_tokens_details": {"cached_tokens": 1500},
        },
    }


def _google(text: str, ending: str) -> dict[str, Any]:
    counted = {
        "promptTokenCount": 1700,
        "candidatesTokenCount": 60,
        "thoughtsTokenCount": 13,
        "cachedContentTokenCount": 1500,
        "totalTokenCount": 1773,
    }
    said = {"modelVersion": "the-model-1", "responseId": "reply_1", "usageMetadata": counted}
    if ending == "refused":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **said}
    part = {"functionCall": {"name": "click", "args": {}}} if ending == "tool" else {"text": text}
    reason = "MAX_TOKENS" if ending == "cut" else "STOP"
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": reason, "index": 0}
    return {"candidates": [candidate], **said}


def _inline(address: str) -> bytes:
    return base64.b64decode(address.removeprefix("data:image/png;base64,"), validate=True)


def _of_responses(request: dict[str, Any]) -> tuple[str, list[str | bytes]]:
    rules, asked = request["input"]
    return rules["content"], [
        each["text"] if each["type"] == "input_text" else _inline(each["image_url"]) for each in asked["content"]
    ]


def _of_chat(request: dict[str, Any]) -> tuple[str, list[str | bytes]]:
    rules, asked = request["messages"]
    return rules["content"], [
        each["text"] if each["type"] == "text" else _inline(each["image_url"]["url"]) for each in asked["content"]
    ]


def _of_google(request: dict[str, Any]) -> tuple[str, list[str | bytes]]:
    (rules,) = request["systemInstruction"]["parts"]
    (asked,) = request["contents"]
    return rules["text"], [
        each["text"] if "text" in each else base64.urlsafe_b64decode(each["inlineData"]["data"])
        for each in asked["parts"]
    ]


def _openai_error(status: int, message: str) -> Any:
    return {"error": {"message": message, "type": "some_error", "param": None, "code": None}}


def _google_error(status: int, message: str) -> Any:
    return {"error": {"code": status, "message": message, "status": "SOME_STATUS"}}


OPENAI = Wire("openai", "/v1", _responses, "usage", "OPENAI_API_KEY", _of_responses, _openai_error)
GOOGLE = Wire("google", "", _google, "usageMetadata", "GOOGLE_API_KEY", _of_google, _google_error)
COMPATIBLE = Wire("openai-compatible", "/v1", _chat, "usage", "", _of_chat, _openai_error)
WIRES = (OPENAI, GOOGLE, COMPATIBLE)
