"""Decides what can be acted on in an unknown page, independently of the overlay, as a reference for its marks.

It shares no code and no evidence with `overlay_js` and its data sources. Roles come from the accessibility tree;
listeners are those that the page was seen to add, by a script that runs in each document before its own (`look`);
cursors, boxes and hit tests are the page's own. If all that does not show whether an element does something of its own,
it is pressed on a copy of the page (`trial`). An element is a candidate if at least one sample point of the viewport
hits it or something in it.

The rules, in order. A candidate is a **sure** target if it is

1. a control by its role in the accessibility tree (`CONTROLS`), or a native one that is excluded from the tree:
   `a[href]`, `area[href]`, `button`, `input`, `select` (including its options), `textarea`, `summary`;
2. an editing host, or declared `draggable`;
3. the label of a control that no sample point hits: it stands for the control, once for any number of labels;
4. an element with a reason (its own `PRESSES` or `OTHER_LISTENERS`, a tab index, its own pointer cursor, or one of
   several similar elements in one that listens to presses) that was pressed on a copy, and the press changed something
   that a press right beside it does not: the document, a request, a dialog, a tab, the address, a value, a scroll
   position. An element larger than a quarter of the view may only react for something in it: it is unsure.

It is **no** target if the press had no effect, or only one that a press beside it has too, and its only reason is a
listener.

It is **unsure**, and counts neither for nor against a mark, if there is a reason but no certainty:

5. it has a pointer cursor or a place in the tab order, or reacted only to hovering, and the press had no effect: the
   page says that it can be pressed, but it does nothing;
6. it could not be tried (the copy had another element there, time ran out, similar elements disagree). Its own press
   listener still makes it sure if it takes up at most 5% of the viewport and is neither a table cell nor a shape in a
   drawing, or at most 25% and has a pointer cursor, and no ancestor or descendant could be meant instead;
7. it contains sure targets and has a composite role (a combobox around its text box), has neither a control's role nor
   a pointer cursor (a toolbar), or is hit only by their sample points; or its cursor says that it is not pressable now;
8. it is transparent (under 5%), unless it is a form control, which then lies over its visible part; or it is larger,
   but less than 6 px of it can be hit vertically or horizontally: nobody can see what it is;
9. a control that lets every press through (`pointer-events: none`) is hit by no point and so is not a candidate.

Links to the same address within the same parent or grandparent are one intent: one mark is enough, and marks on the
others are neither right nor wrong. A control and an ancestor that acts and has the same text are one target; so are a
column heading that acts and a control in it without text that is one only by its role and hears no press itself. A mark
belongs to the innermost target around the element its point hits.
Marks of scrollers and surfaces (canvas, video, embedded content) are not compared with this truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision_agent.evals.perception.page_facts import DocumentLook
from vision_agent.evals.perception.trial import Came, Trial
from vision_agent.geometry import Box

CONTROLS = frozenset(
    """
    button checkbox combobox ComboBoxGrouping ComboBoxMenuButton ComboBoxSelect ColorWell Date DateTime
    DisclosureTriangle DisclosureTriangleGrouped InputTime link listbox menuitem menuitemcheckbox menuitemradio
    MenuListOption option PopUpButton radio searchbox slider spinbutton switch tab textbox TextFieldWithComboBox
    ToggleButton treeitem
    """.split()  # noqa: SIM905 - reads better than thirty quoted words
)
COMPOSITES = frozenset(("combobox", "ComboBoxGrouping", "listbox"))
PRESSES = frozenset(("click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"))
OTHER_LISTENERS = frozenset(
    """
    mouseover mouseenter mousemove pointerover pointerenter pointermove touchstart touchend keydown keyup keypress
    dragstart contextmenu wheel
    """.split()  # noqa: SIM905
)
NATIVE = frozenset(("button", "input", "select", "textarea"))
NEVER = frozenset(("html", "body", "iframe", "frame", "canvas", "video", "audio", "embed", "object"))
"""Documents and surfaces, whose marks are not compared with this truth."""
SMALL, MODERATE = 0.05, 0.25
_NOT_NOW = ("not-allowed", "no-drop", "wait")
_PASSIVE = frozenset(("auto", "default", "text", "none", "not-allowed", "no-drop", "wait", "help"))


@dataclass(frozen=True)
class Target:
    """An element that can be acted on, or may be."""

    id: str
    """Id of the element, or of the control that labels stand for: a second mark on it is a duplicate."""
    intent: str
    """Shared by elements that do the same: one mark on any of them is enough."""
    is_sure: bool
    why: str
    selector: str
    text: str
    box: Box
    """In page coordinates, not clipped."""
    is_whole: bool
    """Whether its single upright box is fully visible and exactly where it reacts: a mark's box must match it."""
    place: str
    """Its path in its document, as the page's own script gives it."""


