"""Imports go one way: from what flows to what wires it, and each foreign client is known to one room only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vision_agent"

# What flows, and what can be told from it alone.
CONTRACTS = {
    "types",
    "events",
    "approval",
    "actions",
    "again",
    "custom",
    "distinguish",
    "errors",
    "settings",
    "ports",
    "budget",
    "codes",
    "completion",
    "cut_off",
    "own_way",
    "phrases",
    "relevance",
    "standstill",
    "walls",
}
ROOMS = CONTRACTS | {"assets", "vision"}
WIRING = ROOMS | {"agent", "taken_up", "browser", "models", "record", "memory"}
SESSION = WIRING | {"session", "sync_api"}

MAY_IMPORT: dict[str, set[str]] = {
    "actions": set(),
    "errors": {"types"},
    "approval": {"actions", "settings", "types"},
    "custom": {"actions", "errors", "types"},
    "again": {"actions", "distinguish", "types"},
    "budget": {"types"},
    "codes": {"types", "errors"},
    "completion": {"errors", "types"},
    "cut_off": {"actions", "again", "phrases", "events", "standstill", "types"},
    "own_way": {"actions", "again", "cut_off", "standstill", "types", "walls"},
    "distinguish": {"types"},
    "phrases": {"actions", "distinguish", "types"},
    "relevance": {"actions", "distinguish", "types"},
    "standstill": {"actions", "types"},
    "walls": {"actions", "types"},
    "types": {"actions"},
    "events": {"actions", "types"},
    "ports": {"actions", "events", "types", "errors"},
    "settings": {"types", "errors"},
    "assets": set(),
    "vision": CONTRACTS,
    "browser": ROOMS,
    "models": ROOMS,
    "record": ROOMS,
    "memory": CONTRACTS | {"vision", "record"},
    "agent": CONTRACTS,
    "taken_up": CONTRACTS | {"agent"},
    "progress": CONTRACTS,
    "session": WIRING,
    "sync_api": SESSION,
    "export": CONTRACTS | {"models", "record"},
    "replay": SESSION,
    "supervise": SESSION,
    "evals": SESSION,
    "__init__": SESSION,
    "cli_eval": SESSION | {"evals", "cli_options"},
    "cli_freeze": SESSION | {"evals", "cli_options"},
    "cli_memory": CONTRACTS | {"memory", "cli_options"},
    "cli_record": CONTRACTS | {"record", "export", "cli_options"},
    "cli_options": CONTRACTS | {"agent", "models", "supervise"},
    "cli_replay": SESSION | {"progress", "replay", "cli_options", "cli_run"},
    "cli_run": SESSION | {"progress", "supervise", "cli_options"},
    "cli": SESSION
    | {
        "progress",
        "replay",
        "supervise",
        "evals",
        "cli_eval",
        "cli_freeze",
        "cli_memory",
        "cli_options",
        "cli_record",
        "cli_replay",
        "cli_run",
    },
}

# Who may know a client. `session`, `replay` and `evals` take pages from their owners and name the type.
CLIENTS = {
    "playwright": {"browser", "session", "sync_api", "replay", "evals"},
    "anthropic": {"models"},
    "genai_prices": {"models"},
    "pydantic_ai": {"models"},
    "cv2": {"vision"},
    "jinja2": {"record"},
    "ray": {"evals"},
    "typer": {"cli", "cli_eval", "cli_freeze", "cli_memory", "cli_options", "cli_record", "cli_replay", "cli_run"},
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_lies_before_it(path: Path) -> None:
    room = path.relative_to(PACKAGE).with_suffix("").parts[0]
    for module in _imported(path):
        first, *rest = module.split(".")
        if first == "vision_agent":
            known = MAY_IMPORT[room] | {room}
            assert not rest or rest[0] in known, f"{room} may not know {module}"
        else:
            assert room in CLIENTS.get(first, {room}), f"{room} may not know {module}"


def test_every_room_has_its_directions() -> None:
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert names <= MAY_IMPORT.keys()


def _imported(path: Path) -> Iterator[str]:
    """Every module that is imported anywhere in a file; `from package import module` counts as the module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            if node.module == "vision_agent":
                yield from (f"vision_agent.{name.name}" for name in node.names)
            else:
                yield str(node.module)
