"""The options that several commands share, in groups, and the parsing of their values. No logic lives here."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

import typer

from vision_agent.cli.completion import offered_runs, offered_values
from vision_agent.errors import UsageError, why_unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import SecretStr

    from vision_agent.ports import Approver
    from vision_agent.settings import Settings
    from vision_agent.types import PrivateKind, Secret

_ORIGIN = re.compile(
    r"(?:https?://)?(?:\*\.)?(?:[^\s/:@?#*,\\%\[\]]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?/?", re.IGNORECASE
)
"""Scheme, host and port, as `Secret.origins` takes them: also with `*.` before the host, or a host alone."""
_HIGHEST_PORT = 65535


def option(help: str, name: str, value: str | None = None) -> Any:
    """An option whose default is not shown in the help; `value`: what it takes, such as `FILE` or `one|several`."""
    parser, offers = _PARSERS.get(value or ""), offered_values(name, value)
    return typer.Option(name, help=help, show_default=False, metavar=value, parser=parser, autocompletion=offers)


def _dollars(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter("it takes US dollars, such as 0.50") from None


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter("it takes a number of seconds, such as 90") from None


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter("it takes a whole number, such as 10") from None


_PARSERS: dict[str, Callable[[str], float]] = {"USD": _dollars, "SECONDS": _seconds, "N": _whole_number}
"""How the value of an option is read, by the word that the help has for it."""


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Executable = Annotated[Path | None, option("Path of the browser executable.", "--browser", "FILE")]
Cdp = Annotated[str | None, option("CDP address or port of a running browser to connect to.", "--cdp", "URL")]
Viewport = Annotated[str | None, option("Size of the viewport, such as 1280x800.", "--viewport", "WxH")]
Runs = Annotated[Path | None, option("Folder in which run folders are created.", "--runs", "FOLDER")]
LatestIn = Annotated[
    Path | None,
    option(
        "Folder in which latest and names of runs are looked for; default: that of the settings.", "--runs", "FOLDER"
    ),
]
RunName = Annotated[str | None, option("Name of the run folder; default: one made from the time.", "--name", "NAME")]
Video = Annotated[Path | None, option("Also write the run as a film: .webm, .mp4, .webp or .gif.", "--video", "FILE")]
BaseUrl = Annotated[
    str | None,
    option(
        "Address of the model's server, such as http://127.0.0.1:8000/v1 for openai-compatible:<model>.",
        "--base-url",
        "URL",
    ),
]
MaxSeconds = Annotated[float | None, option("Time limit of the run, in seconds.", "--max-seconds", "SECONDS")]


def run_argument(help: str) -> Any:
    """An argument that takes a run folder, the name of a run, or `latest`; the command passes it to `named_run`."""
    return typer.Argument(help=help, show_default=False, autocompletion=offered_runs)


@dataclass(frozen=True)
class LaunchOptions:
    """The options of a launched browser and its viewport."""

    panel: ClassVar = "Browser"

    executable: Executable = None
    viewport: Viewport = None
    device: Annotated[str | None, option("Emulated device, such as 'Pixel 7'.", "--device", "NAME")] = None
    locale: Annotated[str | None, option("Locale, such as de-DE.", "--locale", "NAME")] = None
    session: Annotated[
        str | None, option("Saved sign-in to begin with; see `vision-agent login`.", "--session", "NAME")
    ] = None
    storage_state: Annotated[
        Path | None, option("File of cookies and storage saved by Playwright.", "--storage-state", "FILE")
    ] = None

    @property
    def view(self) -> dict[str, Any]:
        """The viewport, device and locale that were given."""
        return given(viewport=size_of(self.viewport), device=self.device, locale=self.locale)

    @property
    def flags(self) -> dict[str, Any]:
        """The given options as arguments of `settings.load`."""
        return browser_flags(self.executable, **self.view, storage_state=self.storage_state, session=self.session)


@dataclass(frozen=True)
class BrowserOptions(LaunchOptions):
    """The options of a launched or connected browser and its viewport."""

    cdp: Cdp = None
    profile: Annotated[
        Path | None,
        option("Browser profile that runs share; an empty or missing folder becomes one.", "--profile", "FOLDER"),
    ] = None
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser window.")] = False

    @property
    def flags(self) -> dict[str, Any]:
        """The given options as arguments of `settings.load`."""
        own = {"storage_state": self.storage_state, "session": self.session, "profile": self.profile}
        return browser_flags(self.executable, self.cdp, self.headed, **self.view, **own)


@dataclass(frozen=True)
class SecretsAgainOptions:
    """The secrets of a recorded run, whose values its record does not have; the record says what kind each is."""

    secret: Annotated[
        list[str] | None,
        option("A secret of the run: name=VARIABLE, read from the environment.", "--secret", "NAME=VARIABLE"),
    ] = None
    code: Annotated[
        list[str] | None,
        option(
            "One-time codes of the run: name=VARIABLE, which holds the key that makes them.", "--code", "NAME=VARIABLE"
        ),
    ] = None
    private: Annotated[
        list[str] | None,
        option("Private data of the run: name=VARIABLE, read from the environment.", "--private", "NAME=VARIABLE"),
    ] = None

    @property
    def written(self) -> list[str]:
        """The given options as they are written in a command."""
        return written(("--secret", self.secret), ("--code", self.code), ("--private", self.private))

    def values_for(self, run: Path) -> dict[str, SecretStr]:
        """The values by their names, each given with the option for what the record of the run says that it is.

        Raises:
            UsageError: one is not of the form `name=VARIABLE`, that variable is not set, or the option is for another
                kind of secret.
        """
        if self.code or self.secret:
            self._check_kinds(run)
        given = (
            *secrets_of(self.secret),
            *secrets_of(self.code, "--code", is_code=True),
            *secrets_of(self.private, "--private", is_private=True),
        )
        return {each.name: each.value for each in given}

    def _check_kinds(self, run: Path) -> None:
        from vision_agent.record.read import read_run_file

        no_codes = {each.name: each for each in read_run_file(run).task.secrets if not each.is_code}
        form = "name=VARIABLE"
        asked = [
            (name, "was given with --code, which is for the key of one-time codes")
            for name, _ in pairs_of(self.code, "--code", form)
        ]
        for name, variable in pairs_of(self.secret, "--secret", form):
            if os.environ.get(variable, "").startswith("otpauth://"):
                asked.append((name, f"is to be read from {variable}, which holds the key of one-time codes"))
        for name, wrong in asked:
            if name in no_codes:
                kind, flag = (
                    ("private data", "private") if no_codes[name].is_private else ("an ordinary secret", "secret")
                )
                raise UsageError(
                    f"The secret {name} {wrong}, but the run knows it as {kind}",
                    f"give the value itself: --{flag} {name}=VARIABLE",
                )


@dataclass(frozen=True)
class SuperviseOptions:
    """Whether and where a person supervises the run."""

    panel: ClassVar = "Supervision"

    supervise: Annotated[
        bool,
        typer.Option("--supervise", help="Open a page that shows the run and asks before each step; see --approve."),
    ] = False
    supervise_host: Annotated[
        str | None, option("Address that the page listens on, such as 0.0.0.0.", "--supervise-host", "HOST")
    ] = None
    supervise_port: Annotated[int | None, option("Port that it listens on.", "--supervise-port", "PORT")] = None
    supervise_url: Annotated[
        str | None,
        option("Where browsers reach it, such as https://agent.example:8443.", "--supervise-url", "URL"),
    ] = None
    supervise_certificate: Annotated[
        Path | None, option("TLS certificate of the page, as PEM.", "--supervise-certificate", "FILE")
    ] = None
    supervise_key: Annotated[
        Path | None, option("Private key of that certificate, as PEM.", "--supervise-key", "FILE")
    ] = None
    supervise_plain_http: Annotated[
        bool,
        typer.Option(
            "--supervise-plain-http", help="Listen beyond this machine without TLS, behind a proxy that adds it."
        ),
    ] = False
    webhook: Annotated[
        str | None,
        option("Address to which each proposal is posted, with its picture and a link.", "--webhook", "URL"),
    ] = None

    @property
    def written(self) -> list[str]:
        """The given options as they are written in a command."""
        return written(
            ("--supervise", self.supervise),
            ("--supervise-host", self.supervise_host),
            ("--supervise-port", self.supervise_port),
            ("--supervise-url", self.supervise_url),
            ("--supervise-certificate", self.supervise_certificate),
            ("--supervise-key", self.supervise_key),
            ("--supervise-plain-http", self.supervise_plain_http),
            ("--webhook", self.webhook),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The given options as settings.

        Raises:
            UsageError: one was given, and `--supervise` was not.
        """
        found = given(
            host=self.supervise_host,
            port=self.supervise_port,
            url=self.supervise_url,
            certificate=self.supervise_certificate,
            key=self.supervise_key,
            plain_http=self.supervise_plain_http or None,
            webhook=self.webhook,
        )
        if found and not self.supervise:
            name = "--webhook" if self.webhook else f"--supervise-{min(found).replace('_', '-')}"
            raise UsageError(f"{name} needs --supervise", "add it")
        return found


