"""Grades an answer against what was really done on the same page: Mind2Web's measures, and where the press would land.

After Deng et al. (2023), "Mind2Web: Towards a generalist agent for the web", arXiv:2306.06070, section 4: each step is
answered on its own, after the steps that were really taken before it.

- *element accuracy*: the answer targets the element that was acted on, or an equivalent one. A point targets the
  element whose box contains it, unless it lies in something smaller that can be acted on by itself.
- *operation F1*: the F1 of the words of the operation and its value (`TYPE wool jumper`), each word counted once.
- *step success*: the element and every word of the operation are right.
- *task success*: all steps of the task are right.

As in the paper, figures over several tasks are the mean of the task means. *Landing* is our own measure: whether the
point that would be pressed lies in the box of the element that was acted on, whatever the target.

Differences: we have more operations than CLICK, TYPE and SELECT, each under its own name; ticking is a CLICK, and
setting a value is a TYPE. If a decision has several actions, the first that does more than look counts, in the answer
as in the record. A drag is right if both ends are; its path does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from vision_agent import actions
from vision_agent.actions import Action, Cell, Drag, Point, Target, targets_of
from vision_agent.base_model import FrozenModel
from vision_agent.describe.action_sentences import describe_action
from vision_agent.evals.statistics import Interval, bootstrap
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.text.escape import printable_line
from vision_agent.types import Decision, Step

NEAR_PX = 12.0
"""How far a point may be off, in CSS pixels to each side, if nothing is marked there: half of the 24 CSS pixels that
WCAG 2.2 requires of a target (success criterion 2.5.8)."""


class Aim(FrozenModel):
    """One place that an action targeted."""

    marks: tuple[int, ...] = ()
    """Any of them is right; empty if nothing is marked there."""
    cell: Cell | None = None
    """The cell of the mark, if only that cell is right."""
    boxes: tuple[Box, ...]
    """In page coordinates; a press must land in one of them."""


class Reference(FrozenModel):
    """What was done, as the standard for answers."""

    words: str
    """A description for people."""
    aims: tuple[Aim, ...] = ()
    """Empty if the action had no target, so that there is nothing to choose or to hit."""
    operations: tuple[str, ...] = ()
    """Such as `TYPE wool jumper`; any of them is right. Empty if the reference names only the element."""


class Grade(FrozenModel):
    """The grade of one answer."""

    answer: str
    """A description for people; empty without a usable reply."""
    reference: str
    is_right: bool
    """Whether the step succeeded."""
    element: bool | None
    """None if there was no element to choose."""
    operation_f1: float | None
    landed: bool | None
    operation: str = ""
    """Kind of operation in the reference, without its value; empty if the reference names only the element."""

    @property
    def sentence(self) -> str:
        """A summary for people."""
        parts = [] if self.element is None else [f"element {'right' if self.element else 'wrong'}"]
        parts += [] if self.operation_f1 is None else [f"operation F1 {self.operation_f1:.2f}"]
        parts += [] if self.landed is None else ["lands on it" if self.landed else "misses it"]
        verdict = f"{'Right' if self.is_right else 'Wrong'} ({', '.join(parts)})"
        return f"{verdict}: the reference is: {self.reference}."


def step_reference(step: Step) -> Reference | None:
    """The reference for a recorded step; None if it only looked, asked or ended, or the loop took it on its own."""
    if step.decision.author == "loop":
        return None
    done = [action for action, _ in step.carried_out if _counts(action)]
    return action_reference(done[0], step.observation) if done else None


def action_reference(action: Action, seen: Observation) -> Reference | None:
    """The reference for an action on an observation; None if it only looks, asks or ends, or its target is missing."""
    aims = [_aim(target, seen) for target in _places(action)]
    if not _counts(action) or any(aim is None for aim in aims):
        return None
    return Reference(
        words=describe_action(action, seen),
        aims=tuple(aim for aim in aims if aim is not None),
        operations=(operation_text(action, seen),),
    )


def merge_references(references: Sequence[Reference]) -> Reference | None:
    """Merge alternative references into one; None if an answer could then be right by mixing parts of two.

    This works if all do the same to different targets, or different things to the same target.
    """
    first = references[0]
    words = " or ".join(dict.fromkeys(each.words for each in references))
    if all(each.aims == first.aims for each in references):
        operations = dict.fromkeys(name for each in references for name in each.operations)
        return Reference(words=words, aims=first.aims, operations=tuple(operations))
    is_one_place = all(len(each.aims) == 1 and each.aims[0].cell is None for each in references)
    if not is_one_place or any(each.operations != first.operations for each in references):
        return None
    marks = dict.fromkeys(number for each in references for number in each.aims[0].marks)
    boxes = dict.fromkeys(box for each in references for box in each.aims[0].boxes)
    return Reference(words=words, aims=(Aim(marks=tuple(marks), boxes=tuple(boxes)),), operations=first.operations)


def grade_decision(decision: Decision | None, reference: Reference, seen: Observation) -> Grade:
    """The grade of a decision about an observation; None, an unusable reply, is wrong."""
    answers = decision.actions if decision is not None else ()
    action = next(filter(_counts, answers), next(iter(answers), None))
    element = landed = f1 = None
    if reference.aims:
        places = _places(action) if action is not None else ()
        element = len(places) == len(reference.aims) and all(
            meets(place, aim, seen) for place, aim in zip(places, reference.aims, strict=True)
        )
        landed = bool(places) and lands(places[0], reference.aims[0], seen)
    if reference.operations:
        answer_text = operation_text(action, seen) if action is not None else ""
        f1 = max(word_f1(answer_text, each) for each in reference.operations)
    return Grade(
        answer=_answer_in_words(decision, action, seen),
        reference=printable_line(reference.words),
        is_right=decision is not None and element is not False and f1 in (None, 1.0),
        element=element,
        operation_f1=f1,
        landed=landed,
        operation=reference.operations[0].partition(" ")[0] if reference.operations else "",
    )


def meets(target: Target, aim: Aim, seen: Observation) -> bool:
    """Whether a target is the intended element or place."""
    if isinstance(target, Cell) and aim.cell is not None:
        return target == aim.cell
    if isinstance(target, int | Cell) and aim.marks and aim.cell is None:
        return (target if isinstance(target, int) else target.mark) in aim.marks
    if not lands(target, aim, seen):
        return False
    if not isinstance(target, Point) or not aim.marks:
        return True
    point = press_point(target, seen)
    assert point is not None
    least = min(_area(box) for box in aim.boxes if box.contains(point))
    inner = [mark for mark in seen.marks if mark.source == "dom" and mark.number not in aim.marks]
    return not any(mark.box.contains(point) and _area(mark.box) < least for mark in inner)


def lands(target: Target, aim: Aim, seen: Observation) -> bool:
    """Whether a press on the target would land in one of the intended boxes."""
    point = press_point(target, seen)
    return point is not None and any(box.contains(point) for box in aim.boxes)


def press_point(target: Target, seen: Observation) -> Point | None:
    """Where a target is pressed, in page coordinates; None if it does not exist."""
    if isinstance(target, Point):
        return seen.marked.map.to_page(target)
    if isinstance(target, Cell):
        box = seen.box_of(target)
        return box.center if box is not None else None
    mark = seen.mark(target)
    return mark.point if mark is not None else None


def operation_text(action: Action, seen: Observation) -> str:
    """The operation with its value, as the words that F1 compares."""
    match action:
        case actions.Click():
            more = ("", "DOUBLE", "TRIPLE")[action.count - 1], action.button.upper() * (action.button != "left")
            return " ".join(filter(None, ("CLICK", *more, *action.modifiers)))
        case actions.Check():
            mark = seen.mark(action.mark)
            is_so = mark is not None and mark.state.checked == str(action.checked).lower()
            return "NOTHING" if is_so else "CLICK"
        case actions.DoubleTap() | actions.Hold():
            return action.kind.upper()
        case actions.Type():
            return f"TYPE {action.text}"
        case actions.Set():
            return f"TYPE {action.value}"
        case actions.Select():
            return f"{'UNSELECT' if action.change == 'remove' else 'SELECT'} {' '.join(action.options)}"
        case actions.Press():
            return f"{'HOLD' if action.seconds else 'PRESS'} {action.keys}"
        case actions.Upload():
            return f"UPLOAD {' '.join(action.files)}"
        case actions.Goto() | actions.OpenTab():
            return f"{action.kind.upper()} {action.url}"
        case actions.SwitchTab() | actions.CloseTab():
            return f"{action.kind.upper()} {action.tab}"
        case actions.SelectText():
            return f"SELECT_TEXT {action.first} {action.last}"
        case actions.Hover() | actions.Scroll() | actions.ScrollTo() | actions.Drag() | actions.Zoom() | actions.Wait():
            return action.kind.upper()
        case actions.Back() | actions.Forward() | actions.Reload() | actions.Read() | actions.Extract():
            return action.kind.upper()
        case actions.LookAt() | actions.Pan() | actions.Magnify():
            return action.kind.upper()
        case actions.FindOn():
            return f"FIND_ON {action.text}"
        case actions.Ask() | actions.Finish() | actions.Infeasible() | actions.Custom():
            return action.kind.upper()
        case _:
            assert_never(action)


def word_f1(answer: str, wanted: str) -> float:
    """The harmonic mean of precision and recall over the distinct words of both."""
    words, right = set(answer.split()), set(wanted.split())
    both = len(words & right)
    return 2 * both / (len(words) + len(right)) if both else float(words == right)


# --- over tasks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Summary of grades: the mean over tasks of their mean over steps, with bootstrap intervals over tasks."""

    steps: int
    element: Interval | None
    operation_f1: Interval | None
    step_success: Interval | None
    landing: Interval | None


