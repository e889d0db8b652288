"""Actions that a user of the library brings: an async function, offered to a model beside those there are.

    @action
    async def book_seat(hands: Hands, target: Target, name: str) -> str:
        \"\"\"Book a seat of the plan for somebody.\"\"\"
        await hands.act(Click(target=target))
        await hands.act(Press(keys="Enter"))
        return f"Booked for {name}"

    Agent(task, actions=[book_seat])

Its name, its docstring and its arguments are what the model sees. In a record it is a `Custom`, which anybody can read
without the function. Knows no browser: what carries it out hands itself in.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.errors import PydanticUserError

from vision_agent.actions import ACTIONS, Action, Custom
from vision_agent.errors import Unavailable, UsageError
from vision_agent.types import Observation, Outcome, Refusal


class Hands(Protocol):
    """What a function of its own acts with."""

    @property
    def page(self) -> Any:
        """The Playwright page that is looked at. Input through it is neither checked nor recorded; `act` is both."""
        ...

    @property
    def observation(self) -> Observation:
        """What the model saw; numbers and points are of it."""
        ...

    async def act(self, action: Action) -> Outcome:
        """What became of an action, checked as if the model had chosen it."""
        ...


@dataclass(frozen=True)
class CustomAction:
    """An action with a function of its own."""

    name: str
    definition: type[BaseModel]
    """What a model is offered: the docstring is the description, the fields are the arguments."""
    run: Callable[..., Awaitable[str]]
    """Called with hands and the arguments; returns a sentence about what was done."""

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them.

        Raises:
            ValidationError: they do not fit.
        """
        given = self.definition.model_validate({"kind": self.name, **arguments})
        return {name: getattr(given, name) for name in type(given).model_fields if name != "kind"}


def action(function: Callable[..., Awaitable[str]]) -> CustomAction:
    """The action that a function makes. Its first parameter gets the hands, the others need types.

    Arguments called `target`, `source` or `mark` are checked to be in what the model saw.

    Raises:
        UsageError: it is not async, says nothing of what it does, or takes what JSON cannot hold.
    """
    name = getattr(function, "__name__", "an action")
    if not inspect.iscoroutinefunction(function):
        raise UsageError(f"{name} cannot be an action: it is no async function", "begin it with `async def`")
    if not (function.__doc__ or "").strip():
        raise UsageError(
            f"{name} cannot be an action: it has no docstring", "say in one what it does; a model reads it"
        )
    if name in {each.model_fields["kind"].default for each in ACTIONS} | {"custom"}:
        raise UsageError(f"{name} cannot be an action: there is one of that name", "call it otherwise")
    _, *parameters = inspect.signature(function).parameters.values()
    hints = get_type_hints(function, include_extras=True)
    try:
        fields: dict[str, Any] = {each.name: (hints[each.name], _default(each)) for each in parameters}
        definition: type[BaseModel] = create_model(
            name,
            __config__=ConfigDict(frozen=True, extra="forbid"),
            __doc__=inspect.getdoc(function),
            **{"kind": (Literal[name], name), **fields},
        )
        definition.model_json_schema()
    except (KeyError, PydanticUserError) as error:
        reason = f"its argument {error} has no type" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise UsageError(
            f"{name} cannot be an action: {reason}", "use str, int, float, bool, Target or tuples"
        ) from error
    return CustomAction(name, definition, function)


def recorded(chosen: BaseModel, custom: Sequence[CustomAction]) -> Any:
    """The action as it is recorded and carried out: one of a function as `Custom`, any other as it is."""
    if not any(isinstance(chosen, each.definition) for each in custom):
        return chosen
    arguments = chosen.model_dump(mode="json", exclude={"kind"})
    return Custom(name=chosen.kind, arguments=arguments)  # type: ignore[attr-defined]


async def carry_out(chosen: Custom, custom: Sequence[CustomAction], hands: Hands, deadline_s: float) -> Outcome:
    """What became of a function's action. What goes wrong in it is told to the model and ends no run.

    Raises:
        Unavailable: what a run needs is gone.
    """
    own = next((each for each in custom if each.name == chosen.name), None)
    if own is None:
        known = ", ".join(each.name for each in custom) or "none"
        return _refused(f"There is no action {chosen.name} here; those that were brought are {known}")
    try:
        arguments = own.checked(chosen.arguments)
    except ValidationError as error:
        return _refused(f"{chosen.name} was not done: {error.errors()[0]['msg']}")
    try:
        async with asyncio.timeout(deadline_s) as timer:
            said = await own.run(hands, **arguments)
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 - anything may go wrong in code that is not ours
        if timer.expired():
            return _refused(f"{chosen.name} did not end within {deadline_s:g} s and was stopped", "timed_out")
        return _refused(f"{chosen.name} failed: {type(error).__name__}: {error}")
    return Outcome(status="done", effect="changed", sentence=said.rstrip(".") + ".")


def _refused(words: str, refusal: Refusal = "unsupported") -> Outcome:
    return Outcome(status="refused", refusal=refusal, sentence=words.rstrip(".") + ".")


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default
