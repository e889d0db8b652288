"""The browser agent that sees what it clicks.

The public names, found when they are first used, so that `import vision_agent` loads no browser and no model's client.
"""

from __future__ import annotations

from importlib import import_module

from vision_agent import old_names

TYPE_CHECKING = False
"""For type checkers, which take it for true. `typing` would be most of what this module costs, and Ctrl-C prints a
traceback until it is loaded."""

if TYPE_CHECKING:
    from typing import Any

    from vision_agent.actions import Action as Action
    from vision_agent.actions import Cell as Cell
    from vision_agent.actions import Point as Point
    from vision_agent.custom_actions import action as action
    from vision_agent.errors import VisionAgentError as VisionAgentError
    from vision_agent.observation import Mark as Mark
    from vision_agent.observation import Observation as Observation
    from vision_agent.policy.approval import Answers as Answers
    from vision_agent.session import Agent as Agent
    from vision_agent.session import attach as attach
    from vision_agent.session import observe as observe
    from vision_agent.settings import Settings as Settings
    from vision_agent.types import Choice as Choice
    from vision_agent.types import Decision as Decision
    from vision_agent.types import Limits as Limits
    from vision_agent.types import Outcome as Outcome
    from vision_agent.types import Run as Run
    from vision_agent.types import Secret as Secret
    from vision_agent.types import Step as Step
    from vision_agent.types import Task as Task
    from vision_agent.types import Usage as Usage
    from vision_agent.vision.icons.named import name_icons as name_icons
    from vision_agent.vision.labels.annotated import annotate as annotate

_HOME = {
    "Agent": "session",
    "observe": "session",
    "attach": "session",
    "Settings": "settings",
    "Action": "actions",
    "Cell": "actions",
    "Point": "actions",
    "Answers": "policy.approval",
    "action": "custom_actions",
    "annotate": "vision.labels.annotated",
    "name_icons": "vision.icons.named",
    "VisionAgentError": "errors",
    **dict.fromkeys(("Mark", "Observation"), "observation"),
    **dict.fromkeys(
        ("Choice", "Decision", "Limits", "Outcome", "Run", "Secret", "Step", "Task", "Usage"),
        "types",
    ),
}

__all__ = sorted(_HOME)
old_names.install()


def __dir__() -> list[str]:
    """The public names, for completion in a prompt or notebook."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"vision_agent.{_HOME[name]}"), name)
    if name in old_names.NAMES[__name__]:
        return old_names.renamed(__name__, name)
    raise AttributeError(f"vision_agent has no {name}; it has {', '.join(__all__)}")
