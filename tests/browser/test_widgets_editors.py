"""Claims about terminals, code editors and grids of real libraries: what they show is read, and input arrives as asked."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import json
import re

import pytest

from tests.browser.hand import Hand
from tests.browser.libraries import Widget, done, only
from vision_agent.actions import Click, Press, Set, Type

OTHER = "<input id=other aria-label=Other>"

TERMINAL = """<link rel=stylesheet href="/lib/css/xterm.css"><script src="/lib/lib/xterm.js"></script>{other}<div id=box style="width:620px;height:220px"></div>
<script>got = ''; terminal = new Terminal({{cols: 60, rows: 10, {options}}}); terminal.open(box); terminal.write('Welcome\\r\\n$ ', () => ready = 1);
terminal.onData((data) => {{ got += data; terminal.write(data === '\\r' ? '\\r\\n$ ' : data) }})</script>"""

CODE_5 = """<link rel=stylesheet href="/lib/lib/codemirror.css"><script src="/lib/lib/codemirror.js"></script><input id=other aria-label=Other>
<textarea id=code>let a = 1;\nlet b = 2;\nlet c = 3;</textarea><script>editor = CodeMirror.fromTextArea(code, {lineNumbers: true}); text = () => editor.getValue()</script>"""

CODE_6 = (
    "<script type=importmap>"
    + json.dumps(
        {
            "imports": {
                "@codemirror/state": "/lib/@codemirror/state/dist/index.js",
                "@codemirror/view": "/lib/@codemirror/view/dist/index.js",
                "@marijn/find-cluster-break": "/lib/@marijn/find-cluster-break/src/index.js",
                "crelt": "/lib/crelt/index.js",
                "style-mod": "/lib/style-mod/src/style-mod.js",
                "w3c-keyname": "/lib/w3c-keyname/index.js",
            }
        }
    )
    + """</script><input id=other aria-label=Other><div id=box></div><script type=module>import {EditorView, lineNumbers} from '@codemirror/view';
const editor = new EditorView({doc: 'let a = 1;\\nlet b = 2;\\nlet c = 3;', extensions: [lineNumbers()], parent: box}); window.text = () => editor.state.doc.toString(); window.ready = 1</script>"""
)

MONACO = """<input id=other aria-label=Other><div id=box style="width:600px;height:200px"></div><script src="/lib/min/vs/loader.js"></script><script>require.config({{paths: {{vs: '/lib/min/vs'}}}});
require(['vs/editor/editor.main'], () => {{ const editor = monaco.editor.create(box, {{value: 'let a = 1;\\nlet b = 2;\\nlet c = 3;', language: 'plaintext', {options}}}); text = () => editor.getValue(); ready = 1 }})</script>"""

PROSE = (
    "<script type=importmap>"
    + json.dumps(
        {
            "imports": {
                **{
                    f"prosemirror-{each}": f"/lib/prosemirror-{each}/dist/index.js"
                    for each in ("view", "model", "state", "transform", "commands", "keymap", "schema-basic")
                },
                "orderedmap": "/lib/orderedmap/dist/index.js",
                "w3c-keyname": "/lib/w3c-keyname/index.js",
            }
        }
    )
    + """</script><link rel=stylesheet href="/lib/prosemirror-view/style/prosemirror.css"><input id=other aria-label=Other><div id=box></div>
