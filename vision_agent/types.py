"""The data model: a page becomes an `Observation`, a model turns it into a `Decision`, the browser into `Outcome`s.

The three are one `Step`; a `Run` is its steps. `observation` has what a look tells, `exemplars` what a run learns from
another. Everything here is frozen, holds no live handle, and can be written to disk and read back. Nothing here knows
about browsers, model clients or files.

Places are in page or picture coordinates; see `geometry`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from vision_agent import old_names
from vision_agent.actions import Action, Point
from vision_agent.base_model import RECORDED, DisplayedModel, FrozenModel, RenamedFields, SettingsModel
from vision_agent.exemplars import Exemplar as Exemplar  # these ten were here once, and programs import them from here
from vision_agent.exemplars import PastAct as PastAct
from vision_agent.exemplars import PastTurn as PastTurn
from vision_agent.exemplars import Recalled as Recalled
from vision_agent.exemplars import Standing as Standing
from vision_agent.exemplars import VerifiedBy as VerifiedBy
from vision_agent.geometry import Box as Box
from vision_agent.geometry import PageMap as PageMap
from vision_agent.geometry import ScrollState as ScrollState
from vision_agent.geometry import Size as Size
from vision_agent.observation import Observation, Shot
from vision_agent.text import notebook_html as notebook
from vision_agent.text.money import Money
from vision_agent.text.notebook_html import Sign

# --- tasks ------------------------------------------------------------------------------------------------------------

_PASSWORD = re.compile(
    r"pass|pwd|kennwort|contrase|senha|wachtwoord|has[lł]o|parol|пароль|密码|密碼|暗証|비밀번호", re.I
)


PrivateKind = Literal["card", "iban", "national-id"]
"""Kinds of private data that are recognised by their format and their check digits."""


class Secret(RenamedFields):
    """A value that the model may use by name and never sees. It is typed only on one of its origins."""

    model_config = ConfigDict(hide_input_in_errors=True)

    old_names: ClassVar[Mapping[str, str]] = {"hosts": "origins"}

    name: str = ""
    """May be left out where a key names it: `secrets={"code": Secret(value=…)}`."""
    value: SecretStr
    origins: tuple[str, ...] = ()
    """Where it may be typed: scheme, host and port, such as `https://example.org`, `https://*.example.org` or
    `http://127.0.0.1:8000`. A host alone: with https at its usual port, or with the scheme and the port of the task's
    start URL. Empty: only the origin of the start URL."""
    fields: tuple[str, ...] = ()
    """Input types it may be typed into, such as `password` or `text`; `any`: into every field. Empty: a password, which
    its name tells, only into password fields, and other secrets into every field."""
    is_code: bool = False
    """The value is a TOTP key, in base32 or as an `otpauth://` address; the current code is typed."""
    is_private: bool = False
    """Private data rather than a secret: the model may read the value; pictures, record and report do not have it."""

    @property
    def is_password(self) -> bool:
        """Whether its name says that it is a password."""
        return not (self.is_code or self.is_private) and bool(_PASSWORD.search(self.name))

    def may_be_typed_into(self, input_type: str | None) -> bool:
        """Whether it may be typed into a field of this type; None: the field is no input."""
        fields = self.fields or (("password",) if self.is_password else ("any",))
        return "any" in fields or input_type in fields


class DownloadLimits(SettingsModel):
    """Limits on downloads. One that goes beyond is refused or cut, and the run goes on."""

    count: int = Field(default=20, ge=0, le=10**9)
    """Number of downloads that may start; 0 refuses all."""
    bytes_each: int = Field(default=100_000_000, ge=1, le=10**15)
    """Bytes of one file."""
    total_bytes: int = Field(default=500_000_000, ge=1, le=10**15)
    """Bytes of all files together."""
    seconds: float = Field(default=300.0, gt=0, le=10**9)
    """How long one may take."""
    types: tuple[str, ...] | None = None
    """Endings of file names that are allowed, such as `pdf` or `csv`; None: all. The ending is what the page says; what
    is in the file is not looked at."""


class Limits(RenamedFields, SettingsModel):
    """The limits at which a run stops by itself."""

    old_names: ClassVar[Mapping[str, str]] = {"standstill": "stall", "false_endings": "false_completions"}

    steps: int = Field(default=40, ge=1, le=10**9)
    """Number of steps."""
    actions_per_step: int = Field(default=20, ge=1, le=10**9)
    """Actions of one decision that are carried out; the model decides again after them."""
    seconds: float | None = Field(default=None, gt=0, le=10**9)
    """Duration of the run; None: no limit."""
    consecutive_failures: int = Field(default=5, ge=1, le=10**9)
    """Consecutive steps in which no action was carried out."""
    false_completions: int = Field(default=3, ge=1, le=10**9)
    """How often the model may claim completion while a check fails or a judge disagrees; then the run ends as not done.
    """
    stall: int = Field(default=6, ge=1, le=10**9)
    """Consecutive steps without progress: done before on the same page, or without effect."""
    tokens: int | None = Field(default=None, gt=0, le=10**12)
    """Tokens of all requests and replies, cached ones included; None: no limit. A run also ends before a request that
    would pass the limit, if it is like the last one with that one's reply added."""
    cost_usd: float | None = Field(default=None, gt=0, le=10**9)
    """Cost of all requests, in US dollars; None: no limit. A run also ends before a request that would pass the limit,
    if it costs as much as the last one. A run that cannot tell the cost of a decision ends after it:
    too early is better than never."""
    submits: int | None = Field(default=None, ge=0, le=10**9)
    """Forms that may be submitted; an action that would submit another is refused, or a person is asked. None: any
    number. It does not end the run."""
    spend: Money | None = None
    """Money that may be spent on pages, such as `50 EUR`; an act that may pay is refused, or a person is asked, if the
    page shows more than what is left, another currency or no amount. None: any amount. It does not end the run."""
    downloads: DownloadLimits = DownloadLimits()
    """Limits on downloads. None of them ends the run."""
    on_failure: Literal["never_raise", "after_retries", "at_once"] = "never_raise"
    """`never_raise`: only the ending says that a run failed. `after_retries`: `RunFailed` is raised if the run was not
    done or reached a limit while its last steps failed. `at_once`: the first action that is not done ends the run."""


