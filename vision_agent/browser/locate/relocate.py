"""Relocates a mark whose element is gone: the page may have redrawn it.

Rung 1 is the live element. The rungs below it:
(2) exactly one new element has the same role, name and words beside it, and exactly one had them before;
(3) all elements that were alike, words included, were redrawn in the same number, and the one in question has the same
place and pixels; never for an action with a risk.
Anything else is refused: an element that was there before and still is cannot be the missing one.
"""

from __future__ import annotations

from dataclasses import replace

from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.wording import element_words, mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import frames, overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls.answer_parts import NOTHING_BESIDE, ContextDifference
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line
from vision_agent.vision.compare import same_at
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

_SAME_PLACE = 3.0
"""CSS pixels; a redrawn element may be rounded differently."""

_MOST_ASKED = 12
"""How many new elements of the same name are checked, one by one."""


async def rescan(seen: LiveObservation, deadline_s: float) -> Scan:
    """A scan of the page as it is now, without a picture.

    Raises:
        FrameSilent: the page did not answer.
    """
    return await frames.scan(seen.page, deadline_s, [found.key for found in seen.scan.marks])


async def relocate_mark(
    mark: Mark, gone: Refused, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float
) -> tuple[LiveObservation, int]:
    """The observation with the mark moved to its redrawn element, and the rung on which it was found.

    Raises:
        Refused: no element fits, or several do.
    """
    fresh = await rescan(seen, deadline_s)
    if fresh.owner(mark.key) is None:
        raise gone  # its frame shows another document
    known, before = seen.scan.keys(), seen.found(mark)
    if before is None:
        raise gone  # it came after the look and is gone again, so nothing tells what stood beside it
    came = [each for each in fresh.marks if each.key not in known and each.frame == before.frame]
    same = [each for each in came if _essence(each) == _essence(before)]
    in_its_place = [each for each in same if _is_beside_the_same(each, before, seen)]
    if not in_its_place:
        in_its_place = [
            each
            for each in same[:_MOST_ASKED]
            if await _is_in_expected_place(each, mark, before, fresh, seen, deadline_s)
        ]
    were = [each for each in seen.scan.marks if _is_alike(each, before)]
    if not in_its_place and len(were) == 1:
        fresh, in_its_place = await _reveal_stand_in(mark, before, fresh, seen, deadline_s)
    says_nothing = not any(before.beside)
    if len(in_its_place) == 1 and len(were) == 1:
        if not (says_nothing and seen.risks) or await _looks_the_same(mark, seen, image_limits, deadline_s):
            return _replace_mark(seen, fresh, mark, in_its_place[0]), 2
        raise Refused("ambiguous", f"{mark_words(mark)} was redrawn, and no words beside it identify it.")
    here = fresh.living
    if len(in_its_place) == len(were) and not seen.risks and not any(each.key in here for each in were):
        stands = in_its_place[were.index(before)]
        if _is_where_it_was(stands, before) and await _looks_the_same(mark, seen, image_limits, deadline_s):
            return _replace_mark(seen, fresh, mark, stands), 3
    if len(in_its_place) > 1:
        raise Refused("ambiguous", _describe_candidates(mark, in_its_place))
    if len(same) == len(were) == 1 and _is_where_it_was(same[0], before):
        raise _changed_context(before, same[0], mark_words(mark))
    if same:
        raise Refused("gone", f"{mark_words(mark)} is gone; {_describe_others(same)}. Look again.")
    others = (each for each in seen.observation.marks if each.key in here and each.key != mark.key)
    alike = next((each for each in others if each.name == mark.name != ""), None)
    also = f" {mark_words(alike)} has the same name, but is another element." if alike else ""
    raise Refused(gone.refusal, gone.sentence + also)


async def describe_whereabouts(mark: Mark, changed: ContextChanged, seen: LiveObservation, deadline_s: float) -> str:
    """A sentence that says where the words beside a mark are now; empty unless exactly one element like it exists."""
    fresh = await rescan(seen, deadline_s)
    before = seen.found(mark)
    like = [each for each in fresh.marks if before is not None and _is_alike(each, before)]
    if len(like) != 1 or not changed.then or like[0].key == mark.key:
        return ""
    [found] = like
    known = next((each for each in seen.observation.marks if each.key == found.key), None)
    now = mark_words(known) if known else f"a new {element_words(found.role, found.tag, found.name)}"
    point = found.points[0]
    return f' "{safe_line(changed.then, 60)}" now stands {changed.where} {now} at ({point.x:.0f}, {point.y:.0f}).'


def adopt(seen: LiveObservation, fresh: Scan, found: FoundMark, like: Mark) -> tuple[LiveObservation, Mark]:
    """The observation with an element that has appeared since, as a mark without a number; and that mark."""
    what = {"tag": found.tag, "role": found.role, "kind": found.kind, "name": found.name, "frame": found.frame}
    new = _mark_on_element(found, like).model_copy(update={"number": 0, **what})
    kept = tuple(each for each in seen.observation.marks if each.number)
    return _extend(seen, fresh, (*kept, new)), new


def _replace_mark(seen: LiveObservation, fresh: Scan, mark: Mark, found: FoundMark) -> LiveObservation:
    again = _mark_on_element(found, mark)
    return _extend(seen, fresh, tuple(again if each.number == mark.number else each for each in seen.observation.marks))


