"""A browser tool for CUBE, a standard for agent benchmarks: the agent sees marked pictures and acts by number.

A web benchmark takes it as its `tool_config` and drives it through CUBE's own `BrowserTool` interface. An agent gets
the tools of `vision-agent mcp`, with the same rules and the same record, for the one page of the task.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

from cube.core import STOP_ACTION, Action, ActionSchema, Content, ImageContent, Observation, StepError, TextContent
from cube.resources.browser_session import BrowserSession
from cube.tool import ToolConfig
from cube.tools.browser import BrowserTool
from PIL import Image
from playwright.async_api import Page
from pydantic import Field

from vision_agent.browser.launch.launch import launch_browser
from vision_agent.errors import BrowserUnavailable
from vision_agent.integrations.browser_tools import BrowserTools
from vision_agent.integrations.mcp.calls import ToolAnswer
from vision_agent.integrations.mcp.tools import OpenArguments, ToolSpec, offered_tools
from vision_agent.session.keywords import settings_from

T = TypeVar("T")

PICTURE = "marked picture"
"""The name of the picture in an observation. Not `screenshot`: some tasks crop that to the size of their own."""
_EVALUATE_S = 60.0
_TASK_TOOLS = ("report", "close")
"""Tools that an agent does not get: the task says when an episode is over."""
_KEPT_FROM_AGENT = OpenArguments.model_fields.keys()
"""Arguments that an agent does not give: they are the same in each call of a task."""


class MarkedBrowserConfig(ToolConfig):
    """Makes the tool; plain values, which CUBE stores and sends to its workers."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """As for `vision_agent.Agent`; those not given come from the environment and the settings files."""
    allowed_hosts: tuple[str, ...] | None = None
    denied_hosts: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    """The only files that may be uploaded."""

    def make(self, container: Any = None) -> MarkedBrowserTool:
        """The tool, whose browser starts with the first address."""
        del container
        return MarkedBrowserTool(self)


class MarkedBrowserTool(BrowserTool):
    """One page of a browser. Each episode has a browser and a run folder of its own; `reset` begins a new one."""

    def __init__(self, config: MarkedBrowserConfig) -> None:
        self.folders: list[Path] = []
        """The run folder of each episode, complete once the episode is over."""
        specs = offered_tools(uploads=bool(config.files), lends=False)
        self._actions = {name: _action_schema(spec) for name, spec in specs.items() if name not in _TASK_TOOLS}
        self._config = config
        self._loop: _LoopThread | None = None
        self._episode: _Episode | None = None

    # --- what an agent calls ------------------------------------------------------------------------------------------

    @property
    def action_set(self) -> list[ActionSchema]:
        """The tools, and CUBE's own `final_step`."""
        return [*self._actions.values(), STOP_ACTION]

    def execute_action(self, action: Action) -> Observation:
        """What came of an action, with the new look. A refusal is an observation with an error, and ends nothing.

        Raises:
            AgentStop: the action is `final_step`.
        """
        if action.name == STOP_ACTION.name:
            self.final_step()
        if action.name not in self._actions:
            raise ValueError(f"There is no action {action.name[:60]!r}; the actions are {', '.join(self._actions)}.")
        if self._episode is None:
            return _observation(ToolAnswer("The task has opened no page yet.", is_refused=True), action.id)
        unknown = sorted(_KEPT_FROM_AGENT & action.arguments.keys())
        if unknown:
            return _observation(
                ToolAnswer(f"`{action.name}` has no argument {unknown[0]!r}.", is_refused=True), action.id
            )
        return _observation(self._run(self._episode.call(action.name, action.arguments)), action.id)

    async def async_execute_action(self, action: Action) -> Observation:
        """The same without blocking the caller's loop."""
        return await asyncio.to_thread(self.execute_action, action)

    # --- what a task calls --------------------------------------------------------------------------------------------

    @property
    def session(self) -> BrowserSession:
        """The browser, which nothing else can connect to."""
        return _Session(self)

    def goto(self, url: str) -> None:
        """Open an address; the first one starts the browser.

        Raises:
            BrowserUnavailable: it cannot be opened, or its host is not allowed.
        """
        if self._loop is None:
            self._loop = _LoopThread()
        if self._episode is None:
            self._episode = _Episode(self._config)
        answer = self._run(self._episode.open(url))
        if (folder := self._episode.folder) is not None and folder not in self.folders:
            self.folders.append(folder)
        if answer.is_refused:
            raise BrowserUnavailable(answer.text, "check the address and the allowed hosts")

    def page_obs(self) -> Observation:
        """A new look: the listing, and the marked picture."""
        return _observation(self._run(self._opened().call("look", {})), None)

    def evaluate_js(self, js: str) -> Any:
        """The value of an expression, or of a function, in the page."""
        return self._run(self._opened().evaluate(js))

    def noop(self) -> None:
        """Does nothing."""

    def reset(self) -> None:
        """End the episode: its record is complete, and the next address starts another browser."""
        episode, self._episode = self._episode, None
        if episode is not None:
            self._run(episode.close())

    def close(self) -> None:
        """End the episode and the thread that the browser is driven from."""
        self.reset()
        if self._loop is not None:
            self._loop.stop()
            self._loop = None

    def _opened(self) -> _Episode:
        if self._episode is None:
            raise BrowserUnavailable("The task has opened no page yet", "call goto() first")
        return self._episode

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._loop is not None
        return self._loop.run(work)


