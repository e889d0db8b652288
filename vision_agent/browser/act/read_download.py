"""Reads the text of the last file that was downloaded: a PDF, or a file of plain text."""

from __future__ import annotations

import asyncio
import codecs
import json
import sys
from importlib.util import find_spec
from pathlib import Path

from vision_agent.browser.page.downloads import Downloads
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line

_PDF, _PDF_WITHIN = b"%PDF-", 1024
"""What a PDF begins with; something else may stand before it (ISO 32000-1, annex H, note 13)."""
_PDF_S = 30.0
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_BYTES_OF_ONE = 4
"""The most bytes of a character."""
_NONE = "No download was kept in this run, so there is none to read."


async def read_download(downloads: Downloads | None, most: int, within_s: float) -> tuple[str, str]:
    """The text of the newest file that was kept, up to about `most` characters, and which file it is in words.

    It waits at most `within_s` for a download that is going on.

    Raises:
        Refused: none was kept, the latest was not, or it has no text that can be read.
    """
    if downloads is None:
        raise Refused("unsupported", _NONE)
    if not await downloads.end(within_s):
        raise Refused("unsupported", "A download is still going on; wait for it, then read it.")
    if downloads.lost:
        kept = (
            f"The one kept before it is {_words(downloads.kept[-1])}." if downloads.kept else "None was kept before it."
        )
        raise Refused("unsupported", f"The latest cannot be read: {downloads.lost.rstrip('.')}. {kept}")
    if not downloads.kept:
        raise Refused("unsupported", _NONE)
    file = downloads.kept[-1]
    name = _words(file)
    try:
        with file.open("rb") as stream:
            content = stream.read(max(_PDF_WITHIN, _BYTES_OF_ONE * most))
    except OSError as error:
        raise Refused("gone", f"{name} is no longer there: {error.strerror}.") from error
    if _PDF in content[:_PDF_WITHIN]:
        return await _pdf_text(file, name, most)
    text = _plain_text(content)
    if text is None:
        raise Refused("unsupported", f"{name} is no PDF and no plain text; only those are read.")
    return text, f"the text of {name}"


def _words(file: Path) -> str:
    return f'"{file.parent.name}/{safe_line(file.name, 100)}"'


def _plain_text(content: bytes) -> str | None:
    """The text of a file that is nothing but text; None if it is something else."""
    encoding = next((encoding for mark, encoding in _MARKS.items() if content.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(content)  # the last character may be cut
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        if any(not letter.isprintable() and not letter.isspace() for letter in text):
            return None
    return None if "\0" in text else text


async def _pdf_text(file: Path, name: str, most: int) -> tuple[str, str]:
    if find_spec("pypdf") is None:
        raise Refused("unsupported", f"{name} is a PDF; to read it, run: pip install 'vision-agent[pdf]'.")
    program = [sys.executable, "-P", str(Path(__file__).with_name("pdf_text.py")), str(file), str(most)]
    process = await asyncio.create_subprocess_exec(
        *program, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_PDF_S):
            out, _ = await process.communicate()
    except TimeoutError:
        raise Refused("timed_out", f"The text of {name} was not read within {_PDF_S:g} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        found = json.loads(out)
    except ValueError:
        raise Refused("unsupported", f"{name} cannot be read: it takes too much memory or time.") from None
    if error := found.get("error"):
        raise Refused("unsupported", f"{name} cannot be read: {safe_line(error, 200)}.")
    text, pages = found["text"], found["pages"]
    many = f"{pages} page{'s' * (pages != 1)}"
    if not any(line.strip() for line in text.splitlines() if not line.startswith("[page ")):
        raise Refused("unsupported", f"{name} has {many}, and no text that can be read.")
    return text, f"the text of {name}, {many}"
