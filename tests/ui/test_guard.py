"""The page of runs answers one browser of this machine, and nobody else; what comes from a run folder is only shown."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.record.record_builder import run, small_run, task, write_run
from tests.ui.desk import Desk, a_run
from vision_agent.events import Started
from vision_agent.record.glance import MOST_OF_GLANCE
from vision_agent.record.redact import Redactor
from vision_agent.record.store import RunFolder
from vision_agent.settings import Settings
from vision_agent.ui.server import serve_runs

FORM = {"Origin": "", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}


class Person:
    """The browser that opened the page, as the server sees it."""

    def __init__(self, client: httpx.AsyncClient, origin: str, path: str, key: str) -> None:
        self.client = client
        self.origin = origin
        self.path = path
        self.key = key

    async def post(self, where: str, fields: dict[str, Any], **headers: str) -> httpx.Response:
        return await self.client.post(
            self.path + where, data={"key": self.key, **fields}, headers={**FORM, "Origin": self.origin, **headers}
        )


@pytest.fixture
async def person(tmp_path: Path) -> AsyncIterator[Person]:
    async with serve_runs(Settings(runs=tmp_path / "runs")) as address, httpx.AsyncClient() as client:
        yield await entered(client, address)


async def entered(client: httpx.AsyncClient, address: str) -> Person:
    opened = await client.get(address)
    assert opened.status_code == 200
    [path] = re.findall(r'href="(/[\w-]+)/"', opened.text)
    origin = address.partition("/?")[0]
    form = await client.get(f"{origin}{path}/start")
    [key] = re.findall(r'name="key" value="([\w-]+)"', form.text)
    return Person(client, origin, f"{origin}{path}", key)


def key_in(html: str) -> str:
    return re.findall(r'name="run" value="(\w+)"', html)[0]


async def test_the_address_opens_once_and_the_next_one_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    async with (
        serve_runs(Settings(runs=tmp_path / "runs"), on_opened=told.append) as address,
        httpx.AsyncClient() as first,
        httpx.AsyncClient() as second,
    ):
        origin = address.partition("/?")[0]
        for path in ("/", "/?token=guess", "/guess/", "/guess/start", "/page.css"):
            assert (await second.get(origin + path)).status_code == 403
        entered_by = await entered(first, address)
        assert (await second.get(address)).status_code == 403
        assert (await second.get(f"{entered_by.path}/")).status_code == 403
        [next_address] = told
        assert (await second.get(next_address)).status_code == 200
        (cookie,) = first.cookies.jar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"
        # Browsers send a cookie to every port of the machine, but only below its path.
        assert f"{origin}{cookie.path}" == entered_by.path


@pytest.mark.parametrize(
    "wrong",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Cookie": "vision-agent-ui=guess"},
    ],
)
async def test_no_other_site_can_delete_or_start(person: Person, tmp_path: Path, wrong: dict[str, str]) -> None:
    folder = a_run(tmp_path / "runs", "Order one mug")
    key = key_in((await person.client.get(f"{person.path}/")).text)
    for where, fields in (("/delete", {"run": key}), ("/start", {"url": "x", "goal": "x"})):
        assert (await person.post(where, fields, **wrong)).status_code == 403
    assert folder.is_dir()
    assert len(list((tmp_path / "runs").iterdir())) == 1


async def test_a_form_without_the_key_of_the_page_changes_nothing(person: Person, tmp_path: Path) -> None:
    folder = a_run(tmp_path / "runs", "Order one mug")
    key = key_in((await person.client.get(f"{person.path}/")).text)
    for wrong in ("", "guess", person.key[:-1]):
        refused = await person.post("/delete", {"run": key, "key": wrong})
        assert (refused.status_code, "not from this page" in refused.text) == (422, True)
    assert (await person.client.get(f"{person.path}/delete?run={key}")).status_code == 200
    for where in ("/delete", f"/runs/{key}/stop"):
        assert (await person.client.get(f"{person.path}{where}")).status_code in (422, 405)
    assert folder.is_dir()
    assert (await person.post("/delete", {"run": key})).status_code == 303
    assert not folder.exists()


async def test_a_run_of_the_terminal_that_is_going_is_only_shown_and_one_that_is_done_is_not_resumed(
    person: Person, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    a_run(runs, "Done")
    with RunFolder.create(runs, "going", Redactor(())) as going:
        going.write(Started(run=run("going", task=task(goal="Still going"))))
        html = (await person.client.get(f"{person.path}/")).text
        keys = dict(
            zip(re.findall(r'name="run" value="(\w+)"', html), re.findall(r"<h3><a[^>]*>([^<]+)", html), strict=True)
        )
        for key, goal in keys.items():
            refused = await person.client.get(f"{person.path}/runs/{key}/resume")
            assert refused.status_code == 422
            assert ("still going" if goal == "Still going" else "has ended for good") in refused.text
        [key] = [key for key, goal in keys.items() if goal == "Still going"]
        shown = (await person.client.get(f"{person.path}/runs/{key}")).text
        assert "Running" in shown
        assert ">Stop<" not in shown
        assert "was not started here" in (await person.post(f"/runs/{key}/stop", {})).text
        asked = (await person.client.get(f"{person.path}/delete?run={key}")).text
        assert "Still going, and kept" in asked
        assert 'name="run"' not in asked
        kept = await person.post("/delete", {"run": key})
        assert "still going" in kept.text
        assert going.path.is_dir()


async def test_every_answer_tells_the_browser_to_load_nothing_from_elsewhere(person: Person) -> None:
    for path in ("/", "/start", "/page.css", "/page.js", "/runs/nothing"):
        headers = (await person.client.get(f"{person.path}{path}")).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


async def test_no_path_reaches_a_file_that_is_not_a_picture_of_a_known_run(person: Person, tmp_path: Path) -> None:
    folder = a_run(tmp_path / "runs", "Order one mug")
    (tmp_path / "secret.txt").write_text("a secret of this machine")
    (tmp_path / "runs" / "linked").symlink_to(tmp_path)
    [key] = re.findall(r'name="run" value="(\w+)"', (await person.client.get(f"{person.path}/")).text)
    wrong = ["%2e%2e", "..%2f..%2fsecret.txt", folder.name, "linked", "%00", "a" * 3000, key + "x"]
    for each in wrong:
        for where in (f"/runs/{each}", f"/runs/{each}/report", f"/runs/{key}/shots/{each}", f"/delete?run={each}"):
            answer = await person.client.get(f"{person.path}{where}")
            assert answer.status_code in (403, 404, 422), where
            assert "a secret" not in answer.text
    assert (await person.post("/delete", {"run": ".."})).status_code == 303
    assert (await person.post("/delete", {"run": "linked"})).status_code == 303
    assert folder.is_dir()
    assert (tmp_path / "secret.txt").is_file()


async def test_a_huge_a_broken_and_a_blocking_folder_keep_no_other_run_from_being_shown(
    person: Person, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    a_run(runs, "Order one mug")
    huge = a_run(runs, "Too large to look at")
    with (huge / "steps.jsonl").open("ab") as file:
        file.truncate(MOST_OF_GLANCE + 1)
    broken = a_run(runs, "Broken")
    (broken / "run.json").write_text("{")
    waiting = a_run(runs, "Waits for ever")
    (waiting / "steps.jsonl").unlink()
    os.mkfifo(waiting / "steps.jsonl")
    deep = a_run(runs, "Deep")
    (deep / "run.json").write_text("[" * 100_000)

    html = (await person.client.get(f"{person.path}/")).text
    assert "Order one mug" in html
    for key in re.findall(r'name="run" value="(\w+)"', html):
        shown = await person.client.get(f"{person.path}/runs/{key}")
        assert shown.status_code == 200
        assert (await person.client.get(f"{person.path}/runs/{key}/verify")).status_code in (200, 422)
        framed = await person.client.get(f"{person.path}/runs/{key}/report")
        [address] = re.findall(r'<iframe src="([^"]+)"', framed.text)
        assert (await person.client.get(person.origin + address)).status_code in (200, 422)
    assert html.count("cannot be read") >= 2


EVIL = "<script>document.title = 'Taken'</script><img src=x onerror=\"document.title = 'Taken'\">"


async def test_scripts_in_a_run_folder_are_text_and_its_report_cannot_reach_the_page(
    tmp_path: Path, desk: Desk
) -> None:
    page = desk.page
    folder = a_run(tmp_path / "runs", f"Order {EVIL}", status="not_done", sentence=f"No {EVIL}", model=f"a:{EVIL}")
    hostile = tmp_path / "runs" / f"evil {EVIL.replace('/', '-')}"[:120]
    folder.rename(hostile)
    (hostile / "report.html").write_text("<script>document.title = 'Taken'</script>Not ours")
    await page.goto(desk.base)
    await expect(desk.goals).to_contain_text([EVIL])
    await page.get_by_role("link", name="Order <script>").click()
    await expect(page.locator("h1")).to_contain_text(EVIL)
    assert "Taken" not in (await page.title())[:5]
    await page.get_by_role("link", name="Report").click()
    frame = page.frame_locator("iframe")
    await expect(frame.locator("h1")).to_contain_text(EVIL)
    assert await frame.locator(".frame img").first.evaluate("(it) => it.decode().then(() => it.naturalWidth)") > 0
    # Whatever ran in it: it is an origin of its own, and does not know where the page is.
    [inner] = [each for each in page.frames if "/views/" in each.url]
    assert await inner.evaluate("origin") == "null"
    assert await inner.evaluate("document.referrer") == ""
    path = desk.base.rstrip("/").rpartition("/")[2]
    assert path not in inner.url
    assert path not in await inner.content()
    reached = await inner.evaluate(
        """async () => {
          const tried = [() => document.cookie, () => localStorage.length, () => parent.document.body.innerHTML];
          return tried.map((each) => { try { return String(each()); } catch (error) { return error.name; } });
        }"""
    )
    assert reached == ["SecurityError"] * 3


async def test_the_page_asks_no_server_but_its_own(browser: Browser, tmp_path: Path) -> None:
    write_run(tmp_path / "runs", small_run())
    asked: list[str] = []
    async with serve_runs(Settings(runs=tmp_path / "runs")) as address:
        context = await browser.new_context()
        page = await context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        desk = Desk(page, tmp_path / "runs")
        await desk.open(address)
        await desk.show("Put the large wool jumper")
        await page.get_by_role("link", name="Report").click()
        await expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
        await context.close()
    origin = address.partition("/?")[0]
    assert [each for each in asked if not each.startswith((origin, "data:"))] == []
