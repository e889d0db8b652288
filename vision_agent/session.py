"""The one place that wires: a URL or a page, a model's name, a folder for the record.

`Agent` is what most people use; `observe` looks once at a page and does nothing else.
"""

from __future__ import annotations

import platform
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent import assets, completion
from vision_agent import settings as settings_module
from vision_agent.agent import Loop, Person
from vision_agent.browser import live, overlay
from vision_agent.browser.gate import Gate, policy_for
from vision_agent.browser.hold import NOT_HELD, held
from vision_agent.browser.lasting import LastingBrowser, lasting
from vision_agent.browser.launch import launched
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.proxy import gated
from vision_agent.browser.still import StillBrowser
from vision_agent.browser.tabs import close_page
from vision_agent.browser.trace import traced
from vision_agent.custom import CustomAction
from vision_agent.cut_off import GoesOn
from vision_agent.errors import BrowserUnavailable, RecordError, UsageError, VisionAgentError
from vision_agent.events import Event, Observed, Resumed, Started
from vision_agent.memory import EmptyMemory, MemoryFolder
from vision_agent.models.replayed import ReplayedModel
from vision_agent.models.scripted import ScriptedModel
from vision_agent.ports import Approver, Browser, Judge, Memory, Model, Redact
from vision_agent.record.read import Stopped, read_beginning, read_cut_off
from vision_agent.record.redact import Redactor, redact_model, with_values
from vision_agent.record.report import write_report
from vision_agent.record.store import DOWNLOADS, SHOTS, RunFolder, new_run_id, shot_name
from vision_agent.settings import BrowserSettings, ModelSettings, Settings
from vision_agent.taken_up import TakenUp
from vision_agent.types import Choice, Decision, Ending, Observation, Provenance, Risky, Run, Task
from vision_agent.vision.contract import Contract, contract_for

_TRACED = ("vision-agent", "playwright", "anthropic", "pillow", "numpy", "opencv-python-headless", "pydantic")


