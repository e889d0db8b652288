from __future__ import annotations

from unicodedata import normalize

import pytest
from seen import mark, point, seen, select, shot

from vision_agent.actions import Cell
from vision_agent.geometry import Box
from vision_agent.models.offline.mark_kinds import is_field, is_list
from vision_agent.models.offline.parse_target import parse_target
from vision_agent.models.offline.resolve_target import AmbiguousError, NotFoundError, find_target
from vision_agent.observation import Covered, Grid, MarkState, Observation, Wording

PAGE = seen(
    mark(1, "Email", "link"),
    mark(2, "Email", "field"),
    mark(3, "Add"),
    mark(4, "Add"),
    mark(5, "add"),
    mark(6, "Add to cart"),
    mark(7, "2nd Street"),
    mark(8, "Sort list"),
    mark(9, "Seat 12"),
    mark(10, "Seat 13"),
    mark(11, "", "field", state=MarkState(placeholder="Search products")),
    mark(12, "Remember me", "toggle"),
    mark(13, "Pay now"),
    mark(14, "Pay now", "link"),
    mark(15, "Checkout", role="tab"),
    mark(16, "Seat map", "surface", box=Box(x=100, y=200, width=400, height=300)),
    select(17, "Size", "S", "L"),
    mark(18, "Subscribe to the newsletter"),
    mark(19, "Subscribe to the newsletters"),
    mark(20, "Terms and conditions", "link"),
)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Add to cart", 6),
        ("add TO cart", 6),
        ('"Add to cart"', 6),
        ("the Add to cart button", 6),
        ("  Add   to cart ", 6),
        ("add", 5),
        ("1st Add", 3),
        ("2nd Add", 4),
        ("2nd Add button", 4),
        ('2nd "Add" button', 4),
        ("the 2nd Add", 4),
        ("2nd Street", 7),
        ("Sort list", 8),
        ("Seat 12", 9),
        ("seat 13", 10),
        ("Search products", 11),
        ("search products field", 11),
        ("Remember me checkbox", 12),
        ("the Pay now link", 14),
        ("Checkout tab", 15),
        ("Seat map canvas", 16),
        ("Size list", 17),
        ("Email link", 1),
        ("[4]", 4),
        ("Terms and conditions.", 20),
        ("“Terms and conditions…”", 20),
        ("Terms and condition", None),
        ("Terms  & conditions", None),
        ("Subscribe to the newsletter", 18),
    ],
)
def test_words_find_the_mark_they_name(words, number):
    if number is None:
        with pytest.raises(NotFoundError, match=r"nearest are \[20\]"):
            find_target(parse_target(words), PAGE)
    else:
        assert find_target(parse_target(words), PAGE) == number


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Add", r"any of \[3\] button 'Add' ‹1st of 2›, \[4\] button 'Add' ‹2nd of 2›; name one by its number"),
        ("ADD", r"\[3\].*\[4\].*\[5\]"),
        ("Pay now", r"\[13\] button 'Pay now', \[14\] link 'Pay now'"),
        ("4th Add", r"is not here: \[3\].*\[4\]"),
        ("Seat 14", r"Nothing here is called 'Seat 14'; the nearest are .*\[9\]"),
        ("Seat 1", "Nothing here is called"),
        ("9", r"Nothing here is called '9'; .* For the mark with this number, write \[9\]\."),
        ("the Remember me link", "Nothing here is called"),
        ("Subscribe to the newslettr", r"Nothing here is called .*; the nearest are .*\[18\].*\[19\]"),
        ("Save", "Nothing here is called 'Save'"),
        ("[99]", r"no mark \[99\]"),
        ('"the Add to cart"', "Nothing here is called"),
    ],
)
def test_words_that_fit_nothing_or_two_things_say_what_there_is(words, says):
    with pytest.raises(NotFoundError, match=says):
        find_target(parse_target(words), PAGE)


