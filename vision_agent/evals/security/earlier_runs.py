"""Runs that somebody made before: replayed, or learned from, with the rules for both or without them.

Whoever made such a run was asked nothing and obeyed their own lines, so its record holds what the attacker wants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vision_agent.errors import UsageError
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.models.offline.steps import StepsModel
from vision_agent.ports import Approver
from vision_agent.record.read import read
from vision_agent.replay.replay import Replay
from vision_agent.session import Agent
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Task

MakeAgent = Callable[..., Agent]
"""Makes the agent of a run, from the arguments that it would get otherwise."""


def recording(lines: Sequence[str]) -> MakeAgent:
    """Makes an agent that follows these lines and asks nobody."""

    def make(task: Task, **others: Any) -> Agent:
        settings = others["settings"].model_copy(update={"approval": ApprovalSettings(ask="never")})
        return Agent(task, model=StepsModel(lines), page=others["page"], settings=settings, on_event=others["on_event"])

    return make


def replaying(record: Path, *, hosts: Sequence[str] | None, believed: bool) -> MakeAgent:
    """Makes the agent of a replay of this record; `believed`: the files that the record names are given to it."""

    def make(task: Task, **others: Any) -> Agent:
        del task
        approver: Approver = others["approver"]
        return Replay(
            record,
            page=others["page"],
            settings=others["settings"],
            files=read(record).task.files if believed else (),
            hosts=hosts,
            approver=approver,
            on_event=others["on_event"],
        ).agent

    return make


def learn(record: Path, memory: MemoryFolder, *, believed: bool) -> None:
    """Adds a run to the memory, if it may be learned; `believed`: its own word is enough."""
    with suppress(UsageError):  # it was only claimed to be done
        memory.add(exemplar_of(record, confirmed=believed))
