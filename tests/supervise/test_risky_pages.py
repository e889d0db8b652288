"""Claims about what a person must approve on live pages: dialogs, and controls that show another text than their name."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.looks import look_at
from tests.supervise.proposals import decided
from vision_agent import Agent, Settings
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.policy.approval import Answers, risks_of
from vision_agent.settings import ApprovalSettings, EventSettings, ObserveSettings
from vision_agent.types import Choice, Task
from vision_agent.vision.image_limits import ImageLimits

CONFIRM = "<title>Disk</title><button onclick='document.title = confirm(`%s`)'>Tidy up</button>"


@pytest.mark.parametrize(
    ("ask", "question", "answer"),
    [
        ("risky", "Delete all files permanently?", "false"),
        ("risky", "D\u0435l\u0435te all files?", "false"),
        ("risky", "Sort them by name?", "true"),
        ("always", "Sort them by name?", "false"),
        ("never", "Delete all files permanently?", "true"),
    ],
)
async def test_a_dialog_with_a_risky_question_is_not_accepted_without_a_person(
    page: Page, serve: Any, tmp_path: Path, ask: Any, question: str, answer: str
) -> None:
    settings = Settings(runs=tmp_path, approval=ApprovalSettings(ask=ask), events=EventSettings(dialogs="accept"))
    agent = Agent(
        Task(goal="Tidy", start_url=serve({"/": CONFIRM % question})),
        model=StepsModel(["click Tidy up", "finish"]),
        page=page,
        settings=settings,
        approver=Answers(approving),
    )
    run = await agent.run()
    assert await page.title() == answer
    said = "was dismissed, because a person must approve what it asks"
    assert (said in run.steps[0].outcomes[0].sentence) == (answer == "false")


async def approving(*_: Any) -> Choice:
    return Choice(kind="approve")


@pytest.mark.parametrize(("settings", "paid"), [({}, False), ({"ask": "never"}, True)])
async def test_an_approver_is_asked_about_what_is_risky_unless_the_settings_say_never(
    page: Page, serve: Any, tmp_path: Path, settings: dict[str, Any], paid: bool
) -> None:
    async def stop(*_: Any) -> Choice:
        return Choice(kind="stop")

    bill = "<title>Bill</title><button onclick='document.title = `Paid`'>Pay €14</button>"
    agent = Agent(
        Task(goal="Pay", start_url=serve({"/": bill})),
        model=StepsModel(["click Pay €14", "finish"]),
        page=page,
        settings=Settings(runs=tmp_path, approval=ApprovalSettings(**settings)),
        approver=Answers(stop),
    )
    await agent.run()
    assert await page.title() == ("Paid" if paid else "Bill")


async def test_step_lines_name_what_a_control_shows_and_not_what_it_is_called(page: Page, serve: Any) -> None:
    body = "<title>Offer</title><button aria-label='No thanks'>Pay now</button><button>Close</button>"
    seen = await look_at(page, serve({"/": body}))
    assert '<button shows="Pay now">No thanks' in seen.listing
    [shown, hidden] = parse(["click Pay now", "click No thanks"])
    assert shown.build(seen) == Click(target=1)
    with pytest.raises(NotFoundError, match="'No thanks', but \\[1\\] has that name and shows 'Pay now'"):
        hidden.build(seen)
    [risk] = [each for each in risks_of(ApprovalSettings(), decided(Click(target=1)), seen) if each.risk == "mismatch"]
    assert risk.why == "it is called “No thanks” and shows “Pay now”"


@pytest.mark.parametrize(
    "body",
    [
        "<button aria-label='Close'>×</button>",
        "<button aria-label='Add Wool jumper to the cart'>Add</button>",
        "<button aria-label='Profile of Ada Lovelace'>AL</button>",
        "<button aria-label='Rating: 4 of 5'>★★★★☆</button>",
        "<button aria-label='Delete'><svg width=20 height=20><rect width=20 height=20 /></svg></button>",
        "<button><span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>Next page</span>›</button>",
        "<a href=#x aria-label='Sunday, March 1'>1</a>",
        "<button aria-label=Menu><i style='font-family:\"Material Icons\"'>delete</i></button>",
        "<button aria-label='Save the note' title='Save'>Save the note</button>",
    ],
)
async def test_a_name_that_says_what_is_shown_is_no_mismatch(page: Page, serve: Any, body: str) -> None:
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": f"<title>Page</title>{body}"}))
        [mark] = (await browser.observe()).marks
    assert mark.shows == ""


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("b.textContent = 'Pay now'", "Pay now"),
        ("b.firstChild.data = 'Delete account'", "Delete account"),
        ("b.className = 'armed'", "Pay now"),
        ("b.innerHTML = '<span>Transfer</span> <span>all</span>'", "Transfer all"),
    ],
)
async def test_a_control_that_shows_another_text_under_the_same_name_is_not_clicked(
    page: Page, serve: Any, change: str, shown: str
) -> None:
    body = """<title>Note</title><style>.armed::before { content: "Pay now" } .armed { font-size: 0 }
        .armed::before { font-size: 16px }</style>
        <button id=b aria-label="Close the note" onclick="document.title = 'clicked'">Close</button>"""
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        seen = await browser.observe()
        await page.evaluate(change)
        outcome = await browser.act(Click(target=1), seen)
    assert outcome.status == "refused"
    assert f'has become button "Close the note", which shows "{shown}"' in outcome.sentence
    assert await page.title() == "Note"


async def test_a_text_that_changes_just_before_the_press_stops_it(page: Page, serve: Any) -> None:
    body = """<title>Note</title><button aria-label="Close the note" onclick="document.title = 'clicked'"
        onpointermove="this.textContent = 'Pay now'">Close</button>"""
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        outcome = await browser.act(Click(target=1), await browser.observe())
    assert outcome.status == "refused"
    assert await page.title() == "Note"


async def test_a_number_that_counts_under_a_constant_name_is_no_change(page: Page, serve: Any) -> None:
    body = """<title>Post</title><button id=b aria-label="Like" onclick="document.title = 'liked'">128 views</button>"""
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        seen = await browser.observe()
        assert seen.marks[0].shows == "128 views"
        await page.evaluate("b.textContent = '129 views'")
        outcome = await browser.act(Click(target=1), seen)
    assert (outcome.status, await page.title()) == ("done", "liked")


@pytest.mark.parametrize(
    ("button", "risks"),
    [
        ("<form method=dialog><button>Close</button></form>", []),
        ("<form><button formmethod=dialog>Close</button></form>", []),
        ("<form method=dialog><button formmethod=post>Close</button></form>", ["submit"]),
        ("<form method=post><button>Close</button></form>", ["submit"]),
    ],
)
async def test_a_button_that_only_closes_its_dialog_sends_no_form(
    page: Page, serve: Any, button: str, risks: list[str]
) -> None:
    body = f"<title>Seats</title><dialog open><p>The seats are yours.</p>{button}</dialog>"
    seen = await look_at(page, serve({"/": body}))
    assert [each.risk for each in risks_of(ApprovalSettings(), decided(Click(target=1)), seen)] == risks


SENT = "<form method=post action=/sent>%s</form>"


@pytest.mark.parametrize(
    ("body", "line", "risks"),
    [
        (
            "<style>b::before { content: 'Delete account' / 'Next' }</style><button><b></b></button>",
            "click 1",
            {"delete", "mismatch"},
        ),
        (
            "<label for=pay>Next</label><p style='height:900px'></p><button id=pay>Pay 14 EUR</button>",
            "click 1",
            {"pay"},
        ),
        (
            "<label for=pay>Next</label><p style='height:900px'></p><input id=pay type=button value='Pay 14 EUR'>",
            "click 1",
            {"pay"},
        ),
        (
            "<form action=/sent><label><input type=checkbox>I agree</label><button>Go</button></form>",
            "press Enter in I agree",
            {"submit"},
        ),
        (
            "<form action=/sent><label><input type=radio>I agree</label><button>Go</button></form>",
            "press Enter in I agree",
            {"submit"},
        ),
        (
            "<form action=/sent><label><input type=checkbox>I agree</label><button>Go</button></form>",
            "press Space in I agree",
            set(),
        ),
        (
            """<style>b { quotes: "Delete account" "" } b::before { content: open-quote }</style><button aria-label=Next><b></b></button>""",
            "click 1",
            {"delete", "mismatch"},
        ),
        (
            "<button style='unicode-bidi: bidi-override; direction: rtl'>tnuocca eteleD</button>",
            "click 1",
            {"delete", "mismatch"},
        ),
        (
            "<label for=it>Delete account</label><input id=it type=checkbox aria-label=Yes>",
            "click 1",
            {"delete", "mismatch"},
        ),
        ("<label>Weekly<input type=checkbox aria-label='News: weekly'></label>", "click 1", set()),
        ("<button><ruby>1<rt>Delete</rt>2<rt>account</rt></ruby></button>", "click 1", {"delete"}),
        ("<button><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby></button>", "click 1", set()),
        ("<select aria-label=Files><option>Keep<option>Delete all</select>", "press ArrowDown in Files", {"delete"}),
        ("<select aria-label=Files><option>Keep<option>Delete all</select>", "press D in Files", {"delete"}),
        ("<select aria-label=Files><option>Keep<option>Sort</select>", "press ArrowDown in Files", set()),
        (
            "<label><input type=radio name=a>Keep</label><label><input type=radio name=a>Delete all</label>",
            "press ArrowDown in Keep",
            {"delete"},
        ),
        (SENT % "<button name=action value=pay>Go</button>", "click 1", {"submit", "pay"}),
        (SENT % "<input type=hidden name=_method value=delete><button>Go</button>", "click 1", {"submit", "delete"}),
        (SENT % "<button formaction='/x?op=del&id=3'>Go</button>", "click 1", {"submit", "delete"}),
        (SENT % "<button name=color value=pay>Go</button>", "click 1", {"submit"}),
        ("<a href='/x?op=del&id=3'>x</a>", "click 1", {"delete"}),
        ("<input type=range aria-label='Slide to pay'>", "press End in Slide to pay", {"pay"}),
        ("<input aria-label='Note to pay'>", "press End in Note to pay", set()),
    ],
)
async def test_what_a_control_does_is_judged_by_what_is_painted_labelled_and_sent(
    page: Page, serve: Any, body: str, line: str, risks: set[str]
) -> None:
    seen = await look_at(page, serve({"/": f"<title>Page</title>{body}"}))
    action = Click(target=1) if line == "click 1" else parse([line])[0].build(seen)
    assert {each.risk for each in risks_of(ApprovalSettings(), decided(action), seen)} == risks, seen.listing


SEARCH = "<form %s>%s<input type=search aria-label=Q>%s</form>"
PAYMENT = """<form method=post action=/sent><label>Name <input name=n></label>%s</form>"""


@pytest.mark.parametrize(
    ("body", "line", "risks"),
    [
        (PAYMENT % "<button>Pay €14 now</button>", "press Enter in Name", {"submit", "pay"}),
        (PAYMENT % "<button>Delete account</button>", 'type "a" into Name and press Enter', {"submit", "delete"}),
        (PAYMENT % "<button type=button>Delete</button><button>Save</button>", "press Enter in Name", {"submit"}),
        (PAYMENT % "<button formaction=/account/delete>Go</button>", "press Enter in Name", {"submit", "delete"}),
        (PAYMENT % "<button style='display: none'>Pay now</button><button>Save</button>", "press Enter in Name", {"submit", "pay"}),
        (PAYMENT % "<button style='position: absolute; top: 5000px'>Pay now</button>", "press Enter in Name", {"submit", "pay"}),
        (PAYMENT % "<input type=image alt='Pay now'><button>Save</button>", "press Enter in Name", {"submit", "pay"}),
        (PAYMENT % "<p>You will be charged €49.00.</p><button>Confirm</button>", "press Enter in Name", {"submit", "pay"}),
        ("<form id=f></form><button form=f>Pay now</button><label>Name <input form=f></label>", "press Enter in Name", {"submit", "pay"}),
        ("<form action=/account/delete><label>Name <input></label></form>", "press Enter in Name", {"submit", "delete"}),
        ("<form><h2>Delete account?</h2><label>Name <input></label></form>", "press Enter in Name", {"submit", "delete"}),
        (PAYMENT % "<label><input type=checkbox>Gift</label><button>Pay now</button>", "press Enter in Gift", {"submit", "pay"}),
        ("<label>Name <textarea></textarea></label><button>Send</button>", 'type "a" into Name and press Enter', {"submit", "send"}),
        ("<label>Name <input></label><button>Delete account</button>", "press Enter in Name", {"submit", "delete"}),
        ("<label>Name <input></label><p style='height: 90px'></p><button>Delete account</button>", "press Enter in Name", {"submit"}),
        ("<button>Pay now</button><label>Name <input></label>", "press Enter", {"submit", "pay"}),
        (PAYMENT % "<button>Pay now</button>", "press Space in Name", set()),
        (SEARCH % ("", "", "<button>Search</button>"), "press Enter in Q", set()),
        (SEARCH % ("action=/search", "", "<select aria-label=In><option>All</select><button>Go</button>"), "press Enter in Q", set()),
        ("<input type=search aria-label=Q>", "press Enter in Q", set()),
        (SEARCH % ("method=post", "", "<button>Go</button>"), "press Enter in Q", {"submit"}),
        (SEARCH % ("", "", "<button>Pay now</button>"), "press Enter in Q", {"submit", "pay"}),
        (SEARCH % ("", "<h2>Pay the bill</h2>", "<button>Go</button>"), "press Enter in Q", {"submit"}),
        (SEARCH % ("", "<p>Fee €14</p>", "<button>Go</button>"), "press Enter in Q", {"submit"}),
        (SEARCH % ("", "", "<input type=password aria-label=P><button>Go</button>"), "press Enter in Q", {"submit"}),
        (SEARCH % ("", "", "<input aria-label='Card number'><button>Go</button>"), "press Enter in Q", {"submit"}),
        ("<input type=search aria-label=Q><button>Delete selected</button>", "press Enter in Q", set()),
        ("<h2>Mug €5</h2>" + SEARCH % ("action=/s", "", "<button>Go</button>"), "press Enter in Q", set()),
        (SEARCH % ("action=/s", "", "<p>€14</p><button>Go</button>"), "press Enter in Q", {"submit"}),
        ("<input type=search aria-label=Q><button>Pay now</button>", "press Enter in Q", {"submit", "pay"}),
    ],
)  # fmt: skip
async def test_enter_in_a_field_has_the_risks_of_the_button_that_it_presses(
    page: Page, serve: Any, body: str, line: str, risks: set[str]
) -> None:
    assert {*await risks_of_line(page, serve, body, line)} == risks


async def test_the_reason_of_enter_names_the_button(page: Page, serve: Any) -> None:
    whys = await risks_of_line(page, serve, PAYMENT % "<button>Pay €14 now</button>", "press Enter in Name")
    assert whys == {"submit": "Enter in input “Name” can send its form", "pay": "Enter presses “Pay €14 now”"}


async def risks_of_line(page: Page, serve: Any, body: str, line: str) -> dict[str, str]:
    """The risks that a step line has, each with why."""
    seen = await look_at(page, serve({"/": f"<meta charset=utf-8><title>Page</title>{body}"}))
    action = parse([line])[0].build(seen)
    return {each.risk: each.why for each in risks_of(ApprovalSettings(), decided(action), seen)}


MODAL = """<h1>Drive</h1><div style='position:fixed;inset:0;background:#0008'>
<div class=modal style='background:#fff;width:300px;margin:60px auto'>%s</div></div>"""
ROOM = "<div role=dialog aria-label='%s'>%s</div>"


@pytest.mark.parametrize(
    ("body", "name", "risks"),
    [
        (MODAL % "<h3>Delete account?</h3><p>All 900 files go.</p><button>Yes</button><button>No</button>", "Yes", {"delete"}),
        (MODAL % "<h3>Delete account?</h3><p>All 900 files go.</p><button>Yes</button><button>No</button>", "No", set()),
        (MODAL % "<p>900 files will be deleted.</p><button>OK, continue</button><button>Back</button>", "OK, continue", {"delete"}),
        (MODAL % "<h3>Konto löschen?</h3><p>Wirklich?</p><button>Ja</button><button>Nein</button>", "Ja", {"delete"}),
        (MODAL % "<h3>Send 900 invitations?</h3><p>Now.</p><button>Sure</button><button>No</button>", "Sure", {"send"}),
        (MODAL % "<h3>Keep this layout?</h3><p>It is new.</p><button>Yes</button><button>No</button>", "Yes", set()),
        (MODAL % "<h3>Cookies</h3><p>We use them to share ads.</p><button>Accept</button><button>No</button>", "Accept", set()),
        (ROOM % ("Checkout", "<p>You will be charged €49.00 now.</p><button>Confirm</button>"), "Confirm", {"pay"}),
        (ROOM % ("Your seats", "<p>Total €49</p><button>OK</button>"), "OK", {"pay"}),
        (ROOM % ("Your seats", "<p>Total €49</p><button>Compare</button>"), "Compare", set()),
        ("<p>Transfer to: Ann</p><button>Send</button>", "Send", {"pay", "send"}),
        ("<p>Message to: Ann</p><button>Send</button>", "Send", {"send"}),
        ("<p>Your account will be deleted.</p><button>Go ahead</button>", "Go ahead", {"delete"}),
        ("<h2>Delete account</h2><section><p>You lose all.</p><button>Continue</button></section>", "Continue", {"delete"}),
        ("<h2>Step 1 of 3</h2><section><p>Your name</p><button>Continue</button></section>", "Continue", set()),
        ("<h2>Delete account</h2><p>You lose all.</p><button>Search</button>", "Search", set()),
        ("<p>You will be charged €49.00 now</p><button>→</button>", "→", {"pay"}),
        ("<h2>Order</h2><p>Total €49.00</p><button>Finish</button>", "Finish", {"pay"}),
        ("<p>You will be charged €49.00 now</p><button>OK, go</button>", "OK, go", {"pay"}),
        ("<p>Your account will be deleted.</p><button>Done</button>", "Done", {"delete"}),
        ("<p>Mug €49.00</p><button>→</button>", "→", set()),
        ("<p>Your name</p><button>Done</button>", "Done", set()),
        ("<p>Your files will be deleted.</p><button>No</button> <button>Yes</button>", "Yes", {"delete"}),
        ("<p>Your files will be deleted.</p><button>Help</button> <button>Yes</button>", "Yes", set()),
    ],
)  # fmt: skip
async def test_a_button_that_only_agrees_is_judged_by_heading_and_words_beside_it(
    page: Page, serve: Any, body: str, name: str, risks: set[str]
) -> None:
    assert await risks_on(page, serve, body, name) == risks


@pytest.mark.parametrize(
    ("body", "risks"),
    [
        ("<button>🗑️</button>", {"delete"}),
        ("<button>💳</button>", {"pay"}),
        ("<button>🛒</button>", set()),
        ("<button><i style='font-family:\"Material Icons\"'>delete_forever</i></button>", {"delete"}),
        ("<button><svg width=20 height=20><title>Bin</title><rect width=20 height=20 /></svg></button>", {"delete"}),
        ("<ul role=menu><li role=menuitem tabindex=0>Bin</li></ul>", {"delete"}),
        ("<a href=/bin>Papierkorb</a>", set()),
        ("<span id=d hidden>Deletes everything permanently</span><button aria-describedby=d>Go</button>", {"delete"}),
        ("<button aria-description='Deletes everything permanently'>Go</button>", {"delete"}),
        ("<a href=/items/5/delete>Item 5</a>", {"delete"}),
        ("<a href='/items?id=5&action=delete'>Item 5</a>", {"delete"}),
        ("<a href=/orders/7f3a9c21-aa/pay>Order 7</a>", {"pay"}),
        ("<a href=/items/5/edit>Item 5</a>", set()),
        ("<a href=/account/delete>Continue</a>", {"delete"}),
        ("<a href=/delete/5>Continue</a>", {"delete"}),
        ("<a href=/cart/pay/>Continue</a>", {"pay"}),
        ("<a href=/deleted-scenes>Film 5</a>", set()),
        ("<a href=/order/123>Order 5</a>", set()),
        ("<a href=/help/account/delete>Help 5</a>", set()),
        ("<a href=/wiki/Delete>Item 5</a>", set()),
        ("<a href=/blog/how-to-delete-your-account>Item 5</a>", set()),
    ],
)
async def test_signs_icons_descriptions_and_addresses_tell_a_risk(
    page: Page, serve: Any, body: str, risks: set[str]
) -> None:
    assert await risks_on(page, serve, body, None) == risks


async def risks_on(page: Page, serve: Any, body: str, name: str | None) -> set[str]:
    """The risks of a click on the mark with this name, or on the only one."""
    seen = await look_at(page, serve({"/": f"<meta charset=utf-8><title>Page</title>{body}"}))
    pressed = [mark for mark in seen.marks if mark.kind in ("button", "link", "guess") and name in (None, mark.name)]
    [mark] = pressed
    return {each.risk for each in risks_of(ApprovalSettings(), decided(Click(target=mark.number)), seen)}
