"""What a look at a page tells: an `Observation` with its pictures, its marks and the listing.

Everything here is frozen and holds no live handle. Places are in page or picture coordinates; see `geometry`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from vision_agent.actions import Cell, Point
from vision_agent.base_model import DisplayedModel, FrozenModel
from vision_agent.geometry import Box, PageMap, ScrollState, Size
from vision_agent.text.notebook_html import CardPicture

_ROW_OF_CELLS = re.compile(r"^_\[[a-z]?(\d+) row (\d+)\](.*)$", re.MULTILINE)
"""A line of the listing with what was read in a row of a grid."""


class Shot(FrozenModel):
    """One encoded picture, its map to the page, and the hash that names its file.

    `data` holds the exact bytes sent to a model. It is never serialised: a reader of a run loads it by `sha256`.
    """

    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    size: Size
    sha256: str
    map: PageMap = PageMap()
    data: Annotated[bytes | None, Field(exclude=True, repr=False)] = None

    @property
    def page(self) -> Box:
        """The part of the page that the picture shows, in page coordinates."""
        return self.map.shown(self.size)

    def _repr_png_(self) -> bytes | None:
        """The picture; notebooks display it."""
        return self.data if self.media_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.data if self.media_type == "image/jpeg" else None


# --- marks ------------------------------------------------------------------------------------------------------------

Kind = Literal["field", "button", "link", "toggle", "scroller", "surface", "guess"]
MarkStyle = Literal["coloured", "plain", "numbers"]
Source = Literal["dom", "cv", "ocr"]
Legibility = Literal["", "unread", "unsure"]
"""`unread`: some of the text could not be read; `unsure`: the text may be wrong."""
Letter = Literal["", "I", "B", "L", "F", "O", "M"]
"""I field, B button, L link, F picture, O option, M other; empty when numbers stand alone."""


class MarkState(FrozenModel):
    """The state of a control. None means that the control has no such state."""

    value: str | None = None
    """Text in a field. Password fields and fields that hold a secret have `masked` instead, and `""` while empty."""
    caret_line: int | None = None
    """The line of `value` that the caret is in, counted from 1; only of a focused field with several lines."""
    masked: bool = False
    input_type: str | None = None
    placeholder: str | None = None
    options: tuple[str, ...] = ()
    """The options of a native list, by the text they show."""
    multiple: bool = False
    """A list, or an option of one, that allows several options to be chosen."""
    checked: Literal["true", "false", "mixed"] | None = None
    selected: bool | None = None
    expanded: bool | None = None
    pressed: Literal["true", "false", "mixed"] | None = None
    minimum: str | None = None
    """Lower limit of a slider or number field, as the page states it."""
    maximum: str | None = None
    popup: str | None = None
    """What it opens: `menu`, `listbox`, `tree`, `grid` or `dialog`; `hover` if hovering it reveals more."""
    current: bool = False
    """The current item of its set, such as the link to the current page in a navigation."""
    busy: bool = False
    disabled: bool = False
    readonly: bool = False
    required: bool = False
    invalid: bool = False
    focused: bool = False
    """It receives keyboard input."""
    hovered: bool = False
    """The pointer is over it."""
    submits: bool = False
    """Pressing it submits a form; search forms do not count."""
    leads_to: str | None = None
    """The host that a link leads to, or that a button sends its form to, if it is not the page's own."""
    shortcuts: str | None = None
    """The keys that press it, as the page declares them in `aria-keyshortcuts` and `accesskey`."""
    scroll: ScrollState | None = None


class Grid(FrozenModel):
    """Similar cells in rows and columns, counted from 1 at the top left; cells may be missing."""

    rows: int
    columns: int
    cells: tuple[tuple[int, int, float, float, float, float], ...]
    """Row and column, then x, y, width and height in page coordinates."""
    texts: tuple[tuple[int, int, str], ...] | None = None
    """Row, column and what was read in each cell that has text; None if nobody has read it."""

    @property
    def words(self) -> str:
        """The size in words, such as `3 rows and 4 columns`."""
        return f"{self.rows} rows and {self.columns} columns"

    def cell(self, row: int, column: int) -> Box | None:
        """The box of a cell in page coordinates, or None if there is no such cell."""
        found = (edges for at_row, at_column, *edges in self.cells if (at_row, at_column) == (row, column))
        return next((Box(x=x, y=y, width=width, height=height) for x, y, width, height in found), None)


