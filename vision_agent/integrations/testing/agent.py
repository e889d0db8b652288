"""The fixture `agent`: does a task on the page of a test, and fails the test if it was not done."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from playwright.async_api import Page as AsyncPage
from playwright.sync_api import Page

from vision_agent.integrations.testing.evidence import Evidence
from vision_agent.integrations.testing.marks import require_page
from vision_agent.session import Agent
from vision_agent.session.keywords import GivenSettings, settings_from
from vision_agent.sync_api import SyncAgent
from vision_agent.types import Run

__tracebackhide__ = True

_LONGEST_SENTENCE = 300
"""The most characters of how a run ended."""


def agent_for(evidence: Evidence) -> Callable[..., Run | Coroutine[Any, Any, Run]]:
    """`agent(page, goal, …)`, which takes what `vision_agent.Agent` takes; with an async page it is awaited."""

    def agent(
        page: Page | AsyncPage, goal: str, *, settings: GivenSettings = None, **keywords: Any
    ) -> Run | Coroutine[Any, Any, Run]:
        require_page(page, "agent(page, goal)")
        known = settings_from(settings).model_copy(update={"runs": evidence.runs()})
        if isinstance(page, AsyncPage):
            return _run_async(Agent(goal, page=page, settings=known, **keywords), evidence)
        evidence.detach()
        made = SyncAgent(goal, page=page, settings=known, **keywords)
        try:
            run = made.run()
        finally:
            _keep(made, evidence)
        _require_done(run)
        return run

    return agent


async def _run_async(agent: Agent, evidence: Evidence) -> Run:
    for each in evidence.pages:
        await each.close()
    try:
        run = await agent.run()
    finally:
        _keep(agent, evidence)
    _require_done(run)
    return run


def _keep(agent: Agent | SyncAgent, evidence: Evidence) -> None:
    if agent.folder is not None:
        evidence.agents.append(agent.folder)


def _require_done(run: Run) -> None:
    if not run.ok:
        ending = run.ending
        why = (
            f"{ending.status.replace('_', ' ')}: {ending.shown(ending.sentence, _LONGEST_SENTENCE)}"
            if ending is not None
            else "no end"
        )
        raise AssertionError(f"The agent did not do its task ({why})")
