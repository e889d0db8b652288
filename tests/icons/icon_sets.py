"""Icon sets of other projects: fetched from npm in pinned versions, named by `vocabulary.toml`, drawn by resvg.

Everything is kept in `.cache/icons`; no drawing becomes part of this project. `drawings(name)` are the icons of a set,
each once, as grey pictures of `MASTER` × `MASTER` pixels, 255 where there is ink.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import resvg_py
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent.parent))
from pages import fetch_npm

HERE = Path(__file__).parent
CACHE = HERE.parent.parent / ".cache" / "icons"
MASTER = 96
"""Pixels of a drawing's side: several times larger than icons on pages, which are made from it by shrinking."""
MOST_OTHERS = 900
"""The most icons of a set that are drawn although the vocabulary has no name for them."""
MOST_OF_A_NAME, MOST_OTHERS_LEARNED = 6, 150
"""The most of a set that is learned from: with one name, and without a name."""

_STYLE = re.compile(
    "-(outlined?|filled|fill|solid|bold|thin|light|duotone|rounded|round|sharp|line|linear|regular|two-?tone|baseline"
    r"|f|o|stroke|broken|small|sm|lg|\d+)$"
)
_STYLES_BEFORE = {"ic": "outline|baseline|round|sharp|twotone", "ion": "ios|md", "bx": "bxs?"}
_SIZES = {"fluent": ("10", "12", "16", "20", "24", "28", "32", "48"), "carbon": ("16", "20", "24", "32")}
"""Numbers at the end of an icon's name that are a size; in other sets every number counts as a variant."""
_SKIPPED = {
    "fluent": re.compile(r"-(10|12|16|28|32|48)-|-(color|light)$|-(ltr|rtl)(-|$)"),
    "material-symbols": re.compile("-sharp$"),
    "material-symbols-light": re.compile("-(sharp|rounded)$"),
    "ic": re.compile("^sharp-"),
    "mdi": re.compile("-(outline-off|variant-off)$"),
}
"""Sizes and styles of large sets that differ too little from others."""


@dataclass(frozen=True)
class Drawing:
    """One icon of a set."""

    set: str
    icon: str
    """Its name in the set."""
    word: str
    """That without the words for its style."""
    name: str
    """What the vocabulary calls it; empty if it has no name for it."""
    is_near: bool
    """It has no name, but its word says part of one: `trash-x`."""
    body: str
    pixels: NDArray[np.uint8]


_Chosen = tuple[str, str, str, bool, str]
"""What a `Drawing` has from `icon` to `body`."""


@cache
def _toml(file: str) -> dict[str, Any]:
    return tomllib.loads((HERE / file).read_text("utf-8"))


def sets(part: str) -> list[str]:
    """The names of the `learned` or `held_out` sets."""
    return list(_toml("sets.toml")[part])


def settings_of(name: str) -> dict[str, Any]:
    """The version, the licence and the rest of what `sets.toml` says about a set."""
    both = _toml("sets.toml")
    found: dict[str, Any] = both["learned"].get(name) or both["held_out"][name]
    return found


def names() -> list[str]:
    """All names of the vocabulary, sorted."""
    return sorted(_toml("vocabulary.toml")["names"])


def words_of(set: str, icon: str) -> list[str]:
    """An icon's name, and that without the words for its style, one after another: `menu-2-fill`, `menu-2`, `menu`."""
    word = icon.replace("--", "-").lower()
    if set in _STYLES_BEFORE:
        word = re.sub(f"^({_STYLES_BEFORE[set]})-", "", word)
    found = [word]
    while (shorter := _STYLE.sub("", word)) != word:
        number = word.removeprefix(f"{shorter}-")
        if number.isdigit() and number not in _SIZES.get(set, (number,)):
            break  # `rewind-5` is no size of `rewind`
        word = shorter
        found.append(word)
    if set == "bi":  # `calendar2`, `calendar3` and so on are other drawings of the same
        found += [re.sub(r"(?<=[a-z]{3})\d(?=-|$)", "", each) for each in found]
    return found


def name_of(set: str, icon: str) -> str | None:
    """What the vocabulary calls an icon of a set; empty if it has no name for it, None if it is ignored."""
    names = _words()
    for word in words_of(set, icon):
        own = names.get(f"{set}:{word}")
        if own is not None:
            return own
        if f"{set}:{word}" in _excluded():
            return None
        if word in names:
            return names[word]
    return None if {*words_of(set, icon)} & _ignored() else ""


@cache
def _words() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, words in _toml("vocabulary.toml")["names"].items():
        gone = {word[1:] for word in words.split() if word.startswith("-")}
        for word in words.split():
            if word.startswith("-") or word in gone:
                continue
            assert found.get(word, name) == name, f"{word} stands at {found[word]} and at {name}"
            found[word] = name
    return found


@cache
def _excluded() -> frozenset[str]:
    every = " ".join(_toml("vocabulary.toml")["names"].values())
    return frozenset(word[1:] for word in every.split() if word.startswith("-"))


