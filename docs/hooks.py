"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from foreign_loads import foreign_loads
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from reference import pages

_EXIT_CODE = re.compile(r"^([ ]*`{3,}[ ]*console) exit=\d+[ ]*$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Replaces each folder in the navigation by its pages."""
    folder = Path(config["docs_dir"])
    config["nav"] = [
        {title: _pages_of(folder, place) if isinstance(place, str) and place.endswith("/") else place}
        for each in config["nav"]
        for title, place in each.items()
    ]
    return config


def _pages_of(docs: Path, place: str) -> list[str]:
    """The pages of a folder: the index, then those it links, in its order, then the rest."""
    there = {path.relative_to(docs).as_posix() for path in (docs / place).glob("*.md")}
    index = f"{place}index.md"
    text = (docs / index).read_text("utf-8") if index in there else ""
    linked = [f"{place}{link}" for link in re.findall(r"\]\(([\w-]+\.md)", text)]
    return [each for each in dict.fromkeys([index, *linked, *sorted(there)]) if each in there]


def on_files(files: Any, *, config: Any) -> Any:
    """Adds the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **about: Any) -> str:
    """Leaves out the exit codes that only the tests read."""
    del about
    return _EXIT_CODE.sub(r"\1", markdown)


def on_post_build(*, config: Any) -> None:
    """Fails the build if a page would load anything from another server."""
    found = list(foreign_loads(Path(config["site_dir"])))
    if found:
        raise PluginError("The site loads from other servers:\n" + "\n".join(found))
