"""Redacts secrets from text; every record and every model input passes through here.

It searches for values, wherever they are, in every form that browsers and protocols give them: plain, escaped in JSON
(also JSON within JSON), percent-encoded (also twice), and base64, alone or inside a longer base64 text; and in those
that `disguises` finds. It knows neither pictures nor files, nor what a secret is for.
"""

from __future__ import annotations

import base64
import json
import re
import time
import types
import typing
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from vision_agent import totp
from vision_agent.errors import UsageError
from vision_agent.observation import Mark
from vision_agent.policy.rebind import BY_WORDS
from vision_agent.ports import Redact
from vision_agent.record.private_data import find_private
from vision_agent.text.disguises import APART, Disguises, Found
from vision_agent.types import PrivateKind, Secret

SHORTEST = 3
"""The least length of a secret; a shorter value occurs in almost every text by chance."""


_CODES_S = 5.0
"""How long computed one-time codes are reused; they always include the next code."""


class Redactor:
    """Replaces the value of every secret in a text with `<secret:name>`; other text stays unchanged.

    `kinds` are the kinds of private data that are replaced by `<private:kind>` wherever they occur. Redacting twice
    changes nothing more: placeholders are left alone.
    """

    def __init__(self, secrets: Sequence[Secret], kinds: Sequence[PrivateKind] = ()) -> None:
        self._kinds = tuple(kinds)
        self._compile(tuple(secrets))

    def _compile(self, secrets: tuple[Secret, ...]) -> None:
        for secret in secrets:
            _check(secret.name, secret.value.get_secret_value(), [each.name for each in secrets])
        self._secrets = secrets
        self._all = _Secrets(secrets)
        self._hidden = _Secrets([each for each in secrets if not each.is_private])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to redact."""
        return not (self._secrets or self._kinds)

    def learn(self, secret: Secret) -> None:
        """Adds a secret to redact from now on, such as a password that a person typed.

        Raises:
            UsageError: the value is too short to redact, or occurs in a placeholder.
        """
        before = self._secrets
        try:
            self._compile((*before, secret))
        except UsageError:
            self._compile(before)
            raise

    def __call__(self, text: str) -> str:
        """The text without the secrets, and without the one-time codes of the last minutes."""
        text = self._all.redact(text)
        if not self._kinds:
            return text
        searched = _without_placeholders(text)
        for each in reversed(find_private(searched, self._kinds)):
            text = f"{text[: each.start]}<private:{each.name}>{text[each.end :]}"
        return text

    def for_model(self, text: str) -> str:
        """The text as a model may read it: without the secrets, but with private data, which it may need."""
        return self._hidden.redact(text)

    def find(self, text: str) -> list[Found]:
        """Where secrets and private data occur in a text that is not yet redacted, in any order."""
        return [*self._all.find(text), *(find_private(text, self._kinds) if self._kinds else ())]


class _Secrets:
    """Secrets, and the one-time codes of those that are keys."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        values = [(secret.name, secret.value.get_secret_value()) for secret in secrets]
        values += [(each.name, key) for each in secrets if each.is_code for key in totp.key_forms(each)]
        self._values, self._disguises = _Values(values), Disguises(values)
        self._coded = [secret for secret in secrets if secret.is_code]
        self._renew_codes()

    def _renew_codes(self) -> None:
        codes = [(each.name, code) for each in self._coded for code in totp.recent_codes(each)]
        self._codes, self._disguised_codes = _Values(codes), Disguises(codes)
        self._codes_at = time.monotonic()

    def redact(self, text: str) -> str:
        text = _redact_disguised(self._values.redact(text), self._disguises)
        if not self._coded:
            return text
        if time.monotonic() - self._codes_at > _CODES_S:
            self._renew_codes()
        return _redact_disguised(self._codes.redact(text), self._disguised_codes)

    def find(self, text: str) -> list[Found]:
        if self._coded and time.monotonic() - self._codes_at > _CODES_S:
            self._renew_codes()
        return [*self._disguises.find(text), *(self._disguised_codes.find(text) if self._coded else ())]


def _redact_disguised(text: str, disguises: Disguises) -> str:
    for each in reversed(disguises.find(_without_placeholders(text))):
        text = text[: each.start] + _placeholder(each.name) + text[each.end :]
    return text


_PLACEHOLDER = re.compile(r"<(?:secret|private):[^<>\x00-\x1f]*>")


def _without_placeholders(text: str) -> str:
    """The text as it is searched: of the same length, with nothing to be found in or across a placeholder."""
    return _PLACEHOLDER.sub(lambda found: APART * len(found.group()), text) if "<" in text else text


