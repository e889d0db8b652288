"""What the supervision page shows of an observation and a proposal, as JSON values."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from vision_agent.actions import mark_in, targets_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.text.escape import terminal_text
from vision_agent.text.urls import shown_address
from vision_agent.types import Candidate, Choice, Decision, Risky


@dataclass
class PendingDecision:
    """A decision awaiting an answer."""

    number: int
    observation: Observation
    decision: Decision
    risks: tuple[Risky, ...]
    is_required: bool
    """Whether the policy requires an answer; if not, it is pending only because the run is paused."""
    answer: asyncio.Future[Choice | None]


def observation_state(seen: Observation) -> dict[str, Any]:
    """The page's picture and marks; boxes and labels as x, y, width and height in pixels of the marked picture."""
    shown = seen.marked.map.box_to_picture
    boxes = [(mark, shown(mark.box)) for mark in seen.marks]
    return {
        "id": seen.id,
        "url": shown_address(seen.url),
        "title": seen.title,
        "marked": seen.marked.sha256,
        "clean": seen.clean.sha256,
        "size": [seen.marked.size.width, seen.marked.size.height],
        "warnings": list(seen.warnings),
        "marks": [
            {
                "n": mark.number,
                "name": mark.name,
                "tag": mark.tag,
                "box": _edges(box),
                "label": _edges(mark.label.box) if mark.label else None,
            }
            for mark, box in boxes
        ],
    }


def escaped(value: Any) -> Any:
    """The value with its texts escaped as in the terminal, except actions: a person edits them and sends them back."""
    match value:
        case str():
            return terminal_text(value)
        case list():
            return [escaped(each) for each in value]
        case dict():
            return {name: each if name == "action" else escaped(each) for name, each in value.items()}
    return value


def _edges(box: Box) -> list[float]:
    return [box.x, box.y, box.width, box.height]


def proposal_state(asked: PendingDecision) -> dict[str, Any]:
    """What the model wants to do, as data and in words, its risks, and the other marks that it considered."""
    decision = asked.decision
    return {
        "number": asked.number,
        "goal": decision.next_goal,
        "author": decision.model or decision.author,
        "isWanted": asked.is_required,
        "actions": [
            {"said": describe_action(action, asked.observation), "action": action.model_dump(mode="json")}
            for action in decision.actions
        ],
        "risks": [risk.model_dump(mode="json") for risk in asked.risks],
        "candidates": [each.model_dump(mode="json") for each in _others(decision)],
    }


def _others(decision: Decision) -> list[Candidate]:
    """The candidates that are not what is proposed anyway, each mark once."""
    proposed = {mark_in(target) for action in decision.actions for target in targets_of(action)}
    others = {each.mark: each for each in reversed(decision.candidates) if each.mark not in proposed}
    return [each for each in decision.candidates if others.get(each.mark) is each]
