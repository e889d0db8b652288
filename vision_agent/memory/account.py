"""Tells a person what an exemplar holds, as plain text. Nothing of a page can write to a terminal but what prints."""

from __future__ import annotations

import json
from collections.abc import Iterator

from vision_agent.types import Exemplar, PastAct, PastTurn


def account_of(exemplar: Exemplar) -> str:
    """What was wanted, and turn by turn what was seen, decided and done."""
    return "\n".join(_lines(exemplar))


def as_line(text: str) -> str:
    """The text on one line, with what does not print escaped."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text.strip())


def _lines(exemplar: Exemplar) -> Iterator[str]:
    standing = exemplar.standing
    yield as_line(exemplar.goal)
    yield f"  site      {as_line(exemplar.site) or 'none'}"
    when = f"{exemplar.learned_at:%Y-%m-%d %H:%M}"
    yield f"  learned   {when} from run {as_line(exemplar.run)}, head {as_line(exemplar.head[:12])}"
    yield f"  standing  helped {standing.helped}, failed {standing.failed}"
    if exemplar.answer:
        yield f"  answer    {as_line(exemplar.answer)}"
    for number, turn in enumerate(exemplar.turns, 1):
        yield ""
        yield from _turn(number, turn)


def _turn(number: int, turn: PastTurn) -> Iterator[str]:
    yield f"{number}. {as_line(turn.title) or 'a page without a title'} ({as_line(turn.url)})"
    for line in turn.lines:
        yield f"     saw     {as_line(line)}"
    if turn.kinds:
        counted = ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in turn.kinds.items())
        yield f"     marks   {counted}"
    if turn.judgement != "unknown":
        yield f"     judged  {turn.judgement}"
    if turn.memory:
        yield f"     memory  {as_line(turn.memory)}"
    if turn.next_goal:
        yield f"     goal    {as_line(turn.next_goal)}"
    for act in turn.acts:
        yield f"     did     {_act(act)}"
        yield f"             {as_line(act.outcome)}"


def _act(act: PastAct) -> str:
    kind, *rest = (
        value if isinstance(value, str) and name == "kind" else f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in act.action.items()
    )
    return as_line(" ".join(map(str, (kind, *rest))))
