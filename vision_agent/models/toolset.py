"""Claude with its own browser toolset: a second dialect over the same marks, actions and record (`model.dialect`).

Where the marks dialect asks for one typed reply a step, this one is a conversation of tool calls. Calls that only look
are answered at once from the observation, and no step is counted; those that act end the decision, and their results
are what came of the actions. Pictures of earlier steps are not sent again.

Owns the conversation; what a call means is told by `members`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from vision_agent.actions import Action, Ask, Finish, Infeasible
from vision_agent.custom import recorded
from vision_agent.errors import FormatError
from vision_agent.models import members
from vision_agent.models.anthropic import AnthropicModel, Body, as_recorded, image, text_of, usage_of
from vision_agent.models.fill import as_data, as_line, fill
from vision_agent.models.history import log_of
from vision_agent.models.prompt import exemplar_of, now_values, task_text
from vision_agent.models.reply import costing, plain
from vision_agent.settings import ModelSettings
from vision_agent.types import Decision, Observation, Outcome, PageMap, Step, Task

_HISTORY = ModelSettings(history="data")
_FAMILY = "browser"
_TYPE = "browser_toolset_20260801"
_OURS: tuple[type[BaseModel], ...] = (Ask, Finish, Infeasible)
"""Actions that the toolset has no member for: whom to ask, and how to end."""
_MOST_LOOKS = 8
"""Turns in a row that only look at one and the same page."""
_LONGEST_GOAL = 500
_NO_LONGER_SHOWN = {"type": "text", "text": "(a picture of an earlier step)"}


class ToolsetModel(AnthropicModel):
    """Decides by asking a Claude model that is given the browser toolset. One of these is for one run."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._messages: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        """Calls of the last turn, which the next one must have the results of."""
        self._answers: dict[str, list[dict[str, Any]]] = {}
        """What the looks among them saw, by the id of the call."""
        self._acts: dict[str, range] = {}
        """Which actions of the decision each of the others became."""
        self._decided_at = -1
        self._frame: PageMap | None = None
        """Of the last screenshot of the whole view."""
        self._shown = ""
        """The id of the observation that a picture was last shown of."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The actions of the first turn that acts, or that ends the task.

        Raises:
            FormatError: the turn calls nothing, or what is not there; nothing of it was done.
            ModelUnavailable: there is no key, the request failed, or the model would not answer.
        """
        self._need_key()
        began, bodies, begun = self._clock(), list[Body](), len(self._messages)
        self._tell(task, steps, observation, complaint)
        for _ in range(_MOST_LOOKS):
            request = self._request(task, begun)
            kept_as = self._keep_request(as_recorded(request))
            with costing(usage_of(self.name, [each.usage for each in bodies]) if bodies else None):
                body = await self._send(request)
            bodies.append(body)
            usage = usage_of(body.model, [each.usage for each in bodies])
            with costing(usage):
                actions = self._heard(body, observation)
            if actions:
                self._decided_at = len(steps)
                said = " ".join(str(block["text"]).strip() for block in body.content if block.get("type") == "text")
                return Decision(
                    next_goal=said[:_LONGEST_GOAL],
                    actions=actions,
                    author="model",
                    model=body.model,
                    reply_id=body.id,
                    usage=usage,
                    request_sha256=kept_as,
                    seconds=self._clock() - began,
                )
            if body.stop_reason != "pause_turn":
                self._messages.append({"role": "user", "content": self._results({}, "")})
        with costing(usage):
            raise FormatError(f"You looked {_MOST_LOOKS} times at the same page. Act, `ask`, or `finish`.")

    # --- what it is told ---

    def _tell(self, task: Task, steps: Sequence[Step], observation: Observation, complaint: str) -> None:
        if complaint and self._messages:
            told = self._results({}, complaint) if self._open else [self._text(complaint)]
            self._say(told)
            return
        is_begun = bool(self._messages) and 0 <= self._decided_at < len(steps)
        if not is_begun:
            self._messages, self._open, self._answers, self._acts = [], [], {}, {}
            content = [self._text(task_text(task)), *(image(each.shot) for each in task.pictures)]
            for part in exemplar_of(task, self._settings):
                content.append(self._text(part) if isinstance(part, str) else image(part))
            content += map(self._text, log_of(task, steps, _HISTORY))
        else:
            outcomes = dict(enumerate(steps[self._decided_at].outcomes))
            content = self._results(outcomes, "", observation)
            # What was done in between by somebody else, such as the loop.
            content += map(self._text, log_of(task, steps, _HISTORY)[self._decided_at + 1 :])
        content.append(self._text(fill("browser_page", **now_values(task, steps, observation))))
        if observation.region is not None:
            content.append(image(observation.marked))
            self._shown = observation.id
        self._say(content)

    def _say(self, content: list[dict[str, Any]]) -> None:
        self._messages.append({"role": "user", "content": content})

    def _results(
        self, outcomes: dict[int, Outcome], complaint: str, observation: Observation | None = None
    ) -> list[dict[str, Any]]:
        """A result for each open call: what was seen, what came of it, or why nothing did."""
        results = [self._result(call, outcomes, complaint) for call in self._open]
        done = [each for each in results if not each["is_error"] and each.get("toolset_name") == _FAMILY]
        if observation is not None and done:
            done[-1]["content"].append({"type": "browser_state", "tabs": self._tabs(observation)})
        self._open, self._answers, self._acts = [], {}, {}
        return results

    def _result(self, call: dict[str, Any], outcomes: dict[int, Outcome], complaint: str) -> dict[str, Any]:
        became = [outcomes[index] for index in self._acts.get(call["id"], ()) if index in outcomes]
        is_error = True
        if complaint:
            content = [self._text(f"Nothing was done: {complaint}")]
        elif call["id"] in self._answers:
            content, is_error = self._answers[call["id"]], False
        elif became:
            content = [self._text(f"<page_text>\n{chr(10).join(map(_words, became))}\n</page_text>")]
            is_error = any(each.status == "refused" for each in became)
        else:
            content = [self._text("This was not carried out: what came before it in the turn has to be looked at.")]
        family = {"toolset_name": call["toolset_name"]} if call.get("toolset_name") else {}
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": is_error, **family}

    def _tabs(self, observation: Observation) -> list[dict[str, Any]]:
        return [
            {
                "tab_id": str(tab.number),
                "title": self._redact(as_line(tab.title)),
                "url": self._redact(as_line(tab.url)),
                "active": tab.active,
            }
            for tab in observation.tabs
        ]

    def _request(self, task: Task, begun: int) -> dict[str, Any]:
        offered = [*_OURS, *(each.definition for each in self._custom)]
        off = (*members.NOT_OFFERED, *(() if task.files else ("file_upload",)))
        configs: dict[str, Any] = {name: {"enabled": False} for name in off}
        if task.files:
            configs["file_upload"] = {"enabled": True}
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self._max_tokens,
            "system": [self._text(fill("browser")) | {"cache_control": {"type": "ephemeral"}}],
            "tools": [*map(_tool, offered), {"type": _TYPE, "configs": configs}],
            "messages": [*map(_without_pictures, self._messages[:begun]), *self._messages[begun:]],
        }
        if self._settings.actions_per_step == "one":
            request["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        return request

    def _text(self, text: str) -> dict[str, Any]:
        return {"type": "text", "text": self._redact(text)}

    # --- what it says ---

    def _heard(self, body: Body, observation: Observation) -> tuple[Action, ...]:
        """The actions of a turn; none where it only looks, which is answered."""
        self._messages.append({"role": "assistant", "content": body.content})
        self._open = [block for block in body.content if block.get("type") == "tool_use"]
        if body.stop_reason == "pause_turn":
            return ()
        if body.stop_reason != "tool_use":
            text_of(body, body.content, self._max_tokens, self._window)
            raise FormatError("The turn calls no tool. Go on with one, or end the task with `finish`.")
        actions: list[Action] = []
        for call in self._open:
            name, given = str(call.get("name")), call.get("input")
            if not isinstance(given, dict):
                raise FormatError(f"`{name}` has no arguments that can be read.")
            if call.get("toolset_name") != _FAMILY:
                made: tuple[Action, ...] = (self._own(name, given, observation),)
            elif name not in members.LOOKS:
                frame = self._frame if self._shown == observation.id else None
                made = members.actions_of(name, given, members.Shown(observation, frame), actions)
            elif actions:
                break  # a look at what is not there yet
            else:
                self._answers[call["id"]] = self._seen(name, members.input_of(name, given), observation)
                continue
            self._acts[call["id"]] = range(len(actions), len(actions) + len(made))
            actions += made
        if self._settings.actions_per_step == "one":
            actions = actions[:1]
        return tuple(actions)

    def _own(self, name: str, given: dict[str, Any], observation: Observation) -> Action:
        forms = {
            each.model_fields["kind"].default: each for each in (*_OURS, *(own.definition for own in self._custom))
        }
        if name not in forms:
            raise FormatError(f"There is no tool `{name[:60]}`.")
        action: Action = recorded(members.ours_of(forms[name], given, observation), self._custom)
        return action

    def _seen(self, name: str, told: Any, observation: Observation) -> list[dict[str, Any]]:
        """What a look shows."""
        if name == "screenshot":
            if observation.region is None:
                self._frame = observation.marked.map
            self._shown = observation.id
            return [image(observation.marked)]
        if name == "list_tabs":
            lines = [f"{each['tab_id']}: {each['title']} {each['url']}" for each in self._tabs(observation)]
        elif name == "find":
            lines = members.found(told.query, observation.listing) or ["Nothing in view has these words."]
        else:
            lines = members.as_refs(observation.listing) or ["Nothing in view can be acted on."]
            if told.ref is not None:
                head = f"[ref_{members.number_of(told.ref)}]"
                lines = [line for line in lines if line.startswith(head)] or [f"{head} is not in view."]
        return [self._text(f"<page_text>\n{as_data(chr(10).join(lines))}\n</page_text>")]


def _tool(form: type[BaseModel]) -> dict[str, Any]:
    schema = plain(form.model_json_schema())
    schema.pop("description", None)
    properties = {name: each for name, each in schema.get("properties", {}).items() if name != "kind"}
    required = [name for name in schema.get("required", ()) if name != "kind"]
    return {
        "name": form.model_fields["kind"].default,
        "description": " ".join((form.__doc__ or "").split()),
        "input_schema": {**schema, "properties": properties, "required": required},
    }


def _words(outcome: Outcome) -> str:
    became = outcome.effect if outcome.status == "done" else outcome.refusal
    read = f"\n{as_data(outcome.read)}" if outcome.read else ""
    return f"{outcome.status}, {became}: {as_line(outcome.sentence)}{read}"


def _without_pictures(message: dict[str, Any]) -> dict[str, Any]:
    def lean(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for block in blocks:
            if block.get("type") == "image":
                made.append(copy.copy(_NO_LONGER_SHOWN))
            elif block.get("type") == "tool_result":
                made.append({**block, "content": lean(block["content"])})
            else:
                made.append(block)
        return made

    return message if message["role"] == "assistant" else {**message, "content": lean(message["content"])}
