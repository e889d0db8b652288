"""What the tests of the page of runs share: the person's page, and folders of runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.record.record_builder import run, step_events, task, write_run
from vision_agent.actions import Click, Finish
from vision_agent.events import Ended, Event, Started
from vision_agent.types import Ending, Outcome, Provenance, Usage

NOW = datetime.now(UTC)


class Desk:
    """A browser page that shows the runs, as a person sees and uses it."""

    def __init__(self, page: Page, runs: Path) -> None:
        self.page = page
        self.runs = runs
        self.base = ""
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda told: self.faults.append(told.text) if told.type == "error" else None)

    async def open(self, address: str) -> None:
        await self.page.goto(address)
        await self.page.wait_for_url("**/")  # without the token
        await self.is_ready()
        self.base = self.page.url

    @property
    def cards(self) -> Locator:
        return self.page.locator(".card")

    @property
    def goals(self) -> Locator:
        return self.page.locator(".card h3")

    async def show(self, goal: str) -> None:
        """Opens the page of the run with this goal."""
        await self.page.goto(self.base)
        await self.page.get_by_role("link", name=goal).click()
        await self.is_ready()
        await expect(self.page.locator("#stage")).to_be_visible()

    async def is_ready(self) -> None:
        """Waits until the page hears keys."""
        await expect(self.page.locator("html.js")).to_be_attached()

    def forgive(self, *codes: int) -> None:
        """Leaves out what the browser says of answers with these codes, which a test asked for."""
        self.faults[:] = [each for each in self.faults if not any(f"status of {code}" in each for code in codes)]


def a_run(
    runs: Path, goal: str, *, days: int = 0, status: Any = "done", model: str = "StepsModel", **more: Any
) -> Path:
    """The folder of a run of two steps with this goal, which ended so and was started so many days ago."""
    at = NOW - timedelta(days=days)
    url = more.pop("url", "https://shop.example/")
    run_id = f"{at:%Y%m%d}-{len(list(runs.glob('*'))):04}"
    usage = Usage(input_tokens=1000, output_tokens=100, cost_usd=0.25) if ":" in model else None
    said: dict[str, Any] = {"usage": usage, "next_goal": f"Go on with: {goal}"}
    clicked = Outcome(status="done", effect="changed", sentence="Clicked 5.", rung=1, seconds=0.2)
    finished = Outcome(status="done", effect="finished", sentence="Finished.")
    events: list[Event] = [
        Started(
            run=run(
                run_id,
                task=task(goal=goal, start_url=url),
                started_at=at,
                provenance=Provenance(model=model, browser="Chromium"),
            )
        ),
        *step_events(1, (Click(target=5), clicked), **said),
        *step_events(2, (Finish(answer="Yes"), finished), **said),
        Ended(ending=Ending(status=status, sentence=more.pop("sentence", f"It ended as {status}."))),
    ]
    return write_run(runs, events).path
