"""What the agent can do in a browser: one class per action, joined in `Action` on `kind`.

The class *is* the tool the model sees: its docstring is the description, its fields are the arguments.
A `Target` is the number of a mark, a cell of a mark with rows and columns, or a point in pixels of the marked picture.
Nothing here knows the elements behind them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from vision_agent.base_model import FrozenModel

Modifier = Literal["Alt", "Control", "Meta", "Shift"]


class Point(FrozenModel):
    """A point: pixels of the marked picture in an action, CSS pixels of the viewport in a `Mark`."""

    x: float
    y: float


class Cell(BaseModel):
    """A cell of a mark with rows and columns, counted from 1 at its top left."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    mark: int
    row: Annotated[int, Field(ge=1)]
    column: Annotated[int, Field(ge=1)]


LONGEST_HOLD_S = 10.0
"""How long a button or a key may be held."""

LONGEST_SEARCH_S = 20.0
"""How long lists are scrolled for what is not in view."""

LONGEST_FIND_S = 120.0
"""How long a surface is panned for words that are not in view."""

Target = int | Cell | Point
"""A mark's number, a cell of a mark, or a point in pixels of the marked picture."""


class Offset(BaseModel):
    """A distance from the source in pixels of the marked picture; negative values mean left or up."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    right: float
    down: float


class PictureArea(FrozenModel):
    """A part of the picture, given by two opposite corners."""

    corner: Point
    opposite: Point


Repeat = Literal["freely", "if_page_is_gone", "if_address_is_plain", "if_state_shows", "never"]
"""When an action that was begun, and may have been done, is done again.

