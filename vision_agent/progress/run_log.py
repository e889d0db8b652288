"""Writes a run to the standard logger `vision_agent`: one INFO line per step, and one at its start and its end.

It is given events without secrets. Page text is kept on one line and cut, so that a page can forge no line. Nothing is
shown unless the program configures logging.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from vision_agent.events import Decided, Ended, Event, Happened, Judged, Resumed, Started, Stepped, Troubled, Warned
from vision_agent.text.escape import cut_text, escaped_line
from vision_agent.types import Decision, Outcome, Usage, total_cost

LOGGER = logging.getLogger("vision_agent")
LOGGER.addHandler(logging.NullHandler())

_LONGEST = 300
"""Characters of one text in a line."""
_FAILED = ("error", "unavailable")


class RunLog:
    """A listener for the events of one run.

    Each record has the attributes `run` (the run's id), `step` (0 outside of steps) and `head` (the hash of the record
    so far, which for the line of a step is the step's hash).
    """

    def __init__(self, run: str, head: Callable[[], str]) -> None:
        self._run = run
        self._head = head
        self._decision = Decision(author="loop")
        self._outcomes: list[Outcome] = []
        self._usages: list[Usage] = []
        self._steps = 0
        self._seconds = 0.0
        self._all: list[Usage] = []

    @staticmethod
    def is_heard() -> bool:
        """Whether anything that it writes is kept."""
        return LOGGER.isEnabledFor(logging.ERROR) and LOGGER.hasHandlers()

    def __call__(self, event: Event) -> None:
        """Writes the line of an event, if it has one."""
        match event:
            case Started(run=run):
                self._write(logging.INFO, 0, f"run {self._run} started: {_line(run.task.goal)}")
            case Resumed():
                self._write(logging.INFO, 0, f"run {self._run} resumed")
            case Decided(decision=decision):
                self._decision = decision
                self._count(decision.usage)
            case Judged(verdict=verdict):
                self._count(verdict.usage)
            case Happened(outcome=outcome):
                self._outcomes.append(outcome)
            case Troubled(step=step, sentence=sentence, usage=usage):
                self._count(usage)
                self._write(logging.WARNING, step, f"step {step}: {_line(sentence)}")
            case Warned(sentence=sentence):
                self._write(logging.WARNING, 0, f"run {self._run}: {_line(sentence)}")
            case Stepped(step=step, seconds=seconds):
                self._write(logging.INFO, step, f"step {step}: {self._done()} ({used(seconds, self._usages)})")
                self._steps, self._seconds = self._steps + 1, self._seconds + seconds
                self._outcomes, self._usages, self._decision = [], [], Decision(author="loop")
            case Ended(ending=ending):
                level = logging.ERROR if ending.status in _FAILED else logging.INFO
                spent = f"{self._steps} step{'' if self._steps == 1 else 's'}, {used(self._seconds, self._all)}"
                self._write(level, 0, f"run {self._run} {ending.status}: {_line(ending.sentence)} ({spent})")

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usages.append(usage)
            self._all.append(usage)

    def _done(self) -> str:
        became = ", ".join(str(each.effect or each.refusal or each.status) for each in self._outcomes) or "nothing done"
        words = self._decision.next_goal or (self._outcomes[-1].sentence if self._outcomes else "no decision")
        return f"{_line(words)}: {became}"

    def _write(self, level: int, step: int, words: str) -> None:
        LOGGER.log(level, "%s", words, extra={"run": self._run, "step": step, "head": self._head()})


def used(seconds: float, usages: list[Usage]) -> str:
    """Time, tokens and cost in words, such as `1.2 s, 1,334 tokens, $0.0041`; without a model, the time only."""
    if not usages:
        return f"{seconds:.1f} s"
    cost = total_cost(usages)
    tokens = sum(usage.total for usage in usages)
    return f"{seconds:.1f} s, {tokens:,} tokens, {'cost unknown' if cost is None else f'${cost:.4f}'}"


def _line(text: str) -> str:
    return escaped_line(cut_text(text, _LONGEST))
