"""What share of a step is neither the model's nor the page's: `make bench-step`.

A task of the shop is done in a real browser by a Claude model that is asked through its own SDK. On the other side of
loopback a server takes two seconds for each answer, and answers with the next of the task's lines, resolved on what was
seen. What is told apart is where the time of the one event loop goes, which runs all that the agent does:

- model: the server has a request and has not answered it.
- ours: the loop is not waiting. That is all Python there is: the agent, what it writes to disk, the SDK, and the client
  side of Playwright. Work in threads of the loop's executor counts too, also while the page works.
- page: the loop waits, and neither of these is so. Then Chromium and Playwright's driver work (a scan, a picture, a
  press, a look at what came of it), or the page is given the time to come to rest.

Time in which a thread of ours could have run and the machine ran something else counts for nobody and is told apart, as
"taken": Linux says it of each thread (`/proc/thread-self/schedstat`); elsewhere it counts as ours.

A step lasts from the end of the one before to its own, both as recorded; the first has none before it and is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import selectors
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent import Agent
from vision_agent.evals.suites.fixture_sites import served, tasks_of
from vision_agent.events import Event, Observed, Stepped
from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.observation import Observation
from vision_agent.settings import Settings
from vision_agent.types import Run, Task

sys.path.insert(0, str(Path(__file__).parents[1]))
from messages_server import Answer, MessagesServer, saying

SHOP = Path(__file__).parents[2] / "fixtures" / "sites" / "shop"
MODEL_S = 2.0
REACH = 0.15
"""Of the model's time."""

T = TypeVar("T")
Spans = list[tuple[float, float]]
"""From and to, in seconds of one clock, in order."""


def _taken() -> float:
    """Seconds that this thread was ready to run and did not."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class Watched(selectors.DefaultSelector):
    """Notes when an event loop waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Spans = []
        self.taken: list[tuple[float, float]] = []
        """When the loop began to wait, or a step ended, and what had been taken since it went on before."""
        self._went_on = _taken()

    def select(self, timeout: float | None = None) -> Any:
        began = self.so_far()
        try:
            return super().select(timeout)
        finally:
            self.waits.append((began, time.perf_counter()))
            self._went_on = _taken()

    def so_far(self) -> float:
        """The time, up to which what was taken has now been noted."""
        taken = _taken()  # read first, so that what is taken meanwhile is ours rather than nobody's
        now = time.perf_counter()
        self.taken.append((now, taken - self._went_on))
        self._went_on = taken
        return now


class Threads(ThreadPoolExecutor):
    """Notes when a thread works."""

    def __init__(self) -> None:
        super().__init__()
        self.works: Spans = []
        """As long as they would have been if nothing had been taken."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        def timed() -> T:
            began, taken = time.perf_counter(), _taken()
            try:
                return fn(*args, **kwargs)
            finally:
                self.works.append((began, time.perf_counter() - (_taken() - taken)))

        return super().submit(timed)


class Answering:
    """Gives the next line of a task as a model's answer, two seconds after it was asked."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = parse(lines)
        self._next = 0
        self.seen: Observation | None = None
        self.thinks: Spans = []

    def __call__(self, _request: dict[str, Any]) -> Answer:
        began = time.perf_counter()
        answer = saying(json.dumps(self._reply()))
        time.sleep(MODEL_S - (time.perf_counter() - began))
        self.thinks.append((began, time.perf_counter()))
        return answer

    def _reply(self) -> dict[str, Any]:
        assert self.seen is not None
        line = self._lines[self._next]
        action: dict[str, Any]
        try:
            action = line.build(self.seen).model_dump(mode="json")
            self._next += 1
        except NotFoundError:
            action = {"kind": "wait", "seconds": 1.0, "change": True}
        memory = f"{self._next} of {len(self._lines)} parts of the order are done."
        said = {"judgement": "success", "summary": f"{self.seen.title} is open.", "memory": memory}
        return {**said, "next_goal": line.text, "candidates": [], "actions": [action]}


