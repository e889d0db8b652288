"""`vision-agent record`: what a person does in the browser becomes a run and step lines that do it again."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from tests.ready_python import python
from vision_agent import Agent, Settings, Task
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record import read, verify
from vision_agent.settings import BrowserSettings

PROMPT = b"press Enter here"
FORM = """<title>Order</title><p><label>Name <input></label> <label>Code <input type=password></label>
<label><input type=checkbox> Gift</label></p><canvas id=c width=300 height=120 aria-label=Map></canvas>
<p><button onclick="said.value = `Ordered for ${document.querySelector('input').value}`">Order</button>
<output id=said></output></p>
<script>
const paint = c.getContext('2d');
paint.fillStyle = 'teal'; paint.fillRect(40, 30, 80, 50);
c.onclick = () => { paint.fillStyle = 'gold'; paint.fillRect(40, 30, 80, 50) };
</script>"""


@asynccontextmanager
async def recording(url: str, folder: Path, *arguments: str) -> AsyncIterator[tuple[Process, Page]]:
    """The command, once it listens, and the page as the person who works on it has it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with (
        launch_browser(BrowserSettings(args=(f"--remote-debugging-port={port}",))),
        launch_browser(BrowserSettings(cdp_url=f"http://127.0.0.1:{port}")) as person,
    ):
        command = ("record", url, "Order a mug", "--cdp", str(port), "--runs", str(folder / "runs"), *arguments)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "vision_agent", *command), stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder
        )
        try:
            where = "as step lines while you do it" if "--out" in arguments else "--out FILE"
            begun = await told(process, PROMPT)
            assert where in begun
            assert ("a record opens no files by itself" in begun) == url.startswith("file:")
            yield process, next(page for page in person.context.pages if page.url.startswith(url))
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def told(process: Process, words: bytes) -> str:
    """What the command says, once it has said these words."""
    assert process.stderr
    text = b""
    async with asyncio.timeout(110):
        while words not in text:
            line = await process.stderr.readline()
            assert line, f"it ended before it said so: {text!r}"
            text += line
    return text.decode()


@pytest.mark.timeout(240)
async def test_what_a_person_does_is_recorded_and_done_again_by_its_lines(serve: Server, tmp_path: Path) -> None:
    url = serve({"/": FORM})
    async with recording(url, tmp_path, "--out", "order.txt") as (process, page):
        await page.get_by_label("Name").click()
        await page.keyboard.type("Ann")
        await page.get_by_label("Code").click()
        await page.keyboard.type("hunter2")
        await page.get_by_label("Gift").click()
        await page.locator("canvas").click(position={"x": 90, "y": 50})
        await page.get_by_role("button", name="Order").click()
        await page.wait_for_function("said.value === 'Ordered for Ann'")
        _, err = await process.communicate(b"\n")

    assert process.returncode == 0, err
    assert b"Step lines: order.txt" in err
    lines = (tmp_path / "order.txt").read_text("utf-8").splitlines()
    assert lines[:2] == ["# Order a mug", f"# Begins at {url}"]
    said = [line for line in lines[2:] if not line.startswith("click ")]
    assert said == ['type "Ann" into Name', 'type "<secret:by-hand>" into Code', "check Gift", "finish"], lines
    assert any(line.endswith(" of Map") for line in lines), lines
    assert lines[-2] == "click Order"
    [folder] = (tmp_path / "runs").iterdir()
    assert verify(folder).holds
    run = read(folder)
    assert {step.decision.author for step in run.steps[1:-1]} == {"human"}
    assert run.steps[0].decision.next_goal == "A person takes over the browser"
    assert b"hunter2" not in b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())

    again = [line.replace("<secret:by-hand>", "x") for line in lines]
    agent = Agent(Task(goal="Again", start_url=url, checks=(), limits=Settings().limits), model=StepsModel(again),
                  settings=Settings(runs=tmp_path / "again"))  # fmt: skip
    assert (await agent.run()).ok, agent.ending


BOARD = """<title>Board</title><style>[role] { width: 120px; height: 40px; border: 1px solid }</style>
<label>Day <input type=date min=2026-01-01></label>
<div role=button tabindex=0 draggable=true ondragstart="event.dataTransfer.setData('text', 'x')">Card</div>
<div role=button tabindex=0 ondragover="event.preventDefault()" ondrop="said.value += 'dropped '">Done</div>
<button onclick="said.value += `on ${document.querySelector('input').value}`">Book</button><output id=said></output>"""


