"""The downloads of one run: which are kept, how large they may be, and what became of each.

Chromium writes a download to disk as it comes. Where we know the folder (a browser that we launched or connected to),
sizes are read there, so that downloads of popups and frames count too; Chromium reports progress only for the main
frame. On a page handed over by its owner only the time is limited while a download lasts, and its size afterwards.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import BrowserContext, Download
from playwright.async_api import Error as PlaywrightError

from vision_agent.ports import Redact
from vision_agent.text.disguises import APART
from vision_agent.text.escape import safe_line
from vision_agent.types import DownloadLimits

_LOOK_S = 0.1
_CHUNK = 1 << 20
_OVERLAP = 1 << 16
"""Bytes that two searched parts share, so that no secret is split; a multiple of four, for UTF-16 and UTF-32."""
_NARROW, _WIDE = ("utf-8", "latin-1"), ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_UNPRINTED = bytes(each for each in (*range(32), 127) if each not in b"\t\n\r")
_MOST_UNPRINTED = 0.03
"""Share of such bytes in a text. In anything else, only runs of letters are searched: searching all of it takes
seconds per megabyte."""
_PRINTED = re.compile(rb"[\t\n\r -~]{4,}")
_TAG = re.compile(r"<[^<>]*>")
_MOST_TOLD = 20
"""Refused downloads with a sentence each; a page may start them endlessly."""
_CANCEL_S = 5.0


@dataclass(eq=False)
class Downloads:
    """Keeps the downloads of a run, within limits."""

    context: BrowserContext
    limits: DownloadLimits
    tell: Callable[[str], None]
    """Gets a sentence about each download."""
    folder: Path | None = None
    """Where downloads are kept; None discards them."""
    incoming: Path | None = None
    """Where the browser writes them as they come; None if that is not known."""
    redact: Redact = str
    secrets: Callable[[], Sequence[str]] = tuple
    """Values that no downloaded file or its name may contain."""
    kept: list[Path] = field(default_factory=list)
    """The files that were kept, the newest last."""
    lost: str = ""
    """What became of the download that began last, if it was not kept, in a clause."""
    _latest: Download | None = None
    _earlier: list[str] = field(init=False)
    """The names of those that are in the folder from before."""
    _started: int = 0
    _refused: int = 0
    _kept_bytes: int = 0
    _running: set[Download] = field(default_factory=set)
    _reasons: deque[str] = field(default_factory=deque)
    """Why downloads were cut, in the order in which they were."""
    _cut: set[str] = field(default_factory=set)
    _watcher: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        is_there = self.folder is not None and self.folder.is_dir() and not self.folder.is_symlink()
        self._earlier = sorted(each.name for each in self.folder.iterdir()) if self.folder and is_there else []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files that were kept in this run, also before it was resumed or its browser restarted."""
        return (*self._earlier, *(each.name for each in self.kept))

    async def wait_for(self, are_enough: Callable[[Sequence[str]], bool], within_s: float) -> tuple[str, ...]:
        """The names, once they are enough; waits while a download is going on, and for one to begin within this time.

        It waits no longer than one download may take.
        """
        began = time.monotonic()
        while not are_enough(self.names):
            longest = self.limits.seconds if self._running else within_s
            if time.monotonic() - began >= longest:
                break
            await asyncio.sleep(_LOOK_S)
        return self.names

    async def end(self, within_s: float) -> bool:
        """Whether no download is going on any more; waits for that, at most this long."""
        began = time.monotonic()
        while self._running:
            if time.monotonic() - began >= within_s:
                break
            await asyncio.sleep(_LOOK_S)
        return not self._running

    def start(self, download: Download) -> Coroutine[Any, Any, None]:
        """Reports that a download has started, or why it is refused; returns the work that remains."""
        name = self._name(download)
        shown = safe_line(name, 100)
        self._latest, self.lost = download, ""
        if reason := self._objection(name):
            self.lost = f'the download "{shown}" was refused: {reason}'
            self._refused += 1
            if self._refused <= _MOST_TOLD:
                self.tell(self.lost)
            return _cancel(download)
        self._started += 1
        self._running.add(download)
        if self.incoming is not None and (self._watcher is None or self._watcher.done()):
            self._watcher = asyncio.ensure_future(self._watch(self.incoming))
        self.tell(f'a download started: "{shown}"')
        return self._finish(download, name)

    def _objection(self, name: str) -> str:
        """Why a download may not start; empty if it may."""
        limits = self.limits
        if self._started >= limits.count:
            return f"the limit on downloads ({limits.count}) is reached (limits.downloads.count)"
        ending = PurePath(name).suffix.lstrip(".").casefold()
        if limits.types is not None and ending not in {each.lstrip(".").casefold() for each in limits.types}:
            allowed = ", ".join(limits.types) or "none"
            return f'its name ends in "{safe_line(ending, 20)}", allowed are {allowed} (limits.downloads.types)'
        if self._kept_bytes >= limits.total_bytes:
            return (
                f"the limit on their total size ({limits.total_bytes} bytes) is reached (limits.downloads.total_bytes)"
            )
        return ""

    async def _finish(self, download: Download, name: str) -> None:
        safe_name = safe_file_name(name)[-100:].lstrip(".") or "download"
        try:
            reason = await self._fault(download)
            if not reason and self.folder is not None:
                reason = await self._keep(download, safe_name, self.folder)
        except (PlaywrightError, OSError) as error:
            reason = str(error).splitlines()[0][:200]
        finally:
            self._running.discard(download)
        if reason:
            lost = f'the download "{safe_name}" was not kept: {reason}'
            self.lost = lost if download is self._latest else self.lost
            self.tell(lost)

    async def _fault(self, download: Download) -> str:
        """Waits for the end of a download; returns why it is incomplete, or an empty string."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                failure = await download.failure()
        except TimeoutError:
            await _cancel(download)
            return f"it was cut after {self.limits.seconds:g} seconds (limits.downloads.seconds)"
        if failure == "canceled" and self._reasons:
            return self._reasons.popleft()
        return failure or ""

    async def _keep(self, download: Download, name: str, folder: Path) -> str:
        """Keeps a download and reports it; or returns why it is not kept."""
        # Checked elsewhere first: a file with a secret must never be in the run folder, not even briefly.
        with TemporaryDirectory() as aside:
            file = Path(aside) / "download"
            await download.save_as(file)
            size = file.stat().st_size
            if reason := self._too_large(size, self._kept_bytes + size):
                return reason
            if await asyncio.to_thread(_holds_secret, file, self.redact):
                return "it contains a secret"
            path = reserve_path(folder / name)
            self._kept_bytes += size
            await asyncio.to_thread(shutil.copyfile, file, path)
            digest = await asyncio.to_thread(_sha256, file)
        self.kept.append(path)
        self.tell(f'"{folder.name}/{path.name}" was kept: {size} bytes, sha256 {digest}')
        return ""

    def _too_large(self, size: int, total: int) -> str:
        limits = self.limits
        if size > limits.bytes_each:
            return f"it has more than {limits.bytes_each} bytes (limits.downloads.bytes_each)"
        if total > limits.total_bytes:
            return f"with it, downloads have more than {limits.total_bytes} bytes (limits.downloads.total_bytes)"
        return ""

    async def _watch(self, incoming: Path) -> None:
        """Cuts each download that grows too large, as long as any is running."""
        while self._running:
            sizes = {path.name.partition(".")[0]: size for path, size in _sizes(incoming)}
            running = {guid: size for guid, size in sizes.items() if guid not in self._cut}
            total = sum(sizes.values())
            for guid, size in sorted(running.items(), key=lambda each: -each[1]):
                if reason := self._too_large(size, total):
                    self._cut.add(guid)
                    self._reasons.append(f"it was cut: {reason}")  # first: its end may be reported before the answer
                    if not await self._cut_by_id(guid):
                        self._reasons.pop()
                    break  # it may have been the one that made the total too large
            await asyncio.sleep(_LOOK_S)

    async def _cut_by_id(self, guid: str) -> bool:
        """Ends a download by Chromium's id of it; returns whether it was still running."""
        browser, pages = self.context.browser, self.context.pages
        if browser is None or not pages:
            return False
        with suppress(PlaywrightError, TimeoutError):  # it has just ended, or the browser is gone
            async with asyncio.timeout(_CANCEL_S):
                own = await self.context.new_cdp_session(pages[0])
                whole = await browser.new_browser_cdp_session()
                try:
                    target = (await own.send("Target.getTargetInfo"))["targetInfo"]
                    which = {"guid": guid, "browserContextId": target.get("browserContextId", "")}
                    await whole.send("Browser.cancelDownload", which)
                    return True
                finally:
                    await own.detach()
                    await whole.detach()
        return False

    def _name(self, download: Download) -> str:
        """The file name that the page suggests; `download` if it contains a secret, even as browsers escape it."""
        name = download.suggested_filename
        parts = [part for value in self.secrets() if (part := safe_file_name(value).strip("_."))]
        has_secret = self.redact(name) != name or any(part in safe_file_name(name) for part in parts)
        return "download" if has_secret else name


