"""The pages of the Python API."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Iterator
from importlib import import_module
from types import UnionType
from typing import Literal, get_origin

from pydantic import BaseModel

import vision_agent
from vision_agent import actions
from vision_agent.settings import Settings

from .actions import action_classes
from .docstrings import docstring_parts, docstrings_in, first_docstring, module_prose, module_sentence, module_tree
from .fields import DATA_MODULES, field_rows, type_words
from .markdown import markdown_page, markdown_table, prose
from .settings import setting_groups, settings_model

PYTHON_PAGES = {
    "vision_agent": ("Public names", ()),
    "vision_agent.actions": ("Actions", ()),
    "vision_agent.observation": ("What a look tells", ()),
    "vision_agent.types": ("Data model", ()),
    "vision_agent.exemplars": ("Exemplars", ()),
    "vision_agent.geometry": ("Points, sizes and boxes", ()),
    "vision_agent.settings": ("Settings", ()),
    "vision_agent.errors": ("Errors", ()),
    "vision_agent.custom_actions": ("Custom actions", ()),
    "vision_agent.ports": ("Protocols", ()),
    "vision_agent.sync_api": ("Sync API", ()),
    "vision_agent.session": ("Agent and observation", ("wired_agent", "looking")),
    "vision_agent.policy.approval": ("Approval", ()),
    "vision_agent.supervise.page_approver": ("Supervision page", ()),
    "vision_agent.models.offline": ("Deciders without a model", ("steps", "scripted")),
    "vision_agent.vision.labels": ("Annotated pictures", ("annotated",)),
    "vision_agent.vision.icons": ("Names of icons", ("named",)),
    "vision_agent.browser": ("Attached and fake browsers", ("live", "fake")),
    "vision_agent.record": ("Run folders", ("store", "read", "verify")),
}
"""The modules with a page of their own, and which of their submodules it shows."""


def python_pages() -> dict[str, str]:
    """The pages of the Python API by path."""
    made = {"reference/python/index.md": _python_index()}
    for module, (title, submodules) in PYTHON_PAGES.items():
        if module == "vision_agent":
            continue
        text = [f"# {title}"]
        if module in DATA_MODULES:
            text += _data_module(module)
        else:
            text += [f"::: {each}" for each in [f"{module}.{name}" for name in submodules] or [module]]
        made[f"reference/python/{module.rpartition('.')[2]}.md"] = markdown_page(text)
    return made


def _data_module(module: str) -> Iterator[str]:
    yield from module_prose(module)
    tree = module_tree(module)
    described = docstrings_in(tree.body)
    public = [each for each in tree.body if not getattr(each, "name", "").startswith("_")]
    for function in (each for each in public if isinstance(each, ast.FunctionDef)):
        yield _member(f"{module}.{function.name}", level=2)
    for made in (each for each in public if isinstance(each, ast.ClassDef)):
        yield from _data_class(getattr(import_module(module), made.name))
    for assigned in (each for each in public if isinstance(each, ast.Assign)):
        for name in (each.id for each in assigned.targets if isinstance(each, ast.Name)):
            yield from _alias_of_types(module, name, described)


def _data_class(made: type) -> Iterator[str]:
    name = f"{made.__module__}.{made.__name__}"
    if made in action_classes():
        kind = made.model_fields["kind"].default  # type: ignore[attr-defined]
        yield f"## `{made.__name__}` {{ #class-{kind} }}\n\nThe action [`{kind}`](../actions.md#action-{kind})."
        return
    yield f"## `{made.__name__}` {{ #{name} }}"
    yield from docstring_parts(made)
    if made.__module__ == "vision_agent.settings" and made is not Settings:
        group = next(group for group in setting_groups() if settings_model(group) is made)
        yield f"Its fields are the keys of [`[{group}]`](../settings.md#{group})."
    elif made is Settings:
        yield "Its fields are the [settings](../settings.md)."
    elif issubclass(made, BaseModel):
        yield markdown_table(("Field", "Type", "Default", "Meaning"), field_rows(made))
    for member, value in vars(made).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield _member(f"{name}.{member}", level=3)


def _member(name: str, level: int) -> str:
    shown = {"heading": "true", "toc_entry": "true", "full_path": "false"}
    lines = [f"      heading_level: {level}", *(f"      show_root_{what}: {value}" for what, value in shown.items())]
    return "\n".join([f"::: {name}", "    options:", *lines])


def _alias_of_types(module: str, name: str, described: dict[str, str]) -> Iterator[str]:
    value = getattr(import_module(module), name)
    if value is actions.Target:  # it has a section of its own, above the actions
        return
    if name[0].isupper() and not name.isupper() and get_origin(value) in (Literal, typing.Union, UnionType):
        yield f"## `{name}` {{ #{module}.{name} }}"
        yield prose(described.get(name, ""))
        yield f"One of {type_words(value)}." if get_origin(value) is Literal else ""


def _python_index() -> str:
    rows = []
    for name in vision_agent.__all__:
        home = _home_of(name)
        page = _page_of(home)
        what = first_docstring(getattr(vision_agent, name)) if name != "Action" else "Any action, told apart by `kind`."
        rows.append(
            (f"[`{name}`]({page}#{home}.{name})" if name != "Action" else f"[`{name}`](../actions.md)", prose(what))
        )
    others = [
        (f"[`{module}`]({module.rpartition('.')[2]}.md)", prose(module_sentence(module)))
        for module in PYTHON_PAGES
        if module != "vision_agent"
    ]
    return markdown_page(
        [
            "# Python API",
            "These names are imported from `vision_agent`:",
            markdown_table(("Name", "What it is"), rows),
            "These modules hold the rest that a caller may need:",
            markdown_table(("Module", "What it has"), others),
            "Names that begin with an underscore, and modules without a page here, can change at any time.",
        ]
    )


def _home_of(name: str) -> str:
    made = getattr(vision_agent, name)
    module = getattr(made, "__module__", "")
    if name == "Action" or not module.startswith("vision_agent"):
        return "vision_agent.actions"
    return str(module)


def _page_of(module: str) -> str:
    for page, (_, submodules) in PYTHON_PAGES.items():
        if module == page or module in [f"{page}.{each}" for each in submodules]:
            return f"{page.rpartition('.')[2]}.md"
    raise LookupError(f"{module} has no page in the reference; add it to PYTHON_PAGES")