class Message(FrozenModel):
    """A message from the person, before or during a run."""

    text: str
    at: datetime


class GoalPicture(FrozenModel):
    """A picture that belongs to the goal, named by the hash of its bytes."""

    shot: Shot
    caption: str = ""


class SuccessCheck(FrozenModel):
    """What must hold before a task counts as done: every field that is set."""

    url: str | None = None
    """A pattern for the page's address; `*` matches anything."""
    text: str | None = None
    """Whole words and numbers that a person can see somewhere on the page, perhaps after scrolling."""
    mark: str | None = None
    """Whole words in the name of a mark in view."""
    download: str | None = None
    """A pattern for the name of a file that the run has downloaded and kept; `*` matches anything."""


class Task(DisplayedModel):
    """The goal, where to start, and the bounds of a run."""

    model_config = ConfigDict(hide_input_in_errors=True)  # it may hold a secret

    goal: str
    instructions: str = ""
    """How the person wants it done, beside the goal; the model reads it in every request."""
    pictures: tuple[GoalPicture, ...] = ()
    messages: tuple[Message, ...] = ()
    start_url: str | None = None
    user_data: dict[str, str] = {}
    """Facts the model may use as they are, such as a name or an address."""
    secrets: tuple[Secret, ...] = ()
    private_kinds: tuple[PrivateKind, ...] = ()
    """Private data that pictures, record and report do not have, wherever it stands: numbers of payment cards, IBANs,
    and national identity numbers with check digits. The model may read it."""
    limits: Limits = Limits()
    allowed_hosts: tuple[str, ...] | None = None
    """Host names, exact or `*.example.org`. None: no rule. An empty tuple denies everything."""
    allowed_actions: tuple[str, ...] | None = None
    """Kinds of actions, such as `click`, and names of custom ones; others are refused, or a person is asked. What only
    looks, asks or ends the run is always allowed. None: all."""
    denied_hosts: tuple[str, ...] = ()
    """They take precedence over allowed hosts."""
    answer_schema: dict[str, Any] | None = None
    """A JSON schema that the answer must match."""
    checks: tuple[SuccessCheck, ...] = ()
    """All must hold when the model claims completion; otherwise the claim is sent back with the reason."""
    files: tuple[Path, ...] = ()
    """The only files that may be uploaded; a model knows them by name."""
    actions: tuple[Action, ...] = ()
    """Carried out first, before the model is asked."""
    exemplar: Exemplar | None = None
    """What worked before for a similar task, shown to the model; the memory looks it up on the first page."""

    @field_validator("secrets")
    @classmethod
    def _all_named(cls, secrets: tuple[Secret, ...]) -> tuple[Secret, ...]:
        if not all(each.name for each in secrets):
            raise ValueError("a secret has no name: write Secret(name=…, value=…)")
        return secrets

    def shown(self, text: str, longest: int = 120) -> str:
        """The text as it may be printed: without the secrets of the task, and cut."""
        for secret in self.secrets:
            if value := secret.value.get_secret_value():
                text = text.replace(value, f"<secret:{secret.name}>")
        return super().shown(text, longest)

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """The goal, the start page, and the names of what was given."""
        yield from (("goal", self.shown(self.goal)), ("instructions", self.shown(self.instructions)))
        yield ("start_url", self.shown(self.start_url or ""))
        yield from (("user_data", [*self.user_data]), ("secrets", [each.name for each in self.secrets]))
        yield from (("allowed_hosts", self.allowed_hosts), ("files", [each.name for each in self.files]))


