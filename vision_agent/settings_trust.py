"""What a settings file of the current folder may set by itself, and which such files a person trusts.

Whoever made the folder wrote the file, so by itself it sets only what is harmless. Everything else (`GRANTS`) needs a
person's decision, which holds for one path with one content: a changed file must be trusted again. A setting that is in
none of these tables is refused.

It knows neither how settings are read nor what they do.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs
from pydantic import BaseModel

from vision_agent.errors import UsageError
from vision_agent.text.escape import printable_line

MOST_BYTES = 1 << 20
"""The longest settings file that is read, in bytes; real ones have a few hundred."""
_MOST_SHOWN = 200
"""Characters of a value that a sentence shows."""

HARMLESS = frozenset(
    {
        "browser.channel",
        "browser.headless",
        "browser.viewport",
        "browser.device_ratio",
        "browser.device",
        "browser.locale",
        "browser.timezone",
        "observe.quiet_s",
        "observe.settle_deadline_s",
        "observe.scan_deadline_s",
        "observe.navigation_deadline_s",
        "observe.action_deadline_s",
        "observe.custom_action_deadline_s",
        "observe.max_marks",
        "observe.max_surface_marks",
        "observe.ocr_deadline_s",
        "observe.ids",
        "observe.style",
        "observe.picture",
        "observe.longest_edge",
        "observe.marks_on_page",
        "approval.wait_s",
        "model.dialect",
        "model.actions_per_step",
        "model.history",
        "model.previous_picture",
        "model.ablate",
        "model.filter",
        "model.coordinates",
        "model.timeout_s",
        "limits.consecutive_failures",
        "limits.false_completions",
        "limits.stall",
        "limits.on_failure",
    }
)
"""Settings that any file may change: how pages are shown, read and described to the model."""

GRANTS: Mapping[str, str] = {
    "browser.executable_path": "starts that program",
    "browser.cdp_url": "works in that browser, whose owner sees everything",
    "browser.profile": "gives pages what is stored in that profile, and changes it",
    "browser.storage_state": "gives pages the cookies in that file",
    "browser.session": "gives pages the saved sign-in of that name",
    "browser.save_session": "writes what pages store into the saved sign-in",
    "browser.sessions_folder": "reads and writes saved sign-ins there",
    "browser.proxy": "sends all requests through that server",
    "browser.permissions": "lets pages use these",
    "browser.http_auth": "sends that name and password",
    "browser.trace": "writes everything that is typed and sent into the run folder",
    "browser.args": "starts the browser with these arguments, which can start programs and redirect requests",
    "events.dialogs": "answers dialogs of pages",
    "events.prompt": "enters that text into dialogs of pages",
    "events.leave": "leaves pages that ask whether to",
    "approval.risks": "decides what needs approval",
    "approval.words": "decides what needs approval",
    "approval.harmless": "decides what needs no approval",
    "approval.hosts": "decides which hosts need no approval",
    "supervise.name": "decides whose name your answers have in the record",
    "supervise.host": "lets other machines reach the supervision page",
    "supervise.port": "decides where the supervision page is reached",
    "supervise.url": "decides which address people are sent to for the supervision page",
    "supervise.certificate": "decides how the supervision page proves what it is",
    "supervise.key": "decides how the supervision page proves what it is",
    "supervise.plain_http": "lets the supervision page be read and changed on its way",
    "supervise.sign_in_s": "decides how long somebody may sign in to the supervision page",
    "supervise.webhook": "sends pictures of pages, and a link that may approve, to that address",
    "supervise.webhook_secret": "signs requests with that secret, whose owner may forge them",
    "model.name": "shows pages to that model, with your key and at its price",
    "model.fallback": "shows pages to that model, with your key and at its price",
    "model.judge": "shows pages to that model, with your key and at its price",
    "model.base_url": "sends pages, and your key, to that address",
    "model.api_key": "uses that key, whose owner may see what is sent with it",
    "limits.downloads.types": "decides which files pages may leave here",
    "memory": "shows the model the exemplars in that folder, and writes there",
}
"""Settings that a file may change only if it is trusted, and what each does."""

AT_MOST: Mapping[str, str] = {
    "limits.steps": "raises a limit",
    "limits.actions_per_step": "raises a limit",
    "limits.seconds": "raises a limit",
    "limits.tokens": "raises a limit",
    "limits.cost_usd": "raises a limit",
    "limits.submits": "raises a limit",
    "limits.spend": "raises a limit",
    "limits.downloads.count": "raises a limit",
    "limits.downloads.bytes_each": "raises a limit",
    "limits.downloads.total_bytes": "raises a limit",
    "limits.downloads.seconds": "raises a limit",
    "model.max_tokens": "raises what a reply may cost",
    "model.retries": "raises how often a request is repeated",
    "model.repairs": "raises how often a reply is asked for again",
}
"""Numbers that a file may lower on its own, but not raise."""

STRICTEST: Mapping[str, tuple[object, str]] = {
    "approval.ask": ("always", "decides what needs approval"),
    "approval.dry_run": (True, "lets actions be carried out"),
}
"""Settings that a file may change on its own, but only to this value."""

INSIDE: Mapping[str, str] = {"runs": "writes run folders outside the folder of the file"}
"""Paths that a file may change on its own, but only within its own folder."""


class Grant(NamedTuple):
    """One setting of a file that needs trust."""

    key: str
    """Such as `browser.executable_path`."""
    value: str
    """As JSON; without passwords and keys."""
    what: str
    """What the setting does, as the continuation of a sentence about it."""

    @property
    def words(self) -> str:
        """Key, value and what it does, for people."""
        return f"{self.key} = {self.value} ({self.what})"


class ProjectFile(NamedTuple):
    """A settings file of a folder, as it was read once."""

    path: Path
    content: dict[str, Any]
    sha256: str
    """The hash of its bytes, in hexadecimal."""


def read_project_file(path: Path) -> ProjectFile | None:
    """The settings file at a path; None if there is none.

    Raises:
        UsageError: it is not a plain file, is longer than `MOST_BYTES`, or is not TOML.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path} is not a plain file", "remove it, or write your settings into it")
            raw = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise UsageError(f"{path} is a link to nothing", "remove it") from None
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "change its permissions, or remove it") from error
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{path} is longer than {MOST_BYTES >> 20} MiB and is not read", "shorten it")
    try:
        content = tomllib.loads(raw.decode("utf-8"))
    except RecursionError as error:
        raise UsageError(f"{path} cannot be read: its values are nested too deeply", "it is a TOML file") from error
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: {printable_line(str(error))}", "it is a TOML file") from error
    return ProjectFile(path, content, hashlib.sha256(raw).hexdigest())


