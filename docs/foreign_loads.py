"""Finds what the pages of a built site would load from other servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

_LOADING = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src",
    "object": "data", "link": "href",
}  # fmt: skip
_LINKS_THAT_LOAD_NOTHING = ("canonical", "next", "prev", "alternate", "license", "author")
_IN_STYLE = re.compile(r"""(?:url\(|@import\s+)\s*["']?((?:https?:)?//[^"')\s]+)""")


def foreign_loads(site: Path) -> Iterator[str]:
    """What the files of a site load from other servers, each as `file: address`."""
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.suffix == ".html":
            page = _Page()
            page.feed(path.read_text("utf-8"))
            yield from (f"{name}: {address}" for address in page.loads)
        elif path.suffix == ".css":
            yield from (f"{name}: {address}" for address in _IN_STYLE.findall(path.read_text("utf-8")))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        loads_nothing = tag == "link" and (given.get("rel") or "").split()[:1] in [
            [each] for each in _LINKS_THAT_LOAD_NOTHING
        ]
        addresses = [] if loads_nothing else [given.get(_LOADING.get(tag, "")) or ""]
        addresses += [each.split()[0] for each in (given.get("srcset") or "").split(",") if each.strip()]
        addresses += _IN_STYLE.findall(given.get("style") or "")
        self.loads += [each for each in addresses if re.match(r"(?:https?:)?//", each)]
