"""Picking a day in a calendar that opens from a field, and flights on a day."""

from __future__ import annotations

import re
from datetime import date

from second_solver.player import GivenUp, Player
from second_solver.view import View
from vision_agent.observation import Mark

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def parsed(text: str) -> date:
    """A date written as month, day and year."""
    month, day, year = (int(part) for part in text.split("/"))
    return date(year, month, day)


async def choose(p: Player, said: re.Match[str]) -> None:
    """A date in a calendar."""
    await pick(p, (await p.view()).all("input")[0], parsed(said["date"]))
    await p.submit()


async def pick(p: Player, field: Mark, wanted: date) -> None:
    """Opens the calendar of a field, turns its months and clicks the day.

    Raises:
        GivenUp: the month does not come.
    """
    await p.click(field)
    await p.until(_days)
    for _ in range(30):
        view = await p.look()
        months = await _shown(p, view)
        off = (wanted.year - months.year) * 12 + wanted.month - months.month
        if off == 0:
            day = next((mark for mark in _days(view) if mark.name == str(wanted.day)), None)
            if day is None:
                raise GivenUp(f"the day {wanted.day} has no mark:\n{view.seen.listing}")
            await p.click(day)
            return
        await p.click(await p.find("Prev" if off < 0 else "Next"))
    raise GivenUp(f"{wanted} does not come")


def _days(view: View) -> list[Mark]:
    return view.all("a", "td", where=lambda mark: bool(re.fullmatch(r"\d{1,2}", mark.name)))


async def _shown(p: Player, view: View) -> date:
    """The month that the calendar shows."""
    for text in (*view.texts, *(await p.read("view")).splitlines()):
        if match := re.search(rf"({'|'.join(MONTHS)})\s+(\d{{4}})", text):
            return date(int(match[2]), MONTHS.index(match[1]) + 1, 1)
    raise GivenUp(f"no month is written:\n{view.seen.listing}")


async def flight(p: Player, said: re.Match[str]) -> None:
    """The shortest or cheapest flight between two airports on a day."""
    for name, place in (("From:", said["start"]), ("To:", said["end"])):
        field = await p.find(name)
        await p.type(place, field)
        view = await p.until(lambda view, place=place: _proposals(view, place))  # type: ignore[misc]
        await p.click(_proposals(view, place)[0])
    await pick(p, await p.find("Departure Date"), parsed(said["date"]))
    await p.submit("Search")
    await p.until(_bookings)
    best: tuple[float, str] | None = None
    for _ in range(30):
        for key, figures in _offers(await p.look()).items():
            value = figures["cost" if said["which"] == "cheapest" else "minutes"]
            best = min(best or (value, key), (value, key))
        if not await _scroll(p, "down"):
            break
    while best is not None:
        view = await p.look()
        if found := [mark for mark in _bookings(view) if mark.key == best[1]]:
            await p.click(found[0])
            return
        if not await _scroll(p, "up"):
            break
    raise GivenUp(f"no flight can be booked:\n{(await p.view()).seen.listing}")


def _proposals(view: View, place: str) -> list[Mark]:
    def fits(name: str) -> bool:
        return (place in name and name != place) or f"({place})" in name

    return view.all(where=lambda mark: mark.tag != "input" and fits(mark.name))


def _bookings(view: View) -> list[Mark]:
    return view.all("button", where=lambda mark: "book" in mark.name.lower())


def _offers(view: View) -> dict[str, dict[str, float]]:
    """Minutes and cost of each offer, by the key of its button; figures stand above or on the button."""
    offers: dict[str, dict[str, float]] = {}
    minutes = 0.0
    for line in view.lines:
        if match := re.search(r"(\d+)h (\d+)m", line.text):
            minutes = 60 * int(match[1]) + int(match[2])
        mark = line.mark
        if mark is not None and mark.tag == "button" and (cost := re.search(r"\$(\d+)", mark.name)):
            offers[mark.key] = {"cost": float(cost[1]), "minutes": minutes or float("inf")}
            minutes = 0.0
    return offers


async def _scroll(p: Player, direction: str) -> bool:
    """Scrolls the results; False where they end."""
    for mark in (await p.view()).marks:
        state = mark.state.scroll
        if state is not None and (state.below if direction == "down" else state.above) > 1:
            await p.scroll(mark, "down" if direction == "down" else "up", 0.5)
            return True
    return False
