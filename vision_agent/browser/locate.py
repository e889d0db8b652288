"""From a target of an action to the place where input goes: the live element, or a point whose pixels still match.

It looks again right before the act and refuses rather than guesses; a refusal says what was found and what could help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from playwright.async_api import Frame, Locator, Page

from vision_agent.actions import Point
from vision_agent.approval import risks_in
from vision_agent.browser import overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.frames import Place, Scan, Scanned, place_of_page
from vision_agent.browser.listing import plain
from vision_agent.browser.observe import Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.browser.row_context import ContextChanged
from vision_agent.types import Mark
from vision_agent.vision.compare import same_at
from vision_agent.vision.contract import Contract
from vision_agent.vision.picture import Picture

Answer = dict[str, Any]
"""What the overlay says of one element: `check.js` has its fields."""

_POINTS = 5
_MOVED = 3.0
"""CSS pixels; less is rounding."""
_HOLDERS = ("scroller", "surface")
_NOT_SHOWN = "{} does not show any more and could not be scrolled into view."
_WAYS_TO_SHOW: tuple[tuple[bool | str, bool], ...] = ((True, False), ("always", False), ("always", True))
"""Whether to scroll the element into view, and the frames around it: each tried only if the one before failed."""
_AS_IT_IS: tuple[tuple[bool | str, bool], ...] = ((False, False),)


@dataclass(frozen=True)
class Located:
    """Where input goes. With a mark: its live element, and the position in it that was found reachable."""

    words: str
    """For sentences: `mark 7 (button "Pay")`, `the point (412, 233)`."""
    point: Point
    """Page coordinates."""
    rung: int
    mark: Mark | None = None
    frame: Frame | None = None
    locator: Locator | None = None
    """For what is done without a pointer: the focus, a value, files."""
    answer: Answer | None = None
    under: Mark | None = None
    """Of a point: the mark that it lies in, which is what input is to reach."""
    key: str | None = None
    """Of an element that is no mark: the one that text is in."""


def words_for(mark: Mark) -> str:
    """How a sentence names a mark, or what was found on the way and has no number yet."""
    what = what_is(mark.role, mark.tag, mark.name)
    return f"mark {mark.label} ({what})" if mark.number else f"the {what}"


def what_is(role: str, tag: str, name: str) -> str:
    """How a sentence names a thing of the page: `button "Pay"`."""
    what = role if role != "generic" else tag
    return f'{what} "{plain(name, 60)}"' if name else what


def point_of(target: Point, seen: Seen) -> Point:
    """The page coordinates of a point of the picture.

    Raises:
        Refused: it lies outside the picture.
    """
    shot = seen.observation.marked
    if not (0 <= target.x < shot.size.width and 0 <= target.y < shot.size.height):
        raise Refused(
            "outside",
            f"{_point_words(target)} lies outside the picture, which is {shot.size.width} by {shot.size.height}.",
        )
    return shot.map.to_page(target)


def _point_words(target: Point) -> str:
    return f"the point ({target.x:g}, {target.y:g})"


async def locate(
    page: Page,
    target: int | Point,
    seen: Seen,
    contract: Contract,
    deadline_s: float,
    *,
    reveal: bool = True,
    pointed: bool = False,
) -> Located:
    """The place of a mark's live element, scrolled into view unless it may not be, or of a point of the picture.

    `pointed`: the pointer is on it, which may have added to it or to what stands beside it.

    Raises:
        Refused: it is unknown, gone, changed, covered, disabled or moved; the sentence says which and what could help.
        BrowserUnavailable: the browser is gone.
    """
    try:
        if isinstance(target, Point):
            return await _at_point(page, target, seen, contract, deadline_s)
        return await _of_mark(target, seen, deadline_s, _WAYS_TO_SHOW if reveal else _AS_IT_IS, pointed=pointed)
    except FrameSilent as error:
        raise Refused("timed_out", f"The page did not answer when {target} was looked at again: {error}.") from error


async def recheck(mark: Mark, scan: Scan, deadline_s: float, **more: Any) -> Answer:
    """What a mark's element says about itself now; `found` is false when it is gone."""
    owner = scan.owner(mark.key)
    if owner is None or owner.frame.is_detached():
        return {"found": False}
    return await overlay.ask(owner.frame, "check", deadline_s, key=mark.key, kind=mark.kind, **more)


