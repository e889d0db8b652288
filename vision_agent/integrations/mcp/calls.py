"""Answers tool calls: checks the look that a call refers to, has the action carried out, and composes the answer.

Knows sessions, tools and answers; the protocol only as `Caller`, which can ask the client's person.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vision_agent.actions import Finish, Goto, LookAt, Read
from vision_agent.errors import FormatError, VisionAgentError
from vision_agent.evals.listing_tokens import count_tokens
from vision_agent.integrations.mcp import answers
from vision_agent.integrations.mcp.browser_session import BrowserSession, EndedSession, PersonQuestion, SessionRefused
from vision_agent.integrations.mcp.client_model import ClientTurn
from vision_agent.integrations.mcp.sessions import Sessions
from vision_agent.integrations.mcp.tools import Call, OpenArguments, RunArguments, ToolSpec, parse_call
from vision_agent.models.prompt.templates import as_line
from vision_agent.models.reply import check_target
from vision_agent.observation import Observation, Shot
from vision_agent.settings import Settings
from vision_agent.types import Decision, Step

_ABANDONED_S = 300.0
"""A session is closed if the client gives up a call and sends no other for so long."""
_MOST_STEPS_TOLD = 30
_MOST_FOUND = 20
_LONGEST_LINE = 300


@dataclass(frozen=True)
class ToolAnswer:
    """What a call gives back."""

    text: str
    picture: Shot | None = None
    is_refused: bool = False
    question: PersonQuestion | None = None
    """A person must answer this first; then the client repeats the call with the answer."""


class Caller(Protocol):
    """The client of one call."""

    owner: object
    """The connection, if there is one; None if all calls are alike."""
    can_ask: bool
    """Whether it can ask its person."""
    answered: tuple[str, str | bool | None] | None
    """The id of a question and the answer, if the call is repeated with it."""

    async def ask(self, question: PersonQuestion) -> tuple[str | bool | None] | None:
        """The person's answer, in a tuple; None if the call has to be repeated with the answer."""
        ...


