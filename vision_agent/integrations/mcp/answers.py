"""Writes what a client reads: a look, what changed since an earlier look, and outcomes, within a number of tokens.

Everything that a page wrote stands between `<page_text>` tags, one line per mark, and can neither close the tags nor
forge a line. Knows observations and steps; no protocol.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.actions import Action
from vision_agent.evals.listing_tokens import count_tokens
from vision_agent.models.prompt.templates import as_data, as_line
from vision_agent.observation import Observation
from vision_agent.text.urls import shown_address
from vision_agent.types import Outcome, Step

_MARK_LINE = re.compile(r"([A-Z]?(\d+)\[:\]<[^>]*>)(.*)", re.DOTALL)
_NEWS = re.compile(r" \*(?:new|changed|moved)(?=>)| (?:focused|hovered)(?=[ >])")
"""Words of a mark's line that say nothing about the mark itself."""
_NAME_LENGTHS = (80, 50, 30, 20)
"""Letters that a name may have: fewer are tried if the text is too long."""
_MOST_LISTED = 40
_LONGEST_SENTENCE = 800
_MOVED_PX = 8
NOTHING_CHANGED = ("nothing",)
"""The lines for two looks at the same page: no mark, no text and no pixel differs."""
FRAME_TOKENS = 60
"""For the tags and the sentence about what was left out."""


@dataclass(frozen=True)
class Fitted:
    """The lines that fit, and what did not."""

    lines: tuple[str, ...]
    left_out: str = ""
    """In words; empty if nothing was left out."""


def page_text(*parts: str) -> str:
    """The parts as text of a page, which is data."""
    return "\n".join(["<page_text>", *(as_data(each) for each in parts if each), "</page_text>"])


def outcome_line(outcome: Outcome) -> str:
    """An outcome in a line: its sentence, which may quote the page."""
    became = outcome.effect if outcome.status == "done" else outcome.refusal
    sentence = as_line(outcome.sentence)
    cut = sentence if len(sentence) <= _LONGEST_SENTENCE else f"{sentence[: _LONGEST_SENTENCE - 1]}…"
    return f"{outcome.status}, {became}: {cut}" if became else f"{outcome.status}: {cut}"


def step_lines(step: Step) -> list[str]:
    """What a step did, a line for each action, and what a person answered."""
    lines = [
        f"{action.kind}: {outcome_line(outcome)}"
        for action, outcome in zip(step.decision.actions, step.outcomes, strict=False)
    ]
    choice = step.approval.choice if step.approval is not None else None
    if choice is not None and choice.kind == "instruct":
        lines += [f"{action.kind}: not done: {as_line(choice.text)}" for action in _proposed(step)]
    return lines


def _proposed(step: Step) -> Sequence[Action]:
    return step.approval.proposed.actions if step.approval is not None else ()


def read_text(step: Step, most_tokens: int) -> Fitted:
    """The text that a step read from the page."""
    text = "\n".join(outcome.read for outcome in step.outcomes if outcome.read)
    lines = text.split("\n") if text else []
    kept: list[str] = []
    for at, line in enumerate(lines):
        cost = count_tokens(line) + 1
        if cost > most_tokens:
            longest = most_tokens * 2  # a token has two letters at least, as they are counted here
            rest = f"{len(lines) - at} of {len(lines)} lines of the text, one of them in part"
            return Fitted((*kept, line[:longest] if most_tokens > 0 else ""), rest)
        most_tokens -= cost
        kept.append(line)
    return Fitted(tuple(kept))


def heading(seen: Observation, *, lists_tabs: bool = False) -> str:
    """The title, address and tabs of a look, a line each; a single tab has none unless `lists_tabs`."""
    lines = [f"page: {as_line(seen.title)[:150]} · {as_line(shown_address(seen.url))[:300]}"]
    if lists_tabs or len(seen.tabs) > 1:
        lines += [
            f"tab {tab.number}{' (this one)' if tab.active else ''}: {as_line(tab.title)[:60]} · "
            f"{as_line(shown_address(tab.url))[:80]}"
            for tab in seen.tabs
        ]
    lines += [f"note: {as_line(warning)[:200]}" for warning in seen.warnings[:4]]
    return "\n".join(lines)


