from __future__ import annotations

import re

import pytest
from seen import mark, point, seen, select

from vision_agent.actions import (
    Ask,
    Back,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    LookAt,
    Magnify,
    Offset,
    OpenTab,
    Pan,
    PictureArea,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import _READERS, _VERBS, GRAMMAR, WITH_TARGET, parse, rows_schema
from vision_agent.models.offline.resolve_target import NotFoundError

PAGE = seen(
    mark(1, "Sign in"),
    mark(2, "Email", "field"),
    mark(3, "Notes", "field", tag="textarea"),
    select(4, "Size"),
    mark(5, "List", "scroller"),
    mark(6, "Move to trash"),
    mark(7, "Bin"),
    mark(8, "Card"),
    mark(9, "Done"),
    mark(10, "Slider", "field", role="slider"),
)


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("click Sign in", Click(target=1)),
        ("CLICK sign in", Click(target=1)),
        ("click [7]", Click(target=7)),
        ("click (412, 233)", Click(target=point(412, 233))),
        ("click (0.5,0.5) of Bin", Click(target=point(200, 145))),
        ("double click Card", Click(target=8, count=2)),
        ("hold Card for 2 s", Hold(target=8, seconds=2)),
        ("hold (412, 233) for 0.5 s", Hold(target=point(412, 233), seconds=0.5)),
        ('hold Card until "Charged"', Hold(target=8, until="Charged")),
        ("hold Card with a finger for 2 s", Hold(target=8, seconds=2, touch=True)),
        ('hold Card with a finger until "Charged"', Hold(target=8, until="Charged", touch=True)),
        ('hold Card for 5 s until "Charged"', Hold(target=8, seconds=5, until="Charged")),
        ("press Space for 1.5 s", Press(keys="Space", seconds=1.5)),
        ("press Control+Shift+K", Press(keys="Control+Shift+K")),
        ("press ArrowUp+ArrowRight for 2 s in Slider", Press(keys="ArrowUp+ArrowRight", seconds=2, target=10)),
        ("scroll down 300 px", Scroll(direction="down", px=300)),
        ("scroll left 300 pixels in List", Scroll(direction="left", px=300, target=5)),
        (
            "scroll up 100 px with Control+Shift in (412, 233)",
            Scroll(direction="up", px=100, modifiers=("Control", "Shift"), target=point(412, 233)),
        ),
        ("look at Card only", LookAt(target=8)),
        ("look at [8] only, tile 3", LookAt(target=8, tile=3)),
        (
            "look at (10, 20) to (110, 90) only",
            LookAt(target=PictureArea(corner=point(10, 20), opposite=point(110, 90))),
        ),
        ("pan Card by (-200, 40)", Pan(mark=8, by=Offset(right=-200, down=40))),
        ('find "Berlin" on Card', FindOn(mark=8, text="Berlin")),
        ("magnify Card 2 times", Magnify(target=8, factor=2)),
        ("magnify (412, 233) 0.5 times with two fingers", Magnify(target=point(412, 233), factor=0.5, touch=True)),
        ("turn Card by -30 degrees", Magnify(target=8, factor=1, degrees=-30, touch=True)),
        ("scroll to Item 250", ScrollTo(text="Item 250")),
        ('scroll to "Chapter 2"', ScrollTo(text="Chapter 2")),
        ("scroll to [8]", Scroll(target=8, to="middle")),
        ("double tap Card", DoubleTap(target=8)),
        ("double-click Card", Click(target=8, count=2)),
        ("open /cart", Goto(url="http://shop.test/cart")),
        ('wait for "Done" within 30 s', Wait(text="Done", seconds=30)),
        ("right click Card", Click(target=8, button="right")),
        ("click Card with Shift held", Click(target=8, modifiers=("Shift",))),
        ("double click Card with Control+Alt held", Click(target=8, count=2, modifiers=("Control", "Alt"))),
        ('type "a@b.c" into Email', Type(target=2, text="a@b.c")),
        ('type "a@b.c" into Email and press Enter', Type(target=2, text="a@b.c", submit=True)),
        ('type "a@b.c" into Email and submit', Type(target=2, text="a@b.c", submit=True)),
        ('type "" into Email', Type(target=2, text="")),
        (r'type "say \"hi\" into \\ it\n" into Notes', Type(target=3, text='say "hi" into \\ it\n')),
        ('type "<secret:pin>" into Email', Type(target=2, text="<secret:pin>")),
        ('append " x" to Notes', Type(target=3, text=" x", clear=False)),
        ("check Card", Check(mark=8, checked=True)),
        ("uncheck [8]", Check(mark=8, checked=False)),
        ("set Slider to 42", Set(mark=10, value="42")),
        ('set Slider to "4 to 5"', Set(mark=10, value="4 to 5")),
        ('upload cv.pdf, "a b.txt" to Card', Upload(mark=8, files=("cv.pdf", "a b.txt"))),
        ("read", Read()),
        ("read page", Read(what="page")),
        ("read download", Read(what="download")),
        ("read table at Card", Read(what="table", mark=8)),
        ("read table Card", Read(what="table", mark=8)),
        ('read table "Card"', Read(what="table", mark="Card")),
        ('read table "Open orders"', Read(what="table", mark="Open orders")),
        ("read value of Notes", Read(mark=3)),
        ('extract "Sold as Set"', Extract(mark="", json_schema=rows_schema({"Sold as Set": "string"}))),
        ("extract Item", Extract(mark="", json_schema=rows_schema({"Item": "string"}))),
        (
            'extract Item, "To, from" as string, Unit price AS number from Card',
            Extract(mark=8, json_schema=rows_schema({"Item": "string", "To, from": "string", "Unit price": "number"})),
        ),
        (
            'extract Left as integer from "Open orders"',
            Extract(mark="Open orders", json_schema=rows_schema({"Left": "integer"})),
        ),
        ("extract Left from Open orders", Extract(mark="Open orders", json_schema=rows_schema({"Left": "string"}))),
        ("read exact table at Notes", Read(what="table", mark=3, exact=True)),
        ("scroll down to the end in List", Scroll(direction="down", to="end", target=5)),
        ("wait for a change", Wait(change=True, seconds=10)),
        ("infeasible There is no shop", Infeasible(reason="There is no shop")),
        ("select Large in Size", Select(target=4, options=("Large",))),
        ("also select Large in Size", Select(target=4, options=("Large",), change="add")),
        ('unselect "A", "B" in Size', Select(target=4, options=("A", "B"), change="remove")),
        ('select "A", "B" in Size', Select(target=4, options=("A", "B"))),
        ('select "Made in Italy" in Size', Select(target=4, options=("Made in Italy",))),
        ("press Enter", Press(keys="Enter")),
        ("press Control+a", Press(keys="Control+a")),
        ("press Enter in Email", Press(keys="Enter", target=2)),
        (
            "drag Card through (10, 20), (30.5, 40) to (10, 20)",
            Drag(source=8, target=point(10, 20), path=(point(10, 20), point(30.5, 40))),
        ),
        (
            "drag (0, 0) of Bin through (1, 0), (0.5, 0.5) to (1, 1) of Bin",
            Drag(source=point(100, 140), target=point(300, 150), path=(point(300, 140), point(200, 145))),
        ),
        ("drag Card to Done with Shift held", Drag(source=8, target=9, modifiers=("Shift",))),
        (
            "drag Card by (40, -20) with control+Alt held",
            Drag(source=8, target=Offset(right=40, down=-20), modifiers=("Control", "Alt")),
        ),
        ("press ArrowRight 5 times in Slider", Press(keys="ArrowRight", count=5, target=10)),
        ("press Tab 1 time", Press(keys="Tab")),
        ("scroll down", Scroll()),
        ("scroll up 2.5 pages", Scroll(direction="up", pages=2.5)),
        ("scroll down in List", Scroll(target=5)),
        ("scroll right 1 page in List", Scroll(direction="right", pages=1, target=5)),
        ("hover Card", Hover(target=8)),
        ("hover over Card", Hover(target=8)),
        ("drag Card to Done", Drag(source=8, target=9)),
        ('drag "Move to trash" to Bin', Drag(source=6, target=7)),
        ("drag (10, 20) to (30, 40)", Drag(source=point(10, 20), target=point(30, 40))),
        ('select text "Chapter 2"', SelectText(first="Chapter 2", last="Chapter 2")),
        ('select text "It was" to "the end."', SelectText(first="It was", last="the end.")),
        ("drag Card by (40, -2.5)", Drag(source=8, target=Offset(right=40, down=-2.5))),
        ("zoom Bin with a grid", Zoom(target=7, grid=True)),
        ("zoom (100, 50) to (400, 300) with a grid", Zoom(target=point(100, 50), to=point(400, 300), grid=True)),
        ("drag Card to (0, 0) of Done", Drag(source=8, target=point(100, 180))),
        ("goto /cart", Goto(url="http://shop.test/cart")),
        ("goto ?q=1", Goto(url="http://shop.test/login?q=1")),
        ("go to https://example.org/a", Goto(url="https://example.org/a")),
        ("back", Back()),
        ("forward", Forward()),
        ("reload", Reload()),
        ('wait for "Thank you"', Wait(text="Thank you", seconds=10)),
        ("wait 1", Wait(seconds=1)),
        ("wait 1.5 s", Wait(seconds=1.5)),
        ("open tab /help", OpenTab(url="http://shop.test/help")),
        ("switch to tab 2", SwitchTab(tab=2)),
        ("close tab 2", CloseTab(tab=2)),
        ("ask Which colour?", Ask(question="Which colour?")),
        ("call refresh", Custom(name="refresh")),
        ("call greet with name=NaN", Custom(name="greet", arguments={"name": "NaN"})),
        ("call price_of with a=1 b=2", Custom(name="price_of", arguments={"a": 1, "b": 2})),
        ('call price_of with article="mug"', Custom(name="price_of", arguments={"article": "mug"})),
        (
            'call book with target=12, name="Ann, \\"the\\" boss", row=B, days=["Mon", 2], paid=true',
            Custom(
                name="book",
                arguments={"target": 12, "name": 'Ann, "the" boss', "row": "B", "days": ["Mon", 2], "paid": True},
            ),
        ),
        ("finish", Finish()),
        ("finish 42.10 EUR", Finish(answer="42.10 EUR")),
        ('finish "42.10 EUR"', Finish(answer="42.10 EUR")),
        ('finish "A" and "B"', Finish(answer='"A" and "B"')),
        ("fail sold out", Finish(success=False, answer="sold out")),
    ],
)
def test_each_form_of_line_is_one_action(line, action):
    (read,) = parse([line])
    assert read.build(PAGE) == action


