"""Reads BrowserGym's description of a page: its DOM snapshot, accessibility tree, and element properties.

Its dictionaries stop here: unexpected data is left out or treated as unknown, never guessed. This module knows nothing
of marks or pictures. Boxes are in pixels of BrowserGym's screenshot, which may differ from CSS pixels: `scale` is the
number of screenshot pixels per CSS pixel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision_agent.geometry import Box, ScrollState

_LONGEST_TEXT = 400
_SCROLLBAR_PX = 8
"""Minimum width of a scrollbar in CSS pixels; BrowserGym has Chromium show them."""
_DEEPEST = 10_000
"""Maximum depth of a tree; a deeper one must be circular."""

Raw = Mapping[str, Any]
"""Raw data from BrowserGym."""


@dataclass(frozen=True)
class Element:
    """One element with a BrowserGym id."""

    bid: str
    tag: str
    attributes: Mapping[str, str]
    ancestors: tuple[str, ...]
    """Ids of its ancestors in the same document, nearest first."""
    box: Box | None
    """In screenshot pixels; None if it is not rendered."""
    visibility: float
    """Share of it that is in view and not covered, 0 to 1."""
    clickable: bool
    is_chosen: bool
    """Whether BrowserGym's own set of marks includes it."""
    role: str = ""
    """Role in Chromium's accessibility tree; empty if missing there."""
    name: str = ""
    value: str | None = None
    properties: Mapping[str, Any] | None = None
    text: str = ""
    """The text inside it."""
    options: tuple[str, ...] = ()
    """Texts of the options inside it."""
    scroll: ScrollState | None = None
    """In screenshot pixels; set if it shows its own scrollbar."""


@dataclass(frozen=True)
class GymPage:
    """The parts of an observed page that are used."""

    elements: tuple[Element, ...]
    texts: tuple[tuple[str, str], ...]
    """Texts in document order, each with the id of its element."""
    document: str
    """Identifies the document; it changes with it."""
    scroll: ScrollState
    scale: float
    """Screenshot pixels per CSS pixel."""


def read_page(dom: Raw, tree: Raw, properties: Raw) -> GymPage:
    """The page in a BrowserGym observation."""
    spoken = _Tree(tree.get("nodes") or ())
    strings, documents = dom.get("strings") or (), dom.get("documents") or ()
    elements: list[Element] = []
    scales: list[float] = []
    for document in documents:
        for node in _elements(document, strings):
            raw = properties.get(node.bid)
            if raw is None:
                continue
            box = raw.get("bbox")
            if box and node.width and box[2] > 0:
                scales.append(box[2] / node.width)
            elements.append(_element(node, raw, spoken))
    scale = scales[0] if scales else 1.0
    first = documents[0] if documents else {}
    nodes = first.get("nodes") or {}
    roots = nodes.get("backendNodeId") or [0]
    return GymPage(
        elements=tuple(elements),
        texts=tuple(spoken.texts()),
        document=f"{_string(strings, first.get('frameId', -1))}:{roots[0]}",
        scroll=_scaled(
            ScrollState(
                x=first.get("scrollOffsetX", 0),
                y=first.get("scrollOffsetY", 0),
                width=first.get("contentWidth", 0),
                height=first.get("contentHeight", 0),
            ),
            scale,
        ),
        scale=scale,
    )


@dataclass(frozen=True)
class _Node:
    """An element of the DOM snapshot."""

    bid: str
    tag: str
    attributes: Mapping[str, str]
    ancestors: tuple[str, ...]
    width: float
    """In CSS pixels; 0 if it is not rendered."""
    scroll: ScrollState | None


def _elements(document: Raw, strings: Sequence[str]) -> Iterator[_Node]:
    nodes, layout = document.get("nodes") or {}, document.get("layout") or {}
    parents, names = nodes.get("parentIndex") or (), nodes.get("nodeName") or ()
    widths = {
        index: bounds[2]
        for index, bounds in zip(layout.get("nodeIndex") or (), layout.get("bounds") or (), strict=False)
        if bounds
    }
    scrolls = dict(_scrolls(layout))
    given = [_pairs(each, strings) for each in nodes.get("attributes") or ()]
    for index, attributes in enumerate(given):
        if bid := attributes.get("bid"):
            ancestors, above = [], parents[index]
            while above >= 0:
                if of_it := given[above].get("bid"):
                    ancestors.append(of_it)
                above = parents[above]
            tag = _string(strings, names[index]).lower()
            yield _Node(bid, tag, attributes, tuple(ancestors), widths.get(index, 0.0), scrolls.get(index))


def _scrolls(layout: Raw) -> Iterator[tuple[int, ScrollState]]:
    """Elements that overflow and show a scrollbar, which takes space that is neither content nor border."""
    rects = (layout.get(name) or () for name in ("nodeIndex", "offsetRects", "clientRects", "scrollRects"))
    for index, outer, inner, content in zip(*rects, strict=False):
        if not (outer and inner and content):
            continue
        beside, below = (outer[axis] - inner[axis] - 2 * inner[axis - 2] for axis in (2, 3))
        if (beside >= _SCROLLBAR_PX and content[3] > inner[3] + 1) or (
            below >= _SCROLLBAR_PX and content[2] > inner[2] + 1
        ):
            left, top, width, height = content
            yield (
                index,
                ScrollState(x=left, y=top, width=width, height=height, view_width=inner[2], view_height=inner[3]),
            )


