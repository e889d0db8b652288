"""The sessions of a server, by their names, and what is left of those that are over."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict

from vision_agent.integrations.mcp.browser_session import (
    CLOSE_S,
    BrowserSession,
    EndedSession,
    SessionRefused,
    SessionRules,
)
from vision_agent.models.prompt.templates import as_line
from vision_agent.settings import Settings

_MOST_ENDED = 50
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""The characters in the names of sessions: none looks like another."""


class Sessions:
    """The sessions of one server, by their names."""

    def __init__(self, rules: SessionRules) -> None:
        self.rules = rules
        self._open: dict[str, BrowserSession] = {}
        self._ended: OrderedDict[str, EndedSession] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def start(self, goal: str, settings: Settings, owner: object) -> BrowserSession:
        """A new session whose browser is starting.

        Raises:
            SessionRefused: too many are open.
        """
        if self._is_closed:
            raise SessionRefused("The server is closing; no session can be opened.")
        if len(self._open) >= self.rules.most_sessions:
            raise SessionRefused(f"{len(self._open)} sessions are open, and no more may be. Close one first.")
        name = "".join(secrets.choice(_LETTERS) for _ in range(10))
        session = BrowserSession(
            name, self.rules, goal, settings=settings, owner=owner, on_end=lambda: self._retire(name)
        )
        self._open[name] = session
        return session

    def find(self, name: str, owner: object) -> BrowserSession:
        """The open session of this name, if this client may use it.

        Raises:
            SessionRefused: there is none, it is over, or another client opened it.
        """
        session = self._open.get(name)
        if session is not None and session.owner in (None, owner):
            return session
        if (ended := self.find_ended(name, owner)) is not None:
            raise SessionRefused(
                f"Session {name} is over: {as_line(ended.sentence)[:500]}. `open` an address to start another."
            )
        raise SessionRefused("There is no such session here. `open` an address without `session` to start one.")

    def find_ended(self, name: str, owner: object) -> EndedSession | None:
        """What is left of a session, if this client may know it."""
        ended = self._ended.get(name)
        return ended if ended is not None and ended.owner in (None, owner) else None

    def that_asks(self, question: str, owner: object) -> BrowserSession:
        """The session that asks a person this question.

        Raises:
            SessionRefused: none does any more.
        """
        for session in self._open.values():
            if session.question is not None and session.question.id == question and session.owner in (None, owner):
                return session
        raise SessionRefused("That question is no longer open; this answer changed nothing. Look again.")

    def open_of(self, owner: object) -> list[BrowserSession]:
        """The open sessions of a client."""
        return [each for each in self._open.values() if each.owner == owner]

    def close_of(self, owner: object) -> None:
        """Starts closing every session that a client opened, when it is gone."""
        for session in self.open_of(owner):
            self.close_soon(session)

    def close_soon(self, session: BrowserSession, after_s: float = 0.0) -> None:
        """Closes a session in the background, unless a call comes for it in `after_s` seconds."""
        calls = session.calls

        async def close() -> None:
            await asyncio.sleep(after_s)
            if session.calls == calls:
                await session.close()

        task = asyncio.create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Closes all sessions; no new one can be opened."""
        self._is_closed = True
        for waiting in self._closing:
            waiting.cancel()
        if pending := [asyncio.create_task(each.close()) for each in self._open.values()]:
            await asyncio.wait(pending, timeout=2 * CLOSE_S)

    def _retire(self, name: str) -> None:
        session = self._open.pop(name, None)
        if session is not None:
            self._ended[name] = session.ended()
            while len(self._ended) > _MOST_ENDED:
                self._ended.popitem(last=False)
