"""Asks deciders about recorded pages, without a browser: each page by itself, after what was really done before it.

A question is answered through what an agent is asked through: the same prompt, request and reading of the reply, asked
again as often. Nothing is carried out. What came of an item is a run folder like any other, with one step for each
answer, which says how it is held against the reference. A reply that cannot be used is a wrong answer;
a model that cannot be asked is an error.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue

from vision_agent import assets
from vision_agent.errors import FormatError, RecordError, UsageError, VisionAgentError
from vision_agent.evals.baselines import MatchModel, RandomModel
from vision_agent.evals.figures import Figures, figures_of
from vision_agent.evals.frozen import NO_BROWSER
from vision_agent.evals.grades import Grade, Reference, graded
from vision_agent.evals.items import RUNS, Item, Result
from vision_agent.events import Decided, Ended, Event, Graded, Happened, Intended, Observed, Started, Stepped, Troubled
from vision_agent.models.choose import model_named
from vision_agent.models.prompt import pictures_of
from vision_agent.models.steps import StepsModel
from vision_agent.ports import Model
from vision_agent.record.read import assemble
from vision_agent.record.redact import Redactor
from vision_agent.record.report import write_report
from vision_agent.record.store import RunFolder, new_run_id
from vision_agent.settings import ModelSettings, ObserveSettings, Settings, recordable
from vision_agent.types import Decision, Ending, Observation, Outcome, Provenance, Run, Size, Step, Task, Usage
from vision_agent.vision import annotate
from vision_agent.vision.contract import contract_for
from vision_agent.vision.style import STYLES

_NEVER_ENDS = 10**9


@dataclass(frozen=True)
class Question:
    """One page, and what was done on it."""

    seen: Observation
    reference: Reference
    before: Sequence[Step] = ()
    """The steps that led to it."""
    line: str = ""
    """The same as a step line, where there is one."""


@dataclass(frozen=True)
class Paper:
    """The questions of one task."""

    task: Task
    questions: Sequence[Question]


@dataclass(frozen=True)
class Entry:
    """A task of a suite, whose pictures are loaded when it is their turn."""

    content: JsonValue
    """All that makes it this task."""
    load: Callable[[], Paper]
    lines: tuple[str, ...] = ()
    """A step line for each question; empty where one has none."""
    sizes: frozenset[tuple[int, int]] = frozenset()
    """Of the pictures."""


class OfflineSuite:
    """Tasks that are answered from stored pages."""

    def __init__(self, name: str, entries: Mapping[str, Entry], note: str = "") -> None:
        if not entries:
            raise UsageError(f"There is nothing to ask about in what the suite {name} was given", note)
        self.name = name
        self.note = note
        """What a person is to know of it."""
        self.seeds = 1
        self.tasks = tuple(entries)
        self._entries = entries

    def content(self, task: str) -> JsonValue:
        """The hashes of all that is asked about."""
        return self._entries[task].content

    def lines(self, task: str) -> tuple[str, ...]:
        """A step line for each question; empty where one has none."""
        return self._entries[task].lines

    def has_solver(self, task: str) -> bool:
        """None has: `steps` says what was done."""
        del task
        return False

    def check(self, model: str) -> None:
        """Nothing, where the model reads every picture as it is.

        Raises:
            UsageError: it would be sent a larger one than it reads, or another one than the others.
        """
        if ":" not in model:
            return
        # What it is known to read at most, whatever is sent to it elsewhere.
        contract = contract_for(model, longest_edge=_NEVER_ENDS)
        for task, entry in self._entries.items():
            for width, height in entry.sizes:
                size = contract.fit(_size(width, height))
                if (size.width, size.height) != (width, height):
                    raise UsageError(
                        f"{model} reads pictures of up to {size.width}×{size.height}, and {task} has one of "
                        f"{width}×{height}",
                        "every model gets the same pictures: set a smaller observe.longest_edge, for the runs that "
                        "are frozen, or here where pictures come alone",
                    )

    def check_marks(self, left_out: Sequence[str]) -> None:
        """Nothing, where all marks can be drawn in another style and nothing else is changed by that.

        Raises:
            UsageError: there are no marks, or they were not drawn as they usually are.
        """
        for task, entry in self._entries.items():
            seen = entry.load().questions[0].seen
            why = "" if seen.marks else "it has no marks"
            if seen.marks and annotate.drawn_as(seen, STYLES["coloured"]).marked.sha256 != seen.marked.sha256:
                why = "its marks were drawn in another style, or kept as JPEG"
            if why:
                said = ", ".join(left_out)
                raise UsageError(
                    f"{said} cannot be left out of the picture of {task}: {why}", "leave it out of --ablate"
                )

    def settings(self, settings: Settings) -> Settings:
        """Those that can change an answer: how a browser is started, and when a run would end, cannot."""
        drawn = {"observe": ObserveSettings(style=settings.observe.style)}
        return settings.model_copy(update={name: Settings.model_fields[name].default for name in _OF_A_BROWSER} | drawn)

    async def answer(self, item: Item, settings: Settings, out: Path) -> Result:
        """What came of one item. Whatever breaks is an error of the item, and not raised."""
        return await _answered(item, self._entries[item.task].load, settings, out)


_PICTURES = ".shots"
"""In the folder of an evaluation: its pictures, each once however many items it is of."""
_OF_A_BROWSER = ("browser", "events", "approval", "limits")


@dataclass
class _Answers:
    """What there is of an item so far, however it goes on."""

    events: list[Event]
    grades: list[Grade]
    pictures: list[str]
    folder: Path | None = None
    run: Run | None = None


async def _answered(item: Item, load: Callable[[], Paper], settings: Settings, out: Path) -> Result:
    started_at, began = datetime.now(UTC), time.monotonic()
    had, error, paper = _Answers([], [], []), "", None
    try:
        paper = _drawn(load(), settings)
        await _answer_all(item, paper, settings, out, had)
    except VisionAgentError as trouble:
        error = str(trouble)
    except Exception as trouble:  # noqa: BLE001 - one broken item must not cost the others; its result says it
        error = f"{type(trouble).__name__}: {trouble}"
    asked, right = len(paper.questions) if paper else 0, sum(grade.is_right for grade in had.grades)
    is_whole = not error and bool(asked)
    return Result(
        item=item,
        score=right / asked if is_whole else None,
        passed=right == asked if is_whole else None,
        sentence=_sentence(had.grades) if is_whole else "",
        error=error,
        run=f"{RUNS}/{had.folder.name}" if had.folder is not None else "",
        figures=_figures(had),
        # Of an answer that broke off, nothing is known of the model.
        grades=tuple(had.grades) if is_whole else (),
        pictures=tuple(had.pictures),
        started_at=started_at,
        seconds=round(time.monotonic() - began, 3),
    )


def _drawn(paper: Paper, settings: Settings) -> Paper:
    """With the marks as the settings have them drawn; as they were recorded where that is the usual way."""
    if settings.observe.style == "coloured":
        return paper
    style = STYLES[settings.observe.style]

    def drawn(question: Question) -> Question:
        *earlier, last = question.before or (None,)
        if last is not None and settings.model.previous_picture:
            last = last.model_copy(update={"observation": annotate.drawn_as(last.observation, style)})
        before = (*earlier, last) if last is not None else ()
        return replace(question, seen=annotate.drawn_as(question.seen, style), before=before)

    return replace(paper, questions=[drawn(question) for question in paper.questions])


def _size(width: int, height: int) -> Size:
    return Size(width=width, height=height)


def _sentence(grades: Sequence[Grade]) -> str:
    if len(grades) == 1:
        said = grades[0].answer or "no usable reply"
        return f"{said}. {grades[0].sentence}"
    return _counted(grades)


def _counted(grades: Sequence[Grade]) -> str:
    return f"{sum(grade.is_right for grade in grades)} of {len(grades)} steps are as in the reference"


def _figures(had: _Answers) -> Figures | None:
    """Of the run; there is no page that could have taken any time, and nothing was carried out or refused by one."""
    if had.run is None:
        return None
    run = assemble(had.run, had.events)
    figures = figures_of(run)
    agent_s = round(max(0.0, sum(step.seconds for step in run.steps) - figures.model_s), 3)
    return figures.model_copy(update={"good_steps": 0, "refusals": {}, "page_s": 0.0, "agent_s": agent_s})


async def _answer_all(item: Item, paper: Paper, settings: Settings, out: Path, had: _Answers) -> None:
    runs, run_id = out / item.folder / RUNS, new_run_id(datetime.now(UTC))
    folder = RunFolder.create(runs, run_id, Redactor(()), shared=out / _PICTURES)
    had.folder = folder.path
    try:
        async with AsyncExitStack() as stack:
            decider = _Decider(item, settings.model, folder, stack)
            had.run = Run(
                id=folder.path.name,
                task=paper.task,
                started_at=datetime.now(UTC),
                provenance=Provenance(
                    versions={"vision-agent": version("vision-agent"), "python": platform.python_version()},
                    browser=NO_BROWSER,
                    model=item.model,
                    prompts=assets.prompt_hashes(),
                    settings=recordable(settings),
                    capabilities=await decider.look_up(),
                ),
            )

            def tell(event: Event) -> None:
                folder.write(event)
                had.events.append(event)

            tell(Started(run=had.run))
            try:
                for index, question in enumerate(paper.questions, start=1):
                    had.grades.append(await _answer(index, question, paper.task, decider, settings, tell))
                    had.pictures += [
                        each.sha256 for each in pictures_of(question.before, question.seen, settings.model)
                    ]
            except VisionAgentError as trouble:
                tell(Ended(ending=Ending(status="unavailable", sentence=str(trouble))))
                raise
            is_right = all(grade.is_right for grade in had.grades)
            status = "done" if is_right else "not_done"
            tell(Ended(ending=Ending(status=status, sentence=_counted(had.grades))))
    finally:
        began = bool(folder.head)
        folder.close()
        if began:
            with suppress(RecordError):
                write_report(folder.path, holds_pictures=False)


async def _answer(
    index: int, question: Question, task: Task, decider: _Decider, settings: Settings, tell: Callable[[Event], None]
) -> Grade:
    started_at, began = datetime.now(UTC), time.monotonic()
    tell(Observed(step=index, observation=question.seen))
    # Of what a person said in the recorded run, only what they had said by then.
    heard = tuple(each for each in task.messages if each.at <= question.seen.taken_at)
    asked, complaint, decision = task.model_copy(update={"messages": heard}), "", None
    for _ in range(1 + settings.model.repairs):
        try:
            decision = await decider.decide(asked, question, complaint)
            break
        except FormatError as trouble:
            complaint = trouble.sentence
            tell(Troubled(step=index, sentence=complaint, usage=trouble.usage))
        except VisionAgentError as trouble:
            usage: Usage | None = getattr(trouble, "usage", None)
            if usage is not None:
                tell(Troubled(step=index, sentence=trouble.sentence, usage=usage))
            raise
    grade = graded(decision, question.reference, question.seen)
    told = decision or Decision(author="scripted", model=decider.name, next_goal=f"No usable reply: {complaint}")
    tell(Decided(step=index, decision=told))
    for place, action in enumerate(told.actions):
        tell(Intended(step=index, index=place, action=action))
        outcome = Outcome(status="refused", refusal="recorded", sentence=grade.sentence)
        tell(Happened(step=index, index=place, outcome=outcome))
    boxes = tuple(box for aim in question.reference.aims for box in aim.boxes)
    tell(Graded(step=index, is_right=grade.is_right, sentence=grade.sentence, boxes=boxes))
    tell(Stepped(step=index, started_at=started_at, seconds=round(time.monotonic() - began, 3)))
    return grade


class _Decider:
    """Whoever answers one item, with all they need to."""

    def __init__(self, item: Item, settings: ModelSettings, folder: RunFolder, stack: AsyncExitStack) -> None:
        self.name = item.model
        self._model: Model | None = None
        if item.model == "random":
            # The same whatever the settings: those are then compared on the same answers.
            self._model = RandomModel(f"{item.task} {item.seed}", _NEVER_ENDS, anywhere=True)
        elif item.model == "match":
            self._model = MatchModel(_NEVER_ENDS)
        elif settings.dialect == "browser":
            raise UsageError(
                "Claude's browser toolset is asked in one conversation, and here each page is asked about by itself",
                "leave out model.dialect",
            )
        elif item.model != "steps":
            # Nothing is to be taken out: what was recorded names secrets, and holds none.
            self._model = model_named(
                item.model, settings=settings, redact=Redactor(()), keep_request=folder.keep_request
            )
            if (aclose := getattr(self._model, "aclose", None)) is not None:
                stack.push_async_callback(aclose)

    async def look_up(self) -> dict[str, JsonValue]:
        """What its provider says that it can do."""
        look_up = getattr(self._model, "look_up", None)
        found = await look_up(None) if look_up is not None else None
        return {} if found is None else {getattr(self._model, "name", self.name): found.model_dump(mode="json")}

    async def decide(self, task: Task, question: Question, complaint: str) -> Decision:
        """Its answer."""
        if self._model is None:
            # Its line alone: what others did before is none of its lines.
            return await StepsModel([question.line]).decide(task, (), question.seen)
        return await self._model.decide(task, question.before, question.seen, complaint=complaint)
