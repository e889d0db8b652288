"""What the tests of the last word share: a page with a few marks, and a loop over it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from vision_agent.actions import Action, Click
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Mark, MarkState, Observation, Shot
from vision_agent.ports import Approver, Model
from vision_agent.record.store import RunInMemory
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Candidate, Decision, Limits, ManualAction, Point, Run, Task, Usage

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def mark(number: int, name: str, *, tag: str = "button", kind: Any = "button", **state: Any) -> Mark:
    box = Box(x=10, y=40 * number, width=100, height=30)
    return Mark(
        number=number, tag=tag, role=tag, kind=kind, name=name, state=MarkState(**state), box=box, point=box.center
    )


MARKS = (
    mark(1, "Read more"),
    mark(2, "Pay now"),
    mark(3, "Name", tag="input", kind="field", input_type="text", focused=True),
)


def seen(*marks: Mark, url: str = "https://shop.example/cart") -> Observation:
    shot = Shot(
        media_type="image/png", size=Size(width=640, height=400), sha256=hashlib.sha256(b"").hexdigest(), data=b""
    )
    return Observation(
        id="o1", epoch=1, url=url, title="Cart", taken_at=NOW, viewport=Size(width=640, height=400),
        marks=marks or MARKS, listing="1[:]<button>Read more\n2[:]<button>Pay now", clean=shot, marked=shot,
    )  # fmt: skip


def decided(*actions: Action, goal: str = "Pay") -> Decision:
    return Decision(
        author="model", model="anthropic:test", next_goal=goal, memory="The cart is full", actions=actions,
        candidates=(Candidate(mark=1, reason="it may be a way back"),), usage=Usage(input_tokens=100, cost_usd=0.01),
        request_sha256="0" * 64,
    )  # fmt: skip


class Supervised:
    """A loop whose decisions are asked about, with everything it was given and made."""

    def __init__(
        self,
        script: Sequence[Any],
        approver: Approver | None,
        ask: Any = "always",
        *,
        policy: ApprovalSettings | None = None,
        by_hand: Sequence[ManualAction] = (),
        model: Model | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        **more: Any,
    ) -> None:
        self.browser = FakeBrowser([seen()], manual_actions=by_hand)
        self.record = RunInMemory()
        policy = policy or ApprovalSettings(ask=ask)
        run = Run(id="r1", task=Task(goal="Pay for it", limits=limits), started_at=NOW)
        self.model = model or ScriptedModel(script)
        self.loop = Loop(run, self.browser, self.model, self.record, approver=approver, policy=policy, **more)

    async def run(self) -> Run:
        return await self.loop.run()

    @property
    def events(self) -> list[str]:
        return [event.event for event in self.record.events]


PAY = Click(target=2)
POINT = Point(x=60, y=95)
