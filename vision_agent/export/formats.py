"""Exports a run for other tools: as a test, step lines, training examples, a grounding data set or a golden session."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from vision_agent.errors import UsageError
from vision_agent.export.cere import write_cere
from vision_agent.export.grounding import write_grounding
from vision_agent.export.playwright_test import render_test
from vision_agent.export.step_lines import render_lines
from vision_agent.export.training_examples import iter_examples
from vision_agent.record.read import load_shot, read
from vision_agent.record.run_files import reading
from vision_agent.record.store import shot_name, write_private

Form = Literal["pytest", "steps", "chat-jsonl", "grounding", "cere"]
FORMS: tuple[Form, ...] = get_args(Form)
FOLDER_FORMS: tuple[Form, ...] = ("chat-jsonl", "grounding")
"""Those that are a folder; the others are one file."""
_CHECKS = re.compile(r"^\s*expect\(.*\)\.to_be_visible\(", re.MULTILINE)
"""A line of a test that checks what shows; no text of a page begins a line there."""


def export(folder: Path, form: Form, to: Path) -> str:
    """Writes the run to `to` and returns a short description.

    `to` is a file for `pytest`, `steps` and `cere`, or else a new folder.

    Raises:
        RecordError: the run cannot be read.
        UsageError: `to` already exists or cannot be written.
    """
    writers: dict[Form, Callable[[Path, Path], str]] = {
        "pytest": lambda run, file: _text(render_test(read(run)), file, "a Playwright test"),
        "steps": lambda run, file: _text(render_lines(read(run)), file, "step lines"),
        "chat-jsonl": _chat,
        "grounding": lambda run, folder: f"{write_grounding(run, folder)} targets",
        "cere": lambda run, file: f"a session of {write_cere(run, file).stat().st_size / 1e6:.1f} MB",
    }
    if to.exists():
        raise UsageError(f"{to} already exists", "name another with --out")
    try:
        with reading(folder):
            return f"{writers[form](folder, to)} in {to}{_advice(form, to)}"
    except BaseException:
        # Half an export looks like a whole one.
        if to.is_dir():
            shutil.rmtree(to, ignore_errors=True)
        raise


def _advice(form: Form, to: Path) -> str:
    """Which browser an exported test uses, and what it lacks if it cannot tell whether its last action did anything."""
    if form != "pytest":
        return ""
    browser = "; run it after `playwright install chromium`, or with BROWSER=/path/to/chromium"
    if _CHECKS.search(to.read_text("utf-8")):
        return browser
    return f"{browser}; it checks no text and no element: give the run an --expect, or add an assertion at its end"


def _text(text: str, to: Path, what: str) -> str:
    try:
        write_private(to, text.encode())
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another file with --out") from error
    return what


def _chat(folder: Path, to: Path) -> str:
    lines = []
    try:
        to.mkdir(mode=0o700, parents=True)
        (to / "images").mkdir(mode=0o700)
        for example, shots in iter_examples(read(folder)):
            names = {shot.sha256: f"images/{shot_name(shot)}" for shot in shots}
            for part in (part for message in example["messages"] for part in message["content"]):
                if part["type"] == "image":
                    part["image"] = names[part["image"]]
            for shot in shots:
                picture = load_shot(folder, shot)
                assert picture.data is not None
                write_private(to / names[shot.sha256], picture.data)
            lines.append(json.dumps(example, ensure_ascii=False))
        write_private(to / "examples.jsonl", "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another folder with --out") from error
    return f"{len(lines)} examples"
