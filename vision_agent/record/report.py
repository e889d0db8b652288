"""Owns the report: one HTML file that shows a run to a person, opens from disk and asks the network for nothing.

It reads the run folder and nothing else, so it can be made again at any time, also of a run that failed or was cut
off. Everything that came from a page is data: escaped in the HTML, inert in the script, held in by a content security
policy that names the one script and the one style by their hashes. What it looks like stands in `templates`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from vision_agent import budget
from vision_agent.actions import Action, Cell, Finish, Infeasible, Point, Target, mark_in, targets_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Graded, Resumed
from vision_agent.phrases import PARTIAL, REASONS, name_of, phrase_of
from vision_agent.record.album import Album, Picture
from vision_agent.record.read import (
    FOR_GOOD,
    Chain,
    Line,
    Turn,
    assemble,
    check_chain,
    load_shot,
    read_about,
    read_lines,
    turns,
)
from vision_agent.record.said import said_to
from vision_agent.record.store import write_whole
from vision_agent.standstill import states_of
from vision_agent.types import CAME_TO_NOTHING, Box, Decision, Mark, Observation, Outcome, Run
from vision_agent.vision.compare import changed_box
from vision_agent.vision.picture import Picture as VisionPicture

REPORT = "report.html"
TEMPLATES = Path(__file__).parent / "templates"


def write_report(folder: Path, *, holds_pictures: bool = True) -> Path:
    """The path of the report just written into the run folder.

    Args:
        holds_pictures: whether it can be taken out of the folder; else it shows those that are there.

    Raises:
        RecordError: the folder cannot be read, or the report cannot be written.
    """
    path = folder / REPORT
    write_whole(path, render(folder, holds_pictures=holds_pictures).encode("utf-8", "replace"), over=True)
    return path


def write_named(path: Path, html: str) -> Path:
    """The page just written to a file that a person named.

    Raises:
        UsageError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, html.encode("utf-8", "replace"), over=True)
    except (OSError, RecordError) as error:
        why = error.strerror if isinstance(error, OSError) else error.sentence
        raise UsageError(f"{path} cannot be written: {why}", "name another file with --html") from error
    return path


def render(folder: Path, *, holds_pictures: bool = True) -> str:
    """The report as HTML."""
    lines = read_lines(folder)
    run = assemble(read_about(folder), (line.event for line in lines))
    told = list(turns(line.event for line in lines))
    album = Album.of(folder, [turn.observation for turn in told if turn.observation], is_beside=not holds_pictures)
    views = [_view(turn, then, album, run) for turn, then in zip(told, [*told[1:], None], strict=False)]
    looked = [(view.turn.index, view.turn.observation) for view in views if view.turn.observation]
    states = dict(zip([at for at, _ in looked], states_of([seen for _, seen in looked]), strict=True))
    # Both are our own files, and their hashes in the policy keep every other style and script out.
    style, script = (Markup((TEMPLATES / name).read_text("utf-8")) for name in ("report.css", "report.js"))
    page = environment().get_template("report.html.j2")
    return page.render(
        run=run,
        summary=_summary(run, lines, views, check_chain(folder)),
        pictures=[(picture.caption, album.picture(picture.shot)) for picture in run.task.pictures],
        views=views,
        problems=_problems(views),
        said_to=said_to(folder, [(turn.index, turn.decision) for turn in told if turn.decision]),
        is_compressed=album.is_compressed,
        is_beside=album.is_beside,
        traces=[path.name for path in sorted(folder.glob("trace*.zip"))] if _is_traced(run) else None,
        states=states,
        tips={view.turn.index: {drawn.number: drawn.tip for drawn in view.marks} for view in views},
        style=style,
        script=script,
        policy=policy(style, script, f"data: {BESIDE}" if album.is_beside else "data:"),
    )


def _is_traced(run: Run) -> bool:
    return bool(run.provenance.settings.get("browser", {}).get("trace"))


# --- what the page shows, put together --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A mark's place on the picture and what pointing at it tells."""

    number: int
    box: Box
    tip: dict[str, object]


