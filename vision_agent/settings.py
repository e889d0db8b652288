"""What a person may turn. Flags come before the environment, the environment before the file, the file before defaults.

The file is `vision-agent.toml` in the current folder, else the one in the user's configuration folder.
Variables are named `VISION_AGENT_BROWSER__HEADLESS=false`. An unknown key is refused.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource
from pydantic_settings.exceptions import SettingsError

from vision_agent.errors import UsageError
from vision_agent.types import Kind, Limits, MarkStyle, Risk, Size

FILE_NAME = "vision-agent.toml"

Coordinates = Literal["pixels", "thousandths", "fractions"]
"""How a model says where: in pixels of the picture, or in parts of its width and height (0 to 999, 0 to below 1)."""


History = Literal["full", "short", "data", "compressed"]
Dialect = Literal["marks", "browser"]
PerStep = Literal["one", "several"]
Ablated = Literal["picture", "marks", "listing", "memory", "filter", "history"]


_Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProxySettings(_Section):
    """The proxy of the browser we launch."""

    server: str
    bypass: str | None = None
    username: str | None = None
    password: SecretStr | None = None


class HttpAuthSettings(_Section):
    """Name and password for a server that asks for them before it gives a page."""

    origin: str
    """The only one they are given to, such as `https://example.org`."""
    username: str
    password: SecretStr


class EventSettings(_Section):
    """What happens by itself around a page, and how it is answered. The model is told of each."""

    dialogs: Literal["dismiss", "accept"] = "dismiss"
    """Messages, questions and prompts that the page opens."""
    prompt: str = ""
    """What is entered where a prompt is accepted."""
    leave: bool = False
    """Whether a page that asks before it is left is left all the same."""


class BrowserSettings(_Section):
    """The browser we launch, or the one we connect to."""

    executable_path: Path | None = None
    channel: Literal["chrome", "msedge"] | None = None
    cdp_url: str | None = None
    """Connect to a running browser instead of launching one, such as `http://127.0.0.1:9222`."""
    headless: bool = True
    viewport: Size = Size(width=1280, height=800)
    device_ratio: float = 1.0
    device: str | None = None
    """A device Playwright knows, such as `Pixel 7`; it brings its own viewport and ratio."""
    locale: str | None = None
    timezone: str | None = None
    storage_state: Path | None = None
    """Cookies and local storage, as saved by Playwright."""
    proxy: ProxySettings | None = None
    permissions: tuple[str, ...] = ()
    """What pages may use without being asked about, such as `geolocation` or `clipboard-read`; all else is denied."""
    http_auth: HttpAuthSettings | None = None
    trace: bool = False
    """Also leave Playwright's own trace in the run folder, `trace.zip`. It holds all that was typed and sent, so a run
    with secrets is refused; and it adds a global to the page. Only of a browser that we launch."""
    args: tuple[str, ...] = ()
    """Further arguments for the browser's command line."""


class ObserveSettings(_Section):
    """How the page is looked at."""

    quiet_s: float = 0.15
    """A page is at rest when nothing has changed for this long."""
    rest_deadline_s: float = 3.0
    """Look after this long even if the page is not at rest, and say so."""
    scan_deadline_s: float = 10.0
    """A frame that has not answered by then is missing from the observation, and named."""
    navigation_deadline_s: float = 30.0
    action_deadline_s: float = 5.0
    own_action_deadline_s: float = 120.0
    """For a function that was brought as an action, all it does included."""
    most_marks: int = Field(default=800, ge=1)
    """In one picture; what is left out is counted in the listing and shows when one zooms in."""
    most_drawn: int = Field(default=40, ge=0)
    """Guesses at what is drawn in one surface (canvas, WebGL, video); 0 does not look into surfaces."""
    read_words_s: float = 5.0
    """For reading words in surfaces, where the `ocr` extra is installed; what is not read by then is read next time."""
    ids: Literal["numbers", "letters"] = "numbers"
    """`letters` puts one before each number: I field, B button, L link, F picture, O option, M other."""
    style: MarkStyle = "coloured"
    """Of the marks. `coloured`: a box and a number, in a colour that says the kind. `plain`: the same in one colour for
    all. `numbers`: in colour, but with no box around what they stand on."""
    picture: Literal["png", "jpeg"] = "png"
    """Of the marked picture; JPEG is written at quality 92 without chroma subsampling."""
    longest_edge: int | None = None
    """Of the pictures, in pixels; None takes what the model wants."""
    marks_on_page: bool = False
    """Also show the marks on the live page, for a person watching."""


