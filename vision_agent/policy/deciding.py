"""Who decides a step: the loop's own recovery, then the actions that the task begins with, then the model.

Owns the repair of unusable replies and the change to the fallback. Knows no browser.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from vision_agent.actions import Action
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy.interrupted import Lost
from vision_agent.policy.recovery import RecoveryPolicy
from vision_agent.policy.stall import Stall
from vision_agent.ports import Model
from vision_agent.types import Decision, Ending, Step

Reply = TypeVar("Reply")
_NO_REPLY = "gave no usable reply in"


class Decider:
    """Decides each step of one run."""

    def __init__(
        self, journal: Journal, model: Model, fallback: Model | None, repairs: int, *, recovers: bool = True
    ) -> None:
        self._journal = journal
        self._model = model
        self._fallback = fallback
        self._repairs = repairs
        self._first = () if journal.steps else journal.task.actions
        self._recovery = RecoveryPolicy(journal.record_trouble)
        self._recovers = recovers

    async def decide(self, observation: Observation, stalled: Stall) -> Decision:
        """What to do about this observation.

        Raises:
            ModelUnavailable: neither the model nor its fallback could be asked.
        """
        task, steps = self._journal.task, self._journal.steps
        if self._recovers and (decision := self._recovery.decide(task, steps, observation, stalled)) is not None:
            return decision
        if self._first:
            actions, self._first = self._first, ()
            return Decision(author="scripted", next_goal="Do what the task begins with", actions=tuple(actions))
        return await self._ask_model(observation)

    def do_first(self, actions: Sequence[Action]) -> None:
        """Decides these actions before the model is asked."""
        self._first = tuple(actions)

    def restore_or_report(self, lost: Lost) -> None:
        """Restores what the page lost while the run was interrupted, or reports it."""
        self._recovery.restore_or_report(lost)

    def ending_of_unusable(self, failed: Sequence[Step]) -> Ending | None:
        """How a run ends after these failed steps if the model gave no usable reply in any of them; else None."""
        faults = [_fault_of_reply(step.decision) for step in failed]
        if not (faults and all(faults)):
            return None
        replies = len(failed) * (1 + self._repairs)
        what = f"replies could not be used, {replies} in a row" if replies > 1 else "reply could not be used"
        return Ending(
            status="limit",
            limit="unusable_replies",
            sentence=f"The model's {what}; what was wrong with the last one: {faults[-1].rstrip('.')}. Another model "
            "may help: name it with --model, or set model.fallback, which then takes over.",
        )

    async def _ask_model(self, observation: Observation) -> Decision:
        journal, model = self._journal, self._model

        def trouble(error: FormatError) -> None:
            journal.record_trouble(error.sentence, error.usage)

        try:
            return await usable_reply(
                lambda complaint: _decided(model, journal, observation, complaint),
                trouble,
                repairs=self._repairs,
                who="The model",
            )
        except FormatError as error:
            if self._fallback is None:
                # A decision without an action is a failed step; too many in a row end the run.
                return Decision(author="model", model=model.name, next_goal=error.sentence)
            journal.record_trouble(f"{error.sentence} The fallback takes over.", None)
        except ModelUnavailable as error:
            if self._fallback is None:
                if error.usage is not None:
                    journal.record_trouble(error.sentence, error.usage)
                raise
            journal.record_trouble(f"{error.sentence} The fallback takes over.", error.usage)
        # For the rest of the run: of two models that take turns, each would know half of the plan.
        self._model, self._fallback = self._fallback, None
        return await self._ask_model(observation)


async def _decided(model: Model, journal: Journal, observation: Observation, complaint: str) -> Decision:
    """What the model decides.

    Raises:
        FormatError: it can be neither carried out nor recorded, as a decider of your own may decide.
    """
    decision = await model.decide(journal.task, journal.steps, observation, complaint=complaint)
    try:
        decision.model_dump_json().encode()
    except ValueError as error:  # a reply of a provider is checked where it is read
        raise FormatError("The decision has half a character in it (a lone surrogate), or cannot be JSON") from error
    return decision


async def usable_reply(
    ask: Callable[[str], Awaitable[Reply]],
    on_trouble: Callable[[FormatError], None],
    *,
    repairs: int,
    who: str,
) -> Reply:
    """The first usable reply. `ask` gets the complaint about the previous reply, at first an empty one.

    Raises:
        FormatError: no reply was usable in `1 + repairs` tries.
        ModelUnavailable: the model could not be asked.
    """
    complaint = ""
    for _ in range(1 + repairs):
        try:
            return await ask(complaint)
        except FormatError as error:
            complaint = error.sentence
            on_trouble(error)
    tries = "1 try" if not repairs else f"{1 + repairs} tries; the last time"
    raise FormatError(f"{who} {_NO_REPLY} {tries}: {complaint}")


def _fault_of_reply(decision: Decision) -> str:
    """What was wrong with the last reply, if a step failed because none was usable; else empty."""
    if decision.author != "model" or decision.actions or f" {_NO_REPLY} " not in decision.next_goal:
        return ""
    return decision.next_goal.partition(": ")[2]