def test_a_name_that_nothing_has_beside_a_canvas_is_answered_with_a_closer_look_at_that() -> None:
    page = seen(mark(1, "Save"), mark(2, "Monthly sales", "surface", box=Box(x=0, y=0, width=400, height=300)))
    with pytest.raises(NotFoundError, match=r"look at Monthly sales only\.$"):
        find_target(parse_target("Wholesale"), page)
    bare = seen(mark(3, "", "surface", box=Box(x=0, y=0, width=400, height=300)))
    with pytest.raises(NotFoundError, match=r"look at \[3\] only\.$"):
        find_target(parse_target("Wholesale"), bare)
    with pytest.raises(NotFoundError) as plain:
        find_target(parse_target("Wholesale"), seen(mark(1, "Save")))
    assert "look at" not in str(plain.value)


def test_a_slip_beside_a_canvas_is_answered_with_the_name_alone() -> None:
    page = seen(mark(1, "Submit"), mark(2, "Sheet", "surface"))
    with pytest.raises(NotFoundError) as raised:
        find_target(parse_target("Sumbit"), page)
    assert "[1] button 'Submit'" in str(raised.value)
    assert "look at" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "number"), [("Fill in", 1), ("Fillin", 1), ("Fill on", None), ("Seat 12", None), ("Modern", None)]
)
def test_a_name_read_from_pixels_may_differ_in_spaces_and_letters_that_look_alike_and_in_nothing_else(words, number):
    drawn = seen(*(mark(at, name, source="ocr") for at, name in enumerate(("FiII in", "Seat 1 2", "Modem"), 1)))
    if number is None:
        with pytest.raises(NotFoundError, match="Nothing here is called"):
            find_target(parse_target(words), drawn)
    else:
        assert find_target(parse_target(words), drawn) == number


def test_a_name_that_is_not_shown_is_answered_with_what_is() -> None:
    page = seen(mark(2, "Trash", shows="Bin"), mark(3, "Trace"))
    with pytest.raises(NotFoundError, match=r"Nothing here shows 'Trash', but \[2\] has that name and shows 'Bin'"):
        find_target(parse_target("Trash"), page)


@pytest.mark.parametrize(
    ("words", "names", "number"),
    [
        ("Zoom +", ("Zoom -", "Fit"), None),
        ("Volume +", ("Volume –", "Mute"), None),
        ("D-", ("D+", "E"), None),
        ("C-", ("C", "D"), None),
        ("B", ("B-", "D"), None),
        ("A", ("A-", "A+", "A"), 3),
        ("A-", ("A", "A+", "A-"), 3),
        ("a+", ("A", "A-", "A+"), 3),
        ("Volume -", ("Volume –", "Volume +"), 1),
        ("Zoom −", ("Zoom -", "Zoom +"), 1),
        ("Rectangle R", ("Rectangle — R", "Ellipse — O"), 1),
        ("Rectangle - R", ("Rectangle — R", "Ellipse — O"), 1),
        ("e mail", ("E-mail:", "Back"), 1),
    ],
)
def test_a_name_that_differs_in_a_sign_is_another_name(words, names, number):
    for kind in ("button", "field", "toggle"):
        page = seen(*(mark(at, name, kind) for at, name in enumerate(names, 1)))
        if number is None:
            with pytest.raises(NotFoundError, match=r"Nothing here is called"):
                find_target(parse_target(words), page)
        else:
            assert find_target(parse_target(words), page) == number


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("words", ["Café", "café", "Café é", "Open in row José", "Open ‹JOSÉ›"])
def test_letters_with_accents_are_the_same_however_they_are_written(words, form):
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    names = [(normalize(other, each), normalize(other, beside)) for each, beside in (("Café", ""), ("Open", "José"))]
    written = [mark(at, name, context=beside) for at, (name, beside) in enumerate(names, 1)]
    page = seen(*written, mark(3, "Cafe"))
    if words == "Café é":
        with pytest.raises(NotFoundError, match="Nothing here is called"):
            find_target(parse_target(normalize(form, words)), page)
    else:
        assert find_target(parse_target(normalize(form, words)), page) == 1 + words.startswith("Open")


@pytest.mark.parametrize("words", ["Cafe", "Open ‹Jose›", "a é"])
def test_another_letter_is_not_the_same_as_one_with_an_accent_nor_a_wide_one(words):
    page = seen(mark(1, "Café"), mark(2, "Open", context="José"), mark(3, "ａ é"))
    with pytest.raises(NotFoundError):
        find_target(parse_target(words), page)


