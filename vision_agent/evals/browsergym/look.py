"""Turns a BrowserGym observation into ours: its elements become marks, drawn on its own screenshot.

BrowserGym's data about an element (in view, has listeners, in its own set of marks) and its role decide whether it is
marked; each possible interaction gets one mark. Page coordinates here are pixels of BrowserGym's screenshot, as in
its own actions.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from vision_agent.browser.observe.listing import listing, reading_order
from vision_agent.browser.observe.mark_limit import limit_marks
from vision_agent.browser.observe.numbers import Numbers, Sighting
from vision_agent.errors import UsageError
from vision_agent.evals.browsergym.elements import Element, GymPage, read_page
from vision_agent.geometry import Box, Size
from vision_agent.observation import Change, Kind, Mark, MarkState, Observation, Tab
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels import annotate, place
from vision_agent.vision.labels.lookalikes import distinct_style
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import STYLES

_IN_VIEW = 0.5
"""Minimum visible share of an element, as in BrowserGym."""
_MOST_OF_IT = 0.5
"""Share of the screenshot: a larger element that only has listeners is the page, not a target on it."""
_MOVED = 4.0
_LONGEST_NAME = 200

_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "slider", "listbox"})
_TOGGLES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option"})
_WIDGETS = _FIELDS | _TOGGLES | {"button", "link", "menuitem", "tab", "treeitem"}
_SURFACES = frozenset({"canvas", "video", "embed", "object"})
_NEVER = frozenset({"html", "body", "iframe", "frame"})
_CHROMIUM_ROLES = {
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "ColorWell": "button",
    "DisclosureTriangle": "button",
    "PopUpButton": "button",
    "ToggleButton": "button",
    "MenuListOption": "option",
    "Canvas": "img",
    "image": "img",
}
"""Chromium's names of roles that have another name in ARIA."""
_TAG_ROLES = {"a": "link", "button": "button", "select": "combobox", "textarea": "textbox", "canvas": "img"}
_INPUT_ROLES = {
    "checkbox": "checkbox",
    "radio": "radio",
    "range": "slider",
    "number": "spinbutton",
    "search": "searchbox",
    **dict.fromkeys(("button", "submit", "reset", "image", "color", "file"), "button"),
}
_FLAGS = ("disabled", "readonly", "required", "busy")


