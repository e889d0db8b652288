"""Whether a run folder proves what it says: unchanged since it was written, and nothing missing between what was seen,
what was decided, what was done and what came of it.

Goes by the files alone: no browser, no model, no settings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from vision_agent import actions
from vision_agent.errors import RecordError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Graded,
    Happened,
    Intended,
    Judged,
    Observed,
    Proposed,
    Resumed,
    Started,
    Stepped,
)
from vision_agent.record.read import FOR_GOOD, Chain, Line, check_chain, read_lines
from vision_agent.record.store import REQUESTS, RUN, SHOTS, shot_name
from vision_agent.types import Choice, Decision, Observation, Shot

_CUT_OFF = ("interrupted", "error", "unavailable")
"""Endings that may come in the middle of a step."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fault(_Data):
    """One thing that is not as it was written, or that is missing."""

    line: int
    """Of steps.jsonl, from 1; 0 is run.json."""
    sentence: str


class Verified(_Data):
    """What looking through a run folder found."""

    folder: str
    chain: Chain
    faults: tuple[Fault, ...]
    """The first bad record first."""
    steps: int
    acts: int
    pictures: int
    requests: int
    authors: dict[str, int]
    """How many decisions each kind of author made."""
    ending: str
    """How it ended; empty where the record stops before an end."""
    may_have_happened: tuple[str, ...] = ()
    """Acts that were begun and whose outcome nobody noted: the run was cut off there."""
    is_held_to_head: bool
    """Whether a head was given: without one, a change in the last line and a cut at the end cannot show."""

    @property
    def holds(self) -> bool:
        """Whether the record is as it was written, and whole."""
        return not self.faults


def verify(folder: Path, head: str | None = None) -> Verified:
    """What of the run folder holds and what does not.

    Raises:
        RecordError: there is no run at all.
    """
    chain = check_chain(folder, head)
    faults = [] if chain.bad_line is None else [Fault(line=chain.bad_line, sentence=chain.sentence)]
    lines: Sequence[Line] = ()
    try:
        lines = read_lines(folder)
    except RecordError as error:
        # What cannot be read was changed: the chain says where, unless it is the last line and there was no head.
        if chain.holds:
            faults.append(Fault(line=chain.lines, sentence=str(error)))
    told = _Told()
    for line in lines:
        told.hear(line)
    files = _Files(folder)
    files.look(lines)
    faults += sorted([*told.finish(), *files.faults], key=lambda fault: fault.line)
    return Verified(
        folder=str(folder),
        chain=chain,
        faults=tuple(faults),
        steps=told.steps,
        acts=told.acts,
        pictures=len(files.pictures),
        requests=len(files.requests),
        authors=told.authors,
        ending=told.ending,
        may_have_happened=tuple(told.open_acts),
        is_held_to_head=head is not None,
    )


# --- whether anything is missing --------------------------------------------------------------------------------------


