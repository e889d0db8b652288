"""Says what is wrong with a value that was set, what is allowed there, and which key or word was probably meant."""

from __future__ import annotations

import difflib
import re
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from vision_agent.base_model import words_of
from vision_agent.text.escape import printable_line

_KINDS_OF_NUMBER = {
    **dict.fromkeys(("int_parsing", "int_from_float", "int_type"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
}
_BOUNDS = {
    "greater_than": ("gt", "it must be more than {}"),
    "greater_than_equal": ("ge", "it must be {} or more"),
    "less_than": ("lt", "it must be less than {}"),
    "less_than_equal": ("le", "it must be at most {}"),
}
"""For each kind of fault of a number the name of its bound, and what is allowed."""


def fault_list(error: ValidationError, model: type[BaseModel]) -> str:
    """Each wrong key of a model with what is allowed, or with the key that was probably meant."""
    return "; ".join(_fault(each, model) for each in error.errors())


def _fault(fault: ErrorDetails, model: type[BaseModel]) -> str:
    loc = fault["loc"]
    key = printable_line(".".join(map(str, loc)))
    if fault["type"] != "extra_forbidden":
        return f"{key}: {fault_words(fault)}"
    for name in loc[:-1]:
        inner = _model_in(model.model_fields[str(name)].annotation) if str(name) in model.model_fields else None
        if inner is None:
            return f"{key}: there is no such key"
        model = inner
    return f"{key}: there is no such key{key_meant(str(loc[-1]), model)}"


def key_meant(name: str, model: type[BaseModel]) -> str:
    """The key of a model that was probably meant, or all that there are, as the end of a sentence."""
    near = difflib.get_close_matches(name.lower(), model.model_fields, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(model.model_fields)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of a field, also of one that may be None."""
    kinds = (annotation, *get_args(annotation))
    return next((each for each in kinds if isinstance(each, type) and issubclass(each, BaseModel)), None)


def fault_words(fault: ErrorDetails) -> str:
    """What is allowed, for a number or one of several words; otherwise what is wrong with the value."""
    kind = fault["type"]
    if kind == "literal_error" and (near := _word_meant(fault)):
        return f"{fault['msg']}; did you mean {near}?"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return words.format(f"{fault['ctx'][bound]:,}".removesuffix(".0"))
    if kind in _KINDS_OF_NUMBER:
        return f"it must be {_KINDS_OF_NUMBER[kind]}"
    return words_of(fault)


def wrong_value(flag: str, fault: ErrorDetails) -> str:
    """What a flag takes, if that is one of several words or a number; otherwise what is wrong with its value."""
    name, shown = flag.partition(" ")[0], printable_line(str(fault["input"]))
    match fault["type"]:
        case "literal_error":
            words = fault["ctx"]["expected"].replace("'", "")
            near = _word_meant(fault)
            return f"{name} takes {words}" + (f"; did you mean {near}?" if near else f", not {shown}")
        case kind if kind in _KINDS_OF_NUMBER:
            return f"{name} takes {_KINDS_OF_NUMBER[kind]}, not {shown}"
    return f"{flag}: {fault_words(fault)}"


def _word_meant(fault: ErrorDetails) -> str:
    """The allowed word that is probably meant; empty if none is near."""
    allowed = re.split(", | or ", fault["ctx"]["expected"].replace("'", ""))
    return next(iter(difflib.get_close_matches(str(fault["input"]).lower(), allowed, n=1)), "")
