"""The tasks of CanvasBench: what each one asks for, how hard it is, and how its end state is checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import TASKS_FILE

Level = Literal["click", "read", "drag", "long"]
"""One click; read, then act; drag and compare; several of these in a row."""
Half = Literal["tuning", "held out"]
"""Whether the product may be tuned on tasks of a library, or is only measured on them."""


class StateCheck(FrozenModel):
    """What must hold for one value of the end state; exactly one of `is`, `least`, `most` and `holds` is given."""

    at: str
    """The path of the value, such as `pieces.sofa.x`."""
    is_: JsonValue | None = Field(default=None, alias="is")
    """The value, or with `within` a number near it."""
    within: float = 0.0
    least: float | None = None
    most: float | None = None
    holds: str | None = None
    """A text that the value, a text, must contain."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        given = self.model_fields_set & {"is_", "least", "most", "holds"}
        if not given or (len(given) > 1 and given != {"least", "most"}):
            raise ValueError(f"a check of {self.at} says one thing: is, least, most or holds")
        if self.within and not _is_number(self.is_):
            raise ValueError(f"a check of {self.at} is within {self.within:g} of no number")
        return self

    def fault(self, state: JsonValue) -> str:
        """What is wrong with the state, in a sentence; empty if the check holds."""
        found = _value_at(state, self.at)
        if "is_" in self.model_fields_set:
            if self.within:
                holds = _is_number(found) and abs(float(found) - float(self.is_)) <= self.within  # type: ignore[arg-type]
                wanted = f"{self.is_} ± {self.within:g}"
            else:
                holds = found == self.is_ and isinstance(found, bool) == isinstance(self.is_, bool)
                wanted = json.dumps(self.is_, ensure_ascii=False)
        elif self.holds is not None:
            holds = isinstance(found, str) and self.holds in found
            wanted = f"a text with {json.dumps(self.holds, ensure_ascii=False)}"
        else:
            low = float("-inf") if self.least is None else self.least
            high = float("inf") if self.most is None else self.most
            holds, wanted = _is_number(found) and low <= float(found) <= high, f"{low:g} to {high:g}"  # type: ignore[arg-type]
        return "" if holds else f"{self.at} is {json.dumps(found, ensure_ascii=False)}, not {wanted}"


class CanvasTask(FrozenModel):
    """A task on an application."""

    id: str
    level: Level
    goal: str
    steps: tuple[str, ...] = Field(min_length=1)
    """Step lines that lead to the end state; `{sofa}` is where the application says that its sofa is."""
    checks: tuple[StateCheck, ...] = Field(min_length=1)


class Library(FrozenModel):
    """An application of the suite: what it is built with, and its tasks."""

    library: str
    """The package from npm that draws it; its version is in `package.json` beside it."""
    licence: str
    about: str
    half: Half
    tasks: tuple[CanvasTask, ...] = Field(min_length=1)


def libraries(folder: Path) -> dict[str, Library]:
    """The applications in a folder, by the names of their folders.

    Raises:
        UsageError: a file of tasks cannot be read.
    """
    found: dict[str, Library] = {}
    for path in sorted(folder.glob(f"*/{TASKS_FILE}")):
        try:
            found[path.parent.name] = Library.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UsageError(f"{path} does not describe an application: {error}") from error
    return found


def fault_of(checks: tuple[StateCheck, ...], state: JsonValue) -> str:
    """What is wrong with the end state by the first check that fails; empty if all hold."""
    return next((fault for check in checks if (fault := check.fault(state))), "")


def _value_at(state: JsonValue, path: str) -> JsonValue:
    value = state
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
