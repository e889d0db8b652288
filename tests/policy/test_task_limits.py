"""Claims about the limits on a whole task: a page cannot widen them, and a person can."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.loopback import Handler, LoopbackServer
from tests.supervise.proposals import mark, seen
from vision_agent import Agent
from vision_agent.actions import Click
from vision_agent.errors import UsageError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation
from vision_agent.policy import task_limits
from vision_agent.policy.approval import Answers, risks_taken
from vision_agent.policy.spending import pays
from vision_agent.record.read import read
from vision_agent.settings import ApprovalSettings, ModelSettings, Settings
from vision_agent.text.money import Money
from vision_agent.types import Choice, Decision, Limits, Outcome, Risky, Run, Task

FORM = "<form method=post action=/sent><input name=note aria-label=Note><button>Send form</button></form>"
GET_FORM = "<form action=/sent><input name=note aria-label=Note><button>Send form</button></form>"
FETCHED = """<form onsubmit="event.preventDefault(); fetch('/sent', {method: 'POST'}).then(() => said.value = 'sent')">
<input aria-label=Note><button>Send form</button></form><output id=said></output>"""
SCRIPT = FORM + "<button type=button onclick='document.forms[0].submit()'>By script</button>"
ONCE = "<p>Mug €9</p><button onclick=\"fetch('/sent', {method: 'POST'})\">Pay now</button>"
BEACON = FORM.replace("method=post", "onsubmit='event.preventDefault(); navigator.sendBeacon(`/sent`)'")
PLAIN = "<button onclick='said.value = `pressed`'>Press</button><a href=/>Home</a><output id=said></output>"


class Site:
    """A site that counts what was sent to `/sent`, and shows one page everywhere."""

    def __init__(self, body: str) -> None:
        sent = self.sent = list[str]()

        class Pages(Handler):
            def do_GET(self) -> None:
                if self.path.startswith("/sent"):
                    sent.append(self.command)
                if length := int(self.headers.get("Content-Length") or 0):
                    self.rfile.read(length)
                self.answer(f"<title>Form</title>{body}")

            def do_POST(self) -> None:
                self.do_GET()

        self.server = LoopbackServer(Pages)
        self.address = f"{self.server.address}/"


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    site = Site(request.param)
    with site.server:
        yield site


async def run(
    page: Page, site: Site, folder: Path, *lines: str, ask: Any = None, **task: Any
) -> tuple[Run, list[Outcome]]:
    settings = Settings(
        runs=folder,
        model=ModelSettings(name="steps"),
        approval=ApprovalSettings(ask="risky" if ask else "never", risks=()),
    )
    agent = Agent(
        Task(goal="Try", start_url=site.address, **task),
        model=StepsModel([*lines, "finish"]),
        page=page,
        settings=settings,
        approver=Answers(ask) if ask else None,
    )
    run = await agent.run()
    return run, [outcome for step in run.steps for outcome in step.outcomes]


def recorded_task(runs: Path) -> dict[str, Any]:
    task: dict[str, Any] = json.loads(next(runs.glob("*/run.json")).read_text("utf-8"))["task"]
    return task


def has_runs(runs: Path) -> bool:
    return any(runs.iterdir())


def used_on_record(runs: Path) -> task_limits.Used:
    run = read(next(runs.iterdir()))
    return task_limits.used_in(run.task, run.steps)


@pytest.mark.parametrize(
    ("site", "line"),
    [
        (FORM, "click Send form"),
        (FORM, 'type "a" into Note and press Enter'),
        (GET_FORM, "click Send form"),
        (FETCHED, "click Send form"),
        (SCRIPT, "click By script"),
        (BEACON, "click Send form"),
    ],
    indirect=["site"],
)
async def test_a_form_is_counted_however_it_is_sent_and_no_more_are_submitted_than_allowed(
    page: Page, site: Site, tmp_path: Path, line: str
) -> None:
    _, outcomes = await run(page, site, tmp_path, line, "click Send form", limits=Limits(submits=1))
    assert len(site.sent) == 1
    refused = outcomes[1]
    assert (refused.status, refused.refusal) == ("refused", "blocked")
    assert "it may submit a form, and the task's limit on submitted forms (1) is reached" in refused.sentence
    assert recorded_task(tmp_path)["limits"]["submits"] == 1


@pytest.mark.parametrize(
    ("site", "line", "limits", "why"),
    [
        (FORM, "press Enter 3 times in Note", Limits(submits=2), "it may submit a form 3 times, and the task's limit"),
        (FORM, "double click Send form", Limits(submits=1), "on submitted forms (1) leaves 1"),
        (ONCE, "press Space 3 times in Pay now", Limits(spend=Money("26 EUR")), "it may pay 27 EUR with 3 presses"),
        (ONCE, "double click Pay now", Limits(spend=Money("10 EUR")), "it may pay 18 EUR with 2 presses"),
    ],
    indirect=["site"],
)
async def test_each_press_of_an_act_counts(
    page: Page, site: Site, tmp_path: Path, line: str, limits: Limits, why: str
) -> None:
    _, outcomes = await run(page, site, tmp_path, line, limits=limits)
    assert (site.sent, outcomes[0].status) == ([], "refused")
    assert why in outcomes[0].sentence


@pytest.mark.parametrize("site", [ONCE], indirect=True)
async def test_what_several_presses_paid_is_counted(page: Page, site: Site, tmp_path: Path) -> None:
    lines = ("press Space 3 times in Pay now", "click Pay now")
    done, outcomes = await run(page, site, tmp_path, *lines, limits=Limits(spend=Money("30 EUR")))
    assert len(site.sent) == 3
    assert "it may pay 9 EUR after 27 before" in outcomes[1].sentence
    assert task_limits.used_in(done.task, done.steps).money == Decimal(27)


@pytest.mark.parametrize("site", [FORM], indirect=True)
async def test_what_goes_beyond_the_limits_is_done_if_a_person_approves_it(
    page: Page, site: Site, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def ask(task: Task, seen: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice:
        asked.extend(each.why for each in risks if each.risk == "beyond")
        return Choice(kind="approve")

    await run(page, site, tmp_path, "click Send form", ask=ask, limits=Limits(submits=0))
    assert len(site.sent) == 1
    assert asked == ["it may submit a form, and the task's limit on submitted forms (0) is reached"]


@pytest.mark.parametrize("site", [PLAIN], indirect=True)
async def test_only_the_allowed_actions_are_carried_out_and_what_only_looks(
    page: Page, site: Site, tmp_path: Path
) -> None:
    lines = ("scroll down", "click Press", f"go to {site.address}?x")
    _, outcomes = await run(page, site, tmp_path, *lines, allowed_actions=("click",))
    assert [outcome.status for outcome in outcomes[:3]] == ["done", "done", "refused"]
    assert "goto was not done: the task allows only click, and actions that only look" in outcomes[2].sentence


@pytest.mark.parametrize("site", [PLAIN], indirect=True)
async def test_an_action_to_allow_that_does_not_exist_is_named_before_anything_is_done(
    page: Page, site: Site, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="There is no action 'clik' to allow"):
        await run(page, site, tmp_path, "click Press", allowed_actions=("clik",))
    assert not has_runs(tmp_path)


SHOP = """<h1>Shop</h1><p>Sofa, was 900,00 €</p>
<form method=post action=/sent aria-label=Order><h2>Your order</h2>
<p>Mug, enamelled</p><p>Total: <b>14,00&nbsp;€</b></p>
<label>Name <input name=who></label><button>Pay now</button></form>"""
ROWS = """<ul><li>Cup 3.50 EUR <button onclick="fetch('/sent', {method: 'POST'})">Buy</button>
<li>Pot 1.234,50 € <button onclick="fetch('/sent', {method: 'POST'})">Buy</button></ul>"""
DOLLARS = SHOP.replace("14,00&nbsp;€", "$14.00")
NOTHING = "<form method=post action=/sent><button>Pay now</button></form>"
ON_PAGE = "<p>Total 14 EUR</p><hr><section><form method=post action=/sent><button>Pay now</button></form></section>"
DIALOG = """<p>Sofa 900 EUR</p><dialog open aria-label="Confirm"><p>Pay 14 EUR to Bob?</p>
<button onclick="fetch('/sent', {method: 'POST'})">Yes</button></dialog>"""
CARD = """<form method=post action=/sent><p>14 EUR</p><label>Card number <input name=c></label>
<button>Continue</button></form>"""
LEADS = """<p>Basket: 14 EUR</p><a href="/?checkout">Checkout</a>
<form method=post action=/sent><button>Pay 14 EUR</button></form>"""
PAID = "<form method=post action=/sent><h2>Pay €14</h2>%s<button>Pay €14 now</button></form>"
SEARCHES = PAID % "<input type=search name=n aria-label=Name>"
CARDS = "<select %s aria-label=Card name=c><option>-<option>Visa</select>"
BY_CHANGE = PAID % (CARDS % 'onchange="this.form.submit()"')
BY_CLICK = PAID % '<label><input type=radio onclick="this.form.submit()" name=c>Visa</label>'
LISTENED = PAID % (CARDS % "id=card") + "<script>card.addEventListener('change', () => card.form.submit())</script>"
COUNTED = "<form method=post action=/sent><table><tr><td>Mug<td>%s</table><button>Pay now</button></form>"
LOGIN = "<p>Sofa 900 EUR</p><form method=post action=/sent><input name=n aria-label=Name><button>Log in</button></form>"


@pytest.mark.parametrize(
    ("site", "spend", "line", "why"),
    [
        (SHOP, "14 EUR", "click Pay now", ""),
        (SHOP, "13.99 EUR", "click Pay now", "it may pay 14 EUR, and at most 13.99 EUR may be spent"),
        (SHOP, "13 EUR", 'type "a" into Name and press Enter', "it may pay 14 EUR, and at most 13 EUR may be spent"),
        (SHOP, "99 CHF", "click Pay now", "an amount that is not in CHF is beside it: 14,00 €; at most 99 CHF"),
        (DOLLARS, "99 EUR", "click Pay now", "an amount that is not in EUR is beside it: $14.00; at most 99 EUR"),
        (NOTHING, "99 EUR", "click Pay now", "it may pay, and no amount in EUR is shown; at most 99 EUR may be spent"),
        (ON_PAGE, "14 EUR", "click Pay now", ""),
        (ON_PAGE, "13 EUR", "click Pay now", "it may pay 14 EUR"),
        (ROWS, "5 EUR", "click Buy in row Cup", ""),
        (ROWS, "5 EUR", "click Buy in row Pot", "it may pay 1234.5 EUR, and at most 5 EUR may be spent"),
        (DIALOG, "14 EUR", "click Yes", ""),
        (DIALOG, "13 EUR", "click Yes", "it may pay 14 EUR"),
        (CARD, "13 EUR", "click Continue", "it may pay 14 EUR"),
        (LOGIN, "0 EUR", "click Log in", ""),
        (COUNTED % "3 × €9", "26 EUR", "click Pay now", "it may pay 27 EUR"),
        (COUNTED % "€9 × 100", "899 EUR", "click Pay now", "it may pay 900 EUR"),
        (SEARCHES, "13 EUR", 'type "a" into Name and press Enter', "it may pay 14 EUR"),
        (BY_CHANGE, "13 EUR", "select Visa in Card", "it may pay 14 EUR"),
        (BY_CLICK, "13 EUR", "check Visa", "it may pay 14 EUR"),
    ],
    indirect=["site"],
)
async def test_what_an_act_pays_is_read_beside_it_and_held_against_what_may_be_spent(
    page: Page, site: Site, tmp_path: Path, spend: str, line: str, why: str
) -> None:
    _, outcomes = await run(page, site, tmp_path, line, limits=Limits(spend=Money(spend)))
    assert len(site.sent) == (0 if why else 1), outcomes[0]
    assert why in outcomes[0].sentence
    assert outcomes[0].refusal == ("blocked" if why else None)
    assert recorded_task(tmp_path)["limits"]["spend"] == spend


SEND = """<button onclick="fetch('/sent', {method: 'POST'})">%s</button>"""
SUBSCRIBE = "<form method=post action=/sent><button>Subscribe – €9.99/month</button></form>"
TOTAL = "<p>Sofa €900</p><p>Total: €120.00</p>"
FINISH = TOTAL + SEND % "Finish order"
CONFIRM = TOTAL + SEND % "Confirm"
CONTINUE = f"{TOTAL}<form method=post action=/sent><input name=n aria-label=Name><button>Continue</button></form>"
APART = """<div style="display: flex"><div>Subtotal<br>Total</div><div>€110.00<br>€120.00</div></div>
<form method=post action=/sent><button>Continue</button></form>"""
DUE_DOLLARS = "<p>Amount due: $9</p><form method=post action=/sent><button>Continue</button></form>"
CART = """<form method=post action=/sent><p>Total: 120 EUR</p><button>Remove</button></form>"""


@pytest.mark.parametrize(
    ("site", "spend", "line", "why"),
    [
        (SUBSCRIBE, "1 EUR", "click Subscribe – €9.99/month", "it may pay 9.99 EUR, and at most 1 EUR may be spent"),
        (SUBSCRIBE, "10 EUR", "click Subscribe – €9.99/month", ""),
        (FINISH, "10 EUR", "click Finish order", "and at most 10 EUR may be spent"),
        (CONFIRM, "10 EUR", "click Confirm", "and at most 10 EUR may be spent"),
        (SEND % "Confirm", "10 EUR", "click Confirm", ""),
        (CONTINUE, "10 EUR", "click Continue", "it may pay 120 EUR, and at most 10 EUR may be spent"),
        (CONTINUE, "10 EUR", 'type "a" into Name and press Enter', "it may pay 120 EUR, and at most 10 EUR"),
        (CONTINUE, "120 EUR", "click Continue", ""),
        (APART, "10 EUR", "click Continue", "it may pay 120 EUR, and at most 10 EUR may be spent"),
        (
            DUE_DOLLARS,
            "10 EUR",
            "click Continue",
            "an amount that is not in EUR is beside the total: $9; at most 10 EUR",
        ),
        (CART, "10 EUR", "click Remove", ""),
    ],
    indirect=["site"],
)
async def test_an_amount_in_a_button_and_a_stated_total_are_held_against_what_may_be_spent(
    page: Page, site: Site, tmp_path: Path, spend: str, line: str, why: str
) -> None:
    _, outcomes = await run(page, site, tmp_path, line, limits=Limits(spend=Money(spend)))
    assert len(site.sent) == (0 if why else 1), outcomes[0]
    assert why in outcomes[0].sentence
    assert outcomes[0].refusal == ("blocked" if why else None)


@pytest.mark.parametrize(
    "name",
    [
        "Upgrade to Premium for €9.99/month", "Start subscription", "Renew (12,00 €)", "Book for €80",
        "Send €50 to Bob", "Start my free trial, then €9.99", "1-Click", "Confirm and authorise", "Finish order",
    ],
)  # fmt: skip
def test_an_offer_beyond_what_may_be_spent_is_not_pressed(name: str) -> None:
    task = Task(goal="Try", limits=Limits(spend=Money("1 EUR")))
    why = task_limits.limit_exceeded(task, Click(target=9), seen(mark(9, name)), task_limits.Used())
    assert why.startswith("it may pay")


@pytest.mark.parametrize("site", [CONTINUE], indirect=True)
async def test_what_only_leads_on_beside_a_total_is_not_added_up(page: Page, site: Site, tmp_path: Path) -> None:
    lines = ("click Continue", "click Continue")
    done, _ = await run(page, site, tmp_path, *lines, limits=Limits(spend=Money("130 EUR")))
    assert len(site.sent) == len(lines)
    assert task_limits.used_in(done.task, done.steps).money == 0


@pytest.mark.parametrize("site", [SHOP], indirect=True)
async def test_what_was_spent_is_added_up_and_counts_from_the_record(page: Page, site: Site, tmp_path: Path) -> None:
    task = {"limits": Limits(spend=Money("30 EUR"))}
    done, outcomes = await run(page, site, tmp_path, "click Pay now", "click Pay now", "click Pay now", **task)
    assert len(site.sent) == 2
    assert "it may pay 14 EUR after 28 before, and at most 30 EUR may be spent" in outcomes[2].sentence
    assert task_limits.used_in(done.task, done.steps) == task_limits.Used(0, Decimal(28))
    assert used_on_record(tmp_path) == task_limits.Used(0, Decimal(28))


@pytest.mark.parametrize("site", [LISTENED], indirect=True)
async def test_a_form_that_a_script_sends_at_a_choice_is_said_and_counts_as_spent(
    page: Page, site: Site, tmp_path: Path
) -> None:
    lines = ("select Visa in Card", "click Pay €14 now")
    done, outcomes = await run(page, site, tmp_path, *lines, limits=Limits(spend=Money("20 EUR")))
    assert "a form was sent" in outcomes[0].sentence
    assert "it may pay 14 EUR after 14 before" in outcomes[1].sentence
    assert task_limits.used_in(done.task, done.steps).money == Decimal(14)


@pytest.mark.parametrize("site", [NOTHING], indirect=True)
async def test_after_a_payment_of_an_unknown_amount_a_person_is_asked_about_each(
    page: Page, site: Site, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def ask(task: Task, seen: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice:
        asked.extend(each.why for each in risks if each.risk == "beyond")
        return Choice(kind="approve")

    pays = ("click Pay now", "click Pay now")
    done, _ = await run(page, site, tmp_path, *pays, ask=ask, limits=Limits(spend=Money("30 EUR")))
    assert len(site.sent) == len(asked) == len(pays)
    assert task_limits.used_in(done.task, done.steps).money is None


@pytest.mark.parametrize("site", [LEADS], indirect=True)
async def test_a_link_to_the_checkout_is_held_to_the_limit_and_spends_nothing(
    page: Page, site: Site, tmp_path: Path
) -> None:
    lines = ("click Checkout", "click Pay 14 EUR")
    done, outcomes = await run(page, site, tmp_path, *lines, limits=Limits(spend=Money("20 EUR")))
    assert [each.status for each in outcomes[:2]] == ["done", "done"]
    assert task_limits.used_in(done.task, done.steps).money == Decimal(14)


def test_continue_in_a_checkout_is_asked_about_and_does_not_count_as_spent() -> None:
    marks = (mark(1, "Continue"), mark(2, "Confirm"))
    page = seen(*(each.model_copy(update={"heading": "Checkout"}) for each in marks))
    for number, is_payment in ((1, False), (2, True)):
        click = Click(target=number)
        assert "pay" in risks_taken(click, page)
        assert pays(click, page) == is_payment
