"""Says in words who decided a run: the model first, then what else had a part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from vision_agent import actions
from vision_agent.types import RECORDING, Approval, Decision, Run

_AUTHORS = {
    "steps": "step lines",
    "human": "a person",
    "scripted": "scripted decisions",
    "replay": "recorded decisions",
    "memory": "memory",
    "loop": "the agent loop",
    "client": "A client that drove the run",
    RECORDING: "what a person did",
}
"""By `Decision.author`, and by `Provenance.model` where it names no model."""


def deciders_of(run: Run, decided: Iterable[tuple[Decision, Approval | None]] | None = None) -> str:
    """Who decided a run: `mine; a person gave an instruction`, `No model: step lines`.

    `decided`: its decisions, each with the approval that was asked for; None: those of its complete steps.
    """
    models, others, parts = dict[str, None](), dict[str, None](), Counter[str]()
    for decision, approval in decided or ((step.decision, step.approval) for step in run.steps):
        asked = approval.proposed if approval is not None else decision
        if asked.author in ("model", "client"):
            models[_name_of(asked)] = None
        elif asked.author == "loop":
            parts[_part_of_loop(asked)] += 1
        elif asked.author == "human" and asked.model is None and run.provenance.model != RECORDING:
            parts["a person drove the browser"] += 1
        else:
            others[_name_of(asked)] = None
        if part := _part_of_person(approval):
            parts[part] += 1
    told = "; ".join(filter(None, (", ".join([*models, *others]), *map(_repeated, parts, parts.values()))))
    if told:
        return told if models else f"No model: {told}"
    planned = run.provenance.model or "nobody yet"
    words = _AUTHORS.get(planned, planned)
    return words if planned not in _AUTHORS or planned == "client" else f"No model: {words}"


def _name_of(decision: Decision) -> str:
    """Who made a decision: the name of the model, or what it was instead."""
    return decision.model or "a model" if decision.author == "model" else _AUTHORS[decision.author]


def _part_of_loop(decision: Decision) -> str:
    """What the agent did by itself; empty if it only stopped, which the ending says."""
    if any(isinstance(action, actions.Ask) for action in decision.actions):
        return "the agent asked a person"
    if all(isinstance(action, actions.Wait) for action in decision.actions):
        return "the agent waited" if decision.actions else ""
    return "the agent went back"


def _part_of_person(approval: Approval | None) -> str:
    """What whoever was asked did instead of what was proposed; empty if they approved it, or nobody was asked."""
    choice = approval.choice if approval is not None else None
    if choice is None or choice.kind == "approve":
        return ""
    who = "a function" if choice.through == "callback" and not choice.name else "a person"
    return {
        "instruct": f"{who} gave an instruction",
        "replace": f"{who} chose another action",
        "take_over": "a person took over the browser",
        "stop": f"{who} stopped the run",
    }[choice.kind]


def _repeated(part: str, times: int) -> str:
    """The part with how often it happened, where that can be counted."""
    if times > 1 and part.endswith("gave an instruction"):
        return f"{part.removesuffix('an instruction')}{times} instructions"
    return part
