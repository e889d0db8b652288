"""A run of the loop alone, with a fake browser, a scripted model and a record in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from vision_agent.actions import Action, Click, Finish
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.events import Troubled
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Mark, Observation, Shot
from vision_agent.record.store import RunInMemory
from vision_agent.types import Decision, Limits, Outcome, Point, Run, Task, Usage

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
DONE = Outcome(status="done", effect="changed", sentence="Clicked mark 1.")
NOTHING = Outcome(status="done", effect="no_effect", sentence="Clicked mark 1. Nothing changed.")
HALF = Outcome(status="partial", refusal="covered", sentence="pointerdown reached mark 1; the rest did not.")
COVERED = Outcome(status="refused", refusal="covered", sentence="Mark 1 is covered by a dialog; close it first.")
CLICK = Click(target=1)
FINISH = Finish(answer="42", evidence=(1,))


def observation(name: str = "o1") -> Observation:
    shot = Shot(media_type="image/png", size=Size(width=1, height=1), sha256=hashlib.sha256(b"").hexdigest(), data=b"")
    button = Mark(
        number=1, tag="button", role="button", kind="button", name="Go",
        box=Box(x=0, y=0, width=9, height=9), point=Point(x=4, y=4),
    )  # fmt: skip
    return Observation(
        id=name, epoch=1, url="about:blank", title="", taken_at=NOW, viewport=Size(width=9, height=9),
        marks=(button,), listing="1[:]<button>Go", clean=shot, marked=shot,
    )  # fmt: skip


def answered_at_cost(tokens: int, cost: float | None = None) -> Decision:
    usage = Usage(input_tokens=tokens - 1, output_tokens=1, cost_usd=cost)
    return Decision(author="model", actions=(CLICK,), usage=usage)


class Ran:
    """A loop with everything at hand that it was given and that it made."""

    def __init__(
        self,
        script: Sequence[Any],
        outcomes: Sequence[Outcome] = (),
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        actions: tuple[Action, ...] = (),
        observations: Sequence[Observation] = (),
        **more: Any,
    ) -> None:
        self.model = ScriptedModel(script)
        self.browser = FakeBrowser(observations or [observation()], outcomes)
        self.record = RunInMemory()
        task = Task(goal="Find it", limits=limits, actions=actions)
        self.loop = Loop(Run(id="r1", task=task, started_at=NOW), self.browser, self.model, self.record, **more)

    async def run(self) -> Run:
        return await self.loop.run()

    @property
    def events(self) -> list[str]:
        return [event.event for event in self.record.events]

    @property
    def troubles(self) -> list[str]:
        return [event.sentence for event in self.record.events if isinstance(event, Troubled)]

    @property
    def ending(self) -> tuple[str, str]:
        """Of the last event, which nothing may follow."""
        last = self.record.events[-1]
        assert last.event == "ended"
        assert self.events.count("ended") == 1
        return last.ending.status, last.ending.sentence
