"""Whether a run may finish: its checks and its judge agree, or the model is told why not.

Looks through the `Browser` port for text that the page must show and files that it must have sent. Knows no model but
the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from vision_agent.actions import Finish, Infeasible, Wait
from vision_agent.describe.completion import words_of_checks
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.journal import Journal
from vision_agent.observation import Observation
from vision_agent.policy import budget, success_checks
from vision_agent.policy.deciding import usable_reply
from vision_agent.ports import Browser, Judge
from vision_agent.types import Decision, Ending, Outcome, Step, Verdict, usages_of

_SHOWS_S = 1.0
"""How long to wait for a text that must be visible at the end, or a download: the page may still be at work."""


class ActionResult(NamedTuple):
    """The outcome of an action, and the run's ending if the action ended it."""

    outcome: Outcome
    ending: Ending | None = None


class Finishing:
    """Handles `finish`, and counts how often the model claimed completion and was wrong."""

    def __init__(
        self,
        journal: Journal,
        browser: Browser,
        judge: Judge | None,
        repairs: int,
        fault_of_answer: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._journal = journal
        self._fault_of_answer = fault_of_answer
        """Why an answer that matches its schema is still not what was asked for; empty if it is."""
        self._browser = browser
        self._judge = judge
        self._repairs = repairs
        self._denied = sum(_was_denied(step) for step in journal.steps)

    async def finish(self, action: Finish, observation: Observation, decision: Decision) -> ActionResult:
        """The ending if checks and judge agree; otherwise a refusal, until the model has been wrong too often."""
        is_client = decision.author == "client"
        if not action.success:
            return _finished(action, is_client=is_client)
        task = self._journal.task
        is_partial = len(decision.actions) > 1 or observation.region is not None
        if is_partial and (task.checks or self._judge is not None):
            # The observation is from before the rest of this decision, or shows only a part of the page.
            return _denied(
                "It was not checked: call finish alone, after everything else is done, on an observation of the whole "
                "page."
            )
        fault = await self._fault_of(action, observation)
        if not fault and self._judge is not None:
            verdict = await self._judged(self._judge, action, observation, decision)
            if isinstance(verdict, Ending):
                return _denied(verdict.sentence, verdict)
            fault = "" if verdict.done else verdict.reason.strip().rstrip(".")
        if not fault:
            checked = words_of_checks(task)
            return _finished(action, is_client=is_client, checked=checked)
        self._denied += 1
        sentence = f"The task is not done: {fault}."
        if self._denied < task.limits.false_completions:
            return _denied(sentence)
        claimed = f"The model claimed completion {self._denied} times. " if self._denied > 1 else ""
        return _denied(sentence, _ending("not_done", f"{claimed}{sentence}", action))

    async def _fault_of(self, action: Finish, observation: Observation) -> str:
        """What is wrong with the answer, or else each check that does not hold; empty if all do."""
        task = self._journal.task
        fault = success_checks.fault_of_answer(action.answer, task.answer_schema)
        fault = fault or self._fault_of_answer(action.answer)
        if fault:
            return fault
        faults = [success_checks.fault_of_page([check], observation) for check in task.checks]
        for text in [check.text for check in task.checks if check.text is not None]:
            shows = await self._browser.act(Wait(text=text, seconds=_SHOWS_S), observation)
            if shows.status != "done":
                faults.append(f"the page must show {text!r}: {shows.sentence.rstrip('.')}")
        return "; ".join(filter(None, [*faults, await self._fault_of_downloads()]))

    async def _fault_of_downloads(self) -> str:
        """The first download that is missing, once none is coming any more; empty if there are all."""
        checks = [check for check in self._journal.task.checks if check.download is not None]
        if not checks:
            return ""
        names = await self._browser.downloads(
            lambda names: not success_checks.fault_of_downloads(checks, names), within_s=_SHOWS_S
        )
        return success_checks.fault_of_downloads(checks, names)

    async def _judged(
        self, judge: Judge, action: Finish, observation: Observation, decision: Decision
    ) -> Verdict | Ending:
        """The judge's verdict; if there is none, an ending that does not count as success and keeps the answer."""
        journal = self._journal
        used = budget.spent(journal.steps, journal.seconds, usages_of(decision, None, tuple(journal.unused)))
        if limit := budget.reached_limit(journal.task.limits, used):
            sentence = f"A limit was reached before a judge could check the completion: {limit.words}."
            return _ending("limit", sentence, action).model_copy(update={"limit": limit.name})
        verdict = await self._verdict(judge, action, observation)
        journal.record_verdict(verdict)
        if verdict.done is None:
            sentence = f"The model claimed completion, and that could not be judged. {verdict.reason}"
            return _ending("unavailable", sentence, action)
        return verdict

    async def _verdict(self, judge: Judge, action: Finish, observation: Observation) -> Verdict:
        journal = self._journal

        def trouble(error: FormatError) -> None:
            journal.record_trouble(f"Judge {judge.name}: {error.sentence}", error.usage)

        try:
            return await usable_reply(
                lambda complaint: judge.judge(journal.task, journal.steps, observation, action, complaint=complaint),
                trouble,
                repairs=self._repairs,
                who=judge.name,
            )
        except FormatError as error:
            return Verdict(done=None, reason=error.sentence, model=judge.name)
        except ModelUnavailable as error:
            return Verdict(done=None, reason=str(error), model=judge.name, usage=error.usage)


def ending_of(action: Finish | Infeasible) -> Ending:
    """The ending that an action states."""
    if isinstance(action, Infeasible):
        return Ending(status="infeasible", sentence=action.reason, evidence=action.evidence)
    status: Literal["done", "not_done"] = "done" if action.success else "not_done"
    return _ending(status, action.answer or f"The task {'is' if action.success else 'could not be'} done.", action)


def _ending(status: Literal["done", "not_done", "limit", "unavailable"], sentence: str, action: Finish) -> Ending:
    return Ending(status=status, sentence=sentence, answer=action.answer, evidence=action.evidence)


def _finished(action: Finish, *, is_client: bool, checked: tuple[str, ...] = ()) -> ActionResult:
    """The ending, with what was checked. A client closes its session so, and may have said nothing about the task."""
    ending = ending_of(action).model_copy(update={"checked": checked})
    if is_client and not action.answer:
        as_what = "done" if action.success else "not done"
        ending = ending.model_copy(update={"sentence": f"The client closed the session as {as_what}."})
    return ActionResult(Outcome(status="done", effect="finished", sentence=ending.sentence), ending)


def _denied(sentence: str, ending: Ending | None = None) -> ActionResult:
    return ActionResult(Outcome(status="refused", refusal="not_verified", sentence=sentence), ending)


def _was_denied(step: Step) -> bool:
    return any(outcome.refusal == "not_verified" for outcome in step.outcomes)
