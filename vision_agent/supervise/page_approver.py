"""The supervision page: shows what the run sees and wants to do, and lets a person approve, change or stop it.

It is an `Approver`, answers questions (`ask`) and listens to events (`hear`). It owns the state shown and the pending
answers; `server` transports them. Everything it receives is already redacted as in the record.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vision_agent.describe.action_sentences import ENDED
from vision_agent.errors import UsageError
from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Happened,
    LastLook,
    MessageReceived,
    Observed,
    Proposed,
    Resumed,
    Started,
    Troubled,
    Warned,
)
from vision_agent.observation import Observation, Shot
from vision_agent.policy.approval import must_ask
from vision_agent.settings import ApprovalSettings, SuperviseSettings
from vision_agent.supervise.live_show import LiveShow, ShownFrame
from vision_agent.supervise.messages import (
    SKIP,
    StaleReply,
    SupervisorInput,
    SupervisorOrder,
    SupervisorReply,
    must_name_targets,
)
from vision_agent.supervise.server import serve
from vision_agent.supervise.shown_state import PendingDecision, escaped, observation_state, proposal_state
from vision_agent.supervise.step_line import parse_line
from vision_agent.supervise.webhook import Webhook, WebhookFailed, proposal_message, question_message, webhook_of
from vision_agent.text.escape import cut_text, escaped_line
from vision_agent.types import Choice, Decision, Risky, Task
from vision_agent.web.live_view import LiveView

_MOST_LOGGED = 40
_LONGEST_TOLD = 500
"""Characters of a question that is told where the run was started."""
_WAIT_S = 1.0
_FOLLOWS_LINES = frozenset({"steps", "StepsModel", "replay"})
"""Who decides, or is on record as deciding, where nothing that a person says changes it."""
_ELSEWHERE = "Another window of this page has the browser"


@dataclass
class _ShownQuestion:
    text: str
    answer: asyncio.Future[str | None]


@dataclass
class SupervisionPage:
    """Shows one run, while it goes on, on a web page served on this machine."""

    policy: ApprovalSettings = field(default_factory=ApprovalSettings)
    has_window: bool = True
    """Whether the browser has a window for a takeover."""
    goal: str = ""
    """Goal of the run; the `Started` event sets it."""
    instructions: str = ""
    """How the person wants it done; set with the goal."""
    settings: SuperviseSettings = field(default_factory=SuperviseSettings)
    """Who can reach the page, and who is told about a proposal."""
    records: bool = False
    """Whether a person has the browser from the beginning, and the run ends when they are done."""
    name: str | None = None
    """The only host name that the page answers to on loopback; None: `127.0.0.1` and `localhost`."""
    new_link: Callable[[float], str] = lambda _: ""
    """A link to the page that signs in once, within so many seconds; exists while it is served."""
    tell: Callable[[str], None] = lambda _: None
    """Tells the person who started the run, where they started it."""
    report: Path | None = None
    """The report, once it is written and the page links it."""
    _told_report: asyncio.Event = field(default_factory=asyncio.Event)
    _opened_report: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the page is no longer served."""
    _windows: int = 0
    """How many windows of the page are open."""
    webhook: Webhook | None = field(init=False)
    _unanswered: str = ""
    """Why the last proposal got no answer."""
    _answerer: str = ""
    """Who answered the last proposal, if they gave a name, until the decision that came of it is shown."""
    _live: LiveShow | None = None
    """Exists while the browser of the run is open."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _version: int = 0
    _seen: Observation | None = None
    _step: int = 0
    _asked: PendingDecision | None = None
    _question: _ShownQuestion | None = None
    _count: int = 0
    _is_paused: bool = False
    _is_taken_over: bool = False
    _taker: str = ""
    """Who took the browser over, by the name that they gave."""
    _is_recorded: bool = False
    """Whether the person who is recorded said that they are done."""
    _theirs: asyncio.Event | None = None
    """Exists during a takeover; set when the person hands the browser back."""
    _takes_instructions: bool = True
    """Whether who decides reads what a person says."""
    _waiting: deque[Choice] = field(default_factory=deque)
    """Choices for the next decision: a stop, an instruction."""
    _log: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_LOGGED))
    _ending: dict[str, Any] | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.webhook = webhook_of(self.settings)

    @asynccontextmanager
    async def opened(self, tell_address: Callable[[str], None] | None = None) -> AsyncIterator[str]:
        """Serve the page while the block lasts and yield its address, which one browser can open.

        `tell_address` gets a new one when somebody opens an address that no longer works.

        Raises:
            UsageError: it cannot be served as the settings say.
        """
        async with serve(self, self.settings, tell_address) as address:
            try:
                yield address
            finally:
                for event in (self._closing, self._told_report, self._opened_report):
                    event.set()
                self._show()
                if self._live is not None:
                    await self._live.close()

    # --- the run's side -----------------------------------------------------------------------------------------------

    @property
    def wants_to_be_asked(self) -> bool:
        """Whether the person paused the run, took it over, or has a stop or an instruction waiting."""
        return self._is_paused or self._is_taken_over or bool(self._waiting)

    @property
    def is_over_when_closed(self) -> bool:
        """Whether closing the browser's window ends the run, as done."""
        return self.records

    @property
    def why_unanswered(self) -> str:
        """Why the last proposal got no answer, if that is known."""
        return self._unanswered

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """Show the proposal and return what the person chooses on the page; the caller limits the wait.

        If the policy requires no answer, resuming the run approves it. None if the webhook could not be told and no
        window of the page is open.
        """
        self.goal, self.instructions, self._seen = task.goal, task.instructions, observation
        if self._is_taken_over:
            return Choice(kind="take_over", through="page", name=self._taker)
        if self._waiting:
            return self._waiting.popleft()
        if self.records:
            self._is_taken_over = not self._is_recorded
            return Choice(kind="approve" if self._is_recorded else "take_over", through="page")
        self._count += 1
        is_required = must_ask(self.policy, decision, risks)
        answer: asyncio.Future[Choice | None] = asyncio.get_running_loop().create_future()
        self._unanswered = ""
        self._asked = PendingDecision(self._count, observation, decision, tuple(risks), is_required, answer)
        self._show()
        telling = None
        if is_required and self.webhook is not None:
            telling = self._tell_webhook(answer, proposal_message(task, observation, decision, risks))
        try:
            choice = await answer
            self._answerer = choice.name if choice is not None and is_required else ""
            return choice
        finally:
            if telling is not None:
                telling.cancel()
            self._asked = None
            self._show()

    async def handed_back(self) -> None:
        """Show that the person has the browser, and return when they hand it back; nothing is held down then."""
        self._theirs = asyncio.Event()
        if not self._is_taken_over:
            self._theirs.set()  # they cancelled the takeover
        live = self._live
        watching = asyncio.create_task(live.release_when_gone()) if live is not None else None
        self._show()
        try:
            await self._theirs.wait()
        finally:
            self._theirs, self._is_taken_over, self._is_recorded = None, False, self.records
            if watching is not None:
                watching.cancel()
            if live is not None:
                live.hands = ""
                await live.release()
            self._show()

    def watch(self, view: LiveView) -> None:
        """Show the page as it is now, from the browser of the run; see `vision_agent.ports.Viewer`."""
        self._live = LiveShow(view)
        self._show()

    async def ask(self, question: str) -> str | None:
        """What the person typed on the page; None if they gave no answer or the time ran out."""
        self._question = _ShownQuestion(question, asyncio.get_running_loop().create_future())
        self._show()
        self.tell(f"The run asks you on the supervision page: {escaped_line(cut_text(question, _LONGEST_TOLD))}")
        telling = self._tell_webhook(self._question.answer, question_message(self.goal))
        try:
            async with asyncio.timeout(self.policy.wait_s):
                return await self._question.answer or None
        except TimeoutError:
            return None
        finally:
            if telling is not None:
                telling.cancel()
            self._question = None
            self._show()

    def hear(self, event: Event) -> None:
        """Show an event: a listener for `Agent(on_event=…)`."""
        match event:
            case Started(run=run):
                self.goal, self.instructions = run.task.goal, run.task.instructions
                self._takes_instructions = run.provenance.model not in _FOLLOWS_LINES
            case Resumed(provenance=provenance):
                self._takes_instructions = provenance.model not in _FOLLOWS_LINES
            case Observed(observation=seen):
                self._seen, self._step = seen, event.step
            case LastLook(observation=seen) if seen is not None:
                self._seen = seen
            case Proposed(decision=decision):
                self._takes_instructions = decision.author not in _FOLLOWS_LINES
                return  # `approve` shows it
            case Decided(decision=decision):
                if self._theirs is not None and decision.actions:
                    return  # manual actions show by their outcomes
                self._log_event("decided", decision.next_goal or "(no goal)", self._who(decision))
            case Happened(outcome=outcome):
                self._log_event(outcome.status, outcome.sentence)
            case MessageReceived(message=message):
                self._log_event("said", message.text, "human")
            case Troubled() | Warned():
                self._log_event("trouble", event.sentence)
            case Ended(ending=ending):
                self._ending = {"words": ENDED[ending.status].lower(), "sentence": ending.sentence}
                if self._live is not None:
                    self._spawn(self._live.close())
                    self._live = None
            case _:
                return
        self._show()

    async def show_report(self, report: Path | None, wait_s: float = 15.0) -> None:
        """Link the report of the run that has ended.

        Returns once it was opened, or after `wait_s`; at once if no window of the page is open.
        """
        self.report = report
        self._told_report.set()
        if report is not None and self._windows:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._opened_report.wait()

    async def written_report(self) -> Path | None:
        """The report of the run, once it is written; None if there is none."""
        self._windows += 1
        try:
            await self._told_report.wait()
        finally:
            self._windows -= 1
        return self.report

    async def note_report_opened(self) -> None:
        """Note that the person has opened the report."""
        self._opened_report.set()

    async def report_was_opened(self) -> None:
        """Return once the person has opened the report, or the page is no longer served."""
        await self._opened_report.wait()

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
            asked.answer.set_result(Choice(kind="approve", through="page", name=reply.name))
            return
        if reply.kind == "skip":
            asked.answer.set_result(Choice(kind="instruct", text=SKIP, through="page", name=reply.name))
            return
        actions = (parse_line(reply.line, asked.observation),) if reply.line else reply.actions
        if not actions:
            raise UsageError("The reply names no action", "choose a mark, edit an action or type a step line")
        must_name_targets(actions, asked.observation)
        asked.answer.set_result(Choice(kind="replace", actions=actions, through="page", name=reply.name))

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
                    self._settle(Choice(kind="approve", through="page", name=order.name))
            case "stop":
                self._hand_back()
                if self._question is not None and not self._question.answer.done():
                    self._question.answer.set_result("Stop.")  # the run continues until it reaches the stop
                self._settle(Choice(kind="stop", text=order.text, through="page", name=order.name), even_later=True)
            case "instruct":
                if not self._takes_instructions:
                    raise UsageError(
                        "No model decides, so nobody reads an instruction", "type a step line to carry out instead"
                    )
                if not order.text.strip():
                    raise UsageError("The instruction is empty", "type what the model should know")
                said = Choice(kind="instruct", text=order.text.strip(), through="page", name=order.name)
                self._settle(said, even_later=True)
            case "take_over" | "take_here":
                self._take_over(order)
            case "hand_back":
                if self._is_taken_over and self._is_held_elsewhere(order.window):
                    raise StaleReply(_ELSEWHERE, "hand it back there, or take it here first")
                self._hand_back()
            case "answer":
                if self._question is None or self._question.answer.done():
                    raise StaleReply("No question is pending")
                self._question.answer.set_result(order.text.strip())
        self._show()

    async def next_frame(self, window: str, after: int) -> ShownFrame | None:
        """The newest picture of the live view once there is one after that number; None if there is none yet.

        Raises:
            UsageError: the page cannot be streamed.
        """
        if self._live is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAIT_S):
                    await self._closing.wait()
            return None
        if self.records and self._theirs is not None and not self._live.hands:
            self._live.hands = window  # the first one that shows it
            self._show()
        return await self._live.next_frame(window, after)

    async def act(self, given: SupervisorInput) -> None:
        """Pass what the person does in the live view to the page.

        Raises:
            StaleReply: this window does not have the browser.
            UsageError: what they see is old, or the page did not take the input.
        """
        live = self._live
        if live is None or not self._is_taken_over:
            raise StaleReply("You do not have the browser", "take it over first")
        if self._theirs is None:
            raise StaleReply("The run is finishing its action", "wait until the page says that you have the browser")
        if self._is_held_elsewhere(given.window) or live.hands != given.window:
            raise StaleReply(_ELSEWHERE, "take it here to go on")
        live.must_be_current(given.window, given.frame, given.inputs)
        await live.view.send(given.inputs)

    def _take_over(self, order: SupervisorOrder) -> None:
        live = self._live
        if not self.has_window and live is None:
            raise UsageError("The browser has no window to take over", "start the run with --headed")
        if self._is_taken_over and order.do == "take_over" and self._is_held_elsewhere(order.window):
            raise StaleReply(_ELSEWHERE, "hand it back there, or take it here")
        if live is not None:
            if live.hands not in ("", order.window):
                self._spawn(live.release())
            live.hands = order.window
        if self._question is not None and not self._question.answer.done():
            self._question.answer.set_result("I take over the browser.")  # the run goes on until it hands it over
        self._is_taken_over, self._taker = True, order.name
        self._settle(Choice(kind="take_over", through="page", name=order.name))

    def _is_held_elsewhere(self, window: str) -> bool:
        """Whether another window that still watches has the browser."""
        live = self._live
        return live is not None and live.hands not in ("", window) and live.watches(live.hands)

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
        self._windows += 1
        try:
            while True:
                async with self._changed:
                    await self._changed.wait_for(lambda known=known: self._version != known)  # type: ignore[misc]
                    known = self._version
                yield self.state()
                if self._ending is not None or self._closing.is_set():
                    return
        finally:
            self._windows -= 1

    def state(self) -> dict[str, Any]:
        """Everything the page shows, as JSON values; boxes in pixels of the marked picture."""
        seen, asked = self._seen, self._asked
        shown = {
            "version": self._version,
            "goal": self.goal,
            "instructions": self.instructions,
            "step": self._step,
            "phase": self._phase(),
            "isPaused": self._is_paused,
            "isRecording": self.records,
            "takesInstructions": self._takes_instructions and not self.records,
            "hasWindow": self.has_window,
            "isLive": self._live is not None,
            "hands": self._live.hands if self._live is not None else "",
            "seen": observation_state(seen) if seen is not None else None,
            "asked": proposal_state(asked) if asked is not None else None,
            "question": self._question.text if self._question is not None else None,
            "log": list(self._log),
            "ending": self._ending,
        }
        return {name: escaped(value) for name, value in shown.items()}

    def _tell_webhook(self, answer: asyncio.Future[Any], message: dict[str, Any]) -> asyncio.Task[None] | None:
        """Tells the webhook, if there is one, what waits for an answer, and how to give it."""
        webhook = self.webhook
        if webhook is None:
            return None
        until = datetime.now(UTC) + timedelta(seconds=self.policy.wait_s)
        message |= {"link": self.new_link(self.policy.wait_s), "expires_at": until.isoformat(timespec="seconds")}

        async def tell() -> None:
            try:
                await webhook.send(message)
            except WebhookFailed as error:
                self._log_event("trouble", error.sentence)
                self.tell(error.sentence)
                if not self._windows and not answer.done():
                    self._unanswered = error.sentence
                    answer.set_result(None)
            else:
                self._log_event("told", f"The webhook at {webhook.name} was notified.")
            self._show()

        return self._spawn(tell())

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

    def _who(self, decision: Decision) -> str:
        """Who decided, or who approved it, if they gave a name."""
        name, self._answerer = self._answerer, ""
        if not name:
            return decision.author
        return name if decision.author == "human" else f"approved by {name}"

    def _log_event(self, what: str, text: str, who: str = "") -> None:
        self._log.append({"step": self._step, "what": what, "text": text, "who": who})

    def _show(self) -> None:
        self._version += 1

        async def wake() -> None:
            async with self._changed:
                self._changed.notify_all()

        self._spawn(wake())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
