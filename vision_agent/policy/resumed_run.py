"""What a resumed run does before its loop starts.

It completes the interrupted step without repeating anything, and asks a person if the outcome of an action cannot be
determined otherwise. `interrupted` has the rules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from vision_agent.actions import Action, Finish, Infeasible
from vision_agent.events import Event, Intended, Observed
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy import interrupted, stall
from vision_agent.policy.deciding import Decider
from vision_agent.policy.finishing import ending_of
from vision_agent.policy.interrupted import InterruptedStep, ResumePlan
from vision_agent.policy.oversight import WHO_IS_ASKED, Oversight, ending_if_stopped
from vision_agent.ports import Browser
from vision_agent.types import Ending, Outcome, Step


class ResumedRun:
    """Resumes one run at the end of its record, by a plan."""

    def __init__(
        self, plan: ResumePlan, journal: Journal, oversight: Oversight, decider: Decider, repairs: int
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._oversight = oversight
        self._decider = decider
        self._tries = 1 + repairs
        self.first_step = journal.index + bool(plan.step)
        """The number of the first step that is new."""
        journal.unused = [*plan.unused]

    @property
    def first_event(self) -> Event:
        """The event that records the resumption."""
        return self._plan.event

    async def begin(self, browser: Browser, prepare: Callable[[], Awaitable[None]] | None) -> Ending | None:
        """Opens the page again and completes the interrupted step; returns an ending if the run is already over."""
        ending = reopen(self._plan, self._journal) or await self._may_not_open()
        if ending is None and prepare is not None:
            await prepare()
        return ending or await self._catch_up(browser)

    async def _may_not_open(self) -> Ending | None:
        """The ending if the page needs a person's permission to be opened again and did not get it, else None."""
        address = self._plan.opens
        if address is None or self._plan.may_reopen or not stall.may_do_something(address):
            return None
        question = (
            f"The run stopped at {address}. Opening it again may repeat an action: "
            "its query may ask the server for one. May it be opened? Answer yes or no."
        )
        may_open = await self._oversight.yes_or_no(question, self._tries)
        if may_open:
            return None
        said = f"A person said no, and it was not opened: {question}"
        if may_open is None:
            said = f"A person must say how the run continues: {question} {self._who_is_asked}"
        return Ending(status="needs_person", sentence=said)

    @property
    def _who_is_asked(self) -> str:
        return "Nobody answered yes or no." if self._oversight.has_person else WHO_IS_ASKED

    async def _catch_up(self, browser: Browser) -> Ending | None:
        """Completes the interrupted step without repeating anything, and finds out what the page lost."""
        journal, cut = self._journal, self._plan.step
        now = await browser.observe()
        if cut is not None:
            if not cut.has_all_outcomes:
                # Not recorded, as the step has its observation: this one is shown to the person who is asked.
                journal.notify(Observed(step=cut.index, observation=now))
                ending = await self._complete_step(cut, now) or _ending_in(journal.steps)
                if ending is not None:
                    return ending
            last = journal.steps[-1]
            self._decider.do_first(interrupted.left_to_do(last) if last.decision.author == "scripted" else ())
        if (lost := interrupted.lost(journal.steps, now)) is not None:
            self._decider.restore_or_report(lost)
        return None

    async def _complete_step(self, cut: InterruptedStep, now: Observation) -> Ending | None:
        """Completes a step with missing outcomes; returns an ending if an outcome stays unknown."""
        journal = self._journal
        for place, action in enumerate(cut.decision.actions):
            if place in cut.outcomes:
                journal.outcomes.append(cut.outcomes[place])
                continue
            outcome: Outcome | None = cut.unfinished(action, begun=False)
            if cut.is_by_hand:
                outcome = cut.happened(action, "a person did it in the browser")
                if place not in cut.begun:
                    journal.write(Intended(step=cut.index, index=place, action=action))
            elif place in cut.begun:
                outcome = interrupted.infer_outcome(action, cut, now, is_page_gone=self._plan.opens is not None)
                outcome = outcome or await self._ask_outcome(action, cut)
            if outcome is None:
                sentence = f"A person must say how a step ended: {cut.question_about(action)} {self._who_is_asked}"
                return Ending(status="needs_person", sentence=sentence)
            journal.record_outcome(outcome)
        journal.add_step(cut.completed(journal.outcomes), is_earlier=True)
        return None

    async def _ask_outcome(self, action: Action, cut: InterruptedStep) -> Outcome | None:
        was_done = await self._oversight.yes_or_no(cut.question_about(action), self._tries)
        if was_done is None:
            return None
        return cut.happened(action, "a person says so") if was_done else cut.unfinished(action, begun=True)


def reopen(plan: ResumePlan, journal: Journal) -> Ending | None:
    """Adds what is known without a page; returns the ending if only the ending was missing from the record."""
    for text in plan.messages:
        journal.add_message(text)
    cut = plan.step
    if cut is not None and cut.has_all_outcomes:
        journal.add_step(cut.completed([cut.outcomes[place] for place in sorted(cut.outcomes)]), is_earlier=True)
    # A person who resumes a run that they had stopped wants it to continue.
    is_complete = cut is None or cut.has_all_outcomes
    return _ending_in(journal.steps) if is_complete and not plan.was_ended else None


def _ending_in(steps: Sequence[Step]) -> Ending | None:
    """The ending that the last step implies, if any."""
    if not steps:
        return None
    ended = [action for action, _ in steps[-1].carried_out if isinstance(action, Finish | Infeasible)]
    return ending_of(ended[0]) if ended else ending_if_stopped(steps[-1].approval)
