"""Reports actions that reached another element than the one whose number was named.

It is independent of the code that finds, checks and presses marks, which would repeat its own errors.
`hit_oracle.js`, in the isolated world of each frame, remembers what lies under each mark when the page is observed, and
reports for each press and key whose element it reached. This module compares that with the number in the decision.

"Unknown" is a value of its own, for documents that were not noted and actions without a report. A failure here never
breaks an item. Only Chromium has bindings, which report a press before its consequences; other browsers have no oracle.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from playwright.async_api import BrowserContext, CDPSession, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent import assets
from vision_agent.actions import Action, Cell, mark_in, targets_of
from vision_agent.base_model import FrozenModel
from vision_agent.browser.page import overlay
from vision_agent.describe.action_sentences import describe_action
from vision_agent.evals.items import Witnessed, WrongElement
from vision_agent.events import Event, Happened, Intended, Observed
from vision_agent.observation import Mark, Observation
from vision_agent.ports import Model
from vision_agent.text.escape import printable_line
from vision_agent.types import Decision, Outcome, Step, Task

_NAME = "hit_oracle"
_DEADLINE_S = 1.0
_MOST_FRAMES = 12


class _HeardEvent(FrozenModel):
    """One input event that reached an element."""

    look: str
    at: float
    """Milliseconds on the page's clock."""
    does: Literal["press", "key", "value"]
    trusted: bool
    """False for events from a script, which is how the browser driver chooses options and sets some values."""
    numbers: tuple[int, ...]
    """Numbers of the marks that the element belongs to."""
    what: str


@dataclass
class _NamedAct:
    """One action that names a mark."""

    step: int
    action: Action
    number: int
    seen: Observation
    is_noted: bool
    begun: float
    """Seconds on our clock, as is `ended`."""
    ended: float = float("inf")
    outcome: Outcome | None = None
    heard: list[_HeardEvent] = field(default_factory=list)

    @property
    def sent(self) -> list[_HeardEvent]:
        """The trusted events, or those from scripts if there are none."""
        return [each for each in self.heard if each.trusted] or self.heard

    @property
    def is_counted(self) -> bool:
        """Whether the action sent something to the page, as far as known."""
        outcome = self.outcome
        is_done = outcome is not None and outcome.status != "refused" and outcome.effect not in ("as_wanted", "asked")
        return is_done or any(each.trusted for each in self.heard)


@dataclass
class _BoundTarget:
    """A page or frame for which a CDP session was requested."""

    url: str
    """Address of a frame at the time of the request: at another address it may have its own process."""
    session: CDPSession | None = None
    """None for a frame in the process of its parent."""


@cache
def script() -> str:
    """The selector engine, as one expression."""
    return overlay.join(assets.overlay_sources(), "hit_oracle.js", "hitOracle")


async def register(context: BrowserContext) -> None:
    """Register the engine in a context, before it has pages."""
    await overlay.register(context, _NAME, script())


