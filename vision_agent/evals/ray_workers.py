"""Runs items on the machines of a Ray cluster: each worker is an actor with its own browser and the suite's pages.

Items are handed out one at a time, and only the process that started the evaluation writes to its folder. Workers
return their files as an archive, so no disk is shared, and one machine is no special case. A lost worker is replaced
and its item runs again. Ray is an extra; no other module knows it.

Settings, including any keys in them, reach the workers as arguments of a call, which Ray neither stores nor logs. A
key in an environment variable does not travel: each worker needs its own.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import platform
import re
import secrets
import shutil
import socket
import sys
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, redirect_stdout, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vision_agent.errors import RecordError, Unavailable, UsageError, VisionAgentError
from vision_agent.evals.items import RUNS, Item, ItemResult
from vision_agent.evals.runner import Crew, Tell, Worker, check_key
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.suite import Suite
from vision_agent.settings import Settings

LOCAL = "local"
_LOST = 3
"""An item that has lost this many workers is given up: it may be what ends them."""
_REACH_S = 5.0
OPEN_S = 120.0
"""For a place in the cluster, a process there and its browser."""
_CLOSE_S = 15.0


@contextmanager
def joined(address: str, jobs: int, suites: Sequence[Suite | OfflineSuite]) -> Iterator[Crew]:
    """A crew of `jobs` workers in the Ray cluster at this address until the block ends; `local` starts one for that.

    Raises:
        UsageError: Ray is not installed, the address is not valid, or a suite needs no browser.
        Unavailable: no Ray answers there, or it refuses the connection.
    """
    if offline := next((suite.name for suite in suites if isinstance(suite, OfflineSuite)), None):
        raise UsageError(
            f"--ray is for suites that need browsers, and {offline} uses recorded pages",
            "leave it out: --jobs answers several pages at once",
        )
    with cluster(address, jobs):
        yield partial(_hand_out, where=address)


@contextmanager
def cluster(address: str, jobs: int) -> Iterator[None]:
    """Joins the Ray cluster at this address until the block ends; `local` starts one with `jobs` processors for that.

    Raises:
        UsageError: Ray is not installed, or the address is not valid.
        Unavailable: no Ray answers there, or it refuses the connection.
    """
    if find_spec("ray") is None:
        raise UsageError("Ray is not installed", "install it with: pip install 'vision-agent[ray]'")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    # Otherwise Ray looks for another cluster when this one is gone.
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
    if address == LOCAL:
        _prepare()
        quiet |= {"num_cpus": jobs, "include_dashboard": False}
    elif address != "auto":
        _reach(address)
    import ray

    # Ray reports lost workers on stdout, which is for results.
    with redirect_stdout(sys.stderr):
        try:
            ray.init(address=address, **quiet)
        # If nothing answers as a Ray cluster does, Ray raises SystemExit after a while.
        except (Exception, SystemExit) as error:
            reason = f"{error}".strip().partition("\n")[0] or type(error).__name__
            raise Unavailable(
                f"Could not join the Ray cluster at {address}: {reason}",
                "use `auto` on a machine of the cluster, ray://HEAD:10001 elsewhere; "
                "both need the same versions of Ray and Python",
            ) from error
        try:
            yield
        finally:
            ray.shutdown()


def _prepare() -> None:
    """Set up a local cluster to send no usage statistics and to accept only us. Ray reads these on import.

    Its ports are open to the network, and anyone admitted there can run any code.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _reach(address: str) -> None:
    """Check the address with a short timeout; Ray itself would try for two minutes."""
    match = re.fullmatch(r"(?:ray://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})", address)
    if match is None or not 0 < int(match[2]) <= 65535:
        # The message does not repeat the address, which may contain a password.
        raise UsageError("That is not a Ray address", "use local, auto, ray://HEAD:10001 or HEAD:6379")
    host, port = match[1], match[2]
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()
    except OSError as error:
        raise Unavailable(
            f"Nothing answers at {address}: {error.strerror or error}",
            "start Ray there with `ray start --head`, or use `local` to start it here",
        ) from error


# --- the process that hands out items ---------------------------------------------------------------------------------


