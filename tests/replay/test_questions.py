"""What a button like `Yes` answers is asked again before a replay presses it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page

from tests.conftest import Server
from tests.looks import look_at
from tests.sessions import record_lines, replay_run
from vision_agent import Settings, Task
from vision_agent.actions import Action, Click, Point, Press
from vision_agent.geometry import Box
from vision_agent.observation import Mark, MarkState, Observation
from vision_agent.policy.rebind import RebindError, rebind_actions
from vision_agent.replay.variables import _is_quantity
from vision_agent.types import Decision, Outcome, Step

ASK = """<title>Files</title><h1>Files</h1><p>%s</p>
<button onclick="document.title = 'Pressed'">Yes</button> <button>No</button>"""
CARD = "<h1>Files</h1><div style='border:1px solid;width:300px'><h3>Files</h3><p>%s</p><button>Yes</button></div>"
BESIDE_NO = "<h1>Files</h1><p>%s</p><button>No</button> <button>Yes</button>"
BELOW_MORE = "<h1>Files</h1><p>%s</p><p>Are you sure?</p><button>Yes</button>"


@pytest.mark.parametrize(
    ("page_of", "was", "now", "why"),
    [
        (ASK, "Delete file a.txt?", "Delete all 900 files?", "answers 'Delete all 900 files?' here"),
        (BESIDE_NO, "Delete file a.txt?", "Delete all files?", "answers 'Delete all files?' here"),
        (BELOW_MORE, "Delete file a.txt?", "Delete all files?", "'Delete all files? Are you sure?' here"),
        (ASK, "Keep this layout?", "Drop this layout?", "answers 'Drop this layout?' here"),
        (ASK, "Delete 3 files?", "Delete 900 files?", "answers 'Delete 900 files?' here"),
        (CARD, "3 files will be deleted.", "900 files will be deleted.", "answers '900 files will be deleted.' here"),
        (ASK, "3 files will be deleted.", "900 files will be deleted.", "answers '900 files will be deleted.' here"),
        (ASK, "", "Delete all files?", "answers 'Delete all files?' here"),
        (ASK, "Delete file a.txt?", "", "and answered 'Delete file a.txt?' in the record"),
        (ASK, "Delete file a.txt?", "Delete file a.txt?", ""),
        (ASK, "It is 10:42. Delete file a.txt?", "It is 11:05. Delete file a.txt?", ""),
        (ASK, "12 visitors</p><p>Delete file a.txt?", "90 visitors</p><p>Delete file a.txt?", ""),
        (ASK, "Write to Ann?</p><p>195 characters left", "Write to Ann?</p><p>7 characters left", ""),
        (ASK, "Keep this layout?</p><p>12 users", "Keep this layout?</p><p>90 users", ""),
        (CARD, "3 files are new.", "900 files are new.", ""),
        (ASK.replace("Yes", "Details"), "Delete file a.txt?", "Delete all 900 files?", ""),
        (ASK, "", "All is well.", ""),
    ],
)  # fmt: skip
async def test_a_button_that_only_agrees_is_the_same_only_if_it_answers_the_same(
    page: Page, serve: Server, page_of: str, was: str, now: str, why: str
) -> None:
    looks = [await look_at(page, serve({"/": page_of % text})) for text in (was, now)]
    for action in (click_on(looks[0]), Press(keys="Enter", target=click_on(looks[0]).target)):
        assert_refused(took(looks[0], action), looks[1], why)


def assert_refused(step: Step, now: Observation, why: str) -> None:
    """The actions of a recorded step are refused on today's page for this reason, or done where it is empty."""
    if not why:
        recorded = step.decision.actions if step.decision else ()
        assert [each.kind for each in rebind_actions(step, now)] == [each.kind for each in recorded]
        return
    with pytest.raises(RebindError) as refused:
        rebind_actions(step, now)
    assert why in str(refused.value)


