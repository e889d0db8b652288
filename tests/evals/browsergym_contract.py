"""The contract with BrowserGym, tried on the real one: run by `browsergym_environment.py`, in that environment.

Not part of the suite: none of this project's pins hold there. Our modules come in by PYTHONPATH.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import browsergym.core
import browsergym.miniwob  # its tasks are known to gymnasium from here on
import gymnasium
import pytest
from browsergym.core.action.base import AbstractActionSet
from playwright.sync_api import sync_playwright

from vision_agent.actions import (
    Action,
    Back,
    Check,
    Click,
    CloseTab,
    Drag,
    Finish,
    Goto,
    Hover,
    Infeasible,
    OpenTab,
    Point,
    Press,
    Scroll,
    Select,
    Set,
    Type,
    Wait,
)  # fmt: skip
from vision_agent.evals.browsergym import BrowserGymAgent, BrowserGymAgentArgs
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task

PAGE = Path(__file__).parent / "browsergym_page.html"
ODD = 'it\'s "odd" \\ # (x)\n12[:] ünïcode 👍'
MOST_STEPS = 10


class Plan(Model):
    """Does one thing after the other, each on the mark of a name; a plan is a list of functions of the marks."""

    name = "plan"

    def __init__(self, plan: Sequence[Any]) -> None:
        self._plan = list(plan)
        self.steps: list[Step] = []

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        del task, complaint
        self.steps = list(steps)
        numbers = {mark.name: mark.number for mark in observation.marks}
        action: Action = self._plan.pop(0)(numbers) if self._plan else Finish(answer="done")
        return Decision(actions=(action,), author="scripted", model="plan")


class Opened:
    """What a test opened, closed at its end, the last first."""

    def __init__(self) -> None:
        self._open: list[Any] = []

    def enter(self, *each: Any) -> None:
        self._open += each

    def close(self) -> None:
        while self._open:
            self._open.pop().close()


@pytest.fixture
def opened() -> Iterator[Opened]:
    each = Opened()
    yield each
    each.close()


@pytest.fixture(autouse=True, scope="session")
def _chromium_that_is_here() -> None:
    """BrowserGym's Playwright would fetch its own Chromium, and BrowserGym's chat window takes no path."""
    playwright = sync_playwright().start()
    chromium = playwright.chromium
    chromium.launch = functools.partial(chromium.launch, executable_path=os.environ["CHROMIUM"])
    browsergym.core._set_global_playwright(playwright)


def episode(
    opened: Opened, env: Any, agent: BrowserGymAgent, seed: int = 1, most: int = MOST_STEPS
) -> tuple[float, bool]:
    """The reward and whether the episode ended, in the loop that AgentLab has."""
    opened.enter(agent, env)
    obs, _ = env.reset(seed=seed)
    reward, ended = 0.0, False
    for _ in range(most):
        obs = agent.obs_preprocessor(obs)
        action, info = agent.get_action(obs.copy())
        assert isinstance(action, str)
        assert isinstance(info.get("stats"), dict)
        obs, reward, ended, _, _ = env.step(action)
        assert obs["last_action"] == action
        assert obs["last_action_error"] == "", action
        if ended:
            break
    agent.obs_preprocessor(obs)
    return float(reward), bool(ended)


def on_page(agent: BrowserGymAgent) -> Any:
    return gymnasium.make(
        "browsergym/openended",
        task_kwargs={"start_url": PAGE.as_uri(), "goal": "Try everything once"},
        action_mapping=agent.action_set.to_python_code,
    )


def test_our_modules_do_without_the_playwright_that_is_here() -> None:
    assert importlib.metadata.version("browsergym-core") == "0.14.3"
    assert tuple(map(int, importlib.metadata.version("playwright").split(".")[:2])) < (1, 60)
    assert "vision_agent.browser.launch.launch" not in sys.modules
    assert "vision_agent.session" not in sys.modules


def test_our_calls_have_the_shape_of_an_action_set(opened: Opened) -> None:
    agent = BrowserGymAgentArgs(model="match").make_agent()
    opened.enter(agent)
    for name in AbstractActionSet.__abstractmethods__:
        assert callable(getattr(agent.action_set, name)), name


@pytest.mark.parametrize("task", ["login-user", "choose-list", "click-checkboxes", "enter-text"])
def test_a_miniwob_task_is_passed_by_matching_words(opened: Opened, task: str) -> None:
    agent = BrowserGymAgentArgs(model="match").make_agent()
    env = gymnasium.make(f"browsergym/miniwob.{task}", action_mapping=agent.action_set.to_python_code)
    assert episode(opened, env, agent) == (1.0, True)


def test_a_miniwob_task_is_passed_by_step_lines_in_the_environment_s_own_words(opened: Opened) -> None:
    """With no action mapping of ours: calls on elements are understood as they are."""
    agent = BrowserGymAgentArgs(model="steps", steps=("click close",)).make_agent()
    assert episode(opened, gymnasium.make("browsergym/miniwob.click-dialog"), agent) == (1.0, True)


def test_a_point_of_our_picture_is_where_browsergym_clicks(opened: Opened) -> None:
    """MiniWoB pages come enlarged, and this model's picture is shrunk: 498 pixels wide to 249."""
    plan = Plan([lambda _: Click(target=Point(x=15, y=60)), lambda _: Finish()])
    args = BrowserGymAgentArgs(model="match", longest_edge=249)
    agent = BrowserGymAgent(args, make_model=lambda: plan)
    env = gymnasium.make("browsergym/miniwob.click-test", action_mapping=agent.action_set.to_python_code)
    opened.enter(agent, env)
    obs, _ = env.reset(seed=1)
    page = env.unwrapped.page
    page.evaluate("addEventListener('click', (event) => window.at = [event.clientX, event.clientY], true)")
    said, _ = agent.get_action(obs)
    env.step(said)
    assert page.evaluate("window.at") == [20, 80]


