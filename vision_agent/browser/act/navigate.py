"""Opens addresses, moves through history, and opens, switches and closes tabs."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Back, CloseTab, Forward, Goto, OpenTab, SwitchTab
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.network import host_policy
from vision_agent.browser.network.navigations import Navigation, Navigations, failure_reason
from vision_agent.browser.page import overlay
from vision_agent.browser.page.tabs import close_page
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line
from vision_agent.text.urls import LONGEST_SHOWN, shown_address

_AFTER_A_CRASH_S = 5.0
_ELSEWHERE = "data:text/html,"
_NET = "net::ERR_"


async def goto(sender: InputSender, action: Goto) -> Attempt:
    """Opens an address in the tab of the observation."""
    url = _absolute_url(action.url, sender.page)
    host_policy.check(url, sender.policy)
    await _leave_if_hung(sender)
    opened = await open_page(
        sender.page, url, sender.policy, sender.settings.navigation_deadline_s, sender.tabs.navigations
    )
    return Attempt(opened, None)


async def reload(sender: InputSender) -> Attempt:
    """Reloads the page, even if a frame in it has crashed, or if it hangs."""
    url = sender.page.url
    if await _leave_if_hung(sender):
        await open_page(sender.page, url, sender.policy, sender.settings.navigation_deadline_s,
                        sender.tabs.navigations)  # fmt: skip
        return Attempt("Left the page, which did not answer, and opened it again", None)
    try:
        await sender.page.reload(timeout=_navigation_ms(sender), wait_until="commit")
    except PlaywrightError as error:
        if _NET not in error.message and not await _loads_despite_crash(sender.page, error):
            raise
    return Attempt("Loaded the page again", None)


async def go(sender: InputSender, action: Back | Forward) -> Attempt:
    """Goes one page back or forward."""
    page, was = sender.page, sender.page.url
    if sender.seen.is_hung:
        raise Refused(
            "unsupported", f"A page that hangs cannot be left with {action.kind}: reload it or open an address."
        )
    way = page.go_back if isinstance(action, Back) else page.go_forward
    try:
        await way(timeout=_navigation_ms(sender), wait_until="commit")
    except PlaywrightError as error:
        if _NET not in error.message:
            raise
        return Attempt(f"Went {action.kind}", None)  # `effect` reports what came instead
    if page.url == was:
        return Attempt(f"There is no page to go {action.kind} to", None)
    return Attempt(f"Went {action.kind} to {shown_address(page.url)}", None)


async def _leave_if_hung(sender: InputSender) -> bool:
    """Leaves a page that does not answer; returns whether there was one.

    Chromium opens an address of the same site in the same process, where nothing happens any more. A `data:` page gets
    a process of its own, from which every address can be opened.
    """
    if sender.seen.is_hung:
        await sender.page.goto(_ELSEWHERE, timeout=_navigation_ms(sender), wait_until="commit")
    return sender.seen.is_hung


async def open_tab(sender: InputSender, action: OpenTab) -> Attempt:
    """Opens an address in a new tab; if that fails, the old tab stays in front."""
    tabs, url = sender.tabs, _absolute_url(action.url, sender.page)
    host_policy.check(url, sender.policy)
    page, was = await sender.page.context.new_page(), sender.page
    tabs.add(page)
    tabs.active = page
    try:
        opened = await open_page(page, url, sender.policy, sender.settings.navigation_deadline_s, tabs.navigations)
    except Refused:
        tabs.active, tabs.closing_page = was, page  # its closing need not be reported
        await close_page(page)
        raise
    return Attempt(f"{opened} in tab {tabs.number(page)}", None, needs_no_effect=True)


async def switch_tab(sender: InputSender, action: SwitchTab) -> Attempt:
    """Brings a tab to the front."""
    page = _find_tab(sender, action.tab)
    sender.tabs.active = page
    await page.bring_to_front()
    return Attempt(f"Went to tab {action.tab}", None, needs_no_effect=True)


async def close_tab(sender: InputSender, action: CloseTab) -> Attempt:
    """Closes a tab, but never the last one."""
    page = _find_tab(sender, action.tab)
    if len(sender.tabs.pages) == 1:
        raise Refused("unsupported", "The last tab stays open: without it there is nothing to look at.")
    sender.tabs.closing_page = page
    if not await close_page(page):
        sender.tabs.closing_page = None
        raise Refused("unsupported", f"Tab {action.tab} did not close; it may be stuck.")
    return Attempt(f"Closed tab {action.tab}", None, needs_no_effect=True)


async def open_page(
    page: Page, url: str, policy: host_policy.Policy, deadline_s: float, navigations: Navigations
) -> str:
    """Opens an address and returns `Opened …`, or `Asked for …` if the server sent no page.

    Returns as soon as the page starts to load.

    Raises:
        Refused: the policy does not allow the address, it cannot be reached, or nothing came within the deadline.
    """
    host_policy.check(url, policy)
    was, shown = page.url, safe_line(shown_address(url), LONGEST_SHOWN + 40)
    try:
        await _goto(page, url, deadline_s)
    except PlaywrightTimeout:
        raise Refused("unreachable", f"{shown} sent nothing within {deadline_s:g} s.") from None
    except PlaywrightError as error:
        if overlay.is_browser_gone(error):
            raise
        came = navigations.in_tab(page)
        if "Download is starting" in error.message or (came and came[-1].has_no_content):
            return f"Asked for {shown}"
        if await _loads_despite_crash(page, error):
            return f"Opened {shown}"
        raise Refused("unreachable", _unreachable_sentence(url, was, error, came[-1] if came else None)) from error
    return f"Opened {shown}"


def _unreachable_sentence(url: str, was: str, error: PlaywrightError, last: Navigation | None) -> str:
    reason = re.sub(r"^Page\.goto: ", "", error.message.splitlines()[0]).removesuffix(f" at {url}")
    if last is not None and last.error:
        reason = f"{failure_reason(last)} ({_NET}{last.error})"
    shown = shown_address(url)
    if "ERR_ABORTED" in error.message or was.startswith(("about:", "chrome-error:")):
        return f"{shown} could not be opened: {reason}."
    # For every other error Chromium shows its own error page a moment later.
    return f"{shown} could not be opened: {reason}. The browser shows its own error page; the previous page is gone."


async def _goto(page: Page, url: str, deadline_s: float) -> None:
    """Opens an address; tries once more if the browser's error page for the previous address came in between."""
    try:
        await page.goto(url, timeout=deadline_s * 1000, wait_until="commit")
    except PlaywrightError as error:
        if 'interrupted by another navigation to "chrome-error:' not in error.message:
            raise
        await page.goto(url, timeout=deadline_s * 1000, wait_until="commit")


async def _loads_despite_crash(page: Page, error: PlaywrightError) -> bool:
    """Whether the page loads despite the error: if a frame has crashed, Playwright reports one, but loads the page."""
    if not overlay.is_crash_error(error):
        return False
    try:
        await page.wait_for_event(
            "framenavigated", lambda frame: frame is page.main_frame, timeout=_AFTER_A_CRASH_S * 1000
        )
    except PlaywrightError:
        return False  # the page itself has crashed: only another tab helps
    return True


def _find_tab(sender: InputSender, number: int) -> Page:
    """The tab with this number in the observation."""
    pages = sender.seen.pages
    if not 1 <= number <= len(pages):
        raise Refused("unknown_mark", f"There is no tab {number}; there are {len(pages)}.")
    if pages[number - 1] not in sender.tabs.pages:
        raise Refused("gone", f"Tab {number} has been closed.")
    return pages[number - 1]


def _absolute_url(url: str, page: Page) -> str:
    try:
        return url if urlsplit(url).scheme else urljoin(page.url, url)
    except ValueError:
        raise Refused("unsupported", f"{safe_line(url, 200)} is not a valid address, so it was not opened.") from None


def _navigation_ms(sender: InputSender) -> float:
    return sender.settings.navigation_deadline_s * 1000
