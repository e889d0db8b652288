"""The HTML that a notebook shows for a run, a step and an outcome.

All text given here is data: it is escaped, cut, and kept from being set as mathematics. Knows no types of ours.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from vision_agent.text.escape import safe_line

_LONGEST = 500
"""Characters of one text."""
_CARD = "font: 13px/1.45 system-ui, sans-serif; max-width: 960px; border-left: 3px solid {colour}; padding-left: 10px"
_COLOURS = {"good": "#1a7f37", "bad": "#cf222e", "mixed": "#9a6700", "none": "#6e7781"}
_CELL = "text-align: left; vertical-align: top; padding: 2px 12px 2px 0"
# These classes keep MathJax away: a page could otherwise write links and styles between dollar signs.
_CLASS = "vision-agent tex2jax_ignore mathjax_ignore"


class Sign(NamedTuple):
    """A mark of how something went, and its words."""

    tone: str
    """`good`, `bad`, `mixed` or `none`."""
    words: str

    @property
    def html(self) -> str:
        """The sign in its colour; it can be read without colours."""
        symbol = {"good": "✓", "bad": "✗", "mixed": "◐"}.get(self.tone, "·")
        return f'<span style="color: {_COLOURS[self.tone]}">{symbol} {text_html(self.words)}</span>'


class CardPicture(NamedTuple):
    """An encoded picture."""

    media_type: str
    data: bytes
    words: str
    """What it shows, for people who cannot see it."""


def outcome_sign(status: str, effect: str | None, refusal: str | None) -> Sign:
    """How an action went; `mixed` if only a part of it was done, or it had no effect."""
    tone = {"done": "good", "partial": "mixed"}.get(status, "bad")
    if status == "done" and effect in ("no_effect", "error_page"):
        tone = "mixed"
    return Sign(tone, str(effect or refusal or status).replace("_", " "))


def text_html(text: str) -> str:
    """The text as HTML on one line: without invisible characters, cut, and escaped."""
    return escape(safe_line(text, _LONGEST), quote=True)


def card_html(
    title: str,
    sign: Sign,
    facts: Iterable[tuple[str, str]] = (),
    rows: Sequence[Sequence[str | Sign]] = (),
    picture: CardPicture | None = None,
) -> str:
    """A card with a title, a sign, named facts, a table, and a picture."""
    parts = [f"<div><strong>{text_html(title)}</strong> &ensp;{sign.html}</div>"]
    parts += [f"<div><em>{text_html(name)}</em> {text_html(value)}</div>" for name, value in facts if value]
    if rows:
        lines = ("".join(f'<td style="{_CELL}">{_cell(each)}</td>' for each in row) for row in rows)
        parts.append("<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>")
    if picture is not None and picture.media_type in ("image/png", "image/jpeg", "image/webp"):
        source = f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
        parts.append(f'<img src="{source}" alt="{text_html(picture.words)}" style="max-width: 100%; margin-top: 6px">')
    style = _CARD.format(colour=_COLOURS[sign.tone])
    return f'<div class="{_CLASS}" style="{style}">{"".join(parts)}</div>'


def _cell(value: str | Sign) -> str:
    return value.html if isinstance(value, Sign) else text_html(value)
