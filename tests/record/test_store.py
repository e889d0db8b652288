"""The run folder while it is written: whole lines, pictures first, and a clear sentence when the disk will not."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from record_builder import START, observation, png, run, shot, small_run, story, task, write_run

from vision_agent.actions import Type
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Ended, Intended, MessageReceived, Observed, Started, Troubled
from vision_agent.record import Redactor, RunFolder, RunInMemory, assemble, check_chain, new_run_id, read
from vision_agent.types import Ending, GoalPicture, Message, Secret

HERE = Path(__file__).parent


def create(runs: Path, run_id: str = "r1") -> RunFolder:
    return RunFolder.create(runs, run_id, Redactor([]))


def python(script: str, *args: object) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip


# --- the shape --------------------------------------------------------------------------------------------------------


def test_every_line_carries_its_number_and_the_hash_of_the_line_before(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run())
    lines = (folder.path / "steps.jsonl").read_bytes().splitlines(keepends=True)
    before = hashlib.sha256((folder.path / "run.json").read_bytes()).hexdigest()
    for number, line in enumerate(lines, 1):
        fields = json.loads(line)
        assert (fields["n"], fields["prev"]) == (number, before)
        before = hashlib.sha256(line).hexdigest()
    assert folder.head == before


def test_pictures_are_on_disk_under_their_hashes(tmp_path: Path) -> None:
    seen = observation()
    folder = write_run(tmp_path, [Started(run=run()), Observed(step=1, observation=seen)])
    assert (folder.path / "shots" / f"{seen.marked.sha256}.png").read_bytes() == seen.marked.data
    assert (folder.path / "shots" / f"{seen.clean.sha256}.png").read_bytes() == seen.clean.data


def test_runs_of_the_same_pages_can_share_their_pictures_and_each_stays_whole_by_itself(tmp_path: Path) -> None:
    seen, shared = observation(), tmp_path / "shared"

    def picture_of(run_id: str) -> Path:
        with RunFolder.create(tmp_path / "runs", run_id, Redactor([]), shared=shared) as folder:
            folder.keep(seen.marked)
            folder.keep(seen.marked)
        return folder.path / "shots" / f"{seen.marked.sha256}.png"

    first, second = picture_of("a"), picture_of("b")
    assert first.samefile(second)
    shutil.rmtree(shared)
    third = picture_of("c")
    assert not third.samefile(first)
    assert first.read_bytes() == second.read_bytes() == third.read_bytes() == seen.marked.data


def test_a_shared_picture_that_somebody_changed_is_written_anew(tmp_path: Path) -> None:
    seen, shared = observation(), tmp_path / "shared"
    for run_id in ("a", "b"):
        with RunFolder.create(tmp_path / "runs", run_id, Redactor([]), shared=shared) as folder:
            folder.keep(seen.marked)
        picture = folder.path / "shots" / f"{seen.marked.sha256}.png"
        assert picture.read_bytes() == seen.marked.data
        picture.write_bytes(b"painted over")


def test_where_pictures_cannot_be_shared_each_run_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("no folder", "utf-8")
    seen = observation()
    with RunFolder.create(tmp_path / "runs", "a", Redactor([]), shared=tmp_path / "shared") as folder:
        folder.keep(seen.marked)
    assert (folder.path / "shots" / f"{seen.marked.sha256}.png").read_bytes() == seen.marked.data


def test_pictures_of_the_goal_are_kept(tmp_path: Path) -> None:
    wanted = shot(png(colour="red"))
    folder = write_run(tmp_path, [Started(run=run(task=task(pictures=(GoalPicture(shot=wanted),))))])
    assert (folder.path / "shots" / f"{wanted.sha256}.png").is_file()


def test_an_observation_whose_picture_cannot_be_kept_is_not_written(tmp_path: Path) -> None:
    seen = observation()
    bare = seen.model_copy(update={"marked": seen.marked.model_copy(update={"data": None})})
    with create(tmp_path) as folder:
        folder.write(Started(run=run()))
        with pytest.raises(RecordError, match="its bytes were not loaded"):
            folder.write(Observed(step=1, observation=bare))
    assert check_chain(folder.path, folder.head).lines == 1


def test_a_picture_with_another_hash_is_refused(tmp_path: Path) -> None:
    with create(tmp_path) as folder, pytest.raises(RecordError, match="its bytes do not match its hash"):
        folder.keep(shot(png()).model_copy(update={"data": png(colour="black")}))


def test_nothing_is_recorded_before_the_run_has_started(tmp_path: Path) -> None:
    with create(tmp_path) as folder, pytest.raises(RecordError, match="the run has not started"):
        folder.write(Troubled(step=1, sentence="?"))


def test_a_run_starts_once(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        folder.write(Started(run=run()))
        with pytest.raises(RecordError, match="has already started"):
            folder.write(Started(run=run()))


def test_a_request_is_kept_under_the_hash_of_what_was_kept(tmp_path: Path) -> None:
    secret = Secret.model_validate({"name": "pin", "value": 'hun"ter'})
    with RunFolder.create(tmp_path, "r1", Redactor([secret])) as folder:
        clean, dirty = b'{"text": "hello"}', json.dumps({"text": 'hun"ter'}).encode()
        kept = {
            sha: (folder.path / "requests" / f"{sha}.json").read_bytes()
            for sha in map(folder.keep_request, (clean, dirty))
        }
    assert list(kept.values()) == [clean, b'{"text":"<secret:pin>"}']
    assert all(hashlib.sha256(content).hexdigest() == sha for sha, content in kept.items())


def test_run_ids_sort_by_time_and_differ() -> None:
    assert new_run_id(START).startswith("20260304-093000-")
    assert new_run_id(START) != new_run_id(START)


def test_the_run_in_memory_tells_the_same_story(tmp_path: Path) -> None:
    memory = RunInMemory()
    for event in story():
        memory.write(event)
    started = memory.events[0]
    assert isinstance(started, Started)
    told = assemble(started.run, memory.events)
    assert told.model_dump(mode="json") == read(write_run(tmp_path, story()).path).model_dump(mode="json")


# --- secrets ----------------------------------------------------------------------------------------------------------

PASSWORD = 'tr0ub"dör/ &3'


def test_a_secret_reaches_no_file_in_any_form(tmp_path: Path) -> None:
    forms = [
        PASSWORD, json.dumps(PASSWORD)[1:-1], quote_plus(PASSWORD),
        *(base64.b64encode((before + PASSWORD).encode()).decode() for before in ("", "x", "xy")),
    ]  # fmt: skip
    said = " ".join(forms)
    secret = Secret.model_validate({"name": "password", "value": PASSWORD})
    started = Started(run=run(task=task(goal=said, secrets=(secret,), user_data={PASSWORD: said})))
    events = [
        started,
        MessageReceived(message=Message(text=said, at=START)),
        Observed(
            step=1, observation=observation(title=said, url=f"http://a.test/?{quote_plus(PASSWORD)}", warnings=(said,))
        ),
        Intended(step=1, index=0, action=Type(target=1, text=said)),
        Ended(ending=Ending(status="done", sentence=said, answer=said)),
    ]
    times = iter([START] * 9)
    with RunFolder.create(tmp_path, "r1", Redactor([secret]), now=lambda: next(times)) as folder:
        for event in events:
            folder.write(event)
        folder.keep_request(json.dumps({"messages": [said, {"deep": json.dumps(said)}]}).encode())
    searched = [path for path in folder.path.rglob("*") if path.is_file()]
    middles = [base64.b64encode((before + PASSWORD).encode())[4:16] for before in ("", "x", "xy")]
    needles = [form.encode() for form in forms] + [json.dumps(PASSWORD, ensure_ascii=False)[1:-1].encode(), *middles]
    assert len(searched) >= 5
    assert [(path.name, needle) for path in searched for needle in needles if needle in path.read_bytes()] == []
    assert read(folder.path).task.goal.count("<secret:password>") == len(forms)


# --- folders and disks that will not ----------------------------------------------------------------------------------


def test_a_file_where_the_runs_should_be_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UsageError, match=r"run folder .*runs/r1 cannot be created"):
        create(tmp_path / "runs")


def test_a_place_where_nothing_can_be_made_is_a_usage_error() -> None:
    """Root may write anywhere but here, so this holds for every user."""
    with pytest.raises(UsageError, match="name another folder"):
        create(Path("/proc/vision-agent"))


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    create(tmp_path).close()
    with pytest.raises(UsageError, match="already exists"):
        create(tmp_path)


@pytest.mark.parametrize("run_id", ["", "..", "a/b", ".hidden", "a\nb"])
def test_a_run_id_that_is_no_plain_name_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UsageError, match="is not a valid run folder name"):
        create(tmp_path, run_id)


FILL = """
import resource, sys
from pathlib import Path
from record_builder import observation, run
from vision_agent.errors import RecordError
from vision_agent.record import Redactor, RunFolder
from vision_agent.events import Observed, Started, Troubled

