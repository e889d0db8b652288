from __future__ import annotations

import subprocess
import sys

import pytest
from seen import mark, seen, unchanged

from vision_agent import Agent
from vision_agent.errors import UsageError
from vision_agent.models.factory import make_model
from vision_agent.models.llm.anthropic import AnthropicModel
from vision_agent.models.offline.human import HumanModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import ModelSettings
from vision_agent.types import Task


def named(name, **more):
    return make_model(name, settings=ModelSettings(), redact=unchanged, **more)


async def test_a_name_gives_its_decider():
    claude = named("anthropic:claude-opus-5-5")
    assert isinstance(claude, AnthropicModel)
    assert claude.name == "claude-opus-5-5"
    await claude.aclose()
    assert isinstance(named("steps", lines=["finish"]), StepsModel)
    assert isinstance(named("human"), HumanModel)


async def test_a_person_is_shown_no_secret_that_a_page_tells(capsys):
    shy = make_model("human", settings=ModelSettings(), redact=lambda text: text.replace("hunter2", "<secret:pw>"))
    await shy.decide(Task(goal="Look."), (), seen(mark(1, "You typed hunter2")))
    shown = capsys.readouterr().out
    assert "You typed <secret:pw>" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "gpt",
            "'gpt'.*anthropic:<model>, openai:<model>, google:<model>, openai-compatible:<model>, steps, human",
        ),
        ("", "Unknown model ''.*known are"),
        ("oracle:delphi", "Unknown model 'oracle:delphi'"),
        ("openai", "names no model.*such as openai:"),
        ("google:", "names no model.*such as google:"),
        ("openai-compatible", "names no model.*such as openai-compatible:"),
        ("anthropic", "names no model"),
        ("anthropic:", "names no model"),
        ("steps", "needs step lines"),
        ("steps:x", "Unknown model 'steps:x'"),
        ("gtp-5.4", r"Unknown model 'gtp-5.4' \(did you mean gpt-5.4\? known are"),
        ("cluade-sonnet-5-5", r"did you mean claude-sonnet-5-5\?"),
        ("antropic:claude-x", r"Unknown model 'antropic:claude-x' \(did you mean anthropic:claude-x\? known are"),
        ("humam", "did you mean human"),
    ],
)
def test_an_unknown_name_lists_what_is_known(name, says):
    with pytest.raises(UsageError, match=says):
        named(name)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("gpt-5.4", "openai:gpt-5.4"),
        ("gemini-3-pro", "google:gemini-3-pro"),
        ("openai-compatible:gpt-oss", "openai-compatible:gpt-oss"),
        ("human", "human"),
    ],
)
def test_a_model_whose_name_tells_its_provider_needs_no_more(short, full):
    assert ModelSettings(name=short, fallback=short).name == full
    assert ModelSettings(name="human", fallback=short, judge="same").fallback == full
    assert Agent("Look", url="shop.example", model=short).decides == full


def test_a_name_without_a_dash_tells_no_provider():
    assert ModelSettings(name="gpt").name == "gpt"


def test_claude_says_where_in_pixels_and_in_nothing_else():
    with pytest.raises(UsageError, match="in pixels, not in thousandths"):
        make_model("anthropic:m", settings=ModelSettings(coordinates="thousandths"), redact=unchanged)


@pytest.mark.parametrize("name", ["openai:gpt-5.4", "google:gemini-3-pro-preview", "openai-compatible:m"])
def test_without_the_extra_it_is_said_what_to_install(name):
    program = (
        "import sys; sys.modules['pydantic_ai'] = None; "  # as if it were not there
        "from vision_agent.errors import UsageError; from vision_agent.models.factory import make_model; "
        "from vision_agent.settings import ModelSettings\n"
        "try: make_model(sys.argv[1], settings=ModelSettings(), redact=str)\n"
        "except UsageError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, name], capture_output=True, text=True, timeout=150, check=True
    )
    assert f"{name} needs pydantic-ai, which cannot be imported" in done.stdout
    assert "pip install 'vision-agent[providers]'" in done.stdout


def test_without_a_model_no_client_is_imported():
    program = (
        "import sys; from vision_agent.models.factory import make_model; "
        "from vision_agent.models.offline.scripted import ScriptedModel; "
        "from vision_agent.settings import ModelSettings; "
        "make_model('steps', settings=ModelSettings(), redact=str, lines=['finish']); "
        "print({'anthropic', 'pydantic_ai', 'openai', 'google.genai'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=150, check=True)
    assert done.stdout.strip() == "set()"
