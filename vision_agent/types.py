"""What flows: a page becomes an `Observation`, a model turns it into a `Decision`, the browser into `Outcome`s.

The three are one `Step`; a `Run` is its steps. Everything here is frozen, holds no live handle, and can be written to
disk and read back. Nothing here knows a browser, a model's client or a file.

Two coordinate systems, never mixed: *page* coordinates are CSS pixels of the top-level viewport, origin at its top
left; *picture* coordinates are pixels of a `Shot`. A `Shot` carries the map between them.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

from vision_agent.actions import Action, Point


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


# --- geometry ---------------------------------------------------------------------------------------------------------


class Size(_Data):
    """A width and a height."""

    width: int
    height: int


class Box(_Data):
    """An upright rectangle; its owner says whether in page or picture coordinates."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def center(self) -> Point:
        return Point(x=self.x + self.width / 2, y=self.y + self.height / 2)

    def contains(self, point: Point) -> bool:
        """Whether the point lies in the box, its right and bottom edge excluded."""
        return self.x <= point.x < self.right and self.y <= point.y < self.bottom

    def intersection(self, other: Box) -> Box | None:
        """The common part, or None where there is none."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        if right <= x or bottom <= y:
            return None
        return Box(x=x, y=y, width=right - x, height=bottom - y)

    def share_in(self, other: Box) -> float:
        """How much of this box lies in the other, 0 to 1."""
        both = self.intersection(other)
        return 0.0 if both is None else both.width * both.height / (self.width * self.height)

    def likeness(self, other: Box) -> float:
        """How much of what the two cover is covered by both, 0 to 1."""
        both = self.intersection(other)
        if both is None:
            return 0.0
        area = both.width * both.height
        return area / (self.width * self.height + other.width * other.height - area)


class ScrollState(_Data):
    """How far something is scrolled and how much it holds, in CSS pixels."""

    x: float = 0
    y: float = 0
    width: float = 0
    """Of the whole content."""
    height: float = 0
    view_width: float = 0
    view_height: float = 0

    @property
    def above(self) -> float:
        return max(0.0, self.y)

    @property
    def below(self) -> float:
        return max(0.0, self.height - self.view_height - self.y)


# --- pictures ---------------------------------------------------------------------------------------------------------


class PageMap(_Data):
    """The affine map from picture to page: `page = picture * scale + offset` on each axis."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    def to_page(self, point: Point) -> Point:
        """The page coordinates of a picture point."""
        return Point(x=point.x * self.scale_x + self.offset_x, y=point.y * self.scale_y + self.offset_y)

    def to_picture(self, point: Point) -> Point:
        """The picture coordinates of a page point."""
        return Point(x=(point.x - self.offset_x) / self.scale_x, y=(point.y - self.offset_y) / self.scale_y)

    def box_to_picture(self, box: Box) -> Box:
        """The picture coordinates of a page box."""
        corner = self.to_picture(Point(x=box.x, y=box.y))
        return Box(x=corner.x, y=corner.y, width=box.width / self.scale_x, height=box.height / self.scale_y)

    def shown(self, size: Size) -> Box:
        """The part of the page that a picture of this size shows."""
        return Box(x=self.offset_x, y=self.offset_y, width=size.width * self.scale_x, height=size.height * self.scale_y)


class Shot(_Data):
    """One encoded picture: what it is, how it maps to the page, and the hash that names its file.

    `data` holds the exact bytes as sent to a model. It is never serialised: a reader of a run loads it by `sha256`.
    """

    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    size: Size
    sha256: str
    map: PageMap = PageMap()
    data: Annotated[bytes | None, Field(exclude=True, repr=False)] = None

    @property
    def page(self) -> Box:
        """The part of the page that it shows."""
        return self.map.shown(self.size)


# --- marks ------------------------------------------------------------------------------------------------------------

