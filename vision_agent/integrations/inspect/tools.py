"""The tool `marked_browser`: pages as marked pictures with a short listing, driven by number.

The tools are those of `vision-agent mcp`, in Inspect's own process. Each sample has browsers of its own, which are
closed when it ends.
"""

from __future__ import annotations

import secrets
import weakref
from pathlib import Path
from typing import Any

from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.model import Content, ContentText
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams
from inspect_ai.util import store

from vision_agent.integrations.browser_tools import BrowserTools
from vision_agent.integrations.inspect.log_links import link_run
from vision_agent.integrations.inspect.model import image_content
from vision_agent.integrations.mcp.calls import ToolAnswer
from vision_agent.session.keywords import GivenSettings

_OWNER = "vision_agent:owner"
_LINKED = "vision_agent:run_folders"
_open: weakref.WeakSet[BrowserTools] = weakref.WeakSet()
PREFIX = "browser_"
"""Begins the names of the tools, which would otherwise say too little beside others."""


def marked_browser(
    settings: GivenSettings = None,
    *,
    allowed_hosts: list[str] | None = None,
    denied_hosts: list[str] | None = None,
    files: list[str | Path] | None = None,
    browsers: int = 8,
) -> list[Tool]:
    """The tools of a browser whose pages come with numbers: `browser_open`, `browser_click`, `browser_type` and so on.

    Args:
        settings: as for `vision_agent.Agent`; run folders go to its `runs`.
        allowed_hosts: the hosts that may be reached, such as `shop.example` or `*.shop.example`. None: all.
        denied_hosts: hosts that may not be reached, even if allowed.
        files: the only files that may be uploaded.
        browsers: how many may be open at a time, over all samples.
    """
    made = BrowserTools(
        settings, allowed_hosts=allowed_hosts, denied_hosts=denied_hosts, files=files or (), most_sessions=browsers
    )
    _open.add(made)
    return [_browser_tool(made, name) for name in made.specs]


def _browser_tool(browser: BrowserTools, name: str) -> Tool:
    spec = browser.specs[name]

    async def execute(**arguments: Any) -> list[Content]:
        answer = await browser.call(name, arguments, owner())
        for folder in browser.folders(owner()):
            if str(folder) not in store().get(_LINKED, []):
                store().set(_LINKED, [*store().get(_LINKED, []), str(folder)])
                link_run(folder)
        if answer.is_refused:
            raise ToolError(answer.text)
        return _content(answer)

    description = f"{spec.description}\n\n{browser.instructions}" if name == "open" else spec.description
    schema = spec.schema
    # Inspect wants a description of each; most names say it all.
    described = {key: {"description": key.replace("_", " "), **each} for key, each in schema["properties"].items()}
    parameters = ToolParams.model_validate({**schema, "properties": described})
    return ToolDef(
        execute, name=f"{PREFIX}{name}", description=description, parameters=parameters, max_output=0
    ).as_tool()


def _content(answer: ToolAnswer) -> list[Content]:
    content: list[Content] = [ContentText(text=answer.text)]
    if answer.picture is not None and answer.picture.data is not None:
        content.append(image_content(answer.picture))
    return content


def owner() -> str:
    """The name of the current sample, which owns its browsers."""
    name = store().get(_OWNER)
    if name is None:
        name = secrets.token_urlsafe(12)
        store().set(_OWNER, name)
    return str(name)


def browsers_of_tools() -> list[BrowserTools]:
    """All browsers that were made into tools."""
    return list(_open)


@hooks(name="vision_agent_browsers", description="Closes the browsers of a sample when it ends.")
class CloseBrowsers(Hooks):
    """Closes what `marked_browser` opened for a sample."""

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Closes the browsers of the sample."""
        name = (data.sample.store or {}).get(_OWNER)
        if name is not None:
            for each in browsers_of_tools():
                await each.close_of(name)
