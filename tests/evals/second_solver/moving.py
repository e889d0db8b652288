"""What moves or lights up by itself: it is looked at and acted on at once, and nothing is waited for."""

from __future__ import annotations

import math
import re
import time

import numpy as np

from second_solver.player import Player
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.actions import Point
from vision_agent.types import Mark

_LONGEST_S = 60.0
_LAG_S = 0.25
"""From what a look shows to the click that follows."""
_FASTEST = 130.0
"""Pixels per second."""


async def chase(p: Player, said: re.Match[str]) -> None:
    """The pointer on a circle that moves, until it is gone."""
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        circles = (await p.look()).all("circle")
        if not circles:
            return
        await p.do(actions.Hover(target=circles[0].number))


async def moving(p: Player, said: re.Match[str]) -> None:
    """Every circle that comes by, where it will be in a moment, until none has come for a while.

    Its mark cannot be clicked: what the picture shows there has changed by then.
    """
    until, last = time.monotonic() + _LONGEST_S, time.monotonic()
    before: list[Point] = []
    looked = last
    while time.monotonic() < until and time.monotonic() - last < 10:
        view = await p.look()
        now = time.monotonic()
        seen = [mark.box.center for mark in view.marks if mark.surface is not None or mark.tag == "circle"]
        aims = [aim for here in seen if (aim := _ahead(here, before, now - looked)) is not None]
        before, looked, last = seen, now, now if seen else last
        for aim in aims[:2]:
            await p.do(actions.Click(target=p.target(aim)))


def _ahead(here: Point, before: list[Point], seconds: float) -> Point | None:
    """Where a circle will be when a click arrives, from where it was at the last look; it bounces off the edges."""
    was = min(before, key=lambda each: math.dist((each.x, each.y), (here.x, here.y)), default=None)
    if was is None or math.dist((was.x, was.y), (here.x, here.y)) > _FASTEST * seconds:
        return None
    share = _LAG_S / seconds
    x, y = here.x + (here.x - was.x) * share, here.y + (here.y - was.y) * share
    return Point(x=_within(x, AREA.x, AREA.right), y=_within(y, AREA.y, AREA.bottom))


def _within(value: float, low: float, high: float) -> float:
    inside = 2 * low - value if value < low else 2 * high - value if value > high else value
    return min(high - 1, max(low + 1, inside))


async def simon(p: Player, said: re.Match[str]) -> None:
    """Buttons in the order in which they light up; each round has one more."""
    buttons = (await p.view()).all("button")
    usual = await _usual(p, buttons)
    for _ in range(8):
        order = await _lit(p, buttons, usual)
        if not order:
            return
        for index in order:
            await p.click(buttons[index])


async def _usual(p: Player, buttons: list[Mark]) -> list[float]:
    looks = [_brightness(await p.look(), buttons) for _ in range(3)]
    return [float(value) for value in np.median(looks, axis=0)]


def _brightness(view: View, buttons: list[Mark]) -> list[float]:
    return [float(view.crop(mark.box).mean()) for mark in buttons]


async def _lit(p: Player, buttons: list[Mark], usual: list[float]) -> list[int]:
    """The buttons that light up, in order, until none has for three seconds."""
    order: list[int] = []
    before, last = -1, time.monotonic()
    while time.monotonic() - last < 3:
        off = np.abs(np.subtract(_brightness(await p.look(), buttons), usual))
        now = int(off.argmax()) if off.max() > 8 else -1
        if now != before and now >= 0:
            order.append(now)
            last = time.monotonic()
        before = now
    return order


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


async def noughts(p: Player, said: re.Match[str]) -> None:
    """Tic-tac-toe as X, until no cell is left or the board is gone."""
    for _ in range(5):
        view = await p.look()
        cells = view.all("span", where=lambda mark: mark.box.width > 25)
        if len(cells) != 9:
            return
        board = [_sign(view, mark) for mark in cells]
        if all(board):
            return
        await p.click(cells[_best(board)])


def _sign(view: View, mark: Mark) -> str:
    """X, O or nothing: by its name, or by what is drawn in the middle of the cell."""
    if mark.name.strip().upper() in ("X", "O", "0"):
        return "X" if mark.name.strip().upper() == "X" else "O"
    crop = view.crop(mark.box)
    height, width = crop.shape[:2]
    inner = crop[height // 6 : -height // 6, width // 6 : -width // 6]
    ground = np.median(inner.reshape(-1, 3), axis=0)
    off = np.abs(inner.astype(int) - ground).max(axis=2) > 60
    if off.mean() < 0.03:
        return ""
    ys, xs = np.nonzero(off)
    middle = off[int(ys.mean()) - 2 : int(ys.mean()) + 3, int(xs.mean()) - 2 : int(xs.mean()) + 3]
    return "X" if middle.any() else "O"


def _best(board: list[str]) -> int:
    """The move of X that is best against the best answers, and among those against any answers."""
    free = [index for index, sign in enumerate(board) if not sign]
    return max(free, key=lambda at: _worth([*board[:at], "X", *board[at + 1 :]], "O"))


def _worth(board: list[str], turn: str) -> tuple[float, float]:
    """What a board is worth to X, at worst and on average: 1 won, 0 drawn, -1 lost."""
    won = next((board[a] for a, b, c in LINES if board[a] and board[a] == board[b] == board[c]), "")
    free = [index for index, sign in enumerate(board) if not sign]
    if won or not free:
        end = {"X": 1.0, "O": -1.0}.get(won, 0.0)
        return end, end
    after = "O" if turn == "X" else "X"
    worths = [_worth([*board[:at], turn, *board[at + 1 :]], after) for at in free]
    if turn == "X":
        return max(worths)
    return min(worst for worst, _ in worths), sum(mean for _, mean in worths) / len(worths)
