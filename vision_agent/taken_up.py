"""Takes a run up again that was cut off: what comes before its loop goes on as any.

The step in which it stopped is completed without doing anything of it again, and a person is asked where nothing else
can tell what came of it. How that is told is in `cut_off`; how a run goes on is in `agent`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from vision_agent import cut_off, standstill
from vision_agent.actions import Action, Finish, Infeasible
from vision_agent.agent import Loop, ending_of, stopped_by
from vision_agent.cut_off import CutOff, GoesOn
from vision_agent.events import Event, Intended, Observed, Stepped
from vision_agent.ports import Browser, Model, Recorder
from vision_agent.types import Ending, Observation, Outcome, Run, Step


class TakenUp(Loop):
    """The rest of a run, from where its record ends to its ending."""

    def __init__(
        self, run: Run, browser: Browser, model: Model, recorder: Recorder, *, goes_on: GoesOn, **more: Any
    ) -> None:
        super().__init__(run, browser, model, recorder, **more)
        self._goes_on = goes_on
        self._gone_on_at = len(run.steps) + bool(goes_on.step)
        self._unused = [*goes_on.unused]

    def _first_event(self) -> Event:
        return self._goes_on.told

    async def _begin(self, prepare: Callable[[], Awaitable[None]] | None) -> Ending | None:
        for text in self._goes_on.said:
            self.say(text)
        ending = await self._may_not_go_on()
        if ending is None:
            await super()._begin(prepare)
        return ending or await self._take_up()

    async def _take_up(self) -> Ending | None:
        """Completes the step that was cut off, doing nothing of it again, and tells what the page lost."""
        now, cut = await self._browser.observe(), self._goes_on.step
        if cut is not None:
            if not cut.is_told:
                # Not on record, where this step was looked at before: for whoever is asked what came of it.
                self._tell(Observed(step=cut.index, observation=now))
                ending = await self._complete(cut, now, is_page_gone=self._goes_on.opens is not None)
                if ending := ending or _ending_in(self.record.steps):
                    return ending
            last = self.record.steps[-1]
            self._first = cut_off.left_to_do(last) if last.decision.author == "scripted" else ()
        if (lost := cut_off.lost(self.record.steps, now)) is not None:
            self._own_way.make_good(lost)
        return None

    async def _may_not_go_on(self) -> Ending | None:
        """The end, where the run had come to it and that alone was not on record, or where the page on which it stood
        must not be opened again before a person has said so.
        """
        address, cut = self._goes_on.opens, self._goes_on.step
        if cut is not None and cut.is_told:
            self._completed(cut, [cut.outcomes[place] for place in sorted(cut.outcomes)])
        # A run that a person had stopped, and knew to be stopped, is taken up because it is to go on.
        if (cut is None or cut.is_told) and not self._goes_on.was_ended and (ending := _ending_in(self.record.steps)):
            return ending
        if address is None or not standstill.may_do_something(address):
            return None
        question = (
            f"The run stood at {address}, and to open that again may do something again: what stands behind its "
            "question mark may ask for that. May it be opened? Answer yes or no."
        )
        if (may_be := await self._yes_or_no(question)) is True:
            return None
        said = "A person must say how the run goes on" if may_be is None else "A person said no, and it was not opened"
        return Ending(status="needs_person", sentence=f"{said}: {question}")

    async def _complete(self, cut: CutOff, now: Observation, *, is_page_gone: bool) -> Ending | None:
        outcomes: list[Outcome] = []
        for place, action in enumerate(cut.decision.actions):
            if place in cut.outcomes:
                outcomes.append(cut.outcomes[place])
                continue
            outcome: Outcome | None = cut.unfinished(action, begun=False)
            if cut.is_by_hand:
                outcome = cut.happened(action, "a person did it by hand")
                if place not in cut.begun:
                    self._write(Intended(step=cut.index, index=place, action=action))
            elif place in cut.begun:
                outcome = cut_off.what_came_of(action, cut, now, is_page_gone=is_page_gone)
                outcome = outcome or await self._asked_what_came_of(action, cut)
            if outcome is None:
                sentence = f"A person must say what came of a step: {cut.question_about(action)}"
                return Ending(status="needs_person", sentence=sentence)
            self._happened(cut.index, outcomes, outcome)
        self._completed(cut, outcomes)
        return None

    def _completed(self, cut: CutOff, outcomes: Sequence[Outcome]) -> None:
        self._update(steps=(*self.record.steps, cut.completed(outcomes)))
        self._began -= cut.seconds
        self._write(Stepped(step=cut.index, started_at=cut.started_at, seconds=cut.seconds))

    async def _asked_what_came_of(self, action: Action, cut: CutOff) -> Outcome | None:
        was_done = await self._yes_or_no(cut.question_about(action))
        if was_done is None:
            return None
        return cut.happened(action, "a person says so") if was_done else cut.unfinished(action, begun=True)

    async def _yes_or_no(self, question: str) -> bool | None:
        """What a person answers; None where there is nobody, or nothing that could be understood."""
        for _ in range(1 + self._repairs):
            answer = await self._person(question) if self._person is not None else None
            match (answer or "").strip().lower().rstrip("."):
                case "":
                    return None
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
            if self._approver is not None and self._approver.wants_to_be_asked:
                return None  # they want something else, such as to stop
        return None


def _ending_in(steps: Sequence[Step]) -> Ending | None:
    """That of the last step, where it ended the run and that alone was not on record yet."""
    if not steps:
        return None
    ended = [action for action, _ in steps[-1].carried_out if isinstance(action, Finish | Infeasible)]
    return ending_of(ended[0]) if ended else stopped_by(steps[-1].approval)
