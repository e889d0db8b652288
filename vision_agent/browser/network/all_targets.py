"""Sends commands to every page, frame and worker of a browser before its scripts run, and to those that run already.

Chromium pauses each new target until every client that asked for it has told it to continue; ours does so after its
commands. Only a session of the whole browser sees popups and workers of every kind in time, and Playwright forwards no
messages of sessions that it did not open. So everything travels through one session to the browser itself, inside
messages that Playwright does forward. Does not know what the commands are for.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

Command = tuple[str, dict[str, Any]]
CommandsFor = Callable[[dict[str, Any]], Sequence[Command] | None]
"""The commands for a target, by Chromium's `TargetInfo`; None leaves it and everything that it starts alone."""

_ANSWER_S = 3.0
_FILTER = [{"type": kind, "exclude": True} for kind in ("browser", "browser_ui", "tab")] + [{}]
_ATTACH: Command = (
    "Target.setAutoAttach",
    {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": _FILTER},
)
_GO_ON: Command = ("Runtime.runIfWaitingForDebugger", {})


@asynccontextmanager
async def every_target(session: CDPSession, commands_for: CommandsFor) -> AsyncIterator[None]:
    """Inside the `with` block, every target of a browser gets its commands before any of its scripts run.

    Targets that are there already have theirs when the block begins, unless they hang. `session` is a session of the
    whole browser; what the commands set ends with it.

    Raises:
        PlaywrightError: the browser is gone, or too old.
        TimeoutError: it does not answer.
    """
    targets = _Targets(session, commands_for)
    try:
        await targets.begin()
        yield
    finally:
        await targets.end()


class _Targets:
    def __init__(self, session: CDPSession, commands_for: CommandsFor) -> None:
        self._session = session
        self._commands_for = commands_for
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._tunnel = ""

    async def begin(self) -> None:
        browser = (await self._session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        self._session.on("Target.receivedMessageFromTarget", self._on_message)
        attached = await self._session.send("Target.attachToTarget", {"targetId": browser, "flatten": False})
        self._tunnel = attached["sessionId"]
        async with asyncio.timeout(_ANSWER_S):
            await self._ask("", _ATTACH)
        # Each one that is there already was attached before that answer came.
        while preparing := [*self._tasks]:
            await asyncio.gather(*preparing, return_exceptions=True)

    async def end(self) -> None:
        with suppress(KeyError, ValueError):
            self._session.remove_listener("Target.receivedMessageFromTarget", self._on_message)
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _on_message(self, event: dict[str, Any]) -> None:
        if event["sessionId"] != self._tunnel:
            return
        message = json.loads(event["message"])
        answer = self._answers.get(message.get("id", 0))
        if answer is not None and not answer.done():
            answer.set_result(None)
        if message.get("method") == "Target.attachedToTarget":
            task = asyncio.ensure_future(self._prepare(message["params"]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _prepare(self, attached: dict[str, Any]) -> None:
        target = attached["sessionId"]
        with suppress(PlaywrightError, TimeoutError):  # it is gone again, or hangs
            async with asyncio.timeout(_ANSWER_S):
                commands = self._commands_for(attached["targetInfo"])
                own = () if commands is None else (*commands, _ATTACH)
                # All at once: a popup without an address waits for nobody.
                await asyncio.gather(*(self._ask(target, each) for each in (*own, _GO_ON)))

    async def _ask(self, target: str, command: Command) -> None:
        """Sends a command and waits for its answer, whatever it is."""
        number, answer = next(self._ids), asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        message: dict[str, Any] = {"id": number, "method": command[0], "params": command[1]}
        if target:
            message["sessionId"] = target
        details = {"sessionId": self._tunnel, "message": json.dumps(message)}
        try:
            await self._session.send("Target.sendMessageToTarget", details)
            await answer
        finally:
            del self._answers[number]
