"""Claims about a thousand broken run folders: each use of each ends in a sentence, soon, and harms nothing."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.record.record_builder import done, observation, run, small_run, step_events, task, write_run
from tests.record.test_hostile_folders import USES, their_session
from vision_agent.actions import Finish, Type, Upload
from vision_agent.errors import VisionAgentError
from vision_agent.events import Ended, Started
from vision_agent.export.cere import read_cere, verify_cere, write_cere
from vision_agent.types import Ending, Provenance

DEEP: Any = 0
for _ in range(150):
    DEEP = [DEEP]

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, -1e308, 10**400, 2**63, "", "x" * 20_000, "../../outside/kept", "/etc/passwd", "\0",
    "\n\x1b[2J", "file:///etc/passwd", "javascript:alert(1)", "http://[", "<script>alert(1)</script>", "{{ 7 * 7 }}",
    "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "2026-01-01", [], {}, [[]], {"a": {}}, DEEP, "٣", "\u202e",
    "started", "click", "upload",
)  # fmt: skip
"""Values that stand where something else should."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A finished run, and one that was interrupted, whose decider was a person."""
    runs = tmp_path_factory.mktemp("bases")
    human = run(
        "human", task=task(files=(Path("cv.pdf"),), user_data={"city": "Rome"}), provenance=Provenance(model="human")
    )
    cut = [
        Started(run=human),
        *step_events(1, (Type(target=1, text="Rome"), done()), (Upload(mark=5, files=("cv.pdf",)), done())),
        *step_events(2, (Finish(), done("Finished.", effect="finished")), seen=observation("o2"))[:-1],
    ]
    ended = [*cut, Ended(ending=Ending(status="interrupted", sentence="Interrupted."))]
    return [write_run(runs, small_run()).path, write_run(runs, ended).path]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container in a JSON value with each of its keys."""
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    return [(value, key) for key in keys] + [each for key in keys for each in places(value[key])]


def with_strange_values(chance: random.Random, raw: bytes) -> bytes:
    try:
        content = json.loads(raw)
    except ValueError:
        return raw
    for _ in range(chance.choice((1, 1, 2, 5))):
        container, key = chance.choice(places(content))
        what = chance.random()
        if what < 0.7:
            container[key] = deepcopy(chance.choice(VALUES))
        elif what < 0.85:
            del container[key]
        elif isinstance(container, dict):
            container["strange"] = deepcopy(chance.choice(VALUES))
        else:
            container *= chance.choice((2, 50))
        if not places(content):
            break
    return json.dumps(content, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def with_strange_bytes(chance: random.Random, raw: bytes) -> bytes:
    at, long = chance.randrange(len(raw) + 1), chance.choice((0, 1, 20, len(raw)))
    return raw[:at] + chance.choice((b"", b"\xff", b"\0" * 9, b"[" * 3000, b"\n", raw[:200])) + raw[at + long :]


def chained(lines: list[bytes], about: bytes) -> list[bytes]:
    """The lines numbered and with the hashes of a record that nobody changed, as far as they can be read."""
    before, made = about, []
    for number, line in enumerate(lines, 1):
        try:
            content = json.loads(line)
            content.update(n=number, prev=hashlib.sha256(before).hexdigest())
            line = json.dumps(content).encode("utf-8", "surrogatepass")
        except (AttributeError, RecursionError, ValueError):
            pass
        made.append(line)
        before = line + b"\n"
    return made


def break_folder(chance: random.Random, folder: Path, outside: Path) -> None:
    steps, about = folder / "steps.jsonl", folder / "run.json"
    lines = steps.read_bytes().splitlines()
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, what = chance.randrange(len(lines)), chance.random()
        if what < 0.45:
            lines[at] = with_strange_values(chance, lines[at]) if lines[at][:1] == b"{" else lines[at]
        elif what < 0.6:
            about.write_bytes(with_strange_values(chance, about.read_bytes()))
        elif what < 0.7:
            lines[at] = with_strange_bytes(chance, lines[at])
        elif what < 0.8:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif what < 0.9:
            lines = [*lines[:at], *lines[at + 1 :]] or lines
        else:
            lines = [*lines[:at], *lines[at:], lines[at]]
        lines = [line for line in lines if line] or [b"{}"]
        if any(line[:1] != b"{" for line in lines):
            break
    if chance.random() < 0.7:
        lines = chained(lines, about.read_bytes())
    steps.write_bytes(b"".join(line + b"\n" for line in lines))
    if chance.random() < 0.3:
        replace_file(chance, folder, outside)


def replace_file(chance: random.Random, folder: Path, outside: Path) -> None:
    path = chance.choice([each for each in sorted(folder.rglob("*")) if each.is_file()])
    kind, data = chance.randrange(5), path.read_bytes()
    if kind == 0:
        path.write_bytes(with_strange_bytes(chance, data))
        return
    path.unlink()
    if kind == 1:
        path.symlink_to(outside / "kept")
    elif kind == 2:
        path.mkdir()
    elif kind == 3:
        os.mkfifo(path)


def sentence_of(use: Callable[[], object]) -> str:
    """What a use ends in: `done`, or an error's sentence. Any other error is a fault of ours."""
    try:
        use()
    except VisionAgentError as error:
        return error.sentence
    return "done"


def broken_run(chance: random.Random, base: Path, place: Path, use: str) -> None:
    """Breaks a copy of a run and uses it: what comes of it is a result or a sentence, and nothing else is touched."""
    shutil.rmtree(place, ignore_errors=True)
    outside, out, folder = place / "outside", place / "out", place / base.name
    outside.mkdir(parents=True)
    out.mkdir()
    (outside / "kept").write_text("kept", "utf-8")
    shutil.copytree(base, folder)
    break_folder(chance, folder, outside)
    assert 0 < len(sentence_of(lambda: USES[use](folder, out))) < 5000
    assert sorted(each.name for each in place.iterdir()) == sorted(["out", "outside", base.name])
    assert [(each.name, each.read_text("utf-8")) for each in outside.iterdir()] == [("kept", "kept")]


MANY = [40, pytest.param(1000, marks=[pytest.mark.thorough, pytest.mark.timeout(1200)])]


def run_many(many: int, check: Any) -> None:
    run = given(seed=st.integers(0, 2**32 - 1))(lambda seed: check(random.Random(seed)))
    hypothesis_settings(max_examples=many)(run)()


@pytest.mark.parametrize("many", MANY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_use_of_a_broken_run_folder_ends_in_a_sentence(bases: list[Path], tmp_path: Path, many: int) -> None:
    def check(chance: random.Random) -> None:
        broken_run(chance, chance.choice(bases), tmp_path / "place", chance.choice(list(USES)))

    run_many(many, check)


@pytest.mark.parametrize("many", MANY)
def test_each_broken_session_ends_in_a_sentence(bases: list[Path], tmp_path: Path, many: int) -> None:
    archives = [
        write_cere(bases[0], tmp_path / "ours.cere").read_bytes(),
        their_session(tmp_path / "theirs.cere").read_bytes(),
    ]

    def check(chance: random.Random) -> None:
        file, runs = tmp_path / "broken.cere", tmp_path / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        data = chance.choice(archives)
        for _ in range(chance.choice((1, 1, 3))):
            at, long = chance.randrange(len(data)), chance.choice((0, 1, 4))
            data = data[:at] + bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 4)))) + data[at + long :]
        file.write_bytes(data)
        for use in (verify_cere, lambda each: read_cere(each, runs)):
            assert sentence_of(lambda use=use: use(file))

    run_many(many, check)
