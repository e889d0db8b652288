"""A crew on the machines of a Ray: each worker is an actor, with a browser and the suite's pages of its own.

Items are handed out one at a time, and only who gives the command writes to its folder: what a worker made comes back
as an archive, so no disk has to be shared, and one machine is no special case. A worker that is lost is replaced, and
its item run again. Ray is an extra; nothing else knows it.

Settings, with keys that stand in them, go to the workers as arguments of a call, which Ray neither stores nor logs. A
key in a variable does not travel: each worker looks for its own.
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
from vision_agent.evals.items import RUNS, Item, Result
from vision_agent.evals.offline import OfflineSuite
from vision_agent.evals.runner import Crew, Tell, Worker, check_key
from vision_agent.evals.suites import Suite
from vision_agent.settings import Settings

LOCAL = "local"
_LOST = 3
"""An item that has lost so many workers is not given to another: it may be what ends them."""
_REACH_S = 5.0
_OPEN_S = 120.0
"""For a place in the Ray, a process there and its browser."""
_CLOSE_S = 15.0


@contextmanager
def joined(address: str, jobs: int, suites: Sequence[Suite | OfflineSuite]) -> Iterator[Crew]:
    """A crew of `jobs` workers of the Ray at this address, until the block ends; `local` starts one for that time.

    Raises:
        UsageError: Ray is not installed, this is no address, or a suite has nothing to do for a browser.
        Unavailable: no Ray answers there, or it does not take us.
    """
    if offline := next((suite.name for suite in suites if isinstance(suite, OfflineSuite)), None):
        raise UsageError(
            f"--ray is for suites that need browsers, and {offline} asks about recorded pages",
            "leave it out: with --jobs several are asked about at once",
        )
    if find_spec("ray") is None:
        raise UsageError("Ray is not installed here", "type: pip install 'vision-agent[ray]'")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    # Else it looks for another one when the one that was joined is gone.
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
    if address == LOCAL:
        _prepare()
        quiet |= {"num_cpus": jobs, "include_dashboard": False}
    elif address != "auto":
        _reach(address)
    import ray

    # It tells of lost workers on stdout, where results are printed.
    with redirect_stdout(sys.stderr):
        try:
            ray.init(address=address, **quiet)
        # Where nobody answers as a Ray does, it leaves with SystemExit after a while.
        except (Exception, SystemExit) as error:
            said = f"{error}".strip().partition("\n")[0] or type(error).__name__
            raise Unavailable(
                f"Ray at {address} could not be joined: {said}",
                "on a machine of the cluster it is `auto`, on any other ray://HEAD:10001; "
                "Ray and Python must be of the same version on both",
            ) from error
        try:
            yield partial(_hand_out, where=address)
        finally:
            ray.shutdown()


def _prepare() -> None:
    """Ray reads these when it is imported. What we start tells nobody of itself, and obeys nobody but us.

    Its ports are open to the network, and whoever is let in there runs what they like.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _reach(address: str) -> None:
    """Ray itself would try for two minutes."""
    told = re.fullmatch(r"(?:ray://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})", address)
    if told is None or not 0 < int(told[2]) <= 65535:
        # Without repeating it: somebody may have written a password into it.
        raise UsageError("That is no address of a Ray", "it is local, auto, ray://HEAD:10001 or HEAD:6379")
    host, port = told[1], told[2]
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()
    except OSError as error:
        raise Unavailable(
            f"Nothing answers at {address}: {error.strerror or error}",
            "start it there with `ray start --head`, or name `local` to start one here",
        ) from error


# --- who hands out ----------------------------------------------------------------------------------------------------


