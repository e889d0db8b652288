"""Claude with its own browser toolset: a second dialect for the same marks, actions and record (`model.dialect`).

The marks dialect asks for one typed reply per step; this one is a conversation of tool calls. Calls that only look are
answered at once from the observation and do not count as steps. Calls that act end the decision, and their results are
the outcomes of the actions. Pictures of earlier steps are not sent again.

Owns the conversation; `toolset_calls` translates the calls.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from vision_agent.actions import Action, Ask, Finish, Infeasible
from vision_agent.custom_actions import recordable_action
from vision_agent.errors import FormatError
from vision_agent.geometry import PageMap
from vision_agent.models.llm import toolset_calls
from vision_agent.models.llm.anthropic import AnthropicModel, Body, image, reply_text, request_record, total_usage
from vision_agent.models.prompt.history import render_log
from vision_agent.models.prompt.prompt import exemplar_parts, now_values, task_text
from vision_agent.models.prompt.templates import as_data, as_line, fill
from vision_agent.models.reply import check_arguments, plain_schema, usage_on_error
from vision_agent.observation import Observation
from vision_agent.settings import ModelSettings
from vision_agent.text.urls import shown_address
from vision_agent.types import Decision, Outcome, Step, Task

_HISTORY = ModelSettings(history="data")
_FAMILY = "browser"
_TYPE = "browser_toolset_20260801"
_OURS: tuple[type[BaseModel], ...] = (Ask, Finish, Infeasible)
"""Actions that the toolset lacks and that are offered beside it: asking a person and ending the task."""
_MOST_LOOKS = 8
"""The most turns in a row that only look at the same page."""
_LONGEST_GOAL = 500
_NO_LONGER_SHOWN = {"type": "text", "text": "(a picture of an earlier step)"}


class ToolsetModel(AnthropicModel):
    """Decides by asking a Claude model with the browser toolset. Use a new one for each run."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._messages: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        """The calls of the last turn, whose results the next message must contain."""
        self._answers: dict[str, list[dict[str, Any]]] = {}
        """The results of the calls that only look, by the id of the call."""
        self._acts: dict[str, range] = {}
        """The actions of the decision that each other call became, by the id of the call."""
        self._decided_at = -1
        self._frame: PageMap | None = None
        """The map of the last screenshot of the whole view."""
        self._shown = ""
        """The id of the observation whose picture was shown last."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The actions of the first turn that acts or ends the task.

        Raises:
            FormatError: the turn calls no tool, or names an unknown tool or target; none of it was carried out.
            ModelUnavailable: there is no key, the request failed, or the model refused to answer.
        """
        self._require_key()
        began, bodies, begun = self._clock(), list[Body](), len(self._messages)
        self._add_turn(task, steps, observation, complaint)
        for _ in range(_MOST_LOOKS):
            request = self._request(task, begun)
            kept_as = self._keep_request(request_record(request))
            with usage_on_error(total_usage(self.name, [each.usage for each in bodies]) if bodies else None):
                body = await self._send(request)
            bodies.append(body)
            usage = total_usage(body.model, [each.usage for each in bodies])
            with usage_on_error(usage):
                actions = self._read_turn(body, observation)
            if actions:
                self._decided_at = len(steps)
                text = " ".join(str(block["text"]).strip() for block in body.content if block.get("type") == "text")
                return Decision(
                    next_goal=text[:_LONGEST_GOAL],
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
        with usage_on_error(usage):
            raise FormatError(f"You looked {_MOST_LOOKS} times at the same page. Act, `ask`, or `finish`.")

    # --- messages to the model ---

    def _add_turn(self, task: Task, steps: Sequence[Step], observation: Observation, complaint: str) -> None:
        if complaint and self._messages:
            content = self._results({}, complaint) if self._open else [self._text(complaint)]
            self._append_message(content)
            return
        is_begun = bool(self._messages) and 0 <= self._decided_at < len(steps)
        if not is_begun:
            self._messages, self._open, self._answers, self._acts = [], [], {}, {}
            content = [self._text(task_text(task)), *(image(each.shot) for each in task.pictures)]
            for part in exemplar_parts(task, self._settings):
                content.append(self._text(part) if isinstance(part, str) else image(part))
            content += map(self._text, render_log(task, steps, _HISTORY))
        else:
            outcomes = dict(enumerate(steps[self._decided_at].outcomes))
            content = self._results(outcomes, "", observation)
            # Steps taken meanwhile by another author, such as the loop.
            content += map(self._text, render_log(task, steps, _HISTORY)[self._decided_at + 1 :])
        content.append(self._text(fill("browser_page", **now_values(task, steps, observation))))
        if observation.region is not None:
            content.append(image(observation.marked))
            self._shown = observation.id
        self._append_message(content)

    def _append_message(self, content: list[dict[str, Any]]) -> None:
        self._messages.append({"role": "user", "content": content})

    def _results(
        self, outcomes: dict[int, Outcome], complaint: str, observation: Observation | None = None
    ) -> list[dict[str, Any]]:
        """A result for each open call: what a look saw, the outcomes, or why nothing was done."""
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
            content = [self._text(f"<page_text>\n{chr(10).join(map(_outcome_text, became))}\n</page_text>")]
            is_error = any(each.status == "refused" for each in became)
        else:
            content = [self._text("This was not carried out: look first at the effect of the calls before it.")]
        family = {"toolset_name": call["toolset_name"]} if call.get("toolset_name") else {}
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": is_error, **family}

    def _tabs(self, observation: Observation) -> list[dict[str, Any]]:
        return [
            {
                "tab_id": str(tab.number),
                "title": self._redact(as_line(tab.title)),
                "url": self._redact(as_line(shown_address(tab.url))),
                "active": tab.active,
            }
            for tab in observation.tabs
        ]

    def _request(self, task: Task, begun: int) -> dict[str, Any]:
        offered = [*_OURS, *(each.definition for each in self._custom)]
        off = (*toolset_calls.NOT_OFFERED, *(() if task.files else ("file_upload",)))
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

    # --- turns of the model ---

    def _read_turn(self, body: Body, observation: Observation) -> tuple[Action, ...]:
        """The actions of a turn; none if it only looks. Looks are answered in `_answers`."""
        self._messages.append({"role": "assistant", "content": body.content})
        self._open = [block for block in body.content if block.get("type") == "tool_use"]
        if body.stop_reason == "pause_turn":
            return ()
        if body.stop_reason != "tool_use":
            reply_text(body, body.content, self._max_tokens, self._window)
            raise FormatError("The turn calls no tool. Go on with one, or end the task with `finish`.")
        check_arguments([call.get("input") for call in self._open])
        actions: list[Action] = []
        for call in self._open:
            name, given = str(call.get("name")), call.get("input")
            if not isinstance(given, dict):
                raise FormatError(f"The arguments of `{name}` cannot be read.")
            if call.get("toolset_name") != _FAMILY:
                made: tuple[Action, ...] = (self._own_action(name, given, observation),)
            elif name not in toolset_calls.LOOKS:
                frame = self._frame if self._shown == observation.id else None
                made = toolset_calls.call_actions(
                    name, given, toolset_calls.ShownObservation(observation, frame), actions
                )
            elif actions:
                break  # a look at a page that does not exist yet
            else:
                self._answers[call["id"]] = self._look_result(name, toolset_calls.parse_input(name, given), observation)
                continue
            self._acts[call["id"]] = range(len(actions), len(actions) + len(made))
            actions += made
        if self._settings.actions_per_step == "one":
            actions = actions[:1]
        return tuple(actions)

    def _own_action(self, name: str, given: dict[str, Any], observation: Observation) -> Action:
        forms = {
            each.model_fields["kind"].default: each for each in (*_OURS, *(own.definition for own in self._custom))
        }
        if name not in forms:
            raise FormatError(f"There is no tool `{name[:60]}`.")
        action: Action = recordable_action(toolset_calls.own_action(forms[name], given, observation), self._custom)
        return action

    def _look_result(self, name: str, arguments: Any, observation: Observation) -> list[dict[str, Any]]:
        """The result of a call that only looks."""
        if name == "screenshot":
            if observation.region is None:
                self._frame = observation.marked.map
            self._shown = observation.id
            return [image(observation.marked)]
        if name == "list_tabs":
            lines = [f"{each['tab_id']}: {each['title']} {each['url']}" for each in self._tabs(observation)]
        elif name == "find":
            # Words are looked for in what the model may read, or a secret could be guessed word by word.
            lines = toolset_calls.matching_lines(arguments.query, self._redact(observation.listing)) or [
                "Nothing in view has these words."
            ]
        else:
            lines = toolset_calls.lines_with_refs(observation.listing) or ["Nothing in view can be acted on."]
            if arguments.ref is not None:
                head = f"[ref_{toolset_calls.mark_number(arguments.ref)}]"
                lines = [line for line in lines if line.startswith(head)] or [f"{head} is not in view."]
        return [self._text(f"<page_text>\n{as_data(chr(10).join(lines))}\n</page_text>")]


def _tool(form: type[BaseModel]) -> dict[str, Any]:
    schema = plain_schema(form.model_json_schema())
    schema.pop("description", None)
    properties = {name: each for name, each in schema.get("properties", {}).items() if name != "kind"}
    required = [name for name in schema.get("required", ()) if name != "kind"]
    return {
        "name": form.model_fields["kind"].default,
        "description": " ".join((form.__doc__ or "").split()),
        "input_schema": {**schema, "properties": properties, "required": required},
    }


def _outcome_text(outcome: Outcome) -> str:
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