class Calls:
    """Answers the calls of one server."""

    def __init__(self, sessions: Sessions, tools: dict[str, ToolSpec]) -> None:
        self._sessions = sessions
        self._tools = tools

    async def answer(self, name: str, given: dict[str, Any], caller: Caller) -> ToolAnswer:
        """The answer to a call. Whatever is wrong with it becomes a sentence."""
        try:
            call = parse_call(name, given, self._tools)
            match call.spec.name:
                case "open" if call.arguments.session is None:
                    return await self._open(call, caller)
                case "report":
                    return await self._report(call, caller)
                case "close":
                    return await self._close(call, caller)
                case _:
                    return await self._act_alone(call, caller)
        except FormatError as error:
            return ToolAnswer(error.sentence, is_refused=True)
        except SessionRefused as error:
            return ToolAnswer(answers.page_text(str(error)) if "\n" in str(error) else str(error), is_refused=True)
        except VisionAgentError as error:
            return ToolAnswer(str(error), is_refused=True)

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def _open(self, call: Call, caller: Caller) -> ToolAnswer:
        rules, arguments = self._sessions.rules, call.arguments
        if caller.answered is not None:
            session = self._sessions.that_asks(caller.answered[0], caller.owner)
            async with session.hold():
                return await self._act(call, session, caller)
        session = self._sessions.start(arguments.goal, _settings(rules.settings, arguments), caller.owner)
        try:
            async with session.hold():
                session.can_ask = caller.can_ask
                turn = await session.wait(rules.open_s)
                if not isinstance(turn, ClientTurn):
                    raise SessionRefused(f"The browser did not start within {rules.open_s:g} seconds.")
                session.told_steps = len(turn.steps)
                session.decide(_decision(call, turn.observation))
                answer = await self._finish(call, session, caller, is_new=True)
        except BaseException:
            self._sessions.close_soon(session)
            raise
        if answer.is_refused and answer.question is None:
            self._sessions.close_soon(session)
            _, _, what_was_done = answer.text.partition("\n")  # the first line names the session
            kept = f" The record of this is in {session.folder}." if session.folder is not None else ""
            return ToolAnswer(f"{what_was_done}\nNo session was opened.{kept}", is_refused=True)
        return answer

    async def _close(self, call: Call, caller: Caller) -> ToolAnswer:
        name = call.arguments.session
        if (ended := self._sessions.find_ended(name, caller.owner)) is not None:
            return ToolAnswer(_ended_text(ended))
        session = self._sessions.find(name, caller.owner)
        session.calls += 1
        turn = session.turn
        if turn is not None and session.question is None:
            action = call.action(turn.observation)
            assert isinstance(action, Finish)
            session.decide(Decision(author="client", next_goal="Close the session", actions=(action,)))
            await session.end()
        else:
            await session.close()
        return ToolAnswer(_ended_text(session.ended()))

    async def _report(self, call: Call, caller: Caller) -> ToolAnswer:
        name = call.arguments.session
        if (ended := self._sessions.find_ended(name, caller.owner)) is not None:
            return ToolAnswer(_ended_text(ended))
        session = self._sessions.find(name, caller.owner)
        turn = session.turn
        if turn is None:
            raise SessionRefused(f"Session {name} is busy with an act; ask again when it is answered.")
        done = [(step.index, line) for step in turn.steps for line in answers.step_lines(step)]
        lines = [f"step {index} · {line[:_LONGEST_LINE]}" for index, line in done[-_MOST_STEPS_TOLD:]]
        more = f"Only the last {_MOST_STEPS_TOLD} of {len(done)} acts are listed.\n" if len(done) > len(lines) else ""
        if done and not more and len({index for index, _ in done}) < len(turn.steps):
            more = "Steps that are not listed did nothing on the page.\n"
        text = f"session {name}: {len(turn.steps)} steps, recorded in {session.folder}\n{more}"
        return ToolAnswer(text + answers.page_text("\n".join(lines) or "nothing was done yet"))

    # --- acts ---------------------------------------------------------------------------------------------------------

    async def _act_alone(self, call: Call, caller: Caller) -> ToolAnswer:
        """The answer to a call that has the session to itself; an abandoned one closes the session soon."""
        session = self._sessions.find(call.arguments.session, caller.owner)
        try:
            async with session.hold():
                session.calls += 1
                session.can_ask = caller.can_ask
                return await self._act(call, session, caller)
        except asyncio.CancelledError:
            # The act goes on, and the next call is told about it, if there is one.
            self._sessions.close_soon(session, _ABANDONED_S)
            raise

    async def _act(self, call: Call, session: BrowserSession, caller: Caller) -> ToolAnswer:
        if session.question is not None:
            if caller.answered is not None and caller.answered[0] == session.question.id:
                session.settle(session.question, caller.answered[1])
                return await self._finish(call, session, caller)
            if call.spec.name != "look":
                raise SessionRefused(
                    "A person is being asked about an earlier call. `look` withdraws the question; then it is refused."
                )
            session.settle(session.question, None)
            return await self._finish(call, session, caller)
        if caller.answered is not None:
            raise SessionRefused("That question is no longer open; this answer changed nothing. Look again.")
        turn = await session.wait(self._sessions.rules.call_s)
        if not isinstance(turn, ClientTurn):
            return self._unfinished(call, session)
        match call.spec.name:
            case "look":
                session.decide(_look_decision(call, turn.observation))
            case "run":
                assert isinstance(call.arguments, RunArguments)
                _require_current(call, session, turn)
                session.lend(call.arguments.goal, call.arguments.steps)
            case "find" if lines := answers.matching_lines(turn.observation, str(call.fields["text"])):
                return _found(session, turn, lines)
            case _:
                _require_current(call, session, turn)
                session.decide(_decision(call, turn.observation))
        return await self._finish(call, session, caller)

    async def _finish(self, call: Call, session: BrowserSession, caller: Caller, *, is_new: bool = False) -> ToolAnswer:
        """Waits for what comes of the decision, and asks the person if that is necessary.

        `is_new`: nobody was told yet where the supervision page is.
        """
        while True:
            came = await session.wait(self._sessions.rules.call_s, or_page=is_new and not caller.can_ask)
            match came:
                case ClientTurn():
                    return _answer(call, session, came)
                case PersonQuestion():
                    answered = await _first_answer(caller, came)
                    if answered is None:
                        return ToolAnswer(came.text, question=came)
                    session.settle(came, answered[0])
                case None if is_new and session.is_asked_on_page:
                    return ToolAnswer(
                        f"session {session.name}: `open` waits for a person, who can approve it at "
                        f"{session.supervised_at} (in one browser). Show it to them; `look` waits for their answer."
                    )
                case None:
                    return self._unfinished(call, session)

    def _unfinished(self, call: Call, session: BrowserSession) -> ToolAnswer:
        waited = self._sessions.rules.call_s
        return ToolAnswer(
            f"session {session.name}: `{call.spec.name}` is still under way after {waited:g} seconds. "
            "Nothing is lost: `look` waits for it and tells what came of it.",
            is_refused=True,
        )


