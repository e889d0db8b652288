"""`vision-agent freeze`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli_options import AsJson, Device, Executable, Locale, StorageState, Viewport, browser_flags, size_of
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from vision_agent.evals.frozen import Frozen

app = typer.Typer()


@app.command()
def freeze(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders, or folders that hold some, such as that of an evaluation; or one list of pages: "
            "a .toml, .yaml or .py file."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The folder to make; it must not be there yet.", show_default=False)
    ],
    any_ending: Annotated[
        bool, typer.Option("--any-ending", help="Also runs that did not end as done: what they did is then right.")
    ] = False,
    executable: Executable = None,
    viewport: Viewport = None,
    device: Device = None,
    locale: Locale = None,
    storage_state: StorageState = None,
    as_json: AsJson = False,
) -> None:
    """Store pages with what is right on each, to ask models about them without a browser.

    vision-agent freeze runs/20260304-093000-abc123 --out pages

    vision-agent freeze pages.toml --out pages

    vision-agent eval frozen pages --model anthropic:claude-sonnet-5-5 --model match

    Of runs, pictures, listings, marks and earlier steps are kept as recorded, so every model sees the same.
    What a run did is taken for right. Of the runs in a folder those are left out that did not end as done, or did not
    pass the evaluation they were made in; one that is named and did not is refused.

    A list of pages says of each its id, start_url, goal and reference, a step line such as "click Save" or several of
    which any is right. Each page is opened and looked at once, and the line must mean exactly one thing there. All are
    stored, or none, and what is wrong is told of each. The options of the browser are for such a list only.

    Exit codes: 0 it is written, 2 it cannot be, or a run or page is no reference, 5 a run is not as it was recorded, or
    there is no browser.
    """
    from rich.console import Console

    from vision_agent.evals import frozen
    from vision_agent.evals.suite_file import is_list

    flags = browser_flags(
        executable, viewport=size_of(viewport), device=device, locale=locale, storage_state=storage_state
    )
    if any(map(is_list, sources)):
        if len(sources) > 1 or any_ending:
            raise UsageError("A list of pages is frozen by itself", "leave out the runs and --any-ending")
        made = _freeze_list(sources[0], out, flags)
    elif flags:
        raise UsageError("Runs are frozen without a browser", "leave out its options")
    else:
        with Console(stderr=True).status("Storing what was recorded"):
            made = frozen.freeze(sources, out, any_ending=any_ending)
    if as_json:
        typer.echo(json.dumps({**made._asdict(), "folder": str(out)}, indent=2))
        return
    history = made.steps - made.references
    typer.echo(
        f"{made.tasks} tasks with {made.references} references and {made.pictures} pictures in {out}"
        + (f"; {history} steps that only looked, asked or ended are history" if history else "")
    )
    for why, many in made.left_out.items():
        typer.echo(f"left out: {many} that {why}")
    if made.unrest:
        typer.echo(f"still changing when looked at, so it may look otherwise another time: {', '.join(made.unrest)}")


def _freeze_list(path: Path, out: Path, flags: dict[str, Any]) -> Frozen:
    from rich.console import Console

    from vision_agent.evals.page_list import freeze_pages
    from vision_agent.settings import load

    console = Console(stderr=True)
    with console.status("Opening a browser") as status:

        def tell(text: str) -> None:
            status.update(text)
            if not console.is_terminal:
                console.print(text, style="dim", highlight=False, soft_wrap=True)

        return asyncio.run(freeze_pages(path, out, load(**flags), tell))
