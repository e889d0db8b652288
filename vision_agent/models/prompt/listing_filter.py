"""Cuts irrelevant lines from a long listing, by the predicates in the settings (`model.filter`).

A line is cut only if every predicate agrees (text, kind, region, distance to the focus), and if its mark does not have
the focus, is not new or changed, not in a dialog, was not named before, and does not cover other marks. The listing
says how many lines of which kind were cut. Nothing is cut if no line has a word of the task, in a zoomed look, or if
the model gets no marked picture.

The numbers stay on the picture, and a mark without a line can still be named: refusing a visible number would cost a
step. So the filter removes words, never targets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.actions import Point, mark_in, targets_of
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.policy.relevance import content_words, is_about, named_marks, page_text_of, split_number
from vision_agent.settings import FilterSettings, ModelSettings
from vision_agent.types import Step, Task

_SHORTEST_RUN = 5
"""The least number of lines to cut in a row, as the cut itself adds a line. The first and last line of a run stay, to
show what it consists of; the last often is the link "next"."""


@dataclass(frozen=True)
class _ListingLine:
    text: str
    mark: Mark | None
    is_about_task: bool
    """Whether this line or one near it has a word of the task."""


def filter_listing(task: Task, steps: Sequence[Step], observation: Observation, settings: ModelSettings) -> str:
    """The listing for the model; it says at each cut, and in its last line, what was cut."""
    rule, lines = settings.filter, observation.listing.split("\n")
    tail = lines.pop() if lines[-1].startswith("... ") else ""
    is_only_source = not {"filter", "picture", "marks"}.isdisjoint(settings.ablate)
    if len(lines) <= rule.above_lines or observation.region is not None or is_only_source:
        return observation.listing
    read = _read(lines, observation, _wanted(task, steps, rule), rule.beside_lines)
    if not any(line.is_about_task for line in read):
        return observation.listing
    kept, cut = _without_runs(read, _irrelevant(read, steps, observation, rule))
    if not cut:
        return observation.listing
    note = f"{_count_kinds(cut)} not listed: no word of the task is in or near them; zoom in to read them"
    return "\n".join([*kept, f"... {note} · {tail[4:]}" if tail else f"... {note}"])


def _wanted(task: Task, steps: Sequence[Step], rule: FilterSettings) -> frozenset[str]:
    checks = [value for check in task.checks for value in (check.text, check.mark) if value]
    messages = [each.text for each in task.messages]
    texts = [task.goal, task.instructions, *messages, *task.user_data.values(), *checks, *rule.words]
    if steps:
        texts += [steps[-1].decision.next_goal, steps[-1].decision.memory]
    return content_words(" ".join(texts))


def _read(lines: Sequence[str], observation: Observation, wanted: frozenset[str], beside: int) -> list[_ListingLine]:
    marks = {mark.number: mark for mark in observation.marks}
    parts = [split_number(line) for line in lines]
    hits = {index for index, (_, text) in enumerate(parts) if is_about(page_text_of(text), wanted)}
    near = {at for hit in hits for at in range(hit - beside, hit + beside + 1)}
    return [
        _ListingLine(line, marks.get(number) if number is not None else None, index in near)
        for index, (line, (number, _)) in enumerate(zip(lines, parts, strict=True))
    ]


def _irrelevant(
    lines: Sequence[_ListingLine], steps: Sequence[Step], observation: Observation, rule: FilterSettings
) -> set[int]:
    """The indexes of the lines to cut."""
    named = {number for step in steps for number in _named_in(step)}
    named |= {each.blocker_mark for each in observation.covered if each.blocker_mark is not None}
    focus = _focus(steps, observation)

    def may_cut(line: _ListingLine) -> bool:
        mark = line.mark
        if mark is None or line.is_about_task or mark.kind not in rule.kinds:
            return False
        if mark.number in named or mark.state.focused or mark.in_dialog or mark.change in ("new", "changed"):
            return False
        is_near = focus is not None and _gap(mark.box, focus) <= rule.beyond_px
        return not is_near and not _is_within(rule.region, mark, observation)

    to_cut = {index for index, line in enumerate(lines) if may_cut(line)}
    # Text without a mark is cut together with the marks around it.
    for index, line in enumerate(lines):
        if line.text.startswith("_[:]") and not line.is_about_task:
            before = next((at for at in range(index - 1, -1, -1) if lines[at].mark), None)
            after = next((at for at in range(index + 1, len(lines)) if lines[at].mark), None)
            if before in to_cut and after in to_cut:
                to_cut.add(index)
    return to_cut


def _named_in(step: Step) -> set[int]:
    return named_marks(step.decision.actions) | {each.mark for each in step.decision.candidates}


def _focus(steps: Sequence[Step], observation: Observation) -> Box | None:
    """The focused element, else the place of the last input; None if there was no input yet."""
    focused = next((mark.box for mark in observation.marks if mark.state.focused), None)
    if focused is not None or not steps:
        return focused
    last = [each for action in steps[-1].decision.actions for each in targets_of(action)]
    points = [Box(x=each.point.x, y=each.point.y, width=0, height=0) for each in steps[-1].outcomes if each.point]
    numbers = [mark_in(each) for each in last if not isinstance(each, Point)]
    marks = [mark.box for number in numbers if number is not None and (mark := observation.mark(number))]
    return next(iter([*reversed(marks), *reversed(points)]), None)


def _gap(one: Box, other: Box) -> float:
    """The distance of two boxes in CSS pixels; 0 if they touch."""
    across = max(one.x - other.right, other.x - one.right, 0.0)
    return float((across**2 + max(one.y - other.bottom, other.y - one.bottom, 0.0) ** 2) ** 0.5)


def _is_within(region: tuple[float, float, float, float] | None, mark: Mark, observation: Observation) -> bool:
    if region is None:
        return False
    left, top, right, bottom = region
    x, y = mark.box.center.x / observation.viewport.width, mark.box.center.y / observation.viewport.height
    return left <= x <= right and top <= y <= bottom


def _without_runs(lines: Sequence[_ListingLine], to_cut: set[int]) -> tuple[list[str], list[_ListingLine]]:
    """The remaining lines, with a note at each cut, and the lines that were cut."""
    kept: list[str] = []
    cut: list[_ListingLine] = []
    run: list[_ListingLine] = []
    for index, line in enumerate([*lines, None]):
        if line is not None and index in to_cut:
            run.append(line)
            continue
        inner = run[1:-1]
        if len(inner) >= _SHORTEST_RUN:
            kept += [run[0].text, f"... {_count_kinds(inner)} not listed here", run[-1].text]
            cut += inner
        else:
            kept += [each.text for each in run]
        run = []
        if line is not None:
            kept.append(line.text)
    return kept, cut


def _count_kinds(lines: Sequence[_ListingLine]) -> str:
    """The number of lines by kind: `38 links, 3 texts`."""
    counts = Counter(line.mark.kind if line.mark else "text" for line in lines)
    return ", ".join(f"{many} {kind}{'s' if many > 1 else ''}" for kind, many in counts.most_common())
