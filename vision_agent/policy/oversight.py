"""The person in the loop: approves decisions before they are carried out, and answers questions.

`approval` says when to ask; `takeover` handles what a person does in the browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vision_agent.describe.action_sentences import describe_action
from vision_agent.events import Chosen, Proposed
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy import approval, task_limits
from vision_agent.policy.finishing import ActionResult
from vision_agent.policy.text_origin import copy_risks
from vision_agent.ports import Approver, Person
from vision_agent.settings import ApprovalSettings
from vision_agent.text.escape import cut_text, escaped_line
from vision_agent.types import Approval, Choice, Decision, Ending, Outcome, Risky

WHO_IS_ASKED = "You are asked if you resume the run in a terminal, or with --supervise."
_LONGEST_QUOTED = 40
"""Characters of an answer that is quoted because it is not understood."""


class Oversight:
    """Asks the person of one run, if there is one."""

    def __init__(
        self, journal: Journal, settings: ApprovalSettings, person: Person | None, approver: Approver | None
    ) -> None:
        self.settings = settings
        self.approver = approver
        self._journal = journal
        self._person = person
        self._is_late = False
        """Whether the last answer did not come within the time of the policy."""

    @property
    def has_person(self) -> bool:
        """Whether there is a person to ask, who may not answer."""
        return self._person is not None

    @property
    def is_wanted(self) -> bool:
        """Whether a person wants to be asked next, whatever the policy says."""
        return self.approver is not None and self.approver.wants_to_be_asked

    async def approve(self, decision: Decision, observation: Observation) -> Approval | None:
        """A person's approval of a decision before it is carried out; None if none is needed."""
        journal = self._journal
        risks = approval.risks_of(self.settings, decision, observation)
        if "copy" in self.settings.risks:
            risks += tuple(copy_risks(decision, journal.task, journal.steps, observation))
        used = task_limits.used_in(journal.task, journal.steps)
        risks += tuple(task_limits.risks_beyond(journal.task, decision, observation, used))
        if not self.is_wanted and not approval.must_ask(self.settings, decision, risks):
            return None
        journal.write(Proposed(step=journal.index, decision=decision, risks=risks))
        choice = await self._choice(decision, observation, risks)
        if choice is not None:
            journal.write(Chosen(step=journal.index, choice=choice))
            if choice.kind == "instruct":
                journal.add_message(choice.text)
        return Approval(proposed=decision, risks=risks, choice=choice)

    async def _choice(self, decision: Decision, observation: Observation, risks: Sequence[Risky]) -> Choice | None:
        """What the person chooses; None if there is nobody, nobody can answer, or no answer comes in time."""
        if self.approver is None:
            return None
        self._is_late = False
        try:
            async with asyncio.timeout(self.settings.wait_s) as clock:
                return await self.approver.approve(self._journal.task, observation, decision, risks)
        except TimeoutError:
            self._is_late = clock.expired()
            return None

    def refuse(self, asked: Approval) -> Ending:
        """Nobody approved the decision: none of its actions is carried out, and the run ends."""
        actions = asked.proposed.actions
        kinds = ", ".join(action.kind for action in actions) or "nothing"
        why = f" ({approval.words_of(asked.risks)})" if asked.risks else ""
        found = "there is nobody to ask"
        if self.approver is not None:
            found = "nobody answered in time" if self._is_late else "nobody answered"
            if reason := getattr(self.approver, "why_unanswered", ""):
                found = f"{found}: {reason.rstrip('.')}"
        sentence = f"A person must approve what was decided in step {self._journal.index}, {kinds}{why}, and {found}."
        for place, action in enumerate(actions):
            later = f"{action.kind} was not tried: a person must approve the step first."
            told = later if place else sentence
            self._journal.record_outcome(Outcome(status="refused", refusal="needs_person", sentence=told))
        return Ending(status="needs_person", sentence=f"{sentence} {self._what_helps()}")

    def _what_helps(self) -> str:
        """What whoever started the run can do so that somebody approves it."""
        if getattr(self.approver, "why_unanswered", ""):
            return "Once that works, resume the run, and you are asked again; with its page open, you are asked there."
        if self._is_late:
            return "Resume the run to be asked again; the setting approval.wait_s says how long an answer may take."
        return "Run it in a terminal, with --supervise, or with an approver. With --approve never, nobody is asked."

    async def ask(self, question: str) -> ActionResult:
        """Asks a person; the answer becomes part of the task. Without an answer the run ends."""
        answer = await self._answer(question)
        if answer is None:
            sentence = f"A person is needed: {question}"
            outcome = Outcome(status="refused", refusal="needs_person", sentence=sentence)
            ended = sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
            hint = "Nobody answered." if self.has_person else WHO_IS_ASKED
            return ActionResult(outcome, Ending(status="needs_person", sentence=f"{ended} {hint}"))
        # The question may quote a page, so it never counts as the person's words.
        self._journal.add_message(answer)
        sentence = f"Asked “{question}”, the person answered: {answer}"
        return ActionResult(Outcome(status="done", effect="asked", sentence=sentence))

    async def yes_or_no(self, question: str, tries: int) -> bool | None:
        """A person's answer; None if there is nobody to ask or the answer is neither yes nor no."""
        asked = question
        for _ in range(tries):
            answer = await self._answer(asked) or ""
            match answer.strip().lower().rstrip("."):
                case "":
                    return None
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
            if self.is_wanted:
                return None  # they want something else, such as to stop the run
            asked = f"“{escaped_line(cut_text(answer, _LONGEST_QUOTED))}” is neither yes nor no. {question}"
        return None

    async def _answer(self, question: str) -> str | None:
        return await self._person(question) if self._person is not None else None


def final_decision(proposed: Decision, asked: Approval | None, observation: Observation) -> Decision:
    """The decision to carry out after approval. It keeps the cost of the proposed one, even if a person replaced it.

    What a person did instead has a goal that says what they did, unless they gave one.
    """
    choice = asked.choice if asked is not None else None
    if choice is None or choice.kind == "approve":
        return proposed
    before = f" before this is done: {proposed.next_goal}" if proposed.next_goal else ""
    goal = {
        "replace": choice.goal or _what_is_done(choice, observation),
        "instruct": f"Not done: {proposed.next_goal or 'what was decided'}. A person said what to do",
        "take_over": f"A person takes over the browser{before}",
        "stop": "A person stops the run",
    }[choice.kind]
    return proposed.model_copy(
        update={"author": choice.author, "model": "human", "next_goal": goal, "actions": choice.actions}
    )


def _what_is_done(choice: Choice, observation: Observation) -> str:
    # Without numbers, because a replay shows the goal beside other ones.
    return "; ".join(describe_action(action, observation, numbered=False) for action in choice.actions)


def ending_if_stopped(asked: Approval | None) -> Ending | None:
    """The ending if the person who was asked stopped the run, else None."""
    if asked is None or asked.choice is None or asked.choice.kind != "stop":
        return None
    said = f": {asked.choice.text}" if asked.choice.text else "."
    return Ending(status="interrupted", sentence=f"A person stopped the run{said}")
