"""`make test-frameworks`: the adapters of agent frameworks in environments of their own, and the guide tried there.

Their pins exclude each other, and some have an older MCP SDK than ours. Packages are fetched by their names alone, as
pip is set up to.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from docs_snippets.blocks import blocks_of  # noqa: E402
from docs_snippets.run_blocks import Shell, snippet_environment, with_port, write_file  # noqa: E402

EXAMPLES = {
    "langchain_shop.py": ("langchain-mcp-adapters",),
    "crewai_shop.py": ("crewai", "crewai-tools[mcp]"),
    "openai_shop.py": ("openai-agents",),
}
"""Files of the guide, and the packages that each needs."""
FOLDER = ROOT / ".cache" / "frameworks"
GUIDE = ROOT / "docs" / "pages" / "guides" / "agent-frameworks.md"
_QUIET = "CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true"


def main() -> int:
    """0 when each example works, 1 when one does not, 5 when one could not be tried; says why."""
    return max(_prepared(name) or _try_example(name) for name in (sys.argv[1:] or EXAMPLES))


def is_installed(name: str) -> bool:
    """Whether the packages of an example are there."""
    done = _folder(name) / "installed.txt"
    return done.is_file() and done.read_text("utf-8") == " ".join(EXAMPLES[name])


def _prepared(name: str) -> int:
    """0 with an environment for the example; else says what went wrong."""
    if is_installed(name):
        return 0
    folder, wanted = _folder(name), EXAMPLES[name]
    print(f"Setting up {folder.relative_to(ROOT)} (once, a minute or two)", flush=True)
    install = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *wanted,
    ]
    for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], install):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            errors = [line for line in ran.stderr.splitlines() if "ERROR" in line] or ran.stderr.splitlines()[-3:]
            said = re.sub(r"[a-z+]+://[^ ,)]+", "(address)", "; ".join(errors))
            print(f"{name} could not be tried: {said}")
            return 5
    (folder / "installed.txt").write_text(" ".join(wanted), "utf-8")
    return 0


def _folder(name: str) -> Path:
    return FOLDER / Path(name).stem


def _try_example(name: str) -> int:
    """0 if the example of the guide opens its page and clicks by number there."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "work")
        folder.mkdir()
        with Shell(folder, snippet_environment(Path(scratch, "bin"), "http://127.0.0.1:9")) as shell:
            for block in blocks_of(GUIDE):
                if block.title in ("shop.html", name):
                    write_file(folder / block.title, with_port(block.text, shell.port))
            shell.start(f"{sys.executable} -m http.server {shell.port} --bind 127.0.0.1")
            printed = shell.run(f"{_QUIET} {_folder(name)}/bin/python {name}", 0)
    works = "1[:]<button>Add to cart" in printed and "In the cart: 1" in printed
    print(f"{name}: {'works' if works else 'does not work'}" + ("" if works else f"\n{printed}"), flush=True)
    return 0 if works else 1


if __name__ == "__main__":
    sys.exit(main())