@dataclass(frozen=True)
class Hit:
    """What a point of a mark hits."""

    target: Target | None
    selector: str
    """Selector of the innermost element hit."""


@dataclass(frozen=True)
class Truth:
    """All targets of a page at one moment, and what the given points hit."""

    targets: tuple[Target, ...]
    hits: tuple[Hit, ...]

    @property
    def sure(self) -> dict[str, Target]:
        """The first target of each sure intent."""
        return {target.intent: target for target in reversed(self.targets) if target.is_sure}

    @property
    def unsure_share(self) -> float:
        """Share of unsure intents among all."""
        unsure = {target.intent for target in self.targets if not target.is_sure}
        return len(unsure) / max(1, len(unsure) + len(self.sure))


def build_truth(documents: Sequence[DocumentLook], came: Mapping[str, Came] | None = None) -> Truth:
    """The truth about an observed page, using the effects of the elements that were tried."""
    targets: list[Target] = []
    hits: dict[int, Hit] = {}
    for looked in documents:
        judged = _judge(looked, came or {})
        targets += [target for target in judged if target is not None]
        for index, place in looked.extra.items():
            if place >= 0:
                hits[index] = Hit(_target_around(looked, judged, place), looked.facts[place]["selector"])
    given = len(documents[0].extra)
    return Truth(tuple(targets), tuple(hits.get(index, Hit(None, "nothing")) for index in range(given)))


def questions(documents: Sequence[DocumentLook]) -> list[Trial]:
    """The elements to try: those with a reason that are not controls."""
    return [question for looked in documents for question in _questions(looked)]


def _questions(looked: DocumentLook) -> list[Trial]:
    own = _own_points(looked)
    reasons = _reasons(looked, own)
    points = _points_of_innermost(looked, [bool(why) for why in reasons])
    asked = []
    for place, why in enumerate(reasons):
        if not why or _is_control(why) or not points[place]:
            continue
        x, y, hit = min((looked.points[index] for index in points[place]), key=_from_middle(looked.facts[place]["box"]))
        beside = _beside(looked, reasons, own, place)
        asked.append(
            Trial(
                id=f"{looked.prefix}{place}",
                kind=f"{looked.prefix}{looked.facts[place]['kind']} {why}",
                point=looked.to_page(x, y),
                where=looked.path(hit),
                beside=looked.to_page(*beside) if beside else None,
                heard=looked.event_types(place),
            )
        )
    return asked


def _from_middle(box: Sequence[float]) -> Callable[[tuple[float, float, int]], float]:
    left, top, width, height = box
    return lambda point: abs(point[0] - left - width / 2) + abs(point[1] - top - height / 2)


def _points_of_innermost(looked: DocumentLook, wanted: list[bool]) -> list[list[int]]:
    """For each element, the indices of the points whose innermost wanted element it is."""
    points: list[list[int]] = [[] for _ in wanted]
    for index, (_, _, innermost) in enumerate(looked.points):
        first = next((place for place in looked.chain(innermost) if wanted[place]), None)
        if first is not None:
            points[first].append(index)
    return points


def _beside(looked: DocumentLook, reasons: list[str], own: list[list[int]], place: int) -> tuple[float, float] | None:
    """A point that hits the nearest ancestor visible beside it, and no other element with a reason."""
    within = {place}
    for outer in looked.chain(place)[1:]:
        for index in own[outer]:
            x, y, hit = looked.points[index]
            chain = looked.chain(hit)
            between = chain[: chain.index(outer)]
            if not any(reasons[each] or each in within for each in between):
                return x, y
        within.add(outer)
    return None


# --- judging ----------------------------------------------------------------------------------------------------------