@dataclass(frozen=True)
class Shares:
    """One step's time, in seconds."""

    step: int
    marks: int
    whole: float
    model: float
    page: float
    ours: float
    taken: float


@contextmanager
def serving(answering: Answering) -> Iterator[str]:
    """The address of the server, whose loop runs in a thread of its own."""
    server, loop = MessagesServer(), asyncio.new_event_loop()
    server.answers = [answering]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server.base_url
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def measured() -> tuple[Run, list[Shares]]:
    """The run, and where the time of each of its steps went."""
    task = tasks_of(SHOP)[0]
    answering, watched, threads = Answering(task.steps), Watched(), Threads()
    ends: list[float] = []

    def note(event: Event) -> None:
        if isinstance(event, Observed):
            answering.seen = event.observation
        elif isinstance(event, Stepped):
            ends.append(watched.so_far())

    async def run(site: str, api: str, runs: Path) -> Run:
        asyncio.get_running_loop().set_default_executor(threads)
        settings = Settings(runs=runs, limits={"steps": 60})
        model = AnthropicModel("claude-sonnet-5-5", settings=settings.model, redact=str, base_url=api, api_key="none")
        try:
            order = Task(goal=task.goal, start_url=f"{site}{task.start}", limits=settings.limits)
            return await Agent(order, model=model, settings=settings, on_event=note).run()
        finally:
            await model.aclose()

    with (
        served(SHOP) as site,
        serving(answering) as api,
        tempfile.TemporaryDirectory() as runs,
        asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(watched)) as runner,
    ):
        done = runner.run(run(site.url, api, Path(runs)))
    spans = zip(done.steps[1:], ends, ends[1:], strict=False)
    return done, [
        Shares(
            step.index,
            len(step.observation.marks),
            span[1] - span[0],
            *_shares(span, watched, threads.works, answering.thinks),
        )
        for step, *span in spans
    ]


def _shares(span: Sequence[float], watched: Watched, works: Spans, thinks: Spans) -> tuple[float, float, float, float]:
    """The model's, the page's, ours, and what was taken."""
    begin, end = span
    idle = _within([(begin, end)], watched.waits)
    waiting = sum(until - since for since, until in idle)
    model = sum(until - since for since, until in _within(idle, thinks))
    threads = sum(until - since for since, until in _within(idle, _joined(works)))
    taken = sum(each for at, each in watched.taken if begin < at <= end)
    page, ours = waiting - model - threads, (end - begin) - waiting - taken + threads
    return model, page, ours, taken


def _within(spans: Spans, others: Spans) -> Spans:
    """The parts of the others that lie in the spans."""
    both = ((max(a, c), min(b, d)) for a, b in spans for c, d in others)
    return [(since, until) for since, until in both if until > since]


def _joined(spans: Spans) -> Spans:
    joined: Spans = []
    for since, until in sorted(spans):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(until, joined[-1][1]))
        else:
            joined.append((since, until))
    return joined


def show(shares: list[Shares]) -> None:
    table = Table("step", "marks", "whole", "model", "page", "ours", "taken", "ours / model", box=SIMPLE)
    for each in shares:
        seconds = (f"{value * 1000:,.0f} ms" for value in (each.whole, each.model, each.page, each.ours, each.taken))
        table.add_row(str(each.step), str(each.marks), *seconds, f"{each.ours / each.model:.1%}")
    median = statistics.median(each.ours for each in shares)
    said = f"ours at the median {median * 1000:.0f} ms, {median / MODEL_S:.1%} of the model's {MODEL_S:g} s"
    Console().print(table, f"{said}; to reach: {REACH:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    wants = parser.parse_args()
    run, shares = measured()
    assert run.ending is not None
    assert run.ending.status == "done", run.ending.sentence
    if wants.json:
        print(json.dumps([asdict(each) for each in shares], indent=2))
    else:
        show(shares)
    raise SystemExit(statistics.median(each.ours for each in shares) > REACH * MODEL_S)


if __name__ == "__main__":
    main()