Kind = Literal["field", "button", "link", "toggle", "scroller", "surface", "guess"]
MarkStyle = Literal["coloured", "plain", "numbers"]
Source = Literal["dom", "cv", "ocr"]
Letter = Literal["", "I", "B", "L", "F", "O", "M"]
"""Field, button, link, picture, option, other; empty where numbers stand alone."""


class MarkState(_Data):
    """What a control says about itself. None means that the control has no such state."""

    value: str | None = None
    """Text in a field; never that of a password or of a field that holds a secret: those have `masked`."""
    masked: bool = False
    input_type: str | None = None
    placeholder: str | None = None
    options: tuple[str, ...] = ()
    """What a native list offers, by the text it shows."""
    checked: Literal["true", "false", "mixed"] | None = None
    selected: bool | None = None
    expanded: bool | None = None
    pressed: Literal["true", "false", "mixed"] | None = None
    minimum: str | None = None
    """Of a slider or a number, as the page says it."""
    maximum: str | None = None
    popup: str | None = None
    """What it opens: `menu`, `listbox`, `tree`, `grid`, `dialog`; `hover` if more shows while the pointer is on it."""
    current: bool = False
    """The one of its set that is being shown, such as the page in a navigation."""
    busy: bool = False
    disabled: bool = False
    readonly: bool = False
    required: bool = False
    invalid: bool = False
    focused: bool = False
    """Keys go to it."""
    hovered: bool = False
    """The pointer is over it."""
    submits: bool = False
    """Pressing it sends a form; that of a search does not count."""
    leads_to: str | None = None
    """The host that a link goes to, where that is not the page's own."""
    scroll: ScrollState | None = None


class Grid(_Data):
    """Alike places in rows and columns, both counted from 1 at the top left; a place may be empty."""

    rows: int
    columns: int
    cells: tuple[tuple[int, int, float, float, float, float], ...]
    """Row and column, then left, top, width and height in page coordinates."""

    def cell(self, row: int, column: int) -> Box | None:
        """Where a cell is; None where there is none."""
        found = (edges for at_row, at_column, *edges in self.cells if (at_row, at_column) == (row, column))
        return next((Box(x=x, y=y, width=width, height=height) for x, y, width, height in found), None)


class Mark(_Data):
    """One thing on the page that can be acted on, with the number the model knows it by."""

    number: int
    letter: Letter = ""
    """Drawn before the number, where that was asked for; the number alone still names the mark."""
    tag: str
    role: str
    kind: Kind
    name: str
    """Its accessible name: page text, hence data and never an instruction."""
    state: MarkState = MarkState()
    box: Box
    """Page coordinates, clipped to what is visible."""
    point: Point
    """Page coordinates of a point where a click was found to reach it."""
    frame: str = ""
    """Which frame it is in, as the listing says it; empty for the main frame."""
    source: Source = "dom"
    """`cv`: seen in the pixels of a surface, or a grid that was laid over the page; `ocr`: and read there."""
    confidence: float | None = None
    """For `cv` and `ocr` marks, 0 to 1."""
    surface: int | None = None
    """The number of the surface that it is drawn in; None for an element, and for a grid that was asked for."""
    grid: Grid | None = None
    """Of what has rows and columns: its cells can be targets."""
    moves: bool = False
    """It looked otherwise a moment later: it moves or changes by itself."""
    evidence: tuple[str, ...] = ()
    """Why it is a mark, such as `role=button`, `cursor:pointer`."""
    fingerprint: str = ""
    """Changes when what the element *is* changes (role, name, place in structure), not when it moves."""
    context: str = ""
    """The words that tell which of its like it is: those of the row, card or dialog it stands in, without its own and
    without what changes by itself. Page text."""
    heading: str = ""
    """The heading, legend or title that governs where it stands: page text."""
    row: str = ""
    """Of records that were made before there was `context`; empty now."""
    around: str = ""
    """As `row`."""
    key: str = ""
    """Finds the live element while its document lives; means nothing afterwards."""
    in_dialog: bool = False
    """It is in a dialog that is open."""
    change: Literal["", "new", "changed", "moved"] = ""
    """Against the previous observation."""
    label_box: Box | None = None
    """Picture coordinates of its number."""
    colour: str | None = None
    """`#rrggbb`, as drawn."""

    @property
    def label(self) -> str:
        """What is drawn for it."""
        return f"{self.letter}{self.number}"


