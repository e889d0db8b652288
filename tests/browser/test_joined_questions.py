"""Claims about questions to the overlay that are asked at the same time: they go in one message."""

from __future__ import annotations

import asyncio

import pytest

from tests.browser.hand import On
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent, ask

HTML = "<title>Buttons</title><button>One</button>"
DEADLINE_S = 10.0


async def test_each_question_that_is_asked_at_the_same_time_gets_its_own_answer(on: On) -> None:
    async with on(HTML) as hand:
        frame = hand.page.main_frame
        token, title, focus = await asyncio.gather(
            overlay_calls.document.token(frame, DEADLINE_S),
            overlay_calls.document.title(frame, DEADLINE_S),
            overlay_calls.fields.focused_element(frame, DEADLINE_S),
        )
        assert token == await overlay_calls.document.token(frame, DEADLINE_S)
        assert title == "Buttons"
        assert focus.key is None


async def test_a_question_that_fails_leaves_the_others_their_answers(on: On) -> None:
    async with on(HTML) as hand:
        frame = hand.page.main_frame
        title, failed = await asyncio.gather(
            overlay_calls.document.title(frame, DEADLINE_S),
            ask(frame, "check", DEADLINE_S, key=hand.seen.marks[0].key, kind="button", place={"words": 1}),
            return_exceptions=True,
        )
        assert title == "Buttons"
        assert isinstance(failed, FrameSilent)


async def test_a_question_that_is_given_up_leaves_the_others_their_answers(on: On) -> None:
    async with on(HTML) as hand:
        frame = hand.page.main_frame
        given_up = asyncio.create_task(overlay_calls.document.token(frame, DEADLINE_S))
        waited_for = asyncio.create_task(overlay_calls.document.title(frame, DEADLINE_S))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await waited_for == "Buttons"
        with pytest.raises(asyncio.CancelledError):
            await given_up


async def test_a_frame_answers_after_all_questions_were_given_up(on: On) -> None:
    async with on(HTML) as hand:
        frame = hand.page.main_frame
        given_up = asyncio.create_task(overlay_calls.document.token(frame, DEADLINE_S))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert await overlay_calls.document.title(frame, DEADLINE_S) == "Buttons"
