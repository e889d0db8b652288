"""Judges the end of a run: asks a model whether a task that is claimed to be done really is.

The judge sees the task, a short log, the last marked picture (evidence is cited by the numbers in it), the lines of the
cited marks, and the answer. It never sees the decider's memory or candidates, which would only repeat the claim.
Owns the prompt of the judge and the parsing of its reply; `anthropic` and `pydantic_ai` send the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vision_agent.actions import Finish
from vision_agent.errors import FormatError
from vision_agent.models.llm.promptable import Promptable
from vision_agent.models.prompt.history import new_messages, person_lines, short_log
from vision_agent.models.prompt.prompt import Prompt, question, task_text, time_text
from vision_agent.models.prompt.templates import as_data, as_line, fill, join_lines
from vision_agent.models.reply import ModelReply, json_object, parse_as, plain_schema, usage_on_error
from vision_agent.observation import Observation
from vision_agent.ports import Judge, Redact
from vision_agent.settings import ModelSettings
from vision_agent.text.urls import shown_address
from vision_agent.types import Step, Task, Verdict

_LOG_SETTINGS = ModelSettings(ablate=("memory",))
"""The log shows goals and outcomes, but not what the decider remembered."""


class ModelJudge(Judge):
    """Judges by asking a model, which may be the same as the decider."""

    def __init__(self, model: Promptable, *, redact: Redact) -> None:
        self.name = model.name
        self._model = model
        self._redact = redact

    async def judge(
        self, task: Task, steps: Sequence[Step], observation: Observation, finish: Finish, *, complaint: str = ""
    ) -> Verdict:
        """The model's verdict.

        Raises:
            FormatError: the reply is empty, cut off, malformed, or contradicts itself.
            ModelUnavailable: there is no key, the request failed, or the model refused to answer.
        """
        prompt = render(task, steps, observation, finish, redact=self._redact, complaint=complaint)
        return parse_verdict(await self._model.ask(prompt, [each.shot for each in task.pictures], SCHEMA), self.name)

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The capabilities of the model."""
        return await self._model.describe(known)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._model.aclose()


class _JudgeReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seen: str = Field(description="What shows that the task is done, or that it is not.")
    missing: str = Field(description="What was asked for but is not shown to be done; empty if nothing.")
    done: bool = Field(description="True only if everything that was asked for is shown to be done.")


SCHEMA = plain_schema(_JudgeReply.model_json_schema())
"""The schema of a reply; the evidence comes before the conclusion."""


def parse_verdict(model_reply: ModelReply, asked: str) -> Verdict:
    """The verdict in a reply; `asked` is the name of the model, for a reply without one.

    Raises:
        FormatError: the reply does not fit the schema, or contradicts itself.
    """
    with usage_on_error(model_reply.usage):
        reply = parse_as(json_object(model_reply.text), _JudgeReply)
        missing = reply.missing.strip()
        if reply.done and missing:
            raise FormatError(
                f"`done` is true, but `missing` names something: {missing[:200]!r}. Which of them is right?"
            )
        if not reply.done and not missing:
            raise FormatError("`done` is false, but `missing` is empty. Say what is missing.")
    return Verdict(
        done=reply.done,
        reason=missing or reply.seen.strip() or "Nothing is missing.",
        model=model_reply.model or asked,
        reply_id=model_reply.reply_id,
        usage=model_reply.usage,
        request_sha256=model_reply.request_sha256,
        seconds=model_reply.seconds,
    )


def render(
    task: Task, steps: Sequence[Step], observation: Observation, finish: Finish, *, redact: Redact, complaint: str = ""
) -> Prompt:
    """The prompt for the judge, with every secret's value replaced by its name."""
    size = observation.marked.size
    end = fill(
        "judge_end",
        width=str(size.width),
        height=str(size.height),
        steps=str(len(steps) + 1),
        time=time_text(observation.taken_at),
        said=person_lines(new_messages(len(steps), task, steps)),
        url=as_line(shown_address(observation.url)),
        title=as_line(observation.title),
        above=f"{observation.scroll.above:.0f}",
        below=f"{observation.scroll.below:.0f}",
        evidence=join_lines(_cited(finish, observation)),
        answer=as_data(finish.answer.strip()) or "none",
    )
    return Prompt(
        system=redact(fill("judge")),
        task=redact(task_text(task)),
        exemplar=(),
        log=tuple(map(redact, short_log(task, steps, _LOG_SETTINGS))),
        last="",
        pictures=(observation.marked,),
        now=redact(end),
        question=redact(question("judge_question", complaint)),
    )


def _cited(finish: Finish, observation: Observation) -> Iterator[str]:
    """The line of the listing for each cited mark."""
    lines = observation.listing.splitlines()
    for number in finish.evidence:
        mark = observation.mark(number)
        head = f"{mark.label_text if mark else number}[:]"
        line = next((each for each in lines if each.startswith(head)), "")
        if not line:
            line = f"{head}<{mark.tag}>{mark.name}" if mark else f"{number}: there is no such mark on this page"
        yield as_line(line)
