"""Claims about the perception score: it sees what is right, and it sees what is wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from pages import MissingPages, site, sites
from PIL import Image, ImageDraw
from playwright.async_api import Page
from typer.testing import CliRunner

from tests.conftest import Server
from vision_agent.actions import Point
from vision_agent.cli.main import app
from vision_agent.errors import UsageError
from vision_agent.evals.perception.churn import churn
from vision_agent.evals.perception.page_facts import look, watch
from vision_agent.evals.perception.picture import Crop, DigitReader, contrast, label_figures
from vision_agent.evals.perception.score import FIXTURES, PageScore, PageToScore, pages_in, score_pages
from vision_agent.evals.perception.summary import figures, is_reached, sheet, summary
from vision_agent.evals.perception.trial import Came, try_targets
from vision_agent.evals.perception.truth import Truth, build_truth, questions
from vision_agent.geometry import Box, Size
from vision_agent.observation import Label, Mark, Observation, Shot
from vision_agent.settings import BrowserSettings
from vision_agent.vision.ocr import can_read

SAMPLE = ("native_controls", "nested", "labels", "listeners", "frame_nested", "frame_sandboxed", "ratio_2", "shadow")


# --- labels by selectors ---------------------------------------------------------------------------------------------

BY_SELECTORS = {
    "targets": [
        {"what": "save", "at": ".save"},
        {"what": "rows", "at": "li", "count": 2, "beside": "i"},
        {"what": "help, which nothing answers", "at": ".help"},
        {"what": "in a frame", "at": "body > .framed"},
    ],
    "either": [{"what": "this page", "at": ".here"}],
    "never": [{"what": "badge", "at": ".badge"}, {"what": "not there", "at": ".gone"}],
}


async def test_labels_may_name_targets_by_selectors(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        """<!doctype html><button class=save>Save</button> <a class=here href=#here>Here</a>
        <ul><li tabindex=0>One<li tabindex=0>Two</ul> <b class=help>Help</b> <button class=badge>3</button>
        <button>No</button>
        <iframe srcdoc="<button class=framed>Framed</button>" style="border:7px solid;padding:9px"></iframe>""",
        "utf-8",
    )
    labels = tmp_path / "page.json"
    labels.write_text(json.dumps(BY_SELECTORS), "utf-8")

    [score] = await scored(*pages_in(tmp_path))

    assert score.is_labelled
    assert (score.wanted, score.found, score.false, score.duplicates) == (5, 4, 2, 0)
    assert [each.text.split(": ")[-1] for each in score.unsure] == ["this page"]
    kinds = {each.kind: each.text for each in score.findings}
    assert kinds["missed"] == "help, which nothing answers 1"
    assert kinds["misfit"] == "not there (.gone): 0 show, 1 are labelled"
    assert score.landed == score.pressed


# --- the independent truth --------------------------------------------------------------------------------------------


async def truth(page: Page, serve: Server, html: str, *points: tuple[float, float]) -> Truth:
    await watch(page.context)
    await page.goto(serve({"/": f"<!doctype html><body style='margin:0'>{html}"}))
    return build_truth(await look(page, list(points)))


def sure(truth: Truth) -> list[str]:
    return sorted(target.selector for target in truth.sure.values())


async def test_controls_are_told_by_the_accessibility_tree(page: Page, serve: Server) -> None:
    html = "<button id=b>B</button><a id=a href=/x>A</a><a id=plain>P</a><span id=c role=checkbox tabindex=0>C</span>"

    assert sure(await truth(page, serve, html)) == ["a#a", "button#b", "span#c"]


async def test_a_small_thing_that_listens_is_a_target_and_a_container_that_listens_is_not_certain(
    page: Page, serve: Server
) -> None:
    html = """<p id=leaf style="width:60px">Press</p>
        <ul id=list style="width:90px;cursor:pointer"><li tabindex=0>One<li tabindex=0>Two</ul>
        <script>for (const each of [leaf, list]) each.addEventListener('click', () => {})</script>"""

    told = await truth(page, serve, html)

    assert sure(told) == ["p#leaf"]
    assert "ul#list" in {target.selector for target in told.targets if not target.is_sure}


async def test_what_is_covered_or_out_of_sight_is_no_target(page: Page, serve: Server) -> None:
    html = """<button id=under>U</button>
        <div style="position:absolute;left:0;top:0;width:200px;height:60px;background:#fff"></div>
        <button id=far style="position:absolute;top:3000px">F</button>"""

    assert sure(await truth(page, serve, html)) == []


async def test_something_of_which_only_an_edge_shows_counts_neither_way(page: Page, serve: Server) -> None:
    html = """<style>div { overflow: hidden; width: 200px } a { display: block; height: 30px }</style>
        <div style="height:4px"><a id=folded href=/folded>Folded</a></div>
        <div style="height:12px"><a id=cut href=/cut>Cut</a></div>
        <a id=line href=/line style="height:4px;width:200px"></a>"""

    told = await truth(page, serve, html)

    assert sure(told) == ["a#cut", "a#line"]
    assert [target.selector for target in told.targets if not target.is_sure] == ["a#folded"]


async def test_a_label_stands_for_a_control_that_cannot_be_pressed_and_for_no_other(page: Page, serve: Server) -> None:
    html = """<input id=hidden type=checkbox style="position:absolute;left:-999px"><label id=proxy for=hidden>H</label>
        <input id=seen type=checkbox><label id=beside for=seen>S</label>"""

    assert sure(await truth(page, serve, html)) == ["input#seen", "label#proxy"]


async def test_a_point_on_a_label_or_an_icon_belongs_to_the_control(page: Page, serve: Server) -> None:
    html = """<button id=b style="position:absolute;left:0;top:0;width:80px;height:40px"><i>icon</i></button>
        <label style="position:absolute;left:100px;top:0;width:80px;height:40px">Name <input id=n></label>"""

    told = await truth(page, serve, html, (40, 20), (110, 8), (500, 500))

    assert [hit.target and hit.target.selector.split(" ")[-1] for hit in told.hits] == ["button#b", "input#n", None]


async def test_links_to_one_address_side_by_side_are_one_intent(page: Page, serve: Server) -> None:
    html = "<div><a id=i href=/x>Picture</a> <a id=t href=/x>Text</a> <a id=other href=/y>Other</a></div>"

    assert len((await truth(page, serve, html)).sure) == 2


async def test_frames_are_looked_into_where_their_parent_shows_them(page: Page, serve: Server) -> None:
    inside = "<body style='margin:0'><button>One</button><p style='height:60px'></p><button>Two</button>"
    look = "position:absolute;left:100px;top:50px;border:10px solid;padding:5px"
    html = f"""<iframe srcdoc="{inside}" style="{look}"></iframe>
        <div style="position:absolute;left:0;top:110px;width:600px;height:300px;background:#fff"></div>"""

    told = await truth(page, serve, html, (120, 72))

    assert [target.text for target in told.sure.values()] == ["One"]
    assert told.hits[0].target is not None
    assert told.hits[0].target.box.x == pytest.approx(115, abs=1)


async def test_frames_of_another_site_are_looked_into(page: Page, serve: Server) -> None:
    inside = serve({"/": "<body style='margin:0'><button>Elsewhere</button>"}).replace("127.0.0.1", "localhost")
    html = f'<iframe src="{inside}/" style="position:absolute;left:100px;top:50px;border:10px solid"></iframe>'

    told = await truth(page, serve, html, (120, 70))

    assert [target.text for target in told.sure.values()] == ["Elsewhere"]
    assert told.hits[0].target is not None
    assert told.hits[0].target.text == "Elsewhere"


async def test_what_stands_in_a_closed_root_is_seen(page: Page, serve: Server) -> None:
    html = """<div id=host></div>
        <script>host.attachShadow({ mode: 'closed' }).innerHTML = '<button>Deep</button>'</script>"""

    assert [target.text for target in (await truth(page, serve, html)).sure.values()] == ["Deep"]


async def test_listeners_are_those_that_the_page_added_and_did_not_take_back(page: Page, serve: Server) -> None:
    html = """<p id=stays>A</p><p id=handled>B</p><p id=taken>C</p><p id=ended>D</p><p id=spent>E</p><script>
        for (const each of document.querySelectorAll('p')) each.style.width = '60px';
        const heard = () => {};
        const end = new AbortController();
        stays.addEventListener('click', heard);
        handled.onmousedown = heard;
        taken.addEventListener('click', heard);
        taken.removeEventListener('click', heard);
        ended.addEventListener('click', heard, { signal: end.signal });
        end.abort();
        spent.addEventListener('click', heard, { once: true });
        spent.click();
        </script>"""

    told = await truth(page, serve, html)

    assert {target.selector for target in told.targets} == {"p#stays", "p#handled"}


# --- what comes of it ---


@pytest.fixture
async def answers(page: Page, serve: Server) -> Callable[[str], Awaitable[tuple[dict[str, Came], Truth]]]:
    """What came of each thing on a page, by its selector, and the truth that follows."""

    async def ask(html: str) -> tuple[dict[str, Came], Truth]:
        url = serve({"/": f"<!doctype html><body style='margin:0'>{html}"})
        browser = page.context.browser
        assert browser is not None

        async def opened() -> Page:
            context = await browser.new_context()
            await watch(context)
            copy = await context.new_page()
            await copy.goto(url)
            return copy

        tab = await opened()
        documents = await look(tab, [])
        came = await try_targets(opened, questions(documents))
        selectors = {place: fact["selector"] for place, fact in enumerate(documents[0].facts)}
        await tab.context.close()
        return {selectors[int(each)]: told for each, told in came.items()}, build_truth(documents, came=came)

    return ask


Answers = Callable[[str], Awaitable[tuple[dict[str, Came], Truth]]]


@pytest.mark.thorough
async def test_what_a_listener_far_above_answers_for_is_told_from_what_only_looks_so(answers: Answers) -> None:
    html = """<style>i { cursor: pointer; display: block; width: 80px }</style>
        <i id=live>Live</i><i id=dead class=dead>Dead</i>
        <script>document.addEventListener('click', (event) => {
            if (event.target.id === 'live') event.target.textContent += '.';
        })</script>"""

    came, told = await answers(html)

    assert came == {"i#live": "acts", "i#dead.dead": "nothing"}
    assert sure(told) == ["i#live"]
    assert [target.selector for target in told.targets if not target.is_sure] == ["i#dead.dead"]


@pytest.mark.thorough
async def test_one_that_acts_speaks_for_those_like_it(answers: Answers) -> None:
    html = """<style>i { cursor: pointer; display: block; width: 80px }</style><i id=undo>Undo</i><i id=redo>Redo</i>
        <script>undo.onclick = () => {}; redo.onclick = () => { undo.title += 'done' }</script>"""

    came, _ = await answers(html)

    assert came == {"i#undo": "acts", "i#redo": "acts"}


@pytest.mark.thorough
async def test_something_that_listens_and_does_nothing_is_no_target(answers: Answers) -> None:
    html = """<p id=idle style="width:90px">Idle</p>
        <script>idle.addEventListener('click', (event) => event.stopPropagation())</script>"""

    came, told = await answers(html)

    assert (came, told.targets) == ({"p#idle": "nothing"}, ())


@pytest.mark.thorough
async def test_a_part_that_does_what_is_done_around_it_is_no_target_of_its_own(answers: Answers) -> None:
    html = """<div id=card style="width:300px;padding:20px;cursor:pointer">Card
        <b id=word style="cursor:help">word</b> <b id=star style="cursor:cell">star</b></div><p id=out></p><script>
        card.onclick = () => { out.textContent += 'card ' };
        word.onclick = () => {};
        star.onclick = (event) => { event.stopPropagation(); star.title += '*' };
        </script>"""

    came, told = await answers(html)

    assert came == {"div#card": "acts", "b#word": "same as around it", "b#star": "acts"}
    assert sure(told) == ["b#star", "div#card"]


@pytest.mark.thorough
async def test_what_an_earlier_press_left_and_the_next_takes_away_does_not_speak_for_what_is_around(
    answers: Answers,
) -> None:
    html = """<style>p { padding: 20px } p > * { cursor: pointer }</style><p><i id=icon>Copy icon</i></p>
        <p><b id=name>Copy name</b></p><script>
        document.addEventListener('mousedown', () => document.querySelector('output')?.remove());
        for (const each of [icon, document.getElementById('name')]) each.onmouseup = () => {
            document.body.append(document.createElement('output'));
        };
        </script>"""

    came, _ = await answers(html)

    assert came == {"i#icon": "acts", "b#name": "acts"}


@pytest.mark.thorough
async def test_a_heading_that_sorts_and_the_button_in_it_for_the_keyboard_are_one_intent(answers: Answers) -> None:
    html = """<style>i { display: inline-block; width: 14px; height: 14px } th { width: 200px; cursor: pointer }</style>
        <table><tr><th id=size>Size<i id=by role=button tabindex=0></i></th>
        <th id=city>City<i id=filter role=button tabindex=0></i></th></tr></table><p id=out></p><script>
        for (const each of [size, city]) each.onclick = () => { out.textContent += 'sorted ' };
        filter.onclick = (event) => { event.stopPropagation(); out.title += 'filter' };
        </script>"""

    _, told = await answers(html)

    assert sure(told) == ["i#filter", "th#city", "th#size"]


@pytest.mark.thorough
async def test_a_page_that_moves_by_itself_does_not_make_its_things_act(answers: Answers) -> None:
    html = """<p id=clock>0</p><p id=idle style="width:90px;cursor:pointer">Idle</p>
        <script>setInterval(() => clock.textContent = performance.now(), 10)</script>"""

    came, _ = await answers(html)

    assert came == {"p#idle": "nothing"}


@pytest.mark.thorough
async def test_a_press_that_leaves_the_page_is_one_that_acts(answers: Answers) -> None:
    html = """<style>p { width: 90px; cursor: pointer }</style><p id=leaves>Away</p><p id=asks>Ask</p>
        <script>leaves.onclick = () => { location = '/elsewhere' }; asks.onclick = () => alert('!')</script>"""

    came, _ = await answers(html)

    assert came == {"p#leaves": "acts", "p#asks": "acts"}


# --- what pictures say ------------------------------------------------------------------------------------------------


def observed(*marks: Mark, picture: Image.Image | None = None) -> Observation:
    data = io.BytesIO()
    (picture or Image.new("RGB", (400, 300), "white")).save(data, "PNG")
    shot = Shot(media_type="image/png", size=Size(width=400, height=300), sha256="0", data=data.getvalue())
    return Observation.model_validate(
        {
            "id": "a", "epoch": 1, "url": "", "title": "", "taken_at": "2026-01-01T00:00:00Z", "listing": "",
            "viewport": Size(width=400, height=300), "marks": marks, "clean": shot, "marked": shot,
        }
    )  # fmt: skip


def mark(number: int, box: tuple[int, int, int, int], label: tuple[int, int, int, int]) -> Mark:
    x, y, width, height = box
    return Mark(
        number=number,
        tag="button",
        role="button",
        kind="button",
        name="",
        box=Box(x=x, y=y, width=width, height=height),
        point=Point(x=x, y=y),
        label=Label(box=Box(x=label[0], y=label[1], width=label[2], height=label[3]), colour="#0e8542"),
    )


def test_a_label_on_a_neighbour_and_labels_on_each_other_are_counted() -> None:
    one = mark(1, (0, 0, 50, 20), (60, 2, 14, 14))
    two = mark(2, (55, 0, 50, 20), (64, 4, 14, 14))

    told = label_figures(observed(one, two), None)

    assert (told.on_another, told.overlapping, told.outside, told.read) == (1, 2, 0, None)


def test_a_label_on_what_is_around_its_own_target_is_on_no_other() -> None:
    row = mark(1, (0, 0, 300, 40), (280, 2, 14, 14))
    button = mark(2, (20, 10, 50, 20), (72, 12, 14, 14))

    assert label_figures(observed(row, button), None).on_another == 0


@pytest.mark.parametrize(("ink", "plate", "wanted"), [("#ffffff", "#000000", 21), ("#777777", "#888888", 1.27)])
def test_contrast_is_that_of_the_pixels(ink: str, plate: str, wanted: float) -> None:
    picture = Image.new("RGB", (60, 40), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((10, 10, 29, 24), fill=plate)
    draw.rectangle((18, 13, 20, 21), fill=ink)

    assert contrast(np.asarray(picture), Box(x=10, y=10, width=20, height=15)) == pytest.approx(wanted, abs=0.1)


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
@pytest.mark.thorough
def test_large_clear_numbers_are_read_and_an_empty_crop_is_not() -> None:
    picture = Image.new("RGB", (90, 40), "white")
    ImageDraw.Draw(picture).text((20, 8), "27", "black", font_size=20)
    label = Box(x=16, y=6, width=32, height=28)

    assert DigitReader().read([Crop(np.asarray(picture), label), Crop(np.full((40, 90, 3), 255, np.uint8), label)]) == [
        "27",
        "",
    ]


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
@pytest.mark.thorough
def test_all_that_is_read_at_a_label_counts_and_what_is_read_beside_it_does_not() -> None:
    picture = Image.new("RGB", (120, 40), "white")
    ImageDraw.Draw(picture).text((10, 8), "27  85", "black", font_size=20)
    left, both = Box(x=6, y=6, width=32, height=28), Box(x=6, y=6, width=90, height=28)

    assert DigitReader().read([Crop(np.asarray(picture), left), Crop(np.asarray(picture), both)]) == ["27", "2785"]


# --- whole pages ------------------------------------------------------------------------------------------------------


async def scored(*pages: PageToScore) -> list[PageScore]:
    return await score_pages(pages, settings=BrowserSettings())


async def test_the_labelled_pages_reach_what_is_declared() -> None:
    scores = await scored(*(page for page in pages_in(FIXTURES) if page.name in SAMPLE))

    told = figures(scores)
    assert len(scores) == len(SAMPLE)
    assert is_reached(told), [each for each in told if each.is_met is False]
    assert {each.name for each in told if each.value is None} == {"numbers read back", "time ÷ plain screenshot"}


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A page whose labels ask for something that is not there, and not for what is."""
    (tmp_path / "page.html").write_text("<!doctype html><button id=here>Here</button><p id=text>Text")
    (tmp_path / "page.json").write_text(json.dumps({"marks": {"text": {}}}))
    return tmp_path


