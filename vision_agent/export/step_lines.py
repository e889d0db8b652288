"""Exports a run as step lines, which `run --steps` carries out again without a model.

A line is written only if, read back on the observation of its step, it means exactly the action that was carried out.
What no line can say becomes a note, so that nobody takes the lines for the whole run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import PurePath
from typing import assert_never

from vision_agent.actions import (
    Action,
    Ask,
    Back,
    Cell,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    LookAt,
    Magnify,
    Modifier,
    Offset,
    OpenTab,
    Pan,
    PictureArea,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.base_model import FrozenModel
from vision_agent.describe.action_sentences import BY_HAND, is_look_again
from vision_agent.describe.distinctions import distinctions, spelled_out
from vision_agent.errors import UsageError
from vision_agent.events import Decided, Event, Happened, Observed, Started, Stepped
from vision_agent.models.offline.grammar import COLUMN_TYPES, WAIT_S, parse
from vision_agent.models.offline.mark_kinds import KIND_WORDS
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.observation import Kind, Mark, Observation
from vision_agent.settings import BrowserSettings
from vision_agent.text.escape import printable_line
from vision_agent.types import END_OF_RECORDING, Decision, Outcome, Run, Step

_PLAIN_NAME = re.compile(r"\w[\w .,'&-]*", re.UNICODE)
"""A name that reads well without quotes, and that no word of the grammar can be mistaken for part of."""
_PLAIN_COLUMN = re.compile(r"(?!.*\b(?:as|from)\b)\w[\w .'&-]*", re.IGNORECASE)
_PLAIN_KEYS = {"type", "title", "description", "$schema", "additionalProperties"}
"""What a schema of rows may say without asking for more than columns and their types."""
_PLACE = re.compile(r"\(-?\d[\d.]*, -?\d[\d.]*\)(?! of )")
"""A place in the picture, not in something on the page."""
_NEAR_PX = 0.5
"""How far apart two points may be that a line and an action mean, in pixels of the picture."""
_MOST_ALIKE = 50


def render_lines(run: Run) -> str:
    """The step lines of a run, one a line, after notes with its goal and its start page.

    Secrets stand in it by name, as in the record. An action for which there is no line stands as a note with the
    sentence of its outcome.
    """
    lines = [line for step in run.steps for line in lines_of(step)]
    return "\n".join([*_head(run), *_view_note(run, lines), *lines]) + "\n"


def _head(run: Run) -> list[str]:
    return [f"# {printable_line(run.task.goal)}", f"# Begins at {printable_line(run.task.start_url or 'any page')}"]


def _view_note(run: Run, lines: Iterable[str]) -> Iterator[str]:
    """In which view the lines have their places, if it is not that which a run has by itself."""
    place = next((found.group() for line in lines if (found := _PLACE.search(line)) and not line.startswith("#")), None)
    if place is not None and run.steps and (view := run.steps[0].observation.viewport) != BrowserSettings().viewport:
        size = f"{view.width}x{view.height}"
        yield f"# A place such as {place} is right in a view of the recorded size only: --viewport {size}"


class LinesSoFar:
    """A listener that passes on the step lines of a run after each step, as `render_lines` has them."""

    def __init__(self, on_lines: Callable[[str], None]) -> None:
        self._on_lines = on_lines
        self._lines: list[str] = []
        self._observation: Observation | None = None
        self._decision = Decision(author="loop")
        self._outcomes: list[Outcome] = []

    def __call__(self, event: Event) -> None:
        """Hears one event, and passes on the lines if it completes a step."""
        match event:
            case Started(run=run):
                self._lines = _head(run)
            case Observed(observation=observation):
                self._observation, self._outcomes = observation, []
            case Decided(decision=decision):
                self._decision = decision
            case Happened(outcome=outcome):
                self._outcomes.append(outcome)
            case Stepped() if self._observation is not None:
                step = Step(
                    index=event.step,
                    observation=self._observation,
                    decision=self._decision,
                    outcomes=tuple(self._outcomes),
                    started_at=event.started_at,
                    seconds=event.seconds,
                )
                self._lines += lines_of(step)
                self._on_lines("\n".join(self._lines) + "\n")


def lines_of(step: Step) -> Iterator[str]:
    """The lines of one step, for what was done in it; none if it only paused to look again, as lines do themselves."""
    if is_look_again(step):
        return
    if step.is_by_hand and step.decision.next_goal.startswith(BY_HAND) and not step.decision.actions:
        yield f"# There is no line for this. {printable_line(step.decision.next_goal)}"
    for action, outcome in step.carried_out:
        line = _written_line(step, action) or line_for(action, step.observation)
        yield line if line is not None else f"# There is no line for this: {printable_line(outcome.sentence)}"
    if step.decision.next_goal == END_OF_RECORDING and not step.carried_out:
        yield "finish"  # what was recorded is whole, though a check failed, and a run of the lines checks again


def _written_line(step: Step, action: Action) -> str | None:
    """The line that a person wrote for this action, if it says where it is in words: a number is good for one look."""
    line = step.decision.next_goal
    is_written = step.decision.author in ("steps", "human") and len(step.decision.actions) == 1
    return line if is_written and "[" not in line and _means(line, action, step.observation) else None


def line_for(action: Action, seen: Observation) -> str | None:
    """A step line that means exactly this action on this observation; None if there is none."""
    if isinstance(action, Wait) and (action.text is not None or action.change):
        action = action.model_copy(update={"seconds": WAIT_S})  # a line does not say how long
    return next((line for line in _lines(action, seen) if _means(line, action, seen)), None)


def _means(line: str, action: Action, seen: Observation) -> bool:
    if "\n" in line or "\r" in line:
        return False
    try:
        built = [each.build(seen) for each in parse([line]) if each.within_s is None]
    except (UsageError, NotFoundError, ValueError):
        return False
    return len(built) == 1 and type(built[0]) is type(action) and _is_same(built[0], action, seen)


def _is_same(one: object, other: object, seen: Observation) -> bool:
    """Whether two actions, or parts of them, mean the same; a point in a drawn mark may stand for the mark."""
    match one, other:
        case Point(), Point():
            return abs(one.x - other.x) <= _NEAR_PX and abs(one.y - other.y) <= _NEAR_PX
        case Point(), int():
            mark = seen.known_mark(other)
            return mark is not None and mark.surface is not None and _is_same(one, _point_of(mark, seen), seen)
        case Extract(), Extract():
            columns = _columns(one.json_schema)
            return one.mark == other.mark and columns is not None and columns == _columns(other.json_schema)
        case FrozenModel(), FrozenModel():
            return type(one) is type(other) and all(
                _is_same(getattr(one, name), getattr(other, name), seen) for name in type(one).model_fields
            )
        case tuple(), tuple():
            return len(one) == len(other) and all(
                _is_same(here, there, seen) for here, there in zip(one, other, strict=True)
            )
        case float(), float():
            return abs(one - other) <= _NEAR_PX / 100
    return one == other


def _lines(action: Action, seen: Observation) -> Iterator[str]:
    """Lines that may mean the action, the most readable first."""
    match action:
        case Click():
            how = "right " if action.button == "right" else "double " if action.count > 1 else ""
            yield from (f"{how}click {at}{_held_words(action.modifiers)}" for at in _targets(action.target, seen))
        case DoubleTap():
            yield from (f"double tap {at}" for at in _targets(action.target, seen))
        case Hold():
            touch = " with a finger" if action.touch else ""
            until = f" until {_quoted(action.until)}" if action.until else f" for {action.seconds:g} s"
            yield from (f"hold {at}{touch}{until}" for at in _targets(action.target, seen))
        case Type():
            text, enter = _quoted(action.text), " and press Enter" if action.submit else ""
            how = f"type {text} into" if action.clear else f"append {text} to"
            yield from (f"{how} {at}{enter}" for at in _targets(action.target, seen))
        case Select():
            options = ", ".join(map(_quoted, action.options))
            verb = {"add": "also select", "remove": "unselect", None: "select"}[action.change]
            yield from (f"{verb} {options} in {at}" for at in _targets(action.target, seen))
        case Check():
            yield from (f"{'check' if action.checked else 'uncheck'} {at}" for at in _targets(action.mark, seen))
        case Set():
            plain = [action.value] if _PLAIN_NAME.fullmatch(action.value) else []
            values = [*plain, _quoted(action.value)]
            yield from (f"set {at} to {value}" for at, value in product(_targets(action.mark, seen), values))
        case Upload():
            names = ", ".join(PurePath(name).name for name in action.files)
            yield from (f"upload {names} to {at}" for at in _targets(action.mark, seen))
        case Press():
            times = f" {action.count} times" if action.count > 1 else ""
            times += f" for {action.seconds:g} s" if action.seconds else ""
            places = [""] if action.target is None else (f" in {at}" for at in _targets(action.target, seen))
            yield from (f"press {action.keys}{times}{at}" for at in places)
        case Hover():
            yield from (f"hover {at}" for at in _targets(action.target, seen))
        case Scroll():
            yield from _scroll_lines(action, seen)
        case ScrollTo():
            yield f"scroll to {_quoted(action.text)}"
        case Drag():
            yield from _drag_lines(action, seen)
        case SelectText():
            yield f"select text {_quoted(action.first)}" + (
                f" to {_quoted(action.last)}" if action.last != action.first else ""
            )
        case Goto():
            yield f"goto {action.url}"
        case OpenTab():
            yield f"open tab {action.url}"
        case Back() | Forward() | Reload():
            yield action.kind
        case SwitchTab():
            yield f"switch to tab {action.tab}"
        case CloseTab():
            yield f"close tab {action.tab}"
        case Wait(text=str(text)):
            yield f"wait for {_quoted(text)}"
        case Wait():
            yield "wait for a change" if action.change else f"wait {action.seconds:g}"
        case Read(mark=str(words)):
            yield f"read table {_quoted(words)}"
        case Read():
            parts = {"view": "value of", "table": "exact table at" if action.exact else "table at"}
            where = [*_targets(action.mark, seen)] if isinstance(action.mark, int) else []
            whole = ["read download"] if action.what == "download" else ["read", "read page"]
            yield from [f"read {parts.get(action.what, '')} {at}" for at in where] or whole
        case Ask():
            yield f"ask {printable_line(action.question)}"
        case Finish():
            answers = [action.answer, _quoted(action.answer)] if action.answer else [""]
            yield from (f"{'finish' if action.success else 'fail'} {answer}".strip() for answer in answers)
        case Infeasible():
            yield f"infeasible {printable_line(action.reason)}"
        case Zoom():
            grid = " with a grid" if action.grid else ""
            if action.to is None:
                yield from (f"zoom {at}{grid}" for at in _targets(action.target, seen))
            elif isinstance(action.target, Point):
                yield f"zoom {_point(action.target)} to {_point(action.to)}{grid}"
        case LookAt():
            tile = f", tile {action.tile}" if action.tile > 1 else ""
            yield from (f"look at {at} only{tile}" for at in _targets(action.target, seen))
        case Pan():
            by = f"by ({action.by.right:g}, {action.by.down:g})"
            yield from (f"pan {at} {by}" for at in _targets(action.mark, seen))
        case Magnify():
            fingers = " with two fingers" if action.touch else ""
            how = f"magnify {{}} {action.factor:g} times{fingers}"
            how = f"turn {{}} by {action.degrees:g} degrees" if action.degrees else how
            yield from (how.format(at) for at in _targets(action.target, seen))
        case FindOn():
            yield from (f"find {_quoted(action.text)} on {at}" for at in _targets(action.mark, seen))
        case Extract():
            yield from _extract_lines(action, seen)
        case Custom():
            return
        case _:
            assert_never(action)


def _extract_lines(action: Extract, seen: Observation) -> Iterator[str]:
    columns = _columns(action.json_schema) or {}
    named = ((name if _PLAIN_COLUMN.fullmatch(name) else _quoted(name), kind) for name, kind in columns.items())
    asked = ", ".join(name if kind == "string" else f"{name} as {kind}" for name, kind in named)
    if isinstance(action.mark, int):
        yield from (f"extract {asked} from {at}" for at in _targets(action.mark, seen))
    else:
        yield f"extract {asked} from {_quoted(action.mark)}" if action.mark else f"extract {asked}"


def _columns(json_schema: str) -> dict[str, str] | None:
    """The columns of a schema and the type of each; None if it asks for something that no line can say."""
    try:
        rows = json.loads(json_schema)
        row = rows["items"]
        columns = {name: column["type"] for name, column in row["properties"].items()}
        more = [{*rows} - {"items"}, {*row} - {"properties", "required"}, *map(set, row["properties"].values())]
        is_plain = (rows["type"], row["type"]) == ("array", "object") and set().union(*more) <= _PLAIN_KEYS
        is_plain = is_plain and {*row.get("required", ())} <= {*columns}  # all columns are there anyway
        return columns if is_plain and {*columns.values()} <= {*COLUMN_TYPES} else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _scroll_lines(action: Scroll, seen: Observation) -> Iterator[str]:
    how = f" {action.px:g} px" if action.px else f" {action.pages:g} pages" if action.to is None else " to the end"
    held = f" with {'+'.join(action.modifiers)}" if action.modifiers else ""
    places = [""] if action.target is None else [f" in {at}" for at in _targets(action.target, seen)]
    for place in places:
        yield f"scroll {action.direction}{held}{place}"
        yield f"scroll {action.direction}{how}{held}{place}"


def _drag_lines(action: Drag, seen: Observation) -> Iterator[str]:
    held, points = _held_words(action.modifiers), [each for each in action.path if isinstance(each, Point)]
    if len(points) != len(action.path):
        return
    if isinstance(action.target, Offset):
        if not points:
            by = f"by ({action.target.right:g}, {action.target.down:g})"
            yield from (f"drag {at} {by}{held}" for at in _targets(action.source, seen))
        return
    through = f" through {', '.join(map(_point, points))}" if points else ""
    ends = product(_targets(action.source, seen), _ends(action.target, seen))
    yield from (f"drag {begin}{through} to {end}{held}" for begin, end in ends)


def _ends(target: Target, seen: Observation) -> Iterator[str]:
    """What a line may call the end of a drag: near an edge of a thing, as a place in it, which may have moved."""
    if isinstance(target, Point):
        yield from _inside(target, seen.marks, seen, ("surface", "button"))
    yield from _targets(target, seen)


# --- targets ----------------------------------------------------------------------------------------------------------


def _targets(target: Target | PictureArea, seen: Observation) -> Sequence[str]:
    """What a line may call a target, the most readable first."""
    return [*_names(target, seen)]


def _names(target: Target | PictureArea, seen: Observation) -> Iterator[str]:
    match target:
        case PictureArea():
            yield f"{_point(target.corner)} to {_point(target.opposite)}"
        case Point():
            yield from _inside(target, seen.marks, seen)
            yield _point(target)
        case Cell():
            mark = seen.known_mark(target.mark)
            surface = seen.known_mark(mark.surface) if mark is not None and mark.surface is not None else None
            for each in filter(None, (mark, surface)):
                yield from (f"row {target.row} column {target.column} of {name}" for name in _mark_names(each, seen))
        case int():
            mark = seen.known_mark(target)
            if mark is None:
                return
            yield from _mark_names(mark, seen)
            if mark.surface is not None:
                surfaces = [each for each in seen.marks if each.number == mark.surface]
                yield from _inside(_point_of(mark, seen), surfaces, seen)


def _mark_names(mark: Mark, seen: Observation) -> Iterator[str]:
    """By name; by name and kind; with the words that tell it from others of that name; or by its place among them."""
    name, kinds = mark.shows or mark.name or mark.state.placeholder or "", ["", *_kinds(mark)]
    names = [*([name] if _PLAIN_NAME.fullmatch(name) else []), _quoted(name)] if name else [""]
    apart = distinctions(seen.marks, by_title=False).get(mark.number)
    words = str(spelled_out(apart, mark)) if apart else ""
    beside = f" ‹{words}›" if words else ""
    for called, kind in product(names, kinds):
        yield " ".join(filter(None, (called, kind)))
    if beside:
        # Without a name, `checkbox ‹Ann›` reads better than `‹Ann›`.
        for called, kind in product(names, kinds if name else kinds[1:]):
            yield " ".join(filter(None, (called, kind))) + beside
    alike = [each for each in seen.marks if (each.shows or each.name or each.state.placeholder or "") == name]
    if name and mark in alike[:_MOST_ALIKE]:
        yield f"{_ordinal(alike.index(mark) + 1)} {names[0]}"


def _kinds(mark: Mark) -> list[str]:
    return [each for each in dict.fromkeys((mark.role, mark.kind, mark.tag)) if each in KIND_WORDS]


def _inside(
    point: Point, marks: Iterable[Mark], seen: Observation, kinds: Sequence[Kind] = ("surface",)
) -> Iterator[str]:
    """The point as a place in the smallest surface around it, which stays right where the surface is elsewhere."""
    around = [
        (box.width * box.height, each, box)
        for each in marks
        if each.kind in kinds and (box := seen.marked.map.box_to_picture(each.box)).contains(point)
    ]
    if around:
        _, surface, box = min(around, key=lambda each: each[0])
        where = f"({(point.x - box.x) / box.width:.4f}, {(point.y - box.y) / box.height:.4f})"
        yield from (f"{where} of {name}" for name in _mark_names(surface, seen))


def _point_of(mark: Mark, seen: Observation) -> Point:
    """Where a mark is pressed, in pixels of the picture."""
    return seen.marked.map.to_picture(mark.point)


def _point(point: Point) -> str:
    return f"({round(point.x, 1):g}, {round(point.y, 1):g})"


def _held_words(modifiers: Sequence[Modifier]) -> str:
    return f" with {'+'.join(modifiers)} held" if modifiers else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
