"""Imports the product once, and then forks a process for each client: `python server.py ADDRESS`.

A request is the client's arguments, folder and environment, with its input and outputs as open files. What is left of
the connection takes signals to the process, and brings back how it ended.
"""

from __future__ import annotations

import gc
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

_LONGEST = 1 << 20
_FILES = 3


class Request(NamedTuple):
    """What a client wants to be run."""

    arguments: list[bytes]
    folder: bytes
    environment: list[bytes]
    ignored: bytes
    """The numbers of the signals that it ignores."""
    files: list[int]
    connection: socket.socket


def import_product() -> None:
    """What most commands import sooner or later, and nothing that reads the environment or starts a thread."""
    import playwright.async_api

    import vision_agent.record.report
    import vision_agent.session.looking
    import vision_agent.session.wired_agent

    del playwright, vision_agent


def next_request(address: str) -> Request:
    """Serves until its input is closed; returns in each process that it forks, with what that one is to do."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)  # noqa: T201
        running: dict[int, tuple[int, socket.socket]] = {}
        events = select.poll()
        events.register(listening, select.POLLIN)
        events.register(0, select.POLLIN)
        while True:
            for file, _ in events.poll():
                if file == 0:
                    sys.exit()
                if file != listening.fileno():
                    events.unregister(file)
                    _tell_end(file, *running.pop(file))
                    continue
                connection, _ = listening.accept()
                request = _received(connection)
                if request is None:
                    connection.close()
                    continue
                child = os.fork()
                if not child:
                    for watched, (_, other) in running.items():
                        os.close(watched)
                        other.close()
                    return request
                for each in request.files:
                    os.close(each)
                watched = os.pidfd_open(child)
                events.register(watched, select.POLLIN)
                running[watched] = (child, connection)


def _received(connection: socket.socket) -> Request | None:
    data, files, _, _ = socket.recv_fds(connection, _LONGEST, _FILES)
    if len(files) != _FILES or len(data) < 4:
        return None
    while len(data) < 4 + int.from_bytes(data[:4], "big"):
        more = connection.recv(_LONGEST)
        if not more:
            return None
        data += more
    folder, ignored, count, *rest = data[4:].split(b"\0")
    return Request(rest[: int(count)], folder, rest[int(count) :], ignored, files, connection)


def _tell_end(watched: int, child: int, connection: socket.socket) -> None:
    os.close(watched)
    _, status = os.waitpid(child, 0)
    with suppress(OSError):  # the client is gone
        connection.sendall((os.waitstatus_to_exitcode(status) & 0xFFFF).to_bytes(2, "big"))
    connection.close()


def become(request: Request) -> None:
    """Makes this process what the client would be, had it started Python itself."""
    os.setsid()
    for number, file in enumerate(request.files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request.folder)
    os.environ.clear()
    for each in request.environment:
        name, _, value = each.partition(b"=")
        os.environb[name] = value
    folders = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[1:1] = [each for each in folders if each not in sys.path]
    time.tzset()
    tempfile.tempdir = None
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.stdin = _stream(0, "r", "strict")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "strict")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")
    is_direct = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdout.reconfigure(line_buffering=os.isatty(1), write_through=is_direct)
    sys.stderr.reconfigure(line_buffering=True, write_through=is_direct)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in request.ignored else usual)
    threading.Thread(target=_obey, args=[request.connection], daemon=True).start()


def _stream(number: int, mode: str, errors: str) -> TextIOWrapper:
    stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115 - it stays open
    assert isinstance(stream, TextIOWrapper)
    return stream


def _obey(connection: socket.socket) -> None:
    """Takes the signals that the client got; one that is gone was killed."""
    while number := connection.recv(1):
        os.kill(os.getpid(), number[0])
    os.kill(os.getpid(), signal.SIGKILL)


def run(arguments: list[str]) -> None:
    """What Python does with these arguments."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    import_product()
    gc.collect()
    gc.freeze()
    wanted = next_request(sys.argv[1])
    become(wanted)
    run([os.fsdecode(each) for each in wanted.arguments])