def _judge(looked: DocumentLook, came: Mapping[str, Came]) -> list[Target | None]:
    """The target that each element is, or None, by the rules in the module's docstring."""
    own = _own_points(looked)
    reasons = _reasons(looked, own)
    effects = [came.get(f"{looked.prefix}{place}", "untried") for place in range(len(reasons))]
    for place, why in enumerate(reasons):
        if not _is_control(why) and (effects[place] == "same as around it" or _is_idle(looked, place, effects[place])):
            reasons[place] = ""
    sure = [
        _is_control(why) or (effects[place] == "acts" and _share(looked, place) <= MODERATE)
        for place, why in enumerate(reasons)
    ]
    holds = _holding(looked, [bool(why) for why in reasons])
    for place, why in enumerate(reasons):
        if effects[place] == "untried" and why.startswith("listens"):
            sure[place] = not holds[place] and _is_likely(looked, place) and not _inside_another(looked, reasons, place)
    holds_sure = _holding(looked, sure)
    reached = _reached_innermost(looked, sure)
    for place, fact in enumerate(looked.facts):
        if fact["isEdge"] or (fact["isClear"] and fact["tag"] not in ("input", "select")):
            sure[place] = False
        if not sure[place] or not holds_sure[place]:
            continue
        # A wrapper that cannot be pressed anywhere outside its inner target.
        is_composite = looked.role(place) in COMPOSITES and fact["tag"] not in NATIVE
        # A change may only show that the press missed its content.
        is_holder = not _is_control(reasons[place]) and fact["cursor"] != "pointer"
        if is_composite or is_holder or not reached[place]:
            sure[place] = False
    intents = _intents(looked, sure, reasons)
    for place, came_of_it in enumerate(effects):
        if reasons[place] and came_of_it != "untried":
            reasons[place] += f"; when pressed: {came_of_it}"
    return [
        _target(looked, place, reasons[place], sure[place], intents[place]) if reasons[place] and own[place] else None
        for place in range(len(reasons))
    ]


def _reasons(looked: DocumentLook, own: list[list[int]]) -> list[str]:
    """Why each element may be a target; empty without a reason, or if no point hits it."""
    reasons = [_reason(looked, place) if own[place] else "" for place in range(len(looked.facts))]
    alike = Counter((fact["parent"], fact["kind"]) for place, fact in enumerate(looked.facts) if own[place])
    for place, fact in enumerate(looked.facts):
        if not _is_control(reasons[place]) and any(looked.facts[each]["control"] for each in looked.chain(place)[1:]):
            reasons[place] = ""  # content of a label belongs to the label
            continue
        parent = fact["parent"]
        if own[place] and not reasons[place] and parent >= 0 and alike[parent, fact["kind"]] > 1:
            heard = looked.event_types(parent) & PRESSES
            is_meant = heard and fact["tag"] not in NEVER and looked.facts[parent]["tag"] not in NEVER
            reasons[place] = f"one of several similar in what listens to {' '.join(sorted(heard))}" if is_meant else ""
    return reasons


def _reason(looked: DocumentLook, place: int) -> str:
    fact, heard = looked.facts[place], looked.event_types(place)
    if fact["tag"] in NEVER or fact["inSelect"]:
        return ""
    if (role := looked.role(place)) in CONTROLS:
        return f"role {role}"
    if fact["href"] is not None or fact["tag"] in NATIVE or fact["isSummary"]:
        return f"native {fact['tag']}"
    if fact["editing"]:
        return "editing host"
    if fact["draggable"]:
        return "draggable"
    if fact["control"] is not None:
        # A label is no target of its own if its control can be pressed.
        place_of_control = fact["control"]["place"]
        return "" if place_of_control >= 0 else "label of a control that cannot be hit"
    if presses := heard & PRESSES:
        return f"listens to {' '.join(sorted(presses))}"
    weak = []
    if others := heard & OTHER_LISTENERS:
        weak.append(f"other listeners {' '.join(sorted(others))}")
    if fact["tabindex"] is not None and fact["tabindex"] >= 0:
        weak.append("tabindex")
    if _shows_it(fact):
        weak.append(f"cursor {fact['cursor'].split(',')[-1].strip()}")
    return ", ".join(weak)


def _is_control(why: str) -> bool:
    return why.startswith(("role ", "native ", "editing", "label of", "draggable"))


def _shows_it(fact: Mapping[str, Any]) -> bool:
    """Whether the cursor changes over it."""
    return bool(fact["ownCursor"] and fact["cursor"] not in _PASSIVE)


def _is_idle(looked: DocumentLook, place: int, came: Came) -> bool:
    """Whether the press had no effect and its only reason is a listener."""
    fact = looked.facts[place]
    is_offered = (
        _shows_it(fact) or (fact["tabindex"] is not None and fact["tabindex"] >= 0) or fact["cursor"] in _NOT_NOW
    )
    return came == "nothing" and not is_offered


def _own_points(looked: DocumentLook) -> list[list[int]]:
    """For each element, the indices of the points that hit it or its content."""
    own: list[list[int]] = [[] for _ in looked.facts]
    for index, (_, _, innermost) in enumerate(looked.points):
        for place in looked.chain(innermost):
            own[place].append(index)
    return own