@dataclass(frozen=True)
class LimitOptions:
    """The limits of a run."""

    panel: ClassVar = "Limits"

    max_steps: Annotated[int | None, option("Maximum number of steps.", "--max-steps", "N")] = None
    max_seconds: MaxSeconds = None
    max_cost: Annotated[float | None, option("Maximum cost of the model, in US dollars.", "--max-cost", "USD")] = None
    max_tokens: Annotated[
        int | None, option("Maximum number of tokens that the model may use.", "--max-tokens", "N")
    ] = None
    max_submits: Annotated[int | None, option("Number of forms that may be submitted.", "--max-submits", "N")] = None
    max_spend: Annotated[
        str | None, option("Money that may be spent on pages, such as '50 EUR'.", "--max-spend", "AMOUNT")
    ] = None
    max_downloads: Annotated[int | None, option("Number of downloads that may start.", "--max-downloads", "N")] = None
    max_download_bytes: Annotated[
        int | None, option("Bytes of one download; a larger one is cut.", "--max-download-bytes", "N")
    ] = None
    download_types: Annotated[
        str | None,
        option(
            "File extensions that downloads may have, such as pdf,csv; others are refused.", "--download-types", "TYPES"
        ),
    ] = None

    @property
    def limits(self) -> dict[str, Any]:
        """The given limits."""
        types = tuple(each.strip() for each in self.download_types.split(",")) if self.download_types else None
        downloads = given(count=self.max_downloads, bytes_each=self.max_download_bytes, types=types)
        return given(
            steps=self.max_steps,
            seconds=self.max_seconds,
            cost_usd=self.max_cost,
            tokens=self.max_tokens,
            submits=self.max_submits,
            spend=self.max_spend,
            downloads=downloads or None,
        )


