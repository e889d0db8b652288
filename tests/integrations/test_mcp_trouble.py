"""Clients that vanish, call wrongly, or are not allowed: each ends in a sentence, and every record is whole."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_driver import Driver, assert_verified, driven, http_client, rules_for, stdio_parameters
from messages_server import MessagesServer, saying

from tests.conftest import Server
from vision_agent.integrations.mcp.serving import serve_http
from vision_agent.record import read

PAGE = """<title>Small</title><input aria-label=Name><button onclick="document.title = 'Pressed'">Press</button>"""
SLOW = 30
"""Seconds that an act lasts which is under way when its client goes."""


def open_message(url: str) -> list[dict[str, Any]]:
    """The messages with which a client of the handshake era opens a page."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call_message(2, "open", {"url": url}),
    ]


def call_message(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class RawServer:
    """The server as a process, spoken to line by line."""

    def __init__(self, runs: Path, *options: str) -> None:
        parameters = stdio_parameters(runs, *options)
        self.process = subprocess.Popen(
            [parameters.command, *parameters.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=60)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int) -> str:
        """The text of the answer with this number."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                return message["result"]["content"][-1]["text"]
        raise AssertionError("the server ended without an answer")

    def descendants(self) -> set[int]:
        """The processes that it started, and theirs."""
        return descendants_of(self.process.pid)

    def wait(self, seconds: float = 25) -> int:
        return self.process.wait(timeout=seconds)


def descendants_of(process: int) -> set[int]:
    """The processes that a process started, and theirs."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def browsers() -> set[int]:
    """The processes of browsers that this one started, through servers too."""
    found = set()
    for process in descendants_of(os.getpid()):
        with suppress(OSError):
            if b"chrom" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.add(process)
    return found


def are_gone(processes: set[int]) -> bool:
    """Whether all these processes end within some seconds."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        alive = {each for each in processes if Path(f"/proc/{each}").exists() and not _is_zombie(each)}
        if not alive:
            return True
        os.sched_yield()
    return False


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def reported(runs: Path) -> None:
    """Returns when a run there has its report."""

    def wait() -> None:
        until = time.monotonic() + 30
        while not list(runs.glob("*/report.html")):
            assert time.monotonic() < until, "no session was closed"
            os.sched_yield()

    await asyncio.to_thread(wait)


@pytest.mark.parametrize("how", ["stdin closed", "TERM", "TERM twice", "stdin closed, then TERM", "KILL"])
def test_a_client_that_vanishes_mid_act_leaves_a_whole_record_and_no_browser(
    how: str, serve: Server, tmp_path: Path
) -> None:
    with RawServer(tmp_path) as server:
        server.send(*open_message(serve({"/": PAGE}) + "/"))
        opened = server.answer(2)
        found = re.search(r"session (\w+) · look (\w+)", opened)
        assert found is not None, opened
        session, look = found.groups()
        server.send(call_message(3, "wait", {"session": session, "look_id": look, "seconds": SLOW}))
        [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
        until = time.monotonic() + 20
        while '"kind":"wait"' not in (folder / "steps.jsonl").read_text("utf-8").replace(" ", ""):
            assert time.monotonic() < until, "the act never began"
            os.sched_yield()
        started = server.descendants()
        assert started
        assert server.process.stdin is not None
        if "stdin closed" in how:
            server.process.stdin.close()
        for _ in range(how.count("TERM") + how.count("twice")):
            server.process.send_signal(signal.SIGTERM)
        if how == "KILL":
            server.process.kill()
        assert server.wait() in (0, 130, -signal.SIGKILL)
        assert are_gone(started)
        if how != "KILL":
            assert_verified(tmp_path, 1)
            ending = read(folder).ending
            assert ending is not None
            assert ending.status == "interrupted"
            assert (folder / "report.html").is_file()
        else:
            # Nobody can end a record after that, but nothing that was written is lost.
            assert read(folder).steps[0].outcomes[0].status == "done"


@pytest.mark.parametrize("how", ["stdin closed", "TERM"])
def test_a_client_that_never_reads_its_answers_stops_nobody(how: str, serve: Server, tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.send(*open_message(serve({"/": PAGE}) + "/"))
        found = re.search(r"session (\w+) ·", server.answer(2))
        assert found is not None
        [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
        for number in range(3, 13):  # soon the pipe is full
            server.send(call_message(number, "look", {"session": found[1]}))
            seen = _looks(folder)
            until = time.monotonic() + 5
            while _looks(folder) == seen and time.monotonic() < until:
                os.sched_yield()
        assert _looks(folder) > 8
        started = server.descendants()
        assert server.process.stdin is not None
        if how == "TERM":
            server.process.send_signal(signal.SIGTERM)
        else:
            server.process.stdin.close()
        assert server.wait() == (130 if how == "TERM" else 0)
        assert are_gone(started)
        assert_verified(tmp_path, 1)


def _looks(folder: Path) -> int:
    return (folder / "steps.jsonl").read_text("utf-8").count('"event":"observed"')


async def test_a_session_is_closed_when_its_client_ends_its_connection(serve: Server, tmp_path: Path) -> None:
    async with serve_http(rules_for(tmp_path)) as (address, token):
        async with http_client(address, token, mode="legacy") as client:
            driver = Driver(client)
            await driver.open(serve({"/": PAGE}) + "/")
        await reported(tmp_path)
        assert_verified(tmp_path, 1)


async def test_another_connection_cannot_use_a_session(serve: Server, tmp_path: Path) -> None:
    async with (
        serve_http(rules_for(tmp_path)) as (address, token),
        http_client(address, token, mode="legacy") as one,
        http_client(address, token, mode="legacy") as other,
    ):
        driver, stranger = Driver(one), Driver(other)
        seen = await driver.open(serve({"/": PAGE}) + "/")
        for name, more in {"look": {}, "report": {}, "close": {}, "click": {"target": seen.mark("Press")}}.items():
            look = {"look_id": driver.look} if name == "click" else {}
            refused = await stranger.call(name, session=driver.session, **look, **more)
            assert "no such session" in refused.text
        assert "page: Small" in (await driver.see()).page
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_two_clients_on_one_session_cannot_undo_each_other(serve: Server, tmp_path: Path) -> None:
    """The stateless protocol has no connections: what keeps them apart is the look that each one refers to."""
    async with (
        serve_http(rules_for(tmp_path)) as (address, token),
        http_client(address, token) as one,
        http_client(address, token) as other,
    ):
        driver, second = Driver(one), Driver(other)
        seen = await driver.open(serve({"/": PAGE}) + "/")
        second.session, second.look = driver.session, driver.look
        waiting = asyncio.create_task(driver.act("wait", seconds=4))
        async with asyncio.timeout(10):
            while "busy" not in (await second.call("report", session=second.session)).text:
                pass  # each call takes its time
        busy = await second.call("click", session=second.session, look_id=second.look, target=seen.mark("Press"))
        assert "nothing was done for this one" in busy.text
        assert not (await waiting).is_error
        stale = await second.act("click", target=seen.mark("Press"))
        assert "is not the last one" in stale.text
        assert "page: Small" in (await driver.see()).page
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_an_act_whose_call_was_given_up_goes_on_and_is_told_later(serve: Server, tmp_path: Path) -> None:
    async with driven("http", tmp_path) as driver:
        await driver.open(serve({"/": PAGE}) + "/")
        with pytest.raises(MCPError, match="imed out"):
            await driver.client.call_tool("wait", {"session": driver.session, "seconds": 3}, read_timeout_seconds=0.5)
        told = await driver.see()
        assert "wait: done" in told.page
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_a_call_that_lasts_too_long_says_so_and_loses_nothing(serve: Server, tmp_path: Path) -> None:
    async with driven("http", tmp_path, call_s=5.0) as driver:
        seen = await driver.open(serve({"/": PAGE}) + "/")
        late = await driver.act("wait", seconds=8)
        assert "still under way" in late.text
        told = await driver.see()
        assert "wait: done" in told.page
        assert not (await driver.act("click", target=seen.mark("Press"))).is_error
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_a_silent_client_loses_its_session(serve: Server, tmp_path: Path) -> None:
    async with driven("http", tmp_path, idle_s=2.0) as driver:
        await driver.open(serve({"/": PAGE}) + "/")
        await reported(tmp_path)
        over = await driver.call("look", session=driver.session)
        assert "silent for 2 seconds" in over.text
    assert_verified(tmp_path, 1)


async def test_a_page_that_closes_itself_is_told(serve: Server, tmp_path: Path) -> None:
    first = "<title>First</title><button onclick=\"window.open('/second')\">Open</button>"
    second = "<title>Second</title><button onclick='window.close()'>Close me</button>"
    async with driven("http", tmp_path) as driver:
        seen = await driver.open(serve({"/": first, "/second": second}) + "/")
        seen = await driver.act("click", target=seen.mark("Open"))
        assert "page: Second" in seen.page
        back = await driver.act("click", target=seen.mark("Close me"))
        assert "page: First" in back.page
        assert "closed" in back.page
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_only_the_token_from_no_other_origin_gets_in(tmp_path: Path) -> None:
    async with serve_http(rules_for(tmp_path)) as (address, token), httpx2.AsyncClient() as http:
        good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        body = open_message("http://127.0.0.1/")[0]

        async def answer(headers: dict[str, str], **more: Any) -> tuple[int, str]:
            got = await http.post(address, headers=headers, **({"json": body} | more))
            return got.status_code, got.text

        assert (await answer(good))[0] == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": token}):
            status, text = await answer({**good, "Authorization": "", **headers})
            assert (status, "token is missing or wrong" in text) == (401, True)
        for more in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            status, text = await answer({**good, **more})
            assert (status, "another origin" in text) == (403, True)
        status, text = await answer({**good, "Host": "evil.example"})
        assert (status, "under its own address" in text) == (421, True)
        status, text = await answer(good, json={**body, "padding": "x" * 300_000})
        assert (status, "no tool takes a picture" in text) == (413, True)
        assert (await answer(good))[0] == 200


WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    "",
    "x" * 5000,
    "<secret:none>",
    [],
    {},
    {"x": -5, "y": 1e9},
    {"x": 1, "y": 2, "z": 3},
    {"mark": 1, "row": 0, "column": 1},
    {"mark": 1, "row": 1, "column": 1},
    [[[]]],
    "A" * 150_000,
    "../../etc/passwd",
)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_wrong_calls_are_refused_in_a_sentence_each(transport: str, serve: Server, tmp_path: Path) -> None:
    choose = random.Random(29)
    async with driven(transport, tmp_path) as driver:
        await driver.open(serve({"/": PAGE}) + "/")
        listed = (await driver.client.list_tools()).tools
        names = [each.name for each in listed if each.name not in ("close", "wait", "open")]
        for _ in range(200):
            name = choose.choice(names)
            tool = next(each for each in listed if each.name == name)
            known = list(tool.input_schema["properties"])
            arguments = {choose.choice([*known, "nonsense"]): choose.choice(WRONG) for _ in range(3)}
            session = choose.choice([driver.session, driver.session, "nobody", 7, None])
            arguments |= {"session": session, "look_id": choose.choice([driver.look, "stale", 3])}
            try:
                reply = await driver.call(tool.name, **arguments)
            except (MCPError, ValueError):  # what cannot even be sent, or is no call of the protocol
                continue
            assert reply.text
            assert "nternal error" not in reply.text, arguments
            if not reply.is_error and "· look" in reply.text:
                driver.look = reply.look
        seen = await driver.see()
        assert seen.mark("Press")
        await driver.close()
    assert_verified(tmp_path, 1)


@pytest.mark.thorough
@pytest.mark.timeout(900)
async def test_fifty_sessions_opened_and_dropped_leave_nothing(serve: Server, tmp_path: Path) -> None:
    url, before = serve({"/": PAGE}) + "/", browsers()
    async with Client(stdio_parameters(tmp_path, "--max-sessions", "5")) as client:
        for _ in range(9):
            drivers = [Driver(client) for _ in range(5)]
            await asyncio.gather(*(each.open(url) for each in drivers))
            await asyncio.gather(*(each.close() for each in drivers))
        assert are_gone(browsers() - before)
        await asyncio.gather(*(Driver(client).open(url) for _ in range(5)))
        dropped = browsers() - before
        assert dropped
    assert are_gone(dropped)
    assert_verified(tmp_path, 50)


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_eight_sessions_work_at_once(serve: Server, tmp_path: Path) -> None:
    async with driven("http", tmp_path, most_sessions=8, call_s=200.0, open_s=200.0) as first:
        drivers = [first, *(Driver(first.client) for _ in range(7))]
        urls = [serve({"/": f"<title>P{n}</title><input aria-label=Only{n}>"}) + "/" for n in range(8)]

        async def work(driver: Driver, n: int) -> None:
            seen = await driver.open(urls[n])
            typed = await driver.act("type", target=seen.mark(f"Only{n}"), text=f"text {n}")
            assert f'value="text {n}"' in typed.page
            assert all(f"Only{other}" not in typed.page for other in range(8) if other != n)
            await driver.close()

        await asyncio.gather(*(work(each, n) for n, each in enumerate(drivers)))
    assert_verified(tmp_path, 8)


async def test_a_configured_model_does_a_goal_on_the_clients_page(
    serve: Server, api: MessagesServer, tmp_path: Path
) -> None:
    def reply(*actions: dict[str, Any]) -> Any:
        return saying(json.dumps({"judgement": "unknown", "actions": actions}))

    model = {"base_url": api.base_url, "api_key": "key-of-the-test", "retries": 0}
    async with driven("http", tmp_path, settings={"model": model}, model="anthropic:claude-sonnet-5-5") as driver:
        seen = await driver.open(serve({"/": PAGE}) + "/")
        api.answers = [
            reply({"kind": "click", "target": seen.mark("Press")}),
            reply({"kind": "finish", "success": True, "answer": "It is pressed."}),
        ]
        done = await driver.act("run", goal="Press the button", steps=5)
        assert "page: Pressed" in done.page
        assert "It says that it is done: It is pressed." in done.page
        assert "Press the button" in json.dumps(api.asked[0])
        api.answers = [reply({"kind": "hover", "target": seen.mark("Press")})]
        unfinished = await driver.act("run", goal="Hover for ever", steps=2)
        assert "It took 2 steps" in unfinished.page
        typed = await driver.act("type", target=seen.mark("Name"), text="the client again")
        assert 'value="the client again"' in typed.page
        await driver.close()
    [folder] = assert_verified(tmp_path, 1)
    authors = [step.decision.author for step in read(folder).steps]
    assert authors.count("model") == 4
    assert authors.count("client") >= 4
