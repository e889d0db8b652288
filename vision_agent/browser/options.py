"""Chooses options by the text they show: of the browser's own lists, and of lists that a page made itself.

Of the latter nothing is assumed but what a person would go by: it is opened by a click, what has come then is read, and
the one thing of it that says what is wanted is clicked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.actions import Click, Select
from vision_agent.browser import ladder, overlay
from vision_agent.browser.effect import Done
from vision_agent.browser.hands import Hands
from vision_agent.browser.ladder import Raw
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Located
from vision_agent.browser.refusal import Refused

_CHOICES = {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "gridcell", "radio"}
_PARTS = {"textbox", "searchbox", "combobox", "button"}
_MOST_PAGES = 40
"""Of a long list, that are scrolled through for an option."""
_SUGGESTED_S = 1.5
"""Until what fits a typed text shows: many wait a third of a second for the next key, then ask a server."""


@dataclass(frozen=True)
class _List:
    """What could be chosen just now."""

    options: tuple[Raw, ...]
    scroller: str | None
    """The key of what scrolls them."""


async def select(hands: Hands, action: Select) -> Done:
    """Chooses options in a list.

    Raises:
        Refused: it does not offer one of them, offers it twice, or opens no list.
    """
    at = await hands.aim(action.target)
    if at.mark is None or at.locator is None:
        raise Refused("unsupported", f"{at.words} is no mark, so what it offers cannot be read. Click what you see.")
    chosen = list(action.options)
    if at.mark.tag == "select":
        offered = (at.answer or {}).get("state", {}).get("options", [])
        chosen = [_only(offered, option, at.words) for option in chosen]
        choosing = at.locator.select_option(label=chosen, timeout=hands.timeout_ms)
        await hands.at_once(choosing, f"an option was chosen in {at.words}", at)
    else:
        before = {raw["key"] for raw in hands.seen.scan.marks}
        for option in chosen:
            await _choose(hands, at, option, before)
    said = " and ".join(f'"{plain(option, 60)}"' for option in chosen)
    return Done(f"Selected {said} in {at.words}", at, expected=", ".join(chosen))


def _only(offered: Sequence[str], wanted: str, words: str) -> str:
    found = _option(wanted, offered)
    if found is None:
        offer = ", ".join(f'"{plain(option, 40)}"' for option in offered[:12]) or "nothing"
        raise Refused("not_an_option", f'{words} has no option "{plain(wanted, 60)}"; it offers {offer}.')
    if offered.count(found) > 1:
        raise Refused("ambiguous", f'{words} has {offered.count(found)} options "{plain(found, 60)}".')
    return found


def _option(wanted: str, offered: Sequence[str]) -> str | None:
    """The option that is meant: the exact text, else the only one that is the same but for case and spaces."""
    if wanted in offered:
        return wanted
    loose = [option for option in offered if option.casefold().split() == wanted.casefold().split()]
    return loose[0] if len(loose) == 1 else None


async def _choose(hands: Hands, at: Located, wanted: str, before: set[str]) -> None:
    """Clicks one option: of what shows already, else of what a click opens, else of what the text brings up."""
    assert at.mark is not None
    found = await _offered(hands, at, before)
    if _option(wanted, [raw["name"] for raw in found.options]) is None:
        if not (found.options and (await hands.recheck(at.mark)).get("state", {}).get("expanded")):
            await hands.click(await hands.aim(at.mark.number), Click(target=at.mark.number))
            await hands.settled()
            found = await _offered(hands, at, before)
        found = await _scrolled_to(hands, at, wanted, found, before)
    if _option(wanted, [raw["name"] for raw in found.options]) is None and await _takes_text(hands, at):
        hands.note(f"text was typed into {at.words}", at)
        await hands.page.keyboard.press("ControlOrMeta+a")
        await hands.page.keyboard.type(wanted)
        found = await _suggested(hands, at, wanted, before)
        if not found.options:
            typed = f'"{plain(wanted, 60)}" was typed into it, and is not chosen'
            raise Refused("unsupported", f"{at.words} suggested nothing to choose from; {typed}. Look again.")
    if not found.options:
        raise Refused("unsupported", f"{at.words} was clicked and opened nothing to choose from. Look again.")
    name = _only([raw["name"] for raw in found.options], wanted, at.words)
    option = next(raw for raw in found.options if raw["name"] == name)
    fresh = await ladder.glance(hands.seen, hands.deadline_s)
    hands.seen, mark = ladder.adopt(hands.seen, fresh, option, at.mark)
    await hands.click(await hands.aim(mark.number), Click(target=mark.number))
    await hands.settled()


async def _offered(hands: Hands, at: Located, before: set[str]) -> _List:
    """What has come since the look, or lies in the control or in what it says it controls."""
    assert at.mark is not None
    scan = await ladder.glance(hands.seen, hands.deadline_s)
    owner = hands.seen.scan.owner(at.mark.key)
    assert owner is not None
    here = [raw for raw in scan.marks if raw["frame"] == at.mark.frame and raw["key"] != at.mark.key]
    # Of what a control held all along, its own field and arrow are nothing to choose.
    known = [raw["key"] for raw in here if raw["key"] in before and raw["role"] not in _PARTS]
    inside = await overlay.ask(owner.frame, "within", hands.deadline_s, key=at.mark.key, keys=known)
    mine = [raw for raw in here if raw["key"] not in before or raw["key"] in inside["keys"]]
    options = [raw for raw in mine if raw["role"] in _CHOICES] or [raw for raw in mine if raw["kind"] != "scroller"]
    return _List(tuple(options), next((raw["key"] for raw in mine if raw["kind"] == "scroller"), None))


async def _suggested(hands: Hands, at: Located, wanted: str, before: set[str]) -> _List:
    """What the text that was just typed brings up, once the option is there or when the time for it is over."""
    until = time.monotonic() + min(_SUGGESTED_S, hands.deadline_s)
    while True:
        await hands.settled()
        found = await _offered(hands, at, before)
        is_there = _option(wanted, [raw["name"] for raw in found.options]) is not None
        if is_there or time.monotonic() > until:
            return found


async def _scrolled_to(hands: Hands, at: Located, wanted: str, found: _List, before: set[str]) -> _List:
    """The part of a long list that holds the option, or its end."""
    assert at.mark is not None
    owner = hands.seen.scan.owner(at.mark.key)
    assert owner is not None
    for _ in range(_MOST_PAGES):
        if found.scroller is None or _option(wanted, [raw["name"] for raw in found.options]) is not None:
            return found
        moved = await overlay.ask(owner.frame, "scroll", hands.deadline_s, key=found.scroller, x=0, y=0.8)
        if not moved["found"] or moved["movedY"] < 1:
            return found
        await hands.settled()
        found = await _offered(hands, at, before)
    return found


async def _takes_text(hands: Hands, at: Located) -> bool:
    """Whether the control is a field that has the focus, where typing brings up what fits."""
    assert at.mark is not None
    is_field = at.mark.tag in ("input", "textarea") and not at.mark.state.readonly
    return is_field and await hands.has_focus(at.mark)