class TerminalPerson:
    """A person who answers questions in the terminal."""

    def __init__(self) -> None:
        self.hush: Callable[[], None] = lambda: None
        """Called before each question: nothing else may move in the terminal while one is open."""

    async def __call__(self, question: str) -> str | None:
        """The answer; None if it is empty, or the input was closed, as by Ctrl-D."""
        from vision_agent.models.offline.human import read_terminal

        self.hush()
        with suppress(EOFError):
            return await read_terminal(f"{question}\n(An empty answer ends the run.)\n> ") or None
        return None


def terminal_person() -> TerminalPerson | None:
    """A person who answers questions in the terminal; None without a terminal."""
    return TerminalPerson() if sys.stdin.isatty() else None


def has_window(settings: Settings) -> bool:
    """Whether the browser of these settings has a window in which a person can take over."""
    return settings.browser.cdp_url is not None or not settings.browser.headless


def terminal_approver(as_json: bool, settings: Settings) -> Approver | None:
    """An approver that asks in the terminal; None without a terminal.

    Raises:
        UsageError: with `as_json`, because the output is meant for a program.
    """
    if not sys.stdin.isatty():
        return None
    if as_json:
        raise UsageError(
            "--json cannot be combined with questions in the terminal", "leave out --json, or use --approve never"
        )
    from vision_agent.supervise.terminal import TerminalApprover

    return TerminalApprover(has_window=has_window(settings), name=settings.supervise.name)


def require_folder_of(file: Path | None, option: str) -> None:
    """Checks, before the work, that a file can be written: its folder is there, as none is made for a misspelt path.

    Raises:
        UsageError: it is not, or a folder is named.
    """
    if file is not None and (not file.name or file.is_dir()):
        raise UsageError(f"{option} names a folder, {file}", "name a file in it")
    if file is not None and not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.absolute().parent} for {option}", "make it, or name another")


def existing_files(paths: list[Path] | None) -> tuple[Path, ...]:
    """The paths, after checking that each is an existing file."""
    for path in paths or ():
        if not path.is_file():
            raise UsageError(f"There is no file {path} to upload", "give an existing file with --file")
    return tuple(paths or ())