class FilterSettings(_Section):
    """Which lines of a crowded listing a model does not get: those for which all of this holds.

    Whatever has the focus, is new or changed, is in a dialog, or was named before is never cut.
    """

    above_lines: int = Field(default=100, ge=0)
    """A listing of so many lines, or less, is given whole."""
    kinds: tuple[Kind, ...] = ("link",)
    """The mark is of one of these kinds: `field`, `button`, `link`, `toggle`, `scroller`, `surface`, `guess`."""
    words: tuple[str, ...] = ()
    """Neither its line nor one near it has a word of the task, or one of these."""
    beside_lines: int = Field(default=5, ge=0)
    """How near: so many lines before or after."""
    beyond_px: float = Field(default=200.0, ge=0)
    """It is farther than this from what has the focus, or else from where input last went."""
    region: tuple[_Share, _Share, _Share, _Share] | None = None
    """Its middle lies outside of this part of the view (left, top, right and bottom, each from 0 to 1); None: anywhere.
    """


class ModelSettings(_Section):
    """Who decides."""

    name: str = "anthropic:claude-sonnet-5-5"
    """`anthropic:<model>`, `openai:<model>`, `google:<model>`, `openai-compatible:<model>`, `steps`, `human`."""
    fallback: str | None = None
    """Who takes over for the rest of a run when that one cannot be asked, or gives no usable reply. Address and key
    below are used for it only where it is of the same provider."""
    judge: str | None = None
    """Which model looks at the end whether a task that is said to be done is done: `<provider>:<model>`, or `same` for
    the one that decides. None: nobody does, beyond what the task itself says must hold."""
    dialect: Dialect = "marks"
    """How it is asked. `marks`: the marked picture and the listing with each request, and one typed reply. `browser`:
    Claude's own browser toolset over the same marks; what is told of earlier steps is then its own conversation."""
    actions_per_step: PerStep = "several"
    """`several` may be decided at once for one picture, `one` is carried out before the next look."""
    history: History = "data"
    """What is told of earlier steps. `data`: goals, what came of them, memory, what was read, and three marks of each
    page. `short`: goals, what came of them, memory; of the last step as much as with `data`. `full`: also the whole
    listing of each. `compressed`: ten steps in one entry once they are far back."""
    previous_picture: bool = False
    """Also send the picture of the step before."""
    ablate: tuple[Ablated, ...] = ()
    """What is kept from the model, to measure what it is worth: the `picture`, its `marks` (the clean one is sent), the
    `listing`, the `memory` it wrote and what worked before, the `filter` (no line is cut, and no mark of a past page is
    told), the `history`."""
    filter: FilterSettings = FilterSettings()
    base_url: str | None = None
    """Of the server that models of this provider are asked at, such as `http://127.0.0.1:8000/v1`; None is the
    provider's, or its variable's."""
    api_key: SecretStr | None = None
    """None takes the provider's own variable, such as `OPENAI_API_KEY`; a compatible server then gets none."""
    coordinates: Coordinates | None = None
    """How the model says where: `pixels`, `thousandths`, `fractions`; None is what is known of it, else pixels."""
    max_tokens: int = 8192
    timeout_s: float = 120.0
    retries: int = 3
    """Of a request that failed on the way; the client waits longer each time."""
    repairs: int = 2
    """How often a reply that makes no sense is sent back before the step counts as failed."""


class ApprovalSettings(_Section):
    """Which decisions a person is asked about before they are done. A policy file has these keys at its top."""

    ask: Literal["never", "risky", "always"] = "never"
    """`risky`: about those with an action of the classes below. Where nobody can be asked, the run ends with 4."""
    dry_run: bool = False
    """Only what looks is done (scroll, hover, zoom, wait, read, extract); the first other act ends the run and is told.
    Nobody is asked then, for nothing is done."""
    risks: tuple[Risk, ...] = ("submit", "pay", "delete", "send", "upload", "leave")
    """What counts as risky: forms that are sent, payments, deletions, messages, uploads, other hosts."""
    words: dict[Risk, tuple[str, ...]] = {}
    """Further words that say so in the name of what is pressed; `buy*` is every word that begins so."""
    harmless: tuple[str, ...] = ()
    """Names of things that may be pressed all the same, such as `Remove filter`."""
    hosts: tuple[str, ...] = ()
    """Other hosts that belong to the site, exact or `*.example.org`."""
    wait_s: float = Field(default=3600.0, gt=0)
    """For an answer; a run does not wait longer for anybody, and ends with 4."""


