"""Solvers for tabs, sections, trees and menus, which must be opened first."""

from __future__ import annotations

from vision_agent.actions import Click, Hover, Wait
from vision_agent.evals.miniwob_solvers.asked import match_groups, quotes
from vision_agent.evals.miniwob_solvers.episode import At, Called, Episode, On, Unsolved

_LINKS = """panels => Array.from(document.querySelectorAll(panels), panel =>
    Array.from(panel.querySelectorAll('.alink'), link => link.textContent))"""
_BRANCHES = """Array.from(document.querySelectorAll('#tree li')).filter(each => each.getBoundingClientRect().height > 0)
    .map(each => ({ name: each.querySelector('span').textContent, isFolder: each.querySelector('.hitarea') !== null,
        below: Array.from(each.querySelectorAll('ul span'), inside => inside.textContent) }))"""
_TITLES = "Array.from(document.querySelectorAll('[id^=wheelnav-divWheel-title-]'), each => [each.id, each.textContent])"
_FIRST_SLICE = At(64, 193)
"""A point inside the first slice when it is unfolded, beside its letter."""
_UNFOLDS_S = 1.6
_WITH_ICON = "icon => document.querySelector('#menu .' + icon.split(' ').join('.')).parentElement.textContent"
_IS_OPEN = """name => Array.from(document.querySelectorAll('#menu li')).some(each =>
    each.firstElementChild.textContent === name && each.lastElementChild.getBoundingClientRect().height > 0)"""


async def click_tab(episode: Episode) -> None:
    """Click on Tab #1."""
    (name,) = match_groups(r"Click on (.+)\.", episode.asked)
    await episode.click(Called(name))


async def click_tab_2(episode: Episode) -> None:
    """Switch between the tabs to find and click on the link "porttitor"."""
    (word,) = quotes(episode.asked)
    panels = await episode.read(_LINKS, "#area > div")
    # If no tab has the word, opening the empty tab is the solution.
    tab = next((place for place, words in enumerate(panels) if word in words), len(panels) - 1)
    if tab > 0:
        await episode.click(Called((await episode.texts("#area > ul > li"))[tab]))
    if word in panels[tab]:
        await episode.click(On(".alink", word, 0))


async def click_collapsible(episode: Episode) -> None:
    """Expand the section below and click submit."""
    await episode.click(On("#area h3"))
    await episode.submit()


async def click_collapsible_2(episode: Episode) -> None:
    """Expand the sections below, to find and click on the link "porttitor"."""
    (word,) = quotes(episode.asked)
    sections = await episode.read(_LINKS, "#area > div")
    await episode.click(On("#area h3", place=next(place for place, words in enumerate(sections) if word in words)))
    await episode.click(On(".alink", word, 0))


async def navigate_tree(episode: Episode) -> None:
    """Navigate through the file tree. Find and click on the folder or file named "Livia"."""
    (name,) = quotes(episode.asked)
    branches = await episode.read(_BRANCHES)
    while name not in (names := [branch["name"] for branch in branches]):
        folders = [branch for branch in branches if branch["isFolder"]]
        await episode.click(On("#tree .hitarea", place=[name in folder["below"] for folder in folders].index(True)))
        branches = await episode.read(_BRANCHES)
    await episode.click(On("#tree li", place=names.index(name)))


async def click_menu(episode: Episode) -> None:
    """Select Jinny>Lynett."""
    *menus, item = match_groups(r"Select (.+)", episode.asked)[0].split(">")
    for name in menus:
        await _open_menu(episode, name)
    await episode.click(On("#menu div", item))


async def click_menu_2(episode: Episode) -> None:
    """Click the "Menu" button, and then find and click on the item with the ■ icon."""
    await episode.click(Called("Menu", tag="button"))
    asked = await episode.read("document.querySelector('#query .ui-icon')?.className")
    item = await episode.read(_WITH_ICON, asked) if asked else quotes(episode.asked)[1]
    if item in ("Prev", "Stop", "Play", "Next"):
        await _open_menu(episode, "Playback")
    await episode.click(On("#menu div", item))


async def click_pie(episode: Episode) -> None:
    """Expand the pie menu below and click on the item labeled "H"."""
    (name,) = quotes(episode.asked)
    titles: list[tuple[str, str]] = await episode.read(_TITLES)
    place = next(id.rpartition("-")[2] for id, title in titles if title == name)
    spread = Click(target=await episode.target(On("#area svg text", "+")))
    if place == "0":
        # The page removes and re-adds the initially selected slice whenever the pointer enters it, so it misses a
        # press then; but not while it unfolds, so the pointer waits there in advance.
        try:
            await episode.act(spread, Hover(target=await episode.target(_FIRST_SLICE)))
        except Unsolved:  # it has begun to unfold there, so the picture no longer matches
            await episode.look()
            await episode.hover(_FIRST_SLICE)
    else:
        await episode.act(spread)
    await episode.act(Wait(seconds=_UNFOLDS_S))
    # The letter is re-created while the pointer is on it and misses the press; the slice below does not.
    await episode.click(On(f"#wheelnav-divWheel-slice-{place}"))


async def _open_menu(episode: Episode, name: str) -> None:
    """Open a submenu, which happens with a delay while the pointer rests on its name."""
    await episode.hover(On("#menu div", name))
    await episode.until(_IS_OPEN, name)
