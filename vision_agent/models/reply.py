"""The schema of a model's reply, and the parser that turns a reply into a `Decision`. Knows no provider.

Only the edges of a reply are cleaned (code fences, prose before and after). Its content is never corrected: a target
that is not in the observation is refused with a message to the model, because the nearest one would be a guess.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar, Union

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from vision_agent.actions import ACTIONS, Cell, Finish, Infeasible, Offered, Point, Target, targets_of
from vision_agent.base_model import FrozenModel, words_of
from vision_agent.custom_actions import CustomAction, recordable_action
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.coordinates import CONVENTIONS, to_pixels
from vision_agent.observation import Observation
from vision_agent.settings import Coordinates, PerStep
from vision_agent.types import Candidate, Decision, Usage

_NUMBER = re.compile(r"(?P<open>\[)?(?P<letter>[BILFOM]?)(?P<number>0|[1-9][0-9]{0,8})(?(open)\])")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which can be neither typed nor recorded."""
_R = TypeVar("_R", bound=BaseModel)
_LISTED = 60
"""The most mark numbers that are listed to a model that chose a missing one."""
_TARGETS = ("source", "target", "mark")
_LONGEST_REPLY = 1_000_000
"""Characters of a reply; 128,000 tokens, the most that a model writes, are about half of that."""
_LONGEST_TEXT = 100_000
"""Characters of one text in a reply: a text to type, an answer, an argument of a custom action."""
_LONGEST_OTHER = 20_000
_LONGEST_KIND = 60
_MAY_BE_LONG = ("text", "value", "answer")
_OURS = {each.model_fields["kind"].default for each in ACTIONS}


EMPTY = "The reply is empty. Answer with the JSON object."
CALLS_A_TOOL = "The reply calls a tool, and there is none. Answer with the JSON object."
CUT_OFF = (
    "The reply was cut off after {max_tokens} tokens. "
    "Be much shorter: fewer words in summary, memory and reasons, and fewer actions."
)
"""The complaint to a model whose reply was cut off; the two above are for other unreadable replies."""


class ModelReply(NamedTuple):
    """The text of a complete reply, with the facts that are recorded about it."""

    text: str
    model: str | None = None
    reply_id: str | None = None
    usage: Usage | None = None
    request_sha256: str | None = None
    """The hash of the redacted request, as stored in the run folder."""
    seconds: float = 0.0


class _Thought(FrozenModel):
    """The fields before the actions, in the order in which the model should think about them."""

    judgement: Literal["success", "failure", "unknown"] = Field(
        description="Whether the previous step reached its goal, as the current picture shows."
    )
    summary: str = Field("", description="What matters on the page now, in one or two sentences.")
    wall: Literal["none", "captcha", "login"] = Field(
        "none", description="Whether a captcha, or a login without credentials in the task, is in the way now."
    )
    memory: str = Field("", description="Facts found so far that later steps need. You keep nothing else of this page.")
    next_goal: str = Field(
        "", description="The goal of this step, such that the next picture can show whether it was reached."
    )
    candidates: tuple[Candidate, ...] = Field(
        (), description="Up to three marks that could serve the goal, best first, each with its reason."
    )


class DecisionReply(_Thought):
    """The fields of a reply."""

    actions: tuple[Annotated[Offered, Field(discriminator="kind")], ...] = Field(
        description="The actions to do now, in order. At least one.", min_length=1
    )


class SingleActionReply(_Thought):
    """The fields of a reply with a single action."""

    action: Annotated[Offered, Field(discriminator="kind")] = Field(description="The one action to do now.")

    @property
    def actions(self) -> tuple[Any, ...]:
        """The only action, as a reply with several gives them."""
        return (self.action,)


def schema(
    custom: Sequence[CustomAction] = (), coordinates: Coordinates = "pixels", per_step: PerStep = "several"
) -> dict[str, Any]:
    """The JSON schema of a `DecisionReply` or a `SingleActionReply`, as strict as possible.

    Providers compile it to a grammar and limit the number of optional and union-typed parameters. So every field of
    `DecisionReply` is required, `kind` is required and tells actions apart, and "none" means to leave a field out.
    """
    whole = deepcopy(_json_schema(_reply(tuple(custom), per_step)))
    whole["required"] = list(whole["properties"])
    for each in whole["$defs"].values():
        if "kind" in each.get("properties", {}):
            each["required"] = ["kind", *(name for name in each.get("required", ()) if name != "kind")]
    whole["$defs"]["Cell"]["description"] = "A cell of a grid in the listing; rows and columns count from 1."
    says = CONVENTIONS[coordinates]
    whole["$defs"]["Point"]["description"] = says.point
    if says.offset:
        whole["$defs"]["Offset"]["description"] = says.offset
    return plain_schema(whole)