@cache
def _ignored() -> frozenset[str]:
    return frozenset(_toml("vocabulary.toml")["ignored"]["words"].split())


@cache
def _parts() -> frozenset[str]:
    """The parts of all words that tell something: an icon that has one of them may mean what the word means."""
    return frozenset(part for word in _words() for part in re.split("[-:]", word) if len(part) > 2) | {"x", "at", "qr"}


def package(name: str) -> Path:
    """The folder of a set's package, fetched now if it is not here yet; its licence is what `sets.toml` says."""
    wanted = settings_of(name)
    folder = fetch_npm(f"@iconify-json/{name}", wanted["version"], CACHE)
    info = json.loads((folder / "info.json").read_text("utf-8"))
    assert info["license"]["spdx"] == wanted["licence"], f"{name} is under {info['license']['spdx']}"
    return folder


def drawings(name: str) -> list[Drawing]:
    """The icons of a set: all that the vocabulary names, and up to `MOST_OTHERS` others."""
    chosen = _chosen(name)
    file = CACHE / f"drawn-{name}.npz"
    keys = [hashlib.sha256(svg.encode()).hexdigest()[:16] for *_, svg in chosen]
    drawn: dict[str, NDArray[np.uint8]] = {}
    if file.exists():
        kept = np.load(file)
        drawn = dict(zip(kept["keys"].tolist(), kept["pixels"], strict=True))
    missing = [(key, svg) for key, (*_, svg) in zip(keys, chosen, strict=True) if key not in drawn]
    if missing:
        drawn |= {key: rendered(svg, MASTER) for key, svg in missing}
        np.savez(file, keys=np.array([*drawn]), pixels=np.stack([*drawn.values()]))
    return [
        Drawing(name, icon, word, called, near, svg, drawn[key])
        for key, (icon, word, called, near, svg) in zip(keys, chosen, strict=True)
        if drawn[key].max() > 60
    ]


def _chosen(name: str) -> list[_Chosen]:
    data = json.loads((package(name) / "icons.json").read_text("utf-8"))
    icons = data["icons"]
    aliases = data.get("aliases", {})
    named, others, seen = [], [], set()
    skipped = _SKIPPED.get(name)
    for icon in [*icons, *aliases]:
        parent = icons.get(aliases[icon]["parent"]) if icon in aliases else icons[icon]
        if parent is None or (icon in aliases and set(aliases[icon]) - {"parent", "hidden"}):
            continue
        if skipped and skipped.search(icon):
            continue
        svg = _svg(data, parent)
        called, word = name_of(name, icon), words_of(name, icon)[-1]
        if called is None:
            seen.add(svg)
            continue
        if called:
            if svg not in seen:
                named.append((icon, word, called, False, svg))
                seen.add(svg)
        elif icon in icons:
            near = bool(set(re.split("-", word)) & _parts())
            others.append((icon, word, "", near, svg))
    # An icon that another name of the set stands for is no other.
    others = [each for each in others if each[-1] not in seen]
    far, near = [each for each in others if not each[3]], [each for each in others if each[3]]
    far.sort(key=lambda each: hashlib.sha256(each[0].encode()).digest())
    near.sort(key=lambda each: hashlib.sha256(each[0].encode()).digest())
    wanted = settings_of(name)
    if name in sets("held_out") or wanted.keys() & {"checked", "held_out_styles"}:
        return named + far[: MOST_OTHERS // 2] + near[: MOST_OTHERS // 2]
    return _few_of_each_name(named) + far[:MOST_OTHERS_LEARNED]


def _few_of_each_name(named: list[_Chosen]) -> list[_Chosen]:
    named = sorted(named, key=lambda each: hashlib.sha256(each[0].encode()).digest())
    by: dict[str, list[_Chosen]] = {}
    for each in named:
        by.setdefault(each[2], []).append(each)
    return [each for group in by.values() for each in group[:MOST_OF_A_NAME]]


def _svg(data: dict[str, Any], icon: dict[str, Any]) -> str:
    width = icon.get("width", data.get("width", 16))
    height = icon.get("height", data.get("height", 16))
    box = f"{icon.get('left', 0)} {icon.get('top', 0)} {width} {height}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="96" height="96">{icon["body"]}</svg>'


def rendered(svg: str, size: int) -> NDArray[np.uint8]:
    """A drawing in black, `size` pixels wide and high; 255 where there is ink."""
    try:
        png = resvg_py.svg_to_bytes(
            svg_string=svg.replace("currentColor", "#000"), width=size, height=size, background="#fff"
        )
    except ValueError:  # a drawing that the library cannot read is one less
        return np.zeros((size, size), np.uint8)
    grey = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    return np.asarray(255 - grey, np.uint8)


def all_drawings(part: str) -> Iterator[Drawing]:
    """The drawings of all `learned` or `held_out` sets."""
    for name in sets(part):
        yield from drawings(name)
