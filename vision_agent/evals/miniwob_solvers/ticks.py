"""Solvers for checkboxes and radio buttons."""

from __future__ import annotations

from collections.abc import Iterable

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.episode import Called, Episode, On


async def click_checkboxes(episode: Episode) -> None:
    """Select ZMhn, LU and click Submit. Or select nothing."""
    (names,) = match_groups(r"Select (.+) and click", episode.asked)
    await _tick(episode, [] if names == "nothing" else names.split(", "))


async def click_checkboxes_soft(episode: Episode) -> None:
    """Select words similar to unhappy, happy and click Submit."""
    (words,) = match_groups(r"similar to (.+) and click", episode.asked)
    groups = await episode.read("SYNONYMS")
    alike = {other for word in words.split(", ") for group in groups if word in group for other in group}
    await _tick(episode, [label for label in await episode.texts("#boxes label") if label in alike])


async def click_option(episode: Episode) -> None:
    """Select S4 and click Submit."""
    await _tick(episode, match_groups(r"Select (.+) and click", episode.asked))


async def number_checkboxes(episode: Episode) -> None:
    """Draw the number "2" in the checkboxes using the example on the right and press Submit when finished."""
    (number,) = match_groups(r'number "(\d)"', episode.asked)
    pattern = await episode.read(f"PATTERNS[{number}]")
    for place, is_wanted in enumerate(box for row in pattern for box in row):
        if is_wanted:
            await episode.check(On("#checkboxes input", place=place))
    await episode.submit()


async def _tick(episode: Episode, names: Iterable[str]) -> None:
    for name in names:
        await episode.check(Called(name, tag="input"))
    await episode.submit()
