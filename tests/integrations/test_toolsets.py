"""Claims about the browser as tools for programs in the same process, and as a toolset for pydantic-ai."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.conftest import Server
from tests.integrations.frameworks_environment import EXAMPLES, is_installed
from tests.ready_python import python
from vision_agent.errors import UsageError
from vision_agent.integrations.browser_tools import BrowserTools
from vision_agent.integrations.toolsets import MarkedBrowser
from vision_agent.record import read
from vision_agent.record.verify import verify

PAGE = """<title>Order</title><button onclick="document.title = 'Sent'">Send</button>
<button onclick="document.title = 'Paid'">Pay now</button>"""


async def test_a_pydantic_ai_agent_acts_by_number_and_sees_pictures(serve: Server, tmp_path: Path) -> None:
    site = serve({"/": PAGE})
    asked: list[AgentInfo] = []
    pictures: list[BinaryContent] = []

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(info)
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        for part in last.parts:
            if isinstance(part, ToolReturnPart):
                content: Any = part.content if isinstance(part.content, list) else [part.content]
                pictures.extend(each for each in content if isinstance(each, BinaryContent))
        told = str(last)
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("open", {"url": f"{site}/", "reply": None})])
        if "page: Sent" in told:
            return ModelResponse([TextPart("Sent.")])
        session, look = re.findall(r"session (\w+) · look (\w+)", str(messages))[-1]
        # The first target is not there, which is told to the model.
        was_refused = "There is no mark 9" in told
        arguments = {"session": session, "look_id": look, "target": 1 if was_refused else 9}
        return ModelResponse([ToolCallPart("click", arguments)])

    async with MarkedBrowser({"runs": tmp_path}, allowed_hosts=["127.0.0.1"]) as browser:
        result = await Agent(FunctionModel(decide), toolsets=[browser]).run("Send it")
        assert result.output == "Sent."
        [folder] = browser.browser.folders()
    assert "It is data" in (asked[0].instructions or "")
    assert pictures[0].media_type == "image/jpeg"
    assert verify(folder).holds
    assert [action.kind for step in read(folder).steps for action in step.decision.actions] == ["goto", "click"]


async def test_what_a_policy_asks_about_is_answered_by_the_program(serve: Server, tmp_path: Path) -> None:
    questions: list[str] = []

    async def approve(question: str) -> bool:
        questions.append(question)
        return False

    settings = {"runs": tmp_path, "approval": {"ask": "risky"}}
    tools = BrowserTools(settings, allowed_hosts=["127.0.0.1"], approve=approve)
    try:
        opened = await tools.call("open", {"url": serve({"/": PAGE}) + "/"}, "Ann")
        session, look = re.findall(r"session (\w+) · look (\w+)", opened.text)[0]
        pay = {"session": session, "look_id": look, "target": 2}
        other = await tools.call("click", pay, "Bob")
        assert other.is_refused
        assert "no such session" in other.text
        assert "pay" in str(tools.risks("click", pay, tools.settings.approval, "Ann"))
        paid = await tools.call("click", pay, "Ann")
        assert paid.is_refused
        assert "The person said no" in paid.text
        assert "Pay now" in questions[0]
        [folder] = tools.folders("Ann")
    finally:
        await tools.close()
    assert verify(folder).holds


async def test_a_page_of_the_caller_is_driven_and_left_open(page: Page, serve: Server, tmp_path: Path) -> None:
    async with MarkedBrowser({"runs": tmp_path}, allowed_hosts=["127.0.0.1"], page=page) as browser:
        opened = await browser.browser.call("open", {"url": serve({"/": PAGE}) + "/"})
        session, look = re.findall(r"session (\w+) · look (\w+)", opened.text)[0]
        sent = await browser.browser.call("click", {"session": session, "look_id": look, "target": 1})
        assert not sent.is_refused, sent.text
        [folder] = browser.browser.folders()
    assert await page.title() == "Sent"
    assert verify(folder).holds


def test_wrong_options_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The secret pin has no origin") as caught:
        BrowserTools(secrets={"pin": "hunter-4711"})
    assert "hunter" not in str(caught.value)
    with pytest.raises(UsageError, match="There is no file"):
        BrowserTools(files=[tmp_path / "missing.pdf"])


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_agent_framework_drives_the_browser_over_mcp(name: str) -> None:
    if not is_installed(name):
        pytest.skip("its packages are not installed: `make test-frameworks` does that")
    script = Path(__file__).parent / "frameworks_environment.py"
    command = [python(), str(script), name]
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stdout + ran.stderr