class Looks:
    """Observes an episode step by step and keeps the numbers of elements that stay."""

    def __init__(self, settings: ObserveSettings, image_limits: ImageLimits, clock: Callable[[], datetime]) -> None:
        self._settings = settings
        self._image_limits = image_limits
        self._clock = clock
        self._numbers = Numbers()
        self._document = ""
        self._epoch = 0
        self._before: dict[int, Mark] | None = None
        self._placed: tuple[Mark, ...] = ()

    def look(self, obs: Mapping[str, Any]) -> Observation:
        """The observation of one BrowserGym observation, with marks.

        Raises:
            UsageError: it lacks a screenshot or other data that marks need.
        """
        lacking = [
            name
            for name in ("screenshot", "dom_object", "axtree_object", "extra_element_properties")
            if obs.get(name) is None
        ]
        if lacking:
            raise UsageError(
                f"The BrowserGym observation has no {', '.join(lacking)}",
                "create the environment without use_raw_page_output, and pass its observation unchanged",
            )
        page = read_page(obs["dom_object"], obs["axtree_object"], obs["extra_element_properties"])
        rows = np.asarray(obs["screenshot"])
        whole = Box(x=0, y=0, width=rows.shape[1], height=rows.shape[0])
        if page.document != self._document:
            self._document, self._epoch = page.document, self._epoch + 1
            self._numbers.restart()
            self._before, self._placed = None, ()
        found = self._marks(page, whole, str(obs.get("focused_element_bid") or ""))
        capped, left_out = limit_marks(found, self._settings.max_marks)
        clean, style = Picture.of_rgb(rows, whole, self._image_limits), STYLES[self._settings.style]
        marks = tuple(mark for mark in place.place(capped, clean, style, self._placed) if mark.label)
        distinct = distinct_style(clean, style)
        marked = annotate.draw(clean, annotate.layer(marks, clean, distinct.style))
        change = self._change(found)
        scroll = page.scroll.model_copy(update={"view_width": whole.width, "view_height": whole.height})
        tabs = _tabs(obs)
        seen = Observation(
            id=uuid.uuid4().hex[:12],
            epoch=self._epoch,
            url=str(obs.get("url") or ""),
            title=next((tab.title for tab in tabs if tab.active), ""),
            taken_at=self._clock(),
            viewport=Size(width=rows.shape[1], height=rows.shape[0]),
            device_ratio=page.scale,
            scroll=scroll,
            tabs=tabs,
            marks=marks,
            listing=listing(
                marks, _context(page, found, whole), scroll, (), clean.map, [left_out] if left_out else [], change.gone
            ),
            clean=clean.encode("png"),
            marked=marked.encode(self._settings.picture),
            phash=clean.phash(),
            change=change,
            warnings=tuple(filter(None, [distinct.warning])),
        )
        self._before, self._placed = {mark.number: mark for mark in found}, marks
        return seen

    def _marks(self, page: GymPage, whole: Box, focused: str) -> tuple[Mark, ...]:
        chosen = [(each, box) for each in _chosen(page, whole) if each.box and (box := each.box.intersection(whole))]
        chosen = [chosen[index] for index in reading_order([box for _, box in chosen])]
        numbers = self._numbers.assign(
            [Sighting(each.bid, _fingerprint(each), box.center) for each, box in chosen],
            [each.bid for each in page.elements],
        )
        return tuple(self._mark(each, box, numbers[each.bid], focused) for each, box in chosen)

    def _mark(self, element: Element, box: Box, number: int, focused: str) -> Mark:
        role = aria_role(element)
        mark = Mark(
            number=number,
            tag=element.tag,
            role=role,
            kind=_kind(element, role),
            name=_name(element),
            state=_state(element, role, focused),
            box=box,
            point=box.center,
            frame=_frame(element.bid),
            evidence=tuple(
                why
                for why, holds in (
                    (f"role={role}", role in _WIDGETS),
                    ("clickable", element.clickable),
                    ("set_of_marks", element.is_chosen),
                    ("scrollbar", element.scroll is not None),
                )
                if holds
            ),
            fingerprint=_fingerprint(element),
            key=element.bid,
        )
        if self._before is None:
            return mark
        old = self._before.get(number)
        if old is None:
            return mark.model_copy(update={"change": "new"})
        if (old.name, old.role, old.state) != (mark.name, mark.role, mark.state):
            return mark.model_copy(update={"change": "changed"})
        is_moved = abs(old.box.x - box.x) > _MOVED or abs(old.box.y - box.y) > _MOVED
        return mark.model_copy(update={"change": "moved"}) if is_moved else mark

    def _change(self, marks: Sequence[Mark]) -> Change:
        if self._before is None:
            return Change(navigated=self._epoch > 1)
        of_kind = {
            kind: tuple(mark.number for mark in marks if mark.change == kind) for kind in ("new", "changed", "moved")
        }
        here = {mark.number for mark in marks}
        return Change(**of_kind, gone=tuple(number for number in self._before if number not in here))


def aria_role(element: Element) -> str:
    """Its ARIA role, from Chromium or else from its tag."""
    if element.role in _CHROMIUM_ROLES:
        return _CHROMIUM_ROLES[element.role]
    if element.role.islower() and element.role not in ("none", "generic"):
        return element.role
    if element.tag == "input":
        return _INPUT_ROLES.get(element.attributes.get("type", "text").lower(), "textbox")
    return _TAG_ROLES.get(element.tag, "generic")


# --- which elements ---------------------------------------------------------------------------------------------------


def _chosen(page: GymPage, whole: Box) -> list[Element]:
    """The elements to mark: those in view that can be acted on, one for each possible interaction."""
    seen = [each for each in page.elements if _is_in_view(each, whole) and each.tag not in _NEVER]
    strong = [each for each in seen if aria_role(each) in _WIDGETS or each.tag in _SURFACES or _is_edited(each)]
    # A tab around a link of the same name is one target to people, and clicks go to the link.
    called = {bid: _name(each) for each in strong for bid in each.ancestors}
    strong = [each for each in strong if each.bid not in called or called[each.bid] != _name(each)]
    strong_bids = {each.bid for each in strong}
    scrollers = [each for each in seen if each.scroll is not None and each.bid not in strong_bids]
    holding = {bid for each in strong for bid in each.ancestors}
    named = {each.attributes["id"] for each in strong if "id" in each.attributes}
    weak = [
        each
        for each in seen
        if each.bid not in strong_bids
        and each.scroll is None
        and (each.clickable or each.is_chosen)
        and each.bid not in holding
        and not strong_bids.intersection(each.ancestors)
        and not (each.tag == "label" and each.attributes.get("for") in named)
        and each.box is not None
        and each.box.width * each.box.height <= _MOST_OF_IT * whole.width * whole.height
    ]
    # Among nested elements that only have listeners, keep the innermost, which people would point at.
    around = {bid for each in weak for bid in each.ancestors}
    return [*strong, *scrollers, *(each for each in weak if each.bid not in around)]


