"""Makes an exemplar from a run: the relevant part of each observation, the decisions and their outcomes.

It reads only the run folder. It knows neither where exemplars are kept nor how they are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from vision_agent.actions import Action, Cell, Point, Select, Set, Type
from vision_agent.errors import RecordError, UsageError
from vision_agent.exemplars import Exemplar, PastAct, PastTurn
from vision_agent.geometry import Size
from vision_agent.memory.page_features import count_kinds, without_values
from vision_agent.memory.verification import verified_by
from vision_agent.observation import Observation, Shot
from vision_agent.policy.relevance import lines_of, most_relevant, named_marks
from vision_agent.policy.text_origin import stems_from
from vision_agent.record.read import load_shot, read
from vision_agent.record.verify import verify
from vision_agent.text.urls import host_of
from vision_agent.types import FAILED_EFFECTS, Outcome, Run, Step
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

SMALL = ImageLimits(longest_edge=480)
"""The limits of an exemplar's pictures: the layout of a page stays recognizable, for a seventh of the tokens of
1280×800."""

_SHORTEST_FACT = 3
"""The least length of a fact to replace; anything shorter occurs in many words."""
_INSTRUCTED = "<from the instructions>"
"""Stands for what the person's instructions said and the run typed or chose."""

_ADDRESS = re.compile(r"\bhttps?://[^\s\"'<>“”]+", re.IGNORECASE)
_NUMBERED = re.compile(r"\b([Mm])ark [A-Z]?\d+\b(?: \(([^()]*)\))?")
"""How an outcome names a mark: `mark 7 (button "Pay")`."""
_POINT = re.compile(r"\bthe point \(-?[\d.]+, -?[\d.]+\)")
_TARGET_FIELDS = ("source", "target", "mark", "to", "evidence", "path")
"""Fields of an action that name marks or points."""


def exemplar_of(
    folder: Path, *, head: str | None = None, confirmed: bool = False, now: datetime | None = None
) -> Exemplar:
    """The exemplar of a finished run, its small pictures with their bytes.

    Steps whose actions were all refused or had no effect are left out. No secret enters: the text was redacted before
    it was written to the run folder and is only cut here, never decoded or joined; in the pictures, what
    showed a secret is already masked. A secret that the page drew as pixels is in the small picture as in the large
    one.

    Args:
        head: the hash that the run printed; with it, a changed last line is noticed too.
        confirmed: whether a person says that the task was done. Without it, checks or a judge must have agreed.

    Raises:
        UsageError: the folder holds no run, the run did not end as done, only claimed it, or its record was changed.
    """
    try:
        run, head = _read_verified(folder, head)
        verified = verified_by(run)
        if verified == "unknown" and not confirmed:
            raise UsageError(
                f"The run in {folder} cannot be learned from: its model says that the task is done, and nothing else "
                "does, neither a check nor a judge",
                "look at its report and add it with --confirm, or run the task with --expect or --judge",
            )
        turns = tuple(_turn(step, run.task.goal, folder) for step in run.steps if _acts(step))
    except RecordError as error:
        raise UsageError(
            f"The run in {folder} cannot be learned from: {error.sentence}",
            error.hint or "only complete runs are learned",
        ) from error
    if not turns:
        raise UsageError(f"The run in {folder} cannot be learned from: none of its steps had an effect")
    first = run.steps[0].observation.url
    exemplar = Exemplar(
        id=run.id,
        goal=run.task.goal,
        site=host_of(first) or host_of(run.task.start_url or ""),
        learned_at=now or datetime.now(UTC),
        run=run.id,
        head=head,
        turns=turns,
        answer=run.ending.answer if run.ending else "",
        verified_by="person" if verified == "unknown" else verified,
    )
    names = {value: f"<{name}>" for name, value in run.task.user_data.items()}
    return _remove_facts(exemplar, {**dict.fromkeys(_facts_in_instructions(run), _INSTRUCTED), **names})


def _facts_in_instructions(run: Run) -> Iterator[str]:
    """What the run gave to pages and had from the person's instructions, and not from the goal too."""
    if not run.task.instructions:
        return
    for step in run.steps:
        for action, _ in step.carried_out:
            for given in _given(action):
                if stems_from(given, run.task.instructions) and not stems_from(given, run.task.goal):
                    yield given


def _given(action: Action) -> tuple[str, ...]:
    match action:
        case Type():
            return (action.text,)
        case Set():
            return (action.value,)
        case Select():
            return action.options
    return ()