@dataclass(frozen=True)
class Aim:
    """What an action aimed at, in picture coordinates."""

    order: int
    failed: bool
    box: Box | None
    point: Point | None
    is_reference: bool = False
    """Not aimed at, but right."""


@dataclass(frozen=True)
class Act:
    """An action in words, and what came of it."""

    words: tuple[str | Chip, ...]
    outcome: Outcome | None
    state: str
    reason: str
    """What it means that it was refused; empty where it was not."""

    @property
    def text(self) -> str:
        return " ".join(str(word) for word in self.words)


@dataclass(frozen=True)
class Chip:
    """A target as the words show it."""

    number: int | None
    name: str

    def __str__(self) -> str:
        return f"{self.number or ''} {self.name}".strip()


@dataclass(frozen=True)
class After:
    """How the page looked when all was done: the next step's clean picture."""

    step: int
    changed: Box | None
    """What differs, in picture coordinates."""


@dataclass(frozen=True)
class View:
    """One step as the page shows it."""

    turn: Turn
    state: str
    offset_s: float | None
    acts: tuple[Act, ...]
    marked: Picture | None
    clean: Picture | None
    marks: tuple[Drawn, ...]
    aims: tuple[Aim, ...]
    after: After | None

    @property
    def title(self) -> str:
        decision = self.turn.decision
        return (decision.next_goal if decision else "") or "; ".join(act.text for act in self.acts) or "No decision"

    @property
    def short(self) -> str:
        return "; ".join(act.text for act in self.acts) or "No decision"


@dataclass(frozen=True)
class Summary:
    """The head of the page."""

    verdict: str
    state: str
    sentence: str
    decided_by: str
    judged_by: str
    """Empty where nobody was asked."""
    seconds: float
    went_on: tuple[datetime, ...]
    """When it was taken up again after it had been cut off."""
    done: int
    partial: int
    refused: int
    right: int
    wrong: int
    """Answers about recorded pages, to which nothing was done."""
    tokens: int | None
    cost_usd: float | None
    chain: Chain


_VERDICTS = {
    "done": ("Done", "ok"),
    "not_done": ("Not done", "failed"),
    "infeasible": ("Cannot be done", "failed"),
    "limit": ("Stopped at a limit", "warned"),
    "needs_person": ("Needs a person", "warned"),
    "unavailable": ("Browser or model unavailable", "failed"),
    "error": ("Ended by an error", "failed"),
    "interrupted": ("Interrupted", "warned"),
    "dry_run": ("Dry run", "ok"),
}


def _summary(run: Run, lines: Sequence[Line], views: Sequence[View], chain: Chain) -> Summary:
    verdict, state = _VERDICTS[run.ending.status] if run.ending else ("No ending", "warned")
    outcomes = [outcome for view in views for outcome in view.turn.outcomes.values()]
    decisions = [view.turn.decision for view in views if view.turn.decision]
    usages = [usage for view in views for usage in view.turn.usages]
    grades = [view.turn.graded.is_right for view in views if view.turn.graded]
    tokens, cost_usd = budget.cost_of(usages)
    if grades and run.ending and run.ending.status in FOR_GOOD:
        verdict = "All right" if all(grades) else "Not all right" if any(grades) else "Wrong"
    return Summary(
        verdict=verdict,
        state=state,
        sentence=run.ending.sentence if run.ending else "The record stops here: still running, or cut off.",
        decided_by=_decided_by(run, decisions),
        judged_by=", ".join(dict.fromkeys(view.turn.verdict.model for view in views if view.turn.verdict)),
        seconds=(lines[-1].at - run.started_at).total_seconds() if lines else 0.0,
        went_on=tuple(line.at for line in lines if isinstance(line.event, Resumed)),
        done=sum(outcome.status == "done" for outcome in outcomes),
        partial=sum(outcome.status == "partial" for outcome in outcomes),
        refused=sum(outcome.status == "refused" and outcome.refusal != "not_reached" for outcome in outcomes),
        right=sum(grades),
        wrong=len(grades) - sum(grades),
        tokens=tokens if usages else None,
        cost_usd=cost_usd,
        chain=chain,
    )