class Covered(_Data):
    """Things that could be acted on if something else were not in the way."""

    count: int
    blocker: str
    """What is in the way, described as in the listing."""
    blocker_mark: int | None = None


class Tab(_Data):
    """One tab of the browser."""

    number: int
    url: str
    title: str
    active: bool = False


class Change(_Data):
    """What is different from the previous observation."""

    new: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    navigated: bool = False


class Observation(_Data):
    """The page as the agent saw it once: two pictures, the marks, and the listing that goes with them."""

    id: str
    epoch: int
    """Counts documents: raised by navigation and by replacement of the document."""
    url: str
    title: str
    taken_at: datetime
    viewport: Size
    device_ratio: float = 1.0
    scroll: ScrollState = ScrollState()
    tabs: tuple[Tab, ...] = ()
    frames: dict[str, str] = {}
    """The addresses of the frames that show, by the names that marks have for them."""
    marks: tuple[Mark, ...] = ()
    listing: str
    clean: Shot
    marked: Shot
    phash: str = ""
    """Of the clean picture: 64 hexadecimal digits that differ in few bits where two pictures look alike."""
    region: Box | None = None
    """The part of the page that both pictures show, where they were zoomed; `marks` are those in it."""
    change: Change = Change()
    covered: tuple[Covered, ...] = ()
    at_rest: bool = True
    warnings: tuple[str, ...] = ()
    timings: dict[str, float] = {}
    """Seconds spent, by stage."""

    def mark(self, number: int) -> Mark | None:
        """The mark with this number, or None."""
        return next((mark for mark in self.marks if mark.number == number), None)

    def _repr_png_(self) -> bytes | None:
        """The marked picture, which is how a notebook shows an observation."""
        return self.marked.data if self.marked.media_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.marked.data if self.marked.media_type == "image/jpeg" else None


# --- exemplars: what worked before, given to a model as turns before the live ones ------------------------------------


class PastAct(_Data):
    """One action of an exemplar, and what became of it."""

    action: dict[str, JsonValue]
    """What was set of it. A thing is said by its line in the listing without the number, a place by its share of the
    picture: numbers and points of an old page mean nothing on a new one."""
    outcome: str


class PastTurn(_Data):
    """One step of an exemplar: what was seen, shrunken, what was decided, and what became of it."""

    url: str
    """Without what its query and fragment say."""
    title: str
    lines: tuple[str, ...] = ()
    """Of the listing, those that mattered most, without numbers."""
    kinds: dict[Kind, int] = {}
    """How many marks of each kind there were."""
    judgement: Literal["success", "failure", "unknown"] = "unknown"
    memory: str = ""
    next_goal: str = ""
    acts: tuple[PastAct, ...]
    picture: Shot | None = None
    """Small, and without marks."""


class Standing(_Data):
    """How often an exemplar was given and the run then came to its end, or did not."""

    helped: int = Field(default=0, ge=0, le=10**9)
    failed: int = Field(default=0, ge=0, le=10**9)


class Exemplar(_Data):
    """A verified run in short, to be shown when something like it is wanted again."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """The run's, and the name of its file."""
    goal: str
    site: str
    """The host of the first page; empty where it has none."""
    learned_at: datetime
    run: str
    """The id of the run that it was learned from."""
    head: str
    """The hash that stands for that run's whole record."""
    turns: tuple[PastTurn, ...] = Field(min_length=1)
    answer: str = ""
    standing: Standing = Standing()