freely: it leaves no trace. if_page_is_gone: on the page where it was begun it could send a form again, or close another
tab. if_address_is_plain: an address without a question mark makes no server do anything. if_state_shows: it sets a
state that can be read back, and setting it twice changes nothing. never: nobody can tell whether it was done.
"""


@dataclass(frozen=True)
class Traits:
    """What the rest of the program must know about an action. The defaults are the strictest."""

    targets: tuple[str, ...] = ()
    """The fields that name a target, in the order in which the action touches them."""
    only_looks: bool = False
    """It only moves the view or the pointer, waits, or reads. A dry run carries it out, and it is never risky."""
    presses: bool = True
    """It presses buttons or keys, or has the same effect through the browser."""
    sets_field: bool | Literal["by_mark"] = True
    """It leaves state in the page that reloading loses. `by_mark`: only on a target that keeps a state, such as a
    checkbox or a drawing."""
    focuses: Literal["target", "field", "nothing"] = "nothing"
    """What has the focus afterwards, for later keys that name no target: its `target`, or that only if it is a
    `field`. `nothing`: nothing that is known."""
    informs: bool = False
    """It tells the model something even if the page does not change."""
    repeat: Repeat = "never"
    ends_batch: bool = True
    """Later actions of the decision are not carried out: the page is a different one, or somebody must look first."""
    in_browser: bool = False
    """The browser carries it out, rather than the loop, a person, or a function of the caller."""
    needs_page: bool = True
    """It cannot be done on a page that hangs: the page has to answer first."""
    is_classified: bool = False
    """Its risks are known to approval. Otherwise the action is risky."""


TARGET_FIELDS = ("source", "target", "mark")
"""The fields that name a target in a custom action; no other field does."""


def _look_traits(*targets: str, informs: bool = False, ends_batch: bool = False, needs_page: bool = True) -> Traits:
    return Traits(
        targets=targets,
        only_looks=True,
        presses=False,
        sets_field=False,
        informs=informs,
        repeat="freely",
        ends_batch=ends_batch,
        in_browser=True,
        needs_page=needs_page,
        is_classified=True,
    )


def _press_traits(
    *targets: str,
    sets_field: bool | Literal["by_mark"] = True,
    focuses: Literal["target", "field", "nothing"] = "nothing",
    informs: bool = False,
    repeat: Repeat = "never",
) -> Traits:
    return Traits(
        targets=targets,
        sets_field=sets_field,
        focuses=focuses,
        informs=informs,
        repeat=repeat,
        ends_batch=False,
        in_browser=True,
        is_classified=True,
    )


def _navigation_traits(repeat: Repeat) -> Traits:
    return Traits(presses=False, sets_field=False, repeat=repeat, in_browser=True, needs_page=False, is_classified=True)


def _message_traits(*targets: str, informs: bool = False) -> Traits:
    return Traits(
        targets=targets,
        presses=False,
        sets_field=False,
        informs=informs,
        repeat="freely",
        needs_page=False,
        is_classified=True,
    )


class _Action(FrozenModel):
    traits: ClassVar[Traits] = Traits()

    @property
    def repeat(self) -> Repeat:
        """When the action is repeated if it may have been done."""
        return self.traits.repeat

    @property
    def keeps_focus(self) -> bool:
        """Whether a field that it focuses keeps the focus: if something else has it then, the page took it."""
        return self.traits.focuses == "field"

    @property
    def lasts_s(self) -> float:
        """How long it takes by itself at most, in seconds: it waits, or holds a button or a key."""
        return 0.0

    @property
    def how_often(self) -> int:
        """How many times it presses, each of which may send a form or pay again."""
        return 1


def _requires(*fields: str) -> ConfigDict:
    """Makes a model always give these fields, although they have defaults: providers limit optional parameters."""
    return ConfigDict(json_schema_extra={"required": [*fields]})


class Click(_Action):
    """Click a mark, or a point of the picture where there is no mark."""

    traits: ClassVar[Traits] = _press_traits("target", sets_field="by_mark", focuses="field")

    kind: Literal["click"] = "click"
    target: Target
    button: Literal["left", "right", "middle"] = "left"
    count: Annotated[int, Field(ge=1, le=3)] = 1
    """2 is a double click."""
    modifiers: tuple[Modifier, ...] = ()

    @property
    def how_often(self) -> int:
        """The number of clicks."""
        return self.count


class DoubleTap(_Action):
    """Tap a mark or a point twice with a finger, for pages that only answer to touch."""

    traits: ClassVar[Traits] = _press_traits("target", sets_field="by_mark", focuses="field")

    kind: Literal["double_tap"] = "double_tap"
    target: Target

    @property
    def how_often(self) -> int:
        """Two taps."""
        return 2


class Hold(_Action):
    """Press the mouse button on a mark or a point, hold it for some seconds, or until a text shows, and release it."""

    model_config = _requires("target", "seconds", "until", "touch")
    traits: ClassVar[Traits] = _press_traits("target", sets_field="by_mark", focuses="field")

    kind: Literal["hold"] = "hold"
    target: Target
    seconds: Annotated[float, Field(gt=0, le=LONGEST_HOLD_S)] = LONGEST_HOLD_S
    until: str = ""
    """The text, if it should be released as soon as that shows, after `seconds` at the latest."""
    touch: bool = False
    """With a finger, for pages that answer only to touch."""

    @property
    def lasts_s(self) -> float:
        """The time for which it is held."""
        return self.seconds


class Type(_Action):
    """Type text into a field, replacing its content unless `clear` is false. Write a secret as <secret:name>."""

    traits: ClassVar[Traits] = _press_traits("target", focuses="target", repeat="if_state_shows")

    kind: Literal["type"] = "type"
    target: Target
    text: str
    clear: bool = True
    submit: bool = False
    """Press Enter afterwards."""

    @property
    def repeat(self) -> Repeat:
        """`never` for text that is appended or submitted: the second time it has another effect."""
        return self.traits.repeat if self.clear and not self.submit else "never"

    @property
    def keeps_focus(self) -> bool:
        """False where it is submitted: the page may go on elsewhere."""
        return not self.submit


class Select(_Action):
    """Choose options of a list, a dropdown or a combobox by the text they show; it is opened if necessary."""

    traits: ClassVar[Traits] = _press_traits("target", repeat="if_state_shows")

    kind: Literal["select"] = "select"
    target: Target
    options: tuple[str, ...]
    """One option, or every option to be chosen if the list allows several."""
    change: Literal["add", "remove"] | None = None
    """For a list that allows several: choose these too, or no longer. Without it, a native list has these only."""


class Check(_Action):
    """Tick or untick a checkbox, switch or radio button; does nothing if it is already so."""

    traits: ClassVar[Traits] = _press_traits("mark", repeat="if_state_shows")

    kind: Literal["check"] = "check"
    mark: int
    checked: bool


class Set(_Action):
    """Set a date, time, colour, number, range or slider to a value written like 2026-02-03, 14:30, #ff8800, 42."""

    traits: ClassVar[Traits] = _press_traits("mark", focuses="target", repeat="if_state_shows")

    kind: Literal["set"] = "set"
    mark: int
    value: str


