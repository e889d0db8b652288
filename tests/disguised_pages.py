"""Pages that show a value in a disguise: what a page, or what stands between it and us, may make of a secret."""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote


def spans(value: str, tag: str = "span", join: str = "") -> str:
    return join.join(f"<{tag}>{html.escape(each)}</{tag}>" for each in value)


def shuffled(value: str) -> str:
    """Letters that stand in their order on the screen only."""
    placed = [f"<b style='position:absolute;left:{24 * at}px;top:0'>{each}</b>" for at, each in enumerate(value)]
    return f"<div style='position:relative;height:24px;width:600px'>{''.join(placed[1::2] + placed[::2])}</div>"


def every(value: str, form: str) -> str:
    return "".join(form.format(ord(each)) for each in value)


def wide(value: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in value)


def bold(value: str) -> str:
    def one(each: str) -> str:
        if each.isdigit():
            return chr(0x1D7CE + ord(each) - ord("0"))
        start = 0x1D400 - ord("A") if each.isupper() else 0x1D41A - ord("a")
        return chr(start + ord(each)) if each.isalpha() else each

    return "".join(map(one, value))


ALIKE = str.maketrans("aeopcxyAEOPCXKHTM", "аеорсхуАЕОРСХКНТМ")
CIRCLED = {ord("a") + at: 0x24D0 + at for at in range(26)} | {ord("A") + at: 0x24B6 + at for at in range(26)}

SHOWN: dict[str, Callable[[str], str]] = {
    "as it is": html.escape,
    "in groups of four": lambda v: " ".join(v[at : at + 4] for at in range(0, len(v), 4)),
    "a span for each letter": spans,
    "a button for each letter": lambda v: spans(v, "button"),
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "against the direction of the text": lambda v: f"<bdo dir=rtl>{html.escape(v[::-1])}</bdo>",
    "with characters of no width": "\u200b".join,
    "full-width": wide,
    "with hyphens": "-".join,
    "with dots": " . ".join,
    "in capitals": str.upper,
    "in small letters": str.lower,
    "capitals by the style sheet": lambda v: f"<span style='text-transform:uppercase'>{v}</span>",
    "escaped as in HTML": lambda v: html.escape(every(v, "&#x{:x};")),
    "escaped as in HTML twice": lambda v: html.escape(html.escape(every(v, "&#{};"))),
    "hex": lambda v: v.encode().hex(),
    "hex in groups": lambda v: v.encode().hex(" ").upper(),
    "hex escapes": lambda v: every(v, r"\x{:02x}"),
    "JSON escapes": lambda v: every(v, r"\u{:04x}"),
    "base32": lambda v: base64.b32encode(v.encode()).decode(),
    "base64 in lines": lambda v: re.sub(".{8}", r"\g<0><br>", base64.b64encode(v.encode()).decode()),
    "base64 of JSON": lambda v: base64.urlsafe_b64encode(json.dumps({"value": v}).encode()).decode(),
    "URL": lambda v: "".join(f"%{ord(each):02X}" for each in v),
    "URL twice": lambda v: quote("".join(f"%{ord(each):02X}" for each in v)),
    "backwards": lambda v: v[::-1],
    "in letters of other scripts": lambda v: v.translate(ALIKE),
    "bold letters of mathematics": bold,
    "letters in circles": lambda v: v.translate(CIRCLED),
    "with soft hyphens": "&shy;".join,
    "with accents": lambda v: "".join(f"{each}\u0301" for each in v),
    "with line breaks": "<br>".join,
    "rot13": lambda v: codecs.encode(v, "rot13"),
    "in cells of a table": lambda v: f"<table><tr>{spans(v, 'td')}</tr></table>",
    "placed one by one": shuffled,
    "in a row that is turned round": lambda v: (
        f"<div style='display:flex;flex-direction:row-reverse'>{spans(v[::-1])}</div>"
    ),
    "in a column that is turned round": lambda v: (
        f"<div style='display:flex;flex-direction:column-reverse'>{spans(v[::-1])}</div>"
    ),
    "by the style sheet": lambda v: f"<style>#told i::before{{content:'{v}'}}</style><i></i>",
    "as the value of a field": lambda v: f"<input aria-label=Told value='{' '.join(v)}' style='width:400px'>",
    "as the hint of a field": lambda v: f"<input placeholder='{v}' style='width:400px'>",
    "in a field for each letter": lambda v: "".join(f"<input aria-label=Told value='{each}' size=1>" for each in v),
    "as an option": lambda v: f"<select><option>{' '.join(v)}</select>",
    "as the name of a button": lambda v: f"<input type=button value='{v[::-1]}'>",
    "in a drawing": lambda v: f"<svg width=500 height=30><text y=20>{' '.join(v)}</text></svg>",
    "in a shadow root": lambda v: f"<div><template shadowrootmode=open>{spans(v)}</template></div>",
    "in a closed shadow root": lambda v: f"<div><template shadowrootmode=closed>{spans(v)}</template></div>",
    "in a frame": lambda v: f'<iframe width=600 height=40 srcdoc="<body style=margin:0>{spans(v)}"></iframe>',
    "cut off": lambda v: f"{v[:-3]}…",
}
"""HTML that shows a value, by the name of the disguise; the first eight stand for all in a quick run."""
