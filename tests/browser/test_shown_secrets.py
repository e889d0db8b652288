"""No picture shows a secret, however a page draws it: what styles write, what is drawn twice, what moves and blinks."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import io

import pytest
from PIL import Image
from pydantic import SecretStr

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.browser.observe.shown_secrets import drawn_secrets
from vision_agent.geometry import Box
from vision_agent.record.redact import Redactor
from vision_agent.types import Secret
from vision_agent.vision.ocr import can_read

VALUE = "Kumquat-Zeppelin9137"
SECRET = (Secret(name="word", value=SecretStr(VALUE)),)
SVG = f"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='40'%3E%3Ctext y='20'%3E{VALUE}%3C/text%3E%3C/svg%3E"
BETWEEN = "".join(f"<span>{each}</span><span style='color:white'>z</span>" for each in VALUE)

STILL = {
    "instead of a picture": f"<img src=/none.png alt={VALUE} width=300 height=40>",
    "in a list of options": f"<select size=3><option><option>{VALUE}<option></select>",
    "as a label of options": f"<select size=3><optgroup label={VALUE}><option></optgroup></select>",
    "before an item of a list": f"<ul style='margin-left:300px'><li style=\"list-style-type:'{VALUE}'\"></ul>",
    "as the marker of an item": f"<style>li::marker {{ content: '{VALUE}' }}</style><ul style='margin-left:300px'><li></ul>",
    "as a counter": f"<style>@counter-style own {{ system: fixed; symbols: '{VALUE}' }} i {{ counter-reset: n 1 }} i::before {{ content: counter(n, own) }}</style><i></i>",
    "as the number of an item": f"<style>@counter-style own {{ system: cyclic; symbols: '{VALUE}'; suffix: ' ' }}</style><ol style='margin-left:300px;list-style-type:own'><li></ol>",
    "as a hyphen": f"<p lang=en style=\"width:60px;hyphens:manual;hyphenate-character:'{VALUE}'\">abcdef&shy;ghijk",
    "as a shadow": f"<p style='text-shadow:300px 30px 0 black'>{VALUE}",
    "as a shadow of a box": f"<p style='filter:drop-shadow(300px 30px 0 black)'>{VALUE}",
    "as a shadow that alone is in view": f"<p style='position:absolute;left:-400px;text-shadow:450px 30px 0 black'>{VALUE}",
    "as a shadow of shadows": "<div style='filter:drop-shadow(20px 20px 0 black)'>" * 8 + f"<p>{VALUE}",
    "in a mirror": f"<p style='width:300px;-webkit-box-reflect:right 10px'>{VALUE}",
    "in a mirror below": f"<p style='width:300px;-webkit-box-reflect:below 10px'>{VALUE}",
    "in a repeated drawing": f"<svg width=700 height=60><defs><text id=told y=20>{VALUE}</text></defs><use href=#told x=200 y=20 /></svg>",
    "in a drawing that is an address": f'<img src="{SVG}">',
    "in a drawing behind a box": f'<div style="height:40px;background:url(&quot;{SVG}&quot;)"></div>',
    "in an object": f'<object data="{SVG}"></object>',
    "with white letters between": BETWEEN,
}
MOVING = {
    "moved by a script": f"<p id=it style='position:absolute'>{VALUE}<script>let x = 0; (function move() {{ x = (x + 17) % 600; it.style.left = `${{x}}px`; it.style.top = `${{x % 90}}px`; requestAnimationFrame(move) }})()</script>",
    "moved by a style": f"<style>@keyframes go {{ to {{ transform: translateX(500px) }} }}</style><p style='width:200px;animation:go .7s linear infinite alternate'>{VALUE}",
    "blinking": "<p id=it>&nbsp;<script>setInterval(() => { it.textContent = Math.random() < .5 ? VALUE : '' }, 5)</script>",
    "now and then": "<p id=it>&nbsp;<script>setInterval(() => { it.textContent = Math.random() < .2 ? VALUE : '' }, 40)</script>",
    "shown by a class": f"<style>.off {{ display: none }}</style><p id=it>{VALUE}<script>setInterval(() => it.classList.toggle('off'), 7)</script>",
    "pushed down": f"<p id=above></p><p>{VALUE}<script>setInterval(() => {{ above.style.height = `${{Math.random() * 400}}px` }}, 20)</script>",
    "in a shadow root": "<div id=it></div><script>const root = it.attachShadow({ mode: 'closed' }); setInterval(() => { root.innerHTML = Math.random() < .5 ? VALUE : '' }, 5)</script>",
    "scrolling": f"<div style='height:3000px'></div><p>{VALUE}<div style='height:3000px'></div><script>let y = 2500; setInterval(() => {{ y = y > 3000 ? 2500 : y + 30; scrollTo(0, y) }}, 10)</script>",
}


def dark_pixels(hand: Hand) -> int:
    """How many are as dark as text; the stripes of a mask and the pages have none."""
    assert hand.seen.clean.data is not None
    return sum(Image.open(io.BytesIO(hand.seen.clean.data)).convert("L").histogram()[:90])


@pytest.mark.parametrize("way", STILL)
async def test_a_value_that_a_page_draws_is_not_in_the_picture(on: On, way: str) -> None:
    async with on(STILL[way].replace("VALUE", f"'{VALUE}'")) as bare:
        assert dark_pixels(bare) > 200, "the page shows it"
    async with on(STILL[way], secrets=SECRET) as hand:
        assert dark_pixels(hand) == 0


@pytest.mark.parametrize("way", MOVING)
async def test_a_value_that_moves_or_blinks_is_in_no_picture(on: On, way: str) -> None:
    async with on(MOVING[way].replace("VALUE", f"'{VALUE}'"), secrets=SECRET) as hand:
        assert dark_pixels(hand) == 0
        for _ in range(6):
            await hand.look()
            assert dark_pixels(hand) == 0


@pytest.mark.parametrize("count", [700, 6000])
async def test_a_value_in_one_of_more_empty_boxes_than_are_asked_about_at_once_is_in_no_picture(
    on: On, count: int
) -> None:
    boxes = f"<style>div {{ float: left; width: 8px; height: 8px }} #it {{ float: none; width: 300px; height: 40px }}</style><div id=it></div>{'<div></div>' * count}"
    body = f"{boxes}<script>it.attachShadow({{ mode: 'closed' }}).innerHTML = '{VALUE}'</script>"
    async with on(body, secrets=SECRET) as hand:
        assert dark_pixels(hand) == 0
        await hand.look()
        assert dark_pixels(hand) == 0


@pytest.mark.parametrize("shown", ["4831", "4 8 3 1", "4-8-3-1", "4.8.3.1", "4\u200b8\u200b3\u200b1", "٤٨٣١"])
async def test_a_short_value_is_masked_in_pictures_as_in_text(on: On, shown: str) -> None:
    secrets = (Secret(name="pin", value=SecretStr("4831")),)
    async with on(f"<p>{shown}<p style='color:#999'>Next to it", secrets=secrets) as hand:
        assert dark_pixels(hand) == 0


SPLIT = {
    "a name that quotes two fields": "<label>Word <input value=Kumquat-Ze> <input value=ppelin9137></label>",
    "options": "<select multiple size=3 aria-label=Word><option>Kumquat-Ze<option>ppelin9137<option>Other</select>",
}


@pytest.mark.parametrize("way", SPLIT)
async def test_a_value_that_is_split_is_in_no_name_and_no_option(on: On, way: str) -> None:
    async with on(SPLIT[way], secrets=SECRET) as hand:
        said = hand.seen.model_dump_json()
        assert "ppelin9137" not in said
        assert "Kumquat-Ze" not in said
        assert "Word" in said


DRAWN = """<canvas id=it width=500 height=120></canvas><script>
const pen = it.getContext('2d');
pen.font = '22px sans-serif';
pen.fillText('WORDS', 20, 80);
</script>"""


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
@pytest.mark.parametrize("words", ["Kumquat Zeppelin", "Call Kumquat Zeppelin now"])
async def test_a_value_that_is_read_in_a_canvas_is_in_no_picture_and_what_is_beside_it_stays(
    on: On, words: str
) -> None:
    secrets = (Secret(name="who", value=SecretStr("Kumquat Zeppelin")),)
    page = DRAWN.replace("WORDS", words)
    settings = SETTINGS.model_copy(update={"ocr_deadline_s": 60})
    async with on(page, settings=settings) as bare:
        assert dark_pixels(bare) > 200
    async with on(page, secrets=secrets, settings=settings) as hand:
        assert dark_pixels(hand) == 0
        await hand.look()
        assert dark_pixels(hand) == 0
    beside = page.replace("</script>", "pen.fillText('Other words', 20, 30)</script>")
    async with on(beside, secrets=secrets, settings=settings) as hand:
        assert dark_pixels(hand) > 200


def test_a_value_that_is_read_in_two_texts_of_a_drawing_is_found() -> None:
    redact = Redactor(SECRET)
    first, second = Box(x=10, y=20, width=90, height=16), Box(x=100.5, y=20, width=90, height=16)
    texts = [("Kumquat-Ze", first), ("ppelin9137", second), ("Next to it", Box(x=10, y=80, width=90, height=16))]
    boxes = drawn_secrets(texts, redact.find)
    assert [(box.x, box.width) for box in boxes] == [(8, 94), (98.5, 94)]


PEN = "<canvas id=it width=WIDTH height=HEIGHT></canvas><script>const pen = it.getContext('2d'); pen.font = 'SIZEpx sans-serif'; "
LETTERS = f"[...'{VALUE}'].forEach((each, at) => pen.fillText(each, 4 + at * 20, 30))"


def drawn(width: int, height: int, size: int, script: str) -> str:
    pen = PEN.replace("WIDTH", str(width)).replace("HEIGHT", str(height)).replace("SIZE", str(size))
    return f"{pen}{script}</script>"


LEFT = drawn(120, 40, 20, f"pen.fillText('{VALUE}', 4, 27)")
IMAGE = "const shown = new Image(); shown.src = it.toDataURL(); it.replaceWith(shown)"
BEHIND = "document.body.insertAdjacentHTML('beforeend', `<div style=\"width:400px;height:40px;background:url(${it.toDataURL()})\"></div>`); it.remove()"
PIXELS = {
    "in a low canvas": drawn(400, 40, 20, f"pen.fillText('pw {VALUE}', 4, 27)"),
    "in a lower canvas": drawn(400, 30, 20, f"pen.fillText('pw {VALUE}', 4, 22)"),
    "in a canvas as low as its line": drawn(400, 20, 20, f"pen.fillText('pw {VALUE}', 0, 17)"),
    "in small letters": drawn(200, 12, 9, f"pen.fillText('pw {VALUE}', 1, 10)"),
    "in a picture made of a canvas": drawn(400, 40, 20, f"pen.fillText('pw {VALUE}', 4, 27); {IMAGE}"),
    "behind a box": drawn(400, 40, 20, f"pen.fillText('pw {VALUE}', 4, 27); {BEHIND}"),
    "from top to bottom": drawn(60, 400, 20, f"pen.rotate(Math.PI / 2); pen.fillText('{VALUE}', 20, -20)"),
    "upside down": drawn(400, 60, 20, f"pen.rotate(Math.PI); pen.fillText('{VALUE}', -300, -20)"),
    "aslant": drawn(400, 200, 20, f"pen.rotate(.5); pen.fillText('{VALUE}', 30, 20)"),
    "in large letters": drawn(1200, 120, 90, f"pen.fillText('{VALUE}', 10, 95)"),
    "letter by letter": drawn(420, 40, 18, LETTERS),
    "in two canvases": f"<div style='display:flex'>{LEFT}<canvas id=two width=300 height=40></canvas></div><script>const second = two.getContext('2d'); second.font = pen.font; second.fillText('{VALUE}', -116, 27)</script>",
}


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
@pytest.mark.parametrize("way", PIXELS)
async def test_a_value_in_pixels_is_in_no_picture_however_it_is_drawn(on: On, way: str) -> None:
    async with on(PIXELS[way]) as bare:
        assert dark_pixels(bare) > 50, "the page shows it"
    async with on(PIXELS[way], secrets=SECRET, settings=SETTINGS.model_copy(update={"ocr_deadline_s": 60})) as hand:
        assert dark_pixels(hand) == 0
        assert hand.seen.warnings == ()


LOW = drawn(400, 40, 20, f"pen.fillText('pw {VALUE}', 4, 27)")
UNREAD = SETTINGS.model_copy(update={"ocr_deadline_s": 0})
NOT_READ = "was not all read, so a secret in it could not be masked"


@pytest.mark.parametrize("body", [LOW, LOW.replace("height=40", "height=100")], ids=["low", "high"])
async def test_a_canvas_that_was_not_read_is_said_once_if_there_is_a_secret(on: On, body: str) -> None:
    async with on(body, settings=UNREAD) as bare:
        assert bare.seen.warnings == ()
    async with on(body, settings=UNREAD, secrets=SECRET) as hand:
        [warning] = hand.seen.warnings
        which = f"mark {hand.seen.marks[0].label_text}" if hand.seen.marks else "a canvas without a mark"
        assert warning == f"what is drawn in {which} {NOT_READ}"
        assert (await hand.look()).warnings == ()
        await hand.page.reload()
        assert (await hand.look()).warnings == (warning,)


async def test_other_pictures_that_were_not_read_are_counted_and_icons_and_blank_ones_are_not(on: On) -> None:
    body = PIXELS["in a picture made of a canvas"] + "<div style='height:20px'></div>"
    behind = PIXELS["behind a box"].replace("id=it", "id=other").replace("it.", "other.").replace("pen", "pen2")
    icons = "<svg width=16 height=16><path d='M0 0h16v16z'/></svg><canvas width=200 height=60></canvas>"
    async with on(body + behind + icons, settings=UNREAD, secrets=SECRET) as hand:
        assert hand.seen.warnings == (f"what is drawn in 2 pictures {NOT_READ}",)


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
async def test_a_value_that_is_misread_by_some_letters_is_in_no_picture(on: On) -> None:
    misread = VALUE.replace("l", "1").replace("q", "g")
    shown = drawn(400, 40, 20, f"pen.fillText('pw {misread}', 4, 27)")
    async with on(shown, secrets=SECRET, settings=SETTINGS.model_copy(update={"ocr_deadline_s": 60})) as hand:
        assert dark_pixels(hand) == 0
