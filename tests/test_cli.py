"""Claims about the command line, each tested in a real process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from tests.conftest import hear_signals
from tests.ready_python import python
from vision_agent.cli.main import app
from vision_agent.cli.options import LimitOptions, bound_to_origins, files_in, secrets_of
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.settings import load
from vision_agent.types import Secret

HEAVY = {"anthropic", "cv2", "numpy", "PIL", "playwright", "jinja2", "uvicorn", "vision_agent.types"}


def vision_agent(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python(), "-m", "vision_agent", *args],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], *([each, "--help"] for each in ("run", "marks", "replay", "eval", "compare"))]
)
def test_help_loads_no_browser_no_model_and_no_pixels(args: list[str]) -> None:
    script = (
        f"import sys; sys.argv[1:] = {args!r}\n"
        "from vision_agent.cli.main import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=True)
    assert done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["ui", "lately"], "ui takes options only, and 'lately' is none (vision-agent ui --help shows them)"),
        (["ui", "."], "ui takes options only, and '.' is a folder (for its runs: vision-agent ui --runs .)"),
        (["doctor", "now"], "doctor takes options only, and 'now' is none (vision-agent doctor --help shows them)"),
    ],
)
def test_a_word_that_a_command_does_not_take_is_named_in_one_sentence(args: list[str], told: str) -> None:
    with pytest.raises(UsageError) as error:
        app(args, standalone_mode=False)
    assert str(error.value) == told


def test_every_command_is_in_the_help() -> None:
    shown = vision_agent("--help").stdout
    assert all(command in shown for command in ("run", "marks", "replay", "diff", "memory", "setup", "eval", "compare"))


def test_help_says_in_words_what_options_take_and_not_by_the_types_of_python() -> None:
    every = [
        "run",
        "demo",
        "marks",
        "record",
        "login",
        "replay",
        "resume",
        "diff",
        "runs",
        "runs rm",
        "report",
        "verify",
    ]
    every += ["export", "import", "freeze", "memory add", "memory list", "eval SUITE", "eval perception", "doctor"]
    every += ["eval security", "compare", "mcp", "ui", "trust", "sessions rm"]
    script = "\n".join(
        [
            "from vision_agent.cli.main import app",
            f"for each in {every!r}:",
            "    try: app([*each.split(), '--help'])",
            "    except SystemExit: pass",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.count("--help") >= len(every)
    assert not re.findall(r"<(?!provider>|model>)\w[^<>\n]*>|list\[", done.stdout)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("run page.html --approve ", ["never", "risky", "always"]),
        ("run page.html --model op", ["openai:gpt-5.4", "openai-compatible:qwen3-vl-8b"]),
        ("run page.html --model h", ["human"]),
        ("run page.html --judge s", ["same"]),
        ("run page.html --session s", ["shop"]),
        ("export latest --to p", ["pytest"]),
        ("report ", ["latest", "on-monday", "on-friday"]),
        ("diff latest on-m", ["on-monday"]),
        ("report --runs elsewhere ", []),  # there is none: the shell offers files
        ("re", ["record", "report", "replay", "resume"]),
    ],
)
def test_the_shell_offers_choices_models_sign_ins_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, offered: list[str]
) -> None:
    for name in ("on-friday", "on-monday"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "steps.jsonl").touch()
    sign_ins = tmp_path / "sign-ins"
    sign_ins.mkdir()
    kept = {"version": 1, "key": "passphrase", "salt": "AA==", "saved_at": "2026-11-01T10:00:00Z", "state": "AA=="}
    (sign_ins / "shop.session").write_text(json.dumps(kept))
    monkeypatch.chdir(tmp_path)
    words = f"vision-agent {typed}"
    places = {"VISION_AGENT_RUNS": "runs", "VISION_AGENT_BROWSER__SESSIONS_FOLDER": str(sign_ins)}
    asked = {"_VISION_AGENT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = CliRunner().invoke(app, [], prog_name="vision-agent", env={**places, **asked})
    assert done.stdout.split() == offered


def test_the_script_for_the_shell_is_that_of_the_command_also_where_python_runs_the_module() -> None:
    script = vision_agent(_VISION_AGENT_COMPLETE="source_bash").stdout
    assert script.rstrip().endswith("-F _vision_agent_completion vision-agent")


def test_sentences_of_the_help_are_wrapped_where_the_terminal_ends_and_nowhere_else() -> None:
    lines = [line.strip() for line in vision_agent("login", "--help", COLUMNS="80").stdout.splitlines()]
    begin = lines.index("Nothing is recorded, and no model sees the window. The key of the saved")
    end = lines.index("", begin)
    words = " ".join(lines[begin:end]).split()
    assert lines[begin:end] == textwrap.wrap(" ".join(words), 78, break_on_hyphens=False)
    listed = vision_agent("export", "--help", COLUMNS="80").stdout
    assert "\n steps: step lines that repeat it" in listed  # a list stays one


@pytest.mark.parametrize("args", [["dance"], ["doctor", "--dance"], ["run"]])
def test_a_wrong_command_line_is_a_usage_error(args: list[str]) -> None:
    assert vision_agent(*args).returncode == 2


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--max-steps", "0"),
        ("--max-cost", "-1"),
        ("--max-spend", "lots"),
        ("--max-downloads", "-1"),
        ("--dialect", "spoken"),
        ("--history", "all"),
        ("--ablate", "eyes"),
        ("--approve", "sometimes"),
        ("--viewport", "1x1"),
        ("--cdp", "file:///etc/passwd"),
        ("--base-url", "127.0.0.1:8000/v1"),
        ("--max-tokens", "0"),
        ("--proxy", "the proxy:three"),
        ("--browser", "no-such-chrome"),
        ("--storage-state", "no-such-state.json"),
        ("--policy", "no-such-policy.toml"),
    ],
)
def test_a_wrong_value_is_blamed_on_its_flag_and_leaves_no_run_folder(flag: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(VisionAgentError) as raised:
        app(
            ["run", "shop.example", "Buy", "--model=human", f"--runs={tmp_path}", f"{flag}={value}"],
            standalone_mode=False,
        )
    said = str(raised.value)
    assert flag in said or value in said or flag.removeprefix("--") in said
    assert "toml and VISION_AGENT" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_value_from_elsewhere_is_not_blamed_on_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISION_AGENT_LIMITS__SECONDS", "-1")
    with pytest.raises(UsageError, match=r"limits\.steps.*limits\.seconds|limits\.seconds.*limits\.steps"):
        app(["run", "shop.example", "Buy", "--max-steps=0"], standalone_mode=False)


def test_the_help_shows_choices_in_panels_and_no_type_for_a_switch() -> None:
    shown = vision_agent("run", "--help").stdout
    assert "never|risky|always" in shown
    assert "What needs approval; default: never, so nobody is asked" in shown
    assert "<bool>" not in shown
    assert all(f"─ {panel} ─" in shown for panel in ("Who decides", "Task", "Limits", "Browser", "Approval"))


@pytest.mark.parametrize(
    "command",
    [
        ["verify"],
        ["report"],
        ["diff", "no-such-run"],
        ["replay"],
        ["resume"],
        ["export", "--to=cere", "--out=new"],
        ["memory", "add"],
        ["runs", "rm", "--yes"],
    ],
    ids=" ".join,
)
def test_a_run_folder_that_is_not_there_leaves_with_2_in_every_command(command: list[str], tmp_path: Path) -> None:
    with pytest.raises(VisionAgentError, match="no-such-run") as raised:
        app([*command, str(tmp_path / "no-such-run")], standalone_mode=False)
    assert raised.value.exit_code == 2
    assert "run folder" in str(raised.value)


def test_an_unknown_export_format_is_named_before_the_file_that_is_missing(tmp_path: Path) -> None:
    done = vision_agent("export", str(tmp_path), "--to", "pytset")
    assert done.returncode == 2
    assert "Unknown export format --to 'pytset' (known are pytest, steps" in done.stderr


def test_a_setting_that_does_not_fit_is_named_in_one_line() -> None:
    done = vision_agent("doctor", VISION_AGENT_BROWSER__HEADLESS="perhaps")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("vision-agent: The settings are invalid: browser.headless")


def test_doctor_prints_what_it_found_as_json() -> None:
    done = vision_agent("doctor", "--json", ANTHROPIC_API_KEY="sk-ant-only-a-test")
    assert done.returncode == 0
    (model,) = json.loads(done.stdout)["models"]
    assert (model["is_ready"], model["sentence"]) == (True, "ANTHROPIC_API_KEY is set")
    assert "sk-ant-only-a-test" not in done.stdout + done.stderr


def test_doctor_without_a_browser_leaves_with_5_and_says_what_would_help(tmp_path: Path) -> None:
    done = vision_agent("doctor", "--browser", str(tmp_path / "chrome"))
    assert done.returncode == 5
    assert f"there is no file {tmp_path / 'chrome'}" in done.stdout
    assert "playwright install chromium" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal")
def test_ctrl_c_leaves_with_130_and_no_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as never_answers:
        address = f"http://127.0.0.1:{never_answers.getsockname()[1]}"
        process = subprocess.Popen(
            [python(), "-m", "vision_agent", "doctor", "--cdp", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear_signals,
        )
        never_answers.settimeout(30)
        connection, _ = never_answers.accept()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=150)
        connection.close()
    assert process.returncode == 130
    assert "Traceback" not in said


def test_ctrl_c_while_the_command_line_is_being_loaded_leaves_with_130_and_a_sentence() -> None:
    script = """
