"""What a package index shows of the project: its addresses, and README.md with links that work there.

Hatchling calls this at each build. `VISION_AGENT_PROJECT_URL` is the address of the repository, as in
`https://git.example/org/vision-agent`. Without it there are no addresses, and README.md stays as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "VISION_AGENT_PROJECT_URL"

_RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z][a-z0-9+.-]*:|#)([^)\s]+)\)")


class IndexPage(MetadataHookInterface):
    """Sets `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds both to the metadata; ends the build if the variable is no address of a repository."""
        readme = Path(self.root, "README.md").read_text("utf-8")
        given = os.environ.get(VARIABLE, "").strip()
        tag = f"v{metadata['version']}"
        repository = _repository(given) if given else ""
        if repository:
            readme = with_absolute_links(readme, repository, tag)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        metadata["urls"] = _urls(repository, tag) if repository else {}


def with_absolute_links(text: str, repository: str, tag: str) -> str:
    """The Markdown with its relative links leading into the repository at a tag.

    The addresses have the form of GitHub, which GitLab takes too: pictures below `/raw`, pages below `/blob`.
    """

    def absolute(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/{tag}/{path.removeprefix('./')})"

    return _RELATIVE_LINK.sub(absolute, text)


def _repository(given: str) -> str:
    try:
        parts = urlsplit(given)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"[\s<>\"'()]", given)
    except ValueError:
        is_address = False
    if not is_address or parts.query or parts.fragment or "@" in parts.netloc:
        shown = re.sub(r"//[^/]*@", "//…@", given)
        raise SystemExit(
            f"{VARIABLE} is {shown!r}, which is not the http or https address of a repository, "
            "such as https://git.example/org/vision-agent. Correct it, or unset it to build without addresses."
        )
    return given.rstrip("/").removesuffix(".git")


def _urls(repository: str, tag: str) -> dict[str, str]:
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/{tag}/docs/pages/index.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Source": repository,
    }