def test_a_line_that_begins_with_no_known_word_is_answered_with_the_words_in_a_few_lines():
    with pytest.raises(UsageError, match="begins with 'price_of', which is not a known word") as raised:
        parse(["price_of Assam"])
    assert "click, double, right, type" in raised.value.hint
    assert "\n" not in raised.value.hint
    with pytest.raises(UsageError, match=r"drag \(0.1, 0.9\) of Map through"):
        parse(["drag"])


@pytest.mark.parametrize("verb", ["open", "goto", "open tab"])
def test_an_address_with_a_password_is_refused_before_anything_begins_and_not_quoted(verb: str) -> None:
    with pytest.raises(UsageError, match=r"has a password in it.*browser\.http_auth") as raised:
        parse([f"{verb} http://ann:S3cretPw9@shop.test/"])
    assert "S3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("clikc Sign in", "begins with 'clikc', which is not a known word"),
        ("click", "not complete"),
        ("type a@b.c into Email", r'needs double quotes: type "a@b\.c" into Email'),
        ('type "a@b.c"', "not complete"),
        ('type "a" in Email', "not complete"),
        ("select Large", "an? 'in' is missing"),
        ("select Made in Italy in Size", "put names that contain 'in' in double quotes"),
        ("drag Card", "a 'to' is missing"),
        ("drag Move to trash to Bin", "put names that contain 'to' in double quotes"),
        ("scroll sideways", "not complete"),
        ("press", "not complete"),
        ("press Enter 0 times", "greater than or equal to 1"),
        ("wait 600", "less than or equal to 60"),
        ("wait for Thank you", 'needs double quotes: wait for "Thank you"'),
        ("click (5, 5) of Bin", "from 0 to 1"),
        ("click (0.5, 0.5) in Bin", "not `of` and a name"),
        ("drag (0.1, 0.9) of Bin through (0.3, 0.5), (200, 9) to (0.7, 0.5) of Bin", "or all fractions if the drag"),
        ("drag (0.1, 0.9) of Bin through (0.3, 0.5) to (0.7, 0.5) of Map", "inside the same thing"),
        ("drag (0.1, 0.9) of Bin through (0.3, 0.5) to (70, 50)", "are pixels of the picture"),
        ("click (0.5, 0.5) of (3, 4)", "not inside a point"),
        ("click 0th Add", "ordinals count from 1st"),
        ("click row 0 column 1 of Bin", "rows and columns count from 1"),
        ("click row 1 column 2 of (3, 4)", "belong to a named thing"),
        ('click ""', "does not say which one"),
        (r'type "\q" into Email', "cannot be read"),
        ("switch to tab two", "not complete"),
        ("goto", "not complete"),
        ('call price_of with "mug"', 'look like article="mug"'),
        ("open Menu", "continues with something unknown"),
        ("find Berlin on Map", 'needs double quotes: find "Berlin" on Map'),
        ("call price_of with a=1, a=2", "is there twice"),
        ("call 2nd", "not complete"),
        ("extract", "not complete"),
        ("extract Item, , Price", "which columns: '' is none"),
        ("extract Item,", "which columns: '' is none"),
        ("extract Item, Item as number", "names the column 'Item' twice"),
        ('extract "Item" as', "which columns"),
        ("extract Item, Total as nubmer", "'nubmer' is no type of column; there are string, number and integer"),
        ('extract "Item" as nubmer', "'nubmer' is no type of column"),
        ("extract Sold as Set from Card", "a column that is called 'Sold as Set' goes in double quotes"),
        ("extract Sent from from Orders", "put names that contain 'from' in double quotes"),
        ("read table", "write read table at NAME"),
        ("read exact table at", "write read table at NAME"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_lines_like_it_are_shown(line, says):
    with pytest.raises(UsageError, match=says) as raised:
        parse(["# a note", "", line, "finish"])
    assert raised.value.sentence.startswith(f"Line 3, {line!r}: ")
    word = "click" if line.startswith("clikc") else line.split()[0]
    assert raised.value.hint.startswith(f"lines with {word!r} look like this:\n")
    assert 0 < raised.value.hint.count("\n") < 7


def test_lines_like_it_begin_with_its_word():
    with pytest.raises(UsageError) as raised:
        parse(["read table"])
    assert [line.split()[0] for line in raised.value.hint.splitlines()[1:]] == ["read,", "read"]


def test_a_word_that_is_like_no_other_shows_the_words_that_lines_begin_with():
    with pytest.raises(UsageError, match="begins with 'dance'") as raised:
        parse(["dance"])
    assert "\n" not in raised.value.hint
    assert set(_VERBS) <= set(re.findall(r"\w+", raised.value.hint))


def test_notes_and_empty_lines_are_left_out_and_counted():
    lines = parse(["# sign in", "", "  click Sign in  ", "finish"])
    assert [(line.number, line.text) for line in lines] == [(3, "click Sign in"), (4, "finish")]


def test_how_long_to_look_is_read_only_from_lines_with_a_target():
    [look, end, question] = parse(["click Save within 2.5 s", "finish Ready within 5 s", "ask Is it within 3 s"])
    assert (look.within_s, end.within_s, question.within_s) == (2.5, None, None)
    assert end.build(seen()) == Finish(answer="Ready within 5 s")
    assert question.build(seen()) == Ask(question="Is it within 3 s")
    [wait] = parse(['wait for "Ready" within 3 s'])
    assert (wait.within_s, wait.build(seen())) == (None, Wait(text="Ready", seconds=3))


def test_every_line_of_the_shown_grammar_can_be_read():
    rows = [row.strip() for row in GRAMMAR.splitlines() if row.startswith("  ")]
    assert len(rows) >= 11
    first_forms = [row.split("  ")[0] for row in rows]
    assert [line.text for line in parse(first_forms)] == first_forms


def test_a_list_may_be_named_by_its_row():
    page = seen(
        select(1, "Role").model_copy(update={"context": "Ann"}), select(2, "Role").model_copy(update={"context": "Bob"})
    )
    for line in (
        "select Member in Role in row Bob",
        "select Member in Role ‹Bob›",
        'select "Member" in Role in row "Bob"',
    ):
        [parsed] = parse([line])
        assert parsed.build(page) == Select(target=2, options=("Member",))
    [parsed] = parse(["select Member in row Bob"])
    assert parsed.build(seen(select(4, "row Bob"))) == Select(target=4, options=("Member",))


def test_every_reader_has_its_first_word_in_the_lists_of_verbs():
    rows = [row.strip() for row in GRAMMAR.splitlines() if row.startswith("  ")]
    forms = [form.strip() for row in rows for form in re.split(r" {2,}|[,;] (?=[a-z])", row)]
    unread = {pattern.pattern for pattern, _ in _READERS}
    for form in forms:
        for pattern, _ in _READERS:
            if found := pattern.fullmatch(form):
                unread.discard(pattern.pattern)
                assert form.split()[0] in _VERBS, form
                named = found.groupdict().keys() & {"what", "rest"}
                assert not named or not any(found[each] for each in named) or form.split()[0] in WITH_TARGET, form
                break
    assert not unread, f"no example in GRAMMAR for {unread}"


def test_words_beside_a_name_may_hold_what_else_parts_a_line():
    page = seen(
        mark(1, "Card", context="From A to Z"), mark(2, "Card", context="Done in May"),
        select(3, "Size").model_copy(update={"context": "made in Rome"}), select(4, "Size"),
    )  # fmt: skip
    lines = ["drag Card ‹From A to Z› to Card <Done in May>", "select Large in Size ‹made in Rome›"]
    assert [line.build(page) for line in parse(lines)] == [
        Drag(source=1, target=2),
        Select(target=3, options=("Large",)),
    ]


def test_a_wait_that_names_a_value_is_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="a wait cannot name a secret or private data"):
        parse(['wait for "Opened <private:customer>"'])


def test_a_drag_that_ends_at_mere_words_says_how_to_drop_at_a_point() -> None:
    [line] = parse(["drag Card to Doing"])
    with pytest.raises(NotFoundError, match=r"Nothing here is called 'Doing'.* drag to a point of the picture"):
        line.build(PAGE)