STAFF = seen(
    mark(1, "Delete", context="Ann Smith Paris", heading="Staff"),
    mark(2, "Delete", context="Bob Smith", heading="Staff"),
    mark(3, "Delete", context="Bob Smith", heading="Guests"),
    mark(4, "Delete", "link", context="Ann Lee"),
    mark(5, "", "toggle", context="Ann Smith Paris"),
    mark(6, "", "toggle", context="Bob Smith"),
    mark(7, "Delete ‹Cid›", context="Eve"),
    mark(8, "Delete", context="Cid", tag="div"),
    mark(9, "Save"),
    mark(10, "Save"),
    mark(11, "Deletes", context="Dan"),
)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Delete ‹Paris›", 1),
        ("Delete <paris>", 1),
        ("Delete‹ANN SMITH›", 1),
        ('"Delete" ‹Ann Smith Paris›', 1),
        ("the Delete button ‹Ann›", 1),
        ("Delete ‹Lee›", 4),
        ("delete link ‹Ann›", 4),
        ("Delete ‹Bob, Guests›", 3),
        ("Delete <Guests>", 3),
        ("1st Delete ‹Bob›", 2),
        ("checkbox ‹Bob›", 6),
        ("‹Bob Smith›", 6),
        ("Save ‹2nd of 2›", 10),
        ("Delete in row Lee", 4),
        ('checkbox in row "Bob Smith"', 6),
        ("Delete ‹Eve›", None),
        ("Delete ‹Ann Paris›", None),
        ("Delete ‹Dan›", None),
        ("Save ‹2nd of 3›", None),
        ("Delete ‹›", None),
        ('"Delete ‹Cid›"', 7),
        ('"Delete <Cid>"', 7),
    ],
)
def test_words_beside_a_name_find_the_one_that_has_them_in_its_row_or_heading(words, number):
    if number is None:
        missing = r"Nothing here is called|No '\w+' here has '.+' beside it; there (is|are) \[1\]|No 'Save'"
        with pytest.raises(NotFoundError, match=missing):
            find_target(parse_target(words), STAFF)
    else:
        assert find_target(parse_target(words), STAFF) == number


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Delete ‹Smith›", r"any of \[1\] button 'Delete' ‹Ann›, \[2\] button 'Delete' ‹Bob, Staff›, \[3\]"),
        ("Delete ‹Bob›", r"any of \[2\] button 'Delete' .*, \[3\] button 'Delete' ‹Bob, Guests›"),
        ("Delete", r"\[1\] .*\[8\]"),
        ("Delete ‹Cid›", r"any of \[7\] button 'Delete ‹Cid›', \[8\]"),
        ("Delete ‹Zoe›", r"No 'Delete' here has 'Zoe' beside it; there are \[1\] button 'Delete' ‹Ann›"),
    ],
)
def test_words_that_several_of_a_name_have_beside_them_find_none(words, says):
    with pytest.raises(NotFoundError, match=says):
        find_target(parse_target(words), STAFF)


def test_a_letter_that_is_said_with_a_number_must_be_its_own():
    page = seen(mark(3, "Save", letter="B"), mark(4, "Home", "link", letter="L"))
    assert find_target(parse_target("[B3]"), page) == find_target(parse_target("[3]"), page) == 3
    with pytest.raises(NotFoundError, match=r"no mark \[L3\]; \[B3\] is the button 'Save'"):
        find_target(parse_target("[L3]"), page)


def test_what_is_to_be_done_with_it_decides_between_equal_names():
    assert find_target(parse_target("Email"), PAGE, is_field) == 2
    with pytest.raises(NotFoundError, match="any of"):
        find_target(parse_target("Email"), PAGE)


def test_what_is_to_be_done_with_it_never_overrides_a_name():
    assert find_target(parse_target("Add to cart"), PAGE, is_list) == 6


def test_a_page_without_names_says_so():
    with pytest.raises(NotFoundError, match="no mark with a name"):
        find_target(parse_target("Save"), seen(mark(1, "")))


GRID = Grid(rows=2, columns=2, cells=((1, 1, 0, 0, 9, 9), (1, 2, 9, 0, 9, 9), (2, 1, 0, 9, 9, 9)))


