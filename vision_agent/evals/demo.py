"""The demonstration: a task in a shop and one on a canvas, on sites that are served on loopback and judge it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vision_agent import assets
from vision_agent.evals.suites.fixture_sites import EndVerdict, SiteTask, reached, served, tasks_of
from vision_agent.events import Event
from vision_agent.models.credentials import model_accesses
from vision_agent.ports import Approver
from vision_agent.session import Agent
from vision_agent.settings import Settings
from vision_agent.types import SuccessCheck, Task

_SHOWN = (
    ("shop", "order-hoodie", "Order placed"),
    ("seats", "book-two-in-the-stalls", "the tickets are yours"),
)


@dataclass(frozen=True)
class DemoTask:
    """A task of the demonstration."""

    site: str
    task: SiteTask
    shows: str
    """What its page shows once the task is done; the run checks that, and the site judges for itself."""


@dataclass(frozen=True)
class Staged:
    """A task whose site is being served."""

    agent: Agent
    """Not yet running."""
    verdict: Callable[[], EndVerdict]
    """What the site itself says of the task now."""


def demo_tasks() -> tuple[DemoTask, ...]:
    """A task in a shop made of elements, and one in a hall whose seats are drawn on a canvas."""
    sites = assets.fixtures("sites")
    return tuple(
        DemoTask(site, next(task for task in tasks_of(sites / site) if task.id == name), shows)
        for site, name, shows in _SHOWN
    )


def missing_model(settings: Settings) -> str:
    """Why the model of the settings cannot be asked, so that step lines decide instead; empty if it can."""
    access = model_accesses(settings.model)[0]
    return "" if access.is_ready else f"{access.name} cannot be asked: {access.sentence}"


@contextmanager
def staged(
    shown: DemoTask, settings: Settings, *, on_event: Callable[[Event], None], approver: Approver | None = None
) -> Iterator[Staged]:
    """Serves the site of a task until the block ends, with an agent that is ready to do the task.

    The model of the settings decides, and is given the goal and nothing else. If it cannot be asked, the step lines of
    the task do.
    """
    task = shown.task
    with served(assets.fixtures("sites") / shown.site) as site:
        agent = Agent(
            Task(
                goal=task.goal,
                start_url=site.start(task),
                limits=settings.limits,
                checks=(SuccessCheck(text=shown.shows),),
            ),
            steps=task.steps if missing_model(settings) else None,
            settings=settings,
            on_event=on_event,
            approver=approver,
        )
        yield Staged(agent, lambda: reached(task.expect, site.state()))
