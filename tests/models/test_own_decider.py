"""Claims about deciders that are named by their module and class."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ready_python import python
from vision_agent.cli.main import app
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.models.own_decider import is_own_decider, own_decider
from vision_agent.ports import Model

DECIDER = """
from vision_agent.errors import FormatError
from vision_agent.ports import Model

class Climber(Model):
    name = "climber"

    async def decide(self, task, steps, observation, *, complaint=""):
        raise NotImplementedError

class Falls(Model):
    name = "falls"

    async def decide(self, task, steps, observation, *, complaint=""):
        return {}["stairs"]

class Mumbles(Model):
    name = "mumbles"

    async def decide(self, task, steps, observation, *, complaint=""):
        raise FormatError("It mumbles.")

class Plain:
    pass

class Needs:
    def __init__(self, stairs):
        pass

ready = Climber()
"""
MODULES = {
    "own_climber.py": DECIDER,
    "own_torn.py": "def (",
    "own_lacks.py": "import no_such_library_here",
    "own_leaves.py": "raise SystemExit(3)",
}
WRONG = [
    ("own_nowhere:Climber", "Unknown model 'own_nowhere:Climber': there is no module own_nowhere in"),
    ("anthropc:claude", "did you mean anthropic:claude?"),
    ("own_climber:Climbr", r"own_climber\.py has no Climbr"),
    ("own_climber:Plain", r"own_climber:Plain is no decider: it has no decide\(\)"),
    ("own_climber:Needs", "cannot be made: TypeError: .*stairs"),
    ("own_torn:Climber", "own_torn:Climber cannot be loaded: SyntaxError"),
    ("own_lacks:Climber", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_library_here'"),
    ("own_leaves:Climber", "cannot be loaded: SystemExit: 3"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with modules in it."""
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in [each for each in sys.modules if each.startswith("own_")]:
        del sys.modules[name]


@pytest.mark.usefixtures("here")
def test_a_class_makes_a_new_decider_each_time_and_an_object_is_the_decider() -> None:
    make = own_decider("own_climber:Climber")
    assert isinstance(make(), Model)
    assert make() is not make()
    ready = own_decider("own_climber:ready")
    assert ready() is ready()


@pytest.mark.parametrize(("name", "said"), WRONG, ids=[name for name, _ in WRONG])
@pytest.mark.parametrize("command", [["run", "shop.example", "Buy"], ["eval", "fixtures"]], ids=["run", "eval"])
def test_a_decider_that_cannot_be_loaded_is_told_and_nothing_is_left(
    command: list[str], name: str, said: str, here: Path
) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        app([*command, "--model", name], standalone_mode=False)
    assert raised.value.exit_code == 2
    assert {each.name for each in here.iterdir()} == set(MODULES)


def run_with(decider: str, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A run of the command line with this decider, on a page with one button."""
    (cwd / "stairs.html").write_text("<title>Stairs</title><button>Up</button>", "utf-8")
    command = [python(), "-m", "vision_agent", "run", "stairs.html", "Climb", "--model", decider, *options]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def test_replies_that_stay_unusable_are_complained_about_once_and_no_higher_limit_is_advised(here: Path) -> None:
    done = run_with("own_climber:Mumbles", cwd=here)
    assert done.returncode == 3
    assert done.stderr.count("It mumbles") == 1
    [advice] = [line for line in done.stderr.splitlines() if line.strip().startswith("go on")]
    assert "higher" not in advice
    assert advice.endswith("must answer is in the guide own-model-server")
    assert "--url stairs.html" in advice  # a record opens no files by itself


def test_an_error_of_a_decider_ends_the_run_with_code_2_and_shows_where_it_is(here: Path) -> None:
    done = run_with("own_climber:Falls", "--json", cwd=here)
    said = json.loads(done.stdout)
    assert (said["status"], said["sentence"]) == ("error", "The decider failed: KeyError: 'stairs'")
    assert done.returncode == said["exit_code"] == 2
    lines = done.stderr.splitlines()
    assert any("own_climber.py" in line and line.endswith("in decide") for line in lines)
    assert "vision_agent" not in "".join(line for line in lines if line.strip().startswith("File "))
    assert lines[-1] == "vision-agent: the decider in own_climber.py failed, where the traceback says."


@pytest.mark.usefixtures("here")
def test_a_settings_file_cannot_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISION_AGENT_MODEL__NAME", "own_climber:Climber")
    with pytest.raises(VisionAgentError, match="Unknown model 'own_climber:Climber'"):
        app(["run", "shop.example", "Buy"], standalone_mode=False)
    assert "own_climber" not in sys.modules


@pytest.mark.usefixtures("here")
def test_workers_elsewhere_get_none_of_them() -> None:
    with pytest.raises(UsageError, match="The decider own_climber:Climber runs only on this machine"):
        app(["eval", "fixtures", "--model", "own_climber:Climber", "--ray", "local"], standalone_mode=False)


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("climber:Climber", True),
        ("deciders.climber:Climber", True),
        ("openai:gpt5", False),
        ("anthropic:claude-sonnet-5-5", False),
        ("climber", False),
        ("C:climber.py", False),
        ("a-b:Climber", False),
    ],
)
def test_a_provider_is_never_a_module(name: str, is_own: bool) -> None:
    assert is_own_decider(name) is is_own
