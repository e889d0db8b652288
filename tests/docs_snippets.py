"""Checks of the documentation: snippets run, commands and flags exist, Python has the right types, links work.

Each checker is a function that raises `WrongPage` with the page and the line; `test_docs.py` calls them for all pages.
The blocks of a page are taken in order and run in one folder:

- `python` runs as a script; with a `title` it is a file that other blocks use.
- `console` lines that begin with `$ ` are run by bash, the others must appear in the output in that order.
  `…` stands for any text, and on a line of its own for any number of lines. `exit=N` names the expected exit code.
- Any other language with a `title` is a file in that folder.
- `<!-- not run: reason -->` on the line before a block leaves it out; its types, commands and flags are checked anyway.

Port 8000 is replaced by a free port, and commands that end in ` &` run until the page is done.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import typer

from vision_agent.settings import ApprovalSettings, Settings

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "pages"
ROOT_PAGES: tuple[str, ...] = ("README.md",)
"""The files in the root of the repository whose snippets are checked too, such as `README.md`."""

_COMMAND_S = 120
_SERVER_S = 15
_LOCAL_HOSTS = ("127.0.0.1", "localhost")


class WrongPage(AssertionError):
    """Something on a page is not true; the message begins with the page and the line."""


@dataclass(frozen=True)
class Command:
    """A command of a console block with the output that the page shows."""

    line: int
    text: str
    shown: tuple[str, ...] = ()

    @property
    def in_background(self) -> bool:
        return self.text.endswith(" &")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    line: int
    language: str
    text: str
    options: Mapping[str, str] = field(default_factory=dict)
    not_run: str = ""
    """Why it is not run; empty if it is."""

    @property
    def title(self) -> str:
        return self.options.get("title", "")

    @property
    def exit_code(self) -> int:
        return int(self.options.get("exit", 0))

    @property
    def is_run(self) -> bool:
        return not self.not_run and (bool(self.title) or self.language in ("python", "console"))


# --- reading a page ---------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,})[ ]*(?P<language>[\w+-]*)[ ]*(?P<info>.*)")
_OPTION = re.compile(r'([\w-]+)=(?:"([^"]*)"|(\S+))')
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->")


def snippet_pages() -> list[Path]:
    """The pages whose snippets are checked, without the generated ones."""
    return [*sorted(PAGES.rglob("*.md")), *(ROOT / name for name in ROOT_PAGES)]


def name_of(page: Path) -> str:
    """The path of a page as a person would type it."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return _blocks_in(page, page.read_text("utf-8"))


def _blocks_in(page: Path, text: str) -> list[Block]:
    lines = text.splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        if opening is None:
            at += 1
            continue
        end = _end_of_block(lines, at, opening["fence"])
        if end is None:
            raise WrongPage(f"{name_of(page)}:{at + 1}: the block is never closed")
        indent = len(opening["indent"])
        inside = "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines[at + 1 : end])
        before = next((line.strip() for line in reversed(lines[:at]) if line.strip()), "")
        reason = _NOT_RUN.fullmatch(before)
        options = {name: quoted or plain for name, quoted, plain in _OPTION.findall(opening["info"])}
        found.append(Block(at + 1, opening["language"], inside + "\n", options, reason[1] if reason else ""))
        at = end + 1
    return found


def _end_of_block(lines: Sequence[str], at: int, fence: str) -> int | None:
    closing = re.compile(rf"[ ]*{fence[0]}{{{len(fence)},}}[ ]*")
    return next((index for index in range(at + 1, len(lines)) if closing.fullmatch(lines[index])), None)


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block; a command that ends in a backslash continues on the next line."""
    commands: list[Command] = []
    text, line = "", 0
    shown: list[str] = []
    is_open = False
    for number, raw in enumerate(block.text.splitlines(), block.line + 1):
        if is_open:
            text += "\n" + raw.removeprefix("> ")
        elif raw.startswith("$ "):
            if text:
                commands.append(Command(line, text, tuple(shown)))
            text, line, shown = raw[2:].rstrip(), number, []
        elif raw.strip():
            shown.append(raw)
        is_open = text.endswith("\\") and not shown
    return [*commands, Command(line, text, tuple(shown))] if text else commands


def has_snippets(page: Path) -> bool:
    """Whether anything on this page can be run."""
    return any(block.is_run and block.language in ("python", "console") for block in blocks_of(page))


# --- running ----------------------------------------------------------------------------------------------------------


def run_page(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Runs the snippets of a page in an empty folder.

    Raises:
        WrongPage: one fails, or its output is not what the page shows.
    """
    with _Shell(folder, environment) as shell:
        for number, block in enumerate(blocks_of(page), 1):
            text = with_port(block.text, shell.port)
            try:
                if block.not_run:
                    continue
                if block.title:
                    _write(folder / block.title, text)
                elif block.language == "python":
                    _write(folder / f".snippet_{number}.py", text)
                    shell.run(f"python .snippet_{number}.py", block.exit_code)
                elif block.language == "console":
                    _run_console(block, shell)
            except _Failed as fault:
                raise WrongPage(f"{name_of(page)}:{block.line}: {fault}") from None


