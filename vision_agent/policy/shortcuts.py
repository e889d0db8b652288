"""The marks that keys press, as the page declares it: `aria-keyshortcuts`, or keys in brackets at the end of a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vision_agent.actions import chord_keys
from vision_agent.observation import Mark, Observation

_IN_BRACKETS = re.compile(r"[(\[（]([^()\[\]（）]{1,40})[)\]）]\s*$")
_BESIDE = " · "
"""What separates the texts beside a name, such as its title."""
_MODIFIERS = frozenset(("control", "alt"))
_SAME_KEYS = {
    "ctrl": "control", "strg": "control", "controlormeta": "control", "meta": "control", "cmd": "control",
    "command": "control", "⌘": "control", "⌃": "control", "option": "alt", "opt": "alt", "altgraph": "alt",
    "⌥": "alt", "⇧": "shift", "maj": "shift", "umschalt": "shift", "del": "delete", "entf": "delete", "suppr": "delete",
    "⌫": "backspace", "⌦": "delete", "return": "enter", "⏎": "enter", "↵": "enter", "esc": "escape", " ": "space",
}  # fmt: skip
"""Names of keys, and the names that they are compared by. A page may mean Control or Meta by either."""
_SIGNS = re.compile(r"(?<=[⌘⌃⌥⇧])(?=.)")


def pressed_by_shortcut(keys: str, seen: Observation, *, is_typing: bool) -> Iterator[Mark]:
    """The marks whose shortcut the keys are; `is_typing`: in a text field, keys without a modifier type."""
    pressed = frozenset(map(_key, chord_keys(keys)))
    if is_typing and not pressed & _MODIFIERS and all(len(each) == 1 or each == "shift" for each in pressed):
        return
    for mark in {each.number: each for each in (*seen.out_of_view, *seen.marks)}.values():
        if not mark.state.disabled and pressed in _shortcuts_of(mark):
            yield mark


def _shortcuts_of(mark: Mark) -> set[frozenset[str]]:
    told = (mark.state.shortcuts or "").split()
    for text in (mark.name, mark.shows, *mark.says.split(_BESIDE)):
        if found := _IN_BRACKETS.search(text):
            told.append(found[1])
    return {frozenset(map(_key, chord)) for each in told if (chord := _chord(each))}


def _chord(said: str) -> list[str]:
    """The keys of a shortcut as a page writes it: `Ctrl+Shift+P`, `⌘⏎`, `Ctrl + +`."""
    if len(said.strip()) == 1:
        return [said.strip()]
    parts = _SIGNS.sub("+", said.strip()).replace("++", "+plus").split("+")
    return ["+" if part == "plus" else part.strip() for part in parts if part.strip()]


def _key(name: str) -> str:
    folded = name.casefold() if name == " " else name.strip().casefold()
    return _SAME_KEYS.get(folded, folded)
