"""Renders the prompt of a step from the files in `prompts/`, the task, the earlier steps and the observation.

Owns the order of the parts, redaction and the choice of pictures; knows no provider and no request. The text of a
finished step never changes, so that a prompt starts like that of the previous step and can be cached.

Text from pages is data: it is between `<page_text>` and `</page_text>`, and cannot close that tag.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from vision_agent.actions import ACTIONS
from vision_agent.custom_actions import CustomAction
from vision_agent.exemplars import VerifiedBy
from vision_agent.models.coordinates import CONVENTIONS
from vision_agent.models.prompt.history import new_messages, person_lines, render_last_step, render_log
from vision_agent.models.prompt.listing_filter import filter_listing
from vision_agent.models.prompt.templates import as_data, as_line, fill, join_lines
from vision_agent.observation import Change, Observation, Shot, Tab
from vision_agent.policy import budget, stall
from vision_agent.policy.blockers import blockers_in
from vision_agent.ports import Redact
from vision_agent.settings import Coordinates, ModelSettings
from vision_agent.text.urls import shown_address
from vision_agent.types import Secret, Step, SuccessCheck, Task


class Prompt(NamedTuple):
    """Everything a model reads in one step except the pictures of the task, in reading order."""

    system: str
    """The same in every step of every run."""
    task: str
    """The same in every step of a run."""
    exemplar: tuple[str | Shot, ...]
    """The exemplar as texts and small pictures; the same in every step of a run."""
    log: tuple[str, ...]
    """One entry for each earlier step; entries are only ever added."""
    last: str
    """The last step in full, if the log will shorten it and does not have it yet; else empty."""
    pictures: tuple[Shot, ...]
    """Pictures of the page: the previous one, if the settings ask for it, and the current one."""
    now: str
    """The current page; it follows the picture."""
    question: str


def render(
    task: Task,
    steps: Sequence[Step],
    observation: Observation,
    *,
    redact: Redact,
    complaint: str = "",
    custom: Sequence[CustomAction] = (),
    settings: ModelSettings = ModelSettings(),  # noqa: B008 - frozen
    coordinates: Coordinates = "pixels",
) -> Prompt:
    """The prompt for the step after `steps`, with every secret's value replaced by its name.

    Raises:
        UsageError: a prompt file names an unknown placeholder.
    """
    wording = CONVENTIONS[coordinates]
    last = "" if "history" in settings.ablate else render_last_step(task, steps, settings)
    # Every text for a model is redacted here, in its final form, and nowhere else.
    return Prompt(
        system=redact(
            fill(
                "system",
                actions=_actions_offered(custom),
                field=fill(settings.actions_per_step).strip(),
                points=wording.points,
                unit=wording.unit,
            )
        ),
        task=redact(task_text(task)),
        exemplar=tuple(each if isinstance(each, Shot) else redact(each) for each in exemplar_parts(task, settings)),
        log=tuple(map(redact, _log(task, steps, settings))),
        last=redact(last) if last else "",
        pictures=page_pictures(steps, observation, settings),
        now=redact(_now(task, steps, observation, settings)),
        question=redact(question("question", complaint)),
    )


def question(name: str, complaint: str) -> str:
    """The question to the model, with the complaint about the previous answer if there is one."""
    return fill(name) + ("\n" + fill("repair", complaint=as_line(complaint)) if complaint else "")


# --- the task ---------------------------------------------------------------------------------------------------------


def task_text(task: Task) -> str:
    """The goal with its facts, secrets by name, and limits on hosts and files."""
    return fill(
        "task",
        goal=as_data(task.goal.strip()),
        instructions=as_data(task.instructions.strip()) or "none",
        pictures=join_lines(f"{i}. {as_line(each.caption) or 'no caption'}" for i, each in enumerate(task.pictures, 1)),
        user_data=join_lines(f"{as_line(name)}: {as_line(value)}" for name, value in task.user_data.items()),
        secrets=join_lines(map(_secret, task.secrets)),
        files=", ".join(as_line(path.name) for path in task.files) or "none",
        hosts=_hosts(task),
        actions=_allowed_actions(task),
        checks=join_lines(map(_check, task.checks)),
        answer="free text" if task.answer_schema is None else f"JSON that meets {json.dumps(task.answer_schema)}",
    )


def _check(check: SuccessCheck) -> str:
    parts = {
        "the address is": check.url,
        "the page shows": check.text,
        "there is a mark called": check.mark,
        "a file has been downloaded that is called": check.download,
    }
    return as_line(", ".join(f"{what} {value}" for what, value in parts.items() if value is not None))


def _hosts(task: Task) -> str:
    allowed = "any" if task.allowed_hosts is None else ", ".join(task.allowed_hosts) or "none"
    return f"{allowed}, but not {', '.join(task.denied_hosts)}" if task.denied_hosts else allowed


def _allowed_actions(task: Task) -> str:
    allowed, submits, spend = task.allowed_actions, task.limits.submits, task.limits.spend
    words = "any" if allowed is None else f"{', '.join(allowed) or 'none'}, and actions that only look"
    words += "" if submits is None else f"; forms that may be submitted: {submits}"
    return words if spend is None else f"{words}; money that may be spent: {spend}"


def _secret(secret: Secret) -> str:
    on = f" on {', '.join(secret.origins)}" if secret.origins else ""
    into = f" into fields of type {', '.join(secret.fields)}" if secret.fields else ""
    code = " (a one-time code, made anew each time it is typed)" if secret.is_code else ""
    value = f" = {secret.value.get_secret_value()} (private: it is not recorded)" if secret.is_private else ""
    return f"<secret:{secret.name}>{value}{code}{f' (only{on}{into})' if on or into else ''}"


def _actions_offered(custom: Sequence[CustomAction]) -> str:
    offered = [*ACTIONS, *(each.definition for each in custom)]
    return "\n".join(f"- `{_signature(each)}`: {_one_paragraph(each.__doc__ or '')}" for each in offered)


def _signature(action: type[BaseModel]) -> str:
    parts = [str(action.model_fields["kind"].default)]
    for name, field in action.model_fields.items():
        if name == "kind":
            continue
        words = _words_allowed(field.annotation)
        if words and field.default is None:
            parts.append(f"[{name}={'|'.join(words)}]")
        elif words:
            parts.append(f"{name}={'|'.join([str(field.default), *(each for each in words if each != field.default)])}")
        elif field.is_required():
            parts.append(name)
        else:
            parts.append(f"[{name}]" if field.default is None else f"{name}={json.dumps(field.default)}")
    return " ".join(parts)


def _words_allowed(annotation: Any) -> list[str]:
    """The allowed words of a field, if it takes only certain words; else empty."""
    may_be_left_out = type(None) in get_args(annotation)
    literal = next((each for each in get_args(annotation) if get_origin(each) is Literal), None)
    allowed = literal if may_be_left_out else annotation
    return [str(each) for each in get_args(allowed)] if get_origin(allowed) is Literal else []


def _one_paragraph(text: str) -> str:
    return " ".join(text.split())


# --- the exemplar -----------------------------------------------------------------------------------------------------


_VERIFIED: dict[VerifiedBy, str] = {
    "checks": "its result passed the checks of that task",
    "judge": "a model that judged its result found it done",
    "person": "a person confirmed its result",
    "unknown": "whether its result was right was not checked",
}


def exemplar_parts(task: Task, settings: ModelSettings) -> Iterator[str | Shot]:
    """The exemplar as texts and small pictures; empty if there is none."""
    if task.exemplar is None or "memory" in settings.ablate:
        return
    yield fill(
        "exemplar",
        verified=_VERIFIED[task.exemplar.verified_by],
        goal=as_data(task.exemplar.goal.strip()),
        site=as_line(task.exemplar.site) or "unknown",
    )
    for number, turn in enumerate(task.exemplar.turns, 1):
        if turn.picture is not None and turn.picture.data is not None and "picture" not in settings.ablate:
            yield turn.picture
        acts = (f"{json.dumps(each.action, ensure_ascii=False)} → {each.outcome}" for each in turn.acts)
        yield fill(
            "exemplar_turn",
            number=str(number),
            url=as_line(shown_address(turn.url)),
            title=as_line(turn.title),
            lines=join_lines(map(as_line, turn.lines)),
            judgement=turn.judgement,
            memory=as_line(turn.memory) or "none",
            goal=as_line(turn.next_goal) or "none",
            acts=join_lines(map(as_line, acts)),
        )


# --- the page now -----------------------------------------------------------------------------------------------------


def _now(task: Task, steps: Sequence[Step], observation: Observation, settings: ModelSettings) -> str:
    size = observation.marked.size
    return fill(
        "now",
        **now_values(task, steps, observation),
        shown=_SHOWN[len(page_pictures(steps, observation, settings))],
        width=str(size.width),
        height=str(size.height),
        tabs=join_lines(_tab(each) for each in observation.tabs),
        changes=_changes(observation.change) if steps else "this is the first look",
        listing=_listing(task, steps, observation, settings),
    )


def now_values(task: Task, steps: Sequence[Step], observation: Observation) -> dict[str, str]:
    """The values of the placeholders that describe this step, without the marks."""
    return {
        "step": str(len(steps) + 1),
        "steps": str(max(task.limits.steps, len(steps) + 1)),
        "time": time_text(observation.taken_at),
        "budget": _budget(task, steps, observation.taken_at),
        "stall": _stalled(steps, observation),
        "said": person_lines(new_messages(len(steps), task, steps)),
        "url": as_line(shown_address(observation.url)),
        "title": as_line(observation.title),
        "above": f"{observation.scroll.above:.0f}",
        "below": f"{observation.scroll.below:.0f}",
        "notes": join_lines(_notes(task, observation)),
    }


_SHOWN = (
    "No picture is given this time. The page is",
    "Above is the page now,",
    "Above is the page as it was in the step before, and below that the page now,",
)
"""The sentence before the listing, by the number of pictures."""


def _listing(task: Task, steps: Sequence[Step], observation: Observation, settings: ModelSettings) -> str:
    if "listing" in settings.ablate:
        return "not given this time"
    return as_data(filter_listing(task, steps, observation, settings)) or "nothing on this page can be acted on by mark"


def _log(task: Task, steps: Sequence[Step], settings: ModelSettings) -> tuple[str, ...]:
    if "history" in settings.ablate:
        return ()
    return render_log(task, steps, settings)


def page_pictures(steps: Sequence[Step], observation: Observation, settings: ModelSettings) -> tuple[Shot, ...]:
    """The pictures of the page for the prompt, oldest first."""
    if "picture" in settings.ablate:
        return ()
    seen = [*([step.observation for step in steps[-1:]] if settings.previous_picture else []), observation]
    return tuple(each.clean if "marks" in settings.ablate else each.marked for each in seen)


def time_text(at: datetime) -> str:
    """The weekday, date, time and time zone."""
    return f"{at:%A} {at:%Y-%m-%d %H:%M} {at:%Z}".strip()


def _budget(task: Task, steps: Sequence[Step], now: datetime) -> str:
    """A warning if a limit is nearly used up, else nothing."""
    seconds = (now - steps[0].started_at).total_seconds() if steps else 0.0
    left = budget.running_out(task.limits, budget.spent(steps, seconds))
    return f" Nearly used up, only {left} left: finish with what you have, and say what is missing." if left else ""


def _stalled(steps: Sequence[Step], observation: Observation) -> str:
    """The note on a stall, on a line of its own, or nothing."""
    sentence = stall.detect_stall(steps, observation).sentence
    return f"\n{sentence}" if sentence else ""


def _tab(tab: Tab) -> str:
    return f"{tab.number}. {as_line(tab.title)} {as_line(shown_address(tab.url))}{' (this one)' if tab.active else ''}"


def _changes(change: Change) -> str:
    parts = ["another page"] if change.navigated else []
    for word, numbers in (
        ("new", change.new),
        ("gone", change.gone),
        ("changed", change.changed),
        ("moved", change.moved),
    ):
        if numbers:
            parts.append(f"{word} {', '.join(map(str, numbers))}")
    return "; ".join(parts) or "nothing"


def _notes(task: Task, observation: Observation) -> Iterable[str]:
    if not observation.at_rest:
        yield "The page was still changing when this was taken; wait if something is missing."
    yield from (blocker.note for blocker in blockers_in(task, observation))
    yield from map(as_line, observation.warnings)