async def identify(mark: Mark, seen: Seen, deadline_s: float, **more: Any) -> tuple[Scanned, Answer]:
    """The frame of a mark's live element, and what that says of itself now, when it is what it was.

    Raises:
        Refused: it is gone, or has become something else, by itself or by the row it stands in.
    """
    words = words_for(mark)
    owner = seen.scan.owner(mark.key)
    if owner is None or owner.frame.is_detached():
        raise Refused("gone", f"{words} is gone: its frame was closed or left.")
    before = raw_of(mark, seen)
    meant = {"place": before.get("place"), **seen.strictness(mark)}
    try:
        answer = await overlay.ask(owner.frame, "check", deadline_s, key=mark.key, kind=mark.kind, **meant, **more)
    except FrameSilent:
        if not owner.frame.is_detached():
            raise
        raise Refused("gone", f"{words} is gone: its frame was closed or left.") from None
    if not answer["found"]:
        raise Refused("gone", f"{words} is no longer on the page. Look at the new listing.")
    is_renamed = answer["fingerprint"] != mark.fingerprint
    if is_renamed and more.get("pointed") and _is_only_renamed(mark, answer):
        is_renamed = False
    if is_renamed:
        if not answer["visible"]:
            raise Refused("covered", _NOT_SHOWN.format(words))  # what does not show has no name
        now = what_is(answer["role"], mark.tag, answer["name"])
        raise Refused("changed", f"{words} has become {now}. Look at the new listing before acting on it.")
    if answer["held"] and not answer["held"]["same"]:
        raise ContextChanged(answer["held"], words)
    for child in _frames_above(owner):
        await _frame_must_stand(child, words, seen, deadline_s, pointed=bool(more.get("pointed")))
    return owner, answer


async def _frame_must_stand(child: Scanned, words: str, seen: Seen, deadline_s: float, *, pointed: bool) -> None:
    assert child.parent is not None
    meant = {"place": child.beside, **seen.strictness(None), "pointed": pointed}
    where = await overlay.ask(child.parent.frame, "frame", deadline_s, key=child.key, **meant)
    if where["found"] and where["held"] and not where["held"]["same"]:
        raise ContextChanged(where["held"], f"the frame of {words}")


async def _of_mark(
    number: int, seen: Seen, deadline_s: float, ways: tuple[tuple[bool | str, bool], ...], *, pointed: bool
) -> Located:
    mark = seen.observation.mark(number)
    if mark is None:
        known = [mark.number for mark in seen.observation.marks]
        span = f"; the listing has {min(known)} to {max(known)}" if known else "; the listing is empty"
        raise Refused("unknown_mark", f"There is no mark {number} in this observation{span}.")
    words = words_for(mark)
    trouble: Refused | None = None
    # What is in sight may still be under a header that sticks, and a frame taller than what its parent shows of it.
    for reveal, with_frames in ways:
        if with_frames and (above := seen.scan.owner(mark.key)) is not None:
            await _reveal_frames(above, deadline_s)
        owner, answer = await identify(mark, seen, deadline_s, reveal=reveal, points=_POINTS, pointed=pointed)
        if answer["disabled"]:
            raise Refused("disabled", f"{words} is disabled. Something else must be done first.")
        try:
            if not answer["visible"]:
                raise Refused("covered", _NOT_SHOWN.format(words))
            if not answer["points"]:
                raise Refused("covered", in_the_way(words, answer["blocker"], answer["blockerKey"], seen))
            point = await shown_by_parents(owner, answer, words, seen, deadline_s)
            break
        except Refused as refusal:
            if refusal.refusal != "covered":
                raise
            trouble = trouble or refusal
    else:
        assert trouble is not None
        raise trouble
    return Located(
        words=words,
        point=point,
        rung=1,
        mark=mark,
        frame=owner.frame,
        locator=overlay.live(owner.frame, mark.key),
        answer=answer,
    )


