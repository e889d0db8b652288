"""Finds what was meant again when its element is gone: the page may have drawn the same thing anew.

The rungs below the live element. (2) Exactly one thing has come that is called the same, is the same kind of thing and
has the same words beside it, where before there was exactly one. (3) All that are alike, by their words too, were drawn
anew, as many as before, and the one in question stands where it stood and looks as it looked; never for what cannot be
taken back. Anything else is refused: what was there before and still is can never be what is gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vision_agent.browser import frames, overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.frames import Scan
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import raw_of, what_is, words_for
from vision_agent.browser.observe import Seen
from vision_agent.browser.refusal import Refused
from vision_agent.browser.row_context import ContextChanged, beside
from vision_agent.types import Mark
from vision_agent.vision.compare import same_at
from vision_agent.vision.contract import Contract
from vision_agent.vision.picture import Picture

_SAME_PLACE = 3.0
"""CSS pixels; what is drawn anew in its place may be rounded otherwise."""

_MOST_ASKED = 12
"""Of what has come and is called the same."""

Raw = dict[str, Any]
"""A mark as the overlay found it, with boxes and points in page coordinates."""


async def glance(seen: Seen, deadline_s: float) -> Scan:
    """What there is on the page now, without a picture.

    Raises:
        FrameSilent: it gave no answer.
    """
    return await frames.scan(seen.page, deadline_s, [raw["key"] for raw in seen.scan.marks])


async def find_again(mark: Mark, gone: Refused, seen: Seen, contract: Contract, deadline_s: float) -> tuple[Seen, int]:
    """What was seen, with the mark on the element that stands for it now; and by which rung.

    Raises:
        Refused: nothing does, or several might.
    """
    token = mark.key.split(".", 1)[0]
    fresh = await glance(seen, deadline_s)
    if all(scanned.token != token for scanned in fresh.frames):
        raise gone  # its frame shows another document
    known = {raw["key"] for raw in seen.scan.marks}
    before = next(raw for raw in seen.scan.marks if raw["key"] == mark.key)
    came = [raw for raw in fresh.marks if raw["key"] not in known and raw["frame"] == before["frame"]]
    same = [raw for raw in came if _essence(raw) == _essence(before)]
    in_its_place = [raw for raw in same if _is_beside_the_same(raw, before, seen)]
    if not in_its_place:
        in_its_place = [
            raw for raw in same[:_MOST_ASKED] if await _stands_as(raw, mark, before, fresh, seen, deadline_s)
        ]
    were = [raw for raw in seen.scan.marks if _is_alike(raw, before)]
    if not in_its_place and len(were) == 1:
        fresh, in_its_place = await _brought_into_view(mark, before, fresh, seen, deadline_s)
    says_nothing = not any(beside(before))
    if len(in_its_place) == 1 and len(were) == 1:
        if not (says_nothing and seen.risks) or await _looks_the_same(mark, seen, contract, deadline_s):
            return _rebound(seen, fresh, mark, in_its_place[0]), 2
        raise Refused("ambiguous", f"{words_for(mark)} was drawn anew, and nothing beside it tells whose it is.")
    here = fresh.living
    if len(in_its_place) == len(were) and not seen.risks and not any(raw["key"] in here for raw in were):
        stands = in_its_place[were.index(before)]
        if _is_where_it_was(stands, before) and await _looks_the_same(mark, seen, contract, deadline_s):
            return _rebound(seen, fresh, mark, stands), 3
    if len(in_its_place) > 1:
        raise Refused("ambiguous", _which(mark, in_its_place))
    if len(same) == len(were) == 1 and _is_where_it_was(same[0], before):
        raise ContextChanged.between(beside(before), beside(same[0]), words_for(mark))
    if same:
        raise Refused("gone", f"{words_for(mark)} is gone; {_which_others(same)}. Look again.")
    others = (each for each in seen.observation.marks if each.key in here and each.key != mark.key)
    alike = next((each for each in others if each.name == mark.name != ""), None)
    also = f" {words_for(alike)} is called the same, but is another." if alike else ""
    raise Refused(gone.refusal, gone.sentence + also)


async def whereabouts(mark: Mark, changed: ContextChanged, seen: Seen, deadline_s: float) -> str:
    """Where what was meant stands now, as a sentence, if exactly one thing like it does; else empty."""
    fresh = await glance(seen, deadline_s)
    before = raw_of(mark, seen)
    like = [raw for raw in fresh.marks if _is_alike(raw, before)]
    if len(like) != 1 or not changed.then or like[0]["key"] == mark.key:
        return ""
    [raw] = like
    known = next((each for each in seen.observation.marks if each.key == raw["key"]), None)
    now = words_for(known) if known else f"a new {what_is(raw['role'], raw['tag'], raw['name'])}"
    point = raw["points"][0]
    return f' "{plain(changed.then, 60)}" now stands {changed.where} {now} at ({point.x:.0f}, {point.y:.0f}).'


def adopt(seen: Seen, fresh: Scan, raw: Raw, like: Mark) -> tuple[Seen, Mark]:
    """What was seen together with something that has come since, as a mark without a number."""
    found = like.model_copy(
        update={
            **_of(raw),
            "number": 0,
            "tag": raw["tag"],
            "role": raw["role"],
            "kind": raw["kind"],
            "name": raw["name"],
            "frame": raw["frame"],
        }
    )
    kept = tuple(each for each in seen.observation.marks if each.number)
    return _with(seen, fresh, (*kept, found)), found


def _rebound(seen: Seen, fresh: Scan, mark: Mark, raw: Raw) -> Seen:
    again = mark.model_copy(update=_of(raw))
    return _with(seen, fresh, tuple(again if each.number == mark.number else each for each in seen.observation.marks))


def _of(raw: Raw) -> dict[str, Any]:
    words, heading = beside(raw)
    fields = ("key", "box", "fingerprint")
    return {**{name: raw[name] for name in fields}, "point": raw["points"][0], "context": words, "heading": heading}


def _with(seen: Seen, fresh: Scan, marks: tuple[Mark, ...]) -> Seen:
    """Those that were seen keep what was read of their rows then: it is what they are compared with."""
    known = {raw["key"] for raw in seen.scan.marks}
    scan = replace(fresh, marks=[*seen.scan.marks, *(raw for raw in fresh.marks if raw["key"] not in known)])
    return replace(seen, scan=scan, observation=seen.observation.model_copy(update={"marks": marks}))


def _is_alike(raw: Raw, other: Raw) -> bool:
    return (raw["frame"], beside(raw), *_essence(raw)) == (other["frame"], beside(other), *_essence(other))


def _is_beside_the_same(raw: Raw, before: Raw, seen: Seen) -> bool:
    """Whether the same words stand beside it, and where amounts count, the same amounts."""
    if beside(raw) != beside(before):
        return False
    amounts = ("firm", "firmHeading")
    then, now = before.get("place") or {}, raw.get("place") or {}
    return not seen.strictness(None)["amounts"] or all(then.get(each) == now.get(each) for each in amounts)


async def _brought_into_view(
    mark: Mark, before: Raw, fresh: Scan, seen: Seen, deadline_s: float
) -> tuple[Scan, list[Raw]]:
    """What stands for the mark where a look does not reach, if exactly one thing does, and the scan that sees it."""
    token = mark.key.split(".", 1)[0]
    owner = next(scanned for scanned in fresh.frames if scanned.token == token)
    if not any(beside(before)) or not before.get("place"):
        return fresh, []
    meant = {"place": before["place"], **seen.strictness(mark), "kind": before["kind"], "tag": before["tag"]}
    essence = _essence(before)[2]
    keys = (await overlay.ask(owner.frame, "stand_ins", deadline_s, essence=essence, **meant))["keys"]
    if len(keys) != 1 or keys[0] in fresh.living:
        return fresh, []
    await overlay.ask(owner.frame, "check", deadline_s, key=keys[0], kind=before["kind"], reveal=True)
    fresh = await glance(seen, deadline_s)
    return fresh, [raw for raw in fresh.marks if raw["key"] == keys[0]]


async def _stands_as(raw: Raw, mark: Mark, before: Raw, fresh: Scan, seen: Seen, deadline_s: float) -> bool:
    """Whether a box around it says what stood beside the mark: how large its row is depends on what is around that."""
    owner = fresh.owner(raw["key"])
    if owner is None or not any(beside(before)):
        return False
    meant = {"place": before.get("place"), **seen.strictness(mark)}
    answer = await overlay.ask(owner.frame, "check", deadline_s, key=raw["key"], kind=raw["kind"], **meant)
    return bool(answer["found"] and answer["held"] and answer["held"]["same"])


def _essence(raw: Raw) -> tuple[str, str, str]:
    """What it is, without its id, which many pages make anew each time they draw."""
    return raw["role"], raw["name"], raw["fingerprint"].split("-")[0]


def _is_where_it_was(raw: Raw, before: Raw) -> bool:
    now, then = raw["points"][0], before["points"][0]
    return bool(abs(now.x - then.x) <= _SAME_PLACE and abs(now.y - then.y) <= _SAME_PLACE)


async def _looks_the_same(mark: Mark, seen: Seen, contract: Contract, deadline_s: float) -> bool:
    now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, contract).masked(seen.masked)
    return same_at(seen.clean, now, mark.point)


def _which_others(candidates: list[Raw]) -> str:
    where = _where(candidates)
    return f"{len(candidates)} like it stand elsewhere ({where})" if len(candidates) > 1 else f"one like it is {where}"


def _which(mark: Mark, candidates: list[Raw]) -> str:
    return f"{words_for(mark)} is gone, and {len(candidates)} like it have come ({_where(candidates)}). Look again."


def _where(candidates: list[Raw]) -> str:
    """What tells the first few of them apart: the words beside each, or where these are the same, its place."""
    said = [beside(raw).says for raw in candidates]
    told = []
    for raw, words in zip(candidates[:4], said, strict=False):
        point = raw["points"][0]
        at = f"at ({point.x:.0f}, {point.y:.0f})"
        named = f'beside "{plain(words, 40)}"'
        told.append(at if not words else named if said.count(words) == 1 else f"{named} {at}")
    return ", ".join(told)
