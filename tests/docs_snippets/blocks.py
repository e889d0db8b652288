"""The fenced blocks of a page, and the commands of a console block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


PAGES = ROOT / "docs" / "pages"


ROOT_PAGES: tuple[str, ...] = ("README.md",)
"""The files in the root of the repository whose snippets are checked too, such as `README.md`."""


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
    extra: str = ""
    """The extra without which it is not run."""

    @property
    def title(self) -> str:
        return self.options.get("title", "")

    @property
    def exit_code(self) -> int:
        return int(self.options.get("exit", 0))

    @property
    def is_run(self) -> bool:
        return not self.not_run and (bool(self.title) or self.language in ("python", "console"))


_FENCE = re.compile(r"(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,})[ ]*(?P<language>[\w+-]*)[ ]*(?P<info>.*)")


_OPTION = re.compile(r'([\w-]+)=(?:"([^"]*)"|(\S+))')


_NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
_EXTRA = re.compile(r"<!-- needs the extra (\w+) -->")


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
        reason, extra = _NOT_RUN.fullmatch(before), _EXTRA.fullmatch(before)
        options = {name: quoted or plain for name, quoted, plain in _OPTION.findall(opening["info"])}
        not_run, needs = reason[1] if reason else "", extra[1] if extra else ""
        found.append(Block(at + 1, opening["language"], inside + "\n", options, not_run, needs))
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


def prose_of(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside its blocks, with their numbers."""
    return prose_in(page, page.read_text("utf-8"))


def prose_in(page: Path, text: str) -> Iterator[tuple[int, str]]:
    inside = {
        number
        for block in _blocks_in(page, text)
        for number in range(block.line, block.line + block.text.count("\n") + 2)
    }
    for number, line in enumerate(text.splitlines(), 1):
        if number not in inside:
            yield number, line
