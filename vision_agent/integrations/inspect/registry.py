"""What Inspect finds by the entry point `inspect_ai`: `vision_agent/fixtures` and so on."""

from vision_agent.integrations.inspect.agent import vision_agent
from vision_agent.integrations.inspect.approver import vision_agent_policy
from vision_agent.integrations.inspect.scorers import attack_stopped, end_state, hit_oracle
from vision_agent.integrations.inspect.solver import play
from vision_agent.integrations.inspect.tasks import fixtures, frozen, grounding, miniwob, security
from vision_agent.integrations.inspect.tools import CloseBrowsers, marked_browser

__all__ = [
    "CloseBrowsers",
    "attack_stopped",
    "end_state",
    "fixtures",
    "frozen",
    "grounding",
    "hit_oracle",
    "marked_browser",
    "miniwob",
    "play",
    "security",
    "vision_agent",
    "vision_agent_policy",
]
