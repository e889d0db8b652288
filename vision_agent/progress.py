"""Says on a terminal what a run does while it does it. Reads events; knows nothing of how they come about."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from vision_agent.actions import Action, Point
from vision_agent.types import (
    Decided,
    Ended,
    Event,
    Happened,
    Intended,
    Observation,
    Observed,
    Outcome,
    Started,
    Troubled,
)


class Progress:
    """A listener for `Agent(on_event=…)`: a line for each thing decided and done, and what is going on meanwhile."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._seen: Observation | None = None

    def __call__(self, event: Event) -> None:
        """Tell of one event."""
        match event:
            case Started():
                self._now("opening the page")
            case Observed():
                self._seen = event.observation
                self._now(f"step {event.step}: deciding")
            case Decided():
                if event.decision.next_goal:
                    self._console.print(
                        f"[bold]{event.step:>3}[/]  {escape(event.decision.next_goal)}", highlight=False
                    )
            case Intended():
                self._now(f"step {event.step}: {words_of(event.action, self._seen)}")
            case Happened():
                self._console.print(self._line(event.step, event.outcome), highlight=False)
                self._now("looking")
            case Troubled():
                self._console.print(f"[yellow]     {escape(event.sentence)}[/]", highlight=False)
            case Ended():
                self.stop()

    def stop(self) -> None:
        """Take the moving line off the terminal."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _line(self, step: int, outcome: Outcome) -> str:
        sign, style = ("✓", "green") if outcome.status == "done" else ("✗", "red")
        if outcome.effect == "no_effect":
            sign, style = "·", "yellow"
        return f"[dim]{step:>3}[/]  [{style}]{sign}[/] {escape(outcome.sentence)}"

    def _now(self, doing: str) -> None:
        if not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status(escape(doing))
            self._status.start()
        else:
            self._status.update(escape(doing))


def words_of(action: Action, seen: Observation | None) -> str:
    """An action in a few words, with the names of the marks it touches: `click [12] Add to cart`."""
    said = [action.kind]
    for field in ("source", "target"):
        target = getattr(action, field, None)
        if isinstance(target, Point):
            said.append(f"({target.x:g}, {target.y:g})")
        elif target is not None:
            mark = seen.mark(target) if seen else None
            said.append(f"[{target}]" + (f" {mark.name[:40]}" if mark and mark.name else ""))
    for field in ("text", "keys", "url", "direction", "question", "answer"):
        if text := getattr(action, field, None):
            said.append(f"“{text[:60]}”")
    return " ".join(said)
