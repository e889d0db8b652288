"""Claims about what tells a mark from its like: when that changes, the mark is another and nothing is clicked."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Click, Select, Type
from vision_agent.types import Outcome

HEARD = "<script>window.heard = []; addEventListener('click', (event) => event.target.id && heard.push(event.target.id), true);</script>"
SWAP = (
    "const [a, b] = document.querySelectorAll('.who'); [a.textContent, b.textContent] = [b.textContent, a.textContent]"
)


async def click_id(hand: Hand, name: str) -> Outcome:
    """Clicks the mark that lies where the element with the id does."""
    x, y = await hand.js(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({name}.getBoundingClientRect())"
    )
    mark = min(hand.seen.marks, key=lambda each: abs(each.box.center.x - x) + abs(each.box.center.y - y))
    return await hand.act(Click(target=mark.number))


async def assert_refused(hand: Hand, name: str) -> None:
    outcome = await click_id(hand, name)
    assert outcome.status == "refused", outcome.sentence
    assert await hand.js("heard") == []


async def assert_clicked(hand: Hand, name: str) -> None:
    outcome = await click_id(hand, name)
    assert outcome.status == "done", outcome.sentence
    assert await hand.js("heard") == [name]


# --- names in fields --------------------------------------------------------------------------------------------------

FIELDS = HEARD + "".join(
    f"<p><input class=who aria-label=Name value={name}> <button id={name}>Delete</button></p>"
    for name in ("Ann", "Bob", "Cem")
)
PUT = "[...document.querySelectorAll('.who')].forEach((field, i) => field.value = {}[i])"


async def test_a_row_whose_field_was_typed_into_and_then_shows_another_name_is_another(on: On) -> None:
    async with on(FIELDS) as hand:
        await hand.act(Type(target=1, text="Anna"))
        await hand.look()
        await hand.js(PUT.format("['Bob', 'Cem', 'Dan']"))
        await assert_refused(hand, "Ann")


@pytest.mark.parametrize("form", ["", "this.value = this.value.toUpperCase()"])
async def test_a_row_is_the_same_after_its_name_was_typed_into(on: On, form: str) -> None:
    async with on(FIELDS.replace("<input", f'<input oninput="{form}"')) as hand:
        await hand.act(Type(target=1, text="Anna"))
        await assert_clicked(hand, "Ann")


# --- what governs it from further off ---------------------------------------------------------------------------------

HEADS = HEARD + "".join(
    f"<section><h2 class=who>{who}</h2><h3>Monday</h3><p>Lunch <button id={who}>Delete</button></p>"
    f"<h3>Tuesday</h3><p>Lunch <button id={who}2>Delete</button></p></section>"
    for who in ("Ann", "Bob")
)
FLAT = HEADS.replace("<section>", "").replace("</section>", "")
SPANS = f"{HEARD}<table>" + "".join(
    f"<tr><td rowspan=2 class=who>{who}<td>Mon<td><button id={who}>Delete</button></tr>"
    f"<tr><td>Tue<td><button id={who}2>Delete</button></tr>"
    for who in ("Ann", "Bob")
)
GROUPS = f"{HEARD}<table>" + "".join(
    f"<tr><td colspan=2 class=who>{who}</tr><tr><td>Mon<td><button id={who}>Delete</button></tr>"
    f"<tr><td>Tue<td><button id={who}2>Delete</button></tr>"
    for who in ("Ann", "Bob")
)
HEADED_GROUPS = GROUPS.replace("<td colspan=2", "<th colspan=2")
TABS = f"""{HEARD}<div role=tablist><button role=tab aria-selected=true>Production</button>
<button role=tab aria-selected=false>Staging</button></div><div role=tabpanel id=panel>
<p>web-1 <button id=Ann>Restart</button></p><p>web-2 <button id=Ann2>Restart</button></p></div>"""
TAB = "[...document.querySelectorAll('[role=tab]')].forEach((tab, i) => tab.setAttribute('aria-selected', i === 1))"


@pytest.mark.parametrize(
    ("markup", "change", "name"),
    [
        pytest.param(HEADS, SWAP, "Ann", id="higher heading"),
        pytest.param(HEADS, SWAP, "Ann2", id="higher heading over a second one"),
        pytest.param(FLAT, SWAP, "Ann2", id="higher heading in no section"),
        pytest.param(SPANS, SWAP, "Ann2", id="cell that spans rows"),
        pytest.param(GROUPS, SWAP, "Ann", id="row over a group"),
        pytest.param(HEADED_GROUPS, SWAP, "Ann2", id="header row over a group"),
        pytest.param(TABS, TAB, "Ann", id="tab"),
        pytest.param(TABS, f"{TAB}; panel.innerHTML = panel.innerHTML", "Ann", id="tab over a panel drawn anew"),
    ],
)
async def test_a_row_is_another_when_what_governs_it_from_further_off_changes(
    on: On, markup: str, change: str, name: str
) -> None:
    async with on(markup) as hand:
        await hand.js(change)
        await assert_refused(hand, name)


@pytest.mark.parametrize("markup", [HEADS, FLAT, SPANS, GROUPS, HEADED_GROUPS, TABS])
async def test_a_row_is_found_again_by_what_governs_it_when_all_is_drawn_anew(on: On, markup: str) -> None:
    async with on(markup) as hand:
        await hand.js("document.body.innerHTML = document.body.innerHTML")
        await assert_clicked(hand, "Ann2")


DETAILS = f"""{HEARD}<table><tr><td>Ann<td><button id=Ann>Delete</button></tr><tr id=more><td colspan=2>3 mails</tr>
<tr><td>Bob<td><button id=Bob>Delete</button></tr></table>"""


@pytest.mark.parametrize("change", ["more.innerText = '4 letters'", "more.remove()"])
async def test_the_details_of_a_row_do_not_govern_the_next_one(on: On, change: str) -> None:
    async with on(DETAILS) as hand:
        await hand.js(change)
        await assert_clicked(hand, "Bob")


# --- columns ----------------------------------------------------------------------------------------------------------

BOXES = "".join(
    f"<tr><td>{who}<td><input type=checkbox id={who}1><td><input type=checkbox id={who}2></tr>"
    for who in ("Ann", "Bob")
)
TWO_HEADS = f"""{HEARD}<table><thead><tr><th rowspan=2>Who<th colspan=2>Rights<tr><th class=who>Read<th class=who>Write
</thead>{BOXES}</table>"""
TITLED = f"{HEARD}<table><tr><td colspan=3>Rights<tr><th>Who<th class=who>Read<th class=who>Write</tr>{BOXES}</table>"
APART = f"""{HEARD}<table><tr><th>Who<th class=who>Read<th class=who>Write</table><table>{BOXES}</table>"""


@pytest.mark.parametrize(
    "markup", [TWO_HEADS, TITLED, APART], ids=["two rows", "under a title", "in a table of its own"]
)
async def test_a_box_is_another_when_the_header_of_its_column_changes(on: On, markup: str) -> None:
    async with on(markup) as hand:
        await hand.js(SWAP)
        await assert_refused(hand, "Ann1")


# --- calendars --------------------------------------------------------------------------------------------------------

DAYS = "".join(
    f"<tr>{''.join(f'<td role=gridcell><button id=d{n}>{n}</button>' for n in range(week, week + 5))}</tr>"
    for week in (1, 8, 15)
)
CALENDAR = f"""{HEARD}<div><div><button aria-label=Previous>‹</button>%s<button aria-label=Next>›</button></div>
<table role=grid><thead><tr><th>Mo<th>Tu<th>We<th>Th<th>Fr</thead><tbody>{DAYS}</table></div>"""


@pytest.mark.parametrize(
    "bar",
    [
        "<div id=bar>March 2026</div>",
        "<h2 id=bar>March 2026</h2>",
        "<h2 id=bar aria-live=polite>March 2026</h2>",
        "<button id=bar>March 2026</button>",
        "<span id=bar>March</span>",
        "<select id=bar><option>March 2026<option>April 2026</select>",
    ],
)
async def test_a_day_is_another_when_the_calendar_shows_another_month(on: On, bar: str) -> None:
    async with on(CALENDAR % bar) as hand:
        await hand.js(
            "bar.options ? bar.selectedIndex = 1 : bar.textContent = bar.textContent.replace('March', 'April')"
        )
        await assert_refused(hand, "d9")


async def test_a_day_is_the_same_while_the_month_is(on: On) -> None:
    async with on(CALENDAR % "<div id=bar>March 2026</div><p id=now>10:31</p>") as hand:
        await hand.js("now.textContent = '10:32'")
        await assert_clicked(hand, "d9")


# --- labels -----------------------------------------------------------------------------------------------------------

LABELLED = HEARD + "".join(
    f"<p role=group class=who aria-label={who}>user <button id={who}>Delete</button></p>" for who in ("Ann", "Bob")
)
PARTS = f"""{HEARD}<form>Bill <span role=group aria-label=Draft><button type=button id=Save>Save</button></span>
<span role=group aria-label=Post><button type=button id=Send>Send</button></span></form>"""


async def test_a_row_is_another_when_its_own_label_changes(on: On) -> None:
    async with on(LABELLED) as hand:
        await hand.js("[...document.querySelectorAll('.who')].forEach((row, i) => row.ariaLabel = ['Bob', 'Ann'][i])")
        await assert_refused(hand, "Ann")


@pytest.mark.parametrize("name", ["Save", "Send"])
async def test_each_control_of_a_form_has_the_label_of_its_own_group(on: On, name: str) -> None:
    async with on(PARTS) as hand:
        await assert_clicked(hand, name)


# --- what is read where there is nothing else -------------------------------------------------------------------------

ADDED = "<style>.who::before { content: attr(data-who) }</style><span class=who data-who=%s></span>"
SETS = {
    "<textarea class=who aria-label=Note>%s</textarea>": "value",
    "<select class=who aria-label=Person><option>%s<option>Zed</select>": "value",
    "<div class=who contenteditable role=textbox aria-label=Note>%s</div>": "textContent",
    "<span class=who aria-hidden=true>%s</span>": "textContent",
    "<span class=who role=status>%s</span>": "textContent",
    "<p class=who role=alert>%s</p>": "textContent",
    "<i class=who title=%s></i>": "title",
    ADDED: "dataset.who",
}


@pytest.mark.parametrize("names", [("Ann", "Bob"), ("Ann",)], ids=["several", "alone"])
@pytest.mark.parametrize("markup", SETS)
async def test_a_row_without_words_is_known_by_whatever_else_it_shows(
    on: On, markup: str, names: tuple[str, ...]
) -> None:
    body = HEARD + "".join(f"<div>{markup % who} <button id={who}>Delete</button></div>" for who in names)
    async with on(body) as hand:
        await hand.js(f"document.querySelector('.who').{SETS[markup]} = 'Zed'")
        await assert_refused(hand, "Ann")


async def test_a_row_is_the_same_after_an_option_was_chosen_in_it(on: On) -> None:
    body = HEARD + "".join(
        f"<div><select aria-label={who}><option>{who}<option>Zed</select> <button id={who}>Save</button></div>"
        for who in ("Ann", "Bob")
    )
    async with on(body) as hand:
        await hand.act(Select(target=hand.number("Ann"), options=("Zed",)))
        await assert_clicked(hand, "Ann")


# --- rows that say nothing --------------------------------------------------------------------------------------------

TABLE_ROWS = ("<table>{}</table>", "<tr><td>{name}<td>{rest}</tr>")
LIST_ROWS = ("<ul>{}</ul>", "<li><span>{name}</span> {rest}</li>")
BOX_ROWS = ("<div>{}</div>", "<div><span>{name}</span><span>{rest}</span></div>")


def rows_of(kind: tuple[str, str], names: tuple[str, ...]) -> str:
    """Rows with these names, each with a button but where its name ends with a minus."""
    around, row = kind
    rests = [(name.rstrip("-"), "sold out" if name.endswith("-") else "<button>Buy</button>") for name in names]
    return around.format("".join(row.format(name=name, rest=rest) for name, rest in rests))


@pytest.mark.parametrize("kind", [TABLE_ROWS, LIST_ROWS, BOX_ROWS], ids=["table", "list", "boxes"])
@pytest.mark.parametrize(
    "names",
    [
        ("Ann-", "Bob", "—"),
        ("Bob", "Ann-", "—"),
        ("Bob", "Ann-", ""),
        ("Ann-", "Bob", "<img alt='' width=9 height=9>"),
        ("Ann-", "", "Bob"),
        ("Bob", "Ann-", "Bob"),
        ("—", "Ann-", "…", "Bob"),
    ],
    ids=str,
)
async def test_a_row_that_says_nothing_does_not_go_by_the_words_of_another_row(
    on: On, kind: tuple[str, str], names: tuple[str, ...]
) -> None:
    async with on(rows_of(kind, names)) as hand:
        shown = [mark.context for mark in hand.seen.marks]
        assert not [words for words in shown if "Ann" in words or "sold" in words]


async def test_a_row_of_buttons_goes_by_the_row_of_words_over_it(on: On) -> None:
    body = "<table>{}</table>".format(
        "".join(
            f"<tr><td>{who}<td>12</tr><tr><td><button>Edit</button><td><button>Delete</button></tr>"
            for who in ("Ann", "Bob")
        )
    )
    async with on(body) as hand:
        assert "<button>Delete ‹Ann" in hand.seen.listing
        assert "<button>Delete ‹Bob" in hand.seen.listing


# --- grids that keep columns in place ---------------------------------------------------------------------------------

ROWS = ((2, "Ann"), (3, "Bob"), (4, "Cem"))
PINNED = HEARD + (
    "<div role=grid style='display:flex;gap:20px'><div>"
    + "".join(f"<div role=row aria-rowindex={n}><span role=gridcell class=who>{who}</span></div>" for n, who in ROWS)
    + "</div><div>"
    + "".join(
        f"<div role=row aria-rowindex={n}><span role=gridcell><button id=b{n}>Delete</button></span></div>"
        for n, _ in ROWS
    )
    + "</div></div>"
)


async def test_a_row_of_a_grid_in_several_parts_is_known_by_all_of_them(on: On) -> None:
    async with on(PINNED) as hand:
        assert "<button>Delete ‹Ann›" in hand.seen.listing
        await hand.js(SWAP)
        await assert_refused(hand, "b2")


async def test_a_row_of_a_grid_in_several_parts_is_reached_while_none_of_them_changes(on: On) -> None:
    async with on(PINNED) as hand:
        await assert_clicked(hand, "b3")


# --- numbers that name, and numbers that count ------------------------------------------------------------------------

SHOWN = HEARD + "<p><b class=who>{}</b> Ann <button id=go>Delete</button></p>"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("12 Main St", "14 Main St"),
        ("15 Pro", "16 Pro"),
        ("256 GB", "512 GB"),
        ("500 ml", "250 ml"),
        ("Order: 12", "Order: 13"),
        ("1 to 10 of 57", "11 to 20 of 57"),
    ],
)
async def test_a_number_that_belongs_to_a_name_is_part_of_what_is_deleted(on: On, before: str, after: str) -> None:
    async with on(SHOWN.format(before)) as hand:
        await hand.js(f"document.querySelector('.who').textContent = '{after}'")
        await assert_refused(hand, "go")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("12 Comments", "13 Comments"),
        ("1 reply", "2 replies"),
        ("3 Kommentare", "4 Kommentare"),
        ("Views: 12", "Views: 13"),
        ("Likes: 9,999", "Likes: 10,000"),
        ("Showing 1 to 10 of 57", "Showing 1 to 10 of 58"),
        ("1–10 von 1.057", "1–10 von 1.058"),
    ],
)
async def test_a_number_that_counts_may_change_beside_what_is_deleted(on: On, before: str, after: str) -> None:
    async with on(SHOWN.format(before)) as hand:
        await hand.js(f"document.querySelector('.who').textContent = '{after}'")
        await assert_clicked(hand, "go")


# --- a price that never rests -----------------------------------------------------------------------------------------

MARKET = HEARD + "<div>Company: <b id=who>HLW</b> Price: <span id=price>$42.00</span> <button id=buy>Buy</button></div>"


async def let_it_tick(hand: Hand, *prices: str) -> None:
    for price in prices:
        await hand.js(f"void (price.textContent = '{price}')")
    await hand.look()


UP_AND_DOWN = ("$42.30", "$41.90", "$42.40", "$42.10", "$42.00")


@pytest.mark.parametrize("now", ["$42.00", "$42.40", "$41.60"])
async def test_a_price_that_goes_up_and_down_may_differ_a_little_at_the_press(on: On, now: str) -> None:
    async with on(MARKET) as hand:
        await let_it_tick(hand, *UP_AND_DOWN)
        await hand.js(f"void (price.textContent = '{now}')")
        await assert_clicked(hand, "buy")


@pytest.mark.parametrize(
    ("seen", "then"),
    [
        (UP_AND_DOWN, "price.textContent = '$42.50'"),
        (UP_AND_DOWN, "price.textContent = '$42.000'"),
        (UP_AND_DOWN, "price.textContent = '€42.00'"),
        (UP_AND_DOWN, "price.textContent = '$42.10 +fee'"),
        (UP_AND_DOWN, "who.textContent = 'HLX'"),
        (UP_AND_DOWN, "price.textContent = '$42.10', who.textContent = 'HLX'"),
        (UP_AND_DOWN, "price.innerHTML = '<i>$42.10</i>'"),
        (("$42.30", "$42.00"), "price.textContent = '$42.10'"),
        (("No 4201", "No 4203", "No 4201", "No 4203", "No 4201"), "price.textContent = 'No 4202'"),
        (("v42-1", "v42-2", "v42-3", "v42-4", "v42-5"), "price.textContent = 'v42-6'"),
        (("4201", "4202", "4201", "4202", "4201"), "price.textContent = '4202'"),
    ],
)
async def test_nothing_else_may_differ_where_something_is_bought(on: On, seen: tuple[str, ...], then: str) -> None:
    async with on(MARKET) as hand:
        await let_it_tick(hand, *seen)
        await hand.js(f"void ({then})")
        await assert_refused(hand, "buy")


async def test_a_price_that_went_too_far_is_given_a_moment_to_come_back(on: On) -> None:
    async with on(MARKET) as hand:
        await let_it_tick(hand, *UP_AND_DOWN)
        await hand.js("void (price.textContent = '$50.00')")
        outcome = await click_id(hand, "buy")
        assert outcome.status == "refused"
        assert outcome.sentence.endswith("It was still so after 2 s."), outcome.sentence
        await let_it_tick(hand, *UP_AND_DOWN)
        await hand.js("price.textContent = '$50.00', void setTimeout(() => price.textContent = '$42.10', 300)")
        await assert_clicked(hand, "buy")


async def test_where_a_price_is_all_that_tells_two_buttons_apart_it_may_not_differ(on: On) -> None:
    shelf = (
        "<p><span id=price>$42.00</span> <button id=buy>Buy</button></p><p><span>$42.20</span> <button>Buy</button></p>"
    )
    async with on(HEARD + shelf) as hand:
        await let_it_tick(hand, *UP_AND_DOWN)
        await hand.js("void (price.textContent = '$42.10')")
        await assert_refused(hand, "buy")


async def test_a_price_that_changed_only_when_something_was_pressed_may_not_differ(on: On) -> None:
    more = "<button id=more onclick=\"price.textContent = '$' + ++this.value + '.00'\" value=42>More</button>"
    async with on(MARKET + more) as hand:
        for _ in range(5):
            await hand.act(Click(target=hand.number("More")))
            await hand.look()
        await hand.js("heard.length = 0, void (price.textContent = '$47.10')")
        await assert_refused(hand, "buy")


CARD = "<article>{}<button>Buy</button></article>"


@pytest.mark.parametrize(
    ("one", "other", "titles"),
    [
        (CARD.format("<h3>Mug</h3><p>Clay</p>"), CARD.format("<h3>Tray</h3><p>For a Mug</p>"), ["Mug", "Tray"]),
        (
            CARD.format("<h3>Mug</h3><h4>Goes with</h4><p>Tray</p>"),
            CARD.format("<div role=heading aria-level=2>Tray</div>"),
            ["Mug", "Tray"],
        ),
        (CARD.format("<h3>Mug</h3><h3>Cup</h3>"), CARD.format("<p>Tray</p>"), ["", ""]),
        (
            "<table><tr><th>Mug<td>12<td><button>Buy</button>",
            "<tr><th>Tray<td>9<td><button>Buy</button></table>",
            ["Mug", "Tray"],
        ),
        ("<table><tr><td>Mug<td><button>Buy</button>", "<tr><td>Tray<td><button>Buy</button></table>", ["", ""]),
        (CARD.format("<h3>Mug <span aria-live=polite>12:30</span></h3>Clay"), CARD.format("<h3>Tray</h3>"), None),
    ],
)
async def test_a_card_is_called_by_its_highest_heading_and_a_row_by_its_header(
    on: On, one: str, other: str, titles: list[str] | None
) -> None:
    async with on(f"<h1>Shop</h1>{one}{other}") as hand:
        marks = [mark for mark in hand.seen.marks if mark.name == "Buy"]
        assert all(mark.title in mark.context for mark in marks)
        if titles is not None:
            assert [mark.title for mark in marks] == titles