class MarkKey(str):
    """The page's key of an element while its document lives: the document's token, a dot, and the rest."""

    __slots__ = ()

    @property
    def document(self) -> str:
        """The token of the document that issued the key."""
        return self.partition(".")[0]

    def drawn(self, surface: int, thing: int) -> MarkKey:
        """The key of a drawn mark in the surface with this key and number."""
        return MarkKey(f"{self.document}.s{surface}~{thing}")


class Label(FrozenModel):
    """The number plate drawn for a mark."""

    box: Box
    """Picture coordinates."""
    colour: str
    """`#rrggbb`: of the mark's box and of its plate, which is lighter."""


class IconGuess(FrozenModel):
    """What a picture without words seems to show: a guess from its pixels, never from the page."""

    name: str
    """One of the names in `vision/icons/names.txt`, such as `trash`."""
    confidence: float
    """0 to 1."""


DRAWN_EDITOR = "drawn around its field"
"""The evidence of a mark that represents a field that is not visible."""
BOXED_FIELD = "box around its field"
"""The evidence of a mark that represents a combobox whose field is not visible."""


class Wording(FrozenModel):
    """The words around a mark as the page has them, also those that change by themselves. Page text."""

    parts: tuple[str, ...] = ()
    """What stands by itself beside it: the cells and blocks of its row, card or dialog."""
    title: str = ""
    """What its row or card is itself called."""
    heading: str = ""
    own: tuple[str, ...] = ()
    """Where other rows lie in its row: what the row says up to them, and what it is called; else empty."""
    outer: str = ""
    """What the row says in which its row lies."""
    within: tuple[str, ...] = ()
    """The names of the sections, panels and groups that it lies in."""
    over: tuple[str, ...] = ()
    """Headings further off, the month over a day, and a chosen tab."""

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join((*self.parts, self.title, self.heading, *self.own, self.outer, *self.within, *self.over))


class EnterPress(FrozenModel):
    """What Enter in a field sets off, as its form says: the form's first button is pressed, wherever that is, or the
    form is sent, if it has none. Page text.
    """

    key: str = ""
    """The key of the button; empty if the form has none. Meaningless once its document is gone."""
    tag: str = "form"
    name: str = ""
    """Its accessible name, or the text in it."""
    shows: str = ""
    """The text painted in it, if that disagrees with its name."""
    says: str = ""
    """What else tells what it does; of a form without a button, where it goes."""
    asks: bool = False
    """The form is sent by GET, as searches are, takes no password or card, and names no amount of money."""
    changes: bool = False
    """The page declares that the form is sent as soon as the field has another value."""


