"""Models asked about recorded pages: through the real client, the same pictures for each, and without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from messages_server import Answer, MessagesServer, fault, saying

from tests.record.record_builder import done, repeated_story, run, small_run, step_events, task, write_run
from vision_agent.actions import Action, Click, Finish, Type
from vision_agent.errors import UsageError
from vision_agent.evals.items import ItemResult, found_in
from vision_agent.evals.results.results_html import render_page
from vision_agent.evals.results.summary import summary
from vision_agent.evals.results.tables import as_csv, as_json, as_markdown
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.frozen import freeze, read_index, read_task
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.events import Ended, Event, Observed, Started
from vision_agent.observation import Observation
from vision_agent.record import verify
from vision_agent.record.read import read
from vision_agent.record.report import write_report
from vision_agent.settings import ModelSettings, Settings
from vision_agent.types import Ending
from vision_agent.vision.labels.annotate import draw, layer, redraw_marks
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import STYLES

HAIKU, SONNET = "anthropic:claude-haiku-4-5", "anthropic:claude-sonnet-5-5"


@pytest.fixture
async def api(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MessagesServer]:
    server = MessagesServer()
    await server.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    yield server
    await server.close()


def lines_run(*lines: tuple[str, Action]) -> list[Event]:
    """A run of step lines, on the page of the shop."""
    events: list[Event] = [Started(run=run("bought"))]
    for index, (line, action) in enumerate(lines, start=1):
        events += step_events(index, (action, done()), next_goal=line)
    end = step_events(len(lines) + 1, (Finish(), done("Finished.", effect="finished")))
    return [*events, *end, Ended(ending=Ending(status="done", sentence="Done."))]


def pages_of(tmp_path: Path, *runs: list[Event]) -> Path:
    for events in runs:
        write_run(tmp_path / "recorded", events)
    freeze([tmp_path / "recorded"], tmp_path / "pages")
    return tmp_path / "pages"


async def asked(
    folder: Path, out: Path, *models: str, settings: Settings | None = None, **more: Any
) -> list[ItemResult]:
    suite, settings = suite_named("frozen", folder=folder), settings or Settings()
    return await run_items(items_of(suite, models, settings), suite, settings, out, **more)


def deciding(*actions: dict[str, Any]) -> Answer:
    return saying(json.dumps({"judgement": "unknown", "actions": list(actions)}))


def pictures_in(request: dict[str, Any]) -> list[str]:
    blocks = [block for message in request["messages"] for block in message["content"] if block["type"] == "image"]
    return [hashlib.sha256(base64.b64decode(block["source"]["data"])).hexdigest() for block in blocks]


async def test_a_model_is_asked_about_each_page_after_what_was_really_done_before_it(
    api: MessagesServer, tmp_path: Path
) -> None:
    pages = pages_of(tmp_path, repeated_story())
    api.answers = [
        deciding({"kind": "type", "target": 1, "text": "wool jumper"}),  # right
        deciding({"kind": "select", "target": 3, "options": ["Small"]}),  # another value
        deciding({"kind": "click", "target": {"x": 302, "y": 205}}),  # the point lies in the box, which is mark 3's
    ]

    [result] = await asked(pages, tmp_path / "out", HAIKU)

    assert result.error == ""
    assert [(each.element, each.operation_f1, each.landed, each.is_right) for each in result.grades] == [
        (True, 1.0, True, True),
        (True, 0.5, True, False),
        (False, 1.0, False, False),
    ]
    assert (result.score, result.passed) == (1 / 3, False)
    kept = read_task(pages, read_index(pages).tasks[0])
    assert [pictures_in(request) for request in api.asked] == [
        [step.observation.marked.sha256] for step in kept.steps[:3]
    ]
    assert result.pictures == tuple(step.observation.marked.sha256 for step in kept.steps[:3])
    texts = [json.dumps(request["messages"]) for request in api.asked]
    assert "Put the large wool jumper into the cart" in texts[0]
    assert "1[:]<input>Search" in texts[0]
    assert "Typed" not in texts[0]
    assert "Find the wool jumper" in texts[1]  # what was recorded, whatever was answered
    assert "Small" not in texts[2].replace("[:]", "")
    assert result.figures is not None
    assert result.figures.tokens > 0
    assert result.figures.model_s > 0
    assert result.figures.page_s == 0


async def test_the_answers_are_a_run_folder_that_holds_and_says_what_was_right(
    api: MessagesServer, tmp_path: Path
) -> None:
    api.answers = [deciding({"kind": "click", "target": 2})]
    [result] = await asked(pages_of(tmp_path, small_run()), tmp_path / "out", HAIKU)

    folder = tmp_path / "out" / result.item.folder / result.run
    held = verify(folder)
    assert held.holds, held.faults
    answered = read(folder)
    assert (folder / "report.html").is_file()
    assert answered.provenance.model == HAIKU
    assert answered.steps[0].outcomes[0].sentence == (
        "Wrong (element wrong, operation F1 1.00, misses it): the reference is: Click [5] “Add to cart”."
    )


async def test_pictures_are_stored_once_for_all_items_and_each_run_is_whole_without_the_others(tmp_path: Path) -> None:
    results = await asked(pages_of(tmp_path, repeated_story()), tmp_path / "out", "match", "random")

    one, other = (tmp_path / "out" / result.item.folder / result.run for result in results)
    names = sorted(path.name for path in (one / "shots").iterdir())
    assert names == sorted(path.name for path in (other / "shots").iterdir())
    assert all((one / "shots" / name).samefile(other / "shots" / name) for name in names)
    html = (one / "report.html").read_text()
    assert sorted(set(re.findall(r'src="shots/([^"]+)"', html))) == names
    assert "base64" not in html

    shutil.move(one, tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "out")
    assert verify(tmp_path / "elsewhere").holds
    write_report(tmp_path / "elsewhere")
    assert "base64" in (tmp_path / "elsewhere" / "report.html").read_text()


async def test_every_model_is_given_the_same_pictures_and_the_measures_stand_side_by_side(
    api: MessagesServer, tmp_path: Path
) -> None:
    pages = pages_of(tmp_path, small_run())
    api.answers = [deciding({"kind": "click", "target": 5}), deciding({"kind": "click", "target": 2})]

    results = await asked(pages, tmp_path / "out", HAIKU, SONNET, "random")

    assert len({result.pictures for result in results}) == 1
    assert pictures_in(api.asked[0]) == pictures_in(api.asked[1]) == list(results[0].pictures)
    told = summary({"": results})
    [item, *_] = as_json("frozen", results, told, tmp_path)["items"]
    assert [(each["element"], each["landed"]) for each in item["answers"]] == [(True, True)]
    assert told.pictures == ("frozen: all settings were shown the same 1 pictures, by their hashes.",)
    other = results[0].model_copy(update={"pictures": ("0" * 64,)})
    assert "the pictures of 1 tasks differed between settings" in summary({"": [other, *results[1:]]}).pictures[0]
    best = next(row for row in told.rows if row.model == HAIKU)
    assert best.answers is not None
    assert best.answers.element is not None
    assert best.answers.element.value == 1.0
    assert best.step_success is None
    assert "| element accuracy | operation F1 | step success | landing |" in as_markdown(told)
    assert "answers_element" in as_csv(told).splitlines()[0]


def really_drawn(seen: Observation) -> Observation:
    """With its marks placed and drawn as a look at a page does it."""
    clean = Picture.of(seen.clean)
    marks = place(seen.marks, clean)
    return seen.model_copy(update={"marks": marks, "marked": draw(clean, layer(marks, clean)).encode()})


async def test_a_style_of_marks_is_measured_on_recorded_pages_drawn_anew(api: MessagesServer, tmp_path: Path) -> None:
    events = [
        each.model_copy(update={"observation": really_drawn(each.observation)}) if isinstance(each, Observed) else each
        for each in repeated_story()
    ]
    pages = pages_of(tmp_path, events)
    suite, settings = suite_named("frozen", folder=pages), Settings()
    items = items_of(suite, [HAIKU], settings, ablate=["colours", "boxes"])
    api.answers = [deciding({"kind": "click", "target": 3})] * 9
    results = await run_items(items, suite, settings, tmp_path / "out")

    assert [each.error for each in results] == ["", "", ""]
    shown = [picture for request in api.asked for picture in pictures_in(request)]
    assert shown == [picture for each in results for picture in each.pictures]
    assert len(set(shown)) == 3 * len(set(results[0].pictures)), "a picture was shown in two styles"
    told = summary({"": results})
    assert [pair.second for pair in told.ablations] == [f"{HAIKU} without colours", f"{HAIKU} without boxes"]
    assert f"the same {len(set(shown))} pictures, by their hashes, except for ablations" in told.pictures[0]


async def test_a_style_is_not_measured_where_something_else_would_change_too(
    api: MessagesServer, tmp_path: Path
) -> None:
    del api  # only its key is needed
    suite = suite_named("frozen", folder=pages_of(tmp_path, repeated_story()))
    plain = Settings.model_validate({"observe": {"style": "plain"}})

    with pytest.raises(UsageError, match="its marks were drawn in another style"):
        items_of(suite, [HAIKU], Settings(), ablate=["boxes"])
    with pytest.raises(UsageError, match="already leave out colours, so boxes cannot be left out as well"):
        items_of(suite, [HAIKU], plain, ablate=["boxes"])


def test_marks_drawn_anew_stay_where_they_are_and_in_their_own_style_are_the_same_picture() -> None:
    first = next(each.observation for each in repeated_story() if isinstance(each, Observed))
    seen = really_drawn(first)
    plain = redraw_marks(seen, STYLES["plain"])

    assert redraw_marks(seen, STYLES["coloured"]).marked.sha256 == seen.marked.sha256 != plain.marked.sha256
    there, now = ([mark.label for mark in each.marks if mark.label] for each in (seen, plain))
    assert [label.box for label in now] == [label.box for label in there]
    assert len({label.colour for label in there}) > len({label.colour for label in now}) == 1


async def test_a_reply_that_cannot_be_used_is_asked_for_again_and_then_wrong_but_a_lost_model_is_an_error(
    api: MessagesServer, tmp_path: Path
) -> None:
    pages = pages_of(tmp_path, small_run())
    settings = Settings(model=ModelSettings(retries=0, repairs=1))
    api.answers = [saying("I would click it"), deciding({"kind": "click", "target": 99})]
    [wrong] = await asked(pages, tmp_path / "out", HAIKU, settings=settings)
    assert (wrong.error, wrong.score) == ("", 0.0)
    assert wrong.sentence.startswith("no usable reply.")
    assert "no JSON object" in json.dumps(api.asked[1]["messages"])
    assert wrong.figures is not None
    assert wrong.figures.tokens > 0

    api.answers = [fault(401, "authentication_error", "invalid x-api-key")]
    api.requests.clear()
    [lost] = await asked(pages, tmp_path / "out", SONNET, settings=settings)
    assert (lost.score, lost.passed, lost.grades) == (None, None, ())
    assert "ANTHROPIC_API_KEY" in lost.error
    assert read(tmp_path / "out" / lost.item.folder / lost.run).ending is not None

    api.answers = [deciding({"kind": "click", "target": 5})]
    [again] = await asked(pages, tmp_path / "out", SONNET, settings=settings, retry_errors=True)
    assert again.score == 1.0
    before = len(api.requests)
    assert await asked(pages, tmp_path / "out", SONNET, settings=settings, retry_errors=True) == [again]
    assert len(api.requests) == before


async def test_a_page_that_was_looked_at_otherwise_is_the_same_item_and_another_prompt_is_not(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, small_run())
    suite = suite_named("frozen", folder=pages)
    [plain] = items_of(suite, ["match"], Settings())
    [wide] = items_of(suite, ["match"], Settings.model_validate({"browser": {"device": "Pixel 7"}}))
    [short] = items_of(suite, ["match"], Settings(model=ModelSettings(history="short")))
    assert plain.id == wide.id != short.id


async def test_the_baselines_answer_too(tmp_path: Path) -> None:
    bought = lines_run(('type "wool" into Search', Type(target=1, text="wool")), ("click Add to cart", Click(target=5)))
    [match, random, again, steps] = [
        (await asked(pages, tmp_path / out, model))[0]
        for pages in [pages_of(tmp_path, bought)]
        for model, out in (("match", "1"), ("random", "1"), ("random", "2"), ("steps", "1"))
    ]
    assert steps.score == 1.0
    assert match.score is not None
    assert random.grades == again.grades
    assert len(random.grades) == 2


async def test_match_goes_on_after_what_was_done_and_does_not_repeat_itself(tmp_path: Path) -> None:
    bought = lines_run(("click Add to cart", Click(target=5)), ("click Gift wrap", Click(target=4)))
    bought[0] = Started(run=run("bought", task=task(goal="Add to cart, and then tick gift wrap")))
    [result] = await asked(pages_of(tmp_path, bought), tmp_path / "out", "match")
    assert [grade.answer for grade in result.grades] == ["Click [5] “Add to cart”", "Click [4] “Gift wrap”"]
    assert result.passed


async def test_wrong_answers_are_what_a_report_says_to_look_at_first(api: MessagesServer, tmp_path: Path) -> None:
    api.answers = [
        deciding({"kind": "type", "target": 1, "text": "wool jumper"}),  # right
        deciding({"kind": "click", "target": 2}),
        *[saying("I would click it")] * 3,
    ]
    [result] = await asked(pages_of(tmp_path, repeated_story()), tmp_path / "out", HAIKU)

    folder = tmp_path / "out" / result.item.folder / result.run
    assert verify(folder).holds
    html = (folder / "report.html").read_text()
    [first] = re.findall(r'<section class="problems".*?</section>', html, re.DOTALL)
    assert re.findall(r'<li class="(\w+)"><button type="button" data-step="(\d)">', first) == [
        ("failed", "2"),
        ("failed", "3"),
    ]
    assert first.count("Wrong (element wrong") == 2
    assert "<strong>Partly correct</strong>" in html
    assert '1 correct, <span class="bad">2 wrong</span>' in html
    assert "dry run" not in html
    # A wrong answer shows where the right one lies, where that is one place.
    assert [html.count('class="aim ok reference"'), html.count("dotted: the reference")] == [2, 2]
    assert "Right (element right" in html


async def test_measures_are_told_by_the_kind_of_operation_too(tmp_path: Path) -> None:
    bought = lines_run(
        ('type "wool" into Search', Type(target=1, text="wool")),
        ("click Add to cart", Click(target=5)),
        ("click Gift wrap", Click(target=4)),
    )
    bought[0] = Started(run=run("bought", task=task(goal="Add to cart, and then tick gift wrap")))
    results = await asked(pages_of(tmp_path, bought), tmp_path / "out", "match")

    told = summary({"": results})
    [row] = told.rows
    rates = {kind: (each.steps, each.element and each.element.value) for kind, each in row.operations.items()}
    assert rates == {"CLICK": (2, 1.0), "TYPE": (1, 0.0)}
    assert "|  | CLICK | 2 | 100% [100, 100] |" in as_markdown(told)
    assert "answers_TYPE_element_low" in as_csv(told).splitlines()[0]
    html = render_page({"": found_in(tmp_path / "out")}, tmp_path)
    assert re.findall(r'<td class="pg">(\w+)</td><td>(\d)</td>', html) == [("all", "3"), ("CLICK", "2"), ("TYPE", "1")]
    assert "Another element than the reference" in html


async def test_steps_are_refused_where_a_page_has_no_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs reference lines"):
        await asked(pages_of(tmp_path, small_run()), tmp_path / "out", "steps")


async def test_a_model_that_would_shrink_a_picture_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test")
    from tests.record.record_builder import observation

    large = [
        Started(run=run("large")),
        *step_events(1, (Click(target=5), done()), seen=observation(scale=2)),
        Ended(ending=Ending(status="done", sentence="Done.")),
    ]
    suite = suite_named("frozen", folder=pages_of(tmp_path, large))
    with pytest.raises(UsageError, match=r"reads pictures of up to .* has one of 1280×800"):
        items_of(suite, ["openai:gpt-5.4"], Settings())


async def test_the_browser_toolset_is_no_way_to_ask_about_single_pages(api: MessagesServer, tmp_path: Path) -> None:
    settings = Settings(model=ModelSettings(dialect="browser"))
    [result] = await asked(pages_of(tmp_path, small_run()), tmp_path / "out", HAIKU, settings=settings)
    assert "needs one conversation" in result.error
    assert api.asked == []
