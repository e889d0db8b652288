"""Decides without a model: one plain line a step, resolved on the marks by what they are called.

Where a line does not fit the page, this looks again a few times and then gives up with a sentence: it never takes the
next best thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from vision_agent.actions import Action, Finish, Scroll, Wait
from vision_agent.errors import UsageError
from vision_agent.models.find import AmbiguousError, NotFoundError
from vision_agent.models.lines import Line, parse
from vision_agent.types import CAME_TO_NOTHING, Decision, Observation, Outcome, Step, Task

LOOKS_AGAIN = (0.5, 1.0, 2.0)
"""Seconds to wait before each further look for something that is not there."""

_MOST_SCROLLS = 20
_LOOK_AGAIN = "look again for: "
_END, _GIVE_UP = "finish", "give up"


class StepsModel:
    """Plays lines such as `click Sign in`, one a step. Lines that run out end the task as done.

    Its place is a counter of its own and not derived from the steps, which may hold those of others; so one of these
    is for one run, and says so in the next.
    """

    def __init__(self, lines: Iterable[str], *, scrolls: bool = False) -> None:
        self.name = "steps"
        self._lines = parse(lines)
        self._scrolls = scrolls
        """Whether the page is scrolled for what is not in view. Not for a person's own lines: what is found elsewhere
        can be another thing of that name."""
        self._scrolled = 0
        self._next = 0
        self._steps_known = -1
        self._looked_again = 0
        self._has_acted = False
        """Whether the last decision was a line's own action, so that the last outcome is that line's."""
        self._has_retried = False

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The action of the next line; of the same one, once more, if it was refused and cannot have been sent.

        Raises:
            UsageError: another run has begun, whose first lines would be missing.
        """
        del task, complaint
        is_first = self._steps_known < 0
        self._stay_in_one_run(steps)
        # What the loop did in between, to leave a standstill or at a captcha, is no outcome of a line.
        steps = [step for step in steps if step.decision.author != "loop"]
        refused = self._take_up(steps) if is_first else _refused(steps) if self._has_acted else None
        if self._has_acted or refused:
            if refused is None:
                self._go_on()
            elif refused.status == "partial" or refused.refusal == "timed_out":
                # Input was sent, or may have been before the page fell silent: a second try could order twice.
                return self._give_up(
                    f"{_named(self._lines[self._next])} may have been carried out, so it is not sent again: "
                    f"{refused.sentence}"
                )
            elif self._has_retried:
                return self._give_up(f"{_named(self._lines[self._next])} was refused twice: {refused.sentence}")
            else:
                self._has_retried = True
        self._has_acted = False
        judgement = _judgement(steps)
        if self._next >= len(self._lines):
            return _decision(_END, Finish(answer=f"All {len(self._lines)} lines were carried out."), judgement)
        return self._carry_out(self._lines[self._next], observation, judgement)

    def _take_up(self, steps: Sequence[Step]) -> Outcome | None:
        """Goes on after the lines that were followed before the run was cut off; the refusal of the last of them."""
        refused: Outcome | None = None
        for step in steps:
            # What a person did in place of a line stands for it; that they stopped the run does not.
            if step.approval is not None and step.approval.choice is not None and step.approval.choice.kind == "stop":
                continue
            decided = step.approval.proposed if step.approval else step.decision
            goal = decided.next_goal
            if decided.author != "steps" or goal.startswith(_LOOK_AGAIN) or goal in (_END, _GIVE_UP):
                continue
            if self._next >= len(self._lines) or goal != self._lines[self._next].text:
                raise UsageError(
                    f"These are not the lines that the run followed: its step {step.index} was {goal!r}",
                    "give the lines of the run, all of them",
                )
            refused = _refused([step])
            if refused is None:
                self._go_on()
        return refused

    def _stay_in_one_run(self, steps: Sequence[Step]) -> None:
        if len(steps) <= self._steps_known:
            raise UsageError(
                f"These {len(self._lines)} lines were already followed in another run",
                "make a StepsModel for each run",
            )
        self._steps_known = len(steps)

    def _carry_out(self, line: Line, observation: Observation, judgement: _Judgement) -> Decision:
        try:
            action = line.build(observation)
        except NotFoundError as error:
            way = self._way_on(observation, error) if self._looked_again else None
            if way is not None:
                self._scrolled += 1
                return _decision(f"{_LOOK_AGAIN}{line.text}", way, judgement, summary=str(error))
            if self._looked_again < len(LOOKS_AGAIN):
                pause = Wait(seconds=LOOKS_AGAIN[self._looked_again])
                self._looked_again += 1
                return _decision(f"{_LOOK_AGAIN}{line.text}", pause, judgement, summary=str(error))
            return self._give_up(f"{_named(line)} could not be carried out: {error}")
        self._has_acted = True
        return _decision(line.text, action, judgement)

    def _way_on(self, observation: Observation, error: NotFoundError) -> Scroll | None:
        """Where else to look: from the top of the page to its end, once; None where there is nothing left of it."""
        if not self._scrolls or isinstance(error, AmbiguousError) or self._scrolled >= _MOST_SCROLLS:
            return None
        if self._scrolled == 0 and observation.scroll.above >= 1:
            return Scroll(direction="up", to="end")
        return Scroll(direction="down") if observation.scroll.below >= 1 else None

    def _go_on(self) -> None:
        self._next += 1
        self._looked_again = self._scrolled = 0
        self._has_retried = False

    def _give_up(self, why: str) -> Decision:
        return _decision(_GIVE_UP, Finish(success=False, answer=why), "failure")


_Judgement = Literal["success", "failure", "unknown"]


def _refused(steps: Sequence[Step]) -> Outcome | None:
    """The outcome of the last step that was refused or cut off half-way, if there is one."""
    last = steps[-1].outcomes if steps else ()
    return next((each for each in last if each.status != "done"), None)


def _judgement(steps: Sequence[Step]) -> _Judgement:
    if not steps or not steps[-1].outcomes:
        return "unknown"
    if _refused(steps):
        return "failure"
    return "unknown" if any(each.effect in CAME_TO_NOTHING for each in steps[-1].outcomes) else "success"


def _named(line: Line) -> str:
    return f"Line {line.number}, {line.text!r},"


def _decision(goal: str, action: Action, judgement: _Judgement, summary: str = "") -> Decision:
    return Decision(
        judgement=judgement, next_goal=goal, actions=(action,), summary=summary, author="steps", model="steps"
    )