class Recalled(_Data):
    """What a memory has for a task on a page."""

    exemplar: Exemplar | None = None
    """None: nothing like it was ever done."""
    why: str = ""
    """For a person: what is alike, and how many of the best three agreed."""
    warnings: tuple[str, ...] = ()
    """What could not be read, and was left as it is."""


# --- tasks ------------------------------------------------------------------------------------------------------------


class Secret(_Data):
    """A value the model may use by name and never sees. It enters a field only on one of its hosts."""

    name: str
    value: SecretStr
    hosts: tuple[str, ...] = ()
    """Host names, exact or `*.example.org`; empty: only the host of the task's start URL."""
    fields: tuple[str, ...] = ()
    """Input types it may enter, such as `password`; empty: any."""
    is_code: bool = False
    """The value is a key of one-time codes, in base32 or as an `otpauth://` address; the present code is typed."""


class Limits(_Data):
    """Where a run stops by itself."""

    steps: int = Field(default=40, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    consecutive_failures: int = Field(default=5, ge=1)
    """Steps in a row in which no action was carried out."""
    false_endings: int = Field(default=3, ge=1)
    """Times that a task may be said to be done while a check fails or a judge denies it; then it ends as not done."""
    standstill: int = Field(default=6, ge=1)
    """Steps in a row that brought nothing new: done before on the same page, or without any effect."""
    tokens: int | None = Field(default=None, gt=0)
    cost_usd: float | None = Field(default=None, gt=0)
    """A run that cannot know what a decision cost ends after it: better too early than never."""
    on_failure: Literal["never_raise", "after_retries", "at_once"] = "never_raise"


class Message(_Data):
    """Something the person said, before or during a run."""

    text: str
    at: datetime


class Picture(_Data):
    """A picture that belongs to the goal, named by the hash of its bytes."""

    shot: Shot
    caption: str = ""


class Check(_Data):
    """What must hold before a task counts as done: everything that is given here."""

    url: str | None = None
    """Of the page, where `*` stands for anything."""
    text: str | None = None
    """Shows somewhere on the page."""
    mark: str | None = None
    """Stands in the name of a mark in view."""


class Task(_Data):
    """What is wanted, where to begin, and within which bounds."""

    goal: str
    pictures: tuple[Picture, ...] = ()
    messages: tuple[Message, ...] = ()
    start_url: str | None = None
    user_data: dict[str, str] = {}
    """Facts the model may use as they are, such as a name or an address."""
    secrets: tuple[Secret, ...] = ()
    limits: Limits = Limits()
    allowed_hosts: tuple[str, ...] | None = None
    """Host names, exact or `*.example.org`. None: no rule. An empty tuple denies everything."""
    denied_hosts: tuple[str, ...] = ()
    """They win over those that are allowed."""
    answer_schema: dict[str, Any] | None = None
    """A JSON schema that the answer must meet."""
    checks: tuple[Check, ...] = ()
    """All must hold when the task is said to be done; else that is sent back with the reason."""
    files: tuple[Path, ...] = ()
    """What may be uploaded, and nothing else; a model knows them by their names."""
    actions: tuple[Action, ...] = ()
    """To begin with, before the model is asked."""
    exemplar: Exemplar | None = None
    """What worked before for something like it, shown to the model; a memory finds it on the first page."""


# --- decisions and outcomes -------------------------------------------------------------------------------------------

Author = Literal["model", "human", "steps", "scripted", "replay", "memory", "loop"]
"""`loop`: what the loop does by itself, to leave a standstill or at a captcha."""


class Usage(_Data):
    """What one request cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    """None where the price is not known: never a guess, never zero."""
    raw: dict[str, Any] = {}
    """As the provider said it."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


class Candidate(_Data):
    """A mark that was considered, and why."""

    mark: int
    reason: str


class Verdict(_Data):
    """What a model says of a task that is said to be done: the judge's own, beside the decision."""

    done: bool | None
    """None: nobody could tell, because the judge could not be asked or did not answer as it should."""
    reason: str
    """What shows that it is done, or what is missing, or why nobody could tell."""
    model: str
    reply_id: str | None = None
    usage: Usage | None = None
    request_sha256: str | None = None
    """Of the redacted request, as kept in the run."""
    seconds: float = 0.0


class Decision(_Data):
    """What to do next, and what the decider thought of the last step."""

    judgement: Literal["success", "failure", "unknown"] = "unknown"
    """Of the previous step's goal."""
    memory: str = ""
    next_goal: str = ""
    candidates: tuple[Candidate, ...] = ()
    actions: tuple[Action, ...] = ()
    summary: str = ""
    """Of the page, when the decider gave one."""
    wall: Literal["", "captcha", "login"] = ""
    """What only a person can pass stands in the way, as the model sees it; its actions are then not carried out."""
    author: Author
    model: str | None = None
    reply_id: str | None = None
    """The provider's; of a decision that is made again the run it was made in and its step, `<run>:<step>`."""
    usage: Usage | None = None
    request_sha256: str | None = None
    """Of the redacted request, as kept in the run."""
    seconds: float = 0.0


Risk = Literal["submit", "pay", "delete", "send", "upload", "leave"]
"""What cannot be taken back, or not easily; `leave`: another host is opened."""


class Risky(_Data):
    """Why one action of a decision is not done without a person's word, where the policy says so."""

    action: int
    """Its place in the decision, from 0."""
    risk: Risk
    why: str
    """What of it says so, for a person."""


class Choice(_Data):
    """What was answered about a decision before it was done."""

    kind: Literal["approve", "replace", "instruct", "take_over", "stop"]
    """`replace`: by `actions`. `instruct`: it is not done, and whoever decides hears `text` and decides again.
    `take_over`: it is not done, and a person does what is to be done in the browser, until they hand it back."""
    actions: tuple[Action, ...] = ()
    goal: str = ""
    """What the actions are for; empty: the same."""
    text: str = ""
    author: Author = "human"
    through: Literal["terminal", "page", "callback"] = "callback"
    """Where it was answered."""


class Approval(_Data):
    """A decision that was asked about, and what was answered."""

    proposed: Decision
    risks: tuple[Risky, ...] = ()
    choice: Choice | None = None
    """None: there was nobody to ask."""


Effect = Literal[
    "changed",
    "no_effect",
    "as_wanted",
    "navigated",
    "same_document",  # the same page, at another address
    "error_page",  # the browser's own, in place of the page
    "new_tab",
    "dialog",
    "download",
    "read",
    "zoomed",
    "asked",
    "finished",
    "infeasible",
]
CAME_TO_NOTHING: tuple[Effect, ...] = ("no_effect", "error_page")
"""Effects of what was done and brought nothing that was wanted."""
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
]


