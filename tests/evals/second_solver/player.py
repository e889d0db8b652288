"""Looks and acts for a strategy, as an agent does, and notes every refusal and whether points were used.

It knows the product's public actions and no task.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from second_solver.view import View
from vision_agent import actions
from vision_agent.actions import Action, Cell, Point, Target
from vision_agent.browser.live import LiveBrowser
from vision_agent.observation import Mark
from vision_agent.types import Outcome

Thing = Mark | Point | Cell
"""What is acted on: a mark, a cell of one, or a point of the page in CSS pixels."""
_COUNTERS = re.compile(r"Last reward:.*?Episodes done:\s*(?:\d+|-)", re.DOTALL)
"""What the environment writes beside the task."""
_TRIES = 3
_FINE = 1.0
"""Size in CSS pixels of a grid cell that is small enough."""


class GivenUp(Exception):
    """The strategy cannot go on; says what it looked for or what was refused."""


@dataclass(frozen=True)
class Refusal:
    """An action that the product did not carry out."""

    action: str
    sentence: str
    is_repeated: bool
    """The same was refused before."""


class Player:
    """What a strategy can see and do."""

    def __init__(self, goal: str, browser: LiveBrowser, *, may_use_points: bool = True) -> None:
        self.goal = goal
        self.may_use_points = may_use_points
        """Otherwise only marks and their cells are named."""
        self.used_points = False
        self.used_cells = False
        self.count = 0
        """Actions so far."""
        self.refusals: list[Refusal] = []
        self.trace: list[str] = []
        """Every action and its outcome, for a person."""
        self._browser = browser
        self._view: View | None = None
        self._is_old = False

    async def look(self) -> View:
        """Looks at the page again."""
        self._view, self._is_old = View(await self._browser.observe()), False
        return self._view

    async def view(self) -> View:
        """The last view, renewed if something was done since."""
        return await self.look() if self._view is None or self._is_old else self._view

    async def once(self) -> View:
        """The last view, however old; the first one if there is none yet."""
        return self._view or await self.look()

    async def until(self, found: Callable[[View], object], patience_s: float = 6.0) -> View:
        """Looks until something shows.

        Raises:
            GivenUp: it does not show in time.
        """
        until = time.monotonic() + patience_s
        view = await self.view()
        while not found(view):
            if time.monotonic() > until:
                raise GivenUp(f"what was expected does not show:\n{view.seen.listing}")
            await self.do(actions.Wait(seconds=0.3))
            view = await self.look()
        return view

    async def do(self, action: Action) -> Outcome:
        """The outcome of one action on the last view; a refusal is noted."""
        view = self._view or await self.look()
        self._note(action)
        self.count += 1
        outcome = await self._browser.act(action, view.seen)
        self._is_old = True
        self.trace.append(f"{action!r} -> {outcome.status}, {outcome.effect}: {outcome.sentence}")
        if outcome.status != "done":
            before = any(each.sentence == outcome.sentence for each in self.refusals)
            self.refusals.append(Refusal(repr(action), f"{outcome.status}: {outcome.sentence}", before))
        return outcome

    def _note(self, action: Action) -> None:
        targets = [*actions.targets_of(action), *getattr(action, "path", ())]
        if not self.may_use_points and any(isinstance(each, Point) for each in targets):
            raise GivenUp(f"only a point could be named: {action!r}")
        self.used_points |= any(isinstance(each, Point) for each in targets)
        self.used_cells |= any(isinstance(each, Cell) for each in targets)

    # --- one action on one thing ------------------------------------------------------------------------------------

    async def on(self, thing: Thing, build: Callable[[Target], Action]) -> Outcome:
        """Acts on a thing; after a refusal it looks again and repeats it on the same mark.

        Raises:
            GivenUp: it is refused each time, or the mark is gone.
        """
        sentence = ""
        for _ in range(_TRIES):
            view = await self.view()
            now = view.again(thing) if isinstance(thing, Mark) else thing
            if now is None:
                raise GivenUp(f"{thing.tag if isinstance(thing, Mark) else thing} is gone; {sentence}")
            outcome = await self.do(build(self.target(now)))
            if outcome.status != "refused":
                return outcome
            sentence = outcome.sentence
        raise GivenUp(f"refused {_TRIES} times: {sentence}")

    def target(self, thing: Thing) -> Target:
        """What an action on the last view names."""
        if isinstance(thing, Mark):
            return thing.number
        if isinstance(thing, Point):
            assert self._view is not None
            return self._view.seen.marked.map.to_picture(thing)
        return thing

    async def click(self, thing: Thing, **how: object) -> Outcome:
        """Clicks it."""
        return await self.on(thing, lambda target: actions.Click.model_validate({"target": target, **how}))

    async def type(self, text: str, into: Thing) -> Outcome:
        """Types a text instead of what is there."""
        return await self.on(into, lambda target: actions.Type(target=target, text=text))

    async def tick(self, mark: Mark, checked: bool = True) -> Outcome:
        """Ticks or unticks a box."""
        return await self.on(mark, lambda target: actions.Check(mark=_number(target), checked=checked))

    async def set(self, mark: Mark, value: str) -> Outcome:
        """Sets a date, a time, a number or a slider."""
        return await self.on(mark, lambda target: actions.Set(mark=_number(target), value=value))

    async def press(self, keys: str, on: Thing | None = None, count: int = 1) -> Outcome:
        """Presses keys, in the thing if one is named."""
        if on is None:
            return await self.do(actions.Press(keys=keys, count=count))
        return await self.on(on, lambda target: actions.Press(keys=keys, target=target, count=count))

    async def drag(self, source: Thing, to: Thing | actions.Offset) -> Outcome:
        """Drags one thing to another, or by a distance."""

        def build(target: Target) -> Action:
            return actions.Drag(source=target, target=to if isinstance(to, actions.Offset) else self.target(to))

        return await self.on(source, build)

    async def scroll(self, mark: Mark, direction: Literal["up", "down"], pages: float = 0.7) -> Outcome:
        """Scrolls what the mark stands for or is in."""
        return await self.on(mark, lambda target: actions.Scroll(target=target, direction=direction, pages=pages))

    async def read(self, what: Literal["view", "page"] = "page") -> str:
        """The text of the page, without the goal."""
        outcome = await self.do(actions.Read(what=what))
        return _COUNTERS.sub("", outcome.read).replace(self.goal, "", 1).strip()

    async def wait(self, seconds: float) -> None:
        """Waits."""
        await self.do(actions.Wait(seconds=seconds))

    async def submit(self, *names: str) -> None:
        """Presses the button that ends most tasks.

        Raises:
            GivenUp: there is none.
        """
        await self.click(await self.find(*(names or ("Submit",))))

    async def find(self, *names: str) -> Mark:
        """The first mark with one of these names; buttons come first.

        Raises:
            GivenUp: there is none.
        """
        view = await self.view()
        for name in names:
            if found := view.named(name, "button", "input") or view.named(name):
                return found[0]
        raise GivenUp(f"no mark is named {' or '.join(names)}:\n{view.seen.listing}")

    # --- places without a mark --------------------------------------------------------------------------------------

    async def place(self, x: float, y: float, over: Mark | None = None, fine: float = _FINE) -> Cell | Point:
        """A place of the page: a cell of `over` or of the surface under it, at most `fine` CSS pixels large, else a
        point.

        It may zoom, so it must be called right before the action.
        """
        here = Point(x=x, y=y)
        if over is not None and self._view is not None and (known := _cell_at(self._view, here, fine)):
            return known
        view = await self.view()
        under = [mark for mark in view.marks if mark.kind == "surface" and mark.box.contains(here)]
        if over is not None and (now := view.again(over)) is not None:
            under = [now]
        if not under:
            return here
        return await self._cell(under[0], here, fine) or here

    def centre(self, thing: Point | Cell) -> Point:
        """The middle of a cell of the last view, or the point itself, in CSS pixels."""
        if isinstance(thing, Point):
            return thing
        assert self._view is not None
        mark = self._view.seen.mark(thing.mark)
        assert mark is not None
        assert mark.grid is not None
        _, _, x, y, width, height = next(
            each for each in mark.grid.cells if tuple(each[:2]) == (thing.row, thing.column)
        )
        return Point(x=x + width / 2, y=y + height / 2)

    async def _cell(self, surface: Mark, here: Point, fine: float) -> Cell | None:
        over: Target = surface.number
        size = math.inf
        for _ in range(5):
            if (await self.do(actions.Zoom(target=over, grid=True))).status == "refused":
                break
            view = await self.look()
            laid = [mark for mark in view.marks if mark.grid is not None and mark.surface is None]
            if not laid or laid[0].grid is None:
                break
            cells = [each for each in laid[0].grid.cells if _is_in(here, each[2:])]
            if not cells:
                break
            row, column, *_, width, height = cells[0]
            over = Cell(mark=laid[0].number, row=row, column=column)
            if max(width, height) <= fine or max(width, height) > 0.9 * size:  # it gets no finer
                return over
            size = max(width, height)
        await self.look()
        return None


def _cell_at(view: View, here: Point, fine: float) -> Cell | None:
    """A cell of the grid that a view already has."""
    for mark in view.marks:
        if mark.grid is None or mark.surface is not None:
            continue
        for row, column, *edges in mark.grid.cells:
            if _is_in(here, tuple(edges)) and max(edges[2:]) <= fine:
                return Cell(mark=mark.number, row=row, column=column)
    return None


def _is_in(here: Point, edges: tuple[float, ...]) -> bool:
    x, y, width, height = edges
    return x <= here.x < x + width and y <= here.y < y + height


def _number(target: Target) -> int:
    assert isinstance(target, int)
    return target


def quoted(text: str) -> list[str]:
    """The texts in double quotes."""
    return re.findall(r'"([^"]*)"', text)


def ordinal(text: str, of: str) -> int:
    """The index, from 0, of `1st`, `2nd`… before a noun.

    Raises:
        GivenUp: there is none.
    """
    match = re.search(rf"(\d+)(?:st|nd|rd|th) {of}", text)
    if match is None:
        raise GivenUp(f"{text!r} has no {of} with an ordinal")
    return int(match[1]) - 1
