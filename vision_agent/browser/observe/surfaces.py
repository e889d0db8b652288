"""Searches the surfaces of a page for drawn controls, and makes marks for them.

`vision` finds things in pixels and recognizes them across looks; this module chooses the surfaces to search, checks
what covers them, and assigns the numbers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from vision_agent.actions import Point
from vision_agent.browser.observe.listing import GridRow, reading_order
from vision_agent.browser.observe.numbers import Numbers
from vision_agent.browser.observe.twins import join, twin_notes
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.surface import Twins
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.observation import Grid, Letter, Mark, MarkKey, MarkState
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import OcrReader, can_read
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.charts import Chart
from vision_agent.vision.surfaces.shapes_ahead import ShapesAhead
from vision_agent.vision.surfaces.text_layer import LaidText
from vision_agent.vision.surfaces.things import Thing
from vision_agent.vision.surfaces.tracking import Drawing, SurfaceLook

_SMALLEST = (64.0, 40.0)
"""Smallest surface that is searched, in CSS pixels; a smaller one is a single thing, or a picture of one."""
_MOST = 12
"""Most surfaces searched in one look; the largest are chosen."""
_AROUND = 0.9
"""The share of a mark that must lie in a surface for it to cover the surface."""
_TOUCHES, _NARROW = 3.0, 0.3
"""How far apart a surface and that with its scale may be, in CSS pixels, and the share of its size that this has."""
_ACROSS = 12
"""Cells of a requested grid along its longer side."""


Reachability = dict[tuple[str, float, float], bool]
"""By surface key, and x and y on the page: whether a click there reaches the surface."""


@dataclass(frozen=True)
class Contents:
    """What was found in surfaces."""

    marks: tuple[Mark, ...] = ()
    elsewhere: tuple[Mark, ...] = ()
    """Known marks in parts that were not searched."""
    rows: tuple[GridRow, ...] = ()
    """Grid rows with text."""
    charts: dict[int, Chart] = field(default_factory=dict)
    """What those surfaces say that are charts, by their numbers."""
    warnings: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    """Notes on what was left out, for the end of the listing."""
    denied: tuple[LaidText, ...] = ()
    """Texts that the page lays over surfaces where something else is drawn."""
    texts: tuple[LaidText, ...] = ()
    """All texts that were read in surfaces."""


@dataclass
class Surfaces:
    """Searches surfaces, and remembers from look to look what is drawn in them."""

    settings: ObserveSettings
    numbers: Numbers
    _drawings: dict[int, Drawing] = field(default_factory=dict)
    """By surface number, which survives a re-created canvas."""
    _keys: dict[int, str] = field(default_factory=dict)
    """Element keys of the surfaces, by surface number."""
    _made_marks: dict[str, tuple[Thing, Mark]] = field(default_factory=dict)
    """By mark key: a thing and its mark, which is reused while the thing is unchanged."""
    _reader: OcrReader | None = None
    _reader_error: str = ""

    @property
    def letter(self) -> Letter:
        """The letter before the number of a guess, if numbers have letters."""
        return "M" if self.settings.ids == "letters" else ""

    @property
    def has_any(self) -> bool:
        """Whether the last look showed a surface with things in it."""
        return bool(self._drawings)

    def restart(self) -> None:
        """Forgets everything, for a new document."""
        self._drawings.clear()
        self._keys.clear()
        self._made_marks.clear()

    def search_ahead(
        self, screenshot: bytes, page: Box, drawings: Sequence[Box], image_limits: ImageLimits
    ) -> ShapesAhead | None:
        """Begins to search the drawings of a screenshot that shows this part of the page; None if none may hold things.

        It goes on in a thread. The look may show something else; then it is searched again.
        """
        large = [each for each in drawings if each.width >= _SMALLEST[0] and each.height >= _SMALLEST[1]]
        if not (large and self.settings.max_surface_marks):
            return None
        ahead = ShapesAhead(screenshot, page, large, image_limits)
        searching = asyncio.get_running_loop().run_in_executor(None, ahead.search)
        searching.add_done_callback(lambda done: done.cancelled() or done.exception())  # the look tells of it
        return ahead

    def select_surfaces(self, marks: Sequence[Mark]) -> list[Mark]:
        """The surfaces to search: the largest ones."""
        if not self.settings.max_surface_marks:
            return []
        return sorted(filter(may_hold_things, marks), key=lambda mark: -mark.box.width * mark.box.height)[:_MOST]

    async def predict_reachable(self, surfaces: Sequence[Mark], scan: Scan) -> Reachability:
        """Whether clicks reach these surfaces at the places of known things, before the search.

        Asking the page takes longer than finding that no pixel has changed, so it is asked before the picture arrives.
        """
        corners = _corners(scan)
        known = [
            (surface, thing.point)
            for surface in surfaces
            if surface.number in self._drawings
            for thing in self._drawings[surface.number].expected(corners[surface.key])
        ]
        return await self._check_reachable(known, scan)

    async def twins(self, surfaces: Sequence[Mark], scan: Scan, is_hidden: Callable[[str], bool]) -> dict[str, Twins]:
        """What the page says about surfaces in words that do not show, by their keys.

        `is_hidden`: whether a text has a value that no listing may show.
        """

        async def ask(surface: Mark) -> Twins:
            owner = scan.owner(surface.key)
            assert owner is not None
            try:
                said = await overlay_calls.surface.twins(owner.frame, self.settings.scan_deadline_s, surface.key)
            except FrameSilent:
                return Twins()  # the next look reports that
            things = tuple(each for each in said.things if not is_hidden(each.name))
            return Twins(things, tuple(each for each in said.live if not is_hidden(each)))

        answers = await asyncio.gather(*map(ask, surfaces))
        return {surface.key: said for surface, said in zip(surfaces, answers, strict=True) if any(said)}

    async def look(
        self,
        surfaces: Sequence[Mark],
        marks: Sequence[Mark],
        scan: Scan,
        picture: Picture,
        later: Picture | None,
        reached: Reachability,
        twins: Mapping[str, Twins],
        layers: Mapping[str, Sequence[LaidText]],
        ahead: ShapesAhead | None = None,
    ) -> Contents:
        """The things drawn in these surfaces, as marks, without those beneath an element that takes the click itself.

        `later`: the page a moment before or after `picture`, to detect what is moving; `reached`: the result of
        `predict_reachable`; `twins`: what the page says about surfaces, by their keys; `layers`: the texts that it lays
        over them; `ahead`: the shapes in the same picture, taken a moment before.
        """
        corners = _corners(scan)
        self._forget_gone_surfaces({mark.number: mark.key for mark in marks}, scan)
        await self.reader()
        until = time.monotonic() + self.settings.ocr_deadline_s
        found: list[tuple[Mark, SurfaceLook]] = []
        for surface in surfaces:
            drawing = self._drawings.setdefault(surface.number, Drawing())
            # In a thread, so that the event loop keeps running, for example to answer the page's requests.
            looked = await asyncio.to_thread(
                self._look_into,
                drawing,
                picture,
                surface.box,
                corners[surface.key],
                later,
                until,
                layers.get(surface.key, ()),
                _scales_of(surface, marks),
                ahead,
            )
            found.append((surface, looked))
        joined = [join(looked.things, twins.get(surface.key, Twins()).things) for surface, looked in found]
        here = [(surface, thing) for (surface, _), each in zip(found, joined, strict=True) for thing in each.things]
        here = [each for each in here if not _is_beneath_mark(*each, marks)]
        asked = [(surface, thing.point) for surface, thing in here]
        reached = reached | await self._check_reachable(
            [each for each in asked if _reachability_key(*each) not in reached], scan
        )
        here = [each for each, at in zip(here, asked, strict=True) if reached[_reachability_key(*at)]]
        order = reading_order([thing.box for _, thing in here], right_to_left=scan.main.is_right_to_left)
        here = [here[index] for index in order]
        numbers = self.numbers.assign_keys([_key(*each) for each in here])
        away = [(surface, thing) for surface, looked in found for thing in looked.elsewhere]
        known = [each for each in away if self.numbers.has(_key(*each))]
        marks_here = _with_joins(
            here, [self._mark_on(*each, number) for each, number in zip(here, numbers, strict=True)]
        )
        marks_away = tuple(self._mark_on(*each, self.numbers.assign_keys([_key(*each)])[0]) for each in known)
        self._made_marks = {
            mark.key: (thing, mark)
            for (_, thing), mark in zip([*here, *known], [*marks_here, *marks_away], strict=True)
        }
        return Contents(
            marks=marks_here,
            elsewhere=marks_away,
            rows=tuple(GridRow(numbers[index], *row) for index, (_, thing) in enumerate(here) for row in thing.rows),
            charts={surface.number: looked.chart for surface, looked in found if looked.chart},
            warnings=(
                *([self._reader_error] if self._reader_error else []),
                *(_describe_restless(surface) for surface, looked in found if looked.is_restless),
            ),
            denied=tuple(each for _, looked in found for each in looked.layer.denied),
            texts=tuple(each for _, looked in found for each in looked.texts),
            more=(
                *_describe_skipped_surfaces(marks, surfaces, picture),
                *(_describe_left_out(*each) for each in found if each[1].left_out),
                *(_describe_chart(*each) for each in found if each[1].chart),
                *(_describe_tables(*each) for each in found if each[1].tables),
                *(_describe_postponed(*each) for each in found if each[1].postponed),
                *(note for each in found for note in _describe_layer(*each)),
                *(
                    note
                    for (surface, _), each in zip(found, joined, strict=True)
                    for note in twin_notes(surface.label_text, twins.get(surface.key, Twins()), each.unplaced)
                ),
            ),
        )

    async def reader(self) -> OcrReader | None:
        """Reads words; None if no OCR is installed, or the settings leave it no time."""
        if self._reader is None:
            await asyncio.to_thread(self._load_reader)
        return self._reader

    def _mark_on(self, surface: Mark, thing: Thing, number: int) -> Mark:
        was, mark = self._made_marks.get(_key(surface, thing), (None, None))
        if mark is not None and was is thing and (mark.number, mark.frame) == (number, surface.frame):
            return mark
        return _new_mark(surface, thing, number, self.letter)

    def _forget_gone_surfaces(self, here: dict[int, str], scan: Scan) -> None:
        """Forgets the drawings of surfaces that have left the page."""
        self._keys |= {number: here[number] for number in self._drawings if number in here}
        for number in [*self._drawings]:
            if number not in here and self._keys.get(number) not in scan.living:
                del self._drawings[number]

    def _load_reader(self) -> None:
        """Loads the OCR reader, which takes a second the first time."""
        if self._reader is not None or self._reader_error or self.settings.ocr_deadline_s <= 0 or not can_read():
            return
        try:
            self._reader = OcrReader()
        except (UsageError, OSError, RuntimeError) as error:  # marks without names are better than none
            self._reader_error = f"words in surfaces are not read: {str(error).splitlines()[0]}"

    def _look_into(
        self,
        drawing: Drawing,
        picture: Picture,
        visible: Box,
        corner: Point,
        later: Picture | None,
        until: float,
        laid: Sequence[LaidText],
        scales: Sequence[Box],
        ahead: ShapesAhead | None,
    ) -> SurfaceLook:
        read = partial(self._reader.read, until=until) if self._reader else None
        glance = partial(self._reader.glance, until=until) if self._reader else None
        most = self.settings.max_surface_marks
        known = ahead.shapes_in if ahead else None
        return drawing.look(
            picture,
            visible,
            corner,
            read=read,
            glance=glance,
            later=later,
            most=most,
            laid=laid,
            scales=scales,
            known=known,
        )

    async def _check_reachable(self, places: Sequence[tuple[Mark, Point]], scan: Scan) -> Reachability:
        """Whether a click at each place reaches its surface, as its own frame reports."""
        by_surface: dict[str, list[Point]] = {}
        for surface, point in places:
            by_surface.setdefault(surface.key, []).append(point)
        reached = {_reachability_key(*each): False for each in places}
        for key, points in by_surface.items():
            owner = scan.owner(key)
            assert owner is not None
            asked = [owner.place.to_frame(point) for point in points]
            try:
                told = await overlay_calls.element.shows_points(owner.frame, self.settings.scan_deadline_s, key, asked)
            except FrameSilent:
                continue  # nothing in the frame can be acted on; the next look reports that
            reached |= {(key, at.x, at.y): is_shown for at, is_shown in zip(points, told.are_shown, strict=True)}
        return reached


def _reachability_key(surface: Mark, point: Point) -> tuple[str, float, float]:
    return surface.key, point.x, point.y


def _corners(scan: Scan) -> dict[str, Point]:
    """The top left corner of each whole surface on the page, by key."""
    return {found.key: Point(x=found.whole.x, y=found.whole.y) for found in scan.marks if found.whole is not None}


def requested_grid(box: Box, number: int, letter: Letter = "") -> Mark:
    """A grid of equal cells over a part of the page, for pointing at things without a mark."""
    size = max(box.width, box.height) / _ACROSS
    rows, columns = max(1, round(box.height / size)), max(1, round(box.width / size))
    high, wide = box.height / rows, box.width / columns
    places = [(row, column) for row in range(1, rows + 1) for column in range(1, columns + 1)]
    cells = tuple(
        (row, column, box.x + (column - 1) * wide, box.y + (row - 1) * high, wide, high) for row, column in places
    )
    return Mark(
        number=number,
        letter=letter,
        tag="grid",
        role="grid",
        kind="guess",
        name="",
        box=box,
        point=box.center,
        source="cv",
        evidence=("asked for",),
        key=grid_key(box),
        grid=Grid(rows=rows, columns=columns, cells=cells),
    )


def grid_key(box: Box) -> MarkKey:
    """The key of a grid over this part of the page."""
    return MarkKey(f"grid~{box.x:g},{box.y:g},{box.width:g},{box.height:g}")


def _new_mark(surface: Mark, thing: Thing, number: int, letter: Letter) -> Mark:
    what = "cells in rows and columns" if thing.grid else f"{thing.shape} in the pixels"
    return Mark(
        number=number,
        letter=letter,
        tag=thing.shape,
        role="grid" if thing.grid else "generic",
        kind="guess",
        name=thing.name,
        state=_state(thing),
        box=thing.box,
        point=thing.point,
        frame=surface.frame,
        source="ocr" if thing.name else "cv",
        confidence=thing.confidence,
        evidence=(what, *(["named by the page"] if thing.is_named_by_page else [])),
        key=_key(surface, thing),
        surface=surface.number,
        shows=thing.read_as,
        grid=thing.grid,
        look=thing.look,
        looks_like=thing.told.role,
        reading=thing.reading,
        moves=thing.moves,
        context=thing.in_row.text if thing.in_row else "",
        title=thing.in_row.title if thing.in_row else "",
        row_words=thing.in_row.places if thing.in_row else (),
        is_told_by_row=thing.in_row is not None and thing.in_row.is_whole,
    )


def _with_joins(here: Sequence[tuple[Mark, Thing]], marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks; each edge has the numbers of the two marks that it connects, if both are there."""
    numbers = {(surface.number, thing.id): mark.number for (surface, thing), mark in zip(here, marks, strict=True)}
    joined = []
    for (surface, thing), mark in zip(here, marks, strict=True):
        ends = [numbers.get((surface.number, end)) for end in thing.ends]
        joins = tuple(end for end in ends if end is not None) if None not in ends else ()
        joined.append(mark if mark.joins == joins else mark.model_copy(update={"joins": joins}))
    return tuple(joined)


