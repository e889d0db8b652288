"""The report in a real browser: it shows the run, answers to pointer and keys, and no page text comes alive in it."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.async_api import Page, expect
from record_builder import (
    START,
    decision,
    done,
    mark,
    observation,
    png,
    run,
    shot,
    small_run,
    step_events,
    story,
    task,
    write_run,
)

from vision_agent.actions import Cell, Click, Point, Type
from vision_agent.errors import RecordError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Event,
    Intended,
    MessageReceived,
    Observed,
    Proposed,
    Reminded,
    Started,
    Troubled,
)
from vision_agent.exemplars import Exemplar, PastAct, PastTurn
from vision_agent.geometry import PageMap, Size
from vision_agent.record import RunFolder, read, write_report
from vision_agent.types import Choice, Ending, Message, Provenance, Risky, Secret, SuccessCheck, TextOrigin


async def opened(page: Page, runs: Path, events: list[Event]) -> Path:
    report = write_report(write_run(runs, events).path)
    await page.goto(report.as_uri())
    return report


async def test_the_head_says_goal_result_and_who_decided(page: Page, tmp_path: Path) -> None:
    folder = write_run(tmp_path, story())
    await page.goto(write_report(folder.path).as_uri())
    head = page.locator("header.head")
    await expect(head.locator("h1")).to_have_text("Put the large wool jumper into the cart")
    await expect(head.locator(".verdict")).to_contain_text("Done The task is done: the cart holds the jumper.")
    await expect(head).to_contain_text("claude-sonnet-5-5")
    await expect(head).to_contain_text("4 done, 1 refused")
    await expect(head).to_contain_text("$0.0524")
    await expect(head).to_contain_text(folder.head)
    await expect(head).to_contain_text("Chain of 27 entries verified")


async def test_the_head_says_how_the_person_wants_it_done(page: Page, tmp_path: Path) -> None:
    asked = task(goal="Buy <b>tea</b>", instructions="Only <i>green</i> tea")
    await opened(page, tmp_path, [Started(run=run(task=asked)), *small_run()[1:]])
    await expect(page.locator("header.head .facts")).to_contain_text("How the person wants it done")
    await expect(page.locator("header.head .facts")).to_contain_text("Only <i>green</i> tea")


def test_the_head_says_why_a_run_counts_as_done_or_what_must_hold_before_it_does(tmp_path: Path) -> None:
    asked = task(checks=(SuccessCheck(text="<i>Thank you</i>"),))
    events = [Started(run=run(task=asked)), *small_run()[1:]]
    html = write_report(write_run(tmp_path / "old", events).path).read_text("utf-8")
    why = "The check held: the page shows “&lt;i&gt;Thank you&lt;/i&gt;”. The step lines said that it is done."
    assert f'<dt>Why it counts as done</dt><dd class="pg prose">{why}</dd>' in html
    events[-1] = Ended(ending=Ending(status="limit", sentence="A limit was reached."))
    html = write_report(write_run(tmp_path / "limit", events).path).read_text("utf-8")
    assert "Why it counts as done" not in html
    assert "<dt>What must hold before it counts as done</dt>" in html


def test_the_head_says_what_the_person_said_with_the_task_and_a_step_what_they_said_later(tmp_path: Path) -> None:
    asked = task(messages=(Message(text="Only <i>green</i> tea", at=START), Message(text="No bags", at=START)))
    events = [Started(run=run(task=asked)), MessageReceived(message=Message(text="Two tins", at=START))]
    html = write_report(write_run(tmp_path, [*events, *small_run()[1:]]).path).read_text("utf-8")
    head, _, steps = html.partition('<article class="step')
    facts = re.sub("</?(dt|dd|div)[^>]*>", " ", head)
    assert "What the person said with the task  Only &lt;i&gt;green&lt;/i&gt; tea  No bags" in facts
    assert "Two tins" not in head
    assert "Two tins" in steps


async def test_a_run_without_a_model_says_so(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, small_run())
    await expect(page.locator("header.head")).to_contain_text("No model: step lines")
    await expect(page.locator("header.head")).not_to_contain_text("Cost")


async def test_what_the_memory_had_is_named(page: Page, tmp_path: Path) -> None:
    told = Exemplar(
        id="20260301-080000-abcdef",
        goal="Buy a jumper",
        site="shop.test",
        learned_at=START,
        run="20260301-080000-abcdef",
        head="0" * 64,
        turns=(PastTurn(url="http://shop.test/", title="Shop", acts=(PastAct(action={}, outcome="changed"),)),),
    )
    events = small_run()
    await opened(page, tmp_path, [*events[:2], Reminded(exemplar=told, why="the same site"), *events[2:]])
    await expect(page.locator("header.head")).to_contain_text(re.compile(r"Exemplar\s*20260301-080000-abcdef"))
    await expect(page.locator("article.step")).to_have_count(2)


async def test_a_step_on_a_page_seen_before_links_to_the_step_that_saw_it(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    await expect(page.locator("header.head")).to_contain_text("Page states")
    await expect(page.locator("#step-2 .when")).to_contain_text("same page state as step 1")
    await page.locator("#step-2 .when a").click()
    await expect(page).to_have_url(re.compile("#step-1$"))
    await expect(page.locator("#step-3 .when a")).to_have_count(0)


async def test_pictures_are_embedded_as_they_were_recorded(page: Page, tmp_path: Path) -> None:
    report = await opened(page, tmp_path, small_run())
    marked = observation("o1").marked
    assert marked.data is not None
    image = page.locator("#step-1 img.marked")
    assert await image.get_attribute("src") == "data:image/png;base64," + base64.b64encode(marked.data).decode()
    assert await image.evaluate("image => image.complete && image.naturalWidth") == 640
    assert not re.search(r"""(src|href)=["']?(https?:|//|file:)""", report.read_text())


