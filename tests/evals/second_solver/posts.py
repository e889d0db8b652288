"""Posts with small icons below them: the icon that the goal names, at the posts of a user."""

from __future__ import annotations

import re

import cv2
import numpy as np

from second_solver.player import GivenUp, Player
from second_solver.view import AREA, Line, View
from vision_agent import actions
from vision_agent.geometry import Box
from vision_agent.observation import Mark

ICONS = ("Reply", "Retweet", "Like", "Share")
"""As they stand, from left to right; what is none of them is in the menu behind the last."""


async def one_post(p: Player, said: re.Match[str]) -> None:
    """An icon, or an item of the menu, at the post of a user."""
    await _act(p, said["user"], said["name"], 1)


async def some_posts(p: Player, said: re.Match[str]) -> None:
    """An icon at all or some posts of a user, then the button."""
    await _act(p, said["user"], said["name"], None if said["count"] == "all" else int(said["count"]))
    for _ in range(8):
        if found := (await p.view()).named("Submit", "button"):
            await p.click(found[0])
            return
        if not await _scroll(p):
            break
    raise GivenUp("there is no Submit")


async def _act(p: Player, user: str, name: str, most: int | None) -> None:
    done = set[str]()
    while most is None or len(done) < most:
        view = await p.view()
        found = [icons for who, icons in _posts(view) if who == user and len(icons) == len(ICONS)]
        found = [icons for icons in found if icons[0].key not in done]
        if found:
            done.add(found[0][0].key)
            await _press(p, found[0], name)
        elif not await _scroll(p):
            break
    if not done:
        raise GivenUp(f"there is no post by {user}:\n{(await p.view()).seen.listing}")


async def _press(p: Player, icons: list[Mark], name: str) -> None:
    if name in ICONS:
        await p.click(icons[ICONS.index(name)])
        return
    await p.click(icons[-1])
    while not (items := (await p.look()).all("li", where=lambda mark: mark.name.startswith(name))):
        if not await _scroll(p):  # the menu may reach below what shows
            raise GivenUp(f"{name!r} is not in the menu:\n{(await p.view()).seen.listing}")
    await p.click(items[0])


def _posts(view: View) -> list[tuple[str, list[Mark]]]:
    """The user and the icons of each post in view."""
    posts: list[tuple[str, list[Mark]]] = []
    for line in view.lines:
        if line.mark is None and (user := re.search(r"@\S+", line.text)) and line.text not in view.seen.title:
            posts.append((user[0], []))
        elif line.mark is not None and posts and line.mark.tag == "span" and line.mark.box.width < 30:
            posts[-1][1].append(line.mark)
    return [(user, sorted(icons, key=lambda mark: mark.box.x)) for user, icons in posts]


async def _scroll(p: Player) -> bool:
    view = await p.view()
    for mark in view.marks:
        if mark.state.scroll is not None and mark.state.scroll.below > 1:
            await p.on(mark, lambda target: actions.Scroll(target=target, direction="down", pages=0.4))
            return True
    return False


async def order(p: Player, said: re.Match[str]) -> None:
    """Dishes of a menu, each once, or some of a kind."""
    wanted = {name.strip() for name in said["names"].split(", ")} if said["names"] else None
    left = len(wanted) if wanted is not None else int(said["count"])
    taken = set[str]()
    for _ in range(30):
        view = await p.view()
        dish = ""
        for line in view.lines:
            if line.mark is None:
                dish = line.text
            elif line.mark.name == "+" and dish not in taken and left and _fits(view, line, dish, wanted, said["kind"]):
                taken.add(dish)
                left -= 1
                await p.click(line.mark)
                break
        else:
            if not left or not await _scroll(p):
                break
    if left:
        raise GivenUp(f"{left} dishes are not there")
    while not (found := (await p.view()).named("Order!")):
        if not await _scroll(p):
            raise GivenUp("nothing orders")
    await p.click(found[0])


MEAT = r"chicken|pork|meatball|beef|wings"
SIGNS = {"vegan": (85, 150), "gluten-free": (30, 60)}
"""Hues of the signs that stand under a dish, in degrees."""


def _fits(view: View, line: Line, dish: str, wanted: set[str] | None, kind: str | None) -> bool:
    """Whether a dish is wanted by its name, or is of the wanted kind."""
    if wanted is not None:
        return dish in wanted
    if kind not in SIGNS or line.mark is None:
        return bool(re.search(MEAT, dish, re.IGNORECASE)) and kind == "meat"
    box = line.mark.box
    crop = view.crop(Box(x=0, y=box.y + 8, width=50, height=28))
    hue, saturation, _ = np.moveaxis(cv2.cvtColor(crop, cv2.COLOR_RGB2HSV), 2, 0)
    low, high = SIGNS[kind]
    is_whole = box.y + 36 < AREA.bottom
    return is_whole and int(((saturation > 60) & (2 * hue >= low) & (2 * hue <= high)).sum()) > 15
