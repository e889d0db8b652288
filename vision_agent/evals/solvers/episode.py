"""An episode as a solver has it: what is asked, what shows, and the hands of the product to act with.

A solver may read the page to choose, and Chromium itself forbids that reading to change anything. It acts only by the
numbers of marks and by points of the latest picture. Knows no task.
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
from vision_agent.browser.live import LiveBrowser
from vision_agent.session import watching
from vision_agent.settings import Settings
from vision_agent.types import Box, Mark, Observation, Outcome

_ELEMENT = (Path(__file__).parent / "element.js").read_text("utf-8").partition("\n")[2]
_BOXES = """selector => Array.from(document.querySelectorAll(selector), each => each.getBoundingClientRect())
    .map(({ x, y, width, height }) => ({ x, y, width, height }))"""
_ALIKE = 0.5
"""Of two boxes' common area: a mark that covers less of an element is not its mark."""
_FINE = 2.0
"""CSS pixels of a cell in which any place will do."""
_SCROLLS = 5
_PATIENCE_S = 5.0


class Unsolved(Exception):
    """The way through that a solver knows is not there; says what was sought or refused, and what shows."""


@dataclass(frozen=True)
class On:
    """The mark on an element of the page, by a CSS selector and its whole text, among those that have a box."""

    selector: str
    text: str | None = None
    place: int | None = None
    """Counted from 0. None: there is only one."""


@dataclass(frozen=True)
class Called:
    """The mark with this name, as the listing says it."""

    name: str
    tag: str | None = None
    place: int | None = None
    """Counted from 0, in reading order. None: there is only one."""


@dataclass(frozen=True)
class At:
    """A point, in CSS pixels of the page's view."""

    x: float
    y: float


@dataclass(frozen=True)
class Spot:
    """A place in a surface, in CSS pixels of the page's view, that is named by a cell of a grid laid over it."""

    x: float
    y: float
    surface: On


Where = On | Called | At | Spot | Mark


class Hands(Protocol):
    """Looks at the page and acts on it."""

    async def observe(self) -> Observation:
        """What shows now."""
        ...

    async def do(self, batch: Sequence[Action], seen: Observation) -> list[Outcome]:
        """What came of each by what was seen, to the first that was refused."""
        ...


