"""A launched browser that is restarted when it is lost, so that a crash need not end a run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager

from vision_agent.actions import Action
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.takeover.live_stream import PageStream
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Observation
from vision_agent.ports import InnerGate
from vision_agent.types import ManualAction, Outcome

Launch = Callable[[], AbstractAsyncContextManager[LiveBrowser]]

_MOST_RESTARTS = 2
"""A browser that is lost more often is probably crashed by the run itself."""


class RestartingBrowser:
    """Acts like the browser that `launch` opens, and replaces it at the same address if it is lost. See `restarting`.

    Sign-ins, filled forms and other tabs are lost then, and the model gets a warning.
    """

    def __init__(self, launch: Launch, live: LiveBrowser, stack: AsyncExitStack) -> None:
        self._launch = launch
        self._live = live
        self._stack = stack
        self._url = ""
        """The address of the last look."""
        self._lost = 0

    async def open(self, url: str) -> None:
        """Opens the address that a person gave; see `LiveBrowser.open`."""
        self._url = url
        await self._live.open(url)

    async def observe(self) -> Observation:
        """The active tab as it is now; after a restart, with a warning.

        Raises:
            BrowserUnavailable: the page could not be observed, or the browser keeps getting lost.
        """
        try:
            observation = await self._live.observe()
        except BrowserUnavailable as error:
            warning = await self._restart(error)
            observation = await self._live.observe()
            observation = observation.model_copy(update={"warnings": (*observation.warnings, warning)})
        self._url = self._live.page.url  # the observation's may be cut
        return observation

    async def act(self, action: Action, observation: Observation, inner: InnerGate | None = None) -> Outcome:
        """The outcome of one action; refused as `crashed` if the browser was lost meanwhile.

        Raises:
            BrowserUnavailable: the browser keeps getting lost.
        """
        try:
            return await self._live.act(action, observation, inner)
        except BrowserUnavailable as error:
            warning = await self._restart(error)
            sentence = f"It is not known whether {action.kind} was done. {warning} Look before repeating it."
            return Outcome(status="refused", refusal="crashed", sentence=sentence)

    def blocks(self, action: Action) -> bool:
        """Whether the action opens an address that is not allowed; see `LiveBrowser.blocks`."""
        return self._live.blocks(action)

    async def downloads(self, are_enough: Callable[[Sequence[str]], bool], *, within_s: float) -> Sequence[str]:
        """The names of the files that were kept in this run; see `Browser.downloads`."""
        return await self._live.downloads(are_enough, within_s=within_s)

    async def manual_actions(
        self, handed_back: Callable[[], Awaitable[None]], *, is_over_when_closed: bool = False
    ) -> AsyncGenerator[ManualAction, None]:
        """The manual actions of a takeover; see `LiveBrowser.manual_actions`."""
        doing = self._live.manual_actions(handed_back, is_over_when_closed=is_over_when_closed)
        async with aclosing(doing) as done:
            async for each in done:
                yield each

    def live_view(self) -> PageStream:
        """The active tab as a stream of pictures, also after a restart; see `LiveBrowser.live_view`."""
        return PageStream(lambda: self._live.live_parts)

    async def _restart(self, error: BrowserUnavailable) -> str:
        browser = self._live.page.context.browser
        if self._lost == _MOST_RESTARTS or browser is None or browser.is_connected():
            raise error
        self._lost += 1
        await self._stack.aclose()
        self._live = await self._stack.enter_async_context(self._launch())
        await self._live.open(self._url)
        return "The browser was lost and has been started again at the same address, without what was entered before."


@asynccontextmanager
async def restarting(launch: Launch) -> AsyncIterator[RestartingBrowser]:
    """A browser that is relaunched with `launch` if it is lost.

    Raises:
        BrowserUnavailable: the first launch fails.
    """
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(launch())
        yield RestartingBrowser(launch, live, stack)
