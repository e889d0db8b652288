"""Lets our agent run in BrowserGym and AgentLab, which provide the browser, the tasks and the reward.

    from vision_agent.evals.browsergym import BrowserGymAgentArgs

    agent = BrowserGymAgentArgs(model="anthropic:claude-sonnet-5-5").make_agent()

BrowserGym pins a Playwright that is years older than the one this package needs. So nothing here imports BrowserGym or
Playwright, and both packages can live in one environment. `agent` documents the interface that BrowserGym's classes
expect of an agent and implements it by its shape alone.
"""

from vision_agent.evals.browsergym.agent import BrowserGymAgent, BrowserGymAgentArgs

__all__ = ["BrowserGymAgent", "BrowserGymAgentArgs"]
