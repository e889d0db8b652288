"""Parses addresses by the WHATWG rules, as Chromium does, so that a host here is the host that is reached.

Owns how long an address may be: a page can give itself one of two million characters.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ada_url import URL, join_url

LONGEST_ADDRESS = 8000
"""Characters of an address that a record keeps; servers seldom take more than 8 KB."""
LONGEST_SHOWN = 300
"""Characters of an address that a model or a person sees."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
"""What follows the colon in `localhost:8000` is a port."""
_IS_PATH = re.compile(r"[.~]{0,2}/")
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:]+\]|localhost|[^\s/?#:@]+\.[^\s/?#:@.]+)(?::\d+)?(?:[/?#]|$)")
_IS_LOOPBACK = re.compile(r"(?:.+\.)?localhost|127\.[\d.]+|\[::1\]", re.IGNORECASE)

_PAGE_FILES = (".html", ".htm", ".xhtml", ".svg", ".pdf")
"""How a file ends that a browser shows; none is a top-level domain."""

_CUT = re.compile(r"(?:…|%E2%80%A6)\[(\d+)(?: |%20)characters")


def host_of(url: str) -> str:
    """The host of an address, without its port; empty if there is none."""
    try:
        return URL(url).hostname
    except ValueError:
        return ""


def origin_of(url: str) -> str:
    """The scheme, host and port of a web address; empty if it has none, as `about:blank` and files."""
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    return parsed.origin if parsed.protocol in ("http:", "https:") else ""


def start_address(text: str) -> str:
    """The address that a person means: `example.org` is on https, `localhost:8000` on http, a file's path is `file:`.

    Anything else is returned as it is.
    """
    text = text.strip()
    if not text or _SCHEME.match(text):
        return text
    path = Path(text).expanduser()
    if path.is_file() or (_IS_PATH.match(text) and path.is_dir()):
        return path.resolve().as_uri()
    host = _HOST.match(text)
    if host is None:
        return text
    return f"{'http' if _IS_LOOPBACK.fullmatch(host['name']) else 'https'}://{text}"


def names_page_file(text: str) -> bool:
    """Whether a person who writes this as a start page means a file, such as `page.html` or `./page`."""
    text = text.strip()
    if _SCHEME.match(text):
        return False
    if _IS_PATH.match(text):
        return True
    host = _HOST.match(text)
    name = host["name"] if host is not None else re.split(r"[?#]", text)[0]
    return name.lower().endswith(_PAGE_FILES)


def is_absolute(url: str) -> bool:
    """Whether it is a whole address, as a browser reads it."""
    try:
        URL(url)
    except ValueError:
        return False
    return True


def resolve_url(base: str, url: str) -> str:
    """The absolute address of a relative one on a page; the input itself if it cannot be resolved."""
    try:
        return join_url(base, url)
    except ValueError:
        return url


def bounded_address(url: str) -> str:
    """The address; one of more than 8,000 characters is cut, and ends with its length and hash instead of the rest.

    So two long addresses stay different, and a cut one is never taken for the address itself: see `is_cut`.
    """
    if len(url) <= LONGEST_ADDRESS:
        return url
    digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_without_credentials(url)[:LONGEST_ADDRESS]}…[{len(url)} characters, sha256 {digest}]"


def is_cut(url: str) -> bool:
    """Whether an address is what `bounded_address` left of a longer one, so that it cannot be opened."""
    return _CUT.search(url) is not None


def shown_address(url: str) -> str:
    """The address for a model or a person: of a long one its beginning, and how long it is."""
    if len(url) <= LONGEST_SHOWN:
        return url
    told = _CUT.search(url)
    return f"{url[:LONGEST_SHOWN]}… ({told.group(1) if told else len(url)} characters)"


def has_password(url: str) -> bool:
    """Whether an address has a password in it, which every record of the address would show."""
    try:
        return bool(URL(url).password)
    except ValueError:
        return False


def _without_credentials(url: str) -> str:
    """The address without a user name and password, before which the host would be cut off."""
    try:
        parsed = URL(url)
        if parsed.username or parsed.password:
            parsed.username = parsed.password = ""
    except ValueError:
        return url
    return parsed.href
