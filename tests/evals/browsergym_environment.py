"""`make test-browsergym`: BrowserGym in an environment of its own, and the contract with it tried there.

Its pins exclude ours, of Playwright above all, so it gets `.cache/browsergym-<version>`, with those of this project's
dependencies beside it that the agent needs there. Packages are fetched by their names alone, as pip is set up to.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from playwright.sync_api import sync_playwright

from vision_agent.browser.launch.launch import BrowserCandidate, candidates
from vision_agent.settings import load

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from pages import MissingPages, pages  # noqa: E402

VERSION = "0.14.3"
PINNED = (f"browsergym-core=={VERSION}", f"browsergym-miniwob=={VERSION}", "pytest>=8.3")
NEEDED = (
    "ada-url", "confusable-homoglyphs", "numpy", "opencv-python-headless", "pillow", "platformdirs", "pydantic",
    "pydantic-settings", "rapidfuzz", "zlib-ng",
)  # fmt: skip
"""Of this project's dependencies: what the agent and its baselines import. A model's client comes on top of these."""
FOLDER = ROOT / ".cache" / f"browsergym-{VERSION}"
PYTHON = FOLDER / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def main() -> int:
    """0 when the contract holds, 1 when it does not, 5 when it could not be tried; says why."""
    chromium = _chromium()
    if chromium is None:
        return _not_tried("no Chromium was found; `make doctor` says what would be used")
    try:
        miniwob = pages("miniwob") / "html" / "miniwob"
    except MissingPages as error:
        return _not_tried(str(error))
    wanted = [*PINNED, *_needed()]
    done = FOLDER / "installed.json"
    if not done.is_file() or json.loads(done.read_text("utf-8")) != wanted:
        if trouble := _set_up(wanted):
            return _not_tried(trouble)
        done.write_text(json.dumps(wanted), "utf-8")
    # Away from this project's conftest and settings: both want what is not in that environment.
    command = [str(PYTHON), "-m", "pytest", "--noconftest", "-p", "no:cacheprovider", "-q", "-c", os.devnull]
    command += ["--rootdir", str(FOLDER), str(HERE / "browsergym_contract.py"), *sys.argv[1:]]
    home = {"PYTHONPATH": str(ROOT), "MINIWOB_URL": f"{miniwob.as_uri()}/", "CHROMIUM": str(chromium)}
    return min(subprocess.run(command, env=os.environ | home, cwd=FOLDER, check=False).returncode, 1)


def _set_up(wanted: list[str]) -> str:
    """An environment with these packages; what went wrong, empty where nothing did."""
    print(f"Setting up {FOLDER.relative_to(ROOT)} (once, a minute or two)", flush=True)
    install = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    for command in ([sys.executable, "-m", "venv", "--clear", str(FOLDER)], install):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            errors = [line for line in ran.stderr.splitlines() if "ERROR" in line] or ran.stderr.splitlines()[-3:]
            said = re.sub(r"[a-z+]+://[^ ,)]+", "(address)", "; ".join(errors))
            newer = " (its pins have no builds for Python 3.13 and later)" if sys.version_info >= (3, 13) else ""
            return f"{' '.join(PINNED[:2])} could not be installed{newer}: {said}"
    return ""


def _needed() -> list[str]:
    """With the bounds that the project itself has."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        ours: list[str] = tomllib.load(file)["project"]["dependencies"]
    return [each for each in ours if re.split(r"[<>=]", each)[0] in NEEDED]


def _chromium() -> Path | None:
    """The one that the product would start first, of those that are a file here."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    found = [own if each.executable is None and each.channel is None else each.executable for each in _tried()]
    return next((path for path in found if path is not None and path.is_file()), None)


def _tried() -> list[BrowserCandidate]:
    return [each for each in candidates(load().browser) if each.cdp_url is None]


def _not_tried(why: str) -> int:
    print(f"The contract with BrowserGym could not be tried: {why}")
    return 5


if __name__ == "__main__":
    sys.exit(main())
