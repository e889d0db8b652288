"""Claims about lists, the browser's own and those pages make: the option that was meant is chosen, wherever it is drawn."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from typing import Any, Literal
from unicodedata import normalize

import pytest

from tests.browser.hand import SETTINGS, On
from vision_agent.actions import Select

Change = Literal["add", "remove"] | None
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


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
async def test_an_option_is_found_however_its_accents_are_written(
    on: On, form: Literal["NFC", "NFD"], other: Literal["NFC", "NFD"]
) -> None:
    shown = normalize(other, "Crème")
    async with on(f"<select aria-label=Taste><option>-<option>Creme<option>{shown}</select>") as hand:
        outcome = await hand.act(Select(target=hand.number("Taste"), options=(normalize(form, "Crème"),)))
        assert (outcome.status, outcome.value) == ("done", shown)


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


async def test_options_are_added_and_taken_out_of_a_list_that_allows_several(on: On) -> None:
    log = "<p id=log></p><script>m.onchange = () => { log.textContent += Array.from(m.selectedOptions, (each) => each.text).join('+') + ';' };</script>"
    async with on(LISTS + log) as hand:
        number = hand.number("Toppings")
        assert 'options="Ham|Corn|Figs" multiple' in hand.seen.listing
        steps: tuple[tuple[tuple[str, ...], Change, str], ...] = (
            (("Ham",), "add", 'Also selected "Ham"'),
            (("Figs",), "add", 'Also selected "Figs"'),
            (("Ham", "Corn"), "remove", '"Ham" and "Corn" are no longer selected'),
        )
        for options, change, sentence in steps:
            outcome = await hand.act(Select(target=number, options=options, change=change))
            assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
            assert outcome.sentence.startswith(sentence)
        assert outcome.value == "Figs"
        assert await hand.js("log.textContent") == "Ham;Ham+Figs;Figs;"


async def test_an_option_that_is_not_chosen_is_not_taken_out(on: On) -> None:
    async with on(LISTS + "<script>addEventListener('input', () => document.title = 'changed')</script>") as hand:
        outcome = await hand.act(Select(target=hand.number("Toppings"), options=("Ham",), change="remove"))
        assert (outcome.status, outcome.effect) == ("done", "as_wanted")
        assert '"Ham" is not selected' in outcome.sentence
        assert await hand.page.title() == ""


async def test_an_option_that_is_chosen_already_is_left_and_the_page_hears_nothing(on: On) -> None:
    async with on(LISTS + "<script>addEventListener('change', () => document.title = 'changed')</script>") as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), options=("Small",)))
        assert (outcome.status, outcome.effect) == ("done", "as_wanted")
        assert '"Small" is selected' in outcome.sentence
        assert await hand.page.title() == ""


@pytest.mark.parametrize("action", [{"options": ("Small", "Large")}, {"options": ("Large",), "change": "add"}])
async def test_a_list_of_one_option_takes_no_other_beside_it(on: On, action: Any) -> None:
    async with on(LISTS) as hand:
        outcome = await hand.act(Select(target=hand.number("Size"), **action))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert "allows one option only" in outcome.sentence
        assert await hand.js("s.value") == "Small"


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


SWITCHED = IN_PLACE.replace("li.ariaSelected = 'true'", "li.ariaSelected = String(li.ariaSelected !== 'true')")


async def test_options_of_a_list_made_by_the_page_are_added_and_taken_out(on: On) -> None:
    steps: tuple[tuple[tuple[str, ...], Change, str], ...] = (
        (("Ham", "Corn"), None, 'Selected "Ham" and "Corn"'),
        (("Figs", "Ham"), "add", 'Also selected "Figs" and "Ham"'),
        (("Ham",), "add", '(listbox "Toppings") already; nothing was sent.'),
        (("Corn",), "remove", '"Corn" is no longer selected'),
        (("Ham",), None, '"Ham" is selected in mark'),
    )
    async with on(SWITCHED) as hand:
        number = hand.number("Toppings")
        for options, change, words in steps:
            outcome = await hand.act(Select(target=number, options=options, change=change))
            assert outcome.status == "done", outcome.sentence
            assert words in outcome.sentence
            await hand.look()
        assert await hand.js("log.textContent") == "Ham;Corn;Figs;Corn;"


async def test_options_that_stay_chosen_in_a_list_made_by_the_page_are_told(on: On) -> None:
    async with on(SWITCHED) as hand:
        for option in ("Ham", "Figs"):
            outcome = await hand.act(Select(target=hand.number("Toppings"), options=(option,)))
            await hand.look()
        assert '"Ham" stays selected' in outcome.sentence


async def test_a_list_that_does_not_say_that_it_allows_several_is_not_added_to(on: On) -> None:
    async with on(SHORT) as hand:
        outcome = await hand.act(Select(target=hand.number("Pick a fruit"), options=("Fig",), change="add"))
        assert outcome.refusal == "unsupported"
        assert "does not say that it allows several options" in outcome.sentence
        assert await hand.js("log.textContent") == ""


async def test_an_option_that_does_not_stay_chosen_is_told(on: On) -> None:
    async with on(IN_PLACE.replace("li.ariaSelected = 'true'; ", "")) as hand:
        outcome = await hand.act(Select(target=hand.number("Toppings"), options=("Corn",), change="add"))
        assert '"Corn" was clicked, and is not selected' in outcome.sentence


VIRTUAL = """<style>[role=listbox] { position: relative; width: 200px; height: 120px; overflow: auto; border: 1px solid }
[role=option] { position: absolute; left: 0; right: 0; height: 24px }</style>OPENER<div id=host></div><p id=log></p><script>
const make = () => {
    const box = document.createElement('div'), inner = document.createElement('div');
    box.setAttribute('role', 'listbox'); box.setAttribute('aria-label', 'Fruits'); box.tabIndex = 0;
    inner.style.cssText = 'position:relative;height:' + 40 * 24 + 'px';
    box.append(inner);
    const draw = () => {
        inner.textContent = '';
        const from = Math.max(0, Math.floor(box.scrollTop / 24) - 1);
        for (let i = from; i < Math.min(40, from + 8); i++) {
            const option = inner.appendChild(document.createElement('div'));
            option.setAttribute('role', 'option');
            option.style.top = i * 24 + 'px';
            option.textContent = 'Fruit ' + i;
            option.onclick = () => { log.textContent += option.textContent + ';'; };
        }
    };
    box.onscroll = () => setTimeout(draw, 30);
    draw();
    host.append(box);
    box.scrollTop = 24 * 20;
};
START</script>"""
OPENED = VIRTUAL.replace("OPENER", "<button id=b aria-haspopup=listbox aria-expanded=false>Pick</button>").replace(
    "START", "b.onclick = () => { b.setAttribute('aria-expanded', 'true'); make(); };"
)
SHOWN = VIRTUAL.replace("OPENER", "").replace("START", "make();")


@pytest.mark.parametrize(
    ("body", "name", "option"),
    [(OPENED, "Pick", "Fruit 2"), (OPENED, "Pick", "Fruit 34"), (SHOWN, "Fruits", "Fruit 2")],
)
async def test_an_option_that_is_not_in_the_document_yet_is_found_by_scrolling(
    on: On, body: str, name: str, option: str
) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number(name), options=(option,)))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log.textContent") == f"{option};"


async def test_a_long_list_without_the_option_is_searched_to_its_end_and_nothing_is_clicked(on: On) -> None:
    async with on(SHOWN) as hand:
        outcome = await hand.act(Select(target=hand.number("Fruits"), options=("Kiwi",)))
        assert (outcome.status, outcome.refusal) == ("refused", "not_an_option"), outcome.sentence
        assert outcome.sentence.endswith(" and 28 more.")
        assert await hand.js("log.textContent") == ""


GROWING = """<button id=b aria-haspopup=listbox aria-expanded=false>Pick</button><p id=log></p><script>
b.onclick = () => {
    b.setAttribute('aria-expanded', 'true');
    const box = document.body.appendChild(document.createElement('div'));
    box.setAttribute('role', 'listbox');
    box.style.cssText = 'width:200px;height:120px;overflow:auto;border:1px solid';
    let n = 0, busy = false;
    const more = () => { for (let k = 0; k < 10 && n < 30; k++, n++) {
        const option = box.appendChild(document.createElement('div'));
        option.setAttribute('role', 'option');
        option.style.height = '24px';
        option.textContent = 'Item ' + n;
        option.onclick = () => { log.textContent += option.textContent; };
    } };
    more();
    box.onscroll = () => { if (!busy && box.scrollTop + 130 > box.scrollHeight) { busy = true; setTimeout(() => { more(); busy = false; }, 500); } };
};</script>"""


async def test_a_list_that_loads_as_it_is_scrolled_is_waited_for(on: On) -> None:
    async with on(GROWING) as hand:
        outcome = await hand.act(Select(target=hand.number("Pick"), options=("Item 27",)))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log.textContent") == "Item 27"


async def test_equal_options_of_which_one_is_out_of_view_are_ambiguous(on: On) -> None:
    async with on(LONG.replace("`Fruit ${i}`", "i === 50 ? 'Fruit 1' : `Fruit ${i}`")) as hand:
        outcome = await hand.act(Select(target=hand.number("Pick a fruit"), options=("Fruit 1",)))
        assert outcome.refusal == "ambiguous"
        assert '2 options "Fruit 1", not all in view' in outcome.sentence
        assert await hand.js("log.textContent") == ""


@pytest.mark.parametrize(
    ("option", "names", "refusal", "words"),
    [
        ("Be", "['Bern', 'Berlin']", "not_an_option", 'it offers "Bern", "Berlin"'),
        ("Bern", "['Bern', 'Bern']", "ambiguous", '2 options "Bern" (at ('),
        ("Zurich", "['Bern']", "unsupported", "suggested nothing"),
    ],
)
async def test_a_field_that_suggests_no_one_such_option_gets_its_text_back(
    on: On, option: str, names: str, refusal: str, words: str
) -> None:
    body = TYPED.replace("['Bern', 'Berlin', 'Bergen']", names).replace("id=c", "id=c value=Chur")
    async with on(body) as hand:
        outcome = await hand.act(Select(target=hand.number("City"), options=(option,)))
        assert (outcome.status, outcome.refusal, outcome.value) == ("partial", refusal, "Chur"), outcome.sentence
        assert words in outcome.sentence
        assert 'the field holds "Chur" again' in outcome.sentence
        assert await hand.js("c.value + log.textContent") == "Chur"


LISTED = """<input id=c list=cities aria-label=City value=Chur><datalist id=cities><option>Bern<option value=BS>Basel<option value=BL>Basel</datalist>
<p id=log></p><script>for (const type of ['input', 'change']) c.addEventListener(type, () => { log.textContent += type + ':' + c.value + ';' });</script>"""


async def test_a_value_that_the_browser_suggests_for_a_field_is_taken(on: On) -> None:
    async with on(LISTED) as hand:
        for option, value in (("bern", "Bern"), ("BS", "BS")):
            outcome = await hand.act(Select(target=hand.number("City"), options=(option,)))
            assert (outcome.status, outcome.value) == ("done", value), outcome.sentence
            await hand.look()
        assert await hand.js("log.textContent") == "input:Bern;change:Bern;input:BS;change:BS;"


@pytest.mark.parametrize(("option", "refusal"), [("Basel", "ambiguous"), ("Zurich", "not_an_option")])
async def test_a_value_that_the_browser_does_not_suggest_once_is_refused(on: On, option: str, refusal: str) -> None:
    async with on(LISTED) as hand:
        outcome = await hand.act(Select(target=hand.number("City"), options=(option,)))
        assert (outcome.status, outcome.refusal) == ("refused", refusal), outcome.sentence
        assert await hand.js("c.value + log.textContent") == "Chur"


VIRTUAL = """<style>#list{width:220px;height:150px;overflow:auto;border:1px solid;position:relative}.one{position:absolute;height:30px;left:0;right:0}</style>
<button id=open aria-haspopup=listbox aria-expanded=false aria-label=Item aria-controls=list>Choose</button>
<div id=list role=listbox hidden><div style="height:30000px"></div></div><script>
window.chosen = [];
const nameOf = (at) => NAME;
const draw = () => {
  list.querySelectorAll('.one').forEach((each) => each.remove());
  const first = Math.floor(list.scrollTop / 30);
  for (let at = first; at < Math.min(1000, first + 6); at++) {
    const one = Object.assign(document.createElement('div'), { className: 'one', role: 'option', textContent: nameOf(at) });
    one.style.top = `${at * 30}px`;
    one.onclick = () => { chosen.push(nameOf(at)); open.textContent = nameOf(at); list.hidden = true; open.ariaExpanded = 'false'; };
    list.append(one);
  }
};
list.onscroll = draw;
document.getElementById('open').onclick = () => { list.hidden = !list.hidden; open.ariaExpanded = String(!list.hidden); draw(); };
</script>""".replace("open.", "document.getElementById('open').")
SORTED = "`Item ${at}`"
BY_LETTERS = "String.fromCharCode(65 + at / 40) + String.fromCharCode(65 + at % 40 / 2) + ['', 's'][at % 2]"
MIXED = "`Item ${at * 643 % 1000}`"


@pytest.mark.parametrize(
    ("names", "wanted"),
    [(SORTED, "Item 600"), (SORTED, "Item 0"), (SORTED, "Item 999"), (BY_LETTERS, "PCs"), (MIXED, "Item 430")],
)
async def test_an_option_of_a_long_list_that_draws_what_is_in_view_is_chosen(on: On, names: str, wanted: str) -> None:
    async with on(VIRTUAL.replace("NAME", names)) as hand:
        outcome = await hand.act(Select(target=hand.number("Item"), options=(wanted,)))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("chosen") == [wanted]


async def test_a_list_that_was_not_seen_to_its_end_is_not_said_to_lack_an_option(on: On) -> None:
    settings = SETTINGS.model_copy(update={"action_deadline_s": 1})
    async with on(VIRTUAL.replace("NAME", MIXED), settings=settings) as hand:
        outcome = await hand.act(Select(target=hand.number("Item"), options=("Item 357",)))
        assert outcome.status != "done"
        assert "was not seen to its end before the time was up" in outcome.sentence
        assert 'show no "Item 357"' in outcome.sentence
        assert "has no option" not in outcome.sentence
        assert await hand.js("chosen") == []


RESTLESS = """<button id=open aria-haspopup=listbox aria-expanded=false aria-label=Bank>Choose</button><div id=list role=listbox hidden></div><script>
window.chosen = [];
const names = ['Alpha', 'Beta', 'Gamma', 'Delta'], button = document.getElementById('open');
button.onclick = () => { list.hidden = false; button.ariaExpanded = 'true'; };
const draw = () => {
  list.textContent = '';
  for (const name of names) {
    const one = Object.assign(document.createElement('div'), { role: 'option', textContent: name });
    one.onclick = () => { chosen.push(name); list.hidden = true; button.ariaExpanded = 'false'; };
    list.append(one);
  }
};
draw();
setInterval(() => { names.push(names.shift()); draw(); }, 150);
</script>"""


async def test_an_option_that_is_redrawn_all_the_time_is_chosen_or_refused(on: On) -> None:
    async with on(RESTLESS, settings=SETTINGS.model_copy(update={"action_deadline_s": 2})) as hand:
        for wanted in ("Gamma", "Delta", "Alpha"):
            outcome = await hand.act(Select(target=hand.number("Bank"), options=(wanted,)))
            chosen = await hand.js("chosen.splice(0)")
            assert chosen == ([wanted] if outcome.status == "done" else []), outcome.sentence
            await hand.look()
