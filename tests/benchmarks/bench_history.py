"""What a model is sent over a run of 30 steps, by each history policy: `make bench-history`.

One run is made on the shop in a real browser, by lines; each of its steps is then put as a prompt in every way, and
counted. Tokens of texts are an estimate (`browser.tokens`), those of pictures are the provider's rule (`image_limits`).
What a prompt has in common with the one before it, from its start on, comes from the provider's cache.

And what the listing of a page of some hundred links costs, whole and as it is cut for a goal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent import Agent, observe
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.evals.listing_tokens import count_tokens
from vision_agent.evals.suites.fixture_sites import served, tasks_of
from vision_agent.models.offline.steps import StepsModel
from vision_agent.models.prompt.listing_filter import filter_listing
from vision_agent.models.prompt.prompt import Prompt, render
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.settings import History, ModelSettings, Settings
from vision_agent.types import Decision, Run, Step, Task
from vision_agent.vision.image_limits import ImageLimits, image_limits_for

SHOP = Path(__file__).parents[2] / "fixtures" / "sites" / "shop"
STEPS = 30


class Noting(Model):
    """Follows lines and says of each page what a model says: two sentences of summary, one of memory."""

    name = "noting"

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = StepsModel(lines)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        decision = await self._lines.decide(task, steps, observation, complaint=complaint)
        return decision.model_copy(
            update={
                "summary": f"The page {observation.title!r} of the shop is open. What was done before shows on it.",
                "memory": f"Step {len(steps) + 1}: {decision.next_goal} on {observation.url}.",
            }
        )


@dataclass(frozen=True)
class Cost:
    """Of all requests of the run together, in tokens."""

    history: str
    previous_picture: bool
    sent: int
    cached: int
    """Of these, what the request before began with as well."""
    last_request: int


async def recorded() -> Run:
    first, second, *_ = (task.steps[:-1] for task in tasks_of(SHOP))
    lines = [*first, "go to /product?sku=enamel-mug", *second[2:]][:STEPS]
    with served(SHOP) as site, tempfile.TemporaryDirectory() as runs:
        agent = Agent(
            Task(goal="Order a hoodie, then two mugs.", start_url=f"{site.url}/"),
            model=Noting([each.replace("go to /", f"go to {site.url}/") for each in lines] + ["finish"]),
            settings=Settings(runs=Path(runs)),
        )
        return await agent.run()


def cost_of(run: Run, settings: ModelSettings) -> Cost:
    image_limits = image_limits_for(settings.name)
    sent = cached = last = 0
    before: list[str] = []
    for at, step in enumerate(run.steps):
        prompt = render(run.task, run.steps[:at], step.observation, redact=str, settings=settings)
        fixed = [prompt.system, prompt.task, *prompt.log]
        same = next((i for i, (one, other) in enumerate(zip(fixed, before, strict=False)) if one != other), None)
        cached += sum(map(count_tokens, before[: same if same is not None else len(before)]))
        last = sum(map(count_tokens, (*fixed, prompt.last, prompt.now, prompt.question))) + _of_pictures(
            prompt, image_limits
        )
        sent += last
        before = fixed
    return Cost(settings.history, settings.previous_picture, sent, cached, last)


def _of_pictures(prompt: Prompt, image_limits: ImageLimits) -> int:
    return sum(image_limits.tokens(each.size) for each in prompt.pictures)


CROWDED = """<title>Directory</title>
<style>body{columns:8;font:12px sans-serif}a{display:block;line-height:20px}</style>
<body><script>const kinds = ['Bakery', 'School', 'Museum', 'Garage', 'Clinic', 'Library', 'Theatre'];
for (let i = 0; i < 280; i++) document.write(`<a href="/${i}">${kinds[i % 7]} of district ${i}</a>`);
document.write('<a href="/imprint">Imprint</a>');</script>"""


async def listings() -> dict[str, int]:
    """Tokens of the crowded page's listing, as it is and as it is cut."""
    settings = Settings()
    async with launch_browser(settings.browser) as started:
        page = await started.context.new_page()
        await page.set_content(CROWDED)
        seen = await observe(page, settings)
    task = Task(goal="Find the imprint of the directory")
    cut = filter_listing(task, (), seen, settings.model)
    return {"marks": len(seen.marks), "whole": count_tokens(seen.listing), "cut": count_tokens(cut)}


def show(costs: Sequence[Cost], steps: int) -> None:
    table = Table("history", "picture before", "sent", "of it cached", "last request", box=SIMPLE)
    for each in costs:
        table.add_row(
            each.history,
            "yes" if each.previous_picture else "no",
            f"{each.sent:,}",
            f"{each.cached / each.sent:.0%}",
            f"{each.last_request:,}",
        )
    Console().print(f"Tokens over a run of {steps} steps on the shop", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    wants = parser.parse_args()
    run = asyncio.run(recorded())
    assert run.ending is not None
    assert run.ending.status == "done", run.ending.sentence
    ways = [(history, picture) for history in get_args(History) for picture in (False, True)]
    costs = [cost_of(run, ModelSettings(history=history, previous_picture=picture)) for history, picture in ways]
    crowded = asyncio.run(listings())
    if wants.json:
        print(json.dumps({"histories": [asdict(each) for each in costs], "crowded": crowded}, indent=2))
    else:
        show(costs, len(run.steps))
        print(f"Tokens of a listing of {crowded['marks']} links: {crowded['whole']:,} whole, {crowded['cut']:,} as cut")


if __name__ == "__main__":
    main()
