"""Limits the marks in one picture, and decides which to keep.

The listing says what was left out, so the model can zoom in: a part of the page has fewer marks. Knows marks, not the
page or its pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vision_agent.observation import Kind, Mark

_RANK: dict[Kind, int] = {"field": 1, "button": 1, "toggle": 1, "link": 2, "surface": 2, "scroller": 3, "guess": 4}
_PLURAL: dict[Kind, str] = {
    "field": "fields",
    "button": "buttons",
    "link": "links",
    "toggle": "toggles",
    "scroller": "scrollers",
    "surface": "surfaces",
    "guess": "guesses",
}


def limit_marks(marks: Sequence[Mark], most: int) -> tuple[tuple[Mark, ...], str]:
    """At most `most` marks, in order, and a note on the rest: empty, or `120 left out: 100 links, 20 buttons`.

    Focused marks and those new since the last look are kept first, then fields, buttons and toggles, then links and
    surfaces, then scrollers and guesses; among equals, the first in reading order.
    """
    if len(marks) <= most:
        return tuple(marks), ""
    by_rank = sorted(range(len(marks)), key=lambda place: (_rank(marks[place]), place))
    kept = sorted(by_rank[:most])
    cut = Counter(marks[place].kind for place in by_rank[most:])
    told = ", ".join(f"{count} {_PLURAL[kind]}" for kind, count in cut.most_common())
    return tuple(marks[place] for place in kept), f"{len(marks) - most} left out: {told}"


def _rank(mark: Mark) -> int:
    if mark.kind == "guess":
        return _RANK["guess"]
    return 0 if mark.state.focused or mark.change == "new" else _RANK[mark.kind]
