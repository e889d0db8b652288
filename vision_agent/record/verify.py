"""Verifies a run folder: it is unchanged since it was written, and no observation, decision, action or outcome is
missing.

It reads only the files: no browser, no model, no settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from vision_agent import actions
from vision_agent.base_model import FrozenModel
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Graded,
    Happened,
    Intended,
    Judged,
    LastLook,
    Observed,
    Proposed,
    Resumed,
    Started,
    Stepped,
)
from vision_agent.observation import Observation, Shot
from vision_agent.record.read import FINAL_ENDINGS, Chain, RecordLine, check_chain, fault_of_run_file, readable_lines
from vision_agent.record.run_files import hash_file, names_in, read_file, reading
from vision_agent.record.run_list import is_running
from vision_agent.record.store import DOWNLOADS, REQUESTS, RUN, SHOTS, STEPS, shot_name
from vision_agent.text.escape import printable_line
from vision_agent.types import Choice, Decision, EndingStatus

_REPORT = "report.html"
_DOWNLOADED = re.compile(rf'"({DOWNLOADS}/[^"]+)" was kept: (\d{{1,18}}) bytes, sha256 ([0-9a-f]{{64}})')
"""The whole of a sentence that the record has for each file in `downloads`."""
_MOST_NAMED = 10
"""Unreadable lines that a note names; a record of another version may have thousands."""
_MID_STEP_ENDINGS = ("interrupted", "error", "unavailable")
"""Endings that may come in the middle of a step."""


class Fault(FrozenModel):
    """One thing that was changed or is missing."""

    line: int
    """The line of steps.jsonl, from 1; 0 is run.json."""
    sentence: str
    kind: Literal["changed", "unfinished"] = "changed"
    """unfinished: the record stops before the end of the run, as it does after an interruption."""


class Verified(FrozenModel):
    """The result of verifying a run folder."""

    folder: str
    chain: Chain
    faults: tuple[Fault, ...]
    """The first bad record first."""
    steps: int
    acts: int
    pictures: int
    requests: int
    downloads: int = 0
    unrecorded: tuple[str, ...] = ()
    """Files in `downloads` that the record does not name, such as one that arrived as the run ended."""
    notes: tuple[str, ...] = ()
    """What else limits what was verified."""
    derived: tuple[str, ...] = ()
    """Files that are made from the record and therefore not verified; `vision-agent report` makes them again."""
    authors: dict[str, int]
    """The number of decisions by each kind of author."""
    ending: EndingStatus | Literal[""]
    """The status of the ending; empty if no line that can be read has one."""
    may_have_happened: tuple[str, ...] = ()
    """Actions that were begun without a recorded outcome: the run was interrupted there."""
    is_held_to_head: bool
    """Whether a head was given; without one, a changed last line and missing lines at the end go unnoticed."""

    @property
    def holds(self) -> bool:
        """Whether the record is unchanged and complete."""
        return not self.faults

    @property
    def first_change(self) -> str:
        """The first fault; empty if there is none but that the run was interrupted."""
        return next((each.sentence for each in self.faults if each.kind == "changed"), "")


def verify(folder: Path, head: str | None = None, *, may_lack_downloads: bool = False) -> Verified:
    """Verifies the chain, the order of events, and the files they name.

    Args:
        head: the hash that the run printed; with it, a changed last line and missing lines at the end are noticed.
        may_lack_downloads: whether a missing download is only noted, as in a `.cere`, which may not hold them.

    Raises:
        RecordError: there is no run at all.
        UsageError: `head` cannot be the head of a record.
    """
    if head is not None and not re.fullmatch(r"[0-9a-f]{64}", head):
        raise UsageError(
            f"{printable_line(head)!r} cannot be the head of a record",
            "a head has 64 characters, 0 to 9 and a to f; copy all of it",
        )
    with reading(folder):
        return _verify(folder, head, may_lack_downloads)


def _verify(folder: Path, head: str | None, may_lack_downloads: bool) -> Verified:
    is_going = is_running(folder)  # asked first: it may end while its lines are read
    chain = check_chain(folder, head)
    faults = [] if chain.bad_line is None else [Fault(line=chain.bad_line, sentence=chain.sentence)]
    if chain.bad_line == 0 and (why := fault_of_run_file(folder)):
        faults = [Fault(line=0, sentence=f"{chain.sentence}: {why}")]
    read: dict[int, RecordLine | RecordError] = {}
    try:
        read = dict(enumerate(readable_lines(folder), 1))
    except RecordError as unreadable:
        read = {0: unreadable}
    errors = {number: line for number, line in read.items() if isinstance(line, RecordError)}
    if errors and chain.holds:
        # An unreadable line was changed. The chain says where, unless it is the last line and no head was given.
        first, error = next(iter(errors.items()))
        faults.append(Fault(line=first, sentence=str(error)))
    lines = [line for line in read.values() if isinstance(line, RecordLine)]
    suspect = min([*errors, *([chain.suspect_line] if chain.suspect_line else [])], default=None)
    sequence = _EventSequence(suspect=suspect)
    for line in lines:
        sequence.add(line)
    files = _Files(folder, may_lack_downloads)
    files.check([line for line in lines if line.n != suspect])
    faults += sorted(
        [*sequence.finish(may_go_on=bool(errors), is_running=is_going), *files.faults], key=lambda fault: fault.line
    )
    return Verified(
        folder=str(folder),
        chain=chain,
        faults=tuple(faults),
        steps=sequence.steps,
        acts=sequence.acts,
        pictures=len(files.pictures),
        requests=len(files.requests),
        downloads=len(files.downloads) - len(files.lacking),
        unrecorded=tuple(name for name in files.found_downloads() if name not in files.downloads),
        notes=(
            *_unchecked(suspect, errors),
            *(f"It does not carry {name}, so that download is not verified." for name in files.lacking),
        ),
        derived=(_REPORT,) if (folder / _REPORT).exists() else (),
        authors=sequence.authors,
        ending=sequence.ending,
        may_have_happened=tuple(sequence.open_acts),
        is_held_to_head=head is not None,
    )


def _unchecked(suspect: int | None, errors: Collection[int]) -> Iterator[str]:
    """What could not be verified because a line was changed or cannot be read."""
    if 0 in errors:
        yield f"{RUN} cannot be read, so the lines of {STEPS} were not checked further."
        return
    if suspect:
        yield f"From line {suspect} on, it was not checked whether any event is missing."
    if errors:
        numbers = ", ".join(map(str, islice(errors, _MOST_NAMED)))
        more = ", …" if len(errors) > _MOST_NAMED else ""
        yield f"What cannot be read is not counted: line {numbers}{more}."


# --- whether anything is missing --------------------------------------------------------------------------------------


@dataclass
class _EventSequence:
    """Checks that each event is possible after the events before it."""

    suspect: int | None = None
    """The first line that may have been changed: what does not fit from there on may only follow from that."""
    steps: int = 0
    acts: int = 0
    authors: dict[str, int] = field(default_factory=dict)
    ending: EndingStatus | Literal[""] = ""
    open_acts: list[str] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)
    _by_provider: bool = False
    _line: int = 0
    _is_unanswered: bool = False
    """Whether the step's decision needed approval and nobody answered."""
    _is_denied: bool = False
    """Whether a judge was asked in this step and did not confirm that the task is done."""
    _has_looked_last: bool = False
    """Whether the page was observed after the last act, so that only the ending may follow."""
    _is_resumed: bool = False
    """Whether the run was interrupted in this step and resumed."""
    _seen: Observation | None = None
    _proposed: Decision | None = None
    _choice: Choice | None = None
    _decision: Decision | None = None
    _intended: dict[int, actions.Action] = field(default_factory=dict)
    _happened: set[int] = field(default_factory=set)

    def add(self, line: RecordLine) -> None:
        """Checks the next event."""
        self._line = line.n
        event = line.event
        if (line.n == 1) != isinstance(event, Started):
            self._fault(
                "the record does not begin with the start of the run" if line.n == 1 else "the run starts twice"
            )
        if self.ending and not isinstance(event, Resumed):
            self._fault(f"an event follows the end of the run: {event.event}")
        if self._has_looked_last and not isinstance(event, Ended | Resumed):
            self._fault(f"an event follows the last look at the page: {event.event}")
        self._has_looked_last = isinstance(event, LastLook)
        match event:
            case Started():
                # A caller's own decider records no requests.
                self._by_provider = ":" in event.run.provenance.model
            case Resumed():
                self._check_resumed(event)
            case Observed():
                self._check_observed(event)
            case Proposed():
                self._proposed, self._choice = event.decision, None
                if self._seen is None or event.step != self.steps or self._decision is not None:
                    self._fault(f"the approval request in step {event.step} comes at the wrong time")
            case Chosen():
                if self._proposed is None:
                    self._fault(f"step {event.step} has a person's answer without an approval request")
                self._choice = event.choice
            case Decided():
                self._check_decided(event)
            case Intended():
                self._check_intended(event)
            case Happened():
                self._check_happened(event)
            case Stepped():
                self._check_stepped(event)
            case Graded():
                if self._decision is None or event.step != self.steps:
                    self._fault(f"step {event.step} has a grade but no decision")
            case Judged():
                self._is_denied = event.verdict.done is not True
            case Ended():
                self.ending = event.ending.status
                may_be_open = event.ending.status in _MID_STEP_ENDINGS
                # After a resumed step, nobody was there to report its outcome.
                may_be_open |= self._is_resumed and event.ending.status == "needs_person"
                if self._decision is not None and not may_be_open:
                    self._fault(f"the run ended as {event.ending.status} before step {self.steps} was complete")

    def finish(self, *, may_go_on: bool = False, is_running: bool = False) -> list[Fault]:
        """All faults, including those that appear only at the end of the record.

        `may_go_on`: whether lines could not be read, which may hold what is missing at the end.
        `is_running`: whether a process still writes to the record.
        """
        if may_go_on:
            return self._faults
        for index in sorted(self._intended.keys() - self._happened):
            kind = self._intended[index].kind
            self.open_acts.append(f"step {self.steps}, action {index + 1}: {kind} was begun and has no outcome")
        if not self.ending:
            why = ": it was interrupted or cut" if self._line else ""
            where = f"Line {self._line}: the" if self._line else "The"
            sentence = f"{where} record stops before the end of the run{why}"
            if is_running:
                sentence = "The run is still going, so its record has no end yet: verify it again when it has ended"
            self._faults.append(Fault(line=self._line, sentence=sentence, kind="unfinished"))
        return self._faults

    def _check_resumed(self, event: Resumed) -> None:
        """A step without a decision is observed again; a step with one is completed first."""
        if self.ending in FINAL_ENDINGS:
            self._fault(f"the run resumes after it ended as {self.ending}")
        self._is_resumed = self._decision is not None
        self.ending, self._by_provider = "", ":" in event.provenance.model
        if self._decision is None and self._seen is not None:
            self.steps, self._seen, self._proposed, self._choice = self.steps - 1, None, None, None

    def _check_observed(self, event: Observed) -> None:
        if self._decision is not None or self._seen is not None:
            self._fault(f"step {self.steps} is not complete when the next one begins")
        if event.step != self.steps + 1:
            self._fault(f"step {event.step} follows step {self.steps}")
        self.steps, self._seen = event.step, event.observation

    def _check_decided(self, event: Decided) -> None:
        if self._seen is None or event.step != self.steps:
            self._fault(f"step {event.step} has a decision but no observation")
        if self._decision is not None:
            self._fault(f"step {event.step} was decided twice")
        author = event.decision.author
        if author == "model" and self._by_provider and event.decision.request_sha256 is None:
            self._fault(f"step {event.step} was decided by a model, but the request is not recorded")
        if self._proposed is not None and not _follows(event.decision, self._proposed, self._choice):
            self._fault(f"the decision of step {event.step} differs from the person's answer")
        self._is_unanswered = self._proposed is not None and self._choice is None
        self._decision, self._proposed, self._choice = event.decision, None, None
        self.authors[author] = self.authors.get(author, 0) + 1

    def _check_intended(self, event: Intended) -> None:
        decided = self._decision.actions if self._decision and event.step == self.steps else ()
        if not 0 <= event.index < len(decided) or decided[event.index] != event.action:
            self._fault(f"{event.action.kind} was begun in step {event.step} without being decided")
        if event.index in self._intended:
            self._fault(f"action {event.index + 1} of step {event.step} was begun twice")
        if self._is_unanswered:
            self._fault(f"{event.action.kind} needed approval in step {event.step} but was begun without an answer")
        self._intended[event.index] = event.action
        self.acts += 1

    def _check_happened(self, event: Happened) -> None:
        if event.index in self._happened:
            self._fault(f"action {event.index + 1} of step {event.step} has two outcomes")
        self._happened.add(event.index)
        if event.outcome.refusal == "not_reached":
            return
        if event.outcome.refusal == "needs_person" and event.index not in self._intended:
            return  # it needed approval and nobody answered, so it was never begun
        action = self._intended.get(event.index) if event.step == self.steps else None
        if action is None:
            self._fault(f"action {event.index + 1} of step {event.step} has an outcome but was never begun")
        elif event.outcome.effect == "finished" and self._is_denied and getattr(action, "success", False):
            self._fault(f"step {event.step} finished although the judge had not confirmed that the task is done")
        elif event.outcome.status != "refused" and self._seen is not None:
            named = {actions.mark_in(target) for target in actions.targets_of(action)} - {None}
            for number in sorted(each for each in named if each is not None and self._seen.known_mark(each) is None):
                self._fault(f"{action.kind} was done to mark {number}, which step {event.step} did not show")

    def _check_stepped(self, event: Stepped) -> None:
        if self._decision is None or event.step != self.steps:
            self._fault(f"step {event.step} is complete but has no decision")
        elif missing := [index for index in range(len(self._decision.actions)) if index not in self._happened]:
            self._fault(f"action {missing[0] + 1} of step {event.step} was decided but has no outcome")
        self._seen = self._decision = None
        self._is_unanswered = self._is_denied = self._is_resumed = False
        self._intended.clear()
        self._happened.clear()

    def _fault(self, sentence: str) -> None:
        if self.suspect is None or self._line < self.suspect:
            self._faults.append(Fault(line=self._line, sentence=f"Line {self._line}: {sentence}"))


