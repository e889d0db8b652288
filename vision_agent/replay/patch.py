"""Repairs of a recorded run, as one JSON file: the steps that broke, and what was done in their place.

The run itself stays as it was recorded. A repair holds its steps as a record does, with those marks alone that tell
what was meant, so that it can be taken again without a model by the same rules as any recorded step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vision_agent.actions import Target, mark_in, targets_of
from vision_agent.errors import UsageError
from vision_agent.phrases import name_of, phrase_of
from vision_agent.record.store import write_whole
from vision_agent.types import Author, Mark, Observation, Run, Step

PATCH = "patch.json"
"""Its name in the folder of the run that healed."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Repair(_Data):
    """One step of the record, and what is done in its place."""

    step: int
    """Of the record."""
    why: str
    """It could not be repeated."""
    decided_by: tuple[Author, ...]
    """Who decided each of the new steps."""
    models: tuple[str, ...] = ()
    in_words: str = ""
    """For a person: what was done, and what is done in its place."""
    was: Step
    """As it was recorded."""
    now: tuple[Step, ...] = ()
    """What is done instead, in order; nothing where the step was not needed any more."""


class Patch(_Data):
    """All repairs of one run."""

    run: str
    """The id of the run that it repairs."""
    head: str
    """That stands for its record."""
    healed_in: str
    """The id of the run in which the last of them was made."""
    repairs: tuple[Repair, ...] = Field(min_length=1)

    def applied(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps with the repairs in their places; what takes the place of a step has its number."""
        by_step = {repair.step: repair for repair in self.repairs}
        return tuple(
            each.model_copy(update={"index": step.index}) if step.index in by_step else each
            for step in steps
            for each in (by_step[step.index].now if step.index in by_step else (step,))
        )


def read_patch(path: Path, run: Run, head: str) -> Patch:
    """The patch in a file, for this run.

    Raises:
        UsageError: it cannot be read, or repairs another run.
    """
    try:
        patch = Patch.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"The patch {path} cannot be read: {error.strerror}", "name the patch.json of a healed replay"
        ) from error
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise UsageError(
            f"The patch {path} does not fit: {place}: {fault['msg']}", "name the patch.json of a healed replay"
        ) from error
    if (patch.run, patch.head) != (run.id, head):
        raise UsageError(
            f"The patch {path} repairs the run {patch.run}, and this is {run.id}", "name that run's folder"
        )
    unknown = {repair.step for repair in patch.repairs} - {step.index for step in run.steps}
    if unknown:
        raise UsageError(f"The patch {path} repairs step {min(unknown)}, and the run has none of that number")
    return patch


def write_patch(patch: Patch, folder: Path) -> Path:
    """The file, in the folder of the run that healed.

    Raises:
        RecordError: it cannot be written.
    """
    path = folder / PATCH
    write_whole(path, patch.model_dump_json(indent=2, exclude_none=True).encode())
    return path


def repair_of(was: Step, why: str, now: Iterable[Step]) -> Repair:
    """What a step of the record became, shortened to what tells its things apart."""
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
    return "; ".join(
        " ".join(word if isinstance(word, str) else _named(word, step.observation) for word in phrase_of(action))
        for action in step.decision.actions
    )


def _named(target: Target, seen: Observation) -> str:
    number = mark_in(target)
    mark = seen.mark(number) if number is not None else None
    return mark.role + name_of(mark, seen) if mark else "a place in the picture"


def _short(step: Step) -> Step:
    seen = step.observation
    named = {mark_in(target) for action in step.decision.actions for target in targets_of(action)}
    olds = [mark for mark in seen.marks if mark.number in named or mark.state.focused]
    # Those that are alike stay too: whether a thing was one of its kind then is part of what it was.
    kept = tuple(mark for mark in seen.marks if any(mark is old or _is_alike(mark, old) for old in olds))
    looked = seen.model_copy(
        update={
            "marks": kept,
            "listing": "",
            "frames": {},
            "covered": (),
            "warnings": (),
            "timings": {},
            "clean": seen.clean.model_copy(update={"data": None}),
            "marked": seen.marked.model_copy(update={"data": None}),
        }
    )
    decision = step.decision.model_copy(update={"usage": None, "candidates": ()})
    return step.model_copy(update={"observation": looked, "decision": decision})


def _is_alike(mark: Mark, old: Mark) -> bool:
    return (mark.frame, mark.fingerprint) == (old.frame, old.fingerprint)
