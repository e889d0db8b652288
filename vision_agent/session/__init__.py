"""Wires the parts together: a browser or a page, a model by name, a folder for the record.

`Agent` runs a task; `observe` looks at a page once, and `attach` as often as wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vision_agent import old_names
from vision_agent.session.looking import AttachedBrowser, attach, look_at, observe
from vision_agent.session.wired_agent import Agent

__all__ = ["Agent", "AttachedBrowser", "attach", "look_at", "observe"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return old_names.renamed(__name__, name)
