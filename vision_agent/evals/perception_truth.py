"""What can be acted on in a page nobody here wrote, found without the overlay: a second opinion to hold marks against.

Shares no code and no evidence call with `overlay_js`. It asks Chromium over its protocol: roles from the accessibility
tree, listeners from the debugger, and sample points hit-tested by the page's own world, in every frame of the page's
process. An element is a candidate when at least one sample point of the viewport hits it or something in it.

The rules, in their order. A candidate is a **sure** target when it is

1. a control by its role in the accessibility tree (`CONTROLS`), or natively one that the tree was told to leave out:
   `a[href]`, `area[href]`, `button`, `input`, `select` (its options are part of it), `textarea`, `summary`;
2. an editing host;
3. the label of a control that no sample point hits: it stands for the control, once however many labels there are;
4. something with a press listener of its own (`PRESSES`), when it takes up at most 5 % of the viewport and is neither
   a table cell nor a shape in a drawing, or at most 25 % and shows a pointer, and nothing around it or in it that
   takes presses could be meant instead.

It is **unsure**, which counts neither for nor against a mark, when there is a reason and no certainty:

5. a press listener on anything else: it may listen for what it holds, or only for clicks beside it;
6. listeners of hovering, touching, keys or dragging only, a tab index, `draggable`, a pointer of its own: what answers
   may be a listener far above that was delegated to, or nothing;
7. a composite role that holds sure targets (a combobox around its text box), a wrapper whose every own sample point
   reaches a sure target in it, anything by listener inside a control by role (an icon in a button is the button), and
   what says by its cursor that it cannot be pressed now;
8. what is transparent (under 5 %), unless it is a form control, which then lies over what is seen of it;
9. a control that lets every press through (`pointer-events: none`) is hit by no point, hence is no candidate.

Links that lead to the same address within the same parent or grandparent are one intent: one marked is enough, and
marks on the others are neither right nor wrong. A mark belongs to the innermost target around what its point hits.
Marks of what scrolls and of surfaces (canvas, video, embedded things) are not held against this truth at all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Point
from vision_agent.types import Box

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
"""Documents and surfaces: marks of surfaces are not held against this truth."""
SMALL, MODERATE = 0.05, 0.25
_AT_ONCE = 200
_DEADLINE_S = 60


@dataclass(frozen=True)
class Target:
    """Something that can be acted on, or may be."""

    id: str
    """Of the element, or of the control that labels stand for: two marks on it are one too many."""
    intent: str
    """Several elements share it when they do the same: one mark on any of them is enough."""
    is_sure: bool
    why: str
    selector: str
    text: str
    box: Box
    """Page coordinates, not clipped."""
    is_whole: bool
    """Whether all four corners of its one box are in sight and its own, so that a mark's box can be held to it."""


@dataclass(frozen=True)
class Hit:
    """What a point of a mark reaches."""

    target: Target | None
    selector: str
    """Of what was hit first."""


@dataclass(frozen=True)
class Truth:
    """All targets of a page at one moment, and what the given points reach."""

    targets: tuple[Target, ...]
    hits: tuple[Hit, ...]
    skipped_frames: int
    """Frames of other processes, which this does not look into."""

    @property
    def sure(self) -> dict[str, Target]:
        """The first target of each sure intent."""
        return {target.intent: target for target in reversed(self.targets) if target.is_sure}

    @property
    def unsure_share(self) -> float:
        """Of all intents, how many count neither way."""
        unsure = {target.intent for target in self.targets if not target.is_sure}
        return len(unsure) / max(1, len(unsure) + len(self.sure))


async def truth_of(page: Page, points: Sequence[Point]) -> Truth:
    """The truth about a page as it stands, and what each of the points (page coordinates) reaches.

    Chromium only. Leaves nothing in the page.
    """
    session = await page.context.new_cdp_session(page)
    try:
        async with asyncio.timeout(_DEADLINE_S):
            return await _truth(session, [(point.x, point.y) for point in points])
    finally:
        await session.detach()


