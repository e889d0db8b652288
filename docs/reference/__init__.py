"""Generates the reference pages from the code that they describe.

`pages()` returns each page and each JSON schema by its path; `hooks.py` adds them to the site. Prose that explains a
format stands in the docstrings of the module that owns it where that is possible.
"""

from __future__ import annotations

from .actions import actions_page
from .command_line import cli_page
from .exit_codes import exit_codes_page
from .files import files_page
from .listing import listing_page
from .markdown import json_text, markdown_page, markdown_table
from .python import python_pages
from .run_folder import events_page, run_folder_page, schemas
from .security import security_page
from .settings import settings_page
from .step_lines import step_lines_page


def pages() -> dict[str, str]:
    """The generated files by their path below `docs/pages`."""
    return {
        "reference/index.md": _index(),
        "reference/cli.md": cli_page(),
        "reference/settings.md": settings_page(),
        "reference/actions.md": actions_page(),
        "reference/step-lines.md": step_lines_page(),
        "reference/listing.md": listing_page(),
        "reference/run-folder.md": run_folder_page(),
        "reference/events.md": events_page(),
        "reference/exit-codes.md": exit_codes_page(),
        "reference/files.md": files_page(),
        "reference/security.md": security_page(),
        **python_pages(),
        **{f"reference/schemas/{name}.schema.json": json_text(schema) for name, schema in schemas().items()},
    }


def _index() -> str:
    rows = [
        ("[Command line](cli.md)", "Every command, argument and option."),
        ("[Settings](settings.md)", "Every key, its type, its default and its environment variable."),
        ("[Actions](actions.md)", "What the agent can do in a browser."),
        ("[Step lines](step-lines.md)", "Actions in plain words."),
        ("[Listing](listing.md)", "The text that goes with the marked picture."),
        ("[Run folder](run-folder.md)", "What a run leaves on disk, with JSON schemas."),
        ("[Events](events.md)", "What happens in a run, one by one."),
        ("[Exit codes](exit-codes.md)", "How a run or a command ended."),
        ("[Python API](python/index.md)", "Classes and functions."),
        ("[Files](files.md)", "Every source file and what it does."),
        ("[Security](security.md)", "How to report a vulnerability, and what counts as one."),
    ]
    return markdown_page(
        ["# Reference", "These pages are generated from the code.", markdown_table(("Page", "What it lists"), rows)]
    )
