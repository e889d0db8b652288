"""Remembers the marks of earlier looks at a document, and determines which of them are only scrolled out of view.

Such a mark keeps its number, so an action may name it; `act/out_of_view.py` brings it into view first. Knows scans and
marks, not the page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls.scan import FoundMark, OutOfView
from vision_agent.observation import BOXED_FIELD, Mark, Wording

_MOST_REMEMBERED = 300
"""Most marks that are kept: those seen last. Each is written to the record of every look."""
_MOST_RANGES = 12
"""Runs of numbers that the listing names for one place."""


@dataclass(frozen=True)
class EarlierMarks:
    """The marks that are out of view now, as they were last seen."""

    marks: tuple[Mark, ...] = ()
    found: Mapping[str, FoundMark] = field(default_factory=dict)
    """By key: what the scan found of each."""
    places: tuple[tuple[OutOfView, tuple[int, ...]], ...] = ()
    """Where they are, with their numbers in order."""

    def note(self, shown: Collection[Mark]) -> tuple[str, ...]:
        """A short note for the listing, such as `out of view: 1-24 above, 56-300 below in [3]`; empty without any."""
        labels = {mark.key: mark.label_text for mark in shown}
        parts = []
        for where, numbers in self.places:
            label = labels.get(where.scroller or "")
            parts.append(f"{_ranges(numbers)} {where.side}{f' in [{label}]' if label else ''}")
        return (f"out of view: {', '.join(parts)}",) if parts else ()


@dataclass
class SeenEarlier:
    """The marks of one document, each as it was seen last; the latest come last."""

    _by_key: dict[str, tuple[Mark, FoundMark, Mark | None]] = field(default_factory=dict)
    """Each as it is kept, with what the scan found, and as it was seen if it is kept without an icon."""

    @property
    def keys(self) -> list[str]:
        """The keys of all remembered marks."""
        return list(self._by_key)

    def restart(self) -> None:
        """Forgets everything, for a new document."""
        self._by_key.clear()

    def remember(self, marks: Iterable[Mark], scan: Scan) -> None:
        """Takes in the marks of a look. What is in a surface or drawn for a field is known only in view."""
        found: dict[str, FoundMark] = {each.key: each for each in scan.marks}
        known = [(mark, self._by_key.pop(mark.key, None)) for mark in marks]
        kept = [(mark, last) for mark, last in known if _can_be_out_of_view(mark)]
        for mark, last in kept[-_MOST_REMEMBERED:]:
            if last is not None and last[2] is mark and last[1] is found[mark.key]:
                self._by_key[mark.key] = last
            else:
                self._by_key[mark.key] = _as_remembered(mark), found[mark.key], mark
        while len(self._by_key) > _MOST_REMEMBERED:
            del self._by_key[next(iter(self._by_key))]

    def keep_icons(self, marks: Iterable[Mark]) -> None:
        """Remembers what the icons of marks look like, which is known only after `remember`."""
        for mark in marks:
            kept, found, _ = self._by_key.get(mark.key, (None, None, None))
            if mark.icon is not None and kept is not None and found is not None:
                self._by_key[mark.key] = kept.replacing(icon=mark.icon), found, None

    def out_of_view(self, scan: Scan, numbers: Mapping[str, int], is_secret: Callable[[str], bool]) -> EarlierMarks:
        """The remembered marks that are scrolled out of view. `numbers`: by key, those still valid."""
        marks: list[Mark] = []
        found: dict[str, FoundMark] = {}
        places: dict[tuple[str, str], tuple[OutOfView, list[int]]] = {}
        for where in scan.out_of_view:
            for key in where.keys:
                mark, was, _ = self._by_key.get(key, (None, None, None))
                if mark is None or was is None or numbers.get(key) != mark.number or not _is_in_same_frame(was, scan):
                    continue
                said = f"{mark.context} {mark.wording.text if mark.wording else ''}"
                hidden = {"context": "", "title": "", "wording": mark.wording and Wording()}
                marks.append(mark.model_copy(update=hidden) if is_secret(said) else mark)
                found[key] = was
                places.setdefault((where.side, where.scroller or ""), (where, []))[1].append(mark.number)
        marks.sort(key=lambda mark: mark.number)
        return EarlierMarks(tuple(marks), found, tuple((where, tuple(sorted(of))) for where, of in places.values()))


def _can_be_out_of_view(mark: Mark) -> bool:
    return mark.source == "dom" and mark.kind != "surface" and not mark.is_drawn_editor


def _as_remembered(mark: Mark) -> Mark:
    # The content of a field may be a secret by the time it is shown again.
    state = mark.state.replacing(value=None, caret_line=None, hovered=False)
    evidence = (BOXED_FIELD,) if mark.is_boxed_field else ()
    return mark.replacing(state=state, change="", label=None, evidence=evidence)


def _is_in_same_frame(was: FoundMark, scan: Scan) -> bool:
    """Whether the frame around a mark is still where it was, as far as its parent reports."""
    owner = scan.owner(was.key)
    now = owner.element.context if owner is not None and owner.element is not None else None
    return owner is not None and now == was.frame_context


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order as `1-3 7 9-12`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number, number])
    said = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return " ".join([*said[:_MOST_RANGES], *([f"and {len(said) - _MOST_RANGES} more"] * (len(said) > _MOST_RANGES))])
