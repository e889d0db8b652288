"""The page of results in a real browser, opened from disk: its ways lead somewhere, and nothing in it comes alive."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe import violations
from playwright.async_api import Page, expect
from result_builder import keep_with_run, result

from vision_agent.actions import Click, Finish
from vision_agent.errors import UsageError
from vision_agent.evals.items import Witnessed, WrongElement, found_in, write_result
from vision_agent.evals.results.results_html import render_page, write_page

HOSTILE = "<img src=x onerror=document.title='alive'>\"'"


def evaluated(out: Path) -> None:
    """Two settings that diverge in the second step of `a`; `b` broke with what a page said."""
    keep_with_run(result("a", "match", True), out, [(Click(target=5),), (Click(target=4),), (Finish(answer="x"),)])
    keep_with_run(result("a", HOSTILE, False, cost_usd=0.5), out, [(Click(target=5),), (Click(target=2),)])
    write_result(result("b", "match", None, error=HOSTILE), out)
    write_result(result("b", HOSTILE, False, ending="limit"), out)


async def test_it_opens_from_disk_and_leads_to_runs_and_pictures(page: Page, tmp_path: Path) -> None:
    out = tmp_path / "evals of # today"
    evaluated(out)
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("console", lambda message: failed.append(message.text))
    (tmp_path / "told").mkdir()
    written = write_page({"evals": found_in(out)}, tmp_path / "told" / "results.html")
    await page.goto(written.as_uri())

    board = page.locator("section", has=page.get_by_role("heading", name="Leaderboard"))
    await expect(board.locator("tbody th")).to_have_text(["A match", f"B {HOSTILE}"])
    await expect(page.get_by_text("same picture, different decisions")).to_have_count(1)
    await expect(page.locator(".parted h3")).to_have_text("a seed 1: step 2, same picture, different decisions")
    await expect(page.locator(".did")).to_have_text(["Click [4] “Gift wrap”", "Click [2] “Cart (0)”"])
    pictures = page.locator(".parted img")
    await expect(pictures).to_have_count(2)
    for picture in await pictures.all():
        await picture.scroll_into_view_if_needed()
        await expect(picture).to_have_js_property("naturalWidth", 640)
    links = [await link.get_attribute("href") or "" for link in await page.locator("a.try").all()]
    assert len(links) == 2
    assert all((written.parent / link.replace("%20", " ").replace("%23", "#")).exists() for link in links)
    await page.keyboard.press("Tab")
    await expect(page.locator(":focus")).to_have_text("Leaderboard")
    assert not failed
    assert await page.title() == "Results: notes"


async def test_it_fits_a_phone_and_shows_only_what_differs_on_request(page: Page, tmp_path: Path) -> None:
    for model in ("match", "random", "steps"):
        for task in ("same-for-everybody-who-tried", "other"):
            for seed in (1, 2, 3):
                write_result(result(task, model, task[0] == "s" or model == "steps", seed=seed), tmp_path)
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.goto(write_page({"": found_in(tmp_path)}, tmp_path / "results.html").as_uri())

    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    rows = page.locator(".map tbody th")
    await expect(rows.filter(visible=True)).to_have_text(["other", "same-for-everybody-who-tried"])
    await page.get_by_label("Only tasks with different results").check()
    await expect(rows.filter(visible=True)).to_have_text(["other"])


@pytest.mark.parametrize("width", [390, 1280])
async def test_tasks_are_filtered_and_axe_finds_nothing(page: Page, tmp_path: Path, width: int) -> None:
    came = {"good": [True, True], "mixed": [True, False], "lost": [False, False]}
    for task, passed in came.items():
        for model, each in zip(("match", "steps"), passed, strict=True):
            write_result(result(task, model, each), tmp_path)
    for seed in (1, 2, 3, 4):
        write_result(result("rare", "match", seed == 1, seed=seed), tmp_path)
        write_result(result("often", "match", seed != 1, seed=seed), tmp_path)
    write_result(result("broken", "match", None, error="the disk was full"), tmp_path)
    await page.set_viewport_size({"width": width, "height": 800})
    await page.goto(write_page({"": found_in(tmp_path)}, tmp_path / "results.html").as_uri())
    rows = page.locator(".map tbody th").filter(visible=True)
    await expect(rows).to_have_count(6)
    await page.get_by_label("never passed").check()
    await expect(rows).to_have_text(["lost"])
    await page.get_by_label("with an error").check()
    await expect(rows).to_have_text(["broken"])
    await page.get_by_label("not always passed").check()
    assert set(await rows.all_inner_texts()) == {"lost", "mixed", "often", "rare"}
    await page.get_by_label("all tasks").check()
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_each_wrong_element_is_a_way_to_its_step(tmp_path: Path) -> None:
    kept = keep_with_run(result("a", "match", True), tmp_path, [(Click(target=5),)])
    wrong = WrongElement(step=1, sentence=f"Click [5] reached {HOSTILE}")
    write_result(kept.model_copy(update={"witness": Witnessed(witnessed=4, unwitnessed=1, wrong=(wrong,))}), tmp_path)
    html = render_page({"evals": found_in(tmp_path)}, tmp_path)

    assert "<td>1/4 = 25% [5, 70], 1 not witnessed</td>" in html
    assert f'href="{kept.item.folder}/{kept.run}#step-1" class="pg">a seed 1, step 1</a>' in html
    assert "Click [5] reached &lt;img src=x" in html


def test_nothing_of_a_result_is_markup_and_no_script_may_run(tmp_path: Path) -> None:
    evaluated(tmp_path)
    html = render_page({"evals": found_in(tmp_path)}, tmp_path)
    assert "<img src=x" not in html
    assert "script-src &#39;sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=&#39;" in html  # of nothing
    assert "<script" not in html


def test_where_it_cannot_be_written_the_file_is_named(tmp_path: Path) -> None:
    evaluated(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/results\.html cannot be written"):
        write_page({"": found_in(tmp_path)}, tmp_path / "file" / "results.html")


@pytest.mark.parametrize(
    ("costs", "shown"),
    [
        ((0.05, 0.15), [("A", ""), ("B", "")]),
        ((0.119, 0.116), [("B", " end"), ("A", "")]),
        ((0.116, 0.118, 0.119), [("A", " end"), ("", ""), ("B C", "")]),
        ((0.05, 0.116, 0.119), [("A", ""), ("B", " end"), ("C", "")]),
    ],
)
def test_letters_in_the_plot_stand_beside_their_own_dots_however_close_these_are(
    tmp_path: Path, costs: tuple[float, ...], shown: list[tuple[str, str]]
) -> None:
    for place, cost in enumerate(costs):
        write_result(result("a", f"m:{place}", True, cost_usd=cost), tmp_path)
    page = render_page({"evals": sorted(found_in(tmp_path), key=lambda each: each.result.item.model)}, tmp_path)
    found = re.findall(r'<text class="name( end)?" x="[^"]*" y="[^"]*">([^<]*)<', page)
    assert [(letter, side) for side, letter in found] == shown
