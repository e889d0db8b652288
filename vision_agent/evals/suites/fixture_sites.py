"""Serves small fixture sites on loopback, and reads the end state of their tasks from the server.

A site is a folder of plain HTML, CSS and JavaScript and a `tasks.json`. Its pages report what happened to them with
`POST /api/log {"event": …}`; the server keeps these reports in order, one list per session. A session is a cookie, so
several browser contexts can use one site at once. This module knows no browser, no agent, and no particular site.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import socket
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

import uvicorn
from pydantic import Field, JsonValue, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError

TASKS_FILE = "tasks.json"
_NEVER_SERVED = (TASKS_FILE, "attacks.json")
COMMON = "common"
"""Folder beside the sites for shared files; each site serves it under this path, unless it has its own file there."""
SESSION_COOKIE = "site-session"
NO_CARET = "<style>:root, :root * { caret-color: transparent !important }</style>"
"""Hides the blinking caret, so that the same page gives the same picture."""


class Report(FrozenModel):
    """One event that a page reports."""

    event: str
    fields: dict[str, JsonValue] = {}


class Expected(FrozenModel):
    """A report that identifies the end state."""

    event: str
    fields: dict[str, JsonValue] = {}
    """Required fields and values; the report may have more, also in nested objects."""
    count: int | None = None
    """The exact number of reports; None: at least one."""


class EndState(FrozenModel):
    """What the log must contain, and must never contain, for a task to be reached."""

    events: tuple[Expected, ...] = Field(min_length=1)
    never: tuple[Expected, ...] = ()


class SiteTask(FrozenModel):
    """A task on a site: the goal for a model, reference lines for the `steps` model, and the end state to check."""

    id: str
    goal: str
    start: str = "/"
    """Path of the first page."""
    steps: tuple[str, ...]
    """Plain step lines that lead to the end state, one action each; other ways are possible."""
    expect: EndState


class EndVerdict(FrozenModel):
    """Whether a task's end state is reached, and the evidence."""

    reached: bool
    sentence: str


class Site:
    """A site that is being served."""

    def __init__(self, url: str, logs: dict[str, list[Report]]) -> None:
        self.url = url
        self._logs = logs

    def start(self, task: SiteTask, session: str = "") -> str:
        """The start address of a task; with a session, everything from there on is reported under it."""
        return self.entrance(task.start, session) if session else self.url + task.start

    def entrance(self, path: str, session: str) -> str:
        """The address that leads to a path; everything from there on is reported under the session."""
        return f"{self.url}/api/enter?session={quote(session, safe='')}&to={quote(path, safe='')}"

    def state(self, session: str = "") -> tuple[Report, ...]:
        """The reports of this session so far, in order."""
        return tuple(self._logs[session])

    def reset(self, session: str = "") -> None:
        """Delete the reports of this session."""
        self._logs[session].clear()


@contextmanager
def served(folder: Path, *, head: str = "", delay_s: float = 0.0) -> Iterator[Site]:
    """Serve the folder on a free loopback port, in a thread, until the block ends.

    `head`: HTML inserted at the beginning of each page's head. `delay_s`: delay before each file.

    Raises:
        UsageError: there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"Cannot serve {folder}: it is not a folder", "name a folder with an index.html")
    logs: dict[str, list[Report]] = defaultdict(list)
    with served_app(_app(folder.resolve(), logs, head, delay_s), folder.name) as url:
        yield Site(url, logs)


@contextmanager
def served_app(app: Starlette, name: str) -> Iterator[str]:
    """Serve the application on a free loopback port, in a thread, until the block ends; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(
            uvicorn.Config(app, ws="none", lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        )
        # The socket already listens, so a browser that connects before the thread runs waits and is served.
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name=f"site {name}")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def tasks_of(folder: Path) -> tuple[SiteTask, ...]:
    """The tasks of a site, in the order of its `tasks.json`.

    Raises:
        UsageError: the file is missing or not a list of tasks.
    """
    path = folder / TASKS_FILE
    try:
        return TypeAdapter(tuple[SiteTask, ...]).validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise UsageError(f"{folder} has no {TASKS_FILE}", "it lists a site's tasks") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a list of tasks: {error}") from error


