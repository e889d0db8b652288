"""Claims about looking at a page: when it counts as at rest, what a look survives, and how pictures map to the page."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import asyncio
import io
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from PIL import Image
from playwright.async_api import Browser, CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import SecretStr

from tests.conftest import ROOT, Server
from tests.vision.test_annotate import numbers_in
from vision_agent.actions import Click, Goto, Point, Reload
from vision_agent.browser import live
from vision_agent.browser.page import frames, overlay, overlay_calls
from vision_agent.errors import BrowserUnavailable
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Secret
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

SHORT = ObserveSettings(settle_deadline_s=0.6)
HANGING = ObserveSettings(settle_deadline_s=0.6, scan_deadline_s=1.0)


async def looked_at(page: Page, address: str, settings: ObserveSettings = SHORT) -> Observation:
    async with live.attach(page, settings, ImageLimits()) as browser:
        await browser.open(address)
        return await browser.observe()


def names(observation: Observation) -> list[str]:
    return [mark.name for mark in observation.marks]


@asynccontextmanager
async def answering(head: str) -> AsyncIterator[str]:
    """An address that sends this much of a page and then nothing more, without hanging up."""
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + head.encode())
        await done.wait()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        done.set()
        server.close()


# --- rest -------------------------------------------------------------------------------------------------------------

AT_REST = {
    "an animation without end": "<style>@keyframes turn{to{rotate:1turn}}i{animation:turn 1s infinite}</style><i>o</i>",
    "a text that came late": "<p id=p></p><script>setTimeout(() => { p.innerHTML = '<button>Late</button>'; }, 100)</script>",
    "polling without a change": "<script>setInterval(() => fetch('/'), 150)</script>",
    "a spinner that a script turns": "<i id=i>o</i><script>let n = 0; (function turn() { i.style.rotate = `${n++}deg`; requestAnimationFrame(turn); })()</script>",
    "a canvas that blinks in one place": "<canvas id=c></canvas><script>let n = 0; setInterval(() => { const pen = c.getContext('2d'); pen.fillStyle = n++ % 2 ? 'red' : 'white'; pen.fillRect(9, 9, 40, 40); }, 20)</script>",
    "a transition that has ended": "<style>b{transition:margin .2s}</style><b id=b>x</b><script>b.offsetTop; b.style.margin = '9px'</script>",
}
NEVER = {
    "text that changes without end": "<p id=p></p><script>setInterval(() => { p.textContent = performance.now(); }, 20)</script>",
    "something that wanders over a canvas": "<canvas id=c width=1200 height=700></canvas><script>let n = 0; setInterval(() => { const pen = c.getContext('2d'); pen.clearRect(0, 0, 1200, 700); n += 40; pen.fillRect(n % 1200, 40 * Math.floor(n / 1200) % 700, 40, 40); }, 20)</script>",
    "a long movement": "<style>@keyframes go{to{margin-left:500px}}i{animation:go 60s}</style><i>o</i>",
}


@pytest.mark.parametrize("what", AT_REST)
async def test_a_page_comes_to_rest_in_spite_of(page: Page, serve: Server, what: str) -> None:
    observation = await looked_at(page, serve({"/": AT_REST[what]}), ObserveSettings(settle_deadline_s=20))
    assert observation.at_rest
    assert observation.timings["settle"] < 15
    if "Late" in AT_REST[what]:
        assert names(observation) == ["Late"]


async def test_what_a_canvas_shows_late_is_waited_for(page: Page, serve: Server) -> None:
    drawn = "<canvas id=c width=300 height=200></canvas><script>let n = 0; const go = setInterval(() => { c.getContext('2d').fillRect(5 * n++, 0, 5, 200); if (n === 60) { clearInterval(go); window.finished = true; } }, 10)</script>"
    observation = await looked_at(page, serve({"/": drawn}), ObserveSettings(settle_deadline_s=20))
    assert observation.at_rest
    picture = Image.open(io.BytesIO(observation.clean.data or b""))
    assert picture.getpixel((8 + 298, 100))[:3] == (0, 0, 0)  # type: ignore[index]


async def test_what_moved_since_the_scan_is_known(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": "<button id=a>Stays</button><button id=b style='position:relative'>Goes</button>"}))
    found = await frames.scan(page, 5)
    still = await overlay_calls.scan.changes_since_scan(page.main_frame, 5, found.main)
    assert (still.moved, still.has_changed) == ((), False)
    await page.evaluate("b.style.left = '30px'")
    after = await overlay_calls.scan.changes_since_scan(page.main_frame, 5, found.main)
    assert list(after.moved) == [mark.key for mark in found.marks if mark.name == "Goes"]
    assert after.has_changed


PUSHED = """<div id=host></div><button>There</button>
<script>const [root] = [host.attachShadow({mode: 'MODE'})]; root.innerHTML = '<p style="height:90px">First</p>'</script>"""
BLINK = "root.firstChild.style.display = root.firstChild.style.display ? '' : 'none'"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_what_moved_and_came_back_since_the_scan_is_known(page: Page, serve: Server, mode: str) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": PUSHED.replace("MODE", mode)}))
    found = await frames.scan(page, 5)
    still = await overlay_calls.scan.changes_since_scan(page.main_frame, 5, found.main)
    assert (still.moved, still.has_changed) == ((), False)
    found = await frames.scan(page, 5)
    await page.evaluate(f"(async () => {{ {BLINK}; await {FRAMES}; {BLINK}; await {FRAMES} }})()")
    after = await overlay_calls.scan.changes_since_scan(page.main_frame, 5, found.main)
    assert list(after.moved) == [mark.key for mark in found.marks if mark.name == "There"]
    assert after.has_changed


@pytest.mark.parametrize("how", ["restyled", "its rules rewritten"])
async def test_what_moved_and_came_back_is_known_of_hundreds_of_marks_too(page: Page, serve: Server, how: str) -> None:
    buttons = "".join(f"<button>{number}</button>" for number in range(400))
    await overlay.register(page.context)
    await page.goto(serve({"/": f"<style>p {{ margin: 0 }}</style><p id=all>{buttons}</p>"}))
    style = "all.style" if how == "restyled" else "document.styleSheets[0].cssRules[0].style"
    found = await frames.scan(page, 5)
    assert len(found.marks) == 400
    away, back = f"{style}.marginTop = '50px'", f"{style}.marginTop = ''"
    await page.evaluate(f"(async () => {{ {away}; await {FRAMES}; {back}; await {FRAMES} }})()")
    after = await overlay_calls.scan.changes_since_scan(page.main_frame, 5, found.main)
    # Without a change of the document only some are compared in each frame, which is enough to look again.
    assert len(after.moved) == 400 if how == "restyled" else after.moved


async def test_a_change_in_a_shadow_root_counts_before_anything_was_looked_at(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": PUSHED.replace("MODE", "open")}))
    while (await overlay_calls.document.stability(page.main_frame, 5)).quiet_ms < 100:
        pass  # each answer takes some milliseconds
    began = await page.evaluate(f"{BLINK}; performance.now()")
    quiet_ms = (await overlay_calls.document.stability(page.main_frame, 5)).quiet_ms
    assert quiet_ms <= await page.evaluate("performance.now()") - began


async def test_a_shadow_root_that_was_not_watched_may_have_changed_until_now(page: Page, serve: Server) -> None:
    await overlay.register(page.context)
    await page.goto(serve({"/": "<div id=host style='height:50px'></div>"}))
    while (await overlay_calls.document.stability(page.main_frame, 5)).quiet_ms < 100:
        pass
    began = await page.evaluate("host.attachShadow({mode: 'open'}).innerHTML = '<button>There'; performance.now()")
    await frames.scan(page, 5)
    quiet_ms = (await overlay_calls.document.stability(page.main_frame, 5)).quiet_ms
    assert quiet_ms <= await page.evaluate("performance.now()") - began


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_a_page_that_a_shadow_root_pushes_up_and_down_is_not_at_rest(
    page: Page, serve: Server, mode: str
) -> None:
    blink = """;
