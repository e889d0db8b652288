"""Notices a misspelt name of a model, by the names in `genai-prices`; a name that is not there may still be right."""

from __future__ import annotations

import difflib
import re

_NEAR = 0.8


def near_name(provider: str, model: str) -> str:
    """The known name that is probably meant; empty if none is near, or if only its numbers are new: a later version."""
    from genai_prices.data import providers  # takes 0.4 s, so only where a run cannot begin anyway

    known = next((each for each in providers if each.id == provider), None)
    if known is None or known.find_model(model) is not None:
        return ""
    names = [each.id for each in known.models]
    if _words(model) in map(_words, names):
        return ""
    near = difflib.get_close_matches(model.lower(), names, n=1, cutoff=_NEAR)
    return near[0] if near else ""


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", name.lower())
