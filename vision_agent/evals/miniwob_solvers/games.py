"""Solvers for games and pages that do not wait: things that move, blink, change by themselves or play against you."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from math import dist

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.episode import At, Episode, On, Unsolved

_DARK_S = 1.2
"""Seconds without a blink that end a sequence; blinks come every 0.6."""
_TOP = 50
"""Offset of the hot-cold area: places count from this far below the top of the page."""
_BANDS = {"HOT": (0, 5), "WARM": (5, 10), "COLD": (10, 40), "ICE COLD": (40, 999)}
"""Range of distances from the hot place for each signal."""
_IS_LEAVING = """(x, y) => {
    const { left, right, top, bottom } = document.querySelector('circle').getBoundingClientRect();
    return WOB_DONE_GLOBAL || Math.hypot((left + right) / 2 - x, (top + bottom) / 2 - y) > (right - left) / 4;
}"""
"""Whether the circle has moved half as far as it takes to lose the pointer."""
_WAITING = """(items => items
    .filter(({ left, right }) => right <= 3 || left >= 161)
    .map(({ left, top, bottom }) => [left < 80 ? 4 : 160, Math.min(209, Math.max(54, (top + bottom) / 2))])
    .filter(([x, y]) => !items.some(({ left, right, top, bottom }) => right > 3 && left < 161
        && x > left - 25 && x < right + 25 && y > top - 25 && y < bottom + 25))
)(Array.from(document.querySelectorAll('.item'), each => each.getBoundingClientRect()))"""
"""Points of items waiting beyond the edge with no moving item nearby."""
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_Board = tuple[int, ...]
"""Nine squares: 1 ours, -1 the opponent's, 0 free."""


async def simon_says(episode: Episode) -> None:
    """Push the buttons in the order displayed."""
    sequence: list[str] = []
    lit, since = None, time.monotonic()
    while not sequence or time.monotonic() - since < _DARK_S:
        now = await episode.read("document.querySelector('.push')?.id")
        if now != lit and now is not None:
            sequence.append(now)
        if now is not None:
            since = time.monotonic()
        lit = now
    for button in sequence:
        await episode.click(On(f"#{button}"))


async def stock_market(episode: Episode) -> None:
    """Buy HLW stock when the price is less than $47.10."""
    (limit,) = match_groups(r"less than \$([\d.]+)\.", episode.asked)
    # A key press arrives sooner than a click; the price may still rise by 1.5 before it does.
    # The later it is, the less room for waiting remains.
    await episode.press("Tab")
    while True:
        price, tick = await episode.text("#stock-price"), await episode.read("priceIndex")
        if price and float(price.removeprefix("$")) <= float(limit) - max(0.0, 2 * (1 - tick / 70)):
            await episode.press("Enter")
            return


async def tic_tac_toe(episode: Episode) -> None:
    """Playing as 'X', win a game of tic-tac-toe."""
    squares = """Array.from(document.querySelectorAll('.ttt-row span'), each =>
        ({ 'mark-x': 1, 'mark-o': -1 })[each.className] ?? 0)"""
    while not await episode.is_over():
        board = tuple(await episode.read(squares))
        await episode.click(On(".ttt-row span", place=max(_free(board), key=lambda square: _after(board, square))))


async def hot_cold(episode: Episode) -> None:
    """Find and click on the HOT area."""
    places = [(x, y) for x in range(5, 155) for y in range(5, 120)]
    while True:
        place = _most_telling(places)
        await episode.hover(At(place[0], place[1] + _TOP))
        signal = await episode.read("document.querySelector('#signal').textContent")
        if signal == "HOT":
            await episode.click(At(place[0], place[1] + _TOP))
            return
        near, far = _BANDS[signal]
        places = [each for each in places if near <= dist(each, place) < far]


async def chase_circle(episode: Episode) -> None:
    """Keep your mouse inside the circle as it moves around."""
    while not await episode.is_over():
        circle = next((mark for mark in (await episode.look()).marks if mark.tag == "circle"), None)
        with suppress(Unsolved):  # it may have disappeared during the observation
            if circle is not None:
                await episode.hover(circle)
                [under] = await episode.boxes("circle")
                await episode.until(_IS_LEAVING, under.center.x, under.center.y)


async def moving_items(episode: Episode) -> None:
    """Click as many moving circles as possible."""
    # Moving items cannot be hit: a point is valid only while the picture still shows the same there. But a click counts
    # near a circle too, and each waits just beyond the edge before it enters and after it leaves.
    place = 0
    while not await episode.is_over():
        with suppress(Unsolved):  # there may be none left
            await episode.until(f"WOB_DONE_GLOBAL || {_WAITING}")
        await episode.look()
        if waiting := await episode.read(_WAITING):
            try:
                await episode.click(At(*waiting[place % len(waiting)]))
            except Unsolved:
                place += 1  # another one just moved there


def _most_telling(places: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The place in a sample whose signal leaves the fewest candidates in the worst case."""
    sample = places[:: max(1, len(places) // 60)]

    def left(place: tuple[int, int]) -> int:
        counts = [sum(near <= dist(each, place) < far for each in sample) for near, far in _BANDS.values()]
        return max(counts)

    return min(sample, key=left)


def _after(board: _Board, square: int) -> float:
    """The probability of winning after taking a square."""
    board = _with(board, square, 1)
    if _has_line(board, 1):
        return 1.0
    return _theirs(board) if _free(board) else 0.0


@cache
def _theirs(board: _Board) -> float:
    """The probability of winning when the opponent moves next: 55% of its moves are random, the others planned."""
    free = _free(board)
    planned = _line_of(board, -1) or _line_of(board, 1) or free
    return 0.55 * _mean(_ours(_with(board, square, -1)) for square in free) + 0.45 * _mean(
        _ours(_with(board, square, -1)) for square in planned
    )


@cache
def _ours(board: _Board) -> float:
    if _has_line(board, -1):
        return 0.0
    return max((_after(board, square) for square in _free(board)), default=0.0)


def _line_of(board: _Board, who: int) -> list[int]:
    """The squares that would complete a line."""
    return [square for square in _free(board) if _has_line(_with(board, square, who), who)]


def _has_line(board: _Board, who: int) -> bool:
    return any(all(board[square] == who for square in line) for line in _LINES)


def _free(board: _Board) -> list[int]:
    return [square for square, who in enumerate(board) if who == 0]


def _with(board: _Board, square: int, who: int) -> _Board:
    return (*board[:square], who, *board[square + 1 :])


def _mean(values: Iterable[float]) -> float:
    return sum(listed := [*values]) / len(listed)
