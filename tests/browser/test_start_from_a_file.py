"""Claims about runs that start at a `file:` address: they see the folder of that page, not the whole disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.record.record_builder import png
from vision_agent import Agent, Settings
from vision_agent.browser.network.host_policy import Policy, check, start_folder
from vision_agent.browser.refusal import Refused
from vision_agent.models.offline.steps import StepsModel
from vision_agent.types import Run, Task

PAGE = """<!doctype html><title>Begin</title><label>Note <input></label>
<a href="more/second.html">Second</a> <a href="../private/secret.html">Secret</a>
<img src="../private/secret.png" alt="Picture"><img src="own.png" alt="Own">
<p id=said></p>
<script>
  onload = () => { said.textContent = [...document.images].map(each => each.naturalWidth).join(" and "); };
</script>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (folder := tmp_path / "site").mkdir()
    (folder / "more").mkdir()
    (private := tmp_path / "private").mkdir()
    (folder / "begin.html").write_text(PAGE, "utf-8")
    (folder / "more" / "second.html").write_text("<!doctype html><title>Second</title><p>Within", "utf-8")
    (private / "secret.html").write_text("<!doctype html><title>Secret</title><p>Private", "utf-8")
    for path in (folder / "own.png", private / "secret.png"):
        path.write_bytes(png())
    return folder


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("site/begin.html", True),
        ("site/more/second.html?a#b", True),
        ("site/", True),
        ("private/secret.html", False),
        ("site/../private/secret.html", False),
        ("site/%2e%2e/private/secret.html", False),
        ("site/..%2fprivate/secret.html", False),
        ("site/link/secret.html", False),
        ("sitemap.html", False),
    ],
)
def test_only_the_folder_of_the_start_page_may_be_opened(folder: Path, path: str, is_allowed: bool) -> None:
    (folder / "link").symlink_to(folder.parent / "private")
    policy = Policy(schemes=("http", "https", "file"), folder=start_folder(f"{folder.as_uri()}/begin.html"))
    url = f"{folder.parent.as_uri()}/{path}"
    if is_allowed:
        check(url, policy)
    else:
        with pytest.raises(Refused, match="outside the folder of the start page"):
            check(url, policy)


def test_other_addresses_have_no_folder() -> None:
    assert start_folder("http://example.org/") is None
    assert start_folder("file://foreign.test/share/a.html") is None
    assert start_folder(None) is None


async def run_of(folder: Path, *lines: str) -> Run:
    task = Task(goal="Look around", start_url=f"{folder.as_uri()}/begin.html")
    return await Agent(task, model=StepsModel([*lines, "finish"]), settings=Settings(runs=folder.parent / "runs")).run()


async def test_links_pictures_and_addresses_stay_in_the_folder(folder: Path) -> None:
    secret = f"{folder.parent.as_uri()}/private/secret.html"
    run = await run_of(folder, 'type "kept" into Note', "click Secret")
    last = run.steps[-1].observation
    assert last.title == "Begin"
    assert next(mark for mark in last.marks if mark.name == "Note").state.value == "kept"
    assert "0 and 640" in last.listing
    told = str([outcome.changes for step in run.steps for outcome in step.outcomes])
    assert "was blocked (asked for by the page): it is outside the folder of the start page" in told

    run = await run_of(folder, "click Second", f"go to {secret}")
    assert [step.observation.title for step in run.steps][-1] == "Second"
    refused = [each.sentence for step in run.steps for each in step.outcomes if each.status == "refused"]
    assert any("outside the folder of the start page" in each for each in refused)
