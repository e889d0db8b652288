"""Selecting, styling and scrolling text; a terminal; an event in a day's calendar."""

from __future__ import annotations

import re

from second_solver import colours
from second_solver.player import GivenUp, Player, ordinal, quoted
from vision_agent import actions
from vision_agent.geometry import Box
from vision_agent.observation import Mark

STYLES = ("bold", "italic", "underlined")
"""As the buttons stand, from left to right."""


async def highlight(p: Player, said: re.Match[str]) -> None:
    """A paragraph, from its first word to its last."""
    lines = [line for line in (await p.read()).splitlines() if line and line != "Submit"]
    line = lines[ordinal(p.goal, "paragraph") if re.search(r"\d", p.goal) else 0]
    await _select(p, line)
    await p.submit()


async def _select(p: Player, text: str) -> None:
    words = text.split()
    outcome = await p.do(actions.SelectText(first=" ".join(words[:2]), last=" ".join(words[-2:])))
    if outcome.status == "refused":
        outcome = await p.do(actions.SelectText(first=text, last=text))
    if outcome.status == "refused":
        raise GivenUp(f"{text!r} cannot be selected: {outcome.sentence}")


async def style(p: Player, said: re.Match[str]) -> None:
    """A style or a colour for a word or for everything in an editor."""
    view = await p.view()
    editor = next(mark for mark in view.marks if mark.kind == "field" and mark.tag == "div")
    if said["word"]:
        outcome = await p.do(actions.SelectText(first=said["word"], last=said["word"]))
        if outcome.status == "refused":  # the goal on the page may have the word too
            await _select_by_keys(p, editor, said["word"])
    else:
        await p.press("Control+a", editor)
    if said["kind"] == "style":
        buttons = (await p.look()).all("button", where=lambda mark: mark.box.y < editor.box.y)
        await p.click(buttons[STYLES.index(said["value"])])
    else:
        await _colour(p, editor, said["value"])
    if "Submit" in p.goal or (await p.look()).named("Submit"):
        await p.submit()


async def _select_by_keys(p: Player, editor: Mark, word: str) -> None:
    before = (editor.state.value or "").partition(word)[0]
    await p.press("Control+Home", editor)
    if before:
        await p.press("ArrowRight", count=len(before))
    await p.press("Shift+ArrowRight", count=len(word))


async def _colour(p: Player, editor: Mark, value: str) -> None:
    before = await p.view()
    await p.click(before.all("span", where=lambda mark: mark.box.y < editor.box.y)[0])
    known = {mark.key for mark in before.marks}
    view = await p.until(lambda view: [mark for mark in view.marks if mark.key not in known and mark.box.width < 30])
    new = [mark for mark in view.marks if mark.key not in known and mark.box.width < 30]
    wanted = colours.NAMED[value]
    await p.click(min(new, key=lambda mark: colours.distance(colours.filling(view.crop(_inner(mark.box))), wanted)))


def _inner(box: Box) -> Box:
    return Box(x=box.x + 3, y=box.y + 3, width=max(2.0, box.width - 6), height=max(2.0, box.height - 6))


async def scroll(p: Player, said: re.Match[str]) -> None:
    """A text area to its top or bottom."""
    direction = "down" if said["end"] == "bottom" else "up"
    area = (await p.view()).all("textarea")[0]
    await p.on(area, lambda target: actions.Scroll(target=target, direction=direction, to="end"))
    await p.submit()


async def terminal(p: Player, said: re.Match[str]) -> None:
    """A file that a list of files shows, deleted by a command."""
    ending = said["ending"]
    screen = (await p.view()).all("div", where=lambda mark: "terminal" in mark.name)[0]
    await p.click(screen)
    await _command(p, "ls")
    names = re.findall(r"[\w.-]+", (await p.read()).split("ls")[-1])
    fitting = [name for name in names if (name.endswith(ending) if ending else "." not in name)]
    if not fitting:
        raise GivenUp(f"none of {names} fits")
    await _command(p, f"rm {fitting[0]}")


async def _command(p: Player, words: str) -> None:
    screen = (await p.look()).all("div", where=lambda mark: "terminal" in mark.name)[0]
    await p.on(screen, lambda target: actions.Type(target=target, text=words, clear=False, submit=True))
    await p.look()


async def event(p: Player, said: re.Match[str]) -> None:
    """An event in a calendar whose slots are half an hour: dragged over its slots, then named."""
    amount, unit = float(said["length"]), said["unit"]
    slots = round(amount * 2 if unit.startswith("hour") else amount / 30)
    start = int(said["start"]) % 12 + (12 if said["half"] == "PM" else 0)
    view = await p.view()
    scroller = next(mark for mark in view.marks if mark.state.scroll is not None)
    height = view.all("div", where=lambda mark: mark.kind != "scroller")[0].box.height
    down = 2 * start * height
    await p.on(scroller, lambda target: actions.Scroll(target=target, direction="down", px=max(1.0, down)))
    view = await p.look()
    rows = view.all("div", where=lambda mark: mark.state.scroll is None and mark.box.width > 60)
    scrolled = next(mark for mark in view.marks if mark.state.scroll is not None).state.scroll
    assert scrolled is not None
    top = scroller.box.y + down - scrolled.y
    first = min(rows, key=lambda mark: abs(mark.box.y - top))
    index = rows.index(first)
    last = rows[index + slots - 1]
    await p.drag(first, last)
    view = await p.until(lambda view: view.all("input"))
    await p.type(quoted(p.goal)[0], view.all("input")[0])
    view = await p.look()
    buttons = view.all("button", where=lambda mark: mark.name != "Cancel")
    if not buttons:
        raise GivenUp(f"nothing confirms the event:\n{view.seen.listing}")
    await p.click(buttons[0])
