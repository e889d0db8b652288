"""The words a model is shown: rendered from the files in `prompts/`, a task, earlier steps and what is seen now.

Owns wording, order and redaction; knows no provider, no request and no picture. What is rendered for a finished step
never changes afterwards, so that the prompt of one step begins with that of the step before and can be cached.

Text from pages is data. It stands between `<page_text>` and `</page_text>`, and nothing in it can end that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from string import Template
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from vision_agent import assets
from vision_agent.actions import ACTIONS, Action, Cell, Custom, Point, Target
from vision_agent.custom import CustomAction
from vision_agent.errors import UsageError
from vision_agent.models.coordinates import CONVENTIONS
from vision_agent.ports import Redact
from vision_agent.settings import Coordinates
from vision_agent.types import Change, Message, Observation, Outcome, Step, Tab, Task

_FILLERS = r"\u115f\u1160\u3164\uffa0"
"""Letters to Unicode, and yet nothing is shown."""
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + _FILLERS
)
"""What a reader does not see: white space, controls, and what Unicode calls default ignorable."""
_OUR_TAGS = re.compile(
    rf"<(?=[/{_UNSEEN}]*(?:"
    + "|".join(f"[{_UNSEEN}]*".join(tag) for tag in ("page_text", "step", "task", "person"))
    + rf")(?![^\W{_FILLERS}]))",
    re.IGNORECASE,
)
_DECISIVE = {"kind", "target", "source", "mark"}


class Prompt(NamedTuple):
    """Everything a model reads in one step, without its pictures, in the order in which it reads."""

    system: str
    """The same in every step of every run."""
    task: str
    """The same in every step of a run."""
    log: tuple[str, ...]
    """One entry for each earlier step; entries are only ever added."""
    now: str
    """The page as it is now; it goes right after its picture."""
    question: str


def render(
    task: Task,
    steps: Sequence[Step],
    observation: Observation,
    *,
    redact: Redact,
    complaint: str = "",
    custom: Sequence[CustomAction] = (),
    coordinates: Coordinates = "pixels",
) -> Prompt:
    """The prompt for the step after `steps`, with every secret's value replaced by its name.

    Raises:
        UsageError: a prompt file names a placeholder that nothing fills.
    """
    says = CONVENTIONS[coordinates]
    # Every text for a model is redacted here and nowhere else, after it has got its final form.
    return Prompt(
        system=redact(fill("system", actions=_actions_offered(custom), points=says.points, unit=says.unit)),
        task=redact(_task(task)),
        log=tuple(redact(_logged(index, step, _said_before(index, task, steps))) for index, step in enumerate(steps)),
        now=redact(_now(task, steps, observation)),
        question=redact(fill("question") + ("\n" + fill("repair", complaint=as_line(complaint)) if complaint else "")),
    )


def fill(name: str, **values: str) -> str:
    """The prompt file with its placeholders filled.

    Raises:
        UsageError: it names a placeholder that nothing fills.
    """
    template = Template(assets.prompt(name))
    try:
        return template.substitute(values)
    except KeyError as error:
        known = ", ".join(f"${each}" for each in values) or "none"
        raise UsageError(
            f"prompts/{name}.md names ${error.args[0]}, which nothing fills", f"known are: {known}"
        ) from error
    except ValueError as error:
        raise UsageError(f"prompts/{name}.md cannot be filled: {error}", "write $$ for a dollar sign") from error


def as_data(text: str) -> str:
    """Text that cannot open or close one of the prompt's own tags; otherwise as it was."""
    return _OUR_TAGS.sub("‹", text)


