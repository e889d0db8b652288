"""Reads a run folder: the run, its turns, its pictures, and whether its hash chain is intact.

A crash can leave a last line without a newline, which counts as never written. Any other damage raises an error that
names the line. This module knows neither how the folder was written nor how it is shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vision_agent.actions import Action
from vision_agent.base_model import FrozenModel, words_of
from vision_agent.errors import NoSuchRun, RecordError, UsageError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Event,
    Graded,
    Happened,
    Intended,
    Judged,
    LastLook,
    MessageReceived,
    Observed,
    Proposed,
    Reminded,
    Resumed,
    Started,
    Stepped,
    Troubled,
    Warned,
)
from vision_agent.observation import Observation, Shot
from vision_agent.policy.interrupted import InterruptedStep, where_it_stood
from vision_agent.record.run_files import (
    MOST_OF_FILE,
    MOST_OF_LINE,
    MOST_OF_RECORD,
    parse_json,
    read_file,
    read_last_line,
    reading,
)
from vision_agent.record.store import RUN, SHOTS, STEPS, is_run_id, shot_name
from vision_agent.text.escape import printable_line, safe_line
from vision_agent.types import Approval, Decision, Ending, Message, Outcome, Run, Step, Usage, Verdict, usages_of
from vision_agent.vision.picture import require_decodable

FINAL_ENDINGS = ("done", "not_done", "infeasible")
"""Endings that settle the task; such a run cannot be resumed."""

_MOST_SAID = 300
"""Characters of an error's message, which can quote the record, that a sentence has."""
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class RecordLine(FrozenModel):
    """One line of the record."""

    n: int
    at: datetime
    prev: str
    event: Event


class Turn(FrozenModel):
    """A step as far as it got; a `Step` is a turn with at least a decision."""

    index: int
    observation: Observation | None = None
    decision: Decision | None = None
    approval: Approval | None = None
    """The proposal that a person was asked to approve, and their answer; None if nobody was asked."""
    intended: dict[int, Action] = {}
    outcomes: dict[int, Outcome] = {}
    """By the index of the action."""
    verdict: Verdict | None = None
    graded: Graded | None = None
    """The grade of the answer against the reference, if the page was a recorded one."""
    unused: tuple[Usage, ...] = ()
    troubles: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """Messages that arrived during this turn."""
    started_at: datetime | None = None
    """None if the turn stopped before its observation."""
    seconds: float | None = None
    """None if the turn was interrupted."""

    @property
    def usages(self) -> tuple[Usage, ...]:
        """The usage of each reply in this turn."""
        return usages_of(self.decision, self.verdict, self.unused)

    def outcome_list(self) -> tuple[Outcome, ...]:
        """The outcomes in order, up to the first action without one."""
        found: list[Outcome] = []
        while (outcome := self.outcomes.get(len(found))) is not None:
            found.append(outcome)
        return tuple(found)


class Chain(FrozenModel):
    """The result of checking the hash chain."""

    lines: int
    """Complete lines, good or bad."""
    head: str
    """The hash of the last complete line, or of run.json if there is none."""
    torn_bytes: int = 0
    """The length of a last line without its newline."""
    bad_line: int | None = None
    """The first line that was changed after it was written; 0 is run.json. None if the chain is intact."""
    suspect_line: int | None = None
    """The first line that may have been changed: `bad_line`, or the one before it."""
    sentence: str

    @property
    def holds(self) -> bool:
        """Whether every line matches the hash in the next one."""
        return self.bad_line is None


def read(folder: Path) -> Run:
    """The run with its steps; the bytes of pictures are not loaded.

    Steps without a decision (the run was interrupted before) are left out; `turns` includes them.

    Raises:
        RecordError: there is no run, or a line other than a torn last one cannot be read.
    """
    with reading(folder):
        events = [line.event for line in read_lines(folder)]
        return assemble(read_run_file(folder), events).beside(folder=folder)


def read_beginning(where: Path | str) -> Run:
    """The run in a folder with all its steps (`RUN`), or with the first few (`RUN:3`).

    Raises:
        UsageError: there is no such run, it has fewer steps, or its record was changed.
    """
    folder, count = Path(where), ""
    if not folder.exists():
        before, colon, after = str(where).rpartition(":")
        folder, count = (Path(before), after) if colon and after.isdigit() else (folder, "")
    try:
        chain, run = check_chain(folder), read(folder)
    except NoSuchRun:
        raise
    except RecordError as error:
        raise UsageError(
            f"The run in {folder} cannot be repeated: {error.sentence}", "name a run folder: RUN, or RUN:3"
        ) from error
    if not chain.holds:
        raise UsageError(
            f"The run in {folder} cannot be repeated: {chain.sentence}", "only intact records are repeated"
        )
    if not run.steps:
        raise UsageError(f"The run in {folder} cannot be repeated: it has no steps", "name a run that has steps")
    steps = int(count) if count else len(run.steps)
    if not 1 <= steps <= len(run.steps):
        raise UsageError(f"The run in {folder} has {len(run.steps)} steps, but {steps} were requested")
    return run.model_copy(update={"steps": run.steps[:steps]})


