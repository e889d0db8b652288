"""What moves or lights up by itself: it is looked at and acted on at once, and nothing is waited for."""

from __future__ import annotations

import re
import time
from functools import cache

import numpy as np

from second_solver.player import Player
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.observation import Mark

_LONGEST_S = 60.0
_DARK_S = 2.0
"""Without a light, after which none is to come."""
_SHORTEST_WAY = 30.0
"""CSS pixels; what has less before it is gone before it can be clicked."""
_LIT = 8.0
"""How much brighter a button is, of 255."""


async def chase(p: Player, said: re.Match[str]) -> None:
    """The pointer on a circle that moves, until it is gone."""
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        circles = (await p.look()).all("circle")
        if not circles:
            return
        await p.do(actions.Hover(target=circles[0].number))


async def moving(p: Player, said: re.Match[str]) -> None:
    """Each circle that comes by, until none has come for a while: always the one that has the longest way before it."""
    until, last = time.monotonic() + _LONGEST_S, time.monotonic()
    before: dict[str, float] = {}
    while time.monotonic() < until and time.monotonic() - last < 10:
        circles = (await p.look()).all("circle")
        last = time.monotonic() if circles else last
        ways = {mark.key: _way_left(mark, before.get(mark.key)) for mark in circles}
        before = {mark.key: mark.box.center.x for mark in circles}
        best = max(circles, key=lambda mark: ways[mark.key], default=None)
        if best is not None and ways[best.key] > _SHORTEST_WAY:
            await p.do(actions.Click(target=best.number))


def _way_left(mark: Mark, before: float | None) -> float:
    """CSS pixels from a circle to the side that it goes to; if that is not known, to the nearer one."""
    x = mark.box.center.x
    left, right = x - AREA.x, AREA.right - x
    if before is None or abs(before - x) < 1:
        return min(left, right)
    return right if x > before else left


async def simon(p: Player, said: re.Match[str]) -> None:
    """Buttons in the order in which they light up; each round has one more."""
    buttons = (await p.view()).all("button")
    for _ in range(8):
        order = await _lit(p, buttons)
        if not order:
            return
        for index in order:
            await p.click(buttons[index])


def _brightness(view: View, buttons: list[Mark]) -> list[float]:
    return [float(view.crop(mark.box).mean()) for mark in buttons]


async def _lit(p: Player, buttons: list[Mark]) -> list[int]:
    """The buttons that light up, in order, until none has for two seconds; a button is lit if it is often darker."""
    looks: list[list[float]] = []
    last = time.monotonic()
    while time.monotonic() - last < _DARK_S:
        looks.append(_brightness(await p.look(), buttons))
        if np.ptp(looks[-2:], axis=0).max() > _LIT:
            last = time.monotonic()
    off = np.array(looks) - np.min(looks, axis=0)
    lit = [int(each.argmax()) if each.max() > _LIT else -1 for each in off]
    return [now for before, now in zip([-1, *lit], lit, strict=False) if now not in (-1, before)]


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
    """The move of X that most probably ends in three in a row; a draw is no win."""
    free = [index for index, sign in enumerate(board) if not sign]
    return max(free, key=lambda at: _chance((*board[:at], "X", *board[at + 1 :]), "O"))


@cache
def _chance(board: tuple[str, ...], turn: str) -> float:
    """How probably X wins against one who plays well every second time, and at random otherwise."""
    won = next((board[a] for a, b, c in LINES if board[a] and board[a] == board[b] == board[c]), "")
    free = [index for index, sign in enumerate(board) if not sign]
    if won or not free:
        return float(won == "X")
    after = "O" if turn == "X" else "X"
    chances = [_chance((*board[:at], turn, *board[at + 1 :]), after) for at in free]
    return max(chances) if turn == "X" else (min(chances) + sum(chances) / len(chances)) / 2
