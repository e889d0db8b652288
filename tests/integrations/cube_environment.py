"""`make test-cube`: CUBE and its MiniWoB++ in an environment of their own, and the contract with them tried there.

CUBE needs Python 3.12, which may not be the Python of this project's environment, and MiniWoB++ asks for BrowserGym,
whose pin of Playwright excludes ours; none of BrowserGym is used here, so its pins are left out. Packages are fetched
by their names alone, as pip is set up to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NEWEST_MINOR = 15
PACKAGES = (f"{ROOT}[cube]", "pytest>=8.3", "miniwob==1.1.0", "beautifulsoup4", "gymnasium", "lxml", "pyparsing")
BARE = ("miniwob-cube==1.1.0", "cube-browser-tool==0.3.0", "cube-browser-playwright==0.2.1", "browsergym-core==0.14.3")
"""Installed without what they ask for. Of these the contract uses the tasks of `miniwob-cube` alone."""
FOLDER = ROOT / ".cache" / "cube"
PYTHON = FOLDER / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def main() -> int:
    """0 when the contract holds, 1 when it does not, 5 when it could not be tried; says why."""
    if not is_installed() and (trouble := _set_up()):
        print(f"The contract with CUBE could not be tried: {trouble}")
        return 5
    # Away from this project's conftest and settings: both want what is not in that environment.
    command = [str(PYTHON), "-m", "pytest", "--noconftest", "-p", "no:cacheprovider", "-q", "-c", os.devnull]
    command += ["--rootdir", str(FOLDER), str(HERE / "cube_contract.py"), *sys.argv[1:]]
    home = {"PYTHONPATH": str(ROOT)}
    return min(subprocess.run(command, env=os.environ | home, cwd=FOLDER, check=False).returncode, 1)


def is_installed() -> bool:
    """Whether its packages are there."""
    done = FOLDER / "installed.json"
    return done.is_file() and json.loads(done.read_text("utf-8")) == [*PACKAGES, *BARE]


def _set_up() -> str:
    """An environment with the packages; what went wrong, empty where nothing did."""
    python = _python()
    if python is None:
        return "it needs Python 3.12 or later; name one with CUBE_PYTHON=python3.13"
    print(f"Setting up {FOLDER.relative_to(ROOT)} (once, a minute or two)", flush=True)
    install = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [python, "-m", "venv", "--clear", str(FOLDER)],
        [*install, *PACKAGES],
        [*install, "--no-deps", *BARE],
    ):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            errors = [line for line in ran.stderr.splitlines() if "ERROR" in line] or ran.stderr.splitlines()[-3:]
            return re.sub(r"[a-z+]+://[^ ,)]+", "(address)", "; ".join(errors))
    (FOLDER / "installed.json").write_text(json.dumps([*PACKAGES, *BARE]), "utf-8")
    return ""


def _python() -> str | None:
    """A Python that is new enough: the one that is named, this one, or one on the PATH."""
    if named := os.environ.get("CUBE_PYTHON"):
        return named
    if sys.version_info >= (3, 12):
        return sys.executable
    return next(filter(None, (shutil.which(f"python3.{minor}") for minor in range(NEWEST_MINOR, 11, -1))), None)


if __name__ == "__main__":
    sys.exit(main())
