"""Chooses options by their visible text, in native lists and in lists that a page built itself.

A custom list is used as a person would: click to open it, read what has appeared, and click the one option with the
wanted text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from playwright.async_api import Frame

from vision_agent.actions import Click, Select
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.key_focus import has_focus
from vision_agent.browser.act.select_field_text import select_field_text
from vision_agent.browser.act.set_directly import set_directly
from vision_agent.browser.locate import relocate
from vision_agent.browser.locate.location import Location
from vision_agent.browser.observe.listing import listed_option
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay_calls.fields import ListedValue
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark, MarkState
from vision_agent.text.escape import safe_line
from vision_agent.text.fold import folded

_CHOICES = {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "gridcell", "radio"}
_PARTS = {"textbox", "searchbox", "combobox", "button"}
_SHOWN_LISTS = {"listbox", "tree", "grid", "treegrid", "menu", "radiogroup"}
"""Lists that show their options; a click on one would choose what is under the pointer."""
_SCROLLED_LOOKS = 6
"""How often the deadline of one part of an action fits into the search through a long list."""
_MOST_OF_A_PAGE = 0.8
_LONG_LIST_PX = 1500.0
"""CSS pixels below the view, from which on a sorted list is searched by halves first."""
_MOST_HALVINGS = 16
_HALVED_TO_PX = 8.0
_MOST_OFFERED = 12
_TO_THE_TOP = 1e6
"""Views; farther than anything scrolls."""
_NUMBERS = re.compile(r"([0-9]{1,15})")
_SUGGESTED_S = 1.5
"""Wait for suggestions: many pages wait a third of a second for the next key, then ask a server."""


@dataclass(frozen=True)
class _OpenList:
    """The options that can be chosen now."""

    options: tuple[FoundMark, ...]
    scroller: str | None
    """The key of their scroll container."""
    frame: Frame | None
    passed: tuple[str, ...]
    """The names of all options that showed while the list was scrolled."""
    is_cut_short: bool = False
    """The time was up before the end of the list."""

    @property
    def names(self) -> list[str]:
        return [option.name for option in self.options]


async def select(sender: InputSender, action: Select) -> Attempt:
    """Chooses options in a list, or takes them out.

    Raises:
        Refused: the list lacks an option, has it twice, allows only one, or does not open.
    """
    at = await sender.aim(action.target, may_move=True)
    if at.mark is None or at.locator is None:
        raise Refused("unsupported", f"{at.words} is not a mark, so its options cannot be read. Click what you see.")
    if at.mark.tag == "select":
        return await _select_natively(sender, action, at)
    assert at.frame is not None
    if listed := await overlay_calls.fields.listed_values(at.frame, sender.deadline_s, at.mark.key):
        return await _take_listed(sender, action, at, listed)
    before: set[str] = sender.seen.scan.keys()
    remarks = [await _choose_option(sender, at, option, action, before) for option in action.options]
    is_so = not sender.sent_inputs
    sentence = _sentence(action, action.options, at.words, is_so=is_so)
    sentence = "; ".join([sentence, *dict.fromkeys(each for each in remarks if each and not is_so)])
    expected = None if action.change else ", ".join(action.options)
    return Attempt(sentence, at, expected=expected, is_already_so=is_so)


async def _select_natively(sender: InputSender, action: Select, at: Location) -> Attempt:
    state = at.element.state if at.element else MarkState()
    if not state.multiple and (action.change or len(action.options) > 1):
        raise Refused("unsupported", f"{at.words} allows one option only; select the one that it should have.")
    chosen = [_unique_option(state.options, option, at.words) for option in action.options]
    what = {"options": chosen, **({"change": action.change} if action.change else {})}
    was_set = await set_directly(sender, at, f"an option was chosen in {at.words}", what)
    expected = None if action.change else ", ".join(sorted(set(chosen), key=state.options.index))
    return Attempt(_sentence(action, chosen, at.words, is_so=not was_set), at, expected, is_already_so=not was_set)


async def _take_listed(sender: InputSender, action: Select, at: Location, listed: Sequence[ListedValue]) -> Attempt:
    """Takes a value that the browser suggests for a field."""
    assert at.mark is not None
    if action.change or len(action.options) != 1:
        raise Refused("unsupported", f"{at.words} holds one value only; select the one that it should have.")
    [wanted] = action.options
    values = list(dict.fromkeys(each.value for each in listed))
    if _match_option(wanted, values) is None:
        values = [each.label for each in listed]
    name = _unique_option(values, wanted, at.words)
    value = next(each.value for each in listed if name in (each.value, each.label))
    if at.mark.state.readonly:
        raise Refused("disabled", f"{at.words} is read-only.")
    await set_directly(sender, at, f"a value was put into {at.words}", {"value": value})
    return Attempt(_sentence(action, [name], at.words, is_so=False), at, expected=value)


def _sentence(action: Select, chosen: Sequence[str], words: str, *, is_so: bool) -> str:
    said, are = " and ".join(map(_quoted, chosen)), "is" if len(chosen) == 1 else "are"
    match action.change:
        case None | "add" if is_so:
            return f"{said} {are} selected in {words} already"
        case None:
            return f"Selected {said} in {words}"
        case "add":
            return f"Also selected {said} in {words}"
        case "remove":
            return f"{said} {are} {'not' if is_so else 'no longer'} selected in {words}"


def _unique_option(offered: Sequence[str], wanted: str, words: str, where: str = "") -> str:
    found = _match_option(wanted, offered)
    if found is None:
        offer = ", ".join(f'"{safe_line(option, 40)}"' for option in offered[:_MOST_OFFERED]) or "nothing"
        more = f" and {len(offered) - _MOST_OFFERED} more" if len(offered) > _MOST_OFFERED else ""
        raise Refused("not_an_option", f"{words} has no option {_quoted(wanted)}; it offers {offer}{more}.")
    if offered.count(found) > 1:
        numbers = " and ".join(str(n) for n, each in enumerate(offered, 1) if each == found)
        where = where or f"numbers {numbers} of its list"
        many = f"{words} has {offered.count(found)} options {_quoted(found)}"
        raise Refused("ambiguous", f"{many} ({where}), so none was chosen.")
    return found


def _match_option(wanted: str, offered: Sequence[str]) -> str | None:
    """The option with the exact text, else the only one that differs only in how accents are written, in case and
    spaces, or that the listing shows so; None if there is none.
    """
    if wanted in offered:
        return wanted
    for form, said in ((_composed, _composed(wanted)), (folded, folded(wanted)), (_folded_listed, folded(wanted))):
        loose = [option for option in offered if form(option) == said]
        if loose:
            return loose[0] if len(loose) == 1 else None
    return None


def _composed(text: str) -> str:
    return normalize("NFC", text)


def _folded_listed(option: str) -> str:
    return folded(listed_option(option))


async def _choose_option(sender: InputSender, at: Location, wanted: str, action: Select, before: set[str]) -> str:
    """Clicks one option: one that shows already, else one that a click opens, else one suggested for the typed text.

    Returns what else there is to say.
    """
    found = await _find_option(sender, at, wanted, before)
    if _match_option(wanted, found.names) is None and await _takes_text(sender, at):
        found = await _type_for_option(sender, at, wanted, before)
    elif not found.options:
        raise Refused("unsupported", f"{at.words} was clicked and opened nothing to choose from. Look again.")
    option = await _only_option(sender, at, wanted, found)
    if _allows_several(option) and _is_chosen(option.state) is (action.change != "remove"):
        return "" if action.change else f"{_quoted(option.name)} was selected already"
    if action.change and not (_allows_several(option) and _is_chosen(option.state) is not None):
        raise Refused("unsupported", f"{at.words} does not say that it allows several options; click the one you mean.")
    mark = await _click_option(sender, at, option)
    now = await sender.recheck(mark) if _allows_several(option) else None
    if now is not None and _is_chosen(now.state) is (action.change == "remove"):
        is_now = "still" if action.change == "remove" else "not"
        return f"{_quoted(option.name)} was clicked, and is {is_now} selected"
    chosen = {option.name, *action.options}
    others = [each.name for each in found.options if _is_chosen(each.state) and each.name not in chosen]
    if action.change or not others or not _allows_several(option):
        return ""
    return f"{', '.join(_quoted(name) for name in others)} {'stays' if len(others) == 1 else 'stay'} selected"


async def _only_option(sender: InputSender, at: Location, wanted: str, found: _OpenList) -> FoundMark:
    """The one option that is meant.

    Raises:
        Refused: there is none, or there are several, in view or not.
    """
    match = _match_option(wanted, found.names)
    if match is None and found.is_cut_short:
        raise Refused("timed_out", _unseen_end(at, wanted, found))
    places = [each.points[0] for each in found.options if each.name == match]
    where = " and ".join(f"at ({point.x:.0f}, {point.y:.0f})" for point in places)
    name = _unique_option(found.names if match else found.passed, wanted, at.words, where)
    [option] = [each for each in found.options if each.name == name]
    owner = sender.seen.scan.owner(option.key) or sender.seen.scan.owner(at.mark.key if at.mark else option.key)
    many = await overlay_calls.element.count_alike(owner.frame, sender.deadline_s, option.key) if owner else 1
    if many > 1:
        words = f"{at.words} has {many} options {_quoted(name)}, not all in view"
        raise Refused("ambiguous", f"{words}, so none was chosen. Scroll in it and click the one that is meant.")
    return option


async def _find_option(sender: InputSender, at: Location, wanted: str, before: set[str]) -> _OpenList:
    """The visible options, once the wanted one is among them or the list was opened and scrolled to its end."""
    assert at.mark is not None
    found = await _list_options(sender, at, before)
    if _match_option(wanted, found.names) is not None:
        return found
    if not (found.options and at.mark.role in _SHOWN_LISTS):
        now = await sender.recheck(at.mark) if found.options else None
        if now is None or not now.state.expanded:
            await sender.click(await sender.aim(at.mark.number, may_move=True), Click(target=at.mark.number))
            await sender.settle_page()
            found = await _list_options(sender, at, before)
    return await _scroll_to_option(sender, at, wanted, found, before)


async def _click_option(sender: InputSender, at: Location, option: FoundMark) -> Mark:
    assert at.mark is not None
    fresh = await relocate.rescan(sender.seen, sender.deadline_s)
    sender.seen, mark = relocate.adopt(sender.seen, fresh, option, at.mark)
    await sender.click(await sender.aim(mark.number, may_move=True), Click(target=mark.number))
    await sender.settle_page()
    return mark


def _allows_several(option: FoundMark) -> bool:
    is_ticked = option.state.checked is not None and option.role not in ("radio", "menuitemradio")
    return option.state.multiple or is_ticked


def _is_chosen(state: MarkState) -> bool | None:
    """Whether an option says that it is chosen; None if it says nothing."""
    return state.checked == "true" if state.checked is not None else state.selected


def _quoted(name: str) -> str:
    return f'"{safe_line(name, 60)}"'


async def _list_options(sender: InputSender, at: Location, before: set[str]) -> _OpenList:
    """Elements that have appeared since the look, or lie in the control or in what it controls (`aria-controls`)."""
    assert at.mark is not None
    scan = await relocate.rescan(sender.seen, sender.deadline_s)
    owner = sender.seen.scan.owner(at.mark.key)
    assert owner is not None
    here = [found for found in scan.marks if found.frame == at.mark.frame and found.key != at.mark.key]
    # A control's own field and arrow button are no options.
    known = [found.key for found in here if found.key in before and found.role not in _PARTS]
    inside = await overlay_calls.element.contained_keys(owner.frame, sender.deadline_s, at.mark.key, known)
    mine = [found for found in here if found.key not in before or found.key in inside]
    choices = [found for found in mine if found.role in _CHOICES]
    options = choices or [found for found in mine if found.kind != "scroller"]
    scroller = next((found.key for found in mine if found.kind == "scroller"), None)
    own = at.mark.key if at.mark.kind == "scroller" or at.mark.state.scroll is not None else None
    names = tuple(option.name for option in options)
    return _OpenList(tuple(options), scroller or own, owner.frame, names)


async def _type_for_option(sender: InputSender, at: Location, wanted: str, before: set[str]) -> _OpenList:
    """The options that are suggested for the wanted text, once it is typed.

    Raises:
        Refused: the wanted one is not among them. The field then gets its text back.
    """
    assert at.mark is not None
    now = await sender.recheck(at.mark)
    old = now.state.value if now and not now.state.masked else None
    await _replace_text(sender, at, wanted, f"text was typed into {at.words}")
    found = await _wait_for_suggestions(sender, at, wanted, before)
    if found.names.count(_match_option(wanted, found.names) or "") == 1:
        return found
    try:
        await _only_option(sender, at, wanted, found)
    except Refused as refusal:
        sentence = refusal.sentence if found.options else f"{at.words} suggested nothing for {_quoted(wanted)}."
        held = await _put_back(sender, at, old)
        kind = refusal.refusal if found.options else "unsupported"
        raise Refused(kind, f"{sentence} {_quoted(wanted)} was typed into it, and is not chosen{held}.") from refusal
    return found


async def _put_back(sender: InputSender, at: Location, old: str | None) -> str:
    """Gives a field its text back; a clause that says whether it has it."""
    assert at.mark is not None
    if old is None or not await has_focus(sender, at.mark):
        return ""
    await _replace_text(sender, at, old, "its own text was typed again")
    await sender.settle_page()
    now = await sender.recheck(at.mark)
    if now is None or now.state.value != old:
        return ""
    return f"; the field holds {_quoted(old)} again" if old else "; the field is empty again"


async def _replace_text(sender: InputSender, at: Location, text: str, words: str) -> None:
    sender.note_input(words, at)
    async with sender.guard_keys(at):
        await select_field_text(sender, at, or_nothing=False)
        if text:
            await sender.page.keyboard.type(text)
        else:
            await sender.page.keyboard.press("Delete")


async def _wait_for_suggestions(sender: InputSender, at: Location, wanted: str, before: set[str]) -> _OpenList:
    """The suggestions for the typed text, once the wanted option is among them or the time is up."""
    until = time.monotonic() + min(_SUGGESTED_S, sender.deadline_s)
    while True:
        await sender.settle_page()
        found = await _list_options(sender, at, before)
        is_there = _match_option(wanted, found.names) is not None
        if is_there or time.monotonic() > until:
            return found


def _unseen_end(at: Location, wanted: str, found: _OpenList) -> str:
    ends = " to ".join(_quoted(name) for name in (found.passed or ("nothing",))[:: max(1, len(found.passed) - 1)])
    seen = f"{len(found.passed)} options, {ends}, show no {_quoted(wanted)}"
    hint = "Scroll in it until the option shows, and click that."
    return f"{at.words} was not seen to its end before the time was up: {seen}. {hint}"


async def _scroll_to_option(
    sender: InputSender, at: Location, wanted: str, found: _OpenList, before: set[str]
) -> _OpenList:
    """Scrolls a long list from its top until it shows the option, its end, or the time is up."""
    until = time.monotonic() + _SCROLLED_LOOKS * sender.deadline_s
    if found.scroller and _match_option(wanted, found.names) is None:
        found = await _halve_to_option(sender, at, wanted, found, before)
        if _match_option(wanted, found.names) is not None:
            return await _to_the_middle(sender, at, wanted, found, before)
    step, passed, is_cut_short = -_TO_THE_TOP, dict.fromkeys(found.names), False
    while found.scroller and _match_option(wanted, found.names) is None:
        if time.monotonic() > until:
            is_cut_short = True
            break
        key, frame = found.scroller, found.frame
        assert frame is not None
        scrolled = await overlay_calls.scrolling.scroll(frame, sender.deadline_s, key, y=step)
        if scrolled is None:
            break
        is_first, step = step < 0, _MOST_OF_A_PAGE
        if is_first or abs(scrolled.moved_y) >= 1:
            await sender.settle_page()
            found = await _list_options(sender, at, before)
        else:
            found, has_more = await _wait_for_more(sender, at, found, before)
            if not has_more:
                break
        passed = dict.fromkeys(found.names) if is_first else passed | dict.fromkeys(found.names)
        if _match_option(wanted, found.names) is not None:
            found = await _to_the_middle(sender, at, wanted, found, before)
            break
    return replace(found, passed=tuple(passed), is_cut_short=is_cut_short)


async def _halve_to_option(
    sender: InputSender, at: Location, wanted: str, found: _OpenList, before: set[str]
) -> _OpenList:
    """The options at the place where a sorted list has the wanted one. The order is a hint only: whether the option is
    there is read, and a list that lacks it here is searched from its top.
    """
    low, high, by, in_pixels = 0.0, 0.0, -_TO_THE_TOP, False
    for halving in range(_MOST_HALVINGS):
        if not found.scroller or found.frame is None:
            break
        more = (found.frame, sender.deadline_s, found.scroller)
        scrolled = await overlay_calls.scrolling.scroll(*more, y=by, in_pixels=in_pixels)
        if scrolled is None:
            break
        if not halving:
            high, in_pixels = scrolled.below, True
        await sender.settle_page()
        found = await _list_options(sender, at, before)
        side = _side_of(wanted, found)
        if _match_option(wanted, found.names) is not None or not side or (not halving and high < _LONG_LIST_PX):
            break
        low, high = (scrolled.above, high) if side > 0 else (low, scrolled.above)
        if high - low < _HALVED_TO_PX:
            break
        by = (low + high) / 2 - scrolled.above
    return found


async def _to_the_middle(
    sender: InputSender, at: Location, wanted: str, found: _OpenList, before: set[str]
) -> _OpenList:
    """The options once the wanted one is away from the edge of the view: a list may draw its options anew as it is
    scrolled, and one that shows in part would be scrolled to as it is pressed.
    """
    places = [each.points[0].y for each in found.options]
    [place, *_] = [each.points[0].y for each in found.options if each.name == _match_option(wanted, found.names)]
    if found.scroller is None or found.frame is None:
        return found
    by = place - (min(places) + max(places)) / 2
    scrolled = await overlay_calls.scrolling.scroll(
        found.frame, sender.deadline_s, found.scroller, y=by, in_pixels=True
    )
    if scrolled is None or abs(scrolled.moved_y) < 1:
        return found
    await sender.settle_page()
    return await _list_options(sender, at, before)


def _side_of(wanted: str, found: _OpenList) -> int:
    """Whether an option comes before (-1) or after (1) all that show, if these are sorted; 0 if that cannot be told."""
    shown = [_order(each.name) for each in sorted(found.options, key=lambda each: each.points[0].y)]
    if len(shown) < 2 or shown != sorted(shown) or shown[0] == shown[-1]:
        return 0
    if _order(wanted) < shown[0]:
        return -1
    return 1 if _order(wanted) > shown[-1] else 0


def _order(name: str) -> list[tuple[str, int]]:
    """How names are sorted: numbers in them by their size."""
    parts = _NUMBERS.split(name.casefold())
    return [(text, int(digits or -1)) for text, digits in zip(parts[::2], [*parts[1::2], ""], strict=True)]


async def _wait_for_more(
    sender: InputSender, at: Location, found: _OpenList, before: set[str]
) -> tuple[_OpenList, bool]:
    """The options at the end of a list once others have come, and whether any have: some lists load as they go."""
    known = {option.key for option in found.options}
    until = time.monotonic() + min(_SUGGESTED_S, sender.deadline_s)
    while time.monotonic() < until:
        await sender.settle_page()
        assert found.frame is not None
        assert found.scroller is not None
        now = await _list_options(sender, at, before)
        scrolled = await overlay_calls.scrolling.scroll(
            found.frame, sender.deadline_s, found.scroller, y=_MOST_OF_A_PAGE
        )
        if scrolled is not None and scrolled.moved_y >= 1:
            await sender.settle_page()
            return await _list_options(sender, at, before), True
        if any(option.key not in known for option in now.options):
            return now, True
        found = now if now.scroller else found
    return found, False


async def _takes_text(sender: InputSender, at: Location) -> bool:
    """Whether the control is a focused text field, in which typing brings up suggestions."""
    assert at.mark is not None
    is_field = at.mark.tag in ("input", "textarea") and not at.mark.state.readonly
    return is_field and await has_focus(sender, at.mark)
