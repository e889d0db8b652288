"""Puts the recorded values back in place of those of one replay, so that its repairs also fit other values.

If it cannot be told which words are a value, the repair is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from pydantic import ValidationError

from vision_agent.policy.rebind import BY_WORDS
from vision_agent.replay.patch import Repair
from vision_agent.replay.renamed_marks import SHORTEST, NewValue, has_words
from vision_agent.text.escape import cut_text, printable_line
from vision_agent.types import Step

_VALUES = frozenset({"text", "value", "options", "first", "last"})
_NO_TEXTS = frozenset(
    {
        "author", "change", "colour", "decided_by", "effect", "evidence", "fingerprint", "form", "frame", "id",
        "input_type", "key", "kind", "letter", "media_type", "model", "models", "phash", "reading", "refusal",
        "reply_id", "role", "sha256", "source", "started_at", "status", "tag", "taken_at", "through",
    }
)  # fmt: skip
"""What a record writes in words of its own."""
_WORDS = frozenset({"name", "context", "title", "heading", "shows", "says"})
"""Those of a mark by which it is recognised."""
_SHOWN = 40


class CannotRestore(Exception):
    """A value cannot be told from other words of a repair."""


class ValueRestorer:
    """Puts the recorded values back in place of those of this replay."""

    def __init__(self, changes: Sequence[NewValue]) -> None:
        self._changes = sorted(
            (each for each in changes if each.old != each.new), key=lambda each: len(each.new), reverse=True
        )

    def repair(self, was: Step, why: str, now: Sequence[Step], build: Callable[..., Repair]) -> Repair:
        """The repair that `build` makes of these steps, without any of the values.

        Raises:
            CannotRestore: that is not certain.
        """
        if not self._changes:
            return build(was, why, now)
        built = build(was, why, now)  # reduced to what a repair keeps
        for change in self._changes:
            self._require_clear(change, built)
        kept = [self._step(step) for step in built.now]
        made = build(was, self._restore_text(why), kept)
        self._require_gone(made)
        return made

    def _require_clear(self, change: NewValue, built: Repair) -> None:
        texts = list(_texts(built.model_dump(mode="json", include={"now"})))
        used = any(_occurs(change.new, text, key) for key, text in texts)
        twins = [each for each in self._changes if _same(each.new, change.new) and not _same(each.old, change.old)]
        if used and twins:
            raise CannotRestore(f"{change.name} and {twins[0].name} had the same new value, {_shown(change.new)!r}")
        before = built.was.model_dump(mode="json", include={"decision": True, "observation": {"marks"}})
        if used and any(_occurs(change.new, text, key) for key, text in _texts(before)):
            raise CannotRestore(
                f"the page had the words of {change.name}, {_shown(change.new)!r}, already in the record"
            )
        if not change.new.strip() and any(key in _VALUES and not text.strip() for key, text in texts):
            raise CannotRestore(f"{change.name} was empty")

    def _step(self, step: Step) -> Step:
        old = step.model_dump(mode="json", exclude={"started_at"})
        new = self._restore(old)
        for seen_then, seen_now in zip(old["observation"]["marks"], new["observation"]["marks"], strict=True):
            if any(seen_then.get(name) != seen_now.get(name) for name in _WORDS):
                if seen_now.get("source") != "dom":
                    raise CannotRestore("a value is the name of something drawn")
                seen_now["fingerprint"] = BY_WORDS
        try:
            return Step.model_validate({**new, "started_at": step.started_at})
        except ValidationError as error:
            raise CannotRestore("a value is also a word of the record's format") from error

    def _restore(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {name: self._restore(each, name) for name, each in value.items()}
            case list():
                return [self._restore(each, key) for each in value]
            case str() if key == "url":
                return self._restore_address(value)
            case str() if key in _VALUES:
                whole = next((each.old for each in self._changes if each.new and each.new == value), None)
                return self._restore_text(value) if whole is None else whole
            case str() if key not in _NO_TEXTS:
                return self._restore_text(value)
        return value

    def _restore_text(self, text: str) -> str:
        for change in self._changes:
            if has_words(text, change.new) and len(change.new.strip()) >= SHORTEST:
                pattern = rf"(?<!\w){re.escape(change.new)}(?!\w)"
                text = re.sub(pattern, lambda _, old=change.old: old, text, flags=re.IGNORECASE)  # type: ignore[misc]
        return text

    def _restore_address(self, url: str) -> str:
        for change in self._changes:
            for coded in (quote, quote_plus):
                if len(change.new.strip()) >= SHORTEST:
                    url = url.replace(coded(change.new, safe=""), coded(change.old, safe=""))
        return url

    def _require_gone(self, made: Repair) -> None:
        facts = made.model_dump(mode="json", exclude={"was"})
        for change in self._changes:
            if any(_occurs(change.new, text, key) for key, text in _texts(facts)):
                raise CannotRestore(f"{change.name}, {_shown(change.new)!r}, would stay in it")


def _texts(value: Any, key: str = "") -> list[tuple[str, str]]:
    match value:
        case dict():
            return [pair for name, each in value.items() for pair in _texts(each, name)]
        case list():
            return [pair for each in value for pair in _texts(each, key)]
        case str() if key not in _NO_TEXTS:
            return [(key, value)]
    return []


def _occurs(value: str, text: str, key: str) -> bool:
    """Whether the value is in the text; a short one, only where it is typed or named."""
    if not value.strip():
        return False
    if len(value.strip()) < SHORTEST:
        return key in _VALUES | _WORDS and (value == text or has_words(text, value))
    return value in text or has_words(unquote_plus(text) if key == "url" else text, value)


def _same(a: str, b: str) -> bool:
    return a.casefold() == b.casefold()


def _shown(text: str) -> str:
    return printable_line(cut_text(text, _SHOWN))