def board(*more):
    return seen(mark(1, "Board", "surface"), mark(2, "", "guess", tag="grid", source="cv", surface=1, grid=GRID), *more)


@pytest.mark.parametrize(
    "words", ["row 1 column 2 of Board", "row 1, column 2 of [2]", "Row 1 Column 2 of the Board canvas"]
)
def test_a_cell_is_named_by_its_grid_or_by_the_surface_that_has_one(words):
    assert find_target(parse_target(words), board()) == Cell(mark=2, row=1, column=2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("row 2 column 2 of Board", r"\[2\] has 2 rows and 2 columns"),
        ("row 1 column 1 of Save", "it has no rows and columns"),
        ("row 1 column 1 of Sheet", "Nothing here is called 'Sheet'"),
    ],
)
def test_a_cell_that_is_not_there_says_what_there_is(words, says):
    with pytest.raises(NotFoundError, match=says):
        find_target(parse_target(words), board(mark(5, "Save")))


def test_of_two_grids_in_a_surface_one_must_be_named():
    two = board(mark(3, "", "guess", tag="grid", source="cv", surface=1, grid=GRID))
    with pytest.raises(NotFoundError, match=r"there are \[2\].*\[3\]"):
        find_target(parse_target("row 1 column 1 of Board"), two)


def test_a_grid_that_a_zoom_laid_over_a_part_of_a_surface_belongs_to_it():
    chart = mark(1, "Chart", "surface", box=Box(x=8, y=8, width=420, height=220))
    laid = mark(2, "", "guess", tag="grid", source="cv", grid=GRID, box=Box(x=148, y=81, width=35, height=37))
    aside = mark(3, "Photo", "surface", box=Box(x=8, y=300, width=420, height=220))
    page = seen(chart, laid, aside)
    assert find_target(parse_target("row 1 column 2 of Chart"), page) == Cell(mark=2, row=1, column=2)
    with pytest.raises(NotFoundError, match="it has no rows and columns"):
        find_target(parse_target("row 1 column 2 of Photo"), page)


def test_what_the_page_says_of_itself_is_meant_before_a_guess_of_the_same_name():
    assert find_target(parse_target("Save"), seen(mark(4, "Save", "guess", source="ocr"), mark(5, "Save"))) == 5
    assert find_target(parse_target("Save"), seen(mark(4, "Save", "guess", source="ocr"), mark(5, "Open"))) == 4


def test_a_point_of_the_picture_is_itself():
    assert find_target(parse_target("(412, 233)"), PAGE) == point(412, 233)
    with pytest.raises(NotFoundError, match=r"\(640, 10\) is outside the picture of 640×400"):
        find_target(parse_target("(640, 10)"), PAGE)


def test_a_point_inside_a_thing_is_a_share_of_its_box_in_picture_pixels():
    """The picture is half the size of the page here."""
    page = PAGE.model_copy(update={"marked": shot(scale=2)})
    assert find_target(parse_target("(0.25, 0.5) of Seat map"), page) == point(100, 175)
    assert find_target(parse_target("(0, 1) of [16]"), page) == point(50, 250)


def test_what_may_be_covered_is_told_with_who_covers_it() -> None:
    behind = seen(mark(1, "Accept all"), covered=(Covered(count=2, blocker='<dialog> "Cookies"'),))
    with pytest.raises(NotFoundError, match=r"Nothing here is called 'Order'; .*; 2 covered by <dialog> \"Cookies\"\."):
        find_target(parse_target("Order"), behind)


def test_a_drawn_shape_without_a_name_is_named_by_its_colour_and_shape() -> None:
    drawn = {"source": "cv", "tag": "round", "role": "generic"}
    page = seen(
        mark(1, "Board", "surface", tag="canvas", role="img"),
        mark(2, "", "guess", look="blue", **drawn),
        mark(3, "", "guess", look="red", **drawn),
        mark(4, "", "guess", look="red", **drawn),
        mark(5, "Start", "guess", looks_like="button", look="green", source="ocr", tag="box", role="generic"),
    )
    for words in ("blue circle", "round blue", "the blue round"):
        assert find_target(parse_target(words), page) == 2
    with pytest.raises(
        NotFoundError, match=r"could be any of \[3\] red round, \[4\] red round; name one by its number"
    ):
        find_target(parse_target("red circle"), page)
    with pytest.raises(NotFoundError, match=r"has no name, so name it by its number: \[2\] blue round"):
        find_target(parse_target("blue"), page)
    with pytest.raises(NotFoundError, match=r"\[5\] button 'Start'"):
        find_target(parse_target("Restart it"), page)
    with pytest.raises(NotFoundError, match=r"has a name, so call it by that: \[5\] button 'Start'"):
        find_target(parse_target("green box"), page)