async def locate_words(first: str, last: str, seen: Seen, deadline_s: float) -> tuple[Located, Located, str]:
    """Where text begins and where it ends, and the text.

    Raises:
        Refused: it does not show, shows twice, cannot be reached, or is in something that a press acts on.
    """
    said = f'the text "{plain(first, 60)}"' + (f' to "{plain(last, 60)}"' if last != first else "")
    frames = [each for each in seen.scan.frames if not (each.frame.is_detached() or overlay.is_silent(each.frame))]
    asked = [(each, await overlay.ask(each.frame, "words", deadline_s, first=first, last=last)) for each in frames]
    count = sum(answer["count"] for _, answer in asked)
    if count != 1:
        why = f"shows {count} times; begin with more of its words" if count else "does not show as it was written"
        raise Refused("ambiguous" if count else "gone", f"{said} {why}.")
    owner, answer = next(each for each in asked if each[1]["count"])
    if not answer["ends"]:
        raise Refused("gone", f'"{plain(last, 60)}" does not come after "{plain(first, 60)}".')
    if answer["pressed"]:
        label = next((mark.label for mark in seen.observation.marks if mark.key == answer["pressedKey"]), None)
        inside = plain(answer["pressed"], 100) + (f" [{label}]" if label else "")
        raise Refused(
            "unsupported", f"{said} is in {inside}, which a press would act on; drag from point to point there."
        )
    if answer["blocker"]:
        raise Refused("covered", in_the_way(said, answer["blocker"], answer["blockerKey"], seen))
    if not answer["shown"]:
        raise Refused("moved", f"{said} cannot be seen at once; select less of it.")
    begin, end = [
        await shown_by_parents(owner, {**answer, "points": [point]}, said, seen, deadline_s)
        for point in answer["points"]
    ]
    place = Located(words=said, point=begin, rung=1, frame=owner.frame, answer=answer, key=answer["key"])
    return place, replace(place, point=end), answer["text"]


def raw_of(mark: Mark, seen: Seen) -> dict[str, Any]:
    """What the overlay said of a mark when it was looked at; nothing of what was no element."""
    return next((raw for raw in seen.scan.marks if raw["key"] == mark.key), {})


def _is_only_renamed(mark: Mark, answer: Answer) -> bool:
    """Whether an element under the pointer is called otherwise now and does nothing worse: many say more then."""
    return bool(answer["isSameBeing"]) and risks_in(answer["name"]) <= risks_in(mark.name)


def _frames_above(owner: Scanned) -> list[Scanned]:
    """The frames it is in, outermost first, without the page itself."""
    chain: list[Scanned] = []
    at: Scanned | None = owner
    while at is not None and at.parent is not None:
        chain.insert(0, at)
        at = at.parent
    return chain


async def _reveal_frames(owner: Scanned, deadline_s: float) -> None:
    for child in _frames_above(owner):
        assert child.parent is not None
        await overlay.ask(child.parent.frame, "check", deadline_s, key=child.key, kind="frame", reveal=True)


async def shown_by_parents(owner: Scanned, answer: dict[str, Any], words: str, seen: Seen, deadline_s: float) -> Point:
    """The first point of those in its frame that every parent frame shows, in page coordinates."""
    place = place_of_page(answer)
    steps: list[tuple[Scanned, Place]] = []
    for child in _frames_above(owner):
        assert child.parent is not None
        where = await overlay.ask(child.parent.frame, "frame", deadline_s, key=child.key)
        if not where["found"]:
            raise Refused("gone", f"{words} is gone: its frame was closed.")
        if child.parent.parent is None:
            place = place_of_page(where)
        if where["plane"] is None:
            raise Refused("covered", f"{words} does not show any more: its frame has no size.")
        steps.append((child, place))
        place = place.within(where["plane"])
    on_page = [place.to_page(point["x"], point["y"]) for point in answer["points"]]
    blocker: dict[str, Any] = {"blocker": None, "key": None}
    for child, parent_place in steps:
        assert child.parent is not None
        local = [dict(zip("xy", parent_place.to_frame(point), strict=True)) for point in on_page]
        answer = await overlay.ask(child.parent.frame, "shows", deadline_s, key=child.key, points=local)
        on_page = [point for point, shows in zip(on_page, answer["shows"], strict=True) if shows]
        if not on_page:
            blocker = answer["blockers"][0] if answer["blockers"] else blocker
            raise Refused("covered", in_the_way(words, blocker["blocker"], blocker["key"], seen))
    return on_page[0]


def in_the_way(words: str, blocker: str | None, key: str | None, seen: Seen) -> str:
    """A sentence about what a click would meet instead."""
    if blocker is None:
        return f"{words} cannot be reached by a click where it is."
    return f"{words} is covered by {blocker_words(blocker, key, seen)}. Close or move that first."


def blocker_words(blocker: str, key: str | None, seen: Seen) -> str:
    """What lies there, with its number where it has one: `<dialog> "Cookies" [3]`."""
    label = next((mark.label for mark in seen.observation.marks if mark.key == key), None)
    return plain(blocker, 100) + (f" [{label}]" if label else "")


