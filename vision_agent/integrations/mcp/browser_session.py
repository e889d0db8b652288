"""One session: a run in a browser of its own, driven by a client's calls.

Owns calling and closing, the deadline of each wait, and the questions for a person. Knows no protocol.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Page

from vision_agent.actions import Finish, LookAt
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.integrations.mcp.client_model import ClientModel, ClientTurn, LentModel
from vision_agent.integrations.mcp.supervision import SessionSupervision, page_hosts
from vision_agent.memory import EmptyMemory
from vision_agent.models.prompt.templates import as_line
from vision_agent.observation import Observation
from vision_agent.policy.approval import words_of
from vision_agent.ports import Approver, Model
from vision_agent.record.redact import Redactor
from vision_agent.record.redact_events import RedactedModel
from vision_agent.session import Agent
from vision_agent.settings import Settings
from vision_agent.text.urls import shown_address
from vision_agent.types import Choice, Decision, Provenance, Risky, Step, Task

MOST_STEPS = 300
"""Steps of a session, unless somebody sets them: its looks are kept in memory."""
_MOST_LOOKS = 20
"""Looks of a session that are kept to tell what changed since."""
CLOSE_S = 20.0
"""How long closing a session may take: Chromium takes 10 s at most, and the report is written after it."""


@dataclass(frozen=True)
class SessionRules:
    """What holds for every session of a server."""

    settings: Settings
    task: Task
    """Its goal is replaced; hosts, actions, secrets, files and limits are those of every session."""
    model: str | None = None
    """The model that `run` lends a goal to; None: there is no `run`."""
    most_sessions: int = 8
    idle_s: float = 1800.0
    """A session that gets no call for so long is closed."""
    is_supervised: bool = False
    """Whether each session has a supervision page, whose address its first answer gives."""
    page: Page | None = None
    """The page that a session works on and leaves open; None: each has a browser of its own."""
    call_s: float = 90.0
    """How long a call may wait for its outcome; the act goes on, and `look` waits for it again."""
    open_s: float = 120.0

    def __post_init__(self) -> None:
        unbound = next((each.name for each in self.task.secrets if not each.origins), None)
        if unbound is not None:
            raise UsageError(
                f"The secret {unbound} has no origin, and a client chooses the pages",
                f"say where it may be typed: --secret-origin {unbound}=https://shop.example",
            )


@dataclass(frozen=True)
class EndedSession:
    """What is left of a session."""

    name: str
    owner: object
    sentence: str
    """Why it is over, without a full stop."""
    acts: str
    """What became of its acts; see `acts_of`."""
    folder: Path | None
    report: Path | None
    head: str
    """The hash of the last line of its record; empty if it has none."""


class SessionRefused(Exception):
    """A call cannot be done; the message is a sentence for the client."""


@dataclass
class PersonQuestion:
    """Something that a person has to answer before the run goes on."""

    text: str
    is_approval: bool
    wait_s: float
    """How long an answer is waited for."""
    answer: asyncio.Future[str | bool | None]
    """True or False for an approval, text for another question; None: nobody answered."""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))


class BrowserSession:
    """One run and its browser, and the client's view of it."""

    def __init__(
        self,
        name: str,
        rules: SessionRules,
        goal: str,
        *,
        settings: Settings,
        owner: object,
        on_end: Callable[[], None],
    ) -> None:
        self.name = name
        self.owner = owner
        """The connection that opened it; None if connections mean nothing, as in the stateless protocol."""
        self.calls = 0
        """The number of calls so far."""
        self.can_ask = False
        """Whether the client of the current call can ask its person."""
        self.question: PersonQuestion | None = None
        self.told_steps = 0
        """The number of steps whose outcomes the client was told."""
        self.before: Observation | None = None
        """The look that the last decision was about, without pictures."""
        self._looks: OrderedDict[str, Observation] = OrderedDict()
        self._rules = rules
        self._news = asyncio.Event()
        self._lock = asyncio.Lock()
        self._client = ClientModel(rules.idle_s, self._news.set)
        self._lent: LentModel | None = None
        task = rules.task.model_copy(update={"goal": goal or "Driven by a client over MCP", "start_url": None})
        self._supervision: SessionSupervision | None = None
        approver: Approver = _SessionApprover(self)
        if rules.is_supervised:
            approver = self._supervision = SessionSupervision(settings, task.goal, approver, self._news.set)
            task = task.model_copy(update={"denied_hosts": (*task.denied_hosts, *page_hosts(settings))})
        redact = Redactor(task.secrets, task.private_kinds)

        def lend(inner: Model) -> Model:
            self._lent = LentModel(inner, RedactedModel(self._client, redact))
            return self._lent

        self._agent = Agent(
            task,
            model=rules.model or self._client,
            page=rules.page,
            settings=settings,
            memory=EmptyMemory(),
            wrap_model=lend if rules.model else None,
            provenance=Provenance(model="client"),
            person=self._ask,
            approver=approver,
            is_driven=True,
        )
        self._run = asyncio.create_task(self._run_agent(), name=f"session {name}")

        def ended(_: asyncio.Task[object]) -> None:
            self._news.set()
            on_end()

        self._run.add_done_callback(ended)

    async def _run_agent(self) -> None:
        supervision = self._supervision
        if supervision is None:
            await self._agent.run()
            return
        async with supervision.opened():
            self._agent.listen(supervision.page.hear)
            await self._agent.run()
            await supervision.show_report(self._agent.report)

    # --- what a call reads --------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path | None:
        """Its run folder."""
        return self._agent.folder

    def ended(self) -> EndedSession:
        """What is left once its run is over."""
        agent = self._agent
        acts = acts_of(agent.record.steps if agent.record is not None else ())
        return EndedSession(self.name, self.owner, self.ending_sentence(), acts, agent.folder, agent.report, agent.head)

    @property
    def lent_answer(self) -> str:
        """How the goal of the last `run` ended."""
        return self._lent.answer if self._lent is not None else ""

    @property
    def supervised_at(self) -> str:
        """The address of its supervision page; empty without one."""
        return self._supervision.address if self._supervision is not None else ""

    @property
    def is_asked_on_page(self) -> bool:
        """Whether its supervision page waits for a person's answer."""
        return self._supervision is not None and self._supervision.is_asking

    @property
    def turn(self) -> ClientTurn | None:
        """The look that the client may act on; None while an act is under way."""
        return self._client.turn

    def ending_sentence(self) -> str:
        """Why the run is over."""
        if self._run.cancelled():
            return "it was interrupted"
        if (error := self._run.exception()) is not None:
            if isinstance(error, VisionAgentError):
                return str(error).rstrip(".")
            return f"an internal error: {type(error).__name__}"
        return self._agent.ending.sentence.rstrip(".") if self._agent.ending is not None else "it has ended"

    def earlier_look(self, look_id: str) -> Observation | None:
        """The look with this id, if it is one of the last."""
        return self._looks.get(look_id)

    # --- calls --------------------------------------------------------------------------------------------------------

    def hold(self) -> asyncio.Lock:
        """The lock of a call: there is one call at a time.

        Raises:
            SessionRefused: another call is under way.
        """
        if self._lock.locked():
            raise SessionRefused(
                f"Session {self.name} is busy with another call. Wait for its answer; nothing was done for this one."
            )
        return self._lock

    def decide(self, decision: Decision) -> None:
        """Gives the run its next decision."""
        if self._client.turn is not None:
            self.before = self._looks.get(self._client.turn.observation.id)
        self._news.clear()
        self._client.give(decision)

    def lend(self, goal: str, steps: int) -> None:
        """Lends the page to the configured model."""
        assert self._lent is not None
        self._lent.lend(goal, steps)
        # The client's decision is to look; the model decides from then on.
        self.decide(Decision(author="client", next_goal=f"Lend the page to the model: {goal}"))

    async def wait(self, seconds: float, *, or_page: bool = False) -> ClientTurn | PersonQuestion | None:
        """The next turn or question; None if neither comes in time.

        `or_page`: or if the supervision page is waiting for a person.

        Raises:
            SessionRefused: the run has ended.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    if self.question is not None:
                        return self.question
                    if (turn := self._client.turn) is not None:
                        self._keep(turn.observation)
                        return turn
                    if or_page and self.is_asked_on_page:
                        return None
                    if self._run.done():
                        raise SessionRefused(f"Session {self.name} is over: {as_line(self.ending_sentence())[:500]}.")
                    self._news.clear()
                    await self._news.wait()
        return None

    async def end(self) -> None:
        """Waits until the run is over, after a decision that ends it; interrupts it if that takes too long."""
        await asyncio.wait([self._run], timeout=CLOSE_S)
        await self.close()

    async def close(self) -> None:
        """Interrupts the run, also in the middle of an act, and waits until its browser is closed."""
        if not self._run.done():
            self._run.cancel()
            await asyncio.wait([self._run], timeout=CLOSE_S)
        if self._run.done() and not self._run.cancelled():
            self._run.exception()  # seen

    def _keep(self, seen: Observation) -> None:
        """Keeps a look without its pictures."""
        bare = {
            "clean": seen.clean.model_copy(update={"data": None}),
            "marked": seen.marked.model_copy(update={"data": None}),
        }
        self._looks[seen.id] = seen.model_copy(update=bare)
        while len(self._looks) > _MOST_LOOKS:
            self._looks.popitem(last=False)

    # --- questions for a person ---------------------------------------------------------------------------------------

    async def ask_person(self, text: str, *, is_approval: bool) -> str | bool | None:
        """What a person answers through the client; None if the client cannot ask, or nobody answers in time."""
        if not self.can_ask:
            return None
        answer: asyncio.Future[str | bool | None] = asyncio.get_running_loop().create_future()
        wait_s = self._rules.settings.approval.wait_s
        question = self.question = PersonQuestion(text, is_approval, wait_s, answer)
        self._news.set()
        try:
            async with asyncio.timeout(wait_s):
                return await answer
        except TimeoutError:
            return None
        finally:
            if self.question is question:
                self.question = None

    def settle(self, question: PersonQuestion, answer: str | bool | None) -> None:
        """Gives the run the answer to its question, which is then no longer open."""
        self.question = None
        if not question.answer.done():
            question.answer.set_result(answer)

    async def _ask(self, question: str) -> str | None:
        answer = await self.ask_person(question, is_approval=False)
        if isinstance(answer, str) and answer.strip():
            return answer
        return await self._supervision.page.ask(question) if self._supervision is not None else None


def acts_of(steps: Sequence[Step]) -> str:
    """What became of the acts of a session, such as `2 done, 1 refused`; closing it is none."""
    told = [
        outcome.status
        for step in steps
        for action, outcome in zip(step.decision.actions, step.outcomes, strict=False)
        if not isinstance(action, Finish | LookAt)
    ]
    approvals = [step.approval for step in steps if step.approval is not None]
    told += ["refused" for each in approvals if each.choice and each.choice.kind == "instruct"]
    counts = {"done": told.count("done"), "partly done": told.count("partial"), "refused": told.count("refused")}
    return ", ".join(f"{many} {what}" for what, many in counts.items() if many) or "none"


class _SessionApprover:
    """Asks the client's person. Without one nothing is approved."""

    wants_to_be_asked = False

    def __init__(self, session: BrowserSession) -> None:
        self._session = session

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """Approval, a refusal in words, or None if nobody answered."""
        del task
        acts = "; then ".join(describe_action(action, observation) for action in decision.actions)
        why = f"\nWhy you are asked: {words_of(risks)}." if risks else ""
        text = f"Approve this in the browser, on {as_line(shown_address(observation.url))[:200]}?\n{acts}{why}"
        if self._session.supervised_at:
            text += f"\nOr answer at {self._session.supervised_at}"
        answer = await self._session.ask_person(text, is_approval=True)
        if answer is True:
            return Choice(kind="approve")
        if answer is False:
            return Choice(kind="instruct", text="The person said no: do not do this.")
        return None

    async def handed_back(self) -> None:
        """Returns at once: nobody takes over here."""
