"""Solvers for lists, suggestions, sliders, spinners and colours: choosing one value of many."""

from __future__ import annotations

import json

from vision_agent.evals.miniwob_solvers.asked import match_groups, ordinal, quotes
from vision_agent.evals.miniwob_solvers.episode import Called, Episode, On

_IS_SUGGESTED = """item => Array.from(document.querySelectorAll('.ui-autocomplete .ui-menu-item div')).some(each =>
    each.textContent === item && each.getBoundingClientRect().height > 0)"""


async def choose_list(episode: Episode) -> None:
    """Select Miguelita, Lolita from the scroll list and click Submit."""
    (options,) = match_groups(r"Select (.+) from the", episode.asked)
    await episode.select(*options.split(", "), of=On("#options"))
    await episode.submit()


async def use_autocomplete(episode: Episode) -> None:
    """Enter an item that starts with "Egy" and ends with "gypt"."""
    start, *end = quotes(episode.asked)
    items = await episode.read("ITEMS")
    item = next(each for each in items if each.startswith(start) and each.endswith("".join(end)))
    await episode.type(item, On("#tags"))
    await choose_suggestion(episode, item)
    await episode.submit()


async def choose_suggestion(episode: Episode, item: str) -> None:
    """Takes what a field suggests, which may come a while after typing."""
    await episode.until(_IS_SUGGESTED, item)
    await episode.click(Called(item))


async def use_slider(episode: Episode) -> None:
    """Select 5 with the slider and hit Submit."""
    (wanted,) = match_groups(r"Select (-?\d+) with", episode.asked)
    await _slide(episode, 0, int(wanted), "#val")
    await episode.submit()


async def use_slider_2(episode: Episode) -> None:
    """Set the sliders to the combination [5,11,10] and submit."""
    (combination,) = match_groups(r"combination (\[.+\])", episode.asked)
    for which, wanted in enumerate(json.loads(combination)):
        await _slide(episode, which, wanted, f"#val-{which + 1}")
    await episode.submit()


async def form_sequence(episode: Episode) -> None:
    """Select -5 with the slider, click the 2nd checkbox, then hit Submit."""
    (wanted,) = match_groups(r"Select (-?\d+) with", episode.asked)
    await _slide(episode, 0, int(wanted), "#val")
    await episode.check(On("#area input", place=ordinal(episode.asked, "checkbox")))
    await episode.submit()


async def form_sequence_2(episode: Episode) -> None:
    """Check the 1st radio button and enter the number "16" into the 3rd textbox."""
    await episode.check(On("input[type=radio]", place=ordinal(episode.asked, "radio")))
    (number,) = quotes(episode.asked)
    await episode.type(number, On("input[type=text]", place=ordinal(episode.asked, "textbox")))
    await episode.submit()


async def form_sequence_3(episode: Episode) -> None:
    """Choose 5ft 10in from the dropdown, then click the button labeled "No"."""
    (height,) = match_groups(r"Choose (.+) from the dropdown", episode.asked)
    await episode.select(height, of=On(".selectric"))
    (button,) = quotes(episode.asked)
    await episode.click(Called(button, tag="button"))


async def use_spinner(episode: Episode) -> None:
    """Select -5 with the spinner and hit Submit."""
    wanted = int(match_groups(r"Select (-?\d+) with", episode.asked)[0])
    for _ in range(abs(wanted)):
        await episode.click(On(".ui-spinner-up" if wanted > 0 else ".ui-spinner-down"))
    await episode.submit()


async def use_colorwheel(episode: Episode) -> None:
    """Select green with the color picker and hit Submit."""
    (name,) = match_groups(r"Select (\w+) with", episode.asked)
    await _colour(episode, (await episode.read(f"ui_utils.colorNameToHex('{name}')")).removeprefix("#"))


async def use_colorwheel_2(episode: Episode) -> None:
    """Select the following color ■ with the color picker and hit Submit."""
    shown = await episode.read("getComputedStyle(document.querySelector('#query .cc')).backgroundColor")
    await _colour(episode, "".join(f"{int(part):02x}" for part in match_groups(r"(\d+), (\d+), (\d+)", shown)))


async def _colour(episode: Episode, digits: str) -> None:
    await episode.type(digits, On("#col"))
    await episode.look()  # the wheel opened, and hangs over the button until something else is clicked
    await episode.press("Tab")
    await episode.press("Enter")


async def _slide(episode: Episode, which: int, wanted: int, shown: str) -> None:
    away = wanted - int(await episode.text(shown))
    handle = On(".ui-slider-handle", place=which)
    await episode.press("ArrowRight" if away > 0 else "ArrowLeft", handle, count=abs(away))
