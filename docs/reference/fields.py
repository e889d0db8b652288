"""Types, limits and defaults of model fields, in words."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from enum import Enum
from html import escape
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from vision_agent import actions
from vision_agent.geometry import Size

from .docstrings import attribute_docstrings
from .markdown import prose

DATA_MODULES = (
    "vision_agent.observation",
    "vision_agent.types",
    "vision_agent.exemplars",
    "vision_agent.actions",
    "vision_agent.settings",
)
"""Modules of data classes: their fields stand in tables."""


def field_rows(model: type[BaseModel], skip: Sequence[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    """A row for each field: its name, type, default and meaning."""
    described = attribute_docstrings(model)
    for name, field in model.model_fields.items():
        if name not in skip:
            kind = f"{type_words(field.annotation)}{bounds(field)}"
            yield f"`{name}`", kind, value_words(field), prose(described.get(name, ""))


def type_words(annotation: Any) -> str:
    """A type in words, with links to the models that have a page."""
    if annotation == actions.Target:
        return "[target][vision_agent.actions.Target]"
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return type_words(parts[0])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(each)}`" for each in parts)
    if origin in (typing.Union, UnionType):
        if set(get_args(actions.Target)) < set(parts):
            rest = [each for each in parts if each not in get_args(actions.Target)]
            return " or ".join([type_words(actions.Target), *map(type_words, rest)])
        return " or ".join(dict.fromkeys(type_words(each) for each in parts))
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return f"list of {type_words(parts[0])}"
        return f"({', '.join(map(type_words, parts))})"
    if origin is dict:
        return f"table of {type_words(parts[0])} to {type_words(parts[1])}"
    if origin is not None:
        return escape(str(annotation))
    plain = {
        str: "text",
        int: "integer",
        float: "number",
        bool: "true or false",
        Path: "path",
        SecretStr: "secret text",
    }
    if annotation in plain:
        return plain[annotation]
    if annotation is NoneType:
        return "none"
    if annotation is datetime:
        return "time"
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return _model_link(annotation)
    return "JSON" if annotation is not Any else "anything"


def _model_link(model: type[BaseModel]) -> str:
    if model.__module__ in DATA_MODULES:
        return f"[`{model.__name__}`][{model.__module__}.{model.__name__}]"
    return f"`{model.__name__}`"


def bounds(field: FieldInfo) -> str:
    """The limits of a field in words; empty if it has none."""
    signs = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "min_length": "length at least"}
    limits = [(words, getattr(each, name, None)) for each in field.metadata for name, words in signs.items()]
    found = [f"{words} {_number(limit)}" for words, limit in limits if limit is not None]
    return f", {' and '.join(found)}" if found else ""


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def value_words(field: FieldInfo) -> str:
    """The default of a field as JSON, or what stands for it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return f"`{json.dumps(value.model_dump(mode='json'))}`" if isinstance(value, Size) else ""
    value = value.value if isinstance(value, Enum) else value
    value = str(value) if isinstance(value, Path | Decimal) else list(value) if isinstance(value, tuple) else value
    return f"`{json.dumps(value, ensure_ascii=False)}`"
