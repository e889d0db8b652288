"""Claims about our agent in BrowserGym's loop: what goes in, what comes out, and what the model is told of it."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsergym_builder import Thing, button, entry, observation
from browsergym_environment import NEEDED
from messages_server import Answer, MessagesServer, reply, saying

from vision_agent.actions import Action, Ask, Click, Finish
from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.evals.browsergym import BrowserGymAgent, BrowserGymAgentArgs
from vision_agent.evals.browsergym.look import Looks
from vision_agent.geometry import Box
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.settings import ObserveSettings
from vision_agent.types import Decision, Step, Task, Usage
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

ROOT = Path(__file__).parent.parent.parent
PAGE = (button("12", "Send"), entry("13", "Name", top=60))


class Told(Model):
    """Gives the decisions it was made with, and keeps what it was told."""

    name = "told"

    def __init__(self, *decisions: Sequence[Action] | FormatError) -> None:
        self._decisions = list(decisions)
        self.tasks: list[Task] = []
        self.steps: list[tuple[Step, ...]] = []
        self.complaints: list[str] = []

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        del observation
        self.tasks.append(task)
        self.steps.append(tuple(steps))
        self.complaints.append(complaint)
        given = self._decisions.pop(0)
        if isinstance(given, FormatError):
            raise given
        usage = Usage(input_tokens=100, output_tokens=5, cost_usd=None)
        return Decision(next_goal="Go on", actions=tuple(given), author="scripted", usage=usage)


@pytest.fixture(autouse=True)
def _settings_of_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def made() -> Iterator[Any]:
    agents: list[BrowserGymAgent] = []

    def make(told: Told | None = None, **args: Any) -> BrowserGymAgent:
        args.setdefault("model", "match")
        agents.append(BrowserGymAgent(BrowserGymAgentArgs(**args), make_model=(lambda: told) if told else None))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()


def test_the_arguments_are_hashable_equal_by_value_and_picklable() -> None:
    args = BrowserGymAgentArgs(model="match", steps=("click Send",))
    assert {args: 1}[pickle.loads(pickle.dumps(args))] == 1
    assert args.agent_name == "vision-agent-match"
    assert BrowserGymAgentArgs(model="match", agent_name="mine").agent_name == "mine"
    args.prepare()
    args.set_benchmark(object(), False)
    args.set_reproducibility_mode()
    args.close()


def test_arguments_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="max_steps is 0"):
        BrowserGymAgentArgs(max_steps=0)
    with pytest.raises(UsageError, match="Unknown model 'nobody'"):
        BrowserGymAgentArgs(model="nobody").make_agent()


def test_a_preprocessed_observation_holds_the_marked_picture_and_the_listing_and_no_live_thing(made: Any) -> None:
    obs = observation(*PAGE)
    kept = made().obs_preprocessor(obs)
    assert "dom_object" in obs
    assert not {"dom_object", "axtree_object"} & kept.keys()
    assert kept["marks_txt"].startswith("1[:]<button>Send\n2[:]<input>Name")
    assert kept["screenshot_som"].shape == obs["screenshot"].shape
    assert kept["screenshot_som"].dtype == np.uint8
    pickle.dumps(kept)


def test_a_decision_comes_out_as_a_call_with_its_thought_and_figures(made: Any) -> None:
    agent = made(Told([Click(target=1)]))
    said, info = agent.get_action(agent.obs_preprocessor(observation(*PAGE)))
    assert said == "click('12')"
    assert info["think"] == "Go on"
    assert info["stats"]["n_marks"] == 2
    assert info["stats"]["input_tokens"] == 100
    assert np.isnan(info["stats"]["cost_usd"])
    assert info["extra_info"]["actions"][0]["kind"] == "click"


def test_an_observation_may_come_as_it_is(made: Any) -> None:
    assert made(Told([Click(target=1)])).get_action(observation(*PAGE))[0] == "click('12')"


@pytest.mark.parametrize(
    ("later", "status", "refusal", "effect", "words"),
    [
        ({"shade": 240}, "done", None, "changed", "the page changed"),
        ({}, "done", None, "no_effect", "nothing visibly changed"),
        ({"url": "http://site.test/next"}, "done", None, "navigated", "the address changed"),
        ({"tabs": [("http://site.test/", "A"), ("http://b.test/", "B")]}, "done", None, "new_tab", "a new tab"),
        ({"error": 'ValueError: Could not find element with bid "12"'}, "refused", "gone", None, "Could not find"),
        ({"error": "TimeoutError: Timeout 500ms exceeded."}, "refused", "timed_out", None, "Timeout 500ms"),
        ({"error": "TimeoutError: <div> intercepts pointer events"}, "refused", "covered", None, "intercepts"),
        ({"error": "NameError: Invalid action type"}, "refused", "unsupported", None, "Invalid action"),
        ({"last_action": "click('99')"}, "refused", "not_reached", None, "something other than this agent acted"),
    ],
)
def test_what_became_of_a_call_is_told_with_the_next_observation(
    made: Any, later: dict[str, Any], status: str, refusal: str | None, effect: str | None, words: str
) -> None:
    model = Told([Click(target=1)], [Finish()])
    agent = made(model)
    agent.get_action(observation(*PAGE))
    agent.get_action(observation(*PAGE, **{"last_action": "click('12')", **later}))
    [outcome] = model.steps[1][0].outcomes
    assert (outcome.status, outcome.refusal, outcome.effect) == (status, refusal, effect)
    assert outcome.sentence.startswith("Click [1] “Send”: ")
    assert words in outcome.sentence


def test_what_cannot_be_done_does_nothing_and_the_model_hears_why(made: Any) -> None:
    model = Told([Ask(question="Which?")], [Click(target=99)], [Finish()])
    agent = made(model)
    said, info = agent.get_action(observation(*PAGE))
    assert said == "noop(0)"
    assert info["stats"]["n_refused"] == 1
    assert "Nobody answers" in info["extra_info"]["refused"][0]
    agent.get_action(observation(*PAGE, last_action=said))
    agent.get_action(observation(*PAGE, last_action=said))
    assert [step.outcomes[0].refusal for step in model.steps[2]] == ["unsupported", "unknown_mark"]


def test_only_the_first_of_several_actions_goes_out_and_the_others_are_told_of(made: Any) -> None:
    model = Told([Click(target=1), Click(target=2)], [Finish()])
    agent = made(model)
    assert agent.get_action(observation(*PAGE))[0] == "click('12')"
    agent.get_action(observation(*PAGE, last_action="click('12')", shade=240))
    assert [each.refusal for each in model.steps[1][0].outcomes] == [None, "not_reached"]


def test_a_reply_that_makes_no_sense_is_asked_again_with_the_complaint(made: Any) -> None:
    model = Told(FormatError("Name one action."), [Click(target=1)])
    assert made(model).get_action(observation(*PAGE))[0] == "click('12')"
    assert model.complaints == ["", "Name one action."]


def test_a_model_that_never_makes_sense_is_an_error_and_no_action(made: Any) -> None:
    model = Told(*[FormatError("Name one action.")] * 9)
    with pytest.raises(ModelUnavailable, match="no usable reply in 3 tries"):
        made(model).get_action(observation(*PAGE))


def test_an_ended_task_is_left_alone_until_somebody_answers(made: Any) -> None:
    model = Told([Finish(answer="42")], [Click(target=1)])
    agent = made(model)
    said, _ = agent.get_action(observation(*PAGE))
    assert said == "send_msg_to_user('42')"
    assert agent.get_action(observation(*PAGE, last_action=said))[0] == "noop(0)"
    assert agent.get_action(observation(*PAGE, last_action="noop(0)", messages=["Not 42"]))[0] == "click('12')"
    assert [message.text for message in model.tasks[1].messages] == ["Not 42"]


def test_another_episode_begins_anew(made: Any) -> None:
    agent = made(model="steps", steps=("click Send",))
    assert agent.get_action(observation(*PAGE))[0] == "click('12')"
    assert agent.get_action(observation(*PAGE))[0] == "click('12')"


def test_an_observation_that_is_not_the_last_is_refused(made: Any) -> None:
    agent = made(Told([Click(target=1)]))
    first = agent.obs_preprocessor(observation(*PAGE))
    agent.obs_preprocessor(observation(*PAGE))
    with pytest.raises(UsageError, match="not the last"):
        agent.get_action(first)


def test_a_closed_agent_says_so(made: Any) -> None:
    agent = made(Told([Click(target=1)]))
    agent.close()
    agent.close()
    with pytest.raises(UsageError, match="is closed"):
        agent.get_action(observation(*PAGE))


def test_the_goal_has_its_pictures_and_says_which_did_not_come(made: Any) -> None:
    looks = Looks(ObserveSettings(), ImageLimits(), lambda: datetime(2026, 3, 4, tzinfo=UTC))
    png = looks.look(observation(*PAGE)).clean.data or b""
    model = Told([Finish()])
    parts = [
        {"type": "text", "text": "Find this:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(png).decode()}},
        {"type": "image_url", "image_url": "http://site.test/other.png"},
    ]
    made(model).get_action(observation(*PAGE, goal_object=parts))
    assert [picture.shot.data for picture in model.tasks[0].pictures] == [png]
    assert model.tasks[0].goal.startswith("Find this:\n(The goal includes a picture")


async def test_a_provider_s_model_is_asked_again_and_again_over_the_marked_picture(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = MessagesServer()
    await server.start()
    server.answers = [clicking(1), saying("Nonsense."), clicking(2)]
    monkeypatch.setenv("VISION_AGENT_MODEL__BASE_URL", server.base_url)
    monkeypatch.setenv("VISION_AGENT_MODEL__API_KEY", "key-of-the-test")
    agent = made(model="anthropic:claude-sonnet-5-5", max_steps=7)
    try:
        obs = agent.obs_preprocessor(observation(*PAGE))
        assert (await asyncio.to_thread(agent.get_action, obs))[0] == "click('12')"
        after = observation(*PAGE, last_action="click('12')", error='ValueError: Could not find element with bid "12"')
        said, info = await asyncio.to_thread(agent.get_action, after)
        assert said == "click('13')"
        assert info["stats"]["input_tokens"] == 2 * (21 + 1500)
        await asyncio.to_thread(agent.close)
    finally:
        await server.close()
    first, _, last = (request.decode() for request in server.requests)
    assert base64.b64encode(_as_png(obs["screenshot_som"])).decode() in first
    assert "1[:]<button>Send" in first
    assert "Step 1 of at most 7" in first
    assert "BrowserGym could not" in last


def clicking(mark: int) -> Answer:
    said = json.loads(json.loads(reply("end_turn").body)["content"][1]["text"])
    del said["actions"]
    return saying(json.dumps(said | {"action": {"kind": "click", "target": mark}}))


def _as_png(rows: Any) -> bytes:
    whole = Box(x=0, y=0, width=rows.shape[1], height=rows.shape[0])
    return Picture.of_rgb(rows, whole).encode().data or b""


async def test_it_is_called_where_an_event_loop_runs_already(made: Any) -> None:
    """As Playwright's sync API leaves one running in the thread of whoever uses it."""
    assert made(Told([Click(target=1)])).get_action(observation(*PAGE))[0] == "click('12')"


