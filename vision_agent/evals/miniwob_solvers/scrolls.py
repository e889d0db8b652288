"""Solvers for text that must be scrolled."""

from __future__ import annotations

from vision_agent.evals.miniwob_solvers.asked import quotes
from vision_agent.evals.miniwob_solvers.episode import Episode, On


async def scroll_text_2(episode: Episode) -> None:
    """Scroll the textarea to the bottom of the text hit submit."""
    await episode.scroll_to_end(On("#text-area"), "down" if "to the bottom" in episode.asked else "up")
    await episode.submit()


async def sign_agreement(episode: Episode) -> None:
    """Scroll to the bottom of the textarea, enter the name "Sergio" then press "Agree". Or only cancel."""
    if quotes(episode.asked):
        name, button = quotes(episode.asked)
        await episode.scroll_to_end(On("#text-area"), "down")
        await episode.type(name, On("#name"))
    else:
        button = "Cancel"
    await episode.click(On(f"#{button.lower()}"))
