"""START HERE. The loop: observe, decide, act, record, until done.

It knows what flows (`types`) and where the world changes (`ports`), nothing concrete: no browser, no model, no disk.
`vision_agent.Agent` is this loop with everything wired to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import Literal

from vision_agent import approval, budget, completion, standstill, walls
from vision_agent.actions import Action, Ask, Finish, Infeasible, Wait
from vision_agent.cut_off import STOPS_BATCH
from vision_agent.errors import FormatError, ModelUnavailable, RecordError, RunFailed, Unavailable, VisionAgentError
from vision_agent.events import (
    Chosen,
    Decided,
    Ended,
    Event,
    Happened,
    Intended,
    Judged,
    Observed,
    Proposed,
    Reminded,
    Said,
    Started,
    Stepped,
    Troubled,
)
from vision_agent.own_way import OwnWay
from vision_agent.phrases import in_words
from vision_agent.ports import Approver, Browser, Judge, Memory, Model, Recorder
from vision_agent.settings import ApprovalSettings
from vision_agent.standstill import Standstill
from vision_agent.types import (
    Approval,
    ByHand,
    Choice,
    Decision,
    Ending,
    Message,
    Observation,
    Outcome,
    Run,
    Step,
    Usage,
    Verdict,
    usages_of,
)

Person = Callable[[str], Awaitable[str | None]]
"""Answers a question; None when there is nobody to answer."""

_NEVER = ApprovalSettings()
_SHOWS_S = 1.0
"""For a text that must show at the end: what is still being drawn may come."""


class Loop:
    """One run, from its task to its ending."""

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
        policy: ApprovalSettings = _NEVER,
        on_event: Callable[[Event], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.record = run
        self._browser = browser
        self._model = model
        self._recorder = recorder
        self._fallback = fallback
        self._judge = judge
        self._memory = memory
        self._repairs = repairs
        self._person = person
        self._approver = approver
        self._policy = policy
        self._on_event = on_event
        self._clock = clock
        self._failures = 0
        self._gone_on_at = 0
        """How many steps were on record when it was taken up again, if it was."""
        self._first = run.task.actions if not run.steps else ()
        self._own_way = OwnWay(self._note)
        self._false_endings = sum(_was_false(step) for step in run.steps)
        self._unused: list[Usage] = []
        """Of replies in this step that could not be used."""
        self._verdict: Verdict | None = None
        self._began = time.monotonic() - sum(step.seconds for step in run.steps)

    async def run(self, prepare: Callable[[], Awaitable[None]] | None = None) -> Run:
        """The whole run. However it ends, the ending is recorded first; then what broke us is raised again.

        `prepare` opens the start page; what goes wrong there belongs to the run too.

        Raises:
            RunFailed: only if the task's limits say that failures are raised.
            VisionAgentError: something we need is not there, or the record cannot be written.
        """
        first = self._first_event()
        self._recorder.write(first)
        try:
            self._tell(first)
            ending = await self._begin(prepare) or await self._until_done()
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._end(Ending(status="interrupted", sentence="The run was interrupted."))
            raise
        except VisionAgentError as error:
            status = "unavailable" if isinstance(error, Unavailable | RecordError) else "error"
            self._end(Ending(status=status, sentence=str(error)))
            raise
        except Exception as error:
            self._end(Ending(status="error", sentence=f"A fault of our own: {type(error).__name__}: {error}"))
            raise
        self._end(ending)
        if ending.status in ("limit", "not_done") and self._failures and self._must_raise():
            raise RunFailed(ending.sentence)
        return self.record

    def say(self, text: str) -> None:
        """A message from the person; it reaches the next decision."""
        message = Message(text=text, at=self._clock())
        task = self.record.task
        self._update(task=task.model_copy(update={"messages": (*task.messages, message)}))
        self._write(Said(message=message))

    def _first_event(self) -> Event:
        return Started(run=self.record)

    async def _begin(self, prepare: Callable[[], Awaitable[None]] | None) -> Ending | None:
        """All that comes before the first step; an ending where it comes to none."""
        if prepare is not None:
            await prepare()
        return None

    async def _until_done(self) -> Ending:
        while True:
            ending = self._limit_reached() or await self._step()
            if ending is not None:
                return ending

    async def _step(self) -> Ending | None:
        index, started_at, started = len(self.record.steps) + 1, self._clock(), time.monotonic()
        self._verdict = None
        observation = await self._browser.observe()
        self._write(Observed(step=index, observation=observation))
        if index == 1:
            self._remember(observation)
        # One that came to it is taken up to go on: what it did before is no reason to stop again.
        still = standstill.noticed(self.record.steps[self._gone_on_at :], observation)
        decision = self._own_way.decide(self.record.task, self.record.steps, observation, still)
        decision = decision or await self._decide(index, observation)
        asked = await self._asked_about(index, decision, observation)
        decision = decision if asked is None else _chosen(asked)
        self._write(Decided(step=index, decision=decision))
        outcomes: tuple[Outcome, ...]
        ending: Ending | None
        if asked is not None and asked.choice is None:
            outcomes, ending = self._needs_approval(index, decision, asked)
        else:
            outcomes, ending = await self._act(index, decision, observation)
        ending = ending or stopped_by(asked) or self._stopped_at(still)
        seconds = round(time.monotonic() - started, 3)
        step = Step(
            index=index,
            observation=observation,
            decision=decision,
            outcomes=outcomes,
            verdict=self._verdict,
            unused=tuple(self._unused),
            started_at=started_at,
            seconds=seconds,
            approval=asked,
        )
        self._update(steps=(*self.record.steps, step))
        self._write(Stepped(step=index, started_at=started_at, seconds=seconds))
        self._unused = []
        if ending is None and _is_taken_over(asked):
            ending = await self._by_hand()
        # A record that says why it goes no further has failed at nothing, nor has a person who said something.
        is_handing_over = decision.author in ("replay", "human", "loop") and not decision.actions
        is_failure = not is_handing_over and all(outcome.status == "refused" for outcome in outcomes)
        # What was cut off half-way may have been done, and counts only where it ended the run.
        is_failure |= ending is not None and any(outcome.status == "partial" for outcome in outcomes)
        self._failures = self._failures + 1 if is_failure else 0
        return ending

    def _remember(self, observation: Observation) -> None:
        """Ask the memory once, when the first page is seen: what it has is told with every request of the run."""
        if self._memory is None or self.record.task.exemplar is not None:
            return
        recalled = self._memory.recall(self.record.task, observation)
        for warning in recalled.warnings:
            self._write(Troubled(step=1, sentence=warning))
        if recalled.exemplar is not None:
            self._update(task=self.record.task.model_copy(update={"exemplar": recalled.exemplar}))
            self._write(Reminded(exemplar=recalled.exemplar, why=recalled.why))

    def _stopped_at(self, still: Standstill) -> Ending | None:
        if still.times < self.record.task.limits.standstill:
            return None
        sentence = f"A limit was reached: {still.times} steps in a row brought nothing new."
        return Ending(status="limit", sentence=sentence)

    async def _decide(self, index: int, observation: Observation) -> Decision:
        if self._first:
            actions, self._first = self._first, ()
            return Decision(author="scripted", next_goal="Do what the task begins with", actions=actions)
        try:
            return await self._asked(index, observation)
        except ModelUnavailable as error:
            if self._fallback is None:
                if error.usage is not None:
                    self._trouble(index, error.sentence, error.usage)
                raise
            self._trouble(index, f"{error.sentence} The fallback takes over.", error.usage)
            # For the rest of the run: two that take turns would each know half of what was meant.
            self._model, self._fallback = self._fallback, None
            return await self._decide(index, observation)

    async def _asked(self, index: int, observation: Observation) -> Decision:
        complaint = ""
        for _ in range(1 + self._repairs):
            try:
                return await self._model.decide(self.record.task, self.record.steps, observation, complaint=complaint)
            except FormatError as error:
                complaint = error.sentence
                self._trouble(index, complaint, error.usage)
        raise ModelUnavailable(
            f"The model gave no usable reply in {1 + self._repairs} tries; the last time: {complaint}",
            "try another model, or raise model.repairs",
        )

    async def _asked_about(self, index: int, decision: Decision, observation: Observation) -> Approval | None:
        """The one place where a decision is asked about before it is done; None where nobody has to be asked."""
        risks = approval.risks_of(self._policy, decision, observation)
        is_wanted = self._approver is not None and self._approver.wants_to_be_asked
        if not is_wanted and not approval.must_ask(self._policy, decision, risks):
            return None
        self._write(Proposed(step=index, decision=decision, risks=risks))
        choice: Choice | None = None
        if self._approver is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._policy.wait_s):
                    choice = await self._approver.approve(self.record.task, observation, decision, risks)
        if choice is not None:
            self._write(Chosen(step=index, choice=choice))
            if choice.kind == "instruct":
                self.say(choice.text)
        return Approval(proposed=decision, risks=risks, choice=choice)

    def _needs_approval(self, index: int, decision: Decision, asked: Approval) -> tuple[tuple[Outcome, ...], Ending]:
        """Nothing of it is done, and the run ends: nobody was there to say that it may be."""
        kinds = ", ".join(action.kind for action in decision.actions) or "nothing"
        why = f" ({approval.words_of(asked.risks)})" if asked.risks else ""
        found = "nobody answered in time" if self._approver is not None else "there is nobody to ask"
        sentence = f"A person must approve what was decided in step {index}, {kinds}{why}, and {found}."
        outcomes: list[Outcome] = []
        for action in decision.actions:
            told = sentence if not outcomes else f"{action.kind} was not tried: a person must approve the step first."
            self._happened(index, outcomes, Outcome(status="refused", refusal="needs_person", sentence=told))
        hint = "Run it in a terminal, with --supervise, or with an approver; --approve never asks nobody."
        return tuple(outcomes), Ending(status="needs_person", sentence=f"{sentence} {hint}")

    async def _by_hand(self) -> Ending | None:
        """What a person does in the browser until they hand it back: each thing a step of theirs, as it comes."""
        assert self._approver is not None
        try:
            async with (
                asyncio.timeout(self._policy.wait_s),
                aclosing(self._browser.by_hand(self._approver.handed_back)) as doing,
            ):
                async for done in doing:
                    self._step_by_hand(done)
        except TimeoutError:
            sentence = f"A person took the browser over and did not hand it back within {self._policy.wait_s:g} s."
            return Ending(status="needs_person", sentence=sentence)
        return None

    def _step_by_hand(self, done: ByHand) -> None:
        """A step like any other, but that it had happened before it could be recorded."""
        index = len(self.record.steps) + 1
        actions = (done.action,) if done.action is not None else ()
        decision = Decision(author="human", next_goal=f"By hand: {done.words}", actions=actions)
        self._write(Observed(step=index, observation=done.observation))
        self._write(Decided(step=index, decision=decision))
        outcomes: list[Outcome] = []
        if done.action is not None and done.outcome is not None:
            self._write(Intended(step=index, index=0, action=done.action))
            self._happened(index, outcomes, done.outcome)
        step = Step(
            index=index,
            observation=done.observation,
            decision=decision,
            outcomes=tuple(outcomes),
            started_at=done.started_at,
            seconds=done.seconds,
        )
        self._update(steps=(*self.record.steps, step))
        self._write(Stepped(step=index, started_at=step.started_at, seconds=step.seconds))

    async def _act(
        self, index: int, decision: Decision, observation: Observation
    ) -> tuple[tuple[Outcome, ...], Ending | None]:
        outcomes: list[Outcome] = []
        ending: Ending | None = None
        for place, action in enumerate(decision.actions):
            self._write(Intended(step=index, index=place, action=action))
            outcome, ending = await self._one(action, observation, decision)
            self._happened(index, outcomes, outcome)
            if ending is not None or outcome.status != "done" or outcome.effect in STOPS_BATCH:
                break
            if self._approver is not None and self._approver.wants_to_be_asked:
                break
        for skipped in decision.actions[len(outcomes) :]:
            sentence = f"{skipped.kind} was not tried: {self._why_not_tried(outcomes[-1], ending)}."
            self._happened(index, outcomes, Outcome(status="refused", refusal="not_reached", sentence=sentence))
        return tuple(outcomes), ending

    def _why_not_tried(self, last: Outcome, ending: Ending | None) -> str:
        if ending is not None:
            return "the run ended before it"
        if last.status == "refused":
            return "the action before it was refused"
        if last.status == "partial":
            return "the action before it was cut off half-way"
        if last.effect == "asked":
            return "a person was asked first"
        if last.effect not in STOPS_BATCH:
            return "a person paused the run"
        return "the action before it changed what can be relied on"

    async def _one(self, action: Action, observation: Observation, decision: Decision) -> tuple[Outcome, Ending | None]:
        if isinstance(action, Finish):
            return await self._finish(action, observation, decision)
        if isinstance(action, Infeasible):
            return Outcome(status="done", effect="infeasible", sentence=action.reason), ending_of(action)
        if isinstance(action, Ask):
            return await self._ask(action)
        if decision.wall:
            return await self._ask(Ask(question=walls.Wall(decision.wall).question(observation)))
        # A person may do what no model may.
        if decision.author != "human" and (wall := walls.guarding(action, observation)):
            return await self._ask(Ask(question=wall.question(observation)))
        if self._policy.dry_run and not approval.only_looks(action):
            return self._would_do(action, observation, decision)
        outcome = await self._browser.act(action, observation)
        is_ours = decision.author == "loop"
        if outcome.status != "done" and self.record.task.limits.on_failure == "at_once" and not is_ours:
            self._failures += 1
            return outcome, Ending(status="not_done", sentence=outcome.sentence)
        return outcome, None

    def _would_do(self, action: Action, observation: Observation, decision: Decision) -> tuple[Outcome, Ending]:
        """In a dry run: what would be done next is told with the rest of its decision, and the run ends."""
        place = next(index for index, each in enumerate(decision.actions) if each is action)
        risks = approval.risks_of(self._policy, decision, observation)
        told = []
        for index, each in enumerate(decision.actions[place:], start=place):
            why = approval.words_of([risk for risk in risks if risk.action == index])
            told.append(in_words(each, observation) + (f" [{why}]" if why else ""))
        sentence = f"A dry run: nothing was done to the page. Next would be: {'; then '.join(told)}"
        outcome = Outcome(status="refused", refusal="dry_run", sentence=f"Not done, in a dry run: {told[0]}")
        return outcome, Ending(status="dry_run", sentence=sentence)

    async def _finish(
        self, action: Finish, observation: Observation, decision: Decision
    ) -> tuple[Outcome, Ending | None]:
        """The end, where checks and judge agree; else the model hears why not, until it has been wrong too often."""
        if not action.success:
            return _finished(action)
        is_partial = len(decision.actions) > 1 or observation.region is not None
        if is_partial and (self.record.task.checks or self._judge is not None):
            # They are held against what was seen, and that was before the rest of this decision, or a part of it.
            sentence = "It was not checked: finish by itself, on a look at the whole page after all else is done."
            return Outcome(status="refused", refusal="not_verified", sentence=sentence), None
        fault = await self._fault_of(action, observation)
        if not fault and self._judge is not None:
            verdict = await self._judged(self._judge, action, observation, decision)
            if isinstance(verdict, Ending):
                return Outcome(status="refused", refusal="not_verified", sentence=verdict.sentence), verdict
            fault = "" if verdict.done else verdict.reason.strip().rstrip(".")
        if not fault:
            return _finished(action)
        self._false_endings += 1
        sentence = f"The task is not done: {fault}."
        outcome = Outcome(status="refused", refusal="not_verified", sentence=sentence)
        if self._false_endings < self.record.task.limits.false_endings:
            return outcome, None
        said = f"It was said to be done {self._false_endings} times. {sentence}"
        return outcome, Ending(status="not_done", sentence=said, answer=action.answer, evidence=action.evidence)

    async def _judged(
        self, judge: Judge, action: Finish, observation: Observation, decision: Decision
    ) -> Verdict | Ending:
        """What the judge says; where nobody could tell, the end, which is no success and keeps the answer."""
        step, said = len(self.record.steps) + 1, {"answer": action.answer, "evidence": action.evidence}
        used = usages_of(decision, None, tuple(self._unused))
        limit = budget.reached(
            self.record.task.limits, budget.spent(self.record.steps, time.monotonic() - self._began, used)
        )
        if limit:
            sentence = f"A limit was reached before a judge could look whether it is done: {limit}."
            return Ending(status="limit", sentence=sentence, **said)
        self._verdict = verdict = await self._asked_to_judge(judge, step, action, observation)
        self._write(Judged(step=step, verdict=verdict))
        if verdict.done is None:
            sentence = f"It was said to be done, and could not be judged. {verdict.reason}"
            return Ending(status="unavailable", sentence=sentence, **said)
        return verdict

    async def _asked_to_judge(self, judge: Judge, step: int, action: Finish, observation: Observation) -> Verdict:
        complaint = ""
        try:
            for _ in range(1 + self._repairs):
                try:
                    return await judge.judge(
                        self.record.task, self.record.steps, observation, action, complaint=complaint
                    )
                except FormatError as error:
                    complaint = error.sentence
                    self._trouble(step, f"Of the judge, {judge.name}: {complaint}", error.usage)
        except ModelUnavailable as error:
            return Verdict(done=None, reason=str(error), model=judge.name, usage=error.usage)
        reason = f"{judge.name} gave no usable reply in {1 + self._repairs} tries; the last time: {complaint}"
        return Verdict(done=None, reason=reason, model=judge.name)

    async def _fault_of(self, action: Finish, observation: Observation) -> str:
        task = self.record.task
        fault = completion.fault_of_answer(action.answer, task.answer_schema)
        fault = fault or completion.fault_of_page(task.checks, observation)
        for text in [check.text for check in task.checks if check.text is not None]:
            if not fault:
                shows = await self._browser.act(Wait(text=text, seconds=_SHOWS_S), observation)
                fault = "" if shows.status == "done" else f"the page must show {text!r}: {shows.sentence.rstrip('.')}"
        return fault

    async def _ask(self, action: Ask) -> tuple[Outcome, Ending | None]:
        answer = await self._person(action.question) if self._person is not None else None
        if answer is None:
            sentence = f"A person is needed: {action.question}"
            outcome = Outcome(status="refused", refusal="needs_person", sentence=sentence)
            return outcome, Ending(status="needs_person", sentence=sentence)
        # The question may quote a page, so it is never put into the person's mouth.
        self.say(answer)
        sentence = f"Asked “{action.question}”, the person answered: {answer}"
        return Outcome(status="done", effect="asked", sentence=sentence), None

    def _limit_reached(self) -> Ending | None:
        limits, steps = self.record.task.limits, self.record.steps
        reached = budget.reached(limits, budget.spent(steps, time.monotonic() - self._began, self._unused))
        if not reached and self._failures >= limits.consecutive_failures:
            last = steps[-1].outcomes[0].sentence if steps[-1].outcomes else "nothing was decided"
            reached = f"{self._failures} steps in a row came to nothing, the last: {last}"
        return Ending(status="limit", sentence=f"A limit was reached: {reached.rstrip('.')}.") if reached else None

    def _note(self, sentence: str) -> None:
        self._write(Troubled(step=len(self.record.steps) + 1, sentence=sentence))

    def _trouble(self, step: int, sentence: str, usage: Usage | None) -> None:
        """On record, and what it cost is counted with this step."""
        if usage is not None:
            self._unused.append(usage)
        self._write(Troubled(step=step, sentence=sentence, usage=usage))

    def _must_raise(self) -> bool:
        return self.record.task.limits.on_failure != "never_raise"

    def _happened(self, index: int, outcomes: list[Outcome], outcome: Outcome) -> None:
        self._write(Happened(step=index, index=len(outcomes), outcome=outcome))
        outcomes.append(outcome)

    def _end(self, ending: Ending) -> None:
        self._update(ending=ending)
        self._write(Ended(ending=ending))

    def _update(self, **fields: object) -> None:
        self.record = self.record.model_copy(update=fields)

    def _write(self, event: Event) -> None:
        self._recorder.write(event)
        self._tell(event)

    def _tell(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)


def _chosen(asked: Approval) -> Decision:
    """What is done of a decision that was asked about. What it cost stays with it, whoever has the last word."""
    proposed, choice = asked.proposed, asked.choice
    if choice is None or choice.kind == "approve":
        return proposed
    goal = {
        "replace": choice.goal or proposed.next_goal,
        "instruct": f"Not done: {proposed.next_goal or 'what was decided'}. A person said what to do",
        "take_over": "A person takes the browser over",
        "stop": "A person stops the run",
    }[choice.kind]
    return proposed.model_copy(
        update={"author": choice.author, "model": "human", "next_goal": goal, "actions": choice.actions}
    )


def _is_taken_over(asked: Approval | None) -> bool:
    return asked is not None and asked.choice is not None and asked.choice.kind == "take_over"


def stopped_by(asked: Approval | None) -> Ending | None:
    """The end, where a person who was asked stopped the run."""
    if asked is None or asked.choice is None or asked.choice.kind != "stop":
        return None
    said = f": {asked.choice.text}" if asked.choice.text else "."
    return Ending(status="interrupted", sentence=f"A person stopped the run{said}")


def _was_false(step: Step) -> bool:
    return any(outcome.refusal == "not_verified" for outcome in step.outcomes)


def _finished(action: Finish) -> tuple[Outcome, Ending]:
    ending = ending_of(action)
    return Outcome(status="done", effect="finished", sentence=ending.sentence), ending


def ending_of(action: Finish | Infeasible) -> Ending:
    """The end that an action says."""
    if isinstance(action, Infeasible):
        return Ending(status="infeasible", sentence=action.reason, evidence=action.evidence)
    sentence = action.answer or ("The task is done." if action.success else "The task could not be done.")
    status: Literal["done", "not_done"] = "done" if action.success else "not_done"
    return Ending(status=status, sentence=sentence, answer=action.answer, evidence=action.evidence)
