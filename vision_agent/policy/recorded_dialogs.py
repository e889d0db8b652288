"""Which questions of the browser's own dialogs a replay accepts: those that the record accepted, and no others.

A question that differs in a count, an amount or a name would agree to something else. Knows steps and texts; no page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from rapidfuzz import fuzz

from vision_agent.policy.asked_question import without_times
from vision_agent.text.escape import safe_line
from vision_agent.text.money import amounts_in
from vision_agent.types import Outcome, Step

NOT_AS_RECORDED = "because the record accepted "
"""How the reason begins for which a replay dismisses a dialog."""
_ACCEPTED = re.compile(r'[Aa] dialog of type (?:confirm|prompt) said "(.*?)" and was accepted', re.DOTALL)
_DISMISSED = re.compile(rf'[Aa] dialog of type \w+ said ".*?" and was dismissed, {NOT_AS_RECORDED}', re.DOTALL)
_NUMBER = re.compile(r"\d[\d.,'’\u00a0\u202f]*")
_LONGEST = 200
"""Letters of a dialog that a record keeps."""
_CUT = "…"


def accepted_questions(steps: Iterable[Step]) -> tuple[str, ...]:
    """What the confirmations and prompts asked that were accepted in these steps, as the record has it."""
    texts = chain.from_iterable(_sentences_of(each) for each in steps)
    return tuple(dict.fromkeys(text for told in texts for text in _ACCEPTED.findall(told)))


def dismissal(told: Sequence[Outcome], warnings: Sequence[str]) -> str:
    """The sentence in which a dialog was dismissed because the record accepted another; empty if there is none."""
    sentences = (*(each.sentence for each in told), *warnings)
    return next((each for each in sentences if _DISMISSED.search(each)), "")


def objection(
    accepted: Sequence[str], replaced: Callable[[str], str] = str, *, has_other_values: bool = False
) -> Callable[[str], str]:
    """A function that says, as a clause, why a question is not accepted; empty if the record accepted it.

    `replaced` puts the values of the replay into a recorded question. With `has_other_values` it may state other
    numbers and amounts, as what is given may cost another amount.
    """
    known = {_compared(replaced(each), has_other_values) for each in accepted if not each.endswith(_CUT)}

    def object_to(question: str) -> str:
        text = safe_line(question, _LONGEST)
        if text.endswith(_CUT):
            return f"{NOT_AS_RECORDED}only what it has whole, and keeps {_LONGEST} letters of a question"
        if _compared(text, has_other_values) in known:
            return ""
        nearest = max(map(replaced, accepted), key=lambda each: fuzz.ratio(each, text), default="")
        return NOT_AS_RECORDED + (f'"{nearest}"' if nearest else "no such question")

    return object_to


def _sentences_of(step: Step) -> Iterator[str]:
    yield from (each.sentence for each in step.outcomes)
    yield from step.observation.warnings


def _compared(text: str, has_other_values: bool) -> str:
    """A question without times, which differ in every run."""
    plain = without_times(text)
    if has_other_values:
        for amount in amounts_in(plain):
            plain = plain.replace(amount.words, " ")
        plain = _NUMBER.sub(" ", plain)
    return " ".join(plain.split()).casefold()