class Episode:
    """What a solver may go by and do."""

    def __init__(self, asked: str, hands: Hands, reader: CDPSession) -> None:
        self.asked = asked
        """The environment's sentence."""
        self.actions: list[Action] = []
        """All that was done so far."""
        self._hands = hands
        self._reader = reader
        self._seen: Observation | None = None
        self._is_old = False
        """Whether something was done since."""

    @property
    def used_points(self) -> bool:
        """Whether anything was done by a point, and not all by marks."""
        return any(isinstance(each, Point) for action in self.actions for each in actions.targets_of(action))

    async def look(self) -> Observation:
        """What shows now."""
        self._seen, self._is_old = await self._hands.observe(), False
        return self._seen

    async def seen(self) -> Observation:
        """What showed when last looked, which was after the last act."""
        return await self.look() if self._seen is None or self._is_old else self._seen

    async def read(self, expression: str, *given: Any) -> Any:
        """What the page says; with `given`, the expression is a function and those are its arguments.

        Raises:
            Unsolved: it would change something, or the page has no such thing.
        """
        call = f"({expression})({','.join(json.dumps(each) for each in given)})" if given else expression
        asked = {"expression": call, "returnByValue": True, "throwOnSideEffect": True}
        async with asyncio.timeout(_PATIENCE_S):
            answer = await self._reader.send("Runtime.evaluate", asked)
        if trouble := answer.get("exceptionDetails"):
            raise Unsolved(f"{expression} cannot be read: {trouble.get('exception', {}).get('description', trouble)}")
        return answer["result"].get("value")

    async def texts(self, selector: str) -> list[str]:
        """What elements of the page say."""
        each = "selector => Array.from(document.querySelectorAll(selector), each => each.textContent.trim())"
        said: list[str] = await self.read(each, selector)
        return said

    async def text(self, selector: str) -> str:
        """What the first such element of the page says.

        Raises:
            Unsolved: there is none.
        """
        if not (said := await self.texts(selector)):
            raise Unsolved(f"the page has no {selector}")
        return said[0]

    async def boxes(self, selector: str) -> list[Box]:
        """Where elements of the page lie."""
        return [Box(**each) for each in await self.read(_BOXES, selector)]

    async def until(self, expression: str, *given: Any) -> Any:
        """What the page says when that is more than nothing; looked for again and again.

        Raises:
            Unsolved: it did not come.
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
        """The mark that is meant; what has to be scrolled before it shows is scrolled.

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
        await self.seen()  # before then, pictures may not have come that give an element its size
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
        """Does them one after the other, all by what was last seen: a key without a target needs no other look.

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
        """Clicks it. Refused once, an agent looks again and tries again, and so does this.

        Raises:
            Unsolved: it was refused again, or is none that can be found again.
        """
        target = await self.target(where)
        try:
            await self.act(actions.Click(target=target))
        except Unsolved:
            if isinstance(where, At | Spot | Mark):
                raise
            await self.act(actions.Click(target=await self.target(where)))

    async def submit(self) -> None:
        """Clicks the button called Submit, with which most tasks end."""
        await self.click(Called("Submit", tag="button"))

    async def type(self, text: str, into: Where) -> None:
        """Types it in place of what is there."""
        await self.act(actions.Type(target=await self.target(into), text=text))

    async def set(self, value: str, of: On | Called) -> None:
        """Sets a date or a time."""
        await self.act(actions.Set(mark=(await self.find(of)).number, value=value))

    async def check(self, where: On | Called) -> None:
        """Ticks it."""
        await self.act(actions.Check(mark=(await self.find(where)).number, checked=True))

    async def press(self, keys: str, on: Where | None = None, *, count: int = 1) -> None:
        """Presses a key or a combination; with `on`, that gets the focus first. None times is nothing."""
        if count > 0:
            target = None if on is None else await self.target(on)
            await self.act(actions.Press(keys=keys, target=target, count=count))

    async def select(self, *options: str, of: Where) -> None:
        """Chooses options of a list."""
        await self.act(actions.Select(target=await self.target(of), options=options))

    async def hover(self, where: Where) -> None:
        """Moves the pointer over it."""
        await self.act(actions.Hover(target=await self.target(where)))

    async def drag(self, source: Where, target: Where, *, through: Sequence[At] = ()) -> None:
        """Presses at the one, goes through the points between, and releases at the other."""
        way = [await self._point(each) for each in through]
        begin, end = await self.target(source), await self.target(target)
        await self.act(actions.Drag(source=begin, target=end, path=tuple(way)))

    async def drag_by(self, source: Where, right: float, down: float) -> None:
        """Drags it so many CSS pixels."""
        held = await self.target(source)
        seen = (await self.seen()).marked.map
        by = actions.Offset(right=right / seen.scale_x, down=down / seen.scale_y)
        await self.act(actions.Drag(source=held, target=by))

    async def scroll_to_end(self, where: Where, direction: Literal["up", "down"]) -> None:
        """Scrolls what is there as far as it goes."""
        await self.act(actions.Scroll(target=await self.target(where), direction=direction, to="end"))

    async def target(self, where: Where) -> Target:
        """What an action is to name."""
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
        """The cell that is there: from coarse to fine, until it is small enough."""
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
                raise Unsolved(f"{spot} is not in its surface, which is at {laid.box}")
            if max(width, height) <= _FINE:
                return over

    async def _point(self, at: At) -> Point:
        return (await self.seen()).marked.map.to_picture(Point(x=at.x, y=at.y))


class _Own:
    """A browser of the episode's own, with no loop between."""

    def __init__(self, browser: LiveBrowser) -> None:
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
async def begun(page: Page, asked: str, settings: Settings | None = None) -> AsyncIterator[Episode]:
    """An episode on a page where the environment has begun it."""
    reader = await page.context.new_cdp_session(page)
    try:
        async with watching(page, settings) as browser:
            yield Episode(asked, _Own(browser), reader)
    finally:
        await reader.detach()
