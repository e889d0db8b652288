"""The contract with CUBE, tried on the real one: run by `cube_environment.py`, in that environment.

Not part of the suite: CUBE needs Python 3.12, and this project's conftest wants more than is there.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cube.core import Action, AgentStop, EnvironmentOutput, ImageContent, Observation
from cube.infra_local import LocalInfraConfig
from cube.tool import ToolConfig
from miniwob_cube import MiniWobBenchmarkConfig

from vision_agent.errors import BrowserUnavailable
from vision_agent.integrations.cube import PICTURE, MarkedBrowserConfig, MarkedBrowserTool
from vision_agent.record.verify import verify

PAGE = "<title>Page</title><button onclick=\"document.title = 'Pressed'\">Press me</button><input aria-label=Name>"


@pytest.fixture
def config(tmp_path: Path) -> MarkedBrowserConfig:
    return MarkedBrowserConfig(settings={"runs": str(tmp_path / "runs"), "approval": {"ask": "never"}})


@pytest.fixture
def tool(config: MarkedBrowserConfig) -> Iterator[MarkedBrowserTool]:
    made = config.make()
    yield made
    made.close()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "page.html").write_text(PAGE, "utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/page.html"
    server.shutdown()
    server.server_close()


def text_of(obs: Observation) -> str:
    return "\n".join(each.data for each in obs.contents if isinstance(each.data, str))


def number_of(obs: Observation, words: str) -> int:
    """The number of the mark whose line has these words."""
    found = re.search(rf"^(\d+)\[:\].*{re.escape(words)}", text_of(obs), re.MULTILINE)
    assert found is not None, text_of(obs)
    return int(found[1])


def act(name: str, **arguments: Any) -> Action:
    return Action(name=name, arguments=arguments)


def test_miniwob_tasks_are_passed_by_number(config: MarkedBrowserConfig) -> None:
    """The benchmark knows nothing of us: it only gets the tool's config."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tasks = ["click-button", "click-checkboxes", "enter-text"]
    benchmark = MiniWobBenchmarkConfig(tool_config=config, port=port).subset_from_list(tasks)
    runs = Path(config.settings["runs"])
    with benchmark.make(LocalInfraConfig()) as running:
        for made in benchmark.get_task_configs():
            task = running.spawn(made)
            obs, info = task.reset()
            assert any(isinstance(each, ImageContent) and each.name == PICTURE for each in obs.contents)
            out = played(task, obs, info["goal"])
            task.close()
            assert (made.metadata.id, out.reward, out.done) == (made.metadata.id, 1.0, True)
    folders = [each for each in runs.iterdir() if each.is_dir()]
    assert len(folders) == len(tasks)
    assert all(verify(each).holds for each in folders)


def played(task: Any, obs: Observation, goal: str) -> EnvironmentOutput:
    """The last step of a task that names what to press and type in quotes or after a verb."""
    if match := re.search(r'Enter "(.+?)" into', goal):
        lines: list[tuple[str, dict[str, Any]]] = [("type", {"target": "<input", "text": match[1]})]
        last = "Submit"
    elif match := re.search(r'Click on the "(.+?)" button', goal):
        lines, last = [], match[1]
    else:
        wanted = re.search(r"Select (.+?) and click Submit", goal)
        assert wanted is not None, goal
        names = [] if wanted[1] == "nothing" else wanted[1].split(", ")
        lines, last = [("check", {"mark": name, "checked": True}) for name in names], "Submit"
    for name, arguments in [*lines, ("click", {"target": last})]:
        key = next(iter(arguments))
        out = task.step(act(name, **{**arguments, key: number_of(obs, arguments[key])}))
        assert out.error is None, text_of(out.obs)
        obs = out.obs
    return out


def test_a_config_comes_back_from_json_as_it_was(config: MarkedBrowserConfig) -> None:
    assert ToolConfig.model_validate_json(config.model_dump_json()) == config


def test_an_agent_gets_no_arguments_of_ours_and_every_action_says_what_it_takes(tool: MarkedBrowserTool) -> None:
    actions = {each.name: each for each in tool.action_set}
    assert {"look", "open", "click", "type", "select", "scroll", "back", "final_step"} <= actions.keys()
    assert not {"close", "report", "run"} & actions.keys()
    for each in actions.values():
        assert each.validate_param_descriptions() == (True, "")
        assert not {"session", "look_id", "reply", "picture"} & each.parameters["properties"].keys()
    assert actions["click"].parameters["required"] == ["target"]


def test_a_refusal_is_read_by_the_agent_and_ends_nothing(tool: MarkedBrowserTool, page: str) -> None:
    assert tool.execute_action(act("click", target=1)).error is not None
    tool.goto(page)
    for wrong in (
        act("click", target=99),
        act("click", session="other"),
        act("click"),
        act("open", url="file:///etc/passwd"),
    ):
        refused = tool.execute_action(wrong)
        assert refused.error is not None
        assert refused.error.error_type == "Refused"
        assert text_of(refused)
    done = tool.execute_action(Action(id="call-1", name="click", arguments={"target": 1}))
    assert (done.error, done.contents[0].tool_call_id) == (None, "call-1")
    assert tool.evaluate_js("() => document.title") == "Pressed"
    with pytest.raises(ValueError, match="There is no action 'fly'"):
        tool.execute_action(act("fly"))
    with pytest.raises(AgentStop):
        tool.execute_action(act("final_step"))


def test_it_is_driven_from_inside_of_a_running_loop(tool: MarkedBrowserTool, page: str) -> None:
    async def drive() -> str:
        tool.goto(page)
        target = number_of(tool.page_obs(), "Name")
        return text_of(await tool.async_execute_action(act("type", target=target, text="Ann")))

    assert "type: done" in asyncio.run(drive())
    assert tool.evaluate_js("document.querySelector('input').value") == "Ann"


def test_each_episode_has_a_record_of_its_own(tool: MarkedBrowserTool, page: str) -> None:
    for _ in range(2):
        tool.reset()
        tool.goto(page)
        tool.execute_action(act("click", target=1))
    tool.close()
    assert len(tool.folders) == 2
    assert all(verify(folder).holds for folder in tool.folders)
    with pytest.raises(BrowserUnavailable, match="opened no page"):
        tool.page_obs()


def test_a_host_that_is_not_allowed_is_not_opened(config: MarkedBrowserConfig) -> None:
    tool = config.model_copy(update={"allowed_hosts": ("shop.example",)}).make()
    with pytest.raises(BrowserUnavailable, match="allowed"):
        tool.goto("http://127.0.0.1:9/")
    tool.close()
