"""What moves or lights up by itself: it is looked at and acted on at once, and nothing is waited for."""

from __future__ import annotations

import re
import time

import numpy as np

from second_solver.player import GivenUp, Player
from second_solver.view import View
from vision_agent import actions
from vision_agent.types import Mark

_LONGEST_S = 60.0


async def chase(p: Player, said: re.Match[str]) -> None:
    """The pointer on a circle that moves, until it is gone."""
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        circles = (await p.look()).all("circle")
        if not circles:
            return
        await p.do(actions.Hover(target=circles[0].number))


async def moving(p: Player, said: re.Match[str]) -> None:
    """Every circle that comes by, until none has come for a while."""
    until, last = time.monotonic() + _LONGEST_S, time.monotonic()
    while time.monotonic() < until and time.monotonic() - last < 10:
        for mark in (await p.look()).all("circle"):
            last = time.monotonic()
            await p.do(actions.Click(target=mark.number))


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
    """Tic-tac-toe as X: win, else block, else the middle, a corner or a side."""
    for _ in range(5):
        view = await p.look()
        cells = view.all("span", where=lambda mark: mark.box.width > 25)
        if len(cells) != 9:
            raise GivenUp(f"there are {len(cells)} cells:\n{view.seen.listing}")
        board = [_sign(view, mark) for mark in cells]
        if not (free := [index for index, sign in enumerate(board) if not sign]):
            return
        at = (
            _last_of(board, "X") or _last_of(board, "O") or [index for index in (4, 0, 2, 6, 8, *free) if index in free]
        )
        await p.click(cells[at[0]])


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


def _last_of(board: list[str], sign: str) -> list[int]:
    """The free cells that complete a line of a sign."""
    full = [line for line in LINES if sorted(board[at] for at in line) == ["", sign, sign]]
    return [at for line in full for at in line if not board[at]]