class Settings(BaseSettings):
    """Everything that can be turned, with its default."""

    model_config = SettingsConfigDict(
        env_prefix="VISION_AGENT_", env_nested_delimiter="__", extra="forbid", frozen=True, toml_file=FILE_NAME
    )

    browser: BrowserSettings = BrowserSettings()
    observe: ObserveSettings = ObserveSettings()
    events: EventSettings = EventSettings()
    approval: ApprovalSettings = ApprovalSettings()
    model: ModelSettings = ModelSettings()
    limits: Limits = Limits()
    runs: Path = Field(default=Path("runs"))
    """Where run folders are made."""
    memory: Path | None = None
    """Where exemplars are kept; None takes `memory` in the user's data folder, and leaves its name out of records."""

    @property
    def memory_folder(self) -> Path:
        """Where exemplars are kept, said or not."""
        return self.memory or Path(platformdirs.user_data_dir("vision-agent")) / "memory"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, environment, file: the first that says something wins."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=_file())


def load(**flags: Any) -> Settings:
    """The effective settings.

    Raises:
        UsageError: an unknown key or a value that does not fit, with its name.
    """
    try:
        return Settings(**flags)
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise UsageError(
            f"The settings do not fit: {lines}", f"see {FILE_NAME} and VISION_AGENT_* variables"
        ) from error
    except (SettingsError, ValueError) as error:
        raise UsageError(f"The settings cannot be read: {error}", f"see {FILE_NAME}") from error


def load_policy(path: Path) -> dict[str, Any]:
    """What a policy file says of `approval`; one that does not say when to ask asks about what is risky.

    Raises:
        UsageError: it cannot be read, or has a key or a value that does not fit.
    """
    try:
        said = tomllib.loads(path.read_text("utf-8"))
        ApprovalSettings.model_validate(said)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"The policy {path} cannot be read: {error}", "it is a TOML file; see the README") from error
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        known = ", ".join(ApprovalSettings.model_fields)
        raise UsageError(f"The policy {path} does not fit: {lines}", f"its keys are {known}") from error
    return {"ask": "risky", **said}


def recordable(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values, without what an address can hold besides a host: it may open a door.

    Of the proxy, of the running browser, of the model's server and of addresses in the browser's arguments only scheme,
    host and port stay.
    """
    dumped = settings.model_dump(mode="json")
    browser = dumped["browser"]
    if browser["cdp_url"] is not None:
        browser["cdp_url"] = _only_host(browser["cdp_url"])
    if browser["proxy"] is not None:
        browser["proxy"]["server"] = _only_host(browser["proxy"]["server"])
    browser["args"] = [_argument(each) for each in browser["args"]]
    if dumped["model"]["base_url"] is not None:
        dumped["model"]["base_url"] = _only_host(dumped["model"]["base_url"])
    return dumped


def _argument(text: str) -> str:
    option, value = re.fullmatch(r"(--[\w-]+=)?(.*)", text, re.DOTALL).groups(default="")  # type: ignore[union-attr]
    return option + re.sub(r"[^\s,;\"']*(?:://|@)[^\s,;\"']*", lambda match: _only_host(match.group()), value)


def _only_host(address: str) -> str:
    """By hand and not parsed: an address that is not well formed can hold a password all the same."""
    scheme, mark, rest = address.partition("://") if "://" in address else ("", "", address)
    authority, *more = re.split(r"[/?#\\]", rest, maxsplit=1)
    user, at, host = authority.rpartition("@")
    if not at and any("@" in each for each in more):
        return f"{scheme}{mark}…"  # a password with a slash looks like a host
    del user
    return f"{scheme}{mark}{host}"


def _file() -> Path:
    here = Path(FILE_NAME)
    return here if here.is_file() else Path(platformdirs.user_config_dir("vision-agent")) / FILE_NAME
