"""User-configurable settings. Flags override the environment, the environment the files, and the files the defaults.

The files are `vision-agent.toml` in the current folder and in the user's configuration folder; the first overrides the
second. By itself the file of the current folder sets only what is harmless; `vision-agent trust` lets it set the rest.
Variables are named like `VISION_AGENT_BROWSER__HEADLESS=false`. Unknown keys are errors.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError

from vision_agent.base_model import RenamedFields, SettingsModel
from vision_agent.errors import UsageError, why_unreadable
from vision_agent.geometry import Size
from vision_agent.observation import Kind, MarkStyle
from vision_agent.settings_faults import fault_list, key_meant, wrong_value
from vision_agent.settings_trust import Grant, ProjectFile, grants, read_project_file, require_inside, require_trust
from vision_agent.text.escape import printable_line
from vision_agent.text.urls import host_of
from vision_agent.types import Limits, Risk

FILE_NAME = "vision-agent.toml"

Coordinates = Literal["pixels", "thousandths", "fractions"]
"""How a model gives a point: in pixels of the picture, or in parts of its width and height (0 to 999, or 0 to below 1).
"""

History = Literal["full", "short", "data", "compressed"]
Dialect = Literal["marks", "browser"]
PerStep = Literal["one", "several"]
Ablated = Literal["picture", "marks", "listing", "memory", "filter", "history"]


_Share = Annotated[float, Field(ge=0, le=1)]
_Lasting = Annotated[float, Field(ge=0, le=86_400)]
"""Seconds, a day at most: the browser's own timers end at 24 days, and with a longer time at once."""
_Deadline = Annotated[float, Field(gt=0, le=86_400)]
"""Seconds until something is given up; 0 would be no deadline to Playwright."""
_Count = Annotated[int, Field(ge=0, le=1000)]
_SHORTEST_VIEW = 100
_LONGEST_VIEW = 16_384
"""The longest edge, in CSS pixels; Chromium draws nothing that is longer."""
_LONGEST_SHAPE = 8
"""Times that one edge may be as long as the other; the picture of a longer strip has no room for labels."""
_MOST_PIXELS = 64_000_000
"""The most pixels in the picture of a view; `vision.picture` decodes no larger one."""


_CDP_SCHEMES = ("http://", "https://", "ws://", "wss://")


class ProxySettings(SettingsModel):
    """The proxy of a launched browser."""

    server: str
    """Its address, such as `http://proxy.example.org:3128` or `socks5://127.0.0.1:1080`."""
    bypass: str | None = None
    """Hosts that are reached without it, separated by commas."""
    username: str | None = None
    """The user name, if the proxy asks for one."""
    password: SecretStr | None = None
    """The password, if the proxy asks for one."""


class HttpAuthSettings(SettingsModel):
    """User name and password for HTTP authentication."""

    origin: str
    """The only origin they are sent to, such as `https://example.org`."""
    username: str
    """The user name sent to that origin."""
    password: SecretStr
    """The password sent to that origin."""


class EventSettings(SettingsModel):
    """How to answer dialogs of the page. The model is told about each one."""

    dialogs: Literal["dismiss", "accept"] = "dismiss"
    """The answer to `alert`, `confirm` and `prompt` dialogs."""
    prompt: str = ""
    """The text entered when a prompt is accepted."""
    leave: bool = False
    """Whether to leave a page that shows a `beforeunload` prompt."""


