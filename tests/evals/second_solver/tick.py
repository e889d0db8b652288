"""Ticking boxes and choosing options that the goal lists."""

from __future__ import annotations

import re

from second_solver.player import GivenUp, Player, ordinal, quoted
from vision_agent import actions

SIMILAR = (
    {"big", "large", "huge", "enormous", "gigantic", "immense"},
    {"small", "little", "tiny", "mini", "minuscule"},
    {"happy", "joyful", "cheerful", "glad", "gay", "pleased"},
    {"unhappy", "sad", "miserable", "sorrowful", "gloomy"},
    {"fire", "flame", "flames", "blaze", "inferno"},
    {"reply", "response", "answer", "respond"},
    {"funny", "comical", "humorous", "amusing", "hilarious"},
    {"meaty", "fleshy", "beefy", "flesh"},
    {"red", "scarlet", "vermillion", "crimson", "ruby"},
    {"old", "aged", "ancient", "elderly"},
    {"true", "actual", "real", "genuine"},
    {"like", "favor", "love", "adore"},
    {"hate", "detest", "loathe", "despise"},
    {"stop", "cease", "end", "halt", "finish"},
    {"quiet", "calm", "peaceful", "silent", "tranquil"},
    {"cut", "chop", "slice", "cleave", "sever"},
    {"car", "cars", "automobile", "automobiles", "vehicle", "vehicles"},
    {"pig", "pigs", "swine", "hog", "hogs"},
    {"television", "televisions", "tv", "tvs", "televisual"},
    {"wrong", "erroneous", "incorrect", "mistaken", "fault"},
    {"rabbit", "bunny", "hare"},
    {"home", "house", "houses", "homes", "dwelling"},
    {"kind", "nice", "gentle"},
    {"lazy", "idle", "sluggish"},
    {"wealthy", "rich", "affluent"},
    {"sea", "ocean", "water"},
    {"panic", "fear", "terror", "dread", "scared", "afraid"},
    {"begin", "start", "commence"},
    {"buy", "purchase"},
    {"smart", "clever", "intelligent"},
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
    view = await p.until(lambda view: view.named(said["option"]) or view.all("select"))
    if found := view.named(said["option"]):
        await p.click(found[0])
    else:
        await p.on(view.all("select")[0], lambda target: actions.Select(target=target, options=(said["option"],)))
    await p.click(await p.find(said["button"]))
