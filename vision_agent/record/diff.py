"""Where two recorded runs differ: step by step in what was decided, what came of it, the page and its pixels.

Goes by the two folders alone. Addresses on the host that a run began on are compared without it, and things by what
they are called: the same on another server, with other numbers, is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from vision_agent.actions import Action, Cell, Point, Target
from vision_agent.errors import RecordError
from vision_agent.phrases import name_of, phrase_of
from vision_agent.record.read import check_chain, load_shot, read
from vision_agent.types import Author, Box, Ending, Mark, Observation, Outcome, Run, Step
from vision_agent.vision.compare import changed_boxes, changed_share

_LISTED = 8
"""Marks that are named of those that only one page has."""
_BOXED = 24
"""Places that are named in one picture; more is everywhere."""

_CARET = 4
"""CSS pixels across, with what mixing adds."""

Where = Literal["decision", "outcome", "address", "title", "marks", "pixels"]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(_Data):
    """One thing that is not the same, as it is in the one run and in the other."""

    where: Where
    a: str
    b: str


class Pixels(_Data):
    """What differs between two pictures of a page, without their marks."""

    share: float
    """Of the pixels, 0 to 1."""
    boxes: tuple[Box, ...] = ()
    """Where, in page coordinates, largest first; none where the pictures have other sizes."""
    sentence: str


class Pair(_Data):
    """A step of the one run and the one of the other that it is held against; None where there is none."""

    a: int | None
    b: int | None
    words: tuple[str, str]
    """What was done, in each; empty where there is none."""
    authors: tuple[Author | None, Author | None]
    differences: tuple[Difference, ...] = ()
    pixels: Pixels | None = None
    """None where nothing differs beyond what was allowed, or one of the steps is missing."""

    @property
    def is_same(self) -> bool:
        return self.a is not None and self.b is not None and not self.differences

    @property
    def state(self) -> Literal["ok", "warned", "failed"]:
        """How much it matters: `failed` where something else was decided or came of it, or a step is missing."""
        if self.a is None or self.b is None or any(each.where in ("decision", "outcome") for each in self.differences):
            return "failed"
        return "warned" if self.differences else "ok"


class Side(_Data):
    """One of the two runs."""

    folder: str
    run: str
    goal: str
    began_at: str
    decided_by: str
    head: str
    fault: str
    """Why its record is not as it was written; empty where it is."""
    steps: int
    ending: Ending | None


class Diff(_Data):
    """Two runs, held against each other."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    ending: Difference | None
    """How they ended, where that differs."""

    @property
    def is_same(self) -> bool:
        """Whether every step has its counterpart, nothing differs in it, and both ended alike."""
        return self.ending is None and all(pair.is_same for pair in self.pairs)

    @property
    def counts(self) -> dict[str, int]:
        """How many steps differ, by what."""
        counted = Counter[str](
            where for pair in self.pairs for where in dict.fromkeys(each.where for each in pair.differences)
        )
        alone = {
            "only in A": sum(pair.b is None for pair in self.pairs),
            "only in B": sum(pair.a is None for pair in self.pairs),
        }
        return {**counted, **{name: many for name, many in alone.items() if many}}


def diff(a: Path, b: Path, *, tolerance: float = 0.0, tell: Callable[[str], None] = lambda _: None) -> Diff:
    """What differs between the runs in two folders; a share of pixels up to `tolerance` (0 to 1) is no difference.

    Raises:
        RecordError: one of them cannot be read.
    """
    runs = read(a), read(b)
    starts = tuple(_start(run) for run in runs)
    steps = tuple(tuple(_Told(step, start) for step in run.steps) for run, start in zip(runs, starts, strict=True))
    pairs = []
    for one, other in aligned(*steps):
        told = one or other
        tell(f"Comparing step {told.step.index if told else ''}")
        pairs.append(_pair(one, other, a, b, tolerance))
    return Diff(
        a=_side(runs[0], a, starts[0]), b=_side(runs[1], b, starts[1]), pairs=tuple(pairs), ending=_endings(*runs)
    )


