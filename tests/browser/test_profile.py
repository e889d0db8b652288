"""Claims about a browser profile that runs share, with a whole Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ready_python import python
from vision_agent.browser.launch.launch import fresh_context, launch_browser, require_launchable
from vision_agent.errors import UsageError
from vision_agent.settings import BrowserSettings, Settings, recordable

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a whole Chromium")

VISITS = """<script>localStorage.visits = Number(localStorage.visits || 0) + 1
document.title = localStorage.visits</script>"""


def _make_file(folder: Path) -> None:
    folder.write_text("not a folder")


def _make_other_folder(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.odt").write_text("mine")


def _make_part(folder: Path) -> None:
    folder.mkdir()
    (folder / "Preferences").write_text("{}")


def _lock(folder: Path, owner: str) -> None:
    folder.mkdir()
    (folder / "Local State").write_text("{}")
    (folder / "SingletonLock").symlink_to(owner)


async def test_what_pages_store_is_there_in_the_next_run(tmp_path: Path, serve: Callable[..., str]) -> None:
    address, settings = serve({"/": VISITS}), BrowserSettings(profile=tmp_path / "shopping")
    titles = []
    for _ in range(2):
        require_launchable(settings)
        async with launch_browser(settings) as found:
            assert found.description.endswith(", profile shopping")
            page = await found.context.new_page()
            await page.goto(address)
            titles.append(await page.title())
    assert titles == ["1", "2"]


async def test_a_profile_in_use_is_refused_before_anything_starts(tmp_path: Path) -> None:
    settings = BrowserSettings(profile=tmp_path / "shopping")
    async with launch_browser(settings) as found:
        with pytest.raises(UsageError, match=r"in use by another browser \(process \d+\) \(close it, or give each"):
            require_launchable(settings)
        with pytest.raises(UsageError, match="in use"):
            async with launch_browser(settings):
                pass
        with pytest.raises(UsageError, match="each task begins with a new one"):
            async with fresh_context(found, settings):
                pass
    require_launchable(settings)


def test_a_lock_holds_unless_its_browser_is_gone(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    _lock(tmp_path / "stale", f"{socket.gethostname()}-{gone.pid}")
    require_launchable(BrowserSettings(profile=tmp_path / "stale"))
    _lock(tmp_path / "held", f"{socket.gethostname()}-{os.getpid()}")
    with pytest.raises(UsageError, match=rf"in use by another browser \(process {os.getpid()}\)"):
        require_launchable(BrowserSettings(profile=tmp_path / "held"))
    _lock(tmp_path / "elsewhere", "no-such-host-17")
    with pytest.raises(
        UsageError, match=r"in use by a browser on no-such-host \(close it; if it is gone, delete .*Lock"
    ):
        require_launchable(BrowserSettings(profile=tmp_path / "elsewhere"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (_make_file, "is a file (give a folder"),
        (_make_other_folder, "has files in it, but is not a browser profile (give one that a browser made"),
        (_make_part, "is only part of a profile (give the folder around it"),
    ],
)
def test_what_is_no_profile_is_refused_and_left_alone(
    make: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    make(tmp_path / "given")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError) as refused:
        require_launchable(BrowserSettings(profile=tmp_path / "given"))
    assert sentence in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"cdp_url": "9222"}, "--profile and --cdp cannot be combined (leave out one of them)"),
        ({"session": "shop"}, "--profile and --session cannot be combined"),
        ({"storage_state": "state.json"}, "--profile and --storage-state cannot be combined"),
        ({"executable_path": "/usr/bin/chromium-headless-shell"}, "keeps no profile that other browsers can use"),
    ],
)
async def test_settings_that_contradict_a_profile_are_refused(
    more: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    settings = BrowserSettings.model_validate({"profile": tmp_path / "new", **more})
    with pytest.raises(UsageError) as refused:
        async with launch_browser(settings):
            pass
    assert sentence in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_the_profile_that_a_person_browses_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "chromium").mkdir()
    (tmp_path / "chromium" / "Local State").write_text("{}")
    if sys.platform == "linux":
        with pytest.raises(UsageError, match=r"and Chrome lets no program drive it \(give a new folder"):
            require_launchable(BrowserSettings(profile=tmp_path / "chromium"))


def test_the_record_has_the_name_of_the_profile_alone(tmp_path: Path) -> None:
    kept = recordable(Settings(browser=BrowserSettings(profile=tmp_path / "shopping")))
    assert kept["browser"]["profile"] == "shopping"
    assert str(tmp_path) not in json.dumps(kept["browser"])


def test_runs_of_the_command_line_share_a_profile(tmp_path: Path, serve: Callable[..., str]) -> None:
    address = serve({"/": VISITS})
    (tmp_path / "steps.txt").write_text("finish done\n")
    for visit in ("1", "2"):
        runs = tmp_path / f"runs{visit}"
        given = ["--steps", "steps.txt", "--profile", "shopping", "--runs", str(runs)]
        command = [python(), "-m", "vision_agent", "run", address, "Count the visit", *given]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == 0, ended.stderr
        (run,) = runs.iterdir()
        assert f'"title":"{visit}"' in (run / "steps.jsonl").read_text("utf-8")
        settings = json.loads((run / "run.json").read_text("utf-8"))["provenance"]["settings"]
        assert settings["browser"]["profile"] == "shopping"