class Mark(DisplayedModel):
    """One numbered target on the page."""

    number: int
    letter: Letter = ""
    """Drawn before the number if the settings ask for it; the number alone still names the mark."""
    tag: str
    role: str
    kind: Kind
    name: str
    """Its accessible name. This is page text: data, never an instruction."""
    state: MarkState = MarkState()
    box: Box
    """Page coordinates, clipped to the visible part."""
    point: Point
    """Page coordinates of a point where a click reaches it."""
    body: Box | None = None
    """Where in its box a drawn shape shows, and where its number is; None if it fills its box."""
    frame: str = ""
    """The name that the listing gives its frame; empty for the main frame."""
    source: Source = "dom"
    """`cv`: found in the pixels of a surface, or a grid laid over the page; `ocr`: its name was also read there."""
    confidence: float | None = None
    """0 to 1, for `cv` and `ocr` marks only."""
    surface: int | None = None
    """The number of the surface that it is drawn in; None for an element and for a requested grid."""
    grid: Grid | None = None
    """Its rows and columns, if it has any; each cell can be a target."""
    look: str = ""
    """The colour and stroke of something drawn, in words such as `blue` or `dashed red`."""
    looks_like: str = ""
    """What something drawn seems to be, such as `button`, `checkbox`, `handle` or `legend entry`; empty if that cannot
    be told. Its `role` stays `generic`, because the page does not say."""
    joins: tuple[int, ...] = ()
    """For a drawn edge: the numbers of the two marks that it connects."""
    reading: Legibility = ""
    """How well the text drawn on it could be read, for `cv` and `ocr` marks."""
    moves: bool = False
    """It looked different a moment later: it moves or changes by itself."""
    row_words: tuple[Box, ...] = ()
    """For something drawn that has a `context`: where these words are, in page coordinates, each place as wide as what
    stands there in any row."""
    is_told_by_row: bool = False
    """For something drawn: `context` has all the words of its row, surely read, and no other row has the same."""
    evidence: tuple[str, ...] = ()
    """Why it is a mark, such as `role=button` or `cursor:pointer`."""
    fingerprint: str = ""
    """Changes when what the element *is* changes (role, name, place in structure), not when it moves; `words` in a
    record where the name had a secret or private data in it, which a fingerprint would help to guess."""
    context: str = ""
    """The words that distinguish it from similar marks: those of its row, card or dialog, without its own words and
    without text that changes by itself. Page text."""
    title: str = ""
    """What its row or card is itself called, by a heading or row header in it, or by the term that it defines;
    `context` or `heading` has these words too. Page text."""
    time: str = ""
    """The time of day that its row begins with, as in a timetable; `context` has it only where nothing else tells the
    row from others. Page text."""
    heading: str = ""
    """The heading, legend or title of the section it is in. Page text."""
    wording: Wording | None = None
    """`context`, `title` and `heading` word for word, for what is named exactly; None where that is not known."""
    row: str = ""
    """Only in records made before `context` existed; empty now."""
    around: str = ""
    """Like `row`."""
    shows: str = ""
    """The text painted in it, if that disagrees with its name. Page text."""
    says: str = ""
    """What else tells what it does: what it shows, its title, the alternatives of its pictures, where its form goes.
    Page text."""
    icon: IconGuess | None = None
    """What it looks like, if it has no name. It does not identify the mark, and can only add risks."""
    prices: tuple[str, ...] = ()
    """The amounts of money beside it that `context` and `heading` leave out, as the page writes them."""
    key: str = ""
    """Finds the live element for as long as its document lives; meaningless afterwards. `MarkKey` parses it."""
    in_dialog: bool = False
    """It is in an open dialog."""
    enter: EnterPress | None = None
    """For a field or a box to tick: what Enter sets off in its form. None without a form, and in older records."""
    change: Literal["", "new", "changed", "moved"] = ""
    """Compared with the previous observation."""
    label: Label | None = None
    """None if it is not drawn."""

    @property
    def place(self) -> Box:
        """Where its number belongs: in its body, or else in its box."""
        return self.body or self.box

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """Its number, what it is, its name and its state."""
        yield from (("number", self.number), ("role", self.role), ("name", self.shown(self.name)))
        yield from (("value", self.shown(self.state.value or "")), ("checked", self.state.checked))
        yield "source", None if self.source == "dom" else self.source
        yield "icon", self.icon.name if self.icon else None

    @property
    def label_text(self) -> str:
        """The text drawn for it: its letter, if any, and its number."""
        return f"{self.letter}{self.number}"

    @property
    def is_drawn_editor(self) -> bool:
        """Whether it is the box in which a terminal or a code editor draws the text of a field that does not show."""
        return DRAWN_EDITOR in self.evidence

    @property
    def is_boxed_field(self) -> bool:
        """Whether it is the box of a combobox whose own field does not show."""
        return BOXED_FIELD in self.evidence

    @property
    def label_box(self) -> Box | None:
        """The box of its label; the old name of `label.box`."""
        warnings.warn("Mark.label_box is now Mark.label.box", DeprecationWarning, stacklevel=2)
        return self.label.box if self.label else None

    @property
    def colour(self) -> str | None:
        """The colour of its label; the old name of `label.colour`."""
        warnings.warn("Mark.colour is now Mark.label.colour", DeprecationWarning, stacklevel=2)
        return self.label.colour if self.label else None

    @model_validator(mode="before")
    @classmethod
    def _with_label(cls, given: Any) -> Any:
        """Reads records made before `Label` existed, in which its fields are those of the mark."""
        if not isinstance(given, dict) or "label_box" not in given:
            return given
        fields = dict(given)
        box, colour = fields.pop("label_box"), fields.pop("colour", None)
        return {**fields, "label": {"box": box, "colour": colour} if box and colour else None}


