"""Fills in the files of `prompts/`, and escapes page text so that it cannot close the tags around it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Template

from vision_agent import assets
from vision_agent.errors import UsageError
from vision_agent.text.escape import escaped_line

_FILLERS = r"\u115f\u1160\u3164\uffa0"
"""Letters in Unicode that are invisible."""
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + _FILLERS
)
"""Invisible characters: white space, controls, and what Unicode calls default ignorable."""
_OUR_TAGS = re.compile(
    rf"<(?=[/{_UNSEEN}]*(?:"
    + "|".join(f"[{_UNSEEN}]*".join(tag) for tag in ("page_text", "step", "task", "person", "exemplar"))
    + rf")(?![^\W{_FILLERS}]))",
    re.IGNORECASE,
)


def fill(name: str, **values: str) -> str:
    """The text of a prompt file with its placeholders filled in.

    Raises:
        UsageError: the file names an unknown placeholder, or is malformed.
    """
    template = Template(assets.prompt(name))
    try:
        return template.substitute(values)
    except KeyError as error:
        known = ", ".join(f"${each}" for each in values) or "none"
        raise UsageError(
            f"prompts/{name}.md names the unknown placeholder ${error.args[0]}", f"known are {known}"
        ) from error
    except ValueError as error:
        raise UsageError(f"prompts/{name}.md cannot be filled in: {error}", "write $$ for a dollar sign") from error


def as_data(text: str) -> str:
    """The text, unable to open or close one of the prompt's own tags."""
    return _OUR_TAGS.sub("‹", text)


def as_line(text: str) -> str:
    """The same on one line, with line breaks and other unprintable characters escaped."""
    return as_data(escaped_line(text))


def join_lines(lines: Iterable[str]) -> str:
    """The lines joined by line breaks; `none` if there are none."""
    return "\n".join(lines) or "none"
