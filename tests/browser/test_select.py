"""Claims about lists, the browser's own and those pages make: the option that was meant is chosen, wherever it is drawn."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Select

LISTS = """<select id=s aria-label=Size><option>Small<option>Large<option value=x>Extra  large</select>
<select id=m multiple aria-label=Toppings><option>Ham<option>Corn<option>Figs</select><div role=combobox tabindex=0 aria-label=Own>x</div>"""


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("Size", ("Large",), "Large"),
        ("Size", ("extra large",), "Extra large"),
        ("Toppings", ("Ham", "Figs"), "Ham, Figs"),
    ],
)
async def test_options_are_chosen_by_the_text_they_show(
    on: On, name: str, options: tuple[str, ...], value: str
) -> None:
    async with on(LISTS) as hand:
        outcome = await hand.act(Select(target=hand.number(name), options=options))
        assert (outcome.value, outcome.effect) == (value, "changed")


async def test_an_option_far_down_a_long_list_can_be_chosen(on: On) -> None:
    many = "".join(f"<option>Land {n}" for n in range(250))
    async with on(f"<select aria-label=Country>{many}</select>") as hand:
        assert (await hand.act(Select(target=hand.number("Country"), options=("Land 240",)))).value == "Land 240"


async def test_an_option_that_is_not_there_is_refused_with_what_is(on: On) -> None:
    async with on(LISTS) as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Tiny",)))
        assert outcome.refusal == "not_an_option"
        assert outcome.sentence.endswith('has no option "Tiny"; it offers "Small", "Large", "Extra large".')


async def test_two_options_with_the_same_words_are_ambiguous(on: On) -> None:
    body = "<select aria-label=Size><option>-<option value=1>Large<option value=2>Large</select>"
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Large",)))
        assert outcome.refusal == "ambiguous"


async def test_what_the_listing_shows_of_an_option_is_what_select_takes(on: On) -> None:
    body = """<select aria-label=Size><option>-<option>a|b<option>12" wide<option>Large</select>"""
    async with on(body) as hand:
        line = next(each for each in hand.seen.listing.splitlines() if "Size" in each)
        offered = line.partition('options="')[2].partition('"')[0].split("|")
        assert len(offered) == 4, line
        for shown, value in zip(offered[1:], ("a|b", '12" wide', "Large"), strict=True):
            outcome = await hand.act(Select(target=hand.number("Size"), options=(shown,)))
            assert (outcome.status, outcome.value) == ("done", value), outcome.sentence
            await hand.look()


async def test_options_of_two_groups_with_the_same_words_are_told_apart_by_their_groups(on: On) -> None:
    body = """<select aria-label=Size id=s><optgroup label=Shirts><option>Small<option value=1>Large</optgroup>
    <optgroup label=Shoes><option value=2>Large<option>Wide</optgroup></select>"""
    async with on(body) as hand:
        assert 'options="Small|Shirts › Large|Shoes › Large|Wide"' in hand.seen.listing
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Shoes › Large",)))
        assert (outcome.status, outcome.value) == ("done", "Shoes › Large"), outcome.sentence
        assert await hand.js("s.value") == "2"
        await hand.look()
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Large",)))
        assert outcome.refusal == "not_an_option"
        assert '"Shirts › Large", "Shoes › Large"' in outcome.sentence


async def test_what_opens_nothing_offers_nothing(on: On) -> None:
    async with on(LISTS) as hand:
        assert (await hand.act(Select(target=hand.number("Own"), options=("x",)))).refusal == "unsupported"


