"""Chooses options by their visible text, in native lists and in lists that a page built itself.

A custom list is used as a person would: click to open it, read what has appeared, and click the one option with the
wanted text.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.actions import Click, Select
from vision_agent.browser.act.direct_input import set_directly
from vision_agent.browser.act.execution import Execution
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.held_text import select_held_text
from vision_agent.browser.locate import relocate
from vision_agent.browser.locate.location import Location
from vision_agent.browser.observe.listing import listed_option
from vision_agent.browser.page import protocol
from vision_agent.browser.page.protocol import FoundMark
from vision_agent.browser.refusal import Refused
from vision_agent.escape import safe_line

_CHOICES = {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "gridcell", "radio"}
_PARTS = {"textbox", "searchbox", "combobox", "button"}
_MOST_PAGES = 40
"""Pages of a long list to scroll through for an option."""
_MOST_OF_A_PAGE = 0.8
_SUGGESTED_S = 1.5
"""Wait for suggestions: many pages wait a third of a second for the next key, then ask a server."""


@dataclass(frozen=True)
class _OpenList:
    """The options that can be chosen now."""

    options: tuple[FoundMark, ...]
    scroller: str | None
    """The key of their scroll container."""

    @property
    def names(self) -> list[str]:
        return [option.name for option in self.options]


async def select(executor: Executor, action: Select) -> Execution:
    """Chooses options in a list.

    Raises:
        Refused: the list lacks an option, has it twice, or does not open.
    """
    at = await executor.aim(action.target)
    if at.mark is None or at.locator is None:
        raise Refused("unsupported", f"{at.words} is not a mark, so its options cannot be read. Click what you see.")
    chosen = list(action.options)
    if at.mark.tag == "select":
        offered = at.element.state.options if at.element else ()
        chosen = [_unique_option(offered, option, at.words) for option in chosen]
        await set_directly(executor, at, f"an option was chosen in {at.words}", {"options": chosen})
    else:
        before: set[str] = executor.seen.scan.keys()
        for option in chosen:
            await _choose_option(executor, at, option, before)
    said = " and ".join(f'"{safe_line(option, 60)}"' for option in chosen)
    return Execution(f"Selected {said} in {at.words}", at, expected=", ".join(chosen))


def _unique_option(offered: Sequence[str], wanted: str, words: str) -> str:
    found = _match_option(wanted, offered)
    if found is None:
        offer = ", ".join(f'"{safe_line(option, 40)}"' for option in offered[:12]) or "nothing"
        raise Refused("not_an_option", f'{words} has no option "{safe_line(wanted, 60)}"; it offers {offer}.')
    if offered.count(found) > 1:
        raise Refused("ambiguous", f'{words} has {offered.count(found)} options "{safe_line(found, 60)}".')
    return found


def _match_option(wanted: str, offered: Sequence[str]) -> str | None:
    """The option with the exact text, else the only one that differs just in case and spaces or that the listing shows
    so; None if there is none.
    """
    if wanted in offered:
        return wanted
    for form in (str, listed_option):
        loose = [option for option in offered if form(option).casefold().split() == wanted.casefold().split()]
        if loose:
            return loose[0] if len(loose) == 1 else None
    return None


async def _choose_option(executor: Executor, at: Location, wanted: str, before: set[str]) -> None:
    """Clicks one option: one that shows already, else one that a click opens, else one suggested for the typed text."""
    assert at.mark is not None
    found = await _list_options(executor, at, before)
    if _match_option(wanted, found.names) is None:
        now = await executor.recheck(at.mark) if found.options else None
        if now is None or not now.state.expanded:
            await executor.click(await executor.aim(at.mark.number), Click(target=at.mark.number))
            await executor.settle_page()
            found = await _list_options(executor, at, before)
        found = await _scroll_to_option(executor, at, wanted, found, before)
    if _match_option(wanted, found.names) is None and await _takes_text(executor, at):
        await select_held_text(executor, at, or_nothing=False)
        await executor.page.keyboard.type(wanted)
        found = await _wait_for_suggestions(executor, at, wanted, before)
        if not found.options:
            typed = f'"{safe_line(wanted, 60)}" was typed into it, and is not chosen'
            raise Refused("unsupported", f"{at.words} suggested nothing to choose from; {typed}. Look again.")
    if not found.options:
        raise Refused("unsupported", f"{at.words} was clicked and opened nothing to choose from. Look again.")
    name = _unique_option(found.names, wanted, at.words)
    option = next(each for each in found.options if each.name == name)
    fresh = await relocate.rescan(executor.seen, executor.deadline_s)
    executor.seen, mark = relocate.adopt(executor.seen, fresh, option, at.mark)
    await executor.click(await executor.aim(mark.number), Click(target=mark.number))
    await executor.settle_page()


async def _list_options(executor: Executor, at: Location, before: set[str]) -> _OpenList:
    """Elements that have appeared since the look, or lie in the control or in what it controls (`aria-controls`)."""
    assert at.mark is not None
    scan = await relocate.rescan(executor.seen, executor.deadline_s)
    owner = executor.seen.scan.owner(at.mark.key)
    assert owner is not None
    here = [found for found in scan.marks if found.frame == at.mark.frame and found.key != at.mark.key]
    # A control's own field and arrow button are no options.
    known = [found.key for found in here if found.key in before and found.role not in _PARTS]
    inside = await protocol.contained_keys(owner.frame, executor.deadline_s, at.mark.key, known)
    mine = [found for found in here if found.key not in before or found.key in inside]
    choices = [found for found in mine if found.role in _CHOICES]
    options = choices or [found for found in mine if found.kind != "scroller"]
    return _OpenList(tuple(options), next((found.key for found in mine if found.kind == "scroller"), None))


async def _wait_for_suggestions(executor: Executor, at: Location, wanted: str, before: set[str]) -> _OpenList:
    """The suggestions for the typed text, once the wanted option is among them or the time is up."""
    until = time.monotonic() + min(_SUGGESTED_S, executor.deadline_s)
    while True:
        await executor.settle_page()
        found = await _list_options(executor, at, before)
        is_there = _match_option(wanted, found.names) is not None
        if is_there or time.monotonic() > until:
            return found


async def _scroll_to_option(
    executor: Executor, at: Location, wanted: str, found: _OpenList, before: set[str]
) -> _OpenList:
    """Scrolls a long list until it shows the option, or to its end."""
    assert at.mark is not None
    owner = executor.seen.scan.owner(at.mark.key)
    assert owner is not None
    for _ in range(_MOST_PAGES):
        if found.scroller is None or _match_option(wanted, found.names) is not None:
            return found
        scrolled = await protocol.scroll(owner.frame, executor.deadline_s, found.scroller, y=_MOST_OF_A_PAGE)
        if scrolled is None or scrolled.moved_y < 1:
            return found
        await executor.settle_page()
        found = await _list_options(executor, at, before)
    return found


async def _takes_text(executor: Executor, at: Location) -> bool:
    """Whether the control is a focused text field, in which typing brings up suggestions."""
    assert at.mark is not None
    is_field = at.mark.tag in ("input", "textarea") and not at.mark.state.readonly
    return is_field and await executor.has_focus(at.mark)
