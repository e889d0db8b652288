"""Pools the scores of pages, compares them with the declared targets, and presents both to people or programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vision_agent.evals.perception.churn import Churn
from vision_agent.evals.perception.compare import Finding
from vision_agent.evals.perception.score import PageScore

CROP = 260
"""Edge of a crop on the sheet, in pixels."""
_MOST_ON_A_SHEET = 40


@dataclass(frozen=True)
class Figure:
    """One figure of the score and its target; an unmeasured figure (None) neither passes nor fails."""

    name: str
    value: float | None
    reach: float | None
    at_least: bool = True
    is_share: bool = False

    @property
    def is_met(self) -> bool | None:
        """None without a target or a measurement."""
        if self.value is None or self.reach is None:
            return None
        return self.value >= self.reach if self.at_least else self.value <= self.reach


def figures(scores: Sequence[PageScore], churn: Sequence[Churn] = ()) -> list[Figure]:
    """The pooled figures of pages that are all labelled, or all unlabelled."""
    is_labelled = all(score.is_labelled for score in scores)

    def total(count: Callable[[PageScore], int]) -> int:
        return sum(count(score) for score in scores)

    found, false, duplicates = total(lambda s: s.found), total(lambda s: s.false), total(lambda s: s.duplicates)
    drawn = total(lambda s: s.labels.drawn)
    traces = [score.traces for score in scores if score.traces is not None]
    seen = [float(sum(each[place] for each in traces)) if traces else None for place in range(3)]
    read = [score.labels for score in scores if score.labels.read is not None]
    read_back = sum(each.read or 0 for each in read)
    errors = [error for score in scores for error in score.box_errors]
    contrasts = [each for score in scores for each in score.labels.contrasts]
    tokens = [each for score in scores for each in score.tokens]
    words = [share for score in scores for share in score.covered.word_shares]
    icons = [share for score in scores for share in score.covered.icon_shares]
    first_hidden = _share(
        total(lambda s: len(s.covered.first_letters_hidden)), total(lambda s: s.covered.first_letters)
    )
    astray = _share(total(lambda s: len(s.covered.astray)), total(lambda s: s.covered.placed))
    least = (0.99, 0.98) if is_labelled else (0.98, 0.98)
    result = [
        Figure("recall", _share(found, total(lambda s: s.wanted)), least[0], is_share=True),
        Figure("precision", _share(found, found + false), least[1], is_share=True),
        Figure("duplicates", _share(duplicates, found + duplicates), 0.01, at_least=False, is_share=True),
        Figure("landing", _share(total(lambda s: s.landed), total(lambda s: s.pressed)), 1.0, is_share=True),
        Figure("labels on another target", _share(total(lambda s: s.labels.on_another), drawn), 0.0, False, True),
        Figure("labels overlapping", _share(total(lambda s: s.labels.overlapping), drawn), 0.0, False, True),
        Figure("labels outside", _share(total(lambda s: s.labels.outside), drawn), 0.0, False, True),
        Figure("first letters hidden", first_hidden, None, False, True),
        Figure("words' ink hidden, median", _percentile(words, 50), None, False, True),
        Figure("words' ink hidden, p95", _percentile(words, 95), 0.25, False, True),
        Figure("icons' ink hidden, median", _percentile(icons, 50), None, False, True),
        Figure("icons' ink hidden, p95", _percentile(icons, 95), 0.1, False, True),
        Figure("labels astray", astray, None, False, True),
        Figure("marks without a drawn number", float(total(lambda s: s.labels.undrawn)), 0.0, at_least=False),
        Figure("numbers read back", _share(read_back, sum(each.tried for each in read)), 0.995, is_share=True),
        Figure("minimum contrast", min(contrasts) if contrasts else None, 4.5),
        Figure("box error, px", max(errors) if errors else None, 1.0, at_least=False),
        Figure("mutation records", seen[0], 0.0, at_least=False),
        Figure("documents with new globals", seen[1], 0.0, at_least=False),
        Figure("documents with changed markup", seen[2], 0.0, at_least=False),
        Figure("tokens per mark, median of pages", float(np.median(tokens)) if tokens else None, 12.0, at_least=False),
        Figure("time ÷ plain screenshot", _ratio(scores), None, at_least=False),
    ]
    if not is_labelled:
        unsure = total(lambda s: len(s.unsure))
        result.append(Figure("unsure marks", _share(unsure, found + false + unsure), None, is_share=True))
    if churn:
        kept, lived = sum(each.kept for each in churn), sum(each.lived for each in churn)
        again, came_back = sum(each.kept_again for each in churn), sum(each.came_back for each in churn)
        result += [
            Figure("numbers kept by live elements", _share(kept, lived), 0.99, is_share=True),
            Figure("numbers kept by re-rendered elements", _share(again, came_back), None, is_share=True),
            Figure("numbers reassigned", float(sum(each.handed for each in churn)), 0.0, at_least=False),
        ]
    return result


def is_reached(measured: Sequence[Figure]) -> bool:
    """Whether all measured figures are met."""
    return all(figure.is_met is not False for figure in measured)


def groups(scores: Sequence[PageScore]) -> dict[str, list[PageScore]]:
    """Labelled and other pages, which have different targets."""
    labelled = [score for score in scores if score.is_labelled]
    named = {"labelled pages": labelled, "other pages": [score for score in scores if not score.is_labelled]}
    return {name: group for name, group in named.items() if group}


def summary(scores: Sequence[PageScore], churn: Sequence[Churn]) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        **{
            name.replace(" ", "_"): {
                "pages": len(group),
                "figures": [_figure(each) for each in figures(group, churn if group[0].is_labelled else ())],
            }
            for name, group in groups(scores).items()
        },
        "by_page": [_page(score) for score in scores],
        "churn": [each.__dict__ for each in churn],
    }


def show(console: Console, scores: Sequence[PageScore], churn: Sequence[Churn], most: int = 12) -> None:
    """Print the figures by group, then the pages with faults."""
    for name, group in groups(scores).items():
        marks = sum(score.marks for score in group)
        measured = figures(group, churn if group[0].is_labelled else ())
        console.print(_table(f"{len(group)} {name}, {marks} marks", measured))
    for score in scores:
        if not (score.findings or score.labels.misread):
            continue
        console.print(f"[bold]{escape(score.name)}[/] [dim]{score.found} of {score.wanted} found, {score.marks} marks")
        for finding in score.findings[:most]:
            console.print(f"  [yellow]{finding.kind:9}[/] {escape(finding.text)}", highlight=False, soft_wrap=True)
        if len(score.findings) > most:
            console.print(f"  [dim]and {len(score.findings) - most} more")
        if score.labels.misread:
            console.print(f"  [yellow]misread  [/] {escape(', '.join(score.labels.misread[:most]))}", highlight=False)


def sheet(scores: Sequence[PageScore], share: float = 0.05, seed: int = 1) -> bytes | None:
    """A contact sheet (PNG) of the faults and a random share of the agreed targets; None if there are none.

    Each crop comes from the marked picture, with a frame around the element, so that people can decide who is right.
    """
    chance = np.random.default_rng(seed)
    wrong = [(score, each) for score in scores for each in score.findings if each.box is not None and score.picture]
    right = [(score, each) for score in scores for each in score.agreed if score.picture]
    shown = _some(chance, wrong, _MOST_ON_A_SHEET) + _some(
        chance, right, min(_MOST_ON_A_SHEET, round(share * len(right)))
    )
    if not shown:
        return None
    columns = 5
    rows = -(-len(shown) // columns)
    whole = Image.new("RGB", (columns * CROP, rows * (CROP + 30)), "white")
    for place, (score, finding) in enumerate(shown):
        left, top = place % columns * CROP, place // columns * (CROP + 30)
        whole.paste(_cut(score, finding), (left, top + 30))
        title = f"{score.name[:40]}\n{finding.kind} {_ascii(finding.text)[:42]}"
        ImageDraw.Draw(whole).text((left + 4, top + 2), title, "black")
    data = BytesIO()
    whole.save(data, "PNG")
    return data.getvalue()


def _some(
    chance: np.random.Generator, all_: Sequence[tuple[PageScore, Finding]], most: int
) -> list[tuple[PageScore, Finding]]:
    """A random sample of at most this size."""
    return [all_[int(index)] for index in chance.choice(len(all_), min(most, len(all_)), replace=False)] if all_ else []


def _cut(score: PageScore, finding: Finding) -> Image.Image:
    assert score.picture is not None
    assert finding.box is not None
    picture = Image.open(BytesIO(score.picture)).convert("RGB")
    box = finding.box
    draw = ImageDraw.Draw(picture)
    draw.rectangle((box.x - 3, box.y - 3, box.right + 3, box.bottom + 3), outline=(255, 0, 255), width=2)
    x, y = box.x + min(box.width, CROP) / 2, box.y + min(box.height, CROP) / 2
    left = max(0, min(x - CROP / 2, picture.width - CROP))
    top = max(0, min(y - CROP / 2, picture.height - CROP))
    return picture.crop((round(left), round(top), round(left) + CROP - 4, round(top) + CROP - 4))


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percentile(values: Sequence[float], which: float) -> float | None:
    return float(np.percentile(values, which)) if values else None


def _ratio(scores: Sequence[PageScore]) -> float | None:
    """The median over pages of the ratio of median durations."""
    ratios = [np.median(s.observe_s) / np.median(s.screenshot_s) for s in scores if s.screenshot_s]
    return float(np.median(ratios)) if ratios else None


def _figure(figure: Figure) -> dict[str, Any]:
    value = None if figure.value is None else round(figure.value, 4)
    return {"name": figure.name, "value": value, "reach": figure.reach, "met": figure.is_met}


def _page(score: PageScore) -> dict[str, Any]:
    return {
        "name": score.name,
        "labelled": score.is_labelled,
        "marks": score.marks,
        "wanted": score.wanted,
        "found": score.found,
        "false": score.false,
        "duplicates": score.duplicates,
        "unsure_marks": len(score.unsure),
        "unsure_share": round(score.unsure_share, 3),
        "pressed": score.pressed,
        "landed": score.landed,
        "labels_on_another": score.labels.on_another,
        "labels_overlapping": score.labels.overlapping,
        "first_letters_hidden": list(score.covered.first_letters_hidden),
        "labels_astray": list(score.covered.astray),
        "misread": list(score.labels.misread),
        "findings": [f"{each.kind}: {each.text}" for each in score.findings],
        "unsure": [each.text for each in score.unsure],
        "warnings": list(score.warnings),
        "seconds": round(score.seconds, 1),
    }


def _table(title: str, measured: Sequence[Figure]) -> Table:
    shown = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, min_width=len(title) + 4)
    shown.add_column("figure")
    shown.add_column("measured", justify="right")
    shown.add_column("reach", justify="right", style="dim")
    for figure in measured:
        colour = {True: "green", False: "red", None: "default"}[figure.is_met]
        reach = "" if figure.reach is None else f"{'≥' if figure.at_least else '≤'} {_shown(figure, figure.reach)}"
        value = "not measured" if figure.value is None else _shown(figure, figure.value)
        shown.add_row(figure.name, f"[{colour}]{value}", reach)
    return shown


def _shown(figure: Figure, value: float) -> str:
    return f"{100 * value:.1f}%" if figure.is_share else f"{value:g}" if value == round(value) else f"{value:.2f}"
