"""A decider that a caller gave: checked when the agent is made, and each of its answers when it comes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from vision_agent.errors import UsageError
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task

_SIGNATURE = 'async def decide(self, task, steps, observation, *, complaint="")'
_WHAT_TO_RETURN = 'return a Decision, such as Decision(actions=(Finish(),), author="model")'


def require_decider(model: Any) -> None:
    """Checks what a caller gave as the model.

    Raises:
        UsageError: it is a class, or has no `decide()` that can be called as the loop does.
    """
    if isinstance(model, type):
        raise UsageError(
            f"model={model.__name__} is a class, not a decider", f"give model={model.__name__}(), not the class"
        )
    name = type(model).__name__
    decide = getattr(model, "decide", None)
    if not callable(decide):
        raise UsageError(f"{name} is not a model: it has no decide()", "inherit from vision_agent.ports.Model")
    try:
        signature = inspect.signature(decide)
    except (TypeError, ValueError):  # what is not written in Python may have none
        return
    try:
        signature.bind(None, None, None, complaint="")
    except TypeError as error:
        raise UsageError(f"{name}.decide() cannot be called as it is: {error}", f"write {_SIGNATURE}") from error


class GivenModel(Model):
    """Wraps a decider that a caller gave; one that has only `decide` was enough in the previous version."""

    def __init__(self, decider: Any) -> None:
        self._type = type(decider).__name__
        if not isinstance(decider, Model):
            warnings.warn(
                f"{self._type} should inherit from vision_agent.ports.Model", DeprecationWarning, stacklevel=2
            )
        self.name = getattr(decider, "name", self._type)
        self._decider = decider

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The decision of the wrapped decider.

        Raises:
            UsageError: it returned something else.
        """
        answer: Any = self._decider.decide(task, steps, observation, complaint=complaint)
        if not inspect.isawaitable(answer):
            raise UsageError(f"{self._type}.decide() is not async", f"write {_SIGNATURE}")
        decision: Any = await answer
        if not isinstance(decision, Decision):
            what = "None" if decision is None else f"a {type(decision).__name__}"
            raise UsageError(f"{self._type}.decide() returned {what}", _WHAT_TO_RETURN)
        return decision

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The facts about the wrapped decider."""
        if not isinstance(self._decider, Model):
            return {}
        return await self._decider.describe(known)

    async def aclose(self) -> None:
        """Closes the wrapped decider."""
        if isinstance(self._decider, Model):
            await self._decider.aclose()
