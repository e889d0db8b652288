"""Solvers for an inbox: find an email by its sender, and reply, forward, star or delete it."""

from __future__ import annotations

import re

from vision_agent.evals.miniwob_solvers.asked import match_groups, quotes
from vision_agent.evals.miniwob_solvers.episode import Episode, On

_MEANT = """(({ emails, expectedDetails }) => emails.indexOf(expectedDetails.email))(
    jQuery._data(document.querySelector('#main .email-thread'), 'events').click[0].data)"""
"""The index of the email that is meant."""


async def email_inbox(episode: Episode) -> None:
    """Find the email by Helena and forward that email to Brooke. Or reply to it, star it, delete it."""
    fields = await episode.read("core.currentFields ?? null") or _fields(episode.asked)
    task = fields.get("task") or ("forward" if "to" in fields else "")
    senders = await episode.texts("#main .email-sender")
    # Two emails can have the same sender; then only the environment's data says which one is meant.
    place = await episode.read(_MEANT) if senders.count(fields["by"]) > 1 else senders.index(fields["by"])
    match task:
        case "delete":
            await episode.click(On("#main .trash", place=place))
        case "star":
            await episode.click(On("#main .star", place=place))
        case "forward":
            await episode.click(On("#main .email-thread", place=place))
            await episode.click(On(".email-forward"))
            await episode.type(fields["to"], On(".forward-sender"))
            await episode.click(On("#send-forward"))
        case "reply":
            await episode.click(On("#main .email-thread", place=place))
            await episode.click(On(".email-reply"))
            await episode.type(fields["message"], On("#reply-text"))
            await episode.click(On("#send-reply"))


def _fields(asked: str) -> dict[str, str]:
    """The task, parsed from the sentence if the environment does not provide fields."""
    (by,) = match_groups(r"the email by (\S+) and", asked)
    if forward := re.search(r"forward that email to (.+)\.", asked):
        return {"task": "forward", "by": by, "to": forward[1]}
    if "reply" in asked:
        return {"task": "reply", "by": by, "message": quotes(asked)[0]}
    return {"task": "star" if "star icon" in asked else "delete", "by": by}
