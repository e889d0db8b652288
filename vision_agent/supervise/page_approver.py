"""The supervision page: shows what the run sees and wants to do, and lets a person approve, change or stop it.

It is an `Approver`, answers questions (`ask`) and listens to events (`hear`). It owns the state shown and the pending
answers; `server` transports them. Everything it receives is already redacted as in the record.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from vision_agent.action_sentences import describe_action
from vision_agent.actions import Action, Cell, Point, mark_in, targets_of
from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError
from vision_agent.escape import terminal_text
from vision_agent.events import Decided, Ended, Event, Happened, MessageReceived, Observed, Proposed, Started, Troubled
from vision_agent.policy.approval import must_ask
from vision_agent.settings import ApprovalSettings
from vision_agent.supervise.server import serve
from vision_agent.supervise.step_line import parse_line
from vision_agent.types import Box, Choice, Decision, Observation, Risky, Shot, Task
from vision_agent.urls import shown_address

_MOST_LOGGED = 40


class StaleReply(UsageError):
    """The reply answers a proposal or question that is no longer pending."""


class SupervisorReply(FrozenModel):
    """The page's answer to a proposal."""

    proposal: int
    kind: Literal["approve", "replace"]
    actions: tuple[Action, ...] = ()
    line: str = ""
    """A step line, instead of actions."""


class SupervisorOrder(FrozenModel):
    """A command from the page, possible at any time."""

    do: Literal["pause", "resume", "stop", "instruct", "take_over", "hand_back", "answer"]
    text: str = ""


@dataclass
class _PendingDecision:
    """A decision awaiting an answer."""

    number: int
    observation: Observation
    decision: Decision
    risks: tuple[Risky, ...]
    is_required: bool
    """Whether the policy requires an answer; if not, it is pending only because the run is paused."""
    answer: asyncio.Future[Choice]


@dataclass
class _ShownQuestion:
    text: str
    answer: asyncio.Future[str]


