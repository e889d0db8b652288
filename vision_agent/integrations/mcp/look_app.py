"""The MCP App that shows a person the picture and the listing of an answer, in clients that offer apps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

APP_URI = "ui://vision-agent/look.html"
EXTENSIONS: dict[str, dict[str, Any]] = {EXTENSION_ID: {"mimeTypes": [APP_MIME_TYPE]}}
"""What the server says that it offers."""
TOOL_META: dict[str, Any] = {"ui": {"resourceUri": APP_URI}}
"""Marks a tool whose answers the app shows."""

_FILE = Path(__file__).parent / "look_app.html"
_META: dict[str, Any] = {"ui": {"csp": {}, "prefersBorder": True}}
"""It loads nothing: the picture comes in the answer."""


def app_resource() -> types.Resource:
    """The app as it is listed."""
    return types.Resource(
        uri=APP_URI,
        name="look",
        title="The last look",
        description="Shows a person the marked picture and its listing.",
        mime_type=APP_MIME_TYPE,
        _meta=_META,
    )


def app_contents() -> types.TextResourceContents:
    """The page of the app."""
    return types.TextResourceContents(uri=APP_URI, mime_type=APP_MIME_TYPE, text=_FILE.read_text("utf-8"), _meta=_META)