def grants(now: BaseModel, before: BaseModel, folder: Path) -> tuple[Grant, ...]:
    """What settings would grant that other settings, without the file of `folder`, do not; in the order of the keys."""
    return tuple(_grants(now, before, folder.resolve(), ""))


def rule_of(key: str) -> str:
    """What the file of a folder may do to a setting without being trusted, for people."""
    if any(f"{key}.".startswith(f"{each}.") for each in HARMLESS):
        return "may set it"
    if key in AT_MOST:
        return "may only lower it"
    if key in STRICTEST:
        return f"may only set it to `{json.dumps(STRICTEST[key][0])}`"
    if key in INSIDE:
        return "may only name a path in its folder"
    return "may not set it"


def _grants(now: BaseModel, before: BaseModel, folder: Path, above: str) -> Iterator[Grant]:
    for name in type(now).model_fields:
        key, new, old = above + name, getattr(now, name), getattr(before, name)
        if key in HARMLESS:
            continue
        if isinstance(new, BaseModel) and isinstance(old, BaseModel) and key not in GRANTS:
            yield from _grants(new, old, folder, f"{key}.")
            continue
        # A setting that was given wins over a recorded one even if it has the value of the default.
        is_given = name in now.model_fields_set and name not in before.model_fields_set
        if (new != old or is_given) and (what := _objection(key, new, old, folder)):
            yield Grant(key, _shown(now, name), what)


def _objection(key: str, new: Any, old: Any, folder: Path) -> str:
    """What a file grants that changes a setting from `old` to `new`; empty if it may."""
    if key in AT_MOST:
        return AT_MOST[key] if old is not None and (new is None or new > old) else ""
    if key in STRICTEST:
        strictest, what = STRICTEST[key]
        return what if new != strictest else ""
    if key in INSIDE:
        return INSIDE[key] if not (folder / new).resolve().is_relative_to(folder) else ""
    return GRANTS.get(key, "nobody has said yet what it grants")


def _shown(section: BaseModel, name: str) -> str:
    value = json.dumps(section.model_dump(mode="json", include={name})[name], ensure_ascii=False)
    line = printable_line(value)
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


def require_trust(file: ProjectFile, granted: tuple[Grant, ...]) -> None:
    """Checks that a file grants nothing, or is trusted.

    Raises:
        UsageError: it is not; names each key, the file, and the command that trusts it.
    """
    if not granted or is_trusted(file):
        return
    one = "; ".join(each.words for each in granted)
    raise UsageError(
        f"{file.path} is not trusted, so it cannot set {one}",
        f"read the file; if you agree: vision-agent trust {shlex.quote(str(file.path))}; or give these settings as "
        "options, in the environment or in your own settings file",
    )


def require_inside(folder: Path, runs: Path) -> None:
    """Checks that run folders that are created at the default place stay in the folder: whoever made it may have put a
    link there.

    Raises:
        UsageError: a link leads out.
    """
    try:
        where = (folder / runs).resolve()
    except RuntimeError:  # links in a circle, up to Python 3.12
        where = Path("nowhere")
    if not where.is_relative_to(folder.resolve()):
        raise UsageError(
            f"{folder / runs} is a link to {where}, outside the folder",
            f"remove it, or if you agree: --runs {runs}, or set runs in your own settings file",
        )


def is_trusted(file: ProjectFile) -> bool:
    """Whether a person trusts this path with this content."""
    return _entry(file).is_file()


def trust(file: ProjectFile) -> None:
    """Trusts this path with this content from now on.

    Raises:
        UsageError: the decision cannot be stored.
    """
    entry = _entry(file)
    try:
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(entry, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as kept:
            kept.write(f"{file.path}\n")
    except OSError as error:
        raise UsageError(f"The decision cannot be stored in {entry.parent}: {error.strerror}") from error


def distrust(file: ProjectFile) -> None:
    """Trusts this path with this content no longer.

    Raises:
        UsageError: the decision cannot be removed.
    """
    entry = _entry(file)
    try:
        entry.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{entry} cannot be removed: {error.strerror}", "remove it by hand") from error


def _entry(file: ProjectFile) -> Path:
    """The file that stands for the decision; its name is the hash of path and content."""
    name = hashlib.sha256(f"{file.path}\0{file.sha256}".encode("utf-8", "surrogateescape")).hexdigest()
    return Path(platformdirs.user_data_dir("vision-agent")) / "trusted" / name