def _run_console(block: Block, shell: _Shell) -> None:
    commands = commands_of(block)
    if not commands:
        raise _Failed("a console block without a command: begin one with `$ `")
    for command in commands:
        text = with_port(command.text, shell.port)
        if command.in_background:
            shell.start(text.removesuffix(" &"))
            continue
        # The exit code belongs to the last command; those before it prepare.
        output = shell.run(text, block.exit_code if command is commands[-1] else 0)
        missing = missing_line([with_port(line, shell.port) for line in command.shown], output)
        if missing is not None:
            raise _Failed(f"`{text}` does not print this line, or not in this place:\n{missing}\nIt prints:\n{output}")


def with_port(text: str, port: int) -> str:
    """The text with another port in place of 8000."""
    return re.sub(r"\b8000\b", str(port), text)


def missing_line(shown: Iterable[str], output: str) -> str | None:
    """The first shown line that is not in the output, or not in this order; None if all are."""
    real = [" ".join(line.split()) for line in output.splitlines()]
    at = 0
    for line in shown:
        words = " ".join(line.split())
        if words == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in words.split("…")))
        found = next((index for index in range(at, len(real)) if pattern.fullmatch(real[index])), None)
        if found is None:
            return line
        at = found + 1
    return None


class _Failed(Exception):
    """A snippet failed; `run_page` adds where it is."""


_TAKE_STATE = '[ ! -e "$DOCS_STATE" ] || . "$DOCS_STATE"'
_KEEP_STATE = """code=$?
{ export -p; printf 'cd %q\\n' "$PWD"; } >"$DOCS_STATE"
exit $code"""


