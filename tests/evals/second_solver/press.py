"""Pressing what the goal names, counts or describes by its colour."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable

from second_solver import colours
from second_solver.player import GivenUp, Player, quoted
from second_solver.view import View
from vision_agent import actions
from vision_agent.observation import Mark

_TICKER_TRIES = 4
"""How often a mark beside a price that changes is tried before its point is."""
ALSO_CALLED = {"x": ("Close", "×", "close"), "+": ("Expand",)}


async def only_button(p: Player, said: re.Match[str]) -> None:
    """The button, where there is one."""
    buttons = (await p.view()).all("button")
    if len(buttons) != 1:
        raise GivenUp(f"there are {len(buttons)} buttons")
    await p.click(buttons[0])


async def named(p: Player, said: re.Match[str]) -> None:
    """The thing with a name."""
    name = said["name"]
    await p.click(await p.find(name, *ALSO_CALLED.get(name, ())))


async def cancel(p: Player, said: re.Match[str]) -> None:
    """A button whose name the goal writes without quotes."""
    await p.click(await p.find(said["name"].capitalize()))


async def two_buttons(p: Player, said: re.Match[str]) -> None:
    """One button, perhaps a pause, and another one."""
    first, second = await p.find(said["first"]), await p.find(said["second"])
    began = time.monotonic()
    await p.click(first)
    if said["pause"]:  # from one press to the next: both take as long from their beginning
        await asyncio.sleep(max(0.0, began + float(said["pause"]) - time.monotonic()))
        await p.do(actions.Click(target=second.number))
    else:
        await p.click(second)


async def widget(p: Player, said: re.Match[str]) -> None:
    """Any control of a kind."""
    kind = said["name"]
    view = await p.view()
    kinds: dict[str, list[Mark]] = {
        "button": view.all("button"),
        "textarea": view.all("textarea"),
        "text": [mark for mark in view.fields if mark.tag == "input"],
        "checkbox": [mark for mark in view.ticks if mark.role == "checkbox"],
        "radio": [mark for mark in view.ticks if mark.role == "radio"],
    }
    if not kinds.get(kind):
        raise GivenUp(f"there is no {kind}:\n{view.seen.listing}")
    await p.click(kinds[kind][0])


async def ascending(p: Player, said: re.Match[str]) -> None:
    """Numbers, the lowest first."""
    marks = [mark for mark in (await p.view()).marks if re.fullmatch(r"-?\d+", mark.name)]
    for mark in sorted(marks, key=lambda mark: int(mark.name)):
        view = await p.view()  # after the first click they are covered, and drawn anew after each
        now = view.all("text", "rect", where=lambda each, mark=mark: each.box.contains(mark.box.center))  # type: ignore[misc]
        await p.click(now[0] if now else mark)


async def greatest(p: Player, said: re.Match[str]) -> None:
    """The greatest of some numbers, then the button."""
    marks = [mark for mark in (await p.view()).marks if re.fullmatch(r"-?\d+", mark.name)]
    await p.click(max(marks, key=lambda mark: int(mark.name)))
    await p.submit()


async def parity(p: Player, said: re.Match[str]) -> None:
    """Odd or Even beside each number."""
    numbers = re.findall(r"^-?\d+$", await p.read("view"), re.MULTILINE)
    for row, number in enumerate(numbers):
        name = "Odd" if int(number) % 2 else "Even"
        await p.click((await p.view()).named(name, "button")[row])
    await p.submit()


async def coloured_box(p: Player, said: re.Match[str]) -> None:
    """The box of a colour."""
    view = await p.view()
    boxes = view.all("div", where=lambda mark: not mark.name and mark.box.y > 50)
    wanted = colours.NAMED[said["colour"]]
    await p.click(min(boxes, key=lambda mark: colours.distance(colours.shown(view, mark), wanted)))


async def shades(p: Player, said: re.Match[str]) -> None:
    """All boxes of a hue."""
    view = await p.view()
    for mark in view.all("span"):
        if colours.hue_name(colours.shown(view, mark)) == said["colour"]:
            await p.click(mark)
    await p.submit()


async def generate(p: Player, said: re.Match[str]) -> None:
    """A button until the number that it draws is right."""
    checks: dict[str, Callable[[int, int], bool]] = {
        "odd": lambda number, _: number % 2 == 1,
        "even": lambda number, _: number % 2 == 0,
        "greater": lambda number, limit: number > limit,
        "less": lambda number, limit: number < limit,
    }
    is_right, limit = checks[said["how"]], int(said["limit"] or 0)
    for _ in range(60):
        await p.click(await p.find("Generate"))
        texts = [line for line in (await p.read("view")).splitlines() if re.fullmatch(r"-?\d+", line.strip())]
        if texts and is_right(int(texts[-1]), limit):
            return await p.submit()
    raise GivenUp("no number was right")


async def guess(p: Player, said: re.Match[str]) -> None:
    """A number between two, halving what is left."""
    low, high = int(said["low"]), int(said["high"])
    while low <= high:
        middle = (low + high) // 2
        field = (await p.view()).all("input")[0]
        await p.type(str(middle), field)
        await p.submit()
        feedback = (await p.read("view")).lower()
        if "lower than" in feedback or "less" in feedback:
            high = middle - 1
        elif "higher than" in feedback or "greater" in feedback:
            low = middle + 1
        else:
            return


async def ticket(p: Player, said: re.Match[str]) -> None:
    """The ticket with the most or the least of something."""

    def cost(mark: Mark) -> float:
        return float(re.sub(r"[^\d.]", "", mark.name))

    view = await p.view()
    spans: dict[int, int] = {}
    minutes = 0
    for line in view.lines:
        if match := re.search(r"(\d+)h (\d+)m", line.text):
            minutes = 60 * int(match[1]) + int(match[2])
        if line.mark is not None and line.mark.tag == "button":
            spans[line.mark.number] = minutes
    buttons = view.all("button")
    best = {
        "shortest": min(buttons, key=lambda mark: spans[mark.number]),
        "longest": max(buttons, key=lambda mark: spans[mark.number]),
        "cheapest": min(buttons, key=cost),
        "most expensive": max(buttons, key=cost),
    }
    await p.click(best[said["which"]])


async def stock(p: Player, said: re.Match[str]) -> None:
    """A button as soon as a price is low enough."""
    limit = float(said["limit"])

    def is_low(view: View) -> bool:
        prices = [float(match[1]) for text in view.texts if (match := re.fullmatch(r"\$([\d.]+)", text))]
        return bool(prices) and prices[0] < limit

    refused = 0
    for _ in range(200):
        view = await p.look()
        if not is_low(view):
            continue
        button = view.named("Buy")[0]
        target = button.number if refused < _TICKER_TRIES else p.target(button.point)
        if (await p.do(actions.Click(target=target))).status == "done":
            return
        refused += 1
    raise GivenUp("the price stayed high")


async def in_dialog(p: Player, said: re.Match[str]) -> None:
    """A button of a dialog."""
    (name,) = quoted(p.goal)
    await p.click(await p.find(name, *ALSO_CALLED.get(name, ())))
