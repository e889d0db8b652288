"""Fills the files in `prompts/`, and makes text from pages data: it stands between tags that nothing in it can end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from string import Template

from vision_agent import assets
from vision_agent.errors import UsageError

_FILLERS = r"\u115f\u1160\u3164\uffa0"
"""Letters to Unicode, and yet nothing is shown."""
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + _FILLERS
)
"""What a reader does not see: white space, controls, and what Unicode calls default ignorable."""
_OUR_TAGS = re.compile(
    rf"<(?=[/{_UNSEEN}]*(?:"
    + "|".join(f"[{_UNSEEN}]*".join(tag) for tag in ("page_text", "step", "task", "person", "exemplar"))
    + rf")(?![^\W{_FILLERS}]))",
    re.IGNORECASE,
)


def fill(name: str, **values: str) -> str:
    """The prompt file with its placeholders filled.

    Raises:
        UsageError: it names a placeholder that nothing fills.
    """
    template = Template(assets.prompt(name))
    try:
        return template.substitute(values)
    except KeyError as error:
        known = ", ".join(f"${each}" for each in values) or "none"
        raise UsageError(
            f"prompts/{name}.md names ${error.args[0]}, which nothing fills", f"known are: {known}"
        ) from error
    except ValueError as error:
        raise UsageError(f"prompts/{name}.md cannot be filled: {error}", "write $$ for a dollar sign") from error


def as_data(text: str) -> str:
    """Text that cannot open or close one of the prompt's own tags; otherwise as it was."""
    return _OUR_TAGS.sub("‹", text)


def as_line(text: str) -> str:
    """The same for text that must stay on one line: what does not print is escaped, line ends with it."""
    return as_data("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text.strip()))


def in_lines(lines: Iterable[str]) -> str:
    """One below the other; `none` where there are none."""
    return "\n".join(lines) or "none"
