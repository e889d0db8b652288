"""A model that repeats the decisions of a recorded run, through the ordinary loop.

If a decision cannot be repeated without a guess, it stops and says why. Then the next model takes over, or a healer
does that one step; without either, the run ends as not done. It knows steps, but not where they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from vision_agent.actions import Action, Finish, Wait
from vision_agent.describe.action_sentences import LOOK_AGAIN_IN_REPLAY
from vision_agent.models.llm.heal import Healer
from vision_agent.models.offline.steps import LOOKS_AGAIN
from vision_agent.observation import Observation
from vision_agent.policy.rebind import RebindError, Shown, carried_out, rebind_actions, texts_set
from vision_agent.policy.recorded_dialogs import dismissal
from vision_agent.policy.takeover import did_by_hand, last_takeover
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task


class ReplayedModel(Model):
    """Repeats the decisions of recorded steps, one per step, and then hands over to the model `then`.

    Each action that was carried out is rebound to the unique match of its target's fingerprint. Refused actions are
    left out, and so are the loop's own: the loop decides them again if needed. `run` is the id of the recorded run;
    with the step's number it becomes the `reply_id` of a decision. A `healer` decides a step that cannot be repeated;
    the next step is a recorded one again. `differs_from`: the first step whose new values may change what is paid.
    Use a new one for each run.
    """

    sees_secrets = True  # the name of a secret in a recorded fact matches its value on the page

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        run: str = "",
        then: Model | None = None,
        healer: Healer | None = None,
        differs_from: int | None = None,
    ) -> None:
        self.name = "replay"
        self.taken: dict[int, int] = {}
        """The number of the recorded step by the number of the step of this run that repeats it."""
        self.stopped = False
        """Whether the replay stopped before the end of the record."""
        self._run = run
        self._then = then
        self._healer = healer
        self._differs_from = differs_from
        self._steps = tuple(steps)
        self._left = [step for step in steps if _can_repeat(step, has_next=then is not None)]
        self._recorded = len(self._left)
        self._looked_again = 0
        self._tried: Step | None = None
        """The recorded step that was repeated last."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next recorded decision, why it cannot be repeated, or the decision of the healer or the next model.

        Raises:
            FormatError, ModelUnavailable: as raised by the healer or the next model.
        """
        self._put_back(steps, _shown(task))
        tried, refused = self._tried, self._refusal(steps, observation)
        if tried is not None and refused:
            if self._healer is None or _ends_the_run(tried):
                return self._stop(refused)
            here = next(each for each in reversed(steps) if each.decision.author == "replay")
            self._healer.begin(tried, refused, steps, tried=here)
        if self._healer is not None and self._healer.is_active:
            healed = await self._healer.decide(task, steps, observation, complaint)
            if healed is not None:
                return healed
        if not self._left:
            if self._then is not None:
                return await self._then.decide(task, steps, observation, complaint=complaint)
            why = f"all {self._recorded} recorded steps were repeated, but none of them ends the task"
            return self._stop(why, is_early=False)
        step = self._left[0]
        decision = self._repeat(step, observation, steps, _shown(task))
        if decision is not None:
            return decision
        assert self._healer is not None
        healed = await self._healer.decide(task, steps, observation, complaint)
        assert healed is not None  # the healing has only just begun
        return healed

    def _repeat(self, step: Step, observation: Observation, steps: Sequence[Step], shown: Shown) -> Decision | None:
        """The recorded decision, or why it cannot be repeated; None if the healer takes over."""
        try:
            actions = self._again(step, observation, shown)
        except RebindError as error:
            # A replay is faster than the model was, so the page may need more time.
            if self._looked_again < len(LOOKS_AGAIN):
                pause = Wait(seconds=LOOKS_AGAIN[self._looked_again])
                self._looked_again += 1
                goal = f"{LOOK_AGAIN_IN_REPLAY}{step.index} of the record: {error}"
                return Decision(author="replay", next_goal=goal, actions=(pause,), reply_id=self._id(step))
            why = f"step {step.index} of the record does not fit this page: {error}"
            if self._healer is None or _ends_the_run(step):
                return self._stop(why)
            self._left.pop(0)
            self._looked_again = 0
            self._healer.begin(step, why, steps)
            return None
        self._left.pop(0)
        self._looked_again = 0
        self._tried = step
        self.taken[len(steps) + 1] = step.index
        recorded = step.decision
        return Decision(
            author="replay",
            judgement=recorded.judgement,
            memory=recorded.memory,
            next_goal=recorded.next_goal,
            summary=recorded.summary,
            actions=actions,
            reply_id=self._id(step),
        )

    def _again(self, step: Step, observation: Observation, shown: Shown) -> tuple[Action, ...]:
        has_other_values = self._differs_from is not None and step.index >= self._differs_from
        before = (each for each in self._steps if each.index <= step.index)
        given = {text for each in before for text in texts_set(each)}
        return rebind_actions(step, observation, shown, has_other_values=has_other_values, given=given)

    def _put_back(self, steps: Sequence[Step], shown: Shown) -> None:
        """Repeats the last step once more if a person took over instead, and did something else by hand."""
        by_hand = last_takeover(steps)
        if by_hand is None or self._tried is None:
            return
        step, self._tried = self._tried, None
        for at, done in enumerate(by_hand):
            with suppress(RebindError):
                if did_by_hand(done, self._again(step, done.observation, shown), by_hand[:at]):
                    return
        self._left.insert(0, step)

    def _refusal(self, steps: Sequence[Step], observation: Observation) -> str:
        """Why the last repeated step was refused, cut off or asked something else; empty if it succeeded."""
        ours = [step for step in steps if step.decision.author == "replay"]
        tried, self._tried = self._tried, None
        if tried is None or not ours:
            return ""
        refused = next((each for each in ours[-1].outcomes if each.status != "done"), None)
        if refused is None:
            dismissed = dismissal(ours[-1].outcomes, observation.warnings)
            asked = f"step {tried.index} of the record was asked something else here"
            return f"{asked}: {dismissed.rstrip('.')}" if dismissed else ""
        became = "cut off half-way" if refused.status == "partial" else "refused"
        return f"step {tried.index} of the record was {became} here: {refused.sentence.rstrip('.')}"

    def _stop(self, why: str, *, is_early: bool = True) -> Decision:
        self.stopped = self.stopped or is_early
        self._left = []
        if self._then is None:
            answer = (
                f"The recorded steps were not all repeated: {why}." if self._recorded else f"Nothing to repeat: {why}."
            )
            return Decision(author="replay", next_goal="Not done", actions=(Finish(success=False, answer=answer),))
        # A step without an action, so that the reason is in the record, on the terminal and in the log for the model.
        return Decision(author="replay", next_goal=f"Continue from here without the record: {why}")

    def _id(self, step: Step) -> str:
        return f"{self._run}:{step.index}"


def _shown(task: Task) -> Shown:
    """What a page shows for each secret and private datum; codes change."""
    return {each.name: each.value.get_secret_value() for each in task.secrets if not each.is_code}


def _ends_the_run(step: Step) -> bool:
    return any(action.kind in ("finish", "infeasible") for action in carried_out(step))


def _can_repeat(step: Step, *, has_next: bool) -> bool:
    """Whether a step did something; one that ended its run is not repeated if another model follows."""
    return bool(carried_out(step)) and step.decision.author != "loop" and not (_ends_the_run(step) and has_next)