# --- decisions and outcomes -------------------------------------------------------------------------------------------

Author = Literal["model", "human", "steps", "scripted", "replay", "memory", "loop", "client"]
"""`loop`: a decision of the loop itself, to leave a stall or at a captcha. `client`: a program that drives the run from
outside, such as another agent over MCP."""


class Usage(FrozenModel):
    """What one request cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    """None if the price is unknown: never a guess, never zero."""
    raw: dict[str, Any] = {}
    """As the provider reported it."""

    @field_validator("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
    @classmethod
    def _must_count(cls, value: float | None, info: ValidationInfo) -> float | None:
        """Nothing takes back what other requests cost. Records of earlier versions are read as they are."""
        is_recorded = info.mode == "json" or info.context == RECORDED
        if value is not None and not 0 <= value < math.inf and not is_recorded:
            raise ValueError("it must be 0 or more, and finite")
        return value

    @property
    def total(self) -> int:
        """All tokens: input, output, and those read from and written to the cache."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


class Candidate(FrozenModel):
    """A mark that the model considered, and why."""

    mark: int
    reason: str


class Verdict(FrozenModel):
    """The judge's opinion of a claimed completion, recorded next to the decision."""

    done: bool | None
    """None if unknown: the judge could not be asked or its reply was unusable."""
    reason: str
    """What shows that the task is done, or what is missing, or why it is unknown."""
    model: str
    reply_id: str | None = None
    usage: Usage | None = None
    request_sha256: str | None = None
    """Hash of the redacted request that the run folder keeps."""
    seconds: float = 0.0


class Decision(DisplayedModel):
    """What to do next, and a judgement of the previous step."""

    judgement: Literal["success", "failure", "unknown"] = "unknown"
    """Whether the previous step reached its goal."""
    memory: str = ""
    next_goal: str = ""
    candidates: tuple[Candidate, ...] = ()
    actions: tuple[Action, ...] = ()
    summary: str = ""
    """A summary of the page, if the model gave one."""
    wall: Literal["", "captcha", "login"] = ""
    """A blocker that the model reports; its actions are then not carried out."""
    author: Author
    model: str | None = None
    reply_id: str | None = None
    """The provider's id; for a replayed decision, the original run and step: `<run>:<step>`."""
    usage: Usage | None = None
    request_sha256: str | None = None
    """Hash of the redacted request that the run folder keeps."""
    seconds: float = 0.0

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """Its goal, its actions, and who decided."""
        yield from (("next_goal", self.shown(self.next_goal)), ("actions", [each.kind for each in self.actions]))
        yield from (("author", self.author), ("model", self.model))