async def _truth(session: CDPSession, points: list[tuple[float, float]]) -> Truth:
    contexts = await _contexts(session)
    tree = (await session.send("Page.getFrameTree"))["frameTree"]
    await session.send("DOM.enable")
    await session.send("Accessibility.enable")
    main = await _look(session, tree["frame"]["id"], contexts, points, None, None)
    found: list[_Looked] = []
    skipped = await _descend(session, tree, contexts, main, found)
    targets: list[Target] = []
    hits: list[Hit | None] = [None] * len(points)
    for looked in found:
        judged = _judge(looked)
        targets += [target for target in judged if target is not None]
        for index, place in looked.extra.items():
            if place >= 0:
                hits[index] = Hit(_target_around(looked, judged, place), looked.facts[place]["selector"])
    return Truth(tuple(targets), tuple(hit or Hit(None, "nothing") for hit in hits), skipped)


@dataclass
class _Looked:
    """One document, as its own world, the accessibility tree and the debugger tell of it."""

    session: CDPSession
    handle: str
    facts: list[dict[str, Any]]
    points: list[tuple[float, float, int]]
    """In the frame's coordinates, with the place of the innermost element each hits; only those its parents show."""
    extra: dict[int, int]
    """By the index of a given point, the place of what it hits here."""
    given: dict[int, tuple[float, float]]
    """The given points in this frame's coordinates."""
    view: dict[str, float]
    backend: list[int]
    roles: dict[int, str] = field(default_factory=dict)
    listeners: dict[int, frozenset[str]] = field(default_factory=dict)
    parent: _Looked | None = None
    frame: dict[str, float] | None = None
    owner: int = -1
    """Place of the frame's element in its parent."""
    prefix: str = ""

    def to_page(self, x: float, y: float) -> tuple[float, float]:
        if self.parent is None or self.frame is None:
            return x, y
        return self.parent.to_page(
            self.frame["x"] + x * self.frame["scaleX"], self.frame["y"] + y * self.frame["scaleY"]
        )

    def role(self, place: int) -> str:
        return self.roles.get(self.backend[place], "")

    def heard(self, place: int) -> frozenset[str]:
        return self.listeners.get(self.backend[place], frozenset())

    def around(self, place: int) -> list[int]:
        """The places of an element and of everything around it, from the inside out."""
        chain = []
        while place >= 0:
            chain.append(place)
            place = self.facts[place]["parent"]
        return chain


# --- gathering --------------------------------------------------------------------------------------------------------


async def _contexts(session: CDPSession) -> dict[str, int]:
    """The page's own script world of each frame, by the frame's id."""
    worlds: dict[str, int] = {}

    def note(event: dict[str, Any]) -> None:
        told = event["context"]
        if told.get("auxData", {}).get("isDefault"):
            worlds[told["auxData"]["frameId"]] = told["id"]

    session.on("Runtime.executionContextCreated", note)
    await session.send("Runtime.enable")
    return worlds


async def _descend(
    session: CDPSession, tree: dict[str, Any], contexts: dict[str, int], looked: _Looked, found: list[_Looked]
) -> int:
    found.append(looked)
    skipped = 0
    for child in tree.get("childFrames", ()):
        identity = child["frame"]["id"]
        owner = (await session.send("DOM.getFrameOwner", {"frameId": identity}))["backendNodeId"]
        if owner not in looked.backend:
            continue  # nothing of it is in sight
        if identity not in contexts:
            skipped += 1
            continue
        place = looked.backend.index(owner)
        points = [point for index, point in looked.given.items() if looked.extra.get(index) == place]
        indices = [index for index in looked.given if looked.extra.get(index) == place]
        inner = await _look(session, identity, contexts, points, looked, place, indices)
        skipped += await _descend(session, child, contexts, inner, found)
    return skipped