folder = RunFolder.create(Path(sys.argv[1]), "r1", Redactor([]))
folder.write(Started(run=run()))
folder.write(Observed(step=1, observation=observation()))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
written = 0
try:
    while written < 1000:
        folder.write(Troubled(step=1, sentence="x" * 777))
        written += 1
except RecordError as error:
    print(written, folder.head, error)
"""


def test_a_full_disk_is_an_error_and_leaves_a_whole_record(tmp_path: Path) -> None:
    """The kernel takes a part of the line and refuses the rest, as it does when a disk fills up."""
    process = python(FILL, tmp_path, 20_000)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    written, head, sentence = out.split(" ", 2)
    assert 0 < int(written) < 30
    assert "Could not append line" in sentence
    assert "free disk space" in sentence
    chain = check_chain(tmp_path / "r1", head)
    assert (chain.holds, chain.lines, chain.torn_bytes) == (True, 2 + int(written), 0)


def test_a_picture_on_a_full_disk_is_an_error_and_no_half_file(tmp_path: Path) -> None:
    script = FILL.replace(
        'Troubled(step=1, sentence="x" * 777)', 'Observed(step=2, observation=observation(f"o{written + 2}"))'
    )
    process = python(script, tmp_path, 1000)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    assert out.startswith("0 ")
    assert "Could not write" in out
    for path in (tmp_path / "r1" / "shots").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    assert check_chain(tmp_path / "r1").lines == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB, which only root can make."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]).returncode:
        pytest.skip("no right to mount a small disk here; the limit on file size above stands in for it")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def write_much(folder: RunFolder) -> None:
    for _ in range(1000):
        folder.write(Troubled(step=1, sentence="x" * 5000))


def test_a_run_on_a_disk_that_fills_up_can_be_read_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100_000))
    with create(small_disk) as folder:
        folder.write(Started(run=run()))
        with pytest.raises(RecordError, match="free disk space"):
            write_much(folder)
        assert check_chain(folder.path, folder.head).holds
        ballast.unlink()
        folder.write(Ended(ending=Ending(status="unavailable", sentence="The disk was full.")))
    assert read(folder.path).ending is not None
    assert check_chain(folder.path, folder.head).holds


def test_a_full_disk_at_the_start_is_said(small_disk: Path) -> None:
    with suppress(OSError), (small_disk / "ballast").open("wb") as ballast:
        while ballast.write(bytes(4096)):
            ballast.flush()
    with pytest.raises(RecordError, match="free disk space"), create(small_disk) as folder:
        folder.write(Started(run=run()))


def test_a_disk_that_turns_read_only_is_said(small_disk: Path) -> None:
    folder = create(small_disk)
    folder.write(Started(run=run()))
    folder.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(RecordError, match="the file system is read-only"):
        folder.keep(shot(png()))
    with pytest.raises(UsageError, match="Read-only file system"):
        create(small_disk, "r2")


def test_a_closed_record_takes_nothing_more(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run())
    with pytest.raises(RecordError, match="Could not append line 13 "):
        folder.write(Troubled(step=3, sentence="late"))


INTERRUPT = """
import signal, sys
from pathlib import Path
from record_builder import run
from vision_agent.record import Redactor, RunFolder
from vision_agent.events import Started, Troubled