NAMED_SHAPES = seen(
    mark(1, "Board", "surface", tag="canvas", role="img"),
    mark(5, "A1", "guess", look="blue", tag="round", source="ocr", role="generic"),
    mark(6, "A2", "guess", look="blue", tag="round", source="ocr", role="generic"),
    mark(7, "1", "guess", look="red", tag="round", source="ocr", role="generic"),
    mark(8, "B1", "guess", look="green", tag="round", source="ocr", role="generic"),
    mark(9, "Start", "guess", look="dashed green", tag="box", looks_like="button", source="ocr", role="generic"),
    mark(12, "Cancel"),
    mark(13, "Home", "link"),
    mark(14, "Account", "link"),
    mark(15, "Save"),
    mark(16, "Save", "link"),
    mark(17, "link B1", "link"),
    mark(18, "Email", "field", role="textbox"),
    mark(19, 'It\'s "on"'),
)


@pytest.mark.parametrize("words", ["blue circle", "the round blue", "blue"])
def test_drawn_shapes_with_a_name_are_offered_by_it_where_their_colour_and_shape_are_said(words: str) -> None:
    says = r"has a name, so call it by that: \[5\] round 'A1', \[6\] round 'A2'\."
    with pytest.raises(NotFoundError, match=says):
        find_target(parse_target(words), NAMED_SHAPES)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("round A1", 5),
        ("circle A1", 5),
        ("the blue round A1", 5),
        ("round blue A1", 5),
        ("round 'A1'", 5),
        ('blue round "A1"', 5),
        ("button Start", 9),
        ("dashed green box Start", 9),
        ("button Cancel", 12),
        ("the button 'Cancel'", 12),
        ('link "Home"', 13),
        ("button Save", 15),
        ("link 'Save'", 16),
        ("link B1", 17),
        ("textbox 'Email'", 18),
        ('field "Email"', 18),
        ("button 'It\\'s \"on\"'", 19),
        ("canvas 'Board'", 1),
    ],
)
def test_a_thing_may_be_called_as_messages_show_it_with_what_it_is_before_its_name(words: str, number: int) -> None:
    assert find_target(parse_target(words), NAMED_SHAPES) == number


@pytest.mark.parametrize(
    "words",
    [
        "red round A1",
        "blue A1",
        "round a1",
        "Round 1",
        "round B",
        '"round A1"',
        "link Account",
        "Link Account",
        "link 'Cancel'",
        "Button Cancel",
        "button cancel",
        "big button Cancel",
        '"button Cancel"',
        "2nd button Cancel",
    ],
)
def test_what_a_thing_is_goes_before_no_other_name_and_no_quoted_one(words: str) -> None:
    with pytest.raises(NotFoundError, match=r"Nothing here is called|is not here"):
        find_target(parse_target(words), NAMED_SHAPES)


def test_a_name_that_begins_with_what_another_thing_is_wins_also_if_it_is_longer() -> None:
    drawn = {"tag": "round", "source": "ocr", "role": "generic"}
    two = seen(mark(1, "A1", "guess", **drawn), mark(2, "Round A1"))
    assert find_target(parse_target("round A1"), two) == 2
    with pytest.raises(NotFoundError, match="Nothing here is called"):
        find_target(parse_target("round A1"), seen(mark(1, "A1", "guess", **drawn), mark(2, "Round A1 north")))
    with pytest.raises(NotFoundError, match=r"could be any of \[1\] round 'A1', \[2\] round 'A1'"):
        find_target(parse_target("round A1"), seen(mark(1, "A1", "guess", **drawn), mark(2, "A1", "guess", **drawn)))


