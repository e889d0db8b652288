"""What became of the navigations that an act led to: a page, the browser's own error page, or nothing at all.

Told from what the browser says of requests for whole documents; what it shows in the end is the tab's address.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page, Request, Response

from vision_agent.browser.listing import plain

_NO_CONTENT = (204, 205)
_FAILS_FROM = 400
_MOST_FRAMES = 3
_MOST_KEPT = 200
_LONGEST = 100
_NET = "net::ERR_"
_BY_POLICY = ("BLOCKED_BY_CLIENT", "SOCKS_CONNECTION_FAILED")
"""How a request ends that the policy does not let out; and, of the second, also one that finds nobody."""


@dataclass(eq=False)
class Navigation:
    """One document that was asked for, over all redirects."""

    asked: str
    """The first address."""
    request: Request
    """The last one."""
    status: int = 0
    """0: nothing was answered."""
    reason: str = ""
    error: str = ""
    """Chromium's word for why no page came of it."""

    @property
    def frame(self) -> Frame | None:
        """None as long as its tab is not there."""
        try:
            return self.request.frame
        except PlaywrightError:
            return None

    @property
    def is_empty(self) -> bool:
        """Whether the server had no page to give, and said so."""
        return self.status in _NO_CONTENT

    @property
    def answer(self) -> str:
        """As in `404 Not Found`."""
        return f"{self.status} {plain(self.reason, 40)}".strip()


@dataclass
class Navigations:
    """Those that began since something was last done, oldest first."""

    _begun: list[Navigation] = field(default_factory=list)

    def begin(self) -> None:
        """Something is about to be done: what was asked for before does not come of it."""
        self._begun.clear()

    def began(self, request: Request) -> None:
        """A document is asked for, or once more at the address to which it was redirected."""
        before = request.redirected_from
        known = next((each for each in self._begun if before is not None and each.request is before), None)
        if known is not None:
            known.request, known.status, known.reason = request, 0, ""
        elif len(self._begun) < _MOST_KEPT:
            self._begun.append(Navigation(request.url, request))

    def answered(self, response: Response) -> None:
        """The server has answered, whatever that is."""
        for each in self._begun:
            if each.request is response.request:
                each.status, each.reason = response.status, response.status_text

    def failed(self, request: Request) -> None:
        """No page came of it, or not all of one."""
        for each in self._begun:
            if each.request is request:
                each.error = (request.failure or "").removeprefix(_NET)

    def of(self, page: Page) -> list[Navigation]:
        """Those of a tab itself."""
        return [each for each in self._begun if each.frame is page.main_frame]

    def in_frames(self, page: Page) -> list[str]:
        """Words for the frames of a tab whose navigation failed."""
        last = {each.frame: each for each in self._begun if each.frame in page.frames[1:]}
        return [said for frame, each in last.items() if frame and (said := _in_frame(frame, each))][:_MOST_FRAMES]


def is_error_page(page: Page | Frame) -> bool:
    """Whether the browser shows a page of its own there, which says that nothing came."""
    return page.url.startswith("chrome-error:")


def what_came(page: Page, navigations: Navigations, *, was: str, is_other: bool, is_blocked: bool) -> list[str]:
    """Words for how the navigation ended that an act led to; none where it came to a page as it should.

    `was`: the address of the tab before, empty for a new tab; `is_other`: it shows another document now.
    """
    came = navigations.of(page)
    last = came[-1] if came else None
    if is_error_page(page) and (is_other or not was):
        gone = "; the page before is gone" if was and not was.startswith("chrome-error:") else ""
        where = f" for {short(last.request.url)}" if last else ""
        why = f" ({why_not(last, is_blocked=is_blocked)})" if last else ""
        return [f"the browser shows its own error page{where}{why}{gone}"]
    said = []
    if last is not None and last.error and not is_other:
        said.append(_stayed(last, is_blocked=is_blocked))
    elif last is not None and last.status >= _FAILS_FROM:
        said.append(f"the page answered {last.answer}")
    if was and page.url != was:
        said.append(f"{'' if is_other else 'same document, '}the address is now {plain(page.url, 200)}")
    if is_other and came and _without_fragment(came[0].asked) != _without_fragment(page.url):
        said.append(f"redirected from {short(came[0].asked)}")
    return said if is_other else said + navigations.in_frames(page)


def why_not(navigation: Navigation, *, is_blocked: bool = False) -> str:
    """Why no page came, as in `connection refused`."""
    if navigation.status >= _FAILS_FROM:
        return f"its server answered {navigation.answer}"
    if is_blocked and navigation.error in _BY_POLICY:
        return "blocked by policy"
    return navigation.error.removeprefix("SOCKS_").replace("_", " ").lower() or "no reason is known"


def short(url: str) -> str:
    """Host and path."""
    parts = urlsplit(url)
    return plain(f"{parts.netloc}{parts.path}".rstrip("/") or url, _LONGEST)


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _stayed(navigation: Navigation, *, is_blocked: bool) -> str:
    stayed = "the page stayed as it was"
    if navigation.is_empty:
        return f"the server answered {navigation.answer}, so {stayed}"
    if is_blocked:
        return f"the way to {short(navigation.request.url)} is blocked by policy; {stayed}"
    return f"no page came from {short(navigation.request.url)}; {stayed}"


def _in_frame(frame: Frame, navigation: Navigation) -> str:
    name = f'frame "{plain(frame.name, 40)}"' if frame.name else "a frame"
    where = short(navigation.request.url)
    if navigation.status >= _FAILS_FROM:
        return f"{name} answered {navigation.answer} ({where})"
    if navigation.error and is_error_page(frame):
        return f"{name} could not open {where} ({why_not(navigation)})"
    return ""