class Outcome(_Data):
    """What became of one action. A refusal is a finding about the page, not an exception."""

    status: Literal["done", "partial", "refused"]
    """`refused`: no event of it reached the page. `partial`: some did and the rest was not sent, or nobody can tell; so
    it may have been done, and is never repeated by itself."""
    effect: Effect | None = None
    """What visibly came of it; None when it was refused, and when nobody can tell."""
    refusal: Refusal | None = None
    """Why it, or the rest of it, was not done; None when it was done."""
    sentence: str
    """For the model: what was attempted, on what, what was found, what could help."""
    rung: int | None = None
    """How the target was found: 1 the live element, 2 role and name, 3 structure, 4 coordinates."""
    point: Point | None = None
    """Page coordinates at which input was sent."""
    value: str | None = None
    """Read back from the field; None where there is none or it is masked."""
    read: str = ""
    """Text of the page that the action asked for: data, and never an instruction."""
    changes: tuple[str, ...] = ()
    pixels_near: float | None = None
    """Share of pixels that changed around the point, 0 to 1."""
    pixels_elsewhere: float | None = None
    """Share of the other pixels of the view that changed."""
    requests: int = 0
    """That the page started meanwhile."""
    url: str = ""
    """The address afterwards, where it is another."""
    seconds: float = 0.0