Risk = Literal["submit", "pay", "delete", "send", "upload", "leave", "copy", "mismatch", "unclassified", "beyond"]
"""What cannot be undone, or not easily. `leave`: another host is opened. `copy`: text seen on one site is given to
another. `mismatch`: what a control shows and what it is called disagree. `unclassified`: the action does not declare
its risks. `beyond`: it goes beyond the limits of the task. The last three always count as risky."""
RISKS: tuple[Risk, ...] = get_args(Risk)


class Risky(FrozenModel):
    """Why an action of a decision is risky; the policy may require a person's approval for it."""

    action: int
    """Its index in the decision, from 0."""
    risk: Risk
    why: str
    """The reason, for a person."""


class Choice(FrozenModel):
    """The answer to an approval request."""

    kind: Literal["approve", "replace", "instruct", "take_over", "stop"]
    """`replace`: `actions` are carried out instead. `instruct`: nothing is carried out; the model gets `text` and
    decides again. `take_over`: nothing is carried out; a person drives the browser until they hand it back."""
    actions: tuple[Action, ...] = ()
    goal: str = ""
    """The goal of `actions`; empty: what they do, in words."""
    text: str = ""
    author: Author = "human"
    through: Literal["terminal", "page", "callback"] = "callback"
    """Where the answer was given."""
    name: str = ""
    """Who gave it, by the name that they gave themselves; empty: they gave none."""


class Approval(FrozenModel):
    """A decision that needed approval, and the answer."""

    proposed: Decision
    risks: tuple[Risky, ...] = ()
    choice: Choice | None = None
    """None if there was nobody to ask."""


Effect = Literal[
    "changed",
    "no_effect",
    "as_wanted",
    "navigated",
    "same_document",  # the address changed, the document stayed
    "error_page",  # the browser's own error page
    "new_tab",
    "dialog",
    "download",
    "read",
    "zoomed",
    "asked",
    "finished",
    "infeasible",
]
FAILED_EFFECTS: tuple[Effect, ...] = ("no_effect", "error_page")
"""Effects of actions that were done and achieved nothing."""
Refusal = Literal[
    "unknown_mark",
    "outside",
    "gone",
    "changed",
    "moved",
    "covered",
    "ambiguous",
    "disabled",
    "unsupported",
    "not_an_option",
    "blocked",
    "unreachable",
    "timed_out",
    "crashed",
    "needs_person",
    "not_reached",
    "not_verified",
    "cut_off",
    "dry_run",
    "recorded",
    "taken_back",
]


class TextOrigin(FrozenModel):
    """Where a text comes from that an action gave to a page, as far as its letters tell."""

    source: Literal["task", "secret", "page", "model"]
    """`task`: the goal, the user's data or a person's messages. `page`: a page seen before, or this one. `model`: none
    of these."""
    host: str = ""
    """The host of the page."""
    share: float = 1.0
    """The share of its letters that stand there in a row, 0 to 1."""


_LONGEST_READ = 400
"""Characters of page text in the card of an outcome."""
_MOST_CHANGES = 5
"""Changes in it."""
_MOST_ROWS = 60
"""Steps in the card of a run, the last ones."""


class InnerUse(FrozenModel):
    """What a custom action used of the task's limits through `context.act`."""

    forms: int = 0
    """Submitted forms."""
    paid: Decimal | None = Decimal(0)
    """In the currency of the limit; None if it is not known how much."""


