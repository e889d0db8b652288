"""The empty `Memory`, for tests and for runs without a memory."""

from __future__ import annotations

from vision_agent.exemplars import Recalled
from vision_agent.observation import Observation
from vision_agent.types import Task


class EmptyMemory:
    """Recalls nothing."""

    def recall(self, task: Task, observation: Observation) -> Recalled:
        """An empty result."""
        del task, observation
        return Recalled()