@dataclass(frozen=True)
class InterruptedRun:
    """A run that can be resumed."""

    run: Run
    """The run with its complete steps, the messages it received added to its task, and its latest provenance."""
    cut: InterruptedStep | None
    """The interrupted step, if it was decided but not completed."""
    stood: str | None
    """The last recorded address of the page; None before the first observation."""
    unused: tuple[Usage, ...] = ()
    """The usage of unused replies in a step that has no decision."""


def read_interrupted(folder: Path) -> InterruptedRun:
    """Reads an interrupted run so that it can be resumed.

    Raises:
        UsageError: there is no such run, its record was changed, or it has ended for good.
    """
    try:
        chain, lines = check_chain(folder), read_lines(folder)
        events = [line.event for line in lines]
        run = read(folder)
        run = run.model_copy(update={"steps": tuple(_load_step_pictures(folder, step) for step in run.steps)})
    except NoSuchRun:
        raise
    except RecordError as error:
        about = f"The run in {folder} "
        said = error.sentence if error.sentence.startswith(about) else f"{about}cannot be resumed: {error.sentence}"
        raise UsageError(said, error.hint or "name a run folder") from error
    if not chain.holds:
        raise UsageError(f"The run in {folder} cannot be resumed: {chain.sentence}", "only intact records are resumed")
    if not events:
        raise UsageError(f"The run in {folder} stopped before its first event", "start it again")
    if run.ending is not None and run.ending.status in FINAL_ENDINGS:
        hint = "start another run with its steps: vision-agent run URL GOAL --begin FOLDER"
        raise UsageError(f"The run in {folder} has ended: {run.ending.sentence}", hint)
    known = turns(events)
    provenance = next((event.provenance for event in reversed(events) if isinstance(event, Resumed)), run.provenance)
    if provenance.begun_with or run.provenance.begun_with or run.provenance.replayed:
        hint = "start again: vision-agent replay, or run with --begin"
        raise UsageError(f"The run in {folder} repeats another run, and such a run cannot be resumed", hint)
    messages = tuple(event.message for event in events if isinstance(event, MessageReceived))
    task = run.task.model_copy(update={"messages": (*run.task.messages, *messages)})
    complete = {turn.index for turn in known if turn.seconds is not None}
    steps = tuple(step for step in run.steps if step.index in complete)
    run = run.model_copy(update={"task": task, "steps": steps, "provenance": provenance})
    last = known[-1] if known else None
    if last is None or last.observation is None or last.seconds is not None:
        return InterruptedRun(run, None, where_it_stood(steps, None))
    if last.decision is None:
        asked = last.approval.proposed.usage if last.approval else None
        return InterruptedRun(run, None, last.observation.url, (*last.unused, *([asked] if asked else [])))
    times = [line.at for line in lines if getattr(line.event, "step", None) == last.index]
    cut = _interrupted_step(folder, last, times[-1])
    return InterruptedRun(run, cut, where_it_stood(steps, cut))


def _load_step_pictures(folder: Path, step: Step) -> Step:
    return step.model_copy(update={"observation": _load_pictures(folder, step.observation)})


def _load_pictures(folder: Path, seen: Observation) -> Observation:
    pictures = {"clean": load_shot(folder, seen.clean), "marked": load_shot(folder, seen.marked)}
    return seen.model_copy(update=pictures)