@dataclass
class _Told:
    """The record as a story: each event must be possible after those before it."""

    steps: int = 0
    acts: int = 0
    authors: dict[str, int] = field(default_factory=dict)
    ending: str = ""
    open_acts: list[str] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)
    _by_provider: bool = False
    _line: int = 0
    _is_unanswered: bool = False
    """Whether a person was to be asked about the step's decision, and nobody answered."""
    _is_denied: bool = False
    """Whether a judge was asked in this step, and did not say that it is done."""
    _is_taken_up: bool = False
    """Whether the run was cut off in this step, and went on."""
    _seen: Observation | None = None
    _proposed: Decision | None = None
    _choice: Choice | None = None
    _decision: Decision | None = None
    _intended: dict[int, actions.Action] = field(default_factory=dict)
    _happened: set[int] = field(default_factory=set)

    def hear(self, line: Line) -> None:
        """The next event."""
        self._line = line.n
        event = line.event
        if (line.n == 1) != isinstance(event, Started):
            self._fault(
                "the record does not begin with the start of the run" if line.n == 1 else "the run starts twice"
            )
        if self.ending and not isinstance(event, Resumed):
            self._fault(f"something is told after the end: {event.event}")
        match event:
            case Started():
                # A decider of the caller's own keeps no requests.
                self._by_provider = ":" in event.run.provenance.model
            case Resumed():
                self._goes_on(event)
            case Observed():
                self._observed(event)
            case Proposed():
                self._proposed, self._choice = event.decision, None
                if self._seen is None or event.step != self.steps or self._decision is not None:
                    self._fault(f"what was proposed in step {event.step} is asked about at the wrong time")
            case Chosen():
                if self._proposed is None:
                    self._fault(f"step {event.step} has an answer of a person, and they were not asked")
                self._choice = event.choice
            case Decided():
                self._decided(event)
            case Intended():
                self._meant(event)
            case Happened():
                self._came_of(event)
            case Stepped():
                self._stepped(event)
            case Graded():
                if self._decision is None or event.step != self.steps:
                    self._fault(f"step {event.step} has a grade, and nobody decided it")
            case Judged():
                self._is_denied = event.verdict.done is not True
            case Ended():
                self.ending = event.ending.status
                is_cut = event.ending.status in _CUT_OFF
                # Nobody was there to say what came of it.
                is_cut |= self._is_taken_up and event.ending.status == "needs_person"
                if self._decision is not None and not is_cut:
                    self._fault(f"the run ended as {event.ending.status}, and step {self.steps} is not complete")

    def finish(self) -> list[Fault]:
        """What is wrong with the whole, now that it has been heard."""
        for index in sorted(self._intended.keys() - self._happened):
            kind = self._intended[index].kind
            self.open_acts.append(f"step {self.steps}, act {index + 1}: {kind} was begun, and no outcome is recorded")
        if not self.ending:
            self._fault("the record stops before the run ended" + (": it was cut off" if self._line else ""))
        return self._faults

    def _goes_on(self, event: Resumed) -> None:
        """What was looked at and not decided is looked at again; a step that was decided is completed first."""
        if self.ending in FOR_GOOD:
            self._fault(f"the run goes on after it ended as {self.ending}")
        self._is_taken_up = self._decision is not None
        self.ending, self._by_provider = "", ":" in event.provenance.model
        if self._decision is None and self._seen is not None:
            self.steps, self._seen, self._proposed, self._choice = self.steps - 1, None, None, None

    def _observed(self, event: Observed) -> None:
        if self._decision is not None or self._seen is not None:
            self._fault(f"step {self.steps} is not complete when the next one begins")
        if event.step != self.steps + 1:
            self._fault(f"step {event.step} is told after step {self.steps}")
        self.steps, self._seen = event.step, event.observation

    def _decided(self, event: Decided) -> None:
        if self._seen is None or event.step != self.steps:
            self._fault(f"step {event.step} was decided without having been looked at")
        if self._decision is not None:
            self._fault(f"step {event.step} was decided twice")
        author = event.decision.author
        if author == "model" and self._by_provider and event.decision.request_sha256 is None:
            self._fault(f"step {event.step} was decided by a model, and what it was asked is not recorded")
        if self._proposed is not None and not _follows(event.decision, self._proposed, self._choice):
            self._fault(f"step {event.step} was decided otherwise than a person answered")
        self._is_unanswered = self._proposed is not None and self._choice is None
        self._decision, self._proposed, self._choice = event.decision, None, None
        self.authors[author] = self.authors.get(author, 0) + 1

    def _meant(self, event: Intended) -> None:
        decided = self._decision.actions if self._decision and event.step == self.steps else ()
        if not 0 <= event.index < len(decided) or decided[event.index] != event.action:
            self._fault(f"{event.action.kind} was to be done in step {event.step}, and nobody decided that")
        if event.index in self._intended:
            self._fault(f"act {event.index + 1} of step {event.step} was begun twice")
        if self._is_unanswered:
            self._fault(f"{event.action.kind} was to be approved in step {event.step}, and begun without an answer")
        self._intended[event.index] = event.action
        self.acts += 1

    def _came_of(self, event: Happened) -> None:
        if event.index in self._happened:
            self._fault(f"act {event.index + 1} of step {event.step} has two outcomes")
        self._happened.add(event.index)
        if event.outcome.refusal == "not_reached":
            return
        if event.outcome.refusal == "needs_person" and event.index not in self._intended:
            return  # it was to be approved first, and nobody was there: nothing was begun
        action = self._intended.get(event.index) if event.step == self.steps else None
        if action is None:
            self._fault(f"act {event.index + 1} of step {event.step} has an outcome and was never begun")
        elif event.outcome.effect == "finished" and self._is_denied and getattr(action, "success", False):
            self._fault(f"step {event.step} finished, and the judge had not said that it is done")
        elif event.outcome.status != "refused" and self._seen is not None:
            named = {actions.mark_in(target) for target in actions.targets_of(action)} - {None}
            for number in sorted(each for each in named if each is not None and self._seen.mark(each) is None):
                self._fault(f"{action.kind} was done to mark {number}, which step {event.step} did not show")

    def _stepped(self, event: Stepped) -> None:
        if self._decision is None or event.step != self.steps:
            self._fault(f"step {event.step} is complete, and nobody decided it")
        elif missing := [index for index in range(len(self._decision.actions)) if index not in self._happened]:
            self._fault(f"act {missing[0] + 1} of step {event.step} was decided and has no outcome")
        self._seen = self._decision = None
        self._is_unanswered = self._is_denied = self._is_taken_up = False
        self._intended.clear()
        self._happened.clear()

    def _fault(self, sentence: str) -> None:
        self._faults.append(Fault(line=self._line, sentence=f"Line {self._line}: {sentence}"))


