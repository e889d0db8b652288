"""Claims about saved sessions: what a run leaves signed in, a later run begins with, and nobody can read from disk."""

from __future__ import annotations

import json
import logging
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backends.fail
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from vision_agent.browser.launch.saved_session import (
    PASSPHRASE,
    expired_note,
    forget_session,
    save_state,
    saved_sessions,
    saved_state,
)
from vision_agent.cli.main import app
from vision_agent.errors import BrowserUnavailable, Unavailable, UsageError
from vision_agent.events import Event, Warned
from vision_agent.record.verify import verify
from vision_agent.session import Agent
from vision_agent.session.signing_in import sign_in
from vision_agent.settings import BrowserSettings, Settings

PAGE = """<h1 id=who></h1><button onclick="document.cookie = 'token=tok-9f3a1c; max-age=3600';
localStorage.name = 'Ann'; show()">Sign in</button><script>
function show() { who.textContent = document.cookie.includes('tok-9f3a1c') ? 'Welcome ' + localStorage.name : 'Hello'; }
show();</script>"""
STATE = {
    "cookies": [],
    "origins": [{"origin": "https://a.example", "localStorage": [{"name": "a", "value": "s3cret"}]}],
}


class Ring(KeyringBackend):
    """A keyring in memory, as a backend of the library."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BrowserSettings:
    monkeypatch.setenv(PASSPHRASE, "correct horse battery staple")
    return BrowserSettings(session="shop", sessions_folder=tmp_path / "sessions")


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_run_that_signs_in_leaves_a_session_with_which_the_next_one_begins(
    kept: BrowserSettings, serve: Any, tmp_path: Path
) -> None:
    url, runs = serve({"/": PAGE}), tmp_path / "runs"
    saving = Settings(browser=kept.model_copy(update={"save_session": True}), runs=runs)
    lines = ["click Sign in", 'wait for "Welcome Ann"', "finish"]
    first = await Agent("Sign in", url=url, steps=lines, settings=saving).run()
    assert first.ok, first.ending
    using = Settings(browser=kept, runs=runs)
    second = await Agent("Look", url=url, steps=lines[1:], settings=using).run()
    assert second.ok, second.ending

    (path,) = (tmp_path / "sessions").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"tok-9f3a1c" not in all_bytes(tmp_path / "sessions")
    record = all_bytes(runs)
    assert b'"session":"shop"' in record.replace(b" ", b"")
    assert b"tok-9f3a1c" not in record
    assert str(tmp_path / "sessions").encode() not in record


async def test_a_person_signs_in_and_the_session_is_saved_when_they_say_so(kept: BrowserSettings, serve: Any) -> None:
    waited: list[bool] = []

    async def until() -> None:
        waited.append(True)

    page = PAGE.replace("show();</script>", "document.querySelector('button').click();</script>")
    assert (await sign_in(serve({"/": page}), kept, until)).is_file()
    assert waited
    assert saved_state(kept) is not None


async def test_a_sign_in_page_that_is_not_there_is_told(kept: BrowserSettings, closed_port: int) -> None:
    async def until() -> None:
        raise AssertionError("nobody can sign in there")

    address = f"http://127.0.0.1:{closed_port}/in"
    with pytest.raises(BrowserUnavailable) as caught:
        await sign_in(address, kept, until)
    assert str(caught.value) == (
        f"{address} could not be opened: net::ERR_CONNECTION_REFUSED (is the address right, and is its server running?)"
    )


async def test_where_nobody_signed_in_the_sign_in_from_before_stays(kept: BrowserSettings, serve: Any) -> None:
    async def until() -> None:
        pass

    with pytest.raises(UsageError, match="nothing to save: the browser has no cookie"):
        await sign_in(serve({"/": PAGE}), kept, until)
    assert saved_sessions(kept) == ()


async def test_a_browser_that_is_gone_before_the_session_was_saved_leaves_none(
    kept: BrowserSettings, serve: Any
) -> None:
    async def until() -> None:
        raise BrowserUnavailable("The window was closed")

    with pytest.raises(BrowserUnavailable):
        await sign_in(serve({"/": PAGE}), kept, until)
    assert saved_sessions(kept) == ()


def test_a_session_is_read_back_by_passphrase_only(kept: BrowserSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_state(STATE, kept)
    assert saved_state(kept) == STATE
    assert "s3cret" not in path.read_text("utf-8")
    monkeypatch.setenv(PASSPHRASE, "wrong horse")
    with pytest.raises(UsageError, match=f"{PASSPHRASE} is not its passphrase"):
        saved_state(kept)
    monkeypatch.delenv(PASSPHRASE)
    with pytest.raises(UsageError, match=f"set {PASSPHRASE}"):
        saved_state(kept)


def test_the_key_is_kept_in_the_keyring_where_there_is_one(
    kept: BrowserSettings, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PASSPHRASE)
    save_state(STATE, kept)
    assert saved_state(kept) == STATE
    assert [each.key for each in saved_sessions(kept)] == ["keyring"]
    forget_session("shop", kept)
    assert ring.kept == {}
    save_state(STATE, kept)
    ring.kept.clear()
    with pytest.raises(Unavailable, match="no key for the saved sign-in 'shop'"):
        saved_state(kept)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no limit of file sizes")
def test_a_saved_sign_in_stays_readable_where_the_next_one_cannot_be_written(
    ring: Ring, kept: BrowserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    monkeypatch.delenv(PASSPHRASE)
    path = save_state(STATE, kept)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(UsageError, match="cannot be saved in"):
            save_state({**STATE, "cookies": [{"name": "a", "value": "b" * 500}]}, kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert saved_state(kept) == STATE
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"state":"gAAA', '"state":"gABA'), "cannot be decrypted"),
        (lambda text: text[:40], "is not a saved sign-in"),
        (lambda _: "[]", "is not a saved sign-in"),
    ],
    ids=["another byte", "cut", "another file"],
)
def test_a_changed_file_is_no_session(kept: BrowserSettings, change: Any, said: str) -> None:
    path = save_state(STATE, kept)
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    with pytest.raises(UsageError, match=said):
        saved_state(kept)


def test_an_expired_session_says_how_to_sign_in_again(kept: BrowserSettings) -> None:
    old = {"name": "token", "value": "x", "domain": "a.example", "path": "/", "expires": 1000.0}
    save_state({"cookies": [old], "origins": []}, kept)
    with pytest.raises(UsageError, match=r"has expired .*vision-agent login shop"):
        saved_state(kept)
    save_state({"cookies": [old, {**old, "expires": -1}], "origins": []}, kept)
    assert saved_state(kept) is not None
    said = "A cookie of the saved sign-in 'shop' has expired (if the site asks to sign in: vision-agent login shop"
    assert expired_note(kept).startswith(said)
    save_state(STATE, kept)
    assert expired_note(kept) == ""


async def test_a_run_tells_of_an_expired_cookie_to_its_listener_the_logger_and_json(
    kept: BrowserSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"name": "token", "value": "x", "domain": "a.example", "path": "/", "expires": 1000.0}
    save_state({**STATE, "cookies": [old]}, kept)
    heard: list[Event] = []
    settings = Settings(browser=kept, runs=tmp_path / "runs")
    with caplog.at_level(logging.WARNING, "vision_agent"):
        run = await Agent("Look", url="about:blank", steps="finish", settings=settings, on_event=heard.append).run()
    (sentence,) = (each.sentence for each in heard if isinstance(each, Warned))
    assert sentence.startswith("A cookie of the saved sign-in 'shop' has expired")
    assert [each.getMessage() for each in caplog.records] == [f"run {run.id}: {sentence}"]
    assert run.folder is not None
    assert verify(run.folder).holds


def test_where_no_key_can_be_kept_nobody_signs_in_in_vain(
    kept: BrowserSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(PASSPHRASE)
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    monkeypatch.setenv("VISION_AGENT_BROWSER__SESSIONS_FOLDER", str(kept.sessions_folder))
    try:
        words = ["run", "a.example", "Look", "--model=human", f"--runs={tmp_path / 'runs'}"]
        with pytest.raises(UsageError, match=f"no keyring to keep the key .*set {PASSPHRASE}"):
            app([*words, "--session=shop", "--save-session"], standalone_mode=False)
    finally:
        keyring.set_keyring(before)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", ["../shop", "", ".hidden", "a b", "x" * 65])
def test_a_name_leads_nowhere_else(kept: BrowserSettings, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        save_state(STATE, kept.model_copy(update={"session": name}))


def test_a_session_that_is_not_there_is_told_before_a_browser_starts(kept: BrowserSettings, tmp_path: Path) -> None:
    save_state(STATE, kept)
    folder = f"--runs={tmp_path / 'runs'}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VISION_AGENT_BROWSER__SESSIONS_FOLDER", str(kept.sessions_folder))
        words = ["run", "a.example", "Look", "--model=human", folder]
        with pytest.raises(UsageError, match=r"no saved sign-in 'shopp' .*saved are shop"):
            app([*words, "--session=shopp"], standalone_mode=False)
        with pytest.raises(UsageError, match="No session is named"):
            app([*words, "--save-session"], standalone_mode=False)
        with pytest.raises(UsageError, match="including the saved sign-in shop"):
            app([*words, "--session=shop", "--trace"], standalone_mode=False)
    assert not list((tmp_path / "runs").glob("*"))


def test_sessions_are_listed_and_deleted_without_their_key(
    kept: BrowserSettings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save_state(STATE, kept)
    monkeypatch.delenv(PASSPHRASE)
    monkeypatch.setenv("VISION_AGENT_BROWSER__SESSIONS_FOLDER", str(kept.sessions_folder))
    app(["sessions", "--json"], standalone_mode=False)
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["key"]) == ("shop", "passphrase")
    app(["sessions", "rm", "shop"], standalone_mode=False)
    assert saved_sessions(kept) == ()
    with pytest.raises(UsageError, match="no saved sign-in 'shop'"):
        forget_session("shop", kept)