class _Values:
    """Named values, compiled into patterns for every form they may be written in."""

    def __init__(self, values: Sequence[tuple[str, str]]) -> None:
        longest_first = sorted(values, key=lambda each: len(each[1]), reverse=True)
        self._names = {f"s{i}": name for i, (name, _) in enumerate(longest_first)}
        placeholders = "|".join(re.escape(_placeholder(name)) for name, _ in values)
        written = [_written(value) for _, value in longest_first]
        encoded = [_base64_forms(value) for _, value in longest_first]
        self._beginnings = [
            (name, form, most)
            for name, value in longest_first
            for form in _literals(value)
            if (most := _identifying_length(form))
        ]
        self._anchors = tuple({_anchor(form) for forms in encoded for form in forms})

        def join(forms: Sequence[Sequence[str]]) -> re.Pattern[str]:
            parts = [f"(?P<{group}>{'|'.join(each)})" for group, each in zip(self._names, forms, strict=True)]
            return re.compile("|".join([placeholders, *parts]))

        self._without_base64 = join([[each] for each in written]) if values else None
        self._with_base64 = join([[one, *more] for one, more in zip(written, encoded, strict=True)]) if values else None

    def redact(self, text: str) -> str:
        """The text with each value replaced by its placeholder."""
        # Searching for the literal middle of each base64 form first is four times as fast for text without one.
        has_base64 = any(anchor in text for anchor in self._anchors)
        pattern = self._with_base64 if has_base64 else self._without_base64
        text = pattern.sub(self._replacement, text) if pattern else text
        return self._redact_truncated(text) if "…" in text else text

    def _redact_truncated(self, text: str) -> str:
        """The text without values that were cut off with `…`, if at least half of the value is left."""
        *pieces, last = text.split("…")
        return "…".join([*map(self._redact_end, pieces), last])

    def _redact_end(self, text: str) -> str:
        for name, form, half in self._beginnings:
            if form[:half] in text[-len(form) :]:
                longest = next((n for n in range(len(form), half - 1, -1) if text.endswith(form[:n])), 0)
                if longest:
                    return text[:-longest] + _placeholder(name)
        return text

    def _replacement(self, match: re.Match[str]) -> str:
        return _placeholder(self._names[match.lastgroup]) if match.lastgroup else match.group()


def with_values(address: str, secrets: Sequence[Secret]) -> str:
    """The address with its placeholders replaced by the secrets' values; not one-time codes, which have expired."""
    for secret in secrets:
        if not secret.is_code:
            address = address.replace(_placeholder(secret.name), quote(secret.value.get_secret_value(), safe="/"))
    return address


def redact_model(model: BaseModel, redact: Redact) -> dict[str, Any]:
    """The pydantic model as JSON values, with every free string and key redacted.

    Literals, times and hashes stay: they cannot hold a secret, and a secret that happens to be `click`, `2026` or
    `abc` must not make the record unreadable.
    """
    dumped = model.model_dump(mode="json")
    if is_free(dumped, redact):
        return dumped
    return {name: _redact_field(model, name, value, redact) for name, value in dumped.items()}


def is_free(value: Any, redact: Redact) -> bool:
    """Whether no string or key of the JSON value holds a secret.

    All strings are joined and searched at once: a page has thousands, and one by one takes several times as long.
    """
    text = APART.join(_strings(value))
    return redact(text) == text


def _strings(value: Any) -> list[str]:
    found: list[str] = []
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            found.extend(each)
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
    return found


def redact_json(value: Any, redact: Redact) -> Any:
    """The JSON value with every string and every key redacted."""
    match value:
        case str():
            return redact(value)
        case dict():
            return {redact(key): redact_json(item, redact) for key, item in value.items()}
        case list():
            return [redact_json(item, redact) for item in value]
        case _:
            return value


def _redact_field(model: BaseModel, name: str, dumped: Any, redact: Redact) -> Any:
    if name in _kept_fields(type(model)):
        return dumped
    return _redact_beside(getattr(model, name), dumped, redact)


def _redact_beside(live: Any, dumped: Any, redact: Redact) -> Any:
    """Redacts a dump while walking the value beside it, because only the value knows its types."""
    if isinstance(live, BaseModel):
        redacted = {name: _redact_field(live, name, value, redact) for name, value in dumped.items()}
        # A fingerprint is made from the name, so it would tell whoever has a list of names which of them it was.
        if isinstance(live, Mark) and any(redacted[name] != dumped[name] for name in ("name", "shows", "says")):
            redacted["fingerprint"] = BY_WORDS
        return redacted
    if isinstance(live, tuple):
        return [_redact_beside(item, written, redact) for item, written in zip(live, dumped, strict=True)]
    return redact_json(dumped, redact)


_OURS = {"id", "head", "phash", "prompts"}
"""Fields with names and hashes that this package generates."""


@lru_cache(maxsize=256)
def _kept_fields(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if name.endswith("sha256") or name in _OURS or _is_vocabulary(field.annotation)
    )