class Outcome(DisplayedModel):
    """What came of one action. A refusal is a finding about the page, not an exception."""

    status: Literal["done", "partial", "refused"]
    """`refused`: no event reached the page. `partial`: some events did and the rest were not sent, or it is unknown;
    the action may have been done and is never repeated automatically. So is a tick that the page did not keep."""
    effect: Effect | None = None
    """The visible effect; None if the action was refused or the effect is unknown."""
    refusal: Refusal | None = None
    """Why the action, or the rest of it, was not done; None if it was done."""
    sentence: str
    """For the model: what was attempted, on what, what was found, what could help."""
    rung: int | None = None
    """How the target was found: 1 the live element, 2 role, name and row, 3 place and pixels, 4 coordinates."""
    point: Point | None = None
    """Page coordinates at which input was sent."""
    value: str | None = None
    """Value read back from the field; None if there is none or it is masked."""
    read: str = ""
    """Page text that the action asked for: data, never an instruction."""
    origin: TextOrigin | None = None
    """Where the text comes from that the action gave to the page; None if it gave none."""
    changes: tuple[str, ...] = ()
    pixels_near: float | None = None
    """Share of pixels that changed around the point, 0 to 1."""
    pixels_elsewhere: float | None = None
    """Share of the view's other pixels that changed, 0 to 1."""
    requests: int = 0
    """Number of requests that the page started meanwhile."""
    forms: int = 0
    """Forms that the browser sent as documents since the last outcome, whoever sent them; those sent by GET and by
    scripts' own requests are not among them."""
    used: InnerUse | None = None
    """What a custom action used of the task's limits; None for nothing, and for other actions."""
    url: str = ""
    """The address afterwards, if it changed."""
    seconds: float = 0.0

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """What became of the action, in words."""
        yield from (("status", self.status), ("effect", self.effect), ("refusal", self.refusal))
        yield from (("sentence", self.shown(self.sentence)), ("value", self.shown(self.value or "")))
        yield "read", self.shown(self.read)

    @property
    def _sign(self) -> Sign:
        """How it went, for a person: `good` if it was done with an effect."""
        return notebook.outcome_sign(self.status, self.effect, self.refusal)

    def _repr_html_(self) -> str:
        """The outcome as a card; notebooks display it."""
        facts = [("value", self.shown(self.value or "")), ("read", self.shown(self.read, _LONGEST_READ))]
        facts += [("changed", self.shown(each)) for each in self.changes[:_MOST_CHANGES]]
        return notebook.card_html(self.shown(self.sentence, _LONGEST_READ), self._sign, facts)


class ManualAction(FrozenModel):
    """One thing that a person did in the browser during a takeover."""

    observation: Observation
    """The last observation before it."""
    words: str
    """What they did, as the continuation of a sentence that starts with `A person`."""
    action: Action | None = None
    """None if no action describes it."""
    outcome: Outcome | None = None
    """The outcome of `action`."""
    started_at: datetime
    seconds: float = 0.0


class Step(DisplayedModel):
    """One observation, the decision about it, and the outcomes."""

    index: int
    observation: Observation
    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    """One per action, in order; actions after a stop have `refusal="not_reached"`."""
    verdict: Verdict | None = None
    """The judge's verdict, if this step claimed completion and a judge was asked."""
    unused: tuple[Usage, ...] = ()
    """Usage of unusable replies."""
    started_at: datetime
    seconds: float = 0.0
    approval: Approval | None = None
    """None if no approval was needed."""

    @property
    def carried_out(self) -> tuple[tuple[Action, Outcome], ...]:
        """The actions that were done, each with its outcome; an action replaced by a question to the person was not."""
        return tuple((action, what) for action, what in self.maybe_done if what.status == "done")

    @property
    def maybe_done(self) -> tuple[tuple[Action, Outcome], ...]:
        """The actions that were done or partly done, each with its outcome; never repeat any of them on a guess."""
        acts = zip(self.decision.actions, self.outcomes, strict=False)
        return tuple(
            (action, what)
            for action, what in acts
            if what.status != "refused" and (what.effect != "asked" or action.kind == "ask")
        )

    @property
    def is_by_hand(self) -> bool:
        """Whether a person did this step in the browser during a takeover."""
        return self.decision.author == "human" and self.decision.model is None

    @property
    def usages(self) -> tuple[Usage, ...]:
        """The usage of each reply in this step."""
        return usages_of(self.decision, self.verdict, self.unused)

    @property
    def tokens(self) -> int:
        """All tokens of this step."""
        return sum(usage.total for usage in self.usages)

    @property
    def cost(self) -> float | None:
        """What its replies cost, in US dollars; None if the price of one is unknown."""
        return total_cost(self.usages)

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """Its number, its goal, and what became of its actions."""
        goal = self.decision.shown(self.decision.next_goal)
        yield from (("index", self.index), ("goal", goal), ("actions", [each.kind for each in self.decision.actions]))
        yield "outcomes", [str(each.effect or each.refusal or each.status) for each in self.outcomes]

    @property
    def _row(self) -> tuple[str, Sign, str]:
        """The step in one line, for a person: its number, how it went, and what was done."""
        last = self.outcomes[-1] if self.outcomes else None
        words = self.decision.shown(self.decision.next_goal) or (last.shown(last.sentence) if last else "")
        return str(self.index), last._sign if last else Sign("none", "nothing done"), words

    def _repr_html_(self) -> str:
        """The step as a card with the marked picture, if its bytes are loaded; notebooks display it."""
        seen, acts = self.observation, zip(self.decision.actions, self.outcomes, strict=False)
        rows = [(action.kind, what._sign, what.shown(what.sentence, _LONGEST_READ)) for action, what in acts]
        _, sign, words = self._row
        facts = [("page", f"{seen.shown(seen.title)} {seen.shown(seen.url)}")]
        title = f"Step {self.index}: {words}"
        return notebook.card_html(title, sign, facts, rows, seen._picture)