def safe_file_name(text: str) -> str:
    """The name with everything but letters, digits, dots and hyphens replaced."""
    return re.sub(r"(?:[^\w.-]|_)+", "_", text)


def reserve_path(path: Path) -> Path:
    """Creates an empty file with this name, or with a number added if the name is taken."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in count(1):
        own = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            own.touch(mode=0o600, exist_ok=False)
            return own
    raise AssertionError("numbers do not end")


async def _cancel(download: Download) -> None:
    with suppress(PlaywrightError, TimeoutError):  # it has ended, or its page is gone
        async with asyncio.timeout(_CANCEL_S):
            await download.cancel()


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    with suppress(OSError):  # files come and go
        for path in folder.iterdir():
            with suppress(OSError):
                yield path, path.stat().st_size


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _holds_secret(file: Path, redact: Redact) -> bool:
    """Whether a file contains a secret as text in a usual encoding, also with HTML tags between its letters.

    Compressed or encrypted files are not searched.
    """
    with file.open("rb") as stream:
        is_wide = stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        stream.seek(0)
        before = b""
        while part := stream.read(_CHUNK):
            content = before + part
            if any(redact(text) != text for text in _texts(content, is_wide=is_wide or b"\0" in content)):
                return True
            before = content[-_OVERLAP:]
    return False


def _texts(content: bytes, *, is_wide: bool) -> Iterator[str]:
    """What a part of a file may say; `is_wide`: it may be UTF-16 or UTF-32, which have zero bytes in most texts."""
    is_binary = len(content.translate(None, _UNPRINTED)) < (1 - _MOST_UNPRINTED) * len(content)
    if is_binary:
        yield APART.join(each.decode() for each in _PRINTED.findall(content))
    narrow = () if is_binary else _NARROW[:1] if content.isascii() else _NARROW
    for encoding in (*narrow, *(_WIDE if is_wide else ())):
        text = content.decode(encoding, "replace")
        # Searching takes seconds a megabyte, and what is not text has many pairs of bytes that are no letter.
        if encoding in _WIDE and text.count("\ufffd") > len(text) // 100 + 1:
            continue
        yield text
        if is_wide == (encoding in _WIDE) and (plain := _TAG.sub("", text)) != text:
            yield plain
