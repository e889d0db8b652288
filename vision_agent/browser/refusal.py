"""A refusal on its way from where it was found to the `Outcome` that tells of it. Never leaves the browser room."""

from __future__ import annotations

from vision_agent.types import Refusal


class Refused(Exception):
    """The action was not carried out, for a reason that is a finding about the page."""

    def __init__(self, refusal: Refusal, sentence: str) -> None:
        super().__init__(sentence)
        self.refusal = refusal
        self.sentence = sentence
