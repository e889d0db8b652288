"""Claims about the choice of tests: what it names exists, and no test starts a browser where none may be started."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample import LONG, ONE_IN, SLOW_VARIANTS, STARTS_A_BROWSER

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", [*STARTS_A_BROWSER, *sorted(LONG), *sorted(SLOW_VARIANTS), *ONE_IN])
def test_what_the_choice_names_exists(name: str) -> None:
    file, _, test = name.partition("::")
    assert re.search(rf"^(async )?def {test}\(" if test else "", (TESTS / file).read_text("utf-8"), re.MULTILINE)


def test_a_browser_cannot_be_started_without_the_driver_of_playwright() -> None:
    script = "from playwright.sync_api import sync_playwright\nsync_playwright().start()"
    environment = {**os.environ, "PLAYWRIGHT_NODEJS_PATH": str(TESTS / "no_browser.sh")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert "This test starts a browser" in done.stderr
