"""Two recorded runs, held against each other: in what they differ, where on the picture, and what does not count."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from axe import violations
from PIL import Image, ImageDraw
from playwright.async_api import Browser, Page, expect

from tests.record.record_builder import MARKS, done, encoded, mark, observation, shot, step_events, task, write_run
from tests.record.record_builder import run as run_of
from vision_agent.actions import Action, Click, Finish, Type, Wait
from vision_agent.cli.main import app
from vision_agent.describe.action_sentences import LOOK_AGAIN
from vision_agent.errors import UsageError
from vision_agent.events import Ended, Started
from vision_agent.geometry import Box
from vision_agent.observation import Mark, MarkState, Observation
from vision_agent.record.diff import Diff, diff
from vision_agent.record.diff_lines import describe_parting
from vision_agent.record.diff_page import write_diff
from vision_agent.types import Ending, Outcome

BUY: tuple[Action, ...] = (Type(target=1, text="wool"), Click(target=5), Finish(answer="bought"))
FINISHED = done("Finished.", effect="finished", point=None, rung=None)


def seen(marks: Sequence[Mark] = MARKS, *bars: Box, **fields: object) -> Observation:
    """The shop page, with these places painted over."""
    plain = observation("o", tuple(marks), **fields)
    assert plain.clean.data is not None
    with Image.open(io.BytesIO(plain.clean.data)) as image:
        for bar in bars:
            ImageDraw.Draw(image).rectangle((bar.x, bar.y, bar.right - 1, bar.bottom - 1), fill="black")
        return plain.model_copy(update={"clean": shot(encoded(image))})


def a_run(
    runs: Path,
    *steps: tuple[Action, Outcome, Observation],
    start: str = "http://shop.test/",
    answer: str = "",
    status: Literal["done", "not_done"] = "done",
) -> Path:
    events = [event for i, (act, came, page) in enumerate(steps, 1) for event in step_events(i, (act, came), seen=page)]
    ending = Ending(status=status, sentence="The task is done.", answer=answer or "bought")
    return write_run(runs, [Started(run=run_of(task=task(start_url=start))), *events, Ended(ending=ending)]).path


def plain_run(runs: Path, acts: Sequence[Action] = BUY, **fields: object) -> Path:
    page = seen(**fields)  # type: ignore[arg-type]
    return a_run(runs, *((act, FINISHED if isinstance(act, Finish) else done(), page) for act in acts))


def wheres(found: Diff) -> list[list[str]]:
    return [[each.where for each in pair.differences] for pair in found.pairs]


def test_the_same_on_another_server_with_other_numbers_is_no_difference(tmp_path: Path) -> None:
    a = plain_run(tmp_path / "a", url="http://shop.test/jumper?size=l")
    moved = tuple(each.model_copy(update={"number": each.number + 40}) for each in MARKS)
    page = seen(moved, url="http://127.0.0.1:99/jumper?size=l").model_copy(
        update={"clean": seen().clean, "listing": "other numbers"}
    )
    acts = (Type(target=41, text="wool"), Click(target=45), Finish(answer="bought"))
    b = a_run(
        tmp_path / "b", *((act, FINISHED if isinstance(act, Finish) else done(), page) for act in acts),
        start="http://127.0.0.1:99/",
    )  # fmt: skip
    found = diff(a, b)
    assert found.is_same, found
    assert found.counts == {}


def test_what_was_decided_and_what_came_of_it_are_told_apart(tmp_path: Path) -> None:
    covered = Outcome(status="refused", refusal="covered", sentence="Covered.")
    a = a_run(
        tmp_path / "a", (Type(target=1, text="wool"), done(value="wool"), seen()), (Click(target=5), done(), seen())
    )
    b = a_run(
        tmp_path / "b", (Type(target=1, text="silk"), done(value="silk"), seen()), (Click(target=5), covered, seen())
    )
    found = diff(a, b)
    assert wheres(found) == [["decision", "outcome"], ["outcome"]]
    came = found.pairs[1].differences[0]
    assert (came.a, came.b) == ("changed", "covered")
    assert found.counts == {"decision": 1, "outcome": 2}


def test_the_page_is_compared_by_address_title_and_what_its_marks_are(tmp_path: Path) -> None:
    ticked = tuple(
        each.model_copy(update={"state": MarkState(checked="true")}) if each.name == "Gift wrap" else each
        for each in MARKS
    )
    page = seen((*ticked[1:], mark(9, "Help", key="other"))).model_copy(
        update={"clean": seen().clean, "title": "Jumpers"}
    )
    a = a_run(tmp_path / "a", (Click(target=5), done(), seen()))
    b = a_run(tmp_path / "b", (Click(target=5), done(), page.model_copy(update={"url": "http://pay.test/"})))
    (pair,) = diff(a, b).pairs
    told = {each.where: (each.a, each.b) for each in pair.differences}
    assert told["address"] == ("/jumper", "http://pay.test/")
    assert told["title"] == ("Wool jumper", "Jumpers")
    assert told["marks"] == (
        "searchbox “Search” = “wool”, checkbox “Gift wrap”",
        "checkbox “Gift wrap” checked true, button “Help”",
    )
    assert pair.pixels is None


def test_what_differs_in_the_picture_is_told_with_its_place(tmp_path: Path) -> None:
    bars = Box(x=60, y=120, width=30, height=20), Box(x=500, y=340, width=90, height=30)
    a = a_run(tmp_path / "a", (Click(target=5), done(), seen()))
    b = a_run(tmp_path / "b", (Click(target=5), done(), seen(MARKS, *bars)))
    (pair,) = diff(a, b).pairs
    assert pair.pixels is not None
    assert [each.where for each in pair.differences] == ["pixels"]
    assert pair.pixels.share == pytest.approx((30 * 20 + 90 * 30) / (640 * 400), rel=0.15)
    large, small = pair.pixels.boxes
    assert large.likeness(bars[1]) > 0.85
    assert small.likeness(bars[0]) > 0.8
    assert diff(a, b, tolerance=0.05).is_same


def test_the_bar_that_blinks_in_a_field_is_no_difference_but_the_same_bar_elsewhere_is(tmp_path: Path) -> None:
    focused = (MARKS[0].model_copy(update={"state": MarkState(value="wool", focused=True)}), *MARKS[1:])
    a = a_run(tmp_path / "a", (Click(target=5), done(), seen(focused)))
    in_field, outside = Box(x=200, y=30, width=1, height=20), Box(x=120, y=380, width=1, height=18)
    b = a_run(tmp_path / "b", (Click(target=5), done(), seen(focused, in_field)))
    c = a_run(tmp_path / "c", (Click(target=5), done(), seen(focused, outside)))
    assert diff(a, b).is_same
    assert not diff(a, c).is_same


def test_a_step_that_only_one_run_has_moves_nothing_else(tmp_path: Path) -> None:
    a = plain_run(tmp_path / "a")
    b = plain_run(tmp_path / "b", (BUY[0], Wait(seconds=1), Click(target=2), *BUY[1:]))
    found = diff(a, b)
    assert [(pair.a, pair.b) for pair in found.pairs] == [(1, 1), (None, 2), (None, 3), (2, 4), (3, 5)]
    assert not found.is_same
    assert found.counts == {"only in B": 2}


def test_pauses_before_a_target_was_looked_for_again_are_left_out(tmp_path: Path) -> None:
    def waiting(runs: Path, pauses: int) -> Path:
        goals = [*[f"{LOOK_AGAIN}click Buy"] * pauses, "click Buy"]
        events = [
            event
            for i, goal in enumerate(goals, 1)
            for event in step_events(
                i, (Wait(seconds=0.5) if i <= pauses else BUY[1], done()), seen=seen(), next_goal=goal, author="steps"
            )
        ]
        ending = Ended(ending=Ending(status="done", sentence="The task is done."))
        return write_run(runs, [Started(run=run_of()), *events, ending]).path

    found = diff(waiting(tmp_path / "a", 3), waiting(tmp_path / "b", 1))
    assert [(pair.a, pair.b, pair.differences) for pair in found.pairs] == [(4, 2, ())]
    assert found.is_same
    assert found.parting is None


def test_the_pause_after_which_a_run_gave_up_is_where_it_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps: list[tuple[Action, str]] = [
        (BUY[0], "type"), (Wait(seconds=0.5), f"{LOOK_AGAIN}click Buy"), (Wait(seconds=0.5), f"{LOOK_AGAIN}click Buy"),
        (Finish(success=False, answer="no Buy"), "click Buy"),
    ]  # fmt: skip
    events = [
        event
        for i, (act, goal) in enumerate(steps, 1)
        for event in step_events(i, (act, done()), seen=seen(), next_goal=goal, author="steps")
    ]
    ending = Ended(ending=Ending(status="not_done", sentence="no Buy"))
    b = write_run(tmp_path / "b", [Started(run=run_of()), *events, ending]).path
    a = plain_run(tmp_path / "a")
    assert app(["diff", str(a), str(b)], standalone_mode=False) == 1
    said = r"They part at step 2 of A, step 3 of B\. A: Click \[?.*B: Wait 0\.5 s"
    assert re.search(said, capsys.readouterr().out)
    assert re.search(said, write_diff(diff(a, b), tmp_path / "diff.html").read_text("utf-8"))


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        (BUY[:2], "They part at step 3 of A, which B does not have: Finish: done"),
        ((*BUY[:2], Wait(seconds=1), BUY[2]), "They part at step 3 of B, which A does not have: Wait 1 s"),
        ((BUY[0], Click(target=2), BUY[2]), "They part at step 2. A: Click"),
    ],
)
def test_where_two_runs_part_is_said_in_a_sentence(
    tmp_path: Path, acts: Sequence[Action], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = plain_run(tmp_path / "a"), plain_run(tmp_path / "b", acts)
    assert app(["diff", str(a), str(b)], standalone_mode=False) == 1
    assert said in capsys.readouterr().out


def test_the_same_act_with_another_outcome_is_where_runs_part(tmp_path: Path) -> None:
    came = Outcome(status="refused", refusal="covered", sentence="It is covered.")
    a = a_run(tmp_path / "a", (BUY[1], done(), seen()))
    [pair] = diff(a, a_run(tmp_path / "b", (BUY[1], came, seen()))).pairs
    assert re.fullmatch(r"They part at step 1, Click .*\. A: .+\. B: .+", describe_parting(pair))


def test_the_command_leaves_with_0_for_the_same_and_1_for_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, c = plain_run(tmp_path / "a"), plain_run(tmp_path / "b"), plain_run(tmp_path / "c", BUY[:2])
    assert app(["diff", str(a), str(b)], standalone_mode=False) == 0
    assert "No difference in 3 steps" in capsys.readouterr().out
    assert app(["diff", str(a), str(c), "--json"], standalone_mode=False) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["is_same"], said["counts"], said["pairs"][2]["b"]) == (False, {"only in A": 1}, None)


def test_two_runs_that_failed_alike_differ_in_nothing_but_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = (BUY[1], done(), seen())
    runs = [str(a_run(tmp_path / name, steps, answer="sold out", status="not_done")) for name in "ab"]
    assert app(["diff", *runs], standalone_mode=False) == 0
    shown = capsys.readouterr().out
    assert "both not done: sold out" in shown
    assert "No difference in 1 step, but neither run did its task" in shown


def test_a_page_is_written_only_into_a_folder_that_is_there(tmp_path: Path) -> None:
    a, b = str(plain_run(tmp_path / "a")), str(plain_run(tmp_path / "b"))
    with pytest.raises(UsageError, match=r"There is no folder .*misspelt for --html \(make it, or name another\)"):
        app(["diff", a, b, "--html", str(tmp_path / "misspelt" / "diff.html")], standalone_mode=False)
    assert not (tmp_path / "misspelt").exists()
    for folder in (".", "", str(tmp_path)):
        with pytest.raises(UsageError, match=r"--html names a folder, .* \(name a file in it\)"):
            app(["diff", a, b, "--html", folder], standalone_mode=False)


def test_a_text_of_megabytes_is_cut_where_it_begins_to_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "A" * 5_000_000
    runs = [
        a_run(tmp_path / name, (Type(target=1, text=f"{long}{name}"), done(), seen(title=f"{long}{name}")), answer=long)
        for name in ("one", "other")
    ]
    found = diff(*runs)
    (decision, title) = found.pairs[0].differences
    assert ("one" in decision.a, "other" in decision.b, title.a) == (True, True, f"…{'A' * 124}one")
    with pytest.raises(SystemExit):
        app(["diff", *map(str, runs)])
    assert len(capsys.readouterr().out) < 10_000
    assert len(found.model_dump_json()) < 10_000


def test_how_they_ended_counts_and_a_record_that_was_changed_is_named(tmp_path: Path) -> None:
    a = a_run(tmp_path / "a", (BUY[1], done(), seen()))
    b = a_run(tmp_path / "b", (BUY[1], done(), seen()), answer="sold out")
    lines = b / "steps.jsonl"
    lines.write_text(lines.read_text("utf-8").replace("sold out", "sold off"), "utf-8")
    found = diff(a, b)
    assert found.ending is not None
    assert (found.ending.a, found.ending.b) == ("done: bought", "done: sold off")
    changed = lines.read_text("utf-8").replace("Put it into the cart", "Put it into the card")
    lines.write_text(changed, "utf-8")
    assert "was changed after it was written" in diff(a, b).b.fault


async def test_how_each_run_ended_has_the_colour_of_that_ending(page: Page, tmp_path: Path) -> None:
    good = a_run(tmp_path / "a", (BUY[1], done(), seen()))
    other = a_run(tmp_path / "b", (BUY[1], done(), seen()), answer="sold out")
    await page.goto(write_diff(diff(good, other), tmp_path / "diff.html").as_uri())
    ended = await page.evaluate("[...document.querySelectorAll('.ended')].map(each => getComputedStyle(each).color)")
    ok = await page.evaluate("(document.body.style.color = 'var(--ok)', getComputedStyle(document.body).color)")
    assert ended == [ok, ok]


@pytest.mark.parametrize("width", [400, 1280, 2560])
async def test_the_page_shows_both_pictures_with_the_changed_part_boxed(
    width: int, browser: Browser, tmp_path: Path
) -> None:
    bar = Box(x=60, y=120, width=30, height=20)
    evil = '"><script>document.title = "pwned"</script>'
    a = a_run(tmp_path / "a", (Type(target=1, text=evil), done(), seen()), (Click(target=5), done(), seen()))
    b = a_run(
        tmp_path / "b", (Type(target=1, text="wool"), done(), seen()), (Click(target=5), done(), seen(MARKS, bar))
    )
    written = write_diff(diff(a, b), tmp_path / "diff.html")
    assert written.read_text("utf-8").count('<dt>Decided by</dt><dd class="pg">No model: step lines</dd>') == 2
    context = await browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    page = await context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    await page.goto(written.as_uri())
    try:
        assert (await page.title()).startswith("2 of 2 steps differ")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        decided, looked = page.locator("article").first, page.locator("article").last
        assert evil in await decided.inner_text()
        assert await decided.locator("img").count() == 1  # the page was the same
        assert await looked.locator("img").count() == 2
        for picture in await page.locator("img").all():
            assert await picture.evaluate("image => image.complete && image.naturalWidth") == 640
        frame = await looked.locator(".frame").last.bounding_box()
        boxed = await looked.locator("rect.changed").last.bounding_box()
        assert frame is not None
        assert boxed is not None
        scale = frame["width"] / 640
        middle = boxed["x"] - frame["x"] + boxed["width"] / 2, boxed["y"] - frame["y"] + boxed["height"] / 2
        assert middle == pytest.approx((75 * scale, 130 * scale), abs=2 * scale)
        await page.get_by_role("link", name=re.compile("2 · 2")).click()
        assert await looked.evaluate("step => step.getBoundingClientRect().top") < 700
        assert faults == []
    finally:
        await context.close()


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_two_pictures_are_compared_with_a_slider_and_laid_over_each_other(
    width: int, page: Page, tmp_path: Path
) -> None:
    bar = Box(x=60, y=120, width=90, height=50)
    a = a_run(tmp_path / "a", (Click(target=5), done(), seen()))
    b = a_run(tmp_path / "b", (Click(target=5), done(), seen(MARKS, bar)))
    await page.set_viewport_size({"width": width, "height": 900})
    await page.goto(write_diff(diff(a, b), tmp_path / "diff.html").as_uri())
    pair = page.locator(".compare")
    over = pair.locator(".page").last
    first, last = (pair.locator(".frame").nth(at) for at in (0, 1))
    assert await first.bounding_box() != await last.bounding_box()
    await pair.get_by_role("button", name="Slider").click()
    assert await first.bounding_box() == await last.bounding_box()
    await pair.get_by_role("slider", name="Where A ends").fill("30")
    assert "30%" in await last.evaluate("each => getComputedStyle(each).clipPath")
    await first.click(position={"x": 5, "y": 5}, force=True)
    assert float(await pair.get_by_role("slider").input_value()) < 10
    await pair.get_by_role("button", name="Overlay").press("Enter")
    await pair.get_by_role("slider", name="How much of B").fill("20")
    assert await over.evaluate("each => getComputedStyle(each).opacity") == "0.2"
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(page.locator(".accept code")).to_have_text(f"vision-agent diff {b} RUN --html diff.html")


async def test_the_page_says_how_the_new_look_becomes_the_reference(page: Page, tmp_path: Path) -> None:
    a = a_run(tmp_path / "a", (Click(target=5), done(), seen()))
    b = a_run(tmp_path / "b", (Type(target=1, text="x"), done(), seen()))
    await page.goto(write_diff(diff(a, b), tmp_path / "diff.html", "pytest test_shop.py --marks-accept").as_uri())
    await expect(page.locator(".accept")).to_contain_text("accept it as the new reference: pytest test_shop.py")
    await page.goto(write_diff(diff(a, a), tmp_path / "same.html").as_uri())
    await expect(page.locator(".accept")).to_have_count(0)