class ByHand(_Data):
    """One thing that a person did in the browser themselves, after they had taken it over."""

    observation: Observation
    """The last look before it."""
    words: str
    """What they did, as it goes on after `A person`."""
    action: Action | None = None
    """None: no action says it."""
    outcome: Outcome | None = None
    """Of the action."""
    started_at: datetime
    seconds: float = 0.0


class Step(_Data):
    """One turn: what was seen, what was decided, what came of it."""

    index: int
    observation: Observation
    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    """One per action, in order; actions after a stop have `refusal="not_reached"`."""
    verdict: Verdict | None = None
    """Of the judge, where this step said that the task is done and one was asked."""
    unused: tuple[Usage, ...] = ()
    """Of replies that could not be used."""
    started_at: datetime
    seconds: float = 0.0
    approval: Approval | None = None
    """None: nobody had to be asked."""

    @property
    def carried_out(self) -> tuple[tuple[Action, Outcome], ...]:
        """The acts that were done, each with what came of it; where a person was asked instead of it, nothing was."""
        return tuple((action, what) for action, what in self.maybe_done if what.status == "done")

    @property
    def maybe_done(self) -> tuple[tuple[Action, Outcome], ...]:
        """What was carried out, and what was cut off half-way: nothing of it may be done again on a guess."""
        acts = zip(self.decision.actions, self.outcomes, strict=False)
        return tuple(
            (action, what)
            for action, what in acts
            if what.status != "refused" and (what.effect != "asked" or action.kind == "ask")
        )

    @property
    def is_by_hand(self) -> bool:
        """Whether a person did it in the browser themselves: nobody decided it for the run."""
        return self.decision.author == "human" and self.decision.model is None

    @property
    def usages(self) -> tuple[Usage, ...]:
        """What each reply of this step cost."""
        return usages_of(self.decision, self.verdict, self.unused)


def usages_of(decision: Decision | None, verdict: Verdict | None, unused: tuple[Usage, ...]) -> tuple[Usage, ...]:
    """What each reply cost that had a part in a step: usable or not, and the judge's."""
    told = (decision.usage if decision else None, verdict.usage if verdict else None)
    return (*unused, *(usage for usage in told if usage is not None))


class Ending(_Data):
    """How a run ended, for a person and for a shell."""

    status: Literal[
        "done", "not_done", "infeasible", "limit", "needs_person", "unavailable", "error", "interrupted", "dry_run"
    ]
    """`dry_run`: what would have been done next is told, and was not."""
    sentence: str
    answer: str = ""
    evidence: tuple[int, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 done, 1 not done, 2 usage, 3 limit, 4 a person or policy, 5 browser or model down, 130 interrupted."""
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


class Provenance(_Data):
    """With what a run was made, so that a result can be traced to its words and versions."""

    versions: dict[str, str] = {}
    browser: str = ""
    model: str = ""
    prompts: dict[str, str] = {}
    """sha256 of each prompt by its name."""
    overlay_sha256: str = ""
    begun_with: str = ""
    """The run whose first steps were taken again, and how many: `<run>:<steps>`."""
    replayed: str = ""
    """The run whose decisions were made again, all of them and by themselves."""
    replayed_sha256: str = ""
    """The head of its record."""
    patch_sha256: str = ""
    """Of the repairs that were taken in place of some of its steps."""
    settings: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    """Of each model by its name: what it can do, and whether its provider said so or it is declared here."""


class Run(_Data):
    """A whole run. On disk it is a folder; `record` writes and reads it."""

    id: str
    task: Task
    provenance: Provenance = Provenance()
    started_at: datetime
    steps: tuple[Step, ...] = ()
    ending: Ending | None = None
    """None: still running, or cut off."""
