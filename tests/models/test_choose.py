from __future__ import annotations

import subprocess
import sys

import pytest
from seen import mark, seen, unchanged

from vision_agent.errors import UsageError
from vision_agent.models.anthropic import AnthropicModel
from vision_agent.models.choose import model_named
from vision_agent.models.human import HumanModel
from vision_agent.models.steps import StepsModel
from vision_agent.settings import ModelSettings
from vision_agent.types import Task


def named(name, **more):
    return model_named(name, settings=ModelSettings(), redact=unchanged, **more)


async def test_a_name_gives_its_decider():
    claude = named("anthropic:claude-opus-5-5")
    assert isinstance(claude, AnthropicModel)
    assert claude.name == "claude-opus-5-5"
    await claude.aclose()
    assert isinstance(named("steps", lines=["finish"]), StepsModel)
    assert isinstance(named("human"), HumanModel)


async def test_a_person_is_shown_no_secret_that_a_page_tells(capsys):
    shy = model_named("human", settings=ModelSettings(), redact=lambda text: text.replace("hunter2", "<secret:pw>"))
    await shy.decide(Task(goal="Look."), (), seen(mark(1, "You typed hunter2")))
    shown = capsys.readouterr().out
    assert "You typed <secret:pw>" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpt", "called 'gpt'.*anthropic:<model>, steps, human"),
        ("", "called ''.*known are"),
        ("openai:gpt-5", "called 'openai:gpt-5'"),
        ("anthropic", "does not say which model"),
        ("anthropic:", "does not say which model"),
        ("steps", "there are none"),
        ("steps:x", "called 'steps:x'"),
    ],
)
def test_an_unknown_name_lists_what_is_known(name, says):
    with pytest.raises(UsageError, match=says):
        named(name)


def test_without_a_model_no_client_is_imported():
    program = (
        "import sys; from vision_agent.models.choose import model_named; "
        "from vision_agent.models.scripted import ScriptedModel; from vision_agent.settings import ModelSettings; "
        "model_named('steps', settings=ModelSettings(), redact=str, lines=['finish']); "
        "print('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