def _settings(settings: Settings, arguments: OpenArguments) -> Settings:
    """The settings with the pictures that a client asks for."""
    asked = {"picture": arguments.picture_format, "longest_edge": arguments.longest_edge}
    # Twice as small as PNG at the quality that keeps every number legible, and clients limit what they take.
    usual = {} if "picture" in settings.observe.model_fields_set else {"picture": "jpeg"}
    update = {**usual, **{name: value for name, value in asked.items() if value is not None}}
    return settings.model_copy(update={"observe": settings.observe.model_copy(update=update)})


def _decision(call: Call, observation: Observation) -> Decision:
    if call.form is None:  # `tabs` lists them
        return Decision(author="client", next_goal="Look at the tabs")
    action = call.action(observation)
    goal = action.url if isinstance(action, Goto) else action.kind
    return Decision(author="client", next_goal=f"{call.spec.name}: {goal}"[:200], actions=(action,))


def _look_decision(call: Call, observation: Observation) -> Decision:
    """A plain look, or one at a mark of the last look only.

    Raises:
        FormatError: the last look has no such mark.
    """
    scope = getattr(call.arguments, "scope", None)
    if scope is None:
        return Decision(author="client", next_goal="Look")
    check_target(scope, observation, "`look`")
    action = LookAt(target=scope, tile=call.arguments.tile)
    return Decision(author="client", next_goal=f"Look at {scope} only", actions=(action,))


def _require_current(call: Call, session: BrowserSession, turn: ClientTurn) -> None:
    """Refuses a call that refers to another look than the last one.

    Raises:
        SessionRefused: it does; the sentence says what has changed since.
    """
    look_id, now = getattr(call.arguments, "look_id", None), turn.observation
    if look_id is None or look_id == now.id:
        return
    before = session.earlier_look(look_id)
    if before is None:
        raise SessionRefused(
            f"There is no look {as_line(look_id)[:20]!r} of this session any more. "
            f"Nothing was done. The last one is {now.id}; look again."
        )
    changed = answers.changed_lines(before, now, call.arguments.text_tokens)
    more = f"\nLeft out: {changed.left_out}." if changed.left_out else ""
    if changed.lines == answers.NOTHING_CHANGED:
        what_to_do = f"nothing has changed since: call again with look_id {now.id}."
    else:
        what_to_do = f"if the target is still right, call again with look_id {now.id}. Since then:"
    raise _StaleLook(
        f"session {session.name} · look {now.id}\n"
        f"Not done: look {look_id} is not the last one any more; {what_to_do}\n"
        f"{answers.page_text(chr(10).join(changed.lines))}{more}"
    )


class _StaleLook(FormatError):
    """A call refers to a look that is not the last one."""


def _found(session: BrowserSession, turn: ClientTurn, lines: Sequence[str]) -> ToolAnswer:
    more = f"\nLeft out: {len(lines) - _MOST_FOUND} more lines." if len(lines) > _MOST_FOUND else ""
    head = f"session {session.name} · look {turn.observation.id}\nfind: in view"
    return ToolAnswer(f"{head}\n{answers.page_text(chr(10).join(lines[:_MOST_FOUND]))}{more}")


