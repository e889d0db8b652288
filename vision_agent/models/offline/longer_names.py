"""Finds the only mark whose name begins or ends with the words of a line, such as `Play Video` for `Play`."""

from __future__ import annotations

from typing import NamedTuple

from vision_agent.models.offline.line_targets import NamedTarget
from vision_agent.models.offline.mark_kinds import is_of_kind
from vision_agent.models.offline.match_marks import names_of, signed_name
from vision_agent.observation import Mark, Observation
from vision_agent.text.negations import negates
from vision_agent.text.signed_words import is_sign, signed_words


def only_longer_name(where: NamedTarget, observation: Observation) -> Mark | None:
    """The only mark whose name begins or ends with the words of a target that nothing is called, signs included.

    None if there are several, or if the page goes on outside the view: what has the name itself may be there.
    """
    if (
        all(map(is_sign, signed_words(where.name).words))
        or where.is_exact
        or where.beside
        or where.nth
        or observation.scroll.above >= 1
        or observation.scroll.below >= 1
    ):
        return None

    found = [mark for mark in observation.marks if is_of_kind(mark, where.kind) and _more_words(where, mark)]
    return found[0] if len(found) == 1 else None


def may_mean_opposite(where: NamedTarget, longer: Mark) -> bool:
    """Whether the further words of a longer name deny the words of the target, or turn off what they name."""
    return any(negates(" ".join(more.before), " ".join(more.after)) for more in _more_words(where, longer))


class _MoreWords(NamedTuple):
    """The words of a name before and after those that a line has; one of them is empty."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _more_words(where: NamedTarget, mark: Mark) -> list[_MoreWords]:
    """What a mark's name has before or after the words of a target; no sign alone: `Zoom` is no shorter `Zoom -`."""
    said = signed_name(where.name, mark)
    words, more = said.words, list[_MoreWords]()
    for label in (signed_name(name, mark) for name in names_of(mark)):
        longer = _without_plus(label.words)
        if said.pictures <= label.pictures and len(longer) >= len(words):
            more += [_MoreWords(after=longer[len(words) :])] if longer[: len(words)] == words else []
            more += [_MoreWords(before=longer[: len(longer) - len(words)])] if longer[-len(words) :] == words else []
    return [each for each in more if not any(map(is_sign, (*each.before, *each.after)))]


def _without_plus(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name without the plus that decorates what adds something: `+ New`, but not `+ 5` or `Zoom +`."""
    is_decorated = len(words) > 1 and words[0] == "+" and len(words[1]) > 2 and words[1].isalpha()
    return words[1:] if is_decorated else words
