"""Finds where two runs of the same item diverged: the first step in which they saw or decided something different.

It reads only the run folders. Both runs use the same marks, so pictures and actions are compared exactly;
`vision_agent.record.diff` compares runs whose numbers may differ.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path

from vision_agent.actions import Cell, Point, Target, mark_in, targets_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import RecordError
from vision_agent.evals.items import ItemResult
from vision_agent.evals.results.summary import Group, item_key
from vision_agent.geometry import Box, Size
from vision_agent.observation import Observation
from vision_agent.record.read import read
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.types import Step


@dataclass(frozen=True)
class StepSide:
    """What one of the two runs saw and did in that step."""

    group: Group
    result: ItemResult
    run: Path
    step: int | None
    """None if its run had already ended."""
    did: tuple[str, ...]
    """Its decision in words, and what was refused."""
    picture: Path | None
    """The picture as sent; None if the file is missing."""
    size: Size | None
    boxes: tuple[Box, ...]
    """Boxes of its targets, in picture pixels."""
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Divergence:
    """One item, and the step in which two settings diverged."""

    task: str
    seed: int
    first: StepSide
    second: StepSide
    is_same_picture: bool


def find_divergences(
    groups: Sequence[Group], runs: dict[tuple[str, str], Path], most: int
) -> tuple[list[Divergence], int]:
    """Divergences on items that only one of two settings passed: up to `most`, and the number of such items.

    `runs` maps a group's name and an item's id to the run folder. The divergences cover as many pairs of settings as
    possible.
    """
    pairs = [_split(one, other) for one, other in combinations(groups, 2) if one.suite == other.suite]
    found: list[Divergence] = []
    places = [(pair, place) for place in range(most) for pair in pairs if place < len(pair)]
    for pair, place in places:
        if len(found) == most:
            break
        sides = [(group, result, runs.get((group.name, result.item.id))) for group, result in pair[place]]
        if all(run is not None and run.is_dir() for _, _, run in sides):
            try:
                found += _diverge(*sides)  # type: ignore[arg-type]
            except RecordError:
                continue  # an unreadable record shows nothing; its report says why
    return found, sum(map(len, pairs))


_Those = tuple[Group, ItemResult]


def _split(one: Group, other: Group) -> list[tuple[_Those, _Those]]:
    """The items that exactly one of the two passed."""
    theirs = {item_key(result): result for result in other.results if result.passed is not None}
    return [
        ((one, result), (other, theirs[item_key(result)]))
        for result in one.results
        if result.passed is not None and item_key(result) in theirs and result.passed != theirs[item_key(result)].passed
    ]


def _diverge(first: tuple[Group, ItemResult, Path], second: tuple[Group, ItemResult, Path]) -> list[Divergence]:
    """At most one divergence: runs with the same steps to the end have none."""
    for mine, theirs in zip_longest(read(first[2]).steps, read(second[2]).steps):
        if mine and theirs and _key(mine) == _key(theirs):
            continue
        item = first[1].item
        sees_same = bool(mine and theirs) and mine.observation.marked.sha256 == theirs.observation.marked.sha256
        return [Divergence(item.task, item.seed, _side(*first, mine), _side(*second, theirs), sees_same)]
    return []


def _key(step: Step) -> tuple[object, ...]:
    return step.observation.marked.sha256, step.decision.actions


def _side(group: Group, result: ItemResult, run: Path, step: Step | None) -> StepSide:
    if step is None:
        return StepSide(group, result, run, None, (), None, None, (), ())
    seen, actions = step.observation, step.decision.actions
    did = []
    for place, action in enumerate(actions):
        outcome = step.outcomes[place] if place < len(step.outcomes) else None
        did.append(describe_action(action, seen))
        if outcome is not None and outcome.status == "refused":
            did.append(outcome.sentence if outcome.refusal == "recorded" else f"Refused: {outcome.sentence}")
        if outcome is not None and outcome.status == "partial":
            did.append(f"Partly done: {outcome.sentence}")
    targets = [target for action in actions for target in targets_of(action)]
    boxes = [box for each in targets if (box := _box(each, seen))]
    picture = run / SHOTS / shot_name(seen.marked)
    return StepSide(
        group=group,
        result=result,
        run=run,
        step=step.index,
        did=tuple(did) or ("It decided nothing",),
        picture=picture if picture.is_file() else None,
        size=seen.marked.size,
        boxes=tuple(map(seen.marked.map.box_to_picture, boxes)),
        points=tuple(each for each in targets if isinstance(each, Point)),
    )


def _box(target: Target, seen: Observation) -> Box | None:
    """The box of a target, in CSS pixels of the page; None for a point or an unknown number."""
    number = mark_in(target)
    mark = seen.mark(number) if number is not None else None
    cell = seen.box_of(target) if isinstance(target, Cell) else None
    return cell or (mark.box if mark else None)


def relative_path(path: Path, at: Path) -> str:
    """The path relative to the folder `at`, as a page there links it."""
    return Path(os.path.relpath(path.absolute(), at.absolute())).as_posix()