def parse_decision(
    model_reply: ModelReply,
    observation: Observation,
    *,
    custom: Sequence[CustomAction] = (),
    coordinates: Coordinates = "pixels",
    per_step: PerStep = "several",
) -> Decision:
    """The decision in a reply; its points, given in `coordinates`, are converted to pixels.

    Raises:
        FormatError: the reply does not fit the schema, or names a mark or a point that the observation does not have.
    """
    with usage_on_error(model_reply.usage):
        reply = _read(model_reply.text, observation, _reply(tuple(custom), per_step), coordinates)
    return Decision(
        judgement=reply.judgement,
        memory=reply.memory,
        next_goal=reply.next_goal,
        # Candidates are not acted on, so one that is not on the page is dropped rather than asked about again.
        candidates=tuple(each for each in reply.candidates if observation.known_mark(each.mark)),
        actions=tuple(recordable_action(action, custom) for action in reply.actions),
        summary=reply.summary,
        wall="" if reply.wall == "none" else reply.wall,
        author="model",
        model=model_reply.model,
        reply_id=model_reply.reply_id,
        usage=model_reply.usage,
        request_sha256=model_reply.request_sha256,
        seconds=model_reply.seconds,
    )


@contextmanager
def usage_on_error(usage: Usage | None) -> Iterator[None]:
    """Adds the usage to errors raised in the `with` block: an unusable reply costs as much as a good one."""
    try:
        yield
    except (FormatError, ModelUnavailable) as error:
        error.usage = usage
        raise


def _read(
    text: str, observation: Observation, form: type[DecisionReply] | type[SingleActionReply], coordinates: Coordinates
) -> DecisionReply | SingleActionReply:
    value = to_pixels(json_object(text), observation.marked.size, coordinates)
    reply = parse_as(_with_exact_targets(value, observation), form)
    for index, action in enumerate(reply.actions):
        place = f"actions[{index}]" if isinstance(reply, DecisionReply) else "action"
        for target in targets_of(action):
            check_target(target, observation, f"{place} ({action.kind})")
        if isinstance(action, Finish | Infeasible):
            for number in action.evidence:
                check_target(number, observation, f"the evidence of {place} ({action.kind})")
    return reply


@lru_cache(maxsize=8)
def _json_schema(reply: type[BaseModel]) -> dict[str, Any]:
    return reply.model_json_schema()


@lru_cache(maxsize=8)
def _reply(custom: tuple[CustomAction, ...], per_step: PerStep) -> type[DecisionReply] | type[SingleActionReply]:
    """The form of the reply, with the custom actions added to the built-in ones."""
    if not custom:
        return DecisionReply if per_step == "several" else SingleActionReply
    offered: Any = Annotated[Union[Offered, *(each.definition for each in custom)], Field(discriminator="kind")]
    if per_step == "one":
        only = Field(description=SingleActionReply.model_fields["action"].description)
        return create_model("ReplyOfOne", __base__=SingleActionReply, action=(offered, only))
    field = DecisionReply.model_fields["actions"]
    return create_model("Reply", __base__=DecisionReply, actions=(tuple[offered, ...], field))


def parse_as(value: dict[str, Any], reply: type[_R]) -> _R:
    """The value parsed as that form.

    Raises:
        FormatError: it does not fit; the message names up to five faults.
    """
    try:
        return reply.model_validate(value)
    except ValidationError as error:
        faults = "; ".join(_fault(each) for each in _own_faults(error.errors())[:5])
        raise FormatError(f"The reply does not fit the format: {faults}.") from error


