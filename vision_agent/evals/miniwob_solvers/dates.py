"""Solvers for dates picked from a calendar."""

from __future__ import annotations

from datetime import datetime

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.episode import Episode, On


async def choose_date(episode: Episode) -> None:
    """Select 04/08/2016 as the date and hit submit."""
    (date,) = match_groups(r"Select ([\d/]+) as", episode.asked)
    await pick_date(episode, date)
    await episode.submit()


async def pick_date(episode: Episode, date: str) -> None:
    """Open the calendar, go to the month, and click the day."""
    month, day, _ = (int(part) for part in date.split("/"))
    await episode.click(On("#datepicker"))
    while (away := month - await _month(episode)) != 0:
        await episode.click(On(".ui-datepicker-next" if away > 0 else ".ui-datepicker-prev"))
    await episode.click(On(".ui-datepicker-calendar a", str(day)))


async def _month(episode: Episode) -> int:
    return datetime.strptime(await episode.text(".ui-datepicker-month"), "%B").month