async def _at_point(page: Page, target: Point, seen: Seen, contract: Contract, deadline_s: float) -> Located:
    point, words = point_of(target, seen), _point_words(target)
    main = seen.scan.frames[0]
    token = (await overlay.ask(page.main_frame, "token", deadline_s))["token"]
    if token != main.token:
        raise Refused("moved", f"{words} was not used: the page has been replaced since the picture was taken.")
    now = Picture.decode(await capture(page, deadline_s), seen.clean.page, contract).masked(seen.masked)
    if not same_at(seen.clean, now, point):
        raise Refused("moved", f"{words} was not used: what the picture shows there has changed. Look again.")
    mark = await _mark_under(point, words, main, seen, deadline_s)
    if mark is None:
        return Located(words=words, point=point, rung=4)
    # Rows and tiles look alike: that the pixels are the same does not say that the thing is.
    if not mark.box.contains(point):
        raise Refused("moved", f"{words} was not used: {words_for(mark)} lies there now, and did not. Look again.")
    owner, answer = await identify(mark, seen, deadline_s)
    if _has_moved(answer, mark, owner):
        raise Refused("moved", f"{words} was not used: {words_for(mark)}, which it is in, has moved. Look again.")
    return Located(words=words, point=point, rung=4, under=mark, answer=answer)


async def _mark_under(point: Point, words: str, main: Scanned, seen: Seen, deadline_s: float) -> Mark | None:
    """The innermost mark that a pointer at a point would reach, through frames; none where nothing marked is there."""
    here: Scanned | None = main
    found = None
    by_key = {mark.key: mark for mark in seen.observation.marks}
    while here is not None:
        x, y = here.place.to_frame(point)
        keys = (await overlay.ask(here.frame, "under", deadline_s, x=x, y=y))["keys"]
        found = next((by_key[key] for key in keys if key in by_key), found)
        inner = next((each for each in seen.scan.frames if each.parent is here and each.key in keys), None)
        if inner is not None and inner.frame.is_detached():
            raise Refused("moved", f"{words} was not used: the frame there was closed.")
        here = inner
    was = None if found else marked_at(point, seen)
    owner = seen.scan.owner(was.key) if was else None
    if was is not None and owner is not None:
        await _must_still_show(was, words, owner, seen, deadline_s)
    return found


async def _must_still_show(was: Mark, words: str, owner: Scanned, seen: Seen, deadline_s: float) -> None:
    """Refuses where an element was at a point, and a pointer would reach something unmarked. The picture alone does not
    tell: what came over it may be transparent, and a frame of another process may show it late.
    """
    words = f"{words} was not used: {words_for(was)} was there"
    answer = await recheck(was, seen.scan, deadline_s)
    if not answer["found"]:
        raise Refused("gone", f"{words}, and is gone. Look again.")
    if was.kind not in _HOLDERS:
        # Also where something without a mark covered a part of it all along: a mark can be named instead.
        raise Refused("moved", f"{words}, and something else is now. Look again, or name a mark.")
    reached = [owner.place.to_page(each["x"], each["y"]) for each in answer["points"]]
    # Much that has no mark may stand in it, or over it, and be what was meant.
    if not any(abs(at.x - was.point.x) <= _MOVED and abs(at.y - was.point.y) <= _MOVED for at in reached):
        raise Refused("moved", f"{words}, and something else is now. Look again.")


def marked_at(point: Point, seen: Seen) -> Mark | None:
    """The smallest element with a mark that was at a point; of what is drawn, its surface."""
    at = [mark for mark in seen.observation.marks if mark.source == "dom" and mark.box.contains(point)]
    return min(at, key=lambda mark: mark.box.width * mark.box.height, default=None)


def _has_moved(answer: Answer, mark: Mark, owner: Scanned) -> bool:
    """Whether an element is not where the mark was drawn; of one that is cut off, whether its part in view is not."""
    rect = answer["rect"]
    corner = owner.place.to_page(rect["x"], rect["y"])
    if owner.place.is_only_moved:
        far = owner.place.to_page(rect["x"] + rect["width"], rect["y"] + rect["height"])
        inside = mark.box.x >= corner.x - _MOVED and mark.box.y >= corner.y - _MOVED
        return not (inside and mark.box.right <= far.x + _MOVED and mark.box.bottom <= far.y + _MOVED)
    return False
