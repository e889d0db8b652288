"""The `Browser` for tests and dry runs: it shows given observations in order and does nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from vision_agent.actions import Action
from vision_agent.observation import Observation
from vision_agent.ports import InnerGate
from vision_agent.types import ManualAction, Outcome


class FakeBrowser:
    """Shows `observations` in order and then repeats the last one; collects the requested actions in `acts`."""

    def __init__(
        self,
        observations: Sequence[Observation],
        outcomes: Sequence[Outcome] = (),
        manual_actions: Sequence[ManualAction] = (),
        downloads: Sequence[str] = (),
    ) -> None:
        self._observations = list(observations)
        self._outcomes = list(outcomes)
        self._manual_actions = manual_actions
        self._downloads = downloads
        self._shown = 0
        self.acts: list[Action] = []

    async def observe(self) -> Observation:
        """The next observation."""
        observation = self._observations[min(self._shown, len(self._observations) - 1)]
        self._shown += 1
        return observation

    async def act(self, action: Action, observation: Observation, inner: InnerGate | None = None) -> Outcome:
        """The next given outcome; once none are left, one that says done."""
        del observation, inner
        self.acts.append(action)
        if self._outcomes:
            return self._outcomes.pop(0)
        return Outcome(status="done", effect="changed", sentence=f"Did {action.kind}.")

    def blocks(self, action: Action) -> bool:
        """False: a fake reaches no host."""
        del action
        return False

    async def downloads(
        self,
        are_enough: Callable[[Sequence[str]], bool],  # noqa: ARG002  no more come
        *,
        within_s: float,  # noqa: ARG002
    ) -> Sequence[str]:
        """The given names."""
        return self._downloads

    async def manual_actions(
        self,
        handed_back: Callable[[], Awaitable[None]],
        *,
        is_over_when_closed: bool = False,  # noqa: ARG002  a fake has no window
    ) -> AsyncGenerator[ManualAction, None]:
        """The given manual actions, once the browser is handed back."""
        await handed_back()
        for each in self._manual_actions:
            yield each
