"""The links of a page lead somewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from html.parser import HTMLParser
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs_snippets.blocks import PAGES, WrongPage, name_of, prose_in

_LOCAL_HOSTS = ("127.0.0.1", "localhost")


_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")


_NAMED_LINK = re.compile(r"\s{0,3}\[[^\]]+\]:\s*(\S+)")


_BARE_LINK = re.compile(r"<(https?://[^>\s]+)>")


_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*")


_HEADING_ID = re.compile(r"\s*\{[^}]*#([\w.-]+)[^}]*\}$")


_ALIAS = re.compile(r"^\[\]\(\)\{ #([\w.-]+) \}$", re.MULTILINE)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "srcset" and value:
                self.links += [each.split()[0] for each in value.split(",") if each.strip()]
            if name in ("id", "name") and value:
                self.anchors.append(value)


def check_links(page: Path, generated: Mapping[str, str] | None = None) -> None:
    """Checks that the links of a page lead to something that exists. Nothing is fetched.

    `generated` has the pages that are written when the site is built, by their path below `docs/pages`.

    Raises:
        WrongPage: a file or an anchor does not exist, or an address is not written as it should be.
    """
    check_links_of(page, page.read_text("utf-8"), generated or {})


def check_links_of(page: Path, text: str, generated: Mapping[str, str]) -> None:
    """The same for a page with this text.

    Raises:
        WrongPage: as `check_links`.
    """
    for number, line in prose_in(page, text):
        prose = _CODE.sub("", line)
        tags = _Tags()
        tags.feed(prose)
        named = _NAMED_LINK.match(prose)
        links = [*_LINK.findall(prose), *_BARE_LINK.findall(prose), *tags.links, *([named[1]] if named else [])]
        for link in links:
            fault = _fault_of(link, page, text, generated)
            if fault:
                raise WrongPage(f"{name_of(page)}:{number}: the link {link} {fault}")


def _fault_of(link: str, page: Path, text: str, generated: Mapping[str, str]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return _fault_of_address(link)
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    inside = path.relative_to(PAGES.resolve()).as_posix() if path.is_relative_to(PAGES.resolve()) else ""
    if path == page:
        pass
    elif inside in generated:
        text = generated[inside]
    elif not path.exists():
        return "leads to no file"
    elif page.is_relative_to(PAGES) and not inside:
        return "leaves the site: give its address in the repository"
    elif path.suffix != ".md":
        return ""
    else:
        text = path.read_text("utf-8")
    if parts.fragment and parts.fragment not in anchors_of(text) and not _is_documented(parts.fragment, text):
        return "leads to no heading"
    return ""


def _fault_of_address(link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return ""
    if parts.hostname in _LOCAL_HOSTS:
        return ""
    if parts.scheme != "https":
        return "is not https"
    return "" if parts.hostname and "." in parts.hostname and " " not in link else "is no address"


def slug(heading: str) -> str:
    """The anchor of a heading, as Python-Markdown makes it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors_of(text: str) -> set[str]:
    """What links into a page may name: its headings and its anchors."""
    anchors: dict[str, int] = {}
    is_code = False
    tags = _Tags()
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
            continue
        heading = None if is_code else _HEADING.fullmatch(line)
        tags.feed("" if is_code else _CODE.sub("", line))
        if heading:
            named = _HEADING_ID.search(heading[1])
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").replace("*", "")
            anchor = named[1] if named else slug(plain)
            seen = anchors.get(anchor, -1) + 1
            anchors[anchor] = seen
            if seen:
                anchors[f"{anchor}_{seen}"] = 0
    return {*anchors, *tags.anchors, *_ALIAS.findall(text)}


def _is_documented(name: str, text: str) -> bool:
    """Whether a page shows this Python name: it shows the module, and the module has the name."""
    for module in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        if name == module or name.startswith(f"{module}."):
            with suppress(AttributeError):
                attrgetter(name.removeprefix(module).lstrip(".") or "__name__")(import_module(module))
                return True
    return False
