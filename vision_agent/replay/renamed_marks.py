"""Puts new values into the names of recorded marks: for another product, `Add mug to cart` is `Add hat to cart`.

A mark whose words change is recognised by them, because its fingerprint is of the old ones. Where it cannot be told
whether a word is the value, nothing is replayed: a step that does the recorded thing for the wrong value is worse than
an error.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote_plus, urlsplit

from vision_agent.actions import Goto, OpenTab, mark_in, targets_of
from vision_agent.errors import UsageError
from vision_agent.observation import Mark, Observation
from vision_agent.policy.asked_question import TEXT_LINE, is_answer, question_of
from vision_agent.policy.rebind import BY_NAME, BY_TITLE, BY_WORDS
from vision_agent.text.escape import cut_text, printable_line
from vision_agent.types import Step

SHORTEST = 3
"""Characters of a value that is looked for in names; a shorter one, such as `2`, may be there for other reasons."""
_LONGEST = 200
"""Characters of one; no name has more."""
_SHOWN = 60
_INSTEAD = "run the task itself with the new value, with a model or step lines"


class NewValue(NamedTuple):
    """A value of the recorded run that is another one now."""

    name: str
    """The name of the variable."""
    old: str
    new: str


class RenamedMarks:
    """Changes the words of recorded marks."""

    def __init__(
        self, changes: Sequence[NewValue], all_values: Sequence[tuple[str, str]], facts: Container[str]
    ) -> None:
        """Prepares the changes; `all_values` are the names and recorded values of all variables, `facts` the names of
        the facts, which typed texts follow.
        """
        self._facts = facts
        self._changes = [each for each in changes if _folded(each.old) != _folded(each.new) and each.old.strip()]
        self._values = [(name, value) for name, value in all_values if value.strip()]
        self._new = {
            _folded(each.old): each.new
            for each in self._changes
            if not _is_short(each.old) and len(each.old) <= _LONGEST
        }
        either = "|".join(map(_pattern, sorted(self._new, key=len, reverse=True)))
        self._either = re.compile(either, re.IGNORECASE) if either else None

    def text(self, text: str) -> str:
        """The text with the new values."""
        if self._either is None or not text:
            return text
        return self._either.sub(lambda match: self._new.get(_folded(match.group()), match.group()), text)

    def step(self, step: Step) -> Step:
        """The step as it would be recorded with the new values.

        Raises:
            UsageError: it is not certain what it would be.
        """
        for mark in _targets(step):
            self._require_certain(step, mark)
        self._require_addresses(step)
        if self._either is None:
            return step
        outcomes = tuple(each.model_copy(update={"sentence": self.text(each.sentence)}) for each in step.outcomes)
        return step.model_copy(update={"observation": self._renamed(step.observation), "outcomes": outcomes})

    def require_start(self, url: str) -> None:
        """Refuses a recorded start address that has an old value in it.

        Raises:
            UsageError: it has one.
        """
        if (change := self._in_address(url)) is not None:
            raise UsageError(
                f"The run began at {_shown(url)}, and {change.name} was {_shown(change.old)!r}",
                "give the address for the new value with --url",
            )

    def _renamed(self, seen: Observation) -> Observation:
        lines = (self.text(each) if each.startswith(TEXT_LINE) else each for each in seen.listing.split("\n"))
        kept = {"marks": tuple(map(self._mark, seen.marks)), "out_of_view": tuple(map(self._mark, seen.out_of_view))}
        return seen.model_copy(update={**kept, "listing": "\n".join(lines)})

    def _mark(self, mark: Mark) -> Mark:
        if mark.source != "dom":
            return mark
        words = {name: getattr(mark, name) for name in ("name", "context", "title", "heading", "shows", "says")}
        new = {name: self.text(text) for name, text in words.items()}
        by = BY_NAME if new["name"] != words["name"] else BY_TITLE if new["title"] != words["title"] else BY_WORDS
        return mark if new == words else mark.model_copy(update={**new, "fingerprint": by})

    def _require_certain(self, step: Step, mark: Mark) -> None:
        for change in self._changes:
            words = _words_of(mark, change.old, step.observation)
            if not any(has_words(text, change.old) for text in words):
                continue
            what = f"In step {step.index}, {mark.role} {_shown(mark.name)!r} was used, and {change.name} was "
            what += f"{_shown(change.old)!r}"
            if _is_short(change.old):
                raise UsageError(f"{what}: that is too short to tell whether the name means it", _INSTEAD)
            if mark.source != "dom":
                raise UsageError(f"{what}: what is drawn is found again only by its picture", _INSTEAD)
            new = {each.name: each.new for each in self._changes}
            for other, value in self._values:
                follows = change.name in self._facts and other not in self._facts and other not in new
                if follows or other == change.name or new.get(other) == change.new or not has_words(value, change.old):
                    continue
                if _folded(value) == _folded(change.old):
                    why = f"{other} was the same, so it is unclear which of them the name means"
                elif other not in new and any(has_words(text, value) for text in words):
                    why = f"{other} was {_shown(value)!r}, so it is unclear whether the name means that"
                else:
                    continue
                raise UsageError(f"{what}: {why}", f"set {other} too, or {_INSTEAD}")

    def _require_addresses(self, step: Step) -> None:
        for action, _ in step.carried_out:
            if isinstance(action, Goto | OpenTab) and (change := self._in_address(action.url)) is not None:
                raise UsageError(
                    f"Step {step.index} opened {_shown(action.url)}, and {change.name} was {_shown(change.old)!r}: "
                    "the address for the new value is unknown",
                    _INSTEAD,
                )

    def _in_address(self, url: str) -> NewValue | None:
        parts = urlsplit(url)
        text = unquote_plus(f"{parts.path} {parts.query} {parts.fragment}").replace("_", " ")
        long = [each for each in self._changes if not _is_short(each.old)]
        return next((each for each in long if has_words(text, each.old)), None)


def with_new_values(text: str, changes: Sequence[NewValue]) -> str:
    """The text with the new value wherever the old one is as whole words."""
    new = {each.old.casefold(): each.new for each in changes if each.old.strip()}
    either = "|".join(
        re.escape(each.old) for each in sorted(changes, key=lambda each: -len(each.old)) if each.old.strip()
    )
    return (
        re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: new[found[0].casefold()], text, flags=re.I) if new else text
    )


def has_words(text: str, value: str) -> bool:
    """Whether the value stands in the text as whole words, in capitals or not."""
    return (
        0 < len(value.strip()) <= _LONGEST
        and bool(text)
        and re.search(_pattern(value), text, re.IGNORECASE) is not None
    )


def uses(value: str, step: Step) -> bool:
    """Whether the step used a mark that has the value in its name or in the words beside it."""
    return any(has_words(text, value) for mark in _targets(step) for text in _words_of(mark, value, step.observation))


def _targets(step: Step) -> Iterator[Mark]:
    for action, _ in step.carried_out:
        for target in targets_of(action):
            number = mark_in(target)
            mark = step.observation.known_mark(number) if number is not None else None
            if mark is not None:
                yield mark


def _words_of(mark: Mark, value: str, seen: Observation) -> tuple[str, ...]:
    """The texts of a mark in which the value may be meant; a short one is looked for only in the name."""
    if _is_short(value):
        return mark.name, mark.shows
    asked = question_of(mark, seen) if is_answer(mark) else ()
    return mark.name, mark.shows, mark.context, mark.heading, *asked


def _is_short(value: str) -> bool:
    return len(value.strip()) < SHORTEST


def _pattern(value: str) -> str:
    words = r"\s+".join(map(re.escape, value.split()))
    return rf"(?<!\w){words}(?!\w)"


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _shown(text: str) -> str:
    return printable_line(cut_text(text, _SHOWN))
