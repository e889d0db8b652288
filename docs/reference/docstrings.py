"""What docstrings say, their fields' included."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

from .markdown import prose


def module_sentence(module: str) -> str:
    """The first sentence of a module's docstring."""
    return sentence(inspect.getdoc(import_module(module)) or "")


@cache
def attribute_docstrings(model: type) -> dict[str, str]:
    """The text under each field of a class, by the field's name, its bases included."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if each.__module__.startswith("vision_agent"):
            found |= docstrings_in(_class_bodies(each.__module__)[each.__qualname__])
    return found


@cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    """The bodies of a module's classes, by their qualified names."""
    found: dict[str, list[ast.stmt]] = {}

    def look_in(body: list[ast.stmt], prefix: str) -> None:
        for each in body:
            if isinstance(each, ast.ClassDef):
                found[prefix + each.name] = each.body
                look_in(each.body, f"{prefix}{each.name}.")

    look_in(module_tree(module).body, "")
    return found


@cache
def module_tree(module: str) -> ast.Module:
    """A module as it is parsed."""
    return ast.parse(inspect.getsource(import_module(module)))


def docstrings_in(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The text under each assignment of a body, by the name that is assigned."""
    found = {}
    for before, after in pairwise(body):
        targets = before.targets if isinstance(before, ast.Assign) else [getattr(before, "target", None)]
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if is_text and isinstance(before, ast.AnnAssign | ast.Assign) and isinstance(targets[0], ast.Name):
            found[targets[0].id] = inspect.cleandoc(str(after.value.value))  # type: ignore[attr-defined]
    return found


def assigned_docstring(module: str, name: str) -> str:
    """The text under an assignment at the top of a module."""
    return docstrings_in(module_tree(module).body)[name]


def module_prose(module: str) -> list[str]:
    """The paragraphs of a module's docstring, as Markdown."""
    return [prose(each) for each in (inspect.getdoc(import_module(module)) or "").split("\n\n")]


def docstring_parts(thing: Any) -> list[str]:
    """The paragraphs of a docstring, as Markdown."""
    return [prose(each) for each in inspect.cleandoc(thing.__doc__ or "").split("\n\n") if each]


def first_docstring(thing: Any) -> str:
    """The first sentence of a thing's docstring."""
    return sentence(inspect.getdoc(thing) or "")


def sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join(text.split("\n\n")[0].split()).removeprefix("START HERE. ")
    return re.split(r"(?<=[.?!])\s+(?=[A-Z`(])", paragraph)[0]


def sentences(text: str) -> list[str]:
    """Each sentence of a text, as Markdown."""
    return [prose(each) for each in re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.split()))]


def split_indented(text: str) -> tuple[str, str]:
    """The indented block of a docstring, and what stands after it."""
    _, *rest = text.split("\n\n")
    block = next(each for each in rest if each.startswith("    "))
    return textwrap.dedent(block), "\n\n".join(rest[rest.index(block) + 1 :])
