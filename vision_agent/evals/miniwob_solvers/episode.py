"""An episode for a solver: the sentence, the page, and the product's own browser to act with.

A solver may read the page to decide, and Chromium itself forbids that reading to change anything. It acts only by the
numbers of marks and by points in the latest picture. This module knows no task.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from playwright.async_api import CDPSession, Page

from vision_agent import actions
from vision_agent.actions import Action, Cell, Point, Target
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.session import AttachedBrowser, attach
from vision_agent.settings import Settings
from vision_agent.types import Outcome

_ELEMENT = (Path(__file__).parent / "element.js").read_text("utf-8").partition("\n")[2]
_BOXES = """selector => Array.from(document.querySelectorAll(selector), each => each.getBoundingClientRect())
    .map(({ x, y, width, height }) => ({ x, y, width, height }))"""
_ALIKE = 0.5
"""Minimum likeness of a mark's box and an element's box: a mark that overlaps less belongs to something else."""
_FINE = 2.0
"""Size in CSS pixels of a grid cell that is small enough to click anywhere."""
_SCROLLS = 5
_PATIENCE_S = 5.0


class Unsolved(Exception):
    """The known solution failed; the message says what was sought or refused, and what the page shows."""


@dataclass(frozen=True)
class On:
    """The mark on an element with a box, found by CSS selector and its whole text."""

    selector: str
    text: str | None = None
    place: int | None = None
    """Index from 0; None: it must be the only one."""


@dataclass(frozen=True)
class Called:
    """The mark with this name in the listing."""

    name: str
    tag: str | None = None
    place: int | None = None
    """Index from 0 in reading order; None: it must be the only one."""


@dataclass(frozen=True)
class At:
    """A point in CSS pixels of the viewport."""

    x: float
    y: float


@dataclass(frozen=True)
class Spot:
    """A point in a surface, in CSS pixels of the viewport; actions name it by a cell of a grid over the surface."""

    x: float
    y: float
    surface: On


Where = On | Called | At | Spot | Mark


class SolverBrowser(Protocol):
    """Observes the page and acts on it."""

    async def observe(self) -> Observation:
        """The current observation."""
        ...

    async def do(self, batch: Sequence[Action], seen: Observation) -> list[Outcome]:
        """The outcomes of the actions on this observation, up to the first refused one."""
        ...


class Episode:
    """What a solver can see and do."""

    def __init__(self, asked: str, hands: SolverBrowser, reader: CDPSession) -> None:
        self.asked = asked
        """The environment's sentence."""
        self.actions: list[Action] = []
        """All actions so far."""
        self._hands = hands
        self._reader = reader
        self._seen: Observation | None = None
        self._is_old = False
        """Whether something was done since the last observation."""

    @property
    def used_points(self) -> bool:
        """Whether any action used a point instead of a mark."""
        return any(isinstance(each, Point) for action in self.actions for each in actions.targets_of(action))

    async def look(self) -> Observation:
        """Observe the page."""
        self._seen, self._is_old = await self._hands.observe(), False
        return self._seen

    async def seen(self) -> Observation:
        """The last observation, renewed if something was done since."""
        return await self.look() if self._seen is None or self._is_old else self._seen

    async def read(self, expression: str, *given: Any) -> Any:
        """The value of an expression in the page; with `given`, it is a function called with these arguments.

        Raises:
            Unsolved: it would have side effects, or fails.
        """
        call = f"({expression})({','.join(json.dumps(each) for each in given)})" if given else expression
        asked = {"expression": call, "returnByValue": True, "throwOnSideEffect": True}
        async with asyncio.timeout(_PATIENCE_S):
            answer = await self._reader.send("Runtime.evaluate", asked)
        if trouble := answer.get("exceptionDetails"):
            raise Unsolved(f"{expression} cannot be read: {trouble.get('exception', {}).get('description', trouble)}")
        return answer["result"].get("value")

    async def texts(self, selector: str) -> list[str]:
        """The texts of the page's elements that match."""
        each = "selector => Array.from(document.querySelectorAll(selector), each => each.textContent.trim())"
        found: list[str] = await self.read(each, selector)
        return found

    async def text(self, selector: str) -> str:
        """The text of the first element that matches.

        Raises:
            Unsolved: there is none.
        """
        if not (found := await self.texts(selector)):
            raise Unsolved(f"the page has no {selector}")
        return found[0]

    async def boxes(self, selector: str) -> list[Box]:
        """The boxes of the page's elements that match, in CSS pixels."""
        return [Box(**each) for each in await self.read(_BOXES, selector)]

    async def until(self, expression: str, *given: Any) -> Any:
        """The value of an expression once it is true; it is polled.

        Raises:
            Unsolved: it did not become true in time.
        """
        until = time.monotonic() + _PATIENCE_S
        while not (answer := await self.read(expression, *given)):
            if time.monotonic() > until:
                raise Unsolved(f"{expression} did not come true within {_PATIENCE_S:g} s")
        self._is_old = True
        return answer

    async def is_over(self) -> bool:
        """Whether the environment has ended the episode."""
        return bool(await self.read("WOB_DONE_GLOBAL"))

    async def find(self, where: On | Called) -> Mark:
        """The mark that is meant; scrolls until it is visible.

        Raises:
            Unsolved: there is none, or more than one.
        """
        if isinstance(where, On):
            return await self._on(where)
        seen = await self.seen()
        found = [mark for mark in seen.marks if mark.name == where.name and where.tag in (None, mark.tag)]
        if not found or (where.place is None and len(found) > 1):
            raise Unsolved(f"{len(found)} marks are {where}:\n{seen.listing}")
        return found[where.place or 0]

    async def _on(self, where: On) -> Mark:
        await self.seen()  # pictures that give an element its size may load before this
        for _ in range(_SCROLLS):
            answer = await self.read(_ELEMENT, where.selector, where.text, where.place)
            if "box" not in answer or (where.place is None and answer["count"] > 1):
                raise Unsolved(f"the page has {answer['count']} elements {where}")
            box, scroller = Box(**answer["box"]), answer["scroller"]
            if scroller is None or (shown := Box(**scroller["box"])).contains(box.center):
                break
            down = box.center.y - shown.center.y
            pages = min(100.0, max(0.05, abs(down) / shown.height))
            holder = (await self._mark_of(scroller["tag"], shown)).number
            await self.act(actions.Scroll(target=holder, direction="down" if down > 0 else "up", pages=pages))
        return await self._mark_of(answer["tag"], box if scroller is None else box.intersection(shown) or box)

    async def _mark_of(self, tag: str, box: Box) -> Mark:
        seen = await self.seen()
        alike = {mark.number: mark.box.likeness(box) for mark in seen.marks if mark.tag == tag}
        best = max(alike, key=lambda number: alike[number], default=None)
        mark = seen.mark(best) if best is not None else None
        if mark is None or alike[mark.number] < _ALIKE:
            raise Unsolved(f"there is no mark on the <{tag}> at {box}:\n{seen.listing}")
        return mark

    # --- acting -------------------------------------------------------------------------------------------------------

    async def act(self, *batch: Action) -> None:
        """Do the actions in order, all on the last observation: a key without a target needs no new one.

        Raises:
            Unsolved: one was refused.
        """
        seen = self._seen or await self.look()
        self._is_old = True
        outcomes = await self._hands.do(batch, seen)
        for action, outcome in zip(batch, outcomes, strict=False):
            self.actions.append(action)
            if outcome.status == "refused":
                raise Unsolved(f"{action!r} was refused: {outcome.sentence}")

    async def click(self, where: Where) -> None:
        """Click it. After one refusal, look and try again, as an agent does.

        Raises:
            Unsolved: it was refused again, or cannot be found again.
        """
        target = await self.target(where)
        try:
            await self.act(actions.Click(target=target))
        except Unsolved:
            if isinstance(where, At | Spot | Mark):
                raise
            await self.act(actions.Click(target=await self.target(where)))

    async def submit(self) -> None:
        """Click the button Submit, which ends most tasks."""
        await self.click(Called("Submit", tag="button"))

    async def type(self, text: str, into: Where) -> None:
        """Type a text, replacing the current one."""
        await self.act(actions.Type(target=await self.target(into), text=text))

    async def set(self, value: str, of: On | Called) -> None:
        """Set a date or a time."""
        await self.act(actions.Set(mark=(await self.find(of)).number, value=value))

    async def check(self, where: On | Called) -> None:
        """Check it."""
        await self.act(actions.Check(mark=(await self.find(where)).number, checked=True))

    async def press(self, keys: str, on: Where | None = None, *, count: int = 1) -> None:
        """Press a key or a combination, after focusing `on` if given; a count of 0 does nothing."""
        if count > 0:
            target = None if on is None else await self.target(on)
            await self.act(actions.Press(keys=keys, target=target, count=count))

    async def select(self, *options: str, of: Where) -> None:
        """Choose options in a list."""
        await self.act(actions.Select(target=await self.target(of), options=options))

    async def hover(self, where: Where) -> None:
        """Move the pointer over it."""
        await self.act(actions.Hover(target=await self.target(where)))

    async def drag(self, source: Where, target: Where, *, through: Sequence[At] = ()) -> None:
        """Press at the source, move through the points, and release at the target."""
        way = [await self._point(each) for each in through]
        begin, end = await self.target(source), await self.target(target)
        await self.act(actions.Drag(source=begin, target=end, path=tuple(way)))

    async def drag_by(self, source: Where, right: float, down: float) -> None:
        """Drag it by this many CSS pixels."""
        begin = await self.target(source)
        seen = (await self.seen()).marked.map
        by = actions.Offset(right=right / seen.scale_x, down=down / seen.scale_y)
        await self.act(actions.Drag(source=begin, target=by))

    async def scroll_to_end(self, where: Where, direction: Literal["up", "down"]) -> None:
        """Scroll it as far as it goes."""
        await self.act(actions.Scroll(target=await self.target(where), direction=direction, to="end"))

    async def target(self, where: Where) -> Target:
        """What an action names: a number, a point or a cell.

        May scroll or zoom to see it, which outdates targets obtained before.
        """
        match where:
            case Mark():
                return where.number
            case At():
                return await self._point(where)
            case Spot():
                return await self._cell(where)
            case _:
                return (await self.find(where)).number

    async def _cell(self, spot: Spot) -> Cell:
        """The cell at this point, found by zooming until cells are small enough."""
        over: Target = (await self.find(spot.surface)).number
        while True:
            await self.act(actions.Zoom(target=over, grid=True))
            seen = await self.look()
            laid = next(mark for mark in seen.marks if mark.grid is not None and mark.surface is None)
            assert laid.grid is not None
            for row, column, x, y, width, height in laid.grid.cells:
                if x <= spot.x < x + width and y <= spot.y < y + height:
                    over = Cell(mark=laid.number, row=row, column=column)
                    break
            else:
                raise Unsolved(f"{spot} is outside its surface, which is at {laid.box}")
            if max(width, height) <= _FINE:
                return over

    async def _point(self, at: At) -> Point:
        return (await self.seen()).marked.map.to_picture(Point(x=at.x, y=at.y))


class _Own:
    """Acts on a browser directly, without the agent's loop."""

    def __init__(self, browser: AttachedBrowser) -> None:
        self._browser = browser

    async def observe(self) -> Observation:
        return await self._browser.observe()

    async def do(self, batch: Sequence[Action], seen: Observation) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for action in batch:
            outcomes.append(await self._browser.act(action, seen))
            if outcomes[-1].status != "done":
                break
        return outcomes


@asynccontextmanager
async def begin_episode(page: Page, asked: str, settings: Settings | None = None) -> AsyncIterator[Episode]:
    """An episode on a page where the environment has started it."""
    reader = await page.context.new_cdp_session(page)
    try:
        async with attach(page, settings) as browser:
            yield Episode(asked, _Own(browser), reader)
    finally:
        await reader.detach()