def _own_faults(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """The faults without those that follow from others: a list is not too short if its items could not be read."""
    return [
        each
        for each in errors
        if each["type"] != "too_short"
        or not any(other["loc"][: len(each["loc"])] == each["loc"] for other in errors if other is not each)
    ]


def _fault(error: ErrorDetails) -> str:
    if error["type"] == "too_short" and not error["ctx"]["actual_length"]:
        least = error["ctx"]["min_length"]
        return f"{_place(error['loc'])} is empty; give at least {'one' if least == 1 else least}"
    if error["type"] == "union_tag_not_found":
        return f"{_place(error['loc'])} has no `kind`, which says what to do, such as `click`"
    if error["type"] == "union_tag_invalid":
        return f"{_place(error['loc'])} {_unknown_kind(error['ctx']['tag'], error['ctx']['expected_tags'])}"
    return f"{_place(error['loc'])}: {words_of(error)}"


def _unknown_kind(given: str, offered: str) -> str:
    """`offered` lists the kinds in quotes, as pydantic does."""
    kinds = re.findall(r"'([^']+)'", offered)
    words = given.lower().split("_")
    same_word = [each for each in kinds if each in words]
    near = dict.fromkeys([*same_word, *difflib.get_close_matches(given.lower(), kinds, n=3)])
    which = f"similar: {', '.join(near)}" if near else f"there are {', '.join(kinds)}"
    return f"has the kind {given[:_LONGEST_KIND]!r}, which is no action ({which})"


def _place(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".") or "the reply"


def check_target(target: Target, observation: Observation, where: str) -> None:
    """Checks that the observation has the target; `where` says in the message what named it.

    Raises:
        FormatError: there is no such mark or cell, or the point is outside the picture.
    """
    if isinstance(target, Point):
        size = observation.marked.size
        if not size.contains(target):
            raise FormatError(
                f"The point ({target.x:g}, {target.y:g}) in {where} is outside the picture, "
                f"which is {size.width}×{size.height} pixels. "
                "Name a mark of the listing, or a point inside the picture.",
            )
        return
    number = target.mark if isinstance(target, Cell) else target
    mark = observation.known_mark(number)
    if mark is None:
        known = sorted(mark.number for mark in observation.marks)
        if not known:
            raise FormatError(
                f"There is no mark {number}, which {where} names; this look has no marks at all. "
                "Name a point of the picture, or do something without a target.",
            )
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        listed = ", ".join(map(str, known[:_LISTED])) + more
        raise FormatError(
            f"There is no mark {number}, which {where} names; the marks of the listing are {listed}. "
            "Name one of them, or a point of the picture where there is no mark.",
        )
    if isinstance(target, Cell) and observation.box_of(target) is None:
        has = mark.grid.words if mark.grid else "no rows and columns"
        raise FormatError(
            f"Mark {number} has {has}; {where} names row {target.row}, column {target.column} of it. "
            "Name an existing cell, the mark itself, or a point of the picture.",
        )


# --- from text to JSON ------------------------------------------------------------------------------------------------


def json_object(text: str) -> dict[str, Any]:
    """The only JSON object in the text.

    Raises:
        FormatError: there is none, more than one, or it is malformed.
    """
    if len(text) > _LONGEST_REPLY:
        raise FormatError(
            f"The reply has {len(text):,} characters, and at most {_LONGEST_REPLY:,} are read. Be much shorter."
        )
    start = text.find("{")
    if start < 0:
        found = f"It says: {text.strip()[:200]!r}" if text.strip() else "It is empty"
        raise FormatError(f"The reply has no JSON object. {found}. Answer with the JSON object and nothing else.")
    decoder = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"The reply is not valid JSON: {error.msg} at character {error.pos - start}. "
            "Answer with one complete JSON object; if it was cut off, be shorter.",
        ) from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or thousands of nested brackets
        raise FormatError(f"The reply cannot be read: {error}. Answer with the fields asked for.") from error
    if "{" in text[end:]:
        # It is unknown which one was meant, and they may name different targets.
        raise FormatError("The reply has more than one JSON object. Answer with exactly one.")
    assert isinstance(value, dict)
    if half := _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False)):
        raise FormatError(
            f"The reply contains \\u{ord(half.group()):04x}, which is half a character. Write characters out."
        )
    try:
        _check_lengths(value, "", _LONGEST_OTHER)
    except RecursionError as error:
        raise FormatError("The reply is nested too deeply. Give the fields asked for.") from error
    return value


def check_arguments(given: list[Any]) -> None:
    """Checks that the arguments of the calls of a turn are no longer than a reply may be.

    Raises:
        FormatError: they are; the message says what is too long.
    """
    if (found := len(json.dumps(given))) > _LONGEST_REPLY:
        raise FormatError(f"The arguments have {found:,} characters, and at most {_LONGEST_REPLY:,} are possible.")
    _check_lengths(given, "The arguments", _LONGEST_TEXT)