def _remove_facts(exemplar: Exemplar, names: Mapping[str, str]) -> Exemplar:
    """The exemplar with facts replaced by their names: they are personal, and no part of how the task is done."""
    longest_first = sorted(names.items(), key=lambda each: -len(each[0]))
    facts = [(value, name) for value, name in longest_first if len(value) >= _SHORTEST_FACT]

    def replace_facts(value: Any) -> Any:
        match value:
            case str():
                for fact, name in facts:
                    value = value.replace(fact, name)
                return value
            case list():
                return [replace_facts(each) for each in value]
            case dict():
                return {key: each if key == "picture" else replace_facts(each) for key, each in value.items()}
            case _:
                return value

    texts = exemplar.model_dump(mode="json", include={"goal", "answer", "turns"})
    changed = Exemplar.model_validate({**exemplar.model_dump(), **replace_facts(texts)})
    pictures = [turn.picture for turn in exemplar.turns]
    turns = (turn.model_copy(update={"picture": shot}) for turn, shot in zip(changed.turns, pictures, strict=True))
    return changed.model_copy(update={"turns": tuple(turns)})


def _read_verified(folder: Path, head: str | None) -> tuple[Run, str]:
    found = verify(folder, head)
    chain = found.chain
    if not chain.holds or chain.torn_bytes:
        raise UsageError(
            f"The run in {folder} cannot be learned from: {chain.sentence}", "only runs that verify are learned"
        )
    run = read(folder)
    if run.ending is None:
        raise UsageError(f"The run in {folder} cannot be learned from: it has no ending", "let it finish first")
    if run.ending.status != "done":
        raise UsageError(
            f"The run in {folder} cannot be learned from: it ended {run.ending.status}: {run.ending.sentence}",
            "only successful runs are learned",
        )
    if not found.holds:
        raise UsageError(
            f"The run in {folder} cannot be learned from: {found.faults[0].sentence}",
            "only runs that verify are learned",
        )
    return run, chain.head


# --- one turn ---------------------------------------------------------------------------------------------------------


def _turn(step: Step, goal: str, folder: Path) -> PastTurn:
    seen, decision = step.observation, step.decision
    lines, touched = lines_of(seen), named_marks([action for action, _ in _acts(step)])
    return PastTurn(
        url=without_values(seen.url),
        title=seen.title,
        lines=tuple(lines[number] for number in most_relevant(lines, touched, f"{goal} {decision.next_goal}")),
        kinds=count_kinds(seen),
        judgement=decision.judgement,
        memory=decision.memory,
        next_goal=decision.next_goal,
        acts=tuple(
            PastAct(action=_describe(action, seen, lines), outcome=_outcome(outcome)) for action, outcome in _acts(step)
        ),
        picture=_shrink(load_shot(folder, seen.clean)),
    )


def _acts(step: Step) -> list[tuple[Action, Outcome]]:
    """The actions that had an effect."""
    return [(action, what) for action, what in step.carried_out if what.effect not in FAILED_EFFECTS]


def _outcome(outcome: Outcome) -> str:
    sentence = _ADDRESS.sub(lambda each: without_values(each.group()), outcome.sentence)
    sentence = _NUMBERED.sub(lambda each: each[2] or ("A mark" if each[1] == "M" else "a mark"), sentence)
    sentence = _POINT.sub("a point", sentence)
    return f"{outcome.effect}: {sentence}" if outcome.effect else sentence


def _shrink(shot: Shot) -> Shot:
    assert shot.data is not None
    return Picture.decode(shot.data, shot.page, SMALL).encode("jpeg")


# --- actions and their targets ----------------------------------------------------------------------------------------


def _describe(action: Action, seen: Observation, lines: Mapping[int, str]) -> dict[str, JsonValue]:
    """The fields of an action that differ from the defaults, with each mark as its listing line.

    The arguments of a custom action stay as they are.
    """
    size = seen.marked.size
    fields: dict[str, JsonValue] = {"kind": action.kind}
    for name in type(action).model_fields:
        value = getattr(action, name)
        if name == "kind" or value == type(action).model_fields[name].default:
            continue
        fields[name] = _describe_target(value, lines, size) if name in _TARGET_FIELDS else _plain(value)
    return fields


def _describe_target(value: Any, lines: Mapping[int, str], size: Size) -> JsonValue:
    match value:
        case int():
            return lines.get(value, "a mark without a line in the listing")
        case tuple():
            return [_describe_target(each, lines, size) for each in value]
        case Point():
            return f"the point {value.x / size.width:.0%} across and {value.y / size.height:.0%} down the picture"
        case Cell():
            return f"row {value.row} column {value.column} of {lines.get(value.mark, 'a grid')}"
        case _:
            return _plain(value)


def _plain(value: Any) -> JsonValue:
    match value:
        case BaseModel():
            plain: JsonValue = value.model_dump(mode="json")
            return plain
        case tuple():
            return [_plain(each) for each in value]
        case str():
            return _ADDRESS.sub(lambda each: without_values(each.group()), value)
        case _:
            return value  # type: ignore[no-any-return]
