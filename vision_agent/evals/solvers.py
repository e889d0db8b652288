"""Ways through MiniWoB++ tasks: plain step lines, made from what an episode asks for and what the page shows.

A solver reads and never acts; the lines are carried out by whoever drives the page. Where a page gives a control no
name, the line has its number, which holds for an agent that looks at the page as it is now: numbers are given in
reading order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Page

from vision_agent.types import Mark, Observation

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Episode:
    """What a solver may go by."""

    asked: str
    """The environment's sentence."""
    seen: Observation
    page: Page
    """To read what does not show yet, such as a hidden tab."""


Solver = Callable[[Episode], Awaitable[Lines]]


async def click_button(episode: Episode) -> Lines:
    """Click on the "previous" button."""
    (name,) = _quoted(episode.asked)
    return (f"click 1st {_text(name)} button",)


async def click_dialog(episode: Episode) -> Lines:
    """Close the dialog box by clicking the "x"."""
    return (f"click {_number(episode.seen, lambda mark: mark.tag == 'button')}",)


async def enter_text(episode: Episode) -> Lines:
    """Enter "Sergio" into the text field and press Submit."""
    (text,) = _quoted(episode.asked)
    return f"type {_text(text)} into {_number(episode.seen, _is_text_field)}", "click Submit"


async def login_user(episode: Episode) -> Lines:
    """Enter the username "keli" and the password "3hI" into the text fields and press login."""
    user, password = _quoted(episode.asked)
    return (
        f"type {_text(user)} into {_number(episode.seen, _is_text_field)}",
        f"type {_text(password)} into {_number(episode.seen, lambda mark: mark.state.input_type == 'password')}",
        "click Login",
    )


async def use_slider(episode: Episode) -> Lines:
    """Select 5 with the slider and hit Submit."""
    wanted = int(_found(r"Select (-?\d+) with", episode.asked))
    away = wanted - int(await episode.page.evaluate("document.querySelector('#val').textContent"))
    if away == 0:
        return ("click Submit",)
    key, handle = "ArrowRight" if away > 0 else "ArrowLeft", _number(episode.seen, lambda mark: mark.name != "Submit")
    return f"press {key} {abs(away)} times in {handle}", "click Submit"


async def choose_list(episode: Episode) -> Lines:
    """Select Miguelita from the list and click Submit."""
    option = _found(r"Select (.+) from the list", episode.asked)
    return f"select {_text(option)} in {_number(episode.seen, lambda mark: mark.tag == 'select')}", "click Submit"


async def click_tab_2(episode: Episode) -> Lines:
    """Switch between the tabs to find and click on the link "porttitor"."""
    (word,) = _quoted(episode.asked)
    panels = await episode.page.evaluate(
        "[...document.querySelectorAll('#area > div')].map(each => "
        "[...each.querySelectorAll('.alink')].map(link => link.textContent))"
    )
    tab = next(place for place, words in enumerate(panels, 1) if word in words)
    # One word may stand in a panel several times, and each is right.
    return f'click "Tab #{tab}"', f"click 1st {_text(word)}"


SOLVERS: dict[str, Solver] = {
    "choose-list": choose_list,
    "click-button": click_button,
    "click-dialog": click_dialog,
    "click-tab-2": click_tab_2,
    "enter-text": enter_text,
    "login-user": login_user,
    "use-slider": use_slider,
}
"""By the name of the task."""


def _quoted(asked: str) -> list[str]:
    return re.findall(r'"([^"]*)"', asked)


def _found(pattern: str, asked: str) -> str:
    match = re.search(pattern, asked)
    if match is None:
        raise ValueError(f"the episode asks {asked!r}, which does not look like {pattern!r}")
    return match[1]


def _text(words: str) -> str:
    """As a line has it: in double quotes, with what is special in them escaped."""
    return json.dumps(words, ensure_ascii=False)


def _number(seen: Observation, is_wanted: Callable[[Mark], bool]) -> str:
    return f"[{next(mark.number for mark in seen.marks if is_wanted(mark))}]"


def _is_text_field(mark: Mark) -> bool:
    return mark.state.input_type == "text"
