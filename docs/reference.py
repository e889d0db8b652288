"""Generates the reference pages from the code that they describe.

`pages()` returns each page and each JSON schema by its path; `hooks.py` adds them to the site. Prose that explains a
format stands in the docstrings of the module that owns it where that is possible.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from html import escape
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel, SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

import vision_agent
from vision_agent import actions, events
from vision_agent.browser.observe.listing import GridRow, listing, mark_line
from vision_agent.cli.main import app
from vision_agent.equal_names import distinctions
from vision_agent.errors import VisionAgentError
from vision_agent.models.offline import grammar
from vision_agent.record import store
from vision_agent.settings import Settings
from vision_agent.types import (
    Box,
    Covered,
    Ending,
    Grid,
    Mark,
    MarkState,
    Observation,
    PageMap,
    Run,
    ScrollState,
    Shot,
    Size,
)

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "vision_agent"

PYTHON_PAGES = {
    "vision_agent": ("Public names", ()),
    "vision_agent.actions": ("Actions", ()),
    "vision_agent.types": ("Data model", ()),
    "vision_agent.settings": ("Settings", ()),
    "vision_agent.errors": ("Errors", ()),
    "vision_agent.custom_actions": ("Custom actions", ()),
    "vision_agent.ports": ("Protocols", ()),
    "vision_agent.sync_api": ("Sync API", ()),
    "vision_agent.session": ("Agent and observation", ("agent", "looking")),
    "vision_agent.policy.approval": ("Approval", ()),
    "vision_agent.supervise.page": ("Supervision page", ()),
    "vision_agent.models.offline": ("Deciders without a model", ("steps", "scripted")),
    "vision_agent.browser": ("Attached and fake browsers", ("live", "fake")),
    "vision_agent.record": ("Run folders", ("store", "read", "verify")),
}
"""The modules with a page of their own, and which of their submodules it shows."""


def pages() -> dict[str, str]:
    """The generated files by their path below `docs/pages`."""
    return {
        "reference/index.md": _index(),
        "reference/cli.md": _cli(),
        "reference/settings.md": _settings(),
        "reference/actions.md": _actions(),
        "reference/step-lines.md": _step_lines(),
        "reference/listing.md": _listing(),
        "reference/run-folder.md": _run_folder(),
        "reference/events.md": _events(),
        "reference/exit-codes.md": _exit_codes(),
        "reference/files.md": _files(),
        **_python(),
        **{f"reference/schemas/{name}.schema.json": _json(schema) for name, schema in schemas().items()},
    }


# --- the command line -------------------------------------------------------------------------------------------------


def _cli() -> str:
    parts = [
        "# Command line",
        "Every command takes `--help`. "
        "What a command needs is read from [settings](settings.md) unless an option overrides it. "
        "The [exit codes](exit-codes.md) are the same for all runs.",
    ]
    for path, command in commands():
        parts += _command_section(path, command)
    return _page(parts)


def commands() -> Iterator[tuple[str, Any]]:
    """Each command with its full name, groups first, in the order of the help."""
    yield from _below("vision-agent", typer.main.get_command(app))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(f"{path} {name}", each)


def _command_section(path: str, command: Any) -> list[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    parts = [f"## `{path}` {{ #{_anchor(path)} }}", *_help_paragraphs(command.help or "")]
    if hasattr(command, "commands"):
        links = [f"[`{path} {name}`](#{_anchor(f'{path} {name}')})" for name in command.commands]
        parts.append("Commands: " + ", ".join(links) + ".")
    else:
        parts.append(f"```text\n{_usage(path, arguments)}\n```")
    if arguments:
        rows = [(f"`{_argument_name(each)}`", _default_of(each), _prose(each.help or "")) for each in arguments]
        parts.append(_table(("Argument", "Default", "Meaning"), rows))
    if options:
        rows = [(_option_names(each), _default_of(each), _prose(each.help or "")) for each in options]
        parts.append(_table(("Option", "Default", "Meaning"), rows))
    return parts


def _usage(path: str, arguments: Sequence[Any]) -> str:
    named = [_argument_name(each) if each.required else f"[{_argument_name(each)}]" for each in arguments]
    # `eval` takes any name as that of a suite: its first argument is the command.
    return " ".join([path.removesuffix(" SUITE"), *named, "[OPTIONS]"])


def _argument_name(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]")
    return f"{name}…" if argument.nargs == -1 and not name.endswith("…") else name


def _option_names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    annotation = _annotation_of(option)
    kind = _type_words(annotation)
    return f"{names} *{kind}*" + (", repeatable" if option.multiple else "")


def _annotation_of(parameter: Any) -> Any:
    """The type of one value; typer describes it itself since it does without click."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return {"integer": int, "float": float, "path": Path}.get(parameter.type.name, str)
    options = [each for each in get_args(described.annotation) or (described.annotation,) if each is not NoneType]
    return options[0]