_AUTHORS = {
    "steps": "No model: step lines",
    "human": "No model: a person",
    "scripted": "No model: scripted decisions",
    "replay": "No model: recorded decisions",
    "memory": "No model: memory",
    "loop": "No model: the loop itself",
}


def _decided_by(run: Run, decisions: Sequence[Decision]) -> str:
    named = dict.fromkeys(
        decision.model or "a model" if decision.author == "model" else _AUTHORS[decision.author]
        for decision in decisions
    )
    nobody = _AUTHORS.get(run.provenance.model, run.provenance.model or "nobody yet")
    return ", ".join(named) or nobody


def _view(turn: Turn, then: Turn | None, album: Album, run: Run) -> View:
    seen = turn.observation
    actions = turn.decision.actions if turn.decision else tuple(turn.intended.values())
    acts = tuple(_act(action, turn.outcomes.get(i), seen, turn.graded) for i, action in enumerate(actions))
    return View(
        turn=turn,
        state=_state(turn, acts),
        offset_s=_offset(turn.started_at, run.started_at),
        acts=acts,
        marked=album.picture(seen.marked) if seen else None,
        clean=album.picture(seen.clean) if seen else None,
        marks=_drawn(seen) if seen else (),
        aims=(*_right(turn.graded, seen), *_aims(actions, turn, seen)) if seen else (),
        # What came after a recorded page came of what was done then, and not of the answer.
        after=_after(seen, then, album) if seen and then and not turn.graded else None,
    )


def _after(seen: Observation, then: Turn, album: Album) -> After | None:
    """None where the two pictures do not show the same place."""
    now = then.observation
    if now is None or (now.clean.size, now.clean.map) != (seen.clean.size, seen.clean.map):
        return None
    if now.clean.sha256 == seen.clean.sha256:
        return After(then.index, None)
    try:
        old, new = (VisionPicture.of(load_shot(album.folder, each)) for each in (seen.clean, now.clean))
    except (RecordError, UsageError):
        return None
    changed = changed_box(old, new, old.page)
    return After(then.index, changed and seen.clean.map.box_to_picture(changed))


def _problems(views: Sequence[View]) -> list[tuple[int, str, str]]:
    """Step, state and why of each that did not go as it was meant, those that failed first."""
    found = [(view.turn.index, view.state, _problem(view)) for view in views if view.state != "ok"]
    return sorted(found, key=lambda each: each[1] != "failed")


def _problem(view: View) -> str:
    if view.state == "failed" and view.turn.graded:
        return view.turn.graded.sentence
    if view.turn.troubles:
        return view.turn.troubles[0]
    bad = next((act for act in view.acts if act.state in ("failed", "warned")), None)
    return bad.outcome.sentence if bad and bad.outcome else "it was not finished"


def _state(turn: Turn, acts: Sequence[Act]) -> str:
    if any(act.state == "failed" for act in acts) or (turn.graded and not turn.graded.is_right):
        return "failed"
    if turn.troubles or turn.seconds is None or any(act.state == "warned" for act in acts):
        return "warned"
    return "ok"


def _offset(at: datetime | None, start: datetime) -> float | None:
    return (at - start).total_seconds() if at else None


def _act(action: Action, outcome: Outcome | None, seen: Observation | None, graded: Graded | None) -> Act:
    words = tuple(_chip(word, seen) if isinstance(word, int | Cell | Point) else word for word in phrase_of(action))
    # Of a recorded page the head says it once for all steps.
    reason = REASONS[outcome.refusal] if outcome and outcome.refusal and graded is None else ""
    if outcome and outcome.status == "partial":
        reason = PARTIAL
    return Act(words=words, outcome=outcome, state=_act_state(outcome, graded), reason=reason)