class BrowserSettings(SettingsModel):
    """The browser to launch or to connect to."""

    executable_path: Path | None = None
    """The browser to launch; None: Playwright's own build, or else an installed one."""
    channel: Literal["chrome", "msedge"] | None = None
    """An installed Chrome or Edge to launch instead."""
    cdp_url: str | None = None
    """Connect to a running browser instead of launching one, such as `http://127.0.0.1:9222`."""
    headless: bool = True
    """Whether the launched browser has no window."""
    viewport: Size = Size(width=1280, height=800)
    """Size of the page's view, in CSS pixels."""
    device_ratio: float = Field(default=1.0, ge=0.25, le=8)
    """Device pixels per CSS pixel."""
    device: str | None = None
    """A device that Playwright knows, such as `Pixel 7`; it sets viewport and ratio."""
    locale: str | None = None
    """The language and number format of pages, such as `de-DE`; None: the browser's own."""
    timezone: str | None = None
    """The time zone of pages, such as `Europe/Berlin`; None: the system's."""
    profile: Path | None = None
    """The folder of a browser profile that runs share: what pages store stays there from one run to the next. An empty
    or missing folder becomes one. For one browser at a time, that is launched and is a whole Chromium."""
    storage_state: Path | None = None
    """Cookies and local storage, as saved by Playwright."""
    session: str | None = None
    """The name of a saved sign-in to begin with, as `vision-agent login` makes them."""
    save_session: bool = False
    """Whether to save that sign-in again when the browser closes, or for the first time."""
    sessions_folder: Path | None = None
    """The folder of saved sign-ins; None: one in the user's data folder."""
    proxy: ProxySettings | None = None
    """The proxy of a launched browser; None: no proxy."""
    permissions: tuple[str, ...] = ()
    """Permissions granted to pages, such as `geolocation` or `clipboard-read`; all others are denied."""
    http_auth: HttpAuthSettings | None = None
    """User name and password for HTTP authentication; None: none are sent."""
    trace: bool = False
    """Also write Playwright's own trace to `trace.zip` in the run folder. It holds everything typed and sent, so runs
    with secrets are refused; it also adds a global to the page. Launched browsers only."""
    args: tuple[str, ...] = ()
    """Extra command-line arguments for the browser."""

    @field_validator("cdp_url")
    @classmethod
    def _with_scheme(cls, url: str | None) -> str | None:
        """With its scheme: a port is one of this machine, and what has no scheme speaks HTTP."""
        if url is None:
            return None
        if url.isdecimal():
            url = f"127.0.0.1:{url}"
        whole = url if "://" in url else f"http://{url}"
        if not whole.startswith(_CDP_SCHEMES) or not host_of(whole):
            raise ValueError("a running browser has an address such as http://127.0.0.1:9222")
        return whole

    @field_validator("viewport")
    @classmethod
    def _with_an_area(cls, view: Size) -> Size:
        if not all(_SHORTEST_VIEW <= each <= _LONGEST_VIEW for each in (view.width, view.height)):
            raise ValueError(f"width and height should be {_SHORTEST_VIEW} to {_LONGEST_VIEW}")
        if max(view.width, view.height) > _LONGEST_SHAPE * min(view.width, view.height):
            raise ValueError(f"width and height should differ at most {_LONGEST_SHAPE} times")
        return view

    @model_validator(mode="after")
    def _with_a_picture(self) -> Self:
        if self.viewport.width * self.viewport.height * self.device_ratio**2 > _MOST_PIXELS:
            raise ValueError(f"viewport and device_ratio together make a picture of over {_MOST_PIXELS:,} pixels")
        return self


class ObserveSettings(RenamedFields, SettingsModel):
    """How the page is observed."""

    old_names: ClassVar[Mapping[str, str]] = {
        "rest_deadline_s": "settle_deadline_s",
        "own_action_deadline_s": "custom_action_deadline_s",
        "most_marks": "max_marks",
        "most_drawn": "max_surface_marks",
        "read_words_s": "ocr_deadline_s",
    }

    quiet_s: _Lasting = 0.15
    """A page is stable when nothing has changed for this long."""
    settle_deadline_s: _Lasting = 3.0
    """Observe after this long even if the page is not stable, and report that."""
    scan_deadline_s: _Deadline = 10.0
    """A frame that has not answered by then is left out of the observation; a warning names it."""
    navigation_deadline_s: _Deadline = 30.0
    """How long opening an address, or going back, forward or reloading, may take."""
    action_deadline_s: _Deadline = 5.0
    """How long one part of an action may take, such as finding its target; the whole may take several times that."""
    custom_action_deadline_s: _Deadline = 120.0
    """For a custom action as a whole, including the actions it carries out."""
    max_marks: int = Field(default=800, ge=1, le=100_000)
    """Marks in one picture; the listing counts the rest, and zooming in shows them."""
    max_surface_marks: int = Field(default=40, ge=0, le=10_000)
    """Marks found in the pixels of one surface (canvas, WebGL, video); 0 turns this off."""
    ocr_deadline_s: _Lasting = 5.0
    """Time for reading words in surfaces, if the `ocr` extra is installed; the rest is read at the next observation."""
    ids: Literal["numbers", "letters"] = "numbers"
    """`letters` puts a letter before each number: I field, B button, L link, F picture, O option, M other."""
    style: MarkStyle = "coloured"
    """Style of the marks. `coloured`: a box and a number, coloured by kind. `plain`: the same in one colour. `numbers`:
    coloured numbers without boxes."""
    picture: Literal["png", "jpeg"] = "png"
    """Format of the marked picture; JPEG has quality 92 and no chroma subsampling."""
    longest_edge: int | None = Field(default=None, ge=320, le=16_384)
    """Longest edge of the pictures, in pixels; None: what suits the model."""
    marks_on_page: bool = False
    """Also show the marks on the live page, for a person watching."""