PORTAL = """<button id=b aria-haspopup=listbox aria-expanded=false>Pick a fruit</button><button>Plum</button><p id=log></p><script>
b.onclick = () => {
    const box = document.body.appendChild(document.createElement('div'));
    box.setAttribute('role', 'listbox');
    box.style.cssText = 'position:absolute;left:300px;top:200px;width:200px;height:HEIGHT;overflow:auto;background:#fff;border:1px solid';
    for (const name of NAMES) {
        const option = box.appendChild(document.createElement('div'));
        option.setAttribute('role', 'option');
        option.textContent = name;
        option.style.height = '24px';
        option.onclick = () => { b.textContent = name; log.textContent += name; box.remove(); };
    }
};</script>"""
SHORT = PORTAL.replace("NAMES", "['Apple', 'Plum', 'Fig']").replace("HEIGHT", "auto")
LONG = PORTAL.replace("NAMES", "Array.from({length: 60}, (_, i) => `Fruit ${i}`)").replace("HEIGHT", "120px")
TYPED = """<input role=combobox id=c aria-label=City aria-expanded=false><ul id=u role=listbox></ul><p id=log></p><script>
c.oninput = () => { u.innerHTML = ''; if (c.value.length < 2) return;
    for (const name of ['Bern', 'Berlin', 'Bergen'].filter((each) => each.startsWith(c.value))) {
        const li = u.appendChild(document.createElement('li')); li.role = 'option'; li.textContent = name; li.tabIndex = -1;
        li.onclick = () => { c.value = name; log.textContent = name; u.innerHTML = ''; };
    } };</script>"""
PLAIN = """<div id=s tabindex=0 onclick="this.nextElementSibling.hidden = false" style="width:120px;border:1px solid">Choose</div>
<div hidden><div onclick="pick(this)">Small</div><div onclick="pick(this)">Large</div></div><p id=log></p>
<script>window.pick = (each) => { s.textContent = log.textContent = each.textContent; each.parentNode.hidden = true; };</script>"""
IN_PLACE = """<ul role=listbox aria-multiselectable=true aria-label=Toppings tabindex=0 style="width:150px"><li role=option aria-selected=false>Ham<li role=option aria-selected=false>Corn<li role=option aria-selected=false>Figs</ul>
<p id=log></p><script>for (const li of document.querySelectorAll('li')) li.onclick = () => { li.ariaSelected = 'true'; log.textContent += li.textContent.trim() + ';'; };</script>"""


@pytest.mark.parametrize(
    ("body", "name", "options", "chosen"),
    [
        (SHORT, "Pick a fruit", ("Fig",), "Fig"),
        (SHORT, "Pick a fruit", ("plum",), "Plum"),
        (LONG, "Pick a fruit", ("Fruit 47",), "Fruit 47"),
        (TYPED, "City", ("Berlin",), "Berlin"),
        (PLAIN, "Choose", ("Large",), "Large"),
        (IN_PLACE, "Toppings", ("Ham", "Figs"), "Ham;Figs;"),
    ],
)
async def test_an_option_of_a_list_made_by_the_page_is_chosen(
    on: On, body: str, name: str, options: tuple[str, ...], chosen: str
) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number(name), options=options))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
        assert await hand.js("log.textContent") == chosen


@pytest.mark.parametrize(
    ("body", "name", "option", "refusal", "words"),
    [
        (SHORT, "Pick a fruit", "Kiwi", "not_an_option", 'it offers "Apple", "Plum", "Fig"'),
        (SHORT.replace("'Fig'", "'Plum'"), "Pick a fruit", "Plum", "ambiguous", '2 options "Plum"'),
        ("<button>Dead</button>", "Dead", "Kiwi", "unsupported", "opened nothing to choose from"),
    ],
)
async def test_an_option_that_is_not_there_or_not_the_only_one_is_refused(
    on: On, body: str, name: str, option: str, refusal: str, words: str
) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number(name), options=(option,)))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("globalThis.log?.textContent ?? ''") == ""


async def test_a_button_that_was_there_before_is_no_option(on: On) -> None:
    async with on(SHORT.replace("'Plum', ", "")) as hand:
        outcome = await hand.act(Select(target=hand.number("Pick a fruit"), options=("Plum",)))
        assert outcome.refusal == "not_an_option"
