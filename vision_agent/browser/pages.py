"""Addresses, history and tabs."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Back, CloseTab, Forward, Goto, OpenTab, SwitchTab
from vision_agent.browser import gate, overlay
from vision_agent.browser.effect import Done
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.navigations import Navigation, Navigations, why_not
from vision_agent.browser.refusal import Refused
from vision_agent.browser.tabs import close_page

_AFTER_A_CRASH_S = 5.0
_NET = "net::ERR_"


async def goto(hands: Hands, action: Goto) -> Done:
    """Opens an address in the tab that was looked at."""
    url = _absolute(action.url, hands.page)
    opened = await open_page(
        hands.page, url, hands.policy, hands.settings.navigation_deadline_s, hands.tabs.navigations
    )
    return Done(opened, None)


async def reload(hands: Hands) -> Done:
    """Loads the page again, also one in which a frame has crashed."""
    try:
        await hands.page.reload(timeout=_navigation_ms(hands), wait_until="commit")
    except PlaywrightError as error:
        if _NET not in error.message and not await _loads_all_the_same(hands.page, error):
            raise
    return Done("Loaded the page again", None)


async def go(hands: Hands, action: Back | Forward) -> Done:
    """Goes one page back or forward."""
    page, was = hands.page, hands.page.url
    way = page.go_back if isinstance(action, Back) else page.go_forward
    try:
        await way(timeout=_navigation_ms(hands), wait_until="commit")
    except PlaywrightError as error:
        if _NET not in error.message:
            raise
        return Done(f"Went {action.kind}", None)  # what came instead is for `effect` to say
    if page.url == was:
        return Done(f"There is no page to go {action.kind} to", None)
    return Done(f"Went {action.kind} to {page.url}", None)


async def open_tab(hands: Hands, action: OpenTab) -> Done:
    """Opens an address in a new tab; where it cannot be opened the old one stays in front."""
    tabs, url = hands.tabs, _absolute(action.url, hands.page)
    gate.check(url, hands.policy)
    page, was = await hands.page.context.new_page(), hands.page
    tabs.add(page)
    tabs.active = page
    try:
        opened = await open_page(page, url, hands.policy, hands.settings.navigation_deadline_s, tabs.navigations)
    except Refused:
        tabs.active = was
        await close_page(page)
        raise
    return Done(f"{opened} in tab {tabs.number(page)}", None, moved=True)


async def switch_tab(hands: Hands, action: SwitchTab) -> Done:
    """Brings a tab to the front."""
    page = _numbered(hands, action.tab)
    hands.tabs.active = page
    await page.bring_to_front()
    return Done(f"Went to tab {action.tab}", None, moved=True)


async def close_tab(hands: Hands, action: CloseTab) -> Done:
    """Closes a tab, but never the last one."""
    page = _numbered(hands, action.tab)
    if len(hands.tabs.pages) == 1:
        raise Refused("unsupported", "The last tab is not closed: nothing would be left to look at.")
    hands.tabs.closing = page
    if not await close_page(page):
        hands.tabs.closing = None
        raise Refused("unsupported", f"Tab {action.tab} does not close; it may be stuck.")
    return Done(f"Closed tab {action.tab}", None, moved=True)


async def open_page(page: Page, url: str, policy: gate.Policy, deadline_s: float, navigations: Navigations) -> str:
    """Opens an address, and gives the words for that it did; other words where something else came than a page.

    A page that goes on loading is there as soon as it has begun.

    Raises:
        Refused: the policy does not allow it, it cannot be reached, or nothing came within the deadline.
    """
    gate.check(url, policy)
    was = page.url
    try:
        await _goto(page, url, deadline_s)
    except PlaywrightTimeout:
        raise Refused("unreachable", f"{url} sent nothing within {deadline_s:g} s.") from None
    except PlaywrightError as error:
        if overlay.is_gone(error):
            raise
        came = navigations.of(page)
        if "Download is starting" in error.message or (came and came[-1].is_empty):
            return f"Asked for {url}"
        if await _loads_all_the_same(page, error):
            return f"Opened {url}"
        raise Refused("unreachable", _could_not(url, was, error, came[-1] if came else None)) from error
    return f"Opened {url}"


def _could_not(url: str, was: str, error: PlaywrightError, last: Navigation | None) -> str:
    reason = re.sub(r"^Page\.goto: ", "", error.message.splitlines()[0]).removesuffix(f" at {url}")
    if last is not None and last.error:
        reason = f"{why_not(last)} ({_NET}{last.error})"
    if "ERR_ABORTED" in error.message or was.startswith(("about:", "chrome-error:")):
        return f"{url} could not be opened: {reason}."
    # Chromium shows a page of its own for every other error, a moment later.
    return f"{url} could not be opened: {reason}. The browser shows its own error page; the page before is gone."


async def _goto(page: Page, url: str, deadline_s: float) -> None:
    """Opens an address, once more where the browser's own page about the address before came in between."""
    try:
        await page.goto(url, timeout=deadline_s * 1000, wait_until="commit")
    except PlaywrightError as error:
        if 'interrupted by another navigation to "chrome-error:' not in error.message:
            raise
        await page.goto(url, timeout=deadline_s * 1000, wait_until="commit")


async def _loads_all_the_same(page: Page, error: PlaywrightError) -> bool:
    """Whether the page comes though that was refused: Playwright refuses loads where a frame crashed, and does them."""
    if not overlay.is_crash(error):
        return False
    try:
        await page.wait_for_event(
            "framenavigated", lambda frame: frame is page.main_frame, timeout=_AFTER_A_CRASH_S * 1000
        )
    except PlaywrightError:
        return False  # the page itself has crashed: only another tab helps
    return True


def _numbered(hands: Hands, number: int) -> Page:
    """The tab with the number that the observation gave it."""
    pages = hands.seen.pages
    if not 1 <= number <= len(pages):
        raise Refused("unknown_mark", f"There is no tab {number}; there are {len(pages)}.")
    if pages[number - 1] not in hands.tabs.pages:
        raise Refused("gone", f"Tab {number} has been closed.")
    return pages[number - 1]


def _absolute(url: str, page: Page) -> str:
    try:
        return url if urlsplit(url).scheme else urljoin(page.url, url)
    except ValueError:
        raise Refused("unsupported", f"{plain(url, 200)} is no address, so it was not opened.") from None


def _navigation_ms(hands: Hands) -> float:
    return hands.settings.navigation_deadline_s * 1000