class FilterSettings(SettingsModel):
    """Which lines of a long listing are hidden from the model: those that meet all of these conditions.

    A line is never hidden if its mark has the focus, is new or changed, is in a dialog, or was named before.
    """

    above_lines: int = Field(default=100, ge=0, le=10**9)
    """The listing is longer than this."""
    kinds: tuple[Kind, ...] = ("link",)
    """The mark is of one of these kinds: `field`, `button`, `link`, `toggle`, `scroller`, `surface`, `guess`."""
    words: tuple[str, ...] = ()
    """Neither the line nor a line near it contains a word of the task, or one of these."""
    beside_lines: int = Field(default=5, ge=0, le=10**9)
    """How many lines before and after count as near."""
    beyond_px: float = Field(default=200.0, ge=0, le=10**9)
    """The mark is farther than this from the focus, or without one from where input last went."""
    region: tuple[_Share, _Share, _Share, _Share] | None = None
    """The centre of the mark is outside this part of the view (left, top, right, bottom, each 0 to 1); None: anywhere.
    """


MODEL_FAMILIES = {"claude": "anthropic", "gpt": "openai", "o3": "openai", "o4": "openai", "gemini": "google"}
"""The providers of models by how their names begin."""


def full_model_name(name: str) -> str:
    """The name with its provider, where its beginning tells which: `anthropic:claude-sonnet-5-5`."""
    family, dash, _ = name.strip().partition("-")
    return f"{MODEL_FAMILIES[family]}:{name.strip()}" if dash and family in MODEL_FAMILIES else name


class ModelSettings(SettingsModel):
    """Which model decides, and what it is shown."""

    name: str = "anthropic:claude-sonnet-5-5"
    """`anthropic:<model>`, `openai:<model>`, `google:<model>`, `openai-compatible:<model>`, `steps` or `human`. The
    provider of `claude-…`, `gpt-…` and `gemini-…` may be left out."""
    fallback: str | None = None
    """The model that takes over for the rest of a run if the first cannot be asked or gives no usable reply. The
    address and key below apply to it only if it has the same provider."""
    judge: str | None = None
    """The model that checks a claimed completion: `<provider>:<model>`, or `same` for the deciding one. None: no model
    does; only the task's own checks apply."""
    dialect: Dialect = "marks"
    """How the model is asked. `marks`: each request has the marked picture and the listing and gets one typed reply.
    `browser`: Claude's own browser toolset over the same marks; its conversation is then the history."""
    actions_per_step: PerStep = "several"
    """`several`: the model may decide several actions for one picture. `one`: it looks again after each action."""
    history: History = "data"
    """What the model is told about earlier steps. `data`: goals, outcomes, memory, text read, and three marks of each
    page. `short`: goals, outcomes, memory; the last step as with `data`. `full`: also the whole listing of each step.
    `compressed`: ten steps in one entry once they are far back."""
    previous_picture: bool = False
    """Also send the picture of the previous step."""
    ablate: tuple[Ablated, ...] = ()
    """What to withhold from the model, to measure its worth: the `picture`; its `marks` (the clean picture is sent);
    the `listing`; its `memory` and the exemplar; the `filter` (no line is hidden, and no mark of an earlier page is
    listed); the `history`."""
    filter: FilterSettings = FilterSettings()
    """Which lines of a long listing are hidden from the model."""
    base_url: str | None = None
    """Address of the server of the provider in `name`, such as `http://127.0.0.1:8000/v1`; None: the one that
    the provider or its environment variable gives. Set `name` too."""
    api_key: SecretStr | None = None
    """None: the provider's environment variable, such as `OPENAI_API_KEY`; `openai-compatible` has none, and its
    server then gets no key."""
    coordinates: Coordinates | None = None
    """How the model gives points: `pixels`, `thousandths` or `fractions`; None: as known for the model, else pixels."""
    max_tokens: int = Field(default=8192, ge=1, le=10**7)
    """Longest reply, in tokens."""
    timeout_s: _Deadline = 120.0
    """How long one request may take."""
    retries: _Count = 3
    """Retries of a failed request; the client waits longer each time."""
    repairs: _Count = 2
    """How often an unusable reply is sent back before the step counts as failed."""

    @field_validator("name", "fallback", "judge")
    @classmethod
    def _with_provider(cls, name: str | None) -> str | None:
        return name and full_model_name(name)

    @field_validator("base_url")
    @classmethod
    def _with_scheme(cls, url: str | None) -> str | None:
        if url is not None and not (url.startswith(("http://", "https://")) and host_of(url)):
            raise ValueError("a model's server has an address such as http://127.0.0.1:8000/v1")
        return url


