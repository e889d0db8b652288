"""Claims about the lists of real component libraries: what was named is what the widget says was chosen."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.libraries import DIJIT, JQUERY_UI, LAYUI, Widget, done, only
from vision_agent.actions import Click, Select, Type

CITY = DIJIT.format(
    body="<label for=field>City</label> <input id=field>",
    modules="['dijit/form/FilteringSelect', 'dojo/store/Memory']",
    script="(Select, Memory) => { city = new Select({store: new Memory({data: [{id: 1, name: 'Bern'}, {id: 2, name: 'Berlin'}, {id: 3, name: 'Basel'}]}), searchAttr: 'name', value: 1}, 'field'); city.startup() }",
)


async def test_a_day_is_picked_in_a_calendar_after_another_month_was_chosen(widget: Widget) -> None:
    body = "<label>Day <input id=day></label><script>$('#day').datepicker({defaultDate: '02/01/2026', changeMonth: true})</script>"
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Click(target=hand.number("Day")))
        await done(hand, Select(target=hand.number("Select month"), options=("May",)))
        await done(hand, Click(target=hand.number("18")))

        assert await hand.js("$('#day').val()") == "05/18/2026"


async def test_suggestions_that_come_late_are_waited_for(widget: Widget) -> None:
    body = "<label>City <input id=city></label><script>$('#city').autocomplete({source: ['Bern', 'Berlin', 'Bergen'], delay: 400, select: (_, ui) => chosen = ui.item.value})</script>"
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        outcome = await done(hand, Select(target=hand.number("City"), options=("Bergen",)))

        assert (outcome.value, await hand.js("chosen")) == ("Bergen", "Bergen")

        missing = await hand.act(Select(target=hand.number("City"), options=("Zurich",)))

        assert (missing.refusal, await hand.js("chosen")) == ("unsupported", "Bergen")
        assert '"Zurich" was typed into it, and is not chosen' in missing.sentence


async def test_an_option_is_chosen_in_a_menu_that_stands_for_a_list(widget: Widget) -> None:
    body = "<select id=room aria-label=Room><option>Single<option>Double<option>Suite</select><script>$('#room').selectmenu()</script>"
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Select(target=only(hand, lambda mark: mark.role == "combobox").number, options=("Suite",)))

        assert await hand.js("$('#room').val()") == "Suite"


async def test_a_combobox_suggests_and_one_suggestion_is_chosen(widget: Widget) -> None:
    body = '<link rel=stylesheet href="/lib/awesomplete.css"><script src="/lib/awesomplete.js"></script><input aria-label=Language class=awesomplete id=field data-list="Ada, Java, JavaScript, Brainfuck">'
    async with widget("awesomplete", body) as hand:
        field = hand.seen.marks[0].number
        await done(hand, Select(target=field, options=("JavaScript",)))
        assert await hand.js("field.value") == "JavaScript"

        typed = await done(hand, Type(target=field, text="ja"))
        assert "t is now expanded" in typed.sentence
        await done(hand, Click(target=hand.number("Java")))
        assert await hand.js("field.value") == "Java"


@pytest.mark.thorough
async def test_an_option_of_a_list_drawn_by_a_library_is_chosen_by_its_text(widget: Widget) -> None:
    form = "<form class=layui-form><select name=city><option value=''>City</option><option value=be>Bern</option><option value=ba>Basel</option></select></form>"
    async with widget(
        "layui-src",
        LAYUI.format(body=form, modules="['form']", script=""),
        "window.ready && document.querySelector('.layui-form-select')",
    ) as hand:
        await done(hand, Select(target=hand.number("City"), options=("Basel",)))

        assert await hand.js("document.querySelector('[name=city]').value") == "ba"


@pytest.mark.thorough
async def test_a_field_that_filters_a_list_is_given_one_of_it(widget: Widget) -> None:
    async with widget("dijit", CITY, "window.ready") as hand:
        await done(hand, Select(target=only(hand, lambda mark: mark.role == "textbox").number, options=("Basel",)))

        assert await hand.js("city.value") == 3


@pytest.mark.thorough
@pytest.mark.xfail(
    strict=True, reason="the box around the field and its arrow is a mark too, and a click on it opens nothing"
)
async def test_the_box_around_a_field_that_filters_a_list_is_given_one_of_it(widget: Widget) -> None:
    async with widget("dijit", CITY, "window.ready") as hand:
        await done(hand, Select(target=only(hand, lambda mark: mark.role == "combobox").number, options=("Basel",)))

        assert await hand.js("city.value") == 3
