"""Claims about what is drawn on canvases and the like: what gets a mark, where, and which number it keeps."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from math import hypot

import pytest
from playwright.async_api import Browser

from tests.browser.hand import SETTINGS, On
from tests.browser.painted import BOARD, BUTTONS, drawn, drawn_at, grid_of, painted
from tests.conftest import Server
from vision_agent.actions import Cell, Click, Point, Zoom
from vision_agent.browser import live
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.vision.image_limits import ImageLimits

WHERE = {each["name"]: (8 + each["x"] + 10, 8 + each["y"] + 10) for each in BUTTONS}
"""A point of each button, where the canvas begins at (8, 8)."""


def numbers(observation: Observation) -> dict[str, int]:
    return {name: drawn_at(observation, *point).number for name, point in WHERE.items()}


def is_near(one: Box, other: Box, by: float = 2) -> bool:
    edges = ((one.x, other.x), (one.y, other.y), (one.right, other.right), (one.bottom, other.bottom))
    return all(abs(mine - theirs) <= by for mine, theirs in edges)


async def test_a_drawn_button_gets_a_mark_that_says_it_is_a_guess(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        surface = hand.number("Board")
        save = drawn_at(hand.seen, *WHERE["Save"])
        assert (save.kind, save.surface, save.tag) == ("guess", surface, "box")
        assert save.confidence is not None
        assert save.confidence > 0.5
        assert is_near(save.box, Box(x=48, y=38, width=120, height=40))
        assert f"{save.number}[:]<box blue role=button in={surface} source=" in hand.seen.listing
        assert len(drawn(hand.seen)) == 3


async def test_alike_cells_are_one_mark_with_rows_and_columns(on: On) -> None:
    async with on(painted(*BUTTONS, *BOARD)) as hand:
        grid = grid_of(hand.seen)
        assert grid.grid is not None
        assert (grid.grid.rows, grid.grid.columns, len(grid.grid.cells)) == (6, 6, 36)
        cell = grid.grid.cell(2, 5)
        assert cell is not None
        assert is_near(cell, Box(x=8 + 340 + 150, y=8 + 20 + 60, width=30, height=30))
        assert f"{grid.number}[:]<grid rows=6 columns=6 in=" in hand.seen.listing
        assert len(drawn(hand.seen)) == 3


@pytest.mark.parametrize(
    "style",
    [
        "transform:scale(1.25);transform-origin:0 0",
        "margin:40px 0 0 60px",
        "border:12px solid #444",
        "width:960px;height:450px",
    ],
)
@pytest.mark.parametrize("sharp", [1, 2.5])
async def test_a_mark_is_where_the_thing_shows_however_the_canvas_is_placed(on: On, style: str, sharp: float) -> None:
    async with on(painted(*BUTTONS, style=style, sharp=sharp)) as hand:
        place = await hand.js("""(() => { const r = c.getBoundingClientRect(), wide = c.clientWidth;
            const scale = r.width / c.offsetWidth; return [r.x + c.clientLeft * scale, r.y + c.clientTop * scale, wide / 640 * scale]; })()""")
        for each in BUTTONS:
            x, y, w, h = (each[name] * place[2] for name in ("x", "y", "w", "h"))
            mark = drawn_at(hand.seen, place[0] + x + w / 4, place[1] + y + h / 4)
            assert is_near(mark.box, Box(x=place[0] + x, y=place[1] + y, width=w, height=h), by=2.5)


@pytest.mark.parametrize("ratio", [2, 3])
async def test_a_mark_is_where_the_thing_shows_on_a_sharper_screen(browser: Browser, serve: Server, ratio: int) -> None:
    context = await browser.new_context(viewport={"width": 800, "height": 600}, device_scale_factor=ratio)
    page = await context.new_page()
    async with live.attach(page, SETTINGS, ImageLimits()) as looking:
        await looking.open(
            serve({"/": f"<!doctype html><style>body{{margin:8px}}</style>{painted(*BUTTONS, sharp=ratio)}"})
        )
        seen = await looking.observe()
    save = drawn_at(seen, *WHERE["Save"])
    assert is_near(save.box, Box(x=48, y=38, width=120, height=40))
    await context.close()


async def test_what_is_drawn_in_a_frame_is_marked_where_the_page_shows_it(on: On) -> None:
    frame = "<iframe src=/inner style='margin:30px 0 0 50px;border:10px solid #ccc;width:660px;height:320px'></iframe>"
    async with on(frame, {"/inner": f"<style>body{{margin:0}}</style>{painted(*BUTTONS)}"}) as hand:
        x, y = await hand.js(
            "(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + 10, r.y + 10]; })()"
        )
        save = drawn_at(hand.seen, x + 60, y + 40)
        assert is_near(save.box, Box(x=x + 40, y=y + 30, width=120, height=40))
        assert save.frame == "1"


async def test_elements_over_a_canvas_are_marked_and_what_is_under_them_is_not(on: On) -> None:
    over = "<button style='position:absolute;left:44px;top:34px;width:130px;height:50px'>Real</button><div style='position:absolute;left:204px;top:34px;width:130px;height:50px;background:#fff'>A note</div>"
    async with on(painted(*BUTTONS) + over) as hand:
        assert [is_near(mark.box, Box(x=48, y=118, width=120, height=40)) for mark in drawn(hand.seen)] == [True]


async def test_numbers_stay_when_all_is_drawn_again(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        before = numbers(hand.seen)
        await hand.js("paint()")
        assert numbers(await hand.look()) == before
        assert hand.seen.change.new == hand.seen.change.gone == ()


async def test_a_button_that_changes_its_colour_keeps_its_number(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        before = numbers(hand.seen)
        await hand.js("things[1].colour = '#805ad5', paint()")
        assert numbers(await hand.look()) == before


async def test_what_moved_keeps_its_number_and_is_said_to_have_moved(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        before = numbers(hand.seen)
        await hand.js("things[2].y += 90, things[2].x += 60, paint()")
        await hand.look()
        stop = drawn_at(hand.seen, WHERE["Stop"][0] + 60, WHERE["Stop"][1] + 90)
        assert (stop.number, stop.change) == (before["Stop"], "moved")


async def test_numbers_stay_when_the_page_is_scrolled(on: On) -> None:
    async with on(painted(*BUTTONS) + "<div style='height:2000px'>") as hand:
        before = numbers(hand.seen)
        await hand.js("scrollTo(0, 20)")
        await hand.look()
        after = {name: drawn_at(hand.seen, x, y - 20).number for name, (x, y) in WHERE.items()}
        assert after == before
        await hand.js("scrollTo(0, 90)")
        await hand.look()
        assert drawn_at(hand.seen, WHERE["Stop"][0], WHERE["Stop"][1] - 90).number == before["Stop"]
        await hand.js("scrollTo(0, 0)")
        assert numbers(await hand.look()) == before


async def test_a_new_thing_gets_a_new_number_and_no_old_one(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        before = numbers(hand.seen)
        await hand.js("things.splice(1, 1, { name: 'Help', x: 420, y: 200, w: 90, h: 30, colour: '#222' }), paint()")
        await hand.look()
        helps = drawn_at(hand.seen, 8 + 430, 8 + 210)
        assert helps.number not in before.values()
        assert helps.change == "new"
        assert hand.seen.change.gone == (before["Send"],)


async def test_a_document_that_replaces_another_begins_anew(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        before = numbers(hand.seen)
        await hand.page.reload()
        assert numbers(await hand.look()) == before
        assert hand.seen.epoch == 2
        assert hand.seen.change.navigated


async def test_at_most_so_many_are_marked_and_the_others_are_counted(on: On) -> None:
    many = [
        {
            "name": "",
            "x": 12 + 31 * (n % 20),
            "y": 12 + (17 + n % 3) * (n // 20),
            "w": 9 + n % 7,
            "h": 11,
            "colour": "#3355aa",
        }
        for n in range(240)
    ]
    async with on(painted(*many), settings=SETTINGS.model_copy(update={"max_surface_marks": 25})) as hand:
        assert len([mark for mark in hand.seen.marks if mark.source != "dom"]) == 25
        left = next(part for part in hand.seen.listing.splitlines()[-1].split(" · ") if "guesses" in part)
        assert int(left.split()[-7]) > 100, left


async def test_surfaces_are_not_looked_into_where_that_is_not_wanted(on: On) -> None:
    async with on(painted(*BUTTONS), settings=SETTINGS.model_copy(update={"max_surface_marks": 0})) as hand:
        assert drawn(hand.seen) == []


FLOOD = "const pen = c.getContext('2d'); let n = 0; (function go() { for (let x = 0; x < 640; x += 20) for (let y = 0; y < 300; y += 20) { pen.fillStyle = `hsl(${(x * y + n * 47) % 360} 80% 50%)`; pen.fillRect(x, y, 18, 18); } n++; requestAnimationFrame(go); })();"
ODD = {
    "it is blank": ("<canvas id=c width=640 height=300></canvas>", 0),
    "it has no size": ("<canvas id=c width=0 height=0></canvas><button>Go</button>", 0),
    "it shows a picture of another site": ("<canvas id=c width=640 height=300></canvas><img id=i hidden src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"80\"><rect width=\"200\" height=\"80\" fill=\"teal\"/></svg>'><script>i.decode().then(() => c.getContext('2d').drawImage(i, 40, 40))</script>", 1),
    "its context is lost": ("<canvas id=c width=640 height=300></canvas><script>const gl = c.getContext('webgl'); gl.clearColor(0, 0.5, 1, 1); gl.clear(gl.COLOR_BUFFER_BIT); gl.getExtension('WEBGL_lose_context')?.loseContext();</script>", 1),  # Chromium's own sign for it
    "it is larger than the view": ("<canvas id=c width=3000 height=2400></canvas><script>const pen = c.getContext('2d'); pen.fillStyle = '#c53030'; for (const at of [40, 600, 2000]) pen.fillRect(at, at, 160, 60);</script>", 2),
    "it changes all the time": (f"<canvas id=c width=640 height=300></canvas><script>{FLOOD}</script>", 0),
    "it is a video that plays": (f"<canvas id=c width=640 height=300 style='position:absolute;left:-9999px'></canvas><video id=v muted autoplay width=640 height=300></video><script>v.srcObject = c.captureStream(0); const [track] = v.srcObject.getVideoTracks(); {FLOOD} (function send() {{ track.requestFrame(); requestAnimationFrame(send); }})();</script>", 0),
}  # fmt: skip


@pytest.mark.parametrize("body, many", ODD.values(), ids=ODD)
async def test_an_odd_surface_is_listed_as_it_is(on: On, body: str, many: int) -> None:
    async with on(body, settings=SETTINGS.model_copy(update={"settle_deadline_s": 0.5})) as hand:
        if "<video" in body:  # the first look may be over before its first picture is shown
            await hand.page.wait_for_function("v.currentTime > 0.3")
            await hand.look()
        assert len(drawn(hand.seen)) == many, hand.seen.listing
        assert [mark for mark in hand.seen.marks if mark.kind == "surface"] or "width=0" in body
        assert ("changes all the time" in " ".join(hand.seen.warnings)) == ("requestAnimationFrame" in body)


async def test_a_thing_that_moves_by_itself_is_said_to(on: On) -> None:
    rolling = "setInterval(() => { things[2].x = 40 + (things[2].x + 3) % 400; paint(); }, 16);"
    async with on(
        painted(*BUTTONS, more=rolling), settings=SETTINGS.model_copy(update={"settle_deadline_s": 0.4})
    ) as hand:
        assert not drawn_at(hand.seen, *WHERE["Save"]).moves
        assert [mark.moves for mark in drawn(hand.seen)].count(True) == 1
        assert " moving" in hand.seen.listing


async def test_an_svg_drawing_that_takes_clicks_is_looked_into(on: On) -> None:
    drawing = "<svg width=640 height=300 onclick='document.title = event.offsetX'><g pointer-events=none><rect x=60 y=50 width=120 height=60 fill=teal /><text x=400 y=200>Jan</text></g></svg>"
    async with on(drawing) as hand:
        mark = drawn_at(hand.seen, 100, 80)
        assert is_near(mark.box, Box(x=68, y=58, width=120, height=60))
        outcome = await hand.act(Click(target=mark.number))
        assert outcome.status == "done", outcome.sentence
        assert 100 < int(await hand.page.title()) < 140


PICTURE = '<img id=i alt=\'Floor plan\' width=400 height=200 src=\'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect x="50" y="50" width="80" height="40" fill="teal"/></svg>\'>'


async def test_a_picture_that_hears_where_it_is_pressed_is_a_surface_and_a_grid_points_into_it(on: On) -> None:
    hears = "<script>i.onmousedown = (event) => { document.title = `${event.offsetX},${event.offsetY}`; };</script>"
    async with on(PICTURE + hears) as hand:
        [mark] = hand.seen.marks
        assert (mark.kind, mark.tag, mark.name) == ("surface", "img", "Floor plan")
        assert is_near(mark.box, Box(x=8, y=8, width=400, height=200))
        await hand.act(Zoom(target=mark.number, grid=True))
        await hand.look()
        [grid] = [each for each in hand.seen.marks if each.grid]
        outcome = await hand.act(Click(target=Cell(mark=grid.number, row=2, column=3)))
        assert outcome.status == "done", outcome.sentence
        x, y = map(float, (await hand.page.title()).split(","))
        assert hypot(x - 2.5 * 400 / 12, y - 1.5 * 200 / 6) <= 2


@pytest.mark.parametrize(
    ("kind", "markup"),
    {
        "it hears clicks alone": ("button", PICTURE + "<script>i.onclick = () => {};</script>"),
        "it is a link's": ("link", f"<a href='#there'>{PICTURE}</a><script>i.onmousedown = () => false;</script>"),
        "it is not to be dragged": (
            "button",
            PICTURE + "<script>i.onclick = () => {}; i.onmousedown = () => false;</script>",
        ),
        "a lens follows the pointer": ("button", PICTURE + "<script>i.onmousemove = () => {};</script>"),
    }.values(),
)
async def test_a_picture_that_is_pressed_as_a_whole_is_no_surface(on: On, kind: str, markup: str) -> None:
    async with on(markup) as hand:
        assert [mark.kind for mark in hand.seen.marks] == [kind]


GLASS = "<div id=g style='position:absolute;left:8px;top:8px;width:640px;height:300px;{}'></div><script>g.onmousedown = (event) => {{ document.title = event.offsetX; }};</script>"


@pytest.mark.parametrize("inside", ["", "<span style='position:absolute;left:400px;top:200px'>A tip</span>"])
async def test_what_hears_the_clicks_on_a_canvas_stands_for_it(on: On, inside: str) -> None:
    async with on(painted(*BUTTONS) + GLASS.format("").replace("></div>", f">{inside}</div>")) as hand:
        [surface] = [mark for mark in hand.seen.marks if mark.kind == "surface"]
        assert (surface.tag, surface.name, hand.seen.covered) == ("div", "Board", ())
        save = drawn_at(hand.seen, *WHERE["Save"])
        outcome = await hand.act(Click(target=save.number))
        assert outcome.status == "done", outcome.sentence
        assert await hand.page.title() == "100"


async def test_what_covers_only_the_plot_of_a_chart_stands_for_its_axes_too(on: On) -> None:
    """As where a library hears the pointer over the plot alone; only there is something to press."""
    smaller = "left:48px;top:18px;width:590px;height:280px"
    async with on(painted(*BUTTONS) + GLASS.format(smaller)) as hand:
        [surface] = [mark for mark in hand.seen.marks if mark.kind == "surface"]
        whole = await hand.page.locator("canvas").bounding_box()
        assert whole is not None
        assert surface.tag == "div"
        assert is_near(surface.box, Box.model_validate(whole))
        save = drawn_at(hand.seen, *WHERE["Save"])
        outcome = await hand.act(Click(target=save.number))
        assert outcome.status == "done", outcome.sentence
        assert await hand.page.title() == "60"
        beside = await hand.act(Click(target=Point(x=20, y=200)))
        assert (beside.status, beside.refusal) == ("done", None), beside.sentence
        assert await hand.page.title() == "60"


@pytest.mark.parametrize("style", ["background:#0008", "inset:0;width:auto;height:auto", "background:#fff"])
async def test_a_backdrop_over_a_canvas_does_not_stand_for_it(on: On, style: str) -> None:
    async with on(painted(*BUTTONS) + GLASS.format(style)) as hand:
        assert drawn(hand.seen) == []
        assert [each.count for each in hand.seen.covered] == [1]


async def test_a_closer_look_at_one_canvas_forgets_nothing_of_another(on: On) -> None:
    second = (
        painted(*BUTTONS)
        .replace("id=c", "id=d")
        .replace("<script>", "<script>{")
        .replace("</script>", "}</script>")
        .replace("c.", "d.")
    )
    async with on(painted(*BUTTONS) + second) as hand:
        before = {mark.number for mark in drawn(hand.seen)}
        assert len(before) == 6
        first = min((mark for mark in hand.seen.marks if mark.kind == "surface"), key=lambda mark: mark.box.y)
        await hand.act(Zoom(target=Point(x=10, y=10), to=Point(x=600, y=250)))
        await hand.look()
        assert hand.seen.change.gone == ()
        assert {mark.surface for mark in drawn(hand.seen)} == {first.number}
        await hand.look()
        assert ({mark.number for mark in drawn(hand.seen)}, hand.seen.change.new) == (before, ())


async def test_a_canvas_that_is_made_anew_keeps_its_number_and_those_in_it(on: On) -> None:
    async with on(f"<main>{painted(*BUTTONS)}</main>") as hand:
        before = numbers(hand.seen)
        await hand.js(
            "{ const old = c, fresh = old.cloneNode(); fresh.getContext('2d').drawImage(old, 0, 0); old.replaceWith(fresh); }"
        )
        assert numbers(await hand.look()) == before


async def test_guesses_give_way_to_what_the_page_says_where_there_is_no_room_for_all(on: On) -> None:
    buttons = "".join(f"<button>{n}</button>" for n in range(8))
    async with on(painted(*BUTTONS) + buttons, settings=SETTINGS.model_copy(update={"max_marks": 9})) as hand:
        assert drawn(hand.seen) == []
        assert "3 left out: 3 guesses" in hand.seen.listing


async def test_a_guess_has_a_letter_where_numbers_have(on: On) -> None:
    async with on(painted(*BUTTONS, *BOARD), settings=SETTINGS.model_copy(update={"ids": "letters"})) as hand:
        assert {mark.letter for mark in hand.seen.marks if mark.source != "dom"} == {"M"}


def board(style: str = "touch-action:none", shape: str = "pointer-events:none", listens: str = "wheel") -> str:
    """A board of elements: its shapes let the pointer through, and its root hears all presses."""
    shapes = "".join(
        f"<svg width=120 height=80 style='position:absolute;left:{x}px;top:{y}px;{shape}'>"
        f"<rect width=120 height=80 fill={colour} onclick=''></rect></svg>"
        for x, y, colour in ((60, 50, "%232b6cb0"), (400, 50, "%23c53030"), (220, 200, "%232f855a"))
    ).replace("%23", "#")
    return f"""<main aria-label=Garden><div id=b style='position:relative;width:700px;height:500px;background:#fff;{style}'>{shapes}</div></main>