class ApprovalSettings(SettingsModel):
    """Which decisions need a person's approval. A policy file has these keys at its top level."""

    ask: Literal["never", "risky", "always"] = "never"
    """`risky`: decisions with an action of the risks below. If nobody can be asked, the run ends with exit code 4."""
    dry_run: bool = False
    """Carry out only actions that look (scroll, hover, zoom, wait, read, extract); the first other action ends the run
    and is reported. Nobody is asked, because nothing is done."""
    risks: tuple[Risk, ...] = ("submit", "pay", "delete", "send", "upload", "leave", "copy")
    """What counts as risky: submitting forms, payments, deletions, messages, uploads, other hosts, and text that was
    seen on one site and is given to another."""
    words: dict[Risk, tuple[str, ...]] = {}
    """More words that indicate a risk in the name of what is pressed; `buy*` matches every word that starts with `buy`.
    """
    harmless: tuple[str, ...] = ()
    """Names that are not risky, such as `Remove filter`."""
    hosts: tuple[str, ...] = ()
    """Other hosts that belong to the site, exact or `*.example.org`."""
    wait_s: float = Field(default=3600.0, gt=0, le=10**9)
    """How long to wait for an answer; then the run ends with exit code 4."""


class SuperviseSettings(SettingsModel):
    """How the supervision page is served, who is told about a proposal, and who answers."""

    name: str = Field(default="", max_length=64)
    """Your name, which the record keeps with each answer that you give in the terminal. On the page, each person gives
    their own."""
    host: str = "127.0.0.1"
    """The address to listen on: `0.0.0.0` for every network of this machine. Another than loopback needs a certificate,
    or `plain_http`."""
    port: int = Field(default=0, ge=0, le=65_535)
    """The port to listen on; 0: any that is free."""
    url: str | None = None
    """Where browsers reach the page, such as `https://agent.example:8443`; None: at `host` and `port`."""
    certificate: Path | None = None
    """A file with the TLS certificate and those that vouch for it, as PEM."""
    key: Path | None = None
    """A file with its private key, as PEM; None: it is in the file of the certificate."""
    plain_http: bool = False
    """Whether to listen without TLS on another address than loopback: behind a proxy that encrypts."""
    sign_in_s: float = Field(default=3600.0, gt=0, le=10**6)
    """How long the address that is printed can be opened, in seconds."""
    webhook: str | None = None
    """An address to which each proposal that needs approval is posted, with its marked picture and a link."""
    webhook_secret: SecretStr | None = None
    """The secret that its requests are signed with, of at least 16 characters."""


class _Sources(NamedTuple):
    """What settings are read from, besides the values that are given."""

    project: ProjectFile | None = None
    own: ProjectFile | None = None
    has_environment: bool = True


_SOURCES: ContextVar[_Sources] = ContextVar("_SOURCES", default=_Sources())  # noqa: B039 - it is immutable


