"""The browser tool for CUBE, where `make test-cube` has set up an environment with its packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.cube_environment import is_installed


@pytest.mark.timeout(600)
def test_tasks_of_a_cube_benchmark_are_done_by_number() -> None:
    if not is_installed():
        pytest.skip("its packages are not installed: `make test-cube` does that")
    script = Path(__file__).parent / "cube_environment.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
