"""Claims about a settings file that somebody else put into the current folder."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.ready_python import python
from vision_agent.errors import UsageError
from vision_agent.settings import FILE_NAME, Settings, load
from vision_agent.settings_trust import AT_MOST, GRANTS, HARMLESS, INSIDE, STRICTEST, read_project_file, trust

POWERS = {
    "browser.executable_path": "'/tmp/program'",
    "browser.cdp_url": "'http://127.0.0.1:9222'",
    "browser.profile": "'profile'",
    "browser.storage_state": "'state.json'",
    "browser.session": "'shop'",
    "browser.save_session": "true",
    "browser.sessions_folder": "'sessions'",
    "browser.proxy": "{server = 'http://proxy.test:1'}",
    "browser.permissions": "['clipboard-read']",
    "browser.http_auth": "{origin = 'https://a.test', username = 'a', password = 's3cret'}",
    "browser.trace": "true",
    "browser.args": "['--renderer-cmd-prefix=/tmp/program']",
    "events.dialogs": "'accept'",
    "events.prompt": "'yes'",
    "events.leave": "true",
    "approval.ask": "'never'",
    "approval.dry_run": "false",
    "approval.risks": "[]",
    "approval.words": "{pay = ['x']}",
    "approval.harmless": "['Pay']",
    "approval.hosts": "['*.test']",
    "supervise.host": "'0.0.0.0'",
    "supervise.port": "8443",
    "supervise.url": "'https://elsewhere.test'",
    "supervise.certificate": "'page.pem'",
    "supervise.key": "'page.key'",
    "supervise.plain_http": "true",
    "supervise.name": "'Ann'",
    "supervise.sign_in_s": "900000",
    "supervise.webhook": "'https://elsewhere.test/told'",
    "supervise.webhook_secret": "'s3cret-of-theirs-1'",
    "model.name": "'openai:gpt-5.4'",
    "model.fallback": "'openai:gpt-5.4'",
    "model.judge": "'same'",
    "model.base_url": "'http://models.test'",
    "model.api_key": "'s3cret'",
    "model.max_tokens": "9000000",
    "model.retries": "900",
    "model.repairs": "900",
    "limits.steps": "4000",
    "limits.actions_per_step": "4000",
    "limits.downloads.count": "4000",
    "limits.downloads.bytes_each": "9000000000",
    "limits.downloads.total_bytes": "9000000000",
    "limits.downloads.seconds": "4000",
    "limits.downloads.types": "['exe']",
    "runs": "'../elsewhere'",
    "memory": "'exemplars'",
}
"""Of each setting that grants something, a value that does."""

HARMLESS_FILE = """
runs = "out/runs"
[browser]
headless = false
viewport = {width = 800, height = 600}
[observe]
style = "plain"
[approval]
ask = "always"
dry_run = true
[limits]
steps = 5
seconds = 60
cost_usd = 1.0
stall = 9
[model.filter]
above_lines = 10
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; a person's own settings and decisions are elsewhere, and empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (folder := tmp_path / "project").mkdir()
    monkeypatch.chdir(folder)
    return folder


def own_file(folder: Path, text: str) -> None:
    path = folder.parent / "config" / "vision-agent" / FILE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def line_of(key: str) -> str:
    table, _, name = key.rpartition(".")
    return f"[{table}]\n{name} = {POWERS[key]}\n" if table else f"{name} = {POWERS[key]}\n"


def vision_agent(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python(), "-m", "vision_agent", *args],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


def keys_of(model: type[BaseModel], above: str = "") -> set[str]:
    """Each setting by its key; a table that is judged as a whole is one."""
    found = set()
    for name, field in model.model_fields.items():
        key, inner = above + name, field.annotation
        if key not in HARMLESS | GRANTS.keys() and isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= keys_of(inner, f"{key}.")
        else:
            found.add(key)
    return found


def test_every_setting_is_judged_once_and_nothing_else_is() -> None:
    judged = [*HARMLESS, *GRANTS, *AT_MOST, *STRICTEST, *INSIDE]
    assert len(judged) == len(set(judged))
    assert keys_of(Settings) == set(judged)
    limits = {
        f"limits.{name}" for name in ("seconds", "tokens", "cost_usd", "submits", "spend")
    }  # without a limit of a person's, they only add one
    assert set(POWERS) == {*GRANTS, *AT_MOST, *STRICTEST, *INSIDE} - limits


