"""The graph of a run for its report: page states as nodes, steps as edges, and where their lines are drawn.

States are listed from top to bottom in the order in which they were first seen, each with the edges that leave it. An
edge to the next state is the line straight down; the others run through lanes at the left, where edges to one state,
or from one, share a lane. All lengths are in em, so that the drawing grows with the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

HEAD, EDGE, GAP = 4.6, 1.9, 1.1
"""The height of a state, of an edge below it, and of the space below those; the style sheet has the same."""
_LANE, _MARGIN = 0.8, 0.9
_MOST_LANES = 9
"""Lanes that are drawn apart; further ones share the last."""


@dataclass(frozen=True)
class Visit:
    """One look at a page: its state, and the step that left it."""

    state: int
    step: int | None
    """None for the look after the last step."""
    label: str
    tone: str
    """How the step went, such as `ok`."""


@dataclass
class StateEdge:
    """The steps from one state to another."""

    target: int | None
    """None if the page after the step is not recorded."""
    labels: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    tone: str = "ok"
    y: float = 0


@dataclass
class StateNode:
    """One page state."""

    number: int
    looks: list[int | None] = field(default_factory=list)
    """The steps that began there; None for the look after the last one."""
    edges: list[StateEdge] = field(default_factory=list)
    y: float = 0
    """The middle of its row."""


@dataclass(frozen=True)
class StateGraph:
    """The nodes with their places, and the lines as SVG paths."""

    nodes: tuple[StateNode, ...]
    lines: tuple[str, ...]
    arrows: tuple[str, ...]
    width: float
    height: float
    trunk: float
    """The x coordinate of the nodes."""


_WORST = {"failed": 2, "warned": 1}


def state_graph(visits: Sequence[Visit]) -> StateGraph:
    """The graph of these looks, in order."""
    nodes: dict[int, StateNode] = {}
    for visit, then in zip(visits, [*visits[1:], None], strict=False):
        node = nodes.setdefault(visit.state, StateNode(visit.state))
        node.looks.append(visit.step)
        if visit.step is None:
            continue
        target = then.state if then is not None else None
        edge = next((each for each in node.edges if each.target == target), None)
        if edge is None:
            edge = StateEdge(target)
            node.edges.append(edge)
        edge.steps.append(visit.step)
        if visit.label not in edge.labels:
            edge.labels.append(visit.label)
        if _WORST.get(visit.tone, 0) > _WORST.get(edge.tone, 0):
            edge.tone = visit.tone
    return _laid_out(list(nodes.values()))


def _laid_out(nodes: list[StateNode]) -> StateGraph:
    top = 0.0
    for node in nodes:
        node.y = top + HEAD / 2
        for at, edge in enumerate(node.edges):
            edge.y = top + HEAD + EDGE * (at + 0.5)
        top += HEAD + EDGE * len(node.edges) + GAP
    place = {node.number: at for at, node in enumerate(nodes)}
    bundles = _bundles(nodes, place)
    lanes = _lanes([(min(ys), max(ys)) for ys in (bundle.ys for bundle in bundles)])
    count = max(lanes, default=-1) + 1
    trunk = _MARGIN + _LANE * min(count, _MOST_LANES)
    lines, arrows = [], []
    for at, node in enumerate(nodes):
        goes_on = any(edge.target is not None and place[edge.target] == at + 1 for edge in node.edges)
        down = nodes[at + 1].y - 0.55 if goes_on else max((edge.y for edge in node.edges), default=node.y)
        lines.append(f"M{trunk:.2f} {node.y:.2f}V{down:.2f}")
        lines += [f"M{trunk:.2f} {edge.y:.2f}h.7" for edge in node.edges]
        if goes_on:
            arrows.append(f"M{trunk:.2f} {down:.2f}l-.32 -.55h.64z")
    for bundle, lane in zip(bundles, lanes, strict=True):
        x = trunk - _LANE * (min(lane, _MOST_LANES - 1) + 1)
        lines.append(f"M{x:.2f} {min(bundle.ys):.2f}V{max(bundle.ys):.2f}")
        lines += [f"M{x:.2f} {y:.2f}H{trunk:.2f}" for y in bundle.sources]
        for y in bundle.targets:
            lines.append(f"M{x:.2f} {y:.2f}H{trunk - 0.6:.2f}")
            arrows.append(f"M{trunk - 0.5:.2f} {y:.2f}l-.55 -.32v.64z")
    return StateGraph(tuple(nodes), tuple(lines), tuple(arrows), trunk + _MARGIN, max(0.0, top - GAP), trunk)


@dataclass
class _Bundle:
    """Edges that share a lane: all to one state, or all from one."""

    sources: list[float] = field(default_factory=list)
    targets: list[float] = field(default_factory=list)

    @property
    def ys(self) -> list[float]:
        return [*self.sources, *self.targets]


def _bundles(nodes: list[StateNode], place: dict[int, int]) -> list[_Bundle]:
    far = [
        (node, edge, nodes[place[edge.target]])
        for at, node in enumerate(nodes)
        for edge in node.edges
        if edge.target is not None and place[edge.target] not in (at, at + 1)
    ]
    leave, reach = ([each[side].number for each in far] for side in (0, 2))  # type: ignore[union-attr]
    found: dict[tuple[str, int], _Bundle] = {}
    for node, edge, target in far:
        key = ("to", target.number)
        if leave.count(node.number) > reach.count(target.number):
            key = ("from", node.number)
        bundle = found.setdefault(key, _Bundle())
        bundle.sources.append(edge.y)
        if target.y not in bundle.targets:
            bundle.targets.append(target.y)
    return list(found.values())


def _lanes(spans: list[tuple[float, float]]) -> list[int]:
    """A lane for each span, short ones nearest to the nodes, so that no two in a lane overlap."""
    lanes = [0] * len(spans)
    taken: list[list[tuple[float, float]]] = []
    for at in sorted(range(len(spans)), key=lambda each: spans[each][1] - spans[each][0]):
        low, high = spans[at]
        free = (n for n, lane in enumerate(taken) if all(high < start or low > end for start, end in lane))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        lanes[at] = lane
    return lanes