class Agent:
    """One task on one page, with its run folder.

    Args:
        task: what is wanted; a plain string is a goal for the page as it is.
        model: a name such as `anthropic:claude-sonnet-5-5` or `human`, or anything that decides; None takes the
            settings'.
        page: an async Playwright page to work on, used as it is and left open; None launches or connects as the
            settings say.
        settings: None reads flags, environment and file.
        actions: functions of your own that a model may choose too, made with `vision_agent.action`.
        begin: the folder of an earlier run whose steps are taken again first, or `FOLDER:3` for the first three. Where
            a step means nothing here, or more than one thing, the model goes on from there, and is told why.
        goes_on: the folder of a run that was cut off, whose task this is: it goes on there, and nothing that may have
            happened is done again unless the page, or the person, says that it did not.
        memory: what worked before; None takes the folder of the settings, for models that are asked by name.
        around: makes of whoever was to decide the one that is asked, such as a replay that asks only where it must.
        provenance: what the record is to say of how the run came about, beside what is known here.
        on_event: is told everything that is recorded, when it has been recorded and as it was: secrets taken out,
            pictures with their bytes.
        person: answers questions; None when there is nobody.
        approver: has the last word on what the settings' `approval` asks about; a function that answers is wrapped in
            `vision_agent.approval.Answers`. It is shown everything as it is recorded: secrets taken out. None when
            there is nobody: then a run ends where it would have to ask.
    """

    def __init__(
        self,
        task: Task | str,
        *,
        model: str | Model | None = None,
        page: Page | None = None,
        settings: Settings | None = None,
        actions: Sequence[CustomAction] = (),
        begin: Path | str | None = None,
        goes_on: Path | None = None,
        memory: Memory | None = None,
        around: Callable[[Model], Model] | None = None,
        provenance: Provenance | None = None,
        on_event: Callable[[Event], None] | None = None,
        person: Person | None = None,
        approver: Approver | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings or settings_module.load()
        self.task = Task(goal=task, limits=self.settings.limits) if isinstance(task, str) else task
        self.folder: Path | None = None
        self.report: Path | None = None
        self.head = ""
        self._model = model
        self._page = page
        self._custom = actions
        self._begin = begin
        self._goes_on = goes_on
        self._memory = memory
        self._around = around
        self._provenance = provenance or Provenance()
        self._on_event = on_event
        self._person = person
        self._approver = approver
        self._clock = clock
        self._loop: Loop | None = None
        self._redact = Redactor(())
        self._described = "none"
        """What browser there is, for the record."""

    async def run(self) -> Run:
        """The run, as it was recorded in `folder`; `report` is there for a person to open, however it ended.

        Raises:
            UsageError: the task or the settings ask for something that cannot be, or it has run before.
            Unavailable: no browser, or the model could not be asked.
            RecordError: the record cannot be written; nothing was done that is not recorded.
        """
        if self.folder is not None:
            raise UsageError(f"This agent has run already, into {self.folder}", "make an Agent for each run")
        beginning = read_beginning(self._begin) if self._begin is not None else None
        self._redact = redact = Redactor(self.task.secrets)
        now = self._clock()
        if self._goes_on is not None:
            folder = RunFolder.reopen(self._goes_on, redact)
        else:
            folder = RunFolder.create(self.settings.runs, new_run_id(now), redact)
        self.folder = folder.path
        try:
            stopped = read_cut_off(folder.path) if self._goes_on is not None else None
        except BaseException:
            folder.close()  # it stays as it is
            raise
        try:
            async with AsyncExitStack() as stack:
                run = await self._run(stack, folder, redact, now, beginning, stopped)
        except BaseException as error:
            if isinstance(error, VisionAgentError):  # its sentence ends on a terminal or in a log
                error.sentence, error.hint = redact(error.sentence), redact(error.hint)
                error.args = (error.sentence,)
                if not redact.is_empty:  # what it came from may hold an address with a value in it
                    error.__cause__ = error.__context__ = None
            try:
                self._close(folder)
            except RecordError as second:  # what broke the run is what is raised
                error.add_note(f"The report could not be written either: {second}")
            raise
        self._close(folder)
        return run

    @property
    def ending(self) -> Ending | None:
        """How the run ended, as it was recorded: secrets taken out. None before it has."""
        ending = self._loop.record.ending if self._loop is not None else None
        return None if ending is None else Ending.model_validate(redact_model(ending, self._redact))

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Tell this listener everything from now on, instead of the one given at the start."""
        self._on_event = on_event

    def ask(self, person: Person | None, approver: Approver | None) -> None:
        """Ask these, instead of those given at the start; before it runs."""
        self._person, self._approver = person, approver

    def say(self, text: str) -> None:
        """A message to the agent while it runs; it reaches the next decision."""
        if self._loop is None:
            message = {"text": text, "at": self._clock()}
            self.task = Task.model_validate({**dict(self.task), "messages": [*self.task.messages, message]})
        else:
            self._loop.say(text)

    def _tell(self, event: Event) -> None:
        assert self._on_event is not None
        self._on_event(event if self._redact.is_empty else _redacted(event, self._redact))

    def _redacted_for(self, approver: Approver | None) -> Approver | None:
        return _Redacted(approver, self._redact) if approver is not None else None

    def _close(self, folder: RunFolder) -> None:
        self.head = folder.head
        folder.close()
        if self.head:
            self.report = write_report(folder.path)

    async def _run(
        self,
        stack: AsyncExitStack,
        folder: RunFolder,
        redact: Redactor,
        now: datetime,
        beginning: Run | None,
        stopped: Stopped | None,
    ) -> Run:
        model_name = self._model if isinstance(self._model, str) else self.settings.model.name
        browser: Browser
        capabilities: dict[str, Any] = {}
        prepare: Callable[[], Awaitable[None]]
        stood = stopped.stood if stopped else None
        try:
            completion.check_schema(self.task.answer_schema)
            self._check_trace()
            second = self.settings.model.fallback
            model = self._decider(self._model or self.settings.model.name, stack, folder, redact)
            if beginning is not None:
                model = ReplayedModel(beginning.steps, run=beginning.id, then=model)
            fallback = self._decider(second, stack, folder, redact) if second else None
            if self._around is not None:
                model, fallback = self._around(model), fallback and self._around(fallback)
            judge = self._judge_of(stack, folder, redact)
            capabilities = await _looked_up(model, fallback, judge)
            browser = await self._open(stack, model_name, folder.path)
            prepare = self._opens(stood, browser)
        except BaseException as error:  # noqa: BLE001 - the loop records it, Ctrl-C too, and raises it again
            # Nothing to look at, or nobody to ask; the run still has a folder that says so.
            model, fallback, judge, browser, stood = ScriptedModel(()), None, None, StillBrowser(()), None
            prepare = _raises(error)
        provenance = self._provenance.model_copy(
            update={
                "versions": {name: _version(name) for name in _TRACED} | {"python": platform.python_version()},
                "browser": self._described,
                "model": self.decides,
                "prompts": assets.prompt_hashes(),
                "overlay_sha256": overlay.script_sha256(),
                "begun_with": f"{beginning.id}:{len(beginning.steps)}" if beginning is not None else "",
                "settings": settings_module.recordable(self.settings),
                "capabilities": capabilities,
            }
        )
        run = Run(id=folder.path.name, task=self.task, started_at=now, provenance=provenance)
        loop: Callable[..., Loop] = Loop
        if stopped is not None:
            known = stopped.run.task.messages
            task = self.task.model_copy(update={"messages": known})
            run = stopped.run.model_copy(update={"task": task, "ending": None})
            goes_on = GoesOn(
                told=Resumed(provenance=provenance, limits=task.limits, torn_bytes=folder.torn_bytes),
                step=stopped.cut,
                opens=stood if self._page is None else None,
                was_ended=stopped.run.ending is not None,
                unused=stopped.unused,
                said=tuple(message.text for message in self.task.messages if message not in known),
            )
            loop = partial(TakenUp, goes_on=goes_on)
        memory = self._remembering()
        self._loop = loop(
            run,
            browser,
            model,
            folder,
            fallback=fallback,
            judge=judge,
            memory=memory,
            repairs=self.settings.model.repairs,
            person=self._person,
            approver=self._redacted_for(self._approver),
            policy=self.settings.approval,
            on_event=self._tell if self._on_event is not None else None,
            clock=self._clock,
        )
        try:
            return await self._loop.run(prepare)
        finally:
            if isinstance(memory, MemoryFolder) and self.task.exemplar is None:
                _judge(memory, self._loop.record)

    @property
    def decides(self) -> str:
        """Who decides, for the record: the name of a model, `human`, or that of a class."""
        model = self._model if self._model is not None else self.settings.model.name
        return self._provenance.model or (model if isinstance(model, str) else type(model).__name__)

    def _decider(self, named: str | Model, stack: AsyncExitStack, folder: RunFolder, redact: Redactor) -> Model:
        if not isinstance(named, str):
            return named
        from vision_agent.models.choose import model_named

        def picture(observation: Observation) -> str:
            return str(folder.path / SHOTS / shot_name(observation.marked))

        model = model_named(
            named,
            settings=_settings_for(named, self.settings.model),
            redact=redact,
            keep_request=folder.keep_request,
            picture=picture,
            custom=self._custom,
        )
        if (aclose := getattr(model, "aclose", None)) is not None:
            stack.push_async_callback(aclose)
        return model

    def _judge_of(self, stack: AsyncExitStack, folder: RunFolder, redact: Redactor) -> Judge | None:
        named = self._judge_name
        if named is None:
            return None
        from vision_agent.models.choose import judge_named

        settings = _settings_for(named, self.settings.model)
        judge = judge_named(named, settings=settings, redact=redact, keep_request=folder.keep_request)
        if (aclose := getattr(judge, "aclose", None)) is not None:
            stack.push_async_callback(aclose)
        return judge

    @property
    def _judge_name(self) -> str | None:
        named = self.settings.model.judge
        if named != "same":
            return named
        if isinstance(self._model, str | None):
            return self._model or self.settings.model.name
        return type(self._model).__name__

    def _remembering(self) -> Memory:
        """The memory that was given; else the folder of the settings, for models that are asked by name."""
        if "memory" in self.settings.model.ablate:
            return EmptyMemory()
        if self._memory is not None:
            return self._memory
        is_asked = ":" in (self._model or self.settings.model.name) if isinstance(self._model, str | None) else False
        return MemoryFolder(self.settings.memory_folder) if is_asked else EmptyMemory()

    async def _open(self, stack: AsyncExitStack, model_name: str, folder: Path) -> LiveBrowser | LastingBrowser:
        gate = Gate(policy_for(self.task.allowed_hosts, self.task.denied_hosts))
        settings, is_ours = self.settings.browser, self._page is None and self.settings.browser.cdp_url is None
        if is_ours and not gate.policy.is_open:
            settings = await stack.enter_async_context(gated(settings, gate))

        @asynccontextmanager
        async def opened() -> AsyncIterator[LiveBrowser]:
            async with self._page_of(settings) as page, AsyncExitStack() as inner:
                if settings.trace:
                    await inner.enter_async_context(traced(page.context, folder))
                    self._described += "; traced by Playwright, which adds a global to the page"
                if not gate.policy.is_open and not is_ours:
                    await inner.enter_async_context(held(page, gate))
                    self._described += f"; requests to other hosts are held back, except: {'; '.join(NOT_HELD)}"
                    if self._page is None:
                        inner.push_async_callback(close_page, page)  # before it is let go
                yield await inner.enter_async_context(
                    live.on(
                        page,
                        self.settings.observe,
                        self._contract(model_name),
                        gate=gate,
                        secrets=self.task.secrets,
                        redact=self._redact,
                        files=self.task.files,
                        actions=self._custom,
                        events=self.settings.events,
                        downloads=folder / DOWNLOADS,
                        start_url=self.task.start_url,
                        learn=self._redact.learn,
                        clock=self._clock,
                    )
                )

        browser: LiveBrowser | LastingBrowser
        if is_ours:
            browser = await stack.enter_async_context(lasting(opened))
        else:
            browser = await stack.enter_async_context(opened())
        return browser

    def _check_trace(self) -> None:
        """A trace is written past our redaction, and it is the context's: both only where nothing is given away."""
        browser = self.settings.browser
        if not browser.trace:
            return
        if self.task.secrets or browser.http_auth is not None:
            what = f"the secret {self.task.secrets[0].name}" if self.task.secrets else "browser.http_auth"
            raise UsageError(
                f"A trace holds everything that is typed and sent, {what} too", "leave out the trace, or the secret"
            )
        if self._page is not None or browser.cdp_url is not None:
            where = "a page handed over" if self._page is not None else "a browser that is connected to"
            raise UsageError(
                f"A trace is of a whole browser context, and that of {where} belongs to somebody else",
                "let a browser be launched, or begin a trace yourself with context.tracing.start()",
            )

    def _contract(self, model_name: str) -> Contract:
        """Of pictures that whoever takes over or judges reads as they are too: a shrunk one moves every point."""
        edge = self.settings.observe.longest_edge
        contract = contract_for(model_name, edge)
        for other in filter(None, (self.settings.model.fallback, self._judge_name)):
            contract = contract.common(contract_for(other, edge))
        return contract

    @asynccontextmanager
    async def _page_of(self, settings: BrowserSettings) -> AsyncIterator[Page]:
        """The page handed over, else a new one in a browser that is launched or connected to, closed in the end."""
        if self._page is not None:
            if not isinstance(self._page, Page):
                raise UsageError(
                    f"vision_agent works on a page of playwright.async_api, and this is a {type(self._page).__name__} "
                    f"of {type(self._page).__module__}",
                    "use vision_agent.sync_api for a sync page",
                )
            self._described = "a page handed over by its owner"
            yield self._page
            return
        async with launched(settings) as started:
            try:
                page = await started.context.new_page()
            except PlaywrightError as error:
                raise BrowserUnavailable(
                    f"No page could be opened in {started.description}: {error.message.splitlines()[0]}",
                    "start the run again",
                ) from error
            self._described = started.description
            try:
                yield page
            finally:
                await close_page(page)

    def _opens(self, stood: str | None, browser: LiveBrowser | LastingBrowser) -> Callable[[], Awaitable[None]]:
        """Opens the page on which a run stood, else the first one; a page handed over is where it is."""

        async def prepare() -> None:
            if stood is None and self.task.start_url is not None:
                await browser.open(self.task.start_url)
            elif stood is not None and self._page is None:
                await browser.open(with_values(stood, self.task.secrets))

        return prepare


def _settings_for(named: str, settings: ModelSettings) -> ModelSettings:
    """Address and key of the settings go to the provider that they name, and to no other.

    A compatible server has no other address, and is sent no key but the one that stands beside it.
    """
    if named.partition(":")[0] in (settings.name.partition(":")[0], "openai-compatible"):
        return settings
    return settings.model_copy(update={"base_url": None, "api_key": None, "coordinates": None})


async def _looked_up(*asked: Model | Judge | None) -> dict[str, Any]:
    """What those of them that can tell say of themselves, each model once."""
    told: dict[str, Any] = {}
    for each in asked:
        if (look_up := getattr(each, "look_up", None)) is None:
            continue
        name = getattr(each, "name", "")
        if (found := await look_up(told.get(name))) is not None:
            told[name] = found
    return {name: found.model_dump(mode="json") for name, found in told.items()}


def _judge(memory: MemoryFolder, run: Run) -> None:
    """Whether what was recalled helped counts from now on. What was edited away meanwhile has no standing."""
    if run.task.exemplar is None or run.ending is None:
        return
    with suppress(UsageError, RecordError):
        if run.ending.status == "done":
            memory.praise(run.task.exemplar.id)
        elif run.ending.status in ("not_done", "limit"):
            memory.demote(run.task.exemplar.id)


def _redacted(event: Event, redact: Redact) -> Event:
    """The event as the record has it, its pictures with their bytes: in those, fields with a secret are masked."""
    told = type(event).model_validate(redact_model(event, redact))
    match event, told:
        case Observed(observation=seen), Observed():
            pictures = {"clean": seen.clean, "marked": seen.marked}
            return told.model_copy(update={"observation": told.observation.model_copy(update=pictures)})
        case Started(), Started(run=run):
            pairs = zip(run.task.pictures, event.run.task.pictures, strict=True)
            kept = tuple(each.model_copy(update={"shot": given.shot}) for each, given in pairs)
            task = run.task.model_copy(update={"pictures": kept})
            return told.model_copy(update={"run": run.model_copy(update={"task": task})})
    return told


class _Redacted:
    """An approver that is shown what is recorded: what it answers may name a secret, and never holds one."""

    def __init__(self, approver: Approver, redact: Redactor) -> None:
        self._approver = approver
        self._redact = redact

    @property
    def wants_to_be_asked(self) -> bool:
        return self._approver.wants_to_be_asked

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        if self._redact.is_empty:
            return await self._approver.approve(task, observation, decision, risks)
        seen = _redacted(Observed(step=0, observation=observation), self._redact)
        assert isinstance(seen, Observed)
        return await self._approver.approve(
            Task.model_validate(redact_model(task, self._redact)),
            seen.observation,
            Decision.model_validate(redact_model(decision, self._redact)),
            [Risky.model_validate(redact_model(each, self._redact)) for each in risks],
        )

    async def handed_back(self) -> None:
        await self._approver.handed_back()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # used from a checkout that was never installed
        return "not installed"


def _raises(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def prepare() -> None:
        raise error

    return prepare


async def observe(page: Page, settings: Settings | None = None) -> Observation:
    """What a page shows now, with its marks. The page is used as it is and left as it was.

    Raises:
        UsageError: the overlay cannot enter the page.
        BrowserUnavailable: the page or its browser is gone.
    """
    async with watching(page, settings) as browser:
        return await browser.observe()


@asynccontextmanager
async def watching(page: Page, settings: Settings | None = None) -> AsyncIterator[LiveBrowser]:
    """A page to `observe` and `act` on by hand, with numbers that stay from one observation to the next.

    Raises:
        UsageError: the overlay cannot enter the page.
    """
    settings = settings or settings_module.load()
    contract = contract_for(settings.model.name, settings.observe.longest_edge)
    async with live.on(page, settings.observe, contract, events=settings.events) as browser:
        yield browser


async def look_at(url: str, settings: Settings | None = None) -> Observation:
    """What a page shows with its marks, in a browser that is started for it and closed again.

    Raises:
        UsageError: it is no address that can be opened.
        BrowserUnavailable: there is no browser, or the page cannot be reached.
    """
    settings = settings or settings_module.load()
    async with launched(settings.browser) as started:
        page = await started.context.new_page()
        async with watching(page, settings) as browser:
            await browser.open(url)
            return await browser.observe()
