"""Prints the progress of a run to a terminal, and afterwards where its files are.

Reads events and paths only; does not know what produces them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from vision_agent.actions import Action, targets_of
from vision_agent.describe.action_sentences import (
    FOUND_BY,
    LOOK_AGAIN,
    LOOK_AGAIN_IN_REPLAY,
    blocked_in,
    counted,
    failed_answer_in,
    gives_up,
    held_instead_in,
    lacks_effect,
    not_kept_in,
    text_came,
)
from vision_agent.describe.distinctions import bracketed, longer_words_beside, safe_name
from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Happened,
    Judged,
    MessageReceived,
    Observed,
    Proposed,
    Started,
    Troubled,
    Warned,
)
from vision_agent.observation import Observation
from vision_agent.text.escape import cut_text, escaped_line
from vision_agent.types import Decision, Verdict

_LONGEST = 1000
"""Characters of one line; a text that a model typed or said may have a hundred times as many."""
_RESULT = 29
"""Characters for what came of a step, such as `saw 120 marks, the text shows`, so that all stand in one column."""
_RESULT_WITH_NOTE = 46
"""The same where a note follows, such as `same document, picture 99.5% the same`."""
_LONGEST_MEANT = 30
"""Characters of the name of a mark beside the step line that means it."""
_MOST_FOUND = 10
"""Texts and files that the end of a run shows, of each the last ones."""
_LEAST_READ = 60
"""Characters of such a text in a narrow terminal."""


class Progress:
    """A listener for `Agent(on_event=…)` that prints each action with its outcome, and what the run is doing now.

    `note` returns text to add to a step, given its number.
    """

    def __init__(self, console: Console, *, is_shared: bool = False, note: Callable[[int], str] | None = None) -> None:
        self._console = console
        self._note = note
        self._is_shared = is_shared
        """A person types in this terminal, so nothing may move in it meanwhile."""
        self._status: Status | None = None
        self._decision = Decision(author="loop")
        self._marks = 0
        self._seen: Observation | None = None
        """The look that the decision is about."""
        self._trouble = ""
        """The last trouble, which is shown once however often it comes in a row."""
        self._repeats = 0
        self._verdict: Verdict | None = None
        """The verdict on the action whose outcome comes next."""

    def __call__(self, event: Event) -> None:
        """Prints one event."""
        match event:
            case Started():
                self._show_activity("opening the page")
            case Observed(observation=seen):
                self._marks, self._seen = len(seen.marks), seen
                if failed := failed_answer_in(seen.warnings):
                    self._console.print(Text(f"      {_line(failed[:1].upper() + failed[1:])}", style="yellow"))
                if self._is_shared:
                    self.stop()
                    return
                self._show_activity(f"{self._marks} marks on {_line(seen.title) or 'the page'}; deciding")
            case Proposed() if self._is_shared:
                self.stop()
            case Proposed(decision=proposed):
                waits = f"waiting for a person: {_line(proposed.next_goal) or 'may this be done?'}"
                self._show_activity(waits)
                if not self._console.is_terminal:
                    self._console.print(Text(f"      {waits}"), soft_wrap=True)
            case Decided(decision=decision):
                self._decision = decision
                if not decision.actions and decision.next_goal:
                    self._print_undecided(decision.next_goal)
                else:
                    self._end_trouble()
                self._show_activity(_line(decision.next_goal) or "acting")
            case Happened():
                self._print_outcome(event, self._decision)
                self._show_activity("looking")
            case Judged(verdict=verdict):
                self._verdict = verdict
            case Troubled(sentence=sentence) if sentence == self._trouble:
                self._repeats += 1
            case Troubled(sentence=sentence):
                self._end_trouble()
                self._trouble = sentence
                self._console.print(Text(f"      {_line(sentence)}", style="yellow"))
            case Warned(sentence=sentence):
                self._console.print(Text(f"      {_line(sentence)}", style="yellow"))
            case MessageReceived():
                self._console.print(Text(f"      {_line(event.message.text)}", style="cyan"))
            case Ended():
                self._print_verdict()
                self._end_trouble()
                self.stop()

    def stop(self) -> None:
        """Removes the status line from the terminal."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print_undecided(self, why: str) -> None:
        """Prints why there is no action to do; the trouble that was shown last is not quoted again."""
        if self._trouble and why.endswith(self._trouble):
            why, self._repeats = f"{why.removesuffix(self._trouble)}the same again.", 0
        self._console.print(Text(f"      {_line(why)}", style="yellow"))

    def _end_trouble(self) -> None:
        if self._repeats:
            times = f", {self._repeats} times" if self._repeats > 1 else ""
            self._console.print(Text(f"      the same again{times}", style="yellow"))
        self._trouble, self._repeats = "", 0

    def _print_outcome(self, event: Happened, decision: Decision) -> None:
        outcome, action = event.outcome, dict(enumerate(decision.actions)).get(event.index)
        number, goal = (str(event.step), decision.next_goal) if event.index == 0 else ("", "")
        is_done, is_void, is_end = outcome.status == "done", lacks_effect(action, outcome), gives_up(action)
        sign, style = ("✓", "green") if is_done and not is_end else ("✗", "red")
        if is_done and decision.author in ("steps", "replay") and goal.startswith((LOOK_AGAIN, LOOK_AGAIN_IN_REPLAY)):
            sign, style = "·", "dim"
        if is_void:
            sign, style = "·", "yellow"
        if outcome.status == "partial":
            sign, style = "◐", "yellow"
        if outcome.refusal == "dry_run":
            sign, style = "·", "dim"
        became = str(outcome.effect or outcome.refusal or outcome.status).replace("_", " ")
        if outcome.status == "partial":
            became = "taken back" if outcome.refusal == "taken_back" else "partial"
        if is_end and outcome.effect == "finished":
            became = "not done"
        lost = not_kept_in(outcome.changes)
        if lost and outcome.effect == "download":
            became = "not kept"
        if is_done and text_came(action, outcome):
            became = "the text shows"
        # In the order in which it happened: the marks are those of the look that the action was decided on.
        result = f"saw {counted(self._marks, 'mark')}, {became}" if event.index == 0 else became
        more = [failed_answer_in(outcome.changes)]
        if goal and self._note is not None and (note := self._note(event.step)):
            result = f"{became}, {note}"
            more.insert(0, FOUND_BY.get(outcome.rung or 1, ""))
        tells_sentence = bool(goal) and (not is_done or is_void or outcome.effect == "dialog")
        if not tells_sentence:
            more += [
                held_instead_in(outcome.sentence),
                blocked_in(outcome.changes),
                lost if outcome.effect != "download" else "",
            ]
        words, meant = Text(_line(goal or outcome.sentence)), Text(self._mark_meant(decision, action) if goal else "")
        usual = _RESULT if self._note is None else _RESULT_WITH_NOTE
        room = max(24, min(70, self._console.width - 8 - usual - 2))
        words.truncate(max(room - meant.cell_len, 16), overflow="ellipsis")
        words = Text.assemble(words, meant)
        words.truncate(room, overflow="ellipsis", pad=True)
        rest = ", ".join(_line(each) for each in more if each)
        if rest and 8 + room + 2 + cell_len(f"{result}, {rest}") <= self._console.width:
            result, rest = f"{result}, {rest}", ""
        self._console.print(
            Text.assemble((f"  {number:>3} ", "dim"), (f"{sign} ", style), words, "  ", (result, "dim")),
            soft_wrap=True,
        )
        if rest:
            self._console.print(Text(f"        {rest}", style="dim"), soft_wrap=True)
        if tells_sentence:
            self._console.print(Text(f"        {_line(outcome.sentence)}", style=style))
        self._print_verdict()

    def _mark_meant(self, decision: Decision, action: Action | None) -> str:
        """The name, the row or both that a step line was taken to mean; empty if the line says just that."""
        if decision.author != "steps" or action is None or self._seen is None:
            return ""
        targets = [each for each in targets_of(action) if isinstance(each, int)]
        mark = self._seen.known_mark(targets[0]) if len(targets) == 1 else None
        if mark is None:
            return ""
        is_said = not mark.name.strip() or _words(mark.name) in _words(decision.next_goal)
        name = "" if is_said else f' "{escaped_line(cut_text(safe_name(mark.name), _LONGEST_MEANT))}"'
        beside = safe_name(longer_words_beside(mark, decision.next_goal))
        row = bracketed(escaped_line(cut_text(beside, _LONGEST_MEANT)))
        return f" →{name}{row}" if name or row else ""

    def _print_verdict(self) -> None:
        """Prints what a judge said, below the step that it judged."""
        if self._verdict is not None:
            words = {True: "it is done", False: "it is not done", None: "nobody could tell"}[self._verdict.done]
            text = f"      {self._verdict.model} judges: {words}. {_line(self._verdict.reason)}"
            self._console.print(Text(text, style="green" if self._verdict.done else "yellow"))
        self._verdict = None

    def _show_activity(self, doing: str) -> None:
        if not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status(Text(doing))
            self._status.start()
        else:
            self._status.update(Text(doing))