class Upload(_Action):
    """Upload files of the task, by name, to a file field or a button that asks for files."""

    traits: ClassVar[Traits] = _press_traits("mark")

    kind: Literal["upload"] = "upload"
    mark: int
    files: tuple[str, ...]


class Press(_Action):
    """Press a key or a combination such as Enter, ArrowDown, Control+a; a target gets the focus first.

    `seconds` holds it down for so long.
    """

    traits: ClassVar[Traits] = _press_traits("target", focuses="target")

    kind: Literal["press"] = "press"
    keys: str
    target: Target | None = None
    count: Annotated[int, Field(ge=1, le=100)] = 1
    seconds: Annotated[float, Field(gt=0, le=LONGEST_HOLD_S)] | None = None
    """It goes down once and does not repeat by itself, so a field gets one letter."""

    @model_validator(mode="after")
    def _must_end(self) -> Self:
        if self.lasts_s > LONGEST_HOLD_S:
            raise ValueError(f"keys are held for {LONGEST_HOLD_S:g} seconds at most, all presses together")
        return self

    @property
    def lasts_s(self) -> float:
        """The time for which keys are held."""
        return self.count * (self.seconds or 0.0)

    @property
    def how_often(self) -> int:
        """The number of presses."""
        return self.count


class Hover(_Action):
    """Move the pointer onto a mark or point and leave it there, to open menus and tooltips."""

    traits: ClassVar[Traits] = _look_traits("target")

    kind: Literal["hover"] = "hover"
    target: Target


class Scroll(_Action):
    """Scroll the page, or the container that holds the target.

    `pages` counts heights or widths of what scrolls; `px`, as in the listing, replaces it. `modifiers` turns the wheel
    over the target with these keys held. `to` scrolls to the `end` in that direction, or brings the target itself to
    the `middle`.
    """

    model_config = _requires("direction")
    traits: ClassVar[Traits] = _look_traits("target")

    kind: Literal["scroll"] = "scroll"
    direction: Literal["up", "down", "left", "right"] = "down"
    pages: Annotated[float, Field(gt=0, le=100)] = 0.8
    target: Target | None = None
    to: Literal["end", "middle"] | None = None
    px: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """CSS pixels, as the listing counts them. A notch of a mouse wheel is 100."""
    modifiers: tuple[Modifier, ...] = ()


class ScrollTo(_Action):
    """Scroll to what is called by these words and is not in view: a button, a link, a field or text, in any list.

    Lists that draw their rows while they are scrolled are searched too. It is refused if several things are called so.
    """

    traits: ClassVar[Traits] = _look_traits(ends_batch=True)

    kind: Literal["scroll_to"] = "scroll_to"
    text: str

    @property
    def lasts_s(self) -> float:
        """The time for which lists are searched."""
        return LONGEST_SEARCH_S


class Drag(_Action):
    """Press at one target, move along a path if there is one, and release at another target.

    If there is nothing to release at, `target` can be an offset from the source. `modifiers` are held meanwhile.
    """

    model_config = _requires("source", "target", "modifiers")
    traits: ClassVar[Traits] = _press_traits("source", "target")

    kind: Literal["drag"] = "drag"
    source: Target
    target: Target | Offset
    path: tuple[Point | Offset, ...] = ()
    """The way, such as the corners of a shape to draw: points of the picture, or distances from the source."""
    modifiers: tuple[Modifier, ...] = ()


class SelectText(_Action):
    """Select visible text from its first words to its last, as by dragging over it; a single word is both.

    If `first` shows several times, put words around it behind it: `times ‹worst of times›`.
    """

    traits: ClassVar[Traits] = _press_traits(sets_field=False, repeat="freely")

    kind: Literal["select_text"] = "select_text"
    first: str
    last: str


class Zoom(_Action):
    """Look closer: the next picture shows only what is around a mark or a point, enlarged, with the same numbers.

    It includes marks left out of a crowded picture. With `to` it shows the area between two points.
    With `grid` it has rows and columns drawn over it, whose cells are targets; zoom into one for finer ones.
    """

    traits: ClassVar[Traits] = _look_traits("target", informs=True, ends_batch=True)

    kind: Literal["zoom"] = "zoom"
    target: Target
    to: Point | None = None
    """The opposite corner, if the target is a point."""
    grid: bool = False


