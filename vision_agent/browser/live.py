"""The real `Browser`: observes and acts on a live Playwright page, and leaves nothing of ours in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent import custom_actions, totp
from vision_agent.actions import Action, Custom, Goto, OpenTab, Type
from vision_agent.browser import cdp
from vision_agent.browser.act.act import act
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.navigate import open_page
from vision_agent.browser.network.host_policy import (
    WEB,
    Gate,
    Policy,
    check,
    is_blocked,
    policy_for,
    require_no_password,
    start_folder,
)
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.observe.veiled_words import SecretFinder
from vision_agent.browser.page import overlay
from vision_agent.browser.page.downloads import Downloads
from vision_agent.browser.page.tabs import Tabs
from vision_agent.browser.refusal import Refused
from vision_agent.browser.takeover.live_stream import LiveParts, PageStream
from vision_agent.browser.takeover.manual_actions import manual_actions
from vision_agent.custom_actions import CustomAction
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.observation import Observation
from vision_agent.ports import HiddenValues, InnerGate, Redact
from vision_agent.settings import EventSettings, ObserveSettings
from vision_agent.text.urls import origin_of
from vision_agent.types import DownloadLimits, ManualAction, Outcome, Secret
from vision_agent.vision.image_limits import ImageLimits

_MOST_WARNINGS = 5
"""Tab events in one observation; a page may open dialogs endlessly."""
_HOSTS_HINT = "are the allowed and the denied hosts the right ones?"
_USUAL_DOWNLOADS = DownloadLimits()
_SCHEMES = ("http", "https", "file", "about", "data")
"""Schemes that a person may start with; the agent itself may only open the web and the scheme of the start address."""


class LiveBrowser:
    """Observes and acts on one page and the tabs that it opens. Created by `attach`."""

    def __init__(
        self,
        tabs: Tabs,
        observer: Observer,
        sender: InputSender,
        actions: Sequence[CustomAction] = (),
        learn: Callable[[Secret], None] = lambda _: None,
    ) -> None:
        self._tabs = tabs
        self._observer = observer
        self._sender = sender
        self._custom = actions
        self._learn = learn
        self._latest: LiveObservation | None = None
        self._typed = 0
        """Odd while an action is under way that may type a hidden value, letter by letter."""
        self._opened_badly = ""
        """Which error the page answered with when it was opened; the next observation says so."""

    @property
    def page(self) -> Page:
        """The active tab."""
        return self._tabs.active

    @property
    def is_hung(self) -> bool:
        """Whether the page did not answer at the last look, whose observation shows nothing of it."""
        return self._latest is not None and self._latest.is_hung

    async def open(self, url: str) -> None:
        """Opens the address that a person gave.

        Raises:
            UsageError: the address is invalid, has an unknown scheme, or the host policy blocks it.
            BrowserUnavailable: it cannot be reached.
        """
        require_scheme(url)
        policy = self._sender.policy
        begin = replace(policy, schemes=_SCHEMES, folder=start_folder(url))
        try:
            await open_page(
                self.page, url, begin, self._observer.settings.navigation_deadline_s, self._tabs.navigations
            )
        except Refused as refusal:
            blocked = [each.sentence for each in self._tabs.new_events if each.kind == "blocked"]
            if refusal.refusal == "blocked" or blocked:
                sentence = "; ".join([refusal.sentence.rstrip("."), *blocked[:_MOST_WARNINGS]])
                raise UsageError(sentence, _HOSTS_HINT) from refusal
            raise BrowserUnavailable(refusal.sentence, "is the address right, and is its server running?") from refusal
        except PlaywrightError as error:
            raise BrowserUnavailable(f"The browser was lost while opening {url}: {error.message}") from error
        self._opened_badly = self._tabs.navigations.failed_answer(self.page)

    async def observe(self) -> Observation:
        """The active tab as it is now; the next `act` refers to its marks. A page that hangs is shown without marks.

        Raises:
            BrowserUnavailable: the browser is gone, or the page could not be observed within the deadlines.
        """
        if not self._tabs.pages:
            raise BrowserUnavailable("There is nothing to look at: every tab was closed", overlay.GO_ON)
        region, self._sender.region = self._sender.region, None
        scope, self._sender.scope = self._sender.scope, None
        seen = await self._observer.look(self._tabs, region, grid=self._sender.grid, scope=scope)
        unreported = self._tabs.take_unreported()
        # The record is the only place with the hash of a download, so none of them is left out.
        news = [each.sentence for at, each in enumerate(unreported) if at < _MOST_WARNINGS or each.kind == "download"]
        self._tabs.network.end_look(seen.page)
        if pending := self._tabs.network.describe_pending(seen.page):
            news.insert(0, pending)
        if self._opened_badly:
            news.insert(0, self._opened_badly)
            self._opened_badly = ""
        if news:
            warnings = (*seen.observation.warnings, *news)
            seen = replace(seen, observation=seen.observation.model_copy(update={"warnings": warnings}))
        self._latest = seen
        return seen.observation

    async def act(self, action: Action, observation: Observation, inner: InnerGate | None = None) -> Outcome:
        """The outcome of one action, whose marks and points refer to `observation`, which must be the latest.

        `inner` is asked about what a custom action does through its context; None lets everything through.

        Raises:
            BrowserUnavailable: the browser is gone.
        """
        if self._latest is None or self._latest.observation.id != observation.id:
            return Outcome(
                status="refused",
                refusal="unknown_mark",
                sentence=f"{action.kind} refers to an observation that is not the latest; look again first.",
            )
        with self._typing(action):
            if isinstance(action, Custom):
                lent = _BorrowedBrowser(self, observation, inner)
                return await custom_actions.carry_out(
                    action, self._custom, lent, self._observer.settings.custom_action_deadline_s
                )
            return await act(self._sender, action, self._latest)

    def blocks(self, action: Action) -> bool:
        """Whether the action opens an address that is not allowed."""
        return isinstance(action, Goto | OpenTab) and is_blocked(action.url, self._sender.policy)

    async def downloads(self, are_enough: Callable[[Sequence[str]], bool], *, within_s: float) -> Sequence[str]:
        """The names of the files that were kept in this run; see `Browser.downloads`."""
        kept = self._tabs.downloads
        return await kept.wait_for(are_enough, within_s) if kept is not None else ()

    @contextmanager
    def _typing(self, action: Action) -> Iterator[None]:
        """Notes, for the live view, that an action may type a hidden value: a part of one is not recognized."""
        may_type = self._observer.hides and (
            isinstance(action, Type | Custom) or "<secret:" in action.model_dump_json()
        )
        self._typed += may_type
        try:
            yield
        finally:
            self._typed += may_type

    @property
    def live_parts(self) -> LiveParts:
        """What the live view needs of this browser."""
        return LiveParts(self._tabs, self._observer, lambda: self._typed, self._shows_veiled)

    def live_view(self) -> PageStream:
        """The active tab as a stream of pictures, and the way back for a person's input."""
        return PageStream(lambda: self.live_parts)

    def _shows_veiled(self) -> bool:
        marks = self._latest.observation.marks if self._latest is not None else ()
        return any(mark.state.masked and mark.state.input_type != "password" for mark in marks)

    def manual_actions(
        self, handed_back: Callable[[], Awaitable[None]], *, is_over_when_closed: bool = False
    ) -> AsyncGenerator[ManualAction, None]:
        """What a person does in our tabs during a takeover, as actions, each with the last look before it.

        `handed_back` is called once all listeners are in place, and returns when the takeover is over; then the
        listeners are removed. If it is also over when the window is closed, that is the last action, a `Finish`.

        Raises:
            BrowserUnavailable: the browser is gone before the takeover starts.
        """
        return manual_actions(
            self._look, self._sender, handed_back, self._learn, is_over_when_closed=is_over_when_closed
        )

    async def _look(self) -> LiveObservation:
        await self.observe()
        assert self._latest is not None
        return self._latest

    async def hide_marks(self) -> None:
        """Removes the marks that are shown to a person on the live page."""
        await self._observer.hide(self.page)