@pytest.mark.timeout(240)
async def test_a_typed_date_and_a_card_that_is_dragged_are_done_again_by_the_lines(
    serve: Server, tmp_path: Path
) -> None:
    url = serve({"/": BOARD})
    async with recording(url, tmp_path, "--out", "book.txt") as (process, page):
        await page.get_by_label("Day").focus()
        await page.keyboard.type("02032026")
        card, done = [await page.get_by_role("button", name=name).bounding_box() for name in ("Card", "Done")]
        assert card is not None
        assert done is not None
        await page.mouse.move(card["x"] + 20, card["y"] + 20)
        await page.mouse.down()
        await page.mouse.move(card["x"] + 40, card["y"] + 30, steps=5)
        await page.mouse.move(done["x"] + 40, done["y"] + 30, steps=5)
        await page.mouse.up()
        await page.get_by_role("button", name="Book").click()
        await page.wait_for_function("said.value === 'dropped on 2026-02-03'")
        _, err = await process.communicate(b"\n")

    assert process.returncode == 0, err
    lines = (tmp_path / "book.txt").read_text("utf-8").splitlines()
    assert lines[2:] == ["set Day to 2026-02-03", "drag Card to Done", "click Book", "finish"]
    [folder] = (tmp_path / "runs").iterdir()
    test = tmp_path / "test_board.py"
    for command in (
        ("run", url, "--steps", "book.txt", "--expect", "dropped on 2026-02-03"),
        ("export", str(folder), "--to", "pytest", "--out", str(test)),
    ):
        again = await asyncio.to_thread(
            subprocess.run,
            [python(), "-m", "vision_agent", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=150,
        )
        assert again.returncode == 0, again.stderr
    assert "page.mouse.down()" in test.read_text("utf-8")


async def test_lines_go_to_standard_output_and_nothing_else_does(serve: Server, tmp_path: Path) -> None:
    url = serve({"/": FORM})
    async with recording(url, tmp_path) as (process, page):
        await page.get_by_role("button", name="Order").click()
        out, err = await process.communicate(b"\n")
    assert process.returncode == 0, err
    lines = [line for line in out.decode().splitlines() if line]
    assert lines == ["# Order a mug", f"# Begins at {url}", "click Order", "finish"]


@pytest.mark.timeout(240)
async def test_a_recording_of_a_file_says_that_its_replay_needs_the_file_named_which_may_then_be_elsewhere(
    tmp_path: Path,
) -> None:
    here, elsewhere = tmp_path / "form.html", tmp_path / "elsewhere" / "form.html"
    here.write_text(FORM)
    async with recording(here.as_uri(), tmp_path) as (process, page):
        await page.get_by_role("button", name="Order").click()
        _, err = await process.communicate(b"\n")
    elsewhere.parent.mkdir()
    here.rename(elsewhere)
    [folder] = (tmp_path / "runs").iterdir()

    replay = (python(), "-m", "vision_agent", "replay", folder, "--runs", "again")
    refused = await asyncio.to_thread(subprocess.run, replay, cwd=tmp_path, capture_output=True, text=True, timeout=150)
    done = await asyncio.to_thread(
        subprocess.run,
        [*replay, "--url", "elsewhere/form.html"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=150,
    )

    assert process.returncode == 0, err
    assert (refused.returncode, "opens no files of this machine" in refused.stderr) == (2, True)
    assert done.returncode == 0, done.stderr


async def test_a_killed_recording_keeps_the_lines_of_what_was_done(serve: Server, tmp_path: Path) -> None:
    url = serve({"/": FORM})
    async with recording(url, tmp_path, "--out", "order.txt") as (process, page):
        await page.get_by_role("button", name="Order").click()
        await told(process, b"Order")
        await page.get_by_label("Gift").click()
        await told(process, b"Gift")  # so the step before is complete
        process.kill()
        await process.wait()
    lines = (tmp_path / "order.txt").read_text("utf-8").splitlines()
    assert lines[:3] == ["# Order a mug", f"# Begins at {url}", "click Order"]


async def test_a_window_that_the_person_opens_is_said_not_to_be_recorded_and_the_lines_say_so(
    serve: Server, tmp_path: Path
) -> None:
    url = serve({"/": FORM})
    async with recording(url, tmp_path) as (process, page):
        await (await page.context.new_page()).goto(url)
        await told(process, b"opened a new tab or window, where nothing is recorded")
        await page.get_by_role("button", name="Order").click()
        out, err = await process.communicate(b"\n")
    assert process.returncode == 0, err
    note = "By hand: opened a new tab or window, where nothing is recorded; go on in the one that is recorded"
    assert f"# There is no line for this. {note}" in out.decode().splitlines()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("closes", ["tab", "browser"])
async def test_closing_the_window_ends_the_recording(serve: Server, tmp_path: Path, closes: str) -> None:
    url = serve({"/": FORM})
    async with recording(url, tmp_path) as (process, page):
        await page.get_by_role("button", name="Order").click()
        await page.wait_for_function("said.value")
        if closes == "tab":
            await page.close()
        else:
            session = await page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
            await session.send("Browser.close")
        assert process.stdout
        assert process.stderr
        out, err = await process.stdout.read(), await process.stderr.read()  # nobody presses Enter
        await process.wait()
    assert process.returncode == 0, err
    lines = [line for line in out.decode().splitlines() if line]
    assert lines == ["# Order a mug", f"# Begins at {url}", "click Order", "finish"], err
    [folder] = (tmp_path / "runs").iterdir()
    assert verify(folder).holds
    ending = read(folder).ending
    assert ending is not None
    assert ending.status == "done"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["order.txt"], "order.txt already exists"),
        (["other.txt"], "There is no screen to record on"),
        (["none/other.txt"], "There is no folder"),
    ],
    ids=["exists", "no-screen", "no-folder"],
)
def test_what_cannot_be_is_said_before_a_browser_starts(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "order.txt").touch()
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [python(), "-m", "vision_agent", "record", "example.org", "--out", *arguments, "--runs", "runs"],
        cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=150,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()
