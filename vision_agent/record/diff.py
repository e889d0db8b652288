"""Compares two recorded runs step by step: decisions, outcomes, pages and pixels.

It reads only the two folders. Addresses on the host where a run started are compared without the host, and marks by
role and name: the same run on another server, with other mark numbers, counts as the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from vision_agent.actions import Action
from vision_agent.base_model import FrozenModel
from vision_agent.describe.action_sentences import ENDED, FOUND_BY, describe_action, gives_up, is_look_again
from vision_agent.errors import RecordError
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.record.read import check_chain, load_shot, read
from vision_agent.record.run_files import reading
from vision_agent.types import Author, Ending, Outcome, Run, Step
from vision_agent.vision.compare import changed_boxes, changed_share

_LISTED = 8
"""The most marks listed by name of those that only one page has."""
_BOXED = 24
"""The most changed boxes reported for one picture; more would cover the whole page."""

_CARET = 4
"""The width of a text caret in CSS pixels, including the blur of the comparison."""

_SHOWN = 500
"""The longest text of a difference, in characters; a typed text or an address in a record may have megabytes."""

Where = Literal["decision", "outcome", "address", "title", "marks", "pixels"]


class Difference(FrozenModel):
    """One difference, with its value in run A and in run B."""

    where: Where
    a: str
    b: str


class PixelDifference(FrozenModel):
    """How two clean pictures of a page differ."""

    share: float
    """The share of pixels that differ, 0 to 1."""
    boxes: tuple[Box, ...] = ()
    """The changed places in page coordinates, largest first; empty if the pictures differ in size."""
    sentence: str


class StepPair(FrozenModel):
    """A step of run A and its counterpart in run B; None for a missing one."""

    a: int | None
    b: int | None
    words: tuple[str, str]
    """The actions of each step in words; empty for a missing step."""
    authors: tuple[Author | None, Author | None]
    differences: tuple[Difference, ...] = ()
    pixels: PixelDifference | None = None
    """None if the pixels differ no more than the tolerance, or one of the steps is missing."""

    @property
    def is_same(self) -> bool:
        """Whether both runs have this step and nothing differs."""
        return self.a is not None and self.b is not None and not self.differences

    @property
    def state(self) -> Literal["ok", "warned", "failed"]:
        """How serious the differences are: `failed` if the decision or outcome differs, or a step is missing."""
        if self.a is None or self.b is None or any(each.where in ("decision", "outcome") for each in self.differences):
            return "failed"
        return "warned" if self.differences else "ok"


class RunSide(FrozenModel):
    """One of the two compared runs."""

    folder: str
    run: str
    goal: str
    began_at: str
    decided_by: str
    head: str
    fault: str
    """Why the record fails verification; empty if it passes."""
    steps: int
    ending: Ending | None

    @property
    def ended(self) -> str:
        """How it ended, in words."""
        return _ending_text(self.ending)

    @property
    def is_done(self) -> bool:
        """Whether it ended with its task done."""
        return self.ending is not None and self.ending.exit_code == 0


class Diff(FrozenModel):
    """The comparison of two runs."""

    a: RunSide
    b: RunSide
    pairs: tuple[StepPair, ...]
    ending: Difference | None
    """The two endings, if they differ."""

    @property
    def is_same(self) -> bool:
        """Whether every step has a counterpart without differences, and both runs ended alike."""
        return self.ending is None and all(pair.is_same for pair in self.pairs)

    @property
    def neither_is_done(self) -> bool:
        """Whether neither run did its task: then no difference is no success."""
        return not self.a.is_done and not self.b.is_done

    @property
    def parting(self) -> StepPair | None:
        """The first pair of steps that differ in what was decided or what came of it, or of which one is missing."""
        return next((pair for pair in self.pairs if pair.state == "failed"), None)

    @property
    def counts(self) -> dict[str, int]:
        """The number of differing steps for each kind of difference."""
        counted = Counter[str](
            where for pair in self.pairs for where in dict.fromkeys(each.where for each in pair.differences)
        )
        alone = {
            "only in A": sum(pair.b is None for pair in self.pairs),
            "only in B": sum(pair.a is None for pair in self.pairs),
        }
        return {**counted, **{name: many for name, many in alone.items() if many}}


def diff(a: Path, b: Path, *, tolerance: float = 0.0, tell: Callable[[str], None] = lambda _: None) -> Diff:
    """Compares the runs in two folders, without pauses before step lines or a replay found a target.

    Args:
        tolerance: the share of pixels, 0 to 1, that may differ without counting as a difference.
        tell: called with a progress sentence for each step.

    Raises:
        RecordError: a run cannot be read.
    """
    with reading(b), reading(a):
        return _diff(a, b, tolerance, tell)


def _diff(a: Path, b: Path, tolerance: float, tell: Callable[[str], None]) -> Diff:
    runs = read(a), read(b)
    starts = tuple(_start(run) for run in runs)
    steps = tuple(
        tuple(_ComparedStep(step, start) for step in _without_pauses(run.steps))
        for run, start in zip(runs, starts, strict=True)
    )
    pairs = []
    for one, other in align_steps(*steps):
        compared = one or other
        tell(f"Comparing step {compared.step.index if compared else ''}")
        pairs.append(_pair(one, other, a, b, tolerance))
    return Diff(
        a=_side(runs[0], a, starts[0]),
        b=_side(runs[1], b, starts[1]),
        pairs=tuple(pairs),
        ending=_ending_difference(*runs),
    )


def _without_pauses(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without the pauses in which a target was waited for, but for those after which the run gave up."""
    for step, then in zip(steps, [*steps[1:], None], strict=True):
        goes_on = then is not None and not any(map(gives_up, then.decision.actions))
        if not (is_look_again(step) and goes_on):
            yield step


