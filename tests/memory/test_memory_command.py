"""Claims about `vision-agent memory`, made of a real process each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from exemplar_builder import exemplar, turn
from record_builder import small_run, write_run

from tests.ready_python import python
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar_text import account_of


def memory(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python(), "-m", "vision_agent", "memory", *args],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


def test_a_run_is_learned_listed_shown_and_forgotten(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", small_run())
    kept = ("--memory", str(tmp_path / "memory"))

    added = memory("add", str(run.path), "--confirm", "--head", run.head, *kept)
    assert (added.returncode, added.stderr) == (0, "")
    assert added.stdout == f"Learned {run.path.name}: 2 turns, in {tmp_path / 'memory' / run.path.name}.json\n"

    listed = memory("list", *kept).stdout
    assert listed == f"{run.path.name}  +0 -0   2  shop.test  Put the large wool jumper into the cart\n"

    shown = memory("show", run.path.name, *kept)
    assert shown.returncode == 0
    assert '     did     click target="<button>Add to cart"\n' in shown.stdout

    forgotten = memory("forget", run.path.name, *kept)
    assert forgotten.returncode == 0
    assert memory("list", *kept).stdout == ""
    assert list((tmp_path / "memory" / "pictures").iterdir()) == []


@pytest.mark.thorough
def test_each_says_the_same_as_json(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", small_run())
    name = run.path.name
    kept = ("--memory", str(tmp_path / "memory"), "--json")
    file = str(tmp_path / "memory" / f"{name}.json")
    assert json.loads(memory("add", str(run.path), "--confirm", *kept).stdout) == {"id": name, "file": file, "turns": 2}
    (tmp_path / "memory" / "broken.json").write_text("{", "utf-8")
    listed = json.loads(memory("list", *kept).stdout)
    (row,) = listed["exemplars"]
    assert (row["id"], row["site"], row["turns"], row["helped"], row["failed"]) == (name, "shop.test", 2, 0, 0)
    assert "broken.json is not an exemplar" in listed["warnings"][0]
    assert json.loads(memory("show", name, *kept).stdout)["goal"] == row["goal"]
    assert json.loads(memory("forget", name, *kept).stdout) == {"id": name, "file": file}


def test_the_folder_comes_from_the_settings(tmp_path: Path) -> None:
    MemoryFolder(tmp_path / "kept").add(exemplar())
    assert memory("list", VISION_AGENT_MEMORY=str(tmp_path / "kept")).stdout.startswith("one  +0 -0")
    assert memory("list", XDG_DATA_HOME=str(tmp_path / "nothing")).stdout == ""
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["show", "nobody"], "There is no exemplar 'nobody'"),
        (["forget", "../x"], "There is no exemplar '../x'"),
        (["add", "no-such-folder"], "The run in no-such-folder cannot be learned from"),
        (["show", "broken"], "is not an exemplar and is skipped"),
    ],
)
def test_what_cannot_be_is_a_usage_error_in_one_line(args: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", "utf-8")
    done = memory(*args, "--memory", str(tmp_path))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert sentence in line


def test_a_memory_that_cannot_be_written_leaves_with_5(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", small_run())
    (tmp_path / "file").write_text("in the way", "utf-8")
    done = memory("add", str(run.path), "--confirm", "--memory", str(tmp_path / "file"))
    assert done.returncode == 5
    assert "name another folder with --memory" in done.stderr


def test_a_damaged_file_is_said_beside_the_list_and_can_be_forgotten(tmp_path: Path) -> None:
    MemoryFolder(tmp_path).add(exemplar())
    (tmp_path / "broken.json").write_text("{", "utf-8")
    done = memory("list", "--memory", str(tmp_path))
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert "broken.json is not an exemplar" in done.stderr
    assert memory("forget", "broken", "--memory", str(tmp_path)).returncode == 0
    assert memory("list", "--memory", str(tmp_path)).stderr == ""


@pytest.mark.parametrize(
    "command", [[], *(pytest.param([each], marks=pytest.mark.thorough) for each in ("list", "show", "add", "forget"))]
)
def test_help_teaches_and_loads_no_pixels(command: list[str]) -> None:
    script = (
        f"import sys; sys.argv[1:] = {['memory', *command, '--help']!r}\n"
        "from vision_agent.cli.main import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=True)
    assert "exemplar" in done.stdout
    assert {"cv2", "numpy", "sqlite3", "playwright"}.isdisjoint(done.stderr.split())


def test_nothing_of_a_page_writes_to_the_terminal_but_what_prints() -> None:
    told = account_of(exemplar(goal="a\x1b[2J\nb", turns=(turn(title="\x07t\u202e", memory="m\r\n1. forged"),)))
    assert all(char.isprintable() or char == "\n" for char in told)
    assert "\n1. forged" not in told
