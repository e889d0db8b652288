"""Writes the report: one HTML file that shows a run, opens from disk and loads nothing from the network.

It reads only the run folder, so it can be written again at any time, also for a run that failed or was interrupted.
Everything that came from a page is data: escaped in the HTML, inert in the script, and confined by a content security
policy that allows only the report's own script and style, by hash. Its markup and style are in `templates`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from vision_agent.actions import Action, Cell, Finish, Infeasible, Point, Target, mark_in, targets_of
from vision_agent.assets import palette
from vision_agent.describe.action_sentences import (
    ENDED,
    PARTIAL,
    REASONS,
    action_phrase,
    describe_target,
    gives_up,
    lacks_effect,
)
from vision_agent.describe.completion import why_done, words_of_checks
from vision_agent.describe.deciders import deciders_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Graded, LastLook, Resumed
from vision_agent.observation import Mark, Observation, Shot
from vision_agent.policy import budget
from vision_agent.policy.stall import states_of
from vision_agent.record.crops import CropPair, DecodedLook, crop_pair
from vision_agent.record.embedded_images import Album
from vision_agent.record.model_inputs import read_model_inputs
from vision_agent.record.read import (
    FINAL_ENDINGS,
    Chain,
    RecordLine,
    Turn,
    assemble,
    check_chain,
    last_look,
    load_shot,
    read_lines,
    read_run_file,
    turns,
)
from vision_agent.record.report_views import (
    STATUSES,
    ActionView,
    AfterView,
    ChipView,
    EndView,
    MarkView,
    PlaceView,
    RunHeader,
    StepView,
    TargetView,
)
from vision_agent.record.run_files import reading
from vision_agent.record.state_graph import StateGraph, Visit, state_graph
from vision_agent.record.store import write_private, write_whole
from vision_agent.record.timeline import timeline_of
from vision_agent.types import Author, Outcome, Run
from vision_agent.vision.compare import changed_box
from vision_agent.vision.picture import Picture as VisionPicture

REPORT = "report.html"
TEMPLATES = Path(__file__).parent / "templates"
_END = "end"
"""What stands for the number of a step at the look after the last one."""
_CROPPED = 2
"""The most targets of an action that are shown cropped."""
_SMALL = 180
"""The width of a picture in the state graph, in pixels: twice that shown."""


def write_report(folder: Path, *, holds_pictures: bool = True) -> Path:
    """Writes the report into the run folder and returns its path.

    Args:
        holds_pictures: whether to embed the pictures, so that the report can be moved; otherwise it links to the
            pictures in the folder.

    Raises:
        RecordError: the folder cannot be read, or the report cannot be written.
    """
    path = folder / REPORT
    html = render(folder, holds_pictures=holds_pictures).encode("utf-8", "replace")
    write_whole(path, html, over=True, otherwise="the record is whole; vision-agent report RUN tries again")
    return path


def write_named(path: Path, html: str) -> Path:
    """Writes an HTML page to a path that a user named, and returns the path.

    Raises:
        UsageError: it cannot be written there, or there is no such folder.
    """
    try:
        write_private(path, html.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another file with --html") from error
    return path


def render(folder: Path, *, holds_pictures: bool = True) -> str:
    """The report as HTML.

    Raises:
        RecordError: the folder cannot be read.
    """
    with reading(folder):
        return _render(folder, holds_pictures=holds_pictures)


def _render(folder: Path, *, holds_pictures: bool) -> str:
    lines = read_lines(folder)
    begun = read_run_file(folder)
    run = assemble(begun, (line.event for line in lines))
    steps = list(turns(line.event for line in lines))
    last = last_look(line.event for line in lines)
    looks: list[tuple[int | str, Observation | None]] = [(turn.index, turn.observation) for turn in steps]
    looks.append((_END, last.observation if last is not None else None))
    album = Album.of(folder, [seen for _, seen in looks if seen], is_beside=not holds_pictures)
    decoded = _Decoded(folder)
    views = [_view(turn, then, album, decoded, run) for turn, then in zip(steps, looks[1:], strict=True)]
    observed = [(at, seen) for at, seen in looks if seen]
    states = dict(zip([at for at, _ in observed], states_of([seen for _, seen in observed]), strict=True))
    end = _end(last, album) if last is not None else None
    marked: dict[int | str, tuple[MarkView, ...]] = {view.turn.index: view.marks for view in views}
    marked |= {_END: end.marks} if end is not None else {}
    # Both are our own files; their hashes in the policy block every other style and script.
    style, script = report_style(), Markup((TEMPLATES / "report.js").read_text("utf-8"))
    page = environment().get_template("report.html.j2")
    return page.render(
        run=run,
        summary=_summary(run, lines, views, check_chain(folder)),
        # Those that came later are shown at the step before which they came.
        messages=[message.text for message in begun.task.messages],
        pictures=[(picture.caption, album.picture(picture.shot)) for picture in run.task.pictures],
        views=views,
        problems=_problems(views),
        timeline=timeline_of(steps),
        signs=STATUSES,
        model_inputs=read_model_inputs(folder, [(turn.index, turn.decision) for turn in steps if turn.decision]),
        is_compressed=album.is_compressed,
        is_beside=album.is_beside,
        traces=[path.name for path in sorted(folder.glob("trace*.zip"))] if _is_traced(run) else None,
        states={at: state for at, state in states.items() if at != _END},
        graph=_graph(views, states),
        places=_places(observed, states, album),
        end=end,
        tips={str(at): {drawn.number: drawn.tip for drawn in marks} for at, marks in marked.items()},
        style=style,
        script=script,
        policy=policy(style, script, f"data: {BESIDE}" if album.is_beside else "data:"),
    )


def _is_traced(run: Run) -> bool:
    return bool(run.provenance.settings.get("browser", {}).get("trace"))


STATES = {
    "done": "ok",
    "not_done": "failed",
    "infeasible": "failed",
    "limit": "warned",
    "needs_person": "warned",
    "unavailable": "failed",
    "error": "failed",
    "interrupted": "warned",
    "dry_run": "ok",
}


def _summary(run: Run, lines: Sequence[RecordLine], views: Sequence[StepView], chain: Chain) -> RunHeader:
    verdict = ENDED[run.ending.status] if run.ending else "No ending"
    state = STATES[run.ending.status] if run.ending else "warned"
    outcomes = [outcome for view in views for outcome in view.turn.outcomes.values()]
    decided = [(view.turn.decision, view.turn.approval) for view in views if view.turn.decision]
    usages = [usage for view in views for usage in view.turn.usages]
    grades = [view.turn.graded.is_right for view in views if view.turn.graded]
    tokens, cost_usd = budget.cost_of(usages)
    if grades and run.ending and run.ending.status in FINAL_ENDINGS:
        verdict = "All correct" if all(grades) else "Partly correct" if any(grades) else "Wrong"
    return RunHeader(
        verdict=verdict,
        state=state,
        sentence=run.ending.sentence
        if run.ending
        else "The record stops here: the run is still going, or was interrupted.",
        why_done=why_done(run),
        had_to_hold=() if run.ok else words_of_checks(run.task),
        decided_by=deciders_of(run, decided),
        judged_by=", ".join(dict.fromkeys(view.turn.verdict.model for view in views if view.turn.verdict)),
        seconds=(lines[-1].at - run.started_at).total_seconds() if lines else 0.0,
        resumed_at=tuple(line.at for line in lines if isinstance(line.event, Resumed)),
        done=sum(outcome.status == "done" for outcome in outcomes),
        partial=sum(outcome.status == "partial" for outcome in outcomes),
        refused=sum(outcome.status == "refused" and outcome.refusal != "not_reached" for outcome in outcomes),
        right=sum(grades),
        wrong=len(grades) - sum(grades),
        tokens=tokens if usages else None,
        cost_usd=cost_usd,
        chain=chain,
    )


class _Decoded:
    """Decodes the pictures of a run, and keeps the last few."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, VisionPicture | None] = {}

    def __call__(self, shot: Shot) -> VisionPicture | None:
        """The picture; None if its file is missing, was changed, or is no picture."""
        if shot.sha256 not in self._kept:
            try:
                made = VisionPicture.of(load_shot(self._folder, shot))
            except (RecordError, UsageError):
                made = None
            self._kept = {**dict(list(self._kept.items())[-2:]), shot.sha256: made}
        return self._kept[shot.sha256]

    def look(self, seen: Observation | None) -> DecodedLook | None:
        """The observation with its clean picture."""
        picture = self(seen.clean) if seen is not None else None
        return DecodedLook(seen, picture) if seen is not None and picture is not None else None


