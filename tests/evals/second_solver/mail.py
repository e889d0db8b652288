"""A mail box: finding the mail of a sender, then deleting, starring, answering or forwarding it.

The box names nothing but the mails themselves: a star and a bin stand at the right of each, and in an open mail icons
stand in the header.
"""

from __future__ import annotations

import re

from second_solver.player import GivenUp, Player, quoted
from second_solver.view import View
from vision_agent.observation import Mark

VERBS = (
    ("reply", r"\b(reply|respond|answer|tell)\b"),
    ("forward", r"\b(forward\w*|send|give|pass)\b"),
    ("delete", r"\b(delete|trash|remove|erase|bin)\b"),
    ("star", r"\b(star|important|favou?rite)\b"),
)
_PLAIN = {
    "Find", "The", "Please",
    "Send", "Give", "Go", "Forward", "Look", "Open", "Pull", "Will", "Trash", "Delete", "Email",
    "Reply", "Respond", "Star", "Mark", "Navigate", "Locate", "I", "Remove", "Answer", "Click", "In", "Primary", "From",
}  # fmt: skip


async def handle(p: Player, said: re.Match[str]) -> None:
    """Does with the mail of the sender what the verb of the goal says."""
    plain = re.sub(r'"[^"]*"', "", p.goal)
    verb = next((verb for verb, pattern in VERBS if re.search(pattern, plain, re.IGNORECASE)), None)
    if verb is None:
        raise GivenUp("the goal has no verb for a mail")
    names = [name for name in re.findall(r"\b[A-Z][\w-]+", plain) if name not in _PLAIN]
    sender = _sender(plain, names)
    mail = await _find(p, sender)
    if verb in ("delete", "star"):
        await p.click(_icons(await p.view(), mail)[0 if verb == "star" else 1])
        return
    await p.click(mail)
    text = quoted(p.goal)[-1] if quoted(p.goal) else ""
    if verb == "reply":
        await _answer(p, text)
    else:
        await _forward(p, next(name for name in names if name != sender))
    return


def _sender(goal: str, names: list[str]) -> str:
    """Who sent it: the name after `by` or `from`, with `'s`, or before `sent`."""
    for pattern in (r"(?:by|from) ([A-Z][\w-]+)", r"([A-Z][\w-]+)'s", r"([A-Z][\w-]+) (?:sent|wrote)"):
        if match := re.search(pattern, goal):
            return match[1]
    if len(names) == 1:
        return names[0]
    raise GivenUp(f"who of {names} sent it?")


def _mails(view: View) -> list[Mark]:
    return view.all("div", where=lambda mark: bool(mark.name) and mark.box.width > 60)


async def _find(p: Player, sender: str) -> Mark:
    """The mail of a sender, with its icons in view."""
    for _ in range(12):
        view = await p.view()
        for mark in _mails(view):
            if mark.name.startswith(sender) and len(_icons(view, mark)) == 2:
                return mark
        scrollers = [mark for mark in view.marks if mark.state.scroll and mark.state.scroll.below > 1]
        if not scrollers:
            break
        await p.scroll(scrollers[0], "down", 0.4)
    raise GivenUp(f"there is no mail by {sender}:\n{(await p.view()).seen.listing}")


def _icons(view: View, mail: Mark) -> list[Mark]:
    """The star and the bin of a mail, from left to right."""
    small = view.all(
        "span", where=lambda mark: mark.box.width < 30 and mail.box.y <= mark.box.center.y < mail.box.bottom
    )
    return sorted(small, key=lambda mark: mark.box.x)


async def _answer(p: Player, text: str) -> None:
    await _choose(p, "reply")
    view = await p.until(lambda view: view.all("textarea"))
    await p.type(text, view.all("textarea")[0])
    await _send(p)


async def _forward(p: Player, to: str) -> None:
    await _choose(p, "forward")
    view = await p.until(lambda view: view.all("input"))
    await p.type(to, view.all("input")[0])
    await _send(p)


async def _choose(p: Player, name: str) -> None:
    view = await p.until(lambda view: [mark for mark in view.marks if name in mark.name.lower()])
    await p.click(next(mark for mark in view.marks if name in mark.name.lower()))


async def _send(p: Player) -> None:
    """The icon that sends: it says so, or it is the one at the right of the header."""
    view = await p.view()
    if found := [mark for mark in view.marks if "send" in mark.name.lower() and mark.tag != "textarea"]:
        await p.click(found[0])
        return
    header = view.all("span", "div", where=lambda mark: mark.box.width < 40 and mark.box.y < 90)
    if not header:
        raise GivenUp(f"nothing sends it:\n{view.seen.listing}")
    await p.click(max(header, key=lambda mark: mark.box.x))
