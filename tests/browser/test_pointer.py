"""Claims about clicks, hovers, drags and scrolling: what arrives in the page, and where."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click, Drag, Hover, Offset, Point, Scroll, SelectText

COUNT = """<button id=b style="width:120px;height:40px">Press</button><p id=log></p><script>
for (const kind of ['click', 'dblclick', 'contextmenu', 'auxclick']) b.addEventListener(kind, (e) => {
    e.preventDefault();
    log.textContent += ` ${kind}${e.button}${e.ctrlKey ? 'C' : ''}${e.shiftKey ? 'S' : ''}${e.isTrusted ? '' : '!'}`;
});</script>"""


@pytest.mark.parametrize("by", ["mark", "point"])
@pytest.mark.parametrize(
    ("more", "heard", "said"),
    [
        ({}, "click0", "Clicked"),
        ({"count": 2}, "click0 click0 dblclick0", "Double-clicked"),
        ({"button": "right"}, "contextmenu2 auxclick2", "Right-clicked"),
        ({"button": "middle"}, "auxclick1", "Middle-clicked"),
        ({"modifiers": ("Control", "Shift")}, "click0CS", "Clicked"),
    ],
)
async def test_a_click_arrives_as_it_was_meant(on: On, by: str, more: dict[str, Any], heard: str, said: str) -> None:
    async with on(COUNT) as hand:
        target = hand.number("Press") if by == "mark" else hand.point("Press")
        outcome = await hand.act(Click(target=target, **more))
        # Chromium tells of a right click when the button goes down, others when it comes up.
        assert sorted((await hand.js("log.textContent")).split()) == sorted(heard.split())
        assert (outcome.status, outcome.effect) == ("done", "changed")
        assert outcome.sentence.startswith(said)
        assert outcome.rung == (1 if by == "mark" else 4)
        assert outcome.pixels_near is not None
        assert outcome.pixels_near > 0


async def test_hover_opens_what_opens_under_the_pointer(on: On) -> None:
    async with on(
        "<style>#m{display:none}#h:hover+#m{display:block}</style><button id=h>Menu</button><button id=m>Item</button>"
    ) as hand:
        outcome = await hand.act(Hover(target=hand.number("Menu")))
        assert outcome.effect == "changed"
        opened = await hand.look()
        assert [mark.name for mark in opened.marks] == ["Menu", "Item"]
        assert [(mark.state.popup, mark.change) for mark in opened.marks] == [("hover", ""), (None, "new")]


SORTED = """<div role=ROLE id=list></div><p id=log></p><script>
let names = ['Ann', 'Bob', 'Cem'];
list.innerHTML = names.map(() => '<ITEM style="width:90px;height:30px"></ITEM>').join('');
const draw = () => [...list.children].forEach((each, i) => each.textContent = names[i]);
draw();
list.addEventListener('pointerdown', (e) => { log.textContent += names[[...list.children].indexOf(e.target)]; });
list.addEventListener('pointerover', () => { names.reverse(); names.push(names.shift()); draw(); }, {once: true});</script>"""


@pytest.mark.parametrize(
    ("around", "item"),
    [
        ("group", "button"),
        ("menu", "div role=menuitem tabindex=0"),
        ("listbox", "div role=option tabindex=0"),
        ("tree", "div role=treeitem tabindex=0"),
    ],
)
async def test_what_takes_the_name_of_another_under_the_pointer_is_not_pressed(on: On, around: str, item: str) -> None:
    async with on(
        SORTED.replace("ROLE", around).replace("<ITEM", f"<{item}").replace("/ITEM", f"/{item.split()[0]}")
    ) as hand:
        outcome = await hand.act(Click(target=hand.number("Bob")))
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert '"Bob") has become' in outcome.sentence
        assert '"Ann". Look at the new listing' in outcome.sentence
        assert await hand.js("log.textContent") == ""


@pytest.mark.parametrize(("then", "now"), [("Bob", "Bob (open)"), ("Add to cart", "Add 2 to the cart"), ("", "Close")])
async def test_what_says_more_under_the_pointer_is_still_itself(on: On, then: str, now: str) -> None:
    button = f"<button style='width:160px;height:30px' onpointerover='this.innerText = `{now}`'>{then}</button>"
    async with on(f"{button}<button>Ann</button>") as hand:
        outcome = await hand.act(Click(target=hand.number(then)))
        assert outcome.status == "done", outcome.sentence


@pytest.mark.parametrize("now", ["Zed", "Bob, €9.99"])
async def test_what_says_something_else_or_an_amount_under_the_pointer_is_not_pressed(on: On, now: str) -> None:
    async with on(f"<button style='width:90px' onpointerover='this.innerText = `{now}`'>Bob</button>") as hand:
        outcome = await hand.act(Click(target=hand.number("Bob")))
        assert outcome.status == "refused", outcome.sentence


DRAG = """<style>div{width:60px;height:60px;background:#ccf;position:absolute}</style>
<div id=a draggable=true aria-label=Source style="left:20px;top:20px"></div><div id=z tabindex=0 aria-label=Goal style="left:300px;top:200px"></div><p id=log></p>
<script>a.ondragstart = (e) => e.dataTransfer.setData('text', 'x'); z.ondragover = (e) => e.preventDefault();
z.ondrop = (e) => { e.preventDefault(); log.textContent = 'dropped ' + e.dataTransfer.getData('text'); };</script>"""

SLIDE = """<canvas id=c width=400 height=200 style="background:#eee" aria-label=Board></canvas><p id=log></p><script>
let path = []; c.onpointerdown = () => { path = [1]; }; c.onpointermove = () => path.push(1);
c.onpointerup = (e) => { log.textContent = `${path.length > 8} ${e.offsetX},${e.offsetY}`; };</script>"""


async def test_drag_takes_a_mark_to_another(on: On) -> None:
    async with on(DRAG) as hand:
        outcome = await hand.act(Drag(source=hand.number("Source"), target=hand.number("Goal")))
        assert await hand.js("log.textContent") == "dropped x"
        assert outcome.effect == "changed"


async def test_drag_goes_from_point_to_point_along_a_path(on: On) -> None:
    async with on(SLIDE) as hand:
        await hand.act(Drag(source=Point(x=50, y=50), target=Point(x=308, y=108)))
        assert await hand.js("log.textContent") == "true 300,100"


async def test_a_path_of_many_points_is_drawn_through_all_of_them_with_few_moves(on: On) -> None:
    body = """<canvas id=c width=900 height=600></canvas><script>
    const been = [];
    c.onpointermove = (event) => { if (event.buttons) been.push([event.clientX, event.clientY]) };
    </script>"""
    circle = [(400 + 200 * math.cos(n / 75 * math.pi), 300 + 200 * math.sin(n / 75 * math.pi)) for n in range(151)]
    async with on(body) as hand:
        first, *way, last = (Point(x=round(x), y=round(y)) for x, y in circle)
        outcome = await hand.act(Drag(source=first, target=last, path=tuple(way)))
        been = [tuple(each) for each in await hand.js("been")]
        assert outcome.status == "done", outcome.sentence
        assert [each for each in been if each in {(point.x, point.y) for point in way}] == [
            (point.x, point.y) for point in way
        ]
        assert len(been) < 200


BEEN = """<canvas id=c width=400 height=200 aria-label=Board></canvas><script>
const been = []; c.onpointermove = (event) => { if (event.buttons) been.push([event.offsetX, event.offsetY]) };
const log = []; for (const type of ['pointerdown', 'pointerup']) c.addEventListener(type, () => log.push(type));</script>"""


async def test_a_path_goes_by_distances_from_the_source(on: On) -> None:
    async with on(BEEN) as hand:
        way = (Offset(right=0, down=50), Point(x=158, y=158), Offset(right=100, down=0))
        outcome = await hand.act(Drag(source=Point(x=58, y=58), target=Offset(right=0, down=0), path=way))

        assert outcome.status == "done", outcome.sentence
        corners = [[50, 100], [150, 150], [150, 50], [50, 50]]
        assert [each for each in await hand.js("been") if each in corners][: len(corners)] == corners


async def test_nothing_is_pressed_where_a_path_leaves_the_view(on: On) -> None:
    async with on(BEEN) as hand:
        way = (Offset(right=0, down=50), Offset(right=-100, down=0))
        outcome = await hand.act(Drag(source=Point(x=58, y=58), target=Offset(right=10, down=0), path=way))

        assert (outcome.status, outcome.refusal) == ("refused", "outside")
        assert await hand.js("log") == []


MAP = """<div id=view style="width:500px;height:400px;overflow:hidden;position:relative;user-select:none"><div id=land
style="position:absolute;width:2000px;height:2000px;background:#eee"><button style="position:absolute;left:100px;top:100px;width:80px;height:20px">Oak</button>
<button style="position:absolute;left:300px;top:200px;width:80px;height:20px" aria-label="BROOK">Brook</button></div></div><p id=log></p><script>
let x = 0, y = 0, from = null; view.onpointerdown = (e) => { from = [e.clientX - x, e.clientY - y]; };
view.onpointermove = (e) => { if (from) { [x, y] = [e.clientX - from[0], e.clientY - from[1]]; land.style.translate = `${x}px ${y}px`; } };
view.onpointerup = () => { from = null; };</script>"""


async def test_a_map_is_moved_by_dragging_one_of_its_places_to_another(on: On) -> None:
    async with on(MAP.replace("BROOK", "Brook")) as hand:
        outcome = await hand.act(Drag(source=hand.number("Oak"), target=hand.number("Brook")))
        assert outcome.status == "done", outcome.sentence
        assert '(button "Brook") moved along: 204 px to the right and 104 px down' in outcome.sentence
        assert await hand.js("[x, y]") == [204, 104]


async def test_a_map_is_moved_by_dragging_its_ground_to_a_place_on_it(on: On) -> None:
    async with on(MAP.replace("BROOK", "Brook")) as hand:
        outcome = await hand.act(Drag(source=Point(x=248, y=358), target=hand.number("Brook")))
        assert outcome.status == "done", outcome.sentence
        assert "moved along: 104 px to the right and 144 px up" in outcome.sentence
        assert await hand.js("[x, y]") == [104, -144]


async def test_what_moves_along_is_no_place_to_drop_on_if_that_could_not_be_undone(on: On) -> None:
    async with on(MAP.replace("BROOK", "Delete all")) as hand:
        outcome = await hand.act(Drag(source=hand.number("Oak"), target=hand.number("Delete all")))
        assert (outcome.status, outcome.refusal) == ("partial", "moved")
        assert "moved away while" in outcome.sentence
        assert await hand.js("[x, y]") == [0, 0]


@pytest.mark.parametrize(
    "moves",
    [
        "box.style.translate = `${e.clientX - 60}px ${e.clientY - 60}px`",
        "box.style.rotate = `${Math.atan2(e.clientY - 108, e.clientX - 108)}rad`",
    ],
)
async def test_an_end_that_lies_on_what_is_dragged_is_a_place_in_the_view(on: On, moves: str) -> None:
    body = f"""<div id=box role=button tabindex=0 style="width:200px;height:200px;background:#8c8">Box</div><script>
    let held = false, up = []; box.onpointerdown = () => {{ held = true; }};
    onpointermove = (e) => {{ if (held) {moves}; }}; onpointerup = (e) => {{ held = false; up = [e.clientX, e.clientY]; }};</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Drag(source=Point(x=60, y=60), target=Point(x=150, y=180)))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("up") == [150, 180]


