"""Compares the marks of an observation with labels, by id or by selector, or with the independent truth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import Page

from vision_agent.evals.perception.look import Elements, ask_element
from vision_agent.evals.perception.selector_labels import Entry, ask
from vision_agent.evals.perception.truth import Target, Truth
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation

_MOST_DISPLACED = 1.0


@dataclass(frozen=True)
class Finding:
    """One fault, described so that the element can be found."""

    kind: str
    """`missed`, `false`, `duplicate`, `landing`, `box`, `unsure`, `misfit` (labels that do not fit the page) or, in the
    sample that people check, `agreed`."""
    text: str
    box: Box | None = None


@dataclass(frozen=True)
class FoundMarks:
    """How the marks of a page compare with what must be marked."""

    wanted: int
    found: int
    false: int
    duplicates: int
    unsure: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    boxes: tuple[tuple[Mark, float], ...] = ()
    agreed: tuple[Finding, ...] = ()


def against_labels(labels: Path, observation: Observation, ids: dict[int, str]) -> FoundMarks:
    """The marks against the ids that a page's labels name; `ids`: of the marked elements, by mark number."""
    wanted: dict[str, dict[str, Any]] = json.loads(labels.read_text("utf-8"))["marks"]
    marked = Counter(ids.get(mark.number, "") for mark in observation.marks)
    findings = [Finding("missed", f"#{each}") for each in wanted if not marked[each]]
    errors = []
    for mark in observation.marks:
        identity = ids.get(mark.number, "")
        if identity not in wanted:
            findings.append(Finding("false", mark_text(mark, f"#{identity}"), mark.box))
        elif "box" in wanted[identity]:
            errors.append((mark, _farthest(mark.box, wanted[identity]["box"])))
    twice = {each: count - 1 for each, count in marked.items() if each in wanted and count > 1}
    findings += [Finding("duplicate", f"#{each}") for each in twice]
    missed = sum(not marked[each] for each in wanted)
    false = sum(count for each, count in marked.items() if each not in wanted)
    found = len(wanted) - missed
    return FoundMarks(len(wanted), found, false, sum(twice.values()), (), tuple(findings), tuple(errors))


async def against_selectors(
    tab: Page, observation: Observation, elements: Elements, entries: Sequence[Entry]
) -> FoundMarks:
    """The marks against the selectors of a page's labels."""
    labelled = await ask(tab, entries, [(mark.point.x, mark.point.y) for mark in observation.marks])
    marked: Counter[tuple[Entry, int]] = Counter()
    wrong, unsure = [], []
    for mark, place in zip(observation.marks, labelled.places, strict=True):
        entry, number = place.entry, place.number
        if mark.kind == "scroller":
            # What its point hits may well be something inside.
            entry, number = await _scroller(mark, elements, entries), 0
        if entry is None or entry.kind == "never":
            where = f"{place.hit}: {entry.what}" if entry else place.hit
            wrong.append(Finding("false", mark_text(mark, where), mark.box))
        elif entry.kind == "either":
            unsure.append(Finding("unsure", f"{mark_text(mark, place.hit)}: {entry.what}", mark.box))
        else:
            marked[entry, number] += 1
    wanted = [
        (entry, number) for entry in entries if entry.kind in ("targets", "scrollers") for number in range(entry.count)
    ]
    boxes = {(entry, number): box for entry, each in labelled.boxes.items() for number, box in enumerate(each)}

    def findings(kind: str, things: Sequence[tuple[Entry, int]]) -> list[Finding]:
        return [Finding(kind, f"{entry.what} {number + 1}", boxes.get((entry, number))) for entry, number in things]

    missed, twice = [each for each in wanted if not marked[each]], [each for each in wanted if marked[each] > 1]
    return FoundMarks(
        wanted=len(wanted),
        found=len(wanted) - len(missed),
        false=len(wrong),
        duplicates=sum(marked[each] - 1 for each in twice),
        unsure=tuple(unsure),
        findings=(
            *findings("missed", missed),
            *wrong,
            *findings("duplicate", twice),
            *(Finding("misfit", text) for text in labelled.misfits),
        ),
    )


async def _scroller(mark: Mark, elements: Elements, entries: Sequence[Entry]) -> Entry | None:
    """The first entry that names the element of a mark itself."""
    if mark.number not in elements:
        return None
    for entry in entries:
        if await ask_element(elements[mark.number], "(element, at) => element.matches(at)", entry.at):
            return entry
    return None


def against_truth(observation: Observation, truth: Truth | None) -> FoundMarks:
    """The marks against the independent truth; nothing found without one."""
    if truth is None:
        return FoundMarks(0, 0, 0, 0, (), ())
    by_target: dict[str, list[Mark]] = {}
    intents, findings, unsure = set(), [], []
    for mark, hit in zip(observation.marks, truth.hits, strict=True):
        if mark.kind in ("scroller", "surface"):
            continue
        if hit.target is None:
            findings.append(Finding("false", mark_text(mark, hit.selector), mark.box))
        elif not hit.target.is_sure:
            unsure.append(Finding("unsure", f"{mark_text(mark, hit.selector)}: {hit.target.why}", mark.box))
        else:
            intents.add(hit.target.intent)
            by_target.setdefault(hit.target.id, []).append(mark)
    false = len(findings)
    for marks in by_target.values():
        findings += [Finding("duplicate", mark_text(mark, f"beside {marks[0].number}"), mark.box) for mark in marks[1:]]
    duplicates = len(findings) - false
    sure = truth.sure
    missed = [target for intent, target in sure.items() if intent not in intents]
    findings += [Finding("missed", _target_text(target), target.box) for target in missed]
    agreed = [
        Finding("agreed", _target_text(target), target.box) for intent, target in sure.items() if intent in intents
    ]
    return FoundMarks(len(sure), len(agreed), false, duplicates, tuple(unsure), tuple(findings), agreed=tuple(agreed))


def mark_text(mark: Mark, where: str) -> str:
    """What a finding says of a mark."""
    return f"{mark.number} <{mark.tag}> {mark.role} {mark.name[:40]!r} ({', '.join(mark.evidence)}) at {where}"


def _target_text(target: Target) -> str:
    return f"{target.selector} {target.text[:40]!r} ({target.why})"


async def box_errors(observation: Observation, truth: Truth | None, elements: Elements) -> list[tuple[Mark, float]]:
    """Marks on fully visible targets, with the distance of their box from the one in the page's own world.

    Only for marks on that very element: a label that stands for its control rightly has another box.
    """
    errors = []
    for mark, hit in zip(observation.marks, truth.hits if truth else (), strict=truth is not None):
        target = hit.target
        if target is None or not (target.is_sure and target.is_whole) or mark.number not in elements:
            continue
        if await ask_element(elements[mark.number], "element => __perception.placeIn(element)") == target.place:
            wanted = [target.box.x, target.box.y, target.box.width, target.box.height]
            errors.append((mark, _farthest(mark.box, wanted)))
    return errors


def displaced(boxes: Sequence[tuple[Mark, float]]) -> list[Finding]:
    """The boxes that are too far off."""
    return [
        Finding("box", f"{mark.number} {mark.name[:40]!r} is {error:.1f} px off", mark.box)
        for mark, error in boxes
        if error > _MOST_DISPLACED
    ]


def _farthest(box: Box, wanted: Sequence[float]) -> float:
    """The largest distance between corresponding edges of two boxes, in CSS pixels."""
    x, y, width, height = wanted
    mine = np.array([box.x, box.y, box.right, box.bottom])
    return float(np.abs(mine - [x, y, x + width, y + height]).max())