def _words(text: str) -> str:
    """The words of a text between spaces, so that whole ones are looked for; its signs if it has none."""
    words = re.findall(r"\w+", text.casefold()) or text.split()
    return f" {' '.join(words)} "


def _line(text: str) -> str:
    return escaped_line(cut_text(text, _LONGEST))


def path_from_here(path: Path) -> str:
    """The path, relative to the current folder if it is in there."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def print_whole(console: Console, label: str, fact: str) -> None:
    """Prints a labelled fact without line breaks, so that it can be copied."""
    console.print(Text.assemble((f"  {label:9}", "dim"), fact), soft_wrap=True)


def found_facts(console: Console, reads: Sequence[str], files: Sequence[Path]) -> list[tuple[str, str | Path]]:
    """What a run read, each text cut to one line, and the files that it downloaded, as facts to print."""
    room = max(_LEAST_READ, console.width - 12)
    facts: list[tuple[str, str | Path]] = [("read", _cut_line(text, room)) for text in reads[-_MOST_FOUND:]]
    if (more := len(reads) - _MOST_FOUND) > 0:
        facts.insert(0, ("read", f"{counted(more, 'earlier text')}, in the report"))
    facts += [("download", file) for file in files[-_MOST_FOUND:]]
    if (more := len(files) - _MOST_FOUND) > 0:
        facts.append(("download", f"and {more} more in that folder"))
    return facts


def _cut_line(text: str, longest: int) -> str:
    """The text on one line, its lines apart, and cut."""
    lines = (line.strip() for line in text[: longest * 10].splitlines())
    return cut_text(_line(" / ".join(filter(None, lines))), longest)


def print_facts(console: Console, *facts: tuple[str, str | Text | Path | None]) -> None:
    """Prints labelled facts about a run, one per line; paths are not broken, so that they can be copied."""
    if any(fact for _, fact in facts):
        console.print()
    for label, fact in facts:
        if isinstance(fact, Path):
            print_whole(console, label, path_from_here(fact))
        elif fact:
            line = Table.grid(padding=(0, 1, 0, 0))
            line.add_column(style="dim", width=10)
            line.add_column(overflow="fold")
            line.add_row(f"  {label}", fact)
            console.print(line)