class _Shell:
    """Runs commands in one folder, one process each; exported variables and the current folder stay."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._in_background: list[subprocess.Popen[str]] = []
        self._state = folder.parent / f"{folder.name}.state"
        self.port = _free_port()

    def __enter__(self) -> _Shell:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._in_background:
            _end(process)

    def run(self, command: str, exit_code: int) -> str:
        """What the command prints, errors included."""
        process = self._started(f"{command}\n{_KEEP_STATE}")
        try:
            output, _ = process.communicate(timeout=_COMMAND_S)
        except subprocess.TimeoutExpired:
            _end(process)
            raise _Failed(f"`{command}` does not end within {_COMMAND_S} s") from None
        if process.returncode != exit_code:
            raise _Failed(f"`{command}` exits with {process.returncode}, not {exit_code}. It prints:\n{output}")
        return output

    def start(self, command: str) -> None:
        """Starts a command that runs until the page is done; waits until a server it names listens."""
        process = self._started(f"exec {command}", discard=True)
        self._in_background.append(process)
        deadline = time.monotonic() + _SERVER_S
        while str(self.port) in command and not _listens(self.port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise _Failed(f"`{command}` serves nothing on port {self.port}")
            time.sleep(0.05)

    def _started(self, script: str, *, discard: bool = False) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", f"{_TAKE_STATE}\n{script}"],
            cwd=self._folder,
            env={**self._environment, "DOCS_STATE": str(self._state)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if discard else subprocess.PIPE,
            stderr=subprocess.DEVNULL if discard else subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def snippet_environment(bin_folder: Path, model_address: str) -> dict[str, str]:
    """The environment of a reader who has installed the package and has a key.

    `bin_folder` gets the commands `python` and `vision-agent` of this checkout.
    """
    bin_folder.mkdir(parents=True, exist_ok=True)
    for name, module in (("python", ""), ("vision-agent", " -m vision_agent"), ("playwright", " -m playwright")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{module} "$@"\n', "utf-8")
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VISION_AGENT_", "PYTEST_"))}
    return {
        **kept,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "100",
        "ANTHROPIC_API_KEY": "sk-not-a-key",
        "ANTHROPIC_BASE_URL": model_address,
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# --- commands and files -----------------------------------------------------------------------------------------------

_INLINE = re.compile(r"(?<!`)`(vision-agent(?: [^`\n]+)?)`(?!`)")


def check_commands(page: Path) -> None:
    """Checks that each `vision-agent` command of a page exists, with all of its flags.

    Raises:
        WrongPage: one does not.
    """
    for block in blocks_of(page):
        if block.language in ("console", "bash", "sh"):
            for command in commands_of(block):
                for words in _vision_agent_calls(command.text):
                    _check_call(words, f"{name_of(page)}:{command.line}", complete=True)
    for number, line in prose_of(page):
        for match in _INLINE.finditer(line):
            _check_call(shlex.split(match[1]), f"{name_of(page)}:{number}", complete=False)


def _vision_agent_calls(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word and not word.strip("();<>|&"):
            yield from [words[words.index("vision-agent") :]] if "vision-agent" in words else []
            words = []
        else:
            words.append(word)


@cache
def _root_command() -> Any:
    from vision_agent.cli.main import app

    return typer.main.get_command(app)


def _check_call(words: Sequence[str], where: str, *, complete: bool) -> None:
    command, rest, path = _root_command(), list(words[1:]), "vision-agent"
    arguments = 0
    options = _options_of(command)
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            if name not in options:
                raise WrongPage(f"{where}: {path} has no option {name}")
            if options[name] and not equals and rest:
                rest.pop(0)
        elif hasattr(command, "commands"):
            if word not in command.commands and "SUITE" in command.commands:
                rest, word = [word, *rest], "SUITE"
            if word not in command.commands:
                raise WrongPage(f"{where}: {path} has no command {word}")
            command, path = command.commands[word], f"{path} {word}"
            options = _options_of(command)
        else:
            arguments += 1
    taken = [each for each in command.params if each.param_type_name == "argument"]
    least = sum(each.required for each in taken)
    most = None if any(each.nargs == -1 for each in taken) else len(taken)
    if complete and "--help" not in words and (arguments < least or (most is not None and arguments > most)):
        raise WrongPage(f"{where}: {path} does not take {arguments} arguments")


def _options_of(command: Any) -> dict[str, bool]:
    """The options of a command, and whether each takes a value."""
    options = {"--help": False}
    for each in command.params:
        if each.param_type_name == "option":
            options |= dict.fromkeys((*each.opts, *each.secondary_opts), not each.is_flag)
    return options


def check_files(page: Path) -> None:
    """Checks that the TOML and JSON of a page can be parsed, and that files of ours hold what we read.

    Raises:
        WrongPage: one cannot, or has an unknown key.
    """
    for block in blocks_of(page):
        try:
            if block.language == "json":
                json.loads(block.text)
            if block.language == "toml":
                read = tomllib.loads(block.text)
                if block.title == "vision-agent.toml":
                    Settings(**read)
                if block.title == "policy.toml":
                    ApprovalSettings(**read)
        except ValueError as error:
            raise WrongPage(f"{name_of(page)}:{block.line}: {error}") from None


# --- types ------------------------------------------------------------------------------------------------------------


def write_python(pages: Iterable[Path], folder: Path) -> list[tuple[Path, dict[str, str]]]:
    """Writes the Python of all pages into as few folders as possible; returns each with the origin of its files.

    Two pages share a folder unless both have a file of the same name with different text.
    """
    groups: list[dict[str, str]] = []
    origins: list[dict[str, str]] = []
    for page in pages:
        files, came_from = _python_of(page)
        fitting = (
            i for i, each in enumerate(groups) if all(each.get(name, text) == text for name, text in files.items())
        )
        at = next(fitting, None)
        if at is None:
            groups.append({})
            origins.append({})
            at = len(groups) - 1
        groups[at] |= files
        origins[at] |= came_from
    written = []
    for number, files in enumerate(groups):
        for name, text in files.items():
            _write(folder / str(number) / name, text)
        written.append((folder / str(number), origins[number]))
    return written


def _fits(files: Mapping[str, str], others: Mapping[str, str]) -> bool:
    return all(others.get(name, text) == text for name, text in files.items())


def _python_of(page: Path) -> tuple[dict[str, str], dict[str, str]]:
    stem = re.sub(r"\W+", "_", name_of(page).removesuffix(".md")).strip("_")
    files: dict[str, str] = {}
    origins: dict[str, str] = {}
    for number, block in enumerate(blocks_of(page), 1):
        if block.language == "python":
            name = block.title or f"snippet_{stem}_{number}.py"
            # As many empty lines before it as in the page, so that a checker's line numbers are those of the page.
            files[name] = block.text if block.title else "\n" * block.line + block.text
            origins[name] = f"{name_of(page)}:{block.line}" if block.title else name_of(page)
    return files, origins


def check_types(pages: Iterable[Path], folder: Path, cache_folder: Path) -> None:
    """Checks the Python of all pages as a user of the package would: `mypy --strict` and pyright.

    Raises:
        WrongPage: one of them finds a fault.
    """
    faults = []
    for where, origins in write_python(pages, folder):
        for said in (_mypy(where, cache_folder), _pyright(where)):
            for name, origin in origins.items():
                said = re.sub(rf"(?:{re.escape(str(where))}/)?(?<![\w.-]){re.escape(name)}", origin, said)
            faults += [said] if said else []
    if faults:
        raise WrongPage("\n".join(faults))


def _mypy(folder: Path, cache_folder: Path) -> str:
    """What mypy finds in this folder; empty if nothing."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return _checked(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache_folder), *files],
        folder,
    )