def _check_lengths(value: Any, place: str, longest: int) -> None:
    if isinstance(value, str) and len(value) > longest:
        raise FormatError(
            f"{place.lstrip('.') or 'A text'} has {len(value):,} characters, and at most {longest:,} are possible. "
            "Be shorter, or split it into several actions."
        )
    if isinstance(value, list):
        for index, each in enumerate(value):
            _check_lengths(each, f"{place}[{index}]", longest)
    elif isinstance(value, dict):
        is_custom = isinstance(value.get("kind"), str) and value["kind"] not in _OURS
        for name, each in value.items():
            may_be_long = is_custom or name in _MAY_BE_LONG
            _check_lengths(name, "The name of a field", _LONGEST_OTHER)
            _check_lengths(each, f"{place}.{name}", _LONGEST_TEXT if may_be_long else longest)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"The reply gives {twice!r} twice in one object. Give each field once.")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise FormatError(f"The reply contains {name}, which is not a number. Give finite numbers.")


def _with_exact_targets(value: dict[str, Any], observation: Observation) -> dict[str, Any]:
    """The value with each target made an integer or a point, before pydantic could coerce `true` or `7.5` to one."""
    exact = dict(value)
    for field, names in (("actions", _TARGETS), ("candidates", ("mark",))):
        if isinstance(value.get(field), list):
            exact[field] = [
                _with_exact(each, names, observation) if isinstance(each, dict) else each for each in value[field]
            ]
    if isinstance(value.get("action"), dict):
        exact["action"] = _with_exact(value["action"], _TARGETS, observation)
    return exact


def _with_exact(value: dict[str, Any], names: Sequence[str], observation: Observation) -> dict[str, Any]:
    exact = dict(value)
    if value.get("kind") == "zoom":
        names = (*names, "to")
    for name in names:
        if value.get(name) is not None and not _is_in_words(value, name):
            exact[name] = _exact(value[name], name, observation)
    if isinstance(value.get("path"), list):
        exact["path"] = [_exact(each, "point of the path", observation) for each in value["path"]]
    if isinstance(value.get("evidence"), list):
        exact["evidence"] = [_exact(each, "evidence", observation) for each in value["evidence"]]
    return exact


def _is_in_words(value: dict[str, Any], name: str) -> bool:
    """Whether an action that takes words in place of a mark has them."""
    said = value[name]
    return value.get("kind") == "extract" and isinstance(said, str) and not _NUMBER.fullmatch(said.strip())


def _exact(target: Any, name: str, observation: Observation) -> int | dict[str, Any]:
    match target:
        case bool():
            pass
        case int():
            return target
        case str() if match := _NUMBER.fullmatch(target.strip()):
            return _numbered(match["letter"], int(match["number"]), observation)
        case {"x": int() | float() as x, "y": int() | float() as y} if len(target) == 2 and bool not in (
            type(x),
            type(y),
        ):
            return {"x": x, "y": y}
        case dict() if {"right", "down"} & target.keys():
            return target  # an offset, which its own class validates
        case {"mark": mark, "row": int() as row, "column": int() as column} if len(target) == 3 and bool not in (
            type(row),
            type(column),
        ):
            return {"mark": _exact(mark, "mark of a cell", observation), "row": row, "column": column}
    raise FormatError(
        f"{json.dumps(target, ensure_ascii=False)[:80]} cannot be used as {name}. "
        'Give the number of a mark, such as 12, a cell of a grid, such as {"mark": 17, "row": 2, "column": 5}, '
        'or a point of the picture, such as {"x": 412, "y": 233}.',
    )


def _numbered(letter: str, number: int, observation: Observation) -> int:
    """The number, whose letter, if given, must be the mark's own: `B3` and `3` are the same, `L3` is an error."""
    mark = observation.known_mark(number)
    if letter and mark is not None and letter != mark.letter:
        raise FormatError(
            f"There is no {letter}{number} in the listing; {mark.label_text} is the {mark.role} {mark.name[:60]!r}. "
            "Name marks as the listing does."
        )
    return number


# --- the schema -------------------------------------------------------------------------------------------------------


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the form that every provider accepts: without titles, discriminators and null."""
    made: dict[str, Any] = _plain(schema)
    return made


def _plain(node: Any, *, names: bool = False) -> Any:
    """The simplified schema; with `names` the keys of `node` are property names, not keywords."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: _plain(each) for name, each in node.items()}
    kept = {key: each for key, each in node.items() if key not in ("title", "discriminator", "default")}
    if "const" in kept:
        return {"type": "string", "const": kept["const"]}
    variants = kept.get("anyOf")
    if variants and {"type": "null"} in variants:
        kept["anyOf"] = [each for each in variants if each != {"type": "null"}]
        if len(kept["anyOf"]) == 1:
            kept |= kept.pop("anyOf")[0]
    return {key: _plain(each, names=key in ("properties", "$defs")) for key, each in kept.items()}
