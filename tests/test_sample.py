"""Claims about the choice of tests: what it names exists, and no test starts a browser where none may be started."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.sample import LATER, LONG, MORE_VARIANTS, SLOW_VARIANTS, STARTS_A_BROWSER, WEEKLY

TESTS = Path(__file__).parent


def test_what_the_choice_names_exists() -> None:
    named = (*STARTS_A_BROWSER, *LONG, *LATER, *WEEKLY, *SLOW_VARIANTS, *MORE_VARIANTS)
    assert [name for name in named if not _exists(name)] == []
    assert WEEKLY < LONG
    assert not LATER & LONG
    assert not WEEKLY & MORE_VARIANTS.keys()


def _exists(name: str) -> bool:
    file, _, test = name.partition("::")
    path = TESTS / file
    return path.is_file() and (
        not test or re.search(rf"^(async )?def {test}\(", path.read_text("utf-8"), re.M) is not None
    )


def test_a_browser_cannot_be_started_without_the_driver_of_playwright() -> None:
    script = "from playwright.sync_api import sync_playwright\nsync_playwright().start()"
    environment = {**os.environ, "PLAYWRIGHT_NODEJS_PATH": str(TESTS / "no_browser.sh")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode != 0
    assert "This test starts a browser" in done.stderr
