"""Fetches the libraries of CanvasBench from npm, at pinned versions, and bundles each application with its own.

Nothing of theirs is in this package. Each application pins all that it needs by version and hash in its
`package-lock.json`; scripts of packages are not run. What is built is kept in the person's cache folder, named by the
hash of what it was built from. This module knows no task.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from vision_agent.errors import Unavailable
from vision_agent.evals.suites.fixture_sites import COMMON, TASKS_FILE

PAGE = "index.html"
_BUNDLER = "bundler"
_FETCH_S = 600
_BUNDLE_S = 300
_NPM = (
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"),
    # By itself npm tries for minutes on a machine without network.
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=60000"),
)
_ESBUILD = (
    # A worker is only there for its effects, whatever its package says.
    "--ignore-annotations",
    *("--bundle", "--format=esm", "--minify", "--log-level=error", "--target=chrome120", "--jsx=automatic"),
    "--conditions=production,module",
    "--define:process.env.NODE_ENV='production'",
    *(f"--loader:.{kind}=dataurl" for kind in ("woff", "woff2", "ttf", "png", "gif", "svg", "jpg", "webp", "cur")),
    *(f"--loader:.{kind}=file" for kind in ("wasm", "mp3", "ogg")),
)


def cache_folder() -> Path:
    """Where built applications are kept."""
    return Path(platformdirs.user_cache_dir("vision-agent")) / "canvas"


def source_hash(source: Path) -> str:
    """The hash of an application and of all that it is built with, except for its tasks."""
    folders = (source, source.parent / COMMON, source.parent / _BUNDLER)
    digest = hashlib.sha256("\n".join((*_NPM, *_ESBUILD)).encode())
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        if path.name != TASKS_FILE:
            digest.update(f"{path.relative_to(source.parent).as_posix()}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def is_built(source: Path, cache: Path | None) -> bool:
    """Whether the application needs no fetching."""
    return _built_folder(source, cache).is_dir()


def built(source: Path, cache: Path | None = None) -> Path:
    """The folder to serve for an application; it is fetched and bundled now, unless that was done before.

    Raises:
        Unavailable: there is no npm, or it could not fetch or bundle the application.
    """
    folder = _built_folder(source, cache)
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(
            f"The libraries of canvas/{source.name} are fetched with npm, and there is no npm here",
            "install Node.js, which brings it, or leave out the tasks of this library",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as temporary:
        work = Path(temporary)
        for name in (source.name, COMMON, _BUNDLER):
            shutil.copytree(source.parent / name, work / name)
        # What is optional for a library is for other places than a browser; for the bundler it is its program.
        for name, more in ((_BUNDLER, ()), (source.name, ("--omit=optional",))):
            failed = f"npm could not fetch the libraries of canvas/{source.name}"
            _run((npm, *_NPM, *more), work / name, _FETCH_S, failed)
        target = work / "built"
        esbuild = work / _BUNDLER / "node_modules" / ".bin" / "esbuild"
        programs = sorted(path.name for path in (work / source.name).glob("*.js"))
        command = (str(esbuild), *programs, *_ESBUILD, f"--outdir={target}")
        _run(command, work / source.name, _BUNDLE_S, f"esbuild could not bundle canvas/{source.name}")
        for path in (source / PAGE, source.parent / COMMON / "bench.css"):
            shutil.copy(path, target)
        try:
            target.rename(folder)
        except OSError:
            # Somebody else was faster; what is there is the same.
            if not folder.is_dir():
                raise
    return folder


def _built_folder(source: Path, cache: Path | None) -> Path:
    return (cache or cache_folder()) / f"{source.name}-{source_hash(source)}"


def _run(command: Sequence[str], folder: Path, seconds: float, failed: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{failed} within {seconds:g} seconds", "try again with a faster connection") from error
    except OSError as error:
        raise Unavailable(f"{failed}: {error.strerror}", "look whether the disk is full") from error
    if done.returncode:
        raise Unavailable(f"{failed}: {_reason(done.stderr or done.stdout)}", "look at the connection and try again")


def _reason(output: str) -> str:
    """The first line that tells something; npm's own prefix and addresses of servers are left out."""
    lines = [line.removeprefix("npm error").strip() for line in output.splitlines()]
    told = [line for line in lines if line and not line.startswith(("A complete log", "code "))]
    return " ".join(word for word in (told or ["it said nothing"])[0].split() if "://" not in word)[:200]
