"""What the report shows, as its templates get it: values and words, without markup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vision_agent.actions import Point
from vision_agent.describe.action_sentences import FOUND_BY
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.record.crops import CropPair
from vision_agent.record.embedded_images import EmbeddedImage
from vision_agent.record.read import Chain, Turn
from vision_agent.types import Author, Outcome


@dataclass(frozen=True)
class Status:
    """How a step or an action went, as a sign and a word: readable without colour."""

    sign: str
    word: str


STATUSES = {
    "ok": Status("✓", "ok"),
    "warned": Status("!", "warning"),
    "failed": Status("✕", "failed"),
    "skipped": Status("–", "not reached"),
}
"""By the state of a step or an action."""
_TEXT_OF: dict[Author, str] = {
    "model": "text of the model",
    "human": "text of the person",
    "steps": "text of the line",
    "scripted": "text of the script",
    "replay": "text of the record",
    "memory": "text of an earlier run",
    "client": "text of the client",
}
"""By who decided the action, what it is that gave the page a text."""


@dataclass(frozen=True)
class MarkView:
    """A mark's box in picture pixels, and its tooltip."""

    number: int
    box: Box
    tip: dict[str, object]


@dataclass(frozen=True)
class TargetView:
    """An action's target, in picture pixels."""

    order: int
    failed: bool
    box: Box | None
    point: Point | None
    is_reference: bool = False
    """Whether it is the correct target from the reference, not the action's own."""


@dataclass(frozen=True)
class ActionView:
    """An action in words, with its outcome."""

    words: tuple[str | ChipView, ...]
    outcome: Outcome | None
    state: str
    reason: str
    """What the refusal means; empty if the action was not refused."""
    crops: tuple[CropPair, ...] = ()
    """What is around its targets before and after the step."""
    author: Author = "model"
    """Who decided it."""

    @property
    def found_by(self) -> str:
        """How the target was found; empty if it was the live element that was seen."""
        return FOUND_BY.get(self.outcome.rung or 1, "") if self.outcome else ""

    @property
    def text_from(self) -> str:
        """Where the text comes from that the action gave to the page; empty if it gave none, or the task's."""
        origin = self.outcome.origin if self.outcome else None
        if origin is None or origin.source in ("task", "secret"):
            return ""
        if origin.source == "page":
            return f"text seen on {origin.host or 'a page'}"
        return _TEXT_OF.get(self.author, "")

    @property
    def text(self) -> str:
        """The action in words, without links."""
        return " ".join(str(word) for word in self.words)


@dataclass(frozen=True)
class ChipView:
    """A target inside the words of an action."""

    number: int | None
    name: str

    def __str__(self) -> str:
        return f"{self.number or ''} {self.name}".strip()


@dataclass(frozen=True)
class AfterView:
    """The page after the step: the next step's clean picture."""

    step: int | str
    """The step that looked at it, or `end`."""
    changed: Box | None
    """The changed area, in picture pixels."""


@dataclass(frozen=True)
class EndView:
    """The page after the last act of a run, where no step looked at it."""

    seen: Observation | None
    problem: str
    """Why it could not be observed."""
    marked: EmbeddedImage | None
    clean: EmbeddedImage | None
    marks: tuple[MarkView, ...]


@dataclass(frozen=True)
class PlaceView:
    """A page state in the graph: where it is, and a small picture of it."""

    title: str
    url: str
    small: str
    """The picture's URI; empty if it cannot be shown."""


@dataclass(frozen=True)
class StepView:
    """One step as the report shows it."""

    turn: Turn
    state: str
    offset_s: float | None
    acts: tuple[ActionView, ...]
    marked: EmbeddedImage | None
    clean: EmbeddedImage | None
    marks: tuple[MarkView, ...]
    aims: tuple[TargetView, ...]
    after: AfterView | None

    @property
    def status(self) -> Status:
        """The state as a sign and a word."""
        return STATUSES[self.state]

    @property
    def title(self) -> str:
        """The goal of the step, or else its actions."""
        decision = self.turn.decision
        return (decision.next_goal if decision else "") or "; ".join(act.text for act in self.acts) or "No decision"

    @property
    def short(self) -> str:
        """The actions of the step in words."""
        return "; ".join(act.text for act in self.acts) or "No decision"


@dataclass(frozen=True)
class RunHeader:
    """The header of the report."""

    verdict: str
    state: str
    sentence: str
    why_done: str
    """Why it counts as done; empty if it does not."""
    had_to_hold: tuple[str, ...]
    """What its task had checked if it is not done."""
    decided_by: str
    judged_by: str
    """Empty if no judge was asked."""
    seconds: float
    """From its beginning to the last line of its record: with opening the browser, and with what lay between if it was
    resumed."""
    resumed_at: tuple[datetime, ...]
    """When the run was resumed after interruptions."""
    done: int
    partial: int
    refused: int
    right: int
    wrong: int
    """Wrong answers about recorded pages, on which nothing is executed."""
    tokens: int | None
    cost_usd: float | None
    chain: Chain
