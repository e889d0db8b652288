"""`Agent`, `observe` and `attach` for Playwright's sync API.

The core is async. This module makes an async page from the implementation object behind the sync one, and runs our
coroutines on the event loop that the page's own sync calls use. It does not know how to look, decide or act.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from playwright._impl import _async_base, _sync_base
from playwright._impl._impl_to_api_mapping import ImplToApiMapping
from playwright.async_api import Page as AsyncPage
from playwright.sync_api import Page

from vision_agent import old_names, session
from vision_agent.actions import Action
from vision_agent.custom_actions import ActionFunction
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.events import Event
from vision_agent.observation import Observation
from vision_agent.policy.approval import Answer, Answers
from vision_agent.ports import Model, Person
from vision_agent.session.attaching import SyncAttaching
from vision_agent.session.keywords import Checks, GivenSettings, Secrets, named_keywords
from vision_agent.session.looking import Scope
from vision_agent.settings import Settings
from vision_agent.types import Choice, Decision, Ending, Outcome, Risky, Run, Step, Task

T = TypeVar("T")

_WRAPPER = "_vision_agent_async_instance_"


class SyncAgent:
    """Runs one task on one page and records it in a run folder, in sync code.

    Args:
        task: the goal in words; or a `Task`, which has a field for each keyword up to `max_cost` but `output`.
        url: the start page: an address such as `shop.example` or `localhost:8000`, or the path of a file. Without one,
            the run begins on `page` as it is.
        output: the type of the answer, such as a pydantic model; `run.output` is then such an object.
        instructions: how you want it done, beside the goal; the model reads it in every request.
        data: facts that the model may use, by name, such as an address.
        secrets: values that the model uses by name and never sees: `{"password": os.environ["SHOP_PASSWORD"]}`.
        allowed_hosts: the hosts that may be reached, such as `shop.example` or `*.shop.example`. None: all.
        denied_hosts: hosts that may not be reached, even if allowed.
        expect: what must hold at the end: a text that must show, or `url=*/thanks`, `text=Thank you`, `mark=Log out`,
            `download=invoice*.pdf`.
        files: the files that may be uploaded.
        max_steps: how many steps the run may take.
        max_seconds: how long it may take.
        max_tokens: how many tokens its models may use, cached ones included.
        max_cost: how many US dollars they may cost. Other limits are in `settings` (`limits`).
        model: a name such as `anthropic:claude-sonnet-5-5` or `human`, or a `vision_agent.ports.Model`; None uses the
            model of the settings.
        steps: step lines such as `click Order`, which are followed without a model.
        page: the sync Playwright page to work on, which stays open; None launches or connects to a browser, according
            to the settings.
        settings: `Settings`, or a dict such as `{"browser": {"headless": False}}` over the environment and the settings
            files; None reads those.
        actions: functions that the model may choose too. A plain function counts as risky; `vision_agent.action`
            declares its risks.
        begin: the folder of an earlier run whose steps are repeated first, or `FOLDER:3` for the first three.
        on_event: called with every recorded event; it must not use the page, which is busy.
        progress: whether to show what the run is doing, in a notebook or on stderr; None shows it in a notebook only.
        person: answers questions, in a thread of its own, so it must not use the page either; None if nobody is there.
        approve: answers what the settings' `approval` asks about, or risky actions if they do not set `approval.ask`;
            also in a thread. True approves, False stops the run. None if nobody is there.
        name: the name of the run folder, which no other run may have; None makes one from the time.
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
        on_event: Callable[[Event], None] | None = None,
        progress: bool | None = None,
        person: Callable[[str], str | None] | None = None,
        approve: Callable[[Task, Observation, Decision, Sequence[Risky]], Choice | bool | None] | None = None,
        name: str | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._page = page
        self._agent = session.Agent(
            task,
            url=url,
            output=output,
            instructions=instructions,
            data=data,
            secrets=secrets,
            allowed_hosts=allowed_hosts,
            denied_hosts=denied_hosts,
            expect=expect,
            files=files,
            max_steps=max_steps,
            max_seconds=max_seconds,
            max_tokens=max_tokens,
            max_cost=max_cost,
            model=model,
            steps=steps,
            page=None if page is None else async_page(page),
            settings=settings,
            actions=actions,
            begin=begin,
            on_event=on_event,
            progress=progress,
            person=None if person is None else _in_thread(person),
            approver=None if approve is None else Answers(_answer_in_thread(approve)),
            name=name,
            clock=clock,
        )

    def __repr__(self) -> str:
        return f"sync_api.{self._agent!r}"

    @property
    def task(self) -> Task:
        """The task, with what its keywords said."""
        return self._agent.task

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self._agent.settings

    @property
    def decides(self) -> str:
        """Who decides, for the record: the name of a model, `human`, or the name of a class."""
        return self._agent.decides

    @property
    def folder(self) -> Path | None:
        """The run folder; None until the run has started."""
        return self._agent.folder

    @property
    def report(self) -> Path | None:
        """The HTML report of the run; None until the run has ended."""
        return self._agent.report

    @property
    def head(self) -> str:
        """The head of the record: the hash of its last line, which covers the whole record."""
        return self._agent.head

    @property
    def ending(self) -> Ending | None:
        """How the run ended, as recorded and without secrets; None until it has ended."""
        return self._agent.ending

    @property
    def record(self) -> Run | None:
        """The run so far, whose texts may hold secrets; None until it has started."""
        return self._agent.record

    @property
    def reads(self) -> tuple[str, ...]:
        """What the steps read so far, as recorded and without secrets."""
        return self._agent.reads

    def run(self) -> Run:
        """Runs the task and returns the run as recorded in `folder`; `report` is written however the run ended.

        Raises:
            UsageError: the task or the settings ask for something impossible, or an event loop is already running.
            Unavailable: the browser or the model is unavailable.
            RecordError: the record cannot be written; nothing was done without being recorded.
        """
        if self._page is not None:
            return run_sync(self._page, self._agent.run())
        if _is_loop_running():
            raise UsageError(
                "A run without page= starts its own event loop, but one is already running",
                "in async code use `await vision_agent.Agent(...).run()`; inside `with sync_playwright()` pass "
                "page=browser.new_page(), or start the run outside of it",
            )
        return asyncio.run(self._agent.run())

    def say(self, text: str) -> None:
        """Sends the agent a message, which reaches the next decision."""
        self._agent.say(text)

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Replaces the listener given to the constructor."""
        self._agent.listen(on_event)


Agent = SyncAgent
"""The name to import it by, as Playwright's `Page` is called the same in both of its APIs; `SyncAgent` tells it from
`vision_agent.Agent` in type errors and tracebacks."""


class AttachedPage:
    """Observes and acts on one page and the tabs that it opens. Created by `attach`."""

    def __init__(self, page: Page, browser: session.AttachedBrowser) -> None:
        self._first = page
        self._browser = browser

    def __repr__(self) -> str:
        return f"AttachedPage({self.page.url[:120]!r})"

    @property
    def page(self) -> Page:
        """The active tab."""
        return cast(Page, _sync_base.mapping.from_impl(self._browser.page._impl_obj))

    def open(self, url: str) -> None:
        """Opens an address in the active tab.

        Raises:
            UsageError: the address is invalid or has an unknown scheme.
            BrowserUnavailable: it cannot be reached.
        """
        run_sync(self._first, self._browser.open(url))

    def observe(self, scope: Scope = None, *, tile: int = 1) -> Observation:
        """Observes the active tab; the next `act` refers to the numbers of this observation.

        `scope`: what to look at only: a number, a name, a `Cell` or a `PictureArea`; `tile`: a part of a large surface.

        Raises:
            UsageError: there is no such thing on the page, or several have the name, or it has no such tile.
            BrowserUnavailable: the browser is gone, or the page hangs.
        """
        return run_sync(self._first, self._browser.observe(scope, tile=tile))

    def act(self, action: Action, observation: Observation | None = None) -> Outcome:
        """Carries out one action and returns its outcome.

        Its marks and points refer to `observation`, which must be the latest one; None is the latest one.

        Raises:
            UsageError: it is no action, or nothing was observed yet.
            BrowserUnavailable: the browser is gone.
        """
        return run_sync(self._first, self._browser.act(action, observation))

    def do(self, line: str) -> Outcome:
        """Does what one step line says, such as `click Accept all`, and returns its outcome.

        It observes first, and finds the target as a run does that follows step lines.

        Raises:
            UsageError: the line cannot be read; the message shows lines like it.
            BrowserUnavailable: the browser is gone.
        """
        return run_sync(self._first, self._browser.do(line))


def observe(page: Page, settings: GivenSettings = None, *, scope: Scope = None, tile: int = 1) -> Observation:
    """Observes a page once and returns what it shows, with its marks. The page is left as it was.

    `scope`: the name of what to look at only, such as `"Map"`; `tile`: the part of a large surface.

    Raises:
        UsageError: the overlay cannot be injected into the page, or nothing or several things on it have the name.
        BrowserUnavailable: the page or its browser is gone.
    """
    return run_sync(page, session.observe(async_page(page), settings, scope=scope, tile=tile))


def attach(
    page: Page,
    settings: GivenSettings = None,
    *,
    files: Sequence[Path | str] = (),
    secrets: Secrets = (),
    on_step: Callable[[Step], None] = lambda _: None,
) -> AbstractContextManager[AttachedPage]:
    """Attaches to a page, to observe and act yourself; numbers stay the same between observations.

    Enter it: `with attach(page) as browser:`.

    `settings`: `Settings`, or a dict such as `{"observe": {"ids": "letters"}}`. `files`: the only ones that `Upload`
    may give to the page, which names them by their file name. `secrets`: values that are typed by their names, as in
    `type "<secret:password>" into Password`, only on the origin that the page has now; no picture or listing shows
    them. `on_step` is called with each action that was carried out, and what it was decided on.

    Raises:
        UsageError: the overlay cannot be injected into the page, a file does not exist, or two have one name; or a
            secret has no value, or one that is too short.
    """
    return SyncAttaching(_attached(page, settings, files, secrets, on_step))


@contextmanager
def _attached(
    page: Page,
    settings: GivenSettings,
    files: Sequence[Path | str],
    secrets: Secrets,
    on_step: Callable[[Step], None],
) -> Iterator[AttachedPage]:
    stack = AsyncExitStack()
    entered = stack.enter_async_context(
        session.attach(async_page(page), settings, files=files, secrets=secrets, on_step=on_step)
    )
    browser = run_sync(page, entered)
    try:
        yield AttachedPage(page, browser)
    finally:
        run_sync(page, stack.aclose())


def run_sync(page: Page, work: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine on the event loop of the page's Playwright and returns its result.

    The first Ctrl-C cancels the work, so that it can record its ending, and is raised afterwards; a second one is
    raised at once. `asyncio.run` does the same for its own loop, but this loop is Playwright's, where the interrupt
    would hit whatever code is running, even the writing of a record.

    Raises:
        BrowserUnavailable: the page's Playwright has been stopped.
        UsageError: it is called from what the loop itself calls, such as `on_step`, and so would never return.
    """
    if page._loop.is_closed():
        work.close()
        raise BrowserUnavailable(
            "The page cannot be used: its Playwright has been stopped", "stay inside `with sync_playwright()`"
        )
    if page._dispatcher_fiber.getcurrent() is page._dispatcher_fiber:
        work.close()
        raise UsageError(
            "A call on this page was made from within another one, which would wait for itself",
            "make it after the other has returned",
        )
    running: list[asyncio.Task[Any]] = []
    was_interrupted = False

    async def tracked() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append(task)
        return await work

    def cancel(*_: object) -> None:
        nonlocal was_interrupted
        if was_interrupted or not running:
            raise KeyboardInterrupt
        was_interrupted = True
        page._loop.call_soon_threadsafe(running[0].cancel)

    handles_interrupt = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if handles_interrupt:
        signal.signal(signal.SIGINT, cancel)
    try:
        return cast(T, page._sync(tracked()))
    except asyncio.CancelledError:
        if was_interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        if not running:
            work.close()
        if handles_interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _SeparateWrappers(ImplToApiMapping):
    """Playwright's async mapping, with the async wrappers of a sync Playwright's objects cached under a separate name.

    Each page, frame or request has one implementation object, on which Playwright caches its public wrapper under an
    attribute that the sync and async APIs share; each takes any wrapper found there for its own. On a sync page,
    `async_page.main_frame` would therefore be a sync Frame, and a request that we see first would reach the owner's
    handlers as an async one. Hiding the wrappers while we run would not do: events still reach the owner's handlers,
    which need theirs. Objects of an async Playwright are handled as usual.
    """

    def from_maybe_impl(self, obj: Any, visited: Any = None) -> Any:
        if not getattr(obj, "_dispatcher_fiber", None):  # only objects of a sync Playwright have one
            return super().from_maybe_impl(obj, visited)
        api_class = self._mapping.get(getattr(obj, "_api_impl_class", type(obj)))
        if api_class is None:
            return obj
        wrapper = getattr(obj, _WRAPPER, None)
        if wrapper is None:
            wrapper = api_class(obj)
            setattr(obj, _WRAPPER, wrapper)
        return wrapper


