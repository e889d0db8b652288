"""What step lines call a kind of thing, as in `the Add button` or `round A1`, and which marks are of that kind."""

from __future__ import annotations

from vision_agent.observation import Mark

_ROLES = {
    "checkbox": {"checkbox"},
    "radio": {"radio"},
    "switch": {"switch"},
    "slider": {"slider", "range"},
    "tab": {"tab"},
    "option": {"option", "menuitem", "menuitemradio", "menuitemcheckbox"},
    "item": {"menuitem", "listitem", "option", "treeitem"},
    "list": {"listbox", "combobox", "list", "select"},
    "menu": {"menu", "combobox", "select", "menuitem", "button"},
    "image": {"img", "image"},
    "canvas": {"canvas"},
}
_KINDS = {
    "button": "button",
    "link": "link",
    "field": "field",
    "box": "field",
    "input": "field",
    "toggle": "toggle",
    "scroller": "scroller",
    "area": "scroller",
    "surface": "surface",
}
KIND_WORDS = frozenset([*_ROLES, *_KINDS])


def is_of_kind(mark: Mark, kind: str) -> bool:
    """Whether a mark is of a kind, which is a word of `KIND_WORDS`; each is of the kind that is empty."""
    if not kind:
        return True
    if kind in _KINDS:
        return mark.kind == _KINDS[kind] or kind in (mark.role, mark.looks_like)
    return bool({mark.role, mark.tag, mark.looks_like, mark.state.input_type} & _ROLES[kind])


def is_field(mark: Mark) -> bool:
    """Whether text can be typed into the mark."""
    return mark.kind == "field" and mark.tag != "select"


def is_list(mark: Mark) -> bool:
    """Whether the mark offers options."""
    return mark.tag == "select" or mark.role in ("listbox", "combobox")


def is_scroller(mark: Mark) -> bool:
    """Whether the mark has its own scrolling."""
    return mark.kind == "scroller" or mark.state.scroll is not None
