"""Exemplars: what worked before, shown to a model before the steps of its own run. Knows no memory and no run."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from vision_agent.base_model import FrozenModel
from vision_agent.observation import Kind, Shot


class PastAct(FrozenModel):
    """One action of an exemplar and its outcome."""

    action: dict[str, JsonValue]
    """The fields that were set. A mark is named by its line in the listing without the number, a point by its share of
    the picture: numbers and points of an old page mean nothing on a new one."""
    outcome: str


class PastTurn(FrozenModel):
    """One step of an exemplar: a condensed observation, the decision, and the outcomes."""

    url: str
    """Without the values of its query and fragment."""
    title: str
    lines: tuple[str, ...] = ()
    """The most relevant lines of the listing, without numbers."""
    kinds: dict[Kind, int] = {}
    """The number of marks of each kind."""
    judgement: Literal["success", "failure", "unknown"] = "unknown"
    memory: str = ""
    next_goal: str = ""
    acts: tuple[PastAct, ...]
    picture: Shot | None = None
    """Small, and without marks."""


VerifiedBy = Literal["checks", "judge", "person", "unknown"]
"""What says that a run did its task, other than the model that did it. `unknown`: nothing does, or an earlier version
learned the run, which did not ask."""


class Standing(FrozenModel):
    """How often a run that was shown an exemplar verifiably succeeded, and how often that or a replay failed."""

    helped: int = Field(default=0, ge=0, le=10**9)
    failed: int = Field(default=0, ge=0, le=10**9)


class Exemplar(FrozenModel):
    """A run that did its task, condensed to be shown to a model on a similar task."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """The run's id, which also names the exemplar's file."""
    goal: str
    site: str
    """The host of the first page; empty if it has none."""
    learned_at: datetime
    run: str
    """The id of the run it was learned from."""
    head: str
    """The head (hash of the last line) of that run's record."""
    turns: tuple[PastTurn, ...] = Field(min_length=1)
    answer: str = ""
    verified_by: VerifiedBy = "unknown"
    standing: Standing = Standing()


class Recalled(FrozenModel):
    """What the memory found for a task on a page."""

    exemplar: Exemplar | None = None
    """None if no similar task is stored."""
    why: str = ""
    """For a person: what is similar, and how many of the best three agreed."""
    warnings: tuple[str, ...] = ()
    """Files that could not be read; they are left as they are."""