def async_page(page: Page) -> AsyncPage:
    """The async page of a sync one; what it does runs with `run_sync`.

    Raises:
        UsageError: it is no page of Playwright's sync API.
    """
    if not isinstance(page, Page):
        raise UsageError(
            f"vision_agent.sync_api needs a page of playwright.sync_api, but got {_describe_type(page)}",
            "use vision_agent.Agent, observe or attach for an async page",
        )
    # A module-level object of Playwright; its class is replaced on first use and stays replaced.
    _async_base.mapping.__class__ = _SeparateWrappers
    return cast(AsyncPage, _async_base.mapping.from_impl(page._impl_obj))


def _describe_type(page: object) -> str:
    return f"a {type(page).__name__} of {type(page).__module__.removesuffix('._generated')}"


def _in_thread(person: Callable[[str], str | None]) -> Person:
    async def ask(question: str) -> str | None:
        return await asyncio.to_thread(person, question)

    return ask


def _answer_in_thread(
    approve: Callable[[Task, Observation, Decision, Sequence[Risky]], Choice | bool | None],
) -> Answer:
    if not callable(approve):
        raise UsageError(f"approve cannot be a {type(approve).__name__}", "give a function that returns True or False")

    @wraps(approve)
    async def answer(task: Task, seen: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice | bool | None:
        return await asyncio.to_thread(approve, task, seen, decision, risks)

    return answer


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return old_names.renamed(__name__, name)