def test_the_string_match_baseline_fills_in_a_form(made: Any) -> None:
    goal = 'Enter "Ada" as the name and press Send.'
    agent = made()
    said, _ = agent.get_action(observation(*PAGE, goal=goal))
    assert said == "fill('13', 'Ada')"
    filled = (PAGE[0], entry("13", "Name", top=60, value="Ada"))
    assert agent.get_action(observation(*filled, goal=goal, last_action=said))[0] == "click('12')"


def test_the_random_baseline_is_the_same_for_the_same_seed(made: Any) -> None:
    things = [button(str(10 + i), f"Button {i}", top=30 * i) for i in range(9)]
    said = [made(model="random", seed=seed).get_action(observation(*things))[0] for seed in (1, 1, 2, 3, 4)]
    assert said[0] == said[1]
    assert len(set(said)) > 1


def test_a_thing_that_has_no_name_is_named_by_its_words(made: Any) -> None:
    agent = made(model="steps", steps=("click Open",))
    assert agent.get_action(observation(Thing("4", "div", text="Open", clickable=True)))[0] == "click('4')"


@pytest.mark.parametrize("model", ["match", pytest.param("anthropic:claude-sonnet-5-5", marks=pytest.mark.thorough)])
def test_nothing_of_it_imports_playwright_or_browsergym(model: str) -> None:
    """BrowserGym's environment has a Playwright that this package cannot use."""
    forbidden = (
        "import sys\n"
        "sys.modules['playwright'] = sys.modules['browsergym'] = sys.modules['gymnasium'] = None\n"
        "from vision_agent.evals.browsergym import BrowserGymAgentArgs\n"
        "agent = BrowserGymAgentArgs(model=sys.argv[1]).make_agent()\n"
        "agent.close()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", forbidden, model],
        env={"PYTHONPATH": str(ROOT), "ANTHROPIC_API_KEY": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_agent_and_its_baselines_import_only_what_the_guide_installs() -> None:
    loaded = (
        "import json, sys\n"
        "from importlib.metadata import packages_distributions\n"
        "import vision_agent.evals.browsergym, vision_agent.evals.baselines\n"
        "known = packages_distributions()\n"
        "print(json.dumps([each for name in list(sys.modules) for each in known.get(name.split('.')[0], ())]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", loaded], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    with (ROOT / "pyproject.toml").open("rb") as file:
        ours = {re.split(r"[<>=]", each)[0] for each in tomllib.load(file)["project"]["dependencies"]}
    needed = {each.lower().replace("_", "-") for each in json.loads(ran.stdout)} & ours
    assert needed <= set(NEEDED)
    guide = (ROOT / "docs" / "pages" / "guides" / "browsergym.md").read_text("utf-8")
    assert [each for each in NEEDED if f"'{each}>=" not in guide] == []
