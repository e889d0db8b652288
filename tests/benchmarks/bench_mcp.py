"""Our MCP server against Playwright's on the same pages, side by side: `make bench-mcp`.

Both are driven by the protocol's official client. For each page: what one look says, in tokens of the text, bytes of
the text and of the picture, and seconds; and what of the page can be acted on by it. On the pages whose targets are
known by name, the names in the text are counted: what a server does not list, its client cannot name.

Playwright's server is fetched from npm, in one exact version, and runs here with the same browser.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "integrations"))
from loopback import Folder, LoopbackServer
from mcp_driver import driven
from pages import ROOT, MissingPages, site

from vision_agent.browser.launch.doctor import doctor
from vision_agent.evals.listing_tokens import count_tokens
from vision_agent.settings import Settings

VERSION = "0.0.83"
FOREIGN = (
    "gentelella", "startbootstrap-sb-admin-2", "tabler-ui", "material-dashboard", "soft-ui-dashboard", "stisla",
    "layui-src", "uikit", "foundation-sites", "jquery-mobile", "weui", "todomvc", "fullcalendar", "jsoneditor",
)  # fmt: skip
KNOWN = ("shadow_closed", "icon_buttons", "svg_use", "aria_roles", "native_controls")
SITES = ("seats", "board")
REACH = 0.2
"""Our text divided by theirs, at the median."""
_VIEW = (1280, 800)
_WIDTH = 130


@dataclass(frozen=True)
class Look:
    """One look by one server."""

    tokens: int
    text_bytes: int
    picture_bytes: int
    seconds: float
    targets: int
    """What has a number or a reference."""
    named: int
    """Of the names that are known, those in the text."""


@dataclass(frozen=True)
class Pair:
    """The same page by both."""

    page: str
    names: int
    """Targets that are known by name; 0 where they are not."""
    ours: Look
    theirs: Look


def _served(folder: Path) -> LoopbackServer:
    return LoopbackServer(partial(Folder, directory=str(folder)))


def _their_server() -> Path:
    """Playwright's MCP server, fetched if it is not here yet.

    Raises:
        MissingPages: npm cannot fetch it.
    """
    folder = ROOT / ".cache" / f"playwright-mcp-{VERSION}"
    program = folder / "node_modules" / ".bin" / "playwright-mcp"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"@playwright/mcp@{VERSION}"],
                cwd=folder, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingPages(f"npm could not fetch @playwright/mcp: {error}") from error
        if done.returncode or not program.exists():
            raise MissingPages(f"npm could not fetch @playwright/mcp: {done.stderr.strip()[-300:]}")
    return program


def _names(page: str) -> list[str]:
    known = json.loads((ROOT / "fixtures" / "pages" / f"{page}.json").read_text("utf-8"))["marks"]
    return [each["name"] for each in known.values() if each.get("name")]


def _addresses(stack: ExitStack) -> dict[str, tuple[str, list[str]]]:
    """The address of each page, and the names of its targets where they are known."""
    found: dict[str, tuple[str, list[str]]] = {}
    for package in FOREIGN:
        try:
            known = site(package)
        except MissingPages as error:
            print(f"left out: {package}: {error}", file=sys.stderr)
            continue
        if known.pages:
            found[package] = (f"{stack.enter_context(_served(known.root)).address}/{known.pages[0]}", [])
    own = stack.enter_context(_served(ROOT / "fixtures")).address
    found |= {page: (f"{own}/pages/{page}.html", _names(page)) for page in KNOWN}
    return found | {f"site {name}": (f"{own}/sites/{name}/index.html", []) for name in SITES}


async def _ours(pages: dict[str, tuple[str, list[str]]]) -> dict[str, Look]:
    found = {}
    with tempfile.TemporaryDirectory() as runs:
        async with driven("http", Path(runs), settings={"limits": {"steps": 300}}) as driver:
            await driver.open("about:blank")
            for page, (url, names) in pages.items():
                await driver.act("open", url=url, reply="outcome")
                await driver.see()
                began = time.monotonic()
                reply = await driver.see()
                seconds = time.monotonic() - began
                found[page] = Look(
                    count_tokens(reply.text),
                    len(reply.text.encode()),
                    len(reply.picture or b""),
                    seconds,
                    len(re.findall(r"^\d+\[:\]", reply.page, re.MULTILINE)),
                    sum(name in reply.page for name in names),
                )
            await driver.close()
    return found


async def _theirs(pages: dict[str, tuple[str, list[str]]], program: Path, browser: str) -> dict[str, Look]:
    found = {}
    arguments = ["--headless", "--isolated", "--no-sandbox", "--executable-path", browser]
    arguments += ["--viewport-size", f"{_VIEW[0]},{_VIEW[1]}"]
    # It writes its logs where it was started.
    server = StdioServerParameters(command=str(program), args=arguments, cwd=program.parent)
    async with Client(server) as client:
        for page, (url, names) in pages.items():
            await client.call_tool("browser_navigate", {"url": url})
            await client.call_tool("browser_snapshot", {})
            began = time.monotonic()
            answer = await client.call_tool("browser_snapshot", {})
            seconds = time.monotonic() - began
            text = "\n".join(each.text for each in answer.content if each.type == "text")
            found[page] = Look(
                count_tokens(text),
                len(text.encode()),
                0,
                seconds,
                text.count("[ref="),
                sum(each in text for each in names),
            )
    return found


async def measure() -> list[Pair]:
    """Both servers on all pages.

    Raises:
        MissingPages: Playwright's server cannot be fetched.
    """
    program = _their_server()
    works = next(each for each in (await doctor(Settings(), lambda _: None)).browsers if each.works)
    browser = re.search(r"(/[^ ,)]*chrom[^ ,)]*)", works.sentence)
    assert browser is not None, works.sentence
    with ExitStack() as stack:
        pages = _addresses(stack)
        ours, theirs = await _ours(pages), await _theirs(pages, program, browser[1])
    return [Pair(page, len(names), ours[page], theirs[page]) for page, (_, names) in pages.items()]


def main() -> None:
    """Prints the table; leaves with 1 if the reach is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    as_json = parser.parse_args().json
    try:
        pairs = asyncio.run(measure())
    except MissingPages as error:
        sys.exit(str(error))
    ratio = statistics.median(each.ours.tokens / each.theirs.tokens for each in pairs)
    if as_json:
        print(json.dumps({"ratio": ratio, "pages": [asdict(each) for each in pairs]}))
    else:
        table = Table(box=SIMPLE, title=f"One look: ours / @playwright/mcp {VERSION}")
        for column in ("page", "text tokens", "text kB", "picture kB", "seconds", "targets", "known names"):
            table.add_column(column, justify="left" if column == "page" else "right")
        for each in pairs:
            a, b = each.ours, each.theirs
            table.add_row(
                each.page,
                f"{a.tokens} / {b.tokens}",
                f"{a.text_bytes / 1000:.1f} / {b.text_bytes / 1000:.1f}",
                f"{a.picture_bytes / 1000:.0f}",
                f"{a.seconds:.2f} / {b.seconds:.2f}",
                f"{a.targets} / {b.targets}",
                f"{a.named} / {b.named} of {each.names}" if each.names else "",
            )
        Console(width=_WIDTH).print(table)
        print(f"our text is {ratio:.2f} of theirs at the median (reach {REACH})")
    sys.exit(ratio > REACH)


if __name__ == "__main__":
    main()