def _pyright(folder: Path) -> str:
    """What pyright finds in this folder; empty if nothing."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}), "utf-8")
    said = _checked([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", "."], folder)
    return "" if said.startswith("0 errors") else said


def has_pyright() -> bool:
    """Whether pyright can run: it needs Node, and fetches its own program once."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pyright", "--version"], capture_output=True, timeout=60, env=_checker_environment()
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _checked(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_checker_environment(), capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def _checker_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "NO_COLOR": "1"}


# --- links ------------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_NAMED_LINK = re.compile(r"\s{0,3}\[[^\]]+\]:\s*(\S+)")
_BARE_LINK = re.compile(r"<(https?://[^>\s]+)>")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*")
_HEADING_ID = re.compile(r"\s*\{[^}]*#([\w.-]+)[^}]*\}$")
_ALIAS = re.compile(r"^\[\]\(\)\{ #([\w.-]+) \}$", re.MULTILINE)


def prose_of(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside its blocks, with their numbers."""
    return _prose_in(page, page.read_text("utf-8"))


def _prose_in(page: Path, text: str) -> Iterator[tuple[int, str]]:
    inside = {
        number
        for block in _blocks_in(page, text)
        for number in range(block.line, block.line + block.text.count("\n") + 2)
    }
    for number, line in enumerate(text.splitlines(), 1):
        if number not in inside:
            yield number, line


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "srcset" and value:
                self.links += [each.split()[0] for each in value.split(",") if each.strip()]
            if name in ("id", "name") and value:
                self.anchors.append(value)


def check_links(page: Path, generated: Mapping[str, str] | None = None) -> None:
    """Checks that the links of a page lead to something that exists. Nothing is fetched.

    `generated` has the pages that are written when the site is built, by their path below `docs/pages`.

    Raises:
        WrongPage: a file or an anchor does not exist, or an address is not written as it should be.
    """
    check_links_of(page, page.read_text("utf-8"), generated or {})


def check_links_of(page: Path, text: str, generated: Mapping[str, str]) -> None:
    """The same for a page with this text.

    Raises:
        WrongPage: as `check_links`.
    """
    for number, line in _prose_in(page, text):
        prose = _CODE.sub("", line)
        tags = _Tags()
        tags.feed(prose)
        named = _NAMED_LINK.match(prose)
        links = [*_LINK.findall(prose), *_BARE_LINK.findall(prose), *tags.links, *([named[1]] if named else [])]
        for link in links:
            fault = _fault_of(link, page, text, generated)
            if fault:
                raise WrongPage(f"{name_of(page)}:{number}: the link {link} {fault}")


def _fault_of(link: str, page: Path, text: str, generated: Mapping[str, str]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return _fault_of_address(link)
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    inside = path.relative_to(PAGES.resolve()).as_posix() if path.is_relative_to(PAGES.resolve()) else ""
    if path == page:
        pass
    elif inside in generated:
        text = generated[inside]
    elif not path.exists():
        return "leads to no file"
    elif page.is_relative_to(PAGES) and not inside:
        return "leaves the site: give its address in the repository"
    elif path.suffix != ".md":
        return ""
    else:
        text = path.read_text("utf-8")
    if parts.fragment and parts.fragment not in _anchors_of(text) and not _is_documented(parts.fragment, text):
        return "leads to no heading"
    return ""


def _fault_of_address(link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return ""
    if parts.hostname in _LOCAL_HOSTS:
        return ""
    if parts.scheme != "https":
        return "is not https"
    return "" if parts.hostname and "." in parts.hostname and " " not in link else "is no address"


def slug(heading: str) -> str:
    """The anchor of a heading, as Python-Markdown makes it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def _anchors_of(text: str) -> set[str]:
    anchors: dict[str, int] = {}
    is_code = False
    tags = _Tags()
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
            continue
        heading = None if is_code else _HEADING.fullmatch(line)
        tags.feed("" if is_code else _CODE.sub("", line))
        if heading:
            named = _HEADING_ID.search(heading[1])
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").replace("*", "")
            anchor = named[1] if named else slug(plain)
            seen = anchors.get(anchor, -1) + 1
            anchors[anchor] = seen
            if seen:
                anchors[f"{anchor}_{seen}"] = 0
    return {*anchors, *tags.anchors, *_ALIAS.findall(text)}


def _is_documented(name: str, text: str) -> bool:
    """Whether a page shows this Python name: it shows the module, and the module has the name."""
    for module in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        if name == module or name.startswith(f"{module}."):
            with suppress(AttributeError):
                attrgetter(name.removeprefix(module).lstrip(".") or "__name__")(import_module(module))
                return True
    return False
