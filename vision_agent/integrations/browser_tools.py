"""The tools of `vision-agent mcp` for a program in the same process: the same calls, answers and rules, no protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from vision_agent.integrations.mcp.browser_session import MOST_STEPS, PersonQuestion, SessionRules
from vision_agent.integrations.mcp.calls import Calls, ToolAnswer
from vision_agent.integrations.mcp.instructions import instructions
from vision_agent.integrations.mcp.sessions import Sessions
from vision_agent.integrations.mcp.tools import ToolSpec, offered_tools, parse_call
from vision_agent.policy.approval import risks_of
from vision_agent.session.keywords import GivenSettings, Secrets, settings_from, task_from
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Decision, Risky


class BrowserTools:
    """Browser sessions, and the tools that drive them; close it at the end.

    Args:
        settings: `Settings`, or a dict such as `{"runs": "records"}`; None: the environment and the settings files.
        allowed_hosts: the hosts that may be reached. None: all.
        denied_hosts: hosts that may not be reached, even if allowed.
        secrets: values that are typed by their names, each with its origins.
        files: the only files that may be uploaded.
        approve: answers what the settings' `approval` asks about; without it, that is refused.
        most_sessions: how many sessions may be open at a time.
        idle_s: seconds without a call after which a session is closed.
        page: an async Playwright page of yours, which the session works on and leaves open; only one session at a time.
    """

    def __init__(
        self,
        settings: GivenSettings = None,
        *,
        allowed_hosts: Sequence[str] | None = None,
        denied_hosts: Sequence[str] | None = None,
        secrets: Secrets = (),
        files: Sequence[Path | str] = (),
        approve: Callable[[str], Awaitable[bool]] | None = None,
        most_sessions: int = 8,
        idle_s: float = 1800.0,
        page: Page | None = None,
    ) -> None:
        known = settings_from(settings)
        self.settings = known
        """The settings of every session."""
        if "steps" not in known.limits.model_fields_set:
            known = known.model_copy(update={"limits": known.limits.model_copy(update={"steps": MOST_STEPS})})
        given = {"allowed_hosts": allowed_hosts, "denied_hosts": denied_hosts, "secrets": secrets, "files": files}
        task = task_from("Driven by a client", known, None, given)
        rules = SessionRules(
            known, task, most_sessions=1 if page is not None else most_sessions, idle_s=idle_s, page=page
        )
        self._sessions = Sessions(rules)
        self._approve = approve
        self.specs: dict[str, ToolSpec] = offered_tools(uploads=bool(task.files), lends=False)
        """The tools by name."""
        self.instructions = instructions(task)
        """What a model should know before its first call."""
        self._calls = Calls(self._sessions, self.specs)

    async def call(self, name: str, arguments: dict[str, Any], owner: object = None) -> ToolAnswer:
        """The answer to a call. Whatever is wrong with the call becomes a sentence in it.

        `owner`: whoever opens a session owns it, and nobody else can use it; None is anybody.
        """
        return await self._calls.answer(name, arguments, _Program(owner, self._approve))

    def risks(
        self, name: str, arguments: dict[str, Any], approval: ApprovalSettings, owner: object = None
    ) -> tuple[Risky, ...]:
        """What is risky about a call, as the approval settings define it.

        Raises:
            FormatError: the call does not fit the tool, or names a missing target.
            SessionRefused: there is no such session.
        """
        call = parse_call(name, arguments, self.specs)
        session_name = getattr(call.arguments, "session", None)
        if call.form is None or session_name is None:
            return ()
        turn = self._sessions.find(session_name, owner).turn
        if turn is None:
            return ()
        decision = Decision(author="client", actions=(call.action(turn.observation),))
        return risks_of(approval, decision, turn.observation)

    def folders(self, owner: object = None) -> list[Path]:
        """The run folders of an owner's open sessions."""
        return [each.folder for each in self._sessions.open_of(owner) if each.folder is not None]

    async def close_of(self, owner: object) -> None:
        """Closes the sessions of an owner; their records are complete then."""
        for each in self._sessions.open_of(owner):
            await each.close()

    async def close(self) -> None:
        """Closes all sessions; their records are complete then."""
        await self._sessions.close()


class _Program:
    """The caller of one call."""

    answered: tuple[str, str | bool | None] | None = None

    def __init__(self, owner: object, approve: Callable[[str], Awaitable[bool]] | None) -> None:
        self.owner = owner
        self.can_ask = approve is not None
        self._approve = approve

    async def ask(self, question: PersonQuestion) -> tuple[str | bool | None] | None:
        """The answer; a question that is not about an approval has none."""
        if self._approve is None or not question.is_approval:
            return (None,)
        return (await self._approve(question.text) is True,)
