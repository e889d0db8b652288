"""Looks at a page until it is stable, and asks it for the facts of the same moment."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.page import overlay
from vision_agent.evals.perception.page_facts import DocumentLook, look
from vision_agent.observation import Observation

_ANSWER_S = 5
_LOOK_S = 60
_LOOKS = 4
"""Maximum observations until the page is stable."""
_EXAMINATIONS = 3
"""Maximum examinations until the page has the same marks before and after."""
Elements = dict[int, ElementHandle]
"""The live elements of marks, by mark number."""


@dataclass(frozen=True)
class Looked:
    """An observation, and what the page itself says of that moment."""

    observation: Observation
    traces: tuple[int, int, int] | None
    seen: list[DocumentLook] | None
    """What the independent truth is built from."""
    is_same: bool
    """Whether the page had the same marks after it was examined."""


async def look_and_examine(eyes: LiveBrowser, tab: Page) -> Looked:
    """An observation and the facts of the same moment: a toolbar may hide itself between the two."""
    for _ in range(_EXAMINATIONS):
        observation, traces = await _look(eyes, tab)
        seen = await _examine(tab, observation)
        if is_same := seen is None or _keys(await eyes.observe()) == _keys(observation):
            break
    return Looked(observation, traces, seen, is_same)


def _keys(observation: Observation) -> set[str]:
    return {mark.key for mark in observation.marks}


async def _look(eyes: LiveBrowser, tab: Page) -> tuple[Observation, tuple[int, int, int] | None]:
    """The page when it is stable, if it becomes so, and the traces that another observation leaves in it."""
    observation = await eyes.observe()
    for _ in range(_LOOKS - 1):
        if observation.at_rest:
            break
        observation = await eyes.observe()
    if eyes.is_hung:
        raise TimeoutError("the page hangs")
    if not observation.at_rest:
        return observation, None  # its own changes cannot be distinguished from ours
    await ask_frames(tab, "() => __perception.watch()")
    again = await eyes.observe()
    answers = [each.split() for each in await ask_frames(tab, "() => __perception.traces()") if each]
    sums = [sum(int(each[place]) for each in answers) for place in range(3)]
    return again, ((sums[0], sums[1], sums[2]) if again.at_rest else None)


async def ask_element(element: ElementHandle, expression: str, argument: Any = None) -> Any:
    """What a page answers about one of its elements; None if it does not answer."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_ANSWER_S):
            return await element.evaluate(expression, argument)


async def ask_frames(tab: Page, expression: str) -> list[str]:
    """The answer of each document that can run scripts."""
    answers = []
    for frame in tab.frames:
        try:
            async with asyncio.timeout(_ANSWER_S):
                answers.append(str(await frame.evaluate(expression) or ""))
        except (PlaywrightError, TimeoutError):
            continue
    return answers


async def _examine(tab: Page, observation: Observation) -> list[DocumentLook] | None:
    try:
        async with asyncio.timeout(_LOOK_S):
            return await look(tab, [(mark.point.x, mark.point.y) for mark in observation.marks])
    except (PlaywrightError, TimeoutError):
        return None  # the page replaced what the truth needs; it has labels, or its score warns of the missing truth


async def live_elements(tab: Page, observation: Observation) -> Elements:
    """The live elements of the marks that can still be found, by mark number."""
    found = {}
    for mark in observation.marks:
        for frame in tab.frames:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_ANSWER_S):
                    handle = await frame.query_selector(f"{overlay.NAME}=key:{mark.key}")
                if handle is not None:
                    found[mark.number] = handle
                    break
    return found


async def ids_of(elements: Elements) -> dict[int, str]:
    """The `id` attributes of the elements, by mark number."""
    return {number: await handle.get_attribute("id") or "" for number, handle in elements.items()}


@dataclass(frozen=True)
class Times:
    """Seconds of each observation and of each plain screenshot."""

    observe: tuple[float, ...]
    screenshot: tuple[float, ...]


async def time_looks(eyes: LiveBrowser, tab: Page, rounds: int) -> Times:
    """Durations of observations without settling and of plain screenshots, in turns."""
    observe, screenshot = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        observation = await eyes.observe()
        observe.append(time.perf_counter() - began - observation.timings.get("settle", 0.0))
        began = time.perf_counter()
        await tab.screenshot()
        screenshot.append(time.perf_counter() - began)
    return Times(tuple(observe), tuple(screenshot))