def _follows(decided: Decision, proposed: Decision, choice: Choice | None) -> bool:
    """Whether what was decided is what was answered. Without an answer it is what was proposed, and is not done."""
    if choice is None or choice.kind == "approve":
        return decided == proposed
    return decided.author == choice.author and decided.actions == choice.actions


# --- whether what it names is there -----------------------------------------------------------------------------------


@dataclass
class _Files:
    """The pictures and requests that lines name."""

    folder: Path
    pictures: set[str] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)

    def look(self, lines: Sequence[Line]) -> None:
        """Hashes each file once, for the first line that names it."""
        for line in lines:
            for sha256, name in _named(line.event.model_dump(mode="json")):
                kind = self.requests if name.startswith(REQUESTS) else self.pictures
                if sha256 not in kind:
                    kind.add(sha256)
                    self._hash(0 if isinstance(line.event, Started) else line.n, sha256, name)

    def _hash(self, line: int, sha256: str, name: str) -> None:
        what, where = "request" if name.startswith(REQUESTS) else "picture", f"Line {line}" if line else RUN
        try:
            content = (self.folder / name).read_bytes()
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        else:
            if hashlib.sha256(content).hexdigest() == sha256:
                return
            reason = "is not the one that was recorded: its bytes have another hash"
        self.faults.append(Fault(line=line, sentence=f"{where}: the {what} {name} {reason}"))


def _named(content: Any) -> Iterator[tuple[str, str]]:
    """The hash and the file of each picture and request that is named anywhere in what an event says."""
    if isinstance(content, dict):
        if {"sha256", "media_type", "map"} <= content.keys():
            yield content["sha256"], f"{SHOTS}/{shot_name(Shot.model_validate(content))}"
        if request := content.get("request_sha256"):
            yield request, f"{REQUESTS}/{request}.json"
        for each in content.values():
            yield from _named(each)
    elif isinstance(content, list):
        for each in content:
            yield from _named(each)
