"""START HERE. `Loop`: observe, decide, approve, act, record, until done.

`vision_agent.Agent`, in `session/wired_agent.py`, is the wired agent: it opens the browser, the model and the record,
and runs this loop. The loop knows the data (`types`), the interfaces (`ports`) and the rules (`policy`), but no
concrete browser, model or disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from vision_agent.actions import Action, Ask, Custom, Finish, Infeasible
from vision_agent.errors import RunFailed, VisionAgentError
from vision_agent.events import Event, Intended, Started
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy import blockers, budget, stall, task_limits
from vision_agent.policy.action_sequence import StepUnderWay, close_cut_step, dry_run_result, skipped_outcome
from vision_agent.policy.approval import only_looks
from vision_agent.policy.deciding import Decider
from vision_agent.policy.failed_pages import with_failed_page
from vision_agent.policy.finishing import ActionResult, Finishing, ending_of
from vision_agent.policy.inner_acts import InnerActs
from vision_agent.policy.interrupted import ResumePlan, ends_batch
from vision_agent.policy.oversight import Oversight, ending_if_stopped, final_decision
from vision_agent.policy.resumed_run import ResumedRun
from vision_agent.policy.takeover import is_taken_over, take_over
from vision_agent.policy.text_origin import with_origin
from vision_agent.ports import Approver, Browser, Judge, Memory, Model, Person, Recorder
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Approval, Decision, Ending, Outcome, Run, Step

_ASKS_NOTHING = ApprovalSettings()
_LAST_LOOK_S = 5.0
"""How long a run that is over waits for its last picture."""


class Loop:
    """One run, from its task to its ending; `vision_agent.Agent` makes and runs it.

    With a `resume` plan it continues an interrupted run. A run that `is_driven` does what the model decides and nothing
    by itself: what needs a person and finds none is refused, and the run goes on. After an unusable reply, the model is
    asked again up to `repairs` times. `fault_of_answer` says what is wrong with a final answer.
    """

    def __init__(
        self,
        run: Run,
        browser: Browser,
        model: Model,
        recorder: Recorder,
        *,
        fallback: Model | None = None,
        judge: Judge | None = None,
        memory: Memory | None = None,
        repairs: int = 2,
        person: Person | None = None,
        approver: Approver | None = None,
        policy: ApprovalSettings = _ASKS_NOTHING,
        resume: ResumePlan | None = None,
        is_driven: bool = False,
        fault_of_answer: Callable[[str], str] = lambda _: "",
        on_event: Callable[[Event], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._browser = browser
        self._memory = memory
        self._policy = policy
        self._is_driven = is_driven
        self.journal = Journal(run, recorder, on_event, clock)
        self._oversight = Oversight(self.journal, policy, person, approver)
        self._decider = Decider(self.journal, model, fallback, repairs, recovers=not is_driven)
        self._finishing = Finishing(self.journal, browser, judge, repairs, fault_of_answer)
        self._resumed = resume and ResumedRun(resume, self.journal, self._oversight, self._decider, repairs)
        self._under_way: StepUnderWay | None = None
        """The step whose actions are being carried out."""
        self._is_seen = True
        """Whether the page was observed since the last act."""
        self._failures = 0
        """The number of consecutive steps that failed."""

    @property
    def record(self) -> Run:
        """The run so far."""
        return self.journal.run

    async def run(self, prepare: Callable[[], Awaitable[None]] | None = None) -> Run:
        """Runs the task to its ending and returns the record; an error is recorded as the ending, then raised again.

        `prepare` opens the start page; an error in it is part of the run.

        Raises:
            RunFailed: the run was not done or reached a limit, its last steps failed, and the task's `on_failure` is
                not `never_raise`.
            VisionAgentError: the browser or the model is unavailable, or the record cannot be written.
        """
        first = self._resumed.first_event if self._resumed else Started(run=self.record)
        with self.journal.recording(first):
            ending = await self._within_time_limit(self._begin(prepare))
            while ending is None:
                ending = (
                    self._limit_reached()
                    or self._next_request_too_large()
                    or await self._within_time_limit(self.step())
                )
            ending = with_failed_page(ending, self.record.steps)
        try:
            if not self._is_seen:
                await self._look_last()
        finally:
            self.journal.end(ending)
        must_raise = self.record.task.limits.on_failure != "never_raise"
        if ending.status in ("limit", "not_done") and self._failures and must_raise:
            raise RunFailed(ending.sentence)
        return self.record

    def say(self, text: str) -> None:
        """Adds a message from the person, which reaches the next decision."""
        self.journal.add_message(text)

    async def step(self) -> Ending | None:
        """Takes one step (observe, decide, approve, act, record); returns the run's ending if it was the last step."""
        self.journal.begin_step()
        observation = await self._observe()
        stalled = stall.Stall(times=0) if self._is_driven else stall.detect_stall(self._new_steps, observation)
        proposed = await self._decider.decide(observation, stalled)
        approval = await self._approval(proposed, observation)
        decision = final_decision(proposed, approval, observation)
        self.journal.record_decision(decision)
        self._under_way = StepUnderWay(observation, decision, approval)
        ending = await self._act(decision, observation, approval)
        ending = ending or ending_if_stopped(approval)
        if ending is None and not self._is_driven:
            ending = self._stall_limit_reached(stalled)
        self._under_way = None
        step = self.journal.end_step(observation, decision, approval)
        self._failures = self._failures + 1 if budget.is_failure(step, is_last=ending is not None) else 0
        if ending is None and self._oversight.approver is not None and is_taken_over(approval):
            self._is_seen = False
            ending = await take_over(self._browser, self._oversight.approver, self.journal, self._policy.wait_s)
        return ending

    async def _approval(self, proposed: Decision, observation: Observation) -> Approval | None:
        """A person's approval; None if none is needed, or if the browser refuses the first action anyway."""
        if proposed.actions and self._browser.blocks(proposed.actions[0]) and not self._oversight.is_wanted:
            return None
        return await self._oversight.approve(proposed, observation)

    async def _within_time_limit(self, part: Awaitable[Ending | None]) -> Ending | None:
        """Awaits a part of the run. At the time limit it is cut off, whatever it waits for, and the ending returned."""
        longest = self.record.task.limits.seconds
        if longest is None:
            return await part
        try:
            async with asyncio.timeout(max(0.0, longest - self.journal.seconds)) as clock:
                return await part
        except TimeoutError:
            if not clock.expired():
                raise
        if self._under_way is not None:
            close_cut_step(self.journal, self._under_way, longest)
        cut = f"step {self.journal.index} was cut off" if self.journal.index else "the first step had not begun"
        return budget.ReachedLimit("seconds", f"{longest:g} seconds have passed; {cut}").ending

    async def _look_last(self) -> None:
        """Records the page after the last act, or why it cannot be observed. The ending stays as it is."""
        try:
            async with asyncio.timeout(_LAST_LOOK_S):
                observation = await self._browser.observe()
        except TimeoutError:
            self.journal.record_last_look(None, f"the page did not answer within {_LAST_LOOK_S:g} s")
        except VisionAgentError as error:
            self.journal.record_last_look(None, error.sentence)
        else:
            self.journal.record_last_look(observation)

    async def _begin(self, prepare: Callable[[], Awaitable[None]] | None) -> Ending | None:
        """Prepares the first step; returns an ending if there will be none."""
        if self._resumed:
            return await self._resumed.begin(self._browser, prepare)
        if prepare is not None:
            await prepare()
        return None

    async def _observe(self) -> Observation:
        """The current observation; the first one is also used, once per run, to look for an exemplar in the memory."""
        observation = await self._browser.observe()
        self._is_seen = True
        self.journal.record_observation(observation)
        if self.journal.index == 1 and self._memory is not None and self.record.task.exemplar is None:
            self.journal.record_recalled(self._memory.recall(self.record.task, observation))
        return observation

    async def _act(self, decision: Decision, observation: Observation, approval: Approval | None) -> Ending | None:
        """Carries out a decision, action by action, until one changes what the rest relies on."""
        journal = self.journal
        if approval is not None and approval.choice is None:
            refused = self._oversight.refuse(approval)
            return None if self._is_driven else refused
        result: ActionResult | None = None
        for index, action in enumerate(decision.actions):
            journal.write(Intended(step=journal.index, index=index, action=action))
            used = task_limits.used_in(journal.task, journal.steps)
            used = used.and_also(task_limits.limits_used(journal.task, decision.actions, journal.outcomes, observation))
            why = task_limits.limit_exceeded(journal.task, action, observation, used)
            if why and not task_limits.is_approved(approval, index):
                result = ActionResult(task_limits.refused(action, why))
            else:
                inner = InnerActs(
                    journal.task, self._policy, journal.steps, decision, index, approval, observation, used
                )
                result = await self._carry_out(action, decision, observation, inner)
            journal.record_outcome(result.outcome)
            is_over = result.ending is not None or result.outcome.status != "done" or self._oversight.is_wanted
            is_full = index + 1 >= self.record.task.limits.actions_per_step
            if is_over or is_full or ends_batch(action, result.outcome) or self._limit_reached():
                break
        if result is None:
            return self._ending_without_a_reply(decision)
        done = len(journal.outcomes)
        for skipped in decision.actions[done:]:
            journal.record_outcome(skipped_outcome(skipped, decision.actions[done - 1], result))
        return result.ending

    def _ending_without_a_reply(self, decision: Decision) -> Ending | None:
        if decision.author == "model" and self.record.task.limits.on_failure == "at_once":
            return Ending(status="not_done", sentence=decision.next_goal or "The model decided nothing.")
        return None

    async def _carry_out(
        self, action: Action, decision: Decision, observation: Observation, inner: InnerActs
    ) -> ActionResult:
        match action:
            case Finish():
                return await self._finishing.finish(action, observation, decision)
            case Infeasible():
                outcome = Outcome(status="done", effect="infeasible", sentence=action.reason)
                return ActionResult(outcome, ending_of(action))
            case Ask():
                return await self._ask(action.question)
        if blocker := blockers.before(action, decision, observation):
            return await self._ask(blocker.question(observation))
        if self._policy.dry_run and not only_looks(action):
            return dry_run_result(self._policy, action, decision, observation)
        self._is_seen = False
        if isinstance(action, Custom):
            outcome = inner.told_in(await self._browser.act(action, observation, inner))
        else:
            outcome = await self._browser.act(action, observation)
        outcome = with_origin(outcome, action, self.record.task, self.journal.steps, observation)
        ends_at_once = self.record.task.limits.on_failure == "at_once" and decision.author != "loop"
        if outcome.status != "done" and ends_at_once:
            return ActionResult(outcome, Ending(status="not_done", sentence=outcome.sentence))
        return ActionResult(outcome)

    async def _ask(self, question: str) -> ActionResult:
        asked = await self._oversight.ask(question)
        return ActionResult(asked.outcome) if self._is_driven else asked

    def _limit_reached(self) -> Ending | None:
        journal, limits = self.journal, self.record.task.limits
        reached = budget.reached_limit(limits, budget.spent(journal.steps, journal.seconds, journal.unused))
        if not reached and not self._is_driven and self._failures >= limits.consecutive_failures:
            if unusable := self._decider.ending_of_unusable(journal.steps[-self._failures :]):
                return unusable
            reached = budget.failure_limit(self._failures, journal.steps[-1])
        return reached.ending if reached else None

    def _next_request_too_large(self) -> Ending | None:
        """An ending if the tokens or the money left do not suffice for another request."""
        journal, limits = self.journal, self.record.task.limits
        used = budget.spent(journal.steps, journal.seconds, journal.unused)
        reached = budget.limit_of_next_request(limits, journal.steps, used)
        return reached.ending if reached else None

    def _stall_limit_reached(self, stalled: stall.Stall) -> Ending | None:
        if stalled.times < self.record.task.limits.stall:
            return None
        return budget.ReachedLimit("stall", stalled.ending).ending

    @property
    def _new_steps(self) -> tuple[Step, ...]:
        """The steps since the run was resumed: a stall before that does not stop it again."""
        return self.record.steps[self._resumed.first_step - 1 if self._resumed else 0 :]