def usages_of(decision: Decision | None, verdict: Verdict | None, unused: tuple[Usage, ...]) -> tuple[Usage, ...]:
    """The usage of each reply in a step: unusable ones, the decision's, and the judge's."""
    used = (decision.usage if decision else None, verdict.usage if verdict else None)
    return (*unused, *(usage for usage in used if usage is not None))


def total_cost(usages: Sequence[Usage]) -> float | None:
    """What the replies cost together, in US dollars; None if the price of any is unknown."""
    known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return sum(known, 0.0) if len(known) == len(usages) else None


EndingStatus = Literal[
    "done", "not_done", "infeasible", "limit", "needs_person", "unavailable", "error", "interrupted", "dry_run"
]


LimitName = Literal["steps", "seconds", "tokens", "cost", "consecutive_failures", "unusable_replies", "stall"]


class Ending(DisplayedModel):
    """How a run ended, for a person and for a shell."""

    status: EndingStatus
    """`dry_run`: the sentence says what would have been done next."""
    sentence: str
    answer: str = ""
    evidence: tuple[int, ...] = ()
    checked: tuple[str, ...] = ()
    """What was checked when the run ended as done, in words; all of it held. Empty: nothing was, or the run ended
    otherwise, or was recorded before 0.3."""
    limit: LimitName | None = None
    """The limit that was reached, by its name in `Limits`, `cost` for `cost_usd`; `unusable_replies`: that of
    consecutive failures, of which each was a reply that could not be used. None if the run ended otherwise, or was
    recorded before 0.2."""

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """How it ended, and the answer."""
        yield from (("status", self.status), ("limit", self.limit), ("sentence", self.shown(self.sentence)))
        yield "answer", self.shown(self.answer) if self.answer != self.sentence else None

    @property
    def exit_code(self) -> int:
        """0 done, 1 not done, 2 error, 3 limit, 4 person needed, 5 browser, model or disk down, 130 interrupted."""
        return {
            "done": 0,
            "dry_run": 0,
            "not_done": 1,
            "infeasible": 1,
            "error": 2,
            "limit": 3,
            "needs_person": 4,
            "unavailable": 5,
            "interrupted": 130,
        }[self.status]


RECORDING = "recording"
"""`Provenance.model` of a run in which nobody decided: it records what a person did in the browser."""
END_OF_RECORDING = "End of the recording"
"""The goal of the last step of such a run, which finishes it."""


class Provenance(FrozenModel):
    """The versions, prompts, settings and source of a run, so that its results can be traced."""

    versions: dict[str, str] = {}
    browser: str = ""
    model: str = ""
    prompts: dict[str, str] = {}
    """sha256 of each prompt, by name."""
    overlay_sha256: str = ""
    begun_with: str = ""
    """The run whose first steps were repeated, and how many: `<run>:<steps>`."""
    replayed: str = ""
    """The run that this run replays."""
    replayed_sha256: str = ""
    """The head of the replayed run's record."""
    patch_sha256: str = ""
    """Hash of the repairs that replaced some of its steps."""
    settings: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    """What each model can do, by its name, and whether that came from the provider or is declared here."""


