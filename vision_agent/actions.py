"""What the agent can do to a browser: one class per action, joined in `Action` on `kind`.

The class *is* the tool the model sees: its docstring is the description, its fields are the arguments.
A `Target` is the number of a mark, a cell of one that has rows and columns, or a point in pixels of the marked picture;
nothing here knows what is behind any of them.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Modifier = Literal["Alt", "Control", "Meta", "Shift"]


class Point(BaseModel):
    """A place: pixels of the marked picture in an action, CSS pixels of the viewport in a `Mark`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: float
    y: float


class Cell(BaseModel):
    """A place in a mark that has rows and columns, counted from 1 at its top left."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    mark: int
    row: Annotated[int, Field(ge=1)]
    column: Annotated[int, Field(ge=1)]


Target = int | Cell | Point
"""A mark's number, a cell of a mark, or a point in pixels of the marked picture."""


class Offset(BaseModel):
    """So many pixels of the picture away from where a thing is; what is negative is to the left, or up."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    right: float
    down: float


class _Action(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Click(_Action):
    """Click a mark, or a point of the picture where there is no mark."""

    kind: Literal["click"] = "click"
    target: Target
    button: Literal["left", "right", "middle"] = "left"
    count: Annotated[int, Field(ge=1, le=3)] = 1
    """2 is a double click."""
    modifiers: tuple[Modifier, ...] = ()


class Type(_Action):
    """Type text into a field, in place of what it holds unless `clear` is false. Write a secret as <secret:name>."""

    kind: Literal["type"] = "type"
    target: Target
    text: str
    clear: bool = True
    submit: bool = False
    """Press Enter afterwards."""


class Select(_Action):
    """Choose options of a list, a dropdown or a combobox by the text they show; it is opened if it must be."""

    kind: Literal["select"] = "select"
    target: Target
    options: tuple[str, ...]
    """One, or all that are to be chosen where several can be."""


class Check(_Action):
    """Tick a checkbox, switch or radio button, or untick it; one that is so already is left alone."""

    kind: Literal["check"] = "check"
    mark: int
    checked: bool


class Set(_Action):
    """Set a date, time, colour, number, range or slider to a value written as in 2026-02-03, 14:30, #ff8800, 42."""

    kind: Literal["set"] = "set"
    mark: int
    value: str


class Upload(_Action):
    """Give a file field, or a button that asks for files, files of the task by their names."""

    kind: Literal["upload"] = "upload"
    mark: int
    files: tuple[str, ...]


class Press(_Action):
    """Press a key or a combination such as Enter, ArrowDown, Control+a; with a target, that gets the focus first."""

    kind: Literal["press"] = "press"
    keys: str
    target: Target | None = None
    count: Annotated[int, Field(ge=1, le=100)] = 1


class Hover(_Action):
    """Move the pointer over a mark or a point and leave it there, to open menus and tips."""

    kind: Literal["hover"] = "hover"
    target: Target


class Scroll(_Action):
    """Scroll the page, or the container that holds the target.

    `pages` counts heights or widths of what scrolls. With `to` it goes to the `end` in that direction, or brings the
    target itself to the `middle`.
    """

    kind: Literal["scroll"] = "scroll"
    direction: Literal["up", "down", "left", "right"] = "down"
    pages: Annotated[float, Field(gt=0, le=100)] = 0.8
    target: Target | None = None
    to: Literal["end", "middle"] | None = None


class Drag(_Action):
    """Press at one target, move along a path of points if there is one, and release at another target.

    Where there is nothing to release at, `target` can be an offset from the source.
    """

    kind: Literal["drag"] = "drag"
    source: Target
    target: Target | Offset
    path: tuple[Point, ...] = ()
    """Points of the picture on the way, such as the corners of what is drawn."""


class SelectText(_Action):
    """Select text that shows, from its first words to its last, as by drawing the pointer over it; one word is both."""

    kind: Literal["select_text"] = "select_text"
    first: str
    last: str


class Zoom(_Action):
    """Look closer: the next picture shows only what is around a mark or a point, enlarged, with the same numbers.

    Things that were left out of a crowded picture show there. With `to` it shows what lies between two points.
    With `grid` it has rows and columns drawn over it, whose cells are targets; zoom into one of them for finer ones.
    """

    kind: Literal["zoom"] = "zoom"
    target: Target
    to: Point | None = None
    """The opposite corner, where the target is a point."""
    grid: bool = False


