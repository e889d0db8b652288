"""Shows the progress of an evaluation in a terminal: its rate, its cost and the time left."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from vision_agent.evals.items import ItemResult


class EvalProgress(AbstractContextManager["EvalProgress"]):
    """Shows a bar in a terminal, otherwise a line for each item. Call it with each result."""

    def __init__(self, console: Console, items: int, known: int) -> None:
        self._console = console
        self._items = items
        self._known = known
        """Items with a result from an earlier command, which say nothing about the time left."""
        self._results = 0
        self._passed = 0
        self._errors = 0
        self._cost: float | None = 0.0
        self._began = time.monotonic()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[summary]}"))
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=items, summary="")

    def __enter__(self) -> Self:
        if self._known:
            text = f"{self._known} of {self._items} items already have a result"
            self._console.print(text, style="dim", highlight=False)
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, result: ItemResult) -> None:
        """Count one result and show it."""
        self._results += 1
        self._passed += bool(result.passed)
        self._errors += bool(result.error)
        spent = result.figures.cost_usd if result.figures else 0.0
        self._cost = None if self._cost is None or spent is None else self._cost + spent
        is_new = self._results > self._known
        if is_new and (result.error or not self._console.is_terminal):
            self._line(result)
        self._bar.update(self._task, advance=1, summary=self.summary)

    @property
    def summary(self) -> str:
        """The state in a few words."""
        new = self._results - self._known
        seconds = time.monotonic() - self._began
        parts = [f"{self._passed} passed"]
        parts += [f"{self._errors} errors"] if self._errors else []
        parts += ["unknown cost"] if self._cost is None else [f"${self._cost:.2f}"] if self._cost else []
        if new and seconds:
            left = (self._items - self._results) * seconds / new
            parts += [f"{60 * new / seconds:.1f} a minute", f"{_clock(left)} left"]
        return ", ".join(parts)

    def _line(self, result: ItemResult) -> None:
        item = result.item
        signs = {True: ("✓", "green"), False: ("✗", "yellow"), None: ("?", "dim")}
        sign, style = ("!", "red") if result.error else signs[result.passed]
        line = Text.assemble(
            (f"{sign} ", style),
            f"{item.task} seed {item.seed} {item.model}",
            (f"  {result.error or result.sentence}", style if result.error else "dim"),
        )
        self._console.print(line, soft_wrap=True)
        if not self._console.is_terminal:
            text = f"  {self._results} of {self._items}: {self.summary}"
            self._console.print(Text(text, style="dim"), soft_wrap=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