def _state(thing: Thing) -> MarkState:
    told = thing.told
    checked: Literal["true", "false"] | None = None
    if told.is_checked is not None:
        checked = "true" if told.is_checked else "false"
    return MarkState(value=thing.value or None, selected=told.is_selected, disabled=told.is_disabled, checked=checked)


def may_hold_things(mark: Mark) -> bool:
    """Whether a surface is searched by itself; a photograph is full of meaningless shapes."""
    if mark.tag == "img":
        return False
    return mark.kind == "surface" and mark.box.width >= _SMALLEST[0] and mark.box.height >= _SMALLEST[1]


def _scales_of(surface: Mark, marks: Sequence[Mark]) -> list[Box]:
    """The canvases along the sides of one, and much narrower than it, where its chart may have its scale."""
    found = []
    for each in marks:
        if each.kind != "surface" or each.tag != "canvas" or each.frame != surface.frame or each.key == surface.key:
            continue
        one, other = surface.box, each.box
        is_beside = min(abs(other.x - one.right), abs(one.x - other.right)) <= _TOUCHES
        is_below = abs(other.y - one.bottom) <= _TOUCHES or abs(one.y - other.bottom) <= _TOUCHES
        is_level = abs(one.y - other.y) <= _TOUCHES and abs(one.bottom - other.bottom) <= _TOUCHES
        is_as_wide = abs(one.x - other.x) <= _TOUCHES and abs(one.right - other.right) <= _TOUCHES
        is_upright = is_beside and is_level and other.width <= _NARROW * one.width
        if is_upright or (is_below and is_as_wide and other.height <= _NARROW * one.height):
            found.append(other)
    return found