def test_each_kind_of_action_does_on_the_page_what_it_says(opened: Opened) -> None:
    spot: dict[str, float] = {}
    plan = Plan(
        [
            lambda at: Click(target=at["Press me"]),
            lambda at: Click(target=at["Press me"], modifiers=("Shift",)),
            lambda at: Click(target=at["Press me"], button="right"),
            lambda at: Hover(target=at["Text"]),
            lambda at: Hover(target=at["Press me"]),
            lambda at: Click(target=at["Press me"], count=2),
            lambda at: Type(target=at["Text"], text="first", submit=True),
            lambda at: Type(target=at["Text"], text=" second", clear=False),
            lambda at: Type(target=at["Area"], text=ODD),
            lambda at: Select(target=at["One"], options=("Green",)),
            lambda at: Select(target=at["Many"], options=("Cat", "Emu")),
            lambda at: Check(mark=at["Agree"], checked=True),
            lambda at: Check(mark=at["Agree"], checked=True),
            lambda at: Set(mark=at["Day"], value="2026-02-03"),
            lambda at: Click(target=at["Inside"]),
            lambda _: Click(target=Point(x=spot["x"], y=spot["y"])),
            lambda at: Drag(source=at["Take"], target=at["Put"]),
            lambda _: Click(target=999),
            lambda at: Scroll(target=at["Feed"], pages=1),
            lambda _: Press(keys="Escape"),
            lambda _: Scroll(pages=0.5),
            lambda _: Wait(seconds=0.1),
        ]
    )
    agent = BrowserGymAgent(BrowserGymAgentArgs(model="match"), make_model=lambda: plan)
    env = on_page(agent)
    opened.enter(agent, env)
    obs, _ = env.reset(seed=1)
    page = env.unwrapped.page
    spot |= page.evaluate(
        "(({x, y}) => ({x: Math.round(x) + 30, y: Math.round(y) + 20}))(spot.getBoundingClientRect())"
    )
    for _ in range(23):
        said, _ = agent.get_action(obs)
        obs, *_ = env.step(said)
        assert obs["last_action_error"] == "", said
    agent.get_action(obs)
    happened = page.evaluate("said")
    clicks = ["press", "press+shift", "menu", "press", "press", "twice"]
    others = ["entered", "frame", f"at {spot['x']},{spot['y']}", "dropped"]
    assert [each for each in happened if each != "over"] == [*clicks, *others]
    assert happened.count("over") >= 2
    values = "[text, area, one, day].map((each) => each.value)"
    assert page.evaluate(values) == ["first second", ODD, "Green", "2026-02-03"]
    assert page.evaluate("[...many.selectedOptions].map((each) => each.text)") == ["Cat", "Emu"]
    assert page.evaluate("tick.checked")
    assert page.evaluate("feed.scrollTop") == 60
    assert page.evaluate("scrollY") > 100
    told = {step.decision.actions[0].kind: step.outcomes[0] for step in plan.steps}
    assert told["check"].effect == "as_wanted"
    assert "unknown_mark" in [step.outcomes[0].refusal for step in plan.steps]


def test_tabs_and_addresses_are_followed(opened: Opened) -> None:
    other = "data:text/html,<title>Other</title><button>There</button>"
    plan = Plan(
        [
            lambda _: OpenTab(url=other),
            lambda _: CloseTab(tab=2),
            lambda _: Goto(url=other),
            lambda _: Back(),
        ]
    )
    agent = BrowserGymAgent(BrowserGymAgentArgs(model="match"), make_model=lambda: plan)
    env = on_page(agent)
    opened.enter(agent, env)
    obs, _ = env.reset(seed=1)
    titles = []
    for _ in range(4):
        said, _ = agent.get_action(obs)
        obs, *_ = env.step(said)
        assert obs["last_action_error"] == "", said
        titles.append(obs["open_pages_titles"][int(obs["active_page_index"][0])])
    assert titles == ["Other", "Everything once", "Other", "Everything once"]
    agent.get_action(obs)
    assert next(step.outcomes[0].effect for step in plan.steps) == "new_tab"
    assert [step.outcomes[0].effect for step in plan.steps][2:] == ["navigated", "navigated"]


def test_a_mark_whose_element_has_gone_is_told_and_nothing_else_is_touched(opened: Opened) -> None:
    plan = Plan([lambda at: Click(target=at["Press me"])])
    agent = BrowserGymAgent(BrowserGymAgentArgs(model="match"), make_model=lambda: plan)
    env = on_page(agent)
    opened.enter(agent, env)
    obs, _ = env.reset(seed=1)
    said, _ = agent.get_action(obs)
    env.unwrapped.page.evaluate("press.remove()")
    obs, *_ = env.step(said)
    agent.get_action(obs)
    assert plan.steps[0].outcomes[0].refusal == "gone"
    assert env.unwrapped.page.evaluate("said.filter((each) => each !== 'over')") == []


def test_what_cannot_be_done_is_reported_and_ends_the_episode(opened: Opened) -> None:
    plan = Plan([lambda _: Infeasible(reason="There is no such page.")])
    agent = BrowserGymAgent(BrowserGymAgentArgs(model="match"), make_model=lambda: plan)
    assert episode(opened, on_page(agent), agent) == (0.0, True)
