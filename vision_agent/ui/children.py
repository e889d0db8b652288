"""The runs that were started from the page: each is a `vision-agent` process of its own.

They belong to the page: when it ends, they are interrupted as with Ctrl-C, and can be resumed.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from vision_agent.errors import UsageError
from vision_agent.record.store import RUN
from vision_agent.text.escape import cut_text, terminal_text
from vision_agent.text.urls import origin_of
from vision_agent.ui.orders import Order

MOST_RUNNING = 8
"""Runs that may go on at once: each has a browser."""
_KEPT = 40
"""Processes that are remembered after their end."""
_STOP_S = 20
"""How long a run may take to end before its process is killed."""
_LONGEST = 2000
_CHUNK = 4096
_SUPERVISION = re.compile(r"Supervise it at (https?://\S{1,500})")
_OURS = "vision-agent: "
"""How an error of ours begins; its example may have lines of its own."""
_BEFORE_THE_PAGE = 5
"""Lines in which the first address of the supervision page is looked for; later ones may quote a page."""


@dataclass
class Child:
    """One process, and what it has said."""

    order: Order
    process: asyncio.subprocess.Process
    said: deque[str] = field(default_factory=lambda: deque(maxlen=30))
    supervision: str = ""
    """The address of its supervision page; each works in one browser. Empty without one."""
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_stopping: bool = False
    _has_begun: bool = False
    _lines: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self.process.returncode is None

    def has_begun(self) -> bool:
        """Whether there is a run to show, or was one until its folder was deleted.

        The folder is made first, and `run.json` when the browser is open.
        """
        self._has_begun = self._has_begun or (self.order.folder / (RUN if self.is_running else "")).exists()
        return self._has_begun

    def is_lost(self) -> bool:
        """Whether the run goes on although its folder was deleted."""
        return self.is_running and self.has_begun() and not self.order.folder.exists()

    @property
    def fault(self) -> str:
        """The error that it ended with, in its own words; empty if it goes on or there was none."""
        said = list(self.said)
        ours = next((at for at in reversed(range(len(said))) if said[at].startswith(_OURS)), None)
        if self.is_running or self.process.returncode == 0 or self.is_stopping:
            return ""
        if ours is not None:
            return "\n".join(said[ours:]).removeprefix(_OURS)
        return said[-1] if any(line.startswith("Traceback") for line in said) else ""

    @property
    def last_words(self) -> str:
        """Why there is no run, for a process that has ended."""
        if self.is_stopping:
            return "It was stopped before it began."
        return self.fault or (self.said[-1] if self.said else "It ended without a word.")

    def hear(self, line: str) -> None:
        """Keep a line that the process printed."""
        if not line.strip():
            return
        self.has_begun()  # the folder may be deleted before anybody looks
        self._lines += 1
        found = _SUPERVISION.fullmatch(line.strip())
        # The first one is printed before any page is open; once it was used, the next one follows.
        if found is not None and (
            origin_of(found[1]) == origin_of(self.supervision) if self.supervision else self._lines <= _BEFORE_THE_PAGE
        ):
            self.supervision = found[1]
            return
        self.said.append(terminal_text(cut_text(line.rstrip(), _LONGEST)))


class Children:
    """Starts, finds and stops the processes of runs."""

    def __init__(self) -> None:
        self._children: dict[Path, Child] = {}

    def of(self, folder: Path) -> Child | None:
        """The latest process that writes, or wrote, to this run folder."""
        return self._children.get(folder)

    def starting(self) -> list[Child]:
        """Those without a run to show, the latest first: the browser is being opened, it never began, or it is lost."""
        children = reversed(list(self._children.values()))
        return [child for child in children if not child.has_begun() or child.is_lost()]

    def forget(self, folder: Path) -> None:
        """Lets go of a process that has ended and whose run was deleted."""
        child = self._children.get(folder)
        if child is not None and not child.is_running:
            del self._children[folder]

    async def start(self, order: Order) -> Child:
        """Start the command.

        Raises:
            UsageError: too many runs are going, or the run is.
        """
        running = [child for child in self._children.values() if child.is_running]
        if len(running) >= MOST_RUNNING:
            raise UsageError(f"{len(running)} runs are going already", "wait until one ends, or stop one")
        before = self._children.pop(order.folder, None)
        if before is not None and before.is_running:
            self._children[order.folder] = before
            raise UsageError("This run is still going", "wait until it ends, or stop it")
        # Without -P, modules of the current folder would come before those of Python.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "vision_agent", *order.arguments),
            stdin=asyncio.subprocess.PIPE if order.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        child = self._children[order.folder] = Child(order, process)
        self._keep(child, _hear(child))
        if order.stdin:
            self._keep(child, _tell(child))
        self._forget()
        return child

    def stop(self, folder: Path) -> None:
        """Interrupt the run in this folder; its record stays, and it can be resumed.

        Raises:
            UsageError: it was not started here, or has ended.
        """
        child = self._children.get(folder)
        if child is None or not child.is_running:
            raise UsageError(
                "This run has ended, or was not started here", "stop a run of the terminal there, with Ctrl-C"
            )
        if not child.is_stopping:
            child.is_stopping = True
            _signal(child, signal.SIGTERM)
            self._keep(child, _end(child))

    async def end_all(self) -> list[Path]:
        """Interrupt all that go on, wait for their ends, and return the folders that are there."""
        going = [(folder, child) for folder, child in self._children.items() if child.is_running]
        for folder, _ in going:
            self.stop(folder)
        tasks = [task for _, child in going for task in child._tasks]
        if tasks:
            await asyncio.wait(tasks, timeout=2 * _STOP_S)
        return [folder for folder, _ in going if folder.exists()]

    def _forget(self) -> None:
        ended = [folder for folder, child in self._children.items() if not child.is_running]
        for folder in ended[: max(0, len(self._children) - _KEPT)]:
            del self._children[folder]

    @staticmethod
    def _keep(child: Child, work: object) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[call-overload]
        child._tasks.add(task)
        task.add_done_callback(child._tasks.discard)


async def _hear(child: Child) -> None:
    """Keeps what the process prints, until it ends; a line without end is cut."""
    assert child.process.stdout is not None
    rest = ""
    while chunk := await child.process.stdout.read(_CHUNK):
        *lines, rest = (rest + chunk.decode("utf-8", "replace")).split("\n")
        for line in lines:
            child.hear(line)
        rest = rest[:_LONGEST]
    child.hear(rest)
    await child.process.wait()


async def _tell(child: Child) -> None:
    """Gives the process its step lines."""
    assert child.process.stdin is not None
    with suppress(ConnectionError):
        child.process.stdin.write(child.order.stdin.encode())
        await child.process.stdin.drain()
    child.process.stdin.close()


async def _end(child: Child) -> None:
    try:
        async with asyncio.timeout(_STOP_S):
            await child.process.wait()
    except TimeoutError:
        if child.is_running:
            _signal(child, signal.SIGKILL)


def _signal(child: Child, number: Literal[signal.Signals.SIGTERM, signal.Signals.SIGKILL]) -> None:
    with suppress(ProcessLookupError):
        if number == signal.SIGKILL:
            os.killpg(child.process.pid, number)  # its browser too
        else:
            child.process.send_signal(number)
