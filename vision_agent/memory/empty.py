"""The `Memory` that ships for tests and for runs without one: nothing was ever done."""

from __future__ import annotations

from vision_agent.types import Observation, Recalled, Task


class EmptyMemory:
    """Recalls nothing."""

    def recall(self, task: Task, observation: Observation) -> Recalled:
        """That there is nothing like it."""
        del task, observation
        return Recalled()
