"""A witness of acts: which of them reached another element than the one whose number was named.

It is independent of what finds, gates and presses marks, which would repeat its own errors: `witness.js`, in the
isolated world of each frame, keeps what lies under the marks of the picture when the page was looked at, and says for
each press and key whose thing it reached. Here that is held against the number that was decided on.

What cannot be told is a value of its own: a document that was not noted, an act that nothing was heard of. Nothing that
breaks here may break an item. Chromium alone has bindings, by which a press is told before what it leads to; elsewhere
nothing is witnessed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
import weakref
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from playwright.async_api import BrowserContext, CDPSession, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, ConfigDict

from vision_agent import assets
from vision_agent.actions import Action, Cell, mark_in
from vision_agent.browser import overlay
from vision_agent.evals.grades import one_line
from vision_agent.evals.items import Witnessed, WrongElement
from vision_agent.events import Event, Happened, Intended, Observed
from vision_agent.phrases import in_words
from vision_agent.ports import Model
from vision_agent.types import Decision, Mark, Observation, Outcome, Step, Task

_NAME = "witness"
_DEADLINE_S = 1.0
_MOST_FRAMES = 12
_NAMED = {
    "click": "target", "type": "target", "select": "target", "press": "target", "check": "mark", "set": "mark",
    "upload": "mark", "drag": "source",
}  # fmt: skip
"""The acts that commit to something, and what they name. Of a drag it is where it begins: at its end what is dragged
may lie under the pointer."""


class _Heard(BaseModel):
    """One thing that reached an element."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    look: str
    at: float
    """Milliseconds, by the page's clock."""
    does: Literal["press", "key", "value"]
    trusted: bool
    """False: a script says so, which is the browser driver's way to choose and to set some values."""
    numbers: tuple[int, ...]
    """Of the marks whose thing that is."""
    what: str


@dataclass
class _Act:
    """One act that names a mark."""

    step: int
    action: Action
    number: int
    seen: Observation
    is_noted: bool
    begun: float
    """Seconds, by our clock, as is `ended`."""
    ended: float = float("inf")
    outcome: Outcome | None = None
    heard: list[_Heard] = field(default_factory=list)

    @property
    def sent(self) -> list[_Heard]:
        """What the browser itself says that it reached; else what a script says."""
        return [each for each in self.heard if each.trusted] or self.heard

    @property
    def is_counted(self) -> bool:
        """Whether something was sent to something, as far as anybody knows."""
        outcome = self.outcome
        is_done = outcome is not None and outcome.status != "refused" and outcome.effect not in ("as_wanted", "asked")
        return is_done or any(each.trusted for each in self.heard)


@dataclass
class _Bound:
    """A page or a frame that was asked for a session."""

    url: str
    """Of a frame, when it was asked: at another address it may have a process of its own."""
    session: CDPSession | None = None
    """None where it shares the process of its parent."""


@cache
def script() -> str:
    """The selector engine, as one expression."""
    return overlay.join(assets.overlay_sources(), "witness.js", "witness")


async def register(context: BrowserContext) -> None:
    """Makes the engine known to the Playwright of a context, before it has pages."""
    await overlay.register(context, _NAME, script())


