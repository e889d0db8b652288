"""The capabilities of Claude models: from the Models API, or declared here if the API cannot be asked.

The API reports whether a model reads pictures, but not how large they may be; `vision.image_limits` has that.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Literal

import anthropic
from pydantic import BaseModel, Field, ValidationError

from vision_agent.base_model import FrozenModel
from vision_agent.models.llm.checked_responses import quoted

DEADLINE_S = 5.0
"""The deadline of the whole lookup; a run can start without its result."""


class Capabilities(FrozenModel):
    """The limits and abilities of a model; None is unknown."""

    source: Literal["api", "declared"]
    why: str = ""
    """Why the API gave no answer; empty if it did."""
    max_input_tokens: int | None = None
    """The size of the context window."""
    max_tokens: int | None = None
    """The limit on one reply."""
    reads_pictures: bool | None = None
    keeps_to_schemas: bool | None = None
    """Whether it supports structured outputs."""
    lifecycle: str | None = None
    retires_at: datetime | None = None


_DECLARED = {
    # From Anthropic's overview of its models.
    name: Capabilities(source="declared", max_input_tokens=200_000, max_tokens=64_000, reads_pictures=True)
    for name in ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5")
}


def declared(name: str, why: str) -> Capabilities:
    """The declared capabilities of this model, with the reason for not asking the API."""
    known = next((known for known_as, known in _DECLARED.items() if name.startswith(known_as)), None)
    return (known or Capabilities(source="declared")).model_copy(update={"why": why})


async def look_up(client: anthropic.AsyncAnthropic, name: str, *, deadline_s: float = DEADLINE_S) -> Capabilities:
    """The capabilities of this model from the Models API, asked once; if that fails, the declared ones and why."""
    asked = client.with_options(max_retries=0, timeout=deadline_s).models.with_raw_response
    try:
        async with asyncio.timeout(deadline_s):
            response = await asked.retrieve(name)
            info = _Info.model_validate_json(await response.text())
    except anthropic.APIStatusError as error:
        return declared(name, f"the Models API answered with {error.status_code}")
    except (TimeoutError, anthropic.APITimeoutError):
        return declared(name, f"the Models API did not answer within {deadline_s:g} s")
    except anthropic.AnthropicError as error:
        return declared(name, f"the Models API could not be asked: {quoted(error)}")
    except ValidationError:
        return declared(name, "the answer of the Models API does not describe a model")
    can = info.capabilities or _Can()
    return Capabilities(
        source="api",
        max_input_tokens=info.max_input_tokens or None,
        max_tokens=info.max_tokens or None,
        reads_pictures=can.image_input.supported if can.image_input else None,
        keeps_to_schemas=can.structured_outputs.supported if can.structured_outputs else None,
        lifecycle=info.lifecycle,
        retires_at=info.retires_at,
    )


class _Support(BaseModel):
    supported: bool


class _Can(BaseModel):
    image_input: _Support | None = None
    structured_outputs: _Support | None = None


class _Info(BaseModel):
    """The fields that are read from an answer; others are ignored."""

    type: Literal["model"]
    max_input_tokens: int | None = None
    max_tokens: int | None = None
    capabilities: _Can | None = None
    lifecycle: str | None = Field(default=None, max_length=200)
    retires_at: datetime | None = None