def test_drawn_shapes_without_a_name_are_offered_by_what_the_listing_calls_them_if_a_word_fits() -> None:
    drawn = {"source": "cv", "role": "generic"}
    page = seen(
        mark(1, "Board", "surface", tag="canvas", role="img"),
        mark(2, "", "guess", look="blue", tag="round", **drawn),
        mark(3, "", "guess", look="dashed red", tag="box", looks_like="field", **drawn),
        mark(4, "Start", "guess", look="green", source="ocr", tag="box", role="generic"),
        mark(5, "", "guess", tag="grid", role="grid", source="cv", grid=Grid(rows=2, columns=3, cells=())),
    )
    for words, offered in (
        ("purple circle", r"\[2\] blue round"),
        ("the blue ball", r"\[2\] blue round"),
        ("red search field", r"\[3\] dashed red box"),
        ("first cell", r"\[5\] grid of 2 rows and 3 columns"),
    ):
        with pytest.raises(NotFoundError, match=rf"the nearest are .*{offered}"):
            find_target(parse_target(words), page)
    with pytest.raises(NotFoundError) as missing:
        find_target(parse_target("Stat"), page)
    assert "blue round" not in str(missing.value)
    bare = seen(mark(2, "", "guess", look="blue", tag="round", **drawn))
    with pytest.raises(NotFoundError, match=r"the nearest are \[2\] blue round"):
        find_target(parse_target("blue ball"), bare)
    with pytest.raises(NotFoundError, match="there is no mark with a name"):
        find_target(parse_target("Save"), bare)


def test_a_drawn_shape_without_a_name_is_named_by_its_colour_and_role() -> None:
    drawn = {"source": "cv", "tag": "box", "role": "generic", "looks_like": "tile"}
    page = seen(
        mark(1, "Reddit", "link"),
        mark(2, "", "guess", look="red", **drawn),
        mark(3, "", "guess", look="blue", **drawn),
        mark(4, "", "guess", look="blue", **drawn),
    )
    for words in ("red tile", "red box", "tile red"):
        assert find_target(parse_target(words), page) == 2
    with pytest.raises(NotFoundError, match=r"could be any of \[3\] blue box, \[4\] blue box"):
        find_target(parse_target("blue tile"), page)
    with pytest.raises(NotFoundError, match=r"has no name, so name it by its number: \[2\] red box, \[3\] blue box"):
        find_target(parse_target("tile"), page)


SEATS = Grid(rows=2, columns=2, cells=((1, 1, 0, 0, 9, 9), (1, 2, 9, 0, 9, 9), (2, 1, 0, 9, 9, 9), (2, 2, 9, 9, 9, 9)))


def drawn(*rows: str) -> Observation:
    """A plan with a grid in which these rows were read, a calculator with a key and its display, and a button."""
    marks = (
        mark(1, "Plan", "surface"),
        mark(2, "", "guess", tag="grid", role="grid", source="cv", surface=1, grid=SEATS),
        mark(3, "Calculator", "surface"),
        mark(4, "7", "guess", tag="box", role="box", source="ocr", surface=3),
        mark(5, "Book"),
        mark(6, "7", "guess", tag="box", role="box", source="ocr", surface=1),
    )
    return seen(*marks, listing="\n".join(f"_[2 row {at}]{text}" for at, text in enumerate(rows, start=1)))


@pytest.mark.parametrize("words", ["A2", "a2", "A2 on Plan", "A2 in Plan"])
def test_a_cell_of_a_grid_is_found_by_what_was_read_in_it(words: str) -> None:
    assert find_target(parse_target(words), drawn("A1 | A2", "B1 | B2")) == Cell(mark=2, row=1, column=2)


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("A", ("A1 | A2", "B1")),
        ("A2", ("A1 | A2 ‹unsure›", "B1 | B2")),
        ("A2", ("A1 | A2", "A2 | B2")),
        ("A2", ("A1 | A2", "B1 | B2…")),
        ("A2 on Calculator", ("A1 | A2", "B1 | B2")),
    ],
    ids=["only a part", "unsure", "twice", "not all is listed", "on another surface"],
)
def test_a_cell_is_not_guessed(words: str, rows: tuple[str, ...]) -> None:
    with pytest.raises(NotFoundError):
        find_target(parse_target(words), drawn(*rows))