<script>hits = []; document.querySelector('main').addEventListener('pointerdown', (e) => hits.push([e.offsetX, e.offsetY]));
b.addEventListener('{listens}', () => {{}});</script>"""


async def test_a_board_of_elements_that_let_the_pointer_through_is_a_surface_with_its_shapes(on: On) -> None:
    async with on(board()) as hand:
        [surface] = [mark for mark in hand.seen.marks if mark.kind == "surface"]
        assert is_near(surface.box, Box(x=8, y=8, width=700, height=500))
        assert f"{surface.number}[:]<div surface x=8 y=8 w=700 h=500 listens=wheel>" in hand.seen.listing
        assert [mark.look for mark in drawn(hand.seen)] == ["blue", "red", "green"]
        red = drawn_at(hand.seen, 8 + 460, 8 + 90)
        await hand.act(Click(target=red.number))
        [(x, y)] = await hand.js("hits")
        assert abs(x - 460) <= 3
        assert abs(y - 90) <= 3


@pytest.mark.parametrize(
    "content",
    [
        board(style=""),
        board(shape=""),
        board(listens="scroll"),
        board().replace("</div>", "<p style='height:500px'>Text</div>"),
    ],
    ids=["pans by touch", "shapes of their own", "no wheel", "text all over"],
)
async def test_what_is_pressed_part_by_part_or_scrolls_is_no_board(on: On, content: str) -> None:
    async with on(content) as hand:
        assert [mark for mark in hand.seen.marks if mark.kind == "surface" and mark.tag == "div"] == []
