"""Translates our actions into BrowserGym calls such as `click('12')`, by its ids and its screenshot's pixels.

An action that its calls cannot express becomes a refused `Outcome` with a sentence for the model; nothing else is done
in its place. No environment is needed: a call is a string, and `CallSet` tells BrowserGym how to carry it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vision_agent import actions
from vision_agent.actions import Action, Cell, Offset, Point, Target, chord_keys
from vision_agent.describe.action_sentences import describe_action
from vision_agent.observation import Mark, Observation
from vision_agent.types import Outcome, Refusal

NOTHING = "noop(0)"
"""The call that does nothing: BrowserGym requires an action for each observation."""

_FAR = 100_000
"""Pixels for scrolling to the end."""
_MOST_CALLS = 30
_SUBSETS = ("chat", "infeas", "bid", "coord", "nav", "tab")


@dataclass(frozen=True)
class CallSet:
    """Tells BrowserGym how to run our calls, in the shape of its own `HighLevelActionSet`."""

    subsets: tuple[str, ...] = _SUBSETS

    def to_python_code(self, action: str) -> str:
        """The code that BrowserGym runs for a call, with its own functions.

        The import is inside that code, because BrowserGym need not be installed here.
        """
        return (
            "from browsergym.core.action.highlevel import HighLevelActionSet\n"
            f"exec(HighLevelActionSet(subsets={list(self.subsets)!r}, multiaction=True, strict=True)"
            f".to_python_code({action!r}))\n"
        )

    def describe(self, with_long_description: bool = True, with_examples: bool = True) -> str:
        """A description of the calls for people; our models read about our own actions instead."""
        del with_long_description
        text = f"Calls of BrowserGym's action subsets {', '.join(self.subsets)}, one a line."
        return f"{text} Example:\n{self.example_action(abstract=False)}" if with_examples else text

    def example_action(self, abstract: bool) -> str:
        """An example call, or a description of one."""
        return "One or several calls, one a line." if abstract else "click('12')"


class _CannotSayError(Exception):
    def __init__(self, refusal: Refusal, sentence: str) -> None:
        super().__init__(sentence)
        self.refusal: Refusal = refusal
        self.sentence = sentence


def calls_for(action: Action, seen: Observation) -> str | Outcome:
    """The calls for an action, one a line; or its outcome, if BrowserGym need not or cannot carry it out."""
    try:
        calls = _CALLS[action.kind](action, seen) if action.kind in _CALLS else None
    except _CannotSayError as error:
        return Outcome(
            status="refused", refusal=error.refusal, sentence=f"{describe_action(action, seen)}: {error.sentence}"
        )
    if calls is None:
        why = _WHY_NOT.get(action.kind, "BrowserGym has no such action; use another one.")
        return Outcome(status="refused", refusal="unsupported", sentence=f"{describe_action(action, seen)}: {why}")
    if isinstance(calls, Outcome):
        return calls
    if len(calls) > _MOST_CALLS:
        sentence = (
            f"{describe_action(action, seen)}: this needs {len(calls)} calls, but at most {_MOST_CALLS} are allowed."
        )
        return Outcome(status="refused", refusal="unsupported", sentence=sentence)
    return "\n".join(calls)


_WHY_NOT = {
    "double_tap": "BrowserGym has no touch; double-click it instead.",
    "reload": "BrowserGym cannot reload a page; open its address with goto instead.",
    "upload": "This task has no files.",
    "select_text": "BrowserGym cannot select text by its words; drag from one point to another instead.",
    "scroll_to": "BrowserGym cannot search a page for words; scroll instead.",
    "look_at": "BrowserGym provides one picture of the view and none of a part; the readable text is in the listing.",
    "pan": "BrowserGym cannot measure how far a drawing moved; drag from one point to another instead.",
    "magnify": "BrowserGym cannot turn the wheel over a point; scroll, or use the page's own buttons.",
    "find_on": "BrowserGym cannot search a drawing for words; drag or scroll, and look.",
    "zoom": "BrowserGym provides one picture of the view and no closer one; the readable text is in the listing.",
    "read": "BrowserGym provides no more text than the listing has; scroll to see more.",
    "extract": "BrowserGym provides no tables; what is in view is in the listing.",
    "ask": "Nobody answers in an evaluation, and a question would count as the answer; decide by yourself.",
    "custom": "Custom actions need this package's own browser.",
}

Calls = list[str] | Outcome


def _click(action: actions.Click, seen: Observation) -> Calls:
    name = {1: "click", 2: "dblclick"}.get(action.count)
    if name is None:
        raise _CannotSayError("unsupported", "BrowserGym has no triple click.")
    button = {} if action.button == "left" else {"button": action.button}
    if isinstance(action.target, Point):
        if action.modifiers:
            raise _CannotSayError("unsupported", "BrowserGym cannot hold keys while it clicks a point; name a mark.")
        return [_call(f"mouse_{name}", *_at(action.target, seen), **button)]
    keys = {"modifiers": list(action.modifiers)} if action.modifiers else {}
    return [_call(name, _bid(action.target, seen), **button, **keys)]


def _type(action: actions.Type, seen: Observation) -> Calls:
    if isinstance(action.target, Point):
        calls = [_call("mouse_click", *_at(action.target, seen))]
        if action.clear:
            calls += [_call("keyboard_press", "ControlOrMeta+a"), _call("keyboard_press", "Delete")]
        calls += [_call("keyboard_type", action.text)] * bool(action.text)
        return calls + [_call("keyboard_press", "Enter")] * action.submit
    bid = _bid(action.target, seen)
    if action.clear:
        calls = [_call("fill", bid, action.text)]
    else:
        calls = [_call("press", bid, "ControlOrMeta+End"), _call("keyboard_type", action.text)]
    return calls + [_call("press", bid, "Enter")] * action.submit


def _select(action: actions.Select, seen: Observation) -> Calls:
    mark = _mark(action.target, seen)
    if mark.tag != "select":
        raise _CannotSayError(
            "unsupported", "BrowserGym chooses only from native lists, and this is not one; click it, then the option."
        )
    if action.change:
        words = "BrowserGym chooses all options of a list at once; name all that it should have."
        raise _CannotSayError("unsupported", words)
    if missing := [option for option in action.options if mark.state.options and option not in mark.state.options]:
        raise _CannotSayError("not_an_option", f"its options do not include {', '.join(missing)}.")
    return [_call("select_option", mark.key, list(action.options) if len(action.options) > 1 else action.options[0])]


def _check(action: actions.Check, seen: Observation) -> Calls:
    mark = _mark(action.mark, seen)
    if mark.state.checked is None:
        raise _CannotSayError("unsupported", "its checked state is unknown; click it instead.")
    if (mark.state.checked == "true") == action.checked:
        sentence = f"{describe_action(action, seen)}: it already was."
        return Outcome(status="done", effect="as_wanted", sentence=sentence)
    return [_call("click", mark.key)]


def _set(action: actions.Set, seen: Observation) -> Calls:
    mark = _mark(action.mark, seen)
    if mark.tag != "input":
        raise _CannotSayError("unsupported", "BrowserGym sets only native inputs; use keys or drag it instead.")
    return [_call("fill", mark.key, action.value)]


def _press(action: actions.Press, seen: Observation) -> Calls:
    if action.seconds:
        return _hold_keys(action, seen)
    if action.target is None:
        return [_call("keyboard_press", action.keys)] * action.count
    if isinstance(action.target, Point):
        first = _call("mouse_click", *_at(action.target, seen))
        return [first, *[_call("keyboard_press", action.keys)] * action.count]
    return [_call("press", _bid(action.target, seen), action.keys)] * action.count


def _hold_keys(action: actions.Press, seen: Observation) -> Calls:
    first = []
    if isinstance(action.target, Point):
        first = [_call("mouse_click", *_at(action.target, seen))]
    elif action.target is not None:
        first = [_call("focus", _bid(action.target, seen))]
    keys = chord_keys(action.keys)
    down, up = [_call("keyboard_down", key) for key in keys], [_call("keyboard_up", key) for key in reversed(keys)]
    return [*first, *[*down, _call("noop", round((action.seconds or 0) * 1000)), *up] * action.count]


def _hold(action: actions.Hold, seen: Observation) -> Calls:
    if action.until:
        raise _CannotSayError("unsupported", "BrowserGym cannot wait for a text while it holds; give only seconds.")
    if action.touch:
        raise _CannotSayError("unsupported", "BrowserGym has no finger; hold the button instead.")
    at = _at(action.target, seen)
    return [_call("mouse_down", *at), _call("noop", round(action.seconds * 1000)), _call("mouse_up", *at)]


def _hover(action: actions.Hover, seen: Observation) -> Calls:
    if isinstance(action.target, Point):
        return [_call("mouse_move", *_at(action.target, seen))]
    return [_call("hover", _bid(action.target, seen))]


def _scroll(action: actions.Scroll, seen: Observation) -> Calls:
    if action.to == "middle":
        raise _CannotSayError("unsupported", "BrowserGym scrolls only by pixels; scroll in a direction instead.")
    across, along = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[action.direction]
    wide, high = float(seen.viewport.width), float(seen.viewport.height)
    if isinstance(action.target, int):
        box = _mark(action.target, seen).box
        wide, high = box.width, box.height
    by = (across * wide * action.pages, along * high * action.pages)
    if action.px:
        by = (across * action.px, along * action.px)
    if action.to == "end":
        by = (across * _FAR, along * _FAR)
    if action.target is None and action.modifiers:
        raise _CannotSayError("unsupported", "with keys held, the wheel needs a target to turn over.")
    if action.target is None:
        free = _beside_scrollers(seen)
        return [_call("scroll", *map(round, by)) if free is None else _call("scroll_at", *free, *map(round, by))]
    down = [_call("keyboard_down", key) for key in action.modifiers]
    up = [_call("keyboard_up", key) for key in reversed(action.modifiers)]
    return [*down, _call("scroll_at", *_at(action.target, seen), *map(round, by)), *up]


def _beside_scrollers(seen: Observation) -> tuple[int, int] | None:
    """A point, in screenshot pixels, where the wheel scrolls the page: the pointer may still be over a scroller.

    None if there are no scrollers, or nothing but scrollers is in view.
    """
    boxes = [mark.box for mark in seen.marks if mark.state.scroll is not None]
    if not boxes:
        return None
    wide, high = seen.viewport.width, seen.viewport.height
    places = [(round(wide * (2 * i + 1) / 18), round(high * (2 * j + 1) / 18)) for i in range(9) for j in range(9)]
    places.sort(key=lambda at: abs(at[0] / wide - 0.5) + abs(at[1] / high - 0.5))
    return next((at for at in places if not any(box.contains(Point(x=at[0], y=at[1])) for box in boxes)), None)


def _drag(action: actions.Drag, seen: Observation) -> Calls:
    down = [_call("keyboard_down", key) for key in action.modifiers]
    up = [_call("keyboard_up", key) for key in reversed(action.modifiers)]
    return [*down, *_plain_drag(action, seen), *up]


def _plain_drag(action: actions.Drag, seen: Observation) -> Calls:
    if isinstance(action.source, int) and isinstance(action.target, int) and not action.path:
        return [_call("drag_and_drop", _bid(action.source, seen), _bid(action.target, seen))]
    start = _at(action.source, seen)
    end = _drag_place(action.target, start, seen)
    if not action.path:
        return [_call("mouse_drag_and_drop", *start, *end)]
    moves = [_call("mouse_move", *_drag_place(place, start, seen)) for place in action.path]
    return [_call("mouse_down", *start), *moves, _call("mouse_up", *end)]


def _drag_place(place: Target | Offset, start: tuple[float, float], seen: Observation) -> tuple[float, float]:
    if not isinstance(place, Offset):
        return _at(place, seen)
    scale = seen.marked.map
    at = round(start[0] + place.right * scale.scale_x, 1), round(start[1] + place.down * scale.scale_y, 1)
    if not seen.viewport.contains(Point(x=at[0], y=at[1])):
        raise _CannotSayError("outside", "a place of the drag is outside the picture.")
    return at


def _switch_tab(action: actions.SwitchTab, seen: Observation) -> Calls:
    return [_call("tab_focus", _tab(action.tab, seen))]


def _close_tab(action: actions.CloseTab, seen: Observation) -> Calls:
    index = _tab(action.tab, seen)
    is_active = any(tab.active for tab in seen.tabs if tab.number == action.tab)
    return [*([] if is_active else [_call("tab_focus", index)]), _call("tab_close")]


def _finish(action: actions.Finish, seen: Observation) -> Calls:
    del seen
    return [_call("send_msg_to_user", action.answer or ("Done." if action.success else "It could not be done."))]


_CALLS: dict[str, Callable[[Any, Observation], Calls]] = {
    "click": _click,
    "type": _type,
    "select": _select,
    "check": _check,
    "set": _set,
    "press": _press,
    "hold": _hold,
    "hover": _hover,
    "scroll": _scroll,
    "drag": _drag,
    "goto": lambda action, _: [_call("goto", action.url)],
    "back": lambda _, __: [_call("go_back")],
    "forward": lambda _, __: [_call("go_forward")],
    "open_tab": lambda action, _: [_call("new_tab"), _call("goto", action.url)],
    "switch_tab": _switch_tab,
    "close_tab": _close_tab,
    "wait": lambda action, _: [_call("noop", round(action.seconds * 1000))],
    "finish": _finish,
    "infeasible": lambda action, _: [_call("report_infeasible", action.reason)],
}


def _call(name: str, *arguments: object, **named: object) -> str:
    parts = [repr(each) for each in arguments] + [f"{key}={value!r}" for key, value in named.items()]
    return f"{name}({', '.join(parts)})"


def _mark(target: Target, seen: Observation) -> Mark:
    if isinstance(target, Point):
        raise _CannotSayError("unsupported", "BrowserGym needs an element for this; name a mark.")
    if isinstance(target, Cell):
        raise _CannotSayError("unsupported", "marks have no rows and columns here; give a point in the picture.")
    mark = seen.mark(target)
    if mark is None:
        raise _CannotSayError("unknown_mark", f"there is no mark {target} in the picture; check the listing.")
    return mark


def _bid(target: Target, seen: Observation) -> str:
    return _mark(target, seen).key


def _at(target: Target, seen: Observation) -> tuple[float, float]:
    """The target's point in pixels of BrowserGym's screenshot."""
    if not isinstance(target, Point):
        point = _mark(target, seen).point
        return round(point.x, 1), round(point.y, 1)
    size = seen.marked.size
    if not size.contains(target):
        raise _CannotSayError("outside", f"the point is outside the picture of {size.width}×{size.height} pixels.")
    point = seen.marked.map.to_page(target)
    return round(point.x, 1), round(point.y, 1)


def _tab(number: int, seen: Observation) -> int:
    """BrowserGym's index of a tab, which starts at 0."""
    if number not in {tab.number for tab in seen.tabs}:
        raise _CannotSayError("unsupported", f"there is no tab {number}; there are {len(seen.tabs)} tabs.")
    return number - 1