folder = RunFolder.create(Path(sys.argv[1]), "r1", Redactor([]))
folder.write(Started(run=run()))
interrupted = written = 0
writing = False

def interrupt(*_):
    if writing:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
while interrupted < 200:
    try:
        writing = True
        folder.write(Troubled(step=1, sentence="x" * (written % 3000)))
        writing = False
        written += 1
    except KeyboardInterrupt:
        writing = False
        interrupted += 1
signal.setitimer(signal.ITIMER_REAL, 0)
folder.write(Troubled(step=2, sentence="last"))
print(folder.head)
"""


def test_interrupts_in_the_middle_of_writing_leave_a_chain_that_holds(tmp_path: Path) -> None:
    process = python(INTERRUPT, tmp_path)
    head, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    chain = check_chain(tmp_path / "r1", head.strip())
    assert chain.holds, chain.sentence
    assert chain.torn_bytes == 0


# --- kill -9 ----------------------------------------------------------------------------------------------------------

WRITE_ON = """
import sys
from pathlib import Path
from record_builder import run, step_events
from vision_agent.actions import Click
from record_builder import done
from vision_agent.record import Redactor, RunFolder
from vision_agent.events import Started

folder = RunFolder.create(Path(sys.argv[1]), "r1", Redactor([]))
folder.write(Started(run=run()))
count = 1
print(count, flush=True)
for index in range(1, 10_000):
    for event in step_events(index, (Click(target=5), done())):
        folder.write(event)
        count += 1
        print(count, flush=True)
"""


@pytest.mark.parametrize("after", [1, 2, 3, 5, 8, 13, 29])
def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path, after: int) -> None:
    with python(WRITE_ON, tmp_path) as writer:
        assert writer.stdout is not None
        seen = 0
        while seen < after:
            seen = int(writer.stdout.readline())
        writer.kill()
        rest = writer.stdout.read().split()
    acknowledged = int(rest[-1]) if rest else seen
    chain = check_chain(tmp_path / "r1")
    assert chain.holds
    assert acknowledged <= chain.lines <= acknowledged + 1
    found = read(tmp_path / "r1")
    assert found.ending is None
    assert all((tmp_path / "r1" / "shots" / f"{s.observation.marked.sha256}.png").is_file() for s in found.steps)
