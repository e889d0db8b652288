"""Rows of a table on the workers of a real Ray: the same results, nothing run twice, and one file of answers.

Ray is an extra; `make test-ray` gets it and runs these.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from vision_agent.cli.main import app
from vision_agent.errors import UsageError

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed; `make test-ray` installs it")

PAGE = """<input id=who aria-label=Name><button onclick="out.textContent = 'Ordered for ' + who.value">Order</button>
<p id=out></p>"""
LINES = ['type "{name}" into Name', "click Order", 'wait for "Ordered for {name}"', 'finish "{name}"']


def over(folder: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    """`vision-agent run … --over rows.csv` in the folder."""
    (folder / "rows.csv").write_text("name\nAnn\nBob\n", "utf-8")
    (folder / "lines.txt").write_text("\n".join(LINES), "utf-8")
    command = ["run", url, "--steps=lines.txt", "--over=rows.csv", "--json", *more]
    return subprocess.run(
        [sys.executable, "-m", "vision_agent", *command],
        cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, timeout=200,
    )  # fmt: skip


@needs_ray
@pytest.mark.timeout(400)
def test_rows_on_two_workers_give_what_they_give_here_and_are_not_run_again(serve: Any, tmp_path: Path) -> None:
    url = serve({"/": PAGE})
    there = over(tmp_path, url, "--jobs=2", "--ray=local")
    assert there.returncode == 0, there.stderr
    results = json.loads(there.stdout)["results"]
    assert [(each["status"], each["answer"]) for each in results] == [("done", "Ann"), ("done", "Bob")]
    assert all((tmp_path / "rows" / each["run"] / "report.html").is_file() for each in results)
    assert (tmp_path / "rows" / "summary.html").read_text("utf-8").count("report.html") == 2
    again = over(tmp_path, url)
    assert json.loads(again.stdout)["results"] == results


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["run", "shop.example", "Order", "--ray=local"], "--ray is for many rows"),
        (["run", "shop.example", "Order", "--over=rows.csv", "--ray=local", "--cdp=9222"], "--ray starts a browser"),
    ],
)
def test_what_does_not_go_with_ray_is_refused(
    command: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("name\nAnn\n", "utf-8")
    with pytest.raises(UsageError, match=said):
        app(command, standalone_mode=False)
