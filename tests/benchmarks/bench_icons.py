"""How often icons get the right name, on sets and weights that the namer has not learned from: `make bench-icons`.

Each icon is drawn once at its real size, 16 to 48 pixels, in random colours, a third of them in a frame; the product's
own `name_icon` is asked. Right: the name that `tests/icons/vocabulary.toml` gives it. Then what has no name there is
asked about: other icons, among them variants of named ones (`trash-x`), words, letters, shapes and parts of
screenshots, which should get none.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "icons"))
import icon_sets
from crops import Random, colours, framed, no_icons
from icon_sets import Drawing, rendered

from vision_agent.vision.icons.glyph import MARGIN, Pixels, glyphs_in
from vision_agent.vision.icons.namer import LEAST, confidences, name_icon
from vision_agent.vision.icons.namer import known_names as names_of_network

REACH_RIGHT, REACH_WRONG, REACH_MS = 0.85, 0.03, 1.0
SIZES = (16, 18, 20, 24, 24, 28, 32, 40, 48)
_PAIRS = 25
_NO_ICONS = 1500


def shown(svg: str, random: Random) -> Pixels:
    """An icon as a page shows it, drawn at its own size."""
    size = int(random.choice(SIZES))
    is_framed = random.random() < 0.33
    pad = MARGIN + (int(random.uniform(0.25, 0.5) * size) if is_framed else int(random.integers(0, 9)))
    ground, fore = colours(random)
    picture = np.empty((size + 2 * pad, size + 2 * pad, 3), np.float32)
    picture[:] = ground
    if is_framed:
        picture, fore = framed(picture, ground, fore, random)
    alpha = rendered(svg, size).astype(np.float32)[..., None] / 255
    picture[pad : pad + size, pad : pad + size] += alpha * (fore - picture[pad : pad + size, pad : pad + size])
    return np.asarray(np.clip(np.rint(picture), 0, 255), np.uint8)


def drawings_of(part: str) -> dict[str, list[Drawing]]:
    """The icons of the held-out sets and styles, or of the sets on which the least confidence was chosen."""
    if part == "checked":
        names = [name for name in icon_sets.sets("learned") if icon_sets.settings_of(name).get("checked")]
        return {name: icon_sets.drawings(name) for name in names}
    found = {name: icon_sets.drawings(name) for name in icon_sets.sets("held_out")}
    for name in icon_sets.sets("learned"):
        for style in icon_sets.settings_of(name).get("held_out_styles", ()):
            thin = [each for each in icon_sets.drawings(name) if each.icon.endswith(f"-{style}")]
            found[f"{name}, {style}"] = [each for each in thin if each.name]
    return found


def measured(sets: dict[str, list[Drawing]], console: Console, pairs: int) -> tuple[float, float]:
    """Prints the tables; returns the shares of icons that were named right and wrong."""
    random = np.random.default_rng(7)
    table = Table("set", "icons", "right", "no name", "wrong", "others named", "variants named", box=SIMPLE)
    confused: Counter[tuple[str, str]] = Counter()
    all_said: Counter[str] = Counter()
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    by_size: dict[bool, Counter[str]] = defaultdict(Counter)
    seconds, asked = 0.0, 0
    for name, drawings in sets.items():
        counted: Counter[str] = Counter()
        for each in drawings:
            picture = shown(each.body, random)
            began = time.process_time()
            guess = name_icon(picture)
            seconds, asked = seconds + time.process_time() - began, asked + 1
            if each.name:
                said = "none" if guess is None else "right" if guess.name == each.name else "wrong"
                by_name[each.name][said] += 1
                by_size[min(picture.shape[:2]) < 24 + 2 * MARGIN][said] += 1
            else:
                said = ("near" if each.is_near else "far") + (" named" if guess else "")
            counted[said] += 1
            if guess is not None and said in ("wrong", "far named"):
                confused[(each.name or f"({each.set}:{each.icon})", guess.name)] += 1
        all_said += counted
        table.add_row(name, *_row(counted))
    table.add_row("all", *_row(all_said), style="bold")
    console.print(table)
    named = all_said["right"] + all_said["wrong"] + all_said["none"]
    per_name = [each["right"] / each.total() for each in by_name.values()]
    console.print(f"mean over the {len(per_name)} names: {np.mean(per_name):.1%} right")
    for is_small, each in by_size.items():
        part = "less than 24 pixels" if is_small else "24 pixels and more"
        console.print(
            f"pictures of {part}: {each['right'] / each.total():.1%} right, {each['wrong'] / each.total():.1%} wrong"
        )
    console.print(f"{seconds / asked * 1000:.2f} ms of processor time per icon (at most {REACH_MS:g} ms wanted)")
    console.print("\nWrong names, most frequent first:")
    for (what, guess), times in confused.most_common(pairs):
        console.print(f"  {times:3} {what} → {guess}", highlight=False)
    weak = sorted(by_name.items(), key=lambda each: each[1]["right"] / each[1].total())[:15]
    console.print("Least often right: " + ", ".join(f"{name} {each['right']}/{each.total()}" for name, each in weak))
    return all_said["right"] / named, all_said["wrong"] / named


def _row(counted: Counter[str]) -> Sequence[str]:
    named = counted["right"] + counted["wrong"] + counted["none"]

    def share(one: str, of: int) -> str:
        return f"{counted[one] / of:.1%}" if of else ""

    far, near = (counted[kind] + counted[f"{kind} named"] for kind in ("far", "near"))
    return (
        str(named), share("right", named), share("none", named), share("wrong", named),
        f"{share('far named', far)} of {far}", f"{share('near named', near)} of {near}",
    )  # fmt: skip


def no_icons_named(console: Console) -> None:
    """Prints how many letters, words, shapes and parts of screenshots get a name."""
    guesses = [guess for each in no_icons(_NO_ICONS, np.random.default_rng(11)) if (guess := name_icon(each))]
    said = ", ".join(f"{name} {times}" for name, times in Counter(each.name for each in guesses).most_common(8))
    console.print(f"Of {_NO_ICONS} letters, words, shapes and parts of screenshots {len(guesses)} get a name: {said}")


def by_least(sets: dict[str, list[Drawing]], console: Console) -> None:
    """Prints what other least confidences would give; for choosing one."""
    random, names = np.random.default_rng(5), ("", *names_of_network())
    said = []
    for drawings in sets.values():
        for each in drawings:
            readings = [confidences(glyph) for glyph in glyphs_in(shown(each.body, random))]
            said.append((each, [(names[int(sure[1:].argmax()) + 1], float(sure[1:].max())) for sure in readings]))
    table = Table("least", "right", "wrong", "others named", box=SIMPLE)
    for least in (0.3, 0.4, 0.45, 0.5, 0.52, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9):
        right = wrong = other = 0
        for each, readings in said:
            name, sure = max(readings, key=lambda reading: reading[1], default=("", 0.0))
            guess = name if sure >= least else None
            right += bool(each.name) and guess == each.name
            wrong += bool(each.name) and guess not in (None, each.name)
            other += not each.name and not each.is_near and guess is not None
        icons = sum(bool(each.name) for each, _ in said)
        others = sum(not each.name and not each.is_near for each, _ in said)
        table.add_row(f"{least:g}", f"{right / icons:.1%}", f"{wrong / icons:.1%}", f"{other / others:.1%}")
    console.print(table, f"now: {LEAST:g}")


def main() -> int:
    """0 when the held-out icons reach what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose-least", action="store_true", help="compare least confidences on the checked sets")
    parser.add_argument("--pairs", type=int, default=_PAIRS, help="how many wrong names to list")
    given = parser.parse_args()
    console = Console(width=120)
    cv2.setNumThreads(1)
    if given.choose_least:
        by_least(drawings_of("checked"), console)
        return 0
    right, wrong = measured(drawings_of("held_out"), console, given.pairs)
    no_icons_named(console)
    is_reached = right >= REACH_RIGHT and wrong <= REACH_WRONG
    console.print(
        f"Right {right:.1%} (at least {REACH_RIGHT:.0%} wanted), wrong {wrong:.1%} (at most {REACH_WRONG:.0%})"
    )
    return int(not is_reached)


if __name__ == "__main__":
    sys.exit(main())