class Goto(_Action):
    """Open an address in the current tab."""

    kind: Literal["goto"] = "goto"
    url: str


class Back(_Action):
    """Go one page back in the history of the current tab."""

    kind: Literal["back"] = "back"


class Forward(_Action):
    """Go one page forward in the history of the current tab."""

    kind: Literal["forward"] = "forward"


class Reload(_Action):
    """Load the current page again."""

    kind: Literal["reload"] = "reload"


class OpenTab(_Action):
    """Open an address in a new tab and go there."""

    kind: Literal["open_tab"] = "open_tab"
    url: str


class SwitchTab(_Action):
    """Go to another tab by its number in the list of tabs."""

    kind: Literal["switch_tab"] = "switch_tab"
    tab: int


class CloseTab(_Action):
    """Close a tab by its number in the list of tabs."""

    kind: Literal["close_tab"] = "close_tab"
    tab: int


class Wait(_Action):
    """Wait until a text shows, until anything on the page changes, or for some seconds; never longer than those."""

    kind: Literal["wait"] = "wait"
    seconds: Annotated[float, Field(gt=0, le=60)] = 2.0
    text: str | None = None
    change: bool = False


class Read(_Action):
    """Get text of the page with the outcome: all of it, what is in `view`, or the `table` or list around a mark."""

    kind: Literal["read"] = "read"
    what: Literal["view", "page", "table"] = "view"
    mark: int | None = None


class Extract(_Action):
    """Get the rows of the table or list around a mark as JSON that meets a schema.

    The schema, itself written as JSON, is of an array of objects whose properties are named like the columns.
    """

    kind: Literal["extract"] = "extract"
    mark: int
    json_schema: str


class Ask(_Action):
    """Ask the person a question that only they can answer."""

    kind: Literal["ask"] = "ask"
    question: str


class Finish(_Action):
    """End the task: done or not, with the answer for the person and the marks that show it."""

    kind: Literal["finish"] = "finish"
    success: bool = True
    answer: str = ""
    evidence: tuple[int, ...] = ()


class Infeasible(_Action):
    """End the task because nobody could do it here: what it asks for does not exist, or is not allowed."""

    kind: Literal["infeasible"] = "infeasible"
    reason: str
    evidence: tuple[int, ...] = ()


class Custom(_Action):
    """An action that the caller of the library brought. It is shown to a model under its own name, never as this."""

    kind: Literal["custom"] = "custom"
    name: str
    arguments: dict[str, JsonValue] = {}


Offered = (
    Click
    | Type
    | Select
    | Check
    | Set
    | Upload
    | Press
    | Hover
    | Scroll
    | Drag
    | SelectText
    | Zoom
    | Goto
    | Back
    | Forward
    | Reload
    | OpenTab
    | SwitchTab
    | CloseTab
    | Wait
    | Read
    | Extract
    | Ask
    | Finish
    | Infeasible
)
"""Any action that a model may choose, in the order in which a prompt lists them."""

Action = Annotated[Offered | Custom, Field(discriminator="kind")]

ACTIONS: tuple[type[BaseModel], ...] = get_args(Offered)


def offset_words(offset: Offset) -> str:
    """How a sentence names an offset: `40 px to the left and 3 px down`."""
    sideways = f"{abs(offset.right):g} px to the {'right' if offset.right > 0 else 'left'}"
    along = f"{abs(offset.down):g} px {'down' if offset.down > 0 else 'up'}"
    return " and ".join([sideways] * (offset.right != 0) + [along] * (offset.down != 0)) or "by nothing"


def mark_in(target: Target) -> int | None:
    """The number of the mark that a target names, None for a point."""
    return None if isinstance(target, Point) else target.mark if isinstance(target, Cell) else target


def targets_of(action: BaseModel) -> tuple[Target, ...]:
    """The targets an action names, in the order in which it touches them."""
    named = [getattr(action, field, None) for field in ("source", "target", "mark")]
    return tuple(each for each in (*named, *getattr(action, "path", ())) if isinstance(each, int | Cell | Point))