class _ComparedStep:
    """A step with the values used to compare it."""

    def __init__(self, step: Step, start: str) -> None:
        self.step = step
        self.address = _without_origin(step.observation.url, start)
        self.acts = tuple(_phrase(action, step.observation, start) for action in step.decision.actions)
        self.words = "; ".join(self.acts) or step.decision.next_goal or "nothing"
        self.key = (self.address, self.words)
        self.kind = tuple(action.kind for action in step.decision.actions)


def align_steps(
    one: Sequence[_ComparedStep], other: Sequence[_ComparedStep]
) -> Iterator[tuple[_ComparedStep | None, _ComparedStep | None]]:
    """Pairs each step with its counterpart, in order.

    Steps with the same actions on the same page are paired first, then, between those, steps with the same kinds of
    action; what remains is paired one by one.
    """
    for is_same, mine, theirs in _blocks(one, other, lambda each: each.key):
        if is_same:
            yield from zip(mine, theirs, strict=True)
            continue
        for is_alike, these, those in _blocks(mine, theirs, lambda each: each.kind):
            several = min(len(these), len(those))
            yield from zip(these[:several], those[:several], strict=True)
            assert not is_alike or len(these) == len(those)
            yield from ((each, None) for each in these[several:])
            yield from ((None, each) for each in those[several:])


def _blocks(
    one: Sequence[_ComparedStep], other: Sequence[_ComparedStep], key: Callable[[_ComparedStep], tuple[str, ...]]
) -> Iterator[tuple[bool, Sequence[_ComparedStep], Sequence[_ComparedStep]]]:
    matcher = SequenceMatcher(None, [key(each) for each in one], [key(each) for each in other], autojunk=False)
    for tag, i, j, k, n in matcher.get_opcodes():
        yield tag == "equal", one[i:j], other[k:n]


