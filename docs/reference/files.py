"""The page of source files, each with the first sentence of its docstring."""

from __future__ import annotations

import re
from pathlib import Path

from .docstrings import sentence
from .markdown import anchor, markdown_page, markdown_table, prose

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "vision_agent"


def files_page() -> str:
    """The page: each source file by folder."""
    parts = [
        "# Files",
        "Each file of the package, and of the script that runs in a page, with the first sentence of its docstring.",
    ]
    for folder in [PACKAGE, *sorted(path for path in PACKAGE.rglob("*") if (path / "__init__.py").exists())]:
        files = [path for path in sorted(folder.glob("*.py")) if path.stat().st_size]
        rows = [(f"`{path.name}`", prose(_sentence_of(path))) for path in files]
        name = folder.relative_to(ROOT).as_posix()
        if rows:
            parts += [f"## `{name}/` {{ #{anchor(name)} }}", markdown_table(("File", "What it does"), rows)]
    scripts = sorted((ROOT / "overlay_js" / "src").glob("*.js"))
    rows = [(f"`{path.name}`", prose(_script_sentence(path))) for path in scripts]
    parts += ["## `overlay_js/src/` { #overlay_js }", markdown_table(("File", "What it does"), rows)]
    return markdown_page(parts)


def _sentence_of(path: Path) -> str:
    # Parsing every file of the package takes seconds; a module's docstring is the first thing in it.
    found = re.match(r'"""(.+?)"""', path.read_text("utf-8"), re.DOTALL)
    return sentence(found[1] if found else "")


def _script_sentence(path: Path) -> str:
    lines = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return sentence(" ".join(lines))