import runpy, signal, sys
class Presses:
    def find_spec(self, name, path=None, target=None):
        if name == "vision_agent.cli.options":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Presses())
runpy.run_module("vision_agent", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, preexec_fn=hear_signals)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "vision-agent: interrupted before it began; nothing was done.\n"


PAGE = "<title>Notes</title><label>Note <input></label><button onclick=\"this.textContent='Saved'\">Save</button>"


def test_marks_writes_four_files_prints_the_listing_and_knows_no_model(serve: Any, tmp_path: Path) -> None:
    url = serve({"/": PAGE})
    script = (
        f"import sys; sys.argv[1:] = ['marks', {url!r}, '--out', {str(tmp_path)!r}]\n"
        "from vision_agent.cli.main import main\n"
        "try: main()\n"
        "finally: print('anthropic' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=True)

    assert done.stdout == "1[:]<input>Note\n2[:]<button>Save\n"
    assert done.stderr.splitlines()[-1] == "False"
    assert (tmp_path / "listing.txt").read_text("utf-8") == done.stdout
    assert [mark["name"] for mark in json.loads((tmp_path / "marks.json").read_bytes())["marks"]] == ["Note", "Save"]
    pictures = [(tmp_path / name).read_bytes() for name in ("clean.png", "marked.png")]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert pictures[0] != pictures[1]


def test_a_run_by_lines_says_as_json_where_it_can_be_read(serve: Any, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text('type "milk" into Note\nclick Save\nfinish Noted\n', "utf-8")
    url = serve({"/": PAGE})

    run = ["run", url, "--steps", str(lines), "--runs", str(tmp_path / "runs"), "--name", "first", "--json"]
    run += ["--allow-host", "127.0.0.1, other.example", "--max-tokens=9000", "--base-url=http://127.0.0.1:9/v1"]

    done = vision_agent(*run)
    again = vision_agent(*run)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["status"], said["answer"], said["exit_code"]) == ("done", "Noted", 0)
    assert Path(said["run"]) == tmp_path / "runs" / "first"
    assert (again.returncode, "already exists (give the run another --name" in again.stderr) == (2, True)
    given = json.loads((Path(said["run"]) / "run.json").read_text("utf-8"))
    assert given["task"]["allowed_hosts"] == ["127.0.0.1", "other.example"]
    assert given["task"]["limits"]["tokens"] == 9000
    assert given["provenance"]["settings"]["model"]["base_url"] == "http://127.0.0.1:9"
    assert (said["steps_taken"], said["tokens"], said["cost_usd"]) == (3, 0, 0.0)
    assert said["seconds"] > 0
    assert Path(said["report"]).is_file()
    assert 'Typed \\"milk\\" into mark 1' in (Path(said["run"]) / "steps.jsonl").read_text("utf-8")


def test_a_run_that_could_not_go_on_says_that_its_page_was_an_error_and_has_no_answer(
    serve: Any, tmp_path: Path
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("click Save\n", "utf-8")
    url = serve({"/": PAGE}) + "/none"

    done = vision_agent("run", url, "--steps", str(lines), "--runs", str(tmp_path / "runs"), "--json")

    said = json.loads(done.stdout)
    assert (said["status"], said["answer"]) == ("not_done", None)
    assert "there is no mark with a name" in said["sentence"]
    assert said["sentence"].endswith("The page answered 404 Not Found.")
    assert "      The page answered 404 Not Found" in done.stderr


ECHO = """<title>Echo</title><label>Code <input id=code></label>
<button onclick="alert('It is ' + code.value)">Send</button>"""


@pytest.mark.parametrize("more", [[], pytest.param(["--json"], marks=pytest.mark.thorough)])
def test_a_secret_that_a_page_tells_is_not_on_the_terminal(more: list[str], serve: Any, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text('type "<secret:code>" into Code\nclick Send\nclick HUNTER2SECRET\n', "utf-8")
    url = serve({"/": ECHO})

    run = ["run", url, "--steps", str(lines), "--secret", "code=CODE", "--runs", str(tmp_path / "runs"), *more]
    done = vision_agent(*run, CODE="HUNTER2SECRET")

    assert done.returncode == 1
    assert "HUNTER2SECRET" not in done.stdout + done.stderr
    assert "'click <secret:code>', could not be carried out" in done.stdout
    assert "It is <secret:code>" in done.stderr


def test_a_replay_makes_a_one_time_code_of_the_key_that_it_is_given_again(serve: Any, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text('type "<secret:otp>" into Code\nfinish\n', "utf-8")
    runs, key = ("--runs", str(tmp_path / "runs")), "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP"
    run = ("run", serve({"/": ECHO}), "--steps", str(lines), "--name", "one", *runs)
    assert vision_agent(*run, "--code", "otp=KEY", KEY=key).returncode == 0

    for option, value in (("--code", key), ("--secret", "JBSWY3DPEHPK3PXP")):
        again = vision_agent("replay", str(tmp_path / "runs" / "one"), *runs, option, "otp=KEY", KEY=value)
        assert (again.returncode, again.stdout) == (0, "The task is done.\n"), again.stderr


def test_a_secret_is_typed_only_on_the_origins_that_are_named_for_it(serve: Any, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text('type "<secret:code>" into Code\nfinish\n', "utf-8")
    url = serve({"/": ECHO})

    def run(*origins: str) -> subprocess.CompletedProcess[str]:
        bound = [each for origin in origins for each in ("--secret-origin", f"code={origin}")]
        secret = ["--secret", "code=CODE", *bound]
        return vision_agent("run", url, "--steps", str(lines), *secret, "--runs", str(tmp_path / "runs"), CODE="77182")

    assert run("https://shop.example,https://pay.example", url.rstrip("/")).returncode == 0
    elsewhere = run("https://shop.example", "https://pay.example")
    assert elsewhere.returncode == 1
    assert "may not be typed on" in elsewhere.stdout
    assert "it is for https://shop.example, https://pay.example" in elsewhere.stdout


NAMED = (Secret(name="pin", value=SecretStr("77182"), origins=("https://old.example",)),)


@pytest.mark.parametrize(
    ("given", "origins"),
    [
        (None, ("https://old.example",)),
        (["pin=https://shop.example"], ("https://shop.example",)),
        (["pin=http://127.0.0.1:8000/, *.shop.example"], ("http://127.0.0.1:8000/", "*.shop.example")),
        (["pin=https://*.shop.example", "pin=http://[::1]:81"], ("https://*.shop.example", "http://[::1]:81")),
    ],
)
def test_origins_of_a_secret_are_repeated_or_separated_by_commas(
    given: list[str] | None, origins: tuple[str, ...]
) -> None:
    assert bound_to_origins(NAMED, given)[0].origins == origins


@pytest.mark.parametrize(
    "origin",
    [
        *("htps://shop.example", "ftp://shop.example", "https://", "https://shop.example/login", "*", "https://*"),
        *("https://ann@shop.example", "https://shop.example?a=1", "https://shop.example:99999", "shop example", ","),
        "https://shop.example,pay/now",
    ],
)
def test_what_is_no_origin_is_refused_with_an_example(origin: str) -> None:
    with pytest.raises(UsageError, match="names no origin") as refused:
        bound_to_origins(NAMED, [f"pin={origin}"])
    assert "https://shop.example" in refused.value.hint


def test_a_run_that_cannot_begin_says_so_in_json_too(closed_port: int, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("finish\n", "utf-8")
    url = f"http://127.0.0.1:{closed_port}/"

    done = vision_agent("run", url, "--steps", str(lines), "--runs", str(tmp_path / "runs"), "--json")

    assert done.returncode == json.loads(done.stdout)["exit_code"] == 5
    assert "could not be opened" in done.stderr
    assert "(net::ERR_CONNECTION_REFUSED) (is the address right" in done.stderr


@pytest.mark.parametrize("command", [["marks"], ["run", "--steps", "lines.txt"]])
def test_a_file_that_is_not_there_is_not_taken_for_a_host(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text("finish", "utf-8")
    more = ["--out", "look"] if command == ["marks"] else []

    done = vision_agent(*command, "no-such-page.html", *more)

    assert done.returncode == 2, done.stderr
    assert "There is no file no-such-page.html here (is its path right? An address begins with https://)" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["lines.txt"]


@pytest.mark.parametrize("address", ["http://exa mple", "http://", "https://example.org:99999/"])
def test_what_is_no_address_is_said_before_a_browser_starts(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text("finish", "utf-8")
    with pytest.raises(UsageError, match=r"is not an address that can be opened .*like https://example\.org"):
        app(["run", address, "--steps", "lines.txt"], standalone_mode=False)
    assert [each.name for each in tmp_path.iterdir()] == ["lines.txt"]


def test_a_key_of_one_time_codes_is_not_taken_for_a_text_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP")
    with pytest.raises(UsageError, match=r"SHOP_KEY holds the key of one-time codes.*--code otp=SHOP_KEY"):
        secrets_of(["otp=SHOP_KEY"])
    assert secrets_of(["otp=SHOP_KEY"], "--code", is_code=True)[0].is_code


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([], "There is no goal"),
        (["Save", "--model", "oracle"], "Unknown model 'oracle'"),
        pytest.param(
            ["Save", "--viewport", "wide"], "--viewport 'wide' is not of the form 1280x800", marks=pytest.mark.thorough
        ),
        pytest.param(
            ["Save", "--secret", "pin=NO_SUCH_VARIABLE"],
            "NO_SUCH_VARIABLE, which is not set",
            marks=pytest.mark.thorough,
        ),
        (["Save", "--secret", "password"], "--secret 'password' is not of the form name=VARIABLE (VARIABLE is the"),
        pytest.param(
            ["Save", "--code", "otp="], "--code 'otp=' is not of the form name=VARIABLE", marks=pytest.mark.thorough
        ),
        (["Save", "--secret-origin", "pin=https://shop.example"], "--secret-origin names pin, which is not a secret"),
        (
            ["Save", "--private", "phone"],
            "--private 'phone' names no kind of private data; the kinds are card, iban, national-id",
        ),
        pytest.param(
            ["Save", "--data", "name"], "--data 'name' is not of the form name=value", marks=pytest.mark.thorough
        ),
        (["Save", "--ablate", "marks,colours"], "--ablate takes picture, marks, listing"),
        (["Save", "--approve", "riksy"], "--approve takes never, risky or always; did you mean risky?"),
        (["Save", "--max-steps", "many"], "it takes a whole number, such as 10"),
        (["Save", "--max-cost", "50c"], "it takes US dollars, such as 0.50"),
        pytest.param(
            ["Save", "--expect", "title=Thanks"],
            "begin it with url=, text=, mark=, download=",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ["Save", "--model", "human", "--begin", "no-such-run:3"],
            "There is no run folder no-such-run",
            marks=pytest.mark.thorough,
        ),
        (["Save", "--steps", "/dev/null"], "/dev/null has no step line"),
        (["Save", "--output-schema", "/dev/null"], "--output-schema /dev/null cannot be read"),
        (["Save", "--steps", "no-such-file"], "The step lines in no-such-file cannot be read: there is no such file\n"),
        (["Save", "--policy", "no-such-file"], "The policy no-such-file cannot be read: there is no such file ("),
        (["Save", "--expect", ""], "begin it with url=, text=, mark=, download=, or write a text that must show"),
    ],
)
def test_a_run_that_makes_no_sense_is_a_usage_error_with_a_sentence(
    more: list[str], sentence: str, tmp_path: Path
) -> None:
    done = vision_agent("run", "http://127.0.0.1/", *more, "--runs", str(tmp_path))
    assert done.returncode == 2
    assert sentence in done.stderr


@pytest.mark.parametrize(("fact", "is_refused"), [("product=mug", True), ("colour=red", False)])
def test_a_fact_in_braces_in_a_step_line_is_refused_without_a_table(
    fact: str, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text('type "{product}" into Search\nfinish', "utf-8")
    words = ["run", "http://127.0.0.1/", "--steps", "lines.txt", "--data", fact, "--expect", ""]
    with pytest.raises(UsageError) as caught:
        app(words, standalone_mode=False)
    assert ("has {product}, which only --over fills in (write the value into the" in str(caught.value)) == is_refused


CROWDED = """<style>body { margin: 0; line-height: 0 } button { width: 14px; height: 14px; margin: 0; border: 0 }
div { width: 280px }</style><div></div><script>for (let n = 1; n <= 400; n++) {
const button = document.createElement('button'); button.ariaLabel = `S${n}`;
document.querySelector('div').append(button);
}</script>"""


@pytest.mark.parametrize(("zoom", "first"), [("0,0,140,90", "1[:]<button>S1"), ("400", "400[:]<button>S400")])
def test_small_marks_that_touch_can_be_looked_at_closer(tmp_path: Path, zoom: str, first: str) -> None:
    (tmp_path / "page.html").write_text(CROWDED, "utf-8")
    done = vision_agent("marks", str(tmp_path / "page.html"), "--out", str(tmp_path / "look"), "--zoom", zoom)
    assert done.returncode == 0, done.stderr
    assert first in done.stdout.splitlines()
    marks = json.loads((tmp_path / "look/marks.json").read_bytes())["marks"]
    assert 0 < len(marks) < 400


@pytest.mark.parametrize("how", [[], ["--json"], ["--zoom", "0,0,200,100"]])
def test_that_the_marks_are_those_of_an_error_page_is_said(serve: Any, tmp_path: Path, how: list[str]) -> None:
    done = vision_agent("marks", serve({"/": PAGE}) + "/none", "--out", str(tmp_path / "look"), *how)
    assert done.returncode == 0, done.stderr
    told = "vision-agent: The server answered 404 Not Found: these are the marks of its error page."
    assert done.stderr.splitlines().count(told) == 1
    assert "the page answered" not in done.stderr
    assert done.stdout


@pytest.mark.parametrize("zoom", ["S1", "0,0,140", "-1", ""])
def test_what_names_no_part_of_a_picture_is_refused_before_a_browser_starts(tmp_path: Path, zoom: str) -> None:
    with pytest.raises(UsageError, match="names no part of the picture"):
        app(["marks", "page.html", f"--zoom={zoom}", "--out", str(tmp_path / "look")], standalone_mode=False)


def test_a_part_that_the_page_does_not_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<button>Save</button>", "utf-8")
    done = vision_agent("marks", str(tmp_path / "page.html"), "--out", str(tmp_path / "look"), "--zoom", "7")
    assert done.returncode == 2
    assert "There is no mark 7; the page has marks 1 to 1 (or give two corners: --zoom 0,0,320,200)" in " ".join(
        done.stderr.split()
    )


@pytest.mark.thorough
def test_doctor_warns_of_two_packages_that_overwrite_each_other(tmp_path: Path) -> None:
    """A package counts as installed by what it leaves beside its files, so that is all that is left here."""
    installed = tmp_path / "opencv_python-4.11.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: opencv-python\nVersion: 4.11.0\n", "utf-8")
    done = vision_agent("doctor", "--json", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    (warning,) = [each for each in json.loads(done.stdout)["warnings"] if "opencv" in each]
    assert "opencv-python and opencv-python-headless are installed together" in warning


RISKY = "<title>Shop</title><button onclick='document.title = 1'>Pay now</button>"


@pytest.mark.thorough
def test_a_run_without_anybody_to_ask_does_nothing_risky_and_leaves_with_4(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("click Pay now\nfinish\n")
    (tmp_path / "policy.toml").write_text('risks = ["pay"]\n')
    where = ["--steps", str(tmp_path / "lines.txt"), "--runs", str(tmp_path / "runs")]
    policy = ["--policy", str(tmp_path / "policy.toml")]
    done = vision_agent("run", serve({"/": RISKY, "/favicon.ico": b""}), *where, *policy, "--json")
    assert done.returncode == 4, done.stderr
    assert "pay: it is called “Pay now”" in json.loads(done.stdout)["sentence"]


def test_a_run_is_resumed_with_its_policy_or_with_another_one(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("click Pay now\nfinish\n")
    (tmp_path / "pay.toml").write_text('risks = ["pay"]\n')
    (tmp_path / "delete.toml").write_text('risks = ["delete"]\n')
    steps = ["--steps", str(tmp_path / "lines.txt")]
    runs, policy = ["--runs", str(tmp_path / "runs")], ["--policy", str(tmp_path / "pay.toml")]
    done = vision_agent("run", serve({"/": RISKY, "/favicon.ico": b""}), *steps, *runs, *policy)
    assert done.returncode == 4, done.stderr
    assert "--policy" in done.stderr.partition("vision-agent resume")[2]
    again = ["resume", "latest", *runs, *steps, "--json"]
    assert vision_agent(*again, *policy).returncode == 4
    assert vision_agent(*again, "--policy", str(tmp_path / "delete.toml")).returncode == 0


def test_a_dry_run_says_what_would_be_done_and_leaves_with_0(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("hover Pay now\nclick Pay now\nfinish\n")
    where = ["--steps", str(tmp_path / "lines.txt"), "--runs", str(tmp_path / "runs")]
    done = vision_agent("run", serve({"/": RISKY, "/favicon.ico": b""}), *where, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "dry_run"
    assert "Next would be: Click [1] “Pay now” [pay: it is called “Pay now”]" in told["sentence"]
    assert "Dry run" in Path(told["report"]).read_text("utf-8")


@pytest.mark.thorough
def test_a_supervised_run_says_where_and_waits_for_the_person(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("click Pay now\nfinish\n")
    site = serve({"/": RISKY, "/favicon.ico": b""})
    command = [sys.executable, "-m", "vision_agent", "run", site, "--steps", str(tmp_path / "lines.txt")]
    process = subprocess.Popen(
        [*command, "--runs", str(tmp_path / "runs"), "--supervise"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = next(line for line in process.stderr if "Supervise it at" in line).split()[-1]
        base = address.partition("/?")[0]
        with httpx.Client(base_url=base, headers={"Origin": base}, timeout=150) as person:
            page = person.get(address)
            assert page.status_code == 200
            [person.headers["X-Supervision-Key"]] = re.findall(r'<meta name="key" content="([\w-]+)">', page.text)
            answered = 0
            with person.stream("GET", "/events") as events:
                for line in events.iter_lines():
                    state = json.loads(line.removeprefix("data: ") or "{}")
                    if state.get("asked") and state["asked"]["number"] > answered:
                        answered = state["asked"]["number"]
                        person.post("/reply", json={"proposal": answered, "kind": "approve"})
        out, err = process.communicate(timeout=150)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert answered == 2
    assert out == "The task is done.\n"
    assert "The run waits there for you before each step." in err
    assert "waiting for a person: click Pay now" in err


@pytest.mark.skipif(sys.platform == "win32", reason="it has no limit of file sizes")
@pytest.mark.parametrize("most_bytes", [60_000, 1_000, 6_000, 20_000])
def test_where_the_disk_is_full_json_says_the_code_that_the_program_exits_with(
    most_bytes: int, serve: Any, tmp_path: Path
) -> None:
    import resource

    lines = tmp_path / "lines.txt"
    lines.write_text('type "milk" into Note\nclick Save\nfinish Noted\n', "utf-8")
    run = ["run", serve({"/": PAGE}), "--steps", lines, "--runs", tmp_path / "runs", "--json"]
    done = subprocess.run(
        [sys.executable, "-B", "-m", "vision_agent", *run],  # a module that is compiled here would be cut, too
        capture_output=True,
        text=True,
        timeout=300,
        # The hard limit stays, so that nothing else is kept from writing by more than this.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY)),
    )
    assert done.returncode == 5, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    if done.stdout:
        told = json.loads(done.stdout)
        assert told["exit_code"] == done.returncode
        assert told.get("report") is None or Path(told["report"]).is_file()


def test_a_film_that_cannot_be_written_is_told_in_json_by_the_code_that_the_program_exits_with(
    serve: Any, tmp_path: Path
) -> None:
    lines, film = tmp_path / "lines.txt", tmp_path / "film.webm"
    lines.write_text("finish Noted\n", "utf-8")
    film.mkdir()
    run = ["run", serve({"/": PAGE}), "--steps", lines, "--runs", tmp_path / "runs", "--json", "--video", str(film)]
    done = vision_agent(*run)
    assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (2, 2), done.stderr
    film.rmdir()
    for supervision in ([], ["--supervise", "--approve", "never"]):
        done = vision_agent(*run, *supervision)
        assert (done.returncode, json.loads(done.stdout)["video"]) == (0, str(film)), done.stderr


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (
            [],
            5,
            "ANTHROPIC_API_KEY is not set; set it, or run without a model: --steps FILE or --model human",
        ),
        (["--model", "dance:x"], 2, "Unknown model 'dance:x': there is no module dance in"),
        (["--model", "openai-compatible:m"], 5, "no base_url is configured: give --base-url"),
        (["--model", "steps", "--allow-actions", "clik"], 2, "There is no action 'clik' to allow"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_before_a_browser_starts_and_leaves_no_folder(
    tmp_path: Path, given: list[str], code: int, said: str
) -> None:
    runs = tmp_path / "runs"
    no_keys = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "", "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    done = vision_agent(
        "run", "http://127.0.0.1:1/", "Find it", *given, "--runs", runs, PLAYWRIGHT_NODEJS_PATH="/nowhere", **no_keys
    )
    assert (done.returncode, runs.exists()) == (code, False), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("command", "status", "code", "said"),
    [
        (["run", "http://127.0.0.1:1/", "--steps", "lines.txt"], "error", 2, "clik"),
        (["run", "http://127.0.0.1:1/", "Find it", "--model", "openai-compatible:m"], "unavailable", 5, "no base_url"),
        (["replay", "no-such-run"], "error", 2, "no-such-run"),
        (["verify", "no-such-run"], "error", 2, "no-such-run"),
    ],
)
def test_an_error_before_anything_began_is_json_too(
    command: list[str], status: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text("clik Order\nfinish\n", "utf-8")
    done = vision_agent(*command, "--json")
    told = json.loads(done.stdout)
    assert (told["status"], told["exit_code"], told["answer"], done.returncode) == (status, code, None, code)
    assert said in told["sentence"]
    assert told["sentence"] in done.stderr


@pytest.mark.parametrize("amount", ["50", "-5 EUR", "50 SEK", "much"])
def test_a_limit_on_money_that_is_none_is_refused_in_a_sentence(amount: str) -> None:
    with pytest.raises(UsageError, match=f"limits.spend: '{amount}' is no amount of money: write it like 50 EUR"):
        load(limits=LimitOptions(max_spend=amount).limits)


def test_only_files_in_the_upload_folder_can_be_uploaded_and_no_link_leads_out_of_it(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    (papers / "deeper").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("no", "utf-8")
    (papers / "inside.txt").write_text("yes", "utf-8")
    (papers / "link.txt").symlink_to(tmp_path / "outside.txt")
    assert files_in(papers) == (papers / "inside.txt",)
    assert files_in(None) == ()
    with pytest.raises(UsageError, match="There is no folder"):
        files_in(tmp_path / "outside.txt")


def test_little_is_loaded_before_ctrl_c_ends_a_command_with_a_sentence() -> None:
    script = "import sys; before = {*sys.modules}; import vision_agent.__main__; print(*({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=True)
    assert {"asyncio", "importlib.abc", "re", "typing"}.isdisjoint(done.stdout.split())
