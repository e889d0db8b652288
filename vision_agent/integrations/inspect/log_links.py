"""Links a run folder from Inspect's log: the log has the conversation, the folder the record that can be verified."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.log import transcript
from inspect_ai.util import store

from vision_agent.record.report import REPORT

RUN_FOLDER = "vision_agent:run_folder"
"""Where a sample's store names its run folder."""


def link_run(folder: Path) -> None:
    """Names the folder and its report in the sample's transcript and store."""
    report = folder / REPORT
    store().set(RUN_FOLDER, str(folder))
    transcript().info(
        {"run_folder": str(folder), "report": str(report) if report.exists() else ""},
        source="vision_agent",
    )
