"""Sliders, spinners and colour fields, by keys."""

from __future__ import annotations

import re

from second_solver import colours
from second_solver.player import GivenUp, Player, ordinal
from second_solver.view import View
from vision_agent.geometry import Box
from vision_agent.observation import Mark


def _handles(view: View) -> list[Mark]:
    return view.all("span", "a", where=lambda mark: not mark.name and mark.box.y > 50)


async def _numbers(p: Player) -> list[int]:
    return [int(line) for line in (await p.read("view")).splitlines() if re.fullmatch(r"-?\d+", line.strip())]


async def _turn(p: Player, index: int, wanted: int) -> None:
    """Presses arrows in a handle until the number beside it is right; a key may count more than one."""
    step = 1
    for _ in range(12):
        numbers = await _numbers(p)
        if index >= len(numbers):
            raise GivenUp(f"no number is written beside handle {index + 1}")
        off = wanted - numbers[index]
        if off == 0:
            return
        count = min(100, max(1, abs(off) // step))
        await p.press("ArrowRight" if off > 0 else "ArrowLeft", _handles(await p.view())[index], count)
        moved = abs((await _numbers(p))[index] - numbers[index])
        if moved == 0:
            await p.press("ArrowUp" if off > 0 else "ArrowDown", _handles(await p.view())[index], count)
        step = max(1, round(moved / count)) if moved else 1
    raise GivenUp(f"the slider does not reach {wanted}")


async def slider(p: Player, said: re.Match[str]) -> None:
    """A number with a slider."""
    await _turn(p, 0, int(said["number"]))
    await p.submit()


async def sliders(p: Player, said: re.Match[str]) -> None:
    """A number with each of several sliders."""
    for index, wanted in enumerate(said["numbers"].split(",")):
        await _turn(p, index, int(wanted))
    await p.submit()


async def slider_and_tick(p: Player, said: re.Match[str]) -> None:
    """A number with a slider, and a checkbox by its place."""
    await _turn(p, 0, int(said["number"]))
    await p.tick((await p.view()).ticks[ordinal(p.goal, "checkbox")])
    await p.submit()


async def spinner(p: Player, said: re.Match[str]) -> None:
    """A number with a spinner."""
    wanted = int(said["number"])
    await p.set((await p.view()).all("input")[0], str(wanted))
    for _ in range(4):
        field = (await p.look()).all("input")[0]
        off = wanted - int(field.state.value or 0)
        if not off:
            return await p.submit()
        await p.press("ArrowUp" if off > 0 else "ArrowDown", field, abs(off))
    raise GivenUp(f"the spinner does not reach {wanted}")


async def colour(p: Player, said: re.Match[str]) -> None:
    """A colour into a colour field: the named one, or that of the patch in the goal."""
    view = await p.view()
    wanted = colours.NAMED[said["name"]] if said["name"] else _patch(view)
    field = view.all("input")[0]
    await p.type("".join(f"{part:02X}" for part in wanted), field)
    await p.press("Tab", field)
    if (await p.look()).named("Submit"):
        await p.submit()
    else:
        await p.press("Enter")  # the picker still covers the button, which has the focus


def _patch(view: View) -> colours.Colour:
    """The colour of the largest patch among the words of the goal, which stand on yellow."""
    crop = view.crop(Box(x=0, y=0, width=160, height=50)).reshape(-1, 3)
    counted: dict[colours.Colour, int] = {}
    for red, green, blue in crop.tolist():
        counted[red, green, blue] = counted.get((red, green, blue), 0) + 1
    plain = {(255, 255, 0), (0, 0, 0)}
    return max((each for each in counted if each not in plain), key=lambda each: counted[each])
