"""The approver `vision_agent_policy`: what our approval policy calls risky is escalated, everything else approved."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.approval import Approval, Approver, approver
from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolCall, ToolCallView

from vision_agent.errors import FormatError
from vision_agent.integrations.inspect.tools import PREFIX, browsers_of_tools, owner
from vision_agent.integrations.mcp.browser_session import SessionRefused
from vision_agent.policy.approval import words_of
from vision_agent.settings import ApprovalSettings, load, load_policy


@approver
def vision_agent_policy(policy: str | None = None, decision: str = "escalate") -> Approver:
    """Decides calls of `marked_browser` by an approval policy; calls of other tools are escalated.

    Args:
        policy: the TOML file that says what is risky; without one, the settings' `approval`.
        decision: what becomes of a risky call: `escalate` to the next approver, or `reject`.
    """
    if decision not in ("escalate", "reject"):
        raise ValueError(f"decision must be escalate or reject, not {decision!r}")
    given = {"approval": load_policy(Path(policy))} if policy else {}
    settings: ApprovalSettings = load(**given).approval

    async def approve(message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]) -> Approval:
        del message, view, history
        if not call.function.startswith(PREFIX):
            return Approval(decision="escalate", explanation=f"{call.function} is not a tool of the marked browser.")
        why = "There is no such browser, so nothing can be done."
        for browser in browsers_of_tools():
            try:
                risks = browser.risks(call.function.removeprefix(PREFIX), call.arguments, settings, owner())
            except SessionRefused:
                continue
            except FormatError as error:
                # The tool refuses it with the same sentence.
                return Approval(decision="approve", explanation=error.sentence)
            if not risks:
                return Approval(decision="approve", explanation="The policy calls nothing about it risky.")
            return Approval(decision=decision, explanation=words_of(risks))
        return Approval(decision="approve", explanation=why)

    return approve