class LookAt(_Action):
    """Look at one thing only: the next picture and listing show a mark, a cell or an area of the picture, nothing else.

    What is larger than a picture shows is looked at in tiles: `tile` 1, 2, and so on.
    """

    model_config = _requires("target", "tile")
    traits: ClassVar[Traits] = _look_traits("target", informs=True, ends_batch=True)

    kind: Literal["look_at"] = "look_at"
    target: int | Cell | PictureArea
    tile: Annotated[int, Field(ge=1, le=10_000)] = 1


class Pan(_Action):
    """Move what a map, plan or drawing shows, as by dragging an empty place of it; nothing in it is clicked.

    `by` (-200, 0) shows what is farther right. The outcome says how far it moved.
    """

    traits: ClassVar[Traits] = _press_traits("mark", sets_field=False)

    kind: Literal["pan"] = "pan"
    mark: int
    by: Offset


class Magnify(_Action):
    """Show what is in a surface `factor` times as large: 2 is larger, 0.5 smaller. What is at the target stays there.

    The wheel is turned, or with `touch` two fingers move, which can turn it clockwise by `degrees` too.
    """

    model_config = _requires("target", "factor", "degrees", "touch")
    traits: ClassVar[Traits] = _press_traits("target", sets_field=False)

    kind: Literal["magnify"] = "magnify"
    target: Target
    factor: Annotated[float, Field(ge=0.02, le=50)]
    degrees: Annotated[float, Field(ge=-180, le=180)] = 0.0
    touch: bool = False

    @property
    def lasts_s(self) -> float:
        """The time for which the wheel is turned."""
        return LONGEST_SEARCH_S


class FindOn(_Action):
    """Find words drawn on a map, plan or sheet outside its view: it is panned until they are read, and never clicked.

    The outcome says where they are. If they are nowhere, it is panned back.
    """

    traits: ClassVar[Traits] = _press_traits("mark", sets_field=False, informs=True)

    kind: Literal["find_on"] = "find_on"
    mark: int
    text: Annotated[str, Field(min_length=1)]

    @property
    def lasts_s(self) -> float:
        """The time for which the surface is panned, there and back."""
        return 2 * LONGEST_FIND_S


class Goto(_Action):
    """Open an address in the current tab."""

    traits: ClassVar[Traits] = _navigation_traits("if_address_is_plain")

    kind: Literal["goto"] = "goto"
    url: str


class Back(_Action):
    """Go one page back in the history of the current tab."""

    traits: ClassVar[Traits] = _navigation_traits("if_page_is_gone")

    kind: Literal["back"] = "back"


class Forward(_Action):
    """Go one page forward in the history of the current tab."""

    traits: ClassVar[Traits] = _navigation_traits("if_page_is_gone")

    kind: Literal["forward"] = "forward"


class Reload(_Action):
    """Load the current page again."""

    traits: ClassVar[Traits] = _navigation_traits("if_page_is_gone")

    kind: Literal["reload"] = "reload"


class OpenTab(_Action):
    """Open an address in a new tab and go there."""

    traits: ClassVar[Traits] = _navigation_traits("if_address_is_plain")

    kind: Literal["open_tab"] = "open_tab"
    url: str


class SwitchTab(_Action):
    """Go to another tab by its number in the list of tabs."""

    traits: ClassVar[Traits] = _navigation_traits("freely")

    kind: Literal["switch_tab"] = "switch_tab"
    tab: int


class CloseTab(_Action):
    """Close a tab by its number in the list of tabs."""

    traits: ClassVar[Traits] = _navigation_traits("if_page_is_gone")

    kind: Literal["close_tab"] = "close_tab"
    tab: int


class Wait(_Action):
    """Wait until text is visible, until anything on the page changes, or for some seconds; never longer than those."""

    traits: ClassVar[Traits] = _look_traits(needs_page=False)

    kind: Literal["wait"] = "wait"
    seconds: Annotated[float, Field(gt=0, le=60)] = 2.0
    text: str | None = None
    change: bool = False

    @property
    def lasts_s(self) -> float:
        """The time that it waits at most."""
        return self.seconds


