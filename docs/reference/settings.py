"""The page of settings, from the settings models."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vision_agent.geometry import Size
from vision_agent.settings import Settings
from vision_agent.settings_trust import rule_of

from .docstrings import attribute_docstrings, first_docstring, module_prose
from .fields import bounds, type_words, value_words
from .markdown import markdown_page, prose


def settings_page() -> str:
    """The page: each setting by its table."""
    parts = ["# Settings", *module_prose("vision_agent.settings")]
    parts.append(
        "Nested keys are tables of the file: `browser.headless` is the key `headless` in `[browser]`. "
        "Values of environment variables for lists and tables are JSON. "
        "The last line of each key says what `vision-agent.toml` in the current folder may do to it before "
        "[`vision-agent trust`](cli.md#vision-agent-trust)."
    )
    groups: dict[str, list[tuple[str, FieldInfo]]] = {}
    for key, field in settings_keys():
        groups.setdefault(key.rpartition(".")[0], []).append((key, field))
    for group, fields in groups.items():
        parts.append(f"## `[{group}]` {{ #{group} }}" if group else "## Top level")
        parts += [prose(first_docstring(settings_model(group)))] if group else []
        for key, field in fields:
            parts += _setting(key, field)
    return markdown_page(parts)


def settings_keys() -> Iterator[tuple[str, FieldInfo]]:
    """Each setting with its full key, such as `browser.proxy.server`."""
    yield from _keys_of(Settings, "")


def _keys_of(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    nested = []
    for name, field in model.model_fields.items():
        inner = _model_in(field.annotation)
        if inner is None or inner is Size:
            yield f"{prefix}{name}", field
        else:
            nested.append((name, inner))
    for name, inner in nested:
        yield from _keys_of(inner, f"{prefix}{name}.")


def settings_model(group: str) -> type[BaseModel]:
    """The model of a table, such as `browser.proxy`."""
    model: type[BaseModel] = Settings
    for name in group.split("."):
        inner = _model_in(model.model_fields[name].annotation)
        assert inner is not None
        model = inner
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    options = get_args(annotation) if get_origin(annotation) in (typing.Union, UnionType) else (annotation,)
    return next((each for each in options if inspect.isclass(each) and issubclass(each, BaseModel)), None)


def environment_name(key: str) -> str:
    """The environment variable of a setting."""
    prefix = str(Settings.model_config["env_prefix"])
    return prefix + str(Settings.model_config["env_nested_delimiter"]).join(key.upper().split("."))


def _setting(key: str, field: FieldInfo) -> list[str]:
    group = key.rpartition(".")[0]
    model = settings_model(group) if group else Settings
    described = attribute_docstrings(model).get(key.rpartition(".")[2], "")
    facts = [
        f"**Type:** {type_words(field.annotation)}{bounds(field)}",
        f"**Default:** {value_words(field)}",
        f"**Environment:** `{environment_name(key)}`",
        f"**File of a folder, not trusted:** {rule_of(key)}",
    ]
    return [f"### `{key}` {{ #{key} }}", prose(described), "  \n".join(facts)]


def setting_groups() -> list[str]:
    """The names of all tables."""
    return list(dict.fromkeys(key.rpartition(".")[0] for key, _ in settings_keys() if "." in key))