class _Told:
    """A step, with what it is compared by."""

    def __init__(self, step: Step, start: str) -> None:
        self.step = step
        self.address = _without_origin(step.observation.url, start)
        self.acts = tuple(_words(action, step.observation, start) for action in step.decision.actions)
        self.words = "; ".join(self.acts) or step.decision.next_goal or "nothing"
        self.key = (self.address, self.words)
        self.kind = tuple(action.kind for action in step.decision.actions)


def aligned(one: Sequence[_Told], other: Sequence[_Told]) -> Iterator[tuple[_Told | None, _Told | None]]:
    """Each step with its counterpart, in order: first where the same was decided on the same page, between those where
    the same kind of thing was decided, and what is left one by one.
    """
    for is_same, mine, theirs in _blocks(one, other, lambda told: told.key):
        if is_same:
            yield from zip(mine, theirs, strict=True)
            continue
        for is_alike, these, those in _blocks(mine, theirs, lambda told: told.kind):
            several = min(len(these), len(those))
            yield from zip(these[:several], those[:several], strict=True)
            assert not is_alike or len(these) == len(those)
            yield from ((each, None) for each in these[several:])
            yield from ((None, each) for each in those[several:])


def _blocks(
    one: Sequence[_Told], other: Sequence[_Told], key: Callable[[_Told], tuple[str, ...]]
) -> Iterator[tuple[bool, Sequence[_Told], Sequence[_Told]]]:
    matcher = SequenceMatcher(None, [key(each) for each in one], [key(each) for each in other], autojunk=False)
    for tag, i, j, k, n in matcher.get_opcodes():
        yield tag == "equal", one[i:j], other[k:n]


def _pair(one: _Told | None, other: _Told | None, a: Path, b: Path, tolerance: float) -> Pair:
    pair = Pair(
        a=one.step.index if one else None,
        b=other.step.index if other else None,
        words=(one.words if one else "", other.words if other else ""),
        authors=(one.step.decision.author if one else None, other.step.decision.author if other else None),
    )
    if one is None or other is None:
        return pair
    then, now = one.step.observation, other.step.observation
    texts: dict[Where, tuple[str, str]] = {
        "decision": (one.words, other.words),
        "outcome": _outcomes(one, other),
        "address": (one.address, other.address),
        "title": (then.title, now.title),
        "marks": _marks(then, now),
    }
    found = [Difference(where=where, a=mine, b=theirs) for where, (mine, theirs) in texts.items() if mine != theirs]
    pixels = _pixels(then, now, a, b)
    if pixels is not None and pixels.share > tolerance:
        sizes = [f"{seen.clean.size.width}×{seen.clean.size.height}" for seen in (then, now)]
        found.append(Difference(where="pixels", a=sizes[0], b=sizes[1]))
    else:
        pixels = None
    return pair.model_copy(update={"differences": tuple(found), "pixels": pixels})


# --- what is compared -------------------------------------------------------------------------------------------------


def _outcomes(one: _Told, other: _Told) -> tuple[str, str]:
    """What came of each action, and how its target was found, but for what is the same in both."""
    mine, theirs = ([_came(each) for each in told.step.outcomes] for told in (one, other))
    if mine == theirs:
        return "", ""
    return "; ".join(mine) or "nothing", "; ".join(theirs) or "nothing"


def _came(outcome: Outcome) -> str:
    parts = [(outcome.refusal or outcome.effect or outcome.status).replace("_", " ")]
    parts = ["partial", *parts] if outcome.status == "partial" else parts
    parts += [f"rung {outcome.rung}"] * bool(outcome.rung)
    parts += [f"reads “{outcome.value}”"] * (outcome.value is not None)
    parts += [f"got “{' '.join(outcome.read.split())[:200]}”"] * bool(outcome.read)
    return ", ".join(parts)


def _marks(one: Observation, other: Observation) -> tuple[str, str]:
    """The marks that only the one has, and only the other."""
    mine, theirs = (Counter(map(_mark, seen.marks)) for seen in (one, other))
    return _listed(mine - theirs), _listed(theirs - mine)