class Settings(BaseSettings):
    """All settings with their defaults.

    Raises:
        UsageError: a variable names no setting; a settings file cannot be read, or that of the current folder is not
            trusted and grants something; or nobody set `runs`, and in the current folder it is a link that leads out.
    """

    model_config = SettingsConfigDict(
        env_prefix="VISION_AGENT_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    browser: BrowserSettings = BrowserSettings()
    """The browser to launch or to connect to."""
    observe: ObserveSettings = ObserveSettings()
    """How the page is observed."""
    events: EventSettings = EventSettings()
    """How dialogs of the page are answered."""
    approval: ApprovalSettings = ApprovalSettings()
    """Which decisions need a person's approval."""
    supervise: SuperviseSettings = SuperviseSettings()
    """How the supervision page is served."""
    model: ModelSettings = ModelSettings()
    """Which model decides, and what it is shown."""
    limits: Limits = Limits()
    """The limits at which a run stops by itself."""
    runs: Path = Field(default=Path("runs"))
    """Where run folders are created. If `runs` is a link out of the current folder, set this, also to `runs`."""
    memory: Path | None = None
    """Where exemplars are kept; None: `memory` in the user's data folder, whose path then stays out of records."""

    @property
    def memory_folder(self) -> Path:
        """The folder of exemplars: the configured one or the default."""
        return self.memory or Path(platformdirs.user_data_dir("vision-agent")) / "memory"

    def __init__(self, **values: Any) -> None:
        _check_variables()
        sources = _Sources(_project_file(), _own_file())
        with _reading(sources):
            super().__init__(**values)
        if sources.project is not None:
            before = _settings(sources._replace(project=None), **values)
            require_trust(sources.project, grants(self, before, sources.project.path.parent))
        if "runs" not in self.model_fields_set:
            require_inside(Path.cwd(), self.runs)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources in order of precedence: flags, environment, the file of the folder, the user's own file."""
        del dotenv_settings, file_secret_settings
        sources = _SOURCES.get()
        files = [InitSettingsSource(settings_cls, each.content) for each in sources[:2] if each is not None]
        return init_settings, *([env_settings] if sources.has_environment else []), *files


@contextmanager
def _reading(sources: _Sources) -> Iterator[None]:
    token = _SOURCES.set(sources)
    try:
        yield
    finally:
        _SOURCES.reset(token)


def _settings(sources: _Sources, **values: Any) -> Settings:
    """The settings of these sources, without asking whether they are trusted."""
    made = Settings.__new__(Settings)
    with _reading(sources):
        BaseSettings.__init__(made, **values)
    return made


def project_grants(file: ProjectFile) -> tuple[Grant, ...]:
    """What a settings file would grant in its folder, compared with the defaults and with the user's own file.

    Raises:
        UsageError: a key of either file is unknown, or a value is invalid.
    """
    try:
        pairs = [
            (_settings(_Sources(file, own, False)), _settings(_Sources(None, own, False)))
            for own in (None, _own_file())
        ]
    except ValidationError as error:
        raise _invalid(error, printable_line(str(file.path))) from error
    found = [each for now, before in pairs for each in grants(now, before, file.path.parent)]
    return tuple({each.key: each for each in found}.values())


def load(
    flag_names: Mapping[str, str] = MappingProxyType({}), flags_from: str = "the flags", /, **flags: Any
) -> Settings:
    """The effective settings.

    `flag_names`: what a person calls these flags, by settings key, such as `--max-steps` for `limits.steps`;
    `flags_from`: what they call all of them.

    Raises:
        UsageError: a key is unknown or a value is invalid, or the file of the current folder sets something that it may
            not without being trusted; the message names it.
    """
    try:
        return Settings(**flags)
    except ValidationError as error:
        wrong = [_wrong_flag(each["loc"], flag_names, flags) for each in error.errors()]
        if not all(wrong):
            found = {_source(each["loc"], flags, flags_from): None for each in error.errors()}
            raise _invalid(error, " and ".join(filter(None, found))) from error
        said = "; ".join(wrong_value(name, each) for name, each in zip(wrong, error.errors(), strict=True))
        raise UsageError(said) from error
    except (SettingsError, ValueError) as error:
        raise UsageError(f"The settings cannot be read: {error}", f"see {FILE_NAME}") from error


def _wrong_flag(loc: Sequence[int | str], flag_names: Mapping[str, str], flags: Mapping[str, Any]) -> str:
    """The flag that gave the value at this place, and the value; empty if it comes from elsewhere."""
    keys = [str(each) for each in loc if isinstance(each, str)]
    value: Any = flags
    for depth, key in enumerate(keys, 1):
        value = value.get(key) if isinstance(value, Mapping) else None
        name = flag_names.get(".".join(keys[:depth]))
        if name is not None and value is not None:
            shown = f" {printable_line(str(value)).removesuffix('.0')}" if isinstance(value, (str, int, float)) else ""
            return f"{name}{shown}"
    return ""


def _source(loc: Sequence[int | str], flags: Mapping[str, Any], flags_from: str) -> str:
    """Where the value at this place comes from: the flags, a variable or a file; empty if it cannot be told."""
    keys = list(takewhile(lambda each: isinstance(each, str), loc))
    if _has(flags, keys):
        return flags_from
    variables = {variable.upper(): variable for variable in os.environ}
    for depth in range(len(keys), 0, -1):
        name = variables.get(_PREFIX + "__".join(map(str, keys[:depth])).upper())
        if name is not None and (depth == len(keys) or _has(_group_in(os.environ[name]), keys[depth:])):
            return f"the variable {printable_line(name)}"
    files = filter(None, (_project_file(), _own_file()))
    return next((printable_line(str(file.path)) for file in files if _has(file.content, keys)), "")


def _group_in(variable: str) -> Any:
    """The settings of a group that a variable holds as JSON; None if it holds none."""
    try:
        return json.loads(variable)
    except ValueError:
        return None


def _has(values: Any, keys: Sequence[int | str]) -> bool:
    for key in keys:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return bool(keys)


def _invalid(error: ValidationError, source: str) -> UsageError:
    source = source or f"{FILE_NAME} and {_PREFIX}* variables"
    return UsageError(f"The settings are invalid: {fault_list(error, Settings)}", f"see {source}")


_SECRET_VARIABLES = ("VISION_AGENT_MCP_TOKEN", "VISION_AGENT_SESSION_PASSPHRASE")
"""Variables of ours that are no settings, because settings are recorded."""


_PREFIX = "VISION_AGENT_"


def _check_variables() -> None:
    """Checks that every variable of ours names a setting; the others would be ignored.

    Raises:
        UsageError: one does not.
    """
    for variable in os.environ:
        group = variable.upper().removeprefix(_PREFIX).partition("__")[0].lower()
        if variable in _SECRET_VARIABLES:
            continue
        if variable.upper().startswith(_PREFIX) and group not in Settings.model_fields:
            meant = key_meant(group, Settings)
            raise UsageError(
                f"The variable {printable_line(variable)} sets nothing: there is no setting {group}{meant}"
            )


def load_policy(path: Path) -> dict[str, Any]:
    """The `approval` settings of a policy file; `ask` defaults to `risky` there.

    Raises:
        UsageError: the file cannot be read, a key is unknown, or a value is invalid.
    """
    try:
        policy = tomllib.loads(path.read_text("utf-8"))
        ApprovalSettings.model_validate(policy)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = why_unreadable(error)
        raise UsageError(f"The policy {path} cannot be read: {why}", "it is a TOML file like [approval]") from error
    except ValidationError as error:
        known = ", ".join(ApprovalSettings.model_fields)
        raise UsageError(
            f"The policy {path} is invalid: {fault_list(error, ApprovalSettings)}", f"its keys are {known}"
        ) from error
    return {"ask": "risky", **policy}


def recordable(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values, with addresses reduced to scheme, host and port: the rest can hold credentials.

    The addresses are those of the proxy, the CDP connection, the webhook, the model's server, and those in the
    browser's arguments. Only the name of the profile's folder is kept.
    """
    dumped = settings.model_dump(mode="json")
    browser = dumped["browser"]
    if browser["cdp_url"] is not None:
        browser["cdp_url"] = _host_part(browser["cdp_url"])
    if browser["proxy"] is not None:
        browser["proxy"]["server"] = _host_part(browser["proxy"]["server"])
    if settings.browser.profile is not None:
        browser["profile"] = settings.browser.profile.name
    del browser["sessions_folder"]
    browser["args"] = [_recordable_argument(each) for each in browser["args"]]
    if dumped["supervise"]["webhook"] is not None:
        dumped["supervise"]["webhook"] = _host_part(dumped["supervise"]["webhook"])
    if dumped["model"]["base_url"] is not None:
        dumped["model"]["base_url"] = _host_part(dumped["model"]["base_url"])
    return dumped


def _recordable_argument(text: str) -> str:
    option, value = re.fullmatch(r"(--[\w-]+=)?(.*)", text, re.DOTALL).groups(default="")  # type: ignore[union-attr]
    return option + re.sub(r"[^\s,;\"']*(?:://|@)[^\s,;\"']*", lambda match: _host_part(match.group()), value)


def _host_part(address: str) -> str:
    """Scheme, host and port of an address; split by hand, because even a malformed address can hold a password."""
    scheme, mark, rest = address.partition("://") if "://" in address else ("", "", address)
    authority, *more = re.split(r"[/?#\\]", rest, maxsplit=1)
    user, at, host = authority.rpartition("@")
    if not at and any("@" in each for each in more):
        return f"{scheme}{mark}…"  # a password with a slash looks like a host
    del user
    return f"{scheme}{mark}{host}"


def _project_file() -> ProjectFile | None:
    """The settings file of the current folder, unless that is the user's configuration folder."""
    path = Path.cwd() / FILE_NAME
    return None if path == _own_path() else read_project_file(path)


def _own_file() -> ProjectFile | None:
    return read_project_file(_own_path())


def _own_path() -> Path:
    return Path(platformdirs.user_config_dir("vision-agent")).resolve() / FILE_NAME
