"""Runs the perception score: selects the pages, measures them, and checks the declared figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vision_agent.evals.perception.churn import CHURN, Churn, churn
from vision_agent.evals.perception.picture import DigitReader
from vision_agent.evals.perception.score import FIXTURES, PageScore, PageToScore, pages_in, score_pages
from vision_agent.evals.perception.summary import figures, groups, is_reached, sheet
from vision_agent.settings import BrowserSettings


@dataclass(frozen=True)
class PerceptionResult:
    """The measurements."""

    scores: list[PageScore]
    churn: list[Churn]
    sheet: Path | None = None
    """The picture with samples for a check by eye; it contains only pages without labels."""

    @property
    def is_reached(self) -> bool:
        """Whether every declared and measured figure is met, for each kind of page separately."""
        return bool(self.scores) and all(
            is_reached(figures(group, self.churn if group[0].is_labelled else ()))
            for group in groups(self.scores).values()
        )


def run(
    folders: Sequence[Path],
    more: Sequence[PageToScore] = (),
    *,
    settings: BrowserSettings,
    with_ocr: bool = True,
    rounds: int = 0,
    sheet_to: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> PerceptionResult:
    """The score of all pages in the folders and in `more`; without either, of the labelled pages in this project.

    Raises:
        UsageError: a folder contains no pages, or the numbers cannot be read back.
        BrowserUnavailable: there is no browser.
    """
    is_ours = not folders and not more
    pages = [page for folder in ([FIXTURES] if is_ours else folders) for page in pages_in(folder)]
    reader = DigitReader() if with_ocr else None
    scores = asyncio.run(score_pages([*pages, *more], settings=settings, reader=reader, rounds=rounds, tell=tell))
    with_churn = CHURN.is_dir() and (is_ours or FIXTURES in folders)
    lasting = asyncio.run(churn(settings=settings, tell=tell)) if with_churn else []
    picture = sheet(scores) if sheet_to else None
    if not (sheet_to and picture):
        return PerceptionResult(scores, lasting)
    sheet_to.parent.mkdir(parents=True, exist_ok=True)
    sheet_to.write_bytes(picture)
    return PerceptionResult(scores, lasting, sheet_to)
