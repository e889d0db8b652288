"""Follows a task's own lines: the ceiling for what marks, cells, points and gestures can do on an application.

A line names things of the application in braces, as in `drag {lamp} to {desk}`. The application says where they are,
from the objects of its library; everything else is the product's own way from a step line to its action.
`solver` presses at their points. `marks` names the mark or the cell on each of them, and gives up where there is none;
only empty ground, such as the place where something is dropped, is a point for both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.actions import Action, Finish, Wait
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.models.offline.steps import all_done
from vision_agent.observation import Mark, Observation
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task

SOLVERS = ("solver", "marks")

_THING = re.compile(r"\{([^{}]+)\}")
_WHERE = "name => window.canvasBench ? window.canvasBench.where(name) ?? null : undefined"
_GROUND = "at:"
"""Names of empty places begin so: there is nothing that could have a mark."""
_ANSWER_S = 10.0
_LOOKS_AGAIN = (0.3, 0.7, 1.0, 2.0)
"""Seconds before each further look for what is not there yet, or was refused."""
_LARGER = 4.0
"""How many times larger than the thing its mark may be: a mark of the whole drawing is none of it."""


class _Missing(Exception):
    """The thing is not there, or has no mark."""


class SceneModel(Model):
    """Carries out a task's lines, one per step."""

    def __init__(self, name: str, page: Page, lines: Sequence[str]) -> None:
        self.name = name
        self._page = page
        self._lines = tuple(lines)
        self._next = 0
        self._tried = 0
        """How often the line was looked for in vain, or refused."""
        self._has_acted = False

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The action of the next line, or the end."""
        del task, complaint
        if self._has_acted:
            refused = next((each for each in steps[-1].outcomes if each.status != "done"), None)
            if refused is None:
                self._next, self._tried = self._next + 1, 0
            elif refused.status == "partial" or self._tried >= len(_LOOKS_AGAIN):
                return self._give_up(refused.sentence)
            else:
                self._tried += 1
        self._has_acted = False
        if self._next >= len(self._lines):
            return self._decision("End", Finish(answer=all_done(len(self._lines))))
        line = self._lines[self._next]
        try:
            action = await self._action(line, observation)
        except (_Missing, NotFoundError, PlaywrightError, TimeoutError) as error:
            if self._tried >= len(_LOOKS_AGAIN):
                return self._give_up(str(error))
            pause = Wait(seconds=_LOOKS_AGAIN[self._tried])
            self._tried += 1
            return self._decision(f"look again for: {line}", pause)
        self._has_acted = True
        return self._decision(line, action)

    async def _action(self, line: str, seen: Observation) -> Action:
        text = line
        for name in dict.fromkeys(_THING.findall(line)):
            text = text.replace(f"{{{name}}}", self._target(name, await self._box(name), seen))
        (parsed,) = parse([text])
        return parsed.build(seen)

    async def _box(self, name: str) -> Box:
        async with asyncio.timeout(_ANSWER_S):
            found = await self._page.evaluate(_WHERE, name)
        if not found:
            raise _Missing(f"the application shows no {name!r}")
        return Box.model_validate(found)

    def _target(self, name: str, box: Box, seen: Observation) -> str:
        if self.name == "marks" and not name.startswith(_GROUND):
            return _mark_on(name, box, seen)
        point = seen.marked.map.to_picture(box.center)
        return f"({max(0.0, point.x):.2f}, {max(0.0, point.y):.2f})"

    def _give_up(self, why: str) -> Decision:
        answer = f"{self._lines[self._next]!r} was not carried out: {why}"
        return self._decision("give up", Finish(success=False, answer=answer))

    def _decision(self, goal: str, action: Action) -> Decision:
        return Decision(next_goal=goal, actions=(action,), author="scripted", model=self.name)


def _mark_on(name: str, box: Box, seen: Observation) -> str:
    """The mark or the cell on a thing, as a line names it."""
    on = [mark for mark in seen.marks if _lies_in(mark, box)]
    if on:
        return f"[{min(on, key=lambda mark: _area(mark.box)).number}]"
    for mark in seen.marks:
        for row, column, x, y, width, height in mark.grid.cells if mark.grid is not None else ():
            cell = Box(x=x, y=y, width=width, height=height)
            if cell.contains(box.center) and _area(cell) <= _LARGER * max(_area(box), 1.0):
                return f"row {row} column {column} of [{mark.number}]"
    raise _Missing(f"there is no mark on {name!r}")


def _lies_in(mark: Mark, box: Box) -> bool:
    return box.contains(mark.point) and _area(mark.box) <= _LARGER * max(_area(box), 1.0)


def _area(box: Box) -> float:
    return box.width * box.height


def check_lines(lines: Sequence[str]) -> None:
    """Check that the lines can be parsed, whatever the things in braces turn out to be.

    Raises:
        UsageError: one cannot.
    """
    try:
        parse([_THING.sub("(1, 1)", line) for line in lines])
    except UsageError as error:
        raise UsageError(f"The lines of a task cannot be followed: {error}") from error