@dataclass(frozen=True)
class _BorrowedBrowser:
    """The `ActionContext` that a custom action gets: the page, and `act` on the current observation."""

    browser: LiveBrowser
    observation: Observation
    gate: InnerGate | None

    @property
    def page(self) -> Page:
        return self.browser.page

    async def act(self, action: Action) -> Outcome:
        if self.gate is None:
            return await self.browser.act(action, self.observation)
        if refused := self.gate.refusal_of(action):
            return refused
        outcome = Outcome(status="partial", sentence=f"It is not known what came of {action.kind}.")
        try:
            outcome = await self.browser.act(action, self.observation, self.gate)
            return outcome
        finally:
            self.gate.note(action, outcome)


def require_scheme(url: str) -> None:
    """Checks that a person may start with an address of this kind.

    Raises:
        UsageError: it has an unknown scheme, or none.
    """
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        scheme = ""
    if scheme not in _SCHEMES:
        raise UsageError(
            f'{url} cannot be opened: "{scheme}" is not a scheme this browser opens',
            f"begin with {', '.join(f'{each}:' for each in _SCHEMES[:3])}",
        )


def require_openable(url: str, allowed: Iterable[str] | None, denied: Iterable[str]) -> None:
    """Checks the address that a run is to begin at, as far as it can be checked before a browser starts.

    Raises:
        UsageError: it has an unknown scheme, or a password in it, or its host may not be reached.
    """
    require_scheme(url)
    require_no_password(url)
    policy = replace(policy_for(allowed, denied), schemes=_SCHEMES, folder=start_folder(url))
    try:
        check(url, policy)
    except Refused as refusal:
        raise UsageError(refusal.sentence.rstrip("."), _HOSTS_HINT) from refusal


