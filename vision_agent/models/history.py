"""What was done so far, as a model is told: an entry for each step, by the history policy of the settings.

What is rendered for a finished step stays as it is, so that a prompt begins as the one before did and can be cached;
only `compressed` changes what it said, once in ten steps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from vision_agent.actions import Action, Cell, Custom, Point, Target
from vision_agent.models.fill import as_data, as_line, fill, in_lines
from vision_agent.relevance import relevant_lines, touched_by
from vision_agent.settings import ModelSettings
from vision_agent.types import Message, Outcome, Step, Task

BLOCK = 10
"""Steps that are told in one entry, a line each, once they are this far back."""
_DECISIVE = {"kind", "target", "source", "mark"}


def log_of(task: Task, steps: Sequence[Step], settings: ModelSettings) -> tuple[str, ...]:
    """One entry for each earlier step, or for a block of them; with `short` for all but the last (`last_of`)."""
    match settings.history:
        case "short":
            return in_short(task, steps, settings)[:-1]
        case "full":
            return tuple(_full(index, task, steps, settings) for index in range(len(steps)))
        case "data":
            return tuple(_entry(index, task, steps, settings) for index in range(len(steps)))
    # The last whole block stays in full until the next one is whole, so that some past is always near.
    told = max(0, len(steps) // BLOCK - 1) * BLOCK
    blocks = tuple(_block(begin, task, steps, settings) for begin in range(0, told, BLOCK))
    return (*blocks, *(_entry(index, task, steps, settings) for index in range(told, len(steps))))


def in_short(task: Task, steps: Sequence[Step], settings: ModelSettings) -> tuple[str, ...]:
    """One short entry for each earlier step: its goal, what came of it, and what was noted."""
    return tuple(_short(index, task, steps, settings) for index in range(len(steps)))


def last_of(task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    """What is told of the last step beside the log, because it is told shorter later; empty where the log has it."""
    return _entry(len(steps) - 1, task, steps, settings) if settings.history == "short" and steps else ""


def _short(index: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    step = steps[index]
    return fill(
        "step_short",
        number=str(index + 1),
        said=said_by_person(said_before(index, task, steps)),
        judgement=step.decision.judgement,
        memory=_memory(step, settings),
        goal=as_line(step.decision.next_goal) or "none",
        outcomes=in_lines(_done(step, in_words=False)),
    )


def _full(index: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    page = fill("step_page", number=str(index + 1), listing=as_data(steps[index].observation.listing))
    return page + _entry(index, task, steps, settings)


def _entry(index: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    step = steps[index]
    decision, seen = step.decision, step.observation
    return fill(
        "step",
        number=str(index + 1),
        said=said_by_person(said_before(index, task, steps)),
        url=as_line(seen.url),
        title=as_line(seen.title),
        judgement=decision.judgement,
        summary=as_line(decision.summary) or "none",
        memory=_memory(step, settings),
        goal=as_line(decision.next_goal) or "none",
        marks=in_lines(_marks(task, step, settings)),
        outcomes=in_lines(_done(step)),
    )


def _memory(step: Step, settings: ModelSettings) -> str:
    return ("" if "memory" in settings.ablate else as_line(step.decision.memory)) or "none"


def _marks(task: Task, step: Step, settings: ModelSettings) -> list[str]:
    """The lines of the few marks that mattered; none where the page is told whole, or not at all."""
    if settings.history == "full" or not {"filter", "listing"}.isdisjoint(settings.ablate):
        return []
    touched = frozenset(touched_by(step.decision.actions))
    # By the goal and not by what the person says later: an entry stays as it is once it was sent.
    wanted = f"{task.goal} {step.decision.next_goal}"
    return [as_line(line) for line in relevant_lines(step.observation.listing, touched, wanted)]


def _block(begin: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    block = steps[begin : begin + BLOCK]
    said = [each for index in range(begin, begin + BLOCK) for each in said_before(index, task, steps)]
    lines = [
        f"{at}. {as_line(step.decision.next_goal) or 'no goal'}: {'; '.join(_done(step, in_words=False))}"
        for at, step in enumerate(block, begin + 1)
    ]
    memories = [_memory(step, settings) for step in block if step.decision.memory and "memory" not in settings.ablate]
    return fill(
        "steps_compressed",
        first=str(begin + 1),
        last=str(begin + len(block)),
        said=said_by_person(said),
        memory=in_lines(dict.fromkeys(memories)),
        steps=in_lines(lines),
    )


def _done(step: Step, *, in_words: bool = True) -> list[str]:
    """Each action and what came of it."""
    outcomes = [*step.outcomes, *[None] * len(step.decision.actions)]
    instead = "the person did instead: " if step.approval and step.decision.author == "human" else ""
    return [
        f"{number}. {instead}{_action(action)} → {_outcome(outcome, in_words=in_words)}"
        for number, (action, outcome) in enumerate(zip(step.decision.actions, outcomes, strict=False), 1)
    ]


def _action(action: Action) -> str:
    if isinstance(action, Custom):
        return as_line(f"{action.name} {json.dumps(action.arguments, ensure_ascii=False)}")
    targets = [
        _target(each)
        for each in (getattr(action, name, None) for name in ("source", "target", "mark"))
        if each is not None
    ]
    # Only what was set is told: defaults would make each line three times as long.
    rest = action.model_dump(mode="json", exclude=_DECISIVE, exclude_defaults=True)
    said = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in rest.items()]
    return as_line(" ".join([action.kind, " to ".join(targets), *said]).replace("  ", " "))


def _target(target: Target) -> str:
    match target:
        case Point():
            return f"({target.x:g}, {target.y:g})"
        case Cell():
            return f"[{target.mark}] row {target.row} column {target.column}"
        case _:
            return f"[{target}]"


def _outcome(outcome: Outcome | None, *, in_words: bool) -> str:
    if outcome is None:
        return "not carried out"
    became = f"{outcome.status}, {outcome.refusal}"
    if outcome.status == "done":
        became = f"done, {outcome.effect or 'unknown effect'}"
    if not in_words:
        return became
    read = "\n" + as_data(outcome.read) if outcome.read else ""
    return f"{became}: {as_line(outcome.sentence)}{read}"


def said_before(index: int, task: Task, steps: Sequence[Step]) -> list[Message]:
    """What the person said between the start of the step before and the start of this one.

    By time and not by when we were asked, so that the entry of a finished step does not change any more.
    """
    since = steps[index - 1].started_at if index else None
    until = steps[index].started_at if index < len(steps) else None
    return [
        each for each in task.messages if (since is None or each.at > since) and (until is None or each.at <= until)
    ]


def said_by_person(messages: Sequence[Message]) -> str:
    return in_lines(f"<person>{as_data(each.text.strip())}</person>" for each in messages)
