"""Where the text comes from that an action gives to a page: the task, a secret, an earlier page, or the model itself.

It is found by comparing letters, so a text that the model put in other words counts as its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import unquote_plus, urlsplit

from vision_agent.actions import Action, Goto, OpenTab, Press, Set, Type, chord_keys
from vision_agent.observation import Observation
from vision_agent.text.urls import host_of, resolve_url
from vision_agent.text.urls import origin_of as origin_of_url
from vision_agent.types import Decision, Outcome, Risky, Step, Task, TextOrigin

_SHORTEST = 6
"""Letters that a page must share with a text: shorter words occur everywhere."""
_LEAST_SHARE = 0.5
_LONG = 24
"""Letters in a row that come from a page even if they are a small share of the text."""
_LONGEST = 4000
"""Letters of a text that are compared."""


_HELD = frozenset({"control", "controlleft", "controlright", "meta", "metaleft", "metaright", "controlormeta"})
_SHIFT = frozenset({"shift", "shiftleft", "shiftright"})
_PASTE = ((_HELD, frozenset({"v", "keyv"})), (_SHIFT, frozenset({"insert"})))
_COPY = ((_HELD, frozenset({"c", "x", "keyc", "keyx", "insert"})), (_SHIFT, frozenset({"delete"})))
"""Keys that paste, copy and cut: one that is held, and one that is pressed."""


def origin_of(action: Action, task: Task, steps: Sequence[Step], observation: Observation) -> TextOrigin | None:
    """Where the text of an action comes from; None if it gives none to a page.

    `observation` is the one that the action was decided on, and `steps` are those before it.
    """
    text = _given(action, observation)
    if not text:
        return None
    if "<secret:" in text:
        return TextOrigin(source="secret")
    said = _plain(text)[:_LONGEST]
    messages = (message.text for message in task.messages)
    asked = _plain(" ".join((task.goal, task.instructions, *task.user_data.values(), *messages)))
    if said in asked:
        return TextOrigin(source="task")
    here = host_of(observation.url)
    best = TextOrigin(source="model", share=1.0)
    most = longest_common(said, asked)
    if _counts(most, said):
        best = TextOrigin(source="task", share=_share(most, said))
    # What is on this site too needs no other explanation.
    pages = sorted(_texts(steps, observation), key=lambda page: page[0] != here)
    for host, seen in dict.fromkeys(pages):
        common = longest_common(said, seen)
        if common > most and _counts(common, said):
            most, best = common, TextOrigin(source="page", host=host, share=_share(common, said))
    return best


def copy_risks(decision: Decision, task: Task, steps: Sequence[Step], observation: Observation) -> Iterator[Risky]:
    """The actions that would give text from one site to another, each with the reason for a person."""
    yield from _pastes(decision, steps, observation)
    for index, action in enumerate(decision.actions):
        origin = origin_of(action, task, steps, observation)
        to = _goes_to(action, observation)
        if origin is not None and origin.source == "page" and origin.host != to:
            yield Risky(action=index, risk="copy", why=f"its text was seen on {origin.host} and goes to {to}")


def _pastes(decision: Decision, steps: Sequence[Step], observation: Observation) -> Iterator[Risky]:
    """The actions that paste on a site after another one was seen, where a key or the page itself may have copied."""
    here = origin_of_url(observation.url)
    before = dict.fromkeys(origin_of_url(step.observation.url) for step in steps)
    foreign = next((each for each in reversed(before) if each and each != here), "")
    for index, action in enumerate(decision.actions):
        if foreign and isinstance(action, Press) and _has_clipboard_key(_PASTE, action):
            yield Risky(action=index, risk="copy", why=f"it may paste on {here} what was copied on {foreign}")


def copies(action: Action) -> bool:
    """Whether the keys of an action copy or cut what is selected."""
    return isinstance(action, Press) and _has_clipboard_key(_COPY, action)


def _has_clipboard_key(chords: Sequence[tuple[frozenset[str], frozenset[str]]], action: Press) -> bool:
    keys = {key.casefold() for key in chord_keys(action.keys)}
    return any(keys & one and keys & other for one, other in chords)


def with_origin(
    outcome: Outcome, action: Action, task: Task, steps: Sequence[Step], observation: Observation
) -> Outcome:
    """The outcome with the origin of the text that was given to the page, if any was."""
    if outcome.status == "refused":
        return outcome
    origin = origin_of(action, task, steps, observation)
    return outcome if origin is None else outcome.model_copy(update={"origin": origin})


def stems_from(text: str, source: str) -> bool:
    """Whether the text, or enough of it to be no chance, stands in the source."""
    said, known = _plain(text)[:_LONGEST], _plain(source)
    return bool(said) and (said in known or _counts(longest_common(said, known), said))


def longest_common(text: str, other: str) -> int:
    """The length of the longest run of letters that both texts contain."""
    best = 0
    for start in range(len(text)):
        while start + best < len(text) and text[start : start + best + 1] in other:
            best += 1
    return best


def _given(action: Action, seen: Observation) -> str:
    """The text that an action gives to a page; of an address only what follows the host."""
    match action:
        case Type():
            return action.text
        case Set():
            return action.value
        case Goto() | OpenTab():
            parts = urlsplit(resolve_url(seen.url, action.url))
            return unquote_plus(f"{parts.path.strip('/')} {parts.query} {parts.fragment}").strip()
    return ""


def _goes_to(action: Action, seen: Observation) -> str:
    is_address = isinstance(action, Goto | OpenTab)
    return host_of(resolve_url(seen.url, action.url)) if is_address else host_of(seen.url)  # type: ignore[union-attr]


def _texts(steps: Sequence[Step], now: Observation) -> Iterator[tuple[str, str]]:
    """Host and text of each page seen, and of what was read there."""
    for step in steps:
        host = host_of(step.observation.url)
        yield host, _plain(step.observation.listing)
        for outcome in step.outcomes:
            if outcome.read:
                yield host, _plain(outcome.read)
    yield host_of(now.url), _plain(now.listing)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _counts(common: int, said: str) -> bool:
    return common >= _LONG or (common >= _SHORTEST and common >= _LEAST_SHARE * len(said))


def _share(common: int, said: str) -> float:
    return round(common / len(said), 2)