class Witness:
    """Of one run in one context: `around` whoever decides, and `hear` for what the run tells of itself."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._binding = f"seen{secrets.token_hex(8)}"
        self._bound: weakref.WeakKeyDictionary[Page | Frame, _Bound] = weakref.WeakKeyDictionary()
        self.seconds = 0.0
        """That it took of the run, which are nobody else's."""
        self._look = ""
        """The observation whose marks were noted, or were to be."""
        self._noted: frozenset[int] = frozenset()
        self._seen: Observation | None = None
        self._frames: weakref.WeakKeyDictionary[Frame, int] = weakref.WeakKeyDictionary()
        """What they are called in the document around them."""
        self._behind_s = 0.0
        """Of the page's clock."""
        self._acts: list[_Act] = []

    @property
    def told(self) -> Witnessed:
        """What was seen so far."""
        counted = [(act, _decisive(act)) for act in self._acts if act.is_counted]
        told = [(act, decisive) for act, decisive in counted if act.is_noted and decisive]
        wrong = [
            WrongElement(step=act.step, sentence=one_line(f"{in_words(act.action, act.seen)} reached {other.what}"))
            for act, decisive in told
            if (other := next((each for each in decisive if act.number not in each.numbers), None))
        ]
        return Witnessed(witnessed=len(told), unwitnessed=len(counted) - len(told), wrong=tuple(wrong))

    def around(self, model: Model) -> Model:
        """Who decides, with the marks noted before they are asked: the page is as it was looked at."""
        return _Noting(model, self.note)

    async def note(self, observation: Observation) -> None:
        """Keeps what lies under the marks of an observation; once, however often who decides is asked about it."""
        if observation.id == self._look:
            return
        began = time.monotonic()
        self._look, self._noted = observation.id, frozenset()
        try:
            async with asyncio.timeout(2 * _DEADLINE_S):
                page = self._page_of(observation)
                if page is not None:
                    await self._bind(page)
                    shown = [_shown(mark) for mark in observation.marks]
                    self._noted = frozenset(await self._note(page.main_frame, shown))
        except Exception:  # noqa: BLE001 - then nothing of this look is witnessed, which is counted; the run goes on
            self._noted = frozenset()
        finally:
            self.seconds += time.monotonic() - began

    def hear(self, event: Event) -> None:
        """What the run tells of itself: a listener for `Agent(on_event=…)`."""
        match event:
            case Observed():
                self._seen = event.observation
            case Intended():
                named = getattr(event.action, _NAMED.get(event.action.kind, ""), None)
                number, seen = None if named is None else mark_in(named), self._seen
                if number is not None and seen is not None:
                    is_noted = self._look == seen.id and number in self._noted
                    self._acts.append(_Act(event.step, event.action, number, seen, is_noted, time.time()))
            case Happened():
                act = self._acts[-1] if self._acts else None
                if act is not None and act.outcome is None:
                    act.ended, act.outcome = time.time(), event.outcome
            case _:
                pass

    # --- the page -----------------------------------------------------------------------------------------------------

    def _page_of(self, observation: Observation) -> Page | None:
        """The tab that was looked at; None where that cannot be told."""
        pages = self._context.pages
        active = next((tab.number for tab in observation.tabs if tab.active), 1)
        if len(pages) == max(1, len(observation.tabs)):
            return pages[active - 1]
        alike = [page for page in pages if page.url == observation.url]
        return alike[0] if len(alike) == 1 else None

    async def _bind(self, page: Page) -> None:
        """Has what reaches elements told from the frames of the page, as they are now and as they come.

        Raises:
            PlaywrightError: the page is gone, or the browser is none that has bindings.
        """
        await self._bind_one(page, page, "")
        for frame in page.frames[1 : 1 + _MOST_FRAMES]:
            with suppress(PlaywrightError):  # refused where the frame shares the process of its parent
                await self._bind_one(page, frame, frame.url)

    async def _bind_one(self, page: Page, place: Page | Frame, url: str) -> None:
        bound = self._bound.get(place)
        if bound is None or bound.url != url:
            self._bound[place] = bound = _Bound(url)
            # A session of our own: in the agent's, bindings are lost whenever it asks where scripts run.
            try:
                bound.session = await self._context.new_cdp_session(place)
            except PlaywrightError:
                raise
            except BaseException:  # one that was only slow is asked again
                del self._bound[place]
                raise
            bound.session.on("Runtime.bindingCalled", self._called)
        if bound.session is not None:
            # Each time: documents that came since have it not, as long as the session is not told of each of them.
            await bound.session.send("Runtime.removeBinding", {"name": self._binding})
            world = overlay.world_of(page)
            await bound.session.send("Runtime.addBinding", {"name": self._binding, "executionContextName": world})

    async def _note(self, frame: Frame, shown: list[list[float]]) -> set[int]:
        """The numbers that were noted in a frame and in those in it. A frame without marks listens too."""
        asked = time.time()
        answer = await _ask(frame, ask="note", look=self._look, binding=self._binding, marks=shown)
        if frame is frame.page.main_frame:
            middle, half = (time.time() + asked) / 2, (time.time() - asked) / 2
            behind = middle - answer["at"] / 1000
            self._behind_s = behind if abs(behind) > half + 0.001 else 0.0  # a browser of this machine has our clock
        children = [child for child in frame.child_frames[:_MOST_FRAMES] if not overlay.is_silent(child)]
        framed: dict[int, list[list[float]]] = dict(answer["frames"])
        inner = await asyncio.gather(*(self._note_child(child, framed) for child in children), return_exceptions=True)
        noted = set(answer["noted"]) if answer["heard"] else set()
        return noted.union(*(each for each in inner if not isinstance(each, BaseException)))

    async def _note_child(self, frame: Frame, framed: dict[int, list[list[float]]]) -> set[int]:
        if framed and frame not in self._frames:
            self._frames[frame] = (await _ask(await frame.frame_element(), ask="frame"))["frame"]
        return await self._note(frame, framed.get(self._frames.get(frame, 0), []))

    def _called(self, event: dict[str, Any]) -> None:
        if event["name"] != self._binding:
            return
        heard = _Heard.model_validate_json(event["payload"])  # nobody but our own script can call it
        # By when it happened: it may come here after the act, and then the next one has begun.
        at = heard.at / 1000 + self._behind_s
        act = next((each for each in reversed(self._acts) if int(each.begun * 1000) / 1000 <= at <= each.ended), None)
        if act is not None and heard.look == act.seen.id:
            act.heard.append(heard)