def _view(
    turn: Turn, then: tuple[int | str, Observation | None], album: Album, decoded: _Decoded, run: Run
) -> StepView:
    seen = turn.observation
    actions = turn.decision.actions if turn.decision else tuple(turn.intended.values())
    author: Author = turn.decision.author if turn.decision else "model"
    # What follows a recorded page is the result of the recorded action, not of the answer.
    now = then[1] if not turn.graded else None
    acts = tuple(
        replace(
            _act(action, turn.outcomes.get(i), seen, turn.graded, author),
            crops=tuple(_crops(action, turn.outcomes.get(i), seen, now, decoded)) if seen and not turn.graded else (),
        )
        for i, action in enumerate(actions)
    )
    return StepView(
        turn=turn,
        state=_state(turn, acts),
        offset_s=_offset(turn.started_at, run.started_at),
        acts=acts,
        marked=album.picture(seen.marked) if seen else None,
        clean=album.picture(seen.clean) if seen else None,
        marks=_drawn(seen) if seen else (),
        aims=(*_reference_targets(turn.graded, seen), *_targets(actions, turn, seen)) if seen else (),
        after=_after(seen, then[0], now, decoded) if seen and now else None,
    )


def _after(seen: Observation, at: int | str, now: Observation, decoded: _Decoded) -> AfterView | None:
    """The page after the step; None if the next picture shows another part of the page."""
    if (now.clean.size, now.clean.map) != (seen.clean.size, seen.clean.map):
        return None
    if now.clean.sha256 == seen.clean.sha256:
        return AfterView(at, None)
    old, new = decoded(seen.clean), decoded(now.clean)
    if old is None or new is None:
        return None
    changed = changed_box(old, new, old.page)
    return AfterView(at, changed and seen.clean.map.box_to_picture(changed))


