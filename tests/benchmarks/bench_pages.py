"""Pages to measure on, made from a seed: an office table that fills the screen, and a long list that runs far below it.

They look like pages that people work with: a bar, a side menu, rows of text between links, boxes, lists and buttons.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from html import escape

_WORDS = tuple(
    """
    invoice order draft shipment customer refund contract account summary review pending approved archive report north
    harbour market light paper stone garden winter summer river morning delivery weekly quarter ledger sample
    """.split()  # noqa: SIM905 - reads better than thirty quoted words
)
_STYLE = """
* { box-sizing: border-box } body { margin: 0; font: 13px/1.3 sans-serif; color: #222; background: #f6f7f9 }
nav { height: 40px; background: #1f2d3d; display: flex; gap: 18px; align-items: center; padding: 0 16px }
nav a { color: #cfe0f5 } main { display: flex } aside { width: 150px; padding: 4px 12px; background: #fff }
aside a { display: block; height: 22px; color: #24527a; text-decoration: none; white-space: nowrap; overflow: hidden }
table { width: 1130px; border-collapse: collapse; background: #fff; table-layout: fixed }
td { border: 1px solid #e2e6ea; padding: 0 4px; white-space: nowrap; overflow: hidden; line-height: var(--control) }
td button, td select, td input { font: inherit; height: var(--control); margin: 0; padding: 0 4px; vertical-align: top }
td input[type=text], td select { width: 92% } ul { margin: 0; padding: 0 }
li { height: 96px; margin: 8px; padding: 10px; background: #fff; border-radius: 6px; list-style: none }
li p { margin: 2px 0; color: #555 } li span { padding-right: 10px } li label { padding-left: 12px }
.swatch { float: left; width: 26px; height: 26px; margin-right: 8px }
"""


def table(marks: int, seed: int = 1) -> str:
    """A page that fits 1280×800 and on which `marks` things can be acted on, all of them visible."""
    chance = random.Random(seed)
    top, side = min(12, marks // 6), min(34, marks // 6)
    cells = marks - top - side
    columns = 4 if cells < 60 else 7 if cells < 300 else 14
    rows = -(-cells // columns)
    height = min(56, 756 // rows)
    look = f"font-size:{min(13, height - 6)}px;--control:{height - 3}px"
    links = "".join(f"<a href='/{place}'>{_words(chance, 1)}</a>" for place in range(top))
    menu = "".join(f"<a href='/menu/{place}'>{_words(chance, 2)}</a>" for place in range(side))
    body, left = [], cells
    for row in range(rows):
        here = min(columns, left)
        left -= here
        # A column of text stands in each row and only some rows begin with a box, so that things do not line up.
        offset = chance.randrange(4)
        controls = "".join(f"<td>{_control(chance, row, place + offset)}</td>" for place in range(here))
        body.append(f"<tr style='height:{height}px'><td>{escape(_words(chance, 2))}</td>{controls}</tr>")
    whole = f"<table style='{look}'>{''.join(body)}</table>"
    return _page(f"{marks} things", f"<nav>{links}</nav><main><aside>{menu}</aside>{whole}</main>")


def long_list(elements: int) -> str:
    """A page of about that many elements, most of them below what shows; what shows is much the same at any length."""
    chance = random.Random(1)
    header = "<nav>" + "".join(f"<a href='/{each}'>{each}</a>" for each in _WORDS[:6]) + "</nav>"
    items = (elements - 16) // _ITEM_ELEMENTS
    return _page(f"{elements} elements", f"{header}<ul>{''.join(_items(chance, items))}</ul>")


_ITEM_ELEMENTS = 14


def _items(chance: random.Random, count: int) -> Iterator[str]:
    for place in range(count):
        facts = "".join(f"<span>{_words(chance, 1)} <b>{chance.randrange(900)}</b></span>" for _ in range(3))
        yield (
            f"<li><i class=swatch style='background:hsl({chance.randrange(360)} 60% 70%)'></i>"
            f"<a href='/item/{place}'>{escape(_words(chance, 3))}</a><p>{_words(chance, 9)}</p>"
            f"<p>{facts}</p><button style='margin-left:{chance.randrange(300)}px'>Open</button>"
            f"<label><input type=checkbox> keep</label></li>"
        )


def _control(chance: random.Random, row: int, place: int) -> str:
    match place % 6:
        case 0:
            return f"<input type=checkbox aria-label='row {row}'>"
        case 1:
            return f"<a href='/row/{row}/{place}'>{_words(chance, 1)} {chance.randrange(1000, 9999)}</a>"
        case 2:
            return f"<button>{_words(chance, 1)[:7]}</button>"
        case 3:
            return f"<input type=text aria-label='amount {row}' value='{chance.randrange(10_000) / 100}'>"
        case 4:
            return f"<select aria-label='state {row}'><option>{_words(chance, 1)}<option>{_words(chance, 1)}</select>"
        case _:
            hue = chance.randrange(360)
            return f"<button style='background:hsl({hue} 70% 85%)' title='{_words(chance, 1)}'>✎</button>"


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, k=count))


def _page(title: str, body: str) -> str:
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>{body}</html>"
    )
