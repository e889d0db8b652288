"""What other tools read in a golden session, `goal.json` and `action<N>.json`, as it follows from a record."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict, JsonValue

from vision_agent.actions import (
    Action,
    Check,
    Click,
    Custom,
    Finish,
    Goto,
    Infeasible,
    Select,
    Set,
    Type,
    mark_in,
    targets_of,
)
from vision_agent.errors import RecordError
from vision_agent.export.cere.archive import ORIGINALS, record_file
from vision_agent.observation import Mark, Observation, Shot
from vision_agent.record.read import load_shot
from vision_agent.record.run_files import names_in
from vision_agent.types import Outcome, Run, Step
from vision_agent.vision.picture import require_decodable

_JPEG_QUALITY = 85


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class CereState(_Data):
    """The page state of the `.cere` format."""

    html: str = ""
    raw_html: str = ""
    screenshot_full: str = ""
    screenshot_viewport: str = ""
    """A JPEG in base64."""
    url: str = ""
    fillable_selectors: list[str] = []
    clickable_selectors: list[str] = []
    selectable_selectors: dict[str, JsonValue] = {}
    checkable_selectors: list[str] = []
    input_state: dict[str, JsonValue] = {}


class _Act(_Data):
    function: str
    args: dict[str, JsonValue] = {}
    prior_steps: str = ""
    current_state: str = ""
    top_5_actions: list[str] = []
    action_analysis: str = ""


class _Result(_Data):
    is_terminal_state: bool = False
    url: str = ""
    outcome: str = ""


class CereStep(_Data):
    """One `action<N>.json`."""

    state: CereState
    action: _Act
    result: _Result


def action_files(folder: Path, run: Run) -> dict[str, bytes]:
    """The files that other tools read, by name, as they follow from the record."""
    actions = original_files(folder) or {f"action{n}.json": each for n, each in enumerate(_actions(folder, run))}
    return {"goal.json": as_json({"goal": run.task.goal}), **actions}


def original_files(folder: Path) -> dict[str, bytes]:
    """The action files that another tool wrote, if the run was imported from them."""
    names = [name for name in names_in(folder, ORIGINALS) if re.fullmatch(r"action[0-9]+\.json", name)]
    return {name: record_file(folder, f"{ORIGINALS}/{name}") for name in names}


def _actions(folder: Path, run: Run) -> Iterator[bytes]:
    """The content of each `action<N>.json` of the run."""
    sentences: list[str] = []
    after = {one.index: other for one, other in pairwise(run.steps)}
    for step in run.steps:
        state = _state(folder, step.observation)
        then = after[step.index].observation if step.index in after else step.observation
        for action, outcome in zip(step.decision.actions, step.outcomes, strict=False):
            act = _action_part(action, step, "\n".join(sentences))
            terminal = outcome.effect in ("finished", "infeasible")
            result = _Result(is_terminal_state=terminal, url=then.url, outcome=_outcome_name(action, outcome))
            yield as_json(CereStep(state=state, action=act, result=result).model_dump(mode="json"))
            sentences.append(outcome.sentence)


def _state(folder: Path, seen: Observation) -> CereState:
    picture = base64.b64encode(_as_jpeg(load_shot(folder, seen.clean))).decode()
    fields = [mark for mark in seen.marks if mark.kind == "field"]
    return CereState(
        html=seen.listing,
        screenshot_full=picture,
        screenshot_viewport=picture,
        url=seen.url,
        fillable_selectors=[_selector(mark) for mark in fields if not mark.state.options],
        clickable_selectors=[_selector(mark) for mark in seen.marks if mark.kind in ("button", "link")],
        selectable_selectors={_selector(mark): [*mark.state.options] for mark in fields if mark.state.options},
        checkable_selectors=[_selector(mark) for mark in seen.marks if mark.kind == "toggle"],
        input_state={_selector(mark): mark.state.value or "" for mark in fields if not mark.state.masked},
    )


def _selector(mark: Mark) -> str:
    """The Playwright selector of a mark, by role and name."""
    name = json.dumps(mark.name, ensure_ascii=False)
    return f"role={mark.role}[name={name}s]" if mark.role and mark.name else f"role={mark.role or mark.tag}"


def _action_part(action: Action, step: Step, prior: str) -> _Act:
    function, args = _function_call(action, step.observation)
    candidates = [f"{each.mark}: {each.reason}" for each in step.decision.candidates[:5]]
    return _Act(
        function=function,
        args=args,
        prior_steps=prior,
        current_state=step.decision.memory or step.decision.summary,
        top_5_actions=candidates,
        action_analysis=step.decision.next_goal,
    )


def _function_call(action: Action, seen: Observation) -> tuple[str, dict[str, JsonValue]]:
    """The `.cere` function and arguments of an action; without a counterpart, the action's own kind and fields."""
    numbers = [number for target in targets_of(action) if (number := mark_in(target)) is not None]
    marks = [mark for number in numbers if (mark := seen.mark(number)) is not None]
    at: dict[str, JsonValue] = {"css_selector": _selector(marks[0])} if marks else {}
    match action:
        case Custom():
            return action.name, action.arguments
        case Finish():
            return "achieved" if action.success else "unreachable", {"answer": action.answer}
        case Infeasible():
            return "unreachable", {"reason": action.reason}
        case Goto():
            return "goto", {"href": action.url}
        case Click() if at and action.count == 1 and action.button == "left" and not action.modifiers:
            return "click", at
        case Type() if at and action.clear:
            return "fill", {**at, "text": action.text, "press_enter": action.submit}
        case Set() if at:
            return "fill", {**at, "text": action.value, "press_enter": False}
        case Select(change=None) if at:
            return "select", {**at, "values": [*action.options]}
        case Check() if at and action.checked:
            return "check", at
        case _:
            return action.kind, {**at, **action.model_dump(mode="json", exclude={"kind"})}


def _outcome_name(action: Action, outcome: Outcome) -> str:
    if outcome.status == "done":
        is_end = isinstance(action, Finish | Infeasible)
        is_reached = isinstance(action, Finish) and action.success
        return ("GOAL_ACHIEVED" if is_reached else "GOAL_UNREACHABLE") if is_end else "SUCCESS"
    known = {"timed_out": "TIMEOUT", "gone": "INVALID_CSS_SELECTOR", "unknown_mark": "INVALID_CSS_SELECTOR"}
    if outcome.status == "partial":
        return "PARTIAL"
    assert outcome.refusal is not None
    return known.get(outcome.refusal, outcome.refusal.upper())


def _as_jpeg(shot: Shot) -> bytes:
    assert shot.data is not None
    if shot.media_type == "image/jpeg":
        return shot.data
    packed = io.BytesIO()
    decode_picture(shot.data).save(packed, "JPEG", quality=_JPEG_QUALITY)
    return packed.getvalue()


def decode_picture(data: bytes) -> Image.Image:
    """A picture of the session, decoded.

    Raises:
        RecordError: it cannot be.
    """
    try:
        require_decodable(data)
        with Image.open(io.BytesIO(data)) as picture:
            return picture.convert("RGB")
    except Exception as error:
        raise RecordError("A picture of the session cannot be decoded") from error


def as_json(content: object) -> bytes:
    """The content as the format writes it."""
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
