"""Renders the log of earlier steps for a model: one entry per step, according to `model.history`.

The entry of a finished step never changes, so that a prompt starts like the previous one and can be cached; only
`compressed` rewrites entries, once in ten steps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from vision_agent.actions import Action, Cell, Custom, Point, Target
from vision_agent.models.prompt.templates import as_data, as_line, fill, join_lines
from vision_agent.policy.relevance import named_marks, relevant_lines
from vision_agent.settings import ModelSettings
from vision_agent.text.urls import shown_address
from vision_agent.types import Message, Outcome, Step, Task

BLOCK = 10
"""The number of older steps that `compressed` puts into one entry, one line each."""


def render_log(task: Task, steps: Sequence[Step], settings: ModelSettings) -> tuple[str, ...]:
    """One entry for each earlier step or block of steps; with `short`, for all but the last (`render_last_step`)."""
    match settings.history:
        case "short":
            return short_log(task, steps, settings)[:-1]
        case "full":
            return tuple(_full(index, task, steps, settings) for index in range(len(steps)))
        case "data":
            return tuple(_entry(index, task, steps, settings) for index in range(len(steps)))
    # The latest complete block stays in full until the next one is complete, so that recent steps are always detailed.
    compressed = max(0, len(steps) // BLOCK - 1) * BLOCK
    blocks = tuple(_block(begin, task, steps, settings) for begin in range(0, compressed, BLOCK))
    return (*blocks, *(_entry(index, task, steps, settings) for index in range(compressed, len(steps))))


def short_log(task: Task, steps: Sequence[Step], settings: ModelSettings) -> tuple[str, ...]:
    """One short entry for each earlier step: its goal, its outcomes and the model's memory."""
    return tuple(_short(index, task, steps, settings) for index in range(len(steps)))


def render_last_step(task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    """The full entry of the last step, which the log shortens later; empty if the log has it already."""
    return _entry(len(steps) - 1, task, steps, settings) if settings.history == "short" and steps else ""


def _short(index: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    step = steps[index]
    return fill(
        "step_short",
        number=str(index + 1),
        said=person_lines(new_messages(index, task, steps)),
        judgement=step.decision.judgement,
        memory=_memory(step, settings),
        goal=as_line(step.decision.next_goal) or "none",
        outcomes=join_lines(_outcomes(step, in_words=False)),
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
        said=person_lines(new_messages(index, task, steps)),
        url=as_line(shown_address(seen.url)),
        title=as_line(seen.title),
        judgement=decision.judgement,
        summary=as_line(decision.summary) or "none",
        memory=_memory(step, settings),
        goal=as_line(decision.next_goal) or "none",
        marks=join_lines(_marks(task, step, settings)),
        outcomes=join_lines(_outcomes(step)),
    )


def _memory(step: Step, settings: ModelSettings) -> str:
    return ("" if "memory" in settings.ablate else as_line(step.decision.memory)) or "none"


def _marks(task: Task, step: Step, settings: ModelSettings) -> list[str]:
    """The lines of the few relevant marks; none if the log shows the whole listing, or no listing is shown."""
    if settings.history == "full" or not {"filter", "listing"}.isdisjoint(settings.ablate):
        return []
    touched = frozenset(named_marks(step.decision.actions))
    # Chosen by the goal, not by later messages of the person: an entry must not change once it was sent.
    wanted = f"{task.goal} {step.decision.next_goal}"
    return [as_line(line) for line in relevant_lines(step.observation.listing, touched, wanted)]


def _block(begin: int, task: Task, steps: Sequence[Step], settings: ModelSettings) -> str:
    block = steps[begin : begin + BLOCK]
    messages = [each for index in range(begin, begin + BLOCK) for each in new_messages(index, task, steps)]
    lines = [
        f"{at}. {as_line(step.decision.next_goal) or 'no goal'}: {'; '.join(_outcomes(step, in_words=False))}"
        for at, step in enumerate(block, begin + 1)
    ]
    memories = [_memory(step, settings) for step in block if step.decision.memory and "memory" not in settings.ablate]
    return fill(
        "steps_compressed",
        first=str(begin + 1),
        last=str(begin + len(block)),
        said=person_lines(messages),
        memory=join_lines(dict.fromkeys(memories)),
        steps=join_lines(lines),
    )


def _outcomes(step: Step, *, in_words: bool = True) -> list[str]:
    """Each action with its outcome."""
    outcomes = [*step.outcomes, *[None] * len(step.decision.actions)]
    instead = "the person did instead: " if step.approval and step.decision.author == "human" else ""
    return [
        f"{number}. {instead}{_action(action)} → {_outcome(outcome, in_words=in_words)}"
        for number, (action, outcome) in enumerate(zip(step.decision.actions, outcomes, strict=False), 1)
    ]


def _action(action: Action) -> str:
    if isinstance(action, Custom):
        return as_line(f"{action.name} {json.dumps(action.arguments, ensure_ascii=False)}")
    fields = action.traits.targets
    targets = [_target(each) for name in fields if (each := getattr(action, name)) is not None]
    # Without defaults, which would make each line three times as long.
    rest = action.model_dump(mode="json", exclude={"kind", *fields}, exclude_defaults=True)
    fields_text = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in rest.items()]
    return as_line(" ".join(filter(None, [action.kind, " to ".join(targets), *fields_text])))


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


def new_messages(index: int, task: Task, steps: Sequence[Step]) -> list[Message]:
    """The person's messages between the start of the previous step and the start of this one.

    They are selected by time, so that the entry of a finished step never changes.
    """
    since = steps[index - 1].started_at if index else None
    until = steps[index].started_at if index < len(steps) else None
    return [
        each for each in task.messages if (since is None or each.at > since) and (until is None or each.at <= until)
    ]


def person_lines(messages: Sequence[Message]) -> str:
    """The person's messages, one element each, marked as data."""
    return join_lines(f"<person>{as_data(each.text.strip())}</person>" for each in messages)
