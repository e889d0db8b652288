"""Describes an exemplar as plain text for a terminal; unprintable page text is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator

from vision_agent.exemplars import Exemplar, PastAct, PastTurn, VerifiedBy
from vision_agent.text.escape import escaped_line

_VERIFIED: dict[VerifiedBy, str] = {
    "checks": "by the checks of its task",
    "judge": "by a judge",
    "person": "by a person",
    "unknown": "not known",
}


def account_of(exemplar: Exemplar) -> str:
    """The goal, and what was seen, decided and done in each turn."""
    return "\n".join(_lines(exemplar))


def _lines(exemplar: Exemplar) -> Iterator[str]:
    standing = exemplar.standing
    yield escaped_line(exemplar.goal)
    yield f"  site      {escaped_line(exemplar.site) or 'none'}"
    when = f"{exemplar.learned_at:%Y-%m-%d %H:%M}"
    yield f"  learned   {when} from run {escaped_line(exemplar.run)}, head {escaped_line(exemplar.head[:12])}"
    yield f"  verified  {_VERIFIED[exemplar.verified_by]}"
    yield f"  standing  helped {standing.helped}, failed {standing.failed}"
    if exemplar.answer:
        yield f"  answer    {escaped_line(exemplar.answer)}"
    for number, turn in enumerate(exemplar.turns, 1):
        yield ""
        yield from _turn(number, turn)


def _turn(number: int, turn: PastTurn) -> Iterator[str]:
    yield f"{number}. {escaped_line(turn.title) or 'a page without a title'} ({escaped_line(turn.url)})"
    for line in turn.lines:
        yield f"     saw     {escaped_line(line)}"
    if turn.kinds:
        counted = ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in turn.kinds.items())
        yield f"     marks   {counted}"
    if turn.judgement != "unknown":
        yield f"     judged  {turn.judgement}"
    if turn.memory:
        yield f"     memory  {escaped_line(turn.memory)}"
    if turn.next_goal:
        yield f"     goal    {escaped_line(turn.next_goal)}"
    for act in turn.acts:
        yield f"     did     {_act(act)}"
        yield f"             {escaped_line(act.outcome)}"


def _act(act: PastAct) -> str:
    kind, *rest = (
        value if isinstance(value, str) and name == "kind" else f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in act.action.items()
    )
    return escaped_line(" ".join(map(str, (kind, *rest))))
