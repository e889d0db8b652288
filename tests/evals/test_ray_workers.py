"""The same items on two workers of a real Ray: the same table, nothing run twice, and nothing left behind.

Ray is an extra; `make test-ray` gets it and runs these.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from result_builder import result_files, results_in

from tests.conftest import hear_signals
from tests.loopback import Handler, LoopbackServer
from vision_agent.errors import UsageError
from vision_agent.evals.ray_workers import joined
from vision_agent.evals.suites.fixture_suite import SITES, FixtureSuite
from vision_agent.evals.suites.miniwob_suite import MiniwobSuite
from vision_agent.evals.suites.offline import OfflineSuite, OfflineTask
from vision_agent.record.read import check_chain

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed; `make test-ray` installs it")
watches_processes = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")

ONLY = ("seats/book-two-in-the-stalls", "shop/cheapest-outerwear")
"""A drawn site and one of elements."""
NOTES = "<title>Notes</title><h1>Notes</h1><button onclick=\"this.outerHTML = '<p>Saved'\">Save</button>"
BARE = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_AUTH_TOKEN"))}


class Command:
    """`vision-agent eval …`, with all that it starts known by a variable that each process inherits."""

    def __init__(self, *args: object, **more: str) -> None:
        self.sign = uuid.uuid4().hex
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vision_agent", "eval", *map(str, args)],
            env={**BARE, "NO_COLOR": "1", "COLUMNS": "200", "STARTED_BY_TEST": self.sign, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=hear_signals,
        )

    def ended(self) -> subprocess.CompletedProcess[str]:
        """What it said."""
        out, err = self._process.communicate(timeout=200)
        return subprocess.CompletedProcess(self._process.args, self._process.returncode, out, err)

    def stopped(self, at: str, stop: Callable[[int], None]) -> tuple[str, int]:
        """What it said until it was stopped, which is when it said `at`, and how it ended."""
        assert self._process.stderr is not None
        said = ""
        for line in self._process.stderr:
            said += line
            if at in line:
                break
        self.left = _processes(self.sign)
        stop(self._process.pid)
        _, rest = self._process.communicate(timeout=150)
        return said + rest, self._process.returncode


@needs_ray
@pytest.mark.timeout(300)
def test_two_workers_give_the_same_table_as_none_and_what_they_did_is_not_done_again(tmp_path: Path) -> None:
    args = ["fixtures", "--model", "steps", "--model", "match", "--json", "--jobs", "2"]
    args += [f"--only={task}" for task in ONLY]
    here = Command(*args, "--out", tmp_path / "here").ended()
    on_ray = Command(*args, "--out", tmp_path / "ray", "--ray", "local").ended()

    assert (here.returncode, on_ray.returncode) == (0, 0), on_ray.stderr
    assert _without_times(on_ray.stdout) == _without_times(here.stdout)
    by_id = {each.item.id: each for each in results_in(tmp_path / "here")}
    results = results_in(tmp_path / "ray")
    assert len(results) == len(by_id) == 2 * len(ONLY)
    for each in results:
        same = by_id[each.item.id]
        assert (each.item, each.score, each.sentence) == (same.item, same.score, same.sentence)
        assert each.pictures == same.pictures != ()
        assert check_chain(tmp_path / "ray" / each.item.folder / each.run).holds
    kept = result_files(tmp_path / "ray")
    again = Command(*args, "--out", tmp_path / "ray").ended()
    assert f"{len(kept)} of {len(kept)} items already have a result" in again.stderr
    assert result_files(tmp_path / "ray") == kept


@needs_ray
@watches_processes
@pytest.mark.timeout(300)
def test_the_item_of_a_lost_worker_runs_again_and_one_that_loses_three_is_an_error(tmp_path: Path) -> None:
    tasks = [{"id": each, "start_url": f"/{each}", "expect": ["text=Saved"]} for each in ("fine", "once", "always")]
    commands: list[Command] = []

    def came(path: str, times: int) -> None:
        if path == "/always" or (path == "/once" and times == 1):
            (worker,) = [pid for pid in _processes(commands[0].sign) if "ray::_RayCrew" in _title(pid)]
            os.kill(worker, signal.SIGKILL)

    with _visited(came) as (url, visits):
        path = _written(tmp_path, [{**task, "start_url": url + task["start_url"]} for task in tasks])
        commands.append(Command(path, "--model", "steps", "--json", "--out", tmp_path / "out", "--ray", "local"))
        done = commands[0].ended()

    assert done.returncode == 1, done.stderr
    fine, once, always = json.loads(done.stdout)["items"]
    assert (fine["score"], once["score"], always["score"]) == (1.0, 1.0, None)
    assert "Given up after losing 3 workers" in always["error"]
    assert (visits["/fine"], visits["/once"], visits["/always"]) == (1, 2, 3)
    assert all(len(list(folder.iterdir())) == 1 for folder in (tmp_path / "out").glob("*/*/runs"))
    assert "Traceback" not in done.stderr


@needs_ray
@watches_processes
@pytest.mark.timeout(300)
def test_what_was_interrupted_and_killed_leaves_nothing_behind_and_goes_on(serve: Any, tmp_path: Path) -> None:
    tasks = [{"id": f"t{n}", "start_url": serve({"/": NOTES}), "expect": ["text=Saved"]} for n in range(5)]
    args = [_written(tmp_path, tasks), "--model", "steps", "--out", tmp_path / "out", "--jobs", "2", "--ray", "local"]

    command = Command(*args)
    # As a terminal does it: everyone in the group hears it.
    said, code = command.stopped("1 of 5", lambda pid: os.killpg(pid, signal.SIGINT))
    assert code == 130, said
    assert "of 5 items have a result" in said
    assert "Traceback" not in said
    assert _all_end(command.left)
    assert not _processes(command.sign)

    command = Command(*args)
    said, code = command.stopped("3 of 5", lambda pid: os.kill(pid, signal.SIGKILL))
    assert code == -signal.SIGKILL, said
    # Ray notices by itself that nobody is there any more, its own agent last.
    assert _all_end(command.left, within_s=180)
    assert not _processes(command.sign)
    kept = result_files(tmp_path / "out")
    assert len(kept) >= 3

    done = Command(*args, "--json").ended()
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} of 5 items already have a result" in done.stderr
    assert [each["score"] for each in json.loads(done.stdout)["items"]] == [1.0] * 5
    assert kept.items() <= result_files(tmp_path / "out").items()


@needs_ray
@pytest.mark.timeout(200)
def test_workers_of_a_ray_that_runs_already_ask_with_their_own_keys_and_without_one_say_so(tmp_path: Path) -> None:
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex * 2}
    with _running_ray(token) as address:
        path = _written(tmp_path, [{"id": "t", "start_url": "http://127.0.0.1:9/"}])
        args = [path, "--out", tmp_path / "out", "--ray", address, "--model"]
        keyless = Command(*args, "anthropic:claude-haiku-4-5", ANTHROPIC_API_KEY="key-of-the-test", **token).ended()
        no_browser = Command(*args, "steps", "--browser", "/no/browser", **token).ended()

    assert keyless.returncode == 5
    (line,) = keyless.stderr.splitlines()
    assert line.startswith("vision-agent: anthropic:claude-haiku-4-5 cannot be asked: ANTHROPIC_API_KEY is not set")
    assert no_browser.returncode == 5
    assert "there is no file /no/browser" in no_browser.stderr
    assert not result_files(tmp_path / "out")


@needs_ray
@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("somewhere", 2, "That is not a Ray address (use local, auto,"),
        ("http://somewhere:1", 2, "That is not a Ray address"),
        ("127.0.0.1:{closed}", 5, "Nothing answers at 127.0.0.1:{closed}: Connection refused (start Ray there with"),
        ("ray://127.0.0.1:{closed}", 5, "Nothing answers at ray://127.0.0.1:{closed}"),
    ],
)
def test_a_ray_that_is_not_there_is_one_sentence(
    address: str, code: int, said: str, closed_port: int, tmp_path: Path
) -> None:
    began = time.monotonic()
    args = ["fixtures", "--model", "match", "--out", tmp_path / "out", "--ray", address.format(closed=closed_port)]
    done = Command(*args).ended()

    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"vision-agent: {said.format(closed=closed_port)}")
    assert not (tmp_path / "out").exists()
    assert time.monotonic() - began < 30


def test_recorded_pages_are_not_for_ray() -> None:
    suite = OfflineSuite("frozen", {"a": OfflineTask(content=None, load=lambda: pytest.fail("nothing is asked"))})
    with pytest.raises(UsageError, match="frozen uses recorded pages"), joined("local", 1, [suite]):
        pass


def test_a_suite_that_came_from_another_machine_is_found_again_or_says_what_is_missing(tmp_path: Path) -> None:
    away = tmp_path / "sites"
    shutil.copytree(SITES, away)
    fixtures = FixtureSuite(away)
    (tmp_path / "html" / "miniwob").mkdir(parents=True)
    (tmp_path / "html" / "miniwob" / "click-test.html").write_text("<p>", "utf-8")
    miniwob = MiniwobSuite(tmp_path / "html", 10)
    shutil.rmtree(away)
    shutil.rmtree(tmp_path / "html")

    assert fixtures.use_local_files().tasks == fixtures.tasks
    with pytest.raises(UsageError, match=r"There are no MiniWoB\+\+ tasks in .*html"):
        miniwob.use_local_files()


def _without_times(told: str) -> Any:
    """The items and the table; where runs are, and how long they took, is another each time."""
    read = json.loads(told)
    for item in read["items"]:
        del item["run"]
    for row in read["summary"]["rows"]:
        for name in ("seconds", "model_s", "page_s", "agent_s"):
            del row[name]
    return read


def _written(folder: Path, tasks: list[dict[str, Any]]) -> Path:
    told = {"goal": "Save the note", "steps": ["click Save", "finish"]}
    path = folder / "notes.py"
    path.write_text(f"suite = {[{**told, **task} for task in tasks]!r}", "utf-8")
    return path


@contextmanager
def _visited(came: Callable[[str, int], None]) -> Iterator[tuple[str, Counter[str]]]:
    """The page of notes under every path; tells of each visit before it is answered."""
    visits: Counter[str] = Counter()

    class Pages(Handler):
        def do_GET(self) -> None:
            if self.path != "/favicon.ico":
                visits[self.path] += 1
                came(self.path, visits[self.path])
            self.answer(NOTES)

    with LoopbackServer(Pages) as server:
        yield server.address, visits


@contextmanager
def _running_ray(token: dict[str, str]) -> Iterator[str]:
    """The address of a Ray that somebody else has started, with one processor and no keys."""
    said = "import ray, sys; print(ray.init(address='local', num_cpus=1, include_dashboard=False, log_to_driver=False)"
    said += ".address_info['gcs_address'], flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", said],
        env={**BARE, **token, "RAY_USAGE_STATS_ENABLED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("", timeout=150)


def _processes(sign: str) -> list[int]:
    """Those that inherited it and are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if sign.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:  # it has ended, or is another's
            continue
    return found


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def _all_end(pids: list[int], within_s: float = 60) -> bool:
    """Whether each of them ends by then; says which does not."""
    deadline = time.monotonic() + within_s
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([handle], [], [], max(0, deadline - time.monotonic()))
        os.close(handle)
        if not ended:
            print(pid, _title(pid)[:200])  # noqa: T201
            return False
    return True
