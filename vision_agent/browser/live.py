"""The real `Browser`: looks at and acts on a live Playwright page, and leaves the page as it found it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent import codes, custom
from vision_agent.actions import Action, Custom
from vision_agent.browser import chromium, overlay
from vision_agent.browser.act import act
from vision_agent.browser.by_hand import by_hand
from vision_agent.browser.gate import WEB, Gate, Policy, host_of
from vision_agent.browser.hands import Hands
from vision_agent.browser.observe import Eye, Seen
from vision_agent.browser.pages import open_page
from vision_agent.browser.refusal import Refused
from vision_agent.browser.tabs import Tabs
from vision_agent.custom import CustomAction
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.ports import Redact
from vision_agent.settings import EventSettings, ObserveSettings
from vision_agent.types import ByHand, Observation, Outcome, Secret
from vision_agent.vision.contract import Contract

_MOST_SAID = 5
"""Dialogs and the like since the last act; a page may open them without end."""
_SCHEMES = ("http", "https", "file", "about", "data")
"""What a person may begin with; the agent itself may only go on to the web, and to what the person began with."""


class LiveBrowser:
    """Observes and acts on one page and the tabs that come of it. Made by `on`."""

    def __init__(
        self,
        tabs: Tabs,
        eye: Eye,
        hands: Hands,
        actions: Sequence[CustomAction] = (),
        learn: Callable[[Secret], None] = lambda _: None,
    ) -> None:
        self._tabs = tabs
        self._eye = eye
        self._hands = hands
        self._custom = actions
        self._learn = learn
        self._seen: Seen | None = None

    @property
    def page(self) -> Page:
        """The tab that is looked at now."""
        return self._tabs.active

    async def open(self, url: str) -> None:
        """Opens the address a person gave.

        Raises:
            UsageError: it is no address, or of an unknown scheme.
            BrowserUnavailable: it cannot be reached.
        """
        scheme = urlsplit(url).scheme
        if scheme not in _SCHEMES:
            raise UsageError(
                f'{url} cannot be opened: "{scheme}" is not a scheme this browser opens',
                f"begin with {', '.join(f'{each}:' for each in _SCHEMES[:3])}",
            )
        policy = self._hands.policy
        begin = replace(policy, schemes=_SCHEMES)
        try:
            await open_page(self.page, url, begin, self._eye.settings.navigation_deadline_s, self._tabs.navigations)
        except Refused as refusal:
            blocked = [each.sentence for each in self._tabs.happenings if each.kind == "blocked"]
            if refusal.refusal == "blocked" or blocked:
                said = "; ".join([refusal.sentence.rstrip("."), *blocked[:_MOST_SAID]])
                raise UsageError(said, "are the allowed and the denied hosts the right ones?") from refusal
            raise BrowserUnavailable(refusal.sentence, "is the address right, and is its server running?") from refusal
        except PlaywrightError as error:
            raise BrowserUnavailable(f"The browser went away while {url} was opened: {error.message}") from error

    async def observe(self) -> Observation:
        """The active tab as it is now; the numbers in it are what `act` understands next.

        Raises:
            BrowserUnavailable: the browser is gone, or the page hangs.
        """
        if not self._tabs.pages:
            raise BrowserUnavailable("There is nothing to look at: every tab was closed", "start the run again")
        region, self._hands.region = self._hands.region, None
        seen = await self._eye.look(self._tabs, region, grid=self._hands.grid)
        news = [each.sentence for each in self._tabs.untold()[:_MOST_SAID]]
        self._tabs.network.looked(seen.page)
        if pending := self._tabs.network.pending(seen.page):
            news.insert(0, pending)
        if news:
            said = (*seen.observation.warnings, *news)
            seen = replace(seen, observation=seen.observation.model_copy(update={"warnings": said}))
        self._seen = seen
        return seen.observation

    async def act(self, action: Action, observation: Observation) -> Outcome:
        """What became of one action, whose numbers and points are those of `observation`, which must be the latest.

        Raises:
            BrowserUnavailable: the browser is gone.
        """
        if self._seen is None or self._seen.observation.id != observation.id:
            return Outcome(
                status="refused",
                refusal="unknown_mark",
                sentence=f"{action.kind} names marks of another observation than the latest; look again first.",
            )
        if isinstance(action, Custom):
            lent = _Lent(self, observation)
            return await custom.carry_out(action, self._custom, lent, self._eye.settings.own_action_deadline_s)
        return await act(self._hands, action, self._seen)

    def by_hand(self, handed_back: Callable[[], Awaitable[None]]) -> AsyncGenerator[ByHand, None]:
        """What a person does in our tabs until they hand the browser back, each thing with the last look before it.

        `handed_back` is called when everything listens, and returns when it is over. Then nothing of it is left.

        Raises:
            BrowserUnavailable: the browser is gone before they have it.
        """
        return by_hand(self._looked, self._hands, handed_back, self._learn)

    async def _looked(self) -> Seen:
        await self.observe()
        assert self._seen is not None
        return self._seen

    async def hide_marks(self) -> None:
        """Takes the marks off the live page, where they were shown to a person."""
        await self._eye.hide(self.page)


@dataclass(frozen=True)
class _Lent:
    """The hands that a custom action acts with."""

    browser: LiveBrowser
    observation: Observation

    @property
    def page(self) -> Page:
        return self.browser.page

    async def act(self, action: Action) -> Outcome:
        return await self.browser.act(action, self.observation)


@asynccontextmanager
async def on(
    page: Page,
    settings: ObserveSettings,
    contract: Contract,
    *,
    gate: Gate | None = None,
    secrets: Sequence[Secret] = (),
    redact: Redact = str,
    files: Sequence[Path] = (),
    actions: Sequence[CustomAction] = (),
    events: EventSettings | None = None,
    downloads: Path | None = None,
    start_url: str | None = None,
    learn: Callable[[Secret], None] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncIterator[LiveBrowser]:
    """A `LiveBrowser` on a page, whoever opened it. The page stays open afterwards, with nothing of ours left in it.

    `learn` is told of passwords that a person typed by hand, and refuses those that it cannot keep out of a record.

    Raises:
        UsageError: the overlay cannot be made known to the Playwright that owns the page.
    """
    await overlay.register(page.context)
    with suppress(PlaywrightError, TimeoutError):  # the page is gone, or hangs, which the first look will say
        async with asyncio.timeout(settings.action_deadline_s):
            await overlay.stand_first(page)
    start = urlsplit(start_url or page.url)
    gate = gate or Gate(Policy())
    policy = replace(
        gate.policy,
        schemes=(*WEB, *([start.scheme] if start.scheme in ("file", "about", "data") else [])),
        start_hosts=(host,) if (host := host_of(start_url or page.url)) else (),
    )
    hidden = [*secrets]
    eye = Eye(settings, contract, clock, partial(_values, hidden))
    tabs = Tabs(
        page.context, page, events or EventSettings(), downloads, redact=redact, secrets=partial(_values, hidden)
    )
    named = {path.name: path for path in files}

    def hide(secret: Secret) -> None:
        if learn is not None:
            learn(secret)
        hidden.append(secret)

    browser = LiveBrowser(tabs, eye, Hands(tabs, eye, settings, contract, policy, secrets, named), actions, hide)
    tabs.open()
    gate.tell = tabs.blocked
    try:
        yield browser
    finally:
        if settings.marks_on_page and not page.is_closed():
            await browser.hide_marks()
        gate.tell = None
        tabs.close()
        for each in [*tabs.pages]:
            await chromium.release(each)


def _values(secrets: Sequence[Secret]) -> list[str]:
    """What no picture may show: values, and one-time codes that are or were good."""
    values = [secret.value.get_secret_value() for secret in secrets]
    return [*values, *(code for secret in secrets if secret.is_code for code in codes.recent(secret))]
