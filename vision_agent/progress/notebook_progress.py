"""Shows the progress of a run in a notebook: one card that is updated with each event."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Happened,
    LastLook,
    Observed,
    Proposed,
    Resumed,
    Started,
    Troubled,
    Warned,
)
from vision_agent.observation import Observation
from vision_agent.text import notebook_html as notebook
from vision_agent.text.notebook_html import CardPicture, Sign
from vision_agent.types import Decision

_MOST_ROWS = 12
"""Actions in the card, the last ones."""


def is_notebook() -> bool:
    """Whether this code runs in a notebook that can show HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class NotebookProgress:
    """A listener for the events of one run, which it is given without secrets."""

    def __init__(self) -> None:
        self._display: Any = import_module("IPython.display")
        self._handle: Any = None
        self._goal = ""
        self._sign = Sign("none", "opening the page")
        self._rows: list[tuple[str, Sign, str]] = []
        self._decision = Decision(author="loop")
        self._seen: Observation | None = None

    def __call__(self, event: Event) -> None:
        """Shows what an event tells."""
        match event:
            case Started(run=run):
                self._goal = run.task.goal
            case Resumed():
                self._goal = self._goal or "The run goes on"
            case Observed(observation=seen):
                self._seen, self._sign = seen, Sign("none", "deciding")
            case LastLook(observation=seen) if seen is not None:
                self._seen = seen
            case Proposed():
                self._sign = Sign("mixed", "waiting for a person")
            case Decided(decision=decision):
                self._decision, self._sign = decision, Sign("none", decision.next_goal or "acting")
            case Happened(step=step, outcome=outcome):
                sign = notebook.outcome_sign(outcome.status, outcome.effect, outcome.refusal)
                self._rows.append((str(step), sign, self._decision.next_goal or outcome.sentence))
            case Troubled(step=step, sentence=sentence):
                self._rows.append((str(step), Sign("mixed", "trouble"), sentence))
            case Warned(sentence=sentence):
                self._rows.append(("", Sign("mixed", "warning"), sentence))
            case Ended(ending=ending):
                tone = "good" if ending.exit_code == 0 else "bad"
                self._sign = Sign(tone, f"{ending.status.replace('_', ' ')}: {ending.sentence}")
            case _:
                return
        self._show()

    def _show(self) -> None:
        shot = self._seen.marked if self._seen is not None else None
        picture = None
        if shot is not None and shot.data is not None and self._seen is not None:
            picture = CardPicture(shot.media_type, shot.data, f"{len(self._seen.marks)} marks")
        html = self._display.HTML(notebook.card_html(self._goal, self._sign, (), self._rows[-_MOST_ROWS:], picture))
        if self._handle is None:
            self._handle = self._display.display(html, display_id=True)
        else:
            self._handle.update(html)