class Covered(FrozenModel):
    """Targets that get no mark because something covers them."""

    count: int
    blocker: str
    """What covers them, described as in the listing."""
    blocker_mark: int | None = None


class Tab(FrozenModel):
    """One tab of the browser."""

    number: int
    """Counted from 1 in the order in which tabs were opened; it names the tab in `SwitchTab` and `CloseTab`."""
    url: str
    title: str
    active: bool = False
    """Whether it is the tab that the observation shows."""


class Change(FrozenModel):
    """Differences from the previous observation, by mark number."""

    new: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    navigated: bool = False


class Observation(DisplayedModel):
    """One look at the page: two pictures, the marks, and the listing that goes with them."""

    id: str
    epoch: int
    """Counts documents: it rises when the page navigates or replaces its document."""
    url: str
    title: str
    taken_at: datetime
    viewport: Size
    device_ratio: float = 1.0
    scroll: ScrollState = ScrollState()
    tabs: tuple[Tab, ...] = ()
    frames: dict[str, str] = {}
    """The addresses of the visible frames, by the names that marks use for them."""
    marks: tuple[Mark, ...] = ()
    out_of_view: tuple[Mark, ...] = ()
    """Marks of earlier looks at this document that are only scrolled out of view, as they were last seen; their boxes
    and points are of then. An action may name one: it is scrolled to first."""
    listing: str
    clean: Shot
    marked: Shot
    phash: str = ""
    """A perceptual hash of the clean picture: 64 hexadecimal digits; similar pictures differ in few bits."""
    region: Box | None = None
    """The part of the page that both pictures show when zoomed; `marks` then holds only the marks in it."""
    change: Change = Change()
    covered: tuple[Covered, ...] = ()
    at_rest: bool = True
    status: int = 0
    """The HTTP status that the document came with, such as 404; 0 if none is known."""
    answers_form: bool = False
    """The document is the response to a form not sent by GET: reloading it may send the form again."""
    warnings: tuple[str, ...] = ()
    timings: dict[str, float] = {}
    """Seconds per stage."""

    def mark(self, number: int) -> Mark | None:
        """The mark in view with this number, or None."""
        return next((mark for mark in self.marks if mark.number == number), None)

    def known_mark(self, number: int) -> Mark | None:
        """The mark with this number that an action may name, in view or scrolled out of it; or None."""
        return self.mark(number) or next((mark for mark in self.out_of_view if mark.number == number), None)

    def box_of(self, cell: Cell) -> Box | None:
        """The page box of a cell; None where no mark has it."""
        mark = self.mark(cell.mark)
        return mark.grid.cell(cell.row, cell.column) if mark is not None and mark.grid is not None else None

    @property
    def cell_texts(self) -> dict[Cell, str]:
        """What was read in the cells of grids.

        For a record of an earlier version it is what the listing has, and nothing of a grid that this shows in part.
        """
        grids = {mark.number: mark.grid for mark in self.marks if mark.grid is not None and mark.grid.texts is not None}
        rows = [(int(mark), int(row), text) for mark, row, text in _ROW_OF_CELLS.findall(self.listing)]
        without = {mark for mark, _, text in rows if text.endswith("…")} | grids.keys()
        # No text of a cell has a bar, and the listing has one blank where cells between two bars are empty.
        listed = {
            Cell(mark=mark, row=row, column=column): text.strip()
            for mark, row, texts in rows
            if mark not in without
            for column, text in enumerate(texts.split("|"), start=1)
            if text.strip()
        }
        return listed | {
            Cell(mark=number, row=row, column=column): text
            for number, grid in grids.items()
            for row, column, text in grid.texts or ()
        }

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """Its id, the page, and how many marks there are."""
        yield from (("id", self.id), ("url", self.shown(self.url)), ("title", self.shown(self.title)))
        yield from (("marks", len(self.marks)), ("warnings", len(self.warnings) or None))

    def _repr_png_(self) -> bytes | None:
        """The marked picture; notebooks display it for an observation."""
        return self.marked.data if self.marked.media_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.marked.data if self.marked.media_type == "image/jpeg" else None

    @property
    def _picture(self) -> CardPicture | None:
        """The marked picture for a notebook; None if its bytes are not loaded."""
        data = self.marked.data
        return None if data is None else CardPicture(self.marked.media_type, data, f"{len(self.marks)} marks")
