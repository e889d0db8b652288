"""Which suite a name stands for.

- `fixtures`: the sites of `fixtures/sites`; judged by what their pages reported to their server.
- `canvas`: applications that draw with other projects' libraries; see `suites.canvas`.
- `miniwob`: MiniWoB++; judged by the environment's own reward. An episode ends when the environment says so.
- your own file: see `suite_file`.
- `frozen` and `grounding`: recorded pages, answered without a browser (`recorded`, `offline`).
"""

from __future__ import annotations

from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.evals.suites.canvas.suite import CanvasSuite
from vision_agent.evals.suites.fixture_suite import SITES, FixtureSuite
from vision_agent.evals.suites.miniwob_suite import EPISODE_S, MiniwobSuite
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.own_suite import OwnSuite
from vision_agent.evals.suites.recorded import RECORDED, recorded_suite
from vision_agent.evals.suites.suite import Suite
from vision_agent.evals.suites.suite_file import read_suite

BUILT_IN = ("fixtures", "miniwob", "canvas")


def suite_named(
    name: str,
    *,
    folder: Path | None = None,
    longest_edge: int | None = None,
    pages: Path | None = None,
    episode_s: float | None = None,
) -> Suite | OfflineSuite:
    """The suite with that name, or from that file.

    Args:
        folder: recorded pages for `frozen` and `grounding`.
        longest_edge: maximum edge in pixels for pictures without marks in `grounding`.
        pages: the pages of MiniWoB++.
        episode_s: time limit for an episode of MiniWoB++.

    Raises:
        UsageError: there is no such suite, or what it needs is missing.
        RecordError: a recorded file was changed.
    """
    if folder is not None and name not in RECORDED:
        raise UsageError(f"The suite {name} takes no folder, but {folder} was named", "leave it out")
    if name == "miniwob":
        return MiniwobSuite(pages, EPISODE_S if episode_s is None else episode_s)
    if pages is not None or episode_s is not None:
        option = "--pages" if pages is not None else "--episode-seconds"
        raise UsageError(f"{option} works only with the suite miniwob, not with {name}", "leave it out")
    if name in RECORDED:
        return recorded_suite(name, folder, longest_edge=longest_edge)
    if name == "fixtures":
        return FixtureSuite(SITES)
    if name == "canvas":
        return CanvasSuite()
    if not Path(name).suffix:
        known = ", ".join((*BUILT_IN, *RECORDED))
        raise UsageError(f"Unknown suite {name!r}", f"known: {known}; or name a .toml, .yaml or .py file")
    return OwnSuite(read_suite(Path(name)))