def rates(tasks: Sequence[Sequence[Sequence[Grade]]]) -> Rates | None:
    """The rates over the grades, given per task and try; None if there are no grades."""
    if not any(grades for tries in tasks for grades in tries):
        return None

    def over(name: str) -> Interval | None:
        return bootstrap([[mean for grades in tries if (mean := _mean(grades, name)) is not None] for tries in tasks])

    return Rates(
        steps=sum(len(grades) for tries in tasks for grades in tries),
        element=over("element"),
        operation_f1=over("operation_f1"),
        step_success=over("is_right"),
        landing=over("landed"),
    )


def by_operation(tasks: Sequence[Sequence[Sequence[Grade]]]) -> dict[str, Rates]:
    """The rates for each kind of operation, most frequent first; empty if there is only one kind."""
    kinds = Counter(grade.operation for tries in tasks for grades in tries for grade in grades if grade.operation)
    of = {
        kind: rates([[[each for each in grades if each.operation == kind] for grades in tries] for tries in tasks])
        for kind, _ in kinds.most_common()
    }
    return {kind: rate for kind, rate in of.items() if rate is not None} if len(of) > 1 else {}


def _mean(grades: Sequence[Grade], name: str) -> float | None:
    values = [float(value) for each in grades if (value := getattr(each, name)) is not None]
    return sum(values) / len(values) if values else None


