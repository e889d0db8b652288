"""Finds whether a run got stuck on a page that its server answered with an error, so that its ending says so."""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.describe.action_sentences import failed_answer_in
from vision_agent.types import Ending, Step

_LEAVES = ("navigated", "error_page", "new_tab")
"""Effects after which another page may be shown."""
_STUCK = ("not_done", "limit")


def with_failed_page(ending: Ending, steps: Sequence[Step]) -> Ending:
    """The ending of a run that did not go on; it says if the last page came with an error."""
    failed = _failed_page(steps) if ending.status in _STUCK else ""
    if not failed or failed in ending.sentence:
        return ending
    sentence = ending.sentence.rstrip()
    stop = "" if sentence.endswith((".", "!", "?")) else "."
    return ending.model_copy(update={"sentence": f"{sentence}{stop} {failed[:1].upper()}{failed[1:]}."})


def _failed_page(steps: Sequence[Step]) -> str:
    for step in reversed(steps):
        for outcome in reversed(step.outcomes):
            if (failed := failed_answer_in(outcome.changes)) or outcome.effect in _LEAVES:
                return failed
        if failed := failed_answer_in(step.observation.warnings):
            return failed
    return ""
