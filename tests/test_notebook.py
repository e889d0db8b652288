"""Claims about runs in a notebook, with a real kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(
    None in (find_spec("nbclient"), find_spec("ipykernel")), reason="`make rest-packages` installs Jupyter"
)

CELL = '''
from vision_agent import Agent
from vision_agent.models.offline.steps import StepsModel
PAGE = """data:text/html,<title>Shop <script>alert(1)</script></title>
<button onclick="document.title += ' pressed'">Order <script>alert(2)</script>Zebra47Quokka</button>"""
run = await Agent("Order a <b>mug</b>", url=PAGE, secrets={"word": "Zebra47Quokka"}, settings={"runs": RUNS}, PROGRESS
    model=StepsModel(["click [1]", "finish It is Zebra47Quokka"])).run()
run
'''


def shown(tmp_path: Path, progress: str) -> list[dict[str, Any]]:
    """The outputs of the cell, which runs in a kernel of a notebook."""
    cell = CELL.replace("RUNS", repr(str(tmp_path / "runs"))).replace("PROGRESS", progress)
    script = """if True:
        import json, sys
        import nbformat
        from nbclient import NotebookClient
        from jupyter_client import AsyncKernelManager
        class Manager(AsyncKernelManager):
            def format_kernel_cmd(self, extra_arguments=None):
                command = super().format_kernel_cmd(extra_arguments)
                return [sys.executable, *command[1:]]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(sys.argv[1])])
        NotebookClient(book, timeout=150, kernel_name="python3", kernel_manager_class=Manager).execute()
        print(json.dumps([each for each in book.cells[0].outputs]))
    """
    done = subprocess.run(
        [sys.executable, "-c", script, cell], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    outputs: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return outputs


def test_a_run_shows_its_progress_in_one_card_and_itself_in_another(tmp_path: Path) -> None:
    live, result = shown(tmp_path, "")
    assert live["output_type"] == "display_data"
    for output in (live, result):
        html = output["data"]["text/html"]
        assert "✓ done" in html
        assert "Order a &lt;b&gt;mug" in html
        assert "data:image/png;base64," in html
        assert "Zebra47Quokka" not in str(output)
        assert "<script" not in html
    assert "✓ changed" in live["data"]["text/html"]
    assert len(result["data"]["text/plain"]) < 400


def test_progress_in_a_notebook_can_be_turned_off(tmp_path: Path) -> None:
    assert [each["output_type"] for each in shown(tmp_path, "progress=False,")] == ["execute_result"]
