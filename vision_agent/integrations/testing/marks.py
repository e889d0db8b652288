"""The fixture `marks`: acts on a page by what is written there, as step lines do, and checks what it shows.

Whatever cannot be done, and whatever does not hold, is an `AssertionError` with the sentence that an agent would get.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from playwright.async_api import Page as AsyncPage
from playwright.sync_api import Page

from vision_agent.actions import Wait
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.integrations.testing import accepted_looks
from vision_agent.integrations.testing.evidence import Evidence
from vision_agent.observation import Observation
from vision_agent.policy.success_checks import check_from, fault_of_page
from vision_agent.ports import Redact
from vision_agent.record.redact import Redactor
from vision_agent.session import AttachedBrowser, attach
from vision_agent.session.keywords import secrets_from
from vision_agent.sync_api import async_page, run_sync
from vision_agent.types import Outcome, Secret, Step

T = TypeVar("T")

__tracebackhide__ = True
"""pytest shows the line of the test and the sentence, not how they are connected."""

_SECRET = re.compile(r"<secret:([\w.-]+)>")
_EXPECT_S = 5.0
"""As long as Playwright's own expectations wait."""
_LOOK_EVERY_S = 0.1


class _WatchedPage:
    """One page, attached from its first use until the test ends. Says what is wrong instead of raising it.

    `run` runs what pytest needs between the pieces of a test, on the loop of the page.
    """

    def __init__(self, page: AsyncPage, evidence: Evidence, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self.steps: list[Step] = []
        self.redact: Redact = Redactor(())
        self._page = page
        self._evidence = evidence
        self._run = run
        self._secrets: tuple[Secret, ...] = ()
        self._stack = AsyncExitStack()
        self._attached: AttachedBrowser | None = None
        evidence.pages.append(self)

    async def browser(self) -> AttachedBrowser:
        if self._attached is None:
            entering = attach(self._page, secrets=self._secrets, on_step=self.steps.append)
            self._attached = await self._stack.enter_async_context(entering)
        return self._attached

    async def add_secret(self, name: str, value: Any) -> None:
        secrets = (*self._secrets, *secrets_from({name: value}))
        self.redact = Redactor(secrets)
        self._secrets = secrets
        await self.close()

    async def close(self) -> None:
        """Removes what is attached; the next use attaches again."""
        self._attached = None
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    def detach(self) -> None:
        if self._attached is not None:
            self._run(self.close())

    async def look(self) -> Observation:
        return await (await self.browser()).observe()

    def last_look(self) -> Observation:
        seen: Observation = self._run(self.look())
        return seen

    async def do(self, line: str) -> tuple[Outcome, str]:
        """The outcome of a step line, and what is wrong with it."""
        outcome = await (await self.browser()).do(line)
        if outcome.status == "done":
            return outcome, ""
        known = {each.name for each in self._secrets}
        missing = [name for name in _SECRET.findall(line) if name not in known]
        hint = f' Give it first: marks.secret("{missing[0]}", value)' if missing else ""
        return outcome, f"{self.redact(outcome.sentence)}{hint}"

    async def fault_of(self, what: str, within_s: float) -> str:
        """Why an expectation does not hold within this time; empty if it does."""
        check = check_from(what, "expect()")
        if check.download is not None:
            raise UsageError(
                f"expect({what!r}) cannot be checked: a page of a test keeps no downloads",
                "use page.expect_download() of Playwright around the click",
            )
        if isinstance(within_s, bool) or not isinstance(within_s, int | float) or not 0 < within_s <= 60:
            raise UsageError(f"within_s must be a time in seconds, at most 60, not {within_s!r}")
        browser, began = await self.browser(), time.monotonic()
        while True:
            seen = await browser.observe()
            if check.text is not None:
                outcome = await browser.act(Wait(text=check.text, seconds=within_s), seen)
                return "" if outcome.status == "done" else self.redact(outcome.sentence)
            fault = fault_of_page([check], seen)
            if not fault or time.monotonic() - began > within_s:
                return self.redact(f"{fault}, after {within_s:g} s") if fault else ""
            await asyncio.sleep(_LOOK_EVERY_S)

    async def difference(self, name: str, tolerance: float) -> str:
        """How the page differs from the accepted look; empty if it does not."""
        seen = await (await self.browser()).observe()
        fault = await asyncio.to_thread(accepted_looks.compare, seen, name, tolerance, self._evidence, self.redact)
        return self.redact(fault)


class Marks:
    """Acts on a page of Playwright's sync API by what is written there. Created by the fixture `marks`."""

    def __init__(self, page: Page, evidence: Evidence) -> None:
        self.page = page
        self._evidence = evidence
        self._watched = _WatchedPage(async_page(page), evidence, self._run)

    def __repr__(self) -> str:
        return f"Marks({self._watched.redact(self.page.url)[:120]!r})"

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return run_sync(self.page, work)
        except VisionAgentError as error:
            raise error.with_traceback(None) from None

    def on(self, page: Page) -> Marks:
        """The marks of another page, such as a popup."""
        require_page(page, "marks.on(page)")
        return Marks(page, self._evidence)

    def do(self, line: str) -> Outcome:
        """Does what one step line says, such as `hover Menu`.

        Raises:
            AssertionError: it could not be done, and nothing else was done instead.
            UsageError: the line cannot be read.
        """
        outcome, fault = self._run(self._watched.do(line))
        _require_no(fault)
        return outcome

    def click(self, what: str) -> Outcome:
        """Clicks what has this name: `Accept all`, `Delete in row Ann`, `[7]`."""
        return self.do(_line("click", what))

    def type(self, text: str, into: str) -> Outcome:
        """Types a text into a field."""
        return self.do(_line("type", text, "into", into))

    def select(self, option: str, field: str) -> Outcome:
        """Selects an option of a list."""
        return self.do(_line("select", option, "in", field))

    def check(self, what: str) -> Outcome:
        """Ticks a checkbox, or chooses a radio button."""
        return self.do(_line("check", what))

    def uncheck(self, what: str) -> Outcome:
        """Removes the tick of a checkbox."""
        return self.do(_line("uncheck", what))

    def press(self, keys: str) -> Outcome:
        """Presses keys: `Enter`, `Control+a`, `ArrowRight 5 times in Slider`."""
        return self.do(_line("press", keys))

    def look(self) -> Observation:
        """Looks at the page: its marks, its listing, and both pictures."""
        return self._run(self._watched.look())

    def expect(self, what: str, within_s: float = _EXPECT_S) -> None:
        """Waits until a text is visible, or until `url=*/thanks` or `mark=Log out` holds.

        Raises:
            AssertionError: it does not hold within this time.
            UsageError: it does not say what to expect.
        """
        fault = self._run(self._watched.fault_of(what, within_s))
        _require_no(fault)

    def matches(self, name: str, tolerance: float = 0.0) -> None:
        """Compares the page with the accepted look of this name: its marks and their states, title, address, pixels.

        With `--marks-accept` the page becomes the accepted look. `tolerance` is the share of pixels that may differ.

        Raises:
            AssertionError: it differs, or no look was accepted yet.
            UsageError: the name or the tolerance is none.
        """
        fault = self._run(self._watched.difference(name, tolerance))
        _require_no(fault)

    def secret(self, name: str, value: str | Secret) -> None:
        """Lets `<secret:name>` be typed on the origin that the page has now; nothing that is kept shows the value."""
        self._run(self._watched.add_secret(name, value))


class AsyncMarks:
    """Acts on a page of Playwright's async API by what is written there. Created by the fixture `marks`.

    The same as `Marks`, awaited.
    """

    def __init__(self, page: AsyncPage, evidence: Evidence) -> None:
        self.page = page
        self._evidence = evidence
        self._watched = _WatchedPage(page, evidence, self._run)

    def __repr__(self) -> str:
        return f"AsyncMarks({self._watched.redact(self.page.url)[:120]!r})"

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs on the loop of the page, which stands still between the pieces of a test."""
        loop = self.page._loop
        if loop.is_closed() or loop.is_running():
            work.close()
            raise RuntimeError("the event loop of the page cannot be used now")
        done: T = loop.run_until_complete(work)
        return done

    def on(self, page: AsyncPage) -> AsyncMarks:
        """The marks of another page, such as a popup."""
        require_page(page, "marks.on(page)")
        return AsyncMarks(page, self._evidence)

    async def do(self, line: str) -> Outcome:
        """Does what one step line says, such as `hover Menu`.

        Raises:
            AssertionError: it could not be done, and nothing else was done instead.
            UsageError: the line cannot be read.
        """
        outcome, fault = await _plainly(self._watched.do(line))
        _require_no(fault)
        return outcome

    async def click(self, what: str) -> Outcome:
        """Clicks what has this name: `Accept all`, `Delete in row Ann`, `[7]`."""
        return await self.do(_line("click", what))

    async def type(self, text: str, into: str) -> Outcome:
        """Types a text into a field."""
        return await self.do(_line("type", text, "into", into))

    async def select(self, option: str, field: str) -> Outcome:
        """Selects an option of a list."""
        return await self.do(_line("select", option, "in", field))

    async def check(self, what: str) -> Outcome:
        """Ticks a checkbox, or chooses a radio button."""
        return await self.do(_line("check", what))

    async def uncheck(self, what: str) -> Outcome:
        """Removes the tick of a checkbox."""
        return await self.do(_line("uncheck", what))

    async def press(self, keys: str) -> Outcome:
        """Presses keys: `Enter`, `Control+a`, `ArrowRight 5 times in Slider`."""
        return await self.do(_line("press", keys))

    async def look(self) -> Observation:
        """Looks at the page: its marks, its listing, and both pictures."""
        return await _plainly(self._watched.look())

    async def expect(self, what: str, within_s: float = _EXPECT_S) -> None:
        """Waits until a text is visible, or until `url=*/thanks` or `mark=Log out` holds.

        Raises:
            AssertionError: it does not hold within this time.
            UsageError: it does not say what to expect.
        """
        fault = await _plainly(self._watched.fault_of(what, within_s))
        _require_no(fault)

    async def matches(self, name: str, tolerance: float = 0.0) -> None:
        """Compares the page with the accepted look of this name: its marks and their states, title, address, pixels.

        With `--marks-accept` the page becomes the accepted look. `tolerance` is the share of pixels that may differ.

        Raises:
            AssertionError: it differs, or no look was accepted yet.
            UsageError: the name or the tolerance is none.
        """
        fault = await _plainly(self._watched.difference(name, tolerance))
        _require_no(fault)

    async def secret(self, name: str, value: str | Secret) -> None:
        """Lets `<secret:name>` be typed on the origin that the page has now; nothing that is kept shows the value."""
        await _plainly(self._watched.add_secret(name, value))


def marks_for(page: Any, evidence: Evidence) -> Marks | AsyncMarks:
    """The marks of a page of either API.

    Raises:
        UsageError: it is no page.
    """
    require_page(page, "the fixture marks")
    return Marks(page, evidence) if isinstance(page, Page) else AsyncMarks(page, evidence)


def require_page(page: Any, where: str) -> None:
    """Checks that this is a page.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(page, Page | AsyncPage):
        raise UsageError(
            f"{where} needs a page of Playwright, not a {type(page).__name__}",
            "the fixture page of pytest-playwright is one",
        )


async def _plainly(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except VisionAgentError as error:
        raise error.with_traceback(None) from None


def _line(verb: str, *parts: str) -> str:
    """A step line; of three parts the first is a text in quotes."""
    for each in parts:
        if not isinstance(each, str) or not (each.strip() or each is parts[0] is not parts[-1]):
            raise UsageError(f"{verb} takes text, not {each!r}", 'name things by what is written there: "Sign in"')
    if len(parts) == 1:
        return f"{verb} {parts[0]}"
    text, between, name = parts
    return f"{verb} {json.dumps(text, ensure_ascii=False)} {between} {name}"


def _require_no(fault: str) -> None:
    if fault:
        raise AssertionError(fault)
