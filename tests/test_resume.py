"""Claims about interrupted runs that are resumed: only the current step is lost, and nothing is done twice."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import hear_signals
from tests.loopback import Handler, LoopbackServer
from tests.ready_python import python
from tests.sessions import ending_of
from vision_agent import Agent, Settings, Task
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.policy.approval import Answers
from vision_agent.ports import Person
from vision_agent.record import read
from vision_agent.record.read import read_interrupted
from vision_agent.record.store import RunFolder
from vision_agent.record.verify import verify
from vision_agent.replay import resume
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Choice, Run, Step

LINES = """type "Bob" into Name
check Terms
click Keep a draft
click Go on
click Add one
click Order
wait for "Thank you"
"""
DONE_ONCE = Counter(draft=1, add=1, order=1)
_POST = "<button onclick=\"fetch('/did/{0}', {{method: 'POST', keepalive: true}})\">{1}</button>"
PAGES = {
    "/": "<title>Begin</title><label>Name <input></label><label><input type=checkbox> Terms</label>"
    + _POST.format("draft", "Keep a draft")
    + "<a href=/second>Go on</a>",
    "/second": "<title>Second</title>"
    + _POST.format("add", "Add one")
    + "<form method=post action=/did/order><button>Order</button></form>",
    "/thanks": "<title>Done</title><p>Thank you",
    "/size": "<title>Size</title><label>Size "
    "<select onchange=\"fetch('/did/size', {method: 'POST', keepalive: true})\"><option>Small<option>Large</select>"
    "</label>" + _POST.format("note", "Note it") + "<a href=/asked?it=1>Ask</a>",
    "/asked?it=1": "<title>Asked</title>" + _POST.format("keep", "Keep"),
}


@dataclass
class Shop:
    """A site that counts what was done to it."""

    done: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    url: str = ""


@pytest.fixture
def shop() -> Iterator[Shop]:
    with opened() as shop:
        yield shop


@contextmanager
def opened() -> Iterator[Shop]:
    shop = Shop()

    class Pages(Handler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            shop.opened[self.path] += 1
            self.answer(PAGES.get(self.path, ""), 200 if self.path in PAGES else 404)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            what = self.path.rpartition("/")[2]
            shop.done[what] += 1
            if what == "order":
                self.answer("", 303, {"Location": "/thanks"})
            else:
                self.answer("")

    with LoopbackServer(Pages) as server:
        shop.url = f"{server.address}/"
        yield shop


def cut_off(shop: Shop, folder: Path, after: int, pause_s: float) -> Path:
    """The folder of a run of these lines that was killed when so many lines were on record, and a moment later."""
    (folder / "lines.txt").write_text(LINES)
    command = [sys.executable, "-m", "vision_agent", "run", shop.url, "--steps", str(folder / "lines.txt")]
    process = subprocess.Popen(
        [*command, "--runs", str(folder / "runs")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        found = list((folder / "runs").glob("*/steps.jsonl"))
        if found and found[0].read_bytes().count(b"\n") >= after:
            break
    if process.poll() is None and pause_s:
        with_it = threading.Event()
        with_it.wait(pause_s)
    process.kill()
    process.wait()
    return next((folder / "runs").iterdir())


async def going_on(folder: Path, person: Person | None = None) -> Run:
    agent = resume(folder, model=StepsModel(LINES.splitlines()), settings=Settings(runs=folder.parent), person=person)
    return await agent.run()


class Truthful:
    """A person who looks at the shop, puts in again what is gone, and says what is so."""

    def __init__(self, shop: Shop) -> None:
        self.asked: list[str] = []
        self._shop = shop

    async def __call__(self, question: str) -> str:
        self.asked.append(question)
        # What was put into a page that is gone is not there.
        names = {"Keep a draft": "draft", "Add one": "add", "Order": "order", "Go on": "", "Name": "", "Terms": ""}
        what = next((value for name, value in names.items() if f"“{name}”" in question), None)
        if "Was it done?" not in question:
            return "It is set_variables in again."
        assert what is not None, question
        return "yes" if self._shop.done[what] else "no"


MOMENTS = [*range(2, 34), *(random.Random(7).randint(2, 33) for _ in range(18))]
"""By the lines on record: 32 are written in all. Some come twice, and a moment later."""


def _moments() -> list[object]:
    pauses = random.Random(11)
    made = [(after, round(pauses.choice((0, 0.01, 0.03, 0.08, 0.2)), 2)) for after in MOMENTS]
    is_telling = {27}
    return [
        pytest.param(
            after, pause, marks=() if index in is_telling else pytest.mark.thorough, id=f"{index}-{after}-{pause}"
        )
        for index, (after, pause) in enumerate(made)
    ]


@pytest.mark.parametrize(("after", "pause_s"), _moments())
async def test_a_run_that_is_killed_goes_on_and_does_nothing_twice(
    shop: Shop, tmp_path: Path, after: int, pause_s: float
) -> None:
    folder = cut_off(shop, tmp_path, after, pause_s)
    known = (folder / "steps.jsonl").read_bytes()
    before = known[: known.rfind(b"\n") + 1]
    run = read(folder)
    if run.ending is None:
        run = await going_on(folder)
        assert ending_of(run).status in ("done", "needs_person"), ending_of(run).sentence
        assert not shop.done - DONE_ONCE, shop.done
    endings = {"done"}
    if ending_of(run).status == "needs_person":
        assert "must say" not in ending_of(run).sentence or "or with --supervise" in ending_of(run).sentence
        person = Truthful(shop)
        run = await going_on(folder, person)
        assert person.asked
        if any("“Order”" in question for question in person.asked):
            # That it was ordered opens no page that says so, and the last line waits for that.
            endings.add("not_done")
    assert ending_of(run).status in endings, ending_of(run).sentence
    assert shop.done == DONE_ONCE
    assert (folder / "steps.jsonl").read_bytes().startswith(before)
    assert [_told(step) for step in read(folder).steps] == [_told(step) for step in run.steps]
    checked = verify(folder)
    assert checked.holds, checked.faults
    assert (folder / "report.html").read_text().count("<dt>Resumed</dt>") == known_to_go_on(folder)


def known_to_go_on(folder: Path) -> int:
    return (folder / "steps.jsonl").read_bytes().count(b'"event":"resumed"')


def _told(step: Step) -> tuple[object, ...]:
    return step.index, step.decision, step.outcomes


CHOSEN = ["select Large in Size", "click Note it", "click Ask", "click Keep"]


ASKED = "/asked?it=1"


@dataclass(frozen=True)
class Kept:
    """A run that has ended, in which a choice, a press, a link and a press were sent, and the shop that got them."""

    shop: Shop
    folder: Path

    def since(self) -> tuple[Counter[str], int]:
        """What was done to the shop, and how often the address with a query was opened, after that run."""
        return self.shop.done - Counter(size=1, note=1, keep=1), self.shop.opened[ASKED] - 1


@pytest.fixture(scope="module")
async def kept(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kept]:
    with opened() as shop:
        task = Task(goal="Keep it.", start_url=f"{shop.url}size")
        agent = Agent(task, model=StepsModel(CHOSEN), settings=Settings(runs=tmp_path_factory.mktemp("runs")))
        assert ending_of(await agent.run()).status == "done"
        assert agent.folder is not None
        assert (shop.done, shop.opened[ASKED]) == (Counter(size=1, note=1, keep=1), 1)
        yield Kept(shop, agent.folder)


@pytest.fixture
def sizes(kept: Kept) -> Kept:
    """The same for each test, and nothing done to its shop since."""
    kept.shop.done, kept.shop.opened[ASKED] = Counter(size=1, note=1, keep=1), 1
    return kept


def cut(folder: Path, to: Path, event: str, step: int) -> Path:
    """A copy whose record stops where this event of this step is the last that was written."""
    lines = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    told = [json.loads(line) for line in lines]
    last = next(each["n"] for each in told if (each["event"], each.get("step")) == (event, step))
    copy = to / f"{event}-{step}"
    shutil.copytree(folder, copy)
    (copy / "steps.jsonl").write_bytes(b"".join(lines[:last]))
    return copy


async def taken_up(folder: Path, person: Person | None, **more: Any) -> Run:
    settings = Settings(runs=folder.parent)
    run = await resume(folder, model=StepsModel(CHOSEN), settings=settings, person=person, **more).run()
    checked = verify(folder)
    assert checked.holds, checked.faults
    return run


@pytest.mark.thorough
async def test_what_a_choice_or_a_query_may_send_is_not_sent_again_without_a_person(
    sizes: Kept, tmp_path: Path
) -> None:
    for event, step, asks in [
        ("intended", 1, "Was it done?"),
        ("stepped", 1, "what was done on it in step 1 is gone"),
        ("stepped", 3, f"The run stopped at {sizes.shop.url}asked?it=1"),
    ]:
        run = await taken_up(cut(sizes.folder, tmp_path, event, step), None)
        assert ending_of(run).status == "needs_person", (event, step)
        assert asks in ending_of(run).sentence, (event, step, ending_of(run).sentence)
        assert sizes.since() == (Counter(), 0)


async def test_whoever_is_ask_outcome_an_act_has_been_told_what_the_page_shows(sizes: Kept, tmp_path: Path) -> None:
    told: list[str] = []

    async def asked(_: str) -> None:
        told.append("asked")

    await taken_up(
        cut(sizes.folder, tmp_path, "intended", 1), asked, on_event=lambda event: told.append(type(event).__name__)
    )
    assert told == ["Resumed", "Observed", "asked", "Ended"]


async def test_where_a_person_says_so_a_run_goes_on_from_an_address_with_a_query(sizes: Kept, tmp_path: Path) -> None:
    said: list[str] = []

    async def yes(question: str) -> str:
        said.append(question)
        return "yes"

    assert ending_of(await taken_up(cut(sizes.folder, tmp_path, "stepped", 3), yes)).status == "done"
    assert len(said) == 1
    assert sizes.since() == (Counter(keep=1), 1)  # that press was cut away with the record


async def test_who_may_reopen_an_address_with_a_query_is_not_asked(sizes: Kept, tmp_path: Path) -> None:
    run = await taken_up(cut(sizes.folder, tmp_path, "stepped", 3), None, may_reopen=True)
    assert ending_of(run).status == "done"


@pytest.mark.thorough
async def test_a_run_that_a_person_stopped_goes_on_when_it_is_taken_up(sizes: Kept, tmp_path: Path) -> None:
    async def stop(*_: object) -> Choice:
        return Choice(kind="stop", text="lunch", through="callback")

    async def go(*_: object) -> Choice:
        return Choice(kind="approve", through="callback")

    settings = Settings(runs=tmp_path, approval=ApprovalSettings(ask="always"))
    task = Task(goal="Keep it.", start_url=f"{sizes.shop.url}second")
    lines = ["click Add one"]
    agent = Agent(task, model=StepsModel(lines), settings=settings, approver=Answers(stop))
    assert ending_of(await agent.run()).status == "interrupted"
    assert agent.folder is not None
    again = resume(agent.folder, model=StepsModel(lines), settings=settings, approver=Answers(go))
    assert ending_of(await again.run()).status == "done"
    assert sizes.since() == (Counter(add=1), 0)


@pytest.mark.parametrize("event", ["happened", "stepped"])
async def test_a_run_of_which_only_the_end_was_missing_ends_and_opens_nothing(
    sizes: Kept, tmp_path: Path, event: str
) -> None:
    folder = cut(sizes.folder, tmp_path, event, 5)
    run = await taken_up(folder, None, limits={"steps": 40})
    assert (ending_of(run).status, len(run.steps)) == ("done", 5)
    assert sizes.since() == (Counter(), 0)
    assert read(folder).task.limits.steps == 40


async def test_what_cannot_go_on_says_why_and_does_nothing(sizes: Kept, tmp_path: Path) -> None:
    folder = cut(sizes.folder, tmp_path, "stepped", 1)
    with RunFolder.reopen(folder, lambda text: text), pytest.raises(UsageError, match="is still going"):
        await taken_up(folder, None)
    with pytest.raises(UsageError, match="followed step lines, which its record does not contain"):
        resume(folder)
    lines = (folder / "steps.jsonl").read_bytes()
    (folder / "steps.jsonl").write_bytes(lines.replace(b"Large", b"Small", 1))
    with pytest.raises(UsageError, match="was changed after it was written"):
        await taken_up(folder, None)
    assert (folder / "report.html").read_bytes() == (sizes.folder / "report.html").read_bytes()
    (folder / "steps.jsonl").write_bytes(lines)

    async def done(question: str) -> str:
        return "It is set_variables in again."

    settings = Settings(runs=tmp_path)
    with pytest.raises(UsageError, match="not the lines that the run followed"):
        await resume(folder, model=StepsModel(["click Note it"]), settings=settings, person=done).run()
    assert sizes.since() == (Counter(), 0)
    with pytest.raises(UsageError, match="has ended"):
        read_interrupted(sizes.folder)


# --- any moment, any signal -------------------------------------------------------------------------------------------

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
TELLING = {0, 1, 2, 103, 201}
"""Of the 300: by each signal while the browser starts, and two during the run."""


def _interruptions() -> list[object]:
    """300 times a signal and when it comes: seconds after the start of the program, before there is a record; or after
    so many lines on record, and a moment later.
    """
    chance = random.Random(300)
    made = []
    for number in range(300):
        by = SIGNALS[number % 3]
        if number < 100:
            lines, pause_s = 0, round(chance.uniform(0, 4), 2)
        else:
            lines, pause_s = chance.randint(1, 32), round(chance.choice((0, 0.01, 0.03, 0.1, 0.3)), 2)
        marks = () if number in TELLING else pytest.mark.thorough
        made.append(pytest.param(by, lines, pause_s, marks=marks, id=f"{number}-{by.name}-{lines}-{pause_s}"))
    return made


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signals")
@pytest.mark.parametrize(("by", "lines", "pause_s"), _interruptions())
async def test_whenever_a_run_is_interrupted_its_folder_is_judged_and_it_goes_on_or_says_why_not(
    shop: Shop, tmp_path: Path, by: signal.Signals, lines: int, pause_s: float
) -> None:
    folder = interrupted_by(by, shop, tmp_path, lines, pause_s)
    if folder is None:
        assert not shop.done
        return
    must_be_judged(folder)
    try:
        run = await going_on(folder)
    except VisionAgentError as error:
        said = f"{error.sentence} {error.hint}"
        assert any(
            why in said for why in ("has ended", "interrupted before it began", "stopped before its first event")
        ), said
        assert not shop.done - DONE_ONCE
        return
    assert ending_of(run).status in ("done", "needs_person"), ending_of(run).sentence
    assert not shop.done - DONE_ONCE, shop.done
    found = verify(folder)
    assert found.holds, found.faults


def must_be_judged(folder: Path) -> None:
    checked = subprocess.run(
        [python(), "-m", "vision_agent", "verify", str(folder)], capture_output=True, text=True, timeout=150
    )
    assert checked.stdout.strip() or checked.stderr.startswith("vision-agent: "), checked
    assert "Traceback" not in checked.stderr


def interrupted_by(by: signal.Signals, shop: Shop, folder: Path, lines: int, pause_s: float) -> Path | None:
    """The folder of a run that got a signal at a moment; None if it had made none yet."""
    (folder / "lines.txt").write_text(LINES)
    command = [sys.executable, "-m", "vision_agent", "run", shop.url, "--steps", str(folder / "lines.txt")]
    process = subprocess.Popen(
        [*command, "--runs", str(folder / "runs")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    until = time.monotonic() + 120
    while lines and process.poll() is None and time.monotonic() < until:
        found = list((folder / "runs").glob("*/steps.jsonl"))
        if found and found[0].read_bytes().count(b"\n") >= lines:
            break
    with suppress(subprocess.TimeoutExpired):
        process.wait(pause_s)
    process.send_signal(by)
    _, said = process.communicate(timeout=150)
    assert "Traceback" not in said or not (folder / "runs").exists(), said
    return next(iter((folder / "runs").glob("*")), None)