<script type=module>import {EditorView} from 'prosemirror-view'; import {EditorState} from 'prosemirror-state'; import {schema} from 'prosemirror-schema-basic'; import {keymap} from 'prosemirror-keymap'; import {baseKeymap} from 'prosemirror-commands';
const lines = ['let a = 1;', 'let b = 2;', 'let c = 3;'].map((line) => schema.node('paragraph', null, [schema.text(line)]));
const editor = new EditorView(box, {state: EditorState.create({doc: schema.node('doc', null, lines), plugins: [keymap(baseKeymap)]})}); window.text = () => editor.state.doc.textBetween(0, editor.state.doc.content.size, '\\n'); window.ready = 1</script>"""
)

QUILL = """<link rel=stylesheet href="/lib/dist/quill.snow.css"><script src="/lib/dist/quill.js"></script><input id=other aria-label=Other><div id=box><p>let a = 1;</p><p>let b = 2;</p><p>let c = 3;</p></div>
<script>editor = new Quill('#box', {theme: 'snow', modules: {toolbar: false}}); text = () => editor.getText().slice(0, -1)</script>"""

EDITORS = [
    pytest.param("codemirror", CODE_5, "true", id="codemirror 5"),
    pytest.param("@codemirror/view", CODE_6, "window.ready", id="codemirror 6"),
    pytest.param("prosemirror-view", PROSE, "window.ready", id="prosemirror"),
    pytest.param("quill", QUILL, "true", id="quill"),
    pytest.param(
        "monaco-editor",
        MONACO.format(options=""),
        "window.ready && document.querySelector('.view-line')",
        id="monaco",
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        "monaco-editor",
        MONACO.format(options="editContext: false"),
        "window.ready && document.querySelector('.view-line')",
        id="monaco with a textarea",
        marks=pytest.mark.thorough,
    ),
]


def _editor(hand: Hand) -> int:
    return only(hand, lambda mark: mark.name != "Other").number


@pytest.mark.parametrize(("package", "body", "ready"), EDITORS)
async def test_an_editor_has_one_mark_with_its_lines_and_the_line_of_its_caret(
    widget: Widget, package: str, body: str, ready: str
) -> None:
    async with widget(package, body, ready) as hand:
        mark = only(hand, lambda mark: mark.name != "Other")
        assert (mark.kind, mark.state.value) == ("field", "let a = 1;\nlet b = 2;\nlet c = 3;")
        assert 'value="let a = 1;⏎let b = 2;⏎let c = 3;"' in hand.seen.listing

        await done(hand, Type(target=mark.number, text="!", clear=False))
        await hand.act(Press(target=_editor(hand), keys="ArrowUp"))
        await hand.look()
        assert only(hand, lambda mark: mark.name != "Other").state.caret_line == 2
        assert 'caret="2: let b = 2;"' in hand.seen.listing


@pytest.mark.parametrize(("package", "body", "ready"), EDITORS)
async def test_what_is_typed_into_an_editor_replaces_its_text_or_follows_it(
    widget: Widget, package: str, body: str, ready: str
) -> None:
    async with widget(package, body, ready) as hand:
        await done(hand, Type(target=hand.number("Other"), text="before"))
        replaced = await done(hand, Type(target=_editor(hand), text="first line"))
        assert (replaced.value, await hand.js("text()")) == ("first line", "first line")

        await done(hand, Type(target=_editor(hand), text="\nsecond line", clear=False))
        assert await hand.js("text()") == "first line\nsecond line"
        assert only(hand, lambda mark: mark.name != "Other").state.caret_line == 2

        await done(hand, Type(target=_editor(hand), text=""))
        assert await hand.js("[text(), other.value]") == ["", "before"]


@pytest.mark.parametrize(("package", "body", "ready"), [EDITORS[0], EDITORS[1], EDITORS[4]])
async def test_an_editor_is_set_without_a_tab_in_its_text(widget: Widget, package: str, body: str, ready: str) -> None:
    async with widget(package, body, ready) as hand:
        await done(hand, Set(mark=_editor(hand), value="whole"))

        assert await hand.js("text()") == "whole"


@pytest.mark.parametrize("options", ["", "screenReaderMode: true"])
async def test_a_terminal_is_read_and_typed_into_and_gets_nothing_but_what_was_typed(
    widget: Widget, options: str
) -> None:
    async with widget("@xterm/xterm", TERMINAL.format(other=OTHER, options=options), "window.ready") as hand:
        mark = only(hand, lambda mark: mark.name != "Other")
        assert (mark.name, mark.kind, mark.state.value) == ("Terminal input", "field", "Welcome\n$")

        typed = await done(hand, Type(target=mark.number, text="ls"))
        assert typed.sentence.startswith(
            f'Typed "ls" into mark {mark.number} (textbox "Terminal input"), at the caret; what was there stays. '
            'Line 2 of 2, where the caret is, is "$ ls"'
        )
        await done(hand, Type(target=_editor(hand), text=" -a", clear=False, submit=True))
        assert await hand.js("[got, other.value]") == ["ls -a\r", ""]
        assert 'value="Welcome⏎$ ls -a⏎$" caret="3: $"' in hand.seen.listing


async def test_a_terminal_is_neither_emptied_nor_set(widget: Widget) -> None:
    async with widget("@xterm/xterm", TERMINAL.format(other=OTHER, options=""), "window.ready") as hand:
        for action in (Type(target=_editor(hand), text=""), Set(mark=_editor(hand), value="ls")):
            refused = await hand.act(action)
            assert (refused.status, refused.refusal) == ("partial", "unsupported"), refused.sentence
            assert "what is there stays; no key was sent" in refused.sentence

        assert await hand.js("got") == ""


SHEET = """<link rel=stylesheet href="/lib/styles/handsontable.css"><link rel=stylesheet href="/lib/styles/ht-theme-main.css"><script src="/lib/dist/handsontable.full.min.js"></script><div id=box class=ht-theme-main></div>
<script>sheet = new Handsontable(box, {data: [['Ann', '31'], ['Ben', '27'], ['Cid', '']], colHeaders: ['Name', 'Age'], licenseKey: 'non-commercial-and-evaluation'})</script>"""

MONTH = """<script src="/lib/index.global.min.js"></script><div id=box style="width:700px"></div><script>picked = []; new FullCalendar.Calendar(box, {{initialView: 'dayGridMonth', initialDate: '2026-02-03', height: 480,
{options}: (day) => picked.push(day.startStr ?? day.dateStr), selectable: true, events: [{{title: 'Dentist', start: '2026-02-10'}}]}}).render()</script>"""

PICKER = """<link rel=stylesheet href="/lib/dist/flatpickr.css"><script src="/lib/dist/flatpickr.js"></script><input id=day aria-label=Day><script>flatpickr(day, {inline: true, defaultDate: '2026-02-03'})</script>"""


@pytest.mark.thorough
async def test_a_cell_of_a_sheet_is_selected_and_written_in_after_a_double_click(widget: Widget) -> None:
    async with widget("handsontable", SHEET) as hand:
        refused = await hand.act(Type(target=hand.number("27"), text="28"))
        assert refused.sentence.endswith("text cannot be typed into it. Double-click it if that opens a field.")
        await done(hand, Click(target=hand.number("Ben")))
        assert await hand.js("sheet.getSelected()") == [[1, 0, 1, 0]]

        await done(hand, Click(target=hand.number("27"), count=2))
        await done(hand, Type(target=only(hand, lambda mark: mark.tag == "textarea").number, text="28", submit=True))
        assert await hand.js("sheet.getData()") == [["Ann", "31"], ["Ben", "28"], ["Cid", ""]]


@pytest.mark.parametrize("options", ["dateClick", "select"])
async def test_a_day_of_a_calendar_is_clicked_and_what_is_in_it_is_read(widget: Widget, options: str) -> None:
    async with widget("fullcalendar", MONTH.format(options=options)) as hand:
        texts = re.split(r"\n|_\[:\]| [·⏎] ", hand.seen.listing)
        assert "Dentist" in texts
        assert "10" not in texts
        await hand.act(Click(target=hand.number("February 11, 2026")))

        assert await hand.js("picked") == ["2026-02-11"]


async def test_a_day_of_a_date_picker_is_clicked(widget: Widget) -> None:
    async with widget("flatpickr", PICKER) as hand:
        await done(hand, Click(target=hand.number("February 11, 2026")))

        assert await hand.js("day.value") == "2026-02-11"
