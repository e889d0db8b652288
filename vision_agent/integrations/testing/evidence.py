"""What a failing test leaves: the marked picture, the listing, and run folders with their reports.

Knows folders and reports; how a page is looked at comes from whoever registers with `attached`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from playwright.async_api import Error as PlaywrightError

from vision_agent.errors import VisionAgentError
from vision_agent.observation import Observation
from vision_agent.ports import Redact
from vision_agent.record.report import write_report
from vision_agent.record.run_list import delete_run, is_run_folder
from vision_agent.record.step_folder import look_step, write_steps
from vision_agent.record.store import write_private
from vision_agent.types import Ending, Step

_LONGEST_SLUG = 100
_LONGEST_REASON = 500
_PICTURES = {"image/png": "marked.png", "image/jpeg": "marked.jpg", "image/webp": "marked.webp"}
_LISTING = "listing.txt"
_STEPS = "steps"
"""The run folder of what the marks did."""


class Watched(Protocol):
    """A page that the test acts on."""

    steps: list[Step]
    redact: Redact

    def last_look(self) -> Observation:
        """The page as it is now, looked at from outside of the test."""
        ...

    def detach(self) -> None:
        """Removes everything of ours from the page, from outside of the test."""
        ...

    async def close(self) -> None:
        """The same, within the loop of the page."""
        ...


@dataclass
class Evidence:
    """Collects what one test did, and writes it if the test fails."""

    test: str
    """The test's node id."""
    file: Path
    folder: Path
    """Where the evidence of all tests is kept."""
    accepts: bool
    """Whether looks are to be accepted."""
    runs: Callable[[], Path]
    """Makes a folder for the runs of an agent; it outlives the test."""
    shown_from: Path
    """Paths are shown from here."""
    pages: list[Watched] = field(default_factory=list)
    agents: list[Path] = field(default_factory=list)
    """The run folders of agents."""
    files: list[tuple[str, Path]] = field(default_factory=list)
    """More files that explain the failure, and what each is."""

    accepted: list[str] = field(default_factory=list)
    """A sentence for each look that was accepted: which, and where it is kept."""

    def __post_init__(self) -> None:
        """Removes what an earlier session left of this test."""
        if not self.own.is_dir():
            return
        for each in self.own.iterdir():
            if is_run_folder(each):
                with suppress(VisionAgentError):
                    delete_run(each)
            elif each.name in (*_PICTURES.values(), _LISTING) or each.name.endswith(".diff.html"):
                each.unlink()
        with suppress(OSError):  # something of the user's is in it
            self.own.rmdir()

    @property
    def own(self) -> Path:
        """The folder of this test."""
        slug = re.sub(r"[^\w.-]+", "-", self.test).strip("-.")
        if len(slug) > _LONGEST_SLUG:
            slug = f"{slug[:_LONGEST_SLUG]}-{hashlib.sha256(self.test.encode()).hexdigest()[:6]}"
        return self.folder / slug

    @property
    def attachments(self) -> list[str]:
        """The paths of all files, as they are shown."""
        return [self.shown(path) for _, path in self.files]

    def shown(self, path: Path) -> str:
        """A path as it is shown: from the current folder, if it is below it."""
        return str(path.relative_to(self.shown_from)) if path.is_relative_to(self.shown_from) else str(path)

    def detach(self) -> None:
        """Removes everything of ours from the pages."""
        for each in self.pages:
            with suppress(VisionAgentError, PlaywrightError, RuntimeError):  # gone, with all that was in it
                each.detach()

    def leave(self, report: pytest.TestReport) -> None:
        """Writes the evidence, and names its files in the report of the test."""
        lines = []
        try:
            lines += self._write(_reason(report))
        except Exception as error:  # noqa: BLE001 - the test has failed, and nothing may hide why
            lines.append(f"The evidence cannot be written: {_in_a_line(error)}")
        lines += [f"{what}: {self.shown(path)}" for what, path in self.files]
        if not lines:
            return
        report.sections.append(("vision-agent", "\n".join(lines)))

    def _write(self, reason: str) -> list[str]:
        notes = []
        for number, page in enumerate(self.pages, 1):
            steps = list(page.steps)
            seen: Observation | None = None
            try:
                seen = page.last_look()
                steps.append(look_step(seen, "Look at the page after the failure"))
            except Exception as error:  # noqa: BLE001 - a timeout may leave anything in the middle, even an import
                notes.append(f"The page could not be looked at any more: {_in_a_line(error)}")
                seen = steps[-1].observation if steps else None
            if seen is not None:
                self._write_look(seen, page.redact, number)
            if steps:
                name = _STEPS if number == 1 else f"{_STEPS}-{number}"
                ending = Ending(status="not_done", sentence=f"The test failed: {reason}")
                folder = write_steps(self.own, name, self.test, steps, ending, page.redact)
                self.files.append(("report", write_report(folder)))
        for number, run in enumerate(self.agents, 1):
            kept = self.own / f"agent-{number}"
            shutil.copytree(run, kept)
            report = kept / "report.html"
            self.files.append(("report of the agent", report if report.exists() else write_report(kept)))
        return notes

    def _write_look(self, seen: Observation, redact: Redact, number: int) -> None:
        self.own.mkdir(parents=True, exist_ok=True)
        name = Path(_PICTURES[seen.marked.media_type])
        listing = Path(_LISTING)
        if number > 1:
            name, listing = (each.with_stem(f"{each.stem}-{number}") for each in (name, listing))
        if seen.marked.data is not None:
            write_private(self.own / name, seen.marked.data)
            self.files.append(("marked picture", self.own / name))
        write_private(self.own / listing, f"{redact(seen.listing)}\n".encode())


def _in_a_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:_LONGEST_REASON] if lines else type(error).__name__


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(getattr(crash, "message", "")).splitlines()
    return lines[0][:_LONGEST_REASON] if lines else "see pytest's output"
