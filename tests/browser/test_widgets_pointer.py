"""Claims about what is clicked, hovered and dragged in real component libraries: the widget says what came of it."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.libraries import JQUERY_UI, LAYUI, SHEET, UIKIT, Widget, beside, done, only
from vision_agent.actions import Click, Drag, Hover, Offset, Point, Scroll, Wait


@pytest.mark.thorough
async def test_rows_are_sorted_by_dragging_one_onto_another(widget: Widget) -> None:
    body = "<ul id=order style='width:200px'><li>Soup<li>Fish<li>Cheese<li>Cake</ul><script>$('#order').sortable()</script>"
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Drag(source=hand.number("Soup"), target=hand.number("Cheese")))
        assert await hand.js("$('#order').text()") == "FishCheeseSoupCake"

        await done(hand, Drag(source=hand.number("Cake"), target=hand.number("Fish")))
        assert await hand.js("$('#order').text()") == "CakeFishCheeseSoup"


@pytest.mark.thorough
async def test_a_card_is_dragged_into_a_place_by_way_of_points(widget: Widget) -> None:
    body = """<div id=card style="width:60px;height:30px;background:#ccc">Card</div><div id=bin style="position:absolute;left:400px;top:200px;width:150px;height:80px;background:#eee">Bin</div>
    <script>way = []; $('#card').draggable({drag: (_, ui) => way.push(ui.position.top)}); $('#bin').droppable({drop() { this.textContent = 'Got it' }})</script>"""
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        card = only(hand, lambda mark: mark.name == "Card")
        there = beside(hand, card, x=430, y=220)
        await done(hand, Drag(source=card.number, target=there, path=(beside(hand, card, y=400),)))

        assert await hand.js("[$('#bin').text(), Math.max(...way) > 380]") == ["Got it", True]


@pytest.mark.thorough
async def test_a_tab_and_a_section_of_an_accordion_are_opened(widget: Widget) -> None:
    body = """<div id=tabs><ul><li><a href="#a">Plan</a><li><a href="#b">Costs</a></ul><div id=a>The plan</div><div id=b>The costs</div></div>
    <div id=more><h3>First</h3><div>One</div><h3>Second</h3><div>Two</div></div><script>$('#tabs').tabs(); $('#more').accordion({animate: false})</script>"""
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Click(target=hand.number("Costs")))
        second = await done(hand, Click(target=hand.number("Second")))

        assert await hand.js("[$('#tabs').tabs('option', 'active'), $('#more').accordion('option', 'active')]") == [
            1,
            1,
        ]
        assert "is now expanded" in second.sentence


async def test_a_branch_of_a_tree_is_opened_and_a_leaf_in_it_clicked(widget: Widget) -> None:
    tree = "layui.tree.render({elem: '#tree', data: [{title: 'Fruit', children: [{title: 'Apple'}, {title: 'Pear'}]}, {title: 'Nuts'}], click: (told) => picked = told.data.title})"
    async with widget(
        "layui-src", LAYUI.format(body="<div id=tree></div>", modules="['tree']", script=tree), "window.ready"
    ) as hand:
        await done(hand, Click(target=hand.number("Fruit")))
        assert (await hand.act(Click(target=hand.number("Pear")))).status == "done"

        assert await hand.js("picked") == "Pear"


@pytest.mark.thorough
async def test_a_day_is_picked_stars_are_given_and_a_slider_is_dragged(widget: Widget) -> None:
    body = "<input id=day aria-label=Day><div id=rate></div><div id=slide style='width:300px;margin:30px'></div>"
    script = """layui.laydate.render({elem: '#day', lang: 'en', value: '2026-02-03'}); layui.rate.render({elem: '#rate', choose: (n) => stars = n});
    layui.slider.render({elem: '#slide', change: (n) => level = n})"""
    async with widget(
        "layui-src",
        LAYUI.format(body=body, modules="['laydate', 'rate', 'slider']", script=script),
        "window.ready && document.querySelector('.layui-slider-wrap-btn')",
    ) as hand:
        track = only(hand, lambda mark: mark.tag == "div" and not mark.name)
        stars = [mark.number for mark in hand.seen.marks if mark.tag == "li"]
        await done(hand, Click(target=beside(hand, track, x=75)))
        await done(hand, Drag(source=beside(hand, track, x=75), target=Offset(right=-150, down=0)))
        await hand.act(
            Click(target=stars[2])
        )  # the pointer alone fills the stars, so the click may change nothing more
        await hand.look()
        await done(hand, Click(target=hand.number("Day")))
        await done(hand, Click(target=hand.number("20")))

        assert await hand.js("[level, stars, day.value]") == [25, 3, "2026-02-20"]


@pytest.mark.thorough
async def test_cards_are_sorted_by_dragging(widget: Widget) -> None:
    body = "<ul class=uk-list uk-sortable id=order style='width:200px'><li class='uk-card'>Soup<li class='uk-card'>Fish<li class='uk-card'>Cheese<li class='uk-card'>Cake</ul>"
    async with widget("uikit", UIKIT + body) as hand:
        await done(hand, Drag(source=hand.number("Soup"), target=hand.number("Cheese")))
        await done(hand, Drag(source=hand.number("Cake"), target=hand.number("Fish")))

        assert await hand.js("order.innerText.split(/\\s+/).join(' ')") == "Cake Fish Cheese Soup"


@pytest.mark.thorough
async def test_what_a_pointer_opens_is_opened_and_a_notice_is_waited_for(widget: Widget) -> None:
    # Not in the corner, where Chromium's headless shell puts the mouse.
    body = """<h1>Lunch</h1><button class=uk-button>Menu</button><div uk-dropdown><a href="#in">Inside</a></div>
    <button class=uk-button onclick="setTimeout(() => UIkit.notification('Saved at last'), 300)">Save</button>"""
    async with widget("uikit", UIKIT + body) as hand:
        opened = await done(hand, Hover(target=hand.number("Menu")))
        assert "is now expanded" in opened.sentence
        assert hand.number("Inside")

        await hand.act(Click(target=hand.number("Save")))
        waited = await hand.act(Wait(text="Saved at last", seconds=5))
        assert waited.status == "done", waited.sentence


async def test_a_list_that_the_browser_itself_drags_is_sorted(widget: Widget) -> None:
    body = "<script src='/lib/Sortable.js'></script><ul id=order style='width:200px;line-height:2'><li>Soup<li>Fish<li>Cheese<li>Cake</ul><script>ended = []; Sortable.create(order, {animation: 150, onEnd: (e) => ended.push([e.oldIndex, e.newIndex])})</script>"
    async with widget("sortablejs", body) as hand:
        await done(hand, Drag(source=hand.number("Soup"), target=hand.number("Cheese")))
        cake = only(hand, lambda mark: mark.name == "Cake")
        await done(hand, Drag(source=cake.number, target=Offset(right=0, down=-3.2 * cake.box.height)))

        assert await hand.js("[ended, order.innerText.split('\\n').join(' ')]") == [
            [[0, 2], [3, 0]],
            "Cake Fish Cheese Soup",
        ]


@pytest.mark.thorough
async def test_a_name_is_signed_along_points_and_wiped_out(widget: Widget) -> None:
    body = "<script src='/lib/dist/signature_pad.umd.js'></script><canvas id=c width=500 height=200 aria-label=Sign></canvas><button onclick='pad.clear()'>Clear</button><script>pad = new SignaturePad(c)</script>"
    async with widget("signature_pad", body) as hand:
        signed = await done(
            hand,
            Drag(source=Point(x=58, y=58), target=Point(x=308, y=68), path=(Point(x=108, y=158), Point(x=208, y=48))),
        )
        assert "along 2 points" in signed.sentence
        [points] = await hand.js("pad.toData().map((stroke) => stroke.points.map(({x, y}) => [x, y]))")
        assert (points[0], points[-1]) == ([50, 50], [300, 60])
        assert {(100, 150), (200, 40)} <= {(x, y) for x, y in points}

        outside = await hand.act(Drag(source=Point(x=58, y=58), target=Point(x=58, y=5000)))
        assert outside.refusal == "outside", outside.sentence
        assert await hand.js("pad.toData().length") == 1
        await done(hand, Click(target=hand.number("Clear")))
        assert await hand.js("pad.isEmpty()")


async def test_a_menu_within_a_menu_is_opened_by_the_pointer(widget: Widget) -> None:
    body = """<ul id=menu style="width:150px"><li><div>Open</div><li><div>Recent</div><ul style="width:150px"><li><div>Letter</div><li><div>Bill</div></ul></ul>
    <script>$('#menu').menu({select: (_, ui) => chosen = ui.item.text()})</script>"""
    async with widget("jquery-ui-dist", JQUERY_UI + body) as hand:
        await done(hand, Hover(target=hand.number("Recent")))
        await done(hand, Wait(text="Bill", seconds=5))
        await done(hand, Click(target=hand.number("Bill")))

        assert await hand.js("chosen") == "Bill"


@pytest.mark.thorough
async def test_lines_of_a_code_editor_are_scrolled_to_and_selected_along_a_path(widget: Widget) -> None:
    body = """<link rel=stylesheet href="/lib/lib/codemirror.css"><script src="/lib/lib/codemirror.js"></script><textarea id=code></textarea>
    <script>code.value = Array.from({length: 60}, (_, i) => `line ${i}`).join('\\n'); editor = CodeMirror.fromTextArea(code)</script>"""
    async with widget("codemirror", body) as hand:
        editor = only(hand, lambda mark: mark.kind == "scroller").number
        await done(hand, Scroll(target=editor, to="end"))
        assert (await hand.act(Scroll(target=editor))).effect == "no_effect"
        places = "[[51, 0], [58, 0], [54, 7]].map(([line, ch]) => editor.charCoords({line, ch})).map((at) => [at.left + 1, at.top + 5])"
        start, middle, end = [hand.seen.marked.map.to_picture(Point(x=x, y=y)) for x, y in await hand.js(places)]
        await done(hand, Drag(source=start, target=end, path=(middle,)))

        assert await hand.js("editor.getSelection()") == "line 51\nline 52\nline 53\nline 54"
        bottom = await hand.js("editor.getScrollInfo().top")
        await done(hand, Scroll(target=editor, direction="up", pages=0.5))
        assert bottom - 200 < await hand.js("editor.getScrollInfo().top") < bottom - 100


@pytest.mark.thorough
async def test_cells_of_a_drawn_grid_are_selected_along_a_path(widget: Widget) -> None:
    async with widget("x-data-spreadsheet", SHEET) as hand:
        await done(hand, Drag(source=Point(x=110, y=40), target=Point(x=300, y=120), path=(Point(x=110, y=90),)))

        chosen = "(({sri, sci, eri, eci}) => [sri, sci, eri, eci])(sheet.sheet.data.selector.range)"
        assert await hand.js(chosen) == [0, 0, 3, 2]
