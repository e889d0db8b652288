"""The routes of the page of runs. `guard` has already refused requests that do not come from the page itself.

Nothing changes by a GET: what starts, stops or deletes is a POST with the key that only forms of ours hold.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from vision_agent.assets import palette
from vision_agent.describe.action_sentences import counted
from vision_agent.errors import NoSuchRun, UsageError, VisionAgentError
from vision_agent.record.diff import diff
from vision_agent.record.diff_page import render_diff
from vision_agent.record.report import render
from vision_agent.record.run_list import ListedRun, delete_run
from vision_agent.record.verify import verify
from vision_agent.settings import Settings
from vision_agent.types import Limits
from vision_agent.ui.children import Child, Children
from vision_agent.ui.guard import COOKIE, USED, VIEWS, Keys
from vision_agent.ui.orders import (
    Order,
    ReplayForm,
    ResumeForm,
    StartForm,
    faults_of,
    replay_order,
    resume_order,
    start_order,
)
from vision_agent.ui.pages import Pages
from vision_agent.ui.shelf import RunFilter, Shelf, filtered, key_of, older_than, size_of
from vision_agent.ui.words import RESUMABLE

_WEB = Path(__file__).parent / "web"
_KINDS = {".css": "text/css", ".js": "text/javascript"}
_LARGEST = 1_000_000
"""Bytes of a form: 100,000 characters of step lines, each up to nine bytes as it is sent."""
_DEADLINE_S = 120
"""How long one answer may take; comparing the pictures of two long runs takes the longest."""
_ALLOWED_DAYS = range(1, 36_501)
_FILTERS = ("q", "status", "host", "model", "since", "until", "view")

_T = TypeVar("_T")
_Endpoint = Callable[[Request], Awaitable[Response]]
_log = logging.getLogger(__name__)


class RunsApp:
    """The pages of one folder of runs."""

    def __init__(self, keys: Keys, children: Children, settings: Settings) -> None:
        self._keys = keys
        self._children = children
        self._base = f"/{keys.path}"
        self._shelf = Shelf(settings.runs)
        self._pages = Pages(self._shelf, self._base, keys.form, settings.model.name)
        self._ask = settings.approval.ask
        self._limits = settings.limits

    def app(self) -> Starlette:
        """The application."""
        own = [
            Route("/", self._answering(self._list)),
            Route("/page.css", self._web),
            Route("/page.js", self._web),
            Route("/start", self._answering(self._start), methods=["GET", "POST"]),
            Route("/compare", self._answering(self._compare)),
            Route("/delete", self._answering(self._delete), methods=["GET", "POST"]),
            Route("/runs/{key}", self._answering(self._run)),
            Route("/runs/{key}/report", self._answering(self._report)),
            Route("/runs/{key}/verify", self._answering(self._verify)),
            Route("/runs/{key}/resume", self._answering(self._resume), methods=["GET", "POST"]),
            Route("/runs/{key}/replay", self._answering(self._replay), methods=["GET", "POST"]),
            Route("/runs/{key}/stop", self._answering(self._stop), methods=["POST"]),
            Route("/runs/{key}/shots/{sha256}", self._answering(self._shot)),
        ]
        views = [
            Route("/{view}/{key}/report", self._showing(self._report_view)),
            Route("/{view}/{key}/shots/{name}", self._showing(self._report_shot)),
            Route("/{view}/{a}/{b}/diff", self._showing(self._diff_view)),
        ]
        routes = [
            Route("/", self._enter),
            Route("/favicon.ico", _nothing),
            Mount(self._base, routes=own),
            Mount(f"/{VIEWS}", routes=views),
        ]
        return Starlette(routes=routes)

    def _answering(self, endpoint: _Endpoint) -> _Endpoint:
        """The endpoint with a deadline, whose errors are pages with a sentence."""

        def page(title: str, sentence: str, code: int) -> Response:
            return HTMLResponse(self._pages.message(title, sentence), code)

        return _bounded(endpoint, page)

    def _showing(self, endpoint: _Endpoint) -> _Endpoint:
        """The same for what is shown apart, which gets no address of the page."""
        return _bounded(endpoint, lambda _, sentence, code: PlainTextResponse(sentence, code))

    # --- the way in, and files of our own -----------------------------------------------------------------------------

    async def _enter(self, request: Request) -> Response:
        if not self._keys.take_token(request.query_params.get("token", "")):
            return PlainTextResponse(USED, 403)
        # Not a redirect: a strict cookie is not sent with one that another program's link began.
        response = HTMLResponse(self._pages.enter())
        response.set_cookie(COOKIE, self._keys.cookie, path=self._base, httponly=True, samesite="strict")
        return response

    async def _web(self, request: Request) -> Response:
        file = _WEB / ("page.css" if request.url.path.endswith(".css") else "page.js")
        text = await asyncio.to_thread(file.read_text, "utf-8")
        return Response(palette() + text if file.suffix == ".css" else text, media_type=_KINDS[file.suffix])

    # --- pages that show ----------------------------------------------------------------------------------------------

    async def _list(self, request: Request) -> Response:
        asked = {name: request.query_params.get(name, "")[:300] for name in _FILTERS}
        wanted = _filter_of(asked)
        page = _whole(request.query_params.get("page", "1"), range(1, 100_000), 1)

        def made() -> str:
            starting = self._children.starting()
            not_begun = {each.order.folder for each in starting}
            runs = tuple(run for run in self._shelf.runs() if run.folder not in not_begun)
            found = filtered(runs, wanted)
            return self._pages.runs(runs, found, wanted, asked, page, starting, datetime.now(UTC))

        return _page(request, await asyncio.to_thread(made))

    async def _run(self, request: Request) -> Response:
        step = _whole(request.query_params.get("step", ""), range(1, 10**9), None)
        key = request.path_params["key"]

        def made() -> str:
            folder, child = self._folder_and_child(key)
            if folder is None:
                assert child is not None
                return self._pages.starting(child, key)
            return self._pages.run(self._pages.run_view(self._listed(folder), step, child))

        return _page(request, await asyncio.to_thread(made))

    async def _shot(self, request: Request) -> Response:
        key, sha256 = request.path_params["key"], request.path_params["sha256"]

        def made() -> tuple[bytes, str]:
            folder = self._shelf.folder_of(key)
            if "small" in request.query_params:
                return self._shelf.small_shot(folder, sha256), "image/jpeg"
            shot = self._shelf.shot(folder, sha256)
            return shot.data or b"", shot.media_type

        data, media_type = await asyncio.to_thread(made)
        return Response(data, media_type=media_type)

    async def _verify(self, request: Request) -> Response:
        def made() -> str:
            folder = self._shelf.folder_of(request.path_params["key"])
            self._shelf.require_small(folder)
            return self._pages.verified(self._pages.card(self._listed(folder)), verify(folder))

        return HTMLResponse(await asyncio.to_thread(made))

    async def _report(self, request: Request) -> Response:
        key = request.path_params["key"]
        folder = await asyncio.to_thread(self._shelf.folder_of, key)
        card = await asyncio.to_thread(lambda: self._pages.card(self._listed(folder)))
        address = f"/{VIEWS}/{self._keys.view(f'report {key}')}/{key}/report"
        return HTMLResponse(self._pages.view(f"Report: {card.goal}", address, f"{self._base}/runs/{key}"))

    async def _compare(self, request: Request) -> Response:
        keys = request.query_params.getlist("run")
        if len(keys) != 2:
            raise UsageError("Two runs can be compared", "choose two in the list")
        a, b = keys
        for key in keys:
            await asyncio.to_thread(self._shelf.folder_of, key)
        address = f"/{VIEWS}/{self._keys.view(f'diff {a} {b}')}/{a}/{b}/diff"
        return HTMLResponse(self._pages.view("Two runs compared", address, f"{self._base}/"))

    # --- reports, each of which is an origin of its own ---------------------------------------------------------------

    async def _report_view(self, request: Request) -> Response:
        key = request.path_params["key"]
        if request.path_params["view"] != self._keys.view(f"report {key}"):
            return PlainTextResponse(USED, 403)

        def made() -> str:
            folder = self._shelf.folder_of(key)
            self._shelf.require_small(folder)
            # Always made anew: the one in the folder may come from anywhere.
            return render(folder, holds_pictures=False)

        return HTMLResponse(await asyncio.to_thread(made))

    async def _report_shot(self, request: Request) -> Response:
        key, sha256 = request.path_params["key"], request.path_params["name"].partition(".")[0]
        if request.path_params["view"] != self._keys.view(f"report {key}"):
            return PlainTextResponse(USED, 403)
        shot = await asyncio.to_thread(lambda: self._shelf.shot(self._shelf.folder_of(key), sha256))
        return Response(shot.data or b"", media_type=shot.media_type)

    async def _diff_view(self, request: Request) -> Response:
        a, b = request.path_params["a"], request.path_params["b"]
        if request.path_params["view"] != self._keys.view(f"diff {a} {b}"):
            return PlainTextResponse(USED, 403)

        def made() -> str:
            folders = [self._shelf.folder_of(key) for key in (a, b)]
            for folder in folders:
                self._shelf.require_small(folder)
            return render_diff(diff(*folders))

        return HTMLResponse(await asyncio.to_thread(made))

    # --- what changes something ---------------------------------------------------------------------------------------

    async def _start(self, request: Request) -> Response:
        if request.method == "GET":
            values = {"decides": "model", "approve": self._ask, **_limits_of(self._limits)}
            if key := request.query_params.get("like", ""):
                values |= await asyncio.to_thread(self._values_like, key)
            return HTMLResponse(self._pages.form("start", values, {}))
        given = await self._form(request)
        try:
            form = StartForm.model_validate(_without_key(given))
        except ValidationError as error:
            return HTMLResponse(self._pages.form("start", given, faults_of(error)), 422)
        return await self._begin(start_order(form, self._shelf.folder, datetime.now(UTC)), "start", given)

    async def _resume(self, request: Request) -> Response:
        folder, card = await self._stopped(request)
        if request.method == "GET":
            decides = "steps" if card.decider == "step lines" else "model"
            # What it was about to do may have happened, and then somebody is asked.
            approve = "risky" if self._ask == "never" else self._ask
            values = {"decides": decides, "approve": approve, **self._lines_of(folder)}
            return HTMLResponse(self._pages.form("resume", values, {}, card=card))
        given = await self._form(request)
        try:
            form = ResumeForm.model_validate(_without_key(given))
        except ValidationError as error:
            return HTMLResponse(self._pages.form("resume", given, faults_of(error), card=card), 422)
        return await self._begin(resume_order(form, folder), "resume", given, card=card)

    async def _replay(self, request: Request) -> Response:
        key = request.path_params["key"]
        folder = await asyncio.to_thread(self._shelf.folder_of, key)
        view = await asyncio.to_thread(lambda: self._pages.run_view(self._listed(folder), None, None))
        if request.method == "GET":
            return HTMLResponse(self._pages.form("replay", {}, {}, view=view, card=view.card))
        given = await self._form(request)
        try:
            form = ReplayForm.model_validate(_without_key(given))
        except ValidationError as error:
            return HTMLResponse(self._pages.form("replay", given, faults_of(error), view=view, card=view.card), 422)
        order = replay_order(form, folder, self._shelf.folder, datetime.now(UTC))
        return await self._begin(order, "replay", given, view=view, card=view.card)

    async def _begin(self, order: Order, kind: str, given: Mapping[str, str], **more: Any) -> Response:
        try:
            child = await self._children.start(order)
        except (UsageError, OSError) as error:
            return HTMLResponse(self._pages.form(kind, given, {"": str(error)}, **more), 422)
        return RedirectResponse(f"{self._base}/runs/{key_of(child.order.folder)}", 303)

    async def _stop(self, request: Request) -> Response:
        await self._form(request)
        key = request.path_params["key"]
        folder, child = await asyncio.to_thread(self._folder_and_child, key)
        self._children.stop(folder or (child.order.folder if child is not None else Path()))
        return RedirectResponse(f"{self._base}/runs/{key}", 303)

    async def _delete(self, request: Request) -> Response:
        if request.method == "GET":
            keys, days = request.query_params.getlist("run"), request.query_params.get("days", "")
            return HTMLResponse(await asyncio.to_thread(self._deletion, keys, days))
        given = await self._pairs(request)
        keys = [value for name, value in given if name == "run"]
        deleted, kept = await asyncio.to_thread(self._deleted, keys)
        if not kept:
            return RedirectResponse(f"{self._base}/", 303)
        sentence = f"{counted(deleted, 'run')} deleted."
        return HTMLResponse(self._pages.message("Not all runs were deleted", sentence, kept), 422)

    def _deletion(self, keys: list[str], days: str) -> str:
        if keys:
            runs, why = [self._listed(self._shelf.folder_of(key)) for key in dict.fromkeys(keys)], ""
        elif days:
            many = _whole(days, _ALLOWED_DAYS, None)
            if many is None:
                raise UsageError(f"{days[:20]!r} is not a number of days", "give 1 to 36500")
            runs = list(older_than(self._shelf.own_runs(), many, datetime.now(UTC)))
            why = f"started more than {counted(many, 'day')} ago"
        else:
            raise UsageError("No run is chosen", "choose some in the list, or give an age")
        going = [run for run in runs if run.status == "running"]
        gone = [(run, *size_of(run.folder)) for run in runs if run.status != "running"]
        return self._pages.deletion(gone, going, why)

    def _deleted(self, keys: list[str]) -> tuple[int, list[str]]:
        """How many runs were deleted, and why others were not."""
        deleted, kept = 0, []
        for key in dict.fromkeys(keys):
            try:
                folder = self._shelf.folder_of(key)
                delete_run(folder)
                self._children.forget(folder)
                deleted += 1
            except NoSuchRun:
                continue  # it is gone already, which is what was asked for
            except VisionAgentError as error:
                kept.append(str(error))
        return deleted, kept

    # --- what they share ----------------------------------------------------------------------------------------------

    def _folder_and_child(self, key: str) -> tuple[Path | None, Child | None]:
        """The run folder with this key and its process; without a folder, the process that is to make it.

        Raises:
            NoSuchRun: there is neither.
        """
        starting = next((each for each in self._children.starting() if key_of(each.order.folder) == key), None)
        if starting is not None:
            return None, starting
        folder = self._shelf.folder_of(key)
        return folder, self._children.of(folder)

    def _listed(self, folder: Path) -> ListedRun:
        try:
            return self._shelf.listed(folder)
        except OSError:
            raise NoSuchRun("This run is not there any more: its folder was deleted or moved") from None

    def _values_like(self, key: str) -> dict[str, str]:
        """The values of a form that starts the same again."""
        folder = self._shelf.folder_of(key)
        task = self._shelf.glance(folder).run.task
        asked = {"url": task.start_url or "", "goal": task.goal, "instructions": task.instructions}
        decides = {"decides": "steps"} if self._pages.card(self._listed(folder)).decider == "step lines" else {}
        return {**asked, "max_steps": str(task.limits.steps), **decides, **self._lines_of(folder)}

    def _lines_of(self, folder: Path) -> dict[str, str]:
        """The field with the step lines of a run that was started here; no record has them."""
        child = self._children.of(folder)
        return {} if child is None or not child.order.stdin else {"steps": child.order.stdin.rstrip("\n")}

    async def _stopped(self, request: Request) -> tuple[Path, Any]:
        folder = await asyncio.to_thread(self._shelf.folder_of, request.path_params["key"])
        run = await asyncio.to_thread(self._listed, folder)
        if run.status == "running":
            raise UsageError("This run is still going", "wait until it ends, or stop it")
        if run.status not in RESUMABLE:
            raise UsageError("This run has ended for good", "run it again, or replay it")
        return folder, await asyncio.to_thread(self._pages.card, run)

    async def _pairs(self, request: Request) -> list[tuple[str, str]]:
        """The fields of a form that was sent by a page of ours.

        Raises:
            UsageError: it was not, or is too long.
        """
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST:
                raise UsageError("What was sent is too long")
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50_000)
        except ValueError as error:
            raise UsageError("What was sent is not a form") from error
        if not self._keys.is_form_key(dict(pairs).get("key", "")):
            raise UsageError("The form is not from this page, or the page was started again", "open the page again")
        return pairs

    async def _form(self, request: Request) -> dict[str, str]:
        return dict(await self._pairs(request))


def _page(request: Request, html: str) -> Response:
    """The page, or nothing if the browser has it already."""
    tag = f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304)
    return HTMLResponse(html, headers={"ETag": tag})


def _bounded(endpoint: _Endpoint, fail: Callable[[str, str, int], Response]) -> _Endpoint:
    """The endpoint with a deadline; `fail` makes an answer of an error's title, sentence and status code."""

    async def answer(request: Request) -> Response:
        try:
            async with asyncio.timeout(_DEADLINE_S):
                return await endpoint(request)
        except NoSuchRun as error:
            return fail("This run is gone", f"{error.sentence.removesuffix('.')}.", 404)
        except VisionAgentError as error:
            return fail("That did not work", str(error), 422)
        except TimeoutError:
            return fail("That took too long", f"There was no answer within {_DEADLINE_S} seconds.", 503)
        except Exception as error:  # noqa: BLE001 - a mistake of ours; its message may quote a page
            _log.error("a page failed with %s:\n%s", type(error).__name__, _places(error))
            return fail("Internal error", f"{type(error).__name__}; the terminal says where.", 500)

    return answer


def _limits_of(limits: Limits) -> dict[str, str]:
    """The values of a form for these limits."""
    found = {"max_steps": limits.steps, "max_seconds": limits.seconds, "max_cost": limits.cost_usd}
    return {name: "" if limit is None else f"{limit:.10g}" for name, limit in found.items()}


def _places(error: Exception) -> str:
    return "".join(traceback.format_tb(error.__traceback__))


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)


def _filter_of(asked: Mapping[str, str]) -> RunFilter:
    return RunFilter(
        text=asked["q"],
        status=asked["status"],
        host=asked["host"],
        model=asked["model"],
        since=_day(asked["since"]),
        until=_day(asked["until"]),
    )


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text[:20]!r} is not a date", "give one such as 2026-03-31") from error
    if not 1980 <= found.year <= 9000:
        raise UsageError(f"{text[:20]!r} is not a date that a run can have")
    return found


def _whole(text: str, allowed: range, otherwise: _T) -> int | _T:
    """The whole number, if it is one of those that are allowed."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and int(text) in allowed else otherwise


def _without_key(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if name != "key"}
