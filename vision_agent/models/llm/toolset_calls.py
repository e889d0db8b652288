"""Translates calls of Anthropic's browser toolset into actions: `ref_12` is mark 12.

Follows `browser_toolset_20260801` as typed by the installed client, whose classes parse the names and arguments. Knows
neither requests nor the conversation (`toolset`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from anthropic import types
from pydantic import BaseModel, ValidationError

from vision_agent.actions import (
    LONGEST_HOLD_S,
    Action,
    Back,
    Check,
    Click,
    CloseTab,
    Drag,
    Forward,
    Goto,
    Hover,
    Modifier,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    Select,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.base_model import words_of
from vision_agent.errors import FormatError
from vision_agent.geometry import PageMap
from vision_agent.models.reply import check_target
from vision_agent.observation import Mark, Observation

NOT_OFFERED = (
    "new_tab",
    "left_mouse_down",
    "left_mouse_up",
    "javascript_exec",
    "read_console",
    "read_network",
)
"""Tools of the toolset without an action here; scripts of a model are never run in the page."""
LOOKS = ("screenshot", "read_page", "find", "list_tabs")
"""Tools that are answered from the observation, without doing anything."""
_NOTCH = 100
"""Pixels that a page scrolls per notch of the wheel."""
_MOST_FOUND = 20
_SET = ("date", "datetime-local", "month", "week", "time", "color", "number", "range")
_MODIFIERS: dict[str, Modifier] = {
    "alt": "Alt",
    "option": "Alt",
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "meta": "Meta",
    "super": "Meta",
    "shift": "Shift",
}
_KEYS = {
    "return": "Enter",
    "backspace": "Backspace",
    "esc": "Escape",
    "del": "Delete",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "page_up": "PageUp",
    "page_down": "PageDown",
    "space": "Space",
}


class ShownObservation(NamedTuple):
    """The observation and the screenshot that a call refers to."""

    observation: Observation
    frame: PageMap | None
    """The map of the screenshot whose pixels are meant; None if no screenshot of the current page was shown."""


def parse_input(name: str, given: dict[str, Any]) -> Any:
    """The parsed arguments of a call.

    Raises:
        FormatError: the tool is not offered, or the arguments do not fit.
    """
    if name not in {*_ACTIONS, *LOOKS}:
        raise FormatError(f"`{name}` is not offered. Use another tool.")
    form = getattr(types, "Browser" + "".join(part.capitalize() for part in name.split("_")) + "Input")
    try:
        return form.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {words_of(each)}" for each in error.errors()[:3])
        raise FormatError(f"The arguments of `{name}` do not fit: {faults}.") from error


def call_actions(
    name: str, given: dict[str, Any], shown: ShownObservation, before: Sequence[Action]
) -> tuple[Action, ...]:
    """The actions of a call; `before` are the actions before it in the same turn.

    Raises:
        FormatError: the call names a missing target, or a tool that is not offered.
    """
    arguments = parse_input(name, given)
    tab = next((each.number for each in shown.observation.tabs if each.active), None)
    if name not in ("switch_tab", "close_tab") and getattr(arguments, "tab_id", None) not in (None, "", str(tab)):
        raise FormatError(f"`{name}` is for tab {arguments.tab_id}, but tab {tab} is active. Use `switch_tab` first.")
    actions = _ACTIONS[name](arguments, shown, before)
    for action in actions:
        for target in (getattr(action, field, None) for field in ("source", "target", "mark", "to")):
            if isinstance(target, int | Point):
                check_target(target, shown.observation, f"`{name}`")
    return actions


def lines_with_refs(listing: str) -> list[str]:
    """The lines of a listing in the form of `read_page`, with references."""
    lines = [re.sub(r"^[A-Z]?(\d+)\[:\]", r"[ref_\1] ", line) for line in listing.splitlines()]
    return [re.sub(r"^_\[(\d+ row \d+)\]", r"[ref_\1] ", line).removeprefix("_[:]") for line in lines]


def matching_lines(query: str, listing: str) -> list[str]:
    """The lines with a reference that match most words of a query, best first, at most twenty."""
    words = set(re.findall(r"\w+", query.casefold()))
    lines = [line for line in lines_with_refs(listing) if line.startswith("[ref_")]
    scored = [(len(words & set(re.findall(r"\w+", line.casefold()))), line) for line in lines]
    return [line for score, line in sorted(scored, key=lambda each: -each[0]) if score][:_MOST_FOUND]


def mark_number(ref: str | int) -> int:
    """The number of the mark that a reference names.

    Raises:
        FormatError: it is not a reference.
    """
    number = re.fullmatch(r"\[?(?:ref_)?([0-9]{1,9})\]?", str(ref).strip())
    if number is None:
        raise FormatError(f"{str(ref)[:60]!r} is not a reference. Take one from `read_page` or `find`, such as ref_12.")
    return int(number[1])


# --- one function for each kind of call -------------------------------------------------------------------------------

_Made = tuple[Action, ...]
_Maker = Callable[[Any, ShownObservation, Sequence[Action]], _Made]


def _target(target: Any, shown: ShownObservation) -> Target:
    return mark_number(target.ref) if target.type == "ref" else _point(target.x, target.y, shown)


def _point(x: float, y: float, shown: ShownObservation) -> Point:
    if shown.frame is None:
        raise FormatError(
            "The page was observed again since your last screenshot, so a coordinate may mean something else. "
            "Take a screenshot first, or name a reference."
        )
    return shown.observation.marked.map.to_picture(shown.frame.to_page(Point(x=x, y=y)))


def _mark(target: Any, shown: ShownObservation) -> Mark:
    number = mark_number(target.ref)
    check_target(number, shown.observation, "`target`")
    mark = shown.observation.known_mark(number)
    assert mark is not None
    return mark


def _modifiers(chord: str | None) -> tuple[Modifier, ...]:
    parts = [part.strip().casefold() for part in (chord or "").split("+") if part.strip()]
    unknown = next((part for part in parts if part not in _MODIFIERS), None)
    if unknown is not None:
        raise FormatError(f"{unknown[:30]!r} is not a modifier. Known are alt, ctrl, cmd, shift.")
    return tuple(dict.fromkeys(_MODIFIERS[part] for part in parts))


def _clicks(**how: Any) -> _Maker:
    return lambda arguments, shown, _: (
        Click(target=_target(arguments.target, shown), modifiers=_modifiers(arguments.modifiers), **how),
    )


def _navigate(arguments: Any, _: ShownObservation, __: Sequence[Action]) -> _Made:
    history: dict[str, Action] = {"back": Back(), "forward": Forward(), "reload": Reload()}
    url = arguments.url.strip()
    return (history.get(url) or Goto(url=url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.I) else f"https://{url}"),)


def _tab(tab_id: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", tab_id):
        raise FormatError(f"{tab_id[:30]!r} is not a tab. Take one from `list_tabs`.")
    return int(tab_id)


def _form_input(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    mark, value = _mark(arguments.target, shown), arguments.value
    if isinstance(value, bool) != (mark.kind == "toggle"):
        wants = "true or false" if mark.kind == "toggle" else "a text or a number"
        raise FormatError(f"ref_{mark.number} is the {mark.role} {mark.name[:60]!r}; give {wants} as its value.")
    if isinstance(value, bool):
        return (Check(mark=mark.number, checked=value),)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if mark.tag == "select" or mark.role == "listbox" or mark.state.options:
        return (Select(target=mark.number, options=(text,)),)
    if mark.state.input_type in _SET or mark.role in ("slider", "spinbutton"):
        return (Set(mark=mark.number, value=text),)
    return (Type(target=mark.number, text=text),)


def _type(arguments: Any, shown: ShownObservation, before: Sequence[Action]) -> _Made:
    last = next((each.target for each in reversed(before) if isinstance(each, Click | Type)), None)
    focused = next((mark.number for mark in shown.observation.marks if mark.state.focused), None)
    target = last if last is not None else focused
    if target is None:
        raise FormatError("No field has the focus, so nothing can be typed. Click a field first, or use `form_input`.")
    return (Type(target=target, text=arguments.text, clear=False),)


def _key(arguments: Any, _: ShownObservation, __: Sequence[Action]) -> _Made:
    repeat = arguments.repeat or 1
    if not 1 <= repeat <= 100:
        raise FormatError(f"A key cannot be pressed {repeat} times; 1 to 100 are possible.")
    presses = tuple(Press(keys=_chord(each), count=repeat) for each in arguments.text.split())
    if not presses:
        raise FormatError("`key` names no key.")
    return presses


def _hold_key(arguments: Any, _: ShownObservation, __: Sequence[Action]) -> _Made:
    if not 0 < arguments.duration <= LONGEST_HOLD_S:
        raise FormatError(
            f"A key cannot be held for {arguments.duration:g} s; up to {LONGEST_HOLD_S:g} s are possible."
        )
    if not arguments.text.strip():
        raise FormatError("`hold_key` names no key.")
    return (Press(keys=_chord(arguments.text.strip()), seconds=arguments.duration),)


def _chord(text: str) -> str:
    *held, key = text.split("+") if text != "+" else ["+"]
    return "+".join([*_modifiers("+".join(held)), _KEYS.get(key.casefold(), key)])


def _scroll(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    seen, notches = shown.observation, 3 if arguments.scroll_amount is None else arguments.scroll_amount
    if not 1 <= notches <= 10:
        raise FormatError(f"The wheel cannot turn {notches} notches; 1 to 10 are possible.")
    size = seen.viewport.height if arguments.scroll_direction in ("up", "down") else seen.viewport.width
    at = _target(arguments.target, shown)
    return (Scroll(direction=arguments.scroll_direction, pages=notches * _NOTCH / size, target=at),)


def _zoom(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    if (
        len(arguments.region) != 4
        or arguments.region[0] >= arguments.region[2]
        or arguments.region[1] >= arguments.region[3]
    ):
        raise FormatError(
            f"{arguments.region} is not a region. Give [x0, y0, x1, y1] in pixels of the last screenshot."
        )
    x0, y0, x1, y1 = arguments.region
    return (Zoom(target=_point(x0, y0, shown), to=_point(x1, y1, shown)),)


def _upload(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    files = tuple(PurePath(path).name for path in arguments.paths or ())
    if not files:
        raise FormatError("`file_upload` names no file. Give the names of files of the task in `paths`.")
    return (Upload(mark=_mark(arguments.target, shown).number, files=files),)


def _drag(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    return (Drag(source=_target(arguments.from_, shown), target=_target(arguments.target, shown)),)


def _wait(arguments: Any, _: ShownObservation, __: Sequence[Action]) -> _Made:
    if not 0 < arguments.duration <= 30:
        raise FormatError(f"A wait of {arguments.duration:g} s is not possible; up to 30 s are.")
    return (Wait(seconds=arguments.duration),)


def _hover(arguments: Any, shown: ShownObservation, _: Sequence[Action]) -> _Made:
    return (Hover(target=_target(arguments.target, shown)),)


_ACTIONS: dict[str, _Maker] = {
    "navigate": _navigate,
    "switch_tab": lambda arguments, _, __: (SwitchTab(tab=_tab(arguments.tab_id)),),
    "close_tab": lambda arguments, _, __: (CloseTab(tab=_tab(arguments.tab_id)),),
    "get_page_text": lambda _, __, ___: (Read(what="page"),),
    "form_input": _form_input,
    "file_upload": _upload,
    "scroll_to": lambda arguments, shown, _: (Scroll(target=_mark(arguments.target, shown).number, to="middle"),),
    "zoom": _zoom,
    "left_click": _clicks(),
    "right_click": _clicks(button="right"),
    "middle_click": _clicks(button="middle"),
    "double_click": _clicks(count=2),
    "triple_click": _clicks(count=3),
    "hover": _hover,
    "mouse_move": _hover,
    "left_click_drag": _drag,
    "scroll": _scroll,
    "type": _type,
    "key": _key,
    "hold_key": _hold_key,
    "wait": _wait,
}


def own_action(form: type[BaseModel], given: dict[str, Any], observation: Observation) -> Any:
    """The action of a call of one of our own tools, which the toolset lacks.

    Raises:
        FormatError: the arguments do not fit, or name a missing target.
    """
    kind = form.model_fields["kind"].default
    exact = dict(given)
    if isinstance(given.get("evidence"), list):
        exact["evidence"] = [mark_number(each) for each in given["evidence"] if not isinstance(each, bool)]
    for field in ("source", "target", "mark"):
        if isinstance(given.get(field), str):
            exact[field] = mark_number(given[field])
    try:
        action = form.model_validate({**exact, "kind": kind})
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {words_of(each)}" for each in error.errors()[:3])
        raise FormatError(f"The arguments of `{kind}` do not fit: {faults}.") from error
    named = [getattr(action, field, None) for field in ("source", "target", "mark")]
    for target in (*named, *getattr(action, "evidence", ())):
        if isinstance(target, int | Point):
            check_target(target, observation, f"`{kind}`")
    return action
