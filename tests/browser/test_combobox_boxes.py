"""Claims about comboboxes that a page draws as a box around a field that does not show: they are used by one mark."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from tests.browser.hand import On
from vision_agent.actions import Click, Select, Type
from vision_agent.policy.approval import risks_taken

BOX = """<style>.box{width:200px;height:30px;border:1px solid;cursor:pointer} input{position:absolute;left:-9999px;opacity:0} [role=option]{width:200px;height:24px}</style>
<label for=field>Town</label><div class=box id=box onclick="said.push('opened'); field.focus(); list.hidden = false"><span id=chosen>Ghent</span><input id=field role=combobox aria-controls=list></div>
<div id=list role=listbox hidden><div role=option>Ghent</div><div role=option>Lille</div></div>
<script>said = []; for (const each of list.children) each.onclick = () => { chosen.textContent = each.textContent; list.hidden = true; said.push(each.textContent) };</script>"""
CHIP = "<span id=chip style='margin-left:60px' onclick=\"event.stopPropagation(); said.push('chip')\">Pots <b onclick='event.stopPropagation()'>×</b></span>"
BELOW = "<div style='height:3000px'>Long</div>"


async def test_an_option_is_chosen_in_a_list_whose_field_does_not_show(on: On) -> None:
    async with on(BOX) as hand:
        number = hand.number("Town")
        assert hand.seen.known_mark(number).state.value == "Ghent"  # type: ignore[union-attr]
        outcome = await hand.act(Select(target=number, options=("Lille",)))
        assert await hand.js("said") == ["opened", "Lille"], outcome.sentence
        assert outcome.value == "Lille"


async def test_text_typed_into_the_box_goes_to_its_field(on: On) -> None:
    async with on(BOX) as hand:
        outcome = await hand.act(Type(target=hand.number("Town"), text="Li"))
        assert (outcome.status, await hand.js("field.value")) == ("done", "Li"), outcome.sentence


async def test_a_box_whose_field_is_disabled_is_not_pressed(on: On) -> None:
    async with on(BOX.replace("role=combobox", "role=combobox disabled")) as hand:
        outcome = await hand.act(Click(target=hand.number("Town")))
        assert (outcome.refusal, await hand.js("said")) == ("disabled", []), outcome.sentence


async def test_a_box_scrolled_out_of_view_is_pressed_by_its_number(on: On) -> None:
    async with on(BOX + BELOW) as hand:
        number = hand.number("Town")
        await hand.js("scrollTo(0, 1500)")
        await hand.look()
        outcome = await hand.act(Click(target=number))
        assert await hand.js("said") == ["opened"], outcome.sentence


async def test_a_press_on_a_box_that_says_what_it_does_is_asked_about_in_view_and_out_of_it(on: On) -> None:
    async with on(BOX.replace(">Town<", ">Delete the account<") + BELOW) as hand:
        number = hand.number("Delete the account")
        assert risks_taken(Click(target=number), hand.seen) == {"delete"}
        await hand.js("scrollTo(0, 1500)")
        await hand.look()
        assert risks_taken(Click(target=number), hand.seen) == {"delete"}


async def test_words_in_a_box_are_asked_about_in_view_and_out_of_it(on: On) -> None:
    async with on(BOX.replace("<span id=chosen>Ghent", "<span id=chosen>Delete the account") + BELOW) as hand:
        number = hand.number("Town")
        assert risks_taken(Click(target=number), hand.seen) == {"delete"}
        await hand.js("scrollTo(0, 1500)")
        await hand.look()
        assert risks_taken(Click(target=number), hand.seen) == {"delete"}


async def test_a_box_is_pressed_beside_the_chosen_values_in_it(on: On) -> None:
    async with on(BOX.replace("<span id=chosen>", CHIP + "<span id=chosen>")) as hand:
        outcome = await hand.act(Click(target=hand.number("Town")))
        assert await hand.js("said") == ["opened"], outcome.sentence


async def test_a_box_without_a_name_is_listed_by_what_is_chosen_in_it_and_stays_the_same_mark(on: On) -> None:
    async with on(
        BOX.replace("<label for=field>Town</label>", "").replace("role=combobox", "role=combobox readonly")
    ) as hand:
        number = hand.number("Ghent")
        assert f"{number}[:]<input role=combobox>Ghent" in hand.seen.listing
        outcome = await hand.act(Select(target=number, options=("Lille",)))
        assert (outcome.value, await hand.js("said")) == ("Lille", ["opened", "Lille"]), outcome.sentence
        await hand.look()
        assert hand.number("Lille") == number


async def test_a_list_that_is_called_what_is_chosen_in_it_says_so_once(on: On) -> None:
    async with on("<span role=combobox tabindex=0 aria-label=Ghent>Ghent</span>") as hand:
        assert "1[:]<span role=combobox>Ghent" in hand.seen.listing