def _follows(decided: Decision, proposed: Decision, choice: Choice | None) -> bool:
    """Whether the decision matches the person's answer; without one it must be the proposal, which is not executed."""
    if choice is None or choice.kind == "approve":
        return decided == proposed
    return decided.author == choice.author and decided.actions == choice.actions


# --- whether the named files are there --------------------------------------------------------------------------------


@dataclass
class _Files:
    """The pictures, requests and downloads that the lines name."""

    folder: Path
    may_lack_downloads: bool = False
    pictures: set[str] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    downloads: set[str] = field(default_factory=set)
    lacking: list[str] = field(default_factory=list)
    """Downloads that are missing where they may be."""
    faults: list[Fault] = field(default_factory=list)

    def check(self, lines: Sequence[RecordLine]) -> None:
        """Hashes each file once, for the first line that names it."""
        for line in lines:
            content = line.event.model_dump(mode="json")
            for name, size, sha256 in _named_downloads(content):
                if name not in self.downloads:
                    self.downloads.add(name)
                    self._check_download(line.n, name, size, sha256)
            for sha256, name in _named_files(content):
                kind = self.requests if name.startswith(REQUESTS) else self.pictures
                if sha256 not in kind:
                    kind.add(sha256)
                    self._check_hash(0 if isinstance(line.event, Started) else line.n, sha256, name)

    def _check_hash(self, line: int, sha256: str, name: str) -> None:
        what, where = "request" if name.startswith(REQUESTS) else "picture", f"Line {line}" if line else RUN
        try:
            content = read_file(self.folder, name)
        except (OSError, ValueError) as error:
            reason = f"cannot be read: {_reason(error)}"
        else:
            if hashlib.sha256(content).hexdigest() == sha256:
                return
            reason = "was changed: its bytes do not match the recorded hash"
        self.faults.append(Fault(line=line, sentence=f"{where}: the {what} {printable_line(name)} {reason}"))

    def found_downloads(self) -> list[str]:
        """The files that are in `downloads`, by their names in the run folder."""
        return [f"{DOWNLOADS}/{name}" for name in names_in(self.folder, DOWNLOADS)]

    def _check_download(self, line: int, name: str, size: int, sha256: str) -> None:
        try:
            if hash_file(self.folder, name, size) == sha256:
                return
            reason = "was changed: its bytes do not match the recorded hash"
        except (OSError, ValueError) as error:
            if self.may_lack_downloads and isinstance(error, FileNotFoundError):
                self.lacking.append(printable_line(name))
                return
            reason = f"cannot be read: {_reason(error)}"
        self.faults.append(Fault(line=line, sentence=f"Line {line}: the download {printable_line(name)} {reason}"))


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _named_downloads(content: Any) -> Iterator[tuple[str, int, str]]:
    """The name, size and hash of each download that an event reports."""
    if isinstance(content, str):
        if found := _DOWNLOADED.fullmatch(content):
            yield found[1], int(found[2]), found[3]
    elif isinstance(content, dict | list):
        for each in content.values() if isinstance(content, dict) else content:
            yield from _named_downloads(each)


def _named_files(content: Any) -> Iterator[tuple[str, str]]:
    """The hash and file name of each picture and request named anywhere in an event."""
    if isinstance(content, dict):
        if {"sha256", "media_type", "map"} <= content.keys():
            yield content["sha256"], f"{SHOTS}/{shot_name(Shot.model_validate(content))}"
        if request := content.get("request_sha256"):
            yield request, f"{REQUESTS}/{request}.json"
        for each in content.values():
            yield from _named_files(each)
    elif isinstance(content, list):
        for each in content:
            yield from _named_files(each)
