"""Claims about settings: which of them may be recorded, and that old names still work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from vision_agent import old_names
from vision_agent.cli.options import load_settings
from vision_agent.errors import UsageError
from vision_agent.geometry import Size
from vision_agent.session.keywords import settings_from
from vision_agent.settings import FILE_NAME, BrowserSettings, ModelSettings, ProxySettings, Settings, load, recordable

PASSWORD = "s3cretpass"


def test_the_memory_is_in_the_users_data_unless_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("VISION_AGENT_MEMORY", raising=False)
    default = load().memory_folder
    assert default.parts[-2:] == ("vision-agent", "memory")
    assert recordable(load())["memory"] is None  # where somebody's home is stands in no record
    monkeypatch.setenv("VISION_AGENT_MEMORY", str(tmp_path / "env"))
    assert load().memory_folder == tmp_path / "env"
    assert load(memory=tmp_path / "flag").memory_folder == tmp_path / "flag"


def recorded(**browser: Any) -> dict[str, Any]:
    settings = Settings(browser=BrowserSettings(**browser))
    kept = recordable(settings)
    assert PASSWORD not in json.dumps(kept)
    assert set(kept) == set(settings.model_dump())
    found: dict[str, Any] = kept["browser"]
    return found


@pytest.mark.parametrize(
    ("server", "kept"),
    [
        (f"http://bob:{PASSWORD}@proxy.test:3128", "http://proxy.test:3128"),
        (f"bob:{PASSWORD}@proxy.test:3128", "proxy.test:3128"),
        (f"socks5://{PASSWORD}@[::1]:1080/", "socks5://[::1]:1080"),
        (f"http://bob:{PASSWORD}@x@proxy.test", "http://proxy.test"),
        (f"http://bob:a/{PASSWORD}@proxy.test", "http://…"),
        (f"http://bob:a#{PASSWORD}@proxy.test", "http://…"),
        ("http://proxy.test:3128", "http://proxy.test:3128"),
        ("proxy.test:3128", "proxy.test:3128"),
    ],
)
def test_of_a_proxy_only_where_it_stands_is_recorded(server: str, kept: str) -> None:
    proxy = ProxySettings.model_validate({"server": server, "username": "bob", "password": PASSWORD})
    assert recorded(proxy=proxy)["proxy"]["server"] == kept


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        (f"wss://grid.test/?token={PASSWORD}", "wss://grid.test"),
        (f"wss://grid.test?token={PASSWORD}&at=1", "wss://grid.test"),
        (f"wss://grid.test:8443/{PASSWORD}/devtools", "wss://grid.test:8443"),
        (f"https://me:{PASSWORD}@grid.test/", "https://grid.test"),
        ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
    ],
)
def test_of_a_running_browser_only_where_it_stands_is_recorded(address: str, kept: str) -> None:
    assert recorded(cdp_url=address)["cdp_url"] == kept


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        (f"--proxy-server=http://bob:{PASSWORD}@proxy.test:1", "--proxy-server=http://proxy.test:1"),
        (f"--proxy-server=bob:{PASSWORD}@proxy.test:1", "--proxy-server=proxy.test:1"),
        (
            f"--proxy-server=http=http://a:{PASSWORD}@one.test;https=https://b:{PASSWORD}@two.test",
            "--proxy-server=http=http://one.test;https=https://two.test",
        ),
        (f"--proxy-pac-url=https://one.test/p?key={PASSWORD}", "--proxy-pac-url=https://one.test"),
        (f"https://me:{PASSWORD}@one.test", "https://one.test"),
        ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE one.test", None),
        ("--window-size=800,600", None),
        ("--no-first-run", None),
    ],
)
def test_of_an_address_in_an_argument_only_where_it_leads_is_recorded(argument: str, kept: str | None) -> None:
    assert recorded(args=(argument,))["args"] == [argument if kept is None else kept]


def test_of_the_models_server_only_where_it_stands_is_recorded_and_of_its_key_nothing() -> None:
    model = ModelSettings.model_validate(
        {"base_url": f"https://me:{PASSWORD}@models.test/v1?key={PASSWORD}", "api_key": PASSWORD}
    )
    kept = recordable(Settings(model=model))
    assert PASSWORD not in json.dumps(kept)
    assert kept["model"]["base_url"] == "https://models.test"


def test_a_key_that_was_renamed_still_works_and_names_the_new_one(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "vision-agent.toml").write_text("[observe]\nrest_deadline_s = 7\n[limits]\nstandstill = 9\n")
    monkeypatch.chdir(tmp_path)

    with pytest.warns(FutureWarning, match="is now called") as warned:
        settings = load()

    assert (settings.observe.settle_deadline_s, settings.limits.stall) == (7, 9)
    assert {str(each.message) for each in warned} == {
        "rest_deadline_s is now called settle_deadline_s",
        "standstill is now called stall",
    }


def test_a_file_with_the_old_and_the_new_key_is_refused_with_both(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "vision-agent.toml").write_text("[observe]\nrest_deadline_s = 7\nsettle_deadline_s = 8\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match=r"rest_deadline_s = 7 and settle_deadline_s = 8 are the same"):
        load()


def test_old_import_paths_and_names_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"vision_agent\.standstill is now vision_agent\.policy\.stall"):
        from vision_agent.standstill import Standstill  # type: ignore[import-not-found]
    with pytest.warns(DeprecationWarning, match="is now attach"):
        from vision_agent import watching  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="is now SuccessCheck"):
        from vision_agent.types import Check

    assert (Standstill.__name__, watching.__name__, Check.__name__) == ("Stall", "attach", "SuccessCheck")


@pytest.mark.parametrize("old", sorted(old_names.MODULES))
def test_every_old_path_leads_to_a_module(old: str) -> None:
    new = old_names.MODULES[old]
    if new.endswith(("ray_workers", "models.llm.pydantic_ai")):
        pytest.importorskip("pydantic_ai")
    assert import_module(f"vision_agent.{new}")


def test_every_old_name_leads_to_an_object_with_a_warning() -> None:
    for module, names in old_names.NAMES.items():
        path = module if module == "vision_agent" else f"vision_agent.{module}"
        for old, new in names.items():
            with pytest.warns(DeprecationWarning, match=f"{old} is now .*{new}"):
                assert old_names.renamed(path, old) is not None


def test_the_limits_of_downloads_come_from_the_environment_and_one_of_them_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VISION_AGENT_LIMITS__DOWNLOADS__COUNT", "3")
    limits = load(limits={"steps": 7, "downloads": {"bytes_each": 10, "types": ("pdf",)}}).limits
    assert (limits.steps, limits.downloads.count, limits.downloads.bytes_each) == (7, 3, 10)
    assert limits.downloads.types == ("pdf",)
    with pytest.raises(UsageError, match=r"limits\.downloads\.count"):
        load(limits={"downloads": {"count": -1}})


def numeric_keys(model: type[BaseModel] = Settings, above: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel) and not isinstance(field.default, Size):
            yield from numeric_keys(type(field.default), f"{above}{name}.")
        elif {int, float} & {field.annotation, *get_args(field.annotation)}:
            yield above + name


@pytest.mark.parametrize("key", list(numeric_keys()))
def test_a_number_without_measure_is_refused_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in ("nan", "inf", "-inf", "1e308", "-5", "9" * 400):
        (tmp_path / FILE_NAME).write_text(f"{key} = {value}\n", "utf-8")
        with pytest.raises(UsageError, match=rf"^The settings are invalid: {key}: \w") as refused:
            load()
        assert len(str(refused.value)) < 300


def test_a_viewport_needs_an_area_that_can_be_shown() -> None:
    for size in ((0, 200), (200, -3), (99, 200), (10**9, 10**9)):
        with pytest.raises(UsageError, match=r"browser\.viewport: width and height should be 100 to 16384"):
            load(browser={"viewport": {"width": size[0], "height": size[1]}})
    with pytest.raises(UsageError, match=r"browser\.viewport: width and height should differ at most 8 times"):
        load(browser={"viewport": {"width": 100, "height": 801}})
    with pytest.raises(
        UsageError, match=r"browser: viewport and device_ratio together make a picture of over 64,000,000 pixels"
    ):
        load(browser={"viewport": {"width": 9000, "height": 9000}})
    assert load(browser={"viewport": {"width": 100, "height": 800}}).browser.viewport.width == 100


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("limits.stpes", r"limits\.stpes: there is no such key; did you mean steps\?"),
        ("limts.steps", r"limts: there is no such key; did you mean limits\?"),
        ("browser.proxy.servr", r"browser\.proxy\.servr: there is no such key; did you mean server\?"),
        ("instructions", r"instructions: there is no such key"),  # a file is not the person's word
        ("events.zzz", r"events\.zzz: there is no such key; there are dialogs, prompt, leave"),
    ],
)
def test_an_unknown_key_is_refused_with_the_one_that_is_meant(
    key: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE_NAME).write_text(f"{key} = 3\n", "utf-8")
    with pytest.raises(UsageError, match=words):
        load()


def test_a_wrong_setting_is_refused_with_the_source_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VISION_AGENT_BROWSER__HEADLESS", "false")

    def refusal(**given: Any) -> str:
        with pytest.raises(UsageError) as refused:
            settings_from(given)
        return refused.value.hint

    assert refusal(browser={"headles": False}) == "see the keyword settings="
    (tmp_path / FILE_NAME).write_text("limits.stpes = 3\n", "utf-8")
    assert refusal() == f"see {tmp_path / FILE_NAME}"
    assert refusal(browser={"headles": False}) == f"see the keyword settings= and {tmp_path / FILE_NAME}"
    (tmp_path / FILE_NAME).unlink()
    monkeypatch.setenv("VISION_AGENT_OBSERVE", '{"idz": "letters"}')
    assert refusal() == "see the variable VISION_AGENT_OBSERVE"
    monkeypatch.setenv("VISION_AGENT_OBSERVE", "{}")
    monkeypatch.setenv("VISION_AGENT_LIMITS__STEPS", "many")
    assert refusal() == "see the variable VISION_AGENT_LIMITS__STEPS"


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"cost_usd": 0.0}, "--max-cost 0: it must be more than 0"),
        ({"steps": 0}, "--max-steps 0: it must be 1 or more"),
        ({"seconds": -1.5}, "--max-seconds -1.5: it must be more than 0"),
        ({"tokens": 10**13}, "--max-tokens 10000000000000: it must be at most 1,000,000,000,000"),
        ({"submits": -1}, "--max-submits -1: it must be 0 or more"),
        ({"downloads": {"count": -1}}, "--max-downloads -1: it must be 0 or more"),
    ],
)
def test_a_limit_that_allows_nothing_is_refused_with_what_is_allowed(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        load_settings(limits=limits)
    assert str(refused.value) == words


def test_a_number_that_is_out_of_range_in_a_file_is_refused_in_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE_NAME).write_text("limits.cost_usd = 0\n", "utf-8")
    with pytest.raises(UsageError, match=r"limits\.cost_usd: it must be more than 0"):
        load()


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("VISION_AGENT_LIMTS__STEPS", "VISION_AGENT_LIMTS__STEPS sets nothing: .* did you mean limits"),
        (
            "vision_agent_headless",
            "vision_agent_headless sets nothing: there is no setting headless; there are browser",
        ),
        ("VISION_AGENT_LIMITS__STPES", r"limits\.stpes: there is no such key; did you mean steps"),
    ],
)
def test_a_variable_that_sets_nothing_is_refused(variable: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "3")
    with pytest.raises(UsageError, match=words):
        load()


def test_variables_that_hold_secrets_are_no_settings_and_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISION_AGENT_MCP_TOKEN", "tok-1")
    monkeypatch.setenv("VISION_AGENT_SESSION_PASSPHRASE", "horse")
    assert "tok-1" not in str(recordable(load()))