@dataclass
class SupervisionPage:
    """Shows one run, while it goes on, on a web page served on this machine."""

    policy: ApprovalSettings = field(default_factory=ApprovalSettings)
    has_window: bool = True
    """Whether the browser has a window for a takeover."""
    goal: str = ""
    """Goal of the run; the `Started` event sets it."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _version: int = 0
    _seen: Observation | None = None
    _step: int = 0
    _asked: _PendingDecision | None = None
    _question: _ShownQuestion | None = None
    _count: int = 0
    _is_paused: bool = False
    _is_taken_over: bool = False
    _theirs: asyncio.Event | None = None
    """Exists during a takeover; set when the person hands the browser back."""
    _waiting: deque[Choice] = field(default_factory=deque)
    """Choices for the next decision: a stop, an instruction."""
    _log: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_LOGGED))
    _ending: dict[str, Any] | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[str]:
        """Serve the page while the block lasts and yield its address, which one browser of this machine can open.

        Raises:
            UsageError: no loopback port is free.
        """
        async with serve(self) as address:
            yield address

    # --- the run's side -----------------------------------------------------------------------------------------------

    @property
    def wants_to_be_asked(self) -> bool:
        """Whether the person paused the run, took it over, or has a stop or an instruction waiting."""
        return self._is_paused or self._is_taken_over or bool(self._waiting)

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """Show the proposal and return what the person chooses on the page; the caller limits the wait.

        If the policy requires no answer, resuming the run approves it.
        """
        self.goal, self._seen = task.goal, observation
        if self._is_taken_over:
            return Choice(kind="take_over", through="page")
        if self._waiting:
            return self._waiting.popleft()
        self._count += 1
        is_required = must_ask(self.policy, decision, risks)
        answer: asyncio.Future[Choice] = asyncio.get_running_loop().create_future()
        self._asked = _PendingDecision(self._count, observation, decision, tuple(risks), is_required, answer)
        self._show()
        try:
            return await answer
        finally:
            self._asked = None
            self._show()

    async def handed_back(self) -> None:
        """Show that the person has the browser, and return when they hand it back."""
        self._theirs = asyncio.Event()
        if not self._is_taken_over:
            self._theirs.set()  # they cancelled the takeover
        self._show()
        try:
            await self._theirs.wait()
        finally:
            self._theirs, self._is_taken_over = None, False
            self._show()

    async def ask(self, question: str) -> str | None:
        """What the person typed on the page; None if they gave no answer or the time ran out."""
        self._question = _ShownQuestion(question, asyncio.get_running_loop().create_future())
        self._show()
        try:
            async with asyncio.timeout(self.policy.wait_s):
                return await self._question.answer or None
        except TimeoutError:
            return None
        finally:
            self._question = None
            self._show()

    def hear(self, event: Event) -> None:
        """Show an event: a listener for `Agent(on_event=…)`."""
        match event:
            case Started(run=run):
                self.goal = run.task.goal
            case Observed(observation=seen):
                self._seen, self._step = seen, event.step
            case Proposed():
                return  # `approve` shows it
            case Decided(decision=decision):
                if self._theirs is not None and decision.actions:
                    return  # manual actions show by their outcomes
                self._log_event("decided", decision.next_goal or "(no goal)", decision.author)
            case Happened(outcome=outcome):
                self._log_event(outcome.status, outcome.sentence)
            case MessageReceived(message=message):
                self._log_event("said", message.text, "human")
            case Troubled():
                self._log_event("trouble", event.sentence)
            case Ended(ending=ending):
                self._ending = {"status": ending.status, "sentence": ending.sentence}
            case _:
                return
        self._show()

    # --- the person's side --------------------------------------------------------------------------------------------

    def reply(self, reply: SupervisorReply) -> None:
        """Accept the answer to the pending proposal.

        Raises:
            StaleReply: that proposal is no longer pending.
            UsageError: the reply names a target that does not exist, or cannot be read.
        """
        asked = self._asked
        if asked is None or asked.number != reply.proposal or asked.answer.done():
            raise StaleReply("That proposal is no longer pending", "look at the current one")
        if reply.kind == "approve":
            asked.answer.set_result(Choice(kind="approve", through="page"))
            return
        actions = (parse_line(reply.line, asked.observation),) if reply.line else reply.actions
        if not actions:
            raise UsageError("The reply names no action", "choose a mark, edit an action or type a line")
        for action in actions:
            _check(action, asked.observation)
        goal = reply.line or (
            "" if _is_same_kind(actions, asked.decision.actions) else describe_action(actions[0], asked.observation)
        )
        asked.answer.set_result(Choice(kind="replace", actions=actions, goal=goal, through="page"))

    def order(self, order: SupervisorOrder) -> None:
        """Pause, resume, stop or instruct the run, take the browser over or hand it back, or answer a question.

        Raises:
            UsageError: there is no question to answer, no text, or no window to take over.
        """
        match order.do:
            case "pause":
                self._is_paused = True
            case "resume":
                self._is_paused = False
                if self._asked is not None and not self._asked.is_required:
                    self._settle(Choice(kind="approve", through="page"))
            case "stop":
                self._hand_back()
                if self._question is not None and not self._question.answer.done():
                    self._question.answer.set_result("Stop.")  # the run continues until it reaches the stop
                self._settle(Choice(kind="stop", text=order.text, through="page"), even_later=True)
            case "instruct":
                if not order.text.strip():
                    raise UsageError("The instruction is empty", "type what the model should know")
                self._settle(Choice(kind="instruct", text=order.text.strip(), through="page"), even_later=True)
            case "take_over":
                if not self.has_window:
                    raise UsageError("The browser has no window to take over", "start the run with --headed")
                self._is_taken_over = True
                self._settle(Choice(kind="take_over", through="page"))
            case "hand_back":
                self._hand_back()
            case "answer":
                if self._question is None or self._question.answer.done():
                    raise StaleReply("No question is pending")
                self._question.answer.set_result(order.text.strip())
        self._show()

    def _hand_back(self) -> None:
        self._is_taken_over = False
        if self._theirs is not None:
            self._theirs.set()

    def _settle(self, choice: Choice, *, even_later: bool = False) -> None:
        """Answer the pending decision; if there is none and `even_later`, keep the choice for the next one."""
        if self._asked is not None and not self._asked.answer.done():
            self._asked.answer.set_result(choice)
        elif even_later:
            self._waiting.append(choice)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def picture(self, sha256: str) -> Shot | None:
        """The picture of the current observation with this hash, if there is one."""
        shots = (self._seen.marked, self._seen.clean) if self._seen is not None else ()
        return next((shot for shot in shots if shot.sha256 == sha256 and shot.data is not None), None)

    async def states(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the state now and after each change, until the run has ended."""
        known = -1
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda known=known: self._version != known)  # type: ignore[misc]
                known = self._version
            yield self.state()
            if self._ending is not None:
                return

    def state(self) -> dict[str, Any]:
        """Everything the page shows, as JSON values; boxes in pixels of the marked picture."""
        seen, asked = self._seen, self._asked
        shown = {
            "version": self._version,
            "goal": self.goal,
            "step": self._step,
            "phase": self._phase(),
            "isPaused": self._is_paused,
            "hasWindow": self.has_window,
            "seen": _seen_state(seen) if seen is not None else None,
            "asked": _asked_state(asked) if asked is not None else None,
            "question": self._question.text if self._question is not None else None,
            "log": list(self._log),
            "ending": self._ending,
        }
        return {name: _escaped(value) for name, value in shown.items()}

    def _phase(self) -> str:
        if self._ending is not None:
            return "ended"
        if self._is_taken_over:
            return "taken_over" if self._theirs is not None else "taking_over"
        if self._question is not None:
            return "question"
        if self._asked is not None:
            return "asked" if self._asked.is_required else "paused"
        return "working"

    def _log_event(self, what: str, text: str, who: str = "") -> None:
        self._log.append({"step": self._step, "what": what, "text": text, "who": who})

    def _show(self) -> None:
        self._version += 1

        async def wake() -> None:
            async with self._changed:
                self._changed.notify_all()

        task = asyncio.get_running_loop().create_task(wake())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _seen_state(seen: Observation) -> dict[str, Any]:
    shown = seen.marked.map.box_to_picture
    boxes = [(mark, shown(mark.box)) for mark in seen.marks]
    return {
        "id": seen.id,
        "url": shown_address(seen.url),
        "title": seen.title,
        "marked": seen.marked.sha256,
        "clean": seen.clean.sha256,
        "size": [seen.marked.size.width, seen.marked.size.height],
        "warnings": list(seen.warnings),
        "marks": [
            {
                "n": mark.number,
                "name": mark.name,
                "tag": mark.tag,
                "box": _edges(box),
                "label": _edges(mark.label.box) if mark.label else None,
            }
            for mark, box in boxes
        ],
    }