def schema_in(path: Path | None) -> dict[str, Any] | None:
    """The JSON schema in a file.

    Raises:
        UsageError: the file cannot be read, or has no JSON schema.
    """
    if path is None:
        return None
    try:
        schema = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        why = why_unreadable(error)
        raise UsageError(f"--output-schema {path} cannot be read: {why}", "give a file with a JSON schema") from error
    if not isinstance(schema, dict):
        raise UsageError(f"--output-schema {path} is not a JSON schema", 'one looks like {"type": "object", …}')
    from vision_agent.policy.success_checks import check_schema

    check_schema(schema)
    return schema


def files_in(folder: Path | None) -> tuple[Path, ...]:
    """The files directly in a folder, as they are now; links that lead out of it are left out."""
    if folder is None:
        return ()
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} with files to upload", "give one with --upload-folder")
    whole = folder.resolve()
    return tuple(sorted(each for each in folder.iterdir() if each.is_file() and each.resolve().parent == whole))


def secrets_of(
    texts: list[str] | None,
    option: str = "--secret",
    *,
    fields: list[str] | None = None,
    is_code: bool = False,
    is_private: bool = False,
    environment: Mapping[str, str] | None = None,
) -> tuple[Secret, ...]:
    """The secrets of `name=VARIABLE` arguments, with the values of the environment variables.

    `fields`: `name=type` arguments, the types of fields that a secret may be typed into. `environment`: the variables;
    None: those of this process.
    """
    from pydantic import SecretStr

    from vision_agent.types import Secret

    found, types = [], dict(pairs_of(fields, "--secret-field", "name=types"))
    known = os.environ if environment is None else environment
    variables = pairs_of(texts, option, "name=VARIABLE")
    if unknown := set(types) - {name for name, _ in variables}:
        raise UsageError(f"--secret-field names {min(unknown)}, which is not a secret", f"give it with {option}")
    for name, variable in variables:
        if variable not in known:
            raise UsageError(
                f"The secret {name} is to be read from the environment variable {variable}, which is not set",
                f"export {variable}=…",
            )
        if environment is None and known[variable] == f"<{variable}>":
            raise UsageError(f"{variable} is <{variable}>, which stands for its value", "set its value")
        if known[variable].startswith("otpauth://") and not is_code:
            raise UsageError(
                f"{variable} holds the key of one-time codes, which {option} would type as it is",
                f"give it with --code {name}={variable}",
            )
        into = tuple(each.strip() for each in types.get(name, "").split(",") if each.strip())
        value = SecretStr(known[variable])
        found.append(Secret(name=name, value=value, fields=into, is_code=is_code, is_private=is_private))
    return tuple(found)


def bound_to_origins(secrets: tuple[Secret, ...], origins: list[str] | None) -> tuple[Secret, ...]:
    """The secrets, each with the origins that `name=origin` arguments give it; several are separated by commas.

    Raises:
        UsageError: an argument names no secret, or something that is no origin.
    """
    known = {each.name for each in secrets}
    bound: dict[str, list[str]] = {}
    for name, text in pairs_of(origins, "--secret-origin", "name=https://shop.example"):
        if name not in known:
            raise UsageError(
                f"--secret-origin names {name}, which is not a secret", "give it with --secret, --code or --private"
            )
        bound.setdefault(name, []).extend(_origins_in(text, name))
    return tuple(each.model_copy(update={"origins": tuple(bound.get(each.name, each.origins))}) for each in secrets)


def _origins_in(text: str, name: str) -> list[str]:
    found = [each.strip() for each in text.split(",") if each.strip()]
    if wrong := next((each for each in found if not _is_origin(each)), "" if found else text):
        raise UsageError(
            f"--secret-origin {name}={wrong} names no origin",
            "give scheme, host and port and nothing after them, such as https://shop.example or http://127.0.0.1:8000",
        )
    return found


def _is_origin(text: str) -> bool:
    matched = _ORIGIN.fullmatch(text)
    return matched is not None and int(matched["port"] or 0) <= _HIGHEST_PORT


def private_kinds_of(kinds: list[str]) -> tuple[PrivateKind, ...]:
    """The kinds of private data of these names, each once."""
    from vision_agent.types import PrivateKind

    known: dict[str, PrivateKind] = {each: each for each in get_args(PrivateKind)}
    if unknown := next((each for each in kinds if each not in known), None):
        raise UsageError(
            f"--private {unknown!r} names no kind of private data; the kinds are {', '.join(known)}",
            "give a value of its own as name=VARIABLE",
        )
    return tuple(dict.fromkeys(known[each] for each in kinds))


