"""Results made by hand, and runs to go with them: what the tests of tables and pages are about."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "record"))
from record_builder import done, observation, run, step_events, write_run

from vision_agent.actions import Action
from vision_agent.evals.items import RESULT, RUNS, ItemResult, found_in, make_item, write_result
from vision_agent.evals.run_metrics import RunMetrics
from vision_agent.events import Ended, Event, Started
from vision_agent.settings import Settings
from vision_agent.types import Ending

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def results_in(folder: Path) -> list[ItemResult]:
    return [found.result for found in found_in(folder)]


def result_files(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in out.glob(f"*/*/{RESULT}")}


def result(
    task: str,
    model: str,
    passed: bool | None,
    *,
    seed: int = 1,
    error: str = "",
    settings: Settings | None = None,
    **more: object,
) -> ItemResult:
    figures = {
        "ending": "done", "steps": 4, "good_steps": 3, "refusals": {"covered": 1}, "tokens": 100, "cost_usd": 0.01,
        "model_s": 2.0, "page_s": 1.0, "agent_s": 0.5, **more,
    }  # fmt: skip
    return ItemResult(
        item=make_item("notes", task, seed, model, settings or Settings(), {"goal": more.pop("goal", task)}),
        score=None if passed is None else float(passed),
        passed=passed,
        error=error,
        figures=None if error else RunMetrics.model_validate({k: v for k, v in figures.items() if k != "goal"}),
        started_at=NOW,
        seconds=5.0,
    )


def keep_with_run(told: ItemResult, out: Path, acts: Sequence[tuple[Action, ...]]) -> ItemResult:
    """The result as kept, with a run folder beside it in which each step saw the same page and did what is said."""
    home = out / told.item.folder
    events: list[Event] = [Started(run=run())]
    for index, actions in enumerate(acts, 1):
        events += step_events(index, *((action, done()) for action in actions), seen=observation(f"o{index}"))
    events.append(Ended(ending=Ending(status="done", sentence="It ended.")))
    folder = write_run(home / RUNS, events).path
    kept = told.model_copy(update={"run": str(folder.relative_to(home))})
    write_result(kept, out)
    return kept
