"""Claims about one run for each row of a table, on real pages."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
from axe import violations
from messages_server import MessagesServer, saying
from playwright.async_api import Page, expect
from typer.testing import CliRunner

from vision_agent.batch import Row, RowResult, run_rows
from vision_agent.batch.run_rows import RowPlan
from vision_agent.batch.summary import answers_csv, summary_html, write_summary
from vision_agent.cli.main import app
from vision_agent.cli.rows import how_to_continue, what_is_left
from vision_agent.errors import UsageError
from vision_agent.events import Ended, Event, Happened, Started
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record import read
from vision_agent.record.verify import verify
from vision_agent.replay import Replay
from vision_agent.session import Agent
from vision_agent.settings import Limits, Settings

PAGE = """<input id=who aria-label=Name><button onclick="out.textContent = 'Ordered for ' + who.value">Order</button>
<p id=out></p>"""
LINES = ['type "{name}" into Name', "click Order", 'wait for "Ordered for {name}"', 'finish "{name}"']
ROWS = tuple(Row(number=number, values={"name": name}) for number, name in enumerate(("Ann", 'Bob "the" boss'), 1))


@pytest.fixture
def shop(serve: Any) -> str:
    return str(serve({"/": PAGE}))


@pytest.fixture
def _asked_here(api: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    api.answers = [saying(json.dumps({"judgement": "unknown", "actions": [{"kind": "finish", "answer": "ok"}]}))]


def follows(
    shop: str, lines: list[str] = LINES, on_event: Callable[[Event], None] | None = None
) -> Callable[[Row, RowPlan], Agent]:
    def make(row: Row, plan: RowPlan) -> Agent:
        return Agent(
            row.fill("Order for {name}"),
            url=shop,
            model=StepsModel(row.fill_lines(lines)),
            settings=Settings(runs=plan.runs),
            on_event=on_event,
        )

    return make


async def test_values_that_read_like_step_lines_are_looked_for_as_they_are(serve: Any, tmp_path: Path) -> None:
    labels = ("Ann", 'Ann "Q" with Shift held', "Ann within 2 s", "[1]", "Bob", "Cid Lee")
    row = "<tr><th scope=row>{0}<td><button onclick='out.textContent = this.closest(`tr`).rowIndex'>Pay</button>"
    rows = "".join(row.format(escape(each)) for each in labels)
    page = str(serve({"/": f"<table>{rows}</table><p>Paid: <output id=out></output></p>"}))
    table = tuple(Row(number=number, values={"name": name}) for number, name in enumerate((*labels[1:4], "Cid"), 1))
    make = follows(page, ["click Pay in row {name}", "finish paid for {name}"])
    *paid, refused = await run_rows(table, make, tmp_path / "out", jobs=2)
    for at, each in enumerate(paid, 1):
        assert (each.status, each.answer) == ("done", f"paid for {labels[at]}")
        assert f"Paid: {at}" in read(tmp_path / "out" / each.run).steps[-1].observation.listing
    assert refused.status == "not_done"
    assert "'Cid Lee' has more words, so it may be another" in refused.sentence


async def test_a_value_with_stray_blanks_finds_its_row_and_is_typed_with_those_inside(
    serve: Any, tmp_path: Path
) -> None:
    names = ("Ann\u00a0Lee", "Bob  Ray", "Cid Poe")
    row = "<tr><td>{0}<td><button onclick='out.value += `, ` + this.closest(`tr`).rowIndex'>Pay</button>"
    rows = "".join(row.format(each) for each in names)
    options = "".join(f"<option>{each}</option>" for each in names)
    page = str(
        serve(
            {
                "/": f"""<table>{rows}</table><label>Note <input oninput="noted.value = escape(value)"></label>
                <select aria-label=Who onchange="chosen.value = selectedIndex"><option>none</option>{options}</select>
                <p>Noted: <output id=noted></output><p>Paid: <output id=out></output>
                <p>Chosen: <output id=chosen></output>"""
            }
        )
    )
    lines = [
        "click Pay in row {who}",
        "click Pay ‹{who}›",
        'type "{who}" into Note',
        "select {who} in Who",
        'select "{who}" in Who',
        'wait for "{who}" within 2 s',
        "scroll to {who}",
        "finish {who}",
    ]
    values = ("Ann\u00a0Lee ", "Cid\u00a0 Poe", "Bob Ray\t")
    table = tuple(Row(number=number, values={"who": value}) for number, value in enumerate(values, 1))

    def make(row: Row, plan: RowPlan) -> Agent:
        model = StepsModel(row.fill_lines(lines))
        return Agent("Pay", url=page, model=model, settings=Settings(runs=plan.runs))

    results = await run_rows(table, make, tmp_path / "out", jobs=2)
    assert [each.sentence for each in results if each.status != "done"] == []
    typed = ("Ann%A0Lee", "Cid%A0%20Poe", "Bob%20Ray")
    for result, text, at in zip(results, typed, (1, 3, 2), strict=True):
        listing = read(tmp_path / "out" / result.run).steps[-1].observation.listing
        assert f"Noted: {text}" in listing
        assert f"Paid: , {at - 1}, {at - 1}" in listing
        assert f"Chosen: {at}" in listing


async def test_each_row_is_run_with_its_own_values_and_is_not_run_again(shop: str, tmp_path: Path) -> None:
    told: list[RowResult] = []
    results = await run_rows(ROWS, follows(shop), tmp_path / "out", jobs=2, tell=told.append)
    assert [(each.status, each.answer) for each in results] == [("done", "Ann"), ("done", 'Bob "the" boss')]
    assert sorted(each.row.number for each in told) == [1, 2]
    assert all(verify(tmp_path / "out" / each.run).holds for each in results)
    again = await run_rows(ROWS, follows(shop), tmp_path / "out")
    assert again == results
    assert len(list((tmp_path / "out").glob("*/*/run.json"))) == 2


async def test_a_row_has_the_folder_that_earlier_versions_gave_it(tmp_path: Path) -> None:
    async def run_row(row: Row, made: Any, home: Path) -> RowResult:
        return RowResult(row=row, status="done", sentence=home.name)

    (result,) = await run_rows(ROWS[:1], follows("http://shop.example/", ["finish"]), tmp_path, run_row=run_row)
    assert result.sentence == "0001-cb287b26"  # with another one, an unfinished batch would do its rows twice


async def test_a_row_that_fails_keeps_none_of_the_others_from_running(shop: str, tmp_path: Path) -> None:
    lines = ["click Order", 'click "{name}"', "finish"]
    rows = (*ROWS, Row(number=3, values={"name": "Order"}))
    results = await run_rows(rows, follows(shop, lines), tmp_path / "out")
    assert [each.ok for each in results] == [False, False, True]
    assert all(each.sentence and each.run for each in results)
    again = await run_rows(rows, follows(shop, lines), tmp_path / "out", retry=True)
    assert [each.run == before.run for each, before in zip(again, results, strict=True)] == [False, False, True]


async def test_a_row_that_was_cut_off_is_not_run_again_by_itself(shop: str, tmp_path: Path) -> None:
    waits, ordered = ["click Order", "wait 60", "finish"], asyncio.Event()
    listening = follows(shop, waits, lambda event: ordered.set() if isinstance(event, Happened) else None)
    told: list[RowResult] = []
    work = asyncio.create_task(run_rows(ROWS[:1], listening, tmp_path / "out", tell=told.append))
    await ordered.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert [(each.status, bool(each.run)) for each in told] == [("interrupted", True)]
    assert f"look at {tmp_path / 'out' / told[0].run}, then run the same command with --retry" in told[0].sentence
    (result,) = await run_rows(ROWS[:1], follows(shop, waits), tmp_path / "out")
    assert result.status == "interrupted"
    assert result.run


async def test_a_row_that_was_cut_off_before_any_action_is_run_again_by_the_same_command(
    shop: str, tmp_path: Path
) -> None:
    seen = asyncio.Event()
    listening = follows(shop, LINES, lambda event: seen.set() if isinstance(event, Started) else None)
    told: list[RowResult] = []
    work = asyncio.create_task(run_rows(ROWS[:1], listening, tmp_path / "out", tell=told.append))
    await seen.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert [(each.status, each.sentence) for each in told] == [
        ("interrupted", "It was interrupted before it did anything: the same command runs it again.")
    ]
    (result,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    assert (result.status, result.run == told[0].run) == ("done", False)


async def test_a_row_that_was_killed_is_run_again_only_if_its_record_shows_that_it_did_nothing(
    shop: str, tmp_path: Path
) -> None:
    (done,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    home = tmp_path / "out" / done.run
    kill(done, home, before=b'"happened"')
    (acted,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    assert (acted.status, acted.run, acted.cost_usd) == ("interrupted", done.run, 0.0)
    assert f"look at {home}, then run the same command with --retry" in acted.sentence
    kill(done, home, before=b'"intended"')
    (again,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    assert again.status == "done"
    assert again.run != done.run


async def test_a_row_that_was_killed_before_anything_was_recorded_is_run_again(shop: str, tmp_path: Path) -> None:
    (done,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    home = tmp_path / "out" / done.run
    kill(done, home, before=b"")
    (home / "run.json").unlink()
    (again,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    assert (again.status, again.run == done.run) == ("done", False)
    kill(again, tmp_path / "out" / again.run)
    for each in home.parent.glob("*/*"):
        each.unlink() if each.is_file() else None
    (gone,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    assert gone.status == "interrupted"


async def test_a_row_whose_run_had_ended_when_its_process_was_killed_is_done(shop: str, tmp_path: Path) -> None:
    (done,) = await run_rows(ROWS[:1], follows(shop), tmp_path / "out")
    kill(done, tmp_path / "out" / done.run)
    assert await run_rows(ROWS[:1], follows(shop), tmp_path / "out") == (done,)


@pytest.mark.usefixtures("_asked_here")
async def test_what_a_row_with_a_model_cost_until_it_was_killed_is_not_known(shop: str, tmp_path: Path) -> None:

    def make(row: Row, plan: RowPlan) -> Agent:
        settings = Settings(runs=plan.runs)
        return Agent(row.fill("Order for {name}"), url=shop, model="anthropic:claude-sonnet-5-5", settings=settings)

    (first,) = await run_rows(ROWS[:1], make, tmp_path / "out")
    assert first.cost_usd
    kill(first, tmp_path / "out" / first.run, before=b'"ended"')
    (cut,) = await run_rows(ROWS[:1], make, tmp_path / "out")
    assert (cut.status, cut.run, cut.cost_usd) == ("interrupted", first.run, None)


def kill(done: RowResult, home: Path, before: bytes | None = None) -> None:
    """Leaves what is on disk when a process is killed before it writes such a line, or only before the result."""
    begun = RowResult(row=done.row, status="running", sentence="It has begun.")
    (home.parent / "result.json").write_text(begun.model_dump_json(), "utf-8")
    steps = home / "steps.jsonl"
    lines = steps.read_bytes().splitlines(keepends=True)
    if before is not None:
        steps.write_bytes(b"".join(lines[: next(at for at, line in enumerate(lines) if before in line)]))


@pytest.mark.parametrize("is_readable", [True, False])
async def test_the_page_of_rows_links_the_run_of_a_row_that_was_killed(
    is_readable: bool, shop: str, tmp_path: Path
) -> None:
    home = tmp_path / "out"
    (done,) = await run_rows(ROWS[:1], follows(shop), home)
    kill(done, home / done.run, before=b'"happened"')
    (home / done.run / "report.html").unlink()
    if not is_readable:
        (home / done.run / "steps.jsonl").write_text("{}\n", "utf-8")
    write_summary(await run_rows(ROWS[:1], follows(shop), home), home, "Order")
    link = f"{done.run}/report.html" if is_readable else f"{done.run}/"
    assert f'<a href="{link}">interrupted</a>' in (home / "summary.html").read_text("utf-8")


async def test_a_row_that_has_ended_is_not_said_to_be_interrupted(shop: str, tmp_path: Path) -> None:
    ended = asyncio.Event()
    listening = follows(shop, ["finish"], lambda event: ended.set() if isinstance(event, Ended) else None)
    told: list[RowResult] = []
    work = asyncio.create_task(run_rows(ROWS[:1], listening, tmp_path / "out", tell=told.append))
    await ended.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert [(each.status, "--retry" in each.sentence) for each in told] == [("done", False)]


async def test_a_mistake_in_the_last_row_is_found_before_the_first_begins(shop: str, tmp_path: Path) -> None:
    rows = (*ROWS, Row(number=3, values={"nom": "Carl"}))
    with pytest.raises(UsageError, match="no column 'name'"):
        await run_rows(rows, follows(shop), tmp_path / "out")
    assert not (tmp_path / "out").exists()


async def test_a_folder_with_something_else_in_it_is_left_alone(shop: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="holds something else"):
        await run_rows(ROWS, follows(shop), tmp_path)


@pytest.mark.parametrize("most", [-1, 0])
async def test_a_total_cost_that_allows_nothing_is_refused_at_once(most: float, shop: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"max_total_cost={most} allows nothing"):
        await run_rows(ROWS, follows(shop), tmp_path / "out", max_total_cost=most)
    assert not (tmp_path / "out").exists()


async def test_an_agent_made_without_the_plan_keeps_to_it(shop: str, tmp_path: Path) -> None:
    def make(row: Row, plan: RowPlan) -> Agent:
        del plan
        return Agent(row.fill("Order for {name}"), url=shop, steps=["finish"], settings={"runs": tmp_path / "mine"})

    (result,) = await run_rows(ROWS[:1], make, tmp_path / "out", max_total_cost=0.5)
    assert result.ok
    assert read(tmp_path / "out" / result.run).task.limits.cost_usd == 0.5
    assert not (tmp_path / "mine").exists()


@pytest.mark.usefixtures("_asked_here")
async def test_rows_beyond_the_total_cost_do_not_begin_and_run_when_there_is_more(shop: str, tmp_path: Path) -> None:
    def make(row: Row, plan: RowPlan) -> Agent:
        limits = Limits(cost_usd=plan.max_cost)
        return Agent(row.fill("Greet {name}"), url=shop, settings=Settings(runs=plan.runs, limits=limits))

    rows = tuple(Row(number=number, values={"name": str(number)}) for number in range(1, 5))
    (first,) = await run_rows(rows[:1], make, tmp_path / "out")
    assert first.cost_usd
    some = await run_rows(rows, make, tmp_path / "out", max_total_cost=first.cost_usd * 2.5)
    assert some[0] == first
    assert [each.status for each in some].count("not_run") >= 1
    assert "limit of" in some[-1].sentence
    everything = await run_rows(rows, make, tmp_path / "out", max_total_cost=first.cost_usd * 50, retry=True)
    assert [each.status for each in everything] == ["done"] * 4


def test_no_answer_of_a_page_is_computed_by_a_spreadsheet(tmp_path: Path) -> None:
    row = Row(number=1, values={"name": "Ann", "amount": "-4.50"})
    result = RowResult(row=row, status="done", answer='=HYPERLINK("http://evil.example")')
    cells = next(csv.DictReader(answers_csv([result]).splitlines()))
    assert cells["answer"] == '\'=HYPERLINK("http://evil.example")'
    assert (cells["name"], cells["amount"]) == ("Ann", "-4.50")
    page = summary_html([result.model_copy(update={"answer": "<img src=x onerror=alert(1)>"})], tmp_path, "Order")
    assert "<img" not in page


def test_no_two_columns_of_the_answers_have_the_same_name() -> None:
    row = Row(number=1, values={"row": "7", "status": "new", "data.row": "x", "run": "fast", "name": "Ann"})
    cells = next(csv.DictReader(answers_csv([RowResult(row=row, status="done", run="0001/r")]).splitlines()))
    assert (cells["row"], cells["status"], cells["run"]) == ("1", "done", "0001/r")
    own = [cells[name] for name in ("data.data.row", "data.status", "data.row", "data.run", "name")]
    assert own == ["7", "new", "x", "fast", "Ann"]


def test_the_command_writes_answers_and_a_page_and_says_how_many_were_done(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text('name\nAnn\n"Bob ""the"" boss"\n', "utf-8")
    Path("lines.txt").write_text("\n".join(LINES), "utf-8")
    done = CliRunner().invoke(app, ["run", shop, "--steps=lines.txt", "--over=orders.csv", "--jobs=2", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["rows"], said["done"], said["cost_usd"]) == (2, 2, 0.0)
    answers = list(csv.DictReader(Path("orders/answers.csv").read_text("utf-8-sig").splitlines()))
    assert [each["answer"] for each in answers] == ["Ann", 'Bob "the" boss']
    page = Path("orders/summary.html").read_text("utf-8")
    assert page.count("report.html") == 2
    assert page.count("<small>The step lines said that it is done; the task has no check.</small>") == 2


def test_each_row_has_the_check_that_its_values_make(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("name,shown\nAnn,Ann\nBob,Eve\n", "utf-8")
    Path("lines.txt").write_text("\n".join(LINES), "utf-8")
    command = ["run", shop, "--steps=lines.txt", "--over=orders.csv", "--expect=Ordered for {shown}", "--json"]
    done = CliRunner().invoke(app, [*command, "--instructions=As {name} would"])
    assert done.exit_code == 1, done.output
    first, second = json.loads(done.stdout)["results"]
    assert [read(Path("orders") / each["run"]).task.instructions for each in (first, second)] == [
        "As Ann would",
        "As Bob would",
    ]
    assert first["status"] == "done"
    assert second["status"] != "done"
    assert "Ordered for Eve" in second["sentence"]


@pytest.mark.parametrize(
    ("check", "said"), [("{other}", "no column 'other'"), ("text={shown}", r"text=\{shown\} has nothing to look for")]
)
def test_a_check_that_a_row_cannot_fill_is_refused_before_any_row_begins(
    check: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("name,shown\nAnn,Ann\nBob,\n", "utf-8")
    Path("lines.txt").write_text("\n".join(LINES), "utf-8")
    with pytest.raises(UsageError, match=said):
        app(["run", "shop.example", "--steps=lines.txt", "--over=orders.csv", "--expect", check], standalone_mode=False)
    assert not Path("orders").exists()


def test_a_row_that_was_not_done_has_no_answer_and_the_command_says_how_to_run_it_again(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("name\nAnn\n", "utf-8")
    Path("lines.txt").write_text("fail Sold out for {name}", "utf-8")
    done = CliRunner().invoke(app, ["run", shop, "--steps=lines.txt", "--over=orders.csv"])
    assert done.exit_code == 1, done.output
    (row,) = csv.DictReader(Path("orders/answers.csv").read_text("utf-8-sig").splitlines())
    assert (row["status"], row["answer"], row["sentence"]) == ("not_done", "", "Sold out for Ann")
    named = f"1 row began and was not done: row 1. Look at orders/{row['run']}, put right what stopped it, then run"
    assert named in done.stdout
    again = CliRunner().invoke(app, ["run", shop, "--steps=lines.txt", "--over=orders.csv"])
    assert "0 of 1 row done, $0.0000\n" in again.stdout  # it was kept, but there is nothing to rely on


def test_a_row_that_is_kept_is_called_already_done(shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("name\nAnn\n", "utf-8")
    Path("lines.txt").write_text("finish", "utf-8")
    command = ["run", shop, "--steps=lines.txt", "--over=orders.csv"]
    first, again = CliRunner().invoke(app, command), CliRunner().invoke(app, command)
    assert "1 of 1 row done, $0.0000\n" in first.stdout
    assert "   1  done         Ann\n" in first.stderr
    assert "1 of 1 row done, $0.0000; 1 row kept from earlier\n" in again.stdout
    assert "   1  already done Ann\n" in again.stderr


@pytest.mark.parametrize(
    ("failed", "waiting", "said"),
    [
        ([4], [], ["1 row began and was not done: row 4. Look at out/4, put right what stopped it, then run"]),
        ([2, 4], [6], ["2 rows began and were not done: rows 2 and 4.", "1 row has not begun: row 6."]),
        (
            [1, 2, 3, 4, 5],
            [],
            ["5 rows began and were not done: rows 1, 2, 3, 4 and 5. Look at their runs, such as"],
        ),
        ([], [1, 2, 3, 4, 5, 6, 9], ["7 rows have not begun: rows 1, 2, 3, 4, 5 and 2 more. The same command runs"]),
        ([], [], []),
    ],
)
def test_rows_that_were_not_done_are_counted_and_named(failed: list[int], waiting: list[int], said: list[str]) -> None:
    results = [
        *(RowResult(row=Row(number=number, values={}), status="not_done", run=str(number)) for number in failed),
        *(RowResult(row=Row(number=number, values={}), status="not_run") for number in waiting),
        RowResult(row=Row(number=8, values={}), status="done"),
    ]
    told = list(what_is_left(results, Path("out")))
    assert len(told) == len(said)
    assert all(sentence.startswith(beginning) for sentence, beginning in zip(told, said, strict=True))


def test_after_an_interruption_only_rows_with_a_result_are_counted_and_those_that_need_retry_are_named() -> None:
    nothing = "It was interrupted before it did anything: the same command runs it again."
    acted = "It was interrupted, and may have done something: look at its run, then run the same command with --retry."

    def told(*rows: tuple[str, str]) -> str:
        results = [
            RowResult(row=Row(number=number, values={}), status=status, sentence=sentence)  # type: ignore[arg-type]
            for number, (status, sentence) in enumerate(rows, start=1)
        ]
        return how_to_continue(results, 6, Path("orders"))

    begun = "of 6 rows have a result in orders; run the same command again to continue."
    assert told(("interrupted", nothing), ("interrupted", nothing)) == f"0 {begun}"
    assert told(("done", ""), ("interrupted", acted)) == (
        f"1 {begun} Row 2 was not done: look at its run, then add --retry."
    )
    assert told(("not_done", ""), ("interrupted", acted), ("not_run", "")) == (
        f"1 {begun} Rows 1 and 2 were not done: look at their runs, then add --retry."
    )


def test_a_row_whose_value_was_corrected_is_run_again_by_the_same_command(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text('click Order\nwait for "{text}" within 0.1 s\nfinish', "utf-8")
    command = ["run", shop, "--steps=lines.txt", "--over=orders.csv", "--json"]

    def statuses(*values: str) -> list[str]:
        Path("orders.csv").write_text("\n".join(("text", *values)), "utf-8")
        return [each["status"] for each in json.loads(CliRunner().invoke(app, command).stdout)["results"]]

    assert statuses("Ordered", "Odrered") == ["done", "not_done"]
    assert statuses("Ordered", "Odrered") == ["done", "not_done"]
    assert len(list(Path("orders").glob("*/*/run.json"))) == 2
    assert statuses("Ordered", "Ordered for") == ["done", "done"]
    assert len(list(Path("orders").glob("*/*/run.json"))) == 3


def test_a_recorded_run_is_replayed_for_each_row_and_goes_on_where_it_stopped(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [*LINES[:3], 'finish "Order for {name}"']
    Path("lines.txt").write_text("\n".join(each.replace("{name}", "Ann") for each in lines), "utf-8")
    done = CliRunner().invoke(
        app, ["run", shop, "Order for Ann", "--steps=lines.txt", "--data=name=Ann", "--runs=runs", "--name=one"]
    )
    assert done.exit_code == 0, done.output
    Path("more.csv").write_text('name,note\nBob,x\n"Cleo ""the"" boss",y\n', "utf-8")
    command = ["replay", "runs/one", "--over=more.csv", "--json"]
    done = CliRunner().invoke(app, [*command, "--jobs=2"])
    assert done.exit_code == 0, done.output
    assert "columns of more.csv that the replay does not use: note (--variables shows" in done.stderr
    assert "--set 'NAME={note}' sets it" in done.stderr
    said = json.loads(done.stdout)
    assert [each["answer"] for each in said["results"]] == ["Order for Bob", 'Order for Cleo "the" boss']
    answers = list(csv.DictReader(Path("more-replay/answers.csv").read_text("utf-8-sig").splitlines()))
    assert [each["status"] for each in answers] == ["done", "done"]
    assert Path("more-replay/summary.html").read_text("utf-8").count("report.html") == 2
    again = CliRunner().invoke(app, command)
    assert json.loads(again.stdout)["results"] == said["results"]
    Path("other.csv").write_text("nom\nBob\n", "utf-8")
    with pytest.raises(UsageError, match=r"No column of other.csv is a variable of this run \(it has 1, name; name a"):
        app(["replay", "runs/one", "--over=other.csv"], standalone_mode=False)


@pytest.mark.usefixtures("_asked_here")
async def test_what_healing_costs_counts_towards_the_limit_for_all_rows(
    serve: Any, tmp_path: Path, api: MessagesServer
) -> None:
    pages = {"/": PAGE}
    shop = serve(pages)
    ran = Agent("Order for Ann", url=shop, steps=["click Order", "finish"], settings=Settings(runs=tmp_path / "runs"))
    await ran.run()
    assert ran.folder is not None
    recorded = ran.folder
    pages["/"] = PAGE.replace("Order</button>", "Send</button>")

    def make(_: Row, plan: RowPlan) -> Replay:
        limited = {"heal": "anthropic:claude-sonnet-5-5", "max_cost": plan.max_cost}
        return Replay(recorded, settings=Settings(runs=plan.runs), **limited)  # type: ignore[arg-type]

    rows = tuple(Row(number=number, values={"n": str(number)}) for number in (1, 2, 3))
    (first,) = await run_rows(rows[:1], make, tmp_path / "out")
    assert first.cost_usd
    some = await run_rows(rows, make, tmp_path / "out", max_total_cost=first.cost_usd * 0.5)
    assert [each.status for each in some[1:]] == ["not_run", "not_run"]
    assert api.requests


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--jobs=2"], "--jobs is for many rows"),
        (["--over=orders.csv", "--supervise"], "without a person"),
        (["--over=orders.csv", "--model=human"], "without a person"),
        (["--over=orders.csv", "--begin=run"], "--begin"),
        (["--over=orders.csv", "--cdp=9222", "--jobs=2"], "--cdp"),
        (["--over=orders.csv", "--max-total-cost=0"], "allows nothing"),
        (["--over=none.csv"], "none.csv"),
    ],
)
def test_what_does_not_go_with_many_rows_is_refused(
    more: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    (tmp_path / "orders.csv").write_text("name\nAnn\n", "utf-8")
    words = [each.replace("orders.csv", str(tmp_path / "orders.csv")) for each in more]
    with pytest.raises(UsageError, match=said):
        app(["run", "shop.example", "Order {name}", *words], standalone_mode=False)


@pytest.mark.parametrize("width", [390, 1280])
async def test_axe_finds_nothing_on_the_page_of_rows_and_nothing_is_out_of_sight(
    page: Page, tmp_path: Path, width: int
) -> None:
    results = [
        RowResult(row=ROWS[0], status="done", answer="Order 4711 is placed", tokens=12, cost_usd=0.01, seconds=2),
        RowResult(row=ROWS[1], status="limit", sentence="A limit was reached: 30 steps were taken.", seconds=9),
    ]
    written = write_summary(results, tmp_path, "Order {product} for {name}")[1]
    await page.set_viewport_size({"width": width, "height": 800})
    await page.goto(written.as_uri())
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert await violations(page) == []
    for words in ("Order 4711 is placed", "A limit was reached: 30 steps were taken.", "$0.0100"):
        await expect(page.get_by_text(words)).to_be_in_viewport(ratio=1)