async def _hand_out(
    items: Sequence[Item], suite: Suite, settings: Settings, out: Path, jobs: int, ended: Tell, *, where: str
) -> None:
    """Has each item run by whichever worker is free, until each has a result."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    waiting: asyncio.Queue[Item] = asyncio.Queue()
    for item in items:
        waiting.put_nowait(item)
    lost: Counter[str] = Counter()
    left, at_work, done = len(items), 0, asyncio.Event()

    def came(result: Result) -> None:
        nonlocal left
        ended(result)
        left -= 1
        if not left:
            done.set()

    async def use(worker: Any) -> None:
        """Until it is lost."""
        while True:
            item = await waiting.get()
            try:
                result, made = await _what_came_of(worker.run.remote(item))
            except (RayError, ConnectionError) as error:
                if isinstance(error, RayTaskError):
                    raise _ours(error) from None
                lost[item.id] += 1
                if lost[item.id] < _LOST:
                    waiting.put_nowait(item)
                else:
                    came(_given_up(item, error))
                return
            _unpack(made, out / item.folder)
            came(result)

    async def keep_one() -> None:
        nonlocal at_work
        fell = 0
        while left:
            if not ray.is_initialized():
                raise Unavailable(f"The connection to the Ray at {where} was lost", "the same command goes on")
            try:
                async with _hired(suite, settings, {item.model for item in items}) as worker:
                    at_work, fell = at_work + 1, 0
                    try:
                        await use(worker)
                    finally:
                        at_work -= 1
            except TimeoutError:
                # Fewer at once is what a small cluster can do; none is not.
                if not at_work:
                    raise Unavailable(
                        f"Within {_OPEN_S:.0f} seconds no worker found a place in the Ray at {where}",
                        "each takes one processor: `ray status` tells what is free",
                    ) from None
            except (RayError, ConnectionError) as error:
                fell += 1
                if fell == _LOST:
                    raise Unavailable(
                        f"No worker could be started in the Ray at {where}: {_reason(error)}",
                        "each of its machines needs this vision-agent, with the extra `ray`, and a browser",
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
async def _hired(suite: Suite, settings: Settings, models: set[str]) -> AsyncIterator[Any]:
    """A new worker with its browser open; both are gone when the block ends.

    Raises:
        VisionAgentError: as it would be without Ray: there is no browser, no key, or the suite is not there.
        TimeoutError: there was no place for it.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    worker = ray.remote(_OnRay).options(num_cpus=1, scheduling_strategy="SPREAD").remote()
    try:
        try:
            opening = worker.open.remote(suite, settings, models, version("vision-agent"), platform.node())
            async with asyncio.timeout(_OPEN_S):
                await _what_came_of(opening)
        except RayTaskError as error:
            raise _ours(error) from None
        try:
            yield worker
        finally:
            with suppress(RayError, ConnectionError, TimeoutError):
                # `wait_for` would lose a cancellation that comes together with the end of a lost worker.
                async with asyncio.timeout(_CLOSE_S):
                    await _what_came_of(worker.close.remote())
    finally:
        if ray.is_initialized():
            ray.kill(worker)


def _what_came_of(call: Any) -> asyncio.Future[Any]:
    """What a call returns or raises. When nobody waits for it any longer, Ray is not told.

    Awaited as it is, Ray's own future would be cancelled with ours, and a Ray at ray:// prints a trace about that.
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


def _ours(error: Any) -> VisionAgentError:
    """What the worker raised."""
    cause = error.cause
    return cause if isinstance(cause, VisionAgentError) else Unavailable(f"A worker broke: {_reason(error)}")


def _reason(error: BaseException) -> str:
    """Ray tells what happened in many lines: a trace, or the fate of a process, ends with what it came from."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _given_up(item: Item, error: BaseException) -> Result:
    said = f"Given up after {_LOST} workers were lost while they ran it; of the last: {_reason(error)}"
    return Result(item=item, error=said, started_at=datetime.now(UTC), seconds=0.0)


def _unpack(made: bytes, home: Path) -> None:
    """Puts what a worker made where the item belongs: each thing in it whole, or not at all.

    `zipfile` lets nothing out of the folder, whatever the names in it are.

    Raises:
        RecordError: it cannot be written.
    """
    part = home.with_name(f".{home.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            archive.extractall(part)
        for run in sorted((part / RUNS).glob("*")):
            (home / RUNS).mkdir(parents=True, exist_ok=True)
            run.rename(home / RUNS / run.name)
    except OSError as error:
        raise RecordError(
            f"Could not write {home}: {error.strerror or error}", "make room, or name another --out"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


# --- who works --------------------------------------------------------------------------------------------------------


class _OnRay:
    """A worker, in a process of Ray on one of its machines."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    async def open(self, suite: Suite, settings: Settings, models: set[str], wanted: str, asked_from: str) -> None:
        """Ready to run items, or what is missing here, as an error that names this machine."""
        self._is_away = platform.node() != asked_from
        with self._said():
            if (found := version("vision-agent")) != wanted:
                raise UsageError(f"The worker's vision-agent is {found}, and this one {wanted}", "install the same")
            for model in models:
                check_key(model, settings)
            self._suite = suite.found_here()
            async with AsyncExitStack() as stack:
                home = TemporaryDirectory(prefix="vision-agent-", ignore_cleanup_errors=True)
                self._home = Path(stack.enter_context(home))
                stage = stack.enter_context(self._suite.opened(settings))
                self._worker = await stack.enter_async_context(Worker(self._suite, settings, stage))
                await self._worker.browser()
                self._stack = stack.pop_all()

    async def run(self, item: Item) -> tuple[Result, bytes]:
        """What came of it, and its folder as an archive."""
        with self._said():
            if item.task not in self._suite.tasks or self._suite.content(item.task) != item.content:
                raise UsageError(
                    f"The task {item.task} of {item.suite} is another one for this worker", "install the same suite"
                )
            result = await self._worker.run(item, self._home)
        made = self._home / item.folder
        packed = _packed(made)
        shutil.rmtree(made, ignore_errors=True)
        return result, packed

    async def close(self) -> None:
        """Its browser has ended, and what it wrote here is gone."""
        await self._stack.aclose()

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except VisionAgentError as error:
            if self._is_away:
                error.sentence = f"On {platform.node()}: {error.sentence}"
            raise


def _packed(folder: Path) -> bytes:
    """Stored and not deflated: most of it is pictures."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return made.getvalue()
