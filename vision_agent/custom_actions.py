"""Custom actions: functions of the caller, offered to the model beside the built-in actions.

    def price_of(article: str) -> str:
        \"\"\"Look up what an article costs.\"\"\"
        return catalogue[article]

    @action(risks=["submit"])
    async def book_seat(context: ActionContext, target: Target, name: str) -> str:
        \"\"\"Book a seat on the plan for a person.\"\"\"
        await context.act(Click(target=target))
        await context.act(Press(keys="Enter"))
        return f"Booked for {name}"

    Agent(task, actions=[price_of, book_seat])

The model sees the function's name, docstring and arguments. The record holds a `Custom` action, which can be read
without the function. This module knows no browser; `browser.live` passes an `ActionContext`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import ErrorDetails, PydanticSerializationError

from vision_agent.actions import ACTIONS, Action, Custom
from vision_agent.base_model import words_of
from vision_agent.errors import Unavailable, UsageError
from vision_agent.observation import Observation
from vision_agent.types import RISKS, Outcome, Refusal, Risk


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
        """Carries out an action, with the same checks as for one that the model chose, and returns its outcome.

        It counts for the task's limits. What a person must approve is refused, unless a person approved the custom
        action with that risk; an allowed custom action may use any built-in action.
        """
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
    can_be_stopped: bool = True
    """Whether its function ends at its deadline; one that runs in a thread goes on."""

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Validates the arguments and returns them for the function.

        Raises:
            ValidationError: an argument is missing or invalid.
        """
        given = self.definition.model_validate({"kind": self.name, **arguments})
        return {name: getattr(given, name) for name in type(given).model_fields if name != "kind"}

    def fault(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with the arguments, by their names; empty if they are valid."""
        try:
            self.validate(arguments)
        except ValidationError as error:
            faults = "; ".join(self._fault(each, arguments) for each in error.errors())
            known = ", ".join(name for name in self.definition.model_fields if name != "kind")
            return f"{faults} (known: {known})" if known else f"{faults}; {self.name} takes no arguments"
        return ""

    def _fault(self, fault: ErrorDetails, arguments: Mapping[str, Any]) -> str:
        where = ".".join(map(str, fault["loc"]))
        if fault["type"] == "missing":
            return f"{self.name} needs {where}"
        if fault["type"] == "extra_forbidden":
            return f"there is no {where}"
        given = json.dumps(arguments.get(str(fault["loc"][0])), ensure_ascii=False, default=str)[:_MOST_SHOWN]
        return f"{fault['loc'][0]} cannot be {given}: {words_of(fault)[:1].lower()}{words_of(fault)[1:]}"


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which cannot be recorded."""
_MOST_SHOWN = 80
"""Characters of an argument that an error shows."""
Function = Callable[..., Any]
ActionFunction = CustomAction | Function
"""A custom action, or a function to make one of."""


@overload
def action(function: Function) -> CustomAction: ...


@overload
def action(*, risks: Sequence[Risk]) -> Callable[[Function], CustomAction]: ...


def action(
    function: Function | None = None, *, risks: Sequence[Risk] | None = None
) -> CustomAction | Callable[[Function], CustomAction]:
    """Makes a custom action from a function, as a decorator.

    The model sees the function's name, its docstring and its arguments, which need type annotations. Arguments named
    `target`, `source` or `mark` must refer to the observation that the model saw. A first parameter that is annotated
    with `ActionContext`, is called `context` or has no annotation receives an `ActionContext`; only an async function
    may have one. A function that is not async runs in a thread.

    Args:
        function: a function with a docstring; used as `@action`. What it returns is told to the model.
        risks: effects that cannot be undone, as in `@action(risks=["pay"])`; empty for none. Without them,
            `--approve risky` asks each time.

    Raises:
        UsageError: the function has no docstring, takes a context without being async, has an argument that JSON cannot
            hold, or declares an unknown risk.
    """
    if unknown := [each for each in risks or () if each not in RISKS]:
        raise UsageError(f"An action cannot have the risk {unknown[0]!r}", f"known risks: {', '.join(RISKS)}")
    if function is None:
        return lambda given: _custom_action(given, tuple(risks or ()))
    return _custom_action(function, None if risks is None else tuple(risks))


def actions_from(given: Sequence[ActionFunction]) -> tuple[CustomAction, ...]:
    """The custom actions; plain functions become some that declare no risks, which counts as risky.

    Raises:
        UsageError: one is neither, cannot be an action, or has the name of another.
    """
    if isinstance(given, CustomAction) or callable(given):
        raise UsageError("actions is a list of functions", f"write actions=[{getattr(given, '__name__', 'function')}]")
    made = tuple(each if isinstance(each, CustomAction) else _custom_action(each, None) for each in given)
    names = [each.name for each in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"Two actions are called {twice}", "rename one of the functions")
    return made


def _custom_action(function: Function, risks: tuple[Risk, ...] | None) -> CustomAction:
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise UsageError(f"{name or type(function).__name__} cannot be an action", "give a function that has a name")
    if not (function.__doc__ or "").strip():
        raise UsageError(
            f"{name} cannot be an action: it has no docstring", "write one that tells the model what it does"
        )
    if name in {each.model_fields["kind"].default for each in ACTIONS} | {"custom"}:
        raise UsageError(f"{name} cannot be an action: the name is taken", "rename the function")
    parameters, hints = list(inspect.signature(function).parameters.values()), _hints(function)
    takes_context = bool(parameters) and _is_context(parameters[0], hints)
    is_async = inspect.iscoroutinefunction(function)
    if takes_context and not is_async:
        raise UsageError(
            f"{name} cannot be an action: it takes {parameters[0].name} and is not async",
            "define it with `async def`, or annotate its first parameter if that is an argument",
        )
    if wrong := next((each for each in parameters if each.kind not in _NAMED), None):
        raise UsageError(f"{name} cannot be an action: a model cannot give {wrong}", "name each argument")
    arguments = parameters[takes_context:]
    if vague := next((each.name for each in arguments if _has_object(hints.get(each.name))), None):
        raise UsageError(f"{name} cannot be an action: its argument {vague!r} has the type object", _TYPES)
    try:
        fields: dict[str, Any] = {each.name: (hints[each.name], _default(each)) for each in arguments}
        definition: type[BaseModel] = create_model(
            name,
            __config__=ConfigDict(frozen=True, extra="forbid"),
            __doc__=inspect.getdoc(function),
            **{"kind": (Literal[name], name), **fields},
        )
        definition.model_json_schema()
    except (KeyError, PydanticUserError, NameError) as error:
        reason = f"its argument {error} has no type" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise UsageError(f"{name} cannot be an action: {reason}", _TYPES) from error
    return CustomAction(name, definition, _runner(function, takes_context, is_async), risks, can_be_stopped=is_async)


_TYPES = "use str, int, float, bool, Target or tuples"
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _hints(function: Function) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise UsageError(
            f"{function.__name__} cannot be an action: the type {error.name} is not known",
            "import it where the function is defined, not only for type checkers",
        ) from error


def _has_object(annotation: Any) -> bool:
    return annotation is object or any(map(_has_object, get_args(annotation)))


def _is_context(first: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    annotation = hints.get(first.name, Any)
    return first.name == "context" or annotation in (Any, ActionContext)


def _runner(function: Function, takes_context: bool, is_async: bool) -> Callable[..., Awaitable[str]]:
    """Calls the function with the context or without, in a thread if it is not async; returns a sentence."""

    async def run(context: ActionContext, **arguments: Any) -> str:
        given = (context,) if takes_context else ()
        call = function(*given, **arguments) if is_async else asyncio.to_thread(function, *given, **arguments)
        return _sentence(await call)

    return run


def _sentence(result: Any) -> str:
    """What a function returned, for the model; without anything it was just done."""
    if result is None or result == "":
        return "Done"
    if isinstance(result, str):
        return result
    try:
        return TypeAdapter(Any).dump_json(result).decode()
    except PydanticSerializationError:
        return str(result)


def unknown_action(name: str, custom: Sequence[CustomAction]) -> str:
    """The error for the name of a custom action that was not given."""
    named = ", ".join(each.name for each in custom)
    known = f"the custom actions are {named}" if named else "no custom action was given"
    return f"there is no action {name}; {known}"


def recordable_action(chosen: BaseModel, custom: Sequence[CustomAction]) -> Any:
    """The action to record and carry out: a custom action as `Custom`, any other unchanged."""
    own = next((each for each in custom if isinstance(chosen, each.definition)), None)
    if own is None:
        return chosen
    return Custom(name=own.name, arguments=chosen.model_dump(mode="json", exclude={"kind"}), risks=own.risks)


async def carry_out(
    chosen: Custom, custom: Sequence[CustomAction], context: ActionContext, deadline_s: float
) -> Outcome:
    """Runs a custom action and returns its outcome.

    An error in its function leaves unknown what was done before, so it is partly done, and not to be repeated. It is a
    refusal if the author declared that the action has no risks.

    Raises:
        Unavailable: the browser or the model is no longer available.
    """
    own = next((each for each in custom if each.name == chosen.name), None)
    if own is None:
        return _refused(f"{chosen.name} was not done: {unknown_action(chosen.name, custom)}")
    if fault := own.fault(chosen.arguments):
        return _refused(f"{chosen.name} was not done: {fault}")
    arguments = own.validate(chosen.arguments)
    try:
        async with asyncio.timeout(deadline_s) as timer:
            sentence = await own.run(context, **arguments)
    except Unavailable:
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Its own: nobody cancelled the run.
        return _cut_short(own, f"{chosen.name} failed: CancelledError: something that it waited for was cancelled")
    except Exception as error:  # noqa: BLE001 - the caller's code may raise anything
        if timer.expired() and not own.can_be_stopped:
            sentence = f"{chosen.name} did not finish within {deadline_s:g} s and goes on in the background."
            return Outcome(status="partial", refusal="timed_out", sentence=sentence)
        if timer.expired():
            return _cut_short(own, f"{chosen.name} did not finish within {deadline_s:g} s and was stopped", "timed_out")
        return _cut_short(own, f"{chosen.name} failed: {type(error).__name__}: {error}")
    return Outcome(status="done", effect="changed", sentence=_with_stop(sentence))


def _cut_short(own: CustomAction, words: str, refusal: Refusal = "unsupported") -> Outcome:
    if own.risks == ():
        return _refused(words, refusal)
    sentence = f"{_with_stop(words)} What it had done by then is not known."
    return Outcome(status="partial", refusal=refusal, sentence=sentence)


def _refused(words: str, refusal: Refusal = "unsupported") -> Outcome:
    return Outcome(status="refused", refusal=refusal, sentence=_with_stop(words))


def _with_stop(text: str) -> str:
    """The text with a full stop, unless it ends as a sentence or as JSON; halves of characters are replaced."""
    text = _HALF_CHARACTER.sub("\ufffd", text).rstrip()
    return text if text.endswith((".", "!", "?", "…", ":", ";", "}", "]")) else f"{text}."


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default