@pytest.mark.parametrize("key", POWERS)
def test_a_file_that_nobody_trusts_grants_nothing_by_itself(folder: Path, key: str) -> None:
    (folder / FILE_NAME).write_text(line_of(key), "utf-8")

    with pytest.raises(UsageError, match=re.escape(key)) as refused:
        load()

    assert str(folder / FILE_NAME) in refused.value.sentence
    assert f"vision-agent trust {folder / FILE_NAME}" in refused.value.hint
    assert "s3cret" not in str(refused.value)
    with pytest.raises(UsageError, match="is not trusted"):
        Settings()


def test_harmless_keys_need_no_trust(folder: Path) -> None:
    (folder / FILE_NAME).write_text(HARMLESS_FILE, "utf-8")
    settings = load()
    assert (settings.browser.headless, settings.limits.steps, settings.approval.ask) == (False, 5, "always")
    assert settings.model.filter.above_lines == 10


def test_a_setting_that_is_given_otherwise_is_not_the_file_s_to_grant(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / FILE_NAME).write_text(line_of("model.base_url") + "name = 'openai:gpt-5.4'\n", "utf-8")
    monkeypatch.setenv("VISION_AGENT_MODEL__BASE_URL", "http://mine.test")
    assert load(model={"name": "human"}).model.base_url == "http://mine.test"


def test_the_file_of_a_folder_does_not_undo_what_a_person_set(folder: Path) -> None:
    own_file(folder, "[approval]\nask = 'always'\n[limits]\nsteps = 7\ncost_usd = 1.0\n")
    assert load().approval.ask == "always"
    (folder / FILE_NAME).write_text("[observe]\nstyle = 'plain'\n", "utf-8")
    settings = load()
    assert (settings.approval.ask, settings.limits.steps, settings.observe.style) == ("always", 7, "plain")

    for line in ("[approval]\nask = 'risky'", "[limits]\nsteps = 8", "[limits]\ncost_usd = 2.0"):
        (folder / FILE_NAME).write_text(f"{line}\n", "utf-8")
        with pytest.raises(UsageError, match="is not trusted"):
            load()


def test_a_person_s_own_file_may_set_everything(folder: Path) -> None:
    own_file(folder, line_of("model.base_url") + line_of("browser.executable_path"))
    assert load().model.base_url == "http://models.test"


def test_trust_shows_what_is_granted_and_ends_when_the_file_changes(folder: Path) -> None:
    path = folder / FILE_NAME
    path.write_text(line_of("browser.executable_path") + line_of("model.api_key"), "utf-8")

    shown = vision_agent("trust", "--show")
    assert shown.returncode == 0
    assert 'browser.executable_path = "/tmp/program" (starts that program)' in shown.stdout
    assert shown.stdout.splitlines()[-1] == f"{path} is not trusted."
    assert "s3cret" not in shown.stdout
    with pytest.raises(UsageError):
        load()

    assert vision_agent("trust", str(folder)).stdout.splitlines()[-1] == f"{path} is trusted until it is changed."
    assert load().browser.executable_path == Path("/tmp/program")

    path.write_text(path.read_text("utf-8") + "# changed\n", "utf-8")
    with pytest.raises(UsageError):
        load()
    vision_agent("trust", FILE_NAME)
    assert vision_agent("trust", "--remove").returncode == 0
    with pytest.raises(UsageError):
        load()


def test_the_same_file_in_another_folder_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILE_NAME).write_text(line_of("browser.args"), "utf-8")
    file = read_project_file(folder / FILE_NAME)
    assert file is not None
    trust(file)
    load()
    other = folder.parent / "other"
    other.mkdir()
    (other / FILE_NAME).write_bytes((folder / FILE_NAME).read_bytes())
    monkeypatch.chdir(other)
    with pytest.raises(UsageError, match="is not trusted"):
        load()


@pytest.mark.parametrize("runs", ["'/tmp'", "'link'", "'a/../..'"])
def test_run_folders_stay_in_the_folder_of_the_file(folder: Path, runs: str) -> None:
    (folder / "link").symlink_to(folder.parent)
    (folder / FILE_NAME).write_text(f"runs = {runs}\n", "utf-8")
    with pytest.raises(UsageError, match="writes run folders outside the folder"):
        load()


