"""Exports a run as training examples: for each step, the input a model would get, and the decision.

The input is rendered by the same prompts as in a run; earlier steps are in it as text and are not trained on. It knows
no provider: the format is the common one of chat messages, in which a picture is named by its file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vision_agent.models.prompt.prompt import render
from vision_agent.models.reply import DecisionReply
from vision_agent.observation import Shot
from vision_agent.settings import ModelSettings
from vision_agent.types import Author, Decision, Run

LEARNED_FROM: tuple[Author, ...] = ("model", "human", "steps", "scripted")
"""The authors whose decisions become examples; the agent loop, for one, decides without looking at the page."""


def iter_examples(run: Run) -> Iterator[tuple[dict[str, Any], tuple[Shot, ...]]]:
    """One example for each step in which every action was done, with the pictures that it names by hash.

    If a person was asked to approve the step, `choice` is their answer, and `rejected` the proposal that they replaced.
    The record is already redacted, so nothing is redacted here.
    """
    for place, step in enumerate(run.steps):
        is_good = bool(step.outcomes) and len(step.carried_out) == len(step.decision.actions)
        if step.decision.author not in LEARNED_FROM or not is_good:
            continue
        prompt = render(run.task, run.steps[:place], step.observation, redact=str, settings=ModelSettings())
        before: list[str | Shot] = [prompt.task, *(each.shot for each in run.task.pictures), *prompt.exemplar]
        log = [*prompt.log, *([prompt.last] if prompt.last else [])]
        shown: list[str | Shot] = [*before, *log, *prompt.pictures, prompt.now, prompt.question]
        asked = step.approval.choice if step.approval else None
        chosen: dict[str, Any] = {"choice": asked.kind} if asked is not None else {}
        if step.approval and asked is not None and asked.kind == "replace":
            chosen["rejected"] = {"role": "assistant", "content": [_part(_reply(step.approval.proposed))]}
        yield (
            {
                "messages": [
                    {"role": "system", "content": [_part(prompt.system)]},
                    {"role": "user", "content": [_part(each) for each in shown]},
                    {"role": "assistant", "content": [_part(_reply(step.decision))]},
                ],
                "run": run.id,
                "step": step.index,
                "author": step.decision.author,
                **chosen,
            },
            tuple(each for each in shown if isinstance(each, Shot)),
        )


def _part(each: str | Shot) -> dict[str, Any]:
    return {"type": "text", "text": each} if isinstance(each, str) else {"type": "image", "image": each.sha256}


def _reply(decision: Decision) -> str:
    """The reply that a model would have given."""
    fields = decision.model_dump(mode="json", exclude_none=True)
    fields["wall"] = decision.wall or "none"
    return json.dumps({name: fields[name] for name in DecisionReply.model_fields if name in fields}, ensure_ascii=False)
