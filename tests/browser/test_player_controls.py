"""Claims about controls that a player hides while the pointer rests: they are marked, and acted on, all the same."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from tests.browser.libraries import Widget
from vision_agent.actions import Click, Hover, Point, Set

SCRIPT = """<script>
const log = []; let shown = true, timer = 0, idle = 1000;
const hide = () => { shown = false; HIDE; };
const show = () => { if (!shown) { shown = true; SHOW; } };
const wake = () => { show(); clearTimeout(timer); timer = setTimeout(hide, idle); };
player.addEventListener('pointermove', wake);
player.addEventListener('pointerleave', hide);
player.addEventListener('click', (e) => log.push(e.target.id || e.target.localName));
</script>"""
BAR = "<button id=play>Play</button><button id=mute>Mute</button><label>Volume<input id=volume type=range min=0 max=10 value=5></label>"
PLAYER = f"""<p><button id=other>Other</button></p><div id=player style="position:relative;width:480px;height:270px;background:#123;overflow:hidden">
<video style="width:100%;height:100%"></video><div id=bar style="position:absolute;left:0;right:0;bottom:0;padding:8px">{BAR}</div></div>{SCRIPT}"""

HIDING = {
    "display": ("bar.style.display = 'none'", "bar.style.display = ''"),
    "visibility": ("bar.style.visibility = 'hidden'", "bar.style.visibility = ''"),
    "opacity": (
        "bar.style.cssText += ';transition:opacity .3s;opacity:0;pointer-events:none'",
        "bar.style.opacity = 1; bar.style.pointerEvents = ''",
    ),
    "opacity alone": ("bar.style.cssText += ';transition:opacity .3s;opacity:0'", "bar.style.opacity = 1"),
    "slid out": ("bar.style.cssText += ';transition:bottom .2s;bottom:-60px'", "bar.style.bottom = 0"),
    "removed": (
        "bar.remove()",
        f"player.insertAdjacentHTML('beforeend', `<div id=bar style='position:absolute;left:0;right:0;bottom:0;padding:8px'>{BAR}</div>`)",
    ),
}


def player(how: str, body: str = PLAYER) -> str:
    hide, show = HIDING[how]
    return body.replace("HIDE", hide).replace("SHOW", show)


async def hidden(hand: Hand) -> None:
    """Returns once the player has hidden its controls, also as far as they fade."""
    await hand.page.wait_for_function("!shown && document.getAnimations().length === 0")


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize("rests", ["over the player", "elsewhere"])
async def test_a_control_that_has_hidden_since_the_look_is_clicked(on: On, how: str, rests: str) -> None:
    async with on(player(how)) as hand:
        if rests == "over the player":
            await hand.js("idle = 3000")
            await hand.act(Hover(target=hand.point("Play")))
            await hand.look()
            while not any(mark.name == "Play" for mark in hand.seen.marks):  # a busy machine looks too late
                await hand.look()
        play = hand.number("Play")
        await hand.js("idle = 1000; setTimeout(hide, 1000)")
        await hidden(hand)
        outcome = await hand.act(Click(target=play))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log") == ["play"]


async def test_a_hidden_control_is_set_too(on: On) -> None:
    async with on(player("display")) as hand:
        await hand.js("hide()")
        outcome = await hand.act(Set(mark=hand.number("Volume"), value="8"))
        assert (outcome.status, await hand.js("volume.value")) == ("done", "8"), outcome.sentence


async def test_a_hidden_control_in_a_frame_is_clicked(on: On) -> None:
    frame = "<p>Above</p><iframe src=/player width=520 height=360></iframe>"
    async with on(frame, {"/player": f"<!doctype html>{player('opacity')}"}) as hand:
        inner = hand.page.frames[1]
        await inner.evaluate("hide()")
        await inner.wait_for_function("document.getAnimations().length === 0")
        outcome = await hand.act(Click(target=hand.number("Play")))
        assert outcome.status == "done", outcome.sentence
        assert await inner.evaluate("log") == ["play"]


CANVAS = f"""<canvas id=player width=480 height=270></canvas>{SCRIPT}<script>
const pen = player.getContext('2d');
const draw = () => {{ pen.fillStyle = '#123'; pen.fillRect(0, 0, 480, 270); if (shown) {{ pen.fillStyle = '#fff'; pen.fillRect(20, 220, 60, 30); pen.fillRect(100, 220, 60, 30); }} }};
draw(); player.onclick = (e) => log.push(shown && e.offsetX >= 20 && e.offsetX < 80 && e.offsetY >= 220 && e.offsetY < 250 ? 'drawn play' : 'missed');
</script>"""


@pytest.mark.parametrize("by", ["mark", "point"])
async def test_a_control_that_is_drawn_and_has_hidden_is_clicked(on: On, by: str) -> None:
    async with on(CANVAS.replace("HIDE", "draw()").replace("SHOW", "draw()")) as hand:
        drawn = sorted((mark for mark in hand.seen.marks if mark.source != "dom"), key=lambda mark: mark.box.x)
        assert len(drawn) == 2, hand.seen.listing
        target = drawn[0].number if by == "mark" else hand.seen.marked.map.to_picture(drawn[0].point)
        await hand.js("hide()")
        outcome = await hand.act(Click(target=target))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log.filter((each) => each !== 'player')") == ["drawn play"]


IDLE = "3000"
"""Milliseconds until controls hide: longer than a look takes on a busy machine."""


@pytest.mark.parametrize("how", HIDING)
async def test_a_look_wakes_the_player_under_the_pointer(on: On, how: str) -> None:
    async with on(player(how).replace("1000", IDLE)) as hand:
        await hand.act(Hover(target=hand.number("Play")))
        await hand.look()
        await hidden(hand)
        await hand.look()
        assert hand.number("Play")
        assert hand.number("Mute")
        assert await hand.js("log") == []


async def test_a_look_wakes_the_player_under_the_pointer_in_a_frame(on: On) -> None:
    frame = "<p>Above</p><iframe src=/player width=520 height=360></iframe>"
    async with on(frame, {"/player": f"<!doctype html>{player('display').replace('1000', IDLE)}"}) as hand:
        inner = hand.page.frames[1]
        await hand.act(Hover(target=hand.number("Play")))
        await hand.look()
        await inner.wait_for_function("!shown")
        await hand.look()
        assert hand.number("Play")


async def test_a_look_wakes_no_player_that_the_pointer_is_not_over(on: On) -> None:
    async with on(player("display")) as hand:
        await hand.act(Hover(target=hand.number("Other")))
        await hand.js("show()")
        await hand.look()
        assert hand.number("Play")
        await hand.js("hide(); player.addEventListener('pointermove', () => log.push('moved'))")
        await hand.look()
        assert [mark.name for mark in hand.seen.marks if mark.name == "Play"] == []
        assert await hand.js("log") == []


async def test_a_look_moves_no_pointer_over_what_is_no_player_or_has_hidden_nothing(on: On) -> None:
    watched = "<script>let moves = 0; addEventListener('pointermove', () => moves++, true)</script>"
    menu = "<div id=menu><button id=close onclick='setTimeout(() => items.hidden = true)'>Close</button><div id=items><button>Item</button></div></div>"
    async with on(player("display").replace("1000", "60000") + menu + watched) as hand:
        for target in ("Close", "Play"):
            await hand.act(Click(target=hand.number(target)))
            moves = await hand.js("moves")
            await hand.look()
            assert await hand.js("moves") == moves


async def test_a_control_that_shows_again_as_another_is_not_clicked(on: On) -> None:
    async with on(player("display")) as hand:
        await hand.js("hide(); play.textContent = 'Buy now'")
        outcome = await hand.act(Click(target=hand.number("Play")))
        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("log") == []


async def test_what_hides_for_good_is_refused_and_nothing_is_pressed(on: On) -> None:
    async with on(PLAYER.replace("HIDE", "bar.style.display = 'none'").replace("SHOW", "0")) as hand:
        await hand.js("hide()")
        outcome = await hand.act(Click(target=hand.number("Play")))
        assert (outcome.status, outcome.refusal) == ("refused", "covered"), outcome.sentence
        assert await hand.js("log") == []


async def test_the_pointer_is_not_moved_over_what_covers_the_player(on: On) -> None:
    dialog = "<div id=cover style='position:fixed;inset:0;background:#fff' hidden>Wait</div><script>cover.onpointermove = () => log.push('moved')</script>"
    async with on(player("display") + dialog) as hand:
        await hand.js("hide(); cover.hidden = false")
        outcome = await hand.act(Click(target=hand.number("Play")))
        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("log") == []


PLYR = """<link rel=stylesheet href="/lib/plyr.css"><script src="/lib/plyr.js"></script><div style="width:640px"><video id=film muted playsinline></video></div>
<canvas id=source width=320 height=180 hidden></canvas><p style="margin-top:60px"><button id=other>Other</button></p><script>
const pen = source.getContext('2d'); let frame = 0;
setInterval(() => { if (film.paused) return; pen.fillStyle = `hsl(${frame++ * 5}deg 60% 40%)`; pen.fillRect(0, 0, 320, 180); }, 100);
film.srcObject = source.captureStream(); const plyr = new Plyr(film, {controls: ['play', 'mute', 'progress', 'settings', 'fullscreen'], iconUrl: '/lib/plyr.svg', clickToPlay: true});
const log = []; for (const type of ['play', 'pause', 'volumechange']) film.addEventListener(type, () => log.push(type));
</script>"""
PLYR_HIDDEN = "document.querySelector('.plyr').classList.contains('plyr--hide-controls') && getComputedStyle(document.querySelector('.plyr__controls')).opacity === '0'"


@pytest.mark.thorough
async def test_the_controls_of_plyr_are_used_and_seen_though_it_has_hidden_them(widget: Widget) -> None:
    async with widget("plyr", PLYR, "plyr.ready") as hand:
        hovered = await hand.act(Hover(target=hand.seen.marked.map.to_picture(Point(x=500, y=150))))
        assert hovered.status == "done", hovered.sentence
        await hand.js("film.play()")
        await hand.look()
        pause = hand.number("Pause")
        await hand.page.wait_for_function(PLYR_HIDDEN)
        await hand.look()
        assert hand.number("Pause") == pause
        await hand.page.wait_for_function(PLYR_HIDDEN)
        outcome = await hand.act(Click(target=hand.number("Unmute")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("[film.muted, film.paused]") == [False, False]
        await hand.look()
        await hand.act(Hover(target=hand.number("Other")))
        await hand.page.wait_for_function(PLYR_HIDDEN)
        await hand.look()
        assert [mark for mark in hand.seen.marks if mark.name == "Pause"] == []


@pytest.mark.thorough
async def test_what_plyr_has_hidden_is_paused_at_the_first_try(widget: Widget) -> None:
    async with widget("plyr", PLYR, "plyr.ready") as hand:
        hovered = await hand.act(Hover(target=hand.seen.marked.map.to_picture(Point(x=500, y=150))))
        assert hovered.status == "done", hovered.sentence
        await hand.js("film.play()")
        await hand.look()
        await hand.page.wait_for_function(PLYR_HIDDEN)
        outcome = await hand.act(Click(target=hand.number("Pause")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("log.filter((each) => each === 'pause').length") == 1