async def test_what_is_missed_and_what_is_marked_wrongly_is_told(wrong: Path) -> None:
    [score] = await scored(*pages_in(wrong))

    assert (score.wanted, score.found, score.false) == (1, 0, 1)
    assert [finding.kind for finding in score.findings] == ["missed", "false"]
    assert not is_reached(figures([score]))
    assert json.dumps(summary([score], []))
    assert sheet([score])


@pytest.mark.thorough
async def test_a_page_that_changes_while_it_is_looked_at_is_not_blamed_on_the_looking(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<!doctype html><button>B</button><p id=p></p>"
        "<script>setInterval(() => p.textContent = Date.now(), 20)</script>"
    )

    [score] = await scored(*pages_in(tmp_path))

    assert score.traces is None


WHEN_EXAMINED = """<!doctype html><body><button id=b>Here</button><script>
    const rect = Element.prototype.getBoundingClientRect;
    Element.prototype.getBoundingClientRect = function () { %s; return rect.call(this) }</script>"""


async def test_a_toolbar_that_hides_itself_before_the_examination_is_no_false_mark(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(WHEN_EXAMINED % "b.style.display = 'none'")

    [score] = await scored(*pages_in(tmp_path))

    assert (score.wanted, score.found, score.false) == (0, 0, 0)
    assert not score.warnings


async def test_a_page_that_changes_at_every_examination_is_reported(tmp_path: Path) -> None:
    change = "const next = b.cloneNode(true); b.replaceWith(next)"
    (tmp_path / "page.html").write_text(WHEN_EXAMINED % f"if (this === b) {{ {change} }}")

    [score] = await scored(*pages_in(tmp_path))

    assert any("changed while it was examined" in warning for warning in score.warnings)


@pytest.mark.thorough
async def test_numbers_are_followed_by_the_names_that_the_page_has_for_things(tmp_path: Path) -> None:
    (tmp_path / "list.html").write_text(
        """<!doctype html><ul id=list></ul><script>
        list.append(...['Ann', 'Ben'].map((each) => Object.assign(document.createElement('li'),
            { innerHTML: `<button data-thing="${each}">${each}</button>` })));
        function step() { list.append(list.firstChild) }
        </script>"""
    )

    [told] = await churn(tmp_path, settings=BrowserSettings())

    assert (told.lived, told.kept, told.handed) == (8, 8, 0)


@pytest.fixture
def foreign() -> list[PageToScore]:
    try:
        found = [site(package) for package in sites(tested=True)]
    except MissingPages as error:
        pytest.skip(str(error))
    return [PageToScore(each.package, each.root, path) for each in found for path in each.pages]


async def test_pages_of_other_projects_agree_with_the_independent_truth(foreign: list[PageToScore]) -> None:
    scores = await scored(*foreign)

    assert sum(score.wanted for score in scores) >= 8, "the pages are there, with their styles and scripts"
    told = [
        each for each in figures(scores) if not each.name.startswith("tokens")
    ]  # few pages have no median to speak of
    assert is_reached(told), [each for score in scores for each in score.findings]


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no pages to score"):
        pages_in(tmp_path)


def test_the_command_scores_a_folder_and_leaves_with_what_came_of_it(wrong: Path) -> None:
    done = CliRunner().invoke(app, ["eval", "perception", str(wrong), "--no-ocr", "--json"])

    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["by_page"][0]["findings"][0] == "missed: #text"
    assert {each["name"]: each["met"] for each in told["labelled_pages"]["figures"]}["recall"] is False
