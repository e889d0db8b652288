"""Claims about the fields of real component libraries: what was put in is what the widget says that it holds."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.browser.libraries import DIJIT, GRID, JQUERY_UI, LAYUI, SHEET, UIKIT, Widget, done, only
from vision_agent.actions import Check, Click, Drag, Hover, Offset, Point, Press, SelectText, Set, Type, Upload, Wait

SLIDERS = "<div id=price style='width:300px;margin:30px'></div><script>$('#price').slider({range: true, values: [10, 60]})</script>"


JSON_EDITOR = """<link rel=stylesheet href="/lib/dist/jsoneditor.css"><script src="/lib/dist/jsoneditor.js"></script><div id=box style="width:500px;height:400px"></div>
<script>editor = new JSONEditor(box, {}, {name: 'Ann', age: 31, tags: ['x', 'y']})</script>"""


async def test_a_date_and_a_number_are_set_in_fields_that_a_library_watches(widget: Widget) -> None:
    body = "<label>Day <input id=day></label> <label>Guests <input id=guests value=2></label><script>$('#day').datepicker(); $('#guests').spinner({max: 9})</script>"
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        day = await done(hand, Set(mark=hand.number("Day"), value="02/14/2026"))
        guests = await done(hand, Set(mark=hand.number("Guests"), value="5"))

        assert (day.value, guests.value) == ("02/14/2026", "5")
        assert await hand.js("[$('#day').datepicker('getDate').getDate(), $('#guests').spinner('value')]") == [14, 5]


async def test_one_end_of_a_range_is_dragged_and_the_other_moved_by_keys(widget: Widget) -> None:
    async with widget("jquery-ui-dist", JQUERY_UI + SLIDERS) as hand:
        low, high = hand.seen.marks
        await done(hand, Drag(source=low.number, target=Offset(right=60, down=0)))
        await done(hand, Press(target=high.number, keys="ArrowRight", count=3))

        assert await hand.js("$('#price').slider('values')") == [30, 63]


async def test_a_handle_that_says_nothing_of_a_value_is_not_said_to_be_set(widget: Widget) -> None:
    async with widget("jquery-ui-dist", JQUERY_UI + SLIDERS) as hand:
        outcome = await hand.act(Set(mark=hand.seen.marks[0].number, value="40"))

        assert outcome.refusal == "unsupported", outcome.sentence
        assert await hand.js("$('#price').slider('values')") == [10, 60]


async def test_boxes_are_ticked_a_tip_is_shown_and_a_dialog_is_answered(widget: Widget) -> None:
    body = """<label for=pets>Pets</label><input type=checkbox id=pets> <button id=ask>Ask</button> <a href="#" title="What it costs">Price</a>
    <div id=sure title="Sure?">Really?</div><script>$('#pets').checkboxradio(); $(document).tooltip();
    $('#sure').dialog({autoOpen: false, modal: true, buttons: {Yes() { said = 'yes'; $(this).dialog('close') }, No() { said = 'no' }}}); $('#ask').on('click', () => $('#sure').dialog('open'))</script>"""
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Check(mark=hand.number("Pets"), checked=True))
        assert await hand.js("$('#pets').prop('checked')")

        await done(hand, Hover(target=hand.number("Price")))
        waited = await hand.act(Wait(text="What it costs", seconds=2))
        assert waited.status == "done", waited.sentence

        await hand.look()
        price = hand.number("Price")
        await done(hand, Click(target=hand.number("Ask")))
        assert all(mark.number != price for mark in hand.seen.marks), "it is behind the dialog"
        await done(hand, Click(target=hand.number("Yes")))
        assert await hand.js("said") == "yes"


@pytest.mark.thorough
async def test_a_cell_of_a_grid_is_edited(widget: Widget) -> None:
    async with widget("layui-src", GRID, "window.ready && document.querySelector('.layui-table-view td')") as hand:
        rows = only(hand, lambda mark: "Ann" in mark.name).box
        cell = Point(x=rows.right - 60, y=rows.bottom - 20)
        await done(hand, Click(target=hand.seen.marked.map.to_picture(cell)))
        await done(hand, Type(target=only(hand, lambda mark: mark.state.value == "31").number, text="32", submit=True))

        assert await hand.js("edited") == {"name": "Ann", "age": "32"}


async def test_a_button_of_a_library_that_asks_for_a_file_is_given_one(widget: Widget, tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"no picture")
    other = tmp_path / "other.png"
    other.write_bytes(b"no other picture")
    script = "layui.upload.render({elem: '#photo', auto: false, choose: (told) => told.preview((_, file) => given = file.name)})"
    async with widget(
        "layui-src",
        LAYUI.format(body="<button id=photo>Photo</button>", modules="['upload']", script=script),
        "window.ready",
        files=(photo, other),
    ) as hand:
        both = await hand.act(Upload(mark=hand.number("Photo"), files=("photo.png", "other.png")))
        assert (both.refusal, "takes one file at a time" in both.sentence) == ("unsupported", True)
        await done(hand, Upload(mark=hand.number("Photo"), files=("photo.png",)))
        await hand.page.wait_for_function("window.given")

        assert await hand.js("given") == "photo.png"


async def test_words_are_typed_into_a_rich_text_editor_and_made_bold(widget: Widget) -> None:
    body = """<link rel=stylesheet href="/lib/dist/css/medium-editor.css"><script src="/lib/dist/js/medium-editor.js"></script>
    <div style="height:120px"></div><div id=story aria-label=Story style="width:400px"><p>Old words</p></div><script>new MediumEditor(story)</script>"""
    async with widget("medium-editor", body) as hand:
        typed = await done(hand, Type(target=hand.number("Story"), text="New words"))
        assert typed.value == "New words"

        # The toolbar that the selection brings may still be there from the selection before the typing.
        selected = await hand.act(Press(target=hand.number("Story"), keys="ControlOrMeta+a"))
        assert selected.status == "done"
        assert await hand.js("getSelection().toString()") == "New words"
        await hand.page.wait_for_function("document.querySelector('.medium-editor-toolbar-active')")
        await hand.look()
        await done(hand, Click(target=hand.number("bold")))
        assert await hand.js("story.innerHTML") == "<p><b>New words</b></p>"


async def test_words_in_the_middle_of_a_rich_text_are_selected_and_made_bold(widget: Widget) -> None:
    body = """<link rel=stylesheet href="/lib/dist/css/medium-editor.css"><script src="/lib/dist/js/medium-editor.js"></script>
    <div style="height:120px"></div><div id=story aria-label=Story style="width:400px"><p>It was the best of times, it was the worst of times.</p></div><script>new MediumEditor(story)</script>"""
    async with widget("medium-editor", body) as hand:
        twice = await hand.act(SelectText(first="of times", last="of times"))
        assert (twice.refusal, await hand.js("getSelection().toString()")) == ("ambiguous", "")
        await done(hand, SelectText(first="the best", last="of times,"))
        await done(hand, Click(target=hand.number("bold")))

        assert await hand.js("story.innerHTML") == "<p>It was <b>the best of times,</b> it was the worst of times.</p>"


async def test_text_goes_into_a_code_editor_whose_field_does_not_show(widget: Widget) -> None:
    body = """<link rel=stylesheet href="/lib/lib/codemirror.css"><script src="/lib/lib/codemirror.js"></script><input id=other aria-label=Other>
    <textarea id=code>let a = 1;</textarea><script>editor = CodeMirror.fromTextArea(code)</script>"""
    async with widget("codemirror", body) as hand:
        lines = lambda: only(hand, lambda mark: mark.kind == "field" and mark.name != "Other").number  # noqa: E731
        await done(hand, Type(target=hand.number("Other"), text="before"))
        await done(hand, Type(target=lines(), text="let b = 2;"))
        await done(hand, Type(target=lines(), text="\nlet c = 3;", clear=False))

        assert await hand.js("[editor.getValue(), other.value]") == ["let b = 2;\nlet c = 3;", "before"]


async def test_what_is_typed_into_a_cell_of_a_drawn_grid_arrives_whole(widget: Widget) -> None:
    async with widget("x-data-spreadsheet", SHEET) as hand:
        await done(hand, Type(target=Point(x=110, y=65), text="Benedict", submit=True))

        assert await hand.js("sheet.getData()[0].rows[1].cells[0].text") == "Benedict"


@pytest.mark.thorough
async def test_a_value_is_edited_and_a_field_moved_in_a_tree_of_fields(widget: Widget) -> None:
    async with widget("jsoneditor", JSON_EDITOR) as hand:
        await done(hand, Type(target=only(hand, lambda mark: mark.state.value == "Ann").number, text="Ben"))
        grips = [mark.number for mark in hand.seen.marks if mark.name.startswith("Drag to move")]
        await done(hand, Drag(source=grips[0], target=grips[1]))

        assert await hand.js("JSON.stringify(editor.get())") == '{"age":31,"name":"Ben","tags":["x","y"]}'


@pytest.mark.thorough
async def test_a_date_box_a_spinner_and_a_slider_are_set(widget: Widget) -> None:
    body = DIJIT.format(
        body="<label for=d>Day</label> <input id=d> <label for=n>Guests</label> <input id=n><div id=s></div>",
        modules="['dijit/form/DateTextBox', 'dijit/form/NumberSpinner', 'dijit/form/HorizontalSlider']",
        script="(Day, Number, Slider) => { day = new Day({value: new Date(2026, 1, 3)}, 'd'); guests = new Number({value: 2}, 'n'); slider = new Slider({minimum: 0, maximum: 10, discreteValues: 11, value: 3, style: 'width:200px'}, 's'); for (const each of [day, guests, slider]) each.startup() }",
    )
    async with widget("dijit", body, "window.ready") as hand:
        day = only(hand, lambda mark: mark.name == "Day" and mark.role == "textbox").number
        await done(hand, Set(mark=day, value="2/14/2026"))
        await done(hand, Set(mark=hand.number("Guests"), value="4"))
        moved = await done(hand, Set(mark=only(hand, lambda mark: mark.role == "slider").number, value="7"))

        assert moved.value == "7"
        assert await hand.js("[day.value.getDate(), guests.value, slider.value]") == [14, 4, 7]


@pytest.mark.thorough
async def test_a_modal_is_shut_by_a_key_and_a_file_goes_under_a_drawn_button(widget: Widget, tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"no picture")
    body = """<div uk-form-custom><input type=file aria-label=Photo id=photo><button type=button tabindex=-1>Choose</button></div>
    <button uk-toggle="target: #more">Open</button><div id=more uk-modal><div class="uk-modal-dialog uk-modal-body">Inside</div></div>"""
    async with widget("uikit", UIKIT + body, files=(photo,)) as hand:
        await done(hand, Upload(mark=hand.number("Photo"), files=("photo.png",)))
        assert await hand.js("photo.files[0].name") == "photo.png"

        await done(hand, Click(target=hand.number("Open")))
        await done(hand, Press(keys="Escape"))
        assert await hand.js("getComputedStyle(more).display") == "none"


@pytest.mark.thorough
async def test_a_tree_is_opened_by_a_key_and_an_editor_in_a_frame_is_typed_into(widget: Widget) -> None:
    body = DIJIT.format(
        body="<div id=t></div><div id=e></div>",
        modules="['dijit/Tree', 'dijit/tree/ObjectStoreModel', 'dojo/store/Memory', 'dijit/Editor']",
        script="""(Tree, Model, Memory, Editor) => {
            const store = new Memory({data: [{id: 0, name: 'All'}, {id: 1, name: 'Fruit', p: 0}, {id: 2, name: 'Apple', p: 1}], getChildren(of) { return this.query({p: of.id}) }});
            new Tree({model: new Model({store, query: {id: 0}, mayHaveChildren: (of) => of.id < 2}), onClick: (of) => picked = of.name}, 't').startup();
            editor = new Editor({height: '80px'}, 'e'); editor.startup() }""",
    )
    async with widget("dijit", body, "window.ready && editor.isLoaded") as hand:
        opened = await done(hand, Press(target=hand.number("Fruit"), keys="ArrowRight"))
        assert "is now expanded" in opened.sentence
        await done(hand, Click(target=hand.number("Apple")))
        await done(hand, Type(target=only(hand, lambda mark: bool(mark.frame)).number, text="Dear Ann"))

        assert await hand.js("[picked, editor.get('value')]") == ["Apple", "Dear Ann"]


@pytest.mark.thorough
async def test_a_drawn_box_that_says_nothing_of_being_ticked_is_clicked_and_not_ticked(widget: Widget) -> None:
    form = "<form class=layui-form><input type=checkbox name=news title=News><input type=checkbox name=mail lay-skin=switch lay-text='On|Off'></form>"
    body = LAYUI.format(body=form, modules="['form']", script="")
    async with widget("layui-src", body, "window.ready && document.querySelector('.layui-form-switch')") as hand:
        refused = await hand.act(Check(mark=hand.number("News"), checked=True))
        assert (refused.refusal, refused.sentence.endswith("Click it.")) == ("unsupported", True)
        await done(hand, Click(target=hand.number("News")))
        await done(hand, Click(target=hand.number("Off")))

        assert await hand.js("['news', 'mail'].map((name) => document.querySelector(`[name=${name}]`).checked)") == [
            True,
            True,
        ]


@pytest.mark.thorough
async def test_words_are_selected_and_made_bold_in_an_editor_that_is_a_frame(widget: Widget) -> None:
    body = DIJIT.format(
        body="<div id=e><p>Dear Ann, how are you today?</p></div>",
        modules="['dijit/Editor']",
        script="(Editor) => { editor = new Editor({height: '80px'}, 'e'); editor.startup() }",
    )
    async with widget("dijit", body, "window.ready && editor.isLoaded") as hand:
        await done(hand, SelectText(first="how are", last="today"))
        # The editor enables its buttons by a clock of its own.
        async with asyncio.timeout(120):
            while next(mark for mark in hand.seen.marks if mark.name == "Bold").state.disabled:
                await hand.look()
        bold = await done(hand, Click(target=hand.number("Bold")))

        assert "is now pressed" in bold.sentence
        assert await hand.js("editor.get('value')") == "<p>Dear Ann, <b>how are you today</b>?</p>"