def _answer(call: Call, session: BrowserSession, turn: ClientTurn) -> ToolAnswer:
    """The answer to a call that led to this turn."""
    seen, arguments = turn.observation, call.arguments
    news = turn.steps[session.told_steps :]
    session.told_steps = len(turn.steps)
    kind = _reply_kind(call, news)
    since = session.before
    if call.spec.name == "look" and arguments.look_id is not None:
        since = session.earlier_look(arguments.look_id)
        kind = "changes" if since is not None else "look"
    told = [line for step in news for line in answers.step_lines(step)]
    told, earlier = _latest(told, arguments.text_tokens // 2)
    left_out = [f"{earlier} earlier outcomes, which `report` lists"] if earlier else []
    head = [f"session {session.name} · look {seen.id}"]
    if kind == "look" and arguments.picture:
        head[0] += f" · picture {seen.marked.size.width}×{seen.marked.size.height}"
    head += [_status(call, news)]
    if session.supervised_at and call.spec.name == "open" and arguments.session is None:
        head.append(
            f"A person can supervise this session at {session.supervised_at} (in one browser). Show it to them."
        )
    if call.spec.name == "run":
        told.append(f"the model, after {len(news)} steps: {as_line(session.lent_answer)[:_LONGEST_LINE]}")
    is_listing = call.spec.name == "tabs" and call.form is None
    top = answers.heading(seen, lists_tabs=is_listing) if kind == "look" or is_listing else ""
    used = count_tokens("\n".join([*head, *told, top])) + answers.FRAME_TOKENS
    parts, budget = ["\n".join(told), top], max(0, arguments.text_tokens - used)
    if any(outcome.read for step in news for outcome in step.outcomes):
        read = answers.read_text(news[-1], budget)
        budget -= count_tokens("\n".join(read.lines))
        parts.append("\n".join(read.lines))
        left_out += [read.left_out] if read.left_out else []
    if kind == "look":
        listed = answers.listing_lines(seen, max(0, budget))
        parts.append("\n".join(listed.lines))
        left_out += [listed.left_out] if listed.left_out else []
    elif kind == "changes" and since is not None:
        changed = answers.changed_lines(since, seen, max(0, budget))
        parts.append("\n".join([f"since look {since.id}:", *changed.lines]))
        left_out += [changed.left_out] if changed.left_out else []
    text = "\n".join([*head, answers.page_text(*parts)])
    if left_out:
        text += f"\nLeft out: {'; '.join(left_out)}. A larger `text_tokens` shows more, `find` searches."
    return ToolAnswer(text, seen.marked if kind == "look" and arguments.picture else None, _is_refused(call, news))


async def _first_answer(caller: Caller, question: PersonQuestion) -> tuple[str | bool | None] | None:
    """What the client's person answers, as `Caller.ask`; no answer once somebody else has given one."""
    asking = asyncio.create_task(caller.ask(question))
    try:
        either: list[asyncio.Future[Any]] = [asking, question.answer]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else (None,)
    finally:
        asking.cancel()


def _latest(told: list[str], most_tokens: int) -> tuple[list[str], int]:
    """The last outcomes that fit, one at least, and the number of those left out."""
    kept = told[-_MOST_STEPS_TOLD:]
    while len(kept) > 1 and count_tokens("\n".join(kept)) > most_tokens:
        kept.pop(0)
    return kept, len(told) - len(kept)


def _reply_kind(call: Call, news: Sequence[Step]) -> str:
    """What the client wants back. What reads the page gives the text alone, unless the client says otherwise."""
    has_read = any(outcome.read for step in news for outcome in step.outcomes)
    if (has_read or call.form is Read) and "reply" not in call.arguments.model_fields_set:
        return "outcome"
    kind: str = call.arguments.reply
    return kind


def _status(call: Call, news: Sequence[Step]) -> str:
    """What became of the call, in our own words."""
    outcomes = [outcome for step in news for outcome in step.outcomes]
    if call.form is None and not (call.spec.name == "look" and outcomes):
        return f"{call.spec.name}: done"
    if not outcomes:
        return f"{call.spec.name}: not done"
    return f"{call.spec.name}: {outcomes[-1].status}"


def _is_refused(call: Call, news: Sequence[Step]) -> bool:
    outcomes = [outcome for step in news for outcome in step.outcomes]
    if call.form is None:
        return call.spec.name == "look" and bool(outcomes) and outcomes[-1].status == "refused"
    return not outcomes or outcomes[-1].status == "refused"


def _ended_text(ended: EndedSession) -> str:
    lines = [f"session {ended.name} is over: {as_line(ended.sentence)[:500]}.", f"acts: {ended.acts}"]
    if ended.folder is not None:
        lines.append(f"record: {ended.folder}")
    if ended.report is not None:
        lines.append(f"report: {ended.report}")
    if ended.head and ended.folder is not None:
        lines.append(f"check it: vision-agent verify {shlex.quote(str(ended.folder))} --head {ended.head}")
    return "\n".join(lines)