class Read(_Action):
    """Get text of the page in the outcome: all of it, what is in `view`, or the `table` or list around a mark.

    `download` is the text of the last downloaded file, a PDF or plain text. With a field's mark and `view`, it is the
    field's whole value. The `table` of a surface is what is drawn there in rows and columns. That of a drawn chart has
    the values that its picture shows, each with its error; with `exact`, the pointer also goes over its points, and the
    values that the page then shows have no error.
    """

    model_config = _requires("what", "exact")
    traits: ClassVar[Traits] = _look_traits("mark", informs=True)

    kind: Literal["read"] = "read"
    what: Literal["view", "page", "table", "download"] = "view"
    mark: int | str | None = None
    """For a table also words of its caption or heading."""
    exact: bool = False


class Extract(_Action):
    """Get the rows of a table, drawn or not, a list or repeated cards as JSON that meets a schema.

    The schema, written as JSON, is of an array of objects whose properties are named like the columns.
    """

    traits: ClassVar[Traits] = _look_traits("mark", informs=True)

    kind: Literal["extract"] = "extract"
    mark: int | str
    """A mark in it, or words of its caption or heading; empty if only one on the page has such columns."""
    json_schema: str


class Ask(_Action):
    """Ask the person a question that only they can answer."""

    traits: ClassVar[Traits] = _message_traits(informs=True)

    kind: Literal["ask"] = "ask"
    question: str


class Finish(_Action):
    """End the task: done or not, with the answer for the person and the marks that show it."""

    traits: ClassVar[Traits] = _message_traits()

    model_config = _requires("success", "answer")
    kind: Literal["finish"] = "finish"
    success: bool = True
    answer: str = ""
    evidence: tuple[int, ...] = ()


class Infeasible(_Action):
    """End the task because nobody could do it here: what it asks for does not exist, or is not allowed."""

    traits: ClassVar[Traits] = _message_traits()

    kind: Literal["infeasible"] = "infeasible"
    reason: str
    evidence: tuple[int, ...] = ()


class Custom(_Action):
    """A custom action of the library's caller. The model sees it under its own name, never as `custom`."""

    traits: ClassVar[Traits] = Traits(targets=TARGET_FIELDS, ends_batch=False, is_classified=True)

    kind: Literal["custom"] = "custom"
    name: str
    arguments: dict[str, JsonValue] = {}
    risks: tuple[str, ...] | None = None
    """The risks that its author declared; None if undeclared: the action then counts as risky."""


Offered = (
    Click
    | DoubleTap
    | Hold
    | Type
    | Select
    | Check
    | Set
    | Upload
    | Press
    | Hover
    | Scroll
    | ScrollTo
    | Drag
    | SelectText
    | Zoom
    | LookAt
    | Pan
    | Magnify
    | FindOn
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
"""Every action that a model may choose, in the order in which a prompt lists them."""

Action = Annotated[Offered | Custom, Field(discriminator="kind")]

ACTIONS: tuple[type[BaseModel], ...] = get_args(Offered)


def offset_words(offset: Offset) -> str:
    """An offset in words, such as `40 px to the left and 3 px down`."""
    sideways = f"{abs(offset.right):g} px to the {'right' if offset.right > 0 else 'left'}"
    along = f"{abs(offset.down):g} px {'down' if offset.down > 0 else 'up'}"
    return " and ".join([sideways] * (offset.right != 0) + [along] * (offset.down != 0)) or "by nothing"


def chord_keys(keys: str) -> tuple[str, ...]:
    """The keys of a combination in the order in which they go down: `Control++` is Control and +."""
    parts = re.findall(r"(\+|[^+]+)(?:\+|$)", keys)
    return tuple(parts) or (keys,)


def mark_in(target: Target) -> int | None:
    """The number of the mark that a target names, or None for a point."""
    return None if isinstance(target, Point) else target.mark if isinstance(target, Cell) else target


def targets_of(action: BaseModel) -> tuple[Target, ...]:
    """The targets of an action, in the order in which it touches them."""
    fields = action.traits.targets if isinstance(action, _Action) else TARGET_FIELDS
    named = [getattr(action, field, None) for field in fields]
    return tuple(each for each in (*named, *getattr(action, "path", ())) if isinstance(each, int | Cell | Point))