async def test_nothing_that_deletes_is_dropped_on_itself_once_it_has_moved(on: On) -> None:
    body = """<button id=box style="width:200px;height:200px">Delete all</button><script>
    let held = false; box.onpointerdown = () => { held = true; }; onpointerup = () => { held = false; };
    onpointermove = (e) => { if (held) box.style.rotate = `${Math.atan2(e.clientY - 108, e.clientX - 108)}rad`; };</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Drag(source=hand.number("Delete all"), target=Point(x=150, y=180)))
        assert (outcome.status, outcome.refusal) == ("partial", "moved"), outcome.sentence


async def test_a_drag_from_the_bare_page_that_is_cut_off_is_told_as_begun(on: On) -> None:
    body = """<p style="height:100px">Ground</p><button id=goal style="position:relative">Goal</button><script>
    const heard = []; for (const kind of ['mousedown', 'mouseup']) addEventListener(kind, (e) => heard.push(kind));
    onmousemove = (e) => { if (e.buttons) goal.style.left = '300px'; };</script>"""
    async with on(body) as hand:
        outcome = await hand.act(Drag(source=Point(x=300, y=90), target=hand.number("Goal")))
        assert await hand.js("heard") == ["mousedown", "mouseup"]
        assert (outcome.status, outcome.refusal) == ("partial", "moved")
        assert "a press on the point (300, 90) was sent" in outcome.sentence.lower()


async def test_drag_goes_so_far_from_where_a_mark_is(on: On) -> None:
    async with on(SLIDE) as hand:
        outcome = await hand.act(Drag(source=hand.number("Board"), target=Offset(right=60, down=-10)))
        assert "60 px to the right and 10 px up" in outcome.sentence
        assert await hand.js("log.textContent") == "true 260,90"


async def test_drag_out_of_the_view_is_refused_before_anything_is_pressed(on: On) -> None:
    async with on(SLIDE) as hand:
        outcome = await hand.act(Drag(source=hand.number("Board"), target=Offset(right=-3000, down=0)))
        assert (outcome.refusal, await hand.js("path.length")) == ("outside", 0)
        assert "3000 px to the left" in outcome.sentence


async def test_what_is_pushed_away_while_it_comes_into_view_is_pointed_at_where_it_stands_then(on: On) -> None:
    body = """<style>html{overflow-anchor:none}</style><div id=top style='height:2000px'></div><button onmouseover="document.title = 'hit'" onmouseout="document.title = ''">Menu</button><div style='height:900px'></div>
    <script>let loads = false; addEventListener('scroll', () => loads && scrollY > 500 && setTimeout(() => document.getElementById('top').style.height = '2060px', 15));</script>"""
    async with on(body) as hand:
        await hand.js("scrollTo(0, 1900)")
        await hand.look()
        await hand.js("scrollTo(0, 0); loads = true")
        outcome = await hand.act(Hover(target=hand.number("Menu")))
        assert (outcome.status, await hand.page.title()) == ("done", "hit")


GLIDES = """<style>li{height:40px;width:200px;list-style:none;cursor:grab;background:#eee}</style><ul id=l><li>Soup<li>Fish<li>Cheese</ul><script>
let held = null, gliding = 0;
l.onpointerdown = (e) => { held = e.target };
onpointerup = () => { held = null };
onpointermove = (e) => {
    const over = document.elementFromPoint(e.clientX, e.clientY).closest('li');
    if (!held || !over || over === held || gliding) return;
    gliding = 1;
    over.after(held);
    over.animate([{ transform: 'translateY(40px)' }, {}], 300).onfinish = () => { gliding = 0 };
};</script>"""


async def test_what_is_dragged_is_let_go_when_the_rows_that_make_room_for_it_have_come_to_rest(on: On) -> None:
    async with on(GLIDES) as hand:
        await hand.act(Drag(source=hand.number("Soup"), target=hand.number("Cheese")))
        assert (await hand.js("l.innerText")).split() == ["Fish", "Cheese", "Soup"]


TEXT = """<style>#top{height:3000px}p{width:300px}#no{user-select:none}</style><p>It was the <b>best</b> of
times, it was the worst of times.</p><p>Twice here. Twice here.</p><p id=no>Cannot be taken.</p>
<p>See <a href=/b>the other page</a> of it.</p><div contenteditable aria-label=Story>Write <i>your</i> own.</div>
<div onclick="document.title = 'opened'" style="cursor:pointer">A card about chairs.</div>
<iframe srcdoc="<p>Words in a frame.</p>" width=300 height=80></iframe><div id=top></div><p>The very end.</p>"""


@pytest.mark.parametrize(
    ("first", "last", "selected"),
    [
        ("best", "best", "best"),
        ("the best of times", "the best of times", "the best of times"),
        ("was the best", "worst", "was the best of times, it was the worst"),
        ("worst of", "Twice here.", "worst of times. Twice here."),
        ("your", "own", "your own"),
        ("The very", "end.", "The very end."),
        ("times ‹worst of times›", "times ‹worst of times›", "times"),
        ("of ‹worst of times›", "Twice here.", "of times. Twice here."),
    ],
)
async def test_words_are_selected_from_the_first_to_the_last(on: On, first: str, last: str, selected: str) -> None:
    async with on(TEXT) as hand:
        outcome = await hand.act(SelectText(first=first, last=last))
        assert outcome.status == "done", outcome.sentence
        assert outcome.sentence.startswith(f'Selected "{selected}".')
        assert " ".join((await hand.js("getSelection().toString()")).split()) == selected


async def test_words_in_a_frame_are_selected_there(on: On) -> None:
    async with on(TEXT) as hand:
        outcome = await hand.act(SelectText(first="in", last="frame"))
        assert outcome.status == "done", outcome.sentence
        assert await hand.page.frames[1].evaluate("getSelection().toString()") == "in a frame"


@pytest.mark.parametrize(
    ("first", "last", "refusal", "words"),
    [
        ("Twice", "here", "ambiguous", "appears 2 times: "),
        ("times ‹of times›", "times ‹of times›", "ambiguous", "Start with more of its words, or add a longer passage"),
        ("times ‹best of days›", "times", "gone", "does not appear as written"),
        ("Never", "here", "gone", "does not appear as written"),
        ("best", "It was", "gone", '"It was" does not come after "best"'),
        ("Cannot", "taken", "unsupported", "nothing is selected instead"),
        ("other", "page", "unsupported", 'is in <a> "the other page" [1], which reacts to a press'),
        ("about", "chairs", "unsupported", "which reacts to a press"),
        ("", "times", "gone", "does not appear as written"),
    ],
)
async def test_words_that_cannot_be_selected_for_sure_are_not(
    on: On, first: str, last: str, refusal: str, words: str
) -> None:
    async with on(TEXT) as hand:
        outcome = await hand.act(SelectText(first=first, last=last))
        assert (outcome.refusal, words in outcome.sentence) == (refusal, True), outcome.sentence
        assert await hand.page.title() == ""


async def test_words_that_something_lies_over_are_not_selected(on: On) -> None:
    async with on(TEXT) as hand:
        await hand.js(
            "document.body.insertAdjacentHTML('beforeend', '<dialog open aria-label=Cookies style=\"position:fixed;margin:0;inset:0 auto auto 0;height:200px;width:600px\">Cookies</dialog>')"
        )
        outcome = await hand.act(SelectText(first="best", last="times"))
        assert outcome.refusal == "covered"
        assert 'covered by <dialog> "Cookies"' in outcome.sentence
        assert await hand.js("getSelection().toString()") == ""


SCROLLS = """<style>#box{width:200px;height:100px;overflow:auto}#wide{width:200px;height:60px;overflow-x:auto}</style>
<div id=box aria-label=List tabindex=0><div style="height:1000px"><button>In list</button></div></div>
<div id=wide aria-label=Row tabindex=0><div style="width:900px;height:40px"></div></div><div style="height:3000px"></div>"""


@pytest.mark.parametrize(
    ("action", "moved", "by"),
    [
        ({}, "scrollY", 640),
        ({"pages": 0.5}, "scrollY", 400),
        ({"target": "List"}, "box.scrollTop", 80),
        ({"target": "In list", "pages": 1}, "box.scrollTop", 100),
        ({"target": "Row", "direction": "right"}, "wide.scrollLeft", 160),
    ],
)
async def test_a_page_or_a_container_scrolls_by_shares_of_its_view(
    on: On, action: dict[str, Any], moved: str, by: int
) -> None:
    async with on(SCROLLS) as hand:
        if "target" in action:
            action = {**action, "target": hand.number(action["target"])}
        outcome = await hand.act(Scroll(**action))
        assert await hand.js(moved) == by
        assert (outcome.effect, outcome.status) == ("changed", "done")
        assert f"by {by} px" in outcome.sentence


async def test_at_its_end_nothing_scrolls_and_it_is_said(on: On) -> None:
    async with on(SCROLLS) as hand:
        outcome = await hand.act(Scroll(direction="up"))
        assert outcome.effect == "no_effect"
        assert "The page did not scroll up: it is at its end" in outcome.sentence


async def test_what_holds_a_mark_in_a_frame_scrolls_in_its_frame(on: On) -> None:
    body = "<iframe src=/in width=300 height=200></iframe>"
    async with on(body, {"/in": "<button>Top</button><div style='height:2000px'></div>"}) as hand:
        outcome = await hand.act(Scroll(target=hand.number("Top"), pages=1))
        assert await hand.page.frames[1].evaluate("scrollY") == 200
        assert outcome.effect == "changed"


async def test_the_wheel_turns_over_a_surface(on: On) -> None:
    async with on(
        "<canvas id=c width=300 height=200 aria-label=Map onwheel='document.title = Math.sign(event.deltaY)'></canvas>"
    ) as hand:
        await hand.act(Scroll(target=hand.number("Map"), direction="up"))
        assert await hand.page.title() == "-1"


HOLLOW = """<script>addEventListener('pointerup', (event) => { document.title = event.target.id })</script>
<svg width=400 height=300 style="position:absolute; left:0; top:0"><rect id=ground width=400 height=300 fill=#eee></rect>
  <g onclick="0" style="cursor: pointer"><path id=block fill=green d="M50 50 h200 v40 h-160 v40 h160 v40 h-200 z"></path>
  </g></svg>"""


async def test_a_point_in_the_hollow_of_a_shape_reaches_what_is_painted_below_it(on: On) -> None:
    async with on(HOLLOW) as hand:
        inside = await hand.act(Click(target=Point(x=180, y=110)))
        assert (inside.status, await hand.page.title()) == ("done", "ground"), inside.sentence
        await hand.look()
        await hand.act(Click(target=Point(x=70, y=110)))
        assert await hand.page.title() == "block"


async def test_a_point_in_a_shape_that_something_was_drawn_over_is_refused(on: On) -> None:
    async with on(HOLLOW) as hand:
        await hand.js(
            "document.querySelector('svg').insertAdjacentHTML('beforeend', "
            "'<rect id=veil width=400 height=300 fill=transparent />')"
        )
        outcome = await hand.act(Click(target=Point(x=180, y=110)))
        assert (outcome.status, outcome.refusal) == ("refused", "moved")
        assert await hand.page.title() == ""


async def test_the_wheel_turns_over_a_surface_notch_by_notch(on: On) -> None:
    page = (
        "<canvas id=c width=300 height=200 aria-label=Map></canvas><script>let turned = [];"
        "c.onwheel = ({ deltaY }) => { turned.push(deltaY); document.title = turned.join(' ') }</script>"
    )
    async with on(page) as hand:
        await hand.act(Scroll(target=hand.number("Map"), direction="up", px=300))
        assert await hand.page.title() == "-100 -100 -100"


async def test_a_mark_out_of_view_is_brought_into_view_before_the_click(on: On) -> None:
    async with on("<button id=b onclick='document.title = 1'>Far</button><div style='height:5000px'></div>") as hand:
        await hand.js("scrollTo(0, 3000)")
        outcome = await hand.act(Click(target=hand.number("Far")))
        assert outcome.status == "done"
        assert await hand.page.title() == "1"


COLUMNS = """<style>section{float:left;width:150px} .zone{height:40px;background:#eee}</style>
<div id=card draggable=true tabindex=0 role=button style="width:60px">Task</div>
<section><h3>Later</h3><div class=zone role=button tabindex=0 aria-label=Drop></div></section>
<section><h3>Bin</h3><div class=zone role=button tabindex=0 aria-label=Drop></div></section><p id=log></p><script>
const heads = document.querySelectorAll('h3'), zones = document.querySelectorAll('.zone');
card.ondragstart = (e) => e.dataTransfer.setData('text', 'x');
zones.forEach((zone, i) => {
    zone.ondragover = (e) => e.preventDefault();
    zone.ondrop = (e) => { e.preventDefault(); log.textContent = 'dropped on ' + heads[i].textContent; };
});
const swap = () => { [heads[0].textContent, heads[1].textContent] = ['Bin', 'Later']; };</script>"""


@pytest.mark.parametrize(
    "when",
    [
        "zones[0].addEventListener('dragover', swap, {once: true})",
        "card.addEventListener('dragstart', () => setTimeout(swap))",
        "card.addEventListener('mousedown', () => setTimeout(swap))",
    ],
)
async def test_what_is_held_is_brought_back_when_the_target_comes_under_another_heading(on: On, when: str) -> None:
    async with on(f"{COLUMNS}<script>{when}</script>") as hand:
        card, later, _ = (mark.number for mark in hand.seen.marks)
        outcome = await hand.act(Drag(source=card, target=later))
        dropped = await hand.js("log.textContent")
        assert (outcome.status, outcome.refusal) == ("partial", "moved"), f"{outcome.sentence} {dropped}"
        assert "pointerdown" in outcome.sentence
        assert 'changed from "Later" to "Bin" while' in outcome.sentence
        assert dropped == ""


async def test_a_drop_reaches_the_column_that_was_meant(on: On) -> None:
    async with on(COLUMNS) as hand:
        card, later, _ = (mark.number for mark in hand.seen.marks)
        outcome = await hand.act(Drag(source=card, target=later))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log.textContent") == "dropped on Later"


TABS = """<ul role=tablist style="list-style:none"><li role=tab id=tab style="padding:15px 150px 15px 20px;border:1px solid"><a href="#two">Second</a></li></ul>
<p id=panel></p><script>document.querySelector('a').addEventListener('click', () => panel.textContent = 'opened')</script>"""


async def test_a_tab_is_pressed_on_the_link_in_it_that_opens_it(on: On) -> None:
    async with on(TABS) as hand:
        assert [mark.role for mark in hand.seen.marks if mark.name == "Second"] == ["tab"]
        outcome = await hand.act(Click(target=hand.number("Second")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("panel.textContent") == "opened"


async def test_a_tab_whose_link_leads_elsewhere_since_the_look_is_not_pressed_on_it(on: On) -> None:
    async with on(TABS) as hand:
        await hand.js("void (document.querySelector('a').href = 'https://shop.example/')")
        await hand.act(Click(target=hand.number("Second")))
        assert await hand.js("panel.textContent") == ""


RENAMED_ON_HOVER = """<button onpointerover="this.textContent = 'Stop'">Edit</button>
<button onclick="said.push('other')">Other</button><script>said = []</script>"""


async def test_a_press_that_is_refused_under_the_pointer_stops_no_later_press(on: On) -> None:
    async with on(RENAMED_ON_HOVER) as hand:
        outcome = await hand.act(Click(target=hand.number("Edit")))
        assert outcome.refusal == "changed", outcome.sentence
        await hand.page.get_by_role("button", name="Other").click()
        assert await hand.js("said") == ["other"]
