"""Ticking boxes and choosing options that the goal lists."""

from __future__ import annotations

import re

from second_solver.player import GivenUp, Player, ordinal, quoted
from vision_agent import actions

SIMILAR = tuple(
    set(line.split())
    for line in (
        "big large huge enormous gigantic immense massive",
        "small little tiny mini minuscule petite",
        "happy joyful cheerful glad gay pleased gleeful delighted jolly",
        "unhappy sad miserable sorrowful gloomy tragic",
        "angry mad furious irritated enraged",
        "fire flame flames blaze burning inferno",
        "reply response answer respond retort",
        "funny comical humorous amusing hilarious laughable",
        "fat meaty fleshy beefy flesh plump chubby",
        "red scarlet vermillion crimson ruby",
        "old aged archaic ancient elderly",
        "real true actual genuine",
        "love like favor adore",
        "hate detest loathe despise dislike",
        "stop cease end halt finish",
        "begin start commence initiate launch",
        "quiet calm peaceful silent tranquil still soundless",
        "cut chop slice cleave sever carve",
        "car cars automobile automobiles vehicle vehicles",
        "pig pigs swine hog hogs pork",
        "television televisions tv tvs teevee",
        "wrong erroneous incorrect mistaken",
        "evil wicked immoral sinful corrupt depraved",
        "strange odd peculiar unusual weird",
        "scared afraid panicked fearful frightened terrified",
        "kill murder slay assassinate",
        "keep retain preserve sustain maintain",
        "hide conceal camouflage mask cover",
        "rabbit rabbits bunny bunnies hare hares",
        "home homes house houses dwelling dwellings",
        "water sea ocean",
        "lazy idle sluggish",
        "rich wealthy affluent",
        "smart clever intelligent",
        "buy purchase",
        "pretty beautiful lovely",
        "fast quick rapid swift",
    )
)
"""Words of one meaning; what a language model would know by itself."""


async def listed(p: Player, said: re.Match[str]) -> None:
    """The boxes with the names in a list, or none."""
    await _tick(p, {"" if said["names"] == "nothing" else name.strip() for name in said["names"].split(", ")} - {""})


async def similar(p: Player, said: re.Match[str]) -> None:
    """The boxes with words that mean the same as those of a list."""
    wanted = {name.strip() for name in said["names"].split(",")}
    names = {mark.name for mark in (await p.view()).ticks}
    await _tick(p, {name for name in names if any(_means(name, word) for word in wanted)})


def _means(name: str, word: str) -> bool:
    return name == word or any({name.lower(), word.lower()} <= group for group in SIMILAR)


async def _tick(p: Player, names: set[str]) -> None:
    left = set(names)
    for _ in range(12):
        view = await p.view()
        for mark in [mark for mark in view.ticks if mark.name in left]:
            await p.tick(mark)
            left.discard(mark.name)
        if not left:
            break
        scrollers = [mark for mark in view.marks if mark.state.scroll and mark.state.scroll.below > 1]
        if not scrollers:
            raise GivenUp(f"these are not there: {sorted(left)}\n{view.seen.listing}")
        await p.scroll(scrollers[0], "down")
    await p.submit()


async def from_list(p: Player, said: re.Match[str]) -> None:
    """Options of a native list."""
    options = tuple(name.strip() for name in said["names"].split(","))
    listed = (await p.view()).all("select")
    if not listed:
        raise GivenUp("there is no list")
    await p.on(listed[0], lambda target: actions.Select(target=target, options=options))
    await p.submit()


async def radio_and_number(p: Player, said: re.Match[str]) -> None:
    """A radio button and a text box by their places."""
    view = await p.view()
    await p.tick(view.ticks[ordinal(p.goal, "radio button")])
    await p.type(quoted(p.goal)[0], view.fields[ordinal(p.goal, "textbox")])
    await p.submit()


async def dropdown_and_button(p: Player, said: re.Match[str]) -> None:
    """An option of a dropdown that the page made itself, and a button."""
    await p.click((await p.view()).all("div")[0])
    while not (found := (await p.look()).named(said["option"], "li")):
        below = [mark for mark in (await p.view()).marks if mark.state.scroll and mark.state.scroll.below > 1]
        if not below:
            raise GivenUp(f"{said['option']!r} is not in the list:\n{(await p.view()).seen.listing}")
        await p.scroll(below[0], "down", 0.6)
    await p.click(found[0])
    await p.click(await p.find(said["button"]))
