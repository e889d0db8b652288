"""What the forms of the page may ask for, and the `vision-agent` command that does it.

A form chooses the values of a few options and never the options: each is given as `--option=value`, and what a person
wrote freely stands after `--` or comes on stdin, so that a goal that begins with `-` is a goal.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import parse
from vision_agent.models.own_decider import is_own_decider
from vision_agent.record.store import new_run_id
from vision_agent.settings import full_model_name
from vision_agent.settings_faults import fault_words

Approve = Literal["never", "risky", "always"]
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,199}")
_ALONE = ("human", "steps")
"""Names that are no models: a person at the terminal, and step lines."""
_Positive = Annotated[float, Field(gt=0, le=10**6)]


class _Form(FrozenModel):
    """What every form has: who decides, limits, and what a person is asked about."""

    decides: Literal["model", "steps"] = "model"
    model: str = Field(default="", max_length=200)
    """Empty for the model of the settings."""
    steps: str = Field(default="", max_length=100_000)
    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    max_seconds: _Positive | None = None
    max_cost: _Positive | None = None
    approve: Approve = "never"

    @field_validator("max_steps", "max_seconds", "max_cost", mode="before")
    @classmethod
    def _unset_if_empty(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("model")
    @classmethod
    def _a_model(cls, name: str) -> str:
        name = full_model_name(name.strip())
        # A decider of one's own is code, which only the terminal loads.
        if name in _ALONE or is_own_decider(name) or (name and not _MODEL.fullmatch(name)):
            raise ValueError("give the name of a model, such as anthropic:claude-sonnet-5-5")
        return name

    @field_validator("steps")
    @classmethod
    def _whole_lines(cls, text: str) -> str:
        return "\n".join(line.rstrip() for line in text.splitlines())

    @model_validator(mode="after")
    def _with_lines(self) -> _Form:
        lines = [line for line in self.steps.splitlines() if line.strip() and not line.strip().startswith("#")]
        if self.decides != "steps":
            return self
        if not lines:
            raise ValueError("write one step line or more, such as: click Sign in")
        try:
            parse(self.steps.splitlines())
        except UsageError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def _options(self) -> list[str]:
        found = [f"--steps={_STDIN}"] if self.decides == "steps" else [f"--model={self.model}"] * bool(self.model)
        found += [f"--max-steps={self.max_steps}"] if self.max_steps is not None else []
        found += [f"--max-seconds={self.max_seconds:g}"] if self.max_seconds is not None else []
        found += [f"--max-cost={self.max_cost:g}"] if self.max_cost is not None else []
        # With its supervision page, a person can also answer what the run asks.
        return [*found, f"--approve={self.approve}", *(["--supervise"] if self.approve != "never" else [])]

    @property
    def _stdin(self) -> str:
        return self.steps + "\n" if self.decides == "steps" else ""


_STDIN = "-"


class StartForm(_Form):
    """A new run."""

    url: str = Field(max_length=8000)
    goal: str = Field(default="", max_length=20_000)
    instructions: str = Field(default="", max_length=20_000)

    @field_validator("url", "goal", "instructions")
    @classmethod
    def _printable(cls, text: str) -> str:
        if "\0" in text:
            raise ValueError("no text has a zero character in it")
        return text.strip()

    @field_validator("url")
    @classmethod
    def _an_address(cls, text: str) -> str:
        if not text:
            raise ValueError("give the address that the run begins at, such as shop.example")
        return text

    @model_validator(mode="after")
    def _with_goal(self) -> StartForm:
        if self.decides == "model" and not self.goal:
            raise ValueError("say what is to be done")
        return self


class ResumeForm(_Form):
    """A stopped run that goes on in its own folder."""


class ReplayForm(FrozenModel):
    """The recorded steps of a run, done again."""

    approve: Literal["", "never"] = ""
    """Empty for what was recorded."""


@dataclass(frozen=True)
class Order:
    """A command to start, and the run folder that it writes to."""

    folder: Path
    arguments: tuple[str, ...]
    """Those of `vision-agent`."""
    stdin: str = ""

    @property
    def shown(self) -> str:
        """The command to paste into a shell, with the step lines; it makes a run folder of its own."""
        end = self.arguments.index("--")
        options = [each for each in self.arguments[:end] if not each.startswith("--name=")]
        command = shlex.join(("vision-agent", *options, *self.arguments[end:]))
        return f"{command} {_here_document(self.stdin)}" if self.stdin else command


def _here_document(text: str) -> str:
    """The text as a shell gives it to a command, unchanged; no line of it is the end."""
    end = "LINES"
    while end in text.splitlines():
        end += "_"
    return f"<<'{end}'\n{text}{end}"


def start_order(form: StartForm, runs: Path, now: datetime) -> Order:
    """The command of a new run."""
    name = new_run_id(now)
    goal = [form.goal] if form.goal else []
    how = [f"--instructions={form.instructions}"] if form.instructions else []
    command = ("run", f"--runs={runs}", f"--name={name}", *form._options, *how, "--", form.url, *goal)
    return Order(runs / name, command, form._stdin)


def resume_order(form: ResumeForm, folder: Path) -> Order:
    """The command that continues a run."""
    return Order(folder, ("resume", *form._options, "--", str(folder)), form._stdin)


def replay_order(form: ReplayForm, folder: Path, runs: Path, now: datetime) -> Order:
    """The command that replays a run."""
    name = new_run_id(now)
    approve = [f"--approve={form.approve}"] if form.approve else []
    return Order(runs / name, ("replay", f"--runs={runs}", f"--name={name}", *approve, "--", str(folder)))


def faults_of(error: ValidationError) -> Mapping[str, str]:
    """By field, or by the empty name for the form as a whole, what is wrong with it."""
    return {".".join(map(str, each["loc"])): _sentence(fault_words(each)) for each in error.errors()}


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