def _default_of(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value is False or value == "" or value == () or callable(value):
        return ""
    return f"`{value}`"


def _help_paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text; an example after a colon becomes code, and so do flags."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        example = re.fullmatch(r"(?:(?P<what>[^:`]+): )?(?P<command>vision-agent .+)", " ".join(paragraph.split()))
        if example:
            what = f"{_prose(example['what'])}:\n\n" if example["what"] else ""
            parts.append(f"{what}```text\n{example['command']}\n```")
        else:
            lines = paragraph.splitlines()
            # Lines like `pytest: a Playwright test` are a list.
            is_list = len(lines) > 2 and all(re.match(r"[\w-]+: ", line) for line in lines)
            parts.append("\n".join(f"- {_prose(line)}" for line in lines) if is_list else _prose(paragraph))
    return parts


# --- settings ---------------------------------------------------------------------------------------------------------


def _settings() -> str:
    parts = ["# Settings", *_module_prose("vision_agent.settings")]
    parts.append(
        "Nested keys are tables of the file: `browser.headless` is the key `headless` in `[browser]`. "
        "Values of environment variables for lists and tables are JSON."
    )
    groups: dict[str, list[tuple[str, FieldInfo]]] = {}
    for key, field in settings_keys():
        groups.setdefault(key.rpartition(".")[0], []).append((key, field))
    for group, fields in groups.items():
        parts.append(f"## `[{group}]` {{ #{group} }}" if group else "## Top level")
        parts += [_prose(_first_docstring(_settings_model(group)))] if group else []
        for key, field in fields:
            parts += _setting(key, field)
    return _page(parts)


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


def _settings_model(group: str) -> type[BaseModel]:
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
    model = _settings_model(group) if group else Settings
    described = attribute_docstrings(model).get(key.rpartition(".")[2], "")
    facts = [
        f"**Type:** {_type_words(field.annotation)}{_bounds(field)}",
        f"**Default:** {_value_words(field)}",
        f"**Environment:** `{environment_name(key)}`",
    ]
    return [f"### `{key}` {{ #{key} }}", _prose(described), "  \n".join(facts)]


# --- actions ----------------------------------------------------------------------------------------------------------


def _actions() -> str:
    parts = [
        "# Actions",
        "An action is one thing to do in the browser. "
        "Each class below is also the tool that a model sees: its description and its arguments. "
        "In Python, import it from `vision_agent.actions`.",
        "[](){ #vision_agent.actions.Target }",
        "## Target { #target }",
        _prose(_assigned_docstring("vision_agent.actions", "Target")),
        '```text\n12\n{"mark": 11, "row": 3, "column": 7}\n{"x": 412, "y": 233}\n```',
    ]
    for each in action_classes():
        kind = each.model_fields["kind"].default
        parts += [_alias(each), f"## `{kind}` {{ #{kind} }}", *_docstring_parts(each)]
        parts.append(f"Class: `vision_agent.actions.{each.__name__}`")
        rows = list(_field_rows(each, skip=("kind",)))
        parts += [_table(("Field", "Type", "Default", "Meaning"), rows)] if rows else ["It has no fields."]
        parts.append(_traits_words(each.traits))
    parts += ["## Properties { #properties }", *_trait_meanings()]
    return _page(parts)


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
    "is_classified": "risks known",
}


def _traits_words(traits: Any) -> str:
    yes = [words for name, words in _TRAIT_NAMES.items() if getattr(traits, name)]
    return f"[Properties](#properties): {', '.join(yes)}; repeated after a crash: `{traits.repeat}`."


def _trait_meanings() -> list[str]:
    meanings = attribute_docstrings(actions.Traits)
    rows = [(words, _prose(meanings.get(name, ""))) for name, words in _TRAIT_NAMES.items()]
    repeats = re.sub(r"(?<!\w)(\w+):", r"`\1`:", _assigned_docstring("vision_agent.actions", "Repeat"))
    first, kinds = repeats.split("\n\n")
    found = re.findall(r"(`\w+`): (.+?\.)(?=\s`|$)", " ".join(kinds.split()))
    return [
        _table(("Property", "Meaning"), rows),
        "### Repeated after a crash",
        first,
        _table(("Value", "Meaning"), found),
    ]


def _field_rows(model: type[BaseModel], skip: Sequence[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    described = attribute_docstrings(model)
    for name, field in model.model_fields.items():
        if name not in skip:
            kind = f"{_type_words(field.annotation)}{_bounds(field)}"
            yield f"`{name}`", kind, _value_words(field), _prose(described.get(name, ""))


# --- step lines and listing -------------------------------------------------------------------------------------------


def _step_lines() -> str:
    examples, _, rules = grammar.GRAMMAR.partition("\nA thing is named")
    rows = [(f"`{line}`", f"`{_json_line(made)}`") for line, made in example_lines(examples)]
    parts = [
        "# Step lines",
        "A step line is one action in plain words. "
        "Files of step lines are followed with `--steps`, and people type them when they supervise a run.",
        "All lines are parsed before the first one is carried out.",
        "## Lines and the actions they become",
        "The numbers in the actions are those of the marks that the names stand for.",
        _table(("Line", "Action"), rows),
        "## Targets",
        *_sentences(f"A thing is named{rules}"),
        "If words fit two marks equally well, neither is taken: the line fails and names the candidates.",
        "## The same, as error messages show it",
        f"```text\n{textwrap.dedent(examples)}\n```",
    ]
    return _page(parts)


_EXAMPLE_MARKS = (
    ("Sign in", "button"), ("Email", "field"), ("Notes", "field"), ("Size", "list"), ("List", "list"),
    ("News", "toggle"), ("Terms", "toggle"), ("Delivery day", "field"), ("Attach", "file"), ("Total", "table"),
    ("Slider", "field"), ("Menu", "button"), ("Card", "button"), ("Done", "button"), ("Corner", "button"),
    ("Toolbar", "button"), ("Sea chart", "surface"), ("Pause", "button"), ("Map", "button"), ("Fire", "button"),
)  # fmt: skip


def example_lines(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each example of the grammar, completed to a whole line, with the action that it becomes."""
    page = _example_page()
    for line in _examples_in(text):
        [parsed] = grammar.parse([line])
        made = parsed.build(page)
        yield line, {"kind": made.kind, **made.model_dump(mode="json", exclude_defaults=True)}


def _examples_in(text: str) -> Iterator[str]:
    for row in text.splitlines():
        parts = re.split(r"\s{2,}", row.strip())
        for part in (each for more in parts for each in _BETWEEN_LINES.split(more)):
            line = f'type "a@b.c" into Email {part}' if part.startswith("and ") else part
            line = f"{line} Sign in" if line in ("double click", "right click") else line
            for word, example in _PLACEHOLDERS.items():
                line = re.sub(rf"\b{word}\b", example, line)
            yield line


_BETWEEN_LINES = re.compile(rf"[,;] (?=(?:{'|'.join(grammar._VERBS)})\b)")
_PLACEHOLDERS = {
    "QUESTION": "Which colour?",
    "URL": "https://example.org/",
    "ANSWER": "The total is 12",
    "REASON": "There is no such page",
}


def _example_page() -> Observation:
    marks = [_example_mark(number, name, kind) for number, (name, kind) in enumerate(_EXAMPLE_MARKS, 1)]
    marks += [
        _example_mark(number, "Delete", "button", context=words)
        for number, words in enumerate(("Ann", "Bob"), len(marks) + 1)
    ]
    return Observation(
        id="example",
        epoch=1,
        url="https://example.org/",
        title="",
        taken_at=datetime(2026, 1, 1, tzinfo=UTC),
        viewport=Size(width=1280, height=800),
        marks=tuple(marks),
        listing="",
        clean=_example_shot(),
        marked=_example_shot(),
    )


def _example_shot() -> Shot:
    return Shot(media_type="image/png", size=Size(width=1280, height=800), sha256="0" * 64)


def _example_mark(number: int, name: str, kind: str, **more: Any) -> Mark:
    tag, role, of_kind = {
        "list": ("select", "combobox", "field"),
        "field": ("input", "textbox", "field"),
        "file": ("input", "button", "field"),
        "toggle": ("input", "checkbox", "toggle"),
        "surface": ("canvas", "img", "surface"),
        "table": ("table", "table", "button"),
    }.get(kind, ("button", "button", kind))
    box = Box(x=100, y=30.0 * number, width=200, height=20)
    given = {"tag": tag, "role": role, "kind": of_kind, "name": name, "box": box, "point": box.center, **more}
    return Mark(number=number, **given)


def _listing() -> str:
    _, *rest = (inspect.getdoc(import_module("vision_agent.browser.observe.listing")) or "").split("\n\n")
    marks = _listing_marks()
    lines = {mark.number: mark_line(mark, PageMap(), distinctions([each for each, _ in marks]).get(mark.number))
             for mark, _ in marks}  # fmt: skip
    rows = [(f"`{lines[mark.number]}`", words) for mark, words in marks]
    parts = [
        "# Listing",
        "The listing is the text that goes with the marked picture. "
        "Each mark has one line, `number[:]<tag attributes>name`, in reading order.",
        *map(_prose, rest),
        "`vision-agent marks URL --out look` prints the listing of a page and writes it to `look/listing.txt`.",
        "## Lines of marks",
        _table(("Line", "What it says"), rows),
        "## Other lines",
        _table(
            ("Line", "What it says"),
            [
                ("`_[:]Free shipping from €60`", "Text of the page that belongs to no mark."),
                ("`_[15 row 1]A | B | C`", "Text read in row 1 of the grid that is mark 15."),
                ("`... 1445 px below`", "The last line: what is out of view, covered or gone."),
            ],
        ),
        "## A whole listing",
        f"```text\n{_example_listing([mark for mark, _ in marks])}\n```",
    ]
    return _page(parts)


def _listing_marks() -> list[tuple[Mark, str]]:
    """Marks whose lines show every part that a line can have, each with what its line says."""

    def mark(number: int, name: str, like: str, state: MarkState | None = None, **more: Any) -> Mark:
        tag, role, kind = like.split()
        box = Box(x=100, y=40.0 * number, width=200, height=20)
        given = {"box": box, "point": box.center, "kind": kind, "state": state or MarkState(), **more}
        return Mark(number=number, tag=tag, role=role, name=name, **given)

    field, button, chart = "input textbox field", "button button button", Box(x=100, y=600, width=400, height=300)
    cells = Grid(rows=2, columns=3, cells=((1, 1, 110, 620, 40, 40),))
    return [
        (mark(1, "Sign in", button), "Mark 1, a button. A role is shown if the tag implies another."),
        (mark(2, "Search products", "input searchbox field", MarkState(input_type="search", placeholder="Mugs…")),
         "An empty field with its placeholder."),
        (mark(3, "Email", field, MarkState(input_type="email", value="ann@example.org", required=True)),
         "A field with its value. States such as `required`, `invalid`, `disabled`, `readonly` and `selected` follow."),
        (mark(4, "Password", field, MarkState(input_type="password", masked=True, focused=True)),
         "The value of a password field, or of a field that holds a secret, is never shown. The field has the focus."),
        (mark(5, "Size", "select combobox field", MarkState(value="M", options=("S", "M", "L"))),
         "A list with its value and its options."),
        (mark(6, "Quantity", field, MarkState(input_type="number", value="1", minimum="1", maximum="9")),
         "A number field or slider with its limits."),
        (mark(7, "Gift wrapping", "input checkbox toggle", MarkState(input_type="checkbox", checked="false")),
         "A checkbox that is not ticked; a ticked one has `checked`."),
        (mark(8, "Delete", button, context="Ann"), "Marks that share a name show words of their row or card."),
        (mark(9, "Delete", button, context="Bob", change="new"),
         "`*new`: the mark was not there at the last observation. Others are `*changed` or `*moved`."),
        (mark(10, "Account", "div button button", MarkState(expanded=False, popup="menu")),
         "It opens a menu, which is closed."),
        (mark(11, "Pay", button, MarkState(disabled=True), frame="payment"), "The mark is in the frame `payment`."),
        (mark(12, "Mugs", "a link link", MarkState(current=True), moves=True),
         "The link to the current page, which moves or changes by itself."),
        (mark(13, "", "div generic scroller", MarkState(scroll=ScrollState(height=900, view_height=300))),
         "A container that scrolls, with how much is out of view."),
        (mark(14, "Sea chart", "canvas img surface", box=chart, point=chart.center),
         "A surface with its place in the picture."),
        (mark(15, "", "grid grid guess", source="cv", confidence=0.97, surface=14, grid=cells),
         "A grid found in the pixels of surface 14, with the confidence. Its cells are targets."),
        (mark(16, "Zoom in", "box img guess", source="ocr", confidence=0.81, surface=14),
         "A shape found in the pixels, whose name was read by OCR."),
    ]  # fmt: skip


def _example_listing(marks: Sequence[Mark]) -> str:
    return listing(
        marks,
        [("Free shipping from €60", Box(x=100, y=20, width=200, height=12))],
        ScrollState(height=2245, view_height=800),
        [Covered(blocker="dialog “Cookies”", count=3)],
        PageMap(),
        gone=[17],
        rows=[GridRow(15, 1, "A | B | C", Box(x=100, y=625, width=200, height=10))],
    )


# --- the run folder and events ----------------------------------------------------------------------------------------


def _run_folder() -> str:
    layout, rest = _split_indented(inspect.getdoc(store) or "")
    parts = [
        "# Run folder",
        "A run folder holds all that a run saw, decided and did. "
        "It survives a crash, shows later changes, and is all that reports, exports and replays read.",
        f"```text\n{layout}\n```",
        *[_prose(each) for each in rest.split("\n\n") if not each.startswith("This module")],
        "Each line of `steps.jsonl` is one [event](events.md). "
        "`vision-agent verify` checks a folder; "
        "`vision_agent.record` [reads it in Python](python/record.md).",
        "## JSON schemas",
        "- [`run.schema.json`](schemas/run.schema.json) for `run.json`\n"
        "- [`line.schema.json`](schemas/line.schema.json) for one line of `steps.jsonl`",
        "Records of earlier versions can have older names of fields; they are still read.",
        "## Fields of a run",
        _table(("Field", "Type", "Default", "Meaning"), _field_rows(Run, skip=("steps", "ending"))),
    ]
    return _page(parts)


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schemas of the run folder by name: `run` for `run.json`, `line` for a line of `steps.jsonl`."""
    run = _recorded_schema(TypeAdapter(Run).json_schema(mode="serialization"))
    for name in ("steps", "ending"):
        del run["properties"][name]
    run["required"] = [name for name in run["required"] if name in run["properties"]]
    line = _recorded_schema(TypeAdapter(events.Event).json_schema(mode="serialization"))
    frame = {
        "n": {"type": "integer", "minimum": 1, "description": "The number of the line; the first is 1."},
        "at": {"type": "string", "format": "date-time"},
        "prev": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the line before."},
    }
    for reference in line["oneOf"]:
        event = line["$defs"][reference["$ref"].rpartition("/")[2]]
        event["properties"] = {**frame, **event["properties"]}
        event["required"] = [*frame, *event.get("required", ())]
    started = line["$defs"]["Started"]
    del started["properties"]["run"]
    started["required"].remove("run")
    started["description"] = "The run begins; `run.json` has its task and its settings."
    return {"run": _described(run, "run.json of a run folder"), "line": _described(line, "A line of steps.jsonl")}


def _recorded_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what is written: the bytes of a picture are in a file of their own."""
    shot = schema.get("$defs", {}).get("Shot", {})
    shot.get("properties", {}).pop("data", None)
    if "required" in shot:
        shot["required"] = [name for name in shot["required"] if name != "data"]
    return schema


def _described(schema: dict[str, Any], title: str) -> dict[str, Any]:
    # Without those that nothing refers to any more.
    while unused := set(schema["$defs"]) - set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))):
        for name in unused:
            del schema["$defs"][name]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **{
        name: value for name, value in schema.items() if name != "title"
    }}  # fmt: skip


def _events() -> str:
    parts = [
        "# Events",
        *_module_prose("vision_agent.events"),
        "In a [run folder](run-folder.md) each line of `steps.jsonl` is one event; "
        "`Agent(on_event=…)` hands each to a function.",
    ]
    for each in event_classes():
        name = each.model_fields["event"].default
        parts += [_alias(each), f"## `{name}` {{ #{name} }}", *_docstring_parts(each)]
        parts.append(f"Class: `vision_agent.events.{each.__name__}`")
        parts.append(_table(("Field", "Type", "Default", "Meaning"), _field_rows(each, skip=("event",))))
    return _page(parts)


def event_classes() -> tuple[Any, ...]:
    """Every event, in the order in which a run can write them."""
    return get_args(get_args(events.Event)[0])


# --- exit codes -------------------------------------------------------------------------------------------------------


def _exit_codes() -> str:
    of_run = dict(exit_codes_of(dict(commands())["vision-agent run"].help))
    endings: dict[int, list[str]] = {}
    for status in get_args(Ending.model_fields["status"].annotation):
        endings.setdefault(Ending(status=status, sentence="").exit_code, []).append(f"`{status}`")
    errors: dict[int, list[str]] = {}
    for error in _errors(VisionAgentError):
        errors.setdefault(error.exit_code, []).append(f"`{error.__name__}`")
    codes = sorted({*of_run, *endings, *errors})
    rows = [
        (f"`{code}`", _prose(of_run.get(code, "")), ", ".join(endings.get(code, ())), ", ".join(errors.get(code, ())))
        for code in codes
    ]
    parts = [
        "# Exit codes",
        "The exit code tells a script how a run or a command ended.",
        "## Runs",
        "`vision-agent run`, `resume` and `replay` exit with the code of the run's ending; "
        "an error that ends any command has a code too.",
        _table(("Code", "Meaning", "Endings", "Errors"), rows),
        "## Other commands",
        "They exit with 0 when they did what they were asked for. An error has the code of the table above.",
    ]
    others = []
    for path, command in commands():
        listed = exit_codes_of(command.help or "")
        if listed and {code for code, _ in listed} != set(of_run):
            each = "<br>".join(f"`{code}` {_prose(meaning)}" for code, meaning in listed)
            others.append((f"[`{path}`](cli.md#{_anchor(path)})", each))
    return _page([*parts, _table(("Command", "Codes"), others)])


def exit_codes_of(help_text: str) -> list[tuple[int, str]]:
    """The codes that a command's help names, each with its meaning."""
    found = re.search(r"Exit codes: (.+?)(?:\.\s*$|\.\n\n|\Z)", " ".join(help_text.split("\n")), re.DOTALL)
    listed = " ".join(found[1].split()) if found else ""
    return [
        (int(code), meaning.strip(" ,;."))
        for code, meaning in re.findall(r"(?:^|[,;] )(\d+) (.+?)(?=[,;] \d+ |$)", listed)
    ]


def _errors(error: type[VisionAgentError]) -> Iterator[type[VisionAgentError]]:
    yield error
    for each in error.__subclasses__():
        yield from _errors(each) if each.__module__ == "vision_agent.errors" else ()


# --- Python and files -------------------------------------------------------------------------------------------------


def _python() -> dict[str, str]:
    made = {"reference/python/index.md": _python_index()}
    for module, (title, submodules) in PYTHON_PAGES.items():
        if module == "vision_agent":
            continue
        text = [f"# {title}"]
        if module in _DATA_MODULES:
            text += _data_module(module)
        else:
            text += [f"::: {each}" for each in [f"{module}.{name}" for name in submodules] or [module]]
        made[f"reference/python/{module.rpartition('.')[2]}.md"] = _page(text)
    return made


_DATA_MODULES = ("vision_agent.types", "vision_agent.actions", "vision_agent.settings")
"""Modules of data classes: their fields stand in tables."""


def _data_module(module: str) -> Iterator[str]:
    yield from _module_prose(module)
    tree = ast.parse(inspect.getsource(import_module(module)))
    described = _docstrings_in(tree.body)
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
        yield f"## `{made.__name__}`\n\nThe action [`{kind}`](../actions.md#{kind})."
        return
    yield f"## `{made.__name__}` {{ #{name} }}"
    yield from _docstring_parts(made)
    if made.__module__ == "vision_agent.settings" and made is not Settings:
        group = next(group for group in _setting_groups() if _settings_model(group) is made)
        yield f"Its fields are the keys of [`[{group}]`](../settings.md#{group})."
    elif made is Settings:
        yield "Its fields are the [settings](../settings.md)."
    elif issubclass(made, BaseModel):
        yield _table(("Field", "Type", "Default", "Meaning"), _field_rows(made))
    for member, value in vars(made).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield _member(f"{name}.{member}", level=3)


def _member(name: str, level: int) -> str:
    shown = {"heading": "true", "toc_entry": "true", "full_path": "false"}
    lines = [f"      heading_level: {level}", *(f"      show_root_{what}: {value}" for what, value in shown.items())]
    return "\n".join([f"::: {name}", "    options:", *lines])


def _setting_groups() -> list[str]:
    return list(dict.fromkeys(key.rpartition(".")[0] for key, _ in settings_keys() if "." in key))


def _alias_of_types(module: str, name: str, described: dict[str, str]) -> Iterator[str]:
    value = getattr(import_module(module), name)
    if value is actions.Target:  # it has a section of its own, above the actions
        return
    if name[0].isupper() and not name.isupper() and get_origin(value) in (Literal, typing.Union, UnionType):
        yield f"## `{name}` {{ #{module}.{name} }}"
        yield _prose(described.get(name, ""))
        yield f"One of {_type_words(value)}." if get_origin(value) is Literal else ""


def _alias(made: type) -> str:
    """An anchor by which links find a class from anywhere."""
    return f"[](){{ #{made.__module__}.{made.__name__} }}"


def _python_index() -> str:
    rows = []
    for name in vision_agent.__all__:
        home = _home_of(name)
        page = _page_of(home)
        what = (
            _first_docstring(getattr(vision_agent, name)) if name != "Action" else "Any action, told apart by `kind`."
        )
        rows.append(
            (f"[`{name}`]({page}#{home}.{name})" if name != "Action" else f"[`{name}`](../actions.md)", _prose(what))
        )
    others = [
        (f"[`{module}`]({module.rpartition('.')[2]}.md)", _prose(_module_sentence(module)))
        for module in PYTHON_PAGES
        if module != "vision_agent"
    ]
    return _page(
        [
            "# Python API",
            "These names are imported from `vision_agent`:",
            _table(("Name", "What it is"), rows),
            "These modules hold the rest that a caller may need:",
            _table(("Module", "What it has"), others),
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


def _files() -> str:
    parts = [
        "# Files",
        "Each file of the package, and of the script that runs in a page, with the first sentence of its docstring.",
    ]
    for folder in [PACKAGE, *sorted(path for path in PACKAGE.rglob("*") if (path / "__init__.py").exists())]:
        files = [path for path in sorted(folder.glob("*.py")) if path.stat().st_size]
        rows = [(f"`{path.name}`", _prose(_sentence_of(path))) for path in files]
        name = folder.relative_to(ROOT).as_posix()
        if rows:
            parts += [f"## `{name}/` {{ #{_anchor(name)} }}", _table(("File", "What it does"), rows)]
    scripts = sorted((ROOT / "overlay_js" / "src").glob("*.js"))
    rows = [(f"`{path.name}`", _prose(_script_sentence(path))) for path in scripts]
    parts += ["## `overlay_js/src/` { #overlay_js }", _table(("File", "What it does"), rows)]
    return _page(parts)


def _sentence_of(path: Path) -> str:
    # Parsing every file of the package takes seconds; a module's docstring is the first thing in it.
    found = re.match(r'"""(.+?)"""', path.read_text("utf-8"), re.DOTALL)
    return _sentence(found[1] if found else "")


def _module_sentence(module: str) -> str:
    return _sentence(inspect.getdoc(import_module(module)) or "")


def _script_sentence(path: Path) -> str:
    lines = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return _sentence(" ".join(lines))


# --- words ------------------------------------------------------------------------------------------------------------


def _index() -> str:
    rows = [
        ("[Command line](cli.md)", "Every command, argument and option."),
        ("[Settings](settings.md)", "Every key, its type, its default and its environment variable."),
        ("[Actions](actions.md)", "What the agent can do in a browser."),
        ("[Step lines](step-lines.md)", "Actions in plain words."),
        ("[Listing](listing.md)", "The text that goes with the marked picture."),
        ("[Run folder](run-folder.md)", "What a run leaves on disk, with JSON schemas."),
        ("[Events](events.md)", "What happens in a run, one by one."),
        ("[Exit codes](exit-codes.md)", "How a run or a command ended."),
        ("[Python API](python/index.md)", "Classes and functions."),
        ("[Files](files.md)", "Every source file and what it does."),
    ]
    return _page(["# Reference", "These pages are generated from the code.", _table(("Page", "What it lists"), rows)])


@cache
def attribute_docstrings(model: type) -> dict[str, str]:
    """The text under each field of a class, by the field's name, its bases included."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if each.__module__.startswith("vision_agent"):
            body = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
            assert isinstance(body, ast.ClassDef)
            found |= _docstrings_in(body.body)
    return found


def _docstrings_in(body: Sequence[ast.stmt]) -> dict[str, str]:
    found = {}
    for before, after in pairwise(body):
        targets = before.targets if isinstance(before, ast.Assign) else [getattr(before, "target", None)]
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if is_text and isinstance(before, ast.AnnAssign | ast.Assign) and isinstance(targets[0], ast.Name):
            found[targets[0].id] = inspect.cleandoc(str(after.value.value))  # type: ignore[attr-defined]
    return found


def _assigned_docstring(module: str, name: str) -> str:
    return _docstrings_in(ast.parse(inspect.getsource(import_module(module))).body)[name]


def _module_prose(module: str) -> list[str]:
    return [_prose(each) for each in (inspect.getdoc(import_module(module)) or "").split("\n\n")]


def _docstring_parts(thing: Any) -> list[str]:
    return [_prose(each) for each in inspect.cleandoc(thing.__doc__ or "").split("\n\n") if each]


def _first_docstring(thing: Any) -> str:
    return _sentence(inspect.getdoc(thing) or "")


def _sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join(text.split("\n\n")[0].split()).removeprefix("START HERE. ")
    return re.split(r"(?<=[.?!])\s+(?=[A-Z`(])", paragraph)[0]


def _sentences(text: str) -> list[str]:
    return [_prose(each) for each in re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.split()))]


def _split_indented(text: str) -> tuple[str, str]:
    """The indented block of a docstring, and what stands after it."""
    _, *rest = text.split("\n\n")
    block = next(each for each in rest if each.startswith("    "))
    return textwrap.dedent(block), "\n\n".join(rest[rest.index(block) + 1 :])


def _type_words(annotation: Any) -> str:
    if annotation == actions.Target:
        return "[target][vision_agent.actions.Target]"
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return _type_words(parts[0])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(each)}`" for each in parts)
    if origin in (typing.Union, UnionType):
        if set(get_args(actions.Target)) < set(parts):
            rest = [each for each in parts if each not in get_args(actions.Target)]
            return " or ".join([_type_words(actions.Target), *map(_type_words, rest)])
        return " or ".join(dict.fromkeys(_type_words(each) for each in parts))
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return f"list of {_type_words(parts[0])}"
        return f"({', '.join(map(_type_words, parts))})"
    if origin is dict:
        return f"table of {_type_words(parts[0])} to {_type_words(parts[1])}"
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
    if model.__module__ in _DATA_MODULES:
        return f"[`{model.__name__}`][{model.__module__}.{model.__name__}]"
    return f"`{model.__name__}`"


def _bounds(field: FieldInfo) -> str:
    signs = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "min_length": "length at least"}
    limits = [(words, getattr(each, name, None)) for each in field.metadata for name, words in signs.items()]
    found = [f"{words} {_number(limit)}" for words, limit in limits if limit is not None]
    return f", {' and '.join(found)}" if found else ""


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value_words(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return f"`{json.dumps(value.model_dump(mode='json'))}`" if isinstance(value, Size) else ""
    value = value.value if isinstance(value, Enum) else value
    value = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    return f"`{json.dumps(value, ensure_ascii=False)}`"


_MARKED_UP = re.compile(r"`[^`]*`|(?<![\w`-])--[a-z][\w-]*(?:[ =][A-Z]+)?|VISION_AGENT_\w*(?:=\w+)?")


def _prose(text: str) -> str:
    """Text of a docstring or a help as Markdown: what is not code is escaped, flags become code."""
    parts, at = [], 0
    for match in _MARKED_UP.finditer(text):
        parts.append(_escaped(text[at : match.start()]))
        parts.append(match[0] if match[0].startswith("`") else f"`{match[0]}`")
        at = match.end()
    return "".join([*parts, _escaped(text[at:])])


def _escaped(text: str) -> str:
    # `*word*` stays what it is: emphasis.
    return re.sub(r"(\*(?!\w[^*]*\w\*)(?<!\w\*)|[_\[\]|])", r"\\\1", escape(text, quote=False))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns that are empty in all of its rows."""
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    kept = [column for column in range(len(head)) if any(row[column] for row in cells)]
    lines = [
        [head[column] for column in kept],
        ["---"] * len(kept),
        *([row[column] for column in kept] for row in cells),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _anchor(text: str) -> str:
    return re.sub(r"[\s/]+", "-", text)


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