def _is_vocabulary(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Literal:
        return True
    if origin in (Union, types.UnionType, tuple, typing.Annotated):
        return all(_is_vocabulary(arg) for arg in get_args(annotation) if arg is not Ellipsis)
    return annotation in (datetime, int, float, bool, type(None))


def _check(name: str, value: str, names: Sequence[str]) -> None:
    if not re.fullmatch(r"[\w.-]+", name):  # what is typed has no other names
        raise UsageError(f"The secret name {name!r} does not fit into <secret:…>", "use letters, digits, - and _")
    if len(value) < SHORTEST:
        raise UsageError(
            f"The value of secret {name!r} has {len(value)} characters and needs at least {SHORTEST}: "
            "a shorter value occurs in almost every text",
            "use a longer value, or pass it as user data if it is not secret",
        )
    shown_in = next((other for other in names if value in _placeholder(other)), None)
    if shown_in is not None:
        raise UsageError(
            f"The value of secret {name!r} occurs in the placeholder {_placeholder(shown_in)}", "choose another name"
        )


def _placeholder(name: str) -> str:
    return f"<secret:{name}>"


# --- the forms of a value, as patterns --------------------------------------------------------------------------------


def _written(value: str) -> str:
    return "".join(_run(match.group()) for match in re.finditer(r"\\+|[^\\]", value, re.DOTALL))


def _anchor(base64_form: str) -> str:
    """The longest literal part of the pattern, which is in every text that it matches."""
    literal = re.sub(r"\[.*?\]|\(\?:.*?\)", " ", base64_form)
    return max(literal.split(), key=len, default="")


def _run(text: str) -> str:
    """A pattern for one character, or a run of backslashes, in every form that a text protocol may write.

    The counts are bounded so that a page full of backslashes costs no more than any other.
    """
    if text[0] == "\\":
        count = len(text)
        return rf"(?:(?:{_escapes(text[0])}){{{count}}}|\\{{{count},{8 * count}}})"
    short = json.dumps(text)[1:-1]
    forms = [_escapes(text)]
    if text == " ":
        forms.append(r"\+")
    if len(short) == 2:
        forms.append(rf"\\{{1,7}}{re.escape(short[1])}")
    if text == "/":
        forms.append(r"\\{1,7}/")
    return f"(?:{re.escape(text)}|{'|'.join(forms)})"


def _literals(value: str) -> list[str]:
    """The most common written forms of a value, longest first."""
    forms = {value, json.dumps(value)[1:-1], quote(value), quote(value, safe=""), quote_plus(value)}
    for written in _bytes_of(value):
        for before in range(3):
            in_base64 = base64.b64encode(bytes(before) + written).decode()
            forms.add(in_base64[-(-before * 8 // 6) :].rstrip("="))
    return sorted(forms, key=len, reverse=True)


_SHORTEST_PART = 4


def _identifying_length(form: str) -> int:
    """How many leading characters identify a truncated form; 0 if it is too short for that."""
    half = max(_SHORTEST_PART, len(form) // 2)
    return half if half < len(form) else 0


def _escapes(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    in_json = "".join(rf"\\{{1,7}}u(?i:{units[i : i + 2].hex()})" for i in range(0, len(units), 2))
    in_url = "".join(f"%(?:25){{0,3}}(?i:{byte:02x})" for byte in char.encode("utf-8", "surrogatepass"))
    return f"{in_json}|{in_url}"


def _base64_forms(value: str) -> list[str]:
    in_json = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    texts = {value, quote(value), quote(value, safe=""), quote_plus(value)} | in_json
    return [
        _base64_pattern(written, offset)
        for text in sorted(texts, key=len, reverse=True)
        for written in _bytes_of(text)
        for offset in range(3)
    ]


def _bytes_of(text: str) -> list[bytes]:
    """A text as bytes: in UTF-8 and, if it differs, in Latin-1, which is what `btoa` encodes."""
    written = [text.encode()]
    with suppress(UnicodeEncodeError):
        written.append(text.encode("latin-1"))
    return list(dict.fromkeys(written))


def _base64_pattern(value: bytes, offset: int) -> str:
    """A pattern for the value in base64 when `offset` bytes (modulo three) precede it.

    The characters at both ends also carry bits of the neighbouring bytes, so each may be one of a few. They are
    redacted whole, so that no bit of the value remains.
    """
    end = offset + len(value)
    low = base64.b64encode(bytes(offset) + value + bytes(-end % 3)).decode()
    high = base64.b64encode(b"\xff" * offset + value + b"\xff" * (-end % 3)).decode()
    first, last = offset * 8 // 6, -(-end * 8 // 6)
    return "".join(_sextet(low[i], high[i]) for i in range(first, last))


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SPECIAL = {"+": r"[+-]|%2[Bb]|\\u002[Bb]", "/": r"[/_]|%2[Ff]|\\{1,7}/|\\u002[Ff]"}


def _sextet(low: str, high: str) -> str:
    """A pattern for every base64 character that shares the bits which `low` and `high` have in common."""
    zero, one = _ALPHABET.index(low), _ALPHABET.index(high)
    possible = [char for index, char in enumerate(_ALPHABET) if index & one == index and index | zero == index]
    plain = "".join(char for char in possible if char not in _SPECIAL)
    special = [_SPECIAL[char] for char in possible if char in _SPECIAL]
    if not special:
        return plain if len(plain) == 1 else f"[{plain}]"
    return f"(?:{'|'.join([f'[{plain}]'] * bool(plain) + special)})"
