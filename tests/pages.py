"""Pages of other projects, in the versions that `pages.toml` names, fetched with pip and npm into `.cache/pages`.

Run it to fetch those that tests are run on, so that tests need no network: `python tests/pages.py`. With `--all` it
fetches those of the perception score too, some 400 MB.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "pages"
_FETCH_S = 120
_AT_ONCE = 4
"""Packages fetched at a time: most of it is waiting for a server."""


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


@dataclass(frozen=True)
class Site:
    """Pages of one package from npm, and the folder they are served from."""

    package: str
    kind: str
    root: Path
    pages: tuple[str, ...]


def site(package: str, cache: Path = CACHE) -> Site:
    """A package from npm at its pinned version, with those it needs beside it, fetched now if it is not here yet.

    Raises:
        MissingPages: it cannot be fetched.
    """
    wanted = _toml()["npm"][package]
    folder = cache / f"npm-{package.replace('/', '-')}-{wanted['version']}"
    if not folder.is_dir():
        _pack({each: _toml()["npm"][each]["version"] for each in (package, *wanted.get("also", ()))}, folder)
    return Site(package, wanted["kind"], folder / wanted["root"], tuple(wanted["pages"]))


def fetch_npm(package: str, version: str, cache: Path = CACHE) -> Path:
    """The folder of a package from npm in one exact version, fetched now if it is not here yet.

    Raises:
        MissingPages: it cannot be fetched.
    """
    folder = cache / f"npm-{package.replace('/', '-')}-{version}"
    if not folder.is_dir():
        _pack({package: version}, folder)
    return folder / package


def sites(*, tested: bool = False) -> list[str]:
    """The packages from npm that have pages; with `tested`, only those that `make test` is run on."""
    return [name for name, each in _toml()["npm"].items() if each["pages"] and (each.get("tested") or not tested)]


def widgets() -> list[str]:
    """The packages from npm whose widgets `make test` acts on."""
    return [name for name, each in _toml()["npm"].items() if each.get("widgets")]


def checks() -> list[str]:
    """The packages from npm that check pages of ours."""
    return [name for name, each in _toml()["npm"].items() if each.get("checks")]


def versions() -> dict[str, str]:
    """The pinned version of each package from the Python Package Index."""
    pinned: dict[str, str] = _toml()["pypi"]
    return pinned


def _toml() -> dict[str, Any]:
    with (Path(__file__).parent / "pages.toml").open("rb") as file:
        return tomllib.load(file)


def _fetch(package: str, version: str, folder: Path) -> None:
    wanted = f"{package}=={version}"
    if find_spec("pip") is None:
        raise MissingPages(f"{wanted} is not in {folder.parent}, and this Python has no pip to fetch it with")
    with _whole(folder) as target:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        command += ["--disable-pip-version-check", "--retries", "1", "--timeout", "15", "--target", str(target), wanted]
        _run(command, target, "pip", wanted)


_NPM_WAITS = (
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"),
    "--fetch-timeout=60000",
)
"""By itself npm tries for minutes on a machine without network."""
_failed: dict[str, str] = {}
"""Why a package could not be fetched: not tried again for each test."""


def _pack(wanted: dict[str, str], folder: Path) -> None:
    """Packages from npm in one folder, each in a folder of its own name; nothing of theirs is run."""
    npm = shutil.which("npm")
    if npm is None:
        raise MissingPages(f"{', '.join(wanted)} are not in {folder.parent}, and there is no npm to fetch them with")
    with _whole(folder) as target:
        target.mkdir()
        exact = [f"{package}@{version}" for package, version in wanted.items()]
        _run([npm, "pack", "--silent", "--ignore-scripts", *_NPM_WAITS, *exact], target, "npm", ", ".join(exact))
        for package, version in wanted.items():
            archive = target / f"{package.removeprefix('@').replace('/', '-')}-{version}.tgz"
            with tarfile.open(archive) as packed:
                packed.extractall(target / ".unpacked", filter="data")
            archive.unlink()
            (target / package).parent.mkdir(parents=True, exist_ok=True)
            # A package is one folder, nearly always called `package`.
            next((target / ".unpacked").iterdir()).rename(target / package)


def _run(command: list[str], target: Path, tool: str, wanted: str) -> None:
    if wanted in _failed:
        raise MissingPages(_failed[wanted])
    folder = target if target.is_dir() else target.parent
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        _failed[wanted] = f"{tool} did not fetch {wanted} within {_FETCH_S} s"
        raise MissingPages(_failed[wanted]) from None
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        _failed[wanted] = f"{tool} could not fetch {wanted}: {reason}"
        raise MissingPages(_failed[wanted])


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A folder to fetch into, which becomes `folder` at the end.

    It lies beside it until then, so that a half-fetched one is never taken for whole, and several test processes may
    fetch at once.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        target = Path(beside) / "target"
        yield target
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


def main() -> int:
    """0 when all are here."""
    wanted = dict.fromkeys((*versions(), *sites(tested="--all" not in sys.argv), *widgets(), *checks()))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return int(not all(list(pool.map(_is_here, wanted))))


def _is_here(package: str) -> bool:
    try:
        folder = pages(package) if package in versions() else site(package).root
    except MissingPages as error:
        print(f"{package}: missing; tests on it will be skipped. {error}", file=sys.stderr)
        return False
    print(f"{package}: {folder.relative_to(ROOT)}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