@pytest.mark.parametrize(
    ("row", "column"), [("A1 | | B1", 3), ("| | B1", 3), ("A1 | B1", 2), ("| B1", 2)], ids=lambda each: str(each)
)
def test_empty_cells_count_in_the_listing_of_an_earlier_version(row: str, column: int) -> None:
    assert find_target(parse_target("B1"), drawn(row)) == Cell(mark=2, row=1, column=column)


def test_cells_are_those_of_the_grid_whatever_its_line_in_the_listing_says() -> None:
    page = drawn("Pay | now…")
    marks = tuple(
        mark.model_copy(update={"grid": SEATS.model_copy(update={"texts": ((2, 2, "Pay"),)})}) if mark.grid else mark
        for mark in page.marks
    )
    page = page.model_copy(update={"marks": marks})
    assert find_target(parse_target("Pay"), page) == Cell(mark=2, row=2, column=2)
    assert page.cell_texts == {Cell(mark=2, row=2, column=2): "Pay"}


def test_what_is_called_so_comes_before_a_cell() -> None:
    assert find_target(parse_target("Book"), drawn("Book | A2")) == 5


def test_no_text_is_typed_into_a_cell_because_of_what_stands_in_it() -> None:
    with pytest.raises(NotFoundError):
        find_target(parse_target("A2"), drawn("A1 | A2"), is_field)


def test_of_things_of_one_name_the_one_on_a_surface_is_named_with_it() -> None:
    with pytest.raises(NotFoundError):
        find_target(parse_target("7"), drawn())
    assert find_target(parse_target("7 on Calculator"), drawn()) == 4
    assert find_target(parse_target("7 in Plan"), drawn()) == 6


def test_a_heading_further_off_is_a_word_beside_a_name_only_if_it_tells_some_of_the_name_from_others():
    over = [("Work", "Shop"), ("Home", "Shop")]
    page = seen(*(mark(n, "Edit", heading="Phone", wording=Wording(over=each)) for n, each in enumerate(over, 1)))
    assert find_target(parse_target("Edit ‹Home›"), page) == 2
    for words in ("Edit ‹Shop›", "Edit ‹Hom›"):
        with pytest.raises(NotFoundError):
            find_target(parse_target(words), page)
    with pytest.raises(NotFoundError):
        find_target(parse_target("Edit ‹Work›"), seen(page.marks[0]))


def test_two_that_words_may_mean_are_both_named_where_one_is_a_link():
    page = seen(
        mark(1, "Delete", "link", context="Bob"),
        mark(2, "Delete", "link", context="Cid"),
        mark(3, "Delete", heading="Bob"),
    )
    with pytest.raises(AmbiguousError):
        find_target(parse_target("Delete ‹Bob›"), page)
    assert find_target(parse_target("Delete ‹Cid›"), page) == 2


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("first Add", "An ordinal is written in figures: 1st Add."),
        ("last Add", "An ordinal is written in figures: 2nd Add."),
        ("third Add", "There are 2 called 'Add'."),
        ("last Sub", ""),
    ],
)
def test_an_ordinal_in_words_is_answered_with_how_to_write_it(words, advice):
    with pytest.raises(NotFoundError) as refused:
        find_target(parse_target(words), seen(mark(1, "Add"), mark(2, "Add")))
    assert advice in str(refused.value)
    assert ("figures" in str(refused.value)) == ("figures" in advice)


def pie(surface: int = 1) -> Observation:
    """A pie with a slice, and a legend with an entry of its name."""
    return seen(
        mark(1, "Costs", "surface"),
        mark(2, "Food", "guess", tag="words", source="ocr", surface=1, looks_like="legend entry"),
        mark(3, "Food", "guess", tag="round", source="ocr", surface=surface, looks_like="slice"),
        mark(4, "Plan", "surface"),
    )


def test_the_name_of_a_slice_is_not_that_of_its_entry_in_the_legend() -> None:
    assert find_target(parse_target("Food"), pie()) == 3
    assert find_target(parse_target("legend entry Food"), pie()) == 2
    with pytest.raises(AmbiguousError):
        find_target(parse_target("Food"), pie(surface=4))
