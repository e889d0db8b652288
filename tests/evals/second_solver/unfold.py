"""Finding something behind tabs, folds, menus, branches and pages: each is opened until the thing shows."""

from __future__ import annotations

import re

import cv2
import numpy as np

from second_solver.player import GivenUp, Player, ordinal, quoted
from second_solver.view import View
from vision_agent import actions
from vision_agent.geometry import Box
from vision_agent.observation import Mark


def _openers(view: View) -> list[Mark]:
    """What may reveal more: tabs and headings that are not open."""
    return view.all(
        where=lambda mark: bool(
            mark.state.expanded is False or mark.state.selected is False or re.match(r"Tab #|Section #", mark.name)
        )
    )


async def link(p: Player, said: re.Match[str]) -> None:
    """A link, behind tabs or folds if it does not show."""
    name, opened = quoted(p.goal)[-1], set[str]()
    while True:
        view = await p.look()
        if found := view.named(name, "span") or view.named(name):
            await p.click(found[0])
            return
        closed = [mark for mark in _openers(view) if mark.key not in opened]
        if not closed:
            raise GivenUp(f"{name!r} is behind nothing that opens:\n{view.seen.listing}")
        opened.add(closed[0].key)
        await p.click(closed[0])
        view = await p.view()
        now = view.again(closed[0])
        inner = [mark for mark in view.named(closed[0].name, "a") if closed[0].box.contains(mark.box.center)]
        if now is not None and now.state.expanded is False and inner:  # only its link opens it
            await p.click(inner[0])


async def fold_and_submit(p: Player, said: re.Match[str]) -> None:
    """A fold, then the button in it or below it."""
    await p.click(_openers(await p.view())[0])
    await p.until(lambda view: view.named("Submit"))
    await p.submit()


async def menu_path(p: Player, said: re.Match[str]) -> None:
    """A path through a menu, hovering each part but the last."""
    *way, last = said["path"].split(">")
    for name in way:
        view = await p.until(lambda view, name=name: view.named(name))  # type: ignore[misc]
        await p.on(view.named(name)[0], lambda target: actions.Hover(target=target))
    view = await p.until(lambda view: view.named(last))
    await p.click(view.named(last)[0])


async def menu_item(p: Player, said: re.Match[str]) -> None:
    """An item of a menu with submenus, which open when hovered."""
    await p.click(await p.find("Menu"))
    wanted = quoted(p.goal)[-1] if "labeled" in p.goal else ""
    tried = set[str]()
    for _ in range(12):
        view = await p.look()
        if found := view.all("li", "div", "a", where=lambda mark: _is_wanted(view, mark, wanted)):  # noqa: B023
            await p.click(found[-1])
            return
        items = [mark for mark in view.all("li", "div", "a") if mark.name and mark.key not in tried]
        items.sort(key=lambda mark: mark.state.popup is None)
        if not items:
            break
        tried.add(items[0].key)
        await p.on(items[0], lambda target: actions.Hover(target=target))
    raise GivenUp(f"{wanted!r} is not in the menu:\n{(await p.view()).seen.listing}")


def _is_wanted(view: View, mark: Mark, wanted: str) -> bool:
    """Whether it has the name, or the icon that the goal shows if it gives no name."""
    return mark.name == wanted if wanted else bool(mark.name) and _icon_distance(view, mark) < _SAME_ICON


_UNFOLDS_S = 2.0
"""How long a menu may take to unfold."""
_GOAL = Box(x=0, y=0, width=160, height=50)
_SAME_ICON = 0.04
"""Share of an icon's pixels that may differ from the goal's icon, which stands on another ground."""


def _icon_distance(view: View, mark: Mark) -> float:
    """How much the icon at the left of an item differs from the best place in the goal's picture, from 0."""
    left = Box(x=mark.box.x + 1, y=mark.box.y, width=18, height=mark.box.height)
    icon, goal = (np.asarray(view.crop(box).max(axis=2) < 160, np.float32) for box in (left, _GOAL))
    ys, xs = np.nonzero(icon)
    if len(xs) < 12:
        return 1.0
    template = np.pad(icon[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1], 1)
    return float(cv2.matchTemplate(goal, template, cv2.TM_SQDIFF).min() / len(xs))


async def tree(p: Player, said: re.Match[str]) -> None:
    """A file or folder; folders are opened from the top until it shows."""
    name, opened = said["name"], set[str]()
    for _ in range(30):
        view = await p.look()
        if found := view.named(name):
            await p.click(found[0])
            return
        folders = [mark for mark in view.all("div") if mark.key not in opened]
        if not folders:
            break
        opened.add(folders[0].key)
        await p.click(folders[0])
    raise GivenUp(f"{name!r} is in no folder:\n{(await p.view()).seen.listing}")


async def contact(p: Player, said: re.Match[str]) -> None:
    """A person's number, mail or address in a book with pages."""
    kind = said["what"]
    for _ in range(40):
        view = await p.look()
        if said["name"] in await p.read("view"):
            links = [mark for mark in view.all("a") if len(mark.name) > 3]
            await p.click(links[("phone number", "email", "address").index(kind)])
            return
        await p.click(await p.find(">"))
    raise GivenUp(f"{said['name']} is not in the book")


async def search_result(p: Player, said: re.Match[str]) -> None:
    """A result of a search, by its place; results come in pages."""
    await p.type(quoted(p.goal)[0], (await p.view()).fields[0])
    await p.click(await p.find("Search"))
    index, before = ordinal(p.goal, "search result"), 0
    for _ in range(10):
        view = await p.until(lambda view: view.all("a"))
        results = [mark for mark in view.all("a") if not re.fullmatch(r"\d+|[<>]", mark.name)]
        if index < before + len(results):
            await p.click(results[index - before])
            return
        before += len(results)
        await p.click(await p.find(">"))
    raise GivenUp("there are not so many results")


async def pie(p: Player, said: re.Match[str]) -> None:
    """An item of a menu that unfolds in a circle.

    The pointer waits on it while it unfolds: there are items that miss a press when the pointer comes with it. If the
    letter misses it all the same, the slice below it is pressed, and then the menu is opened anew.
    """
    wanted = said["name"]
    for _ in range(4):
        view = await p.view()
        middle = view.named("+") or view.all("path", "text")
        await p.click(middle[0])
        view = await p.until(lambda view: view.named(wanted))
        await p.do(actions.Hover(target=view.named(wanted)[-1].number))
        await p.wait(_UNFOLDS_S)
        for is_slice in (False, True):
            view = await p.look()
            found = view.named(wanted)
            if not found:
                return
            around = [mark for mark in view.all("path") if mark.box.contains(found[-1].box.center)]
            slices = sorted(around, key=lambda mark: mark.box.width * mark.box.height)
            await p.click(slices[0] if is_slice and slices else found[-1])
        view = await p.look()
        if not view.named(wanted):
            return
        await p.click(view.again(middle[0]) or view.all("path")[0])  # it closes again
    raise GivenUp(f"{wanted} cannot be pressed")
