"""Asks models about recorded pages without a browser: each page on its own, after the steps that really preceded it.

Questions go through the agent's own code: the same prompt, request, parsing and number of repairs. Nothing is carried
out. The result of an item is an ordinary run folder with one step for each answer and its grade. An unusable reply is a
wrong answer; a model that cannot be asked is an error.
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
from vision_agent.evals.answer_grading import Grade, Reference, grade_decision
from vision_agent.evals.baselines import MatchModel, RandomModel
from vision_agent.evals.items import RUNS, Item, ItemResult
from vision_agent.evals.run_metrics import RunMetrics, run_metrics_of
from vision_agent.evals.suites.frozen import NO_BROWSER
from vision_agent.events import Decided, Ended, Event, Graded, Happened, Intended, Observed, Started, Stepped, Troubled
from vision_agent.geometry import Size
from vision_agent.models.factory import make_model
from vision_agent.models.offline.steps import StepsModel
from vision_agent.models.prompt.prompt import page_pictures
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.record.read import assemble
from vision_agent.record.redact import Redactor
from vision_agent.record.report import write_report
from vision_agent.record.store import RunFolder, new_run_id
from vision_agent.settings import ModelSettings, ObserveSettings, Settings, recordable
from vision_agent.types import Decision, Ending, Outcome, Provenance, Run, Step, Task, Usage
from vision_agent.vision.image_limits import image_limits_for
from vision_agent.vision.labels import annotate
from vision_agent.vision.style import STYLES

_NEVER_ENDS = 10**9


@dataclass(frozen=True)
class PageQuestion:
    """One page, and what was done on it."""

    seen: Observation
    reference: Reference
    before: Sequence[Step] = ()
    """The steps that led to it."""
    line: str = ""
    """The reference as a step line, if there is one."""


@dataclass(frozen=True)
class Paper:
    """The questions of one task."""

    task: Task
    questions: Sequence[PageQuestion]


@dataclass(frozen=True)
class OfflineTask:
    """A task of a suite; its pictures are loaded when needed."""

    content: JsonValue
    """Everything that identifies the task."""
    load: Callable[[], Paper]
    lines: tuple[str, ...] = ()
    """One step line per question; empty if one is missing."""
    sizes: frozenset[tuple[int, int]] = frozenset()
    """Widths and heights of its pictures in pixels."""


class OfflineSuite:
    """A suite whose tasks are answered from stored pages."""

    def __init__(self, name: str, entries: Mapping[str, OfflineTask], note: str = "") -> None:
        if not entries:
            raise UsageError(f"The suite {name} found nothing to ask about in its folder", note)
        self.name = name
        self.note = note
        """A remark for people."""
        self.seeds = 1
        self.tasks = tuple(entries)
        self._entries = entries

    def content(self, task: str) -> JsonValue:
        """The hashes of everything in the question."""
        return self._entries[task].content

    def lines(self, task: str) -> tuple[str, ...]:
        """One step line per question; empty if one is missing."""
        return self._entries[task].lines

    def models(self, task: str) -> tuple[str, ...]:
        """None: `steps` follows what was done."""
        del task
        return ()

    def check(self, model: str) -> None:
        """Check that the model reads every picture unscaled.

        Raises:
            UsageError: a picture is larger than the model reads, so it would get another one than the others.
        """
        if ":" not in model:
            return
        # The largest picture it is known to read, whatever size it usually gets.
        image_limits = image_limits_for(model, longest_edge=_NEVER_ENDS)
        for task, entry in self._entries.items():
            for width, height in entry.sizes:
                size = image_limits.fit(_size(width, height))
                if (size.width, size.height) != (width, height):
                    raise UsageError(
                        f"{model} reads pictures of up to {size.width}×{size.height}, but {task} has one of "
                        f"{width}×{height}",
                        "every model gets the same pictures: set a smaller observe.longest_edge for the runs to "
                        "freeze, or for this command if the pictures come without marks",
                    )

    def check_marks(self, left_out: Sequence[str]) -> None:
        """Check that the marks can be drawn in another style without changing anything else.

        Raises:
            UsageError: a page has no marks, or they were not drawn in the usual style.
        """
        for task, entry in self._entries.items():
            seen = entry.load().questions[0].seen
            why = "" if seen.marks else "it has no marks"
            if seen.marks and annotate.redraw_marks(seen, STYLES["coloured"]).marked.sha256 != seen.marked.sha256:
                why = "its marks were drawn in another style, or kept as JPEG"
            if why:
                raise UsageError(
                    f"{', '.join(left_out)} cannot be left out of the picture of {task}: {why}",
                    "remove it from --ablate",
                )

    def settings(self, settings: Settings) -> Settings:
        """Only the settings that can change an answer: those for the browser and the end of a run cannot."""
        drawn = {"observe": ObserveSettings(style=settings.observe.style)}
        return settings.model_copy(update={name: Settings.model_fields[name].default for name in _OF_A_BROWSER} | drawn)

    async def answer(self, item: Item, settings: Settings, out: Path, model: Model | None = None) -> ItemResult:
        """The result of one item. Failures become the item's error and are not raised.

        `model` answers in place of the one that the item names.
        """
        return await _run_item(item, self._entries[item.task].load, settings, out, model)


_PICTURES = ".shots"
"""Folder in an evaluation for its pictures, each stored once for all items."""
_OF_A_BROWSER = ("browser", "events", "approval", "limits")


@dataclass
class _AnswersSoFar:
    """The answers to an item so far, kept if it breaks."""

    events: list[Event]
    grades: list[Grade]
    pictures: list[str]
    folder: Path | None = None
    run: Run | None = None


async def _run_item(
    item: Item, load: Callable[[], Paper], settings: Settings, out: Path, model: Model | None
) -> ItemResult:
    started_at, began = datetime.now(UTC), time.monotonic()
    had, error, paper = _AnswersSoFar([], [], []), "", None
    try:
        paper = _redraw(load(), settings)
        await _answer_all(item, paper, settings, out, had, model)
    except VisionAgentError as trouble:
        error = str(trouble)
    except Exception as trouble:  # noqa: BLE001 - one broken item must not cost the others; its result has the error
        error = f"{type(trouble).__name__}: {trouble}"
    asked, right = len(paper.questions) if paper else 0, sum(grade.is_right for grade in had.grades)
    is_whole = not error and bool(asked)
    return ItemResult(
        item=item,
        score=right / asked if is_whole else None,
        passed=right == asked if is_whole else None,
        sentence=_sentence(had.grades) if is_whole else "",
        error=error,
        run=f"{RUNS}/{had.folder.name}" if had.folder is not None else "",
        figures=_figures(had),
        # An interrupted item says nothing about the model.
        grades=tuple(had.grades) if is_whole else (),
        pictures=tuple(had.pictures),
        started_at=started_at,
        seconds=round(time.monotonic() - began, 3),
    )


def _redraw(paper: Paper, settings: Settings) -> Paper:
    """The paper with marks in the style of the settings; unchanged for the usual style."""
    if settings.observe.style == "coloured":
        return paper
    style = STYLES[settings.observe.style]

    def drawn(question: PageQuestion) -> PageQuestion:
        *earlier, last = question.before or (None,)
        if last is not None and settings.model.previous_picture:
            last = last.model_copy(update={"observation": annotate.redraw_marks(last.observation, style)})
        before = (*earlier, last) if last is not None else ()
        return replace(question, seen=annotate.redraw_marks(question.seen, style), before=before)

    return replace(paper, questions=[drawn(question) for question in paper.questions])


def _size(width: int, height: int) -> Size:
    return Size(width=width, height=height)


def _sentence(grades: Sequence[Grade]) -> str:
    if len(grades) == 1:
        answer = grades[0].answer or "no usable reply"
        return f"{answer}. {grades[0].sentence}"
    return _count_sentence(grades)


def _count_sentence(grades: Sequence[Grade]) -> str:
    return f"{sum(grade.is_right for grade in grades)} of {len(grades)} steps match the reference"


def _figures(had: _AnswersSoFar) -> RunMetrics | None:
    """The figures of the run, with zeros for everything that needs a live page."""
    if had.run is None:
        return None
    run = assemble(had.run, had.events)
    figures = run_metrics_of(run)
    agent_s = round(max(0.0, sum(step.seconds for step in run.steps) - figures.model_s), 3)
    return figures.model_copy(update={"good_steps": 0, "refusals": {}, "page_s": 0.0, "agent_s": agent_s})


async def _answer_all(
    item: Item, paper: Paper, settings: Settings, out: Path, had: _AnswersSoFar, model: Model | None
) -> None:
    runs, run_id = out / item.folder / RUNS, new_run_id(datetime.now(UTC))
    folder = RunFolder.create(runs, run_id, Redactor(()), shared=out / _PICTURES)
    had.folder = folder.path
    try:
        async with AsyncExitStack() as stack:
            decider = _Decider(item, settings.model, folder, stack, model)
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
                    capabilities=await decider.describe(),
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
                        each.sha256 for each in page_pictures(question.before, question.seen, settings.model)
                    ]
            except VisionAgentError as trouble:
                tell(Ended(ending=Ending(status="unavailable", sentence=str(trouble))))
                raise
            is_right = all(grade.is_right for grade in had.grades)
            status = "done" if is_right else "not_done"
            tell(Ended(ending=Ending(status=status, sentence=_count_sentence(had.grades))))
    finally:
        began = bool(folder.head)
        folder.close()
        if began:
            with suppress(RecordError):
                write_report(folder.path, holds_pictures=False)


async def _answer(
    index: int, question: PageQuestion, task: Task, decider: _Decider, settings: Settings, tell: Callable[[Event], None]
) -> Grade:
    started_at, began = datetime.now(UTC), time.monotonic()
    tell(Observed(step=index, observation=question.seen))
    # Include only messages sent before this page was observed.
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
    grade = grade_decision(decision, question.reference, question.seen)
    answer = decision or Decision(author="scripted", model=decider.name, next_goal=f"No usable reply: {complaint}")
    tell(Decided(step=index, decision=answer))
    for place, action in enumerate(answer.actions):
        tell(Intended(step=index, index=place, action=action))
        outcome = Outcome(status="refused", refusal="recorded", sentence=grade.sentence)
        tell(Happened(step=index, index=place, outcome=outcome))
    boxes = tuple(box for aim in question.reference.aims for box in aim.boxes)
    tell(Graded(step=index, is_right=grade.is_right, sentence=grade.sentence, boxes=boxes))
    tell(Stepped(step=index, started_at=started_at, seconds=round(time.monotonic() - began, 3)))
    return grade


class _Decider:
    """Answers the questions of one item with its model."""

    def __init__(
        self, item: Item, settings: ModelSettings, folder: RunFolder, stack: AsyncExitStack, model: Model | None
    ) -> None:
        self.name = item.model
        self._model: Model | None = model
        if model is not None:
            return
        if item.model == "random":
            # Independent of the settings, so that they are compared on the same answers.
            self._model = RandomModel(f"{item.task} {item.seed}", _NEVER_ENDS, anywhere=True)
        elif item.model == "match":
            self._model = MatchModel(_NEVER_ENDS)
        elif settings.dialect == "browser":
            raise UsageError(
                "Claude's browser toolset needs one conversation, but here each page is asked about separately",
                "remove model.dialect",
            )
        elif item.model != "steps":
            # No redaction is needed: records name secrets and never contain them.
            self._model = make_model(
                item.model, settings=settings, redact=Redactor(()), keep_request=folder.keep_request
            )
            stack.push_async_callback(self._model.aclose)

    async def describe(self) -> dict[str, JsonValue]:
        """The capabilities that its provider reports."""
        facts = await self._model.describe() if self._model is not None else {}
        return {self._model.name: facts} if self._model is not None and facts else {}

    async def decide(self, task: Task, question: PageQuestion, complaint: str) -> Decision:
        """The answer of the model."""
        if self._model is None:
            # Only this page's line: earlier steps did not come from it.
            return await StepsModel([question.line]).decide(task, (), question.seen)
        return await self._model.decide(task, question.before, question.seen, complaint=complaint)
