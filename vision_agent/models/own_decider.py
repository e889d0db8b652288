"""Loads a decider that somebody wrote, named as `module:Class`, from the current folder or what is installed.

Only a name that a person gave is loaded, never one from a settings file: loading it runs its code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from vision_agent.errors import UsageError
from vision_agent.models.providers import find_provider, unknown_model
from vision_agent.ports import Model

MakeModel = Callable[[], Model]
_NAME = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<thing>[^\W\d]\w*)")


def is_own_decider(name: str) -> bool:
    """Whether the name is that of a class in a module, and of no provider's model."""
    return find_provider(name) is None and _NAME.fullmatch(name.strip()) is not None


def own_decider(name: str) -> MakeModel:
    """Makes a new decider of the class that `module:Class` names, each time it is called.

    It is made once here, so that what fails fails before a run begins.

    Raises:
        UsageError: the module cannot be imported, has no such class, or that makes no decider.
    """
    named = _NAME.fullmatch(name.strip())
    if named is None:
        raise unknown_model(name)
    module = _imported(named["module"], name)
    thing = getattr(module, named["thing"], None)
    where = getattr(module, "__file__", None) or named["module"]
    if thing is None:
        raise UsageError(f"The decider {name} cannot be loaded: {where} has no {named['thing']}")
    make = thing if callable(thing) else lambda: thing

    def made() -> Model:
        try:
            decider = make()
        except Exception as error:
            raise UsageError(
                f"The decider {name} cannot be made: {type(error).__name__}: {error}",
                "it is called without arguments; the rest is for its own code to find",
            ) from error
        if not callable(getattr(decider, "decide", None)):
            raise UsageError(f"{name} is no decider: it has no decide()", "inherit from vision_agent.ports.Model")
        return cast("Model", decider)

    made()
    return made


def _imported(module: str, name: str) -> Any:
    # At the end: a file in the folder may take the place of nothing that is installed.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        unknown = unknown_model(name)
        raise UsageError(
            f"{unknown.sentence}: there is no module {error.name} in {here} either",
            f"{unknown.hint}, or module:Class of a decider of your own",
        ) from error
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _broken(name: str, error: BaseException) -> UsageError:
    return UsageError(f"The decider {name} cannot be loaded: {type(error).__name__}: {error}", "does it import alone?")
