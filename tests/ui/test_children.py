"""What a process of ours says is taken at its word only where no page can have spoken."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from vision_agent.ui.children import Child, Children
from vision_agent.ui.orders import Order

FIRST = "http://127.0.0.1:4321/?token=abc"


async def ended(code: int) -> Child:
    process = await asyncio.create_subprocess_exec("sh", "-c", f"exit {code}")
    await process.wait()
    return Child(Order(Path("/runs/x"), ("run",)), process)


async def test_a_page_cannot_lead_to_another_supervision_page() -> None:
    child = await ended(0)
    child.hear(f"Supervise it at {FIRST}")
    child.hear("Supervise it at http://evil.example/?token=abc")
    assert child.supervision == FIRST
    # Once the first was used, the next one follows from the same server.
    child.hear(f"Supervise it at {FIRST}d")
    assert child.supervision == f"{FIRST}d"

    late = await ended(0)
    for number in range(5):
        late.hear(f"  {number} ✓ click Save")
    late.hear("Supervise it at http://evil.example/?token=abc")
    assert late.supervision == ""


async def test_an_error_is_told_with_its_example_and_without_what_a_terminal_obeys() -> None:
    failed = await ended(2)
    failed.hear("Opening the page")
    failed.hear("vision-agent: Line 1 is not complete (it looks like this:")
    failed.hear('  wait for "text"\x1b[31m')
    assert failed.fault == 'Line 1 is not complete (it looks like this:\n  wait for "text"\\u001b[31m'
    assert (await ended(0)).fault == ""
    assert (await ended(1)).last_words == "It ended without a word."


async def test_a_run_whose_folder_is_deleted_elsewhere_did_start(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec("sleep", "60")
    child = Child(Order(tmp_path / "one", ("run",)), process)
    assert not child.has_begun()
    child.order.folder.mkdir()
    assert not child.has_begun()  # the browser is being opened
    (child.order.folder / "run.json").touch()
    child.hear("  1 ✓ click Save")
    shutil.rmtree(child.order.folder)
    assert (child.has_begun(), child.is_lost()) == (True, True)
    process.kill()
    await process.wait()
    assert (child.has_begun(), child.is_lost()) == (True, False)


async def test_a_run_without_a_folder_is_not_offered_to_be_resumed(tmp_path: Path) -> None:
    children = Children()
    child = await children.start(Order(tmp_path / "one", ("run", "--help")))
    assert children.starting() == [child]
    assert await children.end_all() == []
