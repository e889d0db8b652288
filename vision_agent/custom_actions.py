"""Custom actions: async functions of the caller, offered to the model beside the built-in actions.

    @action
    async def book_seat(context: ActionContext, target: Target, name: str) -> str:
        \"\"\"Book a seat on the plan for a person.\"\"\"
        await context.act(Click(target=target))
        await context.act(Press(keys="Enter"))
        return f"Booked for {name}"

    Agent(task, actions=[book_seat])

The model sees the function's name, docstring and arguments. The record holds a `Custom` action, which can be read
without the function. This module knows no browser; `browser.live` passes an `ActionContext`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.errors import PydanticUserError

from vision_agent.actions import ACTIONS, Action, Custom
from vision_agent.errors import Unavailable, UsageError
from vision_agent.types import RISKS, Observation, Outcome, Refusal, Risk


class ActionContext(Protocol):
    """What a custom action's function can use."""

    @property
    def page(self) -> Any:
        """The current Playwright page. Input through it is not checked; input through `act` is."""
        ...

    @property
    def observation(self) -> Observation:
        """The observation that the model saw; mark numbers and points refer to it."""
        ...

    async def act(self, action: Action) -> Outcome:
        """Carries out an action, with the same checks as for one that the model chose, and returns its outcome."""
        ...


@dataclass(frozen=True)
class CustomAction:
    """A custom action with its function."""

    name: str
    definition: type[BaseModel]
    """The tool offered to the model: the docstring is its description, the fields are its arguments."""
    run: Callable[..., Awaitable[str]]
    """Called with an `ActionContext` and the arguments; returns a sentence about what was done."""
    risks: tuple[Risk, ...] | None = None
    """The risks of the action, which cannot be undone; None if undeclared, which counts as risky."""

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Validates the arguments and returns them for the function.

        Raises:
            ValidationError: an argument is missing or invalid.
        """
        given = self.definition.model_validate({"kind": self.name, **arguments})
        return {name: getattr(given, name) for name in type(given).model_fields if name != "kind"}


@overload
def action(function: Callable[..., Awaitable[str]]) -> CustomAction: ...


@overload
def action(*, risks: Sequence[Risk]) -> Callable[[Callable[..., Awaitable[str]]], CustomAction]: ...


def action(
    function: Callable[..., Awaitable[str]] | None = None, *, risks: Sequence[Risk] | None = None
) -> CustomAction | Callable[[Callable[..., Awaitable[str]]], CustomAction]:
    """Makes a custom action from a function, as a decorator.

    The function's first parameter receives an `ActionContext`; the others need type annotations. Arguments named
    `target`, `source` or `mark` must refer to the observation that the model saw.

    Args:
        function: an async function with a docstring; used as `@action`.
        risks: effects that cannot be undone, as in `@action(risks=["pay"])`; empty for none. Without them,
            `--approve risky` asks each time.

    Raises:
        UsageError: the function is not async, has no docstring, has an argument that JSON cannot hold, or declares an
            unknown risk.
    """
    if unknown := [each for each in risks or () if each not in RISKS]:
        raise UsageError(f"An action cannot have the risk {unknown[0]!r}", f"known risks: {', '.join(RISKS)}")
    if function is None:
        return lambda given: _custom_action(given, tuple(risks or ()))
    return _custom_action(function, None if risks is None else tuple(risks))


def _custom_action(function: Callable[..., Awaitable[str]], risks: tuple[Risk, ...] | None) -> CustomAction:
    name = getattr(function, "__name__", "an action")
    if not inspect.iscoroutinefunction(function):
        raise UsageError(f"{name} cannot be an action: it is not an async function", "define it with `async def`")
    if not (function.__doc__ or "").strip():
        raise UsageError(
            f"{name} cannot be an action: it has no docstring", "write one that tells the model what it does"
        )
    if name in {each.model_fields["kind"].default for each in ACTIONS} | {"custom"}:
        raise UsageError(f"{name} cannot be an action: the name is taken", "rename the function")
    if not (parameters := list(inspect.signature(function).parameters.values())):
        raise UsageError(
            f"{name} cannot be an action: it has no parameter for the context", "give it a first parameter for that"
        )
    del parameters[0]  # the context
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
    return CustomAction(name, definition, function, risks)


def recordable_action(chosen: BaseModel, custom: Sequence[CustomAction]) -> Any:
    """The action to record and carry out: a custom action as `Custom`, any other unchanged."""
    own = next((each for each in custom if isinstance(chosen, each.definition)), None)
    if own is None:
        return chosen
    return Custom(name=own.name, arguments=chosen.model_dump(mode="json", exclude={"kind"}), risks=own.risks)


async def carry_out(
    chosen: Custom, custom: Sequence[CustomAction], context: ActionContext, deadline_s: float
) -> Outcome:
    """Runs a custom action and returns its outcome; an error in its function becomes a refusal.

    Raises:
        Unavailable: the browser or the model is no longer available.
    """
    own = next((each for each in custom if each.name == chosen.name), None)
    if own is None:
        known = ", ".join(each.name for each in custom) or "none"
        return _refused(f"There is no action {chosen.name}; the custom actions are {known}")
    try:
        arguments = own.validate(chosen.arguments)
    except ValidationError as error:
        return _refused(f"{chosen.name} was not done: {error.errors()[0]['msg']}")
    try:
        async with asyncio.timeout(deadline_s) as timer:
            sentence = await own.run(context, **arguments)
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 - the caller's code may raise anything
        if timer.expired():
            return _refused(f"{chosen.name} did not finish within {deadline_s:g} s and was stopped", "timed_out")
        return _refused(f"{chosen.name} failed: {type(error).__name__}: {error}")
    return Outcome(status="done", effect="changed", sentence=sentence.rstrip(".") + ".")


def _refused(words: str, refusal: Refusal = "unsupported") -> Outcome:
    return Outcome(status="refused", refusal=refusal, sentence=words.rstrip(".") + ".")


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default
