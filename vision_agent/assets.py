"""Finds `overlay_js`, `prompts`, the fixtures and the palette, beside the package in a checkout and in a wheel."""

from __future__ import annotations

import hashlib
from pathlib import Path

_PACKAGE = Path(__file__).parent


def overlay_sources() -> dict[str, str]:
    """The sources of the overlay's modules by file name, sorted."""
    folder = _folder("overlay_js", "overlay_js/src")
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.js"))}


def palette() -> str:
    """The colours and fonts of every page that the product writes or serves, as CSS."""
    return (_PACKAGE / "web" / "palette.css").read_text("utf-8")


def prompt(name: str) -> str:
    """The text of one prompt, such as `system` for `prompts/system.md`."""
    return (_folder("prompts", "prompts") / f"{name}.md").read_text("utf-8")


def prompt_hashes() -> dict[str, str]:
    """The sha256 of every prompt by name, for the record of a run."""
    folder = _folder("prompts", "prompts")
    return {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*.md"))
        if path.stem != "README"
    }


def fixtures(name: str) -> Path:
    """The folder `fixtures/<name>`, such as `sites`: what the demonstration and the built-in evaluations run on."""
    return _folder(f"fixtures/{name}", f"fixtures/{name}")


def is_checkout() -> bool:
    """Whether the package runs from its source, where its tests are too, and not as it was installed from a wheel."""
    return not (_PACKAGE / "_assets").is_dir()


def _folder(in_wheel: str, in_checkout: str) -> Path:
    for folder in (_PACKAGE / "_assets" / in_wheel, _PACKAGE.parent / in_checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{in_checkout} was not found beside or inside the package at {_PACKAGE}; reinstall it")
