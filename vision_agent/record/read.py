"""Owns reading a run folder: its run, its turns, its pictures, and whether its chain holds.

A last line without its newline is what a crash can leave; it counts as never written. Any other damage is an error
that names the line. It does not know who wrote the folder, nor how it is shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from vision_agent.actions import Action
from vision_agent.cut_off import CutOff, where_it_stood
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Event,
    Graded,
    Happened,
    Intended,
    Judged,
    Observed,
    Proposed,
    Reminded,
    Resumed,
    Said,
    Started,
    Stepped,
    Troubled,
)
from vision_agent.record.store import RUN, SHOTS, STEPS, shot_name
from vision_agent.types import (
    Approval,
    Decision,
    Ending,
    Message,
    Observation,
    Outcome,
    Run,
    Shot,
    Step,
    Usage,
    Verdict,
    usages_of,
)

FOR_GOOD = ("done", "not_done", "infeasible")
"""Endings that say what became of the task."""

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Line(_Data):
    """One line of the record."""

    n: int
    at: datetime
    prev: str
    event: Event


class Turn(_Data):
    """A step as far as it got; a `Step` is a turn that was at least decided."""

    index: int
    observation: Observation | None = None
    decision: Decision | None = None
    approval: Approval | None = None
    """What was asked of a person before it, and what they answered; None: nobody was asked."""
    intended: dict[int, Action] = {}
    outcomes: dict[int, Outcome] = {}
    """By the index of the action."""
    verdict: Verdict | None = None
    graded: Graded | None = None
    """How it is held against what was done, where a recorded page was asked about."""
    unused: tuple[Usage, ...] = ()
    troubles: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """Said while this turn went on."""
    started_at: datetime | None = None
    """None: it was not even observed."""
    seconds: float | None = None
    """None: the turn was cut off."""

    @property
    def usages(self) -> tuple[Usage, ...]:
        """What each reply of this turn cost."""
        return usages_of(self.decision, self.verdict, self.unused)

    def outcome_list(self) -> tuple[Outcome, ...]:
        """The outcomes of the first actions, up to the first that has none."""
        found: list[Outcome] = []
        while (outcome := self.outcomes.get(len(found))) is not None:
            found.append(outcome)
        return tuple(found)


class Chain(_Data):
    """What checking the chain found."""

    lines: int
    """Complete lines, good or bad."""
    head: str
    """The hash of the last complete line; of run.json where there is none."""
    torn_bytes: int = 0
    """Of a last line without its newline."""
    bad_line: int | None = None
    """The first line that is not as it was written; 0 is run.json. None: the chain holds."""
    sentence: str

    @property
    def holds(self) -> bool:
        return self.bad_line is None


def read(folder: Path) -> Run:
    """The run with its steps; pictures are named and not loaded.

    Steps that nobody decided (the run was cut off before) are left out: `turns` has them.

    Raises:
        RecordError: there is no run, or a line other than a torn last one cannot be read.
    """
    events = [line.event for line in read_lines(folder)]
    return assemble(read_about(folder), events)


def read_beginning(where: Path | str) -> Run:
    """The run in a folder with its steps, or with the first of them: `RUN` and `RUN:3`.

    Raises:
        UsageError: there is no such run, it has not so many steps, or its record is not as it was written.
    """
    folder, count = Path(where), ""
    if not folder.exists():
        before, colon, after = str(where).rpartition(":")
        folder, count = (Path(before), after) if colon and after.isdigit() else (folder, "")
    try:
        chain, run = check_chain(folder), read(folder)
    except RecordError as error:
        raise UsageError(
            f"The run in {folder} cannot be repeated: {error.sentence}", "name a run folder: RUN, or RUN:3"
        ) from error
    if not chain.holds:
        raise UsageError(f"The run in {folder} cannot be repeated: {chain.sentence}", "only what was recorded is")
    if not run.steps:
        raise UsageError(f"The run in {folder} cannot be repeated: it has no steps", "name a run that did something")
    steps = int(count) if count else len(run.steps)
    if not 1 <= steps <= len(run.steps):
        raise UsageError(f"The run in {folder} has {len(run.steps)} steps, and {steps} were asked for")
    return run.model_copy(update={"steps": run.steps[:steps]})


@dataclass(frozen=True)
class Stopped:
    """A run that can go on."""

    run: Run
    """With its complete steps, what was said to it in its task, and with what it went on last."""
    cut: CutOff | None
    """The step that was cut off, where one was decided and not complete."""
    stood: str | None
    """The address that the page had, as far as it is on record; None before the first look."""
    unused: tuple[Usage, ...] = ()
    """Of replies that were not used, in a step that was not decided."""


def read_cut_off(folder: Path) -> Stopped:
    """The run in a folder, to go on.

    Raises:
        UsageError: there is no such run, its record is not as it was written, or it has ended for good.
    """
    try:
        chain, lines = check_chain(folder), read_lines(folder)
        events = [line.event for line in lines]
        run = assemble(read_about(folder), events)
        run = run.model_copy(update={"steps": tuple(_with_pictures(folder, step) for step in run.steps)})
    except RecordError as error:
        raise UsageError(f"The run in {folder} cannot go on: {error.sentence}", "name a run folder") from error
    if not chain.holds:
        raise UsageError(f"The run in {folder} cannot go on: {chain.sentence}", "only what was recorded goes on")
    if not events:
        raise UsageError(f"The run in {folder} stopped before it began", "run it anew")
    if run.ending is not None and run.ending.status in FOR_GOOD:
        hint = "begin another with its steps: vision-agent run URL GOAL --begin FOLDER"
        raise UsageError(f"The run in {folder} has ended: {run.ending.sentence}", hint)
    known = turns(events)
    provenance = next((event.provenance for event in reversed(events) if isinstance(event, Resumed)), run.provenance)
    if provenance.begun_with or run.provenance.begun_with or run.provenance.replayed:
        hint = "do it again from the start: vision-agent replay, or run with --begin"
        raise UsageError(f"The run in {folder} followed another record, and is not followed from the middle", hint)
    said = tuple(event.message for event in events if isinstance(event, Said))
    task = run.task.model_copy(update={"messages": (*run.task.messages, *said)})
    complete = {turn.index for turn in known if turn.seconds is not None}
    steps = tuple(step for step in run.steps if step.index in complete)
    run = run.model_copy(update={"task": task, "steps": steps, "provenance": provenance})
    last = known[-1] if known else None
    if last is None or last.observation is None or last.seconds is not None:
        return Stopped(run, None, where_it_stood(steps, None))
    if last.decision is None:
        asked = last.approval.proposed.usage if last.approval else None
        return Stopped(run, None, last.observation.url, (*last.unused, *([asked] if asked else [])))
    told = [line.at for line in lines if getattr(line.event, "step", None) == last.index]
    cut = _cut_off(folder, last, told[-1])
    return Stopped(run, cut, where_it_stood(steps, cut))


def _with_pictures(folder: Path, step: Step) -> Step:
    return step.model_copy(update={"observation": _loaded(folder, step.observation)})


def _loaded(folder: Path, seen: Observation) -> Observation:
    pictures = {"clean": load_shot(folder, seen.clean), "marked": load_shot(folder, seen.marked)}
    return seen.model_copy(update=pictures)


def _cut_off(folder: Path, turn: Turn, until: datetime) -> CutOff | None:
    """The step of a turn that was decided and is not complete; one that was not decided is decided anew."""
    if turn.seconds is not None or turn.observation is None or turn.decision is None or turn.started_at is None:
        return None
    return CutOff(
        index=turn.index,
        observation=_loaded(folder, turn.observation),
        decision=turn.decision,
        started_at=turn.started_at,
        begun=frozenset(turn.intended),
        outcomes=turn.outcomes,
        verdict=turn.verdict,
        unused=turn.unused,
        approval=turn.approval,
        seconds=max(0.0, round((until - turn.started_at).total_seconds(), 3)),
    )


def assemble(run: Run, events: Iterable[Event]) -> Run:
    """The run that these events tell."""
    events = list(events)
    steps = tuple(
        Step(
            index=turn.index,
            observation=turn.observation,
            decision=turn.decision,
            outcomes=turn.outcome_list(),
            verdict=turn.verdict,
            unused=turn.unused,
            started_at=turn.started_at,
            seconds=turn.seconds or 0.0,
            approval=turn.approval,
        )
        for turn in turns(events)
        if turn.observation and turn.decision and turn.started_at
    )
    ending: Ending | None = None
    told: dict[str, object] = {}
    for event in events:
        match event:
            case Ended():
                ending = event.ending
            case Resumed():
                ending = None
                told |= {"limits": event.limits} if event.limits else {}
            case Reminded():
                told.setdefault("exemplar", event.exemplar)
    task = run.task.model_copy(update=told)
    return run.model_copy(update={"task": task, "steps": steps, "ending": ending})


def turns(events: Iterable[Event]) -> tuple[Turn, ...]:
    """What happened, step by step, the unfinished one included."""
    by_index: dict[int, dict[str, Any]] = {}
    said: list[Message] = []
    for event in events:
        match event:
            case Said():
                said.append(event.message)
                continue
            case Started() | Resumed() | Ended() | Reminded():
                continue
            case _:
                new: dict[str, Any] = {"intended": {}, "outcomes": {}, "troubles": (), "unused": (), "messages": ()}
                turn = by_index.setdefault(event.step, new)
        turn["messages"] += tuple(said)
        said.clear()
        match event:
            case Observed():
                turn["observation"] = event.observation
                # What was proposed on a look before the run was cut off was not used.
                before = turn.pop("approval", None)
                turn["unused"] += (before.proposed.usage,) if before and before.proposed.usage else ()
                turn["started_at"] = event.observation.taken_at
            case Proposed():
                turn["approval"] = Approval(proposed=event.decision, risks=event.risks)
            case Chosen() if "approval" in turn:
                turn["approval"] = turn["approval"].model_copy(update={"choice": event.choice})
            case Decided():
                turn["decision"] = event.decision
            case Intended():
                turn["intended"][event.index] = event.action
            case Happened():
                turn["outcomes"][event.index] = event.outcome
            case Troubled():
                turn["troubles"] += (event.sentence,)
                turn["unused"] += (event.usage,) if event.usage else ()
            case Judged():
                turn["verdict"] = event.verdict
            case Graded():
                turn["graded"] = event
            case Stepped():
                turn.update(started_at=event.started_at, seconds=event.seconds)
    return tuple(Turn(index=index, **parts) for index, parts in sorted(by_index.items()))


def read_lines(folder: Path) -> tuple[Line, ...]:
    """Every complete line of the record.

    Raises:
        RecordError: there is no run, or a line cannot be read; its number is named.
    """
    run = read_about(folder)
    complete, _torn = _split(_bytes(folder / STEPS))
    return tuple(_parse(raw, number, run, folder) for number, raw in enumerate(complete, 1))


def load_shot(folder: Path, shot: Shot) -> Shot:
    """The same picture with its bytes.

    Raises:
        RecordError: the file is missing, or its bytes are not those that were recorded.
    """
    path = folder / SHOTS / shot_name(shot)
    data = _bytes(path)
    if hashlib.sha256(data).hexdigest() != shot.sha256:
        raise RecordError(f"The picture {path} is not the one that was recorded: its bytes have another hash")
    return shot.model_copy(update={"data": data})


def check_chain(folder: Path, head: str | None = None) -> Chain:
    """Whether every line is as it was written, and the first that is not.

    With the head that the run printed, a change in the last line and a cut at the end show too; without it they
    cannot, because nothing after the last line vouches for it.
    """
    run_json = _bytes(folder / RUN)
    complete, torn = _split(_bytes(folder / STEPS))
    hashes = [_sha256(run_json), *map(_sha256, complete)]
    lines = [_fields(raw) for raw in complete]
    vouched = [fields.get("prev") for fields in lines] + ([head] if head else [])
    bad = _first_bad(
        [fields.get("n") for fields in lines], [said != found for said, found in zip(vouched, hashes, strict=False)]
    )
    cut = head is not None and bad == len(lines)
    if cut and torn:
        bad = len(lines) + 1  # the head is that of the line whose newline was lost
    sentence = _sentence(len(complete), bad, len(torn), cut=cut)
    return Chain(lines=len(complete), head=hashes[-1], torn_bytes=len(torn), bad_line=bad, sentence=sentence)


def _first_bad(numbers: list[Any], fails: list[bool]) -> int | None:
    """The first line that cannot be what was written.

    `fails[i]` says that the hash which was noted for line i (0 is run.json) is not its hash. Then line i was changed,
    unless the next one fails too: then it was the next one, in the place where it notes that hash.
    """
    misnumbered = next((i for i, number in enumerate(numbers, 1) if number != i), None)
    broken = next((i for i, failed in enumerate(fails) if failed), None)
    if broken is not None and fails[broken + 1 : broken + 2] == [True]:
        broken += 1
    if broken is None or (misnumbered is not None and broken == misnumbered - 1):
        return misnumbered
    return broken if misnumbered is None else min(broken, misnumbered)


def _sentence(lines: int, bad: int | None, torn: int, *, cut: bool) -> str:
    tail = f"; {torn} bytes of a line that was never finished follow" if torn else ""
    if bad is None:
        return f"The chain holds over {lines} lines{tail}"
    name = "run.json" if bad == 0 else f"Line {bad}"
    why = ", or lines after it were cut off" if cut else ""
    return f"{name} is not as it was written{why}{tail}"


def _split(content: bytes) -> tuple[list[bytes], bytes]:
    *complete, torn = content.split(b"\n")
    return [line + b"\n" for line in complete], torn


def _parse(raw: bytes, number: int, run: Run, folder: Path) -> Line:
    try:
        fields = json.loads(raw)
        about = {name: fields.pop(name) for name in ("n", "at", "prev")}
        if fields.get("event") == "started":
            fields["run"] = run
        return Line(**about, event=_EVENT.validate_python(fields))
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise RecordError(f"Line {number} of {folder / STEPS} cannot be read: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """What an error says, without what goes on below it."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def read_about(folder: Path) -> Run:
    """The run without its steps: its task, how it was made, when it started."""
    content = _bytes(folder / RUN)
    try:
        return Run.model_validate_json(content)
    except ValidationError as error:
        raise RecordError(f"{folder / RUN} cannot be read: {first_line(error)}") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read: {error.strerror}", "is this a run folder, and did the run get as far as starting?"
        ) from error


def _fields(raw: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(raw)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
