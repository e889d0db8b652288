"""The page of actions, from their classes."""

from __future__ import annotations

import re
from typing import Any

from vision_agent import actions

from .docstrings import assigned_docstring, attribute_docstrings, docstring_parts
from .fields import field_rows
from .markdown import alias, markdown_page, markdown_table, prose


def actions_page() -> str:
    """The page: each action with its fields and properties."""
    parts = [
        "# Actions",
        "An action is one thing to do in the browser. "
        "Each class below is also the tool that a model sees: its description and its arguments. "
        "In Python, import it from `vision_agent.actions`.",
        "[](){ #vision_agent.actions.Target }",
        "## Target { #target }",
        prose(assigned_docstring("vision_agent.actions", "Target")),
        '```text\n12\n{"mark": 11, "row": 3, "column": 7}\n{"x": 412, "y": 233}\n```',
    ]
    for each in action_classes():
        kind = each.model_fields["kind"].default
        # A heading called `set` would be where signatures link Python's own `set` to.
        parts += [alias(each), f"## `{kind}` {{ #action-{kind} }}", *docstring_parts(each)]
        parts.append(f"Class: `vision_agent.actions.{each.__name__}`")
        rows = list(field_rows(each, skip=("kind",)))
        parts += [markdown_table(("Field", "Type", "Default", "Meaning"), rows)] if rows else ["It has no fields."]
        parts.append(_traits_words(each.traits))
    parts += ["## Properties { #properties }", *_trait_meanings()]
    return markdown_page(parts)


def action_classes() -> tuple[Any, ...]:
    """Every action, including custom ones."""
    return (*actions.ACTIONS, actions.Custom)


_TRAIT_NAMES = {
    "only_looks": "only looks",
    "presses": "presses",
    "sets_field": "sets state",
    "informs": "informs",
    "ends_batch": "ends the batch",
    "in_browser": "carried out by the browser",
    "needs_page": "needs a page that answers",
    "is_classified": "risks known",
}


def _traits_words(traits: Any) -> str:
    yes = [words for name, words in _TRAIT_NAMES.items() if getattr(traits, name)]
    return f"[Properties](#properties): {', '.join(yes)}; repeated after a crash: `{traits.repeat}`."


def _trait_meanings() -> list[str]:
    meanings = attribute_docstrings(actions.Traits)
    rows = [(words, prose(meanings.get(name, ""))) for name, words in _TRAIT_NAMES.items()]
    repeats = re.sub(r"(?<!\w)(\w+):", r"`\1`:", assigned_docstring("vision_agent.actions", "Repeat"))
    first, kinds = repeats.split("\n\n")
    found = re.findall(r"(`\w+`): (.+?\.)(?=\s`|$)", " ".join(kinds.split()))
    return [
        markdown_table(("Property", "Meaning"), rows),
        "### Repeated after a crash",
        first,
        markdown_table(("Value", "Meaning"), found),
    ]
