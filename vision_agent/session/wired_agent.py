"""`Agent`: opens the browser, the models and the run folder for one task, and runs the loop (`vision_agent.agent`)."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from inspect import isroutine
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from vision_agent import assets
from vision_agent import settings as settings_module
from vision_agent.actions import Goto
from vision_agent.agent import Loop
from vision_agent.browser.launch.launch import require_launchable
from vision_agent.browser.launch.saved_session import expired_note
from vision_agent.browser.live import require_openable
from vision_agent.browser.page import overlay
from vision_agent.custom_actions import ActionFunction, actions_from
from vision_agent.errors import RecordError, UsageError, VisionAgentError
from vision_agent.events import Event, Resumed, Started
from vision_agent.journal import Journal
from vision_agent.memory import EmptyMemory, MemoryFolder
from vision_agent.models.offline.steps import StepsModel
from vision_agent.policy import success_checks
from vision_agent.policy.interrupted import ResumePlan
from vision_agent.policy.resumed_run import reopen
from vision_agent.policy.task_limits import check_allowed_actions
from vision_agent.ports import Approver, Memory, Model, Person, Viewer
from vision_agent.progress.notebook_progress import NotebookProgress, is_notebook
from vision_agent.progress.run_log import RunLog
from vision_agent.progress.spans import run_spans
from vision_agent.record.read import InterruptedRun, read_beginning, read_interrupted
from vision_agent.record.redact import Redactor, redact_model
from vision_agent.record.redact_events import RedactedApprover, displayable_run, redact_error, redacted_event
from vision_agent.record.report import write_report
from vision_agent.record.store import RunFolder, new_run_id
from vision_agent.session.deciders import (
    Deciders,
    common_image_limits,
    open_deciders,
    require_known_models,
    require_models,
)
from vision_agent.session.keywords import (
    Checks,
    GivenSettings,
    Output,
    Secrets,
    listener_from,
    model_from,
    named_keywords,
    require_files,
    require_secrets,
    settings_from,
    task_from,
)
from vision_agent.session.opening import BrowserOpener
from vision_agent.types import Ending, Provenance, Run, Task

_TRACED = (
    "vision-agent",
    "playwright",
    "anthropic",
    "pydantic-ai-slim",
    "pillow",
    "numpy",
    "opencv-python-headless",
    "pydantic",
)


class Agent:
    """Runs one task on one page and records it in a run folder.

    Args:
        task: the goal in words; or a `Task`, which has a field for each keyword up to `max_cost` but `output`.
        url: the start page: an address such as `shop.example` or `localhost:8000`, or the path of a file. Without one,
            the run begins on `page` as it is.
        output: the type of the answer, such as a pydantic model; `run.output` is then such an object.
        instructions: how you want it done, beside the goal; the model reads it in every request.
        data: facts that the model may use, by name, such as an address.
        secrets: values that the model uses by name and never sees: `{"password": os.environ["SHOP_PASSWORD"]}`. They
            are typed only on the origin of the start page; a `Secret` as the value names others.
        allowed_hosts: the hosts that may be reached, such as `shop.example` or `*.shop.example`. None: all.
        denied_hosts: hosts that may not be reached, even if allowed.
        expect: what must hold at the end: a text that must show, or `url=*/thanks`, `text=Thank you`, `mark=Log out`,
            `download=invoice*.pdf`.
        files: the files that may be uploaded.
        max_steps: how many steps the run may take.
        max_seconds: how long it may take.
        max_tokens: how many tokens its models may use, cached ones included.
        max_cost: how many US dollars they may cost. Other limits are in `settings` (`limits`).
        model: a name such as `anthropic:claude-sonnet-5-5` or `human`, or an object of a subclass of
            `vision_agent.ports.Model`; None uses the model of the settings.
        steps: step lines such as `click Order`, which are followed without a model.
        page: the async Playwright page to work on, which stays open; None launches or connects to a browser, according
            to the settings.
        settings: `Settings`, or a dict such as `{"browser": {"headless": False}}` over the environment and the settings
            files; None reads those.
        actions: functions that the model may choose too. A plain function counts as risky; `vision_agent.action`
            declares its risks.
        begin: the folder of an earlier run whose steps are repeated first, or `FOLDER:3` for the first three. If a
            step's target is missing or ambiguous, the model takes over and is told why.
        resume: the folder of an interrupted run with this task, which the run continues. An action that may have
            happened is not repeated unless the page or the person says that it did not.
        may_reopen: with `resume`: whether its last address may be opened again without asking a person, even if that
            may repeat an action.
        memory: finds earlier runs that worked; None uses the memory folder of the settings for models given by name.
        wrap_model: wraps the model, as a replay does to ask it only when necessary.
        objects_to_dialog: says as a clause why a question of the browser's own dialogs is dismissed although dialogs
            are accepted, as a replay does for one that the record did not accept; empty if it may be accepted.
        provenance: facts on the origin of the run, added to those that are recorded anyway.
        on_event: called with every event after it is recorded, without secrets. Pictures in it include their bytes.
        progress: whether to show what the run is doing, in a notebook or on stderr; None shows it in a notebook only.
        person: answers questions; None if nobody is there.
        approver: approves what the settings' `approval` asks about, or risky actions if they do not set
            `approval.ask`; `vision_agent.policy.approval.Answers` makes one from a function. It sees everything as
            recorded, without secrets. If None, the run ends when it would have to ask.
        is_driven: the run does what the model decides and nothing by itself, as for a client that drives it from
            outside: it leaves no stall, and what needs a person and finds none is refused instead of ending the run.
        name: the name of the run folder, which no other run may have; None makes one from the time.
        goes_on: the old name of `resume`.
        around: the old name of `wrap_model`.

    Raises:
        UsageError: a keyword or a setting has a value that is not possible; no message quotes a secret.
    """

    @named_keywords
    def __init__(
        self,
        task: Task | str,
        *,
        url: str | Path | None = None,
        output: Any = None,
        instructions: str | None = None,
        data: Mapping[str, str] | None = None,
        secrets: Secrets | None = None,
        allowed_hosts: Sequence[str] | None = None,
        denied_hosts: Sequence[str] | None = None,
        expect: Checks | None = None,
        files: Sequence[Path | str] | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        model: str | Model | None = None,
        steps: str | Sequence[str] | None = None,
        page: Page | None = None,
        settings: GivenSettings = None,
        actions: Sequence[ActionFunction] = (),
        begin: Path | str | None = None,
        resume: Path | None = None,
        may_reopen: bool = False,
        memory: Memory | None = None,
        wrap_model: Callable[[Model], Model] | None = None,
        objects_to_dialog: Callable[[str], str] | None = None,
        provenance: Provenance | None = None,
        on_event: Callable[[Event], None] | None = None,
        progress: bool | None = None,
        person: Person | None = None,
        approver: Approver | None = None,
        is_driven: bool = False,
        name: str | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        goes_on: Path | None = None,
        around: Callable[[Model], Model] | None = None,
    ) -> None:
        if (goes_on and resume) or (around and wrap_model):
            raise UsageError("goes_on is the old name of resume, and around of wrap_model", "give the new one only")
        if goes_on is not None:
            warnings.warn("goes_on is now called resume", DeprecationWarning, stacklevel=3)
        if around is not None:
            warnings.warn("around is now called wrap_model", DeprecationWarning, stacklevel=3)
        self.settings = settings_from(settings)
        if approver is not None and not is_driven:
            self.settings = _with_approval(self.settings)
        self._output = None if output is None else Output(output)
        keywords = {
            "url": url,
            "instructions": instructions,
            "data": data,
            "secrets": secrets,
            "allowed_hosts": allowed_hosts,
            "denied_hosts": denied_hosts,
            "expect": expect,
            "files": files,
            "max_steps": max_steps,
            "max_seconds": max_seconds,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
        }
        self.task = task_from(task, self.settings, self._output, keywords)
        Redactor(self.task.secrets, self.task.private_kinds)  # refuses a secret that cannot be one
        self.folder: Path | None = None
        self.report: Path | None = None
        self.head = ""
        self._model = model_from(model, steps)
        require_known_models(self._model, self.settings)
        self._page = page
        self._custom = actions_from(actions)
        self._begin = begin
        self._resume = resume or goes_on
        if self._resume is None:  # the rest of an interrupted run may need none
            require_secrets(self._model, self.task)
            if isinstance(self._model, StepsModel):
                self._model.check_calls(self._custom)
        self._may_reopen = may_reopen
        self._memory = memory
        self._wrap_model = wrap_model or around
        self._objects_to_dialog = objects_to_dialog
        self._provenance = provenance or Provenance()
        self._on_event = listener_from(on_event)
        self._progress = progress
        self._listeners: list[Callable[[Event], None]] = []
        """Those of our own; they need no picture unless progress is shown."""
        if person is not None and not callable(person):
            raise UsageError(f"person cannot be a {type(person).__name__}", "give an async function that answers")
        self._person = person
        if isroutine(approver):
            raise UsageError(
                f"approver={approver.__name__} is a function", f"give approver=Answers({approver.__name__})"
            )
        if approver is not None and not callable(getattr(approver, "approve", None)):
            raise UsageError(f"approver cannot be a {type(approver).__name__}", "give approver=Answers(…)")
        self._approver = approver
        self._is_driven = is_driven
        self._name = name
        self._clock = clock
        self._journal: Journal | None = None
        self._redact = Redactor(())

    def __repr__(self) -> str:
        start = f", url={self.task.shown(self.task.start_url)!r}" if self.task.start_url else ""
        return f"Agent({self.task.shown(self.task.goal)!r}{start}, model={self.decides!r})"

    async def run(self) -> Run:
        """Runs the task and returns the run as recorded in `folder`; `report` is written however the run ended.

        `run.ok` tells whether the task was done; `run.answer`, `run.output`, `run.reads` and `run.downloads` what came
        of it; `run.cost` and `run.tokens` what it took.

        Raises:
            UsageError: the task or the settings ask for something impossible, or this agent has run before.
            Unavailable: the browser or the model is unavailable.
            RecordError: the record cannot be written; nothing was done without being recorded.
        """
        if self.folder is not None:
            raise UsageError(f"This agent has already run, into {self.folder}", "make an Agent for each run")
        beginning = read_beginning(self._begin) if self._begin is not None else None
        self._redact = Redactor(self.task.secrets, self.task.private_kinds)
        try:
            self._check_ahead(beginning)
        except VisionAgentError as error:
            redact_error(error, self._redact)
            raise
        now = self._clock()
        folder, interrupted = self._open_folder(now)
        self.folder = folder.path
        try:
            async with AsyncExitStack() as stack:
                self._listen_to_run(folder, stack)
                run = await self._run(stack, folder, now, beginning, interrupted)
        except BaseException as error:
            redact_error(error, self._redact)
            if not folder.head and self._resume is None:  # nothing has begun, so there is nothing to keep
                folder.discard()
                self.folder = None
                raise
            try:
                self._close(folder)
            except RecordError as second:  # the error that ended the run is the one to raise
                error.add_note(f"The report could not be written either: {second}")
            raise
        self._close(folder)
        is_answered = self._output is not None and run.ok
        output = self._output.parse(run.answer) if self._output is not None and is_answered else None
        return displayable_run(run, self._redact, folder=folder.path, output=output)

    def _check_ahead(self, beginning: Run | None) -> None:
        """Checks what can be known before a browser starts and a folder is made.

        Raises:
            UsageError: the task or the settings ask for something impossible.
            ModelUnavailable: a key, an address or a library of a model is missing.
        """
        self._require_beginning(beginning)
        check_allowed_actions(self.task, [each.name for each in self._custom])
        require_models(self._model, self.settings)
        require_files(self.task.files)
        if self._page is None:
            require_launchable(self.settings.browser)
        if self.task.start_url and self._resume is None:
            require_openable(self.task.start_url, self.task.allowed_hosts, self.task.denied_hosts)

    def _require_beginning(self, beginning: Run | None) -> None:
        if self._page is not None or self.task.start_url or self._resume is not None or self._is_driven:
            return
        begun = beginning.steps[0].decision.actions if beginning is not None and beginning.steps else ()
        if not isinstance(next(iter((*self.task.actions, *begun)), None), Goto):
            raise UsageError(
                "There is no page to begin on", 'give url="https://…", or page=… with a page of Playwright'
            )

    def _listen_to_run(self, folder: RunFolder, stack: AsyncExitStack) -> None:
        """Adds the listeners of our own: progress, the logger and the spans."""
        if self._progress or (self._progress is None and is_notebook()):
            self._listeners.append(progress := _progress())
            stack.callback(getattr(progress, "stop", lambda: None))
        if RunLog.is_heard():
            self._listeners.append(RunLog(folder.path.name, lambda: folder.head))
        if (spans := stack.enter_context(run_spans(folder.path.name, self.decides, lambda: folder.head))) is not None:
            self._listeners.append(spans)

    @property
    def ending(self) -> Ending | None:
        """How the run ended, as recorded and without secrets; None until it has ended."""
        ending = self._journal.run.ending if self._journal is not None else None
        return None if ending is None else Ending.model_validate(redact_model(ending, self._redact))

    @property
    def record(self) -> Run | None:
        """The run so far, whose texts may hold secrets; None until it has started."""
        return self._journal.run.beside(folder=self.folder) if self._journal is not None else None

    @property
    def reads(self) -> tuple[str, ...]:
        """What the steps read so far, as recorded and without secrets."""
        return tuple(map(self._redact, self._journal.run.reads)) if self._journal is not None else ()

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Replaces the listener given to the constructor."""
        self._on_event = listener_from(on_event)

    def ask(self, person: Person | None, approver: Approver | None) -> None:
        """Replaces the person and the approver given to the constructor; call it before `run`."""
        self._person, self._approver = person, approver

    def say(self, text: str) -> None:
        """Sends the agent a message, which reaches the next decision."""
        if self._journal is None:
            message = {"text": text, "at": self._clock()}
            self.task = Task.model_validate({**dict(self.task), "messages": [*self.task.messages, message]})
        else:
            self._journal.add_message(text)

    @property
    def decides(self) -> str:
        """Who decides, for the record: the name of a model, `human`, or the name of a class."""
        model = self._model if self._model is not None else self.settings.model.name
        return self._provenance.model or (model if isinstance(model, str) else type(model).__name__)

    def _open_folder(self, now: datetime) -> tuple[RunFolder, InterruptedRun | None]:
        """A new run folder; or that of the interrupted run, and that run."""
        if self._resume is None:
            return RunFolder.create(self.settings.runs, self._name or new_run_id(now), self._redact), None
        folder = RunFolder.reopen(self._resume, self._redact)
        try:
            return folder, read_interrupted(folder.path)
        except BaseException:
            folder.close()  # unchanged
            raise

    def _close(self, folder: RunFolder) -> None:
        self.head = folder.head
        folder.close()
        if self.head:
            self.report = write_report(folder.path)

    async def _run(
        self,
        stack: AsyncExitStack,
        folder: RunFolder,
        now: datetime,
        beginning: Run | None,
        interrupted: InterruptedRun | None,
    ) -> Run:
        named = self._model or self.settings.model.name
        deciders: Deciders | None = None
        opener = BrowserOpener(
            self.task,
            self.settings,
            self._page,
            folder=folder.path,
            redact=self._redact,
            image_limits=common_image_limits(named, self.settings),
            custom=self._custom,
            objects_to_dialog=self._objects_to_dialog,
            clock=self._clock,
        )
        try:
            success_checks.check_schema(self.task.answer_schema)
            deciders = await open_deciders(
                named,
                self.settings,
                stack,
                folder=folder,
                redact=self._redact,
                custom=self._custom,
                beginning=beginning,
                wrap_model=self._wrap_model,
            )
            browser = await opener.open(stack)
            approver: object = self._approver
            if isinstance(approver, Viewer):
                approver.watch(browser.live_view())
        except BaseException as error:
            if isinstance(error, UsageError) and interrupted is None:
                raise  # nothing has begun
            facts = deciders.facts if deciders is not None else {}
            provenance = self._provenance_of(opener, facts, beginning)
            return self._end_or_raise(*self._initial_run(folder, now, provenance, interrupted), folder, error)
        stood = interrupted.stood if interrupted else None
        provenance = self._provenance_of(opener, deciders.facts, beginning)
        run, plan = self._initial_run(folder, now, provenance, interrupted, opens=stood if self._page is None else None)
        memory = self._select_memory()
        loop = Loop(
            run,
            browser,
            deciders.model,
            folder,
            fallback=deciders.fallback,
            judge=deciders.judge,
            memory=memory,
            repairs=self.settings.model.repairs,
            person=self._person,
            approver=RedactedApprover(self._approver, self._redact) if self._approver is not None else None,
            policy=self.settings.approval,
            resume=plan,
            is_driven=self._is_driven,
            fault_of_answer=self._output.fault if self._output is not None else lambda _: "",
            on_event=self._notify,
            clock=self._clock,
        )
        self._journal = loop.journal
        opens = opener.start_page_opener(browser, stood)
        note = expired_note(self.settings.browser) if self._page is None else ""

        async def prepare() -> None:
            if note:
                loop.journal.record_warning(note)
            await opens()

        try:
            return await loop.run(prepare)
        finally:
            if isinstance(memory, MemoryFolder) and self.task.exemplar is None:
                memory.learn_from(loop.record)

    def _initial_run(
        self,
        folder: RunFolder,
        now: datetime,
        provenance: Provenance,
        interrupted: InterruptedRun | None,
        opens: str | None = None,
    ) -> tuple[Run, ResumePlan | None]:
        """The run before its first step; or the interrupted run, with the plan to resume it."""
        if interrupted is None:
            return Run(id=folder.path.name, task=self.task, started_at=now, provenance=provenance), None
        known = interrupted.run.task.messages
        task = self.task.model_copy(update={"messages": known})
        plan = ResumePlan(
            event=Resumed(provenance=provenance, limits=task.limits, torn_bytes=folder.torn_bytes),
            step=interrupted.cut,
            opens=opens,
            may_reopen=self._may_reopen,
            was_ended=interrupted.run.ending is not None,
            unused=interrupted.unused,
            messages=tuple(message.text for message in self.task.messages if message not in known),
        )
        return interrupted.run.model_copy(update={"task": task, "ending": None}), plan

    def _end_or_raise(self, run: Run, plan: ResumePlan | None, folder: RunFolder, error: BaseException) -> Run:
        """Records the error that kept the run from starting, and raises it.

        A resumed run that lacks only its ending needs neither browser nor model: it gets that ending and is returned.
        """
        journal = self._journal = Journal(run, folder, self._notify, self._clock)
        with journal.recording(plan.event if plan is not None else Started(run=run)):
            ending = reopen(plan, journal) if plan is not None else None
            if ending is None:
                raise error
        journal.end(ending)
        return journal.run

    def _provenance_of(self, opener: BrowserOpener, facts: dict[str, Any], beginning: Run | None) -> Provenance:
        return self._provenance.model_copy(
            update={
                "versions": {name: _version(name) for name in _TRACED} | {"python": platform.python_version()},
                "browser": opener.description,
                "model": self.decides,
                "prompts": assets.prompt_hashes(),
                "overlay_sha256": overlay.script_sha256(),
                "begun_with": f"{beginning.id}:{len(beginning.steps)}" if beginning is not None else "",
                "settings": settings_module.recordable(self.settings),
                "capabilities": facts,
            }
        )

    def _notify(self, event: Event) -> None:
        listeners = [*([self._on_event] if self._on_event is not None else []), *self._listeners]
        if not listeners:
            return
        heard = event if self._redact.is_empty else redacted_event(event, self._redact)
        for listener in listeners:
            listener(heard)

    def _select_memory(self) -> Memory:
        """The memory given to the constructor; else the memory folder of the settings, for models given by name."""
        if "memory" in self.settings.model.ablate:
            return EmptyMemory()
        if self._memory is not None:
            return self._memory
        is_asked = ":" in (self._model or self.settings.model.name) if isinstance(self._model, str | None) else False
        return MemoryFolder(self.settings.memory_folder) if is_asked else EmptyMemory()


def _with_approval(settings: settings_module.Settings) -> settings_module.Settings:
    """The settings for a run with an approver: it is asked about risky actions, unless they set `approval.ask`."""
    if "ask" in settings.approval.model_fields_set:
        return settings
    return settings.model_copy(update={"approval": settings.approval.model_copy(update={"ask": "risky"})})


def _progress() -> Callable[[Event], None]:
    """Shows progress in a notebook, or else on stderr."""
    if is_notebook():
        return NotebookProgress()
    from vision_agent.progress.terminal_progress import Progress
    from vision_agent.text.console import TerminalConsole

    return Progress(TerminalConsole(stderr=True))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a checkout that was never installed
        return "not installed"