@asynccontextmanager
async def attach(
    page: Page,
    settings: ObserveSettings,
    image_limits: ImageLimits,
    *,
    gate: Gate | None = None,
    secrets: Sequence[Secret] = (),
    redact: Redact = str,
    hidden: HiddenValues | None = None,
    files: Sequence[Path] = (),
    actions: Sequence[CustomAction] = (),
    events: EventSettings | None = None,
    is_risky: Callable[[str], bool] = lambda _: False,
    objects_to_dialog: Callable[[str], str] = lambda _: "",
    downloads: Path | None = None,
    download_limits: DownloadLimits = _USUAL_DOWNLOADS,
    incoming: Path | None = None,
    start_url: str | None = None,
    learn: Callable[[Secret], None] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncIterator[LiveBrowser]:
    """A `LiveBrowser` on a page, whoever opened it. The page stays open afterwards, with nothing of ours left in it.

    `downloads` is where downloads are kept; None discards them. `incoming` is where the browser writes them as they
    come, if that is known.

    `is_risky` decides from the text of a dialog that it must not be accepted, whatever `events` say;
    `objects_to_dialog` says why it must not, as a clause.

    `hidden` is what neither pictures nor listings may show; None: the secrets.

    `learn` receives passwords that a person typed during a takeover; it raises `UsageError` for one that is too short
    to be redacted.

    Raises:
        UsageError: the overlay cannot be registered with the Playwright that owns the page.
        BrowserUnavailable: the page is closed.
    """
    owner = page.context.browser
    if page.is_closed() and (owner is None or owner.is_connected()):
        raise BrowserUnavailable("The page is closed", "hand over one that is open, such as context.new_page()")
    await overlay.register(page.context)
    with suppress(PlaywrightError, TimeoutError):  # gone or hanging; the first look reports that
        async with asyncio.timeout(settings.action_deadline_s):
            await overlay.register_early_listener(page)
    start = urlsplit(start_url or page.url)
    gate = gate or Gate(Policy())
    policy = replace(
        gate.policy,
        schemes=(*WEB, *([start.scheme] if start.scheme in ("file", "about", "data") else [])),
        start_origin=origin_of(start_url or page.url),
        folder=start_folder(start_url or page.url),
    )
    known = [*secrets]
    values = partial(_values, known)
    observer = Observer(settings, image_limits, clock, values, SecretFinder(values) if hidden is None else hidden)
    tabs = Tabs(page.context, page, events or EventSettings(), is_risky=is_risky, objects_to=objects_to_dialog)
    tabs.downloads = Downloads(
        page.context,
        download_limits,
        tabs.tell_download,
        downloads,
        incoming,
        redact=redact,
        secrets=values,
    )
    named = {path.name: path for path in files}

    def hide(secret: Secret) -> None:
        if learn is not None:
            learn(secret)
        known.append(secret)

    browser = LiveBrowser(
        tabs, observer, InputSender(tabs, observer, settings, image_limits, policy, secrets, named), actions, hide
    )
    tabs.start_listening()
    gate.report = tabs.note_blocked
    try:
        yield browser
    finally:
        if settings.marks_on_page and not page.is_closed():
            await browser.hide_marks()
        gate.report = None
        tabs.stop_listening()
        for each in [*tabs.pages]:
            await cdp.release(each)


def _values(secrets: Sequence[Secret]) -> list[str]:
    """Values that nobody may read: the secrets, and one-time codes that are or were valid; not private data."""
    values = [secret.value.get_secret_value() for secret in secrets if not secret.is_private]
    return [*values, *(code for secret in secrets if secret.is_code for code in totp.recent_codes(secret))]
