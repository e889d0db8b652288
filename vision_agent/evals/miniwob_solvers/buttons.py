"""Solvers for buttons, links and boxes, identified by text, colour or position."""

from __future__ import annotations

import asyncio
import time

from vision_agent.actions import Click
from vision_agent.evals.miniwob_solvers.asked import match_groups, quotes
from vision_agent.evals.miniwob_solvers.episode import Called, Episode, On

_ARRIVES_S = 0.12
"""Maximum time a click takes when nothing else is running."""


async def click_test(episode: Episode) -> None:
    """Click the button."""
    await episode.click(Called("Click Me!"))


async def click_buttons(episode: Episode) -> None:
    """Click button ONE, then click button TWO."""
    for name in ("ONE", "TWO"):
        if name in episode.asked:
            await episode.click(Called(name))


async def button_delay(episode: Episode) -> None:
    """Click button ONE, wait 3 seconds, then click button TWO."""
    (seconds,) = match_groups(r"wait (\d+) seconds", episode.asked)
    one, two = Click(target=await episode.target(Called("ONE"))), Click(target=await episode.target(Called("TWO")))
    sent = time.time()
    await episode.act(one)
    clicked = await episode.read("currentTime") / 1000
    await episode.look()
    # The second click takes as long as the first, unless that was slow because it was the first of all.
    arrives_s = min(clicked - sent, _ARRIVES_S)
    await asyncio.sleep(max(0.0, clicked + int(seconds) - arrives_s - time.time()))
    await episode.act(two)


async def click_button(episode: Episode) -> None:
    """Click on the "previous" button."""
    (name,) = quotes(episode.asked)
    await episode.click(Called(name, tag="button", place=0))


async def click_link(episode: Episode) -> None:
    """Click on the link "Neque,"."""
    (word,) = quotes(episode.asked)
    await episode.click(On(".alink", word, 0))


async def click_dialog(episode: Episode) -> None:
    """Click the button in the dialog box labeled "x"."""
    (name,) = quotes(episode.asked)
    await episode.click(Called("Close" if name == "x" else name, tag="button"))


async def click_color(episode: Episode) -> None:
    """Click on the lime colored box."""
    (colour,) = match_groups(r"the (\w+) colored", episode.asked)
    await episode.click(On(f'#area .color[data-color="{colour}"]'))


async def click_shades(episode: Episode) -> None:
    """Select all the shades of red and press Submit."""
    (colour,) = match_groups(r"shades of (\w+)", episode.asked)
    shades = f'#area span[data-color="{colour}"]'
    for place in range(len(await episode.boxes(shades))):
        await episode.click(On(shades, place=place))
    await episode.submit()


async def click_widget(episode: Episode) -> None:
    """Click on a "textarea" widget."""
    (kind,) = quotes(episode.asked)
    await episode.click(On(f'[data-type="{kind}"]', place=0))


async def find_greatest(episode: Episode) -> None:
    """Find and pick the card with the greatest number, then press submit."""
    numbers = [int(each) for each in await episode.texts(".card")]
    await episode.click(On(".card", place=numbers.index(max(numbers))))
    await episode.submit()


async def generate_number(episode: Episode) -> None:
    """Generate a number greater than 3, then press submit."""
    asked = episode.asked
    while True:
        await episode.click(Called("Generate"))
        number = int(await episode.text("#display-number"))
        if "less than" in asked:
            is_wanted = number < int(match_groups(r"less than (\d+)", asked)[0])
        elif "greater than" in asked:
            is_wanted = number > int(match_groups(r"greater than (\d+)", asked)[0])
        else:
            is_wanted = number % 2 == (1 if "odd" in asked else 0)
        if is_wanted:
            await episode.submit()
            return


async def odd_or_even(episode: Episode) -> None:
    """Mark the numbers below as odd or even and press submit when done."""
    for place, number in enumerate(await episode.texts(".display-number")):
        await episode.click(On(".odd" if int(number) % 2 else ".even", place=place))
    await episode.submit()
