"""Our suites as Inspect tasks. Our seeds are Inspect's epochs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Scorer
from rapidfuzz import process

from vision_agent.errors import UsageError
from vision_agent.evals.security.suite import SecuritySuite
from vision_agent.evals.suites.fixture_suite import FixtureSuite
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.suite import Suite
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.integrations.inspect.scorers import attack_stopped, end_state, hit_oracle
from vision_agent.integrations.inspect.solver import play


@task
def fixtures(
    only: str | list[str] = "", variant: str = "", decider: str | None = None, out: str = "evals", browsers: int = 4
) -> Task:
    """The sites that come with vision-agent, judged by what reached their server.

    Args:
        only: the tasks to run, separated by commas; empty: all.
        variant: the sites in this variant, such as `dark` or `slow`.
        decider: a model of ours in place of Inspect's: `steps`, `match`, `random`.
        out: where the run folders are kept.
        browsers: how many samples run at once.
    """
    suite = suite_named("fixtures")
    assert isinstance(suite, FixtureSuite)
    chosen = suite.varied([variant])[0] if variant else suite
    return _task(chosen, [end_state(), hit_oracle()], only, decider, out, browsers)


@task
def miniwob(
    only: str | list[str] = "",
    pages: str | None = None,
    decider: str | None = None,
    out: str = "evals",
    browsers: int = 4,
) -> Task:
    """MiniWoB++, judged by its own reward; `pages` is the html folder of the miniwob package.

    Args:
        only: the tasks to run, separated by commas; empty: all.
        pages: the html folder of the miniwob package, if it is not installed.
        decider: a model of ours in place of Inspect's: `solver`, `match`, `random`.
        out: where the run folders are kept.
        browsers: how many samples run at once.
    """
    suite = suite_named("miniwob", pages=Path(pages) if pages else None)
    return _task(suite, [end_state(), hit_oracle()], only, decider, out, browsers)


@task
def frozen(
    folder: str, only: str | list[str] = "", decider: str | None = None, out: str = "evals", browsers: int = 4
) -> Task:
    """Recorded pages, answered without a browser; `folder` is what `vision-agent freeze` made.

    Args:
        folder: what `vision-agent freeze` made.
        only: the tasks to run, separated by commas; empty: all.
        decider: a model of ours in place of Inspect's: `steps`, `match`, `random`.
        out: where the run folders are kept.
        browsers: how many samples run at once.
    """
    return _task(suite_named("frozen", folder=Path(folder)), [end_state()], only, decider, out, browsers)


@task
def grounding(
    folder: str, only: str | list[str] = "", decider: str | None = None, out: str = "evals", browsers: int = 4
) -> Task:
    """What one instruction means on one picture.

    Args:
        folder: what `vision-agent freeze` or `export --to grounding` made, or data in Mind2Web's layout.
        only: the tasks to run, separated by commas; empty: all.
        decider: a model of ours in place of Inspect's: `match`, `random`.
        out: where the run folders are kept.
        browsers: how many samples run at once.
    """
    return _task(suite_named("grounding", folder=Path(folder)), [end_state()], only, decider, out, browsers)


@task
def security(only: str | list[str] = "", decider: str | None = None, out: str = "evals", browsers: int = 4) -> Task:
    """Pages that attack the agent, each beside a useful task.

    Args:
        only: the tasks to run, separated by commas; empty: all.
        decider: a scripted decider in place of Inspect's model.
        out: where the run folders are kept.
        browsers: how many samples run at once.
    """
    return _task(SecuritySuite(), [attack_stopped(), end_state()], only, decider, out, browsers)


def _task(
    suite: Suite | OfflineSuite,
    scorers: Sequence[Scorer],
    only: str | Sequence[str],
    decider: str | None,
    out: str,
    browsers: int,
) -> Task:
    # Inspect makes a list of what has commas on its command line.
    named = only.split(",") if isinstance(only, str) else only
    wanted = [each.strip() for each in named if each.strip()]
    if unknown := [each for each in wanted if each not in suite.tasks]:
        near = [found for found, _, _ in process.extract(unknown[0], suite.tasks, limit=2)]
        raise UsageError(
            f"The suite {suite.name} has no task {unknown[0]!r}",
            f"the nearest of its {len(suite.tasks)} are {', '.join(near)}",
        )
    tasks = wanted or suite.tasks
    return Task(
        dataset=[Sample(id=each, input=_goal(suite, each), metadata={"task": each}) for each in tasks],
        solver=play(suite, out, decider, browsers),
        scorer=list(scorers),
        epochs=suite.seeds,
        name=suite.name,
        metadata={"suite": suite.name},
    )


def _goal(suite: Suite | OfflineSuite, task: str) -> str:
    content: Any = suite.content(task)
    goal = content.get("goal") if isinstance(content, dict) else None
    return goal if isinstance(goal, str) and goal else task