async def _look(
    session: CDPSession,
    frame_id: str,
    contexts: dict[str, int],
    points: list[tuple[float, float]],
    parent: _Looked | None,
    owner: int | None,
    indices: list[int] | None = None,
) -> _Looked:
    frame = parent.facts[owner]["frame"] if parent and owner is not None else None
    local = [
        ((x - frame["x"]) / frame["scaleX"], (y - frame["y"]) / frame["scaleY"]) if frame else (x, y) for x, y in points
    ]
    handle = await _evaluated(session, contexts[frame_id], f"({_script()})({json.dumps(local)})")
    told = json.loads(await _called(session, handle, "function() { return this.told }"))
    order = indices if indices is not None else list(range(len(points)))
    looked = _Looked(
        session=session,
        handle=handle,
        facts=told["facts"],
        points=[tuple(point) for point in told["points"]],
        extra=dict(zip(order, told["extra"], strict=True)),
        given=dict(zip(order, local, strict=True)),
        view=told["view"],
        backend=await _backend_ids(session, handle),
        parent=parent,
        frame=frame,
        owner=-1 if owner is None else owner,
        prefix=f"{parent.prefix}{owner}." if parent else "",
    )
    looked.points = await _shown(looked)
    looked.roles = await _roles(session, looked.backend)
    looked.listeners = await _listeners(session, contexts[frame_id])
    return looked


async def _shown(looked: _Looked) -> list[tuple[float, float, int]]:
    """Those of a frame's points at which all of its parents show the frame."""
    kept = looked.points
    child, at = looked, [(x, y) for x, y, _ in kept]
    while child.parent is not None and child.frame is not None and kept:
        frame = child.frame
        at = [(frame["x"] + x * frame["scaleX"], frame["y"] + y * frame["scaleY"]) for x, y in at]
        places = await _called(
            child.parent.session, child.parent.handle, "function(list) { return this.hit(list) }", at
        )
        both = [(point, where) for point, where, place in zip(kept, at, places, strict=True) if place == child.owner]
        kept, at = [point for point, _ in both], [where for _, where in both]
        child = child.parent
    return kept


async def _backend_ids(session: CDPSession, handle: str) -> list[int]:
    """The browser's own number of each element, in their order."""
    array = await session.send(
        "Runtime.callFunctionOn", {"objectId": handle, "functionDeclaration": "function() { return this.elements }"}
    )
    properties = await session.send(
        "Runtime.getProperties", {"objectId": array["result"]["objectId"], "ownProperties": True}
    )
    objects = [each["value"]["objectId"] for each in properties["result"] if each["name"].isdigit()]
    numbers: list[int] = []
    for start in range(0, len(objects), _AT_ONCE):
        asked = [session.send("DOM.describeNode", {"objectId": each}) for each in objects[start : start + _AT_ONCE]]
        numbers += [each["node"]["backendNodeId"] for each in await asyncio.gather(*asked)]
    return numbers


async def _roles(session: CDPSession, backend: Sequence[int]) -> dict[int, str]:
    """Asked for each element that is in sight: on an index of ten thousand links the whole tree takes a minute."""
    roles = {}
    for start in range(0, len(backend), _AT_ONCE):
        some = backend[start : start + _AT_ONCE]
        asked = [
            session.send("Accessibility.getPartialAXTree", {"backendNodeId": each, "fetchRelatives": False})
            for each in some
        ]
        for number, answer in zip(some, await asyncio.gather(*asked), strict=True):
            told: dict[str, Any] | None = answer["nodes"][0] if answer["nodes"] else None
            if told is not None and not told["ignored"]:
                roles[number] = told["role"]["value"]
    return roles


async def _listeners(session: CDPSession, context: int) -> dict[int, frozenset[str]]:
    document = await _evaluated(session, context, "document")
    told = await session.send("DOMDebugger.getEventListeners", {"objectId": document, "depth": -1, "pierce": True})
    heard: dict[int, set[str]] = {}
    for listener in told["listeners"]:
        heard.setdefault(listener["backendNodeId"], set()).add(listener["type"])
    return {node: frozenset(types) for node, types in heard.items()}


