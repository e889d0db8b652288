"""Widgets of component libraries and pages of other projects, opened to be acted on, and what their tests share."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pages import MissingPages, site
from playwright.async_api import Page

from tests.browser.hand import SETTINGS, Hand
from tests.conftest import Server
from vision_agent.actions import Action, Point
from vision_agent.browser import live
from vision_agent.observation import Mark
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

Widget = Callable[..., AbstractAsyncContextManager[Hand]]
Foreign = Callable[..., AbstractAsyncContextManager[Hand]]


def widgets(page: Page, serve: Server, folder: Path) -> Widget:
    """`async with widget(package, body) as hand`: a page with the package under `/lib`, seen when `ready` holds in it."""

    @asynccontextmanager
    async def opened(package: str, body: str, ready: str = "true", files: tuple[Path, ...] = ()) -> AsyncIterator[Hand]:
        _lay_out(folder, _root(package), body)
        async with _seen(page, serve.folder(folder), "", ready, files) as hand:
            yield hand

    return opened


def foreign_pages(page: Page, serve: Server) -> Foreign:
    """`async with foreign(package, path) as hand`: a page of a package as its makers wrote it, seen when `ready` holds."""

    @asynccontextmanager
    async def opened(package: str, path: str, ready: str = "true", files: tuple[Path, ...] = ()) -> AsyncIterator[Hand]:
        # Fonts and counters of the internet: the page does without them, at once and everywhere the same.
        await page.context.route(lambda url: urlsplit(url).hostname != "127.0.0.1", lambda route: route.abort())
        async with _seen(page, serve.folder(_root(package)), f"/{path}", ready, files) as hand:
            yield hand

    return opened


def _lay_out(folder: Path, root: Path, body: str) -> None:
    folder.mkdir()
    (folder / "lib").symlink_to(root)
    style = "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><style>body{margin:8px}</style>"
    (folder / "index.html").write_text(style + body, encoding="utf-8")


def _root(package: str) -> Path:
    try:
        return site(package).root
    except MissingPages as error:
        pytest.skip(str(error))


@asynccontextmanager
async def _seen(page: Page, address: str, path: str, ready: str, files: tuple[Path, ...]) -> AsyncIterator[Hand]:
    async with live.attach(page, SETTINGS, ImageLimits(), start_url=address, files=files) as browser:
        await browser.open(address + path)
        await page.wait_for_function(ready, timeout=60_000)
        hand = Hand(browser, address)
        await hand.look()
        yield hand


async def done(hand: Hand, action: Action) -> Outcome:
    """The outcome of an action that changed something, and another look."""
    outcome = await hand.act(action)
    assert (outcome.status, outcome.effect) == ("done", "changed"), outcome.sentence
    await hand.look()
    return outcome


def only(hand: Hand, which: Callable[[Mark], bool]) -> Mark:
    """The one mark of which something holds; for widgets that give their parts no names."""
    [found] = [mark for mark in hand.seen.marks if which(mark)]
    return found


def beside(hand: Hand, mark: Mark, x: float = 0, y: float = 0) -> Point:
    """A point of the picture, so far from where a mark is clicked."""
    return hand.seen.marked.map.to_picture(Point(x=mark.point.x + x, y=mark.point.y + y))


JQUERY_UI = '<link rel=stylesheet href="/lib/jquery-ui.css"><script src="/lib/external/jquery/jquery.js"></script><script src="/lib/jquery-ui.js"></script>'

LAYUI = '<link rel=stylesheet href="/lib/src/css/layui.css"><script src="/lib/src/layui.js"></script><div style="padding:20px">{body}</div><script>layui.use({modules}, () => {{ {script}; ready = 1 }})</script>'

GRID = LAYUI.format(
    body="<table id=grid lay-filter=grid></table>",
    modules="['table']",
    script="""layui.table.render({elem: '#grid', cols: [[{field: 'name', title: 'Name'}, {field: 'age', title: 'Age', edit: 'text'}]], data: [{name: 'Ben', age: 27}, {name: 'Ann', age: 31}]});
    layui.table.on('edit(grid)', (told) => edited = told.data)""",
)

SHEET = """<link rel=stylesheet href="/lib/xspreadsheet.css"><script src="/lib/xspreadsheet.js"></script><div id=sheet></div><script>
sheet = x_spreadsheet('#sheet', {showToolbar: false, showBottomBar: false, view: {height: () => 500, width: () => 900}}).loadData({rows: {0: {cells: {0: {text: 'Name'}, 1: {text: 'Age'}}}, 1: {cells: {0: {text: 'Ann'}, 1: {text: '31'}}}}})</script>"""

UIKIT = '<link rel=stylesheet href="/lib/dist/css/uikit.css"><script src="/lib/dist/js/uikit.js"></script>'

DIJIT = """<link rel=stylesheet href="/lib/dijit/themes/claro/claro.css"><script>dojoConfig = {{async: true, baseUrl: '/lib/dojo/'}}</script><script src="/lib/dojo/dojo.js"></script><body class=claro>{body}
<script>require({modules}, (...made) => {{ ({script})(...made); ready = 1 }})</script>"""