def reached(expect: EndState, log: Sequence[Report]) -> EndVerdict:
    """Whether the log shows the end state, with a sentence that names what is missing or unwanted."""
    for wanted in expect.events:
        times = sum(_matches(wanted, report) for report in log)
        if times == 0:
            alike = [_shown(report) for report in log if report.event == wanted.event]
            found = f"the only such reports are {', '.join(alike)}" if alike else f"there is no {wanted.event} report"
            return EndVerdict(reached=False, sentence=f"Not reached: wanted {_shown(wanted)}, but {found}")
        if wanted.count is not None and times != wanted.count:
            return EndVerdict(
                reached=False,
                sentence=f"Not reached: wanted {_shown(wanted)} {wanted.count} times, found it {times} times",
            )
    for unwanted in expect.never:
        if culprit := first_match(unwanted, log):
            return EndVerdict(reached=False, sentence=f"Not reached: {_shown(culprit)} should never have happened")
    return EndVerdict(reached=True, sentence=f"Reached: {', '.join(_shown(wanted) for wanted in expect.events)}")


def first_match(wanted: Expected, log: Sequence[Report]) -> Report | None:
    """The first report that has what is wanted; None if none has."""
    return next((report for report in log if _matches(wanted, report)), None)


def _matches(wanted: Expected, report: Report) -> bool:
    return wanted.event == report.event and _holds(wanted.fields, report.fields)


def _holds(wanted: JsonValue, found: JsonValue) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _holds(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(_holds(one, other) for one, other in zip(wanted, found, strict=True))
        )
    return wanted == found


def _shown(one: Expected | Report) -> str:
    return f"{one.event} {json.dumps(one.fields, ensure_ascii=False)}" if one.fields else one.event


def _app(folder: Path, logs: dict[str, list[Report]], head: str, delay_s: float) -> Starlette:
    async def write(request: Request) -> Response:
        try:
            fields = TypeAdapter(dict[str, JsonValue]).validate_json(await request.body())
            report = Report.model_validate({"event": fields.pop("event", None), "fields": fields})
        except ValidationError:
            return PlainTextResponse('a report is a JSON object with "event": "<name>"', status_code=422)
        logs[_session(request)].append(report)
        return Response(status_code=204)

    async def read(request: Request) -> Response:
        return JSONResponse([{"event": report.event, **report.fields} for report in logs[_session(request)]])

    async def enter(request: Request) -> Response:
        path = "/" + request.query_params.get("to", "").lstrip("/")
        response = RedirectResponse(path, status_code=303)
        response.set_cookie(SESSION_COOKIE, quote(request.query_params.get("session", ""), safe=""))
        return response

    async def page(request: Request) -> Response:
        path = request.path_params["path"]
        await asyncio.sleep(delay_s)
        found = _file(folder, path)
        if found is None and path.startswith(f"{COMMON}/"):
            found = _file(folder.parent / COMMON, path.removeprefix(f"{COMMON}/"))
        if found is None:
            return PlainTextResponse(f"This site has no page at {request.url.path}.", status_code=404)
        kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        fresh = {"Cache-Control": "no-cache"}
        if head and kind == "text/html":
            return HTMLResponse(found.read_text("utf-8").replace("<head>", f"<head>{head}", 1), headers=fresh)
        return FileResponse(found, media_type=kind, headers=fresh)

    return Starlette(
        routes=[
            Route("/api/log", write, methods=["POST"]),
            Route("/api/log", read, methods=["GET"]),
            Route("/api/enter", enter, methods=["GET"]),
            Route("/{path:path}", page, methods=["GET"]),
        ]
    )


def _session(request: Request) -> str:
    return unquote(request.cookies.get(SESSION_COOKIE, ""))


def _file(folder: Path, path: str) -> Path | None:
    """The file for a path: itself, a folder's `index.html`, or `cart.html` for `/cart`; never the tasks."""
    asked = (folder / path).resolve()
    if not asked.is_relative_to(folder) or asked.name in _NEVER_SERVED:
        return None
    candidates = (asked, asked / "index.html", asked.with_name(f"{asked.name}.html"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
