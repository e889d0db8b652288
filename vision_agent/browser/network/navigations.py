"""Tracks how the navigations of an action ended: with a page, the browser's own error page, or nothing.

Based on the browser's events for document requests and on the tab's final address.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page, Request, Response

from vision_agent.text.escape import safe_line

_NO_CONTENT = (204, 205)
_FAILS_FROM = 400
_MOST_FRAMES = 3
_MOST_KEPT = 200
_LONGEST = 100
_ONLY_ASKS = ("GET", "HEAD")
_NET = "net::ERR_"
_BY_POLICY = ("BLOCKED_BY_CLIENT", "SOCKS_CONNECTION_FAILED")
"""Errors of requests that the policy blocks; the second is also the error of an unreachable host."""


@dataclass(eq=False)
class Navigation:
    """One requested document, across all redirects."""

    first_url: str
    """The first address."""
    request: Request
    """The last one."""
    status: int = 0
    """0 without an answer."""
    reason: str = ""
    error: str = ""
    """Chromium's error code if no page came."""

    @property
    def frame(self) -> Frame | None:
        """None while its tab does not exist yet."""
        try:
            return self.request.frame
        except PlaywrightError:
            return None

    @property
    def has_no_content(self) -> bool:
        """Whether the server answered that it has no page to show."""
        return self.status in _NO_CONTENT

    @property
    def status_line(self) -> str:
        """Such as `404 Not Found`."""
        return f"{self.status} {safe_line(self.reason, 40)}".strip()


@dataclass
class Navigations:
    """The navigations since the last action started, oldest first."""

    _navigations: list[Navigation] = field(default_factory=list)
    _answers_form: weakref.WeakKeyDictionary[Page, dict[str, bool]] = field(default_factory=weakref.WeakKeyDictionary)
    """By tab and address: whether the last document there resulted from a form sent with another method than GET."""

    def start_action(self) -> None:
        """Forgets earlier navigations: they are not results of the action that starts now."""
        self._navigations.clear()

    def add_document_request(self, request: Request) -> None:
        """Records a document request, or the next hop of a redirect."""
        before = request.redirected_from
        known = next((each for each in self._navigations if before is not None and each.request is before), None)
        if known is not None:
            known.request, known.status, known.reason = request, 0, ""
        elif len(self._navigations) < _MOST_KEPT:
            self._navigations.append(Navigation(request.url, request))

    def add_response(self, response: Response) -> None:
        """Records the server's answer, whatever it is."""
        for each in self._navigations:
            if each.request is response.request:
                each.status, each.reason = response.status, response.status_text
                frame = each.frame
                if frame is not None and frame.parent_frame is None:
                    is_sent = each.request.method not in _ONLY_ASKS
                    self.note_form(frame.page, each.request.url, is_sent=is_sent)

    def note_form(self, page: Page, url: str, *, is_sent: bool) -> None:
        """Records whether a document is the result of a submitted form."""
        self._answers_form.setdefault(page, {})[_without_fragment(url)] = is_sent

    def answers_form(self, page: Page) -> bool:
        """Whether the document in a tab is the result of a submitted form: reloading it may submit that again."""
        return self._answers_form.get(page, {}).get(_without_fragment(page.url), False)

    def add_failure(self, request: Request) -> None:
        """Records that no page came, or not a complete one."""
        for each in self._navigations:
            if each.request is request:
                each.error = (request.failure or "").removeprefix(_NET)

    def in_tab(self, page: Page) -> list[Navigation]:
        """The navigations of a tab's main frame."""
        return [each for each in self._navigations if each.frame is page.main_frame]

    def failed_answer(self, page: Page) -> str:
        """A clause if the last document of a tab came with an error, such as 404; empty otherwise."""
        came = self.in_tab(page)
        return f"the page answered {came[-1].status_line}" if came and came[-1].status >= _FAILS_FROM else ""

    def frame_failures(self, page: Page) -> list[str]:
        """A clause for each child frame of a tab whose navigation failed."""
        last = {each.frame: each for each in self._navigations if each.frame in page.frames[1:]}
        return [said for frame, each in last.items() if frame and (said := _describe_frame_failure(frame, each))][
            :_MOST_FRAMES
        ]


def is_error_page(page: Page | Frame) -> bool:
    """Whether the browser shows its own error page there."""
    return page.url.startswith("chrome-error:")


def describe_navigation(
    page: Page, navigations: Navigations, *, was: str, is_other: bool, is_blocked: bool, told: Sequence[str] = ()
) -> list[str]:
    """How the navigation of an action ended, as clauses; none if it simply loaded the requested page.

    `was`: the tab's previous address, empty for a new tab; `is_other`: the tab shows another document now; `told`:
    what is told besides.
    """
    came = navigations.in_tab(page)
    last = came[-1] if came else None
    if is_error_page(page) and (is_other or not was):
        gone = "; the previous page is gone" if was and not was.startswith("chrome-error:") else ""
        where = f" for {short_address(last.request.url)}" if last else ""
        why = f" ({failure_reason(last, is_blocked=is_blocked)})" if last else ""
        return [f"the browser shows its own error page{where}{why}{gone}"]
    said = []
    if last is not None and last.error and not is_other:
        said.append(_describe_no_page(last, told, is_blocked=is_blocked))
    elif failed := navigations.failed_answer(page):
        said.append(failed)
    if was and page.url != was:
        said.append(f"{'' if is_other else 'same document, '}the address is now {safe_line(page.url, 200)}")
    if is_other and came and _without_fragment(came[0].first_url) != _without_fragment(page.url):
        said.append(f"redirected from {short_address(came[0].first_url)}")
    return said if is_other else said + navigations.frame_failures(page)


def failure_reason(navigation: Navigation, *, is_blocked: bool = False) -> str:
    """Why no page came, such as `connection refused`."""
    if navigation.status >= _FAILS_FROM:
        return f"its server answered {navigation.status_line}"
    if is_blocked and navigation.error in _BY_POLICY:
        return "blocked by policy"
    return navigation.error.removeprefix("SOCKS_").replace("_", " ").lower() or "reason unknown"


def short_address(url: str) -> str:
    """Host and path of an address."""
    parts = urlsplit(url)
    return safe_line(f"{parts.netloc}{parts.path}".rstrip("/") or url, _LONGEST)


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _describe_no_page(navigation: Navigation, told: Sequence[str], *, is_blocked: bool) -> str:
    stayed = "the page stayed as it was"
    if navigation.has_no_content:
        return f"the server answered {navigation.status_line}, so {stayed}"
    host = urlsplit(navigation.request.url).hostname
    if host and any(re.match(rf"a request to \[?{re.escape(host)}\]?(:\d+)? was blocked", each) for each in told):
        return stayed  # why is told already
    if is_blocked:
        return f"access to {short_address(navigation.request.url)} is blocked by policy; {stayed}"
    return f"no page came from {short_address(navigation.request.url)}; {stayed}"


def _describe_frame_failure(frame: Frame, navigation: Navigation) -> str:
    name = f'frame "{safe_line(frame.name, 40)}"' if frame.name else "a frame"
    where = short_address(navigation.request.url)
    if navigation.status >= _FAILS_FROM:
        return f"{name} answered {navigation.status_line} ({where})"
    if navigation.error and is_error_page(frame):
        return f"{name} could not open {where} ({failure_reason(navigation)})"
    return ""
