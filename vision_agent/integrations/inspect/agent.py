"""The agent `vision_agent`: does the goal of a conversation in a browser, with the model that Inspect runs with."""

from __future__ import annotations

from typing import Any

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, get_model

from vision_agent.errors import UsageError
from vision_agent.integrations.inspect.log_links import link_run
from vision_agent.integrations.inspect.model import InspectModel
from vision_agent.session import Agent as WiredAgent
from vision_agent.session.keywords import GivenSettings, settings_from


@agent
def vision_agent(url: str, settings: GivenSettings = None, steps: list[str] | None = None, **keywords: Any) -> Agent:
    """Does a task in a browser of its own, seeing marked pictures.

    Args:
        url: the start page.
        settings: as for `vision_agent.Agent`; the run folder goes to its `runs`.
        steps: step lines to follow, in place of Inspect's model.
        keywords: what else `vision_agent.Agent` takes, such as `allowed_hosts` or `max_steps`.
    """

    async def execute(state: AgentState) -> AgentState:
        """Does the task of the conversation in a browser."""
        goal = next((each.text for each in reversed(state.messages) if isinstance(each, ChatMessageUser)), "")
        if not goal.strip():
            raise UsageError("The conversation has no message that says what to do", "give the sample an input")
        known = settings_from(settings)
        asked = None if steps else InspectModel(get_model(), known.model)
        made = WiredAgent(goal, url=url, settings=known, model=asked, steps=steps, **keywords)
        try:
            run = await made.run()
        finally:
            if made.folder is not None:
                link_run(made.folder)
        if asked is not None and asked.limit is not None:
            raise asked.limit
        answer = run.answer or (run.ending.sentence if run.ending is not None else "")
        name = asked.name if asked is not None else "steps"
        state.output = ModelOutput.from_content(name, answer)
        state.messages.append(ChatMessageAssistant(content=answer, model=name))
        return state

    return execute
