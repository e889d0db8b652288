"""Repairs of a recorded run, kept in one JSON file: the steps that broke, and what replaced them.

The run itself stays as it was recorded. A repair stores its steps as a record does, but only with the marks needed to
identify the targets, so that it replays without a model by the same rules as any recorded step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from vision_agent.actions import mark_in, targets_of
from vision_agent.base_model import FrozenModel, words_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import UsageError
from vision_agent.observation import Change, Mark
from vision_agent.record.run_files import read_file
from vision_agent.record.store import write_whole
from vision_agent.types import Author, Run, Step

PATCH = "patch.json"
"""File name in the folder of the healed run."""


class Repair(FrozenModel):
    """One recorded step, and what replaces it."""

    step: int
    """Index of the recorded step."""
    why: str
    """Why it could not be repeated."""
    decided_by: tuple[Author, ...]
    """Who decided each of the new steps."""
    models: tuple[str, ...] = ()
    in_words: str = ""
    """For people: the old actions, and what replaces them."""
    was: Step
    """The step as recorded."""
    now: tuple[Step, ...] = ()
    """The steps that replace it, in order; empty if the step is no longer needed."""


class Patch(FrozenModel):
    """All repairs of one run."""

    run: str
    """Id of the run it repairs."""
    head: str
    """The head of that run's record."""
    healed_in: str
    """Id of the run that made the last repair."""
    repairs: tuple[Repair, ...] = Field(min_length=1)

    def apply(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps with the repairs in place; a replacement takes the index of the step it replaces."""
        by_step = {repair.step: repair for repair in self.repairs}
        return tuple(
            each.model_copy(update={"index": step.index}) if step.index in by_step else each
            for step in steps
            for each in (by_step[step.index].now if step.index in by_step else (step,))
        )


def read_patch(path: Path, run: Run, head: str) -> Patch:
    """Return the patch in the file `path`, checked against the run and the head of its record.

    Raises:
        UsageError: the file cannot be read, or belongs to another run.
    """
    try:
        patch = Patch.model_validate_json(read_file(path.resolve().parent, path.resolve().name))
    except OSError as error:
        raise UsageError(
            f"The patch {path} cannot be read: {error.strerror}", "name the patch.json of a healed replay"
        ) from error
    except ValidationError as error:
        fault = error.errors()[0]
        if fault["type"] in ("missing", "json_invalid", "model_type") and len(fault["loc"]) <= 1:
            raise UsageError(f"{path} is not a patch", "name the patch.json of a healed replay") from error
        place = ".".join(map(str, fault["loc"]))
        raise UsageError(
            f"The patch {path} is not valid: {place}: {words_of(fault)}", "name the patch.json of a healed replay"
        ) from error
    if (patch.run, patch.head) != (run.id, head):
        raise UsageError(
            f"The patch {path} repairs the run {patch.run}, but this run is {run.id}", "name that run's folder"
        )
    unknown = {repair.step for repair in patch.repairs} - {step.index for step in run.steps}
    if unknown:
        raise UsageError(f"The patch {path} repairs step {min(unknown)}, but the run has no such step")
    return patch


def write_patch(patch: Patch, folder: Path) -> Path:
    """Write the patch into the folder of the healed run and return its path.

    Raises:
        RecordError: the file cannot be written.
    """
    path = folder / PATCH
    write_whole(path, patch.model_dump_json(indent=2, exclude_none=True).encode())
    return path


def build_repair(was: Step, why: str, now: Iterable[Step]) -> Repair:
    """The repair of a recorded step, reduced to the marks that identify its targets."""
    now = tuple(step for step in now if any(each.status != "refused" for each in step.outcomes))
    return Repair(
        step=was.index,
        why=why,
        decided_by=tuple(step.decision.author for step in now),
        models=tuple(dict.fromkeys(step.decision.model for step in now if step.decision.model)),
        in_words=f"{_words(was)} → {'; '.join(map(_words, now)) or 'nothing'}",
        was=_short(was),
        now=tuple(map(_short, now)),
    )


def _words(step: Step) -> str:
    seen = step.observation
    return "; ".join(describe_action(action, seen, numbered=False) for action in step.decision.actions)


def _short(step: Step) -> Step:
    seen = step.observation
    named = {mark_in(target) for action in step.decision.actions for target in targets_of(action)}
    olds = [mark for mark in (*seen.marks, *seen.out_of_view) if mark.number in named or mark.state.focused]

    def short(marks: Iterable[Mark]) -> tuple[Mark, ...]:
        # Look-alikes stay too: whether a mark was the only one of its kind is part of its identity.
        return tuple(mark for mark in marks if any(mark is old or _is_alike(mark, old) for old in olds))

    looked = seen.model_copy(
        update={
            "marks": short(seen.marks),
            "listing": "",
            "frames": {},
            "covered": (),
            "warnings": (),
            "timings": {},
            "change": Change(),
            "out_of_view": short(seen.out_of_view),
            "clean": seen.clean.model_copy(update={"data": None}),
            "marked": seen.marked.model_copy(update={"data": None}),
        }
    )
    decision = step.decision.model_copy(update={"usage": None, "candidates": ()})
    return step.model_copy(update={"observation": looked, "decision": decision})


def _is_alike(mark: Mark, old: Mark) -> bool:
    return (mark.frame, mark.fingerprint) == (old.frame, old.fingerprint)