def _escaped(value: Any) -> Any:
    """The value with its texts escaped as in the terminal, except actions: a person edits them and sends them back."""
    match value:
        case str():
            return terminal_text(value)
        case list():
            return [_escaped(each) for each in value]
        case dict():
            return {name: each if name == "action" else _escaped(each) for name, each in value.items()}
    return value


def _edges(box: Box) -> list[float]:
    return [box.x, box.y, box.width, box.height]


def _asked_state(asked: _PendingDecision) -> dict[str, Any]:
    decision = asked.decision
    return {
        "number": asked.number,
        "goal": decision.next_goal,
        "author": decision.model or decision.author,
        "isWanted": asked.is_required,
        "actions": [
            {"said": describe_action(action, asked.observation), "action": action.model_dump(mode="json")}
            for action in decision.actions
        ],
        "risks": [risk.model_dump(mode="json") for risk in asked.risks],
        "candidates": [each.model_dump(mode="json") for each in decision.candidates],
    }


def _check(action: Action, seen: Observation) -> None:
    for target in targets_of(action):
        number = mark_in(target)
        if isinstance(target, Point) and not seen.marked.size.contains(target):
            raise UsageError(f"({target.x:g}, {target.y:g}) is outside the picture")
        if number is not None and seen.known_mark(number) is None:
            raise UsageError(f"There is no mark {number} in this picture", "choose one that shows")
        if isinstance(target, Cell) and seen.box_of(target) is None:
            raise UsageError(f"Mark {number} has no row {target.row} column {target.column}")


def _is_same_kind(actions: Sequence[Action], others: Sequence[Action]) -> bool:
    return [action.kind for action in actions] == [action.kind for action in others]
