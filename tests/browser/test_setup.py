"""Claims about looking a machine over and about getting a browser, with real commands."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from vision_agent.browser.launch.doctor import Installer, doctor, find_installers, setup
from vision_agent.settings import BrowserSettings, Settings


def absent(tmp_path: Path) -> Settings:
    """Settings that name a browser which is not there, and a place where one may come to be."""
    return Settings(browser=BrowserSettings(executable_path=tmp_path / "browser"), runs=tmp_path / "runs")


async def test_a_browser_counts_when_it_has_shown_a_page_with_digits(tmp_path: Path) -> None:
    health = await doctor(Settings(runs=tmp_path / "runs"))
    assert health.browser is not None
    assert health.browser.draws_digits is True
    assert health.browser.seconds > 0
    assert health.exit_code == 0


async def test_what_is_not_held_back_in_a_browser_that_is_not_launched_is_told(tmp_path: Path) -> None:
    health = await doctor(absent(tmp_path))
    assert "WebRTC over TCP" in " ".join(health.not_held)
    assert "--proxy-bypass-list=<-loopback>;HOST" in health.limiting_arguments


async def test_without_a_browser_the_exit_code_is_5_and_the_commands_are_named(tmp_path: Path) -> None:
    health = await doctor(absent(tmp_path))
    assert health.exit_code == 5
    assert [probe.sentence for probe in health.browsers] == [
        f"the configured path: there is no file {tmp_path / 'browser'}"
    ]
    assert any("playwright install chromium" in warning for warning in health.warnings)


async def test_a_browser_that_a_command_brings_is_found(tmp_path: Path) -> None:
    here = shutil.which("chromium") or shutil.which("google-chrome")
    if here is None:
        pytest.skip("no browser on the PATH to bring")
    said: list[str] = []
    installer = Installer("a link", (("ln", "-s", here, str(tmp_path / "browser")),), 10)
    health = await setup(absent(tmp_path), said.append, [installer])
    assert health.exit_code == 0
    assert "No browser yet: a link (at most 0 min)" in said


async def test_nothing_is_fetched_where_a_browser_works(tmp_path: Path) -> None:
    installer = Installer("a file", (("touch", str(tmp_path / "fetched")),), 10)
    await setup(Settings(), installers=[installer])
    assert not (tmp_path / "fetched").exists()


async def test_a_command_that_hangs_is_given_up_with_all_it_started(tmp_path: Path) -> None:
    installer = Installer("a long wait", (("sh", "-c", "sleep 60 & sleep 60"),), 0.3)
    health = await setup(absent(tmp_path), installers=[installer])
    assert "a long wait: not finished after 0 s, stopped" in health.warnings


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("Error: no answer from https://host.example/simple", "Error: no answer from (address)"),
        ("Error: getaddrinfo ENOTFOUND host.example", "Error: getaddrinfo ENOTFOUND (address)"),
        ("Reading lists", "more"),
    ],
)
async def test_a_failing_command_says_why_and_keeps_addresses_to_itself(last: str, said: str, tmp_path: Path) -> None:
    script = f"print({last!r}); print('more'); raise SystemExit(1)"
    health = await setup(absent(tmp_path), installers=[Installer("a download", ((sys.executable, "-c", script),), 10)])
    assert f"a download: {said}" in health.warnings


async def test_a_command_that_is_absent_is_named(tmp_path: Path) -> None:
    health = await setup(absent(tmp_path), installers=[Installer("a tool", (("no-such-tool-here",),), 10)])
    assert "a tool: no-such-tool-here could not be run: No such file or directory" in health.warnings


async def test_a_folder_that_cannot_be_made_is_no_place_for_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    health = await doctor(Settings(runs=tmp_path / "file" / "runs"))
    assert not health.runs_folder_is_writable
    assert health.exit_code == 5
    assert any("VISION_AGENT_RUNS" in warning for warning in health.warnings)


def test_no_other_browser_is_fetched_where_one_was_named(tmp_path: Path) -> None:
    assert find_installers(absent(tmp_path).browser) == []
    assert find_installers(BrowserSettings())[0].name == "playwright install"
