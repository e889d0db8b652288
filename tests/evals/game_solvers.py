"""Solvers that win the fixture games in real time, by the product's own actions.

A solver acts only through `LiveBrowser.act`. `Eyes` plays the part of a model's eyes where a look takes longer than
the game leaves: it reads what the page shows, and Chromium itself forbids that reading to change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from math import copysign, cos, hypot, pi, sin
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession

from vision_agent.actions import Action, Click, Drag, Press, Wait
from vision_agent.browser.live import LiveBrowser
from vision_agent.evals.suites.fixture_sites import tasks_of
from vision_agent.models.offline.grammar import parse
from vision_agent.observation import Mark, Observation
from vision_agent.types import Outcome

SITES = Path(__file__).parents[2] / "fixtures" / "sites"


class Eyes:
    """Reads the page without changing it."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def read(self, expression: str) -> Any:
        """The value of an expression in the page, which must have no side effect."""
        asked = {"expression": expression, "returnByValue": True, "throwOnSideEffect": True}
        answer = await self._session.send("Runtime.evaluate", asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")


class Player:
    """Looks and acts, and remembers what was refused."""

    def __init__(self, browser: LiveBrowser, eyes: Eyes) -> None:
        self.browser = browser
        self.eyes = eyes
        self.looks = 0
        self.acts = 0
        self.refused: list[str] = []
        self.seen: Observation | None = None

    async def look(self) -> Observation:
        self.looks += 1
        self.seen = await self.browser.observe()
        return self.seen

    async def act(self, action: Action) -> Outcome:
        """Acts on the last observation: a key without a target needs no new one."""
        seen = self.seen or await self.look()
        self.acts += 1
        outcome = await self.browser.act(action, seen)
        if outcome.status != "done":
            self.refused.append(f"{outcome.refusal}: {outcome.sentence}")
        return outcome

    def marks(self, name: str) -> list[Mark]:
        assert self.seen is not None
        return [mark for mark in self.seen.marks if mark.name == name]


# --- moles ------------------------------------------------------------------------------------------------------------


async def hit_moles(player: Player) -> None:
    """Looks until a mole is out, and clicks its mark. Reads nothing but marks."""
    await player.look()
    await player.act(Click(target=player.marks("Start round")[0].number))
    while not player.marks("Start round") or player.looks == 1:
        await player.look()
        if moles := player.marks("Mole"):
            await player.act(Click(target=moles[0].number))
        else:
            await player.act(Wait(change=True, seconds=2))


# --- cards ------------------------------------------------------------------------------------------------------------

SUITS = ("hearts", "spades", "diamonds", "clubs")
RANKS = ("Ace", "2", "3", "4", "5")
Card = tuple[int, int]
"""Its rank and its suit, counted from 0."""


@dataclass(frozen=True)
class Table:
    """The cards of each column from bottom to top, those in the cells, and how many lie on each pile."""

    columns: tuple[tuple[Card, ...], ...]
    cells: tuple[Card | None, ...] = (None, None)
    piles: tuple[int, ...] = (0, 0, 0, 0)

    def moves(self) -> Iterator[tuple[str, str, Table]]:
        """Each card that may be moved, what it is dragged to, and the table after that."""
        for card, without in self._movable():
            if self.piles[card[1]] == card[0]:
                piles = tuple(count + (suit == card[1]) for suit, count in enumerate(self.piles))
                yield name_of(card), self._pile_name(card[1]), replace(without, piles=piles)
            for at, column in enumerate(self.columns):
                if not column or (column[-1][0] == card[0] + 1 and (column[-1][1] + card[1]) % 2):
                    put = (*without.columns[at], card)
                    columns = (*without.columns[:at], put, *without.columns[at + 1 :])
                    if column != (card,):
                        target = name_of(column[-1]) if column else f"Column {at + 1}"
                        yield name_of(card), target, replace(without, columns=columns)
            if card not in self.cells and None in self.cells:
                at = self.cells.index(None)
                yield name_of(card), f"Cell {at + 1}", replace(without, cells=_with(without.cells, at, card))

    def _movable(self) -> Iterator[tuple[Card, Table]]:
        for at, column in enumerate(self.columns):
            if column:
                columns = (*self.columns[:at], column[:-1], *self.columns[at + 1 :])
                yield column[-1], replace(self, columns=columns)
        for at, card in enumerate(self.cells):
            if card is not None:
                yield card, replace(self, cells=_with(self.cells, at, None))

    def _pile_name(self, suit: int) -> str:
        lying = self.piles[suit]
        return name_of((lying - 1, suit)) if lying else f"Pile of {SUITS[suit]}"


def _with(cells: tuple[Card | None, ...], at: int, card: Card | None) -> tuple[Card | None, ...]:
    return (*cells[:at], card, *cells[at + 1 :])


def name_of(card: Card) -> str:
    return f"{RANKS[card[0]]} of {SUITS[card[1]]}"


def solved(table: Table) -> list[tuple[str, str]]:
    """Drags that bring every card to its pile: what is dragged, and where to."""
    order = count()
    queue = [(0, next(order), table)]
    came: dict[Table, tuple[Table, str, str] | None] = {table: None}
    cost = {table: 0}
    while queue:
        _, _, now = heappop(queue)
        if sum(now.piles) == len(SUITS) * len(RANKS):
            break
        for card, to, after in now.moves():
            if after not in cost or cost[now] + 1 < cost[after]:
                cost[after] = cost[now] + 1
                came[after] = (now, card, to)
                left = len(SUITS) * len(RANKS) - sum(after.piles)
                heappush(queue, (cost[after] + 2 * left, next(order), after))
    else:
        raise AssertionError("this deal cannot be solved")
    drags: list[tuple[str, str]] = []
    while (step := came[now]) is not None:
        now, card, to = step
        drags.append((card, to))
    return drags[::-1]


def table_of(seen: Observation) -> Table:
    """The table after the deal, from the names and boxes of marks alone."""
    columns: dict[float, list[tuple[float, Card]]] = {}
    for mark in seen.marks:
        rank, _, suit = mark.name.partition(" of ")
        if suit in SUITS and rank in RANKS:
            card = (RANKS.index(rank), SUITS.index(suit))
            columns.setdefault(round(mark.box.x), []).append((mark.box.y, card))
    return Table(tuple(tuple(card for _, card in sorted(columns[x])) for x in sorted(columns)))


async def play_patience(player: Player) -> None:
    """Reads the deal from the marks, solves it, and drags each card by its mark to the mark it goes to."""
    drags = solved(table_of(await player.look()))
    for card, to in drags:
        source, target = (player.marks(name)[-1].number for name in (card, to))
        outcome = await player.act(Drag(source=source, target=target))
        await player.look()
        if outcome.status != "done":  # the card was brought back: click it, and then where it goes
            if player.marks(card)[-1].state.pressed != "true":
                await player.act(Click(target=player.marks(card)[-1].number))
                await player.look()
            await player.act(Click(target=player.marks(to)[-1].number))
            await player.look()


# --- platform ---------------------------------------------------------------------------------------------------------


async def run_hill(player: Player) -> None:
    """Holds the keys of the task's step lines one after the other, without a look between. Reads nothing."""
    seen = await player.look()
    (task,) = tasks_of(SITES / "platform")
    for line in parse(task.steps[:-1]):
        await player.act(line.build(seen))


# --- snake ------------------------------------------------------------------------------------------------------------

ROWS, APPLES = 15, 6
LANES = 2
"""Rows that are changed at once: the game remembers four turns."""
_ROWS_OF = """['#board', '.head', '.apple'].map(each => document.querySelector(each)?.getBoundingClientRect())
    .map((box, at, [board]) => at && box?.height ? Math.round((box.top - board.top) / box.height) : null)"""
_WAY_S = 0.13 * LANES * 2
"""How long the snake takes for so many rows."""


async def eat_apples(player: Player) -> None:
    """Keeps going right and changes rows until it is in that of the apple. Reads in which rows both are."""
    await player.look()
    eaten = 0
    while eaten < APPLES:
        _, head, apple = await player.eyes.read(_ROWS_OF)
        below = (apple - head + ROWS // 2) % ROWS - ROWS // 2
        if below:
            lanes = min(abs(below), LANES)
            await player.act(Press(keys=f"{'ArrowDown' if below > 0 else 'ArrowUp'}+ArrowRight", count=lanes))
            await player.act(Wait(seconds=_WAY_S))
        else:
            await player.act(Wait(text=f"{eaten + 1} of {APPLES}", seconds=4))
        eaten = await player.eyes.read("parseInt(document.querySelector('#apples').textContent)")


# --- bricks -----------------------------------------------------------------------------------------------------------

WIDTH, BAT_Y, RADIUS, BAT_SPEED, BALL_SPEED, REACH = 800, 556, 8, 560, 340, 64
"""Of the court, in its own pixels; `REACH` is half the bat and the ball's radius."""
_SERVED, _SIDE = 0.35, pi / 3
"""Angles from straight up: of a serve, and where the bat sends the ball at most."""
_CLOSE = 6
Brick = dict[str, float]


async def break_wall(player: Player) -> None:
    """Works out where the ball will come down, brings the bat there, and aims at a brick. Reads the state of the game.

    It reads, because the ball comes down before a look is done. It serves from where the ball comes straight back.
    """
    await player.look()
    while (scene := await player.eyes.read("window.drawn.scene()"))["state"] in ("ready", "running"):
        at = _serve_from(scene["bricks"]) if not scene["isServed"] else _bat_for(scene)
        way = min(max(at, REACH), WIDTH - REACH) - scene["bat"]
        if abs(way) > _CLOSE:
            await player.act(Press(keys="ArrowRight" if way > 0 else "ArrowLeft", seconds=abs(way) / BAT_SPEED))
        elif not scene["isServed"]:
            await player.act(Press(keys="Space"))


def _serve_from(bricks: list[Brick]) -> float:
    """Where the bat has to be for a serve that comes back to it."""
    return min(range(REACH, WIDTH - REACH, 4), key=lambda x: abs(_flight(x, _SERVED, bricks)[0] - x))


def _bat_for(scene: Any) -> float:
    """Where the bat has to be when the ball comes down, so that it then flies to a brick."""
    comes, bricks = _comes_down(dict(scene["ball"]), scene["bricks"])
    for tenth in sorted(range(-6, 7), key=abs):
        if len(_flight(comes, tenth / 10 * _SIDE, bricks)[1]) < len(bricks):
            return comes - tenth / 10 * REACH
    return comes


def _flight(x: float, angle: float, bricks: list[Brick]) -> tuple[float, list[Brick]]:
    """Where a ball comes down again that the bat sends up, and the bricks that are left then."""
    ball = {"x": x, "y": BAT_Y - RADIUS, "vx": BALL_SPEED * sin(angle), "vy": -BALL_SPEED * cos(angle)}
    return _comes_down(ball, bricks)


def _comes_down(ball: dict[str, float], bricks: list[Brick]) -> tuple[float, list[Brick]]:
    """By the rules of the game, in steps as long as its own."""
    while ball["vy"] < 0 or ball["y"] < BAT_Y - RADIUS:
        ball["x"] += ball["vx"] / 120
        ball["y"] += ball["vy"] / 120
        if not RADIUS <= ball["x"] <= WIDTH - RADIUS:
            ball["vx"] = abs(ball["vx"]) * (1 if ball["x"] < RADIUS else -1)
        if ball["y"] < RADIUS:
            ball["vy"] = abs(ball["vy"])
        for brick in bricks if ball["y"] < BAT_Y / 2 else ():
            across = ball["x"] - brick["x"] - brick["width"] / 2
            down = ball["y"] - brick["y"] - brick["height"] / 2
            beside, below = abs(across) - brick["width"] / 2, abs(down) - brick["height"] / 2
            if hypot(max(0, beside), max(0, below)) < RADIUS:
                key, by = ("vx", across) if beside > below else ("vy", down)
                ball[key] = copysign(abs(ball[key]), by)
                bricks = [each for each in bricks if each is not brick]
                break
    return ball["x"], bricks
