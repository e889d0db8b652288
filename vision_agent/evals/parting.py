"""Where two runs of the same item parted: the first step that was not the same, as each of them saw and decided it.

Goes by the run folders alone. Deciders that see the same are held against each other here, so the pictures as sent and
the actions are compared as they are; `vision_agent.record.diff` compares runs that need not have the same numbers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path

from vision_agent.actions import Cell, Point, Target, mark_in, targets_of
from vision_agent.errors import RecordError
from vision_agent.evals.items import Result
from vision_agent.evals.summary import Group, what_of
from vision_agent.phrases import in_words
from vision_agent.record.read import read
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.types import Box, Observation, Size, Step


@dataclass(frozen=True)
class Side:
    """What one of the two saw and did in that step."""

    group: Group
    result: Result
    run: Path
    step: int | None
    """None where its run had ended before."""
    did: tuple[str, ...]
    """What it decided, in words, and what was refused."""
    picture: Path | None
    """As it was sent; None where it is not there any more."""
    size: Size | None
    boxes: tuple[Box, ...]
    """What it aimed at, in picture coordinates."""
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Parting:
    """One item, and the step in which two settings parted."""

    task: str
    seed: int
    first: Side
    second: Side
    is_same_picture: bool


def parted(groups: Sequence[Group], runs: dict[tuple[str, str], Path], most: int) -> tuple[list[Parting], int]:
    """Where settings parted on items that one of two passed, up to `most`, and how many such items there are.

    `runs` are the run folders by the name of the group and the id of the item. As many as can be are from different
    pairs of settings.
    """
    pairs = [_split(one, other) for one, other in combinations(groups, 2) if one.suite == other.suite]
    found: list[Parting] = []
    places = [(pair, place) for place in range(most) for pair in pairs if place < len(pair)]
    for pair, place in places:
        if len(found) == most:
            break
        sides = [(group, result, runs.get((group.name, result.item.id))) for group, result in pair[place]]
        if all(run is not None and run.is_dir() for _, _, run in sides):
            try:
                found += _parting(*sides)  # type: ignore[arg-type]
            except RecordError:
                continue  # a record that cannot be read shows nothing; its report says so
    return found, sum(map(len, pairs))


_Those = tuple[Group, Result]


def _split(one: Group, other: Group) -> list[tuple[_Those, _Those]]:
    """The items that one of the two passed and the other did not."""
    theirs = {what_of(result): result for result in other.results if result.passed is not None}
    return [
        ((one, result), (other, theirs[what_of(result)]))
        for result in one.results
        if result.passed is not None and what_of(result) in theirs and result.passed != theirs[what_of(result)].passed
    ]


def _parting(first: tuple[Group, Result, Path], second: tuple[Group, Result, Path]) -> list[Parting]:
    """None or one: runs that did the same to the end did not part."""
    for mine, theirs in zip_longest(read(first[2]).steps, read(second[2]).steps):
        if mine and theirs and _key(mine) == _key(theirs):
            continue
        item = first[1].item
        sees_same = bool(mine and theirs) and mine.observation.marked.sha256 == theirs.observation.marked.sha256
        return [Parting(item.task, item.seed, _side(*first, mine), _side(*second, theirs), sees_same)]
    return []


def _key(step: Step) -> tuple[object, ...]:
    return step.observation.marked.sha256, step.decision.actions


def _side(group: Group, result: Result, run: Path, step: Step | None) -> Side:
    if step is None:
        return Side(group, result, run, None, (), None, None, (), ())
    seen, actions = step.observation, step.decision.actions
    told = []
    for place, action in enumerate(actions):
        outcome = step.outcomes[place] if place < len(step.outcomes) else None
        told.append(in_words(action, seen))
        if outcome is not None and outcome.status == "refused":
            told.append(outcome.sentence if outcome.refusal == "recorded" else f"Refused: {outcome.sentence}")
        if outcome is not None and outcome.status == "partial":
            told.append(f"Cut off half-way: {outcome.sentence}")
    targets = [target for action in actions for target in targets_of(action)]
    boxes = [box for each in targets if (box := _box(each, seen))]
    picture = run / SHOTS / shot_name(seen.marked)
    return Side(
        group=group,
        result=result,
        run=run,
        step=step.index,
        did=tuple(told) or ("It decided nothing",),
        picture=picture if picture.is_file() else None,
        size=seen.marked.size,
        boxes=tuple(map(seen.marked.map.box_to_picture, boxes)),
        points=tuple(each for each in targets if isinstance(each, Point)),
    )


def _box(target: Target, seen: Observation) -> Box | None:
    """Where a target lies on the page; None for a point, and for a number that the picture did not have."""
    number = mark_in(target)
    mark = seen.mark(number) if number is not None else None
    if mark is not None and isinstance(target, Cell) and mark.grid:
        return mark.grid.cell(target.row, target.column) or mark.box
    return mark.box if mark else None


def beside(path: Path, at: Path) -> str:
    """A path as a page in the folder `at` names it."""
    return Path(os.path.relpath(path.absolute(), at.absolute())).as_posix()