def _crops(
    action: Action, outcome: Outcome | None, seen: Observation, now: Observation | None, decoded: _Decoded
) -> Iterator[CropPair]:
    """What is around the targets of an action that was begun, before and after its step."""
    targets = () if isinstance(action, Finish | Infeasible) else targets_of(action)
    before = decoded.look(seen) if targets else None
    if before is None or (outcome is not None and outcome.refusal == "not_reached"):
        return
    for target in targets[:_CROPPED]:
        number = mark_in(target)
        mark = seen.mark(number) if number is not None else None
        box = (seen.box_of(target) if isinstance(target, Cell) else None) or (mark.box if mark else None)
        point = outcome.point if outcome is not None and len(targets) == 1 else None
        if point is None and isinstance(target, Point):
            point = seen.marked.map.to_page(target)
        if pair := crop_pair(before, decoded.look(now), box=box, point=point, number=number):
            yield pair


def _end(last: LastLook, album: Album) -> EndView:
    seen = last.observation
    if seen is None:
        return EndView(None, last.problem, None, None, ())
    return EndView(seen, "", album.picture(seen.marked), album.picture(seen.clean), _drawn(seen))


def _graph(views: Sequence[StepView], states: dict[int | str, int]) -> StateGraph:
    """The page states of the run, and what led from one to another."""
    visits = [
        Visit(states[view.turn.index], view.turn.index, view.short, view.state)
        for view in views
        if view.turn.index in states
    ]
    if _END in states:
        visits.append(Visit(states[_END], None, "", "ok"))
    return state_graph(visits)


def _places(
    observed: Sequence[tuple[int | str, Observation]], states: dict[int | str, int], album: Album
) -> dict[int, PlaceView]:
    """Each page state by its number, as it was first seen."""
    places: dict[int, PlaceView] = {}
    for at, seen in observed:
        if states[at] not in places:
            small = album.small_picture(seen.clean, _SMALL)
            places[states[at]] = PlaceView(seen.title or "Untitled", seen.url, small)
    return places


def _problems(views: Sequence[StepView]) -> list[tuple[int, str, str]]:
    """Step number, state and reason of each step with a problem, failed steps first."""
    found = [(view.turn.index, view.state, _problem(view)) for view in views if view.state != "ok"]
    return sorted(found, key=lambda each: each[1] != "failed")


def _problem(view: StepView) -> str:
    if view.state == "failed" and view.turn.graded:
        return view.turn.graded.sentence
    if view.turn.troubles:
        return view.turn.troubles[0]
    bad = next((act for act in view.acts if act.state in ("failed", "warned")), None)
    return bad.outcome.sentence if bad and bad.outcome else "not finished"