def _describe_skipped_surfaces(marks: Sequence[Mark], surfaces: Sequence[Mark], picture: Picture) -> list[str]:
    shown = [mark for mark in filter(may_hold_things, marks) if mark.box.intersection(picture.page)]
    left = len(shown) - len(surfaces)
    return [f"{left} smaller surfaces were not searched"] if left > 0 else []


def _describe_left_out(surface: Mark, looked: SurfaceLook) -> str:
    return f"{looked.left_out} more guesses in {surface.label_text} left out"


def _describe_chart(surface: Mark, looked: SurfaceLook) -> str:
    assert looked.chart is not None
    many = len(looked.chart.series) + len(looked.chart.unread)
    return f"{surface.label_text} is a chart of {many} series; read its table"


def _describe_tables(surface: Mark, looked: SurfaceLook) -> str:
    if len(looked.tables) == 1:
        [rows] = looked.tables
        return f"{surface.label_text} shows a table of {rows} row{'' if rows == 1 else 's'}; read it"
    return f"{surface.label_text} shows {len(looked.tables)} tables; read one by something in it"


def _describe_postponed(surface: Mark, looked: SurfaceLook) -> str:
    return f"{_texts(looked.postponed)} in {surface.label_text} not read yet; look again"


def _describe_layer(surface: Mark, looked: SurfaceLook) -> list[str]:
    layer, notes = looked.layer, []
    if layer.unconfirmed > layer.postponed:
        many = _texts(layer.unconfirmed - layer.postponed)
        notes.append(f"{many} on {surface.label_text} as the page says, not read in the pixels")
    if layer.denied:
        notes.append(
            f"{_texts(len(layer.denied))} that the page lays over {surface.label_text} left out: not drawn there"
        )
    return notes


def _texts(many: int) -> str:
    return "1 text" if many == 1 else f"{many} texts"


def _key(surface: Mark, thing: Thing) -> MarkKey:
    return MarkKey(surface.key).drawn(surface.number, thing.id)


def _is_beneath_mark(surface: Mark, thing: Thing, marks: Sequence[Mark]) -> bool:
    """Whether a marked element takes the clicks at a thing."""
    return any(
        # For elements that only cross the surface's edge, hit tests in the page decide.
        mark.key != surface.key
        and mark.kind != "scroller"  # it may be around the surface; then it takes nothing
        and mark.box.contains(thing.point)
        and mark.box.share_in(surface.box) >= _AROUND
        for mark in marks
    )


def _describe_restless(surface: Mark) -> str:
    return f"{surface.label_text} changes all the time, so nothing in it is marked; stop it, or zoom to it with a grid"
