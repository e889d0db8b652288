"""Claims about `vision-agent replay` as a person types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vision_agent.cli.main import app
from vision_agent.errors import UsageError
from vision_agent.record.read import read

PAGE = "<title>Lunch</title><input aria-label=Name><button onclick=\"document.title = 'Ordered'\">Order</button>"
DECIDER = """
from vision_agent.actions import Click, Finish, Type
from vision_agent.ports import Model
from vision_agent.types import Decision

class Mender(Model):
    name = "mender"

    async def decide(self, task, steps, observation, *, complaint=""):
        send = next(mark.number for mark in observation.marks if mark.name == "Send")
        return Decision(author="model", next_goal="Send it", actions=(Click(target=send), Finish()))

class Reader(Model):
    name = "reader"

    async def decide(self, task, steps, observation, *, complaint=""):
        field = next(mark.number for mark in observation.marks if mark.name == "Name")
        action = Finish(answer="Ann pays $10") if steps else Type(target=field, text="Ann")
        return Decision(author="model", next_goal="Ask for the price", actions=(action,))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a page, a decider and a run in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in {"page.html": PAGE, "lines.txt": "click Order\n", "own_mender.py": DECIDER}.items():
        Path(name).write_text(text, "utf-8")
    assert command("run", "page.html", "--steps", "lines.txt", "--name", "one")["status"] == "done"
    yield tmp_path
    sys.modules.pop("own_mender", None)


def command(*words: str) -> Any:
    """What the command says with `--json`."""
    return json.loads(CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).stdout)


@pytest.mark.usefixtures("here")
def test_a_page_that_is_a_file_is_named_by_its_path_and_healed_by_a_decider_of_ones_own() -> None:
    again = command("replay", "runs/one", "--url", "./page.html")
    assert (again["status"], again["steps_taken"]) == ("done", 2)
    Path("page.html").write_text(PAGE.replace("Order</", "Send</"), "utf-8")
    healing = ["replay", "runs/one", "--url", "page.html", "--heal"]
    healed = command(*healing, "--model", "own_mender:Mender")
    assert (healed["status"], {each["author"] for each in healed["steps"]}) == ("done", {"model", "replay"})
    assert healed["patch"] is not None


@pytest.mark.usefixtures("here")
def test_an_answer_that_was_read_then_is_said_to_be_the_recorded_one_or_left_out() -> None:
    asked = ["page.html", "How much does Ann pay?", "--model", "own_mender:Reader", "--name", "two"]
    assert command("run", *asked)["answer"] == "Ann pays $10"
    replay = ["replay", "runs/two", "--url", "page.html"]
    again = command(*replay)
    assert (again["answer"], again["answer_note"]) == (
        "Ann pays $10",
        "the answer is the recorded one: a replay does not read the page again, and the page may have changed.",
    )
    other = CliRunner().invoke(app, [*replay, "--set", "1=Bob"], catch_exceptions=False)
    assert other.stdout == "The task is done.\n"
    assert "vision-agent: the recorded answer is left out: it was for other values" in other.stderr
    assert command("replay", "runs/one", "--url", "page.html")["answer_note"] is None


CUSTOMERS = "<title>List</title>" + "".join(
    f"<button onclick=\"document.title = '{name}'\">Open {name}</button>" for name in ("Jones", "Smith", "Smithson")
)


def opened(monkeypatch: pytest.MonkeyPatch, *words: str, customer: str, kind: str) -> Any:
    """What was done, and the titles of the page that the record has, with the customer's name in a variable."""
    monkeypatch.setenv("CUSTOMER", customer)
    return command(*words, "--" + kind, "customer=CUSTOMER")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["private", "secret"])
def test_who_is_known_by_private_data_is_the_one_named_in_a_replay_and_in_no_record(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("page.html").write_text(CUSTOMERS, "utf-8")
    Path("open.txt").write_text(f"click Open <{kind}:customer>\nfinish\n", "utf-8")
    run = ["run", "page.html", "--steps", "open.txt", "--name", "smith"]
    assert opened(monkeypatch, *run, customer="Smith", kind=kind)["status"] == "done"
    replay = ["replay", "runs/smith", "--url", "page.html"]
    with pytest.raises(UsageError, match="acted on what is known by customer") as refused:
        app(replay, standalone_mode=False)
    assert refused.value.hint == f"--{kind} customer=CUSTOMER".replace("CUSTOMER", "VARIABLE")
    for name in ("Smith", "Jones"):
        again = opened(monkeypatch, *replay, "--name", f"again-{name}", customer=name, kind=kind)
        assert again["status"] == "done"
        assert title_at_the_end(tmp_path / "runs" / f"again-{name}") == "<secret:customer>"
    nobody = opened(monkeypatch, *replay, "--name", "nobody", customer="Miller", kind=kind)
    assert nobody["status"] == "not_done"
    for folder, name in (("smith", "Smith"), ("again-Smith", "Smith"), ("again-Jones", "Jones")):
        steps = (tmp_path / "runs" / folder / "steps.jsonl").read_text("utf-8")
        assert f'Open {name}"' not in steps
        assert '"fingerprint":"words"' in steps.replace(": ", ":")


def title_at_the_end(folder: Path) -> str:
    return read(folder).steps[-1].observation.title


@pytest.mark.usefixtures("here")
def test_what_is_no_file_or_is_named_by_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"There is no file \./none\.html here"):
        app(["replay", "runs/one", "--url", "./none.html"], standalone_mode=False)
    monkeypatch.setenv("VISION_AGENT_MODEL__NAME", "own_mender:Mender")
    with pytest.raises(UsageError, match="Unknown model 'own_mender:Mender'"):
        app(["replay", "runs/one", "--url", "page.html", "--heal"], standalone_mode=False)
    assert "own_mender" not in sys.modules
