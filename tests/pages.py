"""Pages of other projects, in the versions that `pages.toml` names, fetched with pip and kept in `.cache/pages`.

Run it to fetch them all, so that tests need no network: `python tests/pages.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "pages"
_FETCH_S = 120


class MissingPages(Exception):
    """The pages are not here and could not be fetched; says why in one line."""


def pages(package: str, cache: Path = CACHE) -> Path:
    """The folder of an installed package at its pinned version, fetched now if it is not here yet.

    Raises:
        MissingPages: it cannot be fetched.
    """
    pinned = versions()[package]
    folder = cache / f"{package}-{pinned}"
    if not folder.is_dir():
        _fetch(package, pinned, folder)
    return folder / package


def versions() -> dict[str, str]:
    """The pinned version of each package."""
    with (Path(__file__).parent / "pages.toml").open("rb") as file:
        pinned: dict[str, str] = tomllib.load(file)["pypi"]
    return pinned


def _fetch(package: str, version: str, folder: Path) -> None:
    wanted = f"{package}=={version}"
    if find_spec("pip") is None:
        raise MissingPages(f"{wanted} is not in {folder.parent}, and this Python has no pip to fetch it with")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Into a folder beside it and then renamed, so that a half-fetched one is never taken for whole, and several test
    # processes may fetch at once.
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        target = Path(beside) / "target"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        command += ["--disable-pip-version-check", "--retries", "1", "--timeout", "15", "--target", str(target), wanted]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_S, check=False)
        except subprocess.TimeoutExpired:
            raise MissingPages(f"pip did not fetch {wanted} within {_FETCH_S} s") from None
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise MissingPages(f"pip could not fetch {wanted}: {reason}")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


def main() -> int:
    """0 when all are here."""
    missing = 0
    for package, version in versions().items():
        try:
            print(f"{package} {version}: {pages(package).relative_to(ROOT)}")
        except MissingPages as error:
            missing += 1
            print(f"{package} {version}: missing; tests on it will be skipped. {error}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