# --- what is meant ----------------------------------------------------------------------------------------------------


def _answer_in_words(decision: Decision | None, action: Action | None, seen: Observation) -> str:
    if decision is None:
        return ""
    return printable_line(describe_action(action, seen)) if action is not None else "Nothing"


def _counts(action: Action) -> bool:
    return action.traits.in_browser and not action.traits.only_looks


def _places(action: Action) -> tuple[Target, ...]:
    """The targets that count: both ends of a drag, otherwise one or none."""
    if isinstance(action, Drag):
        return tuple(each for each in (action.source, action.target) if isinstance(each, int | Cell | Point))
    return targets_of(action)[:1]


def _aim(target: Target, seen: Observation) -> Aim | None:
    """The aim of a recorded target; None if it is unknown."""
    if isinstance(target, Point):
        point = seen.marked.map.to_page(target)
        mark = min(_marks_at(point, seen), key=lambda mark: _area(mark.box), default=None)
        if mark is not None:
            return Aim(marks=(mark.number,), boxes=(mark.box,))
        around = Box(x=point.x - NEAR_PX, y=point.y - NEAR_PX, width=2 * NEAR_PX, height=2 * NEAR_PX)
        return Aim(boxes=(around,))
    if isinstance(target, Cell):
        box = seen.box_of(target)
        return Aim(marks=(target.mark,), cell=target, boxes=(box,)) if box is not None else None
    mark = seen.mark(target)
    return Aim(marks=(target,), boxes=(mark.box,)) if mark is not None else None


def _marks_at(point: Point, seen: Observation) -> Iterator[Mark]:
    """The marks that a press there could be meant for, without containers and surfaces."""
    for mark in seen.marks:
        if mark.kind not in ("scroller", "surface") and mark.grid is None and mark.box.contains(point):
            yield mark


def _area(box: Box) -> float:
    return box.width * box.height