async def test_arrow_keys_move_between_steps(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)]:
        await page.keyboard.press(key)
        await expect(page.locator("article:focus")).to_have_id(f"step-{step}")
        await expect(page.locator(".rail [aria-current]")).to_have_attribute("href", f"#step-{step}")
        await expect(page.locator(f"#step-{step} h2")).to_be_in_viewport()
    for _ in range(9):
        await page.keyboard.press("ArrowRight")
    await expect(page.locator("article:focus")).to_have_id("step-4")


async def test_a_click_in_the_rail_goes_to_its_step(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    await page.locator(".rail a[href='#step-3']").click()
    await expect(page.locator("#step-3 h2")).to_be_in_viewport()


async def test_a_button_and_a_key_turn_the_marks_off_and_on(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, small_run())
    figure = page.locator("#step-1 figure")
    clean, marked, toggle = figure.locator("img.clean"), figure.locator("img.marked"), figure.locator(".toggle")
    await expect(marked).to_be_visible()
    await toggle.click()
    await expect(clean).to_be_visible()
    await expect(marked).to_be_hidden()
    await expect(toggle).to_have_attribute("aria-pressed", "false")
    await toggle.click()
    await expect(marked).to_be_visible()
    await page.keyboard.press("m")
    await expect(clean).to_be_visible()


async def test_the_page_after_a_step_is_shown_with_what_changed_and_the_slider_wipes_it(
    page: Page, tmp_path: Path
) -> None:
    await opened(page, tmp_path, story())
    step = page.locator("#step-1")
    figure = step.locator("figure.shot")
    await step.get_by_role("button", name="After this step").click()
    await expect(figure).to_have_attribute("data-shows", "after")
    now = await page.locator("#step-2 img.clean").get_attribute("src")
    await expect(figure.locator("img.after")).to_have_attribute("src", now or "")
    await expect(figure.locator(".badge.now")).to_be_visible()
    await expect(figure.locator(".badge.before")).to_be_hidden()
    await expect(figure.get_by_role("status")).to_have_text(
        "The page after this step, as step 2 saw it. Dashed: what changed."
    )
    changed = await figure.locator(".changed").bounding_box()
    whole = await figure.locator("img.after").bounding_box()
    assert changed is not None
    assert whole is not None
    # Its note at the bottom says another thing, and nothing else does.
    assert changed["y"] > whole["y"] + 0.8 * whole["height"]
    assert changed["width"] < whole["width"] / 4
    await figure.locator(".wipe").fill("40")
    assert "inset(0px 0px 0px 40%)" in await figure.locator("img.after").evaluate(
        "each => getComputedStyle(each).clipPath"
    )
    await expect(figure.locator(".badge.before")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("a")
    await expect(figure).to_have_attribute("data-shows", "marked")


async def test_what_went_wrong_comes_first_and_is_gone_to_by_a_key(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    problems = page.locator(".problems li")
    await expect(problems).to_have_count(2)
    await expect(problems.first).to_contain_text('✕ Step 2 failed Mark 5 (button "Add to cart") is covered by dialog')
    await expect(problems.last).to_contain_text("! Step 3 warning The reply named mark 77")
    await problems.last.get_by_role("button").click()
    await expect(page.locator(".rail a[aria-current]")).to_have_text(re.compile("^!3"))
    await page.keyboard.press("p")
    await expect(page.locator(".rail a[aria-current]")).to_have_text(re.compile("^✕2"))


async def test_steps_are_found_by_their_words(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    await page.keyboard.press("/")
    await page.keyboard.type("cookies COVERED")
    await expect(page.locator("article.step:visible")).to_have_count(1)
    await expect(page.locator(".find output")).to_have_text("1 of 4")
    await expect(page.locator(".rail li:visible")).to_have_count(1)
    await page.get_by_role("searchbox").fill("")
    await expect(page.locator("article.step:visible")).to_have_count(4)


async def test_what_a_model_was_told_is_shown_once(page: Page, tmp_path: Path) -> None:
    def asked(words: str) -> bytes:
        blocks = [{"type": "text", "text": "The goal"}, {"type": "text", "text": words}]
        request = {"system": [{"type": "text", "text": "You look"}], "messages": [{"role": "user", "content": blocks}]}
        return json.dumps(request).encode()

    with RunFolder.create(tmp_path, "asked", str) as folder:
        kept = [folder.keep_request(asked(words)) for words in ("The first page", "<b>The second page</b>")]
        folder.write(Started(run=run("asked")))
        for index, request in enumerate(kept, 1):
            for event in step_events(index, (Click(target=5), done()), author="model", request_sha256=request):
                folder.write(event)
    await page.goto(write_report(folder.path).as_uri())
    told = page.locator("details", has_text="Model input").locator("pre")
    assert await told.all_text_contents() == ["You look", "The goal", "The first page", "<b>The second page</b>"]
    await expect(page.locator("#step-2 .repeated")).to_have_text("2 parts repeated from the previous step")


@pytest.mark.thorough
@pytest.mark.timeout(400)
async def test_a_run_of_two_hundred_steps_is_one_file_that_opens_at_once(page: Page, tmp_path: Path) -> None:
    size = Size(width=1280, height=800)
    noise = np.random.default_rng(5)

    def photograph() -> bytes:
        grain = noise.integers(0, 255, (100, 160, 3), np.uint8)
        packed = io.BytesIO()
        image = Image.fromarray(grain).resize((size.width, size.height), Image.Resampling.BICUBIC)
        image.save(packed, "PNG", compress_level=1)
        return packed.getvalue()

    events: list[Event] = [Started(run=run())]
    for index in range(1, 201):
        seen = observation(f"o{index}", clean=shot(photograph(), size), marked=shot(photograph(), size))
        events += step_events(index, (Click(target=5), done()), seen=seen)
    folder = write_run(tmp_path, events).path
    assert sum(each.stat().st_size for each in (folder / "shots").iterdir()) > 200e6
    report = write_report(folder)
    assert report.stat().st_size < 60e6
    await page.goto(report.as_uri())
    timing = await page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    print(f"{report.stat().st_size / 1e6:.1f} MB, loaded in {timing:.0f} ms")  # noqa: T201 - for who measures
    await expect(page.locator("footer")).to_contain_text("The pictures are compressed")
    await page.keyboard.press("ArrowRight")
    assert (
        await page.locator("#step-1 img.marked").evaluate("each => each.decode().then(() => each.naturalWidth)") >= 640
    )


async def test_pointing_at_a_mark_shows_its_line_and_why_it_is_one(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, small_run())
    tip = page.locator("#tip")
    await expect(tip).to_be_hidden()
    await page.locator("#step-1 rect[data-mark='5']").hover()
    await expect(tip.locator(".line")).to_have_text("5[:]<button>Add to cart")
    await expect(tip.locator(".why li")).to_have_text(["native:button", "listener:click"])
    await expect(tip).to_be_in_viewport(ratio=1)
    await page.locator("#step-1 h2").hover()
    await expect(tip).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1280, 2560])
async def test_a_mark_lies_where_it_is_on_the_picture(page: Page, tmp_path: Path, width: int) -> None:
    """The boxes follow the picture's map and whatever size the picture is shown at."""
    await page.set_viewport_size({"width": width, "height": 900})
    seen = observation("o1", scale=2)
    assert seen.marked.map == PageMap(scale_x=0.5, scale_y=0.5)
    await opened(page, tmp_path, [Started(run=run()), *step_events(1, (Click(target=5), done()), seen=seen)])
    image = await page.locator("#step-1 img.marked").bounding_box()
    rect = await page.locator("#step-1 rect[data-mark='5']").bounding_box()
    assert image is not None
    assert rect is not None
    shown_at = image["width"] / 640
    wanted = seen.marks[-1].box
    assert rect["x"] - image["x"] == pytest.approx(wanted.x * shown_at, abs=1)
    assert rect["y"] - image["y"] == pytest.approx(wanted.y * shown_at, abs=1)
    assert rect["width"] == pytest.approx(wanted.width * shown_at, abs=1)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_tall_picture_is_seen_whole(page: Page, tmp_path: Path) -> None:
    tall = shot(png(Size(width=400, height=900)), Size(width=400, height=900))
    seen = observation("o1", clean=tall, marked=tall)
    await opened(page, tmp_path, [Started(run=run()), *step_events(1, (Click(target=5), done()), seen=seen)])
    frame = await page.locator("#step-1 .frame").bounding_box()
    assert frame is not None
    assert frame["height"] < 800
    assert frame["width"] / frame["height"] == pytest.approx(400 / 900, abs=0.01)


async def test_what_a_finish_cites_is_framed(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    await expect(page.locator("#step-4 g.aim")).to_have_count(2)
    await expect(page.locator("#step-4 .act")).to_contain_text("shown by 2 link “Cart (0)” 5 button “Add to cart”")


async def test_what_was_acted_on_is_framed_and_a_refusal_stands_out(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, story())
    step = page.locator("#step-2")
    await expect(step.locator("g.aim")).to_have_count(2)  # the third action was never reached
    await expect(step.locator("g.aim.failed")).to_have_count(1)
    await expect(step.locator(".act.failed")).to_contain_text('is covered by dialog "Cookies"')
    await expect(step.locator(".act.failed")).to_contain_text(
        "Something covered the target and would have been hit instead."
    )
    await expect(step.locator(".act.skipped")).to_contain_text("not reached")
    await expect(page.locator(".rail a.failed")).to_have_attribute("href", "#step-2")
    aim = await page.locator("#step-3 g.aim").bounding_box()
    image = await page.locator("#step-3 img.marked").bounding_box()
    assert aim is not None
    assert image is not None
    middle = (aim["x"] + aim["width"] / 2 - image["x"]) / image["width"]
    assert middle == pytest.approx(400 / 640, abs=0.01)


HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror='window.hit=1'>\"'`${window.hit=1}"
    "<!--<script>\u2028window.hit=1\u2029]]>{{ 7*7 }}{% raw %}\u202egnp.exe javascript:window.hit=1"
)


async def test_page_text_never_comes_alive(page: Page, tmp_path: Path) -> None:
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    hostile = mark(1, HOSTILE, frame=HOSTILE, evidence=(HOSTILE,), tag=HOSTILE, role=HOSTILE)
    seen = observation(
        "o1", marks=(hostile,), title=HOSTILE, url=f"javascript:{HOSTILE}", listing=HOSTILE,
        warnings=(HOSTILE,), timings={HOSTILE: 1.0},
    )  # fmt: skip
    act = (Click(target=1), done(HOSTILE, value=HOSTILE, changes=(HOSTILE,)))
    provenance = Provenance(versions={HOSTILE: HOSTILE}, model=HOSTILE, settings={HOSTILE: HOSTILE})
    said = {"next_goal": HOSTILE, "memory": HOSTILE, "summary": HOSTILE, "reply_id": HOSTILE, "request_sha256": HOSTILE}
    events = [
        Started(run=run(task=task(goal=HOSTILE, start_url=HOSTILE), provenance=provenance)),
        MessageReceived(message=Message(text=HOSTILE, at=START)),
        Troubled(step=1, sentence=HOSTILE),
        *step_events(1, act, seen=seen, **said),
        Ended(ending=Ending(status="not_done", sentence=HOSTILE, answer=HOSTILE)),
    ]
    await opened(page, tmp_path, events)
    await page.locator("#step-1 rect[data-mark='1']").hover()
    for summary in await page.locator("summary").all():
        await summary.click()
    assert await page.evaluate("window.hit") is None
    assert await page.locator("h1").text_content() == HOSTILE
    assert await page.locator("#tip .why li").text_content() == HOSTILE
    assert await page.locator("script").count() == 2
    assert await page.locator("img").count() == 4  # marked, clean, around the target, and small
    assert await page.locator("a:not(.rail a, .timeline a, .states a)").count() == 0
    assert await page.locator("a:not([href^='#step-'])").count() == 0
    assert troubles == []


async def test_the_policy_stops_what_would_have_slipped_through(page: Page, tmp_path: Path) -> None:
    """Were there a hole in the escaping, the policy would still let nothing run and nothing leave."""
    folder = write_run(tmp_path, small_run()).path
    report = write_report(folder)
    slipped = "<script>window.hit=1</script><img src='http://127.0.0.1:9/x' onerror='window.hit=1'></main>"
    report.write_text(report.read_text().replace("</main>", slipped))
    asked: list[str] = []
    page.on("requestfinished", lambda request: asked.append(request.url))
    await page.goto(report.as_uri())
    assert await page.evaluate("window.hit") is None
    assert [url for url in asked if url.startswith("http")] == []


async def test_a_run_without_steps_opens(page: Page, tmp_path: Path) -> None:
    ending = Ending(status="unavailable", sentence="No browser was found.")
    await opened(page, tmp_path, [Started(run=run()), Ended(ending=ending)])
    await expect(page.locator(".verdict")).to_contain_text("Browser, model or disk unavailable No browser was found.")
    await expect(page.locator("main")).to_have_text("No step was taken.")


async def test_a_run_that_was_cut_off_shows_how_far_it_got(page: Page, tmp_path: Path) -> None:
    click = Click(target=5)
    events = [
        Started(run=run()),
        Observed(step=1, observation=observation()),
        Decided(step=1, decision=decision(click)),
        Intended(step=1, index=0, action=click),
    ]
    await opened(page, tmp_path, events)
    await expect(page.locator(".verdict")).to_contain_text("No ending")
    await expect(page.locator("#step-1")).to_contain_text("not finished")
    await expect(page.locator("#step-1 .act")).to_contain_text("the run was interrupted here")


async def test_an_observation_without_a_decision_is_shown(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, [Started(run=run()), Observed(step=1, observation=observation())])
    await expect(page.locator("#step-1 .details")).to_contain_text("No decision")
    await expect(page.locator("#step-1 img.marked")).to_be_visible()


async def test_a_lost_picture_is_said(page: Page, tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    (folder / "shots" / f"{read(folder).steps[0].observation.marked.sha256}.png").unlink()
    await page.goto(write_report(folder).as_uri())
    await expect(page.locator("#step-1 .lost")).to_contain_text("cannot be read")


async def test_a_damaged_record_is_said(page: Page, tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    steps = folder / "steps.jsonl"
    steps.write_bytes(steps.read_bytes().replace(b"Clicked 5", b"Clicked 6", 1))
    await page.goto(write_report(folder).as_uri())
    await expect(page.locator(".seal.failed")).to_contain_text("Line 5 was changed after it was written")


async def test_secrets_are_named_and_never_shown(page: Page, tmp_path: Path) -> None:
    secret = Secret.model_validate({"name": "password", "value": "hunter2!"})
    events: list[Event] = [Started(run=run(task=task(goal="Log in with hunter2!", secrets=(secret,))))]
    report = write_report(write_run(tmp_path, events, (secret,)).path)
    await page.goto(report.as_uri())
    assert "hunter2" not in report.read_text()
    await expect(page.locator("h1")).to_have_text("Log in with <secret:password>")


async def test_dark_is_dark_and_light_is_light(page: Page, tmp_path: Path) -> None:
    await opened(page, tmp_path, small_run())
    grounds = {}
    for scheme in ("dark", "light"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        grounds[scheme] = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds == {"dark": "rgb(19, 20, 21)", "light": "rgb(250, 249, 246)"}


def test_a_report_of_no_run_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is this a run folder"):
        write_report(tmp_path)


def test_a_report_is_written_over_the_one_before(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    (folder / "report.html").write_text("old")
    assert write_report(folder).read_text().startswith("<!doctype html>")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_text_that_a_step_line_has_is_its_text_and_not_that_of_a_model(tmp_path: Path) -> None:
    typed = Type(target=5, text="Ann"), done(origin=TextOrigin(source="model"))
    html = write_report(write_run(tmp_path, [Started(run=run()), *step_events(1, typed)]).path).read_text("utf-8")
    assert "text of the line" in html
    assert "text of the model" not in html


@pytest.mark.parametrize(
    ("risks", "name", "told"),
    [
        ((), "", "Approval requested: approved in the terminal."),
        (("pay",), "", "Approval requested because of pay: approved in the terminal."),
        (("pay",), "Ann Lee", "Approval requested because of pay: approved in the terminal, by Ann Lee."),
    ],
)
def test_who_approved_is_told_in_a_sentence(tmp_path: Path, risks: tuple[Any, ...], name: str, told: str) -> None:
    found = tuple(Risky(action=0, risk=risk, why="it is called Pay") for risk in risks)
    observed, *others = step_events(1, (Click(target=5), done()))
    asked = Proposed(step=1, decision=decision(Click(target=5)), risks=found)
    answered = Chosen(step=1, choice=Choice(kind="approve", through="terminal", name=name))
    events = [observed, asked, answered, *others]
    html = write_report(write_run(tmp_path, [Started(run=run()), *events]).path).read_text("utf-8")
    assert told in " ".join(re.sub("<[^>]+>", "", html).split())


def test_points_and_marks_are_told_in_words(tmp_path: Path) -> None:
    cell = Click(target=Cell(mark=77, row=2, column=3))
    acts = [(Click(target=Point(x=4, y=5.5), count=2), done()), (Click(target=77, modifiers=("Shift",)), done())]
    acts.append((cell, done()))
    html = write_report(write_run(tmp_path, [Started(run=run()), *step_events(1, *acts)]).path).read_text()
    assert "Double-click (4, 5.5); Click 77 (no such mark) with Shift" in html
    assert "Click 77 row 2, column 3 of" in html