def _act_state(outcome: Outcome | None, graded: Graded | None) -> str:
    if outcome is None:
        return "warned"
    if graded is not None:
        return "ok" if graded.is_right else "failed"
    if outcome.refusal == "not_reached":
        return "skipped"
    if outcome.refusal == "dry_run":
        return "warned"
    if outcome.status == "refused":
        return "failed"
    return "warned" if outcome.status == "partial" or outcome.effect in CAME_TO_NOTHING else "ok"


def _chip(target: Target, seen: Observation | None) -> Chip:
    if isinstance(target, Point):
        return Chip(None, f"({round(target.x, 1):g}, {round(target.y, 1):g})")
    number = target.mark if isinstance(target, Cell) else target
    mark = seen.mark(number) if seen else None
    words = mark.role + name_of(mark, seen) if mark and seen else "(no such mark)"
    cell = f"row {target.row}, column {target.column} of " if isinstance(target, Cell) else ""
    return Chip(number, cell + words)


def _drawn(seen: Observation) -> tuple[Drawn, ...]:
    """Large marks first, so that a small one inside lies on top and can be pointed at."""
    by_size = sorted(seen.marks, key=lambda mark: mark.box.width * mark.box.height, reverse=True)
    lines = _listing_lines(seen.listing)
    return tuple(
        Drawn(mark.number, seen.marked.map.box_to_picture(mark.box), _tip(mark, lines.get(mark.number)))
        for mark in by_size
    )


def _tip(mark: Mark, line: str | None) -> dict[str, object]:
    place = f" in {mark.frame}" if mark.frame else ""
    sure = f", {mark.confidence:.0%} sure" if mark.confidence is not None else ""
    return {
        "line": line or f"{mark.number}[:]<{mark.tag}>{mark.name}",
        "why": list(mark.evidence),
        "about": f"{', '.join(dict.fromkeys((mark.kind, mark.role)))}{place}, from {mark.source}{sure}",
    }


def _listing_lines(listing: str) -> dict[int, str]:
    heads = ((line.partition("[:]")[0], line) for line in listing.splitlines())
    return {int(head): line for head, line in heads if head.isascii() and head.isdigit()}


def _right(graded: Graded | None, seen: Observation) -> tuple[Aim, ...]:
    """What a wrong answer should have meant."""
    boxes = graded.boxes if graded is not None and not graded.is_right else ()
    return tuple(Aim(0, False, seen.marked.map.box_to_picture(box), None, is_reference=True) for box in boxes)


def _aims(actions: Sequence[Action], turn: Turn, seen: Observation) -> tuple[Aim, ...]:
    return tuple(
        _aim(order, target, turn.outcomes.get(order), seen, turn.graded)
        for order, action in enumerate(actions)
        for target in (action.evidence if isinstance(action, Finish | Infeasible) else targets_of(action))
        if _act_state(turn.outcomes.get(order), turn.graded) != "skipped"
    )


def _aim(order: int, target: Target, outcome: Outcome | None, seen: Observation, graded: Graded | None) -> Aim:
    number = mark_in(target)
    mark = seen.mark(number) if number is not None else None
    cell = mark.grid.cell(target.row, target.column) if isinstance(target, Cell) and mark and mark.grid else None
    sent = seen.marked.map.to_picture(outcome.point) if outcome and outcome.point else None
    return Aim(
        order=order + 1,
        failed=_act_state(outcome, graded) == "failed",
        box=seen.marked.map.box_to_picture(cell or mark.box) if mark else None,
        point=sent or (target if isinstance(target, Point) else None),
    )


# --- the page ---------------------------------------------------------------------------------------------------------


def environment(templates: Path = TEMPLATES) -> Environment:
    """Where the templates are, and what they may use."""
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=_duration,
        thousands=lambda number: f"{number:,}".replace(",", "\u202f"),
        pretty=lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    )
    return environment


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


BESIDE = "'self' file:"
"""Where a page finds pictures that lie beside it, served or opened from disk."""


def policy(style: str, script: str, pictures: str = "data:") -> str:
    """Lets a page have this style and this script, pictures that it brings along (or from there), and nothing else."""

    def named(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    allowed = f"img-src {pictures}; style-src {named(style)}; script-src {named(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
