"""Has a ready Python run these arguments: `python -IS client.py ADDRESS ROOT …`.

ROOT is the folder of the product that is imported already.

It imports next to nothing: a start takes some thousandths of a second. See `tests/ready_python`.
"""

import _signal as signal
import _socket as socket
import os
import sys
from array import array

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KNOWN = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def needs_another(arguments: list[str], root: str) -> bool:
    """Whether only a Python that is started anew does what these arguments and the environment ask for."""
    asked = {name for name in os.environ if name.startswith("PYTHON")}
    folders = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each not in ("", root)]
    return (
        not arguments
        or (arguments[0].startswith("-") and arguments[0] != "-m")
        or arguments[:2] == ["-m", "pytest"]  # it would say that it cannot rewrite what is imported already
        or not asked <= _KNOWN
        or any(os.path.exists(f"{each}/vision_agent") for each in folders)  # noqa: PTH110 - pathlib takes long to import
    )


def connected(address: str) -> socket.socket | None:
    """A connection to the server; None if it is not ready yet, or no longer."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
    except OSError:
        return None
    return connection


def request(arguments: list[str]) -> bytes:
    """What the server is to run, after its length."""
    ignored = bytes(number for number in _FORWARDED if signal.getsignal(number) == signal.SIG_IGN)
    environment = [name + b"=" + value for name, value in os.environb.items()]
    folder = os.getcwdb()  # noqa: PTH109 - pathlib takes long to import
    parts = [folder, ignored, str(len(arguments)).encode(), *map(os.fsencode, arguments), *environment]
    body = b"\0".join(parts)
    return len(body).to_bytes(4, "big") + body


def main(address: str, root: str, arguments: list[str]) -> None:
    """Runs the arguments and ends as they end."""
    connection = None if needs_another(arguments, root) else connected(address)
    if connection is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    told = request(arguments)
    files = array("i", [0, 1, 2])
    sent = connection.sendmsg([told], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    connection.sendall(told[sent:])
    for number in _FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: connection.send(bytes([number])))
    told = connection.recv(2)
    if len(told) < 2:
        sys.exit("The server of ready Pythons is gone, and how this one ended is not known.")
    ended = int.from_bytes(told, "big")
    if ended >= 0x8000:
        number = 0x10000 - ended
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(ended)


main(*sys.argv[1:3], sys.argv[3:])