def _listed(marks: Counter[str]) -> str:
    names = list(marks.elements())
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _mark(mark: Mark) -> str:
    """What a mark is and how it stands; the number and the place say nothing."""
    state = mark.state
    said = [f"“{mark.name}”"] if mark.name else []
    said += [f"= “{state.value}”"] if state.value else []
    said += [
        f"{name} {value}" for name in ("checked", "pressed") if (value := getattr(state, name)) not in (None, "false")
    ]
    said += [name for name in ("selected", "expanded", "disabled", "invalid", "readonly") if getattr(state, name)]
    return " ".join([mark.role if mark.role != "generic" else mark.tag, *said])


def _pixels(one: Observation, other: Observation, a: Path, b: Path) -> Pixels | None:
    """None where the pictures are the same."""
    if one.clean.sha256 == other.clean.sha256:
        return None
    try:
        mine, theirs = load_shot(a, one.clean), load_shot(b, other.clean)
    except RecordError as error:
        return Pixels(share=1.0, sentence=f"not compared: {error.sentence}")
    share = changed_share(mine, theirs)
    if not share:
        return None
    if mine.size != theirs.size:
        return Pixels(share=1.0, sentence="the pictures have other sizes")
    boxes = tuple(box for box in changed_boxes(mine, theirs) if not _is_caret(box, one, other))
    if not boxes:
        return None
    largest = "; ".join(f"{box.width:.0f}×{box.height:.0f} at ({box.x:.0f}, {box.y:.0f})" for box in boxes[:3])
    more = f" and {len(boxes) - 3} more" if len(boxes) > 3 else ""
    return Pixels(share=share, boxes=boxes[:_BOXED], sentence=f"{percent(share)} differ: {largest}{more}")


def _is_caret(box: Box, one: Observation, other: Observation) -> bool:
    """Whether it is the bar that blinks in the field with the focus."""
    fields = (mark.box for seen in (one, other) for mark in seen.marks if mark.state.focused and mark.kind == "field")
    return box.width <= _CARET and any(box.share_in(field) > 0.9 for field in fields)


def percent(share: float) -> str:
    """A share for a person; what is not nothing is never told as nothing."""
    return f"{max(share * 100, 0.01):.2f} %" if share < 0.1 else f"{share:.0%}".replace("%", " %")


def _endings(one: Run, other: Run) -> Difference | None:
    mine, theirs = (_ended(run.ending) for run in (one, other))
    return Difference(where="outcome", a=mine, b=theirs) if mine != theirs else None


def _ended(ending: Ending | None) -> str:
    if ending is None:
        return "no ending"
    return ending.status.replace("_", " ") + (f": {ending.answer or ending.sentence}")


def _side(run: Run, folder: Path, start: str) -> Side:
    chain = check_chain(folder)
    return Side(
        folder=str(folder),
        run=run.id,
        goal=run.task.goal,
        began_at=start,
        decided_by=run.provenance.model,
        head=chain.head,
        fault="" if chain.holds else chain.sentence,
        steps=len(run.steps),
        ending=run.ending,
    )


def _start(run: Run) -> str:
    return run.task.start_url or (run.steps[0].observation.url if run.steps else "")


def _without_origin(address: str, start: str) -> str:
    try:
        here, began = urlsplit(address), urlsplit(start)
    except ValueError:
        return address  # somebody wanted to open what is none
    if not here.netloc or (here.scheme, here.netloc) != (began.scheme, began.netloc):
        return address
    return here._replace(scheme="", netloc="").geturl() or "/"


def _words(action: Action, seen: Observation, start: str) -> str:
    said = phrase_of(action)
    words = " ".join(word if isinstance(word, str) else _target(word, seen) for word in said)
    url = getattr(action, "url", "")
    return words.replace(url, _without_origin(url, start)) if url else words


def _target(target: Target, seen: Observation) -> str:
    if isinstance(target, Point):
        return f"({target.x:g}, {target.y:g})"
    mark = seen.mark(target.mark if isinstance(target, Cell) else target)
    cell = f"row {target.row}, column {target.column} of " if isinstance(target, Cell) else ""
    return cell + (mark.role + name_of(mark, seen) if mark else "no such mark")
