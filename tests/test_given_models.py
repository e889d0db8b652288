"""A model that a user wrote sees secrets by name, unless it asks for them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.conftest import Server
from vision_agent import Agent, Decision, Observation, Secret, Settings, Step, Task
from vision_agent.actions import Click, Finish
from vision_agent.ports import Model

VALUE = "Zebra47Quokka"
PAGE = """<title>Told</title><p>The word is Zebra47Quokka <button title="Zebra 47 Quokka">Zebra47Quokka</button>
<p>Order 4711"""


class Watcher(Model):
    """Clicks once, and keeps all that it was shown."""

    name = "watcher"

    def __init__(self) -> None:
        self.shown: list[tuple[Task, Sequence[Step], Observation, str]] = []

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        self.shown.append((task, steps, observation, complaint))
        return Decision(actions=(Finish(),) if steps else (Click(target=1),), author="model")

    @property
    def texts(self) -> str:
        return "".join(
            f"{task.goal} {[each.model_dump_json() for each in steps]} {seen.model_dump_json()} {complaint}"
            for task, steps, seen, complaint in self.shown
        )


class TrustedWatcher(Watcher):
    """Asks for secrets as they are."""

    sees_secrets = True


@pytest.mark.parametrize("model", [Watcher(), TrustedWatcher()], ids=["usual", "trusted"])
async def test_a_given_model_sees_secrets_only_if_it_asks_for_them(
    model: Watcher, page: Page, serve: Server, tmp_path: Path
) -> None:
    secret = Secret(name="word", value=SecretStr(VALUE))
    task = Task(goal=f"Look for {VALUE}", start_url=serve({"/": PAGE, "/favicon.ico": b""}), secrets=(secret,))
    run = await Agent(task, model=model, page=page, settings=Settings(runs=tmp_path)).run()
    assert len(model.shown) == len(run.steps) == 2
    assert (VALUE in model.texts) is isinstance(model, TrustedWatcher)
    assert ("<secret:word>" in model.texts) is not isinstance(model, TrustedWatcher)
    assert "4711" in model.texts
    assert all(seen.marked.data for _, _, seen, _ in model.shown)
    assert run.provenance.model == type(model).__name__


async def test_a_given_model_reads_private_data(page: Page, serve: Server, tmp_path: Path) -> None:
    private = Secret(name="word", value=SecretStr(VALUE), is_private=True)
    model = Watcher()
    task = Task(goal="Look", start_url=serve({"/": PAGE, "/favicon.ico": b""}), secrets=(private,))
    await Agent(task, model=model, page=page, settings=Settings(runs=tmp_path)).run()
    assert VALUE in model.texts
    assert model.shown[0][0].secrets == (private,)


@pytest.mark.parametrize("is_private", [True, False], ids=["private", "secret"])
@pytest.mark.parametrize("line", ["click Open <private:customer>", 'click "Open <secret:customer>"'])
async def test_a_step_line_names_a_thing_by_a_value_that_no_record_has(
    line: str, is_private: bool, page: Page, serve: Server, tmp_path: Path
) -> None:
    buttons = "".join(f'<button onclick="document.title = {each!r}">Open {each}</button>' for each in (VALUE, "Jones"))
    secret = Secret(name="customer", value=SecretStr(VALUE), is_private=is_private)
    start = serve({"/": f"<title>Customers</title>{buttons}".encode(), "/favicon.ico": b""})
    run = await Agent(
        f"Open {VALUE}", url=start, steps=[line], secrets=[secret], page=page, settings=Settings(runs=tmp_path)
    ).run()
    assert run.ok
    assert await page.title() == VALUE
    written = _texts_below(tmp_path)
    assert b"Open <secret:customer>" in written
    assert VALUE.encode() not in written


async def test_a_step_line_names_a_row_by_private_data(page: Page, serve: Server, tmp_path: Path) -> None:
    rows = "".join(
        f'<tr><td>{each}<td><button onclick="document.title = {each!r}">Open</button>' for each in ("Jones", VALUE)
    )
    secret = Secret(name="customer", value=SecretStr(VALUE), is_private=True)
    start = serve({"/": f"<title>Customers</title><table>{rows}</table>".encode(), "/favicon.ico": b""})
    line = "click Open in row <private:customer>"
    run = await Agent(
        "Open one", url=start, steps=[line], secrets=[secret], page=page, settings=Settings(runs=tmp_path)
    ).run()
    assert run.ok
    assert await page.title() == VALUE


def _texts_below(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.rglob("*.*") if each.suffix in (".json", ".jsonl", ".html"))