def click_on(seen: Observation) -> Click:
    [mark] = [mark for mark in seen.marks if mark.name in ("Yes", "Details")]
    return Click(target=mark.number)


def took(seen: Observation, action: Action) -> Step:
    done = Outcome(status="done", effect="changed", sentence="Clicked.")
    decision = Decision(author="model", actions=(action,), next_goal="go")
    at = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
    return Step(index=1, observation=seen, decision=decision, outcomes=(done,), started_at=at)


async def test_a_replay_does_not_answer_another_question_and_answers_one_about_the_value_that_is_given(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages, settings = {"/": ASK % "Delete file a.txt?"}, Settings(runs=tmp_path / "runs")
    task = Task(goal="Delete a.txt", user_data={"file": "a.txt"}, start_url=serve(pages))
    folder = await record_lines(["click Yes", "finish"], task, context, settings)

    async def title(question: str, **more: Any) -> tuple[str, str]:
        pages["/"] = ASK % question
        return await replay_run(folder, context, settings, **more)

    assert (await title("Delete file a.txt?"))[0] == "Pressed"
    assert (await title("Delete file b.txt?", values={"file": "b.txt"}))[0] == "Pressed"
    said = "button \"Yes\" answers 'Delete all 900 files?' here, and answered 'Delete file a.txt?' in the record"
    stayed, sentence = await title("Delete all 900 files?")
    assert stayed == "Files"
    assert said in sentence
    assert (await title("Delete file a.txt?", values={"file": "b.txt"}))[0] == "Files"


PAGE = "<h1>Shop</h1><p>Mug, %s</p><button>Buy</button>"
SHOP = (
    "<h1>Shop</h1><div><h3>Mug</h3><p>%s</p><button>Buy</button> <button>Add to cart</button> <a href=/m>Mug</a></div>"
)


@pytest.mark.parametrize(
    ("page_of", "name", "was", "now", "why"),
    [
        (SHOP, "Buy", "5 EUR", "900 EUR", 'button "Buy" is beside 900 EUR here, and was beside 5 EUR in the record'),
        (SHOP, "Buy", "€5", "$4", "is beside $4 here, and was beside €5 in the record"),
        (SHOP, "Buy", "New", "New €5", "is beside €5 here, and was beside no amount of money in the record"),
        (SHOP, "Buy", "5 EUR, was 9 EUR", "7 EUR, was 9 EUR", ""),
        (SHOP, "Buy", "900 EUR", "5 EUR", ""),
        (
            SHOP,
            "Buy",
            "5 users",
            "900 users",
            "is beside 900 users here, and was beside 5 users in the record",
        ),
        (SHOP, "Buy", "5 reviews<p>3 left", "900 reviews<p>4 left", ""),
        (SHOP, "Buy", "900 users", "5 users", ""),
        (SHOP, "Add to cart", "5 users", "900 users", ""),
        (SHOP, "Add to cart", "5 EUR", "900 EUR", ""),
        (SHOP, "Mug", "5 EUR", "900 EUR", ""),
        (PAGE, "Buy", "5 USD", "900 USD", 'button "Buy" is beside 900 USD here, and was beside 5 USD in the record'),
        (PAGE, "Buy", "5 USD", "5 GBP", "is beside 5 GBP here, and was beside 5 USD in the record"),
        (PAGE, "Buy", "5 USD", "5 KWD", "is beside 5 KWD here, and was beside 5 USD in the record"),
        (PAGE, "Buy", "5 USD", "4 USD", ""),
    ],
)
async def test_a_button_beside_a_larger_amount_of_money_is_not_pressed_unless_other_values_explain_it(
    page: Page, serve: Server, page_of: str, name: str, was: str, now: str, why: str
) -> None:
    looks = [await look_at(page, serve({"/": page_of % text})) for text in (was, now)]
    [mark] = [mark for mark in looks[0].marks if mark.name == name]
    step = took(looks[0], Click(target=mark.number))
    assert rebind_actions(step, looks[1], has_other_values=True)
    assert_refused(step, looks[1], why)


BAR = "<h1>Users</h1><div style='border:1px solid; width:400px'>%s <button>Delete</button></div><p>8 new messages</p>"
ALONE = "<h1>Users</h1><p>%s</p><button>Delete</button>"
PAY = "<h1>Pay</h1><p>%s</p><button>Pay</button>"
SEND = "<h1>Users</h1><div role=dialog aria-label=Mail><h2>%s</h2><button>Send</button></div>"


@pytest.mark.parametrize(
    ("page_of", "was", "now", "why"),
    [
        (BAR, "5 users selected", "900 users selected", "is beside 900 users selected here, and was beside 5 users"),
        (BAR, "<b>5</b> users selected", "<b>6</b> users selected", "is beside 6 users selected here"),
        (BAR, "1 user selected", "2 users selected", "is beside 2 users selected here, and was beside 1 user selected"),
        (BAR, "<p>5<p>selected", "<p>900<p>selected", "is beside 900 selected here, and was beside 5 selected"),
        (BAR, "Selected (5)", "Selected (1200)", "is beside Selected (1200) here, and was beside Selected (5)"),
        (BAR, "1,200 rows", "12,000 rows", "is beside 12,000 rows here, and was beside 1,200 rows in the record"),
        (ALONE, "5 users selected", "900 users selected", "is beside 900 users selected here"),
        (SEND, "5 recipients", "900 recipients", "is beside 900 recipients here, and was beside 5 recipients"),
        (ALONE, "Selected: 1", "Selected: 500", "is beside Selected: 500 here, and was beside Selected: 1 in"),
        (ALONE, "Ausgewählt: 1", "Ausgewählt: 500", "is beside Ausgewählt: 500 here"),
        (ALONE, "1/50 selected", "50/50 selected", "is beside 50/50 selected here, and was beside 1/50 selected"),
        (ALONE, "Selected: 1 of 50", "Selected: 9 of 50", "is beside Selected: 9 here"),
        (PAY, "Total: 49.00", "Total: 4,900.00", "is beside Total: 4,900.00 here, and was beside Total: 49.00"),
        (PAY, "Total: 49.00", "Total: 48.5", ""),
        (PAY, "Order: 4711", "Order: 4712", ""),
        (PAY, "Date: 1.2.2026 Time: 10:42", "Date: 3.4.2026 Time: 11:05", ""),
        (BAR, "900 users selected", "5 users selected", ""),
        (BAR, "3 views <br> 5 min ago", "90 views <br> 50 min ago", ""),
        (BAR.replace("Delete", "Select all"), "5 users", "900 users", ""),
        (BAR.replace("8 new", "9 new"), "5 users selected", "5 users selected", ""),
    ],
)  # fmt: skip
async def test_what_deletes_or_sends_is_not_pressed_beside_a_larger_count(
    page: Page, serve: Server, page_of: str, was: str, now: str, why: str
) -> None:
    looks = [await look_at(page, serve({"/": page_of % text})) for text in (was, now)]
    [mark] = [mark for mark in looks[0].marks if mark.kind == "button"]
    step = took(looks[0], Click(target=mark.number))
    assert rebind_actions(step, looks[1], has_other_values=True)
    assert_refused(step, looks[1], why)


FORM = """<title>Shop</title><h1>Shop</h1><form onsubmit="document.title = 'Bought'; return false">
<label>Number <input name=n oninput="cost.textContent = 5 * n.value * times + ' EUR'"></label>
<p id=cost></p><button>Order</button></form><script>const times = %s</script>"""


async def test_a_replay_orders_at_a_higher_price_only_if_another_number_was_given(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages, settings = {"/": FORM % 1}, Settings(runs=tmp_path / "runs")
    task = Task(goal="Order", start_url=serve(pages))
    lines = ['type "1" into Number', "click Order", "finish"]
    folder = await record_lines(lines, task, context, settings)

    async def title(times: int, **more: Any) -> tuple[str, str]:
        pages["/"] = FORM % times
        return await replay_run(folder, context, settings, **more)

    assert (await title(1))[0] == "Bought"
    assert (await title(1, values={"1": "3"}))[0] == "Bought"
    stayed, sentence = await title(180)
    assert stayed == "Shop"
    assert 'button "Order" is beside 900 EUR here, and was beside 5 EUR in the record' in sentence


PERSON = """<title>Shop</title><h1>Shop</h1><form onsubmit="document.title = 'Bought'; return false">
<label>Name <input name=n></label> <label>Phone <input name=p></label> <label>E-mail <input type=email></label>
<label>Size <select><option>S<option>L</select></label><p>%s EUR</p><button>Order</button></form>"""


@pytest.mark.parametrize(
    ("values", "is_explained"),
    [
        ({"1": "Bob", "2": "0171 2345", "3": "b2@example.com"}, False),
        ({"2": "+49 171 23456789", "name": "Bob"}, False),
        ({"4": "L"}, True),
    ],
)
async def test_another_person_does_not_explain_a_higher_price(
    values: dict[str, str], is_explained: bool, serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages, settings = {"/": PERSON % 5}, Settings(runs=tmp_path / "runs")
    task = Task(goal="Order for Ann", user_data={"name": "Ann"}, start_url=serve(pages))
    typed = ['type "Ann" into Name', 'type "0170 1234" into Phone', 'type "ann1@example.com" into E-mail']
    lines = [*typed, "select S in Size", "click Order", "finish"]
    folder = await record_lines(lines, task, context, settings)
    pages["/"] = PERSON % 900
    title, sentence = await replay_run(folder, context, settings, values=values)
    assert title == ("Bought" if is_explained else "Shop")
    said = 'button "Order" is beside 900 EUR here, and was beside 5 EUR in the record'
    assert (said in sentence) != is_explained


PRODUCT = """<meta charset=utf-8><title>Shop</title><h1>Shop</h1><div><h3>Mug</h3><button>Add Mug</button></div><hr>
<div><h3>Hat</h3><button>Add Hat</button></div><hr>
<form onsubmit="document.title = 'Bought'; return false"><p>Total €5</p><button>Order</button></form><script>
document.querySelectorAll('button')[1].onclick = () => document.querySelector('p').textContent = 'Total €9'
</script>"""


async def test_another_product_explains_a_higher_total(serve: Server, context: BrowserContext, tmp_path: Path) -> None:
    settings = Settings(runs=tmp_path / "runs")
    task = Task(goal="Order a Mug", user_data={"product": "Mug"}, start_url=serve({"/": PRODUCT}))
    lines = ["click Add Mug", "click Order", "finish"]
    folder = await record_lines(lines, task, context, settings)
    title, sentence = await replay_run(folder, context, settings, values={"product": "Hat"})
    assert title == "Bought", sentence


@pytest.mark.parametrize(
    ("typed", "more", "is_quantity"),
    [
        ("3", {}, True),
        ("2.5 kg", {}, True),
        ("€1,000.50", {}, True),
        ("2026-12-01", {}, True),
        ("1.12.2026", {}, True),
        ("three", {"input_type": "number"}, True),
        ("Bob", {}, False),
        ("b2@example.com", {}, False),
        ("0170 1234", {}, False),
        ("+49 170 1234567", {}, False),
        ("170 123 4567", {}, False),
        ("17", {"input_type": "tel"}, False),
        ("Main Street 12", {}, False),
    ],
)
def test_a_number_or_date_is_told_from_what_is_of_a_person(typed: str, more: dict[str, str], is_quantity: bool) -> None:
    field = Mark(
        number=1, tag="input", role="textbox", kind="field", name="Value", state=MarkState(**more), fingerprint="f",
        box=Box(x=0, y=0, width=9, height=9), point=Point(x=4, y=4),
    )  # fmt: skip
    assert _is_quantity(typed, field) == is_quantity


ROWS = "<table>%s</table><button>Delete</button>"
ORDER = "<h1>Mug</h1><label>Pieces <input type=number value=%s></label> <button>Order now</button>"
CHOICE = "<h1>Mug</h1><label>Pieces <select><option>1<option%s>100</select></label> <button>Buy</button>"
AMOUNT = "<label>Amount <input value=%s></label> <button>Pay</button>"
TO_LIST = "<label>To <select><option>Ann<option%s>Everyone</select></label> <button>Send</button>"
TO_LINE = "<h1>Transfer</h1><p>To: %s</p><p>Amount: €49</p><p>Fee: none</p><p>Today</p><button>Send money</button>"
TO_FIELD = "<label>Payee <input value='%s'></label> <button>Send money</button>"


def rows(ticked: int) -> str:
    """Four rows, of which so many are ticked."""
    return "".join(
        f"<tr><td><input type=checkbox aria-label='Row {at}' {'checked' * (at < ticked)}><td>File {at}"
        for at in range(4)
    )


@pytest.mark.parametrize(
    ("page_of", "was", "now", "why"),
    [
        (ROWS, rows(1), rows(4), '"Delete" is beside 4 ticked or selected here, and was beside 1 ticked or selected'),
        (ROWS, rows(4), rows(1), ""),
        (ORDER, "1", "100", '"Order now" is beside Pieces: "100" here, and was beside Pieces: "1" in the record'),
        (ORDER, "100", "1", ""),
        (ORDER.replace("Pieces", "Year"), "2025", "2026", ""),
        (ORDER.replace("Order now", "Details"), "1", "100", ""),
        (CHOICE, "", " selected", 'button "Buy" is beside Pieces: "100" here, and was beside Pieces: "1"'),
        (AMOUNT, "49.00", "4900.00", 'is beside Amount: "4900.00" here, and was beside Amount: "49.00" in the record'),
        (AMOUNT, "49.00", "49,00", ""),
        (TO_LIST, "", " selected", 'button "Send" is beside To: "Everyone" here, and was beside To: "Ann"'),
        (TO_LINE, "Ann Lee", "Bob Ray", 'is beside To: "Bob Ray" here, and was beside To: "Ann Lee" in the record'),
        (TO_FIELD, "Ann Lee", "Bob Ray", 'is beside Payee: "Bob Ray" here, and was beside Payee: "Ann Lee"'),
        (TO_FIELD, "Ann Lee", "ann  lee", ""),
        (TO_FIELD.replace("Payee", "Subject"), "Ann Lee", "Bob Ray", ""),
    ],
)  # fmt: skip
async def test_what_deletes_sends_or_pays_is_not_pressed_where_fields_ticks_or_recipients_say_more(
    page: Page, serve: Server, page_of: str, was: str, now: str, why: str
) -> None:
    looks = [await look_at(page, serve({"/": page_of % text})) for text in (was, now)]
    [mark] = [mark for mark in looks[0].marks if mark.kind == "button"]
    step = took(looks[0], Click(target=mark.number))
    if page_of != ROWS:  # what is ticked is no value
        assert rebind_actions(step, looks[1], given=("Bob Ray", "100", "Everyone", "4900"))
    assert_refused(step, looks[1], why)


MAIL = """<title>Mail</title><h1>Mail</h1><label>To <input oninput="who.textContent = 'To: ' + this.value"></label>
<p id=who></p><button onclick="document.title = 'Sent'">Send</button>"""


async def test_a_recipient_that_the_replay_types_is_the_right_one(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    settings = Settings(runs=tmp_path / "runs")
    task = Task(goal="Write to Ann", user_data={"name": "Ann"}, start_url=serve({"/": MAIL}))
    lines = ['type "Ann" into To', "click Send", "finish"]
    folder = await record_lines(lines, task, context, settings)
    title, sentence = await replay_run(folder, context, settings, values={"name": "Bob"})
    assert title == "Sent", sentence