def _interrupted_step(folder: Path, turn: Turn, until: datetime) -> InterruptedStep | None:
    """The step of a turn that was decided but not completed; without a decision there is none to complete."""
    if turn.seconds is not None or turn.observation is None or turn.decision is None or turn.started_at is None:
        return None
    return InterruptedStep(
        index=turn.index,
        observation=_load_pictures(folder, turn.observation),
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
    """Builds the run, with steps and ending, from its events."""
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
    updates: dict[str, object] = {}
    for event in events:
        match event:
            case Ended():
                ending = event.ending
            case Resumed():
                ending = None
                updates |= {"limits": event.limits} if event.limits else {}
            case Reminded():
                updates.setdefault("exemplar", event.exemplar)
    task = run.task.model_copy(update=updates)
    return run.model_copy(update={"task": task, "steps": steps, "ending": ending})


def turns(events: Iterable[Event]) -> tuple[Turn, ...]:
    """The turns of a run in order, including an unfinished one."""
    by_index: dict[int, dict[str, Any]] = {}
    messages: list[Message] = []
    for event in events:
        match event:
            case MessageReceived():
                messages.append(event.message)
                continue
            case Started() | Resumed() | Warned() | Ended() | Reminded() | LastLook():
                continue
            case _:
                new: dict[str, Any] = {"intended": {}, "outcomes": {}, "troubles": (), "unused": (), "messages": ()}
                turn = by_index.setdefault(event.step, new)
        turn["messages"] += tuple(messages)
        messages.clear()
        match event:
            case Observed():
                turn["observation"] = event.observation
                # A proposal made before the run was interrupted was never used.
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


def last_look(events: Iterable[Event]) -> LastLook | None:
    """The look at the page after the last act; None if there was none, or if the run was resumed after it."""
    last: LastLook | None = None
    for event in events:
        if isinstance(event, LastLook):
            last = event
        elif isinstance(event, Resumed):
            last = None
    return last


def read_lines(folder: Path) -> tuple[RecordLine, ...]:
    """All complete lines of the record.

    Raises:
        RecordError: there is no run, or a line cannot be read; the message names its number.
    """
    run = read_run_file(folder)
    complete, _torn = _split(_bytes(folder, STEPS, MOST_OF_RECORD))
    return tuple(_parse(raw, f"Line {number}", run, folder) for number, raw in enumerate(complete, 1))


def readable_lines(folder: Path) -> Iterator[RecordLine | RecordError]:
    """Each complete line of the record, or why it cannot be read.

    Raises:
        RecordError: there is no run.
    """
    run = read_run_file(folder)
    complete, _torn = _split(_bytes(folder, STEPS, MOST_OF_RECORD))
    for number, raw in enumerate(complete, 1):
        try:
            yield _parse(raw, f"Line {number}", run, folder)
        except RecordError as error:
            yield error


def last_line(folder: Path) -> RecordLine | None:
    """The last complete line of the record, read from its end; None if it has none.

    Raises:
        RecordError: there is no run, or the line cannot be read.
    """
    run = read_run_file(folder)
    try:
        raw = read_last_line(folder, STEPS, MOST_OF_LINE)
    except (OSError, ValueError) as error:
        raise _unreadable(folder, STEPS, error) from error
    return _parse(raw, "The last line", run, folder) if raw else None


def load_shot(folder: Path, shot: Shot) -> Shot:
    """The picture with its bytes loaded.

    Raises:
        RecordError: the file is missing or was changed, or is not a picture that can be decoded.
    """
    path = folder / SHOTS / shot_name(shot)
    data = _bytes(folder, f"{SHOTS}/{shot_name(shot)}")
    if hashlib.sha256(data).hexdigest() != shot.sha256:
        raise RecordError(f"The picture {path} was changed: its bytes do not match the recorded hash")
    try:
        require_decodable(data)
    except UsageError as error:
        raise RecordError(f"The picture {path} cannot be used: {error.sentence}") from error
    return shot.model_copy(update={"data": data})


def check_chain(folder: Path, head: str | None = None) -> Chain:
    """Checks the hash chain and finds the first line that was changed.

    Args:
        head: the hash that the run printed. Without it, a changed last line or missing lines at the end go
            unnoticed, because no later line holds their hash.
    """
    run_json = _bytes(folder, RUN)
    complete, torn = _split(_bytes(folder, STEPS, MOST_OF_RECORD))
    hashes = [_sha256(run_json), *map(_sha256, complete)]
    lines = [_fields(raw) for raw in complete]
    expected = [fields.get("prev") for fields in lines] + ([head] if head else [])
    mismatches = [noted != actual for noted, actual in zip(expected, hashes, strict=False)]
    bad = _first_bad([fields.get("n") for fields in lines], mismatches)
    cut = head is not None and bad == len(lines)
    if cut and torn:
        bad = len(lines) + 1  # the head belongs to the line that lost its newline
    either = bad is not None and 0 < bad < len(mismatches) and mismatches[bad] and mismatches[bad - 1]
    if bad is not None and either:
        either = "prev" in lines[bad - 1]  # what notes no hash anymore was changed itself
    sentence = _sentence(len(complete), bad, len(torn), cut=cut, either=either)
    return Chain(
        lines=len(complete),
        head=hashes[-1],
        torn_bytes=len(torn),
        bad_line=bad,
        suspect_line=bad - 1 if bad is not None and either else bad,
        sentence=sentence,
    )


def _first_bad(numbers: list[Any], fails: list[bool]) -> int | None:
    """The first changed line, assuming the fewest changes that explain the failures.

    `fails[i]` says that line i (0 is run.json) does not match its noted hash. Then line i was changed; but if the next
    line fails too, one change is enough: of the next line, where it notes the hash of line i.
    """
    misnumbered = next((i for i, number in enumerate(numbers, 1) if number != i), None)
    broken = next((i for i, failed in enumerate(fails) if failed), None)
    if broken is not None and fails[broken + 1 : broken + 2] == [True]:
        broken += 1
    if broken is None or (misnumbered is not None and broken == misnumbered - 1):
        return misnumbered
    return broken if misnumbered is None else min(broken, misnumbered)


def _sentence(lines: int, bad: int | None, torn: int, *, cut: bool, either: bool) -> str:
    """`either`: the line before may be the one that was changed, or both."""
    tail = f"; {torn} bytes of an unfinished line follow" if torn else ""
    if bad is None:
        return f"Chain of {lines} entries verified{tail}"
    name = "run.json" if bad == 0 else f"Line {bad}"
    if either:
        name = f"{'run.json or line' if bad == 1 else f'Line {bad - 1} or'} {bad}"
    why = ", or later lines were removed, or the head is not that of this record" if cut else ""
    return f"{name} was changed after it was written{why}{tail}"


def _split(content: bytes) -> tuple[list[bytes], bytes]:
    *complete, torn = content.split(b"\n")
    return [line + b"\n" for line in complete], torn


def _parse(raw: bytes, which: str, run: Run, folder: Path) -> RecordLine:
    try:
        if len(raw) > MOST_OF_LINE:
            raise ValueError(f"it has {len(raw)} bytes, and at most {MOST_OF_LINE} are read")
        fields = parse_json(raw)
        about = {name: fields.pop(name) for name in ("n", "at", "prev")}
        if fields.get("event") == "started":
            fields["run"] = run
        return RecordLine(**about, event=_EVENT.validate_python(fields))
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise RecordError(f"{which} of {folder / STEPS} cannot be read: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of an error's message; for invalid data, the field and the reason."""
    if not isinstance(error, ValidationError):
        return printable_line((str(error).splitlines() or [type(error).__name__])[0][:_MOST_SAID])
    fault = error.errors()[0]
    where = printable_line(".".join(map(str, fault["loc"])))[:_MOST_SAID] or "the line"
    if fault["type"] == "union_tag_invalid":
        unknown = printable_line(str(fault["ctx"]["tag"]))[:60]
        return f"{where} has the unknown kind {unknown!r}; another version may have recorded it"
    return printable_line(f"{where}: {words_of(fault)[:_MOST_SAID]}")


def read_run_file(folder: Path) -> Run:
    """The run from run.json, without its steps: task, provenance and start time.

    Raises:
        RecordError: it cannot be read, or its id, of which others make file names, could name something else.
    """
    content = _bytes(folder, RUN)
    try:
        parse_json(content)
        run = Run.model_validate_json(content)
    except ValueError as error:
        raise RecordError(f"{folder / RUN} cannot be read: {_why_no_run(content, error)}") from error
    if not is_run_id(run.id):
        raise RecordError(
            f"{folder / RUN} cannot be used: its id {safe_line(run.id, 60)!r} cannot name a file",
            "an id has 1 to 200 letters, digits, '.', '-' and '_'",
        )
    return run


def fault_of_run_file(folder: Path) -> str:
    """Why run.json does not describe a run, such as `it is empty`; empty if it does.

    Raises:
        RecordError: it is missing, or not a file that can be opened.
    """
    content = _bytes(folder, RUN)
    try:
        parse_json(content)
        Run.model_validate_json(content)
    except ValueError as error:
        return _why_no_run(content, error)
    return ""


def _why_no_run(content: bytes, error: ValueError) -> str:
    if not content.strip():
        return "it is empty"
    if isinstance(error, ValidationError):
        return f"it does not describe a run: {first_line(error)}"
    what = first_line(error)
    return f"its JSON breaks off: {what}" if what.startswith("EOF ") else f"it is not JSON: {what}"


def _bytes(folder: Path, name: str, most: int = MOST_OF_FILE) -> bytes:
    try:
        return read_file(folder, name, most)
    except (OSError, ValueError) as error:
        raise _unreadable(folder, name, error) from error


def _unreadable(folder: Path, name: str, error: OSError | ValueError) -> RecordError:
    if not folder.exists():
        return NoSuchRun(f"There is no run folder {folder}", "`vision-agent runs` lists the runs")
    if name == RUN and isinstance(error, FileNotFoundError) and (folder / STEPS).is_file():
        if (folder / STEPS).stat().st_size:
            return RecordError(f"{folder / RUN} is missing, and {STEPS} has what the run recorded", "put it back")
        return RecordError(f"The run in {folder} was interrupted before it began", "start it again")
    hint = "is this a run folder, and did the run start?"
    if folder.is_file():
        hint = f"a golden session becomes a run folder with: vision-agent import {folder}"
    why = error.strerror if isinstance(error, OSError) else str(error)
    return RecordError(f"{folder / name} cannot be read: {why}", hint)


def _fields(raw: bytes) -> dict[str, Any]:
    try:
        fields = parse_json(raw) if len(raw) <= MOST_OF_LINE else None
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
