"""The benchmark of mutations starts as a command, outside of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_it_names_its_suites() -> None:
    script = Path(__file__).with_name("bench_mutations.py")
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, timeout=150)
    assert "{all,things,rows}" in done.stdout, done.stderr
