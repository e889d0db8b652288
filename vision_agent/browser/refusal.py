"""The exception that carries a refusal to the `Outcome` that reports it. Never leaves the browser package."""

from __future__ import annotations

from vision_agent.types import Refusal


class Refused(Exception):
    """The action was not carried out, because of the state of the page; `sentence` says why and what could help."""

    def __init__(self, refusal: Refusal, sentence: str) -> None:
        super().__init__(sentence)
        self.refusal = refusal
        self.sentence = sentence


def capitalised(clause: str) -> str:
    """The clause as the beginning of a sentence."""
    return clause[:1].upper() + clause[1:]