async def _evaluated(session: CDPSession, context: int, expression: str) -> str:
    answer = await session.send("Runtime.evaluate", {"expression": expression, "contextId": context})
    if "exceptionDetails" in answer:
        said = answer["result"].get("description") or answer["exceptionDetails"].get("text")
        raise PlaywrightError(f"the page's own world gave no answer: {said}")
    handle: str = answer["result"]["objectId"]
    return handle


async def _called(session: CDPSession, handle: str, function: str, *arguments: Any) -> Any:
    answer = await session.send(
        "Runtime.callFunctionOn",
        {
            "objectId": handle,
            "functionDeclaration": function,
            "arguments": [{"value": each} for each in arguments],
            "returnByValue": True,
        },
    )
    return answer["result"].get("value")


@cache
def _script() -> str:
    return (Path(__file__).parent / "perception_truth.js").read_text("utf-8")


# --- judging ----------------------------------------------------------------------------------------------------------


def _judge(looked: _Looked) -> list[Target | None]:
    """For each place the target that it is, or None. The rules stand in the module's docstring."""
    own = _own_points(looked)
    reasons = [_reason(looked, place, bool(own[place])) for place in range(len(looked.facts))]
    sure = [_is_control(why) for why in reasons]
    holds = _holding(looked, [bool(why) for why in reasons])
    for place, why in enumerate(reasons):
        if why.startswith("listens"):
            sure[place] = not holds[place] and _is_likely(looked, place) and not _inside_another(looked, reasons, place)
    holds_sure = _holding(looked, sure)
    reached = _reached_innermost(looked, sure)
    for place, fact in enumerate(looked.facts):
        if fact["isClear"] and fact["tag"] not in ("input", "select"):
            sure[place] = False
        if not sure[place] or not holds_sure[place]:
            continue
        # A wrapper around what it is for: nothing of it can be pressed that is not the inner target.
        is_composite = looked.role(place) in COMPOSITES and fact["tag"] not in NATIVE
        if is_composite or not reached[place]:
            sure[place] = False
    intents = _intents(looked, sure, reasons)
    return [
        _target(looked, place, reasons[place], sure[place], intents[place]) if reasons[place] and own[place] else None
        for place in range(len(reasons))
    ]


def _reason(looked: _Looked, place: int, is_hit: bool) -> str:
    if not is_hit:
        return ""
    fact, heard = looked.facts[place], looked.heard(place)
    if fact["tag"] in NEVER or fact["inSelect"]:
        return ""
    if (role := looked.role(place)) in CONTROLS:
        return f"role {role}"
    if fact["href"] is not None or fact["tag"] in NATIVE or fact["isSummary"]:
        return f"native {fact['tag']}"
    if fact["editing"]:
        return "editing host"
    if fact["control"] is not None:
        # Where the control itself can be pressed its label is no target of its own.
        place_of_control = fact["control"]["place"]
        return "" if place_of_control >= 0 else "label of a control that cannot be hit"
    if presses := heard & PRESSES:
        return f"listens to {' '.join(sorted(presses))}"
    weak = []
    if others := heard & OTHER_LISTENERS:
        weak.append(f"hears {' '.join(sorted(others))}")
    if fact["tabindex"] is not None and fact["tabindex"] >= 0:
        weak.append("tabindex")
    if fact["draggable"]:
        weak.append("draggable")
    if fact["ownCursor"] and fact["cursor"] not in ("auto", "default", "text", "none", "not-allowed", "wait", "help"):
        weak.append(f"cursor {fact['cursor'].split(',')[-1].strip()}")
    return ", ".join(weak)


def _is_control(why: str) -> bool:
    return why.startswith(("role ", "native ", "editing", "label of"))