def listing_lines(seen: Observation, most_tokens: int) -> Fitted:
    """The listing in at most so many tokens.

    Long names are cut first, then text that is no mark is left out from the bottom, then links that are not new, then
    other marks. The marks stay in the picture.
    """
    lines = [as_data(line) for line in seen.listing.split("\n")] if seen.listing else []
    if _cost(lines) <= most_tokens:
        return Fitted(tuple(lines))
    for longest in _NAME_LENGTHS[:2]:
        short = [_shorten(line, longest) for line in lines]
        if _cost(short) <= most_tokens:
            return Fitted(tuple(short))
    short = [_shorten(line, _NAME_LENGTHS[1]) for line in lines]
    marks = [line for line in short if _is_mark(line)]
    if _cost(marks) > most_tokens:
        short = [_shorten(line, _NAME_LENGTHS[-1] if _is_mark(line) else _NAME_LENGTHS[1]) for line in lines]
    kept = set(range(len(short)))
    left = _cost(short) - most_tokens
    dropped_text = dropped_marks = 0
    for at in sorted(kept, key=lambda at: (_worth(short[at]), -at)):
        if left <= 0:
            break
        kept.discard(at)
        left -= count_tokens(short[at]) + 1
        if _is_mark(short[at]):
            dropped_marks += 1
        else:
            dropped_text += 1
    said = [f"{dropped_text} lines of text"] if dropped_text else []
    said += [f"the lines of {dropped_marks} marks, which are in the picture"] if dropped_marks else []
    return Fitted(tuple(short[at] for at in sorted(kept)), " and ".join(said))


def _is_mark(line: str) -> bool:
    return _MARK_LINE.match(line) is not None


def _worth(line: str) -> int:
    """The lowest is left out first."""
    if line.startswith("..."):
        return 3
    if not _is_mark(line):
        return 0
    is_plain_link = re.match(r"[A-Z]?\d+\[:\]<a[ >]", line) is not None and " *new" not in line
    return 1 if is_plain_link else 2


def _cost(lines: Sequence[str]) -> int:
    return sum(count_tokens(line) + 1 for line in lines)


def _shorten(line: str, longest: int) -> str:
    found = _MARK_LINE.fullmatch(line)
    head, name = (found[1], found[3]) if found else ("", line)
    if line.startswith("..."):
        longest = 200
    return line if len(name) <= longest else f"{head}{name[: longest - 1].rstrip()}…"


def changed_lines(before: Observation, now: Observation, most_tokens: int) -> Fitted:
    """What differs between two looks, a line each; a page that is another one is said to be."""
    if before.epoch != now.epoch:
        return Fitted(("the page is another one now: every mark is new",))
    was, has = _by_number(before), _by_number(now)
    boxes = {mark.number: mark.box for mark in before.marks}
    lines = []
    for number, line in has.items():
        if number not in was:
            lines.append(f"new: {line}")
        elif _NEWS.sub("", was[number]) != _NEWS.sub("", line):
            lines.append(f"changed: {_NEWS.sub('', line)}")
    moved = [
        mark.number
        for mark in now.marks
        if (box := boxes.get(mark.number)) is not None and abs(box.x - mark.box.x) + abs(box.y - mark.box.y) > _MOVED_PX
    ]
    gone = [number for number in was if number not in has]
    lines += [f"moved: {_numbers(moved)}"] if moved else []
    lines += [f"gone: {_numbers(gone)}"] if gone else []
    texts = _texts(now) - _texts(before)
    lines += [f"text: {text}" for text in now.listing.split("\n") if text in texts]
    if not lines:
        same = before.clean.sha256 == now.clean.sha256
        return Fitted(NOTHING_CHANGED if same else ("only the picture, no mark",))
    kept = [_shorten(as_data(line), _NAME_LENGTHS[0] + 20) for line in lines]
    dropped = 0
    while kept and _cost(kept) > most_tokens:
        kept.pop()
        dropped += 1
    return Fitted(tuple(kept), f"{dropped} more changes" if dropped else "")


def _by_number(seen: Observation) -> dict[int, str]:
    found = (_MARK_LINE.match(line) for line in seen.listing.split("\n"))
    return {int(each[2]): each.string for each in found if each is not None}


def _texts(seen: Observation) -> set[str]:
    return {line for line in seen.listing.split("\n") if line.startswith("_[")}


def _numbers(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST_LISTED} more" if len(numbers) > _MOST_LISTED else ""
    return " ".join(map(str, numbers[:_MOST_LISTED])) + more


def matching_lines(seen: Observation, words: str) -> list[str]:
    """The lines of the marks in view that have all these words."""
    wanted = set(re.findall(r"\w+", words.casefold()))
    if not wanted:
        return []
    marks = [line for line in seen.listing.split("\n") if _is_mark(line)]
    return [as_data(line) for line in marks if wanted <= set(re.findall(r"\w+", line.casefold()))]