def _state(turn: Turn, acts: Sequence[ActionView]) -> str:
    if any(act.state == "failed" for act in acts) or (turn.graded and not turn.graded.is_right):
        return "failed"
    if turn.troubles or turn.seconds is None or any(act.state == "warned" for act in acts):
        return "warned"
    return "ok"


def _offset(at: datetime | None, start: datetime) -> float | None:
    return (at - start).total_seconds() if at else None


def _act(
    action: Action, outcome: Outcome | None, seen: Observation | None, graded: Graded | None, author: Author
) -> ActionView:
    words = tuple(_chip(word, seen) if isinstance(word, int | Cell | Point) else word for word in action_phrase(action))
    # For recorded pages the header says it once for all steps.
    reason = REASONS[outcome.refusal] if outcome and outcome.refusal and graded is None else ""
    if outcome and outcome.status == "partial" and outcome.refusal != "taken_back":
        reason = PARTIAL
    state = _act_state(action, outcome, graded)
    return ActionView(words=words, outcome=outcome, state=state, reason=reason, author=author)


def _act_state(action: Action, outcome: Outcome | None, graded: Graded | None) -> str:
    if outcome is None:
        return "warned"
    if graded is not None:
        return "ok" if graded.is_right else "failed"
    if outcome.refusal == "not_reached":
        return "skipped"
    if outcome.refusal == "dry_run":
        return "warned"
    if outcome.status == "refused" or gives_up(action):
        return "failed"
    return "warned" if outcome.status == "partial" or lacks_effect(action, outcome) else "ok"


def _chip(target: Target, seen: Observation | None) -> ChipView:
    if isinstance(target, Point):
        return ChipView(None, f"({round(target.x, 1):g}, {round(target.y, 1):g})")
    return ChipView(mark_in(target), describe_target(target, seen))


def _drawn(seen: Observation) -> tuple[MarkView, ...]:
    """The marks, large ones first, so that a small one inside a large one lies on top and can be pointed at."""
    by_size = sorted(seen.marks, key=lambda mark: mark.box.width * mark.box.height, reverse=True)
    lines = _listing_lines(seen.listing)
    return tuple(
        MarkView(mark.number, seen.marked.map.box_to_picture(mark.box), _tip(mark, lines.get(mark.number)))
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


def _reference_targets(graded: Graded | None, seen: Observation) -> tuple[TargetView, ...]:
    """The correct targets for a wrong answer."""
    boxes = graded.boxes if graded is not None and not graded.is_right else ()
    return tuple(TargetView(0, False, seen.marked.map.box_to_picture(box), None, is_reference=True) for box in boxes)


def _targets(actions: Sequence[Action], turn: Turn, seen: Observation) -> tuple[TargetView, ...]:
    return tuple(
        _target(order, action, target, turn, seen)
        for order, action in enumerate(actions)
        for target in (action.evidence if isinstance(action, Finish | Infeasible) else targets_of(action))
        if _act_state(action, turn.outcomes.get(order), turn.graded) != "skipped"
    )


def _target(order: int, action: Action, target: Target, turn: Turn, seen: Observation) -> TargetView:
    outcome = turn.outcomes.get(order)
    number = mark_in(target)
    mark = seen.mark(number) if number is not None else None
    cell = seen.box_of(target) if isinstance(target, Cell) else None
    clicked = seen.marked.map.to_picture(outcome.point) if outcome and outcome.point else None
    return TargetView(
        order=order + 1,
        failed=_act_state(action, outcome, turn.graded) == "failed",
        box=seen.marked.map.box_to_picture(cell or mark.box) if mark else None,
        point=clicked or (target if isinstance(target, Point) else None),
    )


# --- rendering --------------------------------------------------------------------------------------------------------


def report_style(*more: Path) -> Markup:
    """The style of a report, followed by the style files in `more`, for a page that resembles a report."""
    return Markup("".join([palette(), *(each.read_text("utf-8") for each in (TEMPLATES / "report.css", *more))]))


@cache
def environment(templates: Path = TEMPLATES) -> Environment:
    """The Jinja environment of these templates, with the filters of the report; it keeps what it has compiled."""
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
"""The CSP sources that let a page load pictures beside it, whether served or opened from disk."""


def policy(style: str, script: str, pictures: str = "data:") -> str:
    """A content security policy that allows only this style, this script, and pictures from these sources."""

    def hash_source(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    allowed = f"img-src {pictures}; style-src {hash_source(style)}; script-src {hash_source(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
