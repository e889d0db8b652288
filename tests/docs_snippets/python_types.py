"""The Python of the pages is checked by mypy and pyright, from outside the package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from docs_snippets.blocks import ROOT, WrongPage, blocks_of, name_of
from docs_snippets.run_blocks import write_file


def write_python(pages: Iterable[Path], folder: Path) -> list[tuple[Path, dict[str, str]]]:
    """Writes the Python of all pages into as few folders as possible; returns each with the origin of its files.

    Two pages share a folder unless both have a file of the same name with different text.
    """
    groups: list[dict[str, str]] = []
    origins: list[dict[str, str]] = []
    for page in pages:
        files, came_from = _python_of(page)
        fitting = (
            i for i, each in enumerate(groups) if all(each.get(name, text) == text for name, text in files.items())
        )
        at = next(fitting, None)
        if at is None:
            groups.append({})
            origins.append({})
            at = len(groups) - 1
        groups[at] |= files
        origins[at] |= came_from
    written = []
    for number, files in enumerate(groups):
        for name, text in files.items():
            write_file(folder / str(number) / name, text)
        written.append((folder / str(number), origins[number]))
    return written


def _fits(files: Mapping[str, str], others: Mapping[str, str]) -> bool:
    return all(others.get(name, text) == text for name, text in files.items())


def _python_of(page: Path) -> tuple[dict[str, str], dict[str, str]]:
    stem = re.sub(r"\W+", "_", name_of(page).removesuffix(".md")).strip("_")
    files: dict[str, str] = {}
    origins: dict[str, str] = {}
    for number, block in enumerate(blocks_of(page), 1):
        if block.language == "python":
            name = block.title or f"snippet_{stem}_{number}.py"
            # As many empty lines before it as in the page, so that a checker's line numbers are those of the page.
            files[name] = block.text if block.title else "\n" * block.line + block.text
            origins[name] = f"{name_of(page)}:{block.line}" if block.title else name_of(page)
    return files, origins


def check_types(pages: Iterable[Path], folder: Path, cache_folder: Path) -> None:
    """Checks the Python of all pages as a user of the package would: `mypy --strict` and pyright.

    Raises:
        WrongPage: one of them finds a fault.
    """
    faults = []
    for where, origins in write_python(pages, folder):
        for said in (_mypy(where, cache_folder), _pyright(where)):
            for name, origin in origins.items():
                said = re.sub(rf"(?:{re.escape(str(where))}/)?(?<![\w.-]){re.escape(name)}", origin, said)
            faults += [said] if said else []
    if faults:
        raise WrongPage("\n".join(faults))


def _mypy(folder: Path, cache_folder: Path) -> str:
    """What mypy finds in this folder; empty if nothing."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return _checked(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache_folder), *files],
        folder,
    )


def _pyright(folder: Path) -> str:
    """What pyright finds in this folder; empty if nothing."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}), "utf-8")
    said = _checked([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", "."], folder)
    return "" if said.startswith("0 errors") else said


def has_pyright() -> bool:
    """Whether pyright can run: it needs Node, and fetches its own program once."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pyright", "--version"], capture_output=True, timeout=150, env=_checker_environment()
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _checked(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_checker_environment(), capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def _checker_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "NO_COLOR": "1"}