class _Episode:
    """The browser of one episode; used on the tool's own loop only."""

    def __init__(self, config: MarkedBrowserConfig) -> None:
        self.folder: Path | None = None
        self._config = config
        self._stack = AsyncExitStack()
        self._tools: BrowserTools | None = None
        self._page: Page | None = None
        self._named: dict[str, str] = {}
        """The session, and the look that the next action refers to."""

    async def open(self, url: str) -> ToolAnswer:
        if self._tools is None:
            await self._start()
        assert self._tools is not None
        answer = await self.call("open", {"url": url})
        self.folder = next(iter(self._tools.folders()), self.folder)
        return answer

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolAnswer:
        assert self._tools is not None
        # With a `look_id`, `look` answers only what has changed since.
        about = {key: each for key, each in self._named.items() if not (name == "look" and key == "look_id")}
        answer = await self._tools.call(name, {**arguments, **about})
        head = answer.text.split("\n", 1)[0].split(" ")
        # An `open` that is refused leaves no session.
        if head[0] == "session" and head[2:4] == ["·", "look"] and (self._named or not answer.is_refused):
            self._named = {"session": head[1], "look_id": head[4]}
        return answer

    async def evaluate(self, js: str) -> Any:
        assert self._page is not None
        pages = [each for each in self._page.context.pages if not each.is_closed()]
        if not pages:
            raise BrowserUnavailable("The page was closed", "reset the task")
        try:
            async with asyncio.timeout(_EVALUATE_S):
                return await (self._page if self._page in pages else pages[-1]).evaluate(js)
        except TimeoutError:
            raise BrowserUnavailable(
                f"The page did not evaluate the task's script within {_EVALUATE_S:g} s", "reset the task"
            ) from None

    async def close(self) -> None:
        try:
            if self._tools is not None:
                if "session" in self._named:
                    await self._tools.call("close", {"session": self._named["session"]})
                await self._tools.close()
        finally:
            await self._stack.aclose()

    async def _start(self) -> None:
        config = self._config
        settings = settings_from(config.settings)
        started = await self._stack.enter_async_context(launch_browser(settings.browser))
        self._page = await started.context.new_page()
        self._tools = BrowserTools(
            settings,
            allowed_hosts=config.allowed_hosts,
            denied_hosts=config.denied_hosts or None,
            files=config.files,
            page=self._page,
        )


class _Session(BrowserSession):
    """The browser of a tool, as CUBE passes it around."""

    def __init__(self, tool: MarkedBrowserTool) -> None:
        self._tool = tool

    @property
    def cdp_url(self) -> str | None:
        """None: whoever connects could act past the record."""
        return None

    def stop(self) -> None:
        """Close the browser."""
        self._tool.reset()


class _LoopThread:
    """An event loop in a thread of its own: CUBE calls from sync code, and from inside other loops."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vision-agent browser", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _action_schema(spec: ToolSpec) -> ActionSchema:
    schema = spec.schema
    scope = ("scope", "tile")  # of `look`, which has no action
    properties = {
        # CUBE wants a description of each; most names say it all.
        name: {"description": name.replace("_", " "), **each}
        for name, each in schema["properties"].items()
        if name not in _KEPT_FROM_AGENT or name in scope
    }
    required = [name for name in schema.get("required", ()) if name in properties]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ActionSchema(name=spec.name, description=spec.description, parameters=parameters)


def _observation(answer: ToolAnswer, call_id: str | None) -> Observation:
    contents: list[Content] = [TextContent(data=answer.text, tool_call_id=call_id)]
    if answer.picture is not None and answer.picture.data is not None:
        contents.append(ImageContent(data=Image.open(io.BytesIO(answer.picture.data)), name=PICTURE))
    error = None
    if answer.is_refused:
        error = StepError(error_type="Refused", exception_str=answer.text, stack_trace="")
    return Observation(contents=contents, error=error)
