"""A console that escapes what a terminal would obey, whoever wrote it, and adds only its own colours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from vision_agent.text.escape import terminal_text


class EscapingStream:
    """A text stream that escapes all that is written to it. It has no `buffer`, which would be a way round it."""

    def __init__(self, raw: IO[str]) -> None:
        self.raw = raw
        self.has_written = False
        """Whether anything was written to it; what a `TerminalConsole` prints goes past it."""

    def write(self, text: str) -> int:
        """Writes the text, escaped."""
        self.has_written = True
        self.raw.write(terminal_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes each of the lines, escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name not in ("flush", "isatty", "fileno", "encoding", "errors", "closed", "writable", "newlines"):
            raise AttributeError(name)
        return getattr(self.raw, name)


class TerminalConsole(Console):
    """A console that escapes the text in whatever it prints; only its own colours and movements reach the terminal."""

    def __init__(self, **how: Any) -> None:
        if os.environ.get("NO_COLOR"):  # Rich itself keeps bold and dim then
            how["color_system"] = None
        super().__init__(**how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, with their text escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=terminal_text(segment.text))

    @property
    def file(self) -> IO[str]:
        """The stream itself, behind the edge: its text is escaped already."""
        stream = super().file
        return stream.raw if isinstance(stream, EscapingStream) else stream

    @file.setter
    def file(self, new: IO[str]) -> None:
        self._file = new


@contextmanager
def progress_line(first: str) -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done until the block ends: in one line that moves, or else a line each.

    On stderr, so that stdout can be piped.
    """
    console = TerminalConsole(stderr=True)
    with console.status(first) as status:

        def tell(text: str) -> None:
            status.update(text)
            if not console.is_terminal:
                console.print(text, style="dim", highlight=False, soft_wrap=True)

        yield tell