def _pair(one: _ComparedStep | None, other: _ComparedStep | None, a: Path, b: Path, tolerance: float) -> StepPair:
    pair = StepPair(
        a=one.step.index if one else None,
        b=other.step.index if other else None,
        words=(_cut(one.words) if one else "", _cut(other.words) if other else ""),
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
    found = [_difference(where, mine, theirs) for where, (mine, theirs) in texts.items() if mine != theirs]
    pixels = _pixels(then, now, a, b)
    if pixels is not None and pixels.share > tolerance:
        sizes = [f"{seen.clean.size.width}×{seen.clean.size.height}" for seen in (then, now)]
        found.append(Difference(where="pixels", a=sizes[0], b=sizes[1]))
    else:
        pixels = None
    return pair.model_copy(update={"differences": tuple(found), "pixels": pixels})


def _difference(where: Where, mine: str, theirs: str) -> Difference:
    """The two texts, cut so that the place where they begin to differ is visible."""
    start = 0
    if max(len(mine), len(theirs)) > _SHOWN:
        places = enumerate(zip(mine, theirs, strict=False))
        alike = next((at for at, (one, other) in places if one != other), min(len(mine), len(theirs)))
        start = 0 if alike < _SHOWN // 2 else alike - _SHOWN // 4
    return Difference(where=where, a=_cut(mine, start), b=_cut(theirs, start))


def _cut(text: str, start: int = 0) -> str:
    """At most `_SHOWN` characters of a text, with `…` where it was cut."""
    before = "…" if start else ""
    after = "…" if len(text) - start > _SHOWN else ""
    return before + text[start : start + _SHOWN - len(before) - len(after)] + after


# --- what is compared -------------------------------------------------------------------------------------------------


def _outcomes(one: _ComparedStep, other: _ComparedStep) -> tuple[str, str]:
    """The outcome of each action and how its target was found; empty texts if both steps have the same."""
    mine, theirs = ([_outcome_text(each) for each in compared.step.outcomes] for compared in (one, other))
    if mine == theirs:
        return "", ""
    return "; ".join(mine) or "nothing", "; ".join(theirs) or "nothing"


def _outcome_text(outcome: Outcome) -> str:
    parts = [(outcome.refusal or outcome.effect or outcome.status).replace("_", " ")]
    parts = ["partial", *parts] if outcome.status == "partial" else parts
    parts += [FOUND_BY[outcome.rung]] if outcome.rung in FOUND_BY else []
    parts += [f"reads “{outcome.value}”"] * (outcome.value is not None)
    parts += [f"got “{' '.join(outcome.read.split())[:200]}”"] * bool(outcome.read)
    return ", ".join(parts)


def _marks(one: Observation, other: Observation) -> tuple[str, str]:
    """The marks found only in the first observation, and those found only in the second."""
    mine, theirs = (Counter(map(_mark, seen.marks)) for seen in (one, other))
    return _join_names(mine - theirs), _join_names(theirs - mine)


def _join_names(marks: Counter[str]) -> str:
    names = list(marks.elements())
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _mark(mark: Mark) -> str:
    """A mark's role, name and state, to be compared: number and position may differ between equal pages."""
    state = mark.state
    words = [f"“{mark.name}”"] if mark.name else []
    words += [f"= “{state.value}”"] if state.value else []
    words += [
        f"{name} {value}" for name in ("checked", "pressed") if (value := getattr(state, name)) not in (None, "false")
    ]
    words += [name for name in ("selected", "expanded", "disabled", "invalid", "readonly") if getattr(state, name)]
    return " ".join([mark.role if mark.role != "generic" else mark.tag, *words])


def _pixels(one: Observation, other: Observation, a: Path, b: Path) -> PixelDifference | None:
    """How the clean pictures differ; None if they are the same."""
    if one.clean.sha256 == other.clean.sha256:
        return None
    try:
        mine, theirs = load_shot(a, one.clean), load_shot(b, other.clean)
    except RecordError as error:
        return PixelDifference(share=1.0, sentence=f"not compared: {error.sentence}")
    share = changed_share(mine, theirs)
    if not share:
        return None
    if mine.size != theirs.size:
        return PixelDifference(share=1.0, sentence="the pictures differ in size")
    boxes = tuple(box for box in changed_boxes(mine, theirs) if not _is_caret(box, one, other))
    if not boxes:
        return None
    largest = "; ".join(f"{box.width:.0f}×{box.height:.0f} at ({box.x:.0f}, {box.y:.0f})" for box in boxes[:3])
    more = f" and {len(boxes) - 3} more" if len(boxes) > 3 else ""
    return PixelDifference(share=share, boxes=boxes[:_BOXED], sentence=f"{percent(share)} differ: {largest}{more}")


def _is_caret(box: Box, one: Observation, other: Observation) -> bool:
    """Whether the box is the text caret blinking in the focused field."""
    fields = (mark.box for seen in (one, other) for mark in seen.marks if mark.state.focused and mark.kind == "field")
    return box.width <= _CARET and any(box.share_in(field) > 0.9 for field in fields)


def percent(share: float) -> str:
    """A share (0 to 1) as a percentage; a share above 0 is never shown as 0%."""
    return f"{max(share * 100, 0.01):.2f}%" if share < 0.1 else f"{share:.0%}"


def _ending_difference(one: Run, other: Run) -> Difference | None:
    mine, theirs = (_ending_text(run.ending) for run in (one, other))
    return _difference("outcome", mine, theirs) if mine != theirs else None


def _ending_text(ending: Ending | None) -> str:
    if ending is None:
        return "no ending"
    return f"{ENDED[ending.status].lower()}: {ending.answer or ending.sentence}"


def _side(run: Run, folder: Path, start: str) -> RunSide:
    chain = check_chain(folder)
    return RunSide(
        folder=str(folder),
        run=run.id,
        goal=_cut(run.task.goal),
        began_at=_cut(start),
        decided_by=_cut(run.provenance.model),
        head=chain.head,
        fault="" if chain.holds else chain.sentence,
        steps=len(run.steps),
        ending=run.ending
        and run.ending.model_copy(update={"answer": _cut(run.ending.answer), "sentence": _cut(run.ending.sentence)}),
    )


def _start(run: Run) -> str:
    return run.task.start_url or (run.steps[0].observation.url if run.steps else "")


def _without_origin(address: str, start: str) -> str:
    try:
        here, began = urlsplit(address), urlsplit(start)
    except ValueError:
        return address  # not a valid address
    if not here.netloc or (here.scheme, here.netloc) != (began.scheme, began.netloc):
        return address
    return here._replace(scheme="", netloc="").geturl() or "/"


def _phrase(action: Action, seen: Observation, start: str) -> str:
    words = describe_action(action, seen, numbered=False)
    url = getattr(action, "url", "")
    return words.replace(url, _without_origin(url, start)) if url else words
