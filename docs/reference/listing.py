"""The page of the listing, from lines that the listing itself writes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from vision_agent.browser.observe.listing import GridRow, listing, mark_line
from vision_agent.describe.distinctions import distinctions
from vision_agent.geometry import Box, PageMap, ScrollState
from vision_agent.observation import Covered, Grid, IconGuess, Mark, MarkState

from .markdown import markdown_page, markdown_table, prose


def listing_page() -> str:
    """The page: each part that a line can have, and a whole listing."""
    _, *rest = (inspect.getdoc(import_module("vision_agent.browser.observe.listing")) or "").split("\n\n")
    marks = _listing_marks()
    lines = {mark.number: mark_line(mark, PageMap(), distinctions([each for each, _ in marks]).get(mark.number))
             for mark, _ in marks}  # fmt: skip
    rows = [(f"`{lines[mark.number]}`", words) for mark, words in marks]
    parts = [
        "# Listing",
        "The listing is the text that goes with the marked picture. "
        "Each mark has one line, `number[:]<tag attributes>name`, in reading order.",
        *map(prose, rest),
        "`vision-agent marks URL --out look` prints the listing of a page and writes it to `look/listing.txt`.",
        "## Lines of marks",
        markdown_table(("Line", "What it says"), rows),
        "## Other lines",
        markdown_table(
            ("Line", "What it says"),
            [
                ("`_[:]Free shipping from €60`", "Text of the page that belongs to no mark."),
                (
                    "`_[:]Ann · Paris ⏎ Bob · Rome`",
                    "Several such texts: ` · ` within a row of the page, ` ⏎ ` between rows.",
                ),
                (
                    "`_[15 row 1]A | ‹unread› | 7 ‹unsure› | | C`",
                    "Text read in row 1 of the grid that is mark 15. Something in the second cell could not be read, "
                    "the third may be wrong, and the fourth is empty.",
                ),
                ("`... 1445 px below`", "The last line: what is out of view, covered or gone."),
                (
                    "`... out of view: 2-11 above, 31-40 below in [13]`",
                    "The numbers of marks that were seen before and are scrolled away: of the page, or of what mark 13 "
                    "holds. An action that names one scrolls to it first.",
                ),
            ],
        ),
        "## A whole listing",
        f"```text\n{_example_listing([mark for mark, _ in marks])}\n```",
    ]
    return markdown_page(parts)


def _listing_marks() -> list[tuple[Mark, str]]:
    """Marks whose lines show every part that a line can have, each with what its line says."""

    def mark(number: int, name: str, like: str, state: MarkState | None = None, **more: Any) -> Mark:
        tag, role, kind = like.split()
        box = Box(x=100, y=40.0 * number, width=200, height=20)
        given = {"box": box, "point": box.center, "kind": kind, "state": state or MarkState(), **more}
        return Mark(number=number, tag=tag, role=role, name=name, **given)

    field, button, chart = "input textbox field", "button button button", Box(x=100, y=600, width=400, height=300)
    cells = Grid(rows=2, columns=3, cells=((1, 1, 110, 620, 40, 40),))
    return [
        (mark(1, "Sign in", button), "Mark 1, a button. A role is shown if the tag implies another."),
        (mark(2, "Search products", "input searchbox field", MarkState(input_type="search", placeholder="Mugs…")),
         "An empty field with its placeholder."),
        (mark(3, "Email", field, MarkState(input_type="email", value="ann@example.org", required=True)),
         "A field with its value. States such as `required`, `invalid`, `disabled`, `readonly` and `selected` follow."),
        (mark(4, "Password", field, MarkState(input_type="password", masked=True, focused=True)),
         "The value of a password field, or of a field that holds a secret, is never shown. The field has the focus."),
        (mark(5, "Size", "select combobox field", MarkState(value="M", options=("S", "M", "L"))),
         "A list with its value and its options."),
        (mark(6, "Quantity", field, MarkState(input_type="number", value="1", minimum="1", maximum="9")),
         "A number field or slider with its limits."),
        (mark(7, "Gift wrapping", "input checkbox toggle", MarkState(input_type="checkbox", checked="false")),
         "A checkbox that is not ticked; a ticked one has `checked`."),
        (mark(8, "Delete", button, context="Ann"), "Marks that share a name show words of their row or card."),
        (mark(9, "Delete", button, context="Bob", change="new"),
         "`*new`: the mark was not there at the last observation. Others are `*changed` or `*moved`."),
        (mark(10, "Account", "div button button", MarkState(expanded=False, popup="menu")),
         "It opens a menu, which is closed."),
        (mark(11, "Pay", button, MarkState(disabled=True), frame="payment"), "The mark is in the frame `payment`."),
        (mark(12, "Mugs", "a link link", MarkState(current=True), moves=True),
         "The link to the current page, which moves or changes by itself."),
        (mark(13, "", "div generic scroller", MarkState(scroll=ScrollState(height=900, view_height=300))),
         "A container that scrolls, with how much is out of view."),
        (mark(14, "Sea chart", "canvas img surface", box=chart, point=chart.center),
         "A surface with its place in the picture."),
        (mark(15, "", "grid grid guess", source="cv", confidence=0.97, surface=14, grid=cells),
         "A grid found in the pixels of surface 14, with the confidence. Its cells are targets."),
        (mark(16, "Zoom in", "box img guess", source="ocr", confidence=0.81, surface=14, look="blue",
              looks_like="button"),
         "A shape found in the pixels, whose name was read by OCR, with its colour and what it seems to be."),
        (mark(20, "Read – Sort", "line generic guess", source="cv", confidence=0.6, surface=14, look="grey",
              looks_like="edge", joins=(15, 16)),
         "A drawn line, with the numbers of the two marks that it connects."),
        (mark(17, "No thanks", button, shows="Pay now"),
         "What it shows and its name disagree: it always counts as risky."),
        (mark(18, "", button, icon=IconGuess(name="trash", confidence=0.84)),
         "A button without a name. Its pixels look like a trash can: a guess. From 0.9 on, `sure` is left out."),
    ]  # fmt: skip


def _example_listing(marks: Sequence[Mark]) -> str:
    return listing(
        marks,
        [("Free shipping from €60", Box(x=100, y=20, width=200, height=12))],
        ScrollState(height=2245, view_height=800),
        [Covered(blocker="dialog “Cookies”", count=3)],
        PageMap(),
        gone=[19],
        rows=[GridRow(15, 1, "A | B | C", Box(x=100, y=625, width=200, height=10))],
    )
