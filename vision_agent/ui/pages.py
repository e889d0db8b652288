"""Renders the pages as HTML. Everything that comes from a run is data, and is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment

from vision_agent.describe.action_sentences import counted
from vision_agent.errors import RecordError, VisionAgentError
from vision_agent.models.providers import PROVIDERS
from vision_agent.record.glance import Glance, GlancedStep
from vision_agent.record.report import environment
from vision_agent.record.run_list import FAILED, ListedRun, is_failed
from vision_agent.record.verify import Verified
from vision_agent.text.escape import cut_text, terminal_text
from vision_agent.text.urls import shown_address
from vision_agent.types import Task
from vision_agent.ui.children import Child
from vision_agent.ui.shelf import RunFilter, Shelf, key_of
from vision_agent.ui.words import (
    ALL_FAILED,
    RESUMABLE,
    STATUS_WORDS,
    StatusWords,
    bytes_words,
    clock_words,
    cost_words,
    day_words,
    decider_words,
    status_of,
)

TEMPLATES = Path(__file__).parent / "templates"
MOST_LISTED = 24
"""Runs on one page."""
_EXAMPLES = tuple(f"{each.name}:{each.example}" for each in PROVIDERS.values())
_MOST_CHOICES = 200
"""Hosts or models that are offered to filter by."""
_LONGEST = 600
"""Characters of a goal or a sentence in a list."""


@dataclass(frozen=True)
class RunCard:
    """A run in the list."""

    key: str
    name: str
    goal: str
    status: StatusWords
    is_running: bool
    has_ended: bool
    sentence: str
    host: str
    decider: str
    clock: str
    at: datetime
    seconds: float | None
    steps: int | None
    cost: str
    picture: str
    """The hash of its last picture; empty without one."""
    is_asked: bool = False


@dataclass(frozen=True)
class DayOfRuns:
    """The runs of one day."""

    title: str
    cards: list[RunCard]


@dataclass(frozen=True)
class RunView:
    """Everything that the page of one run shows."""

    card: RunCard
    folder: Path
    task: Task | None
    steps: tuple[GlancedStep, ...]
    chosen: GlancedStep | None
    follows: bool
    """Whether the last step is shown, whichever that is."""
    tokens: int
    started: str
    replayed: str
    fault: str
    child: Child | None

    @property
    def is_alive(self) -> bool:
        """Whether a process of ours has it, which goes on for a moment after the run has ended."""
        return self.child is not None and self.child.is_running

    @property
    def can_stop(self) -> bool:
        """Whether it goes on, or is about to, in a process of ours."""
        return self.is_alive and (self.is_starting or not self.card.has_ended)

    @property
    def told(self) -> str:
        """The error that its process ended with, unless the ending says so already."""
        fault = self.child.fault if self.child is not None else ""
        ending = self.card.sentence.removesuffix(".").removesuffix("…")
        return "" if ending and ending in fault else fault

    @property
    def is_starting(self) -> bool:
        """Whether it is about to go on: its process has recorded nothing yet."""
        recorded_at = self.card.at + timedelta(seconds=self.card.seconds or 0)
        return self.is_alive and self.child is not None and recorded_at < self.child.started_at

    @property
    def can_resume(self) -> bool:
        """Whether it may be resumed."""
        return self.card.status in [status_of(each) for each in RESUMABLE] and not self.is_alive


class Pages:
    """Renders pages, each with links below the first part of the addresses."""

    def __init__(self, shelf: Shelf, base: str, form_key: str, model: str) -> None:
        self._shelf = shelf
        self._base = base
        self._form_key = form_key
        self._model = model
        """The model of the settings, which decides if none is named."""

    def enter(self) -> str:
        """What leads from the address with the token to the page."""
        return self._render("enter")

    def runs(
        self,
        runs: Sequence[ListedRun],
        found: Sequence[ListedRun],
        wanted: RunFilter,
        asked: Mapping[str, str],
        page: int,
        starting: Sequence[Child],
        now: datetime,
    ) -> str:
        """The list: `found` of all `runs`, with those that are `starting`."""
        last = max(1, -(-len(found) // MOST_LISTED))
        page = min(page, last)
        cards = [self.card(run) for run in found[(page - 1) * MOST_LISTED : page * MOST_LISTED]]
        days: list[DayOfRuns] = []
        today = now.astimezone().date()
        for card in cards:
            title = day_words(card.at.astimezone().date(), today)
            if not days or days[-1].title != title:
                days.append(DayOfRuns(title, []))
            days[-1].cards.append(card)
        counts: Counter[str] = Counter(run.status for run in runs)
        return self._render(
            "runs",
            days=days,
            many=len(found),
            total=len(runs),
            filter=wanted,
            asked=asked,
            statuses=_statuses(counts),
            hosts=_choices(run.host for run in runs),
            models=[(each, decider_words(each)) for each in _choices(run.model for run in runs)],
            page=page,
            last=last,
            link=lambda **changes: self._link(asked, **changes),
            starting=starting,
        )

    def run(self, view: RunView) -> str:
        """One run."""
        return self._render("run", view=view)

    def starting(self, child: Child, key: str) -> str:
        """A run whose folder is not there."""
        return self._render("starting", child=child, key_of_run=key)

    def form(self, kind: str, values: Mapping[str, str], faults: Mapping[str, str], **more: Any) -> str:
        """The form that starts, resumes or replays a run."""
        return self._render(kind, values=values, faults=faults, models=_EXAMPLES, default=self._model, **more)

    def deletion(self, runs: Sequence[tuple[ListedRun, int, int]], kept: Sequence[ListedRun], why: str) -> str:
        """Asks whether these runs may be deleted; `kept` are going and stay."""
        return self._render(
            "delete",
            runs=[(self.card(run, is_named_only=True), files, bytes_words(size)) for run, files, size in runs],
            kept=[self.card(run, is_named_only=True) for run in kept],
            why=why,
            total=bytes_words(sum(size for _, _, size in runs)),
        )

    def verified(self, card: RunCard, found: Verified) -> str:
        """What verifying a record found."""
        return self._render("verify", card=card, found=found)

    def view(self, title: str, address: str, back: str) -> str:
        """A report or a comparison, framed."""
        return self._render("view", title=title, address=address, back=back)

    def message(self, title: str, sentence: str, details: Sequence[str] = ()) -> str:
        """A page that says one thing."""
        return self._render("message", title=title, sentence=sentence, details=details)

    def card(self, run: ListedRun, *, is_named_only: bool = False) -> RunCard:
        """A run for the list; what cannot be read of it is left out, and its steps if it is only to be named."""
        known: Glance | None = None
        sentence = run.sentence
        try:
            known = None if is_named_only else self._shelf.glance(run.folder)
        except RecordError as error:
            sentence = sentence or error.sentence
        picture = known.last_picture if known is not None else None
        return RunCard(
            key=key_of(run.folder),
            name=_line(run.folder.name),
            goal=_line(run.goal) or "(no goal)",
            status=status_of(run.status),
            is_running=run.status == "running",
            has_ended=run.status not in ("running", "unfinished", "unreadable"),
            sentence=_line(sentence.replace(f"{run.folder}/", "")),
            host=_line(run.host),
            decider=_line(decider_words(run.model)),
            clock=clock_words(run.started_at),
            at=run.started_at,
            seconds=run.seconds,
            steps=known.decided if known is not None else None,
            cost=cost_words(known.cost_usd, known.tokens) if known is not None else "",
            picture=picture.sha256 if picture is not None else "",
            is_asked=bool(known and known.steps and known.steps[-1].is_asked and run.status == "running"),
        )

    def run_view(self, run: ListedRun, step: int | None, child: Child | None) -> RunView:
        """What the page of a run shows, at one of its steps or at the last one."""
        card, fault, known = self.card(run), "", None
        try:
            known = self._shelf.glance(run.folder)
        except VisionAgentError as error:
            fault = error.sentence
        steps = known.steps if known is not None else ()
        chosen = next((each for each in steps if each.index == step and each.clean is not None), None)
        return RunView(
            card=card,
            folder=run.folder,
            task=known.run.task if known is not None else None,
            steps=steps,
            chosen=chosen or (known.last_seen if known is not None else None),
            follows=chosen is None,
            tokens=known.tokens if known is not None else 0,
            started=f"{run.started_at.astimezone():%Y-%m-%d %H:%M}",
            replayed=known.run.provenance.replayed if known is not None else "",
            fault=fault,
            child=child,
        )

    def _link(self, asked: Mapping[str, str], **changes: str | int | None) -> str:
        """The address of the list as it is asked for, with these changes."""
        merged = {**asked, **changes}
        kept = {name: value for name, value in merged.items() if value not in ("", None, 1)}
        return f"{self._base}/" + (f"?{urlencode(kept)}" if kept else "")

    def _render(self, name: str, **values: Any) -> str:
        return (
            _templates()
            .get_template(f"{name}.html.j2")
            .render(base=self._base, key=self._form_key, folder=_line(str(self._shelf.folder)), **values)
        )


@cache
def _templates() -> Environment:
    found = environment(TEMPLATES)
    found.filters.update(line=_line, printable=terminal_text, address=shown_address, count=counted)
    return found


def _statuses(counts: Counter[str]) -> list[tuple[str, StatusWords, int]]:
    """The statuses to choose from, with their words and numbers of runs; together those that failed, if several."""
    each_one = [(status, words, counts[status]) for status, words in STATUS_WORDS.items() if counts[status]]
    failed = [many for status, _, many in each_one if is_failed(status)]
    return [*each_one, (FAILED, ALL_FAILED, sum(failed))] if len(failed) > 1 else each_one


def _choices(values: Any) -> list[str]:
    """The values that occur, most often first; an empty one is no choice."""
    return [value for value, _ in Counter(value for value in values if value).most_common(_MOST_CHOICES)]


def _line(text: str) -> str:
    """A text from outside, as it may stand in a page: not too long, without what a reader cannot see."""
    return terminal_text(cut_text(text, _LONGEST))
