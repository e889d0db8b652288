"""Records what a person does in the browser as a run: no model decides, and the person's own actions are its steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vision_agent.actions import Finish
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.policy.approval import Answers
from vision_agent.session.wired_agent import Agent
from vision_agent.settings import Settings
from vision_agent.types import END_OF_RECORDING, RECORDING, Choice, Decision, Provenance, Task

_LONGEST_S = 24 * 3600.0
"""After which a recording that nobody ends is over."""


def recording_agent(
    task: Task, settings: Settings, until: Callable[[], Awaitable[object]] | None, *, name: str | None = None
) -> Agent:
    """An agent that opens the start page and records what a person does until `until` returns or they close the window.

    Each of their actions is a step by `human` with the marked picture before it, as in any takeover. So the run can be
    replayed, exported and verified like one that a model decided. It is done if the task's checks hold at its end.
    `until`: None if they do it on a `SupervisionPage`
    that `records`, which `Agent.ask` attaches.
    """
    is_over = False

    async def answer(*_: object) -> Choice:
        return Choice(kind="approve" if is_over else "take_over", through="terminal")

    async def handed_back() -> None:
        nonlocal is_over
        if until is not None:
            await until()
        is_over = True

    end = Decision(next_goal=END_OF_RECORDING, actions=(Finish(),), author="scripted")
    approval = settings.approval.model_copy(update={"ask": "always", "wait_s": _LONGEST_S})
    # Nobody is there to try again once it is over, so a check that fails ends it.
    limits = task.limits.model_copy(update={"false_completions": 1})
    return Agent(
        task.model_copy(update={"limits": limits}),
        model=ScriptedModel([[Finish()], end]),  # once to be taken over, once at the end
        settings=settings.model_copy(update={"approval": approval}),
        approver=Answers(answer, handed_back, is_over_when_closed=True),
        name=name,
        provenance=Provenance(model=RECORDING),
    )
