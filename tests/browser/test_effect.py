"""Claims about what is said to have come of an action."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import SETTINGS, On
from vision_agent.actions import Click, Press, Set, SwitchTab
from vision_agent.policy.success_checks import fault_of_page
from vision_agent.types import SuccessCheck


@pytest.mark.parametrize(
    ("body", "effect", "words"),
    [
        ("<button onclick='document.body.append(`more`)'>Go</button>", "changed", "Clicked"),
        ("<button onclick='setTimeout(() => document.body.append(`late`), 40)'>Go</button>", "changed", "Clicked"),
        ("<a href=/b>Go</a>", "navigated", "The address is now"),
        ("<form action=/><button>Go</button></form>", "navigated", "Clicked"),
        ("<button onclick='location.reload()'>Go</button>", "navigated", "Clicked"),
        ("<a href='/b' target=_blank>Go</a>", "new_tab", "A new tab opened and is shown: tab 2"),
        ("<button onclick='window.open(`/b`)'>Go</button>", "new_tab", "tab 2"),
        (
            "<button onclick='alert(`Saved`)'>Go</button>",
            "dialog",
            'A dialog of type alert said "Saved" and was dismissed',
        ),
        ("<button onclick='setTimeout(() => confirm(`Sure?`), 30)'>Go</button>", "dialog", 'confirm said "Sure?"'),
        ("<a download=x.txt href='data:text/plain,hi'>Go</a>", "download", 'A download started: "x.txt"'),
    ],
)
async def test_the_outcome_says_what_came_of_a_click(on: On, body: str, effect: str, words: str) -> None:
    async with on(body, {"/b": "<title>B</title><p>This is B</p>"}) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert (outcome.status, outcome.effect) == ("done", effect), outcome.sentence
        assert words in outcome.sentence
        assert outcome.seconds < 30
        await hand.look()


async def test_a_click_that_changed_nothing_says_so_and_names_the_nearest(on: On) -> None:
    async with on(
        "<style>button{outline:0!important}</style><div onclick='1' style='width:99px'>Dead</div><br><button>Real</button>"
    ) as hand:
        outcome = await hand.act(Click(target=hand.number("Dead")))
        assert outcome.effect == "no_effect"
        assert outcome.sentence == 'Clicked mark 1 (div "Dead"). Nothing changed; nearest is mark 2 (button "Real").'


async def test_the_nearest_of_one_name_are_told_with_what_tells_them_apart(on: On) -> None:
    rows = "".join(f"<tr><td>{who}</td><td><button>Cancel</button></td></tr>" for who in ("Ann", "Bob"))
    async with on(f"<div onclick='1' style='width:99px'>Dead</div><table>{rows}</table>") as hand:
        outcome = await hand.act(Click(target=hand.number("Dead")))
        assert 'mark 2 (button "Cancel") ‹Ann›, mark 3 (button "Cancel") ‹Bob›.' in outcome.sentence


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [("Inbox", "Sent", "changed"), ("(3) Inbox", "(12) Inbox", "no_effect"), ("Inbox", "(1) Inbox", "no_effect")],
)
async def test_another_title_is_a_change_and_a_counter_in_it_is_none(
    on: On, before: str, after: str, effect: str
) -> None:
    body = f"<title>{before}</title><button onclick='document.title = `{after}`'>Go</button>"
    async with on(body) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert outcome.effect == effect, outcome.sentence
        assert (f'The title is now "{after}"' in outcome.sentence) == (effect == "changed")


@pytest.mark.thorough
async def test_a_page_that_hangs_after_the_click_is_told_within_the_deadlines(on: On) -> None:
    async with on(
        "<button onclick='setTimeout(() => { while (true); })'>Go</button>",
        settings=SETTINGS.model_copy(update={"action_deadline_s": 2}),
    ) as hand:
        outcome = await hand.act(Click(target=1))
        assert outcome.refusal == "timed_out"
        assert outcome.sentence.endswith("but the page has not answered since. Look again before repeating it.")
        assert outcome.seconds < 30


SMALL_TEXT = "<style>body{font:14px sans-serif}button{border:0;background:#205080;color:#fff;height:34px}</style>"


@pytest.mark.parametrize(
    ("shown", "does"),
    [
        ("Cart: <span id=n>0</span>", "n.textContent = 1"),
        ("Cart: <span id=n>0</span>", "n.firstChild.data = 1"),
        ("Cart: <span id=n>0</span>", "n.innerHTML = 1"),
        ("<span id=n>Some text</span>", "n.textContent = 'Some tex.'"),
        ("<span id=n>I</span>", "n.textContent = 'l!'"),
    ],
)
async def test_one_letter_that_changed_is_an_effect(on: On, shown: str, does: str) -> None:
    async with on(f'{SMALL_TEXT}<p>{shown}</p><button onclick="{does}">Add to cart</button>') as hand:
        outcome = await hand.act(Click(target=1))
        assert outcome.effect == "changed", outcome.sentence


async def test_a_count_that_only_clicks_change_is_still_an_effect_after_many_clicks(on: On) -> None:
    body = f"{SMALL_TEXT}<p>In the cart: <span id=n>0</span></p><button onclick='n.textContent++'>Add</button>"
    async with on(body) as hand:
        for _ in range(30):
            await hand.page.click("button")
        await hand.look()
        outcome = await hand.act(Click(target=1))
        assert outcome.effect == "changed", outcome.sentence
        assert await hand.js("n.textContent") == "31"


@pytest.mark.parametrize(
    "ticks",
    [
        "n.textContent = new Date().toTimeString().slice(0, 8)",
        "n.textContent = `${(9999 - performance.now()) / 1000 | 0} s left`",
        "n.textContent = 1000 + performance.now() / 100 | 0",
        "n.firstChild.data = 'abcdefgh'[performance.now() / 100 % 8 | 0]",
    ],
)
async def test_a_text_that_changes_by_itself_is_no_effect_of_a_click(on: On, ticks: str) -> None:
    body = f"{SMALL_TEXT}<p><span id=n>x</span></p><button>Dead</button><script>setInterval(() => {{ {ticks} }}, 100)</script>"
    async with on(body) as hand:
        await hand.js("new Promise(then => setTimeout(then, 800))")
        await hand.look()
        outcome = await hand.act(Click(target=1))
        assert outcome.effect == "no_effect", outcome.sentence


async def test_a_toggle_that_looks_the_same_under_the_pointer_is_told_to_have_reacted(on: On) -> None:
    like = "<style>i{display:inline-block;width:20px;height:20px;background:#ccc} i:hover,i.active{background:#39f}</style>"
    body = like + "<i id=a aria-label=Like onclick=\"this.classList.toggle('active')\" style='cursor:pointer'></i>"
    async with on(body) as hand:
        await hand.act(Click(target=hand.number("Like")))
        await hand.look()
        outcome = await hand.act(Click(target=hand.number("Like")))
        assert await hand.js("a.className") == ""
        assert "Nothing looks different, but the page changed something" in outcome.sentence


async def test_a_link_that_leads_another_tab_on_says_which(on: On) -> None:
    body = "<a href=/a target=side>Open A</a> <a href=/b target=side>Open B</a>"
    async with on(body, pages={"/a": "<h1>A", "/b": "<h1>B"}) as hand:
        assert (await hand.act(Click(target=hand.number("Open A")))).effect == "new_tab"
        await hand.look()
        await hand.act(SwitchTab(tab=1))
        await hand.look()
        outcome = await hand.act(Click(target=hand.number("Open B")))
        assert f"tab 2 now shows {hand.address}/b" in outcome.sentence


async def test_a_field_whose_row_is_sorted_away_is_not_said_to_hold_what_another_row_has(on: On) -> None:
    body = """<table id=t><tr><td>Ann</td><td><input aria-label=Rank value=3></td></tr><tr><td>Bob</td><td><input aria-label=Rank value=2></td></tr></table><script>
    const [one, other] = t.rows;
    other.querySelector('input').onchange = (e) => { window.set = e.target.value; setTimeout(() => {
      one.cells[0].textContent = 'Bob'; other.cells[0].textContent = 'Ann';
      one.querySelector('input').value = set; e.target.value = 3; }); };</script>"""
    async with on(body) as hand:
        fields = [mark.number for mark in hand.seen.marks if mark.name == "Rank"]
        outcome = await hand.act(Set(mark=fields[1], value="9"))
        assert await hand.js("set") == "9"
        assert 'changed from "Bob" to "Ann"' in outcome.sentence
        assert "The field now holds" not in outcome.sentence


async def test_keys_that_a_button_gets_because_it_has_the_focus_name_it(on: On) -> None:
    async with on("<button id=b onclick='document.title = `Done`'>Delete</button>") as hand:
        await hand.js("b.focus()")
        await hand.look()
        outcome = await hand.act(Press(keys="Enter"))
        assert outcome.sentence.startswith('Pressed Enter on mark 1 (button "Delete"), which had the focus.')


FIELD = "<input id=q value=1 size=2 aria-label=Pieces>"
BOX = "<input type=checkbox id=q aria-label=All style='position:absolute;opacity:0'>"
LIST = "<select id=q aria-label=Size><option value=1>One<option value=2>One<option value=3>Two</select>"
SHADOW = (
    "<div id=q></div><script>q.attachShadow({mode: 'open'}).innerHTML = `<input value=1 aria-label=Pieces>`</script>"
)
SCROLLER = "<div id=q style='height:90px;overflow:auto;scrollbar-width:none'><p style='height:900px'></div>"
SETS = "Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(q, 2)"
FAR = "<div style='height:3000px'></div>"


@pytest.mark.parametrize(
    ("body", "does", "says"),
    [
        (FIELD, SETS, 'Mark 3 (textbox "Pieces") now holds "2".'),
        (f"{FAR}{FIELD}", "q.value = 2", 'The textbox "Pieces" now holds "2".'),
        (BOX, "q.indeterminate = true", 'Mark 3 (checkbox "All") is now partly ticked.'),
        (LIST, "q.selectedIndex = 1", 'Mark 3 (combobox "Size") has another option chosen.'),
        (f"{FAR}{LIST}", "q.selectedIndex = 2", 'The combobox "Size" now shows "Two".'),
        ("<input type=password id=q value=a>", "q.value = 'b'", "Mark 3 (textbox) holds something else."),
        (SHADOW, "q.shadowRoot.firstChild.value = 2", 'Mark 3 (textbox "Pieces") now holds "2".'),
        (FAR, "window.scrollTo(0, 300)", "The page was scrolled down."),
        (SCROLLER, "q.scrollTop = 90", "A part of the page was scrolled."),
    ],
)
async def test_what_hardly_shows_is_an_effect_and_the_next_click_has_none(
    on: On, body: str, does: str, says: str
) -> None:
    buttons = f'<div style="position:fixed"><button onclick="{does}">Go</button><button>Dead</button></div><br><br>'
    async with on(buttons + body) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert (outcome.effect, outcome.sentence) == ("changed", f'Clicked mark 1 (button "Go"). {says}')
        await hand.look()
        outcome = await hand.act(Click(target=hand.number("Dead")))
        assert outcome.effect == "no_effect", outcome.sentence


async def test_the_check_of_an_address_does_not_hold_on_a_page_that_came_with_an_error(on: On) -> None:
    check = SuccessCheck(url="*/nowhere*")
    async with on("<p>x</p>", {"/nowhere-else": "<p>here</p>"}) as hand:
        await hand.js("location.href = '/nowhere'")
        await hand.page.wait_for_url("**/nowhere")
        seen = await hand.look()
        assert (seen.status, fault_of_page([check], seen)) == (
            404,
            "the address must be */nowhere* and show its page, and the page answered 404",
        )
        await hand.js("location.href = '/nowhere-else'")
        await hand.page.wait_for_url("**/nowhere-else")
        assert fault_of_page([check], await hand.look()) == ""
