"""The tools of `vision-agent mcp` and the settings for its clients, without a browser or a client."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from vision_agent.actions import ACTIONS
from vision_agent.cli.main import app
from vision_agent.cli.options import secrets_of
from vision_agent.errors import FormatError, UsageError, VisionAgentError
from vision_agent.integrations.mcp import tools
from vision_agent.integrations.mcp.browser_session import SessionRules
from vision_agent.integrations.mcp.client_settings import client_settings
from vision_agent.settings import Settings
from vision_agent.types import Task


def test_every_action_has_a_tool_or_is_known_to_have_none() -> None:
    offered = tools.offered_tools(uploads=True, lends=True)
    forms = [form for spec in offered.values() for form in spec.forms]
    assert len(forms) == len(set(forms))
    assert {*forms, *tools.NOT_OFFERED} == set(ACTIONS)


def test_hints_follow_from_what_an_action_is() -> None:
    offered = tools.offered_tools(uploads=True, lends=True)
    read_only = {name for name, spec in offered.items() if spec.is_read_only}
    assert read_only == {"look", "find", "report", "hover", "scroll", "zoom", "wait", "read", "extract"}
    assert {name for name, spec in offered.items() if not spec.is_destructive} == read_only | {
        "open",
        "tabs",
        "back",
        "close",
        "select_text",
    }
    assert not offered["open"].is_idempotent


def test_a_secret_needs_an_origin_because_a_client_chooses_the_page(tmp_path: Path) -> None:
    task = Task.model_validate({"goal": "", "secrets": [{"name": "pin", "value": "hunter-4711"}]})
    with pytest.raises(UsageError, match="The secret pin has no origin") as caught:
        SessionRules(Settings(runs=tmp_path), task)
    assert "--secret-origin pin=" in caught.value.hint
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("fly", {}, "There is no tool 'fly'"),
        ("click", {"session": "s"}, "`click` needs `look_id`"),
        ("click", {"session": "s", "look_id": "l", "target": True}, "not true or false"),
        (
            "click",
            {"session": "s", "look_id": "l"},
            "`click` needs `target`: the number of a mark in the last look (12), a cell such as {",
        ),
        (
            "look",
            {"session": "s", "url": "x"},
            "`look` has no argument `url`; it takes session, look_id, scope, tile",
        ),
        ("tabs", {"session": "s", "do": "fly"}, "says which of these is meant: list, switch_tab"),
        ("tabs", {"session": "s", "do": "list", "tab": 1}, "`tabs` takes no `tab` where `do` is list."),
        (
            "tabs",
            {"session": "s", "do": "switch_tab", "tab": 1, "url": "x"},
            "takes no `url` where `do` is switch_tab.",
        ),
        ("type", {"session": "s", "look_id": "l", "target": 1, "text": "x" * 200_000}, "No tool takes a picture"),
        ("type", {"session": "s", "look_id": "l", "target": 1, "text": "\ud800"}, "half a character"),
        (
            "look",
            {"session": "s", "text_tokens": 20_001},
            "`text_tokens` of `look` is 20001; it takes a whole number from 200 to 20,000.",
        ),
        ("look", {"session": "s", "scope": "Cart"}, '`scope` of `look` is "Cart"; it takes the number of a mark'),
        ("scroll", {"session": "s", "direction": "in"}, 'is "in"; it takes "up", "down", "left" or "right".'),
        (
            "wait",
            {"session": "s", "seconds": 90},
            "`seconds` of `wait` is 90; it takes a number above 0 and of at most 60.",
        ),
        ("open", {"url": 5}, "`url` of `open` is 5; it takes an address with its scheme, as in the address bar."),
        ("close", {"session": "s", "done": True}, "`close` has no argument `done`; it takes session, success, answer"),
        ("open", {}, "`open` needs `url`: an address with its scheme, as in the address bar."),
        ("look", {}, "`look` needs `session`: the name of a session, as `open` answers it."),
        ("run", {"session": "s", "goal": "x"}, "There is no tool 'run'"),
        ("upload", {"session": "s", "look_id": "l", "mark": 1, "files": ["x"]}, "There is no tool 'upload'"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_right(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        tools.parse_call(name, given, tools.offered_tools(uploads=False, lends=False))


def test_a_name_in_place_of_a_number_is_answered_with_what_to_write() -> None:
    given = {"session": "s", "look_id": "l", "target": "Add to cart"}
    with pytest.raises(FormatError) as caught:
        tools.parse_call("click", given, tools.offered_tools(uploads=True, lends=True))
    assert caught.value.sentence == (
        '`target` of `click` is "Add to cart"; it takes the number of a mark in the last look (12), '
        'a cell such as {"mark": 8, "row": 3, "column": 7} or a point such as {"x": 640, "y": 400}. '
        '`find` with the text "Add to cart" gives the lines of the marks that have these words.'
    )


@pytest.mark.parametrize("wrong", ["word", "", -1, 0.5, 1e9, [], [{}], {}, {"mark": "a"}, "x" * 5000])
def test_no_wrong_argument_of_any_tool_is_answered_in_the_words_of_a_validator(wrong: Any) -> None:
    offered = tools.offered_tools(uploads=True, lends=True)
    calls = [
        (name, {"session": "s", "look_id": "l", **({"do": each["enum"][-1]} if field == "do" else {}), field: wrong})
        for name, spec in offered.items()
        for field, each in spec.schema["properties"].items()
    ]
    answers = [_complaint(name, given, offered) for name, given in calls]
    assert any(answers)
    assert not re.findall(r"Input should|should be|Field required|valid |type=|https:|Cell\.", " ".join(answers))


def _complaint(name: str, given: dict[str, Any], offered: dict[str, tools.ToolSpec]) -> str:
    try:
        tools.parse_call(name, given, offered)
    except FormatError as error:
        return str(error)
    return ""


def test_null_is_an_argument_that_was_left_out() -> None:
    offered = tools.offered_tools(uploads=True, lends=False)
    call = tools.parse_call(
        "click", {"session": "s", "look_id": "l", "target": 1, "reply": None, "button": None}, offered
    )
    assert call == tools.parse_call("click", {"session": "s", "look_id": "l", "target": 1}, offered)
    with pytest.raises(FormatError, match="`click` needs `target`"):
        tools.parse_call("click", {"session": "s", "look_id": "l", "target": None}, offered)


def test_an_argument_that_there_is_not_is_named_with_the_one_that_is_probably_meant() -> None:
    offered = tools.offered_tools(uploads=True, lends=False)
    given = {"session": "s", "look_id": "l", "target": 1}
    with pytest.raises(FormatError, match=r"^`click` has no argument `buton`; did you mean `button`\?$"):
        tools.parse_call("click", {**given, "buton": "left"}, offered)
    with pytest.raises(FormatError, match=r"did you mean `mark`\?$"):
        tools.parse_call("check", given, offered)
    with pytest.raises(FormatError, match=r"^`click` has no argument `zzz`; it takes session, look_id, target, "):
        tools.parse_call("click", {**given, "zzz": 1}, offered)


def test_every_schema_is_valid_and_takes_what_its_action_takes() -> None:
    for spec in tools.offered_tools(uploads=True, lends=True).values():
        Draft202012Validator.check_schema(spec.schema)
        assert set(spec.schema["required"]) <= set(spec.schema["properties"])
        for form in spec.forms:
            assert set(form.model_fields) - {"kind"} <= set(spec.schema["properties"])


def test_settings_for_clients_are_what_they_read() -> None:
    options = ["--allow-host", "a.example", "--profile", "shopping", "--supervise"]
    printed = client_settings(
        ["mcp", "--print-config", *options],
        is_http=False,
        port=0,
        token_variable="TOKEN",
        command=["/bin/vision-agent"],
    )
    blocks = re.findall(r"^\{$.*?^\}$", printed, re.MULTILINE | re.DOTALL)
    local = {"command": "/bin/vision-agent", "args": ["mcp", *options]}
    assert json.loads(blocks[0]) == {"mcpServers": {"vision-agent": local}}
    assert json.loads(blocks[1]) == {"servers": {"vision-agent": {"type": "stdio", **local}}}
    codex = tomllib.loads(printed.rpartition("# Codex, in ~/.codex/config.toml\n")[2])
    assert codex == {"mcp_servers": {"vision-agent": local}}


def test_settings_for_clients_have_a_place_for_each_variable_and_never_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "hunter-4711")
    for each in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(each, raising=False)
    env = {"SHOP_PASSWORD": "<SHOP_PASSWORD>", "ANTHROPIC_API_KEY": "<ANTHROPIC_API_KEY>"}
    secret = ["--secret", "password=SHOP_PASSWORD", "--secret-origin", "password=https://shop.example"]

    printed = _printed(*secret, "--model", "claude-sonnet-5-5")

    assert "hunter-4711" not in printed
    blocks = re.findall(r"^\{$.*?^\}$", printed, re.MULTILINE | re.DOTALL)
    assert json.loads(blocks[0])["mcpServers"]["vision-agent"]["env"] == env
    assert json.loads(blocks[1])["servers"]["vision-agent"]["env"] == env
    codex = tomllib.loads(printed.rpartition("# Codex, in ~/.codex/config.toml\n")[2])
    assert codex["mcp_servers"]["vision-agent"]["env"] == env
    added = next(line for line in printed.split("\n") if line.startswith("claude mcp add"))
    assert shlex.split(added)[3:7] == ["--env", *(f"{name}={value}" for name, value in env.items()), "--transport"]
    assert "SHOP_PASSWORD=… " in _printed(*secret, "--http")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--secret", "pin=SHOP_PIN"], "The secret pin has no origin"),
        (["--secret", "pin=SHOP_PIN", "--secret-origin", "pin=shop example"], "names no origin"),
        (["--profile", __file__], "is a file"),
        (["--file", "no-such-file.txt"], "There is no file no-such-file.txt"),
    ],
)
def test_settings_for_clients_are_refused_where_the_server_would_not_start(options: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _printed(*options)


def test_a_placeholder_that_nobody_replaced_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PIN", "<SHOP_PIN>")
    with pytest.raises(UsageError, match="SHOP_PIN is <SHOP_PIN>, which stands for its value"):
        secrets_of(["pin=SHOP_PIN"])


def _printed(*options: str) -> str:
    """What `vision-agent mcp --print-config` prints with these options."""
    arguments = ["mcp", *options, "--print-config"]
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, VisionAgentError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output
