"""What the record of a run costs: `make bench-record`.

A hundred steps are done in the shop in a real browser, decided by a Claude model that is asked through its own SDK at
a server on loopback, with a secret to look for. All that was recorded is then recorded once more, event by event and
request by request, and timed. Told apart, for each step:

- CPU: what the thread that records computes: taking secrets out, writing JSON, hashing, handing files to the system.
  It is measured in a folder that lies in memory, where syncing costs nothing.
- sync: what the same takes longer on the disk, waiting included. Time in which the thread could have run and the
  machine ran something else counts for nobody (`/proc/thread-self/schedstat`, where there is one).
- pictures: the CPU of writing both pictures as files of their format, which is part of a look and not of the record.

And how large the folder is, its report included.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from bench_step import SHOP, Answering, _taken, serving
from messages_server import Answer, saying
from pydantic import SecretStr
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from vision_agent import Agent
from vision_agent.evals.suites.fixture_sites import served, tasks_of
from vision_agent.events import Event, Observed, Stepped
from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.observation import Shot
from vision_agent.record import Redactor, RunFolder, verify, write_report
from vision_agent.record.store import REQUESTS
from vision_agent.settings import Settings
from vision_agent.types import Limits, Run, Secret, Task
from vision_agent.vision.picture import Picture

STEPS = 100
REACH_MS = 10.0
REACH_MB = 40.0
MEMORY = Path("/dev/shm")
"""A disk in memory; where there is none, CPU has that of syncing in it."""

Kept = Event | bytes
"""What was recorded: an event, or a request to the model."""


class Recording(Protocol):
    """What is timed: a `RunFolder`, or what a test gives."""

    def write(self, event: Event) -> None: ...

    def keep_request(self, request: bytes) -> str: ...


@dataclass(frozen=True)
class Cost:
    """Of one step, in seconds."""

    cpu: float
    waits: float
    pictures: float


@dataclass(frozen=True)
class Size:
    """Of a run folder, in bytes."""

    shots: int
    requests: int
    lines: int
    report: int

    @property
    def whole(self) -> int:
        return self.shots + self.requests + self.lines + self.report


class AtOnce(Answering):
    """Gives the next line as an answer, without thinking about it."""

    def __call__(self, _request: dict[str, Any]) -> Answer:
        return saying(json.dumps(self._reply()))


def lines(site: str) -> Iterator[str]:
    """All tasks of the shop again and again, each time for somebody else and with a look around on the way."""
    tasks = tasks_of(SHOP)
    yield "click Accept all"
    for customer in range(STEPS):
        for task in tasks:
            yield f"go to {site}{task.start}"
            yield from ("scroll down", "scroll up") if task.start == "/" and customer else ()
            for line in task.steps[1:-1]:
                yield line.replace("Ada", f"Ada {customer}").replace("Grace", f"Grace {customer}")


def recorded(runs: Path) -> tuple[Run, list[Kept], Path]:
    """The run, all that was recorded of it, and its folder."""
    kept: list[Kept] = []

    async def run(site: str) -> tuple[Run, Path]:
        told = [line for line, _ in zip(lines(site), range(STEPS - 1), strict=False)]
        answering = AtOnce([*told, "finish"])

        def note(event: Event) -> None:
            kept.append(event)
            if isinstance(event, Observed):
                answering.seen = event.observation

        task = Task(
            goal="Order what the customers want.",
            start_url=f"{site}/",
            limits=Limits(steps=2 * STEPS, stall=STEPS),
            secrets=(Secret(name="password", value=SecretStr("correct horse battery")),),
        )
        settings = Settings(runs=runs)
        with serving(answering) as api:
            model = AnthropicModel(
                "claude-sonnet-5-5",
                settings=settings.model,
                redact=Redactor(task.secrets),
                base_url=api,
                api_key="none",
                keep_request=lambda request: agent_keeps(request),
            )
            agent = Agent(task, model=model, settings=settings, on_event=note)

            def agent_keeps(request: bytes) -> str:
                kept.append(request)
                assert agent.folder is not None
                sha256 = hashlib.sha256(request).hexdigest()
                (agent.folder / REQUESTS / f"{sha256}.json").write_bytes(request)
                return sha256

            try:
                done = await agent.run()
            finally:
                await model.aclose()
        assert agent.folder is not None
        return done, agent.folder

    with served(SHOP) as site:
        done, folder = asyncio.run(run(site.url))
    return done, kept, folder


def spent(recording: Recording, kept: Sequence[Kept]) -> list[Cost]:
    """What recording all this once more costs, step by step; what begins the run belongs to none."""
    costs: list[Cost] = []
    cpu = waits = 0.0
    shots: tuple[Shot, ...] = ()
    for each in kept:
        began = time.thread_time(), time.perf_counter(), _taken()
        if isinstance(each, bytes):
            recording.keep_request(each)
        else:
            recording.write(each)
        busy, whole, taken = (
            after - before
            for after, before in zip((time.thread_time(), time.perf_counter(), _taken()), began, strict=True)
        )
        if isinstance(each, Observed):
            if each.step == 1:
                cpu = waits = 0.0
            shots = each.observation.clean, each.observation.marked
        cpu, waits = cpu + busy, waits + max(0.0, whole - busy - taken)
        if isinstance(each, Stepped):
            costs.append(Cost(cpu, waits, _encoding(shots)))
            cpu = waits = 0.0
    return costs


def again(place: Path, run: Run, kept: Sequence[Kept]) -> list[Cost]:
    with RunFolder.create(place, "again", Redactor(run.task.secrets)) as folder:
        return spent(folder, kept)


def _encoding(shots: Sequence[Shot]) -> float:
    decoded = [Picture.of(shot) for shot in shots]
    began = time.thread_time()
    for picture in decoded:
        picture.encode()
    return time.thread_time() - began


def size_of(folder: Path) -> Size:
    def bytes_in(*names: str) -> int:
        return sum(path.stat().st_size for name in names for path in folder.glob(name))

    return Size(bytes_in("shots/*"), bytes_in("requests/*"), bytes_in("run.json", "steps.jsonl"), bytes_in("*.html"))


def shown_of(on_disk: Sequence[Cost], in_memory: Sequence[Cost]) -> list[dict[str, float]]:
    """Of each step in milliseconds: CPU, sync and pictures."""
    return [
        {
            "cpu": memory.cpu * 1000,
            "sync": max(0.0, disk.cpu + disk.waits - memory.cpu) * 1000,
            "pictures": memory.pictures * 1000,
        }
        for disk, memory in zip(on_disk, in_memory, strict=True)
    ]


def show(costs: Sequence[dict[str, float]], size: Size, report_s: float) -> None:
    table = Table("ms a step", "median", "nine of ten", "most", box=SIMPLE)
    for name in ("cpu", "sync", "pictures"):
        times = sorted(each[name] for each in costs)
        shown = statistics.median(times), times[int(0.9 * (len(times) - 1))], times[-1]
        table.add_row(name, *(f"{each:.1f}" for each in shown))
    parts = ", ".join(f"{name} {value / 1e6:.1f}" for name, value in asdict(size).items())
    mean = statistics.mean(each["cpu"] for each in costs)
    said = f"CPU of the record: {mean:.1f} ms a step on average; to reach: {REACH_MS:g} ms"
    Console().print(table, said)
    Console().print(f"{len(costs)} steps: {size.whole / 1e6:.1f} MB ({parts}); to reach: {REACH_MB:g} MB")
    Console().print(f"The report is written once, at the end: {report_s:.2f} s of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    wants = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run, kept, folder = recorded(Path(place) / "runs")
        assert run.ending is not None
        assert run.ending.status == "done", f"{run.steps[-1].decision.next_goal}: {run.ending.sentence}"
        assert verify(folder).chain.holds
        on_disk = again(Path(place), run, kept)
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as memory:
            costs = shown_of(on_disk, again(Path(memory), run, kept))
        began = time.thread_time()
        write_report(folder)
        report_s, size = time.thread_time() - began, size_of(folder)
    if wants.json:
        told = {"steps_ms": costs, "size": asdict(size), "report_s": report_s}
        print(json.dumps(told, indent=2))
    else:
        show(costs, size, report_s)
    is_over = statistics.mean(each["cpu"] for each in costs) > REACH_MS
    raise SystemExit(is_over or size.whole / 1e6 * STEPS / len(costs) > REACH_MB)


if __name__ == "__main__":
    main()