def _holding(looked: DocumentLook, wanted: list[bool]) -> list[bool]:
    """For each element, whether it contains a wanted one."""
    holding = [False] * len(wanted)
    for place, is_wanted in enumerate(wanted):
        if is_wanted:
            for outer in looked.chain(place)[1:]:
                holding[outer] = True
    return holding


def _reached_innermost(looked: DocumentLook, sure: list[bool]) -> list[bool]:
    """For each element, whether it is the innermost sure target at some point."""
    reached = [False] * len(sure)
    for _, _, innermost in looked.points:
        first = next((place for place in looked.chain(innermost) if sure[place]), None)
        if first is not None:
            reached[first] = True
    return reached


def _is_likely(looked: DocumentLook, place: int) -> bool:
    fact = looked.facts[place]
    if fact["cursor"] in _NOT_NOW:
        return False
    share = _share(looked, place)
    if fact["cursor"] == "pointer":
        return share <= MODERATE
    return bool(share <= SMALL and fact["tag"] not in ("td", "th") and not fact["isShape"])


def _share(looked: DocumentLook, place: int) -> float:
    """The share of the view that its box takes up."""
    x, y, width, height = looked.facts[place]["box"]
    seen_width = min(x + width, looked.view["width"]) - max(x, 0)
    seen_height = min(y + height, looked.view["height"]) - max(y, 0)
    whole: float = looked.view["width"] * looked.view["height"]
    share: float = max(0, seen_width) * max(0, seen_height) / whole
    return share


def _inside_another(looked: DocumentLook, reasons: list[str], place: int) -> bool:
    """Whether an ancestor is a control, or listens to presses itself and looks like one target."""
    return any(
        _is_control(reasons[outer]) or (reasons[outer].startswith("listens") and _is_likely(looked, outer))
        for outer in looked.chain(place)[1:]
    )


def _intents(looked: DocumentLook, sure: list[bool], reasons: list[str]) -> list[str]:
    """The intent of each element; equal names mean the same intent."""
    names = [f"{looked.prefix}{place}" for place in range(len(sure))]
    by_address: dict[tuple[str, int], int] = {}
    for place, fact in enumerate(looked.facts):
        if not sure[place]:
            continue
        if fact["control"] is not None and reasons[place].startswith("label of"):
            names[place] = f"{looked.prefix}control {fact['control']['id']}"
        elif fact["href"] is not None and not fact["href"].startswith("javascript:") and not fact["href"].endswith("#"):
            near = looked.chain(place)[1:3]
            first = next(
                (by_address[fact["href"], outer] for outer in near if (fact["href"], outer) in by_address), None
            )
            if first is None:
                for outer in near:
                    by_address[fact["href"], outer] = place
            else:
                names[place] = names[first]
    for place, fact in enumerate(looked.facts):
        outer = next((each for each in looked.chain(place)[1:] if sure[each]), -1)
        if not sure[place] or outer < 0 or _is_control(reasons[outer]) or not _is_control(reasons[place]):
            continue
        if fact["text"] == looked.facts[outer]["text"] or _is_for_its_heading(looked, place, outer):
            names[outer] = names[place]
    return names


def _is_for_its_heading(looked: DocumentLook, place: int, outer: int) -> bool:
    """Whether a control has no text and no press listener, so that pressing it means pressing the column heading."""
    fact = looked.facts[place]
    is_mute = not fact["text"] and fact["tag"] not in NATIVE and fact["href"] is None
    return is_mute and not looked.event_types(place) & PRESSES and looked.role(outer) == "columnheader"


def _target(looked: DocumentLook, place: int, why: str, is_sure: bool, intent: str) -> Target:
    fact = looked.facts[place]
    x, y, width, height = fact["box"]
    left, top = looked.to_page(x, y)
    right, bottom = looked.to_page(x + width, y + height)
    box = Box(x=left, y=top, width=max(0, right - left), height=max(0, bottom - top))
    own = f"{looked.prefix}{place}"
    identity = intent if why.startswith("label of") or not _is_control(why) else own
    return Target(identity, intent, is_sure, why, fact["selector"], fact["text"], box, fact["isWhole"], fact["place"])


def _target_around(looked: DocumentLook, judged: list[Target | None], place: int) -> Target | None:
    """The innermost target around an element; a label leads to its control."""
    for outer in looked.chain(place):
        target = judged[outer]
        control = looked.facts[outer]["control"]
        if target is None and control is not None and control["place"] >= 0:
            target = judged[control["place"]]
        if target is not None:
            return target
    return None