def _decisive(act: _Act) -> list[_Heard]:
    """What an act is judged by: its first press, else its first key or value. What follows may be the page's answer."""
    heard = act.sent
    presses = [each for each in heard if each.does == "press"]
    keys = [each for each in heard if each.does == "key"]
    if act.action.kind == "press":
        return keys[:1]
    if act.action.kind == "select" and presses:
        # A list that stood open is chosen from without a press on what it belongs to: then nobody can tell.
        return [each for each in presses if act.number in each.numbers][:1]
    if act.action.kind == "type" and not _is_drawn(act):
        return [*presses[:1], *keys[:1]] or list(heard[:1])  # a page may take the focus between the two
    return list((presses or heard)[:1])


def _is_drawn(act: _Act) -> bool:
    """Whether what is named is no element; keys for it may go to a field that opens beside it."""
    mark = act.seen.mark(act.number)
    is_cell = isinstance(getattr(act.action, "target", None), Cell)
    return is_cell or mark is None or mark.source != "dom" or mark.kind == "surface"


async def _ask(place: Frame | ElementHandle, **request: Any) -> dict[str, Any]:
    body = f"{_NAME}={base64.b64encode(json.dumps(request).encode()).decode()}"
    async with asyncio.timeout(_DEADLINE_S):
        if isinstance(place, Frame):
            said = await place.locator(body).text_content(timeout=_DEADLINE_S * 1000)
        else:
            carrier = await place.query_selector(body)
            said = await carrier.text_content() if carrier else None
    answer: dict[str, Any] = json.loads(said or "")
    return answer


def _shown(mark: Mark) -> list[float]:
    """A mark as the script takes it: its number, its point and its box in the picture."""
    at, box = mark.point, mark.box
    return [mark.number, *(round(each, 2) for each in (at.x, at.y, box.x, box.y, box.width, box.height))]


class _Noting:
    """Whoever decides, with the marks noted first; in all else it is they."""

    def __init__(self, model: Model, note: Callable[[Observation], Awaitable[None]]) -> None:
        self._model, self._note = model, note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """Their decision."""
        await self._note(observation)
        return await self._model.decide(task, steps, observation, complaint=complaint)
