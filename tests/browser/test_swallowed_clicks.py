"""Claims about a click that went to what the press itself had brought over its target."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click

COVER = """<script>const did = [], cover = (html) => {
  const over = document.body.appendChild(document.createElement('div'));
  over.style.cssText = 'position:fixed;inset:0;background:#fffd';
  over.innerHTML = html;
}; const pay = document.querySelector('#all > *');</script>"""
PAY = f"<div id=all><button>Pay</button></div>{COVER}"
PAYS = "pay.addEventListener('click', () => did.push('paid'));"
WAIT = "cover('Please wait')"


@pytest.mark.parametrize(
    "body",
    [
        f"{PAY}<script>pay.addEventListener('pointerdown', () => {WAIT}); {PAYS}</script>",
        f"{PAY}<script>document.body.addEventListener('pointerdown', () => {WAIT}); {PAYS}</script>",
        f"{PAY}<script>all.onpointerdown = () => {WAIT}; all.onclick = () => did.push('paid')</script>",
        f"<form id=all onsubmit='did.push(1); return false'><button>Pay</button></form>{COVER}"
        f"<script>pay.onpointerdown = () => {WAIT}</script>",
        f"<div id=all><a href='#paid'>Pay</a></div>{COVER}<script>pay.onpointerdown = () => {WAIT}</script>",
    ],
    ids=["by the button", "by the page", "by what hears for all in it", "a form", "a link"],
)
async def test_a_click_that_went_to_a_notice_opened_by_the_press_is_not_said_to_be_done(on: On, body: str) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert (outcome.status, outcome.refusal) == ("partial", "covered"), outcome.sentence
        assert 'button "Pay") was pressed, but not clicked' in outcome.sentence.replace("link", "button")
        assert "only pointerdown and mousedown reached it" in outcome.sentence
        assert "Please wait" in outcome.sentence
        assert await hand.js("[did.length, location.hash]") == [0, ""]


@pytest.mark.parametrize(
    "script",
    [
        "pay.onmousedown = () => { did.push('paid'); cover('Paid') }",
        f"{PAYS} pay.onpointerdown = () => {{ did.push(1); cover('<ul role=menu><li role=menuitem>By card</ul>') }}",
        f"{PAYS} pay.onpointerdown = () => {{ did.push(1); pay.ariaExpanded = 'true'; cover('By card') }}",
        f"{PAYS} pay.onpointerdown = () => {{ did.push(1); pay.textContent = 'Paid'; cover('Thank you') }}",
    ],
    ids=["waits for no click", "opened a menu", "became expanded", "became another"],
)
async def test_a_press_that_was_acted_on_is_done_though_its_click_went_elsewhere(on: On, script: str) -> None:
    async with on(f"{PAY.replace('<button', '<button aria-expanded=false')}<script>{script}</script>") as hand:
        outcome = await hand.act(Click(target=hand.number("Pay")))
        assert outcome.status == "done", outcome.sentence
        assert "reached it, then" in outcome.sentence
        assert len(await hand.js("did")) == 1


DAY = """<label>Day <input id=day readonly></label><div id=over>{}</div><style>
@keyframes down {{ from {{ opacity: 0; transform: translateY(-20px) }} }} #over.open {{ display: block }}
#over {{ display: none; position: absolute; left: 8px;
  width: 240px; height: 90px; background: #fff; {} }}</style><script>
over.style.top = day.getBoundingClientRect().bottom + 2 + 'px';
day.addEventListener('mousedown', () => over.className = 'open');
day.addEventListener('click', () => document.title += 'x')</script>"""
DAYS = "<span tabindex=-1>1</span> <span tabindex=-1>2</span> <span tabindex=-1>3</span>"
SLIDES = "animation: down 1s"


async def test_a_calendar_that_slides_over_its_field_on_its_way_is_opened(on: On) -> None:
    async with on(DAY.format(DAYS, SLIDES)) as hand:
        outcome = await hand.act(Click(target=hand.number("Day")))
        assert outcome.status == "done", outcome.sentence
        assert "reached it, then" in outcome.sentence


@pytest.mark.parametrize(
    ("content", "style"),
    [("Please wait", SLIDES), ("Saved <button>Undo</button>", SLIDES), (DAYS, "transform: translateY(-20px)")],
    ids=["a notice that slides", "a notice with one button", "choices that stay over it"],
)
async def test_what_slides_over_a_field_and_is_no_list_beside_it_swallows_its_click(
    on: On, content: str, style: str
) -> None:
    async with on(DAY.format(content, style)) as hand:
        outcome = await hand.act(Click(target=hand.number("Day")))
        assert (outcome.status, outcome.refusal) == ("partial", "covered"), outcome.sentence
