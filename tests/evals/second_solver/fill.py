"""Typing into fields what the goal gives, or what the page says."""

from __future__ import annotations

import re
from fractions import Fraction

from second_solver.player import GivenUp, Player, ordinal, quoted
from vision_agent import actions
from vision_agent.observation import Mark


async def text(p: Player, said: re.Match[str]) -> None:
    """A text into the field, perhaps in another case."""
    (wanted,) = quoted(p.goal)[:1]
    wanted = wanted.upper() if "upper case" in p.goal else wanted.lower() if "lower case" in p.goal else wanted
    await p.type(wanted, (await p.view()).fields[0])
    await p.submit()


async def password_twice(p: Player, said: re.Match[str]) -> None:
    """The same into every field."""
    for field in (await p.view()).fields:
        await p.type(quoted(p.goal)[0], field)
    await p.submit()


async def login(p: Player, said: re.Match[str]) -> None:
    """A name and a password; a dialog that comes between is cancelled."""
    user, word = quoted(p.goal)
    for name, value in (("Username", user), ("Password", word)):
        await _without_dialogs(p)
        await p.type(value, await p.find(name))
        await _without_dialogs(p)
    for name, value in (("Username", user), ("Password", word)):
        field = await p.find(name)
        if not field.state.masked and field.state.value != value:
            await p.type(value, field)
    await p.submit("Login", "OK")
    if (await p.look()).named("Cancel"):
        await _without_dialogs(p)
        await p.submit("Login")


async def _without_dialogs(p: Player) -> None:
    view = await p.look()
    if found := view.named("Cancel"):
        await p.click(found[0])


async def focus(p: Player, said: re.Match[str]) -> None:
    """A click into one of the fields."""
    index = ordinal(p.goal, "input") if "input" in p.goal else 0
    await p.click((await p.view()).fields[index])


async def copied(p: Player, said: re.Match[str]) -> None:
    """The text of an area into the text box."""
    view = await p.view()
    index = ordinal(p.goal, "text area") if re.search(r"\d", p.goal) else 0
    area = view.all("textarea")[index]
    await p.type(await _whole_value(p, area), view.all("input")[0])
    await p.submit()


async def last_word(p: Player, said: re.Match[str]) -> None:
    """The last word of an area into the text box."""
    view = await p.view()
    area, field = view.all("textarea")[0], view.all("input")[0]
    await p.type((await _whole_value(p, area)).split()[-1], field)
    await p.submit()


async def _whole_value(p: Player, area: Mark) -> str:
    """What an area holds; the listing cuts long values."""
    value = area.state.value or ""
    if not value.endswith("…"):
        return value
    return (await p.do(actions.Read(what="view", mark=area.number))).read.strip()


async def nth_word(p: Player, said: re.Match[str]) -> None:
    """A word of the paragraph, without what ends it."""
    lines = [line for line in (await p.read()).splitlines() if len(line.split()) > 1]
    word = lines[0].split()[int(said["number"]) - 1]
    await p.type(word.strip(".,"), (await p.view()).fields[0])
    await p.submit()


async def letters(p: Player, said: re.Match[str]) -> None:
    """Letters that stand apart and turned, from left to right."""
    field = (await p.view()).fields[0]
    lines = [line for line in (await p.read("view")).splitlines() if line != "Submit"]
    await p.type("".join("".join(lines).split()), field)
    await p.submit()


async def arithmetic(p: Player, said: re.Match[str]) -> None:
    """The value of a sum, a difference or a product."""
    match = re.search(r"(-?\d+) ?([-+x*]) ?(-?\d+) ?=", await p.read())
    if match is None:
        raise GivenUp("there is no problem to solve")
    first, second = int(match[1]), int(match[3])
    answer = {"+": first + second, "-": first - second, "x": first * second, "*": first * second}[match[2]]
    await p.type(str(answer), (await p.view()).fields[0])
    await p.submit()


async def algebra(p: Player, said: re.Match[str]) -> None:
    """The x of a linear equation with one sign."""
    match = re.search(r"^(\S+) ([-+x*]) (\S+) = (-?\d+)", await p.read(), re.MULTILINE)
    if match is None:
        raise GivenUp("there is no equation")
    first, sign, second, total = match.groups()

    def left(x: Fraction) -> Fraction:
        one, other = (x if part == "x" else Fraction(part) for part in (first, second))
        return {"+": one + other, "-": one - other, "x": one * other, "*": one * other}[sign]

    at_0, at_1 = left(Fraction(0)), left(Fraction(1))
    await p.type(str((int(total) - at_0) / (at_1 - at_0)), (await p.view()).fields[0])
    await p.submit()


async def from_table(p: Player, said: re.Match[str]) -> None:
    """Values of a table, by the names of its rows: the one that the goal names, or those that the fields name."""
    rows = dict(re.findall(r"^(.+?) \| (.+)$", await p.read(), re.MULTILINE))
    fields = (await p.view()).fields
    wanted = said.groupdict().get("row")
    for field in fields if wanted is None else fields[:1]:
        await p.type(rows[wanted or field.name.strip(" :")], field)
    await p.submit()


async def search_form(p: Player, said: re.Match[str]) -> None:
    """A form whose labels say which part of the goal each field takes."""
    fields: dict[str, Mark] = {}
    for mark in (await p.view()).fields:
        for word in ("genre", "director", "year"):
            name = mark.name if mark.name != p.goal else ""  # a field below the goal is named by it
            words = {word, "date"} if word == "year" else {word}
            if words & set(re.findall(r"[a-z]+", f"{name} {mark.state.placeholder or ''} {mark.context}".lower())):
                fields.setdefault(word, mark)
    for word, mark in fields.items():
        await p.type(said[word], mark)
    await p.submit("Submit", "Search", "Go!")


async def autocomplete(p: Player, said: re.Match[str]) -> None:
    """One of the proposals that begins, and ends, as asked."""
    begin, end = said["begin"], said["end"] or ""
    field = (await p.view()).fields[0]
    await p.type(begin, field)

    def fits(name: str) -> bool:
        return name.startswith(begin) and name.endswith(end)

    view = await p.until(lambda view: [mark for mark in view.marks if mark.tag != "input" and fits(mark.name)])
    await p.click(next(mark for mark in view.marks if mark.tag != "input" and fits(mark.name)))
    await p.submit()


async def date(p: Player, said: re.Match[str]) -> None:
    """A date into a date field."""
    month, day, year = said["date"].split("/")
    await p.set((await p.view()).all("input")[0], f"{year}-{month}-{day}")
    await p.submit()


async def time_of_day(p: Player, said: re.Match[str]) -> None:
    """A time into a time field."""
    hour = int(said["hour"]) % 12 + (12 if said["half"] == "PM" else 0)
    await p.set((await p.view()).all("input")[0], f"{hour:02}:{said['minute']}")
    await p.submit()


async def agreement(p: Player, said: re.Match[str]) -> None:
    """An agreement scrolled to its end, a name, and a button."""
    view = await p.view()
    area = view.all("textarea")[0]
    for _ in range(30):
        now = (await p.view()).again(area)
        if now is None or now.state.scroll is None or now.state.scroll.below < 1:
            break
        await p.scroll(now, "down", 3)
    name, button = quoted(p.goal)
    field = (await p.look()).all("input")[0]
    await p.type(name, field)
    await p.click(await p.find(button))