const first = root.firstChild;
let [at, stood] = [performance.now(), 0];
setInterval(() => {
  [at, stood] = [performance.now(), Math.max(stood, performance.now() - at)];
  first.isConnected ? first.remove() : root.append(first);
}, 60)"""
    # A host without any height is not known to have a closed root.
    body = PUSHED.replace("MODE", mode).replace("First</p>", "First</p><p>Always</p>")
    body = body.replace("</script>", f"{blink}</script>")
    settings = ObserveSettings(settle_deadline_s=20)
    observation = await looked_at(page, serve({"/": body}), settings)
    # On a machine that gives the page no time for so long, it was at rest indeed.
    stood_s = await page.evaluate("stood") / 1000
    assert "the page was not at rest" in observation.warnings or stood_s > settings.quiet_s
    assert names(observation) == ["There"]


@pytest.mark.parametrize("what", NEVER)
async def test_a_page_that_never_rests_is_looked_at_when_the_deadline_comes_and_it_is_said(
    page: Page, serve: Server, what: str
) -> None:
    # A busy machine may hold a page up for longer than the quiet of the defaults.
    settings = ObserveSettings(quiet_s=0.5, settle_deadline_s=0.8)
    observation = await looked_at(page, serve({"/": NEVER[what] + "<button>There</button>"}), settings)
    assert not observation.at_rest
    assert "the page was not at rest" in observation.warnings
    assert "There" in names(observation)
    assert 0.5 < observation.timings["settle"] < 20


FRAMED = "<div id=p style='height:90px;overflow:hidden'></div><script>setInterval(() => {{ {} }}, 30)</script>"
RESTLESS = {
    **NEVER,
    "a log that grows": FRAMED.format("p.prepend(Object.assign(document.createElement('i'), { textContent: Date.now() })); p.childNodes[9]?.remove()"),
    "things that are made and taken away": FRAMED.format("const i = document.createElement('i'); p.append(i); for (const each of p.children) each.style.marginLeft = `${Math.random() * 90}px`; p.childNodes[9]?.remove()"),
    "a movement that begins again": "<i id=i>o</i><script>(function go() { i.animate([{ translate: '0' }, { translate: '90px' }], 300).onfinish = go; })()</script>",
}  # fmt: skip


@pytest.mark.parametrize("what", RESTLESS)
async def test_what_never_rests_is_waited_for_once(page: Page, serve: Server, what: str) -> None:
    body = "<button onclick='document.title = `pressed`'>Press</button>" + RESTLESS[what]
    async with live.attach(page, ObserveSettings(settle_deadline_s=20), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        first = await browser.observe()
        again = await browser.observe()
        assert not first.at_rest
        assert not again.at_rest
        assert first.timings["settle"] < 15
        assert again.timings["settle"] < 5
        [number] = [mark.number for mark in again.marks if mark.name == "Press"]
        outcome = await browser.act(Click(target=number), again)
        assert 'the title is now "pressed"' in outcome.sentence.lower()


@pytest.mark.parametrize("quiet_s", [0.15, 0.5])
async def test_what_an_act_causes_is_waited_for_although_something_else_never_rests(
    page: Page, serve: Server, quiet_s: float
) -> None:
    grows = "let n = 0; const go = setInterval(() => { list.append(`${++n} `); if (n === 40) clearInterval(go); }, 25)"
    body = NEVER["text that changes without end"] + f"<button onclick='{grows}'>Load</button><p id=list></p>"
    async with live.attach(page, ObserveSettings(settle_deadline_s=20, quiet_s=quiet_s), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        await browser.observe()
        seen = await browser.observe()
        await browser.act(Click(target=next(each.number for each in seen.marks if each.name == "Load")), seen)
        assert await page.evaluate("list.textContent.trim().endsWith('40')")


async def test_a_page_that_came_to_rest_after_all_is_at_rest_again(page: Page, serve: Server) -> None:
    body = "<canvas id=c width=600 height=300></canvas><script>let n = 0; const go = setInterval(() => { const pen = c.getContext('2d'); pen.clearRect(0, 0, 600, 300); n += 40; pen.fillRect(n % 600, 40 * Math.floor(n / 600) % 300, 40, 40); }, 20)</script>"
    async with live.attach(page, ObserveSettings(settle_deadline_s=20), ImageLimits()) as browser:
        await browser.open(serve({"/": body}))
        assert not (await browser.observe()).at_rest
        await page.evaluate("clearInterval(go)")
        await browser.observe()
        assert (await browser.observe()).at_rest


async def test_a_page_that_never_stops_loading_is_looked_at_as_far_as_it_came(page: Page) -> None:
    async with answering("<button>Early</button>") as address:
        observation = await looked_at(page, address)
    assert names(observation) == ["Early"]
    assert not observation.at_rest


async def test_a_request_that_nobody_answers_does_not_hold_the_page_up_forever(page: Page, serve: Server) -> None:
    async with answering("") as address:
        observation = await looked_at(
            page, serve({"/": f"<img src='{address}'><button>There</button>"}), ObserveSettings(settle_deadline_s=30)
        )
    assert names(observation) == ["There"]
    assert observation.at_rest
    assert observation.timings["settle"] < 20


# --- what a look survives ---------------------------------------------------------------------------------------------


async def test_an_empty_page_gives_an_empty_listing(page: Page) -> None:
    observation = await looked_at(page, "about:blank")
    assert observation.marks == ()
    assert observation.listing == ""
    assert observation.clean.size.width == 1280


async def test_a_page_that_moves_on_while_it_is_looked_at_is_seen_whole(page: Page, serve: Server) -> None:
    pages = {
        f"/{n}": f"<script>setTimeout(() => location.replace('/{n + 1}'), 40)</script><a href='#'>{n}</a>"
        for n in range(8)
    }
    observation = await looked_at(page, serve({**pages, "/8": "<button>Here</button>"}) + "/0", ObserveSettings())
    assert names(observation) == ["Here"]
    assert observation.url.endswith("/8")


async def test_a_frame_that_hangs_is_missing_and_named_and_the_rest_is_there(page: Page, serve: Server) -> None:
    address = serve(
        {
            "/": "<button>Fine</button><iframe name='stuck' src='//localhost:PORT/hang' width=300 height=100></iframe>"
            "<script>document.querySelector('iframe').src = `//localhost:${location.port}/hang`</script>".replace(
                " src='//localhost:PORT/hang'", ""
            ),
            "/hang": "<button>Stuck</button><script>setTimeout(() => { while (true); })</script>",
        }
    )
    observation = await looked_at(page, address, HANGING)
    assert names(observation) == ["Fine"]
    assert not observation.at_rest
    assert [warning for warning in observation.warnings if warning.startswith("frame stuck is missing")]


async def crashed(session: CDPSession) -> None:
    with suppress(PlaywrightError, TimeoutError):  # what crashes does not answer
        async with asyncio.timeout(2):
            await session.send("Page.crash")


def with_a_frame(serve: Server) -> str:
    port = serve({"/in": "<button>In</button>"}).rpartition(":")[2]
    return serve(
        {
            "/": f"<button onclick='this.textContent = `Done`'>Fine</button><iframe name=pay src='http://localhost:{port}/in'>"
        }
    )


async def test_a_frame_that_crashed_is_missing_and_named_and_the_rest_is_there(page: Page, serve: Server) -> None:
    async with live.attach(page, HANGING, ImageLimits()) as browser:
        await browser.open(with_a_frame(serve))
        before = await browser.observe()
        frame = page.frame("pay")
        assert frame is not None
        await crashed(await page.context.new_cdp_session(frame))
        after = await browser.observe()
        assert names(after) == ["Fine"]
        [number] = [mark.number for mark in before.marks if mark.name == "Fine"]
        assert after.marks[0].number == number
        assert [warning for warning in after.warnings if warning.startswith("frame pay is missing")]
        assert [warning for warning in after.warnings if "has crashed" in warning]
        outcome = await browser.act(Click(target=number), after)
        assert outcome.status == "done", outcome.sentence
        assert names(await browser.observe()) == ["Done"]


@pytest.mark.parametrize("how", ["reload", "goto"])
async def test_a_page_of_which_a_frame_crashed_can_be_loaded_again(page: Page, serve: Server, how: str) -> None:
    address = with_a_frame(serve)
    # A new process for the frame takes a busy machine more than a second.
    async with live.attach(page, ObserveSettings(settle_deadline_s=0.6), ImageLimits()) as browser:
        await browser.open(address)
        before = await browser.observe()
        frame = page.frame("pay")
        assert frame is not None
        await crashed(await page.context.new_cdp_session(frame))
        outcome = await browser.act(Reload() if how == "reload" else Goto(url=address), before)
        assert outcome.status == "done", outcome.sentence
        after = await browser.observe()
        assert sorted(names(after)) == ["Fine", "In"]
        assert (await browser.act(Click(target=after.marks[0].number), after)).status == "done"


async def test_a_page_that_crashed_is_said_within_the_deadline(page: Page, serve: Server) -> None:
    async with live.attach(page, HANGING, ImageLimits()) as browser:
        await browser.open(serve({"/": "<button>Fine</button>"}))
        await browser.observe()
        session = await page.context.new_cdp_session(page)
        await crashed(session)
        with pytest.raises(BrowserUnavailable, match="crashed"):
            await browser.observe()


async def test_frames_that_come_and_go_do_not_stop_a_look(page: Page, serve: Server) -> None:
    churn = "setInterval(() => { document.querySelector('iframe')?.remove(); document.body.append(Object.assign(document.createElement('iframe'), {src: '/in'})); }, 15)"
    address = serve({"/": f"<button>Fine</button><script>{churn}</script>", "/in": "<button>In</button>"})
    observation = await looked_at(page, address)
    assert "Fine" in names(observation)
    assert not observation.at_rest


async def test_a_page_that_hangs_is_said_to_hang_however_short_the_deadlines_are(page: Page, serve: Server) -> None:
    started = time.monotonic()
    hangs = serve({"/": "<script>setTimeout(() => { while (true); }, 50)</script>"})
    observation = await looked_at(page, hangs, HANGING)
    assert observation.warnings[0].startswith("The page does not answer: no answer within 8 s")
    assert time.monotonic() - started < 15


async def test_frames_without_names_are_told_apart(page: Page, serve: Server) -> None:
    address = serve(
        {
            "/": "<iframe src=/in></iframe><iframe src=/in></iframe><iframe name=pay src=/in></iframe>",
            "/in": "<button>In</button>",
        }
    )
    observation = await looked_at(page, address)
    assert [mark.frame for mark in observation.marks] == ["1", "2", "pay"]
    assert len({mark.number for mark in observation.marks}) == 3


async def test_other_tabs_are_told_with_their_titles(page: Page, serve: Server) -> None:
    address = serve({"/": "<title>First</title><a href='/two' target='_blank'>Go</a>", "/two": "<title>Second</title>"})
    async with live.attach(page, SHORT, ImageLimits()) as browser:
        await browser.open(address)
        observation = await browser.observe()
        await browser.act(Click(target=1), observation)
        observation = await browser.observe()
    assert [(tab.number, tab.title, tab.active) for tab in observation.tabs] == [
        (1, "First", False),
        (2, "Second", True),
    ]


async def test_what_changed_since_the_last_look_is_told(page: Page, serve: Server) -> None:
    async with live.attach(page, SHORT, ImageLimits()) as browser:
        await browser.open(
            serve({"/": "<input id=a aria-label=A><br><button id=b>B</button><br><button id=c>C</button>"})
        )
        first = await browser.observe()
        assert first.change.new == ()
        await page.evaluate(
            "a.value = 'x'; b.remove(); c.style.marginTop = '90px'; document.body.append(Object.assign(document.createElement('button'), {textContent: 'D'}))"
        )
        second = await browser.observe()
    assert second.change.model_dump() == {"new": (4,), "gone": (2,), "changed": (1,), "moved": (3,), "navigated": False}
    assert '1[:]<input value="x" *changed>A' in second.listing


async def test_a_row_that_was_edited_says_so_on_its_controls_and_keeps_their_numbers(page: Page, serve: Server) -> None:
    async with live.attach(page, SHORT, ImageLimits()) as browser:
        await browser.open(serve({"/": "<ul><li>Alice of Paris is <b id=b>away</b> <button>Add</button></ul>"}))
        await browser.observe()
        await page.evaluate("b.textContent = 'here'")
        assert "1[:]<button *changed>Add" in (await browser.observe()).listing


async def test_text_of_a_single_digit_is_told_and_a_lone_sign_is_not(page: Page, serve: Server) -> None:
    observation = await looked_at(page, serve({"/": "<p><span>0</span><span> selected</span> <i>|</i>"}))
    assert observation.listing.splitlines() == ["_[:]0 · selected"]


@pytest.mark.parametrize("emptying", ["document.documentElement.remove()", "document.open()"])
async def test_a_document_that_a_page_has_emptied_shows_nothing_and_can_be_left(
    page: Page, serve: Server, emptying: str
) -> None:
    site = serve({"/": f"<button onclick='{emptying}'>Empty</button>", "/next": "<button>Next</button>"})
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(site)
        seen = await browser.observe()
        await browser.act(Click(target=1), seen)
        seen = await browser.observe()
        assert seen.marks == ()
        assert (await browser.act(Goto(url=f"{site}/next"), seen)).status == "done"
        assert [mark.name for mark in (await browser.observe()).marks] == ["Next"]


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1, 1.5, 2, 3])
async def test_a_point_goes_from_page_to_picture_and_back_within_half_a_pixel(
    browser: Browser, serve: Server, ratio: float
) -> None:
    context = await browser.new_context(viewport={"width": 900, "height": 700}, device_scale_factor=ratio)
    page = await context.new_page()
    observation = await looked_at(page, f"{serve.folder(ROOT / 'fixtures' / 'pages')}/native_controls.html")
    await context.close()
    assert observation.device_ratio == ratio
    assert ImageLimits().fits(observation.marked.size)
    for mark in observation.marks:
        picture = observation.marked.map.to_picture(mark.point)
        back = observation.marked.map.to_page(Point(x=round(picture.x), y=round(picture.y)))
        half = 0.5 * max(observation.marked.map.scale_x, observation.marked.map.scale_y) + 1e-6
        assert abs(back.x - mark.point.x) <= half
        assert abs(back.y - mark.point.y) <= half
    corner = observation.marked.map.to_page(Point(x=observation.marked.size.width, y=observation.marked.size.height))
    assert (corner.x, corner.y) == pytest.approx((900, 700))


@pytest.mark.parametrize("ratio", [1, 2, 3])
async def test_a_point_of_the_picture_hits_what_the_picture_shows_there(
    browser: Browser, serve: Server, ratio: float
) -> None:
    context = await browser.new_context(viewport={"width": 900, "height": 700}, device_scale_factor=ratio)
    page = await context.new_page()
    drawn = "<style>body{margin:0}</style><canvas width=900 height=700></canvas><script>addEventListener('click', (e) => { document.title = `${e.clientX},${e.clientY}`; })</script>"
    async with live.attach(page, SHORT, ImageLimits()) as eye:
        await eye.open(serve({"/": drawn}))
        observation = await eye.observe()
        aim = observation.marked.map.to_picture(Point(x=123, y=456))
        await eye.act(Click(target=aim), observation)
    x, y = map(float, (await page.title()).split(","))
    await context.close()
    assert abs(x - 123) <= 1
    assert abs(y - 456) <= 1


async def test_both_pictures_are_of_one_moment_and_only_one_has_marks(page: Page, serve: Server) -> None:
    observation = await looked_at(page, serve({"/": "<button>One</button>"}))
    assert observation.clean.size == observation.marked.size
    assert observation.clean.sha256 != observation.marked.sha256
    assert observation.clean.data != observation.marked.data
    assert set(observation.timings) >= {"settle", "page", "plan", "decode", "place", "draw", "encode"}


# --- secrets ----------------------------------------------------------------------------------------------------------

SECRET = "HUNTER2SECRET"
LOOK = "<style>*{margin:0}.f{width:300px;height:40px;font:30px sans-serif;border:0;outline:0;padding:0;display:block;resize:none;background:#fff}</style>"
FIELD = f"<input class=f value={SECRET}>"
VEIL = "<div style='position:fixed;inset:0;background:rgba(0,0,0,.2)'></div>"
INSIDE = (LOOK + FIELD).replace('"', "&quot;")
UNREACHABLE = {
    "an input under a veil": FIELD + VEIL,
    "a text area under a veil": f"<textarea class=f>{SECRET}</textarea>{VEIL}",
    "an editable region under a veil": f"<div class=f contenteditable>say <b>{SECRET}</b></div>{VEIL}",
    "a long text that ends with it": f"<div class=f contenteditable style='overflow:hidden'>{SECRET}{'o' * 600}{SECRET}</div>",
    "what is inert": f"<div inert>{FIELD}</div>",
    "what lets clicks through": f"<div style='position:absolute;inset:0;background:#fff'></div><div style='position:relative;pointer-events:none'>{FIELD}</div>",
    "what is nearly transparent": f"<div style='opacity:.2'>{FIELD}</div>",
    "a shadow tree under a veil": f"<div><template shadowrootmode=open>{LOOK}{FIELD}</template></div>{VEIL}",
    "a frame under a veil": f'<iframe style="border:0;width:400px;height:99px" srcdoc="{INSIDE}"></iframe>{VEIL}',
    "an inert frame": f'<div inert><iframe style="border:0;width:400px;height:99px" srcdoc="{INSIDE}"></iframe></div>',
    "something under half of a box": f"{FIELD}<div style='position:absolute;left:0;top:0;width:150px;height:40px;background:#fff'></div>",
}


async def tones_in(page: Page, address: str, box: Box) -> list[int]:
    """How many colours there are in a part of the clean and of the marked picture, for someone with a secret."""
    secret = Secret(name="code", value=SecretStr(SECRET))
    async with live.attach(page, SHORT, ImageLimits(), secrets=[secret]) as browser:
        await browser.open(address)
        observation = await browser.observe()
    assert SECRET not in observation.model_dump_json()
    found = []
    for shot in (observation.clean, observation.marked):
        corner, end = (shot.map.to_picture(Point(x=x, y=y)) for x, y in ((box.x, box.y), (box.right, box.bottom)))
        picture = Image.open(io.BytesIO(shot.data or b"")).convert("RGB")
        part = picture.crop((round(corner.x), round(corner.y), round(end.x), round(end.y)))
        found.append(len(part.getcolors(10_000) or ()))
    return found


@pytest.mark.parametrize("where", UNREACHABLE)
async def test_a_secret_stands_in_no_picture_though_its_field_cannot_be_reached(
    page: Page, serve: Server, where: str
) -> None:
    tones = await tones_in(page, serve({"/": LOOK + UNREACHABLE[where]}), Box(x=30, y=2, width=260, height=36))
    assert tones[0] == 2, "the two tones of the stripes"
    assert tones[1] <= 2 or any(word in where for word in ("long", "half", "nearly")), (
        "a number may stand on what can be reached"
    )


@pytest.mark.parametrize(
    "cover",
    [
        "<div style='position:absolute;left:0;top:0;width:400px;height:99px;background:#fff'></div>",
        "<dialog id=d style='margin:0;border:0;padding:0;width:400px;height:99px;background:#fff'></dialog><script>d.showModal()</script>",
    ],
    ids=["a box", "a modal dialog"],
)
async def test_what_lies_over_a_field_with_a_secret_is_not_painted_over(page: Page, serve: Server, cover: str) -> None:
    assert await tones_in(page, serve({"/": LOOK + FIELD + cover}), Box(x=2, y=2, width=280, height=36)) == [1, 1]


# --- numbers in the picture -------------------------------------------------------------------------------------------

CELLS = "".join(
    f"<td><button>{day}</button><input type=checkbox><a href='/{day}'>day</a>" + "<tr>" * (day % 7 == 0)
    for day in range(1, 50)
)
CALENDAR = (
    f"<style>button {{ width: 24px; height: 20px; padding: 0 }} td {{ padding: 0 }}</style><table><tr>{CELLS}</table>"
)
NOTICE = "<dialog open style='position:fixed;top:600px'><button>Close</button></dialog>"


async def test_every_number_listed_is_drawn_and_read_in_the_picture_as_sent_and_no_other(
    page: Page, serve: Server
) -> None:
    seen = await looked_at(page, serve({"/": CALENDAR}))
    listed = [int(number) for number in re.findall(r"^(\d+)\[:\]", seen.listing, re.MULTILINE)]
    boxes = [mark.label.box for mark in seen.marks if mark.label]
    assert len(listed) == 49 * 3
    assert sorted(numbers_in(Picture.of(seen.marked), boxes)) == sorted(listed)


async def test_numbers_stay_where_they_are_when_a_notice_comes_up_elsewhere(page: Page, serve: Server) -> None:
    async with live.attach(page, SHORT, ImageLimits()) as browser:
        await browser.open(serve({"/": CALENDAR}))
        first = await browser.observe()
        await page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", NOTICE)
        second = await browser.observe()
    placed = {mark.number: mark.label for mark in first.marks}
    assert len(second.marks) == len(first.marks) + 1
    assert placed.items() <= {mark.number: mark.label for mark in second.marks}.items()