class HitOracle:
    """The oracle for one run in one context: wrap the model with `wrap` and pass events to `hear`."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._binding = f"seen{secrets.token_hex(8)}"
        self._bound: weakref.WeakKeyDictionary[Page | Frame, _BoundTarget] = weakref.WeakKeyDictionary()
        self.seconds = 0.0
        """Time it took from the run, which counts for nobody else."""
        self._look = ""
        """Id of the last observation whose marks it noted or tried to note."""
        self._noted: frozenset[int] = frozenset()
        self._seen: Observation | None = None
        self._frames: weakref.WeakKeyDictionary[Frame, int] = weakref.WeakKeyDictionary()
        """The number of each frame in the document that contains it."""
        self._behind_s = 0.0
        """How far the page's clock is behind ours."""
        self._acts: list[_NamedAct] = []

    @property
    def result(self) -> Witnessed:
        """What was witnessed so far."""
        counted = [(act, _decisive_events(act)) for act in self._acts if act.is_counted]
        witnessed = [(act, decisive) for act, decisive in counted if act.is_noted and decisive]
        wrong = [
            WrongElement(
                step=act.step, sentence=printable_line(f"{describe_action(act.action, act.seen)} reached {other.what}")
            )
            for act, decisive in witnessed
            if (other := next((each for each in decisive if act.number not in each.numbers), None))
        ]
        return Witnessed(witnessed=len(witnessed), unwitnessed=len(counted) - len(witnessed), wrong=tuple(wrong))

    def wrap(self, model: Model) -> Model:
        """Wrap the model so that marks are noted before it decides, while the page is as observed."""
        return _Noting(model, self.note)

    async def note(self, observation: Observation) -> None:
        """Note what lies under the marks of an observation, once per observation."""
        if observation.id == self._look:
            return
        began = time.monotonic()
        self._look, self._noted = observation.id, frozenset()
        try:
            async with asyncio.timeout(2 * _DEADLINE_S):
                page = self._page_of(observation)
                if page is not None:
                    await self._bind(page)
                    shown = [_mark_row(mark) for mark in observation.marks]
                    self._noted = frozenset(await self._note(page.main_frame, shown))
        except Exception:  # noqa: BLE001 - actions on this observation then count as unwitnessed; the run goes on
            self._noted = frozenset()
        finally:
            self.seconds += time.monotonic() - began

    def hear(self, event: Event) -> None:
        """Follow the run: a listener for `Agent(on_event=…)`."""
        match event:
            case Observed():
                self._seen = event.observation
            case Intended():
                number, seen = named_number(event.action), self._seen
                if number is not None and seen is not None:
                    is_noted = self._look == seen.id and number in self._noted
                    self._acts.append(_NamedAct(event.step, event.action, number, seen, is_noted, time.time()))
            case Happened():
                act = self._acts[-1] if self._acts else None
                if act is not None and act.outcome is None:
                    act.ended, act.outcome = time.time(), event.outcome
            case _:
                pass

    # --- the page -----------------------------------------------------------------------------------------------------

    def _page_of(self, observation: Observation) -> Page | None:
        """The observed tab; None if it is unclear which one that is."""
        pages = self._context.pages
        active = next((tab.number for tab in observation.tabs if tab.active), 1)
        if len(pages) == max(1, len(observation.tabs)):
            return pages[active - 1]
        alike = [page for page in pages if page.url == observation.url]
        return alike[0] if len(alike) == 1 else None

    async def _bind(self, page: Page) -> None:
        """Listen for input events in all frames of the page, present and future.

        Raises:
            PlaywrightError: the page is gone, or the browser has no bindings.
        """
        await self._bind_one(page, page, "")
        for frame in page.frames[1 : 1 + _MOST_FRAMES]:
            with suppress(PlaywrightError):  # fails for a frame in the process of its parent
                await self._bind_one(page, frame, frame.url)

    async def _bind_one(self, page: Page, place: Page | Frame, url: str) -> None:
        bound = self._bound.get(place)
        if bound is None or bound.url != url:
            self._bound[place] = bound = _BoundTarget(url)
            # A session of our own: the agent's loses its bindings each time it asks where scripts run.
            try:
                bound.session = await self._context.new_cdp_session(place)
            except PlaywrightError:
                raise
            except BaseException:  # it may only have been slow, so it is tried again
                del self._bound[place]
                raise
            bound.session.on("Runtime.bindingCalled", self._on_binding)
        if bound.session is not None:
            # Every time: a document loaded since then lacks the binding.
            await bound.session.send("Runtime.removeBinding", {"name": self._binding})
            world = overlay.isolated_world_name(page)
            await bound.session.send("Runtime.addBinding", {"name": self._binding, "executionContextName": world})

    async def _note(self, frame: Frame, shown: list[list[float]]) -> set[int]:
        """The numbers of the marks noted in a frame and its children. Frames without marks are listened to as well."""
        asked = time.time()
        answer = await _ask(frame, ask="note", look=self._look, binding=self._binding, marks=shown)
        if frame is frame.page.main_frame:
            middle, half = (time.time() + asked) / 2, (time.time() - asked) / 2
            behind = middle - answer["at"] / 1000
            self._behind_s = behind if abs(behind) > half + 0.001 else 0.0  # a browser on this machine shares our clock
        children = [child for child in frame.child_frames[:_MOST_FRAMES] if not overlay.is_silent(child)]
        framed: dict[int, list[list[float]]] = dict(answer["frames"])
        inner = await asyncio.gather(*(self._note_child(child, framed) for child in children), return_exceptions=True)
        noted = set(answer["noted"]) if answer["heard"] else set()
        return noted.union(*(each for each in inner if not isinstance(each, BaseException)))

    async def _note_child(self, frame: Frame, framed: dict[int, list[list[float]]]) -> set[int]:
        if framed and frame not in self._frames:
            self._frames[frame] = (await _ask(await frame.frame_element(), ask="frame"))["frame"]
        return await self._note(frame, framed.get(self._frames.get(frame, 0), []))

    def _on_binding(self, event: dict[str, Any]) -> None:
        if event["name"] != self._binding:
            return
        heard = _HeardEvent.model_validate_json(event["payload"])  # only our own script can call the binding
        # By event time: the report may arrive when the next action has already begun.
        at = heard.at / 1000 + self._behind_s
        act = next((each for each in reversed(self._acts) if int(each.begun * 1000) / 1000 <= at <= each.ended), None)
        if act is not None and heard.look == act.seen.id:
            act.heard.append(heard)