def pairs_of(texts: list[str] | None, option: str, form: str = "name=value") -> list[tuple[str, str]]:
    """The name and value of each argument of this form, such as `name=VARIABLE`."""
    return [_pair_of(text, option, form) for text in texts or ()]


def _pair_of(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        hint = "VARIABLE is the name of an environment variable, never the value" if "VARIABLE" in form else ""
        raise UsageError(f"{option} {text!r} is not of the form {form}", hint)
    return name, value


def named_run(folder: Path, runs: Path | None = None) -> Path:
    """The folder of the latest run for `latest`, and of a run for its name, if nothing else is called that here; else
    the path as it is.

    `runs` is the folder of runs that was named with `--runs`.

    Raises:
        UsageError: there is no run.
    """
    if str(folder) != folder.name or folder.name == ".." or os.path.lexists(folder):
        return folder
    from vision_agent.record.run_list import is_run_folder, latest_run

    home = load_settings(**given(runs=runs)).runs
    if folder.name == "latest":
        return latest_run(home)
    return home / folder if is_run_folder(home / folder) else folder


def named_beginning(where: str | None, runs: Path | None) -> str | None:
    """The same for `--begin`, where the number of steps may follow: `latest:3`."""
    if where is None or Path(where).exists():
        return where
    name, colon, steps = where.partition(":")
    return f"{named_run(Path(name), runs)}{colon}{steps}"


def hosts_of(texts: list[str] | None) -> tuple[str, ...]:
    """The hosts of these arguments; one may name several, separated by commas."""
    return tuple(each.strip() for text in texts or () for each in text.split(",") if each.strip())


def size_of(text: str | None) -> dict[str, int] | None:
    """The viewport `1280x800` as the settings take it."""
    if text is None:
        return None
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise UsageError(f"--viewport {text!r} is not of the form 1280x800")
    return {"width": int(width), "height": int(height)}


_FLAGS = {
    "limits.steps": "--max-steps",
    "limits.seconds": "--max-seconds",
    "limits.cost_usd": "--max-cost",
    "limits.tokens": "--max-tokens",
    "limits.submits": "--max-submits",
    "limits.spend": "--max-spend",
    "limits.downloads.count": "--max-downloads",
    "limits.downloads.bytes_each": "--max-download-bytes",
    "limits.downloads.types": "--download-types",
    "model.name": "--model",
    "model.base_url": "--base-url",
    "model.judge": "--judge",
    "model.dialect": "--dialect",
    "model.history": "--history",
    "model.actions_per_step": "--actions-per-step",
    "model.ablate": "--ablate",
    "approval.ask": "--approve",
    "browser.executable_path": "--browser",
    "browser.cdp_url": "--cdp",
    "browser.viewport": "--viewport",
    "browser.device": "--device",
    "browser.locale": "--locale",
    "browser.proxy": "--proxy",
    "browser.profile": "--profile",
    "browser.storage_state": "--storage-state",
    "browser.session": "--session",
    "supervise.host": "--supervise-host",
    "supervise.port": "--supervise-port",
    "supervise.url": "--supervise-url",
    "supervise.certificate": "--supervise-certificate",
    "supervise.key": "--supervise-key",
    "supervise.webhook": "--webhook",
    "runs": "--runs",
    "memory": "--memory",
}
"""The option that sets a settings key."""


def load_settings(**flags: Any) -> Settings:
    """The effective settings with these flags.

    Raises:
        UsageError: a value is invalid; the message names the option, or the settings key if no option gave it.
    """
    from vision_agent.settings import load

    return load(_FLAGS, "the command line", **flags)


def written(*options: tuple[str, Any]) -> list[str]:
    """The options that were given, as the words of a command; one that is given several times has a list of values."""
    words: list[str] = []
    for name, value in options:
        if value is True:
            words.append(name)
        for each in value if isinstance(value, list) else [value]:
            if each is not None and not isinstance(each, bool):
                words += [name, str(each)]
    return words


def given(**flags: Any) -> dict[str, Any]:
    """The flags that are not None."""
    return {name: value for name, value in flags.items() if value is not None}


def browser_flags(
    executable: Path | None = None, cdp: str | None = None, headed: bool = False, **more: Any
) -> dict[str, Any]:
    """The given browser flags as arguments of `settings.load`, which reads the others from its other sources."""
    flags = {"executable_path": executable, "cdp_url": cdp, "headless": False if headed else None, **more}
    return given(browser=given(**flags) or None)