def _mark_on_element(found: FoundMark, mark: Mark) -> Mark:
    """The mark moved to another element."""
    words, heading = found.beside
    where = {"key": found.key, "box": found.box, "point": found.points[0], "fingerprint": found.fingerprint}
    said = {"context": words, "title": found.title, "heading": heading, "wording": found.wording}
    return mark.model_copy(update={**where, **said})


def _extend(seen: LiveObservation, fresh: Scan, marks: tuple[Mark, ...]) -> LiveObservation:
    """The observation with a fresh scan; elements that were seen before keep their old row words for comparison."""
    known = seen.scan.keys()
    scan = replace(fresh, marks=[*seen.scan.marks, *(each for each in fresh.marks if each.key not in known)])
    return replace(seen, scan=scan, observation=seen.observation.model_copy(update={"marks": marks}))


def _changed_context(then: FoundMark, now: FoundMark, words: str) -> ContextChanged:
    if then.beside != now.beside:
        return ContextChanged.between(then.beside, now.beside, words)
    if then.governing != now.governing:
        return ContextChanged(ContextDifference("heading", then.governing, now.governing), words)
    return ContextChanged(ContextDifference("words", _words_around(then), _words_around(now)), words)


def _is_alike(found: FoundMark, other: FoundMark) -> bool:
    return _identity(found) == _identity(other)


def _identity(found: FoundMark) -> tuple[str, ...]:
    """What an element is, and the words around it."""
    return (found.frame, *found.beside, found.governing, *_essence(found))


def _is_beside_the_same(found: FoundMark, before: FoundMark, seen: LiveObservation) -> bool:
    """Whether the same words are around an element, and the same amounts if amounts count."""
    if (found.beside, found.governing) != (before.beside, before.governing):
        return False
    if seen.risks and _words_around(before) != _words_around(found):
        return False
    then, now = [each.context.firm if each.context else NOTHING_BESIDE for each in (before, found)]
    return not seen.counts_amounts or then == now


def _words_around(found: FoundMark) -> str:
    return found.context.around if found.context else ""


async def _reveal_stand_in(
    mark: Mark, before: FoundMark, fresh: Scan, seen: LiveObservation, deadline_s: float
) -> tuple[Scan, list[FoundMark]]:
    """Scrolls the only element that could replace a mark into view; returns the new scan and the element, if any."""
    owner = fresh.owner(mark.key)
    if owner is None or before.context is None or not any(before.beside):
        return fresh, []
    keys = await overlay_calls.element.find_stand_ins(
        owner.frame,
        deadline_s,
        tag=before.tag,
        kind=before.kind,
        essence=_essence(before)[2],
        expected=seen.expectation(mark),
    )
    if len(keys) != 1 or keys[0] in fresh.living:
        return fresh, []
    await overlay_calls.element.check(owner.frame, deadline_s, keys[0], before.kind, reveal=True)
    fresh = await rescan(seen, deadline_s)
    return fresh, [each for each in fresh.marks if each.key == keys[0]]


async def _is_in_expected_place(
    found: FoundMark, mark: Mark, before: FoundMark, fresh: Scan, seen: LiveObservation, deadline_s: float
) -> bool:
    """Whether some box around an element has the words that were beside the mark: row boxes vary with their context."""
    owner = fresh.owner(found.key)
    if owner is None or before.context is None or not any(before.beside):
        return False
    expected = seen.expectation(mark)
    now = await overlay_calls.element.check(owner.frame, deadline_s, found.key, found.kind, expected=expected)
    return now is not None and now.difference is None


def _essence(found: FoundMark) -> tuple[str, str, str]:
    """Role, name and fingerprint without the id, which many pages regenerate on every redraw."""
    return found.role, found.name, found.fingerprint.split("-")[0]


def _is_where_it_was(found: FoundMark, before: FoundMark) -> bool:
    now, then = found.points[0], before.points[0]
    return abs(now.x - then.x) <= _SAME_PLACE and abs(now.y - then.y) <= _SAME_PLACE


async def _looks_the_same(mark: Mark, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float) -> bool:
    now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
    return same_at(seen.clean, now, mark.point)


def _describe_others(candidates: list[FoundMark]) -> str:
    where = _describe_places(candidates)
    return f"{len(candidates)} like it are elsewhere ({where})" if len(candidates) > 1 else f"one like it is {where}"


def _describe_candidates(mark: Mark, candidates: list[FoundMark]) -> str:
    places = _describe_places(candidates)
    return f"{mark_words(mark)} is gone, and {len(candidates)} like it have appeared ({places}). Look again."


def _describe_places(candidates: list[FoundMark]) -> str:
    """The words beside each of the first few candidates, or its place where the words are the same."""
    words_beside = [each.beside.says for each in candidates]
    places = []
    for each, words in zip(candidates[:4], words_beside, strict=False):
        point = each.points[0]
        at = f"at ({point.x:.0f}, {point.y:.0f})"
        named = f'beside "{safe_line(words, 40)}"'
        places.append(at if not words else named if words_beside.count(words) == 1 else f"{named} {at}")
    return ", ".join(places)