def named_number(action: Action) -> int | None:
    """The number of the mark that an action presses; None if it names none.

    A drag counts by its start: at its end, the dragged element may lie under the pointer.
    """
    targets = targets_of(action) if action.traits.in_browser and action.traits.presses else ()
    return mark_in(targets[0]) if targets else None


def _decisive_events(act: _NamedAct) -> list[_HeardEvent]:
    """The events that judge an action: its first press, else its first key or value. Later ones may be consequences."""
    heard = act.sent
    presses = [each for each in heard if each.does == "press"]
    keys = [each for each in heard if each.does == "key"]
    if act.action.kind == "press":
        return keys[:1]
    if act.action.kind == "select" and presses:
        # An open list needs no press on its owner, so then the answer is unknown.
        return [each for each in presses if act.number in each.numbers][:1]
    if act.action.kind == "type" and not _is_drawn(act):
        return [*presses[:1], *keys[:1]] or list(heard[:1])  # a page may take the focus between the two
    return list((presses or heard)[:1])


def _is_drawn(act: _NamedAct) -> bool:
    """Whether the target is not an element; keys for it may go to a field that opens next to it."""
    mark = act.seen.mark(act.number)
    is_cell = isinstance(getattr(act.action, "target", None), Cell)
    return is_cell or mark is None or mark.source != "dom" or mark.kind == "surface"


async def _ask(place: Frame | ElementHandle, **request: Any) -> dict[str, Any]:
    body = f"{_NAME}={base64.b64encode(json.dumps(request).encode()).decode()}"
    async with asyncio.timeout(_DEADLINE_S):
        if isinstance(place, Frame):
            text = await place.locator(body).text_content(timeout=_DEADLINE_S * 1000)
        else:
            carrier = await place.query_selector(body)
            text = await carrier.text_content() if carrier else None
    answer: dict[str, Any] = json.loads(text or "")
    return answer


def _mark_row(mark: Mark) -> list[float]:
    """A mark in the form the script expects: number, point and box, in CSS pixels."""
    at, box = mark.point, mark.box
    return [mark.number, *(round(each, 2) for each in (at.x, at.y, box.x, box.y, box.width, box.height))]


class _Noting(Model):
    """Wraps a model and notes the marks before each decision."""

    def __init__(self, model: Model, note: Callable[[Observation], Awaitable[None]]) -> None:
        self.name = model.name
        self._model, self._note = model, note

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The decision of the wrapped model."""
        await self._note(observation)
        return await self._model.decide(task, steps, observation, complaint=complaint)

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What they say."""
        return await self._model.describe(known)

    async def aclose(self) -> None:
        """Close their connections."""
        await self._model.aclose()