def _own_points(looked: _Looked) -> list[list[int]]:
    """For each place the indices of the points that hit it or something in it."""
    own: list[list[int]] = [[] for _ in looked.facts]
    for index, (_, _, innermost) in enumerate(looked.points):
        for place in looked.around(innermost):
            own[place].append(index)
    return own


def _holding(looked: _Looked, wanted: list[bool]) -> list[bool]:
    """For each place whether a wanted one lies within it."""
    holding = [False] * len(wanted)
    for place, is_wanted in enumerate(wanted):
        if is_wanted:
            for outer in looked.around(place)[1:]:
                holding[outer] = True
    return holding


def _reached_innermost(looked: _Looked, sure: list[bool]) -> list[bool]:
    """For each place whether some point's innermost sure target is it."""
    reached = [False] * len(sure)
    for _, _, innermost in looked.points:
        first = next((place for place in looked.around(innermost) if sure[place]), None)
        if first is not None:
            reached[first] = True
    return reached


def _is_likely(looked: _Looked, place: int) -> bool:
    fact = looked.facts[place]
    if fact["cursor"] in ("not-allowed", "no-drop", "wait"):
        return False
    x, y, width, height = fact["box"]
    seen_width = min(x + width, looked.view["width"]) - max(x, 0)
    seen_height = min(y + height, looked.view["height"]) - max(y, 0)
    share = max(0, seen_width) * max(0, seen_height) / (looked.view["width"] * looked.view["height"])
    if fact["cursor"] == "pointer":
        return bool(share <= MODERATE)
    return bool(share <= SMALL and fact["tag"] not in ("td", "th") and not fact["isShape"])


def _inside_another(looked: _Looked, reasons: list[str], place: int) -> bool:
    """Whether something around it is a control, or listens to presses itself and looks like one target."""
    return any(
        _is_control(reasons[outer]) or (reasons[outer].startswith("listens") and _is_likely(looked, outer))
        for outer in looked.around(place)[1:]
    )


def _intents(looked: _Looked, sure: list[bool], reasons: list[str]) -> list[str]:
    """A name for what each place does; equal names are one intent."""
    names = [f"{looked.prefix}{place}" for place in range(len(sure))]
    by_address: dict[tuple[str, int], int] = {}
    for place, fact in enumerate(looked.facts):
        if not sure[place]:
            continue
        if fact["control"] is not None and reasons[place].startswith("label of"):
            names[place] = f"{looked.prefix}control {fact['control']['id']}"
        elif fact["href"] is not None and not fact["href"].startswith("javascript:") and not fact["href"].endswith("#"):
            near = looked.around(place)[1:3]
            first = next(
                (by_address[fact["href"], outer] for outer in near if (fact["href"], outer) in by_address), None
            )
            if first is None:
                for outer in near:
                    by_address[fact["href"], outer] = place
            else:
                names[place] = names[first]
    return names


def _target(looked: _Looked, place: int, why: str, is_sure: bool, intent: str) -> Target:
    fact = looked.facts[place]
    x, y, width, height = fact["box"]
    left, top = looked.to_page(x, y)
    right, bottom = looked.to_page(x + width, y + height)
    box = Box(x=left, y=top, width=max(0, right - left), height=max(0, bottom - top))
    identity = intent if why.startswith("label of") else f"{looked.prefix}{place}"
    is_whole = fact["isWhole"] and looked.parent is None
    return Target(identity, intent, is_sure, why, fact["selector"], fact["text"], box, is_whole)


def _target_around(looked: _Looked, judged: list[Target | None], place: int) -> Target | None:
    """The innermost target around an element; a control's label leads to the control."""
    for outer in looked.around(place):
        target = judged[outer]
        control = looked.facts[outer]["control"]
        if target is None and control is not None and control["place"] >= 0:
            target = judged[control["place"]]
        if target is not None:
            return target
    return None