def as_line(text: str) -> str:
    """The same for text that must stay on one line: what does not print is escaped, line ends with it."""
    return as_data("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text.strip()))


# --- what the task is -------------------------------------------------------------------------------------------------


def _task(task: Task) -> str:
    return fill(
        "task",
        goal=as_data(task.goal.strip()),
        pictures=_lines(f"{i}. {as_line(each.caption) or 'no caption'}" for i, each in enumerate(task.pictures, 1)),
        user_data=_lines(f"{as_line(name)}: {as_line(value)}" for name, value in task.user_data.items()),
        secrets=_lines(f"<secret:{each.name}>{_where_secret(each.hosts, each.fields)}" for each in task.secrets),
        files=", ".join(as_line(path.name) for path in task.files) or "none",
        hosts=_hosts(task),
        answer="free text" if task.answer_schema is None else f"JSON that meets {json.dumps(task.answer_schema)}",
    )


def _hosts(task: Task) -> str:
    allowed = "any" if task.allowed_hosts is None else ", ".join(task.allowed_hosts) or "none"
    return f"{allowed}, but not {', '.join(task.denied_hosts)}" if task.denied_hosts else allowed


def _where_secret(hosts: tuple[str, ...], fields: tuple[str, ...]) -> str:
    on = f" on {', '.join(hosts)}" if hosts else ""
    into = f" into fields of type {', '.join(fields)}" if fields else ""
    return f" (only{on}{into})" if on or into else ""


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
    """Of a field that takes only certain words; empty for any other."""
    may_be_left_out = type(None) in get_args(annotation)
    literal = next((each for each in get_args(annotation) if get_origin(each) is Literal), None)
    allowed = literal if may_be_left_out else annotation
    return [str(each) for each in get_args(allowed)] if get_origin(allowed) is Literal else []


def _one_paragraph(text: str) -> str:
    return " ".join(text.split())


# --- what has been done -----------------------------------------------------------------------------------------------


def _logged(index: int, step: Step, said: Sequence[Message]) -> str:
    decision, seen = step.decision, step.observation
    done = [
        f"{number}. {_action(action)} → {_outcome(step.outcomes[number - 1] if number <= len(step.outcomes) else None)}"
        for number, action in enumerate(decision.actions, 1)
    ]
    return fill(
        "step",
        number=str(index + 1),
        said=_said(said),
        url=as_line(seen.url),
        title=as_line(seen.title),
        judgement=decision.judgement,
        summary=as_line(decision.summary) or "none",
        memory=as_line(decision.memory) or "none",
        goal=as_line(decision.next_goal) or "none",
        outcomes=_lines(done),
    )


def _action(action: Action) -> str:
    if isinstance(action, Custom):
        return as_line(f"{action.name} {json.dumps(action.arguments, ensure_ascii=False)}")
    targets = [
        _target(each)
        for each in (getattr(action, name, None) for name in ("source", "target", "mark"))
        if each is not None
    ]
    # Only what was set is told: defaults would make each line three times as long.
    rest = action.model_dump(mode="json", exclude=_DECISIVE, exclude_defaults=True)
    said = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in rest.items()]
    return as_line(" ".join([action.kind, " to ".join(targets), *said]).replace("  ", " "))


def _target(target: Target) -> str:
    match target:
        case Point():
            return f"({target.x:g}, {target.y:g})"
        case Cell():
            return f"[{target.mark}] row {target.row} column {target.column}"
        case _:
            return f"[{target}]"


def _outcome(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not carried out"
    became = (
        f"refused, {outcome.refusal}" if outcome.status == "refused" else f"done, {outcome.effect or 'unknown effect'}"
    )
    read = "\n" + as_data(outcome.read) if outcome.read else ""
    return f"{became}: {as_line(outcome.sentence)}{read}"


def _said_before(index: int, task: Task, steps: Sequence[Step]) -> list[Message]:
    """What the person said between the start of the step before and the start of this one.

    By time and not by when we were asked, so that the entry of a finished step does not change any more.
    """
    since = steps[index - 1].started_at if index else None
    until = steps[index].started_at if index < len(steps) else None
    return [
        each for each in task.messages if (since is None or each.at > since) and (until is None or each.at <= until)
    ]


def _said(messages: Sequence[Message]) -> str:
    return _lines(f"<person>{as_data(each.text.strip())}</person>" for each in messages)


# --- what is seen now -------------------------------------------------------------------------------------------------


def _now(task: Task, steps: Sequence[Step], observation: Observation) -> str:
    size = observation.marked.size
    return fill(
        "now",
        step=str(len(steps) + 1),
        steps=str(max(task.limits.steps, len(steps) + 1)),
        time=_time(observation.taken_at),
        width=str(size.width),
        height=str(size.height),
        said=_said(_said_before(len(steps), task, steps)),
        url=as_line(observation.url),
        title=as_line(observation.title),
        tabs=_lines(_tab(each) for each in observation.tabs),
        above=f"{observation.scroll.above:.0f}",
        below=f"{observation.scroll.below:.0f}",
        changes=_changes(observation.change) if steps else "this is the first look",
        notes=_lines(_notes(observation)),
        listing=as_data(observation.listing) or "nothing on this page can be acted on by mark",
    )


def _time(at: datetime) -> str:
    return f"{at:%A} {at:%Y-%m-%d %H:%M} {at:%Z}".strip()


def _tab(tab: Tab) -> str:
    return f"{tab.number}. {as_line(tab.title)} {as_line(tab.url)}{' (this one)' if tab.active else ''}"


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


def _notes(observation: Observation) -> Iterable[str]:
    if not observation.at_rest:
        yield "The page was still changing when this was taken; wait if something is missing."
    yield from map(as_line, observation.warnings)


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) or "none"
