"""What was found in a surface: shapes, lines of text and grids, one row each, before the best of them are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.rects import Bools, Floats, Group, Ints
from vision_agent.vision.surfaces.grid_detection import Cells

Shape = Literal["box", "round", "shape", "line", "words"]
Part = Literal["", "node", "port", "handle", "edge", "slider"]
"""What a shape is by what it is a part of, or by what it is made of; empty if that does not tell."""


@dataclass(frozen=True)
class Shapes:
    """The shapes found, in pixels of the examined part, one row each."""

    rects: Ints
    points: Ints
    shapes: list[Shape]
    outlined: NDArray[np.uint8]
    """1 if it is a closed outline, 2 if that is dashed, else 0."""
    scores: Floats
    says: Bools
    """Whether each shape contains each line of text; one column per line."""
    lattices: list[Cells]
    cells: Ints
    """The rectangles that the members of `lattices` index."""
    lines: Ints
    parts: list[Part] = field(default_factory=list)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each edge: the shapes that it connects."""
    selected: frozenset[int] = frozenset()
    """The shapes in a frame with handles."""
    doubtful: Ints = field(default_factory=lambda: np.empty((0, 4), np.int32))
    """The lines that may lack a sign or digit in front of them."""

    @property
    def things(self) -> Group:
        """The indexes of all but the lines of text."""
        return np.array([at for at, shape in enumerate(self.shapes) if shape != "words"], np.int64)

    def take(self, which: Group) -> Shapes:
        """The shapes with these indexes, in this order; edges of which an end is missing have none."""
        new = {old: at for at, old in enumerate(which.tolist())}
        ends = {
            new[edge]: (new[one], new[other])
            for edge, (one, other) in self.ends.items()
            if edge in new and one in new and other in new
        }
        return replace(
            self,
            rects=self.rects[which],
            points=self.points[which],
            shapes=[self.shapes[at] for at in which.tolist()],
            outlined=self.outlined[which],
            scores=self.scores[which],
            says=self.says[which],
            parts=[self.parts[at] for at in which.tolist()],
            ends=ends,
            selected=frozenset(new[at] for at in self.selected if at in new),
        )

    def add(self, rects: Ints, points: Ints, shape: Shape, part: Part, score: float) -> Shapes:
        """The shapes, followed by these."""
        many = len(rects)
        return replace(
            self,
            rects=np.concatenate([self.rects, rects.astype(np.int32)]),
            points=np.concatenate([self.points, points.astype(np.int32)]),
            shapes=self.shapes + [shape] * many,
            outlined=np.concatenate([self.outlined, np.zeros(many, np.uint8)]),
            scores=np.concatenate([self.scores, np.full(many, score, np.float32)]),
            says=np.concatenate([self.says, np.zeros((many, len(self.lines)), bool)]),
            parts=self.parts + [part] * many,
        )

    def without_lines(self, gone: Bools) -> Shapes:
        """The shapes without some lines of text, and without the words that consist of these lines."""
        is_gone = np.array([shape == "words" for shape in self.shapes], bool) & (self.says & gone[None]).any(axis=1)
        kept = self.take(np.flatnonzero(~is_gone))
        return replace(kept, lines=self.lines[~gone], says=kept.says[:, ~gone])