async def _hand_out(
    items: Sequence[Item], suite: Suite, settings: Settings, out: Path, jobs: int, ended: Tell, *, where: str
) -> None:
    """Give each item to a free worker, until all have a result."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    waiting: asyncio.Queue[Item] = asyncio.Queue()
    for item in items:
        waiting.put_nowait(item)
    lost: Counter[str] = Counter()
    left, at_work, done = len(items), 0, asyncio.Event()

    def came(result: ItemResult) -> None:
        nonlocal left
        ended(result)
        left -= 1
        if not left:
            done.set()

    async def use(worker: Any) -> None:
        """Give the worker items until it is lost."""
        while True:
            item = await waiting.get()
            try:
                result, made = await as_future(worker.run.remote(item))
            except (RayError, ConnectionError) as error:
                if isinstance(error, RayTaskError):
                    raise _worker_error(error) from None
                lost[item.id] += 1
                if lost[item.id] < _LOST:
                    waiting.put_nowait(item)
                else:
                    came(_give_up(item, error))
                return
            unpack(made, out / item.folder)
            came(result)

    async def keep_one() -> None:
        nonlocal at_work
        fell = 0
        while left:
            if not ray.is_initialized():
                raise Unavailable(f"Lost the connection to Ray at {where}", "run the same command again to continue")
            try:
                async with _hire(suite, settings, {item.model for item in items}) as worker:
                    at_work, fell = at_work + 1, 0
                    try:
                        await use(worker)
                    finally:
                        at_work -= 1
            except TimeoutError:
                # A small cluster may hold fewer workers at once, but not none.
                if not at_work:
                    raise Unavailable(
                        f"No worker found a place in the Ray cluster at {where} within {OPEN_S:.0f} seconds",
                        "each needs one processor: `ray status` shows what is free",
                    ) from None
            except (RayError, ConnectionError) as error:
                fell += 1
                if fell == _LOST:
                    raise Unavailable(
                        f"No worker could start in the Ray cluster at {where}: {reason_of(error)}",
                        "each machine needs this version of vision-agent, with the extra `ray`, and a browser",
                    ) from None

    try:
        async with asyncio.TaskGroup() as group:
            kept = [group.create_task(keep_one()) for _ in range(min(jobs, left))]
            await done.wait()
            for each in kept:
                each.cancel()
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


@asynccontextmanager
async def _hire(suite: Suite, settings: Settings, models: set[str]) -> AsyncIterator[Any]:
    """A new worker with an open browser; both end with the block.

    Raises:
        VisionAgentError: as without Ray: the browser, the key or the suite is missing.
        TimeoutError: the cluster had no place for it.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    worker = ray.remote(_RayCrew).options(num_cpus=1, scheduling_strategy="SPREAD").remote()
    try:
        try:
            opening = worker.open.remote(suite, settings, models, version("vision-agent"), platform.node())
            async with asyncio.timeout(OPEN_S):
                await as_future(opening)
        except RayTaskError as error:
            raise _worker_error(error) from None
        try:
            yield worker
        finally:
            with suppress(RayError, ConnectionError, TimeoutError):
                # `wait_for` would lose a cancellation that arrives as a lost worker ends.
                async with asyncio.timeout(_CLOSE_S):
                    await as_future(worker.close.remote())
    finally:
        if ray.is_initialized():
            ray.kill(worker)


def as_future(call: Any) -> asyncio.Future[Any]:
    """A future of what a Ray call returns or raises. Cancelling it does not cancel the call.

    Cancelling Ray's own future with ours would make a ray:// cluster print a traceback.
    """
    loop = asyncio.get_running_loop()
    ours: asyncio.Future[Any] = loop.create_future()

    def pass_on(theirs: Future[Any]) -> None:
        if ours.done():
            return
        if (error := theirs.exception()) is not None:
            ours.set_exception(error)
        else:
            ours.set_result(theirs.result())

    def came(theirs: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(pass_on, theirs)

    call.future().add_done_callback(came)
    return ours


def _worker_error(error: Any) -> VisionAgentError:
    """The error that the worker raised."""
    cause = error.cause
    return cause if isinstance(cause, VisionAgentError) else Unavailable(f"A worker broke: {reason_of(error)}")


def reason_of(error: BaseException) -> str:
    """The last line of the error: Ray reports in many lines and ends with the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _give_up(item: Item, error: BaseException) -> ItemResult:
    error_text = f"Given up after losing {_LOST} workers; the last error: {reason_of(error)}"
    return ItemResult(item=item, error=error_text, started_at=datetime.now(UTC), seconds=0.0)


def unpack(made: bytes, home: Path, below: str = RUNS) -> None:
    """Move the run folders, which are `below` in a worker's files, to that folder, each completely or not at all.

    `zipfile` keeps all files inside the folder, whatever their names.

    Raises:
        RecordError: it cannot be written.
    """
    part = home.with_name(f".{home.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            archive.extractall(part)
        for run in sorted((part / below).glob("*")):
            (home / below).mkdir(parents=True, exist_ok=True)
            run.rename(home / below / run.name)
    except OSError as error:
        raise RecordError(
            f"Could not write {home}: {error.strerror or error}", "make room, or name another --out"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


# --- the worker -------------------------------------------------------------------------------------------------------


class _RayCrew:
    """A worker in a Ray process on one of the cluster's machines."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    async def open(self, suite: Suite, settings: Settings, models: set[str], wanted: str, asked_from: str) -> None:
        """Prepare to run items; errors name this machine."""
        self._is_away = platform.node() != asked_from
        with self._naming_machine():
            if (found := version("vision-agent")) != wanted:
                raise UsageError(
                    f"The worker has vision-agent {found}, but the evaluation runs {wanted}", "install the same version"
                )
            for model in models:
                check_key(model, settings)
            self._suite = suite.use_local_files()
            async with AsyncExitStack() as stack:
                home = TemporaryDirectory(prefix="vision-agent-", ignore_cleanup_errors=True)
                self._home = Path(stack.enter_context(home))
                stage = stack.enter_context(self._suite.open_stage(settings))
                self._worker = await stack.enter_async_context(Worker(self._suite, settings, stage))
                await self._worker.browser()
                self._stack = stack.pop_all()

    async def run(self, item: Item) -> tuple[ItemResult, bytes]:
        """The result of the item, and its folder as an archive."""
        with self._naming_machine():
            if item.task not in self._suite.tasks or self._suite.content(item.task) != item.content:
                raise UsageError(
                    f"The task {item.task} of {item.suite} differs on this worker", "install the same suite"
                )
            await asyncio.to_thread(self._suite.prepare, [item.task])
            result = await self._worker.run(item, self._home)
        made = self._home / item.folder
        packed = pack(made)
        shutil.rmtree(made, ignore_errors=True)
        return result, packed

    async def close(self) -> None:
        """Close the browser and delete the worker's files."""
        await self._stack.aclose()

    @contextmanager
    def _naming_machine(self) -> Iterator[None]:
        try:
            yield
        except VisionAgentError as error:
            if self._is_away:
                error.sentence = f"On {platform.node()}: {error.sentence}"
            raise


def pack(folder: Path) -> bytes:
    """The folder as a zip archive, stored uncompressed because most of it is pictures."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return made.getvalue()
