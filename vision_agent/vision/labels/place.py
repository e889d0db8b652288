"""Places labels and chooses their colours so that no label is read as a neighbour's.

Hard rules: a label is on its own target or on nothing, never on another label, never outside the picture. A container
of the target does not count as another target: a label may lie on the dialog that its button is in, but the dialog's
label not on the button. Soft rules: a label hides no first letter and no icon, covers little ink and little of a small
target, the nearest target is its own, and it stands where the labels of its row and column stand. If there is no room
at or on the target, a line leads to it.

`candidate_places` gathers the places and their cost, `similar_neighbours` the groups that choose together, and
`label_board` chooses. Everything except the ink is known before there are pixels: that is the `plan`. Of a mark, only
its place and kind matter here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.observation import Label, Mark
from vision_agent.vision.labels.candidate_places import Candidates, gather
from vision_agent.vision.labels.colours import choose_colours
from vision_agent.vision.labels.ink import InkOfTargets
from vision_agent.vision.labels.label_board import assign
from vision_agent.vision.labels.placement_cost import PlacementCost, build_cost_tables, is_rtl
from vision_agent.vision.labels.similar_neighbours import Groups, find_groups
from vision_agent.vision.picture import Extent, Picture
from vision_agent.vision.rects import Rect, as_rect, edges_of, round_rects
from vision_agent.vision.style import STYLE, Style

_CUT_PX = 15


def place(
    marks: Sequence[Mark], picture: Picture, style: Style = STYLE, before: Sequence[Mark] = ()
) -> tuple[Mark, ...]:
    """The marks, in the same order, with their labels set; None for marks outside the picture.

    Every mark in the picture gets a label. A label breaks a hard rule only if no other place is left;
    `legibility.faults` names such labels. A mark that was also in `before`, with the same box, keeps its place and
    shade if they are still good.
    """
    return carry_out(plan(marks, picture.extent, style, before), picture)


class Plan(NamedTuple):
    """The part of label placement that needs no pixels, which is most of it."""

    marks: Sequence[Mark]
    shown: list[bool]
    scene: _Scene | None
    """None if there is nothing to place."""
    depends_on: object = None
    """Equal for plans with the same candidates."""


def plan(
    marks: Sequence[Mark],
    extent: Extent,
    style: Style = STYLE,
    before: Sequence[Mark] = (),
    last: Plan | None = None,
) -> Plan:
    """The part of `place` that needs only the picture's extent, which is half of it.

    If nothing has moved since the `last` plan, its candidates are used again.
    """
    edges = edges_of([mark.place for mark in marks])
    shown = _shown(edges, extent)
    inside = [mark for mark, is_shown in zip(marks, shown, strict=True) if is_shown]
    if not inside:
        return Plan(marks, shown, None)
    # All digits have the same size, so that another number with as many takes no more room.
    texts = [(mark.kind, mark.letter, len(str(mark.number)), is_rtl(mark.name)) for mark in inside]
    depends_on = (extent, style, edges[shown].tobytes(), texts)
    kept = _previous_labels(inside, edges[shown], before)
    is_same = last is not None and last.depends_on == depends_on
    scene = (last and is_same and last.scene) or _scene(inside, extent, style)
    previous = {i: was.label.colour for i, was in kept.items()}
    colours = choose_colours(inside, scene.ground.kinds, scene.ground.near, previous, style.palette)
    return Plan(marks, shown, scene._replace(kept=kept, colours=colours), depends_on)


def carry_out(plan: Plan, picture: Picture) -> tuple[Mark, ...]:
    """Completes a plan with the picture; the result is that of `place`."""
    labels = iter(_labels(plan.scene, picture) if plan.scene else ())
    kept = iter(_kept_marks(plan.scene) if plan.scene else ())
    return tuple(
        [
            _labelled(mark, next(labels), next(kept)) if is_in else mark.replacing(label=None)
            for mark, is_in in zip(plan.marks, plan.shown, strict=True)
        ]
    )


def _kept_marks(scene: _Scene) -> Iterator[Mark | None]:
    """The mark in the previous picture whose label each may keep."""
    return (was.mark if (was := scene.kept.get(at)) else None for at in range(len(scene.colours)))


def _labelled(mark: Mark, label: Label, was: Mark | None) -> Mark:
    """The mark with its label; the very one of the previous picture, if that is the same."""
    if was is not None and was.label is label and mark.has_same_fields(was, apart_from="label"):
        return was
    return mark.replacing(label=label)


class _Scene(NamedTuple):
    """The marks that the picture shows, and the candidate places of their labels."""

    ground: PlacementCost
    candidates: Candidates
    groups: Groups
    style: Style
    kept: dict[int, _PreviousLabel] = {}
    """The labels in the previous picture of marks with the same box, by index."""
    colours: Sequence[str] = ()


def _scene(marks: Sequence[Mark], extent: Extent, style: Style) -> _Scene:
    ground = build_cost_tables(marks, extent, style)
    candidates = gather(ground)
    return _Scene(ground, candidates, find_groups(ground, candidates), style)


def _shown(boxes: NDArray[np.float64], extent: Extent) -> list[bool]:
    """Which page boxes are in the picture; of a box cut by the picture's edge, enough for a label must be visible."""
    map, size = extent.map, extent.size
    edges = (boxes - [map.offset_x, map.offset_y] * 2) / ([map.scale_x, map.scale_y] * 2)
    whole = edges[:, 2:] - edges[:, :2]
    part = np.minimum(edges[:, 2:], (size.width, size.height)) - np.maximum(edges[:, :2], 0)
    # Half a pixel is a rounding difference, not a cut.
    is_enough = (part > 0) & (part >= np.minimum(_CUT_PX, whole - 0.5))
    shown: list[bool] = np.all(is_enough, axis=1).tolist()
    return shown


def _labels(scene: _Scene, picture: Picture) -> Iterator[Label]:
    ink = InkOfTargets(picture, scene.ground, scene.candidates.positions)
    kept = {at: was.spot for at, was in scene.kept.items()}
    spots = assign(scene.candidates, scene.groups, kept, scene.ground, ink, scene.style)
    for at, (spot, colour) in enumerate(zip(spots, scene.colours, strict=True)):
        was = scene.kept.get(at)
        if was and was.spot == spot and was.label.colour == colour:
            yield was.label
        else:
            left, top, right, bottom = spot
            yield Label(box=Box(x=left, y=top, width=right - left, height=bottom - top), colour=colour)


class _PreviousLabel(NamedTuple):
    """The label that a mark had in the previous picture, with the same box, and where."""

    label: Label
    spot: Rect
    mark: Mark


def _previous_labels(
    marks: Sequence[Mark], edges: NDArray[np.float64], before: Sequence[Mark]
) -> dict[int, _PreviousLabel]:
    """The previous labels to keep, by index in `marks`, whose boxes have these edges."""
    old = {mark.number: mark for mark in before if mark.label}
    if not old:
        return {}
    pairs = [(i, was) for i, mark in enumerate(marks) if (was := old.get(mark.number)) and was.letter == mark.letter]
    is_same = (edges[[i for i, _ in pairs]] == edges_of([was.place for _, was in pairs])).all(axis=1).tolist()
    kept = [(i, was, was.label) for (i, was), same in zip(pairs, is_same, strict=True) if same and was.label]
    spots = map(as_rect, round_rects([label.box for _, _, label in kept]).tolist())
    return {i: _PreviousLabel(label, spot, was) for (i, was, label), spot in zip(kept, spots, strict=True)}