class Run(DisplayedModel):
    """A whole run. On disk it is a folder; `record` writes and reads it."""

    id: str
    task: Task
    provenance: Provenance = Provenance()
    started_at: datetime
    steps: tuple[Step, ...] = ()
    ending: Ending | None = None
    """None if the run is still going or was interrupted."""

    @property
    def ok(self) -> bool:
        """Whether the task was done; a dry run does none."""
        return self.ending is not None and self.ending.status == "done"

    @property
    def status(self) -> EndingStatus | None:
        """How it ended, in one word such as `done`, `limit` or `needs_person`; None if it has not ended."""
        return self.ending.status if self.ending is not None else None

    @property
    def answer(self) -> str:
        """The answer that the run ended with; empty if there is none."""
        return self.ending.answer if self.ending is not None else ""

    @property
    def limit(self) -> LimitName | None:
        """The limit that ended the run; None if it ended otherwise."""
        return self.ending.limit if self.ending is not None else None

    @property
    def output(self) -> Any:
        """The answer as the `output` type of its `Agent`; None if the task was not done or no type was given."""
        return self.fact("output")

    @property
    def cost(self) -> float | None:
        """What the replies of all models cost, in US dollars; 0 without a model, None if a price is unknown."""
        return total_cost([usage for step in self.steps for usage in step.usages])

    @property
    def tokens(self) -> int:
        """Tokens of all requests and replies, cached ones included."""
        return sum(step.tokens for step in self.steps)

    @property
    def seconds(self) -> float:
        """How long its steps took."""
        return round(sum(step.seconds for step in self.steps), 3)

    @property
    def folder(self) -> Path | None:
        """The run folder; None if the run was neither recorded nor read from a folder."""
        folder: Path | None = self.fact("folder")
        return folder

    @property
    def report(self) -> Path | None:
        """The HTML report in the run folder; None if there is none."""
        report = self.folder / "report.html" if self.folder is not None else None
        return report if report is not None and report.is_file() else None

    @property
    def reads(self) -> tuple[str, ...]:
        """What its steps read (`read`, `extract`), each text as it was, in order."""
        return tuple(what.read for step in self.steps for what in step.outcomes if what.read)

    @property
    def downloads(self) -> tuple[Path, ...]:
        """The files that were downloaded, which are in the run folder; none if the run was not recorded."""
        folder = self.folder / "downloads" if self.folder is not None else None
        if folder is None or folder.is_symlink() or not folder.is_dir():
            return ()
        return tuple(sorted(each for each in folder.iterdir() if each.is_file() and not each.is_symlink()))

    @property
    def used(self) -> str:
        """Its steps and how long they took, tokens and cost: `6 steps in 12.3 s, 8,123 tokens, $0.0421`."""
        many = len(self.steps)
        parts = [f"{many} step{'' if many == 1 else 's'} in {self.seconds:.1f} s"]
        if any(step.usages for step in self.steps):
            cost = self.cost
            parts += [f"{self.tokens:,} tokens", "cost unknown" if cost is None else f"${cost:.4f}"]
        return ", ".join(parts)

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """Its id, how it ended, and what it took."""
        ending = self.ending
        yield from (("id", self.id), ("status", ending.status if ending is not None else "going on"))
        yield "answer", ending.shown(self.answer) if ending is not None else None
        yield from (("steps", len(self.steps)), ("seconds", self.seconds))
        yield from (("tokens", self.tokens or None), ("cost", self.cost or None))

    def _repr_html_(self) -> str:
        """The run as a card with its steps and the last marked picture; notebooks display it."""
        ending = self.ending
        facts = [("answer", ending.shown(self.answer, _LONGEST_READ)), ("used", self.used)] if ending else []
        facts += [("report", str(self.report or ""))]
        rows = [step._row for step in self.steps[-_MOST_ROWS:]]
        picture = self.steps[-1].observation._picture if self.steps else None
        return notebook.card_html(self.task.shown(self.task.goal, _LONGEST_READ), self._sign, facts, rows, picture)

    @property
    def _sign(self) -> Sign:
        """How it ended, for a person."""
        if self.ending is None:
            return Sign("none", "going on")
        return Sign("good" if self.ending.exit_code == 0 else "bad", self.ending.status.replace("_", " "))


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return old_names.renamed(__name__, name)
