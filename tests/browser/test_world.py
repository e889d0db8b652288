"""Claims about what happens around a page: each event is answered as the policy says, and told."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from pydantic import SecretStr

from tests.browser.hand import On
from tests.conftest import Server
from tests.loopback import Handler, LoopbackServer
from vision_agent.actions import Click, Goto
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.settings import BrowserSettings, EventSettings, HttpAuthSettings

ASKS = "<button onclick='document.title = String(KIND)'>Go</button>"


@pytest.mark.parametrize(
    ("kind", "events", "said", "answered"),
    [
        ("confirm(`Sure?`)", EventSettings(), 'confirm said "Sure?" and was dismissed', "false"),
        ("confirm(`Sure?`)", EventSettings(dialogs="accept"), "and was accepted", "true"),
        ("prompt(`Name?`)", EventSettings(), "and was dismissed", "null"),
        ("prompt(`Name?`)", EventSettings(dialogs="accept", prompt="Ann"), "and was accepted", "Ann"),
    ],
)
async def test_a_dialog_is_answered_as_the_settings_say(
    on: On, kind: str, events: EventSettings, said: str, answered: str
) -> None:
    async with on(ASKS.replace("KIND", kind), events=events) as hand:
        outcome = await hand.act(Click(target=1))
        assert outcome.effect == "dialog"
        assert said in outcome.sentence
        assert await hand.page.title() == answered


KEEPS = "<input aria-label=Draft><button>Go</button><script>addEventListener('beforeunload', (e) => e.preventDefault());</script>"


@pytest.mark.parametrize(("leave", "said"), [(False, "and was not left"), (True, "and was left")])
async def test_a_page_that_asks_before_it_is_left_is_left_only_where_that_is_allowed(
    on: On, leave: bool, said: str
) -> None:
    async with on(KEEPS, {"/b": "<title>B</title>"}, events=EventSettings(leave=leave)) as hand:
        await hand.act(Click(target=hand.number("Draft")))
        outcome = await hand.act(Goto(url="/b"))
        seen = await hand.look()
        assert (seen.title == "B") == leave
        assert said in outcome.sentence + " ".join(seen.warnings), outcome.sentence


async def test_a_download_is_kept_with_its_hash_and_never_outside_its_folder(on: On, tmp_path: Path) -> None:
    body = "".join(
        f"<a download='../../{n}.txt' href='data:text/plain,{n}'>Get {n}</a> " for n in ("one", "one", "two")
    )
    body = body.replace("Get one", "First", 1)
    async with on(body, downloads=tmp_path / "downloads") as hand:
        said = [(await hand.act(Click(target=number))).sentence for number in (1, 2, 3)]
        told = " ".join([*said, *(await hand.look()).warnings])
    kept = _files_in(tmp_path / "downloads")
    assert len(kept) == 3
    assert [path.read_text() for path in kept] == ["one", "one", "two"]
    assert hashlib.sha256(b"two").hexdigest() in told
    assert _files_in(tmp_path) == [tmp_path / "downloads"]


def _files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_a_page_that_asks_for_files_gets_none_by_itself(on: On) -> None:
    async with on("<button onclick='f.click()'>Attach</button><input type=file id=f style='display:none'>") as hand:
        outcome = await hand.act(Click(target=1))
        assert "the page asked for a file and got none" in outcome.sentence.replace("The", "the")
        assert await hand.js("f.files.length") == 0


async def test_printing_does_not_stop_the_page(on: On) -> None:
    async with on("<button onclick='print(); document.title = `printed`'>Print</button>") as hand:
        assert (await hand.act(Click(target=1))).status == "done"
        assert await hand.page.title() == "printed"


@pytest.mark.parametrize(("permissions", "state"), [((), "denied"), (("geolocation",), "granted")])
async def test_what_a_page_may_use_is_denied_unless_it_was_allowed(
    serve: Server, permissions: tuple[str, ...], state: str
) -> None:
    address = serve({"/": "<p>hi"})
    async with launch_browser(BrowserSettings(permissions=permissions)) as started:
        page = await started.context.new_page()
        await page.goto(address)
        asked = "navigator.permissions.query({name: 'geolocation'}).then((answer) => answer.state)"
        assert await page.evaluate(asked) == state
        notices = "navigator.permissions.query({name: 'notifications'}).then((answer) => answer.state)"
        assert await page.evaluate(notices) == "denied"


class _Locked(Handler):
    """Gives its page only to ann."""

    def do_GET(self) -> None:
        is_known = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"ann:hunter2").decode()
        challenge = {"WWW-Authenticate": 'Basic realm="Inner"'}
        self.answer(f"<title>{'In' if is_known else 'Out'}</title>", 200 if is_known else 401, challenge)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_the_name_and_password_are_given_only_to_the_server_they_belong_to(elsewhere: bool) -> None:
    with LoopbackServer(_Locked) as server:
        origin = "https://example.org" if elsewhere else server.address
        auth = HttpAuthSettings(username="ann", password=SecretStr("hunter2"), origin=origin)
        async with launch_browser(BrowserSettings(http_auth=auth)) as started:
            page = await started.context.new_page()
            with suppress(PlaywrightError):  # how Chromium refuses to go on without
                await page.goto(server.address)
            assert (await page.title() == "In") is not elsewhere
    assert "hunter2" not in repr(auth) + auth.model_dump_json()