def _is_in_view(element: Element, whole: Box) -> bool:
    return element.box is not None and element.visibility >= _IN_VIEW and element.box.intersection(whole) is not None


def _is_edited(element: Element) -> bool:
    return element.attributes.get("contenteditable", "false").lower() in ("", "true", "plaintext-only")


def _context(page: GymPage, marks: Sequence[Mark], whole: Box) -> list[tuple[str, Box]]:
    """The texts outside marks, each with the box of its element."""
    marked, names = {mark.key for mark in marks if mark.kind != "scroller"}, {mark.name for mark in marks}
    by_bid = {each.bid: each for each in page.elements}
    texts = []
    for text, bid in page.texts:
        element = by_bid.get(bid)
        if element is None or bid in marked or marked.intersection(element.ancestors):
            continue
        if element.tag == "label" and " ".join(text.split()) in names:
            continue
        if _is_in_view(element, whole) and element.box is not None and element.tag not in ("option", "optgroup"):
            texts.append((text, element.box))
    return texts


# --- what one of them is ----------------------------------------------------------------------------------------------


def _kind(element: Element, role: str) -> Kind:
    if element.tag in _SURFACES:
        return "surface"
    if role in _TOGGLES:
        return "toggle"
    if role in _FIELDS or _is_edited(element):
        return "field"
    if role not in _WIDGETS and element.scroll is not None:
        return "scroller"
    return "link" if role == "link" else "button"


def _name(element: Element) -> str:
    has_words = aria_role(element) not in _FIELDS and element.scroll is None
    name = element.name or (element.text if has_words else "")
    name = name or element.attributes.get("aria-label", "") or element.attributes.get("title", "")
    return " ".join(name.split())[:_LONGEST_NAME]


def _state(element: Element, role: str, focused: str) -> MarkState:
    properties = element.properties or {}
    kind = element.attributes.get("type", "text").lower() if element.tag == "input" else None
    is_password = kind == "password"
    return MarkState(
        value=element.value if role in _FIELDS and not (is_password and element.value) else None,
        masked=is_password,
        input_type=kind,
        placeholder=element.attributes.get("placeholder"),
        options=element.options if element.tag == "select" else (),
        checked=_three(properties.get("checked")),
        pressed=_three(properties.get("pressed")),
        selected=bool(properties["selected"])
        if "selected" in properties and role in ("option", "tab", "treeitem")
        else None,
        expanded=bool(properties["expanded"]) if "expanded" in properties else None,
        minimum=_number(properties.get("valuemin")) if role in ("slider", "spinbutton") else None,
        maximum=_number(properties.get("valuemax")) if role in ("slider", "spinbutton") else None,
        popup=str(properties["hasPopup"]) if properties.get("hasPopup") and role not in _FIELDS else None,
        invalid=properties.get("invalid") not in (None, "false", False),
        focused=element.bid == focused,
        scroll=element.scroll,
        submits=element.attributes.get("type", "").lower() == "submit",
        **{name: bool(properties.get(name)) for name in _FLAGS},
    )


def _three(value: Any) -> Any:
    """`true`, `false` or `mixed`; None without such a state."""
    value = str(value).lower()
    return value if value in ("true", "false", "mixed") else None


def _number(value: Any) -> str | None:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _frame(bid: str) -> str:
    """The frame of an element; BrowserGym's ids consist of the frame's letters and a number."""
    found = re.match(r"[a-zA-Z]+", bid)
    return found.group() if found else ""


def _fingerprint(element: Element) -> str:
    what = f"{element.tag}|{aria_role(element)}|{_name(element)}"
    return hashlib.blake2s(what.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _tabs(obs: Mapping[str, Any]) -> tuple[Tab, ...]:
    urls, titles = obs.get("open_pages_urls") or (), obs.get("open_pages_titles") or ()
    at = np.ravel(np.asarray(obs.get("active_page_index", 0)))
    active = int(at[0]) if at.size else 0
    return tuple(
        Tab(
            number=index + 1,
            url=str(url),
            title=str(titles[index]) if index < len(titles) else "",
            active=index == active,
        )
        for index, url in enumerate(urls)
    )
