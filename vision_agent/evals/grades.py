"""How an answer is graded against what was done on the same page: Mind2Web's measures, and where the press would land.

After Deng et al. (2023), "Mind2Web: Towards a generalist agent for the web", arXiv:2306.06070, section 4: each step is
answered by itself, after the steps that were really taken before it.

- *element accuracy*: the answer means the element that was acted on, or one that is as good. A point means what it
  lies in: the element's box, and not something smaller in it that can be acted on by itself.
- *operation F1*: the F1 of the words of the operation and its value (`TYPE wool jumper`), each word counted once.
- *step success*: the element is right, and every word of the operation.
- *task success*: all steps of the task are right.

Figures over several tasks are the mean of the tasks' means, as there. *Landing* is ours: the place that would be
pressed lies in the box of what was acted on, whatever was meant.

Differences: we have more operations than CLICK, TYPE and SELECT, each under its own name; a tick is a CLICK, and what
is set is TYPEd. Of several actions in one decision the first that does more than look is the one that counts, in the
answer as in the record. A drag is right where both its ends are; its path does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from vision_agent import actions
from vision_agent.actions import Action, Cell, Drag, Point, Target, targets_of
from vision_agent.approval import only_looks
from vision_agent.evals.statistics import Interval, bootstrap
from vision_agent.phrases import in_words
from vision_agent.types import Box, Decision, Mark, Observation, Step

_ENDS = ("ask", "finish", "infeasible", "custom")
NEAR_PX = 12.0
"""A place where nothing is marked is met within so much to each side: half of the 24 CSS pixels that WCAG 2.2 wants of
a target at least (success criterion 2.5.8)."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Aim(_Data):
    """One place that an act meant."""

    marks: tuple[int, ...] = ()
    """Any of them is right; none: nothing is marked there."""
    cell: Cell | None = None
    """Of the mark, where only that is right."""
    boxes: tuple[Box, ...]
    """In page coordinates; one of them is to be hit."""


class Reference(_Data):
    """What was done, as answers are held against it."""

    words: str
    """For a person."""
    aims: tuple[Aim, ...] = ()
    """None: it was done to no element, so there is none to choose and nowhere to land."""
    operations: tuple[str, ...] = ()
    """`TYPE wool jumper`; any of them is right, none: it was not said what is to be done with the element."""


class Grade(_Data):
    """What became of one answer."""

    answer: str
    """In words; empty where there was no usable reply."""
    reference: str
    is_right: bool
    """The step's success."""
    element: bool | None
    """None: there was none to choose."""
    operation_f1: float | None
    landed: bool | None
    operation: str = ""
    """Of the reference, without its value; empty where it was not said what is to be done with the element."""

    @property
    def sentence(self) -> str:
        """For a person."""
        parts = [] if self.element is None else [f"element {'right' if self.element else 'wrong'}"]
        parts += [] if self.operation_f1 is None else [f"operation F1 {self.operation_f1:.2f}"]
        parts += [] if self.landed is None else ["it lands" if self.landed else "it does not land"]
        verdict = f"{'Right' if self.is_right else 'Wrong'} ({', '.join(parts)})"
        return f"{verdict}: the reference is: {self.reference}."


def reference_of(step: Step) -> Reference | None:
    """What a recorded step did, as a reference; None where it only looked, asked, ended or was the loop's own."""
    if step.decision.author == "loop":
        return None
    done = [action for action, _ in step.carried_out if _counts(action)]
    return reference_to(done[0], step.observation) if done else None


def reference_to(action: Action, seen: Observation) -> Reference | None:
    """An action on what was seen, as a reference; None where it only looks, asks or ends, or has no such target."""
    aims = [_aim(target, seen) for target in _places(action)]
    if not _counts(action) or any(aim is None for aim in aims):
        return None
    return Reference(
        words=in_words(action, seen),
        aims=tuple(aim for aim in aims if aim is not None),
        operations=(operation_of(action, seen),),
    )


