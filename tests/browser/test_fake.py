"""Claims about the browser that ships for tests."""

from __future__ import annotations

from datetime import UTC, datetime

from vision_agent.actions import Press
from vision_agent.browser.fake import FakeBrowser
from vision_agent.geometry import Size
from vision_agent.observation import Observation, Shot
from vision_agent.types import Outcome


def observation(name: str) -> Observation:
    shot = Shot(media_type="image/png", size=Size(width=1, height=1), sha256="0" * 64)
    return Observation(
        id=name, epoch=1, url="about:blank", title="", taken_at=datetime(2026, 1, 1, tzinfo=UTC),
        viewport=shot.size, listing="", clean=shot, marked=shot,
    )  # fmt: skip


async def test_it_shows_what_it_was_given_and_then_the_last_again() -> None:
    browser = FakeBrowser([observation("a"), observation("b")])
    assert [(await browser.observe()).id for _ in range(3)] == ["a", "b", "b"]


async def test_it_keeps_what_it_was_asked_to_do_and_answers_as_it_was_told() -> None:
    told = Outcome(status="refused", refusal="gone", sentence="It is gone.")
    browser = FakeBrowser([observation("a")], [told])
    seen = await browser.observe()
    assert await browser.act(Press(keys="Enter"), seen) == told
    assert (await browser.act(Press(keys="Tab"), seen)).status == "done"
    assert browser.acts == [Press(keys="Enter"), Press(keys="Tab")]