def _element(node: _Node, raw: Raw, tree: _Tree) -> Element:
    box = raw.get("bbox")
    spoken = tree.by_bid.get(node.bid, {})
    return Element(
        bid=node.bid,
        tag=node.tag,
        attributes=node.attributes,
        ancestors=node.ancestors,
        box=Box(x=box[0], y=box[1], width=box[2], height=box[3]) if box and box[2] > 0 and box[3] > 0 else None,
        visibility=float(raw.get("visibility") or 0.0),
        clickable=bool(raw.get("clickable")),
        is_chosen=bool(raw.get("set_of_marks")),
        role=str(_value(spoken, "role") or ""),
        name=str(_value(spoken, "name") or ""),
        value=None if _value(spoken, "value") is None else str(_value(spoken, "value")),
        properties={each["name"]: (each.get("value") or {}).get("value") for each in spoken.get("properties") or ()},
        text=tree.text_in(node.bid),
        options=tuple(tree.options_in(node.bid)),
        scroll=None
        if node.scroll is None
        else _scaled(node.scroll, box[2] / node.width if box and node.width else 1.0),
    )


def _scaled(scroll: ScrollState, by: float) -> ScrollState:
    return ScrollState(**{name: value * by for name, value in scroll.model_dump().items()})


class _Tree:
    """The accessibility tree, with frames merged as BrowserGym does."""

    def __init__(self, nodes: Sequence[Raw]) -> None:
        self._nodes = {str(node.get("nodeId")): node for node in nodes}
        self._parents = {str(child): str(node.get("nodeId")) for node in nodes for child in node.get("childIds") or ()}
        # The parts of a date field share its id; the field itself comes first.
        self.by_bid = {str(node["browsergym_id"]): node for node in reversed(nodes) if node.get("browsergym_id")}
        self._order = [str(node.get("nodeId")) for node in nodes]

    def text_in(self, bid: str) -> str:
        """The text in an element in reading order, cut at 400 characters."""
        words: list[str] = []
        for node in self._below(bid):
            if _value(node, "role") == "StaticText":
                words.append(str(_value(node, "name") or "").strip())
            if sum(map(len, words)) > _LONGEST_TEXT:
                break
        return " ".join(filter(None, words))[:_LONGEST_TEXT]

    def options_in(self, bid: str) -> Iterator[str]:
        for node in self._below(bid):
            if _value(node, "role") in ("option", "MenuListOption") and (name := _value(node, "name")):
                yield str(name)

    def texts(self) -> Iterator[tuple[str, str]]:
        """All texts, each with its element; the texts directly in one element are joined."""
        pieces: dict[str, list[str]] = defaultdict(list)
        for id in self._in_order():
            node = self._nodes[id]
            if _value(node, "role") == "StaticText" and not node.get("ignored") and (bid := self._bid_over(id)):
                pieces[bid].append(str(_value(node, "name") or "").strip())
        for bid, words in pieces.items():
            if text := " ".join(filter(None, words)):
                yield text, bid

    def _in_order(self) -> Iterator[str]:
        """Ids in reading order, each once, even in a malformed tree."""
        seen: set[str] = set()
        waiting = [id for id in reversed(self._order) if id not in self._parents]
        while waiting:
            id = waiting.pop()
            if id in seen or id not in self._nodes:
                continue
            seen.add(id)
            yield id
            waiting += [str(child) for child in reversed(self._nodes[id].get("childIds") or ())]

    def _bid_over(self, id: str) -> str:
        for _ in range(_DEEPEST):
            if bid := self._nodes[id].get("browsergym_id"):
                return str(bid)
            if (above := self._parents.get(id)) is None or above not in self._nodes:
                break
            id = above
        return ""

    def _below(self, bid: str) -> Iterator[Raw]:
        """The descendants of an element, in order."""
        node = self.by_bid.get(bid)
        waiting = [] if node is None else [str(child) for child in reversed(node.get("childIds") or ())]
        seen: set[str] = set()
        while waiting:
            id = waiting.pop()
            if id in seen or id not in self._nodes:
                continue
            seen.add(id)
            yield self._nodes[id]
            waiting += [str(child) for child in reversed(self._nodes[id].get("childIds") or ())]


def _value(node: Raw, name: str) -> Any:
    """The value of an accessibility node's property; None if missing."""
    return (node.get(name) or {}).get("value")


def _pairs(flat: Sequence[int], strings: Sequence[str]) -> dict[str, str]:
    return {_string(strings, name): _string(strings, value) for name, value in zip(flat[::2], flat[1::2], strict=False)}


def _string(strings: Sequence[str], index: int) -> str:
    return strings[index] if 0 <= index < len(strings) else ""
