"""Solvers for flights: search, and choose by price or duration."""

from __future__ import annotations

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.choices import choose_suggestion
from vision_agent.evals.miniwob_solvers.dates import pick_date
from vision_agent.evals.miniwob_solvers.episode import Episode, On

_PRICES = "Array.from(document.querySelectorAll('[data-price]'), each => Number(each.dataset.price))"
_DURATIONS = "Array.from(document.querySelectorAll('[data-duration]'), each => Number(each.dataset.duration))"


async def book_flight(episode: Episode) -> None:
    """Book the cheapest one-way flight from: ABQ to: Steamboat Springs, CO on 11/19/2016."""
    extreme, origin, destination, date = match_groups(
        r"the (cheapest|shortest) one-way flight from: (.+) to: (.+) on ([\d/]+)\.", episode.asked
    )
    for field, city in (("#flight-from", origin), ("#flight-to", destination)):
        airport = await episode.read("city => DOMESTIC_FLIGHTS.find(each => each.includes(city))", city)
        await episode.type(airport, On(field))
        await choose_suggestion(episode, airport)
    await pick_date(episode, date)
    await episode.click(On("#search"))
    values = await episode.read(_PRICES if extreme == "cheapest" else _DURATIONS)
    await episode.click(On(".flight-price", place=values.index(min(values))))


async def buy_ticket(episode: Episode) -> None:
    """Buy the ticket with the shortest duration."""
    extreme, of = match_groups(r"the (cheapest|shortest|longest|most expensive) (cost|duration)", episode.asked)
    values = await episode.read(_PRICES if of == "cost" else _DURATIONS)
    best = min(values) if extreme in ("cheapest", "shortest") else max(values)
    await episode.click(On(".buy-ticket", place=values.index(best)))