@pytest.mark.parametrize("text", [None, "limits.steps = 5\n", "runs = 'runs'\n"])
def test_a_link_called_runs_leads_out_of_the_folder_only_if_a_person_set_it(folder: Path, text: str | None) -> None:
    (folder / "runs").symlink_to(folder.parent)
    if text is not None:
        (folder / FILE_NAME).write_text(text, "utf-8")
    with pytest.raises(UsageError, match="outside the folder"):
        load()
    assert load(runs=Path("runs")).runs == Path("runs")
    own_file(folder, "runs = 'runs'\n")
    assert load().runs == Path("runs")


def test_a_link_called_runs_may_stay_in_the_folder(folder: Path) -> None:
    (folder / "runs").symlink_to("kept")
    assert load().runs == Path("runs")


def test_what_is_no_plain_file_ends_in_a_sentence(folder: Path) -> None:
    path = folder / FILE_NAME
    os.mkfifo(path)
    with pytest.raises(UsageError, match="is not a plain file"):
        load()
    path.unlink()
    path.symlink_to(folder / "nothing")
    with pytest.raises(UsageError, match="is a link to nothing"):
        load()
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        load()
    path.rmdir()
    path.write_bytes(b"#" * (2 << 20))
    with pytest.raises(UsageError, match="longer than 1 MiB"):
        load()
    path.write_text("a = " + "[" * 100_000, "utf-8")
    with pytest.raises(UsageError, match="nested too deeply"):
        load()


def test_trust_of_what_is_no_settings_file_is_refused(folder: Path) -> None:
    (folder / "other.toml").write_text("", "utf-8")
    for arguments, said in (((), "There is no file"), (("other.toml",), "is not read as settings")):
        done = vision_agent("trust", *arguments)
        assert done.returncode == 2
        assert said in done.stderr


# --- broken files -----------------------------------------------------------------------------------------------------

BASE = (HARMLESS_FILE + "".join(map(line_of, POWERS))).encode()
VALUES = st.sampled_from(
    ["true", "-1", "9" * 400, "nan", "''", "'*'", "'../..'", "'\\u0000'", "[]", "[[[]]]", "{}", "{a = {a = 1}}"]
) | st.sampled_from(list(POWERS.values()))


@st.composite
def broken_files(draw: st.DrawFn) -> bytes:
    """A settings file with a few keys, some of them strange, and then a few bytes changed."""
    keys = draw(st.lists(st.sampled_from([*sorted(keys_of(Settings)), "allowed_hosts", "model.files"]), max_size=5))
    lines = [f"{key} = {draw(VALUES)}" for key in dict.fromkeys(keys)]
    raw = draw(st.sampled_from(["\n".join(lines).encode(), BASE, HARMLESS_FILE.encode()]))
    for _ in range(draw(st.integers(0, 3))):
        at, long = draw(st.integers(0, len(raw))), draw(st.integers(0, 20))
        raw = raw[:at] + draw(st.binary(max_size=8) | st.just(raw[:at])) + raw[at + long :]
    return raw


def ends_in_a_sentence(raw: bytes) -> None:
    Path(FILE_NAME).write_bytes(raw)
    try:
        settings, refusal = load(), ""
    except UsageError as error:
        settings, refusal = Settings.model_construct(), error.sentence
    assert not refusal or refusal.startswith(("The settings", str(Path.cwd())))
    default: Any = Settings.model_fields["events"].default
    assert settings.events == default
    assert settings.model.base_url is settings.browser.executable_path is settings.browser.proxy is None
    assert not settings.browser.args


@pytest.mark.parametrize("many", [60, pytest.param(1000, marks=pytest.mark.thorough)])
@pytest.mark.filterwarnings("ignore:.*is now called:FutureWarning")
def test_a_broken_settings_file_ends_in_a_sentence_and_grants_nothing(folder: Path, many: int) -> None:
    run = given(raw=broken_files())(ends_in_a_sentence)
    hypothesis_settings(max_examples=many, deadline=timedelta(seconds=20))(run)()
