"""Runs the rows of a table on the machines of a Ray cluster: each in a worker of its own, which sends its run back.

The process that started the batch makes the agents, limits what they may cost, and writes the results. A row whose
worker is lost is not run again: it may have done something.

A task, with its secrets, reaches the workers as an argument of a call, which Ray neither stores nor logs.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vision_agent.batch import Row, RowResult
from vision_agent.batch.run_rows import AgentRun, RunRow, run_here
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.evals.ray_workers import OPEN_S, as_future, cluster, pack, reason_of, unpack
from vision_agent.session import Agent


@contextmanager
def rows_on(address: str, jobs: int) -> Iterator[RunRow]:
    """Runs a row in the Ray cluster at this address until the block ends; `local` starts one for `jobs` rows at once.

    Raises:
        UsageError: Ray is not installed, or the address is not valid.
        Unavailable: no Ray answers there, or it refuses the connection.
    """
    with cluster(address, jobs):
        yield _run_there


async def _run_there(row: Row, made: Agent | AgentRun, home: Path) -> RowResult:
    import ray
    from ray.exceptions import RayError, RayTaskError

    if not isinstance(made, Agent):
        raise UsageError("Replays run only on this machine", "leave out --ray")
    worker = ray.remote(_RowWorker).options(num_cpus=1, scheduling_strategy="SPREAD").remote()
    has_begun = False
    try:
        async with asyncio.timeout(OPEN_S):
            await as_future(worker.open.remote(version("vision-agent")))
        has_begun = True
        result, packed = await as_future(worker.run.remote(row, made))
        unpack(packed, home, "")
        return RowResult.model_validate(result)
    except TimeoutError:
        return _not_run(row, f"No worker found a place in the Ray cluster within {OPEN_S:.0f} seconds.")
    except (RayError, ConnectionError) as error:
        cause = error.cause if isinstance(error, RayTaskError) else None
        why = str(cause) if isinstance(cause, VisionAgentError) else reason_of(error)
        if not has_begun:
            return _not_run(row, why)
        lost = f"Its worker was lost, and may have done something: {why}"
        return RowResult(row=row, status="error", sentence=lost, cost_usd=None)
    finally:
        if ray.is_initialized():
            ray.kill(worker)


def _not_run(row: Row, why: str) -> RowResult:
    return RowResult(row=row, status="not_run", sentence=why, cost_usd=0.0)


class _RowWorker:
    """A worker in a Ray process on one of the cluster's machines."""

    def open(self, wanted: str) -> None:
        """Checks that this machine can run what it gets."""
        if (found := version("vision-agent")) != wanted:
            here = platform.node()
            raise UsageError(
                f"{here} has vision-agent {found}, but the table is run with {wanted}", "install the same version"
            )

    async def run(self, row: Row, agent: Agent) -> tuple[Any, bytes]:
        """The result of the row, and its run folder as an archive."""
        with TemporaryDirectory(prefix="vision-agent-", ignore_cleanup_errors=True) as name:
            home = Path(name)
            agent.settings = agent.settings.model_copy(update={"runs": home})
            result = await run_here(row, agent, home)
            return result.model_dump(), await asyncio.to_thread(pack, home)