def any_of(references: Sequence[Reference]) -> Reference | None:
    """Several references of which any is right, as one; None where an answer could be half of one and half of another.

    They do the same to different things, or different things to the same.
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


def graded(decision: Decision | None, reference: Reference, seen: Observation) -> Grade:
    """The grade of a decision about what was seen; None is a reply that could not be used, which is wrong."""
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
        said = operation_of(action, seen) if action is not None else ""
        f1 = max(word_f1(said, each) for each in reference.operations)
    return Grade(
        answer=one_line(in_words(action, seen)) if action is not None else "Nothing" if decision is not None else "",
        reference=one_line(reference.words),
        is_right=decision is not None and element is not False and f1 in (None, 1.0),
        element=element,
        operation_f1=f1,
        landed=landed,
        operation=reference.operations[0].partition(" ")[0] if reference.operations else "",
    )


def meets(target: Target, aim: Aim, seen: Observation) -> bool:
    """Whether a target means the element, or the place, that was meant."""
    if isinstance(target, Cell) and aim.cell is not None:
        return target == aim.cell
    if isinstance(target, int | Cell) and aim.marks and aim.cell is None:
        return (target if isinstance(target, int) else target.mark) in aim.marks
    if not lands(target, aim, seen):
        return False
    if not isinstance(target, Point) or not aim.marks:
        return True
    point = pressed(target, seen)
    assert point is not None
    least = min(_area(box) for box in aim.boxes if box.contains(point))
    inner = [mark for mark in seen.marks if mark.source == "dom" and mark.number not in aim.marks]
    return not any(mark.box.contains(point) and _area(mark.box) < least for mark in inner)


def lands(target: Target, aim: Aim, seen: Observation) -> bool:
    """Whether a press on the target would be in a box of what was meant."""
    point = pressed(target, seen)
    return point is not None and any(box.contains(point) for box in aim.boxes)


def pressed(target: Target, seen: Observation) -> Point | None:
    """Where a target is pressed, in page coordinates; None where there is no such thing."""
    if isinstance(target, Point):
        return seen.marked.map.to_page(target)
    if isinstance(target, Cell):
        box = _cell_box(target, seen)
        return box.center if box is not None else None
    mark = seen.mark(target)
    return mark.point if mark is not None else None


def operation_of(action: Action, seen: Observation) -> str:
    """The operation with its value, in words, as F1 is taken of."""
    match action:
        case actions.Click():
            more = ("", "DOUBLE", "TRIPLE")[action.count - 1], action.button.upper() * (action.button != "left")
            return " ".join(filter(None, ("CLICK", *more, *action.modifiers)))
        case actions.Check():
            mark = seen.mark(action.mark)
            is_so = mark is not None and mark.state.checked == str(action.checked).lower()
            return "NOTHING" if is_so else "CLICK"
        case actions.Type():
            return f"TYPE {action.text}"
        case actions.Set():
            return f"TYPE {action.value}"
        case actions.Select():
            return f"SELECT {' '.join(action.options)}"
        case actions.Press():
            return f"PRESS {action.keys}"
        case actions.Upload():
            return f"UPLOAD {' '.join(action.files)}"
        case actions.Goto() | actions.OpenTab():
            return f"{action.kind.upper()} {action.url}"
        case actions.SwitchTab() | actions.CloseTab():
            return f"{action.kind.upper()} {action.tab}"
        case actions.SelectText():
            return f"SELECT_TEXT {action.first} {action.last}"
    return action.kind.upper()


def one_line(text: str) -> str:
    """The text for a terminal and a table: what would end its line, or cannot be seen, is a space."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def word_f1(said: str, wanted: str) -> float:
    """The harmonic mean of precision and recall over the different words of the two."""
    words, right = set(said.split()), set(wanted.split())
    both = len(words & right)
    return 2 * both / (len(words) + len(right)) if both else float(words == right)


# --- over tasks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """What grades come to: the mean over tasks of the means of their steps, with bootstrap intervals over tasks."""

    steps: int
    element: Interval | None
    operation_f1: Interval | None
    step_success: Interval | None
    landing: Interval | None


def rates(tasks: Sequence[Sequence[Sequence[Grade]]]) -> Rates | None:
    """The rates of the grades of each try of each task; None where nothing was graded."""
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
    """The rates of each kind of operation alone, the most frequent first; none where all are of one kind."""
    kinds = Counter(grade.operation for tries in tasks for grades in tries for grade in grades if grade.operation)
    of = {
        kind: rates([[[each for each in grades if each.operation == kind] for grades in tries] for tries in tasks])
        for kind, _ in kinds.most_common()
    }
    return {kind: told for kind, told in of.items() if told is not None} if len(of) > 1 else {}


def _mean(grades: Sequence[Grade], name: str) -> float | None:
    values = [float(value) for each in grades if (value := getattr(each, name)) is not None]
    return sum(values) / len(values) if values else None


# --- what is meant ----------------------------------------------------------------------------------------------------


def _counts(action: Action) -> bool:
    return not only_looks(action) and action.kind not in _ENDS


def _places(action: Action) -> tuple[Target, ...]:
    """What it is done to: of a drag both ends, else one place or none."""
    if isinstance(action, Drag):
        return tuple(each for each in (action.source, action.target) if isinstance(each, int | Cell | Point))
    return targets_of(action)[:1]


def _aim(target: Target, seen: Observation) -> Aim | None:
    """What a target of the record meant; None where it cannot be told."""
    if isinstance(target, Point):
        point = seen.marked.map.to_page(target)
        mark = min(_marks_at(point, seen), key=lambda mark: _area(mark.box), default=None)
        if mark is not None:
            return Aim(marks=(mark.number,), boxes=(mark.box,))
        around = Box(x=point.x - NEAR_PX, y=point.y - NEAR_PX, width=2 * NEAR_PX, height=2 * NEAR_PX)
        return Aim(boxes=(around,))
    if isinstance(target, Cell):
        box = _cell_box(target, seen)
        return Aim(marks=(target.mark,), cell=target, boxes=(box,)) if box is not None else None
    mark = seen.mark(target)
    return Aim(marks=(target,), boxes=(mark.box,)) if mark is not None else None


def _marks_at(point: Point, seen: Observation) -> Iterator[Mark]:
    """Those that a press there is for; what holds others, or is drawn in as a whole, is not one thing."""
    for mark in seen.marks:
        if mark.kind not in ("scroller", "surface") and mark.grid is None and mark.box.contains(point):
            yield mark


def _cell_box(cell: Cell, seen: Observation) -> Box | None:
    mark = seen.mark(cell.mark)
    return mark.grid.cell(cell.row, cell.column) if mark is not None and mark.grid is not None else None


def _area(box: Box) -> float:
    return box.width * box.height
