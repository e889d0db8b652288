"""Observes and acts on pages without a task: once, or for as long as the caller stays attached."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from pydantic import BaseModel

from vision_agent.actions import (
    ACTIONS,
    Action,
    Ask,
    Cell,
    Custom,
    Finish,
    Infeasible,
    LookAt,
    PictureArea,
    Point,
    Zoom,
)
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.describe.action_sentences import failed_answer_in
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import StepLine, parse
from vision_agent.models.offline.parse_target import parse_target
from vision_agent.models.offline.resolve_target import (
    AmbiguousError,
    EarlierLook,
    NotFoundError,
    earlier_looks,
    find_target,
)
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation
from vision_agent.record.redact import Redactor
from vision_agent.session.attaching import Attaching, require_async_page
from vision_agent.session.keywords import (
    GivenSettings,
    Secrets,
    require_files,
    secrets_from,
    settings_from,
    start_url_from,
)
from vision_agent.session.turns import Turns
from vision_agent.types import Decision, ManualAction, Outcome, Refusal, Step, Task
from vision_agent.vision.image_limits import image_limits_for

Scope = int | str | Cell | PictureArea | None
"""What a look is at only; None: all of the page."""

_OF_A_RUN = (Ask, Finish, Infeasible)
"""What only a run can do."""

_MOST_EARLIER = 50
"""Looks that are remembered to tell what was called exactly so before."""


class AttachedBrowser:
    """Observes and acts on one page and the tabs that it opens. Created by `attach`.

    Calls that are made at once are carried out one after the other, in their order. After the block of `attach` has
    ended, whatever observes or acts raises `UsageError`.
    """

    def __init__(self, browser: LiveBrowser, on_step: Callable[[Step], None] = lambda _: None) -> None:
        self._live = browser
        self._is_attached = True
        self._latest: Observation | None = None
        self._earlier: deque[EarlierLook] = deque(maxlen=_MOST_EARLIER)
        self._on_step = on_step
        self._steps = 0
        self._turns = Turns()

    def __repr__(self) -> str:
        return f"AttachedBrowser({self.page.url[:120]!r})"

    @property
    def page(self) -> Page:
        """The active tab."""
        return self._live.page

    @property
    def is_hung(self) -> bool:
        """Whether the page did not answer at the last look, whose observation shows nothing of it."""
        return self._live.is_hung

    @property
    def _browser(self) -> LiveBrowser:
        if not self._is_attached:
            raise UsageError(
                "This browser is no longer attached: its `with attach(page)` block has ended",
                "call it inside the block, or attach to the page again",
            )
        return self._live

    def detach(self) -> None:
        """Ends its use: from now on, whatever observes or acts raises `UsageError`."""
        self._is_attached = False

    async def open(self, url: str) -> None:
        """Opens an address in the active tab.

        Raises:
            UsageError: the address is invalid or has an unknown scheme.
            BrowserUnavailable: it cannot be reached.
        """
        async with self._turns.turn():
            await self._browser.open(url)
            self._earlier.clear()

    async def observe(self, scope: Scope = None, *, tile: int = 1) -> Observation:
        """Observes the active tab; the next `act` refers to the numbers of this observation.

        `scope`: what to look at only: the number of a mark, a name as in step lines such as `"Map"`, a `Cell`, or a
        `PictureArea` of the last picture; the picture and the listing then show nothing else. `tile`: the part of a
        surface that is larger than a picture shows, counted from 1.

        Raises:
            UsageError: there is no such thing on the page, or several have the name, or it has no such tile.
            BrowserUnavailable: the browser is gone, or the page could not be observed within the deadlines.
        """
        async with self._turns.turn():
            if scope is not None:
                await self._look_at(scope, tile)
            return await self._observe()

    async def _observe(self) -> Observation:
        self._latest = await self._browser.observe()
        self._earlier.append(EarlierLook.of(self._latest))
        return self._latest

    async def _look_at(self, scope: int | str | Cell | PictureArea, tile: int) -> None:
        # A name is looked for on the page as it is now; a number or an area refers to the last picture.
        if self._latest is None or isinstance(scope, str):
            await self._observe()
        assert self._latest is not None
        target = _scope_target(scope, self._latest) if isinstance(scope, str) else scope
        outcome = await self._browser.act(LookAt(target=target, tile=tile), self._latest)
        if outcome.status != "done":
            raise UsageError(outcome.sentence, "print(observation.listing) shows the numbers and names there are")

    async def act(self, action: Action, observation: Observation | None = None) -> Outcome:
        """Carries out one action and returns its outcome.

        Its marks and points refer to `observation`, which must be the latest one; None is the latest one when it is
        called.

        Raises:
            UsageError: it is no action, or nothing was observed yet.
            BrowserUnavailable: the browser is gone.
        """
        require_action(action)
        if observation is not None and not isinstance(observation, Observation):
            raise UsageError(
                f"act() needs an observation, not a {type(observation).__name__}",
                "seen = await browser.observe() first",
            )
        observation = observation or self._latest
        if observation is None:
            raise UsageError("Nothing has been observed yet, so a number means nothing", "call observe() before act()")
        async with self._turns.turn():
            began = time.monotonic()
            outcome = await self._browser.act(action, observation)
            self._tell(observation, Decision(author="client", actions=(action,)), outcome, began)
            return outcome

    async def do(self, line: str) -> Outcome:
        """Does what one step line says, such as `click Accept all`, and returns its outcome.

        It observes first. The target is found as in a run that follows step lines: by its name, or by its number as in
        `click [7]`, and scrolled to if it is out of view; if nothing has the name or several have it, the outcome is
        refused and names what there is.

        Raises:
            UsageError: the line cannot be read; the message shows lines like it.
            BrowserUnavailable: the browser is gone.
        """
        step_line = _line_from(line)
        async with self._turns.turn():
            return await self._do(step_line)

    async def _do(self, step_line: StepLine) -> Outcome:
        model, task, steps = StepsModel([step_line.given]), Task(goal=step_line.text), list[Step]()
        while True:
            began = time.monotonic()
            seen = await self._observe()
            with earlier_looks(list(self._earlier)[:-1]):
                decision = await model.decide(task, steps, seen)
            action, is_line = decision.actions[0], decision.next_goal == step_line.text
            if not is_line and isinstance(action, Finish):
                return _refused(steps, action, step_line, seen)
            if is_line and isinstance(action, _OF_A_RUN):
                raise UsageError(
                    f"{step_line.text!r} is for runs: there is nobody to tell here", "return from your own code instead"
                )
            outcome = await self._browser.act(action, seen)
            steps.append(self._tell(seen, decision, outcome, began))
            if is_line and outcome.status != "refused":
                return outcome

    def _tell(self, seen: Observation, decision: Decision, outcome: Outcome, began: float) -> Step:
        self._steps += 1
        step = Step(
            index=self._steps,
            observation=seen,
            decision=decision,
            outcomes=(outcome,),
            started_at=seen.taken_at,
            seconds=time.monotonic() - began,
        )
        self._on_step(step)
        return step

    def manual_actions(
        self, handed_back: Callable[[], Awaitable[None]], *, is_over_when_closed: bool = False
    ) -> AsyncGenerator[ManualAction, None]:
        """What a person does in the tabs during a takeover, as actions, each with the last look before it.

        `handed_back` is called once all listeners are in place, and returns when the takeover is over; then the
        listeners are removed.

        Raises:
            BrowserUnavailable: the browser is gone before the takeover starts.
        """
        return self._browser.manual_actions(handed_back, is_over_when_closed=is_over_when_closed)

    async def hide_marks(self) -> None:
        """Removes the marks that are shown to a person on the live page."""
        await self._browser.hide_marks()


def _scope_target(name: str, seen: Observation) -> int | Cell:
    try:
        found = find_target(parse_target(name), seen)
    except (NotFoundError, AmbiguousError) as error:
        raise UsageError(str(error), "print(observation.listing) shows the numbers and names there are") from None
    if isinstance(found, Point):
        raise UsageError(f"{name!r} is a point, which has no size", "give a name, a number, or a PictureArea")
    return found


def require_action(action: Any) -> None:
    """Checks that this is an action.

    Raises:
        UsageError: it is none; the message says what to write.
    """
    if isinstance(action, str):
        raise UsageError(
            f"act() takes an action, not the text {action[:80]!r}",
            f"write do({action[:80]!r}), or an action such as act(Click(target=2))",
        )
    if isinstance(action, int):
        raise UsageError(f"act() takes an action, not the number {action}", f"write act(Click(target={action}))")
    if isinstance(action, type) and issubclass(action, BaseModel):
        raise UsageError(f"act() takes an action, not the class {action.__name__}", f"write {action.__name__}(…)")
    if not isinstance(action, (*ACTIONS, Custom)):
        raise UsageError(
            f"act() takes an action, not a {type(action).__name__}", "import one from vision_agent.actions"
        )


def _line_from(line: Any) -> StepLine:
    if not isinstance(line, str):
        raise UsageError(f"do() takes a step line, not a {type(line).__name__}", 'write do("click Accept all")')
    try:
        lines = parse(line.splitlines())
    except UsageError as error:
        raise UsageError(error.sentence.removeprefix("Line 1, "), error.hint) from None
    if not lines:
        raise UsageError("The step line for do() is empty", 'write do("click Accept all")')
    if len(lines) != 1:
        raise UsageError(f"do() takes one step line, not {len(lines)}", "call it once for each line")
    return lines[0]


def _refused(steps: Sequence[Step], end: Finish, line: StepLine, seen: Observation) -> Outcome:
    """The outcome of a line that was given up: that of its action if there was one, else why there is no target."""
    tried = [step.outcomes[0] for step in steps if step.decision.next_goal == line.text]
    if tried:
        return tried[-1]
    refusal: Refusal = "unknown_mark"
    try:
        line.build(seen)
    except AmbiguousError:
        refusal = "ambiguous"
    except NotFoundError:
        pass
    sentence = end.answer.replace(f"Line 1, {line.text!r},", repr(line.text), 1)
    return Outcome(status="refused", refusal=refusal, sentence=sentence)


async def observe(page: Page, settings: GivenSettings = None, *, scope: Scope = None, tile: int = 1) -> Observation:
    """Observes a page once and returns what it shows, with its marks. The page is left as it was.

    `scope`: the name of what to look at only, such as `"Map"`; see `AttachedBrowser.observe`. A tile of it that is out
    of view is scrolled to.

    Raises:
        UsageError: the overlay cannot be injected into the page, or nothing or several things on it have the name.
        BrowserUnavailable: the page or its browser is gone.
    """
    async with attach(page, settings) as browser:
        return await browser.observe(scope, tile=tile)


def attach(
    page: Page,
    settings: GivenSettings = None,
    *,
    files: Sequence[Path | str] = (),
    secrets: Secrets = (),
    on_step: Callable[[Step], None] = lambda _: None,
) -> AbstractAsyncContextManager[AttachedBrowser]:
    """Attaches to a page, to observe and act yourself; numbers stay the same between observations.

    Enter it: `async with attach(page) as browser:`.

    `settings`: `Settings`, or a dict such as `{"observe": {"ids": "letters"}}`. `files`: the only ones that `Upload`
    may give to the page, which names them by their file name. `secrets`: values that are typed by their names, as in
    `type "<secret:password>" into Password`, only on the origin that the page has now; no picture or listing shows
    them. `on_step` is called with each action that was carried out, and what it was decided on.

    Raises:
        UsageError: it is no page of Playwright's async API, the overlay cannot be injected, a file does not exist, or
            two have one name; or a secret has no value, or one that is too short.
        BrowserUnavailable: the page is closed.
    """
    return Attaching(_attached(page, settings, files, secrets, on_step))


@asynccontextmanager
async def _attached(
    page: Page,
    settings: GivenSettings,
    files: Sequence[Path | str],
    secrets: Secrets,
    on_step: Callable[[Step], None],
) -> AsyncIterator[AttachedBrowser]:
    require_async_page(page)
    offered = require_files([Path(each) for each in files])
    hidden = secrets_from(secrets)
    redact = Redactor(hidden)
    known = settings_from(settings)
    image_limits = image_limits_for(known.model.name, known.observe.longest_edge)
    async with live.attach(
        page, known.observe, image_limits, files=offered, events=known.events, secrets=hidden, redact=redact
    ) as browser:
        attached = AttachedBrowser(browser, on_step)
        try:
            yield attached
        finally:
            attached.detach()


_OR_CORNERS = "or give two corners: --zoom 0,0,320,200"


async def look_at(url: str, settings: GivenSettings = None, *, zoom: Zoom | None = None) -> Observation:
    """Observes the page at an address once, in a browser that is launched for it and closed again.

    With `zoom`, the observation shows only that part of the page, enlarged.

    Raises:
        UsageError: the address cannot be opened, or the page has no such part.
        BrowserUnavailable: there is no browser, or the page cannot be reached.
    """
    known, address = settings_from(settings), start_url_from(url)
    async with launch_browser(known.browser) as started:
        page = await started.context.new_page()
        async with attach(page, known) as browser:
            await browser.open(address)
            seen = await browser.observe()
            if zoom is None:
                return seen
            outcome = await browser.act(zoom)
            if outcome.refusal == "unknown_mark":
                there = f"marks {seen.marks[0].number} to {seen.marks[-1].number}" if seen.marks else "no marks"
                raise UsageError(f"There is no mark {zoom.target}; the page has {there}", _OR_CORNERS)
            if outcome.status != "done":
                raise UsageError(outcome.sentence, "look without a zoom first; its picture has the marks and the size")
            part = await browser.observe()
            # That the page is an error is told at the first look, and belongs to each one.
            answered = tuple(filter(None, [failed_answer_in(seen.warnings)]))
            return part.model_copy(update={"warnings": (*answered, *part.warnings)})
