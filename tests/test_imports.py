"""Claims about imports: they go one way, from data to wiring, and only one room imports each client library."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vision_agent"

IMPORTS = {
    "assets": "",
    "text": "",
    "base_model": "text",
    "old_names": "",
    "actions": "base_model",
    "geometry": "actions base_model",
    "observation": "actions base_model geometry text",
    "exemplars": "base_model observation",
    "types": "actions base_model exemplars geometry observation old_names text",
    "describe": "actions observation text types",
    "errors": "text types",
    "web": "base_model errors",
    "events": "actions base_model exemplars geometry observation types",
    "custom_actions": "actions base_model errors observation types",
    "progress": "actions describe events observation text types",
    "ports": "actions events exemplars observation text types web",
    "settings_faults": "base_model text",
    "settings_trust": "errors text",
    "settings": "base_model errors geometry observation settings_faults settings_trust text types",
    "totp": "errors types",
    "vision": "actions base_model errors geometry observation text",
    "journal": "errors events exemplars observation ports types",
    "policy": "actions describe errors events journal observation ports settings text types",
    "agent": "actions errors events journal observation policy ports settings types",
    "browser": "actions assets base_model custom_actions describe errors geometry observation policy ports settings "
    "text totp types vision web",
    "models": "actions assets base_model custom_actions describe errors exemplars geometry observation policy ports "
    "settings text types",
    "record": "actions assets base_model describe errors events geometry observation policy ports text totp types "
    "vision",
    "export": "actions base_model describe errors events geometry models observation record settings text types vision",
    "memory": "actions base_model errors exemplars geometry observation policy record text types vision",
    "supervise": "actions assets base_model describe errors events geometry models observation policy settings text "
    "types web",
    "ui": "assets base_model describe errors models observation record settings settings_faults text types vision web",
    "session": "actions agent assets base_model browser custom_actions describe errors events geometry journal memory "
    "models observation old_names policy ports progress record settings settings_faults text types vision",
    "__init__": "actions custom_actions errors observation old_names policy session settings types vision",
    "replay": "actions base_model custom_actions describe errors events memory models observation policy ports record "
    "session settings settings_faults text types vision",
    "batch": "base_model describe errors events record session text types",
    "evals": "actions assets base_model batch browser describe errors events geometry memory models observation "
    "policy ports record replay session settings settings_faults text types vision",
    "sync_api": "actions custom_actions errors events observation old_names policy ports session settings types",
    "integrations": "actions base_model browser describe errors evals memory models observation policy ports record "
    "session settings supervise sync_api text types web",
    "cli": "actions assets batch browser describe errors evals events export integrations memory models policy ports "
    "progress record replay session settings settings_trust supervise text types ui web",
    "__main__": "cli",
}
"""Of each room, all others that it imports; a room only imports what stands above it."""

INSIDE = {
    "policy": {
        "risk_tables": "",
        "risk_words": "risk_tables",
        "asked_question": "risk_words",
        "press_risks": "asked_question risk_tables risk_words",
        "enter_risks": "press_risks risk_tables risk_words",
        "shortcuts": "",
        "approval": "enter_risks press_risks risk_words shortcuts",
        "blockers": "",
        "budget": "",
        "failed_pages": "",
        "spending": "approval risk_tables risk_words",
        "counts_beside": "",
        "set_beside": "risk_words",
        "rebind": "asked_question counts_beside press_risks risk_words set_beside spending",
        "recorded_dialogs": "asked_question",
        "relevance": "",
        "stall": "",
        "success_checks": "",
        "text_origin": "",
        "takeover": "",
        "interrupted": "rebind stall",
        "recovery": "blockers interrupted rebind stall",
        "deciding": "interrupted recovery stall",
        "finishing": "budget deciding success_checks",
        "action_sequence": "approval finishing interrupted",
        "task_limits": "approval spending",
        "inner_acts": "approval task_limits text_origin",
        "oversight": "approval finishing task_limits text_origin",
        "resumed_run": "deciding finishing interrupted oversight stall",
    },
    "browser": {
        "cdp": "",
        "fake": "",
        "refusal": "",
        "network": "cdp refusal",
        "launch": "network",
        "page": "cdp network",
        "observe": "page",
        "locate": "observe page refusal",
        "act": "cdp locate network observe page refusal",
        "takeover": "act cdp locate network observe page",
        "live": "act cdp network observe page refusal takeover",
        "restarting": "live takeover",
    },
    "session": {
        "given_model": "",
        "deciders": "given_model",
        "model_check": "deciders",
        "keywords": "",
        "attaching": "",
        "turns": "",
        "signing_in": "keywords",
        "opening": "attaching signing_in",
        "looking": "attaching keywords turns",
        "wired_agent": "deciders keywords opening",
        "recording": "wired_agent",
    },
    "models": {
        "coordinates": "",
        "model_names": "",
        "price": "",
        "providers": "",
        "credentials": "model_names providers",
        "own_decider": "providers",
        "prompt": "coordinates",
        "reply": "coordinates",
        "llm": "coordinates price prompt providers reply",
        "offline": "llm",
        "factory": "llm offline providers",
    },
    "vision": {
        "components": "",
        "image_limits": "",
        "rects": "",
        "style": "",
        "picture": "image_limits rects",
        "thumbnail": "picture",
        "video": "picture",
        "compare": "picture",
        "repaint": "picture",
        "drawn_look": "picture",
        "icons": "picture",
        "labels": "picture rects style",
        "ocr": "picture",
        "pixel_stability": "picture",
        "surfaces": "compare image_limits ocr picture rects",
    },
    "evals": {
        "ablation": "",
        "baselines": "",
        "listing_tokens": "",
        "miniwob": "",
        "run_metrics": "",
        "statistics": "",
        "browsergym": "baselines",
        "answer_grading": "statistics",
        "miniwob_solvers": "miniwob",
        "items": "ablation answer_grading run_metrics",
        "hit_oracle": "items",
        "progress": "items",
        "results": "ablation answer_grading items run_metrics statistics",
        "suites": "baselines answer_grading items miniwob miniwob_solvers run_metrics",
        "perception": "listing_tokens suites",
        "demo": "suites",
        "security": "items suites",
        "runner": "ablation baselines hit_oracle items run_metrics suites",
        "ray_workers": "items runner suites",
        "ray_rows": "ray_workers",
    },
}
"""The same within the large rooms."""

# Who may know a client. `session`, `replay`, `evals` and `integrations` take pages from their owners and name the type.
CLIENTS = {
    "playwright": {"browser", "session", "sync_api", "replay", "evals", "integrations"},
    "anthropic": {"models"},
    "genai_prices": {"models"},
    "pydantic_ai": {"integrations", "models"},
    "cv2": {"vision"},
    "jinja2": {"record", "ui"},
    "mcp": {"integrations"},
    "inspect_ai": {"integrations"},
    "cube": {"integrations"},
    "pytest": {"integrations"},
    "mcp_types": {"integrations"},
    "opentelemetry": {"progress"},
    "ray": {"evals"},
    "typer": {"cli"},
}

EXTRAS = frozenset(
    [
        "cryptography",
        "cube",
        "inspect_ai",
        "keyring",
        "mcp",
        "mcp_types",
        "mkdocs",
        "onnxruntime",
        "opentelemetry",
        "pydantic_ai",
        "pypdf",
        "pytest",
        "rapidocr",
        "ray",
        "yaml",
    ]
)
"""What the optional dependencies are imported as."""


def test_a_room_imports_what_is_declared_and_all_of_that() -> None:
    assert _rooms_by_room(PACKAGE) == {room: set(others.split()) for room, others in IMPORTS.items()}


@pytest.mark.parametrize("room", INSIDE)
def test_within_a_large_room_imports_go_one_way_too(room: str) -> None:
    assert _rooms_by_room(PACKAGE / room) == {name: set(others.split()) for name, others in INSIDE[room].items()}


@pytest.mark.parametrize("directions", [IMPORTS, *INSIDE.values()], ids=["package", *INSIDE])
def test_a_room_imports_only_what_stands_above_it(directions: dict[str, str]) -> None:
    above: set[str] = set()
    for room, others in directions.items():
        assert set(others.split()) <= above, f"{room} imports what stands below it"
        above.add(room)


def test_a_foreign_client_is_known_to_few() -> None:
    knowing: dict[str, set[str]] = {client: set() for client in CLIENTS}
    for path in PACKAGE.rglob("*.py"):
        for client in {module.split(".")[0] for module in _imported(path)} & CLIENTS.keys():
            knowing[client].add(_room(path, PACKAGE))
    assert knowing == CLIENTS


def test_the_package_and_its_agent_are_imported_without_any_extra() -> None:
    """Nobody waits for what they do not use: the extras are imported by what needs them, when it is used."""
    script = "import sys, vision_agent; vision_agent.Agent, vision_agent.attach; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = {module.split(".")[0] for module in done.stdout.split()}
    assert "playwright" in imported
    assert not imported & EXTRAS


def test_a_public_class_name_exists_once() -> None:
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in _nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def _rooms_by_room(folder: Path) -> dict[str, set[str]]:
    """By each module or package right in a folder, which others of these it imports."""
    own = ".".join(folder.relative_to(PACKAGE.parent).parts)
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        room = _room(path, folder)
        if folder != PACKAGE and room == "__init__":
            continue
        others = found.setdefault(room, set())
        for module in _imported(path):
            if module.startswith(f"{own}."):
                others.add(module.removeprefix(f"{own}.").split(".")[0])
    return {room: others - {room} for room, others in found.items()}


def _room(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").parts[0]


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """The imports and classes of a file: every test here reads the whole package."""
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef)
    return tuple(each for each in _statements(ast.parse(path.read_text("utf-8"))) if isinstance(each, kept))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in a node, but no expressions, of which there are twenty times as many."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(node, field, ()):
            yield each
            yield from _statements(each)


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """Every module that is imported anywhere in a file; `from package import module` counts as the module."""
    modules: list[str] = []
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            modules += (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            folder = PACKAGE.parent / str(node.module).replace(".", "/")
            is_package = (folder / "__init__.py").exists()
            modules += ((f"{node.module}.{name.name}" if is_package else str(node.module)) for name in node.names)
    return tuple(modules)
